//! Running scenarios: the worker runs them in its own process, the supervisor restarts a worker that died or hung.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::driver::Driver;
use crate::egl::Egl;
use crate::scenarios;
use crate::scene::{Record, Scenario, Scene};
use crate::verdict::{Outcome, Verdict};
use glow::HasContext as _;

/// The file in which a worker notes which scenario it is in.
const PROGRESS: &str = "progress";
/// The file that MGL appends validation messages to.
const VALIDATION_LOG: &str = "validation.log";

/// How long a scenario may take, from `MGL_TEST_TIMEOUT` (seconds), 120 by default: a software driver on a busy machine
/// is legally slow.
///
/// A value that is no number ends the process with status 2: a limit that is not the one asked for would go unnoticed.
pub fn scenario_timeout() -> Duration {
    let text = std::env::var("MGL_TEST_TIMEOUT").unwrap_or_default();
    parse_timeout(&text).unwrap_or_else(|sentence| {
        eprintln!("error: {sentence}");
        std::process::exit(2)
    })
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    match (text, text.parse()) {
        ("", _) => Ok(Duration::from_secs(120)),
        (_, Ok(seconds @ 1..)) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("MGL_TEST_TIMEOUT={text} is no number of seconds from 1 on")),
    }
}

/// Runs the named scenarios one after the other in this process and writes `NAME.json` and pictures into `out`.
pub fn work(names: &[String], out: &Path) -> Result<()> {
    std::fs::create_dir_all(out)?;
    let mut progress = OpenOptions::new().create(true).append(true).open(out.join(PROGRESS))?;
    let mut egl = None;
    for name in names {
        writeln!(progress, "start {name}")?;
        let verdict = match scenarios::find(name) {
            None => Verdict::without_result(name, Outcome::Fail, format!("there is no scenario {name:?}")),
            Some(scenario) => {
                if egl.is_none() {
                    egl = Some(Egl::open());
                }
                match egl.as_ref() {
                    Some(Ok(egl)) => run_one(egl, &scenario, out),
                    Some(Err(e)) => Verdict::without_result(name, Outcome::Fail, format!("{e:#}")),
                    None => unreachable!("set above"),
                }
            }
        };
        let text = serde_json::to_string_pretty(&verdict)?;
        std::fs::write(out.join(format!("{name}.json")), text)?;
        writeln!(progress, "done {name}")?;
    }
    Ok(())
}

/// Runs one scenario on a fresh context.
fn run_one(egl: &Arc<Egl>, scenario: &Scenario, out: &Path) -> Verdict {
    let start = Instant::now();
    let log = std::env::var_os("MGL_VALIDATION_LOG").map(PathBuf::from);
    let log_length =
        |log: &Option<PathBuf>| log.as_ref().and_then(|p| std::fs::metadata(p).ok()).map_or(0, |m| m.len() as usize);
    let before = log_length(&log);
    let mut verdict = Verdict::without_result(scenario.name, Outcome::Fail, String::new());
    verdict.messages.clear();
    let context = match egl.context(&scenario.context, None).and_then(|c| c.make_current().map(|()| c)) {
        Ok(context) => context,
        Err(e) => {
            verdict.messages.push(format!("no context: {e:#}"));
            return verdict;
        }
    };
    // SAFETY: the context was made current on this thread just above.
    let scene = unsafe { Scene::new(context, scenario.name, out.to_path_buf()) };
    // SAFETY: as above.
    unsafe {
        verdict.renderer = scene.get_parameter_string(glow::RENDERER);
        verdict.version = scene.get_parameter_string(glow::VERSION);
    }
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as above; that is the body's whole condition.
        unsafe { (scenario.body)(&scene) }
    }));
    // A body with several contexts may have failed while another one was current.
    let current = scene.context.make_current();
    let record: Record = match (&result, current) {
        (Err(payload), _) => {
            let text = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()))
                .unwrap_or_else(|| "panic".into());
            scene.fail(text);
            scene.take_record()
        }
        (Ok(()), Err(e)) => {
            scene.fail(format!("{e:#}"));
            scene.take_record()
        }
        // SAFETY: the context is current on this thread.
        (Ok(()), Ok(())) => unsafe { scene.end() },
    };
    verdict.messages.extend(record.messages);
    verdict.pictures = record.pictures;
    verdict.values = record.values;
    if let Some(path) = &log {
        if log_length(&log) > before {
            let text = std::fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(text.get(before..).unwrap_or_default()).into_owned();
            verdict
                .messages
                .extend(text.lines().filter(|l| !l.trim().is_empty()).take(10).map(|l| format!("validation: {l}")));
        }
    }
    verdict.outcome = match (verdict.messages.is_empty(), record.skipped) {
        (true, Some(reason)) => {
            verdict.messages.push(reason);
            Outcome::Skip
        }
        (true, None) => Outcome::Pass,
        (false, _) => Outcome::Fail,
    };
    verdict.milliseconds = start.elapsed().as_secs_f64() * 1e3;
    verdict
}

