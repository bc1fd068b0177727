//! Which optional extensions and features Magma uses, what a missing one costs, and what the device has.

use ash::vk;
use std::ffi::CStr;

/// An optional extension: its name and what its absence costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionalExtension {
    pub(crate) name: &'static CStr,
    pub(crate) cost: &'static str,
}

macro_rules! extensions {
    ($($field:ident = $name:literal: $cost:literal;)*) => {
        /// Optional extensions that are present and not masked by `MGL_MAGMA_DISABLE`, with the feature bit that makes
        /// them useful.
        #[derive(Clone, Copy, Default, Debug)]
        pub(crate) struct Extensions { $(pub(crate) $field: bool,)* }

        /// Every optional extension.
        pub(crate) const OPTIONAL: &[OptionalExtension] = &[$(OptionalExtension { name: $name, cost: $cost },)*];

        impl Extensions {
            /// Those that `has` knows.
            pub(crate) fn select(has: impl Fn(&CStr) -> bool) -> Extensions {
                Extensions { $($field: has($name),)* }
            }

            /// Names of those that are set.
            pub(crate) fn names(&self) -> Vec<&'static CStr> {
                let mut names = Vec::new();
                $(if self.$field { names.push($name); })*
                names
            }
        }
    };
}

extensions! {
    dynamic_rendering = c"VK_KHR_dynamic_rendering": "passes use render pass and framebuffer objects.";
    create_renderpass2 = c"VK_KHR_create_renderpass2": "no dynamic rendering on Vulkan 1.1, which needs it.";
    depth_stencil_resolve = c"VK_KHR_depth_stencil_resolve": "no dynamic rendering on Vulkan 1.1, which needs it.";
    extended_dynamic_state = c"VK_EXT_extended_dynamic_state": "depth, stencil, cull and topology changes make new pipelines.";
    extended_dynamic_state2 = c"VK_EXT_extended_dynamic_state2": "rasteriser discard, depth bias and restart changes make new pipelines.";
    extended_dynamic_state3 = c"VK_EXT_extended_dynamic_state3": "blending, write mask and depth clamp changes make new pipelines.";
    vertex_input_dynamic_state = c"VK_EXT_vertex_input_dynamic_state": "each vertex layout makes a new pipeline.";
    transform_feedback = c"VK_EXT_transform_feedback": "no transform feedback and no geometry streams.";
    provoking_vertex = c"VK_EXT_provoking_vertex": "indices are rotated for flat inputs; behind geometry shaders the first vertex provokes.";
    line_rasterization = c"VK_EXT_line_rasterization": "lines follow the rectangle rule; no smooth lines.";
    custom_border_color = c"VK_EXT_custom_border_color": "border colours are rounded to black, white or transparent.";
    border_color_swizzle = c"VK_EXT_border_color_swizzle": "border colours of textures with swizzles may come unswizzled.";
    depth_clip_enable = c"VK_EXT_depth_clip_enable": "nothing: Vulkan's own coupling of clamping and clipping is GL's.";
    depth_clip_control = c"VK_EXT_depth_clip_control": "the last vertex stage is patched to convert clip depth.";
    list_restart = c"VK_EXT_primitive_topology_list_restart": "primitive restart in lists rewrites indices.";
    index_type_uint8 = c"VK_EXT_index_type_uint8": "8-bit indices are rewritten to 16 bits.";
    multi_draw = c"VK_EXT_multi_draw": "a multi-draw is a loop of draws, or an indirect draw when the shader reads gl_DrawID.";
    robustness2 = c"VK_EXT_robustness2": "empty slots are filled with placeholder resources.";
    vertex_attribute_divisor = c"VK_EXT_vertex_attribute_divisor": "attributes with divisors above 1 are repeated on the host.";
    primitives_generated_query = c"VK_EXT_primitives_generated_query": "GL_PRIMITIVES_GENERATED counts what reaches clipping.";
    host_query_reset = c"VK_EXT_host_query_reset": "queries are reset in the command stream.";
    calibrated_timestamps = c"VK_EXT_calibrated_timestamps": "asking for the time now waits for all commands before it.";
    draw_indirect_count = c"VK_KHR_draw_indirect_count": "indirect draws with a count draw the maximum.";
    viewport_index_layer = c"VK_EXT_shader_viewport_index_layer": "only geometry shaders select layers and viewports.";
    mirror_clamp = c"VK_KHR_sampler_mirror_clamp_to_edge": "no GL_MIRROR_CLAMP_TO_EDGE.";
    non_seamless_cube = c"VK_EXT_non_seamless_cube_map": "cube maps are always seamless.";
    stencil_export = c"VK_EXT_shader_stencil_export": "scaled and resolving stencil blits draw each bit.";
    view_2d_of_3d = c"VK_EXT_image_2d_view_of_3d": "single slices of 3D images cannot be bound as images.";
    timeline_semaphore = c"VK_KHR_timeline_semaphore": "each submission signals a fence of its own.";
    uniform_standard_layout = c"VK_KHR_uniform_buffer_standard_layout": "uniform blocks with std430 layout are refused.";
    scalar_layout = c"VK_EXT_scalar_block_layout": "blocks with unusual member offsets are refused.";
    external_memory_host = c"VK_EXT_external_memory_host": "what a program writes through persistent mappings is copied to a backend that runs elsewhere.";
    driver_properties = c"VK_KHR_driver_properties": "the driver's name is not known.";
    demote = c"VK_EXT_shader_demote_to_helper_invocation": "discard may end derivatives early.";
}

