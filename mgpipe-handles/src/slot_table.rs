//! The dense table in which a server keeps the objects of one kind.

use mgpipe_types::{Handle, Kind, COMPOSITE_SHADER_SLOT_BASE};

/// Why a handle reaches no object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlotError {
    /// The null handle, or a slot 0 that is not the default framebuffer.
    #[error("{kind:?} handle {handle:?} is null or reserved")]
    Reserved {
        /// Kind of the table.
        kind: Kind,
        /// The handle.
        handle: Handle,
    },
    /// The slot is at or above the bound of the kind: protocol corruption. The table never grows for it.
    #[error("{kind:?} slot {slot} is out of bounds: the limit is {limit}")]
    OutOfBounds {
        /// Kind of the table.
        kind: Kind,
        /// The slot.
        slot: u32,
        /// First slot that is out of bounds.
        limit: u32,
    },
    /// Nothing lives in the slot.
    #[error("{kind:?} handle {handle:?} names an empty slot")]
    Vacant {
        /// Kind of the table.
        kind: Kind,
        /// The handle.
        handle: Handle,
    },
    /// Another generation lives in the slot, or did last.
    #[error("{kind:?} handle {handle:?} is stale: its slot is at generation {current}")]
    Stale {
        /// Kind of the table.
        kind: Kind,
        /// The handle.
        handle: Handle,
        /// Generation of the slot.
        current: u32,
    },
}

impl SlotError {
    /// Whether the peer broke the protocol, as opposed to naming an object that is gone.
    pub fn is_corruption(&self) -> bool {
        matches!(self, SlotError::OutOfBounds { .. })
    }
}

#[derive(Clone, Debug)]
struct Entry<T> {
    gen: u32,
    value: Option<T>,
}

/// Objects of one kind by `{slot, gen}`: an array indexed by slot.
///
/// Every access checks the bound of the kind and the generation. The composite band of [`Kind::ShaderCso`] has an array of
/// its own, so that one composite does not make the table a million entries long.
///
/// Methods take typed handles and untyped ones, since payloads carry the latter.
#[derive(Clone, Debug)]
pub struct SlotTable<T> {
    kind: Kind,
    ordinary: Vec<Entry<T>>,
    composite: Vec<Entry<T>>,
    len: usize,
    check_gen: bool,
}

impl<T> SlotTable<T> {
    /// An empty table of a kind.
    pub const fn new(kind: Kind) -> SlotTable<T> {
        SlotTable { kind, ordinary: Vec::new(), composite: Vec::new(), len: 0, check_gen: true }
    }

    /// Switches the generation check. Off exists for one purpose: the negative control which shows that recycled handles
    /// render wrong without the check.
    pub fn set_gen_check(&mut self, on: bool) {
        self.check_gen = on;
    }

    /// Kind of the objects.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the handle names a live object.
    pub fn contains(&self, handle: impl Into<Handle>) -> bool {
        self.get(handle).is_ok()
    }

    fn band_base(&self) -> u32 {
        if self.kind == Kind::ShaderCso {
            COMPOSITE_SHADER_SLOT_BASE
        } else {
            u32::MAX
        }
    }

    /// Everything that can be wrong with a handle before its slot is looked at.
    fn check_bounds(&self, handle: Handle) -> Result<(), SlotError> {
        let limit = self.kind.slot_limit();
        if handle.slot >= limit {
            return Err(SlotError::OutOfBounds { kind: self.kind, slot: handle.slot, limit });
        }
        let default_framebuffer = self.kind == Kind::Framebuffer && handle.slot == 0 && handle.gen == 1;
        if (handle.slot == 0 || handle.gen == 0) && !default_framebuffer {
            return Err(SlotError::Reserved { kind: self.kind, handle });
        }
        Ok(())
    }

    #[cold]
    fn miss(&self, handle: Handle, current: Option<u32>) -> SlotError {
        if let Err(error) = self.check_bounds(handle) {
            return error;
        }
        match current {
            Some(current) if current != handle.gen && current != 0 => {
                SlotError::Stale { kind: self.kind, handle, current }
            }
            _ => SlotError::Vacant { kind: self.kind, handle },
        }
    }

