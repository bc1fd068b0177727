//! `cargo xtask bench`: measurements that print ratios taken in one run.

mod drawoverhead;
mod programs;
mod roundtrips;
mod split;
mod virgl;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::gl_driver::GlDriver;
use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// What can be measured. Each prints a table and, below it, the figures that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bench {
    /// Nanoseconds that a draw costs the state tracker, with nothing behind it.
    Tracker,
    /// Between two processes: records a second, the wake-up of a sleeping peer, the cost of a doorbell.
    Wire,
    /// piglit's drawoverhead on MGL, Zink and llvmpipe in turn: draws a second and MGL ÷ the others, row by row and as
    /// geometric mean; then the same draws through bare Vulkan.
    Drawoverhead,
    /// Milliseconds from eglInitialize to the first finished frame, with empty and with filled caches.
    #[value(alias = "start")]
    Startup,
    /// MiB: what the demo's memory grows by over many frames, and the peak of programs with many textures and buffers.
    Memory,
    /// MiB a second into textures and back, in several formats, sizes and ways.
    Transfer,
    /// MiB a second into buffers that draws use: replaced, updated in parts, mapped, copied.
    Buffers,
    /// Creating and destroying contexts again and again: milliseconds a cycle and memory left behind.
    Contexts,
    /// The demo for a long time while contexts come and go: what grows in the program and in its servers.
    Soak,
    /// What it costs that the backend runs elsewhere, inproc and spawn ÷ monolith: the client thread's processor time of a
    /// draw, wall clock of whole programs, peak memory of both processes, latency and rate of frames by present credit.
    /// And the processor time of a draw on Espryt ÷ Magma.
    Split,
    /// drawoverhead on MGL with spawn beside virgl, which draws in another process as well: draws a second, MGL ÷ virgl.
    Virgl,
    /// How often the demo, each scenario and each Python program wait for an answer of the server (spawn): in all, per
    /// frame, and by call.
    Roundtrips,
    /// A window of 1280 x 720 through EGL on an X server without a screen: what showing a frame costs, frames a second.
    Windows,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
#[command(
    after_help = "Drivers are built optimised (release profile). Examples:\n  cargo xtask bench drawoverhead\n  \
                        cargo xtask bench drawoverhead --drivers mgl,zink --repeat 3\n  \
                        cargo xtask bench split --part wall,memory"
)]
pub struct BenchArgs {
    /// What to measure; everything, one after the other, when left out.
    #[arg(value_enum, value_name = "NAME")]
    name: Option<Bench>,
    /// How often the whole is repeated, driver after driver each time. Of rates the best counts, else the median.
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// transfer, buffers, roundtrips: only the rows with this text in their name.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// soak: how long it takes on each driver.
    #[arg(long, value_name = "N")]
    minutes: Option<u32>,
    /// The drivers, in the order in which they are measured; ratios are of the first to each other one.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mgl,zink,llvmpipe")]
    drivers: Vec<GlDriver>,
    #[command(flatten)]
    drawoverhead: drawoverhead::Options,
    #[command(flatten)]
    split: split::Options,
}

/// `cargo xtask bench`.
pub fn run(args: BenchArgs) -> Result<Outcome> {
    let workspace = Workspace::find();
    let chosen = match args.name {
        Some(bench) => vec![bench],
        None => Bench::value_variants().to_vec(),
    };
    let mut all_ok = true;
    for bench in chosen {
        let rounds = |default: u32| args.repeat.unwrap_or(default).max(1);
        let on_drivers = |binary, default| {
            let count = args.minutes.filter(|_| bench == Bench::Soak);
            let selection = programs::Selection { rounds: rounds(default), only: args.only.as_deref(), count };
            programs::on_drivers(&workspace, &args.drivers, binary, &selection)
        };
        all_ok &= match bench {
            Bench::Tracker => programs::of_crate(&workspace, "mgpipe-tracker")?,
            Bench::Wire => programs::of_crate(&workspace, "mgpipe-wire")?,
            Bench::Drawoverhead => drawoverhead::run(&workspace, &args.drivers, rounds(1), &args.drawoverhead)?,
            Bench::Startup => on_drivers("mgl-bench-startup", 7)?,
            Bench::Memory => {
                on_drivers("mgl-bench-memory", 1)?
                    & on_drivers("mgl-bench-textures", 1)?
                    & on_drivers("mgl-bench-vertices", 1)?
            }
            Bench::Transfer => on_drivers("mgl-bench-transfer", 3)?,
            Bench::Buffers => on_drivers("mgl-bench-buffers", 3)?,
            Bench::Contexts => on_drivers("mgl-bench-contexts", 1)?,
            Bench::Soak => on_drivers("mgl-bench-soak", 1)?,
            Bench::Split => split::run(&workspace, rounds(3), &args.split)?,
            Bench::Roundtrips => roundtrips::run(&workspace, args.only.as_deref())?,
            Bench::Windows => on_drivers("mgl-bench-windows", 3)?,
            Bench::Virgl => virgl::run(&workspace, rounds(1))?,
        };
    }
    Ok(Outcome::from_ok(all_ok))
}
