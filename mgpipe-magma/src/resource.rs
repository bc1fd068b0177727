//! Storage: buffers, images, and how a context knows whether the device still uses them.

pub(crate) mod buffer;
pub(crate) mod texture;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Who uses a native object.
///
/// Batches count themselves in and out, which makes "idle" a single load from any thread. The stamps are hints of the
/// context that wrote them last: another context that overwrites one makes the first do more work, never less, except for
/// `main_batch`, which is therefore only trusted while the screen has a single context.
#[derive(Default, Debug)]
pub(crate) struct Usage {
    /// Batches, recorded or running, that hold the object.
    users: AtomicU32,
    /// Serial of the batch that counted itself in last.
    batch: AtomicU64,
    /// Serial of the batch whose main commands used the object last.
    main_batch: AtomicU64,
    /// Serial of the batch whose main commands used the object last in another way than `fetched` says.
    whole_batch: AtomicU64,
    /// Serial of the batch that `fetched` is about.
    fetch_batch: AtomicU64,
    /// Bounds of the bytes that draws fetched as vertices and that uploads between them wrote.
    fetched: [AtomicU64; 2],
    /// Barrier span in which the object was written last.
    write_span: AtomicU64,
    /// Barrier span of *init* in which the object was read last.
    read_span: AtomicU64,
}

impl Usage {
    /// Whether no batch holds the object.
    pub(crate) fn is_idle(&self) -> bool {
        self.users.load(Ordering::Acquire) == 0
    }

    /// Counts a batch in. True when it was not counted yet.
    pub(crate) fn enter(&self, batch: u64) -> bool {
        if self.batch.swap(batch, Ordering::Relaxed) == batch {
            return false;
        }
        self.users.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Counts a batch out.
    pub(crate) fn leave(&self) {
        self.users.fetch_sub(1, Ordering::AcqRel);
    }

    /// Notes a use by main commands.
    pub(crate) fn mark_main(&self, batch: u64) {
        self.main_batch.store(batch, Ordering::Relaxed);
        self.whole_batch.store(batch, Ordering::Relaxed);
    }

    /// Notes that main commands use some bytes; [`Usage::note_part`] says which they were.
    pub(crate) fn mark_parts(&self, batch: u64) {
        self.main_batch.store(batch, Ordering::Relaxed);
    }

    /// Notes bytes that main commands use, from `start` up to but not with `end`.
    pub(crate) fn note_part(&self, batch: u64, start: u64, end: u64) {
        let [low, high] = &self.fetched;
        let same = self.fetch_batch.swap(batch, Ordering::Relaxed) == batch;
        let (old_low, old_high) =
            if same { (low.load(Ordering::Relaxed), high.load(Ordering::Relaxed)) } else { (start, end) };
        low.store(old_low.min(start), Ordering::Relaxed);
        high.store(old_high.max(end), Ordering::Relaxed);
    }

    /// Whether the batch's main commands have nothing to do with bytes from `start` up to but not with `end`. The draws so
    /// far have been noted.
    pub(crate) fn is_beside_main(&self, batch: u64, start: u64, end: u64) -> bool {
        if !self.in_main(batch) {
            return true;
        }
        let [low, high] = &self.fetched;
        self.whole_batch.load(Ordering::Relaxed) != batch
            && (self.fetch_batch.load(Ordering::Relaxed) != batch
                || end <= low.load(Ordering::Relaxed)
                || start >= high.load(Ordering::Relaxed))
    }

    /// Whether the batch's main commands use the object.
    pub(crate) fn in_main(&self, batch: u64) -> bool {
        self.main_batch.load(Ordering::Relaxed) == batch
    }

    /// Notes a write in a barrier span.
    pub(crate) fn mark_write(&self, span: u64) {
        self.write_span.store(span, Ordering::Relaxed);
    }

    /// Notes a read in a barrier span of *init*.
    pub(crate) fn mark_read(&self, span: u64) {
        self.read_span.store(span, Ordering::Relaxed);
    }

    /// Whether the object was read in the span, which is one of *init*.
    pub(crate) fn read_in(&self, span: u64) -> bool {
        self.read_span.load(Ordering::Relaxed) == span
    }

    /// Whether the object was written in the span.
    pub(crate) fn written_in(&self, span: u64) -> bool {
        self.write_span.load(Ordering::Relaxed) == span
    }
}
