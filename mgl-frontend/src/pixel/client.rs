//! The pixel layouts that applications read and write: every format × type pair of the specification.

use super::shape::{Components, Element, Field, Layout, Shape};
use crate::format::{LUMINANCE, LUMINANCE_ALPHA};
use mgpipe_types::gl;

/// A valid format × type pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientFormat {
    /// The `format` enumerant.
    pub format: u32,
    /// The `type` enumerant.
    pub type_: u32,
    /// How a pixel lies in memory.
    pub shape: Shape,
    /// The first element is a luminance (compatibility profile).
    pub luminance: bool,
}

fn components_of(format: u32) -> Option<(Components, bool, [u8; 4], u8)> {
    use Components::{Color, Depth, DepthStencil, Stencil};
    Some(match format {
        gl::RED => (Color, false, [0, 0, 0, 0], 1),
        gl::GREEN => (Color, false, [1, 0, 0, 0], 1),
        gl::BLUE => (Color, false, [2, 0, 0, 0], 1),
        gl::ALPHA => (Color, false, [3, 0, 0, 0], 1),
        LUMINANCE => (Color, false, [0, 0, 0, 0], 1),
        LUMINANCE_ALPHA => (Color, false, [0, 3, 0, 0], 2),
        gl::RG => (Color, false, [0, 1, 0, 0], 2),
        gl::RGB => (Color, false, [0, 1, 2, 0], 3),
        gl::BGR => (Color, false, [2, 1, 0, 0], 3),
        gl::RGBA => (Color, false, [0, 1, 2, 3], 4),
        gl::BGRA => (Color, false, [2, 1, 0, 3], 4),
        gl::RED_INTEGER => (Color, true, [0, 0, 0, 0], 1),
        gl::GREEN_INTEGER => (Color, true, [1, 0, 0, 0], 1),
        gl::BLUE_INTEGER => (Color, true, [2, 0, 0, 0], 1),
        gl::RG_INTEGER => (Color, true, [0, 1, 0, 0], 2),
        gl::RGB_INTEGER => (Color, true, [0, 1, 2, 0], 3),
        gl::BGR_INTEGER => (Color, true, [2, 1, 0, 0], 3),
        gl::RGBA_INTEGER => (Color, true, [0, 1, 2, 3], 4),
        gl::BGRA_INTEGER => (Color, true, [2, 1, 0, 3], 4),
        gl::DEPTH_COMPONENT => (Depth, false, [0, 0, 0, 0], 1),
        gl::STENCIL_INDEX => (Stencil, true, [0, 0, 0, 0], 1),
        gl::DEPTH_STENCIL => (DepthStencil, false, [0, 1, 0, 0], 2),
        _ => return None,
    })
}

fn layout_of(type_: u32) -> Option<(Layout, u8)> {
    const fn packed(bytes: u8, fields: [Field; 4]) -> Layout {
        Layout::Packed { bytes, fields }
    }
    // The second value is the number of components that a packed type describes; 0 means any.
    Some(match type_ {
        gl::UNSIGNED_BYTE => (Layout::Elements(Element::U8), 0),
        gl::BYTE => (Layout::Elements(Element::I8), 0),
        gl::UNSIGNED_SHORT => (Layout::Elements(Element::U16), 0),
        gl::SHORT => (Layout::Elements(Element::I16), 0),
        gl::UNSIGNED_INT => (Layout::Elements(Element::U32), 0),
        gl::INT => (Layout::Elements(Element::I32), 0),
        gl::HALF_FLOAT => (Layout::Elements(Element::F16), 0),
        gl::FLOAT => (Layout::Elements(Element::F32), 0),
        gl::UNSIGNED_BYTE_3_3_2 => (packed(1, [(5, 3), (2, 3), (0, 2), (0, 0)]), 3),
        gl::UNSIGNED_BYTE_2_3_3_REV => (packed(1, [(0, 3), (3, 3), (6, 2), (0, 0)]), 3),
        gl::UNSIGNED_SHORT_5_6_5 => (packed(2, [(11, 5), (5, 6), (0, 5), (0, 0)]), 3),
        gl::UNSIGNED_SHORT_5_6_5_REV => (packed(2, [(0, 5), (5, 6), (11, 5), (0, 0)]), 3),
        gl::UNSIGNED_SHORT_4_4_4_4 => (packed(2, [(12, 4), (8, 4), (4, 4), (0, 4)]), 4),
        gl::UNSIGNED_SHORT_4_4_4_4_REV => (packed(2, [(0, 4), (4, 4), (8, 4), (12, 4)]), 4),
        gl::UNSIGNED_SHORT_5_5_5_1 => (packed(2, [(11, 5), (6, 5), (1, 5), (0, 1)]), 4),
        gl::UNSIGNED_SHORT_1_5_5_5_REV => (packed(2, [(0, 5), (5, 5), (10, 5), (15, 1)]), 4),
        gl::UNSIGNED_INT_8_8_8_8 => (packed(4, [(24, 8), (16, 8), (8, 8), (0, 8)]), 4),
        gl::UNSIGNED_INT_8_8_8_8_REV => (packed(4, [(0, 8), (8, 8), (16, 8), (24, 8)]), 4),
        gl::UNSIGNED_INT_10_10_10_2 => (packed(4, [(22, 10), (12, 10), (2, 10), (0, 2)]), 4),
        gl::UNSIGNED_INT_2_10_10_10_REV => (packed(4, [(0, 10), (10, 10), (20, 10), (30, 2)]), 4),
        gl::UNSIGNED_INT_10F_11F_11F_REV => (Layout::R11G11B10, 3),
        gl::UNSIGNED_INT_5_9_9_9_REV => (Layout::Rgb9E5, 3),
        gl::UNSIGNED_INT_24_8 => (Layout::D24S8, 2),
        gl::FLOAT_32_UNSIGNED_INT_24_8_REV => (Layout::D32fS8, 2),
        _ => return None,
    })
}

