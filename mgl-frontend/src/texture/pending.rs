//! Texels that wait to be sent: tight boxes in storage format, in the order of the calls that made them.

use mgpipe_types::{BlobRef, Box3, Context as Pipe, Format, SubData, SubRegion, Target, TextureHandle, TypedHandle};

/// Boxes of one record at most; some devices price an upload by its number of copies.
const MAX_BOXES: usize = 96;
/// Bytes that may wait in one image before they are worth a record of their own.
pub(crate) const WAIT_LIMIT: usize = 32 << 20;
/// The same for an image that has storage: few enough to stay in the processor's cache until they are sent.
pub(crate) const SETTLED_WAIT_LIMIT: usize = 1 << 20;

/// A box of tight texels, which lie in its batch's bytes.
#[derive(Debug)]
struct Patch {
    area: Box3,
    start: usize,
    len: usize,
}

/// Boxes that do not overlap, with all their texels one after the other.
#[derive(Debug, Default)]
struct Batch {
    patches: Vec<Patch>,
    bytes: Vec<u8>,
}

/// Uploads of one image.
///
/// Boxes of one batch do not overlap, since a device may copy them in any order; a box that overlaps an earlier one
/// replaces it when it covers it and starts a new batch otherwise. Only texels that the application gave are ever sent:
/// a union box would overwrite what the device wrote between the boxes.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    batches: Vec<Batch>,
}

fn covers(outer: &Box3, inner: &Box3) -> bool {
    let along = |o: i32, os: u32, i: i32, is: u32| {
        i64::from(o) <= i64::from(i) && i64::from(i) + i64::from(is) <= i64::from(o) + i64::from(os)
    };
    along(outer.x, outer.width, inner.x, inner.width)
        && along(outer.y, outer.height, inner.y, inner.height)
        && along(outer.z, outer.depth, inner.z, inner.depth)
}

fn overlaps(a: &Box3, b: &Box3) -> bool {
    let along = |p: i32, ps: u32, q: i32, qs: u32| {
        i64::from(p) < i64::from(q) + i64::from(qs) && i64::from(q) < i64::from(p) + i64::from(ps)
    };
    along(a.x, a.width, b.x, b.width) && along(a.y, a.height, b.y, b.height) && along(a.z, a.depth, b.z, b.depth)
}

fn union(a: &Box3, b: &Box3) -> Box3 {
    let along = |p: i32, ps: u32, q: i32, qs: u32| {
        let start = p.min(q);
        let end = (i64::from(p) + i64::from(ps)).max(i64::from(q) + i64::from(qs));
        (start, (end - i64::from(start)) as u32)
    };
    let (x, width) = along(a.x, a.width, b.x, b.width);
    let (y, height) = along(a.y, a.height, b.y, b.height);
    let (z, depth) = along(a.z, a.depth, b.z, b.depth);
    Box3 { x, y, z, width, height, depth }
}

impl Pending {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Bytes of memory that what waits takes.
    pub(crate) fn bytes(&self) -> usize {
        self.batches.iter().map(|batch| batch.bytes.len()).sum()
    }

    /// Adds a box of tight texels (or blocks).
    pub(crate) fn add(&mut self, area: Box3, bytes: Vec<u8>) {
        for batch in &mut self.batches {
            batch.patches.retain(|patch| !covers(&area, &patch.area));
            // Texels at the end go with their box. A hole between boxes stays, and counts as what it takes.
            batch.bytes.truncate(batch.patches.last().map_or(0, |last| last.start + last.len));
        }
        self.batches.retain(|batch| !batch.patches.is_empty());
        let len = bytes.len();
        if let Some(batch) = self.batches.last_mut() {
            // Applications that upload row by row make one box of many.
            let end = batch.bytes.len();
            if let Some(last) = batch.patches.last_mut().filter(|last| last.start + last.len == end) {
                let below = Box3 { y: last.area.y + last.area.height as i32, height: area.height, ..last.area };
                if below == area && last.area.depth == 1 {
                    last.area.height += area.height;
                    last.len += len;
                    batch.bytes.extend_from_slice(&bytes);
                    // The grown box may reach into another one of its batch.
                    let (grown, start) = (last.area, last.start);
                    let others = batch.patches.len() - 1;
                    if batch.patches[..others].iter().any(|patch| overlaps(&patch.area, &grown)) {
                        batch.patches.truncate(others);
                        let bytes = batch.bytes.split_off(start);
                        self.start_batch(grown, bytes);
                    }
                    return;
                }
            }
            if batch.patches.len() < MAX_BOXES && !batch.patches.iter().any(|patch| overlaps(&patch.area, &area)) {
                batch.patches.push(Patch { area, start: end, len });
                batch.bytes.extend_from_slice(&bytes);
                return;
            }
        }
        self.start_batch(area, bytes);
    }

