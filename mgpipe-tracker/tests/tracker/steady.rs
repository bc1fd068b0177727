//! What is emitted, when, and in which order.

use crate::{count, handle, opcodes, view, Rig};
use mgpipe_tracker::{Counter, Group, GroupMask, TrackerOptions, VerbClass};
use mgpipe_types::render_state::Viewport;
use mgpipe_types::{gl, BoundView, FramebufferState, Handle, Opcode, ResourceDesc, SetHeader, TextureHandle};

fn rig() -> Rig {
    Rig::new(TrackerOptions::default())
}

#[test]
fn the_first_draw_sends_everything_and_the_next_nothing() {
    let mut rig = rig();
    let first = opcodes(&rig.draw());
    for expected in [
        Opcode::SetFramebufferState,
        Opcode::BindRenderState,
        Opcode::SetDynamicState,
        Opcode::SetDrawProgram,
        Opcode::SetProgramBindings,
        Opcode::SetGlobalConstants,
        Opcode::BindVertexElements,
        Opcode::SetVertexBuffers,
        Opcode::SetIndexBuffer,
        Opcode::SetSamplerViews,
        Opcode::BindSamplerStates,
        Opcode::SetShaderImages,
        Opcode::SetStreamOutputTargets,
        Opcode::SetPatchState,
    ] {
        assert_eq!(first.iter().filter(|o| **o == expected).count(), 1, "{expected:?}");
    }
    assert_eq!(first.iter().filter(|o| **o == Opcode::SetShaderBuffers).count(), 3);
    for _ in 0..10 {
        assert!(rig.draw().is_empty());
    }
    assert_eq!(rig.tracker.stats().steady_verbs(), 10);
}

#[test]
fn no_class_emits_anything_once_every_class_has_run() {
    let mut rig = rig();
    for class in VerbClass::ALL {
        rig.verb(class);
    }
    // Draws and dispatches share texture units: each sends its own set when the other ran in between.
    rig.source.textures[1] = rig.source.textures[0].clone();
    rig.source.bump(Counter::TextureUnits);
    for _ in 0..2 {
        for class in VerbClass::ALL {
            rig.verb(class);
        }
    }
    for class in VerbClass::ALL {
        assert!(rig.verb(class).is_empty(), "{class:?}");
        assert!(rig.tracker.pending(class, &rig.source).iter().all(|g| {
            // Only the sets of a point stay due, for the class whose point is not current.
            [Group::ProgramBindings, Group::GlobalConstants, Group::SamplerViews, Group::Samplers].contains(&g)
        }));
    }
}

#[test]
fn a_blend_toggle_mints_exactly_two_objects() {
    let mut rig = rig();
    let mut mints = 0;
    let mut binds = 0;
    for i in 0..1000 {
        rig.source.render_state.set_capability(gl::BLEND, i % 2 == 0);
        let calls = rig.draw();
        mints += count(&calls, Opcode::CreateRenderState);
        binds += count(&calls, Opcode::BindRenderState);
        if i > 0 {
            assert_eq!(count(&calls, Opcode::SetDynamicState), 0);
        }
    }
    assert_eq!((mints, binds), (2, 1000));
    let stats = rig.tracker.stats().render_state;
    assert_eq!(stats.mints, 2);
    assert!(stats.predictions >= 997, "{stats:?}");
}

#[test]
fn a_toggle_that_returns_before_the_verb_sends_nothing() {
    let mut rig = rig();
    rig.draw();
    rig.source.render_state.set_capability(gl::BLEND, true);
    rig.source.render_state.set_line_width(3.0);
    rig.source.render_state.set_capability(gl::BLEND, false);
    rig.source.render_state.set_line_width(1.0);
    assert!(rig.draw().is_empty());
}

#[test]
fn a_viewport_loop_mints_and_binds_nothing() {
    let mut rig = rig();
    rig.draw();
    for i in 1..200 {
        rig.source.render_state.set_viewports(Viewport { x: 0.0, y: 0.0, width: i as f32, height: 9.0 });
        assert_eq!(opcodes(&rig.draw()), [Opcode::SetDynamicState]);
    }
    assert_eq!(rig.tracker.stats().render_state.mints, 1);
}

#[test]
fn creates_precede_binds_and_uploads_precede_all() {
    let mut rig = rig();
    rig.source.pending.push(ResourceDesc::default());
    let calls = opcodes(&rig.draw());
    let at = |opcode| calls.iter().position(|o| *o == opcode).unwrap_or_else(|| panic!("{opcode:?} is missing"));
    assert_eq!(at(Opcode::ResourceRespecify), 0);
    assert!(at(Opcode::CreateRenderState) < at(Opcode::BindRenderState));
    assert!(at(Opcode::CreateVertexElements) < at(Opcode::BindVertexElements));
    let last_view = calls.iter().rposition(|o| *o == Opcode::CreateSamplerView).unwrap();
    let last_sampler = calls.iter().rposition(|o| *o == Opcode::CreateSampler).unwrap();
    assert!(last_view < at(Opcode::SetSamplerViews) && last_sampler < at(Opcode::BindSamplerStates));
}

