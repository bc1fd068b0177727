//! An EGL vendor library that passes everything on to Mesa's but for one lie, which `MGL_TEST_ESPRYT_LIE` names.
//!
//! `missing=FUNCTION`: a function is not there. `mapping`: buffers cannot be mapped. `copy`: image copies copy nothing. `link`: no
//! program links. `memory`: large textures have no memory. `reset`: the context has been reset. `lost`: it can be bound twice and
//! is lost then. What `wrong` tells renders wrong without an error.

mod wrong;

use std::ffi::{c_char, c_void, CStr};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::OnceLock;

type GetProc = unsafe extern "C" fn(*const c_char) -> *const c_void;
type Main = unsafe extern "C" fn(u32, *const c_void, *mut c_void, *mut Imports) -> u32;

/// What a vendor library answers, in the order of libglvnd's interface.
#[repr(C)]
struct Imports {
    get_platform_display: *const c_void,
    supports_api: *const c_void,
    vendor_string: *const c_void,
    get_proc_address: Option<GetProc>,
    rest: [*const c_void; 12],
}

const TRUTHFUL: &str = "libEGL_mesa.so.0";
const LINK_STATUS: u32 = 0x8B82;
const OUT_OF_MEMORY: u32 = 0x0505;
const GUILTY_CONTEXT_RESET: u32 = 0x8253;
const EGL_CONTEXT_LOST: i32 = 0x300E;
/// Bindings of a context that succeed: the self-test's and that of the first context.
const BINDINGS: u32 = 2;

static TRUTH: OnceLock<GetProc> = OnceLock::new();
static REFUSED: AtomicBool = AtomicBool::new(false);
static BOUND: AtomicU32 = AtomicU32::new(0);
static LOST: AtomicBool = AtomicBool::new(false);

fn lie() -> String {
    std::env::var("MGL_TEST_ESPRYT_LIE").unwrap_or_default()
}

fn truth(name: &CStr) -> *const c_void {
    // SAFETY: the driver's own look-up, with a terminated name.
    TRUTH.get().map_or(std::ptr::null(), |get| unsafe { get(name.as_ptr()) })
}

/// The vendor interface's entry.
///
/// # Safety
/// As the dispatcher calls it: tables of version 0.1.
#[no_mangle]
pub unsafe extern "C" fn __egl_Main(
    version: u32,
    exports: *const c_void,
    vendor: *mut c_void,
    imports: *mut c_void,
) -> u32 {
    // SAFETY: a driver library, which is never unloaded.
    let Ok(library) = (unsafe { libloading::Library::new(TRUTHFUL) }) else { return 0 };
    let library = std::mem::ManuallyDrop::new(library);
    // SAFETY: `__egl_Main` has this signature in every vendor library.
    let Ok(main) = (unsafe { library.get::<Main>(b"__egl_Main\0") }) else { return 0 };
    let imports = imports.cast::<Imports>();
    // SAFETY: the caller's tables go on as they are; the driver fills them in.
    unsafe {
        let answer = main(version, exports, vendor, imports);
        if let (1, Some(get)) = (answer, (*imports).get_proc_address) {
            let _ = TRUTH.set(get);
            (*imports).get_proc_address = Some(look_up);
        }
        answer
    }
}

unsafe extern "C" fn look_up(name: *const c_char) -> *const c_void {
    // SAFETY: the caller gives a terminated name.
    let name = unsafe { CStr::from_ptr(name) };
    let lie = lie();
    let text = name.to_str().unwrap_or_default();
    if lie.strip_prefix("missing=").is_some_and(|missing| missing == text) {
        return std::ptr::null();
    }
    match (lie.as_str(), text) {
        ("mapping", "glMapBufferRange") => map_nothing as *const c_void,
        ("copy", "glCopyImageSubData" | "glCopyImageSubDataOES" | "glCopyImageSubDataEXT") => {
            copy_nothing as *const c_void
        }
        ("link", "glGetProgramiv") => program_value as *const c_void,
        ("memory", "glTexStorage2D") => storage as *const c_void,
        ("memory", "glGetError") => gl_error as *const c_void,
        ("reset", "glGetGraphicsResetStatus") => reset as *const c_void,
        ("lost", "eglMakeCurrent") => make_current as *const c_void,
        ("lost", "eglGetError") => egl_error as *const c_void,
        (lie, function) => wrong::answer(lie, function).unwrap_or_else(|| truth(name)),
    }
}

extern "C" fn map_nothing(_: u32, _: isize, _: isize, _: u32) -> *mut c_void {
    std::ptr::null_mut()
}

extern "C" fn copy_nothing() {}

extern "C" fn reset() -> u32 {
    GUILTY_CONTEXT_RESET
}

unsafe extern "C" fn program_value(program: u32, name: u32, value: *mut i32) {
    type Function = unsafe extern "C" fn(u32, u32, *mut i32);
    // SAFETY: the driver's function of that name, with the caller's own arguments.
    unsafe {
        std::mem::transmute::<*const c_void, Function>(truth(c"glGetProgramiv"))(program, name, value);
        if name == LINK_STATUS {
            *value = 0;
        }
    }
}

unsafe extern "C" fn storage(target: u32, levels: i32, format: u32, width: i32, height: i32) {
    type Function = unsafe extern "C" fn(u32, i32, u32, i32, i32);
    if width >= 256 {
        return REFUSED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the driver's function of that name, with the caller's own arguments.
    unsafe {
        std::mem::transmute::<*const c_void, Function>(truth(c"glTexStorage2D"))(target, levels, format, width, height);
    }
}

unsafe extern "C" fn gl_error() -> u32 {
    type Function = unsafe extern "C" fn() -> u32;
    if REFUSED.swap(false, Ordering::Relaxed) {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the driver's function of that name.
    unsafe { std::mem::transmute::<*const c_void, Function>(truth(c"glGetError"))() }
}

unsafe extern "C" fn make_current(
    display: *mut c_void,
    draw: *mut c_void,
    read: *mut c_void,
    context: *mut c_void,
) -> u32 {
    type Function = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> u32;
    if !context.is_null() && BOUND.fetch_add(1, Ordering::Relaxed) >= BINDINGS {
        LOST.store(true, Ordering::Relaxed);
        return 0;
    }
    // SAFETY: the driver's function of that name, with the caller's own arguments.
    unsafe { std::mem::transmute::<*const c_void, Function>(truth(c"eglMakeCurrent"))(display, draw, read, context) }
}

unsafe extern "C" fn egl_error() -> i32 {
    type Function = unsafe extern "C" fn() -> i32;
    if LOST.swap(false, Ordering::Relaxed) {
        return EGL_CONTEXT_LOST;
    }
    // SAFETY: the driver's function of that name.
    unsafe { std::mem::transmute::<*const c_void, Function>(truth(c"eglGetError"))() }
}
