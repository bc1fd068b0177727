//! A backend without a device: buffers, textures and renderbuffers in host memory, draws counted and dropped.
//!
//! Uploads, copies, full clears and read-backs are real, fences signal at once and queries answer 0, so that object and
//! transfer logic can be tested without a GPU. What it cannot do (drawing, blits with conversion, filtering of mipmaps) it
//! leaves out and counts.

mod context;
mod screen;
mod storage;

pub use context::NullContext;
pub use screen::{NullBackend, NullCounters, NullScreen};
pub use storage::{Image, ImageLevel};
