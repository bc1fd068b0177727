//! A window of a Wayland compositor with an EGL surface, as an ordinary program makes it. The libraries are loaded at run time.

use std::sync::Arc;

use anyhow::{anyhow, Context as _, Result};
use khronos_egl as egl;
use parking_lot::Mutex;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{delegate_noop, Connection, Dispatch, EventQueue, Proxy as _, QueueHandle};
use wayland_egl::WlEglSurface;
use wayland_protocols::xdg::shell::client::xdg_surface::{self, XdgSurface};
use wayland_protocols::xdg::shell::client::xdg_toplevel::XdgToplevel;
use wayland_protocols::xdg::shell::client::xdg_wm_base::{self, XdgWmBase};

const PLATFORM_WAYLAND: egl::Enum = 0x31D8;

/// What the compositor offers, and what it said.
#[derive(Default)]
pub struct Heard {
    compositor: Option<WlCompositor>,
    shell: Option<XdgWmBase>,
    configured: u32,
}

impl Dispatch<WlRegistry, ()> for Heard {
    fn event(
        heard: &mut Self,
        registry: &WlRegistry,
        event: wl_registry::Event,
        _: &(),
        _: &Connection,
        queue: &QueueHandle<Self>,
    ) {
        if let wl_registry::Event::Global { name, interface, version } = event {
            match interface.as_str() {
                "wl_compositor" => heard.compositor = Some(registry.bind(name, version.min(4), queue, ())),
                "xdg_wm_base" => heard.shell = Some(registry.bind(name, 1, queue, ())),
                _ => {}
            }
        }
    }
}

impl Dispatch<XdgWmBase, ()> for Heard {
    fn event(
        _: &mut Self,
        shell: &XdgWmBase,
        event: xdg_wm_base::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            shell.pong(serial);
        }
    }
}

impl Dispatch<XdgSurface, ()> for Heard {
    fn event(
        heard: &mut Self,
        surface: &XdgSurface,
        event: xdg_surface::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            heard.configured += 1;
        }
    }
}

delegate_noop!(Heard: ignore WlCompositor);
delegate_noop!(Heard: ignore WlSurface);
delegate_noop!(Heard: ignore XdgToplevel);

/// The connection to the compositor that the environment names, with EGL on it.
pub struct Desk {
    /// The connection.
    pub connection: Connection,
    queue: Mutex<(EventQueue<Heard>, Heard)>,
    compositor: WlCompositor,
    shell: XdgWmBase,
    /// EGL's functions.
    pub lib: egl::DynamicInstance<egl::EGL1_5>,
    /// The display.
    pub egl: egl::Display,
    config: egl::Config,
}

// SAFETY: libwayland's connections and EGL displays may be used by every thread.
unsafe impl Send for Desk {}
// SAFETY: as above.
unsafe impl Sync for Desk {}

impl Desk {
    /// Opens the display, for windows of this many bits of alpha.
    ///
    /// # Errors
    /// When a library, the compositor or a config is missing.
    pub fn open(alpha: egl::Int) -> Result<Arc<Desk>> {
        let connection = Connection::connect_to_env().context("no compositor")?;
        let mut queue = connection.new_event_queue();
        let mut heard = Heard::default();
        connection.display().get_registry(&queue.handle(), ());
        queue.roundtrip(&mut heard)?;
        let compositor = heard.compositor.clone().context("no wl_compositor")?;
        let shell = heard.shell.clone().context("no xdg_wm_base")?;
        // SAFETY: libEGL runs its ordinary initialisers.
        let lib = unsafe { egl::DynamicInstance::<egl::EGL1_5>::load_required() }
            .map_err(|error| anyhow!("libEGL.so.1 does not load: {error:?}"))?;
        let display = connection.backend().display_ptr();
        // SAFETY: the native display is open, and is never closed: the value that is returned keeps it.
        let egl = unsafe { lib.get_platform_display(PLATFORM_WAYLAND, display.cast(), &[egl::ATTRIB_NONE]) }
            .context("eglGetPlatformDisplay")?;
        lib.initialize(egl).context("eglInitialize")?;
        let wanted = [
            egl::SURFACE_TYPE,
            egl::WINDOW_BIT,
            egl::RENDERABLE_TYPE,
            egl::OPENGL_BIT,
            egl::RED_SIZE,
            8,
            egl::ALPHA_SIZE,
            alpha,
            egl::DEPTH_SIZE,
            24,
            egl::NONE,
        ];
        let mut configs = Vec::with_capacity(100);
        lib.choose_config(egl, &wanted, &mut configs).context("eglChooseConfig")?;
        // Those with more bits come first.
        let has = |config: egl::Config, name, bits| lib.get_config_attrib(egl, config, name) == Ok(bits);
        let fits = |config: &egl::Config| has(*config, egl::RED_SIZE, 8) && has(*config, egl::ALPHA_SIZE, alpha);
        let config = configs.into_iter().find(fits).context("no config")?;
        let queue = Mutex::new((queue, heard));
        Ok(Arc::new(Desk { connection, queue, compositor, shell, lib, egl, config }))
    }

