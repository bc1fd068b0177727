//! How a pixel lies in memory: one description for what applications pass and for what storage holds.

use mgpipe_types::{Format, FormatKind};

/// Which aspect pixels carry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Components {
    /// Colour.
    Color,
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
    /// Depth and stencil in one word.
    DepthStencil,
}

/// Type of one element of an unpacked layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// `GL_UNSIGNED_BYTE`.
    U8,
    /// `GL_BYTE`.
    I8,
    /// `GL_UNSIGNED_SHORT`.
    U16,
    /// `GL_SHORT`.
    I16,
    /// `GL_UNSIGNED_INT`.
    U32,
    /// `GL_INT`.
    I32,
    /// `GL_HALF_FLOAT`.
    F16,
    /// `GL_FLOAT`.
    F32,
}

impl Element {
    /// Bytes of the element.
    pub fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
        }
    }
}

/// A bit field of a packed word: lowest bit and width.
pub type Field = (u8, u8);

/// How one pixel lies in the application's memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// One element a component.
    Elements(Element),
    /// Unsigned bit fields of a word of 1, 2 or 4 bytes, in the order of the format's components.
    Packed {
        /// Bytes of the word.
        bytes: u8,
        /// Field of each component.
        fields: [Field; 4],
    },
    /// `GL_UNSIGNED_INT_10F_11F_11F_REV`.
    R11G11B10,
    /// `GL_UNSIGNED_INT_5_9_9_9_REV`.
    Rgb9E5,
    /// `GL_UNSIGNED_INT_24_8`: depth in the high 24 bits, stencil in the low 8.
    D24S8,
    /// Depth in the low 24 bits, stencil (or nothing) in the high 8: the storage order.
    S8D24,
    /// `GL_FLOAT_32_UNSIGNED_INT_24_8_REV`: a float, then a word with stencil in its low 8 bits.
    D32fS8,
}

/// Memory shape of a pixel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Aspect.
    pub components: Components,
    /// Components are integers that are not normalised.
    pub integer: bool,
    /// Component (0 red … 3 alpha) of each element, [`Shape::count`] of them.
    pub order: [u8; 4],
    /// Components a pixel.
    pub count: u8,
    /// Layout.
    pub layout: Layout,
}

impl Shape {
    /// Bytes of one pixel.
    pub fn pixel_bytes(&self) -> usize {
        match self.layout {
            Layout::Elements(e) => e.bytes() * self.count as usize,
            Layout::Packed { bytes, .. } => bytes as usize,
            Layout::R11G11B10 | Layout::Rgb9E5 | Layout::D24S8 | Layout::S8D24 => 4,
            Layout::D32fS8 => 8,
        }
    }

    /// Bytes of the unit in which bytes are swapped.
    pub fn element_bytes(&self) -> usize {
        match self.layout {
            Layout::Elements(e) => e.bytes(),
            Layout::Packed { bytes, .. } => bytes as usize,
            Layout::R11G11B10 | Layout::Rgb9E5 | Layout::D24S8 | Layout::S8D24 | Layout::D32fS8 => 4,
        }
    }

    /// The elements of the pixel, without those that [`Shape::count`] excludes.
    pub fn elements(&self) -> &[u8] {
        &self.order[..(self.count as usize).min(4)]
    }

    /// The shape that describes the same bytes by bytes where that is possible: words of four 8-bit fields become
    /// four byte elements. Two pixels with equal canonical shapes are copied without conversion.
    pub fn canonical(&self) -> Shape {
        let mut shape = *self;
        if let Layout::Packed { bytes: 4, fields } = self.layout {
            if self.count == 4 && fields.iter().all(|&(low, bits)| bits == 8 && low % 8 == 0) {
                for (component, &(low, _)) in self.order.iter().zip(&fields) {
                    if let Some(slot) = shape.order.get_mut(low as usize / 8) {
                        *slot = *component;
                    }
                }
                shape.layout = Layout::Elements(Element::U8);
            }
        }
        for slot in shape.order.iter_mut().skip(self.count as usize) {
            *slot = 0;
        }
        shape
    }

