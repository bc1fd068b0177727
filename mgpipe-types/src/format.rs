//! Texel formats as they travel, with their memory layout.

use crate::gl;
use bytemuck::{Pod, Zeroable};

/// What the components of a format are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FormatKind {
    /// Unsigned normalised.
    Unorm,
    /// Signed normalised.
    Snorm,
    /// Floating point.
    Float,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Depth alone.
    Depth,
    /// Stencil alone.
    Stencil,
    /// Depth and stencil.
    DepthStencil,
}

/// Facts about a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatDesc {
    /// Name of the constant.
    pub name: &'static str,
    /// GL sized internal format with the same layout, or `GL_NONE`.
    pub gl: u32,
    /// Bytes a block (a texel unless compressed).
    pub block_bytes: u32,
    /// Block width in texels.
    pub block_width: u32,
    /// Block height in texels.
    pub block_height: u32,
    /// What the components are.
    pub kind: FormatKind,
    /// Bits of r, g, b, a; of depth and stencil in the first two for depth formats. Nominal for compressed formats.
    pub bits: [u8; 4],
    /// Colour components are sRGB-encoded.
    pub srgb: bool,
}

impl FormatDesc {
    /// Whether blocks are larger than a texel.
    pub fn is_compressed(&self) -> bool {
        self.block_width > 1 || self.block_height > 1
    }

    /// Bytes of a tight image of this extent in texels; `None` on overflow.
    pub fn image_bytes(&self, width: u32, height: u32, depth: u32) -> Option<u64> {
        let columns = width.div_ceil(self.block_width) as u64;
        let rows = height.div_ceil(self.block_height) as u64;
        columns.checked_mul(rows)?.checked_mul(depth as u64)?.checked_mul(self.block_bytes as u64)
    }

    /// Bytes of a tight row of blocks.
    pub fn row_bytes(&self, width: u32) -> u64 {
        width.div_ceil(self.block_width) as u64 * self.block_bytes as u64
    }
}

