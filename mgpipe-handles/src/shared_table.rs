//! Slot tables that several threads use.

use std::marker::PhantomData;
use std::sync::Arc;

use mgpipe_types::TypedHandle;
use parking_lot::RwLock;

use crate::{SlotError, SlotTable};

/// Objects of the kind of handle `H`, shared by the contexts of a screen. A look-up takes a read lock, so backends resolve
/// handles when a `set_*` arrives and never in a steady draw.
pub struct SharedTable<H, T> {
    slots: RwLock<SlotTable<Arc<T>>>,
    handle: PhantomData<fn(H)>,
}

impl<H: TypedHandle, T> Default for SharedTable<H, T> {
    fn default() -> Self {
        SharedTable::new(true)
    }
}

impl<H: TypedHandle, T> SharedTable<H, T> {
    /// An empty table; `gen_check` as in [`SlotTable::set_gen_check`].
    pub fn new(gen_check: bool) -> Self {
        let mut slots = SlotTable::new(H::KIND);
        slots.set_gen_check(gen_check);
        SharedTable { slots: RwLock::new(slots), handle: PhantomData }
    }

    /// Stores an object under its handle and answers what the slot held.
    ///
    /// # Errors
    /// As [`SlotTable::insert`].
    pub fn insert(&self, handle: H, object: Arc<T>) -> Result<Option<Arc<T>>, SlotError> {
        self.slots.write().insert(handle.raw(), object)
    }

    /// The object of a handle.
    ///
    /// # Errors
    /// As [`SlotTable::get`].
    pub fn get(&self, handle: H) -> Result<Arc<T>, SlotError> {
        self.slots.read().get(handle.raw()).cloned()
    }

    /// Takes the object of a handle out.
    ///
    /// # Errors
    /// As [`SlotTable::remove`].
    pub fn remove(&self, handle: H) -> Result<Arc<T>, SlotError> {
        self.slots.write().remove(handle.raw())
    }
}
