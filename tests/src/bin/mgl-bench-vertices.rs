//! Measures the peak memory of a program with many vertex buffers that it draws, updates, maps and replaces.

use std::process::ExitCode;

use anyhow::{anyhow, Result};
use clap::Parser;
use glow::{self as gl, HasContext as _};
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::process;
use mgl_tests::scene::{Scene, COLOR_FS, POSITION_VS};

const MIB: usize = 1 << 20;
const N_BUFFERS: usize = 64;
const SIZE: usize = 4 * MIB;

fn measure(arguments: &Arguments) -> Result<Report> {
    let n_frames = arguments.count.unwrap_or(60).max(1) as usize;
    let context = Egl::open()?.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let scene = Scene::new(context, "vertices", std::env::temp_dir());
        let program = scene.program(POSITION_VS, COLOR_FS);
        scene.set_vec4(program, "color", [1.0; 4]);
        scene.vertex_array();
        scene.enable_vertex_attrib_array(0);
        let bytes: Vec<u8> = (0..SIZE).map(|i| (i >> 4) as u8 & 0x3f).collect();
        let mut buffers = Vec::new();
        for _ in 0..N_BUFFERS {
            let buffer = scene.create_buffer().map_err(|e| anyhow!(e))?;
            scene.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
            scene.buffer_data_u8_slice(gl::ARRAY_BUFFER, &bytes, gl::STATIC_DRAW);
            buffers.push(buffer);
        }
        for frame in 0..n_frames {
            for (i, buffer) in buffers.iter().enumerate() {
                scene.bind_buffer(gl::ARRAY_BUFFER, Some(*buffer));
                scene.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 16, 0);
                // A quarter of the buffers changes every frame, each in one of four ways.
                match (i + frame) % 16 {
                    0 => scene.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, (SIZE / 2) as i32, &bytes[..SIZE / 4]),
                    1 => scene.buffer_data_u8_slice(gl::ARRAY_BUFFER, &bytes, gl::STREAM_DRAW),
                    n @ (2 | 3) => {
                        let access = if n == 2 { gl::MAP_INVALIDATE_BUFFER_BIT } else { gl::MAP_INVALIDATE_RANGE_BIT };
                        let len = if n == 2 { SIZE } else { SIZE / 8 };
                        let access = gl::MAP_WRITE_BIT | access;
                        let mapped = scene.map_buffer_range(gl::ARRAY_BUFFER, 0, len as i32, access);
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped, len);
                        scene.unmap_buffer(gl::ARRAY_BUFFER);
                    }
                    _ => {}
                }
                scene.draw_arrays(gl::POINTS, 0, 16);
            }
            scene.context.swap_buffers()?;
        }
        scene.finish();
        let in_mib = |bytes: u64| bytes as f64 / MIB as f64;
        let figures = vec![
            Figure::new("buffers: peak resident memory", in_mib(process::peak_bytes()), "MiB"),
            Figure::new("buffers: resident memory at the end", in_mib(process::resident_bytes()), "MiB"),
        ];
        Report::of(&scene, figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
