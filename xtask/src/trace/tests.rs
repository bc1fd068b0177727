//! A small recording, looked at and drawn again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mgpipe_types::*;
use mgpipe_wire::null::NullScreen;
use mgpipe_wire::Recorder;

use super::replay::{replay, ReplayArgs};
use super::*;
use crate::environment::Backend;

fn handle(slot: u32) -> Handle {
    Handle { slot, gen: 1 }
}

/// A recording of an image that is cleared, shown in a window, and read.
fn record(folder: &Path, name: &str, red: f32) -> PathBuf {
    let path = folder.join(name);
    let recorder = Recorder::new(Box::new(std::fs::File::create(&path).unwrap())).unwrap();
    let screen = recorder.wrap(Arc::new(NullScreen::new(Arc::new(LogCallbacks::silent()))));
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    let format = Format::RGBA8_UNORM.0;
    screen.resource_create(&ResourceDesc {
        handle: handle(1),
        target: Target::Tex2D as u8,
        format,
        width: 4,
        height: 2,
        depth: 1,
        array_layers: 1,
        levels: 1,
        ..ResourceDesc::default()
    });
    let surface = Surface { handle: handle(1), format, kind: Kind::Texture as u8, ..Surface::default() };
    let mut framebuffer =
        FramebufferState { width: 4, height: 2, layers: 1, draw_buffers: [-1; 8], ..FramebufferState::default() };
    framebuffer.color[0] = surface;
    framebuffer.draw_buffers[0] = 0;
    context.set_framebuffer_state(&framebuffer);
    let color = [red.to_bits(), 0, 0, 1.0f32.to_bits()];
    context.clear(&Clear { buffers: aspect::COLOR, draw_buffer: -1, color, ..Clear::default() });
    context.present(&Present { surface, window: 1, ..Present::default() });
    let area = Box3 { x: 0, y: 0, z: 0, width: 4, height: 2, depth: 1 };
    let info = ReadbackInfo { surface, area, format, aspect: aspect::COLOR, ..ReadbackInfo::default() };
    context.read_pixels(&info, &mut [0; 32]).unwrap();
    context.flush(&Flush { flags: flush_flags::END_OF_FRAME, ..Flush::default() });
    drop(context);
    recorder.finish().unwrap();
    path
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mgl-trace-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn calls_and_frames_are_counted() {
    let folder = folder("stats");
    let recording = Recording::load(&record(&folder, "a", 1.0)).unwrap();
    let (sums, frames) = sums(recording.bytes()).unwrap();
    assert_eq!(frames, 2, "a present and a frame that ended without one");
    let of = |name: &str| sums.iter().find(|(known, _)| *known == name).map(|(_, sum)| (sum.calls, sum.bytes));
    assert_eq!(of("present"), Some((1, 8 + std::mem::size_of::<Present>() as u64)));
    assert_eq!(of("draw_vbo"), None);
    assert!(super::sums(&recording.bytes()[..recording.length - 8]).is_err(), "a recording that was cut off");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn recordings_differ_where_a_call_does() {
    let folder = folder("diff");
    let (a, b, c) = (record(&folder, "a", 1.0), record(&folder, "b", 1.0), record(&folder, "c", 0.5));
    assert!(matches!(diff(&a, &b).unwrap(), Outcome::Done));
    assert!(matches!(diff(&a, &c).unwrap(), Outcome::Failed));
    std::fs::write(folder.join("d"), "something else, of some length").unwrap();
    assert!(diff(&a, &folder.join("d")).unwrap_err().to_string().ends_with('d'), "the file is named");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_was_shown_and_read_becomes_pictures() {
    let folder = folder("replay");
    let args = |transport: &str| ReplayArgs {
        file: record(&folder, "a", 1.0),
        backend: Backend::Null,
        transport: Some(transport.parse().unwrap()),
        pictures: Some(folder.join(transport)),
        release: false,
    };
    for transport in ["monolith", "inproc"] {
        assert!(matches!(replay(args(transport)).unwrap(), Outcome::Done));
        let mut names: Vec<_> =
            std::fs::read_dir(folder.join(transport)).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        assert_eq!(names.len(), 2, "{names:?}");
        for (path, what) in names.iter().zip(["frame", "read"]) {
            assert!(path.to_str().unwrap().ends_with(&format!("-{what}.png")), "{path:?}");
            let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
            let mut reader = png::Decoder::new(file).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size()];
            let info = reader.next_frame(&mut pixels).unwrap();
            assert_eq!((info.width, info.height), (4, 2));
            assert_eq!(pixels, [255, 0, 0, 255].repeat(8));
        }
    }
    let espryt = ReplayArgs { backend: Backend::Espryt, ..args("monolith") };
    assert!(replay(espryt).unwrap_err().to_string().contains("--transport spawn"));
    std::fs::remove_dir_all(folder).unwrap();
}
