//! Displays and the objects that belong to them.
//!
//! A display is never freed (EGL 1.5 §3.2: the same parameters give the same handle for ever). Handles that come in
//! are looked up, never dereferenced.

use std::collections::HashMap;
use std::sync::{Arc, Once};

use mgpipe_window::{Visual, WindowError};
use parking_lot::Mutex;

use super::config::{self, Config};
use super::context::GlContext;
use super::enums as e;
use super::error::{fail, EglResult};
use super::process;
use super::surface::Surface;
use super::sync::Sync;
use crate::driver::{self, Session};
use crate::native::{wayland, x11, System};

/// What a display was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Platform {
    /// `EGL_DEFAULT_DISPLAY` of `eglGetDisplay`: what the environment names, see [`DefaultPlatform`], else off-screen on the
    /// first device.
    Default,
    /// `EGL_PLATFORM_X11_KHR`: a `Display` of Xlib, or null for the display of the environment.
    Xlib(usize),
    /// `EGL_PLATFORM_XCB_EXT`: a `xcb_connection_t`, or null likewise.
    Xcb(usize),
    /// `EGL_PLATFORM_WAYLAND_KHR`: a `wl_display`, or null for the compositor of the environment.
    Wayland(usize),
    /// `EGL_PLATFORM_SURFACELESS_MESA`.
    Surfaceless,
    /// `EGL_PLATFORM_DEVICE_EXT` with the index of the device.
    Device(usize),
    /// What GLX makes; no EGL handle leads to it.
    Glx,
}

/// What the environment makes of the default display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefaultPlatform {
    X11,
    Wayland,
    Offscreen,
}

impl DefaultPlatform {
    /// `EGL_PLATFORM` decides; without it an X display comes before a Wayland compositor, as with Mesa.
    fn choose(variable: impl Fn(&str) -> Option<String>) -> DefaultPlatform {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        match variable("EGL_PLATFORM").as_deref() {
            Some("x11" | "xcb") => DefaultPlatform::X11,
            Some("wayland") => DefaultPlatform::Wayland,
            Some("surfaceless" | "device") => DefaultPlatform::Offscreen,
            _ if is_set("DISPLAY") => DefaultPlatform::X11,
            _ if is_set("WAYLAND_DISPLAY") => DefaultPlatform::Wayland,
            _ => DefaultPlatform::Offscreen,
        }
    }
}

/// One display.
pub(crate) struct Display {
    /// What it was made from.
    pub(crate) platform: Platform,
    /// Held while the driver is opened, so that two threads do not open it twice. The state stays free meanwhile: the
    /// backend's start may call back into EGL (see [`crate::driver::is_opening`]).
    opening: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Option<Live>,
    contexts: HashMap<usize, Arc<GlContext>>,
    surfaces: HashMap<usize, Arc<Surface>>,
    syncs: HashMap<usize, Arc<Sync>>,
}

impl State {
    /// Forgets what was made before this process was forked off.
    fn forget_parent(&mut self) {
        if self.live.as_ref().is_some_and(|live| live.generation != process::generation()) {
            std::mem::forget(std::mem::take(self));
        }
    }
}

struct Live {
    session: Arc<Session>,
    configs: Arc<[Config]>,
    /// Where the windows are.
    windows: Option<System>,
    /// See [`process::generation`].
    generation: u32,
}

extern "C" {
    fn atexit(callback: extern "C" fn()) -> std::ffi::c_int;
}

/// Ends what the application left open. A driver that still executes while the libraries under it run their own exit
/// handlers crashes; this handler is registered after those libraries were loaded, hence it runs before theirs. Dropping
/// the device also writes its caches. The thread that calls `exit` has released its context by then.
extern "C" fn at_exit() {
    let outcome = std::panic::catch_unwind(|| {
        // The compiler's own static objects are destroyed after this handler. A forked child must not wait for the
        // compiler's threads, some of which are its parent's.
        if process::generation() == 0 {
            mgl_glsl::shut_down();
        }
        crate::glx::at_exit();
        crate::native::at_exit();
        let displays = DISPLAYS.try_lock().map(|d| d.clone()).unwrap_or_default();
        for display in displays {
            // A thread that holds the lock for good is no reason to hang the exit.
            if let Some(mut state) = display.state.try_lock() {
                state.forget_parent();
                if let Some(System::Wayland(compositor)) = state.live.as_ref().and_then(|live| live.windows.as_ref()) {
                    // The program may have closed the connection by now.
                    std::mem::forget(compositor.clone());
                }
                let old = std::mem::take(&mut *state);
                drop(state);
                drop(old);
            }
        }
        crate::transport::shut_down();
        crate::counting::finish();
    });
    if let Err(payload) = outcome {
        std::mem::forget(payload);
    }
}

fn register_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the callback takes care of panics itself, and the library is never unloaded.
        if unsafe { atexit(at_exit) } != 0 {
            log::warn!("no exit handler could be registered");
        }
    });
}

static DISPLAYS: Mutex<Vec<&'static Display>> = Mutex::new(Vec::new());

