//! EGL 1.5 for OpenGL, on off-screen surfaces and X11 windows.
//!
//! `entry` holds the C functions and nothing else; the other modules are the objects. Handles are numbers that are
//! never reused and never dereferenced, so any value an application passes is safe to look up.

pub(crate) mod attribs;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod current;
mod device;
pub(crate) mod display;
mod entry;
pub(crate) mod error;
pub(crate) mod process;
mod strings;
pub(crate) mod surface;
mod sync;
pub(crate) mod thread;
pub(crate) mod window;

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use self::entry::PROCS;
pub(crate) use self::entry::{get_platform_display, get_proc_address, pairs};
pub(crate) use self::error::guard;
pub(crate) use self::strings::PLATFORM_EXTENSIONS;
pub(crate) use crate::generated::egl_enums as enums;

use crate::glvnd;

/// The exported EGL function called `name`, null when there is none.
pub(crate) fn egl_proc(name: &CStr) -> *const () {
    let found = PROCS.iter().find(|p| p.name().as_bytes() == name.to_bytes());
    found.map_or(std::ptr::null(), crate::entry::Proc::address)
}

/// A handle for a new object.
fn new_handle() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}

/// The API that `eglCreateContext` serves: behind libglvnd the dispatcher keeps it, else this library.
fn bound_api() -> i32 {
    glvnd::current_api().unwrap_or_else(thread::api)
}

/// Keeps the application's debug callback and its parameter for `glGetPointerv`.
pub(crate) fn set_debug_pointers(function: usize, user: usize) {
    if let Some(current) = thread::current() {
        *current.context.debug_pointers.lock() = (function, user);
    }
}

/// What `set_debug_pointers` kept for the current context.
pub(crate) fn debug_pointers() -> (usize, usize) {
    thread::current().map_or((0, 0), |c| *c.context.debug_pointers.lock())
}
