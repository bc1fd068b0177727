//! `cargo xtask install`, `uninstall` and `deb`: the driver as a part of the system, or in a folder of its own.

mod debian;
mod layout;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};
use clap::Args;

use crate::driver_dir;
use crate::exec;
use crate::outcome::Outcome;
use crate::packages;
use crate::workspace::Workspace;

use self::layout::{Entry, What};
pub use self::layout::{Layout, GLX_VARIABLE};

/// Where an installation is.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false, id = "place")]
pub struct Place {
    /// A folder of its own: programs run on MGL when they are started with DIR/bin/mgl-run, or from a shell that
    /// has read DIR/share/mgl/env.sh.
    #[arg(long, value_name = "DIR", group = "place")]
    prefix: Option<PathBuf>,
    /// The whole system (/usr/local and /etc, as root): programs run on MGL by default.
    #[arg(long, group = "place")]
    system: bool,
}

/// Arguments of `install`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask install --prefix ~/mgl && ~/mgl/bin/mgl-run my-program\n  \
                        sudo cargo xtask install --system")]
pub struct InstallArgs {
    #[command(flatten)]
    place: Place,
    /// Put everything under this folder instead of /, for packages and tests.
    #[arg(long, value_name = "DIR")]
    destdir: Option<PathBuf>,
    /// Install the driver of the dev profile instead of the optimised one.
    #[arg(long)]
    dev: bool,
    /// Install a driver that has been built before, without building.
    #[arg(long)]
    no_build: bool,
}

/// Arguments of `uninstall`.
#[derive(Args, Debug)]
pub struct UninstallArgs {
    #[command(flatten)]
    place: Place,
    /// The folder that `install --destdir` was given.
    #[arg(long, value_name = "DIR")]
    destdir: Option<PathBuf>,
}

/// Arguments of `deb`.
#[derive(Args, Debug)]
pub struct DebArgs {
    /// Where the package is written [default: target/xtask/deb].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Package the driver of the dev profile instead of the optimised one.
    #[arg(long)]
    dev: bool,
    /// Package a driver that has been built before, without building.
    #[arg(long)]
    no_build: bool,
}

impl Place {
    fn layout(&self) -> Result<Layout> {
        match &self.prefix {
            Some(prefix) => Ok(Layout::under(&std::path::absolute(prefix).context("the folder's name is not usable")?)),
            None => Ok(Layout::system()),
        }
    }
}

/// The library and the server of a profile, built unless told otherwise.
fn driver(workspace: &Workspace, release: bool, no_build: bool) -> Result<(PathBuf, PathBuf)> {
    if no_build {
        driver_dir::lay_out(workspace, release)?;
    } else {
        packages::ensure(workspace, packages::FOR_RUN)?;
        driver_dir::build(workspace, release, &[])?;
    }
    let dir = workspace.target.join(driver_dir::profile_dir(release));
    let (library, server) = (dir.join("libmgl.so"), dir.join(driver_dir::SERVER));
    if !server.is_file() {
        bail!("{} is not there; build it with: cargo build --package mgl-server", server.display());
    }
    Ok((library, server))
}

/// Installs the driver, in place of what an earlier `install` put there.
pub fn install(args: InstallArgs) -> Result<Outcome> {
    let layout = args.place.layout()?;
    let destdir = destination(args.destdir.as_deref())?;
    let workspace = Workspace::find();
    let (library, server) = driver(&workspace, !args.dev, args.no_build)?;
    let entries = layout.entries(&library, &server);
    let list = below(&destdir, &layout.list());
    if list.exists() {
        remove(&destdir, &list)?;
    }
    write(&destdir, &layout, &entries)?;
    refresh_linker(&layout, &destdir);
    exec::say(format!(
        "installed {} files; `cargo xtask uninstall` with the same switches removes them",
        entries.len()
    ));
    for line in layout.how_to_use() {
        exec::say(line);
    }
    Ok(Outcome::Done)
}

