//! Replies: answers to tickets, in any order, in parts when they are long.
//!
//! A ticket owns one slot of the board. A short answer lies in the slot's own 4 KiB. A long one passes through the rest of
//! the segment in parts that fill half of it each: while the client copies one half the server writes the other. The words
//! of a slot carry the generation of the ticket, so that an answer to a ticket that was given up is dropped and can never
//! be taken for another's.

use super::block::{Block, REPLY_SLOTS};
use super::core::{Core, Want};
use super::memory::{Incoming, Outgoing};
use crate::port::{Idle, PortError, ReplyBoard, ReplySink, ReplyTicket};
use parking_lot::Mutex;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 4096;

/// Smallest reply segment: the slots and as much again for long answers.
pub(crate) const LEAST_REPLY_BYTES: usize = 2 * REPLY_SLOTS * SLOT_BYTES;

/// Bit of the status word: another part follows.
const MORE: u64 = 1 << 32;

/// Generation and number of a part in one word. Part numbers wrap; a part and the next one always differ.
fn stamp(gen: u32, part: u32) -> u64 {
    u64::from(gen) << 32 | u64::from(part)
}

struct Slots {
    free: Vec<u32>,
    gens: Vec<u32>,
}

/// The client's half.
pub(crate) struct Board {
    core: Arc<Core>,
    segment: Incoming,
    slots: Mutex<Slots>,
}

impl Board {
    pub(crate) fn new(core: Arc<Core>, segment: Incoming) -> Board {
        // Taken from the end: a program that waits for one answer at a time uses slot 0 alone.
        let free = (0..REPLY_SLOTS as u32).rev().collect();
        Board { core, segment, slots: Mutex::new(Slots { free, gens: vec![0; REPLY_SLOTS] }) }
    }

    fn parts(
        &self,
        ticket: ReplyTicket,
        limit: Duration,
        idle: Idle<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u32, PortError> {
        let words = self.core.block.reply(ticket.slot as usize).ok_or(PortError::Corrupt("a ticket".into()))?;
        let start = Instant::now();
        let mut part = 1u32;
        loop {
            let want = stamp(ticket.gen, part);
            let left = limit.saturating_sub(start.elapsed());
            self.core
                .wait(
                    left,
                    Some(idle),
                    Want::default,
                    || Ok((words.part.load(Ordering::Acquire) == want).then_some(())),
                )
                .map_err(|error| self.core.failed(error))?;
            let status = words.status.load(Ordering::Relaxed);
            let (offset, len) = (words.offset.load(Ordering::Relaxed), words.len.load(Ordering::Relaxed));
            let window = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
            match window.and_then(|(offset, len)| self.segment.window(offset, len)) {
                Some(bytes) => take(bytes),
                None => return Err(self.core.failed(PortError::Corrupt("an answer outside its segment".into()))),
            }
            words.taken.store(want, Ordering::Release);
            if status & MORE == 0 {
                return Ok(status as u32);
            }
            self.core.ring_peer();
            part = part.wrapping_add(1);
        }
    }

    fn give_back(&self, ticket: ReplyTicket) {
        let Some(words) = self.core.block.reply(ticket.slot as usize) else { return };
        let mut slots = self.slots.lock();
        let Some(gen) = slots.gens.get_mut(ticket.slot as usize).filter(|gen| **gen == ticket.gen) else { return };
        *gen = gen.wrapping_add(1);
        if !self.core.forked() {
            words.granted.store(u64::from(*gen), Ordering::Release);
        }
        slots.free.push(ticket.slot);
        drop(slots);
        // The server may be waiting for this ticket's owner to take a part; others of the client for a slot.
        self.core.ring_peer();
        self.core.ring_own();
    }
}

impl ReplyBoard for Board {
    fn ticket(&self, idle: Idle<'_>) -> Result<ReplyTicket, PortError> {
        self.core.check()?;
        self.core.wait_patiently(Some(idle), Want::default, || {
            let mut slots = self.slots.lock();
            let Some(slot) = slots.free.pop() else { return Ok(None) };
            let Some(gen) = slots.gens.get_mut(slot as usize) else { return Ok(None) };
            // Generation 0 is the board's state before any ticket.
            *gen = gen.wrapping_add(1).max(1);
            let ticket = ReplyTicket { slot, gen: *gen };
            if let Some(words) = self.core.block.reply(slot as usize) {
                words.granted.store(u64::from(ticket.gen), Ordering::Release);
            }
            Ok(Some(ticket))
        })
    }