    #[inline]
    fn entry(&self, slot: u32) -> Option<&Entry<T>> {
        let base = self.band_base();
        if slot < base {
            self.ordinary.get(slot as usize)
        } else {
            self.composite.get((slot - base) as usize)
        }
    }

    #[inline]
    fn entry_mut(&mut self, slot: u32) -> Option<&mut Entry<T>> {
        let base = self.band_base();
        if slot < base {
            self.ordinary.get_mut(slot as usize)
        } else {
            self.composite.get_mut((slot - base) as usize)
        }
    }

    /// The object.
    ///
    /// # Errors
    /// [`SlotError`]: the handle is reserved, out of bounds, stale, or names nothing.
    #[inline]
    pub fn get(&self, handle: impl Into<Handle>) -> Result<&T, SlotError> {
        let handle = handle.into();
        match self.entry(handle.slot) {
            Some(Entry { gen, value: Some(value) }) if *gen == handle.gen || !self.check_gen => Ok(value),
            entry => Err(self.miss(handle, entry.map(|e| e.gen))),
        }
    }

    /// The object, to be changed.
    ///
    /// # Errors
    /// See [`SlotTable::get`].
    #[inline]
    pub fn get_mut(&mut self, handle: impl Into<Handle>) -> Result<&mut T, SlotError> {
        let handle = handle.into();
        // The check runs first and apart, so that the error path can borrow the table again.
        self.get(handle)?;
        let kind = self.kind;
        self.entry_mut(handle.slot).and_then(|e| e.value.as_mut()).ok_or(SlotError::Vacant { kind, handle })
    }

    /// Puts an object into its slot and answers what lived there before: an earlier generation whose destroy was never
    /// seen, or the same handle created twice. The caller disposes of it.
    ///
    /// # Errors
    /// [`SlotError::OutOfBounds`], [`SlotError::Reserved`], and [`SlotError::Stale`] when the slot has seen a later
    /// generation. The object is dropped then.
    pub fn insert(&mut self, handle: impl Into<Handle>, value: T) -> Result<Option<T>, SlotError> {
        let handle = handle.into();
        self.check_bounds(handle)?;
        let (kind, check_gen, base) = (self.kind, self.check_gen, self.band_base());
        let (band, index) = if handle.slot < base {
            (&mut self.ordinary, handle.slot as usize)
        } else {
            (&mut self.composite, (handle.slot - base) as usize)
        };
        if index >= band.len() {
            band.resize_with(index + 1, || Entry { gen: 0, value: None });
        }
        let Some(entry) = band.get_mut(index) else {
            return Err(SlotError::Vacant { kind, handle });
        };
        if check_gen && entry.gen > handle.gen {
            return Err(SlotError::Stale { kind, handle, current: entry.gen });
        }
        entry.gen = handle.gen;
        let before = entry.value.replace(value);
        self.len += before.is_none() as usize;
        Ok(before)
    }

    /// Takes an object out. Its slot remembers the generation, so that the handle stays dead.
    ///
    /// # Errors
    /// See [`SlotTable::get`].
    pub fn remove(&mut self, handle: impl Into<Handle>) -> Result<T, SlotError> {
        let handle = handle.into();
        self.get(handle)?;
        let kind = self.kind;
        let value =
            self.entry_mut(handle.slot).and_then(|e| e.value.take()).ok_or(SlotError::Vacant { kind, handle })?;
        self.len -= 1;
        Ok(value)
    }

