//! A context: the state that verbs read, and the calls that only store it.

use crate::command::Recorder;
use crate::device::Device;
use crate::query::Queries;
use crate::render_pass::{Framebuffer, Pass};
use crate::resource::buffer::BufferStorage;
use crate::sampler::{Sampler, View};
use crate::screen::{RenderStateObject, Shared};
use crate::shader::{Bindings, Program};
use crate::vertex::{VertexElements, VertexLayout, DEFAULT_BYTES};
use crate::xfb::StreamOutput;
use ash::vk;
use hashbrown::HashMap;
use mgpipe_types::render_state::{chunks, Half, RenderState, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// What changed since the last draw: each bit makes the next draw look at one group of state.
pub(crate) mod dirty {
    /// The program.
    pub(crate) const PROGRAM: u32 = 1 << 0;
    /// Pipeline half of the render state.
    pub(crate) const STATE: u32 = 1 << 1;
    /// Dynamic half of the render state.
    pub(crate) const DYNAMIC: u32 = 1 << 2;
    /// The framebuffer.
    pub(crate) const FRAMEBUFFER: u32 = 1 << 3;
    /// Vertex elements, or what else decides the vertex layout.
    pub(crate) const VERTEX: u32 = 1 << 4;
    /// Vertex buffers.
    pub(crate) const BUFFERS: u32 = 1 << 5;
    /// The index buffer.
    pub(crate) const INDEX: u32 = 1 << 6;
    /// The default block's bytes.
    pub(crate) const CONSTANTS: u32 = 1 << 7;
    /// Descriptor set 0; sets 1 to 3 follow.
    pub(crate) const SET0: u32 = 1 << 8;
    /// All descriptor sets.
    pub(crate) const SETS: u32 = 0xf << 8;
    /// Sampler descriptors.
    pub(crate) const SAMPLERS: u32 = SET0 << 1;
    /// Storage buffers.
    pub(crate) const STORAGE: u32 = SET0 << 2;
    /// Images.
    pub(crate) const IMAGES: u32 = SET0 << 3;
    /// Current values of attributes.
    pub(crate) const DEFAULTS: u32 = 1 << 12;
    /// Patch vertices.
    pub(crate) const PATCH: u32 = 1 << 13;
    /// Transform-feedback targets.
    pub(crate) const XFB: u32 = 1 << 14;
    /// Everything: a new command buffer knows nothing.
    pub(crate) const ALL: u32 = (1 << 15) - 1;
}

/// Draws and dispatches keep separate programs and descriptor sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BindPoint {
    Draw = 0,
    Dispatch = 1,
}

/// A program with what was bound for it in the current command buffer.
pub(crate) struct BoundProgram {
    pub(crate) program: Arc<Program>,
    pub(crate) bindings: Arc<Bindings>,
    /// Offset of the default block in its ring chunk.
    pub(crate) constants: Option<crate::command::RingSlice>,
}

/// A texture unit.
#[derive(Clone, Default)]
pub(crate) struct Unit {
    pub(crate) bound: BoundView,
    pub(crate) view: Option<Arc<View>>,
    pub(crate) texture: Option<Arc<crate::resource::texture::Texture>>,
    pub(crate) sampler_handle: SamplerCso,
    pub(crate) sampler: Option<Arc<Sampler>>,
    /// Image and view under which the texture is sampled; worked out when a descriptor needs it.
    pub(crate) resolved: Option<crate::sampler::Resolved>,
}

/// An image unit.
#[derive(Clone, Default)]
pub(crate) struct ImageUnit {
    pub(crate) bound: ImageView,
    pub(crate) texture: Option<Arc<crate::resource::texture::Texture>>,
}

/// A buffer at a binding point.
#[derive(Clone, Default)]
pub(crate) struct BufferSlot {
    pub(crate) range: BufferRange,
    pub(crate) storage: Option<Arc<BufferStorage>>,
    pub(crate) writable: bool,
}

/// A vertex buffer at a binding point.
#[derive(Clone, Default)]
pub(crate) struct VertexSlot {
    pub(crate) bound: VertexBuffer,
    pub(crate) storage: Option<Arc<BufferStorage>>,
}

