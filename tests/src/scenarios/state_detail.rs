//! State in detail: initial values, every form of glGet, object queries, and that failing calls leave it as it was.

use glow::{self as gl, HasContext as _};

use crate::scene::{error_name, Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("state_initial_values", initial_values),
    Scenario::new("state_every_form_agrees", every_form_agrees),
    Scenario::new("state_enables", enables),
    Scenario::new("state_indexed", indexed),
    Scenario::new("state_vertex_attributes", vertex_attributes),
    Scenario::new("state_by_its_own_query", by_its_own_query),
    Scenario::new("state_uniform_queries", uniform_queries),
    Scenario::new("state_program_and_shader_queries", program_and_shader_queries),
    Scenario::new("state_buffer_queries", buffer_queries),
    Scenario::new("state_unchanged_by_failing_object_calls", unchanged_by_failing_object_calls)
        .without_reference("Mesa 22.3 keeps the good part of a swizzle and a negative stride"),
];

unsafe fn integers(t: &Scene, name: u32, n: usize) -> Vec<i32> {
    let mut v = vec![-77; 16];
    t.raw.GetIntegerv(name, v.as_mut_ptr());
    v.truncate(n);
    v
}

/// Initial values of GL 3.3 tables 6.4 to 6.33 that do not depend on the surface.
const INITIAL: &[(u32, &[i32])] = &[
    (gl::DEPTH_CLAMP, &[0]),
    (gl::PROVOKING_VERTEX, &[gl::LAST_VERTEX_CONVENTION as i32]),
    (gl::RASTERIZER_DISCARD, &[0]),
    (gl::POINT_SPRITE_COORD_ORIGIN, &[gl::UPPER_LEFT as i32]),
    (gl::LINE_SMOOTH, &[0]),
    (gl::CULL_FACE, &[0]),
    (gl::CULL_FACE_MODE, &[gl::BACK as i32]),
    (gl::FRONT_FACE, &[gl::CCW as i32]),
    (gl::POLYGON_SMOOTH, &[0]),
    (gl::POLYGON_OFFSET_FILL, &[0]),
    (gl::MULTISAMPLE, &[1]),
    (gl::SAMPLE_ALPHA_TO_COVERAGE, &[0]),
    (gl::SAMPLE_ALPHA_TO_ONE, &[0]),
    (gl::SAMPLE_COVERAGE, &[0]),
    (gl::SAMPLE_COVERAGE_VALUE, &[1]),
    (gl::SAMPLE_COVERAGE_INVERT, &[0]),
    (gl::SAMPLE_MASK, &[0]),
    (gl::ACTIVE_TEXTURE, &[gl::TEXTURE0 as i32]),
    (gl::TEXTURE_BINDING_2D, &[0]),
    (gl::TEXTURE_BINDING_CUBE_MAP, &[0]),
    (gl::TEXTURE_BINDING_BUFFER, &[0]),
    (gl::TEXTURE_BINDING_2D_MULTISAMPLE, &[0]),
    (gl::SAMPLER_BINDING, &[0]),
    (gl::SCISSOR_TEST, &[0]),
    (gl::STENCIL_TEST, &[0]),
    (gl::STENCIL_FUNC, &[gl::ALWAYS as i32]),
    (gl::STENCIL_REF, &[0]),
    (gl::STENCIL_FAIL, &[gl::KEEP as i32]),
    (gl::STENCIL_PASS_DEPTH_FAIL, &[gl::KEEP as i32]),
    (gl::STENCIL_PASS_DEPTH_PASS, &[gl::KEEP as i32]),
    (gl::STENCIL_BACK_FUNC, &[gl::ALWAYS as i32]),
    (gl::STENCIL_BACK_REF, &[0]),
    (gl::DEPTH_TEST, &[0]),
    (gl::DEPTH_FUNC, &[gl::LESS as i32]),
    (gl::BLEND, &[0]),
    (gl::BLEND_SRC_RGB, &[1]),
    (gl::BLEND_SRC_ALPHA, &[1]),
    (gl::BLEND_DST_RGB, &[0]),
    (gl::BLEND_DST_ALPHA, &[0]),
    (gl::BLEND_EQUATION_RGB, &[gl::FUNC_ADD as i32]),
    (gl::BLEND_EQUATION_ALPHA, &[gl::FUNC_ADD as i32]),
    (gl::FRAMEBUFFER_SRGB, &[0]),
    (gl::DITHER, &[1]),
    (gl::COLOR_LOGIC_OP, &[0]),
    (gl::LOGIC_OP_MODE, &[gl::COPY as i32]),
    (gl::COLOR_WRITEMASK, &[1, 1, 1, 1]),
    (gl::DEPTH_WRITEMASK, &[1]),
    (gl::STENCIL_CLEAR_VALUE, &[0]),
    (gl::DEPTH_CLEAR_VALUE, &[i32::MAX]),
    (gl::DRAW_FRAMEBUFFER_BINDING, &[0]),
    (gl::READ_FRAMEBUFFER_BINDING, &[0]),
    (gl::RENDERBUFFER_BINDING, &[0]),
    (gl::CURRENT_PROGRAM, &[0]),
    (gl::PROGRAM_POINT_SIZE, &[0]),
    (gl::UNIFORM_BUFFER_BINDING, &[0]),
    (gl::TRANSFORM_FEEDBACK_BUFFER_BINDING, &[0]),
    (gl::ARRAY_BUFFER_BINDING, &[0]),
    (gl::VERTEX_ARRAY_BINDING, &[0]),
    (gl::PRIMITIVE_RESTART, &[0]),
    (gl::PRIMITIVE_RESTART_INDEX, &[0]),
    (gl::COPY_READ_BUFFER_BINDING, &[0]),
    (gl::PIXEL_PACK_BUFFER_BINDING, &[0]),
    (gl::PIXEL_UNPACK_BUFFER_BINDING, &[0]),
    (gl::LINE_SMOOTH_HINT, &[gl::DONT_CARE as i32]),
    (gl::FRAGMENT_SHADER_DERIVATIVE_HINT, &[gl::DONT_CARE as i32]),
    (gl::POLYGON_OFFSET_FACTOR, &[0]),
    (gl::TEXTURE_CUBE_MAP_SEAMLESS, &[0]),
];

