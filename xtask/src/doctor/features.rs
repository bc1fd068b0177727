//! The Vulkan extensions and features that MGL uses, what each is for, and what its absence costs.

/// How much depends on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// MGL does not start without it.
    Required,
    /// Some GL version or extension is not offered without it.
    Level,
    /// Everything works without it, slower or by another route.
    Speed,
}

/// A Vulkan extension.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Its name.
    pub name: &'static str,
    /// The Vulkan version that took it in, if one did.
    pub core_since: Option<(u32, u32)>,
    /// How much depends on it.
    pub weight: Weight,
    /// What is lost without it.
    pub cost: &'static str,
}

/// A member of `VkPhysicalDeviceFeatures`.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Its name in the Vulkan specification.
    pub name: &'static str,
    /// How much depends on it.
    pub weight: Weight,
    /// What is lost without it.
    pub cost: &'static str,
}

/// A limit that is shown, and what GL needs of it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its name in the Vulkan specification.
    pub name: &'static str,
    /// The least that OpenGL 3.3 asks for through it; 0 where GL asks for nothing.
    pub gl33_minimum: u64,
    /// What depends on it.
    pub purpose: &'static str,
}

const fn extension(
    name: &'static str,
    core_since: Option<(u32, u32)>,
    weight: Weight,
    cost: &'static str,
) -> Extension {
    Extension { name, core_since, weight, cost }
}

const fn feature(name: &'static str, weight: Weight, cost: &'static str) -> Feature {
    Feature { name, weight, cost }
}

const fn limit(name: &'static str, gl33_minimum: u64, purpose: &'static str) -> Limit {
    Limit { name, gl33_minimum, purpose }
}

/// Extensions, the most important first.
pub const EXTENSIONS: &[Extension] = &[
    extension(
        "VK_KHR_maintenance1",
        Some((1, 1)),
        Weight::Required,
        "negative viewport heights and 2D views of 3D images: no rendering",
    ),
    extension(
        "VK_KHR_dynamic_rendering",
        Some((1, 3)),
        Weight::Speed,
        "render-pass objects are made and cached instead",
    ),
    extension(
        "VK_EXT_extended_dynamic_state",
        Some((1, 3)),
        Weight::Speed,
        "one more pipeline for each cull mode, depth test and topology",
    ),
    extension(
        "VK_EXT_extended_dynamic_state2",
        Some((1, 3)),
        Weight::Speed,
        "one more pipeline for primitive restart, rasterizer discard and depth bias",
    ),
    extension(
        "VK_EXT_extended_dynamic_state3",
        None,
        Weight::Speed,
        "one more pipeline for each blend state, colour mask and sample mask",
    ),
    extension("VK_EXT_vertex_input_dynamic_state", None, Weight::Speed, "one more pipeline for each vertex layout"),
    extension("VK_KHR_synchronization2", Some((1, 3)), Weight::Speed, "coarser barriers"),
    extension("VK_KHR_timeline_semaphore", Some((1, 2)), Weight::Speed, "a pool of fences, one for each submission"),
    extension("VK_KHR_push_descriptor", None, Weight::Speed, "descriptor sets are allocated and recycled"),
    extension("VK_EXT_transform_feedback", None, Weight::Level, "no transform feedback: OpenGL 3.0 and later need it"),
    extension(
        "VK_EXT_provoking_vertex",
        None,
        Weight::Level,
        "flat varyings take the first vertex; GL's default is the last",
    ),
    extension("VK_EXT_line_rasterization", None, Weight::Level, "lines follow the device's rule instead of GL's"),
    extension("VK_EXT_custom_border_color", None, Weight::Level, "texture borders only black, white or transparent"),
    extension("VK_EXT_depth_clip_enable", None, Weight::Level, "depth clamping and clipping cannot be told apart"),
    extension("VK_EXT_depth_clip_control", None, Weight::Speed, "the shader maps GL's depth range"),
    extension(
        "VK_EXT_primitive_topology_list_restart",
        None,
        Weight::Speed,
        "restart indices in lists are rewritten on the processor",
    ),
    extension("VK_EXT_index_type_uint8", None, Weight::Speed, "8-bit indices are widened on the processor"),
    extension("VK_EXT_conditional_rendering", None, Weight::Level, "conditional rendering waits for the query"),
    extension(
        "VK_EXT_vertex_attribute_divisor",
        None,
        Weight::Level,
        "instance divisors other than 0 and 1 repeat data",
    ),
    extension(
        "VK_EXT_robustness2",
        None,
        Weight::Level,
        "unbound resources read from dummies; robust contexts are weaker",
    ),
    extension("VK_EXT_multi_draw", None, Weight::Speed, "multi-draws become loops"),
    extension("VK_KHR_draw_indirect_count", Some((1, 2)), Weight::Speed, "indirect draw counts are read back"),
    extension(
        "VK_EXT_primitives_generated_query",
        None,
        Weight::Speed,
        "GL_PRIMITIVES_GENERATED by pipeline statistics or transform feedback",
    ),
    extension(
        "VK_EXT_shader_viewport_index_layer",
        Some((1, 2)),
        Weight::Level,
        "layer and viewport only from geometry shaders",
    ),
    extension(
        "VK_KHR_shader_draw_parameters",
        Some((1, 1)),
        Weight::Level,
        "no gl_BaseVertex, gl_BaseInstance, gl_DrawID",
    ),
    extension("VK_KHR_sampler_mirror_clamp_to_edge", Some((1, 2)), Weight::Level, "no GL_MIRROR_CLAMP_TO_EDGE"),
    extension("VK_EXT_graphics_pipeline_library", None, Weight::Speed, "a first draw waits for a whole pipeline"),
    extension("VK_EXT_host_query_reset", Some((1, 2)), Weight::Speed, "query pools are reset in command buffers"),
    extension("VK_EXT_memory_budget", None, Weight::Speed, "no view of how much memory is left"),
    extension("VK_KHR_external_memory_fd", None, Weight::Level, "no sharing of memory with other processes"),
    extension("VK_EXT_external_memory_host", None, Weight::Speed, "persistent maps between processes are copied"),
    extension("VK_EXT_descriptor_indexing", Some((1, 2)), Weight::Level, "no bindless textures"),
];

