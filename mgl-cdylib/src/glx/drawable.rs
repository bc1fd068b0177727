//! GLX windows, pixmaps and pbuffers, and plain windows that are made current (GLX 1.4 §3.3.4 to §3.3.6).

use std::ffi::{c_int, c_ulong};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::config::FbConfig;
use super::connection::{self, Connection};
use super::enums as g;
use super::error::{fail, fail_with, Code, GlxResult};
use super::xlib::{xlib, Xid};
use crate::egl::surface::{new_pbuffer, Pbuffer, Surface};
use crate::egl::window::{new_window, WindowOptions};
use crate::native::x11;

/// What a drawable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `glXCreateWindow`, with the window.
    Window(Xid),
    /// A window that was made current without one; its id is the window's.
    PlainWindow,
    /// `glXCreatePbuffer`.
    Pbuffer {
        /// `GLX_LARGEST_PBUFFER`.
        largest: bool,
        /// `GLX_PRESERVED_CONTENTS`; contents are never lost here.
        preserved: bool,
    },
}

/// A drawable. It lives as long as its id or a thread that has it current.
pub(crate) struct GlxDrawable {
    /// Its id.
    pub(crate) id: Xid,
    /// What it is.
    pub(crate) kind: Kind,
    /// The config it was made with.
    pub(crate) config: &'static FbConfig,
    /// The surface behind it.
    pub(crate) surface: Arc<Surface>,
    /// `glXSelectEvent`.
    events: AtomicU64,
}

impl GlxDrawable {
    fn new(id: Xid, kind: Kind, config: &'static FbConfig, surface: Arc<Surface>) -> Arc<GlxDrawable> {
        Arc::new(GlxDrawable { id, kind, config, surface, events: AtomicU64::new(0) })
    }

    /// Whether it stands for a window that was made current as it is.
    pub(crate) fn is_implicit(&self) -> bool {
        self.kind == Kind::PlainWindow
    }

    /// Whether it is a window on the screen.
    pub(crate) fn is_window(&self) -> bool {
        matches!(self.kind, Kind::Window(_) | Kind::PlainWindow)
    }

    /// The window on the screen that it shows on.
    fn window(&self) -> Option<Xid> {
        match self.kind {
            Kind::Window(window) => Some(window),
            Kind::PlainWindow => Some(self.id),
            Kind::Pbuffer { .. } => None,
        }
    }

    /// Whether an id means it: its own, or that of the window that it shows on.
    pub(crate) fn is_shown_by(&self, id: Xid) -> bool {
        self.id == id || self.window() == Some(id)
    }

    /// Gives the surface up; it goes when no thread has it current.
    pub(crate) fn release(&self) {
        let removed = connection::backend().map(|display| display.remove_surface(self.surface.handle));
        if let Ok(Err(error)) = removed {
            log::debug!("a surface was gone already: {}", error.message);
        }
    }
}

/// `glXCreateWindow`.
pub(crate) fn create_window(
    connection: &Connection,
    config: &'static FbConfig,
    window: Xid,
    attributes: &[(i32, i32)],
) -> GlxResult<Xid> {
    if let Some(&(name, _)) = attributes.first() {
        return fail(Code::Value, format!("{name:#x} is no attribute of a window"));
    }
    if let Some(plain) = connection.known_drawable(window).filter(|known| known.is_implicit()) {
        // It was made current before as it is; that ends now.
        connection.remove_drawable(plain.id);
        plain.release();
    }
    if !connection.drawables(|known| known.window() == Some(window)).is_empty() {
        return fail_with(Code::Alloc, window, "the window has a GLX window already");
    }
    let surface = surface_of_window(connection, config, window, Code::Window)?;
    let id = take_id(connection, config.screen)?;
    connection.add_drawable(GlxDrawable::new(id, Kind::Window(window), config, surface));
    Ok(id)
}

