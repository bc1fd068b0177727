//! Arguments at the ends of their ranges for entry points that programs rarely call: the error that the specification names,
//! nothing written past what was asked for, and a context that goes on.

use std::ffi::CString;

use glow::{self as gl, HasContext as _};

use super::hostile_draw::still_draws;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("hostile_sizes_of_images", sizes_of_images).without_reference("Mesa 22.3 overruns its stack"),
    Scenario::new("hostile_pack_offsets", pack_offsets)
        .without_reference("Mesa 22.3 does not see addresses that overflow"),
    Scenario::new("hostile_texts_and_lengths", texts_and_lengths)
        .without_reference("Mesa 22.3 frees what it has not allocated"),
    Scenario::new("hostile_uniform_locations", uniform_locations)
        .without_reference("Mesa 22.3 takes indices of what is no array, and those that overflow"),
    Scenario::new("hostile_varying_names", varying_names),
    Scenario::new("hostile_debug_messages", debug_messages),
    Scenario::new("hostile_index_offsets", index_offsets)
        .without_reference("Mesa 22.3 does not look at the alignment, nor at offsets that wrap"),
    Scenario::new("hostile_numbers_that_are_none", numbers_that_are_none)
        .without_reference("Mesa 22.3 takes widths that are no numbers"),
    Scenario::new("hostile_counts_of_names", counts_of_names)
        .without_reference("Mesa 22.3 counts into queries that do not exist"),
];

unsafe fn sizes_of_images(t: &Scene) {
    let none = || gl::PixelUnpackData::Slice(None);
    let rgba = gl::RGBA8 as i32;
    let huge = [i32::MAX, i32::MAX - 1, 1 << 30, i32::MIN, -1, 1 << 20];
    for target in [gl::TEXTURE_3D, gl::TEXTURE_2D_ARRAY] {
        t.texture_name(target);
        t.tex_image_3d(target, 0, rgba, 2, 2, 2, 0, gl::RGBA, gl::UNSIGNED_BYTE, none());
        for n in huge {
            for [w, h, d] in [[n, 1, 1], [1, n, 1], [1, 1, n], [n, n, n], [0, 0, n]] {
                t.tex_image_3d(target, 0, rgba, w, h, d, 0, gl::RGBA, gl::UNSIGNED_BYTE, none());
                t.error(gl::INVALID_VALUE, &format!("{target:#x}: {w} × {h} × {d}"));
            }
            t.tex_sub_image_3d(target, 0, 0, 0, 0, n, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, none());
            t.error(gl::INVALID_VALUE, &format!("{target:#x}: a part of {n}"));
            t.tex_image_3d(target, n, rgba, 1, 1, 1, 0, gl::RGBA, gl::UNSIGNED_BYTE, none());
            t.error(gl::INVALID_VALUE, &format!("{target:#x}: level {n}"));
        }
        let get = |name| t.get_tex_level_parameter_i32(target, 0, name);
        t.equal([get(gl::TEXTURE_WIDTH), get(gl::TEXTURE_DEPTH)], [2, 2], "the image before the errors");
    }
    // A proxy answers with zeros for what is merely too large for the memory.
    let most = t.get_parameter_i32(gl::MAX_TEXTURE_SIZE);
    t.tex_image_2d(0x8064, 0, gl::RGBA32F as i32, most, most, 0, gl::RGBA, gl::FLOAT, none());
    t.check(matches!(t.get_error(), gl::NO_ERROR | gl::OUT_OF_MEMORY), "a proxy of the greatest size");
    t.texture_name(gl::TEXTURE_2D_MULTISAMPLE);
    for n in huge {
        t.tex_image_2d_multisample(gl::TEXTURE_2D_MULTISAMPLE, 4, rgba, n, 1, true);
        t.error(gl::INVALID_VALUE, &format!("multisampled, width {n}"));
        t.tex_image_2d_multisample(gl::TEXTURE_2D_MULTISAMPLE, n, rgba, 1, 1, true);
        t.check(t.get_error() != gl::NO_ERROR, format!("{n} samples"));
    }
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    for n in huge {
        t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, n, 1);
        t.error(gl::INVALID_VALUE, &format!("a renderbuffer {n} wide"));
        t.renderbuffer_storage_multisample(gl::RENDERBUFFER, n, gl::RGBA8, 1, 1);
        t.check(t.get_error() != gl::NO_ERROR, format!("a renderbuffer of {n} samples"));
    }
    for n in huge {
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, n, 1, 0);
        t.error(gl::INVALID_VALUE, &format!("a copy {n} wide"));
        let blocks = [0u8; 16];
        t.raw.CompressedTexImage2D(gl::TEXTURE_2D, 0, gl::COMPRESSED_RED_RGTC1, n, 4, 0, 16, blocks.as_ptr().cast());
        t.error(gl::INVALID_VALUE, &format!("blocks {n} wide"));
        t.raw.CompressedTexImage2D(gl::TEXTURE_2D, 0, gl::COMPRESSED_RED_RGTC1, 4, 4, 0, n, blocks.as_ptr().cast());
        t.error(gl::INVALID_VALUE, &format!("{n} bytes of blocks"));
    }
    still_draws(t, "after sizes of images");
}

