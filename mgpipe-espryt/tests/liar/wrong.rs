//! Lies that render wrong without an error.

use crate::truth;
use std::ffi::{c_char, c_void, CStr, CString};

const CLAMP_TO_BORDER: i32 = 0x812D;
const CLAMP_TO_EDGE: i32 = 0x812F;
const UNSIGNED_SHORT: u32 = 0x1403;
const RED: u32 = 0x1903;
const FRAMEBUFFER_SRGB: u32 = 0x8DB9;
const DEPTH_CLAMP: u32 = 0x864F;
const EXTENSIONS: u32 = 0x1F03;
const NUM_EXTENSIONS: u32 = 0x821D;
const SRC1: [u32; 2] = [0x88F9, 0x8589];
const ONE: u32 = 1;
const DEPTH_COMPONENT: u32 = 0x1902;
const STENCIL_INDEX: u32 = 0x1901;
const RGBA32F: u32 = 0x8814;
const RGBA8: u32 = 0x8058;
const SRGB8_ALPHA8: u32 = 0x8C43;
const TEXTURE_MAX_LEVEL: u32 = 0x813D;

/// The function that stands for another one under a lie.
pub(crate) fn answer(lie: &str, function: &str) -> Option<*const c_void> {
    let plain = function.trim_end_matches("EXT").trim_end_matches("OES");
    Some(match (lie, plain) {
        ("border", "glSamplerParameteri") => border as *const c_void,
        ("norm16", "glTexSubImage2D") => eight_bits as *const c_void,
        ("srgb", "glEnable") => enable_no_srgb as *const c_void,
        ("srgb", "glDisable") => disable_no_srgb as *const c_void,
        ("clamp", "glEnable") => enable_no_clamp as *const c_void,
        ("clip" | "fetch", "glShaderSource") => source as *const c_void,
        ("dual", "glBlendFuncSeparate") => blend as *const c_void,
        ("texels", "glTexBufferRange") => nothing as *const c_void,
        ("indexed", "glColorMaski") => nothing as *const c_void,
        ("base", "glDrawElementsInstancedBaseVertex") => without_base as *const c_void,
        ("instance", "glDrawArraysInstancedBaseInstance") => without_instance as *const c_void,
        ("multi", "glMultiDrawArrays") => first_of_arrays as *const c_void,
        ("indirect", "glGetIntegerv") => one_extension_more as *const c_void,
        ("indirect", "glGetStringi") => extension as *const c_void,
        ("indirect", "glMultiDrawArraysIndirect") => first_record as *const c_void,
        ("indirect", "glMultiDrawElementsIndirect") => nothing as *const c_void,
        ("depth" | "stencil", "glReadPixels") => read_colours as *const c_void,
        ("float", "glTexStorage2D") => storage_of_bytes as *const c_void,
        ("view", "glTextureView") => same_view as *const c_void,
        ("mipmaps", "glGenerateMipmap") => all_levels as *const c_void,
        _ => return None,
    })
}

/// The driver's function of a name, which has the signature `F`, unless it is not there.
unsafe fn real<F: Copy>(name: &CStr) -> F {
    let found = truth(name);
    assert!(!found.is_null() && size_of::<F>() == size_of_val(&found));
    // SAFETY: the callers name the function whose signature they give.
    unsafe { std::mem::transmute_copy(&found) }
}

