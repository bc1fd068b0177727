//! The environment variables that make a program use MGL.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use clap::Args;

use crate::driver_dir::DriverDir;
use crate::packages;
use crate::workspace::Workspace;

/// The API that MGL draws through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Vulkan.
    Magma,
    /// OpenGL ES.
    Espryt,
    /// None: nothing is drawn, for measuring the frontend.
    Null,
}

/// Where the backend runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// In the thread that calls GL.
    Monolith,
    /// On a second thread of the program.
    Inproc,
    /// In a process of its own.
    Spawn,
    /// In a server that listens at this path.
    Unix(PathBuf),
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "magma" => Ok(Backend::Magma),
            "espryt" => Ok(Backend::Espryt),
            "null" => Ok(Backend::Null),
            _ => Err("use magma, espryt or null".into()),
        }
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "monolith" => Ok(Transport::Monolith),
            "inproc" => Ok(Transport::Inproc),
            "spawn" => Ok(Transport::Spawn),
            _ => match text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
                Some(path) => Ok(Transport::Unix(path.into())),
                None => Err("use monolith, inproc, spawn or unix:PATH".into()),
            },
        }
    }
}

impl Backend {
    /// The value of `MGL_BACKEND`.
    pub fn value(self) -> &'static str {
        match self {
            Backend::Magma => "magma",
            Backend::Espryt => "espryt",
            Backend::Null => "null",
        }
    }
}

impl Transport {
    /// The value of `MGL_TRANSPORT`. A path gets the current folder in front, since programs run in others.
    fn value(&self) -> OsString {
        match self {
            Transport::Monolith => "monolith".into(),
            Transport::Inproc => "inproc".into(),
            Transport::Spawn => "spawn".into(),
            Transport::Unix(path) => {
                let mut value = OsString::from("unix:");
                value.push(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
                value
            }
        }
    }
}

/// The switches that say which MGL a program gets.
#[derive(Args, Clone, Debug)]
pub struct DriverSwitches {
    /// The API that MGL draws through: magma (Vulkan), espryt (OpenGL ES), null (draws nothing, for measuring
    /// the frontend) [default: $MGL_BACKEND, else magma].
    #[arg(long, value_name = "NAME")]
    backend: Option<Backend>,
    /// Where the drawing runs: monolith (the calling thread), inproc (a second thread), spawn (a process that the
    /// program starts), unix:PATH (a server that was started with: mgl-server --listen PATH) [default:
    /// $MGL_TRANSPORT, else monolith].
    #[arg(long, value_name = "WHERE")]
    transport: Option<Transport>,
    /// Build and use the optimised driver.
    #[arg(long)]
    release: bool,
    /// Load MGL by library name (LD_LIBRARY_PATH) instead of through the glvnd dispatcher.
    #[arg(long)]
    shadow: bool,
}

impl DriverSwitches {
    /// What the switches choose; what they leave open is chosen by the variables that the driver itself reads.
    ///
    /// # Errors
    /// One line for the user about a variable with an unknown value.
    pub fn choice(&self, get: impl Fn(&str) -> Option<OsString>) -> Result<DriverChoice, String> {
        let backend = given_or(self.backend, "MGL_BACKEND", &get)?.unwrap_or(Backend::Magma);
        let transport = given_or(self.transport.clone(), "MGL_TRANSPORT", &get)?.unwrap_or(Transport::Monolith);
        Ok(DriverChoice { backend, transport, release: self.release, shadow: self.shadow })
    }
}

/// The value of a switch, else that of its variable. An empty variable counts as unset.
fn given_or<T: FromStr<Err = String>>(
    switch: Option<T>,
    variable: &str,
    get: impl Fn(&str) -> Option<OsString>,
) -> Result<Option<T>, String> {
    if switch.is_some() {
        return Ok(switch);
    }
    let Some(value) = get(variable).filter(|value| !value.is_empty()) else { return Ok(None) };
    let value = value.to_string_lossy().into_owned();
    value.parse().map(Some).map_err(|choices| format!("{variable}={value} is unknown; {choices}"))
}

/// Which MGL a program gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverChoice {
    /// The API that MGL draws through.
    pub backend: Backend,
    /// Where the drawing runs.
    pub transport: Transport,
    /// Whether the optimised driver is built and used.
    pub release: bool,
    /// Whether MGL is loaded by library name instead of through the glvnd dispatcher.
    pub shadow: bool,
}

