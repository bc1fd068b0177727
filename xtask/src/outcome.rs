//! How a command ended, apart from errors.

/// How a command ended; `main` turns it into the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything asked for was done: exit status 0.
    Done,
    /// The command worked and its answer is "no" (a test failed, a rule is broken): exit status 1.
    Failed,
    /// What was asked for is not understood, as a sentence already said: exit status 2.
    Usage,
    /// The program that was started ended with this status.
    Exit(u8),
}

impl Outcome {
    /// `Done` when `ok`, else `Failed`.
    pub fn from_ok(ok: bool) -> Self {
        if ok {
            Outcome::Done
        } else {
            Outcome::Failed
        }
    }
}
