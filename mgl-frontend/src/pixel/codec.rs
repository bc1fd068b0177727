//! Rows of pixels to and from a common intermediate form.
//!
//! The intermediate form is `f32` for colours (exact for every normalised and float format up to 16 bits and for 32-bit
//! floats), `i64` for integers, and `f64` depth with a stencil value for the rest. Rows that need no conversion never
//! come here.

use super::shape::{Components, Element, Field, Layout, Shape};
use super::small_float::{decode_r11g11b10, decode_rgb9e5, encode_r11g11b10, encode_rgb9e5};
use half::f16;

/// A row of pixels in the intermediate form.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// Colours.
    Color(Vec<[f32; 4]>),
    /// Integer colours.
    Integer(Vec<[i64; 4]>),
    /// Depth and stencil; whichever a format lacks is 0.
    DepthStencil(Vec<(f64, u32)>),
}

fn word<const N: usize>(bytes: &[u8], swap: bool) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    if swap {
        out.reverse();
    }
    out
}

fn put<const N: usize>(out: &mut [u8], mut bytes: [u8; N], swap: bool) {
    if swap {
        bytes.reverse();
    }
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = from;
    }
}

fn packed_word(bytes: &[u8], size: u8, swap: bool) -> u32 {
    match size {
        1 => bytes.first().copied().unwrap_or(0).into(),
        2 => u16::from_le_bytes(word(bytes, swap)).into(),
        _ => u32::from_le_bytes(word(bytes, swap)),
    }
}

fn put_packed(out: &mut [u8], size: u8, value: u32, swap: bool) {
    match size {
        1 => put(out, [value as u8], false),
        2 => put(out, (value as u16).to_le_bytes(), swap),
        _ => put(out, value.to_le_bytes(), swap),
    }
}

fn field(word: u32, (low, bits): Field) -> u32 {
    word >> low & field_max(bits)
}

fn field_max(bits: u8) -> u32 {
    ((1u64 << bits) - 1) as u32
}

/// Decodes every element of a row through `read`, which gets the element's bytes.
fn each_element<T: Copy, const N: usize>(
    shape: &Shape,
    bytes: &[u8],
    swap: bool,
    default: [T; 4],
    read: impl Fn([u8; N]) -> T,
) -> Vec<[T; 4]> {
    let order = shape.elements();
    bytes
        .chunks_exact(N * order.len().max(1))
        .map(|pixel| {
            let mut out = default;
            for (element, &component) in pixel.chunks_exact(N).zip(order) {
                out[component as usize & 3] = read(word(element, swap));
            }
            out
        })
        .collect()
}

fn decode_color(shape: &Shape, bytes: &[u8], swap: bool) -> Vec<[f32; 4]> {
    const DEFAULT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];
    match shape.layout {
        Layout::Elements(Element::U8) => {
            each_element(shape, bytes, false, DEFAULT, |[b]: [u8; 1]| f32::from(b) / 255.0)
        }
        Layout::Elements(Element::I8) => {
            each_element(shape, bytes, false, DEFAULT, |[b]: [u8; 1]| (f32::from(b as i8) / 127.0).max(-1.0))
        }
        Layout::Elements(Element::U16) => {
            each_element(shape, bytes, swap, DEFAULT, |b| f32::from(u16::from_le_bytes(b)) / 65535.0)
        }
        Layout::Elements(Element::I16) => {
            each_element(shape, bytes, swap, DEFAULT, |b| (f32::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0))
        }
        Layout::Elements(Element::U32) => each_element(shape, bytes, swap, DEFAULT, |b| {
            (f64::from(u32::from_le_bytes(b)) / f64::from(u32::MAX)) as f32
        }),
        Layout::Elements(Element::I32) => each_element(shape, bytes, swap, DEFAULT, |b| {
            (f64::from(i32::from_le_bytes(b)) / f64::from(i32::MAX)).max(-1.0) as f32
        }),
        Layout::Elements(Element::F16) => each_element(shape, bytes, swap, DEFAULT, |b| f16::from_le_bytes(b).to_f32()),
        Layout::Elements(Element::F32) => each_element(shape, bytes, swap, DEFAULT, f32::from_le_bytes),
        Layout::Packed { bytes: size, fields } => bytes
            .chunks_exact(size as usize)
            .map(|pixel| {
                let value = packed_word(pixel, size, swap);
                let mut out = DEFAULT;
                for (&component, &f) in shape.elements().iter().zip(&fields) {
                    out[component as usize & 3] = field(value, f) as f32 / field_max(f.1).max(1) as f32;
                }
                out
            })
            .collect(),
        Layout::R11G11B10 | Layout::Rgb9E5 => bytes
            .chunks_exact(4)
            .map(|pixel| {
                let value = u32::from_le_bytes(word(pixel, swap));
                let [r, g, b] =
                    if shape.layout == Layout::Rgb9E5 { decode_rgb9e5(value) } else { decode_r11g11b10(value) };
                [r, g, b, 1.0]
            })
            .collect(),
        Layout::D24S8 | Layout::S8D24 | Layout::D32fS8 => Vec::new(),
    }
}