    /// A window of this size, once the compositor has given it a place.
    ///
    /// # Errors
    /// When the compositor is gone.
    pub fn window(self: &Arc<Self>, width: i32, height: i32) -> Result<Window> {
        let mut queue = self.queue.lock();
        let (queue, heard) = &mut *queue;
        let handle = queue.handle();
        let surface = self.compositor.create_surface(&handle, ());
        let role = self.shell.get_xdg_surface(&surface, &handle, ());
        let toplevel = role.get_toplevel(&handle, ());
        toplevel.set_title("window".into());
        surface.commit();
        let before = heard.configured;
        while heard.configured == before {
            queue.blocking_dispatch(heard)?;
        }
        let native = Some(WlEglSurface::new(surface.id(), width, height)?);
        Ok(Window { desk: self.clone(), native, surface, role, toplevel })
    }

    /// Waits until the compositor has done everything, and hears what it said.
    ///
    /// # Errors
    /// When the compositor is gone.
    pub fn sync(&self) -> Result<()> {
        let (queue, heard) = &mut *self.queue.lock();
        queue.roundtrip(heard)?;
        Ok(())
    }

    /// A context of version 3.3, core profile.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn context(&self) -> Result<egl::Context> {
        let attributes = [
            egl::CONTEXT_MAJOR_VERSION,
            3,
            egl::CONTEXT_MINOR_VERSION,
            3,
            egl::CONTEXT_OPENGL_PROFILE_MASK,
            egl::CONTEXT_OPENGL_CORE_PROFILE_BIT,
            egl::NONE,
        ];
        // Each thread has its own.
        self.lib.bind_api(egl::OPENGL_API).context("eglBindAPI")?;
        self.lib.create_context(self.egl, self.config, None, &attributes).context("eglCreateContext")
    }

    /// Makes a context current with a surface.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn make_current(&self, surface: egl::Surface, context: egl::Context) -> Result<()> {
        self.lib.make_current(self.egl, Some(surface), Some(surface), Some(context)).context("eglMakeCurrent")
    }

    /// The functions of the current context.
    ///
    /// # Safety
    /// A context is current on this thread.
    pub unsafe fn functions(&self) -> glow::Context {
        glow::Context::from_loader_function(|name| {
            self.lib.get_proc_address(name).map_or(std::ptr::null(), |function| function as *const _)
        })
    }
}

/// A window.
pub struct Window {
    desk: Arc<Desk>,
    native: Option<WlEglSurface>,
    surface: WlSurface,
    role: XdgSurface,
    toplevel: XdgToplevel,
}

impl Window {
    /// A surface for it with these attributes, without the end of the list.
    ///
    /// # Errors
    /// What EGL says.
    pub fn surface(&self, attributes: &[egl::Int]) -> Result<egl::Surface, egl::Error> {
        let attributes: Vec<egl::Int> = attributes.iter().copied().chain([egl::NONE]).collect();
        let native = self.native.as_ref().map_or(std::ptr::null(), |native| native.ptr());
        // SAFETY: the window belongs to the display; the list is terminated.
        unsafe {
            let native = native as egl::NativeWindowType;
            self.desk.lib.create_window_surface(self.desk.egl, self.desk.config, native, Some(&attributes))
        }
    }

    /// Asks for another size.
    pub fn resize(&self, width: i32, height: i32) {
        if let Some(native) = &self.native {
            native.resize(width, height, 0, 0);
        }
    }

    /// Destroys everything, in the order that libwayland-egl asks for.
    pub fn destroy(&mut self) {
        if self.native.take().is_some() {
            self.toplevel.destroy();
            self.role.destroy();
            self.surface.destroy();
            let _ = self.desk.connection.flush();
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.destroy();
    }
}
