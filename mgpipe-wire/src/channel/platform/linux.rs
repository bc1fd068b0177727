//! Linux: sealed memory files, futexes, Unix sockets that carry file descriptors, process descriptors.

use rustix::event::Timespec;
use rustix::event::{poll, PollFd, PollFlags};
use rustix::fs::{fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::net::{
    recvmsg, sendmsg, socket_with, socketpair, sockopt, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage,
    RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use rustix::thread::futex;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// Most files that travel with one message.
pub(crate) const MAX_FILES: usize = 8;

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}

/// Sleeps while `word` is `expected`, at most `limit`. May return early.
pub(crate) fn sleep_on(word: &AtomicU32, expected: u32, limit: Duration) {
    // Not PRIVATE: the sleeper and its waker may be in two processes. Every outcome means "look again".
    let _ = futex::wait(word, futex::Flags::empty(), expected, Some(&timespec(limit)));
}

/// Wakes everybody who sleeps on `word`.
pub(crate) fn wake_sleepers(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
}

fn required_seals() -> SealFlags {
    SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL
}

/// A memory file of exactly `len` bytes that nobody can shrink, grow or unseal.
pub(crate) fn memory_file(name: &str, len: usize) -> io::Result<OwnedFd> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, len as u64)?;
    fcntl_add_seals(&file, required_seals())?;
    Ok(file)
}

/// Whether a file from a peer is a memory file of exactly `len` bytes that cannot shrink under a mapping.
pub(crate) fn check_memory_file(file: BorrowedFd<'_>, len: usize) -> io::Result<()> {
    let refuse = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    // Only memory files have seals: anything else fails here.
    let seals = fcntl_get_seals(file)?;
    if !seals.contains(SealFlags::SHRINK) {
        return refuse("the peer's segment is not sealed against shrinking");
    }
    if u64::try_from(fstat(file)?.st_size).ok() != Some(len as u64) {
        return refuse("the peer's segment has another size than it says");
    }
    Ok(())
}

/// A pair of connected stream sockets, closed on exec.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Connects to the socket at a path, closed on exec. A listener that takes nobody is an error after `limit`.
pub(crate) fn connect(path: &Path, limit: Duration) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let address = SocketAddrUnix::new(path)?;
    let deadline = Instant::now() + limit;
    loop {
        // A listener whose queue is full holds the call for as long as sending may take, which is for ever by default.
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(left))?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => break,
            Err(Errno::INTR) if Instant::now() < deadline => {}
            Err(Errno::AGAIN | Errno::INTR) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it takes nobody in"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, None)?;
    Ok(socket)
}

/// What woke [`wait_readable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// The socket has bytes, or ended.
    Socket,
    /// The peer's process has ended.
    PeerDied,
    /// Nothing in time.
    TimedOut,
}

