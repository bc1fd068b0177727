//! Keeps the README's table of `MGL_*` environment variables in step with the code.

use std::collections::{BTreeMap, BTreeSet};

/// Names of the form `MGL_…` that stand as whole string literals in Rust source.
pub fn in_source(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("\"MGL_") {
        let rest = &text[at + 1..];
        let length = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        // A literal such as "MGL_LOG=loud" is a sentence about the variable, not its name.
        if rest[length..].starts_with('"') && length > 4 {
            found.insert(rest[..length].to_string());
        }
    }
    found
}

/// Names that begin a row of a table in Markdown text.
pub fn in_tables(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix("| `MGL_"))
        .filter_map(|rest| rest.split('`').next())
        .map(|rest| format!("MGL_{}", rest.split('=').next().unwrap_or(rest)))
        .collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

/// Sentences about variables that only the code or only the table knows.
pub fn differences(sources: &BTreeMap<String, String>, readme: &str) -> Vec<String> {
    let documented = in_tables(readme);
    let mut used: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in sources {
        for name in in_source(text) {
            used.entry(name).or_insert(path);
        }
    }
    let mut found = Vec::new();
    for (name, path) in &used {
        if !documented.contains(name) {
            found.push(format!("{path} uses {name}, which is not in the README's table of switches"));
        }
    }
    for name in &documented {
        if !used.contains_key(name) {
            found.push(format!("the README's table of switches names {name}, which no code uses"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    // Assembled, so that these names do not count as used.
    fn literal(name: &str) -> String {
        format!("let x = get({0}MGL_{name}{0});", '"')
    }

    #[test]
    fn agreement_is_silent() {
        let sources = BTreeMap::from([("a.rs".to_string(), literal("ONE"))]);
        assert_eq!(differences(&sources, "| `MGL_ONE` | what it does |\n"), Vec::<String>::new());
    }

    #[test]
    fn both_directions_are_named() {
        let sources = BTreeMap::from([("a.rs".to_string(), literal("ONE"))]);
        let found = differences(&sources, "| `MGL_TWO=1` | what it does |\n");
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("a.rs uses MGL_ONE"), "{found:?}");
        assert!(found[1].contains("MGL_TWO, which no code uses"), "{found:?}");
    }

    #[test]
    fn sentences_are_no_uses() {
        assert!(in_source(&format!("{0}MGL_LOG=loud is unknown{0}", '"')).is_empty());
    }
}
