//! Pixels as window systems want them.

/// Order of the four bytes of a pixel in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Blue first: what nearly every X server has.
    Bgra,
    /// Red first.
    Rgba,
}

/// Turns a row of RGBA pixels into one of a window, in place; `opaque` replaces alpha by one.
pub fn finish_row(row: &mut [u8], order: Order, opaque: bool) {
    let alpha = if opaque { 0xff00_0000u32 } else { 0 };
    match order {
        Order::Bgra => {
            for pixel in row.chunks_exact_mut(4) {
                let value = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
                pixel.copy_from_slice(&(swapped(value) | alpha).to_le_bytes());
            }
        }
        Order::Rgba if opaque => row.chunks_exact_mut(4).for_each(|pixel| pixel[3] = 0xff),
        Order::Rgba => {}
    }
}

/// Copies a row of RGBA pixels as one of a window, as far as both reach; `opaque` replaces alpha by one.
pub fn copy_row(target: &mut [u8], source: &[u8], order: Order, opaque: bool) {
    let alpha = if opaque { 0xff00_0000u32 } else { 0 };
    let pixels = target.chunks_exact_mut(4).zip(source.chunks_exact(4));
    match order {
        Order::Bgra => {
            for (target, pixel) in pixels {
                let value = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
                target.copy_from_slice(&(swapped(value) | alpha).to_le_bytes());
            }
        }
        Order::Rgba => {
            for (target, pixel) in pixels {
                let value = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
                target.copy_from_slice(&(value | alpha).to_le_bytes());
            }
        }
    }
}

/// A pixel with red and blue in each other's place.
fn swapped(value: u32) -> u32 {
    value & 0xff00_ff00 | value >> 16 & 0xff | (value & 0xff) << 16
}

/// Turns a picture of rows of `row` bytes upside down, in place, from RGBA pixels to those of a window.
#[cfg(all(target_os = "linux", feature = "wayland"))]
pub(crate) fn turn_over(picture: &mut [u8], row: usize, order: Order) {
    let rows = picture.len().checked_div(row).unwrap_or(0);
    for y in 0..rows / 2 {
        let (upper, lower) = picture.split_at_mut((rows - 1 - y) * row);
        let (upper, lower) = (&mut upper[y * row..(y + 1) * row], &mut lower[..row]);
        upper.swap_with_slice(lower);
        finish_row(upper, order, false);
        finish_row(lower, order, false);
    }
    if rows % 2 == 1 {
        finish_row(&mut picture[rows / 2 * row..][..row], order, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_reordered_and_made_opaque() {
        let row = [1, 2, 3, 4, 250, 251, 252, 253];
        let with = |order, opaque| {
            let mut copy = row;
            finish_row(&mut copy, order, opaque);
            copy
        };
        assert_eq!(with(Order::Bgra, false), [3, 2, 1, 4, 252, 251, 250, 253]);
        assert_eq!(with(Order::Bgra, true), [3, 2, 1, 255, 252, 251, 250, 255]);
        assert_eq!(with(Order::Rgba, true), [1, 2, 3, 255, 250, 251, 252, 255]);
        assert_eq!(with(Order::Rgba, false), row);
        for (order, opaque) in [Order::Bgra, Order::Rgba].into_iter().flat_map(|o| [(o, false), (o, true)]) {
            let mut copy = [0; 8];
            copy_row(&mut copy, &row, order, opaque);
            assert_eq!(copy, with(order, opaque), "{order:?} {opaque}");
        }
    }

    #[cfg(all(target_os = "linux", feature = "wayland"))]
    #[test]
    fn pictures_are_turned_over() {
        let mut picture: Vec<u8> = (0..24).collect();
        turn_over(&mut picture, 8, Order::Rgba);
        assert_eq!(
            picture[..],
            [&[16, 17, 18, 19, 20, 21, 22, 23, 8, 9][..], &[10, 11, 12, 13, 14, 15], &[0, 1, 2, 3, 4, 5, 6, 7]]
                .concat()
        );
        turn_over(&mut picture, 8, Order::Bgra);
        assert_eq!(picture[..4], [2, 1, 0, 3]);
        assert_eq!(picture[8..12], [10, 9, 8, 11]);
        assert_eq!(picture[20..], [22, 21, 20, 23]);
        turn_over(&mut [], 0, Order::Rgba);
    }
}
