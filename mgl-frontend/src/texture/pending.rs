//! Texels that wait to be sent: tight boxes in storage format, in the order of the calls that made them.

use super::near::Near;
use mgpipe_types::{BlobRef, Box3, Context as Pipe, Format, SubData, SubRegion, Target, TextureHandle, TypedHandle};

/// Boxes of one record at most.
const MAX_BOXES: usize = 1024;
/// Bytes that may wait in one image before they are worth a record of their own.
pub(crate) const WAIT_LIMIT: usize = 32 << 20;
/// The same for an image that has storage: few enough to stay in the processor's cache until they are sent.
pub(crate) const SETTLED_WAIT_LIMIT: usize = 1 << 20;
/// Bytes that a box counts as at least.
const BOX_BYTES: usize = 256;
/// Boxes from which on their memory is kept for the next ones: the image is one that small pieces are put into.
const MANY_BOXES: usize = 64;
/// Bytes of memory that are kept.
const KEPT_BYTES: usize = 2 << 20;

/// A box of tight texels, which lie in the bytes of all boxes. One without width is no more.
#[derive(Debug)]
struct Patch {
    area: Box3,
    start: usize,
    len: usize,
    batch: usize,
}

/// Uploads of one image.
///
/// Boxes of one batch do not overlap, since a device may copy them in any order; a box that overlaps an earlier one
/// replaces it when it covers it and starts a new batch otherwise. Only texels that the application gave are ever sent:
/// a union box would overwrite what the device wrote between the boxes. Boxes that touch are joined by the backend.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// In the order of their batches.
    patches: Vec<Patch>,
    /// Texels of the patches, in their order.
    bytes: Vec<u8>,
    /// The last batch, and its first patch.
    batch: usize,
    batch_start: usize,
    near: Near,
}

fn covers(outer: &Box3, inner: &Box3) -> bool {
    let along = |o: i32, os: u32, i: i32, is: u32| {
        i64::from(o) <= i64::from(i) && i64::from(i) + i64::from(is) <= i64::from(o) + i64::from(os)
    };
    along(outer.x, outer.width, inner.x, inner.width)
        && along(outer.y, outer.height, inner.y, inner.height)
        && along(outer.z, outer.depth, inner.z, inner.depth)
}

