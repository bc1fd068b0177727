//! `cargo xtask replay`: draws a recording again, on either backend and transport, and writes what it showed and read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{bail, Context as _, Result};
use clap::Args;
use mgpipe_types::{
    aspect, Backend, Box3, Context, Format, Handle, LogCallbacks, LogLevel, PipeError, Present, ReadbackInfo, Target,
};
use mgpipe_wire::channel::{self, local_pair, ConnectOptions, SegmentSizes, Tuning};
use mgpipe_wire::client::{ClientOptions, WireBackend};
use mgpipe_wire::inproc::inproc;
use mgpipe_wire::{play_watched, Call, Reply};

use super::Recording;
use crate::driver_dir;
use crate::environment::{Backend as BackendName, Transport};
use crate::outcome::Outcome;
use crate::workspace::Workspace;

#[derive(Args)]
pub struct ReplayArgs {
    /// A recording, made by `MGL_RECORD=FILE`
    pub(super) file: PathBuf,
    /// What draws it: magma (Vulkan), espryt (OpenGL ES), null (draws nothing)
    #[arg(long, value_name = "NAME", default_value = "magma")]
    pub(super) backend: BackendName,
    /// Where it is drawn: monolith, inproc, spawn or unix:PATH; only a server can draw with espryt [default: monolith,
    /// with espryt spawn]
    #[arg(long, value_name = "WHERE")]
    pub(super) transport: Option<Transport>,
    /// A folder that receives a PNG file of everything that was shown in a window or read as 8-bit colours
    #[arg(long, value_name = "FOLDER")]
    pub(super) pictures: Option<PathBuf>,
    /// Build and use the optimised server, where there is one
    #[arg(long)]
    pub(super) release: bool,
}

/// `cargo xtask replay`.
pub fn replay(args: ReplayArgs) -> Result<Outcome> {
    let recording = Recording::load(&args.file)?;
    let backend = backend(&args)?;
    let screen = backend.open(Arc::new(LogCallbacks(complain))).context("the backend does not start")?;
    let caps = screen.get_caps();
    println!("{} on {} ({})", args.file.display(), caps.device_name, caps.backend_name);
    if let Some(folder) = &args.pictures {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut sizes = Sizes::default();
    let frames = RefCell::new(Frames { folder: args.pictures.as_deref(), written: 0, problem: None });
    let mut digest = xxhash_rust::xxh3::Xxh3::new();
    let (mut answers, mut refused) = (0u64, Vec::new());
    let start = Instant::now();
    let report = play_watched(
        recording.bytes(),
        &*screen,
        &mut |ordinal, call, context| {
            sizes.note(call);
            if let (Call::Present { present }, Some(context)) = (call, context) {
                frames.borrow_mut().shown(ordinal, present, &sizes, context);
            }
        },
        &mut |ordinal, call, reply| match reply {
            Reply::Bytes(Ok(bytes)) => {
                answers += 1;
                digest.write(bytes);
                if let Call::ReadPixels { info, .. } | Call::GetTextureImage { info, .. } = call {
                    frames.borrow_mut().read(ordinal, info, bytes);
                }
            }
            Reply::Bytes(Err(error)) => refused.push((ordinal, error.to_string())),
            _ => {}
        },
    )
    .with_context(|| args.file.display().to_string())?;
    let frames = frames.into_inner();
    let seconds = start.elapsed().as_secs_f64();
    println!("{} records in {seconds:.2} s", report.records);
    println!("{answers} read-backs, digest {:016x}", digest.finish());
    if let Some(folder) = &args.pictures {
        println!("{} pictures in {}", frames.written, folder.display());
    }
    for (ordinal, error) in refused.iter().take(10) {
        println!("record {ordinal}: {error}");
    }
    if let Some(lost) = screen.device_lost() {
        println!("the device was lost: {lost}");
        return Ok(Outcome::Failed);
    }
    if let Some(problem) = frames.problem {
        return Err(problem);
    }
    Ok(if refused.is_empty() { Outcome::Done } else { Outcome::Failed })
}

/// What the backend says.
fn complain(level: LogLevel, message: &str) {
    if matches!(level, LogLevel::Error | LogLevel::Warn) {
        eprintln!("{message}");
    }
}

/// The backend that was asked for, where it was asked for.
fn backend(args: &ReplayArgs) -> Result<Arc<dyn Backend>> {
    let local = || -> Result<Arc<dyn Backend>> {
        match args.backend {
            BackendName::Magma => Ok(Arc::new(mgpipe_magma::MagmaBackend::new())),
            // It would bring a C++ library into every command here.
            BackendName::Espryt => bail!("espryt is drawn by a server: use --transport spawn or unix:PATH"),
            BackendName::Null => Ok(Arc::new(mgpipe_wire::null::NullBackend)),
        }
    };
    let usual = if args.backend == BackendName::Espryt { Transport::Spawn } else { Transport::Monolith };
    let options = ConnectOptions::new(args.backend.value())
        .with_switches(mgpipe_types::switches::switch_text)
        .map_err(|why| anyhow::anyhow!(why))?;
    Ok(match args.transport.clone().unwrap_or(usual) {
        Transport::Monolith => local()?,
        Transport::Inproc => {
            let pair = || {
                local_pair(SegmentSizes::default(), Tuning::default())
                    .map_err(|error| PipeError::Init(error.to_string()))
            };
            Arc::new(inproc(local()?, Box::new(pair), ClientOptions::default()))
        }
        Transport::Spawn => {
            let server = driver_dir::build(&Workspace::find(), args.release, &[])?.path.join(driver_dir::SERVER);
            let connect = move || channel::spawn(&server, &options).map_err(|error| PipeError::Init(error.to_string()));
            Arc::new(WireBackend::new(Box::new(connect), ClientOptions::default()))
        }
        Transport::Unix(path) => {
            let connect = move || channel::attach(&path, &options).map_err(|error| PipeError::Init(error.to_string()));
            Arc::new(WireBackend::new(Box::new(connect), ClientOptions::default()))
        }
    })
}

/// Width and height of every texture and renderbuffer, as it was declared last.
#[derive(Default)]
struct Sizes(HashMap<(bool, Handle), (u32, u32)>);

impl Sizes {
    fn note(&mut self, call: &Call<'_>) {
        match call {
            Call::ResourceCreate { desc } | Call::ResourceRespecify { desc } if desc.width > 0 => {
                let is_renderbuffer = desc.target == Target::Renderbuffer as u8;
                self.0.insert((is_renderbuffer, desc.handle), (desc.width, desc.height));
            }
            Call::RenderbufferStorage { storage } => {
                self.0.insert((true, storage.res), (storage.width, storage.height));
            }
            _ => {}
        }
    }

    fn of(&self, present: &Present) -> Option<(u32, u32)> {
        let is_renderbuffer = present.surface.kind == mgpipe_types::Kind::Renderbuffer as u8;
        let (width, height) = *self.0.get(&(is_renderbuffer, present.surface.handle))?;
        let level = u32::from(present.surface.level);
        Some(((width >> level).max(1), (height >> level).max(1)))
    }
}

/// Pictures that are written.
struct Frames<'a> {
    folder: Option<&'a Path>,
    written: u32,
    problem: Option<anyhow::Error>,
}

