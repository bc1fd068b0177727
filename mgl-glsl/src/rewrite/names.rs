//! Names whose meaning depends on the GLSL version: keywords that came later, functions and variables that went away.

/// Words that are keywords in the normal form, the desktop version that made them keywords, and extensions that do so
/// earlier. Words with version 0xffff are keywords only in the Vulkan dialect.
pub(super) const KEYWORDS: &[(&str, u16, &[&str])] = &[
    ("atomic_uint", 420, &["GL_ARB_shader_atomic_counters"]),
    ("buffer", 430, &["GL_ARB_shader_storage_buffer_object"]),
    ("centroid", 120, &[]),
    ("coherent", 420, &["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"]),
    ("demote", 0xffff, &[]),
    ("double", 400, &["GL_ARB_gpu_shader_fp64", "GL_ARB_vertex_attrib_64bit"]),
    ("flat", 130, &[]),
    ("invariant", 120, &[]),
    (
        "layout",
        140,
        &["GL_ARB_uniform_buffer_object", "GL_ARB_explicit_attrib_location", "GL_ARB_fragment_coord_conventions"],
    ),
    ("noperspective", 130, &[]),
    ("patch", 400, &["GL_ARB_tessellation_shader"]),
    ("precise", 400, &["GL_ARB_gpu_shader5", "GL_EXT_gpu_shader5"]),
    ("precision", 130, &[]),
    ("highp", 130, &[]),
    ("mediump", 130, &[]),
    ("lowp", 130, &[]),
    ("mat2x2", 120, &[]),
    ("mat2x3", 120, &[]),
    ("mat2x4", 120, &[]),
    ("mat3x2", 120, &[]),
    ("mat3x3", 120, &[]),
    ("mat3x4", 120, &[]),
    ("mat4x2", 120, &[]),
    ("mat4x3", 120, &[]),
    ("mat4x4", 120, &[]),
    ("readonly", 420, &["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"]),
    ("restrict", 420, &["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"]),
    ("sample", 400, &["GL_ARB_gpu_shader5", "GL_EXT_gpu_shader5"]),
    ("sampler", 0xffff, &[]),
    ("samplerShadow", 0xffff, &[]),
    ("shared", 430, &["GL_ARB_compute_shader"]),
    ("smooth", 130, &[]),
    ("subpassInput", 0xffff, &[]),
    ("subpassInputMS", 0xffff, &[]),
    ("subroutine", 400, &["GL_ARB_shader_subroutine"]),
    ("texture1D", 0xffff, &[]),
    ("texture1DArray", 0xffff, &[]),
    ("texture2D", 0xffff, &[]),
    ("texture2DArray", 0xffff, &[]),
    ("texture2DMS", 0xffff, &[]),
    ("texture2DMSArray", 0xffff, &[]),
    ("texture2DRect", 0xffff, &[]),
    ("texture3D", 0xffff, &[]),
    ("textureBuffer", 0xffff, &[]),
    ("textureCube", 0xffff, &[]),
    ("textureCubeArray", 0xffff, &[]),
    ("itexture2D", 0xffff, &[]),
    ("utexture2D", 0xffff, &[]),
    ("uint", 130, &[]),
    ("uvec2", 130, &[]),
    ("uvec3", 130, &[]),
    ("uvec4", 130, &[]),
    ("volatile", 110, &[]),
    ("writeonly", 420, &["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"]),
    ("dvec2", 400, &["GL_ARB_gpu_shader_fp64", "GL_ARB_vertex_attrib_64bit"]),
    ("dvec3", 400, &["GL_ARB_gpu_shader_fp64", "GL_ARB_vertex_attrib_64bit"]),
    ("dvec4", 400, &["GL_ARB_gpu_shader_fp64", "GL_ARB_vertex_attrib_64bit"]),
    ("spirv_instruction", 0xffff, &[]),
    ("spirv_execution_mode", 0xffff, &[]),
    ("spirv_execution_mode_id", 0xffff, &[]),
    ("spirv_decorate", 0xffff, &[]),
    ("spirv_decorate_id", 0xffff, &[]),
    ("spirv_decorate_string", 0xffff, &[]),
    ("spirv_type", 0xffff, &[]),
    ("spirv_storage_class", 0xffff, &[]),
    ("spirv_by_reference", 0xffff, &[]),
    ("spirv_literal", 0xffff, &[]),
    ("terminateInvocation", 0xffff, &[]),
    ("bfloat16_t", 0xffff, &[]),
    ("nonuniformEXT", 0xffff, &[]),
];

