//! Texture completeness (GL 3.3 section 3.8.14), remembered until the texture changes.

use mgpipe_types::{gl, SamplerParameters, Target};

use super::target::{is_multisample, last_level, mip_extent, single_level};
use super::{Image, TextureInner};

/// What is known about a texture's images, whatever sampler it is used with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Completeness {
    /// The base level can be sampled.
    pub(crate) base: bool,
    /// Every level down from the base can be sampled.
    pub(crate) mipmaps: bool,
    /// The smallest level that a mipmapping sampler reaches.
    pub(crate) last_level: u32,
    /// Filtering between texels is impossible: integers, stencil.
    pub(crate) unfilterable: bool,
}

/// The last answer and the version that it was given for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memo {
    version: u64,
    answer: Completeness,
}

/// Whether a minification filter reads levels other than the base.
pub(crate) fn is_mipmap_filter(filter: u32) -> bool {
    !matches!(filter, gl::NEAREST | gl::LINEAR)
}

fn needs_filtering(sampler: &SamplerParameters) -> bool {
    sampler.mag_filter == gl::LINEAR || !matches!(sampler.min_filter, gl::NEAREST | gl::NEAREST_MIPMAP_NEAREST)
}

impl TextureInner {
    /// Completeness of the images.
    pub(crate) fn completeness(&mut self, target: Target) -> Completeness {
        if self.memo.version != self.version {
            self.memo = Memo { version: self.version, answer: self.examine(target) };
        }
        self.memo.answer
    }

    /// Whether the texture can be sampled with these sampler parameters.
    pub(crate) fn is_complete_with(&mut self, target: Target, sampler: &SamplerParameters) -> bool {
        if target == Target::TexBuffer {
            return self.texel_buffer.is_some();
        }
        let answer = self.completeness(target);
        if is_multisample(target) {
            return answer.base;
        }
        if answer.unfilterable && needs_filtering(sampler) {
            return false;
        }
        if is_mipmap_filter(sampler.min_filter) && !single_level(target) {
            answer.mipmaps
        } else {
            answer.base
        }
    }

    fn examine(&self, target: Target) -> Completeness {
        let base = self.base_level();
        let Some(image) = self.image(0, base) else { return Completeness::default() };
        if image.extent.is_empty() || base > self.max_level() {
            return Completeness::default();
        }
        // Faces of a cube are squares of one size and format.
        let matches = |other: &Image, level: u32| {
            other.format.info.gl == image.format.info.gl
                && other.extent == mip_extent(target, image.extent, level - base)
        };
        let level_complete =
            |level: u32| (0..self.faces).all(|face| self.image(face, level).is_some_and(|other| matches(other, level)));
        let square = target != Target::TexCube || image.extent.width == image.extent.height;
        let last = (base + last_level(target, image.extent)).min(self.max_level());
        let info = image.format.info;
        let base_complete = square && level_complete(base);
        Completeness {
            base: base_complete,
            mipmaps: base_complete && (base + 1..=last).all(level_complete),
            last_level: last,
            unfilterable: info.is_integer() || !info.base.is_color() && self.params.stencil_mode,
        }
    }
}
