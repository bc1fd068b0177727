//! The steps of the test command, one function each.

use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::driver_dir;
use crate::exec::{self, Finished};
use crate::gl_driver::GlDriver;
use crate::law;
use crate::piglit::{self, expectations::Expectations, status::Status};
use crate::tidy;
use crate::workspace::Workspace;

use super::counts::{self, Counts};
use super::symbols;

/// One step.
pub struct Step {
    /// Short name, also of the log file.
    pub name: &'static str,
    /// What it does, for a person.
    pub about: &'static str,
    /// Whether `--fast` keeps it.
    pub fast: bool,
    /// Does it.
    pub run: fn(&Workspace) -> Result<Report>,
}

/// What a step found.
pub struct Report {
    /// How much passed and failed.
    pub counts: Counts,
    /// A short remark for the table.
    pub note: String,
}

/// All steps in the order in which they run: what is quick and what the later ones need comes first.
pub const STEPS: &[Step] = &[
    Step { name: "fmt", about: "formatting", fast: true, run: fmt },
    Step { name: "codegen", about: "generated code is up to date", fast: true, run: codegen_step },
    Step { name: "law", about: "allowed dependencies between the crates", fast: true, run: law_step },
    Step { name: "tidy", about: "first lines, file lengths, names, machine paths", fast: true, run: tidy_step },
    Step { name: "clippy", about: "lints, warnings denied", fast: true, run: clippy },
    Step { name: "build", about: "every crate and the driver", fast: true, run: build },
    Step { name: "symbols", about: "no client code and no GLSL compiler in the server", fast: true, run: symbols },
    Step { name: "tests", about: "unit, property and integration tests", fast: true, run: nextest },
    Step { name: "doctests", about: "examples in the documentation", fast: false, run: doctests },
    Step { name: "doc", about: "documentation, warnings denied", fast: false, run: doc },
    Step { name: "features", about: "every set of cargo features compiles", fast: false, run: features },
    Step { name: "package", about: "every published crate can be packaged", fast: false, run: package },
    Step {
        name: "scenarios",
        about: "GL scenarios on MGL, compared with the reference GL",
        fast: false,
        run: scenarios,
    },
    Step { name: "python", about: "Python programs on MGL, compared with the reference GL", fast: false, run: python },
    Step {
        name: "clients",
        about: "real programs with windows, compared with the reference GL",
        fast: false,
        run: clients,
    },
    Step { name: "piglit", about: "the committed list of piglit tests on MGL", fast: false, run: piglit_step },
    Step {
        name: "split-piglit",
        about: "a sample of that list with the backend on a thread and in a process of its own",
        fast: false,
        run: split_piglit,
    },
    Step {
        name: "espryt-piglit",
        about: "a sample of that list on OpenGL ES, against its own expectations",
        fast: false,
        run: espryt_piglit,
    },
];

fn one(finished: &Finished, lines: usize) -> Report {
    let ok = finished.status.success();
    if !ok {
        finished.print_tail(lines);
    }
    Report { counts: Counts::one(ok), note: String::new() }
}

fn fmt(workspace: &Workspace) -> Result<Report> {
    need_component(workspace, "rustfmt")?;
    let mut command = workspace.cargo(["fmt", "--all", "--check"]);
    let finished = exec::logged(&mut command, "cargo fmt --check", &workspace.log("fmt"))?;
    Ok(one(&finished, 40))
}

fn codegen_step(_: &Workspace) -> Result<Report> {
    let result = crate::codegen::run(true);
    if let Err(error) = &result {
        exec::say(format!("    {error:#}"));
    }
    Ok(Report { counts: Counts::one(result.is_ok()), note: String::new() })
}

fn law_step(workspace: &Workspace) -> Result<Report> {
    let found = law::violations(&law::Graph::of_workspace(workspace)?);
    for sentence in &found {
        exec::say(format!("    {sentence}"));
    }
    Ok(Report { counts: Counts::one(found.is_empty()), note: String::new() })
}

fn tidy_step(workspace: &Workspace) -> Result<Report> {
    let (files, found) = tidy::check_tracked(workspace)?;
    for breach in &found {
        exec::say(format!("    {}:{}: {}", breach.path, breach.line, breach.what));
    }
    Ok(Report { counts: Counts::one(found.is_empty()), note: format!("{files} files") })
}

/// The law of dependencies once more, on what the linker made of it. The driver itself serves as the control: it holds
/// what the server must not, so a reading that finds nothing there is broken.
fn symbols(workspace: &Workspace) -> Result<Report> {
    let dir = workspace.target.join(driver_dir::profile_dir(false));
    let server = symbols::client_code_in(&dir.join("mgl-server"))?;
    for name in server.iter().take(10) {
        exec::say(format!("    mgl-server contains {name}"));
    }
    let driver = symbols::client_code_in(&dir.join("libmgl.so"))?;
    if driver.is_empty() {
        exec::say("    control: no client code was found in libmgl.so, where it must be");
    }
    Ok(Report { counts: Counts::one(server.is_empty()) + Counts::one(!driver.is_empty()), note: String::new() })
}

