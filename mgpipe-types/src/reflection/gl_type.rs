//! GL type enums of shader variables, and what they imply.

/// `GL_FLOAT`: GLSL `float`.
pub const FLOAT: u32 = 0x1406;
/// `GL_FLOAT_VEC2`: GLSL `vec2`.
pub const FLOAT_VEC2: u32 = 0x8B50;
/// `GL_FLOAT_VEC3`: GLSL `vec3`.
pub const FLOAT_VEC3: u32 = 0x8B51;
/// `GL_FLOAT_VEC4`: GLSL `vec4`.
pub const FLOAT_VEC4: u32 = 0x8B52;
/// `GL_DOUBLE`: GLSL `double`.
pub const DOUBLE: u32 = 0x140A;
/// `GL_DOUBLE_VEC2`: GLSL `dvec2`.
pub const DOUBLE_VEC2: u32 = 0x8FFC;
/// `GL_DOUBLE_VEC3`: GLSL `dvec3`.
pub const DOUBLE_VEC3: u32 = 0x8FFD;
/// `GL_DOUBLE_VEC4`: GLSL `dvec4`.
pub const DOUBLE_VEC4: u32 = 0x8FFE;
/// `GL_INT`: GLSL `int`.
pub const INT: u32 = 0x1404;
/// `GL_INT_VEC2`: GLSL `ivec2`.
pub const INT_VEC2: u32 = 0x8B53;
/// `GL_INT_VEC3`: GLSL `ivec3`.
pub const INT_VEC3: u32 = 0x8B54;
/// `GL_INT_VEC4`: GLSL `ivec4`.
pub const INT_VEC4: u32 = 0x8B55;
/// `GL_UNSIGNED_INT`: GLSL `uint`.
pub const UNSIGNED_INT: u32 = 0x1405;
/// `GL_UNSIGNED_INT_VEC2`: GLSL `uvec2`.
pub const UNSIGNED_INT_VEC2: u32 = 0x8DC6;
/// `GL_UNSIGNED_INT_VEC3`: GLSL `uvec3`.
pub const UNSIGNED_INT_VEC3: u32 = 0x8DC7;
/// `GL_UNSIGNED_INT_VEC4`: GLSL `uvec4`.
pub const UNSIGNED_INT_VEC4: u32 = 0x8DC8;
/// `GL_BOOL`: GLSL `bool`.
pub const BOOL: u32 = 0x8B56;
/// `GL_BOOL_VEC2`: GLSL `bvec2`.
pub const BOOL_VEC2: u32 = 0x8B57;
/// `GL_BOOL_VEC3`: GLSL `bvec3`.
pub const BOOL_VEC3: u32 = 0x8B58;
/// `GL_BOOL_VEC4`: GLSL `bvec4`.
pub const BOOL_VEC4: u32 = 0x8B59;
/// `GL_FLOAT_MAT2`: GLSL `mat2`.
pub const FLOAT_MAT2: u32 = 0x8B5A;
/// `GL_FLOAT_MAT3`: GLSL `mat3`.
pub const FLOAT_MAT3: u32 = 0x8B5B;
/// `GL_FLOAT_MAT4`: GLSL `mat4`.
pub const FLOAT_MAT4: u32 = 0x8B5C;
/// `GL_FLOAT_MAT2x3`: GLSL `mat2x3`.
#[allow(non_upper_case_globals)]
pub const FLOAT_MAT2x3: u32 = 0x8B65;
/// `GL_FLOAT_MAT2x4`: GLSL `mat2x4`.
#[allow(non_upper_case_globals)]
pub const FLOAT_MAT2x4: u32 = 0x8B66;
/// `GL_FLOAT_MAT3x2`: GLSL `mat3x2`.
#[allow(non_upper_case_globals)]
pub const FLOAT_MAT3x2: u32 = 0x8B67;
/// `GL_FLOAT_MAT3x4`: GLSL `mat3x4`.
#[allow(non_upper_case_globals)]
pub const FLOAT_MAT3x4: u32 = 0x8B68;
/// `GL_FLOAT_MAT4x2`: GLSL `mat4x2`.
#[allow(non_upper_case_globals)]
pub const FLOAT_MAT4x2: u32 = 0x8B69;
/// `GL_FLOAT_MAT4x3`: GLSL `mat4x3`.
#[allow(non_upper_case_globals)]
pub const FLOAT_MAT4x3: u32 = 0x8B6A;
/// `GL_DOUBLE_MAT2`: GLSL `dmat2`.
pub const DOUBLE_MAT2: u32 = 0x8F46;
/// `GL_DOUBLE_MAT3`: GLSL `dmat3`.
pub const DOUBLE_MAT3: u32 = 0x8F47;
/// `GL_DOUBLE_MAT4`: GLSL `dmat4`.
pub const DOUBLE_MAT4: u32 = 0x8F48;
/// `GL_DOUBLE_MAT2x3`: GLSL `dmat2x3`.
#[allow(non_upper_case_globals)]
pub const DOUBLE_MAT2x3: u32 = 0x8F49;
/// `GL_DOUBLE_MAT2x4`: GLSL `dmat2x4`.
#[allow(non_upper_case_globals)]
pub const DOUBLE_MAT2x4: u32 = 0x8F4A;
/// `GL_DOUBLE_MAT3x2`: GLSL `dmat3x2`.
#[allow(non_upper_case_globals)]
pub const DOUBLE_MAT3x2: u32 = 0x8F4B;
/// `GL_DOUBLE_MAT3x4`: GLSL `dmat3x4`.
#[allow(non_upper_case_globals)]
pub const DOUBLE_MAT3x4: u32 = 0x8F4C;
/// `GL_DOUBLE_MAT4x2`: GLSL `dmat4x2`.
#[allow(non_upper_case_globals)]
pub const DOUBLE_MAT4x2: u32 = 0x8F4D;
/// `GL_DOUBLE_MAT4x3`: GLSL `dmat4x3`.
#[allow(non_upper_case_globals)]
pub const DOUBLE_MAT4x3: u32 = 0x8F4E;
/// `GL_SAMPLER_1D`: GLSL `sampler1D`.
pub const SAMPLER_1D: u32 = 0x8B5D;
/// `GL_SAMPLER_2D`: GLSL `sampler2D`.
pub const SAMPLER_2D: u32 = 0x8B5E;
/// `GL_SAMPLER_3D`: GLSL `sampler3D`.
pub const SAMPLER_3D: u32 = 0x8B5F;
/// `GL_SAMPLER_CUBE`: GLSL `samplerCube`.
pub const SAMPLER_CUBE: u32 = 0x8B60;
/// `GL_SAMPLER_1D_SHADOW`: GLSL `sampler1DShadow`.
pub const SAMPLER_1D_SHADOW: u32 = 0x8B61;
/// `GL_SAMPLER_2D_SHADOW`: GLSL `sampler2DShadow`.
pub const SAMPLER_2D_SHADOW: u32 = 0x8B62;
/// `GL_SAMPLER_2D_RECT`: GLSL `sampler2DRect`.
pub const SAMPLER_2D_RECT: u32 = 0x8B63;
/// `GL_SAMPLER_2D_RECT_SHADOW`: GLSL `sampler2DRectShadow`.
pub const SAMPLER_2D_RECT_SHADOW: u32 = 0x8B64;
/// `GL_SAMPLER_1D_ARRAY`: GLSL `sampler1DArray`.
pub const SAMPLER_1D_ARRAY: u32 = 0x8DC0;
/// `GL_SAMPLER_2D_ARRAY`: GLSL `sampler2DArray`.
pub const SAMPLER_2D_ARRAY: u32 = 0x8DC1;
/// `GL_SAMPLER_BUFFER`: GLSL `samplerBuffer`.
pub const SAMPLER_BUFFER: u32 = 0x8DC2;
/// `GL_SAMPLER_1D_ARRAY_SHADOW`: GLSL `sampler1DArrayShadow`.
pub const SAMPLER_1D_ARRAY_SHADOW: u32 = 0x8DC3;
/// `GL_SAMPLER_2D_ARRAY_SHADOW`: GLSL `sampler2DArrayShadow`.
pub const SAMPLER_2D_ARRAY_SHADOW: u32 = 0x8DC4;
/// `GL_SAMPLER_CUBE_SHADOW`: GLSL `samplerCubeShadow`.
pub const SAMPLER_CUBE_SHADOW: u32 = 0x8DC5;
/// `GL_SAMPLER_CUBE_MAP_ARRAY`: GLSL `samplerCubeArray`.
pub const SAMPLER_CUBE_MAP_ARRAY: u32 = 0x900C;
/// `GL_SAMPLER_CUBE_MAP_ARRAY_SHADOW`: GLSL `samplerCubeArrayShadow`.
pub const SAMPLER_CUBE_MAP_ARRAY_SHADOW: u32 = 0x900D;
/// `GL_SAMPLER_2D_MULTISAMPLE`: GLSL `sampler2DMS`.
pub const SAMPLER_2D_MULTISAMPLE: u32 = 0x9108;
/// `GL_SAMPLER_2D_MULTISAMPLE_ARRAY`: GLSL `sampler2DMSArray`.
pub const SAMPLER_2D_MULTISAMPLE_ARRAY: u32 = 0x910B;
/// `GL_INT_SAMPLER_1D`: GLSL `isampler1D`.
pub const INT_SAMPLER_1D: u32 = 0x8DC9;
/// `GL_INT_SAMPLER_2D`: GLSL `isampler2D`.
pub const INT_SAMPLER_2D: u32 = 0x8DCA;
/// `GL_INT_SAMPLER_3D`: GLSL `isampler3D`.
pub const INT_SAMPLER_3D: u32 = 0x8DCB;
/// `GL_INT_SAMPLER_CUBE`: GLSL `isamplerCube`.
pub const INT_SAMPLER_CUBE: u32 = 0x8DCC;
/// `GL_INT_SAMPLER_2D_RECT`: GLSL `isampler2DRect`.
pub const INT_SAMPLER_2D_RECT: u32 = 0x8DCD;
/// `GL_INT_SAMPLER_1D_ARRAY`: GLSL `isampler1DArray`.
pub const INT_SAMPLER_1D_ARRAY: u32 = 0x8DCE;
/// `GL_INT_SAMPLER_2D_ARRAY`: GLSL `isampler2DArray`.
pub const INT_SAMPLER_2D_ARRAY: u32 = 0x8DCF;
/// `GL_INT_SAMPLER_BUFFER`: GLSL `isamplerBuffer`.
pub const INT_SAMPLER_BUFFER: u32 = 0x8DD0;
/// `GL_INT_SAMPLER_CUBE_MAP_ARRAY`: GLSL `isamplerCubeArray`.
pub const INT_SAMPLER_CUBE_MAP_ARRAY: u32 = 0x900E;
/// `GL_INT_SAMPLER_2D_MULTISAMPLE`: GLSL `isampler2DMS`.
pub const INT_SAMPLER_2D_MULTISAMPLE: u32 = 0x9109;
/// `GL_INT_SAMPLER_2D_MULTISAMPLE_ARRAY`: GLSL `isampler2DMSArray`.
pub const INT_SAMPLER_2D_MULTISAMPLE_ARRAY: u32 = 0x910C;
/// `GL_UNSIGNED_INT_SAMPLER_1D`: GLSL `usampler1D`.
pub const UNSIGNED_INT_SAMPLER_1D: u32 = 0x8DD1;
/// `GL_UNSIGNED_INT_SAMPLER_2D`: GLSL `usampler2D`.
pub const UNSIGNED_INT_SAMPLER_2D: u32 = 0x8DD2;
/// `GL_UNSIGNED_INT_SAMPLER_3D`: GLSL `usampler3D`.
pub const UNSIGNED_INT_SAMPLER_3D: u32 = 0x8DD3;
/// `GL_UNSIGNED_INT_SAMPLER_CUBE`: GLSL `usamplerCube`.
pub const UNSIGNED_INT_SAMPLER_CUBE: u32 = 0x8DD4;
/// `GL_UNSIGNED_INT_SAMPLER_2D_RECT`: GLSL `usampler2DRect`.
pub const UNSIGNED_INT_SAMPLER_2D_RECT: u32 = 0x8DD5;
/// `GL_UNSIGNED_INT_SAMPLER_1D_ARRAY`: GLSL `usampler1DArray`.
pub const UNSIGNED_INT_SAMPLER_1D_ARRAY: u32 = 0x8DD6;
/// `GL_UNSIGNED_INT_SAMPLER_2D_ARRAY`: GLSL `usampler2DArray`.
pub const UNSIGNED_INT_SAMPLER_2D_ARRAY: u32 = 0x8DD7;
/// `GL_UNSIGNED_INT_SAMPLER_BUFFER`: GLSL `usamplerBuffer`.
pub const UNSIGNED_INT_SAMPLER_BUFFER: u32 = 0x8DD8;
/// `GL_UNSIGNED_INT_SAMPLER_CUBE_MAP_ARRAY`: GLSL `usamplerCubeArray`.
pub const UNSIGNED_INT_SAMPLER_CUBE_MAP_ARRAY: u32 = 0x900F;
/// `GL_UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE`: GLSL `usampler2DMS`.
pub const UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE: u32 = 0x910A;
/// `GL_UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE_ARRAY`: GLSL `usampler2DMSArray`.
pub const UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE_ARRAY: u32 = 0x910D;
/// `GL_IMAGE_1D`: GLSL `image1D`.
pub const IMAGE_1D: u32 = 0x904C;
/// `GL_IMAGE_2D`: GLSL `image2D`.
pub const IMAGE_2D: u32 = 0x904D;
/// `GL_IMAGE_3D`: GLSL `image3D`.
pub const IMAGE_3D: u32 = 0x904E;
/// `GL_IMAGE_2D_RECT`: GLSL `image2DRect`.
pub const IMAGE_2D_RECT: u32 = 0x904F;
/// `GL_IMAGE_CUBE`: GLSL `imageCube`.
pub const IMAGE_CUBE: u32 = 0x9050;
/// `GL_IMAGE_BUFFER`: GLSL `imageBuffer`.
pub const IMAGE_BUFFER: u32 = 0x9051;
/// `GL_IMAGE_1D_ARRAY`: GLSL `image1DArray`.
pub const IMAGE_1D_ARRAY: u32 = 0x9052;
/// `GL_IMAGE_2D_ARRAY`: GLSL `image2DArray`.
pub const IMAGE_2D_ARRAY: u32 = 0x9053;
/// `GL_IMAGE_CUBE_MAP_ARRAY`: GLSL `imageCubeArray`.
pub const IMAGE_CUBE_MAP_ARRAY: u32 = 0x9054;
/// `GL_IMAGE_2D_MULTISAMPLE`: GLSL `image2DMS`.
pub const IMAGE_2D_MULTISAMPLE: u32 = 0x9055;
/// `GL_IMAGE_2D_MULTISAMPLE_ARRAY`: GLSL `image2DMSArray`.
pub const IMAGE_2D_MULTISAMPLE_ARRAY: u32 = 0x9056;
/// `GL_INT_IMAGE_1D`: GLSL `iimage1D`.
pub const INT_IMAGE_1D: u32 = 0x9057;
/// `GL_INT_IMAGE_2D`: GLSL `iimage2D`.
pub const INT_IMAGE_2D: u32 = 0x9058;
/// `GL_INT_IMAGE_3D`: GLSL `iimage3D`.
pub const INT_IMAGE_3D: u32 = 0x9059;
/// `GL_INT_IMAGE_2D_RECT`: GLSL `iimage2DRect`.
pub const INT_IMAGE_2D_RECT: u32 = 0x905A;
/// `GL_INT_IMAGE_CUBE`: GLSL `iimageCube`.
pub const INT_IMAGE_CUBE: u32 = 0x905B;
/// `GL_INT_IMAGE_BUFFER`: GLSL `iimageBuffer`.
pub const INT_IMAGE_BUFFER: u32 = 0x905C;
/// `GL_INT_IMAGE_1D_ARRAY`: GLSL `iimage1DArray`.
pub const INT_IMAGE_1D_ARRAY: u32 = 0x905D;
/// `GL_INT_IMAGE_2D_ARRAY`: GLSL `iimage2DArray`.
pub const INT_IMAGE_2D_ARRAY: u32 = 0x905E;
/// `GL_INT_IMAGE_CUBE_MAP_ARRAY`: GLSL `iimageCubeArray`.
pub const INT_IMAGE_CUBE_MAP_ARRAY: u32 = 0x905F;
/// `GL_INT_IMAGE_2D_MULTISAMPLE`: GLSL `iimage2DMS`.
pub const INT_IMAGE_2D_MULTISAMPLE: u32 = 0x9060;
/// `GL_INT_IMAGE_2D_MULTISAMPLE_ARRAY`: GLSL `iimage2DMSArray`.
pub const INT_IMAGE_2D_MULTISAMPLE_ARRAY: u32 = 0x9061;
/// `GL_UNSIGNED_INT_IMAGE_1D`: GLSL `uimage1D`.
pub const UNSIGNED_INT_IMAGE_1D: u32 = 0x9062;
/// `GL_UNSIGNED_INT_IMAGE_2D`: GLSL `uimage2D`.
pub const UNSIGNED_INT_IMAGE_2D: u32 = 0x9063;
/// `GL_UNSIGNED_INT_IMAGE_3D`: GLSL `uimage3D`.
pub const UNSIGNED_INT_IMAGE_3D: u32 = 0x9064;
/// `GL_UNSIGNED_INT_IMAGE_2D_RECT`: GLSL `uimage2DRect`.
pub const UNSIGNED_INT_IMAGE_2D_RECT: u32 = 0x9065;
/// `GL_UNSIGNED_INT_IMAGE_CUBE`: GLSL `uimageCube`.
pub const UNSIGNED_INT_IMAGE_CUBE: u32 = 0x9066;
/// `GL_UNSIGNED_INT_IMAGE_BUFFER`: GLSL `uimageBuffer`.
pub const UNSIGNED_INT_IMAGE_BUFFER: u32 = 0x9067;
/// `GL_UNSIGNED_INT_IMAGE_1D_ARRAY`: GLSL `uimage1DArray`.
pub const UNSIGNED_INT_IMAGE_1D_ARRAY: u32 = 0x9068;
/// `GL_UNSIGNED_INT_IMAGE_2D_ARRAY`: GLSL `uimage2DArray`.
pub const UNSIGNED_INT_IMAGE_2D_ARRAY: u32 = 0x9069;
/// `GL_UNSIGNED_INT_IMAGE_CUBE_MAP_ARRAY`: GLSL `uimageCubeArray`.
pub const UNSIGNED_INT_IMAGE_CUBE_MAP_ARRAY: u32 = 0x906A;
/// `GL_UNSIGNED_INT_IMAGE_2D_MULTISAMPLE`: GLSL `uimage2DMS`.
pub const UNSIGNED_INT_IMAGE_2D_MULTISAMPLE: u32 = 0x906B;
/// `GL_UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY`: GLSL `uimage2DMSArray`.
pub const UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY: u32 = 0x906C;
/// `GL_UNSIGNED_INT_ATOMIC_COUNTER`: GLSL `atomic_uint`.
pub const UNSIGNED_INT_ATOMIC_COUNTER: u32 = 0x92DB;

