//! The screen: objects that all contexts share, and the calls that any thread may make.

use crate::context::EsprytContext;
use crate::device::Device;
use crate::egl::{CurrentContext, Fence, HostContext};
use crate::gles::Gles;
use crate::grave::Grave;
use crate::program::Program;
use crate::resource::buffer::Buffer;
use crate::resource::texture::{native_target, Shape, Storage, Texture, View};
use crate::sampler::{Sampler, ViewObject};
use crate::vertex::VertexElements;
use mgpipe_handles::SharedTable;
use mgpipe_types::render_state::RenderState;
use mgpipe_types::*;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// A render-state object: a block whose pipeline chunks are set.
pub(crate) struct RenderStateObject {
    pub(crate) state: RenderState,
}

/// A fence of the pipe.
pub(crate) struct FenceObject {
    /// None: the driver made none, and everything before had finished.
    pub(crate) sync: Option<Fence>,
}

/// What the contexts of a screen share.
pub(crate) struct Shared {
    pub(crate) device: Arc<Device>,
    pub(crate) callbacks: Arc<dyn Callbacks>,
    pub(crate) grave: Arc<Grave>,
    /// The share group's first context: it keeps the objects alive and is current only while nothing else is.
    root: HostContext,
    root_in_use: Mutex<()>,
    pub(crate) buffers: SharedTable<BufferHandle, Buffer>,
    pub(crate) textures: SharedTable<TextureHandle, Texture>,
    pub(crate) renderbuffers: SharedTable<RenderbufferHandle, Texture>,
    pub(crate) render_states: SharedTable<RenderStateCso, RenderStateObject>,
    pub(crate) vertex_elements: SharedTable<VertexElementsCso, VertexElements>,
    pub(crate) samplers: SharedTable<SamplerCso, Sampler>,
    pub(crate) views: SharedTable<SamplerViewCso, ViewObject>,
    pub(crate) shaders: SharedTable<ShaderCso, Program>,
    pub(crate) fences: SharedTable<FenceHandle, FenceObject>,
    /// Moves whenever a texture's storage or a program's data changes: contexts then resolve again.
    generation: AtomicU64,
    contexts: AtomicU32,
    lost: AtomicBool,
    lost_reason: Mutex<Option<String>>,
}

