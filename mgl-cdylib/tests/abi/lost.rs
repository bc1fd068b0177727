//! What a program sees of a killed server, by the way in which it asked to be told: `EGL_LOSE_CONTEXT_ON_RESET`, nothing, or
//! `MGL_IPC_RESPAWN=1`. In each of them its loops come to an end and it can make new contexts.

use std::time::{Duration, Instant};

use crate::child;
use crate::driver::{Driver, HEIGHT, MAJOR, MINOR, NONE, PROFILE_MASK, SUCCESS, WIDTH};
use crate::transports::{children, exchange, server, wait_until_gone};

const CONTEXT_LOST: i32 = 0x300e;
const RESET_STRATEGY: i32 = 0x31bd;
const LOSE_CONTEXT_ON_RESET: i32 = 0x31bf;
const GL_NO_ERROR: u32 = 0;
const GL_CONTEXT_LOST: u32 = 0x0507;
const UNKNOWN_CONTEXT_RESET: u32 = 0x8255;
const SAMPLES_PASSED: u32 = 0x8914;
const QUERY_RESULT_AVAILABLE: u32 = 0x8867;
const SYNC_GPU_COMMANDS_COMPLETE: u32 = 0x9117;
const SYNC_STATUS: u32 = 0x9114;
const SIGNALED: i32 = 0x9119;
const TIMEOUT_EXPIRED: u32 = 0x911b;
const COLOR_CLEAR_VALUE: u32 = 0x0c22;

extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
}

/// How long a loop of questions may go on.
const BOUND: Duration = Duration::from_secs(20);

/// Asks until the answer is yes.
fn poll(what: &str, mut question: impl FnMut() -> bool) {
    let end = Instant::now() + BOUND;
    while !question() {
        assert!(Instant::now() < end, "{what} never ends");
    }
}

struct Program {
    driver: Driver,
    display: usize,
    config: usize,
    surface: usize,
    told: bool,
}

impl Program {
    /// A display whose contexts ask to be told of resets, or do not.
    fn start(told: bool) -> Program {
        let driver = Driver::load();
        let display = driver.display();
        let config = driver.config(display);
        let size = [WIDTH, 16, HEIGHT, 16, NONE];
        // SAFETY: a terminated list; the display is initialised. The alarm ends a test that hangs.
        let surface = unsafe {
            alarm(120);
            (driver.create_pbuffer)(display, config, size.as_ptr())
        };
        assert_ne!(surface, 0);
        Program { driver, display, config, surface, told }
    }

    fn context(&self) -> usize {
        let strategy = if self.told { [RESET_STRATEGY, LOSE_CONTEXT_ON_RESET] } else { [NONE, NONE] };
        let attributes = [MAJOR, 3, MINOR, 3, PROFILE_MASK, 1, strategy[0], strategy[1], NONE];
        // SAFETY: a terminated list.
        let context = unsafe { (self.driver.create_context)(self.display, self.config, 0, attributes.as_ptr()) };
        assert_ne!(context, 0, "error {:#x}", self.driver.take_error());
        context
    }

    /// What `eglMakeCurrent` answers, and the error.
    fn make_current(&self, context: usize) -> (u32, i32) {
        let surface = if context == 0 { 0 } else { self.surface };
        // SAFETY: handles of this display, or nothing.
        let done = unsafe { (self.driver.make_current)(self.display, surface, surface, context) };
        (done, self.driver.take_error())
    }

    /// What `eglSwapBuffers` answers, and the error.
    fn swap(&self) -> (u32, i32) {
        // SAFETY: handles of this display.
        let done = unsafe { (self.driver.swap_buffers)(self.display, self.surface) };
        (done, self.driver.take_error())
    }

    fn status(&self) -> u32 {
        // SAFETY: the type that GL gives this function.
        unsafe { self.driver.gl::<unsafe extern "C" fn() -> u32>("glGetGraphicsResetStatus")() }
    }

    fn error(&self) -> u32 {
        // SAFETY: the type that GL gives this function.
        unsafe { self.driver.gl::<unsafe extern "C" fn() -> u32>("glGetError")() }
    }

