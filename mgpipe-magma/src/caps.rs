//! Caps: the device's limits and features as the pipe states them.

use crate::device::Device;
use ash::vk;
use mgpipe_types::{features, Caps, CapsReply, Format, Opcode, CALLS, FORMAT_SLOTS};

/// Calls that Magma leaves to the frontend.
const MISSING: &[Opcode] = &[Opcode::BufferSubdataResident, Opcode::BindContext];

/// The answer of `get_caps`.
pub(crate) fn reply(device: &Device) -> CapsReply {
    let limits = &device.properties.limits;
    let core = &device.features.core;
    let on = |bit: vk::Bool32| bit == vk::TRUE;
    let mut bits = 0u64;
    let mut add = |has: bool, bit: u64| {
        if has {
            bits |= bit;
        }
    };
    add(on(core.geometry_shader), features::GEOMETRY_SHADER);
    add(on(core.tessellation_shader), features::TESSELLATION);
    add(true, features::COMPUTE);
    add(device.ext.transform_feedback, features::TRANSFORM_FEEDBACK);
    add(device.features.geometry_streams, features::XFB_STREAMS);
    add(on(core.multi_viewport), features::VIEWPORT_ARRAY);
    add(on(core.shader_float64), features::FLOAT64 | features::FLOAT64_VERTEX_ATTRIB);
    add(on(core.dual_src_blend), features::DUAL_SOURCE_BLEND);
    add(on(core.logic_op), features::LOGIC_OP);
    add(on(core.fill_mode_non_solid), features::POLYGON_MODE);
    add(on(core.wide_lines), features::WIDE_LINES);
    add(on(core.large_points), features::LARGE_POINTS);
    add(on(core.depth_clamp), features::DEPTH_CLAMP);
    add(true, features::CLIP_CONTROL);
    add(on(core.shader_clip_distance), features::CLIP_DISTANCE);
    add(on(core.shader_cull_distance), features::CULL_DISTANCE);
    add(on(core.sample_rate_shading), features::SAMPLE_SHADING);
    add(on(core.independent_blend), features::INDEPENDENT_BLEND);
    add(on(core.sampler_anisotropy), features::ANISOTROPY);
    add(on(core.image_cube_array), features::CUBE_ARRAY);
    add(true, features::OCCLUSION_QUERY);
    add(on(core.occlusion_query_precise), features::OCCLUSION_PRECISE);
    add(device.timestamp_bits > 0, features::TIMER_QUERY);
    add(
        device.ext.transform_feedback && device.xfb_properties.transform_feedback_queries == vk::TRUE,
        features::XFB_PRIMITIVES_QUERY,
    );
    add(
        device.ext.primitives_generated_query || on(core.pipeline_statistics_query),
        features::PRIMITIVES_GENERATED_QUERY,
    );
    add(on(core.pipeline_statistics_query), features::PIPELINE_STATISTICS);
    add(on(core.multi_draw_indirect), features::MULTI_DRAW_INDIRECT);
    add(device.ext.draw_indirect_count, features::INDIRECT_COUNT);
    add(device.features.draw_parameters, features::SHADER_DRAW_PARAMETERS);
    add(device.ext.provoking_vertex, features::PROVOKING_VERTEX_FIRST_AND_LAST);
    add(device.ext.custom_border_color, features::CUSTOM_BORDER_COLOR);
    add(device.ext.mirror_clamp, features::MIRROR_CLAMP);
    add(device.ext.stencil_export, features::STENCIL_EXPORT);
    add(device.features.smooth_lines, features::SMOOTH_LINES);
    add(true, features::PERSISTENT_MAP | features::SILENT_MAPS);
    add(device.ext.external_memory_host, features::SHARES_MEMORY);
    add(device.ext.transform_feedback, features::DRIVER_ORDERED_XFB);
    add(on(core.robust_buffer_access), features::ROBUST_BUFFER_ACCESS);
    add(device.ext.viewport_index_layer, features::SHADER_LAYER_VIEWPORT);
    add(on(core.shader_storage_image_write_without_format), features::IMAGE_STORE_WITHOUT_FORMAT);
    add(true, features::TEXTURE_SWIZZLE);
    add(true, features::PRIMITIVE_RESTART_LISTS);
    add(
        on(core.shader_sampled_image_array_dynamic_indexing) && on(core.shader_storage_image_array_dynamic_indexing),
        features::DYNAMIC_SAMPLER_INDEXING,
    );

    let mut call_mask = [0u64; 2];
    for call in CALLS {
        if !MISSING.contains(&call.opcode) {
            let bit = call.opcode as usize - 1;
            call_mask[bit / 64] |= 1 << (bit % 64);
        }
    }
    let memory: u64 = device
        .memory_properties
        .memory_heaps_as_slice()
        .iter()
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .sum();
    let small = |size: u32| size.min(1 << 30);
    let xfb = &device.xfb_properties;
    let has_xfb = device.ext.transform_feedback;
    let caps = Caps {
        features: bits,
        call_mask,
        timestamp_period_ns: limits.timestamp_period,
        timestamp_bits: device.timestamp_bits,
        max_texture_2d: limits.max_image_dimension2_d,
        max_texture_3d: limits.max_image_dimension3_d,
        max_texture_cube: limits.max_image_dimension_cube,
        max_array_layers: limits.max_image_array_layers,
        max_texel_buffer_elements: limits.max_texel_buffer_elements,
        max_framebuffer_size: [limits.max_framebuffer_width, limits.max_framebuffer_height],
        max_framebuffer_layers: limits.max_framebuffer_layers,
        max_color_attachments: limits.max_color_attachments.min(8),
        framebuffer_color_samples: limits.framebuffer_color_sample_counts.as_raw(),
        framebuffer_depth_samples: (limits.framebuffer_depth_sample_counts & limits.framebuffer_stencil_sample_counts)
            .as_raw(),
        framebuffer_integer_samples: device.formats.get(Format::RGBA8_UINT).samples.as_raw(),
        max_viewports: limits.max_viewports.min(16),
        max_viewport_size: limits.max_viewport_dimensions,
        viewport_bounds: limits.viewport_bounds_range,
        subpixel_bits: limits.sub_pixel_precision_bits,
        point_size: [limits.point_size_range[0], limits.point_size_range[1], limits.point_size_granularity],
        line_width: [limits.line_width_range[0], limits.line_width_range[1], limits.line_width_granularity],
        max_anisotropy: limits.max_sampler_anisotropy,
        max_lod_bias: limits.max_sampler_lod_bias,
        max_vertex_attributes: limits.max_vertex_input_attributes.min(32),
        // One binding is kept for current values.
        max_vertex_bindings: limits.max_vertex_input_bindings.saturating_sub(1).min(32),
        max_vertex_stride: limits.max_vertex_input_binding_stride,
        // One uniform buffer of each stage is the default block.
        max_uniform_buffers: small(limits.max_per_stage_descriptor_uniform_buffers).saturating_sub(1),
        max_uniform_range: small(limits.max_uniform_buffer_range),
        max_storage_buffers: small(limits.max_per_stage_descriptor_storage_buffers),
        max_storage_range: small(limits.max_storage_buffer_range),
        max_samplers: small(
            limits.max_per_stage_descriptor_samplers.min(limits.max_per_stage_descriptor_sampled_images),
        ),
        max_images: small(limits.max_per_stage_descriptor_storage_images),
        uniform_offset_alignment: limits.min_uniform_buffer_offset_alignment as u32,
        storage_offset_alignment: limits.min_storage_buffer_offset_alignment as u32,
        texel_offset_alignment: limits.min_texel_buffer_offset_alignment as u32,
        map_alignment: limits.min_memory_map_alignment as u32,
        max_xfb_buffers: if has_xfb { xfb.max_transform_feedback_buffers.min(4) } else { 0 },
        max_xfb_streams: if has_xfb { xfb.max_transform_feedback_streams.min(4) } else { 0 },
        max_xfb_stride: if has_xfb { xfb.max_transform_feedback_buffer_data_stride } else { 0 },
        max_clip_distances: limits.max_clip_distances,
        max_cull_distances: limits.max_cull_distances,
        max_clip_cull_distances: limits.max_combined_clip_and_cull_distances,
        max_dual_source_buffers: limits.max_fragment_dual_src_attachments,
        max_geometry_vertices: limits.max_geometry_output_vertices,
        max_geometry_components: limits.max_geometry_total_output_components,
        max_geometry_input_components: limits.max_geometry_input_components,
        max_geometry_invocations: limits.max_geometry_shader_invocations,
        max_patch_vertices: limits.max_tessellation_patch_size,
        max_tess_level: limits.max_tessellation_generation_level,
        max_varying_components: limits.max_vertex_output_components.min(limits.max_fragment_input_components),
        gather_offset: [limits.min_texel_gather_offset, limits.max_texel_gather_offset as i32],
        texel_offset: [limits.min_texel_offset, limits.max_texel_offset as i32],
        interpolation_offset: [limits.min_interpolation_offset, limits.max_interpolation_offset],
        interpolation_offset_bits: limits.sub_pixel_interpolation_offset_bits,
        max_compute_groups: limits.max_compute_work_group_count,
        max_compute_group_size: limits.max_compute_work_group_size,
        max_compute_invocations: limits.max_compute_work_group_invocations,
        max_compute_shared: limits.max_compute_shared_memory_size,
        vendor_id: device.properties.vendor_id,
        device_id: device.properties.device_id,
        api_version: device.properties.api_version,
        driver_version: device.properties.driver_version,
        memory_mib: u32::try_from(memory >> 20).unwrap_or(u32::MAX),
        is_software: u32::from(device.properties.device_type == vk::PhysicalDeviceType::CPU),
        reserved: [0; 14],
    };
    let mut formats = [0; FORMAT_SLOTS];
    for &format in Format::ALL {
        formats[format.0 as usize] = device.formats.caps_bits(format);
    }
    let name = device.properties.device_name_as_c_str().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let version = device.properties.api_version;
    CapsReply {
        caps,
        formats,
        device_name: if device.driver_name.is_empty() { name } else { format!("{name}, {}", device.driver_name) },
        backend_name: format!("Magma, Vulkan {}.{}", vk::api_version_major(version), vk::api_version_minor(version)),
    }
}
