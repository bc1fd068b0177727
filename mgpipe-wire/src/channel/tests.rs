//! Tests of whole ends, what a hostile peer can do to them, and the model checks of the protocols under them.

mod ends;
#[cfg(target_os = "linux")]
mod handshake;
mod hostile;
mod model;
