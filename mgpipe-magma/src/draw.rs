//! Draws: bringing the command buffer in line with the state, and the draw commands themselves.

use crate::command::{Object, RingSlice};
use crate::context::{dirty, BindPoint, MagmaContext};
use crate::conv;
use crate::pipeline::{self, FixedState, Moment, PipelineKey};
use crate::render_pass::{Framebuffer, PassFacts};
use crate::shader::Variant;
use crate::vertex_reads::Vertices;
use ash::vk;
use mgpipe_types::reflection::Stage;
use mgpipe_types::render_state::MAX_VIEWPORTS;
use mgpipe_types::{draw_flags, gl, BufferHandle, DrawIndirect, DrawInfo, DrawRange, HostBytes, PipeError, PipeResult};
use std::sync::Arc;

/// The pipeline of the last draw and what chose it.
#[derive(Default)]
pub(crate) struct LastPipeline {
    pub(crate) bound: vk::Pipeline,
    pub(crate) choice: PipelineChoice,
    pipeline: vk::Pipeline,
}

/// What chooses a pipeline, as far as possible in identities.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PipelineChoice {
    program: u64,
    state: u64,
    layout: u64,
    facts: PassFacts,
    topology: vk::PrimitiveTopology,
    restart: bool,
    patch_points: u32,
    viewports: u32,
    count_discarded: bool,
    pub(crate) variant: Variant,
    clip_origin: u32,
    clip_depth_mode: u32,
}

/// What a draw's primitives look like to Vulkan.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    topology: vk::PrimitiveTopology,
    restart: bool,
}

impl MagmaContext {
    /// Draws.
    pub(crate) fn draw(
        &mut self,
        info: &DrawInfo,
        ranges: &[DrawRange],
        indirect: &[DrawIndirect],
        indices: HostBytes<'_>,
    ) -> PipeResult<()> {
        self.refresh();
        if self.draw_steady(info, ranges)? {
            return Ok(());
        }
        self.steady = None;
        let Some(bound) = &self.programs[BindPoint::Draw as usize] else { return Ok(()) };
        // A pipeline needs a vertex stage, and tessellation needs patches and the other way round.
        let patches = info.mode == gl::PATCHES;
        if !bound.program.has(Stage::Vertex) || bound.program.has(Stage::TessEvaluation) != patches {
            return Ok(());
        }
        if self.dirty & (dirty::VERTEX | dirty::PROGRAM | dirty::BUFFERS) != 0 {
            let program = bound.program.clone();
            self.resolve_layout(&program);
        }
        let (mut plan, mut converted);
        let mut attempts = 0;
        loop {
            // Both may have to wait for device writes and then start a new batch, which the ring space of the other would
            // not survive. What was waited for once is there, so the second round settles.
            let batch = self.rec.batch.serial;
            converted = self.convert_attributes(info, ranges)?;
            plan = self.plan_indices(info, ranges, indirect, indices)?;
            attempts += 1;
            if batch == self.rec.batch.serial || attempts == 4 {
                break;
            }
        }
        let Some(plan) = plan else { return Ok(()) };
        let shape = Shape { topology: plan.topology, restart: plan.restart };
        let commands = self.prepare(info, &converted, shape)?;
        if let Some((buffer, offset, ty)) = plan.index {
            if self.bound_index != Some((buffer, offset, ty)) {
                self.rec.flush_draws();
                // SAFETY: the buffer is kept by the batch; offset and type agree with the draw.
                unsafe { self.device.raw.cmd_bind_index_buffer(commands, buffer, offset, ty) };
                self.bound_index = Some((buffer, offset, ty));
            }
        }
        let plain = plan.ranges.is_none()
            && self.layout.conversions.is_empty()
            && info.flags & draw_flags::USER_INDICES == 0
            // Without robust indices each draw's range is checked.
            && (plan.index.is_none() || self.device.features.robust_indices);
        let ranges: &[DrawRange] = plan.ranges.as_deref().unwrap_or(ranges);
        if info.flags & draw_flags::INDIRECT != 0 {
            self.rec.flush_draws();
            self.emit_indirect(commands, info, indirect, plan.index.is_some())?;
        } else {
            if self.merge(commands, info, ranges, plan.index.is_some(), plain)? {
                return self.bound_deferred();
            }
            self.rec.flush_draws();
            self.emit(commands, info, ranges, plan.index.is_some());
        }
        if self.rec.count_work(ranges.len().max(1) as u32) {
            self.submit()?;
        }
        self.bound_deferred()?;
        Ok(())
    }

