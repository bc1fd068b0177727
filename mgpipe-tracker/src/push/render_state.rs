//! Render state: the pipeline half as a cached object, the dynamic half as the chunks that changed.

use super::Core;
use crate::cso_cache::{CsoCache, Interned};
use crate::render_state::{take_dynamic_chunks, PipelineWords, RenderStateTracker, DYNAMIC_CHUNKS};
use crate::verb::{Group, GroupMask};
use bytemuck::bytes_of;
use mgpipe_types::render_state::{
    chunks, Half, ALL_DYNAMIC_CHUNKS, ALL_PIPELINE_CHUNKS, DYNAMIC_BYTES, PIPELINE_BYTES,
};
use mgpipe_types::{
    BindRenderState, BlobRef, Context, DynamicState, HandleOnly, RenderState, RenderStateCso, RenderStateDesc,
    TypedHandle,
};

/// No node.
const NONE: u32 = u32::MAX;

/// Sends the render state.
#[derive(Debug)]
pub(crate) struct RenderStatePush {
    /// Version that was looked at last; `None` when the server knows nothing.
    version: Option<u64>,
    pipeline_version: Option<u64>,
    dynamic_version: Option<u64>,
    dynamic_versions: [u64; DYNAMIC_CHUNKS],
    bound: RenderStateCso,
    bound_node: u32,
    /// For each node, the node that was bound after it last time: a program that toggles state walks in circles, and
    /// this finds the next object by one comparison, without a hash.
    successors: Vec<u32>,
    cache: CsoCache<PipelineWords, RenderStateCso>,
    /// Dynamic half as the server has it. The pipeline half of this block is not used.
    sent: Box<RenderState>,
    scratch: Vec<u8>,
}

fn blob(len: usize) -> BlobRef {
    BlobRef { size: len as u64, ..BlobRef::default() }
}

