//! Block-compressed images: `glCompressedTex*`, decoding where a backend lacks the blocks, encoding where an application
//! hands plain pixels to a block format.

use std::sync::Arc;

use half::f16;
use mgpipe_types::{Box3, Format, Target};

use super::image::{check_area, check_block_alignment, check_format_for_target, command_name};
use super::target::image_target;
use super::{Extent, Image};
use crate::boundary::PixelData;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, out_of_memory, GlResult};
use crate::format::{Base, ResolvedFormat};
use crate::pixel::{unpack_image, ClientFormat, PixelStore};

const IMAGE: [&str; 3] = ["glCompressedTexImage1D", "glCompressedTexImage2D", "glCompressedTexImage3D"];
const SUB_IMAGE: [&str; 3] = ["glCompressedTexSubImage1D", "glCompressedTexSubImage2D", "glCompressedTexSubImage3D"];

/// Storage format of the texels that [`decode`] makes; `None` for a block format that it does not know.
pub(crate) fn decoded_format(blocks: Format) -> Option<Format> {
    Some(match blocks {
        Format::BC1_RGB | Format::BC1_RGBA | Format::BC2 | Format::BC3 | Format::BC7_UNORM => Format::RGBA8_UNORM,
        Format::BC1_RGB_SRGB | Format::BC1_RGBA_SRGB | Format::BC2_SRGB | Format::BC3_SRGB | Format::BC7_SRGB => {
            Format::RGBA8_SRGB
        }
        Format::BC4_UNORM => Format::R8_UNORM,
        Format::BC4_SNORM => Format::R8_SNORM,
        Format::BC5_UNORM => Format::RG8_UNORM,
        Format::BC5_SNORM => Format::RG8_SNORM,
        Format::BC6H_UFLOAT | Format::BC6H_SFLOAT => Format::RGBA16_FLOAT,
        _ => return None,
    })
}

fn snorm(value: f32) -> u8 {
    ((value.clamp(-1.0, 1.0) * 127.0).round() as i8) as u8
}

/// Decodes one block into 16 texels of at most 8 bytes.
fn decode_block(blocks: Format, block: &[u8], out: &mut [[u8; 8]; 16]) {
    let mut rgba = [0u8; 64];
    let opaque = matches!(blocks, Format::BC1_RGB | Format::BC1_RGB_SRGB);
    match blocks {
        Format::BC1_RGB | Format::BC1_RGBA | Format::BC1_RGB_SRGB | Format::BC1_RGBA_SRGB => {
            bcdec_rs::bc1(block, &mut rgba, 16)
        }
        Format::BC2 | Format::BC2_SRGB => bcdec_rs::bc2(block, &mut rgba, 16),
        Format::BC3 | Format::BC3_SRGB => bcdec_rs::bc3(block, &mut rgba, 16),
        Format::BC7_UNORM | Format::BC7_SRGB => bcdec_rs::bc7(block, &mut rgba, 16),
        Format::BC4_UNORM | Format::BC4_SNORM => {
            let signed = blocks == Format::BC4_SNORM;
            let mut values = [0f32; 16];
            bcdec_rs::bc4_float(block, &mut values, 4, signed);
            for (texel, v) in out.iter_mut().zip(values) {
                texel[0] = if signed { snorm(v) } else { (v.clamp(0.0, 1.0) * 255.0).round() as u8 };
            }
            return;
        }
        Format::BC5_UNORM | Format::BC5_SNORM => {
            let signed = blocks == Format::BC5_SNORM;
            let mut values = [0f32; 32];
            bcdec_rs::bc5_float(block, &mut values, 8, signed);
            for (texel, pair) in out.iter_mut().zip(values.chunks_exact(2)) {
                for (byte, &v) in texel.iter_mut().zip(pair) {
                    *byte = if signed { snorm(v) } else { (v.clamp(0.0, 1.0) * 255.0).round() as u8 };
                }
            }
            return;
        }
        Format::BC6H_UFLOAT | Format::BC6H_SFLOAT => {
            let mut halves = [0u16; 48];
            bcdec_rs::bc6h_half(block, &mut halves, 12, blocks == Format::BC6H_SFLOAT);
            for (texel, rgb) in out.iter_mut().zip(halves.chunks_exact(3)) {
                for (to, half) in texel.chunks_exact_mut(2).zip(rgb.iter().copied().chain([f16::ONE.to_bits()])) {
                    to.copy_from_slice(&half.to_le_bytes());
                }
            }
            return;
        }
        _ => return,
    }
    for (texel, bytes) in out.iter_mut().zip(rgba.chunks_exact(4)) {
        texel[..4].copy_from_slice(bytes);
        if opaque {
            texel[3] = 255;
        }
    }
}

