//! STAGE: room for bytes that are too many for a record, in a ring that grows.
//!
//! Only the client knows the cursors of this ring: which record named a range last, and hence when it is free, follows from
//! the mark of applied records. The server resolves a range by its segment, offset and size and needs to know nothing else.
//!
//! When nothing is in flight the next range starts at the segment's first byte, so that a program that uploads little
//! touches little memory, again and again the same. When a range finds no room the segment is replaced by one of twice the
//! size up to a limit; the old one lives until its last range is applied. At the limit the client waits.

use super::memory::{Incoming, Outgoing, Region};
use crate::port::{PortError, StageRange};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Ranges start at multiples of this.
const STAGE_ALIGN: u64 = 64;

/// Most segments over a connection's life: doubling ends long before.
pub(crate) const MAX_SEGMENTS: usize = 32;

/// Pieces of shared memory that may wait for their record.
const MAX_UNNAMED: usize = 64;

/// How long the server waits for a segment that a record names and that was announced elsewhere.
const ANNOUNCE_LIMIT: Duration = Duration::from_secs(5);

/// Tells the other end about segments.
pub(crate) trait Announce: Send {
    /// A new segment of `bytes`, known to the server as `id` when this returns or soon after.
    fn open(&mut self, id: u32, bytes: usize) -> Result<Arc<Region>, PortError>;
    /// Nothing refers to the segment any more.
    fn close(&mut self, id: u32);
    /// Memory of `bytes` for both sides, known to the server under `number` when this returns or soon after.
    fn share(&mut self, number: u32, bytes: usize) -> io::Result<Arc<Region>>;
}

struct InFlight {
    ordinal: u64,
    end: u64,
    segment: u32,
}

/// The client's allocator.
pub(crate) struct Stage {
    announce: Box<dyn Announce>,
    segment: Outgoing,
    id: u32,
    limit: usize,
    head: u64,
    freed: u64,
    in_flight: VecDeque<InFlight>,
    /// End of the last range that no record has been committed for.
    open: Option<u64>,
    /// Number of the memory that was shared last.
    shared: u32,
}

impl Stage {
    /// An allocator whose first segment, number 0, both ends have.
    pub(crate) fn new(first: Outgoing, limit: usize, announce: Box<dyn Announce>) -> Stage {
        let limit = limit.max(first.len());
        let in_flight = VecDeque::new();
        Stage { announce, segment: first, id: 0, limit, head: 0, freed: 0, in_flight, open: None, shared: 0 }
    }

    /// Largest range.
    pub(crate) fn max(&self) -> usize {
        self.limit
    }

    fn capacity(&self) -> u64 {
        self.segment.len() as u64
    }

    /// Frees what records up to `applied` named.
    fn settle(&mut self, applied: u64) {
        while let Some(range) = self.in_flight.front().filter(|range| range.ordinal <= applied) {
            let (segment, end) = (range.segment, range.end);
            self.in_flight.pop_front();
            if segment == self.id {
                self.freed = end;
            } else if self.in_flight.front().is_none_or(|next| next.segment != segment) {
                self.announce.close(segment);
            }
        }
        if self.open.is_none() && self.in_flight.is_empty() {
            (self.head, self.freed) = (0, 0);
        }
    }

    fn place(&self, bytes: u64) -> Option<u64> {
        let bytes = bytes.checked_next_multiple_of(STAGE_ALIGN)?;
        let capacity = self.capacity();
        let at = self.head % capacity;
        let skip = if bytes <= capacity - at { 0 } else { capacity - at };
        (self.head - self.freed + skip + bytes <= capacity).then_some(self.head + skip)
    }