/// Where NVIDIA's driver puts its manifest for the glvnd dispatcher.
pub const NVIDIA_MANIFEST: &str = "/usr/share/glvnd/egl_vendor.d/10_nvidia.json";

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
    variables.insert("__GLX_VENDOR_LIBRARY_NAME", "mgl".into());
    let by_name = choice.shadow || !packages::has_library("libEGL.so.1");
    let mut paths = vec![if by_name { dir.path.clone() } else { dir.glx.clone() }];
    if let Some(user) = workspace.library_path_of_user() {
        paths.extend(std::env::split_paths(&user));
    }
    if let Ok(joined) = std::env::join_paths(paths) {
        variables.insert("LD_LIBRARY_PATH", joined);
    }
    if !has_display() && std::env::var_os("EGL_PLATFORM").is_none() {
        variables.insert("EGL_PLATFORM", "surfaceless".into());
    }
    variables.insert("MGL_BACKEND", choice.backend.value().into());
    variables.insert("MGL_TRANSPORT", choice.transport.value());
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

    fn chosen(switches: &[&str], variables: &[(&str, &str)]) -> Result<DriverChoice, String> {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            switches: DriverSwitches,
        }
        let only: Only =
            clap::Parser::try_parse_from([&["xtask"][..], switches].concat()).map_err(|e| e.to_string())?;
        only.switches.choice(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| OsString::from(v)))
    }

    #[test]
    fn a_variable_is_the_default_and_a_switch_wins() {
        let variables = [("MGL_BACKEND", "null"), ("MGL_TRANSPORT", "spawn")];
        let by_variable = chosen(&[], &variables).unwrap();
        assert_eq!((by_variable.backend, by_variable.transport), (Backend::Null, Transport::Spawn));
        let by_switch = chosen(&["--transport", "inproc", "--backend", "magma"], &variables).unwrap();
        assert_eq!((by_switch.backend, by_switch.transport), (Backend::Magma, Transport::Inproc));
        for unset in [&[][..], &[("MGL_BACKEND", ""), ("MGL_TRANSPORT", "")][..]] {
            let neither = chosen(&[], unset).unwrap();
            assert_eq!((neither.backend, neither.transport), (Backend::Magma, Transport::Monolith));
        }
    }

    #[test]
    fn unknown_values_are_refused_with_the_choices() {
        let choices = "use monolith, inproc, spawn or unix:PATH";
        for value in ["tcp", "unix:"] {
            assert!(chosen(&["--transport", value], &[]).unwrap_err().contains(choices));
            let why = chosen(&[], &[("MGL_TRANSPORT", value)]).unwrap_err();
            assert_eq!(why, format!("MGL_TRANSPORT={value} is unknown; {choices}"));
            // What nobody looks at is no reason to stop.
            assert!(chosen(&["--transport", "spawn"], &[("MGL_TRANSPORT", value)]).is_ok());
        }
        assert!(chosen(&["--backend", "vulkan"], &[]).unwrap_err().contains("use magma, espryt or null"));
    }

    #[test]
    fn a_servers_path_is_passed_on_whole() {
        let choice = chosen(&["--transport", "unix:/run/mgl socket"], &[]).unwrap();
        assert_eq!(choice.transport.value(), "unix:/run/mgl socket");
        let here = std::env::current_dir().unwrap().join("socket");
        assert_eq!(Transport::Unix("socket".into()).value(), format!("unix:{}", here.display()).as_str());
    }

    #[test]
    fn quoting_survives_quotes_and_spaces() {
        assert_eq!(shell_quote("a b"), "'a b'");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }
}
