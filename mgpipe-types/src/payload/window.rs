//! Windows of the window system, which a backend shows frames in.

use crate::pod::payload;

/// Values of [`WindowDesc::system`].
pub mod window_system {
    /// X11: the display is a name such as `:0`, the native number an XID.
    pub const X11: u32 = 1;
}

/// Longest name of a display, in bytes.
pub const MAX_DISPLAY_NAME: usize = 112;

payload! {
    /// A window that the client has, by value, 128 bytes: a backend opens a connection of its own to reach it.
    WindowDesc [128] {
        /// Number that `present` and `set_swap_interval` use; chosen by the client, not 0, unique within the screen.
        window: u32,
        /// A value of [`window_system`].
        system: u32,
        /// The window system's own number.
        native: u32,
        /// 1 when the pixels' alpha means nothing: the window gets opaque ones.
        opaque: u32,
        /// Name of the display, zeros behind it.
        display: [u8; MAX_DISPLAY_NAME],
    }

    /// Answer of `window_open`, 8 bytes.
    WindowAnswer [8] {
        /// 1 when swap intervals follow the display's refresh.
        paced: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A window by its number, 8 bytes.
    WindowRef [8] {
        /// Window surface on the server.
        window: u32,
        /// Padding, zero.
        pad: u32,
    }
}

impl WindowDesc {
    /// The name of the display; empty when it is no text.
    pub fn display_name(&self) -> &str {
        let end = self.display.iter().position(|byte| *byte == 0).unwrap_or(self.display.len());
        std::str::from_utf8(&self.display[..end]).unwrap_or_default()
    }

    /// A window of an X server; `None` when the name of the display is too long.
    pub fn x11(display: &str, native: u32) -> Option<WindowDesc> {
        let mut desc = WindowDesc { system: window_system::X11, native, ..WindowDesc::default() };
        desc.display.get_mut(..display.len())?.copy_from_slice(display.as_bytes());
        Some(desc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_displays_fit_or_are_refused() {
        let desc = WindowDesc::x11("example:7.1", 9).expect("short");
        assert_eq!((desc.display_name(), desc.native), ("example:7.1", 9));
        assert!(WindowDesc::x11(&"x".repeat(MAX_DISPLAY_NAME + 1), 9).is_none());
        let longest = "x".repeat(MAX_DISPLAY_NAME);
        assert_eq!(WindowDesc::x11(&longest, 9).expect("fits").display_name(), longest);
    }
}
