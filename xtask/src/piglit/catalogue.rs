//! Which tests piglit has, and the command line of each, read through piglit's own Python framework.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};

use crate::exec;

/// The profiles that together hold every test by its own name.
pub const PROFILES: &[&str] = &["quick_gl", "quick_shader"];

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// piglit's name, parts joined by `@`.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Variables that the test needs.
    pub env: BTreeMap<String, String>,
    /// Directory that it must run in.
    pub cwd: Option<PathBuf>,
    /// Platforms that it is for, when piglit skips it on the surfaceless one.
    pub other_platforms: Option<Vec<String>>,
}

impl Test {
    /// The program and the shader file, when one process can run many such tests in a row.
    pub fn batch_key(&self) -> Option<(&str, &str)> {
        let program = self.command.first()?;
        let file = self.command.get(1)?;
        let rest = self.command.get(2..)?;
        let runner = Path::new(program).file_name()?.to_str()?.starts_with("shader_runner");
        let plain = rest.iter().all(|word| word == "-auto" || word == "-fbo") && self.env.is_empty();
        (runner && plain && self.cwd.is_none() && self.other_platforms.is_none() && file.ends_with(".shader_test"))
            .then_some((program, file))
    }
}

/// piglit's data directory.
///
/// # Errors
/// When piglit is not installed.
pub fn data_dir() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("PIGLIT_SOURCE_DIR") {
        return Ok(PathBuf::from(dir));
    }
    let program = exec::find_program("piglit").context("piglit is not installed (Debian package: piglit)")?;
    let program = program.canonicalize().unwrap_or(program);
    let bin = program.parent().unwrap_or(Path::new("/usr/bin"));
    let candidates = [
        bin.to_path_buf(),
        bin.join("../lib/x86_64-linux-gnu/piglit"),
        bin.join("../lib/aarch64-linux-gnu/piglit"),
        bin.join("../lib64/piglit"),
        bin.join("../lib/piglit"),
    ];
    for dir in candidates {
        if dir.join("framework").is_dir() {
            return dir.canonicalize().with_context(|| format!("cannot resolve {}", dir.display()));
        }
    }
    bail!("piglit's data directory was not found near {}", program.display())
}

/// The names of the profiles that lie in piglit's data directory, sorted: one file each (`NAME.xml.gz` or
/// `NAME.meta.xml`). The variants in which tests share processes are left out; this command shares them by itself. So are
/// profiles in Python, which are of other suites (`cts_gl`, `deqp_vk`) that piglit can start.
///
/// # Errors
/// When the directory cannot be read.
pub fn profiles_in(data: &Path) -> Result<Vec<String>> {
    let dir = data.join("tests");
    let entries = std::fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|file| {
            let name = file.strip_suffix(".xml.gz").or_else(|| file.strip_suffix(".meta.xml"))?;
            (!name.ends_with(".no_isolation")).then(|| name.to_string())
        })
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Sees that piglit has a profile of that name.
///
/// # Errors
/// When it has none; the message lists those that it has.
pub fn check_profile(name: &str) -> Result<()> {
    let known = profiles_in(&data_dir()?)?;
    if !known.iter().any(|profile| profile == name) {
        bail!("piglit has no profile {name}; it has {}", known.join(", "));
    }
    Ok(())
}

/// Reads every test of the given profiles.
///
/// # Errors
/// When piglit or Python is missing, or a profile does not exist.
pub fn load(profiles: &[&str]) -> Result<Vec<Test>> {
    let dir = data_dir()?;
    let output = Command::new("python3")
        .args(["-c", include_str!("catalogue.py")])
        .arg(&dir)
        .args(profiles)
        .env("PIGLIT_PLATFORM", "surfaceless_egl")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .context("cannot start python3")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = text.lines().last().unwrap_or_default();
        bail!("piglit's profiles {} could not be read: {last}", profiles.join(", "));
    }
    let text = String::from_utf8(output.stdout).context("piglit's profile list is not UTF-8")?;
    let mut tests = Vec::new();
    for line in text.lines() {
        type Line = (String, Vec<String>, BTreeMap<String, String>, Option<PathBuf>, Option<Vec<String>>);
        let (name, command, env, cwd, other_platforms): Line =
            serde_json::from_str(line).with_context(|| format!("unexpected line: {line}"))?;
        tests.push(Test { name, command, env, cwd, other_platforms });
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(command: &[&str]) -> Test {
        Test {
            name: "a".to_string(),
            command: command.iter().map(|word| word.to_string()).collect(),
            env: BTreeMap::new(),
            cwd: None,
            other_platforms: None,
        }
    }

    #[test]
    fn profiles_are_the_files_that_hold_them() {
        let data = std::env::temp_dir().join(format!("xtask-profiles-{}", std::process::id()));
        std::fs::create_dir_all(data.join("tests").join("spec")).unwrap();
        for file in ["quick_gl.xml.gz", "quick.meta.xml", "quick.no_isolation.meta.xml", "replay.py", "a.shader_test"] {
            std::fs::write(data.join("tests").join(file), "").unwrap();
        }
        let found = profiles_in(&data);
        std::fs::remove_dir_all(&data).unwrap();
        assert_eq!(found.unwrap(), ["quick", "quick_gl"]);
        assert!(profiles_in(&data).is_err());
    }

    #[test]
    fn only_plain_shader_tests_are_batched() {
        let plain = test(&["/p/bin/shader_runner", "/p/x.shader_test", "-auto", "-fbo"]);
        assert_eq!(plain.batch_key(), Some(("/p/bin/shader_runner", "/p/x.shader_test")));
        assert_eq!(test(&["/p/bin/shader_runner", "/p/x.shader_test", "-glsl"]).batch_key(), None);
        assert_eq!(test(&["/p/bin/fbo-clear", "x.shader_test"]).batch_key(), None);
    }
}
