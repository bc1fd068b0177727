//! Texel formats: how the driver stores them and how their bytes travel.

use crate::features::Features;
use mgpipe_types::{format_caps, gl, Format, FormatKind};

/// How texels of a format go to the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transfer {
    /// Sized internal format.
    pub(crate) internal: u32,
    /// Format of uploads.
    pub(crate) format: u32,
    /// Type of uploads; 0 for compressed formats.
    pub(crate) ty: u32,
    /// How bytes differ from the pipe's layout.
    pub(crate) swap: Swap,
}

/// What is done to a 32-bit word between the pipe's layout and the driver's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Swap {
    /// Nothing.
    None,
    /// 24 bits of depth in the low bits become a normalised 32-bit integer.
    Depth24,
    /// Depth in the low 24 bits and stencil above become `UNSIGNED_INT_24_8`.
    Depth24Stencil8,
}

impl Swap {
    /// The driver's word of the pipe's.
    pub(crate) fn out(self, word: u32) -> u32 {
        match self {
            Swap::None => word,
            Swap::Depth24 => word << 8 | (word >> 16 & 0xff),
            Swap::Depth24Stencil8 => word.rotate_left(8),
        }
    }
}

/// How a format is stored; `None` when OpenGL ES has nothing with its layout.
pub(crate) fn transfer(format: Format) -> Option<Transfer> {
    use Format as F;
    let plain = |internal, format, ty| Some(Transfer { internal, format, ty, swap: Swap::None });
    let compressed = |internal| plain(internal, internal, 0);
    let (r, rg, rgba) = (gl::RED, gl::RG, gl::RGBA);
    let (ri, rgi, rgbai) = (gl::RED_INTEGER, gl::RG_INTEGER, gl::RGBA_INTEGER);
    let (ub, sb, us, ss) = (gl::UNSIGNED_BYTE, gl::BYTE, gl::UNSIGNED_SHORT, gl::SHORT);
    let (ui, si, hf, fl) = (gl::UNSIGNED_INT, gl::INT, gl::HALF_FLOAT, gl::FLOAT);
    match format {
        F::R8_UNORM => plain(gl::R8, r, ub),
        F::R8_SNORM => plain(gl::R8_SNORM, r, sb),
        F::R8_UINT => plain(gl::R8UI, ri, ub),
        F::R8_SINT => plain(gl::R8I, ri, sb),
        F::R16_UNORM => plain(gl::R16, r, us),
        F::R16_SNORM => plain(gl::R16_SNORM, r, ss),
        F::R16_UINT => plain(gl::R16UI, ri, us),
        F::R16_SINT => plain(gl::R16I, ri, ss),
        F::R16_FLOAT => plain(gl::R16F, r, hf),
        F::R32_UINT => plain(gl::R32UI, ri, ui),
        F::R32_SINT => plain(gl::R32I, ri, si),
        F::R32_FLOAT => plain(gl::R32F, r, fl),
        F::RG8_UNORM => plain(gl::RG8, rg, ub),
        F::RG8_SNORM => plain(gl::RG8_SNORM, rg, sb),
        F::RG8_UINT => plain(gl::RG8UI, rgi, ub),
        F::RG8_SINT => plain(gl::RG8I, rgi, sb),
        F::RG16_UNORM => plain(gl::RG16, rg, us),
        F::RG16_SNORM => plain(gl::RG16_SNORM, rg, ss),
        F::RG16_UINT => plain(gl::RG16UI, rgi, us),
        F::RG16_SINT => plain(gl::RG16I, rgi, ss),
        F::RG16_FLOAT => plain(gl::RG16F, rg, hf),
        F::RG32_UINT => plain(gl::RG32UI, rgi, ui),
        F::RG32_SINT => plain(gl::RG32I, rgi, si),
        F::RG32_FLOAT => plain(gl::RG32F, rg, fl),
        F::RGBA8_UNORM => plain(gl::RGBA8, rgba, ub),
        F::RGBA8_SNORM => plain(gl::RGBA8_SNORM, rgba, sb),
        F::RGBA8_UINT => plain(gl::RGBA8UI, rgbai, ub),
        F::RGBA8_SINT => plain(gl::RGBA8I, rgbai, sb),
        F::RGBA16_UNORM => plain(gl::RGBA16, rgba, us),
        F::RGBA16_SNORM => plain(gl::RGBA16_SNORM, rgba, ss),
        F::RGBA16_UINT => plain(gl::RGBA16UI, rgbai, us),
        F::RGBA16_SINT => plain(gl::RGBA16I, rgbai, ss),
        F::RGBA16_FLOAT => plain(gl::RGBA16F, rgba, hf),
        F::RGBA32_UINT => plain(gl::RGBA32UI, rgbai, ui),
        F::RGBA32_SINT => plain(gl::RGBA32I, rgbai, si),
        F::RGBA32_FLOAT => plain(gl::RGBA32F, rgba, fl),
        F::RGBA8_SRGB => plain(gl::SRGB8_ALPHA8, rgba, ub),
        F::RGB565_UNORM => plain(gl::RGB565, gl::RGB, gl::UNSIGNED_SHORT_5_6_5),
        F::RGBA4_UNORM => plain(gl::RGBA4, rgba, gl::UNSIGNED_SHORT_4_4_4_4),
        F::RGB5A1_UNORM => plain(gl::RGB5_A1, rgba, gl::UNSIGNED_SHORT_5_5_5_1),
        F::RGB10A2_UNORM => plain(gl::RGB10_A2, rgba, gl::UNSIGNED_INT_2_10_10_10_REV),
        F::RGB10A2_UINT => plain(gl::RGB10_A2UI, rgbai, gl::UNSIGNED_INT_2_10_10_10_REV),
        F::R11G11B10_FLOAT => plain(gl::R11F_G11F_B10F, gl::RGB, gl::UNSIGNED_INT_10F_11F_11F_REV),
        F::RGB9E5_FLOAT => plain(gl::RGB9_E5, gl::RGB, gl::UNSIGNED_INT_5_9_9_9_REV),
        F::D16_UNORM => plain(gl::DEPTH_COMPONENT16, gl::DEPTH_COMPONENT, us),
        F::D24_UNORM_X8 => {
            let (internal, format) = (gl::DEPTH_COMPONENT24, gl::DEPTH_COMPONENT);
            Some(Transfer { internal, format, ty: ui, swap: Swap::Depth24 })
        }
        F::D32_FLOAT => plain(gl::DEPTH_COMPONENT32F, gl::DEPTH_COMPONENT, fl),
        F::D24_UNORM_S8 => {
            let (internal, format) = (gl::DEPTH24_STENCIL8, gl::DEPTH_STENCIL);
            Some(Transfer { internal, format, ty: gl::UNSIGNED_INT_24_8, swap: Swap::Depth24Stencil8 })
        }
        F::D32_FLOAT_S8 => plain(gl::DEPTH32F_STENCIL8, gl::DEPTH_STENCIL, gl::FLOAT_32_UNSIGNED_INT_24_8_REV),
        F::S8_UINT => plain(gl::STENCIL_INDEX8, gl::STENCIL_INDEX, ub),
        F::BC1_RGB
        | F::BC1_RGBA
        | F::BC2
        | F::BC3
        | F::BC4_UNORM
        | F::BC4_SNORM
        | F::BC5_UNORM
        | F::BC5_SNORM
        | F::BC6H_UFLOAT
        | F::BC6H_SFLOAT
        | F::BC7_UNORM
        | F::BC7_SRGB
        | F::ETC2_RGB8
        | F::ETC2_RGB8_SRGB
        | F::ETC2_RGB8A1
        | F::ETC2_RGB8A1_SRGB
        | F::ETC2_RGBA8
        | F::ETC2_RGBA8_SRGB
        | F::EAC_R11_UNORM
        | F::EAC_R11_SNORM
        | F::EAC_RG11_UNORM
        | F::EAC_RG11_SNORM => compressed(format.desc().gl),
        // EXT_texture_compression_s3tc_srgb.
        F::BC1_RGB_SRGB => compressed(0x8C4C),
        F::BC1_RGBA_SRGB => compressed(0x8C4D),
        F::BC2_SRGB => compressed(0x8C4E),
        F::BC3_SRGB => compressed(0x8C4F),
        _ => None,
    }
}

