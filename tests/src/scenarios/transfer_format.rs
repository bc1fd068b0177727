//! Texture formats there and back: every class of internal format uploaded, updated in part and read again.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("format_normalized_there_and_back", normalized),
    Scenario::new("format_signed_normalized_there_and_back", signed_normalized),
    Scenario::new("format_float_there_and_back", float),
    Scenario::new("format_integer_there_and_back", integer),
    Scenario::new("format_packed_there_and_back", packed),
    Scenario::new("format_depth_there_and_back", depth),
    Scenario::new("format_srgb_there_and_back", srgb),
    Scenario::new("format_few_bits", few_bits),
    Scenario::new("format_unsized", unsized_formats),
    Scenario::new("format_level_parameters", level_parameters),
    Scenario::new("format_rgtc_blocks", rgtc_blocks),
    Scenario::new("format_s3tc_blocks", s3tc_blocks),
    Scenario::new("format_compressed_on_upload", compressed_on_upload),
    Scenario::new("format_compressed_errors", compressed_errors),
];

const SIZE: usize = 6;

/// Uploads six texels of a 3 x 2 texture, replaces one of them and reads everything back, bit by bit.
unsafe fn there_and_back(t: &Scene, internal: u32, format: u32, kind: u32, texels: &[u8], what: &str) {
    let bytes = texels.len() / SIZE;
    t.texture_name(gl::TEXTURE_2D);
    t.image(gl::TEXTURE_2D, 0, internal, [3, 2, 1], (format, kind), Some(texels));
    t.no_error(&format!("{what}: upload"));
    let read = || t.texels::<u8>(gl::TEXTURE_2D, 0, format, kind, texels.len());
    t.equal(read().as_slice(), texels, &format!("{what}: read back"));
    let last = &texels[5 * bytes..];
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 1, 0, 1, 1, format, kind, gl::PixelUnpackData::Slice(Some(last)));
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
    let mut expected = texels.to_vec();
    expected[bytes..2 * bytes].copy_from_slice(last);
    t.equal(read(), expected, &format!("{what}: after a sub-image"));
    t.no_error(what);
}

/// Bytes without a pattern that a mistake in addressing would keep.
fn noise(n: usize) -> Vec<u8> {
    (0..n as u32).map(|i| (i * 73 + 19 + i * i * 5) as u8).collect()
}

unsafe fn normalized(t: &Scene) {
    for (format, n, eight, sixteen) in [
        (gl::RED, 1, gl::R8, gl::R16),
        (gl::RG, 2, gl::RG8, gl::RG16),
        (gl::RGB, 3, gl::RGB8, gl::RGB16),
        (gl::RGBA, 4, gl::RGBA8, gl::RGBA16),
    ] {
        there_and_back(t, eight, format, gl::UNSIGNED_BYTE, &noise(SIZE * n), &format!("8 bits, {n} components"));
        there_and_back(
            t,
            sixteen,
            format,
            gl::UNSIGNED_SHORT,
            &noise(SIZE * n * 2),
            &format!("16 bits, {n} components"),
        );
    }
    there_and_back(t, gl::RGBA8, gl::BGRA, gl::UNSIGNED_BYTE, &noise(SIZE * 4), "RGBA8 as BGRA");
    there_and_back(t, gl::RGB8, gl::BGR, gl::UNSIGNED_BYTE, &noise(SIZE * 3), "RGB8 as BGR");
    there_and_back(t, gl::RGBA8, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, &noise(SIZE * 4), "RGBA8 as BGRA 8_8_8_8");
    there_and_back(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_INT_8_8_8_8_REV, &noise(SIZE * 4), "RGBA8 as 8_8_8_8_REV");
}

unsafe fn signed_normalized(t: &Scene) {
    // The most negative number means -1 like its neighbour, so it does not survive; it is left out.
    let eight = |n: usize| noise(n).into_iter().map(|b| if b == 0x80 { 1 } else { b }).collect::<Vec<u8>>();
    let sixteen = |n: usize| {
        let words = noise(n * 2).chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]]).max(-32767)).collect::<Vec<_>>();
        bytemuck::cast_slice::<i16, u8>(&words).to_vec()
    };
    for (format, n, small, large) in [
        (gl::RED, 1, gl::R8_SNORM, gl::R16_SNORM),
        (gl::RG, 2, gl::RG8_SNORM, gl::RG16_SNORM),
        (gl::RGB, 3, gl::RGB8_SNORM, gl::RGB16_SNORM),
        (gl::RGBA, 4, gl::RGBA8_SNORM, gl::RGBA16_SNORM),
    ] {
        there_and_back(t, small, format, gl::BYTE, &eight(SIZE * n), &format!("8 bits, {n} components"));
        there_and_back(t, large, format, gl::SHORT, &sixteen(SIZE * n), &format!("16 bits, {n} components"));
    }
}

