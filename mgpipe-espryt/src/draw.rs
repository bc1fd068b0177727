//! Draws: bringing the driver in line with the state, and the draw commands themselves.

use crate::context::{dirty, EsprytContext};
use crate::essl::{Count, Variant};
use crate::gles::named;
use crate::index::IndexPlan;
use crate::logic_op::is_lowered;
use crate::program::use_native;
use glow::HasContext;
use mgpipe_types::reflection::{GeometryPrimitive, Stage};
use mgpipe_types::{draw_flags, gl, DrawIndirect, DrawInfo, DrawRange, HostBytes, PipeError, PipeResult};
use std::ffi::c_void;

/// `GL_PRIMITIVE_RESTART_FIXED_INDEX`.
const RESTART: u32 = gl::PRIMITIVE_RESTART_FIXED_INDEX;

impl EsprytContext {
    /// Draws.
    pub(crate) fn draw(
        &mut self,
        info: &DrawInfo,
        ranges: &[DrawRange],
        indirect: &[DrawIndirect],
        indices: HostBytes<'_>,
    ) -> PipeResult<()> {
        let Some(bound) = &self.program else { return Ok(()) };
        // A draw needs a vertex stage, and tessellation needs patches and the other way round.
        let patches = info.mode == gl::PATCHES;
        if !bound.program.has(Stage::Vertex) || bound.program.has(Stage::TessEvaluation) != patches {
            return Ok(());
        }
        let shared = self.shared.clone();
        self.ring.begin(&shared.device.gles);
        if !self.bind_framebuffer()? {
            return Ok(());
        }
        if !self.choose_program(info)? {
            return Ok(());
        }
        if self.dirty & dirty::STATE != 0 {
            self.apply_state();
            self.dirty &= !dirty::STATE;
        }
        let first_provokes = self.first_vertex_provokes();
        let outlined = self.outlined(info);
        let plan = self.plan_indices(info, ranges, indices, first_provokes, outlined)?;
        let Some(plan) = plan else { return Ok(()) };
        let base = if self.gles().has.base_instance { 0 } else { info.start_instance };
        let vertex = dirty::VERTEX | dirty::BUFFERS | dirty::DEFAULTS;
        let converts = self.elements.as_ref().is_some_and(|e| e.converts());
        if self.dirty & vertex != 0 || base != 0 || converts {
            self.apply_vertices(base)?;
            if base != 0 {
                self.dirty |= dirty::BUFFERS;
            }
        }
        self.apply_bindings()?;
        if patches {
            let vertices = if info.patch_vertices != 0 { info.patch_vertices } else { self.patch.vertices };
            // SAFETY: the context is current; a program with tessellation exists only where the driver has it.
            unsafe { self.gles().ext.patch_parameter(gl::PATCH_VERTICES, vertices as i32) };
        }
        self.apply_xfb()?;
        self.bind_elements(&plan);
        if info.flags & draw_flags::INDIRECT != 0 {
            return self.emit_indirect(indirect, &plan);
        }
        let own = plan.ranges.as_deref().unwrap_or(ranges);
        let counted = self.program.as_ref().and_then(|b| b.native.as_ref()).is_some_and(|n| n.reads_draw_parameters());
        if own.len() < 2 || counted || !self.emit_at_once(info, own, &plan)? {
            self.emit(info, own, &plan);
        }
        Ok(())
    }

    /// Whether flat inputs have to come from the first vertex, which the driver does not do.
    fn first_vertex_provokes(&self) -> bool {
        self.state.provoking_vertex == gl::FIRST_VERTEX_CONVENTION
            && !self.xfb.is_capturing()
            && self.program.as_ref().is_some_and(|b| !b.program.has(Stage::Geometry) && b.program.has_flat_inputs())
    }

    /// The mode of the edges or corners that polygons are drawn as, where that changes nothing else: neither culling nor faces
    /// nor flat inputs are there.
    fn outlined(&mut self, info: &DrawInfo) -> Option<u32> {
        let mode = match self.state.polygon_mode_front {
            gl::LINE => gl::LINES,
            gl::POINT => gl::POINTS,
            _ => return None,
        };
        let polygons = matches!(info.mode, gl::TRIANGLES | gl::TRIANGLE_STRIP | gl::TRIANGLE_FAN);
        let native = self.gles().has.polygon_mode;
        if native || !polygons || info.flags & draw_flags::INDIRECT != 0 {
            return None;
        }
        let shared = self.shared.clone();
        if let Some(bound) = &self.program {
            bound.program.look_at_fragment(&shared.device.gles);
        }
        let plain = self.state.cull_face == 0
            && self.state.stencil[0] == self.state.stencil[1]
            && !self.xfb.is_capturing()
            && self.program.as_ref().is_some_and(|b| !b.program.has(Stage::Geometry) && !b.program.tells_faces());
        if !plain {
            self.warn_once(5, "no polygon mode with culling, faces or flat inputs; polygons are filled");
            return None;
        }
        Some(mode)
    }