    /// Begins and ends a query and inserts a fence.
    fn ask(&self) -> (u32, usize) {
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            let generate: unsafe extern "C" fn(i32, *mut u32) = self.driver.gl("glGenQueries");
            let begin: unsafe extern "C" fn(u32, u32) = self.driver.gl("glBeginQuery");
            let end: unsafe extern "C" fn(u32) = self.driver.gl("glEndQuery");
            let fence: unsafe extern "C" fn(u32, u32) -> usize = self.driver.gl("glFenceSync");
            let mut query = 0;
            generate(1, &mut query);
            begin(SAMPLES_PASSED, query);
            end(SAMPLES_PASSED);
            let sync = fence(SYNC_GPU_COMMANDS_COMPLETE, 0);
            assert_ne!((query, sync), (0, 0));
            (query, sync)
        }
    }

    /// The loops in which programs wait, each until it ends.
    fn wait_in_loops(&self, (query, sync): (u32, usize)) {
        // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
        unsafe {
            let object: unsafe extern "C" fn(u32, u32, *mut u32) = self.driver.gl("glGetQueryObjectuiv");
            let of_sync: unsafe extern "C" fn(usize, u32, i32, *mut i32, *mut i32) = self.driver.gl("glGetSynciv");
            let wait: unsafe extern "C" fn(usize, u32, u64) -> u32 = self.driver.gl("glClientWaitSync");
            poll("a loop for a query's result", || {
                let mut there = 0;
                object(query, QUERY_RESULT_AVAILABLE, &mut there);
                there != 0
            });
            poll("a loop for a fence's status", || {
                let (mut length, mut status) = (0, 0);
                of_sync(sync, SYNC_STATUS, 1, &mut length, &mut status);
                status == SIGNALED
            });
            poll("a loop of waits for nothing", || wait(sync, 0, 0) != TIMEOUT_EXPIRED);
            assert_ne!(wait(sync, 0, u64::MAX), TIMEOUT_EXPIRED);
        }
    }

    fn clear_color(&self) -> [f32; 4] {
        let mut color = [-1.0; 4];
        // SAFETY: the type that GL gives this function, and room for a colour.
        unsafe {
            self.driver.gl::<unsafe extern "C" fn(u32, *mut f32)>("glGetFloatv")(COLOR_CLEAR_VALUE, color.as_mut_ptr())
        };
        color
    }

    fn set_clear_color(&self, red: f32) {
        // SAFETY: the type that GL gives this function.
        unsafe { self.driver.gl::<unsafe extern "C" fn(f32, f32, f32, f32)>("glClearColor")(red, 0.0, 0.0, 0.0) };
    }

    fn kill_server(&self) {
        let servers = children();
        assert_eq!(servers.len(), 1);
        // SAFETY: the process is this one's child.
        assert_eq!(unsafe { kill(servers[0], 9) }, 0);
        wait_until_gone(servers[0]);
    }

    /// A context made after the loss draws, and its server ends with it.
    fn begins_anew(&self) {
        let context = self.context();
        assert_eq!(self.make_current(context), (1, SUCCESS));
        assert_eq!(self.status(), GL_NO_ERROR);
        assert_eq!(exchange(&self.driver, 9), ([9; 64], GL_NO_ERROR));
        self.wait_in_loops(self.ask());
        assert_eq!(self.error(), GL_NO_ERROR);
        assert_eq!(self.swap(), (1, SUCCESS));
    }
}

