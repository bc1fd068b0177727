//! What the ends of a recovering connection share, and the recovery itself.

use super::bytes::Budget;
use super::flow::{settled_answer, Flow};
use super::journal::{Journal, Kept};
use super::limit::Limiter;
use super::outlet::{Outlet, Plain};
use super::repush::{Pusher, Restored};
use super::RecoveryOptions;
use crate::client::{Attached, Connect};
use crate::message::{control, Subject, STATUS_OK};
use crate::port::{ClientLink, EventSource, Mark, PortError, ReplyBoard, ReplyTicket};
use crate::record::RecordBuf;
use mgpipe_types::PipeError;
use parking_lot::{Mutex, RwLock};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often a question may be in flight when its server dies before it is blamed for it.
const MOST_TRIES: u32 = 4;

/// Status word of an answer to a question that nobody survives; see [`crate::message::error_from`].
const STATUS_POISON: u32 = 1;

/// Between two attempts to reach a server.
const REST: Duration = Duration::from_millis(50);

/// One connection: the parts that any thread uses.
pub(super) struct Life {
    /// Counts the servers.
    pub(super) number: u64,
    pub(super) replies: Arc<dyn ReplyBoard>,
    pub(super) link: Arc<dyn ClientLink>,
    pub(super) events: Mutex<Box<dyn EventSource>>,
    /// What is added to this server's count of frames.
    frames: u64,
    /// What is added to ordinals of this connection; it may be negative.
    ordinals: u64,
}

impl Life {
    fn base(&self, mark: Mark) -> u64 {
        if mark == Mark::Frames {
            self.frames
        } else {
            self.ordinals
        }
    }

    /// A mark of this server as the client counts.
    pub(super) fn mark(&self, mark: Mark) -> u64 {
        self.link.mark(mark).wrapping_add(self.base(mark))
    }

    /// The value of this server's mark at which the client's has the given one; `None` when it has it already.
    pub(super) fn target(&self, mark: Mark, value: u64) -> Option<u64> {
        let target = value.wrapping_sub(self.base(mark));
        (0 < target as i64).then_some(target)
    }
}

/// Where an answer is waited for.
pub(super) enum Awaited {
    Here(Vec<u8>),
    There(Arc<Life>, ReplyTicket),
    /// The question was in flight each time that a server died: it gets an error for an answer.
    Poison,
}

pub(super) struct State {
    connect: Arc<Connect>,
    options: RecoveryOptions,
    owner: u32,
    flow: Mutex<Flow>,
    life: RwLock<Arc<Life>>,
    /// Events that this side has for the client, before those that the server sends. Locked inside a life's events.
    pending: Mutex<VecDeque<Vec<u8>>>,
    waiting: AtomicUsize,
    /// Why the connection is lost for good.
    gone: OnceLock<String>,
    tickets: AtomicU32,
}

/// The life of a fresh connection.
fn life(attached: Attached, number: u64) -> (Life, Outlet, Box<dyn Any + Send + Sync>) {
    let end = attached.end;
    let life =
        Life { number, replies: end.replies, link: end.link, events: Mutex::new(end.events), frames: 0, ordinals: 0 };
    (life, Outlet::new(end.commands), attached.keeper)
}

impl State {
    pub(super) fn new(first: Attached, connect: Arc<Connect>, options: RecoveryOptions) -> State {
        let budget = Budget::new(options.budget, options.counters.clone());
        let (life, outlet, keeper) = life(first, 0);
        State {
            flow: Mutex::new(Flow {
                outlet,
                journal: Journal::new(budget),
                subject: Subject::default(),
                questions: BTreeMap::new(),
                settled: BTreeSet::new(),
                frames: 0,
                last: 0,
                limiter: Limiter::new(options.most, options.within),
                keeper: Some(keeper),
            }),
            connect,
            options,
            owner: std::process::id(),
            life: RwLock::new(Arc::new(life)),
            pending: Mutex::default(),
            waiting: AtomicUsize::new(0),
            gone: OnceLock::new(),
            tickets: AtomicU32::new(1),
        }
    }

