//! The memory and the sockets under a connection: what [`crate::port`] promises, within a process and between two.
//!
//! [`local_pair`] makes both ends in one process. Between processes, the words, rings and segments are the same; the
//! segments are memory files that travel over a socket.

mod assemble;
mod atomic;
mod block;
mod command;
#[cfg(target_os = "linux")]
mod control;
mod core;
mod cursor;
mod doorbell;
mod event;
#[cfg(target_os = "linux")]
mod guest;
#[cfg(target_os = "linux")]
mod handshake;
#[cfg(target_os = "linux")]
mod inherited;
pub(crate) mod memory;
#[cfg(not(target_os = "linux"))]
mod nowhere;
mod platform;
#[cfg(target_os = "linux")]
mod process;
mod reply;
#[cfg(target_os = "linux")]
mod segment;
#[cfg(target_os = "linux")]
mod socket;
mod stage;
mod start;
#[cfg(test)]
mod tests;
#[cfg(target_os = "linux")]
mod watch;

pub use assemble::{local_pair, SegmentSizes};
pub(crate) use block::REPLY_SLOTS;
#[cfg(target_os = "linux")]
pub use control::{FrameError, Frames, CHANNEL_VERSION};
pub use core::Tuning;
#[cfg(target_os = "linux")]
pub use guest::{inherited_socket, Admitted, Guest, Listener, Watch};
#[cfg(not(target_os = "linux"))]
pub use nowhere::{attach, spawn};
#[cfg(target_os = "linux")]
pub use platform::bind_thread;
#[cfg(target_os = "linux")]
pub use process::{attach, spawn};
pub use start::{ConnectOptions, StartError, CONNECTED};
