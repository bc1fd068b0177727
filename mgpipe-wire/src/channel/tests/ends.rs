//! Both ends in one process, with segments as small as they get.

use crate::channel::block::REPLY_SLOTS;
use crate::channel::reply::LEAST_REPLY_BYTES;
use crate::channel::{local_pair, SegmentSizes, Tuning};
use crate::port::{ClientEnd, CommandSink, Mark, PortError, ReplyTicket, ServerEnd};
use crate::record::RecordHeader;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const UNIT: usize = 1 << 16;
const LONG: Duration = Duration::from_secs(30);

fn small() -> SegmentSizes {
    let (commands, stage, stage_limit, events) = (UNIT, UNIT, 4 * UNIT, UNIT);
    SegmentSizes { commands, stage, stage_limit, replies: LEAST_REPLY_BYTES, events }
}

fn pair(patience: Duration) -> (ClientEnd, ServerEnd) {
    local_pair(small(), Tuning { spin: None, patience }).expect("memory")
}

/// Writes one record of `bytes` with words that follow from `seed`.
fn send(sink: &mut dyn CommandSink, bytes: usize, seed: u64) -> Result<u64, PortError> {
    let record = sink.reserve(bytes, &|| {})?;
    assert_eq!((record.len(), record.as_ptr() as usize % 8), (bytes, 0));
    let header = RecordHeader { kind: 1, flags: 0, size: bytes as u32 };
    record[..8].copy_from_slice(bytemuck::bytes_of(&header));
    for (at, word) in record[8..].chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(seed + at as u64).to_ne_bytes());
    }
    Ok(sink.commit())
}

fn is_record(record: &[u64], bytes: usize, seed: u64) -> bool {
    record.len() == bytes / 8 && record[1..].iter().enumerate().all(|(at, word)| *word == seed + at as u64)
}

/// Record sizes of every kind: tiny, some that skip the ring's end, larger than a quarter of the ring.
fn size_of(ordinal: u64) -> usize {
    match ordinal % 97 {
        5 => UNIT / 4,
        6 => UNIT / 4 + 8,
        50 => 2 * UNIT + 8,
        n => 8 + 8 * (n as usize * 37 % 300),
    }
}

#[test]
fn records_of_all_sizes_arrive_in_order() {
    let (mut client, mut server) = pair(LONG);
    let applying = std::thread::spawn(move || {
        let mut record = Vec::new();
        for ordinal in 1..=20_000 {
            assert!(server.commands.next(&mut record, LONG).expect("alive"), "record {ordinal}");
            assert!(is_record(&record, size_of(ordinal), ordinal), "record {ordinal}");
            server.commands.retire();
        }
        let end = server.commands.next(&mut record, LONG);
        assert!(matches!(end, Err(PortError::Lost(_))), "the client went away: {end:?}");
    });
    for ordinal in 1..=20_000 {
        assert_eq!(send(&mut *client.commands, size_of(ordinal), ordinal), Ok(ordinal));
        if ordinal % 64 == 0 {
            client.commands.doorbell();
        }
    }
    client.commands.doorbell();
    client.link.wait_mark(Mark::Applied, 20_000, LONG, &|| {}).expect("applied");
    drop(client);
    applying.join().expect("the server's thread");
}

#[test]
fn staged_bytes_are_whole_and_reused_only_after_their_record() {
    let (mut client, mut server) = pair(LONG);
    let applying = std::thread::spawn(move || {
        let mut record = Vec::new();
        for ordinal in 1u64..=3_000 {
            assert!(server.commands.next(&mut record, LONG).expect("alive"));
            let range = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&record[1..4]));
            let bytes = server.commands.resolve(range).expect("inside");
            assert_eq!(bytes.len(), (ordinal as usize * 7919) % (2 * UNIT));
            assert!(bytes.iter().all(|byte| *byte == ordinal as u8), "record {ordinal}");
            server.commands.retire();
        }
    });
    for ordinal in 1u64..=3_000 {
        let (range, bytes) = client.commands.stage((ordinal as usize * 7919) % (2 * UNIT), &|| {}).expect("room");
        bytes.fill(ordinal as u8);
        let record = client.commands.reserve(32, &|| {}).expect("room");
        record[..8].copy_from_slice(bytemuck::bytes_of(&RecordHeader { kind: 1, flags: 0, size: 32 }));
        record[8..].copy_from_slice(bytemuck::bytes_of(&range));
        assert_eq!(client.commands.commit(), ordinal);
        client.commands.doorbell();
    }
    applying.join().expect("the server's thread");
    assert!(matches!(client.commands.stage(4 * UNIT + 1, &|| {}), Err(PortError::TooLarge(_))));
}

