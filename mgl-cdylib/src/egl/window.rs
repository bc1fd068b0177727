//! Window and pixmap surfaces (EGL 1.5 §3.5.1 and §3.5.4).

use std::ffi::c_void;
use std::sync::Arc;

use super::config::Config;
use super::display::{Display, Platform};
use super::enums as e;
use super::error::{fail, EglResult};
use super::surface::Surface;
use crate::front::{Drawable, DrawableDesc, NativeWindow};
use crate::native::{wayland, x11, System};

/// What the application chose for a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowOptions {
    /// Its colours are sRGB.
    pub(crate) srgb: bool,
    /// It has a back buffer; without one `glFlush` shows what was drawn.
    pub(crate) double_buffered: bool,
}

/// Makes a surface of a window that is there, for EGL or GLX; `native` is what the window system knows it by.
pub(crate) fn new_window(
    display: &'static Display,
    config: Config,
    window: Arc<dyn NativeWindow>,
    native: usize,
    options: WindowOptions,
) -> EglResult<Arc<Surface>> {
    refuse_second(display, native)?;
    let [red, green, blue, alpha] = config.rgba.map(|bits| bits as u8);
    let desc = DrawableDesc {
        // The drawable asks the window.
        width: 0,
        height: 0,
        red,
        green,
        blue,
        alpha,
        depth: config.depth as u8,
        stencil: config.stencil as u8,
        samples: config.samples as u8,
        srgb: options.srgb,
        double_buffered: options.double_buffered,
    };
    display.add_surface(Surface::new(config, Drawable::window(desc, window), native, false))
}

/// `eglCreateWindowSurface`, with the window's number, or the address of what Wayland programs have.
pub(crate) fn create(
    display: &'static Display,
    config: usize,
    native: usize,
    attributes: &[(i32, i32)],
) -> EglResult<usize> {
    let (config, system) = checked(display, config, e::BAD_NATIVE_WINDOW)?;
    let options = parse(attributes)?;
    let (window, native): (Arc<dyn NativeWindow>, usize) = match system {
        System::X11(connection) => {
            let window = u32::try_from(native).ok().and_then(|number| x11::Window::open(&connection, number));
            let Some(window) = window else {
                return fail(e::BAD_NATIVE_WINDOW, format!("there is no window {native:#x}"));
            };
            if !matches!(window.depth(), 24 | 32) {
                return fail(e::BAD_MATCH, format!("a window of depth {}", window.depth()));
            }
            // A window that was found has a number of 32 bits.
            (window, connection.identity(native as u32))
        }
        System::Wayland(compositor) => {
            refuse_second(display, native)?;
            // SAFETY: EGL_EXT_platform_wayland: the application passes a `wl_egl_window` of the display's connection.
            let window = unsafe { wayland::Window::open(&compositor, native, config.rgba[3] == 0) };
            (window.or_else(|error| fail(e::BAD_NATIVE_WINDOW, error.to_string()))?, native)
        }
    };
    Ok(new_window(display, config, window, native, options)?.handle)
}

/// A window has one surface (EGL 1.5 §3.5.1).
fn refuse_second(display: &'static Display, native: usize) -> EglResult<()> {
    // Numbers and addresses of windows that are gone are used again.
    let is_there = |surface: &Surface| surface.drawable.native().is_some_and(|window| window.size().is_some());
    if display.any_surface(|surface| surface.native == native && is_there(surface)) {
        return fail(e::BAD_ALLOC, format!("there is a surface for the window {native:#x} already"));
    }
    Ok(())
}

/// `eglCreatePixmapSurface`. X pixmaps cannot be drawn to by this driver.
pub(crate) fn create_pixmap(display: &'static Display, config: usize, native: usize) -> EglResult<usize> {
    let (_, system) = checked(display, config, e::BAD_NATIVE_PIXMAP)?;
    let System::X11(connection) = system else {
        // EGL_EXT_platform_wayland: there are no pixmaps.
        return fail(e::BAD_PARAMETER, "Wayland has no pixmaps");
    };
    let exists = u32::try_from(native).ok().and_then(|number| connection.geometry(number)).is_some();
    if !exists {
        return fail(e::BAD_NATIVE_PIXMAP, format!("there is no pixmap {native:#x}"));
    }
    fail(e::BAD_MATCH, "no config supports pixmaps")
}

