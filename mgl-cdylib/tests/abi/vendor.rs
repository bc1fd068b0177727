//! libglvnd's handshake, with this test in the place of libEGL.

use std::ffi::{c_char, c_int, c_void, CStr};

use crate::driver::{library_path, Driver, OPENGL_API, OPENGL_ES_API};

type Main = unsafe extern "C" fn(u32, *const [usize; 12], *mut c_void, *mut [usize; 11]) -> u32;

unsafe extern "C" fn current_api() -> u32 {
    OPENGL_API
}

unsafe extern "C" fn must_not_be_called() {
    std::process::abort();
}

fn exports() -> &'static [usize; 12] {
    let mut table = [must_not_be_called as *const () as usize; 12];
    table[1] = current_api as *const () as usize;
    Box::leak(Box::new(table))
}

#[test]
fn the_handshake_fills_the_mandatory_slots() {
    if !crate::child::is("handshake") {
        let test = "vendor::the_handshake_fills_the_mandatory_slots";
        crate::child::succeed(&crate::child::run(test, "handshake", &[]));
        return;
    }
    let driver = Driver::load();
    // SAFETY: the types of libglvnd's vendor ABI 0.2: tables of twelve and eleven pointers.
    unsafe {
        let main: Main = std::mem::transmute(driver.symbol("__egl_Main"));
        let mut imports = [0usize; 11];
        assert_eq!(main(1 << 16, exports(), std::ptr::null_mut(), &mut imports), 0, "another major version");
        assert_eq!(main(2, exports(), std::ptr::null_mut(), std::ptr::null_mut()), 0, "no table");
        assert_eq!(imports, [0; 11]);
        assert_eq!(main(2, exports(), std::ptr::null_mut(), &mut imports), 1);
        for slot in [0, 1, 3, 4, 5] {
            assert_ne!(imports[slot], 0, "slot {slot}");
        }
        let supports: unsafe extern "C" fn(u32) -> u32 = std::mem::transmute(imports[1]);
        assert_eq!((supports(OPENGL_API), supports(OPENGL_ES_API)), (1, 0));
        let text: unsafe extern "C" fn(c_int) -> *const c_char = std::mem::transmute(imports[2]);
        let platforms = CStr::from_ptr(text(0)).to_string_lossy().into_owned();
        assert!(platforms.contains("EGL_MESA_platform_surfaceless"), "{platforms}");
        assert!(text(99).is_null());
        let proc: unsafe extern "C" fn(*const c_char) -> *const () = std::mem::transmute(imports[3]);
        assert_eq!(proc(c"glDrawArrays".as_ptr()), driver.symbol("glDrawArrays"));
        assert_eq!(proc(c"eglInitialize".as_ptr()), driver.symbol("eglInitialize"));
        let dispatch: unsafe extern "C" fn(*const c_char) -> *const () = std::mem::transmute(imports[4]);
        assert!(!dispatch(c"eglCreateSyncKHR".as_ptr()).is_null());
        assert_ne!(dispatch(c"eglCreateSyncKHR".as_ptr()), driver.symbol("eglCreateSyncKHR"));
        assert!(dispatch(c"eglUnheardOf".as_ptr()).is_null());
        let display: unsafe extern "C" fn(u32, usize, *const isize) -> usize = std::mem::transmute(imports[0]);
        assert_ne!(display(0x3038, 0, std::ptr::null()), 0, "the default display");
        assert_ne!(display(0x31dd, 0, std::ptr::null()), 0, "surfaceless");
        assert_ne!(display(0x31d5, 0, std::ptr::null()), 0, "X11, which is looked for when it is initialised");
        assert_eq!(display(0x31d7, 0, std::ptr::null()), 0, "GBM is not there");
    }
}

/// The directory that the real libEGL loads the driver from.
#[test]
fn the_real_libegl_accepts_the_vendor() {
    // SAFETY: libEGL's initialisers do nothing that a test could notice.
    let dispatcher = unsafe { libloading::Library::new("libEGL.so.1") };
    assert!(dispatcher.is_ok(), "libEGL.so.1 is needed (Debian package libegl1): {dispatcher:?}");
    if !crate::child::is("libegl") {
        let dir = std::env::temp_dir().join(format!("mgl-vendor-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a scratch folder");
        let json = dir.join("50_mgl.json");
        let text = format!(
            "{{\"file_format_version\": \"1.0.0\", \"ICD\": {{\"library_path\": \"{}\"}}}}",
            library_path().display()
        );
        std::fs::write(&json, text).expect("the vendor file");
        let output = crate::child::run(
            "vendor::the_real_libegl_accepts_the_vendor",
            "libegl",
            &[("__EGL_VENDOR_LIBRARY_FILENAMES", json.to_str().expect("UTF-8"))],
        );
        std::fs::remove_dir_all(&dir).expect("the scratch folder goes");
        crate::child::succeed(&output);
        return;
    }
    // SAFETY: the types that EGL gives these functions.
    unsafe {
        let egl = libloading::Library::new("libEGL.so.1").expect("checked by the parent");
        let get_display: libloading::Symbol<unsafe extern "C" fn(usize) -> usize> =
            egl.get(b"eglGetDisplay\0").expect("core EGL");
        let initialize: libloading::Symbol<unsafe extern "C" fn(usize, *mut i32, *mut i32) -> u32> =
            egl.get(b"eglInitialize\0").expect("core EGL");
        let query: libloading::Symbol<unsafe extern "C" fn(usize, i32) -> *const c_char> =
            egl.get(b"eglQueryString\0").expect("core EGL");
        let proc: libloading::Symbol<unsafe extern "C" fn(*const c_char) -> *const ()> =
            egl.get(b"eglGetProcAddress\0").expect("core EGL");
        let display = get_display(0);
        assert_ne!(display, 0);
        assert_eq!(initialize(display, std::ptr::null_mut(), std::ptr::null_mut()), 1);
        let vendor = CStr::from_ptr(query(display, 0x3053)).to_string_lossy().into_owned();
        assert!(vendor.contains("MGL"), "{vendor}");
        for name in [c"eglCreateSyncKHR", c"eglQueryDeviceStringEXT", c"glDrawArrays"] {
            assert!(!proc(name.as_ptr()).is_null(), "{name:?}");
        }
        // The dispatch stub for a sync object finds its way through libEGL to the driver, which refuses the kind.
        let create: unsafe extern "C" fn(usize, i32, *const i32) -> usize =
            std::mem::transmute(proc(c"eglCreateSyncKHR".as_ptr()));
        assert_eq!(create(display, 0, std::ptr::null()), 0);
        let error: libloading::Symbol<unsafe extern "C" fn() -> i32> = egl.get(b"eglGetError\0").expect("core EGL");
        assert_eq!(error(), crate::driver::BAD_ATTRIBUTE);
    }
}
