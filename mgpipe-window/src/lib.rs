//! Shows pictures in X11 windows that somebody else made, through a connection of its own.
//!
//! A [`Window`] stands for a window of the application. It has a connection to the X server that is opened with it, so that
//! nothing here meets the application's event queue, its error handler or its threads, and it works the same in the
//! application's process and in another one. Frames are written into memory that the X server reads:
//!
//! ```no_run
//! # fn frame(window: &mut mgpipe_window::Window) -> Result<(), mgpipe_window::WindowError> {
//! let (width, height) = (1280, 720);
//! if let Some(mut canvas) = window.begin(width, height)? {
//!     let order = canvas.order();
//!     for y in 0..height {
//!         let row = canvas.row(y); // row 0 is at the top
//!         row.fill(0x40);
//!         mgpipe_window::finish_row(row, order, true);
//!     }
//!     window.show(canvas)?;
//! }
//! # Ok(()) }
//! ```
//!
//! There are three ways to the screen, see [`Way`]; the first one that works is taken. No wait lasts longer than [`BOUND`].

#[cfg(target_os = "linux")]
mod memory;
mod pixels;
#[cfg(all(target_os = "linux", feature = "wayland"))]
pub mod wayland;
#[cfg(target_os = "linux")]
mod x11;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod x11;

use std::time::Duration;

pub use pixels::{copy_row, finish_row, Order};
pub use x11::{visuals, Canvas, Window};

/// The longest that a frame waits: for memory that the X server still reads, or for the display to show earlier frames. A
/// window that is not on the screen may never be looked at, and must not hold a program up.
pub const BOUND: Duration = Duration::from_millis(100);

/// How frames get to the X server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// A pixmap in shared memory that the Present extension copies: the only way that knows the display's refresh.
    Present,
    /// A picture in shared memory that the X server copies as soon as it can.
    Shm,
    /// A picture in the stream of requests: works to another machine, too.
    Put,
}

impl Way {
    /// The ways to try, from the value of the switch `MGL_PRESENT`; the error names the choices.
    ///
    /// # Errors
    /// A value that is none of `auto`, `present`, `shm` and `put`.
    pub fn choices(value: &str) -> Result<&'static [Way], String> {
        match value {
            "" | "auto" => Ok(&[Way::Present, Way::Shm, Way::Put]),
            "present" => Ok(&[Way::Present]),
            "shm" => Ok(&[Way::Shm]),
            "put" => Ok(&[Way::Put]),
            other => Err(format!("MGL_PRESENT={other} is unknown; use auto, present, shm or put")),
        }
    }
}

/// A visual of an X server whose pixels have 8 bits of each colour and 4 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visual {
    /// Its number.
    pub id: u32,
    /// Its class: 4 is TrueColor, 5 is DirectColor.
    pub class: u8,
    /// Bits of a pixel that mean something: 24, or 32 with alpha.
    pub depth: u8,
    /// The root window has it.
    pub is_root: bool,
}

/// Why a window shows nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// It cannot be shown in at all: no connection, no such window, a format that is not known here.
    #[error("{0}")]
    Refused(String),
    /// The window or its X server is gone.
    #[error("{0}")]
    Gone(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_have_names() {
        assert_eq!(Way::choices("").expect("known").len(), 3);
        assert_eq!(Way::choices("shm"), Ok(&[Way::Shm][..]));
        assert!(Way::choices("fast").expect_err("unknown").contains("auto, present, shm or put"));
    }
}
