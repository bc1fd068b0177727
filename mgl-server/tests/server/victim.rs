//! Clients in processes of their own, which the tests of `lives` let die in various ways.

use crate::client::{kill, servers_of, Client, Place, LONG, SERVER};
use mgpipe_types::{Backend, LogCallbacks, PipeError};
use mgpipe_wire::channel::{local_pair, SegmentSizes, Tuning};
use mgpipe_wire::client::ClientOptions;
use mgpipe_wire::inproc::inproc;
use mgpipe_wire::null::NullBackend;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Environment variable that says what the victim shall do; without it the victims do nothing.
const ORDER: &str = "MGL_TEST_VICTIM";

/// Starts a victim; returns it and the processes that it names.
pub(crate) fn start(test: &str, order: &str) -> (Child, Vec<u32>) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("victim::{test}"), "--nocapture", "--test-threads=1"])
        .env(ORDER, order)
        .env("MGL_TRANSPORT", "spawn")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let pids = loop {
        let line = lines.next().expect("it says its processes").expect("readable");
        if let Some((_, pids)) = line.split_once("processes:") {
            break pids.split_whitespace().map(|pid| pid.parse().expect("a number")).collect();
        }
    };
    // What it writes later must not fail.
    std::thread::spawn(move || lines.for_each(drop));
    (child, pids)
}

fn order() -> Option<String> {
    std::env::var(ORDER).ok()
}

fn announce(pids: &[u32]) {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    println!("\nprocesses: {}", pids.join(" "));
    std::io::stdout().flush().expect("written");
}

fn wait_for_the_end() -> ! {
    std::thread::sleep(Duration::from_secs(120));
    std::process::exit(1)
}

/// The same while something is kept.
fn wait_for_the_end_with<T>(_kept: T) -> ! {
    wait_for_the_end()
}

/// Opens a server, works with it, and does what the order says.
#[test]
fn uses_a_server() {
    let Some(order) = order() else { return };
    let mut client = Client::open(Place::Own).expect("a server");
    assert_eq!(client.echo(1, b"12345678").expect("alive"), b"12345678");
    let servers: Vec<u32> = servers_of(std::process::id()).into_iter().collect();
    announce(&servers);
    match order.split_whitespace().next().unwrap_or_default() {
        "exit" => std::process::exit(0),
        "abort" => std::process::abort(),
        "work" => loop {
            client.fill(1, b"12345678");
        },
        _ => wait_for_the_end(),
    }
}

/// Starts a server by hand on a socket that yet another process keeps open, as a fork of an application may.
#[test]
// It is killed before it could wait for them; whoever kills it ends them, too.
#[allow(clippy::zombie_processes)]
fn leaves_its_socket_to_another() {
    let Some(_) = order() else { return };
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("sockets");
    let server = Command::new(SERVER)
        .arg("--connected")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .spawn()
        .expect("the server");
    let keeper = Command::new("sleep")
        .arg("60")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(ours.try_clone().expect("a duplicate"))))
        .spawn()
        .expect("sleep");
    announce(&[server.id(), keeper.id()]);
    wait_for_the_end()
}

/// Starts a server while a pipe is open that survives an exec; names the server and the pipe's number in the system.
#[test]
fn leaves_a_pipe_open() {
    let Some(_) = order() else { return };
    let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
    let client = Client::open(Place::Own).expect("a server");
    let servers: Vec<u32> = servers_of(std::process::id()).into_iter().collect();
    let pipe = rustix::fs::fstat(&writer).expect("known").st_ino as u32;
    announce(&[servers[0], pipe]);
    wait_for_the_end_with((reader, writer, client))
}

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
}

/// Forks with a connection open: in the child, everything of it is dropped and the process exits.
#[test]
fn forks_without_exec() {
    let Some(_) = order() else { return };
    announce(&[]);
    let own = std::process::id();
    let mut client = Client::open(Place::Own).expect("a server");
    let backend: Arc<dyn Backend> = Arc::new(NullBackend);
    let channel = || local_pair(SegmentSizes::default(), Tuning::default()).map_err(|e| PipeError::Init(e.to_string()));
    let second_thread = inproc(backend, Box::new(channel), ClientOptions::default());
    let screen = second_thread.open(Arc::new(LogCallbacks::silent())).expect("a thread");
    assert_eq!(client.echo(1, b"before").expect("alive"), b"before");
    for round in 0..20u8 {
        // SAFETY: the child runs code of this process alone, which must not wait for threads or locks that it lacks: that
        // is what the test finds out, with an alarm.
        let child = unsafe { fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: ends a child that hangs.
            unsafe { alarm(5) };
            if round % 2 == 0 {
                assert!(matches!(client.echo(1, b"child"), Err(PipeError::DeviceLost(_))));
                assert!(client.screen.device_lost().is_some());
            }
            drop(client);
            drop(screen);
            drop(second_thread);
            std::process::exit(0);
        }
        let mut status = -1;
        // SAFETY: the child is this process's.
        assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "round {round}: the child ends by itself, without a complaint");
        assert_eq!(client.echo(2, &[round; 5000]).expect("alive"), [round; 5000]);
        assert_eq!(servers_of(own).len(), 1, "the server is there, once");
    }
    // Ended by the threads of this process and not by the tests around: they have been told.
    std::process::exit(0);
}

/// Rounds of the tests that kill at many moments: 60, or 1,000 when `MGL_TEST_LONG` is 1.
pub(crate) fn rounds() -> u64 {
    match std::env::var_os("MGL_TEST_LONG") {
        Some(value) if value == "1" => 1_000,
        _ => 60,
    }
}

/// Its servers are killed at various moments; it must notice, go on, and get new ones.
#[test]
fn loses_its_servers() {
    let Some(_) = order() else { return };
    announce(&[]);
    let own = std::process::id();
    let rounds = rounds();
    for round in 0..rounds {
        let mut client = Client::open(Place::Own).expect("a server");
        let servers: Vec<u32> = servers_of(own).into_iter().collect();
        let [server] = servers[..] else { panic!("exactly one server: {servers:?}") };
        let killing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(round * 8_200 / rounds));
            kill(server);
        });
        let start = Instant::now();
        let lost = loop {
            match client.echo(2, &[round as u8; 5000]) {
                Ok(bytes) => assert_eq!(bytes, [round as u8; 5000]),
                Err(error) => break error,
            }
            assert!(start.elapsed() < LONG, "the loss is not noticed");
        };
        assert!(matches!(lost, PipeError::DeviceLost(_)), "{lost}");
        assert!(client.screen.device_lost().is_some(), "round {round}");
        client.fill(1, &[1; 4096]);
        killing.join().expect("killed");
        drop(client);
        assert!(servers_of(own).is_empty(), "a dead child is waited for");
    }
}

/// Starts a victim and does not wait for anything.
pub(crate) fn start_blindly(test: &str, order: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("victim::{test}"), "--nocapture", "--test-threads=1"])
        .env(ORDER, order)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("this program runs")
}

/// Servers that were started by victims with this order, whoever their parent is by now: they inherit the order.
pub(crate) fn servers_ordered(order: &str) -> Vec<u32> {
    let wanted = format!("{ORDER}={order}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("the process list").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let ordered = read("environ").split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        if ordered && read("comm").starts_with(b"mgl-server") {
            found.push(pid);
        }
    }
    found
}
