//! Starting commands: a progress bar or plain lines while they run, their output in a log file, their end reported.

use std::fs::File;
use std::io::{IsTerminal, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

/// How often a plain "still running" line is printed when the output is not a terminal.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// What a finished command left behind.
#[derive(Debug)]
pub struct Finished {
    /// Its exit status.
    pub status: ExitStatus,
    /// Everything that it printed.
    pub log: PathBuf,
}

impl Finished {
    /// The whole output, with invalid UTF-8 replaced.
    pub fn output(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Prints the last lines of the output to standard error.
    pub fn print_tail(&self, lines: usize) {
        let text = self.output();
        let all: Vec<&str> = text.lines().collect();
        let skip = all.len().saturating_sub(lines);
        if skip > 0 {
            eprintln!("    … {skip} earlier lines in {}", self.log.display());
        }
        for line in &all[skip..] {
            eprintln!("    {line}");
        }
    }
}

/// True when a person watches: progress bars make sense.
pub fn is_interactive() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

/// A line about what is going on, on standard error, so that standard output stays clean for results.
pub fn say(text: impl AsRef<str>) {
    eprintln!("{}", text.as_ref());
}

/// Progress of one long step: a bar on a terminal, lines now and then elsewhere.
pub struct Progress {
    bar: Option<ProgressBar>,
    label: String,
    started: Instant,
    last_line: Instant,
    done: u64,
    total: Option<u64>,
}

impl Progress {
    /// A step of unknown length.
    pub fn spinner(label: &str) -> Self {
        let bar = is_interactive().then(|| {
            let bar = ProgressBar::new_spinner();
            // A wrong template is a programming error that the default style survives.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} [{elapsed_precise}] {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(label.to_string());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Progress::start(bar, label, None)
    }

    /// A step of `total` parts.
    pub fn counted(label: &str, total: u64) -> Self {
        let bar = is_interactive().then(|| {
            let bar = ProgressBar::new(total);
            if let Ok(style) =
                ProgressStyle::with_template("{prefix} [{elapsed_precise}] {bar:40} {pos}/{len} {wide_msg}")
            {
                bar.set_style(style);
            }
            bar.set_prefix(label.to_string());
            bar
        });
        Progress::start(bar, label, Some(total))
    }

    fn start(bar: Option<ProgressBar>, label: &str, total: Option<u64>) -> Self {
        if bar.is_none() {
            say(format!("==> {label} …"));
        }
        let now = Instant::now();
        Progress { bar, label: label.to_string(), started: now, last_line: now, done: 0, total }
    }

    /// Shows `message`; on a terminal at once, elsewhere in the next keep-alive line.
    pub fn update(&mut self, message: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(message.to_string()),
            None if self.last_line.elapsed() >= KEEP_ALIVE => {
                self.last_line = Instant::now();
                let seconds = self.started.elapsed().as_secs();
                match self.total {
                    Some(total) => {
                        say(format!("    {} {}/{total} after {seconds} s: {message}", self.label, self.done));
                    }
                    None => say(format!("    {} still running after {seconds} s: {message}", self.label)),
                }
            }
            None => {}
        }
    }

    /// Sets how many parts are done.
    pub fn set_done(&mut self, done: u64, message: &str) {
        self.done = done;
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
        self.update(message);
    }

    /// Ends the display and leaves one line with `verdict` behind.
    pub fn finish(self, verdict: &str) {
        let line = format!("==> {}: {verdict} ({:.1} s)", self.label, self.started.elapsed().as_secs_f64());
        match self.bar {
            Some(bar) => {
                bar.finish_and_clear();
                say(line);
            }
            None => say(line),
        }
    }
}

/// Runs `command` to its end with no standard input, its output in `log`, and shows that it is alive.
///
/// # Errors
/// When the log cannot be written or the command cannot be started; a non-zero exit status is not an error here.
pub fn logged(command: &mut Command, label: &str, log: &Path) -> Result<Finished> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let second = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(second)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let mut progress = Progress::spinner(label);
    let mut pause = Duration::from_millis(5);
    let status = loop {
        if let Some(status) = child.try_wait().with_context(|| format!("cannot wait for {program}"))? {
            break status;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
        progress.update(&last_line(log));
    };
    progress.finish(if status.success() { "ok" } else { "FAILED" });
    Ok(Finished { status, log: log.to_path_buf() })
}

/// The last non-empty line of a file that is still being written.
fn last_line(log: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(4096)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Ok(line.trim().chars().take(160).collect())
    };
    read().unwrap_or_default()
}

/// True when a program of that name can be started from `PATH`.
pub fn has_program(name: &str) -> bool {
    find_program(name).is_some()
}

/// The full path of a program on `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|candidate| candidate.is_file())
}
