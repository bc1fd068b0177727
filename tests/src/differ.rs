//! Random sequences of GL calls, right and wrong ones, on MGL and on a reference: the errors, answers, state and pictures
//! have to be the same.

pub mod compare;
pub mod enumerants;
mod exceptions;
mod expected;
pub mod extensions;
pub mod kinds;
pub mod ops;
pub mod sequence;
pub mod worker;

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use self::compare::{compare, Trace, Verdict};
use self::sequence::sequence;
use self::worker::Only;
use crate::driver::Driver;

/// Runs sequences in child processes.
pub struct Differ {
    /// The program that runs sequences with `--worker`.
    pub runner: PathBuf,
    /// The driver under test.
    pub driver: Driver,
    /// What it is compared with.
    pub reference: Driver,
    /// For files.
    pub folder: PathBuf,
    /// Whether the Vulkan validation layer watches.
    pub validation: bool,
    /// How long one sequence may take.
    pub timeout: Duration,
    /// Extensions that the reference has and the driver under test has not, as Mesa wants to read them.
    pub hidden: String,
    /// Whether both have to raise the same error where both raise one.
    pub strict: bool,
}

/// What came of the sequences of a range.
#[derive(Debug, Default)]
pub struct Summary {
    /// Number of sequences on which both agree.
    pub same: u64,
    /// Excused differences by reason.
    pub excused: BTreeMap<&'static str, u64>,
    /// Sequences that the reference did not survive.
    pub no_reference: Vec<(u64, String)>,
    /// Findings: seed, topic and text.
    pub findings: Vec<(u64, String, String)>,
}

impl Differ {
    /// Runs all sequences of a range on both drivers and compares.
    pub fn run(&self, seeds: Range<u64>) -> Result<Summary> {
        let mut summary = Summary::default();
        let (own, reference) = std::thread::scope(|scope| {
            let own = scope.spawn(|| self.traces(&self.driver, seeds.clone(), &Only::new(), "own"));
            let reference = self.traces(&self.reference, seeds.clone(), &Only::new(), "reference");
            (own.join(), reference)
        });
        let own = own.map_err(|_| anyhow::anyhow!("the thread of the driver under test panicked"))??;
        let reference = reference?;
        for seed in seeds {
            let nothing = Trace { lines: Vec::new(), broken: Some("no trace".into()) };
            let (a, b) = (own.get(&seed).unwrap_or(&nothing), reference.get(&seed).unwrap_or(&nothing));
            match compare(seed, a, b, self.strict) {
                Verdict::Same => summary.same += 1,
                Verdict::Excused(reason) => *summary.excused.entry(reason).or_default() += 1,
                Verdict::NoReference(how) => summary.no_reference.push((seed, how)),
                Verdict::Different { topic, what } => summary.findings.push((seed, topic, what)),
            }
        }
        Ok(summary)
    }

