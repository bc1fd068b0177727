//! Shaders, programs, uniforms and what queries say about them.

use mgpipe_types::gl;

use crate::context::Context;
use crate::testing;

pub(super) const VERTEX: &[u8] = b"#version 330 core
layout(location = 0) in vec4 position;
in vec2 extra[2];
uniform mat4 transform;
uniform vec3 offsets[3];
layout(std140) uniform Block { vec4 tint; mat2 turn; };
out vec2 coord;
void main() { coord = extra[0] + extra[1]; gl_Position = turn[0].x * transform * position + vec4(offsets[1] + offsets[2], 0.0) + tint; }
";

pub(super) const FRAGMENT: &[u8] = b"#version 330 core
uniform sampler2D image;
uniform samplerCube other;
uniform bool flag;
uniform ivec2 pick;
in vec2 coord;
out vec4 color;
void main() {
    color = texture(image, coord) + texture(other, coord.xyx);
    if (flag) color += vec4(pick, 0, 1);
}
";

pub(super) fn program(ctx: &mut Context, stages: &[(u32, &[u8])]) -> u32 {
    let program = ctx.create_program();
    for (stage, source) in stages {
        let shader = ctx.create_shader(*stage);
        ctx.shader_source(shader, &[source]);
        ctx.compile_shader(shader);
        let log = ctx.get_shader_info_log(shader);
        assert_eq!(ctx.get_shader(shader, gl::COMPILE_STATUS), Some(1), "{log:?}");
        ctx.attach_shader(program, shader);
        ctx.delete_shader(shader);
    }
    ctx.link_program(program);
    program
}

/// A program without uniforms.
pub(super) fn simple_program(ctx: &mut Context) -> u32 {
    let vertex: &[u8] = b"#version 330 core\nvoid main() { gl_Position = vec4(0.0); }";
    let fragment: &[u8] = b"#version 330 core\nout vec4 color;\nvoid main() { color = vec4(1.0); }";
    program(ctx, &[(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)])
}

fn full_program(ctx: &mut Context) -> u32 {
    let name = program(ctx, &[(gl::VERTEX_SHADER, VERTEX), (gl::FRAGMENT_SHADER, FRAGMENT)]);
    let log = ctx.get_program_info_log(name);
    assert_eq!(ctx.get_program(name, gl::LINK_STATUS).map(|v| v.to_i32(0)), Some(1), "{log:?}");
    name
}

fn number(ctx: &mut Context, program: u32, pname: u32) -> i32 {
    ctx.get_program(program, pname).expect("a known pname").to_i32(0)
}

#[test]
fn a_failed_compile_and_link_leave_logs() {
    let (mut ctx, log) = testing::context();
    let shader = ctx.create_shader(gl::VERTEX_SHADER);
    ctx.shader_source(shader, &[b"#version 330 core\n", b"void main() { oops }"]);
    ctx.compile_shader(shader);
    assert_eq!(ctx.get_shader(shader, gl::COMPILE_STATUS), Some(0));
    assert!(ctx.get_shader(shader, gl::INFO_LOG_LENGTH) > Some(1));
    let program = ctx.create_program();
    ctx.attach_shader(program, shader);
    ctx.link_program(program);
    assert_eq!(number(&mut ctx, program, gl::LINK_STATUS), 0);
    assert!(number(&mut ctx, program, gl::INFO_LOG_LENGTH) > 1);
    ctx.use_program(program);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    assert_eq!(log.lock().count("create_shader"), 0);
}

#[test]
fn names_of_shaders_and_programs_share_one_space() {
    let (mut ctx, _) = testing::context();
    let shader = ctx.create_shader(gl::FRAGMENT_SHADER);
    let program = ctx.create_program();
    assert_ne!(shader, program);
    ctx.link_program(shader);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    ctx.compile_shader(program);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    ctx.compile_shader(999);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    assert_eq!(ctx.create_shader(gl::TEXTURE_2D), 0);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
}

#[test]
fn deletion_waits_for_attachment_and_use() {
    let (mut ctx, log) = testing::context();
    let shader = ctx.create_shader(gl::VERTEX_SHADER);
    let holder = ctx.create_program();
    ctx.attach_shader(holder, shader);
    ctx.delete_shader(shader);
    assert!(ctx.is_shader(shader));
    assert_eq!(ctx.get_shader(shader, gl::DELETE_STATUS), Some(1));
    ctx.delete_program(holder);
    assert!(!ctx.is_shader(shader) && !ctx.is_program(holder));

    let program = simple_program(&mut ctx);
    ctx.use_program(program);
    ctx.delete_program(program);
    assert!(ctx.is_program(program));
    assert_eq!(log.lock().programs.len(), 1);
    ctx.use_program(0);
    assert!(!ctx.is_program(program));
    ctx.flush();
    assert!(log.lock().programs.is_empty());
}

