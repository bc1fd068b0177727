//! The Vulkan features and limits that OpenGL stands on, and what the absence of each costs. (Extensions: `mgpipe_magma`.)

/// How much depends on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Some GL version or extension is not offered without it.
    Level,
    /// Everything works without it, slower or by another route.
    Speed,
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

const fn feature(name: &'static str, weight: Weight, cost: &'static str) -> Feature {
    Feature { name, weight, cost }
}

const fn limit(name: &'static str, gl33_minimum: u64, purpose: &'static str) -> Limit {
    Limit { name, gl33_minimum, purpose }
}

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
        let names: Vec<&str> =
            FEATURES.iter().map(|entry| entry.name).chain(LIMITS.iter().map(|entry| entry.name)).collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
    }
}
