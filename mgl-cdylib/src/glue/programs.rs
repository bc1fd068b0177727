//! Shaders and programs.

use std::borrow::Cow;
use std::ffi::{c_char, CStr};

use mgpipe_types::gl;

use super::memory::{answer, answers, input, length, output, refuse_null, text, texts, write_all, write_text};
use crate::front::{ActiveInfo, Context, Values};

pub(crate) unsafe fn shader_source(
    ctx: &mut Context,
    shader: u32,
    count: i32,
    strings: *const *const c_char,
    lengths: *const i32,
) {
    let what = "glShaderSource";
    let Some(n) = length(ctx, count, what) else { return };
    if !ctx.expect_shader(shader, "glShaderSource") {
        return;
    }
    // SAFETY: `n` pointers by the contract of the module.
    let Some(strings) = (unsafe { input(ctx, strings, n, what) }) else { return };
    let lengths = if lengths.is_null() {
        Cow::Borrowed(&[][..])
    } else {
        // SAFETY: `n` lengths by the contract of the module.
        let Some(lengths) = (unsafe { input(ctx, lengths, n, what) }) else { return };
        lengths
    };
    let mut pieces: Vec<&[u8]> = Vec::with_capacity(strings.len());
    for (i, &string) in strings.iter().enumerate() {
        let length = lengths.get(i).and_then(|&l| usize::try_from(l).ok());
        if length == Some(0) {
            continue;
        }
        if refuse_null(ctx, string, what) {
            return;
        }
        pieces.push(match length {
            // SAFETY: not null, as many bytes as the length says, by the contract of the module.
            Some(length) => unsafe { std::slice::from_raw_parts(string.cast(), length) },
            // SAFETY: not null, terminated when no length is given.
            None => unsafe { CStr::from_ptr(string) }.to_bytes(),
        });
    }
    ctx.shader_source(shader, &pieces);
}

pub(crate) unsafe fn bind_attrib_location(ctx: &mut Context, program: u32, index: u32, name: *const c_char) {
    // SAFETY: a terminated string by the contract of the module.
    if let Some(name) = unsafe { text(ctx, name, "glBindAttribLocation: null") } {
        ctx.bind_attrib_location(program, index, &name);
    }
}

pub(crate) unsafe fn bind_frag_data_location(ctx: &mut Context, program: u32, color: u32, name: *const c_char) {
    // SAFETY: a terminated string by the contract of the module.
    if let Some(name) = unsafe { text(ctx, name, "glBindFragDataLocation: null") } {
        ctx.bind_frag_data_location(program, color, 0, &name);
    }
}

pub(crate) unsafe fn bind_frag_data_location_indexed(
    ctx: &mut Context,
    program: u32,
    color: u32,
    index: u32,
    name: *const c_char,
) {
    // SAFETY: a terminated string by the contract of the module.
    if let Some(name) = unsafe { text(ctx, name, "glBindFragDataLocationIndexed: null") } {
        ctx.bind_frag_data_location(program, color, index, &name);
    }
}

pub(crate) unsafe fn transform_feedback_varyings(
    ctx: &mut Context,
    program: u32,
    count: i32,
    varyings: *const *const c_char,
    buffer_mode: u32,
) {
    let what = "glTransformFeedbackVaryings";
    let Some(n) = length(ctx, count, what) else { return };
    // A separate varying more than there are buffers is an error whatever the names are: they may not even be there.
    let most = ctx.get(gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS).map_or(0, |v| v.to_i32(0));
    if buffer_mode == gl::SEPARATE_ATTRIBS && count > most {
        ctx.record_error(gl::INVALID_VALUE, what);
        return;
    }
    // SAFETY: `n` terminated strings by the contract of the module.
    if let Some(varyings) = unsafe { texts(ctx, varyings, n, what) } {
        let varyings: Vec<&str> = varyings.iter().map(AsRef::as_ref).collect();
        ctx.transform_feedback_varyings(program, &varyings, buffer_mode);
    }
}

macro_rules! locations {
    ($($name:ident -> $ty:ty = $nothing:expr;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, program: u32, name: *const c_char) -> $ty {
                // SAFETY: a terminated string by the contract of the module.
                match unsafe { text(ctx, name, concat!(stringify!($name), ": null")) } {
                    Some(name) => ctx.$name(program, &name),
                    None => $nothing,
                }
            }
        )*
    };
}

locations! {
    get_attrib_location -> i32 = -1;
    get_uniform_location -> i32 = -1;
    get_frag_data_location -> i32 = -1;
    get_frag_data_index -> i32 = -1;
    get_uniform_block_index -> u32 = gl::INVALID_INDEX;
}

pub(crate) unsafe fn get_shaderiv(ctx: &mut Context, shader: u32, pname: u32, out: *mut i32) {
    let value = ctx.get_shader(shader, pname);
    // SAFETY: one value by the contract of the module.
    unsafe { answer(ctx, out, value, "glGetShaderiv: null") };
}

