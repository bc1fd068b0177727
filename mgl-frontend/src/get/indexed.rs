//! `glGet*i_v`: indexed bindings and per-buffer state.

use mgpipe_types::gl;

use super::value::color_mask;
use crate::boundary::Values;
use crate::buffer::RangeBinding;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_value, GlError};
use crate::limits::MAX_VERSION;

impl Context {
    /// `glGetBooleani_v`, `glGetIntegeri_v`, `glGetInteger64i_v`.
    pub fn get_indexed(&mut self, target: u32, index: u32) -> Option<Values> {
        self.gl(|ctx| ctx.indexed_value(target, index).map(Some))
    }

    fn indexed_value(&self, target: u32, index: u32) -> Result<Values, GlError> {
        let state = &self.state;
        let limits = &state.share.limits;
        let render = state.render.state();
        let i = index as usize;
        let beyond = || invalid_value(format!("glGet: index {index} of target {target:#x}"));
        let range = |list: &[RangeBinding], what: fn(&RangeBinding) -> Values| -> Result<Values, GlError> {
            list.get(i).map(what).ok_or_else(beyond)
        };
        let start = |b: &RangeBinding| Values::int(b.offset as i64);
        // A binding without a range of its own answers 0.
        let size = |b: &RangeBinding| Values::int(b.size.unwrap_or(0) as i64);
        let name = |b: &RangeBinding| Values::int(b.name());
        let draw_buffer = |values: Values| if index < limits.draw_buffers { Ok(values) } else { Err(beyond()) };
        let blend = &render.blend[i.min(render.blend.len() - 1)];
        match target {
            gl::UNIFORM_BUFFER_BINDING => range(&state.buffers.uniform_ranges, name),
            gl::UNIFORM_BUFFER_START => range(&state.buffers.uniform_ranges, start),
            gl::UNIFORM_BUFFER_SIZE => range(&state.buffers.uniform_ranges, size),
            gl::TRANSFORM_FEEDBACK_BUFFER_BINDING => range(&state.xfb.targets, name),
            gl::TRANSFORM_FEEDBACK_BUFFER_START => range(&state.xfb.targets, start),
            gl::TRANSFORM_FEEDBACK_BUFFER_SIZE => range(&state.xfb.targets, size),
            gl::COLOR_WRITEMASK => draw_buffer(color_mask(render.color_masks[i.min(render.color_masks.len() - 1)])),
            gl::BLEND => draw_buffer(Values::bool(blend.enabled != 0)),
            gl::BLEND_SRC_RGB
            | gl::BLEND_DST_RGB
            | gl::BLEND_SRC_ALPHA
            | gl::BLEND_DST_ALPHA
            | gl::BLEND_EQUATION_RGB
            | gl::BLEND_EQUATION_ALPHA
                if MAX_VERSION < (4, 0) =>
            {
                Err(invalid_enum("glGet: draw buffers have blend functions of their own since GL 4.0"))
            }
            gl::BLEND_SRC_RGB => draw_buffer(Values::int(blend.src_rgb)),
            gl::BLEND_DST_RGB => draw_buffer(Values::int(blend.dst_rgb)),
            gl::BLEND_SRC_ALPHA => draw_buffer(Values::int(blend.src_alpha)),
            gl::BLEND_DST_ALPHA => draw_buffer(Values::int(blend.dst_alpha)),
            gl::BLEND_EQUATION_RGB => draw_buffer(Values::int(blend.equation_rgb)),
            gl::BLEND_EQUATION_ALPHA => draw_buffer(Values::int(blend.equation_alpha)),
            gl::SAMPLE_MASK_VALUE if index == 0 => Ok(Values::bits(render.sample_mask_value)),
            gl::SAMPLE_MASK_VALUE => Err(beyond()),
            gl::VIEWPORT | gl::SCISSOR_BOX => Err(invalid_enum("glGet: viewport arrays come with GL 4.1")),
            _ => Err(invalid_enum(format!("glGet: indexed target {target:#x}"))),
        }
    }
}
