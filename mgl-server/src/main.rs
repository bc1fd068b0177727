//! The server of split transports: runs backends for clients in other processes.
//!
//! Started by a client (`--connected`), it serves that client on its standard input and ends with it. Started by hand
//! (`--listen PATH`), it serves everybody of the same user who comes to that address, each on a thread of its own with a
//! backend of its own and nothing shared. It knows MGPipe and the backends; it knows no GL.
#![forbid(unsafe_code)]

mod arguments;
mod logging;
#[cfg(target_os = "linux")]
mod serving;

use clap::Parser as _;
use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
mod serving {
    //! Systems without a port of the transports.

    use crate::arguments::Arguments;

    pub(crate) fn run(_: &Arguments) -> anyhow::Result<()> {
        anyhow::bail!("split transports are not there on this operating system yet; use monolith or inproc")
    }
}

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    logging::init();
    // Whatever this process opens runs here: a server that started a server would never end.
    std::env::set_var("MGL_TRANSPORT", "monolith");
    // A Vulkan driver may ask EGL for devices while it is opened, and EGL may have the driver's library among its vendors: that
    // one must answer without opening Vulkan, which would wait for itself.
    std::env::set_var("MGL_ROLE", "server");
    match serving::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
