//! A socket that carries control messages with their files.

use super::control::{FrameError, Frames, Message};
use super::platform::{self, Readiness, MAX_FILES};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A peer that does not read its messages for this long is gone.
const SEND_LIMIT: Duration = Duration::from_secs(5);

/// Files that may wait for the message they belong to.
const MOST_WAITING_FILES: usize = 2 * MAX_FILES;

fn broken(error: FrameError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Sends a message with its files.
pub(crate) fn send(socket: &OwnedFd, message: &Message, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    debug_assert_eq!(files.len(), message.files());
    platform::send_all(socket.as_fd(), &message.frame(), files, SEND_LIMIT)
}

/// The receiving half of a socket.
pub(crate) struct Receiver {
    socket: Arc<OwnedFd>,
    peer: Option<OwnedFd>,
    frames: Frames,
    files: VecDeque<OwnedFd>,
}

impl Receiver {
    /// Receives from a socket; `peer` is the descriptor of the process at the other end, where there is one.
    pub(crate) fn new(socket: Arc<OwnedFd>, peer: Option<OwnedFd>) -> Receiver {
        Receiver { socket, peer, frames: Frames::default(), files: VecDeque::new() }
    }

    fn complete(&mut self) -> io::Result<Option<(Message, Vec<OwnedFd>)>> {
        let Some(message) = self.frames.next().map_err(broken)? else { return Ok(None) };
        // Files travel with the first byte of their message, so they are here.
        if self.files.len() < message.files() {
            return Err(broken(FrameError::Files));
        }
        let files = self.files.drain(..message.files()).collect();
        Ok(Some((message, files)))
    }

    /// The next message; waits for it at most `limit`.
    ///
    /// # Errors
    /// `UnexpectedEof` when the peer closed or its process ended, `TimedOut`, `InvalidData` for anything that is no message.
    pub(crate) fn receive(&mut self, limit: Option<Duration>) -> io::Result<(Message, Vec<OwnedFd>)> {
        let start = Instant::now();
        loop {
            if let Some(message) = self.complete()? {
                return Ok(message);
            }
            let left = limit.map(|limit| limit.saturating_sub(start.elapsed()));
            match platform::wait_readable(self.socket.as_fd(), self.peer.as_ref().map(AsFd::as_fd), left)? {
                Readiness::TimedOut => return Err(io::ErrorKind::TimedOut.into()),
                Readiness::PeerDied => return Err(io::ErrorKind::UnexpectedEof.into()),
                Readiness::Socket => {}
            }
            let (mut bytes, mut files) = ([0u8; 4096], Vec::new());
            match platform::receive_some(self.socket.as_fd(), &mut bytes, &mut files) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.frames.feed(bytes.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(io::ErrorKind::UnexpectedEof.into())
                }
                Err(error) => return Err(error),
            }
            self.files.extend(files);
            if self.files.len() > MOST_WAITING_FILES {
                return Err(broken(FrameError::Files));
            }
        }
    }
}
