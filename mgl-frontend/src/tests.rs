//! Unit tests of commands against the double of [`crate::testing`].

mod buffers;
mod contexts;
mod draws;
mod programs;
mod states;