impl Shared {
    /// Does work that needs a context on a thread that may have none. What was current is bound again by its next call.
    ///
    /// # Errors
    /// Those of the work, and a context that cannot be bound.
    pub(crate) fn with_root<T>(&self, work: impl FnOnce(&Gles) -> PipeResult<T>) -> PipeResult<T> {
        let _alone = self.root_in_use.lock();
        CurrentContext::bind(&self.root).map_err(PipeError::Unsupported)?;
        let result = work(&self.device.gles);
        CurrentContext::release(&self.root);
        result
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Tells every context that what it resolved may be stale.
    pub(crate) fn bump(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn single_context(&self) -> bool {
        self.contexts.load(Ordering::Relaxed) == 1
    }

    /// The context that others share objects with.
    pub(crate) fn root(&self) -> &HostContext {
        &self.root
    }

    pub(crate) fn context_started(&self) {
        self.contexts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn context_ended(&self) {
        self.contexts.fetch_sub(1, Ordering::Relaxed);
    }

    /// Logs a call that was dropped.
    pub(crate) fn complain(&self, call: &str, why: impl std::fmt::Display) {
        self.callbacks.log(LogLevel::Error, &format!("espryt: {call}: {why}"));
    }

    #[inline]
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Latches the loss of the driver's context.
    #[cold]
    pub(crate) fn lose(&self, why: &str) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            *self.lost_reason.lock() = Some(why.to_owned());
            self.callbacks.log(LogLevel::Error, &format!("espryt: the device is lost: {why}"));
        }
    }

    pub(crate) fn lost_reason(&self) -> Option<String> {
        self.lost_reason.lock().clone()
    }

    /// The texture or renderbuffer behind a resource.
    pub(crate) fn texture(&self, resource: ResourceHandle) -> Option<Arc<Texture>> {
        match resource {
            ResourceHandle::Texture(handle) => self.textures.get(handle).ok(),
            ResourceHandle::Renderbuffer(handle) => self.renderbuffers.get(handle).ok(),
            ResourceHandle::Buffer(_) => None,
        }
    }

    /// Storage as a description asks for it; made by the first context that needs it.
    pub(crate) fn texture_storage(&self, desc: &ResourceDesc) -> PipeResult<Storage> {
        let target = Target::from_u8(desc.target).ok_or_else(|| PipeError::Protocol("unknown target".into()))?;
        if target == Target::TexBuffer {
            return Ok(Storage::Buffer { desc: *desc, image: None });
        }
        if !desc.view_of.is_null() {
            let owner = self
                .textures
                .get(TextureHandle(desc.view_of))
                .map_err(|error| PipeError::BadHandle(error.to_string()))?;
            let view = View {
                target: native_target(target, u32::from(desc.samples)),
                format: Format(desc.format),
                min_level: desc.buffer_offset as u32,
                levels: u32::from(desc.levels.max(1)),
                min_layer: (desc.buffer_offset >> 32) as u32,
                layers: u32::from(desc.array_layers.max(1)),
            };
            return Ok(Storage::WantedView { owner, view });
        }
        Ok(Shape::new(desc).map_or(Storage::None, Storage::Wanted))
    }

    /// Reports a failure as GL wants it: an out-of-memory error of the context, or a log line.
    pub(crate) fn report(&self, context: ContextHandle, call: &str, error: PipeError) {
        match error {
            PipeError::OutOfMemory(why) => {
                self.callbacks.gl_error(context, gl::OUT_OF_MEMORY, &format!("{call}: {why}"));
            }
            PipeError::DeviceLost(why) => self.lose(&why),
            other => self.complain(call, other),
        }
    }
}

/// The screen of the pipe.
pub(crate) struct EsprytScreen {
    pub(crate) shared: Arc<Shared>,
}

impl EsprytScreen {
    pub(crate) fn new(device: Arc<Device>, callbacks: Arc<dyn Callbacks>) -> PipeResult<EsprytScreen> {
        let root = device.display.create_context(None).map_err(PipeError::Init)?;
        Ok(EsprytScreen {
            shared: Arc::new(Shared {
                device,
                callbacks,
                grave: Arc::default(),
                root,
                root_in_use: Mutex::new(()),
                buffers: SharedTable::default(),
                textures: SharedTable::default(),
                renderbuffers: SharedTable::default(),
                render_states: SharedTable::default(),
                vertex_elements: SharedTable::default(),
                samplers: SharedTable::default(),
                views: SharedTable::default(),
                shaders: SharedTable::default(),
                fences: SharedTable::default(),
                generation: AtomicU64::new(1),
                contexts: AtomicU32::new(0),
                lost: AtomicBool::new(false),
                lost_reason: Mutex::new(None),
            }),
        })
    }

    fn fence(&self, handle: Handle) -> PipeResult<Arc<FenceObject>> {
        self.shared.fences.get(FenceHandle(handle)).map_err(|error| PipeError::BadHandle(error.to_string()))
    }

    fn ask(&self, handle: Handle, timeout_ns: u64) -> PipeResult<FenceAnswer> {
        let fence = self.fence(handle)?;
        let status = match &fence.sync {
            _ if self.shared.is_lost() => fence_status::DEVICE_LOST,
            None => fence_status::SIGNALED,
            Some(sync) => match sync.wait(timeout_ns) {
                Some(true) => fence_status::SIGNALED,
                Some(false) => fence_status::TIMEOUT,
                None => {
                    self.shared.lose("the driver cannot wait for a fence");
                    fence_status::DEVICE_LOST
                }
            },
        };
        Ok(FenceAnswer { status })
    }
}

impl Screen for EsprytScreen {
    fn get_caps(&self) -> CapsReply {
        self.shared.device.caps.clone()
    }

