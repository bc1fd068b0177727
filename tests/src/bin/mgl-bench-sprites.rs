//! Measures frames that upload 1,000 rectangles of sprites into one atlas and draw with it: scattered over the whole atlas, and side
//! by side. `MGL_STATS=1` shows beside it how many uploads, regions and bytes the driver makes of them.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use glow::{self as gl, HasContext as _, PixelUnpackData};
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::scene::{Scene, FULL_VS, TEXTURE_FS};

/// Side of the atlas in texels.
const ATLAS: i32 = 2048;
/// Side of a sprite in texels.
const SPRITE: i32 = 16;
/// Sprites that a frame replaces.
const COUNT: i32 = 1000;
/// Places of sprites in a row of the atlas.
const ROW: i32 = ATLAS / SPRITE;

/// The place of a sprite of a frame when they lie side by side, beginning at a row that moves.
fn beside(frame: i32, sprite: i32) -> i32 {
    (frame % 8) * ROW + sprite
}

/// The same when they are scattered: an odd step visits every place of the atlas before one comes again.
fn scattered(frame: i32, sprite: i32) -> i32 {
    let number = i64::from(frame) * i64::from(COUNT) + i64::from(sprite);
    (number * 6151 % i64::from(ROW * ROW)) as i32
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let n_frames = i32::try_from(arguments.count.unwrap_or(60).max(1))?;
    let context = Egl::open()?.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let scene = Scene::new(context, "sprites", std::env::temp_dir());
        scene.target(64, 64);
        scene.program(FULL_VS, TEXTURE_FS);
        scene.vertex_array();
        let texels: Vec<u8> = (0..SPRITE * SPRITE * 4).map(|i| i as u8).collect();
        scene.texture_of(
            ATLAS,
            ATLAS,
            gl::RGBA8,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            &vec![[0u8; 4]; (ATLAS * ATLAS) as usize],
        );
        let mut figures = Vec::new();
        for (what, place) in [("side by side", beside as fn(i32, i32) -> i32), ("scattered", scattered)] {
            let frame = |number: i32| -> Result<()> {
                for sprite in 0..COUNT {
                    let place = place(number, sprite) % (ROW * ROW);
                    let (x, y) = (place % ROW * SPRITE, place / ROW * SPRITE);
                    let source = PixelUnpackData::Slice(Some(&texels[..]));
                    scene.tex_sub_image_2d(
                        gl::TEXTURE_2D,
                        0,
                        x,
                        y,
                        SPRITE,
                        SPRITE,
                        gl::RGBA,
                        gl::UNSIGNED_BYTE,
                        source,
                    );
                }
                scene.draw_arrays(gl::TRIANGLES, 0, 3);
                scene.context.swap_buffers()
            };
            frame(0)?;
            scene.finish();
            let start = Instant::now();
            for number in 1..=n_frames {
                frame(number)?;
            }
            scene.finish();
            let rate = f64::from(n_frames) / start.elapsed().as_secs_f64();
            figures.push(Figure::rate(&format!("sprites {what}: frames"), rate, "1/s"));
        }
        Report::of(&scene, figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
