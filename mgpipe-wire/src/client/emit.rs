//! Screens and contexts whose calls are written as records, generated from the catalogue.

use super::answer;
use super::connection::{Connection, Head, Listener};
use super::maps::{Bound, Maps};
use super::writer::Writer;
use crate::message::{control, Subject};
use crate::port::PortError;
use crate::record::{argument_bytes, padded, record_flags};
use crate::server::LONGEST_WAIT;
use mgpipe_types::*;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest byte string that stands in its record. Longer ones go to STAGE, where the server reads them in place.
const INLINE_BYTES: usize = 2048;

/// Storage of at least this many bytes is not declared blindly: the caller hears of a lack of memory in time.
const CAREFUL_BYTES: u64 = 256 << 20;

/// Questions about a fence that are answered from what the server said, before it is asked once.
const FRUITLESS_POLLS: u32 = 64;

/// How long the answer to a question about a query holds when it was "not yet".
const QUERY_REST: Duration = Duration::from_micros(200);

/// What the contexts of a screen share.
pub(crate) struct ScreenState {
    connection: Arc<Connection>,
    screen: u32,
    listener: Arc<Listener>,
    caps: CapsReply,
    maps: Maps,
    contexts: Mutex<Vec<ContextHandle>>,
    /// Questions about fences in a row that were answered with "not yet" on this side.
    fruitless: AtomicU32,
}

/// A screen on a connection.
struct WireScreen(Arc<ScreenState>);

/// A context on a connection.
struct WireContext {
    connection: Arc<Connection>,
    subject: Subject,
    share: Arc<ScreenState>,
    /// What the verbs of the context reach.
    bound: Bound,
    /// The query that was not there yet when the server was asked last.
    waiting: Option<(Handle, Instant)>,
}

fn plain_head(kind: u16, body: usize) -> Head<'static> {
    Head { kind, flags: 0, body, ticket: None, staged: None }
}

fn subject_head(kind: u16) -> Head<'static> {
    plain_head(kind, std::mem::size_of::<Subject>())
}

/// Opens a screen on a connection.
pub(crate) fn open_screen(connection: Arc<Connection>, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
    let (screen, listener) = connection.listen(callbacks);
    let subject = Subject::new(screen, ContextHandle::NULL);
    let fill = |writer: &mut Writer<'_>, _: bool| writer.put(bytemuck::bytes_of(&subject));
    let caps = match answer::caps(&connection, subject, subject_head(control::OPEN_SCREEN), fill) {
        Ok(mut caps) => {
            // A mapping is memory of this side, whose bytes travel.
            caps.caps.features &= !features::SILENT_MAPS;
            caps
        }
        Err(error) => {
            connection.forget(screen);
            return Err(error);
        }
    };
    let shares = caps.caps.features & features::SHARES_MEMORY != 0;
    let maps = match Maps::new(connection.options.map_tier, shares) {
        Ok(maps) => maps,
        Err(error) => {
            let _ = connection.control(control::CLOSE_SCREEN, subject);
            connection.forget(screen);
            return Err(error);
        }
    };
    let state = ScreenState {
        connection,
        screen,
        listener,
        caps,
        maps,
        contexts: Mutex::default(),
        fruitless: AtomicU32::new(0),
    };
    Ok(Arc::new(WireScreen(Arc::new(state))))
}

impl Drop for ScreenState {
    fn drop(&mut self) {
        let subject = Subject::new(self.screen, ContextHandle::NULL);
        // A lost connection has nothing left to close.
        let _ = self.connection.control(control::CLOSE_SCREEN, subject);
        self.connection.forget(self.screen);
    }
}

impl Drop for WireContext {
    fn drop(&mut self) {
        let _ = self.connection.control(control::DROP_CONTEXT, self.subject);
        self.share.contexts.lock().retain(|context| *context != self.subject.context);
    }
}

