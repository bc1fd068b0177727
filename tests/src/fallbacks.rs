//! What the backends do without optional parts of Vulkan and OpenGL ES: masks for `MGL_MAGMA_DISABLE` and `MGL_ESPRYT_MASK`, and
//! what runs under each.

use crate::scene::Scenario;

/// A mask and the scenarios that run under it.
#[derive(Clone, Copy, Debug)]
pub struct Masked {
    /// The value of `MGL_MAGMA_DISABLE`, or of `MGL_ESPRYT_MASK`.
    pub mask: &'static str,
    /// Names, or beginnings of names that end in `_`.
    pub scenarios: &'static [&'static str],
    /// Scenarios that cannot pass, which shows that the mask works, and why they cannot.
    pub lost: &'static [(&'static str, &'static str)],
}

impl Masked {
    /// Whether a scenario runs under this mask. Scenarios that are lost do.
    pub fn runs(&self, scenario: &Scenario) -> bool {
        let named = |name: &&str| *name == scenario.name || (name.ends_with('_') && scenario.name.starts_with(*name));
        self.scenarios.iter().any(named) || self.lost(scenario.name).is_some()
    }

    /// Why a scenario cannot pass under this mask.
    pub fn lost(&self, scenario: &str) -> Option<&'static str> {
        self.lost.iter().find(|(name, _)| *name == scenario).map(|(_, why)| *why)
    }
}

const fn masked(mask: &'static str, scenarios: &'static [&'static str]) -> Masked {
    Masked { mask, scenarios, lost: &[] }
}

const fn losing(
    mask: &'static str,
    scenarios: &'static [&'static str],
    lost: &'static [(&'static str, &'static str)],
) -> Masked {
    Masked { mask, scenarios, lost }
}

/// Everything that has passes, attachments and what goes on in them.
const PASSES: &[&str] = &[
    "attachment_",
    "blit_",
    "buffer_index_update_between_draws",
    "clear_",
    "context_switching_keeps_state",
    "draw_many_small",
    "feedback_",
    "fragment_blend_per_buffer",
    "fragment_srgb_framebuffer",
    "fragment_stencil_shape",
    "framebuffer_",
    "hostile_image_larger_than_memory",
    "mixed_state_1",
    "mixed_objects_1",
    "multisample_",
    "object_everything_recycled",
    "object_framebuffer_recycled",
    "object_rendered_texture_after_deletion",
    "query_",
    "raster_",
    "renderbuffer_",
    "shader_geometry_amplify",
    "transfer_sub_image_over_rendered",
];

/// State that is dynamic where the device can.
const STATE: &[&str] = &[
    "draw_primitive_modes",
    "draw_primitive_restart",
    "fragment_",
    "mixed_state_1",
    "mixed_state_2",
    "raster_",
    "vertex_array_objects",
];

