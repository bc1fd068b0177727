//! What it costs, and what it saves, that the backend runs on a second thread or in another process.

mod draws;
mod programs;

use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Result};
use clap::{Args, ValueEnum};

use crate::gl_driver::GlDriver;
use crate::packages;
use crate::workspace::Workspace;
use crate::{driver_dir, exec};

/// The transports, in the order in which they are measured; the others are compared with the first.
const TRANSPORTS: [GlDriver; 3] = [GlDriver::Mgl, GlDriver::MglInproc, GlDriver::MglSpawn];

/// The backends, alone and on a second thread; Espryt's figures are compared with Magma's.
const BACKENDS: [GlDriver; 4] = [GlDriver::Mgl, GlDriver::MglEspryt, GlDriver::MglInproc, GlDriver::MglEsprytInproc];

/// The most that the processor time of a draw on the client's thread may come to, of that without a split.
const GOAL_DRAW: f64 = 0.6;

/// The most that a whole program may take, of its time without a split.
const GOAL_WALL: f64 = 1.10;

/// The most memory that a split may add, in MiB.
const GOAL_MEMORY: f64 = 60.0;

/// A program that prints nothing for so long is ended.
const QUIET: Duration = Duration::from_secs(120);

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Processor time of a draw on the client's thread.
    Draws,
    /// Processor time of a draw on OpenGL ES ÷ on Vulkan, on each thread.
    Backends,
    /// Wall clock of whole programs.
    Wall,
    /// Peak memory of both processes.
    Memory,
    /// Latency and rate of frames by how many may be ahead.
    Frames,
}

/// Options of the split measurement.
#[derive(Args, Debug)]
#[group(id = "split")]
pub struct Options {
    /// split: only these of its five tables.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    part: Vec<Part>,
}

/// Measures every part that was asked for. False when something that was started gave no figure.
///
/// # Errors
/// When a program is missing or does not build.
pub fn run(workspace: &Workspace, rounds: u32, options: &Options) -> Result<bool> {
    let parts = if options.part.is_empty() { Part::value_variants() } else { &options.part };
    packages::ensure(workspace, packages::FOR_RUN)?;
    packages::ensure(workspace, packages::FOR_TEST)?;
    driver_dir::build(workspace, true, &[])?;
    build(workspace, &["mgl-demo", "mgl-bench-frames"])?;
    let mut ok = true;
    for part in parts {
        ok &= match part {
            Part::Draws => draws::run(workspace, rounds)?,
            Part::Backends => draws::backends(workspace, rounds)?,
            Part::Wall => programs::wall(workspace, rounds.max(3))?,
            Part::Memory => programs::memory(workspace)?,
            Part::Frames => programs::frames(workspace, rounds)?,
        };
    }
    Ok(ok)
}

fn build(workspace: &Workspace, binaries: &[&str]) -> Result<()> {
    let mut args = vec!["build", "--release", "--package", "mgl-tests"];
    args.extend(binaries.iter().flat_map(|binary| ["--bin", binary]));
    let mut command: Command = workspace.cargo(args);
    let finished = exec::logged(&mut command, "building the programs to measure", &workspace.log("build-bench-split"))?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("building {} failed", binaries.join(", "));
    }
    Ok(())
}

/// How a figure stands to what it should be at most.
fn verdict(value: f64, goal: f64) -> String {
    let word = if value <= goal { "within" } else { "MISSES" };
    format!("{word} the goal of at most {goal}")
}

/// The median; NaN for an empty list.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), 3.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn goals_are_upper_limits() {
        assert!(verdict(0.6, 0.6).starts_with("within"));
        assert!(verdict(0.61, 0.6).starts_with("MISSES"));
    }
}
