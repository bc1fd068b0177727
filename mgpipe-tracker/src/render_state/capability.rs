//! Capabilities by GL enum: what `glEnable`, `glDisable` and `glIsEnabled` name.

use super::RenderStateTracker;
use mgpipe_types::gl;
use mgpipe_types::render_state::{MAX_DRAW_BUFFERS, MAX_VIEWPORTS};

/// One row a capability that is a single flag: GL enum, setter, member.
macro_rules! flags {
    ($($cap:ident $set:ident $member:ident;)*) => {
        impl RenderStateTracker {
            fn set_flag(&mut self, capability: u32, on: bool) -> bool {
                match capability {
                    $(gl::$cap => self.$set(on),)*
                    _ => return false,
                }
                true
            }

            fn flag(&self, capability: u32) -> Option<bool> {
                match capability {
                    $(gl::$cap => Some(self.state().$member != 0),)*
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const FLAGS: &[u32] = &[$(gl::$cap),*];
    };
}

flags! {
    COLOR_LOGIC_OP set_color_logic_op color_logic_op;
    CULL_FACE set_cull_face cull_face;
    DEBUG_OUTPUT set_debug_output debug_output;
    DEBUG_OUTPUT_SYNCHRONOUS set_debug_output_synchronous debug_output_synchronous;
    DEPTH_CLAMP set_depth_clamp depth_clamp;
    DEPTH_TEST set_depth_test depth_test;
    DITHER set_dither dither;
    FRAMEBUFFER_SRGB set_framebuffer_srgb framebuffer_srgb;
    LINE_SMOOTH set_line_smooth line_smooth;
    MULTISAMPLE set_multisample multisample;
    POLYGON_OFFSET_FILL set_polygon_offset_fill polygon_offset_fill;
    POLYGON_OFFSET_LINE set_polygon_offset_line polygon_offset_line;
    POLYGON_OFFSET_POINT set_polygon_offset_point polygon_offset_point;
    POLYGON_SMOOTH set_polygon_smooth polygon_smooth;
    PRIMITIVE_RESTART set_primitive_restart primitive_restart;
    PRIMITIVE_RESTART_FIXED_INDEX set_primitive_restart_fixed_index primitive_restart_fixed_index;
    PROGRAM_POINT_SIZE set_program_point_size program_point_size;
    RASTERIZER_DISCARD set_rasterizer_discard rasterizer_discard;
    SAMPLE_ALPHA_TO_COVERAGE set_sample_alpha_to_coverage sample_alpha_to_coverage;
    SAMPLE_ALPHA_TO_ONE set_sample_alpha_to_one sample_alpha_to_one;
    SAMPLE_COVERAGE set_sample_coverage sample_coverage;
    SAMPLE_MASK set_sample_mask sample_mask;
    SAMPLE_SHADING set_sample_shading sample_shading;
    STENCIL_TEST set_stencil_test stencil_test;
    TEXTURE_CUBE_MAP_SEAMLESS set_texture_cube_map_seamless texture_cube_map_seamless;
}

/// Number of `GL_CLIP_DISTANCE*` enums that the state has room for.
const MAX_CLIP_DISTANCES: u32 = 32;

fn clip_distance(capability: u32) -> Option<usize> {
    let index = capability.checked_sub(gl::CLIP_DISTANCE0)?;
    (index < MAX_CLIP_DISTANCES).then_some(index as usize)
}

impl RenderStateTracker {
    /// Switches a capability (`glEnable`, `glDisable`); false, with nothing changed, when the enum names none that is
    /// render state.
    #[inline]
    pub fn set_capability(&mut self, capability: u32, on: bool) -> bool {
        match capability {
            gl::BLEND => self.set_blend_enabled_all(on),
            gl::SCISSOR_TEST => self.set_scissor_test_all(on),
            _ => match clip_distance(capability) {
                Some(index) => self.set_clip_distance(index, on),
                None => return self.set_flag(capability, on),
            },
        }
        true
    }

    /// Switches an indexed capability (`glEnablei`, `glDisablei`); false, with nothing changed, when the enum names none
    /// or the index is out of range.
    pub fn set_capability_indexed(&mut self, capability: u32, index: usize, on: bool) -> bool {
        match capability {
            gl::BLEND if index < MAX_DRAW_BUFFERS => self.set_blend_enabled(index, on),
            gl::SCISSOR_TEST if index < MAX_VIEWPORTS => self.set_scissor_test(index, on),
            _ => return false,
        }
        true
    }

    /// Whether a capability is on (`glIsEnabled`: index 0 of an indexed one); `None` when the enum names none.
    pub fn capability(&self, capability: u32) -> Option<bool> {
        match capability {
            gl::BLEND | gl::SCISSOR_TEST => self.capability_indexed(capability, 0),
            _ => match clip_distance(capability) {
                Some(index) => Some(self.state().clip_distance_mask >> index & 1 != 0),
                None => self.flag(capability),
            },
        }
    }

    /// Whether an indexed capability is on (`glIsEnabledi`); `None` when the enum names none or the index is out of range.
    pub fn capability_indexed(&self, capability: u32, index: usize) -> Option<bool> {
        match capability {
            gl::BLEND => Some(self.state().blend.get(index)?.enabled != 0),
            gl::SCISSOR_TEST if index < MAX_VIEWPORTS => Some(self.state().scissor_test_mask >> index & 1 != 0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_reads_back_what_was_set_and_changes_nothing_else() {
        let indexed = [gl::BLEND, gl::SCISSOR_TEST, gl::CLIP_DISTANCE0, gl::CLIP_DISTANCE0 + 31];
        let all: Vec<u32> = FLAGS.iter().chain(&indexed).copied().collect();
        for capability in &all {
            let mut state = RenderStateTracker::new();
            let before: Vec<_> = all.iter().map(|c| state.capability(*c)).collect();
            let was = state.capability(*capability).unwrap();
            assert!(state.set_capability(*capability, !was));
            for (other, before) in all.iter().zip(before) {
                let expected = if other == capability { Some(!was) } else { before };
                assert_eq!(state.capability(*other), expected, "{other:#x} after {capability:#x}");
            }
        }
    }

    #[test]
    fn unknown_capabilities_and_indices_change_nothing() {
        let mut state = RenderStateTracker::new();
        assert!(!state.set_capability(gl::TEXTURE_2D, true));
        assert!(!state.set_capability(gl::CLIP_DISTANCE0 + 32, true));
        assert!(!state.set_capability_indexed(gl::BLEND, MAX_DRAW_BUFFERS, true));
        assert!(!state.set_capability_indexed(gl::DEPTH_TEST, 0, true));
        assert_eq!(state.capability(gl::TEXTURE_2D), None);
        assert_eq!(state.capability_indexed(gl::SCISSOR_TEST, MAX_VIEWPORTS), None);
        assert_eq!(state.version(), 0);
    }
}
