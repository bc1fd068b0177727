//! Dynamic state of a draw: setting what the command buffer does not have yet and what can have an effect.
//!
//! A value that nothing reads at the moment (the depth function while the depth test is off, the line width while no
//! lines are drawn, …) is not set when it changes. It is set when something starts to read it.

use crate::blending::{self, AppliedBlends};
use crate::context::{dirty, MagmaContext};
use crate::conv;
use crate::draw::{rect, scissor};
use crate::pipeline::{self, Moment};
use crate::render_pass::Framebuffer;
use crate::shader::Program;
use ash::vk;
use mgpipe_types::gl;
use mgpipe_types::reflection::Stage;
use mgpipe_types::render_state::{RenderState, StencilFace};
use smallvec::SmallVec;

/// State as the command buffer has it; `None` members were never set in it.
#[derive(Default)]
pub(crate) struct Applied {
    viewports: SmallVec<[[u32; 6]; 1]>,
    scissors: SmallVec<[[i32; 4]; 1]>,
    line_width: Option<u32>,
    depth_bias: Option<[u32; 3]>,
    blend_color: Option<[u32; 4]>,
    stencil_refs: Option<[u32; 6]>,
    cull: Option<vk::CullModeFlags>,
    front: Option<vk::FrontFace>,
    topology: Option<vk::PrimitiveTopology>,
    depth_test: Option<bool>,
    depth_write: Option<bool>,
    depth_func: Option<u32>,
    stencil_test: Option<bool>,
    stencil_ops: Option<[(u32, u32, u32, u32); 2]>,
    discard: Option<bool>,
    bias_enable: Option<bool>,
    restart: Option<bool>,
    patch_points: Option<u32>,
    point_size: Option<u32>,
    depth_clamp: Option<bool>,
    blends: AppliedBlends,
    /// Vertex layout and buffers.
    pub(crate) vertex: crate::vertex_input::AppliedVertex,
    /// Descriptor sets of draws.
    pub(crate) sets: crate::descriptor::AppliedSets,
}

fn bits(x: f32) -> u32 {
    x.to_bits()
}

/// Whether anything of a draw may be rasterised as lines.
fn draws_lines(state: &RenderState, program: &Program, moment: Moment) -> bool {
    conv::topology_class(moment.topology) == vk::PrimitiveTopology::LINE_LIST
        || state.polygon_mode_front == gl::LINE
        || state.polygon_mode_back == gl::LINE
        || program.has(Stage::Geometry)
        || program.has(Stage::TessEvaluation)
}

