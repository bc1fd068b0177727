//! Opening the backend with an ear for what it says.

use mgpipe_espryt::EsprytBackend;
use mgpipe_types::*;
use std::sync::{Arc, Mutex};

/// Keeps what the backend says at error level, the driver's own errors among it.
#[derive(Default)]
pub struct Listener {
    errors: Mutex<Vec<String>>,
}

impl Listener {
    fn note(&self, text: String) {
        self.errors.lock().expect("no panic holds it").push(text);
    }

    /// Fails unless something with these words was said.
    pub fn assert_said(&self, words: &str) {
        let errors = self.errors.lock().expect("no panic holds it");
        assert!(errors.iter().any(|error| error.contains(words)), "{words}: {errors:?}");
    }

    /// Fails when anything was said.
    pub fn assert_silent(&self) {
        assert_eq!(*self.errors.lock().expect("no panic holds it"), Vec::<String>::new());
    }
}

impl Callbacks for Listener {
    fn gl_error(&self, _: ContextHandle, error: u32, message: &str) {
        self.note(format!("{error:#x} {message}"));
    }
    fn gpu_written(&self, _: BufferHandle, _: &[ByteRange]) {}
    fn buffer_writeback(&self, _: BufferHandle, _: u64, _: &[u8]) {}
    fn texture_writeback(&self, _: TextureWriteback<'_>) {}
    fn texture_pull_request(&self, _: TextureHandle, _: u32, _: u32, _: u64) {}
    fn mip_levels_generated(&self, _: TextureHandle, _: u32, _: u32) {}
    fn surface_changed(&self, _: u32, _: u32, _: u32) {}
    fn caps_invalidated(&self) {}
    fn log(&self, level: LogLevel, message: &str) {
        if level == LogLevel::Error {
            self.note(message.into());
        }
    }
    fn xfb_scatter_ready(&self, _: BufferHandle, _: u64, _: &[u8]) {}
}

/// A screen and what is said on it.
pub fn open() -> (Arc<dyn Screen>, Arc<Listener>) {
    let listener = Arc::new(Listener::default());
    // Without a driver nothing would be tested, and a test that tests nothing must not pass.
    let screen = EsprytBackend::new().open(listener.clone()).expect("these tests need an OpenGL ES driver");
    (screen, listener)
}

/// Fails unless the picture is the quad of the scene on its background.
pub fn assert_is_the_scene(texels: &[u8]) {
    let size = crate::scene::SIZE as usize;
    let at = |x: usize, y: usize| &texels[(y * size + x) * 4..][..4];
    assert_eq!(at(2, 2), [26, 26, 38, 255], "background");
    let (mut orange, mut light) = (0, 0);
    for y in size / 4..size / 2 {
        for x in size / 4..size / 2 {
            match at(x, y) {
                [230, 81, 32, 255] => orange += 1,
                [250, 216, 176, 255] => light += 1,
                other => panic!("{other:?} at {x}, {y}"),
            }
        }
    }
    assert!(orange > 1000 && light > 1000, "{orange} and {light}");
}
