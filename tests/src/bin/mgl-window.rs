//! What has to hold for windows, one case a run, on whatever driver and display the environment names. `tests/windows.rs`
//! runs them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context as _, Result};
use clap::{Parser, ValueEnum};
use glow::HasContext as _;
use khronos_egl as egl;
use mgl_tests::window::{Screen, Window, BUFFER_AGE};
use mgl_tests::xserver::Onlooker;

/// The longest that a swap may take when nobody sees the window: twice the driver's bound, for a machine with other work.
const BOUND: Duration = Duration::from_millis(400);

#[derive(Clone, Copy, ValueEnum)]
enum Case {
    /// Four colours are where they belong.
    Shows,
    /// The first frame after a resize has the new size.
    Resize,
    /// Another thread resizes without end.
    ResizeThread,
    /// Swaps of a window that is not on the screen are bounded.
    Unmapped,
    /// Likewise of one that is covered.
    Occluded,
    /// The window goes under a thread that draws.
    Closed,
    /// The X server goes; whoever runs this kills it after "ready".
    ServerGone,
    /// What is no window, and a second surface, are refused.
    Refusals,
    /// Ages of the buffer.
    Age,
    /// A surface with one buffer shows what was flushed.
    Single,
    /// With an interval of 1 frames follow the display.
    Interval,
    /// Many windows come and go.
    Leak,
}

#[derive(Parser)]
struct Arguments {
    case: Case,
}

/// A window with everything that drawing takes.
struct Stage {
    screen: Arc<Screen>,
    window: Window,
    surface: egl::Surface,
    gl: glow::Context,
    onlooker: Onlooker,
}

impl Stage {
    fn new(width: u32, height: u32, attributes: &[egl::Int]) -> Result<Stage> {
        let screen = Screen::open()?;
        let window = screen.window(width, height);
        let surface = window.surface(attributes).context("eglCreateWindowSurface")?;
        screen.make_current(surface, screen.context()?)?;
        // SAFETY: a context was made current just above.
        let gl = unsafe { screen.functions() };
        let onlooker = Onlooker::new(&std::env::var("DISPLAY").context("DISPLAY")?)?;
        Ok(Stage { screen, window, surface, gl, onlooker })
    }

    fn swap(&self) -> Result<(), egl::Error> {
        self.screen.lib.swap_buffers(self.screen.egl, self.surface)
    }

    fn clear(&self, color: [f32; 3]) {
        // SAFETY: the stage's context is current on this thread.
        unsafe {
            self.gl.clear_color(color[0], color[1], color[2], 1.0);
            self.gl.clear(glow::COLOR_BUFFER_BIT);
        }
    }

    /// Fills a rectangle, counted from the lower left corner.
    fn fill(&self, area: [i32; 4], color: [f32; 3]) {
        // SAFETY: as above.
        unsafe {
            self.gl.enable(glow::SCISSOR_TEST);
            self.gl.scissor(area[0], area[1], area[2], area[3]);
            self.clear(color);
            self.gl.disable(glow::SCISSOR_TEST);
        }
    }

