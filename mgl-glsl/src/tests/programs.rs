//! Core programs: uniforms, samplers, blocks, attributes, several outputs.

use super::*;
use crate::reflection::{gl_type, BindingKind, OpaqueDim, SET_SAMPLER, SET_UNIFORM};

const VS: &str = "#version 330 core
layout(location = 0) in vec3 position;
in vec2 uv;
in mat3 basis;
uniform mat4 mvp;
uniform bool flip;
layout(std140) uniform Camera { mat4 view; vec4 eye[2]; bool on; } camera;
out vec2 v_uv;
flat out int v_id;
void main() {
    v_uv = flip ? uv : -uv;
    v_id = gl_VertexID + gl_InstanceID;
    gl_Position = mvp * camera.view * vec4(basis * position, 1.0) + camera.eye[1];
    if (camera.on) gl_Position.x += 1.0;
}";

const FS: &str = "#version 330 core
in vec2 v_uv;
flat in int v_id;
uniform sampler2D albedo;
uniform samplerCubeShadow env[2];
uniform struct Light { vec3 color; float power; bool on; } lights[2];
uniform mat4 mvp;
uniform float unused;
out vec4 color;
layout(location = 3) out vec4 extra;
void main() {
    color = texture(albedo, v_uv) * lights[1].power * vec4(lights[0].color, 1.0) + mvp[0] * gl_FragCoord.y;
    extra = vec4(texture(env[1], vec4(v_uv, 1.0, 0.5))) + float(v_id);
}";

#[test]
fn vertex_and_fragment() {
    let program = program(&[(Stage::Vertex, VS), (Stage::Fragment, FS)]);
    let r = &program.reflection;
    let uniform = |name: &str| r.uniforms.iter().find(|u| u.name == name).unwrap_or_else(|| panic!("{name}: {r:#?}"));
    assert_eq!(uniform("mvp").gl_type, gl_type::FLOAT_MAT4);
    assert_eq!(uniform("mvp").matrix_stride, 16);
    assert_eq!(uniform("mvp").stages, Stage::Vertex.mask().union(Stage::Fragment.mask()));
    assert_eq!(uniform("flip").gl_type, gl_type::BOOL);
    assert_eq!(uniform("lights[1].on").gl_type, gl_type::BOOL);
    assert!(uniform("lights[1].color").location >= 0);
    assert!(r.uniforms.iter().all(|u| u.name != "unused"), "inactive uniforms are not listed");
    assert_eq!(uniform("Camera.view").block_index, 0);
    assert_eq!(uniform("Camera.eye[0]").offset, 64);
    assert_eq!(uniform("Camera.eye[0]").array_size, 2);
    assert_eq!(uniform("Camera.on").gl_type, gl_type::BOOL);
    assert_eq!(r.uniform_blocks[0].name, "Camera");
    assert_eq!(r.uniform_blocks[0].size, 112);
    let env = uniform("env[0]");
    assert_eq!((env.gl_type, env.array_size), (gl_type::SAMPLER_CUBE_SHADOW, 2));
    let default = r.find_binding(SET_UNIFORM, 0).expect("default block");
    assert_eq!(default.kind, BindingKind::DefaultBlock);
    let samplers: Vec<_> = r.bindings.iter().filter(|b| b.set == SET_SAMPLER).collect();
    assert_eq!(samplers.iter().map(|b| b.binding).collect::<Vec<_>>(), [0, 1]);
    assert!(samplers.iter().any(|b| b.name == "env" && b.count == 2 && b.opaque.unwrap().dim == OpaqueDim::Cube));
    assert_eq!(program.default_block.len() as u32, r.default_block.expect("block").size);
    let input =
        |name: &str| r.inputs.iter().find(|i| i.name == name).unwrap_or_else(|| panic!("{name}: {:#?}", r.inputs));
    assert_eq!(input("position").location, 0);
    assert_eq!(input("basis").gl_type, gl_type::FLOAT_MAT3);
    let taken: std::collections::HashSet<i32> =
        [input("uv").location, input("basis").location, input("basis").location + 2].into();
    assert!(taken.len() == 3 && taken.iter().all(|l| *l > 0));
    assert_eq!(input("gl_VertexID").location, -1);
    let output = |name: &str| r.outputs.iter().find(|i| i.name == name).expect(name);
    assert_eq!((output("color").location, output("extra").location), (0, 3));
    assert!(r.pre_raster.writes_position && !r.pre_raster.writes_point_size);
}

#[test]
fn api_locations() {
    let options = LinkOptions {
        attribute_locations: vec![("uv".into(), 7), ("position".into(), 9)],
        fragment_data_locations: vec![("color".into(), 5, 0)],
        ..LinkOptions::default()
    };
    let program = program_with(&[(Stage::Vertex, VS), (Stage::Fragment, FS)], &options);
    let input = |name: &str| program.reflection.inputs.iter().find(|i| i.name == name).expect(name).location;
    assert_eq!((input("position"), input("uv"), input("basis")), (0, 7, 1));
    assert_eq!(program.reflection.outputs.iter().find(|o| o.name == "color").expect("color").location, 5);
}

