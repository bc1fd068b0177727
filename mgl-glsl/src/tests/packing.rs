//! Interfaces that fit by components and not by locations.

use super::*;
use crate::reflection::TransformFeedbackMode;

const VS: &str = "#version 330 core
in vec4 p;
out float list[70];
flat out int whole[14];
flat out uvec2 pair;
noperspective out vec3 plain[2];
centroid out vec2 inner;
out Block { mat3 m; float more[5]; } block;
struct Part { vec2 a; float b[2]; };
out Part part;
void main() {
    gl_Position = p;
    for (int i = 0; i < 70; i++) list[i] = p.x + float(i);
    for (int i = 0; i < 14; i++) whole[i] = gl_VertexID + i;
    pair = uvec2(1u, 2u);
    plain[0] = p.xyz; plain[1] = p.zyx;
    inner = p.xy;
    block.m = mat3(p.x); for (int i = 0; i < 5; i++) block.more[i] = p.y;
    part.a = p.xy; part.b[0] = part.b[1] = 1.0;
    if (p.x > 0.5) return;
    list[3] = 0.0;
}";

const FS: &str = "#version 330 core
in float list[70];
flat in int whole[14];
flat in uvec2 pair;
noperspective in vec3 plain[2];
centroid in vec2 inner;
in Block { mat3 m; float more[5]; } block;
struct Part { vec2 a; float b[2]; };
in Part part;
uniform int at;
out vec4 color;
void main() {
    float sum = part.a.x + part.b[at];
    for (int i = 0; i < 70; i++) sum += list[i];
    color = vec4(sum + float(whole[at]), plain[at & 1] + block.m[at % 3]) + vec4(inner, vec2(pair)) + block.more[at];
}";

/// Names with `mgl_packed_` in a module, with their decorations.
fn packed(program: &LinkedProgram, stage: Stage) -> Vec<(String, Vec<String>)> {
    let module = program.modules.iter().find(|m| m.stage == stage).expect("a module");
    let dr = rspirv::dr::load_words(&module.words).expect("readable");
    let names = dr.debug_names.iter().filter_map(|n| match n.operands.as_slice() {
        [rspirv::dr::Operand::IdRef(_), rspirv::dr::Operand::LiteralString(name)] => Some(name.clone()),
        _ => None,
    });
    let mut list: Vec<_> =
        names.filter(|n| n.starts_with("mgl_packed_")).map(|n| (n.clone(), decorations(module, &n))).collect();
    list.sort();
    list
}

fn decorations(module: &StageModule, name: &str) -> Vec<String> {
    super::programs::decorations(module, name)
}

#[test]
fn what_does_not_fit_by_locations_is_packed_by_components() {
    let program = program(&[(Stage::Vertex, VS), (Stage::Fragment, FS)]);
    let (outputs, inputs) = (packed(&program, Stage::Vertex), packed(&program, Stage::Fragment));
    assert_eq!(outputs.len(), 5, "{outputs:?}");
    let location = |list: &[String]| list.iter().find(|d| d.starts_with("Location")).cloned();
    for ((name, out), (other, input)) in outputs.iter().zip(&inputs) {
        assert_eq!((name, location(out)), (other, location(input)));
    }
    let has = |what: &str| inputs.iter().filter(|(_, d)| d.iter().any(|d| d.starts_with(what))).count();
    assert_eq!((has("Flat"), has("NoPerspective"), has("Centroid")), (2, 1, 1), "{inputs:?}");
    assert!(program.modules.iter().all(|m| m.words.len() > 5));
}

