//! Where the counters of a role come together, and when a report is due.

use super::counts::{add, since, CallbackCounts, PortCounts};
use super::options::{file_of, Destination, Role, StatsOptions, Window};
use super::report::{self, Figures, Report, Section};
use crate::port::{EventSink, Mark, ServerEnd, WaitCounters};
use bytemuck::{Pod, Zeroable};
use mgpipe_types::{CallClass, Opcode, CALLS};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long frames are counted for one figure of frames a second.
const RATE: Duration = Duration::from_millis(500);

/// What a client's end of connections did beside its calls.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct WireFigures {
    /// Connections that were made.
    pub connections: u64,
    /// Records that were published, control records among them.
    pub records: u64,
    /// Their bytes in the ring.
    pub record_bytes: u64,
    /// Bytes that were staged beside them.
    pub stage_bytes: u64,
    /// Questions that were asked because many polls before them were in vain.
    pub escalations: u64,
    /// Uploads of what the application wrote through persistent mappings.
    pub mapping_uploads: u64,
    /// Their bytes.
    pub mapping_bytes: u64,
    /// Answers that were waited for, by call.
    pub round_trips: [u64; CALLS.len()],
    /// Screens whose opening was waited for.
    pub screens: u64,
    /// Contexts whose start was waited for.
    pub contexts: u64,
}

impl WireFigures {
    /// Answers that were waited for.
    pub fn all_round_trips(&self) -> u64 {
        self.round_trips.iter().sum::<u64>() + self.screens + self.contexts
    }
}

/// What one end of connections counts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct LinkFigures {
    /// Waits that were not satisfied at the first look.
    pub waits: u64,
    /// Times that a thread slept.
    pub parks: u64,
    /// System calls that woke the peer.
    pub doorbells: u64,
    /// What only a client counts.
    pub wire: WireFigures,
}

impl Default for LinkFigures {
    fn default() -> LinkFigures {
        Zeroable::zeroed()
    }
}

/// An end of connections that can be asked at any time.
pub trait LinkSource: Send + Sync {
    /// What it has counted so far.
    fn figures(&self) -> LinkFigures;

    /// Frames and records that were published and that the server has not applied.
    fn lag(&self) -> (u64, u64) {
        (0, 0)
    }
}

/// Keeps a [`LinkSource`] among those that a report asks; what it counted stays in the reports afterwards.
pub struct LinkWatch {
    stats: Arc<Statistics>,
    id: u64,
}

impl Drop for LinkWatch {
    fn drop(&mut self) {
        self.stats.links.lock().fold(self.id);
    }
}

/// The events of a server's end, whose waits are counted for as long as anybody holds them.
struct WatchedEvents {
    inner: Arc<dyn EventSink>,
    _watch: LinkWatch,
}

struct ServerWaits(Arc<dyn EventSink>);

impl LinkSource for ServerWaits {
    fn figures(&self) -> LinkFigures {
        let WaitCounters { waits, parks, rings } = self.0.waits();
        LinkFigures { waits, parks, doorbells: rings, ..LinkFigures::default() }
    }
}

impl EventSink for WatchedEvents {
    fn max_event(&self) -> usize {
        self.inner.max_event()
    }

    fn event(&self, bytes: &[u8], lossy: bool) -> bool {
        self.inner.event(bytes, lossy)
    }

    fn raise(&self, mark: Mark, value: u64) {
        self.inner.raise(mark, value);
    }

    fn waits(&self) -> WaitCounters {
        self.inner.waits()
    }
}

#[derive(Default)]
struct Links {
    next: u64,
    live: Vec<(u64, Arc<dyn LinkSource>)>,
    past: LinkFigures,
    /// Whether there ever was a connection: a monolith has none.
    any: bool,
}

impl Links {
    fn fold(&mut self, id: u64) {
        if let Some(at) = self.live.iter().position(|(live, _)| *live == id) {
            let (_, source) = self.live.swap_remove(at);
            add(&mut self.past, &source.figures());
        }
    }

    fn figures(&self) -> LinkFigures {
        let mut sum = self.past;
        self.live.iter().for_each(|(_, source)| add(&mut sum, &source.figures()));
        sum
    }

    fn lag(&self) -> (u64, u64) {
        let lags = self.live.iter().map(|(_, source)| source.lag());
        lags.fold((0, 0), |(frames, records), (f, r)| (frames + f, records + r))
    }
}

/// Round trips by frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameTrips {
    /// Frames during which nobody waited for an answer.
    pub(super) without: u64,
    /// Most in one frame.
    pub(super) most: u64,
    /// In the last frame.
    pub(super) last: u64,
}

