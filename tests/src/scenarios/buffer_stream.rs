//! Streaming through buffers of some size: appending, replacing, and mappings that discard.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("buffer_stream_append", append),
    Scenario::new("buffer_stream_discard", discard),
    Scenario::new("buffer_stream_overwrite", overwrite),
    Scenario::new("buffer_stream_mapping_keeps_the_rest", keeps_the_rest),
    Scenario::new("buffer_stream_copy", copy),
    Scenario::new("buffer_stream_large_range", large_range),
];

/// Bytes of a piece; 10 of them are more than what drivers replace by copying.
const PIECE: usize = 8 << 10;
const RING: usize = 10 * PIECE;

/// A piece whose first four vertices are cell `i` of 8 × 8.
fn piece(i: usize) -> Vec<u8> {
    let (x, y) = ((i % 8) as f32 * 0.25 - 1.0, (i / 8) as f32 * 0.25 - 1.0);
    let cell = [[x, y], [x + 0.25, y], [x, y + 0.25], [x + 0.25, y + 0.25]];
    let mut bytes = bytemuck::cast_slice(&cell).to_vec();
    bytes.resize(PIECE, 0);
    bytes
}

/// Writes each of 64 pieces with `write`, which is told the number and answers the offset, and draws it.
unsafe fn cells(t: &Scene, what: &str, write: impl Fn(usize) -> usize) {
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    let buffer = t.create_buffer().unwrap();
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    t.buffer_data_size(gl::ARRAY_BUFFER, RING as i32, gl::STREAM_DRAW);
    t.attribute(0, 2, 2, 0);
    for i in 0..64 {
        let at = write(i);
        t.set_vec4(program, "color", [i as f32 * 4.0 / 255.0, 1.0 - i as f32 * 4.0 / 255.0, 0.0, 1.0]);
        t.draw_arrays(gl::TRIANGLE_STRIP, (at / 8) as i32, 4);
    }
    let picture = t.read(32, 32);
    for i in 0..64usize {
        let (x, y) = ((i % 8) * 4, (i / 8) * 4);
        let color = [i as u8 * 4, 255 - i as u8 * 4, 0, 255];
        t.area(&picture, (x, y, x + 4, y + 4), color, 1, &format!("{what}: cell {i}"));
    }
}

unsafe fn fill(t: &Scene, at: usize, length: usize, access: u32, bytes: &[u8]) {
    let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, at as isize, length as isize, gl::MAP_WRITE_BIT | access);
    assert!(!p.is_null(), "no memory");
    std::slice::from_raw_parts_mut(p.cast::<u8>(), length)[..bytes.len()].copy_from_slice(bytes);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
}

unsafe fn append(t: &Scene) {
    cells(t, "appended", |i| {
        let at = i % 10 * PIECE;
        if at == 0 {
            t.buffer_data_size(gl::ARRAY_BUFFER, RING as i32, gl::STREAM_DRAW);
        }
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, at as i32, &piece(i));
        at
    });
}

unsafe fn discard(t: &Scene) {
    for (what, access) in [
        ("buffer", gl::MAP_INVALIDATE_BUFFER_BIT),
        ("range", gl::MAP_INVALIDATE_RANGE_BIT),
        ("both, unsynchronized", gl::MAP_INVALIDATE_BUFFER_BIT | gl::MAP_UNSYNCHRONIZED_BIT),
    ] {
        cells(t, what, |i| {
            fill(t, 0, RING, access, &piece(i));
            0
        });
    }
}

unsafe fn overwrite(t: &Scene) {
    // Each draw sees its own piece although the place of all of them is the same.
    cells(t, "overwritten", |i| {
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, PIECE as i32, &piece(i));
        PIECE
    });
    cells(t, "overwritten through a mapping", |i| {
        fill(t, 2 * PIECE, PIECE, gl::MAP_INVALIDATE_RANGE_BIT, &piece(i));
        2 * PIECE
    });
    cells(t, "overwritten in two places", |i| {
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, (i % 2 * 5 * PIECE) as i32, &piece(i));
        i % 2 * 5 * PIECE
    });
}

