//! What EGL keeps per thread: the error, the bound API and what is current.

use std::cell::RefCell;
use std::sync::Arc;

use super::context::GlContext;
use super::current;
use super::display::Display;
use super::enums as e;
use super::error::{fail, EglResult};
use super::process;
use super::surface::Surface;
use crate::front::Context;
use crate::glx::current::Binding;
use crate::tls;

/// What `eglMakeCurrent` bound.
#[derive(Clone)]
pub(crate) struct Current {
    /// The display it was bound on.
    pub(crate) display: &'static Display,
    /// The context.
    pub(crate) context: Arc<GlContext>,
    /// The draw and read surfaces; both or none are there.
    pub(crate) surfaces: Option<(Arc<Surface>, Arc<Surface>)>,
    /// What GLX knows about it, when it was bound through GLX.
    pub(crate) glx: Option<Arc<Binding>>,
}

struct ThreadState {
    error: i32,
    api: i32,
    current: Option<Current>,
    /// Process in which `current` was bound, see [`process::generation`].
    generation: u32,
}

impl ThreadState {
    /// Forgets what was bound before this process was forked off.
    fn forget_parent(&mut self) {
        if self.generation != process::generation() {
            std::mem::forget(self.current.take());
            self.generation = process::generation();
        }
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        self.forget_parent();
        // A thread that ends without eglReleaseThread must not keep its context from other threads.
        if let Some(old) = self.current.take() {
            current::release(old);
        }
    }
}

thread_local! {
    static STATE: RefCell<ThreadState> = const {
        // OpenGL ES, the API that EGL starts with, is not supported: EGL 1.5 §3.7 then says EGL_NONE.
        RefCell::new(ThreadState { error: e::SUCCESS, api: e::NONE, current: None, generation: 0 })
    };
}

/// Runs `f` on the thread's state; `default` when the thread is ending and its state is gone already.
fn with<R>(default: R, f: impl FnOnce(&mut ThreadState) -> R) -> R {
    let mut f = Some(f);
    let mut answer = None;
    let _ = STATE.try_with(|state| {
        if let (Ok(mut state), Some(f)) = (state.try_borrow_mut(), f.take()) {
            state.forget_parent();
            answer = Some(f(&mut state));
        }
    });
    answer.unwrap_or(default)
}

/// Sets what `eglGetError` answers next.
pub(crate) fn set_error(code: i32) {
    with((), |s| s.error = code);
}

/// Takes the error, leaving `EGL_SUCCESS`.
pub(crate) fn take_error() -> i32 {
    with(e::SUCCESS, |s| std::mem::replace(&mut s.error, e::SUCCESS))
}

/// The API of `eglBindAPI`.
pub(crate) fn api() -> i32 {
    with(e::NONE, |s| s.api)
}

/// Stores the API of `eglBindAPI`.
pub(crate) fn set_api(api: i32) {
    with((), |s| s.api = api);
}

/// What is current, through EGL or GLX.
pub(crate) fn current() -> Option<Current> {
    with(None, |s| s.current.clone())
}

/// What is current through EGL.
pub(crate) fn current_of_egl() -> Option<Current> {
    current().filter(|current| current.glx.is_none())
}

/// Runs `f` on the frontend's context that is current on this thread; `EGL_BAD_ACCESS` from inside a debug callback, where
/// the context is in use by the command that reports.
pub(crate) fn with_context<R>(current: &Current, f: impl FnOnce(&mut Context) -> R) -> EglResult<R> {
    if tls::current() != current.context.pointer() {
        return fail(e::BAD_ACCESS, "EGL was called from a debug callback");
    }
    // SAFETY: the context is current on this thread, which therefore holds the claim, and no GL command is running on
    // it: while one may call back into the application, `tls` holds null (see `glue::debug`).
    Ok(f(unsafe { &mut *current.context.pointer() }))
}

/// Replaces what is current and gives back the old value.
pub(crate) fn replace_current(new: Option<Current>) -> Option<Current> {
    with(None, |s| std::mem::replace(&mut s.current, new))
}