/// Uploads into a buffer on behalf of a mapping.
pub(crate) fn upload(connection: &Connection, subject: Subject, data: &SubData, bytes: &[u8]) {
    let staged = Some(bytes).filter(|bytes| bytes.len() > INLINE_BYTES);
    let own = if staged.is_some() { 0 } else { 8 + padded(bytes.len()) };
    let body = std::mem::size_of::<SubData>() + 8 + own;
    connection.tally.mapping_upload(bytes.len());
    let head = Head { kind: Opcode::ResourceSubdata as u16, flags: 0, body, ticket: None, staged };
    let sent = connection.send(subject, head, |writer, is_staged| {
        writer.put(bytemuck::bytes_of(data));
        writer.put_word(0);
        if !is_staged {
            writer.put_word(bytes.len() as u64);
            writer.put(bytes);
        }
    });
    ignore_loss(sent);
}

/// A call without an answer on a lost connection does nothing; the caller learns of the loss where it asks.
#[inline]
fn ignore_loss(sent: Result<(), PortError>) {
    if let Err(PortError::TooLarge(bytes)) = sent {
        debug_assert!(false, "{bytes} bytes in one call");
    }
}

/// Bytes that storage takes at least.
fn storage_bytes(desc: &ResourceDesc) -> u64 {
    if desc.target == Target::Buffer as u8 {
        return desc.buffer_size;
    }
    let texels = [desc.width, desc.height.max(1), desc.depth.max(1), desc.array_layers.max(1) as u32];
    let samples = desc.samples.max(1) as u64;
    let block = Format(desc.format).desc().block_bytes.max(1) as u64;
    texels.iter().fold(samples.saturating_mul(block), |n, side| n.saturating_mul(*side as u64))
}

impl ScreenState {
    /// Storage was declared by the last record.
    fn declared(&self, desc: &ResourceDesc) {
        self.maps.specified(desc);
        self.careful(storage_bytes(desc));
    }

    fn careful(&self, bytes: u64) {
        if bytes >= CAREFUL_BYTES {
            self.connection.wait_applied();
        }
    }

    /// A fence was seen signalled: what the device wrote into mappings is there.
    fn passed_fence(&self) {
        if self.maps.any() {
            let context = self.contexts.lock().last().copied();
            if let Some(context) = context {
                self.maps.pull(&self.connection, self.screen, context);
            }
        }
    }

    fn map(&self, buffer: Handle) -> PipeResult<MapResult> {
        let context = self.contexts.lock().last().copied();
        let context = context.ok_or_else(|| PipeError::Unsupported("a mapping without a context".into()))?;
        self.maps.map(&self.connection, Subject::new(self.screen, context), buffer)
    }
}

macro_rules! byte_string {
    (blob $arg:ident) => {
        Some($arg)
    };
    (host $arg:ident) => {
        $arg.bytes()
    };
    ($kind:ident $arg:ident) => {
        None::<&[u8]>
    };
}

macro_rules! host_flags {
    (host $arg:ident) => {
        match $arg {
            HostBytes::None => 0,
            HostBytes::IndexMirror => record_flags::HOST_FROM_MIRROR,
            HostBytes::Bytes(_) => record_flags::HOST_BYTES,
        }
    };
    ($kind:ident $arg:ident) => {
        0
    };
}

macro_rules! put_arg {
    (payload $writer:ident $staged:ident $arg:ident) => {
        $writer.put(bytemuck::bytes_of($arg))
    };
    (tail $writer:ident $staged:ident $arg:ident) => {
        $writer.put_tail($arg)
    };
    (blob $writer:ident $staged:ident $arg:ident) => {
        if !$staged {
            $writer.put_word($arg.len() as u64);
            $writer.put($arg);
        }
    };
    (host $writer:ident $staged:ident $arg:ident) => {
        if let Some(bytes) = $arg.bytes().filter(|_| !$staged) {
            $writer.put_word(bytes.len() as u64);
            $writer.put(bytes);
        }
    };
    (out $writer:ident $staged:ident $arg:ident) => {
        $writer.put_word($arg)
    };
}

