//! Checks one shader and keeps what links need.

use std::sync::{Arc, Mutex};

use mgpipe_types::reflection::Stage;

use crate::log::Log;
use crate::module::Module;
use crate::options::{CompileOptions, Limits};
use crate::preprocess::preprocess;
use crate::rewrite::{original_name, rewrite, SourceFacts};
use crate::value::{self, Value};
use crate::CompiledShader;
use crate::{disk_cache, ffi};

/// Longest source in bytes.
const MAX_SOURCE: usize = 8 << 20;

/// What a link needs of a shader that compiled.
#[derive(Debug)]
pub(crate) struct Body {
    /// The parsed shader for the first link, which uses it up; later links parse the text again, and so do all when the
    /// text was known not to need a parse.
    pub(crate) parsed: Mutex<Option<ffi::Shader>>,
    pub(crate) text: String,
    pub(crate) facts: SourceFacts,
    /// Initial values of uniforms by name in the SPIR-V.
    pub(crate) initial: Vec<(String, Value)>,
    pub(crate) limits: Limits,
}

/// Compiles on the calling thread.
pub(crate) fn compile(stage: Stage, source: &[u8], options: &CompileOptions) -> CompiledShader {
    let mut log = Log::default();
    let body = build(stage, source, options, &mut log);
    let failed = log.failed();
    CompiledShader { stage, info_log: log.into_text(), body: body.filter(|_| !failed).map(Arc::new) }
}

fn build(stage: Stage, source: &[u8], options: &CompileOptions, log: &mut Log) -> Option<Body> {
    if source.len() > MAX_SOURCE {
        log.error(0, 1, 1, "the shader is too long");
        return None;
    }
    let source = String::from_utf8_lossy(source);
    let preprocessed = preprocess(&source, options, log)?;
    if preprocessed.tokens.is_empty() {
        log.error(0, 1, 1, "syntax error, unexpected end of file");
        return None;
    }
    let rewritten = rewrite(stage, &preprocessed, options, log)?;
    drop(preprocessed);
    let parsed = disk_cache::parse(stage, &rewritten.text, &options.limits);
    if let Err(text) = &parsed {
        log.push_glslang(text, |message| original_name(message).into_owned());
        if !log.failed() {
            log.error(0, 1, 1, "the shader was refused without a reason");
        }
        return None;
    }
    let initial = initial_values(&rewritten.facts, options, log)?;
    Some(Body {
        parsed: Mutex::new(parsed.ok().flatten()),
        text: rewritten.text,
        facts: rewritten.facts,
        initial,
        limits: options.limits.clone(),
    })
}

fn initial_values(facts: &SourceFacts, options: &CompileOptions, log: &mut Log) -> Option<Vec<(String, Value)>> {
    if facts.initialisers.is_empty() {
        return Some(Vec::new());
    }
    let modules = match disk_cache::link(vec![(Stage::Vertex, &facts.initialiser_text, None)], &options.limits, false) {
        Ok(modules) => modules,
        Err(text) => {
            log.push_glslang(&text, |message| original_name(message).into_owned());
            if !log.failed() {
                log.error(0, 1, 1, "initializer of a uniform variable must be a constant expression");
            }
            return None;
        }
    };
    let module = modules.first().and_then(|(stage, words)| Module::parse(*stage, words).ok())?;
    let stored = value::stored_locals(&module);
    let mut list = Vec::new();
    for initialiser in &facts.initialisers {
        match stored.iter().find(|(local, _)| *local == initialiser.local) {
            Some((_, value)) => list.push((initialiser.name.clone(), value.clone())),
            None => {
                let name = original_name(&initialiser.name);
                log.error(0, 1, 1, &format!("initializer of uniform variable `{name}' must be a constant expression"));
                return None;
            }
        }
    }
    Some(list)
}
