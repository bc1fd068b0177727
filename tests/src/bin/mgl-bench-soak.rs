//! Draws the demo for a long time while contexts and displays come and go, and looks at what grows: memory, open files and
//! threads of this process and of the servers that it started. `--count` is the number of minutes (10 by default).
//!
//! It rests between frames, so that all its processes together take a fifth of a processor: hours pass beside other work.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure, Result};
use clap::Parser;
use glow::HasContext as _;
use mgl_tests::bench::{run, Arguments, Figure, Report};
use mgl_tests::demo::{Demo, Quality};
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::process::{self, Usage};

const MIB: f64 = 1024.0 * 1024.0;

/// Width and height of the picture.
const SIDE: i32 = 64;

/// Frames of a context.
const FRAMES: u32 = 20;

/// Contexts between two looks at what is in use; every third lives beside the one after it.
const CONTEXTS: u32 = 12;

/// Looks during the life of a display. A server lives as long.
const LOOKS: usize = 16;

/// Looks at a display until its caches are full.
const WARM: usize = 3;

/// Processor time that may be taken, of the time that passes.
const SHARE: f64 = 0.2;

/// The pause after a frame.
const PAUSE: Duration = Duration::from_millis(20);

/// What was in use at a moment.
struct Sample {
    hours: f64,
    own: Usage,
    servers: Usage,
}

/// What is going on so far.
struct Soak {
    start: Instant,
    frames: u64,
    contexts: u64,
    /// The most processes that were there at a time.
    servers: usize,
}

impl Soak {
    fn used(&self) -> Duration {
        // That of servers that are gone is in this process's own.
        process::usage_of(std::process::id()).processor + servers().processor
    }

    /// Sleeps until the processor time so far is no more than its share.
    fn rest(&mut self) {
        self.servers = self.servers.max(process::children().len());
        let wanted = Duration::from_secs_f64(self.used().as_secs_f64() / SHARE);
        std::thread::sleep(wanted.saturating_sub(self.start.elapsed()));
    }

    /// One display: what a program does from its start to its end. Answers the renderer and what was in use meanwhile.
    fn display(&mut self) -> Result<(String, Vec<Sample>)> {
        let egl = Egl::open()?;
        let (mut renderer, mut samples) = (String::new(), Vec::new());
        while samples.len() < LOOKS {
            let (name, sample) = self.contexts(&egl)?;
            renderer = name;
            samples.push(sample);
        }
        egl.terminate()?;
        Ok((renderer, samples))
    }

    /// Contexts of a display. Answers the renderer and, as it was before the last of them went, what is in use.
    fn contexts(&mut self, egl: &Arc<Egl>) -> Result<(String, Sample)> {
        let mut renderer = String::new();
        let mut kept = None;
        for number in 0..CONTEXTS {
            let context = egl.context(&ContextRequest { surface: (SIDE, SIDE), ..ContextRequest::DEFAULT }, None)?;
            context.make_current()?;
            // SAFETY: the context was made current on this thread just above and stays so until it is released.
            unsafe {
                let gl = context.functions();
                renderer = gl.get_parameter_string(glow::RENDERER);
                let demo = Demo::new(&gl, SIDE, SIDE, Quality::SMALL).map_err(|e| anyhow!(e))?;
                for frame in 0..FRAMES {
                    demo.frame(&gl, frame as f32 / 60.0);
                    context.swap_buffers()?;
                    std::thread::sleep(PAUSE);
                }
                gl.finish();
                let mut texel = [0u8; 4];
                let at = SIDE / 2;
                gl.read_pixels(
                    at,
                    at,
                    1,
                    1,
                    glow::RGBA,
                    glow::UNSIGNED_BYTE,
                    glow::PixelPackData::Slice(Some(&mut texel)),
                );
                ensure!(gl.get_error() == glow::NO_ERROR, "a GL error");
                ensure!(texel[3] == 255 && texel[..3] != [0; 3], "nothing was drawn: {texel:?}");
            }
            self.frames += u64::from(FRAMES);
            self.contexts += 1;
            self.rest();
            context.release()?;
            // One that is not current any more goes while another is, or right away.
            kept = if number % 3 == 0 { Some(context) } else { None };
        }
        let sample = Sample {
            hours: self.start.elapsed().as_secs_f64() / 3600.0,
            own: process::usage_of(std::process::id()),
            servers: servers(),
        };
        drop(kept);
        Ok((renderer, sample))
    }
}

