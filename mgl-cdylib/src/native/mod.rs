//! Windows of the application, for EGL and GLX alike.
//!
//! What is here uses the application's own connection to the window system, and only to ask: which display it is, and how
//! large a window is after everything that the program has requested so far. Frames are shown by the backend, or by
//! `mgpipe-window` in this process, through connections of their own.

pub(crate) mod x11;
mod xcb;
