//! Vertex elements as a cached object, and the buffers of the vertex binding points.

use super::Core;
use crate::cso_cache::CsoCache;
use crate::source::{Source, VertexElements};
use crate::suppressor::SetSuppressor;
use crate::verb::Group;
use bytemuck::cast_slice;
use mgpipe_types::{
    Context, HandleOnly, SetHeader, TypedHandle, VertexAttribute, VertexBinding, VertexBuffer, VertexElementsCso,
    VertexElementsDesc, MAX_VERTEX_ATTRIBS,
};

/// Sends vertex elements and vertex buffers.
#[derive(Debug)]
pub(crate) struct VertexPush {
    cache: CsoCache<Box<[u8]>, VertexElementsCso>,
    bound: VertexElementsCso,
    elements: VertexElements,
    key: Vec<u8>,
    buffers: Vec<VertexBuffer>,
    buffers_sent: SetSuppressor,
}

impl VertexPush {
    pub(crate) fn new(capacity: usize) -> VertexPush {
        const KEY: usize = 4 + MAX_VERTEX_ATTRIBS * (size_of::<VertexAttribute>() + size_of::<VertexBinding>());
        VertexPush {
            cache: CsoCache::new(capacity),
            bound: VertexElementsCso::NULL,
            elements: VertexElements {
                attributes: Vec::with_capacity(MAX_VERTEX_ATTRIBS),
                bindings: Vec::with_capacity(MAX_VERTEX_ATTRIBS),
            },
            key: Vec::with_capacity(KEY),
            buffers: Vec::with_capacity(MAX_VERTEX_ATTRIBS),
            buffers_sent: SetSuppressor::with_capacity(MAX_VERTEX_ATTRIBS * size_of::<VertexBuffer>()),
        }
    }

    pub(crate) fn forget(&mut self) {
        self.cache.undeclare();
        self.bound = VertexElementsCso::NULL;
        self.buffers_sent.forget();
    }

    /// Gives the handles back without a word to the server.
    pub(crate) fn release(&mut self, core: &Core) {
        self.cache.clear(&core.handles, |_, _, _| {});
    }

    pub(crate) fn shutdown(&mut self, core: &Core, pipe: &mut dyn Context) {
        self.cache.clear(&core.handles, |_, cso, _| pipe.delete_vertex_elements(&HandleOnly::new(cso)));
        self.forget();
    }

    pub(crate) fn elements<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        core.fire(Group::VertexElements);
        let VertexElements { attributes, bindings } = &mut self.elements;
        attributes.clear();
        bindings.clear();
        source.resolve_vertex_elements(&mut self.elements);
        let VertexElements { attributes, bindings } = &self.elements;

        self.key.clear();
        self.key.extend_from_slice(&(attributes.len() as u32).to_ne_bytes());
        self.key.extend_from_slice(cast_slice(attributes));
        self.key.extend_from_slice(cast_slice(bindings));
        let (key, bound) = (&self.key, &mut self.bound);
        let found = self.cache.intern(
            core.hash(key),
            core.options.switches.content_addressing,
            |k| **k == **key,
            || key.as_slice().into(),
            &core.handles,
            &mut core.stats.vertex_elements,
            |_, cso, _| {
                if *bound == cso {
                    *bound = VertexElementsCso::NULL;
                }
                pipe.delete_vertex_elements(&HandleOnly::new(cso));
            },
        );
        let Some(found) = found else { return };
        if found.create {
            let desc = VertexElementsDesc {
                cso: found.handle.raw(),
                attribute_count: attributes.len() as u32,
                binding_count: bindings.len() as u32,
            };
            core.stats.bytes += (size_of::<VertexElementsDesc>() + key.len() - 4) as u64;
            pipe.create_vertex_elements(&desc, attributes, bindings);
        }
        if core.note(Group::VertexElements, found.handle != self.bound, size_of::<HandleOnly>()) {
            core.stats.vertex_elements.binds += 1;
            pipe.bind_vertex_elements(&HandleOnly::new(found.handle));
            self.bound = found.handle;
        }
    }

    pub(crate) fn buffers<S: Source + ?Sized>(&mut self, core: &mut Core, source: &mut S, pipe: &mut dyn Context) {
        core.fire(Group::VertexBuffers);
        self.buffers.clear();
        source.resolve_vertex_buffers(&mut self.buffers);
        let bytes: &[u8] = cast_slice(&self.buffers);
        let hash = core.hash(bytes);
        let sent = self.buffers_sent.admit(hash, 0, bytes);
        if core.note(Group::VertexBuffers, sent, size_of::<SetHeader>() + bytes.len()) {
            let header = SetHeader { start: 0, count: self.buffers.len() as u32, content_hash: hash };
            pipe.set_vertex_buffers(&header, &self.buffers);
        }
    }
}
