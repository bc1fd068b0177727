//! What a scenario leaves behind: its outcome, the reasons, the pictures and the numbers to compare.

use serde::{Deserialize, Serialize};

use crate::picture::Tolerance;

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Every check held.
    Pass,
    /// A check failed, a GL error was left over, a validation message appeared or a picture differed.
    Fail,
    /// The process died.
    Crash,
    /// The scenario did not end in time.
    Timeout,
    /// The driver lacks an optional feature that the scenario needs.
    Skip,
}

/// A picture that a scenario wants compared with the reference's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PictureEntry {
    /// Its name inside the scenario; the file is `SCENARIO.NAME.png`.
    pub name: String,
    /// How close it must be.
    pub tolerance: Tolerance,
}

/// Numbers that a scenario wants compared with the reference's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ValuesEntry {
    /// Their name inside the scenario.
    pub name: String,
    /// The numbers; a NaN travels as text so that JSON can hold it.
    pub values: Vec<f64>,
    /// The largest absolute difference that is still a match.
    pub tolerance: f64,
}

/// The result of one scenario on one driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// The scenario.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// One sentence per failed check, GL error or validation message; the reason of a skip.
    pub messages: Vec<String>,
    /// Pictures to compare.
    pub pictures: Vec<PictureEntry>,
    /// Numbers to compare.
    pub values: Vec<ValuesEntry>,
    /// `GL_RENDERER`.
    pub renderer: String,
    /// `GL_VERSION`.
    pub version: String,
    /// Wall time in milliseconds.
    pub milliseconds: f64,
}

impl Verdict {
    /// A verdict without any result, for a scenario whose process did not get to write one.
    pub fn without_result(name: &str, outcome: Outcome, message: String) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            messages: vec![message],
            pictures: Vec::new(),
            values: Vec::new(),
            renderer: String::new(),
            version: String::new(),
            milliseconds: 0.0,
        }
    }
}
