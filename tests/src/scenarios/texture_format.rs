//! Texture formats: normalised, float, integer and sRGB storage, transfer conversions, swizzles.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("texture_formats_normalized", formats_normalized),
    Scenario::new("texture_formats_float", formats_float),
    Scenario::new("texture_formats_integer", formats_integer),
    Scenario::new("texture_srgb", srgb),
    Scenario::new("texture_swizzle", swizzle),
];

/// Uploads one texel, samples it into an RGBA32F target and returns what the shader saw.
unsafe fn sampled<T: bytemuck::NoUninit>(t: &Scene, internal: u32, format: u32, kind: u32, texel: &[T]) -> [f32; 4] {
    t.texture_of(1, 1, internal, format, kind, texel);
    t.fill();
    t.read_floats(1, 1)[0]
}

unsafe fn check_format<T: bytemuck::NoUninit>(
    t: &Scene,
    internal: u32,
    format: u32,
    kind: u32,
    texel: &[T],
    expected: [f32; 4],
    tolerance: f32,
) {
    let actual = sampled(t, internal, format, kind, texel);
    for c in 0..4 {
        t.near(
            actual[c],
            expected[c],
            tolerance,
            &format!("internal {internal:#x} format {format:#x} type {kind:#x} channel {c}"),
        );
    }
    t.no_error(&format!("upload {internal:#x} {format:#x} {kind:#x}"));
}

unsafe fn float_sampler(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
}

unsafe fn formats_normalized(t: &Scene) {
    float_sampler(t);
    let b = |v: u8| f32::from(v) / 255.0;
    check_format(t, gl::R8, gl::RED, gl::UNSIGNED_BYTE, &[51u8], [b(51), 0.0, 0.0, 1.0], 1e-4);
    check_format(t, gl::RG8, gl::RG, gl::UNSIGNED_BYTE, &[51u8, 204], [b(51), b(204), 0.0, 1.0], 1e-4);
    check_format(t, gl::RGB8, gl::RGB, gl::UNSIGNED_BYTE, &[51u8, 204, 7], [b(51), b(204), b(7), 1.0], 1e-4);
    check_format(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE, &[1u8, 2, 3, 4], [b(1), b(2), b(3), b(4)], 1e-4);
    check_format(t, gl::RGBA8, gl::BGRA, gl::UNSIGNED_BYTE, &[1u8, 2, 3, 4], [b(3), b(2), b(1), b(4)], 1e-4);
    // BGRA with the packed types, as little-endian words: 8_8_8_8 has blue in the top byte, REV in the lowest.
    check_format(t, gl::RGBA8, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, &[0x0102_0304u32], [b(3), b(2), b(1), b(4)], 1e-4);
    check_format(
        t,
        gl::RGBA8,
        gl::BGRA,
        gl::UNSIGNED_INT_8_8_8_8_REV,
        &[0x0102_0304u32],
        [b(2), b(3), b(4), b(1)],
        1e-4,
    );
    check_format(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_INT_8_8_8_8, &[0x0102_0304u32], [b(1), b(2), b(3), b(4)], 1e-4);
    check_format(
        t,
        gl::RGBA8,
        gl::RGBA,
        gl::UNSIGNED_INT_8_8_8_8_REV,
        &[0x0102_0304u32],
        [b(4), b(3), b(2), b(1)],
        1e-4,
    );
    // Conversion: components that the storage lacks are dropped, those that the data lacks are 0, 0, 1.
    check_format(t, gl::RGBA8, gl::RED, gl::UNSIGNED_BYTE, &[77u8], [b(77), 0.0, 0.0, 1.0], 1e-4);
    check_format(t, gl::RG8, gl::RGBA, gl::UNSIGNED_BYTE, &[9u8, 8, 7, 6], [b(9), b(8), 0.0, 1.0], 1e-4);
    check_format(t, gl::RGBA8, gl::RGBA, gl::FLOAT, &[0.5f32, 2.0, -1.0, 1.0], [0.5, 1.0, 0.0, 1.0], 0.003);
    check_format(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_SHORT, &[65535u16, 0, 32768, 65535], [1.0, 0.0, 0.5, 1.0], 0.003);
    check_format(
        t,
        gl::RGB565,
        gl::RGB,
        gl::UNSIGNED_SHORT_5_6_5,
        &[0x8410u16],
        [16.0 / 31.0, 32.0 / 63.0, 16.0 / 31.0, 1.0],
        0.002,
    );
    check_format(
        t,
        gl::RGB5_A1,
        gl::RGBA,
        gl::UNSIGNED_SHORT_5_5_5_1,
        &[0x8421u16],
        [16.0 / 31.0, 16.0 / 31.0, 16.0 / 31.0, 1.0],
        0.002,
    );
    check_format(
        t,
        gl::RGBA4,
        gl::RGBA,
        gl::UNSIGNED_SHORT_4_4_4_4,
        &[0x1234u16],
        [1.0 / 15.0, 2.0 / 15.0, 3.0 / 15.0, 4.0 / 15.0],
        0.002,
    );
    check_format(
        t,
        gl::RGB10_A2,
        gl::RGBA,
        gl::UNSIGNED_INT_2_10_10_10_REV,
        &[0x8000_0000u32 | (1023 << 20) | (512 << 10) | 1],
        [1.0 / 1023.0, 512.0 / 1023.0, 1.0, 2.0 / 3.0],
        1e-4,
    );
    check_format(
        t,
        gl::R16,
        gl::RED,
        gl::UNSIGNED_SHORT,
        &[0x4000u16],
        [f32::from(0x4000u16) / 65535.0, 0.0, 0.0, 1.0],
        1e-5,
    );
    check_format(
        t,
        gl::RGBA16,
        gl::RGBA,
        gl::UNSIGNED_SHORT,
        &[1u16, 1000, 65535, 30000],
        [1.0 / 65535.0, 1000.0 / 65535.0, 1.0, 30000.0 / 65535.0],
        1e-6,
    );
    check_format(t, gl::R8_SNORM, gl::RED, gl::BYTE, &[-127i8], [-1.0, 0.0, 0.0, 1.0], 1e-4);
    check_format(
        t,
        gl::RGBA8_SNORM,
        gl::RGBA,
        gl::BYTE,
        &[-128i8, -64, 64, 127],
        [-1.0, -64.0 / 127.0, 64.0 / 127.0, 1.0],
        1e-3,
    );
    check_format(t, gl::RG16_SNORM, gl::RG, gl::SHORT, &[-32767i16, 16384], [-1.0, 16384.0 / 32767.0, 0.0, 1.0], 1e-4);
}

