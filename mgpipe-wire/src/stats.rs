//! Counters of a role: what passes the pipe, what the connection waits for, and the reports about both.
//!
//! Nothing here is in the way of a program that does not ask for it: a backend that is counted is wrapped
//! ([`Counted`]), one that is not is the backend itself. A counted context counts in plain memory of its own, which
//! [`Statistics`] gathers whenever the context flushes; a report is made when a window of frames or seconds is over, and
//! at the end. Each process or thread that plays a role (client, server) has one [`Statistics`].
//!
//! `docs/counters.md` explains every counter.

mod collector;
mod counts;
mod memory;
mod options;
mod port;
mod report;

pub use collector::{FrameFigures, LinkFigures, LinkSource, LinkWatch, Statistics, WireFigures};
pub use counts::{CallbackCounts, DrawCounts, PortCounts, UploadCounts, DRAW_BUCKETS};
pub use memory::peak_rss_kib;
pub use options::{Destination, Role, StatsOptions, Window};
pub use port::Counted;
pub use report::{Rate, Section, STATS_TARGET};
