//! The vendor interface of libglvnd: `__egl_Main` and what it hands over.
//!
//! libEGL loads every vendor library of the machine into every EGL process, so nothing happens here beyond filling in
//! five function pointers. Functions of EGL extensions that libEGL does not know itself get a dispatch stub each: libEGL
//! gives it to the application, and the stub finds the vendor of the display or device it is called for.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::egl;
use crate::egl::enums as e;
use crate::logging;
use crate::stubs::{self, Stub};

/// The interface version that this file speaks: major number in the high half.
const ABI_MAJOR: u32 = 0;

/// What libEGL offers to vendor libraries, in the order of its ABI.
#[repr(C)]
pub struct ApiExports {
    thread_init: unsafe extern "C" fn(),
    get_current_api: unsafe extern "C" fn() -> u32,
    get_current_vendor: unsafe extern "C" fn() -> *mut c_void,
    get_current_context: unsafe extern "C" fn() -> usize,
    get_current_display: unsafe extern "C" fn() -> usize,
    get_current_surface: unsafe extern "C" fn(i32) -> usize,
    fetch_dispatch_entry: unsafe extern "C" fn(*mut c_void, c_int) -> *const (),
    set_egl_error: unsafe extern "C" fn(i32),
    set_last_vendor: unsafe extern "C" fn(*mut c_void) -> u32,
    get_vendor_from_display: unsafe extern "C" fn(usize) -> *mut c_void,
    get_vendor_from_device: unsafe extern "C" fn(usize) -> *mut c_void,
    // `setVendorForDevice` follows since version 0.1; nothing here returns devices through a dispatch stub.
}

/// What a vendor library gives to libEGL, in the order of its ABI. The five that are no `Option` are mandatory; the
/// rest exists since the first version too and may be null.
#[repr(C)]
pub struct ApiImports {
    get_platform_display: unsafe extern "C" fn(u32, usize, *const isize) -> usize,
    get_supports_api: unsafe extern "C" fn(u32) -> u32,
    get_vendor_string: Option<unsafe extern "C" fn(c_int) -> *const c_char>,
    get_proc_address: unsafe extern "C" fn(*const c_char) -> *const (),
    get_dispatch_address: unsafe extern "C" fn(*const c_char) -> *const (),
    set_dispatch_index: unsafe extern "C" fn(*const c_char, c_int),
    is_patch_supported: Option<unsafe extern "C" fn(c_int, c_int) -> u8>,
    initiate_patch: Option<unsafe extern "C" fn(c_int, c_int, *const c_void) -> u8>,
    release_patch: Option<unsafe extern "C" fn()>,
    patch_thread_attach: Option<unsafe extern "C" fn()>,
    find_native_display_platform: Option<unsafe extern "C" fn(*mut c_void) -> u32>,
}

static EXPORTS: AtomicPtr<ApiExports> = AtomicPtr::new(std::ptr::null_mut());

fn exports() -> Option<&'static ApiExports> {
    // SAFETY: libEGL's table stays valid while a vendor is loaded, and this library is never unloaded.
    unsafe { EXPORTS.load(Ordering::Acquire).as_ref() }
}

/// The API bound on this thread when libglvnd is in charge, `None` when the library was loaded directly.
pub(crate) fn current_api() -> Option<i32> {
    // SAFETY: a function of libEGL's table that has no preconditions.
    exports().map(|x| unsafe { (x.get_current_api)() } as i32)
}

/// libEGL's handshake with a vendor library.
///
/// # Safety
///
/// `exports` points to libEGL's table, `imports` to the table to fill.
#[export_name = "__egl_Main"]
pub unsafe extern "C" fn egl_main(
    version: u32,
    exports: *const ApiExports,
    _vendor: *mut c_void,
    imports: *mut ApiImports,
) -> u32 {
    if version >> 16 != ABI_MAJOR || exports.is_null() || imports.is_null() {
        return 0;
    }
    EXPORTS.store(exports.cast_mut(), Ordering::Release);
    let table = ApiImports {
        get_platform_display,
        get_supports_api,
        get_vendor_string: Some(get_vendor_string),
        get_proc_address,
        get_dispatch_address,
        set_dispatch_index,
        is_patch_supported: None,
        initiate_patch: None,
        release_patch: None,
        patch_thread_attach: None,
        find_native_display_platform: None,
    };
    // The last member came with a later minor version than the first ones; an older libEGL has a shorter table.
    let full = size_of::<ApiImports>();
    let size = if version & 0xffff >= 1 { full } else { full - size_of::<usize>() };
    // SAFETY: libEGL's table has at least `size` bytes for the version it announced, and both are plain pointers.
    unsafe { std::ptr::copy_nonoverlapping((&raw const table).cast::<u8>(), imports.cast::<u8>(), size) };
    1
}

