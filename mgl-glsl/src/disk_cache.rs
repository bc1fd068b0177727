//! What glslang answered in earlier processes, in files named by the content of the question.
//!
//! glslang takes 0.1 s to build its symbol tables and milliseconds a shader; preprocessing, rewriting and reflection take
//! a fraction of that and always run. So the cache stands where the compiler is called: a text that was parsed without an
//! error needs no second parse, and texts that were linked have their modules on disk. Errors are never kept.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;
use std::time::SystemTime;

use mgpipe_types::reflection::Stage;
use xxhash_rust::xxh3::{xxh3_128, xxh3_64};

use crate::ffi;
use crate::options::Limits;

/// Bytes of all files beyond which the oldest go.
const MAX_BYTES: u64 = 64 << 20;
/// Bytes of one file at most.
const MAX_ENTRY: usize = 4 << 20;
/// Files that are written between two looks at the whole.
const SWEEP_INTERVAL: u32 = 256;
const MAGIC: [u8; 8] = *b"MGLglsl\x01";
const SPIRV_MAGIC: u32 = 0x0723_0203;

/// What the module that calls glslang asks of it is part of every question.
const FFI_SOURCE: &[u8] = include_bytes!("ffi.rs");

/// A folder with answers.
pub(crate) struct DiskCache {
    folder: PathBuf,
    written: AtomicU32,
}

static CACHE: OnceLock<DiskCache> = OnceLock::new();

/// Lets this process read and write answers in a folder, which is made when it is needed. The first call counts. A
/// program that runs with more rights than the user who started it keeps away from a folder that this user has named.
pub(crate) fn open(folder: PathBuf) {
    if place::is_trusted() {
        let _ = CACHE.set(DiskCache::new(folder));
    }
}

/// Whether there is a cache with something in it.
pub(crate) fn is_filled() -> bool {
    CACHE.get().is_some_and(|cache| std::fs::read_dir(&cache.folder).is_ok_and(|mut files| files.next().is_some()))
}

/// Parses a text; no shader when it is known to be free of errors.
pub(crate) fn parse(stage: Stage, text: &str, limits: &Limits) -> Result<Option<ffi::Shader>, String> {
    let Some(cache) = CACHE.get() else { return ffi::parse(stage, text, limits).map(Some) };
    let question = question(b'p', &[(stage, text)], limits, false);
    if cache.read(&question).is_some() {
        return Ok(None);
    }
    let shader = ffi::parse(stage, text, limits)?;
    cache.write(&question, &[]);
    Ok(Some(shader))
}

/// Links texts, which may be parsed already, into modules.
pub(crate) fn link(
    sources: Vec<(Stage, &str, Option<ffi::Shader>)>,
    limits: &Limits,
    cross_stage_checks: bool,
) -> Result<Vec<(Stage, Vec<u32>)>, String> {
    let texts: Vec<(Stage, &str)> = sources.iter().map(|(stage, text, _)| (*stage, *text)).collect();
    let asked = CACHE.get().map(|cache| (cache, question(b'l', &texts, limits, cross_stage_checks)));
    if let Some((cache, question)) = &asked {
        if let Some(modules) = cache.read(question).and_then(|answer| decode(&answer)) {
            return Ok(modules);
        }
    }
    let sources = sources.into_iter().map(|(stage, text, parsed)| (stage, ffi::Source { text, parsed })).collect();
    let modules = ffi::link(sources, limits, cross_stage_checks)?;
    if let Some((cache, question)) = &asked {
        cache.write(question, &encode(&modules));
    }
    Ok(modules)
}

