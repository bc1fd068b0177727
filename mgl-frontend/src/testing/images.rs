//! Texel storage of the double: what a server keeps of textures and renderbuffers.

use mgpipe_types::{Box3, Format, ResourceDesc, SubRegion, Target};

/// Storage of one texture or renderbuffer.
#[derive(Debug, Clone)]
pub(crate) struct StoredImage {
    pub(crate) desc: ResourceDesc,
    /// Tight texels by level: rows, then slices or layers.
    levels: Vec<Vec<u8>>,
}

impl StoredImage {
    /// Storage filled with a pattern that no test uploads.
    pub(crate) fn new(desc: &ResourceDesc) -> StoredImage {
        let mut image = StoredImage { desc: *desc, levels: Vec::new() };
        for level in 0..u32::from(desc.levels.max(1)) {
            let [width, height, depth] = image.extent(level);
            let bytes = image.format().desc().image_bytes(width, height, depth).expect("small");
            image.levels.push(vec![0xcd; bytes as usize]);
        }
        image
    }

    fn format(&self) -> Format {
        Format(self.desc.format)
    }

    /// Width, height and slices of a level as boxes count them.
    pub(crate) fn extent(&self, level: u32) -> [u32; 3] {
        let d = &self.desc;
        let shrink = |v: u32| if v == 0 { 0 } else { (v >> level).max(1) };
        match Target::from_u8(d.target) {
            Some(Target::Tex1D) => [shrink(d.width), 1, 1],
            Some(Target::Tex1DArray) => [shrink(d.width), u32::from(d.array_layers), 1],
            Some(Target::Tex3D) => [shrink(d.width), shrink(d.height), shrink(d.depth)],
            _ => [shrink(d.width), shrink(d.height), u32::from(d.array_layers.max(1))],
        }
    }

    /// Takes over the levels that stay the same.
    pub(crate) fn keep_from(&mut self, old: &StoredImage) {
        if self.desc.format != old.desc.format {
            return;
        }
        for level in 0..self.levels.len().min(old.levels.len()) {
            if self.extent(level as u32) == old.extent(level as u32) {
                self.levels[level] = old.levels[level].clone();
            }
        }
    }

    /// Calls `row` with the place of each row of blocks of a box, in bytes of the level, and its length.
    fn rows(&self, level: u32, area: &Box3, mut row: impl FnMut(usize, usize, u32, u32)) {
        let format = self.format();
        let desc = format.desc();
        let [width, height, depth] = self.extent(level);
        let end = |at: i32, size: u32| u32::try_from(at).expect("not negative") + size;
        assert!(end(area.x, area.width) <= width, "{area:?} in {width}");
        assert!(end(area.y, area.height) <= height, "{area:?} in {height}");
        assert!(end(area.z, area.depth) <= depth, "{area:?} in {depth}");
        let (bw, bh, bytes) = (desc.block_width, desc.block_height, desc.block_bytes as usize);
        let stride = desc.row_bytes(width) as usize;
        let slice = stride * height.div_ceil(bh) as usize;
        let len = area.width.div_ceil(bw) as usize * bytes;
        for z in 0..area.depth {
            for y in 0..area.height.div_ceil(bh) {
                let at = (area.z as usize + z as usize) * slice
                    + (area.y as u32 / bh + y) as usize * stride
                    + (area.x as u32 / bw) as usize * bytes;
                row(at, len, y, z);
            }
        }
    }

    /// Writes an upload's region.
    pub(crate) fn write(&mut self, level: u32, region: &SubRegion, blob: &[u8]) {
        let area = region.area();
        let mut moves = Vec::new();
        self.rows(level, &area, |at, len, y, z| {
            let row = if region.src_row_stride == 0 { len } else { region.src_row_stride as usize };
            let rows = area.height.div_ceil(self.format().desc().block_height) as usize;
            let slice = if region.src_slice_stride == 0 { row * rows } else { region.src_slice_stride as usize };
            moves.push((at, len, region.src_offset as usize + z as usize * slice + y as usize * row));
        });
        for (at, len, from) in moves {
            self.levels[level as usize][at..at + len].copy_from_slice(&blob[from..from + len]);
        }
    }

    /// Tight texels of a box.
    pub(crate) fn read(&self, level: u32, area: &Box3) -> Vec<u8> {
        let mut out = Vec::new();
        self.rows(level, area, |at, len, _, _| out.extend_from_slice(&self.levels[level as usize][at..at + len]));
        out
    }
}
