//! Real programs with windows, on an X server without a screen: each starts, shows the same as on llvmpipe, follows a new
//! size, and ends without an error when its window is closed. What each needed stands in docs/clients.md.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use mgl_tests::driver::{mgl_folder, Driver};
use mgl_tests::picture::{Picture, Tolerance};
use mgl_tests::process::children_of;
use mgl_tests::xserver::{Onlooker, XServer};
use rustix::process::{kill_process, Pid, Signal};

/// How long a program may take for each step, on a machine with other work.
const LIMIT: Duration = Duration::from_secs(30);

/// How long a picture must not change to count as finished.
const STILL: Duration = Duration::from_millis(400);

/// How long a new server may take to show its first frame, on a machine with other work.
const AWAKE: Duration = Duration::from_secs(5);

/// A program that draws the same until it is resized or closed.
struct Client {
    name: &'static str,
    /// The program and its arguments; names that end in `.py` are files of `tests/clients`, for Python.
    command: &'static [&'static str],
    tolerance: Tolerance,
}

/// The programs, those whose contexts come through GLX after the others.
const CLIENTS: &[Client] = &[
    Client { name: "sdl2-egl", command: &["sdl2.py", "egl"], tolerance: Tolerance::EDGES },
    Client { name: "glfw-egl", command: &["glfw.py", "egl"], tolerance: Tolerance::EDGES },
    Client {
        name: "qt6-egl",
        command: &["env", "QT_XCB_GL_INTEGRATION=xcb_egl", "/usr/bin/python3", "-B", "clients/qt6_widget.py"],
        tolerance: Tolerance::EDGES,
    },
    Client {
        name: "qt6-quick-egl",
        command: &["env", "QT_XCB_GL_INTEGRATION=xcb_egl", "/usr/bin/python3", "-B", "clients/qt6_quick.py"],
        tolerance: Tolerance::EDGES,
    },
    Client { name: "xcb-egl", command: &["xcb.py"], tolerance: Tolerance::EDGES },
    Client {
        name: "gtk4-egl",
        command: &["env", "GDK_BACKEND=x11", "/usr/bin/python3", "-B", "clients/gtk4_area.py"],
        tolerance: Tolerance::EDGES,
    },
    Client {
        name: "mpv-egl",
        command: &[
            "mpv",
            "--no-config",
            "--vo=gpu",
            "--gpu-api=opengl",
            "--gpu-context=x11egl",
            "--gpu-sw",
            "--ao=null",
            "--no-osc",
            "--pause",
            "--msg-level=all=warn,vo=v",
            "av://lavfi:smptebars=size=400x300",
        ],
        tolerance: Tolerance::EDGES,
    },
    Client { name: "sdl2-glx", command: &["sdl2.py", "glx"], tolerance: Tolerance::EDGES },
    Client { name: "glfw-glx", command: &["glfw.py", "glx"], tolerance: Tolerance::EDGES },
    Client { name: "pyglet-glx", command: &["pyglet_window.py"], tolerance: Tolerance::EDGES },
    Client { name: "panda3d-glx", command: &["panda3d_window.py"], tolerance: Tolerance::EDGES },
    Client { name: "vtk-glx", command: &["vtk_window.py"], tolerance: Tolerance::EDGES },
    // The Python for which Debian has Qt; programs start in the folder of this crate.
    Client {
        name: "qt6-glx",
        command: &["/usr/bin/python3", "-B", "clients/qt6_widget.py"],
        tolerance: Tolerance::EDGES,
    },
    Client {
        name: "qt6-quick-glx",
        command: &["/usr/bin/python3", "-B", "clients/qt6_quick.py"],
        tolerance: Tolerance::EDGES,
    },
];

/// The program that is looked at in unusual circumstances: it draws without end.
const DRAWS_ON: Client = Client { name: "sdl2", command: &["sdl2.py", "egl"], tolerance: Tolerance::EDGES };

/// What glxinfo has to find.
const GLXINFO: &[&str] = &[
    "direct rendering: Yes",
    "OpenGL core profile version string: 3.3",
    "OpenGL renderer string: MGL",
    "GLX_SGI_swap_control",
];