fn decode_integer(shape: &Shape, bytes: &[u8], swap: bool) -> Vec<[i64; 4]> {
    const DEFAULT: [i64; 4] = [0, 0, 0, 1];
    match shape.layout {
        Layout::Elements(Element::U8) => each_element(shape, bytes, false, DEFAULT, |[b]: [u8; 1]| b.into()),
        Layout::Elements(Element::I8) => each_element(shape, bytes, false, DEFAULT, |[b]: [u8; 1]| (b as i8).into()),
        Layout::Elements(Element::U16) => each_element(shape, bytes, swap, DEFAULT, |b| u16::from_le_bytes(b).into()),
        Layout::Elements(Element::I16) => each_element(shape, bytes, swap, DEFAULT, |b| i16::from_le_bytes(b).into()),
        Layout::Elements(Element::U32) => each_element(shape, bytes, swap, DEFAULT, |b| u32::from_le_bytes(b).into()),
        Layout::Elements(Element::I32) => each_element(shape, bytes, swap, DEFAULT, |b| i32::from_le_bytes(b).into()),
        Layout::Elements(Element::F16) => {
            each_element(shape, bytes, swap, DEFAULT, |b| f16::from_le_bytes(b).to_f32() as i64)
        }
        Layout::Elements(Element::F32) => each_element(shape, bytes, swap, DEFAULT, |b| f32::from_le_bytes(b) as i64),
        Layout::Packed { bytes: size, fields } => bytes
            .chunks_exact(size as usize)
            .map(|pixel| {
                let value = packed_word(pixel, size, swap);
                let mut out = DEFAULT;
                for (&component, &f) in shape.elements().iter().zip(&fields) {
                    out[component as usize & 3] = field(value, f).into();
                }
                out
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn decode_depth(shape: &Shape, bytes: &[u8], swap: bool) -> Vec<f64> {
    fn first<T: Copy, const N: usize>(bytes: &[u8], swap: bool, read: impl Fn([u8; N]) -> T) -> Vec<T> {
        bytes.chunks_exact(N).map(|b| read(word(b, swap))).collect()
    }
    match shape.layout {
        Layout::Elements(Element::U8) => first(bytes, false, |[b]: [u8; 1]| f64::from(b) / 255.0),
        Layout::Elements(Element::I8) => first(bytes, false, |[b]: [u8; 1]| (f64::from(b as i8) / 127.0).max(-1.0)),
        Layout::Elements(Element::U16) => first(bytes, swap, |b| f64::from(u16::from_le_bytes(b)) / 65535.0),
        Layout::Elements(Element::I16) => {
            first(bytes, swap, |b| (f64::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0))
        }
        Layout::Elements(Element::U32) => {
            first(bytes, swap, |b| f64::from(u32::from_le_bytes(b)) / f64::from(u32::MAX))
        }
        Layout::Elements(Element::I32) => {
            first(bytes, swap, |b| (f64::from(i32::from_le_bytes(b)) / f64::from(i32::MAX)).max(-1.0))
        }
        Layout::Elements(Element::F16) => first(bytes, swap, |b| f16::from_le_bytes(b).to_f64()),
        Layout::Elements(Element::F32) => first(bytes, swap, |b| f32::from_le_bytes(b).into()),
        _ => Vec::new(),
    }
}

fn decode_depth_stencil(shape: &Shape, bytes: &[u8], swap: bool) -> Vec<(f64, u32)> {
    const D24_MAX: f64 = 16_777_215.0;
    match (shape.components, shape.layout) {
        (_, Layout::D24S8) => bytes
            .chunks_exact(4)
            .map(|p| {
                let v = u32::from_le_bytes(word(p, swap));
                (f64::from(v >> 8) / D24_MAX, v & 0xff)
            })
            .collect(),
        (components, Layout::S8D24) => bytes
            .chunks_exact(4)
            .map(|p| {
                let v = u32::from_le_bytes(word(p, swap));
                (f64::from(v & 0xff_ffff) / D24_MAX, if components == Components::Depth { 0 } else { v >> 24 })
            })
            .collect(),
        (_, Layout::D32fS8) => bytes
            .chunks_exact(8)
            .map(|p| {
                let (depth, stencil) = p.split_at(4);
                (f32::from_le_bytes(word(depth, swap)).into(), u32::from_le_bytes(word(stencil, swap)) & 0xff)
            })
            .collect(),
        (Components::Stencil, _) => {
            decode_integer(shape, bytes, swap).into_iter().map(|v| (0.0, v[0] as u32)).collect()
        }
        _ => decode_depth(shape, bytes, swap).into_iter().map(|d| (d, 0)).collect(),
    }
}

/// Decodes whole pixels; trailing bytes that are no pixel are ignored.
pub fn decode_row(shape: &Shape, bytes: &[u8], swap: bool) -> Row {
    match (shape.components, shape.integer) {
        (Components::Color, false) => Row::Color(decode_color(shape, bytes, swap)),
        (Components::Color, true) => Row::Integer(decode_integer(shape, bytes, swap)),
        _ => Row::DepthStencil(decode_depth_stencil(shape, bytes, swap)),
    }
}

fn to_unorm(value: f32, max: u32) -> u32 {
    // A cast saturates and maps NaN to 0, as the specification's clamp wants.
    (f64::from(value.clamp(0.0, 1.0)) * f64::from(max)).round() as u32
}

fn to_snorm(value: f32, max: i32) -> i32 {
    (f64::from(value.clamp(-1.0, 1.0)) * f64::from(max)).round() as i32
}

fn write_elements<T: Copy, const N: usize>(
    shape: &Shape,
    row: &[[T; 4]],
    out: &mut [u8],
    swap: bool,
    write: impl Fn(T) -> [u8; N],
) {
    let order = shape.elements();
    for (pixel, value) in out.chunks_exact_mut(N * order.len().max(1)).zip(row) {
        for (element, &component) in pixel.chunks_exact_mut(N).zip(order) {
            put(element, write(value[component as usize & 3]), swap);
        }
    }
}

fn encode_color(shape: &Shape, row: &[[f32; 4]], out: &mut [u8], swap: bool) {
    match shape.layout {
        Layout::Elements(Element::U8) => write_elements(shape, row, out, false, |v| [to_unorm(v, 255) as u8]),
        Layout::Elements(Element::I8) => write_elements(shape, row, out, false, |v| [to_snorm(v, 127) as u8]),
        Layout::Elements(Element::U16) => {
            write_elements(shape, row, out, swap, |v| (to_unorm(v, 65535) as u16).to_le_bytes())
        }
        Layout::Elements(Element::I16) => {
            write_elements(shape, row, out, swap, |v| (to_snorm(v, 32767) as i16).to_le_bytes())
        }
        Layout::Elements(Element::U32) => {
            write_elements(shape, row, out, swap, |v| to_unorm(v, u32::MAX).to_le_bytes())
        }
        Layout::Elements(Element::I32) => {
            write_elements(shape, row, out, swap, |v| to_snorm(v, i32::MAX).to_le_bytes())
        }
        Layout::Elements(Element::F16) => write_elements(shape, row, out, swap, |v| f16::from_f32(v).to_le_bytes()),
        Layout::Elements(Element::F32) => write_elements(shape, row, out, swap, f32::to_le_bytes),
        Layout::Packed { bytes: size, fields } => {
            for (pixel, value) in out.chunks_exact_mut(size as usize).zip(row) {
                let mut packed = 0;
                for (&component, &(low, bits)) in shape.elements().iter().zip(&fields) {
                    packed |= to_unorm(value[component as usize & 3], field_max(bits)) << low;
                }
                put_packed(pixel, size, packed, swap);
            }
        }
        Layout::R11G11B10 | Layout::Rgb9E5 => {
            for (pixel, &[r, g, b, _]) in out.chunks_exact_mut(4).zip(row) {
                let packed =
                    if shape.layout == Layout::Rgb9E5 { encode_rgb9e5([r, g, b]) } else { encode_r11g11b10([r, g, b]) };
                put(pixel, packed.to_le_bytes(), swap);
            }
        }
        Layout::D24S8 | Layout::S8D24 | Layout::D32fS8 => {}
    }
}

fn clamped(value: i64, low: i64, high: i64) -> i64 {
    value.clamp(low, high)
}

fn encode_integer(shape: &Shape, row: &[[i64; 4]], out: &mut [u8], swap: bool) {
    match shape.layout {
        Layout::Elements(Element::U8) => write_elements(shape, row, out, false, |v| [clamped(v, 0, 0xff) as u8]),
        Layout::Elements(Element::I8) => write_elements(shape, row, out, false, |v| [clamped(v, -0x80, 0x7f) as u8]),
        Layout::Elements(Element::U16) => {
            write_elements(shape, row, out, swap, |v| (clamped(v, 0, 0xffff) as u16).to_le_bytes())
        }
        Layout::Elements(Element::I16) => {
            write_elements(shape, row, out, swap, |v| (clamped(v, -0x8000, 0x7fff) as i16).to_le_bytes())
        }
        Layout::Elements(Element::U32) => {
            write_elements(shape, row, out, swap, |v| (clamped(v, 0, u32::MAX.into()) as u32).to_le_bytes())
        }
        Layout::Elements(Element::I32) => write_elements(shape, row, out, swap, |v| {
            (clamped(v, i32::MIN.into(), i32::MAX.into()) as i32).to_le_bytes()
        }),
        Layout::Elements(Element::F16) => {
            write_elements(shape, row, out, swap, |v| f16::from_f32(v as f32).to_le_bytes())
        }
        Layout::Elements(Element::F32) => write_elements(shape, row, out, swap, |v| (v as f32).to_le_bytes()),
        Layout::Packed { bytes: size, fields } => {
            for (pixel, value) in out.chunks_exact_mut(size as usize).zip(row) {
                let mut packed = 0;
                for (&component, &(low, bits)) in shape.elements().iter().zip(&fields) {
                    packed |= (clamped(value[component as usize & 3], 0, field_max(bits).into()) as u32) << low;
                }
                put_packed(pixel, size, packed, swap);
            }
        }
        _ => {}
    }
}

fn encode_depth(shape: &Shape, row: &[(f64, u32)], out: &mut [u8], swap: bool) {
    fn each<const N: usize>(row: &[(f64, u32)], out: &mut [u8], swap: bool, write: impl Fn(f64) -> [u8; N]) {
        for (to, (depth, _)) in out.chunks_exact_mut(N).zip(row) {
            put(to, write(*depth), swap);
        }
    }
    let unorm = |d: f64, max: f64| (d.clamp(0.0, 1.0) * max).round();
    match shape.layout {
        Layout::Elements(Element::U8) => each(row, out, false, |d| [unorm(d, 255.0) as u8]),
        Layout::Elements(Element::I8) => each(row, out, false, |d| [unorm(d, 127.0) as i8 as u8]),
        Layout::Elements(Element::U16) => each(row, out, swap, |d| (unorm(d, 65535.0) as u16).to_le_bytes()),
        Layout::Elements(Element::I16) => each(row, out, swap, |d| (unorm(d, 32767.0) as i16).to_le_bytes()),
        Layout::Elements(Element::U32) => {
            each(row, out, swap, |d| (unorm(d, f64::from(u32::MAX)) as u32).to_le_bytes())
        }
        Layout::Elements(Element::I32) => {
            each(row, out, swap, |d| (unorm(d, f64::from(i32::MAX)) as i32).to_le_bytes())
        }
        Layout::Elements(Element::F16) => each(row, out, swap, |d| f16::from_f64(d).to_le_bytes()),
        Layout::Elements(Element::F32) => each(row, out, swap, |d| (d as f32).to_le_bytes()),
        _ => {}
    }
}

fn encode_depth_stencil(shape: &Shape, row: &[(f64, u32)], out: &mut [u8], swap: bool) {
    let d24 = |d: f64| (d.clamp(0.0, 1.0) * 16_777_215.0).round() as u32;
    match (shape.components, shape.layout) {
        (_, Layout::D24S8) => {
            for (to, &(depth, stencil)) in out.chunks_exact_mut(4).zip(row) {
                put(to, (d24(depth) << 8 | stencil & 0xff).to_le_bytes(), swap);
            }
        }
        (_, Layout::S8D24) => {
            for (to, &(depth, stencil)) in out.chunks_exact_mut(4).zip(row) {
                put(to, (d24(depth) | stencil << 24).to_le_bytes(), swap);
            }
        }
        (_, Layout::D32fS8) => {
            for (to, &(depth, stencil)) in out.chunks_exact_mut(8).zip(row) {
                let (a, b) = to.split_at_mut(4);
                put(a, (depth as f32).to_le_bytes(), swap);
                put(b, (stencil & 0xff).to_le_bytes(), swap);
            }
        }
        (Components::Stencil, Layout::Elements(element)) => {
            // A stencil index is masked to the destination's bits, not clamped (GL 3.3 section 4.3.1).
            let mask = match element {
                Element::U8 => 0xff,
                Element::I8 => 0x7f,
                Element::U16 => 0xffff,
                Element::I16 => 0x7fff,
                Element::I32 => 0x7fff_ffff,
                Element::U32 | Element::F16 | Element::F32 => u32::MAX,
            };
            let values: Vec<[i64; 4]> = row.iter().map(|&(_, s)| [i64::from(s & mask), 0, 0, 0]).collect();
            encode_integer(shape, &values, out, swap);
        }
        _ => encode_depth(shape, row, out, swap),
    }
}

/// Encodes a row into `out`. A row of another class than the shape's leaves `out` unchanged.
pub fn encode_row(shape: &Shape, row: &Row, out: &mut [u8], swap: bool) {
    match row {
        Row::Color(row) if shape.components == Components::Color => encode_color(shape, row, out, swap),
        Row::Integer(row) if shape.components == Components::Color => encode_integer(shape, row, out, swap),
        Row::DepthStencil(row) if shape.components != Components::Color => encode_depth_stencil(shape, row, out, swap),
        _ => {}
    }
}
