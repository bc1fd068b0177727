//! Linking: what a program tells the linker, and what becomes of the result.

use std::sync::Arc;

use mgl_glsl::{LinkError, LinkOptions, LinkedProgram, Pending};
use mgpipe_types::gl;
use mgpipe_types::reflection::TransformFeedbackMode;

use super::{Executable, Program, ProgramInner};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};

/// A link on a worker thread.
pub(crate) type PendingLink = Pending<Result<LinkedProgram, LinkError>>;

/// What the next link takes beside the shaders.
#[derive(Debug, Default, Clone)]
pub(crate) struct LinkSetup {
    attribute_locations: Vec<(String, u32)>,
    fragment_data_locations: Vec<(String, u32, u32)>,
    pub(crate) varyings: Vec<String>,
    pub(crate) varyings_mode: u32,
}

fn set_by_name<T>(list: &mut Vec<(String, T)>, name: &str, value: T) {
    match list.iter_mut().find(|(n, _)| n == name) {
        Some(entry) => entry.1 = value,
        None => list.push((name.to_owned(), value)),
    }
}

impl Context {
    /// Finishes a link that a worker has run: the result becomes the program's, and the pipe learns it.
    pub(super) fn join_link(&mut self, inner: &mut ProgramInner) {
        let Some(pending) = inner.pending.take() else { return };
        inner.executable = None;
        inner.link_status = false;
        match pending.wait() {
            Ok(linked) => {
                inner.info_log = linked.info_log.clone();
                match Executable::new(&self.state.share.core, linked, &mut *self.pipe) {
                    Ok(executable) => {
                        inner.executable = Some(Arc::new(executable));
                        inner.link_status = true;
                    }
                    Err(error) => inner.info_log = format!("error: {}\n", error.message),
                }
            }
            Err(error) => inner.info_log = error.info_log,
        }
    }

    /// The program's executable after any link in progress.
    pub(crate) fn linked_program(&mut self, program: &Arc<Program>) -> Option<Arc<Executable>> {
        let mut inner = program.inner.lock();
        self.join_link(&mut inner);
        inner.executable.clone()
    }

    /// The executable of a program name.
    ///
    /// # Errors
    /// Those of the name, and `GL_INVALID_OPERATION` when the last link failed or there was none.
    pub(crate) fn linked_by_name(&mut self, program: u32, command: &'static str) -> GlResult<Arc<Executable>> {
        let program = self.state.program_by_name(program, command)?;
        self.linked_program(&program).ok_or_else(|| invalid_operation(format!("{command}: the program is not linked")))
    }

