//! Memory that another process maps as well.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use memmap2::MmapMut;
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};

/// Pages that this process has mapped, and the file to pass on.
pub(crate) struct Shared {
    file: File,
    map: MmapMut,
}

impl Shared {
    /// Zeroed memory of at least `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> io::Result<Shared> {
        let file: OwnedFd = memfd_create("frame", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, bytes as u64)?;
        let file = File::from(file);
        // SAFETY: the file is this process's own and is only passed to the X server, which maps it and never changes its
        // size; its bytes are plain data, and what the X server writes there is at worst a wrong picture.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Shared { file, map })
    }

    /// The file once more, for the other side.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }

    /// The bytes.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.map
    }
}
