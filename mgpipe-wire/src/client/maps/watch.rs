//! Which pages of a mapping were written, as the kernel knows it.
//!
//! Linux 6.7 and later mark pages of memory that was registered with a userfault descriptor as written, without a signal and
//! without a thread that handles faults, and hand over the marked ranges while they protect them anew, in one step
//! (`PAGEMAP_SCAN`). The first write to a page after a look costs a fault inside the kernel; a look costs a pass over the page
//! table, about a microsecond for a mebibyte. The application's handler of SIGSEGV is not touched, and system calls that
//! write into the mapping work.
#![allow(unsafe_code)]

use linux_raw_sys::general::{
    page_region, pm_scan_arg, uffdio_api, uffdio_range, uffdio_register, PAGE_IS_WRITTEN, PM_SCAN_CHECK_WPASYNC,
    PM_SCAN_WP_MATCHING, UFFDIO_REGISTER_MODE_WP, UFFD_API, UFFD_FEATURE_WP_ASYNC, UFFD_FEATURE_WP_UNPOPULATED,
    UFFD_USER_MODE_ONLY,
};
use rustix::fs::{open, Mode, OFlags};
use rustix::ioctl::{ioctl, opcode, Opcode, Updater};
use rustix::mm::{userfaultfd, UserfaultfdFlags};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

const API: Opcode = opcode::read_write::<uffdio_api>(0xaa, 0x3f);
const REGISTER: Opcode = opcode::read_write::<uffdio_register>(0xaa, 0);
const SCAN: Opcode = opcode::read_write::<pm_scan_arg>(b'f', 16);

/// Ranges that one system call hands over.
const AT_ONCE: usize = 128;

/// A page on every machine that has the calls.
const PAGE: usize = 4096;

/// The kernel's marks for registered memory of this process.
pub(super) struct PageWatch {
    faults: OwnedFd,
    pages: OwnedFd,
    /// The process whose memory the descriptors speak of: a fork inherits them.
    owner: u32,
}