    /// `glLinkProgram`: starts on a worker; the first command that needs the result waits for it.
    pub fn link_program(&mut self, program: u32) {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glLinkProgram")?;
            let current = ctx.state.program.is(&program);
            if current && ctx.state.xfb.is_active() {
                return Err(invalid_operation("glLinkProgram: transform feedback uses the program"));
            }
            let mut inner = program.inner.lock();
            program.links.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
            // The worker of an earlier link finishes on its own; nobody asked for its result.
            inner.pending = None;
            inner.executable = None;
            inner.link_status = false;
            inner.validate_status = false;
            inner.info_log.clear();
            let compiled: Vec<_> = inner.attached.iter().map(|shader| (shader.name, shader.compiled())).collect();
            if let Some((name, _)) = compiled.iter().find(|(_, c)| !c.as_ref().is_some_and(|c| c.ok())) {
                inner.info_log = format!("error: shader {name} is not compiled\n");
                return Ok(());
            }
            let compiled: Vec<_> = compiled.into_iter().filter_map(|(_, c)| c).collect();
            if compiled.is_empty() {
                inner.info_log = "error: no shader is attached\n".into();
                return Ok(());
            }
            let setup = &inner.setup;
            let mode = match setup.varyings_mode {
                gl::INTERLEAVED_ATTRIBS => Some(TransformFeedbackMode::Interleaved),
                gl::SEPARATE_ATTRIBS => Some(TransformFeedbackMode::Separate),
                _ => None,
            };
            let options = LinkOptions {
                limits: ctx.state.share.limits.for_shaders(),
                attribute_locations: setup.attribute_locations.clone(),
                fragment_data_locations: setup.fragment_data_locations.clone(),
                transform_feedback_varyings: setup.varyings.clone(),
                transform_feedback_mode: mode,
                separable: false,
                patch_vertices: 0,
            };
            inner.pending = Some(mgl_glsl::link_async(compiled, options));
            if current {
                // GL 4.6 §7.3: a successful link of the program in use takes effect at once.
                ctx.join_link(&mut inner);
                if let Some(executable) = inner.executable.clone() {
                    ctx.state.program.install(executable);
                    ctx.state.generations.bump(mgpipe_tracker::Counter::DrawProgram);
                }
            }
            Ok(())
        });
    }

    /// `glBindAttribLocation`.
    pub fn bind_attrib_location(&mut self, program: u32, index: u32, name: &str) {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glBindAttribLocation")?;
            if index >= ctx.state.share.limits.vertex_attribs {
                return Err(invalid_value("glBindAttribLocation: index"));
            }
            if name.starts_with("gl_") {
                return Err(invalid_operation("glBindAttribLocation: the name is reserved"));
            }
            set_by_name(&mut program.inner.lock().setup.attribute_locations, name, index);
            Ok(())
        });
    }

    /// `glBindFragDataLocationIndexed`; the plain call has index 0.
    pub fn bind_frag_data_location(&mut self, program: u32, color_number: u32, index: u32, name: &str) {
        self.gl(|ctx| {
            let command = "glBindFragDataLocation";
            let program = ctx.state.program_by_name(program, command)?;
            let limits = &ctx.state.share.limits;
            let most = match index {
                0 => limits.draw_buffers,
                1 => limits.dual_source_draw_buffers,
                _ => return Err(invalid_value("glBindFragDataLocationIndexed: index")),
            };
            if color_number >= most {
                return Err(invalid_value("glBindFragDataLocation: colour number"));
            }
            if name.starts_with("gl_") {
                return Err(invalid_operation("glBindFragDataLocation: the name is reserved"));
            }
            let list = &mut program.inner.lock().setup.fragment_data_locations;
            list.retain(|(n, ..)| n != name);
            list.push((name.to_owned(), color_number, index));
            Ok(())
        });
    }

    /// `glTransformFeedbackVaryings`.
    pub fn transform_feedback_varyings(&mut self, program: u32, varyings: &[&str], buffer_mode: u32) {
        self.gl(|ctx| {
            let command = "glTransformFeedbackVaryings";
            if !matches!(buffer_mode, gl::INTERLEAVED_ATTRIBS | gl::SEPARATE_ATTRIBS) {
                return Err(invalid_enum("glTransformFeedbackVaryings: mode"));
            }
            let program = ctx.state.program_by_name(program, command)?;
            let most = ctx.state.share.limits.xfb_separate_attribs as usize;
            if buffer_mode == gl::SEPARATE_ATTRIBS && varyings.len() > most {
                return Err(invalid_value("glTransformFeedbackVaryings: count"));
            }
            let mut inner = program.inner.lock();
            inner.setup.varyings = varyings.iter().map(|&v| v.to_owned()).collect();
            inner.setup.varyings_mode = buffer_mode;
            Ok(())
        });
    }

    /// `glValidateProgram`: whether the program could draw in the current state.
    pub fn validate_program(&mut self, program: u32) {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glValidateProgram")?;
            let mut inner = program.inner.lock();
            ctx.join_link(&mut inner);
            inner.validate_status = match &inner.executable {
                None => false,
                Some(executable) => {
                    let mut units = Vec::new();
                    executable.sampler_units(&executable.values(), &mut units);
                    !executable.units_conflict(&units)
                }
            };
            Ok(())
        });
    }
}
