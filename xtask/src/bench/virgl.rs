//! MGL with its backend in another process beside virgl, the other GL driver that draws there.

use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

use super::drawoverhead;
use crate::environment;
use crate::gl_driver::GlDriver;
use crate::group;
use crate::packages;
use crate::workspace::Workspace;

/// Under which name Mesa's client looks for the server; it reads no other path.
const SOCKET: &str = ".virgl_test";

/// The socket: under `/tmp`, whatever `TMPDIR` says.
fn socket() -> PathBuf {
    Path::new("/tmp").join(SOCKET)
}

/// How long the server may take until it listens.
const START: Duration = Duration::from_secs(10);

/// The least that MGL's rate ÷ virgl's should be.
const GOAL: f64 = 3.0;

/// A running `virgl_test_server`, which ends with this value.
struct Server(Child);

impl Server {
    /// Starts it on llvmpipe, so that both drivers' draws end on the same processor.
    fn start(workspace: &Workspace) -> Result<Server> {
        if UnixStream::connect(socket()).is_ok() {
            bail!("another virgl_test_server listens at {} already; end it first", socket().display());
        }
        let log = workspace.log("virgl-server");
        let file = std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let second = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new("virgl_test_server");
        command.arg("--use-egl-surfaceless");
        environment::apply(workspace, &mut command, &GlDriver::Llvmpipe.variables(workspace, true)?);
        command.env("EGL_PLATFORM", "surfaceless");
        command.stdin(Stdio::null()).stdout(file).stderr(second).process_group(0);
        let mut server = Server(command.spawn().context("cannot start virgl_test_server")?);
        let started = Instant::now();
        // A look by connecting would be a client, and the server serves the first one only to its end.
        while !socket().exists() {
            if let Some(status) = server.0.try_wait().context("cannot wait for virgl_test_server")? {
                bail!("virgl_test_server ended with {status}; see {}", log.display());
            }
            if started.elapsed() > START {
                bail!("virgl_test_server does not listen after {} s; see {}", START.as_secs(), log.display());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // Between the file and the first accept is a moment.
        std::thread::sleep(Duration::from_millis(100));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        group::end_group(&mut self.0);
        // Nobody answers there any more; the next server would replace the file, too.
        let _ = std::fs::remove_file(socket());
    }
}

/// drawoverhead on both in turn. False when one of them gave no figure.
pub fn run(workspace: &Workspace, rounds: u32) -> Result<bool> {
    packages::ensure(workspace, packages::FOR_VIRGL)?;
    let _server = Server::start(workspace)?;
    let drivers = [GlDriver::MglSpawn, GlDriver::Virgl];
    let (ok, means) = drawoverhead::compare(workspace, &drivers, rounds, &drawoverhead::Options::default())?;
    for (_, mean) in means {
        let word = if mean >= GOAL { "within" } else { "MISSES" };
        println!("{word} the goal of at least {GOAL}");
    }
    Ok(ok)
}
