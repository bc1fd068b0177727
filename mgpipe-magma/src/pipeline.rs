//! Graphics and compute pipelines: what of the render state is part of them, their keys and their creation.

use crate::blending::{self, Blends, FixedBlend};
use crate::conv;
use crate::device::Device;
use crate::error::map_create;
use crate::pass_objects::PassKey;
use crate::render_pass::PassFacts;
use crate::shader::{map_stage, Program, Variant};
use crate::vertex::VertexLayout;
use ash::vk;
use mgpipe_types::reflection::Stage;
use mgpipe_types::render_state::RenderState;
use mgpipe_types::{gl, Format, PipeResult};
use std::sync::Arc;

/// Everything that tells two pipelines of a program apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PipelineKey {
    pub(crate) facts: PassFacts,
    pub(crate) fixed: FixedState,
    pub(crate) topology: vk::PrimitiveTopology,
    pub(crate) variant: Variant,
    /// Only when vertex input is not dynamic.
    pub(crate) vertex: Option<Arc<VertexLayout>>,
}

/// The part of the render state that is baked into a pipeline on this device. What is dynamic holds constants, so that it
/// never tells two keys apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct FixedState {
    blend: Blends,
    logic_op: Option<vk::LogicOp>,
    polygon_mode: vk::PolygonMode,
    depth_clamp: bool,
    zero_to_one: bool,
    alpha_to_coverage: bool,
    alpha_to_one: bool,
    sample_mask: u32,
    /// Bits of the minimum sample shading fraction; 0 when it is off.
    sample_shading: u32,
    provoking_last: bool,
    smooth_lines: bool,
    patch_points: u32,
    upper_left: bool,
    // Dynamic with extended dynamic state.
    cull: vk::CullModeFlags,
    front_face: vk::FrontFace,
    depth_test: bool,
    depth_write: bool,
    depth_func: vk::CompareOp,
    stencil_test: bool,
    stencil: [(vk::StencilOp, vk::StencilOp, vk::StencilOp, vk::CompareOp); 2],
    viewports: u32,
    // Dynamic with extended dynamic state 2.
    discard: bool,
    depth_bias: bool,
    restart: bool,
}

/// State of the moment that a key needs beside the render state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) topology: vk::PrimitiveTopology,
    pub(crate) restart: bool,
    pub(crate) patch_points: u32,
    pub(crate) viewports: u32,
    /// Discarded primitives are to reach clipping, where a query counts them: an empty scissor discards them instead.
    pub(crate) count_discarded: bool,
}

/// Whether polygons of this state and topology are offset.
pub(crate) fn depth_bias_enabled(state: &RenderState, topology: vk::PrimitiveTopology) -> bool {
    if conv::topology_class(topology) != vk::PrimitiveTopology::TRIANGLE_LIST
        && topology != vk::PrimitiveTopology::PATCH_LIST
    {
        return false;
    }
    match state.polygon_mode_front {
        gl::LINE => state.polygon_offset_line != 0,
        gl::POINT => state.polygon_offset_point != 0,
        _ => state.polygon_offset_fill != 0,
    }
}

/// Whether depths are clamped instead of clipped.
pub(crate) fn depth_clamp_enabled(device: &Device, state: &RenderState) -> bool {
    device.features.core.depth_clamp == vk::TRUE && state.depth_clamp != 0
}

/// Coverage mask that `GL_SAMPLE_MASK` and `GL_SAMPLE_COVERAGE` leave for a number of samples.
fn sample_mask(state: &RenderState, samples: u32) -> u32 {
    if state.multisample == 0 || samples <= 1 {
        return !0;
    }
    let mut mask = !0;
    if state.sample_mask != 0 {
        mask &= state.sample_mask_value;
    }
    if state.sample_coverage != 0 {
        let covered = (state.sample_coverage_value * samples as f32 + 0.5) as u32;
        let mut bits = if covered >= 32 { !0 } else { (1u32 << covered) - 1 };
        if state.sample_coverage_invert != 0 {
            bits = !bits;
        }
        mask &= bits;
    }
    // Bits beyond the samples must not tell keys apart.
    if samples >= 32 {
        mask
    } else {
        mask & ((1 << samples) - 1)
    }
}