impl FrameTrips {
    fn frame(&mut self, trips: u64) {
        self.without += u64::from(trips == 0);
        self.most = self.most.max(trips);
        self.last = trips;
    }
}

/// What the last frame was, for a display over it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameFigures {
    /// Frames a second, over the last half second.
    pub rate: f64,
    /// Draw calls of the pipe.
    pub draws: u64,
    /// Bytes of records.
    pub bytes: u64,
    /// Answers that were waited for.
    pub round_trips: u64,
    /// Frames that the server has not applied.
    pub frames_behind: u64,
    /// Records that the server has not applied.
    pub records_behind: u64,
}

/// Everything that only grows.
#[derive(Clone, Copy)]
pub(super) struct Snapshot {
    pub(super) at: Instant,
    pub(super) counts: PortCounts,
    pub(super) callbacks: CallbackCounts,
    pub(super) link: LinkFigures,
}

impl Snapshot {
    pub(super) fn since(&self, then: &Snapshot) -> Snapshot {
        Snapshot {
            at: self.at,
            counts: since(&self.counts, &then.counts),
            callbacks: since(&self.callbacks, &then.callbacks),
            link: since(&self.link, &then.link),
        }
    }
}

struct State {
    counts: PortCounts,
    trips: FrameTrips,
    window_trips: FrameTrips,
    /// Round trips, draws and record bytes when the last frame ended.
    frame_start: [u64; 3],
    frame: FrameFigures,
    /// When the present count for the rate began, and its frames.
    rate_since: Instant,
    rate_frames: u64,
    window: Snapshot,
    /// Sections as they were when the window began.
    window_sections: BTreeMap<&'static str, Section>,
}

type SectionSource = Box<dyn Fn() -> Section + Send + Sync>;

/// The counters of one role of a process.
pub struct Statistics {
    role: Role,
    backend: String,
    transport: String,
    options: Option<StatsOptions>,
    start: Snapshot,
    state: Mutex<State>,
    callbacks: Mutex<CallbackCounts>,
    links: Mutex<Links>,
    sections: Mutex<Vec<(&'static str, SectionSource)>>,
    /// Held while a report is written: an older one must not replace a newer one.
    writer: Mutex<()>,
    complained: AtomicBool,
}

impl Statistics {
    /// Counters that start now. Without `options` nothing is written; the figures of the last frame are there all the same.
    pub fn new(role: Role, backend: &str, transport: &str, options: Option<StatsOptions>) -> Arc<Statistics> {
        let at = Instant::now();
        let nothing = Snapshot {
            at,
            counts: PortCounts::default(),
            callbacks: CallbackCounts::zeroed(),
            link: LinkFigures::default(),
        };
        Arc::new(Statistics {
            role,
            backend: backend.into(),
            transport: transport.into(),
            options,
            start: nothing,
            state: Mutex::new(State {
                counts: PortCounts::default(),
                trips: FrameTrips::default(),
                window_trips: FrameTrips::default(),
                frame_start: [0; 3],
                frame: FrameFigures::default(),
                rate_since: at,
                rate_frames: 0,
                window: nothing,
                window_sections: BTreeMap::new(),
            }),
            callbacks: Mutex::new(CallbackCounts::zeroed()),
            links: Mutex::default(),
            sections: Mutex::default(),
            writer: Mutex::new(()),
            complained: AtomicBool::new(false),
        })
    }

    /// Asks an end of connections in each report, for as long as the answer lives.
    #[must_use = "the end is asked for as long as this lives"]
    pub fn watch(self: &Arc<Statistics>, source: Arc<dyn LinkSource>) -> LinkWatch {
        let mut links = self.links.lock();
        let id = links.next;
        links.next += 1;
        links.any = true;
        links.live.push((id, source));
        LinkWatch { stats: self.clone(), id }
    }

    /// A server's end of a connection whose waits are in the reports.
    pub fn watch_server(self: &Arc<Statistics>, end: ServerEnd) -> ServerEnd {
        let watch = self.watch(Arc::new(ServerWaits(end.events.clone())));
        ServerEnd { events: Arc::new(WatchedEvents { inner: end.events, _watch: watch }), ..end }
    }

    /// Adds a section to each report: counters of a part that this crate does not know.
    pub fn add_section(&self, name: &'static str, source: impl Fn() -> Section + Send + Sync + 'static) {
        self.sections.lock().push((name, Box::new(source)));
    }

