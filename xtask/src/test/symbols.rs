//! Names in a built binary that belong to the client side or to a GLSL compiler.

use std::path::Path;

use anyhow::{Context, Result};
use object::{Object, ObjectSymbol};

/// Parts of symbol names, mangled or not, that no server-side binary may hold.
const CLIENT_PARTS: &[&str] = &["mgl_frontend", "mgpipe_tracker", "mgl_glsl", "glslang", "shaderc"];

/// Symbols of a binary that belong to the client side, sorted, each once.
///
/// # Errors
/// When the file cannot be read, is no object file, or was stripped of its symbols.
pub fn client_code_in(path: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = object::File::parse(bytes.as_slice()).with_context(|| format!("{} is no binary", path.display()))?;
    let mut any = false;
    let mut found = Vec::new();
    for name in file.symbols().filter_map(|symbol| symbol.name().ok()) {
        any = true;
        if is_client(name) {
            found.push(name.to_string());
        }
    }
    anyhow::ensure!(any, "{} has no symbols", path.display());
    found.sort();
    found.dedup();
    Ok(found)
}

fn is_client(name: &str) -> bool {
    CLIENT_PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_recognised() {
        assert!(is_client("_ZN12mgl_frontend7Context3new17h0123456789abcdefE"));
        assert!(is_client("_ZN7glslang7TShaderC1E11EShLanguage"));
        assert!(!is_client("_ZN12mgpipe_magma7Context3new17h0123456789abcdefE"));
    }

    #[test]
    fn this_binary_has_symbols_and_no_client_code_but_its_own_strings() {
        let own = std::env::current_exe().unwrap();
        // The commands do not link the frontend, the tracker or a compiler.
        assert_eq!(client_code_in(&own).unwrap(), Vec::<String>::new());
    }
}