/// Feature structures of the optional extensions: filled by a query, then handed to device creation.
#[derive(Default)]
pub(crate) struct FeatureChain {
    pub(crate) core: vk::PhysicalDeviceFeatures,
    pub(crate) draw_parameters: vk::PhysicalDeviceShaderDrawParametersFeatures<'static>,
    pub(crate) timeline: vk::PhysicalDeviceTimelineSemaphoreFeatures<'static>,
    pub(crate) dynamic_rendering: vk::PhysicalDeviceDynamicRenderingFeatures<'static>,
    pub(crate) dynamic_state: vk::PhysicalDeviceExtendedDynamicStateFeaturesEXT<'static>,
    pub(crate) dynamic_state2: vk::PhysicalDeviceExtendedDynamicState2FeaturesEXT<'static>,
    pub(crate) dynamic_state3: vk::PhysicalDeviceExtendedDynamicState3FeaturesEXT<'static>,
    pub(crate) vertex_input: vk::PhysicalDeviceVertexInputDynamicStateFeaturesEXT<'static>,
    pub(crate) transform_feedback: vk::PhysicalDeviceTransformFeedbackFeaturesEXT<'static>,
    pub(crate) provoking: vk::PhysicalDeviceProvokingVertexFeaturesEXT<'static>,
    pub(crate) lines: vk::PhysicalDeviceLineRasterizationFeaturesEXT<'static>,
    pub(crate) border: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    pub(crate) border_swizzle: vk::PhysicalDeviceBorderColorSwizzleFeaturesEXT<'static>,
    pub(crate) clip_enable: vk::PhysicalDeviceDepthClipEnableFeaturesEXT<'static>,
    pub(crate) clip_control: vk::PhysicalDeviceDepthClipControlFeaturesEXT<'static>,
    pub(crate) list_restart: vk::PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT<'static>,
    pub(crate) index8: vk::PhysicalDeviceIndexTypeUint8FeaturesEXT<'static>,
    pub(crate) multi_draw: vk::PhysicalDeviceMultiDrawFeaturesEXT<'static>,
    pub(crate) robustness2: vk::PhysicalDeviceRobustness2FeaturesEXT<'static>,
    pub(crate) divisor: vk::PhysicalDeviceVertexAttributeDivisorFeaturesEXT<'static>,
    pub(crate) generated: vk::PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT<'static>,
    pub(crate) host_reset: vk::PhysicalDeviceHostQueryResetFeatures<'static>,
    pub(crate) non_seamless: vk::PhysicalDeviceNonSeamlessCubeMapFeaturesEXT<'static>,
    pub(crate) view_2d_of_3d: vk::PhysicalDeviceImage2DViewOf3DFeaturesEXT<'static>,
    pub(crate) standard_layout: vk::PhysicalDeviceUniformBufferStandardLayoutFeatures<'static>,
    pub(crate) scalar_layout: vk::PhysicalDeviceScalarBlockLayoutFeatures<'static>,
    pub(crate) demote: vk::PhysicalDeviceShaderDemoteToHelperInvocationFeatures<'static>,
}

