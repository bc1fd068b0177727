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
            function(a(), a(), a(), a(), a(), a(), f(a()), f(a()), f(a()), f(a()), a(), a(), a(), a(), a(), a());
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
        bind_some_objects(&driver);
        // For a longer hunt: other seeds and more calls.
        let number =
            |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
        let mut random = Random(number("ABI_FUZZ_SEED", 0x2545_f491_4f6c_dd1d));
        for _ in 0..number("ABI_FUZZ_CALLS", 10_000) {
            let i = random.next() as usize % names.len();
            random.call(driver.gl(names[i]));
        }
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
    }
}

/// Names 1 and 2 of each kind exist and one of them is bound, so that random small names and targets hit something. There
/// is no program: a random draw would otherwise be a legal one of four thousand million vertices.
unsafe fn bind_some_objects(driver: &Driver) {
    type Names = unsafe extern "C" fn(i32, *mut u32);
    type Bind = unsafe extern "C" fn(u32, u32);
    let mut names = [0u32; 2];
    for (generate, bind, target) in [
        ("glGenBuffers", "glBindBuffer", 0x8892),
        ("glGenTextures", "glBindTexture", 0x0de1),
        ("glGenFramebuffers", "glBindFramebuffer", 0x8d40),
        ("glGenRenderbuffers", "glBindRenderbuffer", 0x8d41),
        ("glGenSamplers", "glBindSampler", 0),
        ("glGenQueries", "glBeginQuery", 0x8914),
    ] {
        // SAFETY: the types of these functions; room for two names.
        unsafe {
            driver.gl::<Names>(generate)(2, names.as_mut_ptr());
            driver.gl::<Bind>(bind)(target, names[0]);
        }
    }
    // SAFETY: as above.
    unsafe {
        driver.gl::<Names>("glGenVertexArrays")(2, names.as_mut_ptr());
        driver.gl::<unsafe extern "C" fn(u32)>("glBindVertexArray")(names[0]);
        let image: unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, u32, u32, usize) = driver.gl("glTexImage2D");
        image(0x0de1, 0, 0x8058, 16, 16, 0, 0x1908, 0x1401, 0);
        let attach: unsafe extern "C" fn(u32, u32, u32, u32, i32) = driver.gl("glFramebufferTexture2D");
        attach(0x8d40, 0x8ce0, 0x0de1, names[0], 0);
    }
}

/// The parameters of an entry point as the generated code declares them.
fn signature(name: &str) -> Vec<&'static str> {
    let source = include_str!("../../src/generated/gl_entry.rs");
    let start = source.find(&format!("#[export_name = \"{name}\"]")).expect("an implemented function");
    let declaration = source[start..].lines().nth(1).expect("its declaration");
    let parameters = declaration.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).expect("a function").0;
    parameters.split(", ").filter_map(|p| p.split_once(": ")).map(|(_, ty)| ty).collect()
}

/// The functions with pointers, called with memory behind every pointer and small numbers: what is read and written stays
/// inside it (64 x 64 x 64 texels of 16 bytes fit).
#[test]
fn five_thousand_pointer_calls_on_a_context_do_not_crash() {
    if !child::is("pointers") {
        let test = "hostile::five_thousand_pointer_calls_on_a_context_do_not_crash";
        let text = child::succeed(&child::run(test, "pointers", &[]));
        assert!(!text.contains("internal failure"), "a panic reached the boundary:\n{text}");
        return;
    }
    // Names of fixed functions, not of callbacks: calling one of those back would need a real function.
    let names: Vec<&str> = include_str!("../../implemented.txt")
        .lines()
        .filter_map(|l| l.strip_suffix(" glue"))
        .filter(|n| *n != "glDebugMessageCallback")
        .collect();
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let mut random = Random(number("ABI_FUZZ_SEED", 0x1234_5678_9abc_def1));
    let mut memory: Vec<u32> = (0..4 << 20).map(|_| (random.next() % 65) as u32).collect();
    // SAFETY: handles from above; every pointer has 16 MiB behind it.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        bind_some_objects(&driver);
        let mut strings: Vec<*const u32> = vec![memory.as_ptr(); 1024];
        for _ in 0..number("ABI_FUZZ_CALLS", 5_000) {
            let name = names[random.next() as usize % names.len()];
            let (mut integers, mut floats) = ([0usize; 12], [0f64; 4]);
            let (mut n, mut m) = (0, 0);
            for ty in signature(name) {
                match ty {
                    "f32" | "f64" => {
                        floats[m] = f64::from_bits(random.next());
                        m += 1;
                        continue;
                    }
                    _ if ty.matches('*').count() == 2 => integers[n] = strings.as_mut_ptr() as usize,
                    _ if ty.starts_with('*') => integers[n] = memory.as_mut_ptr() as usize,
                    "i32" | "isize" => integers[n] = (random.next() % 65) as usize,
                    _ => integers[n] = random.argument(),
                }
                n += 1;
            }
            let ([a, b, c, d, e, f, g, h, i, j, k, l], [w, x, y, z]) = (integers, floats);
            driver.gl::<Anything>(name)(a, b, c, d, e, f, w, x, y, z, g, h, i, j, k, l);
            if name.starts_with("glMap") {
                // What was mapped is unmapped, so that later calls find the buffer usable.
                driver.gl::<unsafe extern "C" fn(u32)>("glUnmapBuffer")(0x8892);
            }
            strings.fill(memory.as_ptr());
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
            function(0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0);
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
