//! Conversions of pixel transfer: every type read and uploaded, byte order, pixel store on the way back, legal pairs.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("transfer_read_types", read_types),
    Scenario::new("transfer_read_integer_types", read_integer_types),
    Scenario::new("transfer_read_clamp", read_clamp),
    Scenario::new("transfer_upload_types", upload_types),
    Scenario::new("transfer_swap_bytes_of_every_type", swap_bytes),
    Scenario::new("transfer_swap_bytes_on_the_way_back", swap_bytes_back),
    Scenario::new("transfer_pack_images", pack_images),
    Scenario::new("transfer_buffers_both_ways", buffers_both_ways),
    Scenario::new("transfer_buffer_rows_and_skips", buffer_rows_and_skips),
    Scenario::new("transfer_buffer_errors", buffer_errors),
    Scenario::new("transfer_sub_image_conversions", sub_image_conversions),
    Scenario::new("transfer_sub_images_of_packed_colors", sub_images_of_packed_colors)
        .without_reference("Mesa 22.3 swaps the bytes of the first pixel alone"),
    Scenario::new("transfer_sub_images_of_every_target", sub_images_of_every_target),
    Scenario::new("transfer_legal_pairs", legal_pairs),
    Scenario::new("transfer_pixel_store_state", pixel_store_state),
    Scenario::new("transfer_every_target_into_a_pack_buffer", every_target_into_a_pack_buffer),
];

/// The packed types, with the bits of their fields in the order of the format's components.
const PACKED: &[(u32, u32, &[u32])] = &[
    (gl::RGB, gl::UNSIGNED_BYTE_3_3_2, &[3, 3, 2]),
    (gl::RGB, gl::UNSIGNED_BYTE_2_3_3_REV, &[3, 3, 2]),
    (gl::RGB, gl::UNSIGNED_SHORT_5_6_5, &[5, 6, 5]),
    (gl::RGB, gl::UNSIGNED_SHORT_5_6_5_REV, &[5, 6, 5]),
    (gl::RGBA, gl::UNSIGNED_SHORT_4_4_4_4, &[4, 4, 4, 4]),
    (gl::RGBA, gl::UNSIGNED_SHORT_4_4_4_4_REV, &[4, 4, 4, 4]),
    (gl::RGBA, gl::UNSIGNED_SHORT_5_5_5_1, &[5, 5, 5, 1]),
    (gl::RGBA, gl::UNSIGNED_SHORT_1_5_5_5_REV, &[5, 5, 5, 1]),
    (gl::RGBA, gl::UNSIGNED_INT_8_8_8_8, &[8, 8, 8, 8]),
    (gl::RGBA, gl::UNSIGNED_INT_8_8_8_8_REV, &[8, 8, 8, 8]),
    (gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, &[8, 8, 8, 8]),
    (gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, &[8, 8, 8, 8]),
    (gl::BGRA, gl::UNSIGNED_SHORT_1_5_5_5_REV, &[5, 5, 5, 1]),
    (gl::BGRA, gl::UNSIGNED_SHORT_4_4_4_4, &[4, 4, 4, 4]),
    (gl::RGBA, gl::UNSIGNED_INT_10_10_10_2, &[10, 10, 10, 2]),
    (gl::RGBA, gl::UNSIGNED_INT_2_10_10_10_REV, &[10, 10, 10, 2]),
    (gl::BGRA, gl::UNSIGNED_INT_2_10_10_10_REV, &[10, 10, 10, 2]),
];

fn reversed(kind: u32) -> bool {
    matches!(
        kind,
        gl::UNSIGNED_BYTE_2_3_3_REV
            | gl::UNSIGNED_SHORT_5_6_5_REV
            | gl::UNSIGNED_SHORT_4_4_4_4_REV
            | gl::UNSIGNED_SHORT_1_5_5_5_REV
            | gl::UNSIGNED_INT_8_8_8_8_REV
            | gl::UNSIGNED_INT_2_10_10_10_REV
    )
}

fn word_bytes(kind: u32) -> usize {
    match kind {
        gl::UNSIGNED_BYTE_3_3_2 | gl::UNSIGNED_BYTE_2_3_3_REV => 1,
        gl::UNSIGNED_SHORT_5_6_5
        | gl::UNSIGNED_SHORT_5_6_5_REV
        | gl::UNSIGNED_SHORT_4_4_4_4
        | gl::UNSIGNED_SHORT_4_4_4_4_REV
        | gl::UNSIGNED_SHORT_5_5_5_1
        | gl::UNSIGNED_SHORT_1_5_5_5_REV => 2,
        _ => 4,
    }
}

/// The fields of a packed word in the order of the format's components.
fn fields(word: u32, kind: u32, bits: &[u32]) -> Vec<u32> {
    let mut at = if reversed(kind) { 0 } else { bits.iter().sum() };
    bits.iter()
        .map(|n| {
            if !reversed(kind) {
                at -= n;
            }
            let field = word >> at & ((1u64 << n) - 1) as u32;
            if reversed(kind) {
                at += n;
            }
            field
        })
        .collect()
}

fn word_of(values: &[u32], kind: u32, bits: &[u32]) -> u32 {
    let mut at = if reversed(kind) { 0 } else { bits.iter().sum() };
    let mut word = 0;
    for (v, n) in values.iter().zip(bits) {
        if !reversed(kind) {
            at -= n;
        }
        word |= v << at;
        if reversed(kind) {
            at += n;
        }
    }
    word
}

const COLOR: [f32; 4] = [0.75, 0.5, 0.25, 0.75];

