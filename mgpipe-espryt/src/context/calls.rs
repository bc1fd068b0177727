//! The calls of the pipe: those that store state, and the way into those that work.

use super::{dirty, BufferSlot, EsprytContext, RenderStateObject, VertexSlot};
use crate::egl::CurrentContext;
use crate::framebuffer::AttachedTextures;
use crate::program::Program;
use crate::sampler::{Sampler, ViewObject};
use crate::screen::FenceObject;
use crate::vertex::VertexElements;
use mgpipe_types::render_state::{chunks, Half, RenderState, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Binding points of uniform buffers that are kept.
const MOST_UNIFORM_BUFFERS: usize = 256;

macro_rules! verb {
    ($self:ident, $name:literal, $work:expr) => {
        if $self.enter($name) {
            if let Err(error) = $work {
                $self.fail($name, error);
            }
        }
    };
}

impl Context for EsprytContext {
    // ---- storage ----

    fn resource_respecify(&mut self, desc: &ResourceDesc) {
        verb!(self, "resource_respecify", self.respecify(desc));
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
                let mut state = texture.state.lock();
                if state.params != *params {
                    state.params = *params;
                    drop(state);
                    self.changed();
                }
            }
            Err(error) => self.shared.complain("set_texture_params", error),
        }
    }

    // ---- fences ----

    fn fence_create(&mut self, desc: &FenceDesc) {
        if !self.enter("fence_create") {
            return;
        }
        let sync = self.device.display.create_sync();
        if sync.is_none() {
            // SAFETY: the context is current.
            unsafe { glow::HasContext::finish(&self.gles().gl) };
        }
        let object = Arc::new(FenceObject { sync });
        if let Err(error) = self.shared.fences.insert(FenceHandle(desc.fence), object) {
            self.shared.complain("fence_create", error);
        }
    }

    fn fence_wait_server(&mut self, fence: &HandleOnly) {
        if !self.enter("fence_wait_server") {
            return;
        }
        match self.shared.fences.get(FenceHandle(fence.handle)) {
            Ok(fence) => {
                if let Some(sync) = &fence.sync {
                    if !sync.wait_server() {
                        // What the driver cannot order on its side is waited for here.
                        let _ = sync.wait(1_000_000_000);
                    }
                }
            }
            Err(error) => self.shared.complain("fence_wait_server", error),
        }
        // Objects that the other context wrote are seen once they are bound again.
        self.shadow.forget_objects();
        self.dirty = dirty::ALL;
    }

    // ---- queries ----

    fn query_create(&mut self, desc: &QueryDesc) {
        self.create_query(desc);
    }

    fn query_begin(&mut self, query: &HandleOnly) {
        verb!(self, "query_begin", self.begin_query(QueryHandle(query.handle)));
    }

    fn query_end(&mut self, query: &HandleOnly) {
        verb!(self, "query_end", self.end_query(QueryHandle(query.handle)));
    }

    fn query_available(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        if !self.enter("query_available") {
            return Ok(QueryAnswer::default());
        }
        self.query_answer(QueryHandle(query.handle), false)
    }

    fn query_result(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        if !self.enter("query_result") {
            return Ok(QueryAnswer::default());
        }
        self.query_answer(QueryHandle(query.handle), true)
    }

    fn query_destroy(&mut self, query: &HandleOnly) {
        if self.enter("query_destroy") {
            self.destroy_query(QueryHandle(query.handle));
        }
    }

    fn query_timestamp(&mut self) -> PipeResult<QueryAnswer> {
        if !self.enter("query_timestamp") {
            return Ok(QueryAnswer::default());
        }
        Ok(self.timestamp_now())
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
        let object = Arc::new(RenderStateObject { state });
        if let Err(error) = self.shared.render_states.insert(RenderStateCso(desc.cso), object) {
            self.shared.complain("create_render_state", error);
        }
    }

    fn bind_render_state(&mut self, bind: &BindRenderState) {
        match self.shared.render_states.get(RenderStateCso(bind.cso)) {
            Ok(object) => {
                let source = bytemuck::bytes_of(&object.state);
                let target = bytemuck::bytes_of_mut(&mut self.state);
                for chunk in chunks(Half::Pipeline) {
                    target[chunk.range()].copy_from_slice(&source[chunk.range()]);
                }
                self.dirty |= dirty::STATE;
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
        let object = Arc::new(VertexElements::new(attributes, bindings));
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
        let sampler = Arc::new(Sampler::new(&self.shared.grave, parameters));
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
        let object = Arc::new(ViewObject::new(*view));
        if let Err(error) = self.shared.views.insert(SamplerViewCso(view.cso), object) {
            self.shared.complain("create_sampler_view", error);
        }
    }

    fn delete_sampler_view(&mut self, cso: &HandleOnly) {
        if let Err(error) = self.shared.views.remove(SamplerViewCso(cso.handle)) {
            self.shared.complain("delete_sampler_view", error);
        }
    }

    fn create_shader(&mut self, desc: &ProgramDesc, code: &[u8]) {
        match Program::new(&self.shared.grave, desc, code) {
            Ok(program) => {
                if let Err(error) = self.shared.shaders.insert(ShaderCso(desc.cso), Arc::new(program)) {
                    self.shared.complain("create_shader", error);
                }
            }
            Err(error) => self.fail("create_shader", error),
        }
    }

    fn bind_shader(&mut self, cso: &HandleOnly) {
        self.set_draw_program(cso);
    }

    fn delete_shader(&mut self, cso: &HandleOnly) {
        // A program that is bound somewhere lives on in that context.
        match self.shared.shaders.remove(ShaderCso(cso.handle)) {
            Ok(program) => self.forget_program(&program),
            Err(error) => self.shared.complain("delete_shader", error),
        }
    }

    // ---- state ----

    fn set_dynamic_state(&mut self, state: &DynamicState, blob: &[u8]) {
        let complete = state
            .blob
            .bytes(blob)
            .is_some_and(|bytes| self.state.scatter_front(Half::Dynamic, state.chunk_mask, bytes));
        if complete {
            self.dirty |= dirty::STATE;
        } else {
            self.shared.complain("set_dynamic_state", "the blob does not match its chunk mask");
        }
    }

    fn set_framebuffer_state(&mut self, state: &FramebufferState) {
        if *state != self.framebuffer {
            self.framebuffer = *state;
            self.attached = AttachedTextures::of(&self.shared, state);
            self.dirty |= dirty::FRAMEBUFFER | dirty::STATE;
        }
    }

    fn set_vertex_buffers(&mut self, header: &SetHeader, buffers: &[VertexBuffer]) {
        let start = header.start as usize;
        for (index, slot) in self.vertex_buffers.iter_mut().enumerate().skip(start) {
            match buffers.get(index - start) {
                Some(buffer) => {
                    if slot.bound.res != buffer.res || slot.buffer.is_none() {
                        slot.buffer = self.shared.buffers.get(BufferHandle(buffer.res)).ok();
                    }
                    slot.bound = *buffer;
                }
                None => *slot = VertexSlot::default(),
            }
        }
        self.dirty |= dirty::BUFFERS;
    }

    fn set_index_buffer(&mut self, buffer: &IndexBuffer) {
        if buffer.res != self.index_buffer.res || self.index_storage.is_none() {
            self.index_storage = self.shared.buffers.get(BufferHandle(buffer.res)).ok();
        }
        self.index_buffer = *buffer;
    }

    fn set_indirect_buffers(&mut self, _buffers: &IndirectBuffers) {
        // Indirect draws name their buffers themselves.
    }

    fn set_sampler_views(&mut self, _header: &SetHeader, views: &[BoundView]) {
        for unit in &mut self.units {
            if !unit.bound.view.is_null()
                && !views.iter().any(|v| v.unit == unit.bound.unit && v.view == unit.bound.view)
            {
                unit.bound = BoundView::default();
                unit.view = None;
                unit.texture = None;
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

    fn set_shader_images(&mut self, _header: &SetHeader, _images: &[ImageView]) {
        // The caps offer no images.
    }

    fn set_shader_buffers(&mut self, header: &ShaderBuffers, ranges: &[BufferRange], _bytes: HostBytes<'_>) {
        if header.class != buffer_class::UNIFORM {
            // The caps offer no other class.
            return;
        }
        let start = header.start as usize;
        let needed = start.saturating_add(ranges.len()).min(MOST_UNIFORM_BUFFERS);
        if self.uniform_buffers.len() < needed {
            self.uniform_buffers.resize_with(needed, BufferSlot::default);
        }
        for (index, slot) in self.uniform_buffers.iter_mut().enumerate().skip(start) {
            match ranges.get(index - start) {
                Some(range) => {
                    if slot.range.res != range.res || slot.buffer.is_none() {
                        slot.buffer = self.shared.buffers.get(BufferHandle(range.res)).ok();
                    }
                    slot.range = *range;
                }
                None => *slot = BufferSlot::default(),
            }
        }
        self.dirty |= dirty::UNIFORMS;
    }

    fn set_stream_output_targets(&mut self, header: &StreamOutputTargets, targets: &[BufferRange]) {
        let shared = self.shared.clone();
        self.xfb.set_targets(&shared, XfbHandle(header.xfb), targets);
        self.dirty |= dirty::XFB;
    }

    fn set_global_constants(&mut self, constants: &GlobalConstants, blob: &[u8]) {
        let Some(bytes) = constants.blob.bytes(blob) else {
            return self.shared.complain("set_global_constants", "the blob is shorter than declared");
        };
        match self.shared.shaders.get(ShaderCso(constants.shader)) {
            Ok(program) => {
                {
                    let mut stored = program.constants.lock();
                    stored.clear();
                    stored.extend_from_slice(bytes);
                    program.constants_version.fetch_add(1, Ordering::AcqRel);
                }
                if self.shared.single_context() {
                    self.dirty |= dirty::CONSTANTS;
                } else {
                    self.changed();
                }
            }
            Err(error) => self.shared.complain("set_global_constants", error),
        }
    }

    fn set_vertex_attrib_defaults(&mut self, _header: &VertexAttribDefaults, values: &[AttribValue]) {
        for value in values {
            if let Some(slot) = self.attrib_defaults.get_mut(value.index as usize) {
                *slot = *value;
                self.defaults_changed |= 1 << value.index;
            }
        }
        self.dirty |= dirty::DEFAULTS;
    }

    fn set_pixel_pack_state(&mut self, _state: &PixelPackState) {
        // Answers are tight; the client packs.
    }

    fn set_patch_state(&mut self, state: &PatchState) {
        self.patch = *state;
    }

    fn set_draw_program(&mut self, shader: &HandleOnly) {
        self.set_program(ShaderCso(shader.handle));
    }

    fn set_dispatch_program(&mut self, _shader: &HandleOnly) {
        // The caps offer no compute.
    }

    fn set_program_bindings(&mut self, header: &ProgramBindings, units: &[u32]) {
        match self.shared.shaders.get(ShaderCso(header.shader)) {
            Ok(program) => {
                if !program.set_bindings(header, units) {
                    return self.shared.complain("set_program_bindings", "counts differ from the program's");
                }
                self.changed();
            }
            Err(error) => self.shared.complain("set_program_bindings", error),
        }
    }

    // ---- contents ----

    fn resource_subdata(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) {
        if !self.enter("resource_subdata") {
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
        // Espryt never asks for texels back.
    }

    fn resource_flush_range(&mut self, _range: &FlushRange) {
        // Mappings are coherent.
    }

    fn resource_readback(&mut self, readback: &BufferReadback, bytes: &mut [u8]) -> PipeResult<()> {
        if !self.enter("resource_readback") {
            return Err(self.why_not());
        }
        self.read_buffer(readback, bytes)
    }

    fn resource_copy_region(&mut self, copy: &CopyRegion) {
        verb!(self, "resource_copy_region", self.copy_region(copy));
    }

    fn generate_mipmap(&mut self, plan: &MipPlan) {
        verb!(self, "generate_mipmap", self.generate_mipmaps(plan));
    }

    // ---- verbs ----

    fn draw_vbo(&mut self, info: &DrawInfo, ranges: &[DrawRange], indirect: &[DrawIndirect], indices: HostBytes<'_>) {
        verb!(self, "draw_vbo", self.draw(info, ranges, indirect, indices));
    }

    fn launch_grid(&mut self, _grid: &GridInfo) {
        self.warn_once(0, "compute is not there; the dispatch is dropped");
    }

    fn memory_barrier(&mut self, _barrier: &MemoryBarrier) {
        // Nothing that the caps offer writes memory outside of the order of commands.
    }

    fn begin_stream_output(&mut self, begin: &BeginStreamOutput) {
        verb!(self, "begin_stream_output", self.begin_xfb(begin));
    }

    fn end_stream_output(&mut self, end: &EndStreamOutput) {
        verb!(self, "end_stream_output", self.end_xfb(XfbHandle(end.xfb)));
    }

    fn pause_stream_output(&mut self, xfb: &HandleOnly) {
        verb!(self, "pause_stream_output", self.pause_xfb(XfbHandle(xfb.handle)));
    }

    fn resume_stream_output(&mut self, xfb: &HandleOnly) {
        verb!(self, "resume_stream_output", self.resume_xfb(XfbHandle(xfb.handle)));
    }

    fn delete_stream_output(&mut self, xfb: &HandleOnly) {
        if self.enter("delete_stream_output") {
            let shared = self.shared.clone();
            self.xfb.delete(&shared.device.gles, XfbHandle(xfb.handle));
        }
    }

    fn blit(&mut self, blit: &Blit) {
        verb!(self, "blit", self.blit_surfaces(blit));
    }

    fn clear(&mut self, clear: &Clear) {
        verb!(self, "clear", self.clear_attachments(clear));
    }

    fn read_pixels(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        if !self.enter("read_pixels") {
            return Err(self.why_not());
        }
        self.read_surface(info, texels)
    }

    fn readback_to_buffer(&mut self, readback: &ReadbackToBuffer) {
        verb!(self, "readback_to_buffer", self.read_to_buffer(readback));
    }

    fn get_texture_image(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        self.read_pixels(info, texels)
    }

    fn flush(&mut self, flush: &Flush) {
        if flush.flags & flush_flags::RELEASE != 0 && !CurrentContext::is(&self.host) {
            // Nothing of this thread waits, and nothing has to be let go.
            return;
        }
        if self.enter("flush") {
            if flush.flags & (flush_flags::SUBMIT | flush_flags::END_OF_FRAME) != 0 {
                self.submit();
            }
            if flush.flags & flush_flags::RELEASE != 0 {
                self.check_errors("release");
                CurrentContext::release(&self.host);
            }
        }
    }

    fn present(&mut self, _present: &Present) {
        // Windows do not exist yet: a present is the end of a frame.
        if self.enter("present") {
            self.submit();
        }
    }
}

impl EsprytContext {
    /// Why a call could not enter.
    fn why_not(&self) -> PipeError {
        match self.shared.lost_reason() {
            Some(why) => PipeError::DeviceLost(why),
            None => PipeError::Unsupported("the context is current on another thread".into()),
        }
    }
}