/// Declares a lie: the driver's function with other arguments. The caller's arguments are those of the function.
macro_rules! lies {
    ($($lie:ident = $real:literal ($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(unsafe extern "C" fn $lie($($arg: $ty),*) {
            type Function = unsafe extern "C" fn($($ty),*);
            let told = $body;
            let Some(($($arg,)*)) = told else { return };
            // SAFETY: the driver's function of that name, with arguments that it takes.
            unsafe { real::<Function>($real)($($arg),*) }
        })*
    };
}

lies! {
    border = c"glSamplerParameteri" (sampler: u32, name: u32, value: i32) {
        Some((sampler, name, if value == CLAMP_TO_BORDER { CLAMP_TO_EDGE } else { value }))
    }
    enable_no_srgb = c"glEnable" (what: u32) { Some((what,)).filter(|_| what != FRAMEBUFFER_SRGB) }
    disable_no_srgb = c"glDisable" (what: u32) { Some((what,)).filter(|_| what != FRAMEBUFFER_SRGB) }
    enable_no_clamp = c"glEnable" (what: u32) { Some((what,)).filter(|_| what != DEPTH_CLAMP) }
    blend = c"glBlendFuncSeparate" (src: u32, dst: u32, src_alpha: u32, dst_alpha: u32) {
        let one = |factor| if SRC1.contains(&factor) { ONE } else { factor };
        Some((one(src), one(dst), one(src_alpha), one(dst_alpha)))
    }
    without_base = c"glDrawElementsInstancedBaseVertex"
        (mode: u32, count: i32, ty: u32, offset: *const c_void, instances: i32, _base: i32) {
        Some((mode, count, ty, offset, instances, 0))
    }
    without_instance = c"glDrawArraysInstancedBaseInstanceEXT"
        (mode: u32, first: i32, count: i32, instances: i32, _base: u32) {
        Some((mode, first, count, instances, 0))
    }
    first_of_arrays = c"glMultiDrawArraysEXT" (mode: u32, first: *const i32, count: *const i32, draws: i32) {
        Some((mode, first, count, draws.min(1)))
    }
    read_colours = c"glReadPixels" (x: i32, y: i32, w: i32, h: i32, format: u32, ty: u32, data: *mut c_void) {
        let told = if crate::lie() == "depth" { DEPTH_COMPONENT } else { STENCIL_INDEX };
        Some((x, y, w, h, format, ty, data)).filter(|_| format != told)
    }
    storage_of_bytes = c"glTexStorage2D" (target: u32, levels: i32, format: u32, width: i32, height: i32) {
        Some((target, levels, if format == RGBA32F { RGBA8 } else { format }, width, height))
    }
    same_view = c"glTextureViewOES"
        (texture: u32, target: u32, origin: u32, format: u32, level: u32, levels: u32, layer: u32, layers: u32) {
        let format = if format == RGBA8 { SRGB8_ALPHA8 } else { format };
        Some((texture, target, origin, format, level, levels, layer, layers))
    }
    all_levels = c"glGenerateMipmap" (target: u32) {
        type Parameter = unsafe extern "C" fn(u32, u32, i32);
        // SAFETY: the driver's function of that name, with arguments that it takes.
        unsafe { real::<Parameter>(c"glTexParameteri")(target, TEXTURE_MAX_LEVEL, 1000) };
        Some((target,))
    }
}

extern "C" fn nothing() {}

unsafe extern "C" fn first_record(mode: u32, offset: *const c_void, _draws: i32, _stride: i32) {
    type Function = unsafe extern "C" fn(u32, *const c_void);
    // SAFETY: the driver's function of that name, with the first of the caller's records.
    unsafe { real::<Function>(c"glDrawArraysIndirect")(mode, offset) }
}

/// The extensions that the driver has, counted by itself.
fn extensions() -> i32 {
    type Function = unsafe extern "C" fn(u32, *mut i32);
    let mut count = 0;
    // SAFETY: the driver's function of that name, for a name with one value.
    unsafe { real::<Function>(c"glGetIntegerv")(NUM_EXTENSIONS, &mut count) };
    count
}

unsafe extern "C" fn one_extension_more(name: u32, values: *mut i32) {
    type Function = unsafe extern "C" fn(u32, *mut i32);
    // SAFETY: the driver's function of that name, with the caller's own arguments; the count is one value.
    unsafe {
        real::<Function>(c"glGetIntegerv")(name, values);
        if name == NUM_EXTENSIONS {
            *values += 1;
        }
    }
}

unsafe extern "C" fn extension(name: u32, index: u32) -> *const c_char {
    type Function = unsafe extern "C" fn(u32, u32) -> *const c_char;
    if name == EXTENSIONS && i64::from(index) >= i64::from(extensions()) {
        return c"GL_EXT_multi_draw_indirect".as_ptr();
    }
    // SAFETY: the driver's function of that name, with the caller's own arguments.
    unsafe { real::<Function>(c"glGetStringi")(name, index) }
}

#[allow(clippy::too_many_arguments)] // GL's own signature.
unsafe extern "C" fn eight_bits(
    target: u32,
    level: i32,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    format: u32,
    ty: u32,
    data: *const c_void,
) {
    type Function = unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    let count = usize::try_from(width * height).unwrap_or(0);
    let mut few: Vec<u16> = Vec::new();
    if (format, ty) == (RED, UNSIGNED_SHORT) && !data.is_null() {
        // SAFETY: the caller gives as many texels; those of the self-test lie side by side in memory.
        few.extend((0..count).map(|at| unsafe { data.cast::<u16>().add(at).read_unaligned() } & 0xff00));
    }
    let data = if few.is_empty() { data } else { few.as_ptr().cast() };
    // SAFETY: the driver's function of that name, with as many texels as the caller gave.
    unsafe { real::<Function>(c"glTexSubImage2D")(target, level, x, y, width, height, format, ty, data) }
}

/// The text of a shader that does not read the framebuffer, or that writes other distances.
unsafe extern "C" fn source(shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32) {
    type Function = unsafe extern "C" fn(u32, i32, *const *const c_char, *const i32);
    // SAFETY: the signature is that of the function.
    let function = unsafe { real::<Function>(c"glShaderSource") };
    let mut text = String::new();
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the caller gives as many texts, each of its length, and lengths for all.
        unsafe {
            let length = usize::try_from(*lengths.add(at)).unwrap_or(0);
            let bytes = std::slice::from_raw_parts((*texts.add(at)).cast::<u8>(), length);
            text += &String::from_utf8_lossy(bytes);
        }
    }
    let told = match crate::lie().as_str() {
        "fetch" => text.replace("inout vec4", "out vec4"),
        _ => text.replace("gl_ClipDistance", "lie_ClipDistance"),
    };
    let text = CString::new(told).unwrap_or_default();
    // SAFETY: the driver's function of that name, with one terminated text.
    unsafe { function(shader, 1, &text.as_ptr(), std::ptr::null()) }
}
