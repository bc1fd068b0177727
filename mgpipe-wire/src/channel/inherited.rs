//! What a process that was started for one client inherited from it, and lets go of.
#![allow(unsafe_code)]

use rustix::io::{fcntl_getfd, FdFlags};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Closes every file beyond the standard three that came through the start of this program: an application's files which
/// are not closed on exec are none of the server's, and whoever waits for their end would wait for the server's.
pub(crate) fn close_others() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<RawFd> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        // SAFETY: used for one question to the system, which answers with an error if there is no such file any more.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        if !fcntl_getfd(file).is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) {
            continue;
        }
        // SAFETY: nobody in this process owns the file. It lacks the mark that closes it on exec, with which the standard
        // library and the crates of this workspace open all of theirs, so it was there before this program was.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
}
