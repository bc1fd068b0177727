//! Waiting for the peer without burning a core, and waking it without a system call when it is awake.
//!
//! A waiter looks for a short while, then says that it is *parked* and sleeps on the bell word. Whoever changes something
//! that the waiter may wait for rings: the system call is made only when somebody is parked. The pair of sequentially
//! consistent fences (a waiter: park, fence, look; a ringer: change, fence, look for parked) makes a lost wake-up
//! impossible: at least one of the two sees what the other did. Several threads may wait on one bell and several may ring.
//!
//! The bell is a word that is slept on, not a socket or a pipe: one system call instead of two on either side, all waiters
//! wake at once, and no token is left over. What a socket would tell besides (the peer is gone) is the matter of
//! [`super::watch`], whose thread rings the bells of its own process.

use super::atomic::{Word32, Word64};
use super::platform;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The words of one direction: who waits at this bell.
pub(crate) struct Bell<'a, W> {
    /// Not 0 while somebody sleeps or is about to.
    pub(crate) parked: &'a W,
    /// Changes with each ring that found somebody parked.
    pub(crate) rings: &'a W,
}

/// What the waiters at a bell wait for, where a counter moves so often that a ring for each step would cost more than the
/// steps: the ringer rings only when the counter has reached the nearest wish.
///
/// The word holds the complement of the nearest wish, so that memory of zeros has none. Noting and clearing are both
/// read-modify-writes: either the ringer's clearing comes later and then it also sees that the waiter is parked, or the
/// wish stands.
pub(crate) struct Wish<'a, W>(pub(crate) &'a W);

impl<W: Word64> Wish<'_, W> {
    /// Notes a wish, after `parked` was set and before the last look.
    pub(crate) fn note(&self, value: u64) {
        self.0.raise(!value, Ordering::AcqRel);
    }

    /// Whether the counter has reached a wish. Without a fence between the counter's store and this look, a wish of just
    /// now may be missed.
    #[inline]
    pub(crate) fn reached(&self, value: u64) -> bool {
        let nearest = self.0.load(Ordering::Relaxed);
        nearest != 0 && !nearest <= value
    }

    /// Forgets all wishes; a ring follows, after which those who still wait wish again.
    pub(crate) fn clear(&self) {
        self.0.swap(0, Ordering::AcqRel);
    }
}

/// How a thread sleeps on a word. A trait for the model checker's sake.
pub(crate) trait Sleeper<W> {
    /// Sleeps while `word` is `expected`, at most `limit`; may return early.
    fn sleep(&self, word: &W, expected: u32, limit: Duration);
    /// Wakes everybody who sleeps on `word`.
    fn wake(&self, word: &W);
}

/// Sleeps with the operating system's help.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct System;

impl Sleeper<AtomicU32> for System {
    fn sleep(&self, word: &AtomicU32, expected: u32, limit: Duration) {
        platform::sleep_on(word, expected, limit);
    }
    fn wake(&self, word: &AtomicU32) {
        platform::wake_sleepers(word);
    }
}

impl<W: Word32> Bell<'_, W> {
    /// Wakes whoever is parked. What the waiter waits for was stored before. True when a system call was needed.
    #[inline]
    pub(crate) fn ring(&self, sleeper: &impl Sleeper<W>) -> bool {
        W::fence(Ordering::SeqCst);
        if self.parked.load(Ordering::Relaxed) == 0 || self.parked.swap(0, Ordering::AcqRel) == 0 {
            return false;
        }
        // The waiter that parked before the swap either sleeps on the old number or has not slept yet and will not.
        self.rings.add(1, Ordering::Release);
        sleeper.wake(self.rings);
        true
    }

    /// Sleeps until `ready` answers something or a ring comes, at most `limit`; notes its wishes and asks `ready` once before
    /// sleeping. `None` means only that the caller should look at the time and come again.
    pub(crate) fn park<T>(
        &self,
        sleeper: &impl Sleeper<W>,
        limit: Duration,
        note: impl FnOnce(),
        mut ready: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let rings = self.rings.load(Ordering::Acquire);
        self.parked.store(1, Ordering::Relaxed);
        note();
        W::fence(Ordering::SeqCst);
        if let Some(found) = ready() {
            // `parked` stays set: another thread may be parked too. The price is one ring that wakes nobody.
            return Some(found);
        }
        sleeper.sleep(self.rings, rings, limit);
        None
    }
}

