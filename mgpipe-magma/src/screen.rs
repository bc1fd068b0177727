//! The screen: objects that all contexts share, and the calls that any thread may make.

use crate::context::MagmaContext;
use crate::device::{BatchValue, Device};
use crate::placeholder::Placeholders;
use crate::resource::buffer::{Buffer, BufferStorage};
use crate::resource::texture::{Image, ImageDesc, Storage, Texture};
use crate::sampler::{Sampler, View};
use crate::shader::{Program, SetLayouts};
use crate::table::table;
use crate::vertex::VertexElements;
use mgpipe_handles::SharedTable;
use mgpipe_types::render_state::RenderState;
use mgpipe_types::*;
use parking_lot::RwLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// A render-state object: a block whose pipeline chunks are set.
pub(crate) struct RenderStateObject {
    /// Never-reused identity.
    pub(crate) serial: u64,
    pub(crate) state: RenderState,
}

/// A fence: the batch whose retirement it waits for.
pub(crate) struct Fence {
    pub(crate) batch: RwLock<Arc<BatchValue>>,
}

/// What the contexts of a screen share.
pub(crate) struct Shared {
    pub(crate) device: Arc<Device>,
    pub(crate) callbacks: Arc<dyn Callbacks>,
    pub(crate) buffers: SharedTable<BufferHandle, Buffer>,
    pub(crate) textures: SharedTable<TextureHandle, Texture>,
    pub(crate) renderbuffers: SharedTable<RenderbufferHandle, Texture>,
    pub(crate) render_states: SharedTable<RenderStateCso, RenderStateObject>,
    pub(crate) vertex_elements: SharedTable<VertexElementsCso, VertexElements>,
    pub(crate) samplers: SharedTable<SamplerCso, Sampler>,
    pub(crate) views: SharedTable<SamplerViewCso, View>,
    pub(crate) shaders: SharedTable<ShaderCso, Program>,
    pub(crate) fences: SharedTable<FenceHandle, Fence>,
    pub(crate) set_layouts: SetLayouts,
    pub(crate) placeholders: Placeholders,
    pub(crate) internal: crate::internal::Internal,
    /// Moves whenever a buffer's native storage changes: contexts then resolve their buffers again.
    buffer_generation: AtomicU64,
    /// Likewise for images, texture parameters and programs.
    texture_generation: AtomicU64,
    contexts: AtomicU32,
    /// Bytes (and a fixed charge an object) that were destroyed while batches still held them.
    deferred: AtomicU64,
    /// Storage for the next replacement of a buffer's.
    pub(crate) pool: crate::storage_pool::StoragePool,
    /// Where frames are shown.
    pub(crate) windows: crate::present::Windows,
}

/// Deferred bytes after which a context submits and waits.
const MAX_DEFERRED: u64 = 256 << 20;
/// What an object counts at least, so that the number of deferred objects is bounded too.
const DEFERRED_CHARGE: u64 = 4 << 10;

impl Shared {
    /// Generations of buffers, and of textures and programs.
    #[inline]
    pub(crate) fn generations(&self) -> (u64, u64) {
        (self.buffer_generation.load(Ordering::Acquire), self.texture_generation.load(Ordering::Acquire))
    }