    /// What is seen, once it has this colour at a place: a frame takes a moment to the screen.
    fn await_pixel(&self, x: usize, y: usize, color: [u8; 3]) -> Result<mgl_tests::picture::Picture> {
        let deadline = Instant::now() + Duration::from_secs(3);
        loop {
            let picture = self.onlooker.picture(self.window.number())?;
            let inside = x < picture.width && y < picture.height;
            let seen = if inside { picture.pixel(x, y) } else { [0; 4] };
            if inside && seen[..3] == color {
                return Ok(picture);
            }
            if Instant::now() > deadline {
                bail!("{seen:?} in place of {color:?} at {x}, {y} of {} x {}", picture.width, picture.height);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

const RED: [f32; 3] = [1.0, 0.0, 0.0];
const GREEN: [f32; 3] = [0.0, 1.0, 0.0];
const BLUE: [f32; 3] = [0.0, 0.0, 1.0];
const WHITE: [f32; 3] = [1.0, 1.0, 1.0];

fn bytes(color: [f32; 3]) -> [u8; 3] {
    color.map(|value| (value * 255.0) as u8)
}

fn shows() -> Result<()> {
    let stage = Stage::new(320, 200, &[])?;
    for round in 0..3 {
        let colors = if round % 2 == 0 { [RED, GREEN, BLUE, WHITE] } else { [WHITE, BLUE, GREEN, RED] };
        for (at, color) in colors.iter().enumerate() {
            stage.fill([at as i32 % 2 * 160, at as i32 / 2 * 100, 160, 100], *color);
        }
        stage.swap()?;
        let picture = stage.await_pixel(0, 0, bytes(colors[0]))?;
        for (at, color) in colors.iter().enumerate() {
            for (x, y) in [(0, 0), (159, 0), (0, 99), (159, 99)] {
                let (x, y) = (at % 2 * 160 + x, at / 2 * 100 + y);
                ensure!(
                    picture.pixel(x, y)[..3] == bytes(*color),
                    "round {round}: {:?} at {x}, {y}",
                    picture.pixel(x, y)
                );
            }
        }
    }
    Ok(())
}

fn resize() -> Result<()> {
    let stage = Stage::new(200, 150, &[])?;
    stage.clear(RED);
    stage.swap()?;
    stage.await_pixel(199, 149, bytes(RED))?;
    for (round, (width, height)) in [(400, 300), (120, 333), (640, 80), (641, 479)].into_iter().enumerate() {
        let color = [GREEN, BLUE, WHITE, RED][round];
        // The request stays in the program's own buffer: whoever asks for the size has to come behind it.
        stage.window.resize(width, height);
        stage.clear(color);
        let mut pixel = [0; 4];
        // SAFETY: the context is current; the memory has room for a pixel.
        unsafe {
            let target = glow::PixelPackData::Slice(Some(&mut pixel));
            let (x, y) = (width as i32 - 1, height as i32 - 1);
            stage.gl.read_pixels(x, y, 1, 1, glow::RGBA, glow::UNSIGNED_BYTE, target);
        }
        ensure!(pixel[..3] == bytes(color), "the frame in work ends before {width} x {height}: {pixel:?}");
        stage.swap()?;
        let picture = stage.await_pixel(width as usize - 1, height as usize - 1, bytes(color))?;
        ensure!((picture.width, picture.height) == (width as usize, height as usize), "the window's size");
        ensure!(
            picture.count(|pixel| pixel[..3] == bytes(color)) == picture.width * picture.height,
            "not all is painted"
        );
        let query = |what| stage.screen.lib.query_surface(stage.screen.egl, stage.surface, what);
        ensure!((query(egl::WIDTH)?, query(egl::HEIGHT)?) == (width as i32, height as i32), "eglQuerySurface");
    }
    Ok(())
}

fn resize_thread() -> Result<()> {
    let stage = Stage::new(100, 100, &[])?;
    stage.screen.lib.swap_interval(stage.screen.egl, 0)?;
    let (number, display) = (stage.window.number(), std::env::var("DISPLAY")?);
    let ends = Arc::new(AtomicBool::new(false));
    let told = ends.clone();
    let thread = std::thread::spawn(move || -> Result<u32> {
        let onlooker = Onlooker::new(&display)?;
        let mut count = 0;
        while !told.load(Ordering::Acquire) {
            onlooker.resize(number, 50 + count * 37 % 500, 50 + count * 53 % 400)?;
            count += 1;
            std::thread::sleep(Duration::from_micros(500));
        }
        onlooker.resize(number, 333, 222)?;
        Ok(count)
    });
    for frame in 0..300 {
        stage.clear([RED, GREEN, BLUE][frame % 3]);
        stage.swap()?;
    }
    ends.store(true, Ordering::Release);
    let count = thread.join().map_err(|_| anyhow!("the thread panicked"))??;
    ensure!(count > 10, "only {count} resizes");
    stage.clear(WHITE);
    stage.swap()?;
    let picture = stage.await_pixel(332, 221, bytes(WHITE))?;
    ensure!((picture.width, picture.height) == (333, 222), "the last size");
    Ok(())
}

/// The longest of some swaps.
fn longest_swap(stage: &Stage) -> Result<Duration> {
    let mut longest = Duration::ZERO;
    for frame in 0..20 {
        stage.clear([RED, GREEN, BLUE][frame % 3]);
        let start = Instant::now();
        stage.swap()?;
        longest = longest.max(start.elapsed());
    }
    println!("longest swap: {longest:?}");
    Ok(longest)
}

fn unmapped() -> Result<()> {
    let stage = Stage::new(300, 200, &[])?;
    longest_swap(&stage)?;
    stage.window.unmap();
    ensure!(longest_swap(&stage)? < BOUND, "an unmapped window holds swaps up");
    Ok(())
}

fn occluded() -> Result<()> {
    let stage = Stage::new(300, 200, &[])?;
    longest_swap(&stage)?;
    stage.onlooker.cover()?;
    ensure!(longest_swap(&stage)? < BOUND, "a covered window holds swaps up");
    Ok(())
}

/// Swaps until one fails, and says how.
fn until_failure(stage: &Stage) -> Result<egl::Error> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        stage.clear(GREEN);
        if let Err(error) = stage.swap() {
            return Ok(error);
        }
    }
    bail!("swaps go on as if nothing had happened")
}

fn closed() -> Result<()> {
    let stage = Stage::new(300, 200, &[])?;
    stage.screen.lib.swap_interval(stage.screen.egl, 0)?;
    let (number, display) = (stage.window.number(), std::env::var("DISPLAY")?);
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        Onlooker::new(&display).and_then(|onlooker| onlooker.destroy(number))
    });
    let error = until_failure(&stage)?;
    ensure!(error == egl::Error::BadNativeWindow, "{error:?}");
    thread.join().map_err(|_| anyhow!("the thread panicked"))??;
    // GL goes on without a window, and EGL with another one.
    stage.clear(RED);
    ensure!(stage.swap() == Err(egl::Error::BadNativeWindow), "a second swap");
    let window = stage.screen.window(100, 80);
    let surface = window.surface(&[]).context("a second window")?;
    stage.screen.make_current(surface, stage.screen.context()?)?;
    let second = Stage { window, surface, ..stage };
    second.clear(BLUE);
    second.swap()?;
    second.await_pixel(99, 79, bytes(BLUE))?;
    Ok(())
}