/// Decodes tight blocks to tight texels of [`decoded_format`]. `None` for unknown formats and short data.
pub(crate) fn decode(blocks: Format, size: [u32; 3], data: &[u8]) -> Option<Vec<u8>> {
    let texel = decoded_format(blocks)?.desc().block_bytes as usize;
    let desc = blocks.desc();
    let [width, height, depth] = size.map(|v| v as usize);
    if (data.len() as u64) < desc.image_bytes(size[0], size[1], size[2])? {
        return None;
    }
    let total = width.checked_mul(height)?.checked_mul(depth)?.checked_mul(texel)?;
    let mut out = Vec::new();
    out.try_reserve_exact(total).ok()?;
    out.resize(total, 0);
    let columns = width.div_ceil(4);
    let rows = height.div_ceil(4);
    let mut texels = [[0u8; 8]; 16];
    for (index, block) in data.chunks_exact(desc.block_bytes as usize).take(columns * rows * depth).enumerate() {
        let (bx, by, z) = (index % columns * 4, index / columns % rows * 4, index / (columns * rows));
        decode_block(blocks, block, &mut texels);
        for (i, bytes) in texels.iter().enumerate() {
            let (x, y) = (bx + i % 4, by + i / 4);
            if x < width && y < height {
                let at = ((z * height + y) * width + x) * texel;
                out[at..at + texel].copy_from_slice(&bytes[..texel]);
            }
        }
    }
    Some(out)
}

/// The encoder for a block format, and whether its values are signed. `None` for formats that MGL cannot encode.
pub(super) fn encoder(blocks: Format) -> Option<(texpresso::Format, bool)> {
    use texpresso::Format as Bc;
    Some(match blocks {
        Format::BC1_RGB | Format::BC1_RGBA | Format::BC1_RGB_SRGB | Format::BC1_RGBA_SRGB => (Bc::Bc1, false),
        Format::BC2 | Format::BC2_SRGB => (Bc::Bc2, false),
        Format::BC3 | Format::BC3_SRGB => (Bc::Bc3, false),
        Format::BC4_UNORM => (Bc::Bc4, false),
        Format::BC4_SNORM => (Bc::Bc4, true),
        Format::BC5_UNORM => (Bc::Bc5, false),
        Format::BC5_SNORM => (Bc::Bc5, true),
        _ => return None,
    })
}

/// Encodes RGBA8 texels (signed formats: biased by 128). `None` for formats that MGL cannot encode.
fn encode(blocks: Format, size: [u32; 3], rgba: &[u8]) -> Option<Vec<u8>> {
    let (encoder, signed) = encoder(blocks)?;
    let [width, height, depth] = size.map(|v| v as usize);
    let slice_in = width.checked_mul(height)?.checked_mul(4)?;
    let slice_out = encoder.compressed_size(width, height);
    let mut out = vec![0; slice_out.checked_mul(depth)?];
    if slice_in == 0 {
        return Some(out);
    }
    for (from, to) in rgba.chunks_exact(slice_in).zip(out.chunks_exact_mut(slice_out)) {
        encoder.compress(from, width, height, texpresso::Params::default(), to);
    }
    if signed {
        // The two endpoints of each 8-byte half are biased as the texels were; their order, which selects the
        // interpolation, is the same signed as unsigned.
        for half in out.chunks_exact_mut(8) {
            half[0] = half[0].wrapping_sub(128);
            half[1] = half[1].wrapping_sub(128);
        }
    }
    Some(out)
}

/// Turns plain pixels into what a block-compressed image is stored as: blocks, or the texels that the blocks decode to.
pub(super) fn compress(
    internal: &ResolvedFormat,
    client: &ClientFormat,
    store: &PixelStore,
    dims: u32,
    size: [u32; 3],
    data: &[u8],
) -> Option<Vec<u8>> {
    let blocks = internal.info.blocks()?;
    let signed = matches!(blocks, Format::BC4_SNORM | Format::BC5_SNORM);
    let format = if signed { Format::RGBA8_SNORM } else { Format::RGBA8_UNORM };
    let base = if internal.info.base == Base::Rgb { Base::Rgb } else { Base::Rgba };
    let mut texels = unpack_image(client, store, dims, size, data, format, base)?;
    if signed {
        for byte in &mut texels {
            *byte = (*byte as i8).max(-127).wrapping_add(-128i8) as u8;
        }
    }
    let encoded = encode(blocks, size, &texels)?;
    to_storage(internal, size, &encoded)
}