/// Runs the named scenarios in children of `runner` on `driver`, with at most `timeout` for each. A child that dies or
/// hangs costs only the scenario it was in. The verdict of every name is in the result.
pub fn supervise(
    runner: &Path,
    driver: &Driver,
    names: &[String],
    out: &Path,
    timeout: Duration,
    variables: &[(&str, &str)],
) -> Result<BTreeMap<String, Verdict>> {
    std::fs::create_dir_all(out).with_context(|| format!("{}", out.display()))?;
    let out = std::path::absolute(out)?;
    for name in names {
        let _ = std::fs::remove_file(out.join(format!("{name}.json")));
    }
    let validation_log = out.join(VALIDATION_LOG);
    std::fs::write(&validation_log, "")?;
    let mut left: Vec<String> = names.to_vec();
    let mut verdicts: BTreeMap<String, Verdict> = BTreeMap::new();
    while !left.is_empty() {
        std::fs::write(out.join(PROGRESS), "")?;
        let stderr_path = out.join("stderr.txt");
        let stderr = OpenOptions::new().create(true).append(true).open(&stderr_path)?;
        let stderr_before = stderr.metadata()?.len() as usize;
        let mut command = Command::new(runner);
        command.arg("--worker").arg("--run").arg(left.join(",")).arg("--out").arg(&out);
        driver.apply(&mut command, &out)?;
        command.env("MGL_VALIDATION", "1").env("MGL_VALIDATION_LOG", &validation_log);
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let mut child = command.spawn().with_context(|| format!("{}", runner.display()))?;

        let mut last_length = 0;
        let mut last_change = Instant::now();
        let end = loop {
            if let Some(status) = child.try_wait()? {
                break Ok(status);
            }
            let length = std::fs::metadata(out.join(PROGRESS)).map_or(0, |m| m.len());
            if length != last_length {
                last_length = length;
                last_change = Instant::now();
            } else if last_change.elapsed() > timeout {
                child.kill()?;
                child.wait()?;
                break Err(());
            }
            std::thread::sleep(Duration::from_millis(10));
        };

        let progress = std::fs::read_to_string(out.join(PROGRESS))?;
        let done: Vec<&str> = progress.lines().filter_map(|l| l.strip_prefix("done ")).collect();
        let started = progress.lines().filter_map(|l| l.strip_prefix("start ")).next_back();
        for name in &done {
            let text = std::fs::read_to_string(out.join(format!("{name}.json")))?;
            verdicts.insert((*name).to_owned(), serde_json::from_str(&text)?);
        }
        left.retain(|n| !done.contains(&n.as_str()));
        if left.is_empty() {
            // A driver that crashes while the process exits would otherwise go unnoticed.
            if let (Ok(status), Some(last)) = (&end, done.last()) {
                if !status.success() {
                    if let Some(verdict) = verdicts.get_mut(*last) {
                        verdict.outcome = Outcome::Crash;
                        verdict.messages.push(format!("the process ended badly after its last scenario: {status}"));
                    }
                }
            }
            break;
        }
        // The worker ended early: the scenario it was in is the culprit, or the first one when it never started any.
        let culprit = match started {
            Some(name) if left.iter().any(|n| n == name) => name.to_owned(),
            _ => left[0].clone(),
        };
        let tail = std::fs::read(&stderr_path).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail.get(stderr_before..).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = tail.lines().collect();
        let tail = lines[lines.len().saturating_sub(12)..].join("\n");
        let (outcome, message) = match end {
            Ok(status) => {
                let how = status.signal().map_or_else(|| format!("{status}"), |s| format!("signal {s}"));
                (Outcome::Crash, format!("the process died: {how}\n{tail}"))
            }
            Err(()) => (Outcome::Timeout, format!("no end after {} s\n{tail}", timeout.as_secs())),
        };
        let verdict = Verdict::without_result(&culprit, outcome, message.trim_end().to_owned());
        std::fs::write(out.join(format!("{culprit}.json")), serde_json::to_string_pretty(&verdict)?)?;
        left.retain(|n| *n != culprit);
        verdicts.insert(culprit, verdict);
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_of_seconds() {
        assert_eq!(parse_timeout(""), Ok(Duration::from_secs(120)));
        assert_eq!(parse_timeout("7"), Ok(Duration::from_secs(7)));
        for value in ["0", "-1", "2m", "never"] {
            let sentence = parse_timeout(value).unwrap_err();
            assert!(sentence.starts_with(&format!("MGL_TEST_TIMEOUT={value} ")), "{sentence}");
        }
    }
}
