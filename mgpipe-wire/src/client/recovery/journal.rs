//! What a server would have to be told anew: the latest of everything that the client has said.

use super::bytes::Budget;
use super::resource::Resources;
use crate::call::Call;
use crate::message::Subject;
use crate::record::RecordBuf;
use mgpipe_types::render_state::Half;
use mgpipe_types::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a record needs when the server is lost while it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Nothing: the journal has what it says.
    Held,
    /// It has to be sent again, behind what the journal has.
    Transient,
}

/// Where a query was when its server was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryState {
    Fresh,
    Active,
    Ended,
}

/// A transform-feedback object.
#[derive(Default)]
pub(super) struct Stream {
    pub(super) targets: RecordBuf,
    /// The span that has begun, and whether it pauses.
    pub(super) begun: Option<(BeginStreamOutput, bool)>,
}

/// A set or a bind of which the latest counts.
pub(super) struct Latest {
    op: Opcode,
    class: u32,
    start: u32,
    pub(super) record: RecordBuf,
}

/// What a context was told.
#[derive(Default)]
pub(super) struct ContextLog {
    /// Sets and binds in the order in which they were first made.
    pub(super) latest: Vec<Latest>,
    /// The dynamic half of the render state, and which chunks of it were set.
    pub(super) dynamic: RenderState,
    pub(super) dynamic_mask: u32,
    pub(super) attributes: BTreeMap<u32, AttribValue>,
    /// Transform-feedback objects; the last one is the current one.
    pub(super) streams: Vec<(Handle, Stream)>,
    pub(super) queries: BTreeMap<Handle, (QueryDesc, QueryState)>,
    /// The framebuffer whose attachments are known to be drawn into.
    framebuffer: u64,
}

/// What a screen was told.
pub(super) struct ScreenLog {
    /// The caps as the first server gave them.
    pub(super) caps: Vec<u8>,
    pub(super) resources: Resources,
    pub(super) render_states: BTreeMap<Handle, RenderState>,
    /// Other state objects and programs, by the call that makes them.
    pub(super) objects: BTreeMap<(Opcode, Handle), RecordBuf>,
    /// Values of programs: constants and bindings.
    pub(super) values: BTreeMap<(Opcode, Handle), RecordBuf>,
    pub(super) fences: BTreeSet<Handle>,
    pub(super) contexts: BTreeMap<ContextHandle, ContextLog>,
}

/// Everything that the client has said on one connection.
pub(super) struct Journal {
    pub(super) screens: BTreeMap<u32, ScreenLog>,
    pub(super) budget: Arc<Budget>,
}

/// Replaces a record that is kept by a call's.
fn keep(record: &mut RecordBuf, call: &Call<'_>) {
    record.clear();
    call.encode(record);
}

impl ContextLog {
    /// Keeps a call of which the latest counts. One that starts at `start` unbinds what lies behind it.
    fn keep(&mut self, call: &Call<'_>, class: u32, start: u32) {
        let op = call.opcode();
        let same = |latest: &Latest| latest.op == op && latest.class == class;
        match self.latest.iter_mut().find(|latest| same(latest) && latest.start == start) {
            Some(latest) => keep(&mut latest.record, call),
            None => {
                let mut record = RecordBuf::new();
                call.encode(&mut record);
                self.latest.push(Latest { op, class, start, record });
            }
        }
        self.latest.retain(|latest| !same(latest) || latest.start <= start);
    }

    fn stream(&mut self, xfb: Handle) -> &mut Stream {
        let at = self.streams.iter().position(|(handle, _)| *handle == xfb).unwrap_or_else(|| {
            self.streams.push((xfb, Stream::default()));
            self.streams.len() - 1
        });
        &mut self.streams[at].1
    }

    fn query(&mut self, query: Handle, state: QueryState) {
        if let Some(known) = self.queries.get_mut(&query) {
            known.1 = state;
        }
    }
}

impl ScreenLog {
    fn new(caps: Vec<u8>, budget: Arc<Budget>) -> ScreenLog {
        ScreenLog {
            caps,
            resources: Resources::new(budget),
            render_states: BTreeMap::new(),
            objects: BTreeMap::new(),
            values: BTreeMap::new(),
            fences: BTreeSet::new(),
            contexts: BTreeMap::new(),
        }
    }

    fn object(&mut self, handle: Handle, call: &Call<'_>) {
        keep(self.objects.entry((call.opcode(), handle)).or_default(), call);
    }

    fn value(&mut self, handle: Handle, call: &Call<'_>) {
        keep(self.values.entry((call.opcode(), handle)).or_default(), call);
    }

