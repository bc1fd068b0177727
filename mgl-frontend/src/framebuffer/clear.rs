//! `glClear` and `glClearBuffer*`.

use mgpipe_tracker::VerbClass;
use mgpipe_types::{aspect, clear_form, gl, Clear};

use super::Binding;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_value, GlResult};

impl Context {
    /// Whether clears do nothing: rasterisation is discarded, or a conditional render says so.
    fn clears_are_discarded(&mut self) -> bool {
        self.state.render.state().rasterizer_discard != 0 || self.is_discarded()
    }

    fn emit_clear(&mut self, clear: &Clear) {
        if clear.buffers == 0 || self.clears_are_discarded() {
            return;
        }
        self.tracker.validate(VerbClass::Clear, &mut self.state, &mut *self.pipe);
        self.pipe.clear(clear);
    }

    /// `glClear`.
    pub fn clear(&mut self, mask: u32) {
        self.gl(|ctx| {
            let known = gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT;
            if mask & !known != 0 {
                return Err(invalid_value("glClear: mask"));
            }
            ctx.state.check_draw_framebuffer("glClear")?;
            let framebuffers = &ctx.state.framebuffers;
            let mut buffers = 0;
            if mask & gl::COLOR_BUFFER_BIT != 0 && (0..8).any(|i| framebuffers.draw_color(i).is_some()) {
                buffers |= aspect::COLOR;
            }
            if mask & gl::DEPTH_BUFFER_BIT != 0 && framebuffers.depth(Binding::Draw).is_some() {
                buffers |= aspect::DEPTH;
            }
            if mask & gl::STENCIL_BUFFER_BIT != 0 && framebuffers.stencil(Binding::Draw).is_some() {
                buffers |= aspect::STENCIL;
            }
            let render = ctx.state.render.state();
            let clear = Clear {
                buffers,
                draw_buffer: -1,
                color_form: clear_form::FLOAT,
                depth: render.clear_depth,
                stencil: render.clear_stencil,
                pad: 0,
                color: render.clear_color.map(f32::to_bits),
            };
            ctx.emit_clear(&clear);
            Ok(())
        });
    }

    /// A `glClearBuffer*` of one colour buffer.
    fn clear_color_buffer(&mut self, draw_buffer: i32, form: u32, color: [u32; 4], command: &'static str) -> GlResult {
        let most = self.state.share.limits.draw_buffers;
        let index = u32::try_from(draw_buffer).ok().filter(|&i| i < most);
        let index = index.ok_or_else(|| invalid_value(format!("{command}: draw buffer {draw_buffer}")))?;
        self.state.check_draw_framebuffer(command)?;
        if !self.state.framebuffers.draw_color(index as usize).is_some() {
            return Ok(());
        }
        self.emit_clear(&Clear {
            buffers: aspect::COLOR,
            draw_buffer: index as i32,
            color_form: form,
            color,
            ..Clear::default()
        });
        Ok(())
    }

    /// A `glClearBuffer*` of depth, stencil or both.
    fn clear_other_buffer(
        &mut self,
        draw_buffer: i32,
        wanted: u32,
        depth: f32,
        stencil: i32,
        command: &'static str,
    ) -> GlResult {
        if draw_buffer != 0 {
            return Err(invalid_value(format!("{command}: draw buffer {draw_buffer}")));
        }
        self.state.check_draw_framebuffer(command)?;
        let framebuffers = &self.state.framebuffers;
        let mut buffers = 0;
        if framebuffers.depth(Binding::Draw).is_some() {
            buffers |= wanted & aspect::DEPTH;
        }
        if framebuffers.stencil(Binding::Draw).is_some() {
            buffers |= wanted & aspect::STENCIL;
        }
        // A fixed-point depth buffer clamps the value; a float one keeps it.
        let is_float = framebuffers
            .depth(Binding::Draw)
            .describe()
            .is_some_and(|d| d.format.info.kind == crate::format::ComponentKind::Float);
        let depth = if depth.is_nan() { 0.0 } else { depth };
        let depth = if is_float { depth } else { depth.clamp(0.0, 1.0) };
        self.emit_clear(&Clear { buffers, draw_buffer: 0, depth, stencil, ..Clear::default() });
        Ok(())
    }

    /// `glClearBufferfv`.
    pub fn clear_bufferfv(&mut self, buffer: u32, drawbuffer: i32, value: &[f32]) {
        let command = "glClearBufferfv";
        self.gl(|ctx| match buffer {
            gl::COLOR => {
                let color = four(value).map(f32::to_bits);
                ctx.clear_color_buffer(drawbuffer, clear_form::FLOAT, color, command)
            }
            gl::DEPTH => {
                let depth = value.first().copied().unwrap_or(0.0);
                ctx.clear_other_buffer(drawbuffer, aspect::DEPTH, depth, 0, command)
            }
            _ => Err(invalid_enum(format!("{command}: buffer"))),
        });
    }

    /// `glClearBufferiv`.
    pub fn clear_bufferiv(&mut self, buffer: u32, drawbuffer: i32, value: &[i32]) {
        let command = "glClearBufferiv";
        self.gl(|ctx| match buffer {
            gl::COLOR => {
                let color = four(value).map(|v| v as u32);
                ctx.clear_color_buffer(drawbuffer, clear_form::SIGNED, color, command)
            }
            gl::STENCIL => {
                let stencil = value.first().copied().unwrap_or(0);
                ctx.clear_other_buffer(drawbuffer, aspect::STENCIL, 0.0, stencil, command)
            }
            _ => Err(invalid_enum(format!("{command}: buffer"))),
        });
    }

    /// `glClearBufferuiv`.
    pub fn clear_bufferuiv(&mut self, buffer: u32, drawbuffer: i32, value: &[u32]) {
        let command = "glClearBufferuiv";
        self.gl(|ctx| match buffer {
            gl::COLOR => ctx.clear_color_buffer(drawbuffer, clear_form::UNSIGNED, four(value), command),
            _ => Err(invalid_enum(format!("{command}: buffer"))),
        });
    }

    /// `glClearBufferfi`.
    pub fn clear_bufferfi(&mut self, buffer: u32, drawbuffer: i32, depth: f32, stencil: i32) {
        let command = "glClearBufferfi";
        self.gl(|ctx| match buffer {
            gl::DEPTH_STENCIL => {
                ctx.clear_other_buffer(drawbuffer, aspect::DEPTH | aspect::STENCIL, depth, stencil, command)
            }
            _ => Err(invalid_enum(format!("{command}: buffer"))),
        });
    }
}

fn four<T: Copy + Default>(value: &[T]) -> [T; 4] {
    let mut out = [T::default(); 4];
    for (to, from) in out.iter_mut().zip(value) {
        *to = *from;
    }
    out
}