    /// Waits when too much that is destroyed still hangs on batches.
    #[inline]
    pub(crate) fn bound_deferred(&mut self) -> PipeResult<()> {
        if self.shared.must_collect() {
            self.finish()
        } else {
            Ok(())
        }
    }

    fn emit(&mut self, commands: vk::CommandBuffer, info: &DrawInfo, ranges: &[DrawRange], indexed: bool) {
        for range in ranges.iter().filter(|range| range.count > 0) {
            self.rec.vertices.add(range, indexed);
        }
        let device = &self.device;
        let uses_draw_id = ranges.len() > 1
            && self.programs[BindPoint::Draw as usize]
                .as_ref()
                .is_some_and(|b| b.program.reflection.vertex.is_some_and(|v| v.uses_draw_parameters));
        if uses_draw_id && self.device.max_multi_draw > 0 {
            return self.emit_multi(commands, info, ranges, indexed);
        }
        for range in ranges {
            if range.count == 0 {
                continue;
            }
            // SAFETY: a pass is open and every state that the pipeline leaves dynamic is set.
            unsafe {
                if indexed {
                    device.raw.cmd_draw_indexed(
                        commands,
                        range.count,
                        info.instance_count,
                        range.start,
                        range.index_bias,
                        info.start_instance,
                    );
                } else {
                    device.raw.cmd_draw(commands, range.count, info.instance_count, range.start, info.start_instance);
                }
            }
        }
    }

    /// One command for many ranges, so that `gl_DrawID` counts up.
    fn emit_multi(&mut self, commands: vk::CommandBuffer, info: &DrawInfo, ranges: &[DrawRange], indexed: bool) {
        let limit = self.device.max_multi_draw.max(1) as usize;
        let fp = self.device.fns.multi_draw.fp();
        for chunk in ranges.chunks(limit) {
            // SAFETY: as for a single draw; the arrays live during the call and strides are those of their elements.
            unsafe {
                if indexed {
                    let draws: Vec<_> = chunk
                        .iter()
                        .map(|r| vk::MultiDrawIndexedInfoEXT {
                            first_index: r.start,
                            index_count: r.count,
                            vertex_offset: r.index_bias,
                        })
                        .collect();
                    (fp.cmd_draw_multi_indexed_ext)(
                        commands,
                        draws.len() as u32,
                        draws.as_ptr(),
                        info.instance_count,
                        info.start_instance,
                        std::mem::size_of::<vk::MultiDrawIndexedInfoEXT>() as u32,
                        std::ptr::null(),
                    );
                } else {
                    let draws: Vec<_> = chunk
                        .iter()
                        .map(|r| vk::MultiDrawInfoEXT { first_vertex: r.start, vertex_count: r.count })
                        .collect();
                    (fp.cmd_draw_multi_ext)(
                        commands,
                        draws.len() as u32,
                        draws.as_ptr(),
                        info.instance_count,
                        info.start_instance,
                        std::mem::size_of::<vk::MultiDrawInfoEXT>() as u32,
                    );
                }
            }
        }
    }

