//! Runs one test of this program in a process of its own, with other environment variables.

use std::process::{Command, Output};

/// Set in the child to the name of the case it runs.
const CASE: &str = "ABI_TEST_CASE";

/// True in the child that `run` started for `case`.
pub fn is(case: &str) -> bool {
    std::env::var(CASE).is_ok_and(|c| c == case)
}

/// Runs the test called `test` of this program as `case`.
pub fn run(test: &str, case: &str, env: &[(&str, &str)]) -> Output {
    let exe = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(exe);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CASE, case);
    command.envs(env.iter().copied());
    command.output().expect("the child starts")
}

/// Fails with the child's output unless it succeeded; gives its standard error back.
pub fn succeed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "the child failed: {:?}\n{out}\n{text}", output.status);
    text
}
