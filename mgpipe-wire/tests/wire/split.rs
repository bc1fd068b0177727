//! The same calls through the emitter and the applier, and straight on a backend.

use crate::recording::{buffer, handle, program, upload};
use mgpipe_types::*;
use mgpipe_wire::client::{ClientOptions, WireBackend};
use mgpipe_wire::inproc::inproc;
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::port::{ClientEnd, ServerEnd};
use mgpipe_wire::queue::{queue, QueueLimits};
use mgpipe_wire::server::{serve, ServeError, ServeReport};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

fn small() -> QueueLimits {
    QueueLimits { commands: 64 << 10, record: 8 << 10, stage: 16 << 10, events: 4 << 10, ..QueueLimits::default() }
}

fn split(backend: impl Backend + 'static, limits: QueueLimits) -> WireBackend {
    inproc(Arc::new(backend), Box::new(move || Ok(queue(limits))), ClientOptions::default())
}

/// A screen over narrow queues, and a context of it.
fn opened() -> (Arc<dyn Screen>, Box<dyn Context>) {
    let screen = split(NullBackend, small()).open(Arc::new(LogCallbacks::silent())).unwrap();
    let context = screen.create_context(ContextHandle(handle(1))).unwrap();
    (screen, context)
}

fn read(context: &mut dyn Context, res: Handle, size: usize) -> PipeResult<Vec<u8>> {
    let mut out = vec![0; size];
    context.resource_readback(&BufferReadback { res, offset: 0, size: size as u64 }, &mut out)?;
    Ok(out)
}

#[test]
fn a_program_reads_the_same_bytes() {
    let straight = program(&*NullBackend.open(Arc::new(LogCallbacks::silent())).unwrap());
    let backend = split(NullBackend, QueueLimits::default());
    assert_eq!(program(&*backend.open(Arc::new(LogCallbacks::silent())).unwrap()), straight);
    // A second screen on the same connection has handles of its own.
    assert_eq!(program(&*backend.open(Arc::new(LogCallbacks::silent())).unwrap()), straight);
}

#[test]
fn caps_arrive_whole() {
    let straight = NullBackend.open(Arc::new(LogCallbacks::silent())).unwrap().get_caps();
    let screen = split(NullBackend, small()).open(Arc::new(LogCallbacks::silent())).unwrap();
    assert_eq!(screen.get_caps(), straight);
}

#[test]
fn byte_strings_of_every_size_arrive() {
    let backend = split(NullBackend, small());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    // In the record, in STAGE, and in pieces because both are too small.
    for size in [1, 7, 2048, 2049, 8 << 10, 16 << 10, (16 << 10) + 1, 1 << 20] {
        let bytes: Vec<u8> = (0..size).map(|at: usize| (at * 7 + at / 251) as u8).collect();
        screen.resource_create(&buffer(1, size as u64));
        context.resource_subdata(&upload(handle(1), 0, &bytes), &[], &bytes);
        assert!(read(&mut *context, handle(1), size).unwrap() == bytes, "{size}");
    }
}

#[test]
fn an_error_of_the_backend_is_the_callers() {
    let (screen, mut context) = opened();
    assert!(matches!(read(&mut *context, handle(9), 4), Err(PipeError::BadHandle(_))));
    let query = HandleOnly { handle: handle(5) };
    assert!(matches!(context.query_result(&query), Err(PipeError::BadHandle(_))));
    let fence = HandleOnly { handle: handle(5) };
    assert!(matches!(screen.fence_status(&fence), Err(PipeError::BadHandle(_))));
    context.fence_create(&FenceDesc { fence: handle(5), exportable: 0, pad: 0 });
    let wait = FenceWait { fence: handle(5), timeout_ns: 1 };
    assert_eq!(screen.fence_wait(&wait).unwrap().status, fence_status::SIGNALED);
    assert_eq!(screen.fence_status(&fence).unwrap().status, fence_status::SIGNALED);
}

fn persistent(slot: u32, size: u64, coherent: bool) -> ResourceDesc {
    let access = if coherent { gl::MAP_COHERENT_BIT } else { 0 };
    ResourceDesc { storage_flags: gl::MAP_PERSISTENT_BIT | access, immutable: 1, ..buffer(slot, size) }
}

/// What an application does with a mapping's address.
fn poke(mapped: &MapResult, at: usize, bytes: &[u8]) {
    assert!(at + bytes.len() <= mapped.size as usize);
    // SAFETY: the range lies in the mapping, which lives as long as the buffer.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (mapped.address as *mut u8).add(at), bytes.len()) };
}