unsafe fn float(t: &Scene) {
    let values = [0.0f32, -1.5, 1024.0, 1e-3, -65504.0, 0.333_251_95, 7.0, -0.0];
    // The same values as half floats.
    let halves = [0u16, 0xbe00, 0x6400, 0x1419, 0xfbff, 0x3555, 0x4700, 0x8000];
    for (format, n, half, single) in [
        (gl::RED, 1, gl::R16F, gl::R32F),
        (gl::RG, 2, gl::RG16F, gl::RG32F),
        (gl::RGB, 3, gl::RGB16F, gl::RGB32F),
        (gl::RGBA, 4, gl::RGBA16F, gl::RGBA32F),
    ] {
        let f: Vec<f32> = (0..SIZE * n).map(|i| values[(i * 5 + i / 8) % 8]).collect();
        let h: Vec<u16> = (0..SIZE * n).map(|i| halves[(i * 5 + i / 8) % 8]).collect();
        there_and_back(t, single, format, gl::FLOAT, bytemuck::cast_slice(&f), &format!("32 bits, {n} components"));
        there_and_back(t, half, format, gl::HALF_FLOAT, bytemuck::cast_slice(&h), &format!("16 bits, {n} components"));
        // A half-float texture read as floats is exact.
        let read = t.texels::<f32>(gl::TEXTURE_2D, 0, format, gl::FLOAT, SIZE * n);
        // The second texel is the one that the sub-image replaced.
        for (a, e) in read.iter().zip(&f).skip(2 * n) {
            t.near(*a, *e, (e.abs() * 0.001).max(1e-6), &format!("{n} half floats as floats"));
        }
    }
    // Infinities survive.
    let odd = [f32::INFINITY, f32::NEG_INFINITY, 1.0, 2.0, 3.0, 4.0];
    there_and_back(t, gl::R32F, gl::RED, gl::FLOAT, bytemuck::cast_slice(&odd), "infinities");
}

unsafe fn integer(t: &Scene) {
    for (format, n, internals) in [
        (gl::RED_INTEGER, 1, [gl::R8UI, gl::R8I, gl::R16UI, gl::R16I, gl::R32UI, gl::R32I]),
        (gl::RG_INTEGER, 2, [gl::RG8UI, gl::RG8I, gl::RG16UI, gl::RG16I, gl::RG32UI, gl::RG32I]),
        (gl::RGB_INTEGER, 3, [gl::RGB8UI, gl::RGB8I, gl::RGB16UI, gl::RGB16I, gl::RGB32UI, gl::RGB32I]),
        (gl::RGBA_INTEGER, 4, [gl::RGBA8UI, gl::RGBA8I, gl::RGBA16UI, gl::RGBA16I, gl::RGBA32UI, gl::RGBA32I]),
    ] {
        let kinds = [gl::UNSIGNED_BYTE, gl::BYTE, gl::UNSIGNED_SHORT, gl::SHORT, gl::UNSIGNED_INT, gl::INT];
        for (i, (internal, kind)) in internals.into_iter().zip(kinds).enumerate() {
            let bytes = SIZE * n * (1 << (i / 2));
            there_and_back(t, internal, format, kind, &noise(bytes), &format!("{internal:#x}, {n} components"));
        }
    }
    there_and_back(t, gl::RGBA8UI, gl::BGRA_INTEGER, gl::UNSIGNED_BYTE, &noise(SIZE * 4), "BGRA_INTEGER");
    // A wider type keeps the values: bytes uploaded, read as 32-bit numbers.
    t.texture_name(gl::TEXTURE_2D);
    let size = [2, 1, 1];
    t.image(gl::TEXTURE_2D, 0, gl::RG8I, size, (gl::RG_INTEGER, gl::BYTE), Some(&[-7i8, 9, 127, -128]));
    let v = t.texels::<[i32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA_INTEGER, gl::INT, 2);
    t.equal(v, vec![[-7, 9, 0, 1], [127, -128, 0, 1]], "RG8I as RGBA_INTEGER INT");
    let v = t.texels::<i16>(gl::TEXTURE_2D, 0, gl::GREEN_INTEGER, gl::SHORT, 2);
    t.equal(v, vec![9, -128], "GREEN_INTEGER of RG8I");
    t.image(gl::TEXTURE_2D, 0, gl::RGBA16UI, size, (gl::RED_INTEGER, gl::UNSIGNED_INT), Some(&[60000u32, 3]));
    let v = t.texels::<[u16; 4]>(gl::TEXTURE_2D, 0, gl::RGBA_INTEGER, gl::UNSIGNED_SHORT, 2);
    t.equal(v, vec![[60000, 0, 0, 1], [3, 0, 0, 1]], "RED_INTEGER into RGBA16UI");
}