impl PageWatch {
    /// `None` where the kernel does not have it or does not allow it.
    pub(super) fn new() -> Option<PageWatch> {
        // Faults of the kernel never reach this descriptor, so a process without privileges may have it.
        let flags = UserfaultfdFlags::CLOEXEC
            | UserfaultfdFlags::NONBLOCK
            | UserfaultfdFlags::from_bits_retain(UFFD_USER_MODE_ONLY);
        // SAFETY: the descriptor stays in this module, which registers nothing but memory of mappings for marking: nobody
        // ever waits for an answer to a fault.
        let faults = unsafe { userfaultfd(flags) }.ok()?;
        let features = u64::from(UFFD_FEATURE_WP_ASYNC | UFFD_FEATURE_WP_UNPOPULATED);
        let mut api = uffdio_api { api: u64::from(UFFD_API), features, ioctls: 0 };
        // SAFETY: the opcode is that of the structure, which the call reads and writes.
        unsafe { ioctl(&faults, Updater::<API, _>::new(&mut api)) }.ok()?;
        let pages = open("/proc/self/pagemap", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(PageWatch { faults, pages, owner: std::process::id() })
    }

    /// Has the kernel mark writes to memory from now on; false when it does not. Memory that is unmapped is forgotten.
    pub(super) fn register(&self, address: u64, len: usize) -> bool {
        if self.owner != std::process::id() {
            return false;
        }
        let range = uffdio_range { start: address, len: len as u64 };
        let mut register = uffdio_register { range, mode: u64::from(UFFDIO_REGISTER_MODE_WP), ioctls: 0 };
        // SAFETY: the opcode is that of the structure; marking does not change what the memory holds.
        let registered = unsafe { ioctl(&self.faults, Updater::<REGISTER, _>::new(&mut register)) }.is_ok();
        registered && self.take(address, 0..len, |_| ()).is_ok()
    }

    /// Takes the marks off a range of registered memory, and hands over what was marked, page by page or more.
    ///
    /// # Errors
    /// When the kernel does not say: then everything may have been written.
    pub(super) fn take(
        &self,
        address: u64,
        range: Range<usize>,
        mut written: impl FnMut(Range<usize>),
    ) -> io::Result<()> {
        let mut found = [page_region { start: 0, end: 0, categories: 0 }; AT_ONCE];
        let mut start = address + (range.start / PAGE * PAGE) as u64;
        let end = address + range.end.next_multiple_of(PAGE) as u64;
        while start < end {
            found.iter_mut().for_each(|region| region.end = 0);
            let mut scan = pm_scan_arg {
                size: std::mem::size_of::<pm_scan_arg>() as u64,
                flags: u64::from(PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC),
                start,
                end,
                walk_end: 0,
                vec: found.as_mut_ptr() as u64,
                vec_len: AT_ONCE as u64,
                max_pages: 0,
                category_inverted: 0,
                category_mask: u64::from(PAGE_IS_WRITTEN),
                category_anyof_mask: 0,
                return_mask: u64::from(PAGE_IS_WRITTEN),
            };
            // SAFETY: the opcode is that of the structure, and the kernel writes at most `vec_len` regions, which `found` has.
            unsafe { ioctl(&self.pages, Updater::<SCAN, _>::new(&mut scan)) }?;
            for region in found.iter().take_while(|region| region.end > region.start) {
                let offset = |at: u64| at.saturating_sub(address) as usize;
                written(offset(region.start)..offset(region.end));
            }
            if scan.walk_end <= start {
                return Err(io::ErrorKind::Unsupported.into());
            }
            start = scan.walk_end;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use crate::channel::memory::Region;
    use std::io::Read;
    use std::sync::atomic::Ordering;

    fn taken(watch: &PageWatch, region: &Region) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        watch.take(region.address(), 0..region.len(), |range| all.push(range)).expect("registered");
        all
    }

    #[test]
    fn written_pages_are_told_once() {
        let region = Region::private(64 * PAGE).expect("memory");
        let word = |page: usize| region.word64(page * PAGE + 8).expect("inside");
        word(3).store(1, Ordering::Relaxed);
        let Some(watch) = PageWatch::new() else {
            println!("this kernel does not mark written pages");
            return;
        };
        assert!(watch.register(region.address(), region.len()));
        assert!(taken(&watch, &region).is_empty());
        for page in [5, 6, 40] {
            word(page).store(7, Ordering::Relaxed);
        }
        let _ = word(50).load(Ordering::Relaxed);
        assert_eq!(taken(&watch, &region), [5 * PAGE..7 * PAGE, 40 * PAGE..41 * PAGE]);
        assert!(taken(&watch, &region).is_empty());
        word(40).store(7, Ordering::Relaxed);
        assert_eq!(taken(&watch, &region), [40 * PAGE..41 * PAGE], "the same value again is a write, too");
    }

    #[test]
    fn more_ranges_than_one_call_takes_and_writes_of_the_kernel_are_told() {
        let Some(watch) = PageWatch::new() else { return };
        let region = Region::private(1024 * PAGE).expect("memory");
        assert!(watch.register(region.address(), region.len()));
        for page in (0..1024).step_by(2) {
            region.word64(page * PAGE).expect("inside").store(1, Ordering::Relaxed);
        }
        assert_eq!(taken(&watch, &region).len(), 512);
        // As an application does that reads a file into its mapping.
        // SAFETY: the bytes lie in the region, and nobody else touches them meanwhile.
        let bytes = unsafe { std::slice::from_raw_parts_mut((region.address() as *mut u8).add(9 * PAGE), 100) };
        std::fs::File::open("/dev/zero").and_then(|mut file| file.read_exact(bytes)).expect("read");
        assert_eq!(taken(&watch, &region), [9 * PAGE..10 * PAGE]);
    }

    #[test]
    fn memory_that_is_not_registered_is_an_error() {
        let Some(watch) = PageWatch::new() else { return };
        let region = Region::private(64 * PAGE).expect("memory");
        assert!(watch.take(region.address(), 0..region.len(), |_| ()).is_err());
    }
}
