//! Tables of GL names: reserved by `glGen*`, filled when an object comes to life, dense because GL hands names out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;

/// How far a name may lie beyond the dense part and still extend it; names that applications invent can lie anywhere.
const DENSE_REACH: usize = 1024;

#[derive(Debug)]
enum Slot<P> {
    /// The name may be handed out.
    Free,
    /// `glGen*` handed the name out, no object exists yet.
    Reserved,
    /// The object of the name.
    Object(P),
}

/// What a name stands for.
#[derive(Debug)]
pub(crate) enum Lookup<P> {
    /// Never generated, or deleted.
    Unknown,
    /// Generated, but no object exists yet.
    Reserved,
    /// A living object.
    Object(P),
}

/// Names of one object type within one context, or within a share group when behind a [`NameTable`]. `P` owns an object.
#[derive(Debug)]
pub(crate) struct Names<P> {
    dense: Vec<Slot<P>>,
    sparse: HashMap<u32, Slot<P>>,
    free: BinaryHeap<Reverse<u32>>,
}

impl<P> Default for Names<P> {
    fn default() -> Self {
        // Name 0 is never handed out.
        Names { dense: vec![Slot::Reserved], sparse: HashMap::new(), free: BinaryHeap::new() }
    }
}

impl<P> Names<P> {
    fn slot(&self, name: u32) -> Option<&Slot<P>> {
        if name == 0 {
            return None;
        }
        match self.dense.get(name as usize) {
            Some(slot) => Some(slot),
            None if self.sparse.is_empty() => None,
            None => self.sparse.get(&name),
        }
    }

    fn slot_mut(&mut self, name: u32) -> &mut Slot<P> {
        let index = name as usize;
        if index >= self.dense.len() + DENSE_REACH {
            return self.sparse.entry(name).or_insert(Slot::Free);
        }
        while self.dense.len() <= index {
            let next = self.dense.len() as u32;
            let slot = self.sparse.remove(&next).unwrap_or(Slot::Free);
            if next != name && matches!(slot, Slot::Free) {
                self.free.push(Reverse(next));
            }
            self.dense.push(slot);
        }
        &mut self.dense[index]
    }

    /// Reserves the lowest unused name.
    pub(crate) fn generate(&mut self) -> u32 {
        while let Some(Reverse(name)) = self.free.pop() {
            // An entry can be stale: an invented name may have taken its slot meanwhile.
            if self.claim(name) {
                return name;
            }
        }
        loop {
            let name = self.dense.len() as u32;
            // Extending the dense part may run into an invented name.
            if self.claim(name) {
                return name;
            }
        }
    }

    /// Reserves a name of the application's choice; false when it is in use.
    pub(crate) fn claim(&mut self, name: u32) -> bool {
        if name == 0 {
            return false;
        }
        let slot = self.slot_mut(name);
        let free = matches!(slot, Slot::Free);
        if free {
            *slot = Slot::Reserved;
        }
        free
    }

    /// Gives an object a new name, which `make` learns.
    pub(crate) fn insert_new(&mut self, make: impl FnOnce(u32) -> P) -> (u32, P)
    where
        P: Clone,
    {
        let name = self.generate();
        let object = make(name);
        *self.slot_mut(name) = Slot::Object(object.clone());
        (name, object)
    }

    /// What the name stands for.
    pub(crate) fn lookup(&self, name: u32) -> Lookup<P>
    where
        P: Clone,
    {
        match self.slot(name) {
            None | Some(Slot::Free) => Lookup::Unknown,
            Some(Slot::Reserved) => Lookup::Reserved,
            Some(Slot::Object(object)) => Lookup::Object(object.clone()),
        }
    }

