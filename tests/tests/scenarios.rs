//! Runs every scenario on the reference and on MGL, one named test each, and checks that wrong scenarios go red.
//!
//! Names: `reference::SCENARIO`, `BACKEND/TRANSPORT::SCENARIO`, `without/EXTENSION::SCENARIO`, `maps/TIER/BACKEND/TRANSPORT::SCENARIO`,
//! `respawn/BACKEND/TRANSPORT::SCENARIO`, `control::WHAT`. `MGL_TEST_DRIVERS` lists what is tested
//! (default: both backends on every transport, Espryt across one only in part; `llvmpipe` tests the harness against itself). A failed comparison keeps the actual, the
//! reference and the difference picture in `target/scenario-failures/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use mgl_tests::driver::Driver;
use mgl_tests::expectations::{judge, Expectations};
use mgl_tests::fallbacks::{Masked, ESPRYT_MASKS, MASKS};
use mgl_tests::picture::Picture;
use mgl_tests::runner::{scenario_timeout, supervise};
use mgl_tests::scenarios;
use mgl_tests::scene::Scenario;
use mgl_tests::verdict::{Outcome, Verdict};

/// What is tested when nobody says otherwise: the same scenarios, by the same names, wherever the backend runs.
const DRIVERS: &str = "magma/monolith,magma/inproc,magma/spawn,espryt/monolith,espryt/inproc,espryt/spawn";

/// Where only a part runs when nobody asks for more: the transport is the one that Magma has, and Espryt what it is in one process.
const IN_PART: [&str; 2] = ["espryt/inproc", "espryt/spawn"];

/// That part: what waits, what travels in both directions, and what threads share.
const PART: &[&str] = &[
    "buffer_",
    "context_",
    "copy_",
    "error_",
    "feedback_",
    "format_",
    "hostile_",
    "mapping_",
    "mixed_",
    "object_",
    "query_",
    "share_",
    "sync_",
    "transfer_",
];

const RUNNER: &str = env!("CARGO_BIN_EXE_scenario-runner");

/// The results of one driver, produced by one batch when the first test asks.
struct Batch {
    driver: Driver,
    folder: PathBuf,
    /// Switches of the driver's and their values.
    switches: Vec<(&'static str, &'static str)>,
    names: Mutex<Vec<String>>,
    verdicts: OnceLock<Result<BTreeMap<String, Verdict>, String>>,
}

impl Batch {
    fn new(driver: Driver, root: &Path) -> Arc<Self> {
        let folder = root.join(driver.name().replace('/', "-"));
        Self::with_switches(driver, folder, Vec::new())
    }

    fn switched(driver: Driver, root: &Path, name: &'static str, value: &'static str) -> Arc<Self> {
        Self::with_switches(driver, root.join(value), vec![(name, value)])
    }

    fn with_switches(driver: Driver, folder: PathBuf, switches: Vec<(&'static str, &'static str)>) -> Arc<Self> {
        Arc::new(Self { driver, folder, switches, names: Mutex::default(), verdicts: OnceLock::new() })
    }

    fn verdict(&self, name: &str) -> Result<Verdict, Failed> {
        let all = self.verdicts.get_or_init(|| {
            let names = self.names.lock().map_err(|e| e.to_string())?.clone();
            self.driver.available().map_err(|e| format!("{e:#}"))?;
            let variables = self.switches.as_slice();
            supervise(Path::new(RUNNER), &self.driver, &names, &self.folder, scenario_timeout(), variables)
                .map_err(|e| format!("{e:#}"))
        });
        let all = all.as_ref().map_err(|e| Failed::from(e.clone()))?;
        all.get(name).cloned().ok_or_else(|| Failed::from(format!("{name} left no verdict")))
    }
}

