//! Link options of the driver library.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Without -Bsymbolic the table behind eglGetProcAddress would resolve to libGL's functions of the same names when a
    // process has loaded libglvnd first, and every call would come back to us through the dispatcher for ever.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    // Compile threads and thread-local destructors may outlive a dlclose.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    link_own_standard_library();
}

/// Puts the C++ standard library of the GLSL and SPIR-V libraries into the driver, instead of loading the system's: that takes
/// longer than loading the driver, in every process that asks libEGL for its vendors, and programs that bring another version
/// of it would have to agree with the driver about it.
///
/// The crates that build those libraries ask for `-lstdc++`; here the linker finds a script of this name first, which names
/// the archive. Where there is none, the driver is linked with the shared one.
fn link_own_standard_library() {
    if std::env::var("CARGO_CFG_TARGET_ENV").as_deref() != Ok("gnu") || std::env::var("HOST") != std::env::var("TARGET")
    {
        return;
    }
    let Some(archive) = archive() else { return };
    let Ok(folder) = std::env::var("OUT_DIR") else { return };
    let script = format!("INPUT({})\n", archive.display());
    if std::fs::write(Path::new(&folder).join("libstdc++.so"), script).is_ok() {
        println!("cargo:rustc-link-search=native={folder}");
    }
}

/// The archive that the system's linker driver knows, if it knows one.
fn archive() -> Option<PathBuf> {
    let output = Command::new("cc").arg("-print-file-name=libstdc++.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}
