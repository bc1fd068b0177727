//! Host storage of textures and renderbuffers.

use mgpipe_types::{Box3, Format, ResourceDesc, SubRegion, Target};

/// One mipmap level: tight texels of all slices or layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageLevel {
    /// Width in texels.
    pub width: u32,
    /// Height in rows.
    pub height: u32,
    /// Slices, layers or faces.
    pub depth: u32,
    /// Texels, tightly packed.
    pub bytes: Vec<u8>,
}

/// Levels of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Texel format.
    pub format: Format,
    /// Levels from 0.
    pub levels: Vec<ImageLevel>,
}

/// Largest image that the null backend stores, in bytes.
const MAX_IMAGE_BYTES: u64 = 1 << 30;

impl Image {
    /// Zeroed storage as described; `None` when it is larger than 1 GiB in all or makes no sense.
    pub fn new(desc: &ResourceDesc) -> Option<Image> {
        let format = Format(desc.format);
        let mut levels = Vec::new();
        let mut total = 0u64;
        if desc.width != 0 && format.is_valid() {
            let is_3d = desc.target == Target::Tex3D as u8;
            let one_dimensional = desc.target == Target::Tex1DArray as u8;
            for level in 0..desc.levels.clamp(1, 32) as u32 {
                let shrink = |size: u32| size.checked_shr(level).unwrap_or(0).max(1);
                let height = if one_dimensional { desc.array_layers.max(1) as u32 } else { shrink(desc.height) };
                let depth = if is_3d {
                    shrink(desc.depth)
                } else if one_dimensional {
                    1
                } else {
                    desc.array_layers.max(1) as u32
                };
                let width = shrink(desc.width);
                let len = format.desc().image_bytes(width, height, depth)?;
                total = total.checked_add(len).filter(|t| *t <= MAX_IMAGE_BYTES)?;
                levels.push(ImageLevel { width, height, depth, bytes: vec![0; len as usize] });
            }
        }
        Some(Image { format, levels })
    }

    /// Takes over levels of `old` that kept their extent and format.
    pub fn keep_from(&mut self, old: &Image) {
        if old.format != self.format {
            return;
        }
        for (new, old) in self.levels.iter_mut().zip(&old.levels) {
            if (new.width, new.height, new.depth) == (old.width, old.height, old.depth) {
                new.bytes.copy_from_slice(&old.bytes);
            }
        }
    }

    /// Byte ranges of every row of blocks of a box within a level; `None` when the box leaves the level.
    fn rows(&self, level: u16, area: &Box3) -> Option<Vec<std::ops::Range<usize>>> {
        let desc = self.format.desc();
        let level = self.levels.get(level as usize)?;
        let inside =
            |at: i32, size: u32, limit: u32| at >= 0 && (at as u32).checked_add(size).is_some_and(|end| end <= limit);
        let fits = inside(area.x, area.width, level.width)
            && inside(area.y, area.height, level.height)
            && inside(area.z, area.depth, level.depth)
            && area.x as u32 % desc.block_width == 0
            && area.y as u32 % desc.block_height == 0;
        if !fits {
            return None;
        }
        let row_bytes = desc.row_bytes(level.width) as usize;
        let slice_bytes = row_bytes * level.height.div_ceil(desc.block_height) as usize;
        let (first, len) = (
            area.x as usize / desc.block_width as usize * desc.block_bytes as usize,
            desc.row_bytes(area.width) as usize,
        );
        let mut out = Vec::new();
        for z in area.z as usize..area.z as usize + area.depth as usize {
            let row = area.y as usize / desc.block_height as usize;
            for y in row..row + area.height.div_ceil(desc.block_height) as usize {
                let start = z * slice_bytes + y * row_bytes + first;
                out.push(start..start + len);
            }
        }
        Some(out)
    }

    /// Writes one upload region; false when region or source do not fit.
    pub fn write(&mut self, level: u16, region: &SubRegion, source: &[u8]) -> bool {
        let area = region.area();
        let Some(rows) = self.rows(level, &area) else { return false };
        let per_slice = region.height.div_ceil(self.format.desc().block_height) as usize;
        let tight = self.format.desc().row_bytes(region.width) as usize;
        let row_stride = if region.src_row_stride == 0 { tight } else { region.src_row_stride as usize };
        let slice_stride = if region.src_slice_stride == 0 {
            row_stride.saturating_mul(per_slice)
        } else {
            region.src_slice_stride as usize
        };
        for (i, row) in rows.iter().enumerate() {
            let (slice, row_of_slice) = (i / per_slice.max(1), i % per_slice.max(1));
            let start = (slice.checked_mul(slice_stride))
                .zip(row_of_slice.checked_mul(row_stride))
                .and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(region.src_offset as usize));
            let bytes = start.and_then(|start| source.get(start..start.checked_add(tight)?));
            let Some(bytes) = bytes else { return false };
            self.levels[level as usize].bytes[row.clone()].copy_from_slice(bytes);
        }
        true
    }

    /// Reads a box tightly packed; `None` when it does not fit.
    pub fn read(&self, level: u16, area: &Box3) -> Option<Vec<u8>> {
        let rows = self.rows(level, area)?;
        let bytes = &self.levels[level as usize].bytes;
        Some(rows.into_iter().flat_map(|row| bytes[row].iter().copied()).collect())
    }

    /// Fills a box with one texel pattern; false when it does not fit, or is no texel of this image.
    pub fn fill(&mut self, level: u16, area: &Box3, texel: &[u8]) -> bool {
        if texel.is_empty() || texel.len() != self.format.desc().block_bytes as usize {
            return false;
        }
        let Some(rows) = self.rows(level, area) else { return false };
        let bytes = &mut self.levels[level as usize].bytes;
        for row in rows {
            for chunk in bytes[row].chunks_exact_mut(texel.len()) {
                chunk.copy_from_slice(texel);
            }
        }
        true
    }
}
