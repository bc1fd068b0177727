//! The null backend's context: transfers are real, work is counted.

use super::screen::Tables;
use mgpipe_types::render_state::Half;
use mgpipe_types::*;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A command flow that keeps state and runs transfers at once.
pub struct NullContext {
    handle: ContextHandle,
    tables: Arc<Mutex<Tables>>,
    callbacks: Arc<dyn Callbacks>,
    render_states: HashMap<Handle, RenderState>,
    state: RenderState,
    framebuffer: FramebufferState,
    queries: HashMap<Handle, bool>,
}

impl NullContext {
    pub(super) fn new(handle: ContextHandle, tables: Arc<Mutex<Tables>>, callbacks: Arc<dyn Callbacks>) -> NullContext {
        NullContext {
            handle,
            tables,
            callbacks,
            render_states: HashMap::new(),
            state: RenderState::initial(),
            framebuffer: FramebufferState::default(),
            queries: HashMap::new(),
        }
    }

    /// The handle that the context was created with.
    pub fn handle(&self) -> ContextHandle {
        self.handle
    }

    /// The render state as assembled from what was pushed.
    pub fn render_state(&self) -> &RenderState {
        &self.state
    }

    fn count(&self, opcode: Opcode) {
        self.tables.lock().counters.calls.count(opcode, 0);
    }

    fn skip(&self, opcode: Opcode) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(opcode, 0);
        tables.counters.skipped += 1;
    }

    fn read_surface(&self, info: &ReadbackInfo, out: &mut [u8]) -> PipeResult<()> {
        let mut tables = self.tables.lock();
        let area = info.area;
        let mut area = area;
        area.z += info.surface.layer as i32;
        let found = tables
            .images
            .get(&(info.surface.kind, info.surface.handle))
            .filter(|image| image.format.0 == info.format)
            .and_then(|image| image.read(info.surface.level, &area))
            .filter(|bytes| bytes.len() == out.len());
        match found {
            Some(bytes) => {
                out.copy_from_slice(&bytes);
                Ok(())
            }
            None => {
                tables.counters.out_of_bounds += 1;
                Err(PipeError::BadHandle(format!("read-back of {:?}", info.surface.handle)))
            }
        }
    }
}

/// Copies a byte range between two buffers, or within one.
fn copy_buffer(tables: &mut Tables, copy: &CopyRegion) -> bool {
    let (from, len) = copy.src_box.buffer_range();
    let to = copy.dst_x as u32 as u64 | (copy.dst_y as u32 as u64) << 32;
    let bytes = tables
        .buffers
        .get(&copy.src)
        .and_then(|b| b.get(from as usize..from.checked_add(len)? as usize).map(<[u8]>::to_vec));
    let (Some(bytes), Some(dst)) = (bytes, tables.buffers.get_mut(&copy.dst)) else { return false };
    match to.checked_add(len).and_then(|end| dst.get_mut(to as usize..end as usize)) {
        Some(dst) => {
            dst.copy_from_slice(&bytes);
            true
        }
        None => false,
    }
}

/// Copies a box of texels between two images.
fn copy_image(tables: &mut Tables, copy: &CopyRegion) -> bool {
    let bytes = tables.images.get(&(copy.src_kind, copy.src)).and_then(|i| i.read(copy.src_level, &copy.src_box));
    let (Some(bytes), Some(dst)) = (bytes, tables.images.get_mut(&(copy.dst_kind, copy.dst))) else { return false };
    let region = SubRegion {
        x: copy.dst_x,
        y: copy.dst_y,
        z: copy.dst_z,
        width: copy.src_box.width,
        height: copy.src_box.height,
        depth: copy.src_box.depth,
        ..SubRegion::default()
    };
    dst.write(copy.dst_level, &region, &bytes)
}

