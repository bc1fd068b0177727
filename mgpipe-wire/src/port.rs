//! The seam between what a client and a server say to each other and the memory in which it travels.
//!
//! A connection has two ends. The emitter writes records on [`ClientEnd`] and the applier takes them from
//! [`ServerEnd`]; neither knows whether a queue of this process or segments shared between two processes lie between.
//! Four streams make a connection:
//!
//! * *commands*, client to server: records in order ([`CommandSink`], [`CommandSource`]), and STAGE ranges for bytes that
//!   are too many for a record;
//! * *replies*, server to client: each answers one ticket, whatever the order ([`ReplyBoard`], [`ReplySink`]);
//! * *events*, server to client: the reverse channel in order ([`EventSource`], [`EventSink`]);
//! * *marks*: counters that the server only ever raises ([`Mark`]).
//!
//! Rules for whoever implements the ends:
//!
//! * Every wait has a bound and calls `idle` again and again, so that the client drains events while it waits; every wait
//!   ends with [`PortError::Lost`] when the peer is gone. A peer's words are never trusted: sizes and offsets are checked.
//! * [`CommandSink::commit`] publishes and wakes nobody; [`CommandSink::doorbell`] wakes a parked peer and is nearly free
//!   when the peer is not parked.

use crate::record::split_record;
use bytemuck::{Pod, Zeroable};
use mgpipe_types::SharedMemory;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Why an end does not work.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PortError {
    /// The peer is gone, or was declared so after a bounded wait. Sticky.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The wait ended before anything happened. The connection lives.
    #[error("nothing happened in time")]
    TimedOut,
    /// The peer said something that the protocol does not allow. Sticky.
    #[error("protocol corruption: {0}")]
    Corrupt(String),
    /// More bytes than the stream can carry in one piece.
    #[error("{0} bytes are too many for one piece")]
    TooLarge(usize),
}

/// Called while an end waits: the client drains events in it.
pub type Idle<'a> = &'a dyn Fn();

/// Bytes in a STAGE segment, as a record names them, 24 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct StageRange {
    /// First byte within the segment.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
    /// Which segment: STAGE may have grown.
    pub segment: u32,
    /// Padding, zero.
    pub pad: u32,
}

/// Place of an answer, as a record names it, 8 bytes. A ticket is used once.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
pub struct ReplyTicket {
    /// Slot on the board.
    pub slot: u32,
    /// Generation of the slot: an answer to an abandoned ticket is dropped.
    pub gen: u32,
}

/// Counters that the server raises and the client reads without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Mark {
    /// Records applied: the ordinal after the last retired one. Raised by [`CommandSource::retire`] itself.
    Applied = 0,
    /// Records whose work was handed to the device.
    Submitted = 1,
    /// Records whose work the device has finished.
    Retired = 2,
    /// Frames (presents and ends of frames) applied.
    Frames = 3,
}

impl Mark {
    /// Number of marks.
    pub const COUNT: usize = 4;
}

/// The client's writing half of the command stream.
pub trait CommandSink: Send {
    /// Largest record that [`CommandSink::reserve`] takes.
    fn max_record(&self) -> usize;

