//! Puts the backend where `MGL_TRANSPORT` says: into the calling thread, onto a second one, or into another process.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use mgpipe_types::{Backend, Callbacks, PipeError, PipeResult, Screen};
use mgpipe_wire::channel::{local_pair, SegmentSizes, Tuning};
use mgpipe_wire::client::{recovering, ClientOptions, Connect, RecoveryOptions, WireBackend};
use mgpipe_wire::inproc::inproc;
use parking_lot::Mutex;

use crate::counting;
use crate::driver::OpeningGuard;
use crate::egl::process;
use crate::settings::{self, Respawn, Settings, Transport};

/// Name of the server's program.
const SERVER: &str = "mgl-server";

/// Connections of this process, and the fork generation that made them.
static CONNECTIONS: Mutex<Vec<(u32, Weak<WireBackend>)>> = Mutex::new(Vec::new());

/// The backend that the settings ask for.
pub(crate) fn backend(settings: &Settings) -> Arc<dyn Backend> {
    let options = ClientOptions { frame_credit: settings.present_credit, map_tier: settings.map_tier };
    let counting = counting::of_process(settings);
    let wire = match &settings.transport {
        Transport::Monolith => {
            let backend = local(settings.backend);
            return match counting {
                Some(counting) => counting.client(backend, None),
                None => backend,
            };
        }
        Transport::Inproc => {
            let counted = counting.clone();
            let channel = move || {
                let (client, server) = local_pair(SegmentSizes::default(), Tuning::default())
                    .map_err(|error| PipeError::Init(format!("MGL_TRANSPORT=inproc: {error}")))?;
                let server = match &counted {
                    Some(counting) => counting.server_end(server),
                    None => server,
                };
                Ok((client, server))
            };
            let backend: Arc<dyn Backend> = Arc::new(Opening(local(settings.backend)));
            let backend = match &counting {
                Some(counting) => counting.server(backend),
                None => backend,
            };
            inproc(backend, Box::new(channel), options)
        }
        Transport::Spawn => {
            let (backend, named) = (settings.backend, settings.server.clone());
            let connect = move || elsewhere::spawn(&server_program(named.as_deref())?, backend);
            WireBackend::new(lasting(Box::new(connect), settings), options)
        }
        Transport::Unix(path) => {
            let (backend, path) = (settings.backend, path.clone());
            WireBackend::new(lasting(Box::new(move || elsewhere::attach(&path, backend)), settings), options)
        }
    };
    let wire = Arc::new(wire);
    let mut connections = CONNECTIONS.lock();
    connections.retain(|(generation, wire)| *generation == process::generation() && wire.strong_count() > 0);
    connections.push((process::generation(), Arc::downgrade(&wire)));
    match counting {
        Some(counting) => counting.client(wire.clone(), Some(wire.figures())),
        None => wire,
    }
}

/// Connections that outlive their servers, where that is asked for.
fn lasting(connect: Connect, settings: &Settings) -> Connect {
    match settings.respawn {
        Some(Respawn { most, budget }) => {
            recovering(connect, RecoveryOptions { most, budget, ..RecoveryOptions::default() })
        }
        None => connect,
    }
}

fn local(backend: settings::Backend) -> Arc<dyn Backend> {
    match backend {
        settings::Backend::Magma => Arc::new(mgpipe_magma::MagmaBackend::new()),
        settings::Backend::Espryt => Arc::new(mgpipe_espryt::EsprytBackend::new()),
        settings::Backend::Null => Arc::new(mgpipe_wire::null::NullBackend),
    }
}

/// Ends every connection of this process: what is applied elsewhere in it must not run on while the libraries under it
/// are torn down.
pub(crate) fn shut_down() {
    // A thread that holds the lock for good is no reason to hang the exit.
    let connections = CONNECTIONS.try_lock().map(|mut c| std::mem::take(&mut *c)).unwrap_or_default();
    for (generation, wire) in connections {
        if generation == process::generation() {
            if let Some(wire) = wire.upgrade() {
                wire.shut_down();
            }
        }
    }
}

/// The server's program: the one that was named, else the one beside this library.
fn server_program(named: Option<&Path>) -> PipeResult<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let missing = |text: String| PipeError::Init(format!("MGL_TRANSPORT=spawn: {text}; set MGL_IPC_SERVER_PATH"));
    let library = process::library_path().ok_or_else(|| missing("the library's own folder is unknown".into()))?;
    // Build folders have the library once more in `deps`, and libglvnd knows it by a link in another folder.
    let real = library.canonicalize().unwrap_or_else(|_| library.clone());
    for folder in [&library, &real].into_iter().flat_map(|path| path.ancestors().skip(1).take(2)) {
        let program = folder.join(SERVER);
        if program.is_file() {
            return Ok(program);
        }
    }
    Err(missing(format!("there is no {SERVER} beside {}", library.display())))
}

/// A backend that is opened on the apply thread, where a question that the Vulkan driver asks EGL must be answered
/// without the backend, too.
struct Opening(Arc<dyn Backend>);

impl Backend for Opening {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        let _opening = OpeningGuard::new();
        self.0.open(callbacks)
    }
}

#[cfg(target_os = "linux")]
mod elsewhere {
    use super::{settings, Path, PipeError, PipeResult};
    use mgpipe_wire::channel::{self, ConnectOptions};
    use mgpipe_wire::client::Attached;

    fn options(backend: settings::Backend) -> PipeResult<ConnectOptions> {
        let options = ConnectOptions::new(match backend {
            settings::Backend::Magma => "magma",
            settings::Backend::Espryt => "espryt",
            settings::Backend::Null => "null",
        });
        options.with_switches(mgpipe_types::switches::switch_text).map_err(PipeError::Init)
    }

    pub(super) fn spawn(program: &Path, backend: settings::Backend) -> PipeResult<Attached> {
        channel::spawn(program, &options(backend)?)
            .map_err(|error| PipeError::Init(format!("MGL_TRANSPORT=spawn: {error}")))
    }

    pub(super) fn attach(path: &Path, backend: settings::Backend) -> PipeResult<Attached> {
        channel::attach(path, &options(backend)?)
            .map_err(|error| PipeError::Init(format!("MGL_TRANSPORT=unix: {error}")))
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{settings, Path, PipeError, PipeResult};
    use mgpipe_wire::client::Attached;

    fn refused() -> PipeResult<Attached> {
        Err(PipeError::Init("MGL_TRANSPORT: a server in another process is not there on this system yet".into()))
    }

    pub(super) fn spawn(_: &Path, _: settings::Backend) -> PipeResult<Attached> {
        refused()
    }

    pub(super) fn attach(_: &Path, _: settings::Backend) -> PipeResult<Attached> {
        refused()
    }
}
