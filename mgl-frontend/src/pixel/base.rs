//! How the components of a GL base format map to the components of its storage.

use super::codec::Row;
use crate::format::Base;

/// Where a component comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Component of the other side.
    Component(u8),
    /// Zero.
    Zero,
    /// One.
    One,
}

use Source::{Component, One, Zero};

/// Source of each storage component, in terms of the pixel's red, green, blue and alpha.
pub fn to_storage(base: Base) -> [Source; 4] {
    match base {
        Base::Red | Base::Luminance | Base::Intensity => [Component(0), Zero, Zero, One],
        Base::Rg => [Component(0), Component(1), Zero, One],
        Base::Rgb => [Component(0), Component(1), Component(2), One],
        Base::Alpha => [Component(3), Zero, Zero, One],
        Base::LuminanceAlpha => [Component(0), Component(3), Zero, One],
        _ => [Component(0), Component(1), Component(2), Component(3)],
    }
}

/// Source of each of the pixel's components when storage is read back (GL 3.3 table 6.1).
pub fn from_storage(base: Base) -> [Source; 4] {
    match base {
        Base::Red | Base::Luminance | Base::Intensity => [Component(0), Zero, Zero, One],
        Base::Rg => [Component(0), Component(1), Zero, One],
        Base::Rgb => [Component(0), Component(1), Component(2), One],
        Base::Alpha => [Zero, Zero, Zero, Component(0)],
        Base::LuminanceAlpha => [Component(0), Zero, Zero, Component(1)],
        _ => [Component(0), Component(1), Component(2), Component(3)],
    }
}

fn pick<T: Copy>(pixel: [T; 4], source: Source, zero: T, one: T) -> T {
    match source {
        Component(i) => pixel[i as usize & 3],
        Zero => zero,
        One => one,
    }
}

/// Rearranges a row's components.
pub fn rearrange(row: &mut Row, sources: [Source; 4]) {
    if sources == [Component(0), Component(1), Component(2), Component(3)] {
        return;
    }
    match row {
        Row::Color(pixels) => {
            for pixel in pixels {
                *pixel = sources.map(|s| pick(*pixel, s, 0.0, 1.0));
            }
        }
        Row::Integer(pixels) => {
            for pixel in pixels {
                *pixel = sources.map(|s| pick(*pixel, s, 0, 1));
            }
        }
        Row::DepthStencil(_) => {}
    }
}
