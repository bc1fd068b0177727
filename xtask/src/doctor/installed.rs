//! Installations of the driver, and what a program that is started from here gets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::driver_dir::GLX_NAME;
use crate::exec;
use crate::group;
use crate::install::{Layout, GLX_VARIABLE};
use crate::packages;
use crate::workspace::Workspace;

/// How libglvnd is told which EGL drivers there are.
const EGL_VARIABLE: &str = "__EGL_VENDOR_LIBRARY_FILENAMES";

/// Prints what is installed, and what is wrong with it.
pub fn print(workspace: &Workspace, prefix: Option<&Path>) {
    println!("Installed MGL");
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let chosen = variable(EGL_VARIABLE);
    let mut any = false;
    for description in descriptions(prefix, chosen.as_deref()) {
        let Ok(text) = std::fs::read_to_string(&description) else { continue };
        any = true;
        println!("  {}", description.display());
        for line in examine(&text, &super::egl_manifests(), &packages::has_library) {
            println!("    {line}");
        }
    }
    if !any {
        println!("  nowhere (cargo xtask install --prefix DIR, or --system); this checkout: cargo xtask run");
    }
    println!("  {EGL_VARIABLE}: {}", chosen.as_deref().unwrap_or("not set: the manifests above count, in their order"));
    let glx = variable(GLX_VARIABLE);
    println!("  {GLX_VARIABLE}: {}", glx.as_deref().unwrap_or("not set: the X server names the GLX driver"));
    for path in settings_files() {
        println!("  settings file: {} ({})", path.display(), if path.is_file() { "there" } else { "none" });
    }
    println!("  a program that is started from here gets");
    println!("    EGL: {}", ask(workspace, "eglinfo", &["-B"], "EGL vendor string"));
    let windows = std::env::var_os("DISPLAY").is_some_and(|value| !value.is_empty());
    let answer = if windows {
        ask(workspace, "glxinfo", &["-B"], "OpenGL renderer string")
    } else {
        "not asked: there is no X display".to_string()
    };
    println!("    GLX: {answer}");
    println!();
}

/// Files that describe installations, where they may be.
fn descriptions(prefix: Option<&Path>, chosen: Option<&str>) -> Vec<PathBuf> {
    let mut found = vec![Layout::system().description(), Layout::package("").description()];
    found.extend(prefix.map(|prefix| Layout::under(prefix).description()));
    for manifest in chosen.into_iter().flat_map(|list| std::env::split_paths(list).collect::<Vec<_>>()) {
        // PREFIX/share/glvnd/egl_vendor.d/50_mgl.json
        if let Some(prefix) = manifest.ancestors().nth(4) {
            found.push(Layout::under(prefix).description());
        }
    }
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in found {
        if !kept.contains(&path) {
            kept.push(path);
        }
    }
    kept
}

/// Lines about one installation, from its description, libglvnd's manifests in their order, and what the dynamic linker knows.
fn examine(text: &str, manifests: &[PathBuf], linker_knows: &dyn Fn(&str) -> bool) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return vec!["unreadable".to_string()] };
    let field = |name: &str| value["MGL"][name].as_str().map(PathBuf::from).unwrap_or_default();
    let mut lines = vec![format!("version {}", value["MGL"]["version"].as_str().unwrap_or("unknown"))];
    let library = field("library_path");
    if library.is_file() {
        match unresolved(&library) {
            missing if missing.is_empty() => lines.push(format!("library: {}", library.display())),
            missing => {
                lines.push(format!("library: {} cannot be loaded, it needs {}", library.display(), missing.join(", ")))
            }
        }
    } else {
        lines.push(format!("library: {} is MISSING: install again", library.display()));
    }
    let server = field("server_path");
    lines.push(if server.is_file() {
        format!("server: {}", server.display())
    } else {
        format!("server: {} is MISSING: MGL_TRANSPORT=spawn does not work", server.display())
    });
    let manifest = field("egl_vendor");
    lines.push(match manifests.iter().position(|path| *path == manifest) {
        Some(0) => "EGL: the first driver of libglvnd, so programs get it by default".to_string(),
        Some(place) => format!("EGL: behind {}, so programs get that one by default", manifests[place - 1].display()),
        None if manifest.is_file() => format!("EGL: programs get it with {EGL_VARIABLE}={}", manifest.display()),
        None => format!("EGL: {} is MISSING: install again", manifest.display()),
    });
    let glx = field("glx_vendor");
    let folder = glx.parent().unwrap_or(Path::new("/")).display();
    lines.push(if !glx.exists() {
        format!("GLX: {} is MISSING or leads nowhere: install again", glx.display())
    } else if linker_knows(GLX_NAME) {
        format!("GLX: programs get it with {GLX_VARIABLE}=mgl")
    } else {
        format!("GLX: programs get it with {GLX_VARIABLE}=mgl and LD_LIBRARY_PATH={folder} (or ldconfig was not run)")
    });
    lines
}

