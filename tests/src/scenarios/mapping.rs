//! Persistent mappings: what the program writes while the buffer is in use, and what the device wrote that it reads.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("mapping_every_binding", every_binding),
    Scenario::new("mapping_written_by_a_thread", written_by_a_thread),
    Scenario::new("mapping_flush_explicit", flush_explicit),
    Scenario::new("mapping_of_storage_in_use", storage_in_use),
    Scenario::new("mapping_reads_device_writes", device_writes),
    Scenario::new("mapping_beside_calls", beside_calls),
    Scenario::new("mapping_many", many),
];

const COHERENT: u32 = gl::MAP_WRITE_BIT | gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;

/// Whether buffers can stay mapped; else the scenario is skipped.
unsafe fn supported(t: &Scene) -> bool {
    let version = t.version().major * 10 + t.version().minor;
    let known = t.supported_extensions().contains("GL_ARB_buffer_storage") || version >= 44;
    if !known {
        t.skip("GL_ARB_buffer_storage is not there");
    }
    known
}

/// Memory of a mapping, which outlives the borrow of nothing: the device writes it, too.
#[derive(Clone, Copy)]
struct Mapped(*mut u8, usize);

// SAFETY: an address; who writes where and when is what the scenarios are about.
unsafe impl Send for Mapped {}

impl Mapped {
    unsafe fn write<T: bytemuck::NoUninit>(self, at: usize, values: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        assert!(at + bytes.len() <= self.1, "outside the mapping");
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.add(at), bytes.len());
    }

    unsafe fn read(self, at: usize, len: usize) -> Vec<u8> {
        assert!(at + len <= self.1, "outside the mapping");
        let mut out = vec![0; len];
        std::ptr::copy_nonoverlapping(self.0.add(at), out.as_mut_ptr(), len);
        out
    }
}

/// A buffer with storage that can stay mapped, bound to a target.
unsafe fn storage(t: &Scene, target: u32, size: usize, data: Option<&[u8]>, flags: u32) -> gl::NativeBuffer {
    let buffer = t.create_buffer().unwrap();
    t.bind_buffer(target, Some(buffer));
    t.buffer_storage(target, size as i32, data, flags);
    buffer
}

unsafe fn map(t: &Scene, target: u32, size: usize, access: u32) -> Mapped {
    let p = t.raw.MapBufferRange(target, 0, size as isize, access).cast::<u8>();
    assert!(!p.is_null(), "glMapBufferRange({size}, {access:#x}) gave no memory");
    Mapped(p, size)
}

/// A mapped buffer, bound to a target.
unsafe fn mapped(t: &Scene, target: u32, size: usize, access: u32) -> (gl::NativeBuffer, Mapped) {
    let explicit = gl::MAP_FLUSH_EXPLICIT_BIT | gl::MAP_UNSYNCHRONIZED_BIT;
    let buffer = storage(t, target, size, None, access & !explicit);
    (buffer, map(t, target, size, access))
}

/// Corners of one of 64 cells.
fn cell(i: usize) -> [[f32; 2]; 4] {
    let (x, y) = ((i % 8) as f32 * 0.25 - 1.0, (i / 8) as f32 * 0.25 - 1.0);
    [[x, y], [x + 0.25, y], [x, y + 0.25], [x + 0.25, y + 0.25]]
}

fn color(i: usize) -> [f32; 4] {
    [i as f32 * 4.0 / 255.0, 1.0 - i as f32 * 4.0 / 255.0, 0.0, 1.0]
}

unsafe fn check_cells(t: &Scene, what: &str) {
    let picture = t.read(32, 32);
    for i in 0..64usize {
        let (x, y) = ((i % 8) * 4, (i / 8) * 4);
        let expected = [i as u8 * 4, 255 - i as u8 * 4, 0, 255];
        t.area(&picture, (x, y, x + 4, y + 4), expected, 1, &format!("{what}: cell {i}"));
    }
}

/// Waits for everything that was sent so far.
unsafe fn fence(t: &Scene) {
    let fence = t.fence_sync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0).unwrap();
    let answer = t.client_wait_sync(fence, gl::SYNC_FLUSH_COMMANDS_BIT, i32::MAX);
    t.check(matches!(answer, gl::ALREADY_SIGNALED | gl::CONDITION_SATISFIED), format!("the fence: {answer:#x}"));
    t.delete_sync(fence);
}