pub(super) fn overlaps(a: &Box3, b: &Box3) -> bool {
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
        self.patches.is_empty()
    }

    /// Bytes of memory that what waits takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len().max(self.patches.len() * BOX_BYTES)
    }

    /// Adds a box of tight texels (or blocks).
    pub(crate) fn add(&mut self, area: Box3, bytes: Vec<u8>) {
        let len = bytes.len();
        let meets = self.replace(&area);
        if self.bytes.is_empty() {
            self.bytes = bytes;
        } else {
            self.bytes.extend_from_slice(&bytes);
        }
        self.place(area, len, meets);
    }

    /// Adds a box whose `len` bytes of tight texels the caller writes.
    pub(crate) fn room(&mut self, area: Box3, len: usize) -> &mut [u8] {
        let meets = self.replace(&area);
        let start = self.bytes.len();
        self.bytes.resize(start + len, 0);
        self.place(area, len, meets);
        &mut self.bytes[start..]
    }

    /// Drops the boxes that a box covers. True when it overlaps another one of the last batch.
    fn replace(&mut self, area: &Box3) -> bool {
        let (mut meets, mut covered) = (false, false);
        let (patches, batch) = (&mut self.patches, self.batch);
        self.near.visit(area, patches.len(), |number| {
            let Some(patch) = patches.get_mut(number).filter(|patch| patch.area.width != 0) else { return };
            if covers(area, &patch.area) {
                patch.area.width = 0;
                covered = true;
            } else {
                meets |= patch.batch == batch && overlaps(&patch.area, area);
            }
        });
        if covered {
            // Texels at the end go with their box. A hole between boxes stays, and counts as what it takes.
            while self.patches.last().is_some_and(|patch| patch.area.width == 0) {
                self.patches.pop();
            }
            self.bytes.truncate(self.patches.last().map_or(0, |last| last.start + last.len));
            self.batch_start = self.batch_start.min(self.patches.len());
            if self.patches.is_empty() {
                self.near.clear();
            }
        }
        meets
    }

    /// Makes the last `len` bytes those of a box.
    fn place(&mut self, area: Box3, len: usize, meets: bool) {
        let start = self.bytes.len() - len;
        let number = self.patches.len();
        // Applications that upload row by row make one box of many.
        if let Some(last) = self.patches.last_mut().filter(|last| !meets && last.batch == self.batch) {
            let below = Box3 { y: last.area.y + last.area.height as i32, height: area.height, ..last.area };
            if below == area && last.area.depth == 1 {
                last.area.height += area.height;
                last.len += len;
                self.near.insert(number - 1, &area, self.patches.iter().map(|patch| &patch.area));
                return;
            }
        }
        if meets || number - self.batch_start >= MAX_BOXES {
            self.batch += 1;
            self.batch_start = number;
        }
        self.patches.push(Patch { area, start, len, batch: self.batch });
        self.near.insert(number, &area, self.patches.iter().map(|patch| &patch.area));
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
        for batch in self.patches.chunk_by(|a, b| a.batch == b.batch) {
            let mut alive = batch.iter().filter(|patch| patch.area.width != 0).peekable();
            let Some(start) = alive.peek().map(|patch| patch.start) else { continue };
            let mut regions = Vec::with_capacity(batch.len());
            let mut all: Option<Box3> = None;
            let mut end = start;
            for patch in alive {
                let area = Box3 { z: patch.area.z + face, ..patch.area };
                all = Some(all.map_or(area, |a| union(&a, &area)));
                let row = desc.row_bytes(area.width);
                let rows = u64::from(area.height.div_ceil(desc.block_height.max(1)));
                regions.push(SubRegion {
                    src_offset: (patch.start - start) as u64,
                    src_row_stride: u32::try_from(row).unwrap_or(0),
                    src_slice_stride: u32::try_from(row * rows).unwrap_or(0),
                    ..SubRegion::tight(&area)
                });
                end = patch.start + patch.len;
            }
            let bytes = &self.bytes[start..end];
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
        if self.patches.len() < MANY_BOXES || self.bytes.capacity() > KEPT_BYTES {
            *self = Pending::default();
        } else {
            self.patches.clear();
            self.bytes.clear();
            self.near.clear();
            (self.batch, self.batch_start) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(x: i32, y: i32, width: u32, height: u32) -> Box3 {
        Box3 { x, y, z: 0, width, height, depth: 1 }
    }

    /// Boxes of each batch, and the texels of each.
    fn batches(pending: &Pending) -> Vec<Vec<(Box3, &[u8])>> {
        let list = pending.patches.chunk_by(|a, b| a.batch == b.batch);
        let alive = list.map(|batch| batch.iter().filter(|p| p.area.width != 0));
        alive.map(|batch| batch.map(|p| (p.area, &pending.bytes[p.start..p.start + p.len])).collect()).collect()
    }

    #[test]
    fn boxes_that_replace_each_other_take_bounded_memory_or_count() {
        let mut pending = Pending::default();
        pending.add(area(0, 0, 4, 4), vec![0; 16]);
        pending.add(area(8, 0, 4, 4), vec![0; 16]);
        for round in 0..100 {
            pending.add(area(0, 0, 4, 4), vec![round; 16]);
        }
        assert_eq!(pending.bytes.len(), 48, "a hole, the box that stays, and the latest one");
        // In turn each leaves a hole in front of the other: the bytes that are held say when it is too much.
        for round in 0..100 {
            pending.add(area(i32::from(round % 2) * 8, 0, 4, 4), vec![round; 16]);
        }
        assert!(pending.bytes() >= pending.bytes.len() && pending.bytes.len() > 1000, "{}", pending.bytes());
        // A box of few bytes counts, too.
        let before = pending.bytes();
        (0..100).for_each(|x| pending.add(area(100 + 2 * x, 0, 1, 1), vec![0]));
        assert!(pending.bytes() > before + 10_000);
    }

    #[test]
    fn a_covering_box_replaces_what_it_covers() {
        let mut pending = Pending::default();
        pending.add(area(1, 1, 2, 2), vec![1; 4]);
        pending.add(area(0, 0, 4, 4), vec![2; 16]);
        assert_eq!(batches(&pending), [[(area(0, 0, 4, 4), &[2; 16][..])]]);
    }

    #[test]
    fn overlapping_boxes_keep_their_order() {
        let mut pending = Pending::default();
        pending.add(area(0, 0, 4, 4), vec![1; 16]);
        pending.add(area(2, 2, 4, 4), vec![2; 16]);
        pending.add(area(8, 8, 1, 1), vec![3; 1]);
        assert_eq!(batches(&pending).iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn rows_grow_into_one_box_unless_it_would_reach_another() {
        let mut pending = Pending::default();
        for y in 0..5 {
            pending.add(area(0, y, 3, 1), vec![y as u8; 3]);
        }
        let rows = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4];
        assert_eq!(batches(&pending), [[(area(0, 0, 3, 5), &rows[..])]]);
        let mut pending = Pending::default();
        pending.add(area(1, 1, 1, 1), vec![9]);
        pending.add(area(0, 0, 3, 1), vec![1; 3]);
        pending.add(area(0, 1, 3, 1), vec![2; 3]);
        // The last row covers the first box, which is gone; its byte lies in front of the others.
        assert_eq!(batches(&pending), [[(area(0, 0, 3, 2), &[1, 1, 1, 2, 2, 2][..])]]);
        assert_eq!(pending.bytes.len(), 7);
        let mut pending = Pending::default();
        pending.add(area(1, 1, 9, 1), vec![9; 9]);
        pending.add(area(0, 0, 3, 1), vec![1; 3]);
        pending.add(area(0, 1, 3, 1), vec![2; 3]);
        // Each batch has the texels of its own boxes.
        let first = vec![(area(1, 1, 9, 1), &[9; 9][..]), (area(0, 0, 3, 1), &[1; 3][..])];
        assert_eq!(batches(&pending), [first, vec![(area(0, 1, 3, 1), &[2; 3][..])]]);
    }

    #[test]
    fn many_boxes_in_any_order_make_the_image_that_their_order_makes() {
        let (mut pending, mut expected) = (Pending::default(), vec![0u8; 256 * 256]);
        let mut seed = 1u32;
        let mut random = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % most
        };
        for round in 0..3000u32 {
            let (width, height) = if round % 100 == 9 { (100, 60) } else { (1 + random(12), 1 + random(12)) };
            let (x, y) = (random(257 - width), random(257 - height));
            let value = round as u8;
            let texels = vec![value; (width * height) as usize];
            if round % 2 == 0 {
                pending.add(area(x as i32, y as i32, width, height), texels);
            } else {
                pending.room(area(x as i32, y as i32, width, height), texels.len()).copy_from_slice(&texels);
            }
            for row in y..y + height {
                expected[(row * 256 + x) as usize..][..width as usize].fill(value);
            }
        }
        let mut image = vec![0u8; 256 * 256];
        for batch in batches(&pending) {
            assert!(batch.len() <= MAX_BOXES);
            for (number, (area, texels)) in batch.iter().enumerate() {
                assert!(batch[..number].iter().all(|(other, _)| !overlaps(area, other)), "boxes of a batch overlap");
                for row in 0..area.height as usize {
                    let at = (area.y as usize + row) * 256 + area.x as usize;
                    let width = area.width as usize;
                    image[at..at + width].copy_from_slice(&texels[row * width..][..width]);
                }
            }
        }
        assert!(image == expected);
    }
}
