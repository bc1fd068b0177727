//! Which mappings the verbs of a context reach.
//!
//! A context keeps the handles of what is bound, so that a verb looks at the mappings of those buffers alone. The list of
//! mappings is made anew when a binding or a mapping has changed; a steady draw compares two numbers.

use super::copied::Mapped;
use super::Maps;
use mgpipe_types::{BufferRange, Handle, ShaderBuffers, VertexBuffer, WHOLE_BUFFER};
use std::ops::Range;
use std::sync::Arc;

/// Binding points of one class that are remembered at most.
const MOST_BINDINGS: usize = 256;

/// Classes of shader buffers.
const CLASSES: usize = 3;

/// A buffer at a binding point, and what of it verbs may write.
#[derive(Clone, Default)]
struct Binding {
    buffer: Handle,
    writes: Option<Range<usize>>,
}

/// What is bound in one context, as far as it may be mapped.
#[derive(Default)]
pub(crate) struct Bound {
    vertex: Vec<Handle>,
    index: Handle,
    indirect: [Handle; 2],
    shader: [Vec<Binding>; CLASSES],
    captures: Vec<Binding>,
    capturing: bool,
    /// Generation of the mappings in `reached`; 0 when they have to be found.
    generation: u64,
    reached: Vec<Arc<Mapped>>,
    /// What every draw and dispatch may write, and what captures write.
    written: Vec<(Arc<Mapped>, Range<usize>)>,
    captured: Vec<(Arc<Mapped>, Range<usize>)>,
}

fn bytes_of(range: &BufferRange) -> Range<usize> {
    let start = usize::try_from(range.offset).unwrap_or(usize::MAX);
    let len = if range.size == WHOLE_BUFFER { usize::MAX } else { usize::try_from(range.size).unwrap_or(usize::MAX) };
    start..start.saturating_add(len)
}

/// Stores `values` from `start` on, in a list that grows as needed up to a limit.
fn store<T: Clone + Default>(list: &mut Vec<T>, start: u32, values: impl ExactSizeIterator<Item = T>) {
    let start = start as usize;
    let end = start.saturating_add(values.len()).min(MOST_BINDINGS);
    if list.len() < end {
        list.resize(end, T::default());
    }
    for (slot, value) in list.iter_mut().skip(start).zip(values) {
        *slot = value;
    }
}

impl Bound {
    /// Vertex buffers from a binding point on.
    pub(crate) fn vertex_buffers(&mut self, start: u32, buffers: &[VertexBuffer]) {
        store(&mut self.vertex, start, buffers.iter().map(|buffer| buffer.res));
        // What follows is unbound.
        self.vertex.truncate((start as usize).saturating_add(buffers.len()));
        self.generation = 0;
    }

    /// The element array.
    pub(crate) fn index_buffer(&mut self, buffer: Handle) {
        self.index = buffer;
        self.generation = 0;
    }

    /// Indirect and parameter buffers.
    pub(crate) fn indirect_buffers(&mut self, buffers: [Handle; 2]) {
        self.indirect = buffers;
        self.generation = 0;
    }

    /// Buffers of a class of shader bindings.
    pub(crate) fn shader_buffers(&mut self, header: &ShaderBuffers, ranges: &[BufferRange]) {
        let Some(class) = self.shader.get_mut(header.class as usize) else { return };
        let bindings = ranges.iter().enumerate().map(|(at, range)| {
            // The mask has a bit for the first 32 elements; what lies beyond is not known to be read only.
            let writable = u32::try_from(at).ok().and_then(|at| header.writable_mask.checked_shr(at));
            let writes = writable.is_none_or(|bits| bits & 1 != 0).then(|| bytes_of(range));
            Binding { buffer: range.res, writes }
        });
        store(class, header.start, bindings);
        self.generation = 0;
    }

    /// Transform-feedback targets.
    pub(crate) fn capture_targets(&mut self, targets: &[BufferRange]) {
        self.captures.clear();
        let bindings = targets.iter().take(MOST_BINDINGS);
        self.captures.extend(bindings.map(|t| Binding { buffer: t.res, writes: Some(bytes_of(t)) }));
        self.generation = 0;
    }

    /// The buffers that draws capture vertices into, while they do.
    pub(crate) fn capture_buffers(&self) -> impl Iterator<Item = Handle> + '_ {
        self.captures.iter().map(|binding| binding.buffer)
    }

    /// Whether draws capture vertices.
    pub(crate) fn capture(&mut self, on: bool) {
        self.capturing = on;
    }

    /// The mappings that verbs with the present bindings may touch.
    pub(super) fn reached(&mut self, maps: &Maps) -> &[Arc<Mapped>] {
        let generation = maps.generation();
        if self.generation != generation {
            self.find(maps);
            self.generation = generation;
        }
        &self.reached
    }

    #[cold]
    fn find(&mut self, maps: &Maps) {
        self.reached.clear();
        self.written.clear();
        self.captured.clear();
        let tables = maps.tables.lock();
        let plain = self.vertex.iter().chain([&self.index]).chain(&self.indirect);
        // What a texture shows is not followed to the units: it is reached by every verb.
        for buffer in plain.chain(tables.texels.values()) {
            reach(&mut self.reached, tables.mapped.get(buffer));
        }
        let lists = [(&self.shader[..], &mut self.written), (std::slice::from_ref(&self.captures), &mut self.captured)];
        for (bindings, written) in lists {
            for binding in bindings.iter().flatten() {
                let mapped = tables.mapped.get(&binding.buffer);
                reach(&mut self.reached, mapped);
                if let (Some(mapped), Some(range)) = (mapped, &binding.writes) {
                    mapped.share();
                    written.push((mapped.clone(), range.clone()));
                }
            }
        }
    }

    /// A draw or a dispatch was sent.
    pub(super) fn ran(&self) {
        let captured = if self.capturing { &self.captured[..] } else { &[] };
        for (mapped, range) in self.written.iter().chain(captured) {
            mapped.device_writes(range.clone());
        }
    }
}

fn reach(reached: &mut Vec<Arc<Mapped>>, mapped: Option<&Arc<Mapped>>) {
    if let Some(mapped) = mapped.filter(|mapped| !reached.iter().any(|known| Arc::ptr_eq(known, mapped))) {
        reached.push(mapped.clone());
    }
}
