//! Caches of state objects: mints, eviction, collisions, lifetimes.

use crate::{count, handle, opcodes, view, Rig};
use mgpipe_tracker::{Counter, Switches, TrackerOptions};
use mgpipe_types::{gl, BoundView, HandleOnly, Kind, Opcode, VertexAttribute};

fn options(render_state_capacity: usize) -> TrackerOptions {
    TrackerOptions { render_state_capacity, ..TrackerOptions::default() }
}

#[test]
fn the_least_recently_used_object_is_evicted_and_deleted() {
    let mut rig = Rig::new(options(3));
    let mut handles = Vec::new();
    for func in [gl::LESS, gl::LEQUAL, gl::GREATER] {
        rig.source.render_state.set_depth_func(func);
        let calls = rig.draw();
        handles.push(
            calls
                .iter()
                .find(|c| c.opcode == Opcode::CreateRenderState)
                .unwrap()
                .payload::<mgpipe_types::RenderStateDesc>(0)
                .unwrap()
                .cso,
        );
    }
    // LESS is used again, hence LEQUAL is the oldest.
    rig.source.render_state.set_depth_func(gl::LESS);
    assert_eq!(opcodes(&rig.draw()), [Opcode::BindRenderState]);
    rig.source.render_state.set_depth_func(gl::ALWAYS);
    let calls = rig.draw();
    assert_eq!(opcodes(&calls), [Opcode::DeleteRenderState, Opcode::CreateRenderState, Opcode::BindRenderState]);
    assert_eq!(calls[0].payload::<HandleOnly>(0).unwrap().handle, handles[1]);
    assert_eq!(rig.tracker.stats().render_state.evictions, 1);
    assert_eq!(rig.handles.live(Kind::RenderStateCso), 3);
    // An evicted state comes back as a new object, whose handle is not the old one.
    rig.source.render_state.set_depth_func(gl::LEQUAL);
    let calls = rig.draw();
    let again = calls.iter().find(|c| c.opcode == Opcode::CreateRenderState).unwrap();
    assert_ne!(again.payload::<mgpipe_types::RenderStateDesc>(0).unwrap().cso, handles[1]);
}

#[test]
fn every_cache_is_bounded_and_emits_its_deletes() {
    let mut rig = Rig::new(TrackerOptions { vertex_elements_capacity: 4, ..TrackerOptions::default() });
    for i in 0..10 {
        rig.source.vertex_elements.attributes =
            vec![VertexAttribute { location: i, components: 4, ..Default::default() }];
        rig.source.bump(Counter::VertexArray);
        let calls = rig.draw();
        assert_eq!(count(&calls, Opcode::DeleteVertexElements), usize::from(i >= 4));
    }
    // Both texture caches are raised to the number of units.
    let mut rig =
        Rig::new(TrackerOptions { sampler_capacity: 1, sampler_view_capacity: 1, ..TrackerOptions::default() });
    let (mut views, mut samplers) = (0, 0);
    for i in 0..200 {
        let mut unit = view(0, i + 1);
        unit.parameters.max_lod = i as f32;
        rig.source.textures[0] = vec![unit];
        rig.source.bump(Counter::TextureUnits);
        let calls = rig.draw();
        views += count(&calls, Opcode::DeleteSamplerView);
        samplers += count(&calls, Opcode::DeleteSampler);
    }
    assert_eq!((views, samplers), (8, 8));
}

