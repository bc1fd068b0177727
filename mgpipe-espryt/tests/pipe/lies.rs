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
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().expect("this test's own program"))
        .args([&format!("lies::{test}"), "--exact", "--nocapture"])
        .env(CHILD, "1")
        .env(LIE, lie)
        .env("MGL_ESPRYT_EGL", liar())
        .output()
        .expect("it starts");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{lie}:\n{text}");
    false
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
