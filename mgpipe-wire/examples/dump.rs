//! Prints a recording, one line a record: `cargo run -p mgpipe-wire --example dump -- FILE`.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: dump FILE (made by a Recorder)");
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    // The decoder borrows from the bytes and wants them 8-aligned.
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(&bytes);
    match mgpipe_wire::recording_text(&bytemuck::cast_slice(&words)[..bytes.len()]) {
        // A closed pipe (`| head`) is no reason to complain.
        Ok(text) => std::io::stdout().write_all(text.as_bytes()).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
