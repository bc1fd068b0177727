//! Merging: consecutive draws with nothing between them become one `vkCmdDraw(Indexed)MultiEXT`.
//!
//! A draw that may be merged waits in the recorder instead of being recorded. Whatever else is recorded into the same
//! command buffer takes the waiting draws along first, so the order of commands never changes. State that is set but turns
//! out to be what the command buffer has already records nothing and therefore does not break a group.

use crate::command::Recorder;
use crate::context::{BindPoint, MagmaContext};
use crate::shader::Program;
use ash::vk;
use mgpipe_types::{draw_flags, DrawInfo, DrawRange, Handle, PipeResult};

/// Draws of a group. Drivers spread the cost of a command over its draws; beyond some hundreds nothing is left to spread.
const GROUP: usize = 512;

/// Merged draws that count as one in the size of a batch, since a group is executed faster than its draws would be.
const MERGED_PER_WORK: usize = 8;

/// Draws that are not recorded yet.
pub(crate) struct Waiting {
    /// Vertex or index ranges; non-indexed ones have no vertex offset.
    draws: Vec<vk::MultiDrawIndexedInfoEXT>,
    commands: vk::CommandBuffer,
    indexed: bool,
    instances: u32,
    first_instance: u32,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting {
            draws: Vec::with_capacity(GROUP),
            commands: vk::CommandBuffer::null(),
            indexed: false,
            instances: 0,
            first_instance: 0,
        }
    }
}

/// A draw that needed nothing but its ranges: another one like it needs nothing either, as long as no state moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steady {
    mode: u32,
    index_size: u8,
    flags: u8,
    instance_count: u32,
    start_instance: u32,
    restart_index: u32,
    index_buffer: Handle,
    patch_vertices: u32,
}

/// Most vertices of a draw whose indices are not counted: a larger one is cut to those that there are.
const LARGE_DRAW: u32 = 1 << 18;

/// Flags whose values do not change what is drawn.
const HINTS: u8 = draw_flags::INDEX_RANGE | draw_flags::XFB_COUNT;

impl Steady {
    #[inline]
    fn new(info: &DrawInfo) -> Steady {
        Steady {
            mode: info.mode,
            index_size: info.index_size,
            flags: info.flags & !HINTS,
            instance_count: info.instance_count,
            start_instance: info.start_instance,
            restart_index: info.restart_index,
            index_buffer: info.index_buffer,
            patch_vertices: info.patch_vertices,
        }
    }
}

/// Whether draws of a program may share a command: not when a shader can tell the draws of one command apart.
pub(crate) fn may_merge(program: &Program) -> bool {
    !program.reflection.vertex.is_some_and(|vertex| vertex.uses_draw_parameters)
}

impl Recorder {
    /// Records the draws that wait. Comes before anything else that is recorded into the main commands.
    #[inline]
    pub(crate) fn flush_draws(&mut self) {
        if !self.waiting.draws.is_empty() {
            self.record_waiting();
        }
    }

    #[cold]
    fn record_waiting(&mut self) {
        let waiting = &mut self.waiting;
        let (commands, instances, first) = (waiting.commands, waiting.instances, waiting.first_instance);
        let fp = self.device.fns.multi_draw.fp();
        // SAFETY: the pass in which the draws were put off is still open in `commands` and no command was recorded since:
        // every path that records calls this first. The array lives during the call; the stride is that of its elements.
        unsafe {
            match (waiting.draws.as_slice(), waiting.indexed) {
                ([], _) => {}
                ([draw], true) => self.device.raw.cmd_draw_indexed(
                    commands,
                    draw.index_count,
                    instances,
                    draw.first_index,
                    draw.vertex_offset,
                    first,
                ),
                ([draw], false) => {
                    self.device.raw.cmd_draw(commands, draw.index_count, instances, draw.first_index, first)
                }
                (draws, true) => (fp.cmd_draw_multi_indexed_ext)(
                    commands,
                    draws.len() as u32,
                    draws.as_ptr(),
                    instances,
                    first,
                    size_of::<vk::MultiDrawIndexedInfoEXT>() as u32,
                    std::ptr::null(),
                ),
                // `VkMultiDrawInfoEXT` is the beginning of `VkMultiDrawIndexedInfoEXT`: first element, then count.
                (draws, false) => (fp.cmd_draw_multi_ext)(
                    commands,
                    draws.len() as u32,
                    draws.as_ptr().cast(),
                    instances,
                    first,
                    size_of::<vk::MultiDrawIndexedInfoEXT>() as u32,
                ),
            }
        }
        let work = 1 + waiting.draws.len() / MERGED_PER_WORK;
        waiting.draws.clear();
        self.count_work(work as u32);
    }

    /// Puts ranges of a draw off. True when the batch has grown enough to be submitted.
    #[inline]
    fn put_off(&mut self, commands: vk::CommandBuffer, info: &DrawInfo, ranges: &[DrawRange], indexed: bool) -> bool {
        let limit = GROUP.min(self.device.max_multi_draw as usize);
        let waiting = &self.waiting;
        if waiting.indexed != indexed
            || waiting.instances != info.instance_count
            || waiting.first_instance != info.start_instance
            || waiting.commands != commands
        {
            self.flush_draws();
            self.waiting.indexed = indexed;
            self.waiting.instances = info.instance_count;
            self.waiting.first_instance = info.start_instance;
            self.waiting.commands = commands;
        }
        for range in ranges {
            if range.count == 0 {
                continue;
            }
            self.vertices.add(range, indexed);
            self.waiting.draws.push(vk::MultiDrawIndexedInfoEXT {
                first_index: range.start,
                index_count: range.count,
                vertex_offset: range.index_bias,
            });
            if self.waiting.draws.len() >= limit {
                self.record_waiting();
            }
        }
        self.count_work(0)
    }
}

impl MagmaContext {
    /// A draw like the last one: a few compares, and the ranges are put off. State that has moved in between is set first.
    /// False when there is more to do.
    #[inline]
    pub(crate) fn draw_steady(&mut self, info: &DrawInfo, ranges: &[DrawRange]) -> PipeResult<bool> {
        let is_large = info.index_size != 0 && ranges.iter().any(|range| range.count > LARGE_DRAW);
        if is_large || self.steady != Some(Steady::new(info)) {
            return Ok(false);
        }
        let Some(pass) = &self.pass else { return Ok(false) };
        let commands = pass.commands;
        if self.dirty != 0 && !self.restate(commands)? {
            return Ok(false);
        }
        if self.rec.put_off(commands, info, ranges, info.index_size != 0) && !self.xfb.is_active() {
            self.submit()?;
        }
        Ok(true)
    }

    /// Puts a prepared draw off, if draws like it may be merged. `plain`: the draw's own ranges and nothing made for this
    /// draw alone is bound, so that another draw like it is steady. False when the draw has to be recorded at once.
    pub(crate) fn merge(
        &mut self,
        commands: vk::CommandBuffer,
        info: &DrawInfo,
        ranges: &[DrawRange],
        indexed: bool,
        plain: bool,
    ) -> PipeResult<bool> {
        let program = self.programs[BindPoint::Draw as usize].as_ref();
        if self.device.max_multi_draw < 2 || !program.is_some_and(|bound| may_merge(&bound.program)) {
            self.steady = None;
            return Ok(false);
        }
        self.steady = plain.then(|| Steady::new(info));
        if self.rec.put_off(commands, info, ranges, indexed) && !self.xfb.is_active() {
            self.submit()?;
        }
        Ok(true)
    }
}
