//! The table of GL internal formats.

use super::{Base, ComponentKind, InternalFormat, Naming};
use mgpipe_types::{gl, Format};

/// `GL_COMPRESSED_RGB_S3TC_DXT1_EXT`.
pub(super) const DXT1_RGB: u32 = gl::COMPRESSED_RGB_S3TC_DXT1_EXT;
/// `GL_COMPRESSED_RGBA_S3TC_DXT1_EXT`.
pub(super) const DXT1_RGBA: u32 = gl::COMPRESSED_RGBA_S3TC_DXT1_EXT;
/// `GL_COMPRESSED_RGBA_S3TC_DXT3_EXT`.
pub(super) const DXT3: u32 = gl::COMPRESSED_RGBA_S3TC_DXT3_EXT;
/// `GL_COMPRESSED_RGBA_S3TC_DXT5_EXT`.
pub(super) const DXT5: u32 = gl::COMPRESSED_RGBA_S3TC_DXT5_EXT;

macro_rules! internal_formats {
    ($($gl:expr => $base:ident $kind:ident [$($bits:literal),*] $naming:ident $(+ $srgb:ident)? : $($candidate:ident)|+;)*) => {
        /// Every internal format that MGL knows, in no particular order.
        pub static INTERNAL_FORMATS: &[InternalFormat] = &[
            $(InternalFormat {
                gl: $gl,
                base: Base::$base,
                kind: ComponentKind::$kind,
                bits: [$($bits),*],
                srgb: false $(|| internal_formats!(@$srgb))?,
                naming: Naming::$naming,
                candidates: &[$(Format::$candidate),+],
            },)*
        ];
    };
    (@srgb) => { true };
}

