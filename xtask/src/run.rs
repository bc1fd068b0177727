//! `cargo xtask run` and `cargo xtask env`: programs with MGL as their GL driver.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{bail, Context, Result};
use clap::Args;

use crate::driver_dir::{self, DriverDir};
use crate::environment::{self, Backend, DriverChoice};
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
    choice: DriverChoice,
    /// Where the bundled demo writes its picture.
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// How many frames the bundled demo draws.
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// The program to run and its arguments; without one, the bundled demo is drawn.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

/// Arguments of `env`.
#[derive(Args, Debug)]
pub struct EnvArgs {
    #[command(flatten)]
    choice: DriverChoice,
    /// Print the exports of a driver that has been built before, without building.
    #[arg(long)]
    no_build: bool,
}

/// Builds MGL and runs a program with it.
pub fn run(args: RunArgs) -> Result<Outcome> {
    if let Some(sentence) = args.choice.not_yet() {
        eprintln!("{sentence}");
        return Ok(Outcome::NotYet);
    }
    let workspace = Workspace::find();
    packages::ensure(&workspace, packages::FOR_RUN)?;
    if args.choice.backend == Backend::Magma {
        require_vulkan_driver()?;
    }
    let dir = driver_dir::build(&workspace, args.choice.release, &[])?;
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
            build_demo(&workspace, args.choice.release)?;
            demo(&workspace, &args)
        }
    };
    let program = command.get_program().to_string_lossy().into_owned();
    environment::apply(&workspace, &mut command, &environment::variables(&workspace, &dir, &args.choice));
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
    if let Some(sentence) = args.choice.not_yet() {
        eprintln!("{sentence}");
        return Ok(Outcome::NotYet);
    }
    let workspace = Workspace::find();
    let dir: DriverDir = if args.no_build {
        driver_dir::lay_out(&workspace, args.choice.release)?
    } else {
        packages::ensure(&workspace, packages::FOR_RUN)?;
        driver_dir::build(&workspace, args.choice.release, &[])?
    };
    for (name, value) in environment::variables(&workspace, &dir, &args.choice) {
        println!("export {name}={}", environment::shell_quote(&value.to_string_lossy()));
    }
    Ok(Outcome::Done)
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

fn demo(workspace: &Workspace, args: &RunArgs) -> Command {
    let binary = workspace.target.join(driver_dir::profile_dir(args.choice.release)).join("mgl-demo");
    let mut command = Command::new(binary);
    let png = args.png.clone().unwrap_or_else(|| PathBuf::from("mgl-demo.png"));
    command.arg("--png").arg(png);
    if let Some(frames) = args.frames {
        command.arg("--frames").arg(frames.to_string());
    }
    command
}
