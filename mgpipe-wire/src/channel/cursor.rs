//! The two cursors of a ring with one writer and one reader.
//!
//! A position is a count of bytes since the start, so it never wraps in practice; the place in the ring is the position
//! modulo the capacity, a power of two. The writer publishes its head with a release store, which the reader acquires
//! before it looks at the bytes; the reader gives bytes back the same way with its tail. Both keep the peer's cursor as
//! last seen and read the shared word only when that is not enough, so that a steady stream moves few cache lines.
//!
//! Everything from the peer is checked: a head that goes back, runs ahead of the capacity or is not a multiple of 8 is
//! a [`Lie`], and the connection ends.

use super::atomic::Word64;
use std::sync::atomic::Ordering;

/// The peer's cursor is one that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lie;

/// Where a piece goes: at `at`, after `skip` bytes at the ring's end that it does not fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    /// Place in the ring.
    pub(crate) at: usize,
    /// Bytes to pass over first; they start at the writer's present place.
    pub(crate) skip: usize,
}

/// The writer's side.
#[derive(Debug)]
pub(crate) struct Writer {
    capacity: u64,
    head: u64,
    freed: u64,
}

impl Writer {
    /// A writer at the start of a ring. `capacity` is a power of two.
    pub(crate) fn new(capacity: usize) -> Writer {
        debug_assert!(capacity.is_power_of_two() && capacity >= 8);
        Writer { capacity: capacity as u64, head: 0, freed: 0 }
    }

    /// Place of the next byte.
    pub(crate) fn place(&self) -> usize {
        (self.head & (self.capacity - 1)) as usize
    }

    /// The reader's tail when `bytes` are free.
    pub(crate) fn tail_for(&self, bytes: u64) -> u64 {
        (self.head + bytes).saturating_sub(self.capacity)
    }

    /// Bytes that are free as far as the writer knows.
    pub(crate) fn room(&self) -> u64 {
        self.capacity - (self.head - self.freed)
    }

    /// Takes note of what the reader gave back.
    pub(crate) fn refresh(&mut self, tail: &impl Word64) -> Result<(), Lie> {
        let freed = tail.load(Ordering::Acquire);
        if freed < self.freed || freed > self.head || freed % 8 != 0 {
            return Err(Lie);
        }
        self.freed = freed;
        Ok(())
    }

    /// Room for `len` contiguous bytes, a multiple of 8 and at most half of the ring; `None` when there is none now.
    #[inline]
    pub(crate) fn fit(&mut self, len: usize, tail: &impl Word64) -> Result<Option<Fit>, Lie> {
        debug_assert!(len % 8 == 0 && len as u64 <= self.capacity / 2);
        let place = self.place();
        let to_end = self.capacity as usize - place;
        let skip = if len <= to_end { 0 } else { to_end };
        if self.room() < (len + skip) as u64 {
            self.refresh(tail)?;
            if self.room() < (len + skip) as u64 {
                return Ok(None);
            }
        }
        Ok(Some(Fit { at: if skip == 0 { place } else { 0 }, skip }))
    }

    /// Moves over bytes that were written or skipped.
    #[inline]
    pub(crate) fn advance(&mut self, len: usize) {
        self.head += len as u64;
    }

    /// Shows the reader everything up to here.
    #[inline]
    pub(crate) fn publish(&self, head: &impl Word64) {
        head.store(self.head, Ordering::Release);
    }
}

/// The reader's side.
#[derive(Debug)]
pub(crate) struct Reader {
    capacity: u64,
    tail: u64,
    seen: u64,
}

impl Reader {
    /// A reader at the start of a ring. `capacity` is a power of two.
    pub(crate) fn new(capacity: usize) -> Reader {
        debug_assert!(capacity.is_power_of_two() && capacity >= 8);
        Reader { capacity: capacity as u64, tail: 0, seen: 0 }
    }

    /// Place of the next byte.
    pub(crate) fn place(&self) -> usize {
        (self.tail & (self.capacity - 1)) as usize
    }

    /// Bytes read since the start.
    pub(crate) fn tail(&self) -> u64 {
        self.tail
    }