/// A component of `COLOR` by its place in a format.
fn component(format: u32, i: usize) -> f32 {
    match (format, i) {
        (gl::BGRA | gl::BGR, 0) => COLOR[2],
        (gl::BGRA | gl::BGR, 2) => COLOR[0],
        (gl::GREEN, _) => COLOR[1],
        (gl::BLUE, _) => COLOR[2],
        _ => COLOR[i],
    }
}

unsafe fn read_types(t: &Scene) {
    for internal in [gl::RGBA32F, gl::RGBA16, gl::RGBA8] {
        t.target_of(2, 2, internal);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &COLOR);
        let slack = if internal == gl::RGBA8 { 0.003 } else { 0.0001 };
        for (format, n) in [
            (gl::RED, 1usize),
            (gl::GREEN, 1),
            (gl::BLUE, 1),
            (gl::RG, 2),
            (gl::RGB, 3),
            (gl::BGR, 3),
            (gl::RGBA, 4),
            (gl::BGRA, 4),
        ] {
            let look = |kind: u32, values: Vec<f32>, step: f32| {
                for (i, v) in values.iter().take(n).enumerate() {
                    let what = format!("{internal:#x} as {format:#x} {kind:#x}, component {i}");
                    t.near(*v, component(format, i), step + slack, &what);
                }
                t.no_error("a read");
            };
            let m = 4 * n;
            let of = |max: f64| move |v: f64| (v / max) as f32;
            let u8s = t.read_as::<u8>(2, 2, format, gl::UNSIGNED_BYTE, m);
            look(gl::UNSIGNED_BYTE, u8s.iter().map(|v| of(255.0)(f64::from(*v))).collect(), 0.002);
            let i8s = t.read_as::<i8>(2, 2, format, gl::BYTE, m);
            look(gl::BYTE, i8s.iter().map(|v| of(127.0)(f64::from(*v))).collect(), 0.005);
            let u16s = t.read_as::<u16>(2, 2, format, gl::UNSIGNED_SHORT, m);
            look(gl::UNSIGNED_SHORT, u16s.iter().map(|v| of(65535.0)(f64::from(*v))).collect(), 1e-5);
            let i16s = t.read_as::<i16>(2, 2, format, gl::SHORT, m);
            look(gl::SHORT, i16s.iter().map(|v| of(32767.0)(f64::from(*v))).collect(), 5e-5);
            let u32s = t.read_as::<u32>(2, 2, format, gl::UNSIGNED_INT, m);
            look(gl::UNSIGNED_INT, u32s.iter().map(|v| of(4_294_967_295.0)(f64::from(*v))).collect(), 1e-6);
            let i32s = t.read_as::<i32>(2, 2, format, gl::INT, m);
            look(gl::INT, i32s.iter().map(|v| of(2_147_483_647.0)(f64::from(*v))).collect(), 1e-6);
            look(gl::FLOAT, t.read_as::<f32>(2, 2, format, gl::FLOAT, m), 0.0);
            let halves = t.read_as::<u16>(2, 2, format, gl::HALF_FLOAT, m);
            // All values are positive and normal, exponent and mantissa decoded by hand.
            let half = |h: &u16| (1.0 + f32::from(h & 0x3ff) / 1024.0) * 2.0f32.powi(i32::from(h >> 10) - 15);
            look(gl::HALF_FLOAT, halves.iter().map(half).collect(), 0.001);
        }
        for (format, kind, bits) in PACKED {
            let bytes = t.read_as::<u8>(2, 2, *format, *kind, 4 * word_bytes(*kind));
            let word = bytes[..word_bytes(*kind)].iter().rev().fold(0u32, |w, b| w << 8 | u32::from(*b));
            for (i, (field, n)) in fields(word, *kind, bits).into_iter().zip(*bits).enumerate() {
                let top = ((1u32 << n) - 1) as f32;
                let what = format!("{internal:#x} as {format:#x} {kind:#x}, field {i}");
                t.near(field as f32, component(*format, i) * top, 0.51 + slack * top, &what);
            }
        }
        let v = t.read_as::<u32>(1, 1, gl::RGB, gl::UNSIGNED_INT_10F_11F_11F_REV, 1)[0];
        // One half as an 11-bit float: exponent 14 of bias 15. The 8-bit target holds a little more.
        t.check((v >> 11 & 0x7ff).abs_diff(14 << 6) <= 1, format!("{internal:#x} as 10F_11F_11F_REV: {v:#x}"));
        let v = t.read_as::<u32>(1, 1, gl::RGB, gl::UNSIGNED_INT_5_9_9_9_REV, 1)[0];
        let scale = 2.0f32.powi((v >> 27) as i32 - 24);
        t.near((v & 0x1ff) as f32 * scale, 0.75, 0.005, "5_9_9_9_REV red");
        t.near((v >> 18 & 0x1ff) as f32 * scale, 0.25, 0.005, "5_9_9_9_REV blue");
    }
}

