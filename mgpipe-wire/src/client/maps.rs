//! Persistent mappings where the server's memory has no address here (tier T2).
//!
//! The application gets a block of this process. At every verb the blocks of coherent mappings are compared with what the
//! server has, in units of 64 KiB, and the bytes that differ are uploaded in front of the verb; other mappings are sent when
//! the application flushes a range or asks for the barrier. What the device wrote is fetched when a fence is seen signalled,
//! and merged word by word: a word that the application changed meanwhile stays. Where the device may write, only the words
//! that differ are uploaded: what lies between them may be newer there.

use super::connection::{Connection, Head};
use super::shadow::Shadow;
use crate::message::Subject;
use crate::record::padded;
use mgpipe_types::{gl, Box3, BufferReadback, ContextHandle, Handle, Opcode, ResourceDesc, SubData, Target};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

/// Unit of the comparison.
const BLOCK: usize = 64 << 10;

/// Unit in which both sides may write next to each other: a device's smallest store that GL 3.3 has.
const WORD: usize = 4;

/// Storage that could be mapped.
#[derive(Clone, Copy)]
struct Storage {
    size: u64,
    coherent: bool,
    /// The device may write at any verb, mapped or not: the buffer is or was bound for that.
    writable: bool,
}

/// One mapping.
pub(crate) struct Mapped {
    buffer: Handle,
    shadow: Shadow,
    size: usize,
    coherent: bool,
    /// What the server has, as far as this side knows.
    known: Mutex<Vec<u8>>,
    /// The device may have written since the last fetch.
    written: AtomicBool,
    /// As [`Storage::writable`].
    writable: AtomicBool,
    /// Uploads so far: a fetch that one overtook knows nothing new.
    uploads: AtomicUsize,
}

#[derive(Default)]
struct Tables {
    storages: HashMap<Handle, Storage>,
    mapped: HashMap<Handle, Arc<Mapped>>,
}

/// The mappings of one screen.
#[derive(Default)]
pub(crate) struct Maps {
    live: AtomicUsize,
    /// Storage that could be mapped.
    mappable: AtomicUsize,
    tables: Mutex<Tables>,
}