unsafe fn packed(t: &Scene) {
    let words: Vec<u32> = noise(SIZE * 4).chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let bytes = bytemuck::cast_slice::<u32, u8>;
    let ten = gl::UNSIGNED_INT_2_10_10_10_REV;
    there_and_back(t, gl::RGB10_A2, gl::RGBA, ten, bytes(&words), "RGB10_A2");
    there_and_back(t, gl::RGB10_A2UI, gl::RGBA_INTEGER, ten, bytes(&words), "RGB10_A2UI");
    // Exponents of all ones (infinity, no number) are left out.
    let small: Vec<u32> = words.iter().map(|w| w & !(0x10 << 6 | 0x10 << 17 | 0x10 << 27)).collect();
    there_and_back(t, gl::R11F_G11F_B10F, gl::RGB, gl::UNSIGNED_INT_10F_11F_11F_REV, bytes(&small), "R11F_G11F_B10F");
    // Of several ways to write a colour with a shared exponent, the one with a mantissa above half is kept.
    let canonical: Vec<u32> = words.iter().map(|w| w & 0x07ff_ffff | 0x100 | 13 << 27).collect();
    there_and_back(t, gl::RGB9_E5, gl::RGB, gl::UNSIGNED_INT_5_9_9_9_REV, bytes(&canonical), "RGB9_E5");
}

unsafe fn depth(t: &Scene) {
    let d = gl::DEPTH_COMPONENT;
    there_and_back(t, gl::DEPTH_COMPONENT16, d, gl::UNSIGNED_SHORT, &noise(SIZE * 2), "DEPTH_COMPONENT16");
    let values: Vec<f32> = noise(SIZE).iter().map(|b| f32::from(*b) / 256.0).collect();
    there_and_back(t, gl::DEPTH_COMPONENT32F, d, gl::FLOAT, bytemuck::cast_slice(&values), "DEPTH_COMPONENT32F");
    let words = noise(SIZE * 4);
    there_and_back(t, gl::DEPTH24_STENCIL8, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, &words, "DEPTH24_STENCIL8");
    let pairs: Vec<[u32; 2]> = values.iter().zip(noise(SIZE)).map(|(v, s)| [v.to_bits(), u32::from(s)]).collect();
    there_and_back(
        t,
        gl::DEPTH32F_STENCIL8,
        gl::DEPTH_STENCIL,
        gl::FLOAT_32_UNSIGNED_INT_24_8_REV,
        bytemuck::cast_slice(&pairs),
        "DEPTH32F_STENCIL8",
    );
    // Every depth format from every type, and one aspect of two read alone.
    for internal in [
        gl::DEPTH_COMPONENT16,
        gl::DEPTH_COMPONENT24,
        gl::DEPTH_COMPONENT32F,
        gl::DEPTH24_STENCIL8,
        gl::DEPTH32F_STENCIL8,
    ] {
        let stencil = matches!(internal, gl::DEPTH24_STENCIL8 | gl::DEPTH32F_STENCIL8);
        t.texture_name(gl::TEXTURE_2D);
        if stencil {
            let kind = gl::UNSIGNED_INT_24_8;
            let texels = [0x8000_0011u32, 0xffff_ff22];
            t.image(gl::TEXTURE_2D, 0, internal, [2, 1, 1], (gl::DEPTH_STENCIL, kind), Some(&texels));
            let v = t.texels::<u32>(gl::TEXTURE_2D, 0, gl::DEPTH_STENCIL, kind, 2);
            t.equal([v[0] & 0xff, v[1] & 0xff], [0x11, 0x22], &format!("{internal:#x}: stencil"));
        } else {
            t.image(gl::TEXTURE_2D, 0, internal, [2, 1, 1], (d, gl::FLOAT), Some(&[0.5f32, 1.0]));
        }
        let v = t.texels::<f32>(gl::TEXTURE_2D, 0, d, gl::FLOAT, 2);
        t.near(v[0], 0.5, 1e-4, &format!("{internal:#x} as floats"));
        t.near(v[1], 1.0, 0.0, &format!("{internal:#x} as floats, the greatest"));
        let v = t.texels::<u32>(gl::TEXTURE_2D, 0, d, gl::UNSIGNED_INT, 2);
        t.check(v[0].abs_diff(0x8000_0000) < 0x2_0000 && v[1] == u32::MAX, format!("{internal:#x} as ints: {v:x?}"));
        let v = t.texels::<u16>(gl::TEXTURE_2D, 0, d, gl::UNSIGNED_SHORT, 2);
        t.check(v[0].abs_diff(0x8000) <= 1 && v[1] == u16::MAX, format!("{internal:#x} as shorts: {v:x?}"));
    }
    // Values outside 0 to 1 are clamped for fixed-point depth.
    t.image(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT24, [2, 1, 1], (d, gl::FLOAT), Some(&[-3.0f32, 4.0]));
    t.equal(t.texels::<f32>(gl::TEXTURE_2D, 0, d, gl::FLOAT, 2), vec![0.0, 1.0], "clamped");
}