unsafe fn read_integer_types(t: &Scene) {
    t.target_of(2, 2, gl::RGBA32I);
    t.clear_buffer_i32_slice(gl::COLOR, 0, &[1, -2, 100, -128]);
    let v = t.read_as::<[i8; 4]>(2, 2, gl::RGBA_INTEGER, gl::BYTE, 4);
    t.equal(v[3], [1, -2, 100, -128], "BYTE");
    let v = t.read_as::<[i16; 4]>(2, 2, gl::BGRA_INTEGER, gl::SHORT, 4);
    t.equal(v[3], [100, -2, 1, -128], "BGRA_INTEGER SHORT");
    let v = t.read_as::<[i32; 2]>(2, 2, gl::RG_INTEGER, gl::INT, 4);
    t.equal(v[3], [1, -2], "RG_INTEGER INT");
    let v = t.read_as::<i32>(2, 2, gl::BLUE_INTEGER, gl::INT, 4);
    t.equal(v[3], 100, "BLUE_INTEGER");
    t.read_as::<[f32; 4]>(2, 2, gl::RGBA, gl::FLOAT, 4);
    t.error(gl::INVALID_OPERATION, "integers as plain colour");
    t.read_as::<[f32; 4]>(2, 2, gl::RGBA_INTEGER, gl::FLOAT, 4);
    t.check(t.get_error() != gl::NO_ERROR, "integers as floats");
    t.target_of(2, 2, gl::RGBA16UI);
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[1, 200, 65535, 3]);
    let v = t.read_as::<[u16; 4]>(2, 2, gl::RGBA_INTEGER, gl::UNSIGNED_SHORT, 4);
    t.equal(v[0], [1, 200, 65535, 3], "UNSIGNED_SHORT");
    let v = t.read_as::<[u32; 3]>(2, 2, gl::RGB_INTEGER, gl::UNSIGNED_INT, 4);
    t.equal(v[0], [1, 200, 65535], "RGB_INTEGER UNSIGNED_INT");
    t.target_of(2, 2, gl::RGB10_A2UI);
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[1000, 5, 1023, 3]);
    let v = t.read_as::<u32>(2, 2, gl::RGBA_INTEGER, gl::UNSIGNED_INT_2_10_10_10_REV, 4);
    t.equal(v[1], 3 << 30 | 1023 << 20 | 5 << 10 | 1000, "2_10_10_10_REV");
    t.target(2, 2);
    t.read_as::<[u32; 4]>(2, 2, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 4);
    t.error(gl::INVALID_OPERATION, "plain colour as integers");
    t.read_as::<u32>(2, 2, gl::RGB, gl::UNSIGNED_INT_8_8_8_8, 4);
    t.error(gl::INVALID_OPERATION, "three components in a type of four");
}

unsafe fn read_clamp(t: &Scene) {
    t.target_of(2, 2, gl::RGBA32F);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[-2.0, 0.5, 3.0, 1.5]);
    // FIXED_ONLY is the default: a float buffer is not clamped.
    t.equal(t.read_floats(1, 1)[0], [-2.0, 0.5, 3.0, 1.5], "not clamped");
    t.equal(t.get_parameter_i32(0x891C) as u32, 0x891D, "CLAMP_READ_COLOR is FIXED_ONLY");
    t.raw.ClampColor(0x891C, 1);
    t.equal(t.read_floats(1, 1)[0], [0.0, 0.5, 1.0, 1.0], "clamped");
    t.raw.ClampColor(0x891C, 0x891D);
    t.pixel(&t.read(1, 1), 0, 0, [0, 128, 255, 255], 1, "bytes are clamped in any case");
    // A signed normalised buffer counts as fixed-point.
    t.target_of(2, 2, gl::RGBA16F);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[-2.0, 0.5, 3.0, 1.5]);
    t.raw.ClampColor(0x891C, 0);
    t.equal(t.read_floats(1, 1)[0], [-2.0, 0.5, 3.0, 1.5], "switched off");
    t.raw.ClampColor(0x891A, 1);
    t.error(gl::INVALID_ENUM, "vertex colours are not clamped in core profiles");
    t.raw.ClampColor(0x891C, 7);
    t.error(gl::INVALID_ENUM, "a value that is none");
}

unsafe fn upload_types(t: &Scene) {
    let floats = |format: u32, kind: u32, data: &[u8]| {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, gl::RGBA32F, [1, 1, 1], (format, kind), Some(data));
        t.no_error(&format!("{format:#x} {kind:#x}"));
        t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, 1)[0]
    };
    let look = |v: [f32; 4], e: [f32; 4], what: &str| {
        for c in 0..4 {
            t.near(v[c], e[c], 1e-5, &format!("{what}, channel {c}"));
        }
    };
    let bytes = bytemuck::cast_slice::<u32, u8>;
    look(floats(gl::RGBA, gl::BYTE, &[127, 0, 0x81, 64]), [1.0, 0.0, -1.0, 64.0 / 127.0], "BYTE");
    look(floats(gl::RG, gl::UNSIGNED_SHORT, &[0, 0x80, 0xff, 0xff]), [32768.0 / 65535.0, 1.0, 0.0, 1.0], "USHORT");
    look(floats(gl::RG, gl::SHORT, &[0x01, 0x80, 0xff, 0x7f]), [-1.0, 1.0, 0.0, 1.0], "SHORT");
    look(floats(gl::RG, gl::UNSIGNED_INT, bytes(&[u32::MAX, 0])), [1.0, 0.0, 0.0, 1.0], "UINT");
    look(floats(gl::RG, gl::INT, bytes(&[i32::MAX as u32, 0x8000_0001])), [1.0, -1.0, 0.0, 1.0], "INT");
    look(floats(gl::RG, gl::HALF_FLOAT, &[0x00, 0xc0, 0x00, 0x64]), [-2.0, 1024.0, 0.0, 1.0], "HALF_FLOAT");
    look(floats(gl::GREEN, gl::FLOAT, bytes(&[1.5f32.to_bits()])), [0.0, 1.5, 0.0, 1.0], "GREEN");
    look(floats(gl::BLUE, gl::FLOAT, bytes(&[1.5f32.to_bits()])), [0.0, 0.0, 1.5, 1.0], "BLUE");
    look(floats(gl::BGR, gl::UNSIGNED_BYTE, &[255, 0, 51]), [0.2, 0.0, 1.0, 1.0], "BGR");
    for (format, kind, bits) in PACKED {
        let values: Vec<u32> = bits.iter().enumerate().map(|(i, n)| [1, 2, 0, 1][i] % (1 << n)).collect();
        let word = word_of(&values, *kind, bits).to_le_bytes();
        let v = floats(*format, *kind, &word[..word_bytes(*kind)]);
        let mut e = [0.0, 0.0, 0.0, 1.0];
        for (i, (value, n)) in values.iter().zip(*bits).enumerate() {
            let place = if *format == gl::BGRA { [2, 1, 0, 3][i] } else { i };
            e[place] = *value as f32 / ((1u32 << n) - 1) as f32;
        }
        look(v, e, &format!("{format:#x} {kind:#x}"));
    }
}

