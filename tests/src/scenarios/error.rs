//! Error semantics: the first error stays, a failing call changes nothing, bad values of every kind are refused.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("error_first_one_stays", first_one_stays),
    Scenario::new("error_failing_calls_change_nothing", change_nothing),
    Scenario::new("error_bad_enums", bad_enums),
    Scenario::new("error_bad_values", bad_values),
    Scenario::new("error_texture_images", texture_images),
    Scenario::new("error_null_pointers", null_pointers),
    Scenario::new("error_offset_that_wraps", offset_that_wraps)
        .without_reference("Mesa 22.3 adds offset and size without a check and crashes"),
    Scenario::new("error_indices_without_buffer", indices_without_buffer)
        .without_reference("Mesa 22.3 reads the indices from address 0 and crashes"),
    Scenario::new("error_huge_sizes", huge_sizes),
    Scenario::new("error_none_in_a_clean_frame", none_in_a_clean_frame),
    Scenario::new("state_queries_of_every_kind", state_queries),
];

unsafe fn first_one_stays(t: &Scene) {
    t.enable(0x1234); // INVALID_ENUM
    t.viewport(0, 0, -1, -1); // INVALID_VALUE
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER); // INVALID_OPERATION
    t.error(gl::INVALID_ENUM, "the first error stays");
    t.error(gl::NO_ERROR, "and is reported once");
    t.viewport(0, 0, -1, -1);
    t.enable(0x1234);
    t.error(gl::INVALID_VALUE, "the next first error");
    t.error(gl::NO_ERROR, "once");
}

unsafe fn change_nothing(t: &Scene) {
    t.target(8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.2, 0.4, 0.6, 0.5]);
    t.vertex_array();
    t.enable(gl::BLEND);
    t.blend_func(gl::ONE, gl::ONE_MINUS_SRC_ALPHA);
    t.depth_func(gl::ALWAYS);
    t.cull_face(gl::FRONT);
    let before = state(t);
    for i in 0..14 {
        let (name, error) = match i {
            0 => {
                t.blend_func(gl::ONE, gl::TEXTURE_2D);
                ("glBlendFunc", gl::INVALID_ENUM)
            }
            1 => {
                t.raw.BlendEquation(gl::ONE);
                ("glBlendEquation", gl::INVALID_ENUM)
            }
            2 => {
                t.depth_func(gl::FRONT);
                ("glDepthFunc", gl::INVALID_ENUM)
            }
            3 => {
                t.cull_face(gl::LESS);
                ("glCullFace", gl::INVALID_ENUM)
            }
            4 => {
                t.front_face(gl::FRONT);
                ("glFrontFace", gl::INVALID_ENUM)
            }
            5 => {
                t.stencil_op(gl::KEEP, gl::ONE, gl::KEEP);
                ("glStencilOp", gl::INVALID_ENUM)
            }
            6 => {
                t.stencil_func(gl::KEEP, 1, 1);
                ("glStencilFunc", gl::INVALID_ENUM)
            }
            7 => {
                t.line_width(-1.0);
                ("glLineWidth", gl::INVALID_VALUE)
            }
            8 => {
                t.scissor(1, 1, -1, 1);
                ("glScissor", gl::INVALID_VALUE)
            }
            9 => {
                t.raw.ActiveTexture(gl::TEXTURE0 + 100_000);
                ("glActiveTexture", gl::INVALID_ENUM)
            }
            10 => {
                t.polygon_mode(gl::FRONT_AND_BACK, gl::TRIANGLES);
                ("glPolygonMode", gl::INVALID_ENUM)
            }
            11 => {
                t.hint(gl::BLEND, gl::NICEST);
                ("glHint", gl::INVALID_ENUM)
            }
            12 => {
                t.raw.LogicOp(gl::BLEND);
                ("glLogicOp", gl::INVALID_ENUM)
            }
            _ => {
                t.draw_buffers(&[gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT0]);
                ("glDrawBuffers", gl::INVALID_OPERATION)
            }
        };
        t.error(error, name);
        t.equal(state(t), before.clone(), &format!("state after the failing {name}"));
    }
    t.fill();
    t.disable(gl::BLEND);
    t.pixel(&t.read(8, 8), 3, 3, [51, 102, 153, 128], 1, "the picture with the state from before");
}

