//! EGL errors, and the wrapper around every EGL entry point.

use std::borrow::Cow;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::enums as e;
use super::thread;
use crate::entry::{describe, Answer};
use crate::logging;

/// An error code with the sentence that explains it in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EglError {
    /// `EGL_BAD_*`.
    pub(crate) code: i32,
    /// What was wrong.
    pub(crate) message: Cow<'static, str>,
}

impl EglError {
    /// An error with a fixed or computed sentence.
    pub(crate) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> EglError {
        EglError { code, message: message.into() }
    }
}

/// The result of an EGL function.
pub(crate) type EglResult<T> = Result<T, EglError>;

/// `Err` with the given code and sentence.
pub(crate) fn fail<T>(code: i32, message: impl Into<Cow<'static, str>>) -> EglResult<T> {
    Err(EglError::new(code, message))
}

/// Runs an EGL function: sets the thread's error, logs a failure, and turns a panic into `EGL_BAD_ALLOC`.
pub(crate) fn guard<R: Answer>(name: &'static str, call: impl FnOnce() -> EglResult<R>) -> R {
    logging::init();
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => {
            thread::set_error(e::SUCCESS);
            answer
        }
        Ok(Err(error)) => {
            log::info!("{name}: {} ({})", error.message, error_name(error.code));
            thread::set_error(error.code);
            R::NOTHING
        }
        Err(payload) => {
            log::error!("{name} failed inside the driver: {}", describe(payload.as_ref()));
            // Dropping the payload may run foreign code that panics again.
            std::mem::forget(payload);
            thread::set_error(e::BAD_ALLOC);
            R::NOTHING
        }
    }
}

/// The name of an error code.
fn error_name(code: i32) -> &'static str {
    match code {
        e::SUCCESS => "EGL_SUCCESS",
        e::NOT_INITIALIZED => "EGL_NOT_INITIALIZED",
        e::BAD_ACCESS => "EGL_BAD_ACCESS",
        e::BAD_ALLOC => "EGL_BAD_ALLOC",
        e::BAD_ATTRIBUTE => "EGL_BAD_ATTRIBUTE",
        e::BAD_CONFIG => "EGL_BAD_CONFIG",
        e::BAD_CONTEXT => "EGL_BAD_CONTEXT",
        e::BAD_CURRENT_SURFACE => "EGL_BAD_CURRENT_SURFACE",
        e::BAD_DISPLAY => "EGL_BAD_DISPLAY",
        e::BAD_MATCH => "EGL_BAD_MATCH",
        e::BAD_NATIVE_PIXMAP => "EGL_BAD_NATIVE_PIXMAP",
        e::BAD_NATIVE_WINDOW => "EGL_BAD_NATIVE_WINDOW",
        e::BAD_PARAMETER => "EGL_BAD_PARAMETER",
        e::BAD_SURFACE => "EGL_BAD_SURFACE",
        e::CONTEXT_LOST => "EGL_CONTEXT_LOST",
        e::BAD_DEVICE_EXT => "EGL_BAD_DEVICE_EXT",
        _ => "an EGL error",
    }
}
