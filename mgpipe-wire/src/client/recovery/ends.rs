//! The ends of a recovering connection, as the emitter sees them.

use super::outlet::Plain;
use super::repush::plain_flags;
use super::state::{Awaited, State};
use super::RecoveryOptions;
use crate::client::{Attached, Connect};
use crate::port::{
    ClientEnd, ClientLink, CommandSink, EventSource, Idle, Mark, PortError, ReplyBoard, ReplyTicket, StageRange,
    WaitCounters,
};
use crate::record::{record_flags, RecordHeader, HEADER_BYTES, MAX_RECORD_BYTES};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait at the end for a thread that is at work on the connection.
const FAREWELL: Duration = Duration::from_secs(10);

/// Memory of this many bytes is kept for the next record.
const KEPT_BYTES: usize = 4 << 20;

/// Ends that stay while servers come and go.
pub(super) fn wrap(first: Attached, connect: Arc<Connect>, options: RecoveryOptions) -> Attached {
    let state = Arc::new(State::new(first, connect, options));
    let end = ClientEnd {
        commands: Box::new(Sink {
            state: state.clone(),
            record: Vec::new(),
            length: 0,
            blob: Vec::new(),
            staged: None,
        }),
        replies: Arc::new(Board(state.clone())),
        events: Box::new(Events(state.clone())),
        link: Arc::new(Link(state.clone())),
    };
    Attached { end, keeper: Box::new(Keeper(state)) }
}

struct Keeper(Arc<State>);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.close("the client has left");
        self.0.bury(FAREWELL);
    }
}

/// Collects a record in memory of this side, so that it can be sent more than once.
struct Sink {
    state: Arc<State>,
    record: Vec<u64>,
    length: usize,
    blob: Vec<u8>,
    /// Length of the bytes that belong to the next record.
    staged: Option<usize>,
}

impl Sink {
    fn send(&mut self) -> Option<u64> {
        let bytes = &bytemuck::cast_slice::<u64, u8>(&self.record)[..self.length];
        let (head, mut arguments) = bytes.split_at_checked(HEADER_BYTES)?;
        let header: RecordHeader = bytemuck::pod_read_unaligned(head);
        let mut ticket = None;
        if header.flags & record_flags::TICKET != 0 {
            let (head, rest) = arguments.split_at_checked(std::mem::size_of::<ReplyTicket>())?;
            (ticket, arguments) = (Some(bytemuck::pod_read_unaligned(head)), rest);
        }
        let mut blob = None;
        if header.flags & record_flags::STAGED != 0 {
            let (_, rest) = arguments.split_at_checked(std::mem::size_of::<StageRange>())?;
            (blob, arguments) = (Some(self.blob.get(..self.staged?)?), rest);
        }
        let record = Plain { kind: header.kind, flags: plain_flags(header.flags), arguments, blob };
        Some(self.state.record(record, ticket))
    }
}

impl CommandSink for Sink {
    fn max_record(&self) -> usize {
        MAX_RECORD_BYTES
    }

    fn reserve(&mut self, bytes: usize, _: Idle<'_>) -> Result<&mut [u8], PortError> {
        self.state.check()?;
        if bytes > MAX_RECORD_BYTES {
            return Err(PortError::TooLarge(bytes));
        }
        let words = bytes.div_ceil(8);
        if self.record.len() < words {
            self.record.resize(words, 0);
        }
        self.length = bytes;
        Ok(&mut bytemuck::cast_slice_mut(&mut self.record)[..bytes])
    }

    fn commit(&mut self) -> u64 {
        let ordinal = self.send();
        debug_assert!(ordinal.is_some(), "a record without what its flags say");
        self.staged = None;
        if self.record.capacity() * 8 > KEPT_BYTES {
            self.record = Vec::new();
        }
        if self.blob.capacity() > KEPT_BYTES {
            self.blob = Vec::new();
        }
        ordinal.unwrap_or(0)
    }

    fn max_stage(&self) -> usize {
        MAX_RECORD_BYTES
    }

    fn stage(&mut self, bytes: usize, _: Idle<'_>) -> Result<(StageRange, &mut [u8]), PortError> {
        self.state.check()?;
        if self.blob.len() < bytes {
            let more = bytes - self.blob.len();
            self.blob.try_reserve_exact(more).map_err(|_| PortError::TooLarge(bytes))?;
            self.blob.resize(bytes, 0);
        }
        self.staged = Some(bytes);
        let range = StageRange { size: bytes as u64, ..StageRange::default() };
        Ok((range, &mut self.blob[..bytes]))
    }

    fn doorbell(&mut self) {
        self.state.doorbell();
    }
}

struct Board(Arc<State>);

impl ReplyBoard for Board {
    fn ticket(&self, _: Idle<'_>) -> Result<ReplyTicket, PortError> {
        self.0.new_ticket()
    }

    fn wait(
        &self,
        ticket: ReplyTicket,
        limit: Duration,
        idle: Idle<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u32, PortError> {
        let wants = self.0.wants_answer(ticket);
        let (mut taken, mut kept) = (0, Vec::new());
        let answer = loop {
            let (life, inner) = match self.0.awaited(ticket) {
                Ok(Awaited::There(life, inner)) => (life, inner),
                Ok(Awaited::Here(bytes)) => {
                    take(&bytes);
                    break Ok(crate::message::STATUS_OK);
                }
                Ok(Awaited::Poison) => {
                    let (status, why) = self.0.poison();
                    take(why);
                    break Ok(status);
                }
                Err(error) => break Err(error),
            };
            // A server may die in the middle of an answer: what the caller has is not given twice.
            let mut seen = 0;
            let waited = life.replies.wait(inner, limit, idle, &mut |part: &[u8]| {
                let fresh = &part[taken.max(seen).min(seen + part.len()) - seen..];
                seen += part.len();
                if !fresh.is_empty() {
                    taken = seen;
                    take(fresh);
                    if wants {
                        kept.extend_from_slice(fresh);
                    }
                }
            });
            match waited {
                Ok(status) => break Ok(status),
                Err(error) => {
                    idle();
                    if let Err(error) = self.0.recover(life.number, &error) {
                        break Err(error);
                    }
                }
            }
        };
        self.0.answered(ticket, answer.as_ref().ok().map(|status| (*status, kept)));
        answer
    }
}

struct Events(Arc<State>);

impl EventSource for Events {
    fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, PortError> {
        self.0.next_event(take)
    }
}

struct Link(Arc<State>);

impl ClientLink for Link {
    fn has_events(&self) -> bool {
        self.0.has_events()
    }

    fn mark(&self, mark: Mark) -> u64 {
        self.0.life().mark(mark)
    }

    fn wait_mark(&self, mark: Mark, value: u64, limit: Duration, idle: Idle<'_>) -> Result<(), PortError> {
        let end = Instant::now() + limit;
        loop {
            self.0.check()?;
            let life = self.0.life();
            let Some(target) = life.target(mark, value) else { return Ok(()) };
            let left = end.saturating_duration_since(Instant::now());
            match life.link.wait_mark(mark, target, left, idle) {
                Err(PortError::Lost(why)) => self.0.recover(life.number, &PortError::Lost(why))?,
                Err(PortError::Corrupt(why)) => self.0.recover(life.number, &PortError::Corrupt(why))?,
                waited => return waited,
            }
        }
    }

    fn lost(&self) -> Option<String> {
        self.0.gone().cloned()
    }

    fn waits(&self) -> WaitCounters {
        self.0.life().link.waits()
    }

    fn close(&self, why: &str) {
        self.0.close(why);
    }

    fn fail(&self, why: &str) {
        self.0.life().link.close(why);
    }
}
