//! What a compile and a link are told: versions, limits, bindings, captured varyings.

use mgpipe_types::reflection::TransformFeedbackMode;

use crate::extensions::ExtensionSet;

/// Which GL profile the context has; decides what old language features mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContextProfile {
    /// Core profile.
    #[default]
    Core,
    /// Compatibility profile, or a context of GL 3.1 and older.
    Compatibility,
}

/// Parameters of a compile that come from the context.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    /// Highest GLSL version that the context accepts, for example 330 or 460.
    pub max_version: u16,
    /// Profile of the context. Core contexts refuse `#version … compatibility`; versions below 140 stay accepted, as
    /// Mesa does.
    pub profile: ContextProfile,
    /// Implementation limits: they bound the shader and fill the `gl_Max*` constants.
    pub limits: Limits,
    /// Extensions that the context exposes to shaders; others are refused in `#extension … : require`.
    pub extensions: ExtensionSet,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            max_version: 460,
            profile: ContextProfile::Core,
            limits: Limits::default(),
            extensions: ExtensionSet::all(),
        }
    }
}

/// Implementation limits that shaders are checked against. Defaults: the least that GL 4.6 allows, or what Mesa's
/// software driver offers where that is the common expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Each field is the GL limit of the same name.
pub struct Limits {
    pub max_vertex_attribs: u32,
    pub max_draw_buffers: u32,
    pub max_dual_source_draw_buffers: u32,
    pub max_texture_image_units: u32,
    pub max_combined_texture_image_units: u32,
    pub max_uniform_locations: u32,
    pub max_uniform_components: u32,
    pub max_uniform_blocks: u32,
    pub max_combined_uniform_blocks: u32,
    pub max_uniform_buffer_bindings: u32,
    pub max_uniform_block_size: u32,
    pub max_storage_blocks: u32,
    pub max_combined_storage_blocks: u32,
    pub max_storage_buffer_bindings: u32,
    pub max_varying_components: u32,
    pub max_vertex_output_components: u32,
    pub max_geometry_input_components: u32,
    /// With how many a program still links: more than `max_geometry_input_components` where the device is the processor,
    /// whose limit no hardware stands behind. Beyond the former, inputs are packed.
    pub most_geometry_input_components: u32,
    pub max_geometry_output_components: u32,
    pub max_geometry_total_output_components: u32,
    pub max_geometry_output_vertices: u32,
    pub max_fragment_input_components: u32,
    pub max_tess_control_input_components: u32,
    pub max_tess_control_output_components: u32,
    pub max_tess_control_total_output_components: u32,
    pub max_tess_evaluation_input_components: u32,
    pub max_tess_evaluation_output_components: u32,
    pub max_tess_patch_components: u32,
    pub max_patch_vertices: u32,
    pub max_tess_gen_level: u32,
    pub max_clip_distances: u32,
    pub max_cull_distances: u32,
    pub max_combined_clip_and_cull_distances: u32,
    pub max_viewports: u32,
    pub max_image_units: u32,
    pub max_image_uniforms: u32,
    pub max_combined_image_uniforms: u32,
    pub max_image_samples: u32,
    pub max_combined_shader_output_resources: u32,
    pub max_atomic_counters: u32,
    pub max_atomic_counter_buffers: u32,
    pub max_atomic_counter_bindings: u32,
    pub max_atomic_counter_buffer_size: u32,
    pub max_compute_work_group_count: [u32; 3],
    pub max_compute_work_group_size: [u32; 3],
    pub max_compute_work_group_invocations: u32,
    pub max_transform_feedback_buffers: u32,
    pub max_transform_feedback_interleaved_components: u32,
    pub max_transform_feedback_separate_attribs: u32,
    pub max_transform_feedback_separate_components: u32,
    pub max_vertex_streams: u32,
    pub min_program_texel_offset: i32,
    pub max_program_texel_offset: i32,
    pub max_samples: u32,
    pub max_subroutines: u32,
    pub max_subroutine_uniform_locations: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_vertex_attribs: 16,
            max_draw_buffers: 8,
            max_dual_source_draw_buffers: 1,
            max_texture_image_units: 32,
            max_combined_texture_image_units: 192,
            max_uniform_locations: 16384,
            max_uniform_components: 16384,
            max_uniform_blocks: 14,
            max_combined_uniform_blocks: 84,
            max_uniform_buffer_bindings: 84,
            max_uniform_block_size: 65536,
            max_storage_blocks: 16,
            max_combined_storage_blocks: 96,
            max_storage_buffer_bindings: 96,
            max_varying_components: 128,
            max_vertex_output_components: 128,
            max_geometry_input_components: 128,
            most_geometry_input_components: 128,
            max_geometry_output_components: 128,
            max_geometry_total_output_components: 1024,
            max_geometry_output_vertices: 256,
            max_fragment_input_components: 128,
            max_tess_control_input_components: 128,
            max_tess_control_output_components: 128,
            max_tess_control_total_output_components: 4096,
            max_tess_evaluation_input_components: 128,
            max_tess_evaluation_output_components: 128,
            max_tess_patch_components: 120,
            max_patch_vertices: 32,
            max_tess_gen_level: 64,
            max_clip_distances: 8,
            max_cull_distances: 8,
            max_combined_clip_and_cull_distances: 8,
            max_viewports: 16,
            max_image_units: 32,
            max_image_uniforms: 16,
            max_combined_image_uniforms: 96,
            max_image_samples: 0,
            max_combined_shader_output_resources: 112,
            max_atomic_counters: 4096,
            max_atomic_counter_buffers: 16,
            max_atomic_counter_bindings: 16,
            max_atomic_counter_buffer_size: 16384,
            max_compute_work_group_count: [65535; 3],
            max_compute_work_group_size: [1024, 1024, 64],
            max_compute_work_group_invocations: 1024,
            max_transform_feedback_buffers: 4,
            max_transform_feedback_interleaved_components: 128,
            max_transform_feedback_separate_attribs: 4,
            max_transform_feedback_separate_components: 4,
            max_vertex_streams: 4,
            min_program_texel_offset: -8,
            max_program_texel_offset: 7,
            max_samples: 4,
            max_subroutines: 256,
            max_subroutine_uniform_locations: 1024,
        }
    }
}

/// Parameters of a link that come from the program object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkOptions {
    /// Limits that the interfaces are checked against.
    pub limits: Limits,
    /// `glBindAttribLocation`: attribute name and location. A later entry for a name replaces an earlier one.
    pub attribute_locations: Vec<(String, u32)>,
    /// `glBindFragDataLocation(Indexed)`: output name, location and index. A later entry replaces an earlier one.
    pub fragment_data_locations: Vec<(String, u32, u32)>,
    /// `glTransformFeedbackVaryings`: names as the application gave them.
    pub transform_feedback_varyings: Vec<String>,
    /// Mode of that call.
    pub transform_feedback_mode: Option<TransformFeedbackMode>,
    /// `GL_PROGRAM_SEPARABLE`: stages may be missing, and interfaces get locations by name so that separately linked
    /// programs agree.
    pub separable: bool,
    /// `GL_PATCH_VERTICES` for programs that have a tessellation evaluation shader without a control shader; 0 means 3,
    /// GL's initial value. Such a program must be linked again when a draw uses another number.
    pub patch_vertices: u32,
}