unsafe fn initial_values(t: &Scene) {
    for (name, expected) in INITIAL {
        t.equal(integers(t, *name, expected.len()).as_slice(), *expected, &format!("initial value of {name:#x}"));
        t.no_error(&format!("initial value of {name:#x}"));
    }
    for name in [gl::STENCIL_VALUE_MASK, gl::STENCIL_WRITEMASK, gl::STENCIL_BACK_VALUE_MASK, gl::STENCIL_BACK_WRITEMASK]
    {
        let mask = t.get_parameter_i32(name) as u32;
        t.check(mask & 0xff == 0xff, format!("{name:#x} starts as {mask:#x}"));
    }
    for (name, expected) in [
        (gl::POINT_SIZE, &[1.0f32][..]),
        (gl::LINE_WIDTH, &[1.0]),
        (gl::POINT_FADE_THRESHOLD_SIZE, &[1.0]),
        (gl::DEPTH_RANGE, &[0.0, 1.0]),
        (gl::COLOR_CLEAR_VALUE, &[0.0; 4]),
        (gl::BLEND_COLOR, &[0.0; 4]),
    ] {
        let mut v = [9.0f32; 4];
        t.get_parameter_f32_slice(name, &mut v);
        t.equal(&v[..expected.len()], expected, &format!("initial value of {name:#x}"));
    }
    // Fresh objects.
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    for (name, expected) in [
        (gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_LINEAR as i32),
        (gl::TEXTURE_MAG_FILTER, gl::LINEAR as i32),
        (gl::TEXTURE_WRAP_S, gl::REPEAT as i32),
        (gl::TEXTURE_WRAP_R, gl::REPEAT as i32),
        (gl::TEXTURE_MIN_LOD, -1000),
        (gl::TEXTURE_MAX_LOD, 1000),
        (gl::TEXTURE_BASE_LEVEL, 0),
        (gl::TEXTURE_MAX_LEVEL, 1000),
        (gl::TEXTURE_LOD_BIAS, 0),
        (gl::TEXTURE_COMPARE_MODE, 0),
        (gl::TEXTURE_COMPARE_FUNC, gl::LEQUAL as i32),
        (gl::TEXTURE_SWIZZLE_R, gl::RED as i32),
        (gl::TEXTURE_SWIZZLE_A, gl::ALPHA as i32),
    ] {
        t.equal(t.get_tex_parameter_i32(gl::TEXTURE_2D, name), expected, &format!("a fresh texture's {name:#x}"));
    }
    t.buffer(gl::ARRAY_BUFFER, &[0u8; 4]);
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_USAGE) as u32, gl::STATIC_DRAW, "BUFFER_USAGE");
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, 0x88BC), 0, "BUFFER_MAPPED");
}

