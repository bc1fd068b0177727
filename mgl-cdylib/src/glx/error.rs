//! GLX errors, which are X errors, and the wrapper around every GLX entry point.

use std::borrow::Cow;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::connection;
use super::xlib::{xlib, Dpy, Xid};
use crate::egl::enums as e;
use crate::egl::error::EglError;
use crate::entry::{describe, Answer};
use crate::logging;

/// What kind of error the application is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The X protocol's `BadValue`.
    Value,
    /// `BadWindow`.
    Window,
    /// `BadPixmap`.
    Pixmap,
    /// `BadMatch`.
    Match,
    /// `BadAccess`.
    Access,
    /// `BadAlloc`.
    Alloc,
    /// `BadImplementation`.
    Implementation,
    /// GLX's `GLXBadContext`.
    GlxContext,
    /// `GLXBadDrawable`.
    GlxDrawable,
    /// `GLXBadPixmap`.
    GlxPixmap,
    /// `GLXBadCurrentWindow`.
    GlxCurrentWindow,
    /// `GLXBadFBConfig`.
    GlxFbConfig,
    /// `GLXBadPbuffer`.
    GlxPbuffer,
    /// `GLXBadCurrentDrawable`.
    GlxCurrentDrawable,
    /// `GLXBadWindow`.
    GlxWindow,
    /// `GLXBadProfileARB`.
    GlxProfile,
}

impl Code {
    /// The number in the X protocol, given that of GLX's first error.
    fn number(self, first: u8) -> u8 {
        match self {
            Code::Value => 2,
            Code::Window => 3,
            Code::Pixmap => 4,
            Code::Match => 8,
            Code::Access => 10,
            Code::Alloc => 11,
            Code::Implementation => 17,
            Code::GlxContext => first,
            Code::GlxDrawable => first.saturating_add(2),
            Code::GlxPixmap => first.saturating_add(3),
            Code::GlxCurrentWindow => first.saturating_add(5),
            Code::GlxFbConfig => first.saturating_add(9),
            Code::GlxPbuffer => first.saturating_add(10),
            Code::GlxCurrentDrawable => first.saturating_add(11),
            Code::GlxWindow => first.saturating_add(12),
            Code::GlxProfile => first.saturating_add(13),
        }
    }
}

/// An error with the sentence that explains it in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GlxError {
    /// What the application is told.
    pub(crate) code: Code,
    /// The id that the error is about, zero where there is none.
    pub(crate) resource: Xid,
    /// What was wrong.
    pub(crate) message: Cow<'static, str>,
}

/// The result of a GLX function.
pub(crate) type GlxResult<T> = Result<T, GlxError>;

/// `Err` with the given code and sentence.
pub(crate) fn fail<T>(code: Code, message: impl Into<Cow<'static, str>>) -> GlxResult<T> {
    Err(GlxError { code, resource: 0, message: message.into() })
}

/// The same about a resource.
pub(crate) fn fail_with<T>(code: Code, resource: Xid, message: impl Into<Cow<'static, str>>) -> GlxResult<T> {
    Err(GlxError { code, resource, message: message.into() })
}

impl From<EglError> for GlxError {
    fn from(error: EglError) -> GlxError {
        let code = match error.code {
            e::BAD_MATCH => Code::Match,
            e::BAD_ACCESS => Code::Access,
            e::BAD_CONTEXT | e::CONTEXT_LOST => Code::GlxContext,
            e::BAD_SURFACE => Code::GlxDrawable,
            e::BAD_CURRENT_SURFACE => Code::GlxCurrentDrawable,
            e::BAD_NATIVE_WINDOW => Code::Window,
            e::BAD_NATIVE_PIXMAP => Code::Pixmap,
            e::BAD_CONFIG => Code::GlxFbConfig,
            e::BAD_ATTRIBUTE | e::BAD_PARAMETER => Code::Value,
            _ => Code::Alloc,
        };
        GlxError { code, resource: 0, message: error.message }
    }
}

/// Requests of GLX's protocol: what an error says it came from, though nothing was sent.
pub(crate) mod minor {
    pub(crate) const CREATE_CONTEXT: u8 = 3;
    pub(crate) const DESTROY_CONTEXT: u8 = 4;
    pub(crate) const MAKE_CURRENT: u8 = 5;
    pub(crate) const IS_DIRECT: u8 = 6;
    pub(crate) const WAIT_GL: u8 = 8;
    pub(crate) const WAIT_X: u8 = 9;
    pub(crate) const COPY_CONTEXT: u8 = 10;
    pub(crate) const SWAP_BUFFERS: u8 = 11;
    pub(crate) const USE_X_FONT: u8 = 12;
    pub(crate) const CREATE_GLX_PIXMAP: u8 = 13;
    pub(crate) const DESTROY_GLX_PIXMAP: u8 = 15;
    pub(crate) const VENDOR_PRIVATE: u8 = 16;
    pub(crate) const QUERY_SERVER_STRING: u8 = 19;
    pub(crate) const GET_FB_CONFIGS: u8 = 21;
    pub(crate) const CREATE_PIXMAP: u8 = 22;
    pub(crate) const DESTROY_PIXMAP: u8 = 23;
    pub(crate) const CREATE_NEW_CONTEXT: u8 = 24;
    pub(crate) const QUERY_CONTEXT: u8 = 25;
    pub(crate) const MAKE_CONTEXT_CURRENT: u8 = 26;
    pub(crate) const CREATE_PBUFFER: u8 = 27;
    pub(crate) const DESTROY_PBUFFER: u8 = 28;
    pub(crate) const GET_DRAWABLE_ATTRIBUTES: u8 = 29;
    pub(crate) const CHANGE_DRAWABLE_ATTRIBUTES: u8 = 30;
    pub(crate) const CREATE_WINDOW: u8 = 31;
    pub(crate) const DESTROY_WINDOW: u8 = 32;
    pub(crate) const CREATE_CONTEXT_ATTRIBS: u8 = 34;
}

/// Runs a GLX function. A failure becomes an X error of the connection `dpy`, a panic `BadAlloc`. The error is reported after
/// `call` has given back whatever it held: the application's handler may do anything.
pub(crate) fn guard<R: Answer>(name: &'static str, dpy: Dpy, minor: u8, call: impl FnOnce() -> GlxResult<R>) -> R {
    logging::init();
    let error = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => return answer,
        Ok(Err(error)) => error,
        Err(payload) => {
            let text = format!("failed inside the driver: {}", describe(payload.as_ref()));
            // Dropping the payload may run foreign code that panics again.
            std::mem::forget(payload);
            log::error!("{name} {text}");
            GlxError { code: Code::Alloc, resource: 0, message: text.into() }
        }
    };
    log::info!("{name}: {} ({:?})", error.message, error.code);
    if let (false, Some(xlib)) = (dpy.is_null(), xlib()) {
        let (major, first) = connection::protocol(xlib, dpy);
        xlib.report(dpy, error.code.number(first), error.resource, major, minor);
    }
    R::NOTHING
}

/// Runs a function that reports no X errors; what fails is logged.
pub(crate) fn quietly<R: Answer>(name: &'static str, call: impl FnOnce() -> GlxResult<R>) -> R {
    guard(name, std::ptr::null_mut(), 0, call)
}
