//! `glGetProgramiv` and the program's info log.

use std::sync::atomic::Ordering;

use mgpipe_types::gl;
use mgpipe_types::reflection::{GeometryPrimitive, Reflection};

use super::interface::attribute_name;
use super::shader::text_length;
use crate::boundary::Values;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation};

/// Longest name of a list with its terminator, 0 for an empty list.
fn longest<'a>(names: impl Iterator<Item = &'a str>) -> i32 {
    names.map(|n| text_length(n.len())).max().unwrap_or(0)
}

fn primitive(primitive: GeometryPrimitive) -> u32 {
    match primitive {
        GeometryPrimitive::Points => gl::POINTS,
        GeometryPrimitive::Lines => gl::LINES,
        GeometryPrimitive::LinesAdjacency => gl::LINES_ADJACENCY,
        GeometryPrimitive::Triangles => gl::TRIANGLES,
        GeometryPrimitive::TrianglesAdjacency => gl::TRIANGLES_ADJACENCY,
        GeometryPrimitive::LineStrip => gl::LINE_STRIP,
        GeometryPrimitive::TriangleStrip => gl::TRIANGLE_STRIP,
    }
}

impl Context {
    /// `glGetProgramiv`.
    pub fn get_program(&mut self, program: u32, pname: u32) -> Option<Values> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetProgramiv")?;
            let mut inner = program.inner.lock();
            if pname == gl::COMPLETION_STATUS_KHR {
                let done = inner.pending.as_mut().is_none_or(|p| p.is_done());
                return Ok(Some(Values::bool(done)));
            }
            ctx.join_link(&mut inner);
            let executable = inner.executable.as_ref();
            let reflection = executable.map(|e| &e.reflection);
            let count = |of: fn(&Reflection) -> usize| Values::int(reflection.map_or(0, of) as i64);
            let geometry = || {
                reflection
                    .and_then(|r| r.geometry.as_ref())
                    .ok_or_else(|| invalid_operation("glGetProgramiv: no geometry shader is linked"))
            };
            Ok(Some(match pname {
                gl::DELETE_STATUS => Values::bool(program.deleted.load(Ordering::Acquire)),
                gl::LINK_STATUS => Values::bool(inner.link_status),
                gl::VALIDATE_STATUS => Values::bool(inner.validate_status),
                gl::INFO_LOG_LENGTH => Values::int(text_length(inner.info_log.len())),
                gl::ATTACHED_SHADERS => Values::int(inner.attached.len() as i64),
                gl::ACTIVE_ATTRIBUTES => count(|r| r.inputs.len()),
                gl::ACTIVE_ATTRIBUTE_MAX_LENGTH => {
                    Values::int(reflection.map_or(0, |r| longest(r.inputs.iter().map(attribute_name))))
                }
                gl::ACTIVE_UNIFORMS => Values::int(executable.map_or(0, |e| e.visible.len()) as i64),
                gl::ACTIVE_UNIFORM_MAX_LENGTH => Values::int(executable.map_or(0, |e| {
                    longest(e.visible.iter().map(|&i| e.reflection.uniforms[i as usize].name.as_str()))
                })),
                gl::ACTIVE_UNIFORM_BLOCKS => count(|r| r.uniform_blocks.len()),
                gl::ACTIVE_UNIFORM_BLOCK_MAX_NAME_LENGTH => {
                    Values::int(reflection.map_or(0, |r| longest(r.uniform_blocks.iter().map(|b| b.name.as_str()))))
                }
                gl::TRANSFORM_FEEDBACK_BUFFER_MODE => Values::int(match inner.setup.varyings_mode {
                    0 => gl::INTERLEAVED_ATTRIBS,
                    mode => mode,
                }),
                gl::TRANSFORM_FEEDBACK_VARYINGS => {
                    count(|r| r.transform_feedback.as_ref().map_or(0, |x| x.varyings.len()))
                }
                gl::TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH => {
                    let xfb = reflection.and_then(|r| r.transform_feedback.as_ref());
                    Values::int(xfb.map_or(0, |x| longest(x.varyings.iter().map(|v| v.name.as_str()))))
                }
                gl::GEOMETRY_VERTICES_OUT => Values::int(geometry()?.max_vertices),
                gl::GEOMETRY_INPUT_TYPE => Values::int(primitive(geometry()?.input)),
                gl::GEOMETRY_OUTPUT_TYPE => Values::int(primitive(geometry()?.output)),
                _ => return Err(invalid_enum("glGetProgramiv: pname")),
            }))
        })
    }

    /// `glGetProgramInfoLog`.
    pub fn get_program_info_log(&mut self, program: u32) -> Option<String> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetProgramInfoLog")?;
            let mut inner = program.inner.lock();
            ctx.join_link(&mut inner);
            Ok(Some(inner.info_log.clone()))
        })
    }
}
