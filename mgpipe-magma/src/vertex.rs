//! Vertex input: from vertex elements, buffers and current values to what a program reads.

use crate::command::{Object, RingSlice};
use crate::context::MagmaContext;
use crate::device::Device;
use ash::vk;
use mgpipe_types::reflection::gl_type::{self, Scalar};
use mgpipe_types::reflection::Reflection;
use mgpipe_types::{
    attrib_class, draw_flags, gl, DrawInfo, DrawRange, PipeError, PipeResult, VertexAttribute, VertexBinding,
    MAX_VERTEX_ATTRIBS,
};
use smallvec::SmallVec;

/// A vertex-elements object.
pub(crate) struct VertexElements {
    /// Never-reused identity.
    pub(crate) serial: u64,
    pub(crate) attributes: Vec<VertexAttribute>,
    pub(crate) bindings: Vec<VertexBinding>,
}

/// Where a Vulkan binding's bytes come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    /// A vertex buffer binding point of GL.
    Point(u32),
    /// The current values of attributes.
    Defaults,
    /// Values that are converted for each draw: an index into [`VertexLayout::conversions`].
    Converted(u32),
}

/// An attribute that the device cannot fetch as it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Conversion {
    pub(crate) point: u32,
    pub(crate) stride: u32,
    pub(crate) divisor: u32,
    pub(crate) offset: u32,
    /// Each element is repeated for so many instances, since the device's own divisors do not go that far; 0: not at all.
    repeat: u32,
    component_type: u32,
    components: u8,
    normalized: bool,
    bgra: bool,
    to: Converted,
}

/// What a converted attribute becomes: four words a vertex, or doubles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Converted {
    Float,
    Signed,
    Unsigned,
    /// Doubles of which only the alignment was wrong.
    Double,
}

/// A Vulkan vertex input binding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LayoutBinding {
    pub(crate) source: Source,
    pub(crate) stride: u32,
    pub(crate) divisor: u32,
}

/// A Vulkan vertex input attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LayoutAttribute {
    pub(crate) location: u32,
    pub(crate) binding: u32,
    pub(crate) format: vk::Format,
    pub(crate) offset: u32,
}

/// What a program's vertex stage is fed with.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct VertexLayout {
    pub(crate) bindings: SmallVec<[LayoutBinding; 8]>,
    pub(crate) attributes: SmallVec<[LayoutAttribute; 8]>,
    pub(crate) conversions: SmallVec<[Conversion; 1]>,
}

/// Bytes of one attribute in the block of current values.
pub(crate) const DEFAULT_BYTES: u32 = 32;

/// Most bytes of an attribute that is repeated for instances.
const MAX_REPEATED_BYTES: usize = 1 << 30;
/// Most instances of an indirect draw that find repeated attributes.
const MAX_INDIRECT_INSTANCES: u64 = 1 << 16;

/// How a shader reads a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Input {
    /// GL's location, by which attributes are named.
    attribute: u32,
    /// Location in the SPIR-V.
    location: u32,
    scalar: Scalar,
    /// Second half of a double vector with more than two components.
    second: bool,
}

fn inputs(reflection: &Reflection) -> SmallVec<[Input; 16]> {
    let mut inputs = SmallVec::new();
    for variable in &reflection.inputs {
        let Ok(base) = u32::try_from(variable.location) else { continue };
        let Some(shape) = gl_type::shape(variable.gl_type) else { continue };
        let columns = gl_type::attribute_locations(variable.gl_type) * variable.array_size.max(1);
        let spirv = gl_type::spirv_locations(variable.gl_type) * variable.array_size.max(1);
        let per_column = spirv.checked_div(columns).unwrap_or(1).max(1);
        let spirv_base = u32::try_from(variable.spirv_location).unwrap_or(base);
        for index in 0..columns * per_column {
            inputs.push(Input {
                attribute: base + index / per_column,
                location: spirv_base + index,
                scalar: shape.scalar,
                second: per_column == 2 && index % 2 == 1,
            });
        }
    }
    inputs
}

