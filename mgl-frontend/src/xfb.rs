//! Transform feedback: targets, spans and their rules.

use std::sync::Arc;

use mgpipe_tracker::{ResolvedStreamOutput, VerbClass};
use mgpipe_types::reflection::GeometryPrimitive;
use mgpipe_types::{gl, BeginStreamOutput, EndStreamOutput, TypedHandle, XfbHandle};

use crate::buffer::{Buffer, RangeBinding};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, GlResult};
use crate::limits::Limits;
use crate::program::Executable;
use crate::share::only;

/// Transform feedback of a context: the one default object of GL 3.3.
#[derive(Debug)]
pub(crate) struct XfbState {
    /// Indexed buffer points.
    pub(crate) targets: Vec<RangeBinding>,
    handle: XfbHandle,
    /// The span's primitive mode and program while it is active.
    span: Option<Span>,
    paused: bool,
}

#[derive(Debug)]
struct Span {
    mode: u32,
    program: Arc<Executable>,
}

/// Modes of draws that assemble points, lines and triangles, as bits.
const POINT_MODES: u32 = 1 << gl::POINTS;
const LINE_MODES: u32 = 1 << gl::LINES | 1 << gl::LINE_LOOP | 1 << gl::LINE_STRIP;
const TRIANGLE_MODES: u32 = 1 << gl::TRIANGLES | 1 << gl::TRIANGLE_STRIP | 1 << gl::TRIANGLE_FAN;

impl XfbState {
    pub(crate) fn new(limits: &Limits) -> XfbState {
        XfbState {
            targets: vec![RangeBinding::default(); limits.xfb_buffers as usize],
            handle: XfbHandle::NULL,
            span: None,
            paused: false,
        }
    }

    /// Between begin and end.
    pub(crate) fn is_active(&self) -> bool {
        self.span.is_some()
    }

    /// Active and paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.span.is_some() && self.paused
    }

    /// Active and not paused: draws capture.
    #[inline]
    pub(crate) fn captures(&self) -> bool {
        self.span.is_some() && !self.paused
    }

    /// Binds a target.
    pub(crate) fn bind(&mut self, index: usize, binding: RangeBinding) {
        if let Some(target) = self.targets.get_mut(index) {
            *target = binding;
        }
    }

    /// Removes a deleted buffer from the targets; whether it was one.
    pub(crate) fn unbind_buffer(&mut self, buffer: &Arc<Buffer>) -> bool {
        let mut found = false;
        for target in &mut self.targets {
            if target.buffer.as_ref().is_some_and(|b| Arc::ptr_eq(b, buffer)) {
                *target = RangeBinding::default();
                found = true;
            }
        }
        found
    }

    /// The tracker's view of the targets.
    pub(crate) fn resolve(&self, out: &mut ResolvedStreamOutput) {
        out.xfb = self.handle;
        let used = self.targets.iter().rposition(|t| t.buffer.is_some()).map_or(0, |last| last + 1);
        out.targets.extend(self.targets[..used].iter().map(RangeBinding::resolve));
    }

    /// Bits of the draw modes that a span with this geometry allows (GL 3.3 table 2.15).
    pub(crate) fn allowed_modes(&self, executable: &Executable) -> u32 {
        let Some(span) = self.span.as_ref().filter(|_| !self.paused) else { return u32::MAX };
        if let Some(geometry) = &executable.reflection.geometry {
            let output = match geometry.output {
                GeometryPrimitive::Points => gl::POINTS,
                GeometryPrimitive::LineStrip => gl::LINES,
                _ => gl::TRIANGLES,
            };
            return if output == span.mode { u32::MAX } else { 0 };
        }
        match span.mode {
            gl::POINTS => POINT_MODES,
            gl::LINES => LINE_MODES,
            _ => TRIANGLE_MODES,
        }
    }

    /// Notes that the captured buffers have contents that only the GPU knows.
    fn note_writes(&self) {
        for buffer in self.targets.iter().filter_map(|t| t.buffer.as_ref()) {
            buffer.gpu_wrote();
        }
    }
}

impl Context {
    /// `glBeginTransformFeedback`.
    pub fn begin_transform_feedback(&mut self, primitive_mode: u32) {
        self.gl(|ctx| ctx.try_begin_xfb(primitive_mode));
    }

