//! Texture objects: images as GL specifies them, and the storage that holds them on the server.
//!
//! GL lets an application specify each level of a texture on its own, in any size and format and in any order. A server
//! has one resource with one format and one chain of extents. The two meet in [`Texture::realize`], which runs before
//! the texture is used: the images that form a chain live in the texture's *main* resource; an image that does not fit
//! the chain but has contents or is used on its own (as an attachment, say) lives in a resource of its own. When the
//! level set changes, contents move on the device, never through the host.
//!
//! Uploads wait as tight boxes of texels in storage format until the texture is used; they are dropped once sent.

mod chain;
mod complete;
mod compressed;
mod copy;
mod copy_blocks;
mod image;
mod mipmap;
mod multisample;
mod near;
mod parameter;
mod pending;
mod query;
mod readback;
mod stream;
mod target;
mod texel_buffer;
mod unit;
mod view;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use mgpipe_tracker::Aggregate;
use mgpipe_types::{
    bind, Box3, Context as Pipe, CopyRegion, Format, Kind, ResourceDesc, ResourceHandle, SamplerParameters, Surface,
    Target, TextureHandle, TextureParams, TypedHandle,
};
use parking_lot::{Mutex, MutexGuard};

use crate::error::GlResult;
use crate::format::ResolvedFormat;
use crate::sampler::initial_parameters;
use crate::share::ShareCore;

pub(crate) use chain::Chain;
pub(crate) use image::client_format;
pub(crate) use pending::Pending;
pub(crate) use query::has_component;
pub(crate) use readback::aspect_of;
pub(crate) use stream::UploadSource;
pub(crate) use target::{any_image_target, face_count, layer_count, single_level, Extent};
pub(crate) use texel_buffer::TexelBuffer;
pub(crate) use unit::TextureUnits;

/// Most levels that any texture has: enough for 16384 texels and room above.
pub(crate) const MAX_LEVELS: usize = 16;

/// A texture object.
pub(crate) struct Texture {
    /// GL name, 0 for a default texture.
    pub(crate) name: u32,
    /// The main resource.
    pub(crate) handle: TextureHandle,
    /// What the texture is, fixed when its name was first bound.
    pub(crate) target: Target,
    core: Arc<ShareCore>,
    /// Something waits to be sent: storage, texels or parameters.
    work: AtomicBool,
    inner: Mutex<TextureInner>,
}

/// The part of a texture behind its lock.
#[derive(Debug)]
pub(crate) struct TextureInner {
    /// Images by level, faces innermost.
    images: Vec<Option<Image>>,
    faces: usize,
    /// What `glTexParameter` sets.
    pub(crate) params: TextureState,
    params_moved: bool,
    /// Storage of the main resource, as the server knows it.
    chain: Option<Chain>,
    /// An image appeared, changed or went since the chain was chosen.
    images_moved: bool,
    /// Levels of immutable storage; 0 for mutable.
    pub(crate) immutable_levels: u32,
    /// `GL_TEXTURE_BUFFER`: what it shows.
    pub(crate) texel_buffer: Option<TexelBuffer>,
    /// Internal format of a buffer texture; it stays when the buffer is detached.
    pub(crate) texel_format: u32,
    /// Moves whenever completeness may change.
    version: u64,
    memo: complete::Memo,
}

/// Parameters of a texture object beside its sampler state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TextureState {
    pub(crate) sampler: SamplerParameters,
    pub(crate) base_level: u32,
    pub(crate) max_level: u32,
    /// `GL_TEXTURE_SWIZZLE_*` as GL enums.
    pub(crate) swizzle: [u32; 4],
    /// `GL_DEPTH_STENCIL_TEXTURE_MODE` is `GL_STENCIL_INDEX`.
    pub(crate) stencil_mode: bool,
}

