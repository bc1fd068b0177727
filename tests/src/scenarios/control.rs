//! Negative controls: scenarios that are wrong on purpose, so that the harness can show that it notices.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("control_wrong_pixel", wrong_pixel).control(),
    Scenario::new("control_error_left_over", error_left_over).control(),
    Scenario::new("control_different_picture", different_picture).control(),
    Scenario::new("control_different_values", different_values).control(),
    Scenario::new("control_panic", panics).control(),
    Scenario::new("control_crash", crashes).control(),
    Scenario::new("control_hang", hangs).control(),
    Scenario::new("control_validation", validation).control(),
    Scenario::new("control_right", right).control(),
];

/// Whether this run is the deviating one of a pair.
fn deviates() -> bool {
    std::env::var_os("MGL_TEST_CONTROL").is_some()
}

unsafe fn wrong_pixel(t: &Scene) {
    t.target(8, 8);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.pixel(&t.read(8, 8), 3, 3, [0, 255, 0, 255], 1, "a red clear is not green");
}

unsafe fn error_left_over(t: &Scene) {
    t.enable(gl::TEXTURE_WRAP_S);
}

unsafe fn different_picture(t: &Scene) {
    t.target(32, 32);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    if deviates() {
        t.enable(gl::SCISSOR_TEST);
        t.scissor(4, 4, 6, 6);
        t.clear_color(1.0, 1.0, 0.0, 1.0);
        t.clear(gl::COLOR_BUFFER_BIT);
    }
    t.compare("picture", &t.read(32, 32), Tolerance::EDGES);
}

unsafe fn different_values(t: &Scene) {
    t.compare_values("values", &[1.0, if deviates() { 2.5 } else { 2.0 }], 0.25);
}

unsafe fn panics(t: &Scene) {
    t.program("void main() { this is not GLSL }", "void main() {}");
}

unsafe fn crashes(_: &Scene) {
    std::process::abort();
}

unsafe fn hangs(_: &Scene) {
    loop {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

unsafe fn validation(_: &Scene) {
    use std::io::Write as _;
    let path = std::env::var_os("MGL_VALIDATION_LOG").expect("the harness names the validation log");
    let mut log = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the log opens");
    writeln!(log, "VUID-control: a message as the Vulkan validation layer would give it")
        .expect("the log takes a line");
}

unsafe fn right(t: &Scene) {
    t.target(8, 8);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let picture = t.read(8, 8);
    t.pixel(&picture, 3, 3, [0, 255, 0, 255], 1, "a green clear");
    t.compare("picture", &picture, Tolerance::EXACT);
}