unsafe fn srgb(t: &Scene) {
    // Uploads and read-backs never convert.
    there_and_back(t, gl::SRGB8, gl::RGB, gl::UNSIGNED_BYTE, &noise(SIZE * 3), "SRGB8");
    there_and_back(t, gl::SRGB8_ALPHA8, gl::RGBA, gl::UNSIGNED_BYTE, &noise(SIZE * 4), "SRGB8_ALPHA8");
    there_and_back(t, gl::SRGB8_ALPHA8, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, &noise(SIZE * 4), "as BGRA");
}

unsafe fn few_bits(t: &Scene) {
    // Formats of few or odd bits may be stored with more: within half a step of what was asked for.
    let texel = [0.9f32, 0.35, 0.6, 0.7];
    for (internal, bits) in [
        (gl::R3_G3_B2, [3, 3, 2, 0]),
        (gl::RGB4, [4, 4, 4, 0]),
        (gl::RGB5, [5, 5, 5, 0]),
        (gl::RGB10, [10, 10, 10, 0]),
        (gl::RGB12, [12, 12, 12, 0]),
        (gl::RGBA2, [2, 2, 2, 2]),
        (gl::RGBA4, [4, 4, 4, 4]),
        (gl::RGB5_A1, [5, 5, 5, 1]),
        (gl::RGBA12, [12, 12, 12, 12]),
    ] {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [1, 1, 1], (gl::RGBA, gl::FLOAT), Some(&texel));
        t.no_error(&format!("{internal:#x}"));
        let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, 1)[0];
        for c in 0..4 {
            let expected = if bits[c] == 0 { 1.0 } else { texel[c] };
            let step = if bits[c] == 0 { 0.0 } else { 0.51 / ((1 << bits[c]) - 1) as f32 };
            t.near(v[c], expected, step.max(1e-6), &format!("{internal:#x} channel {c}"));
        }
    }
}

unsafe fn unsized_formats(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    for (internal, channels) in [
        (gl::RED, 1usize),
        (gl::RG, 2),
        (gl::RGB, 3),
        (gl::RGBA, 4),
        (gl::COMPRESSED_RED, 1),
        (gl::COMPRESSED_RG, 2),
        (gl::COMPRESSED_RGB, 3),
        (gl::COMPRESSED_RGBA, 4),
    ] {
        t.texture_name(gl::TEXTURE_2D);
        let texels = [[51u8, 102, 153, 204]; 16];
        t.image(gl::TEXTURE_2D, 0, internal, [4, 4, 1], (gl::RGBA, gl::UNSIGNED_BYTE), Some(&texels));
        t.no_error(&format!("{internal:#x}"));
        t.fill();
        let v = t.read_floats(1, 1)[0];
        for c in 0..4 {
            let expected = if c < channels { [0.2, 0.4, 0.6, 0.8][c] } else { f32::from(u8::from(c == 3)) };
            t.near(v[c], expected, 0.03, &format!("{internal:#x} channel {c}"));
        }
    }
    for (internal, format, kind) in [
        (gl::DEPTH_COMPONENT, gl::DEPTH_COMPONENT, gl::FLOAT),
        (gl::DEPTH_STENCIL, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8),
    ] {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [1, 1, 1], (format, kind), Some(&[0x3f00_0000u32]));
        let v = t.texels::<f32>(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0];
        let expected = if internal == gl::DEPTH_STENCIL { 63.0 / 256.0 } else { 0.5 };
        t.near(v, expected, 1e-4, &format!("{internal:#x}"));
    }
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::SRGB, [1, 1, 1], (gl::RGB, gl::UNSIGNED_BYTE), Some(&[188, 0, 255]));
    t.fill();
    t.near(t.read_floats(1, 1)[0][0], 0.5, 0.01, "SRGB is decoded");
}

