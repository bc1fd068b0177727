//! `cargo xtask bench`: measurements that print ratios taken in one run.

mod drawoverhead;
mod programs;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bench {
    /// Nanoseconds a draw costs the state tracker, with nothing behind it.
    Tracker,
    /// piglit's drawoverhead on MGL, Zink and llvmpipe in turn, and MGL ÷ Zink per row.
    Drawoverhead,
    /// From eglInitialize to the first finished frame, on MGL and Zink.
    Startup,
    /// Memory of the demo over many frames, on MGL and Zink.
    Memory,
    /// Creating and destroying contexts again and again: what is left behind.
    Contexts,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
#[command(
    after_help = "Drivers are built optimised (release profile). Examples:\n  cargo xtask bench drawoverhead\n  \
                        cargo xtask bench drawoverhead --drivers mgl,zink --repeat 3"
)]
pub struct BenchArgs {
    /// What to measure; everything when left out.
    #[arg(value_enum, value_name = "NAME")]
    name: Option<Bench>,
    #[command(flatten)]
    drawoverhead: drawoverhead::Options,
}

/// `cargo xtask bench`.
pub fn run(args: BenchArgs) -> Result<Outcome> {
    let workspace = Workspace::find();
    let chosen = match args.name {
        Some(bench) => vec![bench],
        None => vec![Bench::Tracker, Bench::Startup, Bench::Memory, Bench::Contexts, Bench::Drawoverhead],
    };
    let mut all_ok = true;
    for bench in chosen {
        all_ok &= match bench {
            Bench::Tracker => programs::tracker(&workspace)?,
            Bench::Drawoverhead => drawoverhead::run(&workspace, &args.drawoverhead)?,
            Bench::Startup => programs::on_drivers(&workspace, "mgl-bench-startup")?,
            Bench::Memory => programs::on_drivers(&workspace, "mgl-bench-memory")?,
            Bench::Contexts => programs::on_drivers(&workspace, "mgl-bench-contexts")?,
        };
    }
    Ok(Outcome::from_ok(all_ok))
}
