//! Calls that break the contract are logged no-ops: nothing panics, and the context goes on working.

use crate::rig::Rig;
use mgpipe_types::*;

#[test]
fn nonsense_is_refused_and_the_context_lives_on() {
    let mut rig = Rig::new();
    let bad = Handle { slot: 77_777, gen: 3 };
    let only = HandleOnly { handle: bad };
    let context = &mut *rig.context;
    context.bind_render_state(&BindRenderState { cso: bad, ..BindRenderState::default() });
    context.bind_vertex_elements(&only);
    context.set_draw_program(&only);
    context.set_dispatch_program(&only);
    context.set_dynamic_state(&DynamicState { chunk_mask: u32::MAX, ..DynamicState::default() }, &[1, 2, 3]);
    context.create_render_state(&RenderStateDesc { cso: bad, chunk_mask: 3, ..RenderStateDesc::default() }, &[]);
    context.create_shader(&ProgramDesc { cso: bad, stage_mask: 63, ..ProgramDesc::default() }, &[0; 16]);
    context.create_sampler(&SamplerDesc { cso: bad, ..SamplerDesc::default() }, &[0; 7]);
    context.delete_sampler(&only);
    context.query_begin(&only);
    context.query_end(&only);
    assert!(context.query_result(&only).is_err());
    context.query_create(&QueryDesc { query: bad, target: 0xdead, index: 0 });
    context.fence_wait_server(&only);
    let huge = Box3::from_buffer_range(u64::MAX - 3, u64::MAX);
    context.resource_subdata(&SubData { res: bad, union_box: huge, ..SubData::default() }, &[], &[1]);
    context.resource_copy_region(&CopyRegion { src: bad, dst: bad, src_kind: 1, dst_kind: 2, ..CopyRegion::default() });
    context.generate_mipmap(&MipPlan { res: bad, base_level: 65_535, last_level: 65_535, pad: 0 });
    context.blit(&Blit { mask: 7, ..Blit::default() });
    context.draw_vbo(&DrawInfo { mode: 999, ..DrawInfo::default() }, &[], &[], HostBytes::None);
    context.launch_grid(&GridInfo { groups: [1, 1, 1], ..GridInfo::default() });
    context.end_stream_output(&EndStreamOutput { xfb: bad, ..EndStreamOutput::default() });
    context.set_shader_buffers(
        &ShaderBuffers { class: 9, start: u32::MAX, count: 1, ..ShaderBuffers::default() },
        &[BufferRange { res: bad, offset: u64::MAX, size: u64::MAX }],
        HostBytes::None,
    );
    context.set_vertex_buffers(
        &SetHeader { start: u32::MAX, count: 1, content_hash: 0 },
        &[VertexBuffer { res: bad, offset: u64::MAX, stride: u32::MAX, pad: 0 }],
    );
    context.bind_sampler_states(&SetHeader { start: 500, count: 1, content_hash: 0 }, &[SamplerCso(bad)]);
    context.set_sampler_views(&SetHeader::default(), &[BoundView { view: bad, unit: 10_000, ..BoundView::default() }]);
    context.set_shader_images(&SetHeader::default(), &[ImageView { unit: u32::MAX, ..ImageView::default() }]);
    let info =
        ReadbackInfo { surface: Surface { handle: bad, kind: 2, ..Surface::default() }, ..ReadbackInfo::default() };
    assert!(context.read_pixels(&info, &mut [0; 4]).is_err());
    rig.screen.resource_destroy(&ResourceRef { handle: bad, kind: 99, pad: [0; 7] });
    rig.screen.resource_create(&ResourceDesc { handle: bad, target: 200, ..ResourceDesc::default() });
    rig.screen.resource_create(&ResourceDesc {
        handle: Handle { slot: u32::MAX, gen: 1 },
        target: Target::Buffer as u8,
        buffer_size: 4,
        ..ResourceDesc::default()
    });
    assert!(rig.screen.fence_status(&only).is_err());
    assert!(rig.screen.map_persistent(&only).is_err());
    assert!(!rig.listener.errors.lock().expect("no panic holds it").is_empty());
    // After all that a clear still works.
    let target = rig.target;
    rig.use_target(target);
    rig.clear([0.0, 1.0, 0.0, 1.0]);
    assert_eq!(rig.pixel(1, 1), [0, 255, 0, 255]);
}

#[test]
fn storage_that_cannot_be_had_is_an_error_and_not_a_crash() {
    let mut rig = Rig::new();
    let texture = rig.handle();
    rig.screen.resource_create(&ResourceDesc {
        handle: texture,
        target: Target::Tex2D as u8,
        format: Format::RGBA32_FLOAT.0,
        width: u32::MAX,
        height: u32::MAX,
        depth: 1,
        array_layers: 1,
        levels: 1,
        ..ResourceDesc::default()
    });
    let buffer = rig.buffer(1 << 60);
    rig.upload(buffer, 0, &[1, 2, 3]);
    assert!(!rig.listener.errors.lock().expect("no panic holds it").is_empty());
    rig.clear([1.0; 4]);
    assert_eq!(rig.pixel(0, 0), [255; 4]);
}

#[test]
fn a_probe_never_fails() {
    let probe = mgpipe_magma::probe();
    assert!(probe.loader || probe.problem.is_some());
    for device in &probe.devices {
        assert!(!device.name.is_empty());
        assert!(device.extensions.iter().all(|e| !e.cost.is_empty()));
    }
}
