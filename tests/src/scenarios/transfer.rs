//! Pixel transfer: pixel-store parameters, sub-images, pixel buffer objects, texture read-back.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("transfer_unpack_row_length_skip", unpack_row_length_skip),
    Scenario::new("transfer_unpack_alignment", unpack_alignment),
    Scenario::new("transfer_unpack_image_height", unpack_image_height),
    Scenario::new("transfer_unpack_swap_bytes", unpack_swap_bytes),
    Scenario::new("transfer_unpack_reads_no_further", reads_no_further),
    Scenario::new("transfer_sub_images", sub_images),
    Scenario::new("transfer_sub_images_mosaic", sub_images_mosaic),
    Scenario::new("transfer_sub_image_over_rendered", sub_image_over_rendered),
    Scenario::new("transfer_pack_row_length_skip", pack_row_length_skip),
    Scenario::new("transfer_unpack_buffer", unpack_buffer),
    Scenario::new("transfer_pack_buffer", pack_buffer),
    Scenario::new("transfer_get_tex_image", get_tex_image),
];

/// Texel (x, y) of the bound 2D RGBA8 texture of the given width and height.
unsafe fn texels(t: &Scene, width: usize, height: usize) -> Vec<[u8; 4]> {
    let mut data = vec![[0u8; 4]; width * height];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    data
}

unsafe fn reset_unpack(t: &Scene) {
    for name in [
        gl::UNPACK_ROW_LENGTH,
        gl::UNPACK_SKIP_PIXELS,
        gl::UNPACK_SKIP_ROWS,
        gl::UNPACK_IMAGE_HEIGHT,
        gl::UNPACK_SKIP_IMAGES,
    ] {
        t.pixel_store_i32(name, 0);
    }
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
}

unsafe fn unpack_row_length_skip(t: &Scene) {
    // Skips are counted in pixels, whatever a pixel's size is: 1, 2, 3, 4 bytes and packed.
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 7);
    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 3);
    t.pixel_store_i32(gl::UNPACK_SKIP_ROWS, 2);
    let source: Vec<u8> = (0..7 * 5 * 4).map(|i| (i * 7 % 251) as u8).collect();
    for (format, n) in [(gl::RED, 1usize), (gl::RG, 2), (gl::RGB, 3), (gl::RGBA, 4)] {
        let texture = t.create_texture().unwrap();
        t.bind_texture(gl::TEXTURE_2D, Some(texture));
        t.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            gl::RGBA8 as i32,
            4,
            3,
            0,
            format,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&source)),
        );
        let data = texels(t, 4, 3);
        for y in 0..3 {
            for x in 0..4 {
                let at = ((y + 2) * 7 + x + 3) * n;
                let mut expected = [0, 0, 0, 255];
                expected[..n].copy_from_slice(&source[at..at + n]);
                t.equal(data[y * 4 + x], expected, &format!("{n} bytes a pixel, texel {x}, {y}"));
            }
        }
    }
    let packed: Vec<u16> = (0..35).map(|i| (i % 32) << 11).collect();
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        4,
        3,
        0,
        gl::RGB,
        gl::UNSIGNED_SHORT_5_6_5,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&packed))),
    );
    let data = texels(t, 4, 3);
    let red = (f32::from(2u16 * 7 + 3) / 31.0 * 255.0).round() as u8;
    t.check(data[0][0].abs_diff(red) <= 1 && data[0][1] == 0, format!("packed: {:?}, expected red {red}", data[0]));
    reset_unpack(t);
}

unsafe fn unpack_alignment(t: &Scene) {
    // Rows of 3 RGB pixels are 9 bytes; they start at multiples of the alignment.
    for alignment in [1usize, 2, 4, 8] {
        t.pixel_store_i32(gl::UNPACK_ALIGNMENT, alignment as i32);
        let stride = 9usize.div_ceil(alignment) * alignment;
        let source: Vec<u8> = (0..stride * 3).map(|i| i as u8).collect();
        let texture = t.create_texture().unwrap();
        t.bind_texture(gl::TEXTURE_2D, Some(texture));
        t.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            gl::RGB8 as i32,
            3,
            3,
            0,
            gl::RGB,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&source)),
        );
        let data = texels(t, 3, 3);
        for y in 0..3 {
            let b = (y * stride + 6) as u8;
            t.equal(data[y * 3 + 2], [b, b + 1, b + 2, 255], &format!("alignment {alignment} row {y}"));
        }
    }
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 3);
    t.error(gl::INVALID_VALUE, "an alignment that is no power of two");
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, -1);
    t.error(gl::INVALID_VALUE, "a negative row length");
    reset_unpack(t);
}

