//! A server that assembles what it is told, compared with the source after every verb.
//!
//! The server is naive: it keeps objects in slot tables, applies every set literally and refuses a bind of an object that
//! does not exist. After each verb of a class, each group that the class needs must equal what the source says.

use crate::{handle, view};
use mgpipe_handles::{HandleSpace, SlotError, SlotTable};
use mgpipe_tracker::plain::PlainSource;
use mgpipe_tracker::sinks::{Record, RecordedCall, Sink};
use mgpipe_tracker::strategies::{setting, verb_class, Setting};
use mgpipe_tracker::{
    Aggregates, Counter, Generations, Group, ProgramPoint, RenderStateTracker, Switches, Tracker, TrackerOptions,
    VerbClass,
};
use mgpipe_types::render_state::{Half, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a server knows.
struct Server {
    render_states: SlotTable<RenderState>,
    vertex_elements: SlotTable<(Vec<VertexAttribute>, Vec<VertexBinding>)>,
    samplers: SlotTable<SamplerParameters>,
    views: SlotTable<SamplerView>,
    bound_render_state: Handle,
    bound_vertex_elements: Handle,
    dynamic: RenderState,
    framebuffer: FramebufferState,
    programs: [Handle; 2],
    constants: HashMap<Handle, Vec<u8>>,
    bindings: HashMap<Handle, Vec<u32>>,
    vertex_buffers: Vec<VertexBuffer>,
    index_buffer: IndexBuffer,
    indirect: IndirectBuffers,
    bound_views: Vec<BoundView>,
    bound_samplers: Vec<Handle>,
    images: Vec<ImageView>,
    buffers: [(Vec<BufferRange>, u32); 3],
    stream_output: (Handle, Vec<BufferRange>),
    attrib_defaults: Vec<AttribValue>,
    pixel_pack: PixelPackState,
    patch: PatchState,
    /// The first thing that went wrong.
    fault: Option<String>,
}

impl Default for Server {
    fn default() -> Self {
        Server {
            render_states: SlotTable::new(Kind::RenderStateCso),
            vertex_elements: SlotTable::new(Kind::VertexElementsCso),
            samplers: SlotTable::new(Kind::SamplerCso),
            views: SlotTable::new(Kind::SamplerViewCso),
            bound_render_state: Handle::NULL,
            bound_vertex_elements: Handle::NULL,
            dynamic: RenderState::default(),
            framebuffer: FramebufferState::default(),
            programs: [Handle::NULL; 2],
            constants: HashMap::new(),
            bindings: HashMap::new(),
            vertex_buffers: Vec::new(),
            index_buffer: IndexBuffer::default(),
            indirect: IndirectBuffers::default(),
            bound_views: Vec::new(),
            bound_samplers: Vec::new(),
            images: Vec::new(),
            buffers: Default::default(),
            stream_output: (Handle::NULL, Vec::new()),
            attrib_defaults: Vec::new(),
            pixel_pack: PixelPackState::default(),
            patch: PatchState::default(),
            fault: None,
        }
    }
}

impl Record for Server {
    fn call(&mut self, opcode: Opcode, arguments: &[&[u8]]) {
        let call = RecordedCall { opcode, arguments: arguments.iter().map(|a| a.to_vec()).collect() };
        if let Err(why) = self.apply(&call) {
            self.fault.get_or_insert(format!("{opcode:?}: {why}"));
        }
    }
}

impl Server {
    fn apply(&mut self, call: &RecordedCall) -> Result<(), String> {
        fn get<T: bytemuck::Pod>(call: &RecordedCall) -> Result<T, String> {
            call.payload(0).ok_or_else(|| "payload size".into())
        }
        let exists = |e: SlotError| e.to_string();
        match call.opcode {
            Opcode::CreateRenderState => {
                let desc: RenderStateDesc = get(call)?;
                let mut state = RenderState::default();
                if desc.base_cso.is_null() {
                    if desc.chunk_mask != ALL_PIPELINE_CHUNKS {
                        return Err("an object without a base is whole".into());
                    }
                } else {
                    state = *self.render_states.get(desc.base_cso).map_err(exists)?;
                }
                if desc.blob.size as usize != call.arguments[1].len()
                    || !state.scatter(Half::Pipeline, desc.chunk_mask, &call.arguments[1])
                {
                    return Err("chunks".into());
                }
                self.render_states.insert(desc.cso, state).map_err(exists)?;
            }
            Opcode::BindRenderState => {
                let bind: BindRenderState = get(call)?;
                self.render_states.get(bind.cso).map_err(exists)?;
                self.bound_render_state = bind.cso;
            }
            Opcode::DeleteRenderState => drop(self.render_states.remove(get::<Handle>(call)?).map_err(exists)?),
            Opcode::SetDynamicState => {
                let state: DynamicState = get(call)?;
                if !self.dynamic.scatter(Half::Dynamic, state.chunk_mask, &call.arguments[1]) {
                    return Err("chunks".into());
                }
            }
            Opcode::CreateVertexElements => {
                let desc: VertexElementsDesc = get(call)?;
                let (attributes, bindings) = (call.tail(1), call.tail(2));
                if (attributes.len(), bindings.len()) != (desc.attribute_count as usize, desc.binding_count as usize) {
                    return Err("counts".into());
                }
                self.vertex_elements.insert(desc.cso, (attributes, bindings)).map_err(exists)?;
            }
            Opcode::BindVertexElements => {
                self.bound_vertex_elements = get(call)?;
                self.vertex_elements.get(self.bound_vertex_elements).map_err(exists)?;
            }
            Opcode::DeleteVertexElements => drop(self.vertex_elements.remove(get::<Handle>(call)?).map_err(exists)?),
            Opcode::CreateSampler => {
                let desc: SamplerDesc = get(call)?;
                let parameters = call.payload(1).ok_or("parameters")?;
                self.samplers.insert(desc.cso, parameters).map_err(exists)?;
            }
            Opcode::DeleteSampler => drop(self.samplers.remove(get::<Handle>(call)?).map_err(exists)?),
            Opcode::CreateSamplerView => {
                let v: SamplerView = get(call)?;
                self.views.insert(v.cso, v).map_err(exists)?;
            }
            Opcode::DeleteSamplerView => drop(self.views.remove(get::<Handle>(call)?).map_err(exists)?),
            Opcode::SetSamplerViews => {
                self.bound_views = call.tail(1);
                for v in self.bound_views.iter().filter(|v| !v.view.is_null()) {
                    self.views.get(v.view).map_err(exists)?;
                }
            }
            Opcode::BindSamplerStates => {
                self.bound_samplers = call.tail(1);
                for s in self.bound_samplers.iter().filter(|s| !s.is_null()) {
                    self.samplers.get(*s).map_err(exists)?;
                }
            }
            Opcode::SetFramebufferState => self.framebuffer = get(call)?,
            Opcode::SetDrawProgram => self.programs[0] = get(call)?,
            Opcode::SetDispatchProgram => self.programs[1] = get(call)?,
            Opcode::SetGlobalConstants => {
                self.constants.insert(get::<GlobalConstants>(call)?.shader, call.arguments[1].clone());
            }
            Opcode::SetProgramBindings => {
                self.bindings.insert(get::<ProgramBindings>(call)?.shader, call.tail(1));
            }
            Opcode::SetVertexBuffers => self.vertex_buffers = call.tail(1),
            Opcode::SetIndexBuffer => self.index_buffer = get(call)?,
            Opcode::SetIndirectBuffers => self.indirect = get(call)?,
            Opcode::SetShaderImages => self.images = call.tail(1),
            Opcode::SetShaderBuffers => {
                let header: ShaderBuffers = get(call)?;
                self.buffers[header.class as usize] = (call.tail(1), header.writable_mask);
            }
            Opcode::SetStreamOutputTargets => {
                self.stream_output = (get::<StreamOutputTargets>(call)?.xfb, call.tail(1));
            }
            Opcode::SetVertexAttribDefaults => self.attrib_defaults = call.tail(1),
            Opcode::SetPixelPackState => self.pixel_pack = get(call)?,
            Opcode::SetPatchState => self.patch = get(call)?,
            Opcode::ResourceRespecify => {}
            other => return Err(format!("unexpected {other:?}")),
        }
        Ok(())
    }

    /// The render state that the server has assembled.
    fn render_state(&self) -> Result<RenderState, String> {
        let mut state = self.dynamic;
        let pipeline = self.render_states.get(self.bound_render_state).map_err(|e| e.to_string())?;
        let mut bytes = Vec::new();
        pipeline.gather(Half::Pipeline, ALL_PIPELINE_CHUNKS, &mut bytes);
        state.scatter(Half::Pipeline, ALL_PIPELINE_CHUNKS, &bytes);
        Ok(state)
    }

    /// The first group that a verb of the class would read wrong.
    fn check(&self, class: VerbClass, source: &PlainSource) -> Result<(), String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let point = class.program_point().unwrap_or(ProgramPoint::Draw);
        for group in class.groups().iter() {
            if !self.group_matches(group, point, source)? {
                return Err(format!("{class:?} reads {group:?} wrong"));
            }
        }
        Ok(())
    }

    fn group_matches(&self, group: Group, point: ProgramPoint, source: &PlainSource) -> Result<bool, String> {
        let program = source.programs[point as usize];
        Ok(match group {
            Group::Uploads => source.pending.is_empty(),
            Group::RenderState | Group::DynamicState => {
                bytemuck::bytes_of(&self.render_state()?) == bytemuck::bytes_of(source.render_state.state())
            }
            Group::Framebuffer => FramebufferState { content_hash: 0, ..self.framebuffer } == source.framebuffer,
            Group::DrawProgram => self.programs[0] == source.programs[0].shader.0,
            Group::DispatchProgram => self.programs[1] == source.programs[1].shader.0,
            Group::ProgramBindings => {
                let b = &source.program_bindings[point as usize];
                let expected = [&b.samplers[..], &b.uniform_blocks, &b.storage_blocks, &b.images].concat();
                program.shader.is_null() || self.bindings.get(&program.shader.0) == Some(&expected)
            }
            Group::GlobalConstants => {
                let expected = &source.default_blocks[point as usize];
                !program.has_constants || self.constants.get(&program.shader.0) == Some(expected)
            }
            Group::VertexElements => {
                let (attributes, bindings) =
                    self.vertex_elements.get(self.bound_vertex_elements).map_err(|e| e.to_string())?;
                *attributes == source.vertex_elements.attributes && *bindings == source.vertex_elements.bindings
            }
            Group::VertexBuffers => self.vertex_buffers == source.vertex_buffers,
            Group::IndexBuffer => self.index_buffer == source.index_buffer,
            Group::IndirectBuffers => self.indirect == source.indirect_buffers,
            Group::AttribDefaults => self.attrib_defaults == source.attrib_defaults,
            Group::SamplerViews => {
                let mut seen = Vec::new();
                for bound in &self.bound_views {
                    let v = match bound.view.is_null() {
                        true => SamplerView { target: bound.target as u8, ..SamplerView::default() },
                        false => *self.views.get(bound.view).map_err(|e| e.to_string())?,
                    };
                    if v.texture != bound.texture {
                        return Err("a view of another texture".into());
                    }
                    seen.push((bound.unit, SamplerView { cso: Handle::NULL, ..v }));
                }
                let textures = &source.textures[point as usize];
                textures.len() == seen.len()
                    && textures.iter().zip(seen).all(|(t, (unit, v))| {
                        t.unit == unit && (t.view == v || t.view.texture.is_null() && v.texture.is_null())
                    })
            }
            Group::Samplers => {
                for t in &source.textures[point as usize] {
                    let sampler = self.bound_samplers.get(t.unit as usize).copied().unwrap_or(Handle::NULL);
                    if t.view.texture.is_null() != sampler.is_null() {
                        return Ok(false);
                    }
                    if !sampler.is_null() && *self.samplers.get(sampler).map_err(|e| e.to_string())? != t.parameters {
                        return Ok(false);
                    }
                }
                true
            }
            Group::Images => self.images == source.images,
            Group::UniformBuffers | Group::StorageBuffers | Group::AtomicBuffers => {
                let i = group as usize - Group::UniformBuffers as usize;
                self.buffers[i].0 == source.buffers[i].ranges && self.buffers[i].1 == source.buffers[i].writable_mask
            }
            Group::StreamOutput => {
                self.stream_output.0 == source.stream_output.xfb.0
                    && self.stream_output.1 == source.stream_output.targets
            }
            Group::Patch => self.patch == source.patch,
            Group::PixelPack => self.pixel_pack == source.pixel_pack,
        })
    }
}