/// One image: a level of a face or of the whole texture.
#[derive(Debug)]
pub(crate) struct Image {
    /// Format as GL names it and as it is stored.
    pub(crate) format: ResolvedFormat,
    /// Extent in GL terms: layers are the height of 1D arrays and the depth of 2D arrays.
    pub(crate) extent: Extent,
    /// Samples, 0 for an image that is not multisampled.
    pub(crate) samples: u32,
    /// Sample locations are the same everywhere.
    pub(crate) fixed_locations: bool,
    /// Where the image lives on the server.
    home: Home,
    /// Texels that wait to be sent.
    pub(crate) pending: Pending,
    /// The server's copy has contents.
    defined: bool,
    /// Blocks of a compressed image that is stored decoded, for `glGetCompressedTexImage`.
    pub(crate) blocks: Option<Arc<[u8]>>,
}

/// Where an image lives on the server.
#[derive(Debug, Clone)]
enum Home {
    /// Nowhere yet.
    None,
    /// In the main resource.
    Main,
    /// In a resource of its own.
    Own(Arc<OwnResource>),
}

/// A texture resource that lives as long as its owner.
pub(crate) struct OwnResource {
    core: Arc<ShareCore>,
    pub(crate) handle: TextureHandle,
}

impl std::fmt::Debug for OwnResource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OwnResource({:?})", self.handle)
    }
}

impl Drop for OwnResource {
    fn drop(&mut self) {
        self.core.destroy_resource(ResourceHandle::Texture(self.handle));
    }
}

impl std::fmt::Debug for Texture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Texture({}, {:?}, {:?})", self.name, self.target, self.handle)
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        self.core.destroy_resource(ResourceHandle::Texture(self.handle));
    }
}

impl Image {
    /// An image with undefined contents.
    pub(crate) fn new(format: &ResolvedFormat, extent: Extent) -> Image {
        Image {
            format: *format,
            extent,
            samples: 0,
            fixed_locations: true,
            home: Home::None,
            pending: Pending::default(),
            defined: false,
            blocks: None,
        }
    }

    /// Whether this image and another have the same format, extent and samples.
    fn same_shape(&self, other: &Image) -> bool {
        self.format.info.gl == other.format.info.gl
            && self.extent == other.extent
            && self.samples == other.samples
            && self.fixed_locations == other.fixed_locations
    }
}

impl TextureInner {
    fn slot(&self, face: usize, level: u32) -> usize {
        level as usize * self.faces + face
    }

    /// The image of a face and level.
    pub(crate) fn image(&self, face: usize, level: u32) -> Option<&Image> {
        if face >= self.faces {
            return None;
        }
        self.images.get(self.slot(face, level)).and_then(Option::as_ref)
    }

    /// The image of a face and level, for changes of contents.
    pub(crate) fn image_mut(&mut self, face: usize, level: u32) -> Option<&mut Image> {
        if face >= self.faces {
            return None;
        }
        let slot = self.slot(face, level);
        self.images.get_mut(slot).and_then(Option::as_mut)
    }

    /// Number of levels that may exist.
    fn level_slots(&self) -> u32 {
        (self.images.len() / self.faces.max(1)) as u32
    }

    /// Replaces an image.
    ///
    /// An image of the same shape keeps its place on the server; its old contents count as gone.
    pub(crate) fn set_image(&mut self, face: usize, level: u32, mut image: Image) {
        let slot = self.slot(face, level);
        let Some(old) = self.images.get_mut(slot) else { return };
        match old {
            Some(old) if old.same_shape(&image) => {
                image.home = std::mem::replace(&mut old.home, Home::None);
            }
            _ => {
                self.images_moved = true;
                self.version += 1;
            }
        }
        *old = Some(image);
    }

    /// Whether an image would take the place on the server of one that is there.
    pub(crate) fn keeps_place(&self, face: usize, level: u32, image: &Image) -> bool {
        !self.images_moved && self.image(face, level).is_some_and(|old| old.same_shape(image))
    }

    /// Parameters changed in a way that completeness or the server sees.
    pub(crate) fn params_changed(&mut self) {
        self.params_moved = true;
        self.version += 1;
    }

    /// Has the chain chosen anew at the next use.
    pub(crate) fn choose_again(&mut self) {
        self.images_moved = true;
    }

    /// Base level as it applies (immutable textures clamp it).
    pub(crate) fn base_level(&self) -> u32 {
        match self.immutable_levels {
            0 => self.params.base_level,
            n => self.params.base_level.min(n - 1),
        }
    }

