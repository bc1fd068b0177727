//! `cargo xtask doctor`: which drivers, devices, extensions and limits this machine has, and what is missing costs.

mod features;
mod installed;
mod vulkan;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use clap::Args;
use mgpipe_espryt::{GlesContext, Outcome as Kept};

use crate::driver_dir;
use crate::exec;
use crate::gl_driver::GlDriver;
use crate::group;
use crate::outcome::Outcome;
use crate::packages;
use crate::workspace::Workspace;

use self::features::{Weight, FEATURES, LIMITS};

/// Arguments of `doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Also list what is there, not only what is missing.
    #[arg(long)]
    all: bool,
    /// Also look at the installation in this folder.
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

/// Prints what was found. The answer is a failure only when MGL cannot draw on this machine.
pub fn run(args: DoctorArgs) -> Result<Outcome> {
    let workspace = Workspace::find();
    let usable = print_vulkan(args.all);
    print_gl(&workspace, args.all);
    installed::print(&workspace, args.prefix.as_deref());
    print_tools();
    println!("Verdict");
    if usable {
        println!("  MGL can draw here.");
    } else {
        println!("  MGL cannot draw here: no usable Vulkan device.");
        println!("  For a GPU, install its vendor's Vulkan driver; without one: apt-get install mesa-vulkan-drivers");
    }
    Ok(Outcome::from_ok(usable))
}

fn print_vulkan(all: bool) -> bool {
    println!("Vulkan");
    let manifests = packages::vulkan_manifests();
    if manifests.is_empty() {
        println!("  driver manifests: none");
    }
    for manifest in &manifests {
        println!("  driver manifest: {}", manifest.display());
    }
    let loader = match vulkan::probe() {
        Ok(loader) => loader,
        Err(sentence) => {
            println!("  {sentence}");
            println!("  (Debian packages: libvulkan1 mesa-vulkan-drivers)\n");
            return false;
        }
    };
    println!("  loader: Vulkan {}", version(loader.api));
    let validation = loader.layers.contains("VK_LAYER_KHRONOS_validation");
    println!(
        "  validation layer: {}",
        if validation { "there" } else { "missing (only tests need it; package vulkan-validationlayers)" }
    );
    if loader.devices.is_empty() {
        println!("  devices: none\n");
        return false;
    }
    // Both list the loader's devices in its order.
    let magma = mgpipe_magma::probe();
    let mut usable = false;
    for (index, device) in loader.devices.iter().enumerate() {
        println!("\n  Device {index}: {} ({})", device.name, device.kind);
        println!("    driver: {}", if device.driver.is_empty() { "(does not say)" } else { &device.driver });
        println!("    Vulkan {}, {} MiB of its own memory", version(device.api), device.local_memory >> 20);
        match magma.devices.get(index) {
            Some(probe) => {
                println!("    Magma {}", if probe.usable { "can draw on it" } else { "cannot draw on it" });
                usable |= probe.usable;
                print_missing(
                    "extensions that Magma uses",
                    probe.extensions.iter().map(|entry| (entry.name.as_str(), entry.present, entry.cost.as_str())),
                    all,
                );
            }
            None => println!("    Magma does not see it: {}", magma.problem.as_deref().unwrap_or("no reason given")),
        }
        for (weight, title) in
            [(Weight::Level, "features that functions stand on"), (Weight::Speed, "features that speed stands on")]
        {
            print_missing(
                title,
                FEATURES
                    .iter()
                    .filter(|entry| entry.weight == weight)
                    .map(|entry| (entry.name, device.features.contains(entry.name), entry.cost)),
                all,
            );
        }
        print_limits(device, all);
    }
    println!();
    usable
}

/// Prints how many of `entries` (name, whether it is there, what its absence costs) are there, and those that are not.
fn print_missing<'a>(title: &str, entries: impl Iterator<Item = (&'a str, bool, &'a str)>, all: bool) {
    let entries: Vec<_> = entries.collect();
    let present = entries.iter().filter(|(_, there, _)| *there).count();
    println!("    {present} of {} {title}", entries.len());
    for (name, there, cost) in entries {
        if !there {
            println!("      missing: {name:<44} {cost}");
        } else if all {
            println!("      there:   {name}");
        }
    }
}

fn print_limits(device: &vulkan::Device, all: bool) {
    println!("    limits:");
    for limit in LIMITS {
        let Some((_, value)) = device.limits.iter().find(|(name, _)| *name == limit.name) else { continue };
        let short = *value < limit.gl33_minimum;
        if all || short || limit.gl33_minimum > 1 {
            let remark =
                if short { format!("  TOO LOW: OpenGL 3.3 needs {}", limit.gl33_minimum) } else { String::new() };
            println!("      {:<40} {value:>12}  {}{remark}", limit.name, limit.purpose);
        }
    }
}

fn version(triple: (u32, u32, u32)) -> String {
    format!("{}.{}.{}", triple.0, triple.1, triple.2)
}

