//! Settings files: values of `MGL_*` switches for all programs or for one, where the environment does not set them.
//!
//! ```toml
//! ["*"]                       # every program
//! MGL_LOG = "warn"
//!
//! [blender]                   # the program whose file is called so
//! MGL_TRANSPORT = "spawn"
//! MGL_HUD = 1
//! ```
//!
//! The user's file is `mgl/settings.toml` in `$XDG_CONFIG_HOME` (`~/.config`), the system's `/etc/mgl/settings.toml`. The
//! environment wins over the user's file, that over the system's, and within a file the program's section over `"*"`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mgpipe_types::switches;

/// The file of the whole system.
const SYSTEM: &str = "/etc/mgl/settings.toml";

/// The section for all programs.
const EVERY: &str = "*";

/// The switches that may stand in a file.
const KNOWN: &[&str] = &[
    "MGL_BACKEND",
    "MGL_CSO_ADDRESSING",
    "MGL_ESPRYT_EGL",
    "MGL_ESPRYT_MASK",
    "MGL_HUD",
    "MGL_IPC_IDLE_EXIT_S",
    "MGL_IPC_MAP_TIER",
    "MGL_IPC_PRESENT_CREDIT",
    "MGL_IPC_RESPAWN",
    "MGL_IPC_RESPAWN_LIMIT",
    "MGL_IPC_RESPAWN_MB",
    "MGL_IPC_RING_MB",
    "MGL_IPC_SERVER_AFFINITY",
    "MGL_IPC_SERVER_PATH",
    "MGL_IPC_SPIN_US",
    "MGL_IPC_STAGE_MB",
    "MGL_LEGACY_CONTEXTS",
    "MGL_LOG",
    "MGL_MAGMA_DEVICE",
    "MGL_MAGMA_DISABLE",
    "MGL_MAGMA_GEN_CHECK",
    "MGL_PRESENT",
    "MGL_RECORD",
    "MGL_SHADER_CACHE",
    "MGL_STATS",
    "MGL_STATS_WINDOW",
    "MGL_TRANSPORT",
    "MGL_VALIDATION",
    "MGL_VALIDATION_LOG",
];

/// Reads the files and makes what they say the preset values of this process. The answer is sentences about what is wrong
/// with them; what is right counts all the same.
pub(crate) fn load() -> Vec<String> {
    let environment = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = environment("XDG_CONFIG_HOME").or_else(|| environment("HOME").map(|home| home.join(".config")));
    let trusted = mgpipe_cache::is_trusted();
    if !trusted {
        switches::distrust_environment();
    }
    let user = base.filter(|_| trusted).map(|base| base.join("mgl").join("settings.toml"));
    let programs = programs();
    let mut values = BTreeMap::new();
    let mut mistakes = Vec::new();
    // The stronger file comes later.
    for path in [Some(PathBuf::from(SYSTEM)), user].into_iter().flatten() {
        match std::fs::read_to_string(&path) {
            Ok(text) => mistakes.extend(read(&path, &text, &programs, &mut values)),
            // A folder of another user, or none at all, is as good as no file.
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {}
            Err(error) => mistakes.push(format!("{}: {error}", path.display())),
        }
    }
    if !values.is_empty() {
        let values = values.into_iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        switches::preset(values.collect());
    }
    mistakes
}

/// The names of this program's file, and of the one by which it was called where that is another.
fn programs() -> Vec<String> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let file = std::env::current_exe().ok().and_then(|path| name(&path));
    let called = std::env::args_os().next().and_then(|path| name(Path::new(&path)));
    let mut names: Vec<String> = [file, called].into_iter().flatten().collect();
    names.dedup();
    names
}

