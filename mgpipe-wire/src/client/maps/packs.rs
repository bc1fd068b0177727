//! Buffers that programs read pixels into, so as to map them some frames later.
//!
//! From its second read-back on, the storage of such a buffer is memory that both sides share. When a fence behind the last
//! command that wrote it is known to have signalled, its bytes are read where they are, and the server is not asked.

use super::super::shadow;
use mgpipe_types::{BufferReadback, ContextHandle, Handle, SharedMemory};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The read-back in front of which the storage is shared: one alone is not worth it.
const SHARED_AT: u32 = 2;
/// Read-backs of a buffer that is not shared, whatever comes.
const NEVER: u32 = u32::MAX;

/// What is known of a buffer's bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    /// A command of this context wrote them, and no fence of that context lies behind it. Null: nobody knows.
    Written(ContextHandle),
    /// They are there when this fence has signalled.
    Behind(Handle),
    /// They are there.
    Settled,
}

struct Pack {
    readbacks: u32,
    memory: Option<Arc<dyn SharedMemory>>,
    contents: Contents,
}

/// The pack buffers of one screen.
#[derive(Default)]
pub(super) struct Packs {
    /// How many there are.
    count: AtomicUsize,
    table: Mutex<HashMap<Handle, Pack>>,
}

impl Packs {
    fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    fn with(&self, buffer: Handle, change: impl FnOnce(&mut Pack)) {
        if self.any() {
            if let Some(pack) = self.table.lock().get_mut(&buffer) {
                change(pack);
            }
        }
    }

    /// Counts a read-back that is about to be sent. True when the storage is to be shared in front of it.
    pub(super) fn due(&self, buffer: Handle) -> bool {
        let mut table = self.table.lock();
        let contents = Contents::Written(ContextHandle::NULL);
        let pack = table.entry(buffer).or_insert(Pack { readbacks: 0, memory: None, contents });
        pack.readbacks = pack.readbacks.saturating_add(1);
        let due = pack.readbacks == SHARED_AT;
        self.count.store(table.len(), Ordering::Release);
        due
    }

    /// The storage is shared from here on.
    pub(super) fn shared(&self, buffer: Handle, memory: Arc<dyn SharedMemory>) {
        self.with(buffer, |pack| pack.memory = Some(memory));
    }

    /// The server is always asked for this buffer: it cannot be shared, or something may write it without a word.
    pub(super) fn never(&self, buffer: Handle) {
        self.with(buffer, |pack| (pack.readbacks, pack.memory) = (NEVER, None));
    }

    /// A command of a context that writes the buffer is sent.
    pub(super) fn written(&self, buffer: Handle, context: ContextHandle) {
        self.with(buffer, |pack| pack.contents = Contents::Written(context));
    }

    /// A fence is inserted into the commands of a context.
    pub(super) fn fenced(&self, context: ContextHandle, fence: Handle) {
        if self.any() && !context.is_null() {
            for pack in self.table.lock().values_mut().filter(|pack| pack.contents == Contents::Written(context)) {
                pack.contents = Contents::Behind(fence);
            }
        }
    }

    /// A fence is about to be destroyed.
    pub(super) fn fence_ends(&self, fence: Handle, is_signaled: bool) {
        if self.any() {
            for pack in self.table.lock().values_mut().filter(|pack| pack.contents == Contents::Behind(fence)) {
                pack.contents = if is_signaled { Contents::Settled } else { Contents::Written(ContextHandle::NULL) };
            }
        }
    }

    /// The buffer has new storage. A program that gives it some for every frame is better off without sharing.
    pub(super) fn respecified(&self, buffer: Handle) {
        self.with(buffer, |pack| {
            if pack.memory.take().is_some() {
                pack.readbacks = NEVER;
            }
        });
    }

    /// The buffer is gone.
    pub(super) fn destroyed(&self, buffer: Handle) {
        if self.any() {
            let mut table = self.table.lock();
            table.remove(&buffer);
            self.count.store(table.len(), Ordering::Release);
        }
    }

    /// Reads bytes that are known to be there; false when the server has to be asked.
    pub(super) fn read(
        &self,
        readback: &BufferReadback,
        out: &mut [u8],
        is_signaled: impl FnOnce(Handle) -> bool,
    ) -> bool {
        if !self.any() {
            return false;
        }
        let mut table = self.table.lock();
        let Some(pack) = table.get_mut(&readback.res) else { return false };
        let Some(memory) = &pack.memory else { return false };
        let is_there = match pack.contents {
            Contents::Settled => true,
            Contents::Behind(fence) => is_signaled(fence),
            Contents::Written(_) => false,
        };
        if is_there {
            pack.contents = Contents::Settled;
        }
        is_there && usize::try_from(readback.offset).is_ok_and(|offset| shadow::read_shared(&**memory, offset, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::memory::Region;

    fn handle(slot: u32) -> Handle {
        Handle { slot, gen: 1 }
    }

    #[test]
    fn bytes_are_read_when_a_fence_behind_them_has_signaled_and_not_before() {
        let (packs, buffer, fence) = (Packs::default(), handle(1), handle(9));
        let (own, other) = (ContextHandle(handle(1)), ContextHandle(handle(2)));
        let read = |signaled: bool| {
            let mut out = [9; 4];
            let readback = BufferReadback { res: buffer, offset: 0, size: 4 };
            packs.read(&readback, &mut out, |asked| asked == fence && signaled).then_some(out)
        };
        assert_eq!((packs.due(buffer), packs.due(buffer), packs.due(buffer)), (false, true, false));
        packs.shared(buffer, Arc::new(Region::private(1 << 16).unwrap()));
        packs.written(buffer, own);
        assert_eq!(read(true), None, "no fence");
        packs.fenced(other, fence);
        assert_eq!(read(true), None, "a fence of another context");
        packs.fenced(own, fence);
        assert_eq!(read(false), None);
        packs.fence_ends(fence, false);
        assert_eq!(read(true), None, "nobody knows any more");
        packs.written(buffer, own);
        packs.fenced(own, fence);
        assert_eq!(read(true), Some([0; 4]));
        assert_eq!(read(false), Some([0; 4]), "what is there stays");
        packs.written(buffer, other);
        assert_eq!(read(true), None, "written again");
        packs.fenced(other, fence);
        packs.fence_ends(fence, true);
        assert_eq!(read(false), Some([0; 4]));
        packs.respecified(buffer);
        assert_eq!(read(true), None, "other storage");
        assert!(!packs.due(buffer), "and never again");
        packs.destroyed(buffer);
        assert!(!packs.any());
    }
}
