//! Ends whose peer writes whatever it likes into the shared memory: errors, never a panic, a hang or a stray access.

use crate::channel::assemble::{client_core, client_end, server_core, server_end, Segments};
use crate::channel::block::{Block, BLOCK_BYTES};
use crate::channel::command::LARGEST_RECORD;
use crate::channel::memory::{Outgoing, Region};
use crate::channel::reply::LEAST_REPLY_BYTES;
use crate::channel::stage::{AnnounceHere, StageTable};
use crate::channel::Tuning;
use crate::port::{ClientEnd, Mark, PortError, ServerEnd, StageRange};
use crate::record::RecordHeader;
use proptest::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

const UNIT: usize = 1 << 16;
const SHORT: Duration = Duration::from_millis(1);

/// The shared memory of a connection, and hands on it.
struct Memory {
    block: Arc<Region>,
    commands: Arc<Region>,
    stage: Arc<Region>,
    replies: Arc<Region>,
    events: Arc<Region>,
}

impl Memory {
    fn new() -> Memory {
        let region = |bytes| Arc::new(Region::private(bytes).expect("memory"));
        Memory {
            block: region(BLOCK_BYTES),
            commands: region(UNIT),
            stage: region(UNIT),
            replies: region(LEAST_REPLY_BYTES),
            events: region(UNIT),
        }
    }

    fn segments(&self) -> Segments {
        Segments {
            commands: self.commands.clone(),
            stage: self.stage.clone(),
            replies: self.replies.clone(),
            events: self.events.clone(),
        }
    }

    fn tuning() -> Tuning {
        Tuning { spin: Some(Duration::ZERO), patience: Duration::from_millis(20) }
    }

    fn server(&self) -> ServerEnd {
        let core = server_core(self.block.clone(), Self::tuning()).expect("a block");
        server_end(core, self.segments(), Arc::new(StageTable::default())).expect("segments")
    }

    fn client(&self) -> ClientEnd {
        let core = client_core(self.block.clone(), Self::tuning()).expect("a block");
        let table = Arc::new(StageTable::default());
        client_end(core, self.segments(), UNIT, Box::new(AnnounceHere(table))).expect("segments")
    }

    fn words(&self) -> Block {
        Block::new(self.block.clone()).expect("a block")
    }
}

fn poke(region: &Arc<Region>, at: usize, bytes: &[u8]) {
    let mut outgoing = Outgoing::new(region.clone()).expect("writable");
    outgoing.window(at, bytes.len()).expect("inside").copy_from_slice(bytes);
}

/// Takes records until the end says something else; true when it said that the stream is corrupt.
fn take_all(server: &mut ServerEnd) -> bool {
    let (mut record, start) = (Vec::new(), Instant::now());
    for _ in 0..=UNIT / 8 {
        match server.commands.next(&mut record, SHORT) {
            Ok(true) => {
                let header: RecordHeader = bytemuck::cast(record[0]);
                assert_eq!(header.size as usize, record.len() * 8, "a record is what it says");
                server.commands.retire();
            }
            Ok(false) => return false,
            Err(PortError::Corrupt(_)) => return true,
            Err(error) => panic!("{error}"),
        }
        assert!(start.elapsed() < Duration::from_secs(30));
    }
    panic!("more records than the ring has room for")
}

/// A stream of records with their sizes, one of them in STAGE.
fn stream() -> Vec<u8> {
    let mut bytes = Vec::new();
    for ordinal in 0..40usize {
        let size = 8 + ordinal * 8;
        bytes.extend_from_slice(bytemuck::bytes_of(&RecordHeader { kind: 1, flags: 0, size: size as u32 }));
        bytes.resize(bytes.len() + size - 8, ordinal as u8);
    }
    let range = StageRange { offset: 64, size: 24, segment: 0, pad: 0 };
    bytes.extend_from_slice(bytemuck::bytes_of(&RecordHeader { kind: 0xfffe, flags: 0, size: 32 }));
    bytes.extend_from_slice(bytemuck::bytes_of(&range));
    bytes
}