    fn wait(
        &self,
        ticket: ReplyTicket,
        limit: Duration,
        idle: Idle<'_>,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<u32, PortError> {
        let answer = self.parts(ticket, limit, idle, take);
        self.give_back(ticket);
        answer
    }
}

/// The part of the long-answer area that was handed out last, and to whom.
struct LongPart {
    ticket: ReplyTicket,
    part: u32,
}

/// The server's half.
pub(crate) struct Sink {
    core: Arc<Core>,
    segment: Outgoing,
    /// Who still has to take what lies in either half of the long-answer area.
    halves: [Option<LongPart>; 2],
    next_half: usize,
}

impl Sink {
    pub(crate) fn new(core: Arc<Core>, segment: Outgoing) -> Sink {
        Sink { core, segment, halves: [None, None], next_half: 0 }
    }

    fn half_bytes(&self) -> usize {
        ((self.segment.len() - REPLY_SLOTS * SLOT_BYTES) / 2) & !(SLOT_BYTES - 1)
    }

    /// Whether a ticket has been given up.
    fn abandoned(block: &Block, ticket: ReplyTicket) -> bool {
        block
            .reply(ticket.slot as usize)
            .is_none_or(|words| words.granted.load(Ordering::Acquire) != u64::from(ticket.gen))
    }

    /// Waits until nobody needs what lies in a half.
    fn wait_for_half(&mut self, half: usize) -> Result<(), PortError> {
        let Some(LongPart { ticket, part }) = self.halves.get_mut(half).and_then(Option::take) else { return Ok(()) };
        let Some(words) = self.core.block.reply(ticket.slot as usize) else { return Ok(()) };
        let block = &self.core.block;
        self.core.wait_patiently(None, Want::default, || {
            let taken = words.taken.load(Ordering::Acquire) == stamp(ticket.gen, part);
            Ok((taken || Self::abandoned(block, ticket)).then_some(()))
        })
    }

    fn show(&self, ticket: ReplyTicket, part: u32, status: u64, offset: usize, len: usize) {
        if let Some(words) = self.core.block.reply(ticket.slot as usize) {
            words.status.store(status, Ordering::Relaxed);
            words.offset.store(offset as u64, Ordering::Relaxed);
            words.len.store(len as u64, Ordering::Relaxed);
            words.part.store(stamp(ticket.gen, part), Ordering::Release);
            self.core.ring_peer();
        }
    }
}

impl ReplySink for Sink {
    fn reply(&mut self, ticket: ReplyTicket, status: u32, bytes: &[u8]) -> Result<(), PortError> {
        let outside = || PortError::Corrupt("a place outside its segment".into());
        let slot = ticket.slot as usize;
        if slot >= REPLY_SLOTS || ticket.gen == 0 {
            return Err(self.core.failed(PortError::Corrupt("a ticket that cannot be".into())));
        }
        if Self::abandoned(&self.core.block, ticket) {
            return Ok(());
        }
        if bytes.len() <= SLOT_BYTES {
            let at = slot * SLOT_BYTES;
            self.segment.window(at, bytes.len()).ok_or_else(outside)?.copy_from_slice(bytes);
            self.show(ticket, 1, u64::from(status), at, bytes.len());
            return Ok(());
        }
        let mut part = 0u32;
        let mut rest = bytes;
        while !rest.is_empty() {
            part = part.wrapping_add(1);
            let half = self.next_half;
            self.next_half = 1 - half;
            self.wait_for_half(half)?;
            let (now, later) = rest.split_at(rest.len().min(self.half_bytes()));
            let at = REPLY_SLOTS * SLOT_BYTES + half * self.half_bytes();
            self.segment.window(at, now.len()).ok_or_else(outside)?.copy_from_slice(now);
            // The words of the slot hold one part: the one before must have been taken, which its owner did meanwhile.
            if part > 1 {
                self.wait_for_half(1 - half)?;
                if Self::abandoned(&self.core.block, ticket) {
                    return Ok(());
                }
            }
            if let Some(place) = self.halves.get_mut(half) {
                *place = Some(LongPart { ticket, part });
            }
            let more = if later.is_empty() { 0 } else { MORE };
            self.show(ticket, part, u64::from(status) | more, at, now.len());
            rest = later;
        }
        Ok(())
    }
}