unsafe fn every_binding(t: &Scene) {
    if !supported(t) {
        return;
    }
    // Vertices, indices, a uniform block and a buffer texture, each in a mapping of its own, each written for every draw
    // with no call between the write and the draw.
    t.target(32, 32);
    let program = t.program(
        POSITION_VS,
        "layout(std140) uniform Block { vec4 green; };
         uniform samplerBuffer red;
         out vec4 result;
         void main() { result = vec4(texelFetch(red, 3000).r, green.g, 0.0, 1.0); }",
    );
    let block = t.get_uniform_block_index(program, "Block").unwrap();
    t.uniform_block_binding(program, block, 2);
    t.set_int(program, "red", 1);
    t.vertex_array();
    let (_, vertices) = mapped(t, gl::ARRAY_BUFFER, 64 * 32, COHERENT);
    t.attribute(0, 2, 2, 0);
    let (_, indices) = mapped(t, gl::ELEMENT_ARRAY_BUFFER, 64 * 8, COHERENT);
    let (uniforms, block) = mapped(t, gl::UNIFORM_BUFFER, 64 * 256, COHERENT);
    let (texels, red) = mapped(t, gl::TEXTURE_BUFFER, 64 << 10, COHERENT);
    t.active_texture(gl::TEXTURE1);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_BUFFER, Some(texture));
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::R32F, Some(texels));
    for i in 0..64 {
        t.bind_buffer_range(gl::UNIFORM_BUFFER, 2, Some(uniforms), i as i32 * 256, 16);
        if i > 0 {
            // The one texel that all draws read must not change under the draw before.
            t.finish();
        }
        vertices.write(i * 32, &cell(i));
        let first = i as u16 * 4;
        indices.write(i * 8, &[first, first + 1, first + 2, first + 3]);
        block.write(i * 256, &color(i));
        red.write(3000 * 4, &color(i)[..1]);
        t.draw_elements(gl::TRIANGLE_STRIP, 4, gl::UNSIGNED_SHORT, i as i32 * 8);
    }
    check_cells(t, "every binding");
}

unsafe fn written_by_a_thread(t: &Scene) {
    if !supported(t) {
        return;
    }
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    // Long enough that pages are told apart.
    let stride = 16 << 10;
    let (_, vertices) = mapped(t, gl::ARRAY_BUFFER, 64 * stride, COHERENT);
    t.attribute(0, 2, 2, 0);
    let (ask, asked) = std::sync::mpsc::channel::<usize>();
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let vertices: Mapped = vertices;
        for i in asked {
            vertices.write(i * stride, &cell(i));
            tell.send(()).unwrap();
        }
    });
    for i in 0..64 {
        t.set_vec4(program, "color", color(i));
        ask.send(i).unwrap();
        told.recv().unwrap();
        t.draw_arrays(gl::TRIANGLE_STRIP, (i * stride / 8) as i32, 4);
    }
    drop(ask);
    t.check(thread.join().is_ok(), "the thread");
    check_cells(t, "a thread's writes");
}

unsafe fn flush_explicit(t: &Scene) {
    if !supported(t) {
        return;
    }
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    let access = gl::MAP_WRITE_BIT | gl::MAP_PERSISTENT_BIT | gl::MAP_FLUSH_EXPLICIT_BIT;
    let (_, vertices) = mapped(t, gl::ARRAY_BUFFER, 64 * 32, access);
    t.attribute(0, 2, 2, 0);
    for i in 0..64 {
        t.set_vec4(program, "color", color(i));
        vertices.write(i * 32, &cell(i));
        t.flush_mapped_buffer_range(gl::ARRAY_BUFFER, i as i32 * 32, 32);
        t.draw_arrays(gl::TRIANGLE_STRIP, i as i32 * 4, 4);
    }
    check_cells(t, "flushed ranges");
    // The barrier serves for what is neither coherent nor flushed.
    let has_barrier = t.version().major * 10 + t.version().minor >= 42;
    if has_barrier {
        vertices.write(0, &[[9.0f32; 2]; 4]);
        t.memory_barrier(gl::CLIENT_MAPPED_BUFFER_BARRIER_BIT);
        let mut bytes = [0u8; 32];
        t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut bytes);
        t.equal(bytes, bytemuck::cast([[9.0f32; 2]; 4]), "behind the barrier");
    }
}