/// A texel format: a dense small number, 0 is "none". Multi-byte components are little-endian; packed formats are
/// words of the stated bit order.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable, PartialOrd, Ord)]
pub struct Format(pub u32);

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $value:literal => $gl:expr, $bytes:literal, [$bw:literal, $bh:literal], $kind:ident, $bits:expr, $srgb:literal;)*) => {
        #[allow(non_upper_case_globals)]
        impl Format {
    /// Writes one texel of a depth or stencil format as this format has it in memory: `depth` from 0 to 1 for those with
    /// fixed point, `out` as long as a texel. Other formats
    /// write nothing.
    ///
    /// # Panics
    /// When `out` has another length.
    #[inline]
    pub fn store_depth_stencil(self, depth: f64, stencil: u8, out: &mut [u8]) {
        match self {
            Format::S8_UINT => out[0] = stencil,
            Format::D32_FLOAT => out.copy_from_slice(&(depth as f32).to_le_bytes()),
            Format::D32_FLOAT_S8 => {
                out[..4].copy_from_slice(&(depth as f32).to_le_bytes());
                out[4..].copy_from_slice(&[stencil, 0, 0, 0]);
            }
            Format::D16_UNORM => out.copy_from_slice(&((depth * 65535.0).round() as u16).to_le_bytes()),
            Format::D24_UNORM_X8 => out.copy_from_slice(&((depth * 16_777_215.0).round() as u32).to_le_bytes()),
            Format::D24_UNORM_S8 => {
                let bits = (depth * 16_777_215.0).round() as u32;
                out.copy_from_slice(&(bits | u32::from(stencil) << 24).to_le_bytes());
            }
            _ => {}
        }
    }

            $($(#[$doc])* pub const $name: Format = Format($value);)*
            /// Every format in numeric order, without [`Format::NONE`].
            pub const ALL: &'static [Format] = &[$(Format::$name,)*];
        }

        static TABLE: &[FormatDesc] = &[
            FormatDesc { name: "NONE", gl: gl::NONE, block_bytes: 0, block_width: 1, block_height: 1,
                kind: FormatKind::Unorm, bits: [0; 4], srgb: false },
            $(FormatDesc { name: stringify!($name), gl: $gl, block_bytes: $bytes, block_width: $bw, block_height: $bh,
                kind: FormatKind::$kind, bits: $bits, srgb: $srgb },)*
        ];
    };
}

formats! {
    /// 1 × 8-bit unsigned normalised.
    R8_UNORM = 1 => gl::R8, 1, [1, 1], Unorm, [8, 0, 0, 0], false;
    /// 1 × 8-bit signed normalised.
    R8_SNORM = 2 => gl::R8_SNORM, 1, [1, 1], Snorm, [8, 0, 0, 0], false;
    /// 1 × 8-bit unsigned integer.
    R8_UINT = 3 => gl::R8UI, 1, [1, 1], Uint, [8, 0, 0, 0], false;
    /// 1 × 8-bit signed integer.
    R8_SINT = 4 => gl::R8I, 1, [1, 1], Sint, [8, 0, 0, 0], false;
    /// 1 × 16-bit unsigned normalised.
    R16_UNORM = 5 => gl::R16, 2, [1, 1], Unorm, [16, 0, 0, 0], false;
    /// 1 × 16-bit signed normalised.
    R16_SNORM = 6 => gl::R16_SNORM, 2, [1, 1], Snorm, [16, 0, 0, 0], false;
    /// 1 × 16-bit unsigned integer.
    R16_UINT = 7 => gl::R16UI, 2, [1, 1], Uint, [16, 0, 0, 0], false;
    /// 1 × 16-bit signed integer.
    R16_SINT = 8 => gl::R16I, 2, [1, 1], Sint, [16, 0, 0, 0], false;
    /// 1 × 16-bit float.
    R16_FLOAT = 9 => gl::R16F, 2, [1, 1], Float, [16, 0, 0, 0], false;
    /// 1 × 32-bit unsigned integer.
    R32_UINT = 10 => gl::R32UI, 4, [1, 1], Uint, [32, 0, 0, 0], false;
    /// 1 × 32-bit signed integer.
    R32_SINT = 11 => gl::R32I, 4, [1, 1], Sint, [32, 0, 0, 0], false;
    /// 1 × 32-bit float.
    R32_FLOAT = 12 => gl::R32F, 4, [1, 1], Float, [32, 0, 0, 0], false;
    /// 2 × 8-bit unsigned normalised.
    RG8_UNORM = 13 => gl::RG8, 2, [1, 1], Unorm, [8, 8, 0, 0], false;
    /// 2 × 8-bit signed normalised.
    RG8_SNORM = 14 => gl::RG8_SNORM, 2, [1, 1], Snorm, [8, 8, 0, 0], false;
    /// 2 × 8-bit unsigned integer.
    RG8_UINT = 15 => gl::RG8UI, 2, [1, 1], Uint, [8, 8, 0, 0], false;
    /// 2 × 8-bit signed integer.
    RG8_SINT = 16 => gl::RG8I, 2, [1, 1], Sint, [8, 8, 0, 0], false;
    /// 2 × 16-bit unsigned normalised.
    RG16_UNORM = 17 => gl::RG16, 4, [1, 1], Unorm, [16, 16, 0, 0], false;
    /// 2 × 16-bit signed normalised.
    RG16_SNORM = 18 => gl::RG16_SNORM, 4, [1, 1], Snorm, [16, 16, 0, 0], false;
    /// 2 × 16-bit unsigned integer.
    RG16_UINT = 19 => gl::RG16UI, 4, [1, 1], Uint, [16, 16, 0, 0], false;
    /// 2 × 16-bit signed integer.
    RG16_SINT = 20 => gl::RG16I, 4, [1, 1], Sint, [16, 16, 0, 0], false;
    /// 2 × 16-bit float.
    RG16_FLOAT = 21 => gl::RG16F, 4, [1, 1], Float, [16, 16, 0, 0], false;
    /// 2 × 32-bit unsigned integer.
    RG32_UINT = 22 => gl::RG32UI, 8, [1, 1], Uint, [32, 32, 0, 0], false;
    /// 2 × 32-bit signed integer.
    RG32_SINT = 23 => gl::RG32I, 8, [1, 1], Sint, [32, 32, 0, 0], false;
    /// 2 × 32-bit float.
    RG32_FLOAT = 24 => gl::RG32F, 8, [1, 1], Float, [32, 32, 0, 0], false;
    /// 3 × 8-bit unsigned normalised.
    RGB8_UNORM = 25 => gl::RGB8, 3, [1, 1], Unorm, [8, 8, 8, 0], false;
    /// 3 × 8-bit signed normalised.
    RGB8_SNORM = 26 => gl::RGB8_SNORM, 3, [1, 1], Snorm, [8, 8, 8, 0], false;
    /// 3 × 8-bit unsigned integer.
    RGB8_UINT = 27 => gl::RGB8UI, 3, [1, 1], Uint, [8, 8, 8, 0], false;
    /// 3 × 8-bit signed integer.
    RGB8_SINT = 28 => gl::RGB8I, 3, [1, 1], Sint, [8, 8, 8, 0], false;
    /// 3 × 16-bit unsigned normalised.
    RGB16_UNORM = 29 => gl::RGB16, 6, [1, 1], Unorm, [16, 16, 16, 0], false;
    /// 3 × 16-bit signed normalised.
    RGB16_SNORM = 30 => gl::RGB16_SNORM, 6, [1, 1], Snorm, [16, 16, 16, 0], false;
    /// 3 × 16-bit unsigned integer.
    RGB16_UINT = 31 => gl::RGB16UI, 6, [1, 1], Uint, [16, 16, 16, 0], false;
    /// 3 × 16-bit signed integer.
    RGB16_SINT = 32 => gl::RGB16I, 6, [1, 1], Sint, [16, 16, 16, 0], false;
    /// 3 × 16-bit float.
    RGB16_FLOAT = 33 => gl::RGB16F, 6, [1, 1], Float, [16, 16, 16, 0], false;
    /// 3 × 32-bit unsigned integer.
    RGB32_UINT = 34 => gl::RGB32UI, 12, [1, 1], Uint, [32, 32, 32, 0], false;
    /// 3 × 32-bit signed integer.
    RGB32_SINT = 35 => gl::RGB32I, 12, [1, 1], Sint, [32, 32, 32, 0], false;
    /// 3 × 32-bit float.
    RGB32_FLOAT = 36 => gl::RGB32F, 12, [1, 1], Float, [32, 32, 32, 0], false;
    /// 4 × 8-bit unsigned normalised.
    RGBA8_UNORM = 37 => gl::RGBA8, 4, [1, 1], Unorm, [8, 8, 8, 8], false;
    /// 4 × 8-bit signed normalised.
    RGBA8_SNORM = 38 => gl::RGBA8_SNORM, 4, [1, 1], Snorm, [8, 8, 8, 8], false;
    /// 4 × 8-bit unsigned integer.
    RGBA8_UINT = 39 => gl::RGBA8UI, 4, [1, 1], Uint, [8, 8, 8, 8], false;
    /// 4 × 8-bit signed integer.
    RGBA8_SINT = 40 => gl::RGBA8I, 4, [1, 1], Sint, [8, 8, 8, 8], false;
    /// 4 × 16-bit unsigned normalised.
    RGBA16_UNORM = 41 => gl::RGBA16, 8, [1, 1], Unorm, [16, 16, 16, 16], false;
    /// 4 × 16-bit signed normalised.
    RGBA16_SNORM = 42 => gl::RGBA16_SNORM, 8, [1, 1], Snorm, [16, 16, 16, 16], false;
    /// 4 × 16-bit unsigned integer.
    RGBA16_UINT = 43 => gl::RGBA16UI, 8, [1, 1], Uint, [16, 16, 16, 16], false;
    /// 4 × 16-bit signed integer.
    RGBA16_SINT = 44 => gl::RGBA16I, 8, [1, 1], Sint, [16, 16, 16, 16], false;
    /// 4 × 16-bit float.
    RGBA16_FLOAT = 45 => gl::RGBA16F, 8, [1, 1], Float, [16, 16, 16, 16], false;
    /// 4 × 32-bit unsigned integer.
    RGBA32_UINT = 46 => gl::RGBA32UI, 16, [1, 1], Uint, [32, 32, 32, 32], false;
    /// 4 × 32-bit signed integer.
    RGBA32_SINT = 47 => gl::RGBA32I, 16, [1, 1], Sint, [32, 32, 32, 32], false;
    /// 4 × 32-bit float.
    RGBA32_FLOAT = 48 => gl::RGBA32F, 16, [1, 1], Float, [32, 32, 32, 32], false;
    /// 3 × 8-bit sRGB.
    RGB8_SRGB = 49 => gl::SRGB8, 3, [1, 1], Unorm, [8, 8, 8, 0], true;
    /// 3 × 8-bit sRGB and 8-bit alpha.
    RGBA8_SRGB = 50 => gl::SRGB8_ALPHA8, 4, [1, 1], Unorm, [8, 8, 8, 8], true;
    /// 4 × 8-bit unsigned normalised in B, G, R, A byte order.
    BGRA8_UNORM = 51 => gl::BGRA, 4, [1, 1], Unorm, [8, 8, 8, 8], false;
    /// As BGRA8, colour sRGB.
    BGRA8_SRGB = 52 => gl::NONE, 4, [1, 1], Unorm, [8, 8, 8, 8], true;
    /// Packed 16 bits, red highest.
    RGB565_UNORM = 53 => gl::RGB565, 2, [1, 1], Unorm, [5, 6, 5, 0], false;
    /// Packed 16 bits, red highest.
    RGBA4_UNORM = 54 => gl::RGBA4, 2, [1, 1], Unorm, [4, 4, 4, 4], false;
    /// Packed 16 bits, red highest, alpha lowest.
    RGB5A1_UNORM = 55 => gl::RGB5_A1, 2, [1, 1], Unorm, [5, 5, 5, 1], false;
    /// Packed 32 bits, red lowest, alpha highest.
    RGB10A2_UNORM = 56 => gl::RGB10_A2, 4, [1, 1], Unorm, [10, 10, 10, 2], false;
    /// Packed 32 bits, red lowest, alpha highest.
    RGB10A2_UINT = 57 => gl::RGB10_A2UI, 4, [1, 1], Uint, [10, 10, 10, 2], false;
    /// Packed 32 bits, red lowest.
    R11G11B10_FLOAT = 58 => gl::R11F_G11F_B10F, 4, [1, 1], Float, [11, 11, 10, 0], false;
    /// Packed 32 bits with a shared exponent, red lowest.
    RGB9E5_FLOAT = 59 => gl::RGB9_E5, 4, [1, 1], Float, [9, 9, 9, 0], false;
    /// 16-bit depth.
    D16_UNORM = 60 => gl::DEPTH_COMPONENT16, 2, [1, 1], Depth, [16, 0, 0, 0], false;
    /// 24-bit depth in the low bits of 32.
    D24_UNORM_X8 = 61 => gl::DEPTH_COMPONENT24, 4, [1, 1], Depth, [24, 0, 0, 0], false;
    /// 32-bit float depth.
    D32_FLOAT = 62 => gl::DEPTH_COMPONENT32F, 4, [1, 1], Depth, [32, 0, 0, 0], false;
    /// Depth in the low 24 bits, stencil in the high 8.
    D24_UNORM_S8 = 63 => gl::DEPTH24_STENCIL8, 4, [1, 1], DepthStencil, [24, 8, 0, 0], false;
    /// 32-bit float depth, then 8-bit stencil in a 32-bit word.
    D32_FLOAT_S8 = 64 => gl::DEPTH32F_STENCIL8, 8, [1, 1], DepthStencil, [32, 8, 0, 0], false;
    /// 8-bit stencil.
    S8_UINT = 65 => gl::STENCIL_INDEX8, 1, [1, 1], Stencil, [0, 8, 0, 0], false;
    /// S3TC DXT1.
    BC1_RGB = 66 => gl::COMPRESSED_RGB_S3TC_DXT1_EXT, 8, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// S3TC DXT1 with one-bit alpha.
    BC1_RGBA = 67 => gl::COMPRESSED_RGBA_S3TC_DXT1_EXT, 8, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// S3TC DXT3.
    BC2 = 68 => gl::COMPRESSED_RGBA_S3TC_DXT3_EXT, 16, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// S3TC DXT5.
    BC3 = 69 => gl::COMPRESSED_RGBA_S3TC_DXT5_EXT, 16, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// SRGB DXT1.
    BC1_RGB_SRGB = 70 => gl::NONE, 8, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// SRGB DXT1 with alpha.
    BC1_RGBA_SRGB = 71 => gl::NONE, 8, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// SRGB DXT3.
    BC2_SRGB = 72 => gl::NONE, 16, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// SRGB DXT5.
    BC3_SRGB = 73 => gl::NONE, 16, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// RGTC1.
    BC4_UNORM = 74 => gl::COMPRESSED_RED_RGTC1, 8, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// Signed RGTC1.
    BC4_SNORM = 75 => gl::COMPRESSED_SIGNED_RED_RGTC1, 8, [4, 4], Snorm, [8, 8, 8, 8], false;
    /// RGTC2.
    BC5_UNORM = 76 => gl::COMPRESSED_RG_RGTC2, 16, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// Signed RGTC2.
    BC5_SNORM = 77 => gl::COMPRESSED_SIGNED_RG_RGTC2, 16, [4, 4], Snorm, [8, 8, 8, 8], false;
    /// BPTC unsigned float.
    BC6H_UFLOAT = 78 => gl::COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT, 16, [4, 4], Float, [8, 8, 8, 8], false;
    /// BPTC signed float.
    BC6H_SFLOAT = 79 => gl::COMPRESSED_RGB_BPTC_SIGNED_FLOAT, 16, [4, 4], Float, [8, 8, 8, 8], false;
    /// BPTC.
    BC7_UNORM = 80 => gl::COMPRESSED_RGBA_BPTC_UNORM, 16, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// SRGB BPTC.
    BC7_SRGB = 81 => gl::COMPRESSED_SRGB_ALPHA_BPTC_UNORM, 16, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// ETC2.
    ETC2_RGB8 = 82 => gl::COMPRESSED_RGB8_ETC2, 8, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// SRGB ETC2.
    ETC2_RGB8_SRGB = 83 => gl::COMPRESSED_SRGB8_ETC2, 8, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// ETC2 with one-bit alpha.
    ETC2_RGB8A1 = 84 => gl::COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// SRGB ETC2 with one-bit alpha.
    ETC2_RGB8A1_SRGB = 85 => gl::COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// ETC2 with EAC alpha.
    ETC2_RGBA8 = 86 => gl::COMPRESSED_RGBA8_ETC2_EAC, 16, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// SRGB ETC2 with EAC alpha.
    ETC2_RGBA8_SRGB = 87 => gl::COMPRESSED_SRGB8_ALPHA8_ETC2_EAC, 16, [4, 4], Unorm, [8, 8, 8, 8], true;
    /// EAC R11.
    EAC_R11_UNORM = 88 => gl::COMPRESSED_R11_EAC, 8, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// Signed EAC R11.
    EAC_R11_SNORM = 89 => gl::COMPRESSED_SIGNED_R11_EAC, 8, [4, 4], Snorm, [8, 8, 8, 8], false;
    /// EAC RG11.
    EAC_RG11_UNORM = 90 => gl::COMPRESSED_RG11_EAC, 16, [4, 4], Unorm, [8, 8, 8, 8], false;
    /// Signed EAC RG11.
    EAC_RG11_SNORM = 91 => gl::COMPRESSED_SIGNED_RG11_EAC, 16, [4, 4], Snorm, [8, 8, 8, 8], false;
}

impl Format {
    /// No format.
    pub const NONE: Format = Format(0);

    /// Facts about the format; those of [`Format::NONE`] when the number is unknown.
    pub fn desc(self) -> &'static FormatDesc {
        TABLE.get(self.0 as usize).unwrap_or(&TABLE[0])
    }

    /// Whether the number names a format.
    pub fn is_valid(self) -> bool {
        self.0 != 0 && (self.0 as usize) < TABLE.len()
    }

    /// Whether the format has a depth aspect.
    pub fn has_depth(self) -> bool {
        matches!(self.desc().kind, FormatKind::Depth | FormatKind::DepthStencil)
    }

    /// Whether the format has a stencil aspect.
    pub fn has_stencil(self) -> bool {
        matches!(self.desc().kind, FormatKind::Stencil | FormatKind::DepthStencil)
    }

    /// Whether the format is depth, stencil or both.
    pub fn is_depth_stencil(self) -> bool {
        self.has_depth() || self.has_stencil()
    }

    /// Whether components are integers that are not normalised.
    pub fn is_integer(self) -> bool {
        matches!(self.desc().kind, FormatKind::Uint | FormatKind::Sint)
    }

    /// The sRGB twin of a linear format, or itself.
    pub fn to_srgb(self) -> Format {
        SRGB_PAIRS.iter().find(|(linear, _)| *linear == self).map_or(self, |(_, srgb)| *srgb)
    }

    /// The linear twin of an sRGB format, or itself.
    pub fn to_linear(self) -> Format {
        SRGB_PAIRS.iter().find(|(_, srgb)| *srgb == self).map_or(self, |(linear, _)| *linear)
    }
}