fn clippy(workspace: &Workspace) -> Result<Report> {
    need_component(workspace, "clippy")?;
    let mut command = workspace.cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    let finished = exec::logged(&mut command, "cargo clippy", &workspace.log("clippy"))?;
    Ok(one(&finished, 80))
}

fn build(workspace: &Workspace) -> Result<Report> {
    let mut command = workspace.cargo(["build", "--workspace"]);
    let finished = exec::logged(&mut command, "cargo build", &workspace.log("build"))?;
    let mut report = one(&finished, 60);
    if finished.status.success() {
        if let Err(error) = driver_dir::lay_out(workspace, false) {
            exec::say(format!("    {error:#}"));
            report.counts = Counts::one(false);
        }
    }
    Ok(report)
}

/// Everything but the three harnesses that start GL programs, which have steps of their own: nextest would start a process
/// for each of their tests and so undo their batching, and what they install would be installed by several at once.
fn nextest(workspace: &Workspace) -> Result<Report> {
    need_cargo_tool(workspace, "cargo-nextest")?;
    let filter = "not (package(mgl-tests) and (binary(scenarios) or binary(python) or binary(clients)))";
    let args = ["nextest", "run", "--workspace", "--no-fail-fast", "--color", "never", "-E", filter];
    let finished = exec::logged(&mut workspace.cargo(args), "cargo nextest", &workspace.log("tests"))?;
    if !finished.status.success() {
        finished.print_tail(120);
    }
    match counts::of_nextest(&finished.output()) {
        Some(counts) => Ok(Report { counts: counts.with_status(finished.status.success()), note: String::new() }),
        None => Ok(Report { counts: Counts::one(false), note: "the tests did not run".to_string() }),
    }
}

fn scenarios(workspace: &Workspace) -> Result<Report> {
    harness(workspace, "scenarios")
}

fn python(workspace: &Workspace) -> Result<Report> {
    harness(workspace, "python")
}

fn clients(workspace: &Workspace) -> Result<Report> {
    harness(workspace, "clients")
}

/// Runs one of the test targets that bring their own harness.
fn harness(workspace: &Workspace, target: &'static str) -> Result<Report> {
    let mut command = workspace.cargo(["test", "--package", "mgl-tests", "--test", target, "--no-fail-fast"]);
    command.env("MGL_TEST_DRIVER_DIR", driver_dir::snapshot(workspace, false)?.path);
    let finished = exec::logged(&mut command, target, &workspace.log(target))?;
    if !finished.status.success() {
        finished.print_tail(80);
    }
    let counts = counts::of_harness(&finished.output()).with_status(finished.status.success());
    if counts == Counts::default() {
        return Ok(Report { counts: Counts::one(false), note: "no test ran".to_string() });
    }
    Ok(Report { counts, note: String::new() })
}

fn piglit_step(workspace: &Workspace) -> Result<Report> {
    piglit_list(workspace, &piglit_expectations(workspace)?, GlDriver::Mgl)
}

/// Of so many tests of the list one runs on the other transports, too; `cargo xtask piglit --list … --driver` runs them all.
const SAMPLED: usize = 25;

/// What is expected is the same wherever the backend runs.
fn split_piglit(workspace: &Workspace) -> Result<Report> {
    let mut list = piglit_expectations(workspace)?;
    list.entries = list.entries.into_iter().step_by(SAMPLED).collect();
    let mut all = Report { counts: Counts::default(), note: String::new() };
    for driver in [GlDriver::MglInproc, GlDriver::MglSpawn] {
        let report = piglit_list(workspace, &list, driver)?;
        all.counts = all.counts + report.counts;
        all.note = format!("{} each on two transports", report.note);
    }
    Ok(all)
}

/// Of so many tests that pass on OpenGL ES one runs; those that do not pass run all.
const SAMPLED_ON_ESPRYT: usize = 8;

fn espryt_piglit(workspace: &Workspace) -> Result<Report> {
    let mut list = Expectations::read(&workspace.root.join("tests/piglit/espryt.tsv"))?;
    let entries = std::mem::take(&mut list.entries);
    let chosen = |(at, (_, status)): &(usize, (String, Status))| at % SAMPLED_ON_ESPRYT == 0 || !status.is_good();
    list.entries = entries.into_iter().enumerate().filter(chosen).map(|(_, entry)| entry).collect();
    piglit_list(workspace, &list, GlDriver::MglEspryt)
}

fn piglit_expectations(workspace: &Workspace) -> Result<Expectations> {
    Expectations::read(&workspace.root.join("tests/piglit/expectations.tsv"))
}

