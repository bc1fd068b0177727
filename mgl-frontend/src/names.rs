//! Tables of GL names: reserved by `glGen*`, filled when an object comes to life, dense because GL hands names out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;

/// Names below this bound live in a vector; only applications that invent names reach the map behind it.
const DENSE_LIMIT: u32 = 1 << 20;

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
        if name < DENSE_LIMIT {
            self.dense.get(name as usize)
        } else {
            self.sparse.get(&name)
        }
    }

    fn slot_mut(&mut self, name: u32) -> &mut Slot<P> {
        if name < DENSE_LIMIT {
            let index = name as usize;
            while self.dense.len() <= index {
                if self.dense.len() < index {
                    self.free.push(Reverse(self.dense.len() as u32));
                }
                self.dense.push(Slot::Free);
            }
            &mut self.dense[index]
        } else {
            self.sparse.entry(name).or_insert(Slot::Free)
        }
    }

    /// Reserves the lowest unused name.
    pub(crate) fn generate(&mut self) -> u32 {
        while let Some(Reverse(name)) = self.free.pop() {
            // An entry can be stale: an invented name may have taken its slot meanwhile.
            if matches!(self.slot(name), Some(Slot::Free)) {
                *self.slot_mut(name) = Slot::Reserved;
                return name;
            }
        }
        let name = self.dense.len() as u32;
        *self.slot_mut(name) = Slot::Reserved;
        name
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
        if self.get(name).is_none() {
            return None;
        }
        match self.slot_mut(name) {
            Slot::Object(object) => Some(object),
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
        if name < DENSE_LIMIT {
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
