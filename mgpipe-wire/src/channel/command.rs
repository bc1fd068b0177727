//! The command ring: records from the client to the server.
//!
//! A record is contiguous. Where it does not fit before the ring's end, a skip record fills the rest. A record that is
//! large for the ring travels in STAGE instead, with a short record in the ring that names it; the reader of the stream
//! sees no difference.

use super::core::{Core, Want};
use super::cursor::{Fit, Reader, Writer};
use super::memory::{Incoming, Outgoing};
use super::stage::{Stage, StageReader};
use crate::port::{append_each, CommandSink, CommandSource, Idle, Mark, PortError, StageRange};
use crate::record::{RecordHeader, HEADER_BYTES};
use mgpipe_types::SharedMemory;
use std::cell::RefCell;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Record kind: nothing up to the ring's end.
const SKIP: u16 = 0xffff;

/// Record kind: the record lies in STAGE; the body is a [`StageRange`].
const IN_STAGE: u16 = 0xfffe;

/// Bytes of a record of kind [`IN_STAGE`].
const IN_STAGE_BYTES: usize = HEADER_BYTES + std::mem::size_of::<StageRange>();

/// Largest record: the server copies a record before it looks at it, and must not be made to copy a whole segment. What
/// is larger comes in pieces.
pub(crate) const LARGEST_RECORD: usize = 8 << 20;

/// Bytes that the server copies out of the ring at once, where as many are there.
const STRETCH_BYTES: usize = 4 << 10;

/// Bytes of records that are published together at most.
const BATCH_BYTES: usize = 2 << 10;

/// What was reserved last.
enum Reserved {
    Nothing,
    InRing(usize),
    InStage(StageRange),
}

/// The client's half.
pub(crate) struct Sink {
    core: Arc<Core>,
    ring: Outgoing,
    writer: Writer,
    stage: Stage,
    reserved: Reserved,
    ordinal: u64,
    /// Bytes that the server does not see yet.
    unpublished: usize,
}

fn out_of_bounds() -> PortError {
    PortError::Corrupt("a place outside its segment".into())
}

impl Sink {
    pub(crate) fn new(core: Arc<Core>, ring: Outgoing, stage: Stage) -> Sink {
        let writer = Writer::new(ring.len());
        Sink { core, ring, writer, stage, reserved: Reserved::Nothing, ordinal: 0, unpublished: 0 }
    }

    fn largest_in_ring(&self) -> usize {
        self.ring.len() / 4
    }

    /// Finds a place in the ring, with the skip record before it if it needs one.
    #[inline]
    fn place(&mut self, bytes: usize, idle: Idle<'_>) -> Result<usize, PortError> {
        let fit = match self.writer.fit(bytes, self.core.block.command_tail()) {
            Ok(Some(fit)) => fit,
            Ok(None) => self.wait_for_room(bytes, idle)?,
            Err(lie) => return Err(self.core.lied(lie)),
        };
        if fit.skip > 0 {
            let header = RecordHeader { kind: SKIP, flags: 0, size: fit.skip as u32 };
            let at = self.writer.place();
            self.ring.window(at, HEADER_BYTES).ok_or_else(out_of_bounds)?.copy_from_slice(bytemuck::bytes_of(&header));
            self.writer.advance(fit.skip);
        }
        Ok(fit.at)
    }

    /// Waits for room. Woken for each bit of it, the client would sleep again at once: it waits for a good part.
    #[cold]
    fn wait_for_room(&mut self, bytes: usize, idle: Idle<'_>) -> Result<Fit, PortError> {
        self.publish();
        let (core, enough) = (&*self.core, self.ring.len() as u64 / 4);
        let tail = core.block.command_tail();
        let writer = RefCell::new(&mut self.writer);
        let want = || Want { applied: 0, tail: writer.borrow().tail_for(enough) };
        core.wait_patiently(Some(idle), want, || {
            let mut writer = writer.borrow_mut();
            writer.refresh(tail).map_err(|lie| core.lied(lie))?;
            if writer.room() < enough {
                return Ok(None);
            }
            writer.fit(bytes, tail).map_err(|lie| core.lied(lie))
        })
    }

