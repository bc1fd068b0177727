//! Tests that drive the backend through the pipe alone. They need an OpenGL ES driver, as Mesa's is.

mod lies;
mod masks;
#[path = "../../examples/textured/scene.rs"]
mod scene;
mod threads;
mod watch;
