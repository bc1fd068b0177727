//! Introductions, honest and otherwise, over a pair of sockets.

use crate::channel::assemble::SegmentSizes;
use crate::channel::block::BLOCK_BYTES;
use crate::channel::control::{Message, Version, Wishes};
use crate::channel::platform::{memory_file, socket_pair};
use crate::channel::socket::{send, Receiver};
use crate::channel::{handshake, ConnectOptions, Guest, StartError, Tuning};
use crate::port::{Mark, PortError};
use crate::record::RecordHeader;
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(30);

fn sizes() -> SegmentSizes {
    SegmentSizes { commands: 1 << 16, stage: 1 << 16, stage_limit: 1 << 20, replies: 2 << 20, events: 1 << 16 }
}

fn hello(sizes: SegmentSizes) -> Message {
    Message::Hello(Version::own(), Some(Wishes { backend: "null".into(), sizes: sizes.into() }))
}

fn files(commands: usize, stage: usize) -> [OwnedFd; 3] {
    [BLOCK_BYTES, commands, stage].map(|bytes| memory_file("mgl-test", bytes).expect("memory"))
}

/// What the server answers to an introduction.
fn answer_to(message: &Message, files: &[OwnedFd]) -> (Result<(), StartError>, Option<Message>) {
    let (ours, theirs) = socket_pair().expect("sockets");
    let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    send(&ours, message, &files).expect("sent");
    let met = Guest::meet(theirs).map(|guest| _ = guest.refuse("met"));
    let answer = Receiver::new(Arc::new(ours), None).receive(Some(LONG)).ok().map(|(message, _)| message);
    (met, answer)
}

#[test]
fn an_honest_client_is_met() {
    let (met, _) = answer_to(&hello(sizes()), &files(1 << 16, 1 << 16));
    met.expect("welcome");
}

#[test]
fn segments_that_are_not_what_they_seem_are_refused() {
    let unsealed = || {
        let file = memfd_create("mgl-test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memory");
        ftruncate(&file, 1 << 16).expect("size");
        file
    };
    let [block, commands, _] = files(1 << 16, 1 << 16);
    let device: OwnedFd = std::fs::File::open("/dev/zero").expect("a device").into();
    let lies: [(&str, SegmentSizes, [OwnedFd; 3]); 4] = [
        ("larger than the file", SegmentSizes { commands: 1 << 20, ..sizes() }, files(1 << 16, 1 << 16)),
        ("not sealed", sizes(), [block, commands, unsealed()]),
        ("no memory file", sizes(), [device, unsealed(), unsealed()]),
        ("too large for anybody", SegmentSizes { stage: 1 << 40, ..sizes() }, files(1 << 16, 1 << 16)),
    ];
    for (what, sizes, files) in lies {
        let (met, answer) = answer_to(&hello(sizes), &files);
        assert!(matches!(met, Err(StartError::Refused(_))), "{what}");
        assert!(matches!(answer, Some(Message::Refused(..))), "{what}: {answer:?}");
    }
}

#[test]
fn another_version_is_refused_by_name() {
    let other = Version { catalogue: 1, ..Version::own() };
    let (met, answer) = answer_to(&Message::Hello(other, None), &[]);
    assert!(matches!(met, Err(StartError::Refused(why)) if why.contains("builds")));
    assert!(matches!(answer, Some(Message::Refused(_, why)) if why.contains("builds")));
    let (met, _) = answer_to(&Message::StageClose { id: 0 }, &[]);
    assert!(met.is_err(), "not an introduction");
}

