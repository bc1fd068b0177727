//! Transform feedback: each object of the pipe is one of the driver's, begun when the first draw of its span has a program.

use crate::context::{dirty, EsprytContext};
use crate::gles::{named, Gles};
use crate::resource::buffer::Buffer;
use crate::screen::Shared;
use glow::HasContext;
use hashbrown::HashMap;
use mgpipe_types::{
    gl, BeginStreamOutput, BufferHandle, BufferRange, ByteRange, PipeError, PipeResult, XfbHandle, WHOLE_BUFFER,
};
use std::sync::Arc;

/// Most buffers of a span.
const MOST_TARGETS: usize = 4;

#[derive(Default)]
struct Object {
    name: u32,
    ranges: Vec<(BufferRange, Option<Arc<Buffer>>)>,
    mode: u32,
    /// Between begin and end.
    open: bool,
    paused: bool,
    /// Begun for the driver, too.
    begun: bool,
    native_paused: bool,
}

/// Transform feedback of a context.
#[derive(Default)]
pub(crate) struct StreamOutput {
    objects: HashMap<XfbHandle, Object>,
    /// Open span that is not paused.
    active: Option<XfbHandle>,
    bound: Option<XfbHandle>,
}

impl StreamOutput {
    /// Sets the buffers of an object.
    pub(crate) fn set_targets(&mut self, shared: &Shared, xfb: XfbHandle, targets: &[BufferRange]) {
        let object = self.objects.entry(xfb).or_default();
        let buffer = |range: &BufferRange| shared.buffers.get(BufferHandle(range.res)).ok();
        object.ranges = targets.iter().take(MOST_TARGETS).map(|range| (*range, buffer(range))).collect();
    }

    /// Whether draws are captured.
    pub(crate) fn is_capturing(&self) -> bool {
        self.active.is_some()
    }

    /// Whether the driver captures a span with the program that it had at the beginning.
    pub(crate) fn is_begun(&self) -> bool {
        self.active.and_then(|handle| self.objects.get(&handle)).is_some_and(|object| object.begun)
    }

    /// Forgets an object.
    pub(crate) fn delete(&mut self, gles: &Gles, xfb: XfbHandle) {
        if self.active == Some(xfb) {
            return;
        }
        if let Some(object) = self.objects.remove(&xfb) {
            // Deleting binds none.
            self.bound = None;
            delete(gles, &object);
        }
    }

    pub(crate) fn destroy(&mut self, gles: &Gles) {
        for (_, object) in self.objects.drain() {
            delete(gles, &object);
        }
    }
}

fn delete(gles: &Gles, object: &Object) {
    if let Some(name) = named!(NativeTransformFeedback, object.name) {
        // SAFETY: the context is current; its own name, deleted once, not active.
        unsafe {
            gles.gl.bind_transform_feedback(gl::TRANSFORM_FEEDBACK, None);
            gles.gl.delete_transform_feedback(name);
        }
    }
}

