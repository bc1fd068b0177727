//! Never-reused object identities of the client, and the handles that they lead to.

use hashbrown::HashMap;
use mgpipe_types::TypedHandle;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identity of a client object over the life of the process: never reused, never on the wire.
///
/// A GL name is no identity: it is recycled as soon as it is deleted, while the object may live on in another context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LifetimeId(NonZeroU64);

impl LifetimeId {
    /// The number, from 1.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// Source of lifetime ids; callable from any thread.
#[derive(Debug)]
pub struct LifetimeIds(AtomicU64);

impl LifetimeIds {
    /// A source that starts at 1.
    pub const fn new() -> LifetimeIds {
        LifetimeIds(AtomicU64::new(1))
    }

    /// An id that this source never answered before. 2^64 ids are not used up in the life of a machine.
    pub fn next(&self) -> LifetimeId {
        let id = self.0.fetch_add(1, Ordering::Relaxed);
        LifetimeId(NonZeroU64::new(id).unwrap_or(NonZeroU64::MAX))
    }
}

impl Default for LifetimeIds {
    fn default() -> Self {
        LifetimeIds::new()
    }
}

/// Lifetime id → handle of one kind.
#[derive(Clone, Debug)]
pub struct LifetimeMap<H> {
    handles: HashMap<LifetimeId, H>,
}

impl<H: TypedHandle> LifetimeMap<H> {
    /// An empty map.
    pub fn new() -> LifetimeMap<H> {
        LifetimeMap { handles: HashMap::new() }
    }

    /// Notes the handle of an object; answers the one noted before, which the caller then owns.
    pub fn insert(&mut self, id: LifetimeId, handle: H) -> Option<H> {
        self.handles.insert(id, handle)
    }

    /// The handle of an object.
    pub fn get(&self, id: LifetimeId) -> Option<H> {
        self.handles.get(&id).copied()
    }

    /// The handle of an object, minted by `mint` when it has none; `None` when `mint` has none to give.
    pub fn get_or_insert_with(&mut self, id: LifetimeId, mint: impl FnOnce() -> Option<H>) -> Option<H> {
        if let Some(handle) = self.get(id) {
            return Some(handle);
        }
        let handle = mint()?;
        self.handles.insert(id, handle);
        Some(handle)
    }

    /// Forgets an object and answers its handle, to be destroyed and freed.
    pub fn remove(&mut self, id: LifetimeId) -> Option<H> {
        self.handles.remove(&id)
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// All objects in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (LifetimeId, H)> + '_ {
        self.handles.iter().map(|(id, handle)| (*id, *handle))
    }
}

impl<H: TypedHandle> Default for LifetimeMap<H> {
    fn default() -> Self {
        LifetimeMap::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::{Handle, QueryHandle};

    #[test]
    fn ids_are_never_reused_and_lead_to_their_handle() {
        let ids = LifetimeIds::new();
        let (a, b) = (ids.next(), ids.next());
        assert_ne!(a, b);
        let handle = QueryHandle(Handle { slot: 1, gen: 1 });
        let mut map = LifetimeMap::new();
        assert_eq!(map.get_or_insert_with(a, || Some(handle)), Some(handle));
        assert_eq!(map.get_or_insert_with(a, || None), Some(handle));
        assert_eq!(map.get_or_insert_with(b, || None), None);
        assert_eq!(map.remove(a), Some(handle));
        assert_eq!((map.remove(a), map.len()), (None, 0));
    }
}
