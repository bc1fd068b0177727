//! A client for tests: buffers on the null backend, through the wire.

use mgpipe_types::{
    Backend, Box3, BufferReadback, Context, ContextHandle, Handle, LogCallbacks, PipeError, PipeResult, ResourceDesc,
    Screen, SubData,
};
use mgpipe_wire::channel::{attach, spawn, ConnectOptions};
use mgpipe_wire::client::{ClientOptions, WireBackend};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The server's program.
pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_mgl-server");

/// What is more than enough for anything here.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// A screen with one context.
pub(crate) struct Client {
    pub(crate) context: Box<dyn Context>,
    pub(crate) screen: Arc<dyn Screen>,
}

/// Where the server is.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Started for the client.
    Own,
    /// Listening there.
    At(PathBuf),
}

pub(crate) fn backend(place: Place, name: &str) -> WireBackend {
    let options = ConnectOptions::new(name);
    let connect = move || {
        match &place {
            Place::Own => spawn(Path::new(SERVER), &options),
            Place::At(path) => attach(path, &options),
        }
        .map_err(|error| PipeError::Init(error.to_string()))
    };
    WireBackend::new(Box::new(connect), ClientOptions::default())
}

impl Client {
    pub(crate) fn open(place: Place) -> PipeResult<Client> {
        let backend = backend(place, "null");
        let screen = backend.open(Arc::new(LogCallbacks::silent()))?;
        let context = screen.create_context(ContextHandle(Handle { slot: 1, gen: 1 }))?;
        Ok(Client { context, screen })
    }

    /// Creates buffer `slot`, fills it with `bytes` and reads them back.
    pub(crate) fn echo(&mut self, slot: u32, bytes: &[u8]) -> PipeResult<Vec<u8>> {
        let handle = Handle { slot, gen: 1 };
        self.screen.resource_create(&ResourceDesc {
            handle,
            buffer_size: bytes.len() as u64,
            ..ResourceDesc::default()
        });
        self.fill(slot, bytes);
        self.read(slot, bytes.len())
    }

    pub(crate) fn fill(&mut self, slot: u32, bytes: &[u8]) {
        let union_box = Box3::from_buffer_range(0, bytes.len() as u64);
        let data = SubData { res: Handle { slot, gen: 1 }, union_box, ..SubData::default() };
        self.context.resource_subdata(&data, &[], bytes);
    }

    pub(crate) fn read(&mut self, slot: u32, len: usize) -> PipeResult<Vec<u8>> {
        let mut out = vec![0; len];
        let readback = BufferReadback { res: Handle { slot, gen: 1 }, offset: 0, size: len as u64 };
        self.context.resource_readback(&readback, &mut out)?;
        Ok(out)
    }
}

/// Processes whose parent is this process and that run the server, as the system lists them.
pub(crate) fn servers_of(parent: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir("/proc").expect("the process list").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // `pid (name) state parent …`; the name may contain anything.
        let Some((head, tail)) = stat.rsplit_once(')') else { continue };
        let is_child = tail.split_whitespace().nth(1) == Some(parent.to_string().as_str());
        if is_child && head.ends_with("(mgl-server") {
            found.insert(pid);
        }
    }
    found
}

/// Waits until a process is gone (one that nobody has waited for yet counts as gone).
pub(crate) fn gone_within(pid: u32, limit: Duration) -> bool {
    let start = Instant::now();
    loop {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| {
            stat.rsplit_once(')').and_then(|(_, tail)| tail.split_whitespace().next().map(str::to_owned))
        });
        if state.is_none_or(|state| state == "Z" || state == "X") {
            return true;
        }
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills a process as nothing can prevent.
pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it was alive");
}