unsafe fn every_form_agrees(t: &Scene) {
    // The same state as booleans, integers, 64-bit integers, floats and doubles (GL 3.3 section 6.1.2).
    t.viewport(3, 5, 60, 70);
    t.scissor(1, 2, 33, 44);
    t.polygon_offset(2.5, -3.0);
    t.line_width(1.0);
    t.clear_stencil(-1);
    for (name, n) in [
        (gl::VIEWPORT, 4usize),
        (gl::SCISSOR_BOX, 4),
        (gl::MAX_TEXTURE_SIZE, 1),
        (gl::MAX_VIEWPORT_DIMS, 2),
        (gl::DEPTH_FUNC, 1),
        (gl::COLOR_WRITEMASK, 4),
        (gl::POLYGON_OFFSET_UNITS, 1),
        (gl::LINE_WIDTH, 1),
        (gl::DITHER, 1),
        (gl::UNPACK_ALIGNMENT, 1),
        (gl::MAX_VERTEX_ATTRIBS, 1),
        (gl::NUM_EXTENSIONS, 1),
        (gl::SUBPIXEL_BITS, 1),
        (gl::STENCIL_CLEAR_VALUE, 1),
    ] {
        let whole = integers(t, name, n);
        let (mut wide, mut floats, mut doubles, mut booleans) = ([-7i64; 16], [-7f32; 16], [-7f64; 16], [7u8; 16]);
        t.raw.GetInteger64v(name, wide.as_mut_ptr());
        t.raw.GetFloatv(name, floats.as_mut_ptr());
        t.raw.GetDoublev(name, doubles.as_mut_ptr());
        t.raw.GetBooleanv(name, booleans.as_mut_ptr());
        for (i, v) in whole.iter().enumerate() {
            let what = format!("{name:#x}[{i}] of {v}");
            t.equal(wide[i], i64::from(*v), &format!("{what} in 64 bits"));
            t.equal(floats[i], *v as f32, &format!("{what} as a float"));
            t.equal(doubles[i], f64::from(*v), &format!("{what} as a double"));
            t.equal(booleans[i], u8::from(*v != 0), &format!("{what} as a boolean"));
        }
        t.equal(
            (wide[n], floats[n], booleans[n]),
            (-7, -7.0, 7),
            &format!("{name:#x}: nothing is written past its values"),
        );
        t.no_error(&format!("{name:#x}"));
    }
    // A fraction is rounded to the nearest integer, and is true as a boolean.
    let factor = integers(t, gl::POLYGON_OFFSET_FACTOR, 1)[0];
    t.check(factor == 3 || factor == 2, format!("2.5 as an integer: {factor}"));
    let mut on = [9u8; 4];
    t.raw.GetBooleanv(gl::POLYGON_OFFSET_FACTOR, on.as_mut_ptr());
    t.equal(on[0], 1, "2.5 as a boolean");
    // Colours and depths map [-1, 1] to the whole range of integers.
    t.clear_color(1.0, 0.5, 0.0, -1.0);
    t.clear_depth_f64(0.5);
    let color = integers(t, gl::COLOR_CLEAR_VALUE, 4);
    t.check(color[0] == i32::MAX && (color[1] - 0x3fff_ffff).abs() < 256, format!("clear colour {color:?}"));
    t.check(color[3] <= -i32::MAX, format!("-1 as a colour: {color:?}"));
    let depth = integers(t, gl::DEPTH_CLEAR_VALUE, 1)[0];
    t.check((depth - 0x3fff_ffff).abs() < 256, format!("one half as a depth: {depth}"));
    let mut range = [9.0f64; 2];
    t.depth_range_f64(0.25, 0.75);
    t.raw.GetDoublev(gl::DEPTH_RANGE, range.as_mut_ptr());
    t.equal(range, [0.25, 0.75], "DEPTH_RANGE as doubles");
    t.raw.GetFloatv(0x1234_5678, [0f32; 4].as_mut_ptr());
    t.error(gl::INVALID_ENUM, "glGetFloatv of what does not exist");
    t.raw.GetBooleanv(gl::TEXTURE_2D, [0u8; 4].as_mut_ptr());
    t.error(gl::INVALID_ENUM, "the texture enables of old");
}

unsafe fn enables(t: &Scene) {
    for cap in [
        gl::BLEND,
        gl::COLOR_LOGIC_OP,
        gl::CULL_FACE,
        gl::DEPTH_CLAMP,
        gl::DEPTH_TEST,
        gl::DITHER,
        gl::FRAMEBUFFER_SRGB,
        gl::LINE_SMOOTH,
        gl::MULTISAMPLE,
        gl::POLYGON_OFFSET_FILL,
        gl::POLYGON_OFFSET_LINE,
        gl::POLYGON_OFFSET_POINT,
        gl::POLYGON_SMOOTH,
        gl::PRIMITIVE_RESTART,
        gl::PROGRAM_POINT_SIZE,
        gl::RASTERIZER_DISCARD,
        gl::SAMPLE_ALPHA_TO_COVERAGE,
        gl::SAMPLE_ALPHA_TO_ONE,
        gl::SAMPLE_COVERAGE,
        gl::SAMPLE_MASK,
        gl::SCISSOR_TEST,
        gl::STENCIL_TEST,
        gl::TEXTURE_CUBE_MAP_SEAMLESS,
        gl::CLIP_DISTANCE0,
        gl::CLIP_DISTANCE5,
    ] {
        let initial = t.is_enabled(cap);
        t.equal(initial, matches!(cap, gl::DITHER | gl::MULTISAMPLE), &format!("{cap:#x} at first"));
        for on in [true, false, true] {
            if on {
                t.enable(cap);
            } else {
                t.disable(cap);
            }
            t.equal(t.is_enabled(cap), on, &format!("glIsEnabled({cap:#x})"));
            t.equal(t.get_parameter_bool(cap), on, &format!("glGetBooleanv({cap:#x})"));
            t.equal(t.get_parameter_f32(cap), f32::from(u8::from(on)), &format!("glGetFloatv({cap:#x})"));
        }
        if !initial {
            t.disable(cap);
        }
        t.no_error(&format!("{cap:#x}"));
    }
}