unsafe fn state(t: &Scene) -> Vec<i32> {
    let mut values: Vec<i32> = [
        gl::BLEND_SRC_RGB,
        gl::BLEND_DST_RGB,
        gl::BLEND_EQUATION_RGB,
        gl::DEPTH_FUNC,
        gl::CULL_FACE_MODE,
        gl::FRONT_FACE,
        gl::STENCIL_FAIL,
        gl::STENCIL_FUNC,
        gl::STENCIL_REF,
        gl::LINE_WIDTH,
        gl::ACTIVE_TEXTURE,
        gl::DRAW_BUFFER0,
        gl::LOGIC_OP_MODE,
        gl::CURRENT_PROGRAM,
        gl::FRAMEBUFFER_BINDING,
    ]
    .map(|name| t.get_parameter_i32(name))
    .to_vec();
    for name in [gl::SCISSOR_BOX, gl::VIEWPORT] {
        let mut v = [0; 4];
        t.get_parameter_i32_slice(name, &mut v);
        values.extend(v);
    }
    values
}

unsafe fn bad_enums(t: &Scene) {
    // Things of the fixed-function era are unknown to core profiles.
    for (name, what) in
        [(0x0B50, "LIGHTING"), (0x0BC0, "ALPHA_TEST"), (0x0DE1, "TEXTURE_2D"), (0x0B60, "FOG"), (0xffff_ffff, "-1")]
    {
        t.enable(name);
        t.error(gl::INVALID_ENUM, &format!("glEnable({what})"));
        t.check(!t.is_enabled(name), format!("glIsEnabled({what})"));
        t.error(gl::INVALID_ENUM, &format!("glIsEnabled({what})"));
    }
    for mode in [7u32, 8, 9] {
        t.raw.DrawArrays(mode, 0, 3);
        t.error(gl::INVALID_ENUM, &format!("glDrawArrays of mode {mode}, a quad or polygon"));
    }
    t.raw.BindTexture(gl::BLEND, 0);
    t.error(gl::INVALID_ENUM, "glBindTexture");
    t.raw.BindBuffer(gl::TEXTURE_2D, 0);
    t.error(gl::INVALID_ENUM, "glBindBuffer");
    t.raw.BindFramebuffer(gl::TEXTURE_2D, 0);
    t.error(gl::INVALID_ENUM, "glBindFramebuffer");
    t.raw.TexParameteri(gl::TEXTURE_2D, gl::BLEND, 0);
    t.error(gl::INVALID_ENUM, "glTexParameteri name");
    t.raw.TexParameteri(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::LINEAR as i32);
    t.error(gl::INVALID_ENUM, "glTexParameteri value");
    t.raw.TexParameteri(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::LINEAR_MIPMAP_LINEAR as i32);
    t.error(gl::INVALID_ENUM, "a mip filter for magnification");
    let mut v = [0; 16];
    t.raw.GetIntegerv(0x1234_5678, v.as_mut_ptr());
    t.error(gl::INVALID_ENUM, "glGetIntegerv");
    t.check(t.raw.GetString(gl::BLEND).is_null(), "glGetString");
    t.error(gl::INVALID_ENUM, "glGetString");
    let _ = t.create_shader(gl::TEXTURE_2D);
    t.error(gl::INVALID_ENUM, "glCreateShader");
    t.pixel_store_i32(gl::BLEND, 1);
    t.error(gl::INVALID_ENUM, "glPixelStorei");
    t.clear(0x8000_0000);
    t.error(gl::INVALID_VALUE, "glClear of a bit that does not exist");
    t.vertex_array();
    t.draw_elements(gl::TRIANGLES, 3, gl::FLOAT, 0);
    t.error(gl::INVALID_ENUM, "indices of floats");
    t.buffer(gl::ARRAY_BUFFER, &[0u8; 4]);
    t.raw.BufferData(gl::ARRAY_BUFFER, 4, std::ptr::null(), gl::BLEND);
    t.error(gl::INVALID_ENUM, "glBufferData usage");
}

