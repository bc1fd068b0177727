//! Measures what creating and destroying contexts leaves behind (200 cycles by default, after 60 to warm up).

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
    let keeps = std::env::var_os("MGL_TEST_CONTROL").is_some();
    // Caches, pools and the allocator fill up first.
    let warm_up = if keeps { 5 } else { 60 };
    let n_cycles = warm_up + arguments.count.unwrap_or(200).max(10);
    let egl = Egl::open()?;
    let mut renderer = String::new();
    let mut marks = Vec::new();
    let mut start = Instant::now();
    for i in 0..n_cycles {
        let context = egl.context(&ContextRequest::DEFAULT, None)?;
        context.make_current()?;
        // SAFETY: the context was made current on this thread just above and stays so until it is released.
        unsafe {
            let gl = context.functions();
            renderer = gl.get_parameter_string(glow::RENDERER);
            // A frame with objects of all kinds, which the end of the context has to clean up.
            let demo = Demo::new(&gl, 64, 64, Quality::SMALL).map_err(|e| anyhow!(e))?;
            demo.frame(&gl, 0.5);
            gl.finish();
        }
        context.release()?;
        if keeps {
            // The control of the test that nothing is left behind.
            std::mem::forget(context);
        } else {
            drop(context);
        }
        if i == warm_up {
            start = Instant::now();
        }
        if i == warm_up || i == n_cycles - 1 {
            marks.push((process::n_files(), process::n_threads(), process::resident_bytes()));
        }
    }
    let per_cycle = start.elapsed().as_secs_f64() * 1e3 / f64::from(n_cycles - warm_up - 1);
    let [(files, threads, memory), (files_end, threads_end, memory_end)] = marks[..] else {
        return Err(anyhow!("no marks"));
    };
    let grown = |a: u64, b: u64| b as f64 - a as f64;
    Ok(Report {
        renderer,
        figures: vec![
            Figure::new("open files gained", grown(files, files_end), "of them").at_most(0.0),
            Figure::new("threads gained", grown(threads, threads_end), "of them").at_most(0.0),
            Figure::new("resident memory gained", grown(memory, memory_end) / MIB, "MiB").at_most(2.0),
            Figure::new("resident memory at the end", memory_end as f64 / MIB, "MiB"),
            Figure::new("time a cycle", per_cycle, "ms"),
        ],
    })
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