/// What blocks are stored as.
fn to_storage(internal: &ResolvedFormat, size: [u32; 3], blocks: &[u8]) -> Option<Vec<u8>> {
    if internal.decoded {
        decode(internal.info.blocks()?, size, blocks)
    } else {
        Some(blocks.to_vec())
    }
}

/// Encodes decoded storage texels again, for a query of blocks that were not kept.
pub(super) fn encode_storage(blocks: Format, size: [u32; 3], storage: Format, texels: &[u8]) -> Option<Vec<u8>> {
    let shape = crate::pixel::Shape::of_storage(storage)?;
    let signed = matches!(blocks, Format::BC4_SNORM | Format::BC5_SNORM);
    let wanted = if signed { Format::RGBA8_SNORM } else { Format::RGBA8_UNORM };
    let row = crate::pixel::decode_row(&shape, texels, false);
    let mut rgba = vec![0; size.iter().map(|&v| v as usize).product::<usize>() * 4];
    crate::pixel::encode_row(&crate::pixel::Shape::of_storage(wanted)?, &row, &mut rgba, false);
    if signed {
        for byte in &mut rgba {
            *byte = (*byte as i8).max(-127).wrapping_add(-128i8) as u8;
        }
    }
    encode(blocks, size, &rgba)
}

impl Context {
    /// Whether compressed uploads read from a pixel unpack buffer.
    pub fn compressed_unpack_is_buffer(&mut self) -> bool {
        self.state.buffers.pixel_unpack.is_some()
    }

    fn block_format(&self, internal_format: u32, command: &'static str) -> GlResult<ResolvedFormat> {
        let found = self.state.share.formats.get(internal_format).copied();
        found
            .filter(|f| f.info.is_compressed())
            .ok_or_else(|| invalid_enum(format!("{command}: {internal_format:#x} is no specific compressed format")))
    }