/// Component class of a non-opaque type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// 32-bit signed integer.
    Int,
    /// 32-bit unsigned integer.
    Uint,
    /// Boolean, stored as 32 bits.
    Bool,
}

impl Scalar {
    /// Size of one component in bytes.
    pub const fn size(self) -> u32 {
        match self {
            Scalar::Double => 8,
            _ => 4,
        }
    }
}

/// Shape of a non-opaque type: class, columns (1 for scalars and vectors), rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Component class.
    pub scalar: Scalar,
    /// Columns: 1 for scalars and vectors.
    pub columns: u32,
    /// Rows: the component count of a scalar or vector.
    pub rows: u32,
}

impl Shape {
    /// Number of components.
    pub const fn components(self) -> u32 {
        self.columns * self.rows
    }
}

/// The type with this shape; `None` for shapes that GLSL does not have.
pub const fn from_shape(scalar: Scalar, columns: u32, rows: u32) -> Option<u32> {
    if columns == 1 {
        if rows < 1 || rows > 4 {
            return None;
        }
        let row = (rows - 1) as usize;
        return Some(match scalar {
            Scalar::Float => [FLOAT, FLOAT_VEC2, FLOAT_VEC3, FLOAT_VEC4][row],
            Scalar::Double => [DOUBLE, DOUBLE_VEC2, DOUBLE_VEC3, DOUBLE_VEC4][row],
            Scalar::Int => [INT, INT_VEC2, INT_VEC3, INT_VEC4][row],
            Scalar::Uint => [UNSIGNED_INT, UNSIGNED_INT_VEC2, UNSIGNED_INT_VEC3, UNSIGNED_INT_VEC4][row],
            Scalar::Bool => [BOOL, BOOL_VEC2, BOOL_VEC3, BOOL_VEC4][row],
        });
    }
    if columns > 4 || rows < 2 || rows > 4 || columns == 0 {
        return None;
    }
    let index = ((columns - 2) * 3 + rows - 2) as usize;
    match scalar {
        Scalar::Float => Some(
            [
                FLOAT_MAT2,
                FLOAT_MAT2x3,
                FLOAT_MAT2x4,
                FLOAT_MAT3x2,
                FLOAT_MAT3,
                FLOAT_MAT3x4,
                FLOAT_MAT4x2,
                FLOAT_MAT4x3,
                FLOAT_MAT4,
            ][index],
        ),
        Scalar::Double => Some(
            [
                DOUBLE_MAT2,
                DOUBLE_MAT2x3,
                DOUBLE_MAT2x4,
                DOUBLE_MAT3x2,
                DOUBLE_MAT3,
                DOUBLE_MAT3x4,
                DOUBLE_MAT4x2,
                DOUBLE_MAT4x3,
                DOUBLE_MAT4,
            ][index],
        ),
        _ => None,
    }
}

