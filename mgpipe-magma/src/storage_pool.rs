//! Buffer storage that was replaced while the device used it, kept for the next replacement of the same size.
//!
//! Applications that stream replace a buffer's storage again and again. Fresh memory for each time costs a page fault every
//! 4 KiB on a device that shares the host's memory, and an allocation on every device.

use crate::resource::buffer::BufferStorage;
use parking_lot::Mutex;
use std::sync::Arc;

/// Smallest storage that is kept; smaller ones come from blocks that stay.
pub(crate) const LEAST_BYTES: u64 = 32 << 10;
/// Bytes that are kept.
pub(crate) const MOST_BYTES: u64 = 64 << 20;
/// Pieces of storage that are kept.
const MOST: usize = 256;

/// The storage that is kept, oldest first.
#[derive(Default)]
pub(crate) struct StoragePool(Mutex<Vec<Arc<BufferStorage>>>);

impl StoragePool {
    /// Keeps storage that nothing refers to any more but batches. False when it does not: it is then freed with them.
    pub(crate) fn put(&self, storage: Arc<BufferStorage>) -> bool {
        if !(LEAST_BYTES..=MOST_BYTES / 2).contains(&storage.size) {
            return false;
        }
        let mut kept = self.0.lock();
        kept.push(storage);
        while kept.len() > MOST || bytes(&kept) > MOST_BYTES {
            kept.remove(0);
        }
        true
    }

    /// Idle storage of a size, with undefined contents.
    pub(crate) fn take(&self, size: u64) -> Option<Arc<BufferStorage>> {
        let mut kept = self.0.lock();
        // The oldest of a size is done first: while it is in use the others are not worth a look.
        let oldest = kept.iter().find(|storage| storage.size == size)?;
        if is_busy(oldest) {
            return None;
        }
        // What was used last is still in caches.
        let at = kept.iter().rposition(|storage| storage.size == size && !is_busy(storage))?;
        let storage = kept.remove(at);
        drop(kept);
        storage.renew();
        Some(storage)
    }

    /// Bytes that are kept and wait for batches. What is idle is of sizes that nobody asks for just now, and no wait makes
    /// it more useful.
    pub(crate) fn busy_bytes(&self) -> u64 {
        self.0.lock().iter().filter(|storage| is_busy(storage)).map(|storage| storage.size).sum()
    }
}

/// Whether batches refer to storage.
fn is_busy(storage: &Arc<BufferStorage>) -> bool {
    Arc::strong_count(storage) > 1 || !storage.usage.is_idle()
}

fn bytes(kept: &[Arc<BufferStorage>]) -> u64 {
    kept.iter().map(|storage| storage.size).sum()
}
