//! Runs piglit tests on several processes at a time; shader tests of one kind share a process.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::environment;
use crate::exec::Progress;
use crate::group::{self, End};
use crate::workspace::Workspace;

use super::catalogue::Test;
use super::skip::Skip;
use super::status::{self, Status};

/// Most shader tests that one process is given. More makes a crash costlier to find, fewer costs start-up time.
const BATCH: usize = 50;

/// Signal of a process that gave up by itself.
const SIGABRT: i32 = 6;

/// How to run tests.
pub struct Settings<'a> {
    /// Variables that choose the driver.
    pub variables: &'a BTreeMap<&'static str, OsString>,
    /// Processes at a time.
    pub jobs: usize,
    /// A test that prints nothing for so long is ended.
    pub timeout: Duration,
    /// Whether shader tests share processes.
    pub batch: bool,
    /// Where the output of tests that do not pass is kept.
    pub logs: &'a Path,
}

/// What a test came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// The status.
    pub status: Status,
    /// Why it skipped, when it did.
    pub skip: Option<Skip>,
}

impl From<Status> for TestResult {
    fn from(status: Status) -> Self {
        TestResult { status, skip: None }
    }
}

/// A piece of work: tests that run in one process, or one test alone.
struct Work {
    tests: Vec<usize>,
    batched: bool,
}

struct Shared {
    queue: VecDeque<Work>,
    running: usize,
    results: Vec<Option<TestResult>>,
    done: u64,
    progress: Progress,
    /// Receives each result as it comes, so that an interrupted run leaves what it found.
    journal: std::fs::File,
}

