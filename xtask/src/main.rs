//! Commands of the MGL repository.
fn main() {}