fn peek(mapped: &MapResult, at: usize, len: usize) -> Vec<u8> {
    assert!(at + len <= mapped.size as usize);
    // SAFETY: as in `poke`.
    unsafe { std::slice::from_raw_parts((mapped.address as *const u8).add(at), len).to_vec() }
}

#[test]
fn a_coherent_write_reaches_the_next_verb_without_a_call_between() {
    let (screen, mut context) = opened();
    const SIZE: usize = (3 << 16) + 5;
    screen.resource_create(&persistent(1, SIZE as u64, true));
    screen.resource_create(&buffer(2, SIZE as u64));
    context.resource_subdata(&upload(handle(1), 0, b"before"), &[], b"before");
    let mapped = screen.map_persistent(&HandleOnly { handle: handle(1) }).unwrap();
    assert_eq!(peek(&mapped, 0, 6), b"before");
    let copy = CopyRegion {
        dst: handle(2),
        src: handle(1),
        dst_kind: Kind::Buffer as u8,
        src_kind: Kind::Buffer as u8,
        src_box: Box3::from_buffer_range(0, SIZE as u64),
        ..CopyRegion::default()
    };
    for (round, at) in [0, 65_535, SIZE - 3].into_iter().enumerate() {
        let bytes = [round as u8 + 1, 200, 7];
        poke(&mapped, at, &bytes);
        context.resource_copy_region(&copy);
        assert_eq!(read(&mut *context, handle(2), SIZE).unwrap()[at..at + 3], bytes);
    }
}

#[test]
fn another_mapping_is_sent_when_it_is_flushed() {
    let (screen, mut context) = opened();
    screen.resource_create(&persistent(1, 64, false));
    let mapped = screen.map_persistent(&HandleOnly { handle: handle(1) }).unwrap();
    poke(&mapped, 0, &[9; 64]);
    assert_eq!(read(&mut *context, handle(1), 64).unwrap(), [0; 64]);
    context.resource_flush_range(&FlushRange { res: handle(1), offset: 8, size: 4, access: 0, pad: 0 });
    let bytes = read(&mut *context, handle(1), 64).unwrap();
    assert_eq!((&bytes[..8], &bytes[8..12], &bytes[12..]), (&[0; 8][..], &[9; 4][..], &[0; 52][..]));
    let barrier = MemoryBarrier { bits: gl::CLIENT_MAPPED_BUFFER_BARRIER_BIT, by_region: 0 };
    context.memory_barrier(&barrier);
    assert_eq!(read(&mut *context, handle(1), 64).unwrap(), [9; 64]);
}

#[test]
fn what_the_device_wrote_is_in_the_mapping_after_a_fence() {
    let (screen, mut context) = opened();
    screen.resource_create(&persistent(1, 24, true));
    screen.resource_create(&buffer(2, 24));
    context.resource_subdata(&upload(handle(2), 0, &[5; 24]), &[], &[5; 24]);
    let mapped = screen.map_persistent(&HandleOnly { handle: handle(1) }).unwrap();
    context.resource_copy_region(&CopyRegion {
        dst: handle(1),
        src: handle(2),
        dst_kind: Kind::Buffer as u8,
        src_kind: Kind::Buffer as u8,
        src_box: Box3::from_buffer_range(0, 16),
        ..CopyRegion::default()
    });
    context.fence_create(&FenceDesc { fence: handle(3), exportable: 0, pad: 0 });
    // The application goes on writing elsewhere meanwhile; that stays.
    poke(&mapped, 16, &[1; 8]);
    let wait = FenceWait { fence: handle(3), timeout_ns: u64::MAX };
    assert_eq!(screen.fence_wait(&wait).unwrap().status, fence_status::SIGNALED);
    assert_eq!(peek(&mapped, 0, 24), [[5; 8], [5; 8], [1; 8]].concat());
    // An upload through a call shows at once.
    context.resource_subdata(&upload(handle(1), 2, &[8; 3]), &[], &[8; 3]);
    assert_eq!(peek(&mapped, 0, 6), [5, 5, 8, 8, 8, 5]);
}

