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
use crate::piglit::catalogue;
use crate::workspace::Workspace;

/// A row that prints nothing for so long is ended.
const ROW_TIMEOUT: Duration = Duration::from_secs(60);

/// Options of the draw overhead measurement.
#[derive(Args, Debug)]
pub struct Options {
    /// drawoverhead: the drivers, in the order in which they are measured.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mgl,zink,llvmpipe")]
    drivers: Vec<GlDriver>,
    /// drawoverhead: only these row numbers.
    #[arg(long, value_delimiter = ',', value_name = "N,N,…")]
    rows: Vec<u32>,
    /// drawoverhead: how often the whole is repeated; the best figure of each row counts.
    #[arg(long, default_value_t = 1, value_name = "N")]
    repeat: u32,
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
#[derive(Clone, Debug, Default)]
struct Figures {
    rows: BTreeMap<u32, u64>,
    lost: BTreeMap<u32, String>,
}

/// Measures and prints the table. False when a driver that was asked for gave no figure at all.
pub fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    let program = catalogue::data_dir()?.join("bin").join("drawoverhead");
    let release = !options.debug_build;
    if options.drivers.contains(&GlDriver::Mgl) {
        driver_dir::build(workspace, release, &[])?;
    }
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    let mut figures: Vec<(GlDriver, Figures)> =
        options.drivers.iter().map(|&driver| (driver, Figures::default())).collect();
    for round in 0..options.repeat.max(1) {
        for (driver, figures) in &mut figures {
            let variables = driver.variables(workspace, release)?;
            let mut progress = Progress::spinner(&format!("drawoverhead on {} (round {})", driver.label(), round + 1));
            let mut bench = Runner { workspace, program: &program, options, variables: &variables, names: &mut names };
            let found = bench.all(*driver, &mut progress)?;
            progress.finish(&format!("{} rows, {} not", found.rows.len(), found.lost.len()));
            for (number, value) in found.rows {
                let best = figures.rows.entry(number).or_default();
                *best = (*best).max(value);
                figures.lost.remove(&number);
            }
            for (number, why) in found.lost {
                if !figures.rows.contains_key(&number) {
                    figures.lost.insert(number, why);
                }
            }
        }
    }
    print_table(&names, &figures);
    if !options.no_limit {
        bare_vulkan(workspace)?;
    }
    Ok(figures.iter().all(|(_, figures)| !figures.rows.is_empty()))
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
    names: &'a mut BTreeMap<u32, String>,
}

impl Runner<'_> {
    /// All rows in one process; rows that are missing afterwards are tried one by one, so that one bad row costs only
    /// itself.
    fn all(&mut self, driver: GlDriver, progress: &mut Progress) -> Result<Figures> {
        let mut figures = Figures::default();
        if self.options.rows.is_empty() {
            progress.update("all rows in one process");
            let (rows, why) = self.start(driver, None)?;
            for row in rows {
                figures.rows.insert(row.number, row.kilodraws);
                self.names.insert(row.number, row.name);
            }
            if let Some(why) = why {
                exec::say(format!("    {}: {why} after row {}", driver.label(), figures.rows.len()));
                let known: Vec<u32> = self.names.keys().copied().collect();
                let last = known.last().copied().unwrap_or(39).max(39);
                let missing: Vec<u32> = (1..=last).filter(|number| !figures.rows.contains_key(number)).collect();
                self.singly(driver, &missing, &mut figures, progress)?;
            }
        } else {
            let rows = self.options.rows.clone();
            self.singly(driver, &rows, &mut figures, progress)?;
        }
        Ok(figures)
    }

    fn singly(&mut self, driver: GlDriver, rows: &[u32], figures: &mut Figures, progress: &mut Progress) -> Result<()> {
        for &number in rows {
            progress.update(&format!("row {number}"));
            let (found, why) = self.start(driver, Some(number))?;
            match found.into_iter().find(|row| row.number == number) {
                Some(row) => {
                    figures.rows.insert(number, row.kilodraws);
                    self.names.insert(number, row.name);
                }
                None => {
                    figures.lost.insert(number, why.unwrap_or_else(|| "printed no figure".to_string()));
                }
            }
        }
        Ok(())
    }

    /// Starts drawoverhead once. The second value says what went wrong, if anything did.
    fn start(&self, driver: GlDriver, row: Option<u32>) -> Result<(Vec<Row>, Option<String>)> {
        let out = self.workspace.log(&format!("drawoverhead-{}", driver.label().to_lowercase()));
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

fn print_table(names: &BTreeMap<u32, String>, figures: &[(GlDriver, Figures)]) {
    let of = |driver: GlDriver| figures.iter().find(|(other, _)| *other == driver).map(|(_, figures)| figures);
    let mgl = of(GlDriver::Mgl);
    let zink = of(GlDriver::Zink);
    println!("\nThousands of draws a second (more is better)\n");
    print!("{:>3}  {:<72}", "#", "row");
    for (driver, _) in figures {
        print!(" {:>9}", driver.label());
    }
    println!("{}", if mgl.is_some() && zink.is_some() { "   MGL/Zink" } else { "" });
    let mut ratios = Vec::new();
    for (number, name) in names {
        print!("{number:>3}  {name:<72}");
        for (_, figures) in figures {
            match figures.rows.get(number) {
                Some(value) => print!(" {value:>9}"),
                None => print!(" {:>9}", "-"),
            }
        }
        if let (Some(mgl), Some(zink)) = (mgl, zink) {
            match (mgl.rows.get(number), zink.rows.get(number)) {
                (Some(&ours), Some(&theirs)) if ours > 0 && theirs > 0 => {
                    let ratio = ours as f64 / theirs as f64;
                    ratios.push(ratio);
                    print!("   {ratio:>8.2}");
                }
                _ => print!("   {:>8}", "-"),
            }
        }
        println!();
    }
    println!();
    for (driver, figures) in figures {
        for (number, why) in &figures.lost {
            let name = names.get(number).map(String::as_str).unwrap_or("(name unknown)");
            println!("{} did not get through row {number}, {name}: {why}", driver.label());
        }
    }
    if let Some(mean) = geometric_mean(&ratios) {
        println!("MGL ÷ Zink, geometric mean of {} rows: {mean:.2}", ratios.len());
    }
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
    fn the_mean_is_geometric() {
        assert!((geometric_mean(&[0.5, 2.0]).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[]), None);
    }
}
