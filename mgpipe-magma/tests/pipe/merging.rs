//! Draws that share a command: nothing that comes between them may be lost, and no shader may see that they share it.

use crate::rig::{Rig, SIZE};
use mgpipe_types::reflection::Reflection;
use mgpipe_types::*;

/// A column of the target for each four vertices.
const STRIP: &[u8] = include_bytes!("../shaders/strip.vert.spv");
/// Likewise, with `gl_DrawID` in the green channel.
const STRIP_ID: &[u8] = include_bytes!("../shaders/strip_id.vert.spv");

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

fn range(column: u32) -> DrawRange {
    DrawRange { start: column * 4, count: 4, index_bias: 0 }
}

fn draw(rig: &mut Rig, ranges: &[DrawRange]) {
    let info = DrawInfo {
        mode: gl::TRIANGLE_STRIP,
        instance_count: 1,
        range_count: ranges.len() as u32,
        ..DrawInfo::default()
    };
    rig.context.draw_vbo(&info, ranges, &[], HostBytes::None);
}

fn row(rig: &mut Rig) -> Vec<[u8; 4]> {
    rig.read()[..SIZE as usize].to_vec()
}

#[test]
fn what_comes_between_merged_draws_happens_between_them() {
    let mut rig = Rig::new();
    let shader = rig.program(STRIP, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    rig.constants(shader, [0.0; 4], RED);
    rig.clear([0.0; 4]);
    (0..4).for_each(|column| draw(&mut rig, &[range(column)]));
    // A clear within the pass takes what was drawn before it, and nothing after it.
    rig.clear([0.0, 1.0, 0.0, 1.0]);
    (2..6).for_each(|column| draw(&mut rig, &[range(column)]));
    rig.constants(shader, [0.0; 4], BLUE);
    (5..8).for_each(|column| draw(&mut rig, &[range(column)]));
    // State that cannot have an effect, then state that can: a scissor that rejects everything.
    rig.state.depth_func = gl::GREATER;
    rig.state.line_width = 3.0;
    rig.apply();
    draw(&mut rig, &[range(8)]);
    rig.state.scissor_test_mask = 1;
    rig.state.scissor_written_mask = 1;
    rig.apply();
    draw(&mut rig, &[range(9)]);
    rig.state.scissor_test_mask = 0;
    rig.apply();
    draw(&mut rig, &[range(10)]);
    let (red, green, blue) = ([255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]);
    let mut expected = vec![green; SIZE as usize];
    expected[2..5].fill(red);
    expected[5..9].fill(blue);
    expected[10] = blue;
    assert_eq!(row(&mut rig), expected);
    rig.assert_quiet();
}

#[test]
fn more_draws_than_a_group_holds_are_all_drawn() {
    let mut rig = Rig::new();
    let shader = rig.program(STRIP, false);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    // Each draw adds one to its column: 100 draws a column, then 50 in one call, which the first two columns get one more of.
    rig.constants(shader, [0.0; 4], [1.0 / 255.0, 0.0, 0.0, 0.0]);
    rig.state.blend[0].enabled = 1;
    rig.state.blend[0].dst_rgb = gl::ONE;
    rig.apply();
    rig.clear([0.0; 4]);
    for column in (0..1600u32).map(|index| index % 16) {
        draw(&mut rig, &[range(column)]);
    }
    let many: Vec<_> = (0..50).map(|index| range(index % 16)).collect();
    draw(&mut rig, &many);
    let expected: Vec<_> = (0..16u8).map(|column| [103 + u8::from(column < 2), 0, 0, 0]).collect();
    assert_eq!(row(&mut rig), expected);
    rig.assert_quiet();
}

#[test]
fn a_shader_that_reads_its_draw_id_sees_its_own_calls_alone() {
    let mut rig = Rig::new();
    let shader = ShaderCso(rig.handle());
    let (mut desc, mut code) = crate::rig::program(shader, STRIP_ID, false);
    let start = desc.reflection.offset as usize;
    let mut reflection = Reflection::from_bytes(&code[start..]).expect("the rig's own archive");
    if let Some(vertex) = &mut reflection.vertex {
        vertex.uses_draw_parameters = true;
    }
    code.truncate(start);
    code.extend(reflection.to_bytes());
    desc.reflection.size = (code.len() - start) as u64;
    rig.context.create_shader(&desc, &code);
    rig.context.set_draw_program(&HandleOnly::new(shader));
    rig.constants(shader, [0.0; 4], RED);
    rig.clear([0.0; 4]);
    (0..4).for_each(|column| draw(&mut rig, &[range(column)]));
    let ranges: Vec<_> = (4..8).map(range).collect();
    draw(&mut rig, &ranges);
    let greens: Vec<_> = row(&mut rig)[..8].iter().map(|texel| texel[1]).collect();
    assert_eq!(greens, [0, 0, 0, 0, 0, 1, 2, 3]);
    rig.assert_quiet();
}
