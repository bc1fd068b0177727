//! Opens a backend for a display. Nothing here runs before `eglInitialize` or a question about devices.

use std::cell::Cell;
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use mgl_frontend::{FrontendCallbacks, Observer, ShareOptions};
use mgpipe_types::{Backend, Caps, Screen};
use parking_lot::Mutex;

use crate::counting;
use crate::egl::process;
use crate::front::ShareGroup;
use crate::settings::Settings;

/// Sample counts that configs are made for, when the device has them.
const SAMPLE_COUNTS: [u32; 4] = [2, 4, 8, 16];

/// A device that the backend could run on.
#[derive(Debug, Clone)]
pub(crate) struct DeviceInfo {
    /// Its name as its driver gives it.
    pub(crate) name: CString,
    /// It executes on the CPU.
    pub(crate) software: bool,
}

/// What EGL has to know about the opened backend.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    /// The largest side of a pbuffer, in pixels.
    pub(crate) max_side: i32,
    /// Sample counts above 1 that colour and depth buffers can have.
    pub(crate) sample_counts: Vec<i32>,
    /// The OpenGL version that contexts get.
    pub(crate) version: (u32, u32),
}

/// A backend with its device open, and a screen that no share group uses yet.
struct Opened {
    settings: Settings,
    backend: Arc<dyn Backend>,
    screen: Arc<dyn Screen>,
    callbacks: Arc<FrontendCallbacks>,
}

/// An opened backend.
pub(crate) struct Session {
    /// The index of its device.
    pub(crate) device: usize,
    /// Its limits.
    pub(crate) limits: Limits,
    settings: Settings,
    backend: Arc<dyn Backend>,
    /// The group of the first context: made when the display was initialised, to learn the limits.
    first: Mutex<Option<Arc<ShareGroup>>>,
}

/// A screen that was opened to answer a question about devices, and the process that it works in; the next display of
/// that process takes it.
static SPARE: Mutex<Option<(u32, Opened)>> = Mutex::new(None);

/// The spare screen, unless it was a parent's: that one is forgotten, since nothing of it works here.
fn take_spare() -> Option<Opened> {
    let (generation, opened) = SPARE.lock().take()?;
    if generation == process::generation() {
        return Some(opened);
    }
    std::mem::forget(opened);
    None
}

thread_local! {
    static OPENING: Cell<bool> = const { Cell::new(false) };
}

/// Tells that this thread is opening a backend, for as long as it lives.
///
/// A Vulkan driver that is being loaded may ask EGL which devices there are (NVIDIA's does, in
/// `vk_icdNegotiateLoaderICDInterfaceVersion`, without X11), and that question can come back to this driver on the same
/// thread, inside a lock of the Vulkan loader that is not recursive. Such a call must be answered without the backend.
pub(crate) struct OpeningGuard;

impl OpeningGuard {
    pub(crate) fn new() -> OpeningGuard {
        OPENING.set(true);
        OpeningGuard
    }
}

impl Drop for OpeningGuard {
    fn drop(&mut self) {
        OPENING.set(false);
    }
}

/// Whether this call comes from inside the backend's own start: on the same thread, or in the process of a server, where the
/// backend is linked in and this library is only loaded because the Vulkan driver asks EGL which devices there are.
pub(crate) fn is_opening() -> bool {
    OPENING.get() || std::env::var_os("MGL_ROLE").is_some_and(|role| role == "server")
}

/// The devices of the machine, asked for once. The backend decides which device it opens, so there is one. None while
/// this thread [is opening](is_opening) the backend.
pub(crate) fn devices() -> Result<&'static [DeviceInfo], String> {
    static DEVICES: OnceLock<Result<Vec<DeviceInfo>, String>> = OnceLock::new();
    if is_opening() {
        return Ok(&[]);
    }
    let devices = DEVICES.get_or_init(|| {
        process::watch_forks();
        let opened = open(Settings::from_env()?)?;
        let caps = opened.screen.get_caps();
        let mut name = caps.device_name.into_bytes();
        name.retain(|&b| b != 0);
        let info = DeviceInfo { name: CString::new(name).unwrap_or_default(), software: caps.caps.is_software != 0 };
        *SPARE.lock() = Some((process::generation(), opened));
        Ok(vec![info])
    });
    match devices {
        Ok(devices) => Ok(devices),
        Err(text) => Err(text.clone()),
    }
}

fn open(settings: Settings) -> Result<Opened, String> {
    if let Some(folder) = &settings.shader_cache {
        mgl_glsl::use_cache(folder.clone());
    }
    // The compiler's tables are made while the backend opens its device.
    mgl_glsl::warm_up();
    let backend = crate::transport::backend(&settings);
    open_screen(settings, backend)
}

