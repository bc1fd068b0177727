//! Hand-written entry points: the application's pointers become slices, the frontend does the work.
//!
//! Every function here has the C parameters of the GL function whose name it carries (see `API.md` for the naming
//! rule) after the context. What all of them rely on is what GL demands of the caller: a pointer is null or points to as
//! many elements as the other parameters say. Null where GL needs data is `GL_INVALID_VALUE`, negative counts too.
//! Pointers need not be aligned: packed vertex structures are ordinary.

mod buffers;
mod debug;
mod draws;
mod memory;
mod names;
mod pixels;
mod programs;
mod state;
mod textures;
mod uniforms;
mod vertex_attribs;

pub(crate) use self::buffers::*;
pub(crate) use self::debug::*;
pub(crate) use self::draws::*;
pub(crate) use self::names::*;
pub(crate) use self::pixels::*;
pub(crate) use self::programs::*;
pub(crate) use self::state::*;
pub(crate) use self::textures::*;
pub(crate) use self::uniforms::*;
pub(crate) use self::vertex_attribs::*;