impl VertexLayout {
    /// Matches a program's inputs with the attributes that are enabled; the rest reads current values.
    /// `offset` gives the buffer offset of a binding point, which decides about alignment.
    pub(crate) fn new(
        device: &Device,
        elements: Option<&VertexElements>,
        reflection: &Reflection,
        offset: impl Fn(u32) -> u64,
    ) -> VertexLayout {
        let mut layout = VertexLayout::default();
        let mut slots = [None::<u32>; MAX_VERTEX_ATTRIBS];
        let mut defaults = None;
        for input in inputs(reflection) {
            let attribute = elements.and_then(|e| e.attributes.iter().find(|a| a.location == input.attribute));
            let format = attribute.map(|a| attribute_format(a, input.scalar));
            let usable = format.filter(|format| can_fetch(device, *format));
            if let Some(attribute) = attribute {
                let facts = elements.and_then(|e| e.bindings.iter().find(|b| b.binding == attribute.binding));
                let (stride, divisor) = facts.map_or((16, 0), |b| (b.stride, b.divisor));
                let unit = u64::from(component_bytes(attribute.component_type));
                let start = offset(attribute.binding) + u64::from(attribute.relative_offset);
                let aligned = start % unit == 0 && u64::from(stride) % unit == 0;
                let limits = &device.properties.limits;
                let far = attribute.relative_offset > limits.max_vertex_input_attribute_offset
                    || stride > limits.max_vertex_input_binding_stride;
                if usable.is_none() || !aligned || far || divisor > device.max_divisor {
                    let repeat = if divisor > device.max_divisor { divisor } else { 0 };
                    layout.convert(attribute, &input, stride, divisor, repeat);
                    continue;
                }
            }
            match (attribute, usable) {
                (Some(attribute), Some(format)) => {
                    let point = attribute.binding;
                    let Some(slot) = slots.get_mut(point as usize) else { continue };
                    let binding = *slot.get_or_insert_with(|| {
                        let facts = elements.and_then(|e| e.bindings.iter().find(|b| b.binding == point));
                        layout.bindings.push(LayoutBinding {
                            source: Source::Point(point),
                            stride: facts.map_or(16, |b| b.stride),
                            divisor: facts.map_or(0, |b| b.divisor),
                        });
                        layout.bindings.len() as u32 - 1
                    });
                    layout.attributes.push(LayoutAttribute {
                        location: input.location,
                        binding,
                        format,
                        offset: attribute.relative_offset,
                    });
                }
                _ => {
                    let binding = *defaults.get_or_insert_with(|| {
                        layout.bindings.push(LayoutBinding { source: Source::Defaults, stride: 0, divisor: 0 });
                        layout.bindings.len() as u32 - 1
                    });
                    let (format, half) = match input.scalar {
                        Scalar::Double => (vk::Format::R64G64_SFLOAT, if input.second { 16 } else { 0 }),
                        Scalar::Int => (vk::Format::R32G32B32A32_SINT, 0),
                        Scalar::Uint => (vk::Format::R32G32B32A32_UINT, 0),
                        _ => (vk::Format::R32G32B32A32_SFLOAT, 0),
                    };
                    layout.attributes.push(LayoutAttribute {
                        location: input.location,
                        binding,
                        format,
                        offset: input.attribute * DEFAULT_BYTES + half,
                    });
                }
            }
        }
        layout
    }

    /// Feeds an input with converted values.
    fn convert(&mut self, attribute: &VertexAttribute, input: &Input, stride: u32, divisor: u32, repeat: u32) {
        let (to, format, bytes) = match input.scalar {
            Scalar::Double => (Converted::Double, vk::Format::R64G64_SFLOAT, 32),
            Scalar::Int => (Converted::Signed, vk::Format::R32G32B32A32_SINT, 16),
            Scalar::Uint => (Converted::Unsigned, vk::Format::R32G32B32A32_UINT, 16),
            _ => (Converted::Float, vk::Format::R32G32B32A32_SFLOAT, 16),
        };
        self.bindings.push(LayoutBinding {
            source: Source::Converted(self.conversions.len() as u32),
            stride: if stride == 0 { 0 } else { bytes },
            divisor: if repeat > 0 { 1 } else { divisor },
        });
        self.conversions.push(Conversion {
            point: attribute.binding,
            stride,
            divisor,
            offset: attribute.relative_offset,
            repeat: if stride == 0 { 0 } else { repeat },
            component_type: attribute.component_type,
            components: attribute.components.clamp(1, 4),
            normalized: attribute.normalized != 0,
            bgra: attribute.bgra != 0,
            to,
        });
        self.attributes.push(LayoutAttribute {
            location: input.location,
            binding: self.bindings.len() as u32 - 1,
            format,
            offset: if input.second { 16 } else { 0 },
        });
    }