unsafe fn formats_float(t: &Scene) {
    float_sampler(t);
    check_format(t, gl::R32F, gl::RED, gl::FLOAT, &[-1234.5f32], [-1234.5, 0.0, 0.0, 1.0], 0.0);
    check_format(t, gl::RG32F, gl::RG, gl::FLOAT, &[1e20f32, -1e-20], [1e20, -1e-20, 0.0, 1.0], 0.0);
    check_format(t, gl::RGB32F, gl::RGB, gl::FLOAT, &[1.5f32, 2.5, -3.5], [1.5, 2.5, -3.5, 1.0], 0.0);
    check_format(t, gl::RGBA32F, gl::RGBA, gl::FLOAT, &[1.0f32, -2.0, 3.0, -4.0], [1.0, -2.0, 3.0, -4.0], 0.0);
    check_format(t, gl::R16F, gl::RED, gl::HALF_FLOAT, &[0xc000u16], [-2.0, 0.0, 0.0, 1.0], 0.0);
    check_format(
        t,
        gl::RGBA16F,
        gl::RGBA,
        gl::FLOAT,
        &[0.5f32, 1024.0, -0.25, 65504.0],
        [0.5, 1024.0, -0.25, 65504.0],
        0.0,
    );
    check_format(t, gl::RGB16F, gl::RGB, gl::FLOAT, &[0.5f32, 2.0, -0.25], [0.5, 2.0, -0.25, 1.0], 0.0);
    check_format(t, gl::R11F_G11F_B10F, gl::RGB, gl::FLOAT, &[0.5f32, 2.0, 4.0], [0.5, 2.0, 4.0, 1.0], 0.0);
    check_format(
        t,
        gl::R11F_G11F_B10F,
        gl::RGB,
        gl::UNSIGNED_INT_10F_11F_11F_REV,
        &[0x3c0u32 | (0x400 << 11) | (0x1c0 << 22)],
        [1.0, 2.0, 0.5, 1.0],
        0.0,
    );
    check_format(t, gl::RGB9_E5, gl::RGB, gl::FLOAT, &[0.5f32, 1.0, 0.25], [0.5, 1.0, 0.25, 1.0], 0.0);
    // A shared exponent of 16 scales the 9-bit mantissas by 2^(16 - 15 - 9).
    check_format(
        t,
        gl::RGB9_E5,
        gl::RGB,
        gl::UNSIGNED_INT_5_9_9_9_REV,
        &[(16u32 << 27) | (64 << 18) | (128 << 9) | 256],
        [1.0, 0.5, 0.25, 1.0],
        0.0,
    );
    check_format(t, gl::RGBA32F, gl::RGBA, gl::UNSIGNED_BYTE, &[255u8, 0, 51, 255], [1.0, 0.0, 0.2, 1.0], 1e-5);
}