    pub(super) fn life(&self) -> Arc<Life> {
        self.life.read().clone()
    }

    /// Why the connection is lost for good, once it is.
    pub(super) fn gone(&self) -> Option<&String> {
        self.gone.get()
    }

    pub(super) fn check(&self) -> Result<(), PortError> {
        match self.gone.get() {
            Some(why) => Err(PortError::Lost(why.clone())),
            None => Ok(()),
        }
    }

    /// Ends everything.
    pub(super) fn close(&self, why: &str) {
        let _ = self.gone.set(why.to_owned());
        self.life().link.close(why);
    }

    /// Lets go of the server. A thread that is stuck in it is no reason to wait.
    pub(super) fn bury(&self, limit: Duration) {
        let keeper = self.flow.try_lock_for(limit).and_then(|mut flow| flow.keeper.take());
        drop(keeper);
        log::info!(
            "recovery: {} new servers, {} KiB of contents kept at most",
            self.options.counters.respawns(),
            self.options.counters.peak_bytes() >> 10
        );
    }

    // ---- events ----

    pub(super) fn has_events(&self) -> bool {
        self.waiting.load(Ordering::Acquire) != 0 || self.life.read().link.has_events()
    }

    /// Hands out one event.
    pub(super) fn next_event(&self, take: &mut dyn FnMut(&[u8])) -> Result<bool, PortError> {
        let life = self.life();
        let mut events = life.events.lock();
        let own = self.pending.lock().pop_front();
        if let Some(event) = own {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            take(&event);
            return Ok(true);
        }
        loop {
            let mut lost = false;
            let taken = events.next(&mut |event| match crate::event::lost_device(event) {
                true => lost = true,
                false => take(event),
            });
            match taken {
                Ok(taken) if !lost => return Ok(taken),
                // The server lives without its device: it is as good as dead.
                Ok(_) => life.link.close("the server's device was lost"),
                Err(error) => {
                    life.link.close(&error.to_string());
                    return Ok(false);
                }
            }
        }
    }

