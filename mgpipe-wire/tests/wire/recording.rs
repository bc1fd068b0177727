//! What a recorder writes, a player runs to the same bytes on another screen.

use mgpipe_types::*;
use mgpipe_wire::null::NullScreen;
use mgpipe_wire::{play, recording_text, PlayError, Recorder, Reply};
use parking_lot::Mutex;
use std::io::Write;
use std::sync::Arc;

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// The recording in 8-aligned memory.
    fn words(&self) -> Vec<u64> {
        let bytes = self.0.lock();
        assert_eq!(bytes.len() % 8, 0);
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect()
    }
}

pub(crate) fn handle(slot: u32) -> Handle {
    Handle { slot, gen: 1 }
}

pub(crate) fn buffer(slot: u32, size: u64) -> ResourceDesc {
    ResourceDesc { handle: handle(slot), buffer_size: size, ..ResourceDesc::default() }
}

pub(crate) fn upload(res: Handle, offset: u64, bytes: &[u8]) -> SubData {
    SubData { res, union_box: Box3::from_buffer_range(offset, bytes.len() as u64), ..SubData::default() }
}

/// Uploads, copies, clears and reads back on two contexts.
pub(crate) fn program(screen: &dyn Screen) -> Vec<u8> {
    let mut a = screen.create_context(ContextHandle(handle(1))).unwrap();
    let mut b = screen.create_context(ContextHandle(handle(2))).unwrap();
    screen.resource_create(&buffer(1, 16));
    screen.resource_create(&buffer(2, 16));
    a.resource_subdata(&upload(handle(1), 4, &[1, 2, 3, 4]), &[], &[1, 2, 3, 4]);
    b.resource_copy_region(&CopyRegion {
        dst: handle(2),
        src: handle(1),
        dst_kind: Kind::Buffer as u8,
        src_kind: Kind::Buffer as u8,
        dst_x: 8,
        src_box: Box3::from_buffer_range(4, 4),
        ..CopyRegion::default()
    });
    screen.resource_create(&ResourceDesc {
        handle: handle(1),
        target: Target::Tex2D as u8,
        format: Format::RGBA8_UNORM.0,
        width: 4,
        height: 4,
        depth: 1,
        array_layers: 1,
        levels: 1,
        ..ResourceDesc::default()
    });
    let surface =
        Surface { handle: handle(1), format: Format::RGBA8_UNORM.0, kind: Kind::Texture as u8, ..Surface::default() };
    let mut framebuffer =
        FramebufferState { width: 4, height: 4, layers: 1, draw_buffers: [-1; 8], ..FramebufferState::default() };
    framebuffer.color[0] = surface;
    framebuffer.draw_buffers[0] = 0;
    a.set_framebuffer_state(&framebuffer);
    a.clear(&Clear {
        buffers: aspect::COLOR,
        draw_buffer: -1,
        color: [1.0f32.to_bits(), 0, 0, 1.0f32.to_bits()],
        ..Clear::default()
    });
    let mut out = vec![0; 16];
    b.resource_readback(&BufferReadback { res: handle(2), offset: 0, size: 16 }, &mut out).unwrap();
    let mut texels = vec![0; 16];
    let info = ReadbackInfo {
        surface,
        area: Box3 { x: 1, y: 2, z: 0, width: 2, height: 2, depth: 1 },
        format: Format::RGBA8_UNORM.0,
        aspect: aspect::COLOR,
        pad: [0; 2],
    };
    a.read_pixels(&info, &mut texels).unwrap();
    out.extend(texels);
    screen.resource_destroy(&ResourceRef::new(ResourceHandle::Buffer(BufferHandle(handle(1)))));
    out
}

fn record() -> (Vec<u64>, Vec<u8>) {
    let file = Shared::default();
    let recorder = Recorder::new(Box::new(file.clone())).unwrap();
    let screen = recorder.wrap(Arc::new(NullScreen::new(Arc::new(LogCallbacks::silent()))));
    let seen = program(&*screen);
    let counters = recorder.finish().unwrap();
    assert_eq!(counters.calls(Opcode::ResourceCreate), 3);
    (file.words(), seen)
}

#[test]
fn a_recording_replays_to_the_same_bytes() {
    let (words, seen) = record();
    assert_eq!(&seen[8..12], &[1, 2, 3, 4]);
    assert_eq!(&seen[16..20], &[255, 0, 0, 255]);
    let screen = NullScreen::new(Arc::new(LogCallbacks::silent()));
    let mut replayed = Vec::new();
    let report = play(bytemuck::cast_slice(&words), &screen, &mut |_, _, reply| {
        if let Reply::Bytes(Ok(bytes)) = reply {
            replayed.extend_from_slice(bytes);
        }
    })
    .unwrap();
    assert_eq!(replayed, seen);
    assert!(report.records > 10);
    assert_eq!(screen.counters().bad_handles, 0);
    assert_eq!(screen.live_resources(), 2);
}

#[test]
fn recording_twice_gives_the_same_bytes() {
    assert_eq!(record().0, record().0);
}

#[test]
fn the_text_has_a_line_for_every_record() {
    let (words, _) = record();
    let text = recording_text(bytemuck::cast_slice(&words)).unwrap();
    let screen = NullScreen::new(Arc::new(LogCallbacks::silent()));
    let report = play(bytemuck::cast_slice(&words), &screen, &mut |_, _, _| {}).unwrap();
    assert_eq!(text.lines().count() as u64, report.records);
    let upload = text.lines().find(|l| l.starts_with("resource_subdata ")).unwrap();
    assert!(upload.ends_with("bytes: [01, 02, 03, 04]"), "{upload}");
    assert!(text.lines().any(|l| l.starts_with("read_pixels ") && l.ends_with("answers 16 bytes")));
    assert!(matches!(recording_text(&[0; 16]), Err(PlayError::Magic)));
}

#[test]
fn a_foreign_or_broken_recording_is_an_error() {
    let (mut words, _) = record();
    let screen = NullScreen::new(Arc::new(LogCallbacks::silent()));
    let mut ignore = |_: u64, _: &mgpipe_wire::Call<'_>, _: &Reply| {};
    assert!(matches!(play(&[0; 16], &screen, &mut ignore), Err(PlayError::Magic)));
    let cut: &[u8] = &bytemuck::cast_slice(&words)[..words.len() * 8 - 8];
    assert!(matches!(play(cut, &screen, &mut ignore), Err(PlayError::Record { .. })));
    words[1] ^= 1;
    assert!(matches!(play(bytemuck::cast_slice(&words), &screen, &mut ignore), Err(PlayError::Fingerprint)));
}

#[test]
fn a_write_error_stops_the_recording_not_the_program() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 < bytes.len() {
                return Err(std::io::Error::other("disk full"));
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let recorder = Recorder::new(Box::new(Full(200))).unwrap();
    let screen = recorder.wrap(Arc::new(NullScreen::new(Arc::new(LogCallbacks::silent()))));
    let seen = program(&*screen);
    assert_eq!(&seen[8..12], &[1, 2, 3, 4]);
    assert!(recorder.finish().is_err());
}
