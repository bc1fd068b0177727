//! Object tables shared by the contexts of a screen, and the switch of their look-ups.

use mgpipe_handles::SharedTable;
use mgpipe_types::{PipeError, PipeResult, TypedHandle};
use std::sync::OnceLock;

/// Whether look-ups compare generations. `MGL_MAGMA_GEN_CHECK=off` exists for the control which shows that a recycled slot
/// renders wrong without the comparison.
///
/// # Errors
/// [`PipeError::Init`] for an unknown value.
pub(crate) fn generation_check() -> PipeResult<bool> {
    static SWITCH: OnceLock<Option<bool>> = OnceLock::new();
    let switch = SWITCH.get_or_init(|| match mgpipe_types::switches::switch_text("MGL_MAGMA_GEN_CHECK").as_deref() {
        None | Some("" | "on") => Some(true),
        Some("off") => Some(false),
        _ => None,
    });
    switch.ok_or_else(|| PipeError::Init("MGL_MAGMA_GEN_CHECK has an unknown value; use on or off".into()))
}

/// An empty table for the objects of one kind.
pub(crate) fn table<H: TypedHandle, T>() -> SharedTable<H, T> {
    SharedTable::new(generation_check().unwrap_or(true))
}
