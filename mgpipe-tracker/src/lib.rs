//! State tracker that turns API state into minimal MGPipe calls.
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
