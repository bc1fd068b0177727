//! What is emitted for each group once it is dirty. One file a topic.

mod buffer;
mod program;
mod render_state;
mod texture;
mod value;
mod vertex;

pub(crate) use buffer::BufferPush;
pub(crate) use program::ProgramPush;
pub(crate) use render_state::RenderStatePush;
pub(crate) use texture::TexturePush;
pub(crate) use value::ValuePush;
pub(crate) use vertex::VertexPush;

use crate::stats::TrackerStats;
use crate::tracker::TrackerOptions;
use crate::verb::Group;
use mgpipe_handles::HandleSpace;
use std::sync::Arc;

/// What all pushes share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) handles: Arc<HandleSpace>,
    pub(crate) options: TrackerOptions,
    pub(crate) stats: TrackerStats,
}

impl Core {
    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        (self.options.hash)(bytes)
    }

    /// Notes that a group is looked at because it is dirty.
    pub(crate) fn fire(&mut self, group: Group) {
        self.stats.fires[group as usize] += 1;
    }

    /// Notes whether a group was sent, and how many bytes it took.
    pub(crate) fn note(&mut self, group: Group, sent: bool, bytes: usize) -> bool {
        if sent {
            self.stats.sent[group as usize] += 1;
            self.stats.bytes += bytes as u64;
        } else {
            self.stats.suppressed[group as usize] += 1;
        }
        sent
    }
}
