//! A display of the host's driver, its contexts and its fences.

use super::library::Library;
use super::numbers::{
    CONDITION_SATISFIED, LOSE_CONTEXT_ON_RESET, RESET_NOTIFICATION_STRATEGY, ROBUST_ACCESS, SYNC_FENCE,
    SYNC_FLUSH_COMMANDS, TIMEOUT_EXPIRED,
};
use khronos_egl as egl;
use std::ffi::{c_void, CStr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// An initialised display. Never terminated: other users of the driver in this process may share it.
pub(crate) struct Display {
    pub(crate) library: Arc<Library>,
    raw: egl::EGLDisplay,
    config: egl::EGLConfig,
    surfaceless: bool,
    /// Contexts say when they are lost.
    robust: bool,
}

// SAFETY: EGL's functions may be called from any thread; the pointers are the driver's handles and are never dereferenced
// here.
unsafe impl Send for Display {}
// SAFETY: as above.
unsafe impl Sync for Display {}

impl Display {
    /// Initialises a display and chooses a config for OpenGL ES 3.
    pub(crate) fn open(library: &Arc<Library>, raw: egl::EGLDisplay) -> Result<Display, String> {
        let egl = &library.egl;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: a display of this driver.
        if unsafe { (egl.initialize)(raw, &mut major, &mut minor) } != egl::TRUE {
            return Err(format!("eglInitialize failed ({:#x})", last_error(library)));
        }
        // SAFETY: an initialised display; the answer is a terminated string or null.
        let extensions = unsafe {
            let text = (egl.query_string)(raw, egl::EXTENSIONS);
            if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        let surfaceless = extensions.split_whitespace().any(|e| e == "EGL_KHR_surfaceless_context");
        let robust = extensions.split_whitespace().any(|e| e == "EGL_EXT_create_context_robustness");
        let attributes = [
            egl::RENDERABLE_TYPE,
            egl::OPENGL_ES3_BIT,
            egl::SURFACE_TYPE,
            if surfaceless { 0 } else { egl::PBUFFER_BIT },
            egl::NONE,
        ];
        let mut config = std::ptr::null_mut();
        let mut count = 0;
        // SAFETY: an initialised display, a terminated list and room for one config.
        let chosen = unsafe { (egl.choose_config)(raw, attributes.as_ptr(), &mut config, 1, &mut count) };
        if chosen != egl::TRUE || count < 1 {
            return Err("no config for OpenGL ES 3".into());
        }
        Ok(Display { library: library.clone(), raw, config, surfaceless, robust })
    }

    /// A context of the newest OpenGL ES 3 that the driver gives, which shares objects with `share`.
    pub(crate) fn create_context(self: &Arc<Self>, share: Option<&HostContext>) -> Result<HostContext, String> {
        static SERIALS: AtomicU64 = AtomicU64::new(1);
        let egl = &self.library.egl;
        let share = share.map_or(std::ptr::null_mut(), |context| context.raw);
        let mut raw = std::ptr::null_mut();
        for minor in [2, 1, 0] {
            // All contexts of a share group have the same strategy.
            let strategy = if self.robust { RESET_NOTIFICATION_STRATEGY } else { egl::NONE };
            let attributes = [
                egl::CONTEXT_MAJOR_VERSION,
                3,
                egl::CONTEXT_MINOR_VERSION,
                minor,
                strategy,
                LOSE_CONTEXT_ON_RESET,
                // What draws read beyond their buffers is undefined to the client, and no fault.
                ROBUST_ACCESS,
                1,
                egl::NONE,
            ];
            // SAFETY: an initialised display with its own config, a context of it or none, a terminated list.
            raw = unsafe {
                (egl.bind_api)(egl::OPENGL_ES_API);
                (egl.create_context)(self.raw, self.config, share, attributes.as_ptr())
            };
            if !raw.is_null() {
                break;
            }
        }
        if raw.is_null() {
            return Err(format!("no OpenGL ES 3 context ({:#x})", last_error(&self.library)));
        }
        let mut surface = std::ptr::null_mut();
        if !self.surfaceless {
            let attributes = [egl::WIDTH, 1, egl::HEIGHT, 1, egl::NONE];
            // SAFETY: the config allows pbuffers; the list is terminated.
            surface = unsafe { (egl.create_pbuffer)(self.raw, self.config, attributes.as_ptr()) };
        }
        let serial = SERIALS.fetch_add(1, Ordering::Relaxed);
        Ok(HostContext { display: self.clone(), raw, surface, serial })
    }

    /// The function of a name, null when there is none.
    pub(crate) fn proc_address(&self, name: &CStr) -> *const c_void {
        self.library.proc_address(name)
    }

    /// Binds a context to this thread, or none.
    pub(super) fn bind(&self, context: Option<&HostContext>) -> Result<(), String> {
        let (raw, surface) =
            context.map_or((std::ptr::null_mut(), std::ptr::null_mut()), |context| (context.raw, context.surface));
        // SAFETY: context and surface belong to this display.
        let bound = unsafe { (self.library.egl.make_current)(self.raw, surface, surface, raw) };
        if bound == egl::TRUE {
            return Ok(());
        }
        let code = last_error(&self.library);
        Err(if code == egl::CONTEXT_LOST { "EGL_CONTEXT_LOST".into() } else { format!("eglMakeCurrent: {code:#x}") })
    }

    /// A fence behind everything that this thread's current context has done.
    pub(crate) fn create_sync(self: &Arc<Self>) -> Option<Fence> {
        let none = [egl::ATTRIB_NONE];
        // SAFETY: a context of this display is current; the list is terminated.
        let raw = unsafe { (self.library.egl.create_sync)(self.raw, SYNC_FENCE, none.as_ptr()) };
        (!raw.is_null()).then(|| Fence { display: self.clone(), raw })
    }
}

/// The latest EGL error of this thread.
fn last_error(library: &Library) -> egl::Int {
    // SAFETY: no preconditions.
    unsafe { (library.egl.get_error)() }
}

/// A GLES context of the host.
pub(crate) struct HostContext {
    display: Arc<Display>,
    raw: egl::EGLContext,
    surface: egl::EGLSurface,
    /// Never-reused identity.
    pub(crate) serial: u64,
}

// SAFETY: a context may be used by any thread, one at a time; binding it is what EGL checks.
unsafe impl Send for HostContext {}
// SAFETY: every use but binding is read-only.
unsafe impl Sync for HostContext {}

impl HostContext {
    pub(crate) fn display(&self) -> &Arc<Display> {
        &self.display
    }
}

impl Drop for HostContext {
    fn drop(&mut self) {
        super::current::forget(self);
        let egl = &self.display.library.egl;
        // SAFETY: handles of this display. A context that is current somewhere lives on until it is released.
        unsafe {
            (egl.destroy_context)(self.display.raw, self.raw);
            if !self.surface.is_null() {
                (egl.destroy_surface)(self.display.raw, self.surface);
            }
        }
    }
}

/// A fence of the host, waited for from any thread.
pub(crate) struct Fence {
    display: Arc<Display>,
    raw: egl::EGLSync,
}

// SAFETY: EGL syncs may be waited for from any thread.
unsafe impl Send for Fence {}
// SAFETY: as above.
unsafe impl Sync for Fence {}

impl Fence {
    /// Waits at most so long. `Some(true)`: signalled; `None`: the driver failed.
    pub(crate) fn wait(&self, timeout_ns: u64) -> Option<bool> {
        // SAFETY: a live sync of this display.
        let answer = unsafe {
            (self.display.library.egl.client_wait_sync)(self.display.raw, self.raw, SYNC_FLUSH_COMMANDS, timeout_ns)
        };
        match answer {
            CONDITION_SATISFIED => Some(true),
            TIMEOUT_EXPIRED => Some(false),
            _ => None,
        }
    }

    /// Makes what the current context does next wait for the fence.
    pub(crate) fn wait_server(&self) -> bool {
        // SAFETY: a live sync of this display, whose context is current.
        unsafe { (self.display.library.egl.wait_sync)(self.display.raw, self.raw, 0) == egl::TRUE }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once.
        unsafe { (self.display.library.egl.destroy_sync)(self.display.raw, self.raw) };
    }
}