/// What was seen of a program.
struct Seen {
    first: Picture,
    resized: Picture,
    said: String,
}

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The interpreter for a program: the system's, or for those with packages the environment of the Python programs, which
/// `tests/python/setup` makes when it is missing or out of date.
fn interpreter(program: &str) -> PathBuf {
    static ENVIRONMENT: OnceLock<PathBuf> = OnceLock::new();
    if !program.ends_with("_window.py") {
        return "python3".into();
    }
    let make = || {
        if let Some(path) = std::env::var_os("MGL_TEST_PYTHON") {
            return PathBuf::from(path);
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(Path::new("."));
        let folder = target.join("python-env");
        let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/setup");
        // What goes wrong shows when the program does not start.
        let _ = Command::new(setup).arg(&folder).output();
        folder.join("bin/python")
    };
    ENVIRONMENT.get_or_init(make).clone()
}

fn command(client: &Client) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    let mut words = client.command.iter();
    let program = words.next().copied().unwrap_or_default();
    let mut command = if program.ends_with(".py") {
        let mut command = Command::new(interpreter(program));
        command.arg(folder.join(program)).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    } else {
        Command::new(program)
    };
    command.args(words);
    command
}

/// What is on the screen once the program's window does not change any more.
fn still(onlooker: &Onlooker, window: u32, size: Option<(usize, usize)>) -> Result<Picture, Failed> {
    let deadline = Instant::now() + LIMIT;
    let mut last: Option<(Picture, Instant)> = None;
    while Instant::now() < deadline {
        let picture = onlooker.picture(window)?;
        let is_drawn = picture.data.chunks_exact(4).any(|pixel| pixel != &picture.data[..4]);
        let has_size = size.is_none_or(|size| size == (picture.width, picture.height));
        match &last {
            Some((before, since)) if *before == picture => {
                if is_drawn && has_size && since.elapsed() > STILL {
                    return Ok(picture);
                }
            }
            _ => last = Some((picture, Instant::now())),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("the window does not come to rest, or shows nothing".into())
}

/// A folder of its own for each run: several tests run one program on one driver, side by side.
fn scratch(client: &Client, driver: &Driver) -> PathBuf {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let (driver, run) = (driver.name().replace('/', "-"), RUNS.fetch_add(1, Ordering::Relaxed));
    let name = format!("clients-{}-{run}-{}-{driver}", std::process::id(), client.name);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn run(client: &Client, driver: &Driver) -> Result<Seen, Failed> {
    run_with(client, driver, &[], &|_| Ok(()))
}

/// Runs a program with more environment, and does something to its process before it gets another size.
fn run_with(
    client: &Client,
    driver: &Driver,
    environment: &[(&str, &str)],
    between: &dyn Fn(u32) -> Result<(), Failed>,
) -> Result<Seen, Failed> {
    driver.available()?;
    let server = XServer::start(800, 600)?;
    let onlooker = Onlooker::new(server.name())?;
    let scratch = scratch(client, driver);
    let mut command = command(client);
    driver.apply(&mut command, &scratch)?;
    command.env_remove("EGL_PLATFORM").env("DISPLAY", server.name()).envs(environment.iter().copied());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut running = Running(child);
    let outcome = watch(&mut running, &onlooker, between);
    let mut said = String::new();
    if outcome.is_err() {
        let _ = running.0.kill();
    }
    if let Some(mut output) = running.0.stdout.take() {
        output.read_to_string(&mut said)?;
    }
    if let Some(mut errors) = running.0.stderr.take() {
        errors.read_to_string(&mut said)?;
    }
    let _ = std::fs::remove_dir_all(&scratch);
    match outcome {
        Ok((first, resized)) => Ok(Seen { first, resized, said }),
        Err(failed) => Err(format!("{}: {}\n{said}", driver.name(), failed.message().unwrap_or_default()).into()),
    }
}

/// The window of a program, once it has one.
fn await_window(running: &mut Running, onlooker: &Onlooker) -> Result<u32, Failed> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(window) = onlooker.windows()?.last() {
            return Ok(*window);
        }
        if let Some(status) = running.0.try_wait()? {
            return Err(format!("it ended without a window: {status}").into());
        }
        if Instant::now() > deadline {
            return Err("it makes no window".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn watch(
    running: &mut Running,
    onlooker: &Onlooker,
    between: &dyn Fn(u32) -> Result<(), Failed>,
) -> Result<(Picture, Picture), Failed> {
    let window = await_window(running, onlooker)?;
    let first = still(onlooker, window, None)?;
    between(running.0.id())?;
    onlooker.resize(window, 520, 410)?;
    let resized = still(onlooker, window, Some((520, 410)))?;
    onlooker.ask_to_close(window)?;
    let deadline = Instant::now() + LIMIT;
    loop {
        match running.0.try_wait()? {
            Some(status) if status.success() => return Ok((first, resized)),
            Some(status) => return Err(format!("it ended with {status}").into()),
            None if Instant::now() > deadline => return Err("it does not end".into()),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn compare(client: &Client, seen: &Picture, reference: &Picture, which: &str) -> Result<(), Failed> {
    let difference = seen.difference(reference, client.tolerance.channel)?;
    if difference.within(&client.tolerance) {
        return Ok(());
    }
    let folder = mgl_folder().join("client-failures");
    std::fs::create_dir_all(&folder)?;
    seen.save(&folder.join(format!("{}-{which}.png", client.name)))?;
    reference.save(&folder.join(format!("{}-{which}-reference.png", client.name)))?;
    Err(format!("the {which} picture differs: {difference:?}; both are in {}", folder.display()).into())
}

fn trial(client: &'static Client, transport: &str) -> Trial {
    let driver = Driver::Mgl { backend: "magma".into(), transport: transport.into(), folder: mgl_folder() };
    Trial::test(format!("{}::{}", driver.name(), client.name), move || {
        let reference = run(client, &Driver::Llvmpipe)?;
        let seen = run(client, &driver)?;
        if !seen.said.contains("MGL") {
            return Err(format!("it does not run on MGL: {}", seen.said).into());
        }
        compare(client, &seen.first, &reference.first, "first")?;
        compare(client, &seen.resized, &reference.resized, "resized")
    })
}

/// What a program that ends by itself has to say on MGL, and how it has to end.
fn talk(transport: &str, name: &'static str, words: &'static [&'static str], wanted: &'static [&'static str]) -> Trial {
    let driver = Driver::Mgl { backend: "magma".into(), transport: transport.into(), folder: mgl_folder() };
    Trial::test(format!("{}::{name}", driver.name()), move || {
        driver.available()?;
        let server = XServer::start(800, 600)?;
        let client = Client { name, command: words, tolerance: Tolerance::EDGES };
        let scratch = scratch(&client, &driver);
        let mut command = command(&client);
        driver.apply(&mut command, &scratch)?;
        let output = command.env_remove("EGL_PLATFORM").env("DISPLAY", server.name()).output()?;
        let _ = std::fs::remove_dir_all(&scratch);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{}: {text}{errors}", output.status).into());
        }
        match wanted.iter().find(|line| !text.contains(**line)) {
            Some(line) => Err(format!("{line:?} is not in\n{text}{errors}").into()),
            None => Ok(()),
        }
    })
}

/// A program of OpenGL 1 gets a context whose functions fail: its window stays empty, it goes on and ends when it is told to.
fn old_gl(transport: &str) -> Trial {
    let driver = Driver::Mgl { backend: "magma".into(), transport: transport.into(), folder: mgl_folder() };
    Trial::test(format!("{}::glxgears is not drawn and goes on", driver.name()), move || {
        driver.available()?;
        let server = XServer::start(800, 600)?;
        let onlooker = Onlooker::new(server.name())?;
        let client = Client { name: "glxgears", command: &["glxgears"], tolerance: Tolerance::EDGES };
        let scratch = scratch(&client, &driver);
        let mut command = command(&client);
        driver.apply(&mut command, &scratch)?;
        command.env_remove("EGL_PLATFORM").env("DISPLAY", server.name()).stdin(Stdio::null()).stdout(Stdio::null());
        let mut running = Running(command.stderr(Stdio::null()).spawn()?);
        let window = await_window(&mut running, &onlooker)?;
        for size in [300, 200] {
            std::thread::sleep(Duration::from_millis(300));
            onlooker.resize(window, size, size)?;
        }
        std::thread::sleep(Duration::from_millis(300));
        if let Some(status) = running.0.try_wait()? {
            return Err(format!("it ended: {status}").into());
        }
        let picture = onlooker.picture(window)?;
        let _ = std::fs::remove_dir_all(&scratch);
        if picture.data.chunks_exact(4).any(|pixel| pixel != [0, 0, 0, 255]) {
            return Err("something was drawn".into());
        }
        Ok(())
    })
}

/// The figures of `MGL_HUD` are seen in a window, over a part of what the program draws.
fn hud(transport: &str) -> Trial {
    let driver = Driver::Mgl { backend: "magma".into(), transport: transport.into(), folder: mgl_folder() };
    Trial::test(format!("{}::figures over a window", driver.name()), move || {
        let plain = run(&DRAWS_ON, &driver)?.first;
        let server = XServer::start(800, 600)?;
        let onlooker = Onlooker::new(server.name())?;
        let scratch = scratch(&DRAWS_ON, &driver);
        let mut command = command(&DRAWS_ON);
        driver.apply(&mut command, &scratch)?;
        command.env_remove("EGL_PLATFORM").env("DISPLAY", server.name()).env("MGL_HUD", "1");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut running = Running(child);
        let window = await_window(&mut running, &onlooker)?;
        let deadline = Instant::now() + LIMIT;
        loop {
            let picture = onlooker.picture(window)?;
            if (picture.width, picture.height) == (plain.width, plain.height) {
                let at = |i: usize| (i % plain.width, i / plain.width);
                let pixels = picture.data.chunks_exact(4).zip(plain.data.chunks_exact(4)).enumerate();
                let other: Vec<(usize, usize)> = pixels.filter(|(_, (a, b))| a != b).map(|(i, _)| at(i)).collect();
                // Rows count from the bottom.
                let in_corner = |&(x, y): &(usize, usize)| x < plain.width * 3 / 4 && y > plain.height / 4;
                if other.len() > 200 && other.iter().all(in_corner) {
                    break;
                }
            }
            if Instant::now() > deadline {
                return Err("no figures are seen, or more than figures".into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(running);
        let _ = std::fs::remove_dir_all(&scratch);
        Ok(())
    })
}

/// The server of a program dies while it draws, and the window shows the right picture again, in another size, too.
fn respawn() -> Trial {
    let driver = Driver::Mgl { backend: "magma".into(), transport: "spawn".into(), folder: mgl_folder() };
    Trial::test(format!("{}::a server is replaced under a window", driver.name()), move || {
        let killed = AtomicU32::new(0);
        let kill = |program: u32| -> Result<(), Failed> {
            let servers = || {
                let is_server = |pid: &u32| {
                    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
                    name.is_ok_and(|name| name.starts_with("mgl-server"))
                };
                children_of(program).into_iter().filter(is_server).collect::<Vec<u32>>()
            };
            let old = servers();
            for server in &old {
                if let Some(server) = i32::try_from(*server).ok().and_then(Pid::from_raw) {
                    kill_process(server, Signal::KILL)?;
                    killed.fetch_add(1, Ordering::Relaxed);
                }
            }
            let deadline = Instant::now() + LIMIT;
            while !servers().iter().any(|server| !old.contains(server)) {
                if Instant::now() > deadline {
                    return Err("no new server comes".into());
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            // It is told everything before its first frame; until then the old one's stands still.
            std::thread::sleep(AWAKE);
            Ok(())
        };
        let reference = run(&DRAWS_ON, &Driver::Llvmpipe)?;
        let seen = run_with(&DRAWS_ON, &driver, &[("MGL_IPC_RESPAWN", "1")], &kill)?;
        if killed.load(Ordering::Relaxed) != 1 {
            return Err(format!("{killed:?} servers were killed").into());
        }
        compare(&DRAWS_ON, &seen.first, &reference.first, "first")?;
        compare(&DRAWS_ON, &seen.resized, &reference.resized, "resized")
    })
}

/// Programs for OpenGL ES are told that there is none, and say so.
fn refusal(transport: &str) -> Trial {
    let driver = Driver::Mgl { backend: "magma".into(), transport: transport.into(), folder: mgl_folder() };
    Trial::test(format!("{}::es2gears is refused", driver.name()), move || {
        driver.available()?;
        let server = XServer::start(800, 600)?;
        let client = Client { name: "es2gears", command: &["es2gears_x11"], tolerance: Tolerance::EDGES };
        let scratch = scratch(&client, &driver);
        let mut command = command(&client);
        driver.apply(&mut command, &scratch)?;
        let output = command.env_remove("EGL_PLATFORM").env("DISPLAY", server.name()).output()?;
        let _ = std::fs::remove_dir_all(&scratch);
        match output.status.code() {
            Some(code) if code != 0 => Ok(()),
            _ => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into()),
        }
    })
}

fn main() {
    let mut trials = Vec::new();
    for transport in ["monolith", "spawn"] {
        trials.extend(CLIENTS.iter().map(|client| trial(client, transport)));
        trials.push(refusal(transport));
        trials.push(old_gl(transport));
        trials.push(hud(transport));
        trials.push(talk(transport, "glxinfo", &["glxinfo", "-l", "-v"], GLXINFO));
    }
    trials.push(respawn());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
