//! A bare Vulkan loop that records and submits the draws of `drawoverhead`: the limit of what any GL on this Vulkan driver
//! can reach. Prints thousands of draws a second per row.
//!
//! The shaders are `draw.vert` and `draw.frag` beside this file, compiled with
//! `glslangValidator -V --target-env vulkan1.1 -g0`.

mod device;

use anyhow::Result;
use device::Bench;
use std::time::{Duration, Instant};

/// Draws recorded into one command buffer.
const DRAWS: u32 = 10_000;

/// Command buffers in flight.
const IN_FLIGHT: usize = 3;

/// One way of recording [`DRAWS`] draws.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// One `vkCmdDraw` a draw.
    Arrays,
    /// One `vkCmdDrawIndexed` a draw.
    Elements,
    /// `vkCmdDrawMultiIndexedEXT` in groups of 500, where the driver has it.
    MultiElements,
    /// Alternates two pipelines that differ in blending.
    PipelineChange,
    /// Alternates two scissor rectangles.
    ScissorChange,
    /// Alternates two vertex buffer offsets.
    VertexBufferChange,
}

const ROWS: [(Row, &str); 6] = [
    (Row::Arrays, "vkCmdDraw, no state change"),
    (Row::Elements, "vkCmdDrawIndexed, no state change"),
    (Row::MultiElements, "vkCmdDrawMultiIndexedEXT by 500, no state change"),
    (Row::PipelineChange, "vkCmdDrawIndexed, pipeline (blend) change"),
    (Row::ScissorChange, "vkCmdDrawIndexed, scissor change"),
    (Row::VertexBufferChange, "vkCmdDrawIndexed, vertex buffer change"),
];

fn measure(bench: &mut Bench, row: Row, time: Duration) -> Result<f64> {
    // Two rounds warm shader variants and memory.
    for slot in 0..2 {
        bench.record(slot, row, DRAWS)?;
        bench.submit(slot)?;
    }
    bench.wait_all()?;
    let start = Instant::now();
    let mut draws = 0u64;
    let mut slot = 0;
    while start.elapsed() < time {
        bench.wait(slot)?;
        bench.record(slot, row, DRAWS)?;
        bench.submit(slot)?;
        draws += u64::from(DRAWS);
        slot = (slot + 1) % IN_FLIGHT;
    }
    bench.wait_all()?;
    Ok(draws as f64 / start.elapsed().as_secs_f64() / 1000.0)
}

fn main() -> Result<()> {
    let mut bench = Bench::new(IN_FLIGHT)?;
    println!("device: {}", bench.name());
    for (row, name) in ROWS {
        if row == Row::MultiElements && !bench.has_multi_draw() {
            println!("{name:<52} not supported");
            continue;
        }
        let kilodraws = measure(&mut bench, row, Duration::from_millis(700))?;
        println!("{name:<52} {kilodraws:>8.0}");
    }
    Ok(())
}