impl FeatureChain {
    /// Links the structures of the extensions that are present behind the core features.
    ///
    /// The links point into `self`, which the result's lifetime keeps in place.
    pub(crate) fn link<'a>(&'a mut self, ext: &Extensions) -> vk::PhysicalDeviceFeatures2<'a>
    where
        Self: 'a,
    {
        let mut head = vk::PhysicalDeviceFeatures2::default().features(self.core);
        macro_rules! chain {
            ($($when:expr => $field:ident,)*) => {$(
                if $when {
                    // A structure may still be linked from an earlier use.
                    self.$field.p_next = std::ptr::null_mut();
                    head = head.push_next(&mut self.$field);
                }
            )*};
        }
        chain! {
            true => draw_parameters,
            ext.timeline_semaphore => timeline,
            ext.dynamic_rendering => dynamic_rendering,
            ext.extended_dynamic_state => dynamic_state,
            ext.extended_dynamic_state2 => dynamic_state2,
            ext.extended_dynamic_state3 => dynamic_state3,
            ext.vertex_input_dynamic_state => vertex_input,
            ext.transform_feedback => transform_feedback,
            ext.provoking_vertex => provoking,
            ext.line_rasterization => lines,
            ext.custom_border_color => border,
            ext.border_color_swizzle => border_swizzle,
            ext.depth_clip_enable => clip_enable,
            ext.depth_clip_control => clip_control,
            ext.list_restart => list_restart,
            ext.index_type_uint8 => index8,
            ext.multi_draw => multi_draw,
            ext.robustness2 => robustness2,
            ext.vertex_attribute_divisor => divisor,
            ext.primitives_generated_query => generated,
            ext.host_query_reset => host_reset,
            ext.non_seamless_cube => non_seamless,
            ext.view_2d_of_3d => view_2d_of_3d,
            ext.uniform_standard_layout => standard_layout,
            ext.scalar_layout => scalar_layout,
            ext.demote => demote,
        }
        head
    }

    /// Drops extensions whose essential feature bit is not set, and switches off what Magma never uses.
    pub(crate) fn settle(&mut self, ext: &mut Extensions) {
        let on = |bit: vk::Bool32| bit == vk::TRUE;
        ext.timeline_semaphore &= on(self.timeline.timeline_semaphore);
        ext.dynamic_rendering &= on(self.dynamic_rendering.dynamic_rendering);
        ext.extended_dynamic_state &= on(self.dynamic_state.extended_dynamic_state);
        ext.extended_dynamic_state2 &= on(self.dynamic_state2.extended_dynamic_state2);
        ext.vertex_input_dynamic_state &= on(self.vertex_input.vertex_input_dynamic_state);
        ext.transform_feedback &= on(self.transform_feedback.transform_feedback);
        ext.provoking_vertex &= on(self.provoking.provoking_vertex_last);
        ext.custom_border_color &=
            on(self.border.custom_border_colors) && on(self.border.custom_border_color_without_format);
        ext.border_color_swizzle &= ext.custom_border_color && on(self.border_swizzle.border_color_swizzle);
        ext.depth_clip_enable &= on(self.clip_enable.depth_clip_enable);
        ext.depth_clip_control &= on(self.clip_control.depth_clip_control);
        ext.list_restart &= on(self.list_restart.primitive_topology_list_restart);
        ext.index_type_uint8 &= on(self.index8.index_type_uint8);
        ext.multi_draw &= on(self.multi_draw.multi_draw);
        ext.robustness2 &= on(self.robustness2.null_descriptor);
        ext.vertex_attribute_divisor &= on(self.divisor.vertex_attribute_instance_rate_divisor);
        ext.primitives_generated_query &= on(self.generated.primitives_generated_query);
        ext.host_query_reset &= on(self.host_reset.host_query_reset);
        ext.non_seamless_cube &= on(self.non_seamless.non_seamless_cube_map);
        ext.view_2d_of_3d &= on(self.view_2d_of_3d.image2_d_view_of3_d);
        ext.uniform_standard_layout &= on(self.standard_layout.uniform_buffer_standard_layout);
        ext.scalar_layout &= on(self.scalar_layout.scalar_block_layout);
        ext.demote &= on(self.demote.shader_demote_to_helper_invocation);
        // Sparse resources cost drivers memory and Magma has none. Robust access stays on: GL promises that a
        // shader's out-of-range access ends no application, and without robustness2 it is the only guard.
        self.core.sparse_binding = vk::FALSE;
        self.core.sparse_residency_buffer = vk::FALSE;
        self.core.sparse_residency_image2_d = vk::FALSE;
        self.core.sparse_residency_image3_d = vk::FALSE;
        self.core.sparse_residency2_samples = vk::FALSE;
        self.core.sparse_residency4_samples = vk::FALSE;
        self.core.sparse_residency8_samples = vk::FALSE;
        self.core.sparse_residency16_samples = vk::FALSE;
        self.core.sparse_residency_aliased = vk::FALSE;
        self.core.shader_resource_residency = vk::FALSE;
        self.core.inherited_queries = vk::FALSE;
    }
}

