//! Implementation limits of the context, computed once from what the backend can do.

use mgpipe_types::{features, CapsReply, MAX_TEXTURE_UNITS, MAX_VERTEX_ATTRIBS};

/// Version that every context of this frontend has.
pub(crate) const MAX_VERSION: (u32, u32) = (3, 3);

/// Stages of GL 3.3: vertex, geometry, fragment.
const STAGES: u32 = 3;

/// Limits as GL queries report them; names follow the `GL_MAX_*` enums.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limits {
    pub(crate) texture_size: u32,
    pub(crate) texture_3d_size: u32,
    pub(crate) cube_map_size: u32,
    pub(crate) array_layers: u32,
    pub(crate) rectangle_size: u32,
    pub(crate) texture_buffer_size: u32,
    pub(crate) renderbuffer_size: u32,
    pub(crate) viewport_dims: [u32; 2],
    pub(crate) viewports: u32,
    pub(crate) color_attachments: u32,
    pub(crate) draw_buffers: u32,
    pub(crate) dual_source_draw_buffers: u32,
    pub(crate) samples: u32,
    pub(crate) color_samples: u32,
    pub(crate) depth_samples: u32,
    pub(crate) integer_samples: u32,
    pub(crate) vertex_attribs: u32,
    pub(crate) vertex_attrib_stride: u32,
    /// Texture units of each stage.
    pub(crate) texture_image_units: u32,
    pub(crate) combined_texture_image_units: u32,
    /// Uniform blocks of each stage.
    pub(crate) uniform_blocks: u32,
    pub(crate) combined_uniform_blocks: u32,
    pub(crate) uniform_buffer_bindings: u32,
    pub(crate) uniform_block_size: u32,
    pub(crate) uniform_offset_alignment: u32,
    pub(crate) texture_buffer_offset_alignment: u32,
    pub(crate) uniform_components: u32,
    pub(crate) varying_components: u32,
    pub(crate) geometry_input_components: u32,
    pub(crate) geometry_input_components_to_link: u32,
    pub(crate) geometry_output_vertices: u32,
    pub(crate) geometry_output_components: u32,
    pub(crate) geometry_total_output_components: u32,
    pub(crate) clip_distances: u32,
    pub(crate) xfb_buffers: u32,
    pub(crate) xfb_interleaved_components: u32,
    pub(crate) xfb_separate_attribs: u32,
    pub(crate) xfb_separate_components: u32,
    pub(crate) texel_offset: [i32; 2],
    pub(crate) point_size_range: [f32; 2],
    pub(crate) point_size_granularity: f32,
    pub(crate) line_width_range: [f32; 2],
    pub(crate) line_width_granularity: f32,
    pub(crate) lod_bias: f32,
    pub(crate) anisotropy: f32,
    pub(crate) subpixel_bits: u32,
    pub(crate) elements_vertices: u32,
    pub(crate) elements_indices: u32,
    pub(crate) map_alignment: u32,
    pub(crate) timestamp_bits: u32,
}

/// Most samples in a mask of supported sample counts.
fn most_samples(mask: u32) -> u32 {
    // The bit of value n stands for n samples.
    [32, 16, 8, 4, 2].into_iter().find(|&n| mask & n != 0).unwrap_or(1)
}

