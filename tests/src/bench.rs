//! What the benches share: a child process for each driver and round, medians, and a table of ratios.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context as _, Result};
use clap::Parser;
use glow::HasContext as _;
use serde::{Deserialize, Serialize};

use crate::driver::Driver;

/// One measured number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// The most that is accepted, where there is a limit.
    pub limit: Option<f64>,
    /// How rounds become one number.
    pub kind: Kind,
}

/// How the rounds of a figure become one number, and which of two numbers is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The median; smaller is better.
    Amount,
    /// The median, with the first round, whose caches were empty, in a row of its own; smaller is better.
    Cached,
    /// The greatest, since whatever else the machine does only slows down; greater is better.
    Rate,
}

impl Figure {
    /// A number without a limit.
    pub fn new(name: &str, value: f64, unit: &str) -> Self {
        Self { name: name.into(), value, unit: unit.into(), limit: None, kind: Kind::Amount }
    }

    /// A number that depends on what earlier rounds left in caches on disk.
    pub fn cached(name: &str, value: f64, unit: &str) -> Self {
        Self { kind: Kind::Cached, ..Self::new(name, value, unit) }
    }

    /// A rate: greater is better.
    pub fn rate(name: &str, value: f64, unit: &str) -> Self {
        Self { kind: Kind::Rate, ..Self::new(name, value, unit) }
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

impl Report {
    /// What a bench measured with a context, unless something of it was an error.
    ///
    /// # Errors
    /// When the context has a GL error.
    ///
    /// # Safety
    /// The context is current on the calling thread.
    pub unsafe fn of(gl: &glow::Context, figures: Vec<Figure>) -> Result<Report> {
        match gl.get_error() {
            glow::NO_ERROR => Ok(Report { renderer: gl.get_parameter_string(glow::RENDERER), figures }),
            error => bail!("GL error {error:#06x}"),
        }
    }
}

/// The arguments of every bench.
#[derive(Parser, Debug)]
pub struct Arguments {
    /// Drivers to measure in turn, the one to judge first: magma/monolith, zink, llvmpipe. Without it, the driver that the
    /// environment selects is measured alone.
    #[arg(long, value_delimiter = ',')]
    pub drivers: Vec<String>,
    /// Rounds; each is a process of its own for each driver. The table shows medians, of rates the best.
    #[arg(long, default_value_t = 1)]
    pub rounds: u32,
    /// How often the measured thing is done in one run (frames, cycles).
    #[arg(long)]
    pub count: Option<u32>,
    /// Measure only what has this in its name.
    #[arg(long)]
    pub only: Option<String>,
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
    if let Some(only) = &arguments.only {
        command.arg("--only").arg(only);
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

/// Seconds of the fastest of several samples: at least five after one that warms up, and as many as `budget` allows.
pub fn fastest(budget: Duration, mut sample: impl FnMut()) -> f64 {
    sample();
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut n_samples = 0;
    while n_samples < 5 || start.elapsed() < budget {
        let sampled = Instant::now();
        sample();
        best = best.min(sampled.elapsed().as_secs_f64());
        n_samples += 1;
    }
    best
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// The figures of one driver, round by round.
struct Rounds<'a>(&'a [Report]);

impl Rounds<'_> {
    fn values(&self, name: &str) -> Vec<f64> {
        self.0.iter().filter_map(|r| r.figures.iter().find(|f| f.name == name)).map(|f| f.value).collect()
    }

    /// One number for a figure; NaN when the driver has none.
    fn value(&self, figure: &Figure, rounds: &Selection) -> f64 {
        let mut values = self.values(&figure.name);
        match rounds {
            Selection::All => {}
            Selection::First => values.truncate(1),
            Selection::Later => drop(values.drain(..values.len().min(1))),
        }
        match figure.kind {
            Kind::Rate => values.into_iter().fold(f64::NAN, f64::max),
            Kind::Amount | Kind::Cached => median(values),
        }
    }
}

/// Which rounds a row shows.
enum Selection {
    All,
    First,
    Later,
}

fn table(names: &[String], reports: &BTreeMap<usize, Vec<Report>>) -> Result<ExitCode> {
    let rounds: Vec<Rounds<'_>> =
        (0..names.len()).map(|i| Rounds(reports.get(&i).map_or(&[], Vec::as_slice))).collect();
    for (name, rounds) in names.iter().zip(&rounds) {
        println!("{name}: {}", rounds.0.first().map_or("", |r| r.renderer.as_str()));
    }
    let first = rounds.first().and_then(|r| r.0.first()).context("nothing was measured")?;
    let label = |figure: &Figure, suffix: &str| format!("{}{suffix}, {}", figure.name, figure.unit);
    let width = first.figures.iter().map(|f| label(f, " (first round)").len()).max().unwrap_or(0) + 2;
    print!("{:width$}", "");
    for name in names {
        print!("{name:>16}");
    }
    for name in names.iter().skip(1) {
        print!("{:>12}", format!("÷ {name}"));
    }
    println!();
    let mut over = false;
    let mut rates: Vec<Vec<(f64, &str)>> = vec![Vec::new(); names.len()];
    for figure in &first.figures {
        let rows: &[(&str, Selection)] = match figure.kind {
            Kind::Cached if first_of_several(reports) => {
                &[(" (first round)", Selection::First), ("", Selection::Later)]
            }
            _ => &[("", Selection::All)],
        };
        for (suffix, selection) in rows {
            let values: Vec<f64> = rounds.iter().map(|r| r.value(figure, selection)).collect();
            print!("{:width$}", label(figure, suffix));
            for value in &values {
                print!("{value:>16.2}");
            }
            for (i, other) in values.iter().enumerate().skip(1) {
                let ratio = values[0] / other;
                print!("{:>12}", if ratio.is_finite() { format!("{ratio:.2}") } else { "-".into() });
                if figure.kind == Kind::Rate && ratio.is_finite() {
                    rates[i].push((ratio, &figure.name));
                }
            }
            if let Some(limit) = figure.limit {
                let is_over = values[0] > limit;
                over |= is_over;
                print!("   {} {limit}", if is_over { "OVER the limit of" } else { "within the limit of" });
            }
            println!();
        }
    }
    for (name, ratios) in names.iter().zip(&rates) {
        if let Some(least) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
            let mean = (ratios.iter().map(|(r, _)| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let n_below = ratios.iter().filter(|(r, _)| *r < 1.0).count();
            println!(
                "÷ {name}: geometric mean {mean:.2} of {} rates, {n_below} below 1, least {:.2} ({})",
                ratios.len(),
                least.0,
                least.1
            );
        }
    }
    Ok(if over { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn first_of_several(reports: &BTreeMap<usize, Vec<Report>>) -> bool {
    reports.get(&0).map_or(0, Vec::len) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(figure: Figure) -> Report {
        Report { renderer: String::new(), figures: vec![figure] }
    }

    #[test]
    fn rounds_become_one_number_by_kind() {
        let rates: Vec<Report> = [3.0, 9.0, 5.0].map(|v| report(Figure::rate("a", v, "MiB/s"))).into();
        assert_eq!(Rounds(&rates).value(&rates[0].figures[0], &Selection::All), 9.0);
        let times: Vec<Report> = [30.0, 9.0, 5.0, 8.0].map(|v| report(Figure::cached("a", v, "ms"))).into();
        let figure = &times[0].figures[0];
        assert_eq!(Rounds(&times).value(figure, &Selection::First), 30.0);
        assert_eq!(Rounds(&times).value(figure, &Selection::Later), 8.0);
        assert_eq!(Rounds(&times).value(figure, &Selection::All), 8.5);
        assert!(Rounds(&times).value(&Figure::new("b", 0.0, ""), &Selection::All).is_nan());
    }
}