    fn queue_event(&self, event: Vec<u8>) {
        self.pending.lock().push_back(event);
        self.waiting.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes a server's events off its hands while this side waits for it.
    fn set_events_aside(&self, life: &Life) {
        if !life.link.has_events() {
            return;
        }
        // Somebody else is at it.
        let Some(mut events) = life.events.try_lock() else { return };
        loop {
            let mut lost = false;
            let taken = events.next(&mut |event| match crate::event::lost_device(event) {
                true => lost = true,
                false => self.queue_event(event.to_vec()),
            });
            if lost {
                life.link.close("the server's device was lost");
            }
            if !taken.unwrap_or(false) {
                return;
            }
        }
    }

    // ---- the stream ----

    /// Notes and sends one record; answers its ordinal.
    pub(super) fn record(&self, record: Plain<'_>, ticket: Option<ReplyTicket>) -> u64 {
        let mut flow = self.flow.lock();
        if self.gone.get().is_some() {
            return flow.last;
        }
        let life = self.life();
        if let Some(ticket) = ticket {
            flow.question(ticket, record);
            // Where this fails, whoever waits for the answer asks again.
            let asked = self.ask(&mut flow, &life, ticket.slot);
            self.after_loss(&mut flow, &life, asked.map(|_| ()));
            return flow.last;
        }
        let Some(kept) = flow.note(record) else { return flow.last };
        let sent = self.send(&mut flow, &life, record);
        let lost = sent.is_err();
        self.after_loss(&mut flow, &life, sent.map(drop));
        if lost && kept == Kept::Transient && self.gone.get().is_none() {
            let life = self.life();
            let sent = self.send(&mut flow, &life, record);
            // A second loss within one record: what comes next finds it.
            if let Err(error) = sent {
                log::debug!("recovery: a record was given up: {error}");
            }
        }
        flow.last
    }

    fn send(&self, flow: &mut Flow, life: &Life, record: Plain<'_>) -> Result<u64, PortError> {
        let subject = flow.subject;
        let ordinal = flow.outlet.send(subject, record, None, &|| self.set_events_aside(life))?;
        flow.last = ordinal.wrapping_add(life.ordinals);
        Ok(flow.last)
    }

    pub(super) fn doorbell(&self) {
        let mut flow = self.flow.lock();
        flow.outlet.sink.doorbell();
        let life = self.life();
        if let Some(why) = life.link.lost() {
            self.after_loss(&mut flow, &life, Err(PortError::Lost(why)));
        }
    }

    fn after_loss(&self, flow: &mut Flow, life: &Life, sent: Result<(), PortError>) {
        match sent {
            Ok(()) => {}
            Err(PortError::TooLarge(bytes)) => log::error!("recovery: {bytes} bytes in one call are too many"),
            Err(error) => drop(self.recover_locked(flow, life.number, &error)),
        }
    }

    // ---- questions ----

    pub(super) fn new_ticket(&self) -> Result<ReplyTicket, PortError> {
        self.check()?;
        Ok(ReplyTicket { slot: self.tickets.fetch_add(1, Ordering::Relaxed), gen: 0 })
    }

    fn ask(&self, flow: &mut Flow, life: &Arc<Life>, slot: u32) -> Result<ReplyTicket, PortError> {
        let idle = || self.set_events_aside(life);
        let ticket = life.replies.ticket(&idle)?;
        let Some(question) = flow.questions.get_mut(&slot) else {
            return Err(PortError::Lost("no such question".into()));
        };
        question.asked = Some((life.number, ticket));
        question.tries += 1;
        let record = Plain { kind: question.kind, flags: question.flags, arguments: &question.arguments, blob: None };
        let ordinal = flow.outlet.send(question.subject, record, Some(ticket), &idle)?;
        flow.outlet.sink.doorbell();
        flow.last = ordinal.wrapping_add(life.ordinals);
        Ok(ticket)
    }

    /// Where the answer to a question will come; asks it (again) when it has not been asked of the present server.
    pub(super) fn awaited(&self, ticket: ReplyTicket) -> Result<Awaited, PortError> {
        let mut flow = self.flow.lock();
        loop {
            self.check()?;
            let life = self.life();
            let Some(question) = flow.questions.get_mut(&ticket.slot) else {
                return Err(PortError::Lost("no such question".into()));
            };
            if let Some(answer) = question.known.take() {
                return Ok(Awaited::Here(answer));
            }
            match question.asked {
                Some((number, ticket)) if number == life.number => return Ok(Awaited::There(life, ticket)),
                _ if question.tries >= MOST_TRIES => return Ok(Awaited::Poison),
                _ => {}
            }
            match self.ask(&mut flow, &life, ticket.slot) {
                Ok(ticket) => return Ok(Awaited::There(life, ticket)),
                Err(error) => self.recover_locked(&mut flow, life.number, &error)?,
            }
        }
    }

    /// A question has its answer, or is given up; `answer` has the bytes of what the journal needs.
    pub(super) fn answered(&self, ticket: ReplyTicket, answer: Option<(u32, Vec<u8>)>) {
        let mut flow = self.flow.lock();
        let Some(question) = flow.questions.remove(&ticket.slot) else { return };
        match (question.kind, answer) {
            (control::OPEN_SCREEN, Some((STATUS_OK, caps))) => flow.journal.open_screen(question.subject.screen, caps),
            (control::CREATE_CONTEXT, Some((STATUS_OK, _))) => flow.journal.create_context(question.subject),
            _ => {}
        }
    }

    /// Whether the journal needs the bytes of an answer.
    pub(super) fn wants_answer(&self, ticket: ReplyTicket) -> bool {
        let flow = self.flow.lock();
        flow.questions.get(&ticket.slot).is_some_and(|question| question.kind == control::OPEN_SCREEN)
    }

    pub(super) fn poison(&self) -> (u32, &'static [u8]) {
        (STATUS_POISON, b"every server died over this question")
    }

    // ---- recovery ----

    /// Replaces the server with this number, unless somebody has done that.
    pub(super) fn recover(&self, number: u64, why: &PortError) -> Result<(), PortError> {
        let mut flow = self.flow.lock();
        self.recover_locked(&mut flow, number, why)
    }

    fn recover_locked(&self, flow: &mut Flow, number: u64, why: &PortError) -> Result<(), PortError> {
        let old = self.life();
        if old.number != number {
            return self.check();
        }
        self.check()?;
        if self.owner != std::process::id() {
            return self.give_up("the connection is another process's");
        }
        let start = Instant::now();
        // The last words of the old server.
        self.set_events_aside(&old);
        old.link.close(&why.to_string());
        log::warn!("the server was lost ({why}); another one takes its place");
        drop(flow.keeper.take());
        loop {
            if !flow.limiter.allow(Instant::now()) {
                let (most, within) = (self.options.most, self.options.within.as_secs());
                return self.give_up(&format!("{why}; more than {most} servers were lost within {within} s"));
            }
            let attached = match self.reach() {
                Ok(attached) => attached,
                Err(error) => return self.give_up(&format!("{why}; and there is no other server: {error}")),
            };
            match self.fill(flow, attached, old.number + 1) {
                Ok(restored) => {
                    self.report(&restored, start.elapsed());
                    return self.check();
                }
                Err(PortError::Corrupt(what)) => return self.give_up(&what),
                Err(error) => log::warn!("the new server was lost, too ({error})"),
            }
            self.check()?;
        }
    }

    fn give_up(&self, why: &str) -> Result<(), PortError> {
        let _ = self.gone.set(why.to_owned());
        log::error!("the device is lost: {why}");
        Err(PortError::Lost(why.to_owned()))
    }

    /// A new connection.
    fn reach(&self) -> Result<Attached, PipeError> {
        let start = Instant::now();
        loop {
            match (*self.connect)() {
                Ok(attached) => return Ok(attached),
                Err(error) if start.elapsed() >= self.options.patience || self.gone.get().is_some() => {
                    return Err(error);
                }
                Err(_) => std::thread::sleep(REST),
            }
        }
    }

    /// Tells a new server everything and makes it the present one.
    fn fill(&self, flow: &mut Flow, attached: Attached, number: u64) -> Result<Restored, PortError> {
        let (mut life, mut outlet, keeper) = life(attached, number);
        let restored = {
            let idle = || self.set_events_aside(&life);
            let mut pusher = Pusher {
                outlet: &mut outlet,
                replies: &*life.replies,
                idle: &idle,
                record: RecordBuf::new(),
                restored: Restored::default(),
            };
            let pushed = pusher.push(&flow.journal);
            let restored = pusher.restored;
            if let Err(error) = pushed {
                life.link.close("the client could not be restored");
                return Err(error);
            }
            restored
        };
        let sent = outlet.count;
        life.frames = flow.frames;
        life.ordinals = flow.last.wrapping_sub(sent);
        flow.outlet = outlet;
        flow.keeper = Some(keeper);
        // Every fence's work is done or gone.
        for (screen, log) in &mut flow.journal.screens {
            self.queue_event(crate::event::reset_event(*screen));
            for fence in std::mem::take(&mut log.fences) {
                self.queue_event(crate::event::fence_event(*screen, fence));
                flow.settled.insert((*screen, fence));
            }
        }
        let settled = &flow.settled;
        for question in flow.questions.values_mut() {
            question.known = settled_answer(settled, question.subject, question.kind, &question.arguments);
        }
        *self.life.write() = Arc::new(life);
        if let Some(why) = self.gone.get() {
            self.life().link.close(why);
        }
        Ok(restored)
    }

    fn report(&self, restored: &Restored, took: Duration) {
        self.options.counters.respawns.fetch_add(1, Ordering::Relaxed);
        let r = restored;
        log::warn!(
            "a new server goes on after {} ms: {} screens, {} contexts, {} buffers, {} images, {} programs, {} KiB of \
             contents; not restored: what the device wrote into {} images and {} buffers, the contents of {} resources \
             beyond the budget, the counts of {} queries",
            took.as_millis(),
            r.screens,
            r.contexts,
            r.buffers,
            r.textures,
            r.programs,
            r.bytes >> 10,
            r.lost_images,
            r.lost_buffers,
            r.unkept,
            r.lost_queries,
        );
    }
}
