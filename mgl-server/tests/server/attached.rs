//! A server that listens: many clients with nothing shared, and none that can harm another.

use crate::client::{backend, gone_within, Client, Place, LONG, SERVER};
use mgpipe_types::{Backend as _, LogCallbacks};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Whether somebody takes connections at an address: its file is there a moment before that.
fn listens(path: &Path) -> bool {
    const ACCEPTS: &str = "00010000";
    let sockets = std::fs::read_to_string("/proc/net/unix").expect("the sockets of the system");
    sockets.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.nth(3) == Some(ACCEPTS) && words.last().is_some_and(|address| Path::new(address) == path)
    })
}

/// A listening server that ends with the test.
pub(crate) struct Listening {
    child: Child,
    folder: tempfile::TempDir,
}

impl Listening {
    pub(crate) fn start(arguments: &[&str]) -> Listening {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let child = Command::new(SERVER)
            .arg("--listen")
            .arg(&path)
            .args(arguments)
            .env("MGL_LOG", "off")
            .spawn()
            .expect("runs");
        let start = Instant::now();
        while !listens(&path) {
            assert!(start.elapsed() < LONG, "the server does not listen");
            std::thread::sleep(Duration::from_millis(2));
        }
        Listening { child, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(crate) fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("alive").count()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn sixteen_clients_share_nothing() {
    let server = Listening::start(&[]);
    let barrier = std::sync::Barrier::new(16);
    std::thread::scope(|scope| {
        for number in 0..16u8 {
            let (place, barrier) = (Place::At(server.path()), &barrier);
            scope.spawn(move || {
                let mut client = Client::open(place).expect("admitted");
                // All use the same handles at the same time.
                barrier.wait();
                for round in 0..50usize {
                    let bytes = vec![number; 1000 + round * 37];
                    assert_eq!(client.echo(1, &bytes).expect("alive"), bytes);
                }
            });
        }
    });
}

#[test]
fn rubbish_and_silence_disturb_nobody() {
    let server = Listening::start(&[]);
    let mut client = Client::open(Place::At(server.path())).expect("admitted");
    assert_eq!(client.echo(1, b"before").expect("alive"), b"before");
    let files = server.open_files();
    let mut bad: Vec<UnixStream> = Vec::new();
    for rubbish in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"MGLF\xff\xff\xff\xff", b"MGLF\x02\0\0\0\x09\0", b"MG", b""] {
        let mut stream = UnixStream::connect(server.path()).expect("it listens");
        stream.write_all(rubbish).expect("it reads");
        bad.push(stream);
    }
    // A frame of a version that does not exist is answered in a way that any version can read.
    let mut other = UnixStream::connect(server.path()).expect("it listens");
    other.write_all(b"MGLF\x0e\0\0\0\x01\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0").expect("it reads");
    other.set_read_timeout(Some(LONG)).expect("set");
    let mut answer = Vec::new();
    other.read_to_end(&mut answer).expect("answered, then closed");
    assert!(answer.starts_with(b"MGLF") && String::from_utf8_lossy(&answer).contains("versions"), "{answer:?}");
    drop(bad);
    drop(other);
    assert_eq!(client.echo(2, b"after").expect("alive"), b"after");
    let start = Instant::now();
    while server.open_files() > files {
        assert!(start.elapsed() < LONG, "files of clients that left stay open");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn clients_come_and_go_without_a_trace() {
    let server = Listening::start(&[]);
    drop(Client::open(Place::At(server.path())).expect("admitted"));
    let settled = |limit: usize| {
        let start = Instant::now();
        while server.open_files() > limit {
            assert!(start.elapsed() < LONG, "{} files are open, not {limit}", server.open_files());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    // Listening socket, three standard files, and whatever the runtime holds.
    settled(8);
    let files = server.open_files();
    for round in 0..50u8 {
        let mut client = Client::open(Place::At(server.path())).expect("admitted");
        assert_eq!(client.echo(1, &[round; 64]).expect("alive"), [round; 64]);
    }
    settled(files);
}

#[test]
fn an_unknown_backend_is_named() {
    let server = Listening::start(&[]);
    for place in [Place::At(server.path()), Place::Own] {
        let Err(error) = backend(place, "metal").open(Arc::new(LogCallbacks::silent())) else {
            panic!("there is no such")
        };
        assert!(error.to_string().contains("metal") && error.to_string().contains("magma"), "{error}");
    }
}

#[test]
fn an_idle_server_ends_and_a_busy_one_does_not() {
    let mut server = Listening::start(&["--idle-exit=1"]);
    let client = Client::open(Place::At(server.path())).expect("admitted");
    std::thread::sleep(Duration::from_millis(2500));
    assert!(server.child.try_wait().expect("known").is_none(), "it has a client");
    drop(client);
    assert!(gone_within(server.child.id(), LONG));
    assert!(server.child.wait().expect("ended").success());
    assert!(!server.path().exists(), "the socket's file is removed");
}

#[test]
fn a_dead_servers_address_is_taken_over_and_a_living_ones_is_not() {
    let mut server = Listening::start(&[]);
    let second = Command::new(SERVER).arg("--listen").arg(server.path()).env("MGL_LOG", "off").status().expect("runs");
    assert!(!second.success(), "somebody listens there");
    server.child.kill().expect("alive");
    server.child.wait().expect("ended");
    assert!(server.path().exists(), "killed, it leaves its address behind");
    server.child = Command::new(SERVER).arg("--listen").arg(server.path()).spawn().expect("runs");
    let start = Instant::now();
    while Client::open(Place::At(server.path())).is_err() {
        assert!(start.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(5));
    }
}