/// A context of the pipe.
pub(crate) struct MagmaContext {
    pub(crate) shared: Arc<Shared>,
    pub(crate) device: Arc<Device>,
    pub(crate) handle: ContextHandle,
    pub(crate) rec: Recorder,
    /// Joins regions of uploads.
    pub(crate) joiner: RegionJoiner,
    /// What uploads became since the counters asked.
    pub(crate) upload_work: UploadWork,
    pub(crate) dirty: u32,
    pub(crate) generations: (u64, u64),
    pub(crate) state: RenderState,
    /// Render-state object that `state`'s pipeline half comes from.
    pub(crate) state_serial: u64,
    /// Dynamic state as the command buffer has it.
    pub(crate) applied: Option<Box<crate::dynamic::Applied>>,
    pub(crate) framebuffer: FramebufferState,
    pub(crate) resolved_framebuffer: Option<Arc<Framebuffer>>,
    pub(crate) pass: Option<Pass>,
    /// Only used without dynamic rendering.
    pub(crate) native_framebuffers: crate::pass_objects::NativeFramebuffers,
    pub(crate) programs: [Option<BoundProgram>; 2],
    pub(crate) elements: Option<Arc<VertexElements>>,
    pub(crate) layout: Arc<VertexLayout>,
    pub(crate) layouts: crate::vertex_input::VertexLayouts,
    /// Bit i: the offset of vertex buffer i is no multiple of 8, so that attributes may be misaligned.
    pub(crate) odd_points: u32,
    pub(crate) vertex_buffers: Vec<VertexSlot>,
    pub(crate) attrib_defaults: Vec<u8>,
    pub(crate) index_buffer: IndexBuffer,
    pub(crate) index_storage: Option<Arc<BufferStorage>>,
    pub(crate) bound_index: Option<(vk::Buffer, u64, vk::IndexType)>,
    pub(crate) indirect: IndirectBuffers,
    pub(crate) units: Vec<Unit>,
    pub(crate) image_units: Vec<ImageUnit>,
    /// Uniform, storage and atomic counter buffers.
    pub(crate) shader_buffers: [Vec<BufferSlot>; 3],
    pub(crate) patch: PatchState,
    pub(crate) last_pipeline: crate::draw::LastPipeline,
    /// The last draw, when one like it needs no preparation.
    pub(crate) steady: Option<crate::merge::Steady>,
    /// Default blocks in the ring of the current batch.
    pub(crate) constants_memo: crate::memo::Memo<(u64, u64, u32), crate::command::RingSlice>,
    /// Pipelines by what chose them.
    pub(crate) pipeline_memo: crate::memo::Memo<crate::draw::PipelineChoice, vk::Pipeline>,
    /// Sets of draws in the current batch, and the ring chunk of the default block in them.
    pub(crate) known_sets: crate::memo::Memo<(u64, u32, u64), (vk::DescriptorSet, vk::Buffer)>,
    /// How often what is bound for the uniform and the sampler set has changed.
    pub(crate) set_versions: [u64; 2],
    pub(crate) set_memo: HashMap<SmallVec<[u64; 40]>, vk::DescriptorSet>,
    /// Dynamic offsets and sets as bound, by bind point.
    pub(crate) queries: Queries,
    pub(crate) xfb: StreamOutput,
    pub(crate) warned: u64,
}

impl MagmaContext {
    pub(crate) fn new(shared: &Arc<Shared>, handle: ContextHandle) -> PipeResult<MagmaContext> {
        let rec = Recorder::new(&shared.device)?;
        shared.context_started();
        let mut context = MagmaContext {
            device: shared.device.clone(),
            handle,
            rec,
            joiner: RegionJoiner::default(),
            upload_work: UploadWork::default(),
            dirty: dirty::ALL,
            generations: shared.generations(),
            state: RenderState::initial(),
            state_serial: 0,
            applied: None,
            framebuffer: FramebufferState::default(),
            resolved_framebuffer: None,
            pass: None,
            native_framebuffers: Default::default(),
            programs: [None, None],
            elements: None,
            layout: Arc::default(),
            layouts: Default::default(),
            odd_points: 0,
            vertex_buffers: vec![VertexSlot::default(); MAX_VERTEX_ATTRIBS],
            attrib_defaults: vec![0; MAX_VERTEX_ATTRIBS * DEFAULT_BYTES as usize],
            index_buffer: IndexBuffer::default(),
            index_storage: None,
            bound_index: None,
            indirect: IndirectBuffers::default(),
            units: vec![Unit::default(); MAX_TEXTURE_UNITS],
            image_units: Vec::new(),
            shader_buffers: Default::default(),
            patch: PatchState { vertices: 3, outer: [1.0; 4], inner: [1.0; 2], ..PatchState::default() },
            last_pipeline: Default::default(),
            steady: None,
            constants_memo: crate::memo::Memo::new(6),
            pipeline_memo: crate::memo::Memo::new(7),
            known_sets: crate::memo::Memo::new(6),
            set_versions: [0; 2],
            set_memo: HashMap::new(),
            queries: Queries::default(),
            xfb: StreamOutput::default(),
            warned: 0,
            shared: shared.clone(),
        };
        for attribute in 0..MAX_VERTEX_ATTRIBS as u32 {
            context.store_default(&AttribValue { index: attribute, bits: [0, 0, 0, 1.0f32.to_bits().into()], form: 0 });
        }
        Ok(context)
    }

