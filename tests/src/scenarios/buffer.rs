//! Buffer objects: mapping in all its variants, orphaning, copies, updates between draws.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("buffer_map_range", map_range),
    Scenario::new("buffer_map_flush_explicit", map_flush_explicit),
    Scenario::new("buffer_map_unsynchronized_stream", map_unsynchronized),
    Scenario::new("buffer_map_errors", map_errors),
    Scenario::new("buffer_map_flag_matrix", map_flag_matrix),
    Scenario::new("buffer_orphan_stream", orphan_stream),
    Scenario::new("buffer_copy_sub_data", copy_sub_data),
    Scenario::new("buffer_index_update_between_draws", index_update),
    Scenario::new("buffer_delete_while_bound", delete_while_bound),
    Scenario::new("buffer_persistent_coherent", persistent_coherent),
    Scenario::new("buffer_readback_of_gpu_writes", readback_of_gpu_writes),
];

unsafe fn contents(t: &Scene, target: u32, n: usize) -> Vec<u8> {
    let mut data = vec![0u8; n];
    t.get_buffer_sub_data(target, 0, &mut data);
    data
}

/// Maps a range as bytes; a null result ends the scenario as failed.
unsafe fn map<'a>(t: &Scene, target: u32, offset: isize, length: usize, access: u32) -> &'a mut [u8] {
    let p = t.raw.MapBufferRange(target, offset, length as isize, access).cast::<u8>();
    assert!(!p.is_null(), "glMapBufferRange({offset}, {length}, {access:#x}) gave no memory");
    std::slice::from_raw_parts_mut(p, length)
}

unsafe fn map_range(t: &Scene) {
    t.buffer(gl::ARRAY_BUFFER, &(0..100u8).collect::<Vec<_>>());
    let m = map(t, gl::ARRAY_BUFFER, 10, 20, gl::MAP_READ_BIT);
    t.equal(m[0], 10, "mapped for reading");
    t.equal(m[19], 29, "mapped for reading, end");
    let mut pointer = std::ptr::null_mut();
    t.raw.GetBufferPointerv(gl::ARRAY_BUFFER, gl::BUFFER_MAP_POINTER, &mut pointer);
    t.check(std::ptr::eq(pointer.cast::<u8>(), m.as_ptr()), "BUFFER_MAP_POINTER");
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_MAPPED), 1, "BUFFER_MAPPED");
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_MAP_OFFSET), 10, "BUFFER_MAP_OFFSET");
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_MAP_LENGTH), 20, "BUFFER_MAP_LENGTH");
    t.equal(t.raw.UnmapBuffer(gl::ARRAY_BUFFER), 1, "glUnmapBuffer");
    let m = map(t, gl::ARRAY_BUFFER, 50, 3, gl::MAP_WRITE_BIT);
    m.copy_from_slice(&[200, 201, 202]);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    let m = map(t, gl::ARRAY_BUFFER, 51, 4, gl::MAP_READ_BIT | gl::MAP_WRITE_BIT);
    t.equal(&m[..], &[201, 202, 53, 54], "read back through a read-write mapping");
    m[3] = 250;
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    let m = map(t, gl::ARRAY_BUFFER, 0, 4, gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_RANGE_BIT);
    m.copy_from_slice(&[1, 1, 2, 2]);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    let data = contents(t, gl::ARRAY_BUFFER, 100);
    t.equal(&data[..6], &[1, 1, 2, 2, 4, 5], "invalidated range");
    t.equal(&data[49..56], &[49, 200, 201, 202, 53, 250, 55], "around the written range");
    // The old glMapBuffer maps everything.
    let p = t.raw.MapBuffer(gl::ARRAY_BUFFER, gl::READ_WRITE).cast::<u8>();
    t.check(!p.is_null() && *p.add(99) == 99, "glMapBuffer");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
}

