//! Processes: exactly one server per client, none left behind, and an application that survives its server.

use crate::client::{gone_within, kill, servers_of, Client, Place, LONG, SERVER};
use crate::victim;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How soon a server must be gone when its client is.
const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn a_server_answers_like_the_backend_itself() {
    let mut client = Client::open(Place::Own).expect("a server");
    let mut seed = 1u32;
    for (slot, len) in [(1u32, 8usize), (2, 100_000), (3, 40_000_000), (4, 1)] {
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        })
        .take(len)
        .collect();
        assert!(client.echo(slot, &bytes).expect("alive") == bytes, "{len} bytes");
    }
}

#[test]
fn dying_clients_take_their_server_with_them() {
    for (order, by_itself) in [("exit", true), ("abort", true), ("work", false), ("wait", false)] {
        let (mut client, servers) = victim::start("uses_a_server", order);
        assert_eq!(servers.len(), 1, "{order}: one server for one client");
        let start = Instant::now();
        if !by_itself {
            std::thread::sleep(Duration::from_millis(20));
            client.kill().expect("alive");
        }
        client.wait().expect("its end");
        assert!(gone_within(servers[0], AT_ONCE), "{order}: server {} is still there", servers[0]);
        assert!(start.elapsed() < LONG);
    }
}

/// Before its server has started, while they introduce themselves, at work: it must not matter when a client dies.
#[test]
fn clients_killed_at_any_moment_leave_no_server() {
    // The order's first word is what the victim does; the rest makes it ours.
    let order = format!("work {}", std::process::id());
    let rounds = victim::rounds();
    for round in 0..rounds {
        let mut client = victim::start_blindly("uses_a_server", &order);
        std::thread::sleep(Duration::from_micros(round * 42_000 / rounds));
        client.kill().expect("alive");
        client.wait().expect("its end");
    }
    let start = Instant::now();
    while let Some(server) = victim::servers_ordered(&order).first() {
        assert!(start.elapsed() < AT_ONCE, "server {server} is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_fork_that_keeps_the_socket_does_not_keep_the_server() {
    let (mut client, pids) = victim::start("leaves_its_socket_to_another", "wait");
    client.kill().expect("alive");
    client.wait().expect("its end");
    let gone = gone_within(pids[0], AT_ONCE);
    kill(pids[1]);
    assert!(gone, "the server waits for a socket that its dead client's fork holds");
}

/// A pipe that the application leaves open on exec is not the server's: whoever reads it would never see its end.
#[test]
fn a_server_holds_none_of_the_applications_files() {
    let (mut client, pids) = victim::start("leaves_a_pipe_open", "wait");
    let files = std::fs::read_dir(format!("/proc/{}/fd", pids[0])).expect("alive");
    let open: Vec<(String, String)> = files
        .flatten()
        .map(|file| {
            let target = std::fs::read_link(file.path()).unwrap_or_default();
            (file.file_name().to_string_lossy().into_owned(), target.to_string_lossy().into_owned())
        })
        .collect();
    let pipe = format!("pipe:[{}]", pids[1]);
    client.kill().expect("alive");
    client.wait().expect("its end");
    assert!(open.len() > 3, "{open:?}");
    assert!(!open.iter().any(|(_, target)| *target == pipe), "{pipe} among {open:?}");
}

/// The child drops what it inherited and exits in the ordinary way; the parent and its server go on.
#[test]
fn a_fork_without_exec_ends_and_leaves_the_parents_server_alone() {
    let (mut client, _) = victim::start("forks_without_exec", "fork");
    assert!(gone_within(client.id(), LONG), "it hangs");
    assert!(client.wait().expect("its end").success(), "see what it printed");
}

#[test]
fn the_application_survives_its_server() {
    let (mut client, _) = victim::start("loses_its_servers", "lose");
    assert!(client.wait().expect("its end").success(), "see what it printed");
}

#[test]
fn nothing_about_transports_is_in_the_servers_environment() {
    let (mut client, servers) = victim::start("uses_a_server", "wait");
    let environment = std::fs::read(format!("/proc/{}/environ", servers[0])).expect("readable");
    let names: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
    assert!(!names.iter().any(|name| name.starts_with(b"MGL_TRANSPORT") || name.starts_with(b"MGL_\x49PC")));
    assert!(names.iter().any(|name| name.starts_with(b"PATH=")), "the rest is there");
    let children = servers_of(servers[0]);
    client.kill().expect("alive");
    client.wait().expect("its end");
    assert!(children.is_empty(), "the server started {children:?}");
}

#[test]
fn a_server_without_a_client_ends_with_an_error() {
    let run = |arguments: &[&str], stdin: Stdio| {
        let mut child = Command::new(SERVER).args(arguments).stdin(stdin).stderr(Stdio::null()).spawn().expect("runs");
        assert!(gone_within(child.id(), Duration::from_secs(8)), "{arguments:?} hangs");
        child.wait().expect("its end")
    };
    assert!(!run(&["--connected"], Stdio::null()).success());
    assert!(!run(&["--listen", "/nowhere/at/all"], Stdio::null()).success());
    // A client that connects and says nothing.
    let (_ours, theirs) = std::os::unix::net::UnixStream::pair().expect("sockets");
    run(&["--connected"], Stdio::from(std::os::fd::OwnedFd::from(theirs)));
}