impl Maps {
    /// Whether anything is mapped: what every verb asks.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.live.load(Ordering::Acquire) != 0
    }

    /// Remembers storage that may be mapped; a new specification ends a mapping.
    pub(crate) fn specified(&self, desc: &ResourceDesc) {
        if desc.target != Target::Buffer as u8 {
            return;
        }
        let mappable = desc.storage_flags & gl::MAP_PERSISTENT_BIT != 0;
        let mut tables = self.tables.lock();
        if mappable {
            let coherent = desc.storage_flags & gl::MAP_COHERENT_BIT != 0;
            // Where a buffer is bound, fresh storage of it is too.
            let writable = tables.storages.get(&desc.handle).is_some_and(|storage| storage.writable);
            tables.storages.insert(desc.handle, Storage { size: desc.buffer_size, coherent, writable });
        } else {
            tables.storages.remove(&desc.handle);
        }
        self.mappable.store(tables.storages.len(), Ordering::Release);
        self.end(&mut tables, desc.handle);
    }

    /// The buffer is gone.
    pub(crate) fn destroyed(&self, buffer: Handle) {
        let mut tables = self.tables.lock();
        tables.storages.remove(&buffer);
        self.mappable.store(tables.storages.len(), Ordering::Release);
        self.end(&mut tables, buffer);
    }

    /// The mapping ends.
    pub(crate) fn unmap(&self, buffer: Handle) {
        self.end(&mut self.tables.lock(), buffer);
    }

    fn end(&self, tables: &mut Tables, buffer: Handle) {
        if tables.mapped.remove(&buffer).is_some() {
            self.live.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn get(&self, buffer: Handle) -> Option<Arc<Mapped>> {
        if !self.any() {
            return None;
        }
        self.tables.lock().mapped.get(&buffer).cloned()
    }

    fn all(&self) -> Vec<Arc<Mapped>> {
        self.tables.lock().mapped.values().cloned().collect()
    }

    /// Address and size of a buffer's mapping, made when there is none; `None` when the storage cannot be mapped or there is
    /// no memory. `fetch` reads the buffer's present bytes.
    pub(crate) fn map(&self, buffer: Handle, fetch: impl FnOnce(&mut [u8]) -> bool) -> Option<(u64, u64)> {
        let mut tables = self.tables.lock();
        let storage = *tables.storages.get(&buffer)?;
        if let Some(mapped) = tables.mapped.get(&buffer) {
            return Some((mapped.shadow.address(), storage.size));
        }
        let size = usize::try_from(storage.size).ok()?;
        let shadow = Shadow::new(size)?;
        let mut known = Vec::new();
        known.try_reserve_exact(size).ok()?;
        known.resize(size, 0);
        if !fetch(&mut known) {
            return None;
        }
        shadow.write(0, &known);
        let answer = (shadow.address(), storage.size);
        let mapped = Mapped {
            buffer,
            shadow,
            size,
            coherent: storage.coherent,
            known: Mutex::new(known),
            written: AtomicBool::new(false),
            writable: AtomicBool::new(storage.writable),
            uploads: AtomicUsize::new(0),
        };
        tables.mapped.insert(buffer, Arc::new(mapped));
        self.live.fetch_add(1, Ordering::AcqRel);
        Some(answer)
    }

    /// Uploads what the application wrote into coherent mappings, or into all.
    #[cold]
    pub(crate) fn push(&self, connection: &Connection, subject: Subject, all: bool) {
        for mapped in self.all() {
            if all || mapped.coherent {
                mapped.push(connection, subject, 0, mapped.size);
            }
        }
    }

    /// Uploads what the application wrote into a range.
    pub(crate) fn push_range(&self, connection: &Connection, subject: Subject, buffer: Handle, offset: u64, size: u64) {
        if let Some(mapped) = self.get(buffer) {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(mapped.size);
            let end = start.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)).min(mapped.size);
            mapped.push(connection, subject, start, end);
        }
    }

    /// The client uploads into a buffer that is mapped: the application sees it.
    pub(crate) fn uploaded(&self, data: &SubData, bytes: &[u8]) {
        if data.target != Target::Buffer as u16 {
            return;
        }
        if let Some(mapped) = self.get(data.res) {
            let offset = usize::try_from(data.union_box.buffer_range().0).unwrap_or(usize::MAX);
            let mut known = mapped.known.lock();
            mapped.uploads.fetch_add(1, Ordering::AcqRel);
            if mapped.shadow.write(offset, bytes) {
                if let Some(known) = known.get_mut(offset..offset + bytes.len()) {
                    known.copy_from_slice(bytes);
                }
            }
        }
    }

    /// The device writes into a buffer once, or may at every verb from now on.
    pub(crate) fn written(&self, buffer: Handle, from_now_on: bool) {
        // A buffer that is bound now may be mapped later, and then nothing is bound again.
        if from_now_on && self.mappable.load(Ordering::Acquire) != 0 {
            if let Some(storage) = self.tables.lock().storages.get_mut(&buffer) {
                storage.writable = true;
            }
        }
        if let Some(mapped) = self.get(buffer) {
            mapped.written.store(true, Ordering::Release);
            if from_now_on {
                mapped.writable.store(true, Ordering::Release);
            }
        }
    }

    /// Fetches what the device wrote. A context is needed to ask: any.
    #[cold]
    pub(crate) fn pull(&self, connection: &Connection, screen: u32, context: ContextHandle) {
        for mapped in self.all() {
            let once = mapped.written.swap(false, Ordering::AcqRel);
            if once || mapped.writable.load(Ordering::Acquire) {
                mapped.pull(connection, Subject::new(screen, context));
            }
        }
    }
}

/// Reads a whole buffer from the server.
pub(crate) fn read_buffer(connection: &Connection, subject: Subject, buffer: Handle, out: &mut [u8]) -> bool {
    let readback = BufferReadback { res: buffer, offset: 0, size: out.len() as u64 };
    let body = padded(std::mem::size_of::<BufferReadback>()) + 8;
    let head = Head { kind: Opcode::ResourceReadback as u16, flags: 0, body, ticket: None, staged: None };
    let length = out.len() as u64;
    let fill = |writer: &mut super::writer::Writer<'_>, _: bool| {
        writer.put(bytemuck::bytes_of(&readback));
        writer.put_word(length);
    };
    super::answer::bytes(connection, subject, head, fill, out).is_ok()
}

/// The next run of words that differ, from a multiple of [`WORD`] on.
fn changed_words(now: &[u8], old: &[u8], from: usize) -> Option<Range<usize>> {
    let words = || now.chunks(WORD).zip(old.chunks(WORD)).enumerate().skip(from / WORD);
    let (first, _) = words().find(|(_, (now, old))| now != old)?;
    let same = words().skip(first - from / WORD).find(|(_, (now, old))| now == old);
    Some(first * WORD..same.map_or(now.len(), |(word, _)| word * WORD))
}

