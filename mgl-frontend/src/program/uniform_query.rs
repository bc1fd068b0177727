//! Queries of uniforms and uniform blocks.

use mgpipe_types::gl;
use mgpipe_types::reflection::gl_type::Scalar;
use mgpipe_types::reflection::Stage;

use super::interface::split_index;
use super::shader::text_length;
use super::uniform::component_offset;
use super::Executable;
use crate::boundary::{ActiveInfo, Values};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};

impl Executable {
    /// Reflection index and element that a name means; `a` and `a[0]` are the same.
    pub(super) fn find_uniform(&self, name: &str) -> Option<(usize, u32)> {
        if let Some(index) = self.uniform_by_name(name) {
            return Some((index, 0));
        }
        if let Some(index) = self.uniform_by_name(&format!("{name}[0]")) {
            return Some((index, 0));
        }
        let (base, element) = split_index(name)?;
        let index = self.uniform_by_name(&format!("{base}[0]"))?;
        (element < self.reflection.uniforms[index].array_size).then_some((index, element))
    }

    fn visible_uniform(&self, index: u32, command: &'static str) -> GlResult<usize> {
        self.visible
            .get(index as usize)
            .map(|&i| i as usize)
            .ok_or_else(|| invalid_value(format!("{command}: uniform {index} of {}", self.visible.len())))
    }
}

impl Context {
    /// `glGetUniformLocation`.
    pub fn get_uniform_location(&mut self, program: u32, name: &str) -> i32 {
        self.gl_or(-1, |ctx| {
            let executable = ctx.linked_by_name(program, "glGetUniformLocation")?;
            if name.starts_with("gl_") {
                return Ok(-1);
            }
            let Some((index, element)) = executable.find_uniform(name) else { return Ok(-1) };
            let location = executable.reflection.uniforms[index].location;
            Ok(if location < 0 { -1 } else { location + element as i32 })
        })
    }

