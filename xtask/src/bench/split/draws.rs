//! Processor time of a draw: piglit's drawoverhead on each transport, its threads watched from outside.
//!
//! From one row's line to the next, drawoverhead does little but the draws that the next rate is of, for a second or two: a
//! thread's share of a processor within that time, divided by the rate, is what a draw costs that thread. It needs nothing
//! inside the program. What a row starts with (its objects, its shaders) is counted as well, a few milliseconds of it.
//!
//! A client that is ahead of a slower backend sleeps until a quarter of the ring is free, and writes the next draws in a
//! burst. So no shorter stretch is looked at: most would see a client that sleeps, and cost that is far too low.
//!
//! Other work on the machine lowers share and rate alike, as long as it is even over that time; on a crowded
//! machine it is not, single rows scatter widely, and figures say nothing.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

use super::{verdict, BACKENDS, GOAL_DRAW, QUIET, TRANSPORTS};
use crate::bench::drawoverhead::{geometric_mean, parse_row, Row};
use crate::environment;
use crate::exec::Progress;
use crate::gl_driver::GlDriver;
use crate::group;
use crate::piglit::catalogue;
use crate::processes;
use crate::workspace::Workspace;

/// Between two looks at whether rows still come.
const STEP: Duration = Duration::from_millis(100);

/// A row that took less time has no rate worth its name.
const SHORTEST: Duration = Duration::from_millis(400);

/// Nanoseconds of processor time that one draw costs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// The thread that calls GL.
    client: f64,
    /// The thread that applies, where there is one.
    apply: Option<f64>,
}

/// Costs of each row, once a round.
#[derive(Default)]
struct Figures {
    order: Vec<String>,
    rows: BTreeMap<String, Vec<Cost>>,
}

impl Figures {
    fn add(&mut self, name: String, cost: Cost) {
        if !self.rows.contains_key(&name) {
            self.order.push(name.clone());
        }
        self.rows.entry(name).or_default().push(cost);
    }

    fn client(&self, name: &str) -> f64 {
        mean(self.rows.get(name).into_iter().flatten().map(|cost| cost.client))
    }

    fn apply(&self, name: &str) -> f64 {
        mean(self.rows.get(name).into_iter().flatten().filter_map(|cost| cost.apply))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count)
}

/// Processor times at one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Instant,
    client: Duration,
    apply: Option<Duration>,
}

/// The threads that are watched.
struct Watch {
    driver: GlDriver,
    client: u32,
    apply: Mutex<Option<(u32, u32)>>,
}

impl Watch {
    /// `None` when the program is gone.
    fn sample(&self) -> Option<Sample> {
        let client = processes::cpu_time(self.client, self.client)?;
        let mut apply = self.apply.lock().unwrap_or_else(PoisonError::into_inner);
        *apply = apply.or_else(|| self.applying());
        let apply = apply.and_then(|(process, thread)| processes::cpu_time(process, thread));
        Some(Sample { at: Instant::now(), client, apply })
    }

    /// Process and thread that apply.
    fn applying(&self) -> Option<(u32, u32)> {
        match self.driver {
            GlDriver::MglInproc | GlDriver::MglEsprytInproc => {
                let all = processes::threads(self.client);
                all.into_iter().find(|thread| thread.name == "mgl-apply").map(|thread| (self.client, thread.id))
            }
            // The server applies on its first thread, whose number is the process's.
            GlDriver::MglSpawn => {
                processes::child_named(self.client, crate::driver_dir::SERVER).map(|server| (server, server))
            }
            _ => None,
        }
    }
}

/// What the draws of a row cost, from its rate and what its threads had done before it and after it.
fn cost(start: &Sample, end: &Sample, row: &Row) -> Option<Cost> {
    let wall = end.at.duration_since(start.at);
    if row.kilodraws == 0 || wall < SHORTEST {
        return None;
    }
    let draws = wall.as_secs_f64() * row.kilodraws as f64 * 1e3;
    let per_draw = |time: Duration| time.as_secs_f64() / draws * 1e9;
    let apply = end.apply.zip(start.apply).map(|(end, start)| per_draw(end.saturating_sub(start)));
    Some(Cost { client: per_draw(end.client.saturating_sub(start.client)), apply })
}

