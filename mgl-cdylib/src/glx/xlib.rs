//! Xlib as far as GLX needs it, looked up in the library that the application has loaded anyway.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

/// An `XID`: a window, a pixmap, a GLX drawable.
pub(crate) type Xid = c_ulong;

/// A `Display *` of the application.
pub(crate) type Dpy = *mut c_void;

/// `XVisualInfo`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct XVisualInfo {
    pub(crate) visual: *mut c_void,
    pub(crate) id: c_ulong,
    pub(crate) screen: c_int,
    pub(crate) depth: c_int,
    pub(crate) class: c_int,
    pub(crate) red_mask: c_ulong,
    pub(crate) green_mask: c_ulong,
    pub(crate) blue_mask: c_ulong,
    pub(crate) colormap_size: c_int,
    pub(crate) bits_per_rgb: c_int,
}

impl XVisualInfo {
    fn empty() -> XVisualInfo {
        XVisualInfo {
            visual: std::ptr::null_mut(),
            id: 0,
            screen: 0,
            depth: 0,
            class: 0,
            red_mask: 0,
            green_mask: 0,
            blue_mask: 0,
            colormap_size: 0,
            bits_per_rgb: 0,
        }
    }
}

const VISUAL_ID_MASK: c_long = 1;
const VISUAL_SCREEN_MASK: c_long = 2;

/// `XExtCodes`.
#[repr(C)]
struct ExtCodes {
    extension: c_int,
    major_opcode: c_int,
    first_event: c_int,
    first_error: c_int,
}

/// An error as the X protocol has it (`xError`).
#[repr(C)]
struct WireError {
    kind: u8,
    code: u8,
    sequence: u16,
    resource: u32,
    minor: u16,
    major: u8,
    unused: [u8; 21],
}

/// `struct _XDisplay` of `Xlibint.h`, down to the line under which members may move. Extension libraries are built on it.
#[repr(C)]
struct DisplayHead {
    ext_data: usize,
    free_funcs: usize,
    fd: c_int,
    conn_checker: c_int,
    protocol: [c_int; 2],
    vendor: usize,
    resource_base: c_ulong,
    resource_mask: c_ulong,
    resource_id: c_ulong,
    resource_shift: c_int,
    resource_alloc: usize,
    byte_order: c_int,
    bitmap: [c_int; 3],
    formats: c_int,
    pixmap_format: usize,
    version: c_int,
    release: c_int,
    queue: [usize; 2],
    queue_length: c_int,
    last_request_read: c_ulong,
    request: c_ulong,
    last_request: usize,
    buffer: [usize; 3],
    max_request_size: c_uint,
    database: usize,
    sync_handler: usize,
    display_name: usize,
    default_screen: c_int,
    screen_count: c_int,
    screens: usize,
    motion_buffer: c_ulong,
    flags: c_ulong,
    keycodes: [c_int; 2],
    keysyms: usize,
    modifier_map: usize,
    keysyms_per_keycode: c_int,
    defaults: usize,
    scratch_buffer: usize,
    scratch_length: c_ulong,
    extension_number: c_int,
    extensions: usize,
    event_vector: [usize; 128],
    wire_vector: [usize; 128],
    lock_meaning: c_ulong,
    lock: usize,
    async_handlers: usize,
    big_request_size: c_ulong,
    lock_functions: *const LockFunctions,
}

/// `struct _XLockPtrs`.
#[repr(C)]
struct LockFunctions {
    lock: Option<unsafe extern "C" fn(Dpy)>,
    unlock: Option<unsafe extern "C" fn(Dpy)>,
}

/// A function that Xlib calls when a connection closes.
pub(crate) type CloseHook = unsafe extern "C" fn(Dpy, *mut c_void) -> c_int;

/// A function that names an error: its number, the extension's codes, and the text to write with its room.
type NameHook = unsafe extern "C" fn(Dpy, c_int, *mut ExtCodes, *mut c_char, c_int) -> *mut c_char;

/// GLX's errors in the order of their numbers.
const ERROR_NAMES: [&str; 14] = [
    "GLXBadContext",
    "GLXBadContextState",
    "GLXBadDrawable",
    "GLXBadPixmap",
    "GLXBadContextTag",
    "GLXBadCurrentWindow",
    "GLXBadRenderRequest",
    "GLXBadLargeRequest",
    "GLXUnsupportedPrivateRequest",
    "GLXBadFBConfig",
    "GLXBadPbuffer",
    "GLXBadCurrentDrawable",
    "GLXBadWindow",
    "GLXBadProfileARB",
];

