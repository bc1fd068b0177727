//! The frontend's types under one roof.

pub use mgl_frontend::boundary::*;

pub use mock::*;

#[allow(missing_docs)]
mod mock {
    use std::sync::Arc;

    use super::{ContextAttribs, DrawableDesc};

    pub struct ShareGroup;
    impl ShareGroup {
        pub fn mock() -> Arc<ShareGroup> {
            Arc::new(ShareGroup)
        }
    }
    pub struct Context {
        error: u32,
    }
    impl Context {
        pub fn new(_: &Arc<ShareGroup>, _: &ContextAttribs) -> Result<Context, String> {
            Ok(Context { error: 0 })
        }
        pub fn make_current(&mut self, _: Option<&Arc<Drawable>>, _: Option<&Arc<Drawable>>) {}
        pub fn release_current(&mut self) {}
        pub fn swap_buffers(&mut self) {}
        pub fn create_fence(&mut self) -> Option<Arc<Fence>> {
            Some(Arc::new(Fence))
        }
        pub fn wait_fence(&mut self, _: &Fence) {}
        pub fn record_error(&mut self, code: u32, _: &str) {
            if self.error == 0 {
                self.error = code;
            }
        }
        pub fn mark_lost(&mut self) {}
        pub fn get_graphics_reset_status(&mut self) -> u32 {
            0
        }
        pub fn get_error(&mut self) -> u32 {
            std::mem::take(&mut self.error)
        }
        pub fn finish(&mut self) {}
    }
    pub struct Drawable(DrawableDesc);
    impl Drawable {
        pub fn new(desc: DrawableDesc) -> Arc<Drawable> {
            Arc::new(Drawable(desc))
        }
        pub fn desc(&self) -> DrawableDesc {
            self.0
        }
    }
    pub struct Fence;
    impl Fence {
        pub fn wait(&self, _: u64) -> bool {
            true
        }
    }
}
