//! Buffer objects: storage that all contexts of a share group see.

mod binding;
mod data;
mod map;
mod memory;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

use mgpipe_tracker::Aggregate;
use mgpipe_types::{
    bind, gl, Box3, BufferHandle, Context as Pipe, CopyRegion, Kind, ResourceDesc, ResourceHandle, SubData, Target,
    TypedHandle,
};
use parking_lot::{Mutex, MutexGuard};

use crate::error::{GlError, GlResult};
use crate::pixel::Packed;
use crate::share::ShareCore;

pub(crate) use binding::{BufferBindings, RangeBinding};
pub(crate) use map::Mapping;
pub(crate) use memory::{AlignedBytes, MAP_ALIGNMENT};

/// Every way in which GL may use any buffer.
const ANY_USE: u16 = bind::VERTEX
    | bind::INDEX
    | bind::CONSTANT
    | bind::SHADER_BUFFER
    | bind::INDIRECT
    | bind::STREAM_OUTPUT
    | bind::ATOMIC
    | bind::TEXEL_BUFFER;

/// A buffer object.
pub(crate) struct Buffer {
    /// Identity on the pipe; stays the same when the storage is replaced.
    pub(crate) handle: BufferHandle,
    /// GL name at creation, for messages and queries of bindings.
    pub(crate) name: u32,
    core: Arc<ShareCore>,
    size: AtomicU64,
    /// Mapped without `GL_MAP_PERSISTENT_BIT`: commands that would use it are errors.
    mapped: AtomicBool,
    /// Was an element array at some time.
    element_array: AtomicBool,
    /// Draws have found it by themselves at some time: it was a vertex, index, uniform, feedback or texel buffer.
    attached: AtomicBool,
    /// Pixels wait for it.
    pub(crate) has_packed: AtomicBool,
    inner: Mutex<BufferInner>,
}

/// The part of a buffer that is behind its lock.
pub(crate) struct BufferInner {
    pub(crate) usage: u32,
    pub(crate) immutable: bool,
    pub(crate) storage_flags: u32,
    pub(crate) mapping: Option<Mapping>,
    /// Address of the storage in this process, once it was mapped persistently.
    resident: Option<usize>,
    /// A copy of the whole contents on this side, kept while nothing but this side writes.
    shadow: Option<memory::Shadow>,
    /// The storage has contents that somebody defined.
    defined: bool,
    /// Images that become pixels of the buffer before anything else is done with its contents.
    pub(crate) packed: Vec<Packed>,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({}, {:?}, {} bytes)", self.name, self.handle, self.size())
    }
}

impl Buffer {
    /// A buffer without storage.
    pub(crate) fn new(core: &Arc<ShareCore>, name: u32) -> GlResult<Arc<Buffer>> {
        let handle = core.mint("buffer object")?;
        let buffer = Buffer {
            handle,
            name,
            core: core.clone(),
            size: AtomicU64::new(0),
            mapped: AtomicBool::new(false),
            element_array: AtomicBool::new(false),
            attached: AtomicBool::new(false),
            has_packed: AtomicBool::new(false),
            inner: Mutex::new(BufferInner {
                usage: gl::STATIC_DRAW,
                immutable: false,
                storage_flags: 0,
                mapping: None,
                resident: None,
                shadow: None,
                defined: false,
                packed: Vec::new(),
            }),
        };
        core.screen.resource_create(&buffer.desc(0, gl::STATIC_DRAW));
        Ok(Arc::new(buffer))
    }

