//! Pointer parameters in both directions: buffers, shaders, programs, queries of state, debug output.

use std::ffi::{c_char, c_void, CStr};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::child;
use crate::driver::{Driver, BAD_ACCESS};

const ARRAY_BUFFER: u32 = 0x8892;
const INVALID_ENUM: u32 = 0x500;
const INVALID_VALUE: u32 = 0x501;

const VERTEX: &CStr = c"#version 330 core
uniform mat4 transform;
uniform float weights[4];
in vec3 position;
void main() { gl_Position = transform * vec4(position * weights[1] * weights[3], 1.0); }
";
const FRAGMENT: &CStr = c"#version 330 core
out vec4 colour;
void main() { colour = vec4(1.0); }
";

/// Runs `body` in a process of its own with a context current.
fn with_context(test: &str, body: impl FnOnce(&Driver)) {
    if !child::is(test) {
        let text = child::succeed(&child::run(test, test, &[]));
        assert!(!text.contains("internal failure"), "a panic reached the boundary:\n{text}");
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    // SAFETY: handles from above.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        body(&driver);
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
    }
}

fn error(driver: &Driver) -> u32 {
    // SAFETY: the function's type.
    unsafe { driver.gl::<unsafe extern "C" fn() -> u32>("glGetError")() }
}

#[test]
fn buffers_give_back_what_they_were_given() {
    with_context("objects::buffers_give_back_what_they_were_given", |driver| {
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            let generate: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenBuffers");
            let bind: unsafe extern "C" fn(u32, u32) = driver.gl("glBindBuffer");
            let data: unsafe extern "C" fn(u32, isize, *const c_void, u32) = driver.gl("glBufferData");
            let sub_data: unsafe extern "C" fn(u32, isize, isize, *const c_void) = driver.gl("glBufferSubData");
            let read: unsafe extern "C" fn(u32, isize, isize, *mut c_void) = driver.gl("glGetBufferSubData");
            let map: unsafe extern "C" fn(u32, isize, isize, u32) -> *mut u8 = driver.gl("glMapBufferRange");
            let unmap: unsafe extern "C" fn(u32) -> u8 = driver.gl("glUnmapBuffer");
            let parameter: unsafe extern "C" fn(u32, u32, *mut i32) = driver.gl("glGetBufferParameteriv");
            let (mut name, mut size) = (0, 0);
            generate(1, &mut name);
            assert_ne!(name, 0);
            bind(ARRAY_BUFFER, name);
            data(ARRAY_BUFFER, -1, std::ptr::null(), 0x88e4);
            assert_eq!(error(driver), INVALID_VALUE);
            data(ARRAY_BUFFER, 8, [1u8, 2, 3, 4, 5, 6, 7, 8].as_ptr().cast(), 0x88e4);
            sub_data(ARRAY_BUFFER, 2, 2, [30u8, 40].as_ptr().cast());
            parameter(ARRAY_BUFFER, 0x8764, &mut size);
            assert_eq!((size, error(driver)), (8, 0));
            let mapped = map(ARRAY_BUFFER, 4, 4, 2);
            assert!(!mapped.is_null());
            mapped.write(50);
            assert_eq!(unmap(ARRAY_BUFFER), 1);
            let mut out = [0u8; 8];
            read(ARRAY_BUFFER, 0, 8, out.as_mut_ptr().cast());
            assert_eq!((out, error(driver)), ([1, 2, 30, 40, 50, 6, 7, 8], 0));
            sub_data(ARRAY_BUFFER, 7, 2, out.as_ptr().cast());
            assert_eq!(error(driver), INVALID_VALUE, "beyond the end");
            assert!(map(ARRAY_BUFFER, 0, 9, 1).is_null());
            assert_eq!(error(driver), INVALID_VALUE);
        }
    });
}

