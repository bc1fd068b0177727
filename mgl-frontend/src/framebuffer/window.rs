//! The default framebuffer: the drawables that `eglMakeCurrent` named.

use std::sync::Arc;

use mgpipe_tracker::Counter;
use mgpipe_types::gl;

use super::status::FramebufferShape;
use super::{Attachment, Binding};
use crate::boundary::DrawableDesc;
use crate::context::Context;
use crate::drawable::{Drawable, DrawableImages};

/// A drawable and its images in this share group.
#[derive(Debug, Clone)]
struct Bound {
    desc: DrawableDesc,
    images: Arc<DrawableImages>,
}

/// The default framebuffer of a context.
#[derive(Debug)]
pub(crate) struct Window {
    draw: Option<Bound>,
    read: Option<Bound>,
    /// `GL_DRAW_BUFFERi`. Every name of an existing buffer means the one colour image.
    pub(crate) draw_buffers: [u32; mgpipe_types::render_state::MAX_DRAW_BUFFERS],
    /// `GL_READ_BUFFER`.
    pub(crate) read_buffer: u32,
    /// A drawable was current before: viewport, scissor and buffers were set from it.
    seen: bool,
}

impl Default for Window {
    fn default() -> Self {
        Window { draw: None, read: None, draw_buffers: [gl::NONE; 8], read_buffer: gl::NONE, seen: false }
    }
}

impl Window {
    fn bound(&self, binding: Binding) -> Option<&Bound> {
        match binding {
            Binding::Draw => self.draw.as_ref(),
            Binding::Read => self.read.as_ref(),
        }
    }

    /// Whether there is a default framebuffer.
    pub(crate) fn exists(&self, binding: Binding) -> bool {
        self.bound(binding).is_some()
    }

    /// The drawable's shape.
    pub(crate) fn desc(&self, binding: Binding) -> Option<DrawableDesc> {
        self.bound(binding).map(|b| b.desc)
    }

    /// Size and samples.
    pub(crate) fn shape(&self, binding: Binding) -> FramebufferShape {
        self.bound(binding).map_or_else(FramebufferShape::default, |b| FramebufferShape {
            width: b.desc.width,
            height: b.desc.height,
            layers: 1,
            samples: b.images.color.image().map_or(0, |i| i.samples),
            fixed_locations: true,
        })
    }

    /// The colour image.
    pub(crate) fn color(&self, binding: Binding) -> Attachment {
        self.bound(binding).map_or(Attachment::None, |b| Attachment::Renderbuffer(b.images.color.clone()))
    }

    /// The depth image.
    pub(crate) fn depth(&self, binding: Binding) -> Attachment {
        self.aspect(binding, |desc| desc.depth != 0)
    }

    /// The stencil image.
    pub(crate) fn stencil(&self, binding: Binding) -> Attachment {
        self.aspect(binding, |desc| desc.stencil != 0)
    }

    fn aspect(&self, binding: Binding, has: impl Fn(&DrawableDesc) -> bool) -> Attachment {
        match self.bound(binding).filter(|b| has(&b.desc)).and_then(|b| b.images.depth_stencil.clone()) {
            Some(image) => Attachment::Renderbuffer(image),
            None => Attachment::None,
        }
    }

    /// Whether a buffer name (`GL_BACK_LEFT`, …) is one that the default framebuffer has; `None` for what is no name.
    pub(crate) fn has_buffer(&self, binding: Binding, buffer: u32) -> Option<bool> {
        let double = self.bound(binding).is_none_or(|b| b.desc.double_buffered);
        match buffer {
            gl::FRONT | gl::FRONT_LEFT | gl::LEFT | gl::FRONT_AND_BACK => Some(true),
            gl::BACK | gl::BACK_LEFT => Some(double),
            gl::FRONT_RIGHT | gl::BACK_RIGHT | gl::RIGHT => Some(false),
            _ => None,
        }
    }
}

impl Context {
    /// Makes drawables the default framebuffers; `None` for a surfaceless context. The first drawable also sets
    /// viewport and scissor box.
    pub fn make_current(&mut self, draw: Option<&Arc<Drawable>>, read: Option<&Arc<Drawable>>) {
        let share = self.state.share.clone();
        let mut bind = |drawable: Option<&Arc<Drawable>>| {
            let drawable = drawable?;
            match drawable.images(&share) {
                Ok(images) => Some(Bound { desc: drawable.desc(), images }),
                Err(error) => {
                    self.record_error(error.code, &error.message);
                    None
                }
            }
        };
        let (draw, read) = (bind(draw), bind(read));
        let mut first_size = None;
        let window = &mut self.state.framebuffers.window;
        if let Some(bound) = draw.as_ref().filter(|_| !window.seen) {
            window.seen = true;
            let initial = if bound.desc.double_buffered { gl::BACK } else { gl::FRONT };
            window.draw_buffers[0] = initial;
            window.read_buffer = initial;
            first_size = Some([bound.desc.width, bound.desc.height].map(|v| i32::try_from(v).unwrap_or(i32::MAX)));
        }
        window.draw = draw;
        window.read = read;
        if let Some([width, height]) = first_size {
            self.viewport(0, 0, width, height);
            self.scissor(0, 0, width, height);
        }
        self.state.generations.bump(Counter::Framebuffer);
    }

    /// `eglSwapBuffers` of the draw drawable. A pbuffer's contents stay; the frame ends.
    pub fn swap_buffers(&mut self) {
        if !self.state.lost {
            self.draw_overlay();
            self.end_frame();
        }
    }
}
