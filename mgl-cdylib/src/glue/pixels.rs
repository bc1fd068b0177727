//! Texture images, read-backs and compressed images.

use std::ffi::c_void;

use super::memory::{bytes, bytes_mut};
use crate::front::{Context, PixelData, PixelDest};

/// The source of an upload of `size` texels.
///
/// # Safety
///
/// `pointer` is null, an offset into the bound unpack buffer, or points to as many bytes as the unpack state says.
unsafe fn source<'a>(
    ctx: &mut Context,
    dims: u32,
    size: [i32; 3],
    format: u32,
    type_: u32,
    pointer: *const c_void,
) -> PixelData<'a> {
    match ctx.unpack_bytes(dims, size, format, type_) {
        None => PixelData::Buffer(pointer as usize),
        Some(_) if pointer.is_null() => PixelData::None,
        // SAFETY: `n` bytes by the contract; the pointer is not null.
        Some(n) => unsafe { bytes(ctx, pointer.cast(), n, "pixels") }.map_or(PixelData::None, PixelData::Client),
    }
}

/// The source of a compressed upload of `n` bytes.
///
/// # Safety
///
/// `pointer` is null, an offset into the bound unpack buffer, or points to `n` bytes.
unsafe fn compressed_source<'a>(ctx: &mut Context, n: i32, pointer: *const c_void) -> PixelData<'a> {
    if ctx.compressed_unpack_is_buffer() {
        return PixelData::Buffer(pointer as usize);
    }
    if pointer.is_null() {
        return PixelData::None;
    }
    // A negative size is an error that the frontend raises; nothing is read for it.
    let n = usize::try_from(n).unwrap_or(0);
    // SAFETY: `n` bytes by the contract; the pointer is not null.
    unsafe { bytes(ctx, pointer.cast(), n, "data") }.map_or(PixelData::None, PixelData::Client)
}

/// The destination of a read-back: `n` is what the frontend said, `None` for a bound pack buffer. `None` when the
/// application passed a null pointer.
///
/// # Safety
///
/// `pointer` is null, an offset into the bound pack buffer, or points to `n` writable bytes.
unsafe fn destination<'a>(
    ctx: &mut Context,
    n: Option<usize>,
    pointer: *mut c_void,
    what: &str,
) -> Option<PixelDest<'a>> {
    match n {
        None => Some(PixelDest::Buffer(pointer as usize)),
        // SAFETY: `n` bytes by the contract, null is refused.
        Some(n) => unsafe { bytes_mut(ctx, pointer.cast(), n, what) }.map(PixelDest::Client),
    }
}

macro_rules! images {
    ($($image:ident $sub_image:ident $compressed:ident $compressed_sub:ident: $dims:literal
        ($($side:ident),+; $($offset:ident),+) [$w:expr, $h:expr, $d:expr] [$x:expr, $y:expr, $z:expr];)*) => {
        $(
            pub(crate) unsafe fn $image(
                ctx: &mut Context,
                target: u32,
                level: i32,
                internalformat: i32,
                $($side: i32,)+
                border: i32,
                format: u32,
                type_: u32,
                pixels: *const c_void,
            ) {
                let size = [$w, $h, $d];
                // SAFETY: by the contract of the module.
                let pixels = unsafe { source(ctx, $dims, size, format, type_, pixels) };
                ctx.tex_image($dims, target, level, internalformat, size, border, format, type_, pixels);
            }

            pub(crate) unsafe fn $sub_image(
                ctx: &mut Context,
                target: u32,
                level: i32,
                $($offset: i32,)+
                $($side: i32,)+
                format: u32,
                type_: u32,
                pixels: *const c_void,
            ) {
                let size = [$w, $h, $d];
                // SAFETY: by the contract of the module.
                let pixels = unsafe { source(ctx, $dims, size, format, type_, pixels) };
                ctx.tex_sub_image($dims, target, level, [$x, $y, $z], size, format, type_, pixels);
            }

            pub(crate) unsafe fn $compressed(
                ctx: &mut Context,
                target: u32,
                level: i32,
                internalformat: u32,
                $($side: i32,)+
                border: i32,
                image_size: i32,
                data: *const c_void,
            ) {
                // SAFETY: by the contract of the module.
                let data = unsafe { compressed_source(ctx, image_size, data) };
                let size = [$w, $h, $d];
                ctx.compressed_tex_image($dims, target, level, internalformat, size, border, image_size, data);
            }

            pub(crate) unsafe fn $compressed_sub(
                ctx: &mut Context,
                target: u32,
                level: i32,
                $($offset: i32,)+
                $($side: i32,)+
                format: u32,
                image_size: i32,
                data: *const c_void,
            ) {
                // SAFETY: by the contract of the module.
                let data = unsafe { compressed_source(ctx, image_size, data) };
                let (offset, size) = ([$x, $y, $z], [$w, $h, $d]);
                ctx.compressed_tex_sub_image($dims, target, level, offset, size, format, image_size, data);
            }
        )*
    };
}

images! {
    tex_image_1d tex_sub_image_1d compressed_tex_image_1d compressed_tex_sub_image_1d: 1
        (width; xoffset) [width, 1, 1] [xoffset, 0, 0];
    tex_image_2d tex_sub_image_2d compressed_tex_image_2d compressed_tex_sub_image_2d: 2
        (width, height; xoffset, yoffset) [width, height, 1] [xoffset, yoffset, 0];
    tex_image_3d tex_sub_image_3d compressed_tex_image_3d compressed_tex_sub_image_3d: 3
        (width, height, depth; xoffset, yoffset, zoffset) [width, height, depth] [xoffset, yoffset, zoffset];
}

pub(crate) unsafe fn read_pixels(
    ctx: &mut Context,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    format: u32,
    type_: u32,
    pixels: *mut c_void,
) {
    let n = ctx.pack_bytes(2, [width, height, 1], format, type_);
    // SAFETY: by the contract of the module.
    if let Some(dest) = unsafe { destination(ctx, n, pixels, "glReadPixels: null") } {
        ctx.read_pixels(x, y, width, height, format, type_, dest);
    }
}

pub(crate) unsafe fn get_tex_image(
    ctx: &mut Context,
    target: u32,
    level: i32,
    format: u32,
    type_: u32,
    pixels: *mut c_void,
) {
    let n = ctx.tex_image_pack_bytes(target, level, format, type_);
    // SAFETY: by the contract of the module.
    if let Some(dest) = unsafe { destination(ctx, n, pixels, "glGetTexImage: null") } {
        ctx.get_tex_image(target, level, format, type_, dest);
    }
}

pub(crate) unsafe fn get_compressed_tex_image(ctx: &mut Context, target: u32, level: i32, img: *mut c_void) {
    let n = ctx.compressed_tex_image_pack_bytes(target, level);
    // SAFETY: by the contract of the module.
    if let Some(dest) = unsafe { destination(ctx, n, img, "glGetCompressedTexImage: null") } {
        ctx.get_compressed_tex_image(target, level, dest);
    }
}