unsafe fn unpack_image_height(t: &Scene) {
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 3);
    t.pixel_store_i32(gl::UNPACK_IMAGE_HEIGHT, 4);
    t.pixel_store_i32(gl::UNPACK_SKIP_IMAGES, 1);
    t.pixel_store_i32(gl::UNPACK_SKIP_ROWS, 1);
    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 1);
    let source: Vec<u8> = (0..3 * 4 * 3).map(|i| i as u8).collect();
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_3D, Some(texture));
    t.tex_image_3d(
        gl::TEXTURE_3D,
        0,
        gl::R8 as i32,
        2,
        2,
        2,
        0,
        gl::RED,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&source)),
    );
    reset_unpack(t);
    let mut data = [0u8; 8];
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
    t.get_tex_image(gl::TEXTURE_3D, 0, gl::RED, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
    let at = |x: u8, y: u8, z: u8| ((z + 1) * 4 + y + 1) * 3 + x + 1;
    t.equal(
        data,
        [at(0, 0, 0), at(1, 0, 0), at(0, 1, 0), at(1, 1, 0), at(0, 0, 1), at(1, 0, 1), at(0, 1, 1), at(1, 1, 1)],
        "volume",
    );
    // UNPACK_SKIP_IMAGES and IMAGE_HEIGHT do not apply to 2D images.
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
    t.pixel_store_i32(gl::UNPACK_IMAGE_HEIGHT, 4);
    t.pixel_store_i32(gl::UNPACK_SKIP_IMAGES, 1);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::R8 as i32,
        2,
        2,
        0,
        gl::RED,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&source)),
    );
    let mut data = [0u8; 4];
    t.get_tex_image(gl::TEXTURE_2D, 0, gl::RED, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
    t.equal(data, [0, 1, 2, 3], "2D image");
    reset_unpack(t);
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
}

unsafe fn unpack_swap_bytes(t: &Scene) {
    t.pixel_store_bool(gl::UNPACK_SWAP_BYTES, true);
    t.texture_of(1, 1, gl::RGBA16, gl::RGBA, gl::UNSIGNED_SHORT, &[0x0102u16, 0x0304, 0xff00, 0x00ff]);
    t.pixel_store_bool(gl::UNPACK_SWAP_BYTES, false);
    let mut data = [0u16; 4];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::UNSIGNED_SHORT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    t.equal(data, [0x0201, 0x0403, 0x00ff, 0xff00], "UNPACK_SWAP_BYTES");
    t.pixel_store_bool(gl::PACK_SWAP_BYTES, true);
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::UNSIGNED_SHORT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    t.pixel_store_bool(gl::PACK_SWAP_BYTES, false);
    t.equal(data, [0x0102, 0x0304, 0xff00, 0x00ff], "PACK_SWAP_BYTES");
}

/// The last row of an image ends with its last pixel: a buffer of exactly (height - 1) * row + width pixels is enough.
unsafe fn reads_no_further(t: &Scene) {
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 16);
    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 12);
    let exact = (3 * 16 + 16) * 4usize;
    let data: Vec<u8> = (0..exact).map(|i| i as u8).collect();
    let buffer = t.buffer(gl::PIXEL_UNPACK_BUFFER, &data);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::BufferOffset(0),
    );
    t.no_error("a buffer that holds exactly the pixels");
    // One byte less is an error, because the last pixel is outside.
    t.buffer_data_size(gl::PIXEL_UNPACK_BUFFER, exact as i32 - 1, gl::STATIC_DRAW);
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        0,
        0,
        0,
        4,
        4,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::BufferOffset(0),
    );
    t.error(gl::INVALID_OPERATION, "a buffer that is a byte short");
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    t.delete_buffer(buffer);
    let got = texels(t, 4, 4);
    let at = ((3 * 16 + 15) * 4) as u8;
    t.equal(got[15], [at, at + 1, at + 2, at + 3], "the last pixel");
    reset_unpack(t);
}

