//! The application's connections to X servers, with what GLX keeps for each.

use std::collections::HashMap;
use std::ffi::{c_int, c_ulong, c_void};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::config::{self, FbConfig, Visual};
use super::current;
use super::drawable::GlxDrawable;
use super::error::{fail, fail_with, Code, GlxResult};
use super::xlib::{xlib, Dpy, Xid, Xlib};
use crate::egl::display::{self, Display, Platform};
use crate::egl::process;
use crate::native::x11;

/// One connection.
pub(crate) struct Connection {
    /// The application's `Display *`.
    dpy: usize,
    /// See [`process::generation`].
    generation: u32,
    screens: Vec<Mutex<Screen>>,
    drawables: Mutex<HashMap<Xid, Arc<GlxDrawable>>>,
    /// The same connection as windows use it.
    native: OnceLock<Result<Arc<x11::Connection>, String>>,
}

#[derive(Default)]
struct Screen {
    /// Made when configs are first asked for, since that opens the backend.
    configs: Option<&'static [FbConfig]>,
    /// The config that `glXChooseVisual` chose last for a visual that several configs have.
    chosen: HashMap<c_ulong, &'static FbConfig>,
}

static CONNECTIONS: Mutex<Vec<Arc<Connection>>> = Mutex::new(Vec::new());

fn find(dpy: Dpy) -> Option<Arc<Connection>> {
    let connections = CONNECTIONS.lock();
    let found = connections.iter().find(|c| c.dpy == dpy as usize && c.generation == process::generation());
    found.cloned()
}

/// The connection behind a `Display *`, which has to be an open one of Xlib.
pub(crate) fn get(dpy: Dpy) -> GlxResult<Arc<Connection>> {
    if dpy.is_null() {
        return fail(Code::Value, "no display");
    }
    if let Some(found) = find(dpy) {
        return Ok(found);
    }
    let Some(xlib) = xlib() else { return fail(Code::Implementation, "there is no libX11") };
    let screens = (0..xlib.screens(dpy)).map(|_| Mutex::default()).collect();
    let fresh = Arc::new(Connection {
        dpy: dpy as usize,
        generation: process::generation(),
        screens,
        drawables: Mutex::default(),
        native: OnceLock::new(),
    });
    let mut connections = CONNECTIONS.lock();
    // Another thread may have been faster.
    if let Some(found) = connections.iter().find(|c| c.dpy == fresh.dpy && c.generation == fresh.generation) {
        return Ok(found.clone());
    }
    connections.push(fresh.clone());
    drop(connections);
    xlib.on_close(dpy, closed);
    Ok(fresh)
}

/// Xlib closes a connection: what GLX made on it goes. What is current on some thread lives until it is released.
unsafe extern "C" fn closed(dpy: Dpy, _codes: *mut c_void) -> c_int {
    let outcome = std::panic::catch_unwind(|| {
        let mut connections = CONNECTIONS.lock();
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut *connections).into_iter().partition(|c| c.dpy == dpy as usize);
        *connections = kept;
        drop(connections);
        // What is current on this thread would otherwise look at the connection once more when it is released.
        current::leave(dpy as usize);
        for connection in gone {
            if connection.generation != process::generation() {
                std::mem::forget(connection);
                continue;
            }
            for (_, drawable) in std::mem::take(&mut *connection.drawables.lock()) {
                drawable.release();
            }
            // Other threads that draw to its windows find them gone.
            if let Some(Ok(native)) = connection.native.get() {
                native.close();
            }
        }
    });
    if let Err(payload) = outcome {
        std::mem::forget(payload);
    }
    0
}

/// Drops the drawables that the application left open, at the end of the process.
pub(super) fn at_exit() {
    let connections = CONNECTIONS.try_lock().map(|mut c| std::mem::take(&mut *c)).unwrap_or_default();
    for connection in connections {
        if connection.generation != process::generation() {
            std::mem::forget(connection);
        }
    }
}

/// GLX's major opcode and first error on a connection's server; zeros where the server has no GLX.
pub(crate) fn protocol(xlib: &Xlib, dpy: Dpy) -> (u8, u8) {
    xlib.extension(dpy, c"GLX").map_or((0, 0), |(major, _, error)| (major, u8::try_from(error).unwrap_or(0)))
}

