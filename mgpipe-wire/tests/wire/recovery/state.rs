//! What a new server is told about state: the latest of everything, once.

use super::rig::{read, Death, Rig};
use crate::recording::{buffer, handle};
use mgpipe_types::render_state::{chunks, masked_len, Half, ALL_PIPELINE_CHUNKS, PIPELINE_BYTES};
use mgpipe_types::*;
use mgpipe_wire::recording_text;

/// A recording as text, without the line of its head.
fn lines(recording: &[u8]) -> Vec<String> {
    let words: Vec<u64> =
        recording.chunks_exact(8).map(|c| u64::from_ne_bytes(c.try_into().expect("8 bytes"))).collect();
    let text = recording_text(bytemuck::cast_slice(&words)).expect("a recording");
    text.lines().map(str::to_owned).collect()
}

fn count(lines: &[String], call: &str) -> usize {
    lines.iter().filter(|line| line.contains(call)).count()
}

/// Says something of every kind, most of it twice.
fn talk(screen: &dyn Screen) -> Box<dyn Context> {
    let mut c = screen.create_context(ContextHandle(handle(1))).expect("alive");
    for slot in 1..=3 {
        screen.resource_create(&buffer(slot, 64));
    }
    let pipeline = vec![1; PIPELINE_BYTES];
    let desc = RenderStateDesc { cso: handle(1), chunk_mask: ALL_PIPELINE_CHUNKS, ..RenderStateDesc::default() };
    c.create_render_state(&desc, &pipeline);
    // What the second takes from the first has to survive the first.
    let first_chunk = vec![2; chunks(Half::Pipeline)[0].len];
    let desc = RenderStateDesc { cso: handle(2), base_cso: handle(1), chunk_mask: 1, ..RenderStateDesc::default() };
    c.create_render_state(&desc, &first_chunk);
    c.bind_render_state(&BindRenderState { cso: handle(1), ..BindRenderState::default() });
    c.bind_render_state(&BindRenderState { cso: handle(2), ..BindRenderState::default() });
    c.delete_render_state(&HandleOnly { handle: handle(1) });
    for mask in [0b11u32, 0b110] {
        let bytes = vec![mask as u8; masked_len(Half::Dynamic, mask).expect("a mask")];
        c.set_dynamic_state(&DynamicState { chunk_mask: mask, ..DynamicState::default() }, &bytes);
    }
    for slot in 1..=2 {
        c.create_vertex_elements(&VertexElementsDesc { cso: handle(slot), ..VertexElementsDesc::default() }, &[], &[]);
        c.bind_vertex_elements(&HandleOnly { handle: handle(slot) });
    }
    c.delete_vertex_elements(&HandleOnly { handle: handle(1) });
    let parameters = bytemuck::bytes_of(&SamplerParameters::default()).to_vec();
    c.create_sampler(&SamplerDesc { cso: handle(1), ..SamplerDesc::default() }, &parameters);
    for slot in [2, 1] {
        let buffers = [VertexBuffer { res: handle(slot), ..VertexBuffer::default() }; 2];
        c.set_vertex_buffers(&SetHeader { start: 0, count: 2, content_hash: 0 }, &buffers);
        c.set_index_buffer(&IndexBuffer { res: handle(slot), ..IndexBuffer::default() });
        for class in [buffer_class::UNIFORM, buffer_class::SHADER_STORAGE] {
            let ranges = [BufferRange { res: handle(slot), offset: 0, size: 64 }];
            let header = ShaderBuffers { class, count: 1, ..ShaderBuffers::default() };
            c.set_shader_buffers(&header, &ranges, HostBytes::None);
        }
        let samplers = [SamplerCso(handle(1))];
        c.bind_sampler_states(&SetHeader { start: 0, count: 1, content_hash: 0 }, &samplers);
        c.set_patch_state(&PatchState { vertices: slot, ..PatchState::default() });
    }
    // Behind `start` the rest is unbound, before it the earlier set stands.
    let samplers = [SamplerCso::NULL];
    c.bind_sampler_states(&SetHeader { start: 5, count: 1, content_hash: 0 }, &samplers);
    c.bind_sampler_states(&SetHeader { start: 3, count: 1, content_hash: 0 }, &samplers);
    for (mask, form) in [(0b101, 0), (0b100, 1)] {
        let values: Vec<AttribValue> = (0..32)
            .filter(|index| mask >> index & 1 != 0)
            .map(|index| AttribValue { index, form, bits: [0; 4] })
            .collect();
        c.set_vertex_attrib_defaults(&VertexAttribDefaults { mask, pad: 0 }, &values);
    }
    for generation in 1..=2 {
        let header = StreamOutputTargets { xfb: handle(1), count: 1, pad: 0, generation };
        c.set_stream_output_targets(&header, &[BufferRange { res: handle(3), offset: 0, size: 64 }]);
    }
    c.begin_stream_output(&BeginStreamOutput { xfb: handle(1), mode: gl::POINTS, pad: 0 });
    c.pause_stream_output(&HandleOnly { handle: handle(1) });
    c.query_create(&QueryDesc { query: handle(1), target: gl::SAMPLES_PASSED, index: 0 });
    c.query_begin(&HandleOnly { handle: handle(1) });
    // Small records wait on this side until something asks.
    read(&mut *c, handle(1), 64).expect("alive");
    c
}