impl MagmaContext {
    /// Sets the dynamic state of a draw.
    pub(crate) fn apply_dynamic(
        &mut self,
        commands: vk::CommandBuffer,
        program: &Program,
        framebuffer: &Framebuffer,
        moment: Moment,
    ) {
        let moved = self.dirty & (dirty::STATE | dirty::DYNAMIC | dirty::FRAMEBUFFER) != 0;
        let device = &self.device;
        let raw = &device.raw;
        let limits = &device.properties.limits;
        let state = &self.state;
        let rec = &mut self.rec;
        let fresh = self.applied.is_none();
        let applied = self.applied.get_or_insert_with(Box::default);
        // SAFETY (whole function): the command buffer is being recorded; values are within the device's limits; extended
        // state is only set when its extension is enabled.
        macro_rules! apply {
            ($field:ident, $value:expr, |$arg:pat_param| $set:expr) => {
                let value = $value;
                if applied.$field != Some(value) {
                    rec.flush_draws();
                    let $arg = value;
                    // SAFETY: see above.
                    unsafe { $set };
                    applied.$field = Some(value);
                }
            };
        }
        if moved || applied.viewports.len() != moment.viewports as usize {
            let count = moment.viewports as usize;
            let mut viewports: SmallVec<[[u32; 6]; 1]> = SmallVec::new();
            let mut scissors: SmallVec<[[i32; 4]; 1]> = SmallVec::new();
            for index in 0..count {
                viewports.push(viewport(state, index, limits));
                scissors.push(match moment.count_discarded && state.rasterizer_discard != 0 {
                    true => [0; 4],
                    false => scissor(state, index, framebuffer.extent),
                });
            }
            if applied.viewports != viewports {
                rec.flush_draws();
                let list: SmallVec<[vk::Viewport; 1]> = viewports
                    .iter()
                    .map(|v| {
                        let [x, y, width, height, min_depth, max_depth] = v.map(f32::from_bits);
                        vk::Viewport { x, y, width, height, min_depth, max_depth }
                    })
                    .collect();
                // SAFETY: see above.
                unsafe {
                    if device.ext.extended_dynamic_state {
                        device.fns.dynamic_state.cmd_set_viewport_with_count(commands, &list);
                    } else {
                        raw.cmd_set_viewport(commands, 0, &list);
                    }
                }
                applied.viewports = viewports;
            }
            if applied.scissors != scissors {
                rec.flush_draws();
                let list: SmallVec<[vk::Rect2D; 1]> = scissors.iter().map(|s| rect(*s)).collect();
                // SAFETY: see above.
                unsafe {
                    if device.ext.extended_dynamic_state {
                        device.fns.dynamic_state.cmd_set_scissor_with_count(commands, &list);
                    } else {
                        raw.cmd_set_scissor(commands, 0, &list);
                    }
                }
                applied.scissors = scissors;
            }
        }
        if applied.line_width.is_none() || draws_lines(state, program, moment) {
            let width = if device.features.core.wide_lines == vk::TRUE {
                state.line_width.clamp(limits.line_width_range[0], limits.line_width_range[1])
            } else {
                1.0
            };
            apply!(line_width, bits(width), |w| raw.cmd_set_line_width(commands, f32::from_bits(w)));
        }
        let bias_on = pipeline::depth_bias_enabled(state, moment.topology);
        if applied.depth_bias.is_none() || bias_on {
            let clamp =
                if device.features.core.depth_bias_clamp == vk::TRUE { state.polygon_offset_clamp } else { 0.0 };
            let bias = [state.polygon_offset_units, clamp, state.polygon_offset_factor].map(bits);
            apply!(depth_bias, bias, |b| {
                let [units, clamp, factor] = b.map(f32::from_bits);
                raw.cmd_set_depth_bias(commands, units, clamp, factor);
            });
        }
        if applied.blend_color.is_none() || state.blend.iter().any(|blend| blend.enabled != 0) {
            apply!(blend_color, state.blend_color.map(bits), |c| {
                raw.cmd_set_blend_constants(commands, &c.map(f32::from_bits));
            });
        }
        let stencil = framebuffer.stencil.is_some() && state.stencil_test != 0;
        if applied.stencil_refs.is_none() || stencil {
            let face = |f: &StencilFace| [f.value_mask & 0xff, f.write_mask & 0xff, f.reference.clamp(0, 255) as u32];
            let (front, back) = (face(&state.stencil[0]), face(&state.stencil[1]));
            apply!(stencil_refs, [front[0], front[1], front[2], back[0], back[1], back[2]], |s| {
                let (f, b) = (vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK);
                raw.cmd_set_stencil_compare_mask(commands, f, s[0]);
                raw.cmd_set_stencil_write_mask(commands, f, s[1]);
                raw.cmd_set_stencil_reference(commands, f, s[2]);
                raw.cmd_set_stencil_compare_mask(commands, b, s[3]);
                raw.cmd_set_stencil_write_mask(commands, b, s[4]);
                raw.cmd_set_stencil_reference(commands, b, s[5]);
            });
        }
        if device.ext.extended_dynamic_state {
            let fns = &device.fns.dynamic_state;
            let cull =
                if state.cull_face != 0 { conv::map_cull(state.cull_face_mode) } else { vk::CullModeFlags::NONE };
            apply!(cull, cull, |c| fns.cmd_set_cull_mode(commands, c));
            apply!(front, conv::map_front_face(state.front_face, state.clip_origin), |f| {
                fns.cmd_set_front_face(commands, f)
            });
            apply!(topology, moment.topology, |t| fns.cmd_set_primitive_topology(commands, t));
            // Nothing is compared or written while the test is off, in GL as in Vulkan.
            let test = framebuffer.depth.is_some() && state.depth_test != 0;
            apply!(depth_test, test, |test| fns.cmd_set_depth_test_enable(commands, test));
            if applied.depth_write.is_none() || test {
                apply!(depth_write, state.depth_mask != 0, |write| fns.cmd_set_depth_write_enable(commands, write));
            }
            if applied.depth_func.is_none() || test {
                apply!(depth_func, state.depth_func, |func| {
                    fns.cmd_set_depth_compare_op(commands, conv::map_compare(func))
                });
            }
            apply!(stencil_test, stencil, |s| fns.cmd_set_stencil_test_enable(commands, s));
            if applied.stencil_ops.is_none() || stencil {
                let ops = [0, 1].map(|i| {
                    let f = &state.stencil[i];
                    (f.fail_op, f.pass_op, f.depth_fail_op, f.func)
                });
                apply!(stencil_ops, ops, |ops| {
                    for (face, (fail, pass, depth_fail, func)) in
                        [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK].into_iter().zip(ops)
                    {
                        fns.cmd_set_stencil_op(
                            commands,
                            face,
                            conv::map_stencil_op(fail),
                            conv::map_stencil_op(pass),
                            conv::map_stencil_op(depth_fail),
                            conv::map_compare(func),
                        );
                    }
                });
            }
        }
        if device.ext.extended_dynamic_state2 {
            let fns = &device.fns.dynamic_state2;
            let discard = state.rasterizer_discard != 0 && !moment.count_discarded;
            apply!(discard, discard, |d| fns.cmd_set_rasterizer_discard_enable(commands, d));
            apply!(bias_enable, bias_on, |b| fns.cmd_set_depth_bias_enable(commands, b));
            apply!(restart, moment.restart, |r| fns.cmd_set_primitive_restart_enable(commands, r));
            if device.features.patch_points_dynamic && moment.patch_points != 0 {
                apply!(patch_points, moment.patch_points, |p| fns.cmd_set_patch_control_points(commands, p));
            }
        }
        if device.features.dynamic_depth_clamp {
            let fns = &device.fns.dynamic_state3;
            apply!(depth_clamp, pipeline::depth_clamp_enabled(device, state), |clamp| {
                fns.cmd_set_depth_clamp_enable(commands, clamp);
                if device.ext.depth_clip_enable {
                    fns.cmd_set_depth_clip_enable(commands, !clamp);
                }
            });
        }
        if device.features.dynamic_blend && (moved || fresh) {
            let blends = blending::resolve(device, state, &framebuffer.facts);
            applied.blends.set(device, rec, commands, blends, usize::from(framebuffer.facts.color_count));
        }
        if self.last_pipeline.choice.variant.point_size {
            let size = state.point_size.clamp(limits.point_size_range[0], limits.point_size_range[1]);
            let layout = program.layout;
            apply!(point_size, bits(size), |s| {
                raw.cmd_push_constants(commands, layout, vk::ShaderStageFlags::ALL_GRAPHICS, 0, &s.to_ne_bytes())
            });
        }
    }
}

/// A viewport within the device's limits, as bits: x, y, width, height, near, far.
fn viewport(state: &RenderState, index: usize, limits: &vk::PhysicalDeviceLimits) -> [u32; 6] {
    let v = &state.viewports[index];
    let d = &state.depth_ranges[index];
    let width = v.width.clamp(0.0, limits.max_viewport_dimensions[0] as f32).max(f32::MIN_POSITIVE);
    let height = v.height.clamp(0.0, limits.max_viewport_dimensions[1] as f32);
    let (low, high) = (limits.viewport_bounds_range[0], limits.viewport_bounds_range[1]);
    let x = v.x.clamp(low, high - width);
    let y = v.y.clamp(low, high - height);
    // An upper-left origin mirrors clip y, which a negative viewport height does.
    let (y, height) = if state.clip_origin == gl::UPPER_LEFT { (y + height, -height) } else { (y, height) };
    [x, y, width, height, d.near.clamp(0.0, 1.0), d.far.clamp(0.0, 1.0)].map(bits)
}
