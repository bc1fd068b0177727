//! Compute dispatches.

use crate::command::Object;
use crate::context::{dirty, BindPoint, MagmaContext};
use crate::pipeline;
use ash::vk;
use mgpipe_types::{BufferHandle, GridInfo, PipeResult};

impl MagmaContext {
    /// Dispatches work groups.
    pub(crate) fn dispatch(&mut self, grid: &GridInfo) -> PipeResult<()> {
        self.refresh();
        let Some(program) = self.programs[BindPoint::Dispatch as usize].as_ref().map(|b| b.program.clone()) else {
            return Ok(());
        };
        if grid.indirect.is_null() && grid.groups.contains(&0) {
            return Ok(());
        }
        let pipeline = pipeline::compute(&self.device, &program)?;
        self.end_pass();
        self.rec.barrier_before_work();
        let commands = self.rec.main();
        // The dispatch looks at all sets; the marks stay for the next draw.
        let marks = self.dirty;
        self.dirty |= dirty::CONSTANTS;
        let bound = self.bind_sets(commands, BindPoint::Dispatch);
        self.dirty = marks;
        bound?;
        // SAFETY: no pass is open; pipeline and sets belong to the program, which the batch keeps.
        unsafe {
            self.device.raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            if grid.indirect.is_null() {
                let [x, y, z] = grid.groups;
                self.device.raw.cmd_dispatch(commands, x, y, z);
            } else {
                let buffer = self.shared.buffers.get(BufferHandle(grid.indirect)).ok().and_then(|b| b.storage());
                if let Some(buffer) = buffer.filter(|b| grid.indirect_offset.saturating_add(12) <= b.size) {
                    self.rec.keep(Object::Buffer(&buffer), true);
                    self.device.raw.cmd_dispatch_indirect(commands, buffer.raw, grid.indirect_offset);
                }
            }
        }
        self.rec.keep_other(program);
        if self.rec.count_work(1) {
            self.submit()?;
        }
        Ok(())
    }
}
