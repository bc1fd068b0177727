//! Log lines on standard error: `mgl-server: level: text`, filtered by `MGL_LOG`.

use log::{LevelFilter, Log, Metadata, Record};
use mgpipe_wire::stats::STATS_TARGET;
use std::io::Write as _;

struct StderrLog;

impl Log for StderrLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level() || metadata.target() == STATS_TARGET
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            // One write a line: the client writes to the same place. A closed standard error is nobody's problem here.
            let line = format!("mgl-server: {}: {}\n", record.level().as_str().to_ascii_lowercase(), record.args());
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

/// Installs the logger. A level that is unknown here was refused by the client already.
pub(crate) fn init() {
    static LOGGER: StderrLog = StderrLog;
    if log::set_logger(&LOGGER).is_ok() {
        let wanted = std::env::var("MGL_LOG").unwrap_or_default();
        log::set_max_level(wanted.parse().unwrap_or(LevelFilter::Error));
    }
    std::panic::set_hook(Box::new(|info| log::error!("internal failure: {info}")));
}
