//! Surfaces: what all have in common, and pbuffers. Windows and pixmaps are made in `window`.

use std::sync::Arc;
use std::thread::{self, ThreadId};

use parking_lot::Mutex;

use super::config::Config;
use super::display::Display;
use super::enums as e;
use super::error::{fail, EglResult};
use crate::front::{Drawable, DrawableDesc};

/// A pbuffer, window or pixmap. It lives as long as its handle or a thread that has it current.
pub(crate) struct Surface {
    /// The `EGLSurface` value.
    pub(crate) handle: usize,
    /// The config it was made with.
    pub(crate) config: Config,
    /// The frontend's default framebuffer.
    pub(crate) drawable: Arc<Drawable>,
    /// What the window system knows the window by, 0 for a pbuffer.
    pub(crate) native: usize,
    largest: bool,
    state: Mutex<State>,
}

struct State {
    mipmap_level: i32,
    multisample_resolve: i32,
    swap_behavior: i32,
    /// The thread that has it current, and as how many of draw and read.
    bound: Option<(ThreadId, u32)>,
}

impl Surface {
    /// A surface that nobody has current.
    pub(crate) fn new(config: Config, drawable: Arc<Drawable>, native: usize, largest: bool) -> Surface {
        let state = State {
            mipmap_level: 0,
            multisample_resolve: e::MULTISAMPLE_RESOLVE_DEFAULT,
            swap_behavior: if native == 0 { e::BUFFER_PRESERVED } else { e::BUFFER_DESTROYED },
            bound: None,
        };
        Surface { handle: super::new_handle(), config, drawable, native, largest, state: Mutex::new(state) }
    }

    /// Whether this thread has it current for drawing.
    fn is_current_for_drawing(&self) -> bool {
        let surfaces = super::thread::current().and_then(|current| current.surfaces);
        surfaces.is_some_and(|(draw, _)| draw.handle == self.handle)
    }

    /// Claims the surface for one role (draw or read) on this thread; false when another thread has it.
    pub(crate) fn claim(&self) -> bool {
        let me = thread::current().id();
        let mut state = self.state.lock();
        match &mut state.bound {
            None => state.bound = Some((me, 1)),
            Some((owner, count)) if *owner == me => *count += 1,
            Some(_) => return false,
        }
        true
    }

    /// Gives one claim back.
    pub(crate) fn unclaim(&self) {
        let mut state = self.state.lock();
        state.bound = match state.bound {
            Some((owner, count)) if count > 1 => Some((owner, count - 1)),
            _ => None,
        };
    }
}

/// `eglCreatePbufferSurface`.
pub(crate) fn create_pbuffer(display: &'static Display, config: Config, attributes: &[(i32, i32)]) -> EglResult<usize> {
    display.session()?;
    let (mut width, mut height, mut largest, mut srgb) = (0, 0, false, false);
    let (mut format, mut target) = (e::NO_TEXTURE, e::NO_TEXTURE);
    for &(name, value) in attributes {
        match name {
            e::WIDTH => width = value,
            e::HEIGHT => height = value,
            e::LARGEST_PBUFFER => largest = value != e::FALSE,
            e::TEXTURE_FORMAT => format = value,
            e::TEXTURE_TARGET => target = value,
            e::MIPMAP_TEXTURE => {}
            e::GL_COLORSPACE => {
                srgb = match value {
                    e::GL_COLORSPACE_SRGB => true,
                    e::GL_COLORSPACE_LINEAR => false,
                    _ => return fail(e::BAD_ATTRIBUTE, format!("{value:#x} is no colour space")),
                };
            }
            e::VG_COLORSPACE | e::VG_ALPHA_FORMAT => {}
            _ => return fail(e::BAD_ATTRIBUTE, format!("{name:#x} is no pbuffer attribute")),
        }
    }
    if width < 0 || height < 0 {
        return fail(e::BAD_PARAMETER, format!("a pbuffer of {width} x {height}"));
    }
    let texture = |v: i32| matches!(v, e::TEXTURE_RGB | e::TEXTURE_RGBA);
    if (format != e::NO_TEXTURE && !texture(format)) || (target != e::NO_TEXTURE && target != e::TEXTURE_2D) {
        return fail(e::BAD_ATTRIBUTE, "unknown texture format or target");
    }
    if format != e::NO_TEXTURE || target != e::NO_TEXTURE {
        // Only configs with EGL_BIND_TO_TEXTURE_* can be textures, and OpenGL has no such binding.
        return fail(e::BAD_ATTRIBUTE, "the config cannot be bound to a texture");
    }
    // EGL_RENDER_BUFFER of a pbuffer is the back buffer, so GL_BACK exists.
    Ok(new_pbuffer(display, config, Pbuffer { width, height, largest, srgb, double_buffered: true })?.handle)
}

/// What a pbuffer is made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pbuffer {
    /// Pixels, not negative.
    pub(crate) width: i32,
    /// Pixels, not negative.
    pub(crate) height: i32,
    /// A size that is too large becomes the largest there is.
    pub(crate) largest: bool,
    /// Its colours are sRGB.
    pub(crate) srgb: bool,
    /// It has a back buffer; without one it has a front buffer.
    pub(crate) double_buffered: bool,
}