    /// Maximum level as it applies.
    pub(crate) fn max_level(&self) -> u32 {
        match self.immutable_levels {
            0 => self.params.max_level,
            n => self.params.max_level.clamp(self.base_level(), n - 1),
        }
    }

    /// The image of the base level (of the first face).
    pub(crate) fn base_image(&self) -> Option<&Image> {
        self.image(0, self.base_level())
    }

    /// Whether the storage has to be chosen anew before the next use.
    pub(crate) fn is_moved(&self) -> bool {
        self.images_moved
    }

    /// Storage of the main resource.
    pub(crate) fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref()
    }
}

impl Texture {
    /// A texture without images.
    pub(crate) fn new(core: &Arc<ShareCore>, name: u32, target: Target) -> GlResult<Arc<Texture>> {
        let handle = core.mint("texture object")?;
        let faces = face_count(target);
        let texture = Texture {
            name,
            handle,
            target,
            core: core.clone(),
            work: AtomicBool::new(true),
            inner: Mutex::new(TextureInner {
                images: (0..faces * MAX_LEVELS).map(|_| None).collect(),
                faces,
                params: TextureState {
                    sampler: initial_parameters(target),
                    base_level: 0,
                    max_level: 1000,
                    swizzle: [
                        mgpipe_types::gl::RED,
                        mgpipe_types::gl::GREEN,
                        mgpipe_types::gl::BLUE,
                        mgpipe_types::gl::ALPHA,
                    ],
                    stencil_mode: false,
                },
                params_moved: true,
                chain: None,
                images_moved: false,
                immutable_levels: 0,
                texel_buffer: None,
                texel_format: mgpipe_types::gl::R8,
                version: 1,
                memo: complete::Memo::default(),
            }),
        };
        core.screen.resource_create(&ResourceDesc {
            handle: handle.raw(),
            target: target as u8,
            bind_mask: bind::SAMPLER,
            gl_name: name,
            ..ResourceDesc::default()
        });
        Ok(Arc::new(texture))
    }