    /// Room for one record of `bytes` (a multiple of 8), 8-aligned. Waits, with a bound, while the ring is full.
    ///
    /// # Errors
    /// [`PortError::Lost`] and [`PortError::TooLarge`].
    fn reserve(&mut self, bytes: usize, idle: Idle<'_>) -> Result<&mut [u8], PortError>;

    /// Publishes the record reserved last; returns the number of records published so far (its ordinal, from 1).
    fn commit(&mut self) -> u64;

    /// Like [`CommandSink::commit`], except that the record may be published together with later ones: at the latest by
    /// [`CommandSink::doorbell`], by the next `commit`, or before a wait for room. A word that both sides touch at every
    /// record costs more than the record.
    fn commit_later(&mut self) -> u64 {
        self.commit()
    }

    /// Writes `count` whole records that stand one after the other in `records`, none of which names a range of STAGE, and
    /// publishes them; returns the ordinal of the last.
    ///
    /// # Errors
    /// [`PortError::Lost`]; [`PortError::Corrupt`] when these are no whole records.
    fn append(&mut self, records: &[u8], count: u64, idle: Idle<'_>) -> Result<u64, PortError> {
        let _ = count;
        append_each(self, records, idle)
    }

    /// Largest range that [`CommandSink::stage`] takes.
    fn max_stage(&self) -> usize;

    /// Room for bytes outside the record; the record that names the range is committed next. The range is reused once that
    /// record is retired. Waits, with a bound, or grows while STAGE is full.
    ///
    /// # Errors
    /// [`PortError::Lost`] and [`PortError::TooLarge`].
    fn stage(&mut self, bytes: usize, idle: Idle<'_>) -> Result<(StageRange, &mut [u8]), PortError>;

    /// Zeroed memory of at least `bytes` that both ends may touch at any time, and the number by which the server finds it
    /// ([`CommandSource::shared`]). `None` where the connection has no such memory, or the system no more of it.
    ///
    /// # Errors
    /// [`PortError::Lost`].
    fn share(&mut self, bytes: usize) -> Result<Option<(u32, Arc<dyn SharedMemory>)>, PortError> {
        let _ = bytes;
        Ok(None)
    }

    /// Publishes what was committed, and wakes the server when it is parked.
    fn doorbell(&mut self);
}

/// [`CommandSink::append`] where the records do not fit into one place: one after the other.
///
/// # Errors
/// As [`CommandSink::append`].
pub(crate) fn append_each<S: CommandSink + ?Sized>(
    sink: &mut S,
    records: &[u8],
    idle: Idle<'_>,
) -> Result<u64, PortError> {
    let (mut rest, mut last) = (records, 0);
    while !rest.is_empty() {
        let torn = |_| PortError::Corrupt("a torn record".into());
        let (header, _, behind) = split_record(rest).map_err(torn)?;
        let (record, _) = rest.split_at(header.size as usize);
        sink.reserve(record.len(), idle)?.copy_from_slice(record);
        last = sink.commit();
        rest = behind;
    }
    Ok(last)
}

/// The client's reading half of the replies; usable by several threads at once.
pub trait ReplyBoard: Send + Sync {
    /// A place for one answer. Waits, with a bound, while every slot is taken.
    ///
    /// # Errors
    /// [`PortError::Lost`].
    fn ticket(&self, idle: Idle<'_>) -> Result<ReplyTicket, PortError>;

    /// Waits for the answer and hands its bytes to `take`, in one or more parts in order; returns the status word that the
    /// server gave. Whatever the result is, the ticket is used up.
    ///
    /// # Errors
    /// [`PortError::TimedOut`] after `limit`, [`PortError::Lost`], [`PortError::Corrupt`].
    fn wait(
        &self,
        ticket: ReplyTicket,
        limit: Duration,
        idle: Idle<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u32, PortError>;
}

/// The client's reading half of the events; behind one lock.
pub trait EventSource: Send {
    /// Hands the next event to `take`; false when there is none. Never waits.
    ///
    /// # Errors
    /// [`PortError::Corrupt`].
    fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, PortError>;
}

/// How often this end waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitCounters {
    /// Waits that were not satisfied at the first look.
    pub waits: u64,
    /// Times that a thread slept.
    pub parks: u64,
    /// System calls that woke the peer.
    pub rings: u64,
}

/// What any thread of the client may ask about the connection at any time, without a lock.
pub trait ClientLink: Send + Sync {
    /// Whether an event waits. A few nanoseconds.
    fn has_events(&self) -> bool;

    /// The present value of a mark.
    fn mark(&self, mark: Mark) -> u64;

    /// Waits until a mark reaches `value`.
    ///
    /// # Errors
    /// [`PortError::TimedOut`] after `limit`, [`PortError::Lost`].
    fn wait_mark(&self, mark: Mark, value: u64, limit: Duration, idle: Idle<'_>) -> Result<(), PortError>;

    /// Why the connection is lost, once it is.
    fn lost(&self) -> Option<String>;

    /// How often the client waited, slept and woke its peer.
    fn waits(&self) -> WaitCounters {
        WaitCounters::default()
    }

    /// Ends the connection from this side: waits of both sides end. Calling it again does nothing.
    fn close(&self, why: &str);

    /// The server has failed, by silence or by what it said. The connection ends like with [`ClientLink::close`], unless
    /// this end knows another server.
    fn fail(&self, why: &str) {
        self.close(why);
    }
}

/// The client's end of a connection.
pub struct ClientEnd {
    /// Writes commands.
    pub commands: Box<dyn CommandSink>,
    /// Reads answers.
    pub replies: Arc<dyn ReplyBoard>,
    /// Reads events.
    pub events: Box<dyn EventSource>,
    /// Marks and the state of the connection.
    pub link: Arc<dyn ClientLink>,
}

/// The server's reading half of the command stream.
pub trait CommandSource: Send {
    /// Copies the next record into `into` (cleared first), so that what is checked cannot change afterwards; false when
    /// none came within `limit`. Spins briefly, then parks.
    ///
    /// # Errors
    /// [`PortError::Lost`] when the client is gone or has closed, [`PortError::Corrupt`].
    fn next(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError>;

    /// As [`CommandSource::next`], and copies further records that are there as well, one after the other: an end that can
    /// moves a stretch of the ring at once. [`CommandSource::retire`] is then for all of them.
    ///
    /// # Errors
    /// As [`CommandSource::next`].
    fn next_some(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        self.next(into, limit)
    }

    /// The bytes of a range that a record taken last names; `None` when the range lies outside its segment.
    fn resolve(&self, range: StageRange) -> Option<&[u8]>;

    /// Memory that the client has shared under this number; it is handed over once.
    fn shared(&mut self, number: u32) -> Option<Arc<dyn SharedMemory>> {
        let _ = number;
        None
    }

    /// What was taken last has been applied: its bytes and ranges may be reused, [`Mark::Applied`] rises.
    fn retire(&mut self);
}

/// The server's writing half of the replies.
pub trait ReplySink: Send {
    /// Answers a ticket. Bytes beyond a slot travel in parts, which waits, with a bound, for the client to take them; an
    /// abandoned ticket's answer is dropped.
    ///
    /// # Errors
    /// [`PortError::Lost`], and [`PortError::Corrupt`] for a ticket that cannot be.
    fn reply(&mut self, ticket: ReplyTicket, status: u32, bytes: &[u8]) -> Result<(), PortError>;
}

/// The server's writing half of the events; callable from any thread of the backend.
pub trait EventSink: Send + Sync {
    /// Largest event that fits.
    fn max_event(&self) -> usize;

    /// Writes one event (a multiple of 8 bytes, at most [`EventSink::max_event`]). When the ring is full a `lossy` event is
    /// dropped (answer false); any other waits, with a bound, for the client to drain.
    fn event(&self, bytes: &[u8], lossy: bool) -> bool;

    /// Raises a mark.
    fn raise(&self, mark: Mark, value: u64);

    /// How often the server waited, slept and woke its peer.
    fn waits(&self) -> WaitCounters {
        WaitCounters::default()
    }
}

/// The server's end of a connection.
pub struct ServerEnd {
    /// Takes commands.
    pub commands: Box<dyn CommandSource>,
    /// Writes answers.
    pub replies: Box<dyn ReplySink>,
    /// Writes events and marks.
    pub events: Arc<dyn EventSink>,
}
