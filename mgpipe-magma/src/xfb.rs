//! Transform feedback.

use crate::context::MagmaContext;
use crate::screen::Shared;
use ash::vk;
use mgpipe_types::{BeginStreamOutput, BufferRange, PipeResult, XfbHandle};

/// Transform feedback of a context.
#[derive(Default)]
pub(crate) struct StreamOutput {}

impl StreamOutput {
    pub(crate) fn refresh(&mut self, _shared: &Shared) {}

    pub(crate) fn set_targets(&mut self, _shared: &Shared, _xfb: XfbHandle, _targets: &[BufferRange]) {}

    pub(crate) fn is_active(&self) -> bool {
        false
    }

    pub(crate) fn delete(&mut self, _xfb: XfbHandle) {}
}

impl MagmaContext {
    pub(crate) fn begin_xfb(&mut self, _begin: &BeginStreamOutput) {}

    pub(crate) fn end_xfb(&mut self, _xfb: XfbHandle) {}

    pub(crate) fn pause_xfb(&mut self, _xfb: XfbHandle) {}

    pub(crate) fn resume_xfb(&mut self, _xfb: XfbHandle) {}

    pub(crate) fn suspend_xfb(&mut self, _commands: vk::CommandBuffer) {}

    pub(crate) fn resume_xfb_in_pass(&mut self, _commands: vk::CommandBuffer) -> PipeResult<()> {
        Ok(())
    }
}