unsafe fn sub_images(t: &Scene) {
    t.target(16, 16);
    t.texture(16, 16, &[[0, 0, 0, 255]; 256]);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    // Many overlapping uploads between draws; the last one wins, pixel by pixel.
    let mut model = [[0u8, 0, 0, 255]; 256];
    for round in 0..3u32 {
        for i in 0..40u32 {
            let n = i + 40 * round;
            let (x, y) = ((n * 7) % 13, (n * 5) % 11);
            let (w, h) = (1 + n % 3, 1 + (n / 3) % 5);
            let color = [(n * 3 % 256) as u8, (n * 11 % 256) as u8, (n * 29 % 256) as u8, 255];
            let data = vec![color; (w * h) as usize];
            t.tex_sub_image_2d(
                gl::TEXTURE_2D,
                0,
                x as i32,
                y as i32,
                w as i32,
                h as i32,
                gl::RGBA,
                gl::UNSIGNED_BYTE,
                gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&data))),
            );
            for (yy, xx) in (y..y + h).flat_map(|yy| (x..x + w).map(move |xx| (yy, xx))) {
                model[(yy * 16 + xx) as usize] = color;
            }
        }
        t.fill();
        let picture = t.read(16, 16);
        let wrong = (0..256).find(|i| picture.pixel(i % 16, i / 16) != model[*i]);
        t.check(wrong.is_none(), format!("round {round}: texel {wrong:?} is wrong"));
    }
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        0,
        10,
        10,
        7,
        1,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[0; 28])),
    );
    t.error(gl::INVALID_VALUE, "a sub-image across the border");
    t.compare("picture", &t.read(16, 16), crate::picture::Tolerance::EXACT);
}

/// A partial upload must not overwrite texels that only the GPU has written.
/// Many small boxes, side by side, apart and over each other, in no order: what waits together may be joined, and what nobody
/// wrote stays.
unsafe fn sub_images_mosaic(t: &Scene) {
    const SIDE: usize = 64;
    for (target, layers) in [(gl::TEXTURE_2D, 1), (gl::TEXTURE_2D_ARRAY, 3)] {
        let texture = t.create_texture().unwrap();
        t.bind_texture(target, Some(texture));
        let mut expected = vec![[0u8, 0, 255, 255]; SIDE * SIDE * layers];
        let all = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&expected[..])));
        let (rgba, bytes, side) = (gl::RGBA, gl::UNSIGNED_BYTE, SIDE as i32);
        if target == gl::TEXTURE_2D {
            t.tex_image_2d(target, 0, gl::RGBA8 as i32, side, side, 0, rgba, bytes, all);
        } else {
            t.tex_image_3d(target, 0, gl::RGBA8 as i32, side, side, layers as i32, 0, rgba, bytes, all);
        }
        // What is there now is settled: later boxes wait for each other.
        let mut seen = vec![[0u8; 4]; expected.len()];
        let into = |seen: &mut Vec<[u8; 4]>| {
            let data = gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut seen[..])));
            t.get_tex_image(target, 0, rgba, bytes, data);
        };
        into(&mut seen);
        t.check(seen == expected, "the image before");
        for step in 0..200usize {
            // 144 places of 5 x 5, a step through all of them, with boxes of other sizes among them.
            let (width, height) = if step % 10 == 9 { (7, 3) } else { (5, 5) };
            let place = step * 89 % 144;
            let (x, y, z) = (place % 12 * 5, place / 12 * 5, place / 7 % layers);
            if step % 13 == 5 {
                continue;
            }
            let tile: Vec<[u8; 4]> = (0..width * height).map(|i| [step as u8, i as u8, 7, 200]).collect();
            let source = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&tile)));
            let (x0, y0, w, h) = (x as i32, y as i32, width as i32, height as i32);
            if target == gl::TEXTURE_2D {
                t.tex_sub_image_2d(target, 0, x0, y0, w, h, rgba, bytes, source);
            } else {
                t.tex_sub_image_3d(target, 0, x0, y0, z as i32, w, h, 1, rgba, bytes, source);
            }
            for row in 0..height {
                let at = (z * SIDE + y + row) * SIDE + x;
                expected[at..at + width].copy_from_slice(&tile[row * width..][..width]);
            }
        }
        into(&mut seen);
        let wrong = seen.iter().zip(&expected).position(|(a, b)| a != b);
        t.equal(wrong, None, &format!("the first texel that is another one, of {layers} layers"));
    }
}

