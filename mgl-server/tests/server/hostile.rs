//! Clients that break the protocol: each hears what it did, loses its connection, and costs the others nothing.

use crate::attached::Listening;
use crate::client::{Client, Place, LONG};
use mgpipe_types::Opcode;
use mgpipe_wire::channel::{attach, ConnectOptions, SegmentSizes};
use mgpipe_wire::client::Attached;
use mgpipe_wire::port::Mark;
use std::path::Path;
use std::time::{Duration, Instant};

const fn header(kind: u16, flags: u16, size: u32) -> u64 {
    kind as u64 | (flags as u64) << 16 | (size as u64) << 32
}

/// Control records, as the protocol numbers them.
const OPEN_SCREEN: u16 = 0x8010;
const BIND: u16 = 0x8012;
const PIECE: u16 = 0x8015;
const WHOLE: u16 = 0x8016;

/// Flags of a record that has a ticket, and of one whose bytes lie in STAGE.
const TICKET: u16 = 1 << 2;
const STAGED: u16 = 1 << 3;

fn options() -> ConnectOptions {
    let sizes = SegmentSizes { commands: 1 << 16, stage: 1 << 16, stage_limit: 1 << 17, ..SegmentSizes::default() };
    ConnectOptions { sizes, ..ConnectOptions::new("null") }
}

/// Writes one record as it is.
fn send(client: &mut Attached, words: &[u64]) {
    if let Ok(room) = client.end.commands.reserve(words.len() * 8, &|| {}) {
        for (bytes, word) in room.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        client.end.commands.commit();
        client.end.commands.doorbell();
    }
}

/// A client with a screen, as every honest one starts.
fn start(path: &Path) -> Attached {
    let mut client = attach(path, &options()).expect("admitted");
    let ticket = client.end.replies.ticket(&|| {}).expect("a slot");
    let ticket_word = u64::from(ticket.slot) | u64::from(ticket.gen) << 32;
    send(&mut client, &[header(OPEN_SCREEN, TICKET, 32), ticket_word, 1, 0]);
    let status = client.end.replies.wait(ticket, LONG, &|| {}, &mut |_| {}).expect("answered");
    assert_eq!(status, 0);
    send(&mut client, &[header(BIND, 0, 24), 1, 0]);
    client
}

/// Waits for the loss of a connection; answers what its user is told.
fn loss(client: &Attached) -> String {
    let end = client.end.link.wait_mark(Mark::Frames, u64::MAX, LONG, &|| {});
    let why = end.expect_err("no such mark is reached").to_string();
    assert!(client.end.link.lost().is_some(), "{why}");
    why
}

#[test]
fn what_breaks_the_protocol_is_named_and_disturbs_nobody() {
    let server = Listening::start(&[]);
    let mut honest = Client::open(Place::At(server.path())).expect("admitted");
    assert_eq!(honest.echo(1, b"before").expect("alive"), b"before");
    drop(start(&server.path()));
    let files = settled(&server);
    let flush = Opcode::Flush as u16;
    let upload = Opcode::ResourceSubdata as u16;
    let broken: [(&str, &[u64]); 12] = [
        ("opcode", &[header(999, 0, 8)]),
        ("opcode", &[header(0, 0, 8)]),
        ("longer than what was published", &[header(flush, 0, 16)]),
        ("longer than what was published", &[header(flush, 0, 0xffff_fff8)]),
        ("malformed", &[header(flush, 0, 8)]),
        ("malformed", &[header(flush, 64, 16), 0]),
        ("no context is bound", &[header(Opcode::QueryResult as u16, 0, 16), 7]),
        ("staged range", &[header(upload, STAGED, 40), u64::MAX, 8, 0, 0]),
        ("no staged range", &[header(upload, STAGED, 16), 0]),
        ("no such screen", &[header(BIND, 0, 24), 77, 0]),
        ("piece", &[header(PIECE, 0, 24), 1 << 32, 0]),
        ("pieces are missing", &[header(WHOLE, 0, 8)]),
    ];
    for (hint, words) in broken {
        let mut client = start(&server.path());
        send(&mut client, words);
        let why = loss(&client);
        assert!(why.contains(hint), "{words:x?}: {why}");
    }
    // It left in the middle of a record that comes in pieces.
    let mut client = start(&server.path());
    send(&mut client, &[header(PIECE, 0, 32), 16, header(flush, 0, 16), 0]);
    drop(client);
    assert_eq!(honest.echo(2, b"after").expect("alive"), b"after");
    let start = Instant::now();
    while server.open_files() > files {
        assert!(start.elapsed() < LONG, "files of clients that were dismissed stay open");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The server's open files once those of clients that left are closed.
fn settled(server: &Listening) -> usize {
    let (mut files, mut since) = (server.open_files(), Instant::now());
    let start = Instant::now();
    while since.elapsed() < Duration::from_millis(300) && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(10));
        let now = server.open_files();
        if now != files {
            (files, since) = (now, Instant::now());
        }
    }
    files
}

/// Neither answers nor events are taken; the other clients go on meanwhile.
#[test]
fn a_client_that_stops_reading_holds_nobody_up() {
    let server = Listening::start(&[]);
    let mut honest = Client::open(Place::At(server.path())).expect("admitted");
    let mut lazy = start(&server.path());
    // Errors and fences that nobody hears, far more than there is room for.
    for number in 0..20_000u32 {
        let handle = u64::from(number + 1) | 1 << 32;
        send(&mut lazy, &[header(Opcode::FenceCreate as u16, 0, 24), handle, 0]);
        if number % 4096 == 0 {
            assert_eq!(honest.echo(1, &[7; 3000]).expect("alive"), [7; 3000]);
        }
        // The server waits for room among the events by now, and the ring of commands fills up.
        if number * 24 > 48 << 10 {
            break;
        }
    }
    for round in 0..20u8 {
        assert_eq!(honest.echo(2, &[round; 3000]).expect("alive"), [round; 3000]);
    }
    drop(lazy);
    assert_eq!(honest.echo(3, b"after").expect("alive"), b"after");
}
