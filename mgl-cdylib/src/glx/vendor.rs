//! The vendor interface of libglvnd's libGLX: `__glx_Main` and what it hands over.
//!
//! libGLX loads a vendor library when a program first asks something about a screen, and nothing happens then beyond filling
//! in four function pointers. It dispatches GLX 1.4 itself; functions of extensions get a dispatch stub each, which finds the
//! vendor of the drawable or context that it is called for.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::xlib::{Dpy, Xid};
use crate::driver;
use crate::stubs::{self, Stub};

/// The interface version that this file speaks: major number in the high half.
const ABI_MAJOR: u32 = 1;

/// What libGLX offers to vendor libraries, in the order of its ABI.
#[repr(C)]
pub struct ApiExports {
    get_dyn_dispatch: unsafe extern "C" fn(Dpy, c_int) -> *mut c_void,
    get_current_dyn_dispatch: unsafe extern "C" fn() -> *mut c_void,
    fetch_dispatch_entry: unsafe extern "C" fn(*mut c_void, c_int) -> *const (),
    get_current_context: unsafe extern "C" fn() -> usize,
    add_vendor_context_mapping: unsafe extern "C" fn(Dpy, usize, *mut c_void) -> c_int,
    remove_vendor_context_mapping: unsafe extern "C" fn(Dpy, usize),
    vendor_from_context: unsafe extern "C" fn(usize) -> *mut c_void,
    add_vendor_fb_config_mapping: unsafe extern "C" fn(Dpy, usize, *mut c_void) -> c_int,
    remove_vendor_fb_config_mapping: unsafe extern "C" fn(Dpy, usize),
    vendor_from_fb_config: unsafe extern "C" fn(Dpy, usize) -> *mut c_void,
    add_vendor_drawable_mapping: unsafe extern "C" fn(Dpy, Xid, *mut c_void) -> c_int,
    remove_vendor_drawable_mapping: unsafe extern "C" fn(Dpy, Xid),
    vendor_from_drawable: unsafe extern "C" fn(Dpy, Xid) -> *mut c_void,
}

/// What a vendor library gives to libGLX, in the order of its ABI. The four that are no `Option` are mandatory.
#[repr(C)]
pub struct ApiImports {
    is_screen_supported: unsafe extern "C" fn(Dpy, c_int) -> c_int,
    get_proc_address: unsafe extern "C" fn(*const c_char) -> *const (),
    get_dispatch_address: unsafe extern "C" fn(*const c_char) -> *const (),
    set_dispatch_index: unsafe extern "C" fn(*const c_char, c_int),
    notify_error: Option<unsafe extern "C" fn(Dpy, u8, Xid, u8, c_int) -> c_int>,
    is_patch_supported: Option<unsafe extern "C" fn(c_int, c_int) -> u8>,
    initiate_patch: Option<unsafe extern "C" fn(c_int, c_int, *const c_void) -> u8>,
    release_patch: Option<unsafe extern "C" fn()>,
    patch_thread_attach: Option<unsafe extern "C" fn()>,
}

static EXPORTS: AtomicPtr<ApiExports> = AtomicPtr::new(std::ptr::null_mut());

/// libGLX's handshake with a vendor library.
///
/// # Safety
///
/// `exports` points to libGLX's table, `imports` to the table to fill.
#[export_name = "__glx_Main"]
pub unsafe extern "C" fn glx_main(
    version: u32,
    exports: *const ApiExports,
    _vendor: *mut c_void,
    imports: *mut ApiImports,
) -> c_int {
    if version >> 16 != ABI_MAJOR || exports.is_null() || imports.is_null() {
        return 0;
    }
    EXPORTS.store(exports.cast_mut(), Ordering::Release);
    let table = ApiImports {
        is_screen_supported,
        get_proc_address,
        get_dispatch_address,
        set_dispatch_index,
        notify_error: None,
        is_patch_supported: None,
        initiate_patch: None,
        release_patch: None,
        patch_thread_attach: None,
    };
    // SAFETY: libGLX's table has had these members since version 1.0.
    unsafe { imports.write(table) };
    1
}

