//! The handle space of a share group: every kind, callable from any thread.

use crate::allocator::{FreeError, SlotAllocator};
use mgpipe_types::{is_composite_shader_slot, Kind, ShaderCso, TypedHandle};
use parking_lot::Mutex;

/// Thread-safe allocators of all kinds, one lock a kind, with the composite band of [`Kind::ShaderCso`] apart.
///
/// A share group has one space; all its contexts mint from it. A handle may be freed only after the destroy call of its
/// object was emitted: the server must see the destroy before the create that reuses the slot.
#[derive(Debug)]
pub struct HandleSpace {
    kinds: [Mutex<SlotAllocator>; Kind::ALL.len()],
    composites: Mutex<SlotAllocator>,
}

impl HandleSpace {
    /// A space in which every slot is free.
    pub fn new() -> HandleSpace {
        HandleSpace {
            kinds: Kind::ALL.map(|kind| Mutex::new(SlotAllocator::for_kind(kind))),
            composites: Mutex::new(SlotAllocator::for_composites()),
        }
    }

    fn kind(&self, kind: Kind) -> &Mutex<SlotAllocator> {
        // `Kind` counts from 1 without gaps, which a test asserts.
        &self.kinds[kind as usize - 1]
    }

    fn owner<H: TypedHandle>(&self, handle: H) -> &Mutex<SlotAllocator> {
        if H::KIND == Kind::ShaderCso && is_composite_shader_slot(handle.raw().slot) {
            &self.composites
        } else {
            self.kind(H::KIND)
        }
    }

    /// Hands out a fresh handle of the kind; `None` when all its slots are taken.
    pub fn alloc<H: TypedHandle>(&self) -> Option<H> {
        self.kind(H::KIND).lock().alloc().map(H::from_raw)
    }

    /// Hands out a handle for a program-pipeline composite; `None` when the band is full.
    pub fn alloc_composite(&self) -> Option<ShaderCso> {
        self.composites.lock().alloc().map(ShaderCso)
    }

    /// Takes a handle back, composites included.
    ///
    /// # Errors
    /// See [`SlotAllocator::free`].
    pub fn free<H: TypedHandle>(&self, handle: H) -> Result<(), FreeError> {
        self.owner(handle).lock().free(handle.raw())
    }

    /// Whether the handle was handed out and not freed.
    pub fn is_live<H: TypedHandle>(&self, handle: H) -> bool {
        self.owner(handle).lock().is_live(handle.raw())
    }

    /// Number of live handles of a kind, composites included: what a leak test looks at.
    pub fn live(&self, kind: Kind) -> u32 {
        let composites = if kind == Kind::ShaderCso { self.composites.lock().live() } else { 0 };
        self.kind(kind).lock().live() + composites
    }
}

impl Default for HandleSpace {
    fn default() -> Self {
        HandleSpace::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::{Handle, TextureHandle};
    use std::collections::HashSet;

    #[test]
    fn kinds_count_from_one_without_gaps() {
        for (i, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i + 1);
        }
    }

    #[test]
    fn threads_never_receive_the_same_handle() {
        let space = HandleSpace::new();
        let per_thread: Vec<Vec<Handle>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut seen = Vec::new();
                        for i in 0..500 {
                            let h: TextureHandle = space.alloc().unwrap();
                            seen.push(h.raw());
                            if i % 3 == 0 {
                                space.free(h).unwrap();
                            }
                        }
                        seen
                    })
                })
                .collect();
            workers.into_iter().map(|w| w.join().unwrap()).collect()
        });
        let all: HashSet<_> = per_thread.iter().flatten().collect();
        assert_eq!(all.len(), 2000);
        assert_eq!(space.live(Kind::Texture), 4 * (500 - 167));
    }

    #[test]
    fn composites_are_freed_into_their_band() {
        let space = HandleSpace::new();
        let c = space.alloc_composite().unwrap();
        let p: ShaderCso = space.alloc().unwrap();
        assert_eq!(space.live(Kind::ShaderCso), 2);
        space.free(c).unwrap();
        assert_eq!(space.free(c), Err(FreeError::DoubleFree(c.raw())));
        assert_eq!(space.alloc_composite().map(|h| h.slot()), Some(c.slot()));
        assert!(space.is_live(p));
    }
}