    /// Calls about objects that all contexts share.
    fn note(&mut self, call: &Call<'_>) -> Option<Kept> {
        match call {
            Call::ResourceCreate { desc } | Call::ResourceRespecify { desc } => self.resources.specify(desc),
            Call::ResourceDestroy { resource } => self.resources.destroy((resource.kind, resource.handle)),
            Call::RenderbufferStorage { storage } => self.resources.storage(storage),
            Call::SetTextureParams { params } => self.resources.set_params(params),
            Call::ResourceSubdata { data, regions, bytes } => {
                if !self.resources.upload(data, regions, bytes) {
                    return Some(Kept::Transient);
                }
            }
            Call::BufferSubdataResident { data, bytes } => {
                if !self.resources.upload_buffer(data.res, data.offset, bytes) {
                    return Some(Kept::Transient);
                }
            }
            Call::ResourceCopyRegion { copy } => {
                self.resources.copy(copy);
                return Some(Kept::Transient);
            }
            Call::GenerateMipmap { plan } => {
                if !self.resources.derive(plan) {
                    return Some(Kept::Transient);
                }
            }
            Call::FenceCreate { desc } => drop(self.fences.insert(desc.fence)),
            Call::FenceDestroy { fence } => drop(self.fences.remove(&fence.handle)),
            Call::CreateRenderState { desc, chunks } => {
                let mut state = self.render_states.get(&desc.base_cso).copied().unwrap_or_default();
                state.scatter(Half::Pipeline, desc.chunk_mask, chunks);
                self.render_states.insert(desc.cso, state);
            }
            Call::DeleteRenderState { cso } => drop(self.render_states.remove(&cso.handle)),
            Call::CreateVertexElements { desc, .. } => self.object(desc.cso, call),
            Call::DeleteVertexElements { cso } => {
                drop(self.objects.remove(&(Opcode::CreateVertexElements, cso.handle)))
            }
            Call::CreateSampler { desc, .. } => self.object(desc.cso, call),
            Call::DeleteSampler { cso } => drop(self.objects.remove(&(Opcode::CreateSampler, cso.handle))),
            Call::CreateSamplerView { view } => self.object(view.cso, call),
            Call::DeleteSamplerView { cso } => drop(self.objects.remove(&(Opcode::CreateSamplerView, cso.handle))),
            Call::CreateShader { desc, .. } => self.object(desc.cso, call),
            Call::DeleteShader { cso } => {
                self.objects.remove(&(Opcode::CreateShader, cso.handle));
                for op in [Opcode::SetGlobalConstants, Opcode::SetProgramBindings] {
                    self.values.remove(&(op, cso.handle));
                }
            }
            Call::SetGlobalConstants { constants, .. } => self.value(constants.shader, call),
            Call::SetProgramBindings { header, .. } => self.value(header.shader, call),
            Call::Blit { blit } => {
                self.resources.written((blit.dst.kind, blit.dst.handle));
                return Some(Kept::Transient);
            }
            Call::ReadbackToBuffer { readback } => {
                self.resources.written((Kind::Buffer as u8, readback.buffer));
                return Some(Kept::Transient);
            }
            _ => return None,
        }
        Some(Kept::Held)
    }
}

/// Notes what a state call says about writes of the device.
fn note_writes(resources: &mut Resources, framebuffer: &mut u64, call: &Call<'_>) {
    let buffer = |range: &BufferRange| (Kind::Buffer as u8, range.res);
    match call {
        Call::SetFramebufferState { state } if *framebuffer != state.content_hash => {
            *framebuffer = state.content_hash;
            for surface in state.color.iter().chain([&state.depth, &state.stencil]).filter(|s| s.is_some()) {
                resources.written((surface.kind, surface.handle));
            }
        }
        Call::SetShaderImages { images, .. } => {
            for image in images.iter().filter(|image| image.access != 0) {
                resources.written((Kind::Texture as u8, image.res));
            }
        }
        Call::SetShaderBuffers { header, ranges, .. } => {
            let writable = |at: &usize| header.writable_mask.checked_shr(*at as u32).unwrap_or(0) & 1 != 0;
            for (_, range) in ranges.iter().enumerate().filter(|(at, _)| writable(at)) {
                resources.written(buffer(range));
            }
        }
        Call::SetStreamOutputTargets { targets, .. } => {
            targets.iter().for_each(|target| resources.written(buffer(target)));
        }
        _ => {}
    }
}

