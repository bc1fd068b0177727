//! A window of Xlib with an EGL surface, as an ordinary program makes it. The libraries are loaded at run time.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::sync::Arc;

use anyhow::{anyhow, bail, Context as _, Result};
use khronos_egl as egl;

const PLATFORM_X11: egl::Enum = 0x31D5;

/// `EGL_BUFFER_AGE_EXT`.
pub const BUFFER_AGE: egl::Int = 0x313D;

/// The functions of Xlib that the tests use.
struct Xlib {
    open_display: unsafe extern "C" fn(*const c_char) -> *mut c_void,
    default_root_window: unsafe extern "C" fn(*mut c_void) -> c_ulong,
    create_simple_window:
        unsafe extern "C" fn(*mut c_void, c_ulong, c_int, c_int, c_uint, c_uint, c_uint, c_ulong, c_ulong) -> c_ulong,
    map_window: unsafe extern "C" fn(*mut c_void, c_ulong) -> c_int,
    unmap_window: unsafe extern "C" fn(*mut c_void, c_ulong) -> c_int,
    resize_window: unsafe extern "C" fn(*mut c_void, c_ulong, c_uint, c_uint) -> c_int,
    sync: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    init_threads: unsafe extern "C" fn() -> c_int,
    _library: libloading::Library,
}

impl Xlib {
    fn load() -> Result<Xlib> {
        // SAFETY: Xlib's initialisers are ordinary ones, and the types are those of Xlib.h.
        unsafe {
            let library = libloading::Library::new("libX11.so.6").context("libX11.so.6")?;
            Ok(Xlib {
                open_display: *library.get(b"XOpenDisplay\0")?,
                default_root_window: *library.get(b"XDefaultRootWindow\0")?,
                create_simple_window: *library.get(b"XCreateSimpleWindow\0")?,
                map_window: *library.get(b"XMapWindow\0")?,
                unmap_window: *library.get(b"XUnmapWindow\0")?,
                resize_window: *library.get(b"XResizeWindow\0")?,
                sync: *library.get(b"XSync\0")?,
                init_threads: *library.get(b"XInitThreads\0")?,
                _library: library,
            })
        }
    }
}

/// The connection to the display that the environment names, with EGL on it.
pub struct Screen {
    xlib: Xlib,
    display: *mut c_void,
    /// EGL's functions.
    pub lib: egl::DynamicInstance<egl::EGL1_5>,
    /// The display.
    pub egl: egl::Display,
    config: egl::Config,
}

// SAFETY: Xlib was told of threads before anything else, and EGL displays may be used by every thread.
unsafe impl Send for Screen {}
// SAFETY: as above.
unsafe impl Sync for Screen {}

impl Screen {
    /// Opens the display.
    ///
    /// # Errors
    /// When a library, the display or a config is missing.
    pub fn open() -> Result<Arc<Screen>> {
        let xlib = Xlib::load()?;
        // SAFETY: the first call of Xlib, as it has to be; null names the environment's display.
        let display = unsafe {
            (xlib.init_threads)();
            (xlib.open_display)(std::ptr::null())
        };
        if display.is_null() {
            bail!("no X display");
        }
        // SAFETY: libEGL runs its ordinary initialisers.
        let lib = unsafe { egl::DynamicInstance::<egl::EGL1_5>::load_required() }
            .map_err(|error| anyhow!("libEGL.so.1 does not load: {error:?}"))?;
        // SAFETY: the native display is the one that was opened, and is never closed.
        let egl = unsafe { lib.get_platform_display(PLATFORM_X11, display, &[egl::ATTRIB_NONE]) }
            .context("eglGetPlatformDisplay")?;
        lib.initialize(egl).context("eglInitialize")?;
        lib.bind_api(egl::OPENGL_API).context("eglBindAPI")?;
        let wanted = [
            egl::SURFACE_TYPE,
            egl::WINDOW_BIT,
            egl::RENDERABLE_TYPE,
            egl::OPENGL_BIT,
            egl::RED_SIZE,
            8,
            egl::GREEN_SIZE,
            8,
            egl::BLUE_SIZE,
            8,
            egl::DEPTH_SIZE,
            24,
            egl::NONE,
        ];
        let config = lib.choose_first_config(egl, &wanted).context("eglChooseConfig")?.context("no config")?;
        Ok(Arc::new(Screen { xlib, display, lib, egl, config }))
    }

    /// A window of this size on the screen.
    pub fn window(self: &Arc<Self>, width: u32, height: u32) -> Window {
        // SAFETY: the display is open; the window is made by it.
        let window = unsafe {
            let root = (self.xlib.default_root_window)(self.display);
            let window = (self.xlib.create_simple_window)(self.display, root, 10, 10, width, height, 0, 0, 0x40_4040);
            (self.xlib.map_window)(self.display, window);
            window
        };
        let window = Window { screen: self.clone(), number: window };
        self.sync();
        window
    }

    /// Waits until the X server has done everything.
    pub fn sync(&self) {
        // SAFETY: the display is open.
        unsafe { (self.xlib.sync)(self.display, 0) };
    }

    /// A context of version 3.3, core profile.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn context(&self) -> Result<egl::Context> {
        let attributes = [
            egl::CONTEXT_MAJOR_VERSION,
            3,
            egl::CONTEXT_MINOR_VERSION,
            3,
            egl::CONTEXT_OPENGL_PROFILE_MASK,
            egl::CONTEXT_OPENGL_CORE_PROFILE_BIT,
            egl::NONE,
        ];
        self.lib.create_context(self.egl, self.config, None, &attributes).context("eglCreateContext")
    }

    /// Makes a context current with a surface.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn make_current(&self, surface: egl::Surface, context: egl::Context) -> Result<()> {
        self.lib.make_current(self.egl, Some(surface), Some(surface), Some(context)).context("eglMakeCurrent")
    }

    /// The functions of the current context.
    ///
    /// # Safety
    /// A context is current on this thread.
    pub unsafe fn functions(&self) -> glow::Context {
        glow::Context::from_loader_function(|name| {
            self.lib.get_proc_address(name).map_or(std::ptr::null(), |function| function as *const c_void)
        })
    }
}

/// A window.
pub struct Window {
    screen: Arc<Screen>,
    number: c_ulong,
}

impl Window {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number as u32
    }

    /// A surface for it with these attributes, without the end of the list.
    ///
    /// # Errors
    /// What EGL says.
    pub fn surface(&self, attributes: &[egl::Int]) -> Result<egl::Surface, egl::Error> {
        let attributes: Vec<egl::Int> = attributes.iter().copied().chain([egl::NONE]).collect();
        // SAFETY: the window belongs to the display; the list is terminated.
        unsafe {
            let native = self.number as egl::NativeWindowType;
            self.screen.lib.create_window_surface(self.screen.egl, self.screen.config, native, Some(&attributes))
        }
    }

    /// Asks for another size, and leaves the request in Xlib's buffer.
    pub fn resize(&self, width: u32, height: u32) {
        // SAFETY: a window of the open display.
        unsafe { (self.screen.xlib.resize_window)(self.screen.display, self.number, width, height) };
    }

    /// Takes it from the screen.
    pub fn unmap(&self) {
        // SAFETY: as above.
        unsafe { (self.screen.xlib.unmap_window)(self.screen.display, self.number) };
        self.screen.sync();
    }
}