    /// Size of the storage in bytes.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    /// Whether the buffer is mapped in a way that forbids other uses (GL 4.6 §6.3).
    #[inline]
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped.load(Ordering::Relaxed)
    }

    /// The locked part.
    pub(crate) fn lock(&self) -> MutexGuard<'_, BufferInner> {
        self.inner.lock()
    }

    /// Notes that the buffer is an element array.
    pub(crate) fn used_as_element_array(&self) {
        if !self.element_array.load(Ordering::Relaxed) {
            self.element_array.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that draws find the buffer by themselves from now on; see [`crate::context::Context::attach_buffer`].
    pub(crate) fn attached(&self) {
        if !self.is_attached() {
            self.attached.store(true, Ordering::Release);
        }
    }

    /// Whether draws may find the buffer by themselves.
    pub(crate) fn is_attached(&self) -> bool {
        self.attached.load(Ordering::Acquire)
    }

    /// Notes that the GPU writes the buffer (transform feedback, copies, packs): host copies are stale.
    pub(crate) fn gpu_wrote(&self) {
        let mut inner = self.inner.lock();
        inner.defined = true;
        // While it is mapped the shadow is what the application sees; GL makes such uses errors.
        if inner.mapping.is_none() {
            inner.shadow = None;
        }
    }

    fn desc(&self, size: u64, usage: u32) -> ResourceDesc {
        let element = if self.element_array.load(Ordering::Relaxed) { bind::ELEMENT_ARRAY } else { 0 };
        ResourceDesc {
            handle: self.handle.raw(),
            target: Target::Buffer as u8,
            bind_mask: ANY_USE | element,
            width: u32::try_from(size).unwrap_or(u32::MAX),
            height: 1,
            depth: 1,
            array_layers: 1,
            levels: 1,
            usage,
            gl_name: self.name,
            buffer_size: size,
            ..ResourceDesc::default()
        }
    }

    /// Replaces the storage. The old contents are gone.
    pub(crate) fn respecify(&self, pipe: &mut dyn Pipe, inner: &mut BufferInner, size: u64, usage: u32) {
        if inner.resident.take().is_some() {
            self.core.screen.unmap_persistent(&crate::share::only(self.handle));
        }
        inner.usage = usage;
        inner.shadow = None;
        inner.defined = false;
        inner.packed.clear();
        self.has_packed.store(false, Ordering::Release);
        let desc = ResourceDesc {
            immutable: u8::from(inner.immutable),
            storage_flags: inner.storage_flags,
            ..self.desc(size, usage)
        };
        pipe.resource_respecify(&desc);
        if self.size.swap(size, Ordering::AcqRel) != size {
            self.core.aggregates.bump(Aggregate::Buffer);
        }
    }

    /// Sends bytes into the storage in command order.
    pub(crate) fn upload(&self, pipe: &mut dyn Pipe, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let data = SubData {
            res: self.handle.raw(),
            target: Target::Buffer as u16,
            union_box: Box3::from_buffer_range(offset, bytes.len() as u64),
            ..SubData::default()
        };
        pipe.resource_subdata(&data, &[], bytes);
    }

    /// Notes that a mapping has begun during which the device must not use the buffer.
    pub(crate) fn mapping_started(&self) {
        self.mapped.store(true, Ordering::Release);
        self.core.mapped_buffers.fetch_add(1, Ordering::AcqRel);
    }

    /// Has the device copy bytes to another buffer, or to another place in this one.
    pub(crate) fn copy_to(&self, pipe: &mut dyn Pipe, from: u64, target: &Buffer, to: u64, len: u64) {
        pipe.resource_copy_region(&CopyRegion {
            dst: target.handle.raw(),
            src: self.handle.raw(),
            dst_kind: Kind::Buffer as u8,
            src_kind: Kind::Buffer as u8,
            dst_x: to as u32 as i32,
            dst_y: (to >> 32) as u32 as i32,
            src_box: Box3::from_buffer_range(from, len),
            ..CopyRegion::default()
        });
    }

    /// Fetches bytes after everything before has run.
    ///
    /// # Errors
    /// What the backend answers: out of memory or a lost device.
    pub(crate) fn read_back(&self, pipe: &mut dyn Pipe, offset: u64, out: &mut [u8]) -> Result<(), GlError> {
        if out.is_empty() {
            return Ok(());
        }
        let readback = mgpipe_types::BufferReadback { res: self.handle.raw(), offset, size: out.len() as u64 };
        pipe.resource_readback(&readback, out).map_err(GlError::from)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.inner.get_mut().resident.is_some() {
            self.core.screen.unmap_persistent(&crate::share::only(self.handle));
        }
        self.core.destroy_resource(ResourceHandle::Buffer(self.handle));
    }
}
