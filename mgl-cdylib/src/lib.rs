//! The C ABI of MGL: EGL, OpenGL and libglvnd entry points.
//!
//! The library is loaded as an EGL vendor of libglvnd (`__egl_Main`) or directly under the names `libEGL.so.1`,
//! `libGL.so.1`, `libOpenGL.so.0` and their development names. Loading it has no effect: no thread, no Vulkan, no
//! environment variable is touched before the first EGL call.
//!
//! - [`egl`] is EGL 1.5: objects, and the C functions in its `entry` module.
//! - [`generated`] holds one C function per GL command, written by `cargo xtask codegen` from the Khronos registry and
//!   `implemented.txt`; scalar ones call the frontend directly, the others go through `glue`.
//! - [`mod@entry`] wraps every GL function: current context, panic boundary.
//!
//! The contract with the frontend is `API.md`.

pub mod egl;
pub mod entry;
#[rustfmt::skip]
pub mod generated;
pub mod glvnd;
pub mod glx;

mod counting;
mod criterion;
mod driver;
mod front;
mod glue;
mod logging;
mod native;
mod settings;
mod settings_file;
mod stubs;
mod tls;
mod transport;