unsafe fn bad_values(t: &Scene) {
    t.buffer(gl::ARRAY_BUFFER, &[0u8; 16]);
    t.raw.BufferData(gl::ARRAY_BUFFER, -1, std::ptr::null(), gl::STATIC_DRAW);
    t.error(gl::INVALID_VALUE, "a negative size");
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_SIZE), 16, "the size after the error");
    t.raw.BufferSubData(gl::ARRAY_BUFFER, 8, 9, [0u8; 9].as_ptr().cast());
    t.error(gl::INVALID_VALUE, "beyond the end");
    t.raw.BufferSubData(gl::ARRAY_BUFFER, -1, 1, [0u8; 1].as_ptr().cast());
    t.error(gl::INVALID_VALUE, "before the beginning");
    t.bind_buffer(gl::ARRAY_BUFFER, None);
    t.raw.BufferSubData(gl::ARRAY_BUFFER, 0, 1, [0u8; 1].as_ptr().cast());
    t.error(gl::INVALID_OPERATION, "no buffer is bound");
    t.raw.BindBufferBase(gl::UNIFORM_BUFFER, 1_000_000, 0);
    t.error(gl::INVALID_VALUE, "a binding point that does not exist");
    t.raw.PointSize(-1.0);
    t.error(gl::INVALID_VALUE, "a negative point size");
    t.use_program(Some(gl::NativeProgram(std::num::NonZeroU32::new(987_654).unwrap())));
    t.error(gl::INVALID_VALUE, "a program that does not exist");
    let shader = t.create_shader(gl::VERTEX_SHADER).unwrap();
    t.use_program(Some(gl::NativeProgram(shader.0)));
    t.error(gl::INVALID_OPERATION, "a shader as a program");
    t.delete_shader(shader);
    t.read_pixels(0, 0, -1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut [0; 4])));
    t.error(gl::INVALID_VALUE, "a negative width");
    t.raw.BlendEquation(0);
    t.error(gl::INVALID_ENUM, "0 is no equation");
    let program = t.program(FULL_VS, COLOR_FS);
    t.use_program(None);
    t.uniform_1_f32(t.get_uniform_location(program, "color").as_ref(), 1.0);
    t.error(gl::INVALID_OPERATION, "a uniform without a program");
}

unsafe fn texture_images(t: &Scene) {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    let image =
        |level: i32, internal: u32, w: i32, h: i32, border: i32, format: u32, kind: u32, error: u32, what: &str| {
            t.raw.TexImage2D(gl::TEXTURE_2D, level, internal as i32, w, h, border, format, kind, std::ptr::null());
            t.error(error, what);
        };
    image(0, gl::RGBA8, 4, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::NO_ERROR, "a good image");
    image(0, gl::RGBA8, -1, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::INVALID_VALUE, "a negative width");
    image(-1, gl::RGBA8, 4, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::INVALID_VALUE, "a negative level");
    image(99, gl::RGBA8, 4, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::INVALID_VALUE, "a level past the last");
    image(0, gl::RGBA8, 4, 4, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::INVALID_VALUE, "a border");
    image(0, gl::BLEND, 4, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::INVALID_VALUE, "an internal format that is none");
    image(0, gl::RGBA8, 4, 4, 0, gl::BLEND, gl::UNSIGNED_BYTE, gl::INVALID_ENUM, "a format that is none");
    image(0, gl::RGBA8, 4, 4, 0, gl::RGBA, gl::BLEND, gl::INVALID_ENUM, "a type that is none");
    image(
        0,
        gl::RGBA8,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_SHORT_5_6_5,
        gl::INVALID_OPERATION,
        "a packed type of three components",
    );
    image(
        0,
        gl::RGBA8,
        4,
        4,
        0,
        gl::DEPTH_COMPONENT,
        gl::FLOAT,
        gl::INVALID_OPERATION,
        "depth data for a colour format",
    );
    image(
        0,
        gl::DEPTH_COMPONENT24,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::INVALID_OPERATION,
        "colour data for a depth format",
    );
    image(
        0,
        gl::RGBA8UI,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::INVALID_OPERATION,
        "normalised data for an integer format",
    );
    t.equal(t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_WIDTH), 4, "the image after the errors");
    t.equal(
        t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_INTERNAL_FORMAT) as u32,
        gl::RGBA8,
        "its format",
    );
    t.raw.TexImage2D(
        gl::TEXTURE_CUBE_MAP_POSITIVE_X,
        0,
        gl::RGBA8 as i32,
        4,
        5,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        std::ptr::null(),
    );
    t.error(gl::INVALID_VALUE, "a cube face that is not square");
    t.generate_mipmap(gl::TEXTURE_RECTANGLE);
    t.error(gl::INVALID_ENUM, "mip levels of a rectangle");
    // A level that was never specified cannot be updated.
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        3,
        0,
        0,
        1,
        1,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[0; 4])),
    );
    t.error(gl::INVALID_OPERATION, "a sub-image of an undefined level");
}

