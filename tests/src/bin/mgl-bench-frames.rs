//! Measures the demo frame by frame: how many a second, and how long one takes from its first call to its last pixel.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, bail, Result};
use clap::Parser;
use glow::HasContext as _;
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::demo::{Demo, Quality};
use mgl_tests::egl::{ContextRequest, Egl};

/// The first frames fill caches and pools and are not counted.
const WARM_UP: u32 = 10;

/// Nanoseconds to add to this process's clock, counted from `epoch`, to get the device's. Of several looks the quickest one
/// counts, since the device's clock is read somewhere within it.
///
/// # Safety
/// The context is current on the calling thread.
unsafe fn device_clock(gl: &glow::Context, epoch: Instant) -> f64 {
    let mut best = (f64::INFINITY, 0.0);
    for _ in 0..20 {
        let before = epoch.elapsed().as_nanos() as f64;
        let device = gl.get_parameter_i64(glow::TIMESTAMP) as f64;
        let after = epoch.elapsed().as_nanos() as f64;
        if after - before < best.0 {
            best = (after - before, device - (before + after) / 2.0);
        }
    }
    best.1
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let n_frames = WARM_UP + arguments.count.unwrap_or(120).max(10);
    let (width, height) = (640, 360);
    let egl = Egl::open()?;
    let context = egl.context(&ContextRequest { surface: (width, height), ..ContextRequest::DEFAULT }, None)?;
    context.make_current()?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let gl = context.functions();
        let demo = Demo::new(&gl, width, height, Quality::FULL).map_err(|e| anyhow!(e))?;
        let queries =
            (0..n_frames).map(|_| gl.create_query()).collect::<Result<Vec<_>, _>>().map_err(|e| anyhow!(e))?;
        let epoch = Instant::now();
        let to_device = device_clock(&gl, epoch);
        let mut begun = Vec::new();
        for (frame, &query) in queries.iter().enumerate() {
            if frame == WARM_UP as usize {
                gl.finish();
            }
            begun.push(epoch.elapsed().as_nanos() as f64);
            demo.frame(&gl, frame as f32 / 60.0);
            gl.query_counter(query, glow::TIMESTAMP);
            context.swap_buffers()?;
        }
        gl.finish();
        let counted = n_frames as usize - WARM_UP as usize;
        let wall = epoch.elapsed().as_nanos() as f64 - begun[WARM_UP as usize];
        let mut latencies: Vec<f64> = queries
            .iter()
            .zip(&begun)
            .skip(WARM_UP as usize)
            .map(|(&query, begun)| gl.get_query_parameter_u64(query, glow::QUERY_RESULT) as f64 - to_device - begun)
            .collect();
        latencies.sort_by(f64::total_cmp);
        // Clocks that do not match would give any number at all.
        if latencies[0] <= 0.0 || latencies[counted - 1] > wall {
            bail!(
                "the device's clock does not run with this process's: {:?} ns",
                (latencies[0], latencies[counted - 1])
            );
        }
        let figures = vec![
            Figure::rate("frames", counted as f64 / (wall / 1e9), "a second"),
            Figure::new("latency of a frame, median", latencies[counted / 2] / 1e6, "ms"),
            Figure::new("latency of a frame, 95 of 100 are below", latencies[counted * 95 / 100] / 1e6, "ms"),
        ];
        Report::of(&gl, figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
