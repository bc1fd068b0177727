//! Every interleaving of small cases of the ring and of the doorbell, with a weak memory model.
//!
//! Each case has a control without the mechanism it checks, which the checker must refuse.

use crate::channel::atomic::Word32;
use crate::channel::cursor::{Reader, Writer};
use crate::channel::doorbell::{Bell, Sleeper, Wish};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, AtomicU64};
use loom::sync::{Condvar, Mutex};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// A futex: the word is compared under the lock that the waker takes.
#[derive(Default)]
struct Futex {
    lock: Mutex<()>,
    woken: Condvar,
}

impl Sleeper<AtomicU32> for Futex {
    fn sleep(&self, word: &AtomicU32, expected: u32, _limit: Duration) {
        let held = self.lock.lock().unwrap();
        // A futex compares with the newest value.
        if word.fetch_add(0, Ordering::SeqCst) == expected {
            // Without a limit: a wake-up that is lost is a deadlock, which the checker reports.
            drop(self.woken.wait(held).unwrap());
        }
    }

    fn wake(&self, _word: &AtomicU32) {
        let _held = self.lock.lock().unwrap();
        self.woken.notify_all();
    }
}

struct Shared {
    head: AtomicU64,
    tail: AtomicU64,
    parked: AtomicU32,
    rings: AtomicU32,
    slots: [UnsafeCell<u64>; 4],
    futex: Futex,
}

impl Shared {
    // The checker's threads are no threads of the system; its own counted pointer aborts when a refused model unwinds.
    #[allow(clippy::arc_with_non_send_sync)]
    fn new() -> Arc<Shared> {
        Arc::new(Shared {
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            parked: AtomicU32::new(0),
            rings: AtomicU32::new(0),
            slots: std::array::from_fn(|_| UnsafeCell::new(0)),
            futex: Futex::default(),
        })
    }

    fn bell(&self) -> Bell<'_, AtomicU32> {
        Bell { parked: &self.parked, rings: &self.rings }
    }
}

/// Runs a model that must fail, quietly.
fn refused(model: impl Fn() + Sync + Send + 'static) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| loom::model(model))).is_err()
}

/// Two pieces pass through a ring that holds two; the checker sees any access to a slot that the other side may touch.
fn ring(publish: fn(&Writer, &AtomicU64)) {
    let shared = Shared::new();
    let other = shared.clone();
    let writing = loom::thread::spawn(move || {
        let mut writer = Writer::new(16);
        for value in 1..=3u64 {
            let fit = loop {
                match writer.fit(8, &other.tail).unwrap() {
                    Some(fit) => break fit,
                    None => loom::thread::yield_now(),
                }
            };
            other.slots[fit.at / 8].with_mut(|slot| {
                // SAFETY: the checker verifies that nobody else accesses the slot now.
                #[allow(unsafe_code)]
                unsafe {
                    *slot = value;
                }
            });
            writer.advance(8);
            publish(&writer, &other.head);
        }
    });
    let mut reader = Reader::new(16);
    for value in 1..=3u64 {
        while reader.available(&shared.head).unwrap() == 0 {
            loom::thread::yield_now();
        }
        let got = shared.slots[reader.place() / 8].with(|slot| {
            // SAFETY: the checker verifies that nobody else writes the slot now.
            #[allow(unsafe_code)]
            unsafe {
                *slot
            }
        });
        assert_eq!(got, value);
        reader.advance(8);
        reader.release(&shared.tail);
    }
    writing.join().unwrap();
}

#[test]
fn the_ring_hands_bytes_over() {
    loom::model(|| ring(|writer, head| writer.publish(head)));
}

#[test]
fn a_ring_without_release_is_refused() {
    assert!(refused(|| ring(|writer, head| {
        writer.publish(&Relaxed(head));
    })));
}

/// A word whose stores order nothing.
struct Relaxed<'a>(&'a AtomicU64);

