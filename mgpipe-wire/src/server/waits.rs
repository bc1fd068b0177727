//! Waits of the client for fences: they are answered when the fence signals, and hold up nothing else meanwhile.
//!
//! The records of all threads of a client come through one ring, and one thread applies them. So a wait is put aside; the
//! other records go on, and while there are none, the thread waits for the fence itself, a moment at a time.

use super::{ServeError, Session, PARK, WATCH};
use crate::apply::Reply;
use crate::port::ReplyTicket;
use mgpipe_types::{fence_status, FenceAnswer, FenceWait, Handle, PipeError, PipeResult, Screen};
use std::time::{Duration, Instant};

/// Longest wait that is served in one go; a client that wants to wait longer asks again.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long the thread waits for a fence before it looks for records: what another thread of the client is held up at most.
const SLICE: Duration = Duration::from_millis(1);
/// Most waits at a time: a client has no more places for answers.
const MOST: usize = crate::channel::REPLY_SLOTS;

/// A thread of the client that waits.
struct Wait {
    ticket: ReplyTicket,
    /// Number of the screen.
    screen: u32,
    fence: Handle,
    /// When the client no longer wants to wait.
    end: Instant,
}

/// Everyone who waits.
#[derive(Default)]
pub(super) struct Waits {
    /// The oldest first.
    waiting: Vec<Wait>,
    /// When they were looked at last.
    looked: Option<Instant>,
}

/// Whether a fence has signalled within a time.
fn look(screen: &dyn Screen, fence: Handle, limit: Duration) -> PipeResult<FenceAnswer> {
    screen.fence_wait(&FenceWait { fence, timeout_ns: limit.as_nanos() as u64 })
}

impl Session<'_> {
    /// How long the thread may park for the next record.
    pub(super) fn park(&self) -> Duration {
        match (self.waits.waiting.is_empty(), self.watched.is_empty()) {
            (false, _) => Duration::ZERO,
            (true, false) => WATCH,
            (true, true) => PARK,
        }
    }

    /// Answers a wait that is over already, and keeps any other.
    pub(super) fn start_wait(&mut self, ticket: Option<ReplyTicket>, wait: &FenceWait) -> Result<(), ServeError> {
        let ticket = ticket.ok_or_else(|| self.broken("no ticket for the answer"))?;
        let open = self.screens.get(self.bound).ok_or_else(|| self.broken("no screen is bound"))?;
        let limit = Duration::from_nanos(wait.timeout_ns).min(LONGEST_WAIT);
        let answer = look(&*open.screen, wait.fence, Duration::ZERO);
        let pending = answer.as_ref().is_ok_and(|answer| answer.status == fence_status::TIMEOUT);
        if !pending || limit.is_zero() {
            return self.answer(Some(ticket), Reply::Fence(answer));
        }
        if self.waits.waiting.len() >= MOST {
            return Err(self.broken("too many waits"));
        }
        let (screen, fence) = (open.number, wait.fence);
        self.waits.waiting.push(Wait { ticket, screen, fence, end: Instant::now() + limit });
        Ok(())
    }

    /// Waits a moment for the oldest of the fences that the client waits for. There are no records meanwhile.
    pub(super) fn wait_for_fences(&mut self) {
        let Some(first) = self.waits.waiting.first() else { return };
        self.waits.looked = None;
        if let Some(open) = self.screens.iter().find(|open| open.number == first.screen) {
            let start = Instant::now();
            let slice = first.end.saturating_duration_since(start).min(SLICE);
            let pending = look(&*open.screen, first.fence, slice);
            // Anything else is seen when the answers are given. A backend that does not wait must not make this a spin.
            if pending.is_ok_and(|answer| answer.status == fence_status::TIMEOUT) {
                std::thread::sleep(slice.saturating_sub(start.elapsed()));
            }
        }
    }

    /// Answers the waits that are over. Between records it looks now and then only.
    pub(super) fn answer_waits(&mut self) -> Result<(), ServeError> {
        if self.waits.waiting.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        if self.waits.looked.is_some_and(|looked| now - looked < SLICE) {
            return Ok(());
        }
        self.waits.looked = Some(now);
        for wait in std::mem::take(&mut self.waits.waiting) {
            let answer = match self.screens.iter().find(|open| open.number == wait.screen) {
                Some(open) => look(&*open.screen, wait.fence, Duration::ZERO),
                None => Err(PipeError::BadHandle("the screen was closed during a wait".into())),
            };
            let pending = answer.as_ref().is_ok_and(|answer| answer.status == fence_status::TIMEOUT);
            if pending && now < wait.end {
                self.waits.waiting.push(wait);
            } else {
                self.answer(Some(wait.ticket), Reply::Fence(answer))?;
            }
        }
        Ok(())
    }
}
