//! Aligned host memory for mapped buffers.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crate::share::ShareCore;

/// `GL_MIN_MAP_BUFFER_ALIGNMENT`.
pub(crate) const MAP_ALIGNMENT: usize = 64;

#[repr(C, align(64))]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Line([u8; MAP_ALIGNMENT]);

/// Zeroed bytes whose start is aligned for `glMapBufferRange`. The address stays the same when the value moves.
pub(crate) struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// Zeroed memory; `None` when there is not enough.
    pub(crate) fn new(len: usize) -> Option<AlignedBytes> {
        // Zeroed by the allocator, which knows when pages are zero already.
        let lines = bytemuck::allocation::try_zeroed_vec(len.div_ceil(MAP_ALIGNMENT).max(1)).ok()?;
        Some(AlignedBytes { lines, len })
    }

    /// Memory for `len` bytes of any contents: this one when it is large enough.
    pub(crate) fn renewed(mut self, len: usize) -> Option<AlignedBytes> {
        if self.lines.len() * MAP_ALIGNMENT < len {
            return AlignedBytes::new(len);
        }
        self.len = len;
        Some(self)
    }

    /// Bytes that it could hold.
    pub(crate) fn capacity(&self) -> usize {
        self.lines.len() * MAP_ALIGNMENT
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }

    /// The bytes for writing.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }

    /// Address of a byte that the application may use until the memory is dropped.
    pub(crate) fn address(&mut self, offset: usize) -> Option<NonNull<u8>> {
        bytemuck::cast_slice_mut::<Line, u8>(&mut self.lines).get_mut(offset..).and_then(|rest| {
            // A zero-length tail has no byte to point at.
            rest.first_mut().map(NonNull::from)
        })
    }
}

/// Host copies of buffers that a share group keeps between mappings, in bytes.
pub(crate) const SHADOW_BUDGET: usize = 64 << 20;

/// A copy of a buffer's whole contents on this side, counted against the share group's budget.
pub(crate) struct Shadow {
    memory: AlignedBytes,
    core: Arc<ShareCore>,
}

impl Shadow {
    /// Zeroed memory; `None` when there is not enough.
    pub(crate) fn new(len: usize, core: &Arc<ShareCore>) -> Option<Shadow> {
        let memory = AlignedBytes::new(len)?;
        core.shadow_bytes.fetch_add(len, Ordering::Relaxed);
        Some(Shadow { memory, core: core.clone() })
    }

    /// Whether the group keeps more than its budget.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.core.shadow_bytes.load(Ordering::Relaxed) > SHADOW_BUDGET
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        self.core.shadow_bytes.fetch_sub(self.memory.len, Ordering::Relaxed);
    }
}

impl std::ops::Deref for Shadow {
    type Target = AlignedBytes;

    fn deref(&self) -> &AlignedBytes {
        &self.memory
    }
}

impl std::ops::DerefMut for Shadow {
    fn deref_mut(&mut self) -> &mut AlignedBytes {
        &mut self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_aligned_and_zeroed() {
        for len in [0, 1, 63, 64, 65, 4096] {
            let mut memory = AlignedBytes::new(len).expect("small");
            assert_eq!(memory.bytes().len(), len);
            assert!(memory.bytes().iter().all(|&b| b == 0));
            let address = memory.address(0).expect("at least one line").as_ptr() as usize;
            assert_eq!(address % MAP_ALIGNMENT, 0);
        }
        assert!(AlignedBytes::new(usize::MAX / 2).is_none());
        let reused = AlignedBytes::new(1000).and_then(|memory| memory.renewed(3)).expect("small");
        assert_eq!((reused.bytes().len(), reused.capacity()), (3, 1024));
        assert_eq!(reused.renewed(5000).expect("small").bytes().len(), 5000);
    }
}
