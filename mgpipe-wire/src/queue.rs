//! A connection through a queue of this process: the two ends of [`crate::port`] over a mutex and condition variables.
//!
//! It is the plainest thing that keeps the rules of the seam, so tests of the emitter and the applier run on it; a
//! transport that is meant to be fast shares memory instead.

use crate::port::{
    ClientEnd, ClientLink, CommandSink, CommandSource, EventSink, EventSource, Idle, Mark, PortError, ReplyBoard,
    ReplySink, ReplyTicket, ServerEnd, StageRange,
};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sizes of a queue, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Records and staged bytes that may wait for the server.
    pub commands: usize,
    /// Largest record.
    pub record: usize,
    /// Largest staged range.
    pub stage: usize,
    /// Events that may wait for the client.
    pub events: usize,
    /// Longest wait for the peer to make room.
    pub patience: Duration,
}

impl Default for QueueLimits {
    fn default() -> Self {
        QueueLimits {
            commands: 32 << 20,
            record: 1 << 20,
            stage: 8 << 20,
            events: 256 << 10,
            patience: Duration::from_secs(120),
        }
    }
}

/// How often a waiting client drains events.
const TICK: Duration = Duration::from_millis(2);

#[derive(Default)]
struct Pending {
    words: Vec<u64>,
    staged: Vec<u8>,
}

impl Pending {
    fn bytes(&self) -> usize {
        self.words.len() * 8 + self.staged.len()
    }
}

#[derive(Default)]
struct State {
    commands: VecDeque<Pending>,
    command_bytes: usize,
    replies: HashMap<u32, Option<(u32, Vec<u8>)>>,
    next_ticket: u32,
    events: VecDeque<Vec<u8>>,
    event_bytes: usize,
    closed: Option<String>,
}

struct Shared {
    limits: QueueLimits,
    state: Mutex<State>,
    for_server: Condvar,
    for_client: Condvar,
    events: AtomicUsize,
    marks: [AtomicU64; Mark::COUNT],
}

impl Shared {
    fn close(&self, why: &str) {
        let mut state = self.state.lock();
        if state.closed.is_none() {
            state.closed = Some(why.to_owned());
        }
        drop(state);
        self.for_server.notify_all();
        self.for_client.notify_all();
    }

    /// Waits on the client's side until `ready` answers something.
    fn client_wait<'a, T>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        limit: Duration,
        idle: Idle<'_>,
        mut ready: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<(MutexGuard<'a, State>, T), PortError> {
        let end = Instant::now() + limit;
        loop {
            if let Some(value) = ready(&mut state) {
                return Ok((state, value));
            }
            if let Some(why) = &state.closed {
                return Err(PortError::Lost(why.clone()));
            }
            if Instant::now() >= end {
                return Err(PortError::TimedOut);
            }
            self.for_client.wait_for(&mut state, TICK);
            MutexGuard::unlocked(&mut state, idle);
        }
    }
}

/// Both ends of a connection within this process.
pub fn queue(limits: QueueLimits) -> (ClientEnd, ServerEnd) {
    let shared = Arc::new(Shared {
        limits,
        state: Mutex::default(),
        for_server: Condvar::new(),
        for_client: Condvar::new(),
        events: AtomicUsize::new(0),
        marks: Default::default(),
    });
    let client = ClientEnd {
        commands: Box::new(Sink { shared: shared.clone(), pending: Pending::default(), published: 0 }),
        replies: Arc::new(Board(shared.clone())),
        events: Box::new(Source(shared.clone())),
        link: Arc::new(Link(shared.clone())),
    };
    let server = ServerEnd {
        commands: Box::new(Taker { shared: shared.clone(), taken: None }),
        replies: Box::new(Board(shared.clone())),
        events: Arc::new(Link(shared)),
    };
    (client, server)
}

struct Sink {
    shared: Arc<Shared>,
    pending: Pending,
    published: u64,
}

impl CommandSink for Sink {
    fn max_record(&self) -> usize {
        self.shared.limits.record
    }

    fn reserve(&mut self, bytes: usize, idle: Idle<'_>) -> Result<&mut [u8], PortError> {
        let limits = self.shared.limits;
        if bytes > limits.record {
            return Err(PortError::TooLarge(bytes));
        }
        self.pending.words.clear();
        self.pending.words.resize(bytes.div_ceil(8), 0);
        let size = self.pending.bytes();
        let fits = |s: &mut State| {
            (s.closed.is_none() && (s.command_bytes == 0 || s.command_bytes + size <= limits.commands)).then_some(())
        };
        let (state, ()) = self.shared.client_wait(self.shared.state.lock(), limits.patience, idle, fits)?;
        drop(state);
        Ok(&mut bytemuck::cast_slice_mut(&mut self.pending.words)[..bytes])
    }

