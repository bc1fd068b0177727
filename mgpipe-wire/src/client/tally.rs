//! What the connections of a backend have counted: words that are added to where something slow happens anyway.

use crate::message::control;
use crate::port::{ClientLink, Mark, WaitCounters};
use crate::stats::{LinkFigures, LinkSource, WireFigures};
use mgpipe_types::CALLS;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The link that is in use, and how much was published on it.
#[derive(Default)]
struct Live {
    link: Option<Arc<dyn ClientLink>>,
    past: WaitCounters,
}

/// Counters of all connections that a backend made, one after the other.
pub(crate) struct Tally {
    live: Mutex<Live>,
    connections: AtomicU64,
    /// Records and frames that were published on the present connection.
    records: AtomicU64,
    frames: AtomicU64,
    /// Records of earlier connections.
    past_records: AtomicU64,
    record_bytes: AtomicU64,
    stage_bytes: AtomicU64,
    escalations: AtomicU64,
    mapping_uploads: AtomicU64,
    mapping_bytes: AtomicU64,
    round_trips: [AtomicU64; CALLS.len()],
    screens: AtomicU64,
    contexts: AtomicU64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            live: Mutex::default(),
            connections: AtomicU64::new(0),
            records: AtomicU64::new(0),
            frames: AtomicU64::new(0),
            past_records: AtomicU64::new(0),
            record_bytes: AtomicU64::new(0),
            stage_bytes: AtomicU64::new(0),
            escalations: AtomicU64::new(0),
            mapping_uploads: AtomicU64::new(0),
            mapping_bytes: AtomicU64::new(0),
            round_trips: std::array::from_fn(|_| AtomicU64::new(0)),
            screens: AtomicU64::new(0),
            contexts: AtomicU64::new(0),
        }
    }
}

fn get(word: &AtomicU64) -> u64 {
    word.load(Ordering::Relaxed)
}

fn add(word: &AtomicU64, more: u64) {
    word.fetch_add(more, Ordering::Relaxed);
}

impl Tally {
    /// A connection begins.
    pub(crate) fn connected(&self, link: Arc<dyn ClientLink>) {
        let mut live = self.live.lock();
        self.end(&mut live);
        live.link = Some(link);
        add(&self.connections, 1);
    }

    /// The connection with this link is over.
    pub(crate) fn disconnected(&self, link: &Arc<dyn ClientLink>) {
        let mut live = self.live.lock();
        if live.link.as_ref().is_some_and(|live| Arc::ptr_eq(live, link)) {
            self.end(&mut live);
        }
    }

    fn end(&self, live: &mut Live) {
        let Some(link) = live.link.take() else { return };
        let waits = link.waits();
        live.past.waits += waits.waits;
        live.past.parks += waits.parks;
        live.past.rings += waits.rings;
        add(&self.past_records, self.records.swap(0, Ordering::Relaxed));
        self.frames.store(0, Ordering::Relaxed);
    }

    /// Records up to an ordinal were published, with these bytes since the last time.
    pub(crate) fn published(&self, records: u64, bytes: usize) {
        self.records.store(records, Ordering::Relaxed);
        add(&self.record_bytes, bytes as u64);
    }

    /// So many frames have ended on the present connection.
    pub(crate) fn frames(&self, frames: u64) {
        self.frames.store(frames, Ordering::Relaxed);
    }

    /// Bytes were staged.
    pub(crate) fn staged(&self, bytes: usize) {
        add(&self.stage_bytes, bytes as u64);
    }

    /// A record of this kind is about to be answered.
    pub(crate) fn round_trip(&self, kind: u16) {
        match kind {
            control::OPEN_SCREEN => add(&self.screens, 1),
            control::CREATE_CONTEXT => add(&self.contexts, 1),
            opcode => {
                if let Some(word) = self.round_trips.get(usize::from(opcode).wrapping_sub(1)) {
                    add(word, 1);
                }
            }
        }
    }

    /// Polls were in vain, and the server is asked.
    pub(crate) fn escalated(&self) {
        add(&self.escalations, 1);
    }

    /// Bytes that the application wrote through a mapping are uploaded.
    pub(crate) fn mapping_upload(&self, bytes: usize) {
        add(&self.mapping_uploads, 1);
        add(&self.mapping_bytes, bytes as u64);
    }
}

impl LinkSource for Tally {
    fn figures(&self) -> LinkFigures {
        let (past, now) = {
            let live = self.live.lock();
            (live.past, live.link.as_ref().map(|link| link.waits()).unwrap_or_default())
        };
        LinkFigures {
            waits: past.waits + now.waits,
            parks: past.parks + now.parks,
            doorbells: past.rings + now.rings,
            wire: WireFigures {
                connections: get(&self.connections),
                records: get(&self.past_records) + get(&self.records),
                record_bytes: get(&self.record_bytes),
                stage_bytes: get(&self.stage_bytes),
                escalations: get(&self.escalations),
                mapping_uploads: get(&self.mapping_uploads),
                mapping_bytes: get(&self.mapping_bytes),
                round_trips: std::array::from_fn(|at| get(&self.round_trips[at])),
                screens: get(&self.screens),
                contexts: get(&self.contexts),
            },
        }
    }

    fn lag(&self) -> (u64, u64) {
        let live = self.live.lock();
        let Some(link) = &live.link else { return (0, 0) };
        let behind = |published: &AtomicU64, mark: Mark| get(published).saturating_sub(link.mark(mark));
        (behind(&self.frames, Mark::Frames), behind(&self.records, Mark::Applied))
    }
}
