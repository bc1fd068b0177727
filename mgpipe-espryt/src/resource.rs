//! Storage: buffers, and textures with what is attached like them.

pub(crate) mod buffer;
pub(crate) mod texture;

use std::sync::atomic::{AtomicU64, Ordering};

/// A never-reused identity: the driver's names are reused, so no shadow of a binding may be keyed by one.
pub(crate) fn next_serial() -> u64 {
    static SERIALS: AtomicU64 = AtomicU64::new(1);
    SERIALS.fetch_add(1, Ordering::Relaxed)
}
