//! Measures windows: what showing a frame costs, and how many frames a second a program gets that draws a little.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{anyhow, Context as _, Result};
use clap::Parser;
use glow::HasContext as _;
use khronos_egl as egl;
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::demo::{Demo, Quality};
use mgl_tests::window::Screen;
use mgl_tests::xserver::XServer;

const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;

/// The most milliseconds that showing a frame may cost.
const MOST: f64 = 1.2;

/// Milliseconds a frame of some.
fn time(count: u32, mut frame: impl FnMut(u32) -> Result<()>) -> Result<f64> {
    (0..count / 4).try_for_each(&mut frame)?;
    let start = Instant::now();
    (0..count).try_for_each(&mut frame)?;
    Ok(start.elapsed().as_secs_f64() * 1e3 / f64::from(count))
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let count = arguments.count.unwrap_or(200).max(8);
    let server = XServer::start(1920, 1080)?;
    // No other thread is there yet.
    std::env::set_var("DISPLAY", server.name());
    std::env::remove_var("EGL_PLATFORM");
    let screen = Screen::open()?;
    let window = screen.window(WIDTH, HEIGHT);
    let surface = window.surface(&[]).context("eglCreateWindowSurface")?;
    let context = screen.context()?;
    screen.make_current(surface, context)?;
    screen.lib.swap_interval(screen.egl, 0)?;
    // SAFETY: the context was made current on this thread just above and stays so.
    unsafe {
        let gl = screen.functions();
        let clear = |frame: u32| {
            gl.clear_color(frame as f32 % 7.0 / 7.0, 0.5, 0.25, 1.0);
            gl.clear(glow::COLOR_BUFFER_BIT);
        };
        let swap = || screen.lib.swap_buffers(screen.egl, surface).context("eglSwapBuffers");
        let drawn = time(count, |frame| {
            clear(frame);
            gl.finish();
            Ok(())
        })?;
        let shown = time(count, |frame| {
            clear(frame);
            swap()
        })?;
        gl.finish();
        let demo = Demo::new(&gl, WIDTH as i32, HEIGHT as i32, Quality::FULL).map_err(|error| anyhow!(error))?;
        let demo_shown = time(count / 4, |frame| {
            demo.frame(&gl, frame as f32 / 60.0);
            swap()
        })?;
        screen.lib.swap_interval(screen.egl, 1)?;
        let paced = time(count.min(60), |frame| {
            clear(frame);
            swap()
        })?;
        let size = |what| screen.lib.query_surface(screen.egl, surface, what);
        anyhow::ensure!((size(egl::WIDTH)?, size(egl::HEIGHT)?) == (WIDTH as i32, HEIGHT as i32), "the window's size");
        let figures = vec![
            Figure::new("a cleared frame that is shown", shown, "ms"),
            Figure::new("a cleared frame that is finished only", drawn, "ms"),
            Figure::new("showing a frame: the difference", shown - drawn, "ms").at_most(MOST),
            Figure::rate("frames that are cleared", 1e3 / shown, "a second"),
            Figure::rate("frames of the demo", 1e3 / demo_shown, "a second"),
            Figure::new("a frame with a swap interval of 1", paced, "ms"),
        ];
        Report::of(&gl, figures)
    }
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
