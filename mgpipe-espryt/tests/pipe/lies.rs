//! Drivers that promise what they do not have, fail, or lose their context: a line that names it, an honest error, no crash. Each
//! lie is told to a process of its own, by a library that stands before Mesa's (`tests/liar`).

use crate::{scene, watch};
use mgpipe_types::*;
use std::path::PathBuf;
use std::process::Command;

const CHILD: &str = "MGL_TEST_ESPRYT_CHILD";
const LIE: &str = "MGL_TEST_ESPRYT_LIE";

/// The library, which cargo builds with the examples beside the tests.
fn liar() -> PathBuf {
    let exe = std::env::current_exe().expect("this test's own program");
    let folder = exe.parent().and_then(|deps| deps.parent()).expect("the build folder").join("examples");
    let library = folder.join("libmgpipe_espryt_liar.so");
    assert!(library.exists(), "{}: `cargo build -p mgpipe-espryt --examples` makes it", library.display());
    library
}

/// Runs a test of this module in a process whose driver tells a lie. True in that process: the rest of the test is for it.
fn is_lied_to(test: &str, lie: &str) -> bool {
    said_under(test, lie).is_none()
}

/// What such a process said; `None` in it.
fn said_under(test: &str, lie: &str) -> Option<String> {
    if std::env::var_os(CHILD).is_some() {
        let _ = log::set_logger(&Aloud).map(|()| log::set_max_level(log::LevelFilter::Warn));
        return None;
    }
    let output = Command::new(std::env::current_exe().expect("this test's own program"))
        .args([&format!("lies::{test}"), "--exact", "--nocapture"])
        .env(CHILD, "1")
        .env(LIE, lie)
        .env("MGL_ESPRYT_EGL", liar())
        // What the truthful driver has shown counts for nothing here.
        .env("MGL_SHADER_CACHE", "off")
        .output()
        .expect("it starts");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{lie}:\n{text}");
    Some(text)
}

/// Log lines on standard error.
struct Aloud;

impl log::Log for Aloud {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        eprintln!("{}", record.args());
    }
    fn flush(&self) {}
}

/// Runs a test whose driver renders something wrong without an error: a line names the promise, the picture is right, and what
/// is offered fits `check`.
fn is_caught(test: &str, lie: &str, promise: &str, check: impl Fn(&CapsReply) -> bool) {
    match said_under(test, lie) {
        Some(text) => {
            let line = format!("the driver promises {promise}, and it does not work; it is treated as missing");
            assert!(text.contains(&line), "{lie}:\n{text}");
            assert_eq!(text.matches("it does not work").count(), 1, "{lie}:\n{text}");
        }
        None => {
            let (screen, listener) = watch::open();
            watch::assert_is_the_scene(&scene::draw(&*screen).expect("drawn"));
            listener.assert_silent();
            assert!(check(&screen.get_caps()), "{lie}");
        }
    }
}

/// Whether a format can be an attachment.
fn is_attachment(caps: &CapsReply, format: Format) -> bool {
    caps.formats[format.0 as usize] & format_caps::COLOR_ATTACHMENT != 0
}

/// Tests of drivers that render wrong, by name: the lie, the promise, what is offered then.
macro_rules! caught {
    ($($test:ident: $lie:literal $promise:literal $check:expr;)*) => {
        $(#[test]
        fn $test() {
            is_caught(stringify!($test), $lie, $promise, $check);
        })*
    };
}

fn lacks(feature: u64) -> impl Fn(&CapsReply) -> bool {
    move |caps| caps.caps.features & feature == 0
}

fn anything(_: &CapsReply) -> bool {
    true
}