    /// The smallest set of calls that still shows the finding of this topic, found by leaving out halves, quarters and so on.
    pub fn shrink(&self, seed: u64, topic: &str) -> Result<Only> {
        let mut kept: Vec<usize> = (0..sequence(seed).len()).collect();
        let mut size = kept.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < kept.len() {
                let fewer: Only = kept
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| !(at..at + size).contains(i))
                    .map(|(_, call)| *call)
                    .collect();
                if !fewer.is_empty() && self.shows(seed, &fewer, topic)? {
                    kept = fewer.into_iter().collect();
                } else {
                    at += size;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        Ok(kept.into_iter().collect())
    }

    fn shows(&self, seed: u64, only: &Only, topic: &str) -> Result<bool> {
        let traces = |driver, name| self.traces(driver, seed..seed + 1, only, name);
        let (own, reference) = (traces(&self.driver, "own")?, traces(&self.reference, "reference")?);
        let nothing = Trace::default();
        let (own, reference) = (own.get(&seed).unwrap_or(&nothing), reference.get(&seed).unwrap_or(&nothing));
        let verdict = compare(seed, own, reference, self.strict);
        Ok(matches!(verdict, Verdict::Different { topic: found, .. } if found == topic))
    }

    /// What every query and setter makes of every enumerant, on both drivers: the lines in which they differ without a known
    /// reason, and how often each known reason was met.
    pub fn enumerants(&self) -> Result<(Vec<String>, BTreeMap<&'static str, u64>)> {
        let mut sides = Vec::new();
        for (driver, name) in [(&self.driver, "own"), (&self.reference, "reference")] {
            let scratch = self.folder.join(name);
            let out = scratch.join("enumerants.txt");
            let mut command = self.command(driver, &scratch)?;
            let output = command.arg("--enumerants").arg("--worker").arg("--out").arg(&out).output()?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            anyhow::ensure!(output.status.success(), "{}: {}: {said}", driver.name(), output.status);
            let text = std::fs::read_to_string(&out)?;
            let key = |line: &str| line.splitn(4, ' ').take(3).collect::<Vec<_>>().join(" ");
            sides.push(
                text.lines().map(|line| (key(line), line[key(line).len()..].to_owned())).collect::<BTreeMap<_, _>>(),
            );
        }
        let nothing = " 0x0500".to_owned();
        let keys: std::collections::BTreeSet<&String> = sides[0].keys().chain(sides[1].keys()).collect();
        let of = |side: usize, key: &String| sides[side].get(key).unwrap_or(&nothing).clone();
        let (mut found, mut excused) = (Vec::new(), BTreeMap::new());
        for key in keys {
            let (own, reference) = (of(0, key), of(1, key));
            let mut parts = key.split(' ').skip(1);
            let function = parts.next().unwrap_or("");
            let enumerant = parts.next().and_then(|n| u32::from_str_radix(n.trim_start_matches("0x"), 16).ok());
            match enumerant.and_then(|enumerant| expected::reason(function, enumerant, &own, &reference)) {
                _ if own == reference => {}
                Some(reason) => *excused.entry(reason).or_default() += 1,
                None => found.push(format!("{key}:{own}, reference{reference}")),
            }
        }
        Ok((found, excused))
    }

    /// A command that runs on one of the drivers.
    pub fn command(&self, driver: &Driver, scratch: &Path) -> Result<Command> {
        let mut command = Command::new(&self.runner);
        std::fs::create_dir_all(scratch).with_context(|| format!("{}", scratch.display()))?;
        driver.apply(&mut command, scratch)?;
        if matches!(driver, Driver::Mgl { .. }) {
            if self.validation {
                let log = scratch.join("validation.log");
                std::fs::write(&log, "")?;
                command.env("MGL_VALIDATION", "1").env("MGL_VALIDATION_LOG", std::path::absolute(log)?);
            }
        } else {
            // The same version and extensions, so that the same enumerants are legal.
            command.env("MESA_GL_VERSION_OVERRIDE", "3.3").env("MESA_EXTENSION_OVERRIDE", &self.hidden);
            command.env("MESA_DEBUG", "silent");
        }
        Ok(command)
    }

    /// Runs sequences in as many processes as it takes: one that dies costs the sequence it was in.
    fn traces(&self, driver: &Driver, seeds: Range<u64>, only: &Only, name: &str) -> Result<BTreeMap<u64, Trace>> {
        let scratch = self.folder.join(name);
        let out = scratch.join("trace.txt");
        let mut traces = BTreeMap::new();
        let mut next = seeds.start;
        while next < seeds.end {
            let mut command = self.command(driver, &scratch)?;
            std::fs::write(&out, "")?;
            let list: Vec<String> = only.iter().map(usize::to_string).collect();
            command.args(["--worker", "--first", &next.to_string(), "--count", &(seeds.end - next).to_string()]);
            command.arg("--out").arg(&out).arg(format!("--only={}", list.join(",")));
            let stderr = std::fs::File::create(scratch.join("stderr.txt"))?;
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
            let mut child = command.spawn().with_context(|| format!("{}", self.runner.display()))?;
            let (mut length, mut since) = (0, Instant::now());
            let broken = loop {
                if let Some(status) = child.try_wait()? {
                    let how = || status.signal().map_or_else(|| status.to_string(), |s| format!("signal {s}"));
                    break (!status.success()).then(how);
                }
                let now = std::fs::metadata(&out).map_or(0, |m| m.len());
                if now != length {
                    (length, since) = (now, Instant::now());
                } else if since.elapsed() > self.timeout {
                    child.kill()?;
                    child.wait()?;
                    break Some(format!("no end after {} s", self.timeout.as_secs()));
                }
                std::thread::sleep(Duration::from_millis(5));
            };
            let text = String::from_utf8_lossy(&std::fs::read(&out)?).into_owned();
            let started = parse(&text, &mut traces);
            let Some(broken) = broken else { break };
            // Where nothing was started, the driver itself does not work, and the first sequence shows it.
            let culprit = started.filter(|seed| text.rfind(&format!("end {seed}\n")).is_none()).unwrap_or(next);
            let tail = std::fs::read(scratch.join("stderr.txt")).unwrap_or_default();
            let tail = String::from_utf8_lossy(&tail).lines().last().unwrap_or("").to_owned();
            let trace: &mut Trace = traces.entry(culprit).or_default();
            trace.broken = Some(format!("{broken} ({})", tail.chars().take(160).collect::<String>()));
            next = culprit + 1;
        }
        Ok(traces)
    }
}

/// Splits what a worker wrote into traces; the last sequence that was started.
fn parse(text: &str, traces: &mut BTreeMap<u64, Trace>) -> Option<u64> {
    let mut current = None;
    for line in text.lines() {
        if let Some(seed) = line.strip_prefix("seed ").and_then(|s| s.parse().ok()) {
            current = Some(seed);
            traces.insert(seed, Trace::default());
        } else if let Some(trace) = current.and_then(|seed| traces.get_mut(&seed)) {
            if !line.starts_with("end ") {
                trace.lines.push(line.to_owned());
            }
        }
    }
    current
}