/// The shape of a non-opaque type; `None` for samplers, images, atomic counters and unknown values.
pub fn shape(gl_type: u32) -> Option<Shape> {
    for scalar in [Scalar::Float, Scalar::Double, Scalar::Int, Scalar::Uint, Scalar::Bool] {
        for columns in 1..=4 {
            for rows in 1..=4 {
                if from_shape(scalar, columns, rows) == Some(gl_type) {
                    return Some(Shape { scalar, columns, rows });
                }
            }
        }
    }
    None
}

/// Whether the type is a sampler.
pub const fn is_sampler(gl_type: u32) -> bool {
    matches!(gl_type,
        SAMPLER_1D..=SAMPLER_2D_RECT_SHADOW
        | SAMPLER_1D_ARRAY..=SAMPLER_CUBE_SHADOW
        | INT_SAMPLER_1D..=UNSIGNED_INT_SAMPLER_BUFFER
        | SAMPLER_CUBE_MAP_ARRAY..=UNSIGNED_INT_SAMPLER_CUBE_MAP_ARRAY
        | SAMPLER_2D_MULTISAMPLE..=UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE_ARRAY)
}

/// Whether the type is an image.
pub const fn is_image(gl_type: u32) -> bool {
    matches!(gl_type, IMAGE_1D..=UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY)
}