caught! {
    a_border_that_is_an_edge: "border" "texture_border_clamp" lacks(features::CUSTOM_BORDER_COLOR);
    sixteen_bits_that_are_eight: "norm16" "EXT_texture_norm16" |caps| caps.formats[Format::R16_UNORM.0 as usize] == 0;
    a_conversion_that_is_always_on: "srgb" "EXT_sRGB_write_control" anything;
    a_framebuffer_that_is_not_fetched: "fetch" "EXT_shader_framebuffer_fetch" lacks(features::LOGIC_OP);
    a_second_colour_that_is_one: "dual" "EXT_blend_func_extended" lacks(features::DUAL_SOURCE_BLEND);
    distances_that_do_not_clip: "clip" "EXT_clip_cull_distance" lacks(features::CLIP_DISTANCE);
    depth_that_is_not_clamped: "clamp" "EXT_depth_clamp" lacks(features::DEPTH_CLAMP);
    buffer_textures_of_nothing: "texels" "texture_buffer" |caps| caps.caps.max_texel_buffer_elements == 0;
    draw_buffers_that_are_masked_alike: "indexed" "draw_buffers_indexed" lacks(features::INDEPENDENT_BLEND);
    indices_that_count_from_the_start: "base" "draw_elements_base_vertex" anything;
    instances_that_count_from_the_start: "instance" "EXT_base_instance" anything;
    the_first_of_several_draws: "multi" "EXT_multi_draw_arrays" anything;
    the_first_of_several_records: "indirect" "EXT_multi_draw_indirect" anything;
    depth_that_cannot_be_read: "depth" "NV_read_depth" anything;
    stencil_that_cannot_be_read: "stencil" "NV_read_stencil" anything;
    floats_that_are_bytes: "float" "EXT_color_buffer_float" |caps| !is_attachment(caps, Format::RGBA32_FLOAT);
    views_in_the_same_format: "view" "texture_view" anything;
    mipmaps_of_all_levels: "mipmaps" "mipmaps of a part of the levels" anything;
}

fn draws_all_the_same() {
    let (screen, listener) = watch::open();
    let texels = scene::draw(&*screen).expect("drawn");
    watch::assert_is_the_scene(&texels);
    listener.assert_silent();
}

#[test]
fn a_function_that_is_not_there_is_not_called() {
    if is_lied_to("a_function_that_is_not_there_is_not_called", "missing=glBufferStorageEXT") {
        draws_all_the_same();
        let (screen, _) = watch::open();
        assert_eq!(screen.get_caps().caps.features & features::PERSISTENT_MAP, 0);
    }
}

#[test]
fn storage_that_cannot_be_mapped_is_not_offered() {
    if is_lied_to("storage_that_cannot_be_mapped_is_not_offered", "mapping") {
        draws_all_the_same();
        let (screen, _) = watch::open();
        assert_eq!(screen.get_caps().caps.features & features::PERSISTENT_MAP, 0);
    }
}

#[test]
fn copies_that_copy_nothing_are_not_used() {
    if is_lied_to("copies_that_copy_nothing_are_not_used", "copy") {
        draws_all_the_same();
    }
}

#[test]
fn a_program_that_does_not_link_draws_nothing_and_is_named() {
    if is_lied_to("a_program_that_does_not_link_draws_nothing_and_is_named", "link") {
        let (screen, listener) = watch::open();
        let texels = scene::draw(&*screen).expect("read");
        assert!(texels.chunks_exact(4).all(|texel| texel == [26, 26, 38, 255]), "the clear alone");
        listener.assert_said("does not link a program");
    }
}

#[test]
fn memory_that_is_not_there_is_an_error_of_the_application() {
    if is_lied_to("memory_that_is_not_there_is_an_error_of_the_application", "memory") {
        let (screen, listener) = watch::open();
        assert!(scene::draw(&*screen).is_err(), "there is nothing to read");
        listener.assert_said(&format!("{:#x}", gl::OUT_OF_MEMORY));
    }
}

#[test]
fn a_context_that_was_reset_is_a_lost_device() {
    if is_lied_to("a_context_that_was_reset_is_a_lost_device", "reset") {
        let (screen, listener) = watch::open();
        // The picture was read before anybody asked the driver.
        watch::assert_is_the_scene(&scene::draw(&*screen).expect("drawn"));
        listener.assert_said("reset its context");
        assert!(screen.device_lost().is_some());
        let refused = screen.create_context(ContextHandle(Handle { slot: 9, gen: 1 }));
        assert!(matches!(refused.err(), Some(PipeError::DeviceLost(_))));
    }
}

#[test]
fn a_context_that_cannot_be_bound_is_a_lost_device() {
    if is_lied_to("a_context_that_cannot_be_bound_is_a_lost_device", "lost") {
        let (screen, listener) = watch::open();
        watch::assert_is_the_scene(&scene::draw(&*screen).expect("drawn"));
        let mut context = screen.create_context(ContextHandle(Handle { slot: 9, gen: 1 })).expect("a context");
        context.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
        listener.assert_said("EGL_CONTEXT_LOST");
        assert!(screen.device_lost().is_some());
        let info = ReadbackInfo { area: Box3::sized(1, 1, 1), ..ReadbackInfo::default() };
        assert!(matches!(context.read_pixels(&info, &mut [0; 4]), Err(PipeError::DeviceLost(_))));
    }
}
