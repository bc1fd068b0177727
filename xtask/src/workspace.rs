//! Where things are: repository root, target directory, logs, and a cargo command that is not confused by the outer one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Paths of this checkout.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The directory that holds the root `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's target directory.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds the checkout that this command was started for.
    pub fn find() -> Self {
        // Cargo sets the variable at run time; the compiled-in value serves when the binary is started by hand.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map(PathBuf::from)
            .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = manifest.parent().map(Path::to_path_buf).unwrap_or(manifest);
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => root.join(dir),
            None => root.join("target"),
        };
        Workspace { root, target }
    }

    /// The log file of a named step; its directory exists afterwards.
    pub fn log(&self, name: &str) -> PathBuf {
        let dir = self.target.join("xtask").join("logs");
        // A failure shows when the log is opened, with the path in the message.
        let _ = std::fs::create_dir_all(&dir);
        dir.join(format!("{name}.log"))
    }

    /// A directory under the target directory for this command's own files; it exists afterwards.
    pub fn scratch(&self, name: &str) -> std::io::Result<PathBuf> {
        let dir = self.target.join("xtask").join(name);
        std::fs::create_dir_all(&dir)?;
        Ok(dir)
    }

    /// A cargo command in the root, without colours so that its output can be read by machines.
    pub fn cargo<I, S>(&self, args: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command
            .args(args)
            .current_dir(&self.root)
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TERM_PROGRESS_WHEN", "never");
        clean_cargo_variables(&mut command);
        command
    }

    /// Removes from `LD_LIBRARY_PATH` what `cargo run` put in front of it, so that a started program sees the
    /// libraries that the user meant.
    pub fn library_path_of_user(&self) -> Option<std::ffi::OsString> {
        let value = std::env::var_os("LD_LIBRARY_PATH")?;
        let kept: Vec<PathBuf> = std::env::split_paths(&value)
            .filter(|path| {
                let text = path.to_string_lossy();
                !path.starts_with(&self.target) && !text.contains("/rustlib/") && !text.contains("/toolchains/")
            })
            .collect();
        if kept.is_empty() {
            return None;
        }
        std::env::join_paths(kept).ok()
    }
}

/// Removes the per-package variables that the outer `cargo run` exports; some build scripts would rerun for them.
pub fn clean_cargo_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_BIN_")
            || text == "CARGO_MANIFEST_DIR"
            || text == "CARGO_MANIFEST_PATH"
            || text == "CARGO_CRATE_NAME"
            || text == "CARGO_PRIMARY_PACKAGE"
        {
            command.env_remove(&name);
        }
    }
}