unsafe fn swap_bytes(t: &Scene) {
    // What is uploaded with its bytes reversed and UNPACK_SWAP_BYTES is the same as what is uploaded plainly.
    for (internal, format, kind, unit) in [
        (gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE, 1usize),
        (gl::RGB16, gl::RGB, gl::UNSIGNED_SHORT, 2),
        (gl::RG32F, gl::RG, gl::FLOAT, 4),
        (gl::R16F, gl::RED, gl::HALF_FLOAT, 2),
        (gl::RGBA32UI, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 4),
        (gl::RGB16I, gl::RGB_INTEGER, gl::SHORT, 2),
        (gl::RGB8, gl::RGB, gl::UNSIGNED_SHORT_5_6_5, 2),
        (gl::RGBA8, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, 4),
        (gl::RGB10_A2, gl::RGBA, gl::UNSIGNED_INT_2_10_10_10_REV, 4),
        (gl::R11F_G11F_B10F, gl::RGB, gl::UNSIGNED_INT_10F_11F_11F_REV, 4),
        (gl::DEPTH_COMPONENT16, gl::DEPTH_COMPONENT, gl::UNSIGNED_SHORT, 2),
    ] {
        // Rows of 5 texels with alignment 4, so that padding takes part.
        let plain: Vec<u8> = (0..5 * 16 * 3u32).map(|i| (i * 37 % 47) as u8).collect();
        let swapped: Vec<u8> = plain.chunks(unit).flat_map(|c| c.iter().rev().copied()).collect();
        let upload = |data: &[u8], swap: bool| {
            t.texture_name(gl::TEXTURE_2D);
            t.pixel_store_bool(gl::UNPACK_SWAP_BYTES, swap);
            let bytes = gl::PixelUnpackData::Slice(Some(data));
            t.tex_image_2d(gl::TEXTURE_2D, 0, internal as i32, 5, 3, 0, format, kind, bytes);
            t.pixel_store_bool(gl::UNPACK_SWAP_BYTES, false);
            t.texels::<u8>(gl::TEXTURE_2D, 0, format, kind, 15 * 16)
        };
        let (a, b) = (upload(&plain, false), upload(&swapped, true));
        t.check(a == b, format!("{internal:#x} {format:#x} {kind:#x}"));
        t.check(a.iter().any(|v| *v != 0), format!("{internal:#x} {format:#x} {kind:#x} holds something"));
    }
}

unsafe fn swap_bytes_back(t: &Scene) {
    for (internal, format, kind, unit, n) in [
        (gl::RGBA16, gl::RGBA, gl::UNSIGNED_SHORT, 2usize, 8usize),
        (gl::RGBA32F, gl::RGB, gl::FLOAT, 4, 12),
        (gl::RGBA8, gl::RGBA, gl::UNSIGNED_INT_8_8_8_8, 4, 4),
        (gl::RGBA8, gl::RGB, gl::UNSIGNED_SHORT_5_6_5, 2, 2),
        (gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE, 1, 4),
    ] {
        t.target_of(4, 2, internal);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &[0.1, 0.7, 0.3, 0.9]);
        let plain = t.read_as::<u8>(4, 2, format, kind, 8 * n);
        t.pixel_store_bool(gl::PACK_SWAP_BYTES, true);
        let swapped = t.read_as::<u8>(4, 2, format, kind, 8 * n);
        t.pixel_store_bool(gl::PACK_SWAP_BYTES, false);
        let expected: Vec<u8> = plain.chunks(unit).flat_map(|c| c.iter().rev().copied()).collect();
        t.check(swapped == expected, format!("{internal:#x} {format:#x} {kind:#x}"));
        t.check(unit == 1 || plain != swapped, format!("{internal:#x} {format:#x} {kind:#x} differs"));
    }
}

