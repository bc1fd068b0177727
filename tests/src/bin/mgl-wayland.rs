//! What has to hold for windows of Wayland, one case a run, on whatever driver and compositor the environment names.
//! `tests/wayland.rs` runs them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context as _, Result};
use clap::{Parser, ValueEnum};
use glow::HasContext as _;
use khronos_egl as egl;
use mgl_tests::picture::Picture;
use mgl_tests::wayland::{Desk, Window};
use mgl_tests::weston::Screen;
use mgl_tests::window::BUFFER_AGE;

/// The longest that a swap may take when nobody sees the window: twice the driver's bound, for a machine with other work.
const BOUND: Duration = Duration::from_millis(400);

#[derive(Clone, Copy, ValueEnum)]
enum Case {
    /// Four colours are where they belong.
    Shows,
    /// What is transparent lets the background through.
    Alpha,
    /// The first frame after a resize has the new size.
    Resize,
    /// Another thread resizes without end.
    ResizeThread,
    /// Swaps of a window that is covered are bounded.
    Occluded,
    /// The window goes under a thread that draws.
    Closed,
    /// The compositor goes; whoever runs this kills it after "ready".
    ServerGone,
    /// The compositor does nothing any more; whoever runs this stops it after "ready".
    ServerStopped,
    /// What is no window, and a second surface, are refused.
    Refusals,
    /// Ages of the buffer, and frames of which a part is new.
    Age,
    /// With an interval of 1 frames follow the display.
    Interval,
    /// Several threads draw, while another one waits for events.
    Threads,
    /// Many windows come and go.
    Leak,
    /// The display that the environment names.
    Default,
}

#[derive(Parser)]
struct Arguments {
    case: Case,
}

/// A window with everything that drawing takes.
struct Stage {
    desk: Arc<Desk>,
    window: Window,
    surface: egl::Surface,
    gl: glow::Context,
    screen: Screen,
}

impl Stage {
    fn new(width: i32, height: i32) -> Result<Stage> {
        Stage::on(&Desk::open(0)?, width, height)
    }

    fn on(desk: &Arc<Desk>, width: i32, height: i32) -> Result<Stage> {
        let window = desk.window(width, height)?;
        let surface = window.surface(&[]).context("eglCreateWindowSurface")?;
        desk.make_current(surface, desk.context()?)?;
        // SAFETY: a context was made current just above.
        let gl = unsafe { desk.functions() };
        Ok(Stage { desk: desk.clone(), window, surface, gl, screen: Screen::of_environment()? })
    }

    fn swap(&self) -> Result<(), egl::Error> {
        self.desk.lib.swap_buffers(self.desk.egl, self.surface)
    }

    fn set_interval(&self, interval: egl::Int) -> Result<()> {
        Ok(self.desk.lib.swap_interval(self.desk.egl, interval)?)
    }

    fn clear(&self, [red, green, blue]: [f32; 3], alpha: f32) {
        // SAFETY: the stage's context is current on this thread.
        unsafe {
            self.gl.clear_color(red, green, blue, alpha);
            self.gl.clear(glow::COLOR_BUFFER_BIT);
        }
    }

    /// Fills a rectangle, counted from the lower left corner.
    fn fill(&self, area: [i32; 4], color: [f32; 3], alpha: f32) {
        // SAFETY: as above.
        unsafe {
            self.gl.enable(glow::SCISSOR_TEST);
            self.gl.scissor(area[0], area[1], area[2], area[3]);
            self.clear(color, alpha);
            self.gl.disable(glow::SCISSOR_TEST);
        }
    }

