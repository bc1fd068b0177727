//! The share group: what all contexts of a display see, and how shared objects live and die.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

use mgpipe_handles::HandleSpace;
use mgpipe_tracker::{SharedAggregates, Switches};
use mgpipe_types::{
    features, CapsReply, ContextHandle, HandleOnly, ResourceHandle, ResourceRef, Screen, ShaderCso, TextureHandle,
    TypedHandle,
};
use parking_lot::Mutex;

use crate::callbacks::FrontendCallbacks;
use crate::error::{out_of_memory, GlError, GlResult};
use crate::limits::{Limits, MAX_VERSION};
use crate::observer::Observer;

/// What every shared object needs to reach: the screen, the handle space and the group's generations.
///
/// Objects hold this part and never the tables that hold them, so that no cycle keeps anything alive.
pub struct ShareCore {
    /// The backend's half of the share group.
    pub(crate) screen: Arc<dyn Screen>,
    /// What the backend can do.
    pub(crate) caps: CapsReply,
    /// GL limits.
    pub(crate) limits: Limits,
    /// Mints handles.
    pub(crate) handles: Arc<HandleSpace>,
    /// Generations of shared objects: bumped after every change that a verb of any context must see.
    pub(crate) aggregates: SharedAggregates,
    /// Buffers that are mapped at this moment: draws look for mapped buffers only while there are any.
    pub(crate) mapped_buffers: AtomicUsize,
    /// Bytes of buffer contents that are kept on this side between mappings.
    pub(crate) shadow_bytes: AtomicUsize,
    graveyard: Mutex<Vec<Dead>>,
    graves: AtomicUsize,
    callbacks: Option<Arc<FrontendCallbacks>>,
    /// How trackers of the group's contexts work.
    pub(crate) switches: Switches,
    /// Who hears what contexts count.
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// An object whose destroy call belongs to a context's command flow, waiting for a context to emit it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dead {
    /// A linked program.
    Shader(ShaderCso),
    /// A texture: views of it in CSO caches must go.
    Texture(TextureHandle),
}

impl ShareCore {
    /// Mints a handle, or reports `GL_OUT_OF_MEMORY` when all slots of the kind are taken.
    pub(crate) fn mint<H: TypedHandle>(&self, what: &'static str) -> GlResult<H> {
        self.handles.alloc().ok_or_else(|| out_of_memory(format!("{what}: no free handle")))
    }

    /// Gives a handle back whose destroy call was emitted.
    pub(crate) fn free<H: TypedHandle>(&self, handle: H) {
        if let Err(error) = self.handles.free(handle) {
            debug_assert!(false, "{error}");
            log::error!("handle bookkeeping: {error}");
        }
    }

    /// Emits the destroy of a resource whose last owner is gone, and frees its handle.
    pub(crate) fn destroy_resource(&self, resource: ResourceHandle) {
        self.screen.resource_destroy(&ResourceRef::new(resource));
        match resource {
            ResourceHandle::Buffer(handle) => self.free(handle),
            ResourceHandle::Texture(handle) => {
                // The handle stays taken until contexts have dropped the views of it: a view names it.
                self.bury(Dead::Texture(handle));
            }
            ResourceHandle::Renderbuffer(handle) => self.free(handle),
        }
    }

    /// Whether any buffer of the group is mapped.
    #[inline]
    pub(crate) fn has_mapped_buffers(&self) -> bool {
        self.mapped_buffers.load(Ordering::Relaxed) != 0
    }

    /// Whether buffers can stay mapped while the device uses them.
    pub(crate) fn has_buffer_storage(&self) -> bool {
        self.caps.has(features::PERSISTENT_MAP) && self.caps.has_call(mgpipe_types::Opcode::MapPersistent)
    }

    /// Whether ordinary mappings may be those of the storage itself.
    pub(crate) fn has_silent_maps(&self) -> bool {
        self.has_buffer_storage() && self.caps.has(features::SILENT_MAPS)
    }

    /// Whether the backend wants index bytes on the host.
    #[inline]
    pub(crate) fn needs_index_bytes(&self) -> bool {
        self.caps.has(features::NEEDS_HOST_INDEX_BYTES)
    }

    /// Leaves the destroy call of an object to the next context that runs a verb.
    pub(crate) fn bury(&self, dead: Dead) {
        self.graveyard.lock().push(dead);
        self.graves.fetch_add(1, Ordering::Release);
    }

    /// Whether [`ShareCore::take_dead`] has something.
    #[inline]
    pub(crate) fn has_dead(&self) -> bool {
        self.graves.load(Ordering::Relaxed) != 0
    }

    /// Objects whose destroy calls the caller now emits.
    pub(crate) fn take_dead(&self) -> Vec<Dead> {
        let mut graveyard = self.graveyard.lock();
        self.graves.store(0, Ordering::Release);
        std::mem::take(&mut *graveyard)
    }

    /// Number of live handles of a kind, for leak tests.
    #[cfg(test)]
    pub(crate) fn live(&self, kind: mgpipe_types::Kind) -> u32 {
        self.handles.live(kind)
    }

    /// An error that the backend found asynchronously for this context.
    pub(crate) fn take_server_error(&self, context: ContextHandle) -> Option<(u32, String)> {
        self.callbacks.as_ref()?.take_error(context)
    }

    /// How often the device was reset and what it had was restored.
    pub(crate) fn resets(&self) -> u32 {
        self.callbacks.as_ref().map_or(0, |callbacks| callbacks.resets())
    }
}

