//! The tracker: compares generations at every verb and pushes what moved.

use crate::source::Source;
use crate::stats::TrackerStats;
use crate::verb::VerbClass;
use mgpipe_handles::HandleSpace;
use mgpipe_types::{Context, ShaderCso, TextureHandle};
use std::sync::Arc;

/// Switches of a tracker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switches {
    /// Whether equal state shares one object. Off exists for the control that shows that addressing by content changes
    /// mints and binds, and no pixel.
    pub content_addressing: bool,
    /// Whether a render-state object is declared by what differs from the bound one, instead of whole.
    pub delta_render_state: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Switches { content_addressing: true, delta_render_state: false }
    }
}

/// Content hash of bytes; equality is always confirmed by comparing the bytes.
pub type ContentHash = fn(&[u8]) -> u64;

/// How a tracker is made.
#[derive(Clone, Copy, Debug)]
pub struct TrackerOptions {
    /// Switches.
    pub switches: Switches,
    /// Hash of all content: XXH3. Tests put a colliding one here.
    pub hash: ContentHash,
    /// Objects in the render-state cache.
    pub render_state_capacity: usize,
    /// Objects in the vertex-elements cache.
    pub vertex_elements_capacity: usize,
    /// Objects in the sampler cache; at least the number of texture units that one verb uses.
    pub sampler_capacity: usize,
    /// Objects in the sampler-view cache; at least the number of texture units that one verb uses.
    pub sampler_view_capacity: usize,
}

impl Default for TrackerOptions {
    fn default() -> Self {
        TrackerOptions {
            switches: Switches::default(),
            hash: xxhash_rust::xxh3::xxh3_64,
            render_state_capacity: 64,
            vertex_elements_capacity: 1024,
            sampler_capacity: 256,
            sampler_view_capacity: 4096,
        }
    }
}

/// The tracker of one context.
#[derive(Debug)]
pub struct Tracker {
    stats: TrackerStats,
}

impl Tracker {
    /// A tracker for a context that has been told nothing yet. Its state objects take their handles from `handles`.
    pub fn new(handles: Arc<HandleSpace>, options: TrackerOptions) -> Tracker {
        let _ = (handles, options);
        Tracker { stats: TrackerStats::default() }
    }

    /// Pushes whatever a verb of `class` needs and the server has not been told: call it right before the verb.
    #[inline]
    pub fn validate<S: Source + ?Sized>(&mut self, class: VerbClass, source: &mut S, pipe: &mut dyn Context) {
        let _ = (class, source, pipe);
    }

    /// Forgets what the server was told, so that the next verbs push everything again: after a hard drain, or for a new
    /// server. State objects keep their handles and are created again as they are used.
    pub fn invalidate_all(&mut self) {}

    /// A texture dies: deletes its sampler views. Call it before `resource_destroy`.
    pub fn invalidate_texture(&mut self, texture: TextureHandle, pipe: &mut dyn Context) {
        let _ = (texture, pipe);
    }

    /// A program dies or was linked anew: forgets what was sent for it. Call it before `delete_shader`.
    pub fn invalidate_program(&mut self, shader: ShaderCso) {
        let _ = shader;
    }

    /// Deletes every state object that the tracker made: the end of the context. A tracker that is dropped without it
    /// leaves them to the server, which drops them with the context.
    pub fn shutdown(&mut self, pipe: &mut dyn Context) {
        let _ = pipe;
    }

    /// Counters so far.
    pub fn stats(&self) -> &TrackerStats {
        &self.stats
    }
}