/// Whether the driver's extensions have the format at all, before it is tried.
pub(crate) fn is_known(has: &Features, format: Format) -> bool {
    use Format as F;
    match format {
        F::R16_UNORM | F::RG16_UNORM | F::RGBA16_UNORM | F::R16_SNORM | F::RG16_SNORM | F::RGBA16_SNORM => has.norm16,
        F::S8_UINT => has.stencil_texture,
        F::BC1_RGB | F::BC1_RGBA | F::BC2 | F::BC3 => has.s3tc,
        F::BC1_RGB_SRGB | F::BC1_RGBA_SRGB | F::BC2_SRGB | F::BC3_SRGB => has.s3tc && has.s3tc_srgb,
        F::BC4_UNORM | F::BC4_SNORM | F::BC5_UNORM | F::BC5_SNORM => has.rgtc,
        F::BC6H_UFLOAT | F::BC6H_SFLOAT | F::BC7_UNORM | F::BC7_SRGB => has.bptc,
        _ => transfer(format).is_some(),
    }
}

/// Whether linear filtering works.
pub(crate) fn is_filterable(has: &Features, format: Format) -> bool {
    if format.is_integer() || format.is_depth_stencil() {
        return false;
    }
    let desc = format.desc();
    desc.kind != FormatKind::Float || desc.bits[0] != 32 || has.float_linear
}

