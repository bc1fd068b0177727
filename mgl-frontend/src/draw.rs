//! Draw commands.

use mgpipe_tracker::VerbClass;
use mgpipe_types::reflection::GeometryPrimitive;
use mgpipe_types::{draw_flags, gl, DrawInfo, DrawRange, HostBytes};

use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::framebuffer::Binding;
use crate::program::{Executable, StateValues};

/// Bits of the primitive modes that the core profile has.
const CORE_MODES: u32 = 0x7f | 0xf << gl::LINES_ADJACENCY;

/// Bits of the draw modes that feed a geometry shader with this input (GL 3.3 §2.12.1).
fn modes_for_geometry(input: GeometryPrimitive) -> u32 {
    match input {
        GeometryPrimitive::Points => 1 << gl::POINTS,
        GeometryPrimitive::Lines | GeometryPrimitive::LineStrip => {
            1 << gl::LINES | 1 << gl::LINE_STRIP | 1 << gl::LINE_LOOP
        }
        GeometryPrimitive::LinesAdjacency => 1 << gl::LINES_ADJACENCY | 1 << gl::LINE_STRIP_ADJACENCY,
        GeometryPrimitive::Triangles | GeometryPrimitive::TriangleStrip => {
            1 << gl::TRIANGLES | 1 << gl::TRIANGLE_STRIP | 1 << gl::TRIANGLE_FAN
        }
        GeometryPrimitive::TrianglesAdjacency => 1 << gl::TRIANGLES_ADJACENCY | 1 << gl::TRIANGLE_STRIP_ADJACENCY,
    }
}

/// Draw modes that an executable accepts as far as its geometry shader is concerned.
pub(crate) fn modes_of_program(executable: &Executable) -> u32 {
    executable.reflection.geometry.as_ref().map_or(u32::MAX, |g| modes_for_geometry(g.input))
}

/// Bytes of an index type.
fn index_bytes(type_: u32, command: &'static str) -> GlResult<u8> {
    match type_ {
        gl::UNSIGNED_BYTE => Ok(1),
        gl::UNSIGNED_SHORT => Ok(2),
        gl::UNSIGNED_INT => Ok(4),
        _ => Err(invalid_enum(format!("{command}: type"))),
    }
}

#[inline]
fn check_mode(mode: u32, command: &'static str) -> GlResult {
    if mode < 32 && CORE_MODES >> mode & 1 != 0 {
        Ok(())
    } else {
        Err(invalid_enum(format!("{command}: mode")))
    }
}

impl Context {
    /// Checks everything that makes a draw illegal beside its own arguments, and brings the server up to date.
    /// False: the draw is legal and draws nothing.
    #[inline]
    fn prepare_draw(&mut self, mode: u32, indexed: bool, command: &'static str) -> GlResult<bool> {
        self.check_draw_state(mode, indexed, command)?;
        if self.state.program.executable().is_none() {
            // Without a program the results are undefined, but there is no error in the core profile.
            return Ok(false);
        }
        if self.is_discarded() {
            return Ok(false);
        }
        if self.state.share.has_dead() {
            self.before_submit();
        }
        Ok(true)
    }

    #[inline]
    fn check_draw_state(&mut self, mode: u32, indexed: bool, command: &'static str) -> GlResult {
        let state = &mut self.state;
        state.check_draw_framebuffer(command)?;
        if state.arrays.bound() == 0 && !state.relaxed {
            return Err(invalid_operation(format!("{command}: no vertex array is bound")));
        }
        if indexed && state.arrays.current().element().is_none() {
            return Err(invalid_operation(format!("{command}: client indices need a buffer in the core profile")));
        }
        if state.share.has_mapped_buffers() {
            let array = state.arrays.current();
            let mut buffers = array.enabled_buffers().chain(array.element().filter(|_| indexed));
            if buffers.any(|b| b.is_mapped()) {
                return Err(invalid_operation(format!("{command}: a buffer that the draw reads is mapped")));
            }
        }
        state.program.refresh(&mut state.generations);
        if state.program.wants_state_values() {
            let shape = state.framebuffer_shape(Binding::Draw);
            let range = state.render.state().depth_ranges[0];
            let values = StateValues {
                height: shape.height,
                depth_range: [range.near, range.far],
                samples: shape.samples.max(1) as i32,
            };
            state.program.set_state_values(values, &mut state.generations);
        }
        if let Some(executable) = state.program.executable() {
            if state.program.units_conflict() {
                return Err(invalid_operation(format!("{command}: two sampler types share a texture unit")));
            }
            if state.program.modes() >> mode & 1 == 0 {
                return Err(invalid_operation(format!("{command}: the geometry shader takes other primitives")));
            }
            if state.xfb.captures() && state.xfb.allowed_modes(executable) >> mode & 1 == 0 {
                return Err(invalid_operation(format!("{command}: transform feedback captures other primitives")));
            }
        }
        Ok(())
    }

