//! `glDrawBuffer(s)` and `glReadBuffer`.

use mgpipe_tracker::Counter;
use mgpipe_types::gl;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;

use super::{color_index, Binding, MAX_COLOR_ATTACHMENTS};
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlError, GlResult};

/// Whether an enumerant names a buffer of default framebuffers.
fn is_window_buffer(buffer: u32) -> bool {
    matches!(
        buffer,
        gl::FRONT_LEFT
            | gl::FRONT_RIGHT
            | gl::BACK_LEFT
            | gl::BACK_RIGHT
            | gl::FRONT
            | gl::BACK
            | gl::LEFT
            | gl::RIGHT
            | gl::FRONT_AND_BACK
    )
}

impl ContextState {
    /// Checks one buffer name for a bound framebuffer.
    fn check_buffer(&self, binding: Binding, buffer: u32, command: &'static str) -> GlResult {
        if buffer == gl::NONE {
            return Ok(());
        }
        let wrong = |reason: &str| -> GlError { invalid_operation(format!("{command}: {reason}")) };
        let window = is_window_buffer(buffer);
        let color = color_index(buffer);
        if !window && color.is_none() {
            return Err(invalid_enum(format!("{command}: buffer {buffer:#x}")));
        }
        if self.framebuffer_name(binding) == 0 {
            if !window {
                return Err(wrong("the default framebuffer has no attachments"));
            }
            if self.framebuffers.window.has_buffer(binding, buffer) != Some(true) {
                return Err(wrong("the default framebuffer has no such buffer"));
            }
            return Ok(());
        }
        match color {
            Some(index) if index < MAX_COLOR_ATTACHMENTS => Ok(()),
            Some(_) => Err(wrong("attachment beyond GL_MAX_COLOR_ATTACHMENTS")),
            None => Err(wrong("a framebuffer object has no front and back")),
        }
    }

    fn set_draw_buffers(&mut self, buffers: [u32; MAX_DRAW_BUFFERS]) {
        let name = self.framebuffer_name(Binding::Draw);
        match self.framebuffers.objects.get_mut(name) {
            Some(framebuffer) => framebuffer.draw_buffers = buffers,
            None => self.framebuffers.window.draw_buffers = buffers,
        }
        self.generations.bump(Counter::Framebuffer);
    }

    /// `GL_DRAW_BUFFERi` of the draw framebuffer.
    pub(crate) fn draw_buffers(&self) -> [u32; MAX_DRAW_BUFFERS] {
        self.framebuffers.draw().map_or(self.framebuffers.window.draw_buffers, |f| f.draw_buffers)
    }

    /// `GL_READ_BUFFER` of the read framebuffer.
    pub(crate) fn read_buffer(&self) -> u32 {
        self.framebuffers.read().map_or(self.framebuffers.window.read_buffer, |f| f.read_buffer)
    }
}

impl Context {
    /// `glDrawBuffer`.
    pub fn draw_buffer(&mut self, buf: u32) {
        self.gl(|ctx| {
            ctx.state.check_buffer(Binding::Draw, buf, "glDrawBuffer")?;
            let mut buffers = [gl::NONE; MAX_DRAW_BUFFERS];
            buffers[0] = buf;
            ctx.state.set_draw_buffers(buffers);
            Ok(())
        });
    }

    /// `glDrawBuffers`.
    pub fn draw_buffers(&mut self, buffers: &[u32]) {
        let command = "glDrawBuffers";
        self.gl(|ctx| {
            if buffers.len() > ctx.state.share.limits.draw_buffers as usize || buffers.len() > MAX_DRAW_BUFFERS {
                return Err(invalid_value("glDrawBuffers: more than GL_MAX_DRAW_BUFFERS"));
            }
            for (i, &buffer) in buffers.iter().enumerate() {
                // Names that may mean several buffers are not allowed in a list (GL_BACK alone is, from GL 4.5 on).
                if matches!(buffer, gl::FRONT | gl::BACK | gl::LEFT | gl::RIGHT | gl::FRONT_AND_BACK) {
                    return Err(invalid_enum(format!("{command}: buffer {buffer:#x} means several buffers")));
                }
                ctx.state.check_buffer(Binding::Draw, buffer, command)?;
                if buffer != gl::NONE && buffers[..i].contains(&buffer) {
                    return Err(invalid_operation(format!("{command}: a buffer is listed twice")));
                }
            }
            let mut list = [gl::NONE; MAX_DRAW_BUFFERS];
            list[..buffers.len()].copy_from_slice(buffers);
            ctx.state.set_draw_buffers(list);
            Ok(())
        });
    }

    /// `glReadBuffer`.
    pub fn read_buffer(&mut self, src: u32) {
        self.gl(|ctx| {
            if src == gl::FRONT_AND_BACK {
                return Err(invalid_enum("glReadBuffer: GL_FRONT_AND_BACK"));
            }
            ctx.state.check_buffer(Binding::Read, src, "glReadBuffer")?;
            let name = ctx.state.framebuffer_name(Binding::Read);
            match ctx.state.framebuffers.objects.get_mut(name) {
                Some(framebuffer) => framebuffer.read_buffer = src,
                None => ctx.state.framebuffers.window.read_buffer = src,
            }
            ctx.state.generations.bump(Counter::Framebuffer);
            Ok(())
        });
    }
}