fn with_stream(bytes: &[u8], head: u64) -> (Memory, ServerEnd) {
    let memory = Memory::new();
    poke(&memory.commands, 0, bytes);
    poke(&memory.stage, 64, bytemuck::bytes_of(&RecordHeader { kind: 1, flags: 0, size: 24 }));
    memory.words().command_head().store(head, Ordering::Release);
    let server = memory.server();
    (memory, server)
}

#[test]
fn an_honest_stream_is_read_to_its_end() {
    let bytes = stream();
    let (memory, mut server) = with_stream(&bytes, bytes.len() as u64);
    assert!(!take_all(&mut server));
    assert_eq!(memory.words().mark(Mark::Applied).load(Ordering::Acquire), 41);
}

#[test]
fn every_flipped_byte_of_a_stream_is_survived() {
    let bytes = stream();
    let mut corrupt = 0;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            let (_memory, mut server) = with_stream(&bytes, bytes.len() as u64);
            corrupt += u32::from(take_all(&mut server));
        }
    }
    assert!(corrupt > 40, "sizes are checked: {corrupt}");
}

#[test]
fn a_stream_that_is_cut_or_goes_too_far_is_corrupt() {
    let bytes = stream();
    for cut in (8..bytes.len()).step_by(8) {
        let (_memory, mut server) = with_stream(&bytes, cut as u64);
        take_all(&mut server);
    }
    for head in [bytes.len() as u64 + 8, UNIT as u64 + 8, 4 << 30, u64::MAX, 3] {
        let (_memory, mut server) = with_stream(&bytes, head);
        assert!(take_all(&mut server), "{head}");
        assert!(matches!(server.commands.next(&mut Vec::new(), SHORT), Err(PortError::Corrupt(_))), "sticky");
    }
}

#[test]
fn a_record_of_four_gigabytes_is_corrupt() {
    for size in [0xffff_fff8u32, 1 << 31, UNIT as u32 + 8] {
        let header = RecordHeader { kind: 1, flags: 0, size };
        let (_memory, mut server) = with_stream(bytemuck::bytes_of(&header), UNIT as u64);
        assert!(take_all(&mut server), "{size}");
    }
}

/// A record is copied before anything of it is known, so its size has a limit of its own.
#[test]
fn a_record_in_stage_may_not_be_as_large_as_stage() {
    let stage_bytes = LARGEST_RECORD + UNIT;
    for (size, is_fine) in [(LARGEST_RECORD, true), (LARGEST_RECORD + 8, false)] {
        let memory = Memory { stage: Arc::new(Region::private(stage_bytes).expect("memory")), ..Memory::new() };
        poke(&memory.stage, 0, bytemuck::bytes_of(&RecordHeader { kind: 1, flags: 0, size: size as u32 }));
        let range = StageRange { offset: 0, size: size as u64, segment: 0, pad: 0 };
        poke(&memory.commands, 0, bytemuck::bytes_of(&RecordHeader { kind: 0xfffe, flags: 0, size: 32 }));
        poke(&memory.commands, 8, bytemuck::bytes_of(&range));
        memory.words().command_head().store(32, Ordering::Release);
        let mut server = memory.server();
        let mut record = Vec::new();
        match server.commands.next(&mut record, SHORT) {
            Ok(true) => assert!(is_fine && record.len() * 8 == size),
            Err(PortError::Corrupt(_)) => assert!(!is_fine && record.capacity() == 0, "nothing was copied"),
            other => panic!("{size}: {other:?}"),
        }
    }
}

/// A skip that covers nothing, repeated, must not keep the reader in its loop.
#[test]
fn skips_that_lead_nowhere_end() {
    let skip = RecordHeader { kind: 0xffff, flags: 0, size: 8 };
    let bytes = bytemuck::bytes_of(&skip).repeat(UNIT / 8);
    let (_memory, mut server) = with_stream(&bytes, UNIT as u64);
    assert!(take_all(&mut server));
    let whole = RecordHeader { kind: 0xffff, flags: 0, size: UNIT as u32 };
    let (_memory, mut server) = with_stream(bytemuck::bytes_of(&whole), UNIT as u64);
    assert!(!take_all(&mut server), "one skip of the whole ring is odd and harmless");
}