impl FixedState {
    /// Distils the render state for attachments and topology.
    pub(crate) fn new(device: &Device, state: &RenderState, facts: &PassFacts, moment: &Moment) -> FixedState {
        let core = &device.features.core;
        let mut fixed = FixedState {
            polygon_mode: vk::PolygonMode::FILL,
            provoking_last: device.ext.provoking_vertex && state.provoking_vertex != gl::FIRST_VERTEX_CONVENTION,
            depth_clamp: !device.features.dynamic_depth_clamp && depth_clamp_enabled(device, state),
            zero_to_one: state.clip_depth_mode == gl::ZERO_TO_ONE,
            sample_mask: sample_mask(state, facts.samples),
            upper_left: state.clip_origin == gl::UPPER_LEFT,
            ..FixedState::default()
        };
        if core.fill_mode_non_solid == vk::TRUE {
            fixed.polygon_mode = conv::map_polygon_mode(state.polygon_mode_front);
        }
        if state.color_logic_op != 0 && core.logic_op == vk::TRUE {
            // Logic operations do not apply to float attachments, and sRGB ones behave likewise (spec 17.3.9).
            fixed.logic_op = Some(conv::map_logic_op(state.logic_op));
        }
        if !device.features.dynamic_blend {
            fixed.blend = blending::resolve(device, state, facts);
        }
        if state.multisample != 0 && facts.samples > 1 {
            fixed.alpha_to_coverage = state.sample_alpha_to_coverage != 0;
            fixed.alpha_to_one = state.sample_alpha_to_one != 0 && core.alpha_to_one == vk::TRUE;
            if state.sample_shading != 0 && core.sample_rate_shading == vk::TRUE {
                fixed.sample_shading = state.min_sample_shading.clamp(0.0, 1.0).max(f32::MIN_POSITIVE).to_bits();
            }
        }
        let lines = conv::topology_class(moment.topology) == vk::PrimitiveTopology::LINE_LIST
            || fixed.polygon_mode == vk::PolygonMode::LINE;
        // Samples make lines smooth, and GL_LINE_SMOOTH changes nothing there (GL 3.3 core, section 3.5.4).
        let sampled = state.multisample != 0 && facts.samples > 1;
        fixed.smooth_lines = lines && !sampled && state.line_smooth != 0 && device.features.smooth_lines;
        if moment.topology == vk::PrimitiveTopology::PATCH_LIST && !device.features.patch_points_dynamic {
            fixed.patch_points = moment.patch_points;
        }
        if !device.ext.extended_dynamic_state {
            fixed.cull =
                if state.cull_face != 0 { conv::map_cull(state.cull_face_mode) } else { vk::CullModeFlags::NONE };
            fixed.front_face = conv::map_front_face(state.front_face, state.clip_origin);
            let depth = facts.depth != Format::NONE;
            fixed.depth_test = depth && state.depth_test != 0;
            fixed.depth_write = fixed.depth_test && state.depth_mask != 0;
            if fixed.depth_test {
                fixed.depth_func = conv::map_compare(state.depth_func);
            }
            fixed.stencil_test = facts.stencil != Format::NONE && state.stencil_test != 0;
            if fixed.stencil_test {
                for (out, face) in fixed.stencil.iter_mut().zip(&state.stencil) {
                    *out = (
                        conv::map_stencil_op(face.fail_op),
                        conv::map_stencil_op(face.pass_op),
                        conv::map_stencil_op(face.depth_fail_op),
                        conv::map_compare(face.func),
                    );
                }
            }
            fixed.viewports = moment.viewports;
        }
        if !device.ext.extended_dynamic_state2 {
            fixed.discard = state.rasterizer_discard != 0 && !moment.count_discarded;
            fixed.depth_bias = depth_bias_enabled(state, moment.topology);
            fixed.restart = moment.restart;
        }
        fixed
    }
}

