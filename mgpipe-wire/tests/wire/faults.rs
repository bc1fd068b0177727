//! Streams that were damaged, floods, and rings that are too small for what a client wants of them.

use crate::recording::{buffer, handle, upload};
use crate::stream::{apply, recorded, Sent};
use mgpipe_types::*;
use mgpipe_wire::channel::{local_pair, SegmentSizes, Tuning};
use mgpipe_wire::client::{ClientOptions, WireBackend};
use mgpipe_wire::inproc::inproc;
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::server::ServeError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time that the applier may take over a damaged stream of this size.
const LONG: Duration = Duration::from_secs(10);

/// Applies records; whether they broke the protocol, which the error then names with the record.
fn breaks(records: Vec<Sent>, what: &str) -> bool {
    let (n_records, start) = (records.len() as u64, Instant::now());
    let applied = apply(records);
    assert!(start.elapsed() < LONG, "{what}: {:?}", start.elapsed());
    match applied {
        Ok(report) => {
            assert!(report.records <= n_records, "{what}");
            false
        }
        Err(ServeError::Protocol { ordinal, what: named }) => {
            assert!((1..=n_records).contains(&ordinal) && !named.is_empty(), "{what}: record {ordinal}: {named}");
            true
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
fn a_recorded_stream_is_applied_to_its_end() {
    let records = recorded();
    assert!(records.iter().any(|sent| !sent.staged.is_empty()), "some bytes are staged");
    let n_records = records.len() as u64;
    let report = apply(records).expect("as it was sent");
    assert_eq!(report.records, n_records);
    assert!(report.replies >= 6, "{report:?}");
}

#[test]
fn every_flipped_byte_of_a_recorded_stream_is_survived() {
    let records = recorded();
    let mut broken = 0;
    let mut flipped = 0;
    for (record, sent) in records.iter().enumerate() {
        for at in 0..sent.words.len() * 8 {
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = records.clone();
                bytemuck::cast_slice_mut::<u64, u8>(&mut damaged[record].words)[at] ^= flip;
                broken += u32::from(breaks(damaged, &format!("record {record}, byte {at} ^ {flip:#x}")));
                flipped += 1;
            }
        }
    }
    assert!(broken > flipped / 20 && broken < flipped, "{broken} of {flipped} flips break the protocol");
}

#[test]
fn records_that_are_cut_are_survived() {
    let records = recorded();
    let (mut broken, mut cuts) = (0, 0);
    for (record, sent) in records.iter().enumerate() {
        for words in 1..sent.words.len() {
            let mut damaged = records.clone();
            damaged[record] = sent.cut_to(words);
            broken += u32::from(breaks(damaged, &format!("record {record} cut to {words} words")));
            // The same with a header that still says the old length.
            let mut damaged = records.clone();
            damaged[record].words.truncate(words);
            assert!(breaks(damaged, "a record that is shorter than it says"), "record {record}, {words} words");
            cuts += 1;
        }
        // Bytes in STAGE that are missing.
        if !sent.staged.is_empty() {
            let mut damaged = records.clone();
            damaged[record].staged.truncate(sent.staged.len() - 1);
            assert!(breaks(damaged, "staged bytes"), "record {record}");
        }
    }
    assert!(broken > cuts / 2, "{broken} of {cuts}");
}

#[test]
fn records_that_are_missing_doubled_or_out_of_order_are_survived() {
    let records = recorded();
    let (mut broken, mut changes) = (0, 0);
    for at in 0..records.len() {
        let mut doubled = records.clone();
        doubled.insert(at, records[at].clone());
        let mut missing = records.clone();
        missing.remove(at);
        broken += u32::from(breaks(doubled, &format!("record {at} twice")));
        broken += u32::from(breaks(missing, &format!("record {at} missing")));
        changes += 2;
        for other in at + 1..records.len() {
            let mut swapped = records.clone();
            swapped.swap(at, other);
            broken += u32::from(breaks(swapped, &format!("records {at} and {other} swapped")));
            changes += 1;
        }
    }
    assert!(broken > changes / 20 && broken < changes, "{broken} of {changes}");
    let mut backwards = records;
    backwards.reverse();
    assert!(breaks(backwards, "backwards"));
}

/// The null backend on a second thread, over shared memory of these sizes.
fn over(backend: impl Backend + 'static, sizes: SegmentSizes) -> WireBackend {
    let tuning = Tuning { patience: Duration::from_secs(60), ..Tuning::default() };
    let channel = move || local_pair(sizes, tuning).map_err(|error| PipeError::Init(format!("no connection: {error}")));
    inproc(Arc::new(backend), Box::new(channel), ClientOptions::default())
}

const NARROW: SegmentSizes =
    SegmentSizes { commands: 64 << 10, stage: 64 << 10, stage_limit: 256 << 10, replies: 2 << 20, events: 64 << 10 };

/// What arrives on the client's side, taken as slowly as a busy program takes it.
#[derive(Default)]
struct Slow {
    lines: Mutex<Vec<(LogLevel, String)>>,
    texels: Mutex<Vec<(Box3, Vec<u8>)>>,
}

impl Slow {
    /// Lines that arrived, and the sum of what others say was suppressed.
    fn heard(&self) -> (usize, u64) {
        let lines = self.lines.lock();
        let suppressed = |line: &str| line.split_once(" suppressed").and_then(|(count, _)| count.parse::<u64>().ok());
        let told: Vec<u64> = lines.iter().filter_map(|(_, line)| suppressed(line)).collect();
        (lines.len() - told.len(), told.iter().sum())
    }
}

impl Callbacks for Slow {
    fn gl_error(&self, _: ContextHandle, _: u32, _: &str) {}
    fn gpu_written(&self, _: BufferHandle, _: &[ByteRange]) {}
    fn buffer_writeback(&self, _: BufferHandle, _: u64, _: &[u8]) {}
    fn texture_writeback(&self, writeback: TextureWriteback<'_>) {
        self.texels.lock().push((writeback.area, writeback.bytes.to_vec()));
    }
    fn texture_pull_request(&self, _: TextureHandle, _: u32, _: u32, _: u64) {}
    fn mip_levels_generated(&self, _: TextureHandle, _: u32, _: u32) {}
    fn surface_changed(&self, _: u32, _: u32, _: u32) {}
    fn caps_invalidated(&self) {}
    fn log(&self, level: LogLevel, message: &str) {
        std::thread::sleep(Duration::from_micros(50));
        self.lines.lock().push((level, message.to_owned()));
    }
    fn xfb_scatter_ready(&self, _: BufferHandle, _: u64, _: &[u8]) {}
}

/// Talks when its screen is opened, as a driver does whose program does not link.
struct Says(Box<dyn Fn(&dyn Callbacks) + Send + Sync>);

impl Backend for Says {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        (self.0)(&*callbacks);
        NullBackend.open(callbacks)
    }
}

/// Opens a screen of a backend that says something meanwhile, and lets the time pass after which what was suppressed is told.
fn hear(says: impl Fn(&dyn Callbacks) + Send + Sync + 'static) -> Arc<Slow> {
    let heard = Arc::new(Slow::default());
    let screen = over(Says(Box::new(says)), NARROW).open(heard.clone()).expect("opened");
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("made");
    std::thread::sleep(Duration::from_millis(400));
    context.query_result(&HandleOnly { handle: handle(5) }).expect_err("there is none");
    assert_eq!(screen.device_lost(), None);
    heard
}

const FLOOD: usize = 100_000;

#[test]
fn an_error_line_arrives_through_a_flood_of_warnings() {
    let start = Instant::now();
    let heard = hear(|callbacks| {
        for number in 0..FLOOD {
            callbacks.log(LogLevel::Warn, &format!("0:{number}: 'colour' : undeclared identifier"));
            if number == FLOOD / 2 {
                callbacks.log(LogLevel::Error, "the program does not link");
            }
        }
    });
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    let errors = |line: &&(LogLevel, String)| line.0 == LogLevel::Error && line.1 == "the program does not link";
    assert_eq!(heard.lines.lock().iter().filter(errors).count(), 1);
    let (lines, suppressed) = heard.heard();
    assert!(suppressed > 0, "{lines} lines arrived");
    assert_eq!(lines as u64 + suppressed, FLOOD as u64 + 1, "what did not arrive is counted");
}

#[test]
fn a_flood_of_errors_is_cut_and_counted() {
    let start = Instant::now();
    let heard = hear(|callbacks| {
        for number in 0..FLOOD {
            callbacks.log(LogLevel::Error, &format!("{number} does not link"));
        }
    });
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    let (lines, suppressed) = heard.heard();
    assert!((100..FLOOD / 10).contains(&lines), "{lines} lines");
    assert_eq!(heard.lines.lock().first(), Some(&(LogLevel::Error, "0 does not link".to_owned())));
    assert_eq!(lines as u64 + suppressed, FLOOD as u64);
}

#[test]
fn a_row_of_texels_that_is_longer_than_an_event_arrives() {
    // 16 bytes a texel: a row of 64 KiB, and events of at most 16 KiB.
    let area = Box3 { x: 3, y: 5, z: 1, width: 4096, height: 2, depth: 2 };
    let bytes: Vec<u8> = (0..4096 * 4 * 16u32).map(|at| (at / 7) as u8).collect();
    let sent = bytes.clone();
    let texture = TextureHandle(handle(4));
    let heard = hear(move |callbacks| {
        callbacks.texture_writeback(TextureWriteback { texture, level: 0, area, bytes: &sent });
    });
    let mut got = vec![0; bytes.len()];
    let mut texels = 0;
    for (part, bytes) in heard.texels.lock().iter() {
        assert_eq!(bytes.len(), (part.width * part.height * part.depth) as usize * 16);
        texels += bytes.len() / 16;
        let mut rest = bytes.as_slice();
        for z in part.z..part.z + part.depth as i32 {
            for y in part.y..part.y + part.height as i32 {
                let start = ((z - 1) as usize * 2 + (y - 5) as usize) * 4096 + (part.x - 3) as usize;
                let (row, more) = rest.split_at(part.width as usize * 16);
                got[start * 16..][..row.len()].copy_from_slice(row);
                rest = more;
            }
        }
    }
    assert_eq!(texels, 4096 * 4, "every texel once");
    assert!(got == bytes);
}

fn read(context: &mut dyn Context, res: Handle, size: usize) -> PipeResult<Vec<u8>> {
    let mut out = vec![0; size];
    context.resource_readback(&BufferReadback { res, offset: 0, size: size as u64 }, &mut out)?;
    Ok(out)
}

fn long_run() -> bool {
    std::env::var_os("MGL_TEST_LONG").is_some_and(|value| value == "1")
}

/// STAGE is at its limit and the upload is larger than that many times over.
#[test]
fn an_upload_that_is_larger_than_all_segments_arrives() {
    let size = if long_run() { (1 << 30) - (1 << 20) } else { 48 << 20 } + 13;
    let backend = over(NullBackend, NARROW);
    let screen = backend.open(Arc::new(LogCallbacks::silent())).expect("opened");
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("made");
    let bytes: Vec<u8> = (0..size).map(|at: usize| (at / 5 + at / 70_001) as u8).collect();
    screen.resource_create(&buffer(1, size as u64));
    context.resource_subdata(&upload(handle(1), 0, &bytes), &[], &bytes);
    // In parts that fit in STAGE, too, far more of them than fit at once.
    screen.resource_create(&buffer(2, size as u64));
    for (part, bytes) in bytes.chunks(100_000).enumerate() {
        context.resource_subdata(&upload(handle(2), part as u64 * 100_000, bytes), &[], bytes);
    }
    for slot in [1, 2] {
        assert!(read(&mut *context, handle(slot), size).expect("alive") == bytes, "buffer {slot}");
    }
}

/// A server that does nothing for a while: the full ring is waited for, nothing is thrown away, and nothing is lost.
#[test]
fn tiny_draws_that_overflow_the_ring_of_a_slow_server_all_arrive() {
    #[derive(Clone, Default)]
    struct Counting(Arc<Mutex<u64>>);
    impl Backend for Counting {
        fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
            // Seven times the patience that a client would have before it gave the ring up.
            std::thread::sleep(Duration::from_millis(350));
            let screen = NullBackend.open(callbacks)?;
            *self.0.lock() += 1;
            Ok(screen)
        }
    }
    const DRAWS: u32 = 50_000;
    let counting = Counting::default();
    let backend = Arc::new(over(counting.clone(), NARROW));
    let screen = backend.open(Arc::new(LogCallbacks::silent())).expect("opened");
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("made");
    screen.resource_create(&buffer(1, 4));
    // Opening another screen holds the server up while this one draws.
    let second = std::thread::spawn({
        let backend = backend.clone();
        move || backend.open(Arc::new(LogCallbacks::silent())).map(drop)
    });
    let info = DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() };
    for start in 0..DRAWS {
        context.draw_vbo(&info, &[DrawRange { start, count: 3, index_bias: 0 }], &[], HostBytes::None);
        if start % 1000 == 0 {
            context.resource_subdata(&upload(handle(1), 0, &start.to_ne_bytes()), &[], &start.to_ne_bytes());
        }
    }
    assert_eq!(read(&mut *context, handle(1), 4).expect("alive"), (DRAWS - 1000).to_ne_bytes());
    second.join().expect("joined").expect("opened");
    assert_eq!(*counting.0.lock(), 2);
    assert_eq!(screen.device_lost(), None);
}

/// The client waits for frames while the server waits for room among the events.
#[test]
fn a_full_event_ring_under_the_credit_of_frames_resolves() {
    let heard = Arc::new(Slow::default());
    let screen = over(NullBackend, NARROW).open(heard.clone()).expect("opened");
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("made");
    for frame in 0..4u32 {
        // Each fence is an event that must arrive, and there is room for a fifth of them.
        for slot in 1..=5_000u32 {
            let fence = Handle { slot, gen: frame + 1 };
            context.fence_create(&FenceDesc { fence, exportable: 0, pad: 0 });
        }
        context.flush(&Flush { flags: flush_flags::SUBMIT | flush_flags::END_OF_FRAME, pad: 0 });
        for slot in 1..=5_000u32 {
            let fence = HandleOnly { handle: Handle { slot, gen: frame + 1 } };
            let wait = FenceWait { fence: fence.handle, timeout_ns: u64::MAX };
            assert_eq!(screen.fence_wait(&wait).expect("alive").status, fence_status::SIGNALED);
            screen.fence_destroy(&fence);
        }
    }
    assert_eq!(screen.device_lost(), None);
}
