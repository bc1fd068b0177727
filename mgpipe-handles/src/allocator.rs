//! The client's slot allocator: free list plus high-water mark.

use mgpipe_types::{Handle, Kind, ShaderCso, TypedHandle, COMPOSITE_SHADER_SLOT_BASE};
use std::marker::PhantomData;
use std::ops::Range;

/// Why a handle could not be freed. The allocator is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FreeError {
    /// The handle is null or reserved: no allocator hands it out.
    #[error("handle {0:?} is reserved and is never freed")]
    Reserved(Handle),
    /// The slot was never handed out by this allocator.
    #[error("slot of handle {0:?} was never handed out")]
    NeverAllocated(Handle),
    /// The slot is free already: a double free.
    #[error("handle {0:?} is free already")]
    DoubleFree(Handle),
    /// The slot belongs to another generation.
    #[error("handle {handle:?} is stale: its slot is at generation {current}")]
    Stale {
        /// The handle that was to be freed.
        handle: Handle,
        /// Generation of the slot.
        current: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    gen: u32,
    live: bool,
}

/// Allocator of untyped handles in one range of slots.
///
/// Slots are dense: a freed slot is handed out again, with the next generation, before a new one is opened. A slot whose
/// generation is used up is retired for good; that takes 2^32 - 1 reuses, and a debug build asserts that it does not happen.
#[derive(Clone, Debug)]
pub struct SlotAllocator {
    base: u32,
    limit: u32,
    slots: Vec<Slot>,
    free: Vec<u32>,
    live: u32,
}

impl SlotAllocator {
    /// An allocator of the slots in `range`. Slot 0 is left out even if the range holds it.
    pub const fn new(range: Range<u32>) -> SlotAllocator {
        let base = if range.start == 0 { 1 } else { range.start };
        SlotAllocator { base, limit: range.end, slots: Vec::new(), free: Vec::new(), live: 0 }
    }

    /// The allocator of a kind's ordinary slots: without slot 0 and, for [`Kind::ShaderCso`], without the composite band.
    pub const fn for_kind(kind: Kind) -> SlotAllocator {
        let end = match kind {
            Kind::ShaderCso => COMPOSITE_SHADER_SLOT_BASE,
            _ => kind.slot_limit(),
        };
        SlotAllocator::new(1..end)
    }

    /// The allocator of the ShaderCso slots that are reserved for program-pipeline composites.
    pub const fn for_composites() -> SlotAllocator {
        SlotAllocator::new(COMPOSITE_SHADER_SLOT_BASE..Kind::ShaderCso.slot_limit())
    }

    /// Hands out a handle that no live object has and none ever had; `None` when every slot is taken.
    pub fn alloc(&mut self) -> Option<Handle> {
        let (slot, gen) = if let Some(slot) = self.free.pop() {
            let entry = self.slots.get_mut((slot - self.base) as usize)?;
            entry.gen += 1;
            entry.live = true;
            (slot, entry.gen)
        } else {
            let slot = self.base.checked_add(self.slots.len() as u32).filter(|slot| *slot < self.limit)?;
            self.slots.push(Slot { gen: 1, live: true });
            (slot, 1)
        };
        self.live += 1;
        Some(Handle { slot, gen })
    }

    /// Takes a handle back.
    ///
    /// # Errors
    /// [`FreeError`] when the handle is not one that this allocator handed out and that is still live.
    pub fn free(&mut self, handle: Handle) -> Result<(), FreeError> {
        if handle.slot == 0 {
            return Err(FreeError::Reserved(handle));
        }
        let index = handle.slot.checked_sub(self.base).ok_or(FreeError::NeverAllocated(handle))?;
        let entry = self.slots.get_mut(index as usize).ok_or(FreeError::NeverAllocated(handle))?;
        if entry.gen != handle.gen {
            return Err(FreeError::Stale { handle, current: entry.gen });
        }
        if !entry.live {
            return Err(FreeError::DoubleFree(handle));
        }
        entry.live = false;
        self.live -= 1;
        debug_assert!(entry.gen != u32::MAX, "generation of slot {} wraps", handle.slot);
        if entry.gen != u32::MAX {
            self.free.push(handle.slot);
        }
        Ok(())
    }

    /// Whether the handle was handed out and not freed.
    pub fn is_live(&self, handle: Handle) -> bool {
        handle
            .slot
            .checked_sub(self.base)
            .and_then(|index| self.slots.get(index as usize))
            .is_some_and(|entry| entry.live && entry.gen == handle.gen)
    }

    /// Number of live handles.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// One past the highest slot that was ever handed out: what a dense table must hold.
    pub fn high_water_mark(&self) -> u32 {
        self.base + self.slots.len() as u32
    }
}

/// Allocator of the typed handles of one kind, for one thread. See [`crate::HandleSpace`] for the shared one.
#[derive(Clone, Debug)]
pub struct HandleAllocator<H> {
    slots: SlotAllocator,
    kind: PhantomData<fn() -> H>,
}