/// The drawable of a window that is made current as it is. `config` is the context's; a context without one takes what the
/// window can have.
pub(crate) fn of_plain_window(
    connection: &Connection,
    window: Xid,
    screen: c_int,
    config: Option<&'static FbConfig>,
) -> GlxResult<Arc<GlxDrawable>> {
    let fits = |known: &GlxDrawable| config.is_none_or(|config| known.config.egl == config.egl);
    let same = |known: &GlxDrawable| known.window() == Some(window);
    if let Some(known) = connection.drawables(same).pop() {
        if !known.surface.drawable.is_gone() && (fits(&known) || !known.is_implicit()) {
            return Ok(known);
        }
        // The window of that id is another one now, or another kind of context draws to it.
        connection.remove_drawable(known.id);
        known.release();
    }
    sweep(connection)?;
    let config = match config {
        Some(config) => config,
        None => {
            let depth = connection.native()?.geometry(window as u32).map(|(_, depth)| c_int::from(depth));
            let fit = |c: &&FbConfig| c.visual.is_some_and(|v| Some(v.depth) == depth);
            let found = connection.configs(screen)?.iter().find(fit);
            found.map_or_else(|| fail_with(Code::GlxDrawable, window, "no config fits the window"), Ok)?
        }
    };
    let surface = surface_of_window(connection, config, window, Code::GlxDrawable)?;
    let drawable = GlxDrawable::new(window, Kind::PlainWindow, config, surface);
    connection.add_drawable(drawable.clone());
    Ok(drawable)
}

/// Drops what stands for windows that are no longer there: nobody says when a plain window ends.
fn sweep(connection: &Connection) -> GlxResult<()> {
    let native = connection.native()?;
    for known in connection.drawables(GlxDrawable::is_implicit) {
        if known.surface.drawable.is_gone() || native.geometry(known.id as u32).is_none() {
            connection.remove_drawable(known.id);
            known.release();
        }
    }
    Ok(())
}

fn surface_of_window(
    connection: &Connection,
    config: &'static FbConfig,
    window: Xid,
    missing: Code,
) -> GlxResult<Arc<Surface>> {
    let Some(visual) = config.visual.filter(|_| config.drawable_types() & g::WINDOW_BIT != 0) else {
        return fail(Code::Match, "the config has no windows");
    };
    let native = connection.native()?;
    let Ok(number) = u32::try_from(window) else {
        return fail_with(missing, window, "no window has such an id");
    };
    let Some((_, depth)) = native.geometry(number) else {
        return fail_with(missing, window, format!("{window:#x} is no window"));
    };
    if c_int::from(depth) != visual.depth {
        return fail_with(Code::Match, window, format!("a window of depth {depth}, a config of {}", visual.depth));
    }
    let Some(found) = x11::Window::open(native, number) else {
        return fail_with(missing, window, format!("{window:#x} is no window"));
    };
    let options = WindowOptions { srgb: config.srgb, double_buffered: config.double_buffered };
    Ok(new_window(connection::backend()?, config.egl, found, native.identity(number), options)?)
}

/// `glXDestroyWindow`, `glXDestroyPixmap`, `glXDestroyPbuffer`; `code` is the error for what is none.
pub(crate) fn destroy(connection: &Connection, id: Xid, code: Code, is: fn(Kind) -> bool) -> GlxResult<()> {
    let Some(found) = connection.known_drawable(id).filter(|known| is(known.kind)) else {
        return fail_with(code, id, format!("{id:#x} is none"));
    };
    connection.remove_drawable(id);
    found.release();
    if let Some(xlib) = xlib() {
        xlib.give_id(connection.dpy(), id);
    }
    Ok(())
}

/// `glXCreatePbuffer`.
pub(crate) fn create_pbuffer(
    connection: &Connection,
    config: &'static FbConfig,
    attributes: &[(i32, i32)],
) -> GlxResult<Xid> {
    let (mut width, mut height, mut largest, mut preserved) = (0, 0, false, true);
    for &(name, value) in attributes {
        match name {
            g::PBUFFER_WIDTH => width = value,
            g::PBUFFER_HEIGHT => height = value,
            g::LARGEST_PBUFFER => largest = value != 0,
            g::PRESERVED_CONTENTS => preserved = value != 0,
            _ => return fail(Code::Value, format!("{name:#x} is no attribute of a pbuffer")),
        }
    }
    if width < 0 || height < 0 {
        return fail(Code::Value, format!("a pbuffer of {width} x {height}"));
    }
    let (srgb, double_buffered) = (config.srgb, config.double_buffered);
    let pbuffer = Pbuffer { width, height, largest, srgb, double_buffered };
    let surface = new_pbuffer(connection::backend()?, config.egl, pbuffer)?;
    let id = take_id(connection, config.screen)?;
    connection.add_drawable(GlxDrawable::new(id, Kind::Pbuffer { largest, preserved }, config, surface));
    Ok(id)
}