    /// Descriptions for a pipeline without dynamic vertex input.
    pub(crate) fn fixed(
        &self,
        bindings: &mut Vec<vk::VertexInputBindingDescription>,
        attributes: &mut Vec<vk::VertexInputAttributeDescription>,
        divisors: &mut Vec<vk::VertexInputBindingDivisorDescriptionEXT>,
    ) {
        for (index, binding) in self.bindings.iter().enumerate() {
            bindings.push(vk::VertexInputBindingDescription {
                binding: index as u32,
                stride: binding.stride,
                input_rate: rate(binding.divisor),
            });
            if binding.divisor > 1 {
                divisors.push(vk::VertexInputBindingDivisorDescriptionEXT {
                    binding: index as u32,
                    divisor: binding.divisor,
                });
            }
        }
        for attribute in &self.attributes {
            attributes.push(vk::VertexInputAttributeDescription {
                location: attribute.location,
                binding: attribute.binding,
                format: attribute.format,
                offset: attribute.offset,
            });
        }
    }

    /// Sets dynamic vertex input.
    pub(crate) fn set(&self, device: &Device, commands: vk::CommandBuffer) {
        let bindings: SmallVec<[_; 8]> = self
            .bindings
            .iter()
            .enumerate()
            .map(|(index, binding)| {
                vk::VertexInputBindingDescription2EXT::default()
                    .binding(index as u32)
                    .stride(binding.stride)
                    .input_rate(rate(binding.divisor))
                    .divisor(binding.divisor.clamp(1, device.max_divisor))
            })
            .collect();
        let attributes: SmallVec<[_; 8]> = self
            .attributes
            .iter()
            .map(|attribute| {
                vk::VertexInputAttributeDescription2EXT::default()
                    .location(attribute.location)
                    .binding(attribute.binding)
                    .format(attribute.format)
                    .offset(attribute.offset)
            })
            .collect();
        // SAFETY: the extension is enabled; the command buffer is being recorded.
        unsafe { device.fns.vertex_input.cmd_set_vertex_input(commands, &bindings, &attributes) };
    }
}

/// Bytes of a component, or of a packed word.
fn component_bytes(component_type: u32) -> u32 {
    match component_type {
        gl::BYTE | gl::UNSIGNED_BYTE => 1,
        gl::SHORT | gl::UNSIGNED_SHORT | gl::HALF_FLOAT => 2,
        gl::DOUBLE => 8,
        _ => 4,
    }
}

/// A half-precision float.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - 15),
    }
}

impl Conversion {
    /// Bytes of one element in the buffer.
    fn element_bytes(&self) -> usize {
        match self.component_type {
            gl::INT_2_10_10_10_REV | gl::UNSIGNED_INT_2_10_10_10_REV | gl::UNSIGNED_INT_10F_11F_11F_REV => 4,
            other => component_bytes(other) as usize * usize::from(self.components),
        }
    }

    /// Elements that lie whole in so many bytes from the binding's offset on.
    pub(crate) fn elements_in(&self, bytes: u64) -> u64 {
        let Some(room) = bytes.checked_sub(u64::from(self.offset) + self.element_bytes() as u64) else { return 0 };
        if self.stride == 0 {
            1
        } else {
            room / u64::from(self.stride) + 1
        }
    }

    /// Bytes of a converted element.
    pub(crate) fn out_bytes(&self) -> usize {
        if self.to == Converted::Double {
            32
        } else {
            16
        }
    }