unsafe fn keeps_the_rest(t: &Scene) {
    let mut expected: Vec<u8> = (0..RING).map(|i| ((i * 13) >> 3) as u8).collect();
    let check = |expected: &[u8], what: &str| {
        let mut back = vec![0; RING];
        t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut back);
        t.equal(back.iter().zip(expected).position(|(a, b)| a != b), None, what);
    };
    t.buffer(gl::ARRAY_BUFFER, &expected);
    // A mapping for reading first, so that a driver which keeps a copy has one.
    let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, 0, RING as isize, gl::MAP_READ_BIT);
    t.check(!p.is_null() && *p.cast::<u8>().add(800) == expected[800], "mapped for reading");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    for (i, access) in [gl::MAP_UNSYNCHRONIZED_BIT, gl::MAP_INVALIDATE_RANGE_BIT, 0].into_iter().enumerate() {
        let at = (i * 3 + 1) * PIECE;
        fill(t, at, 1000, access, &[i as u8 + 1; 1000]);
        expected[at..at + 1000].fill(i as u8 + 1);
        check(&expected, &format!("access {access:#x}"));
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 100, &[i as u8; 50]);
        expected[100..150].fill(i as u8);
        check(&expected, &format!("glBufferSubData after access {access:#x}"));
    }
    // What is flushed has to be there; the rest of the mapping keeps what it had or got.
    let flush = gl::MAP_WRITE_BIT | gl::MAP_UNSYNCHRONIZED_BIT | gl::MAP_FLUSH_EXPLICIT_BIT;
    let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, 0, 64, flush).cast::<u8>();
    assert!(!p.is_null());
    *p.add(5) = 77;
    t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 5, 1);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    expected[5] = 77;
    check(&expected, "an explicit flush");
}

unsafe fn copy(t: &Scene) {
    for part in [RING, PIECE] {
        let source = t.create_buffer().unwrap();
        t.bind_buffer(gl::COPY_READ_BUFFER, Some(source));
        t.buffer_data_size(gl::COPY_READ_BUFFER, RING as i32, gl::STREAM_COPY);
        // Each draw sees what its copy read, although the source is written again for the next one.
        cells(t, &format!("copied, {part} bytes"), |i| {
            t.buffer_sub_data_u8_slice(gl::COPY_READ_BUFFER, 0, &piece(i));
            t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::ARRAY_BUFFER, 0, 0, part as i32);
            0
        });
        t.delete_buffer(source);
    }
    // A chain: what is drawn goes on to be the source of a copy, and comes back.
    let other = t.create_buffer().unwrap();
    t.bind_buffer(gl::COPY_READ_BUFFER, Some(other));
    t.buffer_data_size(gl::COPY_READ_BUFFER, RING as i32, gl::STREAM_COPY);
    cells(t, "copied to and fro", |i| {
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, &piece(i));
        t.copy_buffer_sub_data(gl::ARRAY_BUFFER, gl::COPY_READ_BUFFER, 0, 0, RING as i32);
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, &piece(i + 1));
        t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::ARRAY_BUFFER, 0, 0, RING as i32);
        0
    });
    let mut back = vec![1; PIECE];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut back);
    t.check(back == piece(63), "the last copy is read back");
}

unsafe fn large_range(t: &Scene) {
    /// Bytes of a mapping whose start has no alignment to speak of.
    const LENGTH: usize = RING - PIECE - 24;
    let at = |i: usize| PIECE + i % 3 * 8;
    cells(t, "a large range", |i| {
        fill(t, at(i), LENGTH, gl::MAP_INVALIDATE_RANGE_BIT, &piece(i));
        at(i)
    });
    cells(t, "a large range, flushed in two parts", |i| {
        let access = gl::MAP_WRITE_BIT | gl::MAP_INVALIDATE_RANGE_BIT | gl::MAP_FLUSH_EXPLICIT_BIT;
        let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, at(i) as isize, LENGTH as isize, access).cast::<u8>();
        assert!(!p.is_null(), "no memory");
        t.check((p as usize).wrapping_sub(at(i)) % 64 == 0, "the mapping is aligned");
        let bytes = std::slice::from_raw_parts_mut(p, LENGTH);
        bytes[..16].copy_from_slice(&piece(i)[..16]);
        t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 0, 16);
        bytes[16..32].copy_from_slice(&piece(i)[16..32]);
        bytes[LENGTH - 1] = i as u8 + 1;
        t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 16, LENGTH as i32 - 16);
        t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
        at(i)
    });
    let mut last = [0];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, (at(63) + LENGTH - 1) as i32, &mut last);
    t.equal(last, [64], "the last byte");
    // What is not flushed is not copied.
    let rest = [5; 64];
    t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, &rest);
    let mut first = [0; 64];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut first);
    t.equal(first, rest, "outside of the range");
}
