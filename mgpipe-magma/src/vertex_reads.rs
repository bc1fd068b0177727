//! Which bytes of vertex buffers the draws of a batch fetch.
//!
//! Programs write the next part of a vertex buffer while draws use the parts before it. A write beside all that the draws
//! of the batch fetch may go in front of them, and the pass goes on.

use crate::context::MagmaContext;
use crate::vertex::Source;
use mgpipe_types::DrawRange;

/// Bytes that an attribute reaches at most: four doubles.
const ATTRIBUTE_BYTES: u64 = 32;

/// Vertices from the first one up to but not with the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Vertices {
    first: u64,
    end: u64,
}

impl Vertices {
    /// No vertex.
    pub(crate) const NONE: Vertices = Vertices { first: u64::MAX, end: 0 };
    /// Any vertex.
    pub(crate) const ALL: Vertices = Vertices { first: 0, end: u64::MAX };

    /// Adds the vertices of a draw. Indices may lead to any.
    #[inline]
    pub(crate) fn add(&mut self, range: &DrawRange, indexed: bool) {
        if indexed {
            *self = Vertices::ALL;
        } else {
            self.first = self.first.min(u64::from(range.start));
            self.end = self.end.max(u64::from(range.start) + u64::from(range.count));
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.first >= self.end
    }

    /// Bytes from the start up to but not with the end, of a binding that starts at `offset` and whose attributes end
    /// `reach` bytes after the start of a vertex.
    fn bytes(&self, offset: u64, stride: u64, reach: u64) -> (u64, u64) {
        let start = self.first.saturating_mul(stride).saturating_add(offset);
        let last = self.end.saturating_sub(1).saturating_mul(stride);
        (start, last.saturating_add(offset).saturating_add(reach))
    }
}

impl MagmaContext {
    /// Notes in the vertex buffers what the draws since the last call fetched from them. Comes before the layout or what is
    /// bound changes.
    #[inline]
    pub(crate) fn note_vertex_reads(&mut self) {
        if !self.rec.vertices.is_empty() {
            self.note_some_vertex_reads();
        }
    }

    fn note_some_vertex_reads(&mut self) {
        let vertices = std::mem::replace(&mut self.rec.vertices, Vertices::NONE);
        let batch = self.rec.batch.serial;
        for (index, binding) in self.layout.bindings.iter().enumerate() {
            let Source::Point(point) = binding.source else { continue };
            let Some(slot) = self.vertex_buffers.get(point as usize) else { continue };
            let Some(storage) = &slot.storage else { continue };
            let attributes = self.layout.attributes.iter().filter(|a| a.binding as usize == index);
            let reach = attributes.map(|a| u64::from(a.offset)).max().unwrap_or(0) + ATTRIBUTE_BYTES;
            // Which elements instances fetch is not followed.
            let fetched = if binding.divisor == 0 { vertices } else { Vertices::ALL };
            let (start, end) = fetched.bytes(slot.bound.offset, u64::from(binding.stride), reach);
            storage.usage.note_part(batch, start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_fetch_from_their_first_vertex_to_the_last_attribute_of_their_last_one() {
        let mut vertices = Vertices::NONE;
        assert!(vertices.is_empty());
        for (start, count) in [(10, 3), (20, 1)] {
            vertices.add(&DrawRange { start, count, ..DrawRange::default() }, false);
        }
        assert_eq!(vertices.bytes(100, 16, 40), (260, 100 + 20 * 16 + 40));
        assert_eq!(vertices.bytes(100, 0, 40), (100, 140));
        vertices.add(&DrawRange { start: 0, count: 6, ..DrawRange::default() }, true);
        assert_eq!(vertices.bytes(100, 16, 40), (100, u64::MAX));
    }
}