/// The display that all of GLX uses on the EGL side, with its backend open.
pub(crate) fn backend() -> GlxResult<&'static Display> {
    let display = display::get(Platform::Glx);
    display.initialize()?;
    Ok(display)
}

impl Connection {
    /// The `Display *`.
    pub(crate) fn dpy(&self) -> Dpy {
        self.dpy as Dpy
    }

    /// Whether there is such a screen.
    pub(crate) fn has_screen(&self, screen: c_int) -> bool {
        usize::try_from(screen).is_ok_and(|screen| screen < self.screens.len())
    }

    /// The connection as windows use it.
    pub(crate) fn native(&self) -> GlxResult<&Arc<x11::Connection>> {
        // SAFETY: an open connection of the application; `closed` drops this object when it closes.
        let native = self.native.get_or_init(|| unsafe { x11::Connection::of_xlib(self.dpy()) });
        native.as_ref().or_else(|text| fail(Code::Implementation, text.clone()))
    }

    fn screen(&self, screen: c_int) -> GlxResult<&Mutex<Screen>> {
        match usize::try_from(screen).ok().and_then(|s| self.screens.get(s)) {
            Some(screen) => Ok(screen),
            None => fail(Code::Value, format!("there is no screen {screen}")),
        }
    }

    /// The configs of a screen.
    pub(crate) fn configs(&self, screen: c_int) -> GlxResult<&'static [FbConfig]> {
        let state = self.screen(screen)?;
        if let Some(configs) = state.lock().configs {
            return Ok(configs);
        }
        let Some(xlib) = xlib() else { return fail(Code::Implementation, "there is no libX11") };
        let configs = backend()?.configs()?;
        let default = xlib.default_visual(self.dpy(), screen);
        let visuals: Vec<Visual> = xlib.visuals(self.dpy(), screen).iter().filter_map(Visual::of).collect();
        let list = config::list(screen, default, &visuals, &configs);
        Ok(state.lock().configs.get_or_insert(list))
    }

    /// The config that a context or a question about a visual means: the one that was chosen with it last, else its first.
    pub(crate) fn config_of_visual(&self, screen: c_int, visual: c_ulong) -> GlxResult<Option<&'static FbConfig>> {
        let configs = self.configs(screen)?;
        if let Some(chosen) = self.screen(screen)?.lock().chosen.get(&visual) {
            return Ok(Some(chosen));
        }
        Ok(configs.iter().find(|c| c.visual.is_some_and(|v| v.id == visual)))
    }

    /// Remembers what `glXChooseVisual` chose.
    pub(crate) fn choose(&self, config: &'static FbConfig) -> GlxResult<()> {
        if let Some(visual) = config.visual {
            self.screen(config.screen)?.lock().chosen.insert(visual.id, config);
        }
        Ok(())
    }

    /// Registers a drawable.
    pub(crate) fn add_drawable(&self, drawable: Arc<GlxDrawable>) {
        self.drawables.lock().insert(drawable.id, drawable);
    }

    /// The drawable with an id that GLX knows.
    pub(crate) fn known_drawable(&self, id: Xid) -> Option<Arc<GlxDrawable>> {
        self.drawables.lock().get(&id).cloned()
    }

    /// The same, `GLXBadDrawable` for other ids.
    pub(crate) fn drawable(&self, id: Xid) -> GlxResult<Arc<GlxDrawable>> {
        match self.known_drawable(id) {
            Some(found) => Ok(found),
            None => fail_with(Code::GlxDrawable, id, format!("{id:#x} is no drawable of GLX")),
        }
    }

    /// All drawables that a test is true for.
    pub(crate) fn drawables(&self, test: impl Fn(&GlxDrawable) -> bool) -> Vec<Arc<GlxDrawable>> {
        self.drawables.lock().values().filter(|drawable| test(drawable)).cloned().collect()
    }

    /// Takes a drawable away.
    pub(crate) fn remove_drawable(&self, id: Xid) -> Option<Arc<GlxDrawable>> {
        self.drawables.lock().remove(&id)
    }
}
