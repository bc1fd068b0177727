//! Reads Vulkan devices, features and limits through the loader; the only file here with `unsafe`.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::CStr;

use ash::vk;

/// What one device offers.
#[derive(Clone, Debug)]
pub struct Device {
    /// The name that it gives itself.
    pub name: String,
    /// `CPU`, `discrete GPU` and so on.
    pub kind: &'static str,
    /// Name of the driver with what it says about its version, where it says so.
    pub driver: String,
    /// Major, minor and patch version of Vulkan.
    pub api: (u32, u32, u32),
    /// Names of the features that are there, as the Vulkan specification spells them.
    pub features: BTreeSet<&'static str>,
    /// Limits by name.
    pub limits: Vec<(&'static str, u64)>,
    /// Bytes of all heaps that are the device's own.
    pub local_memory: u64,
}

/// What the loader offers.
#[derive(Clone, Debug)]
pub struct Loader {
    /// Highest instance version.
    pub api: (u32, u32, u32),
    /// Names of the layers.
    pub layers: BTreeSet<String>,
    /// Devices of all drivers.
    pub devices: Vec<Device>,
}

/// Asks the Vulkan loader. The error is a sentence for the user.
pub fn probe() -> Result<Loader, String> {
    // SAFETY: loading runs the initialisers of libvulkan.so.1, the system's own loader, which promises that this is fine
    // in any process.
    let entry = unsafe { ash::Entry::load() }.map_err(|error| format!("libvulkan.so.1 cannot be loaded: {error}"))?;
    // SAFETY: `entry` holds the loader's functions, which need nothing but themselves.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .map_err(|error| format!("the loader does not tell its version: {error}"))?
        .unwrap_or(vk::API_VERSION_1_0);
    // SAFETY: as above.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .unwrap_or_default()
        .iter()
        .map(|layer| text(&layer.layer_name))
        .collect();
    let application = vk::ApplicationInfo::default().application_name(c"cargo xtask doctor").api_version(version);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: `info` and what it points to live until the call returns; no extension or layer is asked for.
    let instance = unsafe { entry.create_instance(&info, None) }
        .map_err(|error| format!("no Vulkan instance can be made: {error}. Is a Vulkan driver installed?"))?;
    // SAFETY: `instance` is alive until it is destroyed below.
    let devices = unsafe { instance.enumerate_physical_devices() }
        .map(|devices| devices.into_iter().map(|device| describe(&instance, device)).collect())
        .map_err(|error| format!("the devices cannot be listed: {error}"));
    // SAFETY: everything that was made from the instance (nothing but plain copies) is done with.
    unsafe { instance.destroy_instance(None) };
    Ok(Loader { api: triple(version), layers, devices: devices? })
}

fn describe(instance: &ash::Instance, device: vk::PhysicalDevice) -> Device {
    // SAFETY: `device` was listed by `instance`, which the caller keeps alive; the three calls only read.
    let (properties, features, memory) = unsafe {
        (
            instance.get_physical_device_properties(device),
            instance.get_physical_device_features(device),
            instance.get_physical_device_memory_properties(device),
        )
    };
    let mut driver = String::new();
    if properties.api_version >= vk::API_VERSION_1_2 {
        let mut about = vk::PhysicalDeviceDriverProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut about);
        // SAFETY: the device has Vulkan 1.2, so the call and the chained structure are known to it; both live here.
        unsafe { instance.get_physical_device_properties2(device, &mut all) };
        driver = format!("{} {}", text(&about.driver_name), text(&about.driver_info)).trim().to_string();
    }
    let heaps = &memory.memory_heaps[..(memory.memory_heap_count as usize).min(memory.memory_heaps.len())];
    Device {
        name: text(&properties.device_name),
        kind: match properties.device_type {
            vk::PhysicalDeviceType::CPU => "CPU",
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
            _ => "other",
        },
        driver,
        api: triple(properties.api_version),
        features: feature_names(&features),
        limits: limit_values(&properties.limits),
        local_memory: heaps
            .iter()
            .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
            .map(|heap| heap.size)
            .sum(),
    }
}

fn text(bytes: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

fn triple(version: u32) -> (u32, u32, u32) {
    (vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version))
}