/// Compares pictures and numbers; the messages of what differs. Keeps pictures of a difference in `failures`.
fn compare(
    actual: &Verdict,
    actual_folder: &Path,
    reference: &Verdict,
    reference_folder: &Path,
    failures: &Path,
) -> Vec<String> {
    let mut messages = Vec::new();
    for entry in &reference.pictures {
        let file = format!("{}.{}.png", reference.name, entry.name);
        let load = |folder: &Path| Picture::load(&folder.join(&file));
        if !actual.pictures.iter().any(|p| p.name == entry.name) {
            messages.push(format!("picture {}: not drawn", entry.name));
            continue;
        }
        let (a, r) = match (load(actual_folder), load(reference_folder)) {
            (Ok(a), Ok(r)) => (a, r),
            (Err(e), _) | (_, Err(e)) => {
                messages.push(format!("picture {}: {e:#}", entry.name));
                continue;
            }
        };
        let failed = match a.difference(&r, entry.tolerance.channel) {
            Ok(d) if d.within(&entry.tolerance) => continue,
            Ok(d) => format!("{d:?} is outside {:?}", entry.tolerance),
            Err(e) => format!("{e:#}"),
        };
        let stem = format!("{}.{}", reference.name, entry.name);
        let _ = std::fs::create_dir_all(failures);
        let mut kept = a.save(&failures.join(format!("{stem}.actual.png")));
        kept = kept.and(r.save(&failures.join(format!("{stem}.reference.png"))));
        if let Some(d) = a.difference_picture(&r) {
            kept = kept.and(d.save(&failures.join(format!("{stem}.diff.png"))));
        }
        let place = kept.map_or_else(|e| format!("{e:#}"), |()| format!("{}/{stem}.*.png", failures.display()));
        messages.push(format!("picture {}: {failed}; see {place}", entry.name));
    }
    for entry in &reference.values {
        let Some(a) = actual.values.iter().find(|v| v.name == entry.name) else {
            messages.push(format!("values {}: missing", entry.name));
            continue;
        };
        if a.values.len() != entry.values.len() {
            messages.push(format!(
                "values {}: {} of them, expected {}",
                entry.name,
                a.values.len(),
                entry.values.len()
            ));
            continue;
        }
        let worst = a
            .values
            .iter()
            .zip(&entry.values)
            .enumerate()
            .find(|(_, (a, r))| !((*a - *r).abs() <= entry.tolerance || a == r || (a.is_nan() && r.is_nan())));
        if let Some((i, (a, r))) = worst {
            messages.push(format!("values {}[{i}]: {a}, expected {r} ± {}", entry.name, entry.tolerance));
        }
    }
    messages
}

/// The outcome of a scenario on a driver, comparisons included.
fn outcome(
    scenario: &Scenario,
    batch: &Batch,
    reference: &Batch,
    failures: &Path,
) -> Result<(Outcome, Vec<String>), Failed> {
    let name = scenario.name;
    if scenario.reference_defect.is_some() {
        return batch.verdict(name).map(|v| (v.outcome, v.messages));
    }
    let r = reference.verdict(name)?;
    if r.outcome != Outcome::Pass {
        return Err(format!("the reference does not pass: {:?} {}", r.outcome, r.messages.join("; ")).into());
    }
    let a = batch.verdict(name)?;
    let mut messages = a.messages.clone();
    let mut outcome = a.outcome;
    if matches!(outcome, Outcome::Pass | Outcome::Fail) {
        let different =
            compare(&a, &batch.folder, &r, &reference.folder, &failures.join(batch.driver.name().replace('/', "-")));
        if !different.is_empty() {
            outcome = Outcome::Fail;
        }
        messages.extend(different);
    }
    Ok((outcome, messages))
}

/// Runs one control scenario twice on the reference, the second time deviating, and returns how the harness judges it.
fn control(name: &str, root: &Path, timeout: Duration) -> Result<(Outcome, Vec<String>), Failed> {
    let names = [name.to_owned()];
    let run = |part: &str, variables: &[(&str, &str)]| {
        let folder = root.join(format!("{name}-{part}"));
        supervise(Path::new(RUNNER), &Driver::Llvmpipe, &names, &folder, timeout, variables)
            .map_err(|e| Failed::from(format!("{e:#}")))
            .and_then(|mut v| v.remove(name).ok_or_else(|| Failed::from("no verdict")))
            .map(|v| (v, folder))
    };
    let (actual, actual_folder) = run("actual", &[("MGL_TEST_CONTROL", "1")])?;
    if actual.outcome != Outcome::Pass {
        return Ok((actual.outcome, actual.messages));
    }
    let (reference, reference_folder) = run("reference", &[])?;
    let messages = compare(&actual, &actual_folder, &reference, &reference_folder, &root.join("kept"));
    Ok((if messages.is_empty() { Outcome::Pass } else { Outcome::Fail }, messages))
}

