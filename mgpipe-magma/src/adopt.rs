//! Buffers whose storage is memory of the client's.

use crate::context::MagmaContext;
use crate::resource::buffer::BufferStorage;
use mgpipe_types::{BufferHandle, HandleOnly, PipeError, PipeResult, SharedMemory};
use std::sync::atomic::Ordering;
use std::sync::Arc;

impl MagmaContext {
    /// Moves a buffer into memory that the client writes at any time.
    pub(crate) fn adopt(&mut self, buffer: &HandleOnly, memory: Arc<dyn SharedMemory>) -> PipeResult<()> {
        let missing = |error: mgpipe_handles::SlotError| PipeError::BadHandle(error.to_string());
        let buffer = self.shared.buffers.get(BufferHandle(buffer.handle)).map_err(missing)?;
        let Some(old) = buffer.storage() else {
            return Err(PipeError::BadHandle("the buffer has no storage".into()));
        };
        let fresh = BufferStorage::import(&self.device, old.size, memory)?;
        // Commands that write the old storage come first; those that read it go on with it.
        self.read_storage(&old, 0, &mut [])?;
        if old.writer.lock().as_ref().is_some_and(|writer| writer.get().is_none()) {
            // They would write where nobody reads any more.
            return Err(PipeError::Unsupported("another context has commands to submit that write the buffer".into()));
        }
        if !old.is_fresh(0, old.size) {
            fresh.copy_from(&old);
        }
        fresh.note_written(0, fresh.size);
        fresh.device_written.store(old.device_written.load(Ordering::Relaxed), Ordering::Relaxed);
        buffer.pinned.store(true, Ordering::Relaxed);
        drop(old);
        if let Some(old) = buffer.replace(Some(Arc::new(fresh))).filter(|old| !old.usage.is_idle()) {
            self.shared.retire(old);
        }
        self.shared.bump_buffers();
        self.bound_deferred()
    }
}