unsafe fn null_pointers(t: &Scene) {
    // Null where GL allows it: no data, no storage, no length.
    t.target(8, 8);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 4, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, std::ptr::null());
    t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 0, 0, 0, gl::RGBA, gl::UNSIGNED_BYTE, std::ptr::null());
    t.buffer(gl::ARRAY_BUFFER, &[1u8; 4]);
    t.raw.BufferData(gl::ARRAY_BUFFER, 16, std::ptr::null(), gl::STATIC_DRAW);
    t.raw.BufferSubData(gl::ARRAY_BUFFER, 0, 0, std::ptr::null());
    t.no_error("null where it means nothing");
    t.raw.GenTextures(0, std::ptr::null_mut());
    t.no_error("no names");
    // An attribute without a buffer: core profiles have no client memory.
    let program = t.program(crate::scene::POSITION_VS, COLOR_FS);
    t.use_program(Some(program));
    t.vertex_array();
    t.bind_buffer(gl::ARRAY_BUFFER, None);
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 0, 64);
    t.error(gl::INVALID_OPERATION, "an attribute pointer into client memory");
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.pixel(&t.read(8, 8), 1, 1, [0, 255, 0, 255], 0, "the context goes on");
}

unsafe fn offset_that_wraps(t: &Scene) {
    t.buffer(gl::ARRAY_BUFFER, &[5u8; 16]);
    t.raw.BufferSubData(gl::ARRAY_BUFFER, isize::MAX, 1, [0u8; 1].as_ptr().cast());
    t.error(gl::INVALID_VALUE, "an offset that would wrap");
    let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, isize::MAX, isize::MAX, gl::MAP_READ_BIT);
    t.check(p.is_null(), "a mapping that would wrap");
    t.error(gl::INVALID_VALUE, "a mapping that would wrap");
}

/// Indices without an element buffer must not crash, whatever error they give: core profiles have no client memory.
unsafe fn indices_without_buffer(t: &Scene) {
    t.target(8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.vertex_array();
    t.raw.DrawRangeElements(gl::TRIANGLES, 0, 2, 3, gl::UNSIGNED_SHORT, 0);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 64);
    while t.get_error() != gl::NO_ERROR {}
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.fill();
    t.pixel(&t.read(8, 8), 1, 1, [0, 255, 0, 255], 0, "the context goes on");
}