fn server_gone() -> Result<()> {
    let stage = Stage::new(300, 200, &[])?;
    stage.screen.lib.swap_interval(stage.screen.egl, 0)?;
    for _ in 0..10 {
        stage.clear(RED);
        stage.swap()?;
    }
    println!("ready");
    let error = until_failure(&stage)?;
    ensure!(error == egl::Error::BadNativeWindow, "{error:?}");
    // The context is still there: only the window is not.
    // SAFETY: the context is current.
    ensure!(unsafe { stage.gl.get_error() } == glow::NO_ERROR, "a GL error");
    Ok(())
}

fn refusals() -> Result<()> {
    let stage = Stage::new(64, 64, &[])?;
    ensure!(stage.window.surface(&[]) == Err(egl::Error::BadAlloc), "a second surface of one window");
    let nothing = stage.screen.window(10, 10);
    ensure!(nothing.surface(&[0x1234, 5]) == Err(egl::Error::BadAttribute), "an unknown attribute");
    stage.onlooker.destroy(nothing.number())?;
    ensure!(nothing.surface(&[]) == Err(egl::Error::BadNativeWindow), "a window that is gone");
    // The surface is free again once it is destroyed and not current.
    stage.screen.lib.make_current(stage.screen.egl, None, None, None)?;
    stage.screen.lib.destroy_surface(stage.screen.egl, stage.surface)?;
    stage.window.surface(&[]).context("after the first one is gone")?;
    Ok(())
}

fn age() -> Result<()> {
    let stage = Stage::new(200, 100, &[])?;
    let age = || stage.screen.lib.query_surface(stage.screen.egl, stage.surface, BUFFER_AGE);
    ensure!(age()? == 0, "the age of nothing");
    stage.clear(RED);
    stage.swap()?;
    ensure!(age()? == 1, "the age of a frame");
    // Only a part is painted: the rest is the last frame's.
    stage.fill([0, 0, 100, 100], GREEN);
    stage.swap()?;
    let picture = stage.await_pixel(0, 0, bytes(GREEN))?;
    ensure!(picture.pixel(150, 50)[..3] == bytes(RED), "what was there is gone");
    stage.window.resize(220, 110);
    ensure!(age()? == 0, "the age after a resize");
    Ok(())
}

fn single() -> Result<()> {
    let stage = Stage::new(200, 100, &[egl::RENDER_BUFFER, egl::SINGLE_BUFFER])?;
    stage.clear(BLUE);
    // SAFETY: the context is current.
    unsafe { stage.gl.flush() };
    stage.await_pixel(199, 99, bytes(BLUE))?;
    Ok(())
}

fn interval() -> Result<()> {
    let stage = Stage::new(200, 100, &[])?;
    let time = |interval| -> Result<Duration> {
        stage.screen.lib.swap_interval(stage.screen.egl, interval)?;
        for _ in 0..5 {
            stage.swap()?;
        }
        let start = Instant::now();
        for _ in 0..30 {
            stage.clear(RED);
            stage.swap()?;
        }
        Ok(start.elapsed())
    };
    let (paced, free) = (time(1)?, time(0)?);
    println!("30 frames: {paced:?} with an interval of 1, {free:?} with 0");
    ensure!(paced > Duration::from_millis(350), "an interval of 1 is not kept");
    ensure!(free < paced * 2 / 3, "an interval of 0 is as slow as one of 1");
    Ok(())
}

fn leak() -> Result<()> {
    let stage = Stage::new(64, 64, &[])?;
    let context = stage.screen.context()?;
    let round = || -> Result<()> {
        let window = stage.screen.window(64, 64);
        let surface = window.surface(&[])?;
        stage.screen.make_current(surface, context)?;
        stage.clear(RED);
        stage.screen.lib.swap_buffers(stage.screen.egl, surface)?;
        stage.screen.lib.make_current(stage.screen.egl, None, None, None)?;
        stage.screen.lib.destroy_surface(stage.screen.egl, surface)?;
        stage.onlooker.destroy(window.number())
    };
    (0..5).try_for_each(|_| round())?;
    let before = (mgl_tests::process::n_files(), mgl_tests::process::n_threads());
    (0..40).try_for_each(|_| round())?;
    let after = (mgl_tests::process::n_files(), mgl_tests::process::n_threads());
    ensure!(after.0 <= before.0 + 2 && after.1 <= before.1 + 1, "files and threads: {before:?}, then {after:?}");
    Ok(())
}

fn main() -> Result<()> {
    match Arguments::parse().case {
        Case::Shows => shows(),
        Case::Resize => resize(),
        Case::ResizeThread => resize_thread(),
        Case::Unmapped => unmapped(),
        Case::Occluded => occluded(),
        Case::Closed => closed(),
        Case::ServerGone => server_gone(),
        Case::Refusals => refusals(),
        Case::Age => age(),
        Case::Single => single(),
        Case::Interval => interval(),
        Case::Leak => leak(),
    }
}