unsafe fn pack_images(t: &Scene) {
    // A 2 x 2 x 2 volume into the middle of 5 x 4 images.
    t.texture_name(gl::TEXTURE_3D);
    let texels: Vec<[u8; 4]> = (0..8).map(|i| [i, 10 + i, 20 + i, 255]).collect();
    t.image(gl::TEXTURE_3D, 0, gl::RGBA8, [2, 2, 2], (gl::RGBA, gl::UNSIGNED_BYTE), Some(&texels));
    let state = [
        (gl::PACK_ROW_LENGTH, 5),
        (gl::PACK_IMAGE_HEIGHT, 4),
        (gl::PACK_SKIP_PIXELS, 2),
        (gl::PACK_SKIP_ROWS, 1),
        (gl::PACK_SKIP_IMAGES, 1),
    ];
    for (name, value) in state {
        t.pixel_store_i32(name, value);
    }
    let mut data = vec![[99u8; 4]; 5 * 4 * 3];
    let bytes = gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data)));
    t.get_tex_image(gl::TEXTURE_3D, 0, gl::RGBA, gl::UNSIGNED_BYTE, bytes);
    for (name, _) in state {
        t.pixel_store_i32(name, 0);
    }
    for (i, texel) in data.iter().enumerate() {
        let (x, y, z) = (i % 5, i / 5 % 4, i / 20);
        let inside = (2..4).contains(&x) && (1..3).contains(&y) && (1..3).contains(&z);
        let expected = if inside { texels[(z - 1) * 4 + (y - 1) * 2 + x - 2] } else { [99; 4] };
        t.equal(*texel, expected, &format!("memory at {x}, {y}, {z}"));
    }
    // Alignment: rows of 2 RGB pixels start at multiples of it.
    t.texture_name(gl::TEXTURE_2D);
    let rows: Vec<u8> = (0..12).collect();
    t.image(gl::TEXTURE_2D, 0, gl::RGB8, [2, 2, 1], (gl::RGB, gl::UNSIGNED_BYTE), Some(&rows));
    for (alignment, stride) in [(1, 6), (2, 6), (4, 8), (8, 8)] {
        t.pixel_store_i32(gl::PACK_ALIGNMENT, alignment);
        let mut data = [77u8; 16];
        t.get_tex_image(gl::TEXTURE_2D, 0, gl::RGB, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
        t.equal(&data[stride..stride + 6], &[6, 7, 8, 9, 10, 11], &format!("second row at alignment {alignment}"));
        t.check(data[stride + 6..].iter().all(|b| *b == 77), format!("memory past alignment {alignment}"));
    }
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
}

unsafe fn buffers_both_ways(t: &Scene) {
    // Texture to buffer to texture without the application's memory, in every pixel size and from odd offsets.
    for (internal, format, kind, n) in [
        (gl::R8, gl::RED, gl::UNSIGNED_BYTE, 1usize),
        (gl::RGB8, gl::RGB, gl::UNSIGNED_BYTE, 3),
        (gl::RGBA8, gl::BGRA, gl::UNSIGNED_BYTE, 4),
        (gl::RG16, gl::RG, gl::UNSIGNED_SHORT, 4),
        (gl::RGBA32F, gl::RGBA, gl::FLOAT, 16),
        (gl::RGBA16UI, gl::RGBA_INTEGER, gl::UNSIGNED_SHORT, 8),
        (gl::DEPTH_COMPONENT32F, gl::DEPTH_COMPONENT, gl::FLOAT, 4),
        (gl::DEPTH24_STENCIL8, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 4),
    ] {
        let source: Vec<u8> = match kind {
            gl::FLOAT => (0..16 * n / 4).flat_map(|i| (i as f32 / 64.0).to_le_bytes()).collect(),
            _ => (0..16 * n as u32).map(|i| (i * 29 + 3) as u8).collect(),
        };
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [4, 4, 1], (format, kind), Some(&source));
        let offset = 16 * 3;
        let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &vec![0xeeu8; 16 * n + 96]);
        t.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
        t.get_tex_image(gl::TEXTURE_2D, 0, format, kind, gl::PixelPackData::BufferOffset(offset as u32));
        t.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
        t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
        t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, Some(buffer));
        t.texture_name(gl::TEXTURE_2D);
        t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
        let place = gl::PixelUnpackData::BufferOffset(offset as u32);
        t.tex_image_2d(gl::TEXTURE_2D, 0, internal as i32, 4, 4, 0, format, kind, place);
        t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
        t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
        let back = t.texels::<u8>(gl::TEXTURE_2D, 0, format, kind, 16 * n);
        t.check(back == source, format!("{internal:#x}: {:?} from {:?}", &back[..n], &source[..n]));
        let mut around = [0u8; 48];
        t.bind_buffer(gl::COPY_READ_BUFFER, Some(buffer));
        t.get_buffer_sub_data(gl::COPY_READ_BUFFER, offset + 16 * n as i32, &mut around);
        t.check(around == [0xee; 48], format!("{internal:#x}: what lies behind the image"));
        t.no_error(&format!("{internal:#x}"));
    }
}

unsafe fn buffer_rows_and_skips(t: &Scene) {
    // All pixel-store parameters together with buffers: a rectangle out of a buffer image, and one into another.
    let image: Vec<[u8; 4]> = (0..10 * 8).map(|i| [i, 2, 3, 255]).collect();
    let source = t.buffer(gl::PIXEL_UNPACK_BUFFER, &image);
    for (name, value) in [(gl::UNPACK_ROW_LENGTH, 10), (gl::UNPACK_SKIP_PIXELS, 3), (gl::UNPACK_SKIP_ROWS, 2)] {
        t.pixel_store_i32(name, value);
    }
    let texture = t.texture_name(gl::TEXTURE_2D);
    let place = gl::PixelUnpackData::BufferOffset(4);
    t.tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 4, 4, 0, gl::RGBA, gl::UNSIGNED_BYTE, place);
    for name in [gl::UNPACK_ROW_LENGTH, gl::UNPACK_SKIP_PIXELS, gl::UNPACK_SKIP_ROWS] {
        t.pixel_store_i32(name, 0);
    }
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    let at = |x: usize, y: usize| image[(y + 2) * 10 + x + 3 + 1];
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal([v[0], v[3], v[12], v[15]], [at(0, 0), at(3, 0), at(0, 3), at(3, 3)], "corners");
    t.framebuffer_of(texture);
    t.buffer(gl::PIXEL_PACK_BUFFER, &[[9u8; 4]; 64]);
    for (name, value) in [(gl::PACK_ROW_LENGTH, 8), (gl::PACK_SKIP_PIXELS, 2), (gl::PACK_SKIP_ROWS, 3)] {
        t.pixel_store_i32(name, value);
    }
    t.read_pixels(1, 1, 3, 2, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(8));
    for name in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS] {
        t.pixel_store_i32(name, 0);
    }
    let mut data = [[0u8; 4]; 64];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
    for (i, texel) in data.iter().enumerate() {
        // Two texels of offset, three rows of eight, two pixels.
        let (x, y) = (i.wrapping_sub(28) % 8, i.wrapping_sub(28) / 8);
        let expected = if x < 3 && y < 2 { at(x + 1, y + 1) } else { [9; 4] };
        t.equal(*texel, expected, &format!("texel {i} of the buffer"));
    }
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.delete_buffer(source);
}