/// The display for a platform, made on first use.
pub(crate) fn get(platform: Platform) -> &'static Display {
    let mut displays = DISPLAYS.lock();
    if let Some(display) = displays.iter().find(|d| d.platform == platform) {
        return display;
    }
    let display: &'static Display =
        Box::leak(Box::new(Display { platform, opening: Mutex::default(), state: Mutex::default() }));
    displays.push(display);
    display
}

/// The display behind a handle.
pub(crate) fn from_handle(handle: usize) -> EglResult<&'static Display> {
    match DISPLAYS.lock().iter().find(|d| d.handle() == handle && d.platform != Platform::Glx) {
        Some(display) => Ok(display),
        None => fail(e::BAD_DISPLAY, format!("{handle:#x} is no display")),
    }
}

impl Display {
    /// The `EGLDisplay` value.
    pub(crate) fn handle(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// `eglInitialize`. A second call does nothing.
    pub(crate) fn initialize(&self) -> EglResult<()> {
        if self.state().live.is_some() {
            return Ok(());
        }
        if driver::is_opening() {
            return fail(e::NOT_INITIALIZED, "the driver is being opened by this very thread");
        }
        let _opening = self.opening.lock();
        if self.state().live.is_some() {
            return Ok(());
        }
        let device = match self.platform {
            Platform::Device(index) => Some(index),
            _ => None,
        };
        // Asked first: it costs little and may fail.
        let (windows, visuals) = self.window_system()?;
        match Session::open(device) {
            Ok(session) => {
                register_at_exit();
                process::watch_forks();
                let (samples, side) = (&session.limits.sample_counts, session.limits.max_side);
                let configs = config::list_with_windows(samples, side, &visuals).into();
                let generation = process::generation();
                self.state().live = Some(Live { session: Arc::new(session), configs, windows, generation });
                Ok(())
            }
            Err(text) => {
                log::error!("{text}");
                fail(e::NOT_INITIALIZED, text)
            }
        }
    }

    /// The connection to the window system and its visuals, where the platform has one.
    fn window_system(&self) -> EglResult<(Option<System>, Vec<Visual>)> {
        let x11 = |connection: Result<Arc<x11::Connection>, String>| {
            let connection = connection?;
            let visuals = mgpipe_window::visuals(connection.name()).map_err(|error| error.to_string())?;
            Ok((Some(System::X11(connection)), visuals))
        };
        let wayland = |compositor: Result<Arc<wayland::Compositor>, WindowError>| {
            let compositor = compositor.map_err(|error| error.to_string())?;
            Ok((Some(System::Wayland(compositor)), config::NO_VISUALS.to_vec()))
        };
        let found: Result<_, String> = match self.platform {
            Platform::Xlib(0) | Platform::Xcb(0) => x11(x11::Connection::of_environment()),
            // SAFETY: EGL 1.5 §3.2: the application passes its display, which stays open until it has terminated this one.
            Platform::Xlib(display) => x11(unsafe { x11::Connection::of_xlib(display as *mut _) }),
            // SAFETY: likewise (EGL_EXT_platform_xcb).
            Platform::Xcb(connection) => x11(unsafe { x11::Connection::of_xcb(connection as *mut _) }),
            Platform::Wayland(0) => wayland(wayland::Compositor::of_environment()),
            // SAFETY: likewise (EGL_EXT_platform_wayland).
            Platform::Wayland(display) => wayland(unsafe { wayland::Compositor::of_display(display as *mut _) }),
            Platform::Default => match DefaultPlatform::choose(|name| std::env::var(name).ok()) {
                DefaultPlatform::X11 => x11(x11::Connection::of_environment()),
                DefaultPlatform::Wayland => wayland(wayland::Compositor::of_environment()),
                DefaultPlatform::Offscreen => return Ok((None, Vec::new())),
            },
            Platform::Surfaceless | Platform::Device(_) | Platform::Glx => return Ok((None, Vec::new())),
        };
        match found {
            Ok(found) => Ok(found),
            Err(text) if self.platform == Platform::Default => {
                log::info!("the default display is off-screen: {text}");
                Ok((None, Vec::new()))
            }
            Err(text) => fail(e::NOT_INITIALIZED, text),
        }
    }

    /// Where the windows are; `None` when the display has none.
    pub(crate) fn windows(&self) -> EglResult<Option<System>> {
        match &self.state().live {
            Some(live) => Ok(live.windows.clone()),
            None => fail(e::NOT_INITIALIZED, "the display is not initialized"),
        }
    }

    /// Whether a surface satisfies a condition.
    pub(crate) fn any_surface(&self, is_it: impl Fn(&Surface) -> bool) -> bool {
        self.state().surfaces.values().any(|surface| is_it(surface))
    }

    /// `eglTerminate`: all handles become invalid; what is current stays usable until it is released.
    pub(crate) fn terminate(&self) {
        // The objects are dropped outside the lock: a context's destructor may take its time.
        let old = std::mem::take(&mut *self.state());
        drop(old);
    }

    /// The opened driver, `EGL_NOT_INITIALIZED` before `eglInitialize`.
    pub(crate) fn session(&self) -> EglResult<Arc<Session>> {
        match &self.state().live {
            Some(live) => Ok(live.session.clone()),
            None => fail(e::NOT_INITIALIZED, "the display is not initialized"),
        }
    }

    /// The configs.
    pub(crate) fn configs(&self) -> EglResult<Arc<[Config]>> {
        match &self.state().live {
            Some(live) => Ok(live.configs.clone()),
            None => fail(e::NOT_INITIALIZED, "the display is not initialized"),
        }
    }

    /// The config behind a handle.
    pub(crate) fn config(&self, handle: usize) -> EglResult<Config> {
        let found = self.configs()?.iter().copied().find(|c| usize::try_from(c.id) == Ok(handle));
        found.map_or_else(|| fail(e::BAD_CONFIG, format!("{handle:#x} is no config")), Ok)
    }

    /// The context behind a handle.
    pub(crate) fn context(&self, handle: usize) -> EglResult<Arc<GlContext>> {
        self.find(|s| s.contexts.get(&handle).cloned(), e::BAD_CONTEXT, "context", handle)
    }

    /// The surface behind a handle.
    pub(crate) fn surface(&self, handle: usize) -> EglResult<Arc<Surface>> {
        self.find(|s| s.surfaces.get(&handle).cloned(), e::BAD_SURFACE, "surface", handle)
    }

    /// The sync object behind a handle.
    pub(crate) fn sync(&self, handle: usize) -> EglResult<Arc<Sync>> {
        self.find(|s| s.syncs.get(&handle).cloned(), e::BAD_PARAMETER, "sync", handle)
    }

    /// Registers a context.
    pub(crate) fn add_context(&self, context: GlContext) -> EglResult<Arc<GlContext>> {
        let mut state = self.live()?;
        let context = Arc::new(context);
        state.contexts.insert(context.handle, context.clone());
        Ok(context)
    }

    /// Registers a surface.
    pub(crate) fn add_surface(&self, surface: Surface) -> EglResult<Arc<Surface>> {
        let mut state = self.live()?;
        let surface = Arc::new(surface);
        state.surfaces.insert(surface.handle, surface.clone());
        Ok(surface)
    }

    /// Registers a sync object.
    pub(crate) fn add_sync(&self, handle: usize, sync: Sync) -> EglResult<()> {
        let mut state = self.live()?;
        state.syncs.insert(handle, Arc::new(sync));
        Ok(())
    }

    /// `eglDestroyContext`: the handle goes at once, the object when no thread has it current.
    pub(crate) fn remove_context(&self, handle: usize) -> EglResult<()> {
        self.context(handle)?;
        let old = self.state().contexts.remove(&handle);
        drop(old);
        Ok(())
    }

    /// `eglDestroySurface`, likewise.
    pub(crate) fn remove_surface(&self, handle: usize) -> EglResult<()> {
        self.surface(handle)?;
        let old = self.state().surfaces.remove(&handle);
        drop(old);
        Ok(())
    }

    /// `eglDestroySync`. A thread that waits keeps its own reference.
    pub(crate) fn remove_sync(&self, handle: usize) -> EglResult<()> {
        self.sync(handle)?;
        let old = self.state().syncs.remove(&handle);
        drop(old);
        Ok(())
    }

    /// The state, without what was made before this process was forked off.
    fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        let mut state = self.state.lock();
        state.forget_parent();
        state
    }

