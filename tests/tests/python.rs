//! Placeholder until written.
fn main() {}
