//! Storage in memory that somebody else writes at any time (`VK_EXT_external_memory_host`).

use super::{usage_of, BufferStorage, Placement};
use crate::device::Device;
use crate::error::map_create;
use ash::{ext, vk};
use mgpipe_types::{PipeError, PipeResult, SharedMemory};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

const HOST: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Imports of this process. Each is an allocation of the driver's, of which devices have few: what lies beyond the share
/// below is left to the device's own blocks.
static IMPORTS: AtomicU32 = AtomicU32::new(0);

/// One allocation in this many may be an import.
const SHARE: u32 = 4;

/// Memory that was imported.
pub(super) struct Imported {
    pub(super) memory: vk::DeviceMemory,
    /// Keeps the addresses valid for as long as the device may use them.
    _host: Arc<dyn SharedMemory>,
}

impl Drop for Imported {
    fn drop(&mut self) {
        IMPORTS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn refused<T>(why: &str) -> PipeResult<T> {
    Err(PipeError::Unsupported(format!("memory of a client: {why}")))
}

impl BufferStorage {
    /// Storage whose bytes are the first of `host`.
    ///
    /// # Errors
    /// [`PipeError::Unsupported`] where the device does not take the memory, out of memory, a lost device.
    pub(crate) fn import(device: &Arc<Device>, size: u64, host: Arc<dyn SharedMemory>) -> PipeResult<BufferStorage> {
        let (address, bytes) = (host.address(), host.bytes());
        if !device.ext.external_memory_host {
            return refused("the device has no VK_EXT_external_memory_host");
        }
        let mut limits = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut query = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
        // SAFETY: the device has the extension that the chained structure belongs to.
        unsafe { device.instance.get_physical_device_properties2(device.physical, &mut query) };
        let alignment = limits.min_imported_host_pointer_alignment.max(1);
        if address % alignment != 0 || bytes % alignment != 0 || bytes < size {
            return refused("its place or its size");
        }
        let usage = usage_of(device, Placement::Upload);
        let asked = vk::PhysicalDeviceExternalBufferInfo::default().usage(usage).handle_type(HOST);
        let mut answer = vk::ExternalBufferProperties::default();
        // SAFETY: the device has the extension that the handle type belongs to.
        unsafe {
            let physical = device.physical;
            device.instance.get_physical_device_external_buffer_properties(physical, &asked, &mut answer);
        }
        let can = answer.external_memory_properties.external_memory_features;
        if !can.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE) {
            return refused("the device imports none for buffers");
        }
        let fns = ext::external_memory_host::Device::new(&device.instance, &device.raw);
        let pointer = address as usize as *mut std::ffi::c_void;
        let mut types = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the pointer is the start of memory that lives as long as `host`.
        unsafe { (fns.fp().get_memory_host_pointer_properties_ext)(fns.device(), HOST, pointer, &mut types) }
            .result()
            .map_err(|code| map_create("memory of a client", code))?;

        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HOST);
        let mut storage = BufferStorage::without_memory(device, size, usage, Some(&mut external))?;
        let raw = storage.raw;
        // SAFETY: the buffer was created by this device.
        let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let allowed = requirements.memory_type_bits & types.memory_type_bits;
        let memory_type = device
            .memory_properties
            .memory_types_as_slice()
            .iter()
            .enumerate()
            .find(|(index, kind)| allowed >> index & 1 != 0 && kind.property_flags.contains(wanted));
        let Some((memory_type, _)) = memory_type.filter(|_| requirements.size <= bytes) else {
            return refused("no kind of memory fits");
        };
        let most = device.properties.limits.max_memory_allocation_count / SHARE;
        let counted = IMPORTS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < most).then_some(n + 1));
        if counted.is_err() {
            return refused("too much of it is in use");
        }
        let mut imported = Imported { memory: vk::DeviceMemory::null(), _host: host };
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HOST).host_pointer(pointer);
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(raw);
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(bytes)
            .memory_type_index(memory_type as u32)
            .push_next(&mut import);
        if can.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY) {
            info = info.push_next(&mut dedicated);
        }
        // SAFETY: the pointer and the size are those of `host`, aligned as the device wants; `imported` keeps it.
        imported.memory = unsafe { device.raw.allocate_memory(&info, None) }
            .map_err(|code| map_create("memory of a client", code))?;
        let memory = imported.memory;
        storage.imported = Some(imported);
        // SAFETY: the buffer has no memory yet, and the memory holds its requirements.
        unsafe { device.raw.bind_buffer_memory(raw, memory, 0) }
            .map_err(|code| map_create("memory of a client", code))?;
        storage.mapped = NonNull::new(pointer.cast());
        Ok(storage)
    }

    /// Whether the memory is somebody else's.
    pub(crate) fn is_imported(&self) -> bool {
        self.imported.is_some()
    }

    /// Copies the first bytes of other storage, as many as both have, which no commands write.
    pub(crate) fn copy_from(&self, other: &BufferStorage) {
        if let (Some(to), Some(from)) = (self.mapped, other.mapped) {
            // SAFETY: both are mapped whole while they are borrowed, and are different storage. Where somebody else writes the
            // bytes meanwhile, the copy has some of them: any value is valid.
            unsafe { std::ptr::copy(from.as_ptr(), to.as_ptr(), self.size.min(other.size) as usize) };
        }
    }
}