    fn find(&mut self, bytes: usize, idle: Idle<'_>) -> Result<StageRange, PortError> {
        if bytes > self.stage.max() {
            return Err(PortError::TooLarge(bytes));
        }
        let (core, ordinal) = (&*self.core, self.ordinal);
        let applied = || match core.block.mark(Mark::Applied).load(Ordering::Acquire) {
            applied if applied <= ordinal => Ok(applied),
            _ => Err(core.failed(PortError::Corrupt("more records applied than sent".into()))),
        };
        match self.stage.find(bytes, applied()?)? {
            Some(range) => Ok(range),
            None if !self.stage.will_settle() => Err(PortError::TooLarge(bytes)),
            None => {
                self.unpublished = 0;
                self.writer.publish(core.block.command_head());
                let stage = RefCell::new(&mut self.stage);
                let want = || Want { applied: stage.borrow().half_way(), tail: 0 };
                core.wait_patiently(Some(idle), want, || stage.borrow_mut().find(bytes, applied()?))
            }
        }
    }

    fn publish(&mut self) {
        self.unpublished = 0;
        self.writer.publish(self.core.block.command_head());
    }

    /// Ends the record reserved last; answers its bytes in the ring.
    #[inline]
    fn end_record(&mut self) -> usize {
        let bytes = match std::mem::replace(&mut self.reserved, Reserved::Nothing) {
            Reserved::Nothing => return 0,
            Reserved::InRing(bytes) => bytes,
            Reserved::InStage(range) => {
                let header = RecordHeader { kind: IN_STAGE, flags: 0, size: IN_STAGE_BYTES as u32 };
                if let Some(record) = self.ring.window(self.writer.place(), IN_STAGE_BYTES) {
                    let (head, body) = record.split_at_mut(HEADER_BYTES);
                    head.copy_from_slice(bytemuck::bytes_of(&header));
                    body.copy_from_slice(bytemuck::bytes_of(&range));
                }
                IN_STAGE_BYTES
            }
        };
        self.writer.advance(bytes);
        self.ordinal += 1;
        self.stage.commit(self.ordinal);
        bytes
    }
}

impl CommandSink for Sink {
    fn max_record(&self) -> usize {
        self.stage.max().min(LARGEST_RECORD)
    }

    #[inline]
    fn reserve(&mut self, bytes: usize, idle: Idle<'_>) -> Result<&mut [u8], PortError> {
        self.core.check()?;
        if bytes < HEADER_BYTES || bytes % 8 != 0 || bytes > self.max_record() {
            return Err(PortError::TooLarge(bytes));
        }
        if bytes <= self.largest_in_ring() {
            let at = self.place(bytes, idle)?;
            self.reserved = Reserved::InRing(bytes);
            return self.ring.window(at, bytes).ok_or_else(out_of_bounds);
        }
        let range = self.find(bytes, idle)?;
        self.place(IN_STAGE_BYTES, idle)?;
        self.reserved = Reserved::InStage(range);
        self.stage.window(&range).ok_or_else(out_of_bounds)
    }

    #[inline]
    fn commit(&mut self) -> u64 {
        self.end_record();
        self.publish();
        self.ordinal
    }

    #[inline]
    fn commit_later(&mut self) -> u64 {
        self.unpublished += self.end_record();
        if self.unpublished >= BATCH_BYTES {
            self.publish();
        }
        self.ordinal
    }

    fn append(&mut self, records: &[u8], count: u64, idle: Idle<'_>) -> Result<u64, PortError> {
        self.core.check()?;
        if records.len() > self.largest_in_ring() {
            return append_each(self, records, idle);
        }
        let at = self.place(records.len(), idle)?;
        self.ring.window(at, records.len()).ok_or_else(out_of_bounds)?.copy_from_slice(records);
        self.writer.advance(records.len());
        self.ordinal += count;
        self.publish();
        Ok(self.ordinal)
    }