/// Every mask: each optional extension alone, and all of them together.
pub const MASKS: &[Masked] = &[
    losing(
        "vulkan11",
        PASSES_AND_MORE,
        &[
            ("texture_border_color", NO_BORDER),
            ("texture_cube_seamless", ALWAYS_SEAMLESS),
            ("feedback_interleaved", NO_FEEDBACK),
            ("feedback_separate", NO_FEEDBACK),
            ("feedback_geometry_shader", NO_FEEDBACK),
            ("feedback_draws_what_it_captured", NO_FEEDBACK),
            ("feedback_overflow_and_errors", NO_FEEDBACK),
            ("query_primitives", NO_FEEDBACK),
            ("hostile_capture_buffers", NO_FEEDBACK),
        ],
    ),
    masked("VK_EXT_external_memory_host", &["mapping_", "buffer_persistent_coherent"]),
    masked("VK_KHR_dynamic_rendering", PASSES),
    masked("VK_KHR_create_renderpass2", &["framebuffer_blit"]),
    masked("VK_KHR_depth_stencil_resolve", &["blit_multisample_depth_stencil"]),
    masked("VK_KHR_timeline_semaphore", &["context_", "sync_", "buffer_", "query_", "object_", "draw_many_small"]),
    masked("VK_EXT_extended_dynamic_state", STATE),
    masked("VK_EXT_extended_dynamic_state2", STATE),
    masked("VK_EXT_extended_dynamic_state3", STATE),
    masked("VK_EXT_vertex_input_dynamic_state", &["vertex_", "draw_", "mixed_objects_1", "mixed_state_1"]),
    losing(
        "VK_EXT_transform_feedback",
        &["query_occlusion", "query_targets_at_once"],
        &[("feedback_interleaved", NO_FEEDBACK), ("query_primitives", NO_FEEDBACK)],
    ),
    masked("VK_EXT_provoking_vertex", PROVOKING),
    masked("VK_EXT_line_rasterization", &["draw_primitive_modes", "raster_polygon_mode"]),
    losing("VK_EXT_custom_border_color", &["texture_wrap"], &[("texture_border_color", NO_BORDER)]),
    masked("VK_EXT_border_color_swizzle", &["texture_border_color", "texture_wrap"]),
    masked("VK_EXT_depth_clip_enable", &["raster_depth_clamp", "raster_clipping"]),
    masked("VK_EXT_depth_clip_control", &["raster_", "feedback_", "fragment_depth_", "shader_geometry_amplify"]),
    masked("VK_EXT_primitive_topology_list_restart", &["draw_primitive_restart"]),
    masked("VK_EXT_index_type_uint8", &["draw_index_types", "draw_primitive_restart"]),
    masked("VK_EXT_multi_draw", &["draw_"]),
    masked("VK_EXT_robustness2", &["texture_incomplete_is_black", "texture_units", "vertex_past_the_end", "hostile_"]),
    masked("VK_EXT_vertex_attribute_divisor", &["draw_instance_id", "draw_instanced_divisor"]),
    masked("VK_EXT_primitives_generated_query", &["query_", "feedback_"]),
    masked("VK_EXT_host_query_reset", &["query_"]),
    masked("VK_EXT_calibrated_timestamps", &["query_timer"]),
    masked("VK_KHR_draw_indirect_count", &["draw_multi"]),
    masked("VK_EXT_shader_viewport_index_layer", &["framebuffer_layered_geometry"]),
    masked("VK_KHR_sampler_mirror_clamp_to_edge", &["texture_wrap"]),
    losing("VK_EXT_non_seamless_cube_map", &["texture_cube"], &[("texture_cube_seamless", ALWAYS_SEAMLESS)]),
    masked("VK_EXT_shader_stencil_export", &["blit_", "framebuffer_blit_depth_stencil"]),
    masked("VK_EXT_image_2d_view_of_3d", &["texture_3d"]),
    masked("VK_KHR_uniform_buffer_standard_layout", &["shader_uniform_"]),
    masked("VK_EXT_scalar_block_layout", &["shader_uniform_"]),
    masked("VK_EXT_shader_demote_to_helper_invocation", &["raster_derivatives", "raster_discard"]),
    masked("VK_KHR_driver_properties", &["context_version_and_strings"]),
];

const PROVOKING: &[&str] = &["raster_flat_provoking_vertex", "draw_primitive_modes"];

/// Of the hostile ones `hostile_feedback_loops` is left out: what GL leaves undefined there (reading what is drawn to), a pass
/// without dynamic rendering may not do, and the validation layer says so.
const PASSES_AND_MORE: &[&str] = &[
    "attachment_",
    "blit_",
    "buffer_",
    "clear_",
    "context_",
    "draw_",
    "fragment_",
    "framebuffer_",
    "hostile_capture_buffers",
    "hostile_copies_",
    "hostile_depths_",
    "hostile_feedback_varying_count",
    "hostile_geometry_",
    "hostile_image_",
    "hostile_linear_",
    "hostile_mappings",
    "hostile_pixel_",
    "hostile_queries",
    "hostile_samplers_",
    "hostile_sub_",
    "hostile_sync_",
    "hostile_uniform_",
    "hostile_unpack_",
    "hostile_vertices_",
    "mixed_",
    "multisample_",
    "object_",
    "query_",
    "raster_",
    "renderbuffer_",
    "shader_geometry_amplify",
    "sync_",
    "texture_incomplete_is_black",
    "transfer_sub_image_over_rendered",
    "vertex_",
];