/// What all contexts of a share group have in common beside their objects.
#[derive(Clone, Default)]
pub struct ShareOptions {
    /// How their trackers work: for controls.
    pub switches: Switches,
    /// Who hears what they count.
    pub observer: Option<Arc<dyn Observer>>,
}

/// Objects and names that contexts share: one a display connection or `share_context` chain.
pub struct ShareGroup {
    pub(crate) core: Arc<ShareCore>,
    /// Buffer objects.
    pub(crate) buffers: crate::names::NameTable<crate::buffer::Buffer>,
    /// Shader and program objects, which share one name space.
    pub(crate) shaders: crate::names::NameTable<crate::program::ShaderOrProgram>,
    /// Texture objects.
    pub(crate) textures: crate::names::NameTable<crate::texture::Texture>,
    /// Sampler objects.
    pub(crate) samplers: crate::names::NameTable<crate::sampler::Sampler>,
    /// Renderbuffer objects.
    pub(crate) renderbuffers: crate::names::NameTable<crate::renderbuffer::Renderbuffer>,
    /// Internal formats and what the backend stores them in.
    pub(crate) formats: crate::format::FormatTable,
    /// Sync objects.
    pub(crate) syncs: crate::sync::SyncTable,
    /// Contexts of the group that are there now.
    n_contexts: AtomicUsize,
    lost: AtomicBool,
}

impl std::fmt::Debug for ShareGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShareGroup").field("device", &self.core.caps.device_name).finish_non_exhaustive()
    }
}

impl std::ops::Deref for ShareGroup {
    type Target = ShareCore;

    fn deref(&self) -> &ShareCore {
        &self.core
    }
}

impl ShareGroup {
    /// A share group on what a backend's `open` answered. Each group needs a screen of its own.
    pub fn new(screen: Arc<dyn Screen>) -> Arc<ShareGroup> {
        ShareGroup::build(screen, None, ShareOptions::default())
    }

    /// Like [`ShareGroup::new`], with the callbacks that the backend was opened with: errors that only the backend can
    /// detect then reach `glGetError`.
    pub fn with_callbacks(screen: Arc<dyn Screen>, callbacks: Arc<FrontendCallbacks>) -> Arc<ShareGroup> {
        ShareGroup::build(screen, Some(callbacks), ShareOptions::default())
    }

    /// Like [`ShareGroup::with_callbacks`], with what else every context of the group has in common.
    pub fn with_options(
        screen: Arc<dyn Screen>,
        callbacks: Arc<FrontendCallbacks>,
        options: ShareOptions,
    ) -> Arc<ShareGroup> {
        ShareGroup::build(screen, Some(callbacks), options)
    }

    fn build(
        screen: Arc<dyn Screen>,
        callbacks: Option<Arc<FrontendCallbacks>>,
        options: ShareOptions,
    ) -> Arc<ShareGroup> {
        let caps = screen.get_caps();
        let limits = Limits::new(&caps);
        let formats = crate::format::FormatTable::new(&caps);
        // Unit tests end their process at once, under the feet of a worker that still builds its tables.
        if !cfg!(test) {
            mgl_glsl::warm_up();
        }
        let core = ShareCore {
            screen,
            caps,
            limits,
            handles: Arc::new(HandleSpace::new()),
            aggregates: SharedAggregates::new(),
            mapped_buffers: AtomicUsize::new(0),
            shadow_bytes: AtomicUsize::new(0),
            graveyard: Mutex::new(Vec::new()),
            graves: AtomicUsize::new(0),
            callbacks,
            switches: options.switches,
            observer: options.observer,
        };
        Arc::new(ShareGroup {
            core: Arc::new(core),
            buffers: Default::default(),
            shaders: Default::default(),
            textures: Default::default(),
            samplers: Default::default(),
            renderbuffers: Default::default(),
            formats,
            syncs: Default::default(),
            n_contexts: AtomicUsize::new(0),
            lost: AtomicBool::new(false),
        })
    }

    /// Highest GL version that contexts of this group have.
    pub fn max_version(&self) -> (u32, u32) {
        MAX_VERSION
    }

    /// A context joins the group.
    pub(crate) fn enter(&self) {
        self.n_contexts.fetch_add(1, Ordering::AcqRel);
    }

    /// A context leaves the group.
    pub(crate) fn leave(&self) {
        self.n_contexts.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether several contexts share the objects.
    pub(crate) fn is_shared(&self) -> bool {
        self.n_contexts.load(Ordering::Acquire) > 1
    }

    /// Marks every context of the group as lost (the device is gone).
    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Whether the group's device is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}

impl Drop for ShareCore {
    fn drop(&mut self) {
        // Destroys that no context came to emit: their contexts are gone, and with them the flow that used the objects.
        for dead in self.take_dead() {
            match dead {
                Dead::Texture(handle) => self.free(handle),
                Dead::Shader(handle) => self.free(handle),
            }
        }
    }
}

/// Wraps a handle for the calls that take one alone.
pub(crate) fn only<H: TypedHandle>(handle: H) -> HandleOnly {
    HandleOnly::new(handle)
}

/// Why a context could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateContextError {
    /// The version, profile or flags are not offered.
    #[error("no context with these attributes: {0}")]
    BadMatch(String),
    /// The backend could not start a command flow.
    #[error("the backend could not make a context: {0}")]
    Backend(String),
}

impl From<GlError> for CreateContextError {
    fn from(error: GlError) -> CreateContextError {
        CreateContextError::Backend(error.message.into_owned())
    }
}