    fn emit_indirect(
        &mut self,
        commands: vk::CommandBuffer,
        info: &DrawInfo,
        indirect: &[DrawIndirect],
        indexed: bool,
    ) -> PipeResult<()> {
        let _ = info;
        self.rec.vertices = Vertices::ALL;
        for draw in indirect {
            let lookup = |handle| self.shared.buffers.get(BufferHandle(handle)).ok().and_then(|b| b.storage());
            let Some(buffer) = lookup(draw.buffer) else {
                return Err(PipeError::BadHandle("indirect buffer".into()));
            };
            let command = if indexed { 20 } else { 16 };
            let stride = if draw.stride == 0 { command } else { draw.stride };
            let needed = u64::from(draw.draw_count.saturating_sub(1)) * u64::from(stride) + u64::from(command);
            if draw.draw_count == 0 || draw.offset.checked_add(needed).is_none_or(|end| end > buffer.size) {
                continue;
            }
            self.rec.keep(Object::Buffer(&buffer), true);
            let count_buffer = if draw.count_buffer.is_null() { None } else { lookup(draw.count_buffer) };
            // SAFETY: commands and count lie within buffers that the batch keeps; the state is that of a draw.
            unsafe {
                if let (Some(counts), true) = (&count_buffer, self.device.ext.draw_indirect_count) {
                    self.rec.keep(Object::Buffer(counts), true);
                    let fns = &self.device.fns.indirect_count;
                    let (count_offset, max) = (draw.count_offset, draw.draw_count);
                    if indexed {
                        fns.cmd_draw_indexed_indirect_count(
                            commands,
                            buffer.raw,
                            draw.offset,
                            counts.raw,
                            count_offset,
                            max,
                            stride,
                        );
                    } else {
                        fns.cmd_draw_indirect_count(
                            commands,
                            buffer.raw,
                            draw.offset,
                            counts.raw,
                            count_offset,
                            max,
                            stride,
                        );
                    }
                    continue;
                }
                let multi = self.device.features.core.multi_draw_indirect == vk::TRUE;
                let (count, repeat) = if multi { (draw.draw_count, 1) } else { (1, draw.draw_count) };
                for index in 0..repeat {
                    let offset = draw.offset + u64::from(index) * u64::from(stride);
                    if indexed {
                        self.device.raw.cmd_draw_indexed_indirect(commands, buffer.raw, offset, count, stride);
                    } else {
                        self.device.raw.cmd_draw_indirect(commands, buffer.raw, offset, count, stride);
                    }
                }
            }
        }
        Ok(())
    }