/// Removes what `install` wrote, and nothing else.
pub fn uninstall(args: UninstallArgs) -> Result<Outcome> {
    let layout = args.place.layout()?;
    let destdir = destination(args.destdir.as_deref())?;
    let list = below(&destdir, &layout.list());
    if !list.is_file() {
        bail!("{} is not there: nothing was installed by this command", list.display());
    }
    let count = remove(&destdir, &list)?;
    refresh_linker(&layout, &destdir);
    exec::say(format!("removed {count} files"));
    Ok(Outcome::Done)
}

/// Builds a Debian package.
pub fn deb(args: DebArgs) -> Result<Outcome> {
    let workspace = Workspace::find();
    let (library, server) = driver(&workspace, !args.dev, args.no_build)?;
    let out = match args.out {
        Some(out) => out,
        None => workspace.scratch("deb")?,
    };
    let package = debian::build(&workspace, &library, &server, &out)?;
    exec::say(format!("wrote {}; install it with: apt-get install {}", package.display(), package.display()));
    Ok(Outcome::Done)
}

fn destination(destdir: Option<&Path>) -> Result<PathBuf> {
    let Some(destdir) = destdir else { return Ok(PathBuf::from("/")) };
    std::path::absolute(destdir).context("the folder's name is not usable")
}

/// An absolute path under another root.
fn below(destdir: &Path, path: &Path) -> PathBuf {
    destdir.join(path.strip_prefix("/").unwrap_or(path))
}

/// Writes the entries and then the list of them.
fn write(destdir: &Path, layout: &Layout, entries: &[Entry]) -> Result<()> {
    for entry in entries {
        let path = below(destdir, &entry.path);
        if path.symlink_metadata().is_ok() {
            bail!(
                "{} is there already, and `cargo xtask install` did not write it; nothing was changed",
                path.display()
            );
        }
    }
    let list = layout.list();
    let path = below(destdir, &list);
    let mut folders = BTreeSet::new();
    make_folders(destdir, list.parent().context("a list at the root")?, &mut folders)?;
    // The list grows with the files: what is there when something fails can be removed.
    let mut text = String::from("# Written by `cargo xtask install`; `uninstall` removes exactly these.\n");
    let write = |text: &str| fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()));
    for entry in entries {
        text.push_str(&format!("file {}\n", entry.path.display()));
        write(&text)?;
        make_folders(destdir, entry.path.parent().context("an entry at the root")?, &mut folders)?;
        put(destdir, entry)?;
    }
    // The innermost first, so that each is empty when its turn comes.
    for folder in folders.iter().rev() {
        text.push_str(&format!("folder {}\n", folder.display()));
    }
    write(&text)?;
    set_mode(&path, 0o644)
}

/// Sets a file's rights whatever the user's mask for new files is: everybody has to read it.
fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let set = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set.with_context(|| format!("cannot set the rights of {}", path.display()))
}

/// Makes a folder and those above it; remembers the ones that were not there.
fn make_folders(destdir: &Path, folder: &Path, made: &mut BTreeSet<PathBuf>) -> Result<()> {
    let mut missing: Vec<&Path> = folder.ancestors().take_while(|above| !below(destdir, above).is_dir()).collect();
    missing.reverse();
    for above in missing {
        let path = below(destdir, above);
        // The destination folder itself is the user's.
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        if above != Path::new("/") {
            set_mode(&path, 0o755)?;
            made.insert(above.to_path_buf());
        }
    }
    Ok(())
}

fn put(destdir: &Path, entry: &Entry) -> Result<()> {
    let path = below(destdir, &entry.path);
    let context = || format!("cannot write {}", path.display());
    match &entry.what {
        What::Copy(from) => {
            fs::copy(from, &path).with_context(context)?;
            set_mode(&path, 0o755)?;
        }
        What::Link(to) => symlink(to, &path).with_context(context)?,
        What::Text(text) => {
            fs::write(&path, text).with_context(context)?;
            set_mode(&path, 0o644)?;
        }
        What::Script(text) => {
            fs::write(&path, text).with_context(context)?;
            set_mode(&path, 0o755)?;
        }
    }
    Ok(())
}

