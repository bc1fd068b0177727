//! Runs named scenarios on the GL driver that the environment, or `--driver`, selects.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use mgl_tests::driver::Driver;
use mgl_tests::verdict::Outcome;
use mgl_tests::{runner, scenarios};

/// Runs scenarios and writes a JSON verdict and PNG pictures for each.
#[derive(Parser)]
struct Arguments {
    /// Print the names of all scenarios.
    #[arg(long)]
    list: bool,
    /// Scenarios to run, separated by commas; `all` for every one.
    #[arg(long, value_delimiter = ',')]
    run: Vec<String>,
    /// The folder for verdicts and pictures.
    #[arg(long, default_value = "target/scenarios")]
    out: PathBuf,
    /// llvmpipe, zink, magma/monolith, …; by default the environment decides.
    #[arg(long, default_value = "inherited")]
    driver: String,
    /// Run in this process, without a supervisor: a crash ends everything (useful under a debugger).
    #[arg(long)]
    worker: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.list {
        for scenario in scenarios::all().iter().filter(|s| !s.control) {
            println!("{}", scenario.name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<String> = if arguments.run.iter().any(|n| n == "all") {
        scenarios::all().iter().filter(|s| !s.control).map(|s| s.name.to_owned()).collect()
    } else {
        arguments.run
    };
    if arguments.worker {
        runner::work(&names, &arguments.out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let driver = Driver::parse(&arguments.driver)?;
    driver.available()?;
    let exe = std::env::current_exe()?;
    let verdicts = runner::supervise(&exe, &driver, &names, &arguments.out, runner::scenario_timeout(), &[])?;
    let mut n_bad = 0;
    for verdict in verdicts.values() {
        println!(
            "{:8} {:40} {:8.1} ms",
            format!("{:?}", verdict.outcome).to_lowercase(),
            verdict.name,
            verdict.milliseconds
        );
        if verdict.outcome != Outcome::Pass {
            for message in &verdict.messages {
                println!("         {}", message.replace('\n', "\n         "));
            }
        }
        n_bad += usize::from(!matches!(verdict.outcome, Outcome::Pass | Outcome::Skip));
    }
    if let Some(v) = verdicts.values().find(|v| !v.renderer.is_empty()) {
        println!("{} scenarios, {n_bad} bad, on {} ({})", verdicts.len(), v.renderer, v.version);
    }
    Ok(if n_bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