unsafe fn pack_offsets(t: &Scene) {
    let texture = t.texture(4, 4, &[[5; 4]; 16]);
    t.buffer(gl::PIXEL_PACK_BUFFER, &[1u8; 128]);
    let at = |offset: usize| -> *mut std::ffi::c_void { std::ptr::without_provenance_mut(offset) };
    let get = |offset: usize, kind: u32| t.raw.GetTexImage(gl::TEXTURE_2D, 0, gl::RGBA, kind, at(offset));
    get(64, gl::UNSIGNED_BYTE);
    t.no_error("the last bytes of the buffer");
    for offset in [65, 127, 128, 129, 1 << 31, 1 << 32, usize::MAX, usize::MAX - 63, isize::MAX as usize, 1 << 63] {
        get(offset, gl::UNSIGNED_BYTE);
        t.error(gl::INVALID_OPERATION, &format!("texels at {offset:#x}"));
    }
    get(2, gl::FLOAT);
    t.error(gl::INVALID_OPERATION, "floats at half an address");
    t.target(4, 4);
    for offset in [65, 128, 1 << 32, usize::MAX, usize::MAX - 63, 1 << 63] {
        t.raw.ReadPixels(0, 0, 4, 4, gl::RGBA, gl::UNSIGNED_BYTE, at(offset));
        t.error(gl::INVALID_OPERATION, &format!("pixels at {offset:#x}"));
    }
    for (w, h) in [(i32::MAX, 1), (1, i32::MAX), (i32::MAX, i32::MAX)] {
        t.raw.ReadPixels(0, 0, w, h, gl::RGBA, gl::FLOAT, at(0));
        t.error(gl::INVALID_OPERATION, &format!("{w} × {h} pixels"));
        t.raw.ReadPixels(i32::MIN, i32::MAX, w, h, gl::RGBA, gl::UNSIGNED_BYTE, at(0));
        t.error(gl::INVALID_OPERATION, &format!("{w} × {h} pixels from far away"));
    }
    t.raw.ReadPixels(0, 0, -1, 1, gl::RGBA, gl::UNSIGNED_BYTE, at(0));
    t.error(gl::INVALID_VALUE, "a negative width");
    for name in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS, gl::PACK_SKIP_IMAGES] {
        t.pixel_store_i32(name, i32::MIN);
        t.error(gl::INVALID_VALUE, "a negative parameter");
        t.pixel_store_i32(name, i32::MAX);
        t.no_error("a great one");
    }
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    get(0, gl::UNSIGNED_BYTE);
    t.error(gl::INVALID_OPERATION, "texels whose address overflows");
    for name in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS, gl::PACK_SKIP_IMAGES] {
        t.pixel_store_i32(name, 0);
    }
    // Blocks into a buffer.
    t.texture_name(gl::TEXTURE_2D);
    let blocks = [9u8; 8];
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.raw.CompressedTexImage2D(gl::TEXTURE_2D, 0, gl::COMPRESSED_RED_RGTC1, 4, 4, 0, 8, blocks.as_ptr().cast());
    t.buffer(gl::PIXEL_PACK_BUFFER, &[1u8; 12]);
    t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, at(4));
    t.no_error("blocks at the end");
    for offset in [5, 12, usize::MAX, usize::MAX - 7, 1 << 63] {
        t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, at(offset));
        t.error(gl::INVALID_OPERATION, &format!("blocks at {offset:#x}"));
    }
    let mut seen = [0u8; 12];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut seen);
    t.equal(seen, [1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9], "the buffer");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    still_draws(t, "after offsets");
}

