//! The one table of scenarios that are known not to pass somewhere; it may only get shorter.

use anyhow::{bail, Context as _, Result};
use serde::Deserialize;

use crate::verdict::Outcome;

/// One known deviation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The scenario's name.
    pub scenario: String,
    /// `magma`, `espryt` or `*`.
    pub backend: String,
    /// `monolith`, `inproc`, `spawn` or `*`.
    pub transport: String,
    /// What happens instead of a pass.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub reason: String,
}

/// The whole table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// The rows, named `[[expect]]` in the file.
    #[serde(default)]
    pub expect: Vec<Expectation>,
}

impl Expectations {
    /// Parses the table and checks each row by itself.
    pub fn parse(text: &str) -> Result<Self> {
        let table: Self = toml::from_str(text).context("expectations.toml")?;
        for row in &table.expect {
            if row.reason.trim().is_empty() {
                bail!("expectations.toml: {} has no reason", row.scenario);
            }
            if row.outcome == Outcome::Pass {
                bail!("expectations.toml: {} expects a pass, which needs no row", row.scenario);
            }
        }
        Ok(table)
    }

    /// The row for a scenario on a backend and transport.
    pub fn find(&self, scenario: &str, backend: &str, transport: &str) -> Option<&Expectation> {
        let matches = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        self.expect
            .iter()
            .find(|e| e.scenario == scenario && matches(&e.backend, backend) && matches(&e.transport, transport))
    }
}

/// Judges an outcome against its row: an unexpected failure is an error, and so is an unexpected pass.
pub fn judge(outcome: Outcome, messages: &[String], expectation: Option<&Expectation>) -> Result<(), String> {
    let text = messages.join("\n  ");
    match expectation {
        None if outcome == Outcome::Pass => Ok(()),
        None => Err(format!("{outcome:?}\n  {text}")),
        Some(row) if outcome == row.outcome => Ok(()),
        Some(row) if outcome == Outcome::Pass => {
            Err(format!("passes now, but expectations.toml expects {:?} ({}): remove the row", row.outcome, row.reason))
        }
        Some(row) => {
            Err(format!("{outcome:?}, but expectations.toml expects {:?} ({})\n  {text}", row.outcome, row.reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "[[expect]]\nscenario = \"a\"\nbackend = \"magma\"\ntransport = \"*\"\noutcome = \"fail\"\nreason = \"later\"\n";

    #[test]
    fn an_expected_failure_that_passes_is_an_error() {
        let table = Expectations::parse(TABLE).unwrap();
        let row = table.find("a", "magma", "spawn");
        assert!(judge(Outcome::Fail, &[], row).is_ok());
        assert!(judge(Outcome::Pass, &[], row).unwrap_err().contains("remove the row"));
        assert!(judge(Outcome::Crash, &[], row).is_err());
        assert!(table.find("a", "espryt", "spawn").is_none());
        assert!(judge(Outcome::Pass, &[], None).is_ok());
        assert!(judge(Outcome::Skip, &[], None).is_err());
    }

    #[test]
    fn rows_need_a_reason_and_a_deviation() {
        assert!(Expectations::parse(&TABLE.replace("later", " ")).is_err());
        assert!(Expectations::parse(&TABLE.replace("\"fail\"", "\"pass\"")).is_err());
        assert!(Expectations::parse(&TABLE.replace("outcome", "result")).is_err());
    }
}
