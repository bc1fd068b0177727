//! Transform feedback.
//!
//! A span of GL may cross passes, batches and pipeline changes. Vulkan's must end before each, so Magma ends it there and
//! starts it again from the counters that the end has written.

use crate::command::Object;
use crate::context::{dirty, MagmaContext};
use crate::resource::buffer::{BufferStorage, Placement};
use crate::screen::Shared;
use ash::vk;
use hashbrown::HashMap;
use mgpipe_types::{BeginStreamOutput, BufferHandle, BufferRange, ByteRange, PipeResult, XfbHandle, WHOLE_BUFFER};
use smallvec::SmallVec;
use std::sync::Arc;

/// Most buffers of a span.
const MAX_TARGETS: usize = 4;

#[derive(Default)]
struct Targets {
    ranges: SmallVec<[(BufferRange, Option<Arc<BufferStorage>>); MAX_TARGETS]>,
    /// Where Vulkan keeps how far each buffer is written.
    counters: Option<Arc<BufferStorage>>,
    /// Whether the counters hold the state of the span.
    started: bool,
    paused: bool,
}

/// Transform feedback of a context.
#[derive(Default)]
pub(crate) struct StreamOutput {
    objects: HashMap<XfbHandle, Targets>,
    /// Span between begin and end.
    active: Option<XfbHandle>,
    /// Whether Vulkan is capturing in the open pass.
    pub(crate) running: bool,
}

impl StreamOutput {
    /// Looks the buffers up again.
    pub(crate) fn refresh(&mut self, shared: &Shared) {
        for (range, storage) in self.objects.values_mut().flat_map(|targets| targets.ranges.iter_mut()) {
            *storage = shared.buffers.get(BufferHandle(range.res)).ok().and_then(|b| b.storage());
        }
    }

    /// Sets the buffers of an object.
    pub(crate) fn set_targets(&mut self, shared: &Shared, xfb: XfbHandle, targets: &[BufferRange]) {
        let object = self.objects.entry(xfb).or_default();
        object.ranges = targets
            .iter()
            .take(MAX_TARGETS)
            .map(|range| (*range, shared.buffers.get(BufferHandle(range.res)).ok().and_then(|b| b.storage())))
            .collect();
    }

    /// Whether a span is open, paused or not.
    pub(crate) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Forgets an object.
    pub(crate) fn delete(&mut self, xfb: XfbHandle) {
        if self.active != Some(xfb) {
            self.objects.remove(&xfb);
        }
    }
}

impl MagmaContext {
    /// Starts a span.
    pub(crate) fn begin_xfb(&mut self, begin: &BeginStreamOutput) {
        if self.is_lost() || !self.device.ext.transform_feedback {
            return;
        }
        self.end_pass();
        let handle = XfbHandle(begin.xfb);
        let counters = match BufferStorage::new(&self.device, 4 * MAX_TARGETS as u64, Placement::Upload) {
            Ok(counters) => Arc::new(counters),
            Err(error) => return self.fail("begin_stream_output", error),
        };
        let object = self.xfb.objects.entry(handle).or_default();
        object.counters = Some(counters);
        object.started = false;
        object.paused = false;
        self.xfb.active = Some(handle);
        self.dirty |= dirty::XFB;
    }

    /// Ends the span.
    pub(crate) fn end_xfb(&mut self, handle: XfbHandle) {
        if self.xfb.active != Some(handle) {
            return;
        }
        // The pass ends with the span: what reads the captured vertices comes after a barrier.
        self.end_pass();
        self.xfb.active = None;
        if let Some(object) = self.xfb.objects.get_mut(&handle) {
            object.started = false;
            for (range, storage) in &object.ranges {
                if let Some(storage) = storage {
                    let size = range.size.min(storage.size.saturating_sub(range.offset));
                    let written = [ByteRange { offset: range.offset, size }];
                    self.shared.callbacks.gpu_written(BufferHandle(range.res), &written);
                }
            }
        }
    }

