//! The event ring: the reverse channel, from any thread of the server to the client.
//!
//! Each event is a length and its bytes. When there is no room, a lossy event is counted and dropped; any other waits: the
//! server says so in a word, wakes the client, and goes on when the client has drained, which it does in all its waits.

use super::core::{Core, Want};
use super::cursor::{Reader, Writer};
use super::memory::{Incoming, Outgoing};
use crate::port::{EventSink, EventSource, Mark, PortError, WaitCounters};
use parking_lot::Mutex;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// A length that says: nothing up to the ring's end.
const SKIP: u64 = u64::MAX;

/// Bytes of the length.
const LENGTH_BYTES: usize = 8;

struct Half {
    ring: Outgoing,
    writer: Writer,
}

/// The server's half.
pub(crate) struct Sink {
    core: Arc<Core>,
    half: Mutex<Half>,
    max_event: usize,
}

impl Sink {
    pub(crate) fn new(core: Arc<Core>, ring: Outgoing) -> Sink {
        let writer = Writer::new(ring.len());
        let max_event = ring.len() / 4 - LENGTH_BYTES;
        Sink { core, half: Mutex::new(Half { ring, writer }), max_event }
    }

    fn write(&self, bytes: &[u8], lossy: bool) -> Result<bool, PortError> {
        self.core.check()?;
        let mut half = self.half.lock();
        let Half { ring, writer } = &mut *half;
        let tail = self.core.block.event_tail();
        let need = LENGTH_BYTES + bytes.len();
        let mut fit = || writer.fit(need, tail).map_err(|lie| self.core.lied(lie));
        let fit = match fit()? {
            Some(fit) => fit,
            None if lossy => {
                self.core.block.events_dropped().fetch_add(1, Ordering::Relaxed);
                return Ok(false);
            }
            None => {
                self.core.wait_patiently(None, Want::default, || {
                    // Set before each look, since the client clears it whenever it has drained.
                    self.core.block.event_full().store(1, Ordering::SeqCst);
                    fit()
                })?
            }
        };
        let outside = || PortError::Corrupt("a place outside its segment".into());
        if fit.skip > 0 {
            ring.window(writer.place(), LENGTH_BYTES).ok_or_else(outside)?.copy_from_slice(&SKIP.to_ne_bytes());
            writer.advance(fit.skip);
        }
        let window = ring.window(fit.at, need).ok_or_else(outside)?;
        let (length, body) = window.split_at_mut(LENGTH_BYTES);
        length.copy_from_slice(&(bytes.len() as u64).to_ne_bytes());
        body.copy_from_slice(bytes);
        writer.advance(need);
        writer.publish(self.core.block.event_head());
        drop(half);
        self.core.ring_peer();
        Ok(true)
    }
}

impl EventSink for Sink {
    fn max_event(&self) -> usize {
        self.max_event
    }

    fn event(&self, bytes: &[u8], lossy: bool) -> bool {
        bytes.len() % 8 == 0 && bytes.len() <= self.max_event && self.write(bytes, lossy).unwrap_or(false)
    }

    fn raise(&self, mark: Mark, value: u64) {
        // Several threads may raise a mark: it never falls.
        self.core.block.mark(mark).fetch_max(value, Ordering::AcqRel);
        self.core.ring_peer();
    }

    fn waits(&self) -> WaitCounters {
        self.core.counters()
    }
}

/// The client's half.
pub(crate) struct Source {
    core: Arc<Core>,
    ring: Incoming,
    reader: Reader,
}

impl Source {
    pub(crate) fn new(core: Arc<Core>, ring: Incoming) -> Source {
        let reader = Reader::new(ring.len());
        Source { core, ring, reader }
    }

    fn take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, PortError> {
        let corrupt = |what: &str| PortError::Corrupt(what.into());
        let head = self.core.block.event_head();
        loop {
            let available = self.reader.available(head).map_err(|lie| self.core.lied(lie))?;
            if available == 0 {
                return Ok(false);
            }
            let place = self.reader.place();
            let length = self.ring.window(place, LENGTH_BYTES).ok_or_else(|| corrupt("an event"))?;
            let length = u64::from_ne_bytes(length.try_into().unwrap_or_default());
            if length == SKIP {
                self.reader.advance(available.min(self.ring.len() - place));
                continue;
            }
            let room = (available - LENGTH_BYTES) as u64;
            let body = usize::try_from(length).ok().filter(|_| length <= room && length % 8 == 0);
            let body = body.ok_or_else(|| corrupt("an event that is longer than what was published"))?;
            // Handed out where it lies: what the server may write here is what the client believes in any case.
            take(self.ring.window(place + LENGTH_BYTES, body).ok_or_else(|| corrupt("an event"))?);
            self.reader.advance(LENGTH_BYTES + body);
            return Ok(true);
        }
    }
}

impl EventSource for Source {
    fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, PortError> {
        if self.core.forked() {
            return Ok(false);
        }
        let found = self.take(take).map_err(|error| self.core.failed(error))?;
        self.reader.release(self.core.block.event_tail());
        if !found && self.core.block.event_full().swap(0, Ordering::SeqCst) != 0 {
            self.core.ring_peer();
        }
        Ok(found)
    }
}