    /// Tells every context that buffers which it resolved may be stale.
    pub(crate) fn bump_buffers(&self) {
        self.buffer_generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Tells every context that textures or programs which it resolved may be stale.
    pub(crate) fn bump_textures(&self) {
        self.texture_generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts storage whose last owner went while the device still uses it.
    pub(crate) fn defer(&self, bytes: u64) {
        self.deferred.fetch_add(bytes.max(DEFERRED_CHARGE), Ordering::Relaxed);
    }

    /// Whether so much waits for batches to retire that a context should make them; starts the count again.
    #[inline]
    pub(crate) fn must_collect(&self) -> bool {
        self.deferred.load(Ordering::Relaxed) > MAX_DEFERRED && self.deferred.swap(0, Ordering::Relaxed) > MAX_DEFERRED
    }

    /// Lets go of storage that was replaced while the device may use it.
    pub(crate) fn retire(&self, storage: Arc<BufferStorage>) {
        let size = storage.size;
        if storage.is_imported() || !self.pool.put(storage) {
            self.defer(size);
        }
    }

    /// Whether only one context exists, so that its own marks on objects are the whole truth.
    pub(crate) fn single_context(&self) -> bool {
        self.contexts.load(Ordering::Relaxed) == 1
    }

    pub(crate) fn context_started(&self) {
        self.contexts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn context_ended(&self) {
        self.contexts.fetch_sub(1, Ordering::Relaxed);
    }

    /// Logs a call that was dropped.
    pub(crate) fn complain(&self, call: &str, why: impl std::fmt::Display) {
        self.callbacks.log(LogLevel::Error, &format!("magma: {call}: {why}"));
    }

    /// The texture or renderbuffer behind a resource.
    pub(crate) fn texture(&self, resource: ResourceHandle) -> Option<Arc<Texture>> {
        match resource {
            ResourceHandle::Texture(handle) => self.textures.get(handle).ok(),
            ResourceHandle::Renderbuffer(handle) => self.renderbuffers.get(handle).ok(),
            ResourceHandle::Buffer(_) => None,
        }
    }

    /// Storage as a description asks for; `Storage::None` without an extent.
    pub(crate) fn texture_storage(&self, desc: &ResourceDesc) -> PipeResult<Storage> {
        if desc.target == Target::TexBuffer as u8 {
            return Ok(Storage::Buffer {
                buffer: BufferHandle(desc.buffer),
                offset: desc.buffer_offset,
                size: desc.buffer_size,
            });
        }
        if !desc.view_of.is_null() {
            let owner = self
                .textures
                .get(TextureHandle(desc.view_of))
                .map_err(|error| PipeError::BadHandle(error.to_string()))?;
            let Some((image, level, layer)) = owner.image() else { return Ok(Storage::None) };
            return Ok(Storage::Image {
                image,
                base_level: level + desc.buffer_offset as u32,
                base_layer: layer + (desc.buffer_offset >> 32) as u32,
            });
        }
        match ImageDesc::from_resource(desc) {
            None => Ok(Storage::None),
            Some(shape) => {
                let image = Arc::new(Image::new(&self.device, shape)?);
                Ok(Storage::Image { image, base_level: 0, base_layer: 0 })
            }
        }
    }

    /// Reports a failure to allocate as GL wants it: an out-of-memory error of the context.
    pub(crate) fn report(&self, context: ContextHandle, call: &str, error: PipeError) {
        match self.device.note(error) {
            PipeError::OutOfMemory(why) => {
                self.callbacks.gl_error(context, gl::OUT_OF_MEMORY, &format!("{call}: {why}"));
            }
            PipeError::DeviceLost(_) => {}
            other => self.complain(call, other),
        }
    }
}

/// The screen of the pipe.
pub(crate) struct MagmaScreen {
    pub(crate) shared: Arc<Shared>,
}

impl MagmaScreen {
    pub(crate) fn new(device: Arc<Device>, callbacks: Arc<dyn Callbacks>) -> MagmaScreen {
        MagmaScreen {
            shared: Arc::new(Shared {
                device,
                callbacks,
                buffers: table(),
                textures: table(),
                renderbuffers: table(),
                render_states: table(),
                vertex_elements: table(),
                samplers: table(),
                views: table(),
                shaders: table(),
                fences: table(),
                set_layouts: SetLayouts::default(),
                placeholders: Placeholders::default(),
                internal: Default::default(),
                buffer_generation: AtomicU64::new(1),
                texture_generation: AtomicU64::new(1),
                contexts: AtomicU32::new(0),
                deferred: AtomicU64::new(0),
                pool: Default::default(),
                windows: Default::default(),
            }),
        }
    }
}

impl MagmaScreen {
    fn texture_gone(&self, texture: &Texture) {
        if let Some((image, ..)) = texture.image().filter(|(image, ..)| !image.usage.is_idle()) {
            self.shared.defer(image.bytes());
        }
        self.shared.bump_textures();
    }
}

impl Screen for MagmaScreen {
    fn get_caps(&self) -> CapsReply {
        crate::caps::reply(&self.shared.device)
    }

    fn resource_create(&self, desc: &ResourceDesc) {
        let shared = &self.shared;
        let Some(target) = Target::from_u8(desc.target) else {
            return shared.complain("resource_create", "unknown target");
        };
        let inserted = match target {
            Target::Buffer => match Buffer::new(&shared.device, desc) {
                Ok(buffer) => shared.buffers.insert(BufferHandle(desc.handle), Arc::new(buffer)).map(drop),
                Err(error) => return shared.report(ContextHandle::NULL, "resource_create", error),
            },
            _ => {
                let texture = Texture::new(target);
                match shared.texture_storage(desc) {
                    Ok(storage) => {
                        let mut state = texture.state.write();
                        state.format = Format(desc.format);
                        state.levels = u32::from(desc.levels.max(1));
                        state.layers = u32::from(desc.array_layers.max(1));
                        state.storage = storage;
                    }
                    Err(error) => shared.report(ContextHandle::NULL, "resource_create", error),
                }
                if target == Target::Renderbuffer {
                    shared.renderbuffers.insert(RenderbufferHandle(desc.handle), Arc::new(texture)).map(drop)
                } else {
                    shared.textures.insert(TextureHandle(desc.handle), Arc::new(texture)).map(drop)
                }
            }
        };
        if let Err(error) = inserted {
            shared.complain("resource_create", error);
        }
    }

    fn resource_destroy(&self, resource: &ResourceRef) {
        let shared = &self.shared;
        let removed = match resource.resource() {
            // Contexts that have the object resolved hold it until they resolve again.
            Some(ResourceHandle::Buffer(handle)) => shared.buffers.remove(handle).map(|buffer| {
                if let Some(storage) = buffer.storage().filter(|storage| !storage.usage.is_idle()) {
                    shared.defer(storage.size);
                }
                shared.bump_buffers();
            }),
            Some(ResourceHandle::Texture(handle)) => shared.textures.remove(handle).map(|t| self.texture_gone(&t)),
            Some(ResourceHandle::Renderbuffer(handle)) => {
                shared.renderbuffers.remove(handle).map(|t| self.texture_gone(&t))
            }
            None => return shared.complain("resource_destroy", "unknown storage class"),
        };
        if let Err(error) = removed {
            shared.complain("resource_destroy", error);
        }
    }

    fn map_persistent(&self, buffer: &HandleOnly) -> PipeResult<MapResult> {
        let buffer = self
            .shared
            .buffers
            .get(BufferHandle(buffer.handle))
            .map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let storage = buffer.storage().ok_or_else(|| PipeError::BadHandle("the buffer has no storage".into()))?;
        let address = storage.mapped().ok_or_else(|| PipeError::Unsupported("memory that is not mapped".into()))?;
        buffer.pinned.store(true, Ordering::Relaxed);
        storage.note_written(0, storage.size);
        Ok(MapResult { address: address.as_ptr() as u64, size: storage.size, segment: 0, coherent: 1, offset: 0 })
    }

    fn unmap_persistent(&self, buffer: &HandleOnly) {
        match self.shared.buffers.get(BufferHandle(buffer.handle)) {
            Ok(buffer) => buffer.pinned.store(false, Ordering::Relaxed),
            Err(error) => self.shared.complain("unmap_persistent", error),
        }
    }

    fn fence_status(&self, fence: &HandleOnly) -> PipeResult<FenceAnswer> {
        crate::fence::status(&self.shared, FenceHandle(fence.handle))
    }

    fn fence_wait(&self, wait: &FenceWait) -> PipeResult<FenceAnswer> {
        crate::fence::wait(&self.shared, FenceHandle(wait.fence), wait.timeout_ns)
    }

    fn fence_destroy(&self, fence: &HandleOnly) {
        if let Err(error) = self.shared.fences.remove(FenceHandle(fence.handle)) {
            self.shared.complain("fence_destroy", error);
        }
    }

    fn window_open(&self, desc: &WindowDesc) -> PipeResult<WindowAnswer> {
        self.shared.windows.open(desc)
    }

    fn window_close(&self, window: &WindowRef) {
        self.shared.windows.close(window.window);
    }

    fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
        if let Some(why) = self.device_lost() {
            return Err(PipeError::DeviceLost(why));
        }
        Ok(Box::new(MagmaContext::new(&self.shared, context)?))
    }

    fn device_lost(&self) -> Option<String> {
        self.shared.device.lost_reason()
    }
}
