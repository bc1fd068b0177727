//! The applier: takes the records of one client and runs them on a backend.
//!
//! It trusts nothing: a record is copied out of shared memory before it is looked at, every length is checked against
//! the record, every object belongs to a screen of this client. What the protocol does not allow ends this client's
//! connection, and nothing else.

use crate::apply::{apply_ref, Reply};
use crate::call::Call;
use crate::event::{send_device_lost, send_fence, tell_kept_back, EventCallbacks, LogGate};
use crate::message::{caps_bytes, control, error_parts, Sharing, Subject, STATUS_OK};
use crate::port::{EventSink, Mark, PortError, ReplySink, ReplyTicket, ServerEnd, StageRange};
use crate::record::{record_flags, split_record, DecodeError, RecordHeader, CONTROL_BASE, MAX_RECORD_BYTES};
use mgpipe_types::{
    fence_status, flush_flags, Backend, Context, ContextHandle, Handle, HandleOnly, Kind, Opcode, PipeError, Screen,
    SharedMemory,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;
use waits::Waits;
pub(crate) use waits::LONGEST_WAIT;

mod waits;

/// Why a client was given up.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum ServeError {
    /// A record that the protocol does not allow.
    #[error("record {ordinal}: {what}")]
    Protocol {
        /// Position of the record in the stream, from 1.
        ordinal: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The connection broke in a way other than its end.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// What was done for a client.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ServeReport {
    /// Records taken.
    pub records: u64,
    /// Answers given.
    pub replies: u64,
}

/// Most screens that one client has at a time.
const MAX_SCREENS: usize = 1024;
/// How long the thread parks before it looks around.
const PARK: Duration = Duration::from_millis(500);
/// The same while fences are outstanding that the client may be polling.
const WATCH: Duration = Duration::from_millis(1);
/// Fences that are looked at in one go: they signal in order, mostly.
const WATCHED_AT_ONCE: usize = 64;

struct Flow {
    handle: ContextHandle,
    context: Box<dyn Context>,
}

struct OpenScreen {
    number: u32,
    // Contexts go before their screen.
    flows: Vec<Option<Flow>>,
    screen: Arc<dyn Screen>,
    loss_told: bool,
}

/// Serves one client until it leaves. Its screens and contexts are gone when this returns.
///
/// # Errors
/// When the client broke the protocol or the connection did.
pub fn serve(end: ServerEnd, backend: &dyn Backend) -> Result<ServeReport, ServeError> {
    let ServerEnd { mut commands, replies, events } = end;
    let mut session = Session {
        backend,
        replies,
        events,
        screens: Vec::new(),
        bound: usize::MAX,
        subject: Subject::default(),
        pieces: Vec::new(),
        piece_bytes: 0,
        blob: Vec::new(),
        report: ServeReport::default(),
        frames: 0,
        watched: Vec::new(),
        waits: Waits::default(),
        gate: Arc::new(LogGate::new()),
    };
    let mut words = Vec::new();
    loop {
        session.answer_waits()?;
        match commands.next_some(&mut words, session.park()) {
            Ok(true) => {}
            Ok(false) => {
                session.wait_for_fences();
                session.tell_fences();
                session.tell_kept_back();
                continue;
            }
            Err(PortError::Lost(_)) => return Ok(session.report),
            Err(error) => return Err(error.into()),
        }
        let mut rest: &[u8] = bytemuck::cast_slice(&words);
        while !rest.is_empty() {
            session.report.records += 1;
            let (header, body, behind) = split_record(rest).map_err(|error| session.broken(error))?;
            match sharing(header, body) {
                Some((ticket, sharing)) => session.share(ticket, sharing, commands.shared(sharing.memory))?,
                None => session.record(header, body, &|range| commands.resolve(range))?,
            }
            rest = behind;
        }
        commands.retire();
    }
}

/// The ticket and the body of a record that shares memory; another record is none.
fn sharing(header: RecordHeader, body: &[u8]) -> Option<(ReplyTicket, Sharing)> {
    if header.kind != control::SHARE || header.flags != record_flags::TICKET {
        return None;
    }
    let (ticket, body) = body.split_at_checked(std::mem::size_of::<ReplyTicket>())?;
    Some((bytemuck::pod_read_unaligned(ticket), bytemuck::try_pod_read_unaligned(body).ok()?))
}

type Resolve<'a> = &'a dyn Fn(StageRange) -> Option<&'a [u8]>;

struct Session<'b> {
    backend: &'b dyn Backend,
    replies: Box<dyn ReplySink>,
    events: Arc<dyn EventSink>,
    screens: Vec<OpenScreen>,
    /// Whom calls are for, and where its screen is among them.
    subject: Subject,
    bound: usize,
    /// Pieces of a large record, in words.
    pieces: Vec<u64>,
    piece_bytes: usize,
    /// Private copy of staged bytes that are parsed, not only copied on.
    blob: Vec<u64>,
    report: ServeReport,
    frames: u64,
    /// Fences that the client has not been told of: number of the screen, and the fence.
    watched: Vec<(u32, Handle)>,
    /// Threads of the client that wait for fences.
    waits: Waits,
    /// Holds back floods of log lines.
    gate: Arc<LogGate>,
}

