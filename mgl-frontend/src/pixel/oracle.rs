//! Property tests of the converters against a naive reference that goes pixel by pixel through exact arithmetic.

use super::*;
use crate::format::Base;
use mgpipe_types::{gl, Format};
use proptest::prelude::*;

/// Reads one component of an unpacked or packed pixel as a real number, or as an integer for integer formats, the slow
/// and obvious way.
fn naive_component(shape: &Shape, pixel: &[u8], swap: bool, index: usize) -> f64 {
    let word = |at: usize, n: usize| {
        let mut bytes = pixel[at..at + n].to_vec();
        if swap {
            bytes.reverse();
        }
        bytes.iter().rev().fold(0u64, |acc, &b| acc << 8 | u64::from(b))
    };
    let norm = |value: f64, max: f64| if shape.integer { value } else { (value / max).max(-1.0) };
    match shape.layout {
        Layout::Elements(e) => {
            let n = e.bytes();
            let raw = word(index * n, n);
            match e {
                Element::U8 | Element::U16 | Element::U32 => norm(raw as f64, ((1u64 << (8 * n)) - 1) as f64),
                Element::I8 => norm(f64::from(raw as u8 as i8), 127.0),
                Element::I16 => norm(f64::from(raw as u16 as i16), 32767.0),
                Element::I32 => norm(f64::from(raw as u32 as i32), f64::from(i32::MAX)),
                Element::F16 => half::f16::from_bits(raw as u16).to_f64(),
                Element::F32 => f32::from_bits(raw as u32).into(),
            }
        }
        Layout::Packed { bytes, fields } => {
            let raw = word(0, bytes as usize);
            let (low, bits) = fields[index];
            let value = raw >> low & ((1 << bits) - 1);
            norm(value as f64, ((1u64 << bits) - 1) as f64)
        }
        _ => unreachable!("not part of this test"),
    }
}

const FORMATS: &[u32] =
    &[gl::RED, gl::GREEN, gl::RG, gl::RGB, gl::BGR, gl::RGBA, gl::BGRA, gl::RGBA_INTEGER, gl::RG_INTEGER];
const TYPES: &[u32] = &[
    gl::UNSIGNED_BYTE,
    gl::BYTE,
    gl::UNSIGNED_SHORT,
    gl::SHORT,
    gl::UNSIGNED_INT,
    gl::INT,
    gl::UNSIGNED_SHORT_5_6_5,
    gl::UNSIGNED_SHORT_5_6_5_REV,
    gl::UNSIGNED_SHORT_4_4_4_4,
    gl::UNSIGNED_SHORT_1_5_5_5_REV,
    gl::UNSIGNED_INT_8_8_8_8,
    gl::UNSIGNED_INT_8_8_8_8_REV,
    gl::UNSIGNED_INT_10_10_10_2,
    gl::UNSIGNED_INT_2_10_10_10_REV,
    gl::UNSIGNED_BYTE_3_3_2,
    gl::UNSIGNED_BYTE_2_3_3_REV,
    gl::UNSIGNED_SHORT_5_5_5_1,
];