/// A test that asserts that the harness reports `expected`, with a message that holds `text`.
fn control_trial(name: &'static str, expected: Outcome, text: &'static str, root: &Path) -> Trial {
    let root = root.to_path_buf();
    let timeout = if expected == Outcome::Timeout { Duration::from_secs(3) } else { scenario_timeout() };
    Trial::test(format!("control::{}", name.trim_start_matches("control_")), move || {
        let (actual, messages) = control(name, &root, timeout)?;
        let found = text.is_empty() || messages.iter().any(|m| m.contains(text));
        if actual != expected || !found {
            return Err(format!("judged {actual:?} {messages:?}, expected {expected:?} with {text:?}").into());
        }
        if name == "control_different_picture"
            && !root.join("kept/control_different_picture.picture.diff.png").is_file()
        {
            return Err("no difference picture was kept".into());
        }
        Ok(())
    })
}

/// A crash in the middle of a batch must cost that scenario only.
fn isolation_trial(root: &Path) -> Trial {
    let folder = root.join("isolation");
    Trial::test("control::crash_leaves_the_others", move || {
        let names = ["clear_color", "control_crash", "control_right"].map(str::to_owned);
        let verdicts = supervise(Path::new(RUNNER), &Driver::Llvmpipe, &names, &folder, scenario_timeout(), &[])
            .map_err(|e| Failed::from(format!("{e:#}")))?;
        let outcomes: Vec<_> = names.iter().map(|n| verdicts.get(n).map(|v| v.outcome)).collect();
        if outcomes == [Some(Outcome::Pass), Some(Outcome::Crash), Some(Outcome::Pass)] {
            Ok(())
        } else {
            Err(format!("{outcomes:?}").into())
        }
    })
}

/// Judges a scenario that ran under a mask: it passes, or it fails where it has to, without any message of the validation
/// layer.
fn judge_masked(outcome: Outcome, messages: &[String], lost: Option<&str>) -> Result<(), Failed> {
    let Some(why) = lost else { return judge(outcome, messages, None).map_err(Failed::from) };
    let invalid = messages.iter().any(|m| m.starts_with("validation:"));
    match outcome {
        Outcome::Fail if !invalid => Ok(()),
        Outcome::Pass => Err(format!("passes, though {why}: the mask hides nothing, or the row is out of date").into()),
        _ => Err(format!("{outcome:?}: {}", messages.join("\n  ")).into()),
    }
}

/// A mask that names nothing is an error with a clear message, and every name that the message offers is tested.
fn unknown_mask_trial(root: &Path) -> Trial {
    let folder = root.join("unknown");
    let tested = |name: &str| MASKS.iter().any(|m| m.mask == name || m.mask.splitn(3, '_').nth(2) == Some(name));
    unknown_name_trial("without::unknown_names_are_refused", "magma", "MGL_MAGMA_DISABLE", folder, tested)
}

/// The same of the OpenGL ES backend, whose rows may hide several names.
fn unknown_espryt_mask_trial(root: &Path) -> Trial {
    let folder = root.join("unknown-espryt");
    let tested = |name: &str| ESPRYT_MASKS.iter().any(|m| m.mask.split(',').any(|hidden| hidden == name));
    unknown_name_trial("without::espryt::unknown_names_are_refused", "espryt", "MGL_ESPRYT_MASK", folder, tested)
}

fn unknown_name_trial(
    title: &str,
    backend: &'static str,
    switch: &'static str,
    folder: PathBuf,
    tested: fn(&str) -> bool,
) -> Trial {
    Trial::test(title, move || {
        let driver = Driver::parse(&format!("{backend}/monolith")).map_err(|e| Failed::from(format!("{e:#}")))?;
        driver.available().map_err(|e| format!("{e:#}"))?;
        let names = ["clear_color".to_owned()];
        let variables = [(switch, "multi_drow")];
        let verdicts = supervise(Path::new(RUNNER), &driver, &names, &folder, scenario_timeout(), &variables)
            .map_err(|e| Failed::from(format!("{e:#}")))?;
        if verdicts.values().any(|verdict| verdict.outcome != Outcome::Fail) {
            return Err(format!("the display started: {verdicts:?}").into());
        }
        let said = std::fs::read_to_string(folder.join("stderr.txt"))?;
        let line = said.lines().find(|l| l.contains(switch) && l.contains("\"multi_drow\""));
        let offered = line.and_then(|l| l.split_once(" it takes ")).map(|(_, list)| list);
        let offered = offered.ok_or_else(|| format!("no message names the choices: {said}"))?;
        let list = offered.split(", with or ").next().unwrap_or_default();
        let untested: Vec<_> = list.split(", ").filter(|name| !tested(name)).collect();
        if untested.is_empty() && list.len() > 100 {
            Ok(())
        } else {
            Err(format!("no row of the masks tests {untested:?}").into())
        }
    })
}

