//! Reports: JSON, and a line.

use super::collector::{FrameTrips, Snapshot};
use super::counts::DrawCounts;
use super::memory::peak_rss_kib;
use super::options::Role;
use mgpipe_types::{CallClass, CALLS};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Target of the log lines, which a logger shows whatever its level is: the user asked for them.
pub const STATS_TARGET: &str = "mgl_stats";

/// Version of the report's shape.
const VERSION: u32 = 1;

/// Counters of a part that this crate does not know: tables by name, each of counters by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Counters, which only grow.
    #[serde(flatten)]
    pub counts: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Rates that follow from the counters.
    #[serde(skip)]
    pub rates: Vec<Rate>,
}

/// Counters by table and name.
type Names = Vec<(&'static str, String)>;

/// How often some counters are what others are.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    name: String,
    part: Names,
    whole: Names,
    in_line: bool,
}

impl Rate {
    /// The sum of the counters `part`, each named by its table and name, over the sum of `whole`.
    pub fn new(name: &str, part: Vec<(&'static str, String)>, whole: Vec<(&'static str, String)>) -> Rate {
        Rate { name: name.into(), part, whole, in_line: false }
    }

    /// The same; it also stands in lines.
    pub fn in_line(name: &str, part: Vec<(&'static str, String)>, whole: Vec<(&'static str, String)>) -> Rate {
        Rate { in_line: true, ..Rate::new(name, part, whole) }
    }
}

impl Section {
    /// What the counters have grown by.
    pub(super) fn since(&self, then: &Section) -> Section {
        let mut grown = self.clone();
        for (table, counters) in &mut grown.counts {
            let Some(before) = then.counts.get(table) else { continue };
            for (name, value) in counters {
                *value = value.saturating_sub(before.get(name).copied().unwrap_or(0));
            }
        }
        grown
    }