/// Bytes of a clear colour in a format; `None` where the null backend does not encode the format.
fn texel(format: Format, clear: &Clear) -> Option<Vec<u8>> {
    let desc = format.desc();
    let components = desc.bits.iter().filter(|b| **b != 0).count();
    let mut out = Vec::new();
    for c in 0..components {
        let (float, word) = (f32::from_bits(clear.color[c]), clear.color[c]);
        match (desc.kind, desc.bits[c]) {
            (FormatKind::Unorm, 8) if !desc.srgb => out.push((float.clamp(0.0, 1.0) * 255.0).round() as u8),
            (FormatKind::Unorm, 16) => out.extend(((float.clamp(0.0, 1.0) * 65535.0).round() as u16).to_le_bytes()),
            (FormatKind::Float, 32) | (FormatKind::Uint, 32) | (FormatKind::Sint, 32) => out.extend(word.to_le_bytes()),
            (FormatKind::Uint, 8) | (FormatKind::Sint, 8) => out.push(word as u8),
            (FormatKind::Uint, 16) | (FormatKind::Sint, 16) => out.extend((word as u16).to_le_bytes()),
            _ => return None,
        }
    }
    (out.len() == desc.block_bytes as usize).then_some(out)
}

macro_rules! counted {
    ($($name:ident $op:ident ($($arg:ident : $ty:ty),*);)*) => {
        $(fn $name(&mut self, $($arg: $ty),*) {
            let _ = ($($arg,)*);
            self.count(Opcode::$op);
        })*
    };
}

macro_rules! skipped {
    ($($name:ident $op:ident ($($arg:ident : $ty:ty),*);)*) => {
        $(fn $name(&mut self, $($arg: $ty),*) {
            let _ = ($($arg,)*);
            self.skip(Opcode::$op);
        })*
    };
}

