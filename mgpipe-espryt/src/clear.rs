//! Clears of attachments.

use crate::context::{dirty, EsprytContext};
use crate::format::Class;
use glow::HasContext;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;
use mgpipe_types::{aspect, clear_form, gl, Clear, PipeResult};

impl EsprytContext {
    /// Clears attachments of the current framebuffer under scissor and write masks.
    pub(crate) fn clear_attachments(&mut self, clear: &Clear) -> PipeResult<()> {
        if !self.bind_framebuffer()? {
            return Ok(());
        }
        if self.dirty & dirty::STATE != 0 {
            self.apply_state();
            self.dirty &= !dirty::STATE;
        }
        let shared = self.shared.clone();
        let gl = &shared.device.gles.gl;
        let facts = self.framebuffer_facts();
        if facts.unequal_layers {
            return self.clear_one_by_one(clear);
        }
        if clear.buffers & aspect::COLOR != 0 {
            for output in 0..MAX_DRAW_BUFFERS {
                let chosen = clear.draw_buffer < 0 || clear.draw_buffer as usize == output;
                let Some(class) = facts.classes[output].filter(|_| chosen) else { continue };
                let index = output as u32;
                let mut color = clear.color;
                let alpha_one = facts.alpha_one >> output & 1 != 0;
                if alpha_one {
                    // The alpha that is stored is written here alone, and it is one.
                    color[3] = if clear.color_form == clear_form::FLOAT { 1.0f32.to_bits() } else { 1 };
                    self.open_alpha(index, true);
                }
                // SAFETY: the context is current and the draw buffer is attached.
                unsafe { clear_color(gl, index, class, clear.color_form, &color) };
                if alpha_one {
                    self.open_alpha(index, false);
                }
            }
        }
        let depth = clear.buffers & aspect::DEPTH != 0 && facts.depth;
        let stencil = clear.buffers & aspect::STENCIL != 0 && facts.stencil;
        // SAFETY: the context is current and the aspects are attached.
        unsafe {
            match (depth, stencil) {
                (true, true) => {
                    gl.clear_buffer_depth_stencil(gl::DEPTH_STENCIL, 0, clear.depth, clear.stencil);
                }
                (true, false) => gl.clear_buffer_f32_slice(gl::DEPTH, 0, &[clear.depth]),
                (false, true) => gl.clear_buffer_i32_slice(gl::STENCIL, 0, &[clear.stencil]),
                _ => {}
            }
        }
        Ok(())
    }

    /// Clears attachments with different numbers of layers, each with all of its own.
    fn clear_one_by_one(&mut self, clear: &Clear) -> PipeResult<()> {
        let surfaces = self.attached_surfaces()?;
        let facts = self.framebuffer_facts();
        let masks = self.state.color_masks;
        let shared = self.shared.clone();
        let gl = &shared.device.gles.gl;
        if clear.buffers & aspect::COLOR != 0 {
            for (output, surface) in surfaces.colors.iter().enumerate() {
                let chosen = clear.draw_buffer < 0 || clear.draw_buffer as usize == output;
                let (Some(surface), Some(class)) = (surface, facts.classes[output].filter(|_| chosen)) else {
                    continue;
                };
                let (mut color, mut mask) = (clear.color, masks[output].map(|on| on != 0));
                if facts.alpha_one >> output & 1 != 0 {
                    color[3] = if clear.color_form == clear_form::FLOAT { 1.0f32.to_bits() } else { 1 };
                    mask[3] = true;
                }
                if self.bind_single(gl::DRAW_FRAMEBUFFER, surface)? {
                    self.set_masks(mask);
                    // SAFETY: the context is current and the surface is attachment 0.
                    unsafe { clear_color(gl, 0, class, clear.color_form, &color) };
                }
            }
        }
        if let Some(depth) = surfaces.depth.filter(|_| clear.buffers & aspect::DEPTH != 0) {
            if self.bind_single(gl::DRAW_FRAMEBUFFER, &depth)? {
                // SAFETY: the context is current and depth is attached.
                unsafe { gl.clear_buffer_f32_slice(gl::DEPTH, 0, &[clear.depth]) };
            }
        }
        if let Some(stencil) = surfaces.stencil.filter(|_| clear.buffers & aspect::STENCIL != 0) {
            if self.bind_single(gl::DRAW_FRAMEBUFFER, &stencil)? {
                // SAFETY: the context is current and stencil is attached.
                unsafe { gl.clear_buffer_i32_slice(gl::STENCIL, 0, &[clear.stencil]) };
            }
        }
        Ok(())
    }
}

/// Clears a draw buffer in a form that fits its class; another one leaves it undefined.
///
/// # Safety
/// The context is current and the draw buffer is attached.
unsafe fn clear_color(gl: &glow::Context, index: u32, class: Class, form: u32, color: &[u32; 4]) {
    // SAFETY: the caller's promise.
    unsafe {
        match (class, form) {
            (Class::Float, clear_form::FLOAT) => {
                gl.clear_buffer_f32_slice(gl::COLOR, index, &color.map(f32::from_bits));
            }
            (Class::Sint, clear_form::SIGNED | clear_form::UNSIGNED) => {
                gl.clear_buffer_i32_slice(gl::COLOR, index, &color.map(|w| w as i32));
            }
            (Class::Uint, clear_form::SIGNED | clear_form::UNSIGNED) => {
                gl.clear_buffer_u32_slice(gl::COLOR, index, color);
            }
            _ => {}
        }
    }
}
