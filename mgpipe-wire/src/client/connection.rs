//! One connection of a process: the stream that all contexts write into, answers, events, and the latch of its loss.

use super::batch::{Batch, BATCH_BYTES};
use super::tally::Tally;
use super::writer::Writer;
use super::{answer, Attached, ClientOptions};
use crate::event::{deliver, Notice};
use crate::message::{control, Sharing, Subject};
use crate::port::{ClientLink, CommandSink, EventSource, Mark, PortError, ReplyBoard, ReplyTicket, StageRange};
use crate::record::{padded, record_flags, RecordHeader, HEADER_BYTES, MAX_RECORD_BYTES};
use mgpipe_types::{Callbacks, FenceHandle, Handle, PipeError, PipeResult, SharedMemory};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Longest wait for an answer beyond what the call itself asked for. A software driver legally takes half a minute.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes after which a parked server is woken although nothing asks for it, so that it does not sleep through a frame.
const BELL_BYTES: usize = 64 << 10;

/// Records after which events are looked for, even where nothing waits or wakes.
const LISTEN_RECORDS: u32 = 32;

/// What a record is before its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) kind: u16,
    pub(crate) flags: u16,
    /// Padded bytes of the arguments that stand in the record itself.
    pub(crate) body: usize,
    pub(crate) ticket: Option<ReplyTicket>,
    /// The byte string that goes to STAGE.
    pub(crate) staged: Option<&'a [u8]>,
}

/// What events of one screen reach.
pub(crate) struct Listener {
    pub(crate) callbacks: Arc<dyn Callbacks>,
    /// Why the device behind the screen is gone, once it is.
    pub(crate) device_lost: OnceLock<String>,
    /// Fences of the screen, and whether the server said that they have signalled.
    fences: Mutex<HashMap<FenceHandle, bool>>,
}

impl Listener {
    /// A fence is about to be created.
    pub(crate) fn expect_fence(&self, fence: Handle) {
        self.fences.lock().insert(FenceHandle(fence), false);
    }

    pub(crate) fn forget_fence(&self, fence: Handle) {
        self.fences.lock().remove(&FenceHandle(fence));
    }

    /// Notes that a fence has signalled; one that was destroyed meanwhile is nobody's business.
    pub(crate) fn signal(&self, fence: FenceHandle) {
        if let Some(signaled) = self.fences.lock().get_mut(&fence) {
            *signaled = true;
        }
    }

    /// Whether a fence is known to have signalled; `None` when it does not exist.
    pub(crate) fn is_signaled(&self, fence: Handle) -> Option<bool> {
        self.fences.lock().get(&FenceHandle(fence)).copied()
    }
}

struct Stream {
    sink: Box<dyn CommandSink>,
    /// Records that the sink does not have yet.
    batch: Batch,
    /// The largest record that waits in the batch.
    batchable: usize,
    subject: Subject,
    /// Bytes since the last doorbell.
    silent: usize,
    /// Records since events were looked for.
    deaf: u32,
    frames: u64,
    /// Ordinal of the last record that the sink has.
    records: u64,
    /// What the sink takes at most; it does not change.
    max_record: usize,
    max_stage: usize,
    tally: Arc<Tally>,
}

pub(crate) struct Connection {
    stream: Mutex<Stream>,
    replies: Arc<dyn ReplyBoard>,
    events: Mutex<Box<dyn EventSource>>,
    link: Arc<dyn ClientLink>,
    listeners: Mutex<HashMap<u32, Arc<Listener>>>,
    next_screen: AtomicU32,
    pub(crate) options: ClientOptions,
    pub(crate) tally: Arc<Tally>,
    keeper: Mutex<Option<Box<dyn Any + Send + Sync>>>,
}

impl Connection {
    pub(crate) fn new(attached: Attached, options: ClientOptions, tally: Arc<Tally>) -> Arc<Connection> {
        let end = attached.end;
        tally.connected(end.link.clone());
        Arc::new(Connection {
            stream: Mutex::new(Stream {
                max_record: end.commands.max_record(),
                max_stage: end.commands.max_stage(),
                batch: Batch::new(),
                batchable: end.commands.max_record().min(BATCH_BYTES),
                sink: end.commands,
                subject: Subject::default(),
                silent: 0,
                deaf: 0,
                frames: 0,
                records: 0,
                tally: tally.clone(),
            }),
            replies: end.replies,
            events: Mutex::new(end.events),
            link: end.link,
            listeners: Mutex::default(),
            next_screen: AtomicU32::new(1),
            options,
            tally,
            keeper: Mutex::new(Some(attached.keeper)),
        })
    }

