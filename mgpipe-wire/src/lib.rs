//! The MGPipe stream as bytes: record codec, recorder, player, and a null backend with real memory.
//!
//! * [`Call`] is any call as a value; [`Call::encode`] and [`Call::decode`] are its wire form. Both are generated from
//!   the catalogue in `mgpipe-types`, so a call without a wire form does not compile.
//! * [`apply()`] runs a call on a backend.
//! * [`Recorder`] wraps a backend and writes everything that passes to a file; [`play()`] runs such a file on any backend.
//! * [`recording_text`] is such a file for people to read.
//! * [`null`] is a backend that keeps buffers, textures and renderbuffers in host memory and draws nothing.
//!
//! * [`client`] is a backend whose calls travel, [`server`] the loop that applies them on another one; [`port`] is the seam
//!   between them and what carries the bytes: [`channel`] in shared memory, [`queue`] in plain memory. [`inproc`] puts a
//!   backend on a second thread.
//! * [`stats`] counts what passes a backend and what a connection waits for, and reports it.
// Four modules allow themselves `unsafe`: the memory that two processes share, the memory of persistent mappings, and the
// kernel's marks on its pages, and the closing of files that a server inherited.
#![deny(unsafe_code)]

mod apply;
mod call;
pub mod channel;
mod check;
pub mod client;
mod counters;
mod event;
mod fingerprint;
pub mod inproc;
mod message;
pub mod null;
mod player;
pub mod port;
pub mod queue;
mod record;
mod recorder;
pub mod server;
pub mod stats;
mod text;

pub use apply::{apply, Reply, MAX_REPLY_BYTES};
pub use call::Call;
pub use counters::CallCounters;
pub use fingerprint::catalogue_fingerprint;
pub use player::{play, play_watched, CallVisitor, PlayError, PlayReport, ReadbackVisitor};
pub use record::{
    record_flags, split_record, DecodeError, RecordBuf, RecordHeader, CONTROL_BASE, HEADER_BYTES, MAX_RECORD_BYTES,
};
pub use recorder::{Recorder, RecordingFormat, RECORDING};
pub use text::recording_text;
