//! What the translation and the driver have answered in earlier processes: ESSL of stages and the driver's binaries of programs, in
//! files named by the content of the question. A question holds everything that the answer depends on, the driver's identity
//! among it; an answer that the driver does not take any more costs only its reading.

use mgpipe_types::switches::switch;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;
use xxhash_rust::xxh3::{xxh3_128, xxh3_64};

/// Bytes of all files beyond which the oldest go.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes of one file at most.
const MAX_ENTRY: usize = 4 << 20;
/// Files that are written between two looks at the whole.
const SWEEP_INTERVAL: u32 = 256;
const MAGIC: [u8; 8] = *b"MGLessl\x01";

/// A question under construction: parts that cannot run into each other.
#[derive(Clone, Default)]
pub(crate) struct Question(Vec<u8>);

impl Question {
    /// A question of a kind.
    pub(crate) fn new(kind: &str) -> Question {
        Question::default().part(kind.as_bytes())
    }

    /// Adds what the answer depends on.
    pub(crate) fn part(mut self, bytes: &[u8]) -> Question {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A folder with answers.
pub(crate) struct DiskCache {
    folder: PathBuf,
    written: AtomicU32,
}

impl DiskCache {
    /// The cache of this user; `None` where no folder is known, caches are switched off, or the program has more rights than the
    /// user who started it.
    pub(crate) fn of_environment() -> Option<DiskCache> {
        if switch("MGL_SHADER_CACHE").is_some_and(|value| value == "off") || !place::is_trusted() {
            return None;
        }
        // Paths that are not absolute are invalid (XDG base directories).
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        Some(DiskCache::new(folder.join("mgl").join("essl")))
    }

    fn new(folder: PathBuf) -> DiskCache {
        DiskCache { folder, written: AtomicU32::new(0) }
    }

    fn path(&self, question: &Question) -> PathBuf {
        self.folder.join(format!("{:032x}", xxh3_128(&question.0)))
    }

    /// The answer to a question, when a sound file has it for this very question.
    pub(crate) fn read(&self, question: &Question) -> Option<Vec<u8>> {
        let mut file = Vec::new();
        // What grows while it is read is cut, and its sum tells.
        place::open(&self.path(question))?.take(MAX_ENTRY as u64 + 1).read_to_end(&mut file).ok()?;
        let (sum, rest) = file.strip_prefix(&MAGIC)?.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != xxh3_64(rest) {
            return None;
        }
        let (len, rest) = rest.split_first_chunk::<8>()?;
        let (asked, answer) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        (asked == question.0).then(|| answer.to_vec())
    }

    /// Writes an answer through a temporary file. A failure costs only time in the next process.
    pub(crate) fn write(&self, question: &Question, answer: &[u8]) {
        let mut rest = (question.0.len() as u64).to_le_bytes().to_vec();
        rest.extend_from_slice(&question.0);
        rest.extend_from_slice(answer);
        let file = [&MAGIC[..], &xxh3_64(&rest).to_le_bytes(), &rest].concat();
        if file.len() > MAX_ENTRY {
            return;
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        if number % SWEEP_INTERVAL == 0 && place::make(&self.folder).is_ok() {
            sweep(&self.folder, MAX_BYTES);
        }
        let temporary = self.folder.join(format!("tmp-{}-{number}", std::process::id()));
        // A file that is there already is another process's, or no file at all.
        let Ok(mut new) = place::create(&temporary) else { return };
        let written = new.write_all(&file).and_then(|()| std::fs::rename(&temporary, self.path(question)));
        if written.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
    }
}

/// Removes the oldest files of the cache while all of them are larger than `limit`, down to three quarters of it.
fn sweep(folder: &Path, limit: u64) {
    let is_ours =
        |name: &str| name.starts_with("tmp-") || name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit());
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_ours))
        .filter_map(|entry| {
            let data = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((data.modified().unwrap_or(SystemTime::UNIX_EPOCH), data.len(), entry.path()))
        })
        .collect();
    let mut total: u64 = files.iter().map(|(_, len, _)| len).sum();
    if total <= limit {
        return;
    }
    files.sort();
    for (_, len, path) in files {
        if total <= limit / 4 * 3 {
            break;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= len;
        }
    }
}

