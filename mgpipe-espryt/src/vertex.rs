//! Vertex attributes: one vertex array object, whose formats and buffers follow by difference.

use crate::context::{dirty, EsprytContext};
use crate::gles::{named, Gles};
use crate::ring::Slice;
use glow::HasContext;
use mgpipe_types::{
    attrib_class, gl, AttribValue, PipeError, PipeResult, VertexAttribute, VertexBinding, MAX_VERTEX_ATTRIBS,
};

/// Locations and binding points that GLES surely has.
const POINTS: usize = 16;

/// Vertex elements of the pipe.
pub(crate) struct VertexElements {
    /// Each attribute with its binding.
    attributes: Vec<(VertexAttribute, VertexBinding)>,
    /// Bit i: the driver has no such format, so attribute i is converted for each draw.
    converted: u32,
}

/// Whether GLES reads the attribute as it is.
fn is_native(attribute: &VertexAttribute) -> bool {
    attribute.bgra == 0
        && !matches!(attribute.component_type, gl::DOUBLE | gl::UNSIGNED_INT_10F_11F_11F_REV)
        && attribute.class != attrib_class::LONG
}

impl VertexElements {
    pub(crate) fn new(attributes: &[VertexAttribute], bindings: &[VertexBinding]) -> VertexElements {
        let converted = attributes
            .iter()
            .filter(|a| !is_native(a) && (a.location as usize) < POINTS)
            .fold(0, |mask, a| mask | 1 << a.location);
        let with_binding = |attribute: &VertexAttribute| {
            let binding = bindings.iter().find(|b| b.binding == attribute.binding).copied();
            let unbound = VertexBinding { binding: attribute.binding, stride: 16, divisor: 0 };
            (*attribute, binding.unwrap_or(unbound))
        };
        VertexElements { attributes: attributes.iter().map(with_binding).collect(), converted }
    }

    /// Whether draws have to convert.
    pub(crate) fn converts(&self) -> bool {
        self.converted != 0
    }
}

/// Format of one attribute as the vertex array has it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Format {
    components: u8,
    ty: u32,
    normalized: bool,
    integer: bool,
    offset: u32,
    point: u32,
}

/// Buffer of one binding point as the vertex array has it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Point {
    serial: u64,
    name: u32,
    offset: u64,
    stride: u32,
    divisor: u32,
}

/// The vertex array as the driver has it.
#[derive(Default)]
pub(crate) struct VertexShadow {
    enabled: u32,
    formats: [Option<Format>; POINTS],
    points: [Option<Point>; POINTS],
}

impl VertexShadow {
    fn enable(&mut self, gles: &Gles, wanted: u32) {
        let moved = wanted ^ self.enabled;
        for index in (0..POINTS as u32).filter(|index| moved >> index & 1 != 0) {
            // SAFETY: the context is current and its vertex array is bound.
            unsafe {
                if wanted >> index & 1 != 0 {
                    gles.gl.enable_vertex_attrib_array(index);
                } else {
                    gles.gl.disable_vertex_attrib_array(index);
                }
            }
        }
        self.enabled = wanted;
    }

    fn set_format(&mut self, gles: &Gles, index: u32, format: Format) {
        let slot = &mut self.formats[index as usize];
        if *slot == Some(format) {
            return;
        }
        let (size, offset) = (i32::from(format.components), format.offset);
        // SAFETY: the context is current and its vertex array is bound; the format is one that GLES has.
        unsafe {
            if format.integer {
                gles.gl.vertex_attrib_format_i32(index, size, format.ty, offset);
            } else {
                gles.gl.vertex_attrib_format_f32(index, size, format.ty, format.normalized, offset);
            }
            if slot.is_none_or(|old| old.point != format.point) {
                gles.gl.vertex_attrib_binding(index, format.point);
            }
        }
        *slot = Some(format);
    }

