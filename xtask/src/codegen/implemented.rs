//! Reads `mgl-cdylib/implemented.txt`, the list of GL functions that reach the frontend.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{bail, Context as _, Result};

use super::registry::Registry;

/// How an entry point reaches the frontend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// Generated: scalars are converted and the method of the same name is called.
    Auto,
    /// A hand-written function in `mgl-cdylib/src/glue` with the C parameters.
    Glue,
}

/// Parses the list: `name auto` or `name glue` a line, `#` starts a comment.
pub(super) fn read(path: &Path, registry: &Registry) -> Result<BTreeMap<String, Route>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut routes = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let place = format!("implemented.txt:{}", number + 1);
        let Some((name, route)) = line.split_once(char::is_whitespace) else {
            bail!("{place}: expected `name auto` or `name glue`");
        };
        let route = match route.trim() {
            "auto" => Route::Auto,
            "glue" => Route::Glue,
            other => bail!("{place}: unknown route `{other}`; expected `auto` or `glue`"),
        };
        if !registry.commands.contains_key(name) {
            bail!("{place}: {name} is no exported GL function of the registry");
        }
        if routes.insert(name.to_owned(), route).is_some() {
            bail!("{place}: {name} is listed twice");
        }
    }
    Ok(routes)
}
