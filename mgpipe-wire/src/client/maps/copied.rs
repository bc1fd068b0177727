//! A mapping whose bytes travel: what the application wrote is found and uploaded, what the device wrote is fetched.

use super::{ranges::Ranges, Counters, PageWatch};
use crate::client::connection::Connection;
use crate::client::shadow::Shadow;
use crate::client::{answer, emit};
use crate::message::Subject;
use mgpipe_types::{Box3, Handle, PipeResult, SubData, Target};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are uploaded together at most where nothing but this side writes.
const BLOCK: usize = 64 << 10;

/// Bytes that are compared at a time.
const PAGE: usize = 4096;

/// Unit in which both sides may write next to each other: a device's smallest store that GL 3.3 has.
const WORD: usize = 4;

/// Smaller mappings are compared: that costs less than asking the kernel, and than the faults of its marks.
const LEAST_WATCHED: usize = 32 << 10;

/// Bytes that are fetched with one answer at most.
const FETCH: usize = 8 << 20;

/// Times that a fetch is tried anew when uploads of other threads overtake it.
const FETCH_TRIES: usize = 3;

/// What the server has, as far as this side knows.
struct Known {
    bytes: Vec<u8>,
    /// The device may write next to the application: only words that differ are uploaded.
    shared: bool,
    /// Uploads so far: a fetch that one overtook knows nothing new.
    uploads: u64,
}

/// What the device may have written since it was fetched.
#[derive(Default)]
struct Written {
    ranges: Ranges,
    /// Moves with every addition.
    stamp: u64,
}

/// One mapping.
pub(crate) struct Mapped {
    pub(super) buffer: Handle,
    pub(super) coherent: bool,
    pub(super) size: usize,
    shadow: Shadow,
    known: Mutex<Known>,
    written: Mutex<Written>,
    /// Whether `written` has anything.
    stale: AtomicBool,
    /// The kernel marks what is written.
    watched: bool,
}

