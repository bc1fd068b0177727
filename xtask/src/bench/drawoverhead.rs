//! piglit's `drawoverhead` on several drivers in one run: thousands of draws a second per row, and ratios.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::driver_dir;
use crate::environment;
use crate::exec::{self, Progress};
use crate::gl_driver::GlDriver;
use crate::group::{self, End};
use crate::packages;
use crate::piglit::catalogue;
use crate::workspace::Workspace;

/// A row that prints nothing for so long is ended.
const ROW_TIMEOUT: Duration = Duration::from_secs(60);

/// Options of the draw overhead measurement.
#[derive(Args, Debug, Default)]
#[group(id = "drawoverhead")]
pub struct Options {
    /// drawoverhead: in a compatibility profile context instead of a core one.
    #[arg(long)]
    compat: bool,
    /// drawoverhead: without the bare Vulkan loop that shows what no GL can exceed.
    #[arg(long)]
    no_limit: bool,
    /// drawoverhead: measure the unoptimised build of MGL.
    #[arg(long)]
    debug_build: bool,
}

/// One line of drawoverhead's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number that `-test` takes.
    pub number: u32,
    /// What the row does between two draws.
    pub name: String,
    /// Thousands of draws a second.
    pub kilodraws: u64,
}

/// Reads one line of drawoverhead's table; other lines give nothing.
pub fn parse_row(line: &str) -> Option<Row> {
    let plain = without_colours(line);
    let (number, rest) = plain.split_once(',')?;
    let number = number.trim().parse().ok()?;
    // The name may hold commas, the two columns after it do not.
    let mut from_right = rest.rsplitn(3, ',');
    let _percent = from_right.next()?;
    let kilodraws = from_right.next()?.trim().parse().ok()?;
    let name = from_right.next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Row { number, name, kilodraws })
}

/// Removes terminal colour sequences.
fn without_colours(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// Figures of one driver, and the rows that it did not get through.
///
/// Rows are told apart by name: a driver that lacks something leaves rows out, and the numbers after them shift.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Figures {
    /// Names in the driver's order.
    order: Vec<String>,
    /// Thousands of draws a second by name.
    rows: BTreeMap<String, u64>,
    /// What was started and gave no figure, as sentences.
    lost: Vec<String>,
}

impl Figures {
    fn add(&mut self, row: Row) {
        if !self.rows.contains_key(&row.name) {
            self.order.push(row.name.clone());
        }
        let best = self.rows.entry(row.name).or_default();
        *best = (*best).max(row.kilodraws);
    }
}

/// Measures and prints the table. False when a driver that was asked for gave no figure at all.
pub fn run(workspace: &Workspace, drivers: &[GlDriver], rounds: u32, options: &Options) -> Result<bool> {
    let (ok, _) = compare(workspace, drivers, rounds, options)?;
    if !options.no_limit {
        bare_vulkan(workspace)?;
    }
    Ok(ok)
}

/// The same without the limit, with the geometric mean of the first driver's rates ÷ those of each other one.
pub fn compare(
    workspace: &Workspace,
    drivers: &[GlDriver],
    rounds: u32,
    options: &Options,
) -> Result<(bool, Vec<(GlDriver, f64)>)> {
    packages::ensure(workspace, packages::FOR_PIGLIT)?;
    let program = catalogue::data_dir()?.join("bin").join("drawoverhead");
    let release = !options.debug_build;
    if drivers.iter().any(|driver| driver.is_ours()) {
        driver_dir::build(workspace, release, &[])?;
    }
    let mut figures: Vec<(GlDriver, Figures)> = drivers.iter().map(|&driver| (driver, Figures::default())).collect();
    for round in 0..rounds {
        for (driver, figures) in &mut figures {
            let variables = driver.variables(workspace, release)?;
            let mut progress = Progress::spinner(&format!("drawoverhead on {} (round {})", driver.label(), round + 1));
            figures.lost.clear();
            let runner = Runner { workspace, program: &program, options, variables: &variables };
            runner.all(*driver, figures, &mut progress)?;
            progress.finish(&format!("{} rows", figures.rows.len()));
        }
    }
    let means = print_table(&figures);
    Ok((figures.iter().all(|(_, figures)| !figures.rows.is_empty()), means))
}

