//! `cargo xtask test`: every check and every test, in order, with a table of results at the end.

mod counts;
mod steps;
mod symbols;

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use crate::exec;
use crate::outcome::Outcome;
use crate::packages;
use crate::workspace::Workspace;

use self::counts::Counts;

/// Arguments of `test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// Only formatting, generated code, crate graph, house rules, lints, and unit and integration tests.
    #[arg(long)]
    fast: bool,
    /// Run only the steps whose name contains this text (may be given several times).
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// List the steps and stop.
    #[arg(long)]
    list: bool,
}

/// What one step came to.
struct StepResult {
    name: &'static str,
    counts: Counts,
    wall: Duration,
    note: String,
}

/// Runs the steps; a failing step does not stop the later ones.
pub fn run(args: TestArgs) -> Result<Outcome> {
    let workspace = Workspace::find();
    let chosen: Vec<&steps::Step> = steps::STEPS
        .iter()
        .filter(|step| !args.fast || step.fast)
        .filter(|step| args.only.is_empty() || args.only.iter().any(|text| step.name.contains(text.as_str())))
        .collect();
    if args.list {
        for step in chosen {
            println!("{:<12} {}", step.name, step.about);
        }
        return Ok(Outcome::Done);
    }
    let started = Instant::now();
    let mut needs = packages::FOR_RUN.to_vec();
    needs.extend_from_slice(packages::FOR_TEST);
    packages::ensure(&workspace, &needs)?;
    let mut results: Vec<StepResult> = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        exec::say(format!("\n[{}/{}] {}: {}", index + 1, chosen.len(), step.name, step.about));
        let step_started = Instant::now();
        let (counts, note) = match (step.run)(&workspace) {
            Ok(report) => (report.counts, report.note),
            Err(error) => {
                exec::say(format!("    {error:#}"));
                (Counts::one(false), "could not be run".to_string())
            }
        };
        results.push(StepResult { name: step.name, counts, wall: step_started.elapsed(), note });
    }
    let total = print_table(&results, started.elapsed());
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(Outcome::from_ok(total.failed == 0 && total.passed > 0))
}

fn print_table(results: &[StepResult], wall: Duration) -> Counts {
    let mut total = Counts::default();
    println!();
    println!("{:<14} {:>8} {:>8} {:>9}  note", "step", "passed", "failed", "seconds");
    for result in results {
        total = total + result.counts;
        println!(
            "{:<14} {:>8} {:>8} {:>9.1}  {}",
            result.name,
            result.counts.passed,
            result.counts.failed,
            result.wall.as_secs_f64(),
            result.note
        );
    }
    println!("{:<14} {:>8} {:>8} {:>9.1}", "all", total.passed, total.failed, wall.as_secs_f64());
    println!();
    total
}