/// How long a waiter looks before it parks. The time adapts: looking that was rewarded makes it longer, looking in vain
/// shorter, between nothing and the limit, so that two busy processes on few cores do not steal each other's time.
#[derive(Debug)]
pub(crate) struct Spin {
    limit: u64,
    now: AtomicU64,
}

/// Longest look where no switch says otherwise. Parking and waking costs about 50 µs; looking longer than a fraction of
/// it costs the peer more than it saves when both share a core.
const SPIN_LIMIT: Duration = Duration::from_micros(20);

/// A look that failed often is still taken for this many nanoseconds.
const SPIN_LEAST: u64 = 2_000;

impl Spin {
    /// A spin with a limit; without one, 20 µs, and none at all on a machine with a single core.
    pub(crate) fn new(limit: Option<Duration>) -> Spin {
        let limit = limit.unwrap_or_else(|| match std::thread::available_parallelism() {
            Ok(cores) if cores.get() > 1 => SPIN_LIMIT,
            _ => Duration::ZERO,
        });
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Spin { limit, now: AtomicU64::new(limit) }
    }

    /// Looks until `ready` answers or the time is up.
    pub(crate) fn look<T>(&self, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        if let Some(found) = ready() {
            return Some(found);
        }
        let now = self.now.load(Ordering::Relaxed);
        if now == 0 {
            return None;
        }
        let start = Instant::now();
        loop {
            // The clock is read once in a while only: it costs more than a look.
            for _ in 0..32 {
                std::hint::spin_loop();
                if let Some(found) = ready() {
                    self.now.store(now.saturating_mul(2).min(self.limit), Ordering::Relaxed);
                    return Some(found);
                }
            }
            if start.elapsed() >= Duration::from_nanos(now) {
                self.now.store((now / 2).max(SPIN_LEAST.min(self.limit)), Ordering::Relaxed);
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bell, Spin, System};
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn a_ring_without_a_waiter_costs_no_system_call() {
        let (parked, rings) = (AtomicU32::new(0), AtomicU32::new(0));
        let bell = Bell { parked: &parked, rings: &rings };
        assert!(!bell.ring(&System));
        assert_eq!(rings.load(Ordering::Relaxed), 0);
        assert_eq!(bell.park(&System, Duration::from_secs(9), || (), || Some(1)), Some(1));
        assert!(bell.ring(&System), "whoever parked is rung");
        assert!(!bell.ring(&System), "once");
    }

    #[test]
    fn a_sleeper_wakes_when_rung_and_at_its_limit() {
        let (parked, rings, value) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU64::new(0));
        let bell = Bell { parked: &parked, rings: &rings };
        let ready = || (value.load(Ordering::Acquire) == 1).then_some(());
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            assert_eq!(bell.park(&System, Duration::from_millis(20), || (), ready), None);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                value.store(1, Ordering::Release);
                bell.ring(&System);
            });
            let start = Instant::now();
            while bell.park(&System, Duration::from_secs(60), || (), ready).is_none() {}
            assert!(start.elapsed() < Duration::from_secs(30));
        });
    }

    #[test]
    fn looking_in_vain_gets_shorter_and_success_longer() {
        let spin = Spin::new(Some(Duration::from_micros(400)));
        for _ in 0..10 {
            assert_eq!(spin.look(|| None::<()>), None);
        }
        assert_eq!(spin.now.load(Ordering::Relaxed), super::SPIN_LEAST);
        let mut looks = 0;
        spin.look(|| {
            looks += 1;
            (looks > 3).then_some(())
        });
        assert_eq!(spin.now.load(Ordering::Relaxed), super::SPIN_LEAST * 2);
        assert_eq!(Spin::new(Some(Duration::ZERO)).look(|| None::<()>), None);
    }
}