/// Whether a buffer texture may have the format.
pub(crate) fn is_texel_format(format: Format) -> bool {
    use Format as F;
    matches!(
        format,
        F::R8_UNORM
            | F::R8_UINT
            | F::R8_SINT
            | F::R16_UINT
            | F::R16_SINT
            | F::R16_FLOAT
            | F::R32_UINT
            | F::R32_SINT
            | F::R32_FLOAT
            | F::RG8_UNORM
            | F::RG8_UINT
            | F::RG8_SINT
            | F::RG16_UINT
            | F::RG16_SINT
            | F::RG16_FLOAT
            | F::RG32_UINT
            | F::RG32_SINT
            | F::RG32_FLOAT
            | F::RGBA8_UNORM
            | F::RGBA8_UINT
            | F::RGBA8_SINT
            | F::RGBA16_UINT
            | F::RGBA16_SINT
            | F::RGBA16_FLOAT
            | F::RGBA32_UINT
            | F::RGBA32_SINT
            | F::RGBA32_FLOAT
    )
}

/// Caps of a format from what trying it has shown.
pub(crate) fn caps_bits(has: &Features, format: Format, renderable: bool, samples: u32) -> u32 {
    let mut bits = format_caps::SAMPLED | format_caps::VERTEX;
    if is_filterable(has, format) || format.has_depth() {
        bits |= format_caps::FILTER_LINEAR;
    }
    if renderable {
        bits |= if format.is_depth_stencil() {
            format_caps::DEPTH_STENCIL
        } else if format.is_integer() {
            format_caps::COLOR_ATTACHMENT
        } else {
            format_caps::COLOR_ATTACHMENT | format_caps::BLEND
        };
        bits |= samples << format_caps::SAMPLES_SHIFT;
    }
    bits |= format_caps::BLIT_SRC | format_caps::BLIT_DST;
    if has.texture_buffer && is_texel_format(format) {
        bits |= format_caps::TEXEL_BUFFER;
    }
    bits
}

/// How a clear or a read-back treats the components.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    /// Floats, normalised formats included.
    Float,
    Sint,
    Uint,
}

/// Class of a colour format.
pub(crate) fn class(format: Format) -> Class {
    match format.desc().kind {
        FormatKind::Sint => Class::Sint,
        FormatKind::Uint => Class::Uint,
        _ => Class::Float,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_words_change_places_and_keep_their_range() {
        assert_eq!(Swap::Depth24.out(0), 0);
        assert_eq!(Swap::Depth24.out(0xff_ffff), u32::MAX);
        assert_eq!(Swap::Depth24Stencil8.out(0xab12_3456), 0x1234_56ab);
    }

    #[test]
    fn every_transfer_names_an_internal_format() {
        let known = Format::ALL.iter().filter(|f| transfer(**f).is_some()).count();
        assert!(known > 60, "{known}");
        assert!(Format::ALL.iter().filter_map(|f| transfer(*f)).all(|t| t.internal != 0 && t.format != 0));
    }
}
