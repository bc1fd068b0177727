//! State tracker that turns API state into minimal MGPipe calls.
//!
//! A frontend keeps its state as its API has it and pushes nothing when a setter runs. It bumps a generation, and before
//! each verb it calls [`Tracker::validate`], which compares generations, resolves what moved and sends what differs from
//! what the server has. So an application that brackets every draw with an enable and a disable pays for integer
//! comparisons, and a steady draw for seven of them.
//!
//! * [`Source`] is what a frontend implements: [`Generations`] and [`Aggregates`] on the hot path, `resolve_*` when a
//!   shutter moved.
//! * [`RenderStateTracker`] is the fixed-function state with a setter each; which half a byte belongs to comes from the
//!   chunk table of `mgpipe-types`.
//! * [`VerbClass`] says which [`Group`]s a verb needs; [`Counter::dependents`] says which groups a counter publishes.
//! * State objects are addressed by content in bounded caches, least recently used out first; sets with a variable tail
//!   are not sent while the server has them. A hash only finds candidates: equality is confirmed on bytes.
//! * [`DirtyRects`] is the model of texels that wait to be uploaded.
//!
//! # What the frontend promises
//!
//! It bumps before the verb: a change without its bump is not seen. It calls [`Tracker::invalidate_texture`] before a
//! texture dies, [`Tracker::invalidate_program`] before a program dies, and [`Tracker::shutdown`] at the end of the
//! context. A coherent mapping that the application may write without a call is the frontend's: it bumps
//! [`Aggregates::buffer`] at each verb that can reach one.
#![forbid(unsafe_code)]

mod cso_cache;
mod dirty_rects;
mod generation;
#[cfg(feature = "sinks")]
pub mod plain;
mod push;
pub mod render_state;
#[cfg(feature = "sinks")]
pub mod sinks;
mod source;
mod stats;
#[cfg(any(test, feature = "proptest"))]
pub mod strategies;
mod suppressor;
mod tracker;
mod verb;

pub use dirty_rects::{DirtyRects, UploadShape, MAX_DIRTY_RECTS};
pub use generation::{Aggregate, Aggregates, Counter, Generations, SharedAggregates};
pub use render_state::{Face, Hint, RenderStateTracker};
pub use source::{
    BufferClass, ProgramState, ResolvedBuffers, ResolvedProgramBindings, ResolvedStreamOutput, ResolvedView, Source,
    VertexElements,
};
pub use stats::{CsoStats, TrackerStats};
pub use tracker::{ContentHash, Switches, Tracker, TrackerOptions};
pub use verb::{Group, GroupMask, ProgramPoint, VerbClass};
