//! Systems that do not tell which pages were written.

use std::io;
use std::ops::Range;

/// Never made.
pub(super) enum PageWatch {}

impl PageWatch {
    pub(super) fn new() -> Option<PageWatch> {
        None
    }

    pub(super) fn register(&self, _: u64, _: usize) -> bool {
        match *self {}
    }

    pub(super) fn take(&self, _: u64, _: Range<usize>, _: impl FnMut(Range<usize>)) -> io::Result<()> {
        match *self {}
    }
}
