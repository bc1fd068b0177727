//! Windows on an X server without a screen: every case of `mgl-window` on every transport and every way to the screen.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use mgl_tests::driver::{mgl_folder, Driver};
use mgl_tests::xserver::XServer;

/// Longer than any case takes on a machine with other work.
const LIMIT: Duration = Duration::from_secs(60);

const CASES: &[&str] = &[
    "shows",
    "resize",
    "resize-thread",
    "unmapped",
    "occluded",
    "closed",
    "server-gone",
    "refusals",
    "age",
    "single",
    "leak",
];

/// Cases that the ways to the screen differ in.
const CASES_OF_WAYS: &[&str] = &["shows", "resize", "resize-thread", "unmapped", "occluded", "closed", "server-gone"];

fn run(driver: &Driver, way: &str, case: &str) -> Result<String, Failed> {
    driver.available()?;
    let mut server = XServer::start(1280, 1024)?;
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("windows-{}-{case}-{way}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgl-window"));
    driver.apply(&mut command, &scratch.join(driver.name().replace('/', "-")))?;
    command.env_remove("EGL_PLATFORM").env("DISPLAY", server.name()).env("MGL_PRESENT", way).arg(case);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
    if case == "server-gone" {
        let mut line = String::new();
        output.read_line(&mut line)?;
        if line.trim() == "ready" {
            server.kill();
        }
    }
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                child.kill()?;
                break child.wait()?;
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    if let Some(mut errors) = child.stderr.take() {
        errors.read_to_string(&mut text)?;
    }
    let _ = std::fs::remove_dir_all(&scratch);
    match status.success() {
        true => Ok(text),
        false => Err(format!("{status}: {text}").into()),
    }
}

/// A window of Mesa's has to pass as well: else the case asks for what nobody does.
fn reference(case: &'static str) -> Trial {
    Trial::test(format!("reference::{case}"), move || run(&Driver::Llvmpipe, "auto", case).map(drop))
}

fn trial(transport: &str, backend: &str, way: &'static str, case: &'static str) -> Trial {
    let driver = Driver::Mgl { backend: backend.into(), transport: transport.into(), folder: mgl_folder() };
    Trial::test(format!("{}/{way}::{case}", driver.name()), move || run(&driver, way, case).map(drop))
}

fn main() {
    let mut trials: Vec<Trial> = vec![reference("shows")];
    for transport in ["monolith", "inproc", "spawn"] {
        trials.extend(CASES.iter().map(|case| trial(transport, "magma", "auto", case)));
        trials.push(trial(transport, "magma", "present", "interval"));
    }
    for way in ["shm", "put"] {
        trials.extend(CASES_OF_WAYS.iter().map(|case| trial("monolith", "magma", way, case)));
        trials.push(trial("spawn", "magma", way, "shows"));
    }
    // Frames that this process shows itself.
    trials.extend(CASES.iter().map(|case| trial("monolith", "espryt", "auto", case)));
    trials.push(trial("spawn", "espryt", "auto", "shows"));
    // Without a way nothing is shown: the control for what is seen.
    trials.push(Trial::test("control::an unknown way shows nothing", || {
        let driver = Driver::Mgl { backend: "magma".into(), transport: "monolith".into(), folder: mgl_folder() };
        match run(&driver, "nowhere", "shows") {
            Ok(text) => Err(format!("pixels were seen that nobody showed: {text}").into()),
            Err(_) => Ok(()),
        }
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