    /// All objects with their handles, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        let base = self.band_base();
        let ordinary = self.ordinary.iter().enumerate().map(|(i, e)| (i as u32, e));
        let composite = self.composite.iter().enumerate().map(move |(i, e)| (base + i as u32, e));
        ordinary.chain(composite).filter_map(|(slot, e)| Some((Handle { slot, gen: e.gen }, e.value.as_ref()?)))
    }

    /// All objects with their handles, in slot order, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle, &mut T)> {
        let base = self.band_base();
        let ordinary = self.ordinary.iter_mut().enumerate().map(|(i, e)| (i as u32, e));
        let composite = self.composite.iter_mut().enumerate().map(move |(i, e)| (base + i as u32, e));
        ordinary.chain(composite).filter_map(|(slot, e)| {
            let gen = e.gen;
            Some((Handle { slot, gen }, e.value.as_mut()?))
        })
    }

    /// Takes every object out, in slot order: the end of a context or of the server.
    pub fn drain(&mut self) -> impl Iterator<Item = (Handle, T)> + '_ {
        self.len = 0;
        let base = self.band_base();
        let ordinary = self.ordinary.iter_mut().enumerate().map(|(i, e)| (i as u32, e));
        let composite = self.composite.iter_mut().enumerate().map(move |(i, e)| (base + i as u32, e));
        ordinary.chain(composite).filter_map(|(slot, e)| Some((Handle { slot, gen: e.gen }, e.value.take()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::{FramebufferHandle, TextureHandle};

    fn h(slot: u32, gen: u32) -> Handle {
        Handle { slot, gen }
    }

    #[test]
    fn a_slot_at_the_bound_is_corruption_and_does_not_grow_the_table() {
        let mut t = SlotTable::new(Kind::SamplerCso);
        let limit = Kind::SamplerCso.slot_limit();
        for slot in [limit, limit + 1, u32::MAX] {
            let error = SlotError::OutOfBounds { kind: Kind::SamplerCso, slot, limit };
            assert_eq!(t.insert(h(slot, 1), ()), Err(error));
            assert_eq!(t.get(h(slot, 1)), Err(error));
            assert_eq!(t.remove(h(slot, 1)), Err(error));
            assert!(error.is_corruption());
        }
        assert!(t.ordinary.is_empty() && t.composite.is_empty());
        assert_eq!(t.insert(h(limit - 1, 1), ()), Ok(None));
    }

    #[test]
    fn null_and_slot_zero_are_reserved_except_the_default_framebuffer() {
        let mut t = SlotTable::new(Kind::Framebuffer);
        assert_eq!(
            t.insert(Handle::NULL, 1).unwrap_err(),
            SlotError::Reserved { kind: Kind::Framebuffer, handle: Handle::NULL }
        );
        assert!(t.insert(h(0, 2), 1).is_err());
        assert!(t.insert(h(3, 0), 1).is_err());
        assert_eq!(t.insert(FramebufferHandle::DEFAULT, 9), Ok(None));
        assert_eq!(t.get(FramebufferHandle::DEFAULT), Ok(&9));
        let mut textures = SlotTable::new(Kind::Texture);
        assert!(textures.insert(h(0, 1), 1).is_err());
    }

    #[test]
    fn a_recycled_slot_refuses_its_earlier_handle() {
        let mut t = SlotTable::new(Kind::Texture);
        let (old, new) = (TextureHandle(h(4, 1)), TextureHandle(h(4, 2)));
        t.insert(old, "old").unwrap();
        assert_eq!(t.remove(old), Ok("old"));
        assert!(matches!(t.get(old), Err(SlotError::Vacant { .. })));
        t.insert(new, "new").unwrap();
        assert!(matches!(t.get(old), Err(SlotError::Stale { current: 2, .. })));
        assert!(matches!(t.remove(old), Err(SlotError::Stale { .. })));
        assert!(matches!(t.insert(old, "again"), Err(SlotError::Stale { .. })));
        assert_eq!(t.get(new), Ok(&"new"));
    }

    #[test]
    fn without_the_generation_check_an_earlier_handle_aliases_the_new_object() {
        let mut t = SlotTable::new(Kind::Texture);
        t.insert(h(4, 1), "old").unwrap();
        t.remove(h(4, 1)).unwrap();
        t.insert(h(4, 2), "new").unwrap();
        t.set_gen_check(false);
        assert_eq!(t.get(h(4, 1)), Ok(&"new"));
    }

    #[test]
    fn a_composite_does_not_make_the_table_long() {
        let mut t = SlotTable::new(Kind::ShaderCso);
        t.insert(h(COMPOSITE_SHADER_SLOT_BASE + 2, 1), "composite").unwrap();
        t.insert(h(1, 1), "program").unwrap();
        assert!(t.ordinary.len() + t.composite.len() < 8);
        let all: Vec<_> = t.iter().map(|(handle, v)| (handle.slot, *v)).collect();
        assert_eq!(all, [(1, "program"), (COMPOSITE_SHADER_SLOT_BASE + 2, "composite")]);
        assert_eq!(t.drain().count(), 2);
        assert!(t.is_empty());
    }
}