#[test]
fn a_server_that_stops_is_lost_after_patience_and_not_before() {
    let (mut client, server) = pair(Duration::from_millis(100));
    let start = Instant::now();
    let idles = AtomicUsize::new(0);
    let error = loop {
        let idle = || {
            idles.fetch_add(1, Ordering::Relaxed);
        };
        match client.commands.reserve(4096, &idle) {
            Ok(record) => {
                record[..8].copy_from_slice(bytemuck::bytes_of(&RecordHeader { kind: 1, flags: 0, size: 4096 }))
            }
            Err(error) => break error,
        }
        client.commands.commit();
    };
    assert!(matches!(error, PortError::Lost(_)), "{error:?}");
    assert!((Duration::from_millis(100)..LONG).contains(&start.elapsed()));
    assert_eq!(client.commands.reserve(8, &|| {}).map(|_| ()), Err(error.clone()), "sticky");
    assert!(client.link.lost().is_some());
    drop(server);
}

#[test]
fn the_end_of_either_side_ends_every_wait() {
    let (client, server) = pair(LONG);
    let ticket = client.replies.ticket(&|| {}).expect("a slot");
    let dying = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        drop(server);
    });
    let start = Instant::now();
    let lost = client.replies.wait(ticket, LONG, &|| {}, &mut |_| {});
    assert!(matches!(lost, Err(PortError::Lost(_))), "{lost:?}");
    assert!(start.elapsed() < LONG / 2);
    dying.join().expect("joined");

    let (client, mut server) = pair(LONG);
    let dying = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        client.link.close("enough");
        assert_eq!(client.link.lost().as_deref(), Some("the connection was lost: enough"));
    });
    let start = Instant::now();
    let lost = server.commands.next(&mut Vec::new(), LONG);
    assert!(matches!(lost, Err(PortError::Lost(_))), "{lost:?}");
    assert!(start.elapsed() < LONG / 2);
    dying.join().expect("joined");
}

#[test]
fn answers_come_in_any_order_and_any_length() {
    let (client, mut server) = pair(LONG);
    let lengths = [0usize, 8, 4096, 4097, 700_000, 5_000_000];
    let tickets: Vec<ReplyTicket> = lengths.iter().map(|_| client.replies.ticket(&|| {}).expect("a slot")).collect();
    let reversed: Vec<_> = tickets.iter().copied().zip(lengths).rev().collect();
    let answering = std::thread::spawn(move || {
        for (ticket, length) in reversed {
            let bytes: Vec<u8> = (0..length).map(|at| (at / 3) as u8).collect();
            server.replies.reply(ticket, length as u32, &bytes).expect("alive");
        }
        server
    });
    // Long answers wait for their owner, so each has its own thread, as it would in an application.
    std::thread::scope(|scope| {
        for (ticket, length) in tickets.iter().copied().zip(lengths) {
            let board = client.replies.clone();
            scope.spawn(move || {
                let mut got = Vec::new();
                let status = board.wait(ticket, LONG, &|| {}, &mut |part| got.extend_from_slice(part));
                assert_eq!(status, Ok(length as u32));
                assert!(got.len() == length && got.iter().enumerate().all(|(at, byte)| *byte == (at / 3) as u8));
            });
        }
    });
    drop(answering.join().expect("the server's thread"));
}

#[test]
fn an_answer_to_a_ticket_that_was_given_up_is_dropped() {
    let (client, mut server) = pair(LONG);
    let old = client.replies.ticket(&|| {}).expect("a slot");
    let gone = client.replies.wait(old, Duration::from_millis(20), &|| {}, &mut |_| {});
    assert_eq!(gone, Err(PortError::TimedOut));
    let new = client.replies.ticket(&|| {}).expect("a slot");
    assert_eq!(new.slot, old.slot, "the slot is used again");
    server.replies.reply(old, 1, b"late").expect("dropped");
    server.replies.reply(old, 1, &vec![0; 3 << 20]).expect("dropped without waiting for anybody");
    server.replies.reply(new, 2, b"right").expect("alive");
    let mut got = Vec::new();
    assert_eq!(client.replies.wait(new, LONG, &|| {}, &mut |part| got.extend_from_slice(part)), Ok(2));
    assert_eq!(got, b"right");
    // A long answer whose owner goes away in the middle does not hold the server.
    let owner = client.replies.ticket(&|| {}).expect("a slot");
    let board = client.replies.clone();
    let leaving = std::thread::spawn(move || {
        board.wait(owner, Duration::from_millis(50), &|| {}, &mut |_| {
            std::thread::sleep(Duration::from_millis(100));
        })
    });
    server.replies.reply(owner, 0, &vec![0; 3 << 20]).expect("dropped in the middle");
    leaving.join().expect("joined").expect_err("the limit");
    for bad in [ReplyTicket { slot: REPLY_SLOTS as u32, gen: 1 }, ReplyTicket { slot: 0, gen: 0 }] {
        assert!(server.replies.reply(bad, 0, b"").is_err(), "{bad:?}");
    }
}

