//! GL enums to Vulkan enums: pure functions. An enum that is none of the listed ones maps to GL's initial value, because
//! the frontend has validated it and a backend never takes the application down.

use ash::vk;
use mgpipe_types::{gl, swizzle};

/// Depth, stencil and sampler comparison function.
pub(crate) fn map_compare(func: u32) -> vk::CompareOp {
    match func {
        gl::NEVER => vk::CompareOp::NEVER,
        gl::LESS => vk::CompareOp::LESS,
        gl::EQUAL => vk::CompareOp::EQUAL,
        gl::LEQUAL => vk::CompareOp::LESS_OR_EQUAL,
        gl::GREATER => vk::CompareOp::GREATER,
        gl::NOTEQUAL => vk::CompareOp::NOT_EQUAL,
        gl::GEQUAL => vk::CompareOp::GREATER_OR_EQUAL,
        _ => vk::CompareOp::ALWAYS,
    }
}

/// Stencil operation.
pub(crate) fn map_stencil_op(op: u32) -> vk::StencilOp {
    match op {
        gl::ZERO => vk::StencilOp::ZERO,
        gl::REPLACE => vk::StencilOp::REPLACE,
        gl::INCR => vk::StencilOp::INCREMENT_AND_CLAMP,
        gl::DECR => vk::StencilOp::DECREMENT_AND_CLAMP,
        gl::INVERT => vk::StencilOp::INVERT,
        gl::INCR_WRAP => vk::StencilOp::INCREMENT_AND_WRAP,
        gl::DECR_WRAP => vk::StencilOp::DECREMENT_AND_WRAP,
        _ => vk::StencilOp::KEEP,
    }
}

/// Blend factor. `alpha_is_one`: the destination's alpha reads as one, though its storage may hold something else.
pub(crate) fn map_blend_factor(factor: u32, alpha_is_one: bool) -> vk::BlendFactor {
    match factor {
        gl::ZERO => vk::BlendFactor::ZERO,
        gl::SRC_COLOR => vk::BlendFactor::SRC_COLOR,
        gl::ONE_MINUS_SRC_COLOR => vk::BlendFactor::ONE_MINUS_SRC_COLOR,
        gl::DST_COLOR => vk::BlendFactor::DST_COLOR,
        gl::ONE_MINUS_DST_COLOR => vk::BlendFactor::ONE_MINUS_DST_COLOR,
        gl::SRC_ALPHA => vk::BlendFactor::SRC_ALPHA,
        gl::ONE_MINUS_SRC_ALPHA => vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        gl::DST_ALPHA if alpha_is_one => vk::BlendFactor::ONE,
        gl::DST_ALPHA => vk::BlendFactor::DST_ALPHA,
        gl::ONE_MINUS_DST_ALPHA if alpha_is_one => vk::BlendFactor::ZERO,
        gl::ONE_MINUS_DST_ALPHA => vk::BlendFactor::ONE_MINUS_DST_ALPHA,
        // min(As, 1 - Ad) is 0 for an alpha of one.
        gl::SRC_ALPHA_SATURATE if alpha_is_one => vk::BlendFactor::ZERO,
        gl::SRC_ALPHA_SATURATE => vk::BlendFactor::SRC_ALPHA_SATURATE,
        gl::CONSTANT_COLOR => vk::BlendFactor::CONSTANT_COLOR,
        gl::ONE_MINUS_CONSTANT_COLOR => vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR,
        gl::CONSTANT_ALPHA => vk::BlendFactor::CONSTANT_ALPHA,
        gl::ONE_MINUS_CONSTANT_ALPHA => vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
        gl::SRC1_COLOR => vk::BlendFactor::SRC1_COLOR,
        gl::ONE_MINUS_SRC1_COLOR => vk::BlendFactor::ONE_MINUS_SRC1_COLOR,
        gl::SRC1_ALPHA => vk::BlendFactor::SRC1_ALPHA,
        gl::ONE_MINUS_SRC1_ALPHA => vk::BlendFactor::ONE_MINUS_SRC1_ALPHA,
        _ => vk::BlendFactor::ONE,
    }
}

/// Whether a factor reads the second fragment output.
pub(crate) fn is_dual_source(factor: u32) -> bool {
    matches!(factor, gl::SRC1_COLOR | gl::ONE_MINUS_SRC1_COLOR | gl::SRC1_ALPHA | gl::ONE_MINUS_SRC1_ALPHA)
}

