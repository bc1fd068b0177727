//! One attachment point, and what can be said about the image behind it.

use std::sync::Arc;

use mgpipe_types::{Context as Pipe, Surface, Target};

use crate::format::ResolvedFormat;
use crate::renderbuffer::Renderbuffer;
use crate::texture::{layer_count, Texture};

/// What is attached to a point.
#[derive(Debug, Default)]
pub(crate) enum Attachment {
    /// Nothing.
    #[default]
    None,
    /// An image of a texture.
    Texture(TextureAttachment),
    /// A renderbuffer.
    Renderbuffer(Arc<Renderbuffer>),
}

/// An attached image of a texture.
#[derive(Debug, Clone)]
pub(crate) struct TextureAttachment {
    pub(crate) texture: Arc<Texture>,
    pub(crate) level: u32,
    /// Face of a cube map.
    pub(crate) face: usize,
    /// Layer of an array or slice of a 3D texture.
    pub(crate) layer: u32,
    /// All layers are attached.
    pub(crate) layered: bool,
}

/// Facts about an attached image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Described {
    pub(crate) format: ResolvedFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Layers that are attached.
    pub(crate) layers: u32,
    pub(crate) layered: bool,
    /// Samples, 0 for single-sampled.
    pub(crate) samples: u32,
    pub(crate) fixed_locations: bool,
    /// Target of the texture, or [`Target::Renderbuffer`].
    pub(crate) target: Target,
    /// The layer exists and, for a layered cube map, all faces agree.
    pub(crate) exists: bool,
}

impl Attachment {
    /// Whether anything is attached.
    pub(crate) fn is_some(&self) -> bool {
        !matches!(self, Attachment::None)
    }

    pub(crate) fn is_texture(&self, texture: &Arc<Texture>) -> bool {
        matches!(self, Attachment::Texture(a) if Arc::ptr_eq(&a.texture, texture))
    }

    pub(crate) fn is_renderbuffer(&self, renderbuffer: &Arc<Renderbuffer>) -> bool {
        matches!(self, Attachment::Renderbuffer(a) if Arc::ptr_eq(a, renderbuffer))
    }

    /// Whether two points have the same image.
    pub(crate) fn same_image(&self, other: &Attachment) -> bool {
        match (self, other) {
            (Attachment::Texture(a), Attachment::Texture(b)) => {
                Arc::ptr_eq(&a.texture, &b.texture)
                    && (a.level, a.face, a.layer, a.layered) == (b.level, b.face, b.layer, b.layered)
            }
            (Attachment::Renderbuffer(a), Attachment::Renderbuffer(b)) => Arc::ptr_eq(a, b),
            (Attachment::None, Attachment::None) => true,
            _ => false,
        }
    }

    /// Facts about the image; `None` when nothing is attached or the image has no storage.
    pub(crate) fn describe(&self) -> Option<Described> {
        match self {
            Attachment::None => None,
            Attachment::Renderbuffer(renderbuffer) => {
                let image = renderbuffer.image()?;
                Some(Described {
                    format: image.format,
                    width: image.width,
                    height: image.height,
                    layers: 1,
                    layered: false,
                    samples: image.samples,
                    fixed_locations: true,
                    target: Target::Renderbuffer,
                    exists: image.width != 0 && image.height != 0,
                })
            }
            Attachment::Texture(a) => {
                let target = a.texture.target;
                let mut inner = a.texture.lock();
                let cube_complete = !(a.layered && target == Target::TexCube) || inner.completeness(target).base;
                let image = inner.image(a.face, a.level)?;
                let layers = layer_count(target, image.extent);
                Some(Described {
                    format: image.format,
                    width: image.extent.width,
                    height: if target == Target::Tex1DArray { 1 } else { image.extent.height },
                    layers: if a.layered { layers } else { 1 },
                    layered: a.layered,
                    samples: image.samples,
                    fixed_locations: image.fixed_locations,
                    target,
                    exists: !image.extent.is_empty() && cube_complete && (a.layered || a.layer < layers),
                })
            }
        }
    }

    /// Gives the image a place on the server and sends what waits for it. Its contents count from here on, since verbs may
    /// write them.
    pub(crate) fn realize(&self, pipe: &mut dyn Pipe) {
        if let Attachment::Texture(a) = self {
            if let Err(error) = a.texture.realize_attached(a.face, a.level, pipe) {
                log::error!("an attachment has no storage: {}", error.message);
            }
        }
    }

    /// The surface; null when nothing is attached or the image has no place yet.
    pub(crate) fn surface(&self) -> Surface {
        match self {
            Attachment::None => Surface::default(),
            Attachment::Renderbuffer(renderbuffer) => renderbuffer.surface(),
            Attachment::Texture(a) => {
                let inner = a.texture.lock();
                a.texture.surface(&inner, a.face, a.level, a.layer, a.layered)
            }
        }
    }
}
