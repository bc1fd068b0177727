//! How often programs wait for an answer of the server: each scenario and each Python program, by `MGL_STATS`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::exec::{self, Progress};
use crate::gl_driver::GlDriver;
use crate::group::{self, End};
use crate::workspace::Workspace;
use crate::{driver_dir, environment, packages, python};

/// A program that prints nothing for so long is ended.
const QUIET: Duration = Duration::from_secs(180);

/// Answers that every program waits for once: they belong to its start.
const START: [&str; 2] = ["open_screen", "create_context"];

/// The answers that a program waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Trips {
    frames: u64,
    total: u64,
    frames_without: u64,
    most_in_a_frame: u64,
    by_call: BTreeMap<String, u64>,
}

impl Trips {
    /// Reads a client's report.
    fn read(text: &str) -> Result<Trips> {
        let report: serde_json::Value = serde_json::from_str(text).context("the report is no JSON")?;
        let total = &report["total"];
        let number = |value: &serde_json::Value, name: &str| {
            value[name].as_u64().with_context(|| format!("the report has no number {name}"))
        };
        let trips = &total["round_trips"];
        let calls = trips["by_call"].as_object().context("the report has no by_call")?;
        Ok(Trips {
            frames: number(total, "frames")?,
            total: number(trips, "total")?,
            frames_without: number(trips, "frames_without")?,
            most_in_a_frame: number(trips, "most_in_a_frame")?,
            by_call: calls
                .iter()
                .map(|(name, n)| Some((name.clone(), n.as_u64()?)))
                .collect::<Option<_>>()
                .unwrap_or_default(),
        })
    }

    /// Answers that were waited for after the start.
    fn after_start(&self) -> u64 {
        let start: u64 = START.iter().filter_map(|name| self.by_call.get(*name)).sum();
        self.total.saturating_sub(start)
    }

    fn per_frame(&self) -> String {
        match self.frames {
            0 => "-".to_string(),
            frames => format!("{:.2}", self.after_start() as f64 / frames as f64),
        }
    }

    /// The calls that waited, the most frequent first.
    fn calls(&self) -> String {
        let mut calls: Vec<(&String, &u64)> =
            self.by_call.iter().filter(|(name, _)| !START.contains(&name.as_str())).collect();
        calls.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), name.as_str()));
        calls.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
    }
}

/// Something to run.
struct Case {
    name: String,
    program: PathBuf,
    args: Vec<String>,
}

/// Runs everything on a server of its own and prints the table. False when something did not run.
///
/// # Errors
/// When the programs cannot be built.
pub fn run(workspace: &Workspace, only: Option<&str>) -> Result<bool> {
    packages::ensure(workspace, packages::FOR_RUN)?;
    packages::ensure(workspace, packages::FOR_TEST)?;
    driver_dir::build(workspace, true, &[])?;
    let binaries = ["scenario-runner", "mgl-demo"];
    let mut build = workspace.cargo(["build", "--release", "--package", "mgl-tests"]);
    build.args(binaries.iter().flat_map(|binary| ["--bin", binary]));
    let finished = exec::logged(&mut build, "building the scenarios", &workspace.log("build-bench-roundtrips"))?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("building {} failed", binaries.join(" and "));
    }
    let scratch = workspace.scratch("roundtrips")?;
    let mut cases = cases(workspace, &scratch)?;
    cases.retain(|case| only.is_none_or(|text| case.name.contains(text)));
    let mut progress = Progress::counted("round trips", cases.len() as u64);
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for (index, case) in cases.iter().enumerate() {
        match measure(workspace, case, &scratch) {
            Ok(trips) => found.push((case.name.as_str(), trips)),
            Err(error) => lost.push(format!("{}: {error:#}", case.name)),
        }
        progress.set_done(index as u64 + 1, &case.name);
    }
    progress.finish("done");
    print(&found);
    lost.iter().for_each(|sentence| println!("gave no figure: {sentence}"));
    Ok(lost.is_empty() && !found.is_empty())
}

