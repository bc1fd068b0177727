//! The control block: every word that both ends share, one page in front of the reply slots' words.
//!
//! Words that different ends write stand on different cache lines. No word is trusted: see the readers.

use super::doorbell::{Bell, Wish};
use super::memory::Region;
use crate::port::Mark;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// Bytes of the control block.
pub(crate) const BLOCK_BYTES: usize = 1 << 16;

/// Reply slots.
pub(crate) const REPLY_SLOTS: usize = 256;

const LINE: usize = 64;
const COMMAND_HEAD: usize = LINE;
const COMMAND_TAIL: usize = 2 * LINE;
const EVENT_HEAD: usize = 3 * LINE;
const EVENT_TAIL: usize = 4 * LINE;
const MARKS: usize = 5 * LINE;
const SERVER_BELL: usize = 6 * LINE;
const CLIENT_BELL: usize = 7 * LINE;
const EVENT_FULL: usize = 8 * LINE;
const EVENTS_DROPPED: usize = 8 * LINE + 8;
const SERVER_CLOSED: usize = 9 * LINE;
const CLIENT_CLOSED: usize = 10 * LINE;
const WANT_APPLIED: usize = 11 * LINE;
const WANT_TAIL: usize = 11 * LINE + 8;
const REPLIES: usize = 4096;

const _: () = assert!(REPLIES + REPLY_SLOTS * LINE <= BLOCK_BYTES && Mark::COUNT * 8 <= LINE);

/// The words of one reply slot. The client writes the first line half, the server the second.
pub(crate) struct ReplyWords<'a> {
    /// Generation of the ticket that may be answered here. Client.
    pub(crate) granted: &'a AtomicU64,
    /// Generation and number of the part that the client has taken. Client.
    pub(crate) taken: &'a AtomicU64,
    /// Generation and number of the part that is there. Server; stored last.
    pub(crate) part: &'a AtomicU64,
    /// Status of the answer, and whether more parts follow (bit 32). Server.
    pub(crate) status: &'a AtomicU64,
    /// First byte of the part within the reply segment. Server.
    pub(crate) offset: &'a AtomicU64,
    /// Bytes of the part. Server.
    pub(crate) len: &'a AtomicU64,
}

/// The control block of a connection.
#[derive(Clone)]
pub(crate) struct Block {
    region: Arc<Region>,
}

impl Block {
    /// The words in a region; a region that is too small or read-only is an error, so that no later access can fail.
    pub(crate) fn new(region: Arc<Region>) -> io::Result<Block> {
        if region.len() < BLOCK_BYTES || region.word64(BLOCK_BYTES - 8).is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the control block is too small"));
        }
        Ok(Block { region })
    }

    #[inline]
    fn word64(&self, at: usize) -> &AtomicU64 {
        static NOWHERE: AtomicU64 = AtomicU64::new(0);
        // `new` made sure that every place is inside; the fallback keeps this free of panics.
        self.region.word64(at).unwrap_or(&NOWHERE)
    }

    #[inline]
    fn word32(&self, at: usize) -> &AtomicU32 {
        static NOWHERE: AtomicU32 = AtomicU32::new(0);
        self.region.word32(at).unwrap_or(&NOWHERE)
    }

    /// Bytes of commands written. Client.
    pub(crate) fn command_head(&self) -> &AtomicU64 {
        self.word64(COMMAND_HEAD)
    }

    /// Bytes of commands given back. Server.
    pub(crate) fn command_tail(&self) -> &AtomicU64 {
        self.word64(COMMAND_TAIL)
    }

    /// Bytes of events written. Server.
    pub(crate) fn event_head(&self) -> &AtomicU64 {
        self.word64(EVENT_HEAD)
    }

    /// Bytes of events given back. Client.
    pub(crate) fn event_tail(&self) -> &AtomicU64 {
        self.word64(EVENT_TAIL)
    }

    /// A mark. Server.
    pub(crate) fn mark(&self, mark: Mark) -> &AtomicU64 {
        self.word64(MARKS + 8 * mark as usize)
    }

    /// Not 0 while the server waits for room among the events.
    pub(crate) fn event_full(&self) -> &AtomicU32 {
        self.word32(EVENT_FULL)
    }

    /// Lossy events that found no room. Server.
    pub(crate) fn events_dropped(&self) -> &AtomicU64 {
        self.word64(EVENTS_DROPPED)
    }

    /// Not 0 once the server has ended the connection.
    pub(crate) fn server_closed(&self) -> &AtomicU32 {
        self.word32(SERVER_CLOSED)
    }

    /// Not 0 once the client has ended the connection.
    pub(crate) fn client_closed(&self) -> &AtomicU32 {
        self.word32(CLIENT_CLOSED)
    }

    /// What the client sleeps for among what the server moves with each record: applied records, and the commands' tail.
    #[inline]
    pub(crate) fn wishes(&self) -> (Wish<'_, AtomicU64>, Wish<'_, AtomicU64>) {
        (Wish(self.word64(WANT_APPLIED)), Wish(self.word64(WANT_TAIL)))
    }

    /// Where the server's threads wait.
    pub(crate) fn server_bell(&self) -> Bell<'_, AtomicU32> {
        Bell { parked: self.word32(SERVER_BELL), rings: self.word32(SERVER_BELL + 4) }
    }

    /// Where the client's threads wait.
    pub(crate) fn client_bell(&self) -> Bell<'_, AtomicU32> {
        Bell { parked: self.word32(CLIENT_BELL), rings: self.word32(CLIENT_BELL + 4) }
    }

    /// The words of a reply slot; `None` for a slot that is not there.
    pub(crate) fn reply(&self, slot: usize) -> Option<ReplyWords<'_>> {
        let at = (slot < REPLY_SLOTS).then_some(REPLIES + slot * LINE)?;
        Some(ReplyWords {
            granted: self.word64(at),
            taken: self.word64(at + 8),
            part: self.word64(at + 32),
            status: self.word64(at + 40),
            offset: self.word64(at + 48),
            len: self.word64(at + 56),
        })
    }

    /// Whether events wait that were not given back yet.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        self.event_head().load(Ordering::Acquire) != self.event_tail().load(Ordering::Relaxed)
    }
}
