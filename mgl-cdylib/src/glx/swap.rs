//! `glXSwapBuffers` and the three dialects of swap intervals (GLX_EXT_swap_control, GLX_SGI_swap_control,
//! GLX_MESA_swap_control).

use std::sync::Arc;

use super::connection::Connection;
use super::current;
use super::drawable::{self, GlxDrawable};
use super::enums as g;
use super::error::{fail, fail_with, Code, GlxResult};
use super::xlib::Xid;
use crate::egl::thread;

/// The longest interval, in frames of the screen.
pub(crate) const MAX_INTERVAL: i32 = 1;

/// `glXSwapBuffers`: ends the frame and shows it, if the drawable is current on this thread for drawing.
pub(crate) fn swap_buffers(connection: &Connection, id: Xid) -> GlxResult<()> {
    let current = current::current().filter(|(_, binding)| binding.dpy == connection.dpy() as usize);
    let Some((current, binding)) = current.filter(|(_, binding)| is(binding.drawables.as_ref(), binding.ids.0, id))
    else {
        return swap_other(connection, id);
    };
    // GLX 1.4 §3.3.10: without a back buffer there is nothing to swap, but the flush counts, which shows the front buffer.
    let single = binding.drawables.as_ref().filter(|(draw, _)| !draw.config.double_buffered);
    let (shown, lost) = thread::with_context(&current, |gl| {
        let shown = match single {
            Some((draw, _)) => {
                gl.flush();
                !draw.surface.drawable.is_gone()
            }
            None => gl.swap_buffers(),
        };
        (shown, gl.check_lost())
    })?;
    if lost {
        return fail(Code::GlxContext, "the context was lost");
    }
    if !shown {
        return fail_with(Code::GlxCurrentWindow, id, "the window is gone");
    }
    Ok(())
}

/// Swaps a drawable that is not what this thread draws to, with the context that is current on it: what that has drawn there
/// before is shown.
fn swap_other(connection: &Connection, id: Xid) -> GlxResult<()> {
    let Some(other) = connection.drawables(|known| known.is_shown_by(id)).pop() else {
        // A plain window that was never current has no buffers, which is no error if it is a window.
        drawable::query(connection, id, g::WIDTH)?;
        return Ok(());
    };
    let Some((current, _)) = current::current() else {
        log::warn!("glXSwapBuffers without a current context shows nothing");
        return Ok(());
    };
    if !other.surface.claim() {
        log::warn!("glXSwapBuffers of a drawable that another thread draws to shows nothing");
        return Ok(());
    }
    let bound = current.surfaces.as_ref();
    let outcome = thread::with_context(&current, |gl| {
        gl.make_current(Some(&other.surface.drawable), Some(&other.surface.drawable));
        let shown = !other.config.double_buffered || gl.swap_buffers();
        gl.make_current(bound.map(|(draw, _)| &draw.drawable), bound.map(|(_, read)| &read.drawable));
        (shown, gl.check_lost())
    });
    other.surface.unclaim();
    match outcome? {
        (_, true) => fail(Code::GlxContext, "the context was lost"),
        (false, _) => fail_with(Code::GlxCurrentWindow, id, "the window is gone"),
        _ => Ok(()),
    }
}

/// Whether an id means the drawable that is drawn to: by its own id, or as the window of one that GLX made.
fn is(drawables: Option<&(Arc<GlxDrawable>, Arc<GlxDrawable>)>, bound: Xid, id: Xid) -> bool {
    drawables.is_some_and(|(draw, _)| bound == id || draw.id == id)
}

/// `glXSwapIntervalEXT`.
pub(crate) fn set_interval(connection: &Connection, id: Xid, interval: i32) -> GlxResult<()> {
    if interval < 0 {
        return fail(Code::Value, format!("a swap interval of {interval}"));
    }
    let Some(found) = connection.known_drawable(id) else {
        let number = u32::try_from(id).unwrap_or(0);
        if connection.native()?.geometry(number).is_none() {
            return fail_with(Code::Window, id, format!("{id:#x} is no window"));
        }
        // Nothing is drawn to it yet, so there is nothing that could keep the interval.
        log::warn!("glXSwapIntervalEXT on a window that was never current has no effect");
        return Ok(());
    };
    found.surface.drawable.set_interval(interval.min(MAX_INTERVAL));
    Ok(())
}

/// `glXSwapIntervalSGI` and `glXSwapIntervalMESA`: the interval of what is drawn to, or the error that they return.
pub(crate) fn set_current_interval(interval: i32, least: i32) -> i32 {
    let Some((draw, _)) = current::current().and_then(|(_, binding)| binding.drawables.clone()) else {
        return g::BAD_CONTEXT;
    };
    if interval < least {
        return g::BAD_VALUE;
    }
    draw.surface.drawable.set_interval(interval.min(MAX_INTERVAL));
    0
}

/// `glXGetSwapIntervalMESA`.
pub(crate) fn current_interval() -> i32 {
    let draw = current::current().and_then(|(_, binding)| binding.drawables.clone());
    draw.map_or(0, |(draw, _)| draw.surface.drawable.interval())
}