#[test]
fn programs_describe_themselves() {
    with_context("objects::programs_describe_themselves", |driver| {
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            let create: unsafe extern "C" fn(u32) -> u32 = driver.gl("glCreateShader");
            let source: unsafe extern "C" fn(u32, i32, *const *const c_char, *const i32) = driver.gl("glShaderSource");
            let compile: unsafe extern "C" fn(u32) = driver.gl("glCompileShader");
            let program: unsafe extern "C" fn() -> u32 = driver.gl("glCreateProgram");
            let attach: unsafe extern "C" fn(u32, u32) = driver.gl("glAttachShader");
            let link: unsafe extern "C" fn(u32) = driver.gl("glLinkProgram");
            let get: unsafe extern "C" fn(u32, u32, *mut i32) = driver.gl("glGetProgramiv");
            let use_program: unsafe extern "C" fn(u32) = driver.gl("glUseProgram");
            let location: unsafe extern "C" fn(u32, *const c_char) -> i32 = driver.gl("glGetUniformLocation");
            let uniform: unsafe extern "C" fn(i32, i32, *const f32) = driver.gl("glUniform1fv");
            let get_uniform: unsafe extern "C" fn(u32, i32, *mut f32) = driver.gl("glGetUniformfv");
            type Active = unsafe extern "C" fn(u32, u32, i32, *mut i32, *mut i32, *mut u32, *mut c_char);
            let active: Active = driver.gl("glGetActiveUniform");
            let shader_source: unsafe extern "C" fn(u32, i32, *mut i32, *mut c_char) = driver.gl("glGetShaderSource");

            let p = program();
            for (kind, text) in [(0x8b31, VERTEX), (0x8b30, FRAGMENT)] {
                let s = create(kind);
                // The first half with its length, the rest up to the terminator.
                let half = text.count_bytes() / 2;
                let pieces = [text.as_ptr(), text.as_ptr().add(half)];
                source(s, 2, pieces.as_ptr(), [half as i32, -1].as_ptr());
                let mut out = [0 as c_char; 16];
                let mut length = -1;
                shader_source(s, 16, &mut length, out.as_mut_ptr());
                assert_eq!((length, CStr::from_ptr(out.as_ptr()).to_bytes()), (15, &text.to_bytes()[..15]));
                compile(s);
                attach(p, s);
            }
            link(p);
            let mut linked = 0;
            get(p, 0x8b82, &mut linked);
            assert_eq!((linked, error(driver)), (1, 0));
            use_program(p);
            let weights = location(p, c"weights".as_ptr());
            assert!(weights >= 0 && location(p, c"nothing".as_ptr()) == -1);
            // A pointer between two floats: vertex structures can be packed.
            let bytes: Vec<u8> =
                [0u8].into_iter().chain([1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|f| f.to_ne_bytes())).collect();
            uniform(weights, 4, bytes.as_ptr().add(1).cast());
            let mut value = 0.0;
            get_uniform(p, location(p, c"weights[2]".as_ptr()), &mut value);
            assert_eq!((value, error(driver)), (3.0, 0));
            let (mut count, mut longest) = (0, 0);
            get(p, 0x8b86, &mut count);
            get(p, 0x8b87, &mut longest);
            assert_eq!((count, longest), (2, 11));
            let mut names = Vec::new();
            for i in 0..2 {
                let (mut length, mut size, mut kind, mut name) = (0, 0, 0, [0 as c_char; 11]);
                active(p, i, 11, &mut length, &mut size, &mut kind, name.as_mut_ptr());
                let name = CStr::from_ptr(name.as_ptr()).to_str().expect("ASCII").to_owned();
                assert_eq!(name.len(), length as usize);
                names.push((name, size, kind));
            }
            names.sort();
            assert_eq!(names, [("transform".to_owned(), 1, 0x8b5c), ("weights[0]".to_owned(), 4, 0x1406)]);
            active(p, 99, 11, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            assert_eq!(error(driver), INVALID_VALUE);
        }
    });
}

