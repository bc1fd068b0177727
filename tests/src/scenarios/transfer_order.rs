//! Uploads between draws, side by side and over each other, and pixels that are packed while other work goes on: everything
//! looks as if it had been done in the order of the commands.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("transfer_order_tiles", tiles),
    Scenario::new("transfer_order_buffer_parts", buffer_parts),
    Scenario::new("transfer_order_pack_conversions", pack_conversions),
    Scenario::new("transfer_order_pack_and_use", pack_and_use),
];

/// Numbers without a short period, the same in every run.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }
}

const FETCH_FS: &str = "
#version 330 core
uniform sampler2D image;
uniform ivec2 texel;
out vec4 color;
void main() { color = texelFetch(image, texel, 0); }
";

/// Tiles of sizes that some drivers send at once and others that they collect, with draws that look at single texels.
unsafe fn tiles(t: &Scene) {
    const SIZE: usize = 96;
    const CELLS: usize = 16;
    t.target(CELLS as i32, CELLS as i32);
    let program = t.program(FULL_VS, FETCH_FS);
    t.set_int(program, "image", 0);
    let texel = t.uniform(program, "texel");
    t.vertex_array();
    let mut model = vec![[0u8; 4]; SIZE * SIZE];
    let texture = t.texture(SIZE as i32, SIZE as i32, &model);
    let other = t.texture(SIZE as i32, SIZE as i32, &model);
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    let mut numbers = Numbers(7);
    let mut expected = Vec::new();
    for cell in 0..CELLS * CELLS {
        // Neighbours in a row first, then anywhere.
        for i in 0..1 + numbers.below(4) {
            let (w, h) = [(32, 32), (8, 8), (64, 32), (32, 48)][numbers.below(4)];
            let row = cell % 3 == 0;
            let x = if row { (i * w).min(SIZE - w) } else { numbers.below(SIZE - w + 1) };
            let y = if row { cell % (SIZE - h + 1) } else { numbers.below(SIZE - h + 1) };
            let color = [numbers.below(256) as u8, cell as u8, i as u8, 255];
            let data = vec![color; w * h];
            let pixels = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&data)));
            let (x_, y_) = (x as i32, y as i32);
            t.tex_sub_image_2d(gl::TEXTURE_2D, 0, x_, y_, w as i32, h as i32, gl::RGBA, gl::UNSIGNED_BYTE, pixels);
            for line in y..y + h {
                model[line * SIZE + x..line * SIZE + x + w].fill(color);
            }
        }
        if cell % 17 == 0 {
            // Another image in between, and a look at the whole.
            t.bind_texture(gl::TEXTURE_2D, Some(other));
            let data = vec![[1u8; 4]; 32 * 32];
            let pixels = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&data)));
            t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 32, 32, gl::RGBA, gl::UNSIGNED_BYTE, pixels);
            t.bind_texture(gl::TEXTURE_2D, Some(texture));
        }
        let (x, y) = (numbers.below(SIZE), numbers.below(SIZE));
        t.uniform_2_i32(Some(&texel), x as i32, y as i32);
        t.viewport((cell % CELLS) as i32, (cell / CELLS) as i32, 1, 1);
        t.fill();
        expected.push(model[y * SIZE + x]);
    }
    let picture = t.read(CELLS as i32, CELLS as i32);
    for (cell, color) in expected.into_iter().enumerate() {
        t.pixel(&picture, cell % CELLS, cell / CELLS, color, 0, &format!("draw {cell}"));
    }
    let texels: Vec<[u8; 4]> = t.texels(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, SIZE * SIZE);
    t.equal(texels.iter().zip(&model).position(|(a, b)| a != b), None, "the texture in the end");
}

const POINT_VS: &str = "
#version 330 core
layout(location = 0) in vec4 shade;
uniform vec2 cell;
flat out vec4 v_shade;
void main() { gl_Position = vec4(cell, 0.0, 1.0); v_shade = shade; }
";
const POINT_FS: &str = "
#version 330 core
flat in vec4 v_shade;
out vec4 color;
void main() { color = v_shade; }
";