    /// A number for a new screen, and its ear.
    pub(crate) fn listen(&self, callbacks: Arc<dyn Callbacks>) -> (u32, Arc<Listener>) {
        let screen = self.next_screen.fetch_add(1, Ordering::Relaxed);
        let listener = Arc::new(Listener { callbacks, device_lost: OnceLock::new(), fences: Mutex::default() });
        self.listeners.lock().insert(screen, listener.clone());
        (screen, listener)
    }

    pub(crate) fn forget(&self, screen: u32) {
        self.listeners.lock().remove(&screen);
    }

    pub(crate) fn lost(&self) -> Option<String> {
        self.link.lost()
    }

    /// Ends the connection and waits for the other side to be gone.
    pub(crate) fn shut_down(&self, why: &str) {
        self.link.close(why);
        let keeper = self.keeper.lock().take();
        drop(keeper);
    }

    /// Makes the callbacks of every event that has arrived.
    #[inline]
    pub(crate) fn drain(&self) {
        if self.link.has_events() {
            self.drain_events();
        }
    }

    #[cold]
    fn drain_events(&self) {
        // Another thread, or a caller up the stack, is at it.
        let Some(mut events) = self.events.try_lock() else { return };
        let mut broken = None;
        loop {
            let taken = events.next(&mut |event| {
                let mut heard = None;
                let delivered = deliver(event, |screen| {
                    heard = self.listeners.lock().get(&screen).cloned();
                    heard.as_ref().map(|listener| listener.callbacks.clone())
                });
                match delivered {
                    Ok((_, Notice::Called)) => {}
                    Ok((_, Notice::Fence(fence))) => {
                        if let Some(listener) = heard {
                            listener.signal(fence);
                        }
                    }
                    Ok((_, Notice::DeviceLost(why))) => {
                        if let Some(listener) = heard {
                            let _ = listener.device_lost.set(why);
                        }
                    }
                    Err(error) => broken = Some(error.to_string()),
                }
            });
            match (taken, &broken) {
                (Ok(true), None) => {}
                (Ok(false), None) => return,
                (Err(error), None) => return self.link.fail(&error.to_string()),
                (_, Some(why)) => return self.link.fail(why),
            }
        }
    }

