//! Calls that no sane program makes. The process must survive them.

use mgl::generated::gl_procs::PROCS;

use crate::child;
use crate::driver::{Driver, SUCCESS};

/// Any GL function: on the supported targets the caller owns the argument area, so extra arguments are harmless.
type Anything = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    f64,
    f64,
    f64,
    f64,
    usize,
    usize,
    usize,
    usize,
) -> usize;

/// A small generator with a fixed start: a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A value of the kind that finds mistakes: enumerants, small counts, extremes, noise.
    fn argument(&mut self) -> usize {
        let v = self.next();
        (match v % 8 {
            0 => 0,
            1 => v >> 60,
            2 => u64::from(u32::MAX),
            3 => 0x8000_0000,
            4 => 0x0b00 + (v >> 32) % 0x100,
            5 => 0x8000 + (v >> 32) % 0x1000,
            6 => (v >> 40) % 64,
            _ => v >> 32,
        }) as usize
    }

    fn call(&mut self, function: Anything) {
        let mut a = || self.argument();
        let f = |v: usize| f64::from_bits(v as u64);
        // SAFETY: see `Anything`; the functions called take no pointers, or nothing looks at them.
        unsafe {
            function(a(), a(), a(), a(), a(), a(), f(a()), f(a()), f(a()), f(a()), a(), a(), a(), a());
        }
    }
}

#[test]
fn ten_thousand_calls_without_a_context_do_nothing() {
    if !child::is("no context") {
        let test = "hostile::ten_thousand_calls_without_a_context_do_nothing";
        child::succeed(&child::run(test, "no context", &[]));
        return;
    }
    let driver = Driver::load();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..10_000 {
        let i = random.next() as usize % PROCS.len();
        // SAFETY: every exported GL function may be called with anything when no context is current.
        let function: Anything = unsafe { driver.gl(PROCS[i].name()) };
        random.call(function);
    }
    assert_eq!(driver.take_error(), SUCCESS);
}

/// The scalar-only functions that reach the frontend, with arguments that mean nothing. Those that wait are left out:
/// waiting long on request is no failure.
#[test]
fn ten_thousand_scalar_calls_on_a_context_do_not_crash() {
    if !child::is("scalars") {
        let test = "hostile::ten_thousand_scalar_calls_on_a_context_do_not_crash";
        let text = child::succeed(&child::run(test, "scalars", &[]));
        assert!(!text.contains("internal failure"), "a panic reached the boundary:\n{text}");
        return;
    }
    let waits = ["glClientWaitSync", "glWaitSync", "glFinish"];
    let names: Vec<&str> = include_str!("../../implemented.txt")
        .lines()
        .filter_map(|l| l.strip_suffix(" auto"))
        .filter(|n| !waits.contains(n))
        .collect();
    assert!(names.len() > 100);
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    // SAFETY: handles from above; scalar-only functions take any values.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for _ in 0..10_000 {
            let i = random.next() as usize % names.len();
            random.call(driver.gl(names[i]));
        }
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
    }
}

/// Every hand-written entry point with null pointers and a count of one.
#[test]
fn null_pointers_are_errors() {
    if !child::is("nulls") {
        let text = child::succeed(&child::run("hostile::null_pointers_are_errors", "nulls", &[]));
        assert!(!text.contains("internal failure"), "a panic reached the boundary:\n{text}");
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    // SAFETY: handles from above; null is what is tested.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        for line in include_str!("../../implemented.txt").lines() {
            let Some(name) = line.strip_suffix(" glue") else { continue };
            let function: Anything = driver.gl(name);
            // All zero, then a one in each integer place in turn; no argument is a valid non-null pointer.
            function(0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0);
            error();
        }
        // The places of count and pointer are the same in these.
        type Names = unsafe extern "C" fn(i32, *mut u32);
        for name in ["glGenBuffers", "glDeleteBuffers", "glGenTextures", "glDeleteTextures", "glDrawBuffers"] {
            let function: Names = driver.gl(name);
            while error() != 0 {}
            function(1, std::ptr::null_mut());
            assert_eq!(error(), 0x501, "{name} with null");
            function(-1, std::ptr::null_mut());
            assert_eq!(error(), 0x501, "{name} with a negative count");
        }
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
    }
}