unsafe fn texts_and_lengths(t: &Scene) {
    let shader = t.raw.CreateShader(gl::VERTEX_SHADER);
    let known = gl::NativeShader(std::num::NonZeroU32::new(shader).expect("a shader"));
    let compiles = || {
        t.compile_shader(known);
        t.get_shader_compile_status(known)
    };
    let first = c"#version 330 core\n".as_ptr();
    let second = c"void main() { gl_Position = vec4(0.0); }".as_ptr();
    t.raw.ShaderSource(shader, -1, [first].as_ptr(), std::ptr::null());
    t.error(gl::INVALID_VALUE, "a negative number of texts");
    // A negative length means a zero at the end.
    for length in [-1, i32::MIN] {
        t.raw.ShaderSource(shader, 2, [first, second].as_ptr(), [length, length].as_ptr());
        t.check(compiles(), format!("texts of length {length}"));
    }
    t.raw.ShaderSource(shader, 2, [first, second].as_ptr(), [18, -5].as_ptr());
    t.check(compiles(), "one length of two");
    t.raw.ShaderSource(shader, 3, [first, second, c"garbage".as_ptr()].as_ptr(), [-1, -1, 0].as_ptr());
    t.check(compiles(), "a text of length 0");
    t.raw.ShaderSource(shader, 0, std::ptr::null(), std::ptr::null());
    t.check(!compiles(), "no text at all");
    t.no_error("texts");
    // Answers are cut to the room there is, with a zero at the end.
    t.raw.ShaderSource(shader, 1, [c"0123456789".as_ptr()].as_ptr(), std::ptr::null());
    for room in [0i32, 1, 2, 10, 11, 40] {
        let mut text = [0x7fu8; 64];
        let mut length = -7;
        t.raw.GetShaderSource(shader, room, &mut length, text.as_mut_ptr().cast());
        let n = (room - 1).clamp(0, 10) as usize;
        t.equal(length, n as i32, &format!("length in {room} bytes"));
        t.equal(&text[..n], &b"0123456789"[..n], &format!("text in {room} bytes"));
        let end = if room == 0 { 0 } else { n + 1 };
        t.check(room == 0 || text[n] == 0, format!("the end in {room} bytes"));
        t.check(text[end..].iter().all(|b| *b == 0x7f), format!("past the end of {room} bytes"));
        t.raw.GetShaderSource(shader, room, std::ptr::null_mut(), text.as_mut_ptr().cast());
    }
    t.no_error("texts that are cut");
    let mut text = [0x7fu8; 64];
    t.raw.GetShaderSource(shader, -1, std::ptr::null_mut(), text.as_mut_ptr().cast());
    t.error(gl::INVALID_VALUE, "a negative room for the text");
    t.raw.GetShaderInfoLog(shader, -1, std::ptr::null_mut(), text.as_mut_ptr().cast());
    t.error(gl::INVALID_VALUE, "a negative room for the log");
    let program = t.program(FULL_VS, COLOR_FS).0.get();
    t.raw.GetProgramInfoLog(program, i32::MIN, std::ptr::null_mut(), text.as_mut_ptr().cast());
    t.error(gl::INVALID_VALUE, "a negative room for the program's log");
    let (mut size, mut kind) = (0, 0);
    let name = text.as_mut_ptr().cast();
    t.raw.GetActiveUniform(program, 0, -1, std::ptr::null_mut(), &mut size, &mut kind, name);
    t.error(gl::INVALID_VALUE, "a negative room for a uniform's name");
    t.raw.GetActiveUniform(program, u32::MAX, 4, std::ptr::null_mut(), &mut size, &mut kind, name);
    t.error(gl::INVALID_VALUE, "a uniform past the last");
    t.equal(text, [0x7f; 64], "failing queries write nothing");
    t.raw.GetActiveUniform(program, 0, 3, std::ptr::null_mut(), &mut size, &mut kind, name);
    t.equal(&text[..4], &[b'c', b'o', 0, 0x7f], "a name that is cut");
    let indices = [0u32, u32::MAX];
    let mut values = [77i32; 2];
    t.raw.GetActiveUniformsiv(program, 2, indices.as_ptr(), gl::UNIFORM_TYPE, values.as_mut_ptr());
    t.error(gl::INVALID_VALUE, "a uniform of two past the last");
    t.equal(values, [77; 2], "failing queries write nothing");
    t.raw.GetActiveUniformsiv(program, -1, indices.as_ptr(), gl::UNIFORM_TYPE, values.as_mut_ptr());
    t.error(gl::INVALID_VALUE, "a negative number of uniforms");
    t.raw.GetStringi(gl::EXTENSIONS, u32::MAX);
    t.error(gl::INVALID_VALUE, "an extension past the last");
    still_draws(t, "after texts");
}

