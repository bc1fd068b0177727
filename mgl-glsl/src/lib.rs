//! GLSL to SPIR-V for OpenGL programs, with reflection.