/// What OpenGL 3.3 has that a device cannot do and for which Magma has no other way, as a list; `None` when nothing is missing.
pub(crate) fn lacking(core: &vk::PhysicalDeviceFeatures, ext: &Extensions) -> Option<String> {
    let parts = [
        (core.geometry_shader == vk::TRUE, "geometryShader"),
        (core.shader_clip_distance == vk::TRUE, "shaderClipDistance"),
        (core.depth_clamp == vk::TRUE, "depthClamp"),
        (core.dual_src_blend == vk::TRUE, "dualSrcBlend"),
        (core.independent_blend == vk::TRUE, "independentBlend"),
        (core.logic_op == vk::TRUE, "logicOp"),
        (core.fill_mode_non_solid == vk::TRUE, "fillModeNonSolid"),
        (core.occlusion_query_precise == vk::TRUE, "occlusionQueryPrecise"),
        (core.full_draw_index_uint32 == vk::TRUE, "fullDrawIndexUint32"),
        (ext.transform_feedback, "VK_EXT_transform_feedback"),
        (ext.custom_border_color, "VK_EXT_custom_border_color"),
        (ext.non_seamless_cube, "VK_EXT_non_seamless_cube_map"),
    ];
    let missing: Vec<_> = parts.into_iter().filter(|(has, _)| !has).map(|(_, name)| name).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_anything_says_all_that_it_lacks() {
        let none = lacking(&vk::PhysicalDeviceFeatures::default(), &Extensions::default()).expect("a list");
        assert!(none.contains("geometryShader, ") && none.contains("VK_EXT_transform_feedback"));
        let core = vk::PhysicalDeviceFeatures {
            geometry_shader: 1,
            shader_clip_distance: 1,
            depth_clamp: 1,
            dual_src_blend: 1,
            independent_blend: 1,
            logic_op: 1,
            fill_mode_non_solid: 1,
            occlusion_query_precise: 1,
            full_draw_index_uint32: 1,
            ..Default::default()
        };
        let mut all = Extensions::select(|_| true);
        assert_eq!(lacking(&core, &all), None);
        all.transform_feedback = false;
        assert_eq!(lacking(&core, &all).as_deref(), Some("VK_EXT_transform_feedback"));
    }
}