    /// Logs once a context that something is not done.
    pub(crate) fn warn_once(&mut self, bit: u32, what: &str) {
        if self.warned >> bit & 1 == 0 {
            self.warned |= 1 << bit;
            self.shared.callbacks.log(LogLevel::Warn, &format!("magma: {what}"));
        }
    }

    /// Whether the device is gone, in which case calls do nothing.
    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.device.is_lost()
    }

    /// Drops a failed call and reports why.
    pub(crate) fn fail(&self, call: &str, error: PipeError) {
        self.shared.report(self.handle, call, error);
    }

    /// Takes note of storage that was swapped since the last verb.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        let now = self.shared.generations();
        if now != self.generations {
            self.refresh_slow(now);
        }
    }

    #[cold]
    fn refresh_slow(&mut self, now: (u64, u64)) {
        self.note_vertex_reads();
        let shared = self.shared.clone();
        let lookup = |handle: Handle| shared.buffers.get(BufferHandle(handle)).ok().and_then(|b| b.storage());
        if now.0 != self.generations.0 {
            for slot in &mut self.vertex_buffers {
                if !slot.bound.res.is_null() {
                    slot.storage = lookup(slot.bound.res);
                }
            }
            for slot in self.shader_buffers.iter_mut().flatten() {
                if !slot.range.res.is_null() {
                    slot.storage = lookup(slot.range.res);
                }
            }
            if !self.index_buffer.res.is_null() {
                self.index_storage = lookup(self.index_buffer.res);
            }
            self.xfb.refresh(&shared);
            self.dirty |= dirty::BUFFERS | dirty::INDEX | dirty::SETS | dirty::XFB;
        }
        if now.1 != self.generations.1 {
            for unit in &mut self.units {
                unit.resolved = None;
            }
            for bound in self.programs.iter_mut().flatten() {
                bound.bindings = bound.program.bindings.read().clone();
                bound.constants = None;
            }
            self.resolved_framebuffer = None;
            self.dirty |= dirty::FRAMEBUFFER | dirty::SAMPLERS | dirty::IMAGES | dirty::SET0 | dirty::CONSTANTS;
            self.dirty |= dirty::STORAGE;
        }
        self.generations = now;
    }

    /// Everything that a new command buffer does not know.
    pub(crate) fn forget_commands(&mut self) {
        self.dirty = dirty::ALL;
        self.applied = None;
        self.bound_index = None;
        self.last_pipeline.bound = vk::Pipeline::null();
        self.set_memo.clear();
        self.constants_memo.clear();
        self.known_sets.clear();
        for bound in self.programs.iter_mut().flatten() {
            bound.constants = None;
        }
    }

    /// Ends the pass and submits what was recorded.
    pub(crate) fn submit(&mut self) -> PipeResult<u64> {
        self.end_pass();
        if self.rec.is_empty() {
            return Ok(self.rec.last_value);
        }
        let result = self.rec.submit();
        self.forget_commands();
        result
    }

    /// Submits and waits until the device has finished all work of this context.
    pub(crate) fn finish(&mut self) -> PipeResult<()> {
        let value = self.submit()?;
        self.device.wait_value(value, u64::MAX)?;
        self.rec.collect();
        Ok(())
    }

    fn store_default(&mut self, value: &AttribValue) {
        let start = value.index as usize * DEFAULT_BYTES as usize;
        let Some(bytes) = self.attrib_defaults.get_mut(start..start + DEFAULT_BYTES as usize) else { return };
        for (component, bits) in value.bits.iter().enumerate() {
            if value.form == 3 {
                bytes[component * 8..component * 8 + 8].copy_from_slice(&bits.to_le_bytes());
            } else {
                bytes[component * 4..component * 4 + 4].copy_from_slice(&(*bits as u32).to_le_bytes());
            }
        }
    }

    fn set_program(&mut self, point: BindPoint, shader: ShaderCso) {
        let slot = &mut self.programs[point as usize];
        if shader.is_null() {
            *slot = None;
        } else {
            match self.shared.shaders.get(shader) {
                Ok(program) => {
                    if slot.as_ref().is_some_and(|bound| Arc::ptr_eq(&bound.program, &program)) {
                        return;
                    }
                    let bindings = program.bindings.read().clone();
                    *slot = Some(BoundProgram { program, bindings, constants: None });
                }
                Err(error) => return self.shared.complain("set_program", error),
            }
        }
        self.dirty |= dirty::PROGRAM | dirty::VERTEX | dirty::CONSTANTS;
    }
}

