//! Tells a fresh server everything that a journal holds, in the order in which one thing needs the other.

use super::image::Part;
use super::journal::{ContextLog, Journal, QueryState, ScreenLog};
use super::outlet::{Outlet, Plain};
use super::resource::{Contents, Key, Resource};
use crate::call::Call;
use crate::message::{control, Subject, STATUS_OK};
use crate::port::{Idle, PortError, ReplyBoard};
use crate::record::{record_flags, RecordBuf};
use mgpipe_types::render_state::{Half, ALL_PIPELINE_CHUNKS};
use mgpipe_types::*;
use std::time::Duration;

/// Longest wait for a server to open a screen or a context.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most bytes of a buffer in one record.
const PIECE: usize = 4 << 20;

/// Bytes of an upload that go into the record itself.
const INLINE_BYTES: usize = 2048;

/// A context that exists only while a screen without contexts is told what it has.
const PASSING: ContextHandle = ContextHandle(Handle { slot: Kind::Context.slot_limit() - 1, gen: u32::MAX });

/// What was restored and what could not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Restored {
    pub(super) screens: u32,
    pub(super) contexts: u32,
    pub(super) buffers: u32,
    pub(super) textures: u32,
    pub(super) programs: u32,
    /// Bytes of contents that were sent.
    pub(super) bytes: u64,
    /// Textures and renderbuffers that the device had written.
    pub(super) lost_images: u32,
    /// Buffers that the device had written.
    pub(super) lost_buffers: u32,
    /// Resources whose contents were too many to keep.
    pub(super) unkept: u32,
    /// Queries that ended or run: their counts start at 0.
    pub(super) lost_queries: u32,
}

/// A fresh connection that is being filled.
pub(super) struct Pusher<'a> {
    pub(super) outlet: &'a mut Outlet,
    pub(super) replies: &'a dyn ReplyBoard,
    pub(super) idle: Idle<'a>,
    pub(super) record: RecordBuf,
    pub(super) restored: Restored,
}

/// The arguments of an upload without its bytes.
fn upload_arguments(record: &mut RecordBuf, data: &SubData, region: Option<&SubRegion>) {
    record.clear();
    record.put(bytemuck::bytes_of(data));
    record.put_word(u64::from(region.is_some()));
    if let Some(region) = region {
        record.put(bytemuck::bytes_of(region));
    }
}