/// Adds the values of one file for a program. The answer is what is wrong with it.
fn read(path: &Path, text: &str, programs: &[String], values: &mut BTreeMap<String, String>) -> Vec<String> {
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("{}: {}", path.display(), error.to_string().trim().replace('\n', " "))],
    };
    let mut mistakes = Vec::new();
    let mut mistake = |text: String| mistakes.push(format!("{}: {text}", path.display()));
    let mut sections = Vec::new();
    for (section, content) in &table {
        let Some(content) = content.as_table() else {
            mistake(format!("{section} stands outside of a section; use [\"{EVERY}\"] for all programs"));
            continue;
        };
        for (key, value) in content {
            if !KNOWN.contains(&key.as_str()) {
                mistake(format!("[{section}] {key} is no switch"));
            } else if text_of(value).is_none() {
                mistake(format!("[{section}] {key} is neither a text, a number nor a boolean"));
            }
        }
        let strength = match programs.iter().position(|program| program == section) {
            Some(place) => programs.len() - place,
            None if section == EVERY => 0,
            None => continue,
        };
        sections.push((strength, content));
    }
    sections.sort_by_key(|(strength, _)| *strength);
    for (key, value) in sections.into_iter().flat_map(|(_, content)| content) {
        if let (true, Some(value)) = (KNOWN.contains(&key.as_str()), text_of(value)) {
            values.insert(key.clone(), value);
        }
    }
    mistakes
}

/// A value as the environment would have it.
fn text_of(value: &toml::Value) -> Option<String> {
    Some(match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => i32::from(*flag).to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(texts: &[&str], programs: &[&str]) -> (Vec<(String, String)>, Vec<String>) {
        let programs: Vec<String> = programs.iter().map(|p| (*p).to_owned()).collect();
        let mut values = BTreeMap::new();
        let mut mistakes = Vec::new();
        for text in texts {
            mistakes.extend(read(Path::new("/f.toml"), text, &programs, &mut values));
        }
        (values.into_iter().collect(), mistakes)
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_programs_section_wins_over_the_one_for_all() {
        let text = "[blender]\nMGL_TRANSPORT = \"spawn\"\nMGL_HUD = 1\n[\"*\"]\nMGL_TRANSPORT = \"inproc\"\n";
        let (found, mistakes) = values(&[text], &["blender"]);
        assert_eq!(found, [pair("MGL_HUD", "1"), pair("MGL_TRANSPORT", "spawn")]);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        assert_eq!(values(&[text], &["other"]).0, [pair("MGL_TRANSPORT", "inproc")]);
    }

    #[test]
    fn the_later_file_wins_whatever_its_section_is() {
        let system = "[blender]\nMGL_LOG = \"trace\"\nMGL_HUD = true\n";
        let (found, _) = values(&[system, "[\"*\"]\nMGL_LOG = \"off\"\n"], &["blender"]);
        assert_eq!(found, [pair("MGL_HUD", "1"), pair("MGL_LOG", "off")]);
    }

    #[test]
    fn the_programs_file_counts_more_than_what_it_is_called() {
        let text = "[python3]\nMGL_HUD = 0\n[\"python3.11\"]\nMGL_HUD = 1\n";
        assert_eq!(values(&[text], &["python3.11", "python3"]).0, [pair("MGL_HUD", "1")]);
        assert_eq!(values(&[text], &["python3.12", "python3"]).0, [pair("MGL_HUD", "0")]);
    }

    #[test]
    fn mistakes_are_named_and_the_rest_counts() {
        let text = "MGL_LOG = \"off\"\n[\"*\"]\nMGL_LOUD = 1\nMGL_HUD = [1]\nMGL_STATS = 1\nMGL_ROLE = \"server\"\n";
        let (found, mistakes) = values(&[text], &["p"]);
        assert_eq!(found, [pair("MGL_STATS", "1")]);
        for (mistake, part) in
            mistakes.iter().zip(["MGL_HUD is neither", "MGL_LOUD is no", "MGL_ROLE is no", "outside"])
        {
            assert!(mistake.starts_with("/f.toml: ") && mistake.contains(part), "{mistake}");
        }
        assert_eq!(mistakes.len(), 4, "{mistakes:?}");
        let (_, mistakes) = values(&["[\"*\"\n"], &["p"]);
        assert!(mistakes[0].contains("/f.toml") && !mistakes[0].contains('\n'), "{mistakes:?}");
    }

    /// The README's table is compared with the code by the test command; this compares it with the list here.
    #[test]
    fn every_switch_of_the_readme_is_known() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
        let text = std::fs::read_to_string(path).expect("the README of the repository");
        let section = text.split("\n## Switches").nth(1).and_then(|rest| rest.split("\nVariables of the tests").next());
        let mut listed: Vec<&str> = section
            .expect("the section about switches")
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .filter(|name| *name != "MGL_ROLE")
            .collect();
        listed.sort_unstable();
        assert!(KNOWN.is_sorted());
        for name in &listed {
            assert!(KNOWN.contains(name), "{name} is in the README's table");
        }
    }
}
