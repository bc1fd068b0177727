//! X servers without a screen, for programs that open windows, and what is to be seen on them.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{bail, Context as _, Result};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, EventMask,
    ImageFormat, MapState, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use crate::picture::Picture;

/// An X server of a test's own, gone with it.
pub struct XServer {
    child: Child,
    name: String,
}

impl XServer {
    /// Starts one with a screen of this size.
    ///
    /// # Errors
    /// When there is no Xvfb, or it does not start.
    pub fn start(width: u32, height: u32) -> Result<XServer> {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-noreset"]);
        command.args(["-screen", "0", &format!("{width}x{height}x24")]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("Xvfb does not start (Debian package xvfb)")?;
        let mut line = String::new();
        let output = child.stdout.take().context("no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let number: u32 = match line.trim().parse() {
            Ok(number) => number,
            Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("Xvfb said {line:?} in place of its display's number");
            }
        };
        Ok(XServer { child, name: format!(":{number}") })
    }

    /// Its name, for `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A look at a display from outside of the program that draws there.
pub struct Onlooker {
    connection: RustConnection,
    root: u32,
}

impl Onlooker {
    /// Connects to a display.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn new(display: &str) -> Result<Onlooker> {
        let (connection, screen) = RustConnection::connect(Some(display)).context("no X display")?;
        let root = connection.setup().roots[screen].root;
        Ok(Onlooker { connection, root })
    }

    /// The root window.
    pub fn root(&self) -> u32 {
        self.root
    }

    /// What is in a window, or on the whole screen for the root window, its lowest row first; alpha is 255.
    ///
    /// # Errors
    /// When the window is not on the screen.
    pub fn picture(&self, window: u32) -> Result<Picture> {
        let size = self.connection.get_geometry(window)?.reply()?;
        let (width, height) = (size.width, size.height);
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, window, 0, 0, width, height, u32::MAX)?.reply()?;
        let row = usize::from(width) * 4;
        let pixels = image.data.chunks_exact(row).rev().flatten();
        let mut data: Vec<u8> = pixels.copied().collect();
        for pixel in data.chunks_exact_mut(4) {
            pixel.swap(0, 2);
            pixel[3] = 0xff;
        }
        Ok(Picture::new(usize::from(width), usize::from(height), data))
    }

    /// Windows on the screen that are no children of others, the topmost one last.
    ///
    /// # Errors
    /// When the display is gone.
    pub fn windows(&self) -> Result<Vec<u32>> {
        let all = self.connection.query_tree(self.root)?.reply()?.children;
        let is_seen = |window: &u32| {
            let attributes = self.connection.get_window_attributes(*window).ok().and_then(|cookie| cookie.reply().ok());
            attributes.is_some_and(|a| a.map_state == MapState::VIEWABLE && a.class == WindowClass::INPUT_OUTPUT)
        };
        Ok(all.into_iter().filter(is_seen).collect())
    }

    /// Gives a window another size.
    ///
    /// # Errors
    /// When there is no such window.
    pub fn resize(&self, window: u32, width: u32, height: u32) -> Result<()> {
        let new = ConfigureWindowAux::new().width(width).height(height);
        self.connection.configure_window(window, &new)?.check()?;
        Ok(())
    }

    /// Destroys a window of whatever program.
    ///
    /// # Errors
    /// When there is no such window.
    pub fn destroy(&self, window: u32) -> Result<()> {
        self.connection.destroy_window(window)?.check()?;
        Ok(())
    }

    /// Asks a program to close its window, as a window manager does when its user wants that.
    ///
    /// # Errors
    /// When there is no such window.
    pub fn ask_to_close(&self, window: u32) -> Result<()> {
        let atom = |name: &[u8]| -> Result<u32> { Ok(self.connection.intern_atom(false, name)?.reply()?.atom) };
        let data = [atom(b"WM_DELETE_WINDOW")?, 0, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, atom(b"WM_PROTOCOLS")?, data);
        self.connection.send_event(false, window, EventMask::NO_EVENT, message)?.check()?;
        Ok(())
    }

    /// Closes the connection of the program that a window belongs to.
    ///
    /// # Errors
    /// When there is no such window.
    pub fn disconnect(&self, window: u32) -> Result<()> {
        self.connection.kill_client(window)?.check()?;
        Ok(())
    }

    /// Covers the whole screen with a window of its own.
    ///
    /// # Errors
    /// When the display is gone.
    pub fn cover(&self) -> Result<u32> {
        let window = self.connection.generate_id()?;
        let size = self.connection.get_geometry(self.root)?.reply()?;
        let look = CreateWindowAux::new().background_pixel(0xff_00ff).override_redirect(1);
        let (depth, class) = (x11rb::COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        self.connection
            .create_window(depth, window, self.root, 0, 0, size.width, size.height, 0, class, 0, &look)?
            .check()?;
        self.connection.map_window(window)?.check()?;
        Ok(window)
    }

    /// Paints the background of the screen, so that what a program leaves unpainted is seen.
    ///
    /// # Errors
    /// When the display is gone.
    pub fn paint_background(&self, pixel: u32) -> Result<()> {
        let look = ChangeWindowAttributesAux::new().background_pixel(pixel);
        self.connection.change_window_attributes(self.root, &look)?.check()?;
        self.connection.clear_area(false, self.root, 0, 0, 0, 0)?.check()?;
        Ok(())
    }
}