#[test]
fn what_both_sides_write_next_to_each_other_stays() {
    let (screen, mut context) = opened();
    screen.resource_create(&persistent(1, 24, true));
    screen.resource_create(&buffer(2, 24));
    context.resource_subdata(&upload(handle(2), 0, &[5; 24]), &[], &[5; 24]);
    let mapped = screen.map_persistent(&HandleOnly { handle: handle(1) }).unwrap();
    let copy = |at: u64, size: u64| CopyRegion {
        dst: handle(1),
        src: handle(2),
        dst_kind: Kind::Buffer as u8,
        src_kind: Kind::Buffer as u8,
        dst_x: at as i32,
        src_box: Box3::from_buffer_range(0, size),
        ..CopyRegion::default()
    };
    // The device's word has the application's as neighbours, one of them in the same eight bytes.
    context.resource_copy_region(&copy(8, 4));
    poke(&mapped, 4, &[1; 4]);
    poke(&mapped, 12, &[2; 4]);
    let expected = [[0; 4], [1; 4], [5; 4], [2; 4], [0; 4], [0; 4]].concat();
    assert_eq!(read(&mut *context, handle(1), 24).unwrap(), expected, "the uploads leave the device's word alone");
    context.fence_create(&FenceDesc { fence: handle(3), exportable: 0, pad: 0 });
    poke(&mapped, 12, &[3; 4]);
    let wait = FenceWait { fence: handle(3), timeout_ns: u64::MAX };
    assert_eq!(screen.fence_wait(&wait).unwrap().status, fence_status::SIGNALED);
    let expected = [[0; 4], [1; 4], [5; 4], [3; 4], [0; 4], [0; 4]].concat();
    assert_eq!(peek(&mapped, 0, 24), expected);
}

#[test]
fn threads_never_tear_a_record() {
    let backend = Arc::new(split(NullBackend, small()));
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..=4u32 {
            let screen = screen.clone();
            scope.spawn(move || {
                let mut context = screen.create_context(ContextHandle(handle(thread))).unwrap();
                screen.resource_create(&buffer(thread, 4096));
                for round in 0..300u32 {
                    let bytes = vec![(round * 4 + thread) as u8; 1 + (round as usize * 37) % 4096];
                    context.resource_subdata(&upload(handle(thread), 0, &bytes), &[], &bytes);
                    if round % 16 == 0 {
                        assert_eq!(read(&mut *context, handle(thread), bytes.len()).unwrap(), bytes);
                    }
                }
            });
        }
    });
    assert_eq!(screen.device_lost(), None);
}

/// A client of the null backend whose server's report is seen at the end.
fn reported() -> (WireBackend, std::thread::JoinHandle<Result<ServeReport, ServeError>>) {
    let (end, server) = queue(QueueLimits::default());
    let thread = std::thread::spawn(move || serve(server, &NullBackend));
    let ends = Mutex::new(Some(end));
    let connect = move || {
        let end = ends.lock().take().ok_or_else(|| PipeError::Init("only once".into()))?;
        Ok(mgpipe_wire::client::Attached { end, keeper: Box::new(()) })
    };
    (WireBackend::new(Box::new(connect), ClientOptions::default()), thread)
}

/// The caps and the context are what a program asks for at its start.
const REPLIES_AT_START: u64 = 2;

#[test]
fn polling_a_fence_ends_without_a_round_trip() {
    let (backend, thread) = reported();
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    for slot in 1..=3 {
        let fence = HandleOnly { handle: handle(slot) };
        context.fence_create(&FenceDesc { fence: fence.handle, exportable: 0, pad: 0 });
        let end = std::time::Instant::now() + Duration::from_secs(20);
        let mut polls = 0;
        while screen.fence_status(&fence).unwrap().status != fence_status::SIGNALED {
            polls += 1;
            assert!(std::time::Instant::now() < end, "{polls} polls");
            std::thread::sleep(Duration::from_millis(10));
        }
        let wait = FenceWait { fence: fence.handle, timeout_ns: u64::MAX };
        assert_eq!(screen.fence_wait(&wait).unwrap().status, fence_status::SIGNALED);
        screen.fence_destroy(&fence);
    }
    drop((context, screen, backend));
    assert_eq!(thread.join().unwrap().unwrap().replies, REPLIES_AT_START);
}