unsafe fn map_flush_explicit(t: &Scene) {
    t.buffer(gl::ARRAY_BUFFER, &[7u8; 64]);
    let m = map(t, gl::ARRAY_BUFFER, 16, 32, gl::MAP_WRITE_BIT | gl::MAP_FLUSH_EXPLICIT_BIT);
    m[4..8].copy_from_slice(&[1, 2, 3, 4]);
    m[20] = 99;
    t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 4, 4);
    t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 20, 1);
    t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 30, 3);
    t.error(gl::INVALID_VALUE, "flush outside the mapping");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    let data = contents(t, gl::ARRAY_BUFFER, 64);
    t.equal(&data[20..24], &[1, 2, 3, 4], "first flushed range");
    t.equal(data[36], 99, "second flushed range");
    t.equal((data[0], data[16], data[63]), (7, 7, 7), "the rest");
    let _ = map(t, gl::ARRAY_BUFFER, 0, 8, gl::MAP_WRITE_BIT);
    t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 0, 4);
    t.error(gl::INVALID_OPERATION, "flush of a mapping without FLUSH_EXPLICIT");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
}

/// Draws quad `i` of 64 (8 × 8 cells of 4 × 4 pixels) from the vertices at `first`.
fn cell(i: usize) -> [[f32; 2]; 4] {
    let (x, y) = ((i % 8) as f32 * 0.25 - 1.0, (i / 8) as f32 * 0.25 - 1.0);
    [[x, y], [x + 0.25, y], [x, y + 0.25], [x + 0.25, y + 0.25]]
}

unsafe fn check_cells(t: &Scene, what: &str) {
    let picture = t.read(32, 32);
    for i in 0..64usize {
        let (x, y) = ((i % 8) * 4, (i / 8) * 4);
        t.area(
            &picture,
            (x, y, x + 4, y + 4),
            [i as u8 * 4, 255 - i as u8 * 4, 0, 255],
            1,
            &format!("{what}: cell {i}"),
        );
    }
}

unsafe fn map_unsynchronized(t: &Scene) {
    // A streaming ring: unsynchronised writes behind what earlier draws still read, then a new store when it is full.
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    let buffer = t.create_buffer().unwrap();
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    let (ring, piece) = (32 * 10isize, 32isize);
    t.buffer_data_size(gl::ARRAY_BUFFER, ring as i32, gl::STREAM_DRAW);
    t.attribute(0, 2, 2, 0);
    let mut at = 0;
    for i in 0..64 {
        let mut access = gl::MAP_WRITE_BIT | gl::MAP_UNSYNCHRONIZED_BIT | gl::MAP_INVALIDATE_RANGE_BIT;
        if at + piece > ring {
            at = 0;
            access = gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_BUFFER_BIT;
        }
        map(t, gl::ARRAY_BUFFER, at, 32, access).copy_from_slice(bytemuck::cast_slice(&cell(i)));
        t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
        t.set_vec4(program, "color", [i as f32 * 4.0 / 255.0, 1.0 - i as f32 * 4.0 / 255.0, 0.0, 1.0]);
        t.draw_arrays(gl::TRIANGLE_STRIP, (at / 8) as i32, 4);
        at += piece;
    }
    check_cells(t, "ring");
}

