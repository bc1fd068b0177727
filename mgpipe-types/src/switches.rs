//! Switches of the process: environment variables, and what a settings file says for those that are not set.
//!
//! Whoever loads a backend may [`preset`] values once, before the first backend opens; the environment wins over them.
//! Changing the environment itself would race with other threads of the program that read it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

static DISTRUST: AtomicBool = AtomicBool::new(false);
static PRESETS: OnceLock<BTreeMap<OsString, OsString>> = OnceLock::new();

/// Sets values for variables that the environment does not have. Only the first call has an effect; the answer says whether
/// this one was it.
pub fn preset(values: BTreeMap<OsString, OsString>) -> bool {
    PRESETS.set(values).is_ok()
}

/// From now on the environment has no switches: the process has more rights than the user who started it, and would run and
/// write what that user names.
pub fn distrust_environment() {
    DISTRUST.store(true, Ordering::Relaxed);
}

/// The environment's value, as far as it is trusted.
fn named(name: &OsStr) -> Option<OsString> {
    std::env::var_os(name).filter(|_| !DISTRUST.load(Ordering::Relaxed))
}

/// The value of a switch: the environment's, else a preset one.
pub fn switch(name: &str) -> Option<OsString> {
    named(OsStr::new(name)).or_else(|| PRESETS.get()?.get(OsStr::new(name)).cloned())
}

/// The same as text, with what is no UTF-8 replaced.
pub fn switch_text(name: &str) -> Option<String> {
    switch(name).map(|value| value.to_string_lossy().into_owned())
}

/// The environment of a process that shall see the same switches.
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    let presets = PRESETS.get().into_iter().flatten().filter(|(name, _)| named(name).is_none());
    std::env::vars_os().chain(presets.map(|(name, value)| (name.clone(), value.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_presets() {
        assert_eq!(switch("MGPIPE_TEST_OF_PRESETS"), None);
        let values = [("MGPIPE_TEST_OF_PRESETS", "yes"), ("PATH", "preset")];
        assert!(preset(values.into_iter().map(|(name, value)| (name.into(), value.into())).collect()));
        assert!(!preset(BTreeMap::new()), "the first call counts");
        assert_eq!(switch_text("MGPIPE_TEST_OF_PRESETS").as_deref(), Some("yes"));
        assert_eq!(switch("PATH"), std::env::var_os("PATH"));
        let found: Vec<_> = environment().filter(|(name, _)| name == "MGPIPE_TEST_OF_PRESETS").collect();
        assert_eq!(found, [("MGPIPE_TEST_OF_PRESETS".into(), "yes".into())]);
        assert_eq!(environment().filter(|(name, _)| name == "PATH").count(), 1);
    }
}
