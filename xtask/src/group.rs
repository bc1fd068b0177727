//! A child process in a process group of its own, ended as a whole when it takes too long.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{kill_process_group, Pid, Signal};

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It was ended because it took too long.
    Timeout,
}

/// Runs `command` with its output in files until it ends, or until nothing was written to either file for `quiet`.
///
/// For a command that prints as it goes the limit is per piece of work; for one that prints only at its end it is the
/// limit of the whole. The whole process group is killed then, so that a helper that the child started cannot stay.
///
/// # Errors
/// When the files cannot be written or the command cannot be started.
pub fn run_limited(command: &mut Command, stdout: &Path, stderr: &Path, quiet: Duration) -> Result<End> {
    run_watched(command, stdout, stderr, quiet, Duration::from_millis(20), |_| {})
}

/// The same, and `watch` is called with the child's number at least every `step` while it runs.
///
/// # Errors
/// As [`run_limited`].
pub fn run_watched(
    command: &mut Command,
    stdout: &Path,
    stderr: &Path,
    quiet: Duration,
    step: Duration,
    mut watch: impl FnMut(u32),
) -> Result<End> {
    let out = File::create(stdout).with_context(|| format!("cannot write {}", stdout.display()))?;
    let err = File::create(stderr).with_context(|| format!("cannot write {}", stderr.display()))?;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let mut pause = Duration::from_millis(1);
    let mut written = 0;
    let mut last_change = Instant::now();
    loop {
        if let Some(status) = child.try_wait().with_context(|| format!("cannot wait for {program}"))? {
            return Ok(match (status.code(), status.signal()) {
                (Some(code), _) => End::Exit(code),
                (None, Some(signal)) => End::Signal(signal),
                (None, None) => End::Exit(-1),
            });
        }
        watch(child.id());
        std::thread::sleep(pause);
        pause = (pause * 2).min(step);
        let length = [stdout, stderr].iter().filter_map(|path| path.metadata().ok()).map(|data| data.len()).sum();
        if length != written {
            written = length;
            last_change = Instant::now();
        }
        if last_change.elapsed() >= quiet {
            end_group(&mut child);
            return Ok(End::Timeout);
        }
    }
}

/// Kills the child's process group and waits for the child.
pub fn end_group(child: &mut Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // The group can be gone already; then there is nothing left to end.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(name: &str) -> (std::path::PathBuf, std::path::PathBuf) {
        let dir = std::env::temp_dir();
        let id = std::process::id();
        (dir.join(format!("xtask-group-{name}-{id}.out")), dir.join(format!("xtask-group-{name}-{id}.err")))
    }

    fn run(name: &str, script: &str, quiet: Duration) -> (End, String) {
        let (out, err) = files(name);
        let end = run_limited(Command::new("sh").args(["-c", script]), &out, &err, quiet).unwrap();
        let text = std::fs::read_to_string(&out).unwrap();
        let _ = std::fs::remove_file(out);
        let _ = std::fs::remove_file(err);
        (end, text)
    }

    #[test]
    fn exit_status_and_signal_are_told_apart() {
        assert_eq!(run("exit", "echo hi; exit 3", Duration::from_secs(20)), (End::Exit(3), "hi\n".to_string()));
        assert_eq!(run("signal", "kill -SEGV $$", Duration::from_secs(20)).0, End::Signal(11));
    }

    #[test]
    fn a_hanging_child_and_its_own_child_are_ended() {
        let started = Instant::now();
        let (end, _) = run("hang", "sleep 60 & sleep 60", Duration::from_millis(300));
        assert_eq!(end, End::Timeout);
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_watcher_sees_the_child_while_it_runs() {
        let (out, err) = files("watched");
        let mut seen = Vec::new();
        let step = Duration::from_millis(10);
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$; sleep 0.3"]);
        let end =
            run_watched(&mut command, &out, &err, Duration::from_secs(20), step, |child| seen.push(child)).unwrap();
        let text = std::fs::read_to_string(&out).unwrap();
        let _ = std::fs::remove_file(out);
        let _ = std::fs::remove_file(err);
        assert_eq!(end, End::Exit(0));
        assert!(seen.len() > 3 && seen.iter().all(|child| child.to_string() == text.trim()), "{seen:?} {text}");
    }

    #[test]
    fn output_keeps_a_slow_child_alive() {
        let (end, text) = run("slow", "for i in 1 2 3 4 5; do echo $i; sleep 0.2; done", Duration::from_millis(700));
        assert_eq!(end, End::Exit(0));
        assert_eq!(text.lines().count(), 5);
    }
}
