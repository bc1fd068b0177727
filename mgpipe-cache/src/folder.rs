//! Where this user's caches are.

use std::path::PathBuf;

use mgpipe_types::switches::switch;

/// The folder for all caches of this project, from the values of `XDG_CACHE_HOME` and `HOME`: `$XDG_CACHE_HOME/mgl`, or else
/// `$HOME/.cache/mgl`. Paths that are not absolute count as missing (XDG Base Directory Specification).
#[must_use]
pub fn folder_below(cache_home: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    let base = absolute(cache_home).or_else(|| Some(absolute(home)?.join(".cache")))?;
    Some(base.join("mgl"))
}

/// The folder for all caches of this project, from the environment; `None` where none is known, and with `MGL_SHADER_CACHE=off`.
#[must_use]
pub fn user_folder() -> Option<PathBuf> {
    if switch("MGL_SHADER_CACHE").is_some_and(|value| value == "off") {
        return None;
    }
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from);
    folder_below(of("XDG_CACHE_HOME"), of("HOME"))
}

#[cfg(test)]
mod tests {
    use super::folder_below;
    use std::path::PathBuf;

    #[test]
    fn only_absolute_folders_count() {
        let below = |cache: &str, home: &str| folder_below(Some(cache.into()), Some(home.into()));
        assert_eq!(below("/c", "/h"), Some(PathBuf::from("/c/mgl")));
        assert_eq!(below("c", "/h"), Some(PathBuf::from("/h/.cache/mgl")));
        assert_eq!(below("", "h"), None);
        assert_eq!(folder_below(None, None), None);
    }
}
