//! Pure maps from pipe values to the driver's.

use mgpipe_types::gl;

/// Blend factor for a target whose alpha is one although its storage has alpha.
pub(crate) fn factor_without_alpha(factor: u32) -> u32 {
    match factor {
        gl::DST_ALPHA => gl::ONE,
        gl::ONE_MINUS_DST_ALPHA | gl::SRC_ALPHA_SATURATE => gl::ZERO,
        other => other,
    }
}

/// Type of indices of so many bytes.
pub(crate) fn index_type(size: u8) -> u32 {
    match size {
        1 => gl::UNSIGNED_BYTE,
        2 => gl::UNSIGNED_SHORT,
        _ => gl::UNSIGNED_INT,
    }
}

/// The float closest to a viewport's edge in whole pixels.
pub(crate) fn pixel(value: f32) -> i32 {
    value.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_alpha_reads_as_one() {
        assert_eq!(factor_without_alpha(gl::DST_ALPHA), gl::ONE);
        assert_eq!(factor_without_alpha(gl::ONE_MINUS_DST_ALPHA), gl::ZERO);
        assert_eq!(factor_without_alpha(gl::SRC_COLOR), gl::SRC_COLOR);
    }
}