    fn set_point(&mut self, gles: &Gles, index: u32, point: Point) {
        let slot = &mut self.points[index as usize];
        if *slot == Some(point) {
            return;
        }
        // SAFETY: the context is current and its vertex array is bound; the buffer is its share group's.
        unsafe {
            let buffer = named!(NativeBuffer, point.name);
            gles.gl.bind_vertex_buffer(index, buffer, point.offset as i32, point.stride as i32);
            if slot.map_or(point.divisor != 0, |old| old.divisor != point.divisor) {
                gles.gl.vertex_binding_divisor(index, point.divisor);
            }
        }
        *slot = Some(point);
    }

    /// Buffers are bound again: their objects may have changed.
    pub(crate) fn forget_buffers(&mut self) {
        for point in self.points.iter_mut().flatten() {
            point.serial = u64::MAX;
        }
    }
}

/// A divisor that makes the instances from `base` on see the elements that they would see counting from 0.
fn base_offset(base_instance: u32, binding: &VertexBinding, native: bool) -> u64 {
    if native || binding.divisor == 0 || base_instance == 0 {
        return 0;
    }
    u64::from(base_instance / binding.divisor) * u64::from(binding.stride)
}

impl EsprytContext {
    /// Brings the vertex array in line. `base_instance` is not 0 only where the driver has no base instance.
    pub(crate) fn apply_vertices(&mut self, base_instance: u32) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let Some(elements) = self.elements.clone() else {
            self.vertex_shadow().enable(gles, 0);
            return self.apply_defaults();
        };
        let (mut enabled, mut gathered) = (0, false);
        for (attribute, binding) in &elements.attributes {
            let index = attribute.location;
            let Some(slot) = self.vertex_buffers.get(attribute.binding as usize) else { continue };
            if index as usize >= POINTS {
                continue;
            }
            let Some(buffer) = &slot.buffer else { continue };
            let start = slot.bound.offset;
            if start >= buffer.size() {
                continue;
            }
            let offset = start + base_offset(base_instance, binding, gles.has.base_instance);
            if elements.converted >> index & 1 != 0 {
                let buffer = buffer.clone();
                let Some(slice) = self.convert(attribute, binding, &buffer, offset)? else { continue };
                let format = Format { components: 4, ty: gl::FLOAT, point: index, ..Format::default() };
                let shadow = self.vertex_shadow();
                shadow.set_format(gles, index, format);
                let stride = if binding.stride == 0 { 0 } else { 16 };
                let point = Point {
                    serial: slice.serial,
                    name: slice.buffer,
                    offset: slice.offset as u64,
                    stride,
                    divisor: binding.divisor,
                };
                shadow.set_point(gles, index, point);
                enabled |= 1 << index;
                continue;
            }
            let mut name = buffer.name(gles)?;
            let (mut serial, mut offset, mut stride) = (buffer.serial(), offset, binding.stride);
            let mut relative = attribute.relative_offset;
            if stride > self.device.caps.caps.max_vertex_stride {
                let buffer = buffer.clone();
                let Some((slice, step)) = self.gather(attribute, binding, &buffer, offset)? else { continue };
                (name, serial, offset, stride, relative) = (slice.buffer, slice.serial, slice.offset as u64, step, 0);
                // The elements are gathered anew for each draw.
                gathered = true;
            }
            let format = Format {
                components: attribute.components,
                ty: attribute.component_type,
                normalized: attribute.normalized != 0,
                integer: attribute.class == attrib_class::INTEGER,
                offset: relative,
                point: index,
            };
            let shadow = self.vertex_shadow();
            shadow.set_format(gles, index, format);
            let point = Point { serial, name, offset, stride, divisor: binding.divisor };
            shadow.set_point(gles, index, point);
            enabled |= 1 << index;
        }
        self.vertex_shadow().enable(gles, enabled);
        self.apply_defaults()?;
        if gathered {
            self.dirty |= dirty::BUFFERS;
        }
        Ok(())
    }

    fn vertex_shadow(&mut self) -> &mut VertexShadow {
        &mut self.shadow.vertices
    }

    /// Current values of attributes.
    fn apply_defaults(&mut self) -> PipeResult<()> {
        let changed = std::mem::take(&mut self.defaults_changed);
        for index in (0..MAX_VERTEX_ATTRIBS.min(POINTS)).filter(|index| changed >> index & 1 != 0) {
            set_default(self.gles(), &self.attrib_defaults[index]);
        }
        self.dirty &= !(dirty::DEFAULTS | dirty::VERTEX | dirty::BUFFERS);
        Ok(())
    }

    /// Elements of an attribute one behind the other in the ring, and their distance there: they lie further apart than the
    /// driver can step. The host reads the buffer for it.
    fn gather(
        &mut self,
        attribute: &VertexAttribute,
        binding: &VertexBinding,
        buffer: &crate::resource::buffer::Buffer,
        offset: u64,
    ) -> PipeResult<Option<(Slice, u32)>> {
        let first = offset + u64::from(attribute.relative_offset);
        let element = element_bytes(attribute);
        let stride = u64::from(binding.stride.max(1));
        let Some(count) = buffer.size().checked_sub(first + element).map(|room| room / stride + 1) else {
            return Ok(None);
        };
        let step = element.next_multiple_of(4);
        let source = self.read_elements(buffer, first, (count - 1) * stride + element)?;
        let mut bytes = memory::<u8>(count * step)?;
        bytes.resize((count * step) as usize, 0);
        for (index, out) in bytes.chunks_exact_mut(step as usize).enumerate() {
            let at = index * stride as usize;
            out[..element as usize].copy_from_slice(&source[at..at + element as usize]);
        }
        let shared = self.shared.clone();
        let slice = self.ring.write(&shared.device.gles, &bytes, 16)?;
        Ok(Some((slice, step as u32)))
    }

    /// Bytes of a buffer with elements in them.
    fn read_elements(
        &mut self,
        buffer: &crate::resource::buffer::Buffer,
        first: u64,
        length: u64,
    ) -> PipeResult<Vec<u8>> {
        let mut bytes = memory(length)?;
        bytes.resize(length as usize, 0);
        self.read_range(buffer, first, &mut bytes)?;
        Ok(bytes)
    }

    /// Elements of an attribute as four floats in the ring. The host reads the buffer for it.
    fn convert(
        &mut self,
        attribute: &VertexAttribute,
        binding: &VertexBinding,
        buffer: &crate::resource::buffer::Buffer,
        offset: u64,
    ) -> PipeResult<Option<Slice>> {
        let first = offset + u64::from(attribute.relative_offset);
        let element = element_bytes(attribute);
        let room = buffer.size().saturating_sub(first);
        if room < element {
            return Ok(None);
        }
        let count = match binding.stride {
            0 => 1,
            stride => (room - element) / u64::from(stride) + 1,
        };
        let length = if binding.stride == 0 { element } else { (count - 1) * u64::from(binding.stride) + element };
        let bytes = self.read_elements(buffer, first, length)?;
        let mut floats = memory::<f32>(count * 4)?;
        for index in 0..count as usize {
            let at = index * binding.stride as usize;
            floats.extend(decode(attribute, &bytes[at..at + element as usize]));
        }
        let shared = self.shared.clone();
        self.ring.write(&shared.device.gles, bytemuck::cast_slice(&floats), 16).map(Some)
    }
}

