//! What every exported GL function does around its work: find the context, catch panics, answer something harmless.

use std::any::Any;
use std::ffi::{c_char, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use mgpipe_types::gl;

use crate::front::Context;
use crate::generated::gl_procs;
use crate::tls;

/// The application's debug message callback as C declares it.
pub type DebugProc = Option<unsafe extern "C" fn(u32, u32, u32, u32, i32, *const c_char, *const c_void)>;

/// An exported function and its name.
#[derive(Debug, Clone, Copy)]
pub struct Proc {
    name: &'static str,
    address: *const (),
}

// SAFETY: the address is that of a function, which is immutable and valid in every thread.
unsafe impl Sync for Proc {}
// SAFETY: as above.
unsafe impl Send for Proc {}

impl Proc {
    /// Pairs a name with its function.
    pub const fn new(name: &'static str, address: *const ()) -> Proc {
        Proc { name, address }
    }

    /// The C name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The function as an untyped pointer.
    pub fn address(&self) -> *const () {
        self.address
    }
}

/// The exported GL function called `name`, null when there is none.
pub fn gl_proc(name: &CStr) -> *const () {
    let Ok(name) = name.to_str() else { return std::ptr::null() };
    match gl_procs::PROCS.binary_search_by(|p| p.name.cmp(name)) {
        Ok(i) => gl_procs::PROCS.get(i).map_or(std::ptr::null(), Proc::address),
        Err(_) => std::ptr::null(),
    }
}

/// What a C function returns when it cannot do its work: nothing, zero or null.
pub trait Answer {
    /// The harmless value.
    const NOTHING: Self;
}

macro_rules! answer {
    ($($ty:ty = $value:expr),* $(,)?) => { $(impl Answer for $ty { const NOTHING: $ty = $value; })* };
}

answer!(() = (), u8 = 0, u32 = 0, i32 = 0, usize = 0, isize = 0, u64 = 0);

impl<T> Answer for *const T {
    const NOTHING: *const T = std::ptr::null();
}

impl<T> Answer for *mut T {
    const NOTHING: *mut T = std::ptr::null_mut();
}

/// Runs `call` on the current context. Without one, nothing happens; a panic is logged and the context is lost.
#[inline(always)]
pub fn entry<R: Answer>(name: &'static str, call: impl FnOnce(&mut Context) -> R) -> R {
    let context = tls::current();
    if context.is_null() {
        no_context(name);
        return R::NOTHING;
    }
    // SAFETY: `egl::current` stores a non-null pointer only while it holds the context alive and bound to this thread
    // alone, and a call that re-enters (from a debug callback) finds null: see `glue::debug`.
    let context = unsafe { &mut *context };
    match catch_unwind(AssertUnwindSafe(|| call(&mut *context))) {
        Ok(answer) => answer,
        Err(payload) => {
            panicked(name, context, payload);
            R::NOTHING
        }
    }
}

/// The body of a GL function that nothing answers yet: an error, and one log line per function and process, which
/// `logged` remembers.
#[cold]
pub fn missing(name: &'static str, logged: &AtomicBool) -> usize {
    entry(name, |context| {
        if !logged.swap(true, Ordering::Relaxed) {
            log::warn!("{name} is not implemented; it raises GL_INVALID_OPERATION");
        }
        context.record_error(gl::INVALID_OPERATION, name);
    });
    0
}

#[cold]
#[inline(never)]
fn no_context(name: &'static str) {
    static LOGGED: AtomicBool = AtomicBool::new(false);
    if !LOGGED.swap(true, Ordering::Relaxed) {
        log::warn!("{name} called without a current context; such calls do nothing");
    }
}

#[cold]
#[inline(never)]
fn panicked(name: &'static str, context: &mut Context, payload: Box<dyn Any + Send>) {
    log::error!("{name} failed inside the driver: {}; the context is lost", describe(payload.as_ref()));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        context.mark_lost();
        context.record_error(gl::INVALID_OPERATION, name);
    }));
    // Dropping a panic's payload may run foreign code that panics again; leaking it is the safe choice.
    std::mem::forget(payload);
    if let Err(second) = outcome {
        std::mem::forget(second);
    }
}

/// The text of a panic.
pub(crate) fn describe(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_finds_every_name() {
        for pair in gl_procs::PROCS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
        for proc in &gl_procs::PROCS {
            let name = std::ffi::CString::new(proc.name).expect("no NUL in a C name");
            assert_eq!(gl_proc(&name), proc.address);
        }
        assert!(gl_proc(c"glNoSuchFunction").is_null());
    }

    #[test]
    fn a_panic_ends_at_the_boundary_and_loses_the_context() {
        use crate::front::{ContextAttribs, ShareGroup};
        use mgpipe_types::Backend as _;

        let callbacks = std::sync::Arc::new(mgl_frontend::FrontendCallbacks::default());
        let screen = mgpipe_wire::null::NullBackend.open(callbacks).expect("the null backend opens");
        let attribs = ContextAttribs { major: 3, minor: 3, lose_context_on_reset: true, ..ContextAttribs::default() };
        let mut context = Context::new(&ShareGroup::new(screen), &attribs).expect("a context");
        let pointer: *mut Context = &mut context;
        tls::set_current(pointer);
        assert_eq!(entry("glTest", |context| context.get_graphics_reset_status()), gl::NO_ERROR);
        assert_eq!(entry("glTest", |_| -> u32 { panic!("expected in this test") }), 0);
        assert_eq!(entry("glTest", |context| context.get_error()), gl::INVALID_OPERATION);
        assert_eq!(entry("glTest", |context| context.get_graphics_reset_status()), gl::UNKNOWN_CONTEXT_RESET);
        entry("glClear", |context| context.clear(gl::COLOR_BUFFER_BIT));
        tls::set_current(std::ptr::null_mut());
        drop(context);
        // The share group started the compiler's warm-up, which must not outlive the test program.
        mgl_glsl::shut_down();
    }

    #[test]
    fn calls_without_a_context_do_nothing() {
        assert_eq!(missing("glTest", &AtomicBool::new(false)), 0);
        assert_eq!(entry("glTest", |_| 7u32), 0);
    }
}