fn checked(display: &'static Display, config: usize, error: i32) -> EglResult<(Config, System)> {
    let Some(system) = display.windows()? else {
        return fail(error, "the display has no windows or pixmaps");
    };
    let config = display.config(config)?;
    if config.visual.is_none() {
        return fail(e::BAD_MATCH, "the config has no windows");
    }
    Ok((config, system))
}

/// The number behind the pointer that `eglCreatePlatformWindowSurface` takes: to a `Window`, or to a `xcb_window_t`. Wayland's
/// windows are pointers themselves.
///
/// # Safety
///
/// `native` is null or points to what the platform of the display says.
pub(crate) unsafe fn platform_number(display: &Display, native: *mut c_void) -> usize {
    if native.is_null() {
        return 0;
    }
    match display.platform {
        // SAFETY: EGL_EXT_platform_xcb: a pointer to a 32-bit number.
        Platform::Xcb(_) => unsafe { native.cast::<u32>().read_unaligned() as usize },
        Platform::Default if matches!(display.windows(), Ok(Some(System::Wayland(_)))) => native as usize,
        // SAFETY: EGL_KHR_platform_x11: a pointer to an `unsigned long`.
        Platform::Xlib(_) | Platform::Default => unsafe { native.cast::<usize>().read_unaligned() },
        Platform::Wayland(_) => native as usize,
        _ => 0,
    }
}

fn parse(attributes: &[(i32, i32)]) -> EglResult<WindowOptions> {
    let mut options = WindowOptions { srgb: false, double_buffered: true };
    for &(name, value) in attributes {
        match (name, value) {
            (e::RENDER_BUFFER, e::BACK_BUFFER) => options.double_buffered = true,
            (e::RENDER_BUFFER, e::SINGLE_BUFFER) => options.double_buffered = false,
            (e::GL_COLORSPACE, e::GL_COLORSPACE_SRGB) => options.srgb = true,
            (e::GL_COLORSPACE, e::GL_COLORSPACE_LINEAR) => options.srgb = false,
            (e::VG_COLORSPACE | e::VG_ALPHA_FORMAT, _) => {}
            _ => return fail(e::BAD_ATTRIBUTE, format!("{name:#x} = {value:#x} is no attribute of a window")),
        }
    }
    Ok(options)
}

/// `eglSwapBuffers` and its relatives, for the surface that is current for drawing on this thread.
/// Of the frame only `damage` differs from the last one: left and lower edge, width and height of rectangles, none for all.
pub(crate) fn swap(display: &'static Display, surface: usize, damage: &[[i32; 4]]) -> EglResult<()> {
    let surface = display.surface(surface)?;
    let Some(current) = super::thread::current() else {
        return fail(e::BAD_SURFACE, "the surface is not current on this thread");
    };
    if current.surfaces.as_ref().is_none_or(|(draw, _)| draw.handle != surface.handle) {
        return fail(e::BAD_SURFACE, "the surface is not the current draw surface");
    }
    if let Some(window) = surface.drawable.native().filter(|_| !damage.is_empty()) {
        window.damage(damage);
    }
    let (shown, is_lost) = super::thread::with_context(&current, |gl| (gl.swap_buffers(), gl.check_lost()))?;
    if is_lost {
        return fail(e::CONTEXT_LOST, "the context was lost");
    }
    if !shown {
        return fail(e::BAD_NATIVE_WINDOW, "the window is gone");
    }
    Ok(())
}

/// `eglSwapInterval`: of the surface that is current for drawing, clamped to what configs offer.
pub(crate) fn set_interval(display: &'static Display, interval: i32) -> EglResult<()> {
    display.session()?;
    let Some(current) = super::thread::current() else { return fail(e::BAD_CONTEXT, "no context is current") };
    let Some((draw, _)) = &current.surfaces else { return fail(e::BAD_SURFACE, "no surface is current") };
    draw.drawable.set_interval(interval.clamp(0, 1));
    Ok(())
}
