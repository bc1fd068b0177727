//! Object tables shared by the contexts of a screen: the slot tables of `mgpipe-handles` behind a lock.

use mgpipe_handles::{SlotError, SlotTable};
use mgpipe_types::TypedHandle;
use parking_lot::RwLock;
use std::marker::PhantomData;
use std::sync::Arc;

/// Objects of the kind of handle `H`. A look-up takes a read lock, so contexts resolve handles when a `set_*` arrives and
/// never in a steady draw.
pub(crate) struct Table<H, T> {
    slots: RwLock<SlotTable<Arc<T>>>,
    handle: PhantomData<fn(H)>,
}

impl<H: TypedHandle, T> Default for Table<H, T> {
    fn default() -> Self {
        Table { slots: RwLock::new(SlotTable::new(H::KIND)), handle: PhantomData }
    }
}

impl<H: TypedHandle, T> Table<H, T> {
    /// Stores an object under its handle and answers what the slot held.
    pub(crate) fn insert(&self, handle: H, object: Arc<T>) -> Result<Option<Arc<T>>, SlotError> {
        self.slots.write().insert(handle.raw(), object)
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: H) -> Result<Arc<T>, SlotError> {
        self.slots.read().get(handle.raw()).cloned()
    }

    /// Takes the object of a handle out.
    pub(crate) fn remove(&self, handle: H) -> Result<Arc<T>, SlotError> {
        self.slots.write().remove(handle.raw())
    }
}