impl ClientFormat {
    /// Checks a format × type pair (GL 3.3 section 3.7.4 and table 3.5).
    ///
    /// `legacy` admits the formats of the compatibility profile.
    ///
    /// # Errors
    /// `GL_INVALID_ENUM` for values that name nothing or that never go together, `GL_INVALID_OPERATION` for a packed
    /// type with a format that has other components.
    pub fn new(format: u32, type_: u32, legacy: bool) -> Result<ClientFormat, u32> {
        let (components, integer, order, count) = components_of(format).ok_or(gl::INVALID_ENUM)?;
        let legacy_format = matches!(format, LUMINANCE | LUMINANCE_ALPHA | gl::ALPHA);
        if legacy_format && !legacy {
            return Err(gl::INVALID_ENUM);
        }
        let (layout, described) = layout_of(type_).ok_or(gl::INVALID_ENUM)?;
        let is_packed_depth = matches!(layout, Layout::D24S8 | Layout::D32fS8);
        if components == Components::DepthStencil {
            if !is_packed_depth {
                return Err(gl::INVALID_ENUM);
            }
        } else if is_packed_depth {
            return Err(gl::INVALID_OPERATION);
        }
        match layout {
            Layout::Packed { .. } => {
                // Three-field types take RGB only (BGR never), four-field types RGBA and BGRA.
                let fits = match described {
                    3 => matches!(format, gl::RGB | gl::RGB_INTEGER),
                    _ => matches!(format, gl::RGBA | gl::BGRA | gl::RGBA_INTEGER | gl::BGRA_INTEGER),
                };
                if !fits {
                    return Err(gl::INVALID_OPERATION);
                }
            }
            Layout::R11G11B10 | Layout::Rgb9E5 if format != gl::RGB => return Err(gl::INVALID_OPERATION),
            Layout::Elements(Element::F16 | Element::F32) if integer && components == Components::Color => {
                return Err(gl::INVALID_ENUM);
            }
            _ => {}
        }
        Ok(ClientFormat {
            format,
            type_,
            shape: Shape { components, integer, order, count, layout },
            luminance: matches!(format, LUMINANCE | LUMINANCE_ALPHA),
        })
    }

    /// Bytes of one pixel in the application's memory.
    pub fn pixel_bytes(&self) -> usize {
        self.shape.pixel_bytes()
    }

    /// Bytes of the unit in which `GL_*_SWAP_BYTES` reverses bytes, and to which a buffer offset must be aligned.
    pub fn element_bytes(&self) -> usize {
        self.shape.element_bytes()
    }

    /// Bytes to which an offset into a pixel buffer must be aligned (GL 3.3 section 3.7.1): the size of the type.
    pub fn offset_alignment(&self) -> usize {
        self.shape.element_bytes()
    }

    /// Whether components are floats in memory.
    pub fn is_float(&self) -> bool {
        matches!(self.shape.layout, Layout::Elements(Element::F16 | Element::F32) | Layout::R11G11B10 | Layout::Rgb9E5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_pairs_raise_the_specified_error() {
        let error = |f, t| ClientFormat::new(f, t, false).expect_err("illegal");
        assert_eq!(error(gl::RGBA8, gl::UNSIGNED_BYTE), gl::INVALID_ENUM);
        assert_eq!(error(gl::RGBA, gl::DOUBLE), gl::INVALID_ENUM);
        assert_eq!(error(LUMINANCE, gl::UNSIGNED_BYTE), gl::INVALID_ENUM);
        assert_eq!(error(gl::RGBA, gl::UNSIGNED_SHORT_5_6_5), gl::INVALID_OPERATION);
        assert_eq!(error(gl::BGR, gl::UNSIGNED_SHORT_5_6_5), gl::INVALID_OPERATION);
        assert_eq!(error(gl::RGB, gl::UNSIGNED_INT_8_8_8_8), gl::INVALID_OPERATION);
        assert_eq!(error(gl::RGBA, gl::UNSIGNED_INT_24_8), gl::INVALID_OPERATION);
        assert_eq!(error(gl::DEPTH_STENCIL, gl::UNSIGNED_BYTE), gl::INVALID_ENUM);
        assert_eq!(error(gl::RGBA_INTEGER, gl::FLOAT), gl::INVALID_ENUM);
        assert_eq!(error(gl::RGBA, gl::UNSIGNED_INT_5_9_9_9_REV), gl::INVALID_OPERATION);
    }

    #[test]
    fn sizes_follow_the_layout() {
        let bytes = |f, t| ClientFormat::new(f, t, true).expect("legal").pixel_bytes();
        assert_eq!(bytes(gl::RGB, gl::UNSIGNED_BYTE), 3);
        assert_eq!(bytes(gl::RGB, gl::UNSIGNED_SHORT_5_6_5), 2);
        assert_eq!(bytes(gl::BGRA, gl::FLOAT), 16);
        assert_eq!(bytes(gl::DEPTH_STENCIL, gl::FLOAT_32_UNSIGNED_INT_24_8_REV), 8);
        assert_eq!(bytes(LUMINANCE_ALPHA, gl::HALF_FLOAT), 4);
    }
}