#[test]
fn when_all_slots_are_taken_the_next_ticket_waits() {
    let (client, mut server) = pair(LONG);
    let mut tickets: Vec<_> = (0..REPLY_SLOTS).map(|_| client.replies.ticket(&|| {}).expect("a slot")).collect();
    let board = client.replies.clone();
    let waiting = std::thread::spawn(move || board.ticket(&|| {}).map(|_| ()));
    std::thread::sleep(Duration::from_millis(20));
    assert!(!waiting.is_finished());
    let first = tickets.remove(0);
    server.replies.reply(first, 0, b"").expect("alive");
    client.replies.wait(first, LONG, &|| {}, &mut |_| {}).expect("answered");
    waiting.join().expect("joined").expect("the freed slot");
}

#[test]
fn events_arrive_in_order_and_only_lossy_ones_are_dropped() {
    let (mut client, server) = pair(LONG);
    let events = server.events.clone();
    assert!(!client.link.has_events());
    assert!(!events.event(&vec![0; events.max_event() + 8], false), "too long");
    let mut sent = 0u64;
    while events.event(&vec![sent as u8; 1000], true) {
        sent += 1;
    }
    assert!(sent > 20 && client.link.has_events());
    // The ring is full: an event that must arrive waits for the drain.
    let sending = std::thread::spawn(move || {
        for number in sent..sent + 500 {
            assert!(events.event(&vec![number as u8; 1000], false));
        }
    });
    let mut got = 0u64;
    let start = Instant::now();
    while got < sent + 500 {
        let more = client.events.next(&mut |event| {
            assert!(event.len() == 1000 && event.iter().all(|byte| *byte == got as u8), "event {got}");
        });
        got += u64::from(more.expect("alive"));
        assert!(start.elapsed() < LONG, "{got} of {sent} + 500");
    }
    sending.join().expect("joined");
    assert!(!client.link.has_events());
}

/// The dead end that the waits must not have: the client waits for a mark while the server waits for room among the events.
#[test]
fn a_full_event_ring_under_a_waiting_client_resolves() {
    let (client, server) = pair(LONG);
    let ClientEnd { events, link, .. } = client;
    let sending = std::thread::spawn(move || {
        for _ in 0..1_000 {
            assert!(server.events.event(&[7; 1024], false));
        }
        server.events.raise(Mark::Frames, 1);
        server
    });
    let events = parking_lot::Mutex::new(events);
    let drained = AtomicUsize::new(0);
    let drain = || {
        while events.lock().next(&mut |_| ()).expect("alive") {
            drained.fetch_add(1, Ordering::Relaxed);
        }
    };
    link.wait_mark(Mark::Frames, 1, LONG, &drain).expect("raised");
    drain();
    assert_eq!(drained.into_inner(), 1_000);
    drop(sending.join().expect("joined"));
}

#[test]
fn marks_never_fall_and_waits_for_them_end_in_time() {
    let (client, server) = pair(LONG);
    server.events.raise(Mark::Retired, 5);
    server.events.raise(Mark::Retired, 3);
    assert_eq!(client.link.mark(Mark::Retired), 5);
    let start = Instant::now();
    let late = client.link.wait_mark(Mark::Retired, 6, Duration::from_millis(30), &|| {});
    assert_eq!(late, Err(PortError::TimedOut));
    assert!(start.elapsed() >= Duration::from_millis(30) && start.elapsed() < LONG);
    assert_eq!(client.link.lost(), None);
}

#[test]
fn several_threads_wait_at_once() {
    let (client, server) = pair(LONG);
    std::thread::scope(|scope| {
        for mark in [Mark::Submitted, Mark::Retired, Mark::Frames] {
            let link = client.link.clone();
            scope.spawn(move || {
                for value in 1..=200 {
                    link.wait_mark(mark, value, LONG, &|| {}).expect("raised");
                }
            });
        }
        for value in 1..=200 {
            for mark in [Mark::Frames, Mark::Submitted, Mark::Retired] {
                server.events.raise(mark, value);
            }
            if value % 10 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
        }
    });
}
