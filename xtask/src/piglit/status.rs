//! The result of a piglit test, and how to read it from what the test printed.

use std::fmt;
use std::str::FromStr;

use anyhow::bail;

use crate::group::End;

/// What a test came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The driver lacks something that the test needs.
    Skip,
    /// Right.
    Pass,
    /// Right, with a remark.
    Warn,
    /// Wrong.
    Fail,
    /// A signal ended it.
    Crash,
    /// It took too long.
    Timeout,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 6] =
        [Status::Pass, Status::Warn, Status::Fail, Status::Crash, Status::Timeout, Status::Skip];

    /// True when nothing is wrong.
    pub fn is_good(self) -> bool {
        matches!(self, Status::Pass | Status::Warn)
    }

    /// True when the test ran and did not pass, so that what it printed is kept.
    pub fn leaves_output(self) -> bool {
        !self.is_good() && self != Status::Skip
    }

    /// True when the process did not end by itself.
    pub fn is_abnormal(self) -> bool {
        matches!(self, Status::Crash | Status::Timeout)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Skip => "skip",
            Status::Pass => "pass",
            Status::Warn => "warn",
            Status::Fail => "fail",
            Status::Crash => "crash",
            Status::Timeout => "timeout",
        })
    }
}

impl FromStr for Status {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "skip" => Status::Skip,
            "pass" => Status::Pass,
            "warn" => Status::Warn,
            "fail" => Status::Fail,
            "crash" => Status::Crash,
            "timeout" => Status::Timeout,
            other => bail!("`{other}` is no piglit status"),
        })
    }
}

/// The result of a process that ran one test.
pub fn of_single(stdout: &str, end: End) -> Status {
    let mut overall = None;
    let mut worst_part: Option<Status> = None;
    for line in stdout.lines() {
        let Some(value) = piglit_line(line) else {
            continue;
        };
        if let Some(status) = value.get("result").and_then(|text| text.as_str()).and_then(|text| text.parse().ok()) {
            overall = Some(status);
        }
        if let Some(parts) = value.get("subtest").and_then(|parts| parts.as_object()) {
            for status in parts.values().filter_map(|text| text.as_str()?.parse::<Status>().ok()) {
                worst_part = Some(worst_part.map_or(status, |worst| worst.max(status)));
            }
        }
    }
    match end {
        End::Timeout => return Status::Timeout,
        End::Signal(_) => return Status::Crash,
        End::Exit(_) => {}
    }
    let said = match (worst_part, overall) {
        // A test whose parts all pass can still fail as a whole, and the other way round.
        (Some(part), Some(whole)) => part.max(whole),
        (Some(part), None) => part,
        (None, Some(whole)) => whole,
        (None, None) => Status::Fail,
    };
    match (end, said) {
        (End::Exit(code), Status::Pass) if code != 0 => Status::Warn,
        (_, said) => said,
    }
}

/// What a process that ran several shader tests in a row said about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchResult {
    /// Status of the first tests, in order; the tests after them did not run.
    pub statuses: Vec<Status>,
    /// What was printed for each of them.
    pub outputs: Vec<String>,
}

/// The results of a process that was given `count` shader tests. At least one status is returned, so that a caller who
/// runs the rest again gets to the end.
pub fn of_batch(stdout: &str, end: End, count: usize) -> BatchResult {
    let mut result = BatchResult { statuses: Vec::new(), outputs: Vec::new() };
    let mut output = String::new();
    let mut open = false;
    let mut skipped_whole = false;
    let mut push = |status, output: &mut String| {
        result.statuses.push(status);
        result.outputs.push(std::mem::take(output));
    };
    for line in stdout.lines() {
        if line.starts_with("PIGLIT TEST:") {
            if open {
                // The one before never reported.
                push(Status::Fail, &mut output);
            }
            open = true;
            skipped_whole = false;
        } else if let Some(value) = piglit_line(line) {
            if let Some(parts) = value.get("subtest").and_then(|parts| parts.as_object()) {
                if let Some(status) = parts.values().find_map(|text| text.as_str()?.parse::<Status>().ok()) {
                    if open {
                        push(status, &mut output);
                        open = false;
                    }
                }
            } else if value.get("result").and_then(|text| text.as_str()) == Some("skip") {
                skipped_whole = true;
            }
        } else {
            skipped_whole |= line.trim_end().ends_with("not supported on this implementation");
            output.push_str(line);
            output.push('\n');
        }
    }
    if result.statuses.len() < count {
        let stopped = match end {
            End::Timeout => Some(Status::Timeout),
            End::Signal(_) => Some(Status::Crash),
            End::Exit(_) if skipped_whole => Some(Status::Skip),
            End::Exit(_) if open || result.statuses.is_empty() => Some(Status::Fail),
            End::Exit(_) => None,
        };
        // A process that stopped between two tests says nothing about the next one.
        if let Some(status) = stopped {
            result.statuses.push(status);
            result.outputs.push(output);
        }
    }
    result.statuses.truncate(count);
    result.outputs.truncate(count);
    result
}