impl RenderStatePush {
    pub(crate) fn new(capacity: usize) -> RenderStatePush {
        RenderStatePush {
            version: None,
            pipeline_version: None,
            dynamic_version: None,
            dynamic_versions: [0; DYNAMIC_CHUNKS],
            bound: RenderStateCso::NULL,
            bound_node: NONE,
            successors: Vec::with_capacity(capacity),
            cache: CsoCache::new(capacity),
            sent: Box::default(),
            scratch: Vec::with_capacity(DYNAMIC_BYTES.max(PIPELINE_BYTES)),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.version = None;
        self.pipeline_version = None;
        self.dynamic_version = None;
        self.bound = RenderStateCso::NULL;
        self.bound_node = NONE;
        self.cache.undeclare();
    }

    /// Gives the handles back without a word to the server.
    pub(crate) fn release(&mut self, core: &Core) {
        self.cache.clear(&core.handles, |_, _, _| {});
    }

    pub(crate) fn shutdown(&mut self, core: &Core, pipe: &mut dyn Context) {
        self.cache.clear(&core.handles, |_, cso, _| pipe.delete_render_state(&HandleOnly::new(cso)));
        self.forget();
    }

    /// Groups whose versions differ from what was looked at last.
    pub(crate) fn pending(&self, state: &RenderStateTracker) -> GroupMask {
        let mut mask = GroupMask::NONE;
        if self.pipeline_version != Some(state.pipeline_version()) {
            mask = mask | GroupMask::of(&[Group::RenderState]);
        }
        if self.dynamic_version != Some(state.dynamic_version()) {
            mask = mask | GroupMask::of(&[Group::DynamicState]);
        }
        mask
    }

    #[inline]
    pub(crate) fn push(&mut self, core: &mut Core, state: &RenderStateTracker, pipe: &mut dyn Context) {
        if self.version == Some(state.version()) {
            return;
        }
        if self.pipeline_version != Some(state.pipeline_version()) {
            self.push_pipeline(core, state, pipe);
            self.pipeline_version = Some(state.pipeline_version());
        }
        if self.dynamic_version != Some(state.dynamic_version()) {
            self.push_dynamic(core, state, pipe);
            self.dynamic_version = Some(state.dynamic_version());
        }
        self.version = Some(state.version());
    }

    fn push_pipeline(&mut self, core: &mut Core, state: &RenderStateTracker, pipe: &mut dyn Context) {
        core.fire(Group::RenderState);
        let addressing = core.options.switches.content_addressing;
        let predicted = if addressing { self.predict(core, state) } else { None };
        let Some(found) = predicted.or_else(|| self.look_up(core, state, addressing, pipe)) else {
            return;
        };
        if found.create {
            self.create(core, state, found.handle, pipe);
        }
        if let Some(successor) = self.successors.get_mut(self.bound_node as usize) {
            *successor = found.node;
        }
        if core.note(Group::RenderState, found.handle != self.bound, size_of::<BindRenderState>()) {
            pipe.bind_render_state(&BindRenderState {
                cso: found.handle.raw(),
                // The wire has 16 bits of each version, for diagnostics.
                version: state.version() as u16,
                pipeline_version: state.pipeline_version() as u16,
            });
            core.stats.render_state.binds += 1;
        }
        self.bound = found.handle;
        self.bound_node = found.node;
    }

    #[inline]
    fn predict(&mut self, core: &mut Core, state: &RenderStateTracker) -> Option<Interned<RenderStateCso>> {
        let successor = *self.successors.get(self.bound_node as usize)?;
        let found = self.cache.matches(successor, |key| state.pipeline_equals(key));
        core.stats.render_state.predictions += u64::from(found.is_some());
        found
    }

    #[cold]
    #[inline(never)]
    fn look_up(
        &mut self,
        core: &mut Core,
        state: &RenderStateTracker,
        addressing: bool,
        pipe: &mut dyn Context,
    ) -> Option<Interned<RenderStateCso>> {
        let key = state.pipeline_words();
        let hash = core.hash(bytes_of(&key));
        let bound = &mut self.bound;
        let found = self.cache.intern(
            hash,
            addressing,
            |k| *k == key,
            || key,
            &core.handles,
            &mut core.stats.render_state,
            |_, cso, _| {
                if *bound == cso {
                    *bound = RenderStateCso::NULL;
                }
                pipe.delete_render_state(&HandleOnly::new(cso));
            },
        );
        let found = found?;
        if self.successors.len() <= found.node as usize {
            self.successors.resize(found.node as usize + 1, NONE);
        }
        Some(found)
    }

    #[cold]
    #[inline(never)]
    fn create(&mut self, core: &mut Core, state: &RenderStateTracker, cso: RenderStateCso, pipe: &mut dyn Context) {
        let mut mask = ALL_PIPELINE_CHUNKS;
        let mut base = RenderStateCso::NULL;
        if core.options.switches.delta_render_state && !self.bound.is_null() && self.bound != cso {
            let mut bound_state = RenderState::default();
            let node = self.bound_node;
            let known =
                self.cache.matches(node, |key| bound_state.scatter(Half::Pipeline, ALL_PIPELINE_CHUNKS, bytes_of(key)));
            if known.is_some_and(|k| k.handle == self.bound && !k.create) {
                mask = state.state().changed_chunks(&bound_state, Half::Pipeline);
                base = self.bound;
            }
        }
        state.state().gather(Half::Pipeline, mask, &mut self.scratch);
        core.stats.bytes += (size_of::<RenderStateDesc>() + self.scratch.len()) as u64;
        let desc = RenderStateDesc {
            cso: cso.raw(),
            base_cso: base.raw(),
            chunk_mask: mask,
            pad: 0,
            blob: blob(self.scratch.len()),
        };
        pipe.create_render_state(&desc, &self.scratch);
    }

    fn push_dynamic(&mut self, core: &mut Core, state: &RenderStateTracker, pipe: &mut dyn Context) {
        core.fire(Group::DynamicState);
        let mask = if self.dynamic_version.is_some() {
            take_dynamic_chunks(state, &mut self.dynamic_versions, &mut self.sent)
        } else {
            *self.sent = *state.state();
            self.dynamic_versions = *state.dynamic_versions();
            ALL_DYNAMIC_CHUNKS
        };
        if !core.note(Group::DynamicState, mask != 0, 0) {
            return;
        }
        // One chunk is handed over where it lies; several are packed.
        let bytes = if mask.is_power_of_two() {
            &bytes_of(state.state())[chunks(Half::Dynamic)[mask.trailing_zeros() as usize].range()]
        } else {
            state.state().gather(Half::Dynamic, mask, &mut self.scratch);
            &self.scratch
        };
        core.stats.bytes += (size_of::<DynamicState>() + bytes.len()) as u64;
        let header = DynamicState { chunk_mask: mask, version: state.version() as u32, blob: blob(bytes.len()) };
        pipe.set_dynamic_state(&header, bytes);
    }
}