    /// Converts elements `0..count` of a binding's bytes.
    pub(crate) fn run(&self, bytes: &[u8], count: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(count * self.out_bytes());
        for element in 0..count {
            let start = element * self.stride as usize + self.offset as usize;
            let source = bytes.get(start..start + self.element_bytes());
            let values = source.map_or([0.0, 0.0, 0.0, 1.0], |source| self.values(source));
            for value in values {
                match self.to {
                    Converted::Float => out.extend_from_slice(&(value as f32).to_le_bytes()),
                    Converted::Signed => out.extend_from_slice(&(value as i64 as i32).to_le_bytes()),
                    Converted::Unsigned => out.extend_from_slice(&(value as i64 as u32).to_le_bytes()),
                    Converted::Double => out.extend_from_slice(&value.to_le_bytes()),
                }
            }
        }
        out
    }

    /// Converted elements as instances see them: one for each instance of a draw.
    fn repeated(&self, values: &[u8], info: &DrawInfo) -> PipeResult<Vec<u8>> {
        let size = self.out_bytes();
        let elements = (values.len() / size) as u64;
        let first = u64::from(info.start_instance);
        let instances = if info.flags & draw_flags::INDIRECT == 0 {
            u64::from(info.instance_count)
        } else {
            // How many there are is only known to the device.
            elements.saturating_mul(u64::from(self.repeat)).min(MAX_INDIRECT_INSTANCES)
        };
        let mut out = Vec::new();
        let total = (first + instances).checked_mul(size as u64).and_then(|bytes| usize::try_from(bytes).ok());
        if total.is_none_or(|bytes| bytes > MAX_REPEATED_BYTES || out.try_reserve_exact(bytes).is_err()) {
            return Err(PipeError::OutOfMemory(format!("an attribute for {instances} instances")));
        }
        // Elements before the first instance are never read.
        out.resize(first as usize * size, 0);
        for instance in 0..instances {
            // What an instance beyond the buffer reads is up to robust access: here the last element.
            let element = (first + instance / u64::from(self.repeat.max(1))).min(elements.saturating_sub(1)) as usize;
            out.extend_from_slice(values.get(element * size..(element + 1) * size).unwrap_or(&[0; 32][..size.min(32)]));
        }
        Ok(out)
    }

    /// Components of an element; missing ones are 0, 0, 0, 1 (spec 10.2). All integers of 32 bits are exact in f64.
    fn values(&self, bytes: &[u8]) -> [f64; 4] {
        let mut out = [0.0, 0.0, 0.0, 1.0];
        let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes);
        let signed = |value: i64, bits: u32| {
            let largest = ((1i64 << (bits - 1)) - 1) as f64;
            if self.normalized {
                (value as f64 / largest).max(-1.0)
            } else {
                value as f64
            }
        };
        let unsigned = |value: u64, bits: u32| {
            if self.normalized {
                value as f64 / ((1u64 << bits) - 1) as f64
            } else {
                value as f64
            }
        };
        match self.component_type {
            gl::INT_2_10_10_10_REV | gl::UNSIGNED_INT_2_10_10_10_REV => {
                let w = word(0);
                for (index, (shift, bits)) in [(0, 10), (10, 10), (20, 10), (30, 2)].into_iter().enumerate() {
                    let field = w >> shift & ((1 << bits) - 1);
                    out[index] = if self.component_type == gl::INT_2_10_10_10_REV {
                        signed(i64::from((field << (32 - bits)) as i32 >> (32 - bits)), bits)
                    } else {
                        unsigned(u64::from(field), bits)
                    };
                }
            }
            gl::UNSIGNED_INT_10F_11F_11F_REV => {
                let w = word(0);
                // An 11-bit float is a half without sign and with 4 mantissa bits less; a 10-bit one with 5 less.
                out[0] = half(((w & 0x7ff) << 4) as u16);
                out[1] = half(((w >> 11 & 0x7ff) << 4) as u16);
                out[2] = half(((w >> 22 & 0x3ff) << 5) as u16);
            }
            kind => {
                let size = component_bytes(kind) as usize;
                for (index, out) in out.iter_mut().take(usize::from(self.components)).enumerate() {
                    let Some(b) = bytes.get(index * size..(index + 1) * size) else { continue };
                    *out = match (kind, b) {
                        (gl::BYTE, [a]) => signed(i64::from(*a as i8), 8),
                        (gl::UNSIGNED_BYTE, [a]) => unsigned(u64::from(*a), 8),
                        (gl::SHORT, [a, b]) => signed(i64::from(i16::from_le_bytes([*a, *b])), 16),
                        (gl::UNSIGNED_SHORT, [a, b]) => unsigned(u64::from(u16::from_le_bytes([*a, *b])), 16),
                        (gl::HALF_FLOAT, [a, b]) => half(u16::from_le_bytes([*a, *b])),
                        (gl::INT, _) => signed(i64::from(word(index * size) as i32), 32),
                        (gl::UNSIGNED_INT, _) => unsigned(u64::from(word(index * size)), 32),
                        (gl::FIXED, _) => f64::from(word(index * size) as i32) / 65536.0,
                        (gl::DOUBLE, b) => b.try_into().map_or(0.0, f64::from_le_bytes),
                        _ => f64::from(f32::from_bits(word(index * size))),
                    };
                }
            }
        }
        if self.bgra {
            out.swap(0, 2);
        }
        out
    }
}

