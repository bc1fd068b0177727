//! The framebuffer as the server is told: every attachment a surface, everything else a number.

use mgpipe_tracker::Counter;
use mgpipe_types::{gl, Context as Pipe, FramebufferHandle, FramebufferState, Surface, TypedHandle};

use super::{color_index, Attachment, Binding, Framebuffers};
use crate::context::ContextState;

fn narrow(value: u32) -> u16 {
    value.min(u32::from(u16::MAX)) as u16
}

impl Framebuffers {
    /// Gives every attachment of the bound framebuffers a place on the server and sends what waits for it, unless `state`,
    /// which moves with every change of a texture, an attachment or a binding, is what it was.
    pub(crate) fn realize_moved(&mut self, state: [u64; 4], pipe: &mut dyn Pipe) {
        if self.realized == Some(state) {
            return;
        }
        self.realized = Some(state);
        for framebuffer in [self.draw(), self.read()].into_iter().flatten() {
            for attachment in framebuffer.attachments() {
                attachment.realize(pipe);
            }
        }
    }

    /// What is read as colour from the read framebuffer.
    pub(crate) fn read_color(&self) -> Option<Attachment> {
        match self.read() {
            Some(framebuffer) => framebuffer.read_attachment().map(Attachment::share),
            None if self.window.read_buffer == gl::NONE => None,
            None => Some(self.window.color(Binding::Read)).filter(Attachment::is_some),
        }
    }

    /// The depth image of a framebuffer.
    pub(crate) fn depth(&self, binding: Binding) -> Attachment {
        let object = match binding {
            Binding::Draw => self.draw(),
            Binding::Read => self.read(),
        };
        object.map_or_else(|| self.window.depth(binding), |f| f.depth.share())
    }

    /// The stencil image of a framebuffer.
    pub(crate) fn stencil(&self, binding: Binding) -> Attachment {
        let object = match binding {
            Binding::Draw => self.draw(),
            Binding::Read => self.read(),
        };
        object.map_or_else(|| self.window.stencil(binding), |f| f.stencil.share())
    }

    /// The colour image that a draw buffer writes, if any.
    pub(crate) fn draw_color(&self, draw_buffer: usize) -> Attachment {
        match self.draw() {
            Some(framebuffer) => framebuffer
                .draw_buffers
                .get(draw_buffer)
                .and_then(|&buffer| color_index(buffer))
                .and_then(|index| framebuffer.color.get(index))
                .map_or(Attachment::None, Attachment::share),
            None => match self.window.draw_buffers.get(draw_buffer) {
                Some(&buffer) if buffer != gl::NONE => self.window.color(Binding::Draw),
                _ => Attachment::None,
            },
        }
    }
}

impl Attachment {
    /// Another reference to the same image.
    pub(crate) fn share(&self) -> Attachment {
        match self {
            Attachment::None => Attachment::None,
            Attachment::Texture(a) => Attachment::Texture(a.clone()),
            Attachment::Renderbuffer(a) => Attachment::Renderbuffer(a.clone()),
        }
    }
}

impl ContextState {
    /// Resolves the bound framebuffers. [`Framebuffers::realize_moved`] ran before, as part of the uploads of the same verb.
    pub(crate) fn resolve_framebuffer_state(&mut self) -> FramebufferState {
        let complete = self.framebuffer_status(Binding::Draw) == gl::FRAMEBUFFER_COMPLETE;
        let mut state =
            FramebufferState { draw_buffers: [-1; 8], complete: u8::from(complete), ..FramebufferState::default() };
        let mut unresolved = false;
        let mut place = |attachment: &Attachment| {
            let surface = attachment.surface();
            unresolved |= attachment.is_some() && !surface.is_some();
            surface
        };
        let framebuffers = &self.framebuffers;
        if let Some(framebuffer) = framebuffers.draw() {
            state.fbo = framebuffer.handle.raw();
            if complete {
                for (slot, attachment) in state.color.iter_mut().zip(&framebuffer.color) {
                    *slot = place(attachment);
                }
                state.depth = place(&framebuffer.depth);
                state.stencil = place(&framebuffer.stencil);
                for (slot, &buffer) in state.draw_buffers.iter_mut().zip(&framebuffer.draw_buffers) {
                    if let Some(index) = color_index(buffer) {
                        if framebuffer.color.get(index).is_some_and(Attachment::is_some) {
                            *slot = index as i8;
                        }
                    }
                }
            }
        } else {
            state.fbo = FramebufferHandle::DEFAULT.raw();
            state.is_default = 1;
            let window = &framebuffers.window;
            state.color[0] = place(&window.color(Binding::Draw));
            state.depth = place(&window.depth(Binding::Draw));
            state.stencil = place(&window.stencil(Binding::Draw));
            if state.color[0].is_some() {
                for (slot, &buffer) in state.draw_buffers.iter_mut().zip(&window.draw_buffers) {
                    if buffer != gl::NONE {
                        *slot = 0;
                    }
                }
            }
        }
        state.read_surface = framebuffers.read_color().map_or_else(Surface::default, |a| place(&a));
        if complete {
            let shape = self.framebuffer_shape(Binding::Draw);
            state.width = narrow(shape.width);
            state.height = narrow(shape.height);
            state.layers = narrow(shape.layers).max(1);
            state.samples = narrow(shape.samples);
            state.fixed_sample_locations = u8::from(shape.fixed_locations);
        }
        if unresolved {
            // A verb that sends no uploads came first; the next one resolves again.
            self.generations.bump(Counter::Framebuffer);
        }
        state
    }
}
