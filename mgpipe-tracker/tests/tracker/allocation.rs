//! No steady path allocates.

use crate::{handle, Rig};
use mgpipe_handles::HandleSpace;
use mgpipe_tracker::sinks::NullPipe;
use mgpipe_tracker::{Counter, Tracker, TrackerOptions, VerbClass};
use mgpipe_types::gl;
use mgpipe_types::render_state::Viewport;
use std::sync::Arc;

/// Allocations of `steps` runs of `step`, each followed by a draw, after as many runs to warm up.
fn allocations(step: fn(&mut Rig, u32)) -> u64 {
    let mut rig = Rig::new(TrackerOptions::default());
    let mut pipe = NullPipe::default();
    rig.tracker = Tracker::new(Arc::new(HandleSpace::new()), TrackerOptions::default());
    rig.source.upload_calls.reserve(100_000);
    let mut run = |steps: u32| {
        for i in 0..steps {
            step(&mut rig, i);
            rig.tracker.validate(VerbClass::Draw, &mut rig.source, &mut pipe);
        }
    };
    run(300);
    allocation_counter::measure(|| run(300)).count_total
}

#[test]
fn steady_paths_do_not_allocate() {
    assert_eq!(allocations(|_, _| {}), 0, "nothing moves");
    assert_eq!(
        allocations(|r, i| {
            r.source.render_state.set_capability(gl::BLEND, i % 2 == 0);
        }),
        0,
        "toggle"
    );
    assert_eq!(
        allocations(|r, i| r.source.render_state.set_viewports(Viewport { x: i as f32, ..Viewport::default() })),
        0,
        "viewport"
    );
    assert_eq!(
        allocations(|r, i| {
            r.source.textures[0][0].view.texture = handle(1 + i % 3, 1);
            r.source.bump(Counter::TextureUnits);
        }),
        0,
        "textures"
    );
    assert_eq!(
        allocations(|r, i| {
            r.source.programs[0].shader.0 = handle(1 + i % 3, 1);
            r.source.programs[0].constants_version += 1;
            r.source.bump(Counter::DrawProgram);
            r.source.bump(Counter::DefaultBlock);
        }),
        0,
        "programs and constants"
    );
    assert_eq!(
        allocations(|r, i| {
            r.source.vertex_buffers = std::mem::take(&mut r.source.vertex_buffers);
            r.source.index_buffer.offset = u64::from(i);
            for counter in Counter::ALL {
                r.source.bump(counter);
            }
        }),
        0,
        "every counter"
    );
}

#[test]
fn the_counter_sees_an_allocation() {
    assert_ne!(allocations(|r, i| r.source.default_blocks[0] = vec![i as u8; 64]), 0);
}