    fn max_stage(&self) -> usize {
        self.stage.max()
    }

    fn stage(&mut self, bytes: usize, idle: Idle<'_>) -> Result<(StageRange, &mut [u8]), PortError> {
        self.core.check()?;
        let range = self.find(bytes, idle)?;
        let window = self.stage.window(&range).ok_or_else(out_of_bounds)?;
        Ok((range, window))
    }

    fn share(&mut self, bytes: usize) -> Result<Option<(u32, Arc<dyn SharedMemory>)>, PortError> {
        self.core.check()?;
        match self.stage.share(bytes) {
            Ok((number, region)) => Ok(Some((number, region))),
            Err(error) => {
                log::debug!("no shared memory of {bytes} bytes: {error}");
                Ok(None)
            }
        }
    }

    #[inline]
    fn doorbell(&mut self) {
        if self.unpublished > 0 {
            self.publish();
        }
        self.core.ring_peer();
    }
}

/// Between two looks at wishes with a fence: a client that has just begun to sleep is rung this many records late at most.
const LOOK_EVERY: u32 = 16;

/// The server's half.
pub(crate) struct Source {
    core: Arc<Core>,
    ring: Incoming,
    reader: Reader,
    stage: StageReader,
    applied: u64,
    /// Records taken and not retired.
    taken: u64,
    /// Records retired since the last look at wishes with a fence.
    unlooked: u32,
}

impl Source {
    pub(crate) fn new(core: Arc<Core>, ring: Incoming, stage: StageReader) -> Source {
        let reader = Reader::new(ring.len());
        Source { core, ring, reader, stage, applied: 0, taken: 0, unlooked: 0 }
    }

    /// Rings for what the client sleeps for, if that is reached, without missing a wish of just now.
    fn look_at_wishes(&mut self) {
        self.unlooked = 0;
        fence(Ordering::SeqCst);
        self.core.ring_for(Want { applied: self.applied, tail: self.reader.tail() });
    }

    /// Reads the header at the reader's place once; what it says is checked against what is published.
    fn header(&self, available: usize) -> Result<RecordHeader, PortError> {
        let head = self.ring.window(self.reader.place(), HEADER_BYTES).ok_or_else(out_of_bounds)?;
        let header: RecordHeader = bytemuck::pod_read_unaligned(head);
        let size = header.size as usize;
        if size < HEADER_BYTES || size % 8 != 0 || size > available {
            return Err(PortError::Corrupt("a record that is longer than what was published".into()));
        }
        Ok(header)
    }

    /// Takes what is there: one record, and whole ones behind it while they and it take no more than `most` bytes.
    fn take(&mut self, mut available: usize, most: usize, into: &mut Vec<u64>) -> Result<u64, PortError> {
        let mut header = self.header(available)?;
        if header.kind == SKIP {
            // A skip ends at the ring's end, so that no more than one is ever in a row.
            if header.size as usize != self.ring.len() - self.reader.place() {
                return Err(PortError::Corrupt("a skip that does not end with the ring".into()));
            }
            self.reader.advance(header.size as usize);
            available = self.reader.available(self.core.block.command_head()).map_err(|lie| self.core.lied(lie))?;
            if available == 0 {
                return Ok(0);
            }
            header = self.header(available)?;
        }
        let size = header.size as usize;
        if size > LARGEST_RECORD {
            return Err(too_large());
        }
        let (stretch, range);
        let records = match header.kind {
            SKIP => return Err(PortError::Corrupt("two skips in a row".into())),
            IN_STAGE => {
                stretch = size;
                let record = self.ring.window(self.reader.place(), size).ok_or_else(out_of_bounds)?;
                let body = record.get(HEADER_BYTES..IN_STAGE_BYTES);
                range = bytemuck::pod_read_unaligned::<StageRange>(
                    body.filter(|_| size == IN_STAGE_BYTES)
                        .ok_or_else(|| PortError::Corrupt("a record in STAGE".into()))?,
                );
                if range.size > LARGEST_RECORD as u64 {
                    return Err(too_large());
                }
                self.stage.resolve(range).filter(|record| record.len() % 8 == 0 && record.len() >= HEADER_BYTES)
            }
            _ => {
                stretch = size.max(available.min(most));
                self.ring.window(self.reader.place(), stretch)
            }
        }
        .ok_or_else(|| PortError::Corrupt("a record outside STAGE".into()))?;
        // Not cleared before: what is overwritten need not be zeroed.
        into.resize(records.len() / 8, 0);
        bytemuck::cast_slice_mut::<u64, u8>(into).copy_from_slice(records);
        // What the copy says is what the decoder will believe.
        let (count, whole) = whole_records(into);
        if count == 0 || (header.kind == IN_STAGE && (count, whole) != (1, records.len())) {
            return Err(PortError::Corrupt("a record changed while it was read".into()));
        }
        into.truncate(whole / 8);
        self.reader.advance(if header.kind == IN_STAGE { stretch } else { whole });
        // The records were copied, so their place is free already; ranges in STAGE are free when they are retired.
        self.reader.release(self.core.block.command_tail());
        Ok(count)
    }
}

