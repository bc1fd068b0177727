//! Which host context is current on this thread.
//!
//! The backend runs in the application's own thread. A call binds its context unless it is bound already, which a steady
//! stream of calls finds out with one comparison; the client says when a thread lets go of a context
//! ([`mgpipe_types::flush_flags::RELEASE`]), so that another thread can bind it.

use super::display::HostContext;
use std::cell::Cell;

thread_local! {
    /// Serial of the host context that is current on this thread, 0 for none.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

/// Namespace for what a thread does with host contexts.
pub(crate) struct CurrentContext;

impl CurrentContext {
    /// Whether the context is current on this thread.
    #[inline]
    pub(crate) fn is(context: &HostContext) -> bool {
        CURRENT.get() == context.serial
    }

    /// Makes the context current on this thread.
    ///
    /// # Errors
    /// The driver's refusal: the context is current on another thread, or it is lost.
    #[inline]
    pub(crate) fn bind(context: &HostContext) -> Result<(), String> {
        if CURRENT.get() == context.serial {
            return Ok(());
        }
        Self::bind_slow(context)
    }

    #[cold]
    fn bind_slow(context: &HostContext) -> Result<(), String> {
        CURRENT.set(0);
        context.display().bind(Some(context))?;
        CURRENT.set(context.serial);
        Ok(())
    }

    /// Lets the context go if this thread has it.
    pub(crate) fn release(context: &HostContext) {
        if CURRENT.get() == context.serial {
            CURRENT.set(0);
            if let Err(error) = context.display().bind(None) {
                log::warn!("espryt: releasing a context: {error}");
            }
        }
    }
}

/// A context is destroyed.
pub(super) fn forget(context: &HostContext) {
    CurrentContext::release(context);
}