fn servers() -> Usage {
    process::children().into_iter().map(process::usage_of).sum()
}

/// The middle of what a part of the samples says.
fn middle(samples: &[Sample], value: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Slope of a value over the hours, by least squares.
fn slope(samples: &[Sample], value: impl Fn(&Sample) -> f64) -> f64 {
    let n = samples.len() as f64;
    let (x, y) = (samples.iter().map(|s| s.hours).sum::<f64>() / n, samples.iter().map(&value).sum::<f64>() / n);
    let above: f64 = samples.iter().map(|s| (s.hours - x) * (value(s) - y)).sum();
    above / samples.iter().map(|s| (s.hours - x).powi(2)).sum::<f64>()
}

fn measure(arguments: &Arguments) -> Result<Report> {
    let length = Duration::from_secs(60 * u64::from(arguments.count.unwrap_or(10).max(1)));
    let mut soak = Soak { start: Instant::now(), frames: 0, contexts: 0, servers: 0 };
    let (mut renderer, mut samples, mut gains, mut told) = (String::new(), Vec::new(), Vec::new(), 0);
    while soak.start.elapsed() < length || gains.len() < 2 {
        let (name, seen) = soak.display()?;
        renderer = name;
        if let [first, .., last] = &seen[WARM..] {
            gains.push(last.servers.resident as f64 / MIB - first.servers.resident as f64 / MIB);
            let tenth = (10.0 * last.hours * 3600.0 / length.as_secs_f64()) as u32;
            if tenth > told {
                told = tenth;
                eprintln!(
                    "{:6.1} minutes, {} contexts: program {:.1} MiB and {} files, servers {:.1} MiB and {} files",
                    last.hours * 60.0,
                    soak.contexts,
                    last.own.resident as f64 / MIB,
                    last.own.files,
                    last.servers.resident as f64 / MIB,
                    last.servers.files
                );
            }
        }
        samples.extend(seen);
    }
    // Caches, pools and the allocator fill up first.
    let settled = &samples[samples.len() / 4..];
    let (early, late) = settled.split_at(settled.len() / 2);
    let elapsed = soak.start.elapsed();
    let mut figures = vec![
        Figure::new("minutes", elapsed.as_secs_f64() / 60.0, "of them"),
        Figure::new("processor", soak.used().as_secs_f64() / elapsed.as_secs_f64(), "of one"),
        Figure::new("displays", gains.len() as f64, "of them"),
        Figure::new("contexts", soak.contexts as f64, "of them"),
        Figure::new("frames", soak.frames as f64, "of them"),
        Figure::new("servers at a time", soak.servers as f64, "of them").at_most(1.0),
    ];
    let parts: [(&str, fn(&Sample) -> Usage); 2] = [("program", |s| s.own), ("servers", |s| s.servers)];
    for (who, part) in parts {
        let resident = |sample: &Sample| part(sample).resident as f64 / MIB;
        let files = |sample: &Sample| part(sample).files as f64;
        let threads = |sample: &Sample| part(sample).threads as f64;
        let gained = |value: &dyn Fn(&Sample) -> f64| middle(late, value) - middle(early, value);
        figures.extend([
            Figure::new(&format!("{who}: resident memory"), middle(late, resident), "MiB"),
            Figure::new(&format!("{who}: resident memory gained"), gained(&resident), "MiB").at_most(2.0),
            Figure::new(&format!("{who}: slope of resident memory"), slope(settled, resident), "MiB an hour"),
            Figure::new(&format!("{who}: open files"), middle(late, files), "of them"),
            Figure::new(&format!("{who}: open files gained"), gained(&files), "of them").at_most(0.0),
            Figure::new(&format!("{who}: threads gained"), gained(&threads), "of them").at_most(0.0),
        ]);
    }
    gains.sort_by(f64::total_cmp);
    let gained = gains.get(gains.len() / 2).copied().unwrap_or(f64::NAN);
    figures.push(Figure::new("servers: resident memory gained in a display's life", gained, "MiB").at_most(4.0));
    figures.push(Figure::new("processes left behind", process::children().len() as f64, "of them").at_most(0.0));
    Ok(Report { renderer, figures })
}

fn main() -> Result<ExitCode> {
    run(&Arguments::parse(), measure)
}
