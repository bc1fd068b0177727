//! The Python that runs the programs of `tests/python`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::exec;
use crate::workspace::Workspace;

/// Modules that the programs import.
const SHARED: [&str; 2] = ["offscreen.py", "pictures.py"];

/// The interpreter that `MGL_TEST_PYTHON` names, else that of `target/python-env`, which is made when it is missing or out
/// of date.
///
/// # Errors
/// When the environment cannot be made.
pub fn interpreter(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("MGL_TEST_PYTHON") {
        return Ok(path.into());
    }
    let folder = workspace.target.join("python-env");
    let mut setup = Command::new(workspace.root.join("tests").join("python").join("setup"));
    setup.arg(&folder);
    let finished = exec::logged(&mut setup, "the environment of the Python programs", &workspace.log("python-setup"))?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("tests/python/setup failed");
    }
    Ok(folder.join("bin").join("python"))
}

/// The programs: every script of `tests/python` that takes a picture's path, which the module that they share does not.
///
/// # Errors
/// When the folder cannot be read.
pub fn programs(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let folder = workspace.root.join("tests").join("python");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .filter(|path| !SHARED.iter().any(|name| path.file_name().is_some_and(|file| file == *name)))
        .collect();
    found.sort();
    Ok(found)
}