    /// What is seen, once it has this size and this colour at a place: a frame takes a moment to the screen.
    fn await_pixel(&self, size: (usize, usize), at: (usize, usize), color: [u8; 3]) -> Result<Picture> {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let picture = self.screen.window()?;
            let fits = (picture.width, picture.height) == size;
            let seen = if fits { picture.pixel(at.0, at.1) } else { [0; 4] };
            if fits && seen[..3] == color {
                return Ok(picture);
            }
            if Instant::now() > deadline {
                bail!("{seen:?} in place of {color:?} at {at:?} of {} x {}", picture.width, picture.height);
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
    // An odd height has a row that stays where it is.
    let stage = Stage::new(320, 201)?;
    for round in 0..3 {
        let colors = if round % 2 == 0 { [RED, GREEN, BLUE, WHITE] } else { [WHITE, BLUE, GREEN, RED] };
        for (at, color) in colors.iter().enumerate() {
            let low = at as i32 / 2 * 100;
            // Alpha means nothing in this window.
            stage.fill([at as i32 % 2 * 160, low, 160, 101], *color, 0.25);
        }
        stage.swap()?;
        let picture = stage.await_pixel((320, 201), (0, 0), bytes(colors[0]))?;
        for (at, color) in colors.iter().enumerate() {
            let rows = if at < 2 { 0..100 } else { 100..201 };
            for (x, y) in [(0, rows.start), (159, rows.start), (0, rows.end - 1), (159, rows.end - 1)] {
                let x = at % 2 * 160 + x;
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

fn alpha() -> Result<()> {
    let stage = Stage::on(&Desk::open(8)?, 200, 100)?;
    stage.clear(RED, 1.0);
    // Colours are multiplied with alpha already.
    stage.fill([50, 20, 100, 50], [0.0, 0.0, 0.0], 0.0);
    stage.swap()?;
    let picture = stage.await_pixel((200, 100), (0, 0), bytes(RED))?;
    ensure!(picture.pixel(100, 40)[..3] == [0, 0, 0], "{:?} in the hole", picture.pixel(100, 40));
    ensure!(picture.pixel(100, 75)[..3] == bytes(RED), "{:?} above the hole", picture.pixel(100, 75));
    Ok(())
}

fn resize() -> Result<()> {
    let stage = Stage::new(200, 150)?;
    stage.clear(RED, 1.0);
    stage.swap()?;
    stage.await_pixel((200, 150), (199, 149), bytes(RED))?;
    for (round, (width, height)) in [(400, 300), (120, 333), (640, 80), (641, 479)].into_iter().enumerate() {
        let color = [GREEN, BLUE, WHITE, RED][round];
        stage.window.resize(width, height);
        stage.clear(color, 1.0);
        let mut pixel = [0; 4];
        // SAFETY: the context is current; the memory has room for a pixel.
        unsafe {
            let target = glow::PixelPackData::Slice(Some(&mut pixel));
            stage.gl.read_pixels(width - 1, height - 1, 1, 1, glow::RGBA, glow::UNSIGNED_BYTE, target);
        }
        ensure!(pixel[..3] == bytes(color), "the frame in work ends before {width} x {height}: {pixel:?}");
        stage.swap()?;
        let size = (width as usize, height as usize);
        let picture = stage.await_pixel(size, (size.0 - 1, size.1 - 1), bytes(color))?;
        ensure!(picture.count(|pixel| pixel[..3] == bytes(color)) == size.0 * size.1, "not all is painted");
        let query = |what| stage.desk.lib.query_surface(stage.desk.egl, stage.surface, what);
        ensure!((query(egl::WIDTH)?, query(egl::HEIGHT)?) == (width, height), "eglQuerySurface");
    }
    Ok(())
}

fn resize_thread() -> Result<()> {
    let stage = Stage::new(100, 100)?;
    stage.set_interval(0)?;
    let ends = AtomicBool::new(false);
    let window = Shared(&stage.window);
    std::thread::scope(|scope| -> Result<()> {
        let thread = scope.spawn(|| {
            let window = &window;
            let mut count = 0;
            while !ends.load(Ordering::Acquire) {
                window.0.resize(50 + count * 37 % 500, 50 + count * 53 % 400);
                count += 1;
                std::thread::sleep(Duration::from_micros(500));
            }
            window.0.resize(333, 222);
            count
        });
        for frame in 0..200 {
            stage.clear([RED, GREEN, BLUE][frame % 3], 1.0);
            if let Err(error) = stage.swap() {
                ends.store(true, Ordering::Release);
                bail!("frame {frame}: {error}");
            }
        }
        ends.store(true, Ordering::Release);
        let count = thread.join().map_err(|_| anyhow!("the thread panicked"))?;
        ensure!(count > 10, "only {count} resizes");
        Ok(())
    })?;
    stage.clear(WHITE, 1.0);
    stage.swap()?;
    stage.await_pixel((333, 222), (332, 221), bytes(WHITE))?;
    Ok(())
}

/// A window that several threads use, as programs do although libwayland-egl has no locks: what they write are numbers.
struct Shared<'a>(&'a Window);

// SAFETY: `resize` writes numbers that are read one by one.
unsafe impl Sync for Shared<'_> {}

/// The longest of some swaps.
fn longest_swap(stage: &Stage) -> Result<Duration> {
    let mut longest = Duration::ZERO;
    for frame in 0..20 {
        stage.clear([RED, GREEN, BLUE][frame % 3], 1.0);
        let start = Instant::now();
        stage.swap()?;
        longest = longest.max(start.elapsed());
    }
    println!("longest swap: {longest:?}");
    Ok(longest)
}

fn occluded() -> Result<()> {
    let stage = Stage::new(300, 200)?;
    longest_swap(&stage)?;
    // The newest window is the one that is seen, and this one covers the screen.
    let cover = Stage::new(800, 600)?;
    cover.clear(GREEN, 1.0);
    cover.swap()?;
    cover.await_pixel((800, 600), (400, 300), bytes(GREEN))?;
    let context = stage.desk.context()?;
    stage.desk.make_current(stage.surface, context)?;
    ensure!(longest_swap(&stage)? < BOUND, "a covered window holds swaps up");
    Ok(())
}

/// Swaps until one fails, and says how.
fn until_failure(stage: &Stage) -> Result<egl::Error> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        stage.clear(GREEN, 1.0);
        if let Err(error) = stage.swap() {
            return Ok(error);
        }
    }
    bail!("swaps go on as if nothing had happened")
}

/// What one thread hands to another one for good.
struct Given<T>(T);

// SAFETY: only the thread that gets it uses it from then on, except for the driver, which has to expect that.
unsafe impl<T> Send for Given<T> {}

fn closed() -> Result<()> {
    let stage = Stage::new(300, 200)?;
    stage.set_interval(0)?;
    let Stage { desk, window, surface, gl, screen } = stage;
    let nothing = desk.window(8, 8)?;
    let given = Given(window);
    let thread = std::thread::spawn(move || {
        let mut given = given;
        std::thread::sleep(Duration::from_millis(200));
        given.0.destroy();
    });
    let stage = Stage { desk, window: nothing, surface, gl, screen };
    let error = until_failure(&stage)?;
    ensure!(error == egl::Error::BadNativeWindow, "{error:?}");
    thread.join().map_err(|_| anyhow!("the thread panicked"))?;
    // GL goes on without a window, and EGL with another one.
    stage.clear(RED, 1.0);
    ensure!(stage.swap() == Err(egl::Error::BadNativeWindow), "a second swap");
    stage.desk.sync()?;
    let second = Stage::on(&stage.desk, 100, 80)?;
    second.clear(BLUE, 1.0);
    second.swap()?;
    second.await_pixel((100, 80), (99, 79), bytes(BLUE))?;
    Ok(())
}

fn server_gone() -> Result<()> {
    let stage = Stage::new(300, 200)?;
    for _ in 0..10 {
        stage.clear(RED, 1.0);
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

fn server_stopped() -> Result<()> {
    let stage = Stage::new(300, 200)?;
    longest_swap(&stage)?;
    println!("ready");
    std::thread::sleep(Duration::from_millis(500));
    ensure!(longest_swap(&stage)? < BOUND, "a compositor that is stopped holds swaps up");
    Ok(())
}

fn refusals() -> Result<()> {
    let stage = Stage::new(64, 64)?;
    ensure!(stage.window.surface(&[]) == Err(egl::Error::BadAlloc), "a second surface of one window");
    let mut nothing = stage.desk.window(10, 10)?;
    ensure!(nothing.surface(&[0x1234, 5]) == Err(egl::Error::BadAttribute), "an unknown attribute");
    nothing.destroy();
    ensure!(nothing.surface(&[]) == Err(egl::Error::BadNativeWindow), "no window");
    // The surface is free again once it is destroyed and not current.
    stage.desk.lib.make_current(stage.desk.egl, None, None, None)?;
    stage.desk.lib.destroy_surface(stage.desk.egl, stage.surface)?;
    stage.window.surface(&[]).context("after the first one is gone")?;
    Ok(())
}

fn age() -> Result<()> {
    let stage = Stage::new(200, 100)?;
    let age = || stage.desk.lib.query_surface(stage.desk.egl, stage.surface, BUFFER_AGE);
    ensure!(age()? == 0, "the age of nothing");
    stage.clear(RED, 1.0);
    stage.swap()?;
    stage.await_pixel((200, 100), (0, 0), bytes(RED))?;
    ensure!(age()? == 1, "the age of a frame");
    let swap = stage.desk.lib.get_proc_address("eglSwapBuffersWithDamageKHR").context("swap with damage")?;
    // SAFETY: the type is that of EGL_KHR_swap_buffers_with_damage.
    let swap = unsafe {
        std::mem::transmute::<
            extern "system" fn(),
            unsafe extern "C" fn(egl::EGLDisplay, egl::EGLSurface, *const i32, i32) -> u32,
        >(swap)
    };
    // Only a part is painted and said to be new: the rest is the last frame's.
    stage.fill([0, 0, 100, 40], GREEN, 1.0);
    let area = [0, 0, 100, 40];
    // SAFETY: the surface is current; one rectangle of four numbers.
    ensure!(unsafe { swap(stage.desk.egl.as_ptr(), stage.surface.as_ptr(), area.as_ptr(), 1) } == 1, "a swap");
    let picture = stage.await_pixel((200, 100), (0, 0), bytes(GREEN))?;
    ensure!(picture.pixel(99, 39)[..3] == bytes(GREEN), "the damage ends too soon");
    ensure!(picture.pixel(150, 50)[..3] == bytes(RED), "what was there is gone");
    stage.window.resize(220, 110);
    ensure!(age()? == 0, "the age after a resize");
    Ok(())
}

fn interval() -> Result<()> {
    let stage = Stage::new(200, 100)?;
    let time = |interval| -> Result<Duration> {
        stage.set_interval(interval)?;
        for _ in 0..5 {
            stage.swap()?;
        }
        let start = Instant::now();
        for _ in 0..30 {
            stage.clear(RED, 1.0);
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

fn threads() -> Result<()> {
    let desk = Desk::open(0)?;
    let ends = Arc::new(AtomicBool::new(false));
    // A program's own loop: it waits for events that never come, as one that is idle does.
    let (looking, told) = (desk.clone(), ends.clone());
    let looker = std::thread::spawn(move || -> Result<u32> {
        let mut rounds = 0;
        while !told.load(Ordering::Acquire) {
            looking.sync()?;
            rounds += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(rounds)
    });
    let draw = |desk: Arc<Desk>, color: [f32; 3], interval| -> Result<()> {
        let stage = Stage::on(&desk, 150, 100)?;
        stage.set_interval(interval)?;
        for _ in 0..60 {
            stage.clear(color, 1.0);
            stage.swap()?;
        }
        Ok(desk.lib.make_current(desk.egl, None, None, None)?)
    };
    let workers = [(RED, 0), (GREEN, 1), (BLUE, 0)].map(|(color, interval)| {
        let desk = desk.clone();
        std::thread::spawn(move || draw(desk, color, interval))
    });
    for worker in workers {
        worker.join().map_err(|_| anyhow!("a thread panicked"))??;
    }
    ends.store(true, Ordering::Release);
    let rounds = looker.join().map_err(|_| anyhow!("a thread panicked"))??;
    ensure!(rounds > 10, "the program's own events came {rounds} times");
    let stage = Stage::on(&desk, 90, 70)?;
    stage.clear(WHITE, 1.0);
    stage.swap()?;
    stage.await_pixel((90, 70), (89, 69), bytes(WHITE))?;
    Ok(())
}

fn leak() -> Result<()> {
    let stage = Stage::new(64, 64)?;
    let context = stage.desk.context()?;
    let round = || -> Result<()> {
        let window = stage.desk.window(64, 64)?;
        let surface = window.surface(&[])?;
        stage.desk.make_current(surface, context)?;
        stage.clear(RED, 1.0);
        stage.desk.lib.swap_buffers(stage.desk.egl, surface)?;
        stage.desk.lib.make_current(stage.desk.egl, None, None, None)?;
        stage.desk.lib.destroy_surface(stage.desk.egl, surface)?;
        Ok(())
    };
    (0..5).try_for_each(|_| round())?;
    let before = (mgl_tests::process::n_files(), mgl_tests::process::n_threads());
    (0..40).try_for_each(|_| round())?;
    let after = (mgl_tests::process::n_files(), mgl_tests::process::n_threads());
    ensure!(after.0 <= before.0 + 2 && after.1 <= before.1 + 1, "files and threads: {before:?}, then {after:?}");
    Ok(())
}

/// Without a display of its own a program gets one of the environment's, with configs for windows.
fn default() -> Result<()> {
    // SAFETY: libEGL runs its ordinary initialisers.
    let lib = unsafe { egl::DynamicInstance::<egl::EGL1_5>::load_required() }
        .map_err(|error| anyhow!("libEGL.so.1 does not load: {error:?}"))?;
    // SAFETY: the default display is always allowed.
    let display = unsafe { lib.get_display(egl::DEFAULT_DISPLAY) }.context("eglGetDisplay")?;
    lib.initialize(display).context("eglInitialize")?;
    let config = lib.choose_first_config(display, &[egl::SURFACE_TYPE, egl::WINDOW_BIT, egl::NONE])?;
    ensure!(config.is_some(), "no config has windows");
    Ok(lib.terminate(display)?)
}

fn main() -> Result<()> {
    match Arguments::parse().case {
        Case::Shows => shows(),
        Case::Alpha => alpha(),
        Case::Resize => resize(),
        Case::ResizeThread => resize_thread(),
        Case::Occluded => occluded(),
        Case::Closed => closed(),
        Case::ServerGone => server_gone(),
        Case::ServerStopped => server_stopped(),
        Case::Refusals => refusals(),
        Case::Age => age(),
        Case::Interval => interval(),
        Case::Threads => threads(),
        Case::Leak => leak(),
        Case::Default => default(),
    }
}
