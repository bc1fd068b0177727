//! Draws the bundled demo off-screen, writes a PNG and prints frames per second and what drew it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Result};
use clap::Parser;
use glow::HasContext as _;
use mgl_tests::demo::{Demo, Quality};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::picture::Picture;

/// Draws a lit, shadowed, animated scene with whatever OpenGL driver the environment selects.
#[derive(Parser)]
struct Arguments {
    /// Write the last frame to this file.
    #[arg(long)]
    png: Option<PathBuf>,
    /// The number of frames; a frame is always 1/60 s of animation, however long it takes to draw.
    #[arg(long, default_value_t = 60)]
    frames: u32,
    /// Width and height in pixels.
    #[arg(long, default_value = "1280x720", value_parser = parse_size)]
    size: (i32, i32),
    /// Stop after this many seconds, even when frames are left (0: never stop early).
    #[arg(long, default_value_t = 20.0)]
    seconds: f32,
    /// The animation's time at the first frame, in seconds.
    #[arg(long, default_value_t = 0.0)]
    start: f32,
}

fn parse_size(text: &str) -> Result<(i32, i32), String> {
    let (w, h) = text.split_once('x').ok_or("a size looks like 1280x720")?;
    match (w.parse(), h.parse()) {
        (Ok(w @ 16..=8192), Ok(h @ 16..=8192)) => Ok((w, h)),
        _ => Err("width and height are numbers from 16 to 8192".into()),
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (width, height) = arguments.size;
    let started = Instant::now();
    let egl = Egl::open()?;
    let context = egl.context(&ContextRequest { surface: (width, height), ..ContextRequest::DEFAULT }, None)?;
    context.make_current()?;
    // SAFETY: the context has just been made current on this thread, and stays so until the end.
    let gl = unsafe { context.functions() };
    // SAFETY: as above.
    let demo = unsafe {
        println!("renderer   {}", gl.get_parameter_string(glow::RENDERER));
        println!("version    {}", gl.get_parameter_string(glow::VERSION));
        Demo::new(&gl, width, height, Quality::FULL).map_err(|e| anyhow!(e))?
    };
    println!("picture    {width}x{height}, {} samples a pixel", demo.samples());

    let mut n_frames = 0u32;
    let mut first = Duration::ZERO;
    let mut reported = Instant::now();
    let mut start = Instant::now();
    while n_frames < arguments.frames.max(1) {
        // SAFETY: as above.
        unsafe {
            demo.frame(&gl, arguments.start + n_frames as f32 / 60.0);
            n_frames += 1;
            if n_frames == 1 {
                gl.finish();
                first = started.elapsed();
                start = Instant::now();
            }
        }
        let out_of_time = arguments.seconds > 0.0 && start.elapsed().as_secs_f32() > arguments.seconds;
        if n_frames == arguments.frames.max(1) || out_of_time {
            break;
        }
        context.swap_buffers()?;
        if reported.elapsed() > Duration::from_secs(2) {
            println!(
                "           {n_frames} frames, {:.1} a second",
                f64::from(n_frames - 1) / start.elapsed().as_secs_f64()
            );
            reported = Instant::now();
        }
    }
    let mut data = vec![0u8; (width * height * 4) as usize];
    // SAFETY: as above.
    let error = unsafe {
        gl.finish();
        let elapsed = start.elapsed().as_secs_f64();
        println!("first      {:.0} ms from start to the first finished frame", first.as_secs_f64() * 1e3);
        if n_frames > 1 {
            println!("speed      {:.1} frames a second over {n_frames} frames", f64::from(n_frames - 1) / elapsed);
        }
        gl.read_pixels(
            0,
            0,
            width,
            height,
            glow::RGBA,
            glow::UNSIGNED_BYTE,
            glow::PixelPackData::Slice(Some(&mut data)),
        );
        gl.get_error()
    };
    if error != glow::NO_ERROR {
        bail!("GL error {error:#06x}");
    }
    if let Some(path) = &arguments.png {
        Picture::new(width as usize, height as usize, data).save(path)?;
        println!("written    {}", path.display());
    }
    Ok(())
}