/// Records the same kind of draws straight through Vulkan, as the limit of what any GL on this Vulkan driver can reach.
fn bare_vulkan(workspace: &Workspace) -> Result<()> {
    let binary = "mgl-bench-vulkan";
    let mut build = workspace.cargo(["build", "--release", "--package", "mgl-tests", "--bin", binary]);
    let finished = exec::logged(&mut build, &format!("building {binary}"), &workspace.log("build-bench-vulkan"))?;
    if !finished.status.success() {
        finished.print_tail(10);
        println!("The bare Vulkan loop could not be built, so no limit is shown.");
        return Ok(());
    }
    // Any Mesa driver's variables name the Vulkan driver that all of them share.
    let variables = GlDriver::Zink.variables(workspace, true)?;
    let mut command = Command::new(workspace.target.join(driver_dir::profile_dir(true)).join(binary));
    environment::apply(workspace, &mut command, &variables);
    let finished = exec::logged(&mut command, "a bare Vulkan loop", &workspace.log("bench-vulkan"))?;
    println!("\nThe same draws recorded straight through Vulkan: the limit on this Vulkan driver\n");
    print!("{}", finished.output());
    Ok(())
}

struct Runner<'a> {
    workspace: &'a Workspace,
    program: &'a PathBuf,
    options: &'a Options,
    variables: &'a BTreeMap<&'static str, std::ffi::OsString>,
}

impl Runner<'_> {
    /// All rows in one process. When it stops before its end, the rest is tried row by row, so that one bad row costs only
    /// itself.
    fn all(&self, driver: GlDriver, figures: &mut Figures, progress: &mut Progress) -> Result<()> {
        progress.update("all rows in one process");
        let (rows, why) = self.start(driver, None)?;
        let mut number = rows.last().map_or(0, |row| row.number);
        rows.into_iter().for_each(|row| figures.add(row));
        let Some(why) = why else { return Ok(()) };
        exec::say(format!("    {}: {why} after row {number}; the rest row by row", driver.label()));
        // The table has 39 rows with everything there; a number beyond the last row prints nothing and exits well.
        while number < 60 {
            number += 1;
            progress.update(&format!("row {number}"));
            let (rows, why) = self.start(driver, Some(number))?;
            match (rows.into_iter().find(|row| row.number == number), why) {
                (Some(row), _) => figures.add(row),
                (None, Some(why)) => figures.lost.push(format!("row {number}: {why}")),
                (None, None) => break,
            }
        }
        Ok(())
    }

    /// Starts drawoverhead once. The second value says what went wrong, if anything did.
    fn start(&self, driver: GlDriver, row: Option<u32>) -> Result<(Vec<Row>, Option<String>)> {
        let out = self.workspace.log(&format!("drawoverhead-{}-{}", driver.label().to_lowercase(), std::process::id()));
        let err = out.with_extension("err");
        // Into a file the program would write its rows only at its end, and a row that hangs could not be told.
        let mut command = Command::new("stdbuf");
        command.arg("-oL").arg(self.program);
        command.args(["-auto", "-fbo", "-nocolor"]);
        if let Some(row) = row {
            command.arg("-test").arg(row.to_string());
        }
        if self.options.compat {
            command.arg("-compat");
        }
        environment::apply(self.workspace, &mut command, self.variables);
        let end = group::run_limited(&mut command, &out, &err, ROW_TIMEOUT)?;
        let text = std::fs::read(&out).with_context(|| format!("cannot read {}", out.display()))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let rows: Vec<Row> = text.lines().filter_map(parse_row).collect();
        let said = || {
            let errors = String::from_utf8_lossy(&std::fs::read(&err).unwrap_or_default()).into_owned();
            let line =
                errors.lines().chain(text.lines()).rfind(|line| !line.trim().is_empty() && parse_row(line).is_none());
            line.map(|line| format!(" ({})", line.trim())).unwrap_or_default()
        };
        let why = match end {
            End::Exit(0) => None,
            End::Exit(code) => Some(format!("exit status {code}{}", said())),
            End::Signal(signal) => Some(format!("ended by signal {signal}")),
            End::Timeout => Some(format!("no output for {} s", ROW_TIMEOUT.as_secs())),
        };
        Ok((rows, why))
    }
}

