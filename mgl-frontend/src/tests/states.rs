//! Render state: setters against `glGet*`.

use mgpipe_types::gl;

use crate::boundary::{ParamData, Params};
use crate::context::Context;
use crate::testing;

fn ints(ctx: &mut Context, pname: u32, count: usize) -> Vec<i32> {
    let values = ctx.get(pname).unwrap_or_else(|| panic!("glGet {pname:#x}"));
    (0..count).map(|i| values.to_i32(i)).collect()
}

#[test]
fn setters_read_back() {
    let (mut ctx, _) = testing::context();
    ctx.viewport(1, 2, 3, 4);
    assert_eq!(ints(&mut ctx, gl::VIEWPORT, 4), [1, 2, 3, 4]);
    ctx.scissor(5, 6, 7, 8);
    assert_eq!(ints(&mut ctx, gl::SCISSOR_BOX, 4), [5, 6, 7, 8]);
    ctx.blend_func_separate(gl::SRC_ALPHA, gl::ONE, gl::ZERO, gl::DST_COLOR);
    assert_eq!(ints(&mut ctx, gl::BLEND_DST_ALPHA, 1), [gl::DST_COLOR as i32]);
    ctx.stencil_func_separate(gl::BACK, gl::LESS, 3, 0xff);
    assert_eq!(ints(&mut ctx, gl::STENCIL_BACK_REF, 1), [3]);
    assert_eq!(ints(&mut ctx, gl::STENCIL_REF, 1), [0]);
    ctx.color_maski(1, false, true, false, true);
    assert_eq!(ctx.get_indexed(gl::COLOR_WRITEMASK, 1).map(|v| v.to_bool(0)), Some(false));
    assert_eq!(ints(&mut ctx, gl::COLOR_WRITEMASK, 4), [1, 1, 1, 1]);
    ctx.clear_color(0.5, 2.0, -1.0, 1.0);
    assert_eq!(ctx.get(gl::COLOR_CLEAR_VALUE).map(|v| v.to_f32(1)), Some(2.0));
    let size = [7.0];
    let params = Params { data: ParamData::Floats(&size), scalar: true };
    ctx.point_parameter(gl::POINT_FADE_THRESHOLD_SIZE, params);
    assert_eq!(ctx.get(gl::POINT_FADE_THRESHOLD_SIZE).map(|v| v.to_f32(0)), Some(7.0));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn wrong_arguments_change_nothing() {
    let (mut ctx, _) = testing::context();
    let calls: [(fn(&mut Context), u32); 9] = [
        (|c| c.viewport(0, 0, 1, -1), gl::INVALID_VALUE),
        (|c| c.blend_func(gl::ONE, 7), gl::INVALID_ENUM),
        (|c| c.blend_equation(gl::ONE), gl::INVALID_ENUM),
        (|c| c.depth_func(gl::ONE), gl::INVALID_ENUM),
        (|c| c.cull_face(gl::CW), gl::INVALID_ENUM),
        (|c| c.polygon_mode(gl::FRONT, gl::LINE), gl::INVALID_ENUM),
        (|c| c.line_width(f32::NAN), gl::INVALID_VALUE),
        (|c| c.enablei(gl::BLEND, 100), gl::INVALID_VALUE),
        (|c| c.enable(gl::CLIP_DISTANCE0 + 8), gl::INVALID_ENUM),
    ];
    for (i, (call, error)) in calls.into_iter().enumerate() {
        let before = *ctx.state.render.state();
        call(&mut ctx);
        assert_eq!(ctx.get_error(), error, "call {i}");
        assert!(bytemuck::bytes_of(&before) == bytemuck::bytes_of(ctx.state.render.state()), "call {i}");
    }
}

#[test]
fn capabilities_switch() {
    let (mut ctx, _) = testing::context();
    for cap in [gl::BLEND, gl::DEPTH_TEST, gl::PRIMITIVE_RESTART, gl::CLIP_DISTANCE0 + 3, gl::DEBUG_OUTPUT] {
        let was = ctx.is_enabled(cap);
        if was {
            ctx.disable(cap);
        } else {
            ctx.enable(cap);
        }
        assert_eq!(ctx.is_enabled(cap), !was);
        assert_eq!(ctx.get(cap).map(|v| v.to_bool(0)), Some(!was));
    }
    ctx.enablei(gl::BLEND, 2);
    ctx.disable(gl::BLEND);
    assert!(!ctx.is_enabledi(gl::BLEND, 2));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn attributes_read_back() {
    let (mut ctx, _) = testing::context();
    ctx.vertex_attrib_pointer(0, 4, gl::FLOAT, false, 0, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "no vertex array is bound");
    let (mut array, mut buffer) = ([0], [0]);
    ctx.gen_vertex_arrays(&mut array);
    ctx.bind_vertex_array(array[0]);
    ctx.vertex_attrib_pointer(0, 4, gl::FLOAT, false, 0, 16);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "client memory");
    ctx.gen_buffers(&mut buffer);
    ctx.bind_buffer(gl::ARRAY_BUFFER, buffer[0]);
    ctx.vertex_attrib_pointer(2, gl::BGRA as i32, gl::UNSIGNED_BYTE, true, 12, 4);
    ctx.vertex_attrib_divisor(2, 3);
    ctx.enable_vertex_attrib_array(2);
    let mut get = |pname| ctx.get_vertex_attrib(2, pname).expect("known").to_u32(0);
    assert_eq!(get(gl::VERTEX_ATTRIB_ARRAY_SIZE), gl::BGRA);
    assert_eq!(get(gl::VERTEX_ATTRIB_ARRAY_STRIDE), 12);
    assert_eq!(get(gl::VERTEX_ATTRIB_ARRAY_DIVISOR), 3);
    assert_eq!(get(gl::VERTEX_ATTRIB_ARRAY_ENABLED), 1);
    assert_eq!(get(gl::VERTEX_ATTRIB_ARRAY_BUFFER_BINDING), buffer[0]);
    assert_eq!(ctx.get_vertex_attrib_pointer(2), Some(4));
    let bad: [(i32, u32, bool, u32); 5] = [
        (5, gl::FLOAT, false, gl::INVALID_VALUE),
        (4, gl::TEXTURE_2D, false, gl::INVALID_ENUM),
        (3, gl::INT_2_10_10_10_REV, true, gl::INVALID_OPERATION),
        (gl::BGRA as i32, gl::FLOAT, true, gl::INVALID_OPERATION),
        (gl::BGRA as i32, gl::UNSIGNED_BYTE, false, gl::INVALID_OPERATION),
    ];
    for (size, type_, normalized, error) in bad {
        ctx.vertex_attrib_pointer(0, size, type_, normalized, 0, 0);
        assert_eq!(ctx.get_error(), error, "{size} {type_:#x}");
    }
    ctx.vertex_attrib_i4i(5, -1, 2, -3, 4);
    let current = ctx.get_vertex_attrib(5, gl::CURRENT_VERTEX_ATTRIB).expect("known");
    assert_eq!(current.to_pure(2) as i32, -3);
    ctx.vertex_attrib_4f(100, 0.0, 0.0, 0.0, 0.0);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
}

#[test]
fn limits_meet_the_floor_of_gl_3_3() {
    let (mut ctx, _) = testing::context();
    for (pname, least) in [
        (gl::MAX_TEXTURE_SIZE, 1024),
        (gl::MAX_3D_TEXTURE_SIZE, 256),
        (gl::MAX_ARRAY_TEXTURE_LAYERS, 256),
        (gl::MAX_VERTEX_ATTRIBS, 16),
        (gl::MAX_VERTEX_UNIFORM_COMPONENTS, 1024),
        (gl::MAX_FRAGMENT_UNIFORM_COMPONENTS, 1024),
        (gl::MAX_VARYING_COMPONENTS, 60),
        (gl::MAX_COMBINED_TEXTURE_IMAGE_UNITS, 48),
        (gl::MAX_DRAW_BUFFERS, 8),
        (gl::MAX_UNIFORM_BUFFER_BINDINGS, 36),
        (gl::MAX_UNIFORM_BLOCK_SIZE, 16384),
        (gl::MAX_CLIP_DISTANCES, 8),
        (gl::MAX_GEOMETRY_OUTPUT_VERTICES, 256),
        (gl::MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS, 1024),
        (gl::MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS, 64),
        (gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, 4),
        (gl::MAX_SAMPLE_MASK_WORDS, 1),
        (gl::MAJOR_VERSION, 3),
        (gl::MINOR_VERSION, 3),
    ] {
        assert!(ints(&mut ctx, pname, 1)[0] >= least, "{pname:#x}");
    }
    let count = ints(&mut ctx, gl::NUM_EXTENSIONS, 1)[0] as u32;
    assert!(ctx.get_stringi(gl::EXTENSIONS, count - 1).is_some());
    assert!(ctx.get_stringi(gl::EXTENSIONS, count).is_none());
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
    let version = ctx.get_string(gl::VERSION).expect("a version").to_string_lossy();
    assert!(version.starts_with("3.3 (Core Profile) MGL "), "{version}");
    assert!(ctx.get(0xdead_beef).is_none());
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
}