unsafe fn map_errors(t: &Scene) {
    t.buffer(gl::ARRAY_BUFFER, &[5u8; 32]);
    let none = |offset: isize, length: isize, access: u32, error: u32, what: &str| {
        let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, offset, length, access);
        t.check(p.is_null(), format!("{what}: no memory is handed out"));
        t.error(error, what);
    };
    none(0, 33, gl::MAP_READ_BIT, gl::INVALID_VALUE, "beyond the end");
    none(-1, 4, gl::MAP_READ_BIT, gl::INVALID_VALUE, "a negative offset");
    none(0, 4, 0, gl::INVALID_OPERATION, "neither reading nor writing");
    none(0, 4, gl::MAP_READ_BIT | gl::MAP_INVALIDATE_RANGE_BIT, gl::INVALID_OPERATION, "reading what is invalidated");
    none(0, 4, gl::MAP_READ_BIT | gl::MAP_UNSYNCHRONIZED_BIT, gl::INVALID_OPERATION, "reading unsynchronised");
    none(0, 4, gl::MAP_READ_BIT | gl::MAP_FLUSH_EXPLICIT_BIT, gl::INVALID_OPERATION, "explicit flush without writing");
    none(0, 4, 0x8000_0000 | gl::MAP_READ_BIT, gl::INVALID_VALUE, "an unknown bit");
    let _ = map(t, gl::ARRAY_BUFFER, 0, 4, gl::MAP_READ_BIT);
    none(8, 4, gl::MAP_READ_BIT, gl::INVALID_OPERATION, "mapped twice");
    t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, &[1]);
    t.error(gl::INVALID_OPERATION, "glBufferSubData of a mapped buffer");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    t.error(gl::INVALID_OPERATION, "unmapped twice");
    t.equal(contents(t, gl::ARRAY_BUFFER, 32), vec![5; 32], "the contents after the errors");
    // A new store ends a mapping.
    let _ = map(t, gl::ARRAY_BUFFER, 0, 4, gl::MAP_WRITE_BIT);
    t.buffer_data_size(gl::ARRAY_BUFFER, 16, gl::STATIC_DRAW);
    t.no_error("glBufferData of a mapped buffer");
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_MAPPED), 0, "unmapped by glBufferData");
}

unsafe fn orphan_stream(t: &Scene) {
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    let buffer = t.create_buffer().unwrap();
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    t.buffer_data_size(gl::ARRAY_BUFFER, 32, gl::STREAM_DRAW);
    t.attribute(0, 2, 2, 0);
    for i in 0..64 {
        match i % 4 {
            0 => {
                t.buffer_data_size(gl::ARRAY_BUFFER, 32, gl::STREAM_DRAW);
                t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, bytemuck::cast_slice(&cell(i)));
            }
            1 => t.buffer_data_u8_slice(gl::ARRAY_BUFFER, bytemuck::cast_slice(&cell(i)), gl::STREAM_DRAW),
            2 => {
                let access = gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_BUFFER_BIT;
                map(t, gl::ARRAY_BUFFER, 0, 32, access).copy_from_slice(bytemuck::cast_slice(&cell(i)));
                t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
            }
            _ => t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, bytemuck::cast_slice(&cell(i))),
        }
        t.set_vec4(program, "color", [i as f32 * 4.0 / 255.0, 1.0 - i as f32 * 4.0 / 255.0, 0.0, 1.0]);
        t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    }
    check_cells(t, "orphaned");
    t.compare("picture", &t.read(32, 32), crate::picture::Tolerance::EXACT);
}

unsafe fn copy_sub_data(t: &Scene) {
    t.buffer(gl::COPY_READ_BUFFER, &(0..64u8).collect::<Vec<_>>());
    t.buffer(gl::COPY_WRITE_BUFFER, &[255u8; 64]);
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 10, 20, 5);
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 0, 63, 1);
    let data = contents(t, gl::COPY_WRITE_BUFFER, 64);
    t.equal(&data[19..26], &[255, 10, 11, 12, 13, 14, 255], "copied range");
    t.equal(data[63], 0, "last byte");
    // Within one buffer, without and with overlap.
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_READ_BUFFER, 0, 32, 8);
    t.equal(&contents(t, gl::COPY_READ_BUFFER, 64)[32..40], &[0, 1, 2, 3, 4, 5, 6, 7], "within one buffer");
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_READ_BUFFER, 0, 4, 8);
    t.error(gl::INVALID_VALUE, "overlapping ranges");
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 60, 0, 5);
    t.error(gl::INVALID_VALUE, "beyond the end");
    // Copies are ordered with what comes before and after them.
    for i in 0..20u8 {
        t.buffer_sub_data_u8_slice(gl::COPY_READ_BUFFER, 0, &[i; 4]);
        t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 0, i32::from(i) * 3, 3);
    }
    let data = contents(t, gl::COPY_WRITE_BUFFER, 60);
    t.check((0..60).all(|i| data[i] == (i / 3) as u8), format!("interleaved copies: {data:?}"));
}

