//! The model of what an application wrote to one texture level and what was not uploaded yet.

use mgpipe_types::Box3;
use smallvec::SmallVec;

/// Boxes that are kept before the model widens.
pub const MAX_DIRTY_RECTS: usize = 96;

/// Dirty boxes of one level of a storage owner, in texels of the level.
///
/// Boxes merge while their union is itself a box: one that lies within another, and neighbours or overlapping ones of
/// equal cross-section; each merge may make another possible, so merging cascades. Up to [`MAX_DIRTY_RECTS`] boxes the
/// model is exact: the boxes cover each texel that was marked and no other. Beyond that the cheapest pair is widened into
/// its bounding box, so that no marked texel is ever lost and [`DirtyRects::is_exact`] turns false.
///
/// Coordinates are within `i32`; a box that reaches beyond is clipped there, where no level has texels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirtyRects {
    boxes: SmallVec<[Box3; 4]>,
    widened: bool,
}

/// What an upload should send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UploadShape<'a> {
    /// Nothing is dirty.
    Nothing,
    /// One box that covers every dirty texel: the boxes fill three quarters of it or more.
    Union(Box3),
    /// The boxes.
    Boxes(&'a [Box3]),
}

fn end(at: i32, len: u32) -> i32 {
    i64::from(at).saturating_add(i64::from(len)).min(i64::from(i32::MAX)) as i32
}

fn volume(b: &Box3) -> u128 {
    u128::from(b.width) * u128::from(b.height) * u128::from(b.depth)
}

fn is_empty(b: &Box3) -> bool {
    b.width == 0 || b.height == 0 || b.depth == 0
}

/// A box from its corners; spans are not negative.
fn from_corners(min: [i32; 3], max: [i32; 3]) -> Box3 {
    let len = |i: usize| (i64::from(max[i]) - i64::from(min[i])).max(0) as u32;
    Box3 { x: min[0], y: min[1], z: min[2], width: len(0), height: len(1), depth: len(2) }
}

fn corners(b: &Box3) -> ([i32; 3], [i32; 3]) {
    ([b.x, b.y, b.z], [end(b.x, b.width), end(b.y, b.height), end(b.z, b.depth)])
}

/// The smallest box that covers both.
fn bounding(a: &Box3, b: &Box3) -> Box3 {
    let ((a0, a1), (b0, b1)) = (corners(a), corners(b));
    from_corners(std::array::from_fn(|i| a0[i].min(b0[i])), std::array::from_fn(|i| a1[i].max(b1[i])))
}

/// What both boxes cover; empty when they do not meet.
fn overlap(a: &Box3, b: &Box3) -> Box3 {
    let ((a0, a1), (b0, b1)) = (corners(a), corners(b));
    from_corners(std::array::from_fn(|i| a0[i].max(b0[i])), std::array::from_fn(|i| a1[i].min(b1[i])))
}

/// Texels that the bounding box of two boxes has and neither box has.
fn waste(a: &Box3, b: &Box3) -> u128 {
    let covered = volume(a) + volume(b) - volume(&overlap(a, b));
    volume(&bounding(a, b)) - covered
}

impl DirtyRects {
    /// A clean level.
    pub fn new() -> DirtyRects {
        DirtyRects::default()
    }

    /// Marks a box. An empty box marks nothing.
    pub fn mark(&mut self, area: Box3) {
        let (min, max) = corners(&area);
        let mut area = from_corners(min, max);
        if is_empty(&area) {
            return;
        }
        loop {
            if let Some(i) = self.boxes.iter().position(|b| waste(b, &area) == 0) {
                let other = self.boxes.swap_remove(i);
                area = bounding(&other, &area);
            } else if self.boxes.len() >= MAX_DIRTY_RECTS {
                let cheapest = (0..self.boxes.len()).min_by_key(|i| waste(&self.boxes[*i], &area)).unwrap_or(0);
                let other = self.boxes.swap_remove(cheapest);
                area = bounding(&other, &area);
                self.widened = true;
            } else {
                self.boxes.push(area);
                return;
            }
        }
    }

    /// The boxes. Some may overlap.
    pub fn boxes(&self) -> &[Box3] {
        &self.boxes
    }

    /// Whether nothing is dirty.
    pub fn is_clean(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Whether the boxes cover nothing but what was marked. Once false, an upload needs the texels of the whole level.
    pub fn is_exact(&self) -> bool {
        !self.widened
    }

    /// Whether a further box may have to be widened: who cannot supply other texels than the marked ones uploads first.
    pub fn is_full(&self) -> bool {
        self.boxes.len() >= MAX_DIRTY_RECTS
    }

    /// The smallest box that covers every dirty texel; `None` when there is none.
    pub fn union_box(&self) -> Option<Box3> {
        let mut boxes = self.boxes.iter();
        let first = *boxes.next()?;
        Some(boxes.fold(first, |all, b| bounding(&all, b)))
    }

    /// How to upload what is dirty: as one box once the boxes' summed texels times 4 reach the union's times 3, since
    /// drivers price uploads by their number; else as they are.
    pub fn upload_shape(&self) -> UploadShape<'_> {
        let Some(union) = self.union_box() else {
            return UploadShape::Nothing;
        };
        let summed: u128 = self.boxes.iter().map(volume).sum();
        if summed.saturating_mul(4) >= volume(&union).saturating_mul(3) {
            UploadShape::Union(union)
        } else {
            UploadShape::Boxes(&self.boxes)
        }
    }