    /// The object of a name, when it has come to life.
    pub(crate) fn get(&self, name: u32) -> Option<&P> {
        match self.slot(name) {
            Some(Slot::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// The object of a name, for changing it.
    pub(crate) fn get_mut(&mut self, name: u32) -> Option<&mut P> {
        let slot = match self.dense.get_mut(name as usize) {
            Some(slot) => Some(slot),
            None => self.sparse.get_mut(&name),
        };
        match slot {
            Some(Slot::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Makes the object of a reserved name, unless it exists. False for a name that was never generated.
    pub(crate) fn ensure(&mut self, name: u32, make: impl FnOnce() -> P) -> bool {
        match self.slot(name) {
            Some(Slot::Object(_)) => true,
            Some(Slot::Reserved) => {
                *self.slot_mut(name) = Slot::Object(make());
                true
            }
            _ => false,
        }
    }

    /// The object of a name; made on first use of a reserved name. `None` for a name that was never generated.
    pub(crate) fn get_or_create(&mut self, name: u32, make: impl FnOnce() -> P) -> Option<P>
    where
        P: Clone,
    {
        match self.slot(name) {
            Some(Slot::Object(object)) => Some(object.clone()),
            Some(Slot::Reserved) => {
                let object = make();
                *self.slot_mut(name) = Slot::Object(object.clone());
                Some(object)
            }
            _ => None,
        }
    }

    /// Frees a name. `None` when it was unknown; the object, when there was one, lives on with its other owners.
    pub(crate) fn remove(&mut self, name: u32) -> Option<Option<P>> {
        match self.slot(name) {
            None | Some(Slot::Free) => return None,
            _ => {}
        }
        let old = std::mem::replace(self.slot_mut(name), Slot::Free);
        if (name as usize) < self.dense.len() {
            self.free.push(Reverse(name));
        } else {
            self.sparse.remove(&name);
        }
        match old {
            Slot::Object(object) => Some(Some(object)),
            _ => Some(None),
        }
    }

    /// The living objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &P> {
        self.dense.iter().chain(self.sparse.values()).filter_map(|slot| match slot {
            Slot::Object(object) => Some(object),
            _ => None,
        })
    }
}

/// Names that every context of a share group sees.
#[derive(Debug)]
pub(crate) struct NameTable<T> {
    names: RwLock<Names<Arc<T>>>,
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        NameTable { names: RwLock::new(Names::default()) }
    }
}

impl<T> NameTable<T> {
    /// Reserves a name for every element.
    pub(crate) fn generate(&self, out: &mut [u32]) {
        let mut names = self.names.write();
        out.fill_with(|| names.generate());
    }

    /// Reserves a name of the application's choice, unless it is in use.
    pub(crate) fn claim(&self, name: u32) {
        self.names.write().claim(name);
    }

    /// Gives an object a new name, which `make` learns.
    pub(crate) fn insert_new(&self, make: impl FnOnce(u32) -> Arc<T>) -> (u32, Arc<T>) {
        self.names.write().insert_new(make)
    }

    /// What the name stands for.
    pub(crate) fn lookup(&self, name: u32) -> Lookup<Arc<T>> {
        self.names.read().lookup(name)
    }

    /// The object of a name, when it has come to life.
    pub(crate) fn get(&self, name: u32) -> Option<Arc<T>> {
        self.names.read().get(name).cloned()
    }

    /// The object of a name; made on first use of a reserved name. `None` for a name that was never generated.
    pub(crate) fn get_or_create(&self, name: u32, make: impl FnOnce() -> Arc<T>) -> Option<Arc<T>> {
        if let Some(object) = self.get(name) {
            return Some(object);
        }
        self.names.write().get_or_create(name, make)
    }

    /// Frees a name, see [`Names::remove`].
    pub(crate) fn remove(&self, name: u32) -> Option<Option<Arc<T>>> {
        self.names.write().remove(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_name_is_reused() {
        let mut names: Names<()> = Names::default();
        let all: Vec<u32> = (0..4).map(|_| names.generate()).collect();
        assert_eq!(all, [1, 2, 3, 4]);
        assert!(names.remove(3).is_some());
        assert!(names.remove(2).is_some());
        assert_eq!(names.generate(), 2);
        assert_eq!(names.generate(), 3);
        assert_eq!(names.generate(), 5);
    }

    #[test]
    fn invented_names_never_meet_generated_ones() {
        let mut names: Names<()> = Names::default();
        for invented in [3, 2000, 2_000_000, u32::MAX] {
            assert!(names.claim(invented));
            assert!(!names.claim(invented));
        }
        let mut seen = std::collections::HashSet::from([3, 2000, 2_000_000, u32::MAX]);
        for _ in 0..5000 {
            assert!(seen.insert(names.generate()));
        }
        assert!(names.remove(2000).is_some() && names.remove(u32::MAX).is_some());
        assert_eq!(names.generate(), 2000);
        assert!(!names.claim(0));
    }

    #[test]
    fn a_name_goes_from_reserved_to_object_to_unknown() {
        let table: NameTable<u8> = NameTable::default();
        let mut out = [0];
        table.generate(&mut out);
        assert!(matches!(table.lookup(out[0]), Lookup::Reserved));
        assert!(table.get(out[0]).is_none());
        assert_eq!(table.get_or_create(out[0], || Arc::new(7)).as_deref(), Some(&7));
        assert!(matches!(table.lookup(out[0]), Lookup::Object(_)));
        assert_eq!(table.remove(out[0]).flatten().as_deref(), Some(&7));
        assert!(matches!(table.lookup(out[0]), Lookup::Unknown));
        assert!(table.remove(out[0]).is_none());
        assert!(table.get_or_create(99, || Arc::new(1)).is_none());
        assert!(table.get_or_create(0, || Arc::new(1)).is_none());
    }
}