unsafe fn uniform_locations(t: &Scene) {
    t.target(4, 4);
    let program = t.program(
        FULL_VS,
        "uniform vec4 color; uniform float list[4]; uniform mat3 matrix; uniform sampler2D image; out vec4 result;
         void main() { result = color + list[3] + matrix[2][2] + texture(image, vec2(0.0)); }",
    );
    let name = program.0.get();
    let location = |text: &str| {
        let text = CString::new(text).expect("no zero inside");
        t.raw.GetUniformLocation(name, text.as_ptr())
    };
    let mut values = [7.5f32; 16];
    for bad in [-1, -2, i32::MIN, i32::MAX, 1 << 20] {
        t.raw.GetUniformfv(name, bad, values.as_mut_ptr());
        t.error(gl::INVALID_OPERATION, &format!("the value at {bad}"));
        t.raw.Uniform4fv(bad, 1, values.as_ptr());
        let expected = if bad == -1 { gl::NO_ERROR } else { gl::INVALID_OPERATION };
        t.error(expected, &format!("a value for {bad}"));
        t.raw.UniformMatrix3fv(bad, 1, 0, values.as_ptr());
        t.error(expected, &format!("a matrix for {bad}"));
    }
    t.equal(values, [7.5; 16], "failing queries write nothing");
    let color = location("color");
    for count in [-1, i32::MIN] {
        t.raw.Uniform4fv(color, count, values.as_ptr());
        t.error(gl::INVALID_VALUE, &format!("{count} values"));
        t.raw.UniformMatrix3fv(location("matrix"), count, 0, values.as_ptr());
        t.error(gl::INVALID_VALUE, &format!("{count} matrices"));
    }
    t.raw.Uniform4fv(color, 2, values.as_ptr());
    t.error(gl::INVALID_OPERATION, "two values for what is no array");
    t.raw.Uniform3fv(color, 1, values.as_ptr());
    t.error(gl::INVALID_OPERATION, "another number of components");
    t.raw.Uniform1iv(location("image"), 1, [-1].as_ptr());
    t.error(gl::INVALID_VALUE, "a negative unit");
    t.raw.Uniform1iv(location("image"), 1, [i32::MAX].as_ptr());
    t.error(gl::INVALID_VALUE, "a unit past the last");
    // Values past the end of an array are ignored, wherever the list begins.
    let ones = [1.0f32; 64];
    for first in 0..4 {
        t.raw.Uniform1fv(location(&format!("list[{first}]")), 64, ones.as_ptr());
        t.no_error(&format!("64 values from element {first} on"));
    }
    t.raw.GetUniformfv(name, color, values.as_mut_ptr());
    t.equal(&values[..4], &[0.0; 4], "the uniform beside the array");
    for text in [
        "list[4]",
        "list[-1]",
        "list[4294967296]",
        "list[00]",
        "list[0x1]",
        "list[ 0]",
        "list[0] ",
        "list[",
        "list]",
        "list[]",
        "list[0][0]",
        "",
        "[0]",
        "color[0]",
        "color.x",
        "gl_Position",
        "matrix[0]",
        ".",
        "list[99999999999999999999]",
    ] {
        // An element of what is no array may be asked for by its first index.
        let found = location(text);
        t.check(found == -1 || text == "color[0]", format!("{text:?} is at {found}"));
    }
    let long = "x".repeat(1 << 20);
    t.equal(location(&long), -1, "a name of a mebibyte");
    t.raw.GetUniformLocation(0, c"color".as_ptr());
    t.error(gl::INVALID_VALUE, "no program");
    let shader = t.raw.CreateShader(gl::VERTEX_SHADER);
    t.raw.GetUniformLocation(shader, c"color".as_ptr());
    t.error(gl::INVALID_OPERATION, "a shader");
    still_draws(t, "after locations");
}

