//! Built-in variables that the Vulkan dialect lacks, declared on demand under their real names.

use mgpipe_types::reflection::Stage;

use crate::options::Limits;

/// Where a built-in exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// In every stage and profile.
    Always,
    /// In every stage, removed from the core profile.
    Removed,
    /// In one stage, removed from the core profile.
    RemovedIn(Stage),
}

/// Declaration of one built-in; `text` may use other built-ins of this table.
struct BuiltIn {
    name: &'static str,
    place: Where,
    text: &'static str,
}

const fn always(name: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, place: Where::Always, text }
}

const fn removed(name: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, place: Where::Removed, text }
}

const fn vertex(name: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, place: Where::RemovedIn(Stage::Vertex), text }
}

const fn fragment(name: &'static str, text: &'static str) -> BuiltIn {
    BuiltIn { name, place: Where::RemovedIn(Stage::Fragment), text }
}

const BUILT_INS: &[BuiltIn] = &[
    always(
        "gl_DepthRange",
        "struct gl_DepthRangeParameters{float near;float far;float diff;};uniform gl_DepthRangeParameters gl_DepthRange;",
    ),
    always("gl_NumSamples", "uniform int gl_NumSamples;"),
    vertex("gl_Vertex", "in vec4 gl_Vertex;"),
    vertex("gl_Normal", "in vec3 gl_Normal;"),
    vertex("gl_Color", "in vec4 gl_Color;"),
    vertex("gl_SecondaryColor", "in vec4 gl_SecondaryColor;"),
    vertex("gl_FogCoord", "in float gl_FogCoord;"),
    vertex("gl_MultiTexCoord0", "in vec4 gl_MultiTexCoord0;"),
    vertex("gl_MultiTexCoord1", "in vec4 gl_MultiTexCoord1;"),
    vertex("gl_MultiTexCoord2", "in vec4 gl_MultiTexCoord2;"),
    vertex("gl_MultiTexCoord3", "in vec4 gl_MultiTexCoord3;"),
    vertex("gl_MultiTexCoord4", "in vec4 gl_MultiTexCoord4;"),
    vertex("gl_MultiTexCoord5", "in vec4 gl_MultiTexCoord5;"),
    vertex("gl_MultiTexCoord6", "in vec4 gl_MultiTexCoord6;"),
    vertex("gl_MultiTexCoord7", "in vec4 gl_MultiTexCoord7;"),
    vertex("gl_FrontColor", "out vec4 gl_FrontColor;"),
    vertex("gl_BackColor", "out vec4 gl_BackColor;"),
    vertex("gl_FrontSecondaryColor", "out vec4 gl_FrontSecondaryColor;"),
    vertex("gl_BackSecondaryColor", "out vec4 gl_BackSecondaryColor;"),
    vertex("gl_TexCoord", "out vec4 gl_TexCoord[8];"),
    vertex("gl_FogFragCoord", "out float gl_FogFragCoord;"),
    // Clipping against user planes needs the planes; a core context has none.
    vertex("gl_ClipVertex", "vec4 gl_ClipVertex;"),
    // The names on both sides must be equal for the interface to match; facing is not distinguished.
    fragment("gl_Color", "in vec4 gl_FrontColor;\n#define gl_Color gl_FrontColor\n"),
    fragment("gl_SecondaryColor", "in vec4 gl_FrontSecondaryColor;\n#define gl_SecondaryColor gl_FrontSecondaryColor\n"),
    fragment("gl_TexCoord", "in vec4 gl_TexCoord[8];"),
    fragment("gl_FogFragCoord", "in float gl_FogFragCoord;"),
    removed("gl_ModelViewMatrix", "uniform mat4 gl_ModelViewMatrix;"),
    removed("gl_ProjectionMatrix", "uniform mat4 gl_ProjectionMatrix;"),
    removed("gl_ModelViewProjectionMatrix", "uniform mat4 gl_ModelViewProjectionMatrix;"),
    removed("gl_TextureMatrix", "uniform mat4 gl_TextureMatrix[8];"),
    removed("gl_NormalMatrix", "uniform mat3 gl_NormalMatrix;"),
    removed("gl_ModelViewMatrixInverse", "uniform mat4 gl_ModelViewMatrixInverse;"),
    removed("gl_ProjectionMatrixInverse", "uniform mat4 gl_ProjectionMatrixInverse;"),
    removed("gl_ModelViewProjectionMatrixInverse", "uniform mat4 gl_ModelViewProjectionMatrixInverse;"),
    removed("gl_TextureMatrixInverse", "uniform mat4 gl_TextureMatrixInverse[8];"),
    removed("gl_ModelViewMatrixTranspose", "uniform mat4 gl_ModelViewMatrixTranspose;"),
    removed("gl_ProjectionMatrixTranspose", "uniform mat4 gl_ProjectionMatrixTranspose;"),
    removed("gl_ModelViewProjectionMatrixTranspose", "uniform mat4 gl_ModelViewProjectionMatrixTranspose;"),
    removed("gl_TextureMatrixTranspose", "uniform mat4 gl_TextureMatrixTranspose[8];"),
    removed("gl_ModelViewMatrixInverseTranspose", "uniform mat4 gl_ModelViewMatrixInverseTranspose;"),
    removed("gl_ProjectionMatrixInverseTranspose", "uniform mat4 gl_ProjectionMatrixInverseTranspose;"),
    removed("gl_ModelViewProjectionMatrixInverseTranspose", "uniform mat4 gl_ModelViewProjectionMatrixInverseTranspose;"),
    removed("gl_TextureMatrixInverseTranspose", "uniform mat4 gl_TextureMatrixInverseTranspose[8];"),
    removed("gl_NormalScale", "uniform float gl_NormalScale;"),
    removed("gl_ClipPlane", "uniform vec4 gl_ClipPlane[8];"),
    removed(
        "gl_Point",
        "struct gl_PointParameters{float size;float sizeMin;float sizeMax;float fadeThresholdSize;\
         float distanceConstantAttenuation;float distanceLinearAttenuation;float distanceQuadraticAttenuation;};\
         uniform gl_PointParameters gl_Point;",
    ),
    removed("gl_FrontMaterial", "uniform gl_MaterialParameters gl_FrontMaterial;"),
    removed("gl_BackMaterial", "uniform gl_MaterialParameters gl_BackMaterial;"),
    removed(
        "gl_LightSource",
        "struct gl_LightSourceParameters{vec4 ambient;vec4 diffuse;vec4 specular;vec4 position;vec4 halfVector;\
         vec3 spotDirection;float spotExponent;float spotCutoff;float spotCosCutoff;float constantAttenuation;\
         float linearAttenuation;float quadraticAttenuation;};uniform gl_LightSourceParameters gl_LightSource[8];",
    ),
    removed(
        "gl_LightModel",
        "struct gl_LightModelParameters{vec4 ambient;};uniform gl_LightModelParameters gl_LightModel;",
    ),
    removed("gl_FrontLightModelProduct", "uniform gl_LightModelProducts gl_FrontLightModelProduct;"),
    removed("gl_BackLightModelProduct", "uniform gl_LightModelProducts gl_BackLightModelProduct;"),
    removed("gl_FrontLightProduct", "uniform gl_LightProducts gl_FrontLightProduct[8];"),
    removed("gl_BackLightProduct", "uniform gl_LightProducts gl_BackLightProduct[8];"),
    removed("gl_TextureEnvColor", "uniform vec4 gl_TextureEnvColor[8];"),
    removed("gl_EyePlaneS", "uniform vec4 gl_EyePlaneS[8];"),
    removed("gl_EyePlaneT", "uniform vec4 gl_EyePlaneT[8];"),
    removed("gl_EyePlaneR", "uniform vec4 gl_EyePlaneR[8];"),
    removed("gl_EyePlaneQ", "uniform vec4 gl_EyePlaneQ[8];"),
    removed("gl_ObjectPlaneS", "uniform vec4 gl_ObjectPlaneS[8];"),
    removed("gl_ObjectPlaneT", "uniform vec4 gl_ObjectPlaneT[8];"),
    removed("gl_ObjectPlaneR", "uniform vec4 gl_ObjectPlaneR[8];"),
    removed("gl_ObjectPlaneQ", "uniform vec4 gl_ObjectPlaneQ[8];"),
    removed(
        "gl_Fog",
        "struct gl_FogParameters{vec4 color;float density;float start;float end;float scale;};uniform gl_FogParameters gl_Fog;",
    ),
];

