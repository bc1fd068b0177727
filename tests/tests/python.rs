//! Runs the Python programs of `tests/python` on the reference and on MGL and compares their pictures.
//!
//! The Python environment is `MGL_TEST_PYTHON` (an interpreter), else `target/python-env`, which `tests/python/setup`
//! makes when it is missing or out of date. `MGL_TEST_DRIVERS` says what is tested, as for the scenarios.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use mgl_tests::driver::Driver;
use mgl_tests::expectations::{judge, Expectations};
use mgl_tests::picture::{Picture, Tolerance};
use mgl_tests::runner::scenario_timeout;
use mgl_tests::verdict::Outcome;

/// The programs and how close their pictures must be.
const PROGRAMS: [(&str, Tolerance); 14] = [
    ("textured_mesh", Tolerance::EDGES),
    ("instancing", Tolerance::EDGES),
    ("msaa_resolve", Tolerance::LOOSE),
    ("texture_chain", Tolerance::EDGES),
    ("transform_feedback", Tolerance::LOOSE),
    ("vispy_scene", Tolerance::EDGES),
    ("pyglet_shapes", Tolerance::EDGES),
    ("panda3d_scene", Tolerance::EDGES),
    ("vtk_scene", Tolerance::EDGES),
    ("skia_canvas", Tolerance::EDGES),
    ("zengl_deferred", Tolerance::EDGES),
    ("pyopengl_geometry", Tolerance::EDGES),
    ("pyrender_scene", Tolerance::EDGES),
    ("pygame_frames", Tolerance::EDGES),
];

/// How a program ended on a driver, what it had to say, and its picture when it made one.
type Run = (Outcome, Vec<String>, Option<Picture>);

/// Where the pieces are.
struct Places {
    programs: PathBuf,
    target: PathBuf,
    out: PathBuf,
    interpreter: OnceLock<Result<PathBuf, String>>,
    /// What the programs did on the reference; each runs there once.
    references: Mutex<HashMap<String, Result<Arc<Run>, Failed>>>,
}

impl Places {
    /// The interpreter; makes the environment when it is missing or out of date.
    fn interpreter(&self) -> Result<&Path, Failed> {
        let found = self.interpreter.get_or_init(|| {
            if let Some(path) = std::env::var_os("MGL_TEST_PYTHON") {
                return Ok(PathBuf::from(path));
            }
            let folder = self.target.join("python-env");
            let output = Command::new(self.programs.join("setup")).arg(&folder).output();
            let output = output.map_err(|e| format!("tests/python/setup does not start: {e}"))?;
            if !output.status.success() {
                return Err(format!("tests/python/setup failed:\n{}", String::from_utf8_lossy(&output.stderr)));
            }
            Ok(folder.join("bin/python"))
        });
        found.as_deref().map_err(|e| Failed::from(e.clone()))
    }

    /// What a program does on the reference.
    fn reference(&self, program: &str) -> Result<Arc<Run>, Failed> {
        let mut references = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        references
            .entry(program.to_owned())
            .or_insert_with(|| self.run(program, &Driver::Llvmpipe).map(Arc::new))
            .clone()
    }