/// Evaluates to what follows the arguments of a call: `$send!(connection, subject, head, fill)`.
macro_rules! encode {
    ($op:ident ($($arg:ident : $kind:ident),*) |$head:ident, $fill:ident| $send:expr) => {{
        let string = None::<&[u8]>$(.or(byte_string!($kind $arg)))*;
        let staged = string.filter(|bytes| bytes.len() > INLINE_BYTES);
        let whole = 0usize $(+ argument_bytes!($kind $arg))*;
        let body = whole - staged.map_or(0, |bytes| 8 + padded(bytes.len()));
        let flags = 0u16 $(| host_flags!($kind $arg))*;
        let $head = Head { kind: Opcode::$op as u16, flags, body, ticket: None, staged };
        #[allow(unused_variables)]
        let $fill = |writer: &mut Writer<'_>, is_staged: bool| {
            $(put_arg!($kind writer is_staged $arg);)*
        };
        $send
    }};
}

/// What a call with this answer does.
macro_rules! speak {
    ($connection:expr, $subject:expr, $op:ident ($($arg:ident : $kind:ident),*) -> none) => {
        encode!($op ($($arg : $kind),*) |head, fill| ignore_loss($connection.send($subject, head, fill)))
    };
    ($connection:expr, $subject:expr, $op:ident ($($arg:ident : $kind:ident),*) -> pod) => {
        encode!($op ($($arg : $kind),*) |head, fill| answer::pod(&$connection, $subject, head, fill))
    };
    ($connection:expr, $subject:expr, $op:ident ($info:ident : payload, $out:ident : out) -> status) => {{
        let length = $out.len() as u64;
        encode!($op ($info : payload, length : out) |head, fill| {
            answer::bytes(&$connection, $subject, head, fill, $out)
        })
    }};
}

/// What precedes a record on this side. Only a few calls have something.
macro_rules! before {
    ($share:expr, $subject:expr, resource_subdata($data:ident, $regions:ident, $bytes:ident)) => {
        $share.maps.uploaded($subject.context, $data, $bytes)
    };
    ($share:expr, $subject:expr, fence_create($desc:ident)) => {
        $share.listener.expect_fence($desc.fence);
        $share.maps.fenced($subject.context, $desc.fence)
    };
    ($share:expr, $subject:expr, fence_destroy($fence:ident)) => {
        let is_signaled = $share.listener.is_signaled($fence.handle) == Some(true);
        $share.maps.fence_ends($fence.handle, is_signaled);
        $share.listener.forget_fence($fence.handle)
    };
    ($share:expr, $subject:expr, memory_barrier($barrier:ident)) => {
        if $share.maps.any() && $barrier.bits & gl::CLIENT_MAPPED_BUFFER_BARRIER_BIT != 0 {
            $share.maps.push_all(&$share.connection, $subject);
        }
    };
    ($share:expr, $subject:expr, $name:ident($($arg:ident),*)) => {};
}

/// What follows a record on this side.
macro_rules! after {
    ($share:expr, flush($flush:ident)) => {
        if $flush.flags & flush_flags::END_OF_FRAME != 0 {
            $share.connection.frame_ends();
        } else {
            $share.connection.doorbell();
        }
    };
    ($share:expr, present($present:ident)) => {
        $share.connection.frame_ends()
    };
    ($share:expr, resource_create($desc:ident)) => {
        $share.declared($desc)
    };
    ($share:expr, resource_respecify($desc:ident)) => {
        $share.declared($desc)
    };
    ($share:expr, renderbuffer_storage($storage:ident)) => {{
        let desc = ResourceDesc {
            target: Target::Renderbuffer as u8,
            format: $storage.format,
            width: $storage.width,
            height: $storage.height,
            samples: $storage.samples as u16,
            ..ResourceDesc::default()
        };
        $share.careful(storage_bytes(&desc))
    }};
    ($share:expr, resource_destroy($resource:ident)) => {
        $share.maps.destroyed($resource.kind, $resource.handle)
    };
    ($share:expr, $name:ident($($arg:ident),*)) => {};
}