/// Memory for so many values, which is filled at once.
///
/// # Errors
/// Out of memory.
fn memory<T>(count: u64) -> PipeResult<Vec<T>> {
    let mut values = Vec::new();
    let fits = usize::try_from(count).is_ok_and(|count| values.try_reserve_exact(count).is_ok());
    fits.then_some(values).ok_or_else(|| PipeError::OutOfMemory(format!("{count} values of vertices")))
}

/// Bytes of one element.
fn element_bytes(attribute: &VertexAttribute) -> u64 {
    match attribute.component_type {
        gl::DOUBLE => 8 * u64::from(attribute.components),
        gl::UNSIGNED_BYTE | gl::BYTE => u64::from(attribute.components),
        gl::UNSIGNED_SHORT | gl::SHORT | gl::HALF_FLOAT => 2 * u64::from(attribute.components),
        gl::UNSIGNED_INT | gl::INT | gl::FLOAT | gl::FIXED => 4 * u64::from(attribute.components),
        _ => 4,
    }
}

/// One element as floats, missing components as GL fills them.
fn decode(attribute: &VertexAttribute, bytes: &[u8]) -> [f32; 4] {
    let mut out = [0.0, 0.0, 0.0, 1.0];
    let word = |b: &[u8]| b.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
    match attribute.component_type {
        gl::DOUBLE => {
            for (value, b) in out.iter_mut().zip(bytes.chunks_exact(8)) {
                *value = f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32;
            }
        }
        gl::UNSIGNED_BYTE => {
            for (value, b) in out.iter_mut().zip(bytes) {
                *value = f32::from(*b) / 255.0;
            }
        }
        gl::UNSIGNED_INT_10F_11F_11F_REV => {
            let w = word(bytes);
            out[0] = small_float(w & 0x7ff, 6);
            out[1] = small_float(w >> 11 & 0x7ff, 6);
            out[2] = small_float(w >> 22, 5);
        }
        gl::UNSIGNED_INT_2_10_10_10_REV => {
            let w = word(bytes);
            for (index, value) in out.iter_mut().enumerate().take(3) {
                *value = (w >> (10 * index) & 0x3ff) as f32 / 1023.0;
            }
            out[3] = (w >> 30) as f32 / 3.0;
        }
        _ => {
            let w = word(bytes) as i32;
            for (index, value) in out.iter_mut().enumerate().take(3) {
                *value = ((w << (22 - 10 * index) >> 22) as f32 / 511.0).max(-1.0);
            }
            out[3] = ((w >> 30) as f32).max(-1.0);
        }
    }
    if attribute.bgra != 0 {
        out.swap(0, 2);
    }
    out
}

