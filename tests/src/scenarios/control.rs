//! Scenarios of the harness and the gates: wrong on purpose, so that the harness can show that it notices, or recorded.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS, TEXTURE_FS};

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
    Scenario::new("control_stream", stream).control(),
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

/// What the gates record: every kind of call that an ordinary frame makes, few of each, so that the recording can be read.
unsafe fn stream(t: &Scene) {
    t.target(32, 32);
    let textured = t.program(FULL_VS, TEXTURE_FS);
    let plain = t.program(POSITION_VS, COLOR_FS);
    t.texture(2, 2, &[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]]);
    let array = t.positions(&[[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]]);
    let elements = t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2, 2, 1, 3]);
    t.use_program(Some(textured));
    t.fill();
    t.use_program(Some(plain));
    t.blend_func(gl::SRC_ALPHA, gl::ONE_MINUS_SRC_ALPHA);
    // The state comes back to what it was, so that objects found by content are fewer than objects made anew each time.
    for i in 0..4u8 {
        t.enable(gl::BLEND);
        t.viewport(i32::from(i) * 8, 0, 8, 32);
        t.set_vec4(plain, "color", [1.0, f32::from(i) * 0.25, 0.0, 0.5]);
        t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_SHORT, 0);
        t.disable(gl::BLEND);
        t.viewport(i32::from(i) * 8, 24, 8, 8);
        t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
    }
    t.compare("picture", &t.read(32, 32), Tolerance::EXACT);
    t.bind_vertex_array(None);
    t.delete_vertex_array(array);
    t.delete_buffer(elements);
}