    /// Contiguous published bytes from [`Reader::place`] on.
    #[inline]
    pub(crate) fn available(&mut self, head: &impl Word64) -> Result<usize, Lie> {
        if self.seen == self.tail {
            let seen = head.load(Ordering::Acquire);
            if seen < self.seen || seen - self.tail > self.capacity || seen % 8 != 0 {
                return Err(Lie);
            }
            self.seen = seen;
        }
        let to_end = self.capacity as usize - self.place();
        Ok(((self.seen - self.tail) as usize).min(to_end))
    }

    /// Moves over bytes that were read.
    #[inline]
    pub(crate) fn advance(&mut self, len: usize) {
        self.tail += len as u64;
    }

    /// Gives everything before here back to the writer.
    #[inline]
    pub(crate) fn release(&self, tail: &impl Word64) {
        tail.store(self.tail, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::{Lie, Reader, Writer};
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_piece_never_wraps() {
        let (head, tail) = (AtomicU64::new(0), AtomicU64::new(0));
        let (mut writer, mut reader) = (Writer::new(64), Reader::new(64));
        for (len, at) in [(32, 0), (8, 32)] {
            assert_eq!(writer.fit(len, &tail).unwrap().unwrap().at, at);
            writer.advance(len);
        }
        writer.publish(&head);
        assert_eq!(writer.fit(32, &tail).unwrap(), None, "24 bytes are left before the end, 40 are taken");
        assert_eq!(reader.available(&head), Ok(40));
        reader.advance(40);
        reader.release(&tail);
        let fit = writer.fit(32, &tail).unwrap().unwrap();
        assert_eq!((fit.at, fit.skip), (0, 24));
    }

    #[test]
    fn cursors_that_cannot_be_are_lies() {
        for head in [65, 7, 72, u64::MAX, u64::MAX - 7] {
            assert_eq!(Reader::new(64).available(&AtomicU64::new(head)), Err(Lie), "{head}");
        }
        for tail in [8, 1, u64::MAX - 7] {
            assert_eq!(Writer::new(64).refresh(&AtomicU64::new(tail)), Err(Lie), "{tail}");
        }
        let mut reader = Reader::new(64);
        let head = AtomicU64::new(16);
        reader.available(&head).unwrap();
        reader.advance(16);
        head.store(8, Ordering::Relaxed);
        assert_eq!(reader.available(&head), Err(Lie), "a head that went back");
    }

    proptest! {
        /// Against a model that is a queue: pieces come out in order, whole, and never more than the capacity is in flight.
        #[test]
        fn pieces_come_out_as_they_went_in(steps in prop::collection::vec((any::<bool>(), 1usize..5), 1..200)) {
            let (head, tail) = (AtomicU64::new(0), AtomicU64::new(0));
            let (mut writer, mut reader) = (Writer::new(64), Reader::new(64));
            let mut ring = [0u64; 8];
            let mut model = std::collections::VecDeque::new();
            let mut next = 1u64;
            for (write, words) in steps {
                if write {
                    if let Some(fit) = writer.fit(words * 8, &tail).unwrap() {
                        if fit.skip > 0 {
                            ring[writer.place() / 8] = 0;
                            writer.advance(fit.skip);
                        }
                        for word in &mut ring[fit.at / 8..][..words] {
                            *word = next;
                        }
                        writer.advance(words * 8);
                        writer.publish(&head);
                        model.push_back((next, words));
                        next += 1;
                    } else {
                        prop_assert!(!model.is_empty(), "an empty ring takes any piece up to its half");
                    }
                } else {
                    let mut got = reader.available(&head).unwrap();
                    if got > 0 && ring[reader.place() / 8] == 0 {
                        reader.advance(got.min(64 - reader.place()));
                        got = reader.available(&head).unwrap();
                    }
                    match model.pop_front() {
                        None => prop_assert_eq!(got, 0),
                        Some((value, words)) => {
                            prop_assert!(got >= words * 8);
                            let piece = &ring[reader.place() / 8..][..words];
                            prop_assert!(piece.iter().all(|word| *word == value), "{piece:?} is not {value}");
                            reader.advance(words * 8);
                            reader.release(&tail);
                        }
                    }
                }
            }
        }
    }
}