/// An unsigned float with 5 bits of exponent.
pub(crate) fn small_float(bits: u32, mantissa: u32) -> f32 {
    let (exponent, fraction) = (bits >> mantissa & 0x1f, bits & ((1 << mantissa) - 1));
    let scale = (1u32 << mantissa) as f32;
    match exponent {
        0 => fraction as f32 / scale * 2f32.powi(-14),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1.0 + fraction as f32 / scale) * 2f32.powi(e as i32 - 15),
    }
}

fn set_default(gles: &Gles, value: &AttribValue) {
    let words = value.bits.map(|bits| bits as u32);
    // SAFETY: the context is current; the index is below the least that GLES has.
    unsafe {
        match value.form {
            1 => gles.ext.vertex_attrib_i32(value.index, words.map(|w| w as i32).as_ptr()),
            2 => gles.ext.vertex_attrib_u32(value.index, words.as_ptr()),
            3 => {
                let [x, y, z, w] = value.bits.map(|bits| f64::from_bits(bits) as f32);
                gles.gl.vertex_attrib_4_f32(value.index, x, y, z, w);
            }
            _ => {
                let [x, y, z, w] = words.map(f32::from_bits);
                gles.gl.vertex_attrib_4_f32(value.index, x, y, z, w);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blue_comes_first_in_bgra() {
        let attribute = VertexAttribute {
            component_type: gl::UNSIGNED_BYTE,
            components: 4,
            bgra: 1,
            normalized: 1,
            ..Default::default()
        };
        assert_eq!(decode(&attribute, &[255, 0, 51, 255]), [0.2, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn small_floats_have_their_values() {
        assert_eq!(small_float(15 << 6, 6), 1.0);
        assert_eq!(small_float(16 << 5, 5), 2.0);
        assert_eq!(small_float(0, 6), 0.0);
    }
}