/// Opens one more screen on a backend; the first one opens the device.
fn open_screen(settings: Settings, backend: Arc<dyn Backend>) -> Result<Opened, String> {
    let _opening = OpeningGuard::new();
    let callbacks = Arc::new(FrontendCallbacks::default());
    let mut screen = backend.open(callbacks.clone()).map_err(|error| error.to_string())?;
    if let Some(path) = &settings.record {
        screen = recorded(screen, path)?;
    }
    Ok(Opened { settings, backend, screen, callbacks })
}

/// Records everything that passes a screen. Handles are those of one screen, so each has a file of its own: the first
/// one of the process the name asked for, the others with a number appended.
fn recorded(screen: Arc<dyn Screen>, path: &Path) -> Result<Arc<dyn Screen>, String> {
    static SCREENS: AtomicUsize = AtomicUsize::new(0);
    let path = recording_path(path, SCREENS.fetch_add(1, Ordering::Relaxed));
    // Unbuffered: a program that ends without terminating its display leaves a whole recording, too.
    let recorder = File::create(&path).and_then(|file| mgpipe_wire::Recorder::new(Box::new(file)));
    match recorder {
        Ok(recorder) => Ok(recorder.wrap(screen)),
        Err(error) => Err(format!("MGL_RECORD: {}: {error}", path.display())),
    }
}

/// The file of the screen that `earlier` ones precede.
fn recording_path(path: &Path, earlier: usize) -> PathBuf {
    if earlier == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{earlier}"));
    PathBuf::from(name)
}

impl Session {
    /// Opens the backend that the environment chooses, on the given device or the best one. The error is one line for
    /// the user.
    pub(crate) fn open(device: Option<usize>) -> Result<Session, String> {
        if is_opening() {
            return Err("the driver is being opened by this very thread".to_owned());
        }
        let settings = Settings::from_env()?;
        let opened = match take_spare() {
            Some(opened) => opened,
            None => open(settings)?,
        };
        let settings = opened.settings.clone();
        let caps = opened.screen.get_caps().caps;
        let backend = opened.backend.clone();
        let group = opened.into_share_group();
        let limits = Limits::new(&caps, group.max_version());
        Ok(Session { device: device.unwrap_or(0), limits, settings, backend, first: Mutex::new(Some(group)) })
    }

    /// Whether requests for legacy contexts fail, see [`Settings::refuse_legacy`].
    pub(crate) fn refuses_legacy(&self) -> bool {
        self.settings.refuse_legacy
    }

    /// A share group for a context that shares with nobody.
    pub(crate) fn new_share_group(&self) -> Result<Arc<ShareGroup>, String> {
        if let Some(group) = self.first.lock().take() {
            return Ok(group);
        }
        open_screen(self.settings.clone(), self.backend.clone()).map(Opened::into_share_group)
    }
}

impl Opened {
    fn into_share_group(self) -> Arc<ShareGroup> {
        let observer = counting::of_process(&self.settings).map(|counting| counting as Arc<dyn Observer>);
        let options = ShareOptions { switches: self.settings.switches, observer };
        ShareGroup::with_options(self.screen, self.callbacks, options)
    }
}

impl Limits {
    fn new(caps: &Caps, version: (u32, u32)) -> Limits {
        let [width, height] = caps.max_framebuffer_size;
        let side = caps.max_texture_2d.min(width).min(height);
        // Bit n of the masks stands for 2^n samples, so the count is its own mask.
        let both = caps.framebuffer_color_samples & caps.framebuffer_depth_samples;
        let sample_counts = SAMPLE_COUNTS.iter().filter(|&&n| both & n != 0).map(|&n| n as i32).collect();
        Limits { max_side: i32::try_from(side).unwrap_or(i32::MAX), sample_counts, version }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_from_inside_the_start_are_answered_without_the_backend() {
        let guard = OpeningGuard::new();
        assert!(devices().is_ok_and(<[DeviceInfo]>::is_empty));
        assert!(Session::open(None).is_err());
        drop(guard);
        assert!(!is_opening());
    }

    #[test]
    fn every_screen_has_a_recording_of_its_own() {
        let path = Path::new("folder/calls");
        assert_eq!([0, 2].map(|n| recording_path(path, n)), ["folder/calls", "folder/calls.2"].map(PathBuf::from));
    }

    #[test]
    fn sample_counts_are_those_that_colour_and_depth_share() {
        let mut caps: Caps = bytemuck::Zeroable::zeroed();
        caps.framebuffer_color_samples = 1 | 2 | 4;
        caps.framebuffer_depth_samples = 1 | 4 | 8;
        caps.max_texture_2d = 4096;
        caps.max_framebuffer_size = [8192, 2048];
        let limits = Limits::new(&caps, (3, 3));
        assert_eq!((limits.sample_counts, limits.max_side), (vec![4], 2048));
    }
}