    /// `glCompressedTexImage1D`, `2D` and `3D`.
    pub fn compressed_tex_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        internalformat: u32,
        size: [i32; 3],
        border: i32,
        image_size: i32,
        data: PixelData<'_>,
    ) {
        let command = command_name(dims, IMAGE);
        self.gl(|ctx| {
            let at = image_target(dims, target).ok_or_else(|| invalid_enum(format!("{command}: target")))?;
            if at.target == Target::TexRect {
                return Err(invalid_enum(format!("{command}: rectangle textures take no block formats")));
            }
            let internal = ctx.block_format(internalformat, command)?;
            let level = ctx.state.check_level(at.target, level, command)?;
            if border != 0 {
                return Err(invalid_value(format!("{command}: border")));
            }
            let extent = ctx.state.check_image_size(&at, level, size, command)?;
            check_format_for_target(&internal, at.target, command)?;
            let Some(blocks) = internal.info.blocks() else { return Ok(()) };
            // Also a proxy that is too large has a size that the data have to have.
            let sizes = size.map(|v| u32::try_from(v).unwrap_or(0));
            let sizes = extent.map_or(sizes, |extent| extent.sizes());
            let wanted = blocks.desc().image_bytes(sizes[0], sizes[1], sizes[2]);
            if let Some(wanted) = wanted {
                if u64::try_from(image_size).ok() != Some(wanted) {
                    return Err(invalid_value(format!(
                        "{command}: imageSize {image_size}, the image has {wanted} bytes"
                    )));
                }
            }
            if at.proxy {
                ctx.state.textures.set_proxy(at.target, level, extent.map(|e| Image::new(&internal, e)));
                return Ok(());
            }
            let Some(extent) = extent else { return Ok(()) };
            let texture = ctx.state.current_texture(at.target)?;
            if texture.lock().immutable_levels != 0 {
                return Err(invalid_operation(format!("{command}: the texture is immutable")));
            }
            let source = ctx.bytes_of_source(data, image_size.max(0) as usize, 1, command)?;
            let mut image = Image::new(&internal, extent);
            if let Some(bytes) = source.filter(|_| !extent.is_empty()) {
                let bytes = &bytes[..image_size.max(0) as usize];
                let texels = to_storage(&internal, extent.sizes(), bytes)
                    .ok_or_else(|| out_of_memory(format!("{command}: decoding")))?;
                image.add_texels(Box3::sized(extent.width, extent.height, extent.depth), texels);
                if internal.decoded {
                    image.blocks = Some(Arc::from(bytes));
                }
            }
            ctx.install_image(&texture, at.face, level, image);
            Ok(())
        });
    }

    /// `glCompressedTexSubImage1D`, `2D` and `3D`.
    pub fn compressed_tex_sub_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        offset: [i32; 3],
        size: [i32; 3],
        format: u32,
        image_size: i32,
        data: PixelData<'_>,
    ) {
        let command = command_name(dims, SUB_IMAGE);
        self.gl(|ctx| {
            let at = image_target(dims, target)
                .filter(|at| !at.proxy && at.target != Target::TexRect)
                .ok_or_else(|| invalid_enum(format!("{command}: target")))?;
            let internal = ctx.block_format(format, command)?;
            let level = ctx.state.check_level(at.target, level, command)?;
            let texture = ctx.state.current_texture(at.target)?;
            let area = {
                let inner = texture.lock();
                let image = inner
                    .image(at.face, level)
                    .ok_or_else(|| invalid_operation(format!("{command}: the level was never specified")))?;
                if image.format.info.gl != format {
                    return Err(invalid_operation(format!("{command}: the image has another format")));
                }
                let area = check_area(image.extent, offset, size, command)?;
                check_block_alignment(image, &area, command)?;
                area
            };
            let Some(blocks) = internal.info.blocks() else { return Ok(()) };
            let sizes = [area.width, area.height, area.depth];
            let wanted = blocks.desc().image_bytes(sizes[0], sizes[1], sizes[2]);
            if u64::try_from(image_size).ok() != wanted {
                return Err(invalid_value(format!("{command}: imageSize {image_size}")));
            }
            let len = image_size.max(0) as usize;
            let Some(bytes) = ctx.bytes_of_source(data, len, 1, command)? else { return Ok(()) };
            if sizes.contains(&0) {
                return Ok(());
            }
            let texels = to_storage(&internal, sizes, &bytes[..len])
                .ok_or_else(|| out_of_memory(format!("{command}: decoding")))?;
            ctx.add_texels(&texture, at.face, level, area, texels);
            Ok(())
        });
    }
}

/// Extent of an image in blocks, for size arithmetic of queries.
pub(super) fn image_bytes(blocks: Format, extent: Extent) -> usize {
    blocks.desc().image_bytes(extent.width, extent.height, extent.depth).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_colour_survives_every_encoder() {
        let rgba: Vec<u8> = [200u8, 100, 50, 255].repeat(6 * 5);
        for (blocks, components, tolerance) in [
            (Format::BC1_RGBA, 3, 8),
            (Format::BC2, 4, 8),
            (Format::BC3, 4, 8),
            (Format::BC4_UNORM, 1, 1),
            (Format::BC5_UNORM, 2, 1),
        ] {
            let encoded = encode(blocks, [6, 5, 1], &rgba).expect("encodes");
            assert_eq!(encoded.len() as u64, blocks.desc().image_bytes(6, 5, 1).expect("small"));
            let decoded = decode(blocks, [6, 5, 1], &encoded).expect("decodes");
            let texel = decoded_format(blocks).expect("known").desc().block_bytes as usize;
            for pixel in decoded.chunks_exact(texel) {
                for (a, b) in pixel.iter().zip([200u8, 100, 50, 255]).take(components) {
                    assert!(a.abs_diff(b) <= tolerance, "{blocks:?} {pixel:?}");
                }
            }
        }
    }

    #[test]
    fn signed_blocks_keep_their_sign() {
        for value in [-100i8, -1, 0, 77, 127] {
            let biased = vec![value.wrapping_add(-128) as u8; 64];
            let encoded = encode(Format::BC4_SNORM, [4, 4, 1], &biased).expect("encodes");
            let decoded = decode(Format::BC4_SNORM, [4, 4, 1], &encoded).expect("decodes");
            for &byte in &decoded {
                assert!((byte as i8).abs_diff(value) <= 1, "{} for {value}", byte as i8);
            }
        }
    }

    #[test]
    fn short_data_is_refused() {
        assert!(decode(Format::BC1_RGB, [8, 8, 1], &[0; 31]).is_none());
        assert!(decode(Format::RGBA8_UNORM, [1, 1, 1], &[0; 4]).is_none());
    }
}
