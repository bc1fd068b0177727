//! The frontend's types under one roof.

pub use mgl_frontend::boundary::*;
pub use mgl_frontend::{Context, Fence, ShareGroup};

pub use pending_surface::*;

/// Stands in for the frontend's default framebuffer until it exists.
mod pending_surface {
    #![allow(missing_docs)]
    use std::sync::Arc;

    use super::{Context, DrawableDesc};

    pub struct Drawable(DrawableDesc);

    impl Drawable {
        pub fn new(desc: DrawableDesc) -> Arc<Drawable> {
            Arc::new(Drawable(desc))
        }

        pub fn desc(&self) -> DrawableDesc {
            self.0
        }
    }

    pub trait PendingSurface {
        fn make_current(&mut self, _: Option<&Arc<Drawable>>, _: Option<&Arc<Drawable>>) {}
        fn swap_buffers(&mut self) {}
    }

    impl PendingSurface for Context {}
}