unsafe fn varying_names(t: &Scene) {
    t.target(4, 4);
    let vertex =
        "out vec4 a; out float list[8]; void main() { gl_Position = vec4(0.0); a = vec4(1.0); list[7] = 2.0; }";
    let texts: Vec<CString> = (0..5000).map(|i| CString::new(format!("v{i}")).expect("no zero inside")).collect();
    let many: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
    let link = |names: &[*const std::ffi::c_char], mode: u32| {
        t.try_program(&[(gl::VERTEX_SHADER, vertex)], |program| {
            t.raw.TransformFeedbackVaryings(program.0.get(), names.len() as i32, names.as_ptr(), mode);
        })
    };
    t.check(link(&many, gl::INTERLEAVED_ATTRIBS).is_err(), "names that do not exist");
    t.no_error("five thousand names");
    let same = vec![c"a".as_ptr(); 5000];
    t.check(link(&same, gl::INTERLEAVED_ATTRIBS).is_err(), "one name five thousand times");
    for bad in [c"", c" ", c"list[8]", c"list[-1]", c"list[", c"list[99999999999]", c"a[0]", c"gl_Nothing", c"a\n"] {
        t.check(link(&[bad.as_ptr()], gl::INTERLEAVED_ATTRIBS).is_err(), format!("{bad:?} links"));
        t.no_error(&format!("{bad:?}"));
    }
    let long = CString::new("x".repeat(1 << 20)).expect("no zero inside");
    t.check(link(&[long.as_ptr()], gl::SEPARATE_ATTRIBS).is_err(), "a name of a mebibyte");
    t.check(link(&[c"list[7]".as_ptr(), c"a".as_ptr()], gl::INTERLEAVED_ATTRIBS).is_ok(), "names that exist");
    let program = t.create_program().unwrap().0.get();
    let most = t.get_parameter_i32(gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS);
    t.raw.TransformFeedbackVaryings(program, most + 1, many.as_ptr(), gl::SEPARATE_ATTRIBS);
    t.error(gl::INVALID_VALUE, "one more than there are buffers");
    t.raw.TransformFeedbackVaryings(program, 1, many.as_ptr(), gl::BLEND);
    t.error(gl::INVALID_ENUM, "a mode that is none");
    t.raw.TransformFeedbackVaryings(0, 1, many.as_ptr(), gl::SEPARATE_ATTRIBS);
    t.error(gl::INVALID_VALUE, "no program");
    let (mut size, mut kind, mut text) = (0, 0, [0x7fu8; 8]);
    t.raw.GetTransformFeedbackVarying(
        program,
        u32::MAX,
        8,
        std::ptr::null_mut(),
        &mut size,
        &mut kind,
        text.as_mut_ptr().cast(),
    );
    t.check(t.get_error() != gl::NO_ERROR, "a varying past the last");
    t.equal(text, [0x7f; 8], "failing queries write nothing");
    // Names of attributes and outputs.
    let most = t.get_parameter_i32(gl::MAX_VERTEX_ATTRIBS) as u32;
    t.raw.BindAttribLocation(program, most, c"position".as_ptr());
    t.error(gl::INVALID_VALUE, "an attribute past the last");
    t.raw.BindAttribLocation(program, 0, c"gl_Vertex".as_ptr());
    t.error(gl::INVALID_OPERATION, "a name that begins with gl_");
    t.raw.BindFragDataLocation(program, u32::MAX, c"result".as_ptr());
    t.error(gl::INVALID_VALUE, "an output past the last");
    t.raw.BindFragDataLocationIndexed(program, 0, 2, c"result".as_ptr());
    t.error(gl::INVALID_VALUE, "a third index");
    t.raw.GetFragDataLocation(program, c"result".as_ptr());
    t.error(gl::INVALID_OPERATION, "an output of what is not linked");
    still_draws(t, "after names");
}

