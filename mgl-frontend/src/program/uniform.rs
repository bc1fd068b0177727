//! `glUniform*`: values of the program in use.

use mgpipe_types::reflection::gl_type::{self, Scalar, Shape};
use mgpipe_types::reflection::Uniform;

use super::Executable;
use crate::context::{Context, ContextState};
use crate::error::{invalid_operation, invalid_value, GlResult};

/// The values of one call, in the type of its suffix.
#[derive(Clone, Copy)]
enum Given<'a> {
    Floats(&'a [f32]),
    Ints(&'a [i32]),
    Uints(&'a [u32]),
}

impl Given<'_> {
    fn len(&self) -> usize {
        match self {
            Given::Floats(v) => v.len(),
            Given::Ints(v) => v.len(),
            Given::Uints(v) => v.len(),
        }
    }

    /// Whether a uniform of this class takes values of this type (GL 4.6 §7.6.1).
    fn fits(&self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::Bool => true,
            Scalar::Float => matches!(self, Given::Floats(_)),
            Scalar::Int => matches!(self, Given::Ints(_)),
            Scalar::Uint => matches!(self, Given::Uints(_)),
            Scalar::Double => false,
        }
    }

    /// Word `i` as it is stored.
    #[inline]
    fn word(&self, i: usize, scalar: Scalar) -> u32 {
        if scalar == Scalar::Bool {
            let set = match self {
                Given::Floats(v) => v[i] != 0.0,
                Given::Ints(v) => v[i] != 0,
                Given::Uints(v) => v[i] != 0,
            };
            return u32::from(set);
        }
        match self {
            Given::Floats(v) => v[i].to_bits(),
            Given::Ints(v) => v[i] as u32,
            Given::Uints(v) => v[i],
        }
    }
}

/// Byte offset of a component of an element in the default block.
#[inline]
pub(super) fn component_offset(uniform: &Uniform, shape: Shape, element: u32, column: u32, row: u32) -> usize {
    let element = uniform.offset as usize + element as usize * uniform.array_stride.max(0) as usize;
    let size = shape.scalar.size() as usize;
    if shape.columns == 1 {
        return element + row as usize * size;
    }
    let stride = uniform.matrix_stride.max(0) as usize;
    let (major, minor) = if uniform.row_major { (row, column) } else { (column, row) };
    element + major as usize * stride + minor as usize * size
}

#[inline]
fn store(block: &mut [u8], offset: usize, word: u32, changed: &mut bool) {
    if let Some(place) = block.get_mut(offset..offset + 4) {
        let bytes = word.to_le_bytes();
        if *place != bytes {
            place.copy_from_slice(&bytes);
            *changed = true;
        }
    }
}

impl ContextState {
    /// Uniform and element of a location of the program in use; `None` for location -1, which is ignored.
    #[inline]
    fn uniform_target(
        &self,
        location: i32,
        count: usize,
        command: &'static str,
    ) -> GlResult<Option<(&Executable, usize, u32)>> {
        let executable =
            self.program.executable().ok_or_else(|| invalid_operation(format!("{command}: no program is in use")))?;
        if location == -1 {
            return Ok(None);
        }
        let (index, element) = executable
            .at_location(location)
            .ok_or_else(|| invalid_operation(format!("{command}: no uniform at location {location}")))?;
        if count > 1 && !executable.reflection.uniforms[index].is_array() {
            return Err(invalid_operation(format!("{command}: count {count} for a uniform that is no array")));
        }
        Ok(Some((executable, index, element)))
    }

    fn set_uniform(&self, location: i32, components: u32, given: Given<'_>, command: &'static str) -> GlResult {
        let count = given.len() / components.max(1) as usize;
        let Some((executable, index, element)) = self.uniform_target(location, count, command)? else { return Ok(()) };
        let uniform = &executable.reflection.uniforms[index];
        let Some(shape) = executable.shapes[index] else {
            return self.set_opaque(executable, index, element, components, given, command);
        };
        if shape.columns != 1 || shape.rows != components || !given.fits(shape.scalar) {
            return Err(invalid_operation(format!("{command}: {} has another type", uniform.name)));
        }
        // Elements beyond the array are ignored.
        let count = count.min((uniform.array_size - element) as usize);
        let mut changed = false;
        let mut values = executable.values();
        for i in 0..count {
            let start = component_offset(uniform, shape, element + i as u32, 0, 0);
            for c in 0..components as usize {
                let word = given.word(i * components as usize + c, shape.scalar);
                store(&mut values.block, start + c * 4, word, &mut changed);
            }
        }
        drop(values);
        if changed {
            executable.constants_changed();
        }
        Ok(())
    }

