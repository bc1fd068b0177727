//! Pixels that are read into pack buffers and mapped two frames later: once that goes on, nothing waits for the server.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child;
use crate::driver::Driver;
use crate::transports::server;

const SIDE: i32 = 32;
const BYTES: isize = (SIDE * SIDE * 4) as isize;
/// Pack buffers in turn.
const RING: usize = 3;
const FRAMES: usize = 60;
/// The frame from which on every frame is like the one before: each buffer was read into twice.
const STEADY: usize = 3 * RING;

const COLOR_BUFFER_BIT: u32 = 0x4000;
const PIXEL_PACK_BUFFER: u32 = 0x88eb;
const STREAM_READ: u32 = 0x88e1;
const RGBA: u32 = 0x1908;
const RGBA8: u32 = 0x8058;
const UNSIGNED_BYTE: u32 = 0x1401;
const RENDERBUFFER: u32 = 0x8d41;
const FRAMEBUFFER: u32 = 0x8d40;
const COLOR_ATTACHMENT0: u32 = 0x8ce0;
const SYNC_GPU_COMMANDS_COMPLETE: u32 = 0x9117;
const TIMEOUT_EXPIRED: u32 = 0x911b;
const MAP_READ_BIT: u32 = 1;

fn color(frame: usize) -> [u8; 4] {
    [frame as u8 * 4, 255 - frame as u8, 51, 255]
}

/// Whether the program inserts fences of its own.
fn program(fences_of_its_own: bool) {
    let driver = Driver::load();
    let (display, surface, _) = driver.pbuffer(SIDE);
    // SAFETY: the types that GL and EGL give these functions, handles of this display, and memory of the sizes passed.
    unsafe {
        let generate: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenBuffers");
        let bind: unsafe extern "C" fn(u32, u32) = driver.gl("glBindBuffer");
        let data: unsafe extern "C" fn(u32, isize, *const u8, u32) = driver.gl("glBufferData");
        let generate_renderbuffers: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenRenderbuffers");
        let bind_renderbuffer: unsafe extern "C" fn(u32, u32) = driver.gl("glBindRenderbuffer");
        let storage: unsafe extern "C" fn(u32, u32, i32, i32) = driver.gl("glRenderbufferStorage");
        let generate_framebuffers: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenFramebuffers");
        let bind_framebuffer: unsafe extern "C" fn(u32, u32) = driver.gl("glBindFramebuffer");
        let attach: unsafe extern "C" fn(u32, u32, u32, u32) = driver.gl("glFramebufferRenderbuffer");
        let clear_color: unsafe extern "C" fn(f32, f32, f32, f32) = driver.gl("glClearColor");
        let clear: unsafe extern "C" fn(u32) = driver.gl("glClear");
        let read: unsafe extern "C" fn(i32, i32, i32, i32, u32, u32, usize) = driver.gl("glReadPixels");
        let fence: unsafe extern "C" fn(u32, u32) -> usize = driver.gl("glFenceSync");
        let wait: unsafe extern "C" fn(usize, u32, u64) -> u32 = driver.gl("glClientWaitSync");
        let delete: unsafe extern "C" fn(usize) = driver.gl("glDeleteSync");
        let map: unsafe extern "C" fn(u32, isize, isize, u32) -> *const u8 = driver.gl("glMapBufferRange");
        let unmap: unsafe extern "C" fn(u32) -> u8 = driver.gl("glUnmapBuffer");
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");

        let (mut buffers, mut fences) = ([0u32; RING], [0usize; RING]);
        generate(RING as i32, buffers.as_mut_ptr());
        for buffer in buffers {
            bind(PIXEL_PACK_BUFFER, buffer);
            data(PIXEL_PACK_BUFFER, BYTES, std::ptr::null(), STREAM_READ);
        }
        let (mut renderbuffer, mut framebuffer) = (0, 0);
        generate_renderbuffers(1, &mut renderbuffer);
        bind_renderbuffer(RENDERBUFFER, renderbuffer);
        storage(RENDERBUFFER, RGBA8, SIDE, SIDE);
        generate_framebuffers(1, &mut framebuffer);
        bind_framebuffer(FRAMEBUFFER, framebuffer);
        attach(FRAMEBUFFER, COLOR_ATTACHMENT0, RENDERBUFFER, renderbuffer);
        for frame in 0..FRAMES {
            let [red, green, blue, alpha] = color(frame).map(|channel| f32::from(channel) / 255.0);
            clear_color(red, green, blue, alpha);
            clear(COLOR_BUFFER_BIT);
            bind(PIXEL_PACK_BUFFER, buffers[frame % RING]);
            read(0, 0, SIDE, SIDE, RGBA, UNSIGNED_BYTE, 0);
            if fences_of_its_own {
                fences[frame % RING] = fence(SYNC_GPU_COMMANDS_COMPLETE, 0);
            }
            assert_eq!((driver.swap_buffers)(display, surface), 1);
            let Some(older) = frame.checked_sub(RING - 1) else { continue };
            if fences_of_its_own {
                let end = Instant::now() + Duration::from_secs(30);
                while wait(fences[older % RING], 0, 0) == TIMEOUT_EXPIRED {
                    assert!(Instant::now() < end, "frame {older} never ends");
                    std::thread::sleep(Duration::from_millis(2));
                }
                delete(fences[older % RING]);
            } else {
                // What is not there yet is waited for, which this is not about.
                std::thread::sleep(Duration::from_millis(10));
            }
            bind(PIXEL_PACK_BUFFER, buffers[older % RING]);
            let bytes = map(PIXEL_PACK_BUFFER, 0, BYTES, MAP_READ_BIT);
            assert!(!bytes.is_null(), "error {:#x}", error());
            let pixels = std::slice::from_raw_parts(bytes, BYTES as usize);
            assert!(pixels.chunks_exact(4).all(|pixel| pixel == color(older)), "frame {older}: {:?}", &pixels[..4]);
            assert_eq!(unmap(PIXEL_PACK_BUFFER), 1);
        }
        assert_eq!(error(), 0);
    }
}

