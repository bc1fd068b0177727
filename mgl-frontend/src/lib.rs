//! The OpenGL object model and state of MGL.
//!
//! [`ShareGroup`] holds what contexts share, [`Context`] is one GL context whose methods are the GL commands as safe
//! Rust. The C entry points of `mgl-cdylib` call them; a backend behind `mgpipe_types` does the work.
#![forbid(unsafe_code)]

pub mod boundary;
mod buffer;
mod callbacks;
mod context;
mod debug;
mod draw;
mod drawable;
mod error;
pub mod format;
mod framebuffer;
mod get;
mod limits;
mod names;
mod observer;
mod overlay;
pub mod pixel;
mod program;
mod query;
mod renderbuffer;
mod sampler;
mod share;
mod source;
mod state;
mod strings;
mod sync;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod texture;
mod vertex_array;
mod xfb;

pub use callbacks::FrontendCallbacks;
pub use context::Context;
pub use drawable::Drawable;
pub use mgpipe_tracker::{Group as TrackerGroup, Switches as TrackerSwitches, TrackerStats, VerbClass};
pub use observer::Observer;
pub use share::{CreateContextError, ShareGroup, ShareOptions};
pub use sync::Fence;
