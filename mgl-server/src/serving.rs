//! Serves clients: the one that started this process, or all that come.

use crate::arguments::Arguments;
use anyhow::{Context as _, Result};
use mgpipe_types::Backend;
use mgpipe_wire::channel::{bind_thread, inherited_socket, Admitted, Guest, Listener, StartError, Tuning};
use mgpipe_wire::server::serve;
use mgpipe_wire::stats::{Counted, Role, Statistics, StatsOptions};
use std::os::fd::OwnedFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A server whose client is gone ends by itself; one that is stuck in the device is ended after this.
const GRACE: Duration = Duration::from_secs(3);

/// How often a listening server looks whether it is idle.
const LOOK: Duration = Duration::from_secs(1);

/// Pause when the system has no file or thread left for one more client.
const SHORTAGE: Duration = Duration::from_millis(200);

fn tuning(arguments: &Arguments) -> Tuning {
    Tuning { spin: arguments.spin_us.map(Duration::from_micros), ..Tuning::default() }
}

/// The backend of that name.
fn backend(name: &str) -> Option<Arc<dyn Backend>> {
    match name {
        "magma" => Some(Arc::new(mgpipe_magma::MagmaBackend::new())),
        "espryt" => Some(Arc::new(mgpipe_espryt::EsprytBackend::new())),
        "null" => Some(Arc::new(mgpipe_wire::null::NullBackend)),
        _ => None,
    }
}

fn refused(name: &str) -> String {
    format!("the server has no backend {name:?}; it has magma, espryt and null")
}

/// The counters of this process, for all of its clients.
#[derive(Clone)]
struct Counters {
    options: Option<StatsOptions>,
    transport: &'static str,
    made: Arc<OnceLock<Arc<Statistics>>>,
}

impl Counters {
    /// What the environment asks for.
    fn new(arguments: &Arguments) -> Result<Counters> {
        let value = |name| std::env::var(name).unwrap_or_default();
        let options =
            StatsOptions::parse(&value("MGL_STATS"), &value("MGL_STATS_WINDOW")).map_err(anyhow::Error::msg)?;
        let transport = if arguments.connected { "spawn" } else { "unix" };
        Ok(Counters { options, transport, made: Arc::default() })
    }

    /// The counters; they have the name of the first client's backend. `None` when nothing asks for any.
    fn get(&self, backend: &str) -> Option<Arc<Statistics>> {
        let options = self.options.as_ref()?;
        let make = || Statistics::new(Role::Server, backend, self.transport, Some(options.clone()));
        Some(self.made.get_or_init(make).clone())
    }
}

/// Serves one client until it is gone.
fn serve_client(
    socket: OwnedFd,
    arguments: &Arguments,
    counters: &Counters,
    on_lost: Box<dyn FnOnce() + Send>,
) -> Result<()> {
    let guest = Guest::meet(socket)?;
    let Some(backend) = backend(guest.backend()) else {
        let why = refused(guest.backend());
        return Err(guest.refuse(&why).into());
    };
    if let Some(processors) = &arguments.affinity {
        bind_thread(processors).with_context(|| format!("--affinity={processors}"))?;
    }
    let counters = counters.get(guest.backend());
    let Admitted { end, watch } = guest.admit(tuning(arguments), on_lost)?;
    let served = match &counters {
        Some(counters) => {
            let counted = Counted::new(backend, counters.clone());
            let served = serve(counters.watch_server(end), &counted);
            counters.finish();
            served
        }
        None => serve(end, &*backend),
    };
    match served {
        Ok(report) => {
            log::info!("the client left after {} records", report.records);
            Ok(())
        }
        Err(error) => {
            watch.dismiss(&error.to_string());
            Err(error).context("the client was dropped")
        }
    }
}

/// Ends the process if it has not ended by itself after a while: the client is gone, and nobody else needs it.
fn end_soon() {
    let thread = std::thread::Builder::new().name("mgl-end".into()).spawn(|| {
        std::thread::sleep(GRACE);
        end_at_once();
    });
    if thread.is_err() {
        end_at_once();
    }
}

/// Ends the process without a word. Exit handlers of a graphics driver wait for threads of it that are at work, a compiler's
/// among them, and so does a second call of `exit` for the first one.
fn end_at_once() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

fn serve_parent(arguments: &Arguments) -> Result<()> {
    let socket = inherited_socket().context("--connected")?;
    match serve_client(socket, arguments, &Counters::new(arguments)?, Box::new(end_soon)) {
        // The client has been told and tells its user.
        Err(error) if error.is::<StartError>() => {
            log::info!("{error:#}");
            Ok(())
        }
        result => result,
    }
}

/// Counts a client for as long as it lives.
struct Present(Arc<AtomicUsize>);

impl Present {
    fn new(clients: &Arc<AtomicUsize>) -> Present {
        clients.fetch_add(1, Ordering::AcqRel);
        Present(clients.clone())
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn listen(path: &Path, arguments: &Arguments) -> Result<()> {
    let listener = Listener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))?;
    log::info!("listening at {}", path.display());
    let counters = Counters::new(arguments)?;
    let clients = Arc::new(AtomicUsize::new(0));
    let mut number = 0u64;
    let mut idle_since = Instant::now();
    loop {
        if clients.load(Ordering::Acquire) > 0 {
            idle_since = Instant::now();
        } else if arguments.idle_exit > 0 && idle_since.elapsed() >= Duration::from_secs(arguments.idle_exit) {
            return Ok(());
        }
        let socket = match listener.accept(LOOK) {
            Ok(Some(socket)) => socket,
            Ok(None) => continue,
            Err(error) => {
                log::warn!("cannot accept a client: {error}");
                std::thread::sleep(SHORTAGE);
                continue;
            }
        };
        number += 1;
        let (present, arguments, counters) = (Present::new(&clients), arguments.clone(), counters.clone());
        let serving = move || {
            let _present = present;
            // What goes wrong with one client is no matter of the others.
            let served =
                catch_unwind(AssertUnwindSafe(|| serve_client(socket, &arguments, &counters, Box::new(|| ()))));
            match served {
                Ok(Ok(())) => {}
                Ok(Err(error)) => log::warn!("client {number}: {error:#}"),
                Err(_) => log::error!("client {number}: dropped after an internal failure"),
            }
        };
        if let Err(error) = std::thread::Builder::new().name(format!("client {number}")).spawn(serving) {
            log::warn!("no thread for client {number}: {error}");
            std::thread::sleep(SHORTAGE);
        }
    }
}

/// Does what the command line says.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.listen {
        Some(path) => listen(path, arguments),
        None if arguments.connected => serve_parent(arguments),
        None => anyhow::bail!("either --connected or --listen PATH is needed"),
    }
}
