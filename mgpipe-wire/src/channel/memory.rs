//! Memory that two ends of a connection share: the one module of this crate with `unsafe`.
//!
//! A [`Region`] is a mapping of a file that another process may have mapped too, or memory of this process. Two kinds of
//! access exist. *Words* are atomics, which both ends may touch at any time. *Windows* are plain bytes: [`Outgoing`] is the
//! one writer of a region and looks only at bytes that its cursor has not published yet; [`Incoming`] reads what was
//! published and not handed back. Between the ends of one process, the cursors (release and acquire) keep the two apart. A
//! peer in another process may break that rule on purpose: what it can achieve is bytes that change while they are read,
//! so readers copy what they check, and take no length or index from a window twice.
#![allow(unsafe_code)]

use mgpipe_types::SharedMemory;
use std::alloc::{dealloc, Layout};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::Arc;

/// Regions have a multiple of this as their length: a page on every machine of today.
pub(crate) const REGION_ALIGN: usize = 1 << 16;

/// What a mapping may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only reading; a write would fault.
    Read,
    /// Reading and writing.
    ReadWrite,
}

enum Backing {
    #[cfg_attr(target_os = "linux", allow(dead_code))]
    Heap(Layout),
    #[cfg(target_os = "linux")]
    Mapped,
}

/// Bytes that live as long as this value.
pub(crate) struct Region {
    start: NonNull<u8>,
    len: usize,
    access: Access,
    backing: Backing,
}

// SAFETY: the region is plain memory without thread affinity; how it is accessed is the matter of the methods below.
unsafe impl Send for Region {}
// SAFETY: as above; shared access is through atomics and through the windows of `Outgoing` and `Incoming`.
unsafe impl Sync for Region {}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl Region {
    /// Zeroed memory of this process, present only as far as it is used; `len` is rounded up to [`REGION_ALIGN`].
    pub(crate) fn private(len: usize) -> io::Result<Region> {
        let len = len.max(1).checked_next_multiple_of(REGION_ALIGN).ok_or(invalid("region size"))?;
        let layout = Layout::from_size_align(len, REGION_ALIGN).map_err(|_| invalid("region size"))?;
        Region::zeroed(layout)
    }

    #[cfg(target_os = "linux")]
    fn zeroed(layout: Layout) -> io::Result<Region> {
        use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), layout.size(), protection, MapFlags::PRIVATE) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Region { start, len: layout.size(), access: Access::ReadWrite, backing: Backing::Mapped })
    }

    #[cfg(not(target_os = "linux"))]
    fn zeroed(layout: Layout) -> io::Result<Region> {
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Region { start, len: layout.size(), access: Access::ReadWrite, backing: Backing::Heap(layout) })
    }

    /// Maps the first `len` bytes of a file. The caller has made sure that the file has that many and cannot shrink.
    #[cfg(target_os = "linux")]
    pub(crate) fn map(file: std::os::fd::BorrowedFd<'_>, len: usize, access: Access) -> io::Result<Region> {
        use rustix::mm::{mmap, MapFlags, ProtFlags};
        if len == 0 || len % REGION_ALIGN != 0 || len > isize::MAX as usize {
            return Err(invalid("region size"));
        }
        let protection = match access {
            Access::Read => ProtFlags::READ,
            Access::ReadWrite => ProtFlags::READ | ProtFlags::WRITE,
        };
        // SAFETY: no address is asked for, so nothing that exists is replaced; the mapping is undone in `drop` only.
        let start = unsafe { mmap(std::ptr::null_mut(), len, protection, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Region { start, len, access, backing: Backing::Mapped })
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Address of the first byte in this process.
    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    fn word(&self, at: usize, bytes: usize) -> Option<NonNull<u8>> {
        let inside = at % bytes == 0 && at.checked_add(bytes).is_some_and(|end| end <= self.len);
        // An atomic reference allows writing, which a read-only mapping would answer with a fault.
        if !inside || self.access == Access::Read {
            return None;
        }
        // SAFETY: `at` lies inside the region, which is one allocation.
        Some(unsafe { self.start.add(at) })
    }

    /// The 64-bit word at byte `at`; `None` outside the region, at an odd place or in a read-only region.
    pub(crate) fn word64(&self, at: usize) -> Option<&AtomicU64> {
        // SAFETY: inside the region and aligned (regions are aligned far beyond 8); the bytes are initialised (a file's or
        // zeroed) and live as long as `self`; everybody accesses these bytes as atomics.
        self.word(at, 8).map(|word| unsafe { AtomicU64::from_ptr(word.as_ptr().cast()) })
    }

    /// The 32-bit word at byte `at`, as [`Region::word64`].
    pub(crate) fn word32(&self, at: usize) -> Option<&AtomicU32> {
        // SAFETY: as in `word64`.
        self.word(at, 4).map(|word| unsafe { AtomicU32::from_ptr(word.as_ptr().cast()) })
    }

    fn window(&self, at: usize, len: usize) -> Option<NonNull<u8>> {
        let inside = at.checked_add(len).is_some_and(|end| end <= self.len);
        // SAFETY: `at` lies inside the region or one past its end.
        inside.then(|| unsafe { self.start.add(at) })
    }
}

/// A region of which neither end has windows: the program and its device do with the bytes what they like.
impl SharedMemory for Region {
    fn address(&self) -> u64 {
        Region::address(self)
    }

    fn bytes(&self) -> u64 {
        self.len as u64
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.backing {
            // SAFETY: allocated with this layout in `zeroed`; nothing borrows from a value that is being dropped.
            Backing::Heap(layout) => unsafe { dealloc(self.start.as_ptr(), layout) },
            // SAFETY: mapped with this length by the constructors; nothing borrows from a value that is being dropped.
            #[cfg(target_os = "linux")]
            Backing::Mapped => unsafe {
                let _ = rustix::mm::munmap(self.start.as_ptr().cast(), self.len);
            },
        }
    }
}

/// The writing half of a region's bytes. One exists per region and process.
pub(crate) struct Outgoing {
    region: Arc<Region>,
}

impl Outgoing {
    /// The writing half; `None` for a read-only region. The caller makes one per region.
    pub(crate) fn new(region: Arc<Region>) -> Option<Outgoing> {
        (region.access == Access::ReadWrite).then_some(Outgoing { region })
    }

    /// Length of the region.
    pub(crate) fn len(&self) -> usize {
        self.region.len()
    }

    /// Bytes that the caller's cursor has not published, for writing; `None` outside the region.
    #[inline]
    pub(crate) fn window(&mut self, at: usize, len: usize) -> Option<&mut [u8]> {
        let start = self.region.window(at, len)?;
        // SAFETY: inside the region, which is writable and initialised. No other reference to these bytes exists in this
        // process: this is the only writer, borrowed exclusively, and the reader's windows end at what was published.
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) })
    }
}

