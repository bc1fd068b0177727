//! Log lines on standard error: `mgl: level: text`, filtered by `MGL_LOG`.

use std::io::Write as _;
use std::panic;
use std::sync::Once;

use log::{LevelFilter, Log, Metadata, Record};
use mgpipe_types::switches::switch_text;
use mgpipe_wire::stats::STATS_TARGET;

use crate::settings_file;

struct StderrLog;

impl Log for StderrLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level() || metadata.target() == STATS_TARGET
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            // One write a line keeps lines of several threads whole. A closed standard error is nobody's problem here.
            let line = format!("mgl: {}: {}\n", record.level().as_str().to_ascii_lowercase(), record.args());
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

/// The level that a value of `MGL_LOG` names; `None` for an unknown one.
pub(crate) fn level(value: &str) -> Option<LevelFilter> {
    Some(match value {
        "off" => LevelFilter::Off,
        "" | "error" => LevelFilter::Error,
        "warn" => LevelFilter::Warn,
        "info" => LevelFilter::Info,
        "debug" => LevelFilter::Debug,
        "trace" => LevelFilter::Trace,
        _ => return None,
    })
}

/// Installs the logger on first use. It has no effect on a logger of the application: this library has its own copy of
/// the `log` crate and of the standard library.
pub(crate) fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        static LOGGER: StderrLog = StderrLog;
        let mistakes = settings_file::load();
        if log::set_logger(&LOGGER).is_ok() {
            let wanted = switch_text("MGL_LOG").unwrap_or_default();
            log::set_max_level(level(&wanted).unwrap_or(LevelFilter::Error));
        }
        for mistake in mistakes {
            log::error!("{mistake}");
        }
        // In a shared library the hook is ours alone. In the test program that links this crate as Rust it would
        // silence the test runner's own report.
        if !cfg!(test) {
            panic::set_hook(Box::new(|info| log::error!("internal failure: {info}")));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::level;
    use log::LevelFilter;

    #[test]
    fn levels_have_names_and_nothing_else_passes() {
        assert_eq!(level(""), Some(LevelFilter::Error));
        assert_eq!(level("trace"), Some(LevelFilter::Trace));
        assert_eq!(level("loud"), None);
    }
}