const SRGB_PAIRS: &[(Format, Format)] = &[
    (Format::RGB8_UNORM, Format::RGB8_SRGB),
    (Format::RGBA8_UNORM, Format::RGBA8_SRGB),
    (Format::BGRA8_UNORM, Format::BGRA8_SRGB),
    (Format::BC1_RGB, Format::BC1_RGB_SRGB),
    (Format::BC1_RGBA, Format::BC1_RGBA_SRGB),
    (Format::BC2, Format::BC2_SRGB),
    (Format::BC3, Format::BC3_SRGB),
    (Format::BC7_UNORM, Format::BC7_SRGB),
    (Format::ETC2_RGB8, Format::ETC2_RGB8_SRGB),
    (Format::ETC2_RGB8A1, Format::ETC2_RGB8A1_SRGB),
    (Format::ETC2_RGBA8, Format::ETC2_RGBA8_SRGB),
];

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_valid() {
            f.write_str(self.desc().name)
        } else {
            write!(f, "Format({})", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_dense_and_its_bits_fill_the_block() {
        assert_eq!(Format::ALL.len() + 1, TABLE.len());
        for (i, format) in Format::ALL.iter().enumerate() {
            assert_eq!(format.0 as usize, i + 1);
            let desc = format.desc();
            if !desc.is_compressed() {
                let bits: u32 = desc.bits.iter().map(|&b| b as u32).sum();
                assert!(bits <= desc.block_bytes * 8, "{}", desc.name);
                assert!(bits > 0, "{}", desc.name);
            }
        }
    }

    #[test]
    fn srgb_twins_share_their_layout() {
        for &(linear, srgb) in SRGB_PAIRS {
            assert_eq!(linear.to_srgb(), srgb);
            assert_eq!(srgb.to_linear(), linear);
            assert_eq!(linear.desc().block_bytes, srgb.desc().block_bytes);
            assert!(srgb.desc().srgb && !linear.desc().srgb);
        }
    }

    #[test]
    fn unknown_numbers_are_harmless() {
        assert!(!Format(9999).is_valid());
        assert_eq!(Format(9999).desc().block_bytes, 0);
    }
}
