//! The stream of records of a program, taken from a connection, and connections that play such a stream to an applier.

use crate::recording::{buffer, handle, program, upload};
use mgpipe_types::*;
use mgpipe_wire::client::{Attached, ClientOptions, WireBackend};
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::port::{CommandSource, EventSink, Mark, PortError, ReplySink, ReplyTicket, ServerEnd, StageRange};
use mgpipe_wire::queue::{queue, QueueLimits};
use mgpipe_wire::server::{serve, ServeError, ServeReport};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// A record, and the bytes that it left in STAGE.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) words: Vec<u64>,
    pub(crate) staged: Vec<u8>,
}

impl Sent {
    /// The record cut to so many words, with a header that says so.
    pub(crate) fn cut_to(&self, words: usize) -> Sent {
        let mut cut = self.clone();
        cut.words.truncate(words);
        cut.words[0] = cut.words[0] & 0xffff_ffff | (words as u64 * 8) << 32;
        cut
    }
}

/// Passes records on and keeps copies.
struct Tap {
    inner: Box<dyn CommandSource>,
    seen: Arc<Mutex<Vec<Sent>>>,
}

impl CommandSource for Tap {
    fn next(&mut self, into: &mut Vec<u64>, limit: Duration) -> Result<bool, PortError> {
        let taken = self.inner.next(into, limit)?;
        if taken {
            self.seen.lock().push(Sent { words: into.clone(), staged: Vec::new() });
        }
        Ok(taken)
    }

    fn resolve(&self, range: StageRange) -> Option<&[u8]> {
        let bytes = self.inner.resolve(range)?;
        if let Some(last) = self.seen.lock().last_mut() {
            last.staged = bytes.to_vec();
        }
        Some(bytes)
    }

    fn retire(&mut self) {
        self.inner.retire();
    }
}

/// Records of a program with every form that there is: in the ring, with staged bytes, in pieces, with answers.
pub(crate) fn recorded() -> Vec<Sent> {
    // So narrow that 2200 bytes are staged and 2400 travel in pieces.
    let (client, server) = queue(QueueLimits { record: 1 << 10, stage: 2304, ..QueueLimits::default() });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tapped = ServerEnd { commands: Box::new(Tap { inner: server.commands, seen: seen.clone() }), ..server };
    let serving = std::thread::spawn(move || serve(tapped, &NullBackend));
    let ends = Mutex::new(Some(client));
    let connect = move || {
        let end = ends.lock().take().ok_or_else(|| PipeError::Init("only once".into()))?;
        Ok(Attached { end, keeper: Box::new(()) })
    };
    let backend = WireBackend::new(Box::new(connect), ClientOptions::default());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    program(&*screen);
    let mut context = screen.create_context(ContextHandle(handle(3))).unwrap();
    for size in [2200, 2400] {
        screen.resource_create(&buffer(4, size as u64));
        context.resource_subdata(&upload(handle(4), 0, &vec![7; size]), &[], &vec![7; size]);
        let mut out = vec![0; size];
        context.resource_readback(&BufferReadback { res: handle(4), offset: 0, size: size as u64 }, &mut out).unwrap();
        assert_eq!(out, vec![7; size]);
    }
    drop((context, screen, backend));
    serving.join().unwrap().unwrap();
    let seen = seen.lock().clone();
    seen
}

/// Plays records, and then is a client that has left.
struct Script {
    records: Vec<Sent>,
    at: usize,
}

impl CommandSource for Script {
    fn next(&mut self, into: &mut Vec<u64>, _: Duration) -> Result<bool, PortError> {
        let Some(sent) = self.records.get(self.at) else {
            return Err(PortError::Lost("the script has ended".into()));
        };
        self.at += 1;
        into.clone_from(&sent.words);
        Ok(true)
    }

    fn resolve(&self, range: StageRange) -> Option<&[u8]> {
        let end = range.offset.checked_add(range.size)?;
        let staged = &self.records.get(self.at.checked_sub(1)?)?.staged;
        staged.get(usize::try_from(range.offset).ok()?..usize::try_from(end).ok()?).filter(|_| range.segment == 0)
    }

    fn retire(&mut self) {}
}

/// Takes answers and events.
struct Nobody;

impl ReplySink for Nobody {
    fn reply(&mut self, _: ReplyTicket, _: u32, _: &[u8]) -> Result<(), PortError> {
        Ok(())
    }
}

impl EventSink for Nobody {
    fn max_event(&self) -> usize {
        16 << 10
    }

    fn event(&self, _: &[u8], _: bool) -> bool {
        true
    }

    fn raise(&self, _: Mark, _: u64) {}
}

/// Applies records on a fresh null backend.
pub(crate) fn apply(records: Vec<Sent>) -> Result<ServeReport, ServeError> {
    let commands = Box::new(Script { records, at: 0 });
    serve(ServerEnd { commands, replies: Box::new(Nobody), events: Arc::new(Nobody) }, &NullBackend)
}