    /// `glGetUniformIndices`: `GL_INVALID_INDEX` for names that are no active uniform.
    pub fn get_uniform_indices(&mut self, program: u32, names: &[&str], out: &mut [u32]) -> bool {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetUniformIndices")?;
            // An unlinked program has no active uniforms, which is no error here.
            let executable = ctx.linked_program(&program);
            for (name, slot) in names.iter().zip(out) {
                let found = executable.as_ref().and_then(|e| {
                    let (index, element) = e.find_uniform(name)?;
                    (element == 0).then(|| e.gl_index[index])
                });
                *slot = found.unwrap_or(gl::INVALID_INDEX);
            }
            Ok(true)
        })
    }

    /// `glGetActiveUniform`.
    pub fn get_active_uniform(&mut self, program: u32, index: u32) -> Option<ActiveInfo> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetActiveUniform")?;
            let executable = ctx
                .linked_program(&program)
                .ok_or_else(|| invalid_value("glGetActiveUniform: the program has no active uniforms"))?;
            let index = executable.visible_uniform(index, "glGetActiveUniform")?;
            let uniform = &executable.reflection.uniforms[index];
            Ok(Some(ActiveInfo { name: uniform.name.clone(), size: uniform.array_size as i32, type_: uniform.gl_type }))
        })
    }

    /// `glGetActiveUniformName`.
    pub fn get_active_uniform_name(&mut self, program: u32, index: u32) -> Option<String> {
        self.get_active_uniform(program, index).map(|info| info.name)
    }

    /// `glGetActiveUniformsiv`.
    pub fn get_active_uniforms(&mut self, program: u32, indices: &[u32], pname: u32) -> Option<Vec<i32>> {
        self.gl(|ctx| {
            let command = "glGetActiveUniformsiv";
            let program = ctx.state.program_by_name(program, command)?;
            let executable = ctx
                .linked_program(&program)
                .ok_or_else(|| invalid_value("glGetActiveUniformsiv: the program has no active uniforms"))?;
            let mut out = Vec::with_capacity(indices.len());
            for &index in indices {
                let uniform = &executable.reflection.uniforms[executable.visible_uniform(index, command)?];
                // Loose uniforms have no place that the application could know.
                let in_block = uniform.block_index >= 0 || uniform.atomic_index >= 0;
                let placed = |value: i32| if in_block { value } else { -1 };
                out.push(match pname {
                    gl::UNIFORM_TYPE => uniform.gl_type as i32,
                    gl::UNIFORM_SIZE => uniform.array_size as i32,
                    gl::UNIFORM_NAME_LENGTH => text_length(uniform.name.len()),
                    gl::UNIFORM_BLOCK_INDEX => uniform.block_index,
                    gl::UNIFORM_OFFSET => placed(uniform.offset),
                    gl::UNIFORM_ARRAY_STRIDE => placed(uniform.array_stride),
                    gl::UNIFORM_MATRIX_STRIDE => placed(uniform.matrix_stride),
                    gl::UNIFORM_IS_ROW_MAJOR => i32::from(in_block && uniform.row_major),
                    _ => return Err(invalid_enum("glGetActiveUniformsiv: pname")),
                });
            }
            Ok(Some(out))
        })
    }

    /// `glGetUniformBlockIndex`.
    pub fn get_uniform_block_index(&mut self, program: u32, name: &str) -> u32 {
        self.gl_or(gl::INVALID_INDEX, |ctx| {
            let program = ctx.state.program_by_name(program, "glGetUniformBlockIndex")?;
            let Some(executable) = ctx.linked_program(&program) else { return Ok(gl::INVALID_INDEX) };
            let blocks = &executable.reflection.uniform_blocks;
            let at = blocks
                .iter()
                .position(|b| b.name == name)
                .or_else(|| blocks.iter().position(|b| b.name.strip_suffix("[0]") == Some(name)));
            Ok(at.map_or(gl::INVALID_INDEX, |i| i as u32))
        })
    }

    /// `glGetActiveUniformBlockName`.
    pub fn get_active_uniform_block_name(&mut self, program: u32, index: u32) -> Option<String> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetActiveUniformBlockName")?;
            let executable = ctx.linked_program(&program);
            let block = executable.as_ref().and_then(|e| e.reflection.uniform_blocks.get(index as usize));
            let block = block.ok_or_else(|| invalid_value("glGetActiveUniformBlockName: index"))?;
            Ok(Some(block.name.clone()))
        })
    }

    /// `glGetActiveUniformBlockiv`.
    pub fn get_active_uniform_block(&mut self, program: u32, index: u32, pname: u32) -> Option<Values> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetActiveUniformBlockiv")?;
            let executable = ctx
                .linked_program(&program)
                .ok_or_else(|| invalid_value("glGetActiveUniformBlockiv: the program has no active blocks"))?;
            let block = executable
                .reflection
                .uniform_blocks
                .get(index as usize)
                .ok_or_else(|| invalid_value("glGetActiveUniformBlockiv: index"))?;
            let by = |stage| Values::bool(block.stages.contains(stage));
            Ok(Some(match pname {
                gl::UNIFORM_BLOCK_BINDING => {
                    Values::int(executable.values().uniform_blocks.get(index as usize).copied().unwrap_or(0))
                }
                gl::UNIFORM_BLOCK_DATA_SIZE => Values::int(block.size),
                gl::UNIFORM_BLOCK_NAME_LENGTH => Values::int(text_length(block.name.len())),
                gl::UNIFORM_BLOCK_ACTIVE_UNIFORMS => Values::int(block.members.len() as i64),
                gl::UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES => {
                    Values::ints(block.members.iter().map(|&m| executable.gl_index[m as usize]))
                }
                gl::UNIFORM_BLOCK_REFERENCED_BY_VERTEX_SHADER => by(Stage::Vertex),
                gl::UNIFORM_BLOCK_REFERENCED_BY_GEOMETRY_SHADER => by(Stage::Geometry),
                gl::UNIFORM_BLOCK_REFERENCED_BY_FRAGMENT_SHADER => by(Stage::Fragment),
                _ => return Err(invalid_enum("glGetActiveUniformBlockiv: pname")),
            }))
        })
    }

    /// `glGetUniform*v`: one element, in the uniform's own type.
    pub fn get_uniform(&mut self, program: u32, location: i32) -> Option<Values> {
        self.gl(|ctx| {
            let executable = ctx.linked_by_name(program, "glGetUniform")?;
            let (index, element) = executable
                .at_location(location)
                .ok_or_else(|| invalid_operation(format!("glGetUniform: no uniform at location {location}")))?;
            let uniform = &executable.reflection.uniforms[index];
            let values = executable.values();
            let Some(shape) = executable.shapes[index] else {
                let slot = executable.opaque_slot(index, element);
                return Ok(Some(Values::int(values.opaque.get(slot).copied().unwrap_or(0))));
            };
            let mut words = Vec::with_capacity(shape.components() as usize);
            for column in 0..shape.columns {
                for row in 0..shape.rows {
                    let at = component_offset(uniform, shape, element, column, row);
                    let mut bytes = [0; 8];
                    let size = shape.scalar.size() as usize;
                    if let Some(stored) = values.block.get(at..at + size) {
                        bytes[..size].copy_from_slice(stored);
                    }
                    words.push(u64::from_le_bytes(bytes));
                }
            }
            Ok(Some(match shape.scalar {
                Scalar::Float => Values::floats(words.iter().map(|&w| f32::from_bits(w as u32))),
                Scalar::Double => Values::floats(words.iter().map(|&w| f64::from_bits(w))),
                Scalar::Int => Values::ints(words.iter().map(|&w| w as u32 as i32)),
                Scalar::Uint | Scalar::Bool => Values::ints(words.iter().map(|&w| w as u32)),
            }))
        })
    }
}