impl MagmaContext {
    /// Converts what the device cannot fetch, for the vertices of a draw.
    pub(crate) fn convert_attributes(
        &mut self,
        info: &DrawInfo,
        ranges: &[DrawRange],
    ) -> PipeResult<SmallVec<[RingSlice; 1]>> {
        let mut slices = SmallVec::new();
        if self.layout.conversions.is_empty() {
            return Ok(slices);
        }
        let layout = self.layout.clone();
        for conversion in &layout.conversions {
            let slot = self.vertex_buffers.get(conversion.point as usize).cloned().unwrap_or_default();
            let (bytes, mut count) = match &slot.storage {
                Some(storage) if slot.bound.offset < storage.size => {
                    let room = storage.size - slot.bound.offset;
                    (room, conversion.elements_in(room))
                }
                _ => (0, 0),
            };
            if conversion.divisor > 0 {
                let last = u64::from(info.start_instance)
                    + u64::from(info.instance_count.saturating_sub(1)) / u64::from(conversion.divisor);
                count = count.min(last + 1);
            } else if info.index_size == 0 && info.flags & draw_flags::INDIRECT == 0 {
                let end = ranges.iter().map(|r| u64::from(r.start) + u64::from(r.count)).max().unwrap_or(0);
                count = count.min(end);
            }
            let needed = (count.saturating_sub(1) * u64::from(conversion.stride)
                + u64::from(conversion.offset)
                + conversion.element_bytes() as u64)
                .min(bytes);
            let mut source = vec![0; needed as usize];
            if let Some(storage) = &slot.storage {
                self.read_storage(storage, slot.bound.offset, &mut source)?;
                self.rec.keep(Object::Buffer(storage), true);
            }
            // An empty buffer still has one element, the default one.
            let mut values = conversion.run(&source, (count as usize).max(1));
            if conversion.repeat > 0 {
                values = conversion.repeated(&values, info)?;
            }
            slices.push(self.rec.ring_bytes(&values, 16)?);
        }
        Ok(slices)
    }
}

fn rate(divisor: u32) -> vk::VertexInputRate {
    if divisor == 0 {
        vk::VertexInputRate::VERTEX
    } else {
        vk::VertexInputRate::INSTANCE
    }
}

/// Whether the device fetches attributes of this format.
fn can_fetch(device: &Device, format: vk::Format) -> bool {
    usize::try_from(format.as_raw()).is_ok_and(|index| device.vertex_formats.get(index) == Some(&true))
}

