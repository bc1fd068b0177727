//! Introductions, honest and otherwise, over a pair of sockets.

use crate::channel::assemble::SegmentSizes;
use crate::channel::block::{Block, BLOCK_BYTES};
use crate::channel::control::{Message, Version, Wishes};
use crate::channel::memory::{Access, Outgoing, Region};
use crate::channel::platform::{self, memory_file, socket_pair};
use crate::channel::socket::{send, Receiver};
use crate::channel::{attach, handshake, Admitted, ConnectOptions, Guest, Listener, StartError, Tuning};
use crate::port::{Mark, PortError, StageRange};
use crate::record::RecordHeader;
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use rustix::net::{bind, listen, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
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

/// A client that has been let in, by hand.
fn admitted() -> (Arc<OwnedFd>, Receiver, Admitted, Arc<Region>) {
    let (ours, theirs) = socket_pair().expect("sockets");
    let [block, commands, stage] = files(1 << 16, 1 << 16);
    let ring = Region::map(commands.as_fd(), 1 << 16, Access::ReadWrite).expect("mapped");
    let words = Region::map(block.as_fd(), BLOCK_BYTES, Access::ReadWrite).expect("mapped");
    send(&ours, &hello(sizes()), &[block.as_fd(), commands.as_fd(), stage.as_fd()]).expect("sent");
    let admitted = Guest::meet(theirs).expect("met").admit(Tuning::default(), Box::new(|| ())).expect("admitted");
    let ours = Arc::new(ours);
    let mut receiver = Receiver::new(ours.clone(), None);
    assert!(matches!(receiver.receive(Some(LONG)).expect("welcome").0, Message::Welcome(_)));
    // One record that lies in a segment which nobody has announced.
    let range = StageRange { offset: 0, size: 64, segment: 1, pad: 0 };
    let mut ring = Outgoing::new(Arc::new(ring)).expect("writable");
    let record = ring.window(0, 32).expect("inside");
    record[..8].copy_from_slice(bytemuck::bytes_of(&RecordHeader { kind: 0xfffe, flags: 0, size: 32 }));
    record[8..].copy_from_slice(bytemuck::bytes_of(&range));
    (ours, receiver, admitted, Arc::new(words))
}

#[test]
fn a_client_that_leaves_is_not_waited_for_by_the_reader_of_a_segment() {
    let (ours, receiver, mut admitted, words) = admitted();
    Block::new(words).expect("a block").command_head().store(32, Ordering::Release);
    let start = Instant::now();
    let leaving = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop((ours, receiver));
    });
    let end = admitted.end.commands.next(&mut Vec::new(), LONG);
    assert!(matches!(end, Err(PortError::Corrupt(_) | PortError::Lost(_))), "{end:?}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    leaving.join().expect("joined");
}

#[test]
fn a_stage_segment_that_could_be_cut_ends_the_connection() {
    let (ours, mut receiver, mut admitted, _) = admitted();
    let bare = memfd_create("mgl-test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memory");
    ftruncate(&bare, 1 << 16).expect("size");
    send(&ours, &Message::StageOpen { id: 1, bytes: 1 << 16 }, &[bare.as_fd()]).expect("sent");
    let (told, _) = receiver.receive(Some(LONG)).expect("told");
    assert!(matches!(&told, Message::Fatal(why) if why.contains("sealed")), "{told:?}");
    let end = admitted.end.commands.next(&mut Vec::new(), LONG);
    assert!(matches!(end, Err(PortError::Corrupt(_))), "{end:?}");
    // It may be cut now: nothing of it is mapped.
    ftruncate(&bare, 0).expect("not sealed");
}

#[test]
fn a_client_learns_why_it_was_dismissed() {
    for _ in 0..50 {
        let (ours, theirs) = socket_pair().expect("sockets");
        let server = std::thread::spawn(move || {
            let guest = Guest::meet(theirs).expect("introduced");
            let Admitted { end, watch } = guest.admit(Tuning::default(), Box::new(|| ())).expect("admitted");
            drop(end);
            watch.dismiss("record 7: opcode");
        });
        let options = ConnectOptions { sizes: sizes(), ..ConnectOptions::new("null") };
        let (end, watcher) = handshake::client(ours, None, &options).expect("welcome");
        // A mark that is never reached: the wait ends with the connection.
        let lost = end.link.wait_mark(Mark::Frames, 1, LONG, &|| {});
        assert_eq!(lost, Err(PortError::Lost("record 7: opcode".into())));
        drop((end, watcher));
        server.join().expect("joined");
    }
}

#[test]
fn a_listener_that_takes_nobody_is_an_error_in_time() {
    let folder = std::env::temp_dir().join(format!("mgl-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("socket");
    let listener = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a socket");
    bind(&listener, &SocketAddrUnix::new(&path).expect("a path")).expect("bound");
    listen(&listener, 1).expect("listens");
    // Whoever comes waits in the queue, until that is full.
    let mut waiting = Vec::new();
    let refused = loop {
        match platform::connect(&path, Duration::from_millis(50)) {
            Ok(socket) => waiting.push(socket),
            Err(error) => break error,
        }
        assert!(waiting.len() < 100, "the queue has an end");
    };
    assert_eq!(refused.kind(), std::io::ErrorKind::TimedOut);
    let options = ConnectOptions { cold_start: Duration::from_millis(200), ..ConnectOptions::new("null") };
    let (tell, told) = std::sync::mpsc::channel();
    let attached = path.clone();
    std::thread::spawn(move || tell.send(attach(&attached, &options).map(|_| ()).map_err(|error| error.to_string())));
    let refused = told.recv_timeout(LONG).expect("it gives up").expect_err("nobody takes it in");
    assert!(refused.contains("takes nobody in") && refused.contains("socket"), "{refused}");
    // And another server does not take the address for a dead one's.
    assert!(Listener::bind(&path).is_err());
    std::fs::remove_dir_all(&folder).expect("removed");
}
