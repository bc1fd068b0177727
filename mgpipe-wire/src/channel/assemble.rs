//! Puts the parts of an end together.

use super::block::{Block, BLOCK_BYTES};
use super::core::{Core, Side, Tuning, Want};
use super::memory::{Incoming, Outgoing, Region, REGION_ALIGN};
use super::stage::{Announce, AnnounceHere, Stage, StageReader, StageTable};
use super::{command, event, reply};
use crate::port::{ClientEnd, ClientLink, Idle, Mark, PortError, ServerEnd, WaitCounters};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// Sizes of a connection's segments in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSizes {
    /// Commands; a power of two.
    pub commands: usize,
    /// Bytes outside records, at first.
    pub stage: usize,
    /// Bytes outside records, at most: the largest range that can be staged.
    pub stage_limit: usize,
    /// Answers.
    pub replies: usize,
    /// Events; a power of two.
    pub events: usize,
}

impl Default for SegmentSizes {
    fn default() -> SegmentSizes {
        SegmentSizes { commands: 8 << 20, stage: 32 << 20, stage_limit: 128 << 20, replies: 8 << 20, events: 256 << 10 }
    }
}

impl SegmentSizes {
    /// Sizes of a segment that a peer may ask for; more is refused, so that a peer cannot make this process map the world.
    const MOST: usize = 1 << 30;

    /// Whether segments of these sizes work.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let ring = |bytes: usize| bytes.is_power_of_two() && bytes >= REGION_ALIGN;
        let whole = |bytes: usize| bytes % REGION_ALIGN == 0 && bytes > 0;
        let all = [self.commands, self.stage, self.stage_limit, self.replies, self.events];
        if all.iter().any(|bytes| *bytes > Self::MOST) {
            return Err("a segment is too large");
        }
        if !ring(self.commands) || !ring(self.events) {
            return Err("a ring's size is no power of two, or too small");
        }
        if !whole(self.stage) || !whole(self.replies) || self.replies < reply::LEAST_REPLY_BYTES {
            return Err("a segment's size is too small or no multiple of 64 KiB");
        }
        Ok(())
    }
}

/// The segments of a connection, as one end has them.
pub(crate) struct Segments {
    pub(crate) commands: Arc<Region>,
    pub(crate) stage: Arc<Region>,
    pub(crate) replies: Arc<Region>,
    pub(crate) events: Arc<Region>,
}

fn outgoing(region: Arc<Region>) -> io::Result<Outgoing> {
    Outgoing::new(region).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a segment that cannot be written"))
}

/// State of the client's end without its streams.
pub(crate) fn client_core(block: Arc<Region>, tuning: Tuning) -> io::Result<Arc<Core>> {
    Ok(Arc::new(Core::new(Block::new(block)?, Side::Client, tuning)))
}

/// State of the server's end without its streams.
pub(crate) fn server_core(block: Arc<Region>, tuning: Tuning) -> io::Result<Arc<Core>> {
    Ok(Arc::new(Core::new(Block::new(block)?, Side::Server, tuning)))
}

/// The client's end.
pub(crate) fn client_end(
    core: Arc<Core>,
    segments: Segments,
    stage_limit: usize,
    announce: Box<dyn Announce>,
) -> io::Result<ClientEnd> {
    let stage = Stage::new(outgoing(segments.stage)?, stage_limit, announce);
    Ok(ClientEnd {
        commands: Box::new(command::Sink::new(core.clone(), outgoing(segments.commands)?, stage)),
        replies: Arc::new(reply::Board::new(core.clone(), Incoming::new(segments.replies))),
        events: Box::new(event::Source::new(core.clone(), Incoming::new(segments.events))),
        link: Arc::new(Link { core }),
    })
}

/// The server's end.
pub(crate) fn server_end(core: Arc<Core>, segments: Segments, table: Arc<StageTable>) -> io::Result<ServerEnd> {
    table.open(0, segments.stage).map_err(io::Error::other)?;
    Ok(ServerEnd {
        commands: Box::new(command::Source::new(
            core.clone(),
            Incoming::new(segments.commands),
            StageReader::new(table),
        )),
        replies: Box::new(reply::Sink::new(core.clone(), outgoing(segments.replies)?)),
        events: Arc::new(event::Sink::new(core.clone(), outgoing(segments.events)?)),
    })
}

/// The two ends of a connection within this process.
///
/// # Errors
/// When the sizes do not work or memory is missing.
pub fn local_pair(sizes: SegmentSizes, tuning: Tuning) -> io::Result<(ClientEnd, ServerEnd)> {
    sizes.check().map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))?;
    let region = |bytes| Region::private(bytes).map(Arc::new);
    let segments = |others: &[Arc<Region>; 4]| Segments {
        commands: others[0].clone(),
        stage: others[1].clone(),
        replies: others[2].clone(),
        events: others[3].clone(),
    };
    let block = region(BLOCK_BYTES)?;
    let others = [region(sizes.commands)?, region(sizes.stage)?, region(sizes.replies)?, region(sizes.events)?];
    let table = Arc::new(StageTable::default());
    let server = server_core(block.clone(), tuning)?;
    let server = server_end(server, segments(&others), table.clone())?;
    let client = client_core(block.clone(), tuning)?;
    // A segment is in the table before a record can name it.
    table.complete();
    let announce = Box::new(AnnounceHere(table));
    let client = client_end(client, segments(&others), sizes.stage_limit, announce)?;
    Ok((client, server))
}

struct Link {
    core: Arc<Core>,
}

impl ClientLink for Link {
    fn has_events(&self) -> bool {
        self.core.block.has_events()
    }

    fn mark(&self, mark: Mark) -> u64 {
        self.core.block.mark(mark).load(Ordering::Acquire)
    }

    fn wait_mark(&self, mark: Mark, value: u64, limit: Duration, idle: Idle<'_>) -> Result<(), PortError> {
        // Other marks are rung for whenever they move.
        let want = || Want { applied: if mark == Mark::Applied { value } else { 0 }, tail: 0 };
        self.core.wait(limit, Some(idle), want, || Ok((self.mark(mark) >= value).then_some(())))
    }

    fn lost(&self) -> Option<String> {
        self.core.lost()
    }

    fn waits(&self) -> WaitCounters {
        self.core.counters()
    }

    fn close(&self, why: &str) {
        self.core.fail(PortError::Lost(why.into()));
    }
}
