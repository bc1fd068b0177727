//! A Debian package of an installation, built by `dpkg-deb` from the same list of files as `install` writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};

use super::layout::{Entry, What};
use super::{below, put, Layout};
use crate::exec;
use crate::workspace::Workspace;

/// What the package needs: the C and C++ run-time libraries that the driver links to, and the Vulkan loader that it opens.
const DEPENDS: &str = "libgcc-s1, libstdc++6, libvulkan1";

/// What programs that use it need besides.
const RECOMMENDS: &str =
    "libegl1, libglx0, libgl1, libopengl0, libx11-6, libx11-xcb1, libxcb1, mesa-vulkan-drivers | vulkan-icd";

/// Builds the package; the answer is its file.
pub fn build(workspace: &Workspace, library: &Path, server: &Path, out: &Path) -> Result<PathBuf> {
    if !exec::has_program("dpkg-deb") {
        bail!("dpkg-deb is missing: packages are built on Debian or something like it");
    }
    let architecture = ask("dpkg", &["--print-architecture"])?;
    let layout = Layout::package(&triplet()?);
    let stage = workspace.scratch("deb-stage")?;
    fs::remove_dir_all(&stage).with_context(|| format!("cannot empty {}", stage.display()))?;
    let mut entries = layout.entries(library, server);
    entries.push(Entry { path: "/usr/share/doc/mgl/copyright".into(), what: What::Text(copyright(workspace)?) });
    for entry in &entries {
        let path = below(&stage, &entry.path);
        let folder = path.parent().context("an entry at the root")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        put(&stage, entry)?;
        if let What::Copy(_) = entry.what {
            strip(&path);
        }
    }
    let size = installed_size(&stage, &entries)?;
    let control = stage.join("DEBIAN");
    fs::create_dir_all(&control)?;
    // A build machine's C library is enough; what the driver really needs may be older.
    let libc = ask("getconf", &["GNU_LIBC_VERSION"])?.replace("glibc ", "");
    let version = env!("CARGO_PKG_VERSION");
    fs::write(control.join("control"), control_text(version, &architecture, &libc, size))?;
    fs::write(control.join("triggers"), "activate-noawait ldconfig\n")?;
    let owned: Vec<String> = entries
        .iter()
        .filter(|entry| entry.path.starts_with("/etc"))
        .map(|entry| format!("{}\n", entry.path.display()))
        .collect();
    fs::write(control.join("conffiles"), owned.concat())?;
    for folder in folders(&stage)? {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
    }
    fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let package = out.join(format!("mgl_{version}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    command.arg("--root-owner-group").arg("--build").arg(&stage).arg(&package);
    let finished = exec::logged(&mut command, "building the package", &workspace.log("dpkg-deb"))?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("dpkg-deb failed");
    }
    Ok(package)
}

fn control_text(version: &str, architecture: &str, libc: &str, size: u64) -> String {
    format!(
        "Package: mgl\nVersion: {version}\nSection: libs\nPriority: optional\nArchitecture: {architecture}\n\
         Maintainer: The MGL developers <mgl@invalid>\nInstalled-Size: {size}\nDepends: libc6 (>= {libc}), {DEPENDS}\n\
         Recommends: {RECOMMENDS}\nDescription: desktop OpenGL driver on Vulkan and OpenGL ES\n \
         MGL turns OpenGL into calls of Vulkan or OpenGL ES, in the calling thread, on a second one\n \
         or in another process. After installation it is the first choice of libglvnd for EGL and GLX.\n"
    )
}

/// The text that Debian wants about licences.
fn copyright(workspace: &Workspace) -> Result<String> {
    let mit = workspace.root.join("LICENSE-MIT");
    let mit = fs::read_to_string(&mit).with_context(|| format!("cannot read {}", mit.display()))?;
    Ok(format!(
        "MGL may be used under the Apache License 2.0 (/usr/share/common-licenses/Apache-2.0) or the following one.\n\n\
         {mit}"
    ))
}

/// The name of the folder for libraries of this kind of machine.
fn triplet() -> Result<String> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("x86_64-linux-gnu".into()),
        "aarch64" => Ok("aarch64-linux-gnu".into()),
        other => bail!("no folder for libraries is known for {other}"),
    }
}

/// Removes what only a debugger reads. Without the tool the package is larger and works as well.
fn strip(path: &Path) {
    if !Command::new("strip").arg("--strip-unneeded").arg(path).status().is_ok_and(|status| status.success()) {
        exec::say(format!("{} keeps its symbols: no `strip` here (package binutils)", path.display()));
    }
}

/// KiB of all files.
fn installed_size(stage: &Path, entries: &[Entry]) -> Result<u64> {
    let mut bytes = 0;
    for entry in entries {
        let path = below(stage, &entry.path);
        bytes += path.symlink_metadata().with_context(|| format!("{} is missing", path.display()))?.len();
    }
    Ok(bytes.div_ceil(1024))
}

fn folders(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![root.to_path_buf()];
    let mut at = 0;
    while let Some(folder) = found.get(at).cloned() {
        at += 1;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}

fn ask(program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).output().with_context(|| format!("cannot start {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_file_has_the_fields_that_dpkg_wants() {
        let text = control_text("1.2.3", "amd64", "2.36", 99);
        for field in ["Package: mgl", "Version: 1.2.3", "Architecture: amd64", "Depends: libc6 (>= 2.36), libgcc"] {
            assert!(text.lines().any(|line| line.starts_with(field)), "{field} in\n{text}");
        }
        assert!(text.ends_with(".\n") && !text.contains("\n\n"));
    }
}