impl Session<'_> {
    fn broken(&self, what: impl std::fmt::Display) -> ServeError {
        ServeError::Protocol { ordinal: self.report.records, what: what.to_string() }
    }

    fn record(&mut self, header: RecordHeader, mut body: &[u8], resolve: Resolve<'_>) -> Result<(), ServeError> {
        let mut ticket = None;
        if header.flags & record_flags::TICKET != 0 {
            let (head, rest) = body.split_at_checked(8).ok_or_else(|| self.broken("no ticket"))?;
            ticket = Some(bytemuck::pod_read_unaligned::<ReplyTicket>(head));
            body = rest;
        }
        let mut staged = None;
        if header.flags & record_flags::STAGED != 0 {
            let size = std::mem::size_of::<StageRange>();
            let (head, rest) = body.split_at_checked(size).ok_or_else(|| self.broken("no staged range"))?;
            let range = bytemuck::pod_read_unaligned(head);
            staged = Some(resolve(range).ok_or_else(|| self.broken("staged range"))?);
            body = rest;
        }
        if header.kind >= CONTROL_BASE {
            if staged.is_some() || header.flags & record_flags::HOST != 0 {
                return Err(self.broken("flags of a control record"));
            }
            return self.control(header.kind, ticket, body);
        }
        let opcode = Opcode::from_u16(header.kind).ok_or_else(|| self.broken("opcode"))?;
        let copies = matches!(opcode, Opcode::ResourceSubdata | Opcode::BufferSubdataResident);
        if let Some(bytes) = staged.filter(|_| !copies) {
            // The client could still change these bytes while they are parsed.
            let mut blob = std::mem::take(&mut self.blob);
            blob.clear();
            blob.try_reserve(bytes.len().div_ceil(8)).map_err(|_| self.broken("no memory for its bytes"))?;
            blob.resize(bytes.len().div_ceil(8), 0);
            let private = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut blob)[..bytes.len()];
            private.copy_from_slice(bytes);
            let done = self.call(opcode, header.flags & record_flags::HOST, ticket, body, Some(private));
            self.blob = if blob.capacity() > 1 << 17 { Vec::new() } else { blob };
            return done;
        }
        self.call(opcode, header.flags & record_flags::HOST, ticket, body, staged)
    }

    fn call(
        &mut self,
        opcode: Opcode,
        host_flags: u16,
        ticket: Option<ReplyTicket>,
        body: &[u8],
        staged: Option<&[u8]>,
    ) -> Result<(), ServeError> {
        let decoded = Call::decode_arguments(opcode, host_flags, body, staged);
        let call = match &decoded {
            Ok(call) => call,
            Err(error) => return Err(self.broken(error)),
        };
        match call {
            Call::FenceCreate { desc } => self.watched.push((self.subject.screen, desc.fence)),
            Call::FenceDestroy { fence } => {
                let gone = (self.subject.screen, fence.handle);
                self.watched.retain(|watched| *watched != gone);
            }
            Call::FenceWait { wait } => return self.start_wait(ticket, wait),
            _ => {}
        }
        let ends_frame = match call {
            Call::Flush { flush } => flush.flags & flush_flags::END_OF_FRAME != 0,
            Call::Present { .. } => true,
            _ => false,
        };
        let Some(open) = self.screens.get_mut(self.bound) else {
            return Err(self.broken("no screen is bound"));
        };
        let context = self.subject.context;
        let flow = open.flows.get_mut(context.slot() as usize).and_then(Option::as_mut);
        let flow = flow.filter(|flow| flow.handle == context).map(|flow| &mut *flow.context);
        let reply = apply_ref(call, &*open.screen, flow.map(|c| c as &mut dyn Context));
        // Almost every call: nothing to say, and nothing that must be dropped.
        if !ends_frame && ticket.is_none() && matches!(reply, Reply::None) {
            return Ok(());
        }
        if ends_frame {
            self.frames += 1;
            self.events.raise(Mark::Frames, self.frames);
            self.tell_loss();
            self.tell_fences();
            self.tell_kept_back();
        }
        self.answer(ticket, reply)
    }

    /// Where a screen is among the open ones.
    fn place(&self, number: u32) -> Option<usize> {
        self.screens.iter().position(|open| open.number == number)
    }

    /// Tells the client once when the device behind the bound screen is gone.
    fn tell_loss(&mut self) {
        let Some(open) = self.screens.get_mut(self.bound).filter(|open| !open.loss_told) else { return };
        if let Some(why) = open.screen.device_lost() {
            open.loss_told = true;
            send_device_lost(&*self.events, open.number, &why);
        }
    }

    /// Tells the client from time to time how many log lines it did not get.
    fn tell_kept_back(&self) {
        if let Some(open) = self.screens.get(self.bound).or(self.screens.first()) {
            tell_kept_back(&*self.events, open.number, self.gate.summary(Instant::now(), false));
        }
    }

    /// Tells the client which fences have signalled.
    fn tell_fences(&mut self) {
        let (screens, events) = (&self.screens, &self.events);
        let mut looked_at = 0;
        self.watched.retain(|&(number, fence)| {
            looked_at += 1;
            if looked_at > WATCHED_AT_ONCE {
                return true;
            }
            let Some(open) = screens.iter().find(|open| open.number == number) else { return false };
            match open.screen.fence_status(&HandleOnly { handle: fence }) {
                Ok(answer) if answer.status == fence_status::TIMEOUT => true,
                Ok(answer) if answer.status == fence_status::SIGNALED => {
                    send_fence(&**events, number, fence);
                    false
                }
                // A question will be answered with what is wrong.
                _ => false,
            }
        });
    }

    fn answer(&mut self, ticket: Option<ReplyTicket>, reply: Reply) -> Result<(), ServeError> {
        let reply = match reply {
            Reply::NoContext => return Err(self.broken("no context is bound")),
            Reply::None if ticket.is_some() => return Err(self.broken("a ticket for a call without an answer")),
            Reply::None => return Ok(()),
            reply => reply,
        };
        let ticket = ticket.ok_or_else(|| self.broken("no ticket for the answer"))?;
        let caps;
        let (status, bytes): (u32, &[u8]) = match &reply {
            Reply::None | Reply::NoContext => (STATUS_OK, &[]),
            Reply::Caps(reply) => {
                caps = caps_bytes(reply);
                (STATUS_OK, &caps)
            }
            Reply::Map(Ok(answer)) => (STATUS_OK, bytemuck::bytes_of(answer)),
            Reply::Fence(Ok(answer)) => (STATUS_OK, bytemuck::bytes_of(answer)),
            Reply::Query(Ok(answer)) => (STATUS_OK, bytemuck::bytes_of(answer)),
            Reply::Window(Ok(answer)) => (STATUS_OK, bytemuck::bytes_of(answer)),
            Reply::Bytes(Ok(answer)) => (STATUS_OK, answer),
            Reply::Map(Err(error))
            | Reply::Fence(Err(error))
            | Reply::Query(Err(error))
            | Reply::Window(Err(error))
            | Reply::Bytes(Err(error)) => {
                let (status, text) = error_parts(error);
                (status, text.as_bytes())
            }
        };
        if status != STATUS_OK {
            self.tell_loss();
        }
        // What a wait has brought about is known with its answer.
        self.tell_fences();
        self.tell_kept_back();
        self.reply(ticket, status, bytes)
    }

    fn reply(&mut self, ticket: ReplyTicket, status: u32, bytes: &[u8]) -> Result<(), ServeError> {
        self.report.replies += 1;
        match self.replies.reply(ticket, status, bytes) {
            // The end of the connection shows at the next record.
            Ok(()) | Err(PortError::Lost(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn reply_result(&mut self, ticket: ReplyTicket, result: Result<Vec<u8>, PipeError>) -> Result<(), ServeError> {
        match &result {
            Ok(bytes) => self.reply(ticket, STATUS_OK, bytes),
            Err(error) => {
                let (status, text) = error_parts(error);
                self.reply(ticket, status, text.as_bytes())
            }
        }
    }

    fn control(&mut self, kind: u16, ticket: Option<ReplyTicket>, body: &[u8]) -> Result<(), ServeError> {
        let answers = matches!(kind, control::OPEN_SCREEN | control::CREATE_CONTEXT);
        let ticket = match (answers, ticket) {
            (true, None) => return Err(self.broken("no ticket for the answer")),
            (false, Some(_)) => return Err(self.broken("a ticket for a record without an answer")),
            (_, ticket) => ticket.unwrap_or_default(),
        };
        match kind {
            control::PIECE => return self.piece(body),
            control::WHOLE => return self.whole(body),
            _ => {}
        }
        let subject: Subject =
            bytemuck::try_pod_read_unaligned(body).map_err(|_| self.broken("size of a control record"))?;
        match kind {
            control::OPEN_SCREEN => {
                if self.screens.len() >= MAX_SCREENS || self.place(subject.screen).is_some() {
                    return Err(self.broken("screen number"));
                }
                let callbacks = Arc::new(EventCallbacks::new(subject.screen, self.events.clone(), self.gate.clone()));
                let opened = self.backend.open(callbacks).map(|screen| {
                    let caps = caps_bytes(&screen.get_caps());
                    self.screens.push(OpenScreen {
                        number: subject.screen,
                        flows: Vec::new(),
                        screen,
                        loss_told: false,
                    });
                    caps
                });
                self.reply_result(ticket, opened)
            }
            control::CLOSE_SCREEN => match self.place(subject.screen) {
                Some(at) => {
                    self.bound = usize::MAX;
                    drop(self.screens.swap_remove(at));
                    Ok(())
                }
                None => Err(self.broken("no such screen")),
            },
            control::BIND => {
                let Some(at) = self.place(subject.screen) else {
                    return Err(self.broken("no such screen"));
                };
                let (open, context) = (&self.screens[at], subject.context);
                let known = open.flows.get(context.slot() as usize).and_then(Option::as_ref);
                if !context.is_null() && known.is_none_or(|flow| flow.handle != context) {
                    return Err(self.broken("no such context"));
                }
                self.subject = subject;
                self.bound = at;
                Ok(())
            }
            control::CREATE_CONTEXT => {
                let context = subject.context;
                let slot = context.slot() as usize;
                let Some(at) = self.place(subject.screen) else {
                    return Err(self.broken("no such screen"));
                };
                let open = &mut self.screens[at];
                if slot == 0 || slot >= Kind::Context.slot_limit() as usize {
                    return Err(self.broken("context slot"));
                }
                if open.flows.len() <= slot {
                    open.flows.resize_with(slot + 1, || None);
                }
                if open.flows[slot].is_some() {
                    return Err(self.broken("the context exists"));
                }
                let created = open.screen.create_context(context).map(|flow| {
                    open.flows[slot] = Some(Flow { handle: context, context: flow });
                    Vec::new()
                });
                self.reply_result(ticket, created)
            }
            control::DROP_CONTEXT => {
                let open = self.place(subject.screen).and_then(|at| self.screens.get_mut(at));
                let flow = open.and_then(|open| open.flows.get_mut(subject.context.slot() as usize));
                match flow {
                    Some(flow) if flow.as_ref().is_some_and(|f| f.handle == subject.context) => {
                        *flow = None;
                        Ok(())
                    }
                    _ => Err(self.broken("no such context")),
                }
            }
            _ => Err(self.broken("control kind")),
        }
    }

    /// Makes memory of the client a buffer's storage.
    fn share(
        &mut self,
        ticket: ReplyTicket,
        sharing: Sharing,
        memory: Option<Arc<dyn SharedMemory>>,
    ) -> Result<(), ServeError> {
        let memory = memory.ok_or_else(|| self.broken("no such shared memory"))?;
        let Subject { screen, context, .. } = sharing.subject;
        let open = self.place(screen).and_then(|at| self.screens.get_mut(at));
        let flow = open.and_then(|open| open.flows.get_mut(context.slot() as usize)).and_then(Option::as_mut);
        let Some(flow) = flow.filter(|flow| flow.handle == context) else {
            return Err(self.broken("no such context"));
        };
        let adopted = flow.context.adopt_memory(&HandleOnly { handle: sharing.buffer }, memory);
        self.reply_result(ticket, adopted.map(|()| Vec::new()))
    }

    /// Takes a piece of a record; every piece but the last is a multiple of 8 long.
    fn piece(&mut self, body: &[u8]) -> Result<(), ServeError> {
        let (head, bytes) = body.split_at_checked(8).ok_or_else(|| self.broken("piece"))?;
        let length = bytemuck::pod_read_unaligned::<u64>(head);
        if length != bytes.len() as u64 || self.piece_bytes + bytes.len() > MAX_RECORD_BYTES {
            return Err(self.broken("piece"));
        }
        let at = self.piece_bytes / 8;
        if self.pieces.try_reserve(bytes.len() / 8).is_err() {
            return Err(self.broken("no memory for its pieces"));
        }
        self.pieces.resize(at + bytes.len() / 8, 0);
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.pieces[at..]).copy_from_slice(bytes);
        self.piece_bytes += bytes.len();
        Ok(())
    }

    fn whole(&mut self, body: &[u8]) -> Result<(), ServeError> {
        if !body.is_empty() {
            return Err(self.broken("size of a control record"));
        }
        let words = std::mem::take(&mut self.pieces);
        self.piece_bytes = 0;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        match split_record(bytes) {
            Ok((_, _, rest)) if !rest.is_empty() => Err(self.broken("more than one record")),
            Ok((header, body, _)) if header.kind < CONTROL_BASE && header.flags & record_flags::STAGED == 0 => {
                self.record(header, body, &|_| None)
            }
            Ok(_) => Err(self.broken("a large record is a call")),
            Err(DecodeError::NeedMore { .. }) => Err(self.broken("pieces are missing")),
            Err(error) => Err(self.broken(error)),
        }
    }
}
