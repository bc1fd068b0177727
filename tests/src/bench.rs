//! What the benches share: a child process for each driver and round, medians, and a table of ratios.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{bail, Context as _, Result};
use clap::Parser;
use serde::{Deserialize, Serialize};

use crate::driver::Driver;

/// One measured number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The number; smaller is better.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// The most that is accepted, where there is a limit.
    pub limit: Option<f64>,
}

impl Figure {
    /// A number without a limit.
    pub fn new(name: &str, value: f64, unit: &str) -> Self {
        Self { name: name.into(), value, unit: unit.into(), limit: None }
    }

    /// The same with a limit.
    pub fn at_most(mut self, limit: f64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// What one run of a bench reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// `GL_RENDERER`.
    pub renderer: String,
    /// The numbers.
    pub figures: Vec<Figure>,
}

/// The arguments of every bench.
#[derive(Parser, Debug)]
pub struct Arguments {
    /// Drivers to measure in turn, the one to judge first: magma/monolith, zink, llvmpipe. Without it, the driver that the
    /// environment selects is measured alone.
    #[arg(long, value_delimiter = ',')]
    pub drivers: Vec<String>,
    /// Rounds; each is a process of its own for each driver, and the table shows medians.
    #[arg(long, default_value_t = 1)]
    pub rounds: u32,
    /// How often the measured thing is done in one run (frames, cycles).
    #[arg(long)]
    pub count: Option<u32>,
    /// Measure in this process and print the report as JSON.
    #[arg(long, hide = true)]
    pub worker: bool,
}

/// Runs a bench: `measure` in a child for each driver and round, then the table. A figure of the first driver that is over
/// its limit makes the exit status 1.
pub fn run(arguments: &Arguments, measure: impl Fn(&Arguments) -> Result<Report>) -> Result<ExitCode> {
    if arguments.worker {
        println!("{}", serde_json::to_string(&measure(arguments)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    let names = if arguments.drivers.is_empty() { vec!["inherited".to_owned()] } else { arguments.drivers.clone() };
    let scratch = std::env::temp_dir().join(format!("mgl-bench-{}", std::process::id()));
    let mut reports: BTreeMap<usize, Vec<Report>> = BTreeMap::new();
    let outcome = (|| {
        // Rounds outside, drivers inside: a slow minute of the machine hits all of them.
        for _ in 0..arguments.rounds.max(1) {
            for (i, name) in names.iter().enumerate() {
                let driver = Driver::parse(name)?;
                driver.available()?;
                reports.entry(i).or_default().push(child(arguments, &driver, &scratch.join(i.to_string()))?);
            }
        }
        Ok(())
    })();
    let _ = std::fs::remove_dir_all(&scratch);
    outcome.and_then(|()| table(&names, &reports))
}

fn child(arguments: &Arguments, driver: &Driver, scratch: &Path) -> Result<Report> {
    std::fs::create_dir_all(scratch)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--worker");
    if let Some(count) = arguments.count {
        command.arg("--count").arg(count.to_string());
    }
    driver.apply(&mut command, scratch)?;
    // Caches on disk start empty for every driver and stay from round to round.
    command.env("XDG_CACHE_HOME", std::path::absolute(scratch.join("cache"))?);
    command.env("MESA_SHADER_CACHE_DIR", std::path::absolute(scratch.join("cache"))?);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("{} on {}: {}", std::env::args().next().unwrap_or_default(), driver.name(), output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).with_context(|| format!("the report of {}: {line:?}", driver.name()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

fn table(names: &[String], reports: &BTreeMap<usize, Vec<Report>>) -> Result<ExitCode> {
    for (i, name) in names.iter().enumerate() {
        let renderer = reports.get(&i).and_then(|r| r.first()).map_or("", |r| r.renderer.as_str());
        println!("{name}: {renderer}");
    }
    print!("{:44}", "");
    for name in names {
        print!("{name:>18}");
    }
    for name in names.iter().skip(1) {
        print!("{:>18}", format!("÷ {name}"));
    }
    println!();
    let mut over = false;
    let first = reports.get(&0).and_then(|r| r.first()).context("nothing was measured")?;
    for figure in &first.figures {
        let of = |i: usize, skip: usize| {
            let all = reports.get(&i).into_iter().flatten().skip(skip);
            let values =
                all.filter_map(|r| r.figures.iter().find(|f| f.name == figure.name)).map(|f| f.value).collect();
            median(values)
        };
        let n_rounds = reports.get(&0).map_or(0, Vec::len);
        // With several rounds the first one, with empty caches, has a row of its own.
        let rows = if n_rounds > 1 { vec![(" (first round)", 0, 1), ("", 1, n_rounds)] } else { vec![("", 0, 1)] };
        for (suffix, skip, end) in rows {
            let value = |i: usize| {
                if end == 1 {
                    let report = reports.get(&i).and_then(|r| r.first());
                    report.and_then(|r| r.figures.iter().find(|f| f.name == figure.name)).map_or(f64::NAN, |f| f.value)
                } else {
                    of(i, skip)
                }
            };
            print!("{:44}", format!("{}{suffix}, {}", figure.name, figure.unit));
            for i in 0..names.len() {
                print!("{:>18.2}", value(i));
            }
            for i in 1..names.len() {
                let (a, b) = (value(0), value(i));
                print!("{:>18}", if b.abs() > 1e-9 { format!("{:.2}", a / b) } else { "-".into() });
            }
            if let Some(limit) = figure.limit {
                let is_over = value(0) > limit;
                over |= is_over;
                print!("   {} {limit}", if is_over { "OVER the limit of" } else { "within the limit of" });
            }
            println!();
        }
    }
    Ok(if over { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
