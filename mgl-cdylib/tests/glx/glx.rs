//! The GLX functions that the tests call, and what they have in common.

use std::ffi::{c_char, c_int, c_uint, c_ulong, CStr};

use libloading::Library;

use crate::ways;
use crate::xlib::{Dpy, VisualInfo, Xid, Xlib};

pub const GLX_BAD_CONTEXT: i32 = 0;
pub const GLX_BAD_DRAWABLE: i32 = 2;
pub const GLX_BAD_PIXMAP: i32 = 3;
pub const GLX_BAD_CURRENT_WINDOW: i32 = 5;
pub const GLX_BAD_FB_CONFIG: i32 = 9;
pub const GLX_BAD_PBUFFER: i32 = 10;
pub const GLX_BAD_WINDOW: i32 = 12;
pub const GLX_BAD_PROFILE: i32 = 13;

pub const RGBA: i32 = 4;
pub const DOUBLEBUFFER: i32 = 5;
pub const RED_SIZE: i32 = 8;
pub const ALPHA_SIZE: i32 = 11;
pub const DEPTH_SIZE: i32 = 12;
pub const STENCIL_SIZE: i32 = 13;
pub const USE_GL: i32 = 1;
pub const BUFFER_SIZE: i32 = 2;
pub const VISUAL_ID: i32 = 0x800b;
pub const SCREEN: i32 = 0x800c;
pub const DRAWABLE_TYPE: i32 = 0x8010;
pub const RENDER_TYPE: i32 = 0x8011;
pub const FBCONFIG_ID: i32 = 0x8013;
pub const RGBA_TYPE: i32 = 0x8014;
pub const MAX_PBUFFER_WIDTH: i32 = 0x8016;
pub const PRESERVED_CONTENTS: i32 = 0x801b;
pub const LARGEST_PBUFFER: i32 = 0x801c;
pub const WIDTH: i32 = 0x801d;
pub const HEIGHT: i32 = 0x801e;
pub const PBUFFER_HEIGHT: i32 = 0x8040;
pub const PBUFFER_WIDTH: i32 = 0x8041;
pub const SAMPLES: i32 = 100_001;
pub const SRGB: i32 = 0x20b2;
pub const SWAP_INTERVAL: i32 = 0x20f1;
pub const MAJOR: i32 = 0x2091;
pub const MINOR: i32 = 0x2092;
pub const FLAGS: i32 = 0x2094;
pub const PROFILE: i32 = 0x9126;
pub const WINDOW_BIT: i32 = 1;
pub const PIXMAP_BIT: i32 = 2;
pub const PBUFFER_BIT: i32 = 4;

/// The functions, from the library that the way of this child names.
pub struct Glx {
    pub x: Xlib,
    pub dpy: Dpy,
    first_error: i32,
    proc_address: unsafe extern "C" fn(*const c_char) -> *const (),
    pub get_client_string: unsafe extern "C" fn(Dpy, c_int) -> *const c_char,
    pub query_server_string: unsafe extern "C" fn(Dpy, c_int, c_int) -> *const c_char,
    pub query_extensions_string: unsafe extern "C" fn(Dpy, c_int) -> *const c_char,
    pub query_version: unsafe extern "C" fn(Dpy, *mut c_int, *mut c_int) -> c_int,
    pub get_fb_configs: unsafe extern "C" fn(Dpy, c_int, *mut c_int) -> *mut usize,
    pub choose_fb_config: unsafe extern "C" fn(Dpy, c_int, *const c_int, *mut c_int) -> *mut usize,
    pub fb_config_attrib: unsafe extern "C" fn(Dpy, usize, c_int, *mut c_int) -> c_int,
    pub visual_from_fb_config: unsafe extern "C" fn(Dpy, usize) -> *mut VisualInfo,
    pub choose_visual: unsafe extern "C" fn(Dpy, c_int, *mut c_int) -> *mut VisualInfo,
    pub get_config: unsafe extern "C" fn(Dpy, *const VisualInfo, c_int, *mut c_int) -> c_int,
    pub create_context: unsafe extern "C" fn(Dpy, *const VisualInfo, usize, c_int) -> usize,
    pub create_new_context: unsafe extern "C" fn(Dpy, usize, c_int, usize, c_int) -> usize,
    pub create_context_attribs: unsafe extern "C" fn(Dpy, usize, usize, c_int, *const c_int) -> usize,
    pub destroy_context: unsafe extern "C" fn(Dpy, usize),
    pub copy_context: unsafe extern "C" fn(Dpy, usize, usize, c_ulong),
    pub is_direct: unsafe extern "C" fn(Dpy, usize) -> c_int,
    pub query_context: unsafe extern "C" fn(Dpy, usize, c_int, *mut c_int) -> c_int,
    pub make_current: unsafe extern "C" fn(Dpy, Xid, usize) -> c_int,
    pub make_context_current: unsafe extern "C" fn(Dpy, Xid, Xid, usize) -> c_int,
    pub current_context: unsafe extern "C" fn() -> usize,
    pub current_display: unsafe extern "C" fn() -> Dpy,
    pub current_drawable: unsafe extern "C" fn() -> Xid,
    pub current_read_drawable: unsafe extern "C" fn() -> Xid,
    pub create_window: unsafe extern "C" fn(Dpy, usize, Xid, *const c_int) -> Xid,
    pub destroy_window: unsafe extern "C" fn(Dpy, Xid),
    pub create_pixmap: unsafe extern "C" fn(Dpy, usize, Xid, *const c_int) -> Xid,
    pub destroy_pixmap: unsafe extern "C" fn(Dpy, Xid),
    pub create_pbuffer: unsafe extern "C" fn(Dpy, usize, *const c_int) -> Xid,
    pub destroy_pbuffer: unsafe extern "C" fn(Dpy, Xid),
    pub query_drawable: unsafe extern "C" fn(Dpy, Xid, c_int, *mut c_uint),
    pub select_event: unsafe extern "C" fn(Dpy, Xid, c_ulong),
    pub get_selected_event: unsafe extern "C" fn(Dpy, Xid, *mut c_ulong),
    pub swap_buffers: unsafe extern "C" fn(Dpy, Xid),
    pub wait_gl: unsafe extern "C" fn(),
    pub wait_x: unsafe extern "C" fn(),
    pub use_x_font: unsafe extern "C" fn(Xid, c_int, c_int, c_int),
}