prop_compose! {
    fn stores()(swap_bytes: bool, row in 0..9i32, images in 0..6i32, sp in 0..3i32, sr in 0..3i32, si in 0..2i32, align in 0..4u32) -> PixelStore {
        PixelStore { swap_bytes, lsb_first: false, row_length: row, image_height: images, skip_pixels: sp, skip_rows: sr, skip_images: si, alignment: 1 << align }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn unpacking_agrees_with_the_naive_reader(
        format in prop::sample::select(FORMATS),
        type_ in prop::sample::select(TYPES),
        store in stores(),
        dims in 2..=3u32,
        width in 1..6u32, height in 1..5u32, depth in 1..3u32,
        seed: u64,
    ) {
        let Ok(client) = ClientFormat::new(format, type_, false) else { return Ok(()) };
        let size = [width, height, if dims == 3 { depth } else { 1 }];
        let address = store.address(dims, size, &client).expect("small");
        let mut state = seed | 1;
        let data: Vec<u8> = (0..address.end).map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        }).collect();
        let (storage, base) = if client.shape.integer { (Format::RGBA32_SINT, Base::Rgba) } else { (Format::RGBA32_FLOAT, Base::Rgba) };
        let out = unpack_image(&client, &store, dims, size, &data, storage, base).expect("converts");
        prop_assert_eq!(out.len(), (size[0] * size[1] * size[2] * 16) as usize);
        let pixel_bytes = client.pixel_bytes();
        let row_pixels = if store.row_length > 0 { store.row_length as usize } else { width as usize };
        let mut row_stride = row_pixels * pixel_bytes;
        while row_stride % store.alignment as usize != 0 { row_stride += 1; }
        let rows = if dims == 3 && store.image_height > 0 { store.image_height as usize } else { height as usize };
        let skip_images = if dims == 3 { store.skip_images as usize } else { 0 };
        for (i, texel) in out.chunks_exact(16).enumerate() {
            let x = i % width as usize;
            let y = i / width as usize % height as usize;
            let z = i / (width * height) as usize;
            let at = (skip_images + z) * rows * row_stride
                + (store.skip_rows as usize + y) * row_stride
                + (store.skip_pixels as usize + x) * pixel_bytes;
            let mut expected = [0.0, 0.0, 0.0, 1.0];
            for (index, &component) in client.shape.elements().iter().enumerate() {
                expected[component as usize] = naive_component(&client.shape, &data[at..at + pixel_bytes], store.swap_bytes, index);
            }
            for (bytes, wanted) in texel.chunks_exact(4).zip(expected) {
                let bytes: [u8; 4] = bytes.try_into().expect("four");
                if client.shape.integer {
                    prop_assert_eq!(f64::from(i32::from_le_bytes(bytes)), wanted.clamp(i32::MIN.into(), i32::MAX.into()));
                } else {
                    prop_assert!((f64::from(f32::from_le_bytes(bytes)) - wanted).abs() < 1e-7);
                }
            }
        }
    }

    #[test]
    fn fast_paths_agree_with_the_row_converter(
        format in prop::sample::select(&[gl::RED, gl::RG, gl::RGB, gl::BGR, gl::RGBA, gl::BGRA][..]),
        type_ in prop::sample::select(&[gl::UNSIGNED_BYTE, gl::UNSIGNED_INT_8_8_8_8, gl::UNSIGNED_INT_8_8_8_8_REV][..]),
        storage in prop::sample::select(&[Format::RGBA8_UNORM, Format::BGRA8_UNORM, Format::RG8_UNORM, Format::R8_UNORM][..]),
        base in prop::sample::select(&[Base::Rgba, Base::Rgb, Base::Rg, Base::Red, Base::Luminance, Base::LuminanceAlpha, Base::Alpha][..]),
        pixels in prop::collection::vec(any::<u8>(), 16),
    ) {
        let Ok(client) = ClientFormat::new(format, type_, false) else { return Ok(()) };
        let store = PixelStore { alignment: 1, ..PixelStore::default() };
        let n = (16 / client.pixel_bytes()) as u32;
        let data = &pixels[..n as usize * client.pixel_bytes()];
        let fast = unpack_image(&client, &store, 2, [n, 1, 1], data, storage, base).expect("converts");
        let mut row = decode_row(&client.shape, data, false);
        super::base::rearrange(&mut row, super::base::to_storage(base));
        let shape = Shape::of_storage(storage).expect("shape");
        let mut slow = vec![0; fast.len()];
        encode_row(&shape, &row, &mut slow, false);
        prop_assert_eq!(fast, slow);
    }

    #[test]
    fn packing_inverts_unpacking(
        format in prop::sample::select(&[gl::RGB, gl::RGBA, gl::BGRA, gl::BGR][..]),
        type_ in prop::sample::select(TYPES),
        store in stores(),
        width in 1..5u32, height in 1..4u32,
        pixels in prop::collection::vec(any::<u8>(), 2048),
    ) {
        let Ok(client) = ClientFormat::new(format, type_, false) else { return Ok(()) };
        let size = [width, height, 1];
        let address = store.address(2, size, &client).expect("small");
        prop_assume!(address.end <= pixels.len());
        // 32-bit float storage holds every source component closely enough to be written back exactly, except 32-bit
        // normalised integers and the lowest signed value, which two encodings share.
        prop_assume!(!matches!(type_, gl::UNSIGNED_INT | gl::INT | gl::BYTE | gl::SHORT));
        let texels = unpack_image(&client, &store, 2, size, &pixels, Format::RGBA32_FLOAT, Base::Rgba).expect("converts");
        let mut out = vec![0xaa; pixels.len()];
        prop_assert!(pack_image(&client, &store, 2, size, &texels, Format::RGBA32_FLOAT, Base::Rgba, PackOptions::default(), &mut out));
        for y in 0..height as usize {
            let at = address.start + y * address.row_stride;
            prop_assert_eq!(&out[at..at + address.row_bytes], &pixels[at..at + address.row_bytes]);
        }
        prop_assert!(out[address.end..].iter().all(|&b| b == 0xaa));
    }
}