impl Drop for MagmaContext {
    fn drop(&mut self) {
        let _ = self.submit();
        let _ = self.device.wait_value(self.rec.last_value, u64::MAX);
        self.queries.destroy();
        self.device.save_pipelines();
        self.shared.context_ended();
    }
}

impl Context for MagmaContext {
    // ---- storage ----

    fn resource_respecify(&mut self, desc: &ResourceDesc) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.respecify(desc) {
            self.fail("resource_respecify", error);
        }
    }

    fn renderbuffer_storage(&mut self, storage: &RenderbufferStorage) {
        let desc = ResourceDesc {
            handle: storage.res,
            target: Target::Renderbuffer as u8,
            format: storage.format,
            width: storage.width,
            height: storage.height,
            depth: 1,
            array_layers: 1,
            levels: 1,
            samples: storage.samples as u16,
            gl_name: storage.gl_name,
            ..ResourceDesc::default()
        };
        self.resource_respecify(&desc);
    }

    fn set_texture_params(&mut self, params: &TextureParams) {
        match self.shared.textures.get(TextureHandle(params.res)) {
            Ok(texture) => {
                let mut state = texture.state.write();
                if state.params != *params {
                    state.params = *params;
                    drop(state);
                    self.shared.bump_textures();
                }
            }
            Err(error) => self.shared.complain("set_texture_params", error),
        }
    }

    // ---- fences ----

    fn fence_create(&mut self, desc: &FenceDesc) {
        let batch = if self.rec.is_empty() {
            Arc::new(crate::device::BatchValue::submitted(self.rec.last_value))
        } else {
            self.rec.batch.value.clone()
        };
        crate::fence::create(&self.shared, FenceHandle(desc.fence), batch);
    }

    fn fence_wait_server(&mut self, _fence: &HandleOnly) {
        // One queue runs everything in the order of submission, and each batch starts with a full barrier. What was
        // submitted before the fence was handed over is therefore ordered already; what this context has recorded so far
        // must not be delayed by the wait.
        if let Err(error) = self.submit() {
            self.fail("fence_wait_server", error);
        }
    }

    // ---- queries ----

    fn query_create(&mut self, desc: &QueryDesc) {
        self.create_query(desc);
    }

    fn query_begin(&mut self, query: &HandleOnly) {
        self.begin_query(QueryHandle(query.handle));
    }

    fn query_end(&mut self, query: &HandleOnly) {
        self.end_query(QueryHandle(query.handle));
    }

    fn query_available(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        self.query_answer(QueryHandle(query.handle), false)
    }

    fn query_result(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        self.query_answer(QueryHandle(query.handle), true)
    }

    fn query_destroy(&mut self, query: &HandleOnly) {
        self.destroy_query(QueryHandle(query.handle));
    }

    fn query_timestamp(&mut self) -> PipeResult<QueryAnswer> {
        self.timestamp_now()
    }

    // ---- state objects ----

    fn create_render_state(&mut self, desc: &RenderStateDesc, blob: &[u8]) {
        let mut state = RenderState::initial();
        if !desc.base_cso.is_null() {
            match self.shared.render_states.get(RenderStateCso(desc.base_cso)) {
                Ok(base) => state = base.state,
                Err(error) => return self.shared.complain("create_render_state", error),
            }
        }
        let complete = desc
            .blob
            .bytes(blob)
            .is_some_and(|bytes| state.scatter_front(Half::Pipeline, desc.chunk_mask & ALL_PIPELINE_CHUNKS, bytes));
        if !complete {
            return self.shared.complain("create_render_state", "the blob does not match its chunk mask");
        }
        let object = Arc::new(RenderStateObject { serial: self.device.next_serial(), state });
        if let Err(error) = self.shared.render_states.insert(RenderStateCso(desc.cso), object) {
            self.shared.complain("create_render_state", error);
        }
    }

    fn bind_render_state(&mut self, bind: &BindRenderState) {
        match self.shared.render_states.get(RenderStateCso(bind.cso)) {
            Ok(object) => {
                if object.serial == self.state_serial {
                    return;
                }
                let seamless = self.state.texture_cube_map_seamless;
                let source = bytemuck::bytes_of(&object.state);
                let target = bytemuck::bytes_of_mut(&mut self.state);
                for chunk in chunks(Half::Pipeline) {
                    target[chunk.range()].copy_from_slice(&source[chunk.range()]);
                }
                self.state_serial = object.serial;
                self.dirty |= dirty::STATE;
                if self.state.texture_cube_map_seamless != seamless {
                    self.dirty |= dirty::SAMPLERS;
                }
            }
            Err(error) => self.shared.complain("bind_render_state", error),
        }
    }

    fn delete_render_state(&mut self, cso: &HandleOnly) {
        if let Err(error) = self.shared.render_states.remove(RenderStateCso(cso.handle)) {
            self.shared.complain("delete_render_state", error);
        }
    }

    fn create_vertex_elements(
        &mut self,
        desc: &VertexElementsDesc,
        attributes: &[VertexAttribute],
        bindings: &[VertexBinding],
    ) {
        let object = Arc::new(VertexElements {
            serial: self.device.next_serial(),
            attributes: attributes.to_vec(),
            bindings: bindings.to_vec(),
        });
        if let Err(error) = self.shared.vertex_elements.insert(VertexElementsCso(desc.cso), object) {
            self.shared.complain("create_vertex_elements", error);
        }
    }

    fn bind_vertex_elements(&mut self, cso: &HandleOnly) {
        if cso.handle.is_null() {
            self.elements = None;
        } else {
            match self.shared.vertex_elements.get(VertexElementsCso(cso.handle)) {
                Ok(elements) => self.elements = Some(elements),
                Err(error) => return self.shared.complain("bind_vertex_elements", error),
            }
        }
        self.dirty |= dirty::VERTEX;
    }

    fn delete_vertex_elements(&mut self, cso: &HandleOnly) {
        if let Err(error) = self.shared.vertex_elements.remove(VertexElementsCso(cso.handle)) {
            self.shared.complain("delete_vertex_elements", error);
        }
    }

    fn create_sampler(&mut self, desc: &SamplerDesc, blob: &[u8]) {
        let Some(parameters) = desc.parameters.value::<SamplerParameters>(blob) else {
            return self.shared.complain("create_sampler", "the blob holds no sampler parameters");
        };
        let sampler = Arc::new(Sampler::new(&self.device, parameters));
        if let Err(error) = self.shared.samplers.insert(SamplerCso(desc.cso), sampler) {
            self.shared.complain("create_sampler", error);
        }
    }

    fn delete_sampler(&mut self, cso: &HandleOnly) {
        if let Err(error) = self.shared.samplers.remove(SamplerCso(cso.handle)) {
            self.shared.complain("delete_sampler", error);
        }
    }

    fn create_sampler_view(&mut self, view: &SamplerView) {
        if let Err(error) = self.shared.views.insert(SamplerViewCso(view.cso), Arc::new(View { desc: *view })) {
            self.shared.complain("create_sampler_view", error);
        }
    }

    fn delete_sampler_view(&mut self, cso: &HandleOnly) {
        if let Err(error) = self.shared.views.remove(SamplerViewCso(cso.handle)) {
            self.shared.complain("delete_sampler_view", error);
        }
    }

    fn create_shader(&mut self, desc: &ProgramDesc, code: &[u8]) {
        match Program::new(&self.device, &self.shared.set_layouts, desc, code) {
            Ok(program) => {
                if let Err(error) = self.shared.shaders.insert(ShaderCso(desc.cso), Arc::new(program)) {
                    self.shared.complain("create_shader", error);
                }
            }
            Err(error) => self.fail("create_shader", error),
        }
    }

    fn bind_shader(&mut self, cso: &HandleOnly) {
        let shader = ShaderCso(cso.handle);
        let compute =
            self.shared.shaders.get(shader).is_ok_and(|program| program.has(mgpipe_types::reflection::Stage::Compute));
        self.set_program(if compute { BindPoint::Dispatch } else { BindPoint::Draw }, shader);
    }

    fn delete_shader(&mut self, cso: &HandleOnly) {
        // A program that is bound somewhere lives on in that context; batches hold what they use.
        if let Err(error) = self.shared.shaders.remove(ShaderCso(cso.handle)) {
            self.shared.complain("delete_shader", error);
        }
    }

    // ---- state ----

    fn set_dynamic_state(&mut self, state: &DynamicState, blob: &[u8]) {
        let complete = state
            .blob
            .bytes(blob)
            .is_some_and(|bytes| self.state.scatter_front(Half::Dynamic, state.chunk_mask, bytes));
        if complete {
            self.dirty |= dirty::DYNAMIC;
        } else {
            self.shared.complain("set_dynamic_state", "the blob does not match its chunk mask");
        }
    }

    fn set_framebuffer_state(&mut self, state: &FramebufferState) {
        if *state != self.framebuffer {
            self.framebuffer = *state;
            self.resolved_framebuffer = None;
            self.dirty |= dirty::FRAMEBUFFER;
        }
    }

    fn set_vertex_buffers(&mut self, header: &SetHeader, buffers: &[VertexBuffer]) {
        self.note_vertex_reads();
        let start = header.start as usize;
        for (index, slot) in self.vertex_buffers.iter_mut().enumerate().skip(start) {
            match buffers.get(index - start) {
                Some(buffer) => {
                    if slot.bound.res != buffer.res || slot.storage.is_none() {
                        slot.storage = self.shared.buffers.get(BufferHandle(buffer.res)).ok().and_then(|b| b.storage());
                    }
                    slot.bound = *buffer;
                }
                None => *slot = VertexSlot::default(),
            }
            let odd = slot.bound.offset % 8 != 0;
            self.odd_points = self.odd_points & !(1 << index) | u32::from(odd) << index;
        }
        self.dirty |= dirty::BUFFERS;
    }

    fn set_index_buffer(&mut self, buffer: &IndexBuffer) {
        if buffer.res != self.index_buffer.res || self.index_storage.is_none() {
            self.index_storage = self.shared.buffers.get(BufferHandle(buffer.res)).ok().and_then(|b| b.storage());
        }
        self.index_buffer = *buffer;
        self.dirty |= dirty::INDEX;
    }

    fn set_indirect_buffers(&mut self, buffers: &IndirectBuffers) {
        self.indirect = *buffers;
    }

    fn set_sampler_views(&mut self, _header: &SetHeader, views: &[BoundView]) {
        for unit in &mut self.units {
            if !unit.bound.view.is_null()
                && !views.iter().any(|v| v.unit == unit.bound.unit && v.view == unit.bound.view)
            {
                unit.bound = BoundView::default();
                unit.view = None;
                unit.texture = None;
                unit.resolved = None;
            }
        }
        for bound in views {
            let Some(unit) = self.units.get_mut(bound.unit as usize) else { continue };
            if unit.bound == *bound && unit.view.is_some() {
                continue;
            }
            unit.bound = *bound;
            unit.view = self.shared.views.get(SamplerViewCso(bound.view)).ok();
            unit.texture = self.shared.textures.get(TextureHandle(bound.texture)).ok();
            unit.resolved = None;
        }
        self.dirty |= dirty::SAMPLERS;
    }

    fn bind_sampler_states(&mut self, header: &SetHeader, samplers: &[SamplerCso]) {
        let start = header.start as usize;
        for (index, unit) in self.units.iter_mut().enumerate().skip(start) {
            let handle = samplers.get(index - start).copied().unwrap_or_default();
            if handle != unit.sampler_handle || (unit.sampler.is_none() && !handle.is_null()) {
                unit.sampler_handle = handle;
                unit.sampler = if handle.is_null() { None } else { self.shared.samplers.get(handle).ok() };
            }
        }
        self.dirty |= dirty::SAMPLERS;
    }

    fn set_shader_images(&mut self, _header: &SetHeader, images: &[ImageView]) {
        for unit in &mut self.image_units {
            *unit = ImageUnit::default();
        }
        for bound in images {
            let index = bound.unit as usize;
            if index >= MAX_TEXTURE_UNITS {
                continue;
            }
            if self.image_units.len() <= index {
                self.image_units.resize_with(index + 1, ImageUnit::default);
            }
            let texture = self.shared.textures.get(TextureHandle(bound.res)).ok();
            self.image_units[index] = ImageUnit { bound: *bound, texture };
        }
        self.dirty |= dirty::IMAGES;
    }

    fn set_shader_buffers(&mut self, header: &ShaderBuffers, ranges: &[BufferRange], _bytes: HostBytes<'_>) {
        let Some(slots) = self.shader_buffers.get_mut(header.class as usize) else {
            return self.shared.complain("set_shader_buffers", "unknown class");
        };
        let start = header.start as usize;
        let needed = start.saturating_add(ranges.len()).min(1024);
        if slots.len() < needed {
            slots.resize_with(needed, BufferSlot::default);
        }
        for (index, slot) in slots.iter_mut().enumerate().skip(start) {
            match ranges.get(index - start) {
                Some(range) => {
                    if slot.range.res != range.res || slot.storage.is_none() {
                        slot.storage = self.shared.buffers.get(BufferHandle(range.res)).ok().and_then(|b| b.storage());
                    }
                    slot.range = *range;
                    slot.writable = index - start < 32 && header.writable_mask >> (index - start) & 1 != 0;
                }
                None => *slot = BufferSlot::default(),
            }
        }
        self.dirty |= if header.class == buffer_class::UNIFORM { dirty::SET0 } else { dirty::STORAGE };
    }

    fn set_stream_output_targets(&mut self, header: &StreamOutputTargets, targets: &[BufferRange]) {
        self.xfb.set_targets(&self.shared, XfbHandle(header.xfb), targets);
        self.dirty |= dirty::XFB;
    }

    fn set_global_constants(&mut self, constants: &GlobalConstants, blob: &[u8]) {
        let Some(bytes) = constants.blob.bytes(blob) else {
            return self.shared.complain("set_global_constants", "the blob is shorter than declared");
        };
        let handle = ShaderCso(constants.shader);
        match self.shared.shaders.get(handle) {
            Ok(program) => {
                {
                    let mut stored = program.constants.lock();
                    stored.clear();
                    stored.extend_from_slice(bytes);
                    program.constants_version.fetch_add(1, Ordering::AcqRel);
                }
                if !self.shared.single_context() {
                    self.shared.bump_textures();
                }
                for bound in self.programs.iter_mut().flatten() {
                    if Arc::ptr_eq(&bound.program, &program) {
                        bound.constants = None;
                        self.dirty |= dirty::CONSTANTS;
                    }
                }
            }
            Err(error) => self.shared.complain("set_global_constants", error),
        }
    }

    fn set_vertex_attrib_defaults(&mut self, _header: &VertexAttribDefaults, values: &[AttribValue]) {
        for value in values {
            self.store_default(value);
        }
        self.dirty |= dirty::DEFAULTS;
    }

    fn set_pixel_pack_state(&mut self, _state: &PixelPackState) {
        // Answers are tight; the client packs. An unanswered read-back carries its strides itself.
    }

    fn set_patch_state(&mut self, state: &PatchState) {
        self.patch = *state;
        self.dirty |= dirty::PATCH;
    }

    fn set_draw_program(&mut self, shader: &HandleOnly) {
        self.set_program(BindPoint::Draw, ShaderCso(shader.handle));
    }

    fn set_dispatch_program(&mut self, shader: &HandleOnly) {
        self.set_program(BindPoint::Dispatch, ShaderCso(shader.handle));
    }

    fn set_program_bindings(&mut self, header: &ProgramBindings, units: &[u32]) {
        match self.shared.shaders.get(ShaderCso(header.shader)) {
            Ok(program) => {
                if !program.set_bindings(header, units) {
                    return self.shared.complain("set_program_bindings", "counts differ from the program's");
                }
                // Also for a program that is not bound now: its sets are no longer those that are remembered.
                self.set_versions = self.set_versions.map(|version| version + 1);
                for bound in self.programs.iter_mut().flatten() {
                    if Arc::ptr_eq(&bound.program, &program) {
                        bound.bindings = program.bindings.read().clone();
                        self.dirty |= dirty::SETS;
                    }
                }
                if !self.shared.single_context() {
                    self.shared.bump_textures();
                }
            }
            Err(error) => self.shared.complain("set_program_bindings", error),
        }
    }

    // ---- contents ----

    fn resource_subdata(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) {
        if self.is_lost() {
            return;
        }
        let Some(bytes) = data.blob.bytes(bytes) else {
            return self.shared.complain("resource_subdata", "the blob is shorter than declared");
        };
        let result = if data.target == Target::Buffer as u16 {
            self.upload_buffer(data, bytes)
        } else {
            self.upload_texture(data, regions, bytes)
        };
        if let Err(error) = result {
            self.fail("resource_subdata", error);
        }
    }

    fn take_upload_work(&mut self) -> UploadWork {
        std::mem::take(&mut self.upload_work)
    }

    fn resource_subdata_complete(&mut self, _complete: &SubDataComplete) {
        // Magma never asks for texels back.
    }

    fn adopt_memory(&mut self, buffer: &HandleOnly, memory: Arc<dyn SharedMemory>) -> PipeResult<()> {
        self.adopt(buffer, memory)
    }

    fn resource_flush_range(&mut self, _range: &FlushRange) {
        // Mappings are coherent.
    }

    fn resource_readback(&mut self, readback: &BufferReadback, bytes: &mut [u8]) -> PipeResult<()> {
        self.read_buffer(readback, bytes)
    }

    fn resource_copy_region(&mut self, copy: &CopyRegion) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.copy_region(copy) {
            self.fail("resource_copy_region", error);
        }
    }

    fn generate_mipmap(&mut self, plan: &MipPlan) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.generate_mipmaps(plan) {
            self.fail("generate_mipmap", error);
        }
    }

    // ---- verbs ----

    fn draw_vbo(&mut self, info: &DrawInfo, ranges: &[DrawRange], indirect: &[DrawIndirect], indices: HostBytes<'_>) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.draw(info, ranges, indirect, indices) {
            self.fail("draw_vbo", error);
        }
    }

    fn launch_grid(&mut self, grid: &GridInfo) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.dispatch(grid) {
            self.fail("launch_grid", error);
        }
    }

    fn memory_barrier(&mut self, _barrier: &MemoryBarrier) {
        if !self.is_lost() && !self.rec.is_empty() {
            self.end_pass();
            self.rec.barrier();
        }
    }

    fn begin_stream_output(&mut self, begin: &BeginStreamOutput) {
        self.begin_xfb(begin);
    }

    fn end_stream_output(&mut self, end: &EndStreamOutput) {
        self.end_xfb(XfbHandle(end.xfb));
    }

    fn pause_stream_output(&mut self, xfb: &HandleOnly) {
        self.pause_xfb(XfbHandle(xfb.handle));
    }

    fn resume_stream_output(&mut self, xfb: &HandleOnly) {
        self.resume_xfb(XfbHandle(xfb.handle));
    }

    fn delete_stream_output(&mut self, xfb: &HandleOnly) {
        self.xfb.delete(XfbHandle(xfb.handle));
    }

    fn blit(&mut self, blit: &Blit) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.blit_surfaces(blit) {
            self.fail("blit", error);
        }
    }

    fn clear(&mut self, clear: &Clear) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.clear_attachments(clear) {
            self.fail("clear", error);
        }
    }

    fn read_pixels(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        self.read_surface(info, texels)
    }

    fn get_texture_image(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        self.read_surface(info, texels)
    }

    fn readback_to_buffer(&mut self, readback: &ReadbackToBuffer) {
        if self.is_lost() {
            return;
        }
        if let Err(error) = self.read_to_buffer(readback) {
            self.fail("readback_to_buffer", error);
        }
    }

    fn flush(&mut self, flush: &Flush) {
        if self.is_lost() {
            return;
        }
        if flush.flags & (flush_flags::SUBMIT | flush_flags::END_OF_FRAME) != 0 {
            if let Err(error) = self.submit() {
                return self.fail("flush", error);
            }
        }
        if flush.flags & flush_flags::END_OF_FRAME != 0 {
            self.rec.end_frame();
        }
    }

    fn set_swap_interval(&mut self, interval: &SwapInterval) {
        self.shared.windows.set_interval(interval);
    }

    fn present(&mut self, present: &Present) {
        if self.is_lost() {
            return;
        }
        if present.window != 0 {
            if let Err(error) = self.show(present) {
                self.fail("present", error);
            }
        }
        match self.submit() {
            Ok(_) => self.rec.end_frame(),
            Err(error) => self.fail("present", error),
        }
    }
}

impl MagmaContext {
    /// Marks storage as written by the current batch, so that host copies are not taken for the truth.
    pub(crate) fn device_writes(&self, storage: &BufferStorage) {
        storage.device_written.store(true, Ordering::Relaxed);
        storage.note_written(0, storage.size);
        *storage.writer.lock() = Some(self.rec.batch.value.clone());
    }
}