/// Rendering to pixmaps of the X server does not exist: the error is that of a config without `GLX_PIXMAP_BIT`.
pub(crate) fn create_pixmap(connection: &Connection, pixmap: Xid) -> GlxResult<Xid> {
    let number = u32::try_from(pixmap).unwrap_or(0);
    if connection.native()?.geometry(number).is_none() {
        return fail_with(Code::Pixmap, pixmap, format!("{pixmap:#x} is no pixmap"));
    }
    fail(Code::Match, "no config has pixmaps")
}

fn take_id(connection: &Connection, screen: c_int) -> GlxResult<Xid> {
    match xlib() {
        Some(xlib) => Ok(xlib.take_id(connection.dpy(), screen)),
        None => fail(Code::Implementation, "there is no libX11"),
    }
}

/// `glXQueryDrawable`; `None` for attributes that leave the application's variable alone.
pub(crate) fn query(connection: &Connection, id: Xid, attribute: i32) -> GlxResult<Option<u32>> {
    let Some(drawable) = connection.known_drawable(id) else {
        // A plain window has a size before it was made current.
        let number = u32::try_from(id).unwrap_or(0);
        return match connection.native()?.geometry(number) {
            Some(([width, _], _)) if attribute == g::WIDTH => Ok(Some(width)),
            Some(([_, height], _)) if attribute == g::HEIGHT => Ok(Some(height)),
            Some(_) => Ok(None),
            None => fail_with(Code::GlxDrawable, id, format!("{id:#x} is no drawable")),
        };
    };
    let desc = drawable.surface.drawable.desc();
    Ok(match (attribute, drawable.kind) {
        (g::WIDTH | g::HEIGHT, _) => {
            let now = match drawable.window().and_then(|window| u32::try_from(window).ok()) {
                Some(window) => connection.native()?.geometry(window).map(|(size, _)| size),
                None => None,
            };
            let [width, height] = now.unwrap_or([desc.width, desc.height]);
            Some(if attribute == g::WIDTH { width } else { height })
        }
        (g::FBCONFIG_ID, _) => u32::try_from(drawable.config.id).ok(),
        (g::PRESERVED_CONTENTS, Kind::Pbuffer { preserved, .. }) => Some(u32::from(preserved)),
        (g::LARGEST_PBUFFER, Kind::Pbuffer { largest, .. }) => Some(u32::from(largest)),
        (g::SWAP_INTERVAL_EXT, _) if drawable.is_window() => u32::try_from(drawable.surface.drawable.interval()).ok(),
        (g::MAX_SWAP_INTERVAL_EXT, _) => u32::try_from(super::swap::MAX_INTERVAL).ok(),
        (g::BACK_BUFFER_AGE_EXT, _) => {
            let bound = super::current::current().and_then(|(_, binding)| binding.drawables.clone());
            if !bound.is_some_and(|(draw, _)| Arc::ptr_eq(&draw, &drawable)) {
                return fail_with(Code::GlxDrawable, id, "the age of a buffer needs its drawable to be current");
            }
            u32::try_from(drawable.surface.drawable.age()).ok()
        }
        _ => None,
    })
}

/// Events that exist: `GLX_PBUFFER_CLOBBER_MASK` and the completion of swaps. None is ever sent, since contents are never lost.
pub(crate) fn select_events(connection: &Connection, id: Xid, mask: c_ulong) -> GlxResult<()> {
    connection.drawable(id)?.events.store(mask & g::PBUFFER_CLOBBER_MASK as c_ulong, Ordering::Relaxed);
    Ok(())
}

/// `glXGetSelectedEvent`.
pub(crate) fn selected_events(connection: &Connection, id: Xid) -> GlxResult<c_ulong> {
    Ok(connection.drawable(id)?.events.load(Ordering::Relaxed))
}
