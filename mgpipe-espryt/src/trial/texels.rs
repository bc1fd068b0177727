//! Trials without draws: mappings, copies, mipmaps, depth and stencil that are read.

use super::{Bench, WIDTH};
use glow::HasContext;
use mgpipe_types::gl;

/// Whether bytes that are written to mapped storage are there for commands.
pub(super) fn mapping(bench: &Bench<'_>) -> Option<bool> {
    const BYTES: [u8; 4] = [1, 2, 3, 254];
    let flags = gl::MAP_WRITE_BIT | gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;
    let gl = bench.gl;
    // SAFETY: a context is current; the names are fresh and deleted here; the mapping has as many bytes as are written.
    unsafe {
        let (source, copy) = (gl.create_buffer().ok()?, gl.create_buffer().ok()?);
        gl.bind_buffer(gl::COPY_READ_BUFFER, Some(source));
        gl.bind_buffer(gl::COPY_WRITE_BUFFER, Some(copy));
        bench.ext.buffer_storage(gl::COPY_READ_BUFFER, 4, std::ptr::null(), flags);
        gl.buffer_data_size(gl::COPY_WRITE_BUFFER, 4, gl::STREAM_READ);
        let mapped = gl.map_buffer_range(gl::COPY_READ_BUFFER, 0, 4, flags);
        let mut back = [0u8; 4];
        if !mapped.is_null() {
            std::ptr::copy_nonoverlapping(BYTES.as_ptr(), mapped, BYTES.len());
            gl.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 0, 0, 4);
            let read = gl.map_buffer_range(gl::COPY_WRITE_BUFFER, 0, 4, gl::MAP_READ_BIT);
            if !read.is_null() {
                std::ptr::copy_nonoverlapping(read, back.as_mut_ptr(), back.len());
                gl.unmap_buffer(gl::COPY_WRITE_BUFFER);
            }
        }
        gl.delete_buffer(source);
        gl.delete_buffer(copy);
        Some(back == BYTES)
    }
}

/// Whether copied texels arrive.
pub(super) fn image_copy(bench: &Bench<'_>) -> Option<bool> {
    const TEXEL: [u8; 4] = [9, 80, 170, 255];
    let canvas = bench.canvas(gl::RGBA8)?;
    let from = bench.texture(gl::RGBA8)?;
    bench.upload(gl::RGBA, gl::UNSIGNED_BYTE, &[TEXEL; WIDTH as usize].concat());
    let (source, target, two) = (from.0.get(), canvas.texture.0.get(), gl::TEXTURE_2D);
    // SAFETY: a context is current; both textures have as many texels as are copied.
    unsafe { bench.ext.copy_image(source, two, 0, 0, 0, 0, target, two, 0, 0, 0, 0, WIDTH, 1, 1) };
    let copied = bench.read();
    // SAFETY: as above; its own name, deleted once.
    unsafe { bench.gl.delete_texture(from) };
    bench.discard(canvas);
    Some(copied == [TEXEL; WIDTH as usize])
}

/// A framebuffer with depth and stencil alone, cleared to a quarter and 0x5A, whose texels `read` looks at.
fn with_depth(bench: &Bench<'_>, read: impl FnOnce(&Bench<'_>) -> bool) -> Option<bool> {
    let gl = bench.gl;
    // SAFETY: a context is current; the names are fresh and deleted here.
    unsafe {
        let texture = bench.texture(gl::DEPTH24_STENCIL8)?;
        let framebuffer = gl.create_framebuffer().ok()?;
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        let (point, two) = (gl::DEPTH_STENCIL_ATTACHMENT, gl::TEXTURE_2D);
        gl.framebuffer_texture_2d(gl::FRAMEBUFFER, point, two, Some(texture), 0);
        gl.clear_depth_f32(0.25);
        gl.clear_stencil(0x5A);
        gl.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
        gl.clear_depth_f32(1.0);
        gl.clear_stencil(0);
        let works = read(bench);
        gl.bind_framebuffer(gl::FRAMEBUFFER, None);
        gl.delete_framebuffer(framebuffer);
        gl.delete_texture(texture);
        Some(works)
    }
}

/// Whether depth can be read.
pub(super) fn depth(bench: &Bench<'_>) -> Option<bool> {
    with_depth(bench, |bench| {
        let mut bytes = [0; 4 * WIDTH as usize];
        bench.read_as(gl::DEPTH_COMPONENT, gl::UNSIGNED_INT, &mut bytes);
        bytes.chunks_exact(4).all(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).abs_diff(1 << 30) < 1 << 10)
    })
}

/// Whether stencil can be read.
pub(super) fn stencil(bench: &Bench<'_>) -> Option<bool> {
    with_depth(bench, |bench| {
        let mut bytes = [0; WIDTH as usize];
        // SAFETY: a context is current; rows of the one row that is read may be four bytes or more.
        unsafe { bench.gl.pixel_store_i32(gl::PACK_ALIGNMENT, 1) };
        bench.read_as(gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, &mut bytes);
        // SAFETY: as above.
        unsafe { bench.gl.pixel_store_i32(gl::PACK_ALIGNMENT, 4) };
        bytes == [0x5A; WIDTH as usize]
    })
}

/// Whether mipmaps of some levels leave the others alone.
pub(super) fn partial_mipmaps(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let two = gl::TEXTURE_2D;
    // SAFETY: a context is current; the names are fresh and deleted here, and the uploads have as many texels as they say.
    unsafe {
        let texture = gl.create_texture().ok()?;
        gl.bind_texture(two, Some(texture));
        gl.tex_storage_2d(two, 4, gl::RGBA8, 8, 8);
        for (level, side) in [(0, 8usize), (1, 4), (2, 2), (3, 1)] {
            // The levels from 1 on are black.
            let texels = vec![if level == 0 { 255 } else { 0 }; side * side * 4];
            let data = glow::PixelUnpackData::Slice(Some(&texels));
            gl.tex_sub_image_2d(two, level, 0, 0, side as i32, side as i32, gl::RGBA, gl::UNSIGNED_BYTE, data);
        }
        gl.tex_parameter_i32(two, gl::TEXTURE_BASE_LEVEL, 0);
        gl.tex_parameter_i32(two, gl::TEXTURE_MAX_LEVEL, 1);
        gl.generate_mipmap(two);
        gl.tex_parameter_i32(two, gl::TEXTURE_MAX_LEVEL, 3);
        let framebuffer = gl.create_framebuffer().ok()?;
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        let levels = [1, 2, 3].map(|level| {
            gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, two, Some(texture), level);
            let mut texel = [7u8; 4];
            bench.ext.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, texel.as_mut_ptr().cast());
            texel
        });
        gl.bind_framebuffer(gl::FRAMEBUFFER, None);
        gl.delete_framebuffer(framebuffer);
        gl.delete_texture(texture);
        Some(levels == [[255; 4], [0; 4], [0; 4]])
    }
}