unsafe fn debug_messages(t: &Scene) {
    if !t.supports_debug() {
        t.skip("GL_KHR_debug is not there");
        return;
    }
    let application = gl::DEBUG_SOURCE_APPLICATION;
    let depth = t.get_parameter_i32(gl::MAX_DEBUG_GROUP_STACK_DEPTH);
    let length = t.get_parameter_i32(gl::MAX_DEBUG_MESSAGE_LENGTH);
    t.check(depth >= 64 && length > 1, format!("{depth} groups, messages of {length}"));
    let push = |length: i32, text: &std::ffi::CStr| t.raw.PushDebugGroup(application, 1, length, text.as_ptr());
    for _ in 1..depth {
        push(-1, c"group");
    }
    t.no_error("as many groups as there may be");
    t.equal(t.get_parameter_i32(gl::DEBUG_GROUP_STACK_DEPTH), depth, "depth");
    for _ in 0..3 {
        push(-1, c"group");
        t.error(gl::STACK_OVERFLOW, "one group more");
    }
    for _ in 1..depth {
        t.raw.PopDebugGroup();
    }
    t.no_error("all groups are left");
    for _ in 0..3 {
        t.raw.PopDebugGroup();
        t.error(gl::STACK_UNDERFLOW, "one group too many is left");
    }
    let long = CString::new("m".repeat(length as usize)).expect("no zero inside");
    push(-1, &long);
    t.error(gl::INVALID_VALUE, "a message that is too long");
    push(i32::MAX, c"group");
    t.error(gl::INVALID_VALUE, "a length that is too long");
    let insert = |source, kind, severity, length: i32, text: &std::ffi::CStr| {
        t.raw.DebugMessageInsert(source, kind, 1, severity, length, text.as_ptr());
    };
    let (other, high) = (gl::DEBUG_TYPE_OTHER, gl::DEBUG_SEVERITY_HIGH);
    insert(application, other, high, -1, &long);
    t.error(gl::INVALID_VALUE, "a message that is too long");
    insert(application, other, high, length, c"m");
    t.error(gl::INVALID_VALUE, "a length that is too long");
    insert(gl::DEBUG_SOURCE_API, other, high, -1, c"m");
    t.error(gl::INVALID_ENUM, "the driver's own source");
    insert(application, gl::BLEND, high, -1, c"m");
    t.error(gl::INVALID_ENUM, "a type that is none");
    insert(application, other, gl::DONT_CARE, -1, c"m");
    t.error(gl::INVALID_ENUM, "a severity that is none");
    let control = |source, kind, severity, count: i32| {
        t.raw.DebugMessageControl(source, kind, severity, count, [1u32, 2].as_ptr(), 1);
    };
    control(application, other, gl::DONT_CARE, -1);
    t.error(gl::INVALID_VALUE, "a negative number of messages");
    control(application, other, high, 2);
    t.error(gl::INVALID_OPERATION, "numbers with a severity");
    control(gl::DONT_CARE, other, gl::DONT_CARE, 2);
    t.error(gl::INVALID_OPERATION, "numbers of any source");
    control(gl::BLEND, other, gl::DONT_CARE, 0);
    t.error(gl::INVALID_ENUM, "a source that is none");
    // The log holds what fits into it, and never more.
    t.enable(gl::DEBUG_OUTPUT);
    let most = t.get_parameter_i32(gl::MAX_DEBUG_LOGGED_MESSAGES);
    for _ in 0..most + 50 {
        insert(application, other, high, -1, c"logged");
    }
    t.equal(t.get_parameter_i32(gl::DEBUG_LOGGED_MESSAGES), most, "messages in a full log");
    t.equal(t.get_parameter_i32(0x8243), 7, "the length of the next message");
    let mut text = [0x7fu8; 16];
    let none = std::ptr::null_mut;
    let log = |count: u32, room: i32, text: *mut u8| {
        t.raw.GetDebugMessageLog(count, room, none(), none(), none(), none(), std::ptr::null_mut(), text.cast())
    };
    t.equal(log(1, -1, text.as_mut_ptr()), 0, "a negative room");
    t.error(gl::INVALID_VALUE, "a negative room");
    t.equal(log(4, 6, text.as_mut_ptr()), 0, "too little room for one message");
    t.equal(text, [0x7f; 16], "nothing is written then");
    t.equal(log(4, 15, text.as_mut_ptr()), 2, "room for two messages");
    t.equal(&text, b"logged\0logged\0\x7f\x7f", "two messages");
    t.equal(log(u32::MAX, 0, std::ptr::null_mut()), (most - 2) as u32, "the others, without their texts");
    t.equal(t.get_parameter_i32(gl::DEBUG_LOGGED_MESSAGES), 0, "an empty log");
    // Labels.
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[0u8; 4]).0.get();
    let most = t.get_parameter_i32(gl::MAX_LABEL_LENGTH) as usize;
    let long = CString::new("l".repeat(most)).expect("no zero inside");
    t.raw.ObjectLabel(gl::BUFFER, buffer, -1, long.as_ptr());
    t.error(gl::INVALID_VALUE, "a label that is too long");
    t.raw.ObjectLabel(gl::BUFFER, buffer, i32::MAX, c"l".as_ptr());
    t.error(gl::INVALID_VALUE, "a length that is too long");
    t.raw.ObjectLabel(gl::BUFFER, 4711, -1, c"l".as_ptr());
    t.error(gl::INVALID_VALUE, "an object that is none");
    t.raw.ObjectLabel(gl::BLEND, buffer, -1, c"l".as_ptr());
    t.error(gl::INVALID_ENUM, "a kind that is none");
    t.raw.ObjectLabel(gl::BUFFER, buffer, 3, c"label".as_ptr());
    let mut length = -7;
    t.raw.GetObjectLabel(gl::BUFFER, buffer, -1, &mut length, text.as_mut_ptr().cast());
    t.error(gl::INVALID_VALUE, "a negative room for a label");
    text = [0x7f; 16];
    t.raw.GetObjectLabel(gl::BUFFER, buffer, 3, &mut length, text.as_mut_ptr().cast());
    t.equal((length, &text[..4]), (2, &b"la\0\x7f"[..]), "a label that is cut");
    t.raw.ObjectLabel(gl::BUFFER, buffer, 0, std::ptr::null());
    t.raw.GetObjectLabel(gl::BUFFER, buffer, 16, &mut length, text.as_mut_ptr().cast());
    t.equal(length, 0, "a label that was taken away");
    t.raw.ObjectPtrLabel(std::ptr::without_provenance(0x77), -1, c"l".as_ptr());
    t.error(gl::INVALID_VALUE, "a sync object that is none");
    t.disable(gl::DEBUG_OUTPUT);
    still_draws(t, "after messages");
}