unsafe fn indexed(t: &Scene) {
    let n = t.get_parameter_i32(gl::MAX_DRAW_BUFFERS) as u32;
    t.enable_draw_buffer(gl::BLEND, 2);
    t.equal([0, 1, 2, 3].map(|i| t.raw.IsEnabledi(gl::BLEND, i)), [0, 0, 1, 0], "blending of draw buffer 2");
    t.check(!t.is_enabled(gl::BLEND), "glIsEnabled speaks of draw buffer 0");
    t.enable(gl::BLEND);
    t.equal(t.raw.IsEnabledi(gl::BLEND, n - 1), 1, "glEnable means all");
    t.disable_draw_buffer(gl::BLEND, 0);
    t.check(!t.is_enabled(gl::BLEND), "draw buffer 0 alone");
    t.color_mask_draw_buffer(1, true, false, true, false);
    let mut mask = [9u8; 4];
    t.raw.GetBooleani_v(gl::COLOR_WRITEMASK, 1, mask.as_mut_ptr());
    t.equal(mask, [1, 0, 1, 0], "the mask of draw buffer 1");
    t.raw.GetBooleani_v(gl::COLOR_WRITEMASK, 0, mask.as_mut_ptr());
    t.equal(mask, [1; 4], "the mask of draw buffer 0");
    let mut words = [9; 4];
    t.raw.GetIntegeri_v(gl::COLOR_WRITEMASK, 1, words.as_mut_ptr());
    t.equal(words, [1, 0, 1, 0], "a mask as integers");
    t.raw.SampleMaski(0, 0x1234_5678);
    t.raw.GetIntegeri_v(gl::SAMPLE_MASK_VALUE, 0, words.as_mut_ptr());
    t.equal(words[0], 0x1234_5678, "SAMPLE_MASK_VALUE");
    let alignment = t.get_parameter_i32(gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT);
    t.check((1..=256).contains(&alignment), format!("UNIFORM_BUFFER_OFFSET_ALIGNMENT {alignment}"));
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[0u8; 1024]);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 3, Some(buffer));
    let mut wide = [9i64; 2];
    t.raw.GetInteger64i_v(gl::UNIFORM_BUFFER_START, 3, wide.as_mut_ptr());
    t.raw.GetInteger64i_v(gl::UNIFORM_BUFFER_SIZE, 3, wide.as_mut_ptr().add(1));
    t.equal(wide, [0, 0], "a binding of the whole buffer");
    t.delete_buffer(buffer);
    t.raw.GetIntegeri_v(gl::UNIFORM_BUFFER_BINDING, 3, words.as_mut_ptr());
    t.equal(words[0], 0, "a deleted buffer is unbound from indexed points");
    t.enable_draw_buffer(gl::BLEND, n);
    t.error(gl::INVALID_VALUE, "a draw buffer past the last");
    t.enable_draw_buffer(gl::CULL_FACE, 0);
    t.error(gl::INVALID_ENUM, "what is not indexed");
    t.color_mask_draw_buffer(n, true, true, true, true);
    t.error(gl::INVALID_VALUE, "a mask past the last");
    t.raw.SampleMaski(100, 0);
    t.error(gl::INVALID_VALUE, "a mask word past the last");
    t.raw.GetIntegeri_v(gl::VIEWPORT, 1_000, words.as_mut_ptr());
    t.check(t.get_error() != gl::NO_ERROR, "an index that does not exist");
    t.raw.GetIntegeri_v(gl::DEPTH_FUNC, 0, words.as_mut_ptr());
    t.error(gl::INVALID_ENUM, "what has no index");
}