/// Removes what a list names, and the list. Folders that hold other files by now stay. The answer is the number of files.
fn remove(destdir: &Path, list: &Path) -> Result<usize> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let mut count = 0;
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("file ") {
            let path = below(destdir, Path::new(file));
            match fs::remove_file(&path) {
                Ok(()) => count += 1,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| format!("cannot remove {}", path.display())),
            }
        }
    }
    fs::remove_file(list).with_context(|| format!("cannot remove {}", list.display()))?;
    for folder in text.lines().filter_map(|line| line.strip_prefix("folder ")) {
        // It fails where something else is in it, which is meant to stay.
        let _ = fs::remove_dir(below(destdir, Path::new(folder)));
    }
    Ok(count)
}

/// Lets the dynamic linker find `libGLX_mgl.so.0` where it is not looked for by a variable.
fn refresh_linker(layout: &Layout, destdir: &Path) {
    if !layout.is_system() || destdir != Path::new("/") {
        return;
    }
    let program = exec::find_program("ldconfig").unwrap_or_else(|| "/sbin/ldconfig".into());
    if !Command::new(program).status().is_ok_and(|status| status.success()) {
        exec::say("ldconfig failed: until it is run, GLX programs do not find the driver");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every path below a folder, with the contents of files and the targets of links.
    fn tree(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_symlink() {
                    found.push((path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()));
                } else if path.is_dir() {
                    found.push((path.clone(), Vec::new()));
                    folders.push(path);
                } else {
                    found.push((path.clone(), fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("mgl-install-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn sources(scratch: &Scratch) -> (PathBuf, PathBuf) {
        let (library, server) = (scratch.0.join("built.so"), scratch.0.join("built-server"));
        fs::write(&library, "library").unwrap();
        fs::write(&server, "server").unwrap();
        (library, server)
    }

    #[test]
    fn what_is_installed_is_removed_and_nothing_else() {
        let sources_in = Scratch::new("from");
        let (library, server) = sources(&sources_in);
        for (name, layout) in
            [("system", Layout::system()), ("prefix", Layout::under(Path::new("/opt/with space/mgl")))]
        {
            let root = Scratch::new(name);
            fs::create_dir_all(root.0.join("etc/glvnd")).unwrap();
            fs::write(root.0.join("etc/glvnd/mine"), "mine").unwrap();
            let before = tree(&root.0);
            let entries = layout.entries(&library, &server);
            write(&root.0, &layout, &entries).unwrap();
            for entry in &entries {
                let path = below(&root.0, &entry.path);
                assert!(path.exists(), "{} is there and its link leads somewhere", path.display());
            }
            let list = below(&root.0, &layout.list());
            assert_eq!(remove(&root.0, &list).unwrap(), entries.len());
            assert_eq!(tree(&root.0), before);
        }
    }

    #[test]
    fn files_of_others_are_neither_overwritten_nor_removed() {
        let root = Scratch::new("others");
        let (library, server) = sources(&root);
        let layout = Layout::under(Path::new("/p"));
        let entries = layout.entries(&library, &server);
        let theirs = below(&root.0, &entries[2].path);
        fs::create_dir_all(theirs.parent().unwrap()).unwrap();
        fs::write(&theirs, "theirs").unwrap();
        let before = tree(&root.0);
        assert!(write(&root.0, &layout, &entries).unwrap_err().to_string().contains("did not write it"));
        assert_eq!(tree(&root.0), before);
        fs::remove_file(&theirs).unwrap();
        write(&root.0, &layout, &entries).unwrap();
        let beside = below(&root.0, &layout.list()).with_file_name("of-the-user");
        fs::write(&beside, "kept").unwrap();
        remove(&root.0, &below(&root.0, &layout.list())).unwrap();
        assert_eq!(fs::read_to_string(&beside).unwrap(), "kept");
    }
}
