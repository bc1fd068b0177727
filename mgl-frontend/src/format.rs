//! GL internal formats: base formats, component facts and the storage that a backend can give them.

use std::collections::HashMap;

use mgpipe_types::{format_caps, gl, swizzle, CapsReply, Format};

mod table;
mod transfer;

pub use table::INTERNAL_FORMATS;
pub use transfer::{check_texture_transfer, TransferUse};

/// Base internal format (GL 4.6 table 8.11): which components exist.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// `GL_RED`.
    Red,
    /// `GL_RG`.
    Rg,
    /// `GL_RGB`.
    Rgb,
    /// `GL_RGBA`.
    Rgba,
    /// `GL_ALPHA` (compatibility profile): stored as red.
    Alpha,
    /// `GL_LUMINANCE` (compatibility profile): stored as red.
    Luminance,
    /// `GL_LUMINANCE_ALPHA` (compatibility profile): stored as red and green.
    LuminanceAlpha,
    /// `GL_INTENSITY` (compatibility profile): stored as red.
    Intensity,
    /// `GL_DEPTH_COMPONENT`.
    Depth,
    /// `GL_DEPTH_STENCIL`.
    DepthStencil,
    /// `GL_STENCIL_INDEX`.
    Stencil,
}

impl Base {
    /// The GL enumerant of the base format.
    pub fn gl(self) -> u32 {
        match self {
            Base::Red => gl::RED,
            Base::Rg => gl::RG,
            Base::Rgb => gl::RGB,
            Base::Rgba => gl::RGBA,
            Base::Alpha => gl::ALPHA,
            Base::Luminance => LUMINANCE,
            Base::LuminanceAlpha => LUMINANCE_ALPHA,
            Base::Intensity => INTENSITY,
            Base::Depth => gl::DEPTH_COMPONENT,
            Base::DepthStencil => gl::DEPTH_STENCIL,
            Base::Stencil => gl::STENCIL_INDEX,
        }
    }

    /// Whether the format has colour components.
    pub fn is_color(self) -> bool {
        !matches!(self, Base::Depth | Base::DepthStencil | Base::Stencil)
    }

    /// Whether the format has depth.
    pub fn has_depth(self) -> bool {
        matches!(self, Base::Depth | Base::DepthStencil)
    }

    /// Whether the format has stencil.
    pub fn has_stencil(self) -> bool {
        matches!(self, Base::Stencil | Base::DepthStencil)
    }

    /// Whether the format exists in the compatibility profile only.
    pub fn is_legacy(self) -> bool {
        matches!(self, Base::Alpha | Base::Luminance | Base::LuminanceAlpha | Base::Intensity)
    }

    /// How a shader sees the *stored* components (values of [`swizzle`]), before the application's own swizzle.
    pub fn sampling_swizzle(self) -> [u8; 4] {
        use swizzle::{ALPHA, BLUE, GREEN, ONE, RED, ZERO};
        match self {
            Base::Red => [RED, ZERO, ZERO, ONE],
            Base::Rg => [RED, GREEN, ZERO, ONE],
            Base::Rgb => [RED, GREEN, BLUE, ONE],
            Base::Rgba => [RED, GREEN, BLUE, ALPHA],
            Base::Alpha => [ZERO, ZERO, ZERO, RED],
            Base::Luminance => [RED, RED, RED, ONE],
            Base::LuminanceAlpha => [RED, RED, RED, GREEN],
            Base::Intensity => [RED, RED, RED, RED],
            // A depth texture returns (D, 0, 0, 1): DEPTH_TEXTURE_MODE is RED in the core profile.
            Base::Depth | Base::DepthStencil | Base::Stencil => [RED, ZERO, ZERO, ONE],
        }
    }
}

/// `GL_LUMINANCE`.
pub const LUMINANCE: u32 = 0x1909;
/// `GL_LUMINANCE_ALPHA`.
pub const LUMINANCE_ALPHA: u32 = 0x190A;
/// `GL_INTENSITY`.
pub const INTENSITY: u32 = 0x8049;

