//! How often a server may be replaced.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Lets at most so many events through in any stretch of a given length.
#[derive(Debug)]
pub(super) struct Limiter {
    most: usize,
    within: Duration,
    times: VecDeque<Instant>,
}

impl Limiter {
    pub(super) fn new(most: u32, within: Duration) -> Limiter {
        Limiter { most: most as usize, within, times: VecDeque::new() }
    }

    /// Whether one more event is allowed at `now`, which then counts.
    pub(super) fn allow(&mut self, now: Instant) -> bool {
        while self.times.front().is_some_and(|first| now.saturating_duration_since(*first) >= self.within) {
            self.times.pop_front();
        }
        let allowed = self.times.len() < self.most;
        if allowed {
            self.times.push_back(now);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_cut_and_time_heals() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut limiter = Limiter::new(3, 30 * second);
        assert!((0..3).all(|at| limiter.allow(start + at * second)));
        assert!(!limiter.allow(start + 29 * second));
        assert!(limiter.allow(start + 30 * second), "the first one is long ago");
        assert!(!limiter.allow(start + 30 * second));
        assert!(!Limiter::new(0, second).allow(start));
    }
}