unsafe fn index_offsets(t: &Scene) {
    t.target(4, 4);
    let program = t.program(crate::scene::POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.positions(&[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u32, 1, 2]);
    let many = [0usize, 4, 12, 13, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 4, 1 << 63, usize::MAX, usize::MAX - 11];
    for offset in many {
        for kind in [gl::UNSIGNED_BYTE, gl::UNSIGNED_SHORT, gl::UNSIGNED_INT] {
            t.raw.DrawElements(gl::TRIANGLES, 3, kind, offset);
            t.raw.DrawElements(gl::TRIANGLES, 0, kind, offset);
            t.raw.DrawElementsInstanced(gl::TRIANGLES, 3, kind, offset, 2);
            t.raw.DrawElementsBaseVertex(gl::TRIANGLES, 3, kind, offset, -1);
            t.raw.DrawElementsBaseVertex(gl::TRIANGLES, 3, kind, offset, i32::MAX);
            t.raw.DrawRangeElements(gl::TRIANGLES, 0, u32::MAX, 3, kind, offset);
            t.raw.MultiDrawElements(gl::TRIANGLES, [3, 3].as_ptr(), kind, [offset, offset].as_ptr(), 2);
            let bases = [i32::MIN, i32::MAX];
            let offsets = [offset, 0];
            t.raw.MultiDrawElementsBaseVertex(
                gl::TRIANGLES,
                [3, 3].as_ptr(),
                kind,
                offsets.as_ptr(),
                2,
                bases.as_ptr(),
            );
        }
    }
    t.no_error("indices that are not there");
    // Counts without end over three indices.
    t.raw.DrawElements(gl::TRIANGLES, 1 << 20, gl::UNSIGNED_INT, 0);
    t.raw.DrawElements(gl::TRIANGLES, i32::MAX, gl::UNSIGNED_INT, 1 << 63);
    while t.get_error() != gl::NO_ERROR {}
    t.raw.DrawRangeElements(gl::TRIANGLES, 2, 1, 3, gl::UNSIGNED_INT, 0);
    t.error(gl::INVALID_VALUE, "a range that ends before it begins");
    t.raw.DrawElements(gl::TRIANGLES, 3, gl::FLOAT, 0);
    t.error(gl::INVALID_ENUM, "indices of floats");
    t.raw.DrawElements(0x4242, 3, gl::UNSIGNED_INT, 0);
    t.error(gl::INVALID_ENUM, "a mode that is none");
    t.raw.MultiDrawElements(gl::TRIANGLES, [3, -3].as_ptr(), gl::UNSIGNED_INT, [0, 0].as_ptr(), 2);
    t.error(gl::INVALID_VALUE, "a negative count among several");
    t.raw.DrawElementsInstanced(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 0, i32::MIN);
    t.error(gl::INVALID_VALUE, "a negative number of instances");
    // Attributes that begin where no buffer reaches.
    for offset in [1usize << 31, 1 << 32, 1 << 63, usize::MAX, usize::MAX - 7] {
        t.raw.VertexAttribPointer(0, 2, gl::FLOAT, 0, 8, offset);
        t.raw.DrawArrays(gl::TRIANGLES, 0, 3);
        t.raw.DrawElements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 0);
    }
    t.no_error("attributes that are not there");
    t.raw.VertexAttribPointer(0, 2, gl::FLOAT, 0, -1, 0);
    t.error(gl::INVALID_VALUE, "a negative stride");
    t.raw.VertexAttribPointer(0, 2, gl::FLOAT, 0, i32::MAX, 0);
    t.raw.DrawArrays(gl::TRIANGLES, 0, 3);
    while t.get_error() != gl::NO_ERROR {}
    t.raw.VertexAttribPointer(u32::MAX, 2, gl::FLOAT, 0, 8, 0);
    t.error(gl::INVALID_VALUE, "an attribute past the last");
    for size in [0, 5, -1, i32::MAX] {
        t.raw.VertexAttribPointer(0, size, gl::FLOAT, 0, 8, 0);
        t.error(gl::INVALID_VALUE, &format!("{size} components"));
    }
    still_draws(t, "after indices");
}