/// What the components of an internal format are; the value of the `*_TYPE` queries follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ComponentKind {
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
}

impl ComponentKind {
    /// Whether the components are integers that are not normalised.
    pub fn is_integer(self) -> bool {
        matches!(self, ComponentKind::Uint | ComponentKind::Sint)
    }

    /// `GL_TEXTURE_RED_TYPE` and its like.
    pub fn gl_type(self) -> u32 {
        match self {
            ComponentKind::Unorm => gl::UNSIGNED_NORMALIZED,
            ComponentKind::Snorm => gl::SIGNED_NORMALIZED,
            ComponentKind::Float => gl::FLOAT,
            ComponentKind::Uint => gl::UNSIGNED_INT,
            ComponentKind::Sint => gl::INT,
        }
    }
}

/// How an internal format was named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Naming {
    /// `GL_RGBA8`: a size is part of the name.
    Sized,
    /// `GL_RGBA`: the driver chooses a size.
    Unsized,
    /// `GL_COMPRESSED_RGBA`: the driver may compress; MGL does not.
    GenericCompressed,
    /// `GL_COMPRESSED_RGBA_S3TC_DXT5_EXT`: blocks of a known layout.
    Compressed,
}

/// Static facts about one GL internal format.
#[derive(Clone, Copy, Debug)]
pub struct InternalFormat {
    /// The enumerant.
    pub gl: u32,
    /// Which components exist.
    pub base: Base,
    /// What the colour components (or the depth) are.
    pub kind: ComponentKind,
    /// Nominal bits of red, green, blue, alpha, depth and stencil, as the size queries report them.
    pub bits: [u8; 6],
    /// Colours are sRGB-encoded.
    pub srgb: bool,
    /// How the format was named.
    pub naming: Naming,
    /// Storage formats that can hold it, best first. For compressed formats the first is the block format and the
    /// others hold the decoded texels.
    pub candidates: &'static [Format],
}

impl InternalFormat {
    /// Whether the format is a block format that travels and is stored as blocks where the backend can.
    pub fn is_compressed(&self) -> bool {
        self.naming == Naming::Compressed
    }

    /// The block format of a compressed internal format.
    pub fn blocks(&self) -> Option<Format> {
        if self.is_compressed() {
            self.candidates.first().copied()
        } else {
            None
        }
    }

    /// Whether the colour components are integers that are not normalised.
    pub fn is_integer(&self) -> bool {
        self.base.is_color() && self.kind.is_integer()
    }

    /// Whether the format itself is legal for a colour attachment (GL 3.3 section 4.4.4), storage aside.
    pub fn is_color_renderable(&self) -> bool {
        self.base.is_color()
            && !self.is_compressed()
            && self.gl != gl::RGB9_E5
            && !matches!(self.base, Base::Luminance | Base::LuminanceAlpha | Base::Intensity | Base::Alpha)
    }
}

/// An internal format together with what the backend stores it in.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedFormat {
    /// Static facts.
    pub info: &'static InternalFormat,
    /// Format of the storage.
    pub storage: Format,
    /// How a shader sees the stored components.
    pub swizzle: [u8; 4],
    /// The storage has an alpha that the GL format lacks.
    pub alpha_is_one: bool,
    /// The storage can be a colour, depth or stencil attachment and GL allows it.
    pub renderable: bool,
    /// The blocks are decoded on the client before they are sent.
    pub decoded: bool,
    /// Supported sample counts: bit n means 1 << n samples.
    pub sample_counts: u32,
}

