//! The first messages: both sides learn each other's version and get each other's segments.

use super::assemble::{client_core, client_end, server_core, server_end, SegmentSizes, Segments};
use super::block::BLOCK_BYTES;
use super::control::{Message, Version, Wishes};
use super::core::{Core, Tuning};
use super::memory::{Access, Region, REGION_ALIGN};
use super::socket::{send, Receiver};
use super::stage::{out_of_memory, Announce, StageTable};
use super::start::{ConnectOptions, StartError};
use super::watch::Watcher;
use super::{platform, segment};
use crate::port::{ClientEnd, PortError, ServerEnd};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// How long a server waits for the first message of a client.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

/// Sends new stage segments over the socket.
struct AnnounceThere {
    socket: Arc<OwnedFd>,
}

impl Announce for AnnounceThere {
    fn open(&mut self, id: u32, bytes: usize) -> Result<Arc<Region>, PortError> {
        let (region, file) = segment::make("mgl-stage", bytes).map_err(out_of_memory)?;
        send(&self.socket, &Message::StageOpen { id, bytes: bytes as u64 }, &[file.as_fd()])
            .map_err(|error| PortError::Lost(format!("the server does not listen: {error}")))?;
        Ok(region)
    }

    fn close(&mut self, id: u32) {
        // A server that is gone needs no goodbye, and the next wait tells.
        let _ = send(&self.socket, &Message::StageClose { id }, &[]);
    }

    fn share(&mut self, number: u32, bytes: usize) -> io::Result<Arc<Region>> {
        let bytes = bytes.max(1).checked_next_multiple_of(REGION_ALIGN).ok_or(io::ErrorKind::OutOfMemory)?;
        let (region, file) = segment::make("mgl-mapping", bytes)?;
        send(&self.socket, &Message::Share { number, bytes: bytes as u64 }, &[file.as_fd()])?;
        Ok(region)
    }
}

/// Makes the connection from the client's side. The watcher must live as long as the end.
pub(crate) fn client(
    socket: OwnedFd,
    peer: Option<OwnedFd>,
    options: &ConnectOptions,
) -> Result<(ClientEnd, Watcher), StartError> {
    let sizes = options.sizes;
    sizes.check().map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))?;
    let (block, block_file) = segment::make("mgl-control", BLOCK_BYTES)?;
    let (commands, commands_file) = segment::make("mgl-commands", sizes.commands)?;
    let (stage, stage_file) = segment::make("mgl-stage", sizes.stage)?;
    let socket = Arc::new(socket);
    let wishes = Wishes { backend: options.backend.clone(), sizes: sizes.into() };
    let files = [block_file.as_fd(), commands_file.as_fd(), stage_file.as_fd()];
    send(&socket, &Message::Hello(Version::own(), Some(wishes)), &files)?;
    let mut receiver = Receiver::new(socket.clone(), peer);
    let (answer, files) = receiver.receive(Some(options.cold_start))?;
    let files: [OwnedFd; 2] = match answer {
        Message::Welcome(version) => match (Version::own().mismatch(version), files.try_into()) {
            (Some(why), _) => return Err(StartError::Refused(why)),
            (None, Ok(files)) => files,
            (None, Err(_)) => return Err(io::Error::from(io::ErrorKind::InvalidData).into()),
        },
        Message::Refused(version, why) => {
            return Err(StartError::Refused(Version::own().mismatch(version).unwrap_or(why)))
        }
        Message::Fatal(why) => return Err(StartError::Refused(why)),
        _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "an unexpected message").into()),
    };
    let [replies, events] = files;
    let replies = segment::take(replies, sizes.replies, Access::Read)?;
    let events = segment::take(events, sizes.events, Access::Read)?;
    let core = client_core(block, options.tuning)?;
    let watcher = Watcher::start(receiver, socket.clone(), core.clone(), None, Box::new(|| ()))?;
    let segments = Segments { commands, stage, replies, events };
    let announce = Box::new(AnnounceThere { socket });
    let end = client_end(core, segments, sizes.stage_limit, announce)?;
    Ok((end, watcher))
}

/// A client that has introduced itself.
pub(crate) struct Introduced {
    /// The backend that it wants.
    pub(crate) backend: String,
    socket: Arc<OwnedFd>,
    receiver: Receiver,
    segments: [Arc<Region>; 3],
    sizes: SegmentSizes,
}

/// Waits for a client's first message and checks everything about it.
pub(crate) fn introduction(socket: OwnedFd) -> Result<Introduced, StartError> {
    let peer = platform::peer_descriptor(socket.as_fd())?;
    let socket = Arc::new(socket);
    let mut receiver = Receiver::new(socket.clone(), peer);
    let refuse = |why: String| {
        // The client may be gone already; the reason is told here as well.
        let _ = send(&socket, &Message::Refused(Version::own(), why.clone()), &[]);
        StartError::Refused(why)
    };
    let (hello, files) = receiver.receive(Some(HELLO_LIMIT))?;
    let Message::Hello(version, wishes) = hello else {
        return Err(refuse("the client did not introduce itself".into()));
    };
    if let Some(why) = version.mismatch(Version::own()) {
        return Err(refuse(why));
    }
    let (Some(wishes), Ok(files)) = (wishes, <[OwnedFd; 3]>::try_from(files)) else {
        return Err(refuse("the client's introduction is incomplete".into()));
    };
    let sizes = wishes.sizes.checked().map_err(|what| refuse(what.into()))?;
    let [block, commands, stage] = files;
    let take = |file, bytes, access| segment::take(file, bytes, access).map_err(|error| refuse(error.to_string()));
    let segments = [
        take(block, BLOCK_BYTES, Access::ReadWrite)?,
        take(commands, sizes.commands, Access::Read)?,
        take(stage, sizes.stage, Access::Read)?,
    ];
    Ok(Introduced { backend: wishes.backend, socket, receiver, segments, sizes })
}

impl Introduced {
    /// Sends the client away.
    pub(crate) fn refuse(self, why: &str) -> StartError {
        let _ = send(&self.socket, &Message::Refused(Version::own(), why.into()), &[]);
        StartError::Refused(why.into())
    }

    /// Lets the client in. `on_lost` runs once when the client is gone.
    pub(crate) fn welcome(
        self,
        tuning: Tuning,
        on_lost: Box<dyn FnOnce() + Send>,
    ) -> Result<(ServerEnd, Watcher, Arc<Core>), StartError> {
        let (replies, replies_file) = segment::make("mgl-replies", self.sizes.replies)?;
        let (events, events_file) = segment::make("mgl-events", self.sizes.events)?;
        let [block, commands, stage] = self.segments;
        let core = server_core(block, tuning)?;
        let table = Arc::new(StageTable::default());
        let segments = Segments { commands, stage, replies, events };
        let end = server_end(core.clone(), segments, table.clone())?;
        let stages = Some((table, self.sizes.stage_limit));
        let watcher = Watcher::start(self.receiver, self.socket.clone(), core.clone(), stages, on_lost)?;
        send(&self.socket, &Message::Welcome(Version::own()), &[replies_file.as_fd(), events_file.as_fd()])?;
        Ok((end, watcher, core))
    }
}
