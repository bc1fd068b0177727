//! A thread that listens to the socket of a connection: messages, and the end of the peer.
//!
//! It sleeps all the time. Because it learns at once that the peer closed its socket or that its process ended (both, since
//! a fork of the peer may keep the socket open), every other thread can wait on words in memory alone.

use super::control::Message;
use super::core::Core;
use super::memory::{Access, Region, REGION_ALIGN};
use super::platform;
use super::segment;
use super::socket::{send, Receiver};
use super::stage::StageTable;
use crate::port::PortError;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

/// The stage segments that a client may add to, and the largest size of one.
pub(crate) type Stages = (Arc<StageTable>, usize);

/// The listening thread of one end. Dropping it closes the socket and joins the thread.
pub(crate) struct Watcher {
    core: Weak<Core>,
    socket: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    owner: u32,
}

fn clients_segment(bytes: u64, files: Vec<OwnedFd>, most: usize, access: Access) -> io::Result<Arc<Region>> {
    let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= most && *bytes % REGION_ALIGN == 0 && *bytes > 0);
    match (bytes, files.into_iter().next()) {
        (Some(bytes), Some(file)) => segment::take(file, bytes, access),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a segment of an impossible size")),
    }
}

/// Listens until the connection ends; the answer is why.
fn listen(receiver: &mut Receiver, stages: Option<&Stages>) -> PortError {
    loop {
        let (message, files) = match receiver.receive(None) {
            Ok(message) => message,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return PortError::Lost("the process at the other end is gone".into());
            }
            Err(error) => return PortError::Corrupt(format!("the control socket: {error}")),
        };
        let handled = match (message, stages) {
            (Message::StageOpen { id, bytes }, Some((table, most))) => {
                clients_segment(bytes, files, *most, Access::Read)
                    .map_err(|error| PortError::Corrupt(error.to_string()))
                    .and_then(|region| table.open(id, region))
            }
            // However large: it is the client's memory, and no more of this process than addresses.
            (Message::Share { number, bytes }, Some((table, _))) => {
                clients_segment(bytes, files, isize::MAX as usize, Access::ReadWrite)
                    .map_err(|error| PortError::Corrupt(error.to_string()))
                    .and_then(|region| table.share(number, region))
            }
            (Message::StageClose { id }, Some((table, _))) => {
                table.close(id);
                Ok(())
            }
            (Message::Fatal(why), _) => return PortError::Lost(why),
            _ => Err(PortError::Corrupt("a message that does not belong here".into())),
        };
        if let Err(error) = handled {
            return error;
        }
    }
}

impl Watcher {
    /// Starts listening. `on_lost` runs once, on the thread, when the connection has ended from the other side.
    pub(crate) fn start(
        mut receiver: Receiver,
        socket: Arc<OwnedFd>,
        core: Arc<Core>,
        stages: Option<Stages>,
        on_lost: Box<dyn FnOnce() + Send>,
    ) -> io::Result<Watcher> {
        let weak = Arc::downgrade(&core);
        drop(core);
        let (told, listening) = (weak.clone(), socket.clone());
        let thread = std::thread::Builder::new().name("mgl-link".into()).stack_size(128 << 10).spawn(move || {
            let why = listen(&mut receiver, stages.as_ref());
            if let Some((table, _)) = &stages {
                table.complete();
            }
            if let PortError::Corrupt(what) = &why {
                let _ = send(&listening, &Message::Fatal(what.clone()), &[]);
            }
            if let Some(core) = told.upgrade() {
                core.fail(why);
            }
            on_lost();
        })?;
        Ok(Watcher { core: weak, socket, thread: Some(thread), owner: std::process::id() })
    }
}

impl Watcher {
    /// Tells the peer why the connection ends; false when that is not possible.
    pub(crate) fn tell_fatal(&self, why: &str) -> bool {
        send(&self.socket, &Message::Fatal(why.into()), &[]).is_ok()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if self.owner != std::process::id() {
            // A fork shares the socket with its parent and has no thread to join.
            std::mem::forget(self.thread.take());
            return;
        }
        if let Some(core) = self.core.upgrade() {
            core.fail(PortError::Lost("closed".into()));
        }
        platform::shut_down(&*self.socket);
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}