impl EsprytContext {
    fn bind_xfb(&mut self, handle: XfbHandle) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gl = &shared.device.gles.gl;
        let object = self.xfb.objects.entry(handle).or_default();
        // SAFETY: the context is current; the bound object is not capturing, or paused.
        unsafe {
            if object.name == 0 {
                object.name = gl.create_transform_feedback().map_err(PipeError::OutOfMemory)?.0.get();
            }
            if self.xfb.bound != Some(handle) {
                gl.bind_transform_feedback(gl::TRANSFORM_FEEDBACK, named!(NativeTransformFeedback, object.name));
                self.xfb.bound = Some(handle);
            }
        }
        Ok(())
    }

    /// Starts a span; the driver's begins with the first draw, which has the program.
    pub(crate) fn begin_xfb(&mut self, begin: &BeginStreamOutput) -> PipeResult<()> {
        let handle = XfbHandle(begin.xfb);
        self.bind_xfb(handle)?;
        if let Some(object) = self.xfb.objects.get_mut(&handle) {
            object.mode = begin.mode;
            object.open = true;
            object.paused = false;
            object.begun = false;
        }
        self.xfb.active = Some(handle);
        self.dirty |= dirty::XFB;
        Ok(())
    }

    /// Brings the driver's span in line before a draw; the program is in use.
    pub(crate) fn apply_xfb(&mut self) -> PipeResult<()> {
        let Some(handle) = self.xfb.active else { return Ok(()) };
        self.bind_xfb(handle)?;
        let feedback = self.program.as_ref().and_then(|b| b.program.reflection.transform_feedback.as_ref());
        let (captures, buffers) = (feedback.is_some(), feedback.map_or(0, |f| f.buffers.len()));
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let Some(object) = self.xfb.objects.get_mut(&handle) else { return Ok(()) };
        if !captures {
            return Ok(());
        }
        // SAFETY: the context is current, the object is bound and the program captures.
        unsafe {
            if !object.begun {
                // A buffer without room takes nothing, and the driver begins no span without one.
                let room = |(range, buffer): &(BufferRange, Option<Arc<Buffer>>)| {
                    range.size.min(buffer.as_ref().map_or(0, |b| b.size().saturating_sub(range.offset))) >= 4
                };
                if !object.ranges.iter().take(buffers).all(room) || object.ranges.len() < buffers {
                    self.dirty &= !dirty::XFB;
                    return Ok(());
                }
                for (index, (range, buffer)) in object.ranges.iter().enumerate() {
                    let Some(buffer) = buffer else { continue };
                    let room = buffer.size().saturating_sub(range.offset);
                    let size = if range.size == WHOLE_BUFFER { room } else { range.size.min(room) } & !3;
                    if size == 0 {
                        continue;
                    }
                    let name = buffer.name(gles)?;
                    gles.gl.bind_buffer_range(
                        gl::TRANSFORM_FEEDBACK_BUFFER,
                        index as u32,
                        named!(NativeBuffer, name),
                        range.offset as i32,
                        size as i32,
                    );
                }
                gles.gl.begin_transform_feedback(object.mode);
                object.begun = true;
                object.native_paused = false;
            } else if object.native_paused {
                gles.gl.resume_transform_feedback();
                object.native_paused = false;
            }
        }
        self.dirty &= !dirty::XFB;
        Ok(())
    }

    /// The driver changes programs only while capturing is paused.
    pub(crate) fn leave_xfb_for_program(&mut self) {
        let Some(handle) = self.xfb.active else { return };
        self.pause_native(handle);
    }

    fn pause_native(&mut self, handle: XfbHandle) {
        let shared = self.shared.clone();
        if let Some(object) = self.xfb.objects.get_mut(&handle) {
            if object.begun && !object.native_paused {
                // SAFETY: the context is current and the object, which is bound, captures.
                unsafe { shared.device.gles.gl.pause_transform_feedback() };
                object.native_paused = true;
            }
        }
    }

    /// Ends the span.
    pub(crate) fn end_xfb(&mut self, handle: XfbHandle) -> PipeResult<()> {
        if !self.xfb.objects.get(&handle).is_some_and(|object| object.open) {
            return Ok(());
        }
        self.bind_xfb(handle)?;
        let shared = self.shared.clone();
        let gl = &shared.device.gles.gl;
        if self.xfb.active == Some(handle) {
            self.xfb.active = None;
        }
        let Some(object) = self.xfb.objects.get_mut(&handle) else { return Ok(()) };
        object.open = false;
        object.paused = false;
        if object.begun {
            object.begun = false;
            object.native_paused = false;
            // SAFETY: the context is current and the bound object was begun.
            unsafe { gl.end_transform_feedback() };
            for (range, buffer) in &object.ranges {
                if let Some(buffer) = buffer {
                    let size = range.size.min(buffer.size().saturating_sub(range.offset));
                    let written = [ByteRange { offset: range.offset, size }];
                    shared.callbacks.gpu_written(BufferHandle(range.res), &written);
                }
            }
        }
        Ok(())
    }

    /// Pauses the span.
    pub(crate) fn pause_xfb(&mut self, handle: XfbHandle) -> PipeResult<()> {
        if self.xfb.active == Some(handle) {
            self.pause_native(handle);
            if let Some(object) = self.xfb.objects.get_mut(&handle) {
                object.paused = true;
            }
            self.xfb.active = None;
        }
        Ok(())
    }

    /// Resumes a paused span.
    pub(crate) fn resume_xfb(&mut self, handle: XfbHandle) -> PipeResult<()> {
        if let Some(object) = self.xfb.objects.get_mut(&handle).filter(|object| object.open) {
            object.paused = false;
            self.xfb.active = Some(handle);
            self.dirty |= dirty::XFB;
        }
        Ok(())
    }
}
