//! Counters of this process: `MGL_STATS` and `MGL_HUD`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mgl_frontend::{Observer, TrackerGroup, TrackerStats, VerbClass};
use mgpipe_types::Backend;
use mgpipe_wire::port::ServerEnd;
use mgpipe_wire::stats::{Counted, FrameFigures, LinkSource, Rate, Role, Section, Statistics};
use parking_lot::Mutex;

use crate::egl::process;
use crate::settings::{Settings, Transport};

/// How long the text over frames stays the same: long enough to be read.
const READABLE: Duration = Duration::from_millis(250);

/// The counters of a process, made when its first backend is.
pub(crate) struct Counting {
    stats: Arc<Statistics>,
    /// Those of the other role, where it is played in this process.
    server: Option<Arc<Statistics>>,
    tracker: Arc<Mutex<TrackerStats>>,
    hud: Option<Hud>,
}

/// The text over frames.
struct Hud {
    /// Its first line.
    title: String,
    /// There is a server elsewhere that can be behind.
    split: bool,
    shown: Mutex<Option<(Instant, String)>>,
}

/// The counters, and the process that they belong to: a fork has none of its parent's.
static PROCESS: Mutex<Option<(u32, Option<Arc<Counting>>)>> = Mutex::new(None);

/// The counters of this process; `None` when nothing asks for any.
pub(crate) fn of_process(settings: &Settings) -> Option<Arc<Counting>> {
    let mut process = PROCESS.lock();
    match &*process {
        Some((generation, counting)) if *generation == process::generation() => return counting.clone(),
        _ => {}
    }
    let counting = (settings.stats.is_some() || settings.hud).then(|| Arc::new(Counting::new(settings)));
    // What a parent left is out of reach here: its threads are not in this process.
    std::mem::forget(process.replace((process::generation(), counting.clone())));
    counting
}

/// Writes the last reports.
pub(crate) fn finish() {
    // A thread that holds the lock for good is no reason to hang the exit.
    let counting = PROCESS.try_lock().and_then(|process| process.clone());
    if let Some((generation, Some(counting))) = counting {
        if generation == process::generation() {
            counting.stats.finish();
            if let Some(server) = &counting.server {
                server.finish();
            }
        }
    }
}

impl Counting {
    fn new(settings: &Settings) -> Counting {
        let backend = &snake_case(&format!("{:?}", settings.backend));
        let transport = match &settings.transport {
            Transport::Monolith => "monolith",
            Transport::Inproc => "inproc",
            Transport::Spawn => "spawn",
            Transport::Unix(_) => "unix",
        };
        let of_role = |role| Statistics::new(role, backend, transport, settings.stats.clone());
        let stats = of_role(Role::Client);
        let tracker = Arc::new(Mutex::new(TrackerStats::default()));
        let counted = tracker.clone();
        stats.add_section("tracker", move || section(&counted.lock()));
        let hud = settings.hud.then(|| Hud {
            title: format!("MGL {backend} {transport}"),
            split: settings.transport != Transport::Monolith,
            shown: Mutex::default(),
        });
        let other_role_here = settings.stats.is_some() && settings.transport == Transport::Inproc;
        Counting { stats, server: other_role_here.then(|| of_role(Role::Server)), tracker, hud }
    }

    /// Counts what passes a backend on the program's side, and what its connections wait for.
    pub(crate) fn client(&self, backend: Arc<dyn Backend>, link: Option<Arc<dyn LinkSource>>) -> Arc<dyn Backend> {
        let counted = Counted::new(backend, self.stats.clone());
        Arc::new(match link {
            Some(link) => counted.with_link(link),
            None => counted,
        })
    }

    /// Counts what passes a backend that this process applies.
    pub(crate) fn server(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        match &self.server {
            Some(stats) => Arc::new(Counted::new(backend, stats.clone())),
            None => backend,
        }
    }

    /// Counts what the server's end of a connection in this process waits for.
    pub(crate) fn server_end(&self, end: ServerEnd) -> ServerEnd {
        match &self.server {
            Some(stats) => stats.watch_server(end),
            None => end,
        }
    }
}

impl Observer for Counting {
    fn tracked(&self, counted: &TrackerStats) {
        self.tracker.lock().add(counted);
    }

    fn overlay(&self) -> Option<String> {
        let hud = self.hud.as_ref()?;
        let mut shown = hud.shown.lock();
        match &*shown {
            Some((since, text)) if since.elapsed() < READABLE => return Some(text.clone()),
            _ => {}
        }
        let text = hud.text(&self.stats.frame());
        *shown = Some((Instant::now(), text.clone()));
        Some(text)
    }
}

