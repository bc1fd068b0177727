//! The server's side of a new connection: the one client that started it, or all who come to an address.

use super::core::{Core, Tuning};
use super::handshake::{self, Introduced};
use super::inherited;
use super::platform::{self, Readiness};
use super::start::StartError;
use super::watch::Watcher;
use crate::port::{PortError, ServerEnd};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a client that is dismissed has to read why.
const DISMISSAL: Duration = Duration::from_millis(500);

/// How long [`Listener::bind`] waits to learn whether somebody lives at its address.
const PROBE: Duration = Duration::from_secs(1);

/// A client that has introduced itself and waits for an answer.
pub struct Guest {
    introduced: Introduced,
}

/// A connection from the server's side. `watch` must live as long as `end`; dropping it closes the connection.
pub struct Admitted {
    /// The end.
    pub end: ServerEnd,
    /// Listens for the end of the client.
    pub watch: Watch,
}

/// Listens for the end of a client; see [`Admitted`].
pub struct Watch {
    watcher: Watcher,
    core: Arc<Core>,
}

impl Watch {
    /// Ends the connection and tells the client why: it is what the client's user reads.
    pub fn dismiss(self, why: &str) {
        if self.watcher.tell_fatal(why) {
            // The words in memory are faster than the socket: without this, the client would only see that all is over.
            self.core.await_close(DISMISSAL);
        }
        self.core.fail(PortError::Lost(why.into()));
    }
}

impl Guest {
    /// Reads a client's introduction from a fresh socket. A client that says nothing is an error after a few seconds.
    ///
    /// # Errors
    /// A client of another version or one that breaks the protocol; it has been told.
    pub fn meet(socket: OwnedFd) -> Result<Guest, StartError> {
        Ok(Guest { introduced: handshake::introduction(socket)? })
    }

    /// Name of the backend that the client wants.
    pub fn backend(&self) -> &str {
        &self.introduced.backend
    }

    /// Sends the client away with a reason for its user.
    pub fn refuse(self, why: &str) -> StartError {
        self.introduced.refuse(why)
    }

    /// Lets the client in. `on_lost` runs once, on another thread, when the connection has ended.
    ///
    /// # Errors
    /// When memory or a thread is missing, or the client has gone.
    pub fn admit(self, tuning: Tuning, on_lost: Box<dyn FnOnce() + Send>) -> Result<Admitted, StartError> {
        let (end, watcher, core) = self.introduced.welcome(tuning, on_lost)?;
        Ok(Admitted { end, watch: Watch { watcher, core } })
    }
}

/// The socket that a client which started this process left as its standard input. Whatever else the client left open in
/// this process, beyond standard output and error, is closed.
///
/// # Errors
/// When standard input is no such socket.
pub fn inherited_socket() -> io::Result<OwnedFd> {
    inherited::close_others();
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    match platform::socket_peer(socket.as_fd()) {
        Some(_) => Ok(socket),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "standard input is not a client's socket")),
    }
}

/// A place where clients come to. The socket's file is removed with it.
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Listens at a path. A socket that a dead server left there is replaced; one with a living server is an error.
    ///
    /// # Errors
    /// When the path cannot be used.
    pub fn bind(path: &Path) -> io::Result<Listener> {
        let stale = std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket())
            && platform::connect(path, PROBE).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if stale {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Listener { listener, path: path.into() })
    }

    /// The next client of the same user; `None` when nobody came within `limit`. Clients of other users are turned away.
    ///
    /// # Errors
    /// When the system cannot accept any more.
    pub fn accept(&self, limit: Duration) -> io::Result<Option<OwnedFd>> {
        if platform::wait_readable(self.listener.as_fd(), None, Some(limit))? == Readiness::TimedOut {
            return Ok(None);
        }
        let socket: OwnedFd = match self.listener.accept() {
            Ok((stream, _)) => stream.into(),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted) => {
                return Ok(None)
            }
            Err(error) => return Err(error),
        };
        let same_user = platform::socket_peer(socket.as_fd()).is_some_and(|(_, user)| user == platform::own_user());
        Ok(same_user.then_some(socket))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