unsafe fn level_parameters(t: &Scene) {
    let sizes = [
        gl::TEXTURE_RED_SIZE,
        gl::TEXTURE_GREEN_SIZE,
        gl::TEXTURE_BLUE_SIZE,
        gl::TEXTURE_ALPHA_SIZE,
        gl::TEXTURE_DEPTH_SIZE,
        gl::TEXTURE_STENCIL_SIZE,
        gl::TEXTURE_SHARED_SIZE,
    ];
    let types = [gl::TEXTURE_RED_TYPE, gl::TEXTURE_GREEN_TYPE, gl::TEXTURE_ALPHA_TYPE, gl::TEXTURE_DEPTH_TYPE];
    let unorm = 0x8C17;
    for (internal, transfer, bits, kinds) in [
        (gl::RGBA8, (gl::RGBA, gl::UNSIGNED_BYTE), [8, 8, 8, 8, 0, 0, 0], [unorm, unorm, unorm, 0]),
        (gl::RG16F, (gl::RG, gl::FLOAT), [16, 16, 0, 0, 0, 0, 0], [gl::FLOAT, gl::FLOAT, 0, 0]),
        (gl::R32I, (gl::RED_INTEGER, gl::INT), [32, 0, 0, 0, 0, 0, 0], [gl::INT, 0, 0, 0]),
        (
            gl::RGBA16UI,
            (gl::RGBA_INTEGER, gl::UNSIGNED_INT),
            [16, 16, 16, 16, 0, 0, 0],
            [gl::UNSIGNED_INT, gl::UNSIGNED_INT, gl::UNSIGNED_INT, 0],
        ),
        (gl::RG8_SNORM, (gl::RG, gl::BYTE), [8, 8, 0, 0, 0, 0, 0], [0x8F9C, 0x8F9C, 0, 0]),
        (gl::RGB9_E5, (gl::RGB, gl::FLOAT), [9, 9, 9, 0, 0, 0, 5], [gl::FLOAT, gl::FLOAT, 0, 0]),
        (gl::DEPTH_COMPONENT16, (gl::DEPTH_COMPONENT, gl::FLOAT), [0, 0, 0, 0, 16, 0, 0], [0, 0, 0, unorm]),
        (
            gl::DEPTH32F_STENCIL8,
            (gl::DEPTH_STENCIL, gl::FLOAT_32_UNSIGNED_INT_24_8_REV),
            [0, 0, 0, 0, 32, 8, 0],
            [0, 0, 0, gl::FLOAT],
        ),
    ] {
        t.texture_name(gl::TEXTURE_2D);
        t.image::<u8>(gl::TEXTURE_2D, 0, internal, [8, 4, 1], transfer, None);
        t.image::<u8>(gl::TEXTURE_2D, 1, internal, [4, 2, 1], transfer, None);
        let get = |level, name| t.get_tex_level_parameter_i32(gl::TEXTURE_2D, level, name);
        t.equal(sizes.map(|name| get(0, name)), bits, &format!("bits of {internal:#x}"));
        t.equal(types.map(|name| get(0, name) as u32), kinds, &format!("types of {internal:#x}"));
        t.equal(get(1, gl::TEXTURE_INTERNAL_FORMAT) as u32, internal, "internal format");
        t.equal(
            [gl::TEXTURE_WIDTH, gl::TEXTURE_HEIGHT, gl::TEXTURE_DEPTH, gl::TEXTURE_COMPRESSED].map(|n| get(1, n)),
            [4, 2, 1, 0],
            "size of level 1",
        );
        t.equal(get(5, gl::TEXTURE_WIDTH), 0, "a level without an image");
        t.no_error("level parameters");
    }
    t.get_tex_level_parameter_i32(gl::TEXTURE_2D, -1, gl::TEXTURE_WIDTH);
    t.error(gl::INVALID_VALUE, "a negative level");
    t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 99, gl::TEXTURE_WIDTH);
    t.error(gl::INVALID_VALUE, "a level past the last");
    t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_MIN_FILTER);
    t.error(gl::INVALID_ENUM, "a parameter of the texture");
}