#[test]
fn pixels_of_two_frames_ago_are_mapped_without_asking_the_server() {
    for case in ["fences", "none"] {
        if child::is(case) {
            return program(case == "fences");
        }
    }
    let test = "packs::pixels_of_two_frames_ago_are_mapped_without_asking_the_server";
    let server = server();
    let server = server.to_str().expect("a path in Unicode");
    let cases = [
        ("fences", "spawn", "auto"),
        ("fences", "inproc", "auto"),
        ("none", "spawn", "auto"),
        ("fences", "spawn", "t2"),
    ];
    for (case, transport, tier) in cases {
        let path: PathBuf = std::env::temp_dir().join(format!("mgl-abi-{}-packs.json", std::process::id()));
        let variables = [
            ("MGL_TRANSPORT", transport),
            ("MGL_BACKEND", "magma"),
            ("MGL_IPC_SERVER_PATH", server),
            ("MGL_IPC_MAP_TIER", tier),
            ("MGL_STATS", path.to_str().expect("a path in Unicode")),
        ];
        child::succeed(&child::run(test, case, &variables));
        let text = std::fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("a report is JSON");
        let trips = &report["total"]["round_trips"];
        let asked = trips["by_call"]["resource_readback"].as_u64().unwrap_or(0);
        let without = trips["frames_without"].as_u64().expect("a number");
        if case == "none" {
            // On a machine with other work, a frame may not be through after two more.
            assert!(asked < FRAMES as u64 / 2, "{transport}: {trips}");
        } else if tier == "auto" {
            assert_eq!(asked, RING as u64, "{transport}: each buffer is asked for once, {trips}");
            assert!(without >= (FRAMES - STEADY) as u64, "{transport}: {trips}");
        } else {
            // The control: without shared memory every frame asks.
            assert_eq!(asked, (FRAMES - RING + 1) as u64, "{trips}");
        }
        for path in [path.clone(), PathBuf::from(format!("{}.server", path.display()))] {
            let _ = std::fs::remove_file(path);
        }
    }
}