/// Features, in the order of the Vulkan specification.
pub const FEATURES: &[Feature] = &[
    feature("robustBufferAccess", Weight::Level, "reads outside a buffer are not defined"),
    feature("fullDrawIndexUint32", Weight::Level, "indices only up to 2^24"),
    feature("imageCubeArray", Weight::Level, "no cube map arrays (OpenGL 4.0)"),
    feature("independentBlend", Weight::Level, "no blend state for each colour buffer (OpenGL 3.0, 4.0)"),
    feature("geometryShader", Weight::Level, "no geometry shaders (OpenGL 3.2)"),
    feature("tessellationShader", Weight::Level, "no tessellation (OpenGL 4.0)"),
    feature("sampleRateShading", Weight::Level, "no sample shading (OpenGL 4.0)"),
    feature("dualSrcBlend", Weight::Level, "no dual-source blending (OpenGL 3.3)"),
    feature("logicOp", Weight::Level, "no logic operations"),
    feature("multiDrawIndirect", Weight::Speed, "indirect multi-draws become loops"),
    feature("drawIndirectFirstInstance", Weight::Level, "no base instance in indirect draws (OpenGL 4.2)"),
    feature("depthClamp", Weight::Level, "no depth clamping (OpenGL 3.2)"),
    feature("depthBiasClamp", Weight::Level, "no clamped polygon offset (OpenGL 4.6)"),
    feature("fillModeNonSolid", Weight::Level, "no point or line polygon mode"),
    feature("depthBounds", Weight::Level, "no depth bounds test"),
    feature("wideLines", Weight::Level, "lines one pixel wide only"),
    feature("largePoints", Weight::Level, "points one pixel large only"),
    feature("alphaToOne", Weight::Level, "no GL_SAMPLE_ALPHA_TO_ONE"),
    feature("multiViewport", Weight::Level, "one viewport only (OpenGL 4.1)"),
    feature("samplerAnisotropy", Weight::Level, "no anisotropic filtering"),
    feature("textureCompressionBC", Weight::Speed, "S3TC, RGTC and BPTC textures are decoded on the processor"),
    feature("textureCompressionETC2", Weight::Speed, "ETC2 textures are decoded on the processor"),
    feature("occlusionQueryPrecise", Weight::Level, "occlusion queries answer only whether"),
    feature("pipelineStatisticsQuery", Weight::Level, "no pipeline statistics (OpenGL 4.6)"),
    feature(
        "vertexPipelineStoresAndAtomics",
        Weight::Level,
        "no writes from vertex, tessellation and geometry shaders (OpenGL 4.2)",
    ),
    feature("fragmentStoresAndAtomics", Weight::Level, "no writes from fragment shaders (OpenGL 4.2)"),
    feature("shaderTessellationAndGeometryPointSize", Weight::Level, "no point size from those stages"),
    feature("shaderImageGatherExtended", Weight::Level, "no textureGather with offsets (OpenGL 4.0)"),
    feature("shaderStorageImageReadWithoutFormat", Weight::Speed, "a shader variant for each image format"),
    feature("shaderStorageImageWriteWithoutFormat", Weight::Speed, "a shader variant for each image format"),
    feature(
        "shaderSampledImageArrayDynamicIndexing",
        Weight::Level,
        "arrays of samplers only with constant indices (OpenGL 4.0)",
    ),
    feature(
        "shaderUniformBufferArrayDynamicIndexing",
        Weight::Level,
        "arrays of uniform blocks only with constant indices (OpenGL 4.0)",
    ),
    feature(
        "shaderStorageBufferArrayDynamicIndexing",
        Weight::Level,
        "arrays of storage blocks only with constant indices (OpenGL 4.3)",
    ),
    feature("shaderClipDistance", Weight::Level, "no clip planes (OpenGL 3.0)"),
    feature("shaderCullDistance", Weight::Level, "no cull distances (OpenGL 4.5)"),
    feature("shaderFloat64", Weight::Level, "no doubles in shaders (OpenGL 4.0)"),
    feature("shaderInt64", Weight::Level, "no 64-bit integers in shaders"),
];