    /// Uses the driver's program for the state. False when there is none.
    fn choose_program(&mut self, info: &DrawInfo) -> PipeResult<bool> {
        let corners = self.outlined(info) == Some(gl::POINTS);
        let Some(bound) = &self.program else { return Ok(false) };
        let reflection = &bound.program.reflection;
        let points = match (&reflection.geometry, &reflection.tess_evaluation) {
            (Some(geometry), _) => geometry.output == GeometryPrimitive::Points,
            (None, Some(tess)) => tess.point_mode,
            _ => info.mode == gl::POINTS || corners,
        };
        let given = self.state.program_point_size != 0 && reflection.pre_raster.writes_point_size;
        let settable = !bound.program.has(Stage::Geometry) || self.gles().has.geometry_point_size;
        if self.dirty & dirty::SAMPLERS != 0 {
            let units =
                bound.program.samplers.iter().filter_map(|slot| bound.bindings.samplers.get(slot.index as usize));
            let bias =
                |unit: &u32| self.units.get(*unit as usize).and_then(|u| u.sampler.as_ref()).map_or(0.0, |s| s.bias());
            self.biased = units.map(bias).any(|bias| bias != 0.0);
        }
        let variant = Variant {
            lod_bias: self.biased,
            point_size: points && !given && settable,
            mirror_point_coord: points && self.state.point_sprite_coord_origin == gl::LOWER_LEFT,
            logic_op: self.lowered_logic_op(),
            count: self.queries.counts_samples().then(|| {
                let facts = reflection.fragment.unwrap_or_default();
                let tests = self.state.depth_test != 0 || self.state.stencil_test != 0;
                Count {
                    early: tests && !facts.uses_discard && !facts.writes_depth,
                    samples: self.framebuffer.samples > 1 && self.gles().has.sample_variables,
                }
            }),
        };
        // The driver ends a span with the program that it began it with.
        let begun = self.xfb.is_begun() && bound.native.is_some();
        let changes = bound.variant != variant;
        let variant = if begun { bound.variant } else { variant };
        if begun && changes {
            self.warn_once(
                7,
                "state that needs another program changes while vertices are captured; it counts afterwards",
            );
        }
        let Some(bound) = &self.program else { return Ok(false) };
        if self.dirty & dirty::PROGRAM != 0 || bound.native.is_none() || bound.variant != variant {
            let shared = self.shared.clone();
            let native = bound.program.native(&shared.device.gles, variant)?;
            if let Some(bound) = &mut self.program {
                bound.native = native;
                bound.variant = variant;
            }
            self.dirty &= !dirty::PROGRAM;
            if variant.lod_bias {
                // Another program has its own biases.
                self.dirty |= dirty::SAMPLERS;
            }
        }
        let Some(native) = self.program.as_ref().and_then(|b| b.native.as_ref()) else { return Ok(false) };
        if self.shadow.program != native.serial {
            let native = native.clone();
            self.leave_xfb_for_program();
            use_native(self.gles(), &native);
            self.shadow.program = native.serial;
        }
        let native = self.program.as_ref().and_then(|b| b.native.as_ref());
        if let Some(native) = native.filter(|_| variant.point_size) {
            let [low, high] = [self.device.caps.caps.point_size[0], self.device.caps.caps.point_size[1]];
            native.set_point_size(self.gles(), self.state.point_size.clamp(low, high.max(low)));
        }
        Ok(true)
    }

    /// The logic operation that the program applies; 0 for none.
    fn lowered_logic_op(&self) -> u32 {
        let on = self.state.color_logic_op != 0 && self.state.logic_op != gl::COPY;
        if on && self.gles().has.framebuffer_fetch && is_lowered(&self.framebuffer_facts()) {
            self.state.logic_op
        } else {
            0
        }
    }

    /// Binds the index buffer and sets restart.
    fn bind_elements(&mut self, plan: &IndexPlan) {
        let Some((name, serial, _)) = plan.buffer else { return };
        if serial == 0 || self.shadow.element_buffer != serial {
            self.shadow.element_buffer = if serial == 0 { u64::MAX } else { serial };
            // SAFETY: the context is current; the buffer is its share group's.
            unsafe { self.gles().gl.bind_buffer(gl::ELEMENT_ARRAY_BUFFER, named!(NativeBuffer, name)) };
        }
        if self.shadow.restart != plan.restart {
            self.shadow.restart = plan.restart;
            // SAFETY: as above.
            unsafe {
                if plan.restart {
                    self.gles().gl.enable(RESTART);
                } else {
                    self.gles().gl.disable(RESTART);
                }
            }
        }
    }