fn piglit_list(workspace: &Workspace, list: &Expectations, driver: GlDriver) -> Result<Report> {
    let timeout = std::time::Duration::from_secs(60);
    let options = piglit::RunOptions { driver, release: false, jobs: 2, timeout, batch: true, core_only: false };
    let run = piglit::run_list(workspace, list, options)?;
    let errors = run.comparison.errors() as u64;
    // A test that is known to fail and fails is no failure, and it is no passed test either.
    let passed = run.results.iter().filter(|(name, status)| {
        status.is_good() && list.entries.get(*name).is_some_and(|expected| expected.is_good())
    });
    let counts = Counts { passed: passed.count() as u64, failed: errors };
    Ok(Report { counts, note: piglit::summary(&run.results) })
}

fn doctests(workspace: &Workspace) -> Result<Report> {
    let mut command = workspace.cargo(["test", "--workspace", "--doc", "--no-fail-fast"]);
    let finished = exec::logged(&mut command, "cargo test --doc", &workspace.log("doctests"))?;
    if !finished.status.success() {
        finished.print_tail(60);
    }
    let counts = counts::of_harness(&finished.output()).with_status(finished.status.success());
    Ok(Report { counts, note: String::new() })
}

fn doc(workspace: &Workspace) -> Result<Report> {
    let mut command = workspace.cargo(["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    let finished = exec::logged(&mut command, "cargo doc", &workspace.log("doc"))?;
    Ok(one(&finished, 60))
}

fn features(workspace: &Workspace) -> Result<Report> {
    need_cargo_tool(workspace, "cargo-hack")?;
    let mut command = workspace.cargo(["hack", "check", "--feature-powerset", "--workspace", "--keep-going"]);
    let finished = exec::logged(&mut command, "cargo hack check", &workspace.log("features"))?;
    Ok(one(&finished, 60))
}

fn package(workspace: &Workspace) -> Result<Report> {
    let mut counts = Counts::default();
    let published = published_crates(workspace)?;
    for (name, dir) in &published {
        let lost: Vec<&str> = FILES_OF_A_CRATE.iter().copied().filter(|file| !dir.join(file).exists()).collect();
        if !lost.is_empty() {
            exec::say(format!("    {name} lacks {}", lost.join(", ")));
        }
        counts = counts + Counts::one(lost.is_empty());
    }
    let mut args = vec!["package", "--allow-dirty", "--no-verify"];
    for (name, _) in &published {
        args.extend(["--package", name.as_str()]);
    }
    let finished = exec::logged(&mut workspace.cargo(&args), "cargo package", &workspace.log("package"))?;
    let report = one(&finished, 40);
    Ok(Report { counts: counts + report.counts, note: format!("{} crates", published.len()) })
}

/// What every published crate carries.
const FILES_OF_A_CRATE: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Names and directories of the crates that are not marked `publish = false`.
fn published_crates(workspace: &Workspace) -> Result<Vec<(String, std::path::PathBuf)>> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(workspace.root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let mut found = Vec::new();
    for package in &metadata.packages {
        if package.publish.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let Some(dir) = package.manifest_path.parent() else { continue };
        found.push((package.name.to_string(), dir.as_std_path().to_path_buf()));
    }
    Ok(found)
}

/// Sees that a component of the Rust toolchain is there; adds it with rustup when it is not.
fn need_component(workspace: &Workspace, name: &str) -> Result<()> {
    let program = if name == "rustfmt" { "rustfmt" } else { "cargo-clippy" };
    let works = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if works {
        return Ok(());
    }
    let mut command = Command::new("rustup");
    command.args(["component", "add", name]).current_dir(&workspace.root);
    let log = workspace.log(&format!("rustup-{name}"));
    let finished = exec::logged(&mut command, &format!("rustup component add {name}"), &log)?;
    if !finished.status.success() {
        finished.print_tail(10);
        bail!("{name} is missing, and `rustup component add {name}` failed");
    }
    Ok(())
}

/// Sees that a cargo subcommand is installed; installs it when it is not.
fn need_cargo_tool(workspace: &Workspace, name: &str) -> Result<()> {
    if exec::has_program(name) || cargo_home_has(name) {
        return Ok(());
    }
    let log = workspace.log(&format!("install-{name}"));
    let mut command = workspace.cargo(["install", "--locked", name]);
    let finished = exec::logged(&mut command, &format!("cargo install {name}"), &log)?;
    if !finished.status.success() {
        finished.print_tail(30);
        bail!("cargo install --locked {name} failed");
    }
    Ok(())
}

/// True when cargo itself would find the subcommand, even with its directory missing from `PATH`.
fn cargo_home_has(name: &str) -> bool {
    Command::new("cargo").args(["--list"]).output().is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let subcommand = name.trim_start_matches("cargo-");
        text.lines().any(|line| line.split_whitespace().next() == Some(subcommand))
    })
}
