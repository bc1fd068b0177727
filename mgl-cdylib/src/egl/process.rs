//! What becomes of the driver in a forked process.
//!
//! A child has none of its parent's threads and cannot use the parent's Vulkan device: waiting for either never ends. So
//! whatever was made before a fork is out of reach after it, and is forgotten there instead of being destroyed. The child
//! may initialize a display of its own.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Once;

use crate::tls;

/// Number of forks between the process that loaded the library and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    tls::set_current(std::ptr::null_mut());
}

/// Notices forks from now on.
pub(crate) fn watch_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the callback touches an atomic and a thread-local word alone; the library is never unloaded.
        if unsafe { pthread_atfork(None, None, Some(in_child)) } != 0 {
            log::warn!("forks cannot be noticed");
        }
    });
}

/// Tells what this process made from what it inherited.
pub(crate) fn generation() -> u32 {
    FORKS.load(Ordering::Relaxed)
}
