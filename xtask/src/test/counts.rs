//! Numbers of passed and failed tests, and how to read them from the output of test runners.

use std::ops::Add;

/// Passed and failed tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, timed out or crashed.
    pub failed: u64,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

impl Counts {
    /// One check.
    pub fn one(passed: bool) -> Self {
        Counts { passed: u64::from(passed), failed: u64::from(!passed) }
    }

    /// Makes a non-zero exit status show: whatever was read, a runner that failed has at least one failure.
    pub fn with_status(mut self, success: bool) -> Self {
        if !success && self.failed == 0 {
            self.failed = 1;
        }
        self
    }
}

/// Reads the summary line of cargo-nextest.
pub fn of_nextest(output: &str) -> Option<Counts> {
    let line = output.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
    let counts = &line[line.find(']')? + 1..];
    Some(Counts {
        passed: number_before(counts, "passed").unwrap_or(0),
        failed: ["failed", "timed out", "exec failed"].iter().filter_map(|word| number_before(counts, word)).sum(),
    })
}

/// Adds up the result lines of the standard test harness (`cargo test`).
pub fn of_harness(output: &str) -> Counts {
    let mut sum = Counts::default();
    for line in output.lines().filter(|line| line.trim_start().starts_with("test result:")) {
        sum = sum
            + Counts {
                passed: number_before(line, "passed").unwrap_or(0),
                failed: number_before(line, "failed").unwrap_or(0),
            };
    }
    sum
}

/// The number that stands before the first ` word` in `text`.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = word.split(' ').collect();
    let tokens: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '.')).collect();
    let tokens: Vec<&str> = tokens.into_iter().filter(|token| !token.is_empty()).collect();
    tokens
        .windows(words.len() + 1)
        .find(|window| window[1..] == words[..] && window[0].parse::<u64>().is_ok())
        .and_then(|window| window[0].parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_summary_is_read() {
        let text = "noise\n     Summary [   1.234s] 12 tests run: 9 passed (1 slow), 2 failed, 1 timed out, 3 skipped\nerror: test run failed\n";
        assert_eq!(of_nextest(text), Some(Counts { passed: 9, failed: 3 }));
        assert_eq!(of_nextest("error: could not compile"), None);
    }

    #[test]
    fn harness_lines_are_added() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured\n";
        assert_eq!(of_harness(text), Counts { passed: 7, failed: 2 });
    }

    #[test]
    fn a_failing_runner_is_never_all_green() {
        assert_eq!(Counts { passed: 5, failed: 0 }.with_status(false), Counts { passed: 5, failed: 1 });
    }
}
