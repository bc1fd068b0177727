//! The OpenGL object model and state of MGL.
//!
//! [`ShareGroup`] holds what contexts share, [`Context`] is one GL context whose methods are the GL commands as safe
//! Rust. The C entry points of `mgl-cdylib` call them; a backend behind `mgpipe_types` does the work.
#![forbid(unsafe_code)]

pub mod boundary;
pub mod format;
pub mod pixel;
mod buffer;
mod callbacks;
mod context;
mod debug;
mod error;
mod limits;
mod names;
mod program;
mod share;
mod sync;
mod vertex_array;
mod xfb;

pub use callbacks::FrontendCallbacks;
pub use context::Context;
pub use share::{CreateContextError, ShareGroup};
pub use sync::Fence;