/// Coherent mappings are looked at in front of what reads their buffers, or writes a part of one, and every context keeps in
/// mind what is bound.
macro_rules! maps_before {
    ($self:ident set_vertex_buffers($header:ident, $buffers:ident)) => {
        $self.bound.vertex_buffers($header.start, $buffers)
    };
    ($self:ident set_index_buffer($buffer:ident)) => {
        $self.bound.index_buffer($buffer.res)
    };
    ($self:ident set_indirect_buffers($buffers:ident)) => {
        $self.bound.indirect_buffers([$buffers.indirect, $buffers.parameter])
    };
    ($self:ident set_shader_buffers($header:ident, $ranges:ident, $bytes:ident)) => {
        if $header.writable_mask != 0 {
            $self.share.maps.written_by_draws($ranges.iter().map(|range| range.res));
        }
        $self.bound.shader_buffers($header, $ranges)
    };
    ($self:ident set_stream_output_targets($header:ident, $targets:ident)) => {
        $self.share.maps.written_by_draws($targets.iter().map(|target| target.res));
        $self.bound.capture_targets($targets)
    };
    ($self:ident begin_stream_output($begin:ident)) => {
        $self.share.maps.written_by_draws($self.bound.capture_buffers());
        $self.bound.capture(true)
    };
    ($self:ident end_stream_output($end:ident)) => {
        $self.share.maps.written_by_draws($self.bound.capture_buffers());
        $self.bound.capture(false)
    };
    ($self:ident pause_stream_output($xfb:ident)) => {
        $self.share.maps.written_by_draws($self.bound.capture_buffers());
        $self.bound.capture(false)
    };
    ($self:ident resume_stream_output($xfb:ident)) => {
        $self.share.maps.written_by_draws($self.bound.capture_buffers());
        $self.bound.capture(true)
    };
    ($self:ident draw_vbo($info:ident, $ranges:ident, $indirect:ident, $indices:ident)) => {
        if $self.share.maps.any() {
            let commands = $indirect.iter().flat_map(|draw| [draw.buffer, draw.count_buffer]);
            let named = commands.chain([$info.index_buffer]);
            $self.share.maps.push_bound(&$self.connection, $self.subject, &mut $self.bound, named);
        }
    };
    ($self:ident launch_grid($grid:ident)) => {
        if $self.share.maps.any() {
            let named = [$grid.indirect].into_iter();
            $self.share.maps.push_bound(&$self.connection, $self.subject, &mut $self.bound, named);
        }
    };
    ($self:ident resource_copy_region($copy:ident)) => {
        if $self.share.maps.any() {
            $self.share.maps.push_copy(&$self.connection, $self.subject, $copy);
        }
    };
    ($self:ident readback_to_buffer($readback:ident)) => {
        $self.share.maps.before_pack(&$self.connection, $self.subject, $readback.buffer);
        if $self.share.maps.any() {
            $self.share.maps.push_written(&$self.connection, $self.subject, $readback.buffer);
        }
    };
    ($self:ident $name:ident($($arg:ident),*)) => {};
}

/// What the device has been told to write is fetched later.
macro_rules! maps_after {
    ($self:ident draw_vbo($info:ident, $ranges:ident, $indirect:ident, $indices:ident)) => {
        if $self.share.maps.any() {
            $self.share.maps.ran(&$self.bound);
        }
    };
    ($self:ident launch_grid($grid:ident)) => {
        if $self.share.maps.any() {
            $self.share.maps.ran(&$self.bound);
        }
    };
    ($self:ident resource_copy_region($copy:ident)) => {
        $self.share.maps.copied($self.subject.context, $copy)
    };
    ($self:ident readback_to_buffer($readback:ident)) => {
        $self.share.maps.packed($self.subject.context, $readback)
    };
    ($self:ident $name:ident($($arg:ident),*)) => {};
}