fn too_large() -> PortError {
    PortError::Corrupt("a record that is larger than any".into())
}

/// How many whole records of the client stand at the front, and their bytes in all.
fn whole_records(words: &[u64]) -> (u64, usize) {
    let (mut count, mut rest) = (0, words);
    while let Some(first) = rest.first() {
        let header: RecordHeader = bytemuck::cast(*first);
        let size = header.size as usize;
        let whole = rest.get(size / 8..).filter(|_| size >= HEADER_BYTES && size % 8 == 0 && header.kind < IN_STAGE);
        let Some(behind) = whole else { break };
        (count, rest) = (count + 1, behind);
    }
    (count, (words.len() - rest.len()) * 8)
}

impl CommandSource for Source {
    fn next(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        self.take_up_to(0, into, limit)
    }

    fn next_some(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        self.take_up_to(STRETCH_BYTES, into, limit)
    }

    fn resolve(&self, range: StageRange) -> Option<&[u8]> {
        self.stage.resolve(range)
    }

    fn shared(&mut self, number: u32) -> Option<Arc<dyn SharedMemory>> {
        self.stage.take_shared(number).map(|region| region as Arc<dyn SharedMemory>)
    }

    fn retire(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        if taken > 0 {
            self.applied += taken;
            self.core.block.mark(Mark::Applied).store(self.applied, Ordering::Release);
            self.unlooked += taken as u32;
            if self.unlooked >= LOOK_EVERY {
                self.look_at_wishes();
            }
        }
    }
}

impl Source {
    /// Waits for something to read. Before, whoever sleeps for what has been done is told: nothing is left to do.
    #[cold]
    fn wait_for_more(&mut self, limit: Duration) -> Result<Option<usize>, PortError> {
        self.look_at_wishes();
        let Source { core, reader, .. } = self;
        let head = core.block.command_head();
        let look = || reader.available(head).map(|n| (n > 0).then_some(n)).map_err(|lie| core.lied(lie));
        match core.wait(limit, None, Want::default, look) {
            Ok(available) => Ok(Some(available)),
            Err(PortError::TimedOut) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn take_up_to(&mut self, most: usize, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        let taken = self.next_records(most, into, limit);
        if taken != Ok(true) {
            into.clear();
        }
        taken
    }

    fn next_records(&mut self, most: usize, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        self.core.check()?;
        self.stage.let_go();
        // What was taken before may not have been retired by its taker; its ranges are free all the same.
        self.retire();
        loop {
            let available = match self.reader.available(self.core.block.command_head()) {
                Ok(0) => match self.wait_for_more(limit)? {
                    Some(available) => available,
                    None => return Ok(false),
                },
                Ok(available) => available,
                Err(lie) => return Err(self.core.lied(lie)),
            };
            self.taken = self.take(available, most, into).map_err(|error| self.core.failed(error))?;
            if self.taken > 0 {
                return Ok(true);
            }
        }
    }
}