#[test]
fn a_client_that_leaves_in_the_middle_is_an_error_at_once() {
    let (ours, theirs) = socket_pair().expect("sockets");
    let frame = hello(sizes()).frame();
    crate::channel::platform::send_all(ours.as_fd(), &frame[..frame.len() - 3], &[], LONG).expect("sent");
    drop(ours);
    let start = Instant::now();
    assert!(Guest::meet(theirs).is_err());
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_server_that_refuses_or_leaves_is_an_error_for_the_client() {
    let connect = |answer: Option<Message>| {
        let (ours, theirs) = socket_pair().expect("sockets");
        let server = std::thread::spawn(move || {
            let theirs = Arc::new(theirs);
            let _hello = Receiver::new(theirs.clone(), None).receive(Some(LONG)).expect("introduced");
            if let Some(answer) = answer {
                send(&theirs, &answer, &[]).expect("sent");
            }
        });
        let options = ConnectOptions { sizes: sizes(), ..ConnectOptions::new("null") };
        let connected = handshake::client(ours, None, &options).map(|_| ());
        server.join().expect("joined");
        connected.expect_err("no welcome")
    };
    let other = Version { channel: 99, ..Version::own() };
    assert!(
        matches!(connect(Some(Message::Refused(Version::own(), "full".into()))), StartError::Refused(why) if why == "full")
    );
    assert!(
        matches!(connect(Some(Message::Refused(other, "".into()))), StartError::Refused(why) if why.contains("99"))
    );
    assert!(matches!(connect(Some(Message::Fatal("broken".into()))), StartError::Refused(why) if why == "broken"));
    assert!(matches!(connect(None), StartError::Handshake(_)));
    assert!(matches!(connect(Some(Message::StageClose { id: 1 })), StartError::Handshake(_)));
}

#[test]
fn a_whole_connection_works_and_ends() {
    let (ours, theirs) = socket_pair().expect("sockets");
    let server = std::thread::spawn(move || {
        let guest = Guest::meet(theirs).expect("introduced");
        assert_eq!(guest.backend(), "null");
        let mut admitted = guest.admit(Tuning::default(), Box::new(|| ())).expect("admitted");
        let mut record = Vec::new();
        loop {
            match admitted.end.commands.next(&mut record, LONG) {
                Ok(true) => {
                    let range = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&record[1..4]));
                    let bytes = admitted.end.commands.resolve(range).expect("inside");
                    assert!(bytes.iter().all(|byte| *byte == bytes.len() as u8));
                    admitted.end.commands.retire();
                }
                Ok(false) => panic!("nothing came"),
                Err(error) => return error,
            }
        }
    });
    let options = ConnectOptions { sizes: sizes(), ..ConnectOptions::new("null") };
    let (mut end, watcher) = handshake::client(ours, None, &options).expect("welcome");
    // Some ranges are larger than the first segment, so that STAGE grows over the socket.
    for (ordinal, size) in [40usize, 60_000, 200_000, 999_999, 5].into_iter().enumerate() {
        let (range, bytes) = end.commands.stage(size, &|| {}).expect("room");
        bytes.fill(size as u8);
        let record = end.commands.reserve(32, &|| {}).expect("room");
        record[..8].copy_from_slice(bytemuck::bytes_of(&RecordHeader { kind: 1, flags: 0, size: 32 }));
        record[8..].copy_from_slice(bytemuck::bytes_of(&range));
        assert_eq!(end.commands.commit(), ordinal as u64 + 1);
        end.commands.doorbell();
    }
    end.link.wait_mark(Mark::Applied, 5, LONG, &|| {}).expect("applied");
    drop(end);
    drop(watcher);
    let error = server.join().expect("joined");
    assert!(matches!(error, PortError::Lost(_)), "{error:?}");
}

#[test]
fn a_stage_segment_out_of_order_ends_the_connection() {
    let (ours, theirs) = socket_pair().expect("sockets");
    let [block, commands, stage] = files(1 << 16, 1 << 16);
    send(&ours, &hello(sizes()), &[block.as_fd(), commands.as_fd(), stage.as_fd()]).expect("sent");
    let mut admitted = Guest::meet(theirs).expect("met").admit(Tuning::default(), Box::new(|| ())).expect("admitted");
    let ours = Arc::new(ours);
    let mut receiver = Receiver::new(ours.clone(), None);
    assert!(matches!(receiver.receive(Some(LONG)).expect("welcome").0, Message::Welcome(_)));
    let file = memory_file("mgl-test", 1 << 16).expect("memory");
    send(&ours, &Message::StageOpen { id: 7, bytes: 1 << 16 }, &[file.as_fd()]).expect("sent");
    assert!(matches!(receiver.receive(Some(LONG)).expect("told").0, Message::Fatal(_)));
    let end = admitted.end.commands.next(&mut Vec::new(), LONG);
    assert!(matches!(end, Err(PortError::Corrupt(_))), "{end:?}");
}
