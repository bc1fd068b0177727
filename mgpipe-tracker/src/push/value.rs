//! Groups that are one payload, compared whole: framebuffer, index and indirect buffers, patch, pixel pack.

use super::Core;
use crate::source::Source;
use crate::suppressor::{SetSuppressor, ValueSuppressor};
use crate::verb::Group;
use bytemuck::{bytes_of, cast_slice, Pod};
use mgpipe_types::{
    AttribValue, Context, FramebufferState, IndexBuffer, IndirectBuffers, PatchState, PixelPackState,
    VertexAttribDefaults, MAX_VERTEX_ATTRIBS,
};
use std::mem::offset_of;

/// Sends the groups that are one payload, and the attribute defaults.
#[derive(Debug)]
pub(crate) struct ValuePush {
    framebuffer: ValueSuppressor<FramebufferState>,
    index_buffer: ValueSuppressor<IndexBuffer>,
    indirect: ValueSuppressor<IndirectBuffers>,
    patch: ValueSuppressor<PatchState>,
    pixel_pack: ValueSuppressor<PixelPackState>,
    attrib_defaults: SetSuppressor,
    values: Vec<AttribValue>,
}

fn admit<T: Pod>(core: &mut Core, group: Group, suppressor: &mut ValueSuppressor<T>, value: &T) -> bool {
    core.fire(group);
    let sent = suppressor.admit(value);
    core.note(group, sent, size_of::<T>())
}

impl ValuePush {
    pub(crate) fn new() -> ValuePush {
        ValuePush {
            framebuffer: ValueSuppressor::new(),
            index_buffer: ValueSuppressor::new(),
            indirect: ValueSuppressor::new(),
            patch: ValueSuppressor::new(),
            pixel_pack: ValueSuppressor::new(),
            attrib_defaults: SetSuppressor::with_capacity(MAX_VERTEX_ATTRIBS * size_of::<AttribValue>()),
            values: Vec::with_capacity(MAX_VERTEX_ATTRIBS),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.framebuffer.forget();
        self.index_buffer.forget();
        self.indirect.forget();
        self.patch.forget();
        self.pixel_pack.forget();
        self.attrib_defaults.forget();
    }

    pub(crate) fn framebuffer<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        const HASHED: usize = offset_of!(FramebufferState, content_hash);
        const { assert!(HASHED + 8 == size_of::<FramebufferState>(), "the hash covers everything above it") };
        let mut state = source.resolve_framebuffer();
        state.content_hash = core.hash(&bytes_of(&state)[..HASHED]);
        if admit(core, Group::Framebuffer, &mut self.framebuffer, &state) {
            pipe.set_framebuffer_state(&state);
        }
    }

    pub(crate) fn index_buffer<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        let buffer = source.resolve_index_buffer();
        if admit(core, Group::IndexBuffer, &mut self.index_buffer, &buffer) {
            pipe.set_index_buffer(&buffer);
        }
    }

    pub(crate) fn indirect<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        let buffers = source.resolve_indirect_buffers();
        if admit(core, Group::IndirectBuffers, &mut self.indirect, &buffers) {
            pipe.set_indirect_buffers(&buffers);
        }
    }

    pub(crate) fn patch<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        let patch = source.resolve_patch();
        if admit(core, Group::Patch, &mut self.patch, &patch) {
            pipe.set_patch_state(&patch);
        }
    }

    pub(crate) fn pixel_pack<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        let pack = source.resolve_pixel_pack();
        if admit(core, Group::PixelPack, &mut self.pixel_pack, &pack) {
            pipe.set_pixel_pack_state(&pack);
        }
    }

    pub(crate) fn attrib_defaults<S: Source + ?Sized>(
        &mut self,
        core: &mut Core,
        source: &mut S,
        pipe: &mut dyn Context,
    ) {
        core.fire(Group::AttribDefaults);
        self.values.clear();
        source.resolve_attrib_defaults(&mut self.values);
        // The tail has one value a mask bit, in ascending order: whatever does not fit that is left out.
        let mut mask = 0u32;
        self.values.retain(|v| {
            let fits = (v.index as usize) < MAX_VERTEX_ATTRIBS && mask >> v.index == 0;
            mask |= if fits { 1 << v.index } else { 0 };
            fits
        });
        let bytes: &[u8] = cast_slice(&self.values);
        let sent = self.attrib_defaults.admit(core.hash(bytes), u64::from(mask), bytes);
        if core.note(Group::AttribDefaults, sent, size_of::<VertexAttribDefaults>() + bytes.len()) {
            pipe.set_vertex_attrib_defaults(&VertexAttribDefaults { mask, pad: 0 }, &self.values);
        }
    }
}
