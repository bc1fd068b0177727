//! Measures how fast bytes get into buffers that draws use: replaced, updated in parts, mapped and copied.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use glow::{self as gl, HasContext as _};
use mgl_tests::bench::{fastest, run, Arguments, Figure, Report};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::scene::{Scene, COLOR_FS, POSITION_VS};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Time that a row may take for its samples.
const BUDGET: Duration = Duration::from_millis(120);
/// Bytes that one sample writes at least.
const SAMPLE_BYTES: usize = 8 * MIB;

/// The context, the bytes to write, and what has been measured so far.
struct Bench<'a> {
    scene: &'a Scene,
    memory: Vec<u8>,
    only: Option<String>,
    figures: Vec<Figure>,
}

impl Bench<'_> {
    /// A row: `write` writes `part` bytes of a buffer of `size` bytes for the n-th time, and a point is drawn from it.
    unsafe fn row(&mut self, name: &str, size: usize, part: usize, write: impl Fn(&Scene, &[u8], usize)) {
        let unit = |bytes: usize| if bytes < MIB { (bytes / KIB, "KiB") } else { (bytes / MIB, "MiB") };
        let (n, of) = unit(size);
        let name = match part {
            part if part == size => format!("{name}, {n} {of}"),
            part if part < KIB => format!("{name}, {part} bytes of {n} {of}"),
            part => format!("{name}, {} {} of {n} {of}", unit(part).0, unit(part).1),
        };
        if self.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            return;
        }
        let gl = self.scene;
        let buffer = gl.create_buffer().expect("a buffer");
        gl.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
        gl.buffer_data_u8_slice(gl::ARRAY_BUFFER, &self.memory[..size], gl::DYNAMIC_DRAW);
        gl.enable_vertex_attrib_array(0);
        gl.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 16, 0);
        let n_writes = (SAMPLE_BYTES / part).clamp(2, 1024);
        let mut count = 0;
        let seconds = fastest(BUDGET, || {
            for _ in 0..n_writes {
                write(gl, &self.memory[..part], count);
                gl.draw_arrays(gl::POINTS, 0, 1);
                count += 1;
            }
            gl.finish();
        });
        gl.delete_buffer(buffer);
        self.figures.push(Figure::rate(&name, n_writes as f64 / seconds / 1e3, "thousand a second"));
    }

    /// A row that maps `part` bytes and fills them; `at` says where for the n-th time.
    unsafe fn mapped(&mut self, name: &str, size: usize, part: usize, access: u32, moving: bool) {
        self.row(name, size, part, |gl, bytes, count| {
            let n_parts = size / part;
            let at = if moving { count % n_parts * part } else { 0 };
            let access = match access {
                // A ring starts anew with fresh storage.
                gl::MAP_UNSYNCHRONIZED_BIT if at == 0 => gl::MAP_INVALIDATE_BUFFER_BIT,
                access => access,
            };
            let mapped = gl.map_buffer_range(gl::ARRAY_BUFFER, at as i32, part as i32, gl::MAP_WRITE_BIT | access);
            // SAFETY: the mapping is as long as the bytes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped, bytes.len()) };
            if access & gl::MAP_FLUSH_EXPLICIT_BIT != 0 {
                gl.flush_mapped_buffer_range(gl::ARRAY_BUFFER, 0, part as i32);
            }
            gl.unmap_buffer(gl::ARRAY_BUFFER);
        });
    }

    unsafe fn all(&mut self) {
        for size in [4 * KIB, 64 * KIB, MIB, 16 * MIB] {
            self.row("orphan and fill", size, size, |gl, bytes, _| {
                gl.buffer_data_size(gl::ARRAY_BUFFER, bytes.len() as i32, gl::STREAM_DRAW);
                gl.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, bytes);
            });
        }
        for size in [4 * KIB, MIB] {
            self.row("glBufferData", size, size, |gl, bytes, _| {
                gl.buffer_data_u8_slice(gl::ARRAY_BUFFER, bytes, gl::STREAM_DRAW);
            });
        }
        for (size, part) in [(4 * KIB, 64), (64 * KIB, 4 * KIB), (MIB, 64), (MIB, 4 * KIB), (MIB, MIB), (16 * MIB, MIB)]
        {
            self.row("glBufferSubData", size, part, |gl, bytes, count| {
                let at = count % (size / part) * part;
                gl.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, at as i32, bytes);
            });
        }
        for size in [64 * KIB, MIB, 16 * MIB] {
            self.mapped("map, invalidate buffer", size, size, gl::MAP_INVALIDATE_BUFFER_BIT, false);
            self.mapped("map, invalidate range", size, size, gl::MAP_INVALIDATE_RANGE_BIT, false);
        }
        self.mapped("map, invalidate range", MIB, 4 * KIB, gl::MAP_INVALIDATE_RANGE_BIT, true);
        self.mapped("map, unsynchronized", MIB, 4 * KIB, gl::MAP_UNSYNCHRONIZED_BIT, true);
        self.mapped("map, unsynchronized", 16 * MIB, 64 * KIB, gl::MAP_UNSYNCHRONIZED_BIT, true);
        let explicit = gl::MAP_FLUSH_EXPLICIT_BIT | gl::MAP_INVALIDATE_RANGE_BIT;
        self.mapped("map, flush explicit", MIB, 4 * KIB, explicit, true);
        self.mapped("map, flush explicit", 16 * MIB, MIB, explicit, true);
        self.mapped("map, keep contents", 64 * KIB, 64 * KIB, 0, false);
        let source = self.scene.create_buffer().expect("a buffer");
        self.scene.bind_buffer(gl::COPY_READ_BUFFER, Some(source));
        self.scene.buffer_data_u8_slice(gl::COPY_READ_BUFFER, &self.memory[..16 * MIB], gl::STATIC_DRAW);
        for (size, part) in [(64 * KIB, 64 * KIB), (MIB, MIB), (16 * MIB, 16 * MIB)] {
            self.row("copy", size, part, |gl, bytes, _| {
                let len = bytes.len() as i32;
                gl.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::ARRAY_BUFFER, 0, 0, len);
            });
        }
        self.scene.delete_buffer(source);
    }
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let context = Egl::open()?.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let scene = Scene::new(context, "buffers", std::env::temp_dir());
        let program = scene.program(POSITION_VS, COLOR_FS);
        scene.set_vec4(program, "color", [1.0; 4]);
        scene.vertex_array();
        // Vertices that draw something, whichever is the first.
        let vertex = |i: usize| [(i % 61) as f32 / 61.0 - 0.5, (i % 53) as f32 / 53.0 - 0.5, 0.0, 1.0];
        let vertices: Vec<[f32; 4]> = (0..MIB).map(vertex).collect();
        let memory = bytemuck::cast_slice(&vertices).to_vec();
        let mut bench = Bench { scene: &scene, memory, only: arguments.only.clone(), figures: Vec::new() };
        bench.all();
        Report::of(&scene, bench.figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
