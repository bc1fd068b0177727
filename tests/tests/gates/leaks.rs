//! Contexts come and go without leaving anything behind.

use std::path::Path;
use std::process::{Command, Output};

use mgl_tests::driver::{mgl_folder, Driver};

/// Cycles of a context that is made, draws a frame with objects of all kinds, and is destroyed.
const CYCLES: &str = "200";

fn cycles(count: &str, case: &str, control: bool) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("leaks-{}-{case}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let driver = Driver::Mgl { backend: "magma".into(), transport: "monolith".into(), folder: mgl_folder() };
    driver.available().expect("the driver is built");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgl-bench-contexts"));
    driver.apply(&mut command, &folder).expect("the driver's variables");
    if control {
        command.env("MGL_TEST_CONTROL", "1");
    }
    let output = command.args(["--count", count]).output().expect("the program starts");
    let _ = std::fs::remove_dir_all(folder);
    output
}

#[test]
fn two_hundred_contexts_leave_no_file_no_thread_and_no_memory_behind() {
    let output = cycles(CYCLES, "real", false);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("resident memory gained"), "it measured nothing: {out}");
}

#[test]
fn contexts_that_are_kept_are_seen() {
    let output = cycles("40", "control", true);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("resident memory gained"), "it measured nothing: {out}");
    assert!(!output.status.success(), "forty contexts that live on were not seen: {out}");
}