unsafe fn buffer_errors(t: &Scene) {
    t.target(4, 4);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let texture = t.texture(4, 4, &[[5; 4]; 16]);
    let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &[3u8; 256]);
    let read = |kind, offset| {
        t.read_pixels(0, 0, 4, 4, gl::RGBA, kind, gl::PixelPackData::BufferOffset(offset));
    };
    read(gl::UNSIGNED_SHORT, 1);
    t.error(gl::INVALID_OPERATION, "an offset that splits a short");
    read(gl::FLOAT, 6);
    t.error(gl::INVALID_OPERATION, "an offset that splits a float");
    read(gl::UNSIGNED_BYTE, 193);
    t.error(gl::INVALID_OPERATION, "one byte too far");
    t.raw.MapBufferRange(gl::PIXEL_PACK_BUFFER, 0, 4, gl::MAP_READ_BIT);
    read(gl::UNSIGNED_BYTE, 0);
    t.error(gl::INVALID_OPERATION, "a mapped pack buffer");
    t.get_tex_image(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(0));
    t.error(gl::INVALID_OPERATION, "a mapped pack buffer, texels");
    t.raw.UnmapBuffer(gl::PIXEL_PACK_BUFFER);
    let mut data = [0u8; 256];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut data);
    t.check(data == [3; 256], "failing reads write nothing");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, Some(buffer));
    let upload = |kind, offset| {
        let place = gl::PixelUnpackData::BufferOffset(offset);
        t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 4, 4, gl::RGBA, kind, place);
    };
    upload(gl::UNSIGNED_SHORT, 3);
    t.error(gl::INVALID_OPERATION, "an offset that splits a short, upload");
    upload(gl::UNSIGNED_BYTE, 200);
    t.error(gl::INVALID_OPERATION, "beyond the buffer");
    t.raw.MapBufferRange(gl::PIXEL_UNPACK_BUFFER, 0, 4, gl::MAP_WRITE_BIT);
    upload(gl::UNSIGNED_BYTE, 0);
    t.error(gl::INVALID_OPERATION, "a mapped unpack buffer");
    t.raw.UnmapBuffer(gl::PIXEL_UNPACK_BUFFER);
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.check(v.iter().all(|p| *p == [5; 4]), "failing uploads write nothing");
}

unsafe fn sub_image_conversions(t: &Scene) {
    // The format of a sub-image need not be that of the storage: what is missing is 0, 0, 1, what is too much goes.
    let texel = [51u8, 102, 153, 204];
    for internal in [gl::R8, gl::RG8, gl::RGB8, gl::RGBA8, gl::RGB10_A2, gl::RGBA16, gl::RGBA16F, gl::SRGB8_ALPHA8] {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [2, 1, 1], (gl::RGBA, gl::UNSIGNED_BYTE), Some(&[[7u8; 4]; 2]));
        let channels = match internal {
            gl::R8 => 1,
            gl::RG8 => 2,
            gl::RGB8 => 3,
            _ => 4,
        };
        for (format, n) in [(gl::RED, 1usize), (gl::RG, 2), (gl::RGB, 3), (gl::BGR, 3), (gl::RGBA, 4), (gl::BGRA, 4)] {
            let data = gl::PixelUnpackData::Slice(Some(&texel[..n]));
            t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
            t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 1, 0, 1, 1, format, gl::UNSIGNED_BYTE, data);
            t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
            let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, 2)[1];
            for c in 0..4 {
                let place = if matches!(format, gl::BGR | gl::BGRA) { [2, 1, 0, 3][c] } else { c };
                let stored = c < channels;
                let given = place < n;
                let expected = match (stored && given, c) {
                    (true, _) => f32::from(texel[place]) / 255.0,
                    (false, 3) => 1.0,
                    _ => 0.0,
                };
                // Alpha of RGB10_A2 has two bits.
                let step = if internal == gl::RGB10_A2 && c == 3 { 0.2 } else { 0.003 };
                t.near(v[c], expected, step, &format!("{internal:#x} from {format:#x}, channel {c}"));
            }
        }
    }
}