impl Mapped {
    /// Memory for a mapping with the buffer's present bytes; `None` when there is no memory.
    pub(super) fn new<'w>(
        buffer: Handle,
        coherent: bool,
        bytes: Vec<u8>,
        watch: impl FnOnce() -> Option<&'w PageWatch>,
    ) -> Option<Mapped> {
        let shadow = Shadow::new(bytes.len())?;
        shadow.write(0, &bytes);
        let size = bytes.len();
        let watched = coherent
            && size >= LEAST_WATCHED
            && watch().is_some_and(|watch| watch.register(shadow.address(), shadow.len()));
        Some(Mapped {
            buffer,
            coherent,
            size,
            shadow,
            known: Mutex::new(Known { bytes, shared: false, uploads: 0 }),
            written: Mutex::default(),
            stale: AtomicBool::new(false),
            watched,
        })
    }

    /// Address of the first byte.
    pub(super) fn address(&self) -> u64 {
        self.shadow.address()
    }

    /// From now on the device may write anywhere at any verb.
    pub(super) fn share(&self) {
        self.known.lock().shared = true;
    }

    /// The device has been told to write a range.
    pub(super) fn device_writes(&self, range: Range<usize>) {
        let range = range.start.min(self.size)..range.end.min(self.size);
        if !range.is_empty() {
            let mut written = self.written.lock();
            written.ranges.add(range);
            written.stamp += 1;
            self.stale.store(true, Ordering::Release);
        }
    }

    /// Whether the device may have written something that is not here.
    pub(super) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    /// Bytes that a call uploads into the buffer show in the mapping at once.
    pub(super) fn uploaded(&self, offset: usize, bytes: &[u8]) {
        let mut known = self.known.lock();
        known.uploads += 1;
        if self.shadow.write(offset, bytes) {
            if let Some(known) = known.bytes.get_mut(offset..offset + bytes.len()) {
                known.copy_from_slice(bytes);
            }
        }
    }

    /// Uploads the bytes of a range that differ from what the server has. With the kernel's marks only written pages are
    /// looked at.
    pub(super) fn push(&self, to: &Destination<'_>, range: Range<usize>) {
        let range = range.start.min(self.size)..range.end.min(self.size);
        // Held from the look to the upload: another thread's verb must not find the marks gone and go ahead of the bytes.
        let mut known = self.known.lock();
        if let Some(watch) = to.watch.filter(|_| self.watched) {
            to.counters.looks.fetch_add(1, Ordering::Relaxed);
            let mut pages = |pages: Range<usize>| self.compare(to, &mut known, pages.start..pages.end.min(self.size));
            if watch.take(self.shadow.address(), range.clone(), &mut pages).is_ok() {
                return;
            }
        }
        self.compare(to, &mut known, range);
    }

    fn compare(&self, to: &Destination<'_>, known: &mut Known, range: Range<usize>) {
        to.counters.compared.fetch_add(range.len() as u64, Ordering::Relaxed);
        let mut page = [0u8; PAGE];
        let mut at = range.start;
        while at < range.end {
            // Blocks end at multiples of their size, so that a write lands in as few as it can.
            let block_end = ((at / BLOCK + 1) * BLOCK).min(range.end);
            let mut dirty: Option<Range<usize>> = None;
            while at < block_end {
                let length = PAGE.min(block_end - at);
                let now = &mut page[..length];
                let read = self.shadow.read(at, now);
                let Some(old) = known.bytes.get_mut(at..at + length).filter(|_| read) else { return };
                if *now != *old {
                    if known.shared {
                        let mut from = 0;
                        while let Some(run) = changed_words(now, old, from) {
                            from = run.end;
                            known.uploads += 1;
                            self.upload(to, at + run.start, &now[run]);
                        }
                    } else {
                        let first = now.iter().zip(old.iter()).position(|(a, b)| a != b).unwrap_or(0);
                        let last = now.iter().zip(old.iter()).rposition(|(a, b)| a != b).unwrap_or(length - 1);
                        dirty = Some(dirty.map_or(at + first, |dirty| dirty.start)..at + last + 1);
                    }
                    old.copy_from_slice(now);
                }
                at += length;
            }
            if let Some(bytes) = dirty.clone().and_then(|dirty| known.bytes.get(dirty)) {
                self.upload(to, dirty.map_or(0, |dirty| dirty.start), bytes);
                known.uploads += 1;
            }
        }
    }

    fn upload(&self, to: &Destination<'_>, offset: usize, bytes: &[u8]) {
        to.counters.uploaded.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let data = SubData {
            res: self.buffer,
            target: Target::Buffer as u16,
            union_box: Box3::from_buffer_range(offset as u64, bytes.len() as u64),
            ..SubData::default()
        };
        emit::upload(to.connection, to.subject, &data, bytes);
    }

    /// Fetches what the device wrote; words that the application changed stay. What cannot be fetched now is at the next
    /// call.
    pub(super) fn pull(&self, to: &Destination<'_>) -> PipeResult<()> {
        let (ranges, stamp) = {
            let written = self.written.lock();
            (written.ranges.clone(), written.stamp)
        };
        for range in ranges.iter() {
            let mut at = range.start;
            while at < range.end {
                let part = at..range.end.min(at + FETCH);
                at = part.end;
                if !self.fetch(to, part)? {
                    // Other threads upload all the time; the next fence that is seen signalled tries again.
                    return Ok(());
                }
            }
        }
        let mut written = self.written.lock();
        if written.stamp == stamp {
            written.ranges = Ranges::default();
            self.stale.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Fetches a range; false when uploads overtook it again and again.
    fn fetch(&self, to: &Destination<'_>, range: Range<usize>) -> PipeResult<bool> {
        let mut fresh = super::zeroed(range.len())?;
        for _ in 0..FETCH_TRIES {
            let before = self.known.lock().uploads;
            // Not under the lock: the answer may take its time, and verbs of other threads look at the mapping.
            answer::buffer(to.connection, to.subject, self.buffer, range.start as u64, &mut fresh)?;
            let mut known = self.known.lock();
            if known.uploads == before {
                to.counters.fetched.fetch_add(range.len() as u64, Ordering::Relaxed);
                self.merge(&mut known, range.start, &fresh);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn merge(&self, known: &mut Known, start: usize, fresh: &[u8]) {
        let Some(known) = known.bytes.get_mut(start..start + fresh.len()) else { return };
        for (page, (fresh, old)) in fresh.chunks(PAGE).zip(known.chunks_mut(PAGE)).enumerate() {
            if fresh == &*old {
                continue;
            }
            let page = start + page * PAGE;
            for (at, (fresh, old)) in fresh.chunks(WORD).zip(old.chunks_mut(WORD)).enumerate() {
                let at = page + at * WORD;
                let mut now = [0u8; WORD];
                let now = &mut now[..old.len()];
                if fresh != &*old && self.shadow.read(at, now) && *now == *old {
                    self.shadow.write(at, fresh);
                }
                old.copy_from_slice(fresh);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_watched(&self) -> bool {
        self.watched
    }
}

/// Where uploads go, what is counted, and who tells of written pages.
pub(super) struct Destination<'a> {
    pub(super) connection: &'a Connection,
    pub(super) subject: Subject,
    pub(super) counters: &'a Counters,
    pub(super) watch: Option<&'a PageWatch>,
}

/// The next run of words that differ, from a multiple of [`WORD`] on.
fn changed_words(now: &[u8], old: &[u8], from: usize) -> Option<Range<usize>> {
    let words = || now.chunks(WORD).zip(old.chunks(WORD)).enumerate().skip(from / WORD);
    let (first, _) = words().find(|(_, (now, old))| now != old)?;
    let same = words().skip(first - from / WORD).find(|(_, (now, old))| now == old);
    Some(first * WORD..same.map_or(now.len(), |(word, _)| word * WORD))
}

#[cfg(test)]
mod tests {
    use super::changed_words;

    #[test]
    fn runs_are_the_words_that_differ() {
        let old = [0u8; 18];
        let mut now = old;
        assert_eq!(changed_words(&now, &old, 0), None);
        for at in [1, 5, 17] {
            now[at] = 1;
        }
        assert_eq!(changed_words(&now, &old, 0), Some(0..8));
        assert_eq!(changed_words(&now, &old, 8), Some(16..18));
        assert_eq!(changed_words(&now, &old, 20), None);
        assert_eq!(changed_words(&now, &old, 4), Some(4..8));
    }
}
