//! The server as its clients see it: started by them, attached to, killed, left.
//!
//! Clients that must die are processes of their own: this test program again, running one of the tests of `victim`.

#[cfg(target_os = "linux")]
mod attached;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod lives;
mod purity;
#[cfg(target_os = "linux")]
mod victim;