unsafe fn sub_images_of_packed_colors(t: &Scene) {
    // Yellow and one colour that no permutation keeps, as words and as bytes of every order, into parts of an image.
    for internal in [gl::RGBA8, gl::SRGB8_ALPHA8, gl::RGBA16, gl::RGBA32F] {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [4, 2, 1], (gl::RGBA, gl::UNSIGNED_BYTE), Some(&[[7u8; 4]; 8]));
        for [r, g, b, a] in [[255u8, 255, 0, 255], [10, 20, 30, 40]] {
            for (format, kind, bytes) in [
                (gl::RGBA, gl::UNSIGNED_BYTE, [r, g, b, a]),
                (gl::BGRA, gl::UNSIGNED_BYTE, [b, g, r, a]),
                (gl::RGBA, gl::UNSIGNED_INT_8_8_8_8, u32::from_be_bytes([r, g, b, a]).to_ne_bytes()),
                (gl::RGBA, gl::UNSIGNED_INT_8_8_8_8_REV, u32::from_le_bytes([r, g, b, a]).to_ne_bytes()),
                (gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, u32::from_be_bytes([b, g, r, a]).to_ne_bytes()),
                (gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, u32::from_le_bytes([b, g, r, a]).to_ne_bytes()),
            ] {
                for swapped in [false, true] {
                    let word = kind != gl::UNSIGNED_BYTE;
                    let mut texel = bytes;
                    if swapped && word {
                        texel.reverse();
                    }
                    t.pixel_store_i32(gl::UNPACK_SWAP_BYTES, swapped.into());
                    let data = [[99; 4], texel, texel].concat();
                    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 1);
                    let part = gl::PixelUnpackData::Slice(Some(&data));
                    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 1, 1, 2, 1, format, kind, part);
                    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 0);
                    t.pixel_store_i32(gl::UNPACK_SWAP_BYTES, 0);
                    let what = format!("{internal:#x} from {format:#x} {kind:#x}, swapped {swapped}");
                    t.no_error(&what);
                    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 8);
                    t.equal([v[4], v[5], v[6], v[7]], [[7; 4], [r, g, b, a], [r, g, b, a], [7; 4]], &what);
                    let clear = gl::PixelUnpackData::Slice(Some(&[7; 8]));
                    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 1, 1, 2, 1, gl::RGBA, gl::UNSIGNED_BYTE, clear);
                }
            }
        }
    }
}

unsafe fn sub_images_of_every_target(t: &Scene) {
    let rgba = (gl::RGBA, gl::UNSIGNED_BYTE);
    let new = [[200u8, 1, 2, 3]; 4];
    let data = || gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice::<[u8; 4], u8>(&new)));
    let old = |n: usize| vec![[9u8; 4]; n];
    // One texel or more in the middle; returned are the indices that must have changed.
    let look = |target: u32, n: usize, changed: &[usize]| {
        let v = t.texels::<[u8; 4]>(target, 0, gl::RGBA, gl::UNSIGNED_BYTE, n);
        for (i, texel) in v.into_iter().enumerate() {
            let expected = if changed.contains(&i) { new[0] } else { [9; 4] };
            t.equal(texel, expected, &format!("{target:#x} texel {i}"));
        }
    };
    t.texture_name(gl::TEXTURE_1D);
    t.image(gl::TEXTURE_1D, 0, gl::RGBA8, [6, 1, 1], rgba, Some(&old(6)));
    t.raw.TexSubImage1D(gl::TEXTURE_1D, 0, 2, 2, rgba.0, rgba.1, new.as_ptr().cast());
    look(gl::TEXTURE_1D, 6, &[2, 3]);
    t.texture_name(gl::TEXTURE_1D_ARRAY);
    t.image(gl::TEXTURE_1D_ARRAY, 0, gl::RGBA8, [3, 3, 1], rgba, Some(&old(9)));
    t.tex_sub_image_2d(gl::TEXTURE_1D_ARRAY, 0, 1, 1, 2, 2, rgba.0, rgba.1, data());
    look(gl::TEXTURE_1D_ARRAY, 9, &[4, 5, 7, 8]);
    t.texture_name(gl::TEXTURE_RECTANGLE);
    t.image(gl::TEXTURE_RECTANGLE, 0, gl::RGBA8, [3, 3, 1], rgba, Some(&old(9)));
    t.tex_sub_image_2d(gl::TEXTURE_RECTANGLE, 0, 0, 2, 3, 1, rgba.0, rgba.1, data());
    look(gl::TEXTURE_RECTANGLE, 9, &[6, 7, 8]);
    for target in [gl::TEXTURE_2D_ARRAY, gl::TEXTURE_3D] {
        t.texture_name(target);
        t.image(target, 0, gl::RGBA8, [2, 2, 3], rgba, Some(&old(12)));
        t.tex_sub_image_3d(target, 0, 1, 0, 1, 1, 2, 2, rgba.0, rgba.1, data());
        look(target, 12, &[5, 7, 9, 11]);
        t.tex_sub_image_3d(target, 0, 1, 0, 2, 1, 2, 2, rgba.0, rgba.1, data());
        t.error(gl::INVALID_VALUE, "a sub-image past the last layer");
    }
    t.texture_name(gl::TEXTURE_CUBE_MAP);
    for face in 0..6 {
        t.image(gl::TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, gl::RGBA8, [2, 2, 1], rgba, Some(&old(4)));
    }
    t.tex_sub_image_2d(gl::TEXTURE_CUBE_MAP_NEGATIVE_X, 0, 0, 1, 2, 1, rgba.0, rgba.1, data());
    look(gl::TEXTURE_CUBE_MAP_NEGATIVE_X, 4, &[2, 3]);
    look(gl::TEXTURE_CUBE_MAP_POSITIVE_X, 4, &[]);
    look(gl::TEXTURE_CUBE_MAP_POSITIVE_Y, 4, &[]);
}

