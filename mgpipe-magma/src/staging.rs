//! Texels on their way between host and device travel in pieces of bounded size.
//!
//! A piece fits a ring chunk, so that no memory is mapped for a large image and unmapped after it: on a device whose memory
//! is the host's the page faults of that cost more than the copy. And while the device copies one piece the host works on
//! the next one.

use crate::transfer::ImageArea;
use ash::vk;

/// Bytes of an upload that are staged in one piece.
pub(crate) const UPLOAD_BYTES: u64 = 1 << 20;
/// Bytes of a read-back that are staged in one piece.
pub(crate) const READ_BYTES: u64 = 2 << 20;

/// Rows of some slices of an area. Rows are rows of blocks, slices are layers or slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) slice: u32,
    pub(crate) slices: u32,
    pub(crate) row: u32,
    pub(crate) rows: u32,
}

impl Piece {
    /// Cuts `slices` slices of `rows` rows of `row_bytes` bytes into pieces of at most `limit` bytes, or single rows.
    pub(crate) fn cut(slices: u32, rows: u32, row_bytes: u64, limit: u64) -> impl Iterator<Item = Piece> {
        let total = row_bytes.saturating_mul(u64::from(rows)).saturating_mul(u64::from(slices));
        let (step_slices, step_rows) = if total <= limit {
            (slices.max(1), rows.max(1))
        } else {
            (1, u32::try_from(limit / row_bytes.max(1)).unwrap_or(u32::MAX).clamp(1, rows.max(1)))
        };
        (0..slices).step_by(step_slices as usize).flat_map(move |slice| {
            (0..rows).step_by(step_rows as usize).map(move |row| Piece {
                slice,
                slices: step_slices,
                row,
                rows: step_rows.min(rows - row),
            })
        })
    }

    /// Where the piece lies in the image, in texels.
    pub(crate) fn area(&self, whole: &ImageArea, block_height: u32) -> ImageArea {
        let mut area = *whole;
        let top = self.row * block_height;
        area.offset.y += top as i32;
        area.extent.height = (self.rows * block_height).min(whole.extent.height.saturating_sub(top));
        if whole.extent.depth > 1 || whole.offset.z > 0 {
            area.offset.z += self.slice as i32;
            area.extent.depth = self.slices;
        } else {
            area.base_layer += self.slice;
            area.layers = self.slices;
        }
        area
    }
}

/// A copy of an area of one plane at a place in a buffer, rows close together.
pub(crate) fn tight_copy(
    offset: u64,
    area: &ImageArea,
    aspect: vk::ImageAspectFlags,
    level: u32,
) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: offset,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: area.layers(aspect, level),
        image_offset: area.offset,
        image_extent: area.extent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_areas_are_one_piece_and_large_ones_cover_everything_once() {
        assert_eq!(Piece::cut(3, 4, 10, 120).collect::<Vec<_>>(), [Piece { slice: 0, slices: 3, row: 0, rows: 4 }]);
        for limit in [1, 10, 25, 119] {
            let mut seen = [[0; 4]; 3];
            for piece in Piece::cut(3, 4, 10, limit) {
                assert!(piece.rows == 1 || u64::from(piece.rows * piece.slices) * 10 <= limit);
                for slice in piece.slice..piece.slice + piece.slices {
                    for row in piece.row..piece.row + piece.rows {
                        seen[slice as usize][row as usize] += 1;
                    }
                }
            }
            assert_eq!(seen, [[1; 4]; 3], "{limit}");
        }
    }

    #[test]
    fn a_piece_of_blocks_ends_with_the_area() {
        let whole = ImageArea {
            offset: vk::Offset3D { x: 4, y: 8, z: 0 },
            extent: vk::Extent3D { width: 8, height: 10, depth: 1 },
            base_layer: 2,
            layers: 5,
        };
        let area = Piece { slice: 3, slices: 1, row: 2, rows: 1 }.area(&whole, 4);
        assert_eq!((area.offset.y, area.extent.height, area.base_layer, area.layers), (16, 2, 5, 1));
        let volume = ImageArea {
            offset: vk::Offset3D { x: 0, y: 0, z: 1 },
            extent: vk::Extent3D { width: 8, height: 8, depth: 4 },
            base_layer: 0,
            layers: 1,
        };
        let area = Piece { slice: 2, slices: 1, row: 0, rows: 8 }.area(&volume, 1);
        assert_eq!((area.offset.z, area.extent.depth, area.layers), (3, 1, 1));
    }
}
