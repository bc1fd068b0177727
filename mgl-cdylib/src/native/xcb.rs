//! The few functions of libxcb that are needed, from the copy that the program has loaded or from the system's.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::os::fd::RawFd;
use std::sync::OnceLock;

/// An answer to `GetGeometry`, as libxcb hands it out.
#[repr(C)]
struct GeometryReply {
    response_type: u8,
    depth: u8,
    sequence: u16,
    length: u32,
    root: u32,
    x: i16,
    y: i16,
    width: u16,
    height: u16,
    border_width: u16,
    pad: [u8; 2],
}

/// Number of a request whose answer is awaited.
#[repr(C)]
#[derive(Clone, Copy)]
struct Cookie {
    sequence: c_uint,
}

/// The functions, and the libraries, which stay loaded for good.
struct Functions {
    connect: unsafe extern "C" fn(*const c_char, *mut c_int) -> *mut c_void,
    disconnect: unsafe extern "C" fn(*mut c_void),
    has_error: unsafe extern "C" fn(*mut c_void) -> c_int,
    descriptor: unsafe extern "C" fn(*mut c_void) -> c_int,
    get_geometry: unsafe extern "C" fn(*mut c_void, u32) -> Cookie,
    get_geometry_reply: unsafe extern "C" fn(*mut c_void, Cookie, *mut *mut c_void) -> *mut GeometryReply,
    no_operation: unsafe extern "C" fn(*mut c_void) -> Cookie,
    /// None where libxcb's part for the Present extension is not there.
    present: Option<PresentFunctions>,
}

/// Functions for events of windows.
struct PresentFunctions {
    /// The extension's description, `xcb_present_id`.
    extension: *mut c_void,
    extension_data: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const ExtensionReply,
    select_input: unsafe extern "C" fn(*mut c_void, u32, u32, u32) -> Cookie,
    generate_id: unsafe extern "C" fn(*mut c_void) -> u32,
    request_check: unsafe extern "C" fn(*mut c_void, Cookie) -> *mut c_void,
    discard_reply: unsafe extern "C" fn(*mut c_void, c_uint),
    register: unsafe extern "C" fn(*mut c_void, *mut c_void, u32, *mut u32) -> *mut c_void,
    poll: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void,
    unregister: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

// SAFETY: addresses of functions and of libxcb's own description of an extension, which it locks itself.
unsafe impl Send for PresentFunctions {}
// SAFETY: as above.
unsafe impl Sync for PresentFunctions {}

/// The head of an answer to `QueryExtension`.
#[repr(C)]
struct ExtensionReply {
    response_type: u8,
    pad: u8,
    sequence: u16,
    length: u32,
    present: u8,
}

/// Present's events of changed sizes.
const CONFIGURE_NOTIFY_MASK: u32 = 1;

extern "C" {
    fn free(memory: *mut c_void);
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_LAZY: c_int = 1;

/// A function of a library that is never unloaded.
fn symbol(library: &CStr, name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: a terminated name; loading an X library runs no code but its constructors, and the program mostly has it.
    let handle = unsafe { dlopen(library.as_ptr(), RTLD_LAZY) };
    if handle.is_null() {
        return Err(format!("{} is not there", library.to_string_lossy()));
    }
    // SAFETY: a handle of `dlopen` that is never closed, and a terminated name.
    let found = unsafe { dlsym(handle, name.as_ptr()) };
    if found.is_null() {
        return Err(format!("{} has no {}", library.to_string_lossy(), name.to_string_lossy()));
    }
    Ok(found)
}

fn functions() -> Result<&'static Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    let load = || {
        let get = |name| symbol(c"libxcb.so.1", name);
        // SAFETY: the types are those of xcb.h and xproto.h, whose ABI has the name that was loaded.
        unsafe {
            Ok(Functions {
                connect: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*const c_char, *mut c_int) -> *mut c_void,
                >(get(c"xcb_connect")?),
                disconnect: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(get(
                    c"xcb_disconnect",
                )?),
                has_error: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> c_int>(get(
                    c"xcb_connection_has_error",
                )?),
                descriptor: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> c_int>(get(
                    c"xcb_get_file_descriptor",
                )?),
                get_geometry: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, u32) -> Cookie>(
                    get(c"xcb_get_geometry")?,
                ),
                get_geometry_reply: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut c_void, Cookie, *mut *mut c_void) -> *mut GeometryReply,
                >(get(c"xcb_get_geometry_reply")?),
                no_operation: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> Cookie>(get(
                    c"xcb_no_operation",
                )?),
                present: present_functions().ok(),
            })
        }
    };
    FUNCTIONS.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn present_functions() -> Result<PresentFunctions, String> {
    let present = |name| symbol(c"libxcb-present.so.0", name);
    let get = |name| symbol(c"libxcb.so.1", name);
    // SAFETY: the types are those of xcb.h, xcbext.h and present.h, whose ABI has the names that were loaded.
    unsafe {
        Ok(PresentFunctions {
            extension: present(c"xcb_present_id")?,
            extension_data: std::mem::transmute::<
                *mut c_void,
                unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const ExtensionReply,
            >(get(c"xcb_get_extension_data")?),
            select_input: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, u32, u32, u32) -> Cookie>(
                present(c"xcb_present_select_input_checked")?,
            ),
            generate_id: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> u32>(get(
                c"xcb_generate_id",
            )?),
            request_check: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, Cookie) -> *mut c_void>(
                get(c"xcb_request_check")?,
            ),
            discard_reply: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, c_uint)>(get(
                c"xcb_discard_reply",
            )?),
            register: std::mem::transmute::<
                *mut c_void,
                unsafe extern "C" fn(*mut c_void, *mut c_void, u32, *mut u32) -> *mut c_void,
            >(get(c"xcb_register_for_special_xge")?),
            poll: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void>(
                get(c"xcb_poll_for_special_event")?,
            ),
            unregister: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *mut c_void)>(get(
                c"xcb_unregister_for_special_event",
            )?),
        })
    }
}

