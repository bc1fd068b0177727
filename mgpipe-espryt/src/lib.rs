//! Espryt, the MGPipe backend for OpenGL ES 3.x. So far it is its capability probe: it opens a GLES context without a
//! display and says what the driver reports, so that `doctor` can tell whether a machine could run the backend.
//!
//! The backend itself is not there yet: it will translate SPIR-V to ESSL, keep a value mirror of the pushed render state
//! and send span diffs, and decide features by trying them (draw and read back), not by driver names or version strings.
//! What the probe reports is therefore a first look, not the backend's verdict.
#![deny(unsafe_op_in_unsafe_fn)]

mod probe;

pub use probe::{probe, Extension, GlesContext, Probe, WANTED};
