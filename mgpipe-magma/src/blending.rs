//! Blending and write masks of draw buffers: resolved against their attachments, baked into pipelines or set dynamically.

use crate::command::Recorder;
use crate::conv;
use crate::device::Device;
use crate::render_pass::PassFacts;
use ash::vk;
use mgpipe_types::render_state::{RenderState, MAX_DRAW_BUFFERS};
use mgpipe_types::Format;
use smallvec::SmallVec;

/// Blending of one draw buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct FixedBlend {
    enabled: bool,
    /// Only set while enabled.
    function: Function,
    mask: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Function {
    src_color: vk::BlendFactor,
    dst_color: vk::BlendFactor,
    color: vk::BlendOp,
    src_alpha: vk::BlendFactor,
    dst_alpha: vk::BlendFactor,
    alpha: vk::BlendOp,
}

/// Blending of every draw buffer. Those without an attachment are all alike.
pub(crate) type Blends = [FixedBlend; MAX_DRAW_BUFFERS];

/// Resolves the render state against attachments.
pub(crate) fn resolve(device: &Device, state: &RenderState, facts: &PassFacts) -> Blends {
    let core = &device.features.core;
    let logic = state.color_logic_op != 0 && core.logic_op == vk::TRUE;
    let mut blends = Blends::default();
    for (index, out) in blends.iter_mut().enumerate().take(usize::from(facts.color_count)) {
        let format = facts.colors[index];
        if format == Format::NONE {
            continue;
        }
        let alpha_is_one = facts.alpha_one >> index & 1 != 0;
        for (bit, &on) in state.color_masks[index].iter().enumerate() {
            if on != 0 && !(bit == 3 && alpha_is_one) {
                out.mask |= 1 << bit;
            }
        }
        let blend = &state.blend[index];
        let blendable = device.formats.get(format).image.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND);
        let dual =
            || [blend.src_rgb, blend.dst_rgb, blend.src_alpha, blend.dst_alpha].into_iter().any(conv::is_dual_source);
        if blend.enabled != 0 && blendable && !logic && (core.dual_src_blend == vk::TRUE || !dual()) {
            out.enabled = true;
            out.function = Function {
                src_color: conv::map_blend_factor(blend.src_rgb, alpha_is_one),
                dst_color: conv::map_blend_factor(blend.dst_rgb, alpha_is_one),
                color: conv::map_blend_equation(blend.equation_rgb),
                src_alpha: conv::map_blend_factor(blend.src_alpha, alpha_is_one),
                dst_alpha: conv::map_blend_factor(blend.dst_alpha, alpha_is_one),
                alpha: conv::map_blend_equation(blend.equation_alpha),
            };
        }
    }
    if core.independent_blend != vk::TRUE {
        let first = blends[0];
        for (index, out) in blends.iter_mut().enumerate() {
            if facts.colors[index] != Format::NONE {
                *out = first;
            }
        }
    }
    blends
}

impl FixedBlend {
    /// For a pipeline's creation.
    pub(crate) fn attachment(&self) -> vk::PipelineColorBlendAttachmentState {
        let f = &self.function;
        vk::PipelineColorBlendAttachmentState {
            blend_enable: self.enabled.into(),
            src_color_blend_factor: f.src_color,
            dst_color_blend_factor: f.dst_color,
            color_blend_op: f.color,
            src_alpha_blend_factor: f.src_alpha,
            dst_alpha_blend_factor: f.dst_alpha,
            alpha_blend_op: f.alpha,
            color_write_mask: vk::ColorComponentFlags::from_raw(u32::from(self.mask)),
        }
    }
}

/// Blending as the command buffer has it, when it is dynamic.
#[derive(Default)]
pub(crate) struct AppliedBlends {
    blends: Blends,
    /// Draw buffers that were set.
    count: usize,
}

impl AppliedBlends {
    /// Sets what differs for the first `count` draw buffers.
    pub(crate) fn set(
        &mut self,
        device: &Device,
        rec: &mut Recorder,
        commands: vk::CommandBuffer,
        mut blends: Blends,
        count: usize,
    ) {
        // A pipeline with dynamic blending wants it set, also without any attachment.
        let count = count.clamp(1, MAX_DRAW_BUFFERS);
        let more = count > self.count;
        // The function of a buffer that does not blend stays what it was: nothing reads it.
        for (next, last) in blends.iter_mut().zip(&self.blends).take(self.count) {
            if !next.enabled {
                next.function = last.function;
            }
        }
        if !more && blends[..count] == self.blends[..count] {
            return;
        }
        let differs = |same: fn(&FixedBlend, &FixedBlend) -> bool| {
            more || blends.iter().zip(&self.blends).take(count).any(|(a, b)| !same(a, b))
        };
        rec.flush_draws();
        let fns = &device.fns.dynamic_state3;
        let next = &blends[..count];
        // SAFETY: the command buffer is being recorded and the features are enabled: the caller has seen
        // `dynamic_blend`.
        unsafe {
            if differs(|a, b| a.enabled == b.enabled) {
                let list: SmallVec<[vk::Bool32; MAX_DRAW_BUFFERS]> = next.iter().map(|b| b.enabled.into()).collect();
                fns.cmd_set_color_blend_enable(commands, 0, &list);
            }
            if differs(|a, b| a.function == b.function) {
                let list: SmallVec<[vk::ColorBlendEquationEXT; MAX_DRAW_BUFFERS]> = next
                    .iter()
                    .map(|b| vk::ColorBlendEquationEXT {
                        src_color_blend_factor: b.function.src_color,
                        dst_color_blend_factor: b.function.dst_color,
                        color_blend_op: b.function.color,
                        src_alpha_blend_factor: b.function.src_alpha,
                        dst_alpha_blend_factor: b.function.dst_alpha,
                        alpha_blend_op: b.function.alpha,
                    })
                    .collect();
                fns.cmd_set_color_blend_equation(commands, 0, &list);
            }
            if differs(|a, b| a.mask == b.mask) {
                let list: SmallVec<[vk::ColorComponentFlags; MAX_DRAW_BUFFERS]> =
                    next.iter().map(|b| vk::ColorComponentFlags::from_raw(u32::from(b.mask))).collect();
                fns.cmd_set_color_write_mask(commands, 0, &list);
            }
        }
        self.blends[..count].copy_from_slice(next);
        self.count = self.count.max(count);
    }
}
