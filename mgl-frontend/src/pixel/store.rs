//! Pixel store state and the address arithmetic that follows from it.

use super::ClientFormat;

/// One half (pack or unpack) of the pixel store state, with the initial values of GL 3.3 table 6.19.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PixelStore {
    /// `GL_*_SWAP_BYTES`.
    pub swap_bytes: bool,
    /// `GL_*_LSB_FIRST`: bit order of bitmaps, of which the core profile has none.
    pub lsb_first: bool,
    /// `GL_*_ROW_LENGTH` in pixels; 0 means the width of the image.
    pub row_length: i32,
    /// `GL_*_IMAGE_HEIGHT` in rows; 0 means the height of the image.
    pub image_height: i32,
    /// `GL_*_SKIP_PIXELS`.
    pub skip_pixels: i32,
    /// `GL_*_SKIP_ROWS`.
    pub skip_rows: i32,
    /// `GL_*_SKIP_IMAGES`.
    pub skip_images: i32,
    /// `GL_*_ALIGNMENT` in bytes: 1, 2, 4 or 8.
    pub alignment: i32,
}

impl Default for PixelStore {
    fn default() -> Self {
        PixelStore {
            swap_bytes: false,
            lsb_first: false,
            row_length: 0,
            image_height: 0,
            skip_pixels: 0,
            skip_rows: 0,
            skip_images: 0,
            alignment: 4,
        }
    }
}

/// Where the rows of an image lie, in bytes from the application's pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageAddress {
    /// First byte of the first pixel.
    pub start: usize,
    /// Bytes between rows.
    pub row_stride: usize,
    /// Bytes between images.
    pub image_stride: usize,
    /// Bytes of the pixels of one row.
    pub row_bytes: usize,
    /// One past the last byte that the transfer touches; 0 for an empty image. Never past the last pixel of the last
    /// row: an image may end at the end of a page.
    pub end: usize,
}

impl PixelStore {
    /// Address arithmetic of an image of `size` pixels (GL 3.3 section 3.7.2). `dims` is the dimensionality of the
    /// command: images and their height matter for 3 only. `None` when the numbers overflow an address.
    pub fn address(&self, dims: u32, size: [u32; 3], client: &ClientFormat) -> Option<ImageAddress> {
        self.address_of_pixels(dims, size, client.pixel_bytes())
    }

    fn address_of_pixels(&self, dims: u32, size: [u32; 3], pixel_bytes: usize) -> Option<ImageAddress> {
        let positive = |v: i32| usize::try_from(v).unwrap_or(0);
        let [width, height, depth] = size.map(|v| v as usize);
        let row_pixels = if self.row_length > 0 { positive(self.row_length) } else { width };
        let alignment = positive(self.alignment).max(1);
        let row_stride = row_pixels.checked_mul(pixel_bytes)?.checked_next_multiple_of(alignment)?;
        let (rows, skip_images) = if dims == 3 {
            (if self.image_height > 0 { positive(self.image_height) } else { height }, positive(self.skip_images))
        } else {
            (height, 0)
        };
        let image_stride = rows.checked_mul(row_stride)?;
        let start = skip_images
            .checked_mul(image_stride)?
            .checked_add(positive(self.skip_rows).checked_mul(row_stride)?)?
            .checked_add(positive(self.skip_pixels).checked_mul(pixel_bytes)?)?;
        let row_bytes = width.checked_mul(pixel_bytes)?;
        let end = if width == 0 || height == 0 || depth == 0 {
            0
        } else {
            start
                .checked_add((depth - 1).checked_mul(image_stride)?)?
                .checked_add((height - 1).checked_mul(row_stride)?)?
                .checked_add(row_bytes)?
        };
        Some(ImageAddress { start, row_stride, image_stride, row_bytes, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::gl;

    fn rgb() -> ClientFormat {
        ClientFormat::new(gl::RGB, gl::UNSIGNED_BYTE, false).expect("legal")
    }

    #[test]
    fn the_last_row_ends_with_its_last_pixel() {
        let store = PixelStore { row_length: 7, ..PixelStore::default() };
        let a = store.address(2, [5, 3, 1], &rgb()).expect("small");
        assert_eq!(a.row_stride, 24);
        assert_eq!(a.end, 2 * 24 + 15);
    }

    #[test]
    fn skips_scale_with_the_pixel() {
        let store = PixelStore { skip_pixels: 2, skip_rows: 3, skip_images: 1, alignment: 1, ..PixelStore::default() };
        let flat = store.address(2, [4, 4, 1], &rgb()).expect("small");
        assert_eq!(flat.start, 3 * 12 + 2 * 3);
        let solid = store.address(3, [4, 4, 2], &rgb()).expect("small");
        assert_eq!(solid.start, 48 + 3 * 12 + 6);
        assert_eq!(solid.end, solid.start + 48 + 3 * 12 + 12);
    }

    #[test]
    fn empty_images_touch_nothing_and_huge_ones_do_not_wrap() {
        assert_eq!(PixelStore::default().address(2, [0, 4, 1], &rgb()).expect("small").end, 0);
        let store = PixelStore { row_length: i32::MAX, skip_rows: i32::MAX, ..PixelStore::default() };
        let a = store.address(2, [1, 1, 1], &rgb()).expect("fits 64 bits");
        assert!(a.end > 1 << 62);
        let far = PixelStore { skip_images: i32::MAX, image_height: i32::MAX, ..store };
        assert!(far.address(3, [1, 1, 1], &rgb()).is_none());
    }
}