unsafe fn vertex_attributes(t: &Scene) {
    t.vertex_array();
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[0u8; 256]);
    t.enable_vertex_attrib_array(2);
    t.vertex_attrib_pointer_f32(2, 3, gl::UNSIGNED_SHORT, true, 24, 8);
    t.vertex_attrib_divisor(2, 5);
    t.vertex_attrib_pointer_i32(3, 2, gl::BYTE, 0, 4);
    let get = |index: u32, name: u32| {
        let (mut i, mut f) = ([-9; 4], [-9f32; 4]);
        t.raw.GetVertexAttribIiv(index, name, i.as_mut_ptr());
        t.raw.GetVertexAttribfv(index, name, f.as_mut_ptr());
        t.equal(f[0], i[0] as f32, &format!("{name:#x} of {index}: integer and float"));
        i[0]
    };
    for (index, name, expected) in [
        (2, gl::VERTEX_ATTRIB_ARRAY_ENABLED, 1),
        (2, gl::VERTEX_ATTRIB_ARRAY_SIZE, 3),
        (2, gl::VERTEX_ATTRIB_ARRAY_STRIDE, 24),
        (2, gl::VERTEX_ATTRIB_ARRAY_TYPE, gl::UNSIGNED_SHORT as i32),
        (2, gl::VERTEX_ATTRIB_ARRAY_NORMALIZED, 1),
        (2, gl::VERTEX_ATTRIB_ARRAY_INTEGER, 0),
        (2, gl::VERTEX_ATTRIB_ARRAY_DIVISOR, 5),
        (2, gl::VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, buffer.0.get() as i32),
        (3, gl::VERTEX_ATTRIB_ARRAY_ENABLED, 0),
        (3, gl::VERTEX_ATTRIB_ARRAY_INTEGER, 1),
        (3, gl::VERTEX_ATTRIB_ARRAY_STRIDE, 0),
        (4, gl::VERTEX_ATTRIB_ARRAY_SIZE, 4),
        (4, gl::VERTEX_ATTRIB_ARRAY_TYPE, gl::FLOAT as i32),
        (4, gl::VERTEX_ATTRIB_ARRAY_BUFFER_BINDING, 0),
    ] {
        t.equal(get(index, name), expected, &format!("{name:#x} of attribute {index}"));
    }
    let mut pointer = std::ptr::null_mut();
    t.raw.GetVertexAttribPointerv(2, 0x8645, &mut pointer);
    t.equal(pointer.addr(), 8, "VERTEX_ATTRIB_ARRAY_POINTER");
    let mut f = [9.0f32; 4];
    t.raw.GetVertexAttribfv(6, gl::CURRENT_VERTEX_ATTRIB, f.as_mut_ptr());
    t.equal(f, [0.0, 0.0, 0.0, 1.0], "an attribute's first value");
    t.vertex_attrib_2_f32(6, 0.5, -3.0);
    t.raw.GetVertexAttribfv(6, gl::CURRENT_VERTEX_ATTRIB, f.as_mut_ptr());
    t.equal(f, [0.5, -3.0, 0.0, 1.0], "two components");
    t.raw.VertexAttribI4i(6, -1, 2, i32::MIN, 4);
    let mut i = [9; 4];
    t.raw.GetVertexAttribIiv(6, gl::CURRENT_VERTEX_ATTRIB, i.as_mut_ptr());
    t.equal(i, [-1, 2, i32::MIN, 4], "integers");
    // The value belongs to the context, the array to the vertex array.
    t.vertex_array();
    t.equal(get(2, gl::VERTEX_ATTRIB_ARRAY_ENABLED), 0, "another vertex array");
    t.raw.GetVertexAttribIiv(6, gl::CURRENT_VERTEX_ATTRIB, i.as_mut_ptr());
    t.equal(i[0], -1, "the value is the context's");
    let most = t.get_parameter_i32(gl::MAX_VERTEX_ATTRIBS) as u32;
    t.raw.GetVertexAttribfv(most, gl::VERTEX_ATTRIB_ARRAY_SIZE, f.as_mut_ptr());
    t.error(gl::INVALID_VALUE, "an attribute past the last");
    t.raw.GetVertexAttribfv(0, gl::DEPTH_TEST, f.as_mut_ptr());
    t.error(gl::INVALID_ENUM, "a parameter that is none");
}

