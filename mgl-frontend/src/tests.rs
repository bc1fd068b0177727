//! Unit tests of commands against the double of [`crate::testing`].

mod buffers;
mod contexts;
mod draws;
mod framebuffers;
mod images;
mod programs;
mod states;
mod windows;