/// Uploads blocks for an 8 x 4 texture: two of them, with a level that is smaller than a block below.
unsafe fn upload_blocks(t: &Scene, internal: u32, blocks: &[u8]) {
    t.texture_name(gl::TEXTURE_2D);
    t.compressed_tex_image_2d(gl::TEXTURE_2D, 0, internal as i32, 8, 4, 0, blocks.len() as i32, blocks);
    t.no_error(&format!("blocks of {internal:#x}"));
    let get = |name| t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, name);
    t.equal(get(gl::TEXTURE_COMPRESSED), 1, "TEXTURE_COMPRESSED");
    t.equal(get(gl::TEXTURE_COMPRESSED_IMAGE_SIZE), blocks.len() as i32, "image size");
    t.equal(get(gl::TEXTURE_INTERNAL_FORMAT) as u32, internal, "internal format");
    // The blocks come back as they were.
    let mut back = vec![0u8; blocks.len()];
    t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, back.as_mut_ptr().cast());
    t.equal(back.as_slice(), blocks, &format!("blocks of {internal:#x}"));
}

/// What a shader sees of the bound 8 x 4 texture.
unsafe fn sampled(t: &Scene) -> Vec<[f32; 4]> {
    let texture = t.get_parameter_texture(gl::TEXTURE_BINDING_2D);
    t.target_of(8, 4, gl::RGBA32F);
    t.bind_texture(gl::TEXTURE_2D, texture);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.fill();
    t.read_floats(8, 4)
}

unsafe fn rgtc_blocks(t: &Scene) {
    // End points 200 and 40 with indices 0, 1, 2, 3 in the first row; then a block of one value.
    let first = [200u8, 40, 0b1000_1000, 0b0000_0110, 0, 0, 0, 0];
    let flat = [77u8, 77, 0, 0, 0, 0, 0, 0];
    let expected = [200.0, 40.0, (6.0 * 200.0 + 40.0) / 7.0, (5.0 * 200.0 + 80.0) / 7.0];
    let blocks = [first, flat].concat();
    upload_blocks(t, gl::COMPRESSED_RED_RGTC1, &blocks);
    let v = sampled(t);
    for x in 0..4 {
        t.near(v[x][0] * 255.0, expected[x], 1.0, &format!("RGTC1 texel {x}"));
    }
    t.near(v[5][0] * 255.0, 77.0, 0.5, "RGTC1 second block");
    t.equal([v[0][1], v[0][2], v[0][3]], [0.0, 0.0, 1.0], "what RGTC1 lacks");
    let both = [first, flat, flat, first].concat();
    upload_blocks(t, gl::COMPRESSED_RG_RGTC2, &both);
    let v = sampled(t);
    t.near(v[1][0] * 255.0, 40.0, 1.0, "RGTC2 red");
    t.near(v[1][1] * 255.0, 77.0, 0.5, "RGTC2 green");
    t.near(v[5][1] * 255.0, 40.0, 1.0, "RGTC2 green of the second block");
    // Signed: -127 means -1.
    let signed = [100u8, 0x81, 0b1000_1000, 0b0000_0110, 0, 0, 0, 0];
    upload_blocks(t, gl::COMPRESSED_SIGNED_RED_RGTC1, &[signed, signed].concat());
    let v = sampled(t);
    t.near(v[0][0], 100.0 / 127.0, 0.01, "signed RGTC1");
    t.near(v[1][0], -1.0, 0.01, "signed RGTC1, negative");
    upload_blocks(t, gl::COMPRESSED_SIGNED_RG_RGTC2, &[signed, signed, signed, signed].concat());
    t.near(sampled(t)[1][1], -1.0, 0.01, "signed RGTC2");
    // One block replaced by a sub-image.
    upload_blocks(t, gl::COMPRESSED_RED_RGTC1, &blocks);
    let data = gl::CompressedPixelUnpackData::Slice(&first);
    t.compressed_tex_sub_image_2d(gl::TEXTURE_2D, 0, 4, 0, 4, 4, gl::COMPRESSED_RED_RGTC1, data);
    t.no_error("a sub-image of a block");
    let v = sampled(t);
    t.near(v[5][0] * 255.0, 40.0, 1.0, "the replaced block");
    t.near(v[1][0] * 255.0, 40.0, 1.0, "the block beside it");
    // Read back decoded.
    let decoded = t.texels::<u8>(gl::TEXTURE_2D, 0, gl::RED, gl::UNSIGNED_BYTE, 32);
    t.check(decoded[0] == 200 && decoded[1] == 40, format!("decoded {:?}", &decoded[..4]));
}

