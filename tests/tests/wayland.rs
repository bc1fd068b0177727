//! Windows of Wayland compositors without a screen: every case of `mgl-wayland` on every transport, and real programs, whose
//! windows are compared with llvmpipe's.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use mgl_tests::driver::{mgl_folder, Driver};
use mgl_tests::picture::{Picture, Tolerance};
use mgl_tests::weston::{Screen, Weston};
use rustix::process::{kill_process, Pid, Signal};

/// Longer than any case or step takes on a machine with other work.
const LIMIT: Duration = Duration::from_secs(60);

/// How long a picture must not change to count as finished.
const STILL: Duration = Duration::from_millis(400);

/// The screen, which is also the size that the shell gives to programs.
const SCREEN: (u32, u32) = (800, 600);

const CASES: &[&str] = &[
    "shows",
    "alpha",
    "resize",
    "resize-thread",
    "occluded",
    "closed",
    "server-gone",
    "server-stopped",
    "refusals",
    "age",
    "interval",
    "threads",
    "leak",
    "default",
];

/// A process that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(mut command: Command) -> Result<Running, Failed> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Running(command.spawn()?))
    }

    /// Waits for its end, and answers what it said when that was a success.
    fn end(&mut self, limit: Duration) -> Result<String, Failed> {
        let deadline = Instant::now() + limit;
        let status = loop {
            match self.0.try_wait()? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    self.0.kill()?;
                    break self.0.wait()?;
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let mut text = String::new();
        if let Some(mut output) = self.0.stdout.take() {
            output.read_to_string(&mut text)?;
        }
        if let Some(mut errors) = self.0.stderr.take() {
            errors.read_to_string(&mut text)?;
        }
        match status.success() {
            true => Ok(text),
            false => Err(format!("{status}: {text}").into()),
        }
    }
}

/// A folder of its own for each run.
fn scratch(name: &str, driver: &Driver) -> PathBuf {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let (driver, run) = (driver.name().replace('/', "-"), RUNS.fetch_add(1, Ordering::Relaxed));
    let name = format!("wayland-{}-{run}-{name}-{driver}", std::process::id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Prepares a program for a compositor and a driver.
fn prepare(command: &mut Command, weston: &Weston, driver: &Driver, scratch: &Path) -> Result<(), Failed> {
    driver.available()?;
    driver.apply(command, scratch)?;
    command.env_remove("EGL_PLATFORM");
    weston.apply(command);
    Ok(())
}

fn run(driver: &Driver, case: &str) -> Result<String, Failed> {
    let mut weston = Weston::start(SCREEN.0, SCREEN.1)?;
    let scratch = scratch(case, driver);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgl-wayland"));
    prepare(&mut command, &weston, driver, &scratch)?;
    command.arg(case);
    let mut running = Running::start(command)?;
    if case.starts_with("server-") {
        let mut output = BufReader::new(running.0.stdout.take().ok_or("no output")?);
        let mut line = String::new();
        while output.read_line(&mut line)? != 0 && !line.ends_with("ready\n") {}
        match case {
            "server-gone" => weston.kill(),
            _ => weston.stop(),
        }
        running.0.stdout = Some(output.into_inner());
    }
    let outcome = running.end(LIMIT);
    let _ = std::fs::remove_dir_all(&scratch);
    outcome
}

/// A window of Mesa's has to pass as well: else the case asks for what nobody does.
fn reference(case: &'static str) -> Trial {
    Trial::test(format!("reference::{case}"), move || run(&Driver::Llvmpipe, case).map(drop))
}

fn mgl(backend: &str, transport: &str) -> Driver {
    Driver::Mgl { backend: backend.into(), transport: transport.into(), folder: mgl_folder() }
}

fn trial(backend: &str, transport: &str, case: &'static str) -> Trial {
    let driver = mgl(backend, transport);
    Trial::test(format!("{}::{case}", driver.name()), move || run(&driver, case).map(drop))
}

/// A program that draws the same until it is told to end by `SIGTERM`.
struct Client {
    name: &'static str,
    /// The program and its arguments, started in the folder of this crate.
    command: &'static [&'static str],
    /// It says which driver it has.
    says_driver: bool,
    /// It can end without an error when it is told to.
    ends: bool,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "sdl2",
        command: &["env", "SDL_VIDEODRIVER=wayland", "python3", "-B", "clients/sdl2.py", "egl"],
        says_driver: true,
        ends: true,
    },
    Client {
        name: "gtk4",
        command: &["env", "GDK_BACKEND=wayland", "/usr/bin/python3", "-B", "clients/gtk4_area.py"],
        says_driver: true,
        ends: true,
    },
    // The Python for which Debian has Qt.
    Client {
        name: "qt6",
        command: &[
            "env",
            "QT_QPA_PLATFORM=wayland",
            "QT_WAYLAND_DISABLE_WINDOWDECORATION=1",
            "/usr/bin/python3",
            "-B",
            "clients/qt6_widget.py",
        ],
        says_driver: true,
        ends: true,
    },
    Client {
        name: "qt6-quick",
        command: &[
            "env",
            "QT_QPA_PLATFORM=wayland",
            "QT_WAYLAND_DISABLE_WINDOWDECORATION=1",
            "/usr/bin/python3",
            "-B",
            "clients/qt6_quick.py",
        ],
        says_driver: true,
        ends: true,
    },
    Client {
        name: "mpv",
        command: &[
            "mpv",
            "--no-config",
            "--vo=gpu",
            "--gpu-api=opengl",
            "--gpu-context=wayland",
            "--gpu-sw",
            "--ao=null",
            "--no-osc",
            "--pause",
            "--msg-level=all=warn,vo=v",
            "av://lavfi:smptebars=size=400x300",
        ],
        says_driver: true,
        // It ends with 4, which stands for a signal.
        ends: false,
    },
];

