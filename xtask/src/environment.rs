//! The environment variables that make a program use MGL.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::driver_dir::DriverDir;
use crate::packages;
use crate::workspace::Workspace;

/// The API that MGL draws through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Vulkan.
    Magma,
    /// OpenGL ES (not yet).
    Espryt,
}

/// Where the backend runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// In the thread that calls GL.
    Monolith,
    /// On a second thread of the program.
    Inproc,
    /// In a process of its own.
    Spawn,
}

/// Which MGL a program gets.
#[derive(Args, Clone, Debug)]
pub struct DriverChoice {
    /// The API that MGL draws through.
    #[arg(long, value_enum, default_value = "magma")]
    pub backend: Backend,
    /// Where the drawing runs: the calling thread, a second thread, or another process.
    #[arg(long, value_enum, default_value = "monolith")]
    pub transport: Transport,
    /// Build and use the optimised driver.
    #[arg(long)]
    pub release: bool,
    /// Load MGL by library name (LD_LIBRARY_PATH) instead of through the glvnd dispatcher.
    #[arg(long)]
    pub shadow: bool,
}

impl DriverChoice {
    /// The sentence for a choice that is planned and not there.
    pub fn not_yet(&self) -> Option<&'static str> {
        if self.backend == Backend::Espryt {
            return Some("not yet: the Espryt backend (OpenGL ES) does not draw yet; use --backend magma");
        }
        None
    }
}

/// Where NVIDIA's driver puts its manifest for the glvnd dispatcher.
const NVIDIA_MANIFEST: &str = "/usr/share/glvnd/egl_vendor.d/10_nvidia.json";

/// The vendors that EGL may load: MGL first, which therefore answers for displays. NVIDIA's stays in the list because its
/// Vulkan driver finds its devices through its own EGL driver where there is no X server.
fn vendor_list(manifest: &Path, nvidia: &Path) -> OsString {
    let mut list = manifest.as_os_str().to_owned();
    if nvidia.exists() {
        list.push(":");
        list.push(nvidia);
    }
    list
}

/// The variables that make a program use the driver in `dir`.
pub fn variables(workspace: &Workspace, dir: &DriverDir, choice: &DriverChoice) -> BTreeMap<&'static str, OsString> {
    let mut variables = BTreeMap::new();
    variables.insert("__EGL_VENDOR_LIBRARY_FILENAMES", vendor_list(&dir.manifest, Path::new(NVIDIA_MANIFEST)));
    if choice.shadow || !packages::has_library("libEGL.so.1") {
        let mut paths = vec![dir.path.clone()];
        if let Some(user) = workspace.library_path_of_user() {
            paths.extend(std::env::split_paths(&user));
        }
        if let Ok(joined) = std::env::join_paths(paths) {
            variables.insert("LD_LIBRARY_PATH", joined);
        }
    }
    if !has_display() && std::env::var_os("EGL_PLATFORM").is_none() {
        variables.insert("EGL_PLATFORM", "surfaceless".into());
    }
    variables.insert(
        "MGL_BACKEND",
        match choice.backend {
            Backend::Magma => "magma",
            Backend::Espryt => "espryt",
        }
        .into(),
    );
    variables.insert(
        "MGL_TRANSPORT",
        match choice.transport {
            Transport::Monolith => "monolith",
            Transport::Inproc => "inproc",
            Transport::Spawn => "spawn",
        }
        .into(),
    );
    variables
}

/// Puts `variables` into the environment of `command`, which otherwise sees what the user's shell has.
pub fn apply(workspace: &Workspace, command: &mut Command, variables: &BTreeMap<&'static str, OsString>) {
    match workspace.library_path_of_user() {
        Some(path) => command.env("LD_LIBRARY_PATH", path),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    crate::workspace::clean_cargo_variables(command);
    for (name, value) in variables {
        command.env(name, value);
    }
}

/// True when an X or Wayland display is named.
pub fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// A value in single quotes for a POSIX shell.
pub fn shell_quote(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvidia_follows_in_the_vendor_list_where_it_is_installed() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(vendor_list(Path::new("/a/50_mgl.json"), Path::new("/nowhere/10.json")), "/a/50_mgl.json");
        let both = format!("/a/50_mgl.json:{}", here.display());
        assert_eq!(vendor_list(Path::new("/a/50_mgl.json"), here), both.as_str());
    }

    #[test]
    fn quoting_survives_quotes_and_spaces() {
        assert_eq!(shell_quote("a b"), "'a b'");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }
}