/// Runs every test and returns its result, in the order of `tests`.
///
/// A test that does not pass inside a shared process is run again alone, and that result stands: neither a test before
/// it nor a crash of a neighbour can make it fail.
///
/// # Errors
/// When a process cannot be started at all.
pub fn run(workspace: &Workspace, tests: &[Test], settings: &Settings<'_>) -> Result<Vec<TestResult>> {
    // The process id keeps runs that go on side by side apart.
    let journal_path = settings.logs.join(format!("journal-{}.tsv", std::process::id()));
    let journal =
        std::fs::File::create(&journal_path).with_context(|| format!("cannot write {}", journal_path.display()))?;
    let shared = Mutex::new(Shared {
        queue: plan(tests, settings.batch),
        running: 0,
        results: vec![None; tests.len()],
        done: 0,
        progress: Progress::counted("piglit", tests.len() as u64),
        journal,
    });
    let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for worker in 0..settings.jobs.max(1) {
            let (shared, failure) = (&shared, &failure);
            scope.spawn(move || {
                if let Err(error) = work(workspace, tests, settings, shared, worker) {
                    let mut slot = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    slot.get_or_insert(error);
                    lock(shared).queue.clear();
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    shared.progress.finish("done");
    // All results are returned, so the journal has done its work.
    let _ = std::fs::remove_file(journal_path);
    Ok(shared.results.into_iter().map(|result| result.unwrap_or(Status::Fail.into())).collect())
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cuts the tests into pieces of work, batches first: a long piece at the end would leave processors idle.
fn plan(tests: &[Test], batch: bool) -> VecDeque<Work> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut single = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        match test.batch_key() {
            Some((program, _)) if batch => groups.entry(program).or_default().push(index),
            _ => single.push(Work { tests: vec![index], batched: false }),
        }
    }
    let mut queue = VecDeque::new();
    for indices in groups.values() {
        for part in indices.chunks(BATCH) {
            queue.push_back(Work { tests: part.to_vec(), batched: true });
        }
    }
    queue.extend(single);
    queue
}

/// One worker: takes pieces of work until none is left and no other worker can add any.
fn work(
    workspace: &Workspace,
    tests: &[Test],
    settings: &Settings<'_>,
    shared: &Mutex<Shared>,
    worker: usize,
) -> Result<()> {
    let process = std::process::id();
    let out = settings.logs.join(format!("worker-{process}-{worker}.out"));
    let err = settings.logs.join(format!("worker-{process}-{worker}.err"));
    loop {
        let piece = {
            let mut state = lock(shared);
            match state.queue.pop_front() {
                Some(piece) => {
                    state.running += 1;
                    Some(piece)
                }
                None if state.running == 0 => {
                    let _ = std::fs::remove_file(&out);
                    let _ = std::fs::remove_file(&err);
                    return Ok(());
                }
                None => None,
            }
        };
        let Some(piece) = piece else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let outcome = run_piece(workspace, tests, settings, &piece, &out, &err);
        let mut state = lock(shared);
        state.running -= 1;
        let (finished, again) = outcome?;
        for (index, result) in finished {
            // The journal is a convenience; the results stand without it.
            let _ = writeln!(state.journal, "{}\t{}", tests[index].name, result.status);
            state.results[index] = Some(result);
            state.done += 1;
        }
        for piece in again.into_iter().rev() {
            state.queue.push_front(piece);
        }
        let done = state.done;
        let name = piece.tests.first().map(|&index| tests[index].name.clone()).unwrap_or_default();
        state.progress.set_done(done, &name);
    }
}

/// Final results by test index, and what has to run again.
type PieceOutcome = (Vec<(usize, TestResult)>, Vec<Work>);

fn run_piece(
    workspace: &Workspace,
    tests: &[Test],
    settings: &Settings<'_>,
    piece: &Work,
    out: &Path,
    err: &Path,
) -> Result<PieceOutcome> {
    let Some(first) = piece.tests.first().map(|&index| &tests[index]) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let Some(program) = first.command.first() else {
        return Ok((vec![(piece.tests[0], Status::Fail.into())], Vec::new()));
    };
    let skipped = |skip: Skip| TestResult { status: Status::Skip, skip: Some(skip) };
    if first.other_platforms.is_some() {
        return Ok((vec![(piece.tests[0], skipped(Skip::Window))], Vec::new()));
    }
    let mut command = Command::new(program);
    environment::apply(workspace, &mut command, settings.variables);
    if let Ok(dir) = super::catalogue::data_dir() {
        command.env("PIGLIT_SOURCE_DIR", dir);
    }
    if piece.batched {
        command.args(piece.tests.iter().filter_map(|&index| tests[index].batch_key()).map(|(_, file)| file));
        command.args(["-auto", "-fbo", "-report-subtests"]);
    } else {
        command.args(&first.command[1..]);
        command.envs(&first.env);
        if let Some(dir) = &first.cwd {
            command.current_dir(dir);
        }
    }
    if !Path::new(program).is_file() {
        return Ok((piece.tests.iter().map(|&index| (index, skipped(Skip::NotInstalled))).collect(), Vec::new()));
    }
    let mut end = group::run_limited(&mut command, out, err, settings.timeout)?;
    // Without -fbo a test wants a window. piglit gives the word to tests that may run side by side only; the others abort
    // in piglit's own code where no platform has windows.
    if !piece.batched && end == End::Signal(SIGABRT) && lacks_fbo(first) {
        command.arg("-fbo");
        end = group::run_limited(&mut command, out, err, settings.timeout)?;
    }
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    let (stdout, stderr) = (read(out), read(err));
    if !piece.batched {
        let status = status::of_single(&stdout, end);
        if status.leaves_output() {
            keep_log(settings.logs, first, &stdout, &stderr);
        }
        let skip = (status == Status::Skip).then(|| Skip::of_output(&stdout, &stderr));
        return Ok((vec![(piece.tests[0], TestResult { status, skip })], Vec::new()));
    }
    let batch = status::of_batch(&stdout, end, piece.tests.len());
    let statuses = batch.statuses;
    let mut finished = Vec::new();
    let mut again = Vec::new();
    // Only a skip that ends the process says something on standard error.
    let last_error = stderr.rsplit("PIGLIT TEST:").next().unwrap_or_default();
    for (place, (&index, &status)) in piece.tests.iter().zip(&statuses).enumerate() {
        if status == Status::Skip {
            let part = batch.outputs.get(place).map_or("", String::as_str);
            let error = if place + 1 == statuses.len() { last_error } else { "" };
            finished.push((index, skipped(Skip::of_output(part, error))));
        } else if status.is_good() {
            finished.push((index, status.into()));
        } else {
            again.push(Work { tests: vec![index], batched: false });
        }
    }
    let rest = &piece.tests[statuses.len().min(piece.tests.len())..];
    if !rest.is_empty() {
        again.push(Work { tests: rest.to_vec(), batched: true });
    }
    Ok((finished, again))
}

/// Whether a test draws and was not told to draw off screen.
fn lacks_fbo(test: &Test) -> bool {
    let has = |word: &str| test.command.iter().any(|other| other == word);
    has("-auto") && !has("-fbo")
}

/// Keeps what a test printed, under a file name made from its own.
fn keep_log(logs: &Path, test: &Test, stdout: &str, stderr: &str) {
    let text = format!("{}\n\n{stdout}\n--- standard error ---\n{stderr}", test.command.join(" "));
    // The log is a convenience; the result stands without it.
    let _ = std::fs::write(logs.join(log_name(&test.name)), text);
}

/// A file name for a test's log.
pub fn log_name(name: &str) -> PathBuf {
    let mut file: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@') { c } else { '_' })
        .collect();
    file.truncate(200);
    PathBuf::from(file + ".txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shader(name: usize) -> Test {
        Test {
            name: format!("t{name}"),
            command: vec!["/p/shader_runner".into(), format!("/p/{name}.shader_test"), "-auto".into(), "-fbo".into()],
            env: BTreeMap::new(),
            cwd: None,
            other_platforms: None,
        }
    }

    #[test]
    fn every_test_is_planned_once() {
        let tests: Vec<Test> = (0..123).map(shader).collect();
        let mut seen: Vec<usize> = plan(&tests, true).into_iter().flat_map(|work| work.tests).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..123).collect::<Vec<_>>());
        assert_eq!(plan(&tests, true).len(), 3);
        assert_eq!(plan(&tests, false).len(), 123);
    }
}
