//! Measurements that are programs of this workspace.

use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};

use crate::driver_dir;
use crate::environment;
use crate::exec;
use crate::gl_driver::GlDriver;
use crate::workspace::Workspace;

/// The tracker's own bench target, which prints its table itself.
pub fn tracker(workspace: &Workspace) -> Result<bool> {
    exec::say("==> bench of mgpipe-tracker …");
    let mut command = workspace.cargo(["bench", "--package", "mgpipe-tracker", "--bench", "*"]);
    let status = command.stdin(Stdio::null()).status().context("cannot start cargo")?;
    Ok(status.success())
}

/// Builds a program of `mgl-tests` and runs it on MGL and then on Zink; it prints its own figures.
pub fn on_drivers(workspace: &Workspace, binary: &str) -> Result<bool> {
    driver_dir::build(workspace, true, &[])?;
    let log = workspace.log(&format!("build-{binary}"));
    let mut build = workspace.cargo(["build", "--release", "--package", "mgl-tests", "--bin", binary]);
    let finished = exec::logged(&mut build, &format!("building {binary}"), &log)?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("building {binary} failed");
    }
    let path = workspace.target.join(driver_dir::profile_dir(true)).join(binary);
    let mut ok = true;
    for driver in [GlDriver::Mgl, GlDriver::Zink] {
        println!("--- {binary} on {}", driver.label());
        let mut command = Command::new(&path);
        environment::apply(workspace, &mut command, &driver.variables(workspace, true)?);
        let status =
            command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {}", path.display()))?;
        if !status.success() {
            println!("{binary} on {} ended with {status}", driver.label());
            // What the peer does is its own affair; only a failure of MGL fails the measurement.
            ok &= driver != GlDriver::Mgl;
        }
    }
    Ok(ok)
}