/// States that this device sets in the command buffer.
fn dynamic_states(device: &Device, patches: bool) -> Vec<vk::DynamicState> {
    use vk::DynamicState as D;
    let mut states = vec![
        D::LINE_WIDTH,
        D::DEPTH_BIAS,
        D::BLEND_CONSTANTS,
        D::STENCIL_COMPARE_MASK,
        D::STENCIL_WRITE_MASK,
        D::STENCIL_REFERENCE,
    ];
    if device.ext.extended_dynamic_state {
        states.extend([
            D::VIEWPORT_WITH_COUNT_EXT,
            D::SCISSOR_WITH_COUNT_EXT,
            D::CULL_MODE_EXT,
            D::FRONT_FACE_EXT,
            D::PRIMITIVE_TOPOLOGY_EXT,
            D::DEPTH_TEST_ENABLE_EXT,
            D::DEPTH_WRITE_ENABLE_EXT,
            D::DEPTH_COMPARE_OP_EXT,
            D::STENCIL_TEST_ENABLE_EXT,
            D::STENCIL_OP_EXT,
        ]);
    } else {
        states.extend([D::VIEWPORT, D::SCISSOR]);
    }
    if device.ext.extended_dynamic_state2 {
        states.extend([D::RASTERIZER_DISCARD_ENABLE_EXT, D::DEPTH_BIAS_ENABLE_EXT, D::PRIMITIVE_RESTART_ENABLE_EXT]);
        if device.features.patch_points_dynamic && patches {
            states.push(D::PATCH_CONTROL_POINTS_EXT);
        }
    }
    if device.features.dynamic_blend {
        states.extend([D::COLOR_BLEND_ENABLE_EXT, D::COLOR_BLEND_EQUATION_EXT, D::COLOR_WRITE_MASK_EXT]);
    }
    if device.features.dynamic_depth_clamp {
        states.push(D::DEPTH_CLAMP_ENABLE_EXT);
        if device.ext.depth_clip_enable {
            states.push(D::DEPTH_CLIP_ENABLE_EXT);
        }
    }
    if device.ext.vertex_input_dynamic_state {
        states.push(D::VERTEX_INPUT_EXT);
    }
    states
}

/// The pipeline of a key, from the program's memo or new.
pub(crate) fn graphics(device: &Device, program: &Program, key: PipelineKey) -> PipeResult<vk::Pipeline> {
    let mut pipelines = program.pipelines.lock();
    if let Some(pipeline) = pipelines.get(&key) {
        return Ok(*pipeline);
    }
    let pipeline = create(device, program, &key)?;
    pipelines.insert(key, pipeline);
    Ok(pipeline)
}

