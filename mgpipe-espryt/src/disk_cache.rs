//! What the translation and the driver have answered in earlier processes: ESSL of stages and the driver's binaries of programs, in
//! files named by the content of the question. A question holds everything that the answer depends on, the driver's identity
//! among it; an answer that the driver does not take any more costs only its reading.

pub(crate) use mgpipe_cache::{AnswerCache as DiskCache, Question};

const MAGIC: [u8; 8] = *b"MGLessl\x01";

/// The cache of this user; `None` where no folder is known, caches are switched off, or the program has more rights than the
/// user who started it.
pub(crate) fn of_environment() -> Option<DiskCache> {
    let folder = mgpipe_cache::user_folder().filter(|_| mgpipe_cache::is_trusted())?;
    Some(DiskCache::new(folder.join("essl"), MAGIC))
}