/// A step of a random program.
#[derive(Clone, Debug)]
enum Step {
    Set(Setting),
    Change(Change, u8),
    Verb(VerbClass),
    KillTexture(u8),
    Drain,
    Restart,
}

/// State that a step changes, and how it is published.
#[derive(Clone, Copy, Debug)]
enum Change {
    Framebuffer,
    Attachment,
    Elements,
    Pointer,
    VertexBuffers,
    Index,
    Texture,
    TextureParameters,
    Sampler,
    Image,
    UniformRange,
    BufferStorage,
    StreamOutput,
    DrawProgram,
    DispatchProgram,
    Bindings,
    Constants,
    AttribDefault,
    Pack,
    Patch,
    Indirect,
    Upload,
}

const CHANGES: [Change; 22] = [
    Change::Framebuffer,
    Change::Attachment,
    Change::Elements,
    Change::Pointer,
    Change::VertexBuffers,
    Change::Index,
    Change::Texture,
    Change::TextureParameters,
    Change::Sampler,
    Change::Image,
    Change::UniformRange,
    Change::BufferStorage,
    Change::StreamOutput,
    Change::DrawProgram,
    Change::DispatchProgram,
    Change::Bindings,
    Change::Constants,
    Change::AttribDefault,
    Change::Pack,
    Change::Patch,
    Change::Indirect,
    Change::Upload,
];

