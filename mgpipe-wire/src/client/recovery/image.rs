//! Texels of a texture that this side keeps: what was uploaded, slice by slice.

use super::bytes::{Block, Budget};
use mgpipe_types::{Box3, Format, FormatDesc, ResourceDesc, SubRegion, Target};
use std::ops::Range;
use std::sync::Arc;

/// Extent of a level in texels; `depth` counts slices, layers or faces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) depth: u32,
}

/// A rectangle of blocks: columns and rows of a slice.
type Rect = (Range<u32>, Range<u32>);

struct Slice {
    /// All rows of the slice, tight.
    block: Block,
    /// What was written of it: a rectangle that covers everything.
    known: Rect,
}

/// The levels of one texture.
#[derive(Default)]
pub(super) struct Image {
    format: u32,
    /// Slices of each level.
    levels: Vec<Vec<Option<Slice>>>,
    extents: Vec<Extent>,
}

/// Extents of a texture's levels, as the calls count them: rows of a 1D array are its layers.
fn extents(desc: &ResourceDesc) -> Vec<Extent> {
    let layers = u32::from(desc.array_layers.max(1));
    let level = |level: u32| {
        let side = |size: u32| (size >> level.min(31)).max(1);
        match Target::from_u8(desc.target) {
            Some(Target::Tex1D) => Extent { width: side(desc.width), height: 1, depth: 1 },
            Some(Target::Tex1DArray) => Extent { width: side(desc.width), height: layers, depth: 1 },
            Some(Target::Tex3D) => {
                Extent { width: side(desc.width), height: side(desc.height), depth: side(desc.depth) }
            }
            _ => Extent { width: side(desc.width), height: side(desc.height), depth: layers },
        }
    };
    (0..u32::from(desc.levels)).map(level).collect()
}

/// Where the blocks of a region lie, in columns and rows; `None` for a region that begins below zero.
fn rect(desc: &FormatDesc, x: i32, y: i32, width: u32, height: u32) -> Option<Rect> {
    let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
    let columns = x / desc.block_width..x.checked_add(width)?.div_ceil(desc.block_width);
    let rows = y / desc.block_height..y.checked_add(height)?.div_ceil(desc.block_height);
    Some((columns, rows))
}

fn cover(a: &Rect, b: &Rect) -> Rect {
    (a.0.start.min(b.0.start)..a.0.end.max(b.0.end), a.1.start.min(b.1.start)..a.1.end.max(b.1.end))
}

fn contains(outer: &Rect, inner: &Rect) -> bool {
    outer.0.start <= inner.0.start
        && inner.0.end <= outer.0.end
        && outer.1.start <= inner.1.start
        && inner.1.end <= outer.1.end
}

/// A part of a level that was kept, with tight bytes.
pub(super) struct Part {
    pub(super) level: u16,
    pub(super) area: Box3,
    pub(super) bytes: Vec<u8>,
}

impl Image {
    /// Follows a specification: what the texture keeps, this side keeps.
    pub(super) fn specify(&mut self, desc: &ResourceDesc) {
        let extents = extents(desc);
        let keeps = desc.has_defined_content != 0 && desc.format == self.format && desc.samples <= 1;
        self.levels.resize_with(extents.len(), Vec::new);
        for (at, (level, extent)) in self.levels.iter_mut().zip(&extents).enumerate() {
            if !keeps || self.extents.get(at) != Some(extent) {
                level.clear();
            }
        }
        self.format = desc.format;
        self.extents = extents;
    }

