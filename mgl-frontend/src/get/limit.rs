//! Implementation limits and facts about the context.

use mgpipe_types::gl;

use crate::boundary::Values;
use crate::buffer::MAP_ALIGNMENT;
use crate::context::ContextState;
use crate::debug::{MAX_GROUP_DEPTH, MAX_LABEL_LENGTH, MAX_LOGGED_MESSAGES, MAX_MESSAGE_LENGTH};
use crate::limits::MAX_VERSION;
use crate::strings;

impl ContextState {
    /// A limit, or a fact that never changes in the life of the context.
    pub(super) fn limit_value(&self, pname: u32) -> Option<Values> {
        let l = &self.share.limits;
        // Storage that the default block and the named blocks of one stage can name together.
        let combined = |stage_components: u32| stage_components + l.uniform_blocks * (l.uniform_block_size / 4);
        Some(match pname {
            gl::MAJOR_VERSION => Values::int(MAX_VERSION.0),
            gl::MINOR_VERSION => Values::int(MAX_VERSION.1),
            gl::NUM_EXTENSIONS => Values::int(strings::extensions(&self.share.caps).len() as i64),
            gl::CONTEXT_PROFILE_MASK => Values::bits(gl::CONTEXT_CORE_PROFILE_BIT),
            gl::CONTEXT_FLAGS => Values::bits(self.context_flags()),
            gl::RESET_NOTIFICATION_STRATEGY => Values::int(if self.attribs.lose_context_on_reset {
                gl::LOSE_CONTEXT_ON_RESET
            } else {
                gl::NO_RESET_NOTIFICATION
            }),
            gl::CONTEXT_RELEASE_BEHAVIOR => Values::int(if self.attribs.release_behavior_none {
                gl::NONE
            } else {
                gl::CONTEXT_RELEASE_BEHAVIOR_FLUSH
            }),
            gl::NUM_PROGRAM_BINARY_FORMATS => Values::int(0),
            gl::PROGRAM_BINARY_FORMATS | gl::SHADER_BINARY_FORMATS => Values::Ints(Default::default()),
            gl::NUM_SHADER_BINARY_FORMATS => Values::int(0),
            gl::SHADER_COMPILER => Values::bool(true),

            gl::MAX_TEXTURE_SIZE => Values::int(l.texture_size),
            gl::MAX_3D_TEXTURE_SIZE => Values::int(l.texture_3d_size),
            gl::MAX_CUBE_MAP_TEXTURE_SIZE => Values::int(l.cube_map_size),
            gl::MAX_ARRAY_TEXTURE_LAYERS => Values::int(l.array_layers),
            gl::MAX_RECTANGLE_TEXTURE_SIZE => Values::int(l.rectangle_size),
            gl::MAX_TEXTURE_BUFFER_SIZE => Values::int(l.texture_buffer_size),
            gl::MAX_RENDERBUFFER_SIZE => Values::int(l.renderbuffer_size),
            gl::MAX_TEXTURE_LOD_BIAS => Values::float(l.lod_bias),
            gl::MAX_TEXTURE_MAX_ANISOTROPY => Values::float(l.anisotropy),
            gl::MAX_TEXTURE_IMAGE_UNITS | gl::MAX_VERTEX_TEXTURE_IMAGE_UNITS | gl::MAX_GEOMETRY_TEXTURE_IMAGE_UNITS => {
                Values::int(l.texture_image_units)
            }
            gl::MAX_COMBINED_TEXTURE_IMAGE_UNITS => Values::int(l.combined_texture_image_units),
            gl::MAX_COLOR_ATTACHMENTS => Values::int(l.color_attachments),
            gl::MAX_DRAW_BUFFERS => Values::int(l.draw_buffers),
            gl::MAX_DUAL_SOURCE_DRAW_BUFFERS => Values::int(l.dual_source_draw_buffers),
            gl::MAX_SAMPLES => Values::int(l.samples),
            gl::MAX_COLOR_TEXTURE_SAMPLES => Values::int(l.color_samples),
            gl::MAX_DEPTH_TEXTURE_SAMPLES => Values::int(l.depth_samples),
            gl::MAX_INTEGER_SAMPLES => Values::int(l.integer_samples),
            gl::MAX_SAMPLE_MASK_WORDS => Values::int(1),
            gl::MAX_VIEWPORT_DIMS => Values::ints(l.viewport_dims),
            gl::SUBPIXEL_BITS => Values::int(l.subpixel_bits),

            gl::MAX_VERTEX_ATTRIBS => Values::int(l.vertex_attribs),
            gl::MAX_ELEMENTS_VERTICES => Values::int(l.elements_vertices),
            gl::MAX_ELEMENTS_INDICES => Values::int(l.elements_indices),
            gl::MAX_CLIP_DISTANCES => Values::int(l.clip_distances),

            gl::MAX_UNIFORM_BUFFER_BINDINGS => Values::int(l.uniform_buffer_bindings),
            gl::MAX_UNIFORM_BLOCK_SIZE => Values::int(l.uniform_block_size),
            gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT => Values::int(l.uniform_offset_alignment),
            gl::MAX_VERTEX_UNIFORM_BLOCKS | gl::MAX_GEOMETRY_UNIFORM_BLOCKS | gl::MAX_FRAGMENT_UNIFORM_BLOCKS => {
                Values::int(l.uniform_blocks)
            }
            gl::MAX_COMBINED_UNIFORM_BLOCKS => Values::int(l.combined_uniform_blocks),
            gl::MAX_VERTEX_UNIFORM_COMPONENTS
            | gl::MAX_GEOMETRY_UNIFORM_COMPONENTS
            | gl::MAX_FRAGMENT_UNIFORM_COMPONENTS => Values::int(l.uniform_components),
            gl::MAX_VERTEX_UNIFORM_VECTORS | gl::MAX_FRAGMENT_UNIFORM_VECTORS => Values::int(l.uniform_components / 4),
            gl::MAX_COMBINED_VERTEX_UNIFORM_COMPONENTS
            | gl::MAX_COMBINED_GEOMETRY_UNIFORM_COMPONENTS
            | gl::MAX_COMBINED_FRAGMENT_UNIFORM_COMPONENTS => Values::int(combined(l.uniform_components)),
            gl::MAX_VARYING_COMPONENTS => Values::int(l.varying_components),
            gl::MAX_VARYING_VECTORS => Values::int(l.varying_components / 4),
            gl::MAX_VERTEX_OUTPUT_COMPONENTS | gl::MAX_FRAGMENT_INPUT_COMPONENTS => Values::int(l.varying_components),
            gl::MAX_GEOMETRY_INPUT_COMPONENTS => Values::int(l.geometry_input_components),
            gl::MAX_GEOMETRY_OUTPUT_COMPONENTS => Values::int(l.geometry_output_components),
            gl::MAX_GEOMETRY_OUTPUT_VERTICES => Values::int(l.geometry_output_vertices),
            gl::MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS => Values::int(l.geometry_total_output_components),
            gl::MIN_PROGRAM_TEXEL_OFFSET => Values::int(l.texel_offset[0]),
            gl::MAX_PROGRAM_TEXEL_OFFSET => Values::int(l.texel_offset[1]),

            gl::MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS => Values::int(l.xfb_interleaved_components),
            gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS => Values::int(l.xfb_separate_attribs),
            gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_COMPONENTS => Values::int(l.xfb_separate_components),

            gl::POINT_SIZE_RANGE => Values::floats(l.point_size_range),
            gl::POINT_SIZE_GRANULARITY => Values::float(l.point_size_granularity),
            gl::ALIASED_LINE_WIDTH_RANGE | gl::SMOOTH_LINE_WIDTH_RANGE => Values::floats(l.line_width_range),
            gl::SMOOTH_LINE_WIDTH_GRANULARITY => Values::float(l.line_width_granularity),

            gl::MIN_MAP_BUFFER_ALIGNMENT => Values::int(MAP_ALIGNMENT as i64),
            // The longest wait that the server keeps to.
            gl::MAX_SERVER_WAIT_TIMEOUT => Values::int(i64::MAX),
            gl::MAX_DEBUG_MESSAGE_LENGTH => Values::int(MAX_MESSAGE_LENGTH as i64),
            gl::MAX_DEBUG_LOGGED_MESSAGES => Values::int(MAX_LOGGED_MESSAGES as i64),
            gl::MAX_DEBUG_GROUP_STACK_DEPTH => Values::int(MAX_GROUP_DEPTH as i64),
            gl::MAX_LABEL_LENGTH => Values::int(MAX_LABEL_LENGTH as i64),
            _ => return None,
        })
    }

    fn context_flags(&self) -> u32 {
        let a = &self.attribs;
        let mut flags = 0;
        for (on, bit) in [
            (a.forward_compatible, gl::CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT),
            (a.debug, gl::CONTEXT_FLAG_DEBUG_BIT),
            (a.robust_access, gl::CONTEXT_FLAG_ROBUST_ACCESS_BIT),
            (a.no_error, gl::CONTEXT_FLAG_NO_ERROR_BIT),
        ] {
            if on {
                flags |= bit;
            }
        }
        flags
    }
}
