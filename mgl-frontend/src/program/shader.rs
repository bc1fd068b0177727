//! Shader objects: source and compilation on the compiler's own threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

use mgl_glsl::{CompileOptions, CompiledShader, ContextProfile, Pending, Stage};
use mgpipe_types::{features, gl};
use parking_lot::Mutex;

use super::ShaderOrProgram;
use crate::context::Context;
use crate::error::invalid_enum;

/// A shader object.
#[derive(Debug)]
pub(crate) struct Shader {
    /// GL name.
    pub(crate) name: u32,
    /// The stage it was created for.
    pub(crate) stage: Stage,
    /// `glDeleteShader` was called while programs still had it attached.
    pub(super) deleted: AtomicBool,
    /// Programs that have it attached.
    pub(super) attachments: AtomicU32,
    inner: Mutex<ShaderInner>,
}

#[derive(Debug, Default)]
struct ShaderInner {
    source: Vec<u8>,
    pending: Option<Pending<CompiledShader>>,
    compiled: Option<CompiledShader>,
}

impl ShaderInner {
    /// The result of the last compile, waiting for it.
    fn join(&mut self) -> Option<&CompiledShader> {
        if let Some(pending) = self.pending.take() {
            self.compiled = Some(pending.wait());
        }
        self.compiled.as_ref()
    }
}

impl Shader {
    /// The result of the last compile, waiting for it; `None` when it was never compiled.
    pub(crate) fn compiled(&self) -> Option<CompiledShader> {
        self.inner.lock().join().cloned()
    }
}

/// The stage of a `glCreateShader` type.
fn stage_of(type_: u32) -> Option<Stage> {
    Some(match type_ {
        gl::VERTEX_SHADER => Stage::Vertex,
        gl::GEOMETRY_SHADER => Stage::Geometry,
        gl::FRAGMENT_SHADER => Stage::Fragment,
        _ => return None,
    })
}

impl Context {
    fn compile_options(&self) -> CompileOptions {
        CompileOptions {
            max_version: crate::strings::GLSL_VERSION,
            profile: ContextProfile::Core,
            limits: self.state.share.limits.for_shaders(),
            extensions: crate::strings::shader_extensions(),
        }
    }

    /// `glCreateShader`.
    pub fn create_shader(&mut self, type_: u32) -> u32 {
        self.gl(|ctx| {
            let stage = stage_of(type_)
                .filter(|&s| s != Stage::Geometry || ctx.state.share.caps.has(features::GEOMETRY_SHADER))
                .ok_or_else(|| invalid_enum("glCreateShader: type"))?;
            let make = |name| {
                Arc::new(ShaderOrProgram::Shader(Arc::new(Shader {
                    name,
                    stage,
                    deleted: AtomicBool::new(false),
                    attachments: AtomicU32::new(0),
                    inner: Mutex::new(ShaderInner::default()),
                })))
            };
            Ok(ctx.state.share.shaders.insert_new(make).0)
        })
    }

    /// `glDeleteShader`.
    pub fn delete_shader(&mut self, shader: u32) {
        self.gl(|ctx| {
            if shader == 0 {
                return Ok(());
            }
            let shader = ctx.state.shader_by_name(shader, "glDeleteShader")?;
            shader.deleted.store(true, Ordering::Release);
            if shader.attachments.load(Ordering::Acquire) == 0 {
                ctx.state.drop_shader(&shader);
            }
            Ok(())
        });
    }

    /// `glIsShader`.
    pub fn is_shader(&mut self, shader: u32) -> bool {
        matches!(self.state.share.shaders.get(shader).as_deref(), Some(ShaderOrProgram::Shader(_)))
    }

    /// `glShaderSource`: the strings are concatenated.
    pub fn shader_source(&mut self, shader: u32, strings: &[&[u8]]) {
        self.gl(|ctx| {
            let shader = ctx.state.shader_by_name(shader, "glShaderSource")?;
            shader.inner.lock().source = strings.concat();
            Ok(())
        });
    }

    /// Whether a name is a shader's; raises the error of `call` otherwise. For callers that must not look at other arguments
    /// before: applications pass anything beside a wrong name.
    pub fn expect_shader(&mut self, shader: u32, call: &'static str) -> bool {
        self.gl(|ctx| ctx.state.shader_by_name(shader, call).map(|_| Some(()))).is_some()
    }

    /// `glCompileShader`: starts on a worker; the first command that needs the result waits for it.
    pub fn compile_shader(&mut self, shader: u32) {
        self.gl(|ctx| {
            let shader = ctx.state.shader_by_name(shader, "glCompileShader")?;
            let options = ctx.compile_options();
            let mut inner = shader.inner.lock();
            inner.compiled = None;
            inner.pending = Some(mgl_glsl::compile_async(shader.stage, inner.source.clone(), options));
            Ok(())
        });
    }

    /// `glGetShaderiv`.
    pub fn get_shader(&mut self, shader: u32, pname: u32) -> Option<i32> {
        self.gl(|ctx| {
            let shader = ctx.state.shader_by_name(shader, "glGetShaderiv")?;
            let mut inner = shader.inner.lock();
            Ok(Some(match pname {
                gl::SHADER_TYPE => shader.stage.shader_type() as i32,
                gl::DELETE_STATUS => i32::from(shader.deleted.load(Ordering::Acquire)),
                gl::COMPILE_STATUS => i32::from(inner.join().is_some_and(|c| c.ok())),
                gl::INFO_LOG_LENGTH => text_length(inner.join().map_or(0, |c| c.info_log().len())),
                gl::SHADER_SOURCE_LENGTH => text_length(inner.source.len()),
                gl::COMPLETION_STATUS_KHR => i32::from(inner.pending.as_mut().is_none_or(|p| p.is_done())),
                _ => return Err(invalid_enum("glGetShaderiv: pname")),
            }))
        })
    }

    /// `glGetShaderInfoLog`.
    pub fn get_shader_info_log(&mut self, shader: u32) -> Option<String> {
        self.gl(|ctx| {
            let shader = ctx.state.shader_by_name(shader, "glGetShaderInfoLog")?;
            let log = shader.inner.lock().join().map_or_else(String::new, |c| c.info_log().to_owned());
            Ok(Some(log))
        })
    }

    /// `glGetShaderSource`.
    pub fn get_shader_source(&mut self, shader: u32) -> Option<Vec<u8>> {
        self.gl(|ctx| {
            let shader = ctx.state.shader_by_name(shader, "glGetShaderSource")?;
            let source = shader.inner.lock().source.clone();
            Ok(Some(source))
        })
    }
}

/// Length of a text as GL reports it: with its terminator, 0 when there is none.
pub(super) fn text_length(len: usize) -> i32 {
    if len == 0 {
        0
    } else {
        i32::try_from(len + 1).unwrap_or(i32::MAX)
    }
}
