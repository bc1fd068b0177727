//! Answers in files named by the content of their questions.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use xxhash_rust::xxh3::{xxh3_128, xxh3_64};

use crate::place;

/// Bytes of all files of a folder beyond which the oldest go.
pub const MAX_BYTES: u64 = 64 << 20;
/// Bytes of one file, question and answer together, at most: longer answers are not kept.
pub const MAX_ENTRY: usize = 4 << 20;
/// Files that are written between two looks at the whole.
const SWEEP_INTERVAL: u32 = 256;

/// A question under construction: parts that cannot run into each other. It has to hold everything that the answer depends on,
/// the version of whoever answers among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question(Vec<u8>);

impl Question {
    /// A question of a kind.
    #[must_use]
    pub fn new(kind: &str) -> Question {
        Question::default().part(kind.as_bytes())
    }

    /// Adds something that the answer depends on.
    #[must_use]
    pub fn part(mut self, bytes: &[u8]) -> Question {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A folder with answers. Shared by threads and processes.
#[derive(Debug)]
pub struct AnswerCache {
    folder: PathBuf,
    magic: [u8; 8],
    written: AtomicU32,
}

impl AnswerCache {
    /// The answers in a folder, which is made when it is needed. Files begin with `magic`, which names their kind and the version
    /// of the answers' format: others in the folder are no answers.
    #[must_use]
    pub fn new(folder: PathBuf, magic: [u8; 8]) -> AnswerCache {
        AnswerCache { folder, magic, written: AtomicU32::new(0) }
    }

    /// Whether the folder has something in it.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        std::fs::read_dir(&self.folder).is_ok_and(|mut files| files.next().is_some())
    }

    /// The answer to a question, when a sound file has it for this very question.
    #[must_use]
    pub fn read(&self, question: &Question) -> Option<Vec<u8>> {
        let file = place::read_file(&self.path(question), MAX_ENTRY as u64)?;
        let (sum, rest) = file.strip_prefix(&self.magic)?.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != xxh3_64(rest) {
            return None;
        }
        let (len, rest) = rest.split_first_chunk::<8>()?;
        let (asked, answer) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        (asked == question.0).then(|| answer.to_vec())
    }

    /// Keeps an answer. A failure costs only time in the next process.
    pub fn write(&self, question: &Question, answer: &[u8]) {
        let mut rest = (question.0.len() as u64).to_le_bytes().to_vec();
        rest.extend_from_slice(&question.0);
        rest.extend_from_slice(answer);
        let file = [&self.magic[..], &xxh3_64(&rest).to_le_bytes(), &rest].concat();
        if file.len() > MAX_ENTRY {
            return;
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        if number % SWEEP_INTERVAL == 0 && place::make_folder(&self.folder).is_ok() {
            sweep(&self.folder, MAX_BYTES);
        }
        let temporary = self.folder.join(format!("tmp-{}-{number}", std::process::id()));
        let _ = place::replace_file(&self.path(question), &temporary, &file);
    }

    fn path(&self, question: &Question) -> PathBuf {
        self.folder.join(format!("{:032x}", xxh3_128(&question.0)))
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A folder of its own for a test, gone at its end.
    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        pub(crate) fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("mgpipe-cache-{name}-{}", std::process::id()));
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
        let cache = AnswerCache::new(folder.0.clone(), *b"cached\0\x01");
        let question = Question::new("kind").part(b"words");
        assert!(!cache.is_filled());
        assert_eq!(cache.read(&question), None);
        cache.write(&question, b"answer");
        assert!(cache.is_filled());
        assert_eq!(cache.read(&question).as_deref(), Some(&b"answer"[..]));
        assert_eq!(cache.read(&Question::new("kind").part(b"word").part(b"s")), None);
        assert_eq!(AnswerCache::new(folder.0.clone(), *b"cached\0\x02").read(&question), None);
        let path = cache.path(&question);
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x20;
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.read(&question), None, "byte {at}");
            std::fs::write(&path, &sound[..at]).unwrap();
            assert_eq!(cache.read(&question), None, "{at} bytes");
        }
        // A sound file under the name of another question, as after a collision.
        let other = Question::new("other");
        std::fs::write(&path, &sound).unwrap();
        std::fs::rename(&path, cache.path(&other)).unwrap();
        assert_eq!(cache.read(&other), None);
    }

    #[test]
    fn answers_that_are_too_long_are_not_kept() {
        let folder = Folder::new("long");
        let cache = AnswerCache::new(folder.0.clone(), *b"cached\0\x01");
        let question = Question::new("kind");
        cache.write(&question, &vec![1; MAX_ENTRY]);
        assert_eq!(cache.read(&question), None);
        assert!(!cache.is_filled());
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
}
