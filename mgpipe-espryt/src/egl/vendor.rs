//! Which EGL implementation is the host's.
//!
//! In a program that uses this project's driver, libEGL's vendor list names that driver, so asking libEGL for a display would
//! come back here. The backend therefore reads libglvnd's manifests itself and loads the vendor libraries directly.

use super::display::Display;
use super::library::Library;
use super::numbers::{PLATFORM_DEVICE, PLATFORM_SURFACELESS};
use khronos_egl as egl;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders of libglvnd's manifests, in the order in which libglvnd reads them.
const MANIFEST_FOLDERS: [&str; 2] = ["/etc/glvnd/egl_vendor.d", "/usr/share/glvnd/egl_vendor.d"];

/// A library that is the host's driver where there is no libglvnd.
const PLAIN_LIBRARY: &str = "libEGL.so.1";

/// The library that a manifest names.
fn library_of(manifest: &Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let json: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(json.get("ICD")?.get("library_path")?.as_str()?.to_owned())
}

/// The library that `MGL_ESPRYT_EGL` names. A probe alone sees the environment and no settings file.
fn named() -> Option<String> {
    #[cfg(feature = "backend")]
    let named = mgpipe_types::switches::switch_text("MGL_ESPRYT_EGL");
    #[cfg(not(feature = "backend"))]
    let named = std::env::var("MGL_ESPRYT_EGL").ok();
    named
}

/// Whether a library is the driver that this backend belongs to, where that is installed.
fn is_ours(library: &str) -> bool {
    Path::new(library).file_name().is_some_and(|name| name == "libmgl.so")
}

/// Candidates for the host's EGL implementation, best first: the one that `MGL_ESPRYT_EGL` names, else those of libglvnd's
/// manifests in the order of their file names, else libEGL itself.
fn candidates() -> Vec<String> {
    if let Some(named) = named() {
        if !named.is_empty() {
            return vec![named];
        }
    }
    let mut found = Vec::new();
    for folder in MANIFEST_FOLDERS {
        let mut manifests: Vec<PathBuf> = std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        manifests.retain(|path| path.extension().is_some_and(|e| e == "json"));
        manifests.sort();
        found.extend(manifests.iter().filter_map(|path| library_of(path)).filter(|library| !is_ours(library)));
    }
    if found.is_empty() {
        found.push(PLAIN_LIBRARY.to_owned());
    }
    found
}

/// A way to ask for a display.
enum Source {
    Platform(egl::Enum),
    Device(*mut c_void),
    Default,
}

/// Devices that a driver enumerates.
fn devices(library: &Library) -> Vec<*mut c_void> {
    type QueryDevices = unsafe extern "C" fn(egl::Int, *mut *mut c_void, *mut egl::Int) -> egl::Boolean;
    let function = library.proc_address(c"eglQueryDevicesEXT");
    if function.is_null() {
        return Vec::new();
    }
    // SAFETY: the driver's function of that name.
    let query = unsafe { std::mem::transmute::<*const c_void, QueryDevices>(function) };
    let mut devices = [std::ptr::null_mut(); 16];
    let mut count = 0;
    // SAFETY: the array has the announced length.
    if unsafe { query(devices.len() as egl::Int, devices.as_mut_ptr(), &mut count) } != egl::TRUE {
        return Vec::new();
    }
    devices.into_iter().take(usize::try_from(count).unwrap_or(0)).collect()
}

/// Calls `accept` with every display of every host driver, best first, until it takes one.
///
/// # Errors
/// Why each was refused, in one line.
pub(crate) fn open_displays<T>(mut accept: impl FnMut(Arc<Display>) -> Result<T, String>) -> Result<T, String> {
    let mut reasons = Vec::new();
    for name in candidates() {
        let library = match Library::open(&name) {
            Ok(library) => Arc::new(library),
            Err(error) => {
                reasons.push(error);
                continue;
            }
        };
        let mut sources = vec![Source::Platform(PLATFORM_SURFACELESS)];
        sources.extend(devices(&library).into_iter().map(Source::Device));
        sources.push(Source::Default);
        for source in sources {
            let raw = match source {
                Source::Platform(platform) => library.platform_display(platform, egl::DEFAULT_DISPLAY),
                Source::Device(device) => library.platform_display(PLATFORM_DEVICE, device),
                // libglvnd hands `EGL_NONE` as the platform of the default display to its vendors.
                Source::Default => library.platform_display(egl::NONE as egl::Enum, egl::DEFAULT_DISPLAY),
            };
            if raw.is_null() {
                continue;
            }
            let accepted = Display::open(&library, raw).and_then(|display| accept(Arc::new(display)));
            match accepted {
                Ok(taken) => return Ok(taken),
                Err(error) => reasons.push(format!("{name}: {error}")),
            }
        }
    }
    reasons.dedup();
    Err(format!(
        "no OpenGL ES driver: {}",
        if reasons.is_empty() { "none is installed".into() } else { reasons.join("; ") }
    ))
}