/// Waits until `socket` is readable or `peer` (a process descriptor) ends.
pub(crate) fn wait_readable(
    socket: BorrowedFd<'_>,
    peer: Option<BorrowedFd<'_>>,
    limit: Option<Duration>,
) -> io::Result<Readiness> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        let mut fds = vec![PollFd::from_borrowed_fd(socket, PollFlags::IN)];
        fds.extend(peer.map(|peer| PollFd::from_borrowed_fd(peer, PollFlags::IN)));
        let left = deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        match poll(&mut fds, left.as_ref()) {
            Ok(0) => return Ok(Readiness::TimedOut),
            // What the peer said before it died is read first: it may say why.
            Ok(_) if !fds[0].revents().is_empty() => return Ok(Readiness::Socket),
            Ok(_) => return Ok(Readiness::PeerDied),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn wait_writable(socket: BorrowedFd<'_>, deadline: Instant) -> io::Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(socket, PollFlags::OUT)];
    match poll(&mut fds, Some(&timespec(deadline.saturating_duration_since(Instant::now())))) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sends all of `bytes`, with `files` on the first of them. A reader that does not read is an error after `limit`.
pub(crate) fn send_all(
    socket: BorrowedFd<'_>,
    mut bytes: &[u8],
    files: &[BorrowedFd<'_>],
    limit: Duration,
) -> io::Result<()> {
    let deadline = Instant::now() + limit;
    let mut files = files;
    while !bytes.is_empty() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many files for one message"));
        }
        // NOSIGNAL: a peer that is gone must not kill the application with SIGPIPE.
        match sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) => {
                bytes = bytes.get(sent..).unwrap_or_default();
                files = &[];
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_writable(socket, deadline)?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Reads what is there: bytes into `into` and files onto `files`. 0 means that the peer closed; `WouldBlock` that nothing
/// is there.
pub(crate) fn receive_some(socket: BorrowedFd<'_>, into: &mut [u8], files: &mut Vec<OwnedFd>) -> io::Result<usize> {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        match recvmsg(socket, &mut [IoSliceMut::new(into)], &mut ancillary, flags) {
            Ok(received) => {
                for message in ancillary.drain() {
                    if let RecvAncillaryMessage::ScmRights(more) = message {
                        files.extend(more);
                    }
                }
                return Ok(received.bytes);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A descriptor that becomes readable when the process ends. `None` when the system has none to give.
///
/// # Errors
/// `UnexpectedEof` when there is no such process any more.
pub(crate) fn process_descriptor(pid: u32) -> io::Result<Option<OwnedFd>> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => Ok(Some(descriptor)),
        Err(Errno::SRCH) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Ok(None),
    }
}

/// The descriptor of the process at the other end of a Unix socket, as [`process_descriptor`].
///
/// # Errors
/// `UnexpectedEof` when that process is gone, though somebody else may still hold its socket.
pub(crate) fn peer_descriptor(socket: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    match socket_peer(socket) {
        Some((pid, _)) => process_descriptor(pid),
        None => Ok(None),
    }
}

/// Process and user at the other end of a Unix socket.
pub(crate) fn socket_peer(socket: BorrowedFd<'_>) -> Option<(u32, u32)> {
    let peer = sockopt::socket_peercred(socket).ok()?;
    Some((u32::try_from(peer.pid.as_raw_nonzero().get()).ok()?, peer.uid.as_raw()))
}

/// The user that this process runs as.
pub(crate) fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Binds the calling thread to processors, given as numbers and ranges: `0-3,6`.
///
/// # Errors
/// When the text is no such list, or the machine has none of the processors.
pub fn bind_thread(processors: &str) -> io::Result<()> {
    let bad = || io::Error::new(io::ErrorKind::InvalidInput, format!("{processors} is no list of processors"));
    let mut set = rustix::thread::CpuSet::new();
    for part in processors.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse().ok().filter(|n: &usize| *n < rustix::thread::CpuSet::MAX_CPU);
        for processor in number(first).ok_or_else(bad)?..=number(last).ok_or_else(bad)? {
            set.set(processor);
        }
    }
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Ends both directions of a socket: the peer reads an end of file, and so does whoever reads here.
pub(crate) fn shut_down(socket: impl AsFd) {
    let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_segment_cannot_be_cut_and_others_are_refused() {
        let file = memory_file("mgl-test", 1 << 16).expect("memory file");
        assert!(ftruncate(&file, 4096).is_err(), "a sealed file must not shrink");
        check_memory_file(file.as_fd(), 1 << 16).expect("sealed, of that size");
        assert!(check_memory_file(file.as_fd(), 1 << 17).is_err(), "another size");
        let bare = memfd_create("mgl-test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memory file");
        ftruncate(&bare, 1 << 16).expect("size");
        assert!(check_memory_file(bare.as_fd(), 1 << 16).is_err(), "not sealed");
        let device = File::open("/dev/zero").expect("device");
        assert!(check_memory_file(device.as_fd(), 1 << 16).is_err(), "no memory file");
    }

    #[test]
    fn files_travel_and_a_closed_peer_is_no_signal() {
        let (a, b) = socket_pair().expect("sockets");
        let file = memory_file("mgl-test", 1 << 16).expect("memory file");
        send_all(a.as_fd(), b"hello", &[file.as_fd()], Duration::from_secs(1)).expect("sent");
        let (mut bytes, mut files) = ([0u8; 16], Vec::new());
        assert_eq!(receive_some(b.as_fd(), &mut bytes, &mut files).expect("received"), 5);
        check_memory_file(files.first().expect("a file").as_fd(), 1 << 16).expect("the same file");
        drop(b);
        assert!(send_all(a.as_fd(), b"hello", &[], Duration::from_secs(1)).is_err());
    }

    #[test]
    fn processors_are_numbers_and_ranges() {
        for bad in ["", "x", "0-", "-1", "0,,1", "99999999"] {
            assert!(bind_thread(bad).is_err(), "{bad}");
        }
        std::thread::spawn(|| bind_thread("0-1,0")).join().expect("joined").expect("there is a first processor");
    }

    #[test]
    fn a_reader_that_does_not_read_is_an_error_in_time() {
        let (a, _b) = socket_pair().expect("sockets");
        let start = Instant::now();
        let much = vec![0u8; 16 << 20];
        assert!(send_all(a.as_fd(), &much, &[], Duration::from_millis(50)).is_err());
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