/// Attribute locations that one element of a vertex input takes in GL: one a column (also for double-precision types).
pub fn attribute_locations(gl_type: u32) -> u32 {
    shape(gl_type).map_or(1, |shape| shape.columns)
}

/// Locations that one element takes in SPIR-V: double-precision vectors of three or four components take two a column.
pub fn spirv_locations(gl_type: u32) -> u32 {
    shape(gl_type).map_or(1, |shape| {
        let wide = shape.scalar == Scalar::Double && shape.rows > 2;
        shape.columns * if wide { 2 } else { 1 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_inverse() {
        for gl_type in [FLOAT, DOUBLE_VEC3, INT_VEC4, BOOL_VEC2, FLOAT_MAT2x3, DOUBLE_MAT4x2, UNSIGNED_INT] {
            let shape = shape(gl_type).expect("a shape");
            assert_eq!(from_shape(shape.scalar, shape.columns, shape.rows), Some(gl_type));
        }
        assert_eq!(shape(SAMPLER_2D), None);
        assert_eq!(attribute_locations(FLOAT_MAT3x2), 3);
        assert_eq!(spirv_locations(DOUBLE_VEC3), 2);
        assert!(is_sampler(SAMPLER_2D) && !is_sampler(IMAGE_2D) && is_image(IMAGE_2D));
    }
}