/// The JSON of a line that a test printed for the framework.
fn piglit_line(line: &str) -> Option<serde_json::Value> {
    serde_json::from_str(line.strip_prefix("PIGLIT:")?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ran_and_did_not_pass_leaves_output() {
        let leaving: Vec<Status> = Status::ALL.into_iter().filter(|status| status.leaves_output()).collect();
        assert_eq!(leaving, [Status::Fail, Status::Crash, Status::Timeout]);
    }

    #[test]
    fn single_results_are_read() {
        let pass = "noise\nPIGLIT: {\"result\": \"pass\" }\n";
        assert_eq!(of_single(pass, End::Exit(0)), Status::Pass);
        assert_eq!(of_single(pass, End::Exit(1)), Status::Warn);
        assert_eq!(of_single(pass, End::Signal(11)), Status::Crash);
        assert_eq!(of_single(pass, End::Timeout), Status::Timeout);
        assert_eq!(of_single("", End::Exit(0)), Status::Fail);
    }

    #[test]
    fn one_wrong_part_makes_the_whole_wrong() {
        let text = "PIGLIT: {\"subtest\": {\"a\" : \"pass\"}}\nPIGLIT: {\"subtest\": {\"b\" : \"fail\"}}\n\
                    PIGLIT: {\"subtest\": {\"c\" : \"skip\"}}\n";
        assert_eq!(of_single(text, End::Exit(1)), Status::Fail);
        let skip_and_pass = "PIGLIT: {\"subtest\": {\"a\" : \"skip\"}}\nPIGLIT: {\"subtest\": {\"b\" : \"pass\"}}\n";
        assert_eq!(of_single(skip_and_pass, End::Exit(0)), Status::Pass);
    }

    #[test]
    fn batch_results_are_in_order() {
        let text = "PIGLIT TEST: 1 - a\nPIGLIT: {\"subtest\": {\"a\" : \"pass\"}}\n\
                    PIGLIT TEST: 2 - b\nPIGLIT: {\"subtest\": {\"b\" : \"skip\"}}\n";
        assert_eq!(of_batch(text, End::Exit(0), 2).statuses, [Status::Pass, Status::Skip]);
    }

    #[test]
    fn a_crash_in_a_batch_is_put_on_the_test_that_ran() {
        let text = "PIGLIT TEST: 1 - a\nPIGLIT: {\"subtest\": {\"a\" : \"pass\"}}\nPIGLIT TEST: 2 - b\n";
        assert_eq!(of_batch(text, End::Signal(11), 5).statuses, [Status::Pass, Status::Crash]);
        assert_eq!(of_batch(text, End::Timeout, 5).statuses, [Status::Pass, Status::Timeout]);
    }

    #[test]
    fn a_batch_that_stops_between_tests_blames_none() {
        let text = "PIGLIT TEST: 1 - a\nPIGLIT: {\"subtest\": {\"a\" : \"pass\"}}\n";
        assert_eq!(of_batch(text, End::Exit(0), 5).statuses, [Status::Pass]);
        assert_eq!(of_batch("", End::Exit(1), 5).statuses, [Status::Fail]);
    }
}