/// Constants and bindings of a program, which a program keeps while another is in use.
#[derive(Default)]
struct Programs {
    kept: HashMap<u32, (Vec<u8>, Vec<u32>, u64, u64)>,
}

impl Programs {
    fn select(&mut self, source: &mut PlainSource, point: usize, slot: u32) {
        let (block, units, constants_version, bindings_version) = self.kept.entry(slot).or_default().clone();
        source.programs[point].shader.0 = handle(slot, 1);
        source.programs[point].has_constants = true;
        source.programs[point].constants_version = constants_version;
        source.programs[point].bindings_version = bindings_version;
        source.default_blocks[point] = block;
        source.program_bindings[point].samplers = units;
    }

    fn keep(&mut self, source: &PlainSource, point: usize) {
        let program = source.programs[point];
        let kept = (
            source.default_blocks[point].clone(),
            source.program_bindings[point].samplers.clone(),
            program.constants_version,
            program.bindings_version,
        );
        self.kept.insert(program.shader.0.slot, kept);
    }
}

fn change(source: &mut PlainSource, programs: &mut Programs, what: Change, value: u8) {
    let v = u32::from(value);
    let point = usize::from(value & 1);
    match what {
        Change::Framebuffer => {
            source.framebuffer.width = v as u16;
            source.bump(Counter::Framebuffer);
        }
        Change::Attachment => {
            source.framebuffer.color[0].handle = handle(1 + v % 4, 1);
            source.aggregates.attachment = source.aggregates.attachment.wrapping_add(1);
        }
        Change::Elements => {
            let attribute = |location| VertexAttribute { location, components: 1 + value % 4, ..Default::default() };
            source.vertex_elements.attributes = (0..v % 4).map(attribute).collect();
            source.vertex_elements.bindings =
                (0..v % 3).map(|binding| VertexBinding { binding, stride: 16, divisor: 0 }).collect();
            source.bump(Counter::VertexArray);
        }
        Change::Pointer => {
            source.vertex_elements.attributes = vec![VertexAttribute { relative_offset: v % 8, ..Default::default() }];
            source.aggregates.vertex_attribute = source.aggregates.vertex_attribute.wrapping_add(1);
        }
        Change::VertexBuffers => {
            source.vertex_buffers =
                (0..v % 3).map(|i| VertexBuffer { res: handle(1 + i, 1), stride: v, ..Default::default() }).collect();
            source.bump(Counter::VertexBuffers);
        }
        Change::Index => {
            source.index_buffer.res = handle(1 + v % 3, 1);
            source.bump(Counter::IndexBuffer);
        }
        Change::Texture => {
            source.textures[point] = (0..v % 4).map(|unit| view(unit * 2, 1 + (v + unit) % 6)).collect();
            if let Some(t) = source.textures[point].first_mut().filter(|_| v % 5 == 0) {
                t.view = SamplerView::default();
            }
            source.bump(Counter::TextureUnits);
        }
        Change::TextureParameters => {
            if let Some(t) = source.textures[point].first_mut() {
                t.view.min_level = v as u16 % 3;
                t.parameters.max_lod = (v % 3) as f32;
            }
            source.aggregates.texture_params = source.aggregates.texture_params.wrapping_add(1);
        }
        Change::Sampler => {
            if let Some(t) = source.textures[point].last_mut() {
                t.parameters.wrap_s = v % 3;
            }
            source.bump(Counter::Samplers);
        }
        Change::Image => {
            source.images = vec![ImageView { res: handle(1 + v % 4, 1), ..Default::default() }];
            source.bump(Counter::ImageUnits);
        }
        Change::UniformRange => {
            let class = value as usize % 3;
            source.buffers[class].ranges =
                vec![BufferRange { res: handle(1 + v % 4, 1), offset: u64::from(v), size: 4 }];
            source.buffers[class].writable_mask = v % 2;
            source.bump([Counter::UniformBuffers, Counter::StorageBuffers, Counter::AtomicBuffers][class]);
        }
        Change::BufferStorage => {
            for buffers in &mut source.buffers {
                for range in &mut buffers.ranges {
                    range.size = u64::from(v);
                }
            }
            source.aggregates.buffer = source.aggregates.buffer.wrapping_add(1);
        }
        Change::StreamOutput => {
            source.stream_output.xfb.0 = handle(1 + v % 2, 1);
            source.stream_output.targets = vec![BufferRange { offset: u64::from(v % 4), ..Default::default() }];
            source.bump(Counter::StreamOutput);
        }
        Change::DrawProgram | Change::DispatchProgram => {
            let (point, first, counter) = match what {
                Change::DrawProgram => (0, 1, Counter::DrawProgram),
                _ => (1, 11, Counter::DispatchProgram),
            };
            programs.keep(source, point);
            programs.select(source, point, first + v % 3);
            source.bump(counter);
        }
        Change::Bindings => {
            source.program_bindings[point].samplers = vec![v, v % 7];
            source.programs[point].bindings_version += 1;
            source.bump(Counter::ProgramBindings);
        }
        Change::Constants => {
            source.default_blocks[point] = vec![value; 8];
            source.programs[point].constants_version += 1;
            source.bump(Counter::DefaultBlock);
        }
        Change::AttribDefault => {
            source.attrib_defaults =
                (0..v % 3).map(|index| AttribValue { index, bits: [u64::from(v); 4], form: 0 }).collect();
            source.bump(Counter::AttribDefaults);
        }
        Change::Pack => {
            source.pixel_pack.alignment = v as i32 % 8;
            source.bump(Counter::PixelPack);
        }
        Change::Patch => {
            source.patch.vertices = v % 5;
            source.bump(Counter::Patch);
        }
        Change::Indirect => {
            source.indirect_buffers.indirect = handle(1 + v % 3, 1);
            source.bump(Counter::IndirectBuffers);
        }
        Change::Upload => {
            source.pending.push(ResourceDesc::default());
            source.aggregates.texture_content = source.aggregates.texture_content.wrapping_add(1);
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => setting().prop_map(Step::Set),
        8 => (proptest::sample::select(CHANGES.to_vec()), any::<u8>()).prop_map(|(c, v)| Step::Change(c, v)),
        8 => verb_class().prop_map(Step::Verb),
        1 => (0..6u8).prop_map(Step::KillTexture),
        1 => Just(Step::Drain),
        1 => Just(Step::Restart),
    ]
}

fn options() -> impl Strategy<Value = TrackerOptions> {
    (any::<bool>(), any::<bool>(), any::<bool>(), 1..5usize).prop_map(|(addressing, delta, collide, capacity)| {
        TrackerOptions {
            switches: Switches { content_addressing: addressing, delta_render_state: delta },
            hash: if collide { |_| 7 } else { TrackerOptions::default().hash },
            render_state_capacity: capacity,
            vertex_elements_capacity: capacity,
            ..TrackerOptions::default()
        }
    })
}

/// Plays a program; the first verb at which the server and the source disagree.
fn play(steps: &[Step], options: TrackerOptions, publish: bool) -> Result<(), String> {
    let mut source = PlainSource {
        generations: Generations::starting_at(u64::MAX - 5),
        render_state: RenderStateTracker::starting_at(u64::MAX - 5),
        aggregates: Aggregates { buffer: u64::MAX - 2, texture_content: u64::MAX, ..Aggregates::default() },
        ..PlainSource::default()
    };
    let mut programs = Programs::default();
    programs.select(&mut source, 0, 1);
    programs.select(&mut source, 1, 11);
    let mut tracker = Tracker::new(Arc::new(HandleSpace::new()), options);
    let mut pipe = Sink { record: Server::default() };
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Set(setting) => setting.apply(&mut source.render_state),
            Step::Change(what, value) => {
                let (generations, aggregates) = (source.generations, source.aggregates);
                change(&mut source, &mut programs, *what, *value);
                if !publish {
                    (source.generations, source.aggregates) = (generations, aggregates);
                }
            }
            Step::Verb(class) => {
                tracker.validate(*class, &mut source, &mut pipe);
                pipe.record.check(*class, &source).map_err(|why| format!("step {i}: {why}"))?;
            }
            Step::KillTexture(slot) => {
                let texture = TextureHandle(handle(1 + u32::from(*slot), 1));
                tracker.invalidate_texture(texture, &mut pipe);
                let alive = pipe.record.views.iter().any(|(_, v)| v.texture == texture.0);
                if alive {
                    return Err(format!("step {i}: a view of a dead texture is alive"));
                }
            }
            Step::Drain => tracker.invalidate_all(),
            Step::Restart => {
                pipe = Sink { record: Server::default() };
                tracker.forget_server();
            }
        }
    }
    tracker.shutdown(&mut pipe);
    let left = &pipe.record;
    let objects = left.render_states.len() + left.vertex_elements.len() + left.samplers.len() + left.views.len();
    match left.fault.clone() {
        Some(fault) => Err(fault),
        None if objects != 0 => Err(format!("{objects} objects outlive the context")),
        None => Ok(()),
    }
}

proptest! {
    /// Whatever a program does, in whatever order, and however objects are cached: each verb sees the state as it is.
    #[test]
    fn the_server_sees_what_the_source_says(steps in proptest::collection::vec(step(), 0..120), options in options()) {
        if let Err(why) = play(&steps, options, true) {
            return Err(TestCaseError::fail(why));
        }
    }
}

#[test]
fn an_unpublished_change_is_seen_to_be_missing() {
    for what in CHANGES {
        let class = match what {
            Change::Pack => VerbClass::Readback,
            Change::DispatchProgram => VerbClass::Dispatch,
            _ => VerbClass::Draw,
        };
        let texture = [Step::Change(Change::Texture, 6), Step::Change(Change::UniformRange, 3), Step::Verb(class)];
        let steps = [Step::Change(what, 2), Step::Verb(class)];
        let mut source_steps = texture.to_vec();
        source_steps.extend(steps);
        assert!(play(&source_steps, TrackerOptions::default(), true).is_ok(), "{what:?}");
        let blind = play(&source_steps, TrackerOptions::default(), false);
        assert!(blind.is_err(), "{what:?} was not published and nobody noticed");
    }
}
