//! Off-screen EGL displays and OpenGL core-profile contexts, loaded dynamically so that the driver is chosen at run time.

use std::ffi::c_void;
use std::sync::Arc;

use anyhow::{anyhow, Context as _, Result};
use khronos_egl as egl;

/// `EGL_PLATFORM_SURFACELESS_MESA`.
const PLATFORM_SURFACELESS: egl::Enum = 0x31DD;
/// `EGL_NO_RESET_NOTIFICATION`.
const NO_RESET_NOTIFICATION: egl::Int = 0x31BE;

/// What a context must offer; the defaults are a 3.3 core profile with a 64 × 64 pbuffer of RGBA8 and D24S8.
#[derive(Clone, Copy, Debug)]
pub struct ContextRequest {
    /// Major and minor GL version.
    pub version: (i32, i32),
    /// Ask for a debug context.
    pub debug: bool,
    /// Ask for robust buffer access with `LOSE_CONTEXT_ON_RESET`.
    pub robust: bool,
    /// Width and height of the pbuffer in pixels.
    pub surface: (i32, i32),
    /// Make the context current without any surface, even when a pbuffer could be had.
    pub surfaceless: bool,
    /// The least number of samples of the pbuffer; 0 for one without.
    pub samples: i32,
}

impl ContextRequest {
    /// The default request, usable in constants.
    pub const DEFAULT: Self =
        Self { version: (3, 3), debug: false, robust: false, surface: (64, 64), surfaceless: false, samples: 0 };
}

impl Default for ContextRequest {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// An initialised EGL display; cheap to share between threads.
pub struct Egl {
    lib: egl::DynamicInstance<egl::EGL1_5>,
    display: egl::Display,
}

// SAFETY: EGL displays are process-wide objects that every thread may use (EGL 1.5 section 3.1); the instance is a table of
// function pointers that is never written after loading.
unsafe impl Send for Egl {}
// SAFETY: as above.
unsafe impl Sync for Egl {}

impl Egl {
    /// Loads `libEGL.so.1` and initialises the surfaceless display, or the default display where there is no such platform.
    pub fn open() -> Result<Arc<Self>> {
        // SAFETY: libEGL runs its ordinary initialisers; nothing else in this process depends on their order.
        let lib = unsafe { egl::DynamicInstance::<egl::EGL1_5>::load_required() }
            .map_err(|e| anyhow!("libEGL.so.1 does not load: {e:?}"))?;
        // SAFETY: a null native display is what the surfaceless platform asks for.
        let surfaceless = unsafe {
            lib.get_platform_display(PLATFORM_SURFACELESS, std::ptr::null_mut::<c_void>(), &[egl::ATTRIB_NONE])
        };
        let display = match surfaceless {
            Ok(display) => display,
            // SAFETY: EGL_DEFAULT_DISPLAY is always a legal argument.
            Err(_) => unsafe { lib.get_display(egl::DEFAULT_DISPLAY) }.context("no EGL display")?,
        };
        lib.initialize(display).context("eglInitialize")?;
        Ok(Arc::new(Self { lib, display }))
    }

    /// Ends the display, for every [`Egl`] of the process: what its contexts held goes with the last of them.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn terminate(&self) -> Result<()> {
        self.lib.terminate(self.display).context("eglTerminate")
    }