unsafe fn legal_pairs(t: &Scene) {
    // Which combinations of internal format, format and type are legal, all of them, as the reference has it.
    let internals = [
        gl::RGBA8,
        gl::R8,
        gl::RGB16F,
        gl::RGBA8UI,
        gl::R32I,
        gl::DEPTH_COMPONENT24,
        gl::DEPTH24_STENCIL8,
        gl::SRGB8_ALPHA8,
        gl::RGB9_E5,
        gl::RGBA8_SNORM,
    ];
    let formats = [
        gl::RED,
        gl::RG,
        gl::RGB,
        gl::BGR,
        gl::RGBA,
        gl::BGRA,
        gl::RED_INTEGER,
        gl::RGBA_INTEGER,
        gl::DEPTH_COMPONENT,
        gl::DEPTH_STENCIL,
    ];
    let kinds = [
        gl::UNSIGNED_BYTE,
        gl::SHORT,
        gl::UNSIGNED_INT,
        gl::FLOAT,
        gl::HALF_FLOAT,
        gl::UNSIGNED_BYTE_3_3_2,
        gl::UNSIGNED_SHORT_4_4_4_4_REV,
        gl::UNSIGNED_INT_2_10_10_10_REV,
        gl::UNSIGNED_INT_24_8,
        gl::FLOAT_32_UNSIGNED_INT_24_8_REV,
        gl::UNSIGNED_INT_5_9_9_9_REV,
        gl::DOUBLE,
    ];
    t.texture_name(gl::TEXTURE_2D);
    let mut errors = Vec::new();
    let mut n_legal = 0;
    for internal in internals {
        for format in formats {
            for kind in kinds {
                t.image::<u8>(gl::TEXTURE_2D, 0, internal, [2, 2, 1], (format, kind), None);
                let error = t.get_error();
                n_legal += usize::from(error == gl::NO_ERROR);
                // A wrong format for the shared exponent is INVALID_OPERATION (GL 3.3 section 3.7.2) and Mesa says otherwise.
                let exact = kind != gl::UNSIGNED_INT_5_9_9_9_REV;
                errors.push(if exact || error == gl::NO_ERROR { error as f32 } else { 1.0 });
            }
        }
    }
    t.check(n_legal > 100, format!("only {n_legal} combinations are legal"));
    t.compare_values("errors", &errors, 0.0);
}

unsafe fn pixel_store_state(t: &Scene) {
    for (i, (name, default)) in [
        (gl::UNPACK_SWAP_BYTES, 0),
        (gl::UNPACK_LSB_FIRST, 0),
        (gl::UNPACK_ROW_LENGTH, 0),
        (gl::UNPACK_IMAGE_HEIGHT, 0),
        (gl::UNPACK_SKIP_ROWS, 0),
        (gl::UNPACK_SKIP_PIXELS, 0),
        (gl::UNPACK_SKIP_IMAGES, 0),
        (gl::UNPACK_ALIGNMENT, 4),
        (gl::PACK_SWAP_BYTES, 0),
        (gl::PACK_LSB_FIRST, 0),
        (gl::PACK_ROW_LENGTH, 0),
        (gl::PACK_IMAGE_HEIGHT, 0),
        (gl::PACK_SKIP_ROWS, 0),
        (gl::PACK_SKIP_PIXELS, 0),
        (gl::PACK_SKIP_IMAGES, 0),
        (gl::PACK_ALIGNMENT, 4),
    ]
    .into_iter()
    .enumerate()
    {
        t.equal(t.get_parameter_i32(name), default, &format!("default of {name:#x}"));
        let value = match i % 8 {
            0 | 1 => 1,
            7 => 8,
            n => n as i32 * 11,
        };
        t.pixel_store_i32(name, value);
        t.equal(t.get_parameter_i32(name), value, &format!("{name:#x} after being set"));
        t.equal(t.get_parameter_f32(name), value as f32, &format!("{name:#x} as a float"));
        t.equal(t.get_parameter_bool(name), true, &format!("{name:#x} as a boolean"));
        if i % 8 > 1 {
            t.pixel_store_i32(name, -1);
            t.error(gl::INVALID_VALUE, &format!("{name:#x} of -1"));
            t.equal(t.get_parameter_i32(name), value, &format!("{name:#x} after the error"));
        }
        t.pixel_store_i32(name, default);
    }
    for alignment in [0, 3, 5, 16] {
        t.pixel_store_i32(gl::PACK_ALIGNMENT, alignment);
        t.error(gl::INVALID_VALUE, &format!("an alignment of {alignment}"));
    }
}

unsafe fn every_target_into_a_pack_buffer(t: &Scene) {
    for (target, size) in [
        (gl::TEXTURE_1D, [4, 1, 1]),
        (gl::TEXTURE_2D, [4, 4, 1]),
        (gl::TEXTURE_1D_ARRAY, [4, 3, 1]),
        (gl::TEXTURE_2D_ARRAY, [4, 2, 3]),
        (gl::TEXTURE_3D, [4, 2, 3]),
        (gl::TEXTURE_RECTANGLE, [4, 3, 1]),
    ] {
        let n = (size[0] * size[1] * size[2]) as usize;
        let texels: Vec<[u8; 4]> = (0..n).map(|i| [i as u8, 100 + i as u8, 7, 200]).collect();
        let texture = t.texture_name(target);
        t.image(target, 0, gl::RGBA8, size, (gl::RGBA, gl::UNSIGNED_BYTE), Some(&texels));
        // The buffer ends with the image, so that a wrong stride shows as an error.
        let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &vec![[0u8; 4]; n + 1]);
        t.get_tex_image(target, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(4));
        t.no_error(&format!("{target:#x}"));
        let mut data = vec![[0u8; 4]; n + 1];
        t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
        t.equal(data[0], [0; 4], &format!("{target:#x}: before the offset"));
        t.equal(&data[1..], &texels[..], &format!("{target:#x}"));
        t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
        t.delete_buffer(buffer);
        t.delete_texture(texture);
    }
}
