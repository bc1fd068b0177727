//! Animates a scene while its server is killed again and again, and compares every frame with the picture that it should
//! be; or animates until it is killed itself.

mod killer;
mod scene;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{bail, Context as _, Result};
use clap::Parser;
use mgl_tests::egl::{ContextRequest, Egl};
use mgl_tests::process;

use killer::Killer;
use scene::{Scene, SIDE};

/// Frames after which the animation repeats.
const PERIOD: u32 = 16;

/// The most by which a channel may differ from the reference.
const TOLERANCE: u8 = 2;

/// Survives servers.
#[derive(Parser)]
struct Arguments {
    /// Draw one period and write its pictures to this file.
    #[arg(long)]
    write: Option<PathBuf>,
    /// Compare with the pictures in this file.
    #[arg(long)]
    check: Option<PathBuf>,
    /// How often the server is killed.
    #[arg(long, default_value_t = 0)]
    kills: u32,
    /// What the moments of death are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Frames that may be wrong after a death.
    #[arg(long, default_value_t = 5)]
    patience: u32,
    /// Animate without end, and say which process is the server.
    #[arg(long)]
    endless: bool,
    /// Frames of the check when this program kills nothing.
    #[arg(long, default_value_t = 48)]
    frames: u32,
    /// Somebody else may kill the server: so many frames in a row may be wrong.
    #[arg(long)]
    outside: bool,
}

/// Where the animation is, for the thread that kills.
pub(crate) struct Progress {
    /// Servers killed.
    pub(crate) kills: AtomicU32,
    /// Frames in a row that were right.
    pub(crate) right: AtomicU32,
}

fn differs(picture: &[u8], wanted: &[u8]) -> usize {
    picture.iter().zip(wanted).filter(|(a, b)| a.abs_diff(**b) > TOLERANCE).count()
}

/// What was seen of the deaths.
#[derive(Default)]
struct Seen {
    frames: u32,
    wrong: u32,
    /// The most frames from a death until the picture was right for good.
    slowest: u32,
    longest: Duration,
}

/// Animates until every death has been survived.
///
/// # Safety
/// The scene's context is current.
unsafe fn check(arguments: &Arguments, scene: &mut Scene, swap: &dyn Fn() -> Result<()>) -> Result<Seen> {
    let path = arguments.check.as_ref().context("--check FILE is missing")?;
    let wanted = std::fs::read(path).with_context(|| path.display().to_string())?;
    let size = (SIDE * SIDE * 4) as usize;
    if wanted.len() != size * PERIOD as usize {
        bail!("{} does not hold {PERIOD} pictures", path.display());
    }
    let progress = std::sync::Arc::new(Progress { kills: AtomicU32::new(0), right: AtomicU32::new(0) });
    let killer = (arguments.kills > 0).then(|| Killer::start(arguments.kills, arguments.seed, progress.clone()));
    let mut seen = Seen::default();
    let (mut known, mut since) = (0, u32::MAX);
    loop {
        if arguments.outside && seen.frames == 1 {
            println!("animates");
        }
        let frame = seen.frames % PERIOD;
        let start = Instant::now();
        let picture = scene.frame(frame)?;
        swap()?;
        seen.longest = seen.longest.max(start.elapsed());
        let kills = progress.kills.load(Ordering::Acquire);
        if kills != known {
            (known, since) = (kills, 0);
        } else {
            since = since.saturating_add(1);
        }
        let n_wrong = differs(&picture, &wanted[frame as usize * size..][..size]);
        if n_wrong == 0 {
            progress.right.fetch_add(1, Ordering::AcqRel);
            if arguments.outside {
                since = u32::MAX;
            }
        } else {
            progress.right.store(0, Ordering::Release);
            seen.wrong += 1;
            if since == u32::MAX && arguments.outside {
                since = 0;
            } else if since == u32::MAX {
                bail!("frame {}: {n_wrong} channels are wrong, and nothing has died", seen.frames);
            }
            seen.slowest = seen.slowest.max(since + 1);
            if since >= arguments.patience {
                bail!(
                    "frame {}: {n_wrong} channels are wrong {since} frames after death {kills} (seed {})",
                    seen.frames,
                    arguments.seed
                );
            }
        }
        seen.frames += 1;
        let through = match &killer {
            Some(killer) => killer.is_finished() && since > PERIOD,
            None => seen.frames >= arguments.frames,
        };
        if through {
            break;
        }
    }
    if let Some(killer) = killer {
        killer.join()?;
    }
    Ok(seen)
}

fn run(arguments: &Arguments) -> Result<()> {
    let egl = Egl::open()?;
    let request = ContextRequest { surface: (SIDE, SIDE), ..ContextRequest::DEFAULT };
    let context = egl.context(&request, None)?;
    // A second context puts some of the objects there.
    let loader = egl.context(&request, Some(&context))?;
    // SAFETY: each context is current on this thread while its functions are called.
    unsafe {
        loader.make_current()?;
        let loaded = scene::load(&loader.functions())?;
        context.make_current()?;
        let mut scene = Scene::new(context.functions(), loaded)?;
        let swap = || context.swap_buffers();
        if let Some(path) = &arguments.write {
            let mut pictures = Vec::new();
            for frame in 0..PERIOD {
                pictures.extend(scene.frame(frame)?);
                swap()?;
            }
            return std::fs::write(path, pictures).with_context(|| path.display().to_string());
        }
        if arguments.endless {
            println!("servers: {:?}", killer::servers());
            for frame in 0.. {
                scene.frame(frame % PERIOD)?;
                swap()?;
            }
        }
        let before = process::n_files();
        let seen = check(arguments, &mut scene, &swap)?;
        let gained = process::n_files() as i64 - before as i64;
        println!(
            "{} deaths, {} frames, {} of them wrong; right again after at most {} frames; longest frame {} ms; \
             {gained} files gained; {} servers left",
            arguments.kills,
            seen.frames,
            seen.wrong,
            seen.slowest,
            seen.longest.as_millis(),
            killer::servers().len()
        );
        if gained > 0 || killer::servers().len() > 1 {
            bail!("something was left behind");
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mgl-recovery: {error:#}");
            ExitCode::FAILURE
        }
    }
}
