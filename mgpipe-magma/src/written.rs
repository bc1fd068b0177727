//! Which parts of an object the uploads since the last barrier wrote: uploads beside each other need no order.
//!
//! Programs fill large textures tile by tile and large buffers part by part. A barrier between two tiles would keep a device
//! from copying them at the same time, and on a device that is the processor it costs more than the copy.

use crate::command::Object;
use crate::transfer::ImageArea;
use smallvec::SmallVec;
use std::sync::Arc;

/// Parts that are told apart; tiles in the order of rows or columns become few of them.
const MOST_PARTS: usize = 64;

/// Texels of an image from `min` up to but not with `max`, of which the third number is a slice or a layer; or bytes of a
/// buffer, of which only the first number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    level: u32,
    min: [u64; 3],
    max: [u64; 3],
}

impl Part {
    /// An area of a level.
    pub(crate) fn of_image(level: u32, area: &ImageArea) -> Part {
        let start = |at: i32| u64::try_from(at).unwrap_or(0);
        let z = start(area.offset.z).max(u64::from(area.base_layer));
        let min = [start(area.offset.x), start(area.offset.y), z];
        let size = [area.extent.width, area.extent.height, area.depth()];
        Part { level, min, max: std::array::from_fn(|i| min[i].saturating_add(u64::from(size[i]))) }
    }

    /// Bytes of a buffer.
    pub(crate) fn of_buffer(start: u64, len: u64) -> Part {
        Part { level: 0, min: [start, 0, 0], max: [start.saturating_add(len), 1, 1] }
    }

    /// First byte of a buffer and the one after the last.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.min[0], self.max[0])
    }

    fn meets(&self, other: &Part) -> bool {
        self.level == other.level && (0..3).all(|i| self.min[i] < other.max[i] && other.min[i] < self.max[i])
    }

    /// The part that two make that lie side by side.
    fn joined(&self, other: &Part) -> Option<Part> {
        if self.level != other.level {
            return None;
        }
        let differs = |i: &usize| self.min[*i] != other.min[*i] || self.max[*i] != other.max[*i];
        let mut axes = (0..3).filter(differs);
        let axis = axes.next()?;
        let side_by_side = self.max[axis] == other.min[axis] || other.max[axis] == self.min[axis];
        (axes.next().is_none() && side_by_side).then(|| Part {
            level: self.level,
            min: std::array::from_fn(|i| self.min[i].min(other.min[i])),
            max: std::array::from_fn(|i| self.max[i].max(other.max[i])),
        })
    }
}

/// What the uploads of one barrier span wrote in one object.
#[derive(Default, Debug)]
pub(crate) struct Written {
    span: u64,
    /// Address of the object, which the batch of the span keeps.
    object: usize,
    parts: SmallVec<[Part; 4]>,
}

impl Written {
    /// Whether everything that was written in the object in this span came from uploads, and none meets the new ones.
    pub(crate) fn is_beside(&self, object: Object<'_>, span: u64, new: &[Part]) -> bool {
        self.span == span
            && self.object == address(object)
            && self.parts.len() + new.len() <= MOST_PARTS
            && new.iter().all(|new| self.parts.iter().all(|old| !old.meets(new)))
    }

    /// Notes an upload, which is the object's first write of the span or lies beside all others of it.
    pub(crate) fn add(&mut self, object: Object<'_>, span: u64, new: &[Part]) {
        if self.span != span || self.object != address(object) {
            *self = Written { span, object: address(object), parts: SmallVec::new() };
        }
        for part in new {
            self.push(*part);
        }
    }

    fn push(&mut self, mut new: Part) {
        // Tiles grow into rows, and rows into the whole.
        while let Some(joined) = self.parts.last().and_then(|last| last.joined(&new)) {
            self.parts.pop();
            new = joined;
        }
        self.parts.push(new);
    }
}

fn address(object: Object<'_>) -> usize {
    match object {
        Object::Buffer(buffer) => Arc::as_ptr(buffer) as usize,
        Object::Image(image) => Arc::as_ptr(image) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk;

    fn tile(x: i32, y: i32, layer: u32) -> Part {
        let area = ImageArea {
            offset: vk::Offset3D { x, y, z: 0 },
            extent: vk::Extent3D { width: 8, height: 8, depth: 1 },
            base_layer: layer,
            layers: 1,
        };
        Part::of_image(0, &area)
    }

    #[test]
    fn tiles_become_rows_and_rows_one_part() {
        let mut written = Written::default();
        for y in 0..4 {
            for x in 0..4 {
                written.push(tile(x * 8, y * 8, 2));
                assert!(written.parts.len() <= 2);
            }
        }
        assert_eq!(written.parts[..], [Part { level: 0, min: [0, 0, 2], max: [32, 32, 3] }]);
    }

    #[test]
    fn parts_meet_on_one_level_and_layer_only() {
        let a = tile(0, 0, 1);
        assert!(a.meets(&tile(7, 7, 1)));
        assert!(!a.meets(&tile(8, 0, 1)));
        assert!(!a.meets(&tile(0, 0, 2)));
        assert!(!a.meets(&Part { level: 1, ..a }));
        assert_eq!(a.joined(&tile(8, 8, 1)), None);
        assert_eq!(a.joined(&tile(16, 0, 1)), None);
        assert!(a.joined(&tile(0, 0, 2)).is_some());
        let bytes = Part::of_buffer(64, 64);
        assert!(bytes.meets(&Part::of_buffer(127, 1)) && !bytes.meets(&Part::of_buffer(128, 1)));
        assert_eq!(bytes.joined(&Part::of_buffer(0, 64)).map(|part| part.bytes()), Some((0, 128)));
    }
}