pub(crate) unsafe fn get_programiv(ctx: &mut Context, program: u32, pname: u32, out: *mut i32) {
    let values = ctx.get_program(program, pname);
    // SAFETY: as many values as the parameter has, by the contract of the module.
    unsafe { answers(ctx, out, values, Values::to_i32, "glGetProgramiv: null") };
}

macro_rules! texts_out {
    ($($name:ident($($arg:ident),+) $bytes:ident;)*) => {
        $(
            pub(crate) unsafe fn $name(
                ctx: &mut Context,
                $($arg: u32,)+
                capacity: i32,
                written: *mut i32,
                out: *mut c_char,
            ) {
                let what = concat!(stringify!($name), ": negative size");
                let Some(capacity) = length(ctx, capacity, what) else { return };
                if let Some(text) = ctx.$name($($arg),+) {
                    // SAFETY: `capacity` bytes and one length, each or null, by the contract of the module.
                    unsafe { write_text(out, capacity, written, text.$bytes()) };
                }
            }
        )*
    };
}

texts_out! {
    get_shader_info_log(shader) as_bytes;
    get_program_info_log(program) as_bytes;
    get_shader_source(shader) as_slice;
    get_active_uniform_name(program, index) as_bytes;
    get_active_uniform_block_name(program, index) as_bytes;
}

macro_rules! active {
    ($($name:ident;)*) => {
        $(
            pub(crate) unsafe fn $name(
                ctx: &mut Context,
                program: u32,
                index: u32,
                capacity: i32,
                written: *mut i32,
                size: *mut i32,
                type_: *mut u32,
                name: *mut c_char,
            ) {
                let what = concat!(stringify!($name), ": negative size");
                let Some(capacity) = length(ctx, capacity, what) else { return };
                let info: Option<ActiveInfo> = ctx.$name(program, index);
                if let Some(info) = info {
                    // SAFETY: `capacity` bytes and one variable each, or null, by the contract of the module.
                    unsafe {
                        write_text(name, capacity, written, info.name.as_bytes());
                        write_all(size, &[info.size]);
                        write_all(type_, &[info.type_]);
                    }
                }
            }
        )*
    };
}

active! {
    get_active_attrib;
    get_active_uniform;
    get_transform_feedback_varying;
}

pub(crate) unsafe fn get_attached_shaders(
    ctx: &mut Context,
    program: u32,
    max: i32,
    written: *mut i32,
    shaders: *mut u32,
) {
    let Some(max) = length(ctx, max, "glGetAttachedShaders: negative count") else { return };
    let Some(attached) = ctx.get_attached_shaders(program) else { return };
    let n = if shaders.is_null() { 0 } else { attached.len().min(max) };
    // SAFETY: room for `max` names and one count, or null, by the contract of the module.
    unsafe {
        write_all(shaders, attached.get(..n).unwrap_or_default());
        write_all(written, &[i32::try_from(n).unwrap_or(i32::MAX)]);
    }
}

pub(crate) unsafe fn get_active_uniformsiv(
    ctx: &mut Context,
    program: u32,
    count: i32,
    indices: *const u32,
    pname: u32,
    out: *mut i32,
) {
    let what = "glGetActiveUniformsiv";
    let Some(n) = length(ctx, count, what) else { return };
    // SAFETY: `n` indices by the contract of the module.
    let Some(indices) = (unsafe { input(ctx, indices, n, what) }) else { return };
    if let Some(values) = ctx.get_active_uniforms(program, &indices, pname) {
        if n > 0 && refuse_null(ctx, out.cast_const(), what) {
            return;
        }
        // SAFETY: `n` values by the contract of the module.
        unsafe { write_all(out, values.get(..n.min(values.len())).unwrap_or_default()) };
    }
}

pub(crate) unsafe fn get_active_uniform_blockiv(
    ctx: &mut Context,
    program: u32,
    index: u32,
    pname: u32,
    out: *mut i32,
) {
    let values = ctx.get_active_uniform_block(program, index, pname);
    // SAFETY: as many values as the parameter has, by the contract of the module.
    unsafe { answers(ctx, out, values, Values::to_i32, "glGetActiveUniformBlockiv: null") };
}

pub(crate) unsafe fn get_uniform_indices(
    ctx: &mut Context,
    program: u32,
    count: i32,
    names: *const *const c_char,
    indices: *mut u32,
) {
    let what = "glGetUniformIndices";
    let Some(n) = length(ctx, count, what) else { return };
    // SAFETY: `n` terminated strings by the contract of the module.
    let Some(names) = (unsafe { texts(ctx, names, n, what) }) else { return };
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    // SAFETY: room for `n` indices by the contract of the module.
    unsafe { output(ctx, indices, n, what, |ctx, out| ctx.get_uniform_indices(program, &names, out)) };
}