macro_rules! screen_method {
    (context $($rest:tt)*) => {};
    // Answered from what this side holds.
    (screen $class:ident GetCaps $($rest:tt)*) => {
        fn get_caps(&self) -> CapsReply {
            self.0.caps.clone()
        }
    };
    (screen $class:ident MapPersistent $($rest:tt)*) => {
        fn map_persistent(&self, buffer: &HandleOnly) -> PipeResult<MapResult> {
            self.0.map(buffer.handle)
        }
    };
    (screen $class:ident UnmapPersistent $($rest:tt)*) => {
        fn unmap_persistent(&self, buffer: &HandleOnly) {
            self.0.maps.unmap(buffer.handle);
        }
    };
    (screen $class:ident FenceStatus $($rest:tt)*) => {
        fn fence_status(&self, fence: &HandleOnly) -> PipeResult<FenceAnswer> {
            self.ask_fence(fence)
        }
    };
    (screen $class:ident FenceWait $($rest:tt)*) => {
        fn fence_wait(&self, wait: &FenceWait) -> PipeResult<FenceAnswer> {
            self.wait_fence(wait)
        }
    };
    (screen $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> none) => {
        fn $name(&self, $($arg: mgpipe_arg!($kind $ty)),*) {
            let subject = Subject::new(self.0.screen, ContextHandle::NULL);
            before!(self.0, subject, $name($($arg),*));
            speak!(self.0.connection, subject, $op ($($arg : $kind),*) -> none);
            after!(self.0, $name($($arg),*));
        }
    };
    (screen $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> pod $rty:ident) => {
        fn $name(&self, $($arg: mgpipe_arg!($kind $ty)),*) -> PipeResult<$rty> {
            let subject = Subject::new(self.0.screen, ContextHandle::NULL);
            speak!(self.0.connection, subject, $op ($($arg : $kind),*) -> pod)
        }
    };
}

macro_rules! context_method {
    (screen $($rest:tt)*) => {};
    (context $class:ident ResourceFlushRange $($rest:tt)*) => {
        // The mapping is on this side only.
        fn resource_flush_range(&mut self, range: &FlushRange) {
            self.share.maps.push_range(&self.connection, self.subject, range.res, range.offset, range.size);
        }
    };
    (context $class:ident ResourceReadback $($rest:tt)*) => {
        fn resource_readback(&mut self, readback: &BufferReadback, bytes: &mut [u8]) -> PipeResult<()> {
            self.connection.drain();
            let is_signaled = |fence| self.share.listener.is_signaled(fence) == Some(true);
            if self.share.maps.read_packed(readback, bytes, is_signaled) {
                return Ok(());
            }
            if self.share.maps.any() {
                self.share.maps.push_read(&self.connection, self.subject, readback.res);
            }
            speak!(self.connection, self.subject, ResourceReadback (readback : payload, bytes : out) -> status)
        }
    };
    (context $class:ident QueryAvailable $($rest:tt)*) => {
        fn query_available(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
            self.ask_query(query)
        }
    };
    (context $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> none) => {
        fn $name(&mut self, $($arg: mgpipe_arg!($kind $ty)),*) {
            maps_before!(self $name($($arg),*));
            before!(self.share, self.subject, $name($($arg),*));
            speak!(self.connection, self.subject, $op ($($arg : $kind),*) -> none);
            maps_after!(self $name($($arg),*));
            after!(self.share, $name($($arg),*));
        }
    };
    (context $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> status) => {
        fn $name(&mut self, $($arg: mgpipe_arg!($kind $ty)),*) -> PipeResult<()> {
            speak!(self.connection, self.subject, $op ($($arg : $kind),*) -> status)
        }
    };
    (context $class:ident $op:ident $name:ident ($($arg:ident : $kind:ident $ty:ident),*) -> pod $rty:ident) => {
        fn $name(&mut self, $($arg: mgpipe_arg!($kind $ty)),*) -> PipeResult<$rty> {
            speak!(self.connection, self.subject, $op ($($arg : $kind),*) -> pod)
        }
    };
}

macro_rules! emitters {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        impl Screen for WireScreen {
            $(screen_method! { $recv $class $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*

            fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
                self.start_context(context)
            }

            fn device_lost(&self) -> Option<String> {
                self.0.connection.drain();
                self.0.listener.device_lost.get().cloned().or_else(|| self.0.connection.lost())
            }
        }

        impl Context for WireContext {
            $(context_method! { $recv $class $op $name ($($arg : $kind $ty),*) -> $reply $($reply_ty)? })*
        }
    };
}

mgpipe_catalogue!(emitters);