    fn resource_create(&self, desc: &ResourceDesc) {
        let shared = &self.shared;
        let Some(target) = Target::from_u8(desc.target) else {
            return shared.complain("resource_create", "unknown target");
        };
        let inserted = match target {
            Target::Buffer => {
                let buffer = Buffer::new(&shared.grave, desc.buffer_size, desc.usage, desc.storage_flags);
                shared.buffers.insert(BufferHandle(desc.handle), Arc::new(buffer)).map(drop)
            }
            _ => {
                let storage = match shared.texture_storage(desc) {
                    Ok(storage) => storage,
                    Err(error) => {
                        shared.report(ContextHandle::NULL, "resource_create", error);
                        Storage::None
                    }
                };
                let texture = Arc::new(Texture::new(target, Format(desc.format), storage));
                if target == Target::Renderbuffer {
                    shared.renderbuffers.insert(RenderbufferHandle(desc.handle), texture).map(drop)
                } else {
                    shared.textures.insert(TextureHandle(desc.handle), texture).map(drop)
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
            Some(ResourceHandle::Buffer(handle)) => shared.buffers.remove(handle).map(drop),
            Some(ResourceHandle::Texture(handle)) => shared.textures.remove(handle).map(drop),
            Some(ResourceHandle::Renderbuffer(handle)) => shared.renderbuffers.remove(handle).map(drop),
            None => return shared.complain("resource_destroy", "unknown storage class"),
        };
        match removed {
            Ok(()) => shared.bump(),
            Err(error) => shared.complain("resource_destroy", error),
        }
    }

    fn map_persistent(&self, buffer: &HandleOnly) -> PipeResult<MapResult> {
        let shared = &self.shared;
        let buffer =
            shared.buffers.get(BufferHandle(buffer.handle)).map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let (address, size) = shared.with_root(|gles| buffer.map(gles))?;
        Ok(MapResult { address: address.as_ptr() as u64, size, segment: 0, coherent: 1, offset: 0 })
    }

    fn unmap_persistent(&self, _buffer: &HandleOnly) {
        // Storage that was mapped once stays so: the driver draws from it all the same.
    }

    fn fence_status(&self, fence: &HandleOnly) -> PipeResult<FenceAnswer> {
        self.ask(fence.handle, 0)
    }

    fn fence_wait(&self, wait: &FenceWait) -> PipeResult<FenceAnswer> {
        self.ask(wait.fence, wait.timeout_ns)
    }

    fn fence_destroy(&self, fence: &HandleOnly) {
        if let Err(error) = self.shared.fences.remove(FenceHandle(fence.handle)) {
            self.shared.complain("fence_destroy", error);
        }
    }

    fn create_context(&self, context: ContextHandle) -> PipeResult<Box<dyn Context>> {
        if let Some(why) = self.shared.lost_reason() {
            return Err(PipeError::DeviceLost(why));
        }
        Ok(Box::new(EsprytContext::new(&self.shared, context)?))
    }

    fn device_lost(&self) -> Option<String> {
        self.shared.lost_reason()
    }
}

/// The backend: opens the host's driver at the first [`Backend::open`] and shares it between its screens.
#[derive(Default)]
pub struct EsprytBackend {
    device: Mutex<Option<Arc<Device>>>,
}

impl EsprytBackend {
    /// A backend that has opened nothing yet.
    pub fn new() -> EsprytBackend {
        EsprytBackend::default()
    }
}

impl Backend for EsprytBackend {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        let mut slot = self.device.lock();
        let device = match &*slot {
            Some(device) => device.clone(),
            None => slot.insert(Arc::new(Device::open()?)).clone(),
        };
        Ok(Arc::new(EsprytScreen::new(device, callbacks)?))
    }
}