#[test]
fn steady_frames_make_no_round_trip() {
    let (backend, thread) = reported();
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    screen.resource_create(&buffer(1, 1 << 20));
    for frame in 0..100u32 {
        let bytes = vec![frame as u8; 1 << 16];
        context.resource_respecify(&buffer(1, 1 << 20));
        context.resource_subdata(&upload(handle(1), 0, &bytes), &[], &bytes);
        let info = DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() };
        for start in 0..500 {
            context.draw_vbo(&info, &[DrawRange { start, count: 3, index_bias: 0 }], &[], HostBytes::None);
        }
        let (now, before) = (HandleOnly { handle: handle(2 + frame) }, HandleOnly { handle: handle(1 + frame) });
        context.fence_create(&FenceDesc { fence: now.handle, exportable: 0, pad: 0 });
        context.flush(&Flush { flags: flush_flags::SUBMIT | flush_flags::END_OF_FRAME, pad: 0 });
        if frame > 0 {
            assert!(screen.fence_status(&before).is_ok());
            screen.fence_destroy(&before);
        }
    }
    drop((context, screen, backend));
    let report = thread.join().unwrap().unwrap();
    assert_eq!(report.replies, REPLIES_AT_START);
    assert!(report.records > 50_000);
}

#[test]
fn a_full_event_ring_and_a_waiting_client_do_not_wait_for_each_other() {
    let heard = Arc::new(Heard::default());
    let screen = split(NullBackend, small()).open(heard.clone()).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    const LINES: usize = 5000;
    for _ in 0..LINES {
        // Every one is an error that the null backend logs, and errors are not dropped.
        context.resource_respecify(&ResourceDesc { handle: handle(1), target: 200, ..ResourceDesc::default() });
    }
    for _ in 0..3 {
        context.flush(&Flush { flags: flush_flags::END_OF_FRAME, pad: 0 });
    }
    read(&mut *context, handle(9), 4).unwrap_err();
    // Of errors that come this fast some are kept back; how many is said once a while has passed.
    std::thread::sleep(Duration::from_millis(300));
    read(&mut *context, handle(9), 4).unwrap_err();
    let heard = heard.0.lock();
    let kept_back = |line: &String| {
        let (_, line) = line.split_once("log Error ")?;
        line.split_once(" suppressed").and_then(|(count, _)| count.parse::<usize>().ok())
    };
    let told: Vec<usize> = heard.iter().filter_map(kept_back).collect();
    assert_eq!(heard.len() - told.len() + told.iter().sum::<usize>(), LINES);
    assert_eq!(screen.device_lost(), None);
}

#[test]
fn a_tight_loop_of_polls_ends_too() {
    let (screen, mut context) = opened();
    let fence = HandleOnly { handle: handle(1) };
    context.fence_create(&FenceDesc { fence: fence.handle, exportable: 0, pad: 0 });
    let polls = (0..1000).take_while(|_| screen.fence_status(&fence).unwrap().status == fence_status::TIMEOUT).count();
    assert!(polls <= 64, "{polls} polls");
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Callbacks for Heard {
    fn gl_error(&self, context: ContextHandle, error: u32, message: &str) {
        self.0.lock().push(format!("error {context:?} {error:#x} {message}"));
    }
    fn gpu_written(&self, buffer: BufferHandle, ranges: &[ByteRange]) {
        self.0.lock().push(format!("written {buffer:?} {ranges:?}"));
    }
    fn buffer_writeback(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        self.0.lock().push(format!("bytes {buffer:?} {offset} {}", bytes.len()));
    }
    fn texture_writeback(&self, w: TextureWriteback<'_>) {
        self.0.lock().push(format!("texels {:?} {} {:?} {}", w.texture, w.level, w.area, w.bytes.len()));
    }
    fn texture_pull_request(&self, texture: TextureHandle, first_level: u32, levels: u32, token: u64) {
        self.0.lock().push(format!("pull {texture:?} {first_level} {levels} {token}"));
    }
    fn mip_levels_generated(&self, texture: TextureHandle, first_level: u32, last_level: u32) {
        self.0.lock().push(format!("mips {texture:?} {first_level} {last_level}"));
    }
    fn surface_changed(&self, window: u32, width: u32, height: u32) {
        self.0.lock().push(format!("surface {window} {width} {height}"));
    }
    fn caps_invalidated(&self) {
        self.0.lock().push("caps".into());
    }
    fn log(&self, level: LogLevel, message: &str) {
        self.0.lock().push(format!("log {level:?} {message}"));
    }
    fn xfb_scatter_ready(&self, buffer: BufferHandle, offset: u64, bytes: &[u8]) {
        self.0.lock().push(format!("scatter {buffer:?} {offset} {}", bytes.len()));
    }
}

fn call_everything(to: &dyn Callbacks) {
    let (buffer, texture) = (BufferHandle(handle(3)), TextureHandle(handle(4)));
    to.gl_error(ContextHandle(handle(1)), gl::OUT_OF_MEMORY, "no room");
    to.gpu_written(buffer, &[ByteRange { offset: 1, size: 2 }, ByteRange { offset: 9, size: 8 }]);
    to.buffer_writeback(buffer, 5, &[1; 9]);
    let area = Box3::sized(2, 2, 1);
    to.texture_writeback(TextureWriteback { texture, level: 1, area, bytes: &[7; 16] });
    to.texture_pull_request(texture, 1, 2, 1 << 40);
    to.mip_levels_generated(texture, 1, 5);
    to.surface_changed(1, 640, 480);
    to.caps_invalidated();
    to.log(LogLevel::Warn, "slow");
    to.xfb_scatter_ready(buffer, 4, &[2; 12]);
}

/// Speaks every callback when its screen is opened.
struct Talkative;

impl Backend for Talkative {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        call_everything(&*callbacks);
        NullBackend.open(callbacks)
    }
}