/// Measures and prints the table. False when a transport gave no figure for a row that another one has.
pub fn run(workspace: &Workspace, rounds: u32) -> Result<bool> {
    Ok(print(&collect(workspace, rounds, &TRANSPORTS)?))
}

/// The same for the backends: each alone, where the calling thread does everything, and on a second thread.
pub fn backends(workspace: &Workspace, rounds: u32) -> Result<bool> {
    Ok(print_backends(&collect(workspace, rounds, &BACKENDS)?))
}

/// The rows on each driver, in turn.
fn collect(workspace: &Workspace, rounds: u32, drivers: &[GlDriver]) -> Result<Vec<Figures>> {
    let mut figures: Vec<Figures> = drivers.iter().map(|_| Figures::default()).collect();
    for round in 0..rounds {
        for (&driver, figures) in drivers.iter().zip(&mut figures) {
            let mut progress = Progress::spinner(&format!("drawoverhead on {} (round {})", driver.label(), round + 1));
            measure(workspace, driver, figures, &mut progress)?;
            progress.finish(&format!("{} rows", figures.rows.len()));
        }
    }
    Ok(figures)
}

/// All rows on one transport.
fn measure(workspace: &Workspace, driver: GlDriver, figures: &mut Figures, progress: &mut Progress) -> Result<()> {
    let errors = workspace.log(&format!("split-draws-{}", driver.file_name()));
    let file = std::fs::File::create(&errors).with_context(|| format!("cannot write {}", errors.display()))?;
    // Into a pipe the program would write its rows only at its end.
    let mut command = Command::new("stdbuf");
    command.arg("-oL").arg(catalogue::data_dir()?.join("bin").join("drawoverhead"));
    command.args(["-auto", "-fbo", "-nocolor"]);
    environment::apply(workspace, &mut command, &driver.variables(workspace, true)?);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).process_group(0);
    let mut child = command.spawn().context("cannot start stdbuf")?;
    let outcome = watch(&mut child, driver, figures, progress);
    if outcome.is_err() {
        group::end_group(&mut child);
    }
    outcome?;
    let status = child.wait().context("cannot wait for drawoverhead")?;
    if !status.success() {
        bail!("drawoverhead on {}: {status}; see {}", driver.label(), errors.display());
    }
    Ok(())
}

