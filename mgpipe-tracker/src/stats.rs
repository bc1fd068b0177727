//! Counters of the tracker: what was minted, bound, suppressed and walked.

use crate::verb::{Group, VerbClass};
use bytemuck::{Pod, Zeroable};

/// Counters of one cache of state objects.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
pub struct CsoStats {
    /// Objects that were created.
    pub mints: u64,
    /// Look-ups that found an object.
    pub hits: u64,
    /// Look-ups that were answered by the successor of the bound object, without a hash (render state only).
    pub predictions: u64,
    /// Objects that were bound, or entered a set that was sent.
    pub binds: u64,
    /// Objects that were deleted to make room.
    pub evictions: u64,
    /// Look-ups whose hash was that of another object: what the confirmation caught.
    pub collisions: u64,
    /// Objects that could not be made because the share group's slots are used up.
    pub exhausted: u64,
}

/// Everything that a tracker counts, since it was made.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
pub struct TrackerStats {
    /// Walks by verb class: verbs that did not pass the steady-state comparison.
    pub walks: [u64; VerbClass::COUNT],
    /// Verbs by class.
    pub verbs: [u64; VerbClass::COUNT],
    /// Times that each group was resolved or compared because it was dirty.
    pub fires: [u64; Group::COUNT],
    /// Times that each group was sent.
    pub sent: [u64; Group::COUNT],
    /// Times that each group was dirty, and what it resolved to was what the server has already.
    pub suppressed: [u64; Group::COUNT],
    /// Bytes of payloads, tails and blobs that were handed to the pipe, without uploads.
    pub bytes: u64,
    /// Render-state objects.
    pub render_state: CsoStats,
    /// Vertex-elements objects.
    pub vertex_elements: CsoStats,
    /// Samplers.
    pub samplers: CsoStats,
    /// Sampler views.
    pub sampler_views: CsoStats,
}

impl TrackerStats {
    /// Verbs of all classes that passed the steady-state comparison.
    pub fn steady_verbs(&self) -> u64 {
        self.verbs.iter().sum::<u64>() - self.walks.iter().sum::<u64>()
    }

    fn words(&mut self) -> &mut [u64] {
        bytemuck::cast_slice_mut(std::slice::from_mut(self))
    }

    /// Adds what another tracker, or this one at another time, has counted.
    pub fn add(&mut self, more: &TrackerStats) {
        let mut more = *more;
        self.words().iter_mut().zip(more.words()).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
    }

    /// What was counted after `then`.
    pub fn since(&self, then: &TrackerStats) -> TrackerStats {
        let (mut grown, mut then) = (*self, *then);
        grown.words().iter_mut().zip(then.words()).for_each(|(now, then)| *now = now.wrapping_sub(*then));
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_are_those_of_every_counter() {
        let mut now = TrackerStats::default();
        for (at, word) in now.words().iter_mut().enumerate() {
            *word = at as u64 + 7;
        }
        let then = TrackerStats { bytes: 5, ..now };
        let mut sum = then;
        sum.add(&now.since(&then));
        assert_eq!(sum, now);
        assert_eq!(now.since(&then), TrackerStats { bytes: now.bytes - 5, ..TrackerStats::default() });
    }
}
