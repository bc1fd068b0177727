//! The default framebuffer: the drawables that `eglMakeCurrent` named.

use std::sync::Arc;

use mgpipe_tracker::Counter;
use mgpipe_types::{aspect, gl, Box3, Format, Present, ReadbackInfo, SwapInterval};

use super::status::FramebufferShape;
use super::{Attachment, Binding};
use crate::boundary::{DrawableDesc, Picture};
use crate::context::{Context, ContextState};
use crate::drawable::{Drawable, DrawableImages, Place};
use crate::share::ShareGroup;

/// A drawable and its images in this share group.
#[derive(Debug, Clone)]
struct Bound {
    drawable: Arc<Drawable>,
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
    /// A frame ended, and nothing has used the framebuffer since: a window may have another size by now.
    stale: bool,
}

impl Default for Window {
    fn default() -> Self {
        Window { draw: None, read: None, draw_buffers: [gl::NONE; 8], read_buffer: gl::NONE, seen: false, stale: false }
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

impl Bound {
    fn new(drawable: &Arc<Drawable>, share: &Arc<ShareGroup>) -> crate::error::GlResult<Bound> {
        let (desc, images) = drawable.images(share)?;
        Ok(Bound { drawable: drawable.clone(), desc, images })
    }
}

impl ContextState {
    /// Whether there is a default framebuffer, with the window's size of this frame.
    #[inline]
    pub(crate) fn window_exists(&mut self, binding: Binding) -> bool {
        if self.framebuffers.window.stale {
            self.follow_window();
        }
        self.framebuffers.window.exists(binding)
    }

    /// Takes the sizes of windows at the first use of a frame.
    #[cold]
    fn follow_window(&mut self) {
        let share = self.share.clone();
        let window = &mut self.framebuffers.window;
        window.stale = false;
        let mut moved = false;
        let mut asked = std::ptr::null();
        for bound in [&mut window.draw, &mut window.read].into_iter().flatten() {
            let drawable = bound.drawable.clone();
            // Mostly one window is drawn to and read: it is asked once.
            if !std::ptr::eq(asked, Arc::as_ptr(&drawable)) {
                asked = Arc::as_ptr(&drawable);
                drawable.follow_size();
            }
            let desc = drawable.desc();
            if (desc.width, desc.height) == (bound.desc.width, bound.desc.height) {
                continue;
            }
            match Bound::new(&drawable, &share) {
                Ok(new) => *bound = new,
                // The old images go on: a frame of the wrong size.
                Err(error) => log::error!("a window of {} x {}: {}", desc.width, desc.height, error.message),
            }
            moved = true;
        }
        if moved {
            self.generations.bump(Counter::Framebuffer);
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
            drawable.follow_size();
            match Bound::new(drawable, &share) {
                Ok(bound) => Some(bound),
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
        window.stale = [&draw, &read].into_iter().flatten().any(|bound| bound.drawable.native().is_some());
        window.draw = draw;
        window.read = read;
        if let Some([width, height]) = first_size {
            self.viewport(0, 0, width, height);
            self.scissor(0, 0, width, height);
        }
        self.state.generations.bump(Counter::Framebuffer);
    }

    /// `eglSwapBuffers` of the draw drawable: shows a window's frame. The contents stay; the frame ends. False when the
    /// window is gone.
    pub fn swap_buffers(&mut self) -> bool {
        if self.state.lost {
            return true;
        }
        self.state.window_exists(Binding::Draw);
        self.draw_overlay();
        let bound = self.state.framebuffers.window.draw.clone();
        match bound.filter(|bound| bound.drawable.native().is_some()) {
            Some(bound) => self.show(&bound),
            None => {
                self.end_frame();
                true
            }
        }
    }

    /// Age of the draw drawable's contents in frames (`EGL_EXT_buffer_age`), for the size that the window has now.
    pub fn draw_age(&mut self) -> i32 {
        self.state.window_exists(Binding::Draw);
        self.state.framebuffers.window.draw.as_ref().map_or(0, |bound| bound.drawable.age())
    }

    /// Shows what is drawn to the front buffer of a window, at `glFlush` and `glFinish`.
    pub(crate) fn show_front(&mut self) {
        let window = &self.state.framebuffers.window;
        let front = matches!(window.draw_buffers[0], gl::FRONT | gl::FRONT_LEFT | gl::LEFT | gl::FRONT_AND_BACK);
        if let Some(bound) = window.draw.clone().filter(|bound| front && bound.drawable.native().is_some()) {
            self.show(&bound);
        }
    }

    fn show(&mut self, bound: &Bound) -> bool {
        let drawable = &bound.drawable;
        self.state.framebuffers.window.stale = true;
        if drawable.is_gone() {
            self.end_frame();
            return false;
        }
        let share = self.state.share.clone();
        let place = drawable.place(&share);
        let frame_serial = drawable.frame_shown();
        let surface = bound.images.color.surface();
        match place {
            Place::Backend { window, interval } => {
                self.send_waiting();
                self.before_submit();
                if let Some(interval) = interval {
                    self.pipe.set_swap_interval(&SwapInterval { window, interval });
                }
                self.pipe.present(&Present { surface, frame_serial, window, pad: 0 });
                true
            }
            Place::Client => {
                self.end_frame();
                self.show_from_here(bound)
            }
        }
    }

    /// Reads a frame back and shows it from this process.
    fn show_from_here(&mut self, bound: &Bound) -> bool {
        let (Some(native), Some(image)) = (bound.drawable.native(), bound.images.color.image()) else { return true };
        let storage = image.format.storage;
        let texels = image.width as usize * image.height as usize;
        let bytes = storage.desc().block_bytes as usize;
        let is_plain =
            matches!(storage, Format::RGBA8_UNORM | Format::RGBA8_SRGB | Format::RGB8_UNORM | Format::RGB8_SRGB);
        if !is_plain {
            self.state.warn_once("windows of this format cannot be shown");
            return true;
        }
        let info = ReadbackInfo {
            surface: bound.images.color.surface(),
            area: Box3 { x: 0, y: 0, z: 0, width: image.width, height: image.height, depth: 1 },
            format: storage.0,
            aspect: aspect::COLOR,
            pad: [0; 2],
        };
        let pipe = &mut self.pipe;
        let mut read = |target: &mut [u8]| {
            let read = match bytes {
                3 => {
                    let mut pixels = vec![0; texels * bytes];
                    let read = pipe.read_pixels(&info, &mut pixels);
                    for (target, rgb) in target.chunks_exact_mut(4).zip(pixels.chunks_exact(3)) {
                        target.copy_from_slice(&[rgb[0], rgb[1], rgb[2], 0xff]);
                    }
                    read
                }
                _ => pipe.read_pixels(&info, target),
            };
            read.map_err(|error| log::error!("a frame could not be read: {error}")).is_ok()
        };
        let picture = Picture {
            width: image.width,
            height: image.height,
            opaque: bound.desc.alpha == 0,
            interval: bound.drawable.interval(),
        };
        let shown = native.show(&picture, &mut read);
        if !shown {
            bound.drawable.lose();
        }
        shown
    }
}