/// Every screen of an X server is, unless the question comes from inside the start of the driver.
unsafe extern "C" fn is_screen_supported(_dpy: Dpy, _screen: c_int) -> c_int {
    c_int::from(!driver::is_opening())
}

unsafe extern "C" fn get_proc_address(name: *const c_char) -> *const () {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: libGLX passes terminated strings.
    super::get_proc_address(unsafe { CStr::from_ptr(name) })
}

unsafe extern "C" fn get_dispatch_address(name: *const c_char) -> *const () {
    // SAFETY: libglvnd passes terminated strings.
    unsafe { stubs::address(&STUBS, name) }
}

unsafe extern "C" fn set_dispatch_index(name: *const c_char, index: c_int) {
    // SAFETY: libglvnd passes terminated strings.
    unsafe { stubs::set_place(&STUBS, name, index) }
}

/// The vendor's own function for a call, once libGLX knows which vendor that is.
fn target(stub: &Stub, vendor: impl FnOnce(&ApiExports) -> *mut c_void) -> Option<*const ()> {
    // SAFETY: libGLX's table stays valid while a vendor is loaded, and this library is never unloaded.
    let exports = unsafe { EXPORTS.load(Ordering::Acquire).as_ref() }?;
    let vendor = vendor(exports);
    if vendor.is_null() {
        return None;
    }
    // SAFETY: a function of libGLX's table, with a vendor that it named.
    let function = unsafe { (exports.fetch_dispatch_entry)(vendor, stub.place()) };
    (!function.is_null()).then_some(function)
}

macro_rules! dispatch_stubs {
    ($($place:literal $local:ident = $name:literal by $lookup:ident($($by:ident),*)
        ($($arg:ident: $ty:ty),*) -> $ret:ty = $nothing:expr;)*) => {
        $(
            unsafe extern "C" fn $local($($arg: $ty),*) -> $ret {
                let stub = &STUBS[$place];
                // SAFETY: libGLX's lookup takes any handle value.
                match target(stub, |x| unsafe { (x.$lookup)($($by),*) }) {
                    Some(function) => {
                        // SAFETY: libGLX keeps the vendor's function of the same name, hence the same type, at the place it
                        // announced for it.
                        let function = unsafe {
                            std::mem::transmute::<*const (), unsafe extern "C" fn($($ty),*) -> $ret>(function)
                        };
                        // SAFETY: the arguments are the application's.
                        unsafe { function($($arg),*) }
                    }
                    None => $nothing,
                }
            }
        )*

        static STUBS: [Stub; [$($place),*].len()] =
            [$(Stub::new($name, $local as *const ())),*];
    };
}

dispatch_stubs! {
    0 stub_swap_interval_ext = "glXSwapIntervalEXT" by vendor_from_drawable(dpy, id)
        (dpy: Dpy, id: Xid, interval: c_int) -> () = ();
    1 stub_swap_interval_sgi = "glXSwapIntervalSGI" by get_current_dyn_dispatch()
        (interval: c_int) -> c_int = super::enums::BAD_CONTEXT;
    2 stub_swap_interval_mesa = "glXSwapIntervalMESA" by get_current_dyn_dispatch()
        (interval: c_uint) -> c_int = super::enums::BAD_CONTEXT;
    3 stub_get_swap_interval_mesa = "glXGetSwapIntervalMESA" by get_current_dyn_dispatch()
        () -> c_int = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stub_is_at_its_own_place() {
        for stub in &STUBS {
            let name = std::ffi::CString::new(stub.name).expect("a C name");
            assert!(!super::super::glx_proc(&name).is_null(), "{}", stub.name);
            assert_eq!(stubs::find(&STUBS, &name).map(|s| s.name), Some(stub.name));
        }
        assert!(stubs::find(&STUBS, c"glXSomethingElse").is_none());
    }
}