fn cases(workspace: &Workspace, scratch: &Path) -> Result<Vec<Case>> {
    let binary = |name: &str| workspace.target.join(driver_dir::profile_dir(true)).join(name);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let picture = text(&scratch.join("picture.png"));
    let demo = ["--frames", "120", "--size", "640x360", "--seconds", "0"].map(String::from).to_vec();
    let mut cases = vec![Case { name: "mgl-demo".to_string(), program: binary("mgl-demo"), args: demo }];
    let interpreter = python::interpreter(workspace)?;
    for path in python::programs(workspace)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let args = vec!["-B".to_string(), text(&path), picture.clone()];
        cases.push(Case { name: format!("python {name}"), program: interpreter.clone(), args });
    }
    let runner = binary("scenario-runner");
    let listed = Command::new(&runner).arg("--list").output().context("cannot start scenario-runner")?;
    for name in String::from_utf8_lossy(&listed.stdout).lines() {
        // In this process: a supervisor between would start the driver in a child.
        let args = ["--worker", "--run", name, "--out", &text(&scratch.join("scenarios"))].map(String::from).to_vec();
        cases.push(Case { name: name.to_string(), program: runner.clone(), args });
    }
    Ok(cases)
}

fn measure(workspace: &Workspace, case: &Case, scratch: &Path) -> Result<Trips> {
    let report = scratch.join("report.json");
    let _ = std::fs::remove_file(&report);
    let (out, err) = (scratch.join("out.txt"), scratch.join("err.txt"));
    let mut command = Command::new(&case.program);
    command.args(&case.args);
    environment::apply(workspace, &mut command, &GlDriver::MglSpawn.variables(workspace, true)?);
    command.env("MGL_STATS", &report).env("EGL_PLATFORM", "surfaceless");
    let end = group::run_limited(&mut command, &out, &err, QUIET)?;
    if end != End::Exit(0) {
        let said = String::from_utf8_lossy(&std::fs::read(&err).unwrap_or_default()).into_owned();
        bail!("{end:?} {}", said.lines().last().unwrap_or_default());
    }
    Trips::read(&std::fs::read_to_string(&report).context("it left no report")?)
}

fn print(found: &[(&str, Trips)]) {
    println!(
        "\nAnswers of the server that the program waited for, without those of its start (spawn). A frame ends where it is\n\
         shown; a program that shows none has none.\n"
    );
    println!(
        "{:<40} {:>7} {:>7} {:>9} {:>9} {:>7}  calls",
        "program", "frames", "total", "per frame", "fr. with 0", "most"
    );
    for (name, trips) in found {
        println!(
            "{name:<40} {:>7} {:>7} {:>9} {:>10} {:>7}  {}",
            trips.frames,
            trips.after_start(),
            trips.per_frame(),
            trips.frames_without,
            trips.most_in_a_frame,
            trips.calls()
        );
    }
    let mut by_call: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (name, n) in found.iter().flat_map(|(_, trips)| &trips.by_call) {
        let (programs, total) = by_call.entry(name).or_default();
        *programs += 1;
        *total += n;
    }
    println!("\nBy call, over {} programs\n\n{:<28} {:>9} {:>9}", found.len(), "call", "programs", "answers");
    for (name, (programs, total)) in by_call {
        println!("{name:<28} {programs:>9} {total:>9}");
    }
    println!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_and_the_start_does_not_count() {
        let text = r#"{"total": {"frames": 4, "round_trips": {"total": 10, "frames_without": 3, "most_in_a_frame": 5,
            "by_call": {"open_screen": 1, "create_context": 1, "fence_wait": 1, "read_pixels": 7}}}}"#;
        let trips = Trips::read(text).unwrap();
        assert_eq!((trips.after_start(), trips.per_frame().as_str()), (8, "2.00"));
        assert_eq!((trips.frames_without, trips.most_in_a_frame), (3, 5));
        assert_eq!(trips.calls(), "read_pixels 7, fence_wait 1");
        assert_eq!(Trips { frames: 0, ..trips }.per_frame(), "-");
        assert!(Trips::read("{}").is_err());
        assert!(Trips::read("half of a rep").is_err());
    }
}