    /// Brings the command buffer in line with the state. A steady draw compares a few integers and returns.
    fn prepare(&mut self, info: &DrawInfo, converted: &[RingSlice], shape: Shape) -> PipeResult<vk::CommandBuffer> {
        let patch_points = if info.mode == gl::PATCHES {
            if info.patch_vertices != 0 {
                info.patch_vertices
            } else {
                self.patch.vertices
            }
        } else {
            0
        };
        let steady = self.dirty == 0
            && self.layout.conversions.is_empty()
            && shape.topology == self.last_pipeline.choice.topology
            && shape.restart == self.last_pipeline.choice.restart
            && patch_points == self.last_pipeline.choice.patch_points;
        if steady {
            if let Some(pass) = &self.pass {
                return Ok(pass.commands);
            }
        }
        let Some(program) = self.programs[BindPoint::Draw as usize].as_ref().map(|b| b.program.clone()) else {
            return Err(PipeError::BadHandle("no program".into()));
        };
        let framebuffer = self.resolve_framebuffer()?;
        let viewports = if program.reflection.pre_raster.writes_viewport_index {
            (MAX_VIEWPORTS as u32).min(self.device.properties.limits.max_viewports)
        } else {
            1
        };
        let moment = Moment {
            topology: shape.topology,
            restart: shape.restart,
            patch_points,
            viewports,
            count_discarded: self.queries.count_clipped(),
        };
        let pipeline = self.choose_pipeline(&program, &framebuffer, moment)?;
        if self.xfb.running && pipeline != self.last_pipeline.bound {
            // No pipeline may be bound while Vulkan captures, and capturing again needs a barrier for its counters.
            self.end_pass();
        }
        let commands = self.ensure_pass_for_draw(None)?;
        if self.last_pipeline.bound != pipeline {
            self.rec.flush_draws();
            // SAFETY: the pipeline belongs to the program, which the batch keeps.
            unsafe { self.device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline) };
            self.last_pipeline.bound = pipeline;
        }
        self.apply_dynamic(commands, &program, &framebuffer, moment);
        let vertex = dirty::VERTEX | dirty::BUFFERS | dirty::DEFAULTS | dirty::PROGRAM;
        if self.dirty & vertex != 0 || !converted.is_empty() {
            self.bind_vertex_buffers(commands, converted)?;
        }
        if self.dirty & (dirty::SETS | dirty::CONSTANTS | dirty::PROGRAM) != 0 {
            self.bind_sets(commands, BindPoint::Draw)?;
        }
        if self.dirty & dirty::PROGRAM != 0 {
            self.rec.keep_other(program.clone());
        }
        if self.xfb.is_active() {
            self.rec.flush_draws();
            self.resume_xfb_in_pass(commands)?;
        }
        self.dirty = 0;
        Ok(commands)
    }

    /// Sets state that moved since a draw that was the same otherwise. False when more has moved than the state that does
    /// not decide about indices, layouts and passes, or when the pass had to end.
    pub(crate) fn restate(&mut self, commands: vk::CommandBuffer) -> PipeResult<bool> {
        let state = dirty::STATE | dirty::DYNAMIC;
        let buffers = dirty::BUFFERS | dirty::DEFAULTS;
        let sets = dirty::SETS | dirty::CONSTANTS;
        let batch = self.rec.batch.serial;
        if self.dirty & !(state | buffers | sets) != 0
            || (self.dirty & buffers != 0 && self.odd_points != 0)
            || self.xfb.is_active()
            || self.rotates_vertices()
        {
            return Ok(false);
        }
        if self.dirty & state != 0 {
            let (Some(bound), Some(framebuffer)) =
                (&self.programs[BindPoint::Draw as usize], self.resolved_framebuffer.clone())
            else {
                return Ok(false);
            };
            if !framebuffer.fits(&self.state) {
                return Ok(false);
            }
            let program = bound.program.clone();
            let last = &self.last_pipeline.choice;
            let moment = Moment {
                topology: last.topology,
                restart: last.restart,
                patch_points: last.patch_points,
                viewports: last.viewports,
                count_discarded: self.queries.count_clipped(),
            };
            let pipeline = self.choose_pipeline(&program, &framebuffer, moment)?;
            if self.last_pipeline.bound != pipeline {
                self.rec.flush_draws();
                // SAFETY: the pipeline belongs to the program, which the batch keeps.
                unsafe { self.device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline) };
                self.last_pipeline.bound = pipeline;
            }
            self.apply_dynamic(commands, &program, &framebuffer, moment);
        }
        if self.dirty & buffers != 0 {
            self.bind_vertex_buffers(commands, &[])?;
        }
        if self.dirty & sets != 0 {
            self.bind_sets(commands, BindPoint::Draw)?;
        }
        if self.pass.as_ref().is_none_or(|pass| pass.commands != commands) || self.rec.batch.serial != batch {
            // Bytes had to be waited for, and the pass is gone.
            return Ok(false);
        }
        self.dirty = 0;
        Ok(true)
    }

    fn choose_pipeline(
        &mut self,
        program: &Arc<crate::shader::Program>,
        framebuffer: &Framebuffer,
        moment: Moment,
    ) -> PipeResult<vk::Pipeline> {
        let topology = if self.device.ext.extended_dynamic_state {
            conv::topology_class(moment.topology)
        } else {
            moment.topology
        };
        let variant = self.variant(program, moment.topology);
        let dynamic_input = self.device.ext.vertex_input_dynamic_state;
        let choice = PipelineChoice {
            program: program.serial,
            state: self.state_serial,
            layout: if dynamic_input { 0 } else { self.layouts.serial },
            facts: framebuffer.facts,
            topology: moment.topology,
            restart: moment.restart,
            patch_points: moment.patch_points,
            viewports: moment.viewports,
            count_discarded: moment.count_discarded,
            variant,
            clip_origin: self.state.clip_origin,
            clip_depth_mode: self.state.clip_depth_mode,
        };
        let last = &mut self.last_pipeline;
        if last.choice == choice && last.pipeline != vk::Pipeline::null() {
            return Ok(last.pipeline);
        }
        let spread = choice.program.rotate_left(40) ^ choice.state;
        let pipeline = match self.pipeline_memo.get(spread, &choice) {
            Some(pipeline) => *pipeline,
            None => {
                let fixed = FixedState::new(&self.device, &self.state, &framebuffer.facts, &moment);
                let vertex = (!dynamic_input).then(|| self.layout.clone());
                let key = PipelineKey { facts: framebuffer.facts, fixed, topology, variant, vertex };
                let pipeline = pipeline::graphics(&self.device, program, key)?;
                self.pipeline_memo.put(spread, choice, pipeline);
                pipeline
            }
        };
        last.choice = choice;
        last.pipeline = pipeline;
        Ok(pipeline)
    }

    fn variant(&self, program: &crate::shader::Program, topology: vk::PrimitiveTopology) -> Variant {
        let facts = &program.reflection;
        let draws_points = match program.last_vertex_stage() {
            Some(Stage::Geometry) => {
                facts.geometry.is_some_and(|g| g.output == mgpipe_types::reflection::GeometryPrimitive::Points)
            }
            Some(Stage::TessEvaluation) => facts.tess_evaluation.is_some_and(|t| t.point_mode),
            _ => topology == vk::PrimitiveTopology::POINT_LIST,
        } || self.state.polygon_mode_front == gl::POINT;
        Variant {
            point_size: draws_points && (self.state.program_point_size == 0 || !facts.pre_raster.writes_point_size),
            convert_depth: !self.device.ext.depth_clip_control && self.state.clip_depth_mode != gl::ZERO_TO_ONE,
            mirror_point_coord: draws_points
                && facts.fragment.is_some()
                && self.state.point_sprite_coord_origin != gl::LOWER_LEFT,
            disabled_clips: match facts.pre_raster.clip_distances {
                0 => 0,
                written => ((1u32 << written.min(8)) - 1) as u8 & !(self.state.clip_distance_mask as u8),
            },
        }
    }
}