unsafe fn by_its_own_query(t: &Scene) {
    let number = |name: u32| {
        let mut value = -7;
        t.raw.GetIntegerv(name, &mut value);
        value
    };
    // The buffer of the buffer texture that is bound (GL_ARB_texture_buffer_object).
    let storage = t.buffer(gl::TEXTURE_BUFFER, &[0u8; 64]);
    t.equal(number(gl::TEXTURE_BUFFER_DATA_STORE_BINDING), 0, "without a buffer texture");
    let texels = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_BUFFER, Some(texels));
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::R8, Some(storage));
    t.equal(number(gl::TEXTURE_BUFFER_DATA_STORE_BINDING) as u32, storage.0.get(), "of the active unit");
    t.active_texture(gl::TEXTURE3);
    t.equal(number(gl::TEXTURE_BUFFER_DATA_STORE_BINDING), 0, "of another unit");
    t.active_texture(gl::TEXTURE0);
    // Without samples there is no place of one.
    t.target(4, 4);
    let mut place = [7.0f32; 2];
    t.raw.GetMultisamplefv(gl::SAMPLE_POSITION, 0, place.as_mut_ptr());
    t.error(gl::INVALID_VALUE, "a sample of a framebuffer without");
    t.equal(place, [7.0; 2], "failing queries write nothing");
    let mut value = -7;
    t.raw.GetTexLevelParameteriv(gl::PROXY_TEXTURE_CUBE_MAP, 0, gl::TEXTURE_BUFFER_DATA_STORE_BINDING, &mut value);
    t.equal(value, 0, "the buffer of a proxy");
    t.no_error("what is known");
}

unsafe fn uniform_queries(t: &Scene) {
    let program = t.program(
        FULL_VS,
        "uniform float f; uniform vec3 v; uniform ivec2 i; uniform uint u; uniform bool b; uniform mat2x3 m; uniform float list[3];
         out vec4 r;
         void main() { r = vec4(f + v.x + float(i.x) + float(u) + (b ? 1.0 : 0.0) + m[0].x + list[2]); }",
    );
    let at = |name: &str| t.uniform(program, name);
    t.uniform_1_f32(Some(&at("f")), 2.75);
    t.uniform_3_f32(Some(&at("v")), 1.0, -2.0, 3.0);
    t.uniform_2_i32(Some(&at("i")), -5, 6);
    t.uniform_1_u32(Some(&at("u")), 4_000_000_000);
    t.uniform_1_f32(Some(&at("b")), 0.5);
    t.uniform_matrix_2x3_f32_slice(Some(&at("m")), false, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    t.uniform_1_f32_slice(Some(&at("list[1]")), &[8.0, 9.0]);
    let floats = |name: &str| {
        let mut v = [-77.0f32; 8];
        t.raw.GetUniformfv(program.0.get(), at(name).0 as i32, v.as_mut_ptr());
        v
    };
    let ints = |name: &str| {
        let mut v = [-77; 8];
        t.raw.GetUniformiv(program.0.get(), at(name).0 as i32, v.as_mut_ptr());
        v
    };
    t.equal(&floats("f")[..2], &[2.75, -77.0], "float");
    t.equal(&floats("v")[..4], &[1.0, -2.0, 3.0, -77.0], "vec3");
    t.equal(&ints("i")[..3], &[-5, 6, -77], "ivec2");
    t.equal(&floats("i")[..2], &[-5.0, 6.0], "ivec2 as floats");
    let mut u = [0u32; 2];
    t.raw.GetUniformuiv(program.0.get(), at("u").0 as i32, u.as_mut_ptr());
    t.equal(u[0], 4_000_000_000, "uint");
    t.equal((ints("b")[0] != 0, floats("b")[0]), (true, 1.0), "bool");
    t.equal(&floats("m")[..7], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -77.0], "mat2x3");
    t.equal([floats("list")[0], floats("list[1]")[0], floats("list[2]")[0]], [0.0, 8.0, 9.0], "an array by element");
    let rounded = ints("f")[0];
    t.check(rounded == 3 || rounded == 2, format!("2.75 as an integer: {rounded}"));
    t.raw.GetUniformfv(program.0.get(), 12_345, [0f32; 4].as_mut_ptr());
    t.error(gl::INVALID_OPERATION, "a location that does not exist");
    t.raw.GetUniformfv(98_765, 0, [0f32; 4].as_mut_ptr());
    t.error(gl::INVALID_VALUE, "a program that does not exist");
    t.equal(t.get_uniform_location(program, "nothing").is_none(), true, "no such uniform");
    t.equal(t.get_uniform_location(program, "list[3]").is_none(), true, "an element past the last");
    t.equal(t.get_uniform_location(program, "gl_Position").is_none(), true, "a built-in name");
    t.no_error("locations of what does not exist");
}

