//! `glXMakeContextCurrent` and what is current on a thread (GLX 1.4 §3.3.7).

use std::sync::Arc;

use super::connection::{self, Connection};
use super::context::{self, GlxContext};
use super::drawable::{self, GlxDrawable};
use super::error::{fail, fail_with, Code, GlxResult};
use super::xlib::{Dpy, Xid};
use crate::egl::current::{bind, release_current};
use crate::egl::thread::{self, Current};

/// What GLX keeps about what is current on a thread.
pub(crate) struct Binding {
    /// The connection it was bound on.
    pub(crate) dpy: usize,
    /// The context.
    pub(crate) context: Arc<GlxContext>,
    /// The ids of the drawables as the application gave them, zeros where there are none.
    pub(crate) ids: (Xid, Xid),
    /// The drawables for drawing and reading; both or none are there.
    pub(crate) drawables: Option<(Arc<GlxDrawable>, Arc<GlxDrawable>)>,
}

/// What is current through GLX on this thread.
pub(crate) fn current() -> Option<(Current, Arc<Binding>)> {
    let current = thread::current()?;
    let binding = current.glx.clone()?;
    Some((current, binding))
}

/// Binds a context with its drawables to this thread, or releases what is bound when the context is zero.
pub(crate) fn make_current(dpy: Dpy, draw: Xid, read: Xid, context: usize) -> GlxResult<()> {
    if context == 0 {
        if draw != 0 || read != 0 {
            return fail(Code::Match, "drawables without a context");
        }
        if current().is_some() {
            release_current()?;
        }
        return Ok(());
    }
    let connection = connection::get(dpy)?;
    let context = context::get(context)?;
    if thread::current_of_egl().is_some() {
        return fail(Code::Access, "a context is current on this thread through EGL");
    }
    let drawables = match (draw, read) {
        (0, 0) if context.gl.attribs.major < 3 => {
            return fail(Code::Match, "a context before version 3.0 needs drawables");
        }
        (0, 0) => None,
        (0, _) | (_, 0) => return fail(Code::Match, "one of the drawables is None"),
        _ => {
            let first = resolve(&connection, draw, &context)?;
            let second = if read == draw { first.clone() } else { resolve(&connection, read, &context)? };
            Some((first, second))
        }
    };
    let surfaces = drawables.as_ref().map(|(draw, read)| (draw.surface.clone(), read.surface.clone()));
    let gl = context.gl.clone();
    let binding = Binding { dpy: dpy as usize, context, ids: (draw, read), drawables };
    bind(connection::backend()?, gl, surfaces, Some(Arc::new(binding)))?;
    Ok(())
}

/// The drawable with an id: one that GLX made, or a plain window.
fn resolve(connection: &Connection, id: Xid, context: &GlxContext) -> GlxResult<Arc<GlxDrawable>> {
    let found = match connection.known_drawable(id) {
        Some(known) if !known.is_implicit() => known,
        _ => drawable::of_plain_window(connection, id, context.screen, context.config)?,
    };
    if found.config.screen != context.screen {
        return fail_with(Code::Match, id, "the drawable belongs to another screen");
    }
    Ok(found)
}

/// Releases what is current on this thread if it was bound on a connection that is being closed.
pub(crate) fn leave(dpy: usize) {
    if current().is_some_and(|(_, binding)| binding.dpy == dpy) {
        if let Err(error) = release_current() {
            log::warn!("a connection was closed under its context: {}", error.message);
        }
    }
}
