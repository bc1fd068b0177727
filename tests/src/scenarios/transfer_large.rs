//! Transfers of images that are too large to travel in one piece.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("transfer_large_formats", formats),
    Scenario::new("transfer_large_parts_of_rows", parts_of_rows),
    Scenario::new("transfer_large_volumes", volumes),
    Scenario::new("transfer_large_read_pixels", read_pixels),
    Scenario::new("transfer_many_boxes", many_boxes),
];

/// Bytes without a short period, each of them below 0x7c so that half floats and floats of them are numbers.
fn pattern(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| ((i ^ ((i >> 7) * 31) ^ ((i >> 15) * 17)) + seed) as u8 % 0x78).collect()
}

/// Where two byte strings differ first; `None` when they are equal.
fn difference(a: &[u8], b: &[u8]) -> Option<usize> {
    if a.len() != b.len() {
        return Some(a.len().min(b.len()));
    }
    a.iter().zip(b).position(|(a, b)| a != b)
}

unsafe fn new_texture(t: &Scene, target: u32) -> gl::NativeTexture {
    let texture = t.create_texture().unwrap();
    t.bind_texture(target, Some(texture));
    t.tex_parameter_i32(target, gl::TEXTURE_MAX_LEVEL, 0);
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
    texture
}

unsafe fn image(t: &Scene, target: u32, format: u32, type_: u32, n: usize) -> Vec<u8> {
    let mut data = vec![0xee; n];
    t.get_tex_image(target, 0, format, type_, gl::PixelPackData::Slice(Some(&mut data)));
    data
}

unsafe fn formats(t: &Scene) {
    const W: usize = 1201;
    const H: usize = 907;
    for (internal, format, type_, bytes) in [
        (gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE, 4),
        (gl::RGBA8, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, 4),
        (gl::RGB8, gl::RGB, gl::UNSIGNED_BYTE, 3),
        (gl::R8, gl::RED, gl::UNSIGNED_BYTE, 1),
        (gl::RGBA16F, gl::RGBA, gl::HALF_FLOAT, 8),
        (gl::DEPTH24_STENCIL8, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 4),
    ] {
        let what = format!("format {format:#x} type {type_:#x}");
        new_texture(t, gl::TEXTURE_2D);
        // Twice: the second image finds storage that is there already. Then from a buffer.
        for round in 0..3 {
            let data = pattern(W * H * bytes, round);
            if round == 2 {
                let buffer = t.create_buffer().unwrap();
                t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, Some(buffer));
                t.buffer_data_u8_slice(gl::PIXEL_UNPACK_BUFFER, &data, gl::STREAM_DRAW);
            }
            let source = match round {
                2 => gl::PixelUnpackData::BufferOffset(0),
                _ => gl::PixelUnpackData::Slice(Some(&data[..])),
            };
            let (w, h) = (W as i32, H as i32);
            t.tex_image_2d(gl::TEXTURE_2D, 0, internal as i32, w, h, 0, format, type_, source);
            t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
            let back = image(t, gl::TEXTURE_2D, format, type_, data.len());
            t.equal(difference(&back, &data), None, &format!("{what}, round {round}: first byte that differs"));
        }
        // Into a buffer, which a conversion must not spoil around the image.
        let buffer = t.create_buffer().unwrap();
        t.bind_buffer(gl::PIXEL_PACK_BUFFER, Some(buffer));
        let n = W * H * bytes;
        t.buffer_data_u8_slice(gl::PIXEL_PACK_BUFFER, &vec![0x55; n + 64], gl::STREAM_READ);
        t.get_tex_image(gl::TEXTURE_2D, 0, format, type_, gl::PixelPackData::BufferOffset(32));
        let mut back = vec![0; n + 64];
        t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut back);
        t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
        t.equal(difference(&back[32..32 + n], &pattern(n, 2)), None, &format!("{what}, into a buffer"));
        t.check(back[..32].iter().chain(&back[32 + n..]).all(|&b| b == 0x55), format!("{what}: around the image"));
    }
}

unsafe fn parts_of_rows(t: &Scene) {
    const W: usize = 1024;
    const H: usize = 1024;
    new_texture(t, gl::TEXTURE_2D);
    let mut expected = pattern(W * H * 4, 3);
    let source = gl::PixelUnpackData::Slice(Some(&expected[..]));
    t.tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 1024, 1024, 0, gl::RGBA, gl::UNSIGNED_BYTE, source);
    // A part of a wider image goes to a part of the texture, as it is and with its components exchanged.
    let wide = pattern(1000 * 950 * 4, 5);
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 1000);
    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 7);
    t.pixel_store_i32(gl::UNPACK_SKIP_ROWS, 11);
    for (format, order, x0, y0) in [(gl::RGBA, [0, 1, 2, 3], 13, 17), (gl::BGRA, [2, 1, 0, 3], 101, 113)] {
        let (w, h) = (900, 880);
        let source = gl::PixelUnpackData::Slice(Some(&wide[..]));
        t.tex_sub_image_2d(gl::TEXTURE_2D, 0, x0 as i32, y0 as i32, w, h, format, gl::UNSIGNED_BYTE, source);
        for y in 0..h as usize {
            for x in 0..w as usize {
                let (from, to) = (((y + 11) * 1000 + x + 7) * 4, ((y + y0) * W + x + x0) * 4);
                for (component, byte) in order.into_iter().enumerate() {
                    expected[to + component] = wide[from + byte];
                }
            }
        }
        let back = image(t, gl::TEXTURE_2D, gl::RGBA, gl::UNSIGNED_BYTE, expected.len());
        t.equal(difference(&back, &expected), None, &format!("format {format:#x}: first byte that differs"));
    }
    for name in [gl::UNPACK_ROW_LENGTH, gl::UNPACK_SKIP_PIXELS, gl::UNPACK_SKIP_ROWS] {
        t.pixel_store_i32(name, 0);
    }
}

