//! The committed list of tests and what each is expected to come to; the list may only improve.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{bail, Context, Result};

use super::status::Status;

/// Expected status of each test, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Comment lines at the top of the file, kept when it is written again.
    pub heading: Vec<String>,
    /// Name to expected status.
    pub entries: BTreeMap<String, Status>,
    /// Why a test is not expected to pass, for those that have a third column.
    pub remarks: BTreeMap<String, String>,
}

/// What a result means beside its expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As expected.
    AsExpected,
    /// It passed before and does not now, or it crashes or hangs where it only failed before.
    Worse,
    /// It passes and was not expected to: the list has to be updated.
    Better,
}

/// Judges one result.
pub fn judge(expected: Status, actual: Status) -> Verdict {
    match (expected.is_good(), actual.is_good()) {
        (true, true) => Verdict::AsExpected,
        (true, false) => Verdict::Worse,
        (false, true) => Verdict::Better,
        (false, false) if actual.is_abnormal() && !expected.is_abnormal() => Verdict::Worse,
        (false, false) => Verdict::AsExpected,
    }
}

impl Expectations {
    /// Reads a list: `name<TAB>status<TAB>remark`, or a bare name for a test that is expected to pass. The remark may be
    /// missing; it says why a test does not pass. Lines that begin with `#` and empty lines do not count. A second column that is no status (a remark) means that the test is expected to pass.
    ///
    /// # Errors
    /// When a name stands there twice.
    pub fn parse(text: &str) -> Result<Self> {
        let mut list = Expectations::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.starts_with('#') {
                if list.entries.is_empty() {
                    list.heading.push(line.to_string());
                }
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let mut columns = line.split('\t');
            let name = columns.next().unwrap_or_default();
            let status = columns.next().and_then(|word| word.parse().ok()).unwrap_or(Status::Pass);
            if list.entries.insert(name.to_string(), status).is_some() {
                bail!("line {}: {name} stands in the list twice", index + 1);
            }
            if let Some(remark) = columns.next() {
                list.remarks.insert(name.to_string(), remark.to_string());
            }
        }
        Ok(list)
    }

    /// Reads a list from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a list.
    pub fn read(path: &std::path::Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Expectations::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    /// The text of the list, sorted by name.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for line in &self.heading {
            text.push_str(line);
            text.push('\n');
        }
        for (name, status) in &self.entries {
            // Writing to a String cannot fail.
            let _ = match self.remarks.get(name) {
                Some(remark) => writeln!(text, "{name}\t{status}\t{remark}"),
                None => writeln!(text, "{name}\t{status}"),
            };
        }
        text
    }

    /// Takes over results that are better than what stands here, and adds unknown tests. Entries never get worse unless
    /// `accept_worse`. Returns how many entries changed.
    pub fn improve(&mut self, results: &BTreeMap<String, Status>, accept_worse: bool) -> usize {
        let mut changed = 0;
        for (name, &actual) in results {
            let take = match self.entries.get(name) {
                None => true,
                Some(&expected) if expected == actual => false,
                Some(&expected) => match judge(expected, actual) {
                    Verdict::Better => true,
                    Verdict::AsExpected => !expected.is_good() && expected.is_abnormal() && !actual.is_abnormal(),
                    Verdict::Worse => accept_worse,
                },
            };
            if take {
                self.entries.insert(name.clone(), actual);
                // A reason not to pass is none any more.
                if actual.is_good() {
                    self.remarks.remove(name);
                }
                changed += 1;
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_survives_being_written_and_read() {
        let text = "# heading\na@b c\tfail\tthe reason\nd@e\tpass\n";
        let list = Expectations::parse(text).unwrap();
        assert_eq!(list.to_text(), text);
    }

    #[test]
    fn bare_names_and_remarks_mean_pass() {
        let list = Expectations::parse("x\ny\tcore\n").unwrap();
        assert_eq!(list.entries["x"], Status::Pass);
        assert_eq!(list.entries["y"], Status::Pass);
        assert!(Expectations::parse("x\nx\n").is_err());
    }

    #[test]
    fn both_directions_are_errors() {
        assert_eq!(judge(Status::Pass, Status::Fail), Verdict::Worse);
        assert_eq!(judge(Status::Pass, Status::Skip), Verdict::Worse);
        assert_eq!(judge(Status::Fail, Status::Pass), Verdict::Better);
        assert_eq!(judge(Status::Fail, Status::Crash), Verdict::Worse);
        assert_eq!(judge(Status::Crash, Status::Fail), Verdict::AsExpected);
        assert_eq!(judge(Status::Pass, Status::Warn), Verdict::AsExpected);
    }

    #[test]
    fn the_list_only_improves() {
        let mut list = Expectations::parse("a\tpass\nb\tfail\nc\tcrash\n").unwrap();
        let results = BTreeMap::from([
            ("a".to_string(), Status::Fail),
            ("b".to_string(), Status::Pass),
            ("c".to_string(), Status::Fail),
            ("d".to_string(), Status::Skip),
        ]);
        assert_eq!(list.improve(&results, false), 3);
        assert_eq!(list.to_text(), "a\tpass\nb\tpass\nc\tfail\nd\tskip\n");
        assert_eq!(list.improve(&results, true), 1);
        assert_eq!(list.entries["a"], Status::Fail);
    }
}
