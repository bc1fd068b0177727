//! Integration tests of the wire crate.

/// Encode and decode are inverse; no bytes panic the decoder.
mod codec;
/// Damaged streams, floods, and rings that are too small.
mod faults;
/// What is recorded plays back to the same bytes.
mod recording;
/// Servers that die are replaced, and the program does not notice.
mod recovery;
/// The emitter and the applier say the same as the backend itself.
mod split;
/// Both roles count, and reports say what.
mod stats;
/// The records of a program, taken from a connection and played to an applier.
mod stream;
/// Waits for fences hold up nothing else.
mod waits;
