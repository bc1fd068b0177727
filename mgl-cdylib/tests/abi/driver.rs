//! Loads the library and gives its EGL functions types.

use std::ffi::{c_char, CStr, CString};
use std::path::PathBuf;

use libloading::Library;

pub const NONE: i32 = 0x3038;
pub const SUCCESS: i32 = 0x3000;
pub const NOT_INITIALIZED: i32 = 0x3001;
pub const BAD_ACCESS: i32 = 0x3002;
pub const BAD_ATTRIBUTE: i32 = 0x3004;
pub const BAD_CONFIG: i32 = 0x3005;
pub const BAD_CONTEXT: i32 = 0x3006;
pub const BAD_DISPLAY: i32 = 0x3008;
pub const BAD_MATCH: i32 = 0x3009;
pub const BAD_PARAMETER: i32 = 0x300c;
pub const BAD_SURFACE: i32 = 0x300d;
pub const OPENGL_API: u32 = 0x30a2;
pub const OPENGL_ES_API: u32 = 0x30a0;
pub const SURFACE_TYPE: i32 = 0x3033;
pub const PBUFFER_BIT: i32 = 1;
pub const WIDTH: i32 = 0x3057;
pub const HEIGHT: i32 = 0x3056;
pub const MAJOR: i32 = 0x3098;
pub const MINOR: i32 = 0x30fb;
pub const PROFILE_MASK: i32 = 0x30fd;
pub const EXTENSIONS: i32 = 0x3055;

/// The EGL functions that the tests call.
pub struct Driver {
    library: Library,
    pub get_display: unsafe extern "C" fn(usize) -> usize,
    pub initialize: unsafe extern "C" fn(usize, *mut i32, *mut i32) -> u32,
    pub terminate: unsafe extern "C" fn(usize) -> u32,
    pub bind_api: unsafe extern "C" fn(u32) -> u32,
    pub choose_config: unsafe extern "C" fn(usize, *const i32, *mut usize, i32, *mut i32) -> u32,
    pub create_context: unsafe extern "C" fn(usize, usize, usize, *const i32) -> usize,
    pub destroy_context: unsafe extern "C" fn(usize, usize) -> u32,
    pub create_pbuffer: unsafe extern "C" fn(usize, usize, *const i32) -> usize,
    pub destroy_surface: unsafe extern "C" fn(usize, usize) -> u32,
    pub make_current: unsafe extern "C" fn(usize, usize, usize, usize) -> u32,
    pub current_context: unsafe extern "C" fn() -> usize,
    pub swap_buffers: unsafe extern "C" fn(usize, usize) -> u32,
    pub release_thread: unsafe extern "C" fn() -> u32,
    pub error: unsafe extern "C" fn() -> i32,
    pub proc_address: unsafe extern "C" fn(*const c_char) -> *const (),
    pub query_string: unsafe extern "C" fn(usize, i32) -> *const c_char,
}

/// Where cargo put the library that belongs to this test program.
pub fn library_path() -> PathBuf {
    let exe = std::env::current_exe().expect("this program has a path");
    let deps = exe.parent().expect("it lies in target/*/deps");
    let path = deps.join("libmgl.so");
    assert!(path.is_file(), "{} is missing: the test needs the cdylib", path.display());
    path
}