/// Libraries that a library needs and the dynamic linker does not find.
fn unresolved(library: &Path) -> Vec<String> {
    let Ok(output) = Command::new("ldd").arg(library).stdin(Stdio::null()).output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .filter(|line| line.contains("not found"))
        .filter_map(|line| line.split_whitespace().next().map(str::to_string))
        .collect()
}

/// The files that the driver reads switches from.
fn settings_files() -> Vec<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let user = user.map(|base| base.join("mgl/settings.toml"));
    std::iter::once(PathBuf::from("/etc/mgl/settings.toml")).chain(user).collect()
}

/// The first value of a field that a program prints about the driver it got.
fn ask(workspace: &Workspace, program: &str, args: &[&str], field: &str) -> String {
    if !exec::has_program(program) {
        return format!("not asked (package mesa-utils brings {program})");
    }
    let out = workspace.log(&format!("{program}-here"));
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    match workspace.library_path_of_user() {
        Some(path) => command.env("LD_LIBRARY_PATH", path),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    let end = group::run_limited(&mut command, &out, &out.with_extension("err"), Duration::from_secs(20));
    let text = String::from_utf8_lossy(&std::fs::read(&out).unwrap_or_default()).into_owned();
    let value = text.lines().find_map(|line| line.trim().strip_prefix(field)?.split_once(':'));
    match (value, end) {
        (Some((_, value)), _) => value.trim().to_string(),
        (None, Ok(_)) => format!("{program} says nothing about it"),
        (None, Err(error)) => format!("{error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(library: &Path, manifest: &Path) -> String {
        serde_json::json!({ "MGL": {
            "version": "9.9", "library_path": library, "server_path": "/nowhere/mgl-server",
            "egl_vendor": manifest, "glx_vendor": "/nowhere/libGLX_mgl.so.0",
        }})
        .to_string()
    }

    #[test]
    fn what_is_missing_is_named() {
        let here = std::env::current_exe().unwrap();
        let lines = examine(&description(&here, Path::new("/nowhere/50.json")), &[], &|_| false);
        assert_eq!(lines[0], "version 9.9");
        assert_eq!(lines[1], format!("library: {}", here.display()));
        for line in &lines[2..] {
            assert!(line.contains("MISSING"), "{line}");
        }
        assert!(examine("no json", &[], &|_| false)[0].contains("unreadable"));
    }

    #[test]
    fn the_order_of_manifests_says_who_is_first() {
        let ours = PathBuf::from("/etc/05_mgl.json");
        let other = PathBuf::from("/etc/01_other.json");
        let text = description(Path::new("/nowhere/libmgl.so"), &ours);
        assert!(examine(&text, &[ours.clone(), other.clone()], &|_| true)[3].contains("the first driver"));
        assert!(examine(&text, &[other, ours], &|_| true)[3].contains("behind /etc/01_other.json"));
    }

    #[test]
    fn installations_are_found_by_the_variable() {
        let found = descriptions(None, Some("/p/share/glvnd/egl_vendor.d/50_mgl.json:/x.json"));
        assert!(found.contains(&PathBuf::from("/p/share/mgl/mgl_icd.json")), "{found:?}");
        assert!(descriptions(Some(Path::new("/q")), None).contains(&PathBuf::from("/q/share/mgl/mgl_icd.json")));
    }
}
