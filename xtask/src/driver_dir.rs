//! Building `libmgl.so` and `mgl-server`, and laying out the directory from which programs load it.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

use crate::exec;
use crate::workspace::Workspace;

/// Names under which the one library is also found, for programs that bypass the glvnd dispatcher.
pub const SHADOW_NAMES: &[&str] = &["libEGL.so.1", "libEGL.so", "libGL.so.1", "libGL.so", "libOpenGL.so.0"];

/// The name by which libglvnd looks for the GLX driver called `mgl`.
pub const GLX_NAME: &str = "libGLX_mgl.so.0";

/// The server that the library starts for `MGL_TRANSPORT=spawn`, beside which it looks for it.
pub const SERVER: &str = "mgl-server";

/// A driver directory that is ready to be used.
#[derive(Clone, Debug)]
pub struct DriverDir {
    /// The directory itself.
    pub path: PathBuf,
    /// The glvnd manifest in it.
    pub manifest: PathBuf,
    /// The folder in it that holds nothing but the GLX vendor library, for `LD_LIBRARY_PATH`.
    pub glx: PathBuf,
}

/// The directory of a cargo profile's driver, whether it exists or not.
pub fn location(workspace: &Workspace, release: bool) -> DriverDir {
    let path = workspace.target.join(profile_dir(release)).join("mgl-driver");
    DriverDir::at(path)
}

impl DriverDir {
    fn at(path: PathBuf) -> DriverDir {
        DriverDir { manifest: path.join("50_mgl.json"), glx: path.join("glvnd"), path }
    }
}

/// The directory under the target directory where cargo puts a profile's results.
pub fn profile_dir(release: bool) -> &'static str {
    if release {
        "release"
    } else {
        "debug"
    }
}

/// Builds the driver and lays out its directory.
///
/// # Errors
/// When the build fails (its last lines are printed) or files cannot be written.
pub fn build(workspace: &Workspace, release: bool, extra: &[&str]) -> Result<DriverDir> {
    let mut args = vec!["build", "--package", "mgl-cdylib", "--lib", "--package", "mgl-server", "--bin", "mgl-server"];
    if release {
        args.push("--release");
    }
    args.extend_from_slice(extra);
    let log = workspace.log("build-driver");
    let label = format!("building MGL ({} profile)", if release { "release" } else { "dev" });
    let finished = exec::logged(&mut workspace.cargo(&args), &label, &log)?;
    if !finished.status.success() {
        finished.print_tail(40);
        bail!("building mgl-cdylib and mgl-server failed");
    }
    lay_out(workspace, release)
}

/// Lays out the driver directory from a library that has been built. The library in it is a link: programs started with
/// this directory see every later build.
///
/// # Errors
/// When the library is not there or files cannot be written.
pub fn lay_out(workspace: &Workspace, release: bool) -> Result<DriverDir> {
    let dir = location(workspace, release);
    built_library(workspace, release)?;
    std::fs::create_dir_all(&dir.path).with_context(|| format!("cannot make {}", dir.path.display()))?;
    replace_link(Path::new("../libmgl.so"), &dir.path.join("libmgl.so"))?;
    replace_link(Path::new("../mgl-server"), &dir.path.join(SERVER))?;
    complete(dir)
}

/// Lays out a second driver directory with a copy of the library, for tests and measurements: a build that goes on beside
/// them does not change what they run on.
///
/// # Errors
/// When the library is not there or files cannot be written.
pub fn snapshot(workspace: &Workspace, release: bool) -> Result<DriverDir> {
    let library = built_library(workspace, release)?;
    let path = workspace.scratch(&format!("driver-{}", profile_dir(release)))?;
    replace_copy(&library, &path.join("libmgl.so"))?;
    // A driver without its server still runs in monolith and inproc.
    let server = library.with_file_name(SERVER);
    if server.is_file() {
        replace_copy(&server, &path.join(SERVER))?;
    }
    complete(DriverDir::at(path))
}

fn built_library(workspace: &Workspace, release: bool) -> Result<PathBuf> {
    let library = workspace.target.join(profile_dir(release)).join("libmgl.so");
    if !library.is_file() {
        bail!("{} is not there; build it with: cargo build --package mgl-cdylib", library.display());
    }
    Ok(library)
}

/// Adds the other names and the manifest to a directory that has the library.
fn complete(dir: DriverDir) -> Result<DriverDir> {
    for name in SHADOW_NAMES {
        replace_link(Path::new("libmgl.so"), &dir.path.join(name))?;
    }
    std::fs::create_dir_all(&dir.glx).with_context(|| format!("cannot make {}", dir.glx.display()))?;
    replace_link(Path::new("../libmgl.so"), &dir.glx.join(GLX_NAME))?;
    let text = manifest_text(&dir.path.join("libmgl.so"));
    std::fs::write(&dir.manifest, text).with_context(|| format!("cannot write {}", dir.manifest.display()))?;
    Ok(dir)
}

/// The glvnd manifest that names `library`.
pub fn manifest_text(library: &Path) -> String {
    let manifest = serde_json::json!({
        "file_format_version": "1.0.0",
        "ICD": { "library_path": library.to_string_lossy() },
    });
    format!("{manifest:#}\n")
}

/// Copies a file over another one. Renaming leaves programs that have the old copy open alone.
fn replace_copy(from: &Path, to: &Path) -> Result<()> {
    let fresh = to.with_extension("new");
    std::fs::copy(from, &fresh).with_context(|| format!("cannot write {}", fresh.display()))?;
    std::fs::rename(&fresh, to).with_context(|| format!("cannot write {}", to.display()))
}

/// Makes `link` a symbolic link to `to`, in place of whatever was there.
fn replace_link(to: &Path, link: &Path) -> Result<()> {
    if std::fs::read_link(link).is_ok_and(|current| current == to) {
        return Ok(());
    }
    match std::fs::remove_file(link) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot replace {}", link.display())),
    }
    std::os::unix::fs::symlink(to, link).with_context(|| format!("cannot make {}", link.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_names_the_library_in_glvnd_form() {
        let text = manifest_text(Path::new("/somewhere/with \"quotes\"/libmgl.so"));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["ICD"]["library_path"], "/somewhere/with \"quotes\"/libmgl.so");
        assert_eq!(value["file_format_version"], "1.0.0");
    }
}