unsafe fn volumes(t: &Scene) {
    let (w, h, d) = (190usize, 97usize, 70usize);
    for target in [gl::TEXTURE_3D, gl::TEXTURE_2D_ARRAY] {
        new_texture(t, target);
        let mut expected = pattern(w * h * d * 4, 1);
        let size = (w as i32, h as i32, d as i32);
        let rgba = (gl::RGBA, gl::UNSIGNED_BYTE);
        let source = gl::PixelUnpackData::Slice(Some(&expected[..]));
        t.tex_image_3d(target, 0, gl::RGBA8 as i32, size.0, size.1, size.2, 0, rgba.0, rgba.1, source);
        let back = image(t, target, gl::RGBA, gl::UNSIGNED_BYTE, expected.len());
        t.equal(difference(&back, &expected), None, &format!("target {target:#x}: whole"));
        // The inner part of every slice but the first and last, from images that are further apart.
        let (pw, ph, pd) = (180usize, 90usize, 68usize);
        let part = pattern(pw * (ph + 5) * pd * 4, 9);
        t.pixel_store_i32(gl::UNPACK_IMAGE_HEIGHT, (ph + 5) as i32);
        let source = gl::PixelUnpackData::Slice(Some(&part[..]));
        t.tex_sub_image_3d(target, 0, 4, 3, 1, pw as i32, ph as i32, pd as i32, rgba.0, rgba.1, source);
        t.pixel_store_i32(gl::UNPACK_IMAGE_HEIGHT, 0);
        for z in 0..pd {
            for y in 0..ph {
                let (from, to) = ((z * (ph + 5) + y) * pw * 4, (((z + 1) * h + y + 3) * w + 4) * 4);
                expected[to..to + pw * 4].copy_from_slice(&part[from..from + pw * 4]);
            }
        }
        let back = image(t, target, gl::RGBA, gl::UNSIGNED_BYTE, expected.len());
        t.equal(difference(&back, &expected), None, &format!("target {target:#x}: part"));
        let back = image(t, target, gl::BGRA, gl::UNSIGNED_BYTE, expected.len());
        let turned: Vec<u8> = expected.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0], p[3]]).collect();
        t.equal(difference(&back, &turned), None, &format!("target {target:#x}: components exchanged"));
    }
}

unsafe fn read_pixels(t: &Scene) {
    const W: usize = 1100;
    const H: usize = 1000;
    let texture = new_texture(t, gl::TEXTURE_2D);
    let data = pattern(W * H * 4, 4);
    let source = gl::PixelUnpackData::Slice(Some(&data[..]));
    t.tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 1100, 1000, 0, gl::RGBA, gl::UNSIGNED_BYTE, source);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
    // A rectangle that reaches beyond the framebuffer on two sides, into rows that are longer than it.
    let (stride, rows) = (1300usize, 900usize);
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, stride as i32);
    for (format, order) in [(gl::RGBA, [0, 1, 2, 3]), (gl::BGRA, [2, 1, 0, 3])] {
        let mut out = vec![0xee; stride * rows * 4];
        let (x0, y0, w) = (-50i32, 300i32, 1000usize);
        let into = gl::PixelPackData::Slice(Some(&mut out[..]));
        t.read_pixels(x0, y0, w as i32, rows as i32, format, gl::UNSIGNED_BYTE, into);
        let mut expected = vec![0xee; stride * rows * 4];
        for y in 0..H - y0 as usize {
            for x in 50..w {
                let (from, to) = (((y + 300) * W + x - 50) * 4, (y * stride + x) * 4);
                for (component, byte) in order.into_iter().enumerate() {
                    expected[to + component] = data[from + byte];
                }
            }
        }
        t.equal(difference(&out, &expected), None, &format!("format {format:#x}: first byte that differs"));
    }
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, 0);
}

unsafe fn many_boxes(t: &Scene) {
    // Small boxes wait for each other; the later one of two that overlap wins, also when both wait.
    const SIZE: usize = 512;
    new_texture(t, gl::TEXTURE_2D);
    let mut expected = vec![9u8; SIZE * SIZE];
    let source = gl::PixelUnpackData::Slice(Some(&expected[..]));
    t.tex_image_2d(gl::TEXTURE_2D, 0, gl::R8 as i32, 512, 512, 0, gl::RED, gl::UNSIGNED_BYTE, source);
    let mut state = 12345usize;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for i in 0..600 {
        let (w, h) = (1 + random(if i % 5 == 0 { 300 } else { 60 }), 1 + random(60));
        let (x, y) = (random(SIZE - w), random(SIZE - h));
        let texels = pattern(w * h, i);
        let source = gl::PixelUnpackData::Slice(Some(&texels[..]));
        let (xi, yi) = (x as i32, y as i32);
        t.tex_sub_image_2d(gl::TEXTURE_2D, 0, xi, yi, w as i32, h as i32, gl::RED, gl::UNSIGNED_BYTE, source);
        for row in 0..h {
            let at = (y + row) * SIZE + x;
            expected[at..at + w].copy_from_slice(&texels[row * w..(row + 1) * w]);
        }
    }
    let back = image(t, gl::TEXTURE_2D, gl::RED, gl::UNSIGNED_BYTE, expected.len());
    t.equal(difference(&back, &expected), None, "first texel that differs");
}