/// Parts of a vertex buffer written beside and over what draws fetch: by vertex, by index and by instance.
unsafe fn buffer_parts(t: &Scene) {
    const CELLS: usize = 24;
    const VERTICES: usize = 4096;
    t.target(CELLS as i32, CELLS as i32);
    let program = t.program(POINT_VS, POINT_FS);
    let place = t.uniform(program, "cell");
    t.vertex_array();
    let indices: Vec<u32> = (0..VERTICES as u32).collect();
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices);
    let mut model = vec![[0.0f32; 4]; VERTICES];
    let buffer = t.buffer(gl::ARRAY_BUFFER, &model);
    let scratch = t.buffer(gl::COPY_READ_BUFFER, &model);
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    t.attribute(0, 4, 4, 0);
    let mut numbers = Numbers(11);
    let mut expected = Vec::new();
    for cell in 0..CELLS * CELLS {
        for i in 0..numbers.below(4) {
            let len = [1, 7, 64, 900][numbers.below(4)];
            // One after the other first, then anywhere.
            let at =
                if cell % 2 == 0 { (cell * 5 + i * 16) % (VERTICES - len) } else { numbers.below(VERTICES - len + 1) };
            let shade = [numbers.below(256), cell % 256, i * 80, 255].map(|v| v as f32 / 255.0);
            let data = vec![shade; len];
            let bytes: &[u8] = bytemuck::cast_slice(&data);
            let offset = (at * 16) as i32;
            match numbers.below(4) {
                0 => {
                    let access = gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_RANGE_BIT;
                    let p = t.map_buffer_range(gl::ARRAY_BUFFER, offset, bytes.len() as i32, access);
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len());
                    t.unmap_buffer(gl::ARRAY_BUFFER);
                }
                1 => {
                    t.buffer_sub_data_u8_slice(gl::COPY_READ_BUFFER, offset, bytes);
                    let len = bytes.len() as i32;
                    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::ARRAY_BUFFER, offset, offset, len);
                }
                _ => t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, offset, bytes),
            }
            model[at..at + len].fill(shade);
        }
        let vertex = |at: usize| ((at as f32 + 0.5) / CELLS as f32) * 2.0 - 1.0;
        t.uniform_2_f32(Some(&place), vertex(cell % CELLS), vertex(cell / CELLS));
        let (first, count) = (numbers.below(VERTICES - 8), 1 + numbers.below(8));
        // The last of several points is the one to be seen.
        let mut seen = first + count - 1;
        match cell % 8 {
            0 => t.draw_elements(gl::POINTS, count as i32, gl::UNSIGNED_INT, first as i32 * 4),
            1 => t.draw_elements_base_vertex(gl::POINTS, count as i32, gl::UNSIGNED_INT, 0, first as i32),
            2 => {
                t.vertex_attrib_divisor(0, 1);
                t.draw_arrays_instanced(gl::POINTS, 0, 1, count as i32);
                t.vertex_attrib_divisor(0, 0);
                seen = count - 1;
            }
            3 => {
                t.attribute(0, 4, 4, first as i32 * 4);
                t.draw_arrays(gl::POINTS, 0, count as i32);
                t.attribute(0, 4, 4, 0);
            }
            _ => t.draw_arrays(gl::POINTS, first as i32, count as i32),
        }
        expected.push(model[seen].map(|v| (v * 255.0).round() as u8));
        if cell % 31 == 30 {
            // Another buffer's turn.
            t.bind_buffer(gl::ARRAY_BUFFER, Some(scratch));
            t.attribute(0, 4, 4, 0);
            t.draw_arrays(gl::POINTS, 0, 0);
            t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
            t.attribute(0, 4, 4, 0);
        }
    }
    let picture = t.read(CELLS as i32, CELLS as i32);
    for (cell, color) in expected.into_iter().enumerate() {
        t.pixel(&picture, cell % CELLS, cell / CELLS, color, 1, &format!("draw {cell}"));
    }
    let mut back = vec![[0.0f32; 4]; VERTICES];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, bytemuck::cast_slice_mut(&mut back));
    t.equal(back.iter().zip(&model).position(|(a, b)| a != b), None, "the buffer in the end");
}

