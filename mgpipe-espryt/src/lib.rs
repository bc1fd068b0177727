//! Espryt: the MGPipe backend for OpenGL ES.
