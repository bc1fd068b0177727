//! The two ways in which a program gets the driver's GLX, each in a child process on an X server.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::child;

/// Tells a child how it loads the driver.
const WAY: &str = "GLX_TEST_WAY";

/// An X server that ends with this value.
pub struct Server {
    process: Child,
    /// What `DISPLAY` is for it.
    pub name: String,
}

impl Server {
    /// Starts Xvfb on a free display number.
    pub fn start() -> Server {
        let mut process = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts (Debian package xvfb)");
        let mut line = String::new();
        let out = process.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("Xvfb says its number");
        let number: u32 = line.trim().parse().expect("a display number");
        Server { process, name: format!(":{number}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The driver library that belongs to this test program.
pub fn library_path() -> PathBuf {
    let exe = std::env::current_exe().expect("this program has a path");
    let path = exe.parent().expect("it lies in target/*/deps").join("libmgl.so");
    assert!(path.is_file(), "{} is missing: the test needs the cdylib", path.display());
    path
}

/// The file that a child loads as its libGL.
pub fn libgl() -> PathBuf {
    match std::env::var(WAY).as_deref() {
        Ok("driver") => library_path(),
        _ => "libGL.so.1".into(),
    }
}

/// Runs `body` in a child for each way; `test` is the test's full name.
pub fn both(test: &str, body: fn()) {
    both_with(test, &[], body);
}

/// The same with environment variables for the child.
pub fn both_with(test: &str, env: &[(&str, &str)], body: fn()) {
    if child::is("glx") {
        body();
        return;
    }
    let server = Server::start();
    let folder = std::env::temp_dir().join(format!("mgl-glx-{}-{}", std::process::id(), test.replace("::", "-")));
    link(&folder);
    for way in ["glvnd", "driver"] {
        let mut all = vec![
            (WAY, way),
            ("DISPLAY", server.name.as_str()),
            ("LD_LIBRARY_PATH", folder.to_str().expect("UTF-8")),
            ("__GLX_VENDOR_LIBRARY_NAME", "mgl"),
        ];
        all.extend_from_slice(env);
        child::succeed(&child::run(test, "glx", &all));
    }
    std::fs::remove_dir_all(&folder).expect("the scratch folder goes");
}

/// A folder with the driver under the name that libglvnd looks for.
fn link(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a scratch folder");
    std::os::unix::fs::symlink(library_path(), folder.join("libGLX_mgl.so.0")).expect("a link");
}