unsafe fn storage_in_use(t: &Scene) {
    if !supported(t) {
        return;
    }
    // Storage with contents, drawn and written by the device before it is mapped for the first time.
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    let mut all: Vec<[[f32; 2]; 4]> = (0..64).map(cell).collect();
    let flags = COHERENT | gl::MAP_READ_BIT | gl::DYNAMIC_STORAGE_BIT;
    let half = 32 * 32;
    let source = t.buffer(gl::COPY_READ_BUFFER, &all[32..]);
    all[32..].fill([[0.0; 2]; 4]);
    let buffer = storage(t, gl::ARRAY_BUFFER, 64 * 32, Some(bytemuck::cast_slice(&all)), flags);
    t.attribute(0, 2, 2, 0);
    for i in 0..16 {
        t.set_vec4(program, "color", color(i));
        t.draw_arrays(gl::TRIANGLE_STRIP, i as i32 * 4, 4);
    }
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::ARRAY_BUFFER, 0, half, half);
    t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 20 * 32, bytemuck::bytes_of(&cell(21)));
    t.finish();
    let m = map(t, gl::ARRAY_BUFFER, 64 * 32, flags & !gl::DYNAMIC_STORAGE_BIT);
    for i in (0..64).filter(|i| *i != 20) {
        t.equal(m.read(i * 32, 32), bytemuck::bytes_of(&cell(i)).to_vec(), &format!("cell {i} when mapped"));
    }
    t.equal(m.read(20 * 32, 32), bytemuck::bytes_of(&cell(21)).to_vec(), "the call's cell when mapped");
    m.write(20 * 32, &cell(20));
    for i in 16..64 {
        t.set_vec4(program, "color", color(i));
        t.draw_arrays(gl::TRIANGLE_STRIP, i as i32 * 4, 4);
    }
    check_cells(t, "mapped late");
    // Unmapped and mapped again, the memory is the same.
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    let again = map(t, gl::ARRAY_BUFFER, 64 * 32, flags & !gl::DYNAMIC_STORAGE_BIT);
    t.equal(again.read(63 * 32, 32), bytemuck::bytes_of(&cell(63)).to_vec(), "mapped again");
    t.delete_buffer(source);
    t.delete_buffer(buffer);
}

unsafe fn device_writes(t: &Scene) {
    if !supported(t) {
        return;
    }
    let access = gl::MAP_READ_BIT | COHERENT;
    // A copy, with words of the program's beside it.
    let source = t.buffer(gl::COPY_READ_BUFFER, &[5u8; 4096]);
    let (_, m) = mapped(t, gl::COPY_WRITE_BUFFER, 1 << 20, access);
    m.write(0, &vec![0u8; 1 << 20]);
    for (round, at) in [0, 4096, 500_000, (1 << 20) - 4096].into_iter().enumerate() {
        t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::COPY_WRITE_BUFFER, 16, at as i32 + 16, 32);
        m.write(at + 48, &[round as u8 + 1; 16]);
        fence(t);
        let expected = [[0; 16], [5; 16], [5; 16], [round as u8 + 1; 16]].concat();
        t.equal(m.read(at, 64), expected, &format!("a copy to {at}"));
    }
    // Pixels packed into the mapping.
    t.target(16, 16);
    t.clear_color(1.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let (_, m) = mapped(t, gl::PIXEL_PACK_BUFFER, 4096, access);
    m.write(0, &[0u8; 4096]);
    t.read_pixels(0, 0, 16, 16, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::BufferOffset(1024));
    fence(t);
    t.equal(m.read(1020, 8), vec![0, 0, 0, 0, 255, 0, 255, 255], "packed pixels, start");
    t.equal(m.read(2044, 8), vec![255, 0, 255, 255, 0, 0, 0, 0], "packed pixels, end");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    // Captured vertices, twice into one mapping.
    let stages = [(
        gl::VERTEX_SHADER,
        "uniform vec4 color; out vec4 caught; void main() { caught = color + float(gl_VertexID); }",
    )];
    let program = t.program_of(&stages, |program| {
        t.transform_feedback_varyings(program, &["caught"], gl::INTERLEAVED_ATTRIBS);
    });
    t.vertex_array();
    let (capture, m) = mapped(t, gl::TRANSFORM_FEEDBACK_BUFFER, 64 << 10, access);
    t.enable(gl::RASTERIZER_DISCARD);
    for round in 1..3 {
        t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(capture), round * 4096, 64);
        t.set_vec4(program, "color", [round as f32; 4]);
        t.begin_transform_feedback(gl::POINTS);
        t.draw_arrays(gl::POINTS, 0, 4);
        t.end_transform_feedback();
        t.finish();
        let values = m.read(round as usize * 4096 + 32, 32);
        let expected: Vec<u8> = [round as f32 + 2.0, round as f32 + 3.0]
            .iter()
            .flat_map(|value| std::iter::repeat_n(value.to_ne_bytes(), 4))
            .flatten()
            .collect();
        t.equal(values, expected, &format!("captured vertices, round {round}"));
    }
    t.disable(gl::RASTERIZER_DISCARD);
    t.delete_buffer(source);
}

