//! The MGPipe interface: handles, payloads, the call catalogue, traits, caps and errors.
//!
//! MGPipe sits between an API frontend (OpenGL) and a backend (Vulkan, OpenGL ES). Its decisions:
//!
//! * **Explicit and push-only.** Every fact that a backend needs arrives by value before the verb that needs it. A backend
//!   never asks the frontend for state, so it can run on another thread or in another process with the same code.
//! * **Handle-addressed.** The client mints every [`Handle`]; no create call has an answer, hence no round trip.
//! * **Flat and object-safe.** [`Screen`] and [`Context`] take handles and plain data; wrappers (recorder, encoder, null)
//!   are cheap to write and are generated from one list, [`mgpipe_catalogue!`].
//! * **Safe to call.** A bad handle or a contract violation is a logged no-op; only running out of memory, a lost device
//!   and a failed start are errors.
//!
//! Images are stored with GL row 0 at image row 0, for window surfaces too: no vertex, fragment coordinate, winding or
//! derivative is ever flipped; a present flips.
//!
//! Calls that synchronise are those whose [`WaitClass`] is not `None`.
#![forbid(unsafe_code)]

mod callbacks;
mod caps;
mod catalogue;
mod error;
mod format;
pub mod gl;
mod handle;
mod host;
mod join;
mod payload;
mod pod;
pub mod reflection;
pub mod render_state;
pub mod switches;
mod traits;

pub use callbacks::*;
pub use caps::*;
pub use catalogue::*;
pub use error::*;
pub use format::*;
pub use handle::*;
pub use host::*;
pub use join::*;
pub use payload::*;
pub use render_state::{RenderState, ScissorBox};
pub use traits::*;
