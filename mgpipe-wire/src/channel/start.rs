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

    /// The same with the switches of an environment, which `get` reads: `MGL_IPC_SPIN_US`, `MGL_IPC_RING_MB`,
    /// `MGL_IPC_STAGE_MB`, `MGL_IPC_SERVER_AFFINITY`.
    ///
    /// # Errors
    /// One line for the user about a value that cannot be.
    pub fn with_switches(mut self, get: impl Fn(&str) -> Option<String>) -> Result<ConnectOptions, String> {
        let number = |name: &str, most: u64| match get(name).filter(|text| !text.is_empty()) {
            None => Ok(None),
            Some(text) => match text.parse::<u64>() {
                Ok(value) if value <= most => Ok(Some(value)),
                _ => Err(format!("{name}={text} is no number from 0 to {most}")),
            },
        };
        let megabytes = |name: &str, most: usize| match number(name, most as u64)?.map(|value| value as usize) {
            Some(value) if !value.is_power_of_two() => Err(format!("{name}={value} is no power of two")),
            value => Ok(value.map(|value| value << 20)),
        };
        self.tuning.spin = number("MGL_IPC_SPIN_US", 1_000_000)?.map(Duration::from_micros).or(self.tuning.spin);
        if let Some(bytes) = megabytes("MGL_IPC_RING_MB", 256)? {
            self.sizes.commands = bytes;
        }
        if let Some(bytes) = megabytes("MGL_IPC_STAGE_MB", 512)? {
            self.sizes.stage = bytes;
            self.sizes.stage_limit = self.sizes.stage_limit.max(bytes);
        }
        self.affinity = get("MGL_IPC_SERVER_AFFINITY").filter(|text| !text.is_empty()).or(self.affinity);
        Ok(self)
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

#[cfg(test)]
mod tests {
    use super::ConnectOptions;
    use std::time::Duration;

    fn switched(pairs: &[(&str, &str)]) -> Result<ConnectOptions, String> {
        let get = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        ConnectOptions::new("null").with_switches(get)
    }

    #[test]
    fn switches_change_what_they_name() {
        let plain = switched(&[("MGL_IPC_RING_MB", "")]).expect("nothing is set");
        assert_eq!((plain.sizes, plain.tuning.spin), (ConnectOptions::new("null").sizes, None));
        let names = ["MGL_IPC_SPIN_US", "MGL_IPC_RING_MB", "MGL_IPC_STAGE_MB", "MGL_IPC_SERVER_AFFINITY"];
        let values = ["0", "1", "256", "0-3"];
        let pairs: Vec<_> = names.into_iter().zip(values).collect();
        let all = switched(&pairs).expect("all are fine");
        assert_eq!(all.tuning.spin, Some(Duration::ZERO));
        assert_eq!((all.sizes.commands, all.sizes.stage, all.sizes.stage_limit), (1 << 20, 256 << 20, 256 << 20));
        assert_eq!(all.affinity.as_deref(), Some("0-3"));
        all.sizes.check().expect("they work");
    }

    #[test]
    fn values_that_cannot_be_are_named() {
        for (name, value) in [
            ("MGL_IPC_SPIN_US", "fast"),
            ("MGL_IPC_RING_MB", "3"),
            ("MGL_IPC_RING_MB", "0"),
            ("MGL_IPC_STAGE_MB", "4096"),
        ] {
            let text = switched(&[(name, value)]).expect_err("refused");
            assert!(text.contains(name) && text.contains(value), "{text}");
        }
    }
}
