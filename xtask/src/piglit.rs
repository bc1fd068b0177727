//! `cargo xtask piglit`: piglit tests by name on MGL or on Mesa, compared with what is expected of each.

pub mod catalogue;
pub mod expectations;
pub mod runner;
pub mod skip;
pub mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use clap::Args;

use crate::driver_dir;
use crate::exec;
use crate::gl_driver::GlDriver;
use crate::outcome::Outcome;
use crate::packages;
use crate::workspace::Workspace;

use self::expectations::{judge, Expectations, Verdict};
use self::skip::Skip;
use self::status::Status;

/// Arguments of `piglit`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask piglit --list tests/piglit/expectations.tsv\n  \
                        cargo xtask piglit quick_shader --filter glsl-1.50 --driver llvmpipe\n\n\
                        A list holds `name<TAB>status` a line; a test that is expected to pass and does not is an \
                        error, and so is one that passes unexpectedly (--update records it).")]
pub struct PiglitArgs {
    /// A piglit profile (quick_gl, quick_shader, …).
    #[arg(value_name = "PROFILE", required_unless_present = "list")]
    profile: Option<String>,
    /// A file with test names and expected results.
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    list: Option<PathBuf>,
    /// Only tests whose name contains this text (may be given several times: any of them).
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// The GL driver to test.
    #[arg(long, value_enum, default_value = "mgl")]
    driver: GlDriver,
    /// Test the optimised driver.
    #[arg(long)]
    release: bool,
    /// Test the library that has been built before, without building.
    #[arg(long)]
    no_build: bool,
    /// Processes at a time.
    #[arg(long, default_value_t = 2, value_name = "N")]
    jobs: usize,
    /// Seconds after which a test that prints nothing is ended.
    #[arg(long, default_value_t = 60, value_name = "S")]
    timeout: u64,
    /// Give every shader test a process of its own.
    #[arg(long)]
    no_batch: bool,
    /// Where to write `name<TAB>status` of every test [default: target/xtask/piglit/results-DRIVER.tsv].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Refuse legacy contexts (MGL_LEGACY_CONTEXTS=refuse), so that tests of the compatibility profile skip.
    #[arg(long)]
    core_only: bool,
    /// Also write the results as piglit itself does, to DIR/results.json.bz2, for tools that read those.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Write what improved (and what is new) into the list.
    #[arg(long, requires = "list")]
    update: bool,
    /// With --update: write what got worse as well.
    #[arg(long, requires = "update")]
    accept_worse: bool,
}

/// Results of a run beside what was expected.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Tests that came out as expected.
    pub as_expected: usize,
    /// Name, expected and actual status of what got worse.
    pub worse: Vec<(String, Status, Status)>,
    /// Name and expected status of what passes unexpectedly.
    pub better: Vec<(String, Status)>,
    /// Names that piglit does not know.
    pub unknown: Vec<String>,
}

impl Comparison {
    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.worse.len() + self.better.len() + self.unknown.len()
    }

    fn print(&self) {
        for (name, expected, actual) in &self.worse {
            println!("WORSE    {name}: {actual}, expected {expected}");
        }
        for (name, expected) in &self.better {
            println!("BETTER   {name}: passes, expected {expected} (record it with --update)");
        }
        for name in &self.unknown {
            println!("UNKNOWN  {name}: piglit has no such test");
        }
    }
}

/// What a list of tests came to.
pub struct ListRun {
    /// Every result.
    pub results: BTreeMap<String, Status>,
    /// Why tests skipped.
    pub skips: BTreeMap<String, Skip>,
    /// Beside what was expected.
    pub comparison: Comparison,
}

/// How tests are run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// The driver.
    pub driver: GlDriver,
    /// Its optimised build.
    pub release: bool,
    /// Processes at a time.
    pub jobs: usize,
    /// A test that prints nothing for so long is ended.
    pub timeout: Duration,
    /// Whether shader tests share processes.
    pub batch: bool,
    /// Whether MGL refuses legacy contexts.
    pub core_only: bool,
}

/// Runs the tests of a list on a driver that is ready to be used.
///
/// # Errors
/// When piglit is missing or tests cannot be started.
pub fn run_list(workspace: &Workspace, list: &Expectations, options: RunOptions) -> Result<ListRun> {
    let wanted: BTreeSet<&str> = list.entries.keys().map(String::as_str).collect();
    let tests: Vec<catalogue::Test> =
        catalogue::load(catalogue::PROFILES)?.into_iter().filter(|test| wanted.contains(test.name.as_str())).collect();
    let (mut results, mut skips) = run_tests(workspace, &tests, options)?;
    // What surprises runs once more, alone and with more time: a loaded machine or a test that races is no change of the
    // driver. Both results are printed, and the second one stands.
    let surprises: Vec<catalogue::Test> = tests
        .iter()
        .filter(|test| {
            list.entries
                .get(&test.name)
                .zip(results.get(&test.name))
                .is_some_and(|(&expected, &actual)| judge(expected, actual) != Verdict::AsExpected)
        })
        .cloned()
        .collect();
    if !surprises.is_empty() {
        let alone = RunOptions { jobs: 1, timeout: options.timeout * 2, batch: false, ..options };
        let (again, skipped) = run_tests(workspace, &surprises, alone)?;
        skips.extend(skipped);
        for (name, status) in again {
            if status != Status::Skip {
                skips.remove(&name);
            }
            let first = results.insert(name.clone(), status);
            if let Some(first) = first.filter(|first| *first != status) {
                println!("UNSTABLE {name}: {first}, then {status} when run alone");
            }
        }
    }
    let mut comparison = Comparison::default();
    for (name, &expected) in &list.entries {
        match results.get(name) {
            None => comparison.unknown.push(name.clone()),
            Some(&actual) => match judge(expected, actual) {
                Verdict::AsExpected => comparison.as_expected += 1,
                Verdict::Worse => comparison.worse.push((name.clone(), expected, actual)),
                Verdict::Better => comparison.better.push((name.clone(), expected)),
            },
        }
    }
    comparison.print();
    Ok(ListRun { results, skips, comparison })
}