    /// What the last frame was.
    pub fn frame(&self) -> FrameFigures {
        let frame = self.state.lock().frame;
        let (frames_behind, records_behind) = self.links.lock().lag();
        FrameFigures { frames_behind, records_behind, ..frame }
    }

    /// Counts a call of a screen.
    pub(super) fn screen_call(&self, opcode: Opcode, class: CallClass, bytes: usize) {
        self.state.lock().counts.call(opcode, class, bytes);
    }

    /// Counts something that a server said. Called with locks of the connection held.
    pub(super) fn called_back(&self, count: impl FnOnce(&mut CallbackCounts)) {
        count(&mut self.callbacks.lock());
    }

    /// Takes a context's counts, and writes a report when one is due.
    pub(super) fn gather(&self, counts: &mut PortCounts) {
        let frames = counts.frames;
        let link = self.links.lock().figures();
        let due = {
            let mut state = self.state.lock();
            counts.move_into(&mut state.counts);
            if frames > 0 {
                state.frame_ended(&link, frames);
            }
            self.is_due(&state)
        };
        if due {
            self.report(false, true);
        }
    }

    fn is_due(&self, state: &State) -> bool {
        match self.options.as_ref().map(|options| options.window) {
            None => false,
            Some(Window::Frames(frames)) => state.counts.frames - state.window.counts.frames >= frames,
            Some(Window::Time(time)) => state.window.at.elapsed() >= time,
        }
    }

    /// A share group ended: the file says so at once, in case nothing else happens.
    pub(super) fn group_ended(&self) {
        if matches!(&self.options, Some(StatsOptions { destination: Destination::File(_), .. })) {
            self.report(false, false);
        }
    }

    /// Writes the last report. Calling it again writes a newer one.
    pub fn finish(&self) {
        if self.options.is_some() {
            self.report(true, true);
        }
    }

    /// The present report as JSON.
    pub fn json(&self) -> String {
        report::to_json(&self.make(false, false))
    }

    fn make(&self, ended: bool, closes_window: bool) -> Report {
        let (link, split) = {
            let links = self.links.lock();
            (links.figures(), links.any)
        };
        let callbacks = *self.callbacks.lock();
        let sections: BTreeMap<&'static str, Section> =
            self.sections.lock().iter().map(|(name, source)| (*name, source())).collect();
        let mut state = self.state.lock();
        let now = Snapshot { at: Instant::now(), counts: state.counts, callbacks, link };
        let grown = sections.iter().map(|(name, section)| match state.window_sections.get(name) {
            Some(then) => (*name, section.since(then)),
            None => (*name, section.clone()),
        });
        let grown = grown.collect();
        let total = Figures::new(&now.since(&self.start), now.at - self.start.at, state.trips, split, sections.clone());
        let window =
            Figures::new(&now.since(&state.window), now.at - state.window.at, state.window_trips, split, grown);
        if closes_window {
            state.window = now;
            state.window_trips = FrameTrips::default();
            state.window_sections = sections;
        }
        drop(state);
        Report::new(self.role, &self.backend, &self.transport, ended, total, window)
    }

    fn report(&self, ended: bool, closes_window: bool) {
        let Some(options) = &self.options else { return };
        let _writing = self.writer.lock();
        let report = self.make(ended, closes_window);
        let path = match &options.destination {
            Destination::Lines => return report::log_line(&report, ended),
            Destination::File(path) => file_of(self.role, path, std::process::id()),
        };
        if let Err(error) = std::fs::write(&path, report::to_json(&report)) {
            if !self.complained.swap(true, Ordering::Relaxed) {
                log::error!("MGL_STATS: {}: {error}", path.display());
            }
        }
    }
}

impl State {
    fn frame_ended(&mut self, link: &LinkFigures, frames: u64) {
        let now = [link.wire.all_round_trips(), self.counts.draws.draws, self.counts.record_bytes()];
        let [trips, draws, bytes] = std::array::from_fn(|at| now[at].saturating_sub(self.frame_start[at]));
        self.frame_start = now;
        self.trips.frame(trips);
        self.window_trips.frame(trips);
        self.rate_frames += frames;
        let elapsed = self.rate_since.elapsed();
        let mut rate = self.frame.rate;
        if elapsed >= RATE {
            rate = self.rate_frames as f64 / elapsed.as_secs_f64();
            self.rate_since += elapsed;
            self.rate_frames = 0;
        }
        self.frame = FrameFigures { rate, draws, bytes, round_trips: trips, ..FrameFigures::default() };
    }
}