impl Limits {
    /// Reads the limits out of the caps. A backend that leaves a cap at zero gets the least that GL 3.3 allows.
    pub(crate) fn new(reply: &CapsReply) -> Limits {
        let caps = &reply.caps;
        let at_least = |value: u32, least: u32| if value == 0 { least } else { value };
        // 16 units a stage is the floor; more than 32 a stage would not fit the merged unit space six times.
        let units = at_least(caps.max_samplers, 16).min(MAX_TEXTURE_UNITS as u32 / 6);
        let blocks = at_least(caps.max_uniform_buffers, 12).clamp(12, 15);
        let texture_size = at_least(caps.max_texture_2d, 1024).min(16384);
        let line = caps.line_width;
        let point = caps.point_size;
        let xfb = caps.max_xfb_buffers.clamp(if reply.has(features::TRANSFORM_FEEDBACK) { 1 } else { 0 }, 4);
        let varying = at_least(caps.max_varying_components, 64).clamp(60, 128);
        let geometry_input = at_least(caps.max_geometry_input_components, varying).clamp(64, varying.max(64));
        Limits {
            texture_size,
            texture_3d_size: at_least(caps.max_texture_3d, 256).min(2048),
            cube_map_size: at_least(caps.max_texture_cube, 1024).min(16384),
            array_layers: at_least(caps.max_array_layers, 256).min(2048),
            rectangle_size: texture_size,
            texture_buffer_size: at_least(caps.max_texel_buffer_elements, 65536).min(1 << 27),
            renderbuffer_size: at_least(caps.max_framebuffer_size[0].min(caps.max_framebuffer_size[1]), 1024)
                .min(texture_size),
            viewport_dims: caps.max_viewport_size.map(|v| at_least(v, texture_size).min(32768)),
            viewports: 1,
            color_attachments: at_least(caps.max_color_attachments, 8).min(8),
            draw_buffers: at_least(caps.max_color_attachments, 8).min(8),
            dual_source_draw_buffers: caps.max_dual_source_buffers.max(1),
            samples: most_samples(caps.framebuffer_color_samples & caps.framebuffer_depth_samples),
            color_samples: most_samples(caps.framebuffer_color_samples),
            depth_samples: most_samples(caps.framebuffer_depth_samples),
            integer_samples: most_samples(caps.framebuffer_integer_samples),
            vertex_attribs: at_least(caps.max_vertex_attributes, 16).min(MAX_VERTEX_ATTRIBS as u32).min(16),
            vertex_attrib_stride: at_least(caps.max_vertex_stride, 2048),
            texture_image_units: units,
            combined_texture_image_units: (units * STAGES).min(MAX_TEXTURE_UNITS as u32),
            uniform_blocks: blocks,
            combined_uniform_blocks: blocks * STAGES,
            uniform_buffer_bindings: blocks * STAGES,
            uniform_block_size: at_least(caps.max_uniform_range, 16384).min(1 << 20),
            uniform_offset_alignment: at_least(caps.uniform_offset_alignment, 1),
            texture_buffer_offset_alignment: at_least(caps.texel_offset_alignment, 1),
            uniform_components: (at_least(caps.max_uniform_range, 16384) / 4).min(16384),
            varying_components: varying,
            geometry_input_components: geometry_input,
            geometry_input_components_to_link: if caps.is_software != 0 { varying.max(64) } else { geometry_input },
            geometry_output_vertices: at_least(caps.max_geometry_vertices, 256).clamp(256, 1024),
            geometry_output_components: 128,
            geometry_total_output_components: at_least(caps.max_geometry_components, 1024).clamp(1024, 16384),
            clip_distances: at_least(caps.max_clip_distances, 8).min(8),
            xfb_buffers: xfb,
            xfb_interleaved_components: at_least(caps.max_xfb_stride / 4, 64).clamp(64, 128),
            xfb_separate_attribs: xfb.max(4),
            xfb_separate_components: 4,
            texel_offset: [caps.texel_offset[0].clamp(-64, -8), caps.texel_offset[1].clamp(7, 63)],
            point_size_range: [point[0].clamp(0.0, 1.0).max(f32::MIN_POSITIVE), point[1].max(1.0)],
            point_size_granularity: point[2],
            line_width_range: [if line[0] > 0.0 { line[0].min(1.0) } else { 1.0 }, line[1].max(1.0)],
            line_width_granularity: line[2],
            lod_bias: caps.max_lod_bias.max(2.0),
            anisotropy: caps.max_anisotropy.max(1.0),
            subpixel_bits: at_least(caps.subpixel_bits, 4),
            elements_vertices: 1 << 20,
            elements_indices: 1 << 20,
            map_alignment: 64,
            timestamp_bits: caps.timestamp_bits.min(64),
        }
    }

    /// The limits in the form that the shader compiler takes.
    pub(crate) fn for_shaders(&self) -> mgl_glsl::Limits {
        mgl_glsl::Limits {
            max_vertex_attribs: self.vertex_attribs,
            max_draw_buffers: self.draw_buffers,
            max_dual_source_draw_buffers: self.dual_source_draw_buffers,
            max_texture_image_units: self.texture_image_units,
            max_combined_texture_image_units: self.combined_texture_image_units,
            max_uniform_components: self.uniform_components,
            max_uniform_blocks: self.uniform_blocks,
            max_combined_uniform_blocks: self.combined_uniform_blocks,
            max_uniform_buffer_bindings: self.uniform_buffer_bindings,
            max_uniform_block_size: self.uniform_block_size,
            max_varying_components: self.varying_components,
            max_vertex_output_components: self.varying_components,
            max_geometry_input_components: self.geometry_input_components,
            most_geometry_input_components: self.geometry_input_components_to_link,
            max_geometry_output_components: self.geometry_output_components,
            max_geometry_total_output_components: self.geometry_total_output_components,
            max_geometry_output_vertices: self.geometry_output_vertices,
            max_fragment_input_components: self.varying_components,
            max_clip_distances: self.clip_distances,
            max_viewports: self.viewports,
            max_transform_feedback_buffers: self.xfb_buffers,
            max_transform_feedback_interleaved_components: self.xfb_interleaved_components,
            max_transform_feedback_separate_attribs: self.xfb_separate_attribs,
            max_transform_feedback_separate_components: self.xfb_separate_components,
            min_program_texel_offset: self.texel_offset[0],
            max_program_texel_offset: self.texel_offset[1],
            max_samples: self.samples,
            ..mgl_glsl::Limits::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_caps_block_gives_the_least_that_gl_allows() {
        let limits = Limits::new(&CapsReply::default());
        assert!(limits.texture_size >= 1024 && limits.texture_3d_size >= 256);
        assert!(limits.combined_texture_image_units >= 48);
        assert!(limits.uniform_buffer_bindings >= 36);
        assert!(limits.vertex_attribs >= 16);
        assert_eq!(limits.samples, 1);
    }

    #[test]
    fn sample_masks_name_counts_by_their_own_value() {
        assert_eq!(most_samples(1 | 4 | 8), 8);
        assert_eq!(most_samples(1), 1);
        assert_eq!(most_samples(0), 1);
    }
}
