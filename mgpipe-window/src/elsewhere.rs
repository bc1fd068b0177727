//! Windows on systems without the X11 part: there are none.

use crate::{Order, Visual, Way, WindowError};

/// A window that cannot exist here.
#[derive(Debug)]
pub enum Window {}

/// Likewise a frame.
#[derive(Debug)]
pub enum Canvas {}

impl Canvas {
    /// Order of the bytes of a pixel.
    pub fn order(&self) -> Order {
        match *self {}
    }

    /// A row of pixels.
    pub fn row(&mut self, _: u32) -> &mut [u8] {
        match *self {}
    }
}

impl Window {
    /// Fails.
    ///
    /// # Errors
    /// Always [`WindowError::Refused`].
    pub fn open(_: &str, _: u32, _: &[Way]) -> Result<Window, WindowError> {
        Err(WindowError::Refused("windows are not there on this system yet".into()))
    }

    /// The way that frames take.
    pub fn way(&self) -> Way {
        match *self {}
    }

    /// Sets the swap interval.
    pub fn set_interval(&mut self, _: i32) {
        match *self {}
    }

    /// Memory for a frame.
    ///
    /// # Errors
    /// None, since there is no window.
    pub fn begin(&mut self, _: u32, _: u32) -> Result<Option<Canvas>, WindowError> {
        match *self {}
    }

    /// Shows a frame.
    ///
    /// # Errors
    /// None, since there is no window.
    pub fn show(&mut self, _: Canvas) -> Result<(), WindowError> {
        match *self {}
    }
}

/// Fails.
///
/// # Errors
/// Always [`WindowError::Refused`].
pub fn visuals(_: &str) -> Result<Vec<Visual>, WindowError> {
    Err(WindowError::Refused("windows are not there on this system yet".into()))
}
