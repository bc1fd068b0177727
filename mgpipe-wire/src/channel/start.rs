//! What a client wants of a connection, and why it does not get one.

use super::assemble::SegmentSizes;
use super::core::Tuning;
use std::io;
use std::time::Duration;
use thiserror::Error;

/// Argument that tells the server's program that its standard input is the socket of its one client.
pub const CONNECTED: &str = "--connected";

/// What a client wants of a connection.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Name of the backend that the server shall run.
    pub backend: String,
    /// Sizes of the segments.
    pub sizes: SegmentSizes,
    /// How this end waits.
    pub tuning: Tuning,
    /// How long the server may take to answer: a cold start reads a program and its libraries from disk.
    pub cold_start: Duration,
    /// How long a server that was started may take to end by itself when the connection is dropped.
    pub farewell: Duration,
    /// Processors that the thread which applies shall run on (`0-3,6`), in a server that is started.
    pub affinity: Option<String>,
}

impl ConnectOptions {
    /// The usual values for a backend.
    pub fn new(backend: &str) -> ConnectOptions {
        ConnectOptions {
            backend: backend.into(),
            sizes: SegmentSizes::default(),
            tuning: Tuning::default(),
            cold_start: Duration::from_secs(20),
            farewell: Duration::from_secs(5),
            affinity: None,
        }
    }
}

/// Why a connection was not made.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum StartError {
    /// The server's program does not start.
    #[error("the server {path} cannot be started: {error}")]
    Program {
        /// Its path.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Nobody listens there.
    #[error("no server at {path}: {error}")]
    Address {
        /// The socket's path.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The other side refuses, in its words.
    #[error("{0}")]
    Refused(String),
    /// The other side ended before it said anything, or does not speak this protocol.
    #[error("the handshake failed: {0}")]
    Handshake(#[from] io::Error),
    /// This system has no port of the transport.
    #[error("this transport is not there on this operating system yet; use monolith or inproc")]
    NoPort,
}
