//! Systems without a port of the channel: both ends in one process, and naps instead of sleep.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Naps while `word` is `expected`; a wake-up is noticed at the nap's end.
pub(crate) fn sleep_on(word: &AtomicU32, expected: u32, limit: Duration) {
    if word.load(Ordering::Acquire) == expected {
        std::thread::sleep(limit.min(Duration::from_micros(200)));
    }
}

/// Nobody sleeps longer than a nap.
pub(crate) fn wake_sleepers(_word: &AtomicU32) {}