unsafe fn sub_image_over_rendered(t: &Scene) {
    let target = t.target(16, 16);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
    let red = [[255u8, 0, 0, 255]; 4];
    let red = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&red)));
    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 2, 2, gl::RGBA, gl::UNSIGNED_BYTE, red);
    let green = [[0u8, 255, 0, 255]; 4];
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        0,
        14,
        14,
        2,
        2,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&green))),
    );
    let picture = t.read(16, 16);
    t.area(&picture, (0, 0, 2, 2), [255, 0, 0, 255], 0, "first upload");
    t.area(&picture, (14, 14, 16, 16), [0, 255, 0, 255], 0, "second upload");
    t.equal(picture.count(|p| p == [0, 0, 255, 255]), 248, "rendered texels that remain");
    t.equal(texels(t, 16, 16)[5 * 16 + 5], [0, 0, 255, 255], "glGetTexImage of a rendered texel");
}

unsafe fn pack_row_length_skip(t: &Scene) {
    t.target(4, 4);
    t.program(FULL_VS, "out vec4 result; void main() { result = vec4(gl_FragCoord.xy * 10.0, 7.0, 255.0) / 255.0; }");
    t.vertex_array();
    t.fill();
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, 6);
    t.pixel_store_i32(gl::PACK_SKIP_PIXELS, 1);
    t.pixel_store_i32(gl::PACK_SKIP_ROWS, 2);
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 8);
    let mut data = [[99u8; 4]; 6 * 6];
    t.read_pixels(
        1,
        1,
        3,
        3,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    for name in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS] {
        t.pixel_store_i32(name, 0);
    }
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
    for (i, texel) in data.iter().enumerate() {
        let (x, y) = (i % 6, i / 6);
        let inside = (1..4).contains(&x) && (2..5).contains(&y);
        if inside {
            // Pixel centres at half coordinates; both roundings of the half are right.
            let (px, py) = (x as f32 * 10.0 + 5.0, (y as f32 - 1.0) * 10.0 + 5.0);
            let close = (f32::from(texel[0]) - px).abs() <= 1.0 && (f32::from(texel[1]) - py).abs() <= 1.0;
            t.check(close && texel[2] == 7, format!("pixel {x}, {y}: {texel:?}, expected {px}, {py}"));
        } else {
            t.equal(*texel, [99; 4], &format!("memory at {x}, {y} is not the image's"));
        }
    }
}

unsafe fn unpack_buffer(t: &Scene) {
    t.target(8, 8);
    let data: Vec<[u8; 4]> = (0..20).map(|i| [i, 2 * i, 3 * i, 255]).collect();
    let buffer = t.buffer(gl::PIXEL_UNPACK_BUFFER, &data);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::BufferOffset(16),
    );
    // Changing the buffer afterwards changes nothing that was uploaded.
    t.buffer_sub_data_u8_slice(gl::PIXEL_UNPACK_BUFFER, 16, &[200; 64]);
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        0,
        3,
        3,
        1,
        1,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::BufferOffset(16),
    );
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    t.delete_buffer(buffer);
    t.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.fill();
    let picture = t.read(8, 8);
    for i in 0..15u8 {
        let (x, y) = (usize::from(i % 4) * 2, usize::from(i / 4) * 2);
        t.pixel(&picture, x, y, [i + 4, 2 * (i + 4), 3 * (i + 4), 255], 0, &format!("texel {i}"));
    }
    t.pixel(&picture, 7, 7, [200; 4], 0, "sub-image from the buffer");
    let buffer = t.buffer(gl::PIXEL_UNPACK_BUFFER, &[0u8; 63]);
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        0,
        0,
        0,
        4,
        4,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::BufferOffset(0),
    );
    t.error(gl::INVALID_OPERATION, "the image exceeds the buffer");
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    t.delete_buffer(buffer);
}