internal_formats! {
    // Unsized base formats.
    gl::RED => Red Unorm [8, 0, 0, 0, 0, 0] Unsized: R8_UNORM | RGBA8_UNORM;
    gl::RG => Rg Unorm [8, 8, 0, 0, 0, 0] Unsized: RG8_UNORM | RGBA8_UNORM;
    gl::RGB => Rgb Unorm [8, 8, 8, 0, 0, 0] Unsized: RGBA8_UNORM;
    gl::RGBA => Rgba Unorm [8, 8, 8, 8, 0, 0] Unsized: RGBA8_UNORM;
    gl::SRGB => Rgb Unorm [8, 8, 8, 0, 0, 0] Unsized + srgb: RGBA8_SRGB;
    gl::SRGB_ALPHA => Rgba Unorm [8, 8, 8, 8, 0, 0] Unsized + srgb: RGBA8_SRGB;
    gl::DEPTH_COMPONENT => Depth Unorm [0, 0, 0, 0, 24, 0] Unsized: D24_UNORM_X8 | D24_UNORM_S8 | D32_FLOAT | D32_FLOAT_S8 | D16_UNORM;
    gl::DEPTH_STENCIL => DepthStencil Unorm [0, 0, 0, 0, 24, 8] Unsized: D24_UNORM_S8 | D32_FLOAT_S8;
    gl::STENCIL_INDEX => Stencil Uint [0, 0, 0, 0, 0, 8] Unsized: S8_UINT | D24_UNORM_S8 | D32_FLOAT_S8;

    // Normalised colours.
    gl::R8 => Red Unorm [8, 0, 0, 0, 0, 0] Sized: R8_UNORM | RGBA8_UNORM;
    gl::R16 => Red Unorm [16, 0, 0, 0, 0, 0] Sized: R16_UNORM | R32_FLOAT;
    gl::RG8 => Rg Unorm [8, 8, 0, 0, 0, 0] Sized: RG8_UNORM | RGBA8_UNORM;
    gl::RG16 => Rg Unorm [16, 16, 0, 0, 0, 0] Sized: RG16_UNORM | RG32_FLOAT;
    gl::R3_G3_B2 => Rgb Unorm [3, 3, 2, 0, 0, 0] Sized: RGBA8_UNORM;
    gl::RGB4 => Rgb Unorm [4, 4, 4, 0, 0, 0] Sized: RGBA8_UNORM;
    gl::RGB5 => Rgb Unorm [5, 5, 5, 0, 0, 0] Sized: RGB565_UNORM | RGBA8_UNORM;
    gl::RGB565 => Rgb Unorm [5, 6, 5, 0, 0, 0] Sized: RGB565_UNORM | RGBA8_UNORM;
    gl::RGB8 => Rgb Unorm [8, 8, 8, 0, 0, 0] Sized: RGBA8_UNORM;
    gl::RGB10 => Rgb Unorm [10, 10, 10, 0, 0, 0] Sized: RGB10A2_UNORM | RGBA16_UNORM | RGBA16_FLOAT;
    gl::RGB12 => Rgb Unorm [12, 12, 12, 0, 0, 0] Sized: RGBA16_UNORM | RGBA32_FLOAT;
    gl::RGB16 => Rgb Unorm [16, 16, 16, 0, 0, 0] Sized: RGBA16_UNORM | RGBA32_FLOAT;
    gl::RGBA2 => Rgba Unorm [2, 2, 2, 2, 0, 0] Sized: RGBA8_UNORM;
    gl::RGBA4 => Rgba Unorm [4, 4, 4, 4, 0, 0] Sized: RGBA4_UNORM | RGBA8_UNORM;
    gl::RGB5_A1 => Rgba Unorm [5, 5, 5, 1, 0, 0] Sized: RGB5A1_UNORM | RGBA8_UNORM;
    gl::RGBA8 => Rgba Unorm [8, 8, 8, 8, 0, 0] Sized: RGBA8_UNORM;
    gl::RGB10_A2 => Rgba Unorm [10, 10, 10, 2, 0, 0] Sized: RGB10A2_UNORM | RGBA16_UNORM | RGBA16_FLOAT;
    gl::RGBA12 => Rgba Unorm [12, 12, 12, 12, 0, 0] Sized: RGBA16_UNORM | RGBA32_FLOAT;
    gl::RGBA16 => Rgba Unorm [16, 16, 16, 16, 0, 0] Sized: RGBA16_UNORM | RGBA32_FLOAT;
    gl::SRGB8 => Rgb Unorm [8, 8, 8, 0, 0, 0] Sized + srgb: RGBA8_SRGB;
    gl::SRGB8_ALPHA8 => Rgba Unorm [8, 8, 8, 8, 0, 0] Sized + srgb: RGBA8_SRGB;
    gl::R8_SNORM => Red Snorm [8, 0, 0, 0, 0, 0] Sized: R8_SNORM | R16_FLOAT;
    gl::RG8_SNORM => Rg Snorm [8, 8, 0, 0, 0, 0] Sized: RG8_SNORM | RG16_FLOAT;
    gl::RGB8_SNORM => Rgb Snorm [8, 8, 8, 0, 0, 0] Sized: RGBA8_SNORM | RGBA16_FLOAT;
    gl::RGBA8_SNORM => Rgba Snorm [8, 8, 8, 8, 0, 0] Sized: RGBA8_SNORM | RGBA16_FLOAT;
    gl::R16_SNORM => Red Snorm [16, 0, 0, 0, 0, 0] Sized: R16_SNORM | R32_FLOAT;
    gl::RG16_SNORM => Rg Snorm [16, 16, 0, 0, 0, 0] Sized: RG16_SNORM | RG32_FLOAT;
    gl::RGB16_SNORM => Rgb Snorm [16, 16, 16, 0, 0, 0] Sized: RGBA16_SNORM | RGBA32_FLOAT;
    gl::RGBA16_SNORM => Rgba Snorm [16, 16, 16, 16, 0, 0] Sized: RGBA16_SNORM | RGBA32_FLOAT;

    // Float colours.
    gl::R16F => Red Float [16, 0, 0, 0, 0, 0] Sized: R16_FLOAT | R32_FLOAT;
    gl::RG16F => Rg Float [16, 16, 0, 0, 0, 0] Sized: RG16_FLOAT | RG32_FLOAT;
    gl::RGB16F => Rgb Float [16, 16, 16, 0, 0, 0] Sized: RGBA16_FLOAT | RGBA32_FLOAT;
    gl::RGBA16F => Rgba Float [16, 16, 16, 16, 0, 0] Sized: RGBA16_FLOAT | RGBA32_FLOAT;
    gl::R32F => Red Float [32, 0, 0, 0, 0, 0] Sized: R32_FLOAT | RGBA32_FLOAT;
    gl::RG32F => Rg Float [32, 32, 0, 0, 0, 0] Sized: RG32_FLOAT | RGBA32_FLOAT;
    gl::RGB32F => Rgb Float [32, 32, 32, 0, 0, 0] Sized: RGBA32_FLOAT;
    gl::RGBA32F => Rgba Float [32, 32, 32, 32, 0, 0] Sized: RGBA32_FLOAT;
    gl::R11F_G11F_B10F => Rgb Float [11, 11, 10, 0, 0, 0] Sized: R11G11B10_FLOAT | RGBA16_FLOAT;
    gl::RGB9_E5 => Rgb Float [9, 9, 9, 0, 0, 0] Sized: RGB9E5_FLOAT | RGBA16_FLOAT | RGBA32_FLOAT;

    // Integer colours.
    gl::R8I => Red Sint [8, 0, 0, 0, 0, 0] Sized: R8_SINT;
    gl::R8UI => Red Uint [8, 0, 0, 0, 0, 0] Sized: R8_UINT;
    gl::R16I => Red Sint [16, 0, 0, 0, 0, 0] Sized: R16_SINT;
    gl::R16UI => Red Uint [16, 0, 0, 0, 0, 0] Sized: R16_UINT;
    gl::R32I => Red Sint [32, 0, 0, 0, 0, 0] Sized: R32_SINT;
    gl::R32UI => Red Uint [32, 0, 0, 0, 0, 0] Sized: R32_UINT;
    gl::RG8I => Rg Sint [8, 8, 0, 0, 0, 0] Sized: RG8_SINT;
    gl::RG8UI => Rg Uint [8, 8, 0, 0, 0, 0] Sized: RG8_UINT;
    gl::RG16I => Rg Sint [16, 16, 0, 0, 0, 0] Sized: RG16_SINT;
    gl::RG16UI => Rg Uint [16, 16, 0, 0, 0, 0] Sized: RG16_UINT;
    gl::RG32I => Rg Sint [32, 32, 0, 0, 0, 0] Sized: RG32_SINT;
    gl::RG32UI => Rg Uint [32, 32, 0, 0, 0, 0] Sized: RG32_UINT;
    gl::RGB8I => Rgb Sint [8, 8, 8, 0, 0, 0] Sized: RGBA8_SINT;
    gl::RGB8UI => Rgb Uint [8, 8, 8, 0, 0, 0] Sized: RGBA8_UINT;
    gl::RGB16I => Rgb Sint [16, 16, 16, 0, 0, 0] Sized: RGBA16_SINT;
    gl::RGB16UI => Rgb Uint [16, 16, 16, 0, 0, 0] Sized: RGBA16_UINT;
    gl::RGB32I => Rgb Sint [32, 32, 32, 0, 0, 0] Sized: RGBA32_SINT;
    gl::RGB32UI => Rgb Uint [32, 32, 32, 0, 0, 0] Sized: RGBA32_UINT;
    gl::RGBA8I => Rgba Sint [8, 8, 8, 8, 0, 0] Sized: RGBA8_SINT;
    gl::RGBA8UI => Rgba Uint [8, 8, 8, 8, 0, 0] Sized: RGBA8_UINT;
    gl::RGBA16I => Rgba Sint [16, 16, 16, 16, 0, 0] Sized: RGBA16_SINT;
    gl::RGBA16UI => Rgba Uint [16, 16, 16, 16, 0, 0] Sized: RGBA16_UINT;
    gl::RGBA32I => Rgba Sint [32, 32, 32, 32, 0, 0] Sized: RGBA32_SINT;
    gl::RGBA32UI => Rgba Uint [32, 32, 32, 32, 0, 0] Sized: RGBA32_UINT;
    gl::RGB10_A2UI => Rgba Uint [10, 10, 10, 2, 0, 0] Sized: RGB10A2_UINT | RGBA16_UINT;

    // Depth and stencil.
    gl::DEPTH_COMPONENT16 => Depth Unorm [0, 0, 0, 0, 16, 0] Sized: D16_UNORM | D24_UNORM_X8 | D24_UNORM_S8 | D32_FLOAT;
    gl::DEPTH_COMPONENT24 => Depth Unorm [0, 0, 0, 0, 24, 0] Sized: D24_UNORM_X8 | D24_UNORM_S8 | D32_FLOAT | D32_FLOAT_S8;
    gl::DEPTH_COMPONENT32 => Depth Unorm [0, 0, 0, 0, 32, 0] Sized: D32_FLOAT | D32_FLOAT_S8 | D24_UNORM_X8;
    gl::DEPTH_COMPONENT32F => Depth Float [0, 0, 0, 0, 32, 0] Sized: D32_FLOAT | D32_FLOAT_S8;
    gl::DEPTH24_STENCIL8 => DepthStencil Unorm [0, 0, 0, 0, 24, 8] Sized: D24_UNORM_S8 | D32_FLOAT_S8;
    gl::DEPTH32F_STENCIL8 => DepthStencil Float [0, 0, 0, 0, 32, 8] Sized: D32_FLOAT_S8;
    gl::STENCIL_INDEX1 => Stencil Uint [0, 0, 0, 0, 0, 1] Sized: S8_UINT | D24_UNORM_S8 | D32_FLOAT_S8;
    gl::STENCIL_INDEX4 => Stencil Uint [0, 0, 0, 0, 0, 4] Sized: S8_UINT | D24_UNORM_S8 | D32_FLOAT_S8;
    gl::STENCIL_INDEX8 => Stencil Uint [0, 0, 0, 0, 0, 8] Sized: S8_UINT | D24_UNORM_S8 | D32_FLOAT_S8;
    gl::STENCIL_INDEX16 => Stencil Uint [0, 0, 0, 0, 0, 8] Sized: S8_UINT | D24_UNORM_S8 | D32_FLOAT_S8;

    // Generic compressed formats: MGL stores them uncompressed, which GL allows.
    gl::COMPRESSED_RED => Red Unorm [8, 0, 0, 0, 0, 0] GenericCompressed: R8_UNORM | RGBA8_UNORM;
    gl::COMPRESSED_RG => Rg Unorm [8, 8, 0, 0, 0, 0] GenericCompressed: RG8_UNORM | RGBA8_UNORM;
    gl::COMPRESSED_RGB => Rgb Unorm [8, 8, 8, 0, 0, 0] GenericCompressed: RGBA8_UNORM;
    gl::COMPRESSED_RGBA => Rgba Unorm [8, 8, 8, 8, 0, 0] GenericCompressed: RGBA8_UNORM;
    gl::COMPRESSED_SRGB => Rgb Unorm [8, 8, 8, 0, 0, 0] GenericCompressed + srgb: RGBA8_SRGB;
    gl::COMPRESSED_SRGB_ALPHA => Rgba Unorm [8, 8, 8, 8, 0, 0] GenericCompressed + srgb: RGBA8_SRGB;

    // Block formats, each with the storage of its decoded texels.
    gl::COMPRESSED_RED_RGTC1 => Red Unorm [8, 0, 0, 0, 0, 0] Compressed: BC4_UNORM | R8_UNORM;
    gl::COMPRESSED_SIGNED_RED_RGTC1 => Red Snorm [8, 0, 0, 0, 0, 0] Compressed: BC4_SNORM | R8_SNORM;
    gl::COMPRESSED_RG_RGTC2 => Rg Unorm [8, 8, 0, 0, 0, 0] Compressed: BC5_UNORM | RG8_UNORM;
    gl::COMPRESSED_SIGNED_RG_RGTC2 => Rg Snorm [8, 8, 0, 0, 0, 0] Compressed: BC5_SNORM | RG8_SNORM;
    DXT1_RGB => Rgb Unorm [5, 6, 5, 0, 0, 0] Compressed: BC1_RGB | RGBA8_UNORM;
    DXT1_RGBA => Rgba Unorm [5, 6, 5, 1, 0, 0] Compressed: BC1_RGBA | RGBA8_UNORM;
    DXT3 => Rgba Unorm [5, 6, 5, 4, 0, 0] Compressed: BC2 | RGBA8_UNORM;
    DXT5 => Rgba Unorm [5, 6, 5, 8, 0, 0] Compressed: BC3 | RGBA8_UNORM;
    0x8C4C => Rgb Unorm [5, 6, 5, 0, 0, 0] Compressed + srgb: BC1_RGB_SRGB | RGBA8_SRGB;
    0x8C4D => Rgba Unorm [5, 6, 5, 1, 0, 0] Compressed + srgb: BC1_RGBA_SRGB | RGBA8_SRGB;
    0x8C4E => Rgba Unorm [5, 6, 5, 4, 0, 0] Compressed + srgb: BC2_SRGB | RGBA8_SRGB;
    0x8C4F => Rgba Unorm [5, 6, 5, 8, 0, 0] Compressed + srgb: BC3_SRGB | RGBA8_SRGB;
    gl::COMPRESSED_RGBA_BPTC_UNORM => Rgba Unorm [8, 8, 8, 8, 0, 0] Compressed: BC7_UNORM | RGBA8_UNORM;
    gl::COMPRESSED_SRGB_ALPHA_BPTC_UNORM => Rgba Unorm [8, 8, 8, 8, 0, 0] Compressed + srgb: BC7_SRGB | RGBA8_SRGB;
    gl::COMPRESSED_RGB_BPTC_SIGNED_FLOAT => Rgb Float [16, 16, 16, 0, 0, 0] Compressed: BC6H_SFLOAT | RGBA16_FLOAT;
    gl::COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT => Rgb Float [16, 16, 16, 0, 0, 0] Compressed: BC6H_UFLOAT | RGBA16_FLOAT;

    // Compatibility profile.
    gl::ALPHA => Alpha Unorm [0, 0, 0, 8, 0, 0] Unsized: R8_UNORM;
    0x803B => Alpha Unorm [0, 0, 0, 4, 0, 0] Sized: R8_UNORM;
    0x803C => Alpha Unorm [0, 0, 0, 8, 0, 0] Sized: R8_UNORM;
    0x803D => Alpha Unorm [0, 0, 0, 12, 0, 0] Sized: R16_UNORM | R32_FLOAT;
    0x803E => Alpha Unorm [0, 0, 0, 16, 0, 0] Sized: R16_UNORM | R32_FLOAT;
    super::LUMINANCE => Luminance Unorm [8, 0, 0, 0, 0, 0] Unsized: R8_UNORM;
    0x803F => Luminance Unorm [4, 0, 0, 0, 0, 0] Sized: R8_UNORM;
    0x8040 => Luminance Unorm [8, 0, 0, 0, 0, 0] Sized: R8_UNORM;
    0x8041 => Luminance Unorm [12, 0, 0, 0, 0, 0] Sized: R16_UNORM | R32_FLOAT;
    0x8042 => Luminance Unorm [16, 0, 0, 0, 0, 0] Sized: R16_UNORM | R32_FLOAT;
    super::LUMINANCE_ALPHA => LuminanceAlpha Unorm [8, 0, 0, 8, 0, 0] Unsized: RG8_UNORM;
    0x8043 => LuminanceAlpha Unorm [4, 0, 0, 4, 0, 0] Sized: RG8_UNORM;
    0x8045 => LuminanceAlpha Unorm [8, 0, 0, 8, 0, 0] Sized: RG8_UNORM;
    0x8048 => LuminanceAlpha Unorm [16, 0, 0, 16, 0, 0] Sized: RG16_UNORM | RG32_FLOAT;
    super::INTENSITY => Intensity Unorm [8, 0, 0, 0, 0, 0] Unsized: R8_UNORM;
    0x804B => Intensity Unorm [8, 0, 0, 0, 0, 0] Sized: R8_UNORM;
    0x804D => Intensity Unorm [16, 0, 0, 0, 0, 0] Sized: R16_UNORM | R32_FLOAT;
}