    fn desc(&self) -> &'static FormatDesc {
        Format(self.format).desc()
    }

    /// Blocks in a row and rows of a level.
    fn grid(&self, level: usize) -> Option<(u32, u32)> {
        let (extent, desc) = (self.extents.get(level)?, self.desc());
        Some((extent.width.div_ceil(desc.block_width), extent.height.div_ceil(desc.block_height)))
    }

    /// The slice, made of zeroes when there is none; `None` outside the level, or beyond the budget.
    fn slice(&mut self, level: usize, z: u32, known: &Rect, budget: &Arc<Budget>) -> Option<&mut Slice> {
        let (columns, rows) = self.grid(level)?;
        if known.0.end > columns || known.1.end > rows || z >= self.extents.get(level)?.depth {
            return None;
        }
        let size = u64::from(columns) * u64::from(rows) * u64::from(self.desc().block_bytes);
        let slices = self.levels.get_mut(level)?;
        let at = z as usize;
        if slices.len() <= at {
            slices.resize_with(at + 1, || None);
        }
        let slot = slices.get_mut(at)?;
        match slot {
            Some(slice) => slice.known = cover(&slice.known, known),
            None => *slot = Some(Slice { block: Block::new(size, budget)?, known: known.clone() }),
        }
        slot.as_mut()
    }

    /// Keeps an upload; false when it cannot be kept whole.
    pub(super) fn upload(&mut self, level: u16, region: &SubRegion, bytes: &[u8], budget: &Arc<Budget>) -> bool {
        self.try_upload(usize::from(level), region, bytes, budget).is_some()
    }

    fn try_upload(&mut self, level: usize, region: &SubRegion, bytes: &[u8], budget: &Arc<Budget>) -> Option<()> {
        let desc = self.desc();
        let known = rect(desc, region.x, region.y, region.width, region.height)?;
        let row = desc.row_bytes(region.width) as usize;
        let (columns, _) = self.grid(level)?;
        let pitch = columns as usize * desc.block_bytes as usize;
        let row_stride = if region.src_row_stride == 0 { row } else { region.src_row_stride as usize };
        let rows = known.1.len();
        let slice_stride =
            if region.src_slice_stride == 0 { row_stride * rows } else { region.src_slice_stride as usize };
        let start = usize::try_from(region.src_offset).ok()?;
        let z = u32::try_from(region.z).ok()?;
        for at in 0..region.depth {
            let slice = self.slice(level, z.checked_add(at)?, &known, budget)?;
            for line in 0..rows {
                let from =
                    start.checked_add((at as usize).checked_mul(slice_stride)?)?.checked_add(line * row_stride)?;
                let source = bytes.get(from..from.checked_add(row)?)?;
                let to = (known.1.start as usize + line) * pitch + known.0.start as usize * desc.block_bytes as usize;
                if !slice.block.write(to, source) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Tight bytes of a box; `None` when not all of it is kept.
    pub(super) fn read(&self, level: u16, area: &Box3) -> Option<Vec<u8>> {
        let (desc, level) = (self.desc(), usize::from(level));
        let wanted = rect(desc, area.x, area.y, area.width, area.height)?;
        let (columns, _) = self.grid(level)?;
        let block = desc.block_bytes as usize;
        let mut out = Vec::new();
        for z in 0..area.depth {
            let at = usize::try_from(u32::try_from(area.z).ok()?.checked_add(z)?).ok()?;
            let slice = self.levels.get(level)?.get(at)?.as_ref().filter(|slice| contains(&slice.known, &wanted))?;
            for row in wanted.1.clone() {
                let start = (row as usize * columns as usize + wanted.0.start as usize) * block;
                out.extend_from_slice(slice.block.bytes().get(start..start + wanted.0.len() * block)?);
            }
        }
        Some(out)
    }

    /// Blocks of another format count as the same when their sizes are.
    pub(super) fn block_of(&self) -> (u32, u32, u32) {
        let desc = self.desc();
        (desc.block_bytes, desc.block_width, desc.block_height)
    }

    /// The levels from `first` to `last` will be derived from another one: what was uploaded there is overwritten.
    pub(super) fn derive(&mut self, first: u16, last: u16) {
        for level in self.levels.iter_mut().take(usize::from(last) + 1).skip(usize::from(first)) {
            level.clear();
        }
    }

    /// What is kept of some levels, in order.
    pub(super) fn parts(&self, levels: Range<u16>) -> impl Iterator<Item = Part> + '_ {
        let desc = self.desc();
        levels.flat_map(move |level| {
            let slices = self.levels.get(usize::from(level)).map(Vec::as_slice).unwrap_or_default();
            let extent = self.extents.get(usize::from(level)).copied().unwrap_or_default();
            slices.iter().enumerate().filter_map(move |(z, slice)| {
                let (columns, rows) = &slice.as_ref()?.known;
                // A block at the edge may reach beyond the level.
                let (x, y) = (columns.start * desc.block_width, rows.start * desc.block_height);
                let area = Box3 {
                    x: x as i32,
                    y: y as i32,
                    z: z as i32,
                    width: (columns.end * desc.block_width).min(extent.width).saturating_sub(x),
                    height: (rows.end * desc.block_height).min(extent.height).saturating_sub(y),
                    depth: 1,
                };
                let bytes = self.read(level, &area)?;
                Some(Part { level, area, bytes })
            })
        })
    }

    pub(super) fn level_count(&self) -> u16 {
        self.levels.len() as u16
    }
}

#[cfg(test)]
mod tests {
    use super::super::RecoveryCounters;
    use super::*;

    fn desc(target: Target, width: u32, height: u32, layers: u16, levels: u16) -> ResourceDesc {
        ResourceDesc {
            target: target as u8,
            format: Format::RGBA8_UNORM.0,
            width,
            height,
            depth: 1,
            array_layers: layers,
            levels,
            ..ResourceDesc::default()
        }
    }

    fn region(x: i32, y: i32, z: i32, width: u32, height: u32, depth: u32) -> SubRegion {
        SubRegion { x, y, z, width, height, depth, ..SubRegion::default() }
    }

    fn bytes(texels: usize) -> Vec<u8> {
        (0..texels * 4).map(|at| (at % 251) as u8 + 1).collect()
    }

    #[test]
    fn uploads_are_read_back_and_cover_what_they_must() {
        let (budget, mut image) = (Budget::new(1 << 20, Arc::default()), Image::default());
        image.specify(&desc(Target::Tex2DArray, 8, 4, 3, 2));
        let texels = bytes(2 * 2 * 2);
        assert!(image.upload(0, &region(1, 1, 1, 2, 2, 2), &texels, &budget));
        let area = Box3 { x: 1, y: 1, z: 1, width: 2, height: 2, depth: 2 };
        assert_eq!(image.read(0, &area), Some(texels.clone()));
        assert_eq!(image.read(0, &Box3 { x: 0, ..area }), None, "not all of it is known");
        assert_eq!(image.read(0, &Box3 { z: 0, ..area }), None);
        // Strides of the source: one texel of a row of four, rows four texels apart.
        let strided = SubRegion { src_offset: 4, src_row_stride: 16, ..region(7, 0, 1, 1, 2, 1) };
        assert!(image.upload(0, &strided, &bytes(8), &budget));
        let one = Box3 { x: 7, y: 1, z: 1, width: 1, height: 1, depth: 1 };
        assert_eq!(image.read(0, &one).as_deref(), Some(&bytes(8)[20..24]));
        let parts: Vec<_> = image.parts(0..2).map(|part| (part.level, part.area)).collect();
        let grown = Box3 { x: 1, y: 0, z: 1, width: 7, height: 3, depth: 1 };
        assert_eq!(parts, [(0, grown), (0, Box3 { x: 1, y: 1, z: 2, width: 2, height: 2, depth: 1 })]);
        for outside in [region(7, 0, 0, 2, 1, 1), region(0, 0, 3, 1, 1, 1), region(-1, 0, 0, 1, 1, 1)] {
            assert!(!image.upload(0, &outside, &bytes(4), &budget), "{outside:?}");
        }
        assert!(!image.upload(2, &region(0, 0, 0, 1, 1, 1), &bytes(1), &budget), "no such level");
        assert!(!image.upload(1, &region(0, 0, 0, 2, 2, 1), &bytes(3), &budget), "too few bytes");
    }

    #[test]
    fn a_specification_keeps_levels_that_stay_the_same() {
        let counters = Arc::<RecoveryCounters>::default();
        let (budget, mut image) = (Budget::new(1 << 20, counters.clone()), Image::default());
        let area = |side| Box3::sized(side, side, 1);
        image.specify(&desc(Target::Tex2D, 4, 4, 1, 2));
        assert!(image.upload(0, &region(0, 0, 0, 4, 4, 1), &bytes(16), &budget));
        assert!(image.upload(1, &region(0, 0, 0, 2, 2, 1), &bytes(4), &budget));
        image.specify(&ResourceDesc { has_defined_content: 1, ..desc(Target::Tex2D, 4, 4, 1, 3) });
        assert!(image.read(0, &area(4)).is_some() && image.read(1, &area(2)).is_some());
        image.derive(1, 2);
        assert!(image.read(0, &area(4)).is_some() && image.read(1, &area(2)).is_none());
        image.specify(&ResourceDesc { has_defined_content: 1, ..desc(Target::Tex2D, 4, 2, 1, 3) });
        assert_eq!(image.parts(0..3).count(), 0);
        assert_eq!(counters.held_bytes(), 0);
    }

    #[test]
    fn rows_of_a_1d_array_are_its_layers() {
        let (budget, mut image) = (Budget::new(1 << 20, Arc::default()), Image::default());
        image.specify(&desc(Target::Tex1DArray, 4, 1, 5, 2));
        assert!(image.upload(1, &region(0, 4, 0, 2, 1, 1), &bytes(2), &budget));
        assert!(!image.upload(1, &region(0, 5, 0, 2, 1, 1), &bytes(2), &budget));
        assert_eq!(image.read(1, &Box3 { x: 0, y: 4, z: 0, width: 2, height: 1, depth: 1 }), Some(bytes(2)));
    }
}
