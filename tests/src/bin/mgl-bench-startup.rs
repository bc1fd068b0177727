//! Measures the time from eglInitialize to the first finished frame.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, Result};
use clap::Parser;
use glow::HasContext as _;
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::demo::{Demo, Quality};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::scene::{Scene, COLOR_FS, FULL_VS};

fn measure(_: &Arguments) -> Result<Report> {
    let milliseconds = |since: Instant| since.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let egl = Egl::open()?;
    let initialized = milliseconds(start);
    let context = egl.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    let made = milliseconds(start);
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let scene = Scene::new(context, "startup", std::env::temp_dir());
        let program = scene.program(FULL_VS, COLOR_FS);
        scene.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
        scene.vertex_array();
        scene.fill();
        scene.finish();
        let first = milliseconds(start);
        let picture = scene.read(64, 64);
        if picture.pixel(30, 30) != [0, 255, 0, 255] {
            return Err(anyhow!("the first frame is wrong: {:?}", picture.pixel(30, 30)));
        }
        let demo_start = Instant::now();
        let demo = Demo::new(&scene, 64, 64, Quality::SMALL).map_err(|e| anyhow!(e))?;
        demo.frame(&scene, 0.0);
        scene.finish();
        let demo_first = milliseconds(demo_start);
        Ok(Report {
            renderer: scene.get_parameter_string(glow::RENDERER),
            figures: vec![
                Figure::cached("eglInitialize", initialized, "ms"),
                Figure::cached("… to a current context", made, "ms"),
                Figure::cached("… to the first finished frame", first, "ms"),
                Figure::cached("then the demo, set up and one frame", demo_first, "ms"),
            ],
        })
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
