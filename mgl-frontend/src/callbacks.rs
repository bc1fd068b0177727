//! What a backend tells the frontend: asynchronous errors and log lines.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use mgpipe_types::{BufferHandle, ByteRange, Callbacks, ContextHandle, LogLevel, TextureHandle, TextureWriteback};
use parking_lot::Mutex;

/// Messages kept for contexts that never ask.
const MAX_PENDING_ERRORS: usize = 64;

/// The frontend's end of the reverse channel: hand it to `Backend::open` and to `ShareGroup::with_callbacks`.
#[derive(Debug, Default)]
pub struct FrontendCallbacks {
    errors: Mutex<Vec<(ContextHandle, u32, String)>>,
    pending: AtomicUsize,
    resets: AtomicU32,
}

impl FrontendCallbacks {
    /// The oldest error that the backend found for a context.
    pub(crate) fn take_error(&self, context: ContextHandle) -> Option<(u32, String)> {
        if self.pending.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut errors = self.errors.lock();
        let at = errors.iter().position(|(owner, ..)| *owner == context || owner.is_null())?;
        let (_, code, message) = errors.remove(at);
        self.pending.store(errors.len(), Ordering::Release);
        Some((code, message))
    }

    /// How often the device was reset and what it had was restored.
    pub(crate) fn resets(&self) -> u32 {
        self.resets.load(Ordering::Acquire)
    }
}

impl Callbacks for FrontendCallbacks {
    fn gl_error(&self, context: ContextHandle, error: u32, message: &str) {
        let mut errors = self.errors.lock();
        if errors.len() < MAX_PENDING_ERRORS {
            errors.push((context, error, message.to_owned()));
        }
        self.pending.store(errors.len(), Ordering::Release);
    }

    fn gpu_written(&self, _: BufferHandle, _: &[ByteRange]) {}
    fn buffer_writeback(&self, _: BufferHandle, _: u64, _: &[u8]) {}
    fn texture_writeback(&self, _: TextureWriteback<'_>) {}
    fn texture_pull_request(&self, _: TextureHandle, _: u32, _: u32, _: u64) {}
    fn mip_levels_generated(&self, _: TextureHandle, _: u32, _: u32) {}
    fn surface_changed(&self, _: u32, _: u32, _: u32) {}

    fn caps_invalidated(&self) {
        self.resets.fetch_add(1, Ordering::AcqRel);
    }

    fn log(&self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Debug => log::Level::Debug,
            LogLevel::Info => log::Level::Info,
            LogLevel::Warn => log::Level::Warn,
            LogLevel::Error => log::Level::Error,
        };
        log::log!(target: "mgl_backend", level, "{message}");
    }

    fn xfb_scatter_ready(&self, _: BufferHandle, _: u64, _: &[u8]) {}
}
