//! The reverse channel: what a server tells its client.

use crate::{BufferHandle, ContextHandle, TextureHandle};

/// Severity of a [`Callbacks::log`] line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[repr(u8)]
pub enum LogLevel {
    /// Diagnostics.
    Debug = 0,
    /// Facts worth a line.
    Info = 1,
    /// Something is slower or different than asked for.
    Warn = 2,
    /// Work was dropped.
    Error = 3,
}

/// A byte range of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ByteRange {
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

/// Bytes of one texture level that a server writes back.
#[derive(Clone, Copy, Debug)]
pub struct TextureWriteback<'a> {
    /// The texture.
    pub texture: TextureHandle,
    /// Level.
    pub level: u32,
    /// Box that the bytes cover, tightly packed in the texture's format.
    pub area: crate::Box3,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The ten callbacks. They are ordered with the command stream and may arrive on any thread; an implementation must not
/// call back into the pipe.
pub trait Callbacks: Send + Sync {
    /// A GL error that only the server could detect (out of memory, mostly).
    fn gl_error(&self, context: ContextHandle, error: u32, message: &str);
    /// The GPU wrote ranges of a buffer (storage buffers, transform feedback): host copies are stale.
    fn gpu_written(&self, buffer: BufferHandle, ranges: &[ByteRange]);
    /// Bytes of a buffer that the GPU produced, batched per operation.
    fn buffer_writeback(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]);
    /// Texels that the server produced, batched per operation.
    fn texture_writeback(&self, writeback: TextureWriteback<'_>);
    /// The server re-mints storage and wants levels again; answered by uploads and `resource_subdata_complete(token)`.
    fn texture_pull_request(&self, texture: TextureHandle, first_level: u32, levels: u32, token: u64);
    /// Mipmap levels exist now (shape only).
    fn mip_levels_generated(&self, texture: TextureHandle, first_level: u32, last_level: u32);
    /// A window surface changed its size in pixels.
    fn surface_changed(&self, window: u32, width: u32, height: u32);
    /// The caps changed (device reset, new output): ask again.
    fn caps_invalidated(&self);
    /// A log line.
    fn log(&self, level: LogLevel, message: &str);
    /// Captured transform-feedback bytes wait to be scattered into the client's copy, which keeps skipped components.
    fn xfb_scatter_ready(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]);
}

/// Callbacks that hand log lines, and GL errors as lines at error level, to a function, and ignore everything else: for
/// tests, examples and tools that keep no copies of what the server writes.
#[derive(Debug, Clone, Copy)]
pub struct LogCallbacks<F>(pub F);

impl LogCallbacks<fn(LogLevel, &str)> {
    /// Callbacks that ignore everything.
    pub fn silent() -> Self {
        LogCallbacks(|_, _| {})
    }
}

impl<F: Fn(LogLevel, &str) + Send + Sync> Callbacks for LogCallbacks<F> {
    fn gl_error(&self, _: ContextHandle, error: u32, message: &str) {
        (self.0)(LogLevel::Error, &format!("GL error {error:#x}: {message}"));
    }
    fn gpu_written(&self, _: BufferHandle, _: &[ByteRange]) {}
    fn buffer_writeback(&self, _: BufferHandle, _: u64, _: &[u8]) {}
    fn texture_writeback(&self, _: TextureWriteback<'_>) {}
    fn texture_pull_request(&self, _: TextureHandle, _: u32, _: u32, _: u64) {}
    fn mip_levels_generated(&self, _: TextureHandle, _: u32, _: u32) {}
    fn surface_changed(&self, _: u32, _: u32, _: u32) {}
    fn caps_invalidated(&self) {}
    fn log(&self, level: LogLevel, message: &str) {
        (self.0)(level, message);
    }
    fn xfb_scatter_ready(&self, _: BufferHandle, _: u64, _: &[u8]) {}
}