    fn live(&self) -> EglResult<parking_lot::MutexGuard<'_, State>> {
        let state = self.state();
        if state.live.is_none() {
            return fail(e::NOT_INITIALIZED, "the display was terminated meanwhile");
        }
        Ok(state)
    }

    fn find<T>(&self, get: impl FnOnce(&State) -> Option<T>, code: i32, what: &str, handle: usize) -> EglResult<T> {
        match get(&*self.live()?) {
            Some(found) => Ok(found),
            None => fail(code, format!("{handle:#x} is no {what} of this display")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_the_default_platform() {
        let choose = |set: &[(&str, &str)]| {
            DefaultPlatform::choose(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(choose(&[]), DefaultPlatform::Offscreen);
        assert_eq!(choose(&[("WAYLAND_DISPLAY", "wayland-0")]), DefaultPlatform::Wayland);
        assert_eq!(choose(&[("WAYLAND_DISPLAY", "wayland-0"), ("DISPLAY", ":0")]), DefaultPlatform::X11);
        assert_eq!(choose(&[("EGL_PLATFORM", "wayland"), ("DISPLAY", ":0")]), DefaultPlatform::Wayland);
        assert_eq!(choose(&[("EGL_PLATFORM", "surfaceless"), ("DISPLAY", ":0")]), DefaultPlatform::Offscreen);
        assert_eq!(choose(&[("DISPLAY", ""), ("EGL_PLATFORM", "unheard-of")]), DefaultPlatform::Offscreen);
    }
}
