//! What all parts of one end share: the control block, whether the connection lives, and how to wait.

use super::block::Block;
use super::cursor::Lie;
use super::doorbell::{Bell, Spin, System};
#[cfg(target_os = "linux")]
use super::memory::ForkMark;
use crate::port::{Idle, PortError, WaitCounters};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A peer that makes no progress for this long is declared lost. A software driver was seen to block legally for 40 s.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Writes commands.
    Client,
    /// Applies them.
    Server,
}

/// What the server moves with each record, and a thread of the client may wait for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Want {
    /// Applied records; 0 for none.
    pub(crate) applied: u64,
    /// Tail of the commands; 0 for none.
    pub(crate) tail: u64,
}

/// How an end behaves; the same on both is not required.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// Longest look before parking; `None` lets the machine decide.
    pub spin: Option<Duration>,
    /// How long a peer may make no progress before the connection is declared lost.
    pub patience: Duration,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { spin: None, patience: PATIENCE }
    }
}

/// State of one end.
pub(crate) struct Core {
    pub(crate) block: Block,
    side: Side,
    dead: AtomicBool,
    why: OnceLock<PortError>,
    spin: Spin,
    pub(crate) patience: Duration,
    waits: AtomicU64,
    parks: AtomicU64,
    rings: AtomicU64,
    #[cfg(target_os = "linux")]
    fork: Option<ForkMark>,
}

impl Core {
    pub(crate) fn new(block: Block, side: Side, tuning: Tuning) -> Core {
        Core {
            block,
            side,
            dead: AtomicBool::new(false),
            why: OnceLock::new(),
            spin: Spin::new(tuning.spin),
            patience: tuning.patience,
            waits: AtomicU64::new(0),
            parks: AtomicU64::new(0),
            rings: AtomicU64::new(0),
            #[cfg(target_os = "linux")]
            fork: ForkMark::new(),
        }
    }

    fn closed_words(&self) -> (&AtomicU32, &AtomicU32) {
        let (server, client) = (self.block.server_closed(), self.block.client_closed());
        match self.side {
            Side::Client => (client, server),
            Side::Server => (server, client),
        }
    }

    fn bells(&self) -> (Bell<'_, AtomicU32>, Bell<'_, AtomicU32>) {
        let (server, client) = (self.block.server_bell(), self.block.client_bell());
        match self.side {
            Side::Client => (client, server),
            Side::Server => (server, client),
        }
    }

    /// Declares the connection dead, tells the peer, and ends all waits of this end. The first reason stands.
    ///
    /// A server that finds its client corrupt does not close yet: whoever serves the client tells it why first, and dropping
    /// this end closes in any case.
    pub(crate) fn fail(&self, why: PortError) {
        let is_told = self.side == Side::Server && matches!(why, PortError::Corrupt(_));
        let _ = self.why.set(why);
        self.dead.store(true, Ordering::Release);
        // A forked child must not end its parent's connection.
        if self.forked() {
            return;
        }
        if is_told {
            self.bells().0.ring(&System);
            return;
        }
        self.closed_words().0.store(1, Ordering::Release);
        let (own, peer) = self.bells();
        own.ring(&System);
        peer.ring(&System);
    }

    /// As [`Core::fail`], for an error that ends the connection; others pass through.
    pub(crate) fn failed(&self, error: PortError) -> PortError {
        if matches!(error, PortError::Lost(_) | PortError::Corrupt(_)) {
            self.fail(error.clone());
        }
        error
    }

    /// The peer lied with a cursor.
    pub(crate) fn lied(&self, _: Lie) -> PortError {
        self.failed(PortError::Corrupt("a cursor that cannot be".into()))
    }

    /// Whether this process is a fork of the one that the connection belongs to.
    #[inline]
    pub(crate) fn forked(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.fork.as_ref().is_some_and(ForkMark::forked);
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// An error once the connection is dead or belongs to the parent of this process.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), PortError> {
        if self.dead.load(Ordering::Acquire) {
            return Err(self.reason());
        }
        if self.forked() {
            return Err(PortError::Lost("the connection belongs to the process that this one was forked from".into()));
        }
        Ok(())
    }

    #[cold]
    fn reason(&self) -> PortError {
        self.why.get().cloned().unwrap_or_else(|| PortError::Lost("closed".into()))
    }

    /// As [`Core::check`], and notices that the peer has closed. What the peer published before is still there.
    pub(crate) fn check_peer(&self) -> Result<(), PortError> {
        self.check()?;
        if self.closed_words().1.load(Ordering::Acquire) != 0 {
            let who = if self.side == Side::Client { "server" } else { "client" };
            self.fail(PortError::Lost(format!("the {who} has closed the connection")));
            return Err(self.reason());
        }
        Ok(())
    }