const NO_FEEDBACK: &str = "nothing but VK_EXT_transform_feedback captures vertices";
const NO_BORDER: &str = "Vulkan itself has three border colours";
const ALWAYS_SEAMLESS: &str = "Vulkan itself filters cube maps across faces";

/// What looks at compressed texels.
const BLOCKS: &[&str] = &["format_rgtc_blocks", "format_s3tc_blocks", "format_compressed_on_upload"];

/// Masks of the OpenGL ES backend. `ES32` hides what OpenGL ES 3.2 has of its own, so that the extensions decide.
pub const ESPRYT_MASKS: &[Masked] = &[
    masked(
        "ES32",
        &["draw_", "primitive_", "shader_", "multisample_", "fragment_blend_", "framebuffer_layered_geometry"],
    ),
    masked("ES32,OES_draw_elements_base_vertex,EXT_draw_elements_base_vertex", &["draw_base_vertex", "draw_multi"]),
    masked(
        "ES32,OES_copy_image,EXT_copy_image",
        &["copy_depth_stencil", "texture_respecify", "texture_levels_out_of_order", "blit_within_one_framebuffer"],
    ),
    losing(
        "ES32,OES_texture_border_clamp,EXT_texture_border_clamp",
        &["texture_filter", "texture_sampler_objects"],
        &[("texture_border_color", "OpenGL ES 3.1 itself has no borders")],
    ),
    losing(
        "ES32,OES_draw_buffers_indexed,EXT_draw_buffers_indexed",
        &["fragment_blend_functions", "framebuffer_multiple_targets"],
        &[("fragment_blend_per_buffer", "OpenGL ES 3.1 itself blends all draw buffers alike")],
    ),
    losing(
        "ES32,OES_texture_buffer,EXT_texture_buffer",
        &["texture_2d", "texture_vertex_fetch"],
        &[("texture_buffer", "OpenGL ES 3.1 itself has no buffer textures")],
    ),
    losing(
        "ES32,OES_geometry_shader,EXT_geometry_shader",
        &["draw_primitive_modes", "feedback_interleaved"],
        &[("shader_geometry_amplify", "OpenGL ES 3.1 itself has no geometry shaders")],
    ),
    losing(
        "NV_read_depth,NV_read_stencil",
        &[
            "copy_depth_stencil",
            "blit_depth_formats",
            "blit_multisample_depth_stencil",
            "clear_depth_formats",
            "fragment_stencil_shape",
        ],
        &[("format_depth_there_and_back", "24 bits of depth that become a float may differ in the last one")],
    ),
    masked(
        "EXT_buffer_storage",
        &[
            "buffer_map_",
            "buffer_stream_",
            "buffer_orphan_stream",
            "shader_uniform_block_",
            "draw_many_small",
            "transfer_sub_images",
            "transfer_sub_images_mosaic",
        ],
    ),
    losing(
        "EXT_shader_framebuffer_fetch",
        &["fragment_blend_functions"],
        &[("fragment_logic_op", "nothing else reads what was drawn")],
    ),
    losing(
        "fragment_storage",
        &["query_primitives"],
        &[
            ("query_occlusion_of_what_counts", "OpenGL ES itself counts no samples"),
            ("query_conditional_render", "OpenGL ES itself counts no samples"),
        ],
    ),
    masked("EXT_multi_draw_arrays", &["draw_"]),
    masked("EXT_multi_draw_indirect", &["draw_"]),
    masked("EXT_multi_draw_arrays,EXT_multi_draw_indirect", &["draw_", "feedback_"]),
    masked(
        "OES_texture_view,EXT_texture_view",
        &["blit_", "framebuffer_blit", "texture_2d", "texture_respecify", "texture_srgb"],
    ),
    masked("OES_texture_float_linear", &["texture_filter", "texture_formats_float"]),
    masked("EXT_texture_mirror_clamp_to_edge", &["texture_wrap"]),
    masked("EXT_texture_filter_anisotropic", &["texture_filter", "texture_sampler_objects"]),
    masked("ES32,OES_texture_cube_map_array,EXT_texture_cube_map_array", &["texture_cube", "texture_2d_array"]),
    masked("ES32,OES_sample_variables", &["multisample_", "query_occlusion"]),
    losing(
        "ES32,EXT_gpu_shader5",
        &["shader_", "texture_size_and_fetch"],
        &[("shader_struct_samplers", "OpenGL ES 3.1 itself indexes arrays of samplers by constants alone")],
    ),
    losing(
        "ES32,OES_texture_storage_multisample_2d_array",
        &["framebuffer_multisample_", "multisample_"],
        &[("multisample_texture_array", "OpenGL ES 3.1 itself has no arrays with samples")],
    ),
    masked("ES32,OES_sample_shading", &["framebuffer_multisample_", "multisample_"]),
    masked("EXT_multisample_compatibility", &["framebuffer_multisample_", "framebuffer_sample_mask_coverage"]),
    masked("ES32,OES_texture_stencil8", &["clear_depth_formats", "renderbuffer_", "fragment_stencil_shape"]),
    masked("EXT_texture_compression_s3tc,EXT_texture_compression_s3tc_srgb", BLOCKS),
    masked("EXT_texture_compression_s3tc_srgb", BLOCKS),
    masked("EXT_texture_compression_rgtc", BLOCKS),
    masked("EXT_texture_compression_bptc", BLOCKS),
    masked("EXT_geometry_point_size,OES_geometry_point_size", &["shader_geometry_amplify", "feedback_geometry_shader"]),
    masked("NV_polygon_mode", &["raster_polygon_mode"]),
    masked("EXT_polygon_offset_clamp", &["raster_polygon_offset"]),
    masked("EXT_base_instance", &["draw_", "primitive_ids_with_base_and_instances", "vertex_"]),
    masked("EXT_render_snorm", &["format_signed_normalized_there_and_back", "format_normalized_there_and_back"]),
    masked("partial_mipmaps", &["texture_mipmaps_", "texture_levels_out_of_order"]),
    losing(
        "ES32,EXT_color_buffer_float",
        &["clear_color", "framebuffer_blit", "fragment_blend_functions", "texture_filter"],
        &[
            ("clear_float_unclamped", "OpenGL ES 3.1 itself draws to no floats"),
            ("fragment_blend_float_target", "OpenGL ES 3.1 itself draws to no floats"),
        ],
    ),
    masked("EXT_texture_norm16", &["format_normalized_there_and_back", "texture_formats_normalized"]),
    losing(
        "EXT_sRGB_write_control",
        &["clear_color", "texture_srgb"],
        &[("fragment_srgb_framebuffer", "OpenGL ES itself always encodes")],
    ),
    losing(
        "EXT_clip_cull_distance",
        &["raster_clipping"],
        &[("raster_clip_distance", "OpenGL ES itself cuts at no distances")],
    ),
    losing(
        "EXT_blend_func_extended",
        &["fragment_blend_functions"],
        &[("fragment_dual_source", "OpenGL ES itself blends one colour")],
    ),
    masked("EXT_depth_clamp", &["raster_depth_range", "raster_clipping"]),
    losing(
        "EXT_disjoint_timer_query",
        &["query_occlusion", "query_primitives"],
        &[("query_timer", "OpenGL ES itself tells no time")],
    ),
];