#[test]
fn colliding_hashes_do_not_alias() {
    let mut rig = Rig::new(TrackerOptions { hash: |_| 0x1234, ..TrackerOptions::default() });
    let mut created = std::collections::HashSet::new();
    for i in 0..20u32 {
        rig.source.render_state.set_depth_func(gl::NEVER + i % 4);
        rig.source.textures[0] = vec![view(0, 1 + i % 5)];
        rig.source.vertex_buffers = vec![mgpipe_types::VertexBuffer { stride: i, ..Default::default() }];
        rig.source.bump(Counter::TextureUnits);
        rig.source.bump(Counter::VertexBuffers);
        let calls = rig.draw();
        let bound = calls.iter().find(|c| c.opcode == Opcode::SetSamplerViews).unwrap().tail::<BoundView>(1)[0];
        assert_eq!(bound.texture, handle(1 + i % 5, 1));
        for c in calls.iter().filter(|c| c.opcode == Opcode::CreateSamplerView) {
            let v = c.payload::<mgpipe_types::SamplerView>(0).unwrap();
            created.insert((v.cso, v.texture));
        }
        assert!(created.contains(&(bound.view, bound.texture)), "the view is of its texture");
        assert_eq!(count(&calls, Opcode::BindRenderState), 1);
        assert_eq!(count(&calls, Opcode::SetVertexBuffers), 1, "a set whose hash collides is not suppressed");
    }
    let stats = rig.tracker.stats();
    assert_eq!(stats.render_state.mints, 4);
    assert_eq!(stats.sampler_views.mints, 5);
    assert!(stats.sampler_views.collisions > 0);
}

#[test]
fn without_content_addressing_every_change_mints() {
    let switches = Switches { content_addressing: false, ..Switches::default() };
    let mut rig = Rig::new(TrackerOptions { switches, ..TrackerOptions::default() });
    for i in 0..100 {
        rig.source.render_state.set_capability(gl::BLEND, i % 2 == 0);
        rig.draw();
    }
    let stats = rig.tracker.stats().render_state;
    assert_eq!((stats.mints, stats.evictions, stats.predictions), (100, 36, 0));
    assert!(rig.draw().is_empty(), "an unchanged version mints nothing even so");
}

#[test]
fn a_delta_is_declared_against_the_bound_object() {
    let switches = Switches { delta_render_state: true, ..Switches::default() };
    let mut rig = Rig::new(TrackerOptions { switches, ..TrackerOptions::default() });
    rig.draw();
    rig.source.render_state.set_capability(gl::BLEND, true);
    let calls = rig.draw();
    let desc = calls[0].payload::<mgpipe_types::RenderStateDesc>(0).unwrap();
    assert!(!desc.base_cso.is_null() && desc.base_cso != desc.cso);
    assert_eq!(desc.chunk_mask.count_ones(), 1);
    assert_eq!(desc.blob.size as usize, calls[0].arguments[1].len());
}

#[test]
fn shutdown_deletes_every_object_and_a_drop_frees_every_handle() {
    let kinds = [Kind::RenderStateCso, Kind::VertexElementsCso, Kind::SamplerCso, Kind::SamplerViewCso];
    let mut rig = Rig::new(TrackerOptions::default());
    rig.draw();
    rig.tracker.shutdown(&mut rig.pipe);
    let calls = rig.pipe.record.take();
    assert_eq!(count(&calls, Opcode::DeleteRenderState), 1);
    assert_eq!(count(&calls, Opcode::DeleteVertexElements), 1);
    assert_eq!(count(&calls, Opcode::DeleteSampler), 1);
    assert_eq!(count(&calls, Opcode::DeleteSamplerView), 2);
    for kind in kinds {
        assert_eq!(rig.handles.live(kind), 0, "{kind:?}");
    }
    rig.draw();
    let handles = rig.handles.clone();
    drop(rig);
    for kind in kinds {
        assert_eq!(handles.live(kind), 0, "{kind:?}");
    }
}

#[test]
fn exhausted_handles_degrade_and_are_counted() {
    let mut rig = Rig::new(TrackerOptions::default());
    while rig.handles.alloc::<mgpipe_types::SamplerViewCso>().is_some() {}
    let calls = rig.draw();
    let views = calls.iter().find(|c| c.opcode == Opcode::SetSamplerViews).unwrap().tail::<BoundView>(1);
    assert!(views.iter().all(|v| v.view.is_null()));
    assert!(rig.tracker.stats().sampler_views.exhausted > 0);
}