unsafe fn program_and_shader_queries(t: &Scene) {
    let shader = t.create_shader(gl::VERTEX_SHADER).unwrap();
    let get = |name| {
        let mut v = -7;
        t.raw.GetShaderiv(shader.0.get(), name, &mut v);
        v
    };
    let source =
        "#version 330 core\nin vec4 position; in float weight[2]; void main() { gl_Position = position * weight[1]; }";
    t.equal((get(gl::SHADER_SOURCE_LENGTH), get(gl::COMPILE_STATUS)), (0, 0), "before there is a source");
    t.shader_source(shader, source);
    t.compile_shader(shader);
    t.equal(get(gl::SHADER_TYPE) as u32, gl::VERTEX_SHADER, "SHADER_TYPE");
    t.equal(get(gl::SHADER_SOURCE_LENGTH), source.len() as i32 + 1, "SHADER_SOURCE_LENGTH counts the end");
    t.equal((get(gl::COMPILE_STATUS), get(gl::DELETE_STATUS)), (1, 0), "compiled, not deleted");
    let program = t.create_program().unwrap();
    let of = |name| {
        let mut v = -7;
        t.raw.GetProgramiv(program.0.get(), name, &mut v);
        v
    };
    t.equal((of(gl::LINK_STATUS), of(gl::ATTACHED_SHADERS)), (0, 0), "a fresh program");
    let fragment = t.create_shader(gl::FRAGMENT_SHADER).unwrap();
    t.shader_source(fragment, &format!("#version 330 core\n{COLOR_FS}"));
    t.compile_shader(fragment);
    t.attach_shader(program, shader);
    t.attach_shader(program, fragment);
    t.delete_shader(shader);
    t.equal(get(gl::DELETE_STATUS), 1, "a deleted shader that is attached is only marked");
    t.link_program(program);
    t.equal((of(gl::LINK_STATUS), of(gl::ATTACHED_SHADERS)), (1, 2), "linked");
    t.equal((of(gl::ACTIVE_ATTRIBUTES), of(gl::ACTIVE_UNIFORMS)), (2, 1), "active attributes and uniforms");
    t.equal(of(gl::ACTIVE_UNIFORM_MAX_LENGTH), 6, "the longest uniform name");
    t.equal(of(gl::ACTIVE_UNIFORM_BLOCKS), 0, "uniform blocks");
    for i in 0..2 {
        match t.get_active_attribute(program, i) {
            Some(a) if a.name == "position" => t.equal((a.atype, a.size), (gl::FLOAT_VEC4, 1), "position"),
            Some(a) => t.equal((a.name.trim_end_matches("[0]"), a.atype, a.size), ("weight", gl::FLOAT, 2), "weight"),
            None => t.fail(format!("no attribute {i}")),
        }
    }
    let mut name = [0u8; 4];
    let (mut length, mut size, mut kind) = (0, 0, 0);
    t.raw.GetActiveUniform(program.0.get(), 0, 4, &mut length, &mut size, &mut kind, name.as_mut_ptr().cast());
    t.equal((length, &name), (3, b"col\0"), "a name cut to the room there is");
    t.raw.GetActiveUniform(program.0.get(), 1, 4, &mut length, &mut size, &mut kind, name.as_mut_ptr().cast());
    t.error(gl::INVALID_VALUE, "a uniform past the last");
    t.raw.GetProgramiv(program.0.get(), gl::SHADER_TYPE, &mut size);
    t.error(gl::INVALID_ENUM, "a parameter of shaders");
    t.raw.GetShaderiv(program.0.get(), gl::SHADER_TYPE, &mut size);
    t.error(gl::INVALID_OPERATION, "a program as a shader");
    t.raw.GetProgramiv(fragment.0.get(), gl::LINK_STATUS, &mut size);
    t.error(gl::INVALID_OPERATION, "a shader as a program");
    t.raw.GetProgramiv(54_321, gl::LINK_STATUS, &mut size);
    t.error(gl::INVALID_VALUE, "a name that does not exist");
    t.use_program(Some(program));
    t.delete_program(program);
    t.equal(of(gl::DELETE_STATUS), 1, "a deleted program in use is only marked");
    t.use_program(None);
    t.check(!t.is_program(program) && !t.is_shader(shader), "both are gone when nothing uses them");
    t.check(t.is_shader(fragment), "a shader that was not deleted stays");
}

