//! The functions of one EGL implementation, found without the system's dispatcher.

use khronos_egl as egl;
use std::ffi::{c_char, c_int, c_void, CStr};

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($arg:ty),*) -> $ret:ty;)*) => {
        /// Functions of EGL 1.5 that the backend calls.
        #[derive(Clone, Copy)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl Functions {
            /// Asks `find` for each function; the error names the first that is missing.
            ///
            /// # Safety
            /// What `find` answers for a name is null or the EGL function of that name.
            unsafe fn load(find: impl Fn(&CStr) -> *const c_void) -> Result<Functions, String> {
                Ok(Functions {
                    $($name: {
                        let found = find($symbol);
                        if found.is_null() {
                            return Err(format!("the EGL driver lacks {:?}", $symbol));
                        }
                        // SAFETY: the caller's promise: the function has the signature that EGL gives its name.
                        unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn($($arg),*) -> $ret>(found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    initialize = c"eglInitialize" (egl::EGLDisplay, *mut egl::Int, *mut egl::Int) -> egl::Boolean;
    query_string = c"eglQueryString" (egl::EGLDisplay, egl::Int) -> *const c_char;
    get_error = c"eglGetError" () -> egl::Int;
    bind_api = c"eglBindAPI" (egl::Enum) -> egl::Boolean;
    choose_config = c"eglChooseConfig"
        (egl::EGLDisplay, *const egl::Int, *mut egl::EGLConfig, egl::Int, *mut egl::Int) -> egl::Boolean;
    create_context = c"eglCreateContext"
        (egl::EGLDisplay, egl::EGLConfig, egl::EGLContext, *const egl::Int) -> egl::EGLContext;
    destroy_context = c"eglDestroyContext" (egl::EGLDisplay, egl::EGLContext) -> egl::Boolean;
    create_pbuffer = c"eglCreatePbufferSurface" (egl::EGLDisplay, egl::EGLConfig, *const egl::Int) -> egl::EGLSurface;
    destroy_surface = c"eglDestroySurface" (egl::EGLDisplay, egl::EGLSurface) -> egl::Boolean;
    make_current = c"eglMakeCurrent"
        (egl::EGLDisplay, egl::EGLSurface, egl::EGLSurface, egl::EGLContext) -> egl::Boolean;
    create_sync = c"eglCreateSync" (egl::EGLDisplay, egl::Enum, *const egl::Attrib) -> egl::EGLSync;
    destroy_sync = c"eglDestroySync" (egl::EGLDisplay, egl::EGLSync) -> egl::Boolean;
    client_wait_sync = c"eglClientWaitSync" (egl::EGLDisplay, egl::EGLSync, egl::Int, u64) -> egl::Int;
    wait_sync = c"eglWaitSync" (egl::EGLDisplay, egl::EGLSync, egl::Int) -> egl::Boolean;
}

type GetPlatformDisplay = unsafe extern "C" fn(egl::Enum, *mut c_void, *const egl::Attrib) -> egl::EGLDisplay;
type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// One EGL implementation: a driver's vendor library, or a libEGL that is a driver itself. Never unloaded.
pub(crate) struct Library {
    pub(crate) egl: Functions,
    get_platform_display: GetPlatformDisplay,
    get_proc_address: GetProcAddress,
}

/// Marks a library as this project's driver: opening it from its own backend would never end.
const OWN_SYMBOL: &CStr = c"glMakeTextureHandleNonResidentARB";
/// No other vendor library exports GL functions beside its dispatcher entry.
const VENDOR_ENTRY: &CStr = c"__egl_Main";

/// What a dispatcher offers to vendor libraries, in the order of libglvnd's interface (version 0.1).
#[repr(C)]
struct VendorExports {
    thread_init: extern "C" fn(),
    current_api: extern "C" fn() -> egl::Enum,
    current_vendor: extern "C" fn() -> *mut c_void,
    current_context: extern "C" fn() -> egl::EGLContext,
    current_display: extern "C" fn() -> egl::EGLDisplay,
    current_surface: extern "C" fn(egl::Int) -> egl::EGLSurface,
    fetch_dispatch_entry: extern "C" fn(*mut c_void, c_int) -> *const c_void,
    set_error: extern "C" fn(egl::Int),
    set_last_vendor: extern "C" fn(*mut c_void) -> egl::Boolean,
    vendor_of_display: extern "C" fn(egl::EGLDisplay) -> *mut c_void,
    vendor_of_device: extern "C" fn(*mut c_void) -> *mut c_void,
    set_vendor_of_device: extern "C" fn(*mut c_void, *mut c_void) -> egl::Boolean,
}

/// What a vendor library answers, in the order of libglvnd's interface.
#[repr(C)]
struct VendorImports {
    get_platform_display: Option<GetPlatformDisplay>,
    supports_api: *const c_void,
    vendor_string: *const c_void,
    get_proc_address: Option<GetProcAddress>,
    rest: [*const c_void; 12],
}

extern "C" fn nothing() {}
extern "C" fn current_api() -> egl::Enum {
    egl::OPENGL_ES_API
}
extern "C" fn no_pointer() -> *mut c_void {
    std::ptr::null_mut()
}
extern "C" fn no_surface(_: egl::Int) -> egl::EGLSurface {
    std::ptr::null_mut()
}
extern "C" fn no_entry(_: *mut c_void, _: c_int) -> *const c_void {
    std::ptr::null()
}
extern "C" fn ignore_error(_: egl::Int) {}
extern "C" fn accept(_: *mut c_void) -> egl::Boolean {
    egl::TRUE
}
extern "C" fn no_vendor(_: *mut c_void) -> *mut c_void {
    std::ptr::null_mut()
}
extern "C" fn accept_device(_: *mut c_void, _: *mut c_void) -> egl::Boolean {
    egl::TRUE
}

static EXPORTS: VendorExports = VendorExports {
    thread_init: nothing,
    current_api,
    current_vendor: no_pointer,
    current_context: no_pointer,
    current_display: no_pointer,
    current_surface: no_surface,
    fetch_dispatch_entry: no_entry,
    set_error: ignore_error,
    set_last_vendor: accept,
    vendor_of_display: no_vendor,
    vendor_of_device: no_vendor,
    set_vendor_of_device: accept_device,
};

/// libglvnd's interface version: major 0, minor 1.
const VENDOR_VERSION: u32 = 1;

impl Library {
    /// Loads an EGL implementation by file name or path.
    pub(crate) fn open(name: &str) -> Result<Library, String> {
        // SAFETY: a driver library that the system or the user names; its initialisers are those of any GL program.
        let library = unsafe { libloading::Library::new(name) }.map_err(|error| format!("{name}: {error}"))?;
        // Drivers start threads and keep thread-local state; none can be unloaded safely.
        let library = std::mem::ManuallyDrop::new(library);
        let symbol = |symbol: &CStr| -> *const c_void {
            // SAFETY: only the address is taken; the library is never unloaded.
            let found = unsafe { library.get::<*const c_void>(symbol.to_bytes_with_nul()).map(|s| s.try_as_raw_ptr()) };
            found.ok().flatten().map_or(std::ptr::null(), |found| found.cast_const().cast())
        };
        let entry = symbol(VENDOR_ENTRY);
        if !symbol(OWN_SYMBOL).is_null() && !symbol(c"eglGetProcAddress").is_null() {
            return Err(format!("{name} is this driver itself, or a library that offers all of GL"));
        }
        let (get_platform_display, get_proc_address) = if entry.is_null() {
            direct(&symbol).ok_or_else(|| format!("{name}: no EGL 1.5"))?
        } else {
            // SAFETY: `__egl_Main` is the entry of libglvnd's vendor interface wherever it is exported.
            unsafe { handshake(entry) }.ok_or_else(|| format!("{name}: the vendor interface was refused"))?
        };
        let find = |name: &CStr| {
            // SAFETY: the driver's own look-up, with a terminated name.
            let found = unsafe { get_proc_address(name.as_ptr()) };
            if found.is_null() {
                symbol(name)
            } else {
                found
            }
        };
        // SAFETY: EGL's look-up answers the function of the name or null; so do the symbols of a libEGL.
        let egl = unsafe { Functions::load(find) }.map_err(|error| format!("{name}: {error}"))?;
        Ok(Library { egl, get_platform_display, get_proc_address })
    }

    /// The function of a name, null when there is none.
    pub(crate) fn proc_address(&self, name: &CStr) -> *const c_void {
        // SAFETY: the driver's own look-up, with a terminated name.
        unsafe { (self.get_proc_address)(name.as_ptr()) }
    }

    /// A display of a platform; null when the driver has none.
    pub(crate) fn platform_display(&self, platform: egl::Enum, native: *mut c_void) -> egl::EGLDisplay {
        let none = [egl::ATTRIB_NONE];
        // SAFETY: the attribute list is terminated; `native` is the default display or a device of this driver.
        unsafe { (self.get_platform_display)(platform, native, none.as_ptr()) }
    }
}

/// The look-ups of a libEGL that is a driver, not a dispatcher.
fn direct(symbol: &dyn Fn(&CStr) -> *const c_void) -> Option<(GetPlatformDisplay, GetProcAddress)> {
    let (display, proc) = (symbol(c"eglGetPlatformDisplay"), symbol(c"eglGetProcAddress"));
    if display.is_null() || proc.is_null() {
        return None;
    }
    // SAFETY: exported functions of EGL 1.5 with the signatures that EGL gives these names.
    unsafe {
        Some((
            std::mem::transmute::<*const c_void, GetPlatformDisplay>(display),
            std::mem::transmute::<*const c_void, GetProcAddress>(proc),
        ))
    }
}

/// The part of the dispatcher in libglvnd's handshake.
///
/// # Safety
/// `entry` is a vendor library's `__egl_Main`.
unsafe fn handshake(entry: *const c_void) -> Option<(GetPlatformDisplay, GetProcAddress)> {
    type Main = unsafe extern "C" fn(u32, *const VendorExports, *mut c_void, *mut VendorImports) -> egl::Boolean;
    // SAFETY: the caller's promise.
    let main = unsafe { std::mem::transmute::<*const c_void, Main>(entry) };
    let mut imports = VendorImports {
        get_platform_display: None,
        supports_api: std::ptr::null(),
        vendor_string: std::ptr::null(),
        get_proc_address: None,
        rest: [std::ptr::null(); 12],
    };
    let vendor = (&raw const EXPORTS).cast_mut().cast();
    // SAFETY: both tables have the layout of version 0.1, the exports live for ever, and `vendor` is only an identity.
    let accepted = unsafe { main(VENDOR_VERSION, &raw const EXPORTS, vendor, &raw mut imports) };
    if accepted != egl::TRUE {
        return None;
    }
    imports.get_platform_display.zip(imports.get_proc_address)
}
