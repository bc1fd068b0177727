//! Memory of the application that ends where a page ends: nothing behind it may be touched.

use std::ffi::c_void;

use glow::{self as gl, HasContext as _};
use rustix::mm::{mmap_anonymous, mprotect, munmap, MapFlags, MprotectFlags, ProtFlags};

use crate::scene::{Scenario, Scene};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("page_end_uploads", uploads),
    Scenario::new("page_end_read_backs", read_backs),
    Scenario::new("page_end_buffers_and_texts", buffers_and_texts),
];

/// Bytes of a page, or a multiple of it.
const PAGE: usize = 1 << 16;

/// Memory before a page that nobody may touch.
struct Guarded(*mut u8);

impl Guarded {
    fn new() -> Guarded {
        // SAFETY: fresh memory at an address of the kernel's choice.
        let memory = unsafe {
            mmap_anonymous(std::ptr::null_mut(), 2 * PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = memory.expect("two pages").cast::<u8>();
        // SAFETY: the second half of the memory from above, in which nothing lies yet.
        unsafe { mprotect(start.add(PAGE).cast(), PAGE, MprotectFlags::empty()) }.expect("a page without access");
        Guarded(start)
    }

    /// The last `n` bytes, filled with `bytes`.
    fn holding(&self, bytes: &[u8]) -> *mut c_void {
        assert!(bytes.len() <= PAGE);
        // SAFETY: the bytes lie in the first half, which belongs to this value.
        unsafe {
            let place = self.0.add(PAGE - bytes.len());
            place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            place.cast()
        }
    }

    /// A copy of the last `n` bytes.
    fn last(&self, n: usize) -> Vec<u8> {
        assert!(n <= PAGE);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0.add(PAGE - n), n).to_vec() }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the memory that `new` made; no pointer into it outlives the scenario.
        let _ = unsafe { munmap(self.0.cast(), 2 * PAGE) };
    }
}

/// Formats and types with bytes of a pixel.
const PIXELS: [(u32, u32, usize); 7] = [
    (gl::RED, gl::UNSIGNED_BYTE, 1),
    (gl::RG, gl::UNSIGNED_BYTE, 2),
    (gl::RGB, gl::UNSIGNED_BYTE, 3),
    (gl::RGBA, gl::UNSIGNED_BYTE, 4),
    (gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, 4),
    (gl::RGB, gl::UNSIGNED_SHORT_5_6_5, 2),
    (gl::RGB, gl::FLOAT, 12),
];

/// Bytes of `height` rows of `row` pixels, of which the last ends after `width` pixels: (height - 1) × row + width pixels,
/// where rows begin at multiples of the alignment.
fn bytes_of(row: usize, width: usize, height: usize, pixel: usize, alignment: usize) -> usize {
    (height - 1) * (row * pixel).next_multiple_of(alignment) + width * pixel
}

unsafe fn uploads(t: &Scene) {
    let memory = Guarded::new();
    for (format, kind, pixel) in PIXELS {
        for (row, skip) in [(0usize, 0usize), (20, 0), (20, 13), (7, 0)] {
            for alignment in [1, 4, 8] {
                let (width, height) = (7usize, 5usize);
                let n = bytes_of(if row == 0 { width } else { row }, skip + width, height, pixel, alignment);
                let data = memory.holding(&vec![0x3f; n]);
                t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, row as i32);
                t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, skip as i32);
                t.pixel_store_i32(gl::UNPACK_ALIGNMENT, alignment as i32);
                let what = format!("{format:#x} {kind:#x}, rows of {row} after {skip}, alignment {alignment}");
                for internal in [gl::RGBA8, gl::RGB8, gl::RGBA32F] {
                    t.texture_name(gl::TEXTURE_2D);
                    let (w, h) = (width as i32, height as i32);
                    t.raw.TexImage2D(gl::TEXTURE_2D, 0, internal as i32, w, h, 0, format, kind, data);
                    t.no_error(&what);
                    let slice = std::slice::from_raw_parts(data.cast::<u8>(), n);
                    let part = gl::PixelUnpackData::Slice(Some(slice));
                    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, w, h, format, kind, part);
                    t.no_error(&what);
                }
                // The data were read to their end.
                t.texture_name(gl::TEXTURE_2D);
                t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 7, 5, 0, format, kind, data);
                let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 35);
                t.check(v[0][0] == v[34][0] && v[34][0] != 0, format!("{what}: {:?} and {:?}", v[0], v[34]));
            }
        }
    }
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 0);
    t.pixel_store_i32(gl::UNPACK_SKIP_PIXELS, 0);
    t.pixel_store_i32(gl::UNPACK_ALIGNMENT, 4);
    // Slices with a distance of their own, and blocks.
    t.pixel_store_i32(gl::UNPACK_IMAGE_HEIGHT, 9);
    let n = (2 * 9 + 3) * 16 + 16;
    let data = std::slice::from_raw_parts(memory.holding(&vec![7; n]).cast::<u8>(), n);
    t.texture_name(gl::TEXTURE_3D);
    let part = gl::PixelUnpackData::Slice(Some(data));
    t.tex_image_3d(gl::TEXTURE_3D, 0, gl::RGBA8 as i32, 4, 4, 3, 0, gl::RGBA, gl::UNSIGNED_BYTE, part);
    t.pixel_store_i32(gl::UNPACK_IMAGE_HEIGHT, 0);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_3D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 48);
    t.equal(v[47], [7; 4], "the last texel of a volume");
    t.texture_name(gl::TEXTURE_2D);
    let data = memory.holding(&[9; 32]);
    t.raw.CompressedTexImage2D(gl::TEXTURE_2D, 0, gl::COMPRESSED_RED_RGTC1, 5, 5, 0, 32, data);
    t.no_error("blocks");
}

