//! `cargo xtask run` and `cargo xtask env`: programs with MGL as their GL driver.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};
use clap::Args;

use crate::driver_dir::{self, DriverDir};
use crate::environment::{self, Backend, DriverChoice, DriverSwitches, Transport};
use crate::exec;
use crate::outcome::Outcome;
use crate::packages;
use crate::workspace::Workspace;

/// Arguments of `run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask run\n  cargo xtask run --png demo.png --frames 200\n  \
                        cargo xtask run --release -- eglinfo -B")]
pub struct RunArgs {
    #[command(flatten)]
    switches: DriverSwitches,
    /// Where the bundled demo writes its picture.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// How many frames the bundled demo draws.
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// The program to run and its arguments; without one, the bundled demo is drawn.
    #[arg(trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

/// Arguments of `env`.
#[derive(Args, Debug)]
pub struct EnvArgs {
    #[command(flatten)]
    switches: DriverSwitches,
    /// Print the exports of a driver that has been built before, without building.
    #[arg(long)]
    no_build: bool,
}

/// Builds MGL and runs a program with it.
pub fn run(args: RunArgs) -> Result<Outcome> {
    let choice = match chosen(&args.switches) {
        Ok(choice) => choice,
        Err(outcome) => return Ok(outcome),
    };
    let workspace = Workspace::find();
    packages::ensure(&workspace, packages::FOR_RUN)?;
    // A server that was started before has found its own.
    if choice.backend == Backend::Magma && !matches!(choice.transport, Transport::Unix(_)) {
        require_vulkan_driver()?;
    }
    let dir = driver_dir::build(&workspace, choice.release, &[])?;
    if let Transport::Unix(path) = &choice.transport {
        require_server(path, &dir)?;
    }
    let mut command = match args.program.split_first() {
        Some((program, rest)) => {
            if args.png.is_some() || args.frames.is_some() {
                bail!(
                    "--png and --frames are for the bundled demo; a program of your own takes its arguments after --"
                );
            }
            let mut command = Command::new(program);
            command.args(rest);
            command
        }
        None => {
            build_demo(&workspace, choice.release)?;
            demo(&workspace, choice.release, &args)
        }
    };
    let program = command.get_program().to_string_lossy().into_owned();
    environment::apply(&workspace, &mut command, &environment::variables(&workspace, &dir, &choice));
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Outcome::Done),
        (Some(code), _) => Ok(Outcome::Exit(u8::try_from(code).unwrap_or(1))),
        (None, Some(signal)) => {
            eprintln!("{program} was ended by signal {signal}");
            Ok(Outcome::Exit(u8::try_from(128 + signal).unwrap_or(1)))
        }
        (None, None) => Ok(Outcome::Failed),
    }
}

/// Prints the exports that make any program use MGL.
pub fn env(args: EnvArgs) -> Result<Outcome> {
    let choice = match chosen(&args.switches) {
        Ok(choice) => choice,
        Err(outcome) => return Ok(outcome),
    };
    let workspace = Workspace::find();
    let dir: DriverDir = if args.no_build {
        driver_dir::lay_out(&workspace, choice.release)?
    } else {
        packages::ensure(&workspace, packages::FOR_RUN)?;
        driver_dir::build(&workspace, choice.release, &[])?
    };
    for (name, value) in environment::variables(&workspace, &dir, &choice) {
        println!("export {name}={}", environment::shell_quote(&value.to_string_lossy()));
    }
    Ok(Outcome::Done)
}

/// What the switches and the environment choose; when that cannot be had, says so and answers how the command ends.
fn chosen(switches: &DriverSwitches) -> Result<DriverChoice, Outcome> {
    switches.choice(|name| std::env::var_os(name)).map_err(|sentence| {
        eprintln!("error: {sentence}");
        Outcome::Usage
    })
}

/// Stops with what to do when nothing listens at a server's path.
fn require_server(path: &Path, dir: &DriverDir) -> Result<()> {
    if !path.exists() {
        bail!(
            "there is no server at {}. Start one in another shell, it serves any number of programs:\n\n    \
             {} --listen {}\n",
            path.display(),
            dir.path.join(driver_dir::SERVER).display(),
            path.display()
        );
    }
    Ok(())
}

/// Stops early, with what to do, when no Vulkan driver is installed.
fn require_vulkan_driver() -> Result<()> {
    if packages::vulkan_manifests().is_empty() {
        bail!(
            "no Vulkan driver was found (no manifest in the directories that the Vulkan loader reads, or \
             VK_ICD_FILENAMES names a file that is not there).\n  For a GPU, install its vendor's driver; for \
             drawing on the processor, the Debian package mesa-vulkan-drivers.\n  `cargo xtask doctor` shows what \
             is there."
        );
    }
    Ok(())
}

fn build_demo(workspace: &Workspace, release: bool) -> Result<()> {
    let mut args = vec!["build", "--package", "mgl-tests", "--bin", "mgl-demo"];
    if release {
        args.push("--release");
    }
    let log = workspace.log("build-demo");
    let finished = exec::logged(&mut workspace.cargo(&args), "building the demo", &log)?;
    if !finished.status.success() {
        finished.print_tail(30);
        bail!("building the demo failed");
    }
    Ok(())
}

fn demo(workspace: &Workspace, release: bool, args: &RunArgs) -> Command {
    let binary = workspace.target.join(driver_dir::profile_dir(release)).join("mgl-demo");
    let mut command = Command::new(binary);
    let png = args.png.clone().unwrap_or_else(|| PathBuf::from("mgl-demo.png"));
    command.arg("--png").arg(png);
    if let Some(frames) = args.frames {
        command.arg("--frames").arg(frames.to_string());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Run {
        #[command(flatten)]
        args: RunArgs,
    }

    fn parse(words: &[&str]) -> Result<Vec<String>, clap::Error> {
        Run::try_parse_from([&["run"][..], words].concat()).map(|run| run.args.program)
    }

    #[test]
    fn a_mistyped_switch_is_no_program() {
        let error = parse(&["--transpot", "spawn"]).unwrap_err();
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::UnknownArgument, 2));
        assert!(error.to_string().contains("'--transport'"), "{error}");
        assert_eq!(parse(&["-x", "program"]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn programs_keep_their_own_switches() {
        assert_eq!(parse(&["--release", "eglinfo", "-B", "--release"]).unwrap(), ["eglinfo", "-B", "--release"]);
        assert_eq!(parse(&["--", "-prog", "--transpot"]).unwrap(), ["-prog", "--transpot"]);
        assert!(parse(&["--shadow"]).unwrap().is_empty());
    }
}