unsafe fn s3tc_blocks(t: &Scene) {
    // Red and blue end points as 5_6_5, indices 0, 1, 2, 3 in the first row.
    let color = [0x00u8, 0xf8, 0x1f, 0x00, 0b1110_0100, 0, 0, 0];
    let (rgb, dxt1a, dxt3, dxt5) = (0x83F0, 0x83F1, 0x83F2, 0x83F3);
    upload_blocks(t, rgb, &[color, color].concat());
    let v = sampled(t);
    for (x, expected) in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [2.0 / 3.0, 0.0, 1.0 / 3.0], [1.0 / 3.0, 0.0, 2.0 / 3.0]]
        .into_iter()
        .enumerate()
    {
        for c in 0..3 {
            t.near(v[x][c], expected[c], 0.02, &format!("DXT1 texel {x} channel {c}"));
        }
        t.near(v[x][3], 1.0, 0.0, "DXT1 alpha");
    }
    // End points in the other order: index 3 is transparent black.
    let punch = [0x1fu8, 0x00, 0x00, 0xf8, 0b1110_0100, 0, 0, 0];
    upload_blocks(t, dxt1a, &[punch, punch].concat());
    let v = sampled(t);
    t.equal(v[3], [0.0; 4], "DXT1 with alpha, transparent");
    t.near(v[2][0], 0.5, 0.02, "DXT1 with alpha, the middle");
    let alpha3 = [0x80u8, 0xf0, 0, 0, 0, 0, 0, 0];
    let block = [alpha3, color].concat();
    upload_blocks(t, dxt3, &[block.clone(), block].concat());
    let v = sampled(t);
    for (x, a) in [0.0, 8.0 / 15.0, 0.0, 1.0].into_iter().enumerate() {
        t.near(v[x][3], a, 0.01, &format!("DXT3 alpha {x}"));
    }
    let alpha5 = [200u8, 40, 0b1000_1000, 0b0000_0110, 0, 0, 0, 0];
    let block = [alpha5, color].concat();
    upload_blocks(t, dxt5, &[block.clone(), block].concat());
    let v = sampled(t);
    t.near(v[1][3] * 255.0, 40.0, 1.0, "DXT5 alpha");
    t.near(v[1][2], 1.0, 0.01, "DXT5 blue");
    // sRGB variants decode colour, not alpha.
    let half = [0x10u8, 0x84, 0x10, 0x84, 0, 0, 0, 0];
    upload_blocks(t, 0x8C4F, &[alpha5, half, alpha5, half].concat());
    let v = sampled(t);
    t.near(v[1][0], 0.23, 0.02, "sRGB DXT5 colour");
    t.near(v[1][3] * 255.0, 40.0, 1.0, "sRGB DXT5 alpha");
}

unsafe fn compressed_on_upload(t: &Scene) {
    // The driver compresses what is uploaded plain; smooth contents come back nearly as they were.
    let texels: Vec<[u8; 4]> = (0..32u8).map(|i| [60 + (i % 8) * 4, 120, 200 - (i / 8) * 8, 255]).collect();
    for (internal, channels) in [
        (gl::COMPRESSED_RED_RGTC1, 1usize),
        (gl::COMPRESSED_RG_RGTC2, 2),
        (0x83F0, 3),
        (0x83F1, 4),
        (0x83F2, 4),
        (0x83F3, 4),
    ] {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [8, 4, 1], (gl::RGBA, gl::UNSIGNED_BYTE), Some(&texels));
        t.no_error(&format!("{internal:#x}"));
        let get = |name| t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, name);
        t.equal(get(gl::TEXTURE_INTERNAL_FORMAT) as u32, internal, "internal format");
        let v = sampled(t);
        for (i, texel) in v.iter().enumerate() {
            for c in 0..channels {
                let expected = f32::from(texels[i][c]) / 255.0;
                t.near(texel[c], expected, 0.1, &format!("{internal:#x} texel {i} channel {c}"));
            }
        }
        t.tex_sub_image_2d(
            gl::TEXTURE_2D,
            0,
            4,
            0,
            4,
            4,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&[[255u8, 255, 255, 255]; 16]))),
        );
        t.no_error(&format!("a plain sub-image of {internal:#x}"));
        let v = sampled(t);
        t.near(v[6][0], 1.0, 0.01, &format!("{internal:#x} after a sub-image"));
        t.near(v[1][0], 64.0 / 255.0, 0.06, &format!("{internal:#x} beside the sub-image"));
    }
}