#[test]
fn callbacks_arrive_in_order_before_the_answer() {
    let (straight, heard) = (Heard::default(), Arc::new(Heard::default()));
    call_everything(&straight);
    let _screen = split(Talkative, QueueLimits::default()).open(heard.clone()).unwrap();
    assert_eq!(*heard.0.lock(), *straight.0.lock());
}

/// Opens a screen without an applier's help: what a hand-written client would send.
fn first_record(client: &mut ClientEnd, words: &[u64]) {
    let room = client.commands.reserve(words.len() * 8, &|| ()).unwrap();
    room.copy_from_slice(bytemuck::cast_slice(words));
    client.commands.commit();
    client.commands.doorbell();
}

#[test]
fn a_broken_record_ends_its_client_with_a_named_error() {
    let header = |kind: u16, flags: u16, size: u32| kind as u64 | (flags as u64) << 16 | (size as u64) << 32;
    let records: [&[u64]; 8] = [
        &[header(0, 0, 8)],
        &[header(999, 0, 8)],
        &[header(Opcode::Flush as u16, 0, 16), 0],
        &[header(Opcode::Flush as u16, 0, 16)],
        &[header(Opcode::Flush as u16, 64, 8)],
        &[header(Opcode::ResourceSubdata as u16, 8, 16), 0],
        &[header(0x8000 + 18, 0, 24), 77, 0],
        &[header(0x8000 + 21, 0, 24), 1 << 40, 0],
    ];
    for words in records {
        let (mut client, server): (ClientEnd, ServerEnd) = queue(QueueLimits::default());
        first_record(&mut client, words);
        let served = serve(server, &NullBackend);
        assert!(matches!(served, Err(ServeError::Protocol { ordinal: 1, .. })), "{words:x?}: {served:?}");
        assert!(client.link.lost().is_some());
    }
}

#[test]
fn a_server_that_is_gone_is_a_lost_device_and_no_crash() {
    let (end, server) = queue(QueueLimits::default());
    let ends = Mutex::new(Some(end));
    let thread = std::thread::spawn(move || serve(server, &NullBackend));
    let links = Mutex::new(None);
    let connect = move || {
        let end = ends.lock().take().ok_or_else(|| PipeError::Init("only once".into()))?;
        *links.lock() = Some(end.link.clone());
        let link = end.link.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            link.close("the server was killed");
        });
        Ok(mgpipe_wire::client::Attached { end, keeper: Box::new(()) })
    };
    let backend = WireBackend::new(Box::new(connect), ClientOptions::default());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    let lost = loop {
        screen.resource_create(&buffer(1, 64));
        context.flush(&Flush { flags: flush_flags::END_OF_FRAME, pad: 0 });
        if let Err(error) = read(&mut *context, handle(1), 64) {
            break error;
        }
    };
    assert!(matches!(lost, PipeError::DeviceLost(_)), "{lost}");
    assert!(screen.device_lost().is_some());
    let status = screen.fence_wait(&FenceWait { fence: handle(1), timeout_ns: u64::MAX }).unwrap().status;
    assert_eq!(status, fence_status::DEVICE_LOST);
    context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    assert!(thread.join().unwrap().is_ok());
}

/// A backend that takes its time to go.
struct Lingering(Arc<AtomicBool>);

impl Backend for Lingering {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        NullBackend.open(callbacks)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        std::thread::sleep(Duration::from_millis(200));
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_connection_that_is_closed_leaves_nothing_of_the_backend() {
    let gone = Arc::new(AtomicBool::new(false));
    let backend = split(Lingering(gone.clone()), small());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    drop(backend);
    drop(screen);
    assert!(gone.load(Ordering::Acquire), "the thread still drops its backend");
}