unsafe fn numbers_that_are_none(t: &Scene) {
    t.target(4, 4);
    for v in [0.0, -1.0, f32::NEG_INFINITY, f32::NAN] {
        t.line_width(v);
        t.error(gl::INVALID_VALUE, &format!("a line width of {v}"));
        t.raw.PointSize(v);
        t.error(gl::INVALID_VALUE, &format!("a point size of {v}"));
    }
    for v in [f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, f32::NAN, -0.0, 1e-45] {
        t.polygon_offset(v, v);
        t.depth_range_f64(f64::from(v), f64::from(-v));
        t.clear_color(v, v, v, v);
        t.clear_depth_f64(f64::from(v));
        t.blend_color(v, v, v, v);
        t.sample_coverage(v, false);
        t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &[v; 4]);
        t.clear_buffer_f32_slice(gl::DEPTH, 0, &[v]);
        t.texture(2, 2, &[[1; 4]; 4]);
        t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MIN_LOD, v);
        t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LOD, v);
        t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_LOD_BIAS, v);
        t.tex_parameter_f32_slice(gl::TEXTURE_2D, gl::TEXTURE_BORDER_COLOR, &[v; 4]);
        t.no_error(&format!("parameters of {v}"));
        t.program(FULL_VS, crate::scene::TEXTURE_FS);
        t.vertex_array();
        t.fill();
        t.no_error(&format!("a draw with {v}"));
    }
    for name in [gl::TEXTURE_BASE_LEVEL, gl::TEXTURE_MAX_LEVEL] {
        for v in [-1, i32::MIN] {
            t.tex_parameter_i32(gl::TEXTURE_2D, name, v);
            t.error(gl::INVALID_VALUE, &format!("level {v}"));
        }
    }
    for v in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30] {
        t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, v);
        t.error(gl::INVALID_ENUM, &format!("wrapping by {v}"));
        t.raw.PointParameterf(0x8CA0, v);
        t.check(t.get_error() != gl::NO_ERROR, format!("the origin of points {v}"));
        t.raw.PointParameterf(0x8128, v);
        let _ = t.get_error();
    }
    t.raw.PointParameterf(0x8128, 1.0);
    t.polygon_offset(0.0, 0.0);
    t.depth_range_f64(0.0, 1.0);
    t.sample_coverage(1.0, false);
    t.clear_depth_f64(1.0);
    for i in [-1i32, i32::MIN, i32::MAX, 8] {
        let at = i as u32;
        t.clear_buffer_f32_slice(gl::COLOR, at, &[0.0; 4]);
        t.error(gl::INVALID_VALUE, &format!("draw buffer {i}"));
        t.clear_buffer_f32_slice(gl::DEPTH, at, &[0.0]);
        t.error(gl::INVALID_VALUE, &format!("depth buffer {i}"));
        t.raw.SampleMaski(at.max(8), 1);
        t.error(gl::INVALID_VALUE, &format!("sample mask {i}"));
        let mut place = [7.0f32; 2];
        t.raw.GetMultisamplefv(gl::SAMPLE_POSITION, at.max(64), place.as_mut_ptr());
        t.error(gl::INVALID_VALUE, &format!("sample {i}"));
        t.equal(place, [7.0; 2], "failing queries write nothing");
    }
    still_draws(t, "after numbers that are none");
}

unsafe fn counts_of_names(t: &Scene) {
    t.target(4, 4);
    let texture = t.texture(2, 2, &[[3; 4]; 4]);
    for n in [-1, i32::MIN] {
        let what = format!("{n} names");
        t.raw.GenTextures(n, std::ptr::null_mut());
        t.error(gl::INVALID_VALUE, &what);
        t.raw.DeleteQueries(n, std::ptr::null());
        t.error(gl::INVALID_VALUE, &what);
        t.raw.DrawBuffers(n, std::ptr::null());
        t.error(gl::INVALID_VALUE, &what);
        t.raw.GetAttachedShaders(t.program(FULL_VS, COLOR_FS).0.get(), n, std::ptr::null_mut(), std::ptr::null_mut());
        t.error(gl::INVALID_VALUE, &what);
    }
    // Names that are none are ignored by deletions, and unknown to everything else.
    t.raw.DeleteQueries(3, [0, 4711, u32::MAX].as_ptr());
    t.no_error("names that are none");
    t.raw.BeginQuery(gl::SAMPLES_PASSED, 0);
    t.error(gl::INVALID_OPERATION, "query 0");
    t.raw.BeginQuery(gl::SAMPLES_PASSED, u32::MAX);
    t.error(gl::INVALID_OPERATION, "a query that is none");
    t.raw.QueryCounter(u32::MAX, gl::TIMESTAMP);
    t.error(gl::INVALID_OPERATION, "a counter that is none");
    t.raw.BeginConditionalRender(u32::MAX, gl::QUERY_WAIT);
    t.check(t.get_error() != gl::NO_ERROR, "a condition that is none");
    t.raw.BindBufferRange(gl::UNIFORM_BUFFER, u32::MAX, 0, 0, 0);
    t.error(gl::INVALID_VALUE, "a binding past the last");
    t.raw.BindBufferBase(gl::TRANSFORM_FEEDBACK_BUFFER, u32::MAX, 0);
    t.error(gl::INVALID_VALUE, "a capture past the last");
    t.raw.BindSampler(u32::MAX, 0);
    t.error(gl::INVALID_VALUE, "a unit past the last");
    t.raw.BindSampler(0, u32::MAX);
    t.error(gl::INVALID_OPERATION, "a sampler that is none");
    t.raw.ActiveTexture(u32::MAX);
    t.error(gl::INVALID_ENUM, "a unit past the last");
    t.raw.BindVertexArray(u32::MAX);
    t.error(gl::INVALID_OPERATION, "an array that is none");
    t.raw.UseProgram(u32::MAX);
    t.error(gl::INVALID_VALUE, "a program that is none");
    for layer in [-1, i32::MIN, i32::MAX] {
        let array = t.texture_name(gl::TEXTURE_2D_ARRAY);
        t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(array), 0, layer);
        t.error(gl::INVALID_VALUE, &format!("layer {layer}"));
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), layer);
        t.error(gl::INVALID_VALUE, &format!("level {layer}"));
    }
    t.complete();
    still_draws(t, "after names");
}