impl Driver {
    /// Loads the library.
    pub fn load() -> Driver {
        // SAFETY: the library's initialisers do nothing.
        let library = unsafe { Library::new(library_path()) }.expect("the driver loads");
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the fields above have the types that EGL gives these functions.
                unsafe { *library.get(concat!($name, "\0").as_bytes()).expect($name) }
            };
        }
        Driver {
            get_display: symbol!("eglGetDisplay"),
            initialize: symbol!("eglInitialize"),
            terminate: symbol!("eglTerminate"),
            bind_api: symbol!("eglBindAPI"),
            choose_config: symbol!("eglChooseConfig"),
            create_context: symbol!("eglCreateContext"),
            destroy_context: symbol!("eglDestroyContext"),
            create_pbuffer: symbol!("eglCreatePbufferSurface"),
            destroy_surface: symbol!("eglDestroySurface"),
            make_current: symbol!("eglMakeCurrent"),
            current_context: symbol!("eglGetCurrentContext"),
            swap_buffers: symbol!("eglSwapBuffers"),
            release_thread: symbol!("eglReleaseThread"),
            error: symbol!("eglGetError"),
            proc_address: symbol!("eglGetProcAddress"),
            query_string: symbol!("eglQueryString"),
            library,
        }
    }

    /// The address of an exported symbol, null when there is none.
    pub fn symbol(&self, name: &str) -> *const () {
        let name = CString::new(name).expect("a C name");
        // SAFETY: only the address is taken.
        let found = unsafe { self.library.get::<unsafe extern "C" fn()>(name.as_bytes_with_nul()) };
        found.map_or(std::ptr::null(), |f| *f as *const ())
    }

    /// What `eglGetProcAddress` answers.
    pub fn proc(&self, name: &str) -> *const () {
        let name = CString::new(name).expect("a C name");
        // SAFETY: a terminated string.
        unsafe { (self.proc_address)(name.as_ptr()) }
    }

    /// A GL function as the type that the caller knows it has.
    ///
    /// # Safety
    ///
    /// `F` is the function's type.
    pub unsafe fn gl<F: Copy>(&self, name: &str) -> F {
        let address = self.proc(name);
        assert!(!address.is_null(), "{name}");
        // SAFETY: function pointers have the size of an address; the type is the caller's promise.
        unsafe { std::mem::transmute_copy(&address) }
    }

    /// The thread's error, which also resets it.
    pub fn take_error(&self) -> i32 {
        // SAFETY: no preconditions.
        unsafe { (self.error)() }
    }

    /// An initialised display.
    pub fn display(&self) -> usize {
        // SAFETY: null pointers are allowed.
        unsafe {
            let display = (self.get_display)(0);
            assert_ne!(display, 0);
            let done = (self.initialize)(display, std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!((done, self.take_error()), (1, SUCCESS), "eglInitialize: is a Vulkan driver installed?");
            assert_eq!((self.bind_api)(OPENGL_API), 1);
            display
        }
    }

    /// The default display without initialising it.
    pub fn display_again(&self) -> usize {
        // SAFETY: no preconditions.
        unsafe { (self.get_display)(0) }
    }

    /// The first config with a pbuffer.
    pub fn config(&self, display: usize) -> usize {
        let wanted = [SURFACE_TYPE, PBUFFER_BIT, 0x3024, 8, 0x3025, 24, NONE];
        let (mut config, mut count) = (0, 0);
        // SAFETY: room for one config.
        let done = unsafe { (self.choose_config)(display, wanted.as_ptr(), &mut config, 1, &mut count) };
        assert_eq!((done, count), (1, 1));
        config
    }

    /// A 3.3 core context that shares with `share`.
    pub fn context(&self, display: usize, config: usize, share: usize) -> usize {
        let attributes = [MAJOR, 3, MINOR, 3, PROFILE_MASK, 1, NONE];
        // SAFETY: a terminated list.
        let context = unsafe { (self.create_context)(display, config, share, attributes.as_ptr()) };
        assert_ne!(context, 0, "error {:#x}", self.take_error());
        context
    }

    /// A context that shares with nobody, current on this thread with a square pbuffer: display, surface, context.
    pub fn pbuffer(&self, side: i32) -> (usize, usize, usize) {
        let display = self.display();
        let config = self.config(display);
        let context = self.context(display, config, 0);
        let size = [WIDTH, side, HEIGHT, side, NONE];
        // SAFETY: a terminated list, and handles of this display.
        unsafe {
            let surface = (self.create_pbuffer)(display, config, size.as_ptr());
            assert_eq!((self.make_current)(display, surface, surface, context), 1);
            (display, surface, context)
        }
    }

    /// A string of `eglQueryString`.
    pub fn string(&self, display: usize, name: i32) -> Option<String> {
        // SAFETY: EGL strings are static and terminated.
        unsafe {
            let text = (self.query_string)(display, name);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }
}