// SAFETY: Xlib was told to be prepared for threads before the connection was opened; the rest are addresses of functions.
unsafe impl Sync for Glx {}
// SAFETY: as above.
unsafe impl Send for Glx {}

impl Glx {
    /// Loads Xlib and GLX, and opens a connection.
    pub fn load() -> Glx {
        let x = Xlib::load();
        // SAFETY: nothing of Xlib was called before.
        assert_ne!(unsafe { (x.init_threads)() }, 0);
        let dpy = x.open();
        let first_error = x.first_error(dpy);
        // SAFETY: neither the dispatcher nor the driver does anything when it is loaded.
        let library = unsafe { Library::new(ways::libgl()) }.expect("libGL");
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the fields have the types of glx.h.
                unsafe { *library.get(concat!($name, "\0").as_bytes()).expect($name) }
            };
        }
        let proc_address: unsafe extern "C" fn(*const c_char) -> *const () = symbol!("glXGetProcAddressARB");
        // SAFETY: a terminated name, and the type of the extension's function.
        let create_context_attribs = unsafe {
            let address = proc_address(c"glXCreateContextAttribsARB".as_ptr());
            assert!(!address.is_null());
            std::mem::transmute::<*const (), unsafe extern "C" fn(Dpy, usize, usize, c_int, *const c_int) -> usize>(
                address,
            )
        };
        let glx = Glx {
            x,
            dpy,
            first_error,
            proc_address,
            create_context_attribs,
            get_client_string: symbol!("glXGetClientString"),
            query_server_string: symbol!("glXQueryServerString"),
            query_extensions_string: symbol!("glXQueryExtensionsString"),
            query_version: symbol!("glXQueryVersion"),
            get_fb_configs: symbol!("glXGetFBConfigs"),
            choose_fb_config: symbol!("glXChooseFBConfig"),
            fb_config_attrib: symbol!("glXGetFBConfigAttrib"),
            visual_from_fb_config: symbol!("glXGetVisualFromFBConfig"),
            choose_visual: symbol!("glXChooseVisual"),
            get_config: symbol!("glXGetConfig"),
            create_context: symbol!("glXCreateContext"),
            create_new_context: symbol!("glXCreateNewContext"),
            destroy_context: symbol!("glXDestroyContext"),
            copy_context: symbol!("glXCopyContext"),
            is_direct: symbol!("glXIsDirect"),
            query_context: symbol!("glXQueryContext"),
            make_current: symbol!("glXMakeCurrent"),
            make_context_current: symbol!("glXMakeContextCurrent"),
            current_context: symbol!("glXGetCurrentContext"),
            current_display: symbol!("glXGetCurrentDisplay"),
            current_drawable: symbol!("glXGetCurrentDrawable"),
            current_read_drawable: symbol!("glXGetCurrentReadDrawable"),
            create_window: symbol!("glXCreateWindow"),
            destroy_window: symbol!("glXDestroyWindow"),
            create_pixmap: symbol!("glXCreatePixmap"),
            destroy_pixmap: symbol!("glXDestroyPixmap"),
            create_pbuffer: symbol!("glXCreatePbuffer"),
            destroy_pbuffer: symbol!("glXDestroyPbuffer"),
            query_drawable: symbol!("glXQueryDrawable"),
            select_event: symbol!("glXSelectEvent"),
            get_selected_event: symbol!("glXGetSelectedEvent"),
            swap_buffers: symbol!("glXSwapBuffers"),
            wait_gl: symbol!("glXWaitGL"),
            wait_x: symbol!("glXWaitX"),
            use_x_font: symbol!("glXUseXFont"),
        };
        std::mem::forget(library);
        glx
    }

    /// Any function by name, as the type that the caller knows it has.
    ///
    /// # Safety
    ///
    /// `F` is the function's type.
    pub unsafe fn proc<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: a terminated name.
        let address = unsafe { (self.proc_address)(name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        // SAFETY: function pointers have the size of an address; the type is the caller's promise.
        unsafe { std::mem::transmute_copy(&address) }
    }

    /// Expects that the last call ended with one of GLX's errors.
    #[track_caller]
    pub fn expect_glx(&self, error: i32) {
        assert_eq!(self.x.take_error(self.dpy).0, self.first_error + error, "the X error");
    }

    /// Expects that the last call ended with one of the X protocol's errors; zero is none.
    #[track_caller]
    pub fn expect(&self, error: i32) {
        assert_eq!(self.x.take_error(self.dpy).0, error, "the X error (GLX's begin at {})", self.first_error);
    }

    /// A terminated string of GLX.
    ///
    /// # Safety
    ///
    /// `text` is one.
    pub unsafe fn text(text: *const c_char) -> String {
        assert!(!text.is_null());
        // SAFETY: by the contract.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// The configs that fit, `None` when GLX says null.
    pub fn choose(&self, list: &[i32]) -> Option<Vec<usize>> {
        let list = [list, &[0]].concat();
        let mut count = -1;
        // SAFETY: a terminated list; the answer is an array of `count`, to be freed with XFree.
        unsafe {
            let found = (self.choose_fb_config)(self.dpy, 0, list.as_ptr(), &mut count);
            if found.is_null() {
                return None;
            }
            let configs = std::slice::from_raw_parts(found, usize::try_from(count).expect("a count")).to_vec();
            (self.x.free)(found.cast());
            Some(configs)
        }
    }

    /// A value of a config.
    #[track_caller]
    pub fn value(&self, config: usize, attribute: i32) -> i32 {
        let mut value = i32::MIN;
        // SAFETY: a variable to write.
        assert_eq!(unsafe { (self.fb_config_attrib)(self.dpy, config, attribute, &mut value) }, 0, "{attribute:#x}");
        value
    }

    /// The first config with windows of the default visual's depth and pbuffers.
    pub fn config(&self) -> usize {
        let wanted = [DRAWABLE_TYPE, WINDOW_BIT | PBUFFER_BIT, DOUBLEBUFFER, 1, RED_SIZE, 8, DEPTH_SIZE, 24];
        self.choose(&wanted).expect("a config")[0]
    }

    /// What `glXCreateContextAttribsARB` answers.
    pub fn try_context(&self, config: usize, share: usize, list: &[i32]) -> usize {
        let list = [list, &[0]].concat();
        // SAFETY: a terminated list.
        unsafe { (self.create_context_attribs)(self.dpy, config, share, 1, list.as_ptr()) }
    }

    /// A 3.3 core context.
    #[track_caller]
    pub fn context(&self, config: usize, share: usize) -> usize {
        let context = self.try_context(config, share, &[MAJOR, 3, MINOR, 3, PROFILE, 1]);
        assert_ne!(context, 0, "X error {:?}: is a Vulkan driver installed?", self.x.take_error(self.dpy));
        context
    }

    /// A pbuffer of a size.
    pub fn pbuffer(&self, config: usize, width: i32, height: i32) -> Xid {
        let list = [PBUFFER_WIDTH, width, PBUFFER_HEIGHT, height, 0];
        // SAFETY: a terminated list.
        unsafe { (self.create_pbuffer)(self.dpy, config, list.as_ptr()) }
    }

    /// Clears the default framebuffer of the current context.
    pub fn clear(&self, color: [f32; 4]) {
        // SAFETY: the types of these functions, and a context is current.
        unsafe {
            let clear_color: unsafe extern "C" fn(f32, f32, f32, f32) = self.proc(c"glClearColor");
            let clear: unsafe extern "C" fn(u32) = self.proc(c"glClear");
            clear_color(color[0], color[1], color[2], color[3]);
            clear(0x4000);
        }
    }

    /// A pixel of the current read buffer.
    pub fn read(&self, x: i32, y: i32) -> [u8; 4] {
        let mut pixel = [0u8; 4];
        // SAFETY: the function's type, room for one pixel, and a context is current.
        unsafe {
            let read: unsafe extern "C" fn(i32, i32, i32, i32, u32, u32, *mut u8) = self.proc(c"glReadPixels");
            read(x, y, 1, 1, 0x1908, 0x1401, pixel.as_mut_ptr());
        }
        pixel
    }

    /// `glGetError`.
    pub fn gl_error(&self) -> u32 {
        // SAFETY: the function's type.
        unsafe { self.proc::<unsafe extern "C" fn() -> u32>(c"glGetError")() }
    }
}
