//! The backend elsewhere: the same answers, no process left behind, and a dead server is a lost context.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::child;
use crate::driver::{library_path, Driver};

const CONTEXT_LOST: i32 = 0x300e;
const ARRAY_BUFFER: u32 = 0x8892;

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn kill(process: i32, signal: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// The server's program, built when it is not there.
pub(crate) fn server() -> PathBuf {
    let folder = library_path().ancestors().nth(2).expect("target/PROFILE/deps").to_owned();
    let program = folder.join("mgl-server");
    if !program.is_file() {
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--package", "mgl-server", "--bin", "mgl-server"]);
        if folder.ends_with("release") {
            command.arg("--release");
        }
        assert!(command.status().expect("cargo starts").success(), "the server builds");
    }
    program
}

fn run(test: &str, case: &str, transport: &str) -> String {
    let server = server();
    let server = server.to_str().expect("a path in Unicode");
    child::succeed(&child::run(
        test,
        case,
        &[("MGL_TRANSPORT", transport), ("MGL_BACKEND", "null"), ("MGL_IPC_SERVER_PATH", server)],
    ))
}

/// Processes that this one started and that live.
pub(crate) fn children() -> Vec<i32> {
    let mut found = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").expect("procfs").flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(text.split_whitespace().filter_map(|word| word.parse::<i32>().ok()));
    }
    found
}