#[test]
fn each_counter_makes_exactly_its_groups_pending() {
    for counter in Counter::ALL {
        for class in VerbClass::ALL {
            let mut rig = rig();
            rig.verb(class);
            assert!(rig.tracker.pending(class, &rig.source).is_empty(), "{class:?}");
            rig.source.bump(counter);
            let expected = counter.dependents().and(class.groups());
            assert_eq!(rig.tracker.pending(class, &rig.source), expected, "{counter:?} {class:?}");
            rig.verb(class);
            assert!(rig.tracker.pending(class, &rig.source).is_empty(), "{counter:?} {class:?}");
        }
    }
}

#[test]
fn each_aggregate_makes_a_draw_look_again_and_send_nothing_when_nothing_differs() {
    let mut rig = rig();
    rig.draw();
    for i in 0..5 {
        let a = &mut rig.source.aggregates;
        let field =
            [&mut a.texture_content, &mut a.texture_params, &mut a.buffer, &mut a.vertex_attribute, &mut a.attachment];
        *field.into_iter().nth(i).unwrap() += 1;
        assert!(!rig.tracker.pending(VerbClass::Draw, &rig.source).is_empty());
        assert!(rig.draw().is_empty());
        assert_eq!(rig.tracker.pending(VerbClass::Draw, &rig.source), GroupMask::NONE);
    }
    assert!(rig.tracker.stats().suppressed.iter().sum::<u64>() > 5);
}

#[test]
fn uploads_are_settled_for_the_class_that_reached_them_only() {
    let mut rig = rig();
    for class in [VerbClass::Draw, VerbClass::Clear, VerbClass::Readback] {
        rig.verb(class);
    }
    rig.source.upload_calls.clear();
    rig.source.aggregates.texture_content += 1;
    for class in [VerbClass::Clear, VerbClass::Clear, VerbClass::Draw, VerbClass::Draw, VerbClass::Readback] {
        rig.verb(class);
    }
    assert_eq!(rig.source.upload_calls, [VerbClass::Clear, VerbClass::Draw, VerbClass::Readback]);
}

#[test]
fn a_buffer_that_grew_is_resolved_again() {
    let mut rig = rig();
    rig.source.buffers[0].ranges = vec![mgpipe_types::BufferRange { res: handle(3, 1), offset: 0, size: 64 }];
    rig.draw();
    rig.source.buffers[0].ranges[0].size = 128;
    rig.source.aggregates.buffer += 1;
    assert_eq!(opcodes(&rig.draw()), [Opcode::SetShaderBuffers]);
}

// Programs die in other contexts of the share group without this tracker hearing of it: what it remembers of them is
// bounded, and what it forgot is sent again.
#[test]
fn programs_of_long_ago_are_forgotten() {
    let mut rig = rig();
    rig.draw();
    let first = rig.source.programs[0];
    for gen in 2..6000 {
        rig.source.programs[0].shader = mgpipe_types::ShaderCso(handle(9, gen));
        rig.source.bump(Counter::DrawProgram);
        assert_eq!(count(&rig.draw(), Opcode::SetGlobalConstants), 1);
    }
    rig.source.programs[0] = first;
    rig.source.bump(Counter::DrawProgram);
    assert_eq!(count(&rig.draw(), Opcode::SetGlobalConstants), 1);
    rig.source.bump(Counter::DrawProgram);
    assert_eq!(count(&rig.draw(), Opcode::SetGlobalConstants), 0);
}

#[test]
fn constants_are_sent_once_a_version_and_program() {
    let mut rig = rig();
    rig.draw();
    let first = rig.source.programs[0];
    let second = mgpipe_tracker::ProgramState { shader: mgpipe_types::ShaderCso(handle(9, 1)), ..first };
    let mut constants = Vec::new();
    for program in [second, first, second, first] {
        rig.source.programs[0] = program;
        rig.source.bump(Counter::DrawProgram);
        let calls = rig.draw();
        assert_eq!(count(&calls, Opcode::SetDrawProgram), 1);
        constants.push(count(&calls, Opcode::SetGlobalConstants));
    }
    assert_eq!(constants, [1, 0, 0, 0]);
    rig.source.programs[0].constants_version += 1;
    rig.source.bump(Counter::DefaultBlock);
    assert_eq!(opcodes(&rig.draw()), [Opcode::SetGlobalConstants]);
    rig.tracker.invalidate_program(first.shader);
    rig.source.bump(Counter::DrawProgram);
    let calls = rig.draw();
    assert_eq!(opcodes(&calls), [Opcode::SetProgramBindings, Opcode::SetGlobalConstants]);
}