/// What is seen once the program's window does not change any more.
fn still(running: &mut Running, screen: &Screen) -> Result<Picture, Failed> {
    let deadline = Instant::now() + LIMIT;
    let mut last: Option<(Picture, Instant)> = None;
    while Instant::now() < deadline {
        if let Some(status) = running.0.try_wait()? {
            return Err(format!("it ended: {status}").into());
        }
        let picture = screen.picture()?;
        let is_drawn = picture.data.chunks_exact(4).any(|pixel| pixel != &picture.data[..4]);
        match &last {
            Some((before, since)) if *before == picture => {
                if is_drawn && since.elapsed() > STILL {
                    return Ok(picture);
                }
            }
            _ => last = Some((picture, Instant::now())),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("the window does not come to rest, or shows nothing".into())
}

/// The picture of a program, and what it said.
fn watch(client: &Client, driver: &Driver) -> Result<(Picture, String), Failed> {
    let weston = Weston::start(SCREEN.0, SCREEN.1)?;
    let scratch = scratch(client.name, driver);
    let mut command = Command::new(client.command[0]);
    command.args(&client.command[1..]).current_dir(env!("CARGO_MANIFEST_DIR"));
    prepare(&mut command, &weston, driver, &scratch)?;
    let mut running = Running::start(command)?;
    let seen = still(&mut running, &weston.screen()?);
    let told = Pid::from_child(&running.0);
    if seen.is_ok() {
        kill_process(told, Signal::TERM)?;
    } else {
        running.0.kill()?;
    }
    let said = running.end(LIMIT);
    let _ = std::fs::remove_dir_all(&scratch);
    match (seen, said) {
        (Ok(seen), Ok(said)) => Ok((seen, said)),
        (Ok(seen), Err(failed)) if !client.ends => Ok((seen, failed.message().unwrap_or_default().to_owned())),
        (Ok(_), Err(failed)) => Err(format!("{}: {failed:?}", driver.name()).into()),
        (Err(failed), said) => Err(format!("{}: {failed:?}: {said:?}", driver.name()).into()),
    }
}

fn client(client: &'static Client, transport: &str) -> Trial {
    let driver = mgl("magma", transport);
    Trial::test(format!("{}::{}", driver.name(), client.name), move || {
        let (reference, _) = watch(client, &Driver::Llvmpipe)?;
        let (seen, said) = watch(client, &driver)?;
        if client.says_driver && !said.contains("MGL") {
            return Err(format!("it does not run on MGL: {said}").into());
        }
        let difference = seen.difference(&reference, Tolerance::EDGES.channel)?;
        if difference.within(&Tolerance::EDGES) {
            return Ok(());
        }
        let folder = mgl_folder().join("client-failures");
        std::fs::create_dir_all(&folder)?;
        seen.save(&folder.join(format!("{}-wayland.png", client.name)))?;
        reference.save(&folder.join(format!("{}-wayland-reference.png", client.name)))?;
        Err(format!("the picture differs: {difference:?}; both are in {}", folder.display()).into())
    })
}

/// Programs for OpenGL ES are told that there is none, and end.
fn refusal(transport: &str) -> Trial {
    let driver = mgl("magma", transport);
    Trial::test(format!("{}::weston-simple-egl is refused", driver.name()), move || {
        let weston = Weston::start(SCREEN.0, SCREEN.1)?;
        let scratch = scratch("simple-egl", &driver);
        let mut command = Command::new("weston-simple-egl");
        prepare(&mut command, &weston, &driver, &scratch)?;
        let outcome = Running::start(command)?.end(LIMIT);
        let _ = std::fs::remove_dir_all(&scratch);
        match outcome {
            Err(_) => Ok(()),
            Ok(text) => Err(format!("it runs: {text}").into()),
        }
    })
}

fn main() {
    let mut trials: Vec<Trial> = ["shows", "alpha", "resize", "interval"].into_iter().map(reference).collect();
    for transport in ["monolith", "inproc", "spawn"] {
        trials.extend(CASES.iter().map(|case| trial("magma", transport, case)));
    }
    for transport in ["monolith", "spawn"] {
        trials.push(trial("espryt", transport, "shows"));
        trials.extend(CLIENTS.iter().map(|program| client(program, transport)));
        trials.push(refusal(transport));
    }
    // A control for what is seen: without a frame nothing is.
    trials.push(Trial::test("control::no window is seen where there is none", || {
        let weston = Weston::start(SCREEN.0, SCREEN.1)?;
        let picture = weston.screen()?.window()?;
        match picture.data.is_empty() {
            true => Ok(()),
            false => Err("something is seen".into()),
        }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
