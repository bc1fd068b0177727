//! The atomic words of the protocols as traits, so that a model checker can put its own in their place.

use std::sync::atomic::{self, Ordering};

/// A 64-bit word that one side writes and the other reads.
pub(crate) trait Word64 {
    /// Reads the word.
    fn load(&self, order: Ordering) -> u64;
    /// Writes the word.
    fn store(&self, value: u64, order: Ordering);
    /// Writes the word and returns what it was.
    fn swap(&self, value: u64, order: Ordering) -> u64;
    /// Writes the larger of the value and what is there, always as a write.
    fn raise(&self, value: u64, order: Ordering);
}

/// A 32-bit word that both sides change.
pub(crate) trait Word32 {
    /// Reads the word.
    fn load(&self, order: Ordering) -> u32;
    /// Writes the word.
    fn store(&self, value: u32, order: Ordering);
    /// Writes the word and returns what it was.
    fn swap(&self, value: u32, order: Ordering) -> u32;
    /// Adds to the word, with wrap.
    fn add(&self, value: u32, order: Ordering);
    /// The fence that goes with words of this kind.
    fn fence(order: Ordering);
}

impl Word64 for atomic::AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        atomic::AtomicU64::load(self, order)
    }
    fn store(&self, value: u64, order: Ordering) {
        atomic::AtomicU64::store(self, value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        atomic::AtomicU64::swap(self, value, order)
    }
    fn raise(&self, value: u64, order: Ordering) {
        atomic::AtomicU64::fetch_max(self, value, order);
    }
}

impl Word32 for atomic::AtomicU32 {
    fn load(&self, order: Ordering) -> u32 {
        atomic::AtomicU32::load(self, order)
    }
    fn store(&self, value: u32, order: Ordering) {
        atomic::AtomicU32::store(self, value, order);
    }
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        atomic::AtomicU32::swap(self, value, order)
    }
    fn add(&self, value: u32, order: Ordering) {
        atomic::AtomicU32::fetch_add(self, value, order);
    }
    fn fence(order: Ordering) {
        atomic::fence(order);
    }
}

#[cfg(test)]
impl Word64 for loom::sync::atomic::AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        loom::sync::atomic::AtomicU64::load(self, order)
    }
    fn store(&self, value: u64, order: Ordering) {
        loom::sync::atomic::AtomicU64::store(self, value, order);
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        loom::sync::atomic::AtomicU64::swap(self, value, order)
    }
    fn raise(&self, value: u64, order: Ordering) {
        loom::sync::atomic::AtomicU64::fetch_max(self, value, order);
    }
}

#[cfg(test)]
impl Word32 for loom::sync::atomic::AtomicU32 {
    fn load(&self, order: Ordering) -> u32 {
        loom::sync::atomic::AtomicU32::load(self, order)
    }
    fn store(&self, value: u32, order: Ordering) {
        loom::sync::atomic::AtomicU32::store(self, value, order);
    }
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        loom::sync::atomic::AtomicU32::swap(self, value, order)
    }
    fn add(&self, value: u32, order: Ordering) {
        loom::sync::atomic::AtomicU32::fetch_add(self, value, order);
    }
    fn fence(order: Ordering) {
        loom::sync::atomic::fence(order);
    }
}