fn is_gone(process: i32) -> bool {
    let state = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    // A zombie has ended, too; whoever inherits it collects it.
    state.map_or(true, |text| text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

pub(crate) fn wait_until_gone(process: i32) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_gone(process) {
        assert!(Instant::now() < end, "process {process} is still there");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Writes a buffer and reads it back.
pub(crate) fn exchange(driver: &Driver, value: u8) -> ([u8; 64], u32) {
    // SAFETY: the types that GL gives these functions, and memory of the sizes passed.
    unsafe {
        let generate: unsafe extern "C" fn(i32, *mut u32) = driver.gl("glGenBuffers");
        let bind: unsafe extern "C" fn(u32, u32) = driver.gl("glBindBuffer");
        let data: unsafe extern "C" fn(u32, isize, *const u8, u32) = driver.gl("glBufferData");
        let read: unsafe extern "C" fn(u32, isize, isize, *mut u8) = driver.gl("glGetBufferSubData");
        let error: unsafe extern "C" fn() -> u32 = driver.gl("glGetError");
        let (mut name, mut out) = (0, [0; 64]);
        generate(1, &mut name);
        bind(ARRAY_BUFFER, name);
        data(ARRAY_BUFFER, 64, [value; 64].as_ptr(), 0x88e4);
        read(ARRAY_BUFFER, 0, 64, out.as_mut_ptr());
        (out, error())
    }
}

fn current_context(driver: &Driver, display: usize) -> (usize, usize) {
    let config = driver.config(display);
    let context = driver.context(display, config, 0);
    let size = [crate::driver::WIDTH, 16, crate::driver::HEIGHT, 16, crate::driver::NONE];
    // SAFETY: a terminated list, and handles of this display.
    unsafe {
        let surface = (driver.create_pbuffer)(display, config, size.as_ptr());
        assert_ne!(surface, 0);
        assert_eq!((driver.make_current)(display, surface, surface, context), 1);
        (context, surface)
    }
}

#[test]
fn every_transport_answers_and_leaves_nothing_behind() {
    let test = "transports::every_transport_answers_and_leaves_nothing_behind";
    if !child::is("answers") {
        for transport in ["monolith", "inproc", "spawn"] {
            run(test, "answers", transport);
        }
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let servers = children();
    let expected = usize::from(std::env::var("MGL_TRANSPORT").is_ok_and(|transport| transport == "spawn"));
    assert_eq!(servers.len(), expected);
    let (context, surface) = current_context(&driver, display);
    // A second share group uses the same server.
    let second = driver.context(display, driver.config(display), 0);
    // SAFETY: handles of this display.
    unsafe {
        for (round, context) in [context, second, context].into_iter().enumerate() {
            assert_eq!((driver.make_current)(display, surface, surface, context), 1);
            assert_eq!(exchange(&driver, round as u8 + 1), ([round as u8 + 1; 64], 0));
            assert_eq!((driver.swap_buffers)(display, surface), 1);
        }
        assert_eq!(children(), servers);
        assert_eq!((driver.make_current)(display, 0, 0, 0), 1);
        assert_eq!((driver.terminate)(display), 1);
    }
    assert_eq!(children(), [] as [i32; 0]);
}

#[test]
fn a_killed_server_is_a_lost_context_and_the_next_one_works() {
    if !child::is("killed") {
        run("transports::a_killed_server_is_a_lost_context_and_the_next_one_works", "killed", "spawn");
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let (_, surface) = current_context(&driver, display);
    assert_eq!(exchange(&driver, 7), ([7; 64], 0));
    let servers = children();
    assert_eq!(servers.len(), 1);
    // SAFETY: the process is this one's child; the functions have the types that GL and EGL give them.
    unsafe {
        alarm(60);
        assert_eq!(kill(servers[0], 9), 0);
        wait_until_gone(servers[0]);
        let status: unsafe extern "C" fn() -> u32 = driver.gl("glGetGraphicsResetStatus");
        let finish: unsafe extern "C" fn() = driver.gl("glFinish");
        finish();
        assert_eq!((driver.swap_buffers)(display, surface), 0);
        assert_eq!(driver.take_error(), CONTEXT_LOST);
        assert_eq!(status(), 0, "the context did not ask to be told");
        // Calls do nothing and return.
        exchange(&driver, 8);
        finish();
        assert_eq!((driver.swap_buffers)(display, surface), 0);
        assert_eq!(driver.take_error(), CONTEXT_LOST);

        let (_, surface) = current_context(&driver, display);
        assert_eq!(status(), 0);
        assert_eq!(exchange(&driver, 9), ([9; 64], 0));
        assert_eq!((driver.swap_buffers)(display, surface), 1);
    }
}

#[test]
fn a_server_ends_with_its_client_however_that_ends() {
    let test = "transports::a_server_ends_with_its_client_however_that_ends";
    for case in ["_exit", "kill", "exit"] {
        if !child::is(case) {
            continue;
        }
        let driver = Driver::load();
        let display = driver.display();
        current_context(&driver, display);
        assert_eq!(exchange(&driver, 1), ([1; 64], 0));
        eprintln!("server {}", children()[0]);
        // SAFETY: ends the process, which is the purpose.
        unsafe {
            match case {
                "_exit" => _exit(0),
                "kill" => _ = kill(std::process::id() as i32, 9),
                _ => std::process::exit(0),
            }
        }
    }
    for case in ["_exit", "kill", "exit"] {
        let server = server();
        let server = server.to_str().expect("a path in Unicode");
        let output = child::run(
            test,
            case,
            &[("MGL_TRANSPORT", "spawn"), ("MGL_BACKEND", "null"), ("MGL_IPC_SERVER_PATH", server)],
        );
        let text = String::from_utf8_lossy(&output.stderr);
        let process = text.lines().find_map(|line| line.strip_prefix("server ")?.parse().ok());
        wait_until_gone(process.unwrap_or_else(|| panic!("{case}: no server was named: {text}")));
    }
}

/// The child shares nothing with its parent's connection: it is refused or opens one of its own, and the parent goes on.
#[test]
fn a_fork_leaves_the_parents_connection_alone() {
    let test = "transports::a_fork_leaves_the_parents_connection_alone";
    if !child::is("fork") {
        for transport in ["inproc", "spawn"] {
            run(test, "fork", transport);
        }
        return;
    }
    let driver = Driver::load();
    let display = driver.display();
    let (_, surface) = current_context(&driver, display);
    assert_eq!(exchange(&driver, 3), ([3; 64], 0));
    // SAFETY: the child calls the driver alone and ends without running this program's own exit code.
    unsafe {
        let process = fork();
        assert!(process >= 0);
        if process == 0 {
            alarm(30);
            let (_, surface) = current_context(&driver, driver.display());
            let fine = exchange(&driver, 4) == ([4; 64], 0) && (driver.swap_buffers)(display, surface) == 1;
            _exit(if fine { 0 } else { 1 });
        }
        let mut status = -1;
        assert_eq!(waitpid(process, &mut status, 0), process);
        assert_eq!(status, 0, "the child drew on a connection of its own");
        assert_eq!(exchange(&driver, 5), ([5; 64], 0));
        assert_eq!((driver.swap_buffers)(display, surface), 1);
    }
}
