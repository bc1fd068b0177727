//! A backend whose calls are counted, generated from the catalogue.

use super::collector::{LinkSource, LinkWatch, Statistics};
use super::counts::PortCounts;
use crate::record::{argument_bytes, HEADER_BYTES};
use mgpipe_types::*;
use std::sync::Arc;

/// Wraps a backend: every screen that it opens counts its calls, and what comes back.
pub struct Counted {
    inner: Arc<dyn Backend>,
    stats: Arc<Statistics>,
    _link: Option<LinkWatch>,
}

impl Counted {
    /// A backend that works as `inner` does and counts into `stats`.
    pub fn new(inner: Arc<dyn Backend>, stats: Arc<Statistics>) -> Counted {
        Counted { inner, stats, _link: None }
    }

    /// The same; what its connections wait for is in the reports, too.
    pub fn with_link(self, link: Arc<dyn LinkSource>) -> Counted {
        Counted { _link: Some(self.stats.watch(link)), ..self }
    }
}

impl Backend for Counted {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        let stats = self.stats.clone();
        let callbacks = Arc::new(CountingCallbacks { inner: callbacks, stats: stats.clone() });
        let inner = self.inner.open(callbacks)?;
        Ok(Arc::new(CountingScreen { inner, stats }))
    }
}

struct CountingScreen {
    inner: Arc<dyn Screen>,
    stats: Arc<Statistics>,
}

struct CountingContext {
    inner: Box<dyn Context>,
    counts: Box<PortCounts>,
    stats: Arc<Statistics>,
}

impl CountingContext {
    /// The recorded work was handed over: a good time to hand over the counts.
    fn gather(&mut self) {
        self.counts.flushes += 1;
        self.counts.upload_work(&self.inner.take_upload_work());
        self.stats.gather(&mut self.counts);
    }
}

impl Drop for CountingScreen {
    fn drop(&mut self) {
        self.stats.group_ended();
    }
}

impl Drop for CountingContext {
    fn drop(&mut self) {
        self.counts.upload_work(&self.inner.take_upload_work());
        self.stats.gather(&mut self.counts);
    }
}

/// Bytes of a call's record.
macro_rules! record_bytes {
    ($($arg:ident : $kind:ident),*) => {
        HEADER_BYTES $(+ argument_bytes!($kind $arg))*
    };
}

/// What is noted of a call beside its number and size, before it is made.
macro_rules! note {
    ($counts:expr, draw_vbo($info:ident, $ranges:ident, $indirect:ident, $indices:ident)) => {
        $counts.draw($indices)
    };
    ($counts:expr, resource_subdata($data:ident, $regions:ident, $bytes:ident)) => {
        $counts.upload($data, $regions, $bytes)
    };
    ($counts:expr, buffer_subdata_resident($data:ident, $bytes:ident)) => {
        $counts.resident_upload($bytes)
    };
    ($counts:expr, flush($flush:ident)) => {
        if $flush.flags & flush_flags::END_OF_FRAME != 0 {
            $counts.frames += 1;
        }
    };
    ($counts:expr, present($present:ident)) => {{
        $counts.frames += 1;
        $counts.presents += 1;
    }};
    ($counts:expr, $name:ident($($arg:ident),*)) => {};
}

/// Whether the counts of a context are gathered after a call.
macro_rules! after {
    ($self:ident flush) => {
        $self.gather()
    };
    ($self:ident present) => {
        $self.gather()
    };
    ($self:ident $name:ident) => {};
}

macro_rules! screen_method {
    (context $($rest:tt)*) => {};
    (screen $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        fn $name(&self, $($arg: mgpipe_arg!($kind $ty)),*) -> mgpipe_reply!($($reply)*) {
            self.stats.screen_call(Opcode::$op, CallClass::$class, record_bytes!($($arg : $kind),*));
            self.inner.$name($($arg),*)
        }
    };
}

macro_rules! context_method {
    (screen $($rest:tt)*) => {};
    (context $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> $($reply:tt)*) => {
        fn $name(&mut self, $($arg: mgpipe_arg!($kind $ty)),*) -> mgpipe_reply!($($reply)*) {
            self.counts.call(Opcode::$op, CallClass::$class, record_bytes!($($arg : $kind),*));
            note!(self.counts, $name($($arg),*));
            let reply = self.inner.$name($($arg),*);
            after!(self $name);
            reply
        }
    };
}

macro_rules! counting {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        impl Screen for CountingScreen {
            $(screen_method! { $recv $class $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
                let inner = self.inner.create_context(context)?;
                Ok(Box::new(CountingContext { inner, counts: Box::default(), stats: self.stats.clone() }))
            }

            fn device_lost(&self) -> Option<String> {
                self.inner.device_lost()
            }
        }

        #[allow(clippy::let_unit_value)] // Most calls answer nothing.
        impl Context for CountingContext {
            $(context_method! { $recv $class $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            fn adopt_memory(&mut self, buffer: &HandleOnly, memory: Arc<dyn SharedMemory>) -> PipeResult<()> {
                self.inner.adopt_memory(buffer, memory)
            }

            fn take_upload_work(&mut self) -> UploadWork {
                self.inner.take_upload_work()
            }
        }
    };
}

mgpipe_catalogue!(counting);

struct CountingCallbacks {
    inner: Arc<dyn Callbacks>,
    stats: Arc<Statistics>,
}

impl Callbacks for CountingCallbacks {
    fn gl_error(&self, context: ContextHandle, error: u32, message: &str) {
        self.stats.called_back(|counts| counts.errors += 1);
        self.inner.gl_error(context, error, message);
    }

    fn gpu_written(&self, buffer: BufferHandle, ranges: &[ByteRange]) {
        self.stats.called_back(|counts| counts.gpu_writes += 1);
        self.inner.gpu_written(buffer, ranges);
    }

    fn buffer_writeback(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        self.stats.called_back(|counts| {
            counts.writebacks += 1;
            counts.writeback_bytes += bytes.len() as u64;
        });
        self.inner.buffer_writeback(buffer, offset, bytes);
    }

    fn texture_writeback(&self, writeback: TextureWriteback<'_>) {
        self.stats.called_back(|counts| {
            counts.writebacks += 1;
            counts.writeback_bytes += writeback.bytes.len() as u64;
        });
        self.inner.texture_writeback(writeback);
    }

    fn texture_pull_request(&self, texture: TextureHandle, first_level: u32, levels: u32, token: u64) {
        self.stats.called_back(|counts| {
            counts.texture_pulls += 1;
            counts.texture_pull_levels += u64::from(levels);
        });
        self.inner.texture_pull_request(texture, first_level, levels, token);
    }

    fn mip_levels_generated(&self, texture: TextureHandle, first_level: u32, last_level: u32) {
        self.inner.mip_levels_generated(texture, first_level, last_level);
    }

    fn surface_changed(&self, window: u32, width: u32, height: u32) {
        self.inner.surface_changed(window, width, height);
    }

    fn caps_invalidated(&self) {
        self.inner.caps_invalidated();
    }

    fn log(&self, level: LogLevel, message: &str) {
        self.stats.called_back(|counts| counts.log_lines += 1);
        self.inner.log(level, message);
    }

    fn xfb_scatter_ready(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        self.stats.called_back(|counts| {
            counts.writebacks += 1;
            counts.writeback_bytes += bytes.len() as u64;
        });
        self.inner.xfb_scatter_ready(buffer, offset, bytes);
    }
}
