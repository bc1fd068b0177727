//! Transform feedback: targets, spans and their rules.

use std::sync::Arc;

use crate::buffer::{Buffer, RangeBinding};
use crate::limits::Limits;

/// Transform feedback of a context: the one default object of GL 3.3.
#[derive(Debug)]
pub(crate) struct XfbState {
    /// Indexed buffer points.
    pub(crate) targets: Vec<RangeBinding>,
    /// Moves when a target changes.
    pub(crate) generation: u64,
    active: bool,
    paused: bool,
}

impl XfbState {
    pub(crate) fn new(limits: &Limits) -> XfbState {
        XfbState {
            targets: vec![RangeBinding::default(); limits.xfb_buffers as usize],
            generation: 1,
            active: false,
            paused: false,
        }
    }

    /// Between begin and end.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Active and not paused: draws capture.
    pub(crate) fn captures(&self) -> bool {
        self.active && !self.paused
    }

    /// Binds a target.
    pub(crate) fn bind(&mut self, index: usize, binding: RangeBinding) {
        if let Some(target) = self.targets.get_mut(index) {
            *target = binding;
            self.generation += 1;
        }
    }

    /// Removes a deleted buffer from the targets.
    pub(crate) fn unbind_buffer(&mut self, buffer: &Arc<Buffer>) {
        for target in &mut self.targets {
            if target.buffer.as_ref().is_some_and(|b| Arc::ptr_eq(b, buffer)) {
                *target = RangeBinding::default();
                self.generation += 1;
            }
        }
    }
}