unsafe fn compressed_errors(t: &Scene) {
    let format = gl::COMPRESSED_RED_RGTC1;
    let blocks = [1u8; 16];
    upload_blocks(t, format, &blocks);
    t.compressed_tex_image_2d(gl::TEXTURE_2D, 0, format as i32, 8, 4, 0, 15, &blocks[..15]);
    t.error(gl::INVALID_VALUE, "a size that does not fit");
    t.compressed_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 8, 4, 0, 16, &blocks);
    t.error(gl::INVALID_ENUM, "a format that is not compressed");
    t.compressed_tex_image_2d(gl::TEXTURE_2D, 0, format as i32, 8, 4, 1, 16, &blocks);
    t.check(t.get_error() != gl::NO_ERROR, "a border");
    let sub = |x: i32, y: i32, w: i32, h: i32, kind: u32, n: usize| {
        let data = gl::CompressedPixelUnpackData::Slice(&blocks[..n]);
        t.compressed_tex_sub_image_2d(gl::TEXTURE_2D, 0, x, y, w, h, kind, data);
    };
    sub(2, 0, 4, 4, format, 8);
    t.error(gl::INVALID_OPERATION, "a sub-image inside blocks");
    sub(0, 0, 3, 4, format, 8);
    t.error(gl::INVALID_OPERATION, "a part of a block");
    sub(8, 0, 4, 4, format, 8);
    t.error(gl::INVALID_VALUE, "outside the image");
    sub(0, 0, 4, 4, gl::COMPRESSED_SIGNED_RED_RGTC1, 8);
    t.error(gl::INVALID_OPERATION, "another compressed format");
    sub(0, 0, 4, 4, format, 7);
    t.error(gl::INVALID_VALUE, "too few bytes");
    let mut data = [0u8; 64];
    t.texture(2, 2, &[[0; 4]; 4]);
    t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, data.as_mut_ptr().cast());
    t.error(gl::INVALID_OPERATION, "blocks of a plain texture");
    t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_COMPRESSED_IMAGE_SIZE);
    t.error(gl::INVALID_OPERATION, "the size of the blocks of a plain texture");
    for size in [8, i32::MAX / 8, 40_000] {
        let fits = t.get_parameter_i32(gl::MAX_TEXTURE_SIZE) >= size;
        t.raw.CompressedTexImage2D(gl::PROXY_TEXTURE_2D, 0, format, size, 8, 0, 24, std::ptr::null());
        t.check(t.get_error() != gl::NO_ERROR, format!("a proxy of {size} by 8 with other bytes; it fits: {fits}"));
    }
    // Through an unpack buffer, at an offset.
    let buffer =
        t.buffer(gl::PIXEL_UNPACK_BUFFER, &[[9u8; 8], [200, 40, 0, 0, 0, 0, 0, 0], [70, 70, 0, 0, 0, 0, 0, 0]]);
    t.texture_name(gl::TEXTURE_2D);
    t.raw.CompressedTexImage2D(gl::TEXTURE_2D, 0, format, 8, 4, 0, 16, std::ptr::without_provenance(8));
    t.no_error("blocks from a buffer");
    t.raw.CompressedTexImage2D(gl::TEXTURE_2D, 0, format, 8, 4, 0, 16, std::ptr::without_provenance(9));
    t.error(gl::INVALID_OPERATION, "blocks beyond the buffer");
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    t.delete_buffer(buffer);
    let v = sampled(t);
    t.near(v[0][0] * 255.0, 200.0, 1.0, "first block of the buffer");
    t.near(v[5][0] * 255.0, 70.0, 1.0, "second block of the buffer");
}