#[test]
fn old_shaders() {
    let program = program(&[
        (
            Stage::Vertex,
            "attribute vec4 a; varying vec2 uv; uniform mat4 m; void main() { uv = a.xy; gl_Position = m * a; }",
        ),
        (
            Stage::Fragment,
            "#version 120\nvarying vec2 uv; uniform sampler2D texture; uniform sampler2DShadow sh; invariant varying vec2 uw;\nvoid main() { gl_FragColor = texture2D(texture, uv) + shadow2D(sh, vec3(uv, 0.5)); }",
        ),
    ]);
    assert!(program.reflection.fragment.expect("fragment").broadcasts_color);
    assert!(program.reflection.uniforms.iter().any(|u| u.name == "texture"));
}

#[test]
fn fixed_function_names() {
    program(&[
        (
            Stage::Vertex,
            "void main() { gl_FrontColor = gl_Color; gl_TexCoord[0] = gl_MultiTexCoord0; gl_Position = ftransform(); }",
        ),
        (
            Stage::Fragment,
            "void main() { gl_FragColor = gl_Color * gl_TexCoord[0] * gl_LightSource[0].ambient * gl_Fog.color; }",
        ),
    ]);
}

#[test]
fn initialisers() {
    let program = program(&[
        (
            Stage::Vertex,
            "#version 330\nconst float k = 2.0; struct S { float a; bvec2 b; mat2 m; };
uniform vec3 v = vec3(1, 2, 3) * k; uniform S s = S(4.0, bvec2(false, true), mat2(1)); uniform float f[3] = float[](1, 2, 3);
uniform int plain;
void main() { gl_Position = vec4(v * s.a, f[1] + s.m[0].x + float(plain)); if (s.b.y) gl_Position.x = 0.0; }",
        ),
        (Stage::Fragment, "#version 330\nout vec4 c; void main() { c = vec4(1); }"),
    ]);
    let at = |name: &str, element: usize| -> f32 {
        let uniform = program.reflection.uniforms.iter().find(|u| u.name == name).expect(name);
        let offset = uniform.offset as usize + element;
        f32::from_le_bytes(program.default_block[offset..offset + 4].try_into().expect("four bytes"))
    };
    assert_eq!([at("v", 0), at("v", 4), at("v", 8)], [2.0, 4.0, 6.0]);
    assert_eq!(at("s.a", 0), 4.0);
    assert_eq!(at("s.b", 4).to_bits(), 1);
    assert_eq!([at("s.m", 0), at("s.m", 20)], [1.0, 1.0]);
    assert_eq!([at("f[0]", 0), at("f[0]", 16), at("f[0]", 32)], [1.0, 2.0, 3.0]);
}

#[test]
fn explicit_uniform_locations_and_bindings() {
    let program = program(&[
        (
            Stage::Vertex,
            "#version 430\nlayout(location = 5) uniform mat4 m[2]; layout(location=2) uniform vec4 v; uniform float f;
layout(binding = 3) uniform sampler2D t; layout(binding = 3) uniform B { vec4 x; }; layout(location=20, binding=1) uniform sampler2D u[3];
void main() { gl_Position = m[1] * v * f + texture(t, vec2(0)) + x + texture(u[1], vec2(0)); }",
        ),
        (Stage::Fragment, "#version 430\nout vec4 c; void main() { c = vec4(1); }"),
    ]);
    let uniform = |name: &str| program.reflection.uniforms.iter().find(|u| u.name == name).expect(name);
    assert_eq!(uniform("m[0]").location, 5);
    assert_eq!(uniform("v").location, 2);
    assert_eq!(uniform("f").location, 0);
    assert_eq!(uniform("t").initial_unit, 3);
    assert_eq!((uniform("u[0]").location, uniform("u[0]").initial_unit), (20, 1));
    assert_eq!(program.reflection.uniform_blocks[0].initial_binding, 3);
}

#[test]
fn errors_have_lines() {
    let shader = compile(
        Stage::Fragment,
        b"#version 330\n\nout vec4 c;\nvoid main() {\n    c = foo;\n}\n",
        &CompileOptions::default(),
    );
    assert!(!shader.ok());
    assert!(shader.info_log().starts_with("0:5("), "{}", shader.info_log());
    assert!(shader.info_log().contains("error: 'foo' : undeclared identifier"), "{}", shader.info_log());
}

#[test]
fn interfaces_must_match() {
    let fs = "#version 330\nin vec3 a; out vec4 c; void main() { c = vec4(a, 1); }";
    let vs = "#version 330\nout vec2 a; void main() { gl_Position = vec4(0); a = vec2(0); }";
    assert!(link_error(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]).starts_with("error: "));
    let vs = "#version 330\nvoid main() { gl_Position = vec4(0); }";
    assert!(link_error(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]).contains('a'));
    let vs = "#version 330\nuniform float u; out vec3 a; void main() { gl_Position = vec4(u); a = vec3(0); }";
    let fs = "#version 330\nuniform vec2 u; in vec3 a; out vec4 c; void main() { c = vec4(a, u.x); }";
    link_error(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
}

