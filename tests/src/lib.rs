//! Scenarios, conformance and gates of MGL.
