//! What differs between operating systems: memory files, sleeping on a shared word, sockets that carry files, processes.
//!
//! Each system has one module with the same functions. Where there is none, the ends of a connection must be in one
//! process, and sleeping is a short nap.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::bind_thread;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::*;
