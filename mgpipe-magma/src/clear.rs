//! Clears of attachments.

use crate::context::MagmaContext;
use crate::draw::{rect, scissor};
use crate::render_pass::LoadClears;
use ash::vk;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;
use mgpipe_types::{aspect, clear_form, Clear, PipeResult};
use smallvec::SmallVec;

impl MagmaContext {
    /// Clears attachments of the current framebuffer under scissor and write masks.
    pub(crate) fn clear_attachments(&mut self, clear: &Clear) -> PipeResult<()> {
        self.refresh();
        let framebuffer = self.resolve_framebuffer()?;
        let area = scissor(&self.state, 0, framebuffer.extent);
        if area[2] == 0 || area[3] == 0 || self.state.rasterizer_discard != 0 {
            return Ok(());
        }
        let whole = area == [0, 0, framebuffer.extent.width as i32, framebuffer.extent.height as i32];
        let color = |alpha_is_one: bool| {
            let mut words = clear.color;
            if alpha_is_one {
                words[3] = if clear.color_form == clear_form::FLOAT { 1.0f32.to_bits() } else { 1 };
            }
            vk::ClearColorValue { uint32: words }
        };
        let mut colors = 0u8;
        let mut masked = SmallVec::<[usize; MAX_DRAW_BUFFERS]>::new();
        if clear.buffers & aspect::COLOR != 0 {
            for output in 0..MAX_DRAW_BUFFERS {
                if framebuffer.colors[output].is_none() || (clear.draw_buffer >= 0 && clear.draw_buffer as usize != output) {
                    continue;
                }
                let format = framebuffer.facts.colors[output];
                let bits = format.desc().bits;
                let alpha_is_one = framebuffer.facts.alpha_one >> output & 1 != 0;
                // A mask only matters for components that exist and are written.
                let relevant = |c: usize| {
                    let exists = format.desc().is_compressed() || bits[c] != 0 || format.desc().gl == mgpipe_types::gl::BGRA;
                    exists && !(c == 3 && alpha_is_one)
                };
                let on = (0..4).filter(|&c| relevant(c) && self.state.color_masks[output][c] != 0).count();
                let all = (0..4).filter(|&c| relevant(c)).count();
                if on == all {
                    colors |= 1 << output;
                } else if on > 0 {
                    masked.push(output);
                }
            }
        }
        let depth = clear.buffers & aspect::DEPTH != 0 && framebuffer.depth.is_some() && self.state.depth_mask != 0;
        let stencil_mask = self.state.stencil[0].write_mask & 0xff;
        let stencil = clear.buffers & aspect::STENCIL != 0 && framebuffer.stencil.is_some();
        let masked_stencil = stencil && stencil_mask != 0xff && stencil_mask != 0;
        let stencil = stencil && stencil_mask == 0xff;
        let depth_value = clear.depth.clamp(0.0, 1.0);
        let stencil_value = clear.stencil as u32 & 0xff;
        if colors != 0 || depth || stencil {
            let open = self.pass.as_ref().is_some_and(|pass| pass.framebuffer == framebuffer.serial);
            if whole && !open {
                let loads = LoadClears {
                    colors,
                    color: color(false),
                    alpha_one_color: color(true),
                    depth: depth.then_some(depth_value),
                    stencil: stencil.then_some(stencil_value),
                };
                self.ensure_pass(Some(&loads))?;
            } else {
                let commands = self.ensure_pass(None)?;
                let mut attachments = SmallVec::<[vk::ClearAttachment; MAX_DRAW_BUFFERS + 1]>::new();
                for output in (0..MAX_DRAW_BUFFERS).filter(|o| colors >> o & 1 != 0) {
                    attachments.push(vk::ClearAttachment {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        color_attachment: output as u32,
                        clear_value: vk::ClearValue { color: color(framebuffer.facts.alpha_one >> output & 1 != 0) },
                    });
                }
                let mut aspects = vk::ImageAspectFlags::empty();
                if depth {
                    aspects |= vk::ImageAspectFlags::DEPTH;
                }
                if stencil {
                    aspects |= vk::ImageAspectFlags::STENCIL;
                }
                if !aspects.is_empty() {
                    attachments.push(vk::ClearAttachment {
                        aspect_mask: aspects,
                        color_attachment: 0,
                        clear_value: vk::ClearValue {
                            depth_stencil: vk::ClearDepthStencilValue { depth: depth_value, stencil: stencil_value },
                        },
                    });
                }
                let rects =
                    [vk::ClearRect { rect: rect(area), base_array_layer: 0, layer_count: framebuffer.layers }];
                // SAFETY: a pass with these attachments is open; the rectangle was cut to its area.
                unsafe { self.device.raw.cmd_clear_attachments(commands, &attachments, &rects) };
            }
        }
        if !masked.is_empty() || masked_stencil {
            self.clear_masked(clear, &masked, masked_stencil.then_some(stencil_value))?;
        }
        Ok(())
    }

    /// Clears under partial colour or stencil masks.
    fn clear_masked(&mut self, _clear: &Clear, _outputs: &[usize], _stencil: Option<u32>) -> PipeResult<()> {
        self.warn_once(4, "a clear under a partial write mask is not done yet");
        Ok(())
    }
}