/// Struct types that several built-ins share.
const SHARED_TYPES: &[(&str, &str)] = &[
    (
        "Material;",
        "struct gl_MaterialParameters{vec4 emission;vec4 ambient;vec4 diffuse;vec4 specular;float shininess;};",
    ),
    ("LightModelProduct;", "struct gl_LightModelProducts{vec4 sceneColor;};"),
    ("LightProduct[8];", "struct gl_LightProducts{vec4 ambient;vec4 diffuse;vec4 specular;};"),
];

/// What the used built-ins need before the shader's own text.
pub(super) struct Prelude {
    pub(super) text: String,
    /// Names that are used but that the core profile does not have, in this stage.
    pub(super) missing: Vec<&'static str>,
}

/// Whether the name may need a declaration of this module.
pub(super) fn is_candidate(name: &str) -> bool {
    name.starts_with("gl_") && BUILT_INS.iter().any(|b| b.name == name)
        || matches!(name, "gl_MaxVaryingFloats" | "gl_MaxTextureUnits" | "gl_MaxTextureCoords" | "gl_MaxClipPlanes")
}

/// Declarations of those of `used` that exist in `stage`.
pub(super) fn prelude(stage: Stage, used: &[String], compatibility: bool, limits: &Limits) -> Prelude {
    let mut text = String::new();
    let mut missing = Vec::new();
    let mut body = String::new();
    for built_in in BUILT_INS {
        if !used.iter().any(|name| name == built_in.name) {
            continue;
        }
        let here = match built_in.place {
            Where::Always => true,
            Where::Removed => compatibility,
            Where::RemovedIn(only) if only == stage => compatibility,
            Where::RemovedIn(_) => continue,
        };
        if here {
            body.push_str(built_in.text);
        } else {
            missing.push(built_in.name);
        }
    }
    for (suffix, definition) in SHARED_TYPES {
        if body.contains(suffix) {
            text.push_str(definition);
        }
    }
    text.push_str(&body);
    for name in used {
        let value = match name.as_str() {
            "gl_MaxVaryingFloats" => limits.max_varying_components,
            "gl_MaxTextureUnits" | "gl_MaxTextureCoords" | "gl_MaxClipPlanes" => 8,
            _ => continue,
        };
        text.push_str(&format!("const int {name}={value};"));
    }
    Prelude { text, missing }
}