unsafe fn huge_sizes(t: &Scene) {
    // Sizes that no machine has: OUT_OF_MEMORY or INVALID_VALUE, the old contents stay, the context goes on.
    let refused = |what: &str| {
        let e = t.get_error();
        t.check(matches!(e, gl::OUT_OF_MEMORY | gl::INVALID_VALUE), format!("{what}: {}", crate::scene::error_name(e)));
    };
    t.buffer(gl::ARRAY_BUFFER, &[5u8; 16]);
    t.raw.BufferData(gl::ARRAY_BUFFER, 1 << 50, std::ptr::null(), gl::STATIC_DRAW);
    refused("a buffer of a pebibyte");
    t.raw.BufferData(gl::ARRAY_BUFFER, isize::MAX, std::ptr::null(), gl::STATIC_DRAW);
    refused("a buffer of the greatest size");
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_3D, Some(texture));
    let n = t.get_parameter_i32(gl::MAX_3D_TEXTURE_SIZE);
    t.tex_image_3d(
        gl::TEXTURE_3D,
        0,
        gl::RGBA32F as i32,
        n,
        n,
        n,
        0,
        gl::RGBA,
        gl::FLOAT,
        gl::PixelUnpackData::Slice(None),
    );
    let e = t.get_error();
    t.check(matches!(e, gl::OUT_OF_MEMORY | gl::NO_ERROR), format!("a huge volume: {}", crate::scene::error_name(e)));
    t.delete_texture(texture);
    t.target(4, 4);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "the context goes on");
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.viewport(0, 0, i32::MAX, i32::MAX);
    t.no_error("a huge viewport is clamped");
    let (mut v, mut most) = ([0; 4], [0; 2]);
    t.get_parameter_i32_slice(gl::VIEWPORT, &mut v);
    t.get_parameter_i32_slice(gl::MAX_VIEWPORT_DIMS, &mut most);
    t.equal([v[2], v[3]], most, "the clamped viewport");
    t.scissor(i32::MIN, i32::MIN, i32::MAX, i32::MAX);
    t.enable(gl::SCISSOR_TEST);
    t.fill();
    t.scissor(i32::MAX - 1, 0, i32::MAX, i32::MAX);
    t.fill();
    t.no_error("extreme scissor boxes");
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "boxes outside the picture reject all");
}

/// An ordinary frame must not leave an error that the application did not make.
unsafe fn none_in_a_clean_frame(t: &Scene) {
    let egl_context = &t.context;
    let demo =
        crate::demo::Demo::new(t, 64, 64, crate::demo::Quality { shadow_size: 256, detail: 1, texture_size: 128 })
            .unwrap_or_else(|e| panic!("{e}"));
    for i in 0..3 {
        demo.frame(t, i as f32 * 0.5);
        t.no_error(&format!("frame {i}"));
        egl_context.swap_buffers().unwrap();
    }
    demo.frame(t, 2.0);
    let picture = t.read(64, 64);
    t.check(picture.count(|p| p[3] == 255) == 4096, "an opaque picture");
    let distinct: std::collections::HashSet<_> =
        (0..64).flat_map(|y| (0..64).map(move |x| (x, y))).map(|(x, y)| picture.pixel(x, y)).collect();
    t.check(distinct.len() > 500, format!("a picture of {} colours", distinct.len()));
    t.compare("picture", &picture, crate::picture::Tolerance::LOOSE);
}