impl Hud {
    fn text(&self, frame: &FrameFigures) -> String {
        let rate = if frame.rate > 0.0 { format!("{:.1}", frame.rate) } else { "-".into() };
        let (draws, kib, trips) = (frame.draws, frame.bytes as f64 / 1024.0, frame.round_trips);
        let mut text = format!(
            "{:<24}\nframes/s {rate:>15}\ndraws {draws:>18}\nKiB {kib:>20.1}\nround trips {trips:>12}",
            self.title
        );
        if self.split {
            let (frames, records) = (frame.frames_behind, frame.records_behind);
            text += &format!("\nframes behind {frames:>10}\nrecords behind {records:>9}");
        }
        text
    }
}

/// `GlobalConstants` as `global_constants`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The tracker's counters for a report.
fn section(stats: &TrackerStats) -> Section {
    let by_verb = |counts: &[u64]| -> BTreeMap<String, u64> {
        VerbClass::ALL.iter().map(|class| snake_case(&format!("{class:?}"))).zip(counts.iter().copied()).collect()
    };
    let by_group = |counts: &[u64]| -> BTreeMap<String, u64> {
        TrackerGroup::ALL.iter().map(|group| snake_case(&format!("{group:?}"))).zip(counts.iter().copied()).collect()
    };
    let objects = [
        ("render_states", stats.render_state),
        ("vertex_elements", stats.vertex_elements),
        ("samplers", stats.samplers),
        ("sampler_views", stats.sampler_views),
    ];
    let mut counts = BTreeMap::from([
        ("verbs", by_verb(&stats.verbs)),
        ("walks", by_verb(&stats.walks)),
        ("fires", by_group(&stats.fires)),
        ("sent", by_group(&stats.sent)),
        ("suppressed", by_group(&stats.suppressed)),
        (
            "all",
            BTreeMap::from([
                ("state_bytes".to_owned(), stats.bytes),
                ("steady_verbs".to_owned(), stats.steady_verbs()),
                ("verbs".to_owned(), stats.verbs.iter().sum()),
            ]),
        ),
    ]);
    for (name, cso) in objects {
        let named = [
            ("mints", cso.mints),
            ("hits", cso.hits),
            ("predictions", cso.predictions),
            ("binds", cso.binds),
            ("evictions", cso.evictions),
            ("collisions", cso.collisions),
            ("exhausted", cso.exhausted),
        ];
        counts.insert(name, named.map(|(name, value)| (name.to_owned(), value)).into());
    }
    let name = |table: &'static str, counter: &str| (table, counter.to_owned());
    let looked_up = |counters: &[&str]| -> Vec<(&'static str, String)> {
        objects.iter().flat_map(|(table, _)| counters.iter().map(|counter| name(table, counter))).collect()
    };
    let of_groups = |table: &'static str| -> Vec<(&'static str, String)> {
        TrackerGroup::ALL.iter().map(|group| name(table, &snake_case(&format!("{group:?}")))).collect()
    };
    let mut rates = vec![
        Rate::in_line("steady verbs", vec![name("all", "steady_verbs")], vec![name("all", "verbs")]),
        Rate::in_line(
            "state objects found",
            looked_up(&["hits", "predictions"]),
            looked_up(&["hits", "predictions", "mints", "exhausted"]),
        ),
        Rate::in_line("sets suppressed", of_groups("suppressed"), of_groups("fires")),
    ];
    // How often each group was dirty, a verb.
    for group in TrackerGroup::ALL {
        let group = snake_case(&format!("{group:?}"));
        rates.push(Rate::new(&format!("{group} dirty"), vec![name("fires", &group)], vec![name("all", "verbs")]));
    }
    Section { counts, rates }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_of_the_tracker_has_a_name() {
        let mut stats = TrackerStats::default();
        stats.verbs[0] = 10;
        stats.walks[0] = 4;
        stats.fires[1] = 5;
        stats.suppressed[1] = 2;
        stats.samplers.mints = 3;
        let section = section(&stats);
        assert_eq!(section.counts["verbs"]["draw"], 10);
        assert_eq!(section.counts["fires"]["framebuffer"], 5);
        assert_eq!(section.counts["samplers"]["mints"], 3);
        assert_eq!(section.counts["fires"].len(), TrackerGroup::COUNT);
        assert_eq!(section.counts["verbs"].len(), VerbClass::COUNT);
        let rates = section.values();
        assert_eq!((rates["steady verbs"], rates["sets suppressed"]), (0.6, 0.4));
        assert_eq!(rates["framebuffer dirty"], 0.5);
    }

    #[test]
    fn the_text_has_a_line_for_each_figure() {
        let frame =
            FrameFigures { rate: 59.94, draws: 1320, bytes: 2048, round_trips: 3, frames_behind: 1, records_behind: 9 };
        let hud = |split| Hud { title: "MGL null spawn".into(), split, shown: Mutex::default() };
        let text = hud(true).text(&frame);
        let words: Vec<_> = text.lines().map(|line| line.split_whitespace().last().unwrap_or("")).collect();
        assert_eq!(words, ["spawn", "59.9", "1320", "2.0", "3", "1", "9"]);
        assert!(text.lines().all(|line| line.len() == 24), "{text}");
        assert_eq!(hud(false).text(&FrameFigures::default()).lines().count(), 5);
    }
}
