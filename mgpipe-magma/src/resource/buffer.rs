//! Buffer storage.

mod import;

use super::Usage;
use crate::device::{BatchValue, Device};
use crate::error::map_create;
use ash::vk;
use gpu_allocator::vulkan::Allocation;
use gpu_allocator::MemoryLocation;
use hashbrown::HashMap;
use mgpipe_types::{PipeError, PipeResult, ResourceDesc};
use parking_lot::{Mutex, RwLock};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A Vulkan buffer with its memory. Freed when the last batch, table or binding lets go.
pub(crate) struct BufferStorage {
    device: Arc<Device>,
    pub(crate) raw: vk::Buffer,
    pub(crate) size: u64,
    allocation: Option<Allocation>,
    /// Memory that is not the allocator's.
    imported: Option<import::Imported>,
    mapped: Option<NonNull<u8>>,
    pub(crate) usage: Usage,
    /// Whether commands have ever written the bytes: host copies of them are then not to be trusted.
    pub(crate) device_written: AtomicBool,
    /// The latest batch that writes the bytes, until a read has waited for it.
    pub(crate) writer: Mutex<Option<Arc<BatchValue>>>,
    /// Bounds of the bytes that were ever given contents: what lies outside is nothing that commands can be reading.
    written: Mutex<(u64, u64)>,
    views: Mutex<HashMap<(vk::Format, u64, u64), vk::BufferView>>,
}

// SAFETY: `mapped` points into memory that stays mapped until the allocation is freed in `Drop`; the bytes behind it are
// only written through raw copies whose ranges the GL application orders, as the API demands of it.
unsafe impl Send for BufferStorage {}
// SAFETY: as above.
unsafe impl Sync for BufferStorage {}

/// Where a buffer's memory shall lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placement {
    /// Written by the host, read by the device: device-local and host-visible when there is such a heap.
    Upload,
    /// Written by the device, read by the host: cached.
    Readback,
}

/// What a buffer may be used for.
fn usage_of(device: &Device, placement: Placement) -> vk::BufferUsageFlags {
    use vk::BufferUsageFlags as U;
    let mut usage = U::TRANSFER_SRC | U::TRANSFER_DST;
    if placement == Placement::Upload {
        usage |= U::UNIFORM_BUFFER
            | U::STORAGE_BUFFER
            | U::VERTEX_BUFFER
            | U::INDEX_BUFFER
            | U::INDIRECT_BUFFER
            | U::UNIFORM_TEXEL_BUFFER
            | U::STORAGE_TEXEL_BUFFER;
        if device.ext.transform_feedback {
            usage |= U::TRANSFORM_FEEDBACK_BUFFER_EXT | U::TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT;
        }
    }
    usage
}

impl BufferStorage {
    /// A Vulkan buffer that has no memory yet.
    fn without_memory(
        device: &Arc<Device>,
        size: u64,
        usage: vk::BufferUsageFlags,
        external: Option<&mut vk::ExternalMemoryBufferCreateInfo<'_>>,
    ) -> PipeResult<BufferStorage> {
        // A range of a buffer may end anywhere; word-sized device operations still want whole words.
        let mut info = vk::BufferCreateInfo::default().size(size.max(4).next_multiple_of(4)).usage(usage);
        if let Some(external) = external {
            info = info.push_next(external);
        }
        // SAFETY: the device is alive; all usage bits and the chain belong to enabled extensions.
        let raw = unsafe { device.raw.create_buffer(&info, None) }.map_err(|code| map_create("buffer", code))?;
        Ok(BufferStorage {
            device: device.clone(),
            raw,
            size,
            allocation: None,
            imported: None,
            mapped: None,
            usage: Usage::default(),
            device_written: AtomicBool::new(false),
            writer: Mutex::new(None),
            written: Mutex::new((0, 0)),
            views: Mutex::new(HashMap::new()),
        })
    }