    fn start_batch(&mut self, area: Box3, bytes: Vec<u8>) {
        let patches = vec![Patch { area, start: 0, len: bytes.len() }];
        self.batches.push(Batch { patches, bytes });
    }

    /// Sends everything in order and forgets it.
    pub(crate) fn send(
        &mut self,
        handle: TextureHandle,
        target: Target,
        level: u32,
        face: i32,
        format: Format,
        pipe: &mut dyn Pipe,
    ) {
        let desc = format.desc();
        for batch in self.batches.drain(..) {
            let mut regions = Vec::with_capacity(batch.patches.len());
            let mut all: Option<Box3> = None;
            for patch in &batch.patches {
                let area = Box3 { z: patch.area.z + face, ..patch.area };
                all = Some(all.map_or(area, |a| union(&a, &area)));
                let row = desc.row_bytes(area.width);
                let rows = u64::from(area.height.div_ceil(desc.block_height.max(1)));
                regions.push(SubRegion {
                    src_offset: patch.start as u64,
                    src_row_stride: u32::try_from(row).unwrap_or(0),
                    src_slice_stride: u32::try_from(row * rows).unwrap_or(0),
                    ..SubRegion::tight(&area)
                });
            }
            let bytes = &batch.bytes[..];
            let data = SubData {
                res: handle.raw(),
                target: target as u16,
                level: level as u16,
                union_box: all.unwrap_or_default(),
                region_count: regions.len() as u32,
                blob: BlobRef { offset: 0, size: bytes.len() as u64, segment: 0, pad: 0 },
                ..SubData::default()
            };
            pipe.resource_subdata(&data, &regions, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(x: i32, y: i32, width: u32, height: u32) -> Box3 {
        Box3 { x, y, z: 0, width, height, depth: 1 }
    }

    #[test]
    fn boxes_that_replace_each_other_take_bounded_memory_or_count() {
        let mut pending = Pending::default();
        pending.add(area(0, 0, 4, 4), vec![0; 16]);
        pending.add(area(8, 0, 4, 4), vec![0; 16]);
        for round in 0..100 {
            pending.add(area(0, 0, 4, 4), vec![round; 16]);
        }
        assert_eq!(pending.bytes(), 48, "a hole, the box that stays, and the latest one");
        // In turn each leaves a hole in front of the other: the bytes that are held say when it is too much.
        for round in 0..100 {
            pending.add(area(i32::from(round % 2) * 8, 0, 4, 4), vec![round; 16]);
        }
        let held: usize = pending.batches.iter().map(|batch| batch.bytes.len()).sum();
        assert_eq!(pending.bytes(), held);
        assert!(held > 1000, "{held}");
    }

    #[test]
    fn a_covering_box_replaces_what_it_covers() {
        let mut pending = Pending::default();
        pending.add(area(1, 1, 2, 2), vec![1; 4]);
        pending.add(area(0, 0, 4, 4), vec![2; 16]);
        assert_eq!((pending.batches.len(), pending.bytes()), (1, 16));
    }

    #[test]
    fn overlapping_boxes_keep_their_order() {
        let mut pending = Pending::default();
        pending.add(area(0, 0, 4, 4), vec![1; 16]);
        pending.add(area(2, 2, 4, 4), vec![2; 16]);
        pending.add(area(8, 8, 1, 1), vec![3; 1]);
        assert_eq!(pending.batches.iter().map(|b| b.patches.len()).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn rows_grow_into_one_box_unless_it_would_reach_another() {
        let mut pending = Pending::default();
        for y in 0..5 {
            pending.add(area(0, y, 3, 1), vec![y as u8; 3]);
        }
        assert_eq!(pending.batches[0].patches.len(), 1);
        assert_eq!(pending.batches[0].patches[0].area, area(0, 0, 3, 5));
        let mut pending = Pending::default();
        pending.add(area(1, 1, 1, 1), vec![9]);
        pending.add(area(0, 0, 3, 1), vec![1; 3]);
        pending.add(area(0, 1, 3, 1), vec![2; 3]);
        // The last row covers the first box, which is gone; its byte lies in front of the others.
        assert_eq!((pending.batches.len(), pending.bytes()), (1, 7));
        let mut pending = Pending::default();
        pending.add(area(1, 1, 9, 1), vec![9; 9]);
        pending.add(area(0, 0, 3, 1), vec![1; 3]);
        pending.add(area(0, 1, 3, 1), vec![2; 3]);
        assert_eq!(pending.batches.len(), 2);
        // Each batch has the texels of its own boxes.
        assert_eq!(pending.batches[0].bytes, [9; 9]);
        assert_eq!(pending.batches[1].bytes, [1, 1, 1, 2, 2, 2]);
    }
}