/// Everything that an answer depends on, as bytes.
fn question(kind: u8, texts: &[(Stage, &str)], limits: &Limits, cross_stage_checks: bool) -> Vec<u8> {
    let mut bytes = vec![kind, u8::from(cross_stage_checks)];
    for part in ffi::version() {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    bytes.extend_from_slice(&xxh3_64(FFI_SOURCE).to_le_bytes());
    bytes.extend_from_slice(format!("{limits:?}\0").as_bytes());
    for (stage, text) in texts {
        bytes.push(*stage as u8);
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

fn encode(modules: &[(Stage, Vec<u32>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (stage, words) in modules {
        bytes.extend_from_slice(&(*stage as u32).to_le_bytes());
        bytes.extend_from_slice(&(words.len() as u32).to_le_bytes());
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<Vec<(Stage, Vec<u32>)>> {
    if bytes.len() % 4 != 0 {
        return None;
    }
    let mut words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let mut modules = Vec::new();
    while let Some(stage) = words.next() {
        let stage = Stage::ALL.into_iter().find(|s| *s as u32 == stage)?;
        let len = words.next()? as usize;
        if len > words.len() {
            return None;
        }
        let module: Vec<u32> = words.by_ref().take(len).collect();
        if module.first() != Some(&SPIRV_MAGIC) {
            return None;
        }
        modules.push((stage, module));
    }
    (!modules.is_empty()).then_some(modules)
}

impl DiskCache {
    fn new(folder: PathBuf) -> DiskCache {
        DiskCache { folder, written: AtomicU32::new(0) }
    }

    fn path(&self, question: &[u8]) -> PathBuf {
        self.folder.join(format!("{:032x}", xxh3_128(question)))
    }

    /// The answer to a question, when a sound file has it for this very question.
    fn read(&self, question: &[u8]) -> Option<Vec<u8>> {
        let mut file = Vec::new();
        // What grows while it is read is cut, and its sum tells.
        place::open(&self.path(question))?.take(MAX_ENTRY as u64 + 1).read_to_end(&mut file).ok()?;
        let rest = file.strip_prefix(&MAGIC)?;
        let (sum, rest) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != xxh3_64(rest) {
            return None;
        }
        let (len, rest) = rest.split_first_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (asked, answer) = rest.split_at_checked(len)?;
        (asked == question).then(|| answer.to_vec())
    }

    /// Writes an answer through a temporary file. A failure costs only time in the next process.
    fn write(&self, question: &[u8], answer: &[u8]) {
        let mut rest = (question.len() as u64).to_le_bytes().to_vec();
        rest.extend_from_slice(question);
        rest.extend_from_slice(answer);
        let mut file = MAGIC.to_vec();
        file.extend_from_slice(&xxh3_64(&rest).to_le_bytes());
        file.append(&mut rest);
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

/// Whether a file of this name was put there by a cache: the folder may hold other people's files.
fn is_ours(name: &str) -> bool {
    name.starts_with("tmp-") || name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Removes the oldest files while all of them are larger than `limit`, down to three quarters of it.
fn sweep(folder: &Path, limit: u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_name().to_str().filter(|name| is_ours(name))?;
            let data = entry.metadata().ok().filter(|data| data.is_file())?;
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
            let path = std::env::temp_dir().join(format!("mgl-glsl-{name}-{}", std::process::id()));
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
        assert_eq!(cache.read(b"question"), None);
        cache.write(b"question", b"answer");
        assert_eq!(cache.read(b"question").as_deref(), Some(&b"answer"[..]));
        assert_eq!(cache.read(b"question2"), None);
        let path = cache.path(b"question");
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x20;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.read(b"question"), None, "byte {at}");
            std::fs::write(&path, &sound[..at]).unwrap();
            assert_eq!(cache.read(b"question"), None, "{at} bytes");
        }
        // A sound file under the name of another question, as after a collision.
        std::fs::write(&path, &sound).unwrap();
        std::fs::rename(&path, cache.path(b"other")).unwrap();
        assert_eq!(cache.read(b"other"), None);
    }

    /// None of them may make a reader wait, fill its memory, believe another user or write elsewhere.
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_of_this_user_is_no_answer() {
        use std::os::unix::fs::{symlink, PermissionsExt as _};
        let folder = Folder::new("foreign");
        let cache = DiskCache::new(folder.0.clone());
        cache.write(b"question", b"answer");
        let path = cache.path(b"question");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(cache.read(b"question"), None, "others may have written it");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(cache.read(b"question").is_some());
        let elsewhere = folder.0.join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        for target in [elsewhere.as_path(), Path::new("/dev/zero")] {
            symlink(target, &path).unwrap();
            assert_eq!(cache.read(b"question"), None, "{target:?}");
            std::fs::remove_file(&path).unwrap();
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        assert_eq!(cache.read(b"question"), None, "a pipe without a writer");
        std::fs::remove_file(&path).unwrap();
        std::fs::File::create(&path).and_then(|file| file.set_len(MAX_ENTRY as u64 + 1)).unwrap();
        assert_eq!(cache.read(b"question"), None, "a file that is too long");
        let victim = folder.0.join("victim");
        std::fs::write(&victim, "as it was").unwrap();
        let next = cache.written.load(Ordering::Relaxed);
        symlink(&victim, folder.0.join(format!("tmp-{}-{next}", std::process::id()))).unwrap();
        cache.write(b"question", b"answer");
        assert_eq!(std::fs::read(&victim).unwrap(), b"as it was");
    }

    #[test]
    fn modules_survive_and_nonsense_does_not() {
        let modules = vec![(Stage::Vertex, vec![SPIRV_MAGIC, 1, 2]), (Stage::Fragment, vec![SPIRV_MAGIC])];
        let bytes = encode(&modules);
        assert_eq!(decode(&bytes), Some(modules));
        for cut in 1..bytes.len() {
            if cut != 20 {
                assert_eq!(decode(&bytes[..cut]), None, "{cut}");
            }
        }
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[9, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(decode(&[0, 0, 0, 0, 255, 255, 255, 255]), None);
    }

    #[test]
    fn the_folder_stays_bounded() {
        let folder = Folder::new("bounded");
        std::fs::create_dir_all(&folder.0).unwrap();
        for i in 0..10 {
            std::fs::write(folder.0.join(format!("{i:032x}")), [0; 100]).unwrap();
        }
        std::fs::write(folder.0.join("somebody else's"), [0; 1000]).unwrap();
        let count = || std::fs::read_dir(&folder.0).unwrap().count();
        sweep(&folder.0, 1000);
        assert_eq!(count(), 11);
        sweep(&folder.0, 800);
        assert_eq!(count(), 7);
    }

    #[test]
    fn every_part_of_a_question_counts() {
        let limits = Limits::default();
        let other = Limits { max_draw_buffers: limits.max_draw_buffers + 1, ..limits.clone() };
        let all = [
            question(b'p', &[(Stage::Vertex, "ab")], &limits, false),
            question(b'l', &[(Stage::Vertex, "ab")], &limits, false),
            question(b'l', &[(Stage::Vertex, "ab")], &limits, true),
            question(b'l', &[(Stage::Fragment, "ab")], &limits, false),
            question(b'l', &[(Stage::Vertex, "ab")], &other, false),
            question(b'l', &[(Stage::Vertex, "a"), (Stage::Vertex, "b")], &limits, false),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{i}");
        }
    }
}