fn feature_names(features: &vk::PhysicalDeviceFeatures) -> BTreeSet<&'static str> {
    let table = [
        ("robustBufferAccess", features.robust_buffer_access),
        ("fullDrawIndexUint32", features.full_draw_index_uint32),
        ("imageCubeArray", features.image_cube_array),
        ("independentBlend", features.independent_blend),
        ("geometryShader", features.geometry_shader),
        ("tessellationShader", features.tessellation_shader),
        ("sampleRateShading", features.sample_rate_shading),
        ("dualSrcBlend", features.dual_src_blend),
        ("logicOp", features.logic_op),
        ("multiDrawIndirect", features.multi_draw_indirect),
        ("drawIndirectFirstInstance", features.draw_indirect_first_instance),
        ("depthClamp", features.depth_clamp),
        ("depthBiasClamp", features.depth_bias_clamp),
        ("fillModeNonSolid", features.fill_mode_non_solid),
        ("depthBounds", features.depth_bounds),
        ("wideLines", features.wide_lines),
        ("largePoints", features.large_points),
        ("alphaToOne", features.alpha_to_one),
        ("multiViewport", features.multi_viewport),
        ("samplerAnisotropy", features.sampler_anisotropy),
        ("textureCompressionBC", features.texture_compression_bc),
        ("textureCompressionETC2", features.texture_compression_etc2),
        ("occlusionQueryPrecise", features.occlusion_query_precise),
        ("pipelineStatisticsQuery", features.pipeline_statistics_query),
        ("vertexPipelineStoresAndAtomics", features.vertex_pipeline_stores_and_atomics),
        ("fragmentStoresAndAtomics", features.fragment_stores_and_atomics),
        ("shaderTessellationAndGeometryPointSize", features.shader_tessellation_and_geometry_point_size),
        ("shaderImageGatherExtended", features.shader_image_gather_extended),
        ("shaderStorageImageReadWithoutFormat", features.shader_storage_image_read_without_format),
        ("shaderStorageImageWriteWithoutFormat", features.shader_storage_image_write_without_format),
        ("shaderSampledImageArrayDynamicIndexing", features.shader_sampled_image_array_dynamic_indexing),
        ("shaderUniformBufferArrayDynamicIndexing", features.shader_uniform_buffer_array_dynamic_indexing),
        ("shaderStorageBufferArrayDynamicIndexing", features.shader_storage_buffer_array_dynamic_indexing),
        ("shaderClipDistance", features.shader_clip_distance),
        ("shaderCullDistance", features.shader_cull_distance),
        ("shaderFloat64", features.shader_float64),
        ("shaderInt64", features.shader_int64),
    ];
    table.into_iter().filter(|(_, there)| *there == vk::TRUE).map(|(name, _)| name).collect()
}

fn limit_values(limits: &vk::PhysicalDeviceLimits) -> Vec<(&'static str, u64)> {
    [
        ("maxImageDimension2D", limits.max_image_dimension2_d),
        ("maxImageDimension3D", limits.max_image_dimension3_d),
        ("maxImageDimensionCube", limits.max_image_dimension_cube),
        ("maxImageArrayLayers", limits.max_image_array_layers),
        ("maxTexelBufferElements", limits.max_texel_buffer_elements),
        ("maxUniformBufferRange", limits.max_uniform_buffer_range),
        ("maxPerStageDescriptorUniformBuffers", limits.max_per_stage_descriptor_uniform_buffers),
        ("maxPerStageDescriptorSampledImages", limits.max_per_stage_descriptor_sampled_images),
        ("maxPerStageDescriptorStorageBuffers", limits.max_per_stage_descriptor_storage_buffers),
        ("maxPerStageDescriptorStorageImages", limits.max_per_stage_descriptor_storage_images),
        ("maxBoundDescriptorSets", limits.max_bound_descriptor_sets),
        ("maxPushConstantsSize", limits.max_push_constants_size),
        ("maxVertexInputAttributes", limits.max_vertex_input_attributes),
        ("maxVertexInputBindings", limits.max_vertex_input_bindings),
        ("maxVertexOutputComponents", limits.max_vertex_output_components),
        ("maxColorAttachments", limits.max_color_attachments),
        ("maxFramebufferWidth", limits.max_framebuffer_width),
        ("maxViewports", limits.max_viewports),
        ("maxClipDistances", limits.max_clip_distances),
        ("maxSamplerAllocationCount", limits.max_sampler_allocation_count),
        ("maxMemoryAllocationCount", limits.max_memory_allocation_count),
    ]
    .map(|(name, value)| (name, u64::from(value)))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::features::{FEATURES, LIMITS};

    #[test]
    fn every_listed_feature_and_limit_is_read() {
        let all = vk::PhysicalDeviceFeatures {
            robust_buffer_access: vk::TRUE,
            full_draw_index_uint32: vk::TRUE,
            ..Default::default()
        };
        assert_eq!(feature_names(&all), BTreeSet::from(["robustBufferAccess", "fullDrawIndexUint32"]));
        // SAFETY: the structure consists of 32-bit booleans only, for which any byte pattern is a value.
        let every: vk::PhysicalDeviceFeatures = unsafe {
            let mut features = vk::PhysicalDeviceFeatures::default();
            let words = std::mem::size_of::<vk::PhysicalDeviceFeatures>() / 4;
            std::slice::from_raw_parts_mut((&raw mut features).cast::<u32>(), words).fill(vk::TRUE);
            features
        };
        let read = feature_names(&every);
        for feature in FEATURES {
            assert!(read.contains(feature.name), "{} is not read", feature.name);
        }
        let values = limit_values(&vk::PhysicalDeviceLimits::default());
        for limit in LIMITS {
            assert!(values.iter().any(|(name, _)| *name == limit.name), "{} is not read", limit.name);
        }
    }
}
