//! Memory that the application writes through a pointer at any time while the emitter looks at it.
#![allow(unsafe_code)]

use crate::channel::memory::Region;
use mgpipe_types::SharedMemory;
use std::sync::Arc;

/// A block of host memory at a fixed address, on pages of its own.
///
/// Only its address leaves it. Both sides may touch the bytes at once, as with memory that a device shares: what is read
/// is then some mixture of old and new bytes, and never anything else.
pub(crate) struct Shadow {
    region: Arc<Region>,
}

impl Shadow {
    /// A zeroed block of at least `len` bytes; `None` when there is no memory.
    pub(crate) fn new(len: usize) -> Option<Shadow> {
        Region::private(len).ok().map(|region| Shadow { region: Arc::new(region) })
    }

    pub(crate) fn address(&self) -> u64 {
        self.region.address()
    }

    pub(crate) fn len(&self) -> usize {
        self.region.len()
    }

    /// Copies bytes out; false when the range lies outside.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) -> bool {
        if offset.checked_add(out.len()).is_none_or(|end| end > self.len()) {
            return false;
        }
        let from = (self.address() as *const u8).wrapping_add(offset);
        // SAFETY: the range was checked, and the region lives as long as `self`; `out` is another block. The application may
        // write the bytes meanwhile, which is a race that the mapping's contract hands to the application; the copy is of
        // plain bytes, any value is valid.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
        true
    }

    /// Copies bytes in; false when the range lies outside.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> bool {
        if offset.checked_add(bytes.len()).is_none_or(|end| end > self.len()) {
            return false;
        }
        let to = (self.address() as *mut u8).wrapping_add(offset);
        // SAFETY: as in `read`, in the other direction; regions of this process are writable.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        true
    }
}

/// Copies bytes out of memory that is shared with the server; false when the range lies outside.
pub(crate) fn read_shared(memory: &dyn SharedMemory, offset: usize, out: &mut [u8]) -> bool {
    let length = usize::try_from(memory.bytes()).unwrap_or(0);
    if offset.checked_add(out.len()).is_none_or(|end| end > length) {
        return false;
    }
    let from = (memory.address() as *const u8).wrapping_add(offset);
    // SAFETY: the range was checked; `SharedMemory` keeps its address and its length as long as it lives, and it is borrowed;
    // `out` is another block. The device may write the bytes meanwhile when the program asks for that without waiting; the
    // copy is of plain bytes, any value is valid.
    unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
    true
}
