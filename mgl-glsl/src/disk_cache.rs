//! What glslang answered in earlier processes, in files named by the content of the question.
//!
//! glslang takes 0.1 s to build its symbol tables and milliseconds a shader; preprocessing, rewriting and reflection take
//! a fraction of that and always run. So the cache stands where the compiler is called: a text that was parsed without an
//! error needs no second parse, and texts that were linked have their modules on disk. Errors are never kept.

use std::path::PathBuf;
use std::sync::OnceLock;

use mgpipe_cache::{AnswerCache, Question};
use mgpipe_types::reflection::Stage;
use xxhash_rust::xxh3::xxh3_64;

use crate::ffi;
use crate::options::Limits;

const MAGIC: [u8; 8] = *b"MGLglsl\x02";
const SPIRV_MAGIC: u32 = 0x0723_0203;

/// What the module that calls glslang asks of it is part of every question.
const FFI_SOURCE: &[u8] = include_bytes!("ffi.rs");

static CACHE: OnceLock<AnswerCache> = OnceLock::new();

/// Lets this process read and write answers in a folder, which is made when it is needed. The first call counts. A
/// program that runs with more rights than the user who started it keeps away from a folder that this user has named.
pub(crate) fn open(folder: PathBuf) {
    if mgpipe_cache::is_trusted() {
        let _ = CACHE.set(AnswerCache::new(folder, MAGIC));
    }
}

/// Whether there is a cache with something in it.
pub(crate) fn is_filled() -> bool {
    CACHE.get().is_some_and(AnswerCache::is_filled)
}

/// Parses a text; no shader when it is known to be free of errors.
pub(crate) fn parse(stage: Stage, text: &str, limits: &Limits) -> Result<Option<ffi::Shader>, String> {
    let Some(cache) = CACHE.get() else { return ffi::parse(stage, text, limits).map(Some) };
    let question = question("parse", &[(stage, text)], limits, false);
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
    let asked = CACHE.get().map(|cache| (cache, question("link", &texts, limits, cross_stage_checks)));
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

/// Everything that an answer depends on.
fn question(kind: &str, texts: &[(Stage, &str)], limits: &Limits, cross_stage_checks: bool) -> Question {
    let mut question = Question::new(kind).part(&[u8::from(cross_stage_checks)]);
    for part in ffi::version() {
        question = question.part(&part.to_le_bytes());
    }
    question = question.part(&xxh3_64(FFI_SOURCE).to_le_bytes()).part(format!("{limits:?}").as_bytes());
    for (stage, text) in texts {
        question = question.part(&[*stage as u8]).part(text.as_bytes());
    }
    question
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn every_part_of_a_question_counts() {
        let limits = Limits::default();
        let other = Limits { max_draw_buffers: limits.max_draw_buffers + 1, ..limits.clone() };
        let all = [
            question("parse", &[(Stage::Vertex, "ab")], &limits, false),
            question("link", &[(Stage::Vertex, "ab")], &limits, false),
            question("link", &[(Stage::Vertex, "ab")], &limits, true),
            question("link", &[(Stage::Fragment, "ab")], &limits, false),
            question("link", &[(Stage::Vertex, "ab")], &other, false),
            question("link", &[(Stage::Vertex, "a"), (Stage::Vertex, "b")], &limits, false),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{i}");
        }
    }
}
