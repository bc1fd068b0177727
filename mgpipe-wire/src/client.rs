//! The emitter: a backend whose calls become records for a server elsewhere.
//!
//! [`WireBackend`] opens screens on one connection; every screen and context of it writes into the same stream of records,
//! each record whole under one lock, with a control record in between whenever the subject changes. What has no answer
//! never waits, except for room in the ring. What has one waits with a bound and drains events meanwhile. A connection
//! that is lost answers [`mgpipe_types::PipeError::DeviceLost`] for ever; the next screen opens a new one.

mod answer;
mod batch;
mod connection;
mod emit;
mod maps;
mod recovery;
mod shadow;
mod tally;
mod writer;

pub use maps::MapTier;
pub use recovery::{recovering, RecoveryCounters, RecoveryOptions};

use crate::client::connection::Connection;
use crate::client::tally::Tally;
use crate::port::ClientEnd;
use crate::stats::LinkSource;
use mgpipe_types::{Backend, Callbacks, PipeResult, Screen};
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// A client's end of a fresh connection, and what must live as long as it: dropped after the end was closed.
pub struct Attached {
    /// The end.
    pub end: ClientEnd,
    /// A thread's or a process's handle, whose drop waits for it.
    pub keeper: Box<dyn Any + Send + Sync>,
}

/// How the emitter works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// Frames that may be encoded before the server has applied them, at least 1.
    pub frame_credit: u32,
    /// How bytes of persistent mappings travel.
    pub map_tier: MapTier,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions { frame_credit: 1, map_tier: MapTier::Auto }
    }
}

/// Makes connections.
pub type Connect = Box<dyn Fn() -> PipeResult<Attached> + Send + Sync>;

/// A backend that is somewhere else.
pub struct WireBackend {
    connect: Connect,
    options: ClientOptions,
    connection: Mutex<Option<Arc<Connection>>>,
    tally: Arc<Tally>,
}

impl WireBackend {
    /// A backend that connects when its first screen is opened.
    pub fn new(connect: Connect, options: ClientOptions) -> WireBackend {
        WireBackend { connect, options, connection: Mutex::new(None), tally: Arc::default() }
    }

    /// What its connections have counted, for the reports of [`crate::stats`].
    pub fn figures(&self) -> Arc<dyn LinkSource> {
        self.tally.clone()
    }

    /// Ends the connection: every screen of it is lost. For the end of the process, when the other side must not run on
    /// under the feet of what is torn down.
    pub fn shut_down(&self) {
        if let Some(connection) = self.connection.lock().take() {
            connection.shut_down("the process ends");
        }
    }
}

impl Backend for WireBackend {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        let mut current = self.connection.lock();
        let connection = match &*current {
            Some(connection) if connection.lost().is_none() => connection.clone(),
            _ => {
                let connection = Connection::new((self.connect)()?, self.options, self.tally.clone());
                *current = Some(connection.clone());
                connection
            }
        };
        drop(current);
        emit::open_screen(connection, callbacks)
    }
}
