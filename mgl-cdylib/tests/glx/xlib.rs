//! Xlib for the tests, with an error handler that remembers.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libloading::Library;

pub type Xid = c_ulong;
pub type Dpy = *mut c_void;

/// `XErrorEvent`.
#[repr(C)]
struct ErrorEvent {
    kind: c_int,
    display: Dpy,
    resource: Xid,
    serial: c_ulong,
    code: u8,
    request: u8,
    minor: u8,
}

/// `XVisualInfo`, as far as the tests look.
#[repr(C)]
pub struct VisualInfo {
    pub visual: *mut c_void,
    pub id: c_ulong,
    pub screen: c_int,
    pub depth: c_int,
    pub class: c_int,
}

/// The functions.
pub struct Xlib {
    pub init_threads: unsafe extern "C" fn() -> c_int,
    pub open: unsafe extern "C" fn(*const c_char) -> Dpy,
    pub close: unsafe extern "C" fn(Dpy) -> c_int,
    pub sync: unsafe extern "C" fn(Dpy, c_int) -> c_int,
    pub free: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub root: unsafe extern "C" fn(Dpy, c_int) -> Xid,
    pub simple_window: unsafe extern "C" fn(Dpy, Xid, c_int, c_int, c_uint, c_uint, c_uint, c_ulong, c_ulong) -> Xid,
    pub map: unsafe extern "C" fn(Dpy, Xid) -> c_int,
    pub resize: unsafe extern "C" fn(Dpy, Xid, c_uint, c_uint) -> c_int,
    pub destroy: unsafe extern "C" fn(Dpy, Xid) -> c_int,
    pub pixmap: unsafe extern "C" fn(Dpy, Xid, c_uint, c_uint, c_uint) -> Xid,
    pub image: unsafe extern "C" fn(Dpy, Xid, c_int, c_int, c_uint, c_uint, c_ulong, c_int) -> *mut c_void,
    pub pixel: unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_ulong,
    pub destroy_image: unsafe extern "C" fn(*mut c_void) -> c_int,
    set_handler: unsafe extern "C" fn(Option<unsafe extern "C" fn(Dpy, *mut ErrorEvent) -> c_int>) -> *const c_void,
    query_extension: unsafe extern "C" fn(Dpy, *const c_char, *mut c_int, *mut c_int, *mut c_int) -> c_int,
}

static CODE: AtomicI32 = AtomicI32::new(0);
static RESOURCE: AtomicU64 = AtomicU64::new(0);
static COUNT: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn remember(_: Dpy, event: *mut ErrorEvent) -> c_int {
    // SAFETY: Xlib passes the event of the error.
    let event = unsafe { &*event };
    CODE.store(i32::from(event.code), Ordering::SeqCst);
    RESOURCE.store(event.resource, Ordering::SeqCst);
    COUNT.fetch_add(1, Ordering::SeqCst);
    0
}

/// Errors of the X protocol.
pub const BAD_VALUE: i32 = 2;
pub const BAD_WINDOW: i32 = 3;
pub const BAD_PIXMAP: i32 = 4;
pub const BAD_MATCH: i32 = 8;
pub const BAD_ACCESS: i32 = 10;
pub const BAD_ALLOC: i32 = 11;
pub const BAD_IMPLEMENTATION: i32 = 17;

impl Xlib {
    /// Loads the library; errors are remembered from then on.
    pub fn load() -> Xlib {
        // SAFETY: libX11's initialisers prepare its locks.
        let library = unsafe { Library::new("libX11.so.6") }.expect("libX11");
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the fields have the types of Xlib.h.
                unsafe { *library.get(concat!($name, "\0").as_bytes()).expect($name) }
            };
        }
        let xlib = Xlib {
            init_threads: symbol!("XInitThreads"),
            open: symbol!("XOpenDisplay"),
            close: symbol!("XCloseDisplay"),
            sync: symbol!("XSync"),
            free: symbol!("XFree"),
            root: symbol!("XRootWindow"),
            simple_window: symbol!("XCreateSimpleWindow"),
            map: symbol!("XMapWindow"),
            resize: symbol!("XResizeWindow"),
            destroy: symbol!("XDestroyWindow"),
            pixmap: symbol!("XCreatePixmap"),
            image: symbol!("XGetImage"),
            pixel: symbol!("XGetPixel"),
            destroy_image: symbol!("XDestroyImage"),
            set_handler: symbol!("XSetErrorHandler"),
            query_extension: symbol!("XQueryExtension"),
        };
        std::mem::forget(library);
        // SAFETY: the handler has the type that Xlib wants.
        unsafe { (xlib.set_handler)(Some(remember)) };
        xlib
    }

    /// A connection to the server of the environment.
    pub fn open(&self) -> Dpy {
        // SAFETY: null stands for the environment's display.
        let dpy = unsafe { (self.open)(std::ptr::null()) };
        assert!(!dpy.is_null(), "no connection to {:?}", std::env::var("DISPLAY"));
        dpy
    }

    /// The number of GLX's first error.
    pub fn first_error(&self, dpy: Dpy) -> i32 {
        let (mut major, mut event, mut error) = (0, 0, 0);
        // SAFETY: an open connection, a terminated name, and variables to write.
        let there = unsafe { (self.query_extension)(dpy, c"GLX".as_ptr(), &mut major, &mut event, &mut error) };
        assert_eq!(there, 1, "the server has no GLX");
        error
    }

    /// The error since the last call, zero when there was none, and what it was about.
    pub fn take_error(&self, dpy: Dpy) -> (i32, Xid) {
        // SAFETY: an open connection.
        unsafe { (self.sync)(dpy, 0) };
        let code = CODE.swap(0, Ordering::SeqCst);
        let count = COUNT.swap(0, Ordering::SeqCst);
        assert!(count <= 1, "{count} errors at once, the last {code}");
        (code, RESOURCE.swap(0, Ordering::SeqCst))
    }

    /// A mapped window of the root's visual.
    pub fn window(&self, dpy: Dpy, width: u32, height: u32) -> Xid {
        // SAFETY: an open connection and its first screen.
        unsafe {
            let window = (self.simple_window)(dpy, (self.root)(dpy, 0), 0, 0, width, height, 0, 0, 0);
            (self.map)(dpy, window);
            (self.sync)(dpy, 0);
            window
        }
    }

    /// Waits until a window's pixel has a colour: frames are shown through another connection, at the next refresh.
    #[track_caller]
    pub fn await_pixel(&self, dpy: Dpy, window: Xid, x: i32, y: i32, wanted: [u8; 3]) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let seen = self.pixel_of(dpy, window, x, y);
            if seen == wanted {
                return;
            }
            assert!(Instant::now() < deadline, "the pixel stays {seen:?} instead of {wanted:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Red, green and blue of a window's pixel.
    fn pixel_of(&self, dpy: Dpy, window: Xid, x: i32, y: i32) -> [u8; 3] {
        // SAFETY: a mapped window; the image is destroyed after it was read.
        unsafe {
            (self.sync)(dpy, 0);
            let image = (self.image)(dpy, window, x, y, 1, 1, c_ulong::MAX, 2);
            assert!(!image.is_null(), "no image of the window");
            let pixel = (self.pixel)(image, 0, 0) as c_long;
            (self.destroy_image)(image);
            [(pixel >> 16) as u8, (pixel >> 8) as u8, pixel as u8]
        }
    }
}