    /// The locked part.
    pub(crate) fn lock(&self) -> MutexGuard<'_, TextureInner> {
        self.inner.lock()
    }

    /// Notes that contents or storage changed.
    pub(crate) fn content_changed(&self) {
        self.work.store(true, Ordering::Release);
        self.core.aggregates.bump(Aggregate::TextureContent);
    }

    /// Notes that an image appeared, went, or has another shape: framebuffers that have it attached must look again.
    pub(crate) fn shape_changed(&self) {
        self.content_changed();
        self.core.aggregates.bump(Aggregate::Attachment);
    }

    /// Notes that parameters changed.
    pub(crate) fn params_changed(&self) {
        self.work.store(true, Ordering::Release);
        self.core.aggregates.bump(Aggregate::TextureParams);
    }

    /// Sends everything that waits, when something does.
    pub(crate) fn realize(&self, pipe: &mut dyn Pipe) {
        if self.work.load(Ordering::Acquire) {
            let mut inner = self.inner.lock();
            // Another context that finds no work must find everything sent.
            if self.work.load(Ordering::Relaxed) {
                self.realize_locked(&mut inner, pipe);
                self.work.store(false, Ordering::Release);
            }
        }
    }

    /// Brings the server up to date: storage, contents, parameters.
    pub(crate) fn realize_locked(&self, inner: &mut TextureInner, pipe: &mut dyn Pipe) {
        if self.target == Target::TexBuffer {
            self.realize_texel_buffer(inner, pipe);
            return;
        }
        if inner.images_moved {
            inner.images_moved = false;
            // The format of the base level says how the swizzle is composed.
            inner.params_moved = true;
            if let Some(wanted) = chain::choose(inner, self.target) {
                if inner.chain.as_ref() != Some(&wanted) {
                    self.respecify(inner, &wanted, pipe);
                }
                self.adopt(inner, &wanted, pipe);
            }
        }
        self.send_pending(inner, pipe);
        if inner.params_moved {
            inner.params_moved = false;
            pipe.set_texture_params(&self.params_payload(inner));
        }
    }

    /// Gives an image a place on the server and sends what waits for it.
    ///
    /// # Errors
    /// `GL_OUT_OF_MEMORY` when no handle is left.
    pub(crate) fn realize_image(
        &self,
        inner: &mut TextureInner,
        face: usize,
        level: u32,
        pipe: &mut dyn Pipe,
    ) -> GlResult<()> {
        self.realize_locked(inner, pipe);
        let target = self.target;
        let Some(image) = inner.image_mut(face, level) else { return Ok(()) };
        if matches!(image.home, Home::None) && !image.extent.is_empty() {
            let own = self.make_own(image, target)?;
            image.home = Home::Own(own);
            self.send_pending(inner, pipe);
        }
        Ok(())
    }

    /// Like [`Texture::realize_image`] for an attached image, which draws may write from now on.
    pub(crate) fn realize_attached(&self, face: usize, level: u32, pipe: &mut dyn Pipe) -> GlResult<()> {
        let mut inner = self.inner.lock();
        let waits = self.work.load(Ordering::Relaxed);
        match inner.image_mut(face, level) {
            Some(image) if !waits && image.defined && !matches!(image.home, Home::None) => return Ok(()),
            _ => {}
        }
        self.realize_image(&mut inner, face, level, pipe)?;
        self.mark_written(&mut inner, face, level);
        Ok(())
    }

    /// The surface through which an image that [`Texture::realize_image`] placed is attached, read or blitted. A null
    /// surface when the image has no place. `layer` is a layer, a slice, or ignored for a face.
    pub(crate) fn surface(&self, inner: &TextureInner, face: usize, level: u32, layer: u32, layered: bool) -> Surface {
        let Some(image) = inner.image(face, level) else { return Surface::default() };
        let face = if self.target == Target::TexCube && !layered { face as u32 } else { 0 };
        let (handle, level, layer) = match &image.home {
            Home::None => return Surface::default(),
            Home::Main => (self.handle, level, layer + face),
            // A face that is alone lives in a 2D resource.
            Home::Own(own) => (own.handle, 0, layer),
        };
        Surface {
            handle: handle.raw(),
            format: image.format.storage.0,
            kind: Kind::Texture as u8,
            layered: u8::from(layered),
            level: level as u16,
            layer,
            flags: if image.format.alpha_is_one { mgpipe_types::surface_flags::ALPHA_IS_ONE } else { 0 },
            pad: 0,
        }
    }

    /// Notes that the device wrote into an image.
    pub(crate) fn mark_written(&self, inner: &mut TextureInner, face: usize, level: u32) {
        if let Some(image) = inner.image_mut(face, level) {
            image.defined = true;
            image.blocks = None;
        }
    }

    fn make_own(&self, image: &Image, target: Target) -> GlResult<Arc<OwnResource>> {
        let target = if target == Target::TexCube { Target::Tex2D } else { target };
        let handle: TextureHandle = self.core.mint("texture level")?;
        let chain = Chain::of_image(image, target);
        self.core.screen.resource_create(&chain.desc(handle, target, self.name, false));
        Ok(Arc::new(OwnResource { core: self.core.clone(), handle }))
    }

    /// Replaces the main resource's storage, moving contents that would be lost out of the way first.
    fn respecify(&self, inner: &mut TextureInner, wanted: &Chain, pipe: &mut dyn Pipe) {
        let mut keeps = false;
        for slot in 0..inner.images.len() {
            let (level, face) = (slot / inner.faces, slot % inner.faces);
            let Some(image) = &inner.images[slot] else { continue };
            if !matches!(image.home, Home::Main) {
                continue;
            }
            let stays = wanted.holds(image, level as u32, self.target)
                && inner.chain.as_ref().is_some_and(|old| old.level_is_kept(wanted, level as u32, self.target));
            if stays {
                keeps |= image.defined;
                continue;
            }
            let own = if image.defined { self.make_own(image, self.target).ok() } else { None };
            if let Some(own) = &own {
                let copy = CopyRegion {
                    dst: own.handle.raw(),
                    src: self.handle.raw(),
                    dst_kind: Kind::Texture as u8,
                    src_kind: Kind::Texture as u8,
                    src_level: level as u16,
                    src_box: image.whole_box(self.target, face),
                    ..CopyRegion::default()
                };
                pipe.resource_copy_region(&copy);
            }
            if let Some(image) = &mut inner.images[slot] {
                image.home = own.map_or(Home::None, Home::Own);
            }
        }
        pipe.resource_respecify(&wanted.desc(self.handle, self.target, self.name, keeps));
        inner.chain = Some(*wanted);
        // Framebuffers and views name the storage by handle and level, which may both have changed for an image.
        self.core.aggregates.bump(Aggregate::Attachment);
    }

    /// Moves images that fit the main resource into it.
    fn adopt(&self, inner: &mut TextureInner, chain: &Chain, pipe: &mut dyn Pipe) {
        let faces = inner.faces;
        for (slot, image) in inner.images.iter_mut().enumerate() {
            let (level, face) = (slot / faces, slot % faces);
            let Some(image) = image else { continue };
            if matches!(image.home, Home::Main) || !chain.holds(image, level as u32, self.target) {
                continue;
            }
            if let Home::Own(own) = &image.home {
                if image.defined {
                    let to = image.whole_box(self.target, face);
                    let copy = CopyRegion {
                        dst: self.handle.raw(),
                        src: own.handle.raw(),
                        dst_kind: Kind::Texture as u8,
                        src_kind: Kind::Texture as u8,
                        dst_level: level as u16,
                        dst_z: to.z,
                        src_box: Box3 { z: 0, ..to },
                        ..CopyRegion::default()
                    };
                    pipe.resource_copy_region(&copy);
                }
                self.core.aggregates.bump(Aggregate::Attachment);
            }
            image.home = Home::Main;
        }
    }

    fn send_pending(&self, inner: &mut TextureInner, pipe: &mut dyn Pipe) {
        let faces = inner.faces;
        for (slot, image) in inner.images.iter_mut().enumerate() {
            let (level, face) = (slot / faces, slot % faces);
            let Some(image) = image else { continue };
            if image.pending.is_empty() {
                continue;
            }
            let face = if self.target == Target::TexCube { face as i32 } else { 0 };
            match &image.home {
                Home::None => continue,
                Home::Main => {
                    image.pending.send(self.handle, self.target, level as u32, face, image.format.storage, pipe);
                }
                Home::Own(own) => {
                    let target = if self.target == Target::TexCube { Target::Tex2D } else { self.target };
                    image.pending.send(own.handle, target, 0, 0, image.format.storage, pipe);
                }
            }
            image.defined = true;
        }
    }

    fn params_payload(&self, inner: &TextureInner) -> TextureParams {
        use mgpipe_types::{depth_stencil_mode, gl, swizzle};
        let params = &inner.params;
        let levels = inner.chain.as_ref().map_or(1, |c| c.levels);
        let format_swizzle = inner
            .texel_buffer
            .as_ref()
            .map(|b| b.format.swizzle)
            .or_else(|| inner.base_image().map(|image| image.format.swizzle))
            .unwrap_or(swizzle::IDENTITY);
        let compose = |value: u32| match value {
            gl::RED => format_swizzle[0],
            gl::GREEN => format_swizzle[1],
            gl::BLUE => format_swizzle[2],
            gl::ALPHA => format_swizzle[3],
            gl::ONE => swizzle::ONE,
            _ => swizzle::ZERO,
        };
        let base = inner.base_level().min(levels - 1);
        TextureParams {
            res: self.handle.raw(),
            base_level: base as u16,
            max_level: inner.max_level().clamp(base, levels - 1) as u16,
            swizzle: params.swizzle.map(compose),
            depth_stencil_mode: if params.stencil_mode {
                depth_stencil_mode::STENCIL
            } else {
                depth_stencil_mode::DEPTH
            },
            min_lod: params.sampler.min_lod,
            max_lod: params.sampler.max_lod,
            lod_bias: params.sampler.lod_bias,
            ..TextureParams::default()
        }
    }
}

impl Image {
    /// The box that covers the whole image in its main resource.
    pub(crate) fn whole_box(&self, target: Target, face: usize) -> Box3 {
        let z = if target == Target::TexCube { face as i32 } else { 0 };
        Box3 { z, ..Box3::sized(self.extent.width, self.extent.height, self.extent.depth) }
    }

    /// Format of the stored texels.
    pub(crate) fn storage(&self) -> Format {
        self.format.storage
    }
}
