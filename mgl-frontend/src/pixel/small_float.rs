//! The small float formats: 10- and 11-bit floats without sign, and three mantissas with a shared exponent.

/// Decodes a float of 5 exponent bits and `mantissa_bits` mantissa bits without sign.
fn decode_unsigned(bits: u32, mantissa_bits: u32) -> f32 {
    let mantissa = (bits & ((1 << mantissa_bits) - 1)) as f32;
    let exponent = (bits >> mantissa_bits & 0x1f) as i32;
    let scale = (1u32 << mantissa_bits) as f32;
    match exponent {
        0 => mantissa / scale * 2f32.powi(-14),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + mantissa / scale) * 2f32.powi(exponent - 15),
    }
}

/// Encodes by rounding to nearest; negative values become 0, values beyond the largest finite one become it (the
/// specification allows either), infinities and NaN stay.
fn encode_unsigned(value: f32, mantissa_bits: u32) -> u32 {
    let infinity = 31 << mantissa_bits;
    if value.is_nan() {
        return infinity | 1;
    }
    if value <= 0.0 {
        return 0;
    }
    if value == f32::INFINITY {
        return infinity;
    }
    let scale = f64::from(1u32 << mantissa_bits);
    let value = f64::from(value);
    let tiny = 2f64.powi(-14);
    let bits = if value < tiny {
        // A denormal that rounds up to `scale` is exactly the encoding of the smallest normal number.
        (value / tiny * scale).round() as u32
    } else {
        let exponent = value.log2().floor().min(15.0) as i32;
        // log2 may land on the wrong side of a power of two; the mantissa below then leaves [1, 2) and is corrected.
        let exponent = if value < 2f64.powi(exponent) { exponent - 1 } else { exponent };
        let mantissa = ((value / 2f64.powi(exponent) - 1.0) * scale).round() as u32;
        // A mantissa that rounds up to `scale` carries into the exponent by the addition.
        ((exponent + 15) as u32) * (1 << mantissa_bits) + mantissa
    };
    bits.min(infinity - 1)
}

/// `GL_R11F_G11F_B10F`, red lowest.
pub fn decode_r11g11b10(word: u32) -> [f32; 3] {
    [decode_unsigned(word & 0x7ff, 6), decode_unsigned(word >> 11 & 0x7ff, 6), decode_unsigned(word >> 22, 5)]
}

/// Inverse of [`decode_r11g11b10`].
pub fn encode_r11g11b10(rgb: [f32; 3]) -> u32 {
    encode_unsigned(rgb[0], 6) | encode_unsigned(rgb[1], 6) << 11 | encode_unsigned(rgb[2], 5) << 22
}

/// `GL_RGB9_E5`, red lowest.
pub fn decode_rgb9e5(word: u32) -> [f32; 3] {
    let scale = 2f32.powi((word >> 27) as i32 - 15 - 9);
    [0, 9, 18].map(|low| (word >> low & 0x1ff) as f32 * scale)
}

/// Inverse of [`decode_rgb9e5`] (GL 3.3 section 3.9.1, "RGB9_E5").
pub fn encode_rgb9e5(rgb: [f32; 3]) -> u32 {
    const LARGEST: f32 = 511.0 / 512.0 * 65536.0;
    let clamped = rgb.map(|c| if c.is_nan() { 0.0 } else { c.clamp(0.0, LARGEST) });
    let max = clamped[0].max(clamped[1]).max(clamped[2]);
    let floor = if max > 0.0 { f64::from(max).log2().floor() as i32 } else { -16 };
    let mut exponent = floor.max(-16) + 1 + 15;
    let steps = |value: f32, exponent: i32| (f64::from(value) / 2f64.powi(exponent - 15 - 9) + 0.5).floor() as u32;
    if steps(max, exponent) == 512 {
        exponent += 1;
    }
    let [r, g, b] = clamped.map(|c| steps(c, exponent).min(511));
    r | g << 9 | b << 18 | (exponent as u32 & 0x1f) << 27
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_float_survives_a_round_trip() {
        for (mantissa, count) in [(6, 1 << 11), (5, 1 << 10)] {
            for bits in 0..count {
                let value = decode_unsigned(bits, mantissa);
                if !value.is_nan() {
                    assert_eq!(encode_unsigned(value, mantissa), bits, "{value}");
                }
            }
        }
        assert_eq!(encode_unsigned(-3.0, 6), 0);
        assert_eq!(decode_unsigned(encode_unsigned(1e9, 6), 6), 65024.0);
        assert!(decode_unsigned(encode_unsigned(f32::NAN, 6), 6).is_nan());
    }

    #[test]
    fn shared_exponents_keep_nine_bits() {
        for rgb in [[1.0, 0.5, 0.25], [65408.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1e-7, 0.3, 2.0]] {
            let back = decode_rgb9e5(encode_rgb9e5(rgb));
            let max = rgb.iter().copied().fold(0.0f32, f32::max);
            for (a, b) in rgb.iter().zip(back) {
                assert!((a - b).abs() <= max / 511.0, "{rgb:?} {back:?}");
            }
        }
        assert_eq!(decode_rgb9e5(encode_rgb9e5([f32::NAN, -1.0, 1e10])), [0.0, 0.0, 65408.0]);
    }
}