unsafe fn pack_buffer(t: &Scene) {
    t.target(8, 8);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &[7u8; 600]);
    t.read_pixels(0, 0, 8, 8, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(8));
    // The read-back is ordered: what is drawn afterwards does not show in it.
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.read_pixels(0, 0, 8, 8, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(300));
    let mut data = [0u8; 600];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut data);
    t.equal(&data[..12], &[7, 7, 7, 7, 7, 7, 7, 7, 255, 0, 0, 255], "start of the first image");
    t.equal(&data[260..268], &[255, 0, 0, 255, 7, 7, 7, 7], "end of the first image");
    t.equal(&data[264 + 8..264 + 12], &[7; 4], "between the images");
    t.equal(&data[300..304], &[0, 255, 0, 255], "start of the second image");
    t.equal(&data[552..560], &[0, 255, 0, 255, 7, 7, 7, 7], "end of the second image");
    // Mapped memory shows the same.
    let p = t.raw.MapBufferRange(gl::PIXEL_PACK_BUFFER, 300, 4, gl::MAP_READ_BIT).cast::<u8>();
    t.check(!p.is_null(), "mapping of the pack buffer");
    if !p.is_null() {
        t.equal(std::slice::from_raw_parts(p, 4), &[0, 255, 0, 255], "mapped read-back");
        t.raw.UnmapBuffer(gl::PIXEL_PACK_BUFFER);
    }
    // A read-back used as vertex data stays on the GPU side of things.
    t.read_pixels(0, 0, 8, 8, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(400));
    t.error(gl::INVALID_OPERATION, "the image exceeds the buffer");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.delete_buffer(buffer);
}

unsafe fn get_tex_image(t: &Scene) {
    // Conversions on the way back, of uploaded and of rendered contents.
    let target = t.target(4, 4);
    t.clear_color(0.2, 0.4, 0.6, 0.8);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
    let mut floats = [[0.0f32; 4]; 16];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::FLOAT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut floats))),
    );
    for (c, expected) in [0.2, 0.4, 0.6, 0.8].into_iter().enumerate() {
        t.near(floats[5][c], expected, 0.003, "floats of a rendered texture");
    }
    let mut bgra = [[0u8; 4]; 16];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::BGRA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut bgra))),
    );
    t.equal(bgra[9], [153, 102, 51, 204], "BGRA of a rendered texture");
    let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &[0u8; 64]);
    t.get_tex_image(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(0));
    let mut data = [0u8; 64];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut data);
    t.equal(&data[60..], &[51, 102, 153, 204], "into a pack buffer");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.delete_buffer(buffer);
    t.texture_of(2, 2, gl::R16F, gl::RED, gl::FLOAT, &[0.5f32, -2.0, 1024.0, 0.0]);
    let mut v = [0.0f32; 4];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RED,
        gl::FLOAT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut v))),
    );
    t.equal(v, [0.5, -2.0, 1024.0, 0.0], "R16F");
    t.texture_of(2, 1, gl::RG32UI, gl::RG_INTEGER, gl::UNSIGNED_INT, &[1u32, u32::MAX, 3, 4]);
    let mut v = [0u32; 4];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RG_INTEGER,
        gl::UNSIGNED_INT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut v))),
    );
    t.equal(v, [1, u32::MAX, 3, 4], "RG32UI");
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::FLOAT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut floats))),
    );
    t.error(gl::INVALID_OPERATION, "integers as floats");
    // Cube faces by their own targets.
    let cube = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_CUBE_MAP, Some(cube));
    for face in 0..6u32 {
        t.tex_image_2d(
            gl::TEXTURE_CUBE_MAP_POSITIVE_X + face,
            0,
            gl::RGBA8 as i32,
            1,
            1,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&[face as u8, 1, 2, 3])),
        );
    }
    let mut v = [0u8; 4];
    t.get_tex_image(
        gl::TEXTURE_CUBE_MAP_NEGATIVE_Y,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(&mut v)),
    );
    t.equal(v, [3, 1, 2, 3], "a cube face");
}
