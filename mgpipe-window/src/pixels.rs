//! Pixels as X servers want them.

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
                let swapped = value & 0xff00_ff00 | value >> 16 & 0xff | (value & 0xff) << 16 | alpha;
                pixel.copy_from_slice(&swapped.to_le_bytes());
            }
        }
        Order::Rgba if opaque => row.chunks_exact_mut(4).for_each(|pixel| pixel[3] = 0xff),
        Order::Rgba => {}
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
    }
}
