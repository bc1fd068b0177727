//! The backend on a second thread of this process, behind the same records as in another process.

use crate::client::{Attached, ClientOptions, WireBackend};
use crate::port::{ClientEnd, ServerEnd};
use crate::server::serve;
use mgpipe_types::{Backend, PipeError, PipeResult};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for the thread to end its work when the connection is closed.
const FAREWELL: Duration = Duration::from_secs(10);

/// Makes the two ends of a connection.
pub type Channel = Box<dyn Fn() -> PipeResult<(ClientEnd, ServerEnd)> + Send + Sync>;

#[derive(Default)]
struct Ended {
    done: Mutex<bool>,
    changed: Condvar,
}

/// Says that the thread is through, however it ended.
struct Announce(Arc<Ended>);

impl Drop for Announce {
    fn drop(&mut self) {
        *self.0.done.lock() = true;
        self.0.changed.notify_all();
    }
}

/// Waits for the thread when the connection is dropped. A thread that is stuck in the device is left behind.
struct Keeper {
    ended: Arc<Ended>,
    owner: u32,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // A fork has no such thread, and whoever held the lock then holds it for ever.
        if self.owner != std::process::id() {
            return;
        }
        let mut done = self.ended.done.lock();
        if !*done {
            self.ended.changed.wait_while_for(&mut done, |done| !*done, FAREWELL);
        }
        if !*done {
            log::warn!("the apply thread has not ended in {} s", FAREWELL.as_secs());
        }
    }
}

/// A backend whose calls are applied by a thread of its own, which starts with the first screen.
pub fn inproc(backend: Arc<dyn Backend>, channel: Channel, options: ClientOptions) -> WireBackend {
    let connect = move || {
        let (end, server) = channel()?;
        let ended = Arc::new(Ended::default());
        let announce = Announce(ended.clone());
        let backend = backend.clone();
        let apply = move || {
            let _announce = announce;
            // Dropped before the announcement, and the device with it where this is the last one: a client that goes on to end
            // the process must not do so beside that.
            let backend = backend;
            if let Err(error) = serve(server, &*backend) {
                log::error!("the apply thread gives up: {error}");
            }
        };
        std::thread::Builder::new()
            .name("mgl-apply".into())
            .spawn(apply)
            .map_err(|error| PipeError::Init(format!("the apply thread: {error}")))?;
        Ok(Attached { end, keeper: Box::new(Keeper { ended, owner: std::process::id() }) })
    };
    WireBackend::new(Box::new(connect), options)
}
