//! Draws the bundled demo off-screen, writes a PNG and prints frames per second and what drew it.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context as _, Result};
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

/// Sees that a file can be written, before anything is drawn for it. What it holds stays.
fn check_writable(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("{} cannot be written: there is no folder {}", path.display(), folder.display());
    }
    let sentence = || format!("{} cannot be written", path.display());
    match OpenOptions::new().write(true).create_new(true).open(path) {
        // It was made for this look only.
        Ok(_) => std::fs::remove_file(path).with_context(sentence),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().write(true).open(path).map(drop).with_context(sentence)
        }
        Err(error) => Err(error).with_context(sentence),
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    if let Some(path) = &arguments.png {
        check_writable(path)?;
    }
    let (width, height) = arguments.size;
    let started = Instant::now();
    let egl =
        Egl::open().context("no OpenGL driver could be opened; it says why on standard error, unless MGL_LOG=off")?;
    let context = egl
        .context(&ContextRequest { surface: (width, height), ..ContextRequest::DEFAULT }, None)
        .context("the driver gives no OpenGL 3.3 core context with a picture of this size")?;
    context.make_current().context("the driver does not take its own context into use")?;
    // SAFETY: the context has just been made current on this thread, and stays so until the end.
    let gl = unsafe { context.functions() };
    // SAFETY: as above.
    let demo = unsafe {
        println!("renderer   {}", gl.get_parameter_string(glow::RENDERER));
        println!("version    {}", gl.get_parameter_string(glow::VERSION));
        Demo::new(&gl, width, height, Quality::FULL).map_err(|e| anyhow!(e)).context("the scene could not be set up")?
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
        context.swap_buffers().context("a frame could not be shown")?;
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
        bail!("the driver reports the GL error {error:#06x} after drawing");
    }
    if let Some(path) = &arguments.png {
        Picture::new(width as usize, height as usize, data)
            .save(path)
            .context("the picture was drawn and could not be written")?;
        println!("written    {}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_be_written_are_found_without_a_trace() {
        let folder = std::env::temp_dir().join(format!("mgl-demo-{}", std::process::id()));
        let missing = check_writable(&folder.join("a.png")).unwrap_err().to_string();
        assert!(missing.contains("there is no folder"), "{missing}");
        std::fs::create_dir_all(folder.join("taken.png")).unwrap();
        assert!(check_writable(&folder.join("taken.png")).is_err(), "a folder is no file");
        check_writable(&folder.join("new.png")).unwrap();
        assert!(!folder.join("new.png").exists());
        std::fs::write(folder.join("old.png"), "kept").unwrap();
        check_writable(&folder.join("old.png")).unwrap();
        assert_eq!(std::fs::read_to_string(folder.join("old.png")).unwrap(), "kept");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
