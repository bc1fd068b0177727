//! X11: displays by the connection of the application, windows by their number.

use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use mgpipe_types::WindowDesc;
use mgpipe_window::{copy_row, Way, WindowError};
use parking_lot::{Mutex, RwLock};
use rustix::net::{getpeername, SocketAddrUnix};

use super::watch::Watch;
use super::xcb::Xcb;
use crate::front::{NativeWindow, Picture};

/// The socket of a display has its number behind this.
const SOCKETS: &[u8] = b"X11-unix/X";

/// Ports of displays begin here.
const FIRST_PORT: u16 = 6000;

/// A connection to an X server.
pub(crate) struct Connection {
    /// None once the program has closed it.
    xcb: RwLock<Option<Xcb>>,
    /// The name by which others reach the same server.
    name: String,
    /// Number of the server within this process.
    server: usize,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Connection({})", self.name)
    }
}

impl Connection {
    /// The connection behind a `Display` of Xlib.
    ///
    /// # Errors
    /// A sentence, when a library is missing.
    ///
    /// # Safety
    ///
    /// `display` points to an open `Display` that stays open while the value is used.
    pub(crate) unsafe fn of_xlib(display: *mut c_void) -> Result<Arc<Connection>, String> {
        // SAFETY: as the caller says.
        Connection::new(unsafe { Xcb::of_xlib(display) }?)
    }

    /// A `xcb_connection_t`.
    ///
    /// # Errors
    /// A sentence, when a library is missing.
    ///
    /// # Safety
    ///
    /// `connection` points to one that stays open while the value is used.
    pub(crate) unsafe fn of_xcb(connection: *mut c_void) -> Result<Arc<Connection>, String> {
        // SAFETY: as the caller says.
        Connection::new(unsafe { Xcb::of_xcb(connection) }?)
    }

    /// A connection of its own to the display that the environment names.
    ///
    /// # Errors
    /// A sentence, when a library or the display is missing.
    pub(crate) fn of_environment() -> Result<Arc<Connection>, String> {
        Connection::new(Xcb::connect()?)
    }

    fn new(xcb: Xcb) -> Result<Arc<Connection>, String> {
        let name = peer_display(&xcb).or_else(|| std::env::var("DISPLAY").ok().filter(|name| !name.is_empty()));
        let name = name.ok_or("the X connection leads to no display with a name")?;
        let server = number_of_server(&name);
        Ok(Arc::new(Connection { xcb: RwLock::new(Some(xcb)), name, server }))
    }

    /// Says that the program closes it: a question that is being asked on another thread is answered first, and there is no
    /// window any more.
    pub(crate) fn close(&self) {
        drop(self.xcb.write().take());
    }

    /// What tells a window from all others of this process: servers count from their own beginnings.
    pub(crate) fn identity(&self, window: u32) -> usize {
        self.server.wrapping_shl(32) | window as usize
    }

    /// The name by which others reach the same server, such as `:0`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Size and depth of a window or pixmap after all requests of the application; `None` when there is no such drawable.
    pub(crate) fn geometry(&self, drawable: u32) -> Option<([u32; 2], u8)> {
        let xcb = self.xcb.read();
        xcb.as_ref().filter(|xcb| !xcb.has_error())?.geometry(drawable)
    }
}

/// The number of a server by its name.
fn number_of_server(name: &str) -> usize {
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut names = NAMES.lock();
    match names.iter().position(|known| known == name) {
        Some(number) => number,
        None => {
            names.push(name.to_owned());
            names.len() - 1
        }
    }
}

/// The display at the other end of a connection's socket.
fn peer_display(xcb: &Xcb) -> Option<String> {
    let raw = xcb.descriptor();
    if raw < 0 {
        return None;
    }
    // SAFETY: the descriptor belongs to the connection, which is open.
    let descriptor = unsafe { BorrowedFd::borrow_raw(raw) };
    let address = getpeername(descriptor).ok()??;
    if let Ok(local) = SocketAddrUnix::try_from(address.clone()) {
        let path = local.path_bytes().or_else(|| local.abstract_name())?;
        let at = path.windows(SOCKETS.len()).position(|part| part == SOCKETS)?;
        let number: u32 = std::str::from_utf8(&path[at + SOCKETS.len()..]).ok()?.parse().ok()?;
        return Some(format!(":{number}"));
    }
    let peer = std::net::SocketAddr::try_from(address).ok()?;
    let number = peer.port().checked_sub(FIRST_PORT)?;
    Some(format!("{}:{number}", peer.ip()))
}

/// A window or pixmap of an application.
pub(crate) struct Window {
    connection: Arc<Connection>,
    number: u32,
    depth: u8,
    watch: Mutex<Watch>,
    /// How this process shows frames itself, once it has to.
    own: Mutex<Option<mgpipe_window::Window>>,
}

impl Window {
    /// A window by its number; `None` when there is none.
    pub(crate) fn open(connection: &Arc<Connection>, number: u32) -> Option<Arc<Window>> {
        let (_, depth) = connection.geometry(number)?;
        Some(Arc::new(Window {
            connection: connection.clone(),
            number,
            depth,
            watch: Mutex::default(),
            own: Mutex::default(),
        }))
    }

    /// Bits of its pixels.
    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    fn show_here(&self, picture: &Picture, read: &mut dyn FnMut(&mut [u8]) -> bool) -> Result<(), WindowError> {
        let mut own = self.own.lock();
        let window = match &mut *own {
            Some(window) => window,
            None => {
                let choice = mgpipe_types::switches::switch("MGL_PRESENT").unwrap_or_default();
                let ways = Way::choices(&choice.to_string_lossy()).map_err(WindowError::Refused)?;
                own.insert(mgpipe_window::Window::open(self.connection.name(), self.number, ways)?)
            }
        };
        window.set_interval(picture.interval);
        let mut pixels = vec![0; picture.width as usize * picture.height as usize * 4];
        if !read(&mut pixels) {
            return Ok(());
        }
        let Some(mut canvas) = window.begin(picture.width, picture.height)? else { return Ok(()) };
        let order = canvas.order();
        for (y, row) in pixels.chunks_exact(picture.width.max(1) as usize * 4).rev().enumerate() {
            let target = canvas.row(y as u32);
            if target.len() == row.len() {
                copy_row(target, row, order, picture.opaque);
            }
        }
        window.show(canvas)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The program may have closed its connection before it ends.
        let ends = super::is_ending();
        if let Some(xcb) = self.connection.xcb.read().as_ref().filter(|xcb| !ends && !xcb.has_error()) {
            self.watch.get_mut().stop(xcb, self.number);
        }
    }
}

impl NativeWindow for Window {
    fn size(&self) -> Option<[u32; 2]> {
        let xcb = self.connection.xcb.read();
        let xcb = xcb.as_ref().filter(|xcb| !xcb.has_error())?;
        match self.watch.try_lock() {
            Some(mut watch) => watch.size(xcb, self.number),
            // Another thread asks, and libxcb may have it wait for one that has locked the display: this one perhaps.
            None => xcb.geometry(self.number).map(|(size, _)| size),
        }
    }

    fn address(&self) -> Option<WindowDesc> {
        WindowDesc::x11(self.connection.name(), self.number)
    }

    fn show(&self, picture: &Picture, read: &mut dyn FnMut(&mut [u8]) -> bool) -> bool {
        super::is_there(self.show_here(picture, read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_numbers() {
        let first = number_of_server("example:1");
        assert_ne!(number_of_server("example:2"), first);
        assert_eq!(number_of_server("example:1"), first);
    }
}
