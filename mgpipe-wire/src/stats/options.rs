//! What `MGL_STATS` and `MGL_STATS_WINDOW` say.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which side of the pipe a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that encodes calls: the program's process.
    Client,
    /// The side that applies them: a second thread or a process of its own.
    Server,
}

impl Role {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Role::Client => "client",
            Role::Server => "server",
        }
    }
}

/// Where reports go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One line a window, through the logger.
    Lines,
    /// A JSON file that is written anew at each window; the server's has `.server` appended.
    File(PathBuf),
}

/// After how much a report is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many frames.
    Frames(u64),
    /// So much time, looked at whenever a context flushes.
    Time(Duration),
}

impl Default for Window {
    fn default() -> Window {
        Window::Time(Duration::from_secs(2))
    }
}

/// What is reported, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsOptions {
    /// Where to.
    pub destination: Destination,
    /// How often.
    pub window: Window,
}

impl StatsOptions {
    /// What the values of `MGL_STATS` and `MGL_STATS_WINDOW` ask for; `None` when nothing is to be counted.
    ///
    /// # Errors
    /// One line for the user about a value that cannot be.
    pub fn parse(stats: &str, window: &str) -> Result<Option<StatsOptions>, String> {
        let window = parse_window(window)?;
        let destination = match stats {
            "" | "off" | "0" => return Ok(None),
            "1" => Destination::Lines,
            // A word without a dot or a slash is a switch that was misspelt rather than a file.
            file if file.contains(['.', '/']) => Destination::File(file.into()),
            other => return Err(format!("MGL_STATS={other} is unknown; use off, 1 or the name of a file: name.json")),
        };
        Ok(Some(StatsOptions { destination, window }))
    }
}

fn parse_window(text: &str) -> Result<Window, String> {
    let wrong = || format!("MGL_STATS_WINDOW={text} is unknown; use a number of frames (120) or of seconds (2s)");
    if text.is_empty() {
        return Ok(Window::default());
    }
    match text.strip_suffix('s') {
        Some(seconds) => match seconds.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(Window::Time(Duration::from_secs_f64(seconds))),
            _ => Err(wrong()),
        },
        None => match text.parse::<u64>() {
            Ok(frames) if frames > 0 => Ok(Window::Frames(frames)),
            _ => Err(wrong()),
        },
    }
}

/// The file of a role: `%p` becomes the process, the server's name has `.server` at its end.
pub(super) fn file_of(role: Role, path: &Path, process: u32) -> PathBuf {
    let mut name = path.as_os_str().to_string_lossy().replace("%p", &process.to_string());
    if role == Role::Server {
        name.push_str(".server");
    }
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_choose_what_is_reported() {
        assert_eq!(StatsOptions::parse("", ""), Ok(None));
        assert_eq!(StatsOptions::parse("off", "7"), Ok(None));
        let lines = StatsOptions { destination: Destination::Lines, window: Window::Frames(120) };
        assert_eq!(StatsOptions::parse("1", "120"), Ok(Some(lines)));
        let file = StatsOptions {
            destination: Destination::File("a.json".into()),
            window: Window::Time(Duration::from_millis(500)),
        };
        assert_eq!(StatsOptions::parse("a.json", "0.5s"), Ok(Some(file)));
    }

    #[test]
    fn unknown_values_name_the_choices() {
        for (stats, window, hint) in [
            ("yes", "", "MGL_STATS=yes is unknown; use off, 1 or"),
            ("1", "often", "MGL_STATS_WINDOW=often is unknown"),
            ("1", "0", "number of frames"),
            ("1", "-1s", "of seconds"),
        ] {
            let text = StatsOptions::parse(stats, window).expect_err("refused");
            assert!(text.contains(hint), "{text}");
        }
    }

    #[test]
    fn each_role_has_a_file() {
        let file = |role, path| file_of(role, Path::new(path), 7).to_string_lossy().into_owned();
        assert_eq!(file(Role::Client, "a/b.json"), "a/b.json");
        assert_eq!(file(Role::Server, "a/b-%p.json"), "a/b-7.json.server");
    }
}
