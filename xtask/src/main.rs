//! Commands of the MGL repository: run a program on MGL, test, measure, and look at the machine.
// The one exception reads Vulkan for `doctor`; it allows itself `unsafe` in its own file.
#![deny(unsafe_code)]

mod bench;
mod codegen;
mod doctor;
mod driver_dir;
mod environment;
mod exec;
mod gl_driver;
mod group;
mod install;
mod law;
mod outcome;
mod packages;
mod piglit;
mod processes;
mod python;
mod run;
mod switches;
mod test;
mod tidy;
mod trace;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::outcome::Outcome;

/// Builds, runs, tests and measures MGL, a desktop OpenGL driver.
///
/// Start with `cargo xtask run`: it installs what is missing, builds the driver and draws a demo with it.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build MGL and run a GL program (or the bundled demo) with it.
    Run(run::RunArgs),
    /// Print shell exports that make any program started from the shell use MGL.
    ///
    /// Use it as: eval "$(cargo xtask env)"
    Env(run::EnvArgs),
    /// Run every check and every test; the last line printed is `N passed, N failed`.
    Test(test::TestArgs),
    /// Run piglit tests by name, on MGL or on Mesa, and compare with what is expected.
    Piglit(piglit::PiglitArgs),
    /// Measure, and print ratios taken in one run; `cargo xtask help bench` names every bench and what it prints.
    Bench(bench::BenchArgs),
    /// Look into a recording that `MGL_RECORD=FILE` made: its calls, its figures, what differs from another.
    Trace(trace::TraceArgs),
    /// Draw a recording again, on either backend and transport, and write what it showed as pictures.
    Replay(trace::ReplayArgs),
    /// Show which drivers, devices, extensions and limits this machine has, and what each missing one costs.
    Doctor(doctor::DoctorArgs),
    /// Install the driver into a folder or the system, for programs that know nothing of this checkout.
    Install(install::InstallArgs),
    /// Remove exactly what `install` wrote.
    Uninstall(install::UninstallArgs),
    /// Build a Debian package of the driver.
    Deb(install::DebArgs),
    /// Write the generated entry points from the Khronos registry.
    Codegen {
        /// Write nothing; fail when a committed file is out of date.
        #[arg(long)]
        check: bool,
        /// Print the frontend method that each entry point is mapped to, and stop.
        #[arg(long, conflicts_with = "check")]
        print_names: bool,
    },
    /// Check the allowed dependencies between the crates.
    Law,
    /// Check the house rules that need no compiler: first lines, file lengths, names, machine paths.
    Tidy,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => run::run(args),
        Command::Env(args) => run::env(args),
        Command::Test(args) => test::run(args),
        Command::Piglit(args) => piglit::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Replay(args) => trace::replay(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Install(args) => install::install(args),
        Command::Uninstall(args) => install::uninstall(args),
        Command::Deb(args) => install::deb(args),
        Command::Codegen { print_names: true, .. } => codegen::print_names().map(|()| Outcome::Done),
        Command::Codegen { check, .. } => codegen::run(check).map(|()| Outcome::Done),
        Command::Law => law::run(),
        Command::Tidy => tidy::run(),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Ok(Outcome::Usage) => ExitCode::from(2),
        Ok(Outcome::Exit(code)) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_bench_and_what_it_prints() {
        let mut cli = Cli::command();
        let text = cli.find_subcommand_mut("bench").unwrap().render_long_help().to_string();
        for bench in <super::bench::Bench as clap::ValueEnum>::value_variants() {
            let value = clap::ValueEnum::to_possible_value(bench).unwrap();
            let help = value.get_help().unwrap().to_string();
            assert!(help.len() > 30, "{help}");
            assert!(text.contains(&format!("- {}:", value.get_name())), "{} is not in\n{text}", value.get_name());
        }
    }
}
