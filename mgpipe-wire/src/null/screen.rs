//! The null backend's screen: object tables in host memory.

use super::context::NullContext;
use super::storage::Image;
use crate::counters::CallCounters;
use mgpipe_types::*;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Largest buffer that the null backend stores, in bytes.
const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// Opens [`NullScreen`]s.
#[derive(Debug, Default, Clone, Copy)]
pub struct NullBackend;

impl Backend for NullBackend {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        Ok(Arc::new(NullScreen::new(callbacks)))
    }
}

/// What a null screen has seen.
#[derive(Debug, Clone, Default)]
pub struct NullCounters {
    /// Calls per opcode (bytes stay 0: nothing is encoded).
    pub calls: CallCounters,
    /// Calls that named a handle which does not live.
    pub bad_handles: u64,
    /// Uploads, copies or reads that did not fit their resource.
    pub out_of_bounds: u64,
    /// Work that the null backend leaves out (draws, dispatches, blits, mipmap filtering).
    pub skipped: u64,
}

#[derive(Default)]
pub(super) struct Tables {
    pub(super) buffers: HashMap<Handle, Vec<u8>>,
    pub(super) images: HashMap<(u8, Handle), Image>,
    pub(super) fences: HashSet<Handle>,
    pub(super) counters: NullCounters,
}

/// A screen whose resources live in host memory.
pub struct NullScreen {
    pub(super) tables: Arc<Mutex<Tables>>,
    callbacks: Arc<dyn Callbacks>,
}

impl NullScreen {
    /// An empty screen.
    pub fn new(callbacks: Arc<dyn Callbacks>) -> NullScreen {
        NullScreen { tables: Arc::default(), callbacks }
    }

    /// What was seen so far.
    pub fn counters(&self) -> NullCounters {
        self.tables.lock().counters.clone()
    }

    /// Bytes of a buffer, if it lives.
    pub fn buffer(&self, buffer: BufferHandle) -> Option<Vec<u8>> {
        self.tables.lock().buffers.get(&buffer.0).cloned()
    }

    /// Storage of a texture, if it lives.
    pub fn texture(&self, texture: TextureHandle) -> Option<Image> {
        self.tables.lock().images.get(&(Kind::Texture as u8, texture.0)).cloned()
    }

    /// Live buffers, textures and renderbuffers.
    pub fn live_resources(&self) -> usize {
        let tables = self.tables.lock();
        tables.buffers.len() + tables.images.len()
    }
}

/// Kind of the resource that a descriptor describes.
fn kind_of(desc: &ResourceDesc) -> Option<Kind> {
    Some(match Target::from_u8(desc.target)? {
        Target::Buffer => Kind::Buffer,
        Target::Renderbuffer => Kind::Renderbuffer,
        _ => Kind::Texture,
    })
}

impl Tables {
    pub(super) fn specify(&mut self, desc: &ResourceDesc, callbacks: &dyn Callbacks) {
        let out_of_memory = || callbacks.log(LogLevel::Error, "null backend: resource is too large");
        match kind_of(desc) {
            Some(Kind::Buffer) if desc.buffer_size <= MAX_BUFFER_BYTES => {
                let mut bytes = vec![0; desc.buffer_size as usize];
                if desc.has_defined_content != 0 {
                    if let Some(old) = self.buffers.get(&desc.handle) {
                        let len = old.len().min(bytes.len());
                        bytes[..len].copy_from_slice(&old[..len]);
                    }
                }
                self.buffers.insert(desc.handle, bytes);
            }
            Some(Kind::Buffer) => out_of_memory(),
            Some(kind) => match Image::new(desc) {
                Some(mut image) => {
                    let key = (kind as u8, desc.handle);
                    if let Some(old) = self.images.get(&key).filter(|_| desc.has_defined_content != 0) {
                        image.keep_from(old);
                    }
                    self.images.insert(key, image);
                }
                None => out_of_memory(),
            },
            None => callbacks.log(LogLevel::Error, "null backend: unknown resource target"),
        }
    }
}