/// The reading half of a region's bytes.
#[derive(Clone)]
pub(crate) struct Incoming {
    region: Arc<Region>,
}

impl Incoming {
    /// The reading half.
    pub(crate) fn new(region: Arc<Region>) -> Incoming {
        Incoming { region }
    }

    /// Length of the region.
    pub(crate) fn len(&self) -> usize {
        self.region.len()
    }

    /// Published bytes that have not been handed back; `None` outside the region.
    #[inline]
    pub(crate) fn window(&self, at: usize, len: usize) -> Option<&[u8]> {
        let start = self.region.window(at, len)?;
        // SAFETY: inside the region and initialised. The writer of this process touches these bytes only before it
        // published them and after they were handed back. A writer in another process is outside the language's model: as
        // with any file mapping, its bytes are taken as they are and nothing about safety follows from their values.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) })
    }
}

/// A page that a fork empties in the child: the child must not touch what its parent shares with a server.
#[cfg(target_os = "linux")]
pub(crate) struct ForkMark {
    region: Region,
}

#[cfg(target_os = "linux")]
impl ForkMark {
    /// A mark that is set in this process. `None` where the system cannot empty pages on fork.
    pub(crate) fn new() -> Option<ForkMark> {
        use rustix::mm::{madvise, Advice};
        let region = Region::private(REGION_ALIGN).ok()?;
        // SAFETY: the range is the mapping just made; in a child its bytes become zero, which are valid words.
        unsafe { madvise(region.start.as_ptr().cast(), region.len, Advice::LinuxWipeOnFork) }.ok()?;
        region.word32(0)?.store(1, std::sync::atomic::Ordering::Relaxed);
        Some(ForkMark { region })
    }

    /// Whether this process is a fork of the one that set the mark.
    #[inline]
    pub(crate) fn forked(&self) -> bool {
        self.region.word32(0).is_some_and(|word| word.load(std::sync::atomic::Ordering::Relaxed) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Incoming, Outgoing, Region, REGION_ALIGN};
    use std::sync::atomic::Ordering;
    use std::sync::Arc;

    #[test]
    fn nothing_outside_a_region_is_reachable() {
        let region = Arc::new(Region::private(10).expect("memory"));
        assert_eq!(region.len(), REGION_ALIGN);
        let mut outgoing = Outgoing::new(region.clone()).expect("writable");
        let incoming = Incoming::new(region.clone());
        for (at, len) in [(REGION_ALIGN, 1), (REGION_ALIGN - 4, 8), (usize::MAX, 2), (2, usize::MAX)] {
            assert!(outgoing.window(at, len).is_none() && incoming.window(at, len).is_none(), "{at} {len}");
        }
        assert!(region.word64(REGION_ALIGN).is_none() && region.word64(4).is_none() && region.word32(2).is_none());
        outgoing.window(REGION_ALIGN - 4, 4).expect("inside").copy_from_slice(b"last");
        assert_eq!(incoming.window(REGION_ALIGN - 4, 4).expect("inside"), b"last");
        region.word64(8).expect("inside").store(7, Ordering::Relaxed);
        assert_eq!(incoming.window(8, 8).expect("inside")[0], 7);
        assert_eq!(region.access, Access::ReadWrite);
    }

    #[test]
    fn a_size_that_cannot_be_is_an_error() {
        assert!(Region::private(usize::MAX).is_err());
        assert!(Region::private(isize::MAX as usize).is_err());
    }
}
