//! Dispatch stubs: functions of extensions that libglvnd does not know itself. It gives a stub to the application, and tells
//! the place of the function in its table; the stub asks it for the vendor that a call is meant for.

use std::ffi::{c_char, c_int, CStr};
use std::sync::atomic::{AtomicI32, Ordering};

/// The address of a stub's code.
struct Address(*const ());

// SAFETY: the address of a function.
unsafe impl Sync for Address {}

/// One stub: the extension function, the code for it and the place that libglvnd gave it in its table.
pub(crate) struct Stub {
    pub(crate) name: &'static str,
    address: Address,
    place: AtomicI32,
}

impl Stub {
    /// A stub without a place yet.
    pub(crate) const fn new(name: &'static str, address: *const ()) -> Stub {
        Stub { name, address: Address(address), place: AtomicI32::new(-1) }
    }

    /// The function's place in libglvnd's table; -1 before it has one.
    pub(crate) fn place(&self) -> c_int {
        self.place.load(Ordering::Acquire)
    }
}

/// The stub for a function.
pub(crate) fn find(stubs: &'static [Stub], name: &CStr) -> Option<&'static Stub> {
    stubs.iter().find(|s| s.name.as_bytes() == name.to_bytes())
}

/// The code of the stub for a function, null where there is none.
///
/// # Safety
///
/// `name` is null or a terminated string.
pub(crate) unsafe fn address(stubs: &'static [Stub], name: *const c_char) -> *const () {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: as the caller says.
    find(stubs, unsafe { CStr::from_ptr(name) }).map_or(std::ptr::null(), |stub| stub.address.0)
}

/// Remembers the place of a function in libglvnd's table.
///
/// # Safety
///
/// `name` is null or a terminated string.
pub(crate) unsafe fn set_place(stubs: &'static [Stub], name: *const c_char, place: c_int) {
    if name.is_null() {
        return;
    }
    // SAFETY: as the caller says.
    if let Some(stub) = find(stubs, unsafe { CStr::from_ptr(name) }) {
        stub.place.store(place, Ordering::Release);
    }
}
