//! Object tables shared by the contexts of a screen: the slot tables of `mgpipe-handles` behind a lock.

use mgpipe_handles::{SlotError, SlotTable};
use mgpipe_types::{PipeError, PipeResult, TypedHandle};
use parking_lot::RwLock;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Whether look-ups compare generations. `MGL_MAGMA_GEN_CHECK=off` exists for the control which shows that a recycled slot
/// renders wrong without the comparison.
///
/// # Errors
/// [`PipeError::Init`] for an unknown value.
pub(crate) fn generation_check() -> PipeResult<bool> {
    static SWITCH: OnceLock<Option<bool>> = OnceLock::new();
    let switch = SWITCH.get_or_init(|| match std::env::var("MGL_MAGMA_GEN_CHECK").as_deref() {
        Err(std::env::VarError::NotPresent) | Ok("" | "on") => Some(true),
        Ok("off") => Some(false),
        _ => None,
    });
    switch.ok_or_else(|| PipeError::Init("MGL_MAGMA_GEN_CHECK has an unknown value; use on or off".into()))
}

/// Objects of the kind of handle `H`. A look-up takes a read lock, so contexts resolve handles when a `set_*` arrives and
/// never in a steady draw.
pub(crate) struct Table<H, T> {
    slots: RwLock<SlotTable<Arc<T>>>,
    handle: PhantomData<fn(H)>,
}

impl<H: TypedHandle, T> Default for Table<H, T> {
    fn default() -> Self {
        let mut slots = SlotTable::new(H::KIND);
        slots.set_gen_check(generation_check().unwrap_or(true));
        Table { slots: RwLock::new(slots), handle: PhantomData }
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
