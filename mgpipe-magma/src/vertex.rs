//! Vertex input: from vertex elements, buffers and current values to what a program reads.

use crate::device::Device;
use ash::vk;
use mgpipe_types::reflection::gl_type::{self, Scalar};
use mgpipe_types::reflection::Reflection;
use mgpipe_types::{attrib_class, gl, VertexAttribute, VertexBinding, MAX_VERTEX_ATTRIBS};
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
}

/// Bytes of one attribute in the block of current values.
pub(crate) const DEFAULT_BYTES: u32 = 32;

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
        let per_column = if columns == 0 { 1 } else { (spirv / columns).max(1) };
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
    pub(crate) fn new(device: &Device, elements: Option<&VertexElements>, reflection: &Reflection) -> VertexLayout {
        let mut layout = VertexLayout::default();
        let mut slots = [None::<u32>; MAX_VERTEX_ATTRIBS];
        let mut defaults = None;
        for input in inputs(reflection) {
            let attribute = elements.and_then(|e| e.attributes.iter().find(|a| a.location == input.attribute));
            let format = attribute.map(|a| attribute_format(a, input.scalar));
            let usable = format.filter(|format| can_fetch(device, *format));
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

fn rate(divisor: u32) -> vk::VertexInputRate {
    if divisor == 0 { vk::VertexInputRate::VERTEX } else { vk::VertexInputRate::INSTANCE }
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
        (gl::SHORT, false) => [F::R16_SSCALED, F::R16G16_SSCALED, F::R16G16B16_SSCALED, F::R16G16B16A16_SSCALED][components],
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