/// The geometric mean of `values`; nothing for an empty list.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// Every row's name, in the order of the driver that has most rows.
fn all_names(figures: &[(GlDriver, Figures)]) -> Vec<&str> {
    let mut by_size: Vec<&Figures> = figures.iter().map(|(_, figures)| figures).collect();
    by_size.sort_by_key(|figures| std::cmp::Reverse(figures.order.len()));
    let mut names: Vec<&str> = Vec::new();
    for name in by_size.iter().flat_map(|figures| &figures.order) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Prints the rates with the ratios of the first driver to each other one, and their geometric means, which are the answer.
fn print_table(figures: &[(GlDriver, Figures)]) -> Vec<(GlDriver, f64)> {
    let Some(((first, ours), others)) = figures.split_first() else { return Vec::new() };
    let names = all_names(figures);
    println!("\nThousands of draws a second (more is better)\n");
    print!("{:<72}", "row");
    for (driver, _) in figures {
        print!(" {:>11}", driver.label());
    }
    for (driver, _) in others {
        print!(" {:>13}", format!("÷ {}", driver.label()));
    }
    println!();
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); others.len()];
    for &name in &names {
        print!("{name:<72}");
        for (_, figures) in figures {
            match figures.rows.get(name) {
                Some(value) => print!(" {value:>11}"),
                None => print!(" {:>11}", "-"),
            }
        }
        for ((_, theirs), ratios) in others.iter().zip(&mut ratios) {
            match (ours.rows.get(name), theirs.rows.get(name)) {
                (Some(&ours), Some(&theirs)) if ours > 0 && theirs > 0 => {
                    let ratio = ours as f64 / theirs as f64;
                    ratios.push(ratio);
                    print!(" {ratio:>13.2}");
                }
                _ => print!(" {:>13}", "-"),
            }
        }
        println!();
    }
    println!();
    for (driver, figures) in figures {
        for &name in names.iter().filter(|name| !figures.rows.contains_key(**name)) {
            println!("{} gave no figure for: {name}", driver.label());
        }
        for sentence in &figures.lost {
            println!("{} did not get through {sentence}", driver.label());
        }
    }
    let mut means = Vec::new();
    for ((driver, _), ratios) in others.iter().zip(ratios) {
        if let Some(mean) = geometric_mean(&ratios) {
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            println!(
                "{} ÷ {}, geometric mean of {} rows: {mean:.2}, least {least:.2}",
                first.label(),
                driver.label(),
                ratios.len()
            );
            means.push((*driver, mean));
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_colours() {
        let plain = "   4, DrawElements ( 1 VBO| 1 UBO|  1 Tex) w/ buffer replacement change,           97, 4.1%";
        let row = parse_row(plain).unwrap();
        assert_eq!((row.number, row.kilodraws), (4, 97));
        assert_eq!(row.name, "DrawElements ( 1 VBO| 1 UBO| 1 Tex) w/ buffer replacement change");
        let coloured = "  39, Draw w/ a, b,      \u{1b}[1;36m  140\u{1b}[0m, \u{1b}[31m5.9%\u{1b}[0m";
        let row = parse_row(coloured).unwrap();
        assert_eq!((row.number, row.name.as_str(), row.kilodraws), (39, "Draw w/ a, b", 140));
    }

    #[test]
    fn the_heading_is_no_row() {
        assert_eq!(parse_row("   #, Test name   ,    Thousands draws/s, Difference vs the 1st"), None);
        assert_eq!(parse_row("Using Core profile."), None);
    }

    #[test]
    fn rows_that_one_driver_leaves_out_do_not_shift_the_others() {
        let row = |number, name: &str| Row { number, name: name.to_string(), kilodraws: 10 };
        let (mut few, mut many) = (Figures::default(), Figures::default());
        few.add(row(1, "a"));
        few.add(row(2, "c"));
        many.add(row(1, "a"));
        many.add(row(2, "b"));
        many.add(row(3, "c"));
        let figures = [(GlDriver::Mgl, few), (GlDriver::Zink, many)];
        assert_eq!(all_names(&figures), ["a", "b", "c"]);
        assert_eq!(figures[0].1.rows["c"], 10);
        assert!(!figures[0].1.rows.contains_key("b"));
        assert_eq!(print_table(&figures), [(GlDriver::Zink, 1.0)]);
    }

    #[test]
    fn the_mean_is_geometric() {
        assert!((geometric_mean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[]), None);
    }
}