/// A framebuffer of 8 × 8 pixels of one colour.
unsafe fn shade(t: &Scene, color: [f32; 4]) {
    t.clear_color(color[0], color[1], color[2], color[3]);
    t.clear(gl::COLOR_BUFFER_BIT);
}

unsafe fn pack(t: &Scene, format: u32, type_: u32, offset: u32) {
    t.read_pixels(0, 0, 8, 8, format, type_, gl::PixelPackData::BufferOffset(offset));
}

/// Pixels of another form than texels in a pack buffer, while the framebuffer changes.
unsafe fn pack_conversions(t: &Scene) {
    let target = t.target(8, 8);
    let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &[9u8; 4096]);
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
    shade(t, [1.0, 0.0, 0.2, 1.0]);
    pack(t, gl::BGRA, gl::UNSIGNED_BYTE, 0);
    shade(t, [0.0, 1.0, 0.4, 1.0]);
    pack(t, gl::RGB, gl::UNSIGNED_BYTE, 256);
    shade(t, [0.2, 0.4, 0.6, 0.8]);
    pack(t, gl::RGBA, gl::FLOAT, 512);
    // Rows further apart than they are long, and skipped pixels: what lies between stays.
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, 12);
    t.pixel_store_i32(gl::PACK_SKIP_PIXELS, 2);
    t.pixel_store_i32(gl::PACK_SKIP_ROWS, 1);
    pack(t, gl::RGB, gl::UNSIGNED_BYTE, 2048);
    for name in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS] {
        t.pixel_store_i32(name, 0);
    }
    // The texture's own image, upside down from nothing that comes later.
    t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
    t.get_tex_image(gl::TEXTURE_2D, 0, gl::BGR, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(3000));
    shade(t, [0.0; 4]);
    let mut bytes = vec![0u8; 4096];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut bytes);
    let all = |range: std::ops::Range<usize>, pixel: &[u8]| bytes[range].chunks(pixel.len()).all(|p| p == pixel);
    t.check(all(0..256, &[51, 0, 255, 255]), "BGRA");
    t.check(all(256..448, &[0, 255, 102]), "RGB");
    t.check(all(448..512, &[9]), "between RGB and floats");
    let floats: &[f32] = bytemuck::cast_slice(&bytes[512..1536]);
    let near = floats.chunks(4).all(|p| p.iter().zip([0.2, 0.4, 0.6, 0.8]).all(|(a, b)| (a - b).abs() < 0.003));
    t.check(near, "floats");
    t.check(all(1536..2048, &[9]), "between floats and rows");
    for row in 0..8 {
        let start = 2048 + ((row + 1) * 12 + 2) * 3;
        t.check(all(start..start + 24, &[51, 102, 153]), format!("row {row}"));
        t.check(all(start - 6..start, &[9]), format!("before row {row}"));
    }
    t.check(all(3000..3192, &[153, 102, 51]), "the texture");
    t.check(all(3192..4096, &[9]), "the rest");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.delete_buffer(buffer);
}