unsafe fn index_update(t: &Scene) {
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    let vertices: Vec<[f32; 2]> = (0..64).flat_map(cell).collect();
    t.positions(&vertices);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16; 4]);
    for i in 0..64u16 {
        let indices = [0u16, 1, 2, 3].map(|v| v + i * 4);
        t.buffer_sub_data_u8_slice(gl::ELEMENT_ARRAY_BUFFER, 0, bytemuck::cast_slice(&indices));
        t.set_vec4(program, "color", [f32::from(i) * 4.0 / 255.0, 1.0 - f32::from(i) * 4.0 / 255.0, 0.0, 1.0]);
        t.draw_elements(gl::TRIANGLE_STRIP, 4, gl::UNSIGNED_SHORT, 0);
    }
    check_cells(t, "indices");
}

unsafe fn delete_while_bound(t: &Scene) {
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    let buffer = t.buffer(gl::ARRAY_BUFFER, &cell(9));
    t.attribute(0, 2, 2, 0);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    // Deleted between the draw and its execution: the draw still sees it.
    t.delete_buffer(buffer);
    t.equal(t.get_parameter_i32(gl::ARRAY_BUFFER_BINDING), 0, "deletion unbinds");
    t.check(!t.is_buffer(buffer), "the name is free");
    // Other buffers take its place, and its memory.
    for i in 0..50 {
        t.buffer(gl::ARRAY_BUFFER, &cell(i % 8));
    }
    let picture = t.read(32, 32);
    t.area(&picture, (4, 4, 8, 8), [255, 255, 0, 255], 0, "the draw before the deletion");
    t.equal(picture.count(|p| p[3] != 0), 16, "drawn pixels");
}

unsafe fn persistent_coherent(t: &Scene) {
    let known =
        t.supported_extensions().contains("GL_ARB_buffer_storage") || t.version().major * 10 + t.version().minor >= 44;
    if !known {
        t.skip("GL_ARB_buffer_storage is not there");
        return;
    }
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    let buffer = t.create_buffer().unwrap();
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    let flags = gl::MAP_WRITE_BIT | gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;
    t.buffer_storage(gl::ARRAY_BUFFER, 64 * 32, None, flags);
    let m = map(t, gl::ARRAY_BUFFER, 0, 64 * 32, flags);
    t.attribute(0, 2, 2, 0);
    for i in 0..64 {
        // Written with no GL call between the write and the draw that reads it.
        m[i * 32..i * 32 + 32].copy_from_slice(bytemuck::cast_slice(&cell(i)));
        t.set_vec4(program, "color", [i as f32 * 4.0 / 255.0, 1.0 - i as f32 * 4.0 / 255.0, 0.0, 1.0]);
        m[i * 32..i * 32 + 32].copy_from_slice(bytemuck::cast_slice(&cell(i)));
        t.draw_arrays(gl::TRIANGLE_STRIP, i as i32 * 4, 4);
    }
    check_cells(t, "persistent");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    t.buffer_data_size(gl::ARRAY_BUFFER, 64, gl::STATIC_DRAW);
    t.error(gl::INVALID_OPERATION, "an immutable store cannot be replaced");
}

unsafe fn readback_of_gpu_writes(t: &Scene) {
    // Pixels packed into a buffer on the GPU are used as vertices, copied, and read by the application.
    let target = t.target_of(4, 1, gl::RGBA32F);
    let paint = t.program(
        crate::scene::FULL_VS,
        "out vec4 result; void main() { int i = int(gl_FragCoord.x); result = vec4(float(i & 1) - 0.5, float(i >> 1) - 0.5, 0.0, 1.0); }",
    );
    t.use_program(Some(paint));
    t.vertex_array();
    t.fill();
    let buffer = t.create_buffer().unwrap();
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, Some(buffer));
    t.buffer_data_size(gl::PIXEL_PACK_BUFFER, 64, gl::STREAM_COPY);
    t.read_pixels(0, 0, 4, 1, gl::RGBA, gl::FLOAT, gl::PixelPackData::BufferOffset(0));
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    let _ = target;
    t.target(32, 32);
    let program = t.program("layout(location = 0) in vec4 position; void main() { gl_Position = position; }", COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 1.0, 1.0]);
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    t.attribute(0, 4, 4, 0);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    let picture = t.read(32, 32);
    t.area(&picture, (8, 8, 24, 24), [0, 255, 255, 255], 0, "vertices from pixels");
    t.equal(picture.count(|p| p[3] != 0), 256, "pixels drawn");
    t.buffer(gl::COPY_WRITE_BUFFER, &[0u8; 64]);
    t.copy_buffer_sub_data(gl::ARRAY_BUFFER, gl::COPY_WRITE_BUFFER, 16, 0, 16);
    let mut pixel = [0.0f32; 4];
    t.get_buffer_sub_data(gl::COPY_WRITE_BUFFER, 0, bytemuck::cast_slice_mut(&mut pixel));
    t.equal(pixel, [0.5, -0.5, 0.0, 1.0], "copied pixels");
}

