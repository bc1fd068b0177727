//! What a draw leaves in the target: rows, windings, masks, point sizes.

use crate::rig::{Rig, POINT, SIZE};
use mgpipe_types::{gl, HandleOnly};

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

#[test]
fn clip_y_of_minus_one_is_row_zero() {
    let mut rig = Rig::new();
    let shader = rig.program(POINT, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    rig.clear([0.0; 4]);
    rig.constants(shader, [-1.0, -1.0, 1.0, 0.0], RED);
    rig.draw_rect();
    assert_eq!(rig.pixel(8, 0), [255, 0, 0, 255]);
    assert_eq!(rig.pixel(8, SIZE / 2 - 1), [255, 0, 0, 255]);
    assert_eq!(rig.pixel(8, SIZE / 2), [0; 4]);
    rig.assert_quiet();
}

#[test]
fn a_counter_clockwise_triangle_is_front_facing_under_both_clip_origins() {
    let mut rig = Rig::new();
    let shader = rig.program(POINT, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    for origin in [gl::LOWER_LEFT, gl::UPPER_LEFT] {
        // The strip's first triangle runs (left, low), (right, low), (left, high): counter-clockwise in GL's clip space.
        for (culled, visible) in [(gl::BACK, true), (gl::FRONT, false)] {
            rig.state.clip_origin = origin;
            rig.state.cull_face = 1;
            rig.state.cull_face_mode = culled;
            rig.apply();
            rig.clear([0.0; 4]);
            rig.constants(shader, [-1.0, -1.0, 1.0, 1.0], RED);
            rig.draw_rect();
            let covered = rig.read().iter().filter(|p| **p == [255, 0, 0, 255]).count();
            let expected = if visible { (SIZE * SIZE) as usize } else { 0 };
            assert_eq!(covered, expected, "origin {origin:#x}, culled {culled:#x}");
        }
    }
    rig.assert_quiet();
}

#[test]
fn an_upper_left_origin_mirrors_rows() {
    let mut rig = Rig::new();
    let shader = rig.program(POINT, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    rig.state.clip_origin = gl::UPPER_LEFT;
    rig.apply();
    rig.clear([0.0; 4]);
    rig.constants(shader, [-1.0, -1.0, 1.0, 0.0], RED);
    rig.draw_rect();
    assert_eq!(rig.pixel(8, 0), [0; 4]);
    assert_eq!(rig.pixel(8, SIZE - 1), [255, 0, 0, 255]);
}

#[test]
fn points_have_the_size_of_the_state() {
    let mut rig = Rig::new();
    let shader = rig.program(POINT, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    for size in [1.0, 6.0, 4.0] {
        rig.state.point_size = size;
        rig.apply();
        rig.clear([0.0; 4]);
        rig.constants(shader, [0.0, 0.0, 0.0, 0.0], RED);
        crate::rig::draw(&mut *rig.context, gl::POINTS, 1);
        let covered = rig.read().iter().filter(|p| **p == [255, 0, 0, 255]).count();
        assert_eq!(covered, (size * size) as usize);
    }
    rig.assert_quiet();
}

#[test]
fn a_masked_clear_keeps_what_the_mask_protects() {
    let mut rig = Rig::new();
    rig.clear([0.0, 0.0, 1.0, 1.0]);
    rig.state.color_masks[0] = [1, 0, 0, 0];
    rig.apply();
    rig.clear([1.0, 1.0, 0.0, 0.0]);
    assert_eq!(rig.pixel(3, 3), [255, 0, 255, 255]);
    rig.assert_quiet();
}

#[test]
fn a_line_loop_closes() {
    let mut rig = Rig::new();
    let shader = rig.program(POINT, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    rig.clear([0.0; 4]);
    // Three vertices: (-, -), (+, -), (-, +). The third side, left, exists in a loop alone.
    rig.constants(shader, [-0.45, -0.45, 0.45, 0.45], RED);
    crate::rig::draw(&mut *rig.context, gl::LINE_LOOP, 3);
    let loops = rig.read();
    let left = (5..11).filter(|y| loops[(y * SIZE + 4) as usize] == [255, 0, 0, 255]).count();
    assert!(left >= 5, "{left} of the left side");
    rig.assert_quiet();
}