/// Files that nobody but this user has written: others may be able to put something into the folder.
#[cfg(unix)]
mod place {
    use super::{io, File, Path, MAX_ENTRY};
    use rustix::fs::{Mode, OFlags};
    use rustix::process::{geteuid, getuid};
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};

    /// Whether the user who started the program is the one that it runs as.
    pub(super) fn is_trusted() -> bool {
        getuid() == geteuid()
    }

    /// Opens a plain file of this user; never waits, as for the other end of a pipe.
    pub(super) fn open(path: &Path) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
        let data = file.metadata().ok()?;
        let sound = data.is_file() && data.len() <= MAX_ENTRY as u64;
        (sound && data.uid() == geteuid().as_raw() && data.mode() & 0o022 == 0).then_some(file)
    }

    /// Makes a file that was not there.
    pub(super) fn create(path: &Path) -> io::Result<File> {
        File::options().write(true).create_new(true).mode(0o600).open(path)
    }

    /// Makes a folder for this user alone, with those above it.
    pub(super) fn make(folder: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }
}

/// Systems whose cache folders belong to one user by themselves.
#[cfg(not(unix))]
mod place {
    use super::{io, File, Path, MAX_ENTRY};

    pub(super) fn is_trusted() -> bool {
        true
    }

    pub(super) fn open(path: &Path) -> Option<File> {
        let file = File::open(path).ok()?;
        let data = file.metadata().ok()?;
        (data.is_file() && data.len() <= MAX_ENTRY as u64).then_some(file)
    }

    pub(super) fn create(path: &Path) -> io::Result<File> {
        File::options().write(true).create_new(true).open(path)
    }

    pub(super) fn make(folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test, gone at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("mgl-essl-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn answers_come_back_and_damage_is_found_out() {
        let folder = Folder::new("damage");
        let cache = DiskCache::new(folder.0.clone());
        let question = Question::new("essl").part(b"words");
        assert_eq!(cache.read(&question), None);
        cache.write(&question, b"answer");
        assert_eq!(cache.read(&question).as_deref(), Some(&b"answer"[..]));
        assert_eq!(cache.read(&Question::new("essl").part(b"word").part(b"s")), None);
        let path = cache.path(&question);
        let sound = std::fs::read(&path).expect("written");
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x20;
            std::fs::write(&path, &damaged).expect("written");
            assert_eq!(cache.read(&question), None, "byte {at}");
            std::fs::write(&path, &sound[..at]).expect("written");
            assert_eq!(cache.read(&question), None, "{at} bytes");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_of_this_user_is_no_answer() {
        use std::os::unix::fs::{symlink, PermissionsExt as _};
        let folder = Folder::new("foreign");
        let cache = DiskCache::new(folder.0.clone());
        let question = Question::new("essl");
        cache.write(&question, b"answer");
        let path = cache.path(&question);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("set");
        assert_eq!(cache.read(&question), None, "others may have written it");
        std::fs::remove_file(&path).expect("removed");
        symlink("/dev/zero", &path).expect("made");
        assert_eq!(cache.read(&question), None, "no file, and without an end");
        std::fs::remove_file(&path).expect("removed");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).expect("made");
        assert_eq!(cache.read(&question), None, "a pipe without a writer");
    }

    #[test]
    fn the_folder_stays_bounded() {
        let folder = Folder::new("bounded");
        std::fs::create_dir_all(&folder.0).expect("made");
        for i in 0..10 {
            std::fs::write(folder.0.join(format!("{i:032x}")), [0; 100]).expect("written");
        }
        std::fs::write(folder.0.join("somebody else's"), [0; 1000]).expect("written");
        let count = || std::fs::read_dir(&folder.0).expect("read").count();
        sweep(&folder.0, 1000);
        assert_eq!(count(), 11);
        sweep(&folder.0, 800);
        assert_eq!(count(), 7);
    }
}