    #[inline]
    fn emit_draw(&mut self, info: &DrawInfo, ranges: &[DrawRange], indices: HostBytes<'_>) {
        self.tracker.validate(VerbClass::Draw, &mut self.state, &mut *self.pipe);
        self.pipe.draw_vbo(info, ranges, &[], indices);
    }

    /// `glDrawArrays`.
    pub fn draw_arrays(&mut self, mode: u32, first: i32, count: i32) {
        self.gl(|ctx| ctx.arrays(mode, first, count, 1, 0, "glDrawArrays"));
    }

    /// `glDrawArraysInstanced`, with a base instance for the later forms.
    pub fn draw_arrays_instanced(&mut self, mode: u32, first: i32, count: i32, instances: i32, base_instance: u32) {
        self.gl(|ctx| ctx.arrays(mode, first, count, instances, base_instance, "glDrawArraysInstanced"));
    }

    #[inline]
    fn arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        command: &'static str,
    ) -> GlResult {
        check_mode(mode, command)?;
        if first < 0 || count < 0 || instances < 0 {
            return Err(invalid_value(format!("{command}: negative first, count or instance count")));
        }
        if !self.prepare_draw(mode, false, command)? || count == 0 || instances == 0 {
            return Ok(());
        }
        let info = DrawInfo {
            mode,
            instance_count: instances as u32,
            start_instance: base_instance,
            range_count: 1,
            ..DrawInfo::default()
        };
        let range = DrawRange { start: first as u32, count: count as u32, index_bias: 0 };
        self.emit_draw(&info, &[range], HostBytes::None);
        Ok(())
    }

    /// `glMultiDrawArrays`.
    pub fn multi_draw_arrays(&mut self, mode: u32, firsts: &[i32], counts: &[i32]) {
        self.gl(|ctx| {
            let command = "glMultiDrawArrays";
            check_mode(mode, command)?;
            if firsts.iter().chain(counts).any(|&v| v < 0) {
                return Err(invalid_value("glMultiDrawArrays: negative first or count"));
            }
            if !ctx.prepare_draw(mode, false, command)? || counts.iter().all(|&c| c == 0) {
                return Ok(());
            }
            let mut ranges = std::mem::take(&mut ctx.state.draw_ranges);
            ranges.clear();
            ranges.extend(firsts.iter().zip(counts).map(|(&first, &count)| DrawRange {
                start: first as u32,
                count: count as u32,
                index_bias: 0,
            }));
            let info = DrawInfo { mode, instance_count: 1, range_count: ranges.len() as u32, ..DrawInfo::default() };
            ctx.emit_draw(&info, &ranges, HostBytes::None);
            ctx.state.draw_ranges = ranges;
            Ok(())
        });
    }

    /// `glDrawElements`.
    pub fn draw_elements(&mut self, mode: u32, count: i32, type_: u32, indices: usize) {
        self.gl(|ctx| ctx.elements(mode, count, type_, indices, 1, 0, 0, "glDrawElements"));
    }

    /// `glDrawElementsInstancedBaseVertexBaseInstance` and every form that it contains.
    pub fn draw_elements_instanced(
        &mut self,
        mode: u32,
        count: i32,
        type_: u32,
        indices: usize,
        instances: i32,
        base_vertex: i32,
        base_instance: u32,
    ) {
        self.gl(|ctx| {
            let command = "glDrawElementsInstanced";
            ctx.elements(mode, count, type_, indices, instances, base_vertex, base_instance, command)
        });
    }

    #[inline]
    fn elements(
        &mut self,
        mode: u32,
        count: i32,
        type_: u32,
        indices: usize,
        instances: i32,
        base_vertex: i32,
        base_instance: u32,
        command: &'static str,
    ) -> GlResult {
        check_mode(mode, command)?;
        let size = index_bytes(type_, command)?;
        if count < 0 || instances < 0 {
            return Err(invalid_value(format!("{command}: negative count")));
        }
        if !self.prepare_draw(mode, true, command)? || count == 0 || instances == 0 {
            return Ok(());
        }
        let mut info = self.indexed_info(mode, size);
        info.instance_count = instances as u32;
        info.start_instance = base_instance;
        self.emit_indexed(&mut info, &[(indices, count as u32, base_vertex)])
    }

    /// `glMultiDrawElements` and `glMultiDrawElementsBaseVertex`.
    pub fn multi_draw_elements(
        &mut self,
        mode: u32,
        counts: &[i32],
        type_: u32,
        indices: &[usize],
        base_vertices: Option<&[i32]>,
    ) {
        self.gl(|ctx| {
            let command = "glMultiDrawElements";
            check_mode(mode, command)?;
            let size = index_bytes(type_, command)?;
            if counts.iter().any(|&c| c < 0) {
                return Err(invalid_value("glMultiDrawElements: negative count"));
            }
            if !ctx.prepare_draw(mode, true, command)? || counts.iter().all(|&c| c == 0) {
                return Ok(());
            }
            let mut info = ctx.indexed_info(mode, size);
            let bias = |i: usize| base_vertices.and_then(|b| b.get(i)).copied().unwrap_or(0);
            let draws = indices.iter().zip(counts).enumerate();
            let draws: smallvec::SmallVec<[_; 16]> =
                draws.map(|(i, (&offset, &count))| (offset, count as u32, bias(i))).collect();
            ctx.emit_indexed(&mut info, &draws)
        });
    }

    /// What every indexed draw of the bound element array has in common.
    #[inline]
    fn indexed_info(&self, mode: u32, index_size: u8) -> DrawInfo {
        let state = self.state.render.state();
        let mut info = DrawInfo {
            mode,
            index_size,
            instance_count: 1,
            index_buffer: self.state.arrays.current().element().map_or(Default::default(), |b| b.handle.0),
            ..DrawInfo::default()
        };
        let largest = u32::MAX >> (32 - 8 * u32::from(index_size));
        if state.primitive_restart_fixed_index != 0 {
            info.flags |= draw_flags::PRIMITIVE_RESTART;
            info.restart_index = largest;
        } else if state.primitive_restart != 0 && state.primitive_restart_index <= largest {
            // An index beyond the type's range never occurs, so restart is off then.
            info.flags |= draw_flags::PRIMITIVE_RESTART;
            info.restart_index = state.primitive_restart_index;
        }
        info
    }

    /// Draws byte ranges (offset, count, bias) of the element array.
    #[inline]
    fn emit_indexed(&mut self, info: &mut DrawInfo, draws: &[(usize, u32, i32)]) -> GlResult {
        // Index sizes are 1, 2 and 4, so that no division is needed.
        let shift = u32::from(info.index_size).trailing_zeros();
        let aligned = draws.iter().all(|(offset, ..)| offset >> shift << shift == *offset);
        if !aligned || self.state.share.needs_index_bytes() {
            return self.emit_with_index_bytes(info, draws);
        }
        let range = |&(offset, count, index_bias): &(usize, u32, i32)| DrawRange {
            // An offset beyond 2^32 indices lies outside any buffer; the clamp keeps it outside.
            start: u32::try_from(offset >> shift).unwrap_or(u32::MAX),
            count,
            index_bias,
        };
        info.range_count = draws.len() as u32;
        if let [one] = draws {
            self.emit_draw(info, &[range(one)], HostBytes::None);
            return Ok(());
        }
        let mut ranges = std::mem::take(&mut self.state.draw_ranges);
        ranges.clear();
        ranges.extend(draws.iter().map(range));
        self.emit_draw(info, &ranges, HostBytes::None);
        self.state.draw_ranges = ranges;
        Ok(())
    }

    /// Draws with index bytes from this side: offsets that no index buffer can express, and backends that rewrite indices.
    #[cold]
    fn emit_with_index_bytes(&mut self, info: &mut DrawInfo, draws: &[(usize, u32, i32)]) -> GlResult {
        let Some(buffer) = self.state.arrays.current().element().cloned() else { return Ok(()) };
        let size = usize::from(info.index_size);
        let mut bytes = Vec::new();
        let mut ranges = Vec::with_capacity(draws.len());
        for &(offset, count, index_bias) in draws {
            let available = (buffer.size() as usize).saturating_sub(offset) / size;
            let count = (count as usize).min(available);
            let start = bytes.len();
            bytes.resize(start + count * size, 0);
            if count != 0 {
                self.read_buffer_bytes(&buffer, offset as u64, &mut bytes[start..])?;
            }
            ranges.push(DrawRange { start: (start / size) as u32, count: count as u32, index_bias });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        info.flags |= draw_flags::USER_INDICES;
        info.index_buffer = mgpipe_types::Handle::NULL;
        info.range_count = ranges.len() as u32;
        self.emit_draw(info, &ranges, HostBytes::Bytes(&bytes));
        Ok(())
    }
}