impl ContextLog {
    /// Calls about one context.
    fn note(&mut self, call: &Call<'_>) -> Kept {
        match call {
            Call::QueryCreate { desc } => drop(self.queries.insert(desc.query, (*desc, QueryState::Fresh))),
            Call::QueryBegin { query } => self.query(query.handle, QueryState::Active),
            Call::QueryEnd { query } => self.query(query.handle, QueryState::Ended),
            Call::QueryDestroy { query } => drop(self.queries.remove(&query.handle)),
            Call::BindRenderState { .. }
            | Call::BindVertexElements { .. }
            | Call::BindShader { .. }
            | Call::SetFramebufferState { .. }
            | Call::SetIndexBuffer { .. }
            | Call::SetIndirectBuffers { .. }
            | Call::SetPixelPackState { .. }
            | Call::SetPatchState { .. }
            | Call::SetDrawProgram { .. }
            | Call::SetDispatchProgram { .. }
            // The tails of these replace everything that is bound.
            | Call::SetSamplerViews { .. }
            | Call::SetShaderImages { .. } => self.keep(call, 0, 0),
            Call::SetSwapInterval { interval } => self.keep(call, interval.window, 0),
            Call::SetVertexBuffers { header, .. } | Call::BindSamplerStates { header, .. } => {
                self.keep(call, 0, header.start);
            }
            Call::SetShaderBuffers { header, .. } => self.keep(call, header.class, header.start),
            Call::SetDynamicState { state, chunks } => {
                if self.dynamic.scatter(Half::Dynamic, state.chunk_mask, chunks) {
                    self.dynamic_mask |= state.chunk_mask;
                }
            }
            Call::SetVertexAttribDefaults { values, .. } => {
                self.attributes.extend(values.iter().map(|value| (value.index, *value)));
            }
            Call::SetStreamOutputTargets { header, .. } => {
                // The one that was set last is current: it goes to the end.
                self.stream(header.xfb);
                if let Some(at) = self.streams.iter().position(|(handle, _)| *handle == header.xfb) {
                    let stream = self.streams.remove(at);
                    self.streams.push(stream);
                }
                keep(&mut self.stream(header.xfb).targets, call);
            }
            Call::BeginStreamOutput { begin } => self.stream(begin.xfb).begun = Some((*begin, false)),
            Call::EndStreamOutput { end } => self.stream(end.xfb).begun = None,
            Call::PauseStreamOutput { xfb } => self.pause(xfb.handle, true),
            Call::ResumeStreamOutput { xfb } => self.pause(xfb.handle, false),
            Call::DeleteStreamOutput { xfb } => self.streams.retain(|(handle, _)| *handle != xfb.handle),
            _ => return Kept::Transient,
        }
        Kept::Held
    }

    fn pause(&mut self, xfb: Handle, pauses: bool) {
        if let Some((_, paused)) = &mut self.stream(xfb).begun {
            *paused = pauses;
        }
    }
}

/// Calls that say nothing which lasts: most of a frame.
pub(super) fn says_nothing(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::DrawVbo
            | Opcode::LaunchGrid
            | Opcode::MemoryBarrier
            | Opcode::Clear
            | Opcode::Flush
            | Opcode::Present
            | Opcode::ReadPixels
            | Opcode::GetTextureImage
            | Opcode::ResourceReadback
            | Opcode::FenceWaitServer
            | Opcode::QueryAvailable
            | Opcode::QueryResult
            | Opcode::QueryTimestamp
            | Opcode::FenceStatus
            | Opcode::FenceWait
            // The client opens its windows again.
            | Opcode::WindowOpen
            | Opcode::WindowClose
    )
}

impl Journal {
    pub(super) fn new(budget: Arc<Budget>) -> Journal {
        Journal { screens: BTreeMap::new(), budget }
    }

    /// A server has opened a screen.
    pub(super) fn open_screen(&mut self, screen: u32, caps: Vec<u8>) {
        self.screens.insert(screen, ScreenLog::new(caps, self.budget.clone()));
    }

    pub(super) fn close_screen(&mut self, screen: u32) {
        self.screens.remove(&screen);
    }

    /// A server has created a context.
    pub(super) fn create_context(&mut self, subject: Subject) {
        if let Some(screen) = self.screens.get_mut(&subject.screen) {
            screen.contexts.insert(subject.context, ContextLog::default());
        }
    }

    pub(super) fn drop_context(&mut self, subject: Subject) {
        if let Some(screen) = self.screens.get_mut(&subject.screen) {
            screen.contexts.remove(&subject.context);
        }
    }

    /// Notes what a call says.
    pub(super) fn note(&mut self, subject: Subject, call: &Call<'_>) -> Kept {
        let Some(screen) = self.screens.get_mut(&subject.screen) else { return Kept::Transient };
        if let Some(kept) = screen.note(call) {
            return kept;
        }
        let Some(context) = screen.contexts.get_mut(&subject.context) else { return Kept::Transient };
        note_writes(&mut screen.resources, &mut context.framebuffer, call);
        context.note(call)
    }
}