    /// Writes one record. `fill` writes the arguments, with the byte string in the record when it is
    /// told that nothing was staged.
    #[inline]
    pub(crate) fn send(
        &self,
        subject: Subject,
        head: Head<'_>,
        fill: impl FnOnce(&mut Writer<'_>, bool),
    ) -> Result<(), PortError> {
        let mut stream = self.stream.lock();
        stream.deaf += 1;
        if stream.deaf >= LISTEN_RECORDS {
            stream.deaf = 0;
            self.drain();
        }
        stream.send(self, subject, head, fill)
    }

    /// Wakes the server when it sleeps.
    pub(crate) fn doorbell(&self) {
        self.stream.lock().ring(self);
        self.drain();
    }

    /// The end of a frame was written: wakes the server and waits until it is not too far behind.
    pub(crate) fn frame_ends(&self) {
        let mut stream = self.stream.lock();
        stream.ring(self);
        stream.frames += 1;
        self.tally.frames(stream.frames);
        let wanted = stream.frames.saturating_sub(u64::from(self.options.frame_credit.max(1)));
        drop(stream);
        let waited = self.link.wait_mark(Mark::Frames, wanted, PATIENCE, &|| self.drain());
        self.give_up_after(waited);
    }

    /// Waits until the server has applied what was written so far, and makes the callbacks that it caused.
    pub(crate) fn wait_applied(&self) {
        let ordinal = {
            let mut stream = self.stream.lock();
            stream.ring(self);
            stream.records
        };
        let waited = self.link.wait_mark(Mark::Applied, ordinal, PATIENCE, &|| self.drain());
        self.give_up_after(waited);
        self.drain();
    }

    /// A server that does not answer within the patience is as good as dead.
    fn give_up_after(&self, waited: Result<(), PortError>) {
        if let Err(PortError::TimedOut) = waited {
            self.link.fail("the server does not answer");
        }
    }

    /// Writes a record that has an answer, and waits for it. `take` gets the answer's bytes in parts.
    pub(crate) fn request(
        &self,
        subject: Subject,
        mut head: Head<'_>,
        fill: impl FnOnce(&mut Writer<'_>, bool),
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u32, PortError> {
        let idle = || self.drain();
        self.tally.round_trip(head.kind);
        let ticket = self.replies.ticket(&idle)?;
        head.ticket = Some(ticket);
        {
            let mut stream = self.stream.lock();
            stream.send(self, subject, head, fill)?;
            stream.ring(self);
        }
        let answer = self.replies.wait(ticket, PATIENCE, &idle, take);
        self.give_up_after(answer.as_ref().map(|_| ()).map_err(PortError::clone));
        // What the server said before it answered comes before what the answer lets the caller do.
        self.drain();
        answer
    }

    /// Makes memory that the server shares a buffer's storage. What is in the buffer moves there.
    pub(crate) fn share_buffer(
        &self,
        subject: Subject,
        buffer: Handle,
        bytes: usize,
    ) -> PipeResult<Arc<dyn SharedMemory>> {
        let shared = self.stream.lock().sink.share(bytes).map_err(pipe_error)?;
        let (number, memory) = shared.ok_or_else(|| PipeError::Unsupported("memory is not shared here".into()))?;
        let sharing = Sharing { subject, buffer, memory: number, pad: 0 };
        let body = std::mem::size_of::<Sharing>();
        let head = Head { kind: control::SHARE, flags: 0, body, ticket: None, staged: None };
        answer::done(self, subject, head, |writer, _| writer.put(bytemuck::bytes_of(&sharing)))?;
        Ok(memory)
    }

    /// Writes a control record without an answer.
    pub(crate) fn control(&self, kind: u16, subject: Subject) -> Result<(), PortError> {
        let mut stream = self.stream.lock();
        stream.control(self, kind, subject)?;
        if kind != control::BIND {
            // The subject may be what just ended.
            stream.subject = Subject::default();
        }
        stream.ring(self);
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tally.disconnected(&self.link);
        self.shut_down("the client has left");
    }
}

const SUBJECT_BYTES: usize = std::mem::size_of::<Subject>();

impl Stream {
    fn ring(&mut self, connection: &Connection) {
        // Whoever waits for an answer learns of a loss there.
        let _ = self.hand_over(connection);
        self.tally.published(self.records, std::mem::take(&mut self.silent));
        self.sink.doorbell();
    }

    /// Gives the sink the records that wait.
    #[inline(never)]
    fn hand_over(&mut self, connection: &Connection) -> Result<(), PortError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let (bytes, records) = self.batch.take();
        self.records = self.sink.append(bytes, records, &|| connection.drain())?;
        Ok(())
    }

    fn control(&mut self, connection: &Connection, kind: u16, subject: Subject) -> Result<(), PortError> {
        self.hand_over(connection)?;
        let room = self.sink.reserve(HEADER_BYTES + SUBJECT_BYTES, &|| connection.drain())?;
        let mut writer = Writer::new(room);
        let header = RecordHeader { kind, flags: 0, size: (HEADER_BYTES + SUBJECT_BYTES) as u32 };
        writer.put(bytemuck::bytes_of(&header));
        writer.put(bytemuck::bytes_of(&subject));
        self.records = self.sink.commit_later();
        self.silent += HEADER_BYTES + SUBJECT_BYTES;
        Ok(())
    }

    #[inline]
    fn send(
        &mut self,
        connection: &Connection,
        subject: Subject,
        head: Head<'_>,
        fill: impl FnOnce(&mut Writer<'_>, bool),
    ) -> Result<(), PortError> {
        let size = HEADER_BYTES + head.body;
        if self.subject != subject || head.ticket.is_some() || head.staged.is_some() || size > self.batchable {
            return self.send_any(connection, subject, head, fill);
        }
        let mut writer = Writer::new(self.batch.room(size));
        writer.put(bytemuck::bytes_of(&RecordHeader { kind: head.kind, flags: head.flags, size: size as u32 }));
        fill(&mut writer, false);
        debug_assert!(writer.is_full(), "a record is shorter than its reservation");
        self.silent += size;
        if self.batch.wrote(size) {
            self.hand_over(connection)?;
            if self.silent > BELL_BYTES {
                self.ring(connection);
            }
        }
        Ok(())
    }

    /// Writes a record that the short way does not fit.
    #[inline(never)]
    fn send_any(
        &mut self,
        connection: &Connection,
        subject: Subject,
        head: Head<'_>,
        fill: impl FnOnce(&mut Writer<'_>, bool),
    ) -> Result<(), PortError> {
        let idle = || connection.drain();
        if self.subject != subject && head.kind < crate::record::CONTROL_BASE {
            self.control(connection, control::BIND, subject)?;
            self.subject = subject;
        }
        self.hand_over(connection)?;
        let mut flags = head.flags;
        let mut size = HEADER_BYTES + head.body;
        if head.ticket.is_some() {
            flags |= record_flags::TICKET;
            size += 8;
        }
        if head.staged.is_some() {
            flags |= record_flags::STAGED;
            size += std::mem::size_of::<StageRange>();
        }
        if size > self.max_record || head.staged.is_some_and(|bytes| bytes.len() > self.max_stage) {
            return self.send_pieces(connection, head, fill);
        }
        let mut range = None;
        if let Some(bytes) = head.staged {
            let (at, room) = self.sink.stage(bytes.len(), &idle)?;
            room.copy_from_slice(bytes);
            self.tally.staged(bytes.len());
            range = Some(at);
        }
        let room = self.sink.reserve(size, &idle)?;
        let mut writer = Writer::new(room);
        writer.put(bytemuck::bytes_of(&RecordHeader { kind: head.kind, flags, size: size as u32 }));
        if let Some(ticket) = &head.ticket {
            writer.put(bytemuck::bytes_of(ticket));
        }
        if let Some(range) = &range {
            writer.put(bytemuck::bytes_of(range));
        }
        fill(&mut writer, range.is_some());
        debug_assert!(writer.is_full(), "a record is shorter than its reservation");
        self.records = self.sink.commit_later();
        self.silent += size;
        if self.silent > BELL_BYTES {
            self.ring(connection);
        }
        Ok(())
    }

    /// Writes a record that is larger than the ring takes, in pieces.
    #[cold]
    fn send_pieces(
        &mut self,
        connection: &Connection,
        head: Head<'_>,
        fill: impl FnOnce(&mut Writer<'_>, bool),
    ) -> Result<(), PortError> {
        let idle = || connection.drain();
        let blob = head.staged.map_or(0, |bytes| 8 + padded(bytes.len()));
        let ticket = if head.ticket.is_some() { 8 } else { 0 };
        let size = HEADER_BYTES + ticket + head.body + blob;
        if size > MAX_RECORD_BYTES {
            return Err(PortError::TooLarge(size));
        }
        let mut words = Vec::new();
        words.try_reserve_exact(size / 8).map_err(|_| PortError::TooLarge(size))?;
        words.resize(size / 8, 0u64);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let mut writer = Writer::new(bytes);
        let flags = head.flags | if ticket == 0 { 0 } else { record_flags::TICKET };
        writer.put(bytemuck::bytes_of(&RecordHeader { kind: head.kind, flags, size: size as u32 }));
        if let Some(ticket) = &head.ticket {
            writer.put(bytemuck::bytes_of(ticket));
        }
        fill(&mut writer, false);
        debug_assert!(writer.is_full(), "a record is shorter than its reservation");
        let most = (self.max_record.saturating_sub(2 * HEADER_BYTES) & !7).max(8);
        for piece in bytes.chunks(most) {
            let size = 2 * HEADER_BYTES + piece.len();
            let room = self.sink.reserve(size, &idle)?;
            let mut writer = Writer::new(room);
            writer.put(bytemuck::bytes_of(&RecordHeader { kind: control::PIECE, flags: 0, size: size as u32 }));
            writer.put_word(piece.len() as u64);
            writer.put(piece);
            self.records = self.sink.commit();
            self.silent += size;
            self.ring(connection);
        }
        let room = self.sink.reserve(HEADER_BYTES, &idle)?;
        let end = RecordHeader { kind: control::WHOLE, flags: 0, size: HEADER_BYTES as u32 };
        Writer::new(room).put(bytemuck::bytes_of(&end));
        self.records = self.sink.commit();
        self.silent += HEADER_BYTES;
        self.ring(connection);
        Ok(())
    }
}

/// What a caller of the pipe hears of a connection's failure.
pub(crate) fn pipe_error(error: PortError) -> PipeError {
    match error {
        PortError::TooLarge(bytes) => PipeError::OutOfMemory(format!("{bytes} bytes in one call")),
        PortError::TimedOut => PipeError::DeviceLost("the server does not answer".into()),
        PortError::Lost(why) | PortError::Corrupt(why) => PipeError::DeviceLost(why),
    }
}
