//! The command line.

use clap::Parser;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Runs an MGL backend for clients in other processes. Programs start it by themselves with MGL_TRANSPORT=spawn; to
/// serve several, start it with --listen PATH and them with MGL_TRANSPORT=unix:PATH.
#[derive(Clone, Debug, Parser)]
#[command(name = "mgl-server", version = version(), arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Serve the one client whose socket is the standard input, and end with it. For clients only.
    #[arg(long, conflicts_with = "listen")]
    pub(crate) connected: bool,

    /// Serve everybody who comes to this socket.
    #[arg(long, value_name = "PATH")]
    pub(crate) listen: Option<PathBuf>,

    /// With --listen: end after this many seconds without a client. 0 means never.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, env = "MGL_IPC_IDLE_EXIT_S")]
    pub(crate) idle_exit: u64,

    /// Microseconds that a waiting thread looks for work before it sleeps; the machine decides by default.
    #[arg(long, value_name = "MICROSECONDS", env = "MGL_IPC_SPIN_US")]
    pub(crate) spin_us: Option<u64>,

    /// Processors for the threads that draw, as numbers and ranges: 0-3,6.
    #[arg(long, value_name = "LIST", env = "MGL_IPC_SERVER_AFFINITY")]
    pub(crate) affinity: Option<String>,
}

/// Version and catalogue: a client must have the same catalogue.
fn version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "{}, {} calls, catalogue {:016x}",
            env!("CARGO_PKG_VERSION"),
            mgpipe_types::CALLS.len(),
            mgpipe_wire::catalogue_fingerprint()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
        assert!(Arguments::try_parse_from(["mgl-server"]).is_err(), "by itself it explains itself");
        assert!(Arguments::try_parse_from(["mgl-server", "--connected", "--listen", "x"]).is_err());
        assert!(Arguments::try_parse_from(["mgl-server", "--connected", "--affinity=0-3"]).is_ok());
    }
}