    fn commit(&mut self) -> u64 {
        let pending = std::mem::take(&mut self.pending);
        let mut state = self.shared.state.lock();
        state.command_bytes += pending.bytes();
        state.commands.push_back(pending);
        drop(state);
        self.shared.for_server.notify_one();
        self.published += 1;
        self.published
    }

    fn max_stage(&self) -> usize {
        self.shared.limits.stage
    }

    fn stage(&mut self, bytes: usize, _: Idle<'_>) -> Result<(StageRange, &mut [u8]), PortError> {
        if bytes > self.shared.limits.stage {
            return Err(PortError::TooLarge(bytes));
        }
        let offset = self.pending.staged.len();
        self.pending.staged.resize(offset + bytes, 0);
        let range = StageRange { offset: offset as u64, size: bytes as u64, segment: 0, pad: 0 };
        Ok((range, &mut self.pending.staged[offset..]))
    }

    fn doorbell(&mut self) {
        self.shared.for_server.notify_one();
    }
}

struct Board(Arc<Shared>);

impl ReplyBoard for Board {
    fn ticket(&self, _: Idle<'_>) -> Result<ReplyTicket, PortError> {
        let mut state = self.0.state.lock();
        if let Some(why) = &state.closed {
            return Err(PortError::Lost(why.clone()));
        }
        state.next_ticket = state.next_ticket.wrapping_add(1);
        let slot = state.next_ticket;
        state.replies.insert(slot, None);
        Ok(ReplyTicket { slot, gen: 1 })
    }

    fn wait(
        &self,
        ticket: ReplyTicket,
        limit: Duration,
        idle: Idle<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u32, PortError> {
        let state = self.0.state.lock();
        let answered = |s: &mut State| s.replies.get_mut(&ticket.slot).and_then(Option::take);
        match self.0.client_wait(state, limit, idle, answered) {
            Ok((mut state, (status, bytes))) => {
                state.replies.remove(&ticket.slot);
                drop(state);
                take(&bytes);
                Ok(status)
            }
            Err(error) => {
                self.0.state.lock().replies.remove(&ticket.slot);
                Err(error)
            }
        }
    }
}

impl ReplySink for Board {
    fn reply(&mut self, ticket: ReplyTicket, status: u32, bytes: &[u8]) -> Result<(), PortError> {
        if ticket.gen != 1 {
            return Err(PortError::Corrupt("ticket".into()));
        }
        let mut state = self.0.state.lock();
        // An abandoned ticket has no place any more.
        if let Some(place) = state.replies.get_mut(&ticket.slot) {
            *place = Some((status, bytes.to_vec()));
        }
        drop(state);
        self.0.for_client.notify_all();
        Ok(())
    }
}

struct Source(Arc<Shared>);

impl EventSource for Source {
    fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, PortError> {
        if self.0.events.load(Ordering::Acquire) == 0 {
            return Ok(false);
        }
        let mut state = self.0.state.lock();
        let Some(event) = state.events.pop_front() else { return Ok(false) };
        state.event_bytes -= event.len();
        self.0.events.store(state.events.len(), Ordering::Release);
        drop(state);
        self.0.for_server.notify_all();
        take(&event);
        Ok(true)
    }
}

struct Link(Arc<Shared>);

impl ClientLink for Link {
    fn has_events(&self) -> bool {
        self.0.events.load(Ordering::Acquire) != 0
    }

    fn mark(&self, mark: Mark) -> u64 {
        self.0.marks[mark as usize].load(Ordering::Acquire)
    }

    fn wait_mark(&self, mark: Mark, value: u64, limit: Duration, idle: Idle<'_>) -> Result<(), PortError> {
        if self.mark(mark) >= value {
            return Ok(());
        }
        let reached = |_: &mut State| (self.mark(mark) >= value).then_some(());
        self.0.client_wait(self.0.state.lock(), limit, idle, reached).map(|_| ())
    }

    fn lost(&self) -> Option<String> {
        self.0.state.lock().closed.clone()
    }

    fn close(&self, why: &str) {
        self.0.close(why);
    }
}

impl EventSink for Link {
    fn max_event(&self) -> usize {
        self.0.limits.events / 2
    }

    fn event(&self, bytes: &[u8], lossy: bool) -> bool {
        let limits = self.0.limits;
        let end = Instant::now() + limits.patience;
        let mut state = self.0.state.lock();
        while state.event_bytes + bytes.len() > limits.events {
            if lossy || state.closed.is_some() || Instant::now() >= end {
                return false;
            }
            self.0.for_client.notify_all();
            self.0.for_server.wait_for(&mut state, TICK);
        }
        state.event_bytes += bytes.len();
        state.events.push_back(bytes.to_vec());
        self.0.events.store(state.events.len(), Ordering::Release);
        true
    }