/// A connection of libxcb: the application's, or one that was made here.
pub(super) struct Xcb {
    functions: &'static Functions,
    raw: *mut c_void,
    own: bool,
}

// SAFETY: libxcb's connections may be used by any number of threads at a time.
unsafe impl Send for Xcb {}
// SAFETY: as above.
unsafe impl Sync for Xcb {}

impl Drop for Xcb {
    fn drop(&mut self) {
        if self.own {
            // SAFETY: made by `connect`, and nobody else has it.
            unsafe { (self.functions.disconnect)(self.raw) };
        }
    }
}

impl Xcb {
    /// The connection behind a `Display` of Xlib.
    ///
    /// # Safety
    ///
    /// `display` points to an open `Display` that stays open while the value is used.
    pub(super) unsafe fn of_xlib(display: *mut c_void) -> Result<Xcb, String> {
        let get = symbol(c"libX11-xcb.so.1", c"XGetXCBConnection")?;
        // SAFETY: the type is that of Xlib-xcb.h.
        let get = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> *mut c_void>(get) };
        // SAFETY: the caller passes an open display; the function only reads a member.
        unsafe { Xcb::of_xcb(get(display)) }
    }

    /// A `xcb_connection_t`.
    ///
    /// # Safety
    ///
    /// `connection` points to one that stays open while the value is used.
    pub(super) unsafe fn of_xcb(connection: *mut c_void) -> Result<Xcb, String> {
        if connection.is_null() {
            return Err("a null X connection".into());
        }
        Ok(Xcb { functions: functions()?, raw: connection, own: false })
    }

    /// A connection to the display that the environment names.
    pub(super) fn connect() -> Result<Xcb, String> {
        let functions = functions()?;
        // SAFETY: null stands for the environment's display; the screen's number is not asked for.
        let raw = unsafe { (functions.connect)(std::ptr::null(), std::ptr::null_mut()) };
        // Never null: a connection that failed is an object in an error state, which is to be disconnected, too.
        let new = Xcb { functions, raw, own: true };
        if new.has_error() {
            return Err("no connection to the display of the environment".into());
        }
        Ok(new)
    }

    /// Whether the connection is broken.
    pub(super) fn has_error(&self) -> bool {
        // SAFETY: an open connection, by the constructors.
        unsafe { (self.functions.has_error)(self.raw) != 0 }
    }

    /// The socket.
    pub(super) fn descriptor(&self) -> RawFd {
        // SAFETY: as above.
        unsafe { (self.functions.descriptor)(self.raw) }
    }

    /// Width, height and depth of a drawable, after every request that was made before; `None` when there is no such
    /// drawable or no connection any more. The error goes to the caller alone, not to the program's events.
    pub(super) fn geometry(&self, drawable: u32) -> Option<([u32; 2], u8)> {
        self.geometry_and_number(drawable).map(|(size, depth, _)| (size, depth))
    }

    /// The same, with the number of the request.
    pub(super) fn geometry_and_number(&self, drawable: u32) -> Option<([u32; 2], u8, u32)> {
        let mut error = std::ptr::null_mut();
        // SAFETY: an open connection; the cookie is of this very request; `error` has room for a pointer.
        let (cookie, reply) = unsafe {
            let cookie = (self.functions.get_geometry)(self.raw, drawable);
            (cookie, (self.functions.get_geometry_reply)(self.raw, cookie, &mut error))
        };
        if !error.is_null() {
            // SAFETY: libxcb gives errors to the caller, allocated with malloc.
            unsafe { free(error) };
        }
        if reply.is_null() {
            return None;
        }
        // SAFETY: a whole answer, which is the caller's and was allocated with malloc.
        unsafe {
            let answer = ([u32::from((*reply).width), u32::from((*reply).height)], (*reply).depth, cookie.sequence);
            free(reply.cast());
            Some(answer)
        }
    }

    /// The number of a request that does nothing, which follows that of the last one.
    pub(super) fn no_operation(&self) -> u32 {
        // SAFETY: an open connection.
        unsafe { (self.functions.no_operation)(self.raw).sequence }
    }

    /// Has the X server send events when the size of a window changes: a queue for them and their number; `None` where it
    /// cannot. The application sees nothing of them.
    pub(super) fn watch(&self, window: u32) -> Option<(*mut c_void, u32)> {
        let present = self.functions.present.as_ref()?;
        // SAFETY: an open connection; the extension's description is libxcb's own, and so is the answer, which it keeps.
        let known = unsafe { (present.extension_data)(self.raw, present.extension).as_ref() };
        if known.is_none_or(|reply| reply.present == 0) {
            return None;
        }
        // SAFETY: an open connection that has the extension; a request's error goes to who asks for it.
        unsafe {
            let id = (present.generate_id)(self.raw);
            // The queue is there before the first event.
            let queue = (present.register)(self.raw, present.extension, id, std::ptr::null_mut());
            if queue.is_null() {
                return None;
            }
            let cookie = (present.select_input)(self.raw, id, window, CONFIGURE_NOTIFY_MASK);
            let error = (present.request_check)(self.raw, cookie);
            if error.is_null() {
                return Some((queue, id));
            }
            free(error);
            (present.unregister)(self.raw, queue);
            None
        }
    }

    /// Takes an event of a queue, if there is one.
    ///
    /// # Safety
    ///
    /// `queue` is one of [`Xcb::watch`] of this connection that was not given to [`Xcb::unwatch`].
    pub(super) unsafe fn take_event(&self, queue: *mut c_void) -> bool {
        let Some(present) = &self.functions.present else { return false };
        // SAFETY: an open connection, and a queue of it as the caller says.
        let event = unsafe { (present.poll)(self.raw, queue) };
        if event.is_null() {
            return false;
        }
        // SAFETY: libxcb gives events to the caller, allocated with malloc.
        unsafe { free(event) };
        true
    }

    /// Ends a queue of events of a window, which may be gone.
    ///
    /// # Safety
    ///
    /// `queue` and `id` are of [`Xcb::watch`] of this connection, and nothing uses the queue any more.
    pub(super) unsafe fn unwatch(&self, window: u32, queue: *mut c_void, id: u32) {
        let Some(present) = &self.functions.present else { return };
        // SAFETY: as the caller says. An error of the request, for a window that is gone, is dropped.
        unsafe {
            let cookie = (present.select_input)(self.raw, id, window, 0);
            (present.discard_reply)(self.raw, cookie.sequence);
            (present.unregister)(self.raw, queue);
        }
    }
}