unsafe extern "C" fn get_platform_display(platform: u32, native: usize, list: *const isize) -> usize {
    egl::guard("eglGetPlatformDisplay", || {
        // SAFETY: libEGL passes the application's list through: null, or one that ends with EGL_NONE.
        egl::get_platform_display(platform, native, &unsafe { egl::pairs(list) }?)
    })
}

unsafe extern "C" fn get_supports_api(api: u32) -> u32 {
    u32::from(api as i32 == e::OPENGL_API)
}

unsafe extern "C" fn get_vendor_string(name: c_int) -> *const c_char {
    // Zero is the platform extensions, the only string there is.
    if name == 0 {
        egl::PLATFORM_EXTENSIONS.as_ptr()
    } else {
        std::ptr::null()
    }
}

unsafe extern "C" fn get_proc_address(name: *const c_char) -> *const () {
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: libEGL passes terminated strings.
    egl::get_proc_address(unsafe { CStr::from_ptr(name) })
}

unsafe extern "C" fn get_dispatch_address(name: *const c_char) -> *const () {
    logging::init();
    // SAFETY: libglvnd passes terminated strings.
    unsafe { stubs::address(&STUBS, name) }
}

unsafe extern "C" fn set_dispatch_index(name: *const c_char, index: c_int) {
    // SAFETY: libglvnd passes terminated strings.
    unsafe { stubs::set_place(&STUBS, name, index) }
}

/// The vendor's own function for a call, once libEGL knows which vendor that is.
fn target(stub: &Stub, vendor: impl FnOnce(&ApiExports) -> *mut c_void, error: i32) -> Option<*const ()> {
    let exports = exports()?;
    // SAFETY: functions of libEGL's table, called as its ABI prescribes for dispatch stubs.
    unsafe {
        (exports.thread_init)();
        let vendor = vendor(exports);
        if vendor.is_null() {
            (exports.set_egl_error)(error);
            return None;
        }
        (exports.set_last_vendor)(vendor);
        let function = (exports.fetch_dispatch_entry)(vendor, stub.place());
        if function.is_null() {
            (exports.set_egl_error)(error);
            return None;
        }
        Some(function)
    }
}

macro_rules! dispatch_stubs {
    ($($place:literal $local:ident = $name:literal by $lookup:ident or $error:ident
        ($first:ident: usize $(, $arg:ident: $ty:ty)*) -> $ret:ty = $nothing:expr;)*) => {
        $(
            unsafe extern "C" fn $local($first: usize $(, $arg: $ty)*) -> $ret {
                let stub = &STUBS[$place];
                // SAFETY: libEGL's lookup takes any handle value.
                let found = target(stub, |x| unsafe { (x.$lookup)($first) }, e::$error);
                match found {
                    Some(function) => {
                        // SAFETY: libEGL keeps the vendor's function of the same name, hence the same type, at the
                        // place it announced for it.
                        let function = unsafe {
                            std::mem::transmute::<*const (), unsafe extern "C" fn(usize $(, $ty)*) -> $ret>(function)
                        };
                        // SAFETY: the arguments are the application's.
                        unsafe { function($first $(, $arg)*) }
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
    0 stub_query_device_attrib = "eglQueryDeviceAttribEXT" by get_vendor_from_device or BAD_DEVICE_EXT
        (device: usize, attribute: i32, value: *mut isize) -> u32 = 0;
    1 stub_query_device_string = "eglQueryDeviceStringEXT" by get_vendor_from_device or BAD_DEVICE_EXT
        (device: usize, name: i32) -> *const c_char = std::ptr::null();
    2 stub_create_sync = "eglCreateSyncKHR" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, kind: i32, list: *const i32) -> usize = 0;
    3 stub_destroy_sync = "eglDestroySyncKHR" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, sync: usize) -> u32 = 0;
    4 stub_client_wait_sync = "eglClientWaitSyncKHR" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, sync: usize, flags: i32, timeout: u64) -> i32 = 0;
    5 stub_wait_sync = "eglWaitSyncKHR" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, sync: usize, flags: i32) -> i32 = 0;
    6 stub_get_sync_attrib = "eglGetSyncAttribKHR" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, sync: usize, attribute: i32, value: *mut i32) -> u32 = 0;
    7 stub_swap_with_damage = "eglSwapBuffersWithDamageKHR" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, surface: usize, rects: *const i32, count: i32) -> u32 = 0;
    8 stub_swap_with_damage_ext = "eglSwapBuffersWithDamageEXT" by get_vendor_from_display or BAD_DISPLAY
        (dpy: usize, surface: usize, rects: *const i32, count: i32) -> u32 = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stub_is_at_its_own_place() {
        for stub in &STUBS {
            assert!(!egl::egl_proc(&std::ffi::CString::new(stub.name).expect("a C name")).is_null(), "{}", stub.name);
        }
        assert_eq!(stubs::find(&STUBS, c"eglCreateSyncKHR").map(|s| s.name), Some("eglCreateSyncKHR"));
        assert!(stubs::find(&STUBS, c"eglSomethingElse").is_none());
    }
}
