//! Shader and program objects: names, attachment, deletion rules.

mod current;
mod executable;
mod interface;
mod link;
mod object_query;
mod shader;
mod uniform;
mod uniform_query;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

use mgpipe_types::gl;
use parking_lot::Mutex;

use crate::context::{Context, ContextState};
use crate::error::{invalid_operation, invalid_value, GlResult};

pub(crate) use current::{CurrentProgram, StateValues};
pub(crate) use executable::Executable;
pub(crate) use link::LinkSetup;
pub(crate) use shader::Shader;

/// What a name of the shader and program name space stands for.
#[derive(Debug)]
pub(crate) enum ShaderOrProgram {
    /// A shader object.
    Shader(Arc<Shader>),
    /// A program object.
    Program(Arc<Program>),
}

/// A program object.
#[derive(Debug)]
pub(crate) struct Program {
    /// GL name.
    pub(crate) name: u32,
    /// `glDeleteProgram` was called while contexts still used it.
    deleted: AtomicBool,
    /// Contexts that have it in use.
    users: AtomicU32,
    /// Counts links, so that using a program again costs nothing while none came between.
    links: AtomicU32,
    inner: Mutex<ProgramInner>,
}

/// The part of a program behind its lock.
#[derive(Debug, Default)]
pub(crate) struct ProgramInner {
    /// Attached shaders in order of attachment.
    attached: Vec<Arc<Shader>>,
    /// What the next link takes beside the shaders.
    setup: LinkSetup,
    /// The link that a worker still runs.
    pending: Option<link::PendingLink>,
    /// Result of the last link.
    executable: Option<Arc<Executable>>,
    link_status: bool,
    validate_status: bool,
    info_log: String,
}

impl Program {
    fn new(name: u32) -> Program {
        Program {
            name,
            deleted: AtomicBool::new(false),
            users: AtomicU32::new(0),
            links: AtomicU32::new(0),
            inner: Mutex::new(ProgramInner::default()),
        }
    }
}

impl ContextState {
    /// The program of a name.
    ///
    /// # Errors
    /// `GL_INVALID_VALUE` for no name at all, `GL_INVALID_OPERATION` for a shader's.
    pub(crate) fn program_by_name(&self, name: u32, command: &'static str) -> GlResult<Arc<Program>> {
        match self.share.shaders.get(name).as_deref() {
            Some(ShaderOrProgram::Program(program)) => Ok(program.clone()),
            Some(ShaderOrProgram::Shader(_)) => Err(invalid_operation(format!("{command}: {name} is a shader"))),
            None => Err(invalid_value(format!("{command}: {name} is no program"))),
        }
    }

    /// The shader of a name, with the same errors the other way round.
    pub(crate) fn shader_by_name(&self, name: u32, command: &'static str) -> GlResult<Arc<Shader>> {
        match self.share.shaders.get(name).as_deref() {
            Some(ShaderOrProgram::Shader(shader)) => Ok(shader.clone()),
            Some(ShaderOrProgram::Program(_)) => Err(invalid_operation(format!("{command}: {name} is a program"))),
            None => Err(invalid_value(format!("{command}: {name} is no shader"))),
        }
    }

    /// One context fewer uses the program; a program that waits for its deletion then goes.
    pub(crate) fn release_program(&mut self, program: &Arc<Program>) {
        if program.users.fetch_sub(1, Ordering::AcqRel) == 1 && program.deleted.load(Ordering::Acquire) {
            self.drop_program(program);
        }
    }

    fn drop_program(&mut self, program: &Arc<Program>) {
        self.share.shaders.remove(program.name);
        self.debug.forget_label(gl::PROGRAM, program.name as usize);
        let attached = std::mem::take(&mut program.inner.lock().attached);
        for shader in attached {
            self.detached(&shader);
        }
    }

    /// A program let go of a shader; a shader that waits for its deletion then goes.
    fn detached(&mut self, shader: &Arc<Shader>) {
        if shader.attachments.fetch_sub(1, Ordering::AcqRel) == 1 && shader.deleted.load(Ordering::Acquire) {
            self.drop_shader(shader);
        }
    }

    fn drop_shader(&mut self, shader: &Arc<Shader>) {
        self.share.shaders.remove(shader.name);
        self.debug.forget_label(gl::SHADER, shader.name as usize);
    }
}

impl Context {
    /// `glCreateProgram`.
    pub fn create_program(&mut self) -> u32 {
        self.gl(|ctx| {
            let make = |name| Arc::new(ShaderOrProgram::Program(Arc::new(Program::new(name))));
            Ok(ctx.state.share.shaders.insert_new(make).0)
        })
    }

    /// `glDeleteProgram`.
    pub fn delete_program(&mut self, program: u32) {
        self.gl(|ctx| {
            if program == 0 {
                return Ok(());
            }
            let program = ctx.state.program_by_name(program, "glDeleteProgram")?;
            program.deleted.store(true, Ordering::Release);
            if program.users.load(Ordering::Acquire) == 0 {
                ctx.state.drop_program(&program);
            }
            Ok(())
        });
    }

    /// `glIsProgram`.
    pub fn is_program(&mut self, program: u32) -> bool {
        matches!(self.state.share.shaders.get(program).as_deref(), Some(ShaderOrProgram::Program(_)))
    }

    /// `glAttachShader`.
    pub fn attach_shader(&mut self, program: u32, shader: u32) {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glAttachShader")?;
            let shader = ctx.state.shader_by_name(shader, "glAttachShader")?;
            let mut inner = program.inner.lock();
            if inner.attached.iter().any(|s| Arc::ptr_eq(s, &shader)) {
                return Err(invalid_operation("glAttachShader: attached already"));
            }
            shader.attachments.fetch_add(1, Ordering::AcqRel);
            inner.attached.push(shader);
            Ok(())
        });
    }

    /// `glDetachShader`.
    pub fn detach_shader(&mut self, program: u32, shader: u32) {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glDetachShader")?;
            let shader = ctx.state.shader_by_name(shader, "glDetachShader")?;
            let mut inner = program.inner.lock();
            let at = inner
                .attached
                .iter()
                .position(|s| Arc::ptr_eq(s, &shader))
                .ok_or_else(|| invalid_operation("glDetachShader: not attached"))?;
            inner.attached.remove(at);
            drop(inner);
            ctx.state.detached(&shader);
            Ok(())
        });
    }

    /// `glGetAttachedShaders`.
    pub fn get_attached_shaders(&mut self, program: u32) -> Option<Vec<u32>> {
        self.gl(|ctx| {
            let program = ctx.state.program_by_name(program, "glGetAttachedShaders")?;
            let names = program.inner.lock().attached.iter().map(|s| s.name).collect();
            Ok(Some(names))
        })
    }
}