    fn sum(&self, names: &[(&'static str, String)]) -> u64 {
        names.iter().filter_map(|(table, name)| self.counts.get(table)?.get(name)).sum()
    }

    fn value(&self, rate: &Rate) -> Option<f64> {
        let whole = self.sum(&rate.whole);
        (whole > 0).then(|| self.sum(&rate.part) as f64 / whole as f64)
    }

    /// The rates by name, without those of nothing.
    pub fn values(&self) -> BTreeMap<String, f64> {
        self.rates.iter().filter_map(|rate| Some((rate.name.clone(), self.value(rate)?))).collect()
    }
}

#[derive(Clone, Debug, Serialize)]
struct CallFigures {
    class: &'static str,
    calls: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
struct ClassFigures {
    calls: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
struct Bucket {
    up_to: Option<u64>,
    draws: u64,
}

#[derive(Clone, Debug, Serialize)]
struct DrawFigures {
    draws: u64,
    payload_bytes: u64,
    histogram: Vec<Bucket>,
    client_index_bytes: u64,
    index_mirror_draws: u64,
    index_mirror_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
struct UploadFigures {
    bytes: u64,
    buffer_uploads: u64,
    buffer_bytes: u64,
    texture_boxes: u64,
    texture_lists: u64,
    texture_regions: u64,
    texture_bytes: u64,
    texture_jobs: u64,
    texture_joined: u64,
    texture_job_bytes: u64,
}

#[derive(Clone, Debug, Serialize)]
struct CallbackFigures {
    texture_pulls: u64,
    texture_pull_levels: u64,
    gpu_writes: u64,
    writebacks: u64,
    writeback_bytes: u64,
    errors: u64,
    log_lines: u64,
}

#[derive(Clone, Debug, Serialize)]
struct TripFigures {
    total: u64,
    by_call: BTreeMap<&'static str, u64>,
    frames_without: u64,
    most_in_a_frame: u64,
    last_frame: u64,
}

#[derive(Clone, Debug, Serialize)]
struct WaitFigures {
    waits: u64,
    parks: u64,
    doorbells: u64,
}

#[derive(Clone, Debug, Serialize)]
struct WireReport {
    connections: u64,
    records: u64,
    record_bytes: u64,
    stage_bytes: u64,
    escalations: u64,
    mapping_uploads: u64,
    mapping_bytes: u64,
}

/// The figures of a stretch of time.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Figures {
    seconds: f64,
    frames: u64,
    presents: u64,
    flushes: u64,
    calls: BTreeMap<&'static str, CallFigures>,
    classes: BTreeMap<&'static str, ClassFigures>,
    record_bytes: u64,
    draws: DrawFigures,
    uploads: UploadFigures,
    server_said: CallbackFigures,
    round_trips: TripFigures,
    /// None where there is no connection.
    waits: Option<WaitFigures>,
    wire: Option<WireReport>,
    sections: BTreeMap<&'static str, Section>,
    rates: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

const CLASSES: [(CallClass, &str); 6] = [
    (CallClass::Screen, "screen"),
    (CallClass::Query, "query"),
    (CallClass::Cso, "cso"),
    (CallClass::State, "state"),
    (CallClass::Object, "object"),
    (CallClass::Verb, "verb"),
];

fn class_name(class: CallClass) -> &'static str {
    CLASSES.iter().find(|(known, _)| *known == class).map_or("", |(_, name)| name)
}

impl Figures {
    pub(super) fn new(
        grown: &Snapshot,
        time: Duration,
        trips: FrameTrips,
        split: bool,
        sections: BTreeMap<&'static str, Section>,
    ) -> Figures {
        let Snapshot { counts, callbacks, link, .. } = grown;
        let (draws, uploads, wire) = (&counts.draws, &counts.uploads, &link.wire);
        let of_call = |(name, calls, bytes)| {
            let class = CALLS.iter().find(|info| info.name == name).map_or("", |info| class_name(info.class));
            (name, CallFigures { class, calls, bytes })
        };
        let of_class = |(class, name)| {
            let (calls, bytes) = counts.calls.of_class(class);
            (name, ClassFigures { calls, bytes })
        };
        let bucket = |(at, draws): (usize, &u64)| Bucket { up_to: DrawCounts::bucket_limit(at), draws: *draws };
        let named = CALLS.iter().map(|info| info.name).zip(wire.round_trips);
        let starts = [("open_screen", wire.screens), ("create_context", wire.contexts)];
        let by_call = named.chain(starts).filter(|(_, trips)| *trips > 0).collect();
        Figures {
            seconds: time.as_secs_f64(),
            frames: counts.frames,
            presents: counts.presents,
            flushes: counts.flushes,
            calls: counts.calls.iter().map(of_call).collect(),
            classes: CLASSES.into_iter().map(of_class).collect(),
            record_bytes: counts.record_bytes(),
            draws: DrawFigures {
                draws: draws.draws,
                payload_bytes: draws.payload_bytes,
                histogram: draws.histogram.iter().enumerate().map(bucket).collect(),
                client_index_bytes: draws.client_index_bytes,
                index_mirror_draws: draws.index_mirror_draws,
                // No server keeps index bytes for its draws yet.
                index_mirror_bytes: 0,
            },
            uploads: UploadFigures {
                bytes: uploads.buffer_bytes + uploads.texture_bytes,
                buffer_uploads: uploads.buffer_uploads,
                buffer_bytes: uploads.buffer_bytes,
                texture_boxes: uploads.texture_boxes,
                texture_lists: uploads.texture_lists,
                texture_regions: uploads.texture_regions,
                texture_bytes: uploads.texture_bytes,
                texture_jobs: uploads.texture_jobs,
                texture_joined: uploads.texture_joined,
                texture_job_bytes: uploads.texture_job_bytes,
            },
            server_said: CallbackFigures {
                texture_pulls: callbacks.texture_pulls,
                texture_pull_levels: callbacks.texture_pull_levels,
                gpu_writes: callbacks.gpu_writes,
                writebacks: callbacks.writebacks,
                writeback_bytes: callbacks.writeback_bytes,
                errors: callbacks.errors,
                log_lines: callbacks.log_lines,
            },
            round_trips: TripFigures {
                total: wire.all_round_trips(),
                by_call,
                frames_without: trips.without,
                most_in_a_frame: trips.most,
                last_frame: trips.last,
            },
            waits: split.then_some(WaitFigures { waits: link.waits, parks: link.parks, doorbells: link.doorbells }),
            wire: (split && wire.connections > 0).then_some(WireReport {
                connections: wire.connections,
                records: wire.records,
                record_bytes: wire.record_bytes,
                stage_bytes: wire.stage_bytes,
                escalations: wire.escalations,
                mapping_uploads: wire.mapping_uploads,
                mapping_bytes: wire.mapping_bytes,
            }),
            rates: sections.iter().map(|(name, section)| (*name, section.values())).collect(),
            sections,
        }
    }
}

/// A report of a role.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    version: u32,
    role: &'static str,
    backend: String,
    transport: String,
    process: u32,
    /// Whether the role has ended: no newer report follows.
    ended: bool,
    peak_rss_kib: Option<u64>,
    total: Figures,
    /// Since the report before this one.
    window: Figures,
}

impl Report {
    pub(super) fn new(
        role: Role,
        backend: &str,
        transport: &str,
        ended: bool,
        total: Figures,
        window: Figures,
    ) -> Report {
        Report {
            version: VERSION,
            role: role.name(),
            backend: backend.into(),
            transport: transport.into(),
            process: std::process::id(),
            ended,
            peak_rss_kib: peak_rss_kib(),
            total,
            window,
        }
    }

    /// One line: the window, or everything once the role has ended.
    fn line(&self, ended: bool) -> String {
        let figures = if ended { &self.total } else { &self.window };
        let (per, over) = match figures.frames {
            0 => (1.0, "in all"),
            frames => (frames as f64, "a frame"),
        };
        let kib = |bytes: u64| bytes as f64 / per / 1024.0;
        let mut text = format!(
            "{}{}: {} frames in {:.2} s ({:.1}/s); {over}: {:.1} draws, {:.1} KiB of calls, {:.1} KiB of uploads, \
             {:.2} round trips",
            self.role,
            if ended { " at its end" } else { "" },
            figures.frames,
            figures.seconds,
            figures.frames as f64 / figures.seconds.max(1e-9),
            figures.draws.draws as f64 / per,
            kib(figures.record_bytes.saturating_sub(figures.uploads.bytes)),
            kib(figures.uploads.bytes),
            figures.round_trips.total as f64 / per,
        );
        if let Some(waits) = &figures.waits {
            text += &format!("; {} waits, {} parks, {} doorbells", waits.waits, waits.parks, waits.doorbells);
        }
        for section in figures.sections.values() {
            for rate in section.rates.iter().filter(|rate| rate.in_line) {
                if let Some(value) = section.value(rate) {
                    text += &format!(", {} {:.1} %", rate.name, value * 100.0);
                }
            }
        }
        if let Some(kib) = self.peak_rss_kib {
            text += &format!("; peak {} MiB", kib >> 10);
        }
        text
    }
}

/// The report as JSON, with a line feed at its end.
pub(super) fn to_json(report: &Report) -> String {
    match serde_json::to_string_pretty(report) {
        Ok(text) => text + "\n",
        Err(error) => format!("{{\"error\": \"{error}\"}}\n"),
    }
}

/// Logs a line, past the level of the logger.
pub(super) fn log_line(report: &Report, ended: bool) {
    let line = report.line(ended);
    log::logger().log(
        &log::Record::builder()
            .level(log::Level::Info)
            .target(STATS_TARGET)
            .args(format_args!("stats: {line}"))
            .build(),
    );
}
