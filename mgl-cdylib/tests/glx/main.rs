//! GLX as a C program sees it, on an X server of its own: through libglvnd's libGL, and with the driver in its place.
//!
//! Each test runs its body twice, in two child processes (`ways`).

#[path = "../abi/child.rs"]
mod child;
mod configs;
mod contexts;
mod drawables;
mod glx;
mod threads;
mod ways;
mod windows;
mod xlib;