#[test]
fn state_is_answered_in_every_type() {
    with_context("objects::state_is_answered_in_every_type", |driver| {
        // SAFETY: the types that GL gives these functions; four elements are enough for each question.
        unsafe {
            let clear_color: unsafe extern "C" fn(f32, f32, f32, f32) = driver.gl("glClearColor");
            let ints: unsafe extern "C" fn(u32, *mut i32) = driver.gl("glGetIntegerv");
            let floats: unsafe extern "C" fn(u32, *mut f32) = driver.gl("glGetFloatv");
            let bools: unsafe extern "C" fn(u32, *mut u8) = driver.gl("glGetBooleanv");
            let string: unsafe extern "C" fn(u32) -> *const c_char = driver.gl("glGetString");
            clear_color(1.0, 0.5, 0.0, 0.25);
            let (mut i, mut f, mut b) = ([7i32; 5], [7f32; 5], [7u8; 5]);
            ints(0x0c22, i.as_mut_ptr());
            floats(0x0c22, f.as_mut_ptr());
            bools(0x0c22, b.as_mut_ptr());
            assert_eq!((i[0], i[2], i[4]), (i32::MAX, 0, 7));
            assert_eq!((f, b), ([1.0, 0.5, 0.0, 0.25, 7.0], [1, 1, 0, 1, 7]));
            ints(0xdead, i.as_mut_ptr());
            assert_eq!(error(driver), INVALID_ENUM);
            ints(0x821b, i.as_mut_ptr());
            assert_eq!(i[0], 3, "GL_MAJOR_VERSION");
            for name in [0x1f00, 0x1f01, 0x1f02, 0x8b8c] {
                let text = string(name);
                assert!(!text.is_null() && !CStr::from_ptr(text).is_empty(), "{name:#x}");
                assert_eq!(text, string(name), "the same string for ever");
            }
            assert!(string(1).is_null());
            assert_eq!(error(driver), INVALID_ENUM);
        }
    });
}

#[test]
fn a_sync_object_has_a_label() {
    with_context("objects::a_sync_object_has_a_label", |driver| {
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            let fence: unsafe extern "C" fn(u32, u32) -> *const c_void = driver.gl("glFenceSync");
            let label: unsafe extern "C" fn(*const c_void, i32, *const c_char) = driver.gl("glObjectPtrLabel");
            let get: unsafe extern "C" fn(*const c_void, i32, *mut i32, *mut c_char) = driver.gl("glGetObjectPtrLabel");
            let sync = fence(0x9117, 0);
            label(sync, -1, c"frame".as_ptr());
            let (mut length, mut text) = (0, [1 as c_char; 8]);
            get(sync, 8, &mut length, text.as_mut_ptr());
            assert_eq!((length, CStr::from_ptr(text.as_ptr()), error(driver)), (5, c"frame", 0));
            label(sync, 0, std::ptr::null());
            get(sync, 8, &mut length, std::ptr::null_mut());
            assert_eq!((length, error(driver)), (0, 0));
            label(std::ptr::null(), -1, c"none".as_ptr());
            assert_eq!(error(driver), INVALID_VALUE, "null is no sync object");
        }
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);
static INSIDE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn on_message(_: u32, _: u32, _: u32, _: u32, length: i32, text: *const c_char, user: *const c_void) {
    // SAFETY: GL passes a terminated text of that length, and the pointer that was registered.
    unsafe {
        assert_eq!(CStr::from_ptr(text).count_bytes(), length as usize);
        let driver = &*user.cast::<Driver>();
        // Undefined in GL: here it must do nothing.
        driver.gl::<unsafe extern "C" fn(u32)>("glEnable")(0xdead);
        assert_eq!((driver.make_current)(driver.display_again(), 0, 0, 0), 0);
        INSIDE.store(driver.take_error() as usize, Ordering::Relaxed);
    }
    CALLS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_debug_callback_cannot_reach_its_own_context() {
    with_context("objects::a_debug_callback_cannot_reach_its_own_context", |driver| {
        // SAFETY: the types that GL gives these functions; the callback's parameter outlives the registration.
        unsafe {
            let callback: unsafe extern "C" fn(*const c_void, *const c_void) = driver.gl("glDebugMessageCallback");
            let enable: unsafe extern "C" fn(u32) = driver.gl("glEnable");
            let pointer: unsafe extern "C" fn(u32, *mut usize) = driver.gl("glGetPointerv");
            enable(0x92e0);
            enable(0x8242);
            let user = std::ptr::from_ref(driver).cast::<c_void>();
            callback(on_message as *const c_void, user);
            let (mut function, mut parameter) = (0, 0);
            pointer(0x8244, &mut function);
            pointer(0x8245, &mut parameter);
            assert_eq!((function, parameter), (on_message as *const () as usize, user as usize));
            assert_eq!(error(driver), 0);
            enable(0xdead);
            assert_eq!(CALLS.load(Ordering::Relaxed), 1, "one message for one error");
            assert_eq!(INSIDE.load(Ordering::Relaxed), BAD_ACCESS as usize);
            assert_eq!(error(driver), INVALID_ENUM);
            assert_eq!(error(driver), 0);
            callback(std::ptr::null(), std::ptr::null());
            enable(0xdead);
            assert_eq!(CALLS.load(Ordering::Relaxed), 1);
        }
    });
}