    /// Samplers and images take their unit through `glUniform1i(v)`.
    fn set_opaque(
        &self,
        executable: &Executable,
        index: usize,
        element: u32,
        components: u32,
        given: Given<'_>,
        command: &'static str,
    ) -> GlResult {
        let uniform = &executable.reflection.uniforms[index];
        let (Given::Ints(units), 1) = (given, components) else {
            return Err(invalid_operation(format!("{command}: {} is a sampler", uniform.name)));
        };
        let count = units.len().min((uniform.array_size - element) as usize);
        let units = &units[..count];
        let limit = self.share.limits.combined_texture_image_units;
        if gl_type::is_sampler(uniform.gl_type) && units.iter().any(|&u| u < 0 || u as u32 >= limit) {
            return Err(invalid_value(format!("{command}: texture unit beyond {limit}")));
        }
        let mut changed = false;
        let mut values = executable.values();
        for (i, &unit) in units.iter().enumerate() {
            let slot = executable.opaque_slot(index, element + i as u32);
            if let Some(value) = values.opaque.get_mut(slot) {
                changed |= *value != unit as u32;
                *value = unit as u32;
            }
        }
        drop(values);
        if changed {
            executable.bindings_changed();
        }
        Ok(())
    }
}

impl Context {
    /// `glUniform{1234}f(v)`.
    pub fn uniform_f(&mut self, location: i32, components: u32, values: &[f32]) {
        self.gl(|ctx| ctx.state.set_uniform(location, components, Given::Floats(values), "glUniform"));
    }

    /// `glUniform{1234}i(v)`.
    pub fn uniform_i(&mut self, location: i32, components: u32, values: &[i32]) {
        self.gl(|ctx| ctx.state.set_uniform(location, components, Given::Ints(values), "glUniform"));
    }

    /// `glUniform{1234}ui(v)`.
    pub fn uniform_ui(&mut self, location: i32, components: u32, values: &[u32]) {
        self.gl(|ctx| ctx.state.set_uniform(location, components, Given::Uints(values), "glUniform"));
    }

    /// `glUniformMatrix*fv`.
    pub fn uniform_matrix_f(&mut self, location: i32, columns: u32, rows: u32, transpose: bool, values: &[f32]) {
        self.gl(|ctx| {
            let command = "glUniformMatrix";
            let size = (columns * rows).max(1) as usize;
            let count = values.len() / size;
            let Some((executable, index, element)) = ctx.state.uniform_target(location, count, command)? else {
                return Ok(());
            };
            let uniform = &executable.reflection.uniforms[index];
            let shape = executable.shapes[index]
                .filter(|s| s.scalar == Scalar::Float && s.columns == columns && s.rows == rows)
                .ok_or_else(|| invalid_operation(format!("glUniformMatrix: {} has another type", uniform.name)))?;
            let count = count.min((uniform.array_size - element) as usize);
            let mut changed = false;
            let mut stored = executable.values();
            for (i, matrix) in values.chunks_exact(size).take(count).enumerate() {
                for column in 0..columns {
                    for row in 0..rows {
                        let from = if transpose { row * columns + column } else { column * rows + row };
                        let at = component_offset(uniform, shape, element + i as u32, column, row);
                        store(&mut stored.block, at, matrix[from as usize].to_bits(), &mut changed);
                    }
                }
            }
            drop(stored);
            if changed {
                executable.constants_changed();
            }
            Ok(())
        });
    }

    /// `glUniformBlockBinding`.
    pub fn uniform_block_binding(&mut self, program: u32, uniform_block_index: u32, uniform_block_binding: u32) {
        self.gl(|ctx| {
            let command = "glUniformBlockBinding";
            let executable = ctx.linked_by_name(program, command)?;
            if uniform_block_binding >= ctx.state.share.limits.uniform_buffer_bindings {
                return Err(invalid_value("glUniformBlockBinding: binding"));
            }
            let mut values = executable.values();
            let point = values
                .uniform_blocks
                .get_mut(uniform_block_index as usize)
                .ok_or_else(|| invalid_value("glUniformBlockBinding: block index"))?;
            let changed = *point != uniform_block_binding;
            *point = uniform_block_binding;
            drop(values);
            if changed {
                executable.bindings_changed();
            }
            Ok(())
        });
    }
}