impl<H: TypedHandle> HandleAllocator<H> {
    /// An allocator of the kind's ordinary slots.
    pub const fn new() -> HandleAllocator<H> {
        HandleAllocator { slots: SlotAllocator::for_kind(H::KIND), kind: PhantomData }
    }

    /// Hands out a fresh handle; `None` when every slot of the kind is taken.
    pub fn alloc(&mut self) -> Option<H> {
        self.slots.alloc().map(H::from_raw)
    }

    /// Takes a handle back.
    ///
    /// # Errors
    /// See [`SlotAllocator::free`].
    pub fn free(&mut self, handle: H) -> Result<(), FreeError> {
        self.slots.free(handle.raw())
    }

    /// Whether the handle was handed out and not freed.
    pub fn is_live(&self, handle: H) -> bool {
        self.slots.is_live(handle.raw())
    }

    /// Number of live handles.
    pub fn live(&self) -> u32 {
        self.slots.live()
    }

    /// One past the highest slot that was ever handed out.
    pub fn high_water_mark(&self) -> u32 {
        self.slots.high_water_mark()
    }
}

impl HandleAllocator<ShaderCso> {
    /// An allocator of the band that is reserved for program-pipeline composites.
    pub const fn composites() -> HandleAllocator<ShaderCso> {
        HandleAllocator { slots: SlotAllocator::for_composites(), kind: PhantomData }
    }
}

impl<H: TypedHandle> Default for HandleAllocator<H> {
    fn default() -> Self {
        HandleAllocator::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::BufferHandle;

    #[test]
    fn slot_zero_is_never_handed_out_and_generations_start_at_one() {
        let mut a = HandleAllocator::<BufferHandle>::new();
        assert_eq!(a.alloc().map(|h| h.raw()), Some(Handle { slot: 1, gen: 1 }));
        let mut zero = SlotAllocator::new(0..2);
        assert_eq!(zero.alloc(), Some(Handle { slot: 1, gen: 1 }));
        assert_eq!(zero.alloc(), None);
    }

    #[test]
    fn every_wrong_free_is_told_apart() {
        let mut a = SlotAllocator::new(1..10);
        let h = a.alloc().unwrap();
        assert_eq!(a.free(Handle::NULL), Err(FreeError::Reserved(Handle::NULL)));
        let unknown = Handle { slot: 5, gen: 1 };
        assert_eq!(a.free(unknown), Err(FreeError::NeverAllocated(unknown)));
        assert_eq!(a.free(h), Ok(()));
        assert_eq!(a.free(h), Err(FreeError::DoubleFree(h)));
        let reused = a.alloc().unwrap();
        assert_eq!(a.free(h), Err(FreeError::Stale { handle: h, current: reused.gen }));
        assert!(a.is_live(reused) && !a.is_live(h));
    }

    #[test]
    fn the_limit_of_a_kind_ends_allocation_and_a_free_reopens_it() {
        let mut a = SlotAllocator::for_kind(Kind::RenderStateCso);
        let handles: Vec<_> = std::iter::from_fn(|| a.alloc()).collect();
        assert_eq!(handles.len() as u32, Kind::RenderStateCso.slot_limit() - 1);
        assert_eq!(a.high_water_mark(), Kind::RenderStateCso.slot_limit());
        a.free(handles[17]).unwrap();
        assert_eq!(a.alloc(), Some(Handle { slot: handles[17].slot, gen: 2 }));
        assert_eq!(a.alloc(), None);
    }

    #[test]
    fn composites_and_programs_never_share_a_slot() {
        let mut composites = HandleAllocator::<ShaderCso>::composites();
        let c = composites.alloc().unwrap();
        assert_eq!(c.slot(), COMPOSITE_SHADER_SLOT_BASE);
        let mut programs = SlotAllocator::for_kind(Kind::ShaderCso);
        let last = std::iter::from_fn(|| programs.alloc()).last().unwrap();
        assert_eq!(last.slot, COMPOSITE_SHADER_SLOT_BASE - 1);
        assert!(programs.free(c.raw()).is_err());
    }

    #[cfg(not(debug_assertions))]
    #[test]
    fn a_slot_whose_generation_is_used_up_is_retired() {
        let mut a = SlotAllocator::new(1..3);
        a.alloc().unwrap();
        a.slots[0].gen = u32::MAX;
        a.free(Handle { slot: 1, gen: u32::MAX }).unwrap();
        assert_eq!(a.alloc(), Some(Handle { slot: 2, gen: 1 }));
        assert_eq!(a.alloc(), None);
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "wraps")]
    fn the_wrap_of_a_generation_is_asserted() {
        let mut a = SlotAllocator::new(1..3);
        a.alloc().unwrap();
        a.slots[0].gen = u32::MAX;
        let _ = a.free(Handle { slot: 1, gen: u32::MAX });
    }
}
