//! The OpenGL object model and state of MGL.

pub mod boundary;
