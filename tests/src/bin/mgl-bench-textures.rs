//! Measures the peak memory of a program with many textures that draws with all of them and replaces some.

use std::process::ExitCode;

use anyhow::{anyhow, Result};
use clap::Parser;
use glow::{self as gl, HasContext as _, PixelUnpackData};
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::process;
use mgl_tests::scene::{Scene, FULL_VS, TEXTURE_FS};

const MIB: f64 = 1024.0 * 1024.0;
const N_TEXTURES: usize = 48;
const SIZE: i32 = 1024;

fn measure(arguments: &Arguments) -> Result<Report> {
    let n_frames = arguments.count.unwrap_or(30).max(1) as usize;
    let context = Egl::open()?.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let scene = Scene::new(context, "textures", std::env::temp_dir());
        scene.program(FULL_VS, TEXTURE_FS);
        scene.vertex_array();
        let texels: Vec<u8> = (0..SIZE as usize * SIZE as usize * 4).map(|i| (i >> 5) as u8).collect();
        let fill = |texture| {
            scene.bind_texture(gl::TEXTURE_2D, Some(texture));
            let source = PixelUnpackData::Slice(Some(&texels[..]));
            let internal = gl::RGBA8 as i32;
            scene.tex_image_2d(gl::TEXTURE_2D, 0, internal, SIZE, SIZE, 0, gl::RGBA, gl::UNSIGNED_BYTE, source);
            scene.generate_mipmap(gl::TEXTURE_2D);
        };
        let mut textures = Vec::new();
        for _ in 0..N_TEXTURES {
            let texture = scene.create_texture().map_err(|e| anyhow!(e))?;
            fill(texture);
            textures.push(texture);
        }
        for frame in 0..n_frames {
            for texture in &textures {
                scene.bind_texture(gl::TEXTURE_2D, Some(*texture));
                scene.draw_arrays(gl::TRIANGLES, 0, 3);
            }
            // One texture is replaced and one updated, as a program does that streams.
            let replaced = frame * 5 % N_TEXTURES;
            scene.delete_texture(textures[replaced]);
            textures[replaced] = scene.create_texture().map_err(|e| anyhow!(e))?;
            fill(textures[replaced]);
            scene.bind_texture(gl::TEXTURE_2D, Some(textures[frame * 7 % N_TEXTURES]));
            let source = PixelUnpackData::Slice(Some(&texels[..]));
            scene.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, SIZE, SIZE, gl::RGBA, gl::UNSIGNED_BYTE, source);
            scene.context.swap_buffers()?;
        }
        scene.finish();
        let figures = vec![
            Figure::new("textures: peak resident memory", process::peak_bytes() as f64 / MIB, "MiB"),
            Figure::new("textures: resident memory at the end", process::resident_bytes() as f64 / MIB, "MiB"),
        ];
        Report::of(&scene, figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