    /// Runs one program on one driver.
    fn run(&self, program: &str, driver: &Driver) -> Result<Run, Failed> {
        driver.available().map_err(|e| format!("{e:#}"))?;
        let folder = self.out.join(driver.name().replace('/', "-"));
        fs::create_dir_all(&folder)?;
        let (png, log) = (folder.join(format!("{program}.png")), folder.join(format!("{program}.txt")));
        let validation = folder.join(format!("{program}.validation.txt"));
        fs::write(&validation, "")?;
        let _ = fs::remove_file(&png);
        let mut command = Command::new(self.interpreter()?);
        command.arg("-B").arg(self.programs.join(format!("{program}.py"))).arg(&png);
        driver.apply(&mut command, &folder).map_err(|e| format!("{e:#}"))?;
        command.env("MGL_VALIDATION", "1").env("MGL_VALIDATION_LOG", std::path::absolute(&validation)?);
        let log_file = File::create(&log)?;
        command.stdin(Stdio::null()).stdout(log_file.try_clone()?).stderr(log_file);
        let mut child = command.spawn()?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if start.elapsed() > scenario_timeout() {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let text = fs::read_to_string(&log).unwrap_or_default();
        let mut messages: Vec<String> = fs::read_to_string(&validation)
            .unwrap_or_default()
            .lines()
            .take(10)
            .map(|l| format!("validation: {l}"))
            .collect();
        let outcome = match status {
            None => Outcome::Timeout,
            Some(status) if status.code().is_none() => Outcome::Crash,
            Some(status) if !status.success() || !messages.is_empty() => Outcome::Fail,
            Some(_) => Outcome::Pass,
        };
        if outcome != Outcome::Pass {
            let ending = status.map_or_else(|| "no end in time".to_owned(), |s| s.to_string());
            messages.push(format!("{ending}\n{}", text.trim_end()));
            return Ok((outcome, messages, None));
        }
        // The picture proves nothing unless the driver under test drew it.
        let renderer = text.lines().find_map(|l| l.strip_prefix("renderer: ")).unwrap_or_default();
        if matches!(driver, Driver::Mgl { .. }) != renderer.contains("MGL") {
            return Err(format!("drawn by {renderer:?}, not by {}", driver.name()).into());
        }
        Ok((outcome, messages, Some(Picture::load(&png).map_err(|e| format!("{e:#}"))?)))
    }
}

fn compare(
    places: &Places,
    program: &str,
    tolerance: Tolerance,
    driver: &Driver,
) -> Result<(Outcome, Vec<String>), Failed> {
    let (outcome, mut messages, picture) = places.run(program, driver)?;
    let Some(actual) = picture else { return Ok((outcome, messages)) };
    let run = places.reference(program)?;
    let (reference_outcome, reference_messages, reference) = &*run;
    let Some(reference) = reference else {
        return Err(
            format!("the reference does not pass: {reference_outcome:?} {}", reference_messages.join("; ")).into()
        );
    };
    match actual.difference(reference, tolerance.channel) {
        Ok(d) if d.within(&tolerance) => return Ok((outcome, messages)),
        Ok(d) => messages.push(format!("{d:?} is outside {tolerance:?}")),
        Err(e) => messages.push(format!("{e:#}")),
    }
    let kept = places.target.join("scenario-failures").join("python");
    fs::create_dir_all(&kept)?;
    let save = |picture: &Picture, what: &str| picture.save(&kept.join(format!("{program}.{what}.png")));
    let mut saved = save(&actual, "actual").and(save(reference, "reference"));
    if let Some(difference) = actual.difference_picture(reference) {
        saved = saved.and(save(&difference, "diff"));
    }
    messages.push(saved.map_or_else(|e| format!("{e:#}"), |()| format!("see {}/{program}.*.png", kept.display())));
    Ok((Outcome::Fail, messages))
}

fn main() {
    let arguments = Arguments::from_args();
    let target =
        Path::new(env!("CARGO_BIN_EXE_scenario-runner")).parent().and_then(Path::parent).unwrap_or(Path::new("target"));
    let places = Arc::new(Places {
        programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("python"),
        target: target.to_path_buf(),
        out: target.join("scenario-runs").join(format!("python-{}", std::process::id())),
        interpreter: OnceLock::new(),
        references: Mutex::default(),
    });
    let table = match Expectations::parse(include_str!("../expectations.toml")) {
        Ok(table) => Arc::new(table),
        Err(e) => {
            eprintln!("{e:#}");
            std::process::exit(2);
        }
    };
    let mut trials = Vec::new();
    for (program, _) in PROGRAMS {
        let places = Arc::clone(&places);
        trials.push(Trial::test(format!("reference::{program}"), move || {
            let run = places.reference(program)?;
            judge(run.0, &run.1, None).map_err(Failed::from)
        }));
    }
    {
        // Negative control: two programs' pictures are not the same picture.
        let places = Arc::clone(&places);
        trials.push(Trial::test("control::other_picture", move || {
            let (a, b) = (places.reference("textured_mesh")?, places.reference("instancing")?);
            match (&a.2, &b.2) {
                (Some(a), Some(b)) => match a.difference(b, Tolerance::LOOSE.channel) {
                    Ok(d) if d.within(&Tolerance::LOOSE) => Err("two different pictures compare as equal".into()),
                    Ok(_) => Ok(()),
                    Err(e) => Err(format!("{e:#}").into()),
                },
                _ => Err("the reference does not pass".into()),
            }
        }));
    }
    let drivers = std::env::var("MGL_TEST_DRIVERS").unwrap_or_else(|_| "magma/monolith,espryt/monolith".into());
    for text in drivers.split(',').map(str::trim).filter(|t| !t.is_empty()) {
        let driver = match Driver::parse(text) {
            Ok(driver) => driver,
            Err(e) => {
                eprintln!("MGL_TEST_DRIVERS: {e:#}");
                std::process::exit(2);
            }
        };
        for (program, tolerance) in PROGRAMS {
            let (places, table, driver) = (Arc::clone(&places), Arc::clone(&table), driver.clone());
            trials.push(Trial::test(format!("{}::{program}", driver.name()), move || {
                let (outcome, messages) = compare(&places, program, tolerance, &driver)?;
                let row = match &driver {
                    Driver::Mgl { backend, transport, .. } => {
                        table.find(&format!("python_{program}"), backend, transport)
                    }
                    _ => None,
                };
                judge(outcome, &messages, row).map_err(Failed::from)
            }));
        }
    }
    // Two trials of one driver and program at once would write the same file.
    let arguments = Arguments { test_threads: Some(1), ..arguments };
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !conclusion.has_failed() {
        let _ = fs::remove_dir_all(&places.out);
    }
    conclusion.exit();
}
