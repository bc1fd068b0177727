//! Servers and clients that are killed at random moments: with `MGL_IPC_RESPAWN=1` the picture is right again within five
//! frames, and whoever is killed leaves nothing behind.
//!
//! `MGL_TEST_DEATHS` says how often; the tests of the test command die a few times only.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mgl_tests::driver::{mgl_folder, Driver};

/// How soon what a dead client leaves must be gone, on a machine that does other work at the same time.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Environment variable by which a test finds its own victims and their servers.
const MARK: &str = "MGL_TEST_VICTIM";

fn deaths(usual: u32) -> u32 {
    std::env::var("MGL_TEST_DEATHS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A folder of a test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recovery-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        Folder(folder)
    }

    /// One for a socket, whose path has to be short.
    fn short(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("mgl-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The program, on a transport.
fn program(folder: &Folder, transport: &str) -> Command {
    let driver = Driver::Mgl { backend: "magma".into(), transport: transport.into(), folder: mgl_folder() };
    driver.available().expect("the driver is built");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgl-recovery"));
    driver.apply(&mut command, &folder.0).expect("the driver's variables");
    command.env_remove("MGL_IPC_RESPAWN").env("MGL_IPC_RESPAWN_LIMIT", "1000000");
    command
}

/// The pictures that every frame has to be like, drawn without any other process.
fn reference(folder: &Folder) -> PathBuf {
    let path = folder.0.join("pictures");
    let output = program(folder, "monolith").arg("--write").arg(&path).output().expect("the program starts");
    assert!(output.status.success(), "{}", text(&output));
    path
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_picture_is_right_again_wherever_the_server_is_killed() {
    let folder = Folder::new("server");
    let mut command = program(&folder, "spawn");
    command.arg("--check").arg(reference(&folder)).args(["--kills", &deaths(12).to_string()]);
    let output = command.env("MGL_IPC_RESPAWN", "1").output().expect("the program starts");
    println!("{}", text(&output));
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("right again after at most"), "it measured nothing");
}

#[test]
fn without_the_switch_a_killed_server_is_seen() {
    let folder = Folder::new("control");
    let mut command = program(&folder, "spawn");
    let output = command.arg("--check").arg(reference(&folder)).args(["--kills", "1"]).output().expect("it starts");
    assert!(!output.status.success(), "the picture went on without a server: {}", text(&output));
    assert!(text(&output).contains("GL error 0x0507") || text(&output).contains("eglSwapBuffers"), "{}", text(&output));
}

#[test]
fn a_limit_on_deaths_is_kept() {
    let folder = Folder::new("limit");
    let mut command = program(&folder, "spawn");
    command.env("MGL_IPC_RESPAWN", "1").env("MGL_IPC_RESPAWN_LIMIT", "2");
    let output =
        command.arg("--check").arg(reference(&folder)).args(["--kills", "3"]).output().expect("the program starts");
    assert!(!output.status.success(), "a third server came: {}", text(&output));
    assert!(text(&output).contains("more than 2 servers"), "{}", text(&output));
}

/// A server that listens.
struct Listening {
    server: Child,
    path: PathBuf,
}

impl Listening {
    fn start(path: PathBuf) -> Listening {
        let server = Command::new(mgl_folder().join("mgl-server"))
            .arg("--listen")
            .arg(&path)
            .env("EGL_PLATFORM", "surfaceless")
            .stdin(Stdio::null())
            .spawn()
            .expect("the server is built");
        let start = Instant::now();
        while std::os::unix::net::UnixStream::connect(&path).is_err() {
            assert!(start.elapsed() < Duration::from_secs(30), "the server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
        Listening { server, path }
    }

    fn kill(&mut self) {
        self.server.kill().expect("it was alive");
        self.server.wait().expect("its end");
    }

    fn n_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.server.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_listening_server_that_is_started_again_is_found() {
    let (folder, home) = (Folder::new("listening"), Folder::short("again"));
    let pictures = reference(&folder);
    let mut server = Listening::start(home.0.join("socket"));
    let mut command = program(&folder, "spawn");
    command.env("MGL_TRANSPORT", format!("unix:{}", server.path.display())).env("MGL_IPC_RESPAWN", "1");
    command.env("MGL_LOG", "warn").args(["--outside", "--frames", "600", "--check"]).arg(&pictures);
    let mut client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut said = BufReader::new(client.stdout.take().expect("its output"));
    let mut line = String::new();
    said.read_line(&mut line).expect("readable");
    assert_eq!(line.trim(), "animates");
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(300));
        server.kill();
        server = Listening::start(server.path.clone());
    }
    let output = client.wait_with_output().expect("its end");
    let text = text(&output);
    println!("{text}");
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("a new server goes on").count(), 2, "{text}");
}

/// Living processes that have a mark in their environment.
fn marked(mark: &str) -> BTreeSet<u32> {
    let wanted = format!("{MARK}={mark}");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir("/proc").expect("the process list").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // Of a process that has ended and that nobody has waited for, nothing can be read.
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
            found.insert(pid);
        }
    }
    found
}

/// Starts programs that draw without end and kills each at another moment of the first second and a half; `check` looks at
/// what is left.
fn kill_clients(folder: &Folder, mark: &str, count: u32, place: impl Fn(&mut Command), check: impl Fn(u32)) {
    let mut moment = 0x9E37u64;
    for death in 0..count {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut command = program(folder, "spawn");
        command.arg("--endless").env(MARK, mark).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        place(&mut command);
        let mut client = command.spawn().expect("the program starts");
        std::thread::sleep(Duration::from_micros((moment >> 33) % 1_500_000));
        client.kill().expect("alive");
        client.wait().expect("its end");
        check(death);
    }
}

#[test]
fn clients_killed_at_any_moment_leave_no_server() {
    let folder = Folder::new("client");
    let mark = format!("own-{}", std::process::id());
    kill_clients(
        &folder,
        &mark,
        deaths(10),
        |command| {
            command.env("MGL_IPC_RESPAWN", "1");
        },
        |death| {
            let start = Instant::now();
            while !marked(&mark).is_empty() {
                assert!(start.elapsed() < AT_ONCE, "death {death}: {:?} are still there", marked(&mark));
                std::thread::sleep(Duration::from_millis(2));
            }
        },
    );
}

#[test]
fn clients_killed_at_any_moment_leave_nothing_in_a_listening_server() {
    let (folder, home) = (Folder::new("guest"), Folder::short("guests"));
    let server = Listening::start(home.0.join("socket"));
    // What the server loads with its first client, it keeps.
    let at_home = || format!("unix:{}", server.path.display());
    let reference = reference(&folder);
    let visit = |what: &str| {
        let mut command = program(&folder, "spawn");
        let output =
            command.env("MGL_TRANSPORT", at_home()).arg("--check").arg(&reference).output().expect("it starts");
        assert!(output.status.success(), "{what}: {}", text(&output));
    };
    visit("the first client");
    let start = Instant::now();
    let mut before = server.n_files();
    while start.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(50));
        before = before.min(server.n_files());
    }
    kill_clients(
        &folder,
        &format!("guest-{}", std::process::id()),
        deaths(10),
        |command| {
            command.env("MGL_TRANSPORT", at_home());
        },
        |death| {
            let start = Instant::now();
            while server.n_files() > before {
                assert!(start.elapsed() < AT_ONCE, "death {death}: {} files, {before} before", server.n_files());
                std::thread::sleep(Duration::from_millis(2));
            }
        },
    );
    visit("a client after them");
}
