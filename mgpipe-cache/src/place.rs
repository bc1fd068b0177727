//! Files that nobody but this user has written: others may be able to put something into the folder.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Whether the user who started the program is the one that it runs as. A program with more rights keeps away from folders that
/// its user has named.
#[must_use]
pub fn is_trusted() -> bool {
    #[cfg(unix)]
    return rustix::process::getuid() == rustix::process::geteuid();
    // Elsewhere programs have no such rights.
    #[cfg(not(unix))]
    return true;
}

/// The content of a plain file of at most `most` bytes that belongs to this user and that nobody else may write. Never waits, as
/// for the other end of a pipe. `None` for everything else.
#[must_use]
pub fn read_file(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // What grows while it is read is cut; sums of its content tell.
    open(path, most)?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Puts a file in place as a whole, for this user alone, by way of `temporary`, a path of the same file system that no other
/// writer uses. What has the temporary file's name already, a link too, is removed and not written to. Folders are not made.
///
/// # Errors
/// Those of the file system; nothing of the temporary file is left then.
pub fn replace_file(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let _ = std::fs::remove_file(temporary);
    let mut file = create(temporary)?;
    let written = file.write_all(bytes).and_then(|()| std::fs::rename(temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(temporary);
    }
    written
}

/// Makes a folder for this user alone, with those above it.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Makes a file that was not there.
fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

#[cfg(unix)]
fn open(path: &Path, most: u64) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    use std::os::unix::fs::MetadataExt as _;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let data = file.metadata().ok()?;
    let own = data.uid() == rustix::process::geteuid().as_raw() && data.mode() & 0o022 == 0;
    (data.is_file() && data.len() <= most && own).then_some(file)
}

/// On systems whose cache folders belong to one user by themselves.
#[cfg(not(unix))]
fn open(path: &Path, most: u64) -> Option<File> {
    let file = File::open(path).ok()?;
    let data = file.metadata().ok()?;
    (data.is_file() && data.len() <= most).then_some(file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::{read_file, replace_file};
    use crate::answers::tests::Folder;
    use std::os::unix::fs::{symlink, PermissionsExt as _};
    use std::path::Path;

    /// None of them may make a reader wait, fill its memory, believe another user or write elsewhere.
    #[test]
    fn only_plain_files_of_this_user_are_read_and_written() {
        let folder = Folder::new("place");
        std::fs::create_dir_all(&folder.0).unwrap();
        let (path, temporary) = (folder.0.join("file"), folder.0.join("tmp"));
        let read = || read_file(&path, 100);
        replace_file(&path, &temporary, b"bytes").unwrap();
        assert_eq!(read().as_deref(), Some(&b"bytes"[..]));
        for mode in [0o666, 0o602, 0o620] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(), None, "others may have written it: {mode:o}");
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(read().is_some());
        let elsewhere = folder.0.join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        for target in [elsewhere.as_path(), Path::new("/dev/zero")] {
            symlink(target, &path).unwrap();
            assert_eq!(read(), None, "{target:?}");
            std::fs::remove_file(&path).unwrap();
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        assert_eq!(read(), None, "a pipe without a writer");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, [0; 101]).unwrap();
        assert_eq!(read(), None, "a file that is too long");
        let victim = folder.0.join("victim");
        std::fs::write(&victim, "as it was").unwrap();
        symlink(&victim, &temporary).unwrap();
        replace_file(&path, &temporary, b"bytes").unwrap();
        assert_eq!(read().as_deref(), Some(&b"bytes"[..]));
        assert_eq!(std::fs::read(&victim).unwrap(), b"as it was");
        assert!(replace_file(&folder.0.join("missing").join("file"), &temporary, b"bytes").is_err());
        assert!(!temporary.exists());
    }
}