unsafe fn state_queries(t: &Scene) {
    // The same state through every getter, with the conversions of GL 3.3 section 6.1.2.
    t.clear_color(0.25, 0.5, 1.0, 0.0);
    let mut f = [0.0; 4];
    t.get_parameter_f32_slice(gl::COLOR_CLEAR_VALUE, &mut f);
    t.equal(f, [0.25, 0.5, 1.0, 0.0], "floats");
    let mut i = [0; 4];
    t.get_parameter_i32_slice(gl::COLOR_CLEAR_VALUE, &mut i);
    // Colours map 1.0 to the greatest integer and 0.0 to 0.
    t.check(i[2] == i32::MAX && i[3].abs() <= 1, format!("colours as integers: {i:?}"));
    t.check((i[1] - 0x3fff_ffff).abs() <= 256, format!("one half as an integer: {i:?}"));
    t.line_width(1.0);
    t.polygon_offset(1.75, -2.0);
    t.equal(t.get_parameter_f32(gl::POLYGON_OFFSET_FACTOR), 1.75, "POLYGON_OFFSET_FACTOR");
    t.equal(t.get_parameter_i32(gl::POLYGON_OFFSET_FACTOR), 2, "rounded");
    t.enable(gl::DITHER);
    t.equal(t.get_parameter_i32(gl::DITHER), 1, "a boolean as an integer");
    t.equal(t.get_parameter_f32(gl::DEPTH_FUNC), gl::LESS as f32, "an enum as a float");
    t.check(t.get_parameter_bool(gl::DEPTH_FUNC), "an enum as a boolean");
    t.viewport(3, 4, 5, 6);
    t.get_parameter_f32_slice(gl::VIEWPORT, &mut f);
    t.equal(f, [3.0, 4.0, 5.0, 6.0], "the viewport as floats");
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[0u8; 1024]);
    let alignment = t.get_parameter_i32(gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT);
    t.bind_buffer_range(gl::UNIFORM_BUFFER, 2, Some(buffer), alignment, 64);
    let mut wide = [0i64; 1];
    t.raw.GetInteger64i_v(gl::UNIFORM_BUFFER_START, 2, wide.as_mut_ptr());
    t.equal(wide[0], i64::from(alignment), "UNIFORM_BUFFER_START");
    t.raw.GetInteger64i_v(gl::UNIFORM_BUFFER_SIZE, 2, wide.as_mut_ptr());
    t.equal(wide[0], 64, "UNIFORM_BUFFER_SIZE");
    let mut narrow = [0];
    t.raw.GetIntegeri_v(gl::UNIFORM_BUFFER_BINDING, 2, narrow.as_mut_ptr());
    t.equal(narrow[0] as u32, buffer.0.get(), "UNIFORM_BUFFER_BINDING");
    t.raw.GetIntegeri_v(gl::UNIFORM_BUFFER_BINDING, 100_000, narrow.as_mut_ptr());
    t.error(gl::INVALID_VALUE, "a binding that does not exist");
    let texture = t.texture(3, 5, &[[0; 4]; 15]);
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MIN_LOD, -2.5);
    t.equal(t.get_tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MIN_LOD), -2.5, "TEXTURE_MIN_LOD");
    t.equal(t.get_tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S) as u32, gl::REPEAT, "TEXTURE_WRAP_S");
    t.equal(t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_HEIGHT), 5, "TEXTURE_HEIGHT");
    t.equal(t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_RED_SIZE), 8, "TEXTURE_RED_SIZE");
    t.equal(t.get_parameter_i32(gl::TEXTURE_BINDING_2D) as u32, texture.0.get(), "TEXTURE_BINDING_2D");
    t.vertex_array();
    t.buffer(gl::ARRAY_BUFFER, &[0u8; 64]);
    t.vertex_attrib_pointer_f32(1, 3, gl::SHORT, true, 12, 4);
    let attribute = |name: u32| {
        let mut v = [0; 4];
        t.raw.GetVertexAttribIiv(1, name, v.as_mut_ptr());
        v[0]
    };
    t.equal(attribute(gl::VERTEX_ATTRIB_ARRAY_SIZE), 3, "VERTEX_ATTRIB_ARRAY_SIZE");
    t.equal(attribute(gl::VERTEX_ATTRIB_ARRAY_STRIDE), 12, "VERTEX_ATTRIB_ARRAY_STRIDE");
    t.equal(attribute(gl::VERTEX_ATTRIB_ARRAY_TYPE) as u32, gl::SHORT, "VERTEX_ATTRIB_ARRAY_TYPE");
    t.equal(attribute(gl::VERTEX_ATTRIB_ARRAY_NORMALIZED), 1, "VERTEX_ATTRIB_ARRAY_NORMALIZED");
    t.equal(attribute(gl::VERTEX_ATTRIB_ARRAY_ENABLED), 0, "VERTEX_ATTRIB_ARRAY_ENABLED");
}
