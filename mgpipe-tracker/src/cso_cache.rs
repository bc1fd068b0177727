//! A bounded cache of state objects, addressed by content, least recently used out first.

use crate::stats::CsoStats;
use hashbrown::HashTable;
use mgpipe_handles::HandleSpace;
use mgpipe_types::TypedHandle;

/// End of a list.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Node<K, H> {
    key: K,
    hash: u64,
    handle: H,
    prev: u32,
    next: u32,
    live: bool,
    declared: bool,
}

/// Where a look-up ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interned<H> {
    /// The node, for [`CsoCache::matches`].
    pub(crate) node: u32,
    /// The object.
    pub(crate) handle: H,
    /// Whether the server must be told to create it: it is new, or the server forgot it.
    pub(crate) create: bool,
}

/// Objects of one kind by content.
///
/// An object is found by hash and confirmed by comparing its key, so that a collision costs time and never aliases.
#[derive(Debug)]
pub(crate) struct CsoCache<K, H> {
    capacity: usize,
    table: HashTable<u32>,
    nodes: Vec<Node<K, H>>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl<K, H: TypedHandle> CsoCache<K, H> {
    pub(crate) fn new(capacity: usize) -> CsoCache<K, H> {
        CsoCache {
            capacity: capacity.max(1),
            table: HashTable::new(),
            nodes: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    fn unlink(&mut self, node: u32) {
        let (prev, next) = {
            let n = &self.nodes[node as usize];
            (n.prev, n.next)
        };
        match self.nodes.get_mut(prev as usize) {
            Some(p) => p.next = next,
            None => self.newest = next,
        }
        match self.nodes.get_mut(next as usize) {
            Some(n) => n.prev = prev,
            None => self.oldest = prev,
        }
    }

    fn link_newest(&mut self, node: u32) {
        let next = self.newest;
        let n = &mut self.nodes[node as usize];
        n.prev = NONE;
        n.next = next;
        match self.nodes.get_mut(next as usize) {
            Some(n) => n.prev = node,
            None => self.oldest = node,
        }
        self.newest = node;
    }

    /// Makes a node the most recently used one.
    #[inline]
    fn touch(&mut self, node: u32) {
        if self.newest != node {
            self.unlink(node);
            self.link_newest(node);
        }
    }

    fn answer(&mut self, node: u32) -> Interned<H> {
        self.touch(node);
        let n = &mut self.nodes[node as usize];
        let create = !n.declared;
        n.declared = true;
        Interned { node, handle: n.handle, create }
    }

    /// The object of a node when it is live and its key satisfies `equal`: a look-up without a hash.
    #[inline]
    pub(crate) fn matches(&mut self, node: u32, equal: impl FnOnce(&K) -> bool) -> Option<Interned<H>> {
        let n = self.nodes.get(node as usize)?;
        if n.live && equal(&n.key) {
            Some(self.answer(node))
        } else {
            None
        }
    }

    /// The object whose key satisfies `equal`, made when there is none. `delete` hears of every object that goes to make
    /// room, before its handle is free again. `None` when the share group has no handle left and nothing can be evicted.
    ///
    /// Without `addressing` every call makes an object.
    pub(crate) fn intern(
        &mut self,
        hash: u64,
        addressing: bool,
        mut equal: impl FnMut(&K) -> bool,
        key: impl FnOnce() -> K,
        handles: &HandleSpace,
        stats: &mut CsoStats,
        mut delete: impl FnMut(&K, H, u32),
    ) -> Option<Interned<H>> {
        if addressing {
            let nodes = &self.nodes;
            let mut collisions = 0;
            let found = self.table.find(hash, |node| {
                let n = &nodes[*node as usize];
                let same_hash = n.hash == hash;
                let same = same_hash && equal(&n.key);
                collisions += u64::from(same_hash && !same);
                same
            });
            let found = found.copied();
            stats.collisions += collisions;
            if let Some(node) = found {
                stats.hits += 1;
                return Some(self.answer(node));
            }
        }
        if self.len() >= self.capacity {
            self.evict(handles, stats, &mut delete);
        }
        let handle = match handles.alloc() {
            Some(handle) => handle,
            None => {
                stats.exhausted += 1;
                self.evict(handles, stats, &mut delete);
                handles.alloc()?
            }
        };
        stats.mints += 1;
        let node = Node { key: key(), hash, handle, prev: NONE, next: NONE, live: true, declared: true };
        let index = match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        self.link_newest(index);
        let nodes = &self.nodes;
        self.table.insert_unique(hash, index, |node| nodes[*node as usize].hash);
        Some(Interned { node: index, handle, create: true })
    }

    fn evict(&mut self, handles: &HandleSpace, stats: &mut CsoStats, delete: &mut impl FnMut(&K, H, u32)) {
        let oldest = self.oldest;
        if oldest != NONE {
            stats.evictions += 1;
            self.remove(oldest, handles, delete);
        }
    }

    /// Takes a live node out and frees its handle.
    pub(crate) fn remove(&mut self, node: u32, handles: &HandleSpace, delete: &mut impl FnMut(&K, H, u32)) {
        if !self.nodes.get(node as usize).is_some_and(|n| n.live) {
            return;
        }
        self.unlink(node);
        let n = &mut self.nodes[node as usize];
        n.live = false;
        let (hash, handle) = (n.hash, n.handle);
        delete(&n.key, handle, node);
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == node) {
            entry.remove();
        }
        self.free.push(node);
        let freed = handles.free(handle);
        debug_assert!(freed.is_ok(), "{freed:?}");
    }

    /// Takes every node out.
    pub(crate) fn clear(&mut self, handles: &HandleSpace, mut delete: impl FnMut(&K, H, u32)) {
        while self.oldest != NONE {
            self.remove(self.oldest, handles, &mut delete);
        }
    }

    /// The server may not know every object: each is created again when it is next used.
    pub(crate) fn undeclare(&mut self) {
        for node in &mut self.nodes {
            node.declared = false;
        }
    }

    /// The handles, most recently used first.
    #[cfg(test)]
    fn order(&self) -> Vec<H> {
        let mut out = Vec::new();
        let mut at = self.newest;
        while at != NONE {
            out.push(self.nodes[at as usize].handle);
            at = self.nodes[at as usize].next;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::{Kind, SamplerCso};
    use proptest::prelude::*;

    fn intern(
        cache: &mut CsoCache<u32, SamplerCso>,
        handles: &HandleSpace,
        stats: &mut CsoStats,
        hash: fn(u32) -> u64,
        key: u32,
        deleted: &mut Vec<u32>,
    ) -> Interned<SamplerCso> {
        cache.intern(hash(key), true, |k| *k == key, || key, handles, stats, |k, _, _| deleted.push(*k)).unwrap()
    }

    proptest! {
        /// The cache answers what an ordered list answers, with a good hash and with one that always collides.
        #[test]
        fn agrees_with_a_naive_lru(keys in proptest::collection::vec(0..9u32, 0..120), collide: bool) {
            let hash: fn(u32) -> u64 = if collide { |_| 42 } else { |k| u64::from(k).wrapping_mul(0x9e37_79b9_7f4a_7c15) };
            let (handles, mut stats) = (HandleSpace::new(), CsoStats::default());
            let mut cache = CsoCache::new(5);
            let (mut model, mut deleted, mut model_deleted) = (Vec::<(u32, SamplerCso)>::new(), Vec::new(), Vec::new());
            for key in keys {
                let found = intern(&mut cache, &handles, &mut stats, hash, key, &mut deleted);
                match model.iter().position(|(k, _)| *k == key) {
                    Some(i) => {
                        prop_assert!(!found.create);
                        let entry = model.remove(i);
                        prop_assert_eq!(entry.1, found.handle);
                        model.insert(0, entry);
                    }
                    None => {
                        prop_assert!(found.create);
                        if model.len() == 5 {
                            model_deleted.push(model.pop().unwrap().0);
                        }
                        model.insert(0, (key, found.handle));
                    }
                }
                let order: Vec<_> = model.iter().map(|(_, h)| *h).collect();
                prop_assert_eq!(cache.order(), order);
                prop_assert_eq!(&deleted, &model_deleted);
                prop_assert_eq!(handles.live(Kind::SamplerCso) as usize, model.len());
            }
            cache.clear(&handles, |_, _, _| {});
            prop_assert_eq!((handles.live(Kind::SamplerCso), cache.len()), (0, 0));
        }
    }

    #[test]
    fn undeclared_objects_keep_their_handle_and_are_created_again() {
        let (handles, mut stats) = (HandleSpace::new(), CsoStats::default());
        let mut cache = CsoCache::new(4);
        let mut gone = Vec::new();
        let first = intern(&mut cache, &handles, &mut stats, u64::from, 1, &mut gone);
        cache.undeclare();
        let again = intern(&mut cache, &handles, &mut stats, u64::from, 1, &mut gone);
        assert_eq!((again.handle, again.create), (first.handle, true));
        assert!(!intern(&mut cache, &handles, &mut stats, u64::from, 1, &mut gone).create);
    }

    #[test]
    fn without_a_free_handle_the_cache_makes_room_or_gives_up() {
        let (handles, mut stats) = (HandleSpace::new(), CsoStats::default());
        let mut cache = CsoCache::new(4);
        let mut gone = Vec::new();
        intern(&mut cache, &handles, &mut stats, u64::from, 1, &mut gone);
        while handles.alloc::<SamplerCso>().is_some() {}
        intern(&mut cache, &handles, &mut stats, u64::from, 2, &mut gone);
        assert_eq!((gone.as_slice(), stats.exhausted), ([1].as_slice(), 1));
        let mut empty = CsoCache::<u32, SamplerCso>::new(4);
        assert!(empty.intern(0, true, |_| false, || 3, &handles, &mut stats, |_, _, _| {}).is_none());
    }
}
