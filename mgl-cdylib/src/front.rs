//! The frontend's types under one roof.

pub use mgl_frontend::boundary::*;
pub use mgl_frontend::{Context, Drawable, Fence, ShareGroup};