/// Pixels of another form than texels are there for everything that may be done with the buffer next.
unsafe fn pack_and_use(t: &Scene) {
    t.target(8, 8);
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 1);
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 1);
    let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &[9u8; 256]);
    let read = |at: i32| {
        let mut pixel = [0u8; 4];
        t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, at, &mut pixel);
        pixel
    };
    let red = [0, 0, 255, 255];
    let packed = || {
        shade(t, [1.0, 0.0, 0.0, 1.0]);
        pack(t, gl::BGRA, gl::UNSIGNED_BYTE, 0);
        shade(t, [0.0, 1.0, 0.0, 1.0]);
    };
    packed();
    t.buffer_sub_data_u8_slice(gl::PIXEL_PACK_BUFFER, 4, &[1, 2, 3, 4]);
    t.equal([read(0), read(4), read(8)], [red, [1, 2, 3, 4], red], "a part is written afterwards");
    packed();
    pack(t, gl::RGBA, gl::UNSIGNED_BYTE, 0);
    t.equal([read(0), read(252)], [[0, 255, 0, 255]; 2], "packed as stored afterwards");
    packed();
    pack(t, gl::BGRA, gl::UNSIGNED_BYTE, 0);
    t.equal([read(0), read(252)], [[0, 255, 0, 255]; 2], "packed again");
    packed();
    let p = t.map_buffer_range(gl::PIXEL_PACK_BUFFER, 8, 8, gl::MAP_READ_BIT | gl::MAP_WRITE_BIT);
    t.equal(std::slice::from_raw_parts(p, 4), &red[..], "mapped");
    std::ptr::copy_nonoverlapping([5u8; 4].as_ptr(), p, 4);
    t.unmap_buffer(gl::PIXEL_PACK_BUFFER);
    t.equal([read(0), read(8), read(12)], [red, [5; 4], red], "written through a mapping");
    packed();
    let p = t.map_buffer_range(gl::PIXEL_PACK_BUFFER, 0, 4, gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_RANGE_BIT);
    std::ptr::copy_nonoverlapping([6u8; 4].as_ptr(), p, 4);
    t.unmap_buffer(gl::PIXEL_PACK_BUFFER);
    t.equal([read(0), read(4)], [[6; 4], red], "a part is discarded and written");
    packed();
    t.buffer_data_u8_slice(gl::PIXEL_PACK_BUFFER, &[7u8; 256], gl::STREAM_READ);
    t.equal([read(0), read(252)], [[7; 4]; 2], "replaced afterwards");
    // A copy from it and a copy to it.
    let copy = t.buffer(gl::COPY_WRITE_BUFFER, &[8u8; 256]);
    packed();
    t.copy_buffer_sub_data(gl::PIXEL_PACK_BUFFER, gl::COPY_WRITE_BUFFER, 0, 0, 256);
    let mut pixel = [0u8; 4];
    t.get_buffer_sub_data(gl::COPY_WRITE_BUFFER, 252, &mut pixel);
    t.equal(pixel, red, "copied from");
    packed();
    t.buffer_sub_data_u8_slice(gl::COPY_WRITE_BUFFER, 0, &[8u8; 256]);
    t.copy_buffer_sub_data(gl::COPY_WRITE_BUFFER, gl::PIXEL_PACK_BUFFER, 0, 4, 8);
    t.equal([read(0), read(4), read(8), read(12)], [red, [8; 4], [8; 4], red], "copied to");
    t.delete_buffer(copy);
    // The source of an upload.
    packed();
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, Some(buffer));
    let texture = t.texture_name(gl::TEXTURE_2D);
    let from = gl::PixelUnpackData::BufferOffset(0);
    t.tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 8, 8, 0, gl::BGRA, gl::UNSIGNED_BYTE, from);
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    let texels: Vec<[u8; 4]> = t.texels(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 64);
    t.check(texels.iter().all(|texel| *texel == [255, 0, 0, 255]), "uploaded");
    t.delete_texture(texture);
    // Vertices: bound before the pixels are packed, and after.
    let program = t.program(POINT_VS, POINT_FS);
    let place = t.uniform(program, "cell");
    for before in [false, true] {
        t.vertex_array();
        let buffer = t.buffer(gl::PIXEL_PACK_BUFFER, &[9u8; 1024]);
        t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
        if before {
            t.attribute(0, 4, 4, 0);
        }
        shade(t, [1.0, 0.2, 0.6, 1.0]);
        pack(t, gl::RGBA, gl::FLOAT, 0);
        if !before {
            t.attribute(0, 4, 4, 0);
        }
        t.uniform_2_f32(Some(&place), 0.1, 0.1);
        shade(t, [0.0; 4]);
        t.draw_arrays(gl::POINTS, 63, 1);
        t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
        let picture = t.read(8, 8);
        t.pixel(&picture, 4, 4, [255, 51, 153, 255], 1, if before { "drawn, bound before" } else { "drawn" });
        t.delete_buffer(buffer);
    }
}
