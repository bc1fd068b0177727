//! Regions of an upload that lie side by side, as the boxes that they make together.

use crate::{Box3, FormatDesc, SubRegion};

/// What a backend made of uploads into textures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadWork {
    /// Copies that the device or its driver was asked for.
    pub jobs: u64,
    /// Regions that became part of a larger box.
    pub joined: u64,
    /// Bytes of texels.
    pub bytes: u64,
}

/// Regions that lie side by side, from left to right.
#[derive(Clone, Copy, Debug)]
struct Strip {
    area: Box3,
    first: u32,
    count: u32,
}

/// A box that regions make together: nothing of it is covered twice, and nothing by none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joined {
    /// The box.
    pub area: Box3,
    strips: (u32, u32),
    regions: u32,
}

impl Joined {
    /// How many regions make the box.
    pub fn regions(&self) -> u32 {
        self.regions
    }
}

/// Joins the regions of an upload: neighbours in a row first, and then rows of the same width.
///
/// Only what is exactly covered becomes one box, so that an upload of it replaces no texel that nobody gave. The boxes come from
/// top to bottom, whichever order the regions had, for the sake of the caches of who writes them. Regions of several slices
/// stay alone.
///
/// It keeps its memory from one upload to the next.
#[derive(Default, Debug)]
pub struct RegionJoiner {
    order: Vec<u32>,
    strips: Vec<Strip>,
    joined: Vec<Joined>,
}

/// Where a box ends, if that is a place.
fn end(at: i32, size: u32) -> Option<i32> {
    i32::try_from(i64::from(at) + i64::from(size)).ok()
}

impl RegionJoiner {
    /// Joins regions that do not overlap.
    pub fn join(&mut self, regions: &[SubRegion], format: &FormatDesc) -> &[Joined] {
        let (block_width, block_height) = (format.block_width.max(1), format.block_height.max(1));
        self.order.clear();
        self.order.extend(0..regions.len() as u32);
        self.order.sort_unstable_by_key(|index| {
            let r = &regions[*index as usize];
            (r.z, r.y, r.height, r.x)
        });
        self.strips.clear();
        for (at, index) in self.order.iter().enumerate() {
            let r = &regions[*index as usize];
            if let Some(strip) = self.strips.last_mut() {
                let a = &mut strip.area;
                let beside = (a.z, a.y, a.height) == (r.z, r.y, r.height) && end(a.x, a.width) == Some(r.x);
                let beside = beside && end(r.x, r.width).is_some();
                // A block that is cut has no neighbour.
                if beside && a.depth == 1 && r.depth == 1 && a.width % block_width == 0 {
                    a.width += r.width;
                    strip.count += 1;
                    continue;
                }
            }
            self.strips.push(Strip { area: r.area(), first: at as u32, count: 1 });
        }
        self.strips.sort_unstable_by_key(|strip| (strip.area.z, strip.area.x, strip.area.width, strip.area.y));
        self.joined.clear();
        for (at, strip) in self.strips.iter().enumerate() {
            let r = &strip.area;
            if let Some(joined) = self.joined.last_mut() {
                let a = &mut joined.area;
                let below = (a.z, a.x, a.width) == (r.z, r.x, r.width) && end(a.y, a.height) == Some(r.y);
                let below = below && end(r.y, r.height).is_some();
                if below && a.depth == 1 && r.depth == 1 && a.height % block_height == 0 {
                    a.height += r.height;
                    joined.strips.1 += 1;
                    joined.regions += strip.count;
                    continue;
                }
            }
            self.joined.push(Joined { area: *r, strips: (at as u32, 1), regions: strip.count });
        }
        self.joined.sort_unstable_by_key(|joined| (joined.area.z, joined.area.y, joined.area.x));
        &self.joined
    }

    /// The boxes of the latest call of [`RegionJoiner::join`].
    pub fn joined(&self) -> &[Joined] {
        &self.joined
    }

    /// The region that a box is, when it is one.
    pub fn alone(&self, joined: &Joined) -> Option<usize> {
        let strip = self.strips.get(joined.strips.0 as usize).filter(|_| joined.regions == 1)?;
        self.order.get(strip.first as usize).map(|index| *index as usize)
    }