#[test]
fn uniforms_answer_what_was_set() {
    let (mut ctx, _) = testing::context();
    let program = full_program(&mut ctx);
    ctx.use_program(program);
    let transform = ctx.get_uniform_location(program, "transform");
    let offsets = ctx.get_uniform_location(program, "offsets");
    let second = ctx.get_uniform_location(program, "offsets[1]");
    let flag = ctx.get_uniform_location(program, "flag");
    let pick = ctx.get_uniform_location(program, "pick");
    let image = ctx.get_uniform_location(program, "image");
    assert!(transform >= 0 && offsets >= 0 && flag >= 0 && pick >= 0 && image >= 0);
    assert_eq!(second, offsets + 1);
    assert_eq!(ctx.get_uniform_location(program, "offsets[3]"), -1);
    assert_eq!(ctx.get_uniform_location(program, "tint"), -1, "a block member has no location");
    assert_eq!(ctx.get_uniform_location(program, "nothing"), -1);

    let matrix: Vec<f32> = (0..16).map(|v| v as f32).collect();
    ctx.uniform_matrix_f(transform, 4, 4, true, &matrix);
    let got = ctx.get_uniform(program, transform).expect("set");
    assert_eq!(got.to_f32(1), 4.0, "transposed");
    ctx.uniform_f(second, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let got = ctx.get_uniform(program, offsets + 2).expect("set");
    assert_eq!((got.to_f32(0), got.to_f32(2)), (4.0, 6.0));
    ctx.uniform_f(flag, 1, &[0.5]);
    assert_eq!(ctx.get_uniform(program, flag).map(|v| v.to_i32(0)), Some(1));
    ctx.uniform_i(pick, 2, &[-3, 7]);
    assert_eq!(ctx.get_uniform(program, pick).map(|v| (v.to_i32(0), v.to_i32(1))), Some((-3, 7)));
    ctx.uniform_i(image, 1, &[5]);
    assert_eq!(ctx.get_uniform(program, image).map(|v| v.to_i32(0)), Some(5));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    ctx.link_program(program);
    assert_eq!(ctx.get_uniform(program, image).map(|v| v.to_i32(0)), Some(0), "a link resets values");
}

#[test]
fn uniform_errors_follow_the_specification() {
    let (mut ctx, _) = testing::context();
    let program = full_program(&mut ctx);
    ctx.uniform_f(0, 1, &[0.0]);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "no program in use");
    ctx.use_program(program);
    let pick = ctx.get_uniform_location(program, "pick");
    let image = ctx.get_uniform_location(program, "image");
    let transform = ctx.get_uniform_location(program, "transform");
    ctx.uniform_f(-1, 1, &[0.0]);
    assert_eq!(ctx.get_error(), gl::NO_ERROR, "location -1 is ignored");
    let check = |ctx: &mut Context, error, what: &str| assert_eq!(ctx.get_error(), error, "{what}");
    ctx.uniform_f(12345, 1, &[0.0]);
    check(&mut ctx, gl::INVALID_OPERATION, "unknown location");
    ctx.uniform_f(pick, 2, &[0.0, 0.0]);
    check(&mut ctx, gl::INVALID_OPERATION, "type");
    ctx.uniform_i(pick, 3, &[0, 0, 0]);
    check(&mut ctx, gl::INVALID_OPERATION, "size");
    ctx.uniform_i(pick, 2, &[0, 0, 0, 0]);
    check(&mut ctx, gl::INVALID_OPERATION, "count");
    ctx.uniform_f(image, 1, &[0.0]);
    check(&mut ctx, gl::INVALID_OPERATION, "sampler type");
    ctx.uniform_i(image, 1, &[10_000]);
    check(&mut ctx, gl::INVALID_VALUE, "unit");
    ctx.uniform_i(image, 1, &[-1]);
    check(&mut ctx, gl::INVALID_VALUE, "unit");
    ctx.uniform_matrix_f(transform, 3, 3, false, &[0.0; 9]);
    check(&mut ctx, gl::INVALID_OPERATION, "matrix size");
    ctx.uniform_block_binding(program, 99, 0);
    check(&mut ctx, gl::INVALID_VALUE, "block");
}