    fn emit(&self, info: &DrawInfo, ranges: &[DrawRange], plan: &IndexPlan) {
        let Some(native) = self.program.as_ref().and_then(|b| b.native.as_ref()) else { return };
        let gles = self.gles();
        let (gl, ext) = (&gles.gl, &gles.ext);
        let parameters = native.reads_draw_parameters();
        let instances = i32::try_from(info.instance_count).unwrap_or(i32::MAX);
        let base_instance = if gles.has.base_instance { info.start_instance } else { 0 };
        for (index, range) in ranges.iter().enumerate() {
            if range.count == 0 || instances == 0 {
                continue;
            }
            let count = i32::try_from(range.count).unwrap_or(i32::MAX);
            if parameters {
                let base = if plan.buffer.is_some() { range.index_bias } else { range.start as i32 };
                native.set_draw_parameters(gles, base, info.start_instance, info.draw_id_offset + index as u32);
            }
            // SAFETY: the context is current and everything that the draw reads is bound; GLES keeps reads of buffers within
            // them or leaves the values undefined.
            unsafe {
                match plan.buffer {
                    None if base_instance != 0 => {
                        ext.draw_arrays_base_instance(plan.mode, range.start as i32, count, instances, base_instance);
                    }
                    None if instances == 1 => gl.draw_arrays(plan.mode, range.start as i32, count),
                    None => gl.draw_arrays_instanced(plan.mode, range.start as i32, count, instances),
                    Some((_, _, start)) => {
                        let offset = start + range.start as usize * plan.size;
                        let at = offset as *const c_void;
                        let bias = range.index_bias;
                        if base_instance != 0 {
                            ext.draw_elements_base_instance(
                                plan.mode,
                                count,
                                plan.ty,
                                at,
                                instances,
                                bias,
                                base_instance,
                            );
                        } else if bias != 0 {
                            ext.draw_elements_base_vertex(plan.mode, count, plan.ty, at, instances, bias);
                        } else if instances == 1 {
                            gl.draw_elements(plan.mode, count, plan.ty, offset as i32);
                        } else {
                            gl.draw_elements_instanced(plan.mode, count, plan.ty, offset as i32, instances);
                        }
                    }
                }
            }
        }
    }

    /// One indirect draw after the other.
    fn emit_indirect(&mut self, indirect: &[DrawIndirect], plan: &IndexPlan) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        for draw in indirect {
            let buffer = self.buffer(draw.buffer)?;
            let name = buffer.name(gles)?;
            let command = if plan.buffer.is_some() { 20 } else { 16 };
            let stride = if draw.stride == 0 { command } else { draw.stride };
            let size = buffer.size();
            // SAFETY: the context is current.
            unsafe { gles.gl.bind_buffer(gl::DRAW_INDIRECT_BUFFER, named!(NativeBuffer, name)) };
            let length = u64::from(draw.draw_count.saturating_sub(1)) * u64::from(stride) + u64::from(command);
            let fits = draw.offset.checked_add(length).is_some_and(|end| end <= size);
            if draw.draw_count > 1 && fits && gles.has.multi_draw_indirect {
                let at = draw.offset as usize as *const c_void;
                let (draws, step) = (draw.draw_count as i32, stride as i32);
                // SAFETY: the commands lie within the bound buffer.
                unsafe {
                    match plan.buffer {
                        Some(_) => gles.ext.multi_draw_elements_indirect(plan.mode, plan.ty, at, draws, step),
                        None => gles.ext.multi_draw_arrays_indirect(plan.mode, at, draws, step),
                    }
                }
                continue;
            }
            for index in 0..draw.draw_count {
                let offset = draw.offset + u64::from(index) * u64::from(stride);
                if offset + u64::from(command) > size {
                    return Err(PipeError::Protocol("an indirect draw reaches beyond its buffer".into()));
                }
                let at = offset as usize as *const c_void;
                // SAFETY: the command lies within the bound buffer.
                unsafe {
                    match plan.buffer {
                        Some(_) => gles.ext.draw_elements_indirect(plan.mode, plan.ty, at),
                        None => gles.ext.draw_arrays_indirect(plan.mode, at),
                    }
                }
            }
        }
        Ok(())
    }
}
