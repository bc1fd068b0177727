//! Values of the render state.

use mgpipe_types::gl;

use crate::boundary::Values;
use crate::context::ContextState;

impl ContextState {
    /// A value of the render state or the debug output.
    pub(super) fn render_value(&self, pname: u32) -> Option<Values> {
        let s = self.render.state();
        let [front, back] = &s.stencil;
        let blend = &s.blend[0];
        let mask = |m: u32| Values::int(m);
        Some(match pname {
            gl::VIEWPORT => {
                let v = &s.viewports[0];
                Values::floats([v.x, v.y, v.width, v.height])
            }
            gl::DEPTH_RANGE => Values::normalized([s.depth_ranges[0].near, s.depth_ranges[0].far]),
            gl::SCISSOR_BOX => {
                let b = &s.scissors[0];
                Values::ints([b.x, b.y, b.width, b.height])
            }
            gl::LINE_WIDTH => Values::float(s.line_width),
            gl::POINT_SIZE => Values::float(s.point_size),
            gl::POINT_FADE_THRESHOLD_SIZE => Values::float(s.point_fade_threshold),
            gl::POINT_SPRITE_COORD_ORIGIN => Values::int(s.point_sprite_coord_origin),
            gl::CULL_FACE_MODE => Values::int(s.cull_face_mode),
            gl::FRONT_FACE => Values::int(s.front_face),
            // The core profile has one mode; compatibility answers two, and Mesa's core profile does too.
            gl::POLYGON_MODE => Values::ints([s.polygon_mode_front, s.polygon_mode_back]),
            gl::POLYGON_OFFSET_FACTOR => Values::float(s.polygon_offset_factor),
            gl::POLYGON_OFFSET_UNITS => Values::float(s.polygon_offset_units),
            gl::PROVOKING_VERTEX => Values::int(s.provoking_vertex),
            // All bits, as every driver answers: what is asked for is often set again later.
            gl::PRIMITIVE_RESTART_INDEX => Values::bits(s.primitive_restart_index),
            gl::CLAMP_READ_COLOR => Values::int(s.clamp_read_color),
            gl::SAMPLE_COVERAGE_VALUE => Values::float(s.sample_coverage_value),
            gl::SAMPLE_COVERAGE_INVERT => Values::bool(s.sample_coverage_invert != 0),
            gl::COLOR_CLEAR_VALUE => Values::normalized(s.clear_color),
            gl::DEPTH_CLEAR_VALUE => Values::normalized([s.clear_depth]),
            gl::STENCIL_CLEAR_VALUE => Values::int(s.clear_stencil),
            gl::BLEND_COLOR => Values::normalized(s.blend_color),
            gl::BLEND_SRC_RGB | gl::BLEND_SRC => Values::int(blend.src_rgb),
            gl::BLEND_DST_RGB | gl::BLEND_DST => Values::int(blend.dst_rgb),
            gl::BLEND_SRC_ALPHA => Values::int(blend.src_alpha),
            gl::BLEND_DST_ALPHA => Values::int(blend.dst_alpha),
            gl::BLEND_EQUATION_RGB => Values::int(blend.equation_rgb),
            gl::BLEND_EQUATION_ALPHA => Values::int(blend.equation_alpha),
            gl::LOGIC_OP_MODE => Values::int(s.logic_op),
            gl::COLOR_WRITEMASK => color_mask(s.color_masks[0]),
            gl::DEPTH_WRITEMASK => Values::bool(s.depth_mask != 0),
            gl::DEPTH_FUNC => Values::int(s.depth_func),
            gl::STENCIL_FUNC => Values::int(front.func),
            gl::STENCIL_REF => Values::int(front.reference),
            gl::STENCIL_VALUE_MASK => mask(front.value_mask),
            gl::STENCIL_WRITEMASK => mask(front.write_mask),
            gl::STENCIL_FAIL => Values::int(front.fail_op),
            gl::STENCIL_PASS_DEPTH_FAIL => Values::int(front.depth_fail_op),
            gl::STENCIL_PASS_DEPTH_PASS => Values::int(front.pass_op),
            gl::STENCIL_BACK_FUNC => Values::int(back.func),
            gl::STENCIL_BACK_REF => Values::int(back.reference),
            gl::STENCIL_BACK_VALUE_MASK => mask(back.value_mask),
            gl::STENCIL_BACK_WRITEMASK => mask(back.write_mask),
            gl::STENCIL_BACK_FAIL => Values::int(back.fail_op),
            gl::STENCIL_BACK_PASS_DEPTH_FAIL => Values::int(back.depth_fail_op),
            gl::STENCIL_BACK_PASS_DEPTH_PASS => Values::int(back.pass_op),
            gl::LINE_SMOOTH_HINT => Values::int(s.hints[0]),
            gl::POLYGON_SMOOTH_HINT => Values::int(s.hints[1]),
            gl::TEXTURE_COMPRESSION_HINT => Values::int(s.hints[2]),
            gl::FRAGMENT_SHADER_DERIVATIVE_HINT => Values::int(s.hints[3]),
            gl::DEBUG_LOGGED_MESSAGES => Values::int(self.debug.logged() as i64),
            gl::DEBUG_NEXT_LOGGED_MESSAGE_LENGTH => Values::int(self.debug.next_logged_length() as i64),
            gl::DEBUG_GROUP_STACK_DEPTH => Values::int(self.debug.group_depth() as i64),
            _ => return None,
        })
    }
}

/// A colour write mask.
pub(super) fn color_mask(mask: [u8; 4]) -> Values {
    Values::Bools(mask.iter().map(|&m| m != 0).collect())
}