/// Makes a pbuffer from validated attributes, for EGL or GLX.
pub(crate) fn new_pbuffer(display: &'static Display, config: Config, pbuffer: Pbuffer) -> EglResult<Arc<Surface>> {
    let Pbuffer { mut width, mut height, largest, srgb, double_buffered } = pbuffer;
    let side = config.max_side.min(display.session()?.limits.max_side);
    if width > side || height > side {
        if !largest {
            return fail(e::BAD_ALLOC, format!("a pbuffer of {width} x {height}; the limit is {side}"));
        }
        (width, height) = (width.min(side), height.min(side));
    }
    let [red, green, blue, alpha] = config.rgba.map(|bits| bits as u8);
    let desc = DrawableDesc {
        // Checked to be non-negative. Zero stays zero for the queries; the frontend needs storage of at least one pixel.
        width: width as u32,
        height: height as u32,
        red,
        green,
        blue,
        alpha,
        depth: config.depth as u8,
        stencil: config.stencil as u8,
        samples: config.samples as u8,
        srgb,
        double_buffered,
    };
    display.add_surface(Surface::new(config, Drawable::new(desc), 0, largest))
}

/// `eglQuerySurface`. `None` for attributes that leave the application's variable alone.
pub(crate) fn query(display: &'static Display, surface: usize, attribute: i32) -> EglResult<Option<i32>> {
    let surface = display.surface(surface)?;
    let mut desc = surface.drawable.desc();
    if matches!(attribute, e::WIDTH | e::HEIGHT) {
        // The window's size, whatever that of the frame in work is.
        if let Some([width, height]) = surface.drawable.native().and_then(|window| window.size()) {
            (desc.width, desc.height) = (width, height);
        }
    }
    if attribute == e::BUFFER_AGE_EXT {
        if !surface.is_current_for_drawing() {
            return fail(e::BAD_SURFACE, "the age of a surface that is not current");
        }
        let age = super::thread::current().map(|current| super::thread::with_context(&current, |gl| gl.draw_age()));
        return age.transpose().map(|age| Some(age.unwrap_or_default()));
    }
    let state = surface.state.lock();
    Ok(Some(match attribute {
        e::CONFIG_ID => surface.config.id,
        e::WIDTH => i32::try_from(desc.width).unwrap_or(i32::MAX),
        e::HEIGHT => i32::try_from(desc.height).unwrap_or(i32::MAX),
        e::HORIZONTAL_RESOLUTION | e::VERTICAL_RESOLUTION | e::PIXEL_ASPECT_RATIO => e::UNKNOWN,
        e::LARGEST_PBUFFER => i32::from(surface.largest),
        e::TEXTURE_FORMAT | e::TEXTURE_TARGET => e::NO_TEXTURE,
        e::MIPMAP_TEXTURE => e::FALSE,
        e::MIPMAP_LEVEL => state.mipmap_level,
        e::MULTISAMPLE_RESOLVE => state.multisample_resolve,
        e::RENDER_BUFFER if surface.native != 0 && !desc.double_buffered => e::SINGLE_BUFFER,
        e::RENDER_BUFFER => e::BACK_BUFFER,
        e::SWAP_BEHAVIOR => state.swap_behavior,
        e::GL_COLORSPACE if desc.srgb => e::GL_COLORSPACE_SRGB,
        e::GL_COLORSPACE => e::GL_COLORSPACE_LINEAR,
        e::VG_COLORSPACE => e::VG_COLORSPACE_sRGB,
        e::VG_ALPHA_FORMAT => e::VG_ALPHA_FORMAT_NONPRE,
        _ => return fail(e::BAD_ATTRIBUTE, format!("{attribute:#x} is no surface attribute")),
    }))
}

/// `eglSurfaceAttrib`.
pub(crate) fn set_attribute(display: &'static Display, surface: usize, attribute: i32, value: i32) -> EglResult<()> {
    let surface = display.surface(surface)?;
    let mut state = surface.state.lock();
    match (attribute, value) {
        (e::MIPMAP_LEVEL, _) => state.mipmap_level = value,
        (e::MULTISAMPLE_RESOLVE, e::MULTISAMPLE_RESOLVE_DEFAULT) => state.multisample_resolve = value,
        (e::MULTISAMPLE_RESOLVE, e::MULTISAMPLE_RESOLVE_BOX) => {
            // Needs EGL_MULTISAMPLE_RESOLVE_BOX_BIT in the config's surface types.
            return fail(e::BAD_MATCH, "the config has no box resolve");
        }
        (e::SWAP_BEHAVIOR, e::BUFFER_DESTROYED) => state.swap_behavior = value,
        (e::SWAP_BEHAVIOR, e::BUFFER_PRESERVED) if surface.native != 0 => state.swap_behavior = value,
        (e::SWAP_BEHAVIOR, e::BUFFER_PRESERVED) => {
            return fail(e::BAD_MATCH, "the config has no EGL_SWAP_BEHAVIOR_PRESERVED_BIT");
        }
        (e::MULTISAMPLE_RESOLVE | e::SWAP_BEHAVIOR, _) => {
            return fail(e::BAD_PARAMETER, format!("{value:#x} is no value of surface attribute {attribute:#x}"));
        }
        _ => return fail(e::BAD_ATTRIBUTE, format!("surface attribute {attribute:#x} cannot be set")),
    }
    Ok(())
}