impl Frames<'_> {
    /// Reads what is about to be shown in a window.
    fn shown(&mut self, ordinal: u64, present: &Present, sizes: &Sizes, context: &mut (dyn Context + '_)) {
        let Some((width, height)) = sizes.of(present).filter(|_| self.folder.is_some()) else { return };
        let info = ReadbackInfo {
            surface: present.surface,
            area: Box3 { x: 0, y: 0, z: 0, width, height, depth: 1 },
            format: present.surface.format,
            aspect: aspect::COLOR,
            ..ReadbackInfo::default()
        };
        let mut texels = vec![0; width as usize * height as usize * 4];
        match context.read_pixels(&info, &mut texels) {
            Ok(()) => self.write("frame", ordinal, &info, &texels),
            Err(error) => self.problem = Some(anyhow::anyhow!("record {ordinal}: {error}")),
        }
    }

    fn read(&mut self, ordinal: u64, info: &ReadbackInfo, texels: &[u8]) {
        if self.folder.is_some() {
            self.write("read", ordinal, info, texels);
        }
    }

    /// Writes a picture whose rows start at the bottom.
    fn write(&mut self, what: &str, ordinal: u64, info: &ReadbackInfo, texels: &[u8]) {
        let Some(folder) = self.folder else { return };
        let colors = match Format(info.format) {
            Format::RGBA8_UNORM | Format::RGBA8_SRGB => png::ColorType::Rgba,
            Format::R8_UNORM => png::ColorType::Grayscale,
            _ => return,
        };
        let path = folder.join(format!("{ordinal:08}-{what}.png"));
        let (width, height) = (info.area.width, info.area.height * info.area.depth.max(1));
        match write_png(&path, (width, height), colors, texels) {
            Ok(()) => self.written += 1,
            Err(error) => self.problem = Some(error),
        }
    }
}

fn write_png(path: &Path, (width, height): (u32, u32), colors: png::ColorType, texels: &[u8]) -> Result<()> {
    let stride = width as usize * colors.samples();
    if stride == 0 || texels.len() != stride * height as usize {
        bail!("{}: {} bytes for {width} x {height} texels", path.display(), texels.len());
    }
    let file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), width, height);
    encoder.set_color(colors);
    encoder.set_depth(png::BitDepth::Eight);
    let rows: Vec<u8> = texels.rchunks(stride).flatten().copied().collect();
    encoder.write_header()?.write_image_data(&rows)?;
    Ok(())
}
