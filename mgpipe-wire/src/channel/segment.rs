//! Segments that two processes share: sealed memory files, made by one side and checked by the other.

use super::memory::{Access, Region};
use super::platform;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// A segment that this process made: the region, and the file to send.
pub(crate) fn make(name: &str, bytes: usize) -> io::Result<(Arc<Region>, OwnedFd)> {
    let file = platform::memory_file(name, bytes)?;
    let region = Region::map(file.as_fd(), bytes, Access::ReadWrite)?;
    Ok((Arc::new(region), file))
}

/// A segment that the peer made. Its size and its seals are checked before it is mapped: a file that could shrink would
/// kill whoever touches what is gone.
pub(crate) fn take(file: OwnedFd, bytes: usize, access: Access) -> io::Result<Arc<Region>> {
    platform::check_memory_file(file.as_fd(), bytes)?;
    Ok(Arc::new(Region::map(file.as_fd(), bytes, access)?))
}