fn create(device: &Device, program: &Program, key: &PipelineKey) -> PipeResult<vk::Pipeline> {
    let fixed = &key.fixed;
    let facts = &key.facts;
    let mut stages = Vec::new();
    for stage in program.stages().filter(|stage| *stage != Stage::Compute) {
        stages.push(
            vk::PipelineShaderStageCreateInfo::default()
                .stage(map_stage(stage))
                .module(program.module(stage, key.variant)?)
                .name(c"main"),
        );
    }
    let mut divisors = vk::PipelineVertexInputDivisorStateCreateInfoEXT::default();
    let (mut bindings, mut attributes, mut divisor_list) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(layout) = &key.vertex {
        layout.fixed(&mut bindings, &mut attributes, &mut divisor_list);
    }
    let mut vertex = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    if !divisor_list.is_empty() && device.ext.vertex_attribute_divisor {
        divisors = divisors.vertex_binding_divisors(&divisor_list);
        vertex = vertex.push_next(&mut divisors);
    }
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(key.topology)
        .primitive_restart_enable(fixed.restart);
    let mut domain = vk::PipelineTessellationDomainOriginStateCreateInfo::default()
        // GL's tessellation coordinates have their origin at the lower left (spec 11.2.2).
        .domain_origin(vk::TessellationDomainOrigin::LOWER_LEFT);
    let tessellation = vk::PipelineTessellationStateCreateInfo::default()
        .patch_control_points(fixed.patch_points.max(1))
        .push_next(&mut domain);
    let mut clip_control =
        vk::PipelineViewportDepthClipControlCreateInfoEXT::default().negative_one_to_one(!fixed.zero_to_one);
    let mut viewport = vk::PipelineViewportStateCreateInfo::default();
    if !device.ext.extended_dynamic_state {
        viewport = viewport.viewport_count(fixed.viewports.max(1)).scissor_count(fixed.viewports.max(1));
    }
    if device.ext.depth_clip_control {
        viewport = viewport.push_next(&mut clip_control);
    }
    let mut clip =
        vk::PipelineRasterizationDepthClipStateCreateInfoEXT::default().depth_clip_enable(!fixed.depth_clamp);
    let mut provoking = vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT::default()
        .provoking_vertex_mode(vk::ProvokingVertexModeEXT::LAST_VERTEX);
    let line_mode = if fixed.smooth_lines {
        vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH
    } else if facts.samples <= 1 && device.features.bresenham_lines {
        // Aliased lines of GL follow the diamond-exit rule (spec 14.5.1).
        vk::LineRasterizationModeEXT::BRESENHAM
    } else if device.features.rectangular_lines {
        vk::LineRasterizationModeEXT::RECTANGULAR
    } else {
        vk::LineRasterizationModeEXT::DEFAULT
    };
    let mut lines = vk::PipelineRasterizationLineStateCreateInfoEXT::default().line_rasterization_mode(line_mode);
    let mut raster = vk::PipelineRasterizationStateCreateInfo::default()
        .depth_clamp_enable(fixed.depth_clamp)
        .rasterizer_discard_enable(fixed.discard)
        .polygon_mode(fixed.polygon_mode)
        .cull_mode(fixed.cull)
        .front_face(fixed.front_face)
        .depth_bias_enable(fixed.depth_bias)
        .line_width(1.0);
    if device.ext.depth_clip_enable {
        raster = raster.push_next(&mut clip);
    }
    if fixed.provoking_last {
        raster = raster.push_next(&mut provoking);
    }
    let draws_lines = matches!(
        conv::topology_class(key.topology),
        vk::PrimitiveTopology::LINE_LIST | vk::PrimitiveTopology::PATCH_LIST
    ) || fixed.polygon_mode == vk::PolygonMode::LINE
        || program.has(Stage::Geometry);
    if device.ext.line_rasterization && draws_lines {
        raster = raster.push_next(&mut lines);
    }
    let mask = [fixed.sample_mask, !0];
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::from_raw(facts.samples.max(1)))
        .sample_shading_enable(fixed.sample_shading != 0)
        .min_sample_shading(f32::from_bits(fixed.sample_shading))
        .sample_mask(&mask)
        .alpha_to_coverage_enable(fixed.alpha_to_coverage)
        .alpha_to_one_enable(fixed.alpha_to_one);
    let face = |index: usize| {
        let (fail, pass, depth_fail, func) = fixed.stencil[index];
        vk::StencilOpState {
            fail_op: fail,
            pass_op: pass,
            depth_fail_op: depth_fail,
            compare_op: func,
            ..Default::default()
        }
    };
    let depth_stencil = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(fixed.depth_test)
        .depth_write_enable(fixed.depth_write)
        .depth_compare_op(fixed.depth_func)
        .stencil_test_enable(fixed.stencil_test)
        .front(face(0))
        .back(face(1));
    let count = facts.color_count as usize;
    let blends: Vec<_> = fixed.blend[..count].iter().map(FixedBlend::attachment).collect();
    let blend = vk::PipelineColorBlendStateCreateInfo::default()
        .logic_op_enable(fixed.logic_op.is_some())
        .logic_op(fixed.logic_op.unwrap_or(vk::LogicOp::COPY))
        .attachments(&blends);
    let states = dynamic_states(device, program.has(Stage::TessEvaluation));
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let raw = |format: Format| device.formats.get(format).raw;
    let formats: Vec<_> = facts.colors[..count].iter().map(|format| raw(*format)).collect();
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&formats)
        .depth_attachment_format(raw(facts.depth))
        .stencil_attachment_format(raw(facts.stencil));
    let mut info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth_stencil)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(program.layout);
    let pass;
    if device.ext.dynamic_rendering {
        info = info.push_next(&mut rendering);
    } else {
        pass = device.passes.get(device, PassKey::of(facts))?;
        info = info.render_pass(pass.raw);
    }
    if program.has(Stage::TessEvaluation) {
        info = info.tessellation_state(&tessellation);
    }
    // SAFETY: every structure lives until the call returns; modules and layout belong to the program.
    match unsafe { device.raw.create_graphics_pipelines(device.pipeline_cache, &[info], None) } {
        Ok(pipelines) => {
            device.pipeline_made();
            Ok(pipelines[0])
        }
        Err((_, code)) => Err(map_create("graphics pipeline", code)),
    }
}

/// The program's compute pipeline.
pub(crate) fn compute(device: &Device, program: &Program) -> PipeResult<vk::Pipeline> {
    let mut slot = program.compute.lock();
    if let Some(pipeline) = *slot {
        return Ok(pipeline);
    }
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(program.module(Stage::Compute, Variant::default())?)
        .name(c"main");
    let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(program.layout);
    // SAFETY: module and layout belong to the program.
    match unsafe { device.raw.create_compute_pipelines(device.pipeline_cache, &[info], None) } {
        Ok(pipelines) => {
            device.pipeline_made();
            *slot = Some(pipelines[0]);
            Ok(pipelines[0])
        }
        Err((_, code)) => Err(map_create("compute pipeline", code)),
    }
}
