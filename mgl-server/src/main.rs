//! The server executable that runs a backend in its own process.
fn main() {}