impl ResolvedFormat {
    /// The smallest supported sample count that is at least `samples` (0 and 1 mean single-sampled), or `None` when
    /// `samples` exceeds every supported count.
    pub fn round_up_samples(&self, samples: u32) -> Option<u32> {
        if samples == 0 {
            return Some(0);
        }
        // A request for one sample is a multisample image with at least one sample. Shaders read it as a multisample
        // image, which takes two samples on most APIs; only where there are no more is it stored single-sampled.
        let supported = |n: u32| self.sample_counts >> n.trailing_zeros() & 1 != 0;
        let many = (1..8u32).map(|bit| 1 << bit).find(|&n| n >= samples && supported(n));
        many.or_else(|| (samples == 1).then_some(1))
    }

    /// The largest supported sample count; at least 1.
    pub fn max_samples(&self) -> u32 {
        (1..8u32).rev().find(|&bit| self.sample_counts >> bit & 1 != 0).map_or(1, |bit| 1 << bit)
    }
}

/// Every internal format that this backend can store.
#[derive(Debug, Clone)]
pub struct FormatTable {
    by_gl: HashMap<u32, ResolvedFormat>,
}

impl FormatTable {
    /// Chooses storage for each internal format from what the backend offers.
    pub fn new(caps: &CapsReply) -> FormatTable {
        let mut by_gl = HashMap::with_capacity(INTERNAL_FORMATS.len());
        for info in INTERNAL_FORMATS {
            if let Some(resolved) = resolve(info, caps) {
                by_gl.insert(info.gl, resolved);
            }
        }
        FormatTable { by_gl }
    }

    /// The format with this enumerant, or `None` when GL or the backend does not have it.
    pub fn get(&self, internal_format: u32) -> Option<&ResolvedFormat> {
        self.by_gl.get(&internal_format)
    }

    /// The specific compressed formats that may be listed in `GL_COMPRESSED_TEXTURE_FORMATS`.
    pub fn compressed_formats(&self) -> Vec<u32> {
        INTERNAL_FORMATS
            .iter()
            // RGTC and BPTC formats are not for general purpose use and are left out of the list (GL 4.6 section 8.7).
            .filter(|f| matches!(f.gl, table::DXT1_RGB | table::DXT1_RGBA | table::DXT3 | table::DXT5))
            .filter(|f| self.by_gl.contains_key(&f.gl))
            .map(|f| f.gl)
            .collect()
    }
}