impl Context for NullContext {
    fn resource_respecify(&mut self, desc: &ResourceDesc) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::ResourceRespecify, 0);
        tables.specify(desc, &*self.callbacks);
    }

    fn renderbuffer_storage(&mut self, storage: &RenderbufferStorage) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::RenderbufferStorage, 0);
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
            ..ResourceDesc::default()
        };
        tables.specify(&desc, &*self.callbacks);
    }

    fn fence_create(&mut self, desc: &FenceDesc) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::FenceCreate, 0);
        tables.fences.insert(desc.fence);
    }

    fn query_create(&mut self, desc: &QueryDesc) {
        self.count(Opcode::QueryCreate);
        self.queries.insert(desc.query, false);
    }

    fn query_end(&mut self, query: &HandleOnly) {
        self.count(Opcode::QueryEnd);
        self.queries.insert(query.handle, true);
    }

    fn query_destroy(&mut self, query: &HandleOnly) {
        self.count(Opcode::QueryDestroy);
        self.queries.remove(&query.handle);
    }

    fn query_available(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        self.query_result(query)
    }

    fn query_result(&mut self, query: &HandleOnly) -> PipeResult<QueryAnswer> {
        self.count(Opcode::QueryResult);
        match self.queries.get(&query.handle) {
            Some(&ended) => Ok(QueryAnswer { available: ended as u32, ..QueryAnswer::default() }),
            None => Err(PipeError::BadHandle(format!("query {:?}", query.handle))),
        }
    }

    fn query_timestamp(&mut self) -> PipeResult<QueryAnswer> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        Ok(QueryAnswer { value: now, available: 1, pad: 0 })
    }

    fn create_render_state(&mut self, desc: &RenderStateDesc, chunks: &[u8]) {
        self.count(Opcode::CreateRenderState);
        let mut state = self.render_states.get(&desc.base_cso).copied().unwrap_or_else(RenderState::initial);
        if state.scatter(Half::Pipeline, desc.chunk_mask, chunks) {
            self.render_states.insert(desc.cso, state);
        } else {
            self.tables.lock().counters.out_of_bounds += 1;
        }
    }

    fn bind_render_state(&mut self, bind: &BindRenderState) {
        self.count(Opcode::BindRenderState);
        match self.render_states.get(&bind.cso) {
            Some(state) => {
                let bytes = state.pipeline_bytes();
                self.state.scatter(Half::Pipeline, render_state::ALL_PIPELINE_CHUNKS, &bytes);
            }
            None => self.tables.lock().counters.bad_handles += 1,
        }
    }

    fn delete_render_state(&mut self, cso: &HandleOnly) {
        self.count(Opcode::DeleteRenderState);
        if self.render_states.remove(&cso.handle).is_none() {
            self.tables.lock().counters.bad_handles += 1;
        }
    }

    fn set_dynamic_state(&mut self, state: &DynamicState, chunks: &[u8]) {
        self.count(Opcode::SetDynamicState);
        if !self.state.scatter(Half::Dynamic, state.chunk_mask, chunks) {
            self.tables.lock().counters.out_of_bounds += 1;
        }
    }

    fn set_framebuffer_state(&mut self, state: &FramebufferState) {
        self.count(Opcode::SetFramebufferState);
        self.framebuffer = *state;
    }

    fn resource_subdata(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::ResourceSubdata, 0);
        let ok = if data.target == Target::Buffer as u16 {
            let (offset, len) = data.union_box.buffer_range();
            let range = offset.checked_add(len).map(|end| offset as usize..end as usize);
            let target = tables.buffers.get_mut(&data.res).zip(range).and_then(|(b, range)| b.get_mut(range));
            match target.filter(|t| t.len() == bytes.len()) {
                Some(target) => {
                    target.copy_from_slice(bytes);
                    true
                }
                None => false,
            }
        } else {
            let image = tables.images.get_mut(&(Kind::Texture as u8, data.res));
            image.is_some_and(|image| regions.iter().all(|region| image.write(data.level, region, bytes)))
        };
        tables.counters.out_of_bounds += !ok as u64;
    }

    fn resource_readback(&mut self, readback: &BufferReadback, out: &mut [u8]) -> PipeResult<()> {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::ResourceReadback, 0);
        let range = readback.offset.checked_add(readback.size).map(|end| readback.offset as usize..end as usize);
        let found = tables.buffers.get(&readback.res).zip(range).and_then(|(b, range)| b.get(range));
        match found.filter(|bytes| bytes.len() == out.len()) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => {
                tables.counters.out_of_bounds += 1;
                Err(PipeError::BadHandle(format!("buffer {:?}", readback.res)))
            }
        }
    }

    fn resource_copy_region(&mut self, copy: &CopyRegion) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::ResourceCopyRegion, 0);
        let ok = if copy.src_kind == Kind::Buffer as u8 {
            copy_buffer(&mut tables, copy)
        } else {
            copy_image(&mut tables, copy)
        };
        tables.counters.out_of_bounds += !ok as u64;
    }

    fn read_pixels(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        self.count(Opcode::ReadPixels);
        self.read_surface(info, texels)
    }

    fn get_texture_image(&mut self, info: &ReadbackInfo, texels: &mut [u8]) -> PipeResult<()> {
        self.count(Opcode::GetTextureImage);
        self.read_surface(info, texels)
    }

    fn clear(&mut self, clear: &Clear) {
        self.count(Opcode::Clear);
        let plain = self.state.scissor_test_mask & 1 == 0 && self.state.color_masks.iter().all(|m| *m == [1; 4]);
        if clear.buffers & aspect::COLOR == 0 || !plain {
            self.tables.lock().counters.skipped += 1;
            return;
        }
        let mut tables = self.tables.lock();
        for (draw, &attachment) in self.framebuffer.draw_buffers.iter().enumerate() {
            let wanted = clear.draw_buffer < 0 || clear.draw_buffer as usize == draw;
            let Some(surface) = usize::try_from(attachment).ok().and_then(|a| self.framebuffer.color.get(a)) else {
                continue;
            };
            if !wanted || !surface.is_some() {
                continue;
            }
            let area = Box3 {
                z: surface.layer as i32,
                ..Box3::sized(
                    self.framebuffer.width as u32,
                    self.framebuffer.height as u32,
                    self.framebuffer.layers.max(1) as u32,
                )
            };
            let done = texel(Format(surface.format), clear).is_some_and(|texel| {
                tables
                    .images
                    .get_mut(&(surface.kind, surface.handle))
                    .is_some_and(|image| image.fill(surface.level, &area, &texel))
            });
            tables.counters.skipped += !done as u64;
        }
    }

    counted! {
        query_begin QueryBegin (query: &HandleOnly);
        create_vertex_elements CreateVertexElements (desc: &VertexElementsDesc, attributes: &[VertexAttribute], bindings: &[VertexBinding]);
        bind_vertex_elements BindVertexElements (cso: &HandleOnly);
        delete_vertex_elements DeleteVertexElements (cso: &HandleOnly);
        create_sampler CreateSampler (desc: &SamplerDesc, parameters: &[u8]);
        delete_sampler DeleteSampler (cso: &HandleOnly);
        create_sampler_view CreateSamplerView (view: &SamplerView);
        delete_sampler_view DeleteSamplerView (cso: &HandleOnly);
        create_shader CreateShader (desc: &ProgramDesc, code: &[u8]);
        bind_shader BindShader (cso: &HandleOnly);
        delete_shader DeleteShader (cso: &HandleOnly);
        set_vertex_buffers SetVertexBuffers (header: &SetHeader, buffers: &[VertexBuffer]);
        set_index_buffer SetIndexBuffer (buffer: &IndexBuffer);
        set_indirect_buffers SetIndirectBuffers (buffers: &IndirectBuffers);
        set_sampler_views SetSamplerViews (header: &SetHeader, views: &[BoundView]);
        bind_sampler_states BindSamplerStates (header: &SetHeader, samplers: &[SamplerCso]);
        set_shader_images SetShaderImages (header: &SetHeader, images: &[ImageView]);
        set_shader_buffers SetShaderBuffers (header: &ShaderBuffers, ranges: &[BufferRange], bytes: HostBytes<'_>);
        set_stream_output_targets SetStreamOutputTargets (header: &StreamOutputTargets, targets: &[BufferRange]);
        set_global_constants SetGlobalConstants (constants: &GlobalConstants, bytes: &[u8]);
        set_vertex_attrib_defaults SetVertexAttribDefaults (header: &VertexAttribDefaults, values: &[AttribValue]);
        set_pixel_pack_state SetPixelPackState (state: &PixelPackState);
        set_patch_state SetPatchState (state: &PatchState);
        set_draw_program SetDrawProgram (shader: &HandleOnly);
        set_dispatch_program SetDispatchProgram (shader: &HandleOnly);
        set_texture_params SetTextureParams (params: &TextureParams);
        resource_subdata_complete ResourceSubdataComplete (complete: &SubDataComplete);
        resource_flush_range ResourceFlushRange (range: &FlushRange);
        memory_barrier MemoryBarrier (barrier: &MemoryBarrier);
        begin_stream_output BeginStreamOutput (begin: &BeginStreamOutput);
        end_stream_output EndStreamOutput (end: &EndStreamOutput);
        pause_stream_output PauseStreamOutput (xfb: &HandleOnly);
        resume_stream_output ResumeStreamOutput (xfb: &HandleOnly);
        flush Flush (flush: &Flush);
        present Present (present: &Present);
        fence_wait_server FenceWaitServer (fence: &HandleOnly);
        set_program_bindings SetProgramBindings (header: &ProgramBindings, units: &[u32]);
        delete_stream_output DeleteStreamOutput (xfb: &HandleOnly);
    }

    skipped! {
        generate_mipmap GenerateMipmap (plan: &MipPlan);
        draw_vbo DrawVbo (info: &DrawInfo, ranges: &[DrawRange], indirect: &[DrawIndirect], indices: HostBytes<'_>);
        launch_grid LaunchGrid (grid: &GridInfo);
        blit Blit (blit: &Blit);
    }
}