#[test]
fn interfaces_are_listed() {
    let (mut ctx, _) = testing::context();
    let program = full_program(&mut ctx);
    assert_eq!(ctx.get_attrib_location(program, "position"), 0);
    let extra = ctx.get_attrib_location(program, "extra");
    assert_eq!(ctx.get_attrib_location(program, "extra[1]"), extra + 1);
    assert_eq!(ctx.get_attrib_location(program, "gl_VertexID"), -1);
    let attributes: Vec<_> = (0..number(&mut ctx, program, gl::ACTIVE_ATTRIBUTES) as u32)
        .map(|i| ctx.get_active_attrib(program, i).expect("active").name)
        .collect();
    assert!(attributes.contains(&"position".into()), "{attributes:?}");
    assert!(attributes.contains(&"extra".into()), "an array of attributes goes without an index: {attributes:?}");
    assert_eq!(number(&mut ctx, program, gl::ACTIVE_ATTRIBUTE_MAX_LENGTH), "position".len() as i32 + 1);

    let count = number(&mut ctx, program, gl::ACTIVE_UNIFORMS) as u32;
    let uniforms: Vec<_> = (0..count).map(|i| ctx.get_active_uniform(program, i).expect("active")).collect();
    let offsets = uniforms.iter().find(|u| u.name == "offsets[0]").expect("listed");
    assert_eq!(offsets.type_, gl::FLOAT_VEC3);
    assert!(uniforms.iter().all(|u| !u.name.starts_with("mgl_")), "{uniforms:?}");
    assert!(ctx.get_active_uniform(program, count).is_none());
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);

    let block = ctx.get_uniform_block_index(program, "Block");
    assert_ne!(block, gl::INVALID_INDEX);
    assert_eq!(
        ctx.get_active_uniform_block(program, block, gl::UNIFORM_BLOCK_DATA_SIZE).map(|v| v.to_i32(0)),
        Some(48)
    );
    let members = ctx.get_active_uniform_block(program, block, gl::UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES);
    let members: Vec<u32> = (0..2).map(|i| members.as_ref().expect("members").to_u32(i)).collect();
    let mut found = [0; 3];
    assert!(ctx.get_uniform_indices(program, &["tint", "turn", "missing"], &mut found));
    assert!(members.contains(&found[0]) && members.contains(&found[1]));
    assert_eq!(found[2], gl::INVALID_INDEX);
    assert_eq!(ctx.get_active_uniforms(program, &found[..2], gl::UNIFORM_OFFSET), Some(vec![0, 16]));
    assert_eq!(ctx.get_active_uniforms(program, &found[1..2], gl::UNIFORM_MATRIX_STRIDE), Some(vec![16]));
    ctx.uniform_block_binding(program, block, 4);
    assert_eq!(ctx.get_active_uniform_block(program, block, gl::UNIFORM_BLOCK_BINDING).map(|v| v.to_i32(0)), Some(4));
    assert_eq!(ctx.get_frag_data_location(program, "color"), 0);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn draws_push_constants_and_units_once() {
    let (mut ctx, log) = testing::context();
    let mut array = [0];
    ctx.gen_vertex_arrays(&mut array);
    ctx.bind_vertex_array(array[0]);
    let program = full_program(&mut ctx);
    ctx.use_program(program);
    let image = ctx.get_uniform_location(program, "image");
    let pick = ctx.get_uniform_location(program, "pick");
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "a 2D and a cube sampler share unit 0");
    ctx.uniform_i(image, 1, &[3]);
    ctx.uniform_i(pick, 2, &[17, 18]);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert_eq!(log.lock().count("set_global_constants"), 1);
    assert!(log.lock().constants.windows(4).any(|w| w == 17i32.to_le_bytes()));
    assert!(log.lock().bindings.contains(&3));
    ctx.uniform_i(pick, 2, &[17, 18]);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(log.lock().count("set_global_constants"), 1, "the same value changes nothing");
}

#[test]
fn shaders_see_the_depth_range_and_the_samples() {
    let (mut ctx, log) = testing::context();
    let mut array = [0];
    ctx.gen_vertex_arrays(&mut array);
    ctx.bind_vertex_array(array[0]);
    let vertex: &[u8] = b"#version 330 core\nvoid main() { gl_Position = vec4(0.0); }";
    let fragment: &[u8] = b"#version 330 core
out vec4 color;
void main() { color = vec4(gl_DepthRange.near, gl_DepthRange.far, gl_DepthRange.diff, 1.0); }";
    let program = program(&mut ctx, &[(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)]);
    ctx.use_program(program);
    let pushed = || -> Vec<f32> {
        let log = log.lock();
        let words = log.constants.chunks_exact(4);
        words.map(|w| f32::from_le_bytes([w[0], w[1], w[2], w[3]])).take(3).collect()
    };
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(pushed(), [0.0, 1.0, 1.0]);
    ctx.depth_range(0.75, 0.25);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(pushed(), [0.75, 0.25, -0.5]);
    ctx.draw_arrays(gl::TRIANGLES, 0, 3);
    assert_eq!(log.lock().count("set_global_constants"), 2, "nothing is sent again without a change");
    assert_eq!(ctx.get_uniform_location(program, "gl_DepthRange.near"), -1);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}
