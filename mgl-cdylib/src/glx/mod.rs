//! GLX 1.4 for OpenGL contexts on X11 (GLX 1.4 specification; extensions in `strings`).
//!
//! The library is a vendor of libglvnd's libGLX (`vendor`, `__glx_Main`), or a program finds the `glX` functions in it by
//! name. Contexts and drawables are those of [`crate::egl`]; what is here gives them GLX's handles, rules and errors. Nothing
//! is sent to the X server's own GLX: all rendering is direct, and ids of pbuffers and GLX windows are only known here.
//!
//! Handles of contexts and configs are addresses of objects of this library, as libglvnd asks for; those that come in are
//! looked up and never dereferenced. Xlib is the one that the application has loaded (`xlib`).

mod attribs;
mod choose;
mod config;
mod connection;
mod context;
pub(crate) mod current;
mod drawable;
mod entry;
mod error;
mod strings;
mod swap;
mod vendor;
mod xlib;

pub use self::entry::PROCS;
pub(crate) use crate::generated::glx_enums as enums;

use std::ffi::CStr;

/// The exported GLX function called `name`, null when there is none.
pub(crate) fn glx_proc(name: &CStr) -> *const () {
    let found = PROCS.iter().find(|p| p.name().as_bytes() == name.to_bytes());
    found.map_or(std::ptr::null(), crate::entry::Proc::address)
}

/// Any exported function by name, as `glXGetProcAddress` answers.
fn get_proc_address(name: &CStr) -> *const () {
    if name.to_bytes().starts_with(b"glX") {
        glx_proc(name)
    } else {
        crate::entry::gl_proc(name)
    }
}

/// Drops what the application left open, at the end of the process.
pub(crate) fn at_exit() {
    connection::at_exit();
    context::at_exit();
}