    /// The regions that make a box.
    pub fn parts<'a>(&'a self, joined: &Joined) -> impl Iterator<Item = usize> + 'a {
        let strips = self.strips.iter().skip(joined.strips.0 as usize).take(joined.strips.1 as usize);
        let numbers = |strip: &Strip| self.order.iter().skip(strip.first as usize).take(strip.count as usize);
        strips.flat_map(numbers).map(|index| *index as usize)
    }

    /// Copies the texels of a box of several regions, which [`RegionJoiner::join`] made of these, one row of texels or blocks
    /// after the other: `write` gets the place in the tight box and the bytes. False when a region reaches beyond `bytes`.
    pub fn gather(
        &self,
        joined: &Joined,
        regions: &[SubRegion],
        format: &FormatDesc,
        bytes: &[u8],
        mut write: impl FnMut(u64, &[u8]),
    ) -> bool {
        let pitch = format.row_bytes(joined.area.width);
        let mut top = 0;
        let strips = &self.strips[joined.strips.0 as usize..][..joined.strips.1 as usize];
        for strip in strips {
            let rows = u64::from(strip.area.height.div_ceil(format.block_height.max(1)));
            let mut left = top * pitch;
            for index in &self.order[strip.first as usize..][..strip.count as usize] {
                let Some(region) = regions.get(*index as usize) else { return false };
                let len = format.row_bytes(region.width);
                let stride = if region.src_row_stride == 0 { len } else { u64::from(region.src_row_stride) };
                for row in 0..rows {
                    let start = region.src_offset.saturating_add(row * stride);
                    let range = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(len)).ok());
                    let Some(source) = range.and_then(|(start, end)| bytes.get(start..end)) else { return false };
                    write(left + row * pitch, source);
                }
                left += len;
            }
            top += rows;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    fn region(x: i32, y: i32, width: u32, height: u32, src_offset: u64) -> SubRegion {
        SubRegion { x, y, width, height, depth: 1, src_offset, ..SubRegion::default() }
    }

    fn areas(regions: &[SubRegion], format: Format) -> Vec<(i32, i32, u32, u32, u32)> {
        let mut joiner = RegionJoiner::default();
        let joined = joiner.join(regions, format.desc());
        joined.iter().map(|j| (j.area.x, j.area.y, j.area.width, j.area.height, j.regions())).collect()
    }

    #[test]
    fn neighbours_become_one_box_and_others_stay() {
        let grid: Vec<_> = (0..12).map(|i| region(i % 4 * 8, i / 4 * 8, 8, 8, 0)).collect();
        assert_eq!(areas(&grid, Format::R8_UNORM), [(0, 0, 32, 24, 12)]);
        // A hole stays a hole.
        let mut holed = grid;
        holed.remove(5);
        assert_eq!(
            areas(&holed, Format::R8_UNORM),
            [(0, 0, 32, 8, 4), (0, 8, 8, 8, 1), (16, 8, 16, 8, 2), (0, 16, 32, 8, 4)]
        );
        let odd = [region(0, 0, 8, 8, 0), region(8, 0, 8, 7, 0), region(9, 20, 3, 3, 0)];
        assert_eq!(areas(&odd, Format::R8_UNORM).len(), 3);
    }

    #[test]
    fn slices_and_cut_blocks_do_not_join() {
        let deep = SubRegion { depth: 2, ..region(0, 0, 4, 4, 0) };
        assert_eq!(areas(&[deep, SubRegion { x: 4, ..deep }], Format::R8_UNORM).len(), 2);
        let above = SubRegion { z: 1, ..region(4, 0, 4, 4, 0) };
        assert_eq!(areas(&[region(0, 0, 4, 4, 0), above], Format::R8_UNORM).len(), 2);
        let blocks = [region(0, 0, 6, 4, 0), region(6, 0, 4, 4, 16)];
        assert_eq!(areas(&blocks, Format::BC1_RGBA).len(), 2);
        let blocks = [region(0, 0, 8, 4, 0), region(8, 0, 2, 4, 16)];
        assert_eq!(areas(&blocks, Format::BC1_RGBA), [(0, 0, 10, 4, 2)]);
        // No box ends beyond the numbers.
        let far = [region(i32::MAX - 1, 0, 4, 1, 0), region(i32::MIN, 0, 4, 1, 0)];
        assert_eq!(areas(&far, Format::R8_UNORM).len(), 2);
    }

    #[test]
    fn texels_come_to_their_places_and_short_sources_are_told() {
        // Two columns, the second of them of two regions with a stride; the source is in no order.
        let regions =
            [SubRegion { src_row_stride: 4, ..region(2, 0, 2, 2, 4) }, region(0, 0, 2, 2, 0), region(0, 2, 4, 1, 12)];
        let bytes: Vec<u8> = vec![1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0, 9, 10, 11, 12];
        let mut joiner = RegionJoiner::default();
        let format = Format::R8_UNORM.desc();
        let joined = joiner.join(&regions, format).to_vec();
        assert_eq!(joined.len(), 1);
        let mut out = [0; 12];
        let write = |at: u64, row: &[u8]| out[at as usize..][..row.len()].copy_from_slice(row);
        assert!(joiner.gather(&joined[0], &regions, format, &bytes, write));
        assert_eq!(out, [1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 11, 12]);
        assert!(!joiner.gather(&joined[0], &regions, format, &bytes[..15], |_, _| {}));
    }
}