unsafe fn read_backs(t: &Scene) {
    let memory = Guarded::new();
    t.target_of(7, 5, gl::RGBA8);
    t.clear_color(0.5, 0.5, 0.5, 0.5);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, 7, 5, 0);
    for (format, kind, pixel) in PIXELS {
        for (row, skip) in [(0usize, 0usize), (20, 0), (20, 13), (7, 0)] {
            for alignment in [1, 4, 8] {
                let n = bytes_of(if row == 0 { 7 } else { row }, skip + 7, 5, pixel, alignment);
                t.pixel_store_i32(gl::PACK_ROW_LENGTH, row as i32);
                t.pixel_store_i32(gl::PACK_SKIP_PIXELS, skip as i32);
                t.pixel_store_i32(gl::PACK_ALIGNMENT, alignment as i32);
                let what = format!("{format:#x} {kind:#x}, rows of {row} after {skip}, alignment {alignment}");
                for texels in [false, true] {
                    let data = memory.holding(&vec![0xee; n]).cast::<u8>();
                    let place = gl::PixelPackData::Slice(Some(std::slice::from_raw_parts_mut(data, n)));
                    if texels {
                        t.get_tex_image(gl::TEXTURE_2D, 0, format, kind, place);
                    } else {
                        t.read_pixels(0, 0, 7, 5, format, kind, place);
                    }
                    t.no_error(&what);
                    let seen = memory.last(n);
                    let first = &seen[skip * pixel..][..pixel];
                    t.equal(&seen[n - pixel..], first, &format!("{what}: the last pixel and the first"));
                    t.check(first.iter().any(|b| *b != 0xee), format!("{what}: nothing arrived"));
                    t.check(seen[..skip * pixel].iter().all(|b| *b == 0xee), format!("{what}: what is skipped"));
                }
            }
        }
    }
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, 0);
    t.pixel_store_i32(gl::PACK_SKIP_PIXELS, 0);
    t.pixel_store_i32(gl::PACK_ALIGNMENT, 4);
}

unsafe fn buffers_and_texts(t: &Scene) {
    let memory = Guarded::new();
    for n in [1usize, 3, 4, 17, 4096, PAGE] {
        let bytes: Vec<u8> = (0..n).map(|i| i as u8 ^ 0x5a).collect();
        let data = memory.holding(&bytes);
        let buffer = t.create_buffer().unwrap();
        t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
        t.raw.BufferData(gl::ARRAY_BUFFER, n as isize, data, gl::STATIC_DRAW);
        t.raw.BufferSubData(gl::ARRAY_BUFFER, 0, n as isize, data);
        let place = memory.holding(&vec![0; n]).cast::<u8>();
        t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, std::slice::from_raw_parts_mut(place, n));
        t.equal(memory.last(n), bytes, &format!("{n} bytes there and back"));
        t.no_error(&format!("{n} bytes"));
    }
    // A text with a length has no zero behind it.
    let text = b"#version 330 core\nvoid main() { gl_Position = vec4(0.0); }";
    let shader = t.raw.CreateShader(gl::VERTEX_SHADER);
    let places = [memory.holding(text).cast_const().cast()];
    t.raw.ShaderSource(shader, 1, places.as_ptr(), [text.len() as i32].as_ptr());
    let known = gl::NativeShader(std::num::NonZeroU32::new(shader).expect("a shader"));
    t.compile_shader(known);
    t.check(t.get_shader_compile_status(known), "a text at the end of a page");
    // Indices of an attribute's name and of an integer vector.
    let name = memory.holding(b"position\0").cast_const();
    let program = t.create_program().unwrap();
    t.bind_attrib_location(program, 3, std::ffi::CStr::from_ptr(name.cast()).to_str().unwrap_or(""));
    let border = memory.holding(bytemuck::cast_slice(&[0.25f32, 0.5, 0.75, 1.0])).cast::<f32>();
    t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_f32_slice(gl::TEXTURE_2D, gl::TEXTURE_BORDER_COLOR, std::slice::from_raw_parts(border, 4));
    let one = memory.holding(bytemuck::cast_slice(&[gl::CLAMP_TO_EDGE])).cast::<i32>();
    t.tex_parameter_i32_slice(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, std::slice::from_raw_parts(one, 1));
    let wrap = t.get_tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S);
    t.equal(wrap as u32, gl::CLAMP_TO_EDGE, "a parameter of one number");
    // Queries of one number write one number.
    let place = memory.holding(&[0xee; 4]);
    t.raw.GetIntegerv(gl::MAX_TEXTURE_SIZE, place.cast());
    t.check(memory.last(4) != [0xee; 4], "a query of one number");
    let place = memory.holding(&[0xee; 1]);
    t.raw.GetBooleanv(gl::DEPTH_WRITEMASK, place.cast());
    t.equal(memory.last(1), vec![1], "a query of one byte");
    let place = memory.holding(&[0xee; 16]);
    t.raw.GetIntegerv(gl::VIEWPORT, place.cast());
    t.check(!memory.last(16).contains(&0xee), "a query of four numbers");
    t.no_error("texts and parameters");
}
