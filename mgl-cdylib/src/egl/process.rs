//! The process that the library is in: its forks, and where the library came from.
//!
//! A child has none of its parent's threads and cannot use the parent's Vulkan device: waiting for either never ends. So
//! whatever was made before a fork is out of reach after it, and is forgotten there instead of being destroyed. The child
//! may initialize a display of its own.

use std::ffi::{c_char, c_int, c_void, CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
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

    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

/// `Dl_info` of the dynamic loader.
#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    symbol_address: *mut c_void,
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

/// The file that this library was loaded from.
pub(crate) fn library_path() -> Option<PathBuf> {
    let mut info = std::mem::MaybeUninit::<DlInfo>::uninit();
    // SAFETY: the address is of this library's code, and the answer has room for what is written.
    if unsafe { dladdr(in_child as *const c_void, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: a non-zero answer filled all members; the name is null or a string that lives as long as the library.
    let name = unsafe {
        let info = info.assume_init();
        (!info.file.is_null()).then(|| CStr::from_ptr(info.file))
    }?;
    std::path::absolute(OsStr::from_bytes(name.to_bytes())).ok()
}