    fn grow(&mut self, bytes: u64) -> Result<bool, PortError> {
        let mut capacity = self.segment.len();
        while (capacity as u64) < bytes || capacity == self.segment.len() {
            capacity = match capacity.checked_mul(2).filter(|twice| *twice <= self.limit) {
                Some(twice) => twice,
                None => return Ok(false),
            };
        }
        let id = self.id + 1;
        if id as usize >= MAX_SEGMENTS {
            return Ok(false);
        }
        let region = self.announce.open(id, capacity)?;
        let segment = Outgoing::new(region).ok_or(PortError::Corrupt("a segment that cannot be written".into()))?;
        if self.in_flight.is_empty() && self.open.is_none() {
            self.announce.close(self.id);
        }
        // Ranges of the old segment that no record names yet are committed with the next record, which keeps it alive.
        if let Some(end) = self.open.take() {
            self.in_flight.push_back(InFlight { ordinal: u64::MAX, end, segment: self.id });
        }
        (self.segment, self.id, self.head, self.freed) = (segment, id, 0, 0);
        Ok(true)
    }

    /// Finds room for a range, growing if need be; `None` when the client has to wait.
    pub(crate) fn find(&mut self, bytes: usize, applied: u64) -> Result<Option<StageRange>, PortError> {
        self.settle(applied);
        let size = bytes as u64;
        let position = match self.place(size) {
            Some(position) => position,
            None if self.grow(size)? => match self.place(size) {
                Some(position) => position,
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        self.head = position + size.next_multiple_of(STAGE_ALIGN);
        self.open = Some(self.head);
        Ok(Some(StageRange { offset: position % self.capacity(), size, segment: self.id, pad: 0 }))
    }

    /// Memory for both sides, and its number.
    pub(crate) fn share(&mut self, bytes: usize) -> io::Result<(u32, Arc<Region>)> {
        let number = self.shared.wrapping_add(1);
        let region = self.announce.share(number, bytes)?;
        self.shared = number;
        Ok((number, region))
    }

    /// Whether applied records will free anything. Ranges that no record names yet are freed by none.
    pub(crate) fn will_settle(&self) -> bool {
        self.in_flight.front().is_some_and(|range| range.ordinal != u64::MAX)
    }

    /// The record that frees about half of what is in flight.
    pub(crate) fn half_way(&self) -> u64 {
        let half = self.in_flight.get(self.in_flight.len() / 2).map(|range| range.ordinal).filter(|n| *n != u64::MAX);
        half.or(self.in_flight.front().map(|range| range.ordinal)).unwrap_or_default()
    }

    /// The bytes of a range found last.
    pub(crate) fn window(&mut self, range: &StageRange) -> Option<&mut [u8]> {
        self.segment.window(usize::try_from(range.offset).ok()?, usize::try_from(range.size).ok()?)
    }

    /// The record with this ordinal names all ranges found since the last one.
    #[inline]
    pub(crate) fn commit(&mut self, ordinal: u64) {
        if let Some(end) = self.open.take() {
            for range in self.in_flight.iter_mut().rev().take_while(|range| range.ordinal == u64::MAX) {
                range.ordinal = ordinal;
            }
            self.in_flight.push_back(InFlight { ordinal, end, segment: self.id });
        }
    }
}

#[derive(Default)]
struct Known {
    segments: Vec<Option<Arc<Region>>>,
    /// Memory for both sides that no record has named yet.
    shared: Vec<(u32, Arc<Region>)>,
    /// What is not known now never will be, as far as a reader may wait.
    complete: bool,
}

/// The server's segments, filled by whoever hears of them.
#[derive(Default)]
pub(crate) struct StageTable {
    known: Mutex<Known>,
    more: Condvar,
    /// Bumped when a segment is closed, so that the reader lets go of it.
    closed: AtomicU32,
}

impl StageTable {
    /// A segment that the client opened. The client numbers them in order.
    pub(crate) fn open(&self, id: u32, region: Arc<Region>) -> Result<(), PortError> {
        let mut known = self.known.lock();
        if id as usize != known.segments.len() || id as usize >= MAX_SEGMENTS {
            return Err(PortError::Corrupt("a segment out of order".into()));
        }
        known.segments.push(Some(region));
        self.more.notify_all();
        Ok(())
    }

    /// Memory that the client shares.
    pub(crate) fn share(&self, number: u32, region: Arc<Region>) -> Result<(), PortError> {
        let mut known = self.known.lock();
        if known.shared.len() >= MAX_UNNAMED || known.shared.iter().any(|(other, _)| *other == number) {
            return Err(PortError::Corrupt("too much shared memory that no record names".into()));
        }
        known.shared.push((number, region));
        self.more.notify_all();
        Ok(())
    }

    /// Takes shared memory of a number out of the table, waiting for it to be announced; `None` when it does not come.
    pub(crate) fn take_shared(&self, number: u32) -> Option<Arc<Region>> {
        let deadline = Instant::now() + ANNOUNCE_LIMIT;
        let mut known = self.known.lock();
        loop {
            if let Some(at) = known.shared.iter().position(|(other, _)| *other == number) {
                return Some(known.shared.swap_remove(at).1);
            }
            if known.complete || self.more.wait_until(&mut known, deadline).timed_out() {
                return None;
            }
        }
    }

    /// The client names this segment no more.
    pub(crate) fn close(&self, id: u32) {
        if let Some(segment) = self.known.lock().segments.get_mut(id as usize) {
            *segment = None;
            self.closed.fetch_add(1, Ordering::Release);
        }
    }

    /// No reader waits any more for a segment that it does not know: all are known before a record names them, or whoever
    /// announces them is gone.
    pub(crate) fn complete(&self) {
        self.known.lock().complete = true;
        self.more.notify_all();
    }

    fn wait_for(&self, id: u32) -> Option<Arc<Region>> {
        let deadline = Instant::now() + ANNOUNCE_LIMIT;
        let mut known = self.known.lock();
        while known.segments.len() <= id as usize {
            if id as usize >= MAX_SEGMENTS || known.complete || self.more.wait_until(&mut known, deadline).timed_out() {
                return None;
            }
        }
        known.segments.get(id as usize).cloned().flatten()
    }
}

/// The server's view of the segments, for the thread that applies.
pub(crate) struct StageReader {
    table: Arc<StageTable>,
    cache: [OnceLock<Incoming>; MAX_SEGMENTS],
    closed: u32,
}

impl StageReader {
    pub(crate) fn new(table: Arc<StageTable>) -> StageReader {
        StageReader { table, cache: Default::default(), closed: 0 }
    }

    /// Lets go of closed segments. Between records only: windows into them must be gone.
    #[inline]
    pub(crate) fn let_go(&mut self) {
        let closed = self.table.closed.load(Ordering::Acquire);
        if closed != self.closed {
            self.closed = closed;
            let known = self.table.known.lock();
            for (id, cached) in self.cache.iter_mut().enumerate() {
                if known.segments.get(id).is_none_or(Option::is_none) {
                    cached.take();
                }
            }
        }
    }

    /// Memory that the client has shared, once.
    pub(crate) fn take_shared(&self, number: u32) -> Option<Arc<Region>> {
        self.table.take_shared(number)
    }

    /// The bytes of a range; `None` when it lies outside its segment or there is no such segment.
    pub(crate) fn resolve(&self, range: StageRange) -> Option<&[u8]> {
        let cached = self.cache.get(range.segment as usize)?;
        let segment = match cached.get() {
            Some(segment) => segment,
            None => {
                let region = self.table.wait_for(range.segment)?;
                cached.get_or_init(|| Incoming::new(region))
            }
        };
        segment.window(usize::try_from(range.offset).ok()?, usize::try_from(range.size).ok()?)
    }
}

/// Announces to a table of this process.
pub(crate) struct AnnounceHere(pub(crate) Arc<StageTable>);

impl Announce for AnnounceHere {
    fn open(&mut self, id: u32, bytes: usize) -> Result<Arc<Region>, PortError> {
        let region = Arc::new(Region::private(bytes).map_err(out_of_memory)?);
        self.0.open(id, region.clone())?;
        Ok(region)
    }

    fn close(&mut self, id: u32) {
        self.0.close(id);
    }

    fn share(&mut self, number: u32, bytes: usize) -> io::Result<Arc<Region>> {
        let region = Arc::new(Region::private(bytes)?);
        self.0.share(number, region.clone()).map_err(io::Error::other)?;
        Ok(region)
    }
}

/// Memory for a segment is missing.
pub(crate) fn out_of_memory(error: io::Error) -> PortError {
    PortError::Lost(format!("no memory for a segment: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: usize = super::super::memory::REGION_ALIGN;

    fn stage(limit: usize) -> (Stage, StageReader) {
        let table = Arc::new(StageTable::default());
        let first = AnnounceHere(table.clone()).open(0, UNIT).expect("memory");
        let stage = Stage::new(Outgoing::new(first).expect("writable"), limit, Box::new(AnnounceHere(table.clone())));
        (stage, StageReader::new(table))
    }

    #[test]
    fn ranges_are_free_when_their_record_is_applied() {
        let (mut stage, _) = stage(UNIT);
        let half = stage.find(UNIT / 2, 0).unwrap().unwrap();
        assert_eq!(half.offset, 0);
        stage.commit(1);
        assert_eq!(stage.find(UNIT / 2, 0).unwrap().unwrap().offset, UNIT as u64 / 2);
        stage.commit(2);
        assert_eq!(stage.find(64, 0).unwrap(), None, "full, and at the limit");
        assert_eq!(stage.find(64, 1).unwrap().unwrap().offset, 0);
        stage.commit(3);
        assert_eq!(stage.find(64, 3).unwrap().unwrap().offset, 0, "nothing in flight: from the start again");
        assert_eq!(stage.find(2 * UNIT, 3).unwrap(), None);
    }

    #[test]
    fn a_segment_grows_and_the_old_one_lives_until_it_is_applied() {
        let (mut stage, mut reader) = stage(4 * UNIT);
        let first = stage.find(40_000, 0).unwrap().unwrap();
        stage.window(&first).unwrap().fill(1);
        stage.commit(1);
        let second = stage.find(40_000, 0).unwrap().unwrap();
        assert_eq!(second.segment, 1);
        stage.window(&second).unwrap().fill(2);
        let third = stage.find(3 * UNIT, 0).unwrap().unwrap();
        assert_eq!(third.segment, 2, "grown while a range of the second has no record yet");
        stage.commit(2);
        for (range, byte) in [(first, 1), (second, 2), (third, 0)] {
            let bytes = reader.resolve(range).expect("known");
            assert!(bytes.len() as u64 == range.size && bytes.iter().all(|b| *b == byte));
        }
        stage.settle(1);
        reader.let_go();
        assert!(reader.resolve(first).is_none() && reader.resolve(second).is_some());
        stage.settle(2);
        reader.let_go();
        assert!(reader.resolve(second).is_none() && reader.resolve(third).is_some());
    }

    #[test]
    fn a_segment_with_nothing_but_an_open_range_outlives_its_growth() {
        let (mut stage, mut reader) = stage(4 * UNIT);
        let bytes = stage.find(40_000, 0).unwrap().unwrap();
        stage.window(&bytes).unwrap().fill(1);
        let record = stage.find(2 * UNIT, 0).unwrap().unwrap();
        assert_eq!((bytes.segment, record.segment), (0, 1));
        stage.commit(1);
        reader.let_go();
        assert!(reader.resolve(bytes).is_some_and(|bytes| bytes.iter().all(|b| *b == 1)));
        stage.settle(1);
        reader.let_go();
        assert!(reader.resolve(bytes).is_none() && reader.resolve(record).is_some());
    }

    #[test]
    fn ranges_outside_their_segment_are_nothing() {
        let (_stage, reader) = stage(UNIT);
        let range = |offset, size, segment| StageRange { offset, size, segment, pad: 0 };
        for bad in [
            range(UNIT as u64, 1, 0),
            range(0, UNIT as u64 + 1, 0),
            range(u64::MAX, 2, 0),
            range(2, u64::MAX, 0),
            range(0, 1, u32::MAX),
            range(0, 1, MAX_SEGMENTS as u32),
        ] {
            assert!(reader.resolve(bad).is_none(), "{bad:?}");
        }
    }
}