    fn try_begin_xfb(&mut self, mode: u32) -> GlResult {
        let command = "glBeginTransformFeedback";
        if !matches!(mode, gl::POINTS | gl::LINES | gl::TRIANGLES) {
            return Err(invalid_enum(format!("{command}: mode")));
        }
        if self.state.xfb.is_active() {
            return Err(invalid_operation(format!("{command}: active already")));
        }
        let program = self
            .state
            .program
            .executable()
            .cloned()
            .ok_or_else(|| invalid_operation(format!("{command}: no program is in use")))?;
        let Some(captured) = &program.reflection.transform_feedback else {
            return Err(invalid_operation(format!("{command}: the program captures nothing")));
        };
        for (i, buffer) in captured.buffers.iter().enumerate().filter(|(_, b)| b.stride != 0) {
            let bound = self.state.xfb.targets.get(i).and_then(|t| t.buffer.as_ref());
            let bound = bound.ok_or_else(|| {
                invalid_operation(format!("{command}: no buffer at point {i} for {} bytes a vertex", buffer.stride))
            })?;
            if bound.is_mapped() {
                return Err(invalid_operation(format!("{command}: the buffer at point {i} is mapped")));
            }
        }
        if self.state.xfb.handle.is_null() {
            self.state.xfb.handle = self.state.share.mint("transform feedback")?;
        }
        self.state.xfb.span = Some(Span { mode, program });
        self.state.xfb.paused = false;
        self.state.generations.bump(mgpipe_tracker::Counter::StreamOutput);
        self.state.program.refresh(&mut self.state.generations);
        self.tracker.validate(VerbClass::XfbSpan, &mut self.state, &mut *self.pipe);
        let xfb = self.state.xfb.handle.raw();
        self.pipe.begin_stream_output(&BeginStreamOutput { xfb, mode, pad: 0 });
        self.state.xfb.note_writes();
        Ok(())
    }

    /// `glEndTransformFeedback`.
    pub fn end_transform_feedback(&mut self) {
        self.gl(|ctx| {
            if ctx.state.xfb.span.is_none() {
                return Err(invalid_operation("glEndTransformFeedback: not active"));
            }
            ctx.tracker.validate(VerbClass::XfbSpan, &mut ctx.state, &mut *ctx.pipe);
            let xfb = ctx.state.xfb.handle.raw();
            ctx.pipe.end_stream_output(&EndStreamOutput { xfb, ..EndStreamOutput::default() });
            ctx.state.xfb.note_writes();
            ctx.state.xfb.span = None;
            ctx.state.xfb.paused = false;
            Ok(())
        });
    }

    /// `glPauseTransformFeedback`.
    pub fn pause_transform_feedback(&mut self) {
        self.gl(|ctx| {
            if !ctx.state.xfb.captures() {
                return Err(invalid_operation("glPauseTransformFeedback: not active, or paused already"));
            }
            ctx.state.xfb.paused = true;
            ctx.pipe.pause_stream_output(&only(ctx.state.xfb.handle));
            Ok(())
        });
    }

    /// `glResumeTransformFeedback`.
    pub fn resume_transform_feedback(&mut self) {
        self.gl(|ctx| {
            if !ctx.state.xfb.is_paused() {
                return Err(invalid_operation("glResumeTransformFeedback: not paused"));
            }
            let span = ctx.state.xfb.span.as_ref().map(|s| &s.program);
            let same = match (span, ctx.state.program.executable()) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                _ => false,
            };
            if !same {
                return Err(invalid_operation("glResumeTransformFeedback: another program is in use"));
            }
            ctx.state.xfb.paused = false;
            ctx.tracker.validate(VerbClass::XfbSpan, &mut ctx.state, &mut *ctx.pipe);
            ctx.pipe.resume_stream_output(&only(ctx.state.xfb.handle));
            Ok(())
        });
    }

    /// Destroys the transform-feedback object when the context ends.
    pub(crate) fn drop_xfb(&mut self) {
        let handle = self.state.xfb.handle;
        if !handle.is_null() {
            self.state.xfb.span = None;
            self.pipe.delete_stream_output(&only(handle));
            self.state.share.free(handle);
            self.state.xfb.handle = XfbHandle::NULL;
        }
    }
}