    /// `EGL_VENDOR`, `EGL_VERSION`, … of the display; empty when the driver has none.
    pub fn string(&self, name: egl::Int) -> String {
        self.lib.query_string(Some(self.display), name).map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The address of a GL or EGL function, null when there is none.
    pub fn proc_address(&self, name: &str) -> *const c_void {
        self.lib.get_proc_address(name).map_or(std::ptr::null(), |f| f as *const c_void)
    }

    /// Creates a context, sharing objects with `share` if given. It is not current afterwards.
    pub fn context(self: &Arc<Self>, request: &ContextRequest, share: Option<&GlContext>) -> Result<GlContext> {
        self.lib.bind_api(egl::OPENGL_API).context("eglBindAPI(OPENGL)")?;
        let config = self
            .lib
            .choose_first_config(
                self.display,
                &[
                    egl::SURFACE_TYPE,
                    egl::PBUFFER_BIT,
                    egl::RENDERABLE_TYPE,
                    egl::OPENGL_BIT,
                    egl::RED_SIZE,
                    8,
                    egl::GREEN_SIZE,
                    8,
                    egl::BLUE_SIZE,
                    8,
                    egl::ALPHA_SIZE,
                    8,
                    egl::DEPTH_SIZE,
                    24,
                    egl::STENCIL_SIZE,
                    8,
                    egl::SAMPLES,
                    request.samples,
                    egl::NONE,
                ],
            )
            .context("eglChooseConfig")?
            .ok_or_else(|| anyhow!("no RGBA8 D24S8 pbuffer config for OpenGL"))?;
        let mut attributes = vec![
            egl::CONTEXT_MAJOR_VERSION,
            request.version.0,
            egl::CONTEXT_MINOR_VERSION,
            request.version.1,
            egl::CONTEXT_OPENGL_PROFILE_MASK,
            egl::CONTEXT_OPENGL_CORE_PROFILE_BIT,
        ];
        if request.debug {
            attributes.extend([egl::CONTEXT_OPENGL_DEBUG, egl::TRUE as egl::Int]);
        }
        if request.robust {
            attributes.extend([
                egl::CONTEXT_OPENGL_ROBUST_ACCESS,
                egl::TRUE as egl::Int,
                egl::CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
                egl::LOSE_CONTEXT_ON_RESET,
            ]);
        } else if share.is_none() {
            attributes.extend([egl::CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, NO_RESET_NOTIFICATION]);
        }
        attributes.push(egl::NONE);
        let context = self
            .lib
            .create_context(self.display, config, share.map(|s| s.context), &attributes)
            .context("eglCreateContext")?;
        let surface = if request.surfaceless {
            None
        } else {
            let size = [egl::WIDTH, request.surface.0, egl::HEIGHT, request.surface.1, egl::NONE];
            Some(self.lib.create_pbuffer_surface(self.display, config, &size).context("eglCreatePbufferSurface")?)
        };
        Ok(GlContext { egl: Arc::clone(self), context, surface })
    }
}

/// A GL context and, unless it is surfaceless, the pbuffer that it draws to.
pub struct GlContext {
    egl: Arc<Egl>,
    context: egl::Context,
    surface: Option<egl::Surface>,
}

// SAFETY: an EGL context may be made current on any one thread at a time (EGL 1.5 section 3.7.3); the type has no
// interior state and `make_current` reports EGL_BAD_ACCESS to a second thread.
unsafe impl Send for GlContext {}
// SAFETY: as above; the shared references of the scenarios only name the context in calls that EGL synchronises.
unsafe impl Sync for GlContext {}

impl GlContext {
    /// Makes the context current on the calling thread.
    pub fn make_current(&self) -> Result<()> {
        self.egl.lib.bind_api(egl::OPENGL_API).context("eglBindAPI(OPENGL)")?;
        self.egl
            .lib
            .make_current(self.egl.display, self.surface, self.surface, Some(self.context))
            .context("eglMakeCurrent")
    }

    /// Leaves the calling thread without a context.
    pub fn release(&self) -> Result<()> {
        self.egl.lib.make_current(self.egl.display, None, None, None).context("eglMakeCurrent(none)")
    }

    /// Ends a frame: `eglSwapBuffers` on the pbuffer, which EGL defines to do nothing for one.
    pub fn swap_buffers(&self) -> Result<()> {
        match self.surface {
            Some(surface) => self.egl.lib.swap_buffers(self.egl.display, surface).context("eglSwapBuffers"),
            None => Ok(()),
        }
    }

    /// The display the context came from.
    pub fn egl(&self) -> &Arc<Egl> {
        &self.egl
    }

    /// The function table of the context.
    ///
    /// # Safety
    /// The context is current on the calling thread.
    pub unsafe fn functions(&self) -> glow::Context {
        glow::Context::from_loader_function(|name| self.egl.proc_address(name))
    }
}

impl Drop for GlContext {
    fn drop(&mut self) {
        // A context that is still current somewhere is only marked for deletion (EGL 1.5 section 3.7.2), which is legal, so
        // neither result carries information.
        let _ = self.egl.lib.destroy_context(self.egl.display, self.context);
        if let Some(surface) = self.surface {
            let _ = self.egl.lib.destroy_surface(self.egl.display, surface);
        }
    }
}