#[test]
fn what_fits_stays_as_it_is() {
    let vs = "#version 330 core\nin vec4 p; out float list[20]; void main() { gl_Position = p; for (int i = 0; i < 20; i++) list[i] = p.x; }";
    let fs = "#version 330 core\nin float list[20]; out vec4 c; void main() { float s = 0.0; for (int i = 0; i < 20; i++) s += list[i]; c = vec4(s); }";
    let program = program(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
    assert!(packed(&program, Stage::Vertex).is_empty() && packed(&program, Stage::Fragment).is_empty());
}

#[test]
fn geometry_shaders_read_and_write_packed() {
    let vs = "#version 330 core
    in vec4 p; out Block { float f[100]; } outs; void main() { gl_Position = p; for (int i = 0; i < 100; i++) outs.f[i] = p.x; }";
    let gs = "#version 330 core
    layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 3) out;
    in Block { float f[100]; } ins[]; out float g[90]; flat out int n;
    void put(int v) { for (int i = 0; i < 90; i++) g[i] = ins[v].f[i]; n = v; gl_Position = gl_in[v].gl_Position; EmitVertex(); }
    void main() { put(0); put(2); put(4); EndPrimitive(); }";
    let fs = "#version 330 core
    in float g[90]; flat in int n; out vec4 c; void main() { float s = float(n); for (int i = 0; i < 90; i++) s += g[i]; c = vec4(s); }";
    let sources = [(Stage::Vertex, vs), (Stage::Geometry, gs), (Stage::Fragment, fs)];
    let program = program(&sources);
    assert_eq!(packed(&program, Stage::Geometry).len(), 3);
    // What is captured is found under its name, though the variable is not there any more.
    let options = LinkOptions {
        transform_feedback_varyings: vec!["g[7]".into(), "n".into()],
        transform_feedback_mode: Some(TransformFeedbackMode::Interleaved),
        ..LinkOptions::default()
    };
    let captured = program_with(&sources, &options).reflection.transform_feedback.expect("captures");
    assert_eq!(captured.varyings.iter().map(|v| v.offset).collect::<Vec<_>>(), [0, 4]);
    assert!(captured.varyings.iter().all(|v| v.location >= 0));
}

#[test]
fn too_many_components_are_too_many() {
    let vs = "#version 330 core\nin vec4 p; out float list[140]; void main() { gl_Position = p; for (int i = 0; i < 140; i++) list[i] = p.x; }";
    let fs = "#version 330 core\nin float list[140]; out vec4 c; void main() { float s = 0.0; for (int i = 0; i < 140; i++) s += list[i]; c = vec4(s); }";
    let log = link_error(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
    assert!(log.contains("too many output components (140 > 128)"), "{log}");
}

#[test]
fn what_is_captured_in_parts_leaves_room_for_what_it_is_part_of() {
    let vs = "#version 330 core
    in vec4 p; struct Deep { float a[3]; mat2 m; }; struct S { float f; vec4 v[2]; Deep deep[2]; }; out S s[2];
    void main() { gl_Position = p;
        for (int i = 0; i < 2; i++) { s[i].f = p.x; for (int j = 0; j < 2; j++) {
            s[i].v[j] = p; s[i].deep[j].m = mat2(p.y); for (int k = 0; k < 3; k++) s[i].deep[j].a[k] = p.z; } } }";
    let fs = "#version 330 core
    struct Deep { float a[3]; mat2 m; }; struct S { float f; vec4 v[2]; Deep deep[2]; }; in S s[2];
    out vec4 c; void main() { c = s[1].v[0] + s[0].f + s[1].deep[1].m[0].x; }";
    let mut names = Vec::new();
    for i in 0..2 {
        names.push(format!("s[{i}].f"));
        names.push(format!("s[{i}].v"));
        for j in 0..2 {
            names.push(format!("s[{i}].deep[{j}].a"));
            names.push(format!("s[{i}].deep[{j}].m"));
        }
    }
    let options = LinkOptions {
        transform_feedback_varyings: names,
        transform_feedback_mode: Some(TransformFeedbackMode::Interleaved),
        ..LinkOptions::default()
    };
    let sources: [&[(Stage, &str)]; 2] = [&[(Stage::Vertex, vs), (Stage::Fragment, fs)], &[(Stage::Vertex, vs)]];
    for sources in sources {
        let program = program_with(sources, &options);
        let xfb = program.reflection.transform_feedback.as_ref().expect("captures");
        assert_eq!(xfb.buffers.first().map(|b| b.stride), Some(2 * 4 * (1 + 8 + 2 * (3 + 4))));
        let module = program.modules.iter().find(|m| m.stage == Stage::Vertex).expect("a vertex shader");
        let dr = rspirv::dr::load_words(&module.words).expect("readable");
        let locations = dr.annotations.iter().filter_map(|i| match i.operands.as_slice() {
            [_, rspirv::dr::Operand::Decoration(rspirv::spirv::Decoration::Location), location] => {
                Some(location.unwrap_literal_bit32())
            }
            _ => None,
        });
        assert!(locations.max().expect("outputs") < 32);
    }
}
