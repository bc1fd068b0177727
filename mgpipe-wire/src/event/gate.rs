//! Keeps a flood of log lines from filling the reverse channel, and says how many it kept back.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Error lines that pass in a row.
const BURST: u32 = 100;

/// After this long, one more error line passes.
const REFILL: Duration = Duration::from_millis(20);

/// Least time between two lines that say how many were kept back.
const SUMMARY: Duration = Duration::from_millis(250);

struct State {
    left: u32,
    refilled: Instant,
    summed: Option<Instant>,
    kept_back: u64,
}

/// One connection's budget of error lines. Lines of lower levels need none: they are dropped where there is no room.
pub(crate) struct LogGate(Mutex<State>);

impl LogGate {
    pub(crate) fn new() -> LogGate {
        LogGate(Mutex::new(State { left: BURST, refilled: Instant::now(), summed: None, kept_back: 0 }))
    }

    /// Whether an error line may pass at `now`; one that may not is counted.
    pub(crate) fn admits(&self, now: Instant) -> bool {
        let mut state = self.0.lock();
        let earned = now.saturating_duration_since(state.refilled).as_millis() / REFILL.as_millis();
        if earned > 0 {
            state.left = BURST.min(state.left.saturating_add(u32::try_from(earned).unwrap_or(BURST)));
            state.refilled = now;
        }
        let admitted = state.left > 0;
        match admitted {
            true => state.left -= 1,
            false => state.kept_back += 1,
        }
        admitted
    }

    /// A line found no room.
    pub(crate) fn dropped(&self) {
        self.0.lock().kept_back += 1;
    }

    /// How many lines were kept back since this was answered last, if it is time to say so. `at_once` is for a line that
    /// follows them, whose reader must know that something is missing before it.
    pub(crate) fn summary(&self, now: Instant, at_once: bool) -> Option<u64> {
        let mut state = self.0.lock();
        let is_time = at_once || state.summed.is_none_or(|last| now.saturating_duration_since(last) >= SUMMARY);
        if state.kept_back == 0 || !is_time {
            return None;
        }
        state.summed = Some(now);
        Some(std::mem::take(&mut state.kept_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_and_counted_and_time_gives_room_again() {
        let (gate, start) = (LogGate::new(), Instant::now());
        let passed = (0..1000).filter(|_| gate.admits(start)).count();
        assert_eq!(passed, BURST as usize);
        assert_eq!(gate.summary(start, true), Some(1000 - u64::from(BURST)));
        assert_eq!(gate.summary(start, true), None, "said once");
        let later = start + 3 * REFILL;
        assert_eq!((0..10).filter(|_| gate.admits(later)).count(), 3);
        assert_eq!(gate.summary(later, false), None, "too soon after the last");
        gate.dropped();
        assert_eq!(gate.summary(start + SUMMARY, false), Some(8));
    }
}