/// Limits, the ones that GL programs meet first.
pub const LIMITS: &[Limit] = &[
    limit("maxImageDimension2D", 1024, "GL_MAX_TEXTURE_SIZE"),
    limit("maxImageDimension3D", 256, "GL_MAX_3D_TEXTURE_SIZE"),
    limit("maxImageDimensionCube", 1024, "GL_MAX_CUBE_MAP_TEXTURE_SIZE"),
    limit("maxImageArrayLayers", 256, "GL_MAX_ARRAY_TEXTURE_LAYERS"),
    limit("maxTexelBufferElements", 65536, "GL_MAX_TEXTURE_BUFFER_SIZE"),
    limit("maxUniformBufferRange", 16384, "GL_MAX_UNIFORM_BLOCK_SIZE"),
    limit("maxPerStageDescriptorUniformBuffers", 13, "12 uniform blocks a stage and MGL's own"),
    limit("maxPerStageDescriptorSampledImages", 16, "16 textures a stage"),
    limit("maxPerStageDescriptorStorageBuffers", 0, "storage blocks a stage (OpenGL 4.3: 8)"),
    limit("maxPerStageDescriptorStorageImages", 0, "images a stage (OpenGL 4.2: 8)"),
    limit("maxBoundDescriptorSets", 4, "descriptor sets of one pipeline"),
    limit("maxPushConstantsSize", 0, "bytes that a draw passes without a buffer"),
    limit("maxVertexInputAttributes", 16, "GL_MAX_VERTEX_ATTRIBS"),
    limit("maxVertexInputBindings", 16, "vertex buffers of one draw"),
    limit("maxVertexOutputComponents", 64, "GL_MAX_VERTEX_OUTPUT_COMPONENTS"),
    limit("maxColorAttachments", 8, "GL_MAX_DRAW_BUFFERS"),
    limit("maxFramebufferWidth", 1024, "GL_MAX_RENDERBUFFER_SIZE"),
    limit("maxViewports", 1, "GL_MAX_VIEWPORTS"),
    limit("maxClipDistances", 8, "GL_MAX_CLIP_DISTANCES"),
    limit("maxSamplerAllocationCount", 0, "sampler objects alive at a time"),
    limit("maxMemoryAllocationCount", 0, "blocks of device memory alive at a time"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn nothing_is_listed_twice() {
        let names: Vec<&str> = EXTENSIONS
            .iter()
            .map(|entry| entry.name)
            .chain(FEATURES.iter().map(|entry| entry.name))
            .chain(LIMITS.iter().map(|entry| entry.name))
            .collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
    }
}
