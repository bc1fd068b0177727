//! What must not be in the server.

use object::{Object as _, ObjectSymbol as _};

/// Parts of symbols that belong to the client's side: a GLSL compiler, the frontend, the tracker.
const CLIENT_ONLY: [&str; 5] = ["glslang", "TIntermediate", "mgl_frontend", "mgpipe_tracker", "mgl_glsl"];

fn names() -> Vec<String> {
    let bytes = std::fs::read(env!("CARGO_BIN_EXE_mgl-server")).expect("the server");
    let file = object::File::parse(&*bytes).expect("an executable");
    file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

#[test]
fn the_server_has_no_frontend_and_no_glsl_compiler() {
    let names = names();
    assert!(
        names.iter().any(|name| name.contains("mgpipe_magma")),
        "symbols are there, or nothing below means anything"
    );
    for part in CLIENT_ONLY {
        let found = names.iter().find(|name| name.contains(part));
        assert_eq!(found, None, "the server contains {part}");
    }
    assert!(!names.iter().any(|name| name.starts_with("gl") && name.contains("DrawArrays")), "it has GL entry points");
}
