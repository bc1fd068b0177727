//! Window-system drawables: the images behind the default framebuffer.

use std::sync::{Arc, Weak};

use mgpipe_types::gl;
use parking_lot::Mutex;

use crate::boundary::DrawableDesc;
use crate::error::{invalid_framebuffer_operation, GlResult};
use crate::renderbuffer::{Renderbuffer, RenderbufferImage};
use crate::share::ShareGroup;

/// An EGL surface as GL sees it. Its images are made when a context of some share group first draws to it, and live as
/// long as the drawable, once for each group that uses it.
pub struct Drawable {
    desc: DrawableDesc,
    images: Mutex<Vec<(Weak<ShareGroup>, Arc<DrawableImages>)>>,
}

/// The images of a drawable in one share group.
#[derive(Debug)]
pub(crate) struct DrawableImages {
    /// The colour image. A pbuffer has one, which front and back both mean.
    pub(crate) color: Arc<Renderbuffer>,
    /// Depth, stencil or both.
    pub(crate) depth_stencil: Option<Arc<Renderbuffer>>,
}

impl std::fmt::Debug for Drawable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawable").field("desc", &self.desc).finish_non_exhaustive()
    }
}

fn color_format(desc: &DrawableDesc) -> u32 {
    match (desc.red, desc.alpha, desc.srgb) {
        (16, _, _) => gl::RGBA16F,
        (10, 0, _) => gl::RGB10,
        (10, _, _) => gl::RGB10_A2,
        (5, 0, _) => gl::RGB565,
        (_, 0, true) => gl::SRGB8,
        (_, _, true) => gl::SRGB8_ALPHA8,
        (_, 0, false) => gl::RGB8,
        (_, _, false) => gl::RGBA8,
    }
}

fn depth_stencil_format(desc: &DrawableDesc) -> Option<u32> {
    match (desc.depth, desc.stencil) {
        (0, 0) => None,
        (0, _) => Some(gl::STENCIL_INDEX8),
        (16, 0) => Some(gl::DEPTH_COMPONENT16),
        (32, 0) => Some(gl::DEPTH_COMPONENT32F),
        (_, 0) => Some(gl::DEPTH_COMPONENT24),
        (32, _) => Some(gl::DEPTH32F_STENCIL8),
        _ => Some(gl::DEPTH24_STENCIL8),
    }
}

impl Drawable {
    /// A drawable without images.
    pub fn new(desc: DrawableDesc) -> Arc<Drawable> {
        Arc::new(Drawable { desc, images: Mutex::new(Vec::new()) })
    }

    /// Shape and size.
    pub fn desc(&self) -> DrawableDesc {
        self.desc
    }

    /// The images for a share group, made on first use.
    pub(crate) fn images(&self, share: &Arc<ShareGroup>) -> GlResult<Arc<DrawableImages>> {
        let mut all = self.images.lock();
        all.retain(|(group, _)| group.strong_count() != 0);
        let mine = |group: &Weak<ShareGroup>| std::ptr::eq(group.as_ptr(), Arc::as_ptr(share));
        if let Some((_, images)) = all.iter().find(|(group, _)| mine(group)) {
            return Ok(images.clone());
        }
        let make = |internal: u32| {
            let format = share.formats.get(internal).copied().filter(|f| f.renderable);
            let format = format.ok_or_else(|| {
                invalid_framebuffer_operation("the backend has no storage for the default framebuffer")
            })?;
            let samples = format.round_up_samples(u32::from(self.desc.samples)).unwrap_or(format.max_samples());
            Renderbuffer::with_storage(
                &share.core,
                RenderbufferImage {
                    format,
                    // A surface without pixels still needs an image to be complete.
                    width: self.desc.width.max(1),
                    height: self.desc.height.max(1),
                    samples: if samples <= 1 { 0 } else { samples },
                },
            )
        };
        let images = Arc::new(DrawableImages {
            color: make(color_format(&self.desc))?,
            depth_stencil: depth_stencil_format(&self.desc).map(make).transpose()?,
        });
        all.push((Arc::downgrade(share), images.clone()));
        Ok(images)
    }
}