#[test]
fn shaders_can_be_linked_again() {
    let shaders = compile_all(&[(Stage::Vertex, VS), (Stage::Fragment, FS)]);
    let all: Vec<&CompiledShader> = shaders.iter().collect();
    let first = link(&all, &LinkOptions::default()).expect("linked");
    for _ in 0..5 {
        let again = link(&all, &LinkOptions::default()).expect("linked");
        assert_eq!(first.reflection, again.reflection);
        assert_eq!(first.modules, again.modules);
    }
    let bytes = first.reflection.to_bytes();
    assert_eq!(Reflection::from_bytes(&bytes), Ok(first.reflection));
}

/// What decorates the variables and members with this name, as `Decoration operand` strings.
pub(super) fn decorations(module: &StageModule, name: &str) -> Vec<String> {
    let dr = rspirv::dr::load_words(&module.words).expect("valid");
    let named = |i: &&rspirv::dr::Instruction| {
        i.class.opcode == rspirv::spirv::Op::Name && i.operands[1] == rspirv::dr::Operand::LiteralString(name.into())
    };
    let id = dr.debug_names.iter().find(named).unwrap_or_else(|| panic!("{name} is not there")).operands[0].clone();
    let of_id = dr.annotations.iter().filter(|i| i.operands[0] == id);
    of_id.map(|i| i.operands[1..].iter().map(|o| o.to_string()).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn arrays_of_blocks_keep_their_members_apart() {
    let block = "Blk { flat float a; noperspective vec2 b[2]; vec4 c; } ifc[2]";
    let vertex = format!(
        "#version 150\nin vec4 p; out {block};\n\
         void main() {{ gl_Position = p; for (int i = 0; i < 2; i++) {{ ifc[i].a = p.x; ifc[i].b[i] = p.xy; ifc[i].c = p; }} }}"
    );
    let fragment = format!(
        "#version 150\nin {block}; out vec4 color;\n\
         void main() {{ color = vec4(ifc[1].a) + vec4(ifc[0].b[1], 0, 1) + ifc[0].c; }}"
    );
    let program = program(&[(Stage::Vertex, &vertex), (Stage::Fragment, &fragment)]);
    for module in &program.modules {
        let location = |name: &str| {
            let all = decorations(module, name);
            let found = all.iter().find_map(|d| d.strip_prefix("Location ").map(str::to_owned));
            found.unwrap_or_else(|| panic!("{name}: {all:?}")).parse::<u32>().expect("a number")
        };
        let [a, b, c] = ["Blk.a", "Blk.b", "Blk.c"].map(location);
        assert_eq!((b, c), (a + 2, b + 4), "{}", module.stage.name());
        assert!(decorations(module, "Blk.a").contains(&"Flat".into()));
        assert!(decorations(module, "Blk.b").contains(&"NoPerspective".into()));
        assert_eq!(decorations(module, "Blk.c").len(), 1);
    }
}

#[test]
fn transform_feedback_names_elements_of_block_arrays() {
    let sources = [
        (Stage::Vertex, "#version 150\nvoid main() { gl_Position = vec4(0); }"),
        (
            Stage::Geometry,
            "#version 150\nlayout(points) in; layout(points, max_vertices = 1) out;
            out Blk { float e; vec3 f; float g[3]; } inst[2]; out float gl_ClipDistance[2];
            void main() {
                for (int i = 0; i < 2; i++) { inst[i].e = 1.0; inst[i].f = vec3(2); for (int j = 0; j < 3; j++) inst[i].g[j] = 3.0; }
                gl_ClipDistance[0] = 1.0; gl_ClipDistance[1] = 2.0;
                EmitVertex();
            }",
        ),
    ];
    let shaders = compile_all(&sources);
    let all: Vec<&CompiledShader> = shaders.iter().collect();
    let captured = |varyings: &[&str]| {
        let options = LinkOptions {
            transform_feedback_varyings: varyings.iter().map(|v| v.to_string()).collect(),
            transform_feedback_mode: Some(mgpipe_types::reflection::TransformFeedbackMode::Interleaved),
            ..LinkOptions::default()
        };
        link(&all, &options)
    };
    let good = ["Blk[0].e", "Blk[1].f", "Blk[1].g[2]", "gl_ClipDistance"];
    let program = captured(&good).unwrap_or_else(|error| panic!("{error}"));
    program.modules.iter().for_each(validate);
    let xfb = program.reflection.transform_feedback.expect("captures");
    let shapes: Vec<_> = xfb.varyings.iter().map(|v| (v.gl_type, v.array_size, v.offset)).collect();
    let (float, vec3) = (gl_type::FLOAT, gl_type::FLOAT_VEC3);
    assert_eq!(shapes, [(float, 1, 0), (vec3, 1, 4), (float, 1, 16), (float, 2, 20)]);
    let geometry = program.modules.iter().find(|m| m.stage == Stage::Geometry).expect("linked");
    assert!(decorations(geometry, "mgl_xfb_gl_ClipDistance").contains(&"Offset 20".into()));
    for bad in ["inst[0].e", "inst.e", "Blk.e", "e", "Blk[2].e", "Blk[0]", "Blk[0].g[3]", "Blk[0][0].e"] {
        assert!(captured(&[bad]).is_err(), "{bad} names nothing");
    }
}

#[test]
fn transform_feedback_captures() {
    use crate::reflection::TransformFeedbackMode::{Interleaved, Separate};
    let vs = "#version 150\nin vec4 p; out vec3 a; out float arr[3]; out B { vec2 m; vec4 n[2]; } inst; out struct S { vec2 x; mat2 y; } s;
flat out ivec2 i; void main() { gl_Position = p; a = p.xyz; arr = float[](1., 2., 3.); inst.m = p.xy; inst.n[0] = inst.n[1] = p; s.x = p.xy; s.y = mat2(1); i = ivec2(3); if (p.x > 0.0) return; a = vec3(0); }";
    let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
    let options = LinkOptions {
        transform_feedback_varyings: names(&[
            "gl_Position",
            "a",
            "gl_SkipComponents2",
            "arr[1]",
            "B.m",
            "gl_NextBuffer",
            "s.y",
            "B.n[1]",
            "i",
            "arr",
        ]),
        transform_feedback_mode: Some(Interleaved),
        ..LinkOptions::default()
    };
    let program = program_with(&[(Stage::Vertex, vs)], &options);
    let xfb = program.reflection.transform_feedback.expect("captures");
    let offsets: Vec<(u32, u32)> = xfb.varyings.iter().map(|v| (v.buffer, v.offset)).collect();
    assert_eq!(offsets, [(0, 0), (0, 16), (0, 28), (0, 36), (0, 40), (0, 48), (1, 0), (1, 16), (1, 32), (1, 40)]);
    assert_eq!(xfb.buffers.iter().map(|b| b.stride).collect::<Vec<_>>(), [48, 52]);
    assert_eq!((xfb.varyings[6].gl_type, xfb.varyings[9].array_size), (gl_type::FLOAT_MAT2, 3));
    let options = LinkOptions {
        transform_feedback_varyings: names(&["i", "a"]),
        transform_feedback_mode: Some(Separate),
        ..LinkOptions::default()
    };
    let program = program_with(&[(Stage::Vertex, vs)], &options);
    let xfb = program.reflection.transform_feedback.expect("captures");
    assert_eq!(xfb.buffers.iter().map(|b| b.stride).collect::<Vec<_>>(), [8, 12]);
    for wrong in [&["nope"][..], &["a", "a"], &["arr[3]"], &["gl_SkipComponents5"], &["B"], &["a]"]] {
        let options = LinkOptions { transform_feedback_varyings: names(wrong), ..LinkOptions::default() };
        let shaders = compile_all(&[(Stage::Vertex, vs)]);
        let error = link(&[&shaders[0]], &options).expect_err("an error");
        assert!(error.info_log.contains("ransform feedback"), "{error}");
    }
}

#[test]
fn transform_feedback_of_geometry_and_layouts() {
    let vs = "#version 150\nin vec4 p; void main() { gl_Position = p; }";
    let gs = "#version 150\nlayout(points) in; layout(points, max_vertices = 3) out; out vec4 a[2]; void emit() { a[0] = gl_in[0].gl_Position; a[1] = -a[0]; gl_Position = a[0]; EmitVertex(); }
void main() { emit(); emit(); EndPrimitive(); }";
    let options = LinkOptions {
        transform_feedback_varyings: vec!["a[1]".into(), "gl_Position".into()],
        ..LinkOptions::default()
    };
    let program = program_with(&[(Stage::Vertex, vs), (Stage::Geometry, gs)], &options);
    let geometry = program.reflection.geometry.expect("geometry");
    assert_eq!((geometry.max_vertices, geometry.invocations), (3, 1));
    assert_eq!(program.reflection.transform_feedback.expect("captures").buffers[0].stride, 32);
    let vs = "#version 440\nlayout(xfb_buffer = 1, xfb_stride = 48) out; layout(xfb_buffer = 1, xfb_offset = 16) out vec4 v; void main() { gl_Position = v = vec4(0); }";
    let program = program_with(&[(Stage::Vertex, vs)], &LinkOptions::default());
    let xfb = program.reflection.transform_feedback.expect("captures");
    assert_eq!((xfb.varyings[0].buffer, xfb.varyings[0].offset, xfb.buffers[1].stride), (1, 16, 48));
}

#[test]
fn rectangle_textures() {
    let program = program(&[
        (Stage::Vertex, "#version 140\nin vec4 p; out vec2 uv; void main() { gl_Position = p; uv = p.xy; }"),
        (
            Stage::Fragment,
            "#version 400\nin vec2 uv; uniform sampler2DRect r; uniform sampler2D t; uniform isampler2DRect ir; uniform sampler2DRectShadow rs; out vec4 c;
void main() { c = texture(r, uv) + texture(t, uv) + textureProj(r, vec3(uv, 2)) + texelFetch(r, ivec2(uv)) + vec4(texture(ir, uv)) + texture(rs, vec3(uv, 0.5))
 + vec4(textureSize(r), 0, 0) + textureGrad(r, uv, vec2(1), vec2(2)) + textureOffset(r, uv, ivec2(1)) + textureGather(r, uv) + texelFetchOffset(r, ivec2(1), ivec2(1)) + textureProj(r, vec4(uv, 0, 2)); }",
        ),
    ]);
    let binding = program.reflection.bindings.iter().find(|b| b.name == "r").expect("r");
    assert_eq!(binding.opaque.expect("opaque").dim, OpaqueDim::Rect);
}

#[test]
fn all_stages() {
    let program = program(&[
        (Stage::Vertex, "#version 400\nin vec4 p; out vec3 c; void main() { gl_Position = p; c = p.xyz; }"),
        (Stage::TessControl, "#version 400\nlayout(vertices = 3) out; in vec3 c[]; out vec3 d[]; patch out float f; void main() { gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; d[gl_InvocationID] = c[gl_InvocationID]; f = 1.0; gl_TessLevelInner[0] = 2.0; gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = 2.0; }"),
        (Stage::TessEvaluation, "#version 400\nlayout(triangles, fractional_odd_spacing, cw, point_mode) in; in vec3 d[]; patch in float f; out vec3 e; void main() { gl_Position = gl_in[0].gl_Position * gl_TessCoord.x * f; e = d[1]; }"),
        (Stage::Geometry, "#version 400\nlayout(points, invocations = 2) in; layout(triangle_strip, max_vertices = 4) out; in vec3 e[]; out vec3 g; void main() { gl_Position = gl_in[0].gl_Position; g = e[0]; gl_Layer = 1; EmitVertex(); EndPrimitive(); }"),
        (Stage::Fragment, "#version 400\nin vec3 g; out vec4 c; void main() { if (g.x < 0.0) discard; c = vec4(g, 1); gl_FragDepth = 0.5; }"),
    ]);
    let r = &program.reflection;
    assert_eq!(r.tess_control.expect("tcs").vertices_out, 3);
    let tes = r.tess_evaluation.expect("tes");
    assert!(tes.clockwise && tes.point_mode && tes.spacing == crate::reflection::TessSpacing::FractionalOdd);
    assert_eq!(r.geometry.expect("gs").invocations, 2);
    let fragment = r.fragment.expect("fs");
    assert!(fragment.uses_discard && fragment.writes_depth && !fragment.early_tests);
    assert!(r.pre_raster.writes_layer && r.pre_raster.writes_position);
}

#[test]
fn compute_storage_images_and_atomics() {
    let program = program(&[(
        Stage::Compute,
        "#version 430\nlayout(local_size_x = 8, local_size_y = 4) in; struct Item { vec3 p; bool b; };
layout(std430, binding = 2) buffer Data { int count; Item items[]; } data;
layout(binding = 1) buffer Pair { vec4 v[3]; } pair[2];
layout(rgba8, binding = 3) uniform writeonly image2D img; layout(r32ui) uniform uimageBuffer ib;
layout(binding = 1, offset = 8) uniform atomic_uint counter; layout(binding = 1) uniform atomic_uint more[2];
uniform samplerBuffer sb; uniform float scale;
shared float s[32];
void main() { s[gl_LocalInvocationIndex] = scale; barrier(); data.items[1].p = vec3(float(atomicCounterIncrement(counter))); data.items[0].b = atomicCounter(more[1]) > 2u;
 imageStore(img, ivec2(gl_GlobalInvocationID.xy), texelFetch(sb, 1)); imageAtomicAdd(ib, 1, 2u); pair[1].v[2] = vec4(s[1]); data.count = data.items.length(); }",
    )]);
    let r = &program.reflection;
    assert_eq!(r.compute.expect("compute").local_size, [8, 4, 1]);
    assert_eq!(r.storage_blocks.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["Data", "Pair[0]", "Pair[1]"]);
    assert_eq!(r.storage_blocks.iter().map(|b| b.initial_binding).collect::<Vec<_>>(), [2, 1, 2]);
    let variable = |name: &str| {
        r.buffer_variables
            .iter()
            .find(|v| v.name == name)
            .unwrap_or_else(|| panic!("{name}: {:#?}", r.buffer_variables))
    };
    let p = variable("Data.items[0].p");
    assert_eq!((p.offset, p.top_level_array_size, p.top_level_array_stride), (16, 0, 16));
    assert_eq!(variable("Data.items[0].b").gl_type, gl_type::BOOL);
    assert_eq!((variable("Pair.v[0]").array_size, variable("Pair.v[0]").array_stride), (3, 16));
    assert_eq!((r.atomic_buffers[0].binding, r.atomic_buffers[0].counters.len()), (1, 2));
    let counter = r.uniforms.iter().find(|u| u.name == "counter").expect("counter");
    assert_eq!((counter.offset, counter.atomic_index, counter.gl_type), (8, 0, gl_type::UNSIGNED_INT_ATOMIC_COUNTER));
    let image = r.uniforms.iter().find(|u| u.name == "img").expect("img");
    assert_eq!((image.gl_type, image.initial_unit), (gl_type::IMAGE_2D, 3));
    let binding = &r.bindings[image.binding_index as usize];
    let opaque = binding.opaque.expect("opaque");
    assert!(opaque.writable && !opaque.readable && opaque.image_format == 0x8058);
    assert!(
        r.bindings.iter().any(|b| b.kind == BindingKind::TexelBuffer)
            && r.bindings.iter().any(|b| b.kind == BindingKind::ImageBuffer)
    );
}

#[test]
fn unused_inputs_and_dual_source() {
    let vs = "#version 330\nin vec4 p; in vec4 dead; uniform sampler2D t; void main() { gl_Position = p; gl_ClipDistance[1] = p.x; }";
    let fs = "#version 330\nin vec3 gone; uniform sampler2D t; layout(location = 0) out vec4 a; layout(location = 0, index = 1) out vec4 b; void main() { a = vec4(1); b = vec4(gl_PointCoord, 0, 0); }";
    let program = program(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
    let r = &program.reflection;
    assert_eq!(r.inputs.len(), 1);
    assert!(r.bindings.is_empty() && r.uniforms.is_empty());
    assert_eq!(r.outputs.iter().map(|o| (o.location, o.index)).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    assert_eq!(r.pre_raster.clip_distances, 2);
}

#[test]
fn odd_sources_fail_cleanly() {
    let long = format!("#version 330\nvoid main() {{ float x = 1.0{}; }}", " + 1.0".repeat(200_000));
    let chain = format!(
        "#version 330\nvoid main() {{ float x = 1.0{}; gl_Position = vec4(x); }}",
        " + gl_Position.x".repeat(8_000)
    );
    let ifs = format!("#version 330\nuniform int u; void main() {{ {} {{}} }}", "if (u > 1) {} else ".repeat(4_000));
    let many = format!("#version 330\nvoid main() {{ {} }}", "int a; {a = 1;} ".repeat(3_000));
    for source in [
        "",
        " ",
        "\n\n",
        "#",
        "#version",
        "#version 330",
        "#version 331\nvoid main(){}",
        "#version 100\nvoid main(){}",
        "void main(",
        "}",
        "\u{0}",
        "void main() {\0}",
        "#version 330\nlayout(location = 99999999999) in vec4 x; void main(){}",
        "#version 330\nlayout(location = -1) in vec4 x; void main(){}",
        "#define A A\nA",
        "#if",
        "/*",
        "#version 330 foo\n",
        "#version 330\nstruct S { S s; }; void main() {}",
        "layout() uniform;",
        "uniform sampler2D s[4294967295];void main(){}",
        &long,
        &chain,
        &ifs,
        &many,
    ] {
        for stage in Stage::ALL {
            let start = std::time::Instant::now();
            let shader = compile(stage, source.as_bytes(), &CompileOptions::default());
            assert!(shader.ok() || !shader.info_log().is_empty());
            assert!(start.elapsed().as_secs() < 20, "{} bytes took {:?}", source.len(), start.elapsed());
        }
    }
    assert!(!compile(Stage::Vertex, &[0xff, 0xfe, b'a'], &CompileOptions::default()).ok());
    assert!(!compile(Stage::Vertex, &vec![b'a'; 9 << 20], &CompileOptions::default()).ok());
}

#[test]
fn evaluation_without_control_shader() {
    let vs = "#version 400\nin vec4 p; uniform float k; out vec3 c; out B { vec2 x; flat int y[2]; } b; void main() { gl_Position = p * k; gl_PointSize = 2.0; c = p.xyz; b.x = p.xy; b.y[0] = 1; }";
    let tes = "#version 400\nlayout(quads) in; in vec3 c[]; in B { vec2 x; flat int y[2]; } b[]; out vec3 d; void main() { gl_Position = gl_in[0].gl_Position + gl_in[1].gl_Position * gl_TessCoord.x; d = c[1] + vec3(b[2].x, b[0].y[1]); }";
    let fs = "#version 400\nin vec3 d; uniform float k; out vec4 o; void main() { o = vec4(d, k); }";
    let options = LinkOptions { patch_vertices: 4, ..LinkOptions::default() };
    let program = program_with(&[(Stage::Vertex, vs), (Stage::TessEvaluation, tes), (Stage::Fragment, fs)], &options);
    assert_eq!(program.modules.len(), 4);
    let facts = program.reflection.tess_control.expect("control");
    assert!(facts.generated && facts.vertices_out == 4);
    let outer = program.reflection.uniforms.iter().find(|u| u.name == "mgl_TessLevelOuter").expect("outer");
    assert!(outer.stages.contains(Stage::TessControl) && outer.location > 0);
}

#[test]
fn arrays_of_arrays_of_descriptors() {
    let fs = "#version 430\nuniform sampler2D s[2][3]; layout(binding = 1) uniform B { vec4 v; } b[2][2]; uniform int i; uniform vec4 plain[2][2]; out vec4 c;
void main() { c = texture(s[1][2], vec2(0)) + texture(s[i][1], vec2(0)) + b[i][1].v + b[1][0].v + plain[i][1]; }";
    let vs = "#version 430\nvoid main() { gl_Position = vec4(0); }";
    let program = program(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
    let r = &program.reflection;
    let names: Vec<&str> = r.uniforms.iter().map(|u| u.name.as_str()).collect();
    assert_eq!(names, ["i", "plain[0][0]", "plain[1][0]", "s[0][0]", "s[1][0]", "B.v"]);
    assert_eq!(r.uniforms[4].location, r.uniforms[3].location + 3);
    let blocks: Vec<&str> = r.uniform_blocks.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(blocks, ["B[0][0]", "B[0][1]", "B[1][0]", "B[1][1]"]);
    assert_eq!(r.uniform_blocks[3].initial_binding, 4);
}

#[test]
fn samplers_in_arrays_of_structs() {
    let fs = "#version 330
struct Map { sampler2D image; vec4 tint; }; struct Light { Map maps[2]; sampler2DShadow depths[3]; float power; };
uniform Light lights[2]; uniform Map plain[2]; uniform Map one; uniform int n; in vec2 uv; out vec4 c;
vec4 look(sampler2D s, vec2 at) { return texture(s, at); }
void main() {
    c = look(one.image, uv) + texture(plain[1].image, uv) * plain[n].tint + texture(lights[0].maps[1].image, uv);
    for (int i = 0; i < n; ++i)
        c += look(lights[i].maps[1].image, uv) * lights[i].power + vec4(texture(lights[1].depths[i], vec3(uv, 0.5)));
}";
    let vs = "#version 330
struct Map { sampler2D image; vec4 tint; }; struct Light { Map maps[2]; sampler2DShadow depths[3]; float power; };
uniform Light lights[2]; out vec2 uv;
void main() { uv = vec2(textureLod(lights[1].depths[2], vec3(0.5), 0.0)); gl_Position = vec4(0); }";
    let program = program(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
    let r = &program.reflection;
    let mut opaque: Vec<(&str, u32)> =
        r.uniforms.iter().filter(|u| u.binding_index >= 0).map(|u| (u.name.as_str(), u.array_size)).collect();
    opaque.sort_unstable();
    assert_eq!(
        opaque,
        [
            ("lights[0].depths[0]", 3),
            ("lights[0].maps[0].image", 1),
            ("lights[0].maps[1].image", 1),
            ("lights[1].depths[0]", 3),
            ("lights[1].maps[0].image", 1),
            ("lights[1].maps[1].image", 1),
            ("one.image", 1),
            ("plain[1].image", 1),
        ]
    );
    let of = |name: &str| r.uniforms.iter().position(|u| u.name == name).expect("listed") as i32;
    // The vertex shader's sampler is one of the fragment shader's array.
    let vertex = r.bindings.iter().find(|b| b.stages.contains(Stage::Vertex) && b.count == 1).expect("bound");
    assert_eq!((vertex.uniform_index, vertex.uniform_element), (of("lights[1].depths[0]"), 2));
    assert!(r.uniforms[of("lights[1].depths[0]") as usize].stages.contains(Stage::Vertex));
    let images = r.bindings.iter().find(|b| b.uniform_index == of("lights[0].maps[0].image")).expect("bound");
    assert_eq!((images.count, of("lights[1].maps[1].image") - images.uniform_index), (4, 3));
}

#[test]
fn structs_with_samplers_may_be_passed_on() {
    let fs = "#version 330
struct Map { sampler2D image; vec4 tint; }; uniform Map maps[2]; uniform int n; out vec4 c;
vec4 look(Map m) { return texture(m.image, vec2(0)) * m.tint; }
void main() { vec4 maps_tint = maps[n].tint; c = look(maps[1]) + texture(maps[0].image, vec2(0)) * maps_tint; }";
    let vs = "#version 330\nvoid main() { gl_Position = vec4(0); }";
    let program = program(&[(Stage::Vertex, vs), (Stage::Fragment, fs)]);
    let mut names: Vec<&str> =
        program.reflection.uniforms.iter().filter(|u| u.binding_index >= 0).map(|u| u.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["maps[0].image", "maps[1].image"]);
}

#[test]
fn blocks_stay_active() {
    let vs = "#version 330\nlayout(std140) uniform Idle { float a; vec3 b; }; void main() { gl_Position = vec4(0); }";
    let program = program(&[(Stage::Vertex, vs)]);
    let r = &program.reflection;
    assert_eq!((r.uniform_blocks.len(), r.uniforms.len(), r.bindings.len()), (1, 2, 1));
    assert_eq!(r.uniforms[1].offset, 16);
}

#[test]
fn invariance_must_agree_between_shaders() {
    let sources = |version: u32, vertex: &str, fragment: &str| {
        [
            (Stage::Vertex, format!("#version {version}\n{vertex} void main() {{ gl_Position = vec4(0); d = 1.0; }}")),
            (
                Stage::Fragment,
                format!("#version {version}\n{fragment} out vec4 color; void main() {{ color = vec4(d); }}"),
            ),
        ]
    };
    let run = |sources: &[(Stage, String)]| {
        let all: Vec<_> = sources.iter().map(|(stage, text)| (*stage, text.as_str())).collect();
        let shaders = compile_all(&all);
        link(&shaders.iter().collect::<Vec<_>>(), &LinkOptions::default()).map(|_| ()).map_err(|e| e.info_log)
    };
    let error = run(&sources(330, "invariant out float d;", "in float d;")).expect_err("only the output is invariant");
    assert_eq!(error, "error: `d' has mismatching invariant qualifiers in the vertex and fragment shaders\n");
    assert!(run(&sources(330, "out float d;", "in float d; invariant d;")).is_err());
    assert!(run(&sources(330, "out float d; invariant d;", "invariant in float d;")).is_ok());
    assert!(run(&sources(420, "invariant out float d;", "in float d;")).is_ok(), "newer versions do not ask for it");
    assert!(run(&sources(330, "#pragma STDGL invariant(all)\nout float d;", "in float d;")).is_ok());
}

#[test]
fn one_layout_sizes_the_inputs_of_all_geometry_shaders() {
    let sources = |uses: &str| {
        [
            (Stage::Vertex, "#version 150\nflat out int v; void main() { gl_Position = vec4(0); v = 1; }".to_owned()),
            (
                Stage::Geometry,
                "#version 150\nlayout(triangles) in; layout(points, max_vertices = 1) out; void emit(); void main() { emit(); }"
                    .to_owned(),
            ),
            (
                Stage::Geometry,
                format!("#version 150\nflat in int v[]; void emit() {{ gl_Position = vec4({uses}); EmitVertex(); }}"),
            ),
        ]
    };
    program(&sources("v[1]").iter().map(|(s, t)| (*s, t.as_str())).collect::<Vec<_>>());
    let beyond = sources("v[3]");
    assert!(link_error(&beyond.iter().map(|(s, t)| (*s, t.as_str())).collect::<Vec<_>>()).starts_with("error: "));
}

#[test]
fn attributes_may_share_a_location() {
    let vertex = "#version 330
layout(location = 0) in vec2 corner; layout(location = 1) in vec3 one; layout(location = 1) in vec3 two;
layout(location = 1) in ivec4 three; in vec4 four; uniform int which; out vec4 v;
void main() {
    gl_Position = vec4(corner, 0, 1);
    switch (which) {
        case 0: v = vec4(one, 1); break;
        case 1: v = vec4(two, 1); break;
        case 2: v = vec4(three); break;
        default: v = four;
    }
}";
    let fragment = "#version 330\nin vec4 v; out vec4 color; void main() { color = v; }";
    let options = LinkOptions { attribute_locations: vec![("four".into(), 0)], ..LinkOptions::default() };
    let program = program_with(&[(Stage::Vertex, vertex), (Stage::Fragment, fragment)], &options);
    let inputs = &program.reflection.inputs;
    let location = |name: &str| inputs.iter().find(|i| i.name == name).map(|i| i.location);
    assert_eq!(["corner", "one", "two", "three", "four"].map(location), [0, 1, 1, 1, 0].map(Some));
    let mut places: Vec<i32> = inputs.iter().map(|i| i.spirv_location).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), inputs.len(), "each has a location of its own in SPIR-V: {inputs:?}");
}

#[test]
fn clip_distances_and_a_clip_vertex_exclude_each_other() {
    let vertex = |body: &str| format!("#version 130\nvoid main() {{ gl_Position = vec4(0); {body} }}");
    let fragment = "#version 130\nvoid main() { gl_FragColor = vec4(1); }";
    let run = |body: &str| {
        let options = CompileOptions { profile: ContextProfile::Compatibility, ..CompileOptions::default() };
        let shaders = [
            compile(Stage::Vertex, vertex(body).as_bytes(), &options),
            compile(Stage::Fragment, fragment.as_bytes(), &options),
        ];
        assert!(shaders.iter().all(CompiledShader::ok), "{}", shaders[0].info_log());
        link(&shaders.iter().collect::<Vec<_>>(), &LinkOptions::default()).is_ok()
    };
    assert!(run("gl_ClipDistance[0] = 1.0;"));
    assert!(run("gl_ClipVertex = vec4(1);"));
    assert!(!run("gl_ClipVertex = vec4(1); gl_ClipDistance[0] = 1.0;"));
}

#[test]
fn stages_that_need_different_tables_link() {
    const OLD: &str =
        "#version 330\nin vec4 p;flat out int n;void main(){gl_Position=p;gl_PointSize=2.;n=gl_InstanceID;}";
    // Choosing between integers came with GLSL 4.50.
    const NEW: &str =
        "#version 450\nlayout(points) in;layout(points, max_vertices=1) out;flat in int n[];flat out int m;\
                       void main(){gl_Position=gl_in[0].gl_Position;gl_PointSize=gl_in[0].gl_PointSize;\
                       m=mix(n[0],1,gl_Position.x>0.);EmitVertex();}";
    const FRAGMENT: &str = "#version 330\nflat in int m;out vec4 c;void main(){c=vec4(m);}";
    program(&[(Stage::Vertex, OLD), (Stage::Geometry, NEW), (Stage::Fragment, FRAGMENT)]);
    const NEW_VERTEX: &str = "#version 450\nin int p;flat out int n;void main(){gl_Position=vec4(0);n=mix(p,1,p>3);}";
    const OLD_GEOMETRY: &str = "#version 150\nlayout(points) in;layout(points, max_vertices=1) out;flat in int n[];\
                                flat out int m;void main(){gl_Position=gl_in[0].gl_Position;m=n[0];EmitVertex();}";
    program(&[(Stage::Vertex, NEW_VERTEX), (Stage::Geometry, OLD_GEOMETRY), (Stage::Fragment, FRAGMENT)]);
}