/// How an old texture function is written in the normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OldFunction {
    pub(super) new: &'static str,
    /// The old one returned a vec4 with the comparison result, the new one returns a float.
    pub(super) shadow: bool,
}

/// The texture functions of GLSL 1.10-1.20 and of the extensions of that time.
pub(super) fn old_texture_function(name: &str) -> Option<OldFunction> {
    let (dims, rest, shadow): (&[&str], &str, bool) = if let Some(rest) = name.strip_prefix("texture") {
        (&["1DArray", "2DArray", "2DRect", "1D", "2D", "3D", "CubeArray", "Cube"], rest, false)
    } else if let Some(rest) = name.strip_prefix("shadow") {
        (&["1DArray", "2DArray", "2DRect", "1D", "2D", "Cube"], rest, true)
    } else {
        return None;
    };
    let suffix = dims.iter().find_map(|dim| rest.strip_prefix(dim))?;
    let new = match suffix {
        "" => "texture",
        "Proj" => "textureProj",
        "Lod" => "textureLod",
        "ProjLod" => "textureProjLod",
        "GradARB" => "textureGrad",
        "ProjGradARB" => "textureProjGrad",
        _ => return None,
    };
    Some(OldFunction { new, shadow })
}

/// Functions of the normal form that the old texture functions turn into: plain names before GLSL 1.30.
pub(super) fn is_new_texture_function(name: &str) -> bool {
    matches!(name, "texture" | "textureProj" | "textureLod" | "textureProjLod" | "textureGrad" | "textureProjGrad")
}

/// Spellings of extensions that are plain names in the normal form.
pub(super) fn alias(name: &str) -> Option<&'static str> {
    Some(match name {
        "gl_BaseVertexARB" => "gl_BaseVertex",
        "gl_BaseInstanceARB" => "gl_BaseInstance",
        "gl_DrawIDARB" => "gl_DrawID",
        "gl_InstanceIDARB" | "gl_InstanceID" => "(gl_InstanceIndex-gl_BaseInstance)",
        "gl_VertexID" => "gl_VertexIndex",
        "anyInvocationARB" => "anyInvocation",
        "allInvocationsARB" => "allInvocations",
        "allInvocationsEqualARB" => "allInvocationsEqual",
        "atomicCounterAddARB" => "atomicCounterAdd",
        "atomicCounterSubtractARB" => "atomicCounterSubtract",
        "atomicCounterMinARB" => "atomicCounterMin",
        "atomicCounterMaxARB" => "atomicCounterMax",
        "atomicCounterAndARB" => "atomicCounterAnd",
        "atomicCounterOrARB" => "atomicCounterOr",
        "atomicCounterXorARB" => "atomicCounterXor",
        "atomicCounterExchangeARB" => "atomicCounterExchange",
        "atomicCounterCompSwapARB" => "atomicCounterCompSwap",
        _ => return None,
    })
}