unsafe fn map_flag_matrix(t: &Scene) {
    // Every combination of the flags of glMapBufferRange: which are errors, and what the good ones do.
    let flags = [
        gl::MAP_READ_BIT,
        gl::MAP_WRITE_BIT,
        gl::MAP_INVALIDATE_RANGE_BIT,
        gl::MAP_INVALIDATE_BUFFER_BIT,
        gl::MAP_FLUSH_EXPLICIT_BIT,
        gl::MAP_UNSYNCHRONIZED_BIT,
    ];
    t.buffer(gl::ARRAY_BUFFER, &[1u8; 64]);
    for bits in 0..64u32 {
        let access = flags.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0).fold(0, |a, (_, f)| a | f);
        let (read, write) = (access & gl::MAP_READ_BIT != 0, access & gl::MAP_WRITE_BIT != 0);
        let discards = gl::MAP_INVALIDATE_RANGE_BIT | gl::MAP_INVALIDATE_BUFFER_BIT | gl::MAP_UNSYNCHRONIZED_BIT;
        let legal =
            (read || write) && !(read && access & discards != 0) && (write || access & gl::MAP_FLUSH_EXPLICIT_BIT == 0);
        t.buffer_data_u8_slice(gl::ARRAY_BUFFER, &[1; 64], gl::DYNAMIC_DRAW);
        let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, 16, 32, access).cast::<u8>();
        let what = format!("access {access:#x}");
        t.error(if legal { gl::NO_ERROR } else { gl::INVALID_OPERATION }, &what);
        t.equal(!p.is_null(), legal, &what);
        if p.is_null() {
            continue;
        }
        if read {
            t.equal(p.add(3).read(), 1, &format!("{what}: what was there"));
        }
        if write {
            std::ptr::write_bytes(p, 9, 32);
        }
        if access & gl::MAP_FLUSH_EXPLICIT_BIT != 0 {
            t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 0, 32);
            t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 30, 5);
            t.error(gl::INVALID_VALUE, &format!("{what}: a flush past the mapping"));
        } else {
            t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 0, 32);
            t.error(gl::INVALID_OPERATION, &format!("{what}: a flush that was not announced"));
        }
        t.equal(t.raw.UnmapBuffer(gl::ARRAY_BUFFER), 1, &what);
        let mut bytes = [0u8; 64];
        t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut bytes);
        let expected = if write { 9 } else { 1 };
        t.check(bytes[16..48].iter().all(|b| *b == expected), format!("{what}: contents {:?}", &bytes[14..20]));
        if access & gl::MAP_INVALIDATE_BUFFER_BIT == 0 {
            t.check(bytes[15] == 1 && bytes[48] == 1, format!("{what}: the rest"));
        }
    }
    t.raw.MapBufferRange(gl::ARRAY_BUFFER, 0, 0, gl::MAP_READ_BIT);
    t.check(t.get_error() != gl::NO_ERROR, "a mapping of nothing");
    t.raw.MapBufferRange(gl::ARRAY_BUFFER, 0, 8, gl::MAP_READ_BIT | 0x8000);
    t.error(gl::INVALID_VALUE, "a flag that does not exist");
}
