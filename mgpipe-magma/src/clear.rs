//! Clears of attachments.

use crate::context::{dirty, MagmaContext};
use crate::draw::{rect, scissor};
use crate::internal::{Component, InternalShader, InternalTarget, PUSH_BYTES};
use crate::render_pass::LoadClears;
use ash::vk;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;
use mgpipe_types::{aspect, clear_form, Clear, FramebufferState, PipeResult, Surface};
use smallvec::SmallVec;

impl MagmaContext {
    /// Clears attachments of the current framebuffer under scissor and write masks.
    pub(crate) fn clear_attachments(&mut self, clear: &Clear) -> PipeResult<()> {
        self.clear_common_layers(clear)?;
        let state = self.framebuffer;
        if state.color.iter().chain([&state.depth, &state.stencil]).any(|surface| surface.layered != 0) {
            self.clear_further_layers(clear)?;
        }
        Ok(())
    }

    /// Clears the layers that only some attachments have: a pass has as many layers as the smallest attachment, but a
    /// clear reaches every layer of every attachment.
    fn clear_further_layers(&mut self, clear: &Clear) -> PipeResult<()> {
        let common = self.resolve_framebuffer()?.layers;
        let whole = self.framebuffer;
        let limit = self.device.properties.limits.max_framebuffer_layers;
        let deeper = |context: &Self, surface: &Surface| {
            let image = surface.resource().and_then(|r| context.shared.texture(r)).and_then(|t| t.image());
            let layers = image.map_or(0, |(image, level, layer)| {
                image.layers_or_slices(level + u32::from(surface.level)).saturating_sub(layer)
            });
            (surface.layered != 0 && layers > common).then_some(layers.min(limit) as u16)
        };
        let none = FramebufferState {
            color: [Surface::default(); MAX_DRAW_BUFFERS],
            depth: Surface::default(),
            stencil: Surface::default(),
            ..whole
        };
        let mut rest = SmallVec::<[FramebufferState; 2]>::new();
        if clear.buffers & aspect::COLOR != 0 {
            for (index, surface) in whole.color.iter().enumerate() {
                if let Some(layers) = deeper(self, surface) {
                    let mut alone = FramebufferState { layers, ..none };
                    alone.color[index] = *surface;
                    rest.push(alone);
                }
            }
        }
        if clear.buffers & (aspect::DEPTH | aspect::STENCIL) != 0 {
            let surface = if whole.depth.resource().is_some() { &whole.depth } else { &whole.stencil };
            if let Some(layers) = deeper(self, surface) {
                rest.push(FramebufferState { layers, depth: whole.depth, stencil: whole.stencil, ..none });
            }
        }
        if rest.is_empty() {
            return Ok(());
        }
        let mut result = Ok(());
        for alone in rest {
            self.use_framebuffer(alone);
            result = result.and(self.clear_common_layers(clear));
        }
        self.use_framebuffer(whole);
        result
    }

    fn use_framebuffer(&mut self, state: FramebufferState) {
        self.framebuffer = state;
        self.resolved_framebuffer = None;
        self.dirty |= dirty::FRAMEBUFFER;
    }

    /// Clears the layers that every attachment of the current framebuffer has.
    fn clear_common_layers(&mut self, clear: &Clear) -> PipeResult<()> {
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
                if framebuffer.colors[output].is_none()
                    || (clear.draw_buffer >= 0 && clear.draw_buffer as usize != output)
                {
                    continue;
                }
                let format = framebuffer.facts.colors[output];
                let bits = format.desc().bits;
                let alpha_is_one = framebuffer.facts.alpha_one >> output & 1 != 0;
                // A mask only matters for components that exist and are written.
                let relevant = |c: usize| {
                    let exists =
                        format.desc().is_compressed() || bits[c] != 0 || format.desc().gl == mgpipe_types::gl::BGRA;
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
                let rects = [vk::ClearRect { rect: rect(area), base_array_layer: 0, layer_count: framebuffer.layers }];
                // SAFETY: a pass with these attachments is open; the rectangle was cut to its area.
                unsafe { self.device.raw.cmd_clear_attachments(commands, &attachments, &rects) };
            }
        }
        if !masked.is_empty() || masked_stencil {
            self.clear_masked(clear, &masked, masked_stencil.then_some(stencil_value), area)?;
        }
        Ok(())
    }

    /// Clears under partial colour or stencil masks: a rectangle for each layer of each attachment.
    fn clear_masked(
        &mut self,
        clear: &Clear,
        outputs: &[usize],
        stencil: Option<u32>,
        area: [i32; 4],
    ) -> PipeResult<()> {
        let framebuffer = self.resolve_framebuffer()?;
        let mut push = [0u8; PUSH_BYTES];
        for (index, word) in clear.color.iter().enumerate() {
            push[index * 4..index * 4 + 4].copy_from_slice(&word.to_ne_bytes());
        }
        let state = self.framebuffer;
        for &output in outputs {
            let (Some(attachment), Ok(index)) =
                (&framebuffer.colors[output], usize::try_from(state.draw_buffers[output]))
            else {
                continue;
            };
            let format = framebuffer.facts.colors[output];
            let mut mask = 0;
            for (bit, &on) in self.state.color_masks[output].iter().enumerate() {
                mask |= u8::from(on != 0) << bit;
            }
            if framebuffer.facts.alpha_one >> output & 1 != 0 {
                mask &= 0x7;
            }
            let surface = state.color[index];
            for (level, layer) in self.surface_layers(&surface, framebuffer.layers) {
                let target = InternalTarget {
                    image: &attachment.image,
                    format,
                    level,
                    layer,
                    aspect: vk::ImageAspectFlags::COLOR,
                    area,
                    mask,
                    samples: u32::MAX,
                    stencil: (0, 0),
                };
                self.internal_draw(InternalShader::Clear(Component::of(format)), &target, None, &push)?;
            }
        }
        if let (Some(value), Some(attachment)) = (stencil, &framebuffer.stencil) {
            let write_mask = self.state.stencil[0].write_mask & 0xff;
            for (level, layer) in self.surface_layers(&state.stencil, framebuffer.layers) {
                let target = InternalTarget {
                    image: &attachment.image,
                    format: attachment.image.format,
                    level,
                    layer,
                    aspect: vk::ImageAspectFlags::STENCIL,
                    area,
                    mask: 0,
                    samples: u32::MAX,
                    stencil: (write_mask, value),
                };
                self.internal_draw(InternalShader::None, &target, None, &push)?;
            }
        }
        Ok(())
    }

    /// Level and layers of an image that a surface attaches.
    fn surface_layers(&self, surface: &Surface, layers: u32) -> Vec<(u32, u32)> {
        let Some((_, base_level, base_layer)) =
            surface.resource().and_then(|r| self.shared.texture(r)).and_then(|t| t.image())
        else {
            return Vec::new();
        };
        let level = base_level + u32::from(surface.level);
        let first = base_layer + if surface.layered != 0 { 0 } else { surface.layer };
        let count = if surface.layered != 0 { layers } else { 1 };
        (first..first + count).map(|layer| (level, layer)).collect()
    }
}