impl crate::channel::atomic::Word64 for Relaxed<'_> {
    fn load(&self, _: Ordering) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    fn store(&self, value: u64, _: Ordering) {
        self.0.store(value, Ordering::Relaxed);
    }
    fn swap(&self, value: u64, _: Ordering) -> u64 {
        self.0.swap(value, Ordering::Relaxed)
    }
    fn raise(&self, value: u64, _: Ordering) {
        self.0.fetch_max(value, Ordering::Relaxed);
    }
}

/// Waiters sleep until the head has moved; ringers move it and ring. A lost wake-up is a deadlock.
fn doorbell(waiters: usize, ring: fn(&Shared)) {
    let shared = Shared::new();
    let sleeping: Vec<_> = (0..waiters)
        .map(|_| {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let ready = || (shared.head.load(Ordering::Acquire) == 1).then_some(());
                while ready().is_none() {
                    if shared.bell().park(&shared.futex, Duration::MAX, || (), ready).is_some() {
                        break;
                    }
                }
            })
        })
        .collect();
    shared.head.store(1, Ordering::Release);
    ring(&shared);
    for waiter in sleeping {
        waiter.join().unwrap();
    }
}

#[test]
fn no_wake_up_is_lost() {
    loom::model(|| doorbell(1, |shared| _ = shared.bell().ring(&shared.futex)));
}

#[test]
fn no_wake_up_of_two_waiters_is_lost() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| doorbell(2, |shared| _ = shared.bell().ring(&shared.futex)));
}

#[test]
fn a_ringer_that_looks_without_a_fence_is_refused() {
    assert!(refused(|| doorbell(1, |shared| {
        if shared.parked.load(Ordering::Relaxed) != 0 && shared.parked.swap(0, Ordering::AcqRel) != 0 {
            shared.rings.add(1, Ordering::Release);
            shared.futex.wake(&shared.rings);
        }
    })));
}

#[test]
fn a_ringer_that_wakes_without_counting_is_refused() {
    assert!(refused(|| doorbell(1, |shared| {
        AtomicU32::fence(Ordering::SeqCst);
        if shared.parked.load(Ordering::Relaxed) != 0 {
            shared.futex.wake(&shared.rings);
        }
    })));
}

/// One waiter waits for two changes by two ringers, parking again in between.
#[test]
fn a_waiter_that_parks_again_is_rung_again() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Shared::new();
        let ringers: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    shared.head.fetch_add(1, Ordering::AcqRel);
                    shared.bell().ring(&shared.futex);
                })
            })
            .collect();
        let ready = || (shared.head.load(Ordering::Acquire) == 2).then_some(());
        while ready().is_none() {
            if shared.bell().park(&shared.futex, Duration::MAX, || (), ready).is_some() {
                break;
            }
        }
        for ringer in ringers {
            ringer.join().unwrap();
        }
    });
}

/// Waiters wish for values of one counter, beside a wish that somebody who gave up has left; the ringer counts, looks at
/// the wishes, and rings for those it reached.
fn wishes(wanted: &'static [u64], ring: fn(&Shared)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Shared::new();
        Wish(&shared.tail).note(1);
        let waiters: Vec<_> = wanted
            .iter()
            .map(|value| {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let ready = || (shared.head.load(Ordering::Acquire) >= *value).then_some(());
                    let note = || Wish(&shared.tail).note(*value);
                    while ready().is_none() {
                        if shared.bell().park(&shared.futex, Duration::MAX, note, ready).is_some() {
                            break;
                        }
                    }
                })
            })
            .collect();
        let wish = Wish(&shared.tail);
        for value in 1..=2u64 {
            shared.head.store(value, Ordering::Release);
            AtomicU32::fence(Ordering::SeqCst);
            if wish.reached(value) {
                ring(&shared);
            }
        }
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn no_wish_is_forgotten() {
    let ring = |shared: &Shared| {
        Wish(&shared.tail).clear();
        shared.bell().ring(&shared.futex);
    };
    wishes(&[2], ring);
    wishes(&[1, 2], ring);
}

#[test]
fn wishes_cleared_after_the_ring_are_refused() {
    let check = || {
        wishes(&[2], |shared| {
            shared.bell().ring(&shared.futex);
            Wish(&shared.tail).clear();
        });
    };
    assert!(std::panic::catch_unwind(check).is_err());
}
