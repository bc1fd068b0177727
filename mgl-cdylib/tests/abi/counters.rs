//! `MGL_STATS` and `MGL_HUD` as a program meets them, on every transport.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child;
use crate::driver::Driver;
use crate::transports::server;

const COLOR_BUFFER_BIT: u32 = 0x4000;
const SCISSOR_TEST: u32 = 0x0c11;
const SCISSOR_BOX: u32 = 0x0c10;
const COLOR_WRITEMASK: u32 = 0x0c23;
const READ_FRAMEBUFFER: u32 = 0x8ca8;
const DRAW_FRAMEBUFFER_BINDING: u32 = 0x8ca6;
const ANY_SAMPLES_PASSED: u32 = 0x8c2f;
const QUERY_RESULT: u32 = 0x8866;
const TEXTURE_2D: u32 = 0x0de1;
const TEXTURE_BINDING_2D: u32 = 0x8069;

const SIDE: i32 = 200;
const FRAMES: usize = 6;
/// The colour that frames are cleared to.
const CLEARED: [u8; 4] = [51, 102, 153, 255];

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("mgl-abi-{}-{name}", std::process::id()))
}

/// Runs this test's child on a transport.
fn run(test: &str, case: &str, backend: &str, transport: &str, more: &[(&str, &str)]) -> String {
    let server = server();
    let server = server.to_str().expect("a path in Unicode");
    let mut env = vec![("MGL_TRANSPORT", transport), ("MGL_BACKEND", backend), ("MGL_IPC_SERVER_PATH", server)];
    env.extend(more);
    child::succeed(&child::run(test, case, &env))
}

fn report(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("a report is JSON")
}

#[test]
fn a_report_of_each_role_is_there_at_the_end() {
    let test = "counters::a_report_of_each_role_is_there_at_the_end";
    if child::is("frames") {
        let driver = Driver::load();
        let (display, surface, _) = driver.pbuffer(SIDE);
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            let clear: unsafe extern "C" fn(u32) = driver.gl("glClear");
            let read: unsafe extern "C" fn(i32, i32, i32, i32, u32, u32, *mut u8) = driver.gl("glReadPixels");
            for _ in 0..FRAMES {
                clear(COLOR_BUFFER_BIT);
                assert_eq!((driver.swap_buffers)(display, surface), 1);
            }
            read(0, 0, 1, 1, 0x1908, 0x1401, [0u8; 4].as_mut_ptr());
        }
        return;
    }
    for transport in ["monolith", "inproc", "spawn"] {
        let path = file(&format!("{transport}.json"));
        run(test, "frames", "null", transport, &[("MGL_STATS", path.to_str().expect("a path in Unicode"))]);
        let client = report(&path);
        assert_eq!((&client["role"], &client["transport"]), (&"client".into(), &transport.into()));
        assert_eq!((&client["ended"], &client["total"]["frames"]), (&true.into(), &(FRAMES as u64).into()));
        let calls = &client["total"]["calls"];
        assert_eq!(calls["clear"]["calls"], FRAMES as u64);
        assert_eq!(client["total"]["sections"]["tracker"]["verbs"]["clear"], FRAMES as u64);
        let split = transport != "monolith";
        let trips = &client["total"]["round_trips"];
        assert_eq!(trips["by_call"]["read_pixels"].as_u64().unwrap_or(0), u64::from(split), "{trips}");
        // Opening is part of the first frame.
        assert!(trips["frames_without"].as_u64().unwrap_or(0) >= FRAMES as u64 - 1, "{trips}");
        std::fs::remove_file(&path).expect("it was there");
        let server = PathBuf::from(format!("{}.server", path.display()));
        assert_eq!(server.is_file(), split, "{transport}");
        if split {
            let applied = report(&server);
            assert_eq!((&applied["role"], &applied["ended"]), (&"server".into(), &true.into()));
            for name in ["clear", "flush", "read_pixels", "set_framebuffer_state"] {
                assert_eq!(applied["total"]["calls"][name], calls[name], "{name}");
            }
            std::fs::remove_file(&server).expect("it was there");
        }
    }
}

#[test]
fn lines_of_each_role_reach_standard_error() {
    let test = "counters::a_report_of_each_role_is_there_at_the_end";
    let text =
        run(test, "frames", "null", "spawn", &[("MGL_STATS", "1"), ("MGL_STATS_WINDOW", "3"), ("MGL_LOG", "off")]);
    let client = text.lines().filter(|line| line.starts_with("mgl: info: stats: client: 3 frames")).count();
    let server = text.lines().filter(|line| line.starts_with("mgl-server: info: stats: server: 3 frames")).count();
    assert_eq!((client, server), (2, 2), "{text}");
    assert!(text.contains("stats: client at its end: 6 frames"), "{text}");
}

