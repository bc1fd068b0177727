//! Whole programs on each transport: wall clock, peak memory, and frames by how many may be ahead.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

use super::{median, verdict, GOAL_MEMORY, GOAL_WALL, QUIET, TRANSPORTS};
use crate::bench::drawoverhead::geometric_mean;
use crate::environment;
use crate::exec::Progress;
use crate::gl_driver::GlDriver;
use crate::group::{self, End};
use crate::processes::{self, Memory};
use crate::workspace::Workspace;
use crate::{driver_dir, python};

const MIB: f64 = 1024.0 * 1024.0;

/// The frames that may be ahead, for the table of latencies.
const CREDITS: [&str; 3] = ["1", "2", "3"];

/// A program that is measured.
struct Program {
    name: &'static str,
    path: PathBuf,
    args: Vec<String>,
}

fn binary(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.target.join(driver_dir::profile_dir(true)).join(name)
}

/// The demo with a fixed number of frames, at a size at which the processor that draws does not take most of the time.
fn demo(workspace: &Workspace, frames: &str, size: &str) -> Program {
    let args = ["--frames", frames, "--size", size, "--seconds", "0"].map(String::from).to_vec();
    Program { name: "mgl-demo", path: binary(workspace, "mgl-demo"), args }
}

/// How a started program ran.
struct Run {
    wall: Duration,
    output: String,
}

/// Runs a program on a driver and calls `watch` with its number every few milliseconds.
fn start(
    workspace: &Workspace,
    driver: GlDriver,
    program: &Program,
    extra: &[(&str, &str)],
    watch: impl FnMut(u32),
) -> Result<Run> {
    let out = workspace.log(&format!("split-{}-{}", program.name, driver.file_name()));
    let err = out.with_extension("err");
    let mut command = Command::new(&program.path);
    command.args(&program.args);
    environment::apply(workspace, &mut command, &driver.variables(workspace, true)?);
    command.envs(extra.iter().copied());
    command.env("XDG_CACHE_HOME", workspace.scratch("split-cache")?);
    let started = Instant::now();
    let end = group::run_watched(&mut command, &out, &err, QUIET, Duration::from_millis(2), watch)?;
    let wall = started.elapsed();
    if end != End::Exit(0) {
        bail!("{} on {}: {end:?}; see {}", program.name, driver.label(), err.display());
    }
    let output = std::fs::read_to_string(&out).with_context(|| format!("cannot read {}", out.display()))?;
    Ok(Run { wall, output })
}

/// Wall clock from start to end.
pub fn wall(workspace: &Workspace, rounds: u32) -> Result<bool> {
    let interpreter = python::interpreter(workspace)?;
    let picture = workspace.scratch("split")?.join("picture.png").to_string_lossy().into_owned();
    let script = |name: &'static str| {
        let path = workspace.root.join("tests").join("python").join(format!("{name}.py"));
        let args = vec!["-B".to_string(), path.to_string_lossy().into_owned(), picture.clone()];
        Program { name, path: interpreter.clone(), args }
    };
    let programs = [demo(workspace, "120", "640x360"), script("textured_mesh"), script("texture_chain")];
    let mut seconds: Vec<[Vec<f64>; 3]> = programs.iter().map(|_| Default::default()).collect();
    let mut progress = Progress::spinner("whole programs");
    // The first round fills the caches and is not counted.
    for round in 0..=rounds {
        for (program, seconds) in programs.iter().zip(&mut seconds) {
            for (&driver, seconds) in TRANSPORTS.iter().zip(seconds) {
                progress.update(&format!("{} on {} (round {round})", program.name, driver.label()));
                let run = start(workspace, driver, program, &[], |_| {})?;
                if round > 0 {
                    seconds.push(run.wall.as_secs_f64());
                }
            }
        }
    }
    progress.finish("ok");
    println!(
        "\nWall clock of whole programs in seconds, median of {rounds} after one with empty caches (less is better)\n"
    );
    println!("{:<20} {:>9} {:>9} {:>9}  {:>9} {:>9}", "program", "monolith", "inproc", "spawn", "inproc ÷", "spawn ÷");
    let mut ratios = Vec::new();
    for (program, seconds) in programs.iter().zip(seconds) {
        let [monolith, inproc, spawn] = seconds.map(median);
        println!(
            "{:<20} {monolith:>9.3} {inproc:>9.3} {spawn:>9.3}  {:>9.2} {:>9.2}   {}",
            program.name,
            inproc / monolith,
            spawn / monolith,
            verdict(spawn / monolith, GOAL_WALL)
        );
        ratios.push(spawn / monolith);
    }
    if let Some(mean) = geometric_mean(&ratios) {
        println!("spawn ÷ monolith, geometric mean of {} programs: {mean:.2}", ratios.len());
    }
    Ok(true)
}