#[test]
fn a_new_server_is_told_the_latest_once() {
    let options = super::patient();
    let rig = Rig::new(options, |_| Death::Never);
    let screen = rig.screen();
    let mut context = talk(&*screen);
    rig.kill();
    read(&mut *context, handle(1), 64).expect("alive");
    let told = lines(&rig.told(1));
    for (call, times) in [
        ("resource_create", 3),
        ("create_render_state", 1),
        ("bind_render_state", 1),
        ("set_dynamic_state", 1),
        ("create_vertex_elements", 1),
        ("bind_vertex_elements", 1),
        ("create_sampler", 1),
        ("bind_sampler_states", 2),
        ("set_vertex_buffers", 1),
        ("set_index_buffer", 1),
        ("set_shader_buffers", 2),
        ("set_patch_state", 1),
        ("set_vertex_attrib_defaults", 1),
        ("set_stream_output_targets", 1),
        ("begin_stream_output", 1),
        ("pause_stream_output", 1),
        ("query_create", 1),
        ("query_begin", 1),
        ("query_end", 0),
    ] {
        assert_eq!(count(&told, call), times, "{call}: {told:#?}");
    }
    assert_eq!(rig.faults(), [] as [String; 0]);
}

#[test]
fn the_next_server_is_told_the_same_as_the_one_before() {
    let rig = Rig::new(super::patient(), |_| Death::Never);
    let screen = rig.screen();
    let mut context = talk(&*screen);
    for _ in 0..3 {
        rig.kill();
        read(&mut *context, handle(1), 64).expect("alive");
    }
    assert!(rig.told(1).len() > 1000);
    assert!(rig.told(1) == rig.told(2));
    // The last one has not ended.
    assert!(rig.told(2).starts_with(&rig.told(3)) && rig.told(3).len() > 1000);
    // And what the first was told made the same render state, though from two objects.
    let state = |life: usize| lines(&rig.told(life)).iter().rfind(|l| l.contains("set_patch_state")).cloned();
    assert_eq!(state(0).map(without_place), state(1).map(without_place));
}

/// A line without what says where in the recording it stands.
fn without_place(line: String) -> String {
    line.split_once("set_patch_state").map(|(_, rest)| rest.to_owned()).unwrap_or(line)
}

fn texture(slot: u32) -> ResourceDesc {
    ResourceDesc {
        handle: handle(slot),
        target: Target::Tex2D as u8,
        format: Format::RGBA8_UNORM.0,
        width: 4,
        height: 4,
        depth: 1,
        array_layers: 1,
        levels: 3,
        ..ResourceDesc::default()
    }
}

fn destroy(screen: &dyn Screen, slot: u32) {
    screen.resource_destroy(&ResourceRef::new(ResourceHandle::Texture(TextureHandle(handle(slot)))));
}

#[test]
fn storage_lives_as_long_as_its_views_and_levels_are_derived_in_order() {
    let rig = Rig::new(super::patient(), |_| Death::Never);
    let screen = rig.screen();
    let mut context = screen.create_context(ContextHandle(handle(1))).expect("alive");
    screen.resource_create(&buffer(1, 4));
    screen.resource_create(&texture(1));
    screen.resource_create(&ResourceDesc { view_of: handle(1), ..texture(2) });
    let level = |context: &mut dyn Context, level: u16, side: u32| {
        let area = Box3::sized(side, side, 1);
        let region = SubRegion { width: side, height: side, depth: 1, ..SubRegion::default() };
        let data = SubData {
            res: handle(1),
            target: Target::Tex2D as u16,
            level,
            union_box: area,
            region_count: 1,
            ..SubData::default()
        };
        context.resource_subdata(&data, &[region], &vec![7; (side * side * 4) as usize]);
    };
    level(&mut *context, 1, 2);
    level(&mut *context, 0, 4);
    context.generate_mipmap(&MipPlan { res: handle(1), base_level: 0, last_level: 2, pad: 0 });
    level(&mut *context, 2, 1);
    destroy(&*screen, 1);
    rig.kill();
    read(&mut *context, handle(1), 4).expect("alive");
    let calls = ["resource_create", "resource_subdata", "generate_mipmap", "resource_destroy"];
    let order = |life: usize| -> Vec<&str> {
        let told = lines(&rig.told(life));
        told.iter().filter_map(|line| calls.into_iter().find(|call| line.contains(call))).collect()
    };
    // The level that was uploaded before is overwritten by what is derived; the one after it is not.
    let storage = ["resource_create", "resource_subdata", "generate_mipmap", "resource_subdata"];
    let mut want = storage.to_vec();
    want.extend(["resource_create", "resource_destroy", "resource_create"]);
    assert_eq!(order(1), want);
    destroy(&*screen, 2);
    rig.kill();
    read(&mut *context, handle(1), 4).expect("alive");
    assert_eq!(order(2), ["resource_create"], "the buffer alone is left");
    assert_eq!(rig.faults(), [] as [String; 0]);
}
