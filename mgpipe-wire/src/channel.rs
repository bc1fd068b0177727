//! The memory and the sockets under a connection: what [`crate::port`] promises, within a process and between two.
//!
//! [`local_pair`] makes both ends in one process. Between processes, the words, rings and segments are the same; the
//! segments are memory files that travel over a socket.

mod assemble;
mod atomic;
mod block;
mod command;
mod core;
mod cursor;
mod doorbell;
mod event;
mod memory;
mod platform;
mod reply;
mod stage;
#[cfg(test)]
mod tests;

pub use assemble::{local_pair, SegmentSizes};
pub use core::{Tuning, WaitCounters};