/// Blend equation.
pub(crate) fn map_blend_equation(equation: u32) -> vk::BlendOp {
    match equation {
        gl::FUNC_SUBTRACT => vk::BlendOp::SUBTRACT,
        gl::FUNC_REVERSE_SUBTRACT => vk::BlendOp::REVERSE_SUBTRACT,
        gl::MIN => vk::BlendOp::MIN,
        gl::MAX => vk::BlendOp::MAX,
        _ => vk::BlendOp::ADD,
    }
}

/// Logic operation.
pub(crate) fn map_logic_op(op: u32) -> vk::LogicOp {
    match op {
        gl::CLEAR => vk::LogicOp::CLEAR,
        gl::AND => vk::LogicOp::AND,
        gl::AND_REVERSE => vk::LogicOp::AND_REVERSE,
        gl::AND_INVERTED => vk::LogicOp::AND_INVERTED,
        gl::NOOP => vk::LogicOp::NO_OP,
        gl::XOR => vk::LogicOp::XOR,
        gl::OR => vk::LogicOp::OR,
        gl::NOR => vk::LogicOp::NOR,
        gl::EQUIV => vk::LogicOp::EQUIVALENT,
        gl::INVERT => vk::LogicOp::INVERT,
        gl::OR_REVERSE => vk::LogicOp::OR_REVERSE,
        gl::COPY_INVERTED => vk::LogicOp::COPY_INVERTED,
        gl::OR_INVERTED => vk::LogicOp::OR_INVERTED,
        gl::NAND => vk::LogicOp::NAND,
        gl::SET => vk::LogicOp::SET,
        _ => vk::LogicOp::COPY,
    }
}

/// Cull mode of an enabled `GL_CULL_FACE`.
pub(crate) fn map_cull(mode: u32) -> vk::CullModeFlags {
    match mode {
        gl::FRONT => vk::CullModeFlags::FRONT,
        gl::FRONT_AND_BACK => vk::CullModeFlags::FRONT_AND_BACK,
        _ => vk::CullModeFlags::BACK,
    }
}

/// Winding of front faces.
///
/// Both APIs give the same numbers for x and y of a vertex in the framebuffer, because GL's clip y of -1 lands in row 0
/// here. The formulas of the signed area differ by their sign (GL 4.6 section 14.6.1: a sum; Vulkan "Basic Polygon
/// Rasterization": minus the sum), so counter-clockwise in GL is clockwise in Vulkan. With an upper-left clip origin the
/// viewport mirrors y, and GL reverses the sign of the area, so the windings then agree.
pub(crate) fn map_front_face(front_face: u32, clip_origin: u32) -> vk::FrontFace {
    if (front_face == gl::CW) == (clip_origin == gl::UPPER_LEFT) {
        vk::FrontFace::CLOCKWISE
    } else {
        vk::FrontFace::COUNTER_CLOCKWISE
    }
}

/// Polygon mode.
pub(crate) fn map_polygon_mode(mode: u32) -> vk::PolygonMode {
    match mode {
        gl::LINE => vk::PolygonMode::LINE,
        gl::POINT => vk::PolygonMode::POINT,
        _ => vk::PolygonMode::FILL,
    }
}

/// Topology of a primitive mode. Line loops have none: their indices are rewritten to a line strip.
pub(crate) fn map_topology(mode: u32) -> vk::PrimitiveTopology {
    match mode {
        gl::POINTS => vk::PrimitiveTopology::POINT_LIST,
        gl::LINES => vk::PrimitiveTopology::LINE_LIST,
        gl::LINE_LOOP | gl::LINE_STRIP => vk::PrimitiveTopology::LINE_STRIP,
        gl::TRIANGLE_STRIP => vk::PrimitiveTopology::TRIANGLE_STRIP,
        gl::TRIANGLE_FAN => vk::PrimitiveTopology::TRIANGLE_FAN,
        gl::LINES_ADJACENCY => vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY,
        gl::LINE_STRIP_ADJACENCY => vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY,
        gl::TRIANGLES_ADJACENCY => vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY,
        gl::TRIANGLE_STRIP_ADJACENCY => vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY,
        gl::PATCHES => vk::PrimitiveTopology::PATCH_LIST,
        _ => vk::PrimitiveTopology::TRIANGLE_LIST,
    }
}