/// The frame after each swap, and whether the application's state and query are as it left them.
fn hud_program(driver: &Driver) -> Vec<u8> {
    let (display, surface, _) = driver.pbuffer(SIDE);
    // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
    unsafe {
        let enable: unsafe extern "C" fn(u32) = driver.gl("glEnable");
        let scissor: unsafe extern "C" fn(i32, i32, i32, i32) = driver.gl("glScissor");
        let mask: unsafe extern "C" fn(u8, u8, u8, u8) = driver.gl("glColorMask");
        let color: unsafe extern "C" fn(f32, f32, f32, f32) = driver.gl("glClearColor");
        let clear: unsafe extern "C" fn(u32) = driver.gl("glClear");
        let read: unsafe extern "C" fn(i32, i32, i32, i32, u32, u32, *mut u8) = driver.gl("glReadPixels");
        let integers: unsafe extern "C" fn(u32, *mut i32) = driver.gl("glGetIntegerv");
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        let generate: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenQueries");
        let begin: unsafe extern "C" fn(u32, u32) = driver.gl("glBeginQuery");
        let end: unsafe extern "C" fn(u32) = driver.gl("glEndQuery");
        let result: unsafe extern "C" fn(u32, u32, *mut u32) = driver.gl("glGetQueryObjectuiv");
        let textures: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenTextures");
        let bind: unsafe extern "C" fn(u32, u32) = driver.gl("glBindTexture");
        let framebuffers: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenFramebuffers");
        let bind_framebuffer: unsafe extern "C" fn(u32, u32) = driver.gl("glBindFramebuffer");

        let mut names = [0u32; 3];
        let [query, texture, framebuffer] = &mut names;
        generate(1, query);
        textures(1, texture);
        bind(TEXTURE_2D, *texture);
        framebuffers(1, framebuffer);
        let [red, green, blue, alpha] = CLEARED.map(|byte| f32::from(byte) / 255.0);
        color(red, green, blue, alpha);
        clear(COLOR_BUFFER_BIT);
        // A framebuffer that is not complete, a scissor box that leaves nothing, no colour, and a query that counts.
        bind_framebuffer(0x8ca9, *framebuffer);
        enable(SCISSOR_TEST);
        scissor(1, 2, 0, 0);
        mask(0, 0, 0, 0);
        begin(ANY_SAMPLES_PASSED, *query);
        for _ in 0..FRAMES {
            assert_eq!((driver.swap_buffers)(display, surface), 1);
        }
        end(ANY_SAMPLES_PASSED);
        let get = |name| {
            let mut values = [0i32; 4];
            integers(name, values.as_mut_ptr());
            values
        };
        assert_eq!((get(SCISSOR_BOX), get(COLOR_WRITEMASK)), ([1, 2, 0, 0], [0; 4]));
        assert_eq!(
            (get(TEXTURE_BINDING_2D)[0], get(DRAW_FRAMEBUFFER_BINDING)[0]),
            (*texture as i32, *framebuffer as i32)
        );
        let mut passed = 7;
        result(*query, QUERY_RESULT, &mut passed);
        assert_eq!(passed, 0, "a frame's text is no sample of the application");
        // Names that GL hands out next are those that it would have handed out anyway.
        let mut next = 0;
        textures(1, &mut next);
        assert_eq!(next, *texture + 1);
        assert_eq!(error(), 0);
        bind_framebuffer(READ_FRAMEBUFFER, 0);
        let mut pixels = vec![0u8; (SIDE * SIDE * 4) as usize];
        read(0, 0, SIDE, SIDE, 0x1908, 0x1401, pixels.as_mut_ptr());
        // What is drawn next is drawn as if nothing had been: the state that counts is still the application's.
        bind_framebuffer(0x8ca9, 0);
        clear(COLOR_BUFFER_BIT);
        let mut again = pixels.clone();
        read(0, 0, SIDE, SIDE, 0x1908, 0x1401, again.as_mut_ptr());
        assert!(pixels == again, "the scissor box and the colour mask let something through");
        mask(1, 1, 1, 1);
        scissor(0, 0, SIDE, SIDE);
        clear(COLOR_BUFFER_BIT);
        read(0, 0, SIDE, SIDE, 0x1908, 0x1401, again.as_mut_ptr());
        assert!(again.chunks_exact(4).all(|pixel| pixel == CLEARED), "the application's own clear covers everything");
        assert_eq!(error(), 0);
        pixels
    }
}

/// Left and lower ends of the text's panel, and its right and upper ones, in pixels from below.
fn panel_of(pixels: &[u8]) -> Option<[usize; 4]> {
    let side = SIDE as usize;
    let other = (0..side * side).filter(|at| pixels[at * 4..at * 4 + 4] != CLEARED).map(|at| (at % side, at / side));
    other.fold(None, |panel: Option<[usize; 4]>, (x, y)| {
        let [left, low, right, high] = panel.unwrap_or([x, y, x, y]);
        Some([left.min(x), low.min(y), right.max(x), high.max(y)])
    })
}

#[test]
fn text_over_frames_touches_nothing_of_the_application() {
    let test = "counters::text_over_frames_touches_nothing_of_the_application";
    if child::is("hud") {
        let pixels = hud_program(&Driver::load());
        let path = std::env::var("ABI_TEST_PICTURE").expect("the parent names a file");
        std::fs::write(path, pixels).expect("the picture is kept");
        return;
    }
    for transport in ["monolith", "inproc", "spawn"] {
        let path = file(&format!("{transport}.rgba"));
        let name = path.to_str().expect("a path in Unicode");
        let picture = |hud| {
            run(test, "hud", "magma", transport, &[("MGL_HUD", hud), ("ABI_TEST_PICTURE", name)]);
            std::fs::read(&path).expect("the child kept it")
        };
        // Without the text the frame is what the application made it.
        assert_eq!(panel_of(&picture("off")), None);
        let pixels = picture("1");
        let [left, low, right, high] = panel_of(&pixels).expect("there is a text");
        // Four pixels from the corner, 24 letters of 6 pixels between margins of 4, a line of 9 for each figure.
        let lines = if transport == "monolith" { 5 } else { 7 };
        let top = SIDE as usize - 4;
        assert_eq!([left, low, right, high], [4, top - lines * 9 - 8, 4 + 24 * 6 + 8 - 1, top - 1], "{transport}");
        let ink = pixels.chunks_exact(4).filter(|pixel| pixel[0] > 200 && pixel[2] < 120).count();
        assert!((300..3000).contains(&ink), "{transport}: {ink} dots of letters");
        if std::env::var_os("ABI_TEST_KEEP").is_none() {
            std::fs::remove_file(&path).expect("it was there");
        }
    }
}