/// Names GLX's errors in what Xlib prints of them.
unsafe extern "C" fn name_error(
    _: Dpy,
    code: c_int,
    codes: *mut ExtCodes,
    text: *mut c_char,
    room: c_int,
) -> *mut c_char {
    // SAFETY: Xlib passes the codes that it gave out for this hook, and room for so many bytes.
    unsafe {
        let place = codes.as_ref().and_then(|codes| usize::try_from(code.checked_sub(codes.first_error)?).ok());
        if let (Some(name), Ok(room)) = (place.and_then(|place| ERROR_NAMES.get(place)), usize::try_from(room)) {
            if room > name.len() {
                std::ptr::copy_nonoverlapping(name.as_ptr(), text.cast(), name.len());
                text.add(name.len()).write(0);
            }
        }
    }
    text
}

/// The functions of Xlib.
pub(crate) struct Xlib {
    screen_count: unsafe extern "C" fn(Dpy) -> c_int,
    root_window: unsafe extern "C" fn(Dpy, c_int) -> Xid,
    default_visual: unsafe extern "C" fn(Dpy, c_int) -> *mut c_void,
    visual_id: unsafe extern "C" fn(*mut c_void) -> c_ulong,
    get_visual_info: unsafe extern "C" fn(Dpy, c_long, *mut XVisualInfo, *mut c_int) -> *mut XVisualInfo,
    free: unsafe extern "C" fn(*mut c_void) -> c_int,
    sync: unsafe extern "C" fn(Dpy, c_int) -> c_int,
    query_extension: unsafe extern "C" fn(Dpy, *const c_char, *mut c_int, *mut c_int, *mut c_int) -> c_int,
    init_extension: unsafe extern "C" fn(Dpy, *const c_char) -> *mut ExtCodes,
    add_extension: unsafe extern "C" fn(Dpy) -> *mut ExtCodes,
    set_error_names: unsafe extern "C" fn(Dpy, c_int, Option<NameHook>) -> *const c_void,
    set_close_hook: unsafe extern "C" fn(Dpy, c_int, Option<CloseHook>) -> *const c_void,
    create_pixmap: unsafe extern "C" fn(Dpy, Xid, c_uint, c_uint, c_uint) -> Xid,
    free_pixmap: unsafe extern "C" fn(Dpy, Xid) -> c_int,
    report_error: unsafe extern "C" fn(Dpy, *mut WireError) -> c_int,
}

/// Xlib; none where there is no such library, and then no `Display *` either.
pub(crate) fn xlib() -> Option<&'static Xlib> {
    static XLIB: OnceLock<Option<Xlib>> = OnceLock::new();
    XLIB.get_or_init(|| {
        let loaded = Xlib::load();
        if let Err(error) = &loaded {
            log::error!("GLX needs libX11: {error}");
        }
        loaded.ok()
    })
    .as_ref()
}

