//! `eglMakeCurrent` and its end (EGL 1.5 §3.7.3).

use std::sync::Arc;

use super::config::Config;
use super::context::GlContext;
use super::display::Display;
use super::enums as e;
use super::error::{fail, EglResult};
use super::surface::Surface;
use super::thread::{self, Current};
use crate::glx::current::Binding;
use crate::tls;

/// Binds `context` with its surfaces to this thread, or releases what is bound when all three are zero.
pub(crate) fn make_current(display: &'static Display, draw: usize, read: usize, context: usize) -> EglResult<()> {
    if context == 0 {
        if draw != 0 || read != 0 {
            return fail(e::BAD_MATCH, "surfaces without a context");
        }
        return if thread::current_of_egl().is_some() { release_current() } else { Ok(()) };
    }
    let context = display.context(context)?;
    let surfaces = match (draw, read) {
        (0, 0) => None,
        (0, _) | (_, 0) => return fail(e::BAD_MATCH, "one of the surfaces is EGL_NO_SURFACE"),
        (draw, read) => Some((display.surface(draw)?, display.surface(read)?)),
    };
    if thread::current().is_some_and(|current| current.glx.is_some()) {
        return fail(e::BAD_ACCESS, "a context is current on this thread through GLX");
    }
    bind(display, context, surfaces, None)
}

/// Binds a context with its surfaces to this thread, for EGL or GLX.
pub(crate) fn bind(
    display: &'static Display,
    context: Arc<GlContext>,
    surfaces: Option<(Arc<Surface>, Arc<Surface>)>,
    glx: Option<Arc<Binding>>,
) -> EglResult<()> {
    refuse_inside_callback()?;
    if let (Some(config), Some((draw, read))) = (&context.config, &surfaces) {
        if !compatible(config, &draw.config) || !compatible(config, &read.config) {
            return fail(e::BAD_MATCH, "the context's config does not fit the surface's");
        }
    }
    // The old binding stays in force until everything that can fail has succeeded.
    let same = thread::current().is_some_and(|c| Arc::ptr_eq(&c.context, &context));
    if !same && !context.claim() {
        return fail(e::BAD_ACCESS, "the context is current on another thread");
    }
    if let Err(error) = refuse_lost(&context).and_then(|()| claim_surfaces(&surfaces)) {
        if !same {
            context.unclaim();
        }
        return Err(error);
    }
    let old = thread::replace_current(None);
    if let Some(old) = old {
        if same {
            unclaim_surfaces(&old.surfaces);
        } else {
            release(old);
        }
    }
    let pointer = context.pointer();
    // SAFETY: this thread holds the claim on the context, and `thread::replace_current` below keeps it alive until
    // `release` has cleared the pointer.
    let gl = unsafe { &mut *pointer };
    gl.make_current(surfaces.as_ref().map(|s| &s.0.drawable), surfaces.as_ref().map(|s| &s.1.drawable));
    thread::replace_current(Some(Current { display, context, surfaces, glx }));
    tls::set_current(pointer);
    Ok(())
}

/// Releases what is current on this thread, if anything.
pub(crate) fn release_current() -> EglResult<()> {
    refuse_inside_callback()?;
    if let Some(old) = thread::replace_current(None) {
        release(old);
    }
    Ok(())
}

/// A debug callback runs while its context is in use; the binding must not change under it.
fn refuse_inside_callback() -> EglResult<()> {
    match thread::current() {
        Some(current) => thread::with_context(&current, |_| ()),
        None => Ok(()),
    }
}

/// A context that is lost for good does not become current again (EGL 1.5 §2.6). The caller holds the claim.
fn refuse_lost(context: &GlContext) -> EglResult<()> {
    // SAFETY: this thread holds the claim, and no GL command is running on it: `refuse_inside_callback` was asked.
    let gl = unsafe { &mut *context.pointer() };
    if gl.check_lost() {
        return fail(e::CONTEXT_LOST, "the context was lost");
    }
    Ok(())
}

/// Takes a binding apart: GL commands of this thread reach nothing from here on. The context and the surfaces are
/// destroyed when this was the last that kept them.
pub(crate) fn release(old: Current) {
    tls::set_current(std::ptr::null_mut());
    end_use(&old.context);
    unclaim_surfaces(&old.surfaces);
    old.context.unclaim();
}

fn end_use(context: &GlContext) {
    // SAFETY: the caller took the binding out of its thread's state, so this thread still holds the claim and nothing
    // else refers to the frontend's context.
    let gl = unsafe { &mut *context.pointer() };
    gl.release_current();
}

fn claim_surfaces(surfaces: &Option<(Arc<Surface>, Arc<Surface>)>) -> EglResult<()> {
    if let Some((draw, read)) = surfaces {
        if !draw.claim() {
            return fail(e::BAD_ACCESS, "the draw surface is current on another thread");
        }
        if !read.claim() {
            draw.unclaim();
            return fail(e::BAD_ACCESS, "the read surface is current on another thread");
        }
    }
    Ok(())
}

fn unclaim_surfaces(surfaces: &Option<(Arc<Surface>, Arc<Surface>)>) {
    if let Some((draw, read)) = surfaces {
        draw.unclaim();
        read.unclaim();
    }
}

/// EGL 1.5 §2.2: the colour, depth, stencil and multisample buffers must have the same layout.
fn compatible(context: &Config, surface: &Config) -> bool {
    (context.rgba, context.depth, context.stencil, context.samples)
        == (surface.rgba, surface.depth, surface.stencil, surface.samples)
}
