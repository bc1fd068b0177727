//! Draws a second of Magma, driven by MGPipe calls alone, beside the same commands recorded straight through Vulkan.
//!
//! `cargo bench -p mgpipe-magma` prints thousands of draws a second per row, and what the recording thread spends on a
//! draw. Rows follow piglit's `drawoverhead`: what changes between two draws. Words filter rows by name; `--seconds N` sets
//! the time of a row.
//!
//! The SPIR-V is made of the GLSL beside this file with `glslangValidator -V --target-env vulkan1.1 -g0`, `second.frag.spv`
//! with `-DSHIFT=0.5` added.

mod bare;
mod rig;

use std::time::{Duration, Instant};

/// Side of the target in pixels.
const SIZE: u32 = 64;
/// Attributes, uniform blocks and textures of the program.
const SLOTS: u32 = 8;
/// Draws between two looks at the clock.
const STRIDE: u32 = 2000;

/// What changes between two draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    Arrays,
    Elements,
    ManyRanges,
    SampleMask,
    BlendFactors,
    VertexBuffer,
    VertexLayout,
    Blend,
    Depth,
    Scissor,
    Viewport,
    Constants,
    UniformBuffer,
    Texture,
    Program,
}

const ROWS: [(Row, &str); 15] = [
    (Row::Arrays, "draw arrays, no change"),
    (Row::Elements, "draw elements, no change"),
    (Row::ManyRanges, "draw elements, 100 ranges a call"),
    (Row::SampleMask, "sample mask enable (no effect)"),
    (Row::BlendFactors, "blend factors while off (no effect)"),
    (Row::VertexBuffer, "1 vertex buffer offset"),
    (Row::VertexLayout, "vertex elements"),
    (Row::Blend, "blend enable"),
    (Row::Depth, "depth test enable"),
    (Row::Scissor, "scissor"),
    (Row::Viewport, "viewport"),
    (Row::Constants, "default block"),
    (Row::UniformBuffer, "1 of 8 uniform buffers"),
    (Row::Texture, "1 of 8 textures"),
    (Row::Program, "program"),
];

/// What a row came to.
struct Rate {
    kilodraws: f64,
    /// Nanoseconds of the recording thread's processor time a draw.
    recording: f64,
}

/// Something that draws.
trait Drawer {
    /// Prepares a row.
    fn begin(&mut self, row: Row);
    /// Draws so many times, with the row's change before each.
    fn draw(&mut self, count: u32);
    /// Submits what is left and waits until the device is idle.
    fn finish(&mut self);
}

/// Draws until the time is over, and waits for everything.
fn measure(drawer: &mut dyn Drawer, row: Row, time: Duration) -> Rate {
    drawer.begin(row);
    for _ in 0..4 {
        drawer.draw(STRIDE);
    }
    drawer.finish();
    let (start, cpu) = (Instant::now(), thread_time());
    let mut count = 0u64;
    while start.elapsed() < time {
        drawer.draw(STRIDE);
        count += u64::from(STRIDE);
    }
    let cpu = thread_time().saturating_sub(cpu);
    drawer.finish();
    Rate {
        kilodraws: count as f64 / start.elapsed().as_secs_f64() / 1000.0,
        recording: cpu.as_nanos() as f64 / count as f64,
    }
}

/// Processor time of the calling thread, zero where the system does not tell. The first field of `schedstat` is the time
/// in nanoseconds.
fn thread_time() -> Duration {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next().and_then(|word| word.parse().ok()))
        .map_or(Duration::ZERO, Duration::from_nanos)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut time = Duration::from_millis(500);
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo says that this is a bench.
            "--bench" => {}
            "--seconds" => {
                let seconds: f64 = arguments.next().ok_or("--seconds takes a number")?.parse()?;
                time = Duration::from_secs_f64(seconds);
            }
            word => words.push(word.to_owned()),
        }
    }
    let chosen: Vec<_> = ROWS
        .into_iter()
        .filter(|(_, name)| words.is_empty() || words.iter().any(|w| name.contains(w.as_str())))
        .collect();
    let mut pipe = match rig::Rig::new() {
        Ok(pipe) => pipe,
        Err(error) => {
            println!("skipped: {error}");
            return Ok(());
        }
    };
    let mut bare = bare::Bare::new()?;
    println!("{}\nthousands of draws a second; ns of the recording thread a draw\n", bare.name());
    println!(
        "{:38} {:>8} {:>8} {:>7} {:>9} {:>9}",
        "change between two draws", "Magma", "Vulkan", "ratio", "Magma ns", "Vulkan ns"
    );
    let mut logs = 0.0;
    for (row, name) in &chosen {
        let magma = measure(&mut pipe, *row, time);
        let vulkan = measure(&mut bare, *row, time);
        let ratio = magma.kilodraws / vulkan.kilodraws;
        logs += ratio.ln();
        println!(
            "{name:38} {:>8.0} {:>8.0} {ratio:>7.2} {:>9.0} {:>9.0}",
            magma.kilodraws, vulkan.kilodraws, magma.recording, vulkan.recording
        );
    }
    println!("geometric mean of the ratios: {:.2}", (logs / chosen.len().max(1) as f64).exp());
    Ok(())
}