#[test]
fn a_server_that_applies_more_than_was_sent_is_corrupt() {
    let memory = Memory::new();
    let mut client = memory.client();
    memory.words().mark(Mark::Applied).store(7, Ordering::Release);
    assert!(matches!(client.commands.stage(64, &|| {}), Err(PortError::Corrupt(_))));
    let memory = Memory::new();
    let mut client = memory.client();
    memory.words().command_tail().store(64, Ordering::Release);
    let error = loop {
        match client.commands.reserve(8192, &|| {}) {
            Ok(_) => _ = client.commands.commit(),
            Err(error) => break error,
        }
    };
    // The lie is noticed once the tail is looked at: it may be a possible one by then, but nobody goes on.
    assert!(matches!(error, PortError::Corrupt(_) | PortError::Lost(_)), "{error}");
    assert!(client.link.lost().is_some());
}

#[test]
fn answers_outside_the_segment_are_corrupt() {
    for (offset, len) in [(u64::MAX, 1), (LEAST_REPLY_BYTES as u64, 1), (0, u64::MAX), (8, LEAST_REPLY_BYTES as u64)] {
        let memory = Memory::new();
        let client = memory.client();
        let ticket = client.replies.ticket(&|| {}).expect("a slot");
        let block = memory.words();
        let words = block.reply(ticket.slot as usize).expect("a slot");
        words.offset.store(offset, Ordering::Relaxed);
        words.len.store(len, Ordering::Relaxed);
        words.part.store(u64::from(ticket.gen) << 32 | 1, Ordering::Release);
        let answer = client.replies.wait(ticket, Duration::from_secs(9), &|| {}, &mut |_| panic!("nothing is there"));
        assert!(matches!(answer, Err(PortError::Corrupt(_))), "{answer:?}");
    }
}

/// An answer whose parts never end is ended by the limit of the wait.
#[test]
fn an_answer_without_an_end_ends() {
    let memory = Memory::new();
    let client = memory.client();
    let ticket = client.replies.ticket(&|| {}).expect("a slot");
    let block = memory.words();
    let words = block.reply(ticket.slot as usize).expect("a slot");
    words.status.store(1 << 32, Ordering::Relaxed);
    words.part.store(u64::from(ticket.gen) << 32 | 1, Ordering::Release);
    let answer = client.replies.wait(ticket, Duration::from_millis(20), &|| {}, &mut |_| {});
    assert_eq!(answer, Err(PortError::TimedOut));
}

#[test]
fn a_client_that_never_takes_its_answer_is_lost() {
    let memory = Memory::new();
    let (mut server, client) = (memory.server(), memory.client());
    let ticket = client.replies.ticket(&|| {}).expect("a slot");
    let start = Instant::now();
    let lost = server.replies.reply(ticket, 0, &vec![0; 4 << 20]);
    assert!(matches!(lost, Err(PortError::Lost(_))), "{lost:?}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_client_that_never_drains_its_events_is_lost() {
    let memory = Memory::new();
    let server = memory.server();
    let start = Instant::now();
    while server.events.event(&[0; 4096], false) {}
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(!server.events.event(&[0; 8], false), "for good");
    assert_ne!(memory.words().event_full().load(Ordering::Acquire), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_commands_panic(words in prop::collection::vec(any::<u64>(), 0..600), head in 0u64..5000, small in any::<bool>()) {
        // Half of the cases have sizes that lead on to the next record.
        let words: Vec<u64> =
            words.iter().map(|word| if small { word & 0x0000_00ff_ffff_ffff | 8 << 32 } else { *word }).collect();
        let (_memory, mut server) = with_stream(bytemuck::cast_slice(&words), head * 8);
        take_all(&mut server);
    }

    #[test]
    fn no_events_panic(words in prop::collection::vec(prop_oneof![0u64..64, any::<u64>()], 0..600), head in any::<u64>()) {
        for head in [head, head % 8192 * 8] {
            let memory = Memory::new();
            poke(&memory.events, 0, bytemuck::cast_slice(&words));
            memory.words().event_head().store(head, Ordering::Release);
            let mut client = memory.client();
            let mut events = 0;
            while let Ok(true) = client.events.next(&mut |_| ()) {
                events += 1;
                prop_assert!(events <= UNIT / 8);
            }
        }
    }
}
