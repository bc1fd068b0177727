//! Windows of the application, for EGL and GLX alike.
//!
//! What is here uses the application's own connection to an X server only to ask: which display it is, and how large a window
//! is after everything that the program has requested so far. Frames are shown by the backend, or by `mgpipe-window` in this
//! process, through connections of their own. Windows of Wayland belong to the application's connection, so that frames get
//! there through this process alone, on event queues of their own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use mgpipe_window::WindowError;

mod watch;
pub(crate) mod wayland;
pub(crate) mod x11;
mod xcb;

/// Set when the process ends.
static ENDING: AtomicBool = AtomicBool::new(false);

/// From here on no connection of the program is touched: it may have closed it without a word to EGL.
pub(crate) fn at_exit() {
    ENDING.store(true, Ordering::Release);
}

/// Whether connections of the program are left alone.
fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Where the windows of an EGL display are.
#[derive(Debug, Clone)]
pub(crate) enum System {
    /// On an X server.
    X11(Arc<x11::Connection>),
    /// At a Wayland compositor.
    Wayland(Arc<wayland::Compositor>),
}

/// Whether a window that a frame was shown in is still there.
fn is_there(shown: Result<(), WindowError>) -> bool {
    match shown {
        Ok(()) => true,
        Err(WindowError::Gone(why)) => {
            log::info!("a window is gone: {why}");
            false
        }
        Err(WindowError::Refused(why)) => {
            log::error!("a frame is not shown: {why}");
            true
        }
    }
}