impl Pusher<'_> {
    /// Sends everything.
    pub(super) fn push(&mut self, journal: &Journal) -> Result<(), PortError> {
        for (number, screen) in &journal.screens {
            self.screen(*number, screen)?;
        }
        self.outlet.sink.doorbell();
        Ok(())
    }

    fn request(&mut self, subject: Subject, kind: u16) -> Result<Vec<u8>, PortError> {
        let ticket = self.replies.ticket(self.idle)?;
        let arguments = bytemuck::bytes_of(&subject);
        self.outlet.send(subject, Plain { kind, flags: 0, arguments, blob: None }, Some(ticket), self.idle)?;
        self.outlet.sink.doorbell();
        let mut bytes = Vec::new();
        match self.replies.wait(ticket, PATIENCE, self.idle, &mut |part| bytes.extend_from_slice(part))? {
            STATUS_OK => Ok(bytes),
            _ => Err(PortError::Lost(format!("the new server refuses: {}", String::from_utf8_lossy(&bytes)))),
        }
    }

    fn control(&mut self, subject: Subject, kind: u16) -> Result<(), PortError> {
        let arguments = bytemuck::bytes_of(&subject);
        self.outlet.send(subject, Plain { kind, flags: 0, arguments, blob: None }, None, self.idle).map(drop)
    }

    fn kept(&mut self, subject: Subject, record: &RecordBuf) -> Result<(), PortError> {
        match Plain::of(record.bytes()) {
            Some(plain) => self.outlet.send(subject, plain, None, self.idle).map(drop),
            None => Ok(()),
        }
    }

    fn call(&mut self, subject: Subject, call: &Call<'_>) -> Result<(), PortError> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        call.encode(&mut record);
        let sent = self.kept(subject, &record);
        self.record = record;
        sent
    }

    fn screen(&mut self, number: u32, screen: &ScreenLog) -> Result<(), PortError> {
        let caps = self.request(Subject::new(number, ContextHandle::NULL), control::OPEN_SCREEN)?;
        if caps != screen.caps {
            return Err(PortError::Corrupt("the new server's device has other limits or features".into()));
        }
        self.restored.screens += 1;
        for context in screen.contexts.keys() {
            self.request(Subject::new(number, *context), control::CREATE_CONTEXT)?;
        }
        let passing = screen.contexts.is_empty() && !screen.resources.table.is_empty();
        if passing {
            self.request(Subject::new(number, PASSING), control::CREATE_CONTEXT)?;
        }
        let first = screen.contexts.keys().next().copied().unwrap_or(PASSING);
        let subject = Subject::new(number, first);
        if passing || !screen.contexts.is_empty() {
            self.resources(subject, screen)?;
            self.objects(subject, screen)?;
        }
        for (handle, context) in &screen.contexts {
            self.restored.contexts += 1;
            self.context(Subject::new(number, *handle), context)?;
        }
        if !screen.contexts.is_empty() || passing {
            // Other contexts see what this one has uploaded.
            self.call(subject, &Call::Flush { flush: Flush { flags: flush_flags::SUBMIT, pad: 0 } })?;
        }
        if passing {
            self.control(subject, control::DROP_CONTEXT)?;
        }
        Ok(())
    }

    fn resources(&mut self, subject: Subject, screen: &ScreenLog) -> Result<(), PortError> {
        let table = &screen.resources.table;
        let of_doomed = |resource: &Resource| {
            resource.owner().and_then(|owner| table.get(&owner)).is_some_and(|owner| owner.doomed)
        };
        // What was destroyed and lives on in others goes first: its slot may have a new tenant. Then owners, then views.
        for (key, resource) in table.iter().filter(|(_, resource)| resource.doomed) {
            self.resource(subject, *key, resource)?;
        }
        for (key, resource) in table.iter().filter(|(_, resource)| of_doomed(resource)) {
            self.resource(subject, *key, resource)?;
        }
        for (key, _) in table.iter().filter(|(_, resource)| resource.doomed) {
            let resource = ResourceRef { handle: key.1, kind: key.0, pad: [0; 7] };
            self.call(subject, &Call::ResourceDestroy { resource })?;
        }
        let ordinary = |resource: &Resource| !resource.doomed && !of_doomed(resource);
        for owns in [true, false] {
            let pass = |resource: &Resource| ordinary(resource) && resource.owner().is_none() == owns;
            for (key, resource) in table.iter().filter(|(_, resource)| pass(resource)) {
                self.resource(subject, *key, resource)?;
            }
        }
        Ok(())
    }

    fn resource(&mut self, subject: Subject, key: Key, resource: &Resource) -> Result<(), PortError> {
        let (kind, handle) = key;
        if let Some(desc) = &resource.desc {
            // The contents follow, so nothing is to be kept.
            let desc = ResourceDesc { has_defined_content: 0, ..*desc };
            self.call(subject, &Call::ResourceCreate { desc })?;
        }
        if let Some(storage) = resource.storage {
            self.call(subject, &Call::RenderbufferStorage { storage })?;
        }
        if let Some(params) = resource.params {
            self.call(subject, &Call::SetTextureParams { params })?;
        }
        if kind == Kind::Buffer as u8 {
            self.restored.buffers += 1;
            self.restored.lost_buffers += u32::from(resource.written);
        } else {
            self.restored.textures += 1;
            self.restored.lost_images += u32::from(resource.written && resource.owner().is_none());
        }
        self.restored.unkept += u32::from(resource.incomplete);
        match &resource.contents {
            Contents::None => Ok(()),
            Contents::Buffer(block, ranges) => {
                for range in ranges.iter() {
                    for start in range.clone().step_by(PIECE) {
                        let bytes = &block.bytes()[start..range.end.min(start + PIECE)];
                        self.buffer_bytes(subject, handle, start, bytes)?;
                    }
                }
                Ok(())
            }
            Contents::Image(_) => self.texels(subject, handle, resource),
        }
    }

    fn buffer_bytes(&mut self, subject: Subject, res: Handle, start: usize, bytes: &[u8]) -> Result<(), PortError> {
        let union_box = Box3::from_buffer_range(start as u64, bytes.len() as u64);
        let data = SubData { res, target: Target::Buffer as u16, union_box, ..SubData::default() };
        self.upload(subject, &data, None, bytes)
    }

    fn upload(
        &mut self,
        subject: Subject,
        data: &SubData,
        region: Option<&SubRegion>,
        bytes: &[u8],
    ) -> Result<(), PortError> {
        let mut record = std::mem::take(&mut self.record);
        upload_arguments(&mut record, data, region);
        let blob = (bytes.len() > INLINE_BYTES).then_some(bytes);
        if blob.is_none() {
            record.put_word(bytes.len() as u64);
            record.put(bytes);
        }
        let plain = Plain { kind: Opcode::ResourceSubdata as u16, flags: 0, arguments: record.bytes(), blob };
        let sent = self.outlet.send(subject, plain, None, self.idle);
        self.record = record;
        self.restored.bytes += bytes.len() as u64;
        sent.map(drop)
    }

    /// Uploads what was uploaded and derives what was derived: each plan once all levels up to its base are there.
    fn texels(&mut self, subject: Subject, res: Handle, resource: &Resource) -> Result<(), PortError> {
        let (Contents::Image(image), Some(desc)) = (&resource.contents, &resource.desc) else { return Ok(()) };
        let mut next = 0;
        let plans = resource.derived.iter().map(Some).chain([None]);
        for plan in plans {
            let end = plan.map_or(image.level_count(), |plan| plan.base_level.saturating_add(1));
            for part in image.parts(next..end.max(next)) {
                self.part(subject, res, desc, &part)?;
            }
            next = next.max(end);
            if let Some(plan) = plan {
                self.call(subject, &Call::GenerateMipmap { plan: *plan })?;
            }
        }
        Ok(())
    }

    /// Uploads a part of a level, some rows at a time.
    fn part(&mut self, subject: Subject, res: Handle, desc: &ResourceDesc, part: &Part) -> Result<(), PortError> {
        let format = Format(desc.format).desc();
        let (row, height) = (format.row_bytes(part.area.width).max(1) as usize, format.block_height.max(1));
        let rows = (PIECE / row).max(1);
        for (at, bytes) in part.bytes.chunks(rows * row).enumerate() {
            let first = (at * rows) as u32 * height;
            let lines = ((bytes.len() / row) as u32 * height).min(part.area.height.saturating_sub(first));
            let area = Box3 { y: part.area.y.saturating_add_unsigned(first), height: lines, ..part.area };
            let data = SubData {
                res,
                target: u16::from(desc.target),
                level: part.level,
                union_box: area,
                region_count: 1,
                ..SubData::default()
            };
            let region = SubRegion::tight(&area);
            self.upload(subject, &data, Some(&region), bytes)?;
        }
        Ok(())
    }

    fn objects(&mut self, subject: Subject, screen: &ScreenLog) -> Result<(), PortError> {
        let mut chunks = Vec::new();
        for (cso, state) in &screen.render_states {
            state.gather(Half::Pipeline, ALL_PIPELINE_CHUNKS, &mut chunks);
            let desc = RenderStateDesc { cso: *cso, chunk_mask: ALL_PIPELINE_CHUNKS, ..RenderStateDesc::default() };
            self.call(subject, &Call::CreateRenderState { desc, chunks: &chunks })?;
        }
        for ((op, _), record) in &screen.objects {
            self.restored.programs += u32::from(*op == Opcode::CreateShader);
            self.kept(subject, record)?;
        }
        for record in screen.values.values() {
            self.kept(subject, record)?;
        }
        Ok(())
    }

    fn context(&mut self, subject: Subject, log: &ContextLog) -> Result<(), PortError> {
        if log.dynamic_mask != 0 {
            let mut chunks = Vec::new();
            log.dynamic.gather(Half::Dynamic, log.dynamic_mask, &mut chunks);
            let state = DynamicState { chunk_mask: log.dynamic_mask, ..DynamicState::default() };
            self.call(subject, &Call::SetDynamicState { state, chunks: &chunks })?;
        }
        for latest in &log.latest {
            self.kept(subject, &latest.record)?;
        }
        if !log.attributes.is_empty() {
            let values: Vec<AttribValue> = log.attributes.values().copied().collect();
            let mask = log.attributes.keys().fold(0, |mask, index| mask | 1u32.checked_shl(*index).unwrap_or(0));
            let header = VertexAttribDefaults { mask, pad: 0 };
            self.call(subject, &Call::SetVertexAttribDefaults { header, values: &values })?;
        }
        for (_, stream) in log.streams.iter().filter(|(_, stream)| !stream.targets.is_empty()) {
            self.kept(subject, &stream.targets)?;
        }
        self.spans(subject, log)?;
        self.queries(subject, log)
    }

    /// Spans of transform feedback begin again: those that pause first, since only one can run.
    fn spans(&mut self, subject: Subject, log: &ContextLog) -> Result<(), PortError> {
        for running in [false, true] {
            for (xfb, stream) in &log.streams {
                let Some((begin, paused)) = stream.begun.filter(|(_, paused)| *paused != running) else { continue };
                self.call(subject, &Call::BeginStreamOutput { begin })?;
                if paused {
                    self.call(subject, &Call::PauseStreamOutput { xfb: HandleOnly { handle: *xfb } })?;
                }
            }
        }
        Ok(())
    }

    /// Queries that have ended get an empty stretch, so that they have a result; those that ran begin again.
    fn queries(&mut self, subject: Subject, log: &ContextLog) -> Result<(), PortError> {
        for (desc, _) in log.queries.values() {
            self.call(subject, &Call::QueryCreate { desc: *desc })?;
        }
        for wanted in [QueryState::Ended, QueryState::Active] {
            for (handle, (desc, _)) in log.queries.iter().filter(|(_, (_, state))| *state == wanted) {
                let query = HandleOnly { handle: *handle };
                self.restored.lost_queries += 1;
                if desc.target != gl::TIMESTAMP {
                    self.call(subject, &Call::QueryBegin { query })?;
                }
                if wanted == QueryState::Ended {
                    self.call(subject, &Call::QueryEnd { query })?;
                }
            }
        }
        Ok(())
    }
}

/// The flag word of a record on a connection without what a connection adds.
pub(super) fn plain_flags(flags: u16) -> u16 {
    flags & record_flags::HOST
}