/// Built-in functions that shaders of old versions are known to define themselves.
pub(super) const BUILT_IN_FUNCTIONS: &[&str] = &[
    "radians",
    "degrees",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "pow",
    "exp",
    "log",
    "exp2",
    "log2",
    "sqrt",
    "inversesqrt",
    "abs",
    "sign",
    "floor",
    "trunc",
    "round",
    "roundEven",
    "ceil",
    "fract",
    "mod",
    "modf",
    "min",
    "max",
    "clamp",
    "mix",
    "step",
    "smoothstep",
    "isnan",
    "isinf",
    "floatBitsToInt",
    "floatBitsToUint",
    "intBitsToFloat",
    "uintBitsToFloat",
    "fma",
    "frexp",
    "ldexp",
    "packUnorm2x16",
    "packSnorm2x16",
    "packUnorm4x8",
    "packSnorm4x8",
    "unpackUnorm2x16",
    "unpackSnorm2x16",
    "unpackUnorm4x8",
    "unpackSnorm4x8",
    "packHalf2x16",
    "unpackHalf2x16",
    "packDouble2x32",
    "unpackDouble2x32",
    "length",
    "distance",
    "dot",
    "cross",
    "normalize",
    "faceforward",
    "reflect",
    "refract",
    "matrixCompMult",
    "outerProduct",
    "transpose",
    "determinant",
    "inverse",
    "lessThan",
    "lessThanEqual",
    "greaterThan",
    "greaterThanEqual",
    "equal",
    "notEqual",
    "any",
    "all",
    "not",
    "uaddCarry",
    "usubBorrow",
    "umulExtended",
    "imulExtended",
    "bitfieldExtract",
    "bitfieldInsert",
    "bitfieldReverse",
    "bitCount",
    "findLSB",
    "findMSB",
    "dFdx",
    "dFdy",
    "fwidth",
    "dFdxFine",
    "dFdyFine",
    "dFdxCoarse",
    "dFdyCoarse",
    "fwidthFine",
    "fwidthCoarse",
    "textureSize",
    "textureQueryLod",
    "textureQueryLevels",
    "texture",
    "textureProj",
    "textureLod",
    "textureOffset",
    "texelFetch",
    "texelFetchOffset",
    "textureProjOffset",
    "textureLodOffset",
    "textureProjLod",
    "textureProjLodOffset",
    "textureGrad",
    "textureGradOffset",
    "textureProjGrad",
    "textureProjGradOffset",
    "textureGather",
    "textureGatherOffset",
    "textureGatherOffsets",
    "noise1",
    "noise2",
    "noise3",
    "noise4",
    "barrier",
    "memoryBarrier",
    "atomicAdd",
    "atomicMin",
    "atomicMax",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
    "atomicExchange",
    "atomicCompSwap",
    "interpolateAtCentroid",
    "interpolateAtSample",
    "interpolateAtOffset",
    "anyInvocation",
    "allInvocations",
    "allInvocationsEqual",
    "mix",
    "imageLoad",
    "imageStore",
    "imageSize",
    "EmitVertex",
    "EndPrimitive",
    "EmitStreamVertex",
    "EndStreamPrimitive",
    "groupMemoryBarrier",
];

/// Built-in names that a shader may declare again.
pub(super) fn may_redeclare(name: &str) -> bool {
    matches!(
        name,
        "gl_FragCoord"
            | "gl_FragDepth"
            | "gl_PerVertex"
            | "gl_ClipDistance"
            | "gl_CullDistance"
            | "gl_TexCoord"
            | "gl_Position"
            | "gl_PointSize"
            | "gl_in"
            | "gl_out"
            | "gl_SampleMask"
            | "gl_FragStencilRefARB"
            | "gl_Layer"
            | "gl_ViewportIndex"
            | "gl_FrontColor"
            | "gl_BackColor"
            | "gl_FrontSecondaryColor"
            | "gl_BackSecondaryColor"
            | "gl_Color"
            | "gl_SecondaryColor"
            | "gl_FogFragCoord"
            | "gl_FragColor"
            | "gl_FragData"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_functions() {
        assert_eq!(old_texture_function("texture2DRectProj"), Some(OldFunction { new: "textureProj", shadow: false }));
        assert_eq!(old_texture_function("shadow1D"), Some(OldFunction { new: "texture", shadow: true }));
        assert_eq!(old_texture_function("texture2DProjGradARB").map(|f| f.new), Some("textureProjGrad"));
        assert_eq!(old_texture_function("textureSize"), None);
        assert_eq!(old_texture_function("texture"), None);
    }
}