    /// The shape of a storage format's texels; `None` for block formats and unknown ones.
    pub fn of_storage(format: Format) -> Option<Shape> {
        let desc = format.desc();
        if !format.is_valid() || desc.is_compressed() {
            return None;
        }
        let color = |layout: Layout, count: u8| Shape {
            components: Components::Color,
            integer: format.is_integer(),
            order: [0, 1, 2, 3],
            count,
            layout,
        };
        let aspect = |components: Components, layout: Layout, count: u8| Shape {
            components,
            integer: components == Components::Stencil,
            order: [0, 1, 0, 0],
            count,
            layout,
        };
        let packed = |bytes: u8, count: u8, fields: [Field; 4]| Some(color(Layout::Packed { bytes, fields }, count));
        let shape = match format {
            Format::RGB565_UNORM => return packed(2, 3, [(11, 5), (5, 6), (0, 5), (0, 0)]),
            Format::RGBA4_UNORM => return packed(2, 4, [(12, 4), (8, 4), (4, 4), (0, 4)]),
            Format::RGB5A1_UNORM => return packed(2, 4, [(11, 5), (6, 5), (1, 5), (0, 1)]),
            Format::RGB10A2_UNORM | Format::RGB10A2_UINT => {
                return packed(4, 4, [(0, 10), (10, 10), (20, 10), (30, 2)])
            }
            Format::R11G11B10_FLOAT => return Some(color(Layout::R11G11B10, 3)),
            Format::RGB9E5_FLOAT => return Some(color(Layout::Rgb9E5, 3)),
            Format::BGRA8_UNORM | Format::BGRA8_SRGB => {
                let mut shape = color(Layout::Elements(Element::U8), 4);
                shape.order = [2, 1, 0, 3];
                return Some(shape);
            }
            Format::D16_UNORM => aspect(Components::Depth, Layout::Elements(Element::U16), 1),
            Format::D32_FLOAT => aspect(Components::Depth, Layout::Elements(Element::F32), 1),
            Format::D24_UNORM_X8 => aspect(Components::Depth, Layout::S8D24, 1),
            Format::D24_UNORM_S8 => aspect(Components::DepthStencil, Layout::S8D24, 2),
            Format::D32_FLOAT_S8 => aspect(Components::DepthStencil, Layout::D32fS8, 2),
            Format::S8_UINT => aspect(Components::Stencil, Layout::Elements(Element::U8), 1),
            _ => {
                let element = match (desc.kind, desc.bits[0]) {
                    (FormatKind::Unorm | FormatKind::Uint, 8) => Element::U8,
                    (FormatKind::Unorm | FormatKind::Uint, 16) => Element::U16,
                    (FormatKind::Unorm | FormatKind::Uint, 32) => Element::U32,
                    (FormatKind::Snorm | FormatKind::Sint, 8) => Element::I8,
                    (FormatKind::Snorm | FormatKind::Sint, 16) => Element::I16,
                    (FormatKind::Snorm | FormatKind::Sint, 32) => Element::I32,
                    (FormatKind::Float, 16) => Element::F16,
                    (FormatKind::Float, 32) => Element::F32,
                    _ => return None,
                };
                let count = desc.bits.iter().filter(|&&bits| bits != 0).count() as u8;
                color(Layout::Elements(element), count)
            }
        };
        Some(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_uncompressed_storage_format_has_a_shape_of_its_size() {
        for &format in Format::ALL {
            let desc = format.desc();
            match Shape::of_storage(format) {
                Some(shape) => assert_eq!(shape.pixel_bytes(), desc.block_bytes as usize, "{format:?}"),
                None => assert!(desc.is_compressed(), "{format:?}"),
            }
        }
    }

    #[test]
    fn words_of_bytes_are_bytes() {
        let rgba8 = Shape::of_storage(Format::RGBA8_UNORM).expect("shape");
        let mut rev = rgba8;
        rev.layout = Layout::Packed { bytes: 4, fields: [(0, 8), (8, 8), (16, 8), (24, 8)] };
        assert_eq!(rev.canonical(), rgba8.canonical());
        rev.layout = Layout::Packed { bytes: 4, fields: [(24, 8), (16, 8), (8, 8), (0, 8)] };
        assert_eq!(rev.canonical().order, [3, 2, 1, 0]);
    }
}