#[test]
fn draws_and_dispatches_each_see_their_own_units() {
    let mut rig = rig();
    rig.source.textures[1] = vec![view(0, 7)];
    let units = |calls: &[mgpipe_tracker::sinks::RecordedCall]| -> Vec<u32> {
        let set = calls.iter().find(|c| c.opcode == Opcode::SetSamplerViews);
        set.map(|c| c.tail::<BoundView>(1).iter().map(|v| v.texture.slot).collect()).unwrap_or_default()
    };
    assert_eq!(units(&rig.draw()), [1, 2]);
    assert_eq!(units(&rig.verb(VerbClass::Dispatch)), [7]);
    assert_eq!(units(&rig.draw()), [1, 2]);
    assert!(rig.draw().is_empty());
}

#[test]
fn an_unbound_unit_travels_as_null() {
    let mut rig = rig();
    rig.source.textures[0][1].view.texture = Handle::NULL;
    let calls = rig.draw();
    let views = calls.iter().find(|c| c.opcode == Opcode::SetSamplerViews).unwrap().tail::<BoundView>(1);
    assert_eq!(views.iter().map(|v| (v.unit, v.view.is_null())).collect::<Vec<_>>(), [(0, false), (2, true)]);
    let bind = calls.iter().find(|c| c.opcode == Opcode::BindSamplerStates).unwrap();
    assert_eq!(bind.payload::<SetHeader>(0).unwrap().count, 3);
    let samplers = bind.tail::<Handle>(1);
    assert_eq!(samplers.iter().map(|s| s.is_null()).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn a_hard_drain_sends_everything_again_under_the_same_handles() {
    let mut rig = rig();
    let first = rig.draw();
    rig.tracker.invalidate_all();
    let again = rig.draw();
    let cso = |calls: &[mgpipe_tracker::sinks::RecordedCall], opcode| {
        calls.iter().filter(|c| c.opcode == opcode).map(|c| c.payload::<[u32; 2]>(0).map(|h| h[0])).collect::<Vec<_>>()
    };
    assert_eq!(opcodes(&first), opcodes(&again));
    assert_eq!(cso(&first, Opcode::BindVertexElements), cso(&again, Opcode::BindVertexElements));
    assert!(rig.draw().is_empty());
}

#[test]
fn the_framebuffer_carries_a_hash_of_its_content() {
    let mut rig = rig();
    rig.source.framebuffer.width = 640;
    let hash_of = |calls: &[mgpipe_tracker::sinks::RecordedCall]| {
        calls.iter().find_map(|c| c.payload::<FramebufferState>(0)).map(|f| f.content_hash)
    };
    let first = hash_of(&rig.draw()).unwrap();
    rig.source.framebuffer.width = 641;
    rig.source.bump(Counter::Framebuffer);
    let second = hash_of(&rig.verb(VerbClass::Clear)).unwrap();
    assert!(first != 0 && second != 0 && first != second);
    assert!(rig.draw().is_empty(), "the clear told the server already");
}

#[test]
fn a_dead_texture_takes_its_views_along() {
    let mut rig = rig();
    rig.draw();
    rig.tracker.invalidate_texture(TextureHandle(handle(2, 1)), &mut rig.pipe);
    assert_eq!(opcodes(&rig.pipe.record.take()), [Opcode::DeleteSamplerView]);
    rig.source.textures[0].pop();
    rig.source.bump(Counter::TextureUnits);
    assert_eq!(opcodes(&rig.draw()), [Opcode::SetSamplerViews, Opcode::BindSamplerStates]);
    rig.tracker.invalidate_texture(TextureHandle(handle(2, 1)), &mut rig.pipe);
    assert!(rig.pipe.record.take().is_empty());
}

#[test]
fn uploads_that_move_generations_themselves_settle() {
    let mut rig = rig();
    rig.source.moves_while_uploading = 1;
    rig.draw();
    rig.source.upload_calls.clear();
    assert!(rig.draw().is_empty());
    assert!(rig.source.upload_calls.is_empty(), "the second round settled it");

    rig.source.moves_while_uploading = 5;
    rig.source.aggregates.texture_content += 1;
    for _ in 0..4 {
        assert!(rig.draw().is_empty());
    }
    assert_eq!(rig.source.moves_while_uploading, 0, "no move was overlooked");
    rig.source.upload_calls.clear();
    assert!(rig.draw().is_empty());
    assert!(rig.source.upload_calls.is_empty());
}