unsafe fn formats_integer(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32UI);
    let unsigned = t.program(
        FULL_VS,
        "uniform usampler2D image; in vec2 uv; out uvec4 result; void main() { result = texture(image, uv); }",
    );
    let signed = t.program(
        FULL_VS,
        "uniform isampler2D image; in vec2 uv; out uvec4 result; void main() { result = uvec4(texture(image, uv)); }",
    );
    t.vertex_array();
    let look = |program, what: &str, expected: [i64; 4]| {
        t.use_program(Some(program));
        t.fill();
        let v = t.read_as::<[u32; 4]>(1, 1, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 1)[0];
        t.equal(v, expected.map(|e| e as u32), what);
    };
    t.texture_of(1, 1, gl::R8UI, gl::RED_INTEGER, gl::UNSIGNED_BYTE, &[200u8]);
    look(unsigned, "R8UI", [200, 0, 0, 1]);
    t.texture_of(1, 1, gl::RG8I, gl::RG_INTEGER, gl::BYTE, &[-100i8, 100]);
    look(signed, "RG8I", [-100, 100, 0, 1]);
    t.texture_of(1, 1, gl::RGB8UI, gl::RGB_INTEGER, gl::UNSIGNED_BYTE, &[1u8, 2, 3]);
    look(unsigned, "RGB8UI", [1, 2, 3, 1]);
    t.texture_of(1, 1, gl::RGBA16UI, gl::RGBA_INTEGER, gl::UNSIGNED_SHORT, &[1u16, 60000, 3, 4]);
    look(unsigned, "RGBA16UI", [1, 60000, 3, 4]);
    t.texture_of(1, 1, gl::R32I, gl::RED_INTEGER, gl::INT, &[i32::MIN]);
    look(signed, "R32I", [i64::from(i32::MIN), 0, 0, 1]);
    t.texture_of(1, 1, gl::RGBA32UI, gl::RGBA_INTEGER, gl::UNSIGNED_INT, &[u32::MAX, 1, 0x8000_0000, 7]);
    look(unsigned, "RGBA32UI", [0xffff_ffff, 1, 0x8000_0000, 7]);
    t.texture_of(
        1,
        1,
        gl::RGB10_A2UI,
        gl::RGBA_INTEGER,
        gl::UNSIGNED_INT_2_10_10_10_REV,
        &[(2u32 << 30) | (1000 << 20) | (500 << 10) | 3],
    );
    look(unsigned, "RGB10_A2UI", [3, 500, 1000, 2]);
    t.texture_of(1, 1, gl::RGBA8UI, gl::RGBA_INTEGER, gl::UNSIGNED_BYTE, &[9u8, 8, 7, 6]);
    look(unsigned, "RGBA8UI", [9, 8, 7, 6]);
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8UI as i32,
        1,
        1,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[9, 8, 7, 6])),
    );
    t.error(gl::INVALID_OPERATION, "an integer format takes integer data only");
}

unsafe fn srgb(t: &Scene) {
    // Devices decode with 8 bits of fraction or more: NVIDIA's gives 0.953 for 250/255, which is 0.956.
    const STEP: f32 = 0.004;
    float_sampler(t);
    let decode = |v: u8| {
        let v = f32::from(v) / 255.0;
        if v <= 0.040_45 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    for v in [0u8, 5, 10, 60, 128, 200, 255] {
        check_format(
            t,
            gl::SRGB8_ALPHA8,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            &[v, 255 - v, 0, v],
            [decode(v), decode(255 - v), 0.0, f32::from(v) / 255.0],
            STEP,
        );
        check_format(
            t,
            gl::SRGB8,
            gl::RGB,
            gl::UNSIGNED_BYTE,
            &[v, 255 - v, 0],
            [decode(v), decode(255 - v), 0.0, 1.0],
            STEP,
        );
    }
    // Linear filtering happens after decoding.
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::SRGB8_ALPHA8 as i32,
        2,
        1,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[0, 0, 0, 255, 255, 255, 255, 255])),
    );
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
    t.fill();
    t.near(t.read_floats(1, 1)[0][0], 0.5, 0.01, "halfway between black and white");
}

unsafe fn swizzle(t: &Scene) {
    t.target(4, 4);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.texture(1, 1, &[[10, 20, 30, 40]]);
    let set = |s: [u32; 4]| {
        for (i, v) in s.into_iter().enumerate() {
            t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R + i as u32, v as i32);
        }
    };
    for (s, expected) in [
        ([gl::BLUE, gl::GREEN, gl::RED, gl::ALPHA], [30, 20, 10, 40]),
        ([gl::ALPHA, gl::ALPHA, gl::ONE, gl::ZERO], [40, 40, 255, 0]),
        ([gl::ZERO, gl::RED, gl::RED, gl::ONE], [0, 10, 10, 255]),
        ([gl::RED, gl::GREEN, gl::BLUE, gl::ALPHA], [10, 20, 30, 40]),
    ] {
        set(s);
        t.fill();
        t.pixel(&t.read(4, 4), 1, 1, expected, 0, &format!("swizzle {s:x?}"));
    }
    // The swizzle applies to the format's own expansion: ALPHA of an R8 texture is 1.
    t.texture_of(1, 1, gl::R8, gl::RED, gl::UNSIGNED_BYTE, &[99u8]);
    t.tex_parameter_i32_slice(
        gl::TEXTURE_2D,
        gl::TEXTURE_SWIZZLE_RGBA,
        &[gl::ONE, gl::RED, gl::ALPHA, gl::RED].map(|v| v as i32),
    );
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [255, 99, 255, 99], 0, "swizzle of R8");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R, gl::NEAREST as i32);
    t.error(gl::INVALID_ENUM, "a swizzle that is none");
}
