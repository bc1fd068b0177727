//! `cargo xtask trace` and `cargo xtask replay`: what `MGL_RECORD=FILE` recorded, as text, as figures and drawn again.
//!
//! A recording has the calls behind OpenGL, with their state resolved: what a draw needs stands in the calls before it, as
//! the backend gets it.

mod replay;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use clap::{Args, Subcommand};
use mgpipe_types::flush_flags;
use mgpipe_wire::{recording_text, split_record, Call};
use similar::TextDiff;

use crate::outcome::Outcome;

pub use replay::{replay, ReplayArgs};

/// Length of the magic and the catalogue's fingerprint, which a recording starts with.
const HEAD: usize = 16;

#[derive(Args)]
pub struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Subcommand)]
enum TraceCommand {
    /// Print the calls, one a line, each with its number in the recording
    Dump {
        /// A recording
        file: PathBuf,
        /// Only calls with this text in their line
        #[arg(long)]
        only: Option<String>,
        /// The number of the first call to print
        #[arg(long, default_value_t = 0)]
        from: usize,
        /// How many calls to print at most
        #[arg(long)]
        count: Option<usize>,
    },
    /// Print what differs between the calls of two recordings; the exit status is 1 when something does
    Diff {
        /// The recording on the `-` side
        first: PathBuf,
        /// The recording on the `+` side
        second: PathBuf,
    },
    /// Print how many calls and bytes of each kind there are, in all and by frame
    Stats {
        /// A recording
        file: PathBuf,
    },
}

/// `cargo xtask trace`.
pub fn run(args: TraceArgs) -> Result<Outcome> {
    match args.command {
        TraceCommand::Dump { file, only, from, count } => dump(&file, only.as_deref(), from, count),
        TraceCommand::Diff { first, second } => diff(&first, &second),
        TraceCommand::Stats { file } => stats(&file),
    }
}

/// A recording's bytes, 8-aligned as the decoder wants them.
struct Recording {
    words: Vec<u64>,
    length: usize,
}

impl Recording {
    fn load(path: &Path) -> Result<Recording> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(&bytes);
        Ok(Recording { words, length: bytes.len() })
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.length]
    }

    fn text(&self, path: &Path) -> Result<String> {
        recording_text(self.bytes()).with_context(|| path.display().to_string())
    }
}

/// Prints; a pipe that was closed (`| head`) ends the command and is no error.
fn print(line: std::fmt::Arguments<'_>) -> Result<bool> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true).context("cannot print"),
    }
}

fn dump(path: &Path, only: Option<&str>, from: usize, count: Option<usize>) -> Result<Outcome> {
    let text = Recording::load(path)?.text(path)?;
    let lines = text.lines().enumerate().skip(from);
    let wanted = lines.filter(|(_, line)| only.is_none_or(|only| line.contains(only)));
    for (number, line) in wanted.take(count.unwrap_or(usize::MAX)) {
        if !print(format_args!("{number:>8} {line}"))? {
            break;
        }
    }
    Ok(Outcome::Done)
}

fn diff(first: &Path, second: &Path) -> Result<Outcome> {
    let (old, new) = (Recording::load(first)?.text(first)?, Recording::load(second)?.text(second)?);
    if old == new {
        println!("the same {} calls", old.lines().count());
        return Ok(Outcome::Done);
    }
    let difference = TextDiff::from_lines(&old, &new);
    let (a, b) = (first.display().to_string(), second.display().to_string());
    for line in difference.unified_diff().header(&a, &b).to_string().lines() {
        if !print(format_args!("{line}"))? {
            break;
        }
    }
    Ok(Outcome::Failed)
}

/// Calls and bytes of one kind.
#[derive(Default, Clone)]
struct Sum {
    calls: u64,
    bytes: u64,
}

/// What a recording has, by the name of the call, and its frames.
fn sums(recording: &[u8]) -> Result<(Vec<(&'static str, Sum)>, u64)> {
    // Says what is wrong with a file that is no recording, or one of another version.
    recording_text(recording)?;
    let mut rest = recording.get(HEAD..).unwrap_or_default();
    let mut sums: Vec<(&'static str, Sum)> = Vec::new();
    let mut frames = 0;
    while !rest.is_empty() {
        let (header, _, behind) = split_record(rest)?;
        if let Ok((call, _)) = Call::decode(rest) {
            let name = call.opcode().info().name;
            let at = sums.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                sums.push((name, Sum::default()));
                sums.len() - 1
            });
            sums[at].1.calls += 1;
            sums[at].1.bytes += u64::from(header.size);
            frames += match call {
                Call::Present { .. } => 1,
                Call::Flush { flush } if flush.flags & flush_flags::END_OF_FRAME != 0 => 1,
                _ => 0,
            };
        }
        rest = behind;
    }
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.bytes));
    Ok((sums, frames))
}

fn stats(path: &Path) -> Result<Outcome> {
    let recording = Recording::load(path)?;
    let (sums, frames) = sums(recording.bytes()).with_context(|| path.display().to_string())?;
    if sums.is_empty() {
        bail!("{}: a recording without calls", path.display());
    }
    let by_frame = |n: u64| if frames == 0 { "-".to_string() } else { format!("{:.1}", n as f64 / frames as f64) };
    println!("{:<32} {:>12} {:>14} {:>12} {:>14}", "call", "calls", "bytes", "calls/frame", "bytes/frame");
    for (name, sum) in &sums {
        let Sum { calls, bytes } = *sum;
        println!("{name:<32} {calls:>12} {bytes:>14} {:>12} {:>14}", by_frame(calls), by_frame(bytes));
    }
    let calls: u64 = sums.iter().map(|(_, sum)| sum.calls).sum();
    let bytes: u64 = sums.iter().map(|(_, sum)| sum.bytes).sum();
    println!("{:<32} {calls:>12} {bytes:>14} {:>12} {:>14}", "all", by_frame(calls), by_frame(bytes));
    println!("{frames} frames");
    Ok(Outcome::Done)
}