    /// Takes the boxes out: they are uploaded.
    pub fn take(&mut self) -> DirtyRects {
        std::mem::take(self)
    }

    /// Makes the level clean: its storage is gone or replaced.
    pub fn clear(&mut self) {
        self.boxes.clear();
        self.widened = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::upload_box;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn texels(boxes: &[Box3]) -> HashSet<(i32, i32, i32)> {
        let mut out = HashSet::new();
        for b in boxes {
            let (min, max) = corners(b);
            for z in min[2]..max[2] {
                for y in min[1]..max[1] {
                    out.extend((min[0]..max[0]).map(|x| (x, y, z)));
                }
            }
        }
        out
    }

    proptest! {
        /// While the model is exact it covers what was marked and nothing else.
        #[test]
        fn boxes_cover_exactly_what_was_marked(marks in proptest::collection::vec(upload_box(12, 9, 3), 0..40)) {
            let mut dirty = DirtyRects::new();
            for mark in &marks {
                dirty.mark(*mark);
            }
            prop_assert!(dirty.is_exact());
            let expected = texels(&marks);
            prop_assert_eq!(&texels(dirty.boxes()), &expected);
            match dirty.upload_shape() {
                UploadShape::Nothing => prop_assert!(expected.is_empty()),
                UploadShape::Boxes(boxes) => prop_assert_eq!(&texels(boxes), &expected),
                UploadShape::Union(union) => prop_assert!(texels(&[union]).is_superset(&expected)),
            }
        }

        /// Beyond the limit the model widens: it loses no texel and keeps to the limit.
        #[test]
        fn no_texel_is_lost_beyond_the_limit(
            marks in proptest::collection::vec(upload_box(64, 64, 1).prop_map(|b| Box3 { width: 1, height: 1, ..b }), 150..260)
        ) {
            let mut dirty = DirtyRects::new();
            for mark in &marks {
                dirty.mark(*mark);
                prop_assert!(dirty.boxes().len() <= MAX_DIRTY_RECTS);
            }
            let covered = texels(dirty.boxes());
            prop_assert!(covered.is_superset(&texels(&marks)));
            prop_assert!(!dirty.is_exact() || covered == texels(&marks));
        }
    }

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Box3 {
        Box3 { x, y, z: 0, width, height, depth: 1 }
    }

    #[test]
    fn merging_cascades() {
        let mut dirty = DirtyRects::new();
        for corner in [rect(0, 0, 4, 4), rect(4, 4, 4, 4), rect(0, 4, 4, 4)] {
            dirty.mark(corner);
        }
        assert_eq!(dirty.boxes().len(), 2);
        dirty.mark(rect(4, 0, 4, 4));
        assert_eq!(dirty.boxes(), [rect(0, 0, 8, 8)]);
    }

    #[test]
    fn the_union_is_sent_from_three_quarters_on() {
        // 3 of 4 cells: summed * 4 == union * 3 exactly.
        let mut dirty = DirtyRects::new();
        dirty.mark(rect(0, 0, 8, 4));
        dirty.mark(rect(0, 4, 4, 4));
        assert_eq!(dirty.upload_shape(), UploadShape::Union(rect(0, 0, 8, 8)));
        let mut dirty = DirtyRects::new();
        dirty.mark(rect(0, 0, 4, 4));
        dirty.mark(rect(4, 4, 4, 3));
        assert!(matches!(dirty.upload_shape(), UploadShape::Boxes(boxes) if boxes.len() == 2));
        assert_eq!(dirty.take().boxes().len(), 2);
        assert_eq!(dirty.upload_shape(), UploadShape::Nothing);
    }

    #[test]
    fn extreme_boxes_neither_overflow_nor_vanish() {
        let mut dirty = DirtyRects::new();
        dirty.mark(Box3 { x: i32::MAX - 1, y: i32::MIN, z: 0, width: u32::MAX, height: u32::MAX, depth: u32::MAX });
        dirty.mark(Box3 { x: i32::MIN, y: i32::MIN, z: i32::MIN, width: u32::MAX, height: u32::MAX, depth: u32::MAX });
        assert!(dirty.union_box().is_some());
        dirty.mark(rect(5, 5, 0, 7));
        dirty.clear();
        assert!(dirty.is_clean());
    }
}
