//! Memory that the application writes through a pointer at any time while the emitter looks at it.
#![allow(unsafe_code)]

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ptr::NonNull;

/// A zeroed block of host memory at a fixed address, aligned to a page.
///
/// Only its address leaves it. Both sides may touch the bytes at once, as with memory that a device shares: what is read
/// is then some mixture of old and new bytes, and never anything else.
pub(crate) struct Shadow {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the block is plain memory owned by the value; its bytes are only moved by the raw copies below.
unsafe impl Send for Shadow {}
// SAFETY: as above; no reference to the bytes is ever made.
unsafe impl Sync for Shadow {}

impl Shadow {
    /// A block of `len` bytes; `None` when there is no memory.
    pub(crate) fn new(len: usize) -> Option<Shadow> {
        let layout = Layout::from_size_align(len.max(1), 4096).ok()?;
        // SAFETY: the layout's size is at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Shadow { start, layout })
    }

    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.layout.size()
    }

    /// Copies bytes out; false when the range lies outside.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) -> bool {
        if offset.checked_add(out.len()).is_none_or(|end| end > self.len()) {
            return false;
        }
        // SAFETY: the range was checked and `out` is another block. The application may write the bytes meanwhile, which
        // is a race that the mapping's contract hands to the application; the copy is of plain bytes, any value is valid.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(offset), out.as_mut_ptr(), out.len()) };
        true
    }

    /// Copies bytes in; false when the range lies outside.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> bool {
        if offset.checked_add(bytes.len()).is_none_or(|end| end > self.len()) {
            return false;
        }
        // SAFETY: as in `read`, in the other direction.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(offset), bytes.len()) };
        true
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