unsafe fn buffer_queries(t: &Scene) {
    t.buffer(gl::ARRAY_BUFFER, &[1u8; 100]);
    let get = |name| t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, name);
    t.equal((get(gl::BUFFER_SIZE), get(gl::BUFFER_USAGE) as u32), (100, gl::STATIC_DRAW), "size and usage");
    let mut wide = 0i64;
    t.raw.GetBufferParameteri64v(gl::ARRAY_BUFFER, gl::BUFFER_SIZE, &mut wide);
    t.equal(wide, 100, "size in 64 bits");
    let access = gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_RANGE_BIT;
    let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, 8, 16, access);
    let mut q = std::ptr::null_mut();
    t.raw.GetBufferPointerv(gl::ARRAY_BUFFER, 0x88BD, &mut q);
    t.check(p == q && !p.is_null(), "BUFFER_MAP_POINTER");
    // BUFFER_MAPPED, BUFFER_MAP_OFFSET, BUFFER_MAP_LENGTH, BUFFER_ACCESS_FLAGS, BUFFER_ACCESS.
    t.equal([0x88BC, 0x9121, 0x9120].map(get), [1, 8, 16], "the mapping");
    t.equal((get(0x911F) as u32, get(0x88BB) as u32), (access, gl::WRITE_ONLY), "its access");
    std::ptr::write_bytes(p.cast::<u8>(), 7, 16);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    t.raw.GetBufferPointerv(gl::ARRAY_BUFFER, 0x88BD, &mut q);
    t.check(q.is_null(), "no pointer after the mapping");
    t.equal([0x88BC, 0x9121, 0x9120, 0x911F].map(get), [0; 4], "no mapping any more");
    let mut bytes = [0u8; 100];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut bytes);
    t.check(bytes[7] == 1 && bytes[8] == 7 && bytes[23] == 7 && bytes[24] == 1, "what the mapping wrote");
    t.raw.MapBuffer(gl::ARRAY_BUFFER, gl::READ_WRITE);
    t.equal((get(0x9120), get(0x88BB) as u32), (100, gl::READ_WRITE), "a mapping of the whole");
    // New storage ends a mapping.
    t.buffer_data_size(gl::ARRAY_BUFFER, 10, gl::STREAM_READ);
    t.equal((get(0x88BC), get(gl::BUFFER_SIZE), get(gl::BUFFER_USAGE) as u32), (0, 10, gl::STREAM_READ), "new storage");
    get(gl::TEXTURE_WIDTH);
    t.error(gl::INVALID_ENUM, "a parameter that is none");
    t.bind_buffer(gl::ARRAY_BUFFER, None);
    get(gl::BUFFER_SIZE);
    t.error(gl::INVALID_OPERATION, "no buffer");
}

unsafe fn unchanged_by_failing_object_calls(t: &Scene) {
    // Calls that fail in one of several arguments change nothing of an object.
    let texture = t.texture(4, 4, &[[3; 4]; 16]);
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[1u8, 2, 3, 4]);
    let array = t.vertex_array();
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 8, 0);
    let target = t.target(4, 4);
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    let refused = |what: &str| {
        let e = t.get_error();
        t.check(e != gl::NO_ERROR, format!("{what}: {}", error_name(e)));
    };
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::RGBA8, [8, -8, 1], (gl::RGBA, gl::UNSIGNED_BYTE), None);
    refused("a negative height");
    t.vertex_attrib_pointer_f32(0, 5, gl::FLOAT, false, 8, 0);
    refused("five components");
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, -8, 0);
    refused("a negative stride");
    t.vertex_attrib_pointer_f32(0, 3, gl::UNSIGNED_INT_2_10_10_10_REV, true, 8, 0);
    refused("three components of a packed type");
    t.raw.BufferSubData(gl::ARRAY_BUFFER, 2, 4, [9u8; 4].as_ptr().cast());
    refused("data past the end");
    t.copy_buffer_sub_data(gl::ARRAY_BUFFER, gl::ARRAY_BUFFER, 0, 1, 2);
    refused("a copy onto itself");
    t.copy_buffer_sub_data(gl::ARRAY_BUFFER, gl::ARRAY_BUFFER, 3, 0, 2);
    refused("a copy from past the end");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_3D, Some(texture), 0);
    refused("an attachment of another target");
    t.draw_buffers(&[gl::COLOR_ATTACHMENT1, gl::BLEND]);
    refused("draw buffers of which one is wrong");
    t.raw.TexParameterIuiv(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_RGBA, [gl::RED, gl::RED, gl::RED, gl::LESS].as_ptr());
    refused("a swizzle of which one is wrong");
    t.raw.GenTextures(-1, std::ptr::null_mut());
    refused("a negative number of names");
    t.equal(t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16), vec![[3; 4]; 16], "the texture");
    t.equal(t.get_tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_G) as u32, gl::GREEN, "its swizzle");
    let mut bytes = [0u8; 4];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut bytes);
    t.equal(bytes, [1, 2, 3, 4], "the buffer");
    let mut v = [0; 4];
    for (name, expected) in [
        (gl::VERTEX_ATTRIB_ARRAY_SIZE, 2),
        (gl::VERTEX_ATTRIB_ARRAY_STRIDE, 8),
        (gl::VERTEX_ATTRIB_ARRAY_TYPE, gl::FLOAT as i32),
    ] {
        t.raw.GetVertexAttribIiv(0, name, v.as_mut_ptr());
        t.equal(v[0], expected, "the vertex array");
    }
    t.equal(t.get_parameter_i32(gl::DRAW_BUFFER0) as u32, gl::COLOR_ATTACHMENT0, "the draw buffers");
    let name = gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME;
    let attached = t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, name);
    t.equal(attached as u32, target.texture.0.get(), "the attachment");
    t.equal(t.get_parameter_i32(gl::VERTEX_ARRAY_BINDING) as u32, array.0.get(), "the vertex array binding");
    t.delete_buffer(buffer);
}