fn resolve(info: &'static InternalFormat, caps: &CapsReply) -> Option<ResolvedFormat> {
    let wanted = if !info.base.is_color() {
        format_caps::DEPTH_STENCIL
    } else if info.kind.is_integer() {
        format_caps::SAMPLED
    } else {
        format_caps::SAMPLED | format_caps::FILTER_LINEAR
    };
    let attachment = if info.is_color_renderable() { format_caps::COLOR_ATTACHMENT } else { 0 };
    let offers = |format: &Format, bits: u32| caps.format(*format) & bits == bits;
    // 32-bit float formats may lack linear filtering and signed normalised ones may lack rendering; they are still the
    // right storage when nothing better exists.
    let storage = [wanted | attachment, wanted, wanted & !format_caps::FILTER_LINEAR]
        .into_iter()
        .find_map(|bits| info.candidates.iter().find(|f| offers(f, bits)))
        .copied()?;
    let offered = caps.format(storage);
    let storage_has_alpha = storage.desc().bits[3] != 0;
    let alpha_is_one = info.base.is_color() && info.base != Base::Rgba && !info.base.is_legacy() && storage_has_alpha;
    Some(ResolvedFormat {
        info,
        storage,
        swizzle: info.base.sampling_swizzle(),
        alpha_is_one: alpha_is_one && !storage.desc().is_compressed(),
        renderable: if info.base.is_color() {
            info.is_color_renderable() && offered & format_caps::COLOR_ATTACHMENT != 0
        } else {
            offered & format_caps::DEPTH_STENCIL != 0
        },
        decoded: info.is_compressed() && info.blocks() != Some(storage),
        sample_counts: offered >> format_caps::SAMPLES_SHIFT & 0xff,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::FORMAT_SLOTS;

    fn caps_with(formats: &[Format]) -> CapsReply {
        let mut caps = CapsReply::default();
        for f in formats {
            caps.formats[f.0 as usize] = if f.is_depth_stencil() {
                format_caps::SAMPLED | format_caps::DEPTH_STENCIL | 0b101 << format_caps::SAMPLES_SHIFT
            } else {
                format_caps::SAMPLED
                    | format_caps::FILTER_LINEAR
                    | format_caps::COLOR_ATTACHMENT
                    | 0b101 << format_caps::SAMPLES_SHIFT
            };
        }
        caps
    }

    #[test]
    fn enumerants_are_unique_and_every_format_has_a_candidate() {
        let mut seen = std::collections::HashSet::new();
        for f in INTERNAL_FORMATS {
            assert!(seen.insert(f.gl), "{:#x} twice", f.gl);
            assert!(!f.candidates.is_empty());
            for c in f.candidates {
                assert!(c.is_valid() && (c.0 as usize) < FORMAT_SLOTS);
                assert_eq!(f.base.is_color(), !c.is_depth_stencil(), "{:#x}", f.gl);
                if f.base.is_color() {
                    assert_eq!(f.kind.is_integer(), c.is_integer(), "{:#x} {c:?}", f.gl);
                    assert_eq!(f.srgb, c.desc().srgb, "{:#x} {c:?}", f.gl);
                }
            }
        }
    }

    #[test]
    fn rgb8_is_kept_in_rgba8_with_alpha_one() {
        let table = FormatTable::new(&caps_with(&[Format::RGBA8_UNORM, Format::R8_UNORM]));
        let rgb = table.get(gl::RGB8).expect("stored");
        assert_eq!(rgb.storage, Format::RGBA8_UNORM);
        assert!(rgb.alpha_is_one && rgb.renderable);
        assert_eq!(rgb.swizzle, [swizzle::RED, swizzle::GREEN, swizzle::BLUE, swizzle::ONE]);
        assert!(!table.get(gl::RGBA8).expect("stored").alpha_is_one);
        assert!(table.get(gl::RGBA32UI).is_none());
    }

    #[test]
    fn depth_24_falls_back_to_float() {
        let table = FormatTable::new(&caps_with(&[Format::D32_FLOAT, Format::D32_FLOAT_S8]));
        assert_eq!(table.get(gl::DEPTH_COMPONENT24).expect("stored").storage, Format::D32_FLOAT);
        assert_eq!(table.get(gl::DEPTH24_STENCIL8).expect("stored").storage, Format::D32_FLOAT_S8);
    }

    #[test]
    fn blocks_stay_blocks_where_they_can() {
        let native = FormatTable::new(&caps_with(&[Format::BC3, Format::RGBA8_UNORM]));
        let dxt5 = native.get(gl::COMPRESSED_RGBA_S3TC_DXT5_EXT).expect("stored");
        assert!(!dxt5.decoded && !dxt5.renderable);
        let fallback = FormatTable::new(&caps_with(&[Format::RGBA8_UNORM]));
        let dxt5 = fallback.get(gl::COMPRESSED_RGBA_S3TC_DXT5_EXT).expect("stored");
        assert!(dxt5.decoded);
        assert_eq!(dxt5.storage, Format::RGBA8_UNORM);
    }

    #[test]
    fn sample_counts_round_up() {
        let table = FormatTable::new(&caps_with(&[Format::RGBA8_UNORM]));
        let rgba = table.get(gl::RGBA8).expect("stored");
        assert_eq!(rgba.round_up_samples(0), Some(0));
        assert_eq!(rgba.round_up_samples(1), Some(4));
        assert_eq!(rgba.round_up_samples(2), Some(4));
        assert_eq!(rgba.round_up_samples(5), None);
        assert_eq!(rgba.max_samples(), 4);
    }
}
