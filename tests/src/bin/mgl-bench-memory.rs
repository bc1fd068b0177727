//! Measures whether memory stays flat over many frames of the demo (10,000 by default).

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, Result};
use clap::Parser;
use glow::HasContext as _;
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::demo::{Demo, Quality};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::process;

const MIB: f64 = 1024.0 * 1024.0;

fn measure(arguments: &Arguments) -> Result<Report> {
    let n_frames = arguments.count.unwrap_or(10_000).max(20);
    let context = Egl::open()?.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let gl = context.functions();
        let demo = Demo::new(&gl, 64, 64, Quality::SMALL).map_err(|e| anyhow!(e))?;
        let warm_up = n_frames / 10;
        let (mut least, mut most) = (u64::MAX, 0);
        let mut start = Instant::now();
        for i in 0..n_frames {
            demo.frame(&gl, i as f32 / 60.0);
            context.swap_buffers()?;
            if i == warm_up {
                start = Instant::now();
            }
            if i >= warm_up && i % (n_frames / 20).max(1) == 0 {
                // A finish, so that frames in flight do not count as growth.
                gl.finish();
                let now = process::resident_bytes();
                (least, most) = (least.min(now), most.max(now));
            }
        }
        gl.finish();
        let per_frame = start.elapsed().as_secs_f64() * 1e3 / f64::from(n_frames - warm_up);
        let now = process::resident_bytes();
        (least, most) = (least.min(now), most.max(now));
        let figures = vec![
            Figure::new("resident memory, greatest minus least", (most - least) as f64 / MIB, "MiB").at_most(2.0),
            Figure::new("resident memory at the end", now as f64 / MIB, "MiB"),
            Figure::new("threads", process::n_threads() as f64, "of them"),
            Figure::new("open files", process::n_files() as f64, "of them"),
            Figure::new("time a frame", per_frame, "ms"),
        ];
        Report::of(&gl, figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
