//! Processes that end while there is work, and arguments beside wrong names.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::child;
use crate::driver::Driver;

/// Processes that a test starts: what it guards against came up in one of about fifteen.
const PROCESSES: u32 = 12;

extern "C" {
    fn alarm(seconds: u32) -> u32;
    fn exit(status: i32) -> !;
}

fn repeat(test: &str, case: &str) {
    for _ in 0..PROCESSES {
        let cache = ("MESA_SHADER_CACHE_DISABLE", "1");
        child::succeed(&child::run(test, case, &[cache]));
    }
}

struct Scene {
    draw: unsafe extern "C" fn(u32, i32, i32),
    flush: unsafe extern "C" fn(),
    use_program: unsafe extern "C" fn(u32),
    vertex: u32,
}

impl Scene {
    /// A target of 64 x 64 pixels and what draws need, in a context of its own that is made current.
    fn new(driver: &Driver, display: usize) -> Scene {
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            assert_eq!((driver.bind_api)(crate::driver::OPENGL_API), 1);
            let context = driver.context(display, driver.config(display), 0);
            assert_eq!((driver.make_current)(display, 0, 0, context), 1);
            let generate = |name: &str| {
                let function: unsafe extern "C" fn(i32, *mut u32) = driver.gl(name);
                let mut made = 0;
                function(1, &mut made);
                made
            };
            let bind_array: unsafe extern "C" fn(u32) = driver.gl("glBindVertexArray");
            let bind_buffer: unsafe extern "C" fn(u32, u32) = driver.gl("glBindRenderbuffer");
            let bind_frame: unsafe extern "C" fn(u32, u32) = driver.gl("glBindFramebuffer");
            let storage: unsafe extern "C" fn(u32, u32, i32, i32) = driver.gl("glRenderbufferStorage");
            let attach: unsafe extern "C" fn(u32, u32, u32, u32) = driver.gl("glFramebufferRenderbuffer");
            let viewport: unsafe extern "C" fn(i32, i32, i32, i32) = driver.gl("glViewport");
            bind_array(generate("glGenVertexArrays"));
            let buffer = generate("glGenRenderbuffers");
            bind_buffer(0x8d41, buffer);
            storage(0x8d41, 0x8058, 64, 64);
            bind_frame(0x8d40, generate("glGenFramebuffers"));
            attach(0x8d40, 0x8ce0, 0x8d41, buffer);
            viewport(0, 0, 64, 64);
            let vertex = shader(
                driver,
                0x8b31,
                "#version 330\nvoid main() { gl_Position = vec4(gl_VertexID & 1, gl_VertexID >> 1, 0, 1); }\n",
            );
            Scene {
                draw: driver.gl("glDrawArrays"),
                flush: driver.gl("glFlush"),
                use_program: driver.gl("glUseProgram"),
                vertex,
            }
        }
    }

    /// Draws with a program that the device has not seen.
    fn draw(&self, driver: &Driver, number: u32) {
        let text = format!(
            "#version 330\nout vec4 color;\nvoid main() {{ color = sin(gl_FragCoord * {number}.5).{}; }}\n",
            ["xyzw", "wzyx", "xxzz", "yxwz"][number as usize % 4]
        );
        let fragment = shader(driver, 0x8b30, &text);
        // SAFETY: the types that GL gives these functions.
        unsafe {
            let create: unsafe extern "C" fn() -> u32 = driver.gl("glCreateProgram");
            let attach: unsafe extern "C" fn(u32, u32) = driver.gl("glAttachShader");
            let link: unsafe extern "C" fn(u32) = driver.gl("glLinkProgram");
            let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
            let program = create();
            attach(program, self.vertex);
            attach(program, fragment);
            link(program);
            (self.use_program)(program);
            (self.draw)(4, 0, 3);
            // Later ones may find the process ending.
            assert!(error() == 0 || number > 6, "draw {number}");
        }
    }
}

fn shader(driver: &Driver, kind: u32, text: &str) -> u32 {
    // SAFETY: the types that GL gives these functions; one string with its length.
    unsafe {
        let create: unsafe extern "C" fn(u32) -> u32 = driver.gl("glCreateShader");
        let source: unsafe extern "C" fn(u32, i32, *const *const u8, *const i32) = driver.gl("glShaderSource");
        let compile: unsafe extern "C" fn(u32) = driver.gl("glCompileShader");
        let made = create(kind);
        source(made, 1, &text.as_ptr(), &(text.len() as i32));
        compile(made);
        made
    }
}

/// The first work of the process is still to be submitted when the thread that has it calls `exit`.
#[test]
fn work_that_was_never_submitted_survives_exit() {
    if !child::is("unsubmitted") {
        repeat("exits::work_that_was_never_submitted_survives_exit", "unsubmitted");
        return;
    }
    // SAFETY: C functions without preconditions; the alarm ends a process that hangs.
    unsafe { alarm(60) };
    let driver = Driver::load();
    let scene = Scene::new(&driver, driver.display());
    scene.draw(&driver, 1);
    // SAFETY: as above.
    unsafe { exit(0) }
}

/// Threads go on drawing with new programs while another calls `exit`.
#[test]
fn the_process_may_end_while_threads_draw() {
    if !child::is("drawing") {
        repeat("exits::the_process_may_end_while_threads_draw", "drawing");
        return;
    }
    static DRAWN: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];
    // SAFETY: C functions without preconditions; the alarm ends a process that hangs.
    unsafe { alarm(60) };
    let driver: &Driver = Box::leak(Box::new(Driver::load()));
    let display = driver.display();
    for (id, drawn) in DRAWN.iter().enumerate() {
        std::thread::spawn(move || {
            let scene = Scene::new(driver, display);
            for number in 0.. {
                scene.draw(driver, number * 2 + id as u32);
                // SAFETY: the function's type.
                unsafe { (scene.flush)() };
                drawn.store(number + 1, Ordering::Relaxed);
            }
        });
    }
    let start = Instant::now();
    while DRAWN.iter().any(|d| d.load(Ordering::Relaxed) < 3) {
        assert!(start.elapsed() < Duration::from_secs(50), "the threads do not draw");
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: as above.
    unsafe { exit(0) }
}

/// A name that is no shader's is an error before anything looks at the strings.
#[test]
fn strings_beside_a_wrong_name_are_not_read() {
    if !child::is("strings") {
        child::succeed(&child::run("exits::strings_beside_a_wrong_name_are_not_read", "strings", &[]));
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let context = driver.context(display, driver.config(display), 0);
    let nowhere = 16 as *const u8;
    // SAFETY: the types that GL gives these functions; the string is nowhere and must not be read.
    unsafe {
        assert_eq!((driver.make_current)(display, 0, 0, context), 1);
        let source: unsafe extern "C" fn(u32, i32, *const *const u8, *const i32) = driver.gl("glShaderSource");
        let create: unsafe extern "C" fn() -> u32 = driver.gl("glCreateProgram");
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        source(99, 1, &nowhere, std::ptr::null());
        assert_eq!(error(), 0x501);
        source(create(), 1, &nowhere, std::ptr::null());
        assert_eq!(error(), 0x502);
    }
}