    /// Allocates storage. The bytes are undefined.
    ///
    /// # Errors
    /// Out of memory, a lost device.
    pub(crate) fn new(device: &Arc<Device>, size: u64, placement: Placement) -> PipeResult<BufferStorage> {
        let mut storage = BufferStorage::without_memory(device, size, usage_of(device, placement), None)?;
        let raw = storage.raw;
        // SAFETY: the buffer was created by this device.
        let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let locations: &[MemoryLocation] = match placement {
            Placement::Upload => &[MemoryLocation::CpuToGpu, MemoryLocation::GpuToCpu],
            Placement::Readback => &[MemoryLocation::GpuToCpu, MemoryLocation::CpuToGpu],
        };
        let mut result = Err(PipeError::OutOfMemory("buffer".into()));
        for &location in locations {
            result = device.allocate("buffer", requirements, location, true);
            if result.is_ok() {
                break;
            }
        }
        let allocation = result?;
        // SAFETY: the allocation was made for this buffer's requirements and is bound once.
        let bound = unsafe { device.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        storage.mapped = allocation.mapped_ptr().map(NonNull::cast);
        storage.allocation = Some(allocation);
        bound.map_err(|code| map_create("buffer memory", code))?;
        Ok(storage)
    }

    /// Makes the contents undefined again. Nothing uses the storage.
    pub(crate) fn renew(&self) {
        self.device_written.store(false, Ordering::Relaxed);
        *self.writer.lock() = None;
        *self.written.lock() = (0, 0);
    }

    /// Notes that bytes get contents.
    pub(crate) fn note_written(&self, offset: u64, len: u64) {
        let mut written = self.written.lock();
        let end = offset.saturating_add(len);
        *written = if written.0 == written.1 { (offset, end) } else { (written.0.min(offset), written.1.max(end)) };
    }

    /// Whether bytes never had contents, so that commands which still run have no business with them.
    pub(crate) fn is_fresh(&self, offset: u64, len: u64) -> bool {
        let written = *self.written.lock();
        written.0 == written.1 || offset >= written.1 || offset.saturating_add(len) <= written.0
    }

    /// Takes the contents of other storage of the same size, which no commands write.
    pub(crate) fn take_contents(&self, other: &BufferStorage) {
        let Some(from) = other.mapped else { return };
        // SAFETY: the other storage is mapped whole and stays so while it is borrowed; it is distinct from this one.
        self.write(0, unsafe { std::slice::from_raw_parts(from.as_ptr(), other.size as usize) });
    }

    /// Address of the first byte while the storage lives; every placement is host-visible and coherent.
    pub(crate) fn mapped(&self) -> Option<NonNull<u8>> {
        self.mapped
    }

    /// Copies bytes in. Bytes outside of the storage are dropped.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) {
        let Some(mapped) = self.mapped else { return };
        let Some(room) = self.size.checked_sub(offset) else { return };
        let len = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.note_written(offset, len as u64);
        // SAFETY: offset + len lies within the storage, which is mapped whole; the source is a distinct slice.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.as_ptr().add(offset as usize), len) };
    }

    /// Copies bytes out; what lies outside of the storage stays as it is.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let Some(mapped) = self.mapped else { return };
        let Some(room) = self.size.checked_sub(offset) else { return };
        let len = out.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(mapped.as_ptr().add(offset as usize), out.as_mut_ptr(), len) };
    }

    /// A texel view of a range.
    pub(crate) fn texel_view(&self, format: vk::Format, offset: u64, range: u64) -> PipeResult<vk::BufferView> {
        let mut views = self.views.lock();
        if let Some(view) = views.get(&(format, offset, range)) {
            return Ok(*view);
        }
        let info = vk::BufferViewCreateInfo::default().buffer(self.raw).format(format).offset(offset).range(range);
        // SAFETY: the buffer has both texel usages; the caller has checked format, alignment and range.
        let view = unsafe { self.device.raw.create_buffer_view(&info, None) }
            .map_err(|code| map_create("texel buffer view", code))?;
        views.insert((format, offset, range), view);
        Ok(view)
    }
}

impl Drop for BufferStorage {
    fn drop(&mut self) {
        // SAFETY: no batch holds the storage any more, hence nothing on the device uses it.
        unsafe {
            for (_, view) in self.views.get_mut().drain() {
                self.device.raw.destroy_buffer_view(view, None);
            }
            self.device.raw.destroy_buffer(self.raw, None);
        }
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
        if let Some(imported) = self.imported.take() {
            // SAFETY: the buffer is gone. A null handle is ignored.
            unsafe { self.device.raw.free_memory(imported.memory, None) };
        }
    }
}

/// A buffer of the pipe: a handle's current storage.
pub(crate) struct Buffer {
    storage: RwLock<Option<Arc<BufferStorage>>>,
    /// Persistently mapped: the storage must not be swapped under the application's pointer.
    pub(crate) pinned: AtomicBool,
}

impl Buffer {
    /// A buffer with storage as described; none when the size is 0.
    pub(crate) fn new(device: &Arc<Device>, desc: &ResourceDesc) -> PipeResult<Buffer> {
        let buffer = Buffer { storage: RwLock::new(None), pinned: AtomicBool::new(false) };
        if desc.buffer_size > 0 {
            let storage = BufferStorage::new(device, desc.buffer_size, Placement::Upload)?;
            buffer.replace(Some(Arc::new(storage)));
        }
        Ok(buffer)
    }

    /// Swaps in other storage; answers what was there.
    pub(crate) fn replace(&self, storage: Option<Arc<BufferStorage>>) -> Option<Arc<BufferStorage>> {
        std::mem::replace(&mut *self.storage.write(), storage)
    }

    /// The current storage.
    pub(crate) fn storage(&self) -> Option<Arc<BufferStorage>> {
        self.storage.read().clone()
    }
}