impl Xlib {
    fn load() -> Result<Xlib, libloading::Error> {
        // SAFETY: the application has a `Display *`, so the library is loaded already and nothing is initialised here.
        let library = unsafe { Library::open(Some("libX11.so.6"), RTLD_LAZY | RTLD_LOCAL) }?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the fields have the types that Xlib gives these functions.
                unsafe { *library.get(concat!($name, "\0").as_bytes())? }
            };
        }
        let functions = Xlib {
            screen_count: symbol!("XScreenCount"),
            root_window: symbol!("XRootWindow"),
            default_visual: symbol!("XDefaultVisual"),
            visual_id: symbol!("XVisualIDFromVisual"),
            get_visual_info: symbol!("XGetVisualInfo"),
            free: symbol!("XFree"),
            sync: symbol!("XSync"),
            query_extension: symbol!("XQueryExtension"),
            init_extension: symbol!("XInitExtension"),
            add_extension: symbol!("XAddExtension"),
            set_error_names: symbol!("XESetErrorString"),
            set_close_hook: symbol!("XESetCloseDisplay"),
            create_pixmap: symbol!("XCreatePixmap"),
            free_pixmap: symbol!("XFreePixmap"),
            report_error: symbol!("_XError"),
        };
        // The functions stay valid for good.
        std::mem::forget(library);
        Ok(functions)
    }

    /// Number of screens.
    pub(crate) fn screens(&self, dpy: Dpy) -> c_int {
        // SAFETY: an open connection of the application; libX11 reads its own structure.
        unsafe { (self.screen_count)(dpy) }
    }

    /// The root window of a screen that exists.
    pub(crate) fn root(&self, dpy: Dpy, screen: c_int) -> Xid {
        // SAFETY: as above.
        unsafe { (self.root_window)(dpy, screen) }
    }

    /// Id of the default visual of a screen that exists.
    pub(crate) fn default_visual(&self, dpy: Dpy, screen: c_int) -> c_ulong {
        // SAFETY: as above; the visual is the connection's own.
        unsafe { (self.visual_id)((self.default_visual)(dpy, screen)) }
    }

    /// All visuals of a screen.
    pub(crate) fn visuals(&self, dpy: Dpy, screen: c_int) -> Vec<XVisualInfo> {
        let mut wanted = XVisualInfo { screen, ..XVisualInfo::empty() };
        let mut count = 0;
        // SAFETY: the template's screen is set, as the mask says; the answer is an array of `count`, to be freed.
        unsafe {
            let list = (self.get_visual_info)(dpy, VISUAL_SCREEN_MASK, &mut wanted, &mut count);
            if list.is_null() {
                return Vec::new();
            }
            let visuals = std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)).to_vec();
            (self.free)(list.cast());
            visuals
        }
    }

    /// One visual as Xlib describes it, for the application to free; null when the screen has none of that id.
    pub(crate) fn visual(&self, dpy: Dpy, screen: c_int, id: c_ulong) -> *mut XVisualInfo {
        let mut wanted = XVisualInfo { screen, id, ..XVisualInfo::empty() };
        let mut count = 0;
        // SAFETY: as above, with both members set.
        unsafe { (self.get_visual_info)(dpy, VISUAL_SCREEN_MASK | VISUAL_ID_MASK, &mut wanted, &mut count) }
    }

    /// Waits until the server has done all that was asked of it.
    pub(crate) fn sync(&self, dpy: Dpy) {
        // SAFETY: an open connection of the application.
        unsafe { (self.sync)(dpy, 0) };
    }

    /// Major opcode, first event and first error of an extension of the server.
    pub(crate) fn extension(&self, dpy: Dpy, name: &std::ffi::CStr) -> Option<(u8, c_int, c_int)> {
        let (mut major, mut event, mut error) = (0, 0, 0);
        // SAFETY: a terminated name and variables to write.
        let there = unsafe { (self.query_extension)(dpy, name.as_ptr(), &mut major, &mut event, &mut error) };
        (there != 0).then(|| (u8::try_from(major).unwrap_or(0), event, error))
    }

    /// Lets Xlib call `hook` when the connection is closed, and know the names of GLX's errors.
    pub(crate) fn on_close(&self, dpy: Dpy, hook: CloseHook) {
        // SAFETY: an open connection; Xlib owns the codes, and this library with the hooks is never unloaded.
        unsafe {
            let glx = (self.init_extension)(dpy, c"GLX".as_ptr());
            if let Some(codes) = glx.as_ref() {
                (self.set_error_names)(dpy, codes.extension, Some(name_error));
            }
            // A server without GLX has no errors of it, either.
            let codes = if glx.is_null() { (self.add_extension)(dpy) } else { glx };
            if let Some(codes) = codes.as_ref() {
                (self.set_close_hook)(dpy, codes.extension, Some(hook));
            }
        }
    }

    /// A new id that the server knows to be taken: that of a pixmap of one pixel.
    pub(crate) fn take_id(&self, dpy: Dpy, screen: c_int) -> Xid {
        // SAFETY: an open connection and a screen of it; pixmaps of depth 1 exist on every server.
        unsafe { (self.create_pixmap)(dpy, self.root(dpy, screen), 1, 1, 1) }
    }

    /// Gives an id back.
    pub(crate) fn give_id(&self, dpy: Dpy, id: Xid) {
        // SAFETY: an open connection and a pixmap that `take_id` made on it.
        unsafe { (self.free_pixmap)(dpy, id) };
    }

    /// Hands an error to the application as if the server had sent it: through its `XSetErrorHandler`, whose default ends
    /// the program. No lock of this library may be held.
    pub(crate) fn report(&self, dpy: Dpy, code: u8, resource: Xid, major: u8, minor: u8) {
        let head: *mut DisplayHead = dpy.cast();
        // SAFETY: an open connection of the application, whose head has had this layout in every libX11 with this soname.
        // `_XError` wants the connection locked and unlocks it around the handler, like every extension library does.
        unsafe {
            let locks = (*head).lock_functions.as_ref();
            if let Some(lock) = locks.and_then(|l| l.lock) {
                lock(dpy);
            }
            let mut error = WireError {
                kind: 0,
                code,
                sequence: (*head).request as u16,
                resource: resource as u32,
                minor: u16::from(minor),
                major,
                unused: [0; 21],
            };
            (self.report_error)(dpy, &mut error);
            if let Some(unlock) = locks.and_then(|l| l.unlock) {
                unlock(dpy);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// The numbers come from `offsetof` in C with `X11/Xlibint.h`.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn the_head_of_a_display_has_the_layout_of_xlib() {
        assert_eq!(offset_of!(DisplayHead, resource_alloc), 72);
        assert_eq!(offset_of!(DisplayHead, request), 152);
        assert_eq!(offset_of!(DisplayHead, screens), 232);
        assert_eq!(offset_of!(DisplayHead, lock), 2384);
        assert_eq!(offset_of!(DisplayHead, lock_functions), 2408);
        assert_eq!(size_of::<WireError>(), 32);
        assert_eq!(offset_of!(WireError, major), 10);
    }
}
