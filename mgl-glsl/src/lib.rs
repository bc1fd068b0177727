//! GLSL to SPIR-V for OpenGL programs, with reflection.
//!
//! [`compile`] checks one shader and keeps what a link needs; [`link`] turns the compiled shaders of a program into one
//! SPIR-V module a stage (Vulkan flavour, version 1.3) plus a [`Reflection`] that names every interface fact, the initial
//! bytes of the default uniform block and an info log. Both are plain functions that may be called from any thread at
//! the same time. They run on the crate's own worker threads, which have stacks large enough for hostile input; use
//! [`compile_async`] and [`link_async`] to go on while they work, and [`warm_up`] to build the symbol tables early.
//!
//! The descriptor layout and the row convention of the modules are described in [`mgpipe_types::reflection`].
#![deny(unsafe_code)]

mod compile;
mod disk_cache;
pub mod extensions;
mod ffi;
mod link;
mod log;
mod module;
pub mod options;
mod passthrough;
mod patch;
mod pool;
mod preprocess;
mod reflect;
mod rewrite;
mod token;
mod value;
mod version;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::Arc;

pub use mgpipe_types::reflection::{self, Reflection, Stage};
pub use options::{CompileOptions, ContextProfile, Limits, LinkOptions};

/// A shader after a compile, successful or not. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CompiledShader {
    stage: Stage,
    info_log: String,
    body: Option<Arc<compile::Body>>,
}

impl CompiledShader {
    /// The stage that it was compiled for.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// `GL_COMPILE_STATUS`.
    pub fn ok(&self) -> bool {
        self.body.is_some()
    }

    /// `GL_INFO_LOG`: lines of the form `0:LINE(COLUMN): error: text`.
    pub fn info_log(&self) -> &str {
        &self.info_log
    }

    /// The shader in the normal form that glslang was given, for debugging; empty when the compile failed.
    pub fn normal_form(&self) -> &str {
        self.body.as_ref().map_or("", |body| &body.text)
    }
}

/// The SPIR-V of one stage. The entry point is `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageModule {
    /// The stage.
    pub stage: Stage,
    /// SPIR-V words, version 1.3, valid for Vulkan 1.1.
    pub words: Vec<u32>,
}

/// Result of a successful link.
#[derive(Clone, Debug)]
pub struct LinkedProgram {
    /// Modules in pipeline order.
    pub modules: Vec<StageModule>,
    /// Interface facts.
    pub reflection: Reflection,
    /// Initial bytes of the default uniform block (uniform initialisers, else zero); its length is the block's size.
    pub default_block: Vec<u8>,
    /// `GL_INFO_LOG` of the program: empty, or warnings.
    pub info_log: String,
}

/// A failed link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{info_log}")]
pub struct LinkError {
    /// `GL_INFO_LOG` of the program: lines of the form `error: text`.
    pub info_log: String,
}

/// A result that a worker thread is still making.
#[derive(Debug)]
pub struct Pending<T> {
    receiver: Receiver<T>,
    value: Option<T>,
    /// What [`Pending::wait`] returns when the worker died.
    fallback: T,
}

impl<T: Clone> Pending<T> {
    /// Whether [`Pending::wait`] would return at once (`GL_COMPLETION_STATUS_KHR`).
    pub fn is_done(&mut self) -> bool {
        use std::sync::mpsc::TryRecvError;
        if self.value.is_none() {
            self.value = match self.receiver.try_recv() {
                Ok(value) => Some(value),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(self.fallback.clone()),
            };
        }
        self.value.is_some()
    }

    /// Waits for the result.
    pub fn wait(self) -> T {
        match self.value {
            Some(value) => value,
            None => self.receiver.recv().unwrap_or(self.fallback),
        }
    }
}

/// Compiles the concatenated source of a shader object and waits for the result.
///
/// `source` may be any bytes. Errors are in the result's info log; the call never fails otherwise.
pub fn compile(stage: Stage, source: &[u8], options: &CompileOptions) -> CompiledShader {
    compile_async(stage, source.to_vec(), options.clone()).wait()
}

/// Starts a compile on a worker thread.
pub fn compile_async(stage: Stage, source: Vec<u8>, options: CompileOptions) -> Pending<CompiledShader> {
    let fallback = CompiledShader { stage, info_log: "0:1(1): error: internal compiler error\n".into(), body: None };
    let receiver = pool::spawn(move || compile::compile(stage, &source, &options));
    Pending { receiver, value: None, fallback }
}

/// Links compiled shaders and waits for the result; several of one stage are merged. The shaders can be used in any
/// number of links.
///
/// # Errors
///
/// [`LinkError`] with the info log when a shader failed to compile or the interfaces do not fit.
pub fn link(shaders: &[&CompiledShader], options: &LinkOptions) -> Result<LinkedProgram, LinkError> {
    link_async(shaders.iter().map(|s| (*s).clone()).collect(), options.clone()).wait()
}

/// Starts a link on a worker thread.
pub fn link_async(shaders: Vec<CompiledShader>, options: LinkOptions) -> Pending<Result<LinkedProgram, LinkError>> {
    let fallback = Err(LinkError { info_log: "error: internal linker error\n".into() });
    let receiver = pool::spawn(move || link::link(&shaders, &options));
    Pending { receiver, value: None, fallback }
}

/// Lets this process keep what glslang answers in files in `folder`, and use what earlier processes kept there: programs
/// that were linked before start without glslang. The folder is made when needed and bounded (64 MiB); damaged files are
/// ignored. The first call in a process counts.
pub fn use_cache(folder: std::path::PathBuf) {
    disk_cache::open(folder);
}

/// Builds glslang's symbol tables on a worker thread, so that the first compile need not. Returns at once. With a filled
/// cache (see [`use_cache`]) nothing is built: most likely no compile needs it.
pub fn warm_up() {
    /// The process that did it: a forked child has no worker of its parent's.
    static WARM: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    if disk_cache::is_filled() || WARM.swap(process, Ordering::Relaxed) == process {
        return;
    }
    drop(pool::spawn(|| {
        for (stage, source) in [
            (Stage::Vertex, "#version 330\nvoid main(){gl_Position=vec4(0);}"),
            (Stage::Fragment, "#version 330\nout vec4 c;void main(){c=vec4(0);}"),
        ] {
            compile::compile(stage, source.as_bytes(), &CompileOptions::default());
        }
    }));
}

/// Ends all work of this crate in this process: waiting jobs are forgotten, running ones are waited for (a few seconds at
/// most), later ones answer at once with an internal error. For a library's exit handler: a worker that still compiles while
/// glslang's own exit handlers run would crash.
pub fn shut_down() {
    pool::quiesce(std::time::Duration::from_secs(5));
}

#[cfg(test)]
mod tests;
