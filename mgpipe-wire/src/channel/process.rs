//! Connections to a server in another process: one that is started for this client, or one that listens at an address.

use super::handshake;
use super::platform;
use super::start::{ConnectOptions, StartError, CONNECTED};
use super::watch::Watcher;
use crate::client::Attached;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether a server may see an environment variable of its client. What chooses or tunes a transport must not reach it,
/// or it would start a server of its own; what the client has already acted on is of no use to it.
fn passes_to_server(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let tunes = name.strip_prefix(b"MGL_").is_some_and(|rest| rest.starts_with(b"IPC_"));
    name != b"MGL_TRANSPORT" && name != b"MGL_RECORD" && !tunes
}

/// The environment of a server, from that of its client.
fn server_environment(
    client: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    client.filter(|(name, _)| passes_to_server(name))
}

/// What ends with the connection: the listening thread, and the server's process if it was started for us.
struct Keeper {
    watcher: Option<Watcher>,
    child: Option<Child>,
    farewell: Duration,
    owner: u32,
}

/// Waits for a child to end; kills it after `limit`.
fn bury(mut child: Child, limit: Duration) {
    let descriptor = platform::process_descriptor(child.id()).ok().flatten();
    let deadline = Instant::now() + limit;
    loop {
        // An error means that the application has waited for all its children, and this one was among them.
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match &descriptor {
            Some(descriptor) => drop(platform::wait_readable(descriptor.as_fd(), None, Some(left))),
            None => std::thread::sleep(left.min(Duration::from_millis(5))),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // In a fork of the owner, the watcher knows what to do, and the child is not ours to wait for.
        drop(self.watcher.take());
        if let Some(child) = self.child.take().filter(|_| self.owner == std::process::id()) {
            bury(child, self.farewell);
        }
    }
}

fn attached(
    socket: OwnedFd,
    peer: Option<OwnedFd>,
    child: Option<Child>,
    options: &ConnectOptions,
) -> Result<Attached, StartError> {
    let (farewell, owner) = (options.farewell, std::process::id());
    let mut keeper = Keeper { watcher: None, child, farewell, owner };
    let (end, watcher) = handshake::client(socket, peer, options)?;
    keeper.watcher = Some(watcher);
    Ok(Attached { end, keeper: Box::new(keeper) })
}

/// Starts a server for this client alone and connects to it.
///
/// The server inherits one socket as its standard input and standard error, and closes whatever else this process leaves
/// open on exec; it ends when that socket does or when this process does. It is in a process group of its own, so that a key that interrupts the application does not take its
/// display away first.
///
/// # Errors
/// See [`StartError`]. No process is left behind.
pub fn spawn(program: &Path, options: &ConnectOptions) -> Result<Attached, StartError> {
    let failed = |error| StartError::Program { path: program.display().to_string(), error };
    let (ours, theirs) = platform::socket_pair()?;
    let child = Command::new(program)
        .arg(CONNECTED)
        .args(options.affinity.iter().map(|processors| format!("--affinity={processors}")))
        .args(options.tuning.spin.iter().map(|spin| format!("--spin-us={}", spin.as_micros())))
        .env_clear()
        .envs(server_environment(mgpipe_types::switches::environment()))
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    // A child is there until it is waited for, so this tells nothing yet.
    let peer = platform::process_descriptor(child.id()).ok().flatten();
    attached(ours, peer, Some(child), options).map_err(|error| match error {
        // The last two where it ended before it could be told anything.
        StartError::Handshake(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ) =>
        {
            failed(io::Error::new(error.kind(), "it ended before it answered"))
        }
        error => error,
    })
}

/// Connects to a server that listens at a path.
///
/// # Errors
/// See [`StartError`].
pub fn attach(path: &Path, options: &ConnectOptions) -> Result<Attached, StartError> {
    let failed = |error| StartError::Address { path: path.display().to_string(), error };
    let socket = platform::connect(path, options.cold_start).map_err(failed)?;
    // As the server does with its clients: whoever may write to the folder could listen there.
    if platform::socket_peer(socket.as_fd()).is_some_and(|(_, user)| user != platform::own_user()) {
        return Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, "the server is another user's")));
    }
    let peer = platform::peer_descriptor(socket.as_fd())?;
    attached(socket, peer, None, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_about_transports_reaches_a_server() {
        let client = ["MGL_TRANSPORT", "MGL_IPC_SPIN_US", "MGL_IPC_SERVER_PATH", "MGL_RECORD", "MGL_LOG", "HOME"];
        let left: Vec<_> =
            server_environment(client.iter().map(|name| (name.into(), "1".into()))).map(|(name, _)| name).collect();
        assert_eq!(left, ["MGL_LOG", "HOME"]);
    }

    #[test]
    fn a_program_that_is_no_server_is_an_error_and_leaves_nothing() {
        let options = ConnectOptions { cold_start: Duration::from_millis(300), ..ConnectOptions::new("null") };
        for (program, hint) in [("/nowhere/mgl-server", "cannot be started"), ("/bin/true", "ended before it answered")]
        {
            let Err(error) = spawn(Path::new(program), &options) else { panic!("{program} is no server") };
            let text = error.to_string();
            assert!(text.contains(hint) && text.contains(program), "{text}");
        }
        let Err(error) = attach(Path::new("/nowhere/socket"), &options) else { panic!("nobody listens") };
        assert!(error.to_string().contains("/nowhere/socket"));
    }
}