/// Prints which promises of an OpenGL ES driver were kept when they were tried.
fn print_trials(gles: &GlesContext, all: bool) {
    let of = |outcome| gles.tried.iter().filter(move |tried| tried.outcome == outcome);
    let (kept, broken) = (of(Kept::Works).count(), of(Kept::Fails).count());
    println!("    {kept} of {} promises kept, tried in {} ms", kept + broken, gles.trial_time.as_millis());
    for tried in of(Kept::Fails) {
        println!("      does not work, and is treated as missing: {}", tried.name);
    }
    for tried in of(Kept::Works).filter(|_| all) {
        println!("      works: {}", tried.name);
    }
}

fn print_gl(workspace: &Workspace, all: bool) {
    println!("OpenGL and OpenGL ES drivers");
    let dispatcher = packages::has_library("libEGL.so.1") && packages::has_library("libGLdispatch.so.0");
    println!(
        "  glvnd dispatcher: {}",
        if dispatcher {
            "there: programs get MGL through a manifest"
        } else {
            "missing: programs get MGL by library name (LD_LIBRARY_PATH); package libegl1"
        }
    );
    let manifests = egl_manifests();
    if manifests.is_empty() {
        println!("  EGL driver manifests: none");
    }
    for manifest in &manifests {
        let library = library_of(manifest).unwrap_or_else(|| "unreadable".to_string());
        println!("  EGL driver manifest: {} ({library})", manifest.display());
    }
    println!(
        "  OpenGL ES library: {}",
        if packages::has_library("libGLESv2.so.2") { "there" } else { "missing (package libgles2)" }
    );
    match mgpipe_espryt::probe().gles {
        Ok(gles) => {
            let missing: Vec<_> = gles.extensions.iter().filter(|extension| !extension.present).collect();
            println!("  OpenGL ES {}.{}: {} ({})", gles.api.0, gles.api.1, gles.renderer, gles.version);
            println!(
                "    {} of {} extensions that the Espryt backend will use",
                gles.extensions.len() - missing.len(),
                gles.extensions.len()
            );
            for extension in missing {
                println!("      missing: {:<40} {}", extension.name, extension.cost);
            }
            print_trials(&gles, all);
        }
        Err(why) => println!("  OpenGL ES: none ({why})"),
    }
    for (release, name) in [(false, "dev"), (true, "release")] {
        let dir = driver_dir::location(workspace, release);
        if dir.manifest.is_file() {
            println!("  MGL, {name} profile: {}", dir.manifest.display());
        }
    }
    for driver in [GlDriver::Llvmpipe, GlDriver::Zink] {
        println!("  Mesa {}: {}", driver.label(), ask_eglinfo(workspace, driver));
    }
    println!();
}

/// EGL manifests in the directories that the glvnd dispatcher reads, in its order.
fn egl_manifests() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for dir in ["/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d"] {
        let Ok(entries) = std::fs::read_dir(dir) else { continue };
        let mut here: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        here.retain(|path| path.extension().is_some());
        here.sort();
        found.extend(here);
    }
    found
}

fn library_of(manifest: &Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(value.get("ICD")?.get("library_path")?.as_str()?.to_string())
}

/// What a driver says about itself off-screen, as far as `eglinfo` tells.
fn ask_eglinfo(workspace: &Workspace, driver: GlDriver) -> String {
    if !exec::has_program("eglinfo") {
        return "not asked (package mesa-utils brings eglinfo)".to_string();
    }
    let Ok(variables) = driver.variables(workspace, false) else { return "not asked".to_string() };
    let out = workspace.log(&format!("eglinfo-{}", driver.label().to_lowercase()));
    let mut command = Command::new("eglinfo");
    command.arg("-B").envs(&variables).stdin(Stdio::null());
    let end = group::run_limited(&mut command, &out, &out.with_extension("err"), std::time::Duration::from_secs(20));
    let text = String::from_utf8_lossy(&std::fs::read(&out).unwrap_or_default()).into_owned();
    let Some(part) = text.split("Surfaceless platform:").nth(1) else {
        return match end {
            Ok(_) => "no off-screen display".to_string(),
            Err(error) => format!("{error:#}"),
        };
    };
    let value = |key: &str| {
        part.lines().find_map(|line| line.trim().strip_prefix(key)).map(|rest| rest.trim_start_matches(':').trim())
    };
    let core = match (value("OpenGL core profile version"), value("OpenGL core profile renderer")) {
        (Some(version), Some(renderer)) => format!(", OpenGL {version} on {renderer}"),
        // Older versions of eglinfo do not make a context.
        _ => String::new(),
    };
    match (value("EGL version string"), value("EGL driver name")) {
        (Some(version), Some(name)) => format!("EGL {version} ({name}){core}"),
        (Some(version), None) => format!("EGL {version}{core}"),
        _ => "off-screen display that does not start".to_string(),
    }
}

fn print_tools() {
    println!("What the tests use");
    let mut needs = packages::FOR_TEST.to_vec();
    needs.sort_by_key(|need| need.package);
    for need in needs {
        let state = if need.is_met() { "there" } else { "missing" };
        println!("  {:<26} {state:<8} {}", need.package, need.purpose);
    }
    println!();
}
