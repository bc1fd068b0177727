//! GL errors: how a command reports one, and how the first one sticks until it is fetched.

use std::borrow::Cow;

use mgpipe_types::gl;

use crate::context::Context;

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GlError {
    /// The GL error code.
    pub(crate) code: u32,
    /// What was wrong, with the name of the command.
    pub(crate) message: Cow<'static, str>,
}

/// Result of the inside of a command.
pub(crate) type GlResult<T = ()> = Result<T, GlError>;

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident = $code:ident;)*) => {$(
        $(#[$doc])*
        #[cold]
        pub(crate) fn $name(message: impl Into<Cow<'static, str>>) -> GlError {
            GlError { code: gl::$code, message: message.into() }
        }
    )*};
}

constructors! {
    /// `GL_INVALID_ENUM`.
    invalid_enum = INVALID_ENUM;
    /// `GL_INVALID_VALUE`.
    invalid_value = INVALID_VALUE;
    /// `GL_INVALID_OPERATION`.
    invalid_operation = INVALID_OPERATION;
    /// `GL_INVALID_FRAMEBUFFER_OPERATION`.
    invalid_framebuffer_operation = INVALID_FRAMEBUFFER_OPERATION;
    /// `GL_OUT_OF_MEMORY`.
    out_of_memory = OUT_OF_MEMORY;
    /// `GL_STACK_OVERFLOW`.
    stack_overflow = STACK_OVERFLOW;
    /// `GL_STACK_UNDERFLOW`.
    stack_underflow = STACK_UNDERFLOW;
}

impl From<mgpipe_types::PipeError> for GlError {
    /// What a backend could not do surfaces as the nearest GL error.
    fn from(error: mgpipe_types::PipeError) -> GlError {
        let code = match error {
            mgpipe_types::PipeError::OutOfMemory(_) => gl::OUT_OF_MEMORY,
            mgpipe_types::PipeError::DeviceLost(_) => gl::CONTEXT_LOST,
            _ => gl::INVALID_OPERATION,
        };
        GlError { code, message: error.to_string().into() }
    }
}

impl Context {
    /// Runs the inside of a command: records its error, and does nothing at all once the context is lost.
    #[inline]
    pub(crate) fn gl<T: Default>(&mut self, command: impl FnOnce(&mut Context) -> GlResult<T>) -> T {
        self.gl_or(T::default(), command)
    }

    /// Like [`Context::gl`] with an explicit answer for the failed command.
    #[inline]
    pub(crate) fn gl_or<T>(&mut self, failed: T, command: impl FnOnce(&mut Context) -> GlResult<T>) -> T {
        if self.state.lost {
            self.state.note_command_after_loss();
            return failed;
        }
        match command(self) {
            Ok(value) => value,
            Err(error) => {
                self.record(error);
                failed
            }
        }
    }

    #[cold]
    fn record(&mut self, error: GlError) {
        if error.code == gl::CONTEXT_LOST {
            self.mark_lost();
        }
        self.record_error(error.code, &error.message);
    }

    /// Records a GL error: the first one sticks until `glGetError`; every one becomes a debug message.
    pub fn record_error(&mut self, code: u32, message: &str) {
        if self.state.error == gl::NO_ERROR {
            self.state.error = code;
        }
        self.state.debug.error(code, message);
    }

    /// `glGetError`: the recorded error, which is then cleared.
    pub fn get_error(&mut self) -> u32 {
        // Errors that only the backend could detect arrive asynchronously and count from here on.
        if let Some((code, message)) = self.state.share.take_server_error(self.state.handle) {
            self.record_error(code, &message);
        }
        std::mem::replace(&mut self.state.error, gl::NO_ERROR)
    }
}