    fn raise(&self, mark: Mark, value: u64) {
        self.0.marks[mark as usize].fetch_max(value, Ordering::AcqRel);
        // The lock orders the change before the check of a client that is about to wait.
        drop(self.0.state.lock());
        self.0.for_client.notify_all();
    }
}

struct Taker {
    shared: Arc<Shared>,
    taken: Option<Pending>,
}

impl CommandSource for Taker {
    fn next(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        into.clear();
        let end = Instant::now() + limit;
        let mut state = self.shared.state.lock();
        loop {
            if let Some(mut pending) = state.commands.pop_front() {
                state.command_bytes -= pending.bytes();
                std::mem::swap(into, &mut pending.words);
                self.taken = Some(pending);
                return Ok(true);
            }
            if let Some(why) = &state.closed {
                return Err(PortError::Lost(why.clone()));
            }
            if self.shared.for_server.wait_until(&mut state, end).timed_out() && state.commands.is_empty() {
                return Ok(false);
            }
        }
    }

    fn resolve(&self, range: StageRange) -> Option<&[u8]> {
        let start = usize::try_from(range.offset).ok()?;
        let end = start.checked_add(usize::try_from(range.size).ok()?)?;
        self.taken.as_ref().filter(|_| range.segment == 0)?.staged.get(start..end)
    }

    fn retire(&mut self) {
        self.taken = None;
        let at = &self.shared.marks[Mark::Applied as usize];
        at.fetch_add(1, Ordering::AcqRel);
        drop(self.shared.state.lock());
        self.shared.for_client.notify_all();
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        self.shared.close("the server has ended");
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.shared.close("the client has ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOT_LONG: Duration = Duration::from_millis(20);

    #[test]
    fn records_and_staged_bytes_arrive_in_order() {
        let (mut client, mut server) = queue(QueueLimits::default());
        for value in 0..3u8 {
            let (range, room) = client.commands.stage(5, &|| ()).unwrap();
            room.fill(value);
            let record = client.commands.reserve(32, &|| ()).unwrap();
            record[..24].copy_from_slice(bytemuck::bytes_of(&range));
            record[24] = value;
            client.commands.commit();
        }
        let mut words = Vec::new();
        for value in 0..3u8 {
            assert_eq!(server.commands.next(&mut words, NOT_LONG), Ok(true));
            let bytes: &[u8] = bytemuck::cast_slice(&words);
            let range: StageRange = bytemuck::pod_read_unaligned(&bytes[..24]);
            assert_eq!((bytes[24], server.commands.resolve(range)), (value, Some(&[value; 5][..])));
            assert_eq!(server.commands.resolve(StageRange { size: 6, ..range }), None);
            server.commands.retire();
        }
        assert_eq!(client.link.mark(Mark::Applied), 3);
        assert_eq!(server.commands.next(&mut words, Duration::ZERO), Ok(false));
    }

    #[test]
    fn an_abandoned_ticket_costs_nothing_and_a_lost_peer_ends_waits() {
        let (client, mut server) = queue(QueueLimits::default());
        let ticket = client.replies.ticket(&|| ()).unwrap();
        assert_eq!(client.replies.wait(ticket, NOT_LONG, &|| (), &mut |_| ()), Err(PortError::TimedOut));
        assert_eq!(server.replies.reply(ticket, 0, b"late"), Ok(()));
        let ticket = client.replies.ticket(&|| ()).unwrap();
        drop(server);
        let answer = client.replies.wait(ticket, Duration::from_secs(60), &|| (), &mut |_| ());
        assert!(matches!(answer, Err(PortError::Lost(_))), "{answer:?}");
    }

    #[test]
    fn full_events_drop_what_may_be_lost_and_wait_with_the_rest() {
        let limits = QueueLimits { events: 64, patience: NOT_LONG, ..QueueLimits::default() };
        let (mut client, server) = queue(limits);
        assert!(server.events.event(&[1; 48], false));
        assert!(!server.events.event(&[2; 48], true));
        let sink = server.events.clone();
        let waiter = std::thread::spawn(move || sink.event(&[3; 48], false));
        let mut seen = Vec::new();
        while seen.len() < 2 {
            client.events.next(&mut |bytes| seen.push(bytes[0])).unwrap();
        }
        assert!(waiter.join().unwrap());
        assert_eq!(seen, [1, 3]);
    }
}