/// Whether libtest's arguments select a test of that name.
fn selected(arguments: &Arguments, name: &str) -> bool {
    let matches = |pattern: &str| if arguments.exact { name == pattern } else { name.contains(pattern) };
    arguments.filter.as_deref().is_none_or(matches) && !arguments.skip.iter().any(|s| matches(s))
}

/// How the bytes of persistent mappings can travel: values of `MGL_IPC_MAP_TIER`.
const MAP_TIERS: [&str; 3] = ["t0", "t2", "t2-compare"];

/// Of so many scenarios one runs with `MGL_IPC_RESPAWN=1`; `MGL_TEST_DRIVERS=magma/spawn MGL_IPC_RESPAWN=1` runs them all.
const RESPAWN_EACH: usize = 7;

/// The scenario in which draws read what they draw to, which GL leaves undefined.
const FEEDBACK_LOOPS: &str = "hostile_feedback_loops";

/// Scenarios that run once more with a switch set.
struct Switched<'a> {
    reference: &'a Arc<Batch>,
    arguments: &'a Arguments,
    /// Names that the reference has to draw.
    needed: &'a mut Vec<String>,
}

impl Switched<'_> {
    /// The tests `PREFIX::SCENARIO` of one batch, whose failures go to a folder of that `value`.
    fn trials<J>(&mut self, prefix: &str, value: &str, batch: &Arc<Batch>, chosen: &[Scenario], judge: J) -> Vec<Trial>
    where
        J: Fn(&Scenario, Outcome, &[String]) -> Result<(), Failed> + Copy + Send + 'static,
    {
        let failures = Path::new(RUNNER).parent().and_then(Path::parent).unwrap_or(Path::new("target"));
        let failures = failures.join("scenario-failures").join(value);
        let mut trials = Vec::new();
        let mut wanted = Vec::new();
        for scenario in chosen.iter().copied() {
            let title = format!("{prefix}::{}", scenario.name);
            if selected(self.arguments, &title) {
                wanted.push(scenario.name.to_owned());
            }
            let (batch, reference, failures) = (Arc::clone(batch), Arc::clone(self.reference), failures.clone());
            trials.push(Trial::test(title, move || {
                let (outcome, messages) = outcome(&scenario, &batch, &reference, &failures)?;
                judge(&scenario, outcome, &messages)
            }));
        }
        self.needed.extend(wanted.iter().cloned());
        if let Ok(mut names) = batch.names.lock() {
            *names = wanted;
        }
        trials
    }

    /// The tests of one mask.
    fn of_mask(&mut self, row: &'static Masked, driver: &Driver, all: &[Scenario], root: &Path) -> Vec<Trial> {
        let batch = Batch::switched(driver.clone(), &root.join("without"), "MGL_MAGMA_DISABLE", row.mask);
        let chosen: Vec<Scenario> = all.iter().copied().filter(|scenario| row.runs(scenario)).collect();
        self.trials(&format!("without/{}", row.mask), row.mask, &batch, &chosen, |scenario, outcome, messages| {
            judge_masked(outcome, messages, row.lost(scenario.name))
        })
    }

    /// The tests of one mask of the OpenGL ES backend, but for what fails there anyway.
    fn of_espryt_mask(
        &mut self,
        row: &'static Masked,
        driver: &Driver,
        all: &[Scenario],
        table: &Expectations,
        root: &Path,
    ) -> Vec<Trial> {
        let batch = Batch::switched(driver.clone(), &root.join("without-espryt"), "MGL_ESPRYT_MASK", row.mask);
        let fails = |scenario: &Scenario| table.find(scenario.name, "espryt", "monolith").is_some();
        let chosen: Vec<Scenario> =
            all.iter().copied().filter(|scenario| row.runs(scenario) && !fails(scenario)).collect();
        self.trials(
            &format!("without/espryt/{}", row.mask),
            row.mask,
            &batch,
            &chosen,
            |scenario, outcome, messages| judge_masked(outcome, messages, row.lost(scenario.name)),
        )
    }

    /// All scenarios with the validation layer looking for accesses that nothing orders. A device that is the processor shows
    /// no difference; others do.
    fn of_synchronization(&mut self, driver: &Driver, all: &[Scenario], root: &Path) -> Vec<Trial> {
        let switches = vec![("MGL_VALIDATION", "sync"), ("MGL_MAGMA_DISABLE", "VK_KHR_dynamic_rendering")];
        let batch = Batch::with_switches(driver.clone(), root.join("synchronization"), switches);
        self.trials("synchronization", "synchronization", &batch, all, |scenario, outcome, messages| {
            if scenario.name != FEEDBACK_LOOPS {
                return judge(outcome, messages, None).map_err(Failed::from);
            }
            // What has no order there shows that the layer looks.
            let seen = messages.iter().any(|message| message.contains("SYNC-HAZARD-READ-AFTER-WRITE"));
            seen.then_some(()).ok_or_else(|| Failed::from("the layer reports no loop: it does not look"))
        })
    }

    /// The scenarios about mappings on a transport, with the bytes travelling in one way.
    fn of_tier(&mut self, tier: &'static str, driver: &Driver, all: &[Scenario], root: &Path) -> Vec<Trial> {
        let batch = Batch::switched(driver.clone(), &root.join(driver.name()), "MGL_IPC_MAP_TIER", tier);
        let about_maps = |scenario: &Scenario| {
            ["mapping_", "buffer_map_", "buffer_persistent_"].iter().any(|start| scenario.name.starts_with(start))
        };
        let chosen: Vec<Scenario> = all.iter().copied().filter(about_maps).collect();
        self.trials(&format!("maps/{tier}/{}", driver.name()), tier, &batch, &chosen, |_, outcome, messages| {
            judge(outcome, messages, None).map_err(Failed::from)
        })
    }

    /// A part of the scenarios with a connection that outlives its server: that it keeps a journal changes nothing.
    fn of_respawn(&mut self, driver: &Driver, all: &[Scenario], table: &Expectations, root: &Path) -> Vec<Trial> {
        let Driver::Mgl { backend, transport, .. } = driver else { return Vec::new() };
        let batch = Batch::switched(driver.clone(), root, "MGL_IPC_RESPAWN", "1");
        let plain = |scenario: &Scenario| table.find(scenario.name, backend, transport).is_none();
        let chosen: Vec<Scenario> = all.iter().copied().filter(plain).step_by(RESPAWN_EACH).collect();
        self.trials(&format!("respawn/{}", driver.name()), "respawn", &batch, &chosen, |_, outcome, messages| {
            judge(outcome, messages, None).map_err(Failed::from)
        })
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let target = Path::new(RUNNER).parent().and_then(Path::parent).unwrap_or(Path::new("target")).to_path_buf();
    // Test processes that run side by side must not share a folder.
    let root = target.join("scenario-runs").join(std::process::id().to_string());
    let failures = target.join("scenario-failures");

    let table = Expectations::parse(include_str!("../expectations.toml"));
    let all: Vec<_> = scenarios::all().into_iter().filter(|s| !s.control).collect();
    let mut trials = Vec::new();

    let names: Vec<&'static str> = all.iter().map(|s| s.name).collect();
    let parsed = table
        .as_ref()
        .map(|t| t.expect.iter().map(|e| e.scenario.clone()).collect::<Vec<_>>())
        .map_err(|e| format!("{e:#}"));
    trials.push(Trial::test("expectations::rows_name_scenarios", move || {
        // Rows of the Python programs are read by the other harness.
        let known = |n: &String| names.contains(&n.as_str()) || n.starts_with("python_");
        let unknown: Vec<_> = parsed?.into_iter().filter(|n| !known(n)).collect();
        if unknown.is_empty() {
            Ok(())
        } else {
            Err(format!("no such scenarios: {unknown:?}").into())
        }
    }));
    let table = Arc::new(table.unwrap_or_default());

    for (name, expected, text) in [
        ("control_wrong_pixel", Outcome::Fail, "a red clear is not green"),
        ("control_error_left_over", Outcome::Fail, "INVALID_ENUM"),
        ("control_different_picture", Outcome::Fail, "outside"),
        ("control_different_values", Outcome::Fail, "2.5"),
        ("control_panic", Outcome::Fail, "compile"),
        ("control_crash", Outcome::Crash, "signal 6"),
        ("control_hang", Outcome::Timeout, ""),
        ("control_validation", Outcome::Fail, "VUID-control"),
        ("control_right", Outcome::Pass, ""),
    ] {
        trials.push(control_trial(name, expected, text, &root.join("controls")));
    }
    trials.push(isolation_trial(&root));

    let reference = Batch::new(Driver::Llvmpipe, &root.join("reference"));
    let mut needed = Vec::new();
    for scenario in &all {
        let (name, reference, defect) = (scenario.name, Arc::clone(&reference), scenario.reference_defect);
        let title = format!("reference::{name}");
        if selected(&arguments, &title) {
            needed.push(name.to_owned());
        }
        trials.push(Trial::test(title, move || {
            let verdict = reference.verdict(name)?;
            match (defect, verdict.outcome) {
                (None, outcome) => judge(outcome, &verdict.messages, None).map_err(Failed::from),
                (Some(defect), Outcome::Pass) => {
                    Err(format!("passes now, but is marked with a defect: {defect}").into())
                }
                (Some(_), _) => Ok(()),
            }
        }));
    }
    let mut tested = Vec::new();
    let asked = std::env::var("MGL_TEST_DRIVERS").ok();
    let in_part = |name: &str| asked.is_none() && IN_PART.contains(&name);
    let drivers = asked.clone().unwrap_or_else(|| DRIVERS.into());
    for text in drivers.split(',').map(str::trim).filter(|t| !t.is_empty()) {
        let driver = match Driver::parse(text) {
            Ok(driver) => driver,
            Err(e) => {
                eprintln!("MGL_TEST_DRIVERS: {e:#}");
                std::process::exit(2);
            }
        };
        tested.push(driver.clone());
        let batch = Batch::new(driver, &root.join("drivers"));
        let mut wanted = Vec::new();
        for scenario in all.iter().copied() {
            let name = scenario.name;
            if scenario.reference_defect.is_some() && batch.driver == Driver::Llvmpipe {
                continue;
            }
            if in_part(&batch.driver.name()) && !PART.iter().any(|start| name.starts_with(start)) {
                continue;
            }
            let title = format!("{}::{name}", batch.driver.name());
            if selected(&arguments, &title) {
                wanted.push(name.to_owned());
            }
            let (batch, reference, table, failures) =
                (Arc::clone(&batch), Arc::clone(&reference), Arc::clone(&table), failures.clone());
            trials.push(Trial::test(title, move || {
                let (outcome, messages) = outcome(&scenario, &batch, &reference, &failures)?;
                let row = match &batch.driver {
                    Driver::Mgl { backend, transport, .. } => table.find(name, backend, transport),
                    _ => None,
                };
                judge(outcome, &messages, row).map_err(Failed::from)
            }));
        }
        needed.extend(wanted.iter().cloned());
        if let Ok(mut names) = batch.names.lock() {
            *names = wanted;
        };
    }
    let mut switched = Switched { reference: &reference, arguments: &arguments, needed: &mut needed };
    let elsewhere = ["magma/inproc", "magma/spawn"].map(Driver::parse).into_iter().flatten();
    for driver in elsewhere.filter(|driver| tested.contains(driver)) {
        for tier in MAP_TIERS {
            trials.extend(switched.of_tier(tier, &driver, &all, &root.join("maps")));
        }
        if driver.name() == "magma/spawn" {
            trials.extend(switched.of_respawn(&driver, &all, &table, &root.join("respawn")));
        }
    }
    let magma = Driver::parse("magma/monolith").ok().filter(|magma| tested.contains(magma));
    if let Some(driver) = magma {
        let mut masked_trials = Vec::new();
        for row in MASKS {
            masked_trials.push(switched.of_mask(row, &driver, &all, &root));
        }
        masked_trials.push(switched.of_synchronization(&driver, &all, &root));
        // One of each in turn, so that processes of several masks run at a time.
        while masked_trials.iter().any(|left| !left.is_empty()) {
            trials.extend(masked_trials.iter_mut().filter_map(|left| left.pop()));
        }
        trials.push(unknown_mask_trial(&root.join("without")));
    }
    let espryt = Driver::parse("espryt/monolith").ok().filter(|espryt| tested.contains(espryt));
    if let Some(driver) = espryt {
        for row in ESPRYT_MASKS {
            trials.extend(switched.of_espryt_mask(row, &driver, &all, &table, &root));
        }
        trials.push(unknown_espryt_mask_trial(&root.join("without")));
    }
    needed.sort();
    needed.dedup();
    if let Ok(mut names) = reference.names.lock() {
        // The table's order, so that a batch always runs in the same one.
        *names = all.iter().map(|s| s.name.to_owned()).filter(|n| needed.contains(n)).collect();
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !conclusion.has_failed() {
        let _ = std::fs::remove_dir_all(&root);
    }
    conclusion.exit();
}