    /// Pauses the span.
    pub(crate) fn pause_xfb(&mut self, handle: XfbHandle) {
        if self.xfb.active == Some(handle) {
            self.end_pass();
            if let Some(object) = self.xfb.objects.get_mut(&handle) {
                object.paused = true;
            }
            self.xfb.active = None;
        }
    }

    /// Resumes a paused span.
    pub(crate) fn resume_xfb(&mut self, handle: XfbHandle) {
        if let Some(object) = self.xfb.objects.get_mut(&handle) {
            object.paused = false;
            self.end_pass();
            self.xfb.active = Some(handle);
            self.dirty |= dirty::XFB;
        }
    }

    /// Stops capturing in the open pass and saves the counters.
    pub(crate) fn suspend_xfb(&mut self, commands: vk::CommandBuffer) {
        if !self.xfb.running {
            return;
        }
        self.xfb.running = false;
        let object = self.xfb.active.and_then(|handle| self.xfb.objects.get_mut(&handle));
        if let Some((object, counters)) = object.and_then(|o| o.counters.clone().map(|c| (o, c))) {
            object.started = true;
            let count = object.ranges.len() as u32;
            let buffers = [counters.raw; MAX_TARGETS];
            let offsets = [0, 4, 8, 12];
            // SAFETY: transform feedback is active in this command buffer; the counters hold one word a buffer.
            unsafe {
                let fp = self.device.fns.xfb.fp();
                (fp.cmd_end_transform_feedback_ext)(commands, 0, count, buffers.as_ptr(), offsets.as_ptr());
            }
        }
    }

    /// Captures again after a pass or pipeline has begun, when a span is open.
    pub(crate) fn resume_xfb_in_pass(&mut self, commands: vk::CommandBuffer) -> PipeResult<()> {
        let Some(handle) = self.xfb.active.filter(|_| !self.xfb.running) else { return Ok(()) };
        let Some(object) = self.xfb.objects.get(&handle).filter(|object| !object.paused) else { return Ok(()) };
        let Some(counters) = object.counters.clone() else { return Ok(()) };
        let mut buffers: SmallVec<[vk::Buffer; MAX_TARGETS]> = SmallVec::new();
        let (mut offsets, mut sizes) = (SmallVec::<[u64; MAX_TARGETS]>::new(), SmallVec::<[u64; MAX_TARGETS]>::new());
        for (range, storage) in &object.ranges {
            let Some(storage) = storage.as_ref().filter(|s| range.offset < s.size && range.offset % 4 == 0) else {
                return Ok(());
            };
            let room = storage.size - range.offset;
            let size = if range.size == WHOLE_BUFFER { room } else { range.size.min(room) };
            buffers.push(storage.raw);
            offsets.push(range.offset);
            sizes.push(size);
            self.device_writes(storage);
            self.rec.keep(Object::Buffer(storage), true);
        }
        if buffers.is_empty() {
            return Ok(());
        }
        let count = buffers.len() as u32;
        let counter_buffers = [counters.raw; MAX_TARGETS];
        let counter_offsets = [0, 4, 8, 12];
        let resume = if object.started { count } else { 0 };
        self.rec.keep(Object::Buffer(&counters), true);
        // SAFETY: a pass and a pipeline that captures are current; buffers and counters are kept by the batch.
        unsafe {
            let fp = self.device.fns.xfb.fp();
            (fp.cmd_bind_transform_feedback_buffers_ext)(
                commands,
                0,
                count,
                buffers.as_ptr(),
                offsets.as_ptr(),
                sizes.as_ptr(),
            );
            (fp.cmd_begin_transform_feedback_ext)(
                commands,
                0,
                resume,
                counter_buffers.as_ptr(),
                counter_offsets.as_ptr(),
            );
        }
        self.xfb.running = true;
        Ok(())
    }
}