impl WireScreen {
    fn subject(&self) -> Subject {
        Subject::new(self.0.screen, ContextHandle::NULL)
    }

    fn start_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
        let subject = Subject::new(self.0.screen, context);
        let fill = |writer: &mut Writer<'_>, _: bool| writer.put(bytemuck::bytes_of(&subject));
        answer::done(&self.0.connection, subject, subject_head(control::CREATE_CONTEXT), fill)?;
        self.0.contexts.lock().push(context);
        let connection = self.0.connection.clone();
        Ok(Box::new(WireContext { connection, subject, share: self.0.clone(), bound: Bound::default(), waiting: None }))
    }

    /// Whether a fence has signalled, from what the server said. It is woken, so that a loop of such questions ends, and
    /// asked when many were in vain.
    fn ask_fence(&self, fence: &HandleOnly) -> PipeResult<FenceAnswer> {
        self.0.connection.doorbell();
        match self.0.listener.is_signaled(fence.handle) {
            Some(true) => {
                self.0.fruitless.store(0, Ordering::Relaxed);
                return self.seen(fence.handle, Ok(FenceAnswer { status: fence_status::SIGNALED }));
            }
            Some(false)
                if self.0.connection.lost().is_none()
                    && self.0.fruitless.fetch_add(1, Ordering::Relaxed) < FRUITLESS_POLLS =>
            {
                return Ok(FenceAnswer { status: fence_status::TIMEOUT });
            }
            Some(false) => self.0.connection.tally.escalated(),
            None => {}
        }
        self.0.fruitless.store(0, Ordering::Relaxed);
        let answer: PipeResult<FenceAnswer> =
            speak!(self.0.connection, self.subject(), FenceStatus (fence : payload) -> pod);
        self.seen(fence.handle, answer)
    }

    fn wait_fence(&self, wait: &FenceWait) -> PipeResult<FenceAnswer> {
        self.0.connection.drain();
        if self.0.listener.is_signaled(wait.fence) == Some(true) {
            return self.seen(wait.fence, Ok(FenceAnswer { status: fence_status::SIGNALED }));
        }
        let start = Instant::now();
        let limit = Duration::from_nanos(wait.timeout_ns);
        loop {
            // The server answers when the fence signals, and serves other threads of the client until then. A longer wait
            // is asked for again, so that the patience with a silent server is on top of a known time.
            let left = limit.saturating_sub(start.elapsed());
            let part = FenceWait { fence: wait.fence, timeout_ns: left.min(LONGEST_WAIT).as_nanos() as u64 };
            let part = &part;
            let answer: PipeResult<FenceAnswer> =
                speak!(self.0.connection, self.subject(), FenceWait (part : payload) -> pod);
            let timed_out = answer.as_ref().is_ok_and(|answer| answer.status == fence_status::TIMEOUT);
            if !timed_out || left <= LONGEST_WAIT {
                return self.seen(wait.fence, answer);
            }
        }
    }

    fn seen(&self, fence: Handle, answer: PipeResult<FenceAnswer>) -> PipeResult<FenceAnswer> {
        match &answer {
            Ok(answer) if answer.status == fence_status::SIGNALED => {
                self.0.listener.signal(FenceHandle(fence));
                self.0.passed_fence();
            }
            Err(PipeError::DeviceLost(_)) => return Ok(FenceAnswer { status: fence_status::DEVICE_LOST }),
            _ => {}
        }
        answer
    }
}

impl WireContext {
    /// Whether a query's result is there. A loop of such questions asks the server now and then.
    fn ask_query(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        let rests = self.waiting.is_some_and(|(other, asked)| other == query.handle && asked.elapsed() < QUERY_REST);
        if rests && self.connection.lost().is_none() {
            self.connection.doorbell();
            return Ok(QueryAnswer::default());
        }
        let answer: PipeResult<QueryAnswer> =
            speak!(self.connection, self.subject, QueryAvailable (query : payload) -> pod);
        let pending = answer.as_ref().is_ok_and(|answer| answer.available == 0);
        self.waiting = pending.then(|| (query.handle, Instant::now()));
        answer
    }
}