unsafe fn beside_calls(t: &Scene) {
    if !supported(t) {
        return;
    }
    // Calls upload into the buffer, copy out of it and read it back while the program writes through the mapping.
    let flags = gl::MAP_READ_BIT | COHERENT | gl::DYNAMIC_STORAGE_BIT;
    storage(t, gl::ARRAY_BUFFER, 128 << 10, None, flags);
    let m = map(t, gl::ARRAY_BUFFER, 128 << 10, flags & !gl::DYNAMIC_STORAGE_BIT);
    t.buffer(gl::COPY_WRITE_BUFFER, &[0u8; 64]);
    for round in 1..20u8 {
        let at = usize::from(round) * 5000;
        m.write(at, &[round; 8]);
        t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, at as i32 + 8, &[round + 100; 8]);
        t.copy_buffer_sub_data(gl::ARRAY_BUFFER, gl::COPY_WRITE_BUFFER, at as i32, 16, 16);
        let mut copied = [0u8; 32];
        t.get_buffer_sub_data(gl::COPY_WRITE_BUFFER, 8, &mut copied);
        let expected = [[0; 8], [round; 8], [round + 100; 8], [0; 8]].concat();
        t.equal(copied.to_vec(), expected, &format!("copied out, round {round}"));
        m.write(at + 16, &[round + 50; 4]);
        let mut read = [0u8; 20];
        t.get_buffer_sub_data(gl::ARRAY_BUFFER, at as i32, &mut read);
        let expected = [&[round; 8][..], &[round + 100; 8], &[round + 50; 4]].concat();
        t.equal(read.to_vec(), expected.clone(), &format!("read back, round {round}"));
        t.equal(m.read(at, 20), expected, &format!("seen through the mapping, round {round}"));
    }
}

unsafe fn many(t: &Scene) {
    if !supported(t) {
        return;
    }
    // A mapping for each of 64 draws, all alive at once; then the buffers go in another order than they came.
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.vertex_array();
    const SIZE: usize = 1 << 20;
    let all: Vec<_> = (0..64).map(|_| mapped(t, gl::ARRAY_BUFFER, SIZE, COHERENT)).collect();
    for (i, (buffer, m)) in all.iter().enumerate() {
        t.bind_buffer(gl::ARRAY_BUFFER, Some(*buffer));
        t.attribute(0, 2, 2, 0);
        t.set_vec4(program, "color", color(i));
        m.write(SIZE - 32, &cell(i));
        t.draw_arrays(gl::TRIANGLE_STRIP, (SIZE / 8 - 4) as i32, 4);
    }
    for (buffer, _) in all.iter().skip(1).step_by(2).chain(all.iter().step_by(2)) {
        t.delete_buffer(*buffer);
    }
    check_cells(t, "many mappings");
}