/// Reads rows and looks at the threads until the output ends.
fn watch(child: &mut Child, driver: GlDriver, figures: &mut Figures, progress: &mut Progress) -> Result<()> {
    let output = child.stdout.take().context("the program has no output")?;
    let watch = Arc::new(Watch { driver, client: child.id(), apply: Mutex::new(None) });
    if processes::cpu_time(child.id(), child.id()).is_none() {
        bail!("this kernel tells no processor time of threads (/proc/PID/task/TID/schedstat)");
    }
    let (sender, rows) = mpsc::channel();
    let reader = Arc::clone(&watch);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The look belongs to the moment at which the row came.
            if sender.send((reader.sample(), parse_row(&line))).is_err() {
                break;
            }
        }
    });
    let mut before: Option<Sample> = None;
    let mut last_line = Instant::now();
    loop {
        match rows.recv_timeout(STEP) {
            Ok((sample, row)) => {
                last_line = Instant::now();
                if let Some(row) = row {
                    progress.update(&row.name);
                    let cost = before.zip(sample).and_then(|(before, after)| cost(&before, &after, &row));
                    if let Some(cost) = cost {
                        figures.add(row.name, cost);
                    }
                }
                before = sample;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if last_line.elapsed() > QUIET {
            bail!("drawoverhead on {}: no output for {} s", driver.label(), QUIET.as_secs());
        }
    }
}

fn print(figures: &[Figures]) -> bool {
    let [monolith, inproc, spawn] = figures else { return false };
    println!("\nProcessor time of one draw in nanoseconds, and what the client's thread has of it ÷ monolith (less is better)\n");
    println!(
        "{:<72} {:>9} {:>9} {:>9}  {:>9} {:>9}  {:>9} {:>9}",
        "row", "monolith", "inproc", "spawn", "inproc ÷", "spawn ÷", "apply in.", "apply sp."
    );
    let mut complete = !monolith.order.is_empty();
    let (mut of_inproc, mut of_spawn) = (Vec::new(), Vec::new());
    for name in &monolith.order {
        let (alone, second, other) = (monolith.client(name), inproc.client(name), spawn.client(name));
        let (inproc_ratio, spawn_ratio) = (second / alone, other / alone);
        println!(
            "{name:<72} {alone:>9.0} {second:>9.0} {other:>9.0}  {inproc_ratio:>9.2} {spawn_ratio:>9.2}  {:>9.0} {:>9.0}",
            inproc.apply(name),
            spawn.apply(name)
        );
        complete &= inproc_ratio.is_finite() && spawn_ratio.is_finite();
        of_inproc.extend(Some(inproc_ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0));
        of_spawn.extend(Some(spawn_ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0));
    }
    println!();
    for (name, ratios) in [("inproc", &of_inproc), ("spawn", &of_spawn)] {
        if let Some(mean) = geometric_mean(ratios) {
            let over = ratios.iter().filter(|ratio| **ratio > GOAL_DRAW).count();
            println!(
                "client's thread, {name} ÷ monolith: geometric mean {mean:.2} of {} rows, {over} of them over {GOAL_DRAW}; {}",
                ratios.len(),
                verdict(mean, GOAL_DRAW)
            );
        }
    }
    if !complete {
        println!("A transport gave no figure for a row that another one has.");
    }
    complete
}

fn print_backends(figures: &[Figures]) -> bool {
    let [magma, espryt, magma_split, espryt_split] = figures else { return false };
    println!("\nProcessor time of one draw in nanoseconds, and Espryt ÷ Magma (less is better)\n");
    println!(
        "{:<72} {:>8} {:>8} {:>6}  {:>8} {:>8} {:>6}  {:>8} {:>8} {:>6}",
        "row", "Magma", "Espryt", "÷", "client", "client", "÷", "apply", "apply", "÷"
    );
    let mut complete = !magma.order.is_empty();
    let mut ratios: [Vec<f64>; 3] = Default::default();
    for name in &magma.order {
        let pairs = [
            (magma.client(name), espryt.client(name)),
            (magma_split.client(name), espryt_split.client(name)),
            (magma_split.apply(name), espryt_split.apply(name)),
        ];
        print!("{name:<72}");
        for ((of_magma, of_espryt), ratios) in pairs.into_iter().zip(&mut ratios) {
            let ratio = of_espryt / of_magma;
            print!(" {of_magma:>8.0} {of_espryt:>8.0} {ratio:>6.2} ");
            complete &= ratio.is_finite();
            ratios.extend(Some(ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0));
        }
        println!();
    }
    println!();
    let threads = ["monolith, the calling thread", "inproc, the client's thread", "inproc, the applying thread"];
    for (name, ratios) in threads.into_iter().zip(&ratios) {
        if let Some(mean) = geometric_mean(ratios) {
            println!("Espryt ÷ Magma, {name}: geometric mean {mean:.2} of {} rows", ratios.len());
        }
    }
    if !complete {
        println!("A backend gave no figure for a row that another one has.");
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_divided_by_rate_is_the_cost_of_a_draw() {
        let ms = Duration::from_millis;
        let start = Sample { at: Instant::now(), client: ms(30), apply: Some(ms(8)) };
        // Half of a second is the client's and a quarter the applying thread's.
        let end = Sample { at: start.at + ms(1000), client: ms(530), apply: Some(ms(258)) };
        let row = Row { number: 1, name: "a".to_string(), kilodraws: 100 };
        let found = cost(&start, &end, &row).unwrap();
        assert!((found.client - 5000.0).abs() < 1.0, "{found:?}");
        assert!((found.apply.unwrap() - 2500.0).abs() < 1.0, "{found:?}");
        // Without enough time, or without a rate, there is nothing to say.
        assert_eq!(cost(&start, &Sample { at: start.at + ms(300), ..end }, &row), None);
        assert_eq!(cost(&start, &end, &Row { kilodraws: 0, ..row }), None);
    }
}