/// The rest of a program whose contexts are lost for good.
fn goes_down(told: bool) {
    let program = Program::start(told);
    let (context, other) = (program.context(), program.context());
    assert_eq!(program.make_current(other), (1, SUCCESS));
    assert_eq!(exchange(&program.driver, 6), ([6; 64], GL_NO_ERROR));
    assert_eq!(program.make_current(context), (1, SUCCESS));
    assert_eq!(exchange(&program.driver, 7), ([7; 64], GL_NO_ERROR));
    let asked = program.ask();
    assert_eq!((program.status(), program.error()), (GL_NO_ERROR, GL_NO_ERROR));
    program.kill_server();

    program.wait_in_loops(asked);
    let status = if told { UNKNOWN_CONTEXT_RESET } else { GL_NO_ERROR };
    assert_eq!(program.status(), status);
    assert_eq!(program.status(), status, "the status stays");
    assert_eq!(program.error(), GL_CONTEXT_LOST);
    assert_eq!(program.error(), GL_NO_ERROR, "asking for errors is no command that is lost");
    program.set_clear_color(0.5);
    assert_eq!(program.error(), GL_CONTEXT_LOST);
    assert_eq!(program.clear_color(), [-1.0; 4], "the command wrote its answer");
    assert_eq!(program.error(), GL_CONTEXT_LOST);
    let (bytes, error) = exchange(&program.driver, 8);
    assert_eq!((bytes, error), ([0; 64], GL_CONTEXT_LOST));
    assert_eq!(program.swap(), (0, CONTEXT_LOST));
    program.wait_in_loops(asked);

    // Neither of them becomes current again; letting go, and destroying them, works.
    assert_eq!(program.make_current(other), (0, CONTEXT_LOST));
    assert_eq!(program.swap(), (0, CONTEXT_LOST), "what was current before still is");
    assert_eq!(program.make_current(context), (0, CONTEXT_LOST));
    assert_eq!(program.make_current(0), (1, SUCCESS));
    assert_eq!(program.make_current(context), (0, CONTEXT_LOST));
    // SAFETY: handles of this display.
    unsafe {
        for context in [context, other] {
            assert_eq!((program.driver.destroy_context)(program.display, context), 1);
        }
    }
    program.begins_anew();
}

fn run(test: &str, case: &str, more: &[(&str, &str)]) {
    let server = server();
    let server = server.to_str().expect("a path in Unicode");
    let variables = [("MGL_TRANSPORT", "spawn"), ("MGL_BACKEND", "null"), ("MGL_IPC_SERVER_PATH", server)];
    child::succeed(&child::run(test, case, &[&variables, more].concat()));
}

#[test]
fn a_context_that_asked_is_told_of_a_reset_and_its_loops_end() {
    if child::is("told") {
        return goes_down(true);
    }
    run("lost::a_context_that_asked_is_told_of_a_reset_and_its_loops_end", "told", &[]);
}

/// `GL_NO_RESET_NOTIFICATION`: the status is never anything but `GL_NO_ERROR` (OpenGL 4.5, section 2.3.2); EGL and the errors
/// of commands still say that the context is gone.
#[test]
fn a_context_that_did_not_ask_is_not_told_and_its_loops_end_too() {
    if child::is("silent") {
        return goes_down(false);
    }
    run("lost::a_context_that_did_not_ask_is_not_told_and_its_loops_end_too", "silent", &[]);
}

#[test]
fn with_a_new_server_everything_goes_on_and_who_asked_is_told_once() {
    for told in [true, false] {
        let case = if told { "told again" } else { "silent again" };
        if child::is(case) {
            let program = Program::start(told);
            let context = program.context();
            assert_eq!(program.make_current(context), (1, SUCCESS));
            program.set_clear_color(0.5);
            for round in 1..=3u8 {
                assert_eq!(exchange(&program.driver, round), ([round; 64], GL_NO_ERROR));
                let asked = program.ask();
                program.kill_server();
                program.wait_in_loops(asked);
                assert_eq!(exchange(&program.driver, 7), ([7; 64], GL_NO_ERROR));
                let status = if told { UNKNOWN_CONTEXT_RESET } else { GL_NO_ERROR };
                assert_eq!(program.status(), status);
                assert_eq!(program.status(), GL_NO_ERROR, "it is told once");
                assert_eq!(program.clear_color(), [0.5, 0.0, 0.0, 0.0]);
                assert_eq!(program.swap(), (1, SUCCESS));
                assert_eq!(program.make_current(0), (1, SUCCESS));
                assert_eq!(program.make_current(context), (1, SUCCESS));
                assert_eq!(program.error(), GL_NO_ERROR);
            }
            return program.begins_anew();
        }
    }
    let test = "lost::with_a_new_server_everything_goes_on_and_who_asked_is_told_once";
    for case in ["told again", "silent again"] {
        run(test, case, &[("MGL_IPC_RESPAWN", "1")]);
    }
}