impl Mapped {
    /// Uploads the bytes of a range that differ from what the server has.
    fn push(&self, connection: &Connection, subject: Subject, start: usize, end: usize) {
        let mut known = self.known.lock();
        let shared = self.writable.load(Ordering::Acquire) || self.written.load(Ordering::Acquire);
        let mut block = [0u8; 4096];
        let mut at = start;
        while at < end {
            // Blocks end at multiples of their size, so that a write lands in as few as it can.
            let block_end = ((at / BLOCK + 1) * BLOCK).min(end);
            let mut dirty: Option<(usize, usize)> = None;
            while at < block_end {
                let length = block.len().min(block_end - at);
                let now = &mut block[..length];
                let old = &mut known[at..at + length];
                let differs = self.shadow.read(at, now) && *now != *old;
                if differs && shared {
                    let mut from = 0;
                    while let Some(run) = changed_words(now, old, from) {
                        from = run.end;
                        self.uploads.fetch_add(1, Ordering::AcqRel);
                        self.upload(connection, subject, at + run.start, &now[run]);
                    }
                    old.copy_from_slice(now);
                } else if differs {
                    let first = now.iter().zip(old.iter()).position(|(a, b)| a != b).unwrap_or(0);
                    let last = now.iter().zip(old.iter()).rposition(|(a, b)| a != b).unwrap_or(length - 1);
                    old.copy_from_slice(now);
                    dirty = Some((dirty.map_or(at + first, |(start, _)| start), at + last + 1));
                }
                at += length;
            }
            if let Some((start, end)) = dirty {
                self.uploads.fetch_add(1, Ordering::AcqRel);
                self.upload(connection, subject, start, &known[start..end]);
            }
        }
    }

    fn upload(&self, connection: &Connection, subject: Subject, offset: usize, bytes: &[u8]) {
        let data = SubData {
            res: self.buffer,
            target: Target::Buffer as u16,
            union_box: Box3::from_buffer_range(offset as u64, bytes.len() as u64),
            ..SubData::default()
        };
        super::emit::upload(connection, subject, &data, bytes);
    }

    /// Fetches the server's bytes; words that the application changed stay.
    fn pull(&self, connection: &Connection, subject: Subject) {
        let mut fresh = vec![0; self.size];
        let before = self.uploads.load(Ordering::Acquire);
        // Not under the lock: the answer may take its time, and verbs of other threads look at the mapping.
        if !read_buffer(connection, subject, self.buffer, &mut fresh) {
            return;
        }
        let mut known = self.known.lock();
        if self.uploads.load(Ordering::Acquire) != before {
            // The next fence that is seen signalled fetches again.
            self.written.store(true, Ordering::Release);
            return;
        }
        let mut now = [0u8; WORD];
        for (at, (fresh, old)) in fresh.chunks(WORD).zip(known.chunks_mut(WORD)).enumerate() {
            if fresh == &*old {
                continue;
            }
            let now = &mut now[..old.len()];
            if self.shadow.read(at * WORD, now) && *now == *old {
                self.shadow.write(at * WORD, fresh);
            }
            old.copy_from_slice(fresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_was_bound_for_writing_is_fetched_however_often_it_is_mapped() {
        let buffer = Handle { slot: 1, gen: 1 };
        let desc = ResourceDesc {
            handle: buffer,
            target: Target::Buffer as u8,
            buffer_size: 8,
            storage_flags: gl::MAP_PERSISTENT_BIT,
            ..ResourceDesc::default()
        };
        let maps = Maps::default();
        let is_writable = || maps.get(buffer).is_some_and(|mapped| mapped.writable.load(Ordering::Acquire));
        maps.specified(&desc);
        maps.map(buffer, |_| true).expect("memory");
        assert!(!is_writable());
        maps.unmap(buffer);
        maps.written(buffer, true);
        for _ in 0..2 {
            maps.map(buffer, |_| true).expect("memory");
            assert!(is_writable());
            maps.unmap(buffer);
        }
        maps.specified(&desc);
        maps.map(buffer, |_| true).expect("memory");
        assert!(is_writable(), "fresh storage is bound where the old was");
        maps.destroyed(buffer);
        maps.specified(&desc);
        maps.map(buffer, |_| true).expect("memory");
        assert!(!is_writable());
    }
}