fn run_tests(
    workspace: &Workspace,
    tests: &[catalogue::Test],
    options: RunOptions,
) -> Result<(BTreeMap<String, Status>, BTreeMap<String, Skip>)> {
    let RunOptions { driver, release, jobs, timeout, batch, core_only } = options;
    let logs = workspace.scratch(&format!("piglit/{}", driver.file_name()))?;
    let mut variables = driver.variables(workspace, release)?;
    if core_only {
        variables.insert("MGL_LEGACY_CONTEXTS", "refuse".into());
    }
    let settings = runner::Settings { variables: &variables, jobs, timeout, batch, logs: &logs };
    let (mut results, mut skips) = (BTreeMap::new(), BTreeMap::new());
    for (test, result) in tests.iter().zip(runner::run(workspace, tests, &settings)?) {
        results.insert(test.name.clone(), result.status);
        skips.extend(result.skip.map(|skip| (test.name.clone(), skip)));
    }
    if results.values().any(|status| status.leaves_output()) {
        exec::say(format!("    output of tests that did not pass: {}", logs.display()));
    }
    Ok((results, skips))
}

/// `cargo xtask piglit`.
pub fn run(args: PiglitArgs) -> Result<Outcome> {
    let workspace = Workspace::find();
    // What cannot be run is said before the minutes that a build may take.
    packages::ensure(&workspace, packages::FOR_PIGLIT)?;
    if let Some(profile) = &args.profile {
        if let Err(error) = catalogue::check_profile(profile) {
            eprintln!("error: {error:#}");
            return Ok(Outcome::Usage);
        }
    }
    let list = args.list.as_deref().map(Expectations::read).transpose()?;
    if args.driver.is_ours() && !args.no_build {
        packages::ensure(&workspace, packages::FOR_RUN)?;
        driver_dir::build(&workspace, args.release, &[])?;
    }
    let options = RunOptions {
        driver: args.driver,
        release: args.release,
        jobs: args.jobs,
        timeout: Duration::from_secs(args.timeout.max(1)),
        batch: !args.no_batch,
        core_only: args.core_only,
    };
    let keep = |name: &str| args.filter.is_empty() || args.filter.iter().any(|text| name.contains(text.as_str()));
    let (results, skips, ok) = if let (Some(path), Some(mut list)) = (&args.list, list) {
        let mut part = list.clone();
        part.entries.retain(|name, _| keep(name));
        let run = run_list(&workspace, &part, options)?;
        let mut ok = run.comparison.errors() == 0;
        if args.update {
            let changed = list.improve(&run.results, args.accept_worse);
            std::fs::write(path, list.to_text()).with_context(|| format!("cannot write {}", path.display()))?;
            exec::say(format!("{changed} entries of {} changed", path.display()));
            ok = run.comparison.unknown.is_empty() && (run.comparison.worse.is_empty() || args.accept_worse);
        }
        (run.results, run.skips, ok)
    } else {
        let profile = args.profile.as_deref().unwrap_or("quick_gl");
        let tests: Vec<catalogue::Test> =
            catalogue::load(&[profile])?.into_iter().filter(|test| keep(&test.name)).collect();
        if tests.is_empty() {
            bail!("no test of profile {profile} matches");
        }
        let (results, skips) = run_tests(&workspace, &tests, options)?;
        let ok = !results.values().any(|status| status.is_abnormal());
        (results, skips, ok)
    };
    let out = match &args.out {
        Some(path) => path.clone(),
        None => workspace.scratch("piglit")?.join(format!("results-{}.tsv", args.driver.file_name())),
    };
    write_results(&out, &results)?;
    if let Some(dir) = &args.results {
        write_piglit_results(dir, &results)?;
    }
    if !skips.is_empty() {
        println!("skips by reason:");
        skip::table(skips.values()).iter().for_each(|row| println!("{row}"));
    }
    println!("{}", summary(&results));
    println!("results: {}", out.display());
    Ok(Outcome::from_ok(ok))
}

/// The part of piglit's results file that names each test's status.
fn write_piglit_results(dir: &Path, results: &BTreeMap<String, Status>) -> Result<()> {
    let tests: BTreeMap<&str, serde_json::Value> = results
        .iter()
        .map(|(name, status)| (name.as_str(), serde_json::json!({ "result": status.to_string() })))
        .collect();
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let path = dir.join("results.json.bz2");
    let file = std::fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut packed = bzip2::write::BzEncoder::new(file, bzip2::Compression::default());
    serde_json::to_writer(&mut packed, &serde_json::json!({ "tests": tests }))?;
    packed.finish().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

fn write_results(path: &Path, results: &BTreeMap<String, Status>) -> Result<()> {
    let mut text = String::new();
    for (name, status) in results {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name}\t{status}");
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// One line with the number of tests of each status.
pub fn summary(results: &BTreeMap<String, Status>) -> String {
    let mut parts = vec![format!("{} tests", results.len())];
    for status in Status::ALL {
        let count = results.values().filter(|&&other| other == status).count();
        if count > 0 {
            parts.push(format!("{count} {status}"));
        }
    }
    parts.join(", ")
}