/// Peak memory of both processes.
pub fn memory(workspace: &Workspace) -> Result<bool> {
    let program = demo(workspace, "60", "1280x720");
    let mut found = Vec::new();
    let mut progress = Progress::spinner("memory of the demo");
    for driver in TRANSPORTS {
        progress.update(driver.label());
        let (mut client, mut server): (_, Option<Memory>) = (Memory::default(), None);
        let mut server_process = None;
        start(workspace, driver, &program, &[], |process| {
            client = client.most(processes::memory(process));
            if driver == GlDriver::MglSpawn {
                server_process = server_process.or_else(|| processes::child_named(process, driver_dir::SERVER));
                if let Some(now) = server_process.and_then(processes::memory) {
                    server = Some(server.unwrap_or_default().most(Some(now)));
                }
            }
        })?;
        found.push((driver, client, server));
    }
    progress.finish("ok");
    println!("\nPeak memory of the demo at 1280x720 in MiB; shared segments count in each process that maps them\n");
    println!("{:<14} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "client", "shared", "server", "shared", "adds");
    let mut complete = true;
    let mut alone = f64::NAN;
    let mut sentences = Vec::new();
    for (driver, client, server) in found {
        let mib = |bytes: u64| bytes as f64 / MIB;
        let (peak, of_server) = (mib(client.peak), server.map_or(0.0, |server: Memory| mib(server.peak)));
        complete &= client.peak > 0 && (driver == GlDriver::MglSpawn) == server.is_some();
        if driver == GlDriver::Mgl {
            alone = peak;
        } else {
            let added = peak + of_server - alone;
            sentences.push(format!("{} adds {added:.0} MiB: {}", driver.label(), verdict(added, GOAL_MEMORY)));
        }
        let server_cells = match server {
            Some(server) => format!("{of_server:>9.1} {:>9.1}", mib(server.shared)),
            None => format!("{:>9} {:>9}", "-", "-"),
        };
        println!(
            "{:<14} {peak:>9.1} {:>9.1} {server_cells} {:>9.1}",
            driver.label(),
            mib(client.shared),
            peak + of_server - alone
        );
    }
    println!();
    sentences.iter().for_each(|sentence| println!("{sentence}"));
    Ok(complete)
}

/// Latency and rate of the demo's frames by how many may be ahead of the backend.
pub fn frames(workspace: &Workspace, rounds: u32) -> Result<bool> {
    let args = vec!["--worker".to_string()];
    let program = Program { name: "mgl-bench-frames", path: binary(workspace, "mgl-bench-frames"), args };
    let mut cases: Vec<(GlDriver, &str)> = vec![(GlDriver::Mgl, "-")];
    cases.extend([GlDriver::MglInproc, GlDriver::MglSpawn].iter().flat_map(|&driver| CREDITS.map(|c| (driver, c))));
    let mut found: Vec<Vec<Vec<Figure>>> = cases.iter().map(|_| Vec::new()).collect();
    let mut progress = Progress::spinner("frames of the demo");
    for round in 0..rounds {
        for (&(driver, credit), found) in cases.iter().zip(&mut found) {
            progress.update(&format!("{} with {credit} ahead (round {})", driver.label(), round + 1));
            let extra: &[_] = if credit == "-" { &[] } else { &[("MGL_IPC_PRESENT_CREDIT", credit)] };
            let run = start(workspace, driver, &program, extra, |_| {})?;
            found.push(figures_in(&run.output)?);
        }
    }
    progress.finish("ok");
    println!("\nFrames of the demo at 640x360 by MGL_IPC_PRESENT_CREDIT, median of {rounds} run(s)\n");
    let names: Vec<String> =
        found.first().and_then(|runs| runs.first()).into_iter().flatten().map(Figure::title).collect();
    println!("{:<14} {:>6}   {}", "", "credit", names.join("   "));
    for ((driver, credit), runs) in cases.iter().zip(&found) {
        print!("{:<14} {credit:>6}", driver.label());
        for (index, name) in names.iter().enumerate() {
            let values = runs.iter().filter_map(|run| run.get(index)).map(|figure| figure.value).collect();
            print!("   {:>1$.1}", median(values), name.chars().count());
        }
        println!();
    }
    println!();
    Ok(names.len() == 3)
}

/// One number of a program's report.
struct Figure {
    name: String,
    unit: String,
    value: f64,
}

impl Figure {
    fn title(&self) -> String {
        format!("{}, {}", self.name, self.unit)
    }
}

/// The figures in the last line of what a bench program of `mgl-tests` prints.
fn figures_in(output: &str) -> Result<Vec<Figure>> {
    let line = output.lines().last().unwrap_or_default();
    let report: serde_json::Value = serde_json::from_str(line).with_context(|| format!("unexpected report: {line}"))?;
    let figures = report["figures"].as_array().with_context(|| format!("a report without figures: {line}"))?;
    Ok(figures
        .iter()
        .filter_map(|figure| {
            let text = |key: &str| figure[key].as_str().map(String::from);
            Some(Figure { name: text("name")?, unit: text("unit")?, value: figure["value"].as_f64()? })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let text =
            "noise\n{\"renderer\":\"MGL\",\"figures\":[{\"name\":\"frames\",\"value\":12.5,\"unit\":\"a second\"}]}\n";
        let figures = figures_in(text).unwrap();
        assert_eq!((figures[0].title().as_str(), figures[0].value), ("frames, a second", 12.5));
        assert!(figures_in("no report").is_err());
        assert!(figures_in("{}").is_err());
    }
}