/// Format of an attribute for a shader that reads `scalar`. An attribute whose class disagrees with the shader has
/// undefined values in GL; here its bits are read as what the shader wants, since Vulkan demands agreement.
pub(crate) fn attribute_format(attribute: &VertexAttribute, scalar: Scalar) -> vk::Format {
    use vk::Format as F;
    let components = usize::from(attribute.components.clamp(1, 4)) - 1;
    if attribute.class == attrib_class::LONG || scalar == Scalar::Double {
        return [F::R64_SFLOAT, F::R64G64_SFLOAT, F::R64G64B64_SFLOAT, F::R64G64B64A64_SFLOAT][components];
    }
    let integer = match scalar {
        Scalar::Int => Some(true),
        Scalar::Uint => Some(false),
        _ => None,
    };
    if let Some(signed) = integer {
        let pick = |s: [F; 4], u: [F; 4]| if signed { s[components] } else { u[components] };
        return match attribute.component_type {
            gl::BYTE | gl::UNSIGNED_BYTE => pick(
                [F::R8_SINT, F::R8G8_SINT, F::R8G8B8_SINT, F::R8G8B8A8_SINT],
                [F::R8_UINT, F::R8G8_UINT, F::R8G8B8_UINT, F::R8G8B8A8_UINT],
            ),
            gl::SHORT | gl::UNSIGNED_SHORT => pick(
                [F::R16_SINT, F::R16G16_SINT, F::R16G16B16_SINT, F::R16G16B16A16_SINT],
                [F::R16_UINT, F::R16G16_UINT, F::R16G16B16_UINT, F::R16G16B16A16_UINT],
            ),
            _ => pick(
                [F::R32_SINT, F::R32G32_SINT, F::R32G32B32_SINT, F::R32G32B32A32_SINT],
                [F::R32_UINT, F::R32G32_UINT, F::R32G32B32_UINT, F::R32G32B32A32_UINT],
            ),
        };
    }
    let normalized = attribute.normalized != 0;
    match (attribute.component_type, normalized) {
        (gl::FLOAT, _) => [F::R32_SFLOAT, F::R32G32_SFLOAT, F::R32G32B32_SFLOAT, F::R32G32B32A32_SFLOAT][components],
        (gl::HALF_FLOAT, _) => {
            [F::R16_SFLOAT, F::R16G16_SFLOAT, F::R16G16B16_SFLOAT, F::R16G16B16A16_SFLOAT][components]
        }
        (gl::UNSIGNED_BYTE, true) if attribute.bgra != 0 => F::B8G8R8A8_UNORM,
        (gl::UNSIGNED_BYTE, true) => [F::R8_UNORM, F::R8G8_UNORM, F::R8G8B8_UNORM, F::R8G8B8A8_UNORM][components],
        (gl::BYTE, true) => [F::R8_SNORM, F::R8G8_SNORM, F::R8G8B8_SNORM, F::R8G8B8A8_SNORM][components],
        (gl::UNSIGNED_SHORT, true) => {
            [F::R16_UNORM, F::R16G16_UNORM, F::R16G16B16_UNORM, F::R16G16B16A16_UNORM][components]
        }
        (gl::SHORT, true) => [F::R16_SNORM, F::R16G16_SNORM, F::R16G16B16_SNORM, F::R16G16B16A16_SNORM][components],
        (gl::UNSIGNED_BYTE, false) => {
            [F::R8_USCALED, F::R8G8_USCALED, F::R8G8B8_USCALED, F::R8G8B8A8_USCALED][components]
        }
        (gl::BYTE, false) => [F::R8_SSCALED, F::R8G8_SSCALED, F::R8G8B8_SSCALED, F::R8G8B8A8_SSCALED][components],
        (gl::UNSIGNED_SHORT, false) => {
            [F::R16_USCALED, F::R16G16_USCALED, F::R16G16B16_USCALED, F::R16G16B16A16_USCALED][components]
        }
        (gl::SHORT, false) => {
            [F::R16_SSCALED, F::R16G16_SSCALED, F::R16G16B16_SSCALED, F::R16G16B16A16_SSCALED][components]
        }
        (gl::UNSIGNED_INT_2_10_10_10_REV, true) if attribute.bgra != 0 => F::A2R10G10B10_UNORM_PACK32,
        (gl::UNSIGNED_INT_2_10_10_10_REV, true) => F::A2B10G10R10_UNORM_PACK32,
        (gl::UNSIGNED_INT_2_10_10_10_REV, false) => F::A2B10G10R10_USCALED_PACK32,
        (gl::INT_2_10_10_10_REV, true) if attribute.bgra != 0 => F::A2R10G10B10_SNORM_PACK32,
        (gl::INT_2_10_10_10_REV, true) => F::A2B10G10R10_SNORM_PACK32,
        (gl::INT_2_10_10_10_REV, false) => F::A2B10G10R10_SSCALED_PACK32,
        (gl::UNSIGNED_INT_10F_11F_11F_REV, _) => F::B10G11R11_UFLOAT_PACK32,
        // 32-bit integers, fixed point and doubles that become floats have no fetch format.
        _ => F::UNDEFINED,
    }
}
