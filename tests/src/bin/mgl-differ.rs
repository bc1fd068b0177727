//! Runs random sequences of GL calls on MGL and on a reference and reports where they differ.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use mgl_tests::differ::sequence::sequence;
use mgl_tests::differ::{enumerants, extensions, worker, Differ};
use mgl_tests::driver::Driver;

/// Compares the errors, answers, state and pictures of random sequences of GL calls.
#[derive(Parser)]
struct Arguments {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// How many seeds.
    #[arg(long, default_value_t = 300)]
    count: u64,
    /// The driver under test.
    #[arg(long, default_value = "magma/monolith")]
    driver: String,
    /// What it is compared with.
    #[arg(long, default_value = "llvmpipe")]
    reference: String,
    /// The folder for files.
    #[arg(long, default_value = "target/differ")]
    out: PathBuf,
    /// Look for the fewest calls that show each finding.
    #[arg(long)]
    shrink: bool,
    /// Print every finding, not one of each topic.
    #[arg(long)]
    all: bool,
    /// Want the same error where both drivers raise one; calls that are wrong in several ways make noise then.
    #[arg(long)]
    strict: bool,
    /// Leave the Vulkan validation layer out.
    #[arg(long)]
    no_validation: bool,
    /// Print the sequences and run nothing.
    #[arg(long)]
    print: bool,
    /// Run the sequences in this process, on the driver of the environment, and write what came of them to `--out`.
    #[arg(long)]
    worker: bool,
    /// Compare what every query and setter makes of every enumerant, instead of sequences.
    #[arg(long)]
    enumerants: bool,
    /// Print the extensions of the driver of the environment.
    #[arg(long)]
    extensions: bool,
    /// Only these calls of a sequence, by number.
    #[arg(long, default_value = "")]
    only: String,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let seeds = arguments.first..arguments.first.saturating_add(arguments.count);
    let only = arguments.only.split(',').filter_map(|n| n.parse().ok()).collect();
    if arguments.print {
        for seed in seeds {
            println!("seed {seed}");
            for (at, call) in sequence(seed).iter().enumerate() {
                println!("  {at:3} {call}");
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.extensions {
        println!("{}", extensions::own()?.join(" "));
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.worker && arguments.enumerants {
        enumerants::work(&arguments.out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.worker {
        worker::work(seeds, &only, &arguments.out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (driver, reference) = (Driver::parse(&arguments.driver)?, Driver::parse(&arguments.reference)?);
    driver.available()?;
    let mut differ = Differ {
        runner: std::env::current_exe()?,
        driver,
        reference,
        folder: arguments.out,
        validation: !arguments.no_validation,
        timeout: Duration::from_secs(60),
        hidden: String::new(),
        strict: arguments.strict,
    };
    differ.hidden = extensions::hidden(&differ)?;
    if arguments.enumerants {
        let (differing, excused) = differ.enumerants()?;
        differing.iter().for_each(|line| println!("{line}"));
        excused.iter().for_each(|(reason, count)| println!("excused {count} times: {reason}"));
        println!("{} answers differ", differing.len());
        return Ok(if differing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let summary = differ.run(seeds)?;
    let mut topics: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for (seed, topic, what) in &summary.findings {
        topics.entry(topic).or_default().push((*seed, what));
    }
    for (topic, findings) in &topics {
        println!("{topic}: {} seeds", findings.len());
        let shown = if arguments.all { findings.len() } else { 1 };
        for (seed, what) in findings.iter().take(shown) {
            println!("  seed {seed}: {what}");
            if arguments.shrink {
                let calls = sequence(*seed);
                for at in differ.shrink(*seed, topic)? {
                    println!("    {at:3} {}", calls[at]);
                }
            }
        }
    }
    for (seed, how) in &summary.no_reference {
        println!("reference fails on seed {seed}: {how}");
    }
    for (reason, count) in &summary.excused {
        println!("excused {count} times: {reason}");
    }
    println!(
        "{} the same, {} excused, {} without reference, {} different",
        summary.same,
        summary.excused.values().sum::<u64>(),
        summary.no_reference.len(),
        summary.findings.len()
    );
    Ok(if summary.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
