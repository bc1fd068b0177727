//! The C ABI of MGL: EGL, OpenGL and glvnd entry points.