impl Screen for NullScreen {
    fn get_caps(&self) -> CapsReply {
        let mut reply =
            CapsReply { device_name: "null".into(), backend_name: "Null, no device".into(), ..CapsReply::default() };
        let caps = &mut reply.caps;
        caps.features = !(features::PERSISTENT_MAP
            | features::SILENT_MAPS
            | features::SHARES_MEMORY
            | features::NEEDS_HOST_INDEX_BYTES
            | features::NEEDS_HOST_UBO_BYTES
            | features::PULLS_TEXTURES);
        for call in CALLS.iter().filter(|c| c.flags & call_flags::OPTIONAL == 0) {
            let bit = call.opcode as usize - 1;
            caps.call_mask[bit / 64] |= 1 << (bit % 64);
        }
        caps.timestamp_period_ns = 1.0;
        caps.timestamp_bits = 64;
        caps.max_texture_2d = 16384;
        caps.max_texture_3d = 2048;
        caps.max_texture_cube = 16384;
        caps.max_array_layers = 2048;
        caps.max_texel_buffer_elements = 1 << 27;
        caps.max_framebuffer_size = [16384; 2];
        caps.max_framebuffer_layers = 2048;
        caps.max_color_attachments = 8;
        caps.framebuffer_color_samples = 0b101;
        caps.framebuffer_depth_samples = 0b101;
        caps.framebuffer_integer_samples = 0b101;
        caps.max_viewports = 16;
        caps.max_viewport_size = [16384; 2];
        caps.viewport_bounds = [-32768.0, 32767.0];
        caps.subpixel_bits = 8;
        caps.point_size = [1.0, 255.0, 0.125];
        caps.line_width = [1.0, 255.0, 0.125];
        caps.max_anisotropy = 16.0;
        caps.max_lod_bias = 16.0;
        caps.max_vertex_attributes = 32;
        caps.max_vertex_bindings = 32;
        caps.max_vertex_stride = 2048;
        caps.max_uniform_buffers = 15;
        caps.max_uniform_range = 65536;
        caps.max_storage_buffers = 16;
        caps.max_storage_range = 1 << 27;
        caps.max_samplers = 32;
        caps.max_images = 16;
        caps.uniform_offset_alignment = 16;
        caps.storage_offset_alignment = 16;
        caps.texel_offset_alignment = 16;
        caps.map_alignment = 64;
        caps.max_xfb_buffers = 4;
        caps.max_xfb_streams = 4;
        caps.max_xfb_stride = 2048;
        caps.max_clip_distances = 8;
        caps.max_cull_distances = 8;
        caps.max_clip_cull_distances = 8;
        caps.max_dual_source_buffers = 1;
        caps.max_geometry_vertices = 1024;
        caps.max_geometry_components = 1024;
        caps.max_geometry_invocations = 32;
        caps.max_patch_vertices = 32;
        caps.max_tess_level = 64;
        caps.max_varying_components = 128;
        caps.texel_offset = [-8, 7];
        caps.gather_offset = [-8, 7];
        caps.interpolation_offset = [-0.5, 0.5];
        caps.interpolation_offset_bits = 4;
        caps.max_compute_groups = [65535; 3];
        caps.max_compute_group_size = [1024, 1024, 64];
        caps.max_compute_invocations = 1024;
        caps.max_compute_shared = 32768;
        for format in Format::ALL {
            use format_caps::*;
            let mut bits = SAMPLED | FILTER_LINEAR | BLIT_SRC | BLIT_DST | VERTEX | TEXEL_BUFFER;
            if format.is_depth_stencil() {
                bits |= DEPTH_STENCIL;
            } else if !format.desc().is_compressed() {
                bits |= COLOR_ATTACHMENT | BLEND | STORAGE_IMAGE;
            }
            reply.formats[format.0 as usize] = bits | 0b101 << SAMPLES_SHIFT;
        }
        reply
    }

    fn resource_create(&self, desc: &ResourceDesc) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::ResourceCreate, 0);
        tables.specify(desc, &*self.callbacks);
    }

    fn resource_destroy(&self, resource: &ResourceRef) {
        let mut tables = self.tables.lock();
        tables.counters.calls.count(Opcode::ResourceDestroy, 0);
        let known = if resource.kind == Kind::Buffer as u8 {
            tables.buffers.remove(&resource.handle).is_some()
        } else {
            tables.images.remove(&(resource.kind, resource.handle)).is_some()
        };
        tables.counters.bad_handles += !known as u64;
    }

    fn fence_status(&self, fence: &HandleOnly) -> PipeResult<FenceAnswer> {
        let mut tables = self.tables.lock();
        if tables.fences.contains(&fence.handle) {
            return Ok(FenceAnswer { status: fence_status::SIGNALED });
        }
        tables.counters.bad_handles += 1;
        Err(PipeError::BadHandle(format!("fence {:?}", fence.handle)))
    }

    fn fence_wait(&self, wait: &FenceWait) -> PipeResult<FenceAnswer> {
        self.fence_status(&HandleOnly { handle: wait.fence })
    }

    fn fence_destroy(&self, fence: &HandleOnly) {
        let mut tables = self.tables.lock();
        let known = tables.fences.remove(&fence.handle);
        tables.counters.bad_handles += !known as u64;
    }

    fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
        Ok(Box::new(NullContext::new(context, self.tables.clone(), self.callbacks.clone())))
    }

    fn device_lost(&self) -> Option<String> {
        None
    }
}