    /// Waits, at most `limit`, until the peer has closed: also where this end is dead already.
    pub(crate) fn await_close(&self, limit: Duration) {
        let start = Instant::now();
        while self.closed_words().1.load(Ordering::Acquire) == 0 && start.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Why the connection is lost, once it is.
    pub(crate) fn lost(&self) -> Option<String> {
        self.check_peer().err().map(|error| error.to_string())
    }

    /// Wakes the peer when it is parked.
    #[inline]
    pub(crate) fn ring_peer(&self) {
        if self.bells().1.ring(&System) {
            self.rings.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Rings the client if it sleeps for what the server has reached. Without a fence between the stores of what is reached
    /// and this, a wish of just now may be missed.
    #[inline]
    pub(crate) fn ring_for(&self, reached: Want) {
        let (applied, tail) = self.block.wishes();
        if applied.reached(reached.applied) || tail.reached(reached.tail) {
            self.ring_wishing();
        }
    }

    #[cold]
    fn ring_wishing(&self) {
        let (applied, tail) = self.block.wishes();
        applied.clear();
        tail.clear();
        self.ring_peer();
    }

    /// Wakes other threads of this end.
    pub(crate) fn ring_own(&self) {
        self.bells().0.ring(&System);
    }

    /// How often this end waited, parked and rang.
    pub(crate) fn counters(&self) -> WaitCounters {
        WaitCounters {
            waits: self.waits.load(Ordering::Relaxed),
            parks: self.parks.load(Ordering::Relaxed),
            rings: self.rings.load(Ordering::Relaxed),
        }
    }

    /// Waits until `ready` answers something, at most `limit`. What is ready wins over a connection that has died. The
    /// client passes `idle` and drains the events in it, since the server may wait for room among them.
    pub(crate) fn wait<T>(
        &self,
        limit: Duration,
        idle: Option<Idle<'_>>,
        want: impl Fn() -> Want,
        mut ready: impl FnMut() -> Result<Option<T>, PortError>,
    ) -> Result<T, PortError> {
        // A parent's words must not be waited on, nor what it has in flight be taken.
        self.check().or_else(|error| if self.forked() { Err(error) } else { Ok(()) })?;
        if let Some(found) = ready()? {
            return Ok(found);
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        // The peer must run to satisfy the wait.
        self.ring_peer();
        let start = Instant::now();
        loop {
            let mut undrained = false;
            if let Some(idle) = idle.filter(|_| self.block.has_events()) {
                idle();
                // Another thread may be draining: then this one must not spin on the fact.
                undrained = self.block.has_events();
            }
            let mut look = || match ready() {
                Ok(Some(found)) => Some(Ok(Some(found))),
                Err(error) => Some(Err(error)),
                Ok(None) if idle.is_some() && !undrained && self.block.has_events() => Some(Ok(None)),
                Ok(None) => match self.check_peer() {
                    Ok(()) => None,
                    // Once more: the peer may have answered right before it closed.
                    Err(gone) => Some(ready().and_then(|found| found.map(Some).ok_or(gone))),
                },
            };
            let seen = match self.spin.look(&mut look) {
                Some(seen) => seen,
                None => {
                    let left = limit.saturating_sub(start.elapsed());
                    if left.is_zero() {
                        return Err(PortError::TimedOut);
                    }
                    self.parks.fetch_add(1, Ordering::Relaxed);
                    let note = || {
                        let want = want();
                        let (applied, tail) = self.block.wishes();
                        for (wish, value) in [(applied, want.applied), (tail, want.tail)] {
                            if value != 0 {
                                wish.note(value);
                            }
                        }
                    };
                    let nap = if undrained { Duration::from_millis(1) } else { left };
                    match self.bells().0.park(&System, nap.min(left), note, look) {
                        Some(seen) => seen,
                        None => Ok(None),
                    }
                }
            };
            if let Some(found) = seen? {
                return Ok(found);
            }
            if start.elapsed() >= limit {
                return ready()?.ok_or(PortError::TimedOut);
            }
        }
    }

    /// Waits for the peer to make room, at most the patience of this end, after which the peer counts as lost.
    pub(crate) fn wait_patiently<T>(
        &self,
        idle: Option<Idle<'_>>,
        want: impl Fn() -> Want,
        ready: impl FnMut() -> Result<Option<T>, PortError>,
    ) -> Result<T, PortError> {
        self.wait(self.patience, idle, want, ready).map_err(|error| match error {
            PortError::TimedOut => {
                let why = format!("the peer has made no progress for {} s", self.patience.as_secs());
                self.failed(PortError::Lost(why))
            }
            error => error,
        })
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.fail(PortError::Lost("closed".into()));
    }
}
