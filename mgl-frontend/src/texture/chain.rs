//! The choice of a texture's main storage from the images that the application specified.

use mgpipe_types::{bind, Format, ResourceDesc, Target, TextureHandle, TypedHandle};

use super::target::{last_level, layer_count, mip_extent, shrinking, single_level};
use super::{Extent, Image, TextureInner};

/// Storage of one resource: a format and a chain of extents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    pub(crate) format: Format,
    /// Extent of level 0 in GL terms.
    pub(crate) extent: Extent,
    pub(crate) levels: u32,
    pub(crate) samples: u32,
    pub(crate) fixed_locations: bool,
    pub(crate) renderable: bool,
    pub(crate) immutable: bool,
}

impl Chain {
    /// Storage of one image alone.
    pub(crate) fn of_image(image: &Image, _: Target) -> Chain {
        Chain {
            format: image.format.storage,
            extent: image.extent,
            levels: 1,
            samples: image.samples,
            fixed_locations: image.fixed_locations,
            renderable: image.format.renderable,
            immutable: false,
        }
    }

    /// Whether an image fits at a level.
    pub(crate) fn holds(&self, image: &Image, level: u32, target: Target) -> bool {
        level < self.levels
            && image.format.storage == self.format
            && image.samples == self.samples
            && image.fixed_locations == self.fixed_locations
            && image.extent == mip_extent(target, self.extent, level)
    }

    /// Whether a level keeps its contents when this storage is replaced: its extent and format stay the same.
    pub(crate) fn level_is_kept(&self, next: &Chain, level: u32, target: Target) -> bool {
        self.format == next.format
            && self.samples == next.samples
            && level < self.levels
            && level < next.levels
            && mip_extent(target, self.extent, level) == mip_extent(target, next.extent, level)
    }

    /// The descriptor that declares the storage.
    pub(crate) fn desc(&self, handle: TextureHandle, target: Target, name: u32, keeps: bool) -> ResourceDesc {
        let layers = layer_count(target, self.extent);
        let is_3d = target == Target::Tex3D;
        let attachment = match (self.renderable, self.format.is_depth_stencil()) {
            (false, _) => 0,
            (true, false) => bind::RENDER_TARGET,
            (true, true) => bind::DEPTH_STENCIL,
        };
        ResourceDesc {
            handle: handle.raw(),
            target: target as u8,
            bind_mask: bind::SAMPLER | attachment,
            format: self.format.0,
            width: self.extent.width,
            height: if matches!(target, Target::Tex1D | Target::Tex1DArray) { 1 } else { self.extent.height },
            depth: if is_3d { self.extent.depth } else { 1 },
            array_layers: if is_3d { 1 } else { layers as u16 },
            levels: self.levels as u16,
            samples: self.samples as u16,
            fixed_sample_locations: u8::from(self.fixed_locations),
            immutable: u8::from(self.immutable),
            has_defined_content: u8::from(keeps),
            gl_name: name,
            ..ResourceDesc::default()
        }
    }
}

/// The largest level-0 extent of which a level with this extent can be part: each shrinking size times two to the level.
fn grown(target: Target, extent: Extent, level: u32) -> Extent {
    let [w, h, d] = shrinking(target);
    let at = |size: u32, shrinks: bool| if shrinks { size.checked_shl(level).unwrap_or(u32::MAX) } else { size };
    Extent { width: at(extent.width, w), height: at(extent.height, h), depth: at(extent.depth, d) }
}

/// Chooses the storage that holds the base level and every image that forms a chain with it. `None` while no image has
/// texels.
pub(crate) fn choose(inner: &TextureInner, target: Target) -> Option<Chain> {
    let slots = inner.level_slots();
    let image_at = |level: u32| {
        (0..inner.faces).find_map(|face| inner.image(face, level)).filter(|image| !image.extent.is_empty())
    };
    let base = inner.base_level();
    let (anchor, image) = image_at(base)
        .map(|image| (base, image))
        .or_else(|| (0..slots).find_map(|level| image_at(level).map(|image| (level, image))))?;
    let of_image = Chain::of_image(image, target);
    if single_level(target) {
        return Some(Chain { immutable: inner.immutable_levels != 0, ..of_image });
    }
    // A level below the base that forms a chain with it says the extent of level 0 more exactly than the base does.
    let (low, low_image) = (0..anchor)
        .find_map(|level| {
            let lower = image_at(level)?;
            let fits = lower.format.storage == image.format.storage
                && mip_extent(target, lower.extent, anchor - level) == image.extent;
            fits.then_some((level, lower))
        })
        .unwrap_or((anchor, image));
    let mut extent = grown(target, low_image.extent, low);
    // Storage that exists already stays when the images fit it, so that a texture does not move back and forth.
    if let Some(old) = &inner.chain {
        if old.holds(image, anchor, target) && old.holds(low_image, low, target) {
            extent = old.extent;
        }
    }
    let full = last_level(target, extent) + 1;
    let mut chain = Chain { extent, levels: full, immutable: inner.immutable_levels != 0, ..of_image };
    if inner.immutable_levels != 0 {
        chain.levels = inner.immutable_levels;
        return Some(chain);
    }
    let highest = (0..slots.min(full))
        .rev()
        .find(|&level| (0..inner.faces).any(|f| inner.image(f, level).is_some_and(|i| chain.holds(i, level, target))))
        .unwrap_or(anchor);
    // One level stays one level (render targets); a texture with two gets the whole chain, so that specifying the rest
    // one by one between draws does not replace the storage each time.
    chain.levels =
        if highest > low { full.min(inner.max_level().saturating_add(1)).max(highest + 1) } else { highest + 1 };
    if let Some(old) = &inner.chain {
        let grew_only = Chain { levels: old.levels, ..chain } == *old;
        if grew_only && old.levels >= chain.levels {
            return Some(*old);
        }
    }
    Some(chain)
}