/// Topology class: what a pipeline with a dynamic topology is still made for (point, line, triangle or patch list).
pub(crate) fn topology_class(topology: vk::PrimitiveTopology) -> vk::PrimitiveTopology {
    match topology {
        vk::PrimitiveTopology::POINT_LIST => vk::PrimitiveTopology::POINT_LIST,
        vk::PrimitiveTopology::LINE_LIST
        | vk::PrimitiveTopology::LINE_STRIP
        | vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY
        | vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY => vk::PrimitiveTopology::LINE_LIST,
        vk::PrimitiveTopology::PATCH_LIST => vk::PrimitiveTopology::PATCH_LIST,
        _ => vk::PrimitiveTopology::TRIANGLE_LIST,
    }
}

/// Whether primitive restart is allowed with the topology without an extension.
pub(crate) fn is_strip(topology: vk::PrimitiveTopology) -> bool {
    matches!(
        topology,
        vk::PrimitiveTopology::LINE_STRIP
            | vk::PrimitiveTopology::TRIANGLE_STRIP
            | vk::PrimitiveTopology::TRIANGLE_FAN
            | vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY
            | vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY
    )
}

/// Wrap mode of a sampler.
pub(crate) fn map_wrap(wrap: u32) -> vk::SamplerAddressMode {
    match wrap {
        gl::CLAMP_TO_EDGE => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        gl::CLAMP_TO_BORDER => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        gl::MIRRORED_REPEAT => vk::SamplerAddressMode::MIRRORED_REPEAT,
        gl::MIRROR_CLAMP_TO_EDGE => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
        _ => vk::SamplerAddressMode::REPEAT,
    }
}

/// Sample count: the smallest supported one that is not below the request.
pub(crate) fn map_samples(samples: u32, supported: vk::SampleCountFlags) -> vk::SampleCountFlags {
    if samples <= 1 {
        return vk::SampleCountFlags::TYPE_1;
    }
    let mut count = samples.next_power_of_two();
    while count <= 64 {
        let flag = vk::SampleCountFlags::from_raw(count);
        if supported.contains(flag) {
            return flag;
        }
        count *= 2;
    }
    let highest = supported.as_raw().checked_ilog2().unwrap_or(0);
    vk::SampleCountFlags::from_raw(1 << highest)
}

/// Vulkan's form of a swizzle.
pub(crate) fn map_swizzle(channels: [u8; 4]) -> vk::ComponentMapping {
    if channels == swizzle::IDENTITY {
        return vk::ComponentMapping::default();
    }
    let [r, g, b, a] = channels.map(|channel| match channel {
        swizzle::RED => vk::ComponentSwizzle::R,
        swizzle::GREEN => vk::ComponentSwizzle::G,
        swizzle::BLUE => vk::ComponentSwizzle::B,
        swizzle::ALPHA => vk::ComponentSwizzle::A,
        swizzle::ZERO => vk::ComponentSwizzle::ZERO,
        _ => vk::ComponentSwizzle::ONE,
    });
    vk::ComponentMapping { r, g, b, a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windings_differ_from_gl_for_a_lower_left_origin_only() {
        assert_eq!(map_front_face(gl::CCW, gl::LOWER_LEFT), vk::FrontFace::CLOCKWISE);
        assert_eq!(map_front_face(gl::CW, gl::LOWER_LEFT), vk::FrontFace::COUNTER_CLOCKWISE);
        assert_eq!(map_front_face(gl::CCW, gl::UPPER_LEFT), vk::FrontFace::COUNTER_CLOCKWISE);
        assert_eq!(map_front_face(gl::CW, gl::UPPER_LEFT), vk::FrontFace::CLOCKWISE);
    }

    #[test]
    fn sample_counts_round_up_to_what_is_there() {
        let supported = vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4;
        assert_eq!(map_samples(0, supported), vk::SampleCountFlags::TYPE_1);
        assert_eq!(map_samples(2, supported), vk::SampleCountFlags::TYPE_4);
        assert_eq!(map_samples(3, supported), vk::SampleCountFlags::TYPE_4);
        assert_eq!(map_samples(16, supported), vk::SampleCountFlags::TYPE_4);
        assert_eq!(map_samples(8, vk::SampleCountFlags::TYPE_1), vk::SampleCountFlags::TYPE_1);
    }
}
