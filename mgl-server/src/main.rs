//! The server executable of split transports. Running a backend in its own process is not built yet, so it says so and
//! exits with status 2; `--version` tells the catalogue that a client would have to match.

use std::process::ExitCode;

fn main() -> ExitCode {
    let version = std::env::args().nth(1).is_some_and(|a| a == "--version");
    if version {
        println!(
            "mgl-server {}, {} calls, catalogue {:016x}",
            env!("CARGO_PKG_VERSION"),
            mgpipe_types::CALLS.len(),
            mgpipe_wire::catalogue_fingerprint()
        );
        return ExitCode::SUCCESS;
    }
    eprintln!("mgl-server: running a backend in its own process is not available yet; use MGL_TRANSPORT=monolith");
    ExitCode::from(2)
}
