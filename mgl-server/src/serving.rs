//! Serves clients: the one that started this process, or all that come.

use crate::arguments::Arguments;
use anyhow::{Context as _, Result};
use mgpipe_types::Backend;
use mgpipe_wire::channel::{bind_thread, inherited_socket, Guest, Listener, StartError, Tuning};
use mgpipe_wire::server::serve;
use std::os::fd::OwnedFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
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

/// Serves one client until it is gone.
fn serve_client(socket: OwnedFd, arguments: &Arguments, on_lost: Box<dyn FnOnce() + Send>) -> Result<()> {
    let guest = Guest::meet(socket)?;
    let Some(backend) = backend(guest.backend()) else {
        let why = refused(guest.backend());
        return Err(guest.refuse(&why).into());
    };
    if let Some(processors) = &arguments.affinity {
        bind_thread(processors).with_context(|| format!("--affinity={processors}"))?;
    }
    let admitted = guest.admit(tuning(arguments), on_lost)?;
    let report = serve(admitted.end, &*backend).context("the client was dropped")?;
    log::info!("the client left after {} records", report.records);
    drop(admitted.watch);
    Ok(())
}

/// Ends the process if it has not ended by itself after a while: the client is gone, and nobody else needs it.
fn end_soon() {
    let thread = std::thread::Builder::new().name("mgl-end".into()).spawn(|| {
        std::thread::sleep(GRACE);
        std::process::exit(0);
    });
    if thread.is_err() {
        std::process::exit(0);
    }
}

fn serve_parent(arguments: &Arguments) -> Result<()> {
    let socket = inherited_socket().context("--connected")?;
    match serve_client(socket, arguments, Box::new(end_soon)) {
        // The client has been told and tells its user.
        Err(error) if error.is::<StartError>() => {
            log::info!("{error:#}");
            Ok(())
        }
        result => result,
    }
}

/// Counts a client for as long as it lives.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(clients: &Arc<AtomicUsize>) -> Counted {
        clients.fetch_add(1, Ordering::AcqRel);
        Counted(clients.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn listen(path: &Path, arguments: &Arguments) -> Result<()> {
    let listener = Listener::bind(path).with_context(|| format!("cannot listen at {}", path.display()))?;
    log::info!("listening at {}", path.display());
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
        let (counted, arguments) = (Counted::new(&clients), arguments.clone());
        let serving = move || {
            let _counted = counted;
            // What goes wrong with one client is no matter of the others.
            let served = catch_unwind(AssertUnwindSafe(|| serve_client(socket, &arguments, Box::new(|| ()))));
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
