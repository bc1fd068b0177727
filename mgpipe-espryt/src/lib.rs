//! Espryt: the MGPipe backend for OpenGL ES.
//!
//! Espryt runs on OpenGL ES 3.1 and takes what 3.2 and extensions offer; formats and promises are tried when the driver is
//! opened, not taken from its strings (see `trial`). What follows is every place where the pipe and GLES disagree, and what Espryt makes of it.
//!
//! * **The host's driver.** This project's driver is an EGL vendor itself, so libEGL would lead back to it. Espryt reads
//!   libglvnd's manifests and speaks the vendor interface of the other driver directly (see `egl`).
//! * **Threads.** A context of GLES is bound to a thread, the pipe's is not. Each call binds its context unless it is bound,
//!   which costs a comparison; the client says when a thread lets go ([`mgpipe_types::flush_flags::RELEASE`]).
//! * **Sharing.** A screen is a share group. Objects are made by the first context that uses them, so calls that any thread
//!   may make need no context. What dies is deleted by whichever context comes next.
//! * **Names.** The driver reuses names, so every shadow of a binding is keyed by identities that are never reused.
//! * **Programs.** SPIR-V becomes ESSL with SPIRV-Cross at the first draw of a variant. Descriptors are numbered densely a
//!   program; the default block goes through a ring.
//! * **Inputs and outputs.** What ESSL does not allow among them is taken apart in the SPIR-V of all stages (see `split`).
//! * **Storage.** Textures are immutable storage, renderbuffers are textures, one-dimensional textures are two-dimensional
//!   ones of one row. New storage under a handle is a new name.
//! * **Rows and depth.** GL row 0 is image row 0 and clip depth is GL's: nothing is flipped.
//!
//! Calls that wait: `fence_wait`, `query_result`, `resource_readback`, `read_pixels`, `get_texture_image`.
#![deny(unsafe_op_in_unsafe_fn)]
// The probe uses a part of `egl` only.
#![cfg_attr(not(feature = "backend"), allow(dead_code, unused_imports))]

mod egl;
mod extras;
mod features;
mod probe;
mod trial;

#[cfg(feature = "backend")]
mod binding;
#[cfg(feature = "backend")]
mod blit;
#[cfg(feature = "backend")]
mod caps;
#[cfg(feature = "backend")]
mod capture;
#[cfg(feature = "backend")]
mod clear;
#[cfg(feature = "backend")]
mod context;
#[cfg(feature = "backend")]
mod conv;
#[cfg(feature = "backend")]
mod copy;
#[cfg(feature = "backend")]
mod depth_pass;
#[cfg(feature = "backend")]
mod device;
#[cfg(feature = "backend")]
mod disk_cache;
#[cfg(feature = "backend")]
mod draw;
#[cfg(feature = "backend")]
mod essl;
#[cfg(feature = "backend")]
mod format;
#[cfg(feature = "backend")]
mod framebuffer;
#[cfg(feature = "backend")]
mod gles;
#[cfg(feature = "backend")]
mod grave;
#[cfg(feature = "backend")]
mod index;
#[cfg(feature = "backend")]
mod interface;
#[cfg(feature = "backend")]
mod logic_op;
#[cfg(feature = "backend")]
mod mistakes;
#[cfg(feature = "backend")]
mod multi_draw;
#[cfg(feature = "backend")]
mod pack;
#[cfg(feature = "backend")]
mod program;
#[cfg(feature = "backend")]
mod query;
#[cfg(feature = "backend")]
mod readback;
#[cfg(feature = "backend")]
mod resource;
#[cfg(feature = "backend")]
mod ring;
#[cfg(feature = "backend")]
mod sampler;
#[cfg(feature = "backend")]
mod screen;
#[cfg(feature = "backend")]
mod shadow;
#[cfg(feature = "backend")]
mod spirv;
#[cfg(feature = "backend")]
mod split;
#[cfg(feature = "backend")]
mod state;
#[cfg(feature = "backend")]
mod texture_calls;
#[cfg(feature = "backend")]
mod upload;
#[cfg(feature = "backend")]
mod vertex;
#[cfg(feature = "backend")]
mod xfb;

pub use probe::{probe, Extension, GlesContext, Probe, WANTED};
pub use trial::{Outcome, Tried};

#[cfg(feature = "backend")]
pub use features::mask_names;
#[cfg(feature = "backend")]
pub use screen::EsprytBackend;