/// Scissor of a viewport, cut to the framebuffer: x, y, width, height.
pub(crate) fn scissor(state: &mgpipe_types::RenderState, index: usize, extent: vk::Extent2D) -> [i32; 4] {
    let (width, height) = (i64::from(extent.width), i64::from(extent.height));
    let whole = [0, 0, width as i32, height as i32];
    let enabled = state.scissor_test_mask >> index & 1 != 0;
    let written = state.scissor_written_mask >> index & 1 != 0;
    if !enabled || !written {
        return whole;
    }
    let s = &state.scissors[index];
    let left = i64::from(s.x).clamp(0, width);
    let bottom = i64::from(s.y).clamp(0, height);
    let right = (i64::from(s.x) + i64::from(s.width.max(0))).clamp(left, width);
    let top = (i64::from(s.y) + i64::from(s.height.max(0))).clamp(bottom, height);
    [left as i32, bottom as i32, (right - left) as i32, (top - bottom) as i32]
}

/// A Vulkan rectangle.
pub(crate) fn rect([x, y, width, height]: [i32; 4]) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width: width.max(0) as u32, height: height.max(0) as u32 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::{RenderState, ScissorBox};

    #[test]
    fn an_unwritten_scissor_is_the_whole_framebuffer_and_a_written_empty_one_rejects_all() {
        let extent = vk::Extent2D { width: 40, height: 30 };
        let mut state = RenderState::initial();
        state.scissor_test_mask = 1;
        assert_eq!(scissor(&state, 0, extent), [0, 0, 40, 30]);
        state.scissor_written_mask = 1;
        assert_eq!(scissor(&state, 0, extent), [0, 0, 0, 0]);
        state.scissors[0] = ScissorBox { x: -5, y: 20, width: i32::MAX, height: 100 };
        assert_eq!(scissor(&state, 0, extent), [0, 20, 40, 10]);
    }
}
