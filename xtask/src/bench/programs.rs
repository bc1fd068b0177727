//! Measurements that are programs of this workspace.

use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};

use crate::driver_dir;
use crate::environment;
use crate::exec;
use crate::gl_driver::GlDriver;
use crate::workspace::Workspace;

/// A crate's own bench targets, which print their tables themselves.
pub fn of_crate(workspace: &Workspace, package: &str) -> Result<bool> {
    exec::say(format!("==> bench of {package} …"));
    let mut command = workspace.cargo(["bench", "--package", package, "--bench", "*"]);
    let status = command.stdin(Stdio::null()).status().context("cannot start cargo")?;
    Ok(status.success())
}

/// What a program of `mgl-tests` is asked to measure.
pub struct Selection<'a> {
    /// How often each driver is measured, in turn.
    pub rounds: u32,
    /// Text that the rows have in their name.
    pub only: Option<&'a str>,
    /// How often the measured thing is done in one run, or for how many minutes; the program's own number when left out.
    pub count: Option<u32>,
}

/// Builds a program of `mgl-tests` and lets it measure the drivers in turn; it prints its own table.
pub fn on_drivers(
    workspace: &Workspace,
    drivers: &[GlDriver],
    binary: &str,
    selection: &Selection<'_>,
) -> Result<bool> {
    let log = workspace.log(&format!("build-{binary}"));
    let mut build = workspace.cargo(["build", "--release", "--package", "mgl-tests", "--bin", binary]);
    if drivers.iter().any(|driver| driver.is_ours()) {
        driver_dir::build(workspace, true, &[])?;
    }
    let finished = exec::logged(&mut build, &format!("building {binary}"), &log)?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("building {binary} failed");
    }
    let path = workspace.target.join(driver_dir::profile_dir(true)).join(binary);
    let mut command = Command::new(&path);
    // The program sets each driver's own variables; what they share, the Vulkan driver above all, comes from here.
    environment::apply(workspace, &mut command, &GlDriver::Zink.variables(workspace, true)?);
    if drivers.iter().any(|driver| driver.is_ours()) {
        command.env("MGL_TEST_DRIVER_DIR", driver_dir::snapshot(workspace, true)?.path);
    }
    command.args(["--drivers", &drivers.iter().map(|d| d.program_name()).collect::<Vec<_>>().join(",")]);
    command.args(["--rounds", &selection.rounds.to_string()]);
    if let Some(count) = selection.count {
        command.args(["--count", &count.to_string()]);
    }
    if let Some(only) = selection.only {
        command.args(["--only", only]);
    }
    let labels: Vec<_> = drivers.iter().map(|d| d.label()).collect();
    exec::say(format!("==> {binary} on {}, {} time(s) each …", labels.join(", "), selection.rounds));
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", path.display()))?;
    println!();
    Ok(status.success())
}
