//! A connection that outlives its server.
//!
//! [`recovering`] puts a layer between the emitter and the ends of a connection. The layer reads every record that passes,
//! keeps the latest of everything that lasts in a journal, and the bytes of what is uploaded. When the server is gone it
//! makes a new connection, tells the new server all that, asks again what nobody answered, and goes on with the record at
//! which it stopped. The emitter and everything above it notice a delay.
//!
//! What the device alone had cannot come back: see `docs/recovery.md`. Nothing of this costs anything where the layer is
//! not used.

mod bytes;
mod ends;
mod flow;
mod image;
mod journal;
mod limit;
mod outlet;
mod repush;
mod resource;
mod state;

use super::{Attached, Connect};
use mgpipe_types::PipeResult;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// How a lost server is replaced.
#[derive(Clone, Debug)]
pub struct RecoveryOptions {
    /// Most servers that are started or attached to in place of lost ones within [`RecoveryOptions::within`]; one more loss
    /// is for good.
    pub most: u32,
    /// See [`RecoveryOptions::most`].
    pub within: Duration,
    /// How long one attempt to reach a server is repeated while it fails: whoever runs it may be starting it again.
    pub patience: Duration,
    /// Most bytes of contents that are kept on this side. What is beyond cannot be restored.
    pub budget: u64,
    /// Where the figures are counted.
    pub counters: Arc<RecoveryCounters>,
}

impl Default for RecoveryOptions {
    fn default() -> Self {
        RecoveryOptions {
            most: 5,
            within: Duration::from_secs(30),
            patience: Duration::from_secs(3),
            budget: 1 << 30,
            counters: Arc::default(),
        }
    }
}

/// What recovery has cost and done so far.
#[derive(Debug, Default)]
pub struct RecoveryCounters {
    respawns: AtomicU64,
    held_bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

impl RecoveryCounters {
    /// Servers that took the place of lost ones.
    pub fn respawns(&self) -> u64 {
        self.respawns.load(Ordering::Relaxed)
    }

    /// Bytes of contents that are kept, as of the last frame or loss.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// The most bytes that were ever kept.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Ordering::Relaxed)
    }
}

/// Connections that get a new server when theirs is lost, made by `connect`.
pub fn recovering(connect: Connect, options: RecoveryOptions) -> Connect {
    let connect = Arc::new(connect);
    Box::new(move || -> PipeResult<Attached> {
        let first = (*connect)()?;
        Ok(ends::wrap(first, connect.clone(), options.clone()))
    })
}
