//! Wayland compositors without a screen, for programs that open windows, and what is to be seen on them.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context as _, Result};
use rustix::process::{kill_process, Pid, Signal};

use crate::picture::Picture;
use crate::xserver::{Onlooker, XServer};

/// How long a compositor may take to start.
const START: Duration = Duration::from_secs(20);

/// Names the X display that the compositor's screen is a window of, for whoever wants to look at it.
const SCREEN: &str = "MGL_TEST_SCREEN";

/// A compositor of a test's own, gone with it, on an X server without a screen, which gives it a keyboard and a pointer: its
/// shell shows nothing without. The shell gives every window the whole screen and shows the newest one; a window that is
/// smaller stands in the middle, on black.
pub struct Weston {
    child: Child,
    folder: PathBuf,
    server: XServer,
}

/// A look at a compositor's screen from outside of the programs that draw there.
pub struct Screen {
    onlooker: Onlooker,
    window: u32,
}

/// Name of the socket.
const SOCKET: &str = "wayland-test";

impl Weston {
    /// Starts one with a screen of this size.
    ///
    /// # Errors
    /// When there is no Weston, or it does not start.
    pub fn start(width: u32, height: u32) -> Result<Weston> {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        // Paths of sockets are short.
        let folder = std::env::temp_dir().join(format!("mgl-weston-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        let server = XServer::start(width, height)?;
        let mut command = Command::new("weston");
        command.args(["--backend=x11-backend.so", "--use-pixman", "--shell=kiosk-shell.so", "--no-config"]);
        command.args(["--idle-time=0", &format!("--socket={SOCKET}")]);
        command.args([format!("--width={width}"), format!("--height={height}")]);
        let log = std::fs::File::create(folder.join("log"))?;
        command.env("XDG_RUNTIME_DIR", &folder).env("DISPLAY", server.name()).env_remove("WAYLAND_DISPLAY");
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().context("weston does not start (Debian package weston)")?;
        let mut weston = Weston { child, folder, server };
        let deadline = Instant::now() + START;
        while !weston.folder.join(SOCKET).exists() {
            if let Some(status) = weston.child.try_wait()? {
                let said = std::fs::read_to_string(weston.folder.join("log")).unwrap_or_default();
                bail!("weston ended with {status}: {said}");
            }
            ensure!(Instant::now() < deadline, "weston makes no socket");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(weston)
    }

    /// Tells a program where the compositor is.
    pub fn apply(&self, command: &mut Command) {
        command.env_remove("DISPLAY").env("XDG_RUNTIME_DIR", &self.folder).env("WAYLAND_DISPLAY", SOCKET);
        command.env("XDG_SESSION_TYPE", "wayland").env(SCREEN, self.server.name());
    }

    /// A look at the screen.
    ///
    /// # Errors
    /// When it is gone.
    pub fn screen(&self) -> Result<Screen> {
        Screen::new(self.server.name())
    }

    /// Stops it: it is there and does nothing.
    pub fn stop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::STOP);
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Weston {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Screen {
    fn new(display: &str) -> Result<Screen> {
        let onlooker = Onlooker::new(display)?;
        let deadline = Instant::now() + START;
        loop {
            if let Some(&window) = onlooker.windows()?.last() {
                return Ok(Screen { onlooker, window });
            }
            ensure!(Instant::now() < deadline, "weston makes no screen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The screen of the compositor that the environment names.
    ///
    /// # Errors
    /// When the environment names none.
    pub fn of_environment() -> Result<Screen> {
        Screen::new(&std::env::var(SCREEN).context(SCREEN)?)
    }

    /// What is on the screen, its lowest row first.
    ///
    /// # Errors
    /// When the compositor is gone.
    pub fn picture(&self) -> Result<Picture> {
        self.onlooker.picture(self.window)
    }

    /// The part of the screen that is not black, its lowest row first; empty when all is.
    ///
    /// # Errors
    /// When the compositor is gone.
    pub fn window(&self) -> Result<Picture> {
        let screen = self.picture()?;
        let seen = |x: usize, y: usize| screen.pixel(x, y)[..3] != [0, 0, 0];
        let columns: Vec<usize> = (0..screen.width).filter(|&x| (0..screen.height).any(|y| seen(x, y))).collect();
        let rows: Vec<usize> = (0..screen.height).filter(|&y| (0..screen.width).any(|x| seen(x, y))).collect();
        let (Some(&left), Some(&low)) = (columns.first(), rows.first()) else {
            return Ok(Picture::new(0, 0, Vec::new()));
        };
        let (right, high) = (columns.last().map_or(0, |x| x + 1), rows.last().map_or(0, |y| y + 1));
        let pixels = (low..high).flat_map(|y| (left..right).map(move |x| (x, y)));
        let data = pixels.flat_map(|(x, y)| screen.pixel(x, y)).collect();
        Ok(Picture::new(right - left, high - low, data))
    }
}
