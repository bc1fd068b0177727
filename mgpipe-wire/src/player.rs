//! The player: runs a recording on a backend.

use crate::apply::{apply, Reply};
use crate::call::Call;
use crate::counters::CallCounters;
use crate::fingerprint::catalogue_fingerprint;
use crate::record::{split_record, DecodeError, HEADER_BYTES};
use crate::recorder::RECORDING;
use mgpipe_types::{Context, ContextHandle, PipeError, Screen};
use std::collections::HashMap;
use thiserror::Error;

/// Why a recording cannot be played to its end.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum PlayError {
    /// The bytes do not start like a recording.
    #[error("not a recording")]
    Magic,
    /// The recording was made with another catalogue.
    #[error("the recording was made by a version with another call catalogue")]
    Fingerprint,
    /// A record is broken or cut off.
    #[error("record {ordinal}: {error}")]
    Record {
        /// Position of the record in the stream, from 0.
        ordinal: u64,
        /// What is wrong with it.
        error: DecodeError,
    },
    /// A call for a context came before any context.
    #[error("record {0}: no context is bound")]
    NoContext(u64),
    /// The backend refused a context.
    #[error("context: {0}")]
    Context(#[from] PipeError),
}

/// What was played.
#[derive(Debug, Clone, Default)]
pub struct PlayReport {
    /// Records run, control records included.
    pub records: u64,
    /// Calls and bytes per opcode.
    pub counters: CallCounters,
}

/// Sees every call before it runs, with its ordinal and the context that is bound.
pub type CallVisitor<'v> = dyn FnMut(u64, &Call<'_>, Option<&mut (dyn Context + '_)>) + 'v;

/// Sees every call that has an answer, with its answer.
pub type ReadbackVisitor<'v> = dyn FnMut(u64, &Call<'_>, &Reply) + 'v;

fn context_of(body: &[u8]) -> Option<ContextHandle> {
    (body.len() == std::mem::size_of::<ContextHandle>()).then(|| bytemuck::pod_read_unaligned(body))
}

/// Runs a recording on `screen`. The input must be 8-aligned in memory, as a [`crate::RecordBuf`] or a mapped file is.
///
/// `visitor` receives the ordinal, the call and the answer of every call that answers, so that the pixels of two
/// backends can be compared.
///
/// # Errors
/// See [`PlayError`]. Calls before the broken record have run.
pub fn play(recording: &[u8], screen: &dyn Screen, visitor: &mut ReadbackVisitor<'_>) -> Result<PlayReport, PlayError> {
    play_watched(recording, screen, &mut |_, _, _| {}, visitor)
}

/// As [`play`], and `before` sees every call before it runs: it may ask the context, say for what a present is about to show.
///
/// # Errors
/// As [`play`].
pub fn play_watched(
    recording: &[u8],
    screen: &dyn Screen,
    before: &mut CallVisitor<'_>,
    visitor: &mut ReadbackVisitor<'_>,
) -> Result<PlayReport, PlayError> {
    let head = recording.get(..16).ok_or(PlayError::Magic)?;
    if head[..8] != RECORDING.magic {
        return Err(PlayError::Magic);
    }
    if head[8..] != catalogue_fingerprint().to_le_bytes() {
        return Err(PlayError::Fingerprint);
    }
    let mut rest = &recording[16..];
    let mut contexts: HashMap<ContextHandle, Box<dyn Context>> = HashMap::new();
    let mut current: Option<ContextHandle> = None;
    let mut report = PlayReport::default();
    while !rest.is_empty() {
        let ordinal = report.records;
        let broken = |error| PlayError::Record { ordinal, error };
        let (header, body, after) = split_record(rest).map_err(broken)?;
        if header.kind >= crate::record::CONTROL_BASE {
            let context = context_of(body).ok_or(broken(DecodeError::Malformed("control record")))?;
            if header.kind == RECORDING.create_context {
                contexts.insert(context, screen.create_context(context)?);
            } else if header.kind == RECORDING.bind_context {
                current = Some(context);
            } else if header.kind == RECORDING.drop_context {
                contexts.remove(&context);
                current = current.filter(|c| *c != context);
            } else {
                return Err(broken(DecodeError::Malformed("control kind")));
            }
        } else {
            let (call, _) = Call::decode(rest).map_err(broken)?;
            report.counters.count(call.opcode(), HEADER_BYTES + body.len());
            let mut context = current.and_then(|c| contexts.get_mut(&c));
            before(ordinal, &call, context.as_mut().map(|c| &mut ***c as &mut dyn Context));
            let reply = apply(call, screen, context.map(|c| &mut **c as &mut dyn Context));
            match reply {
                Reply::NoContext => return Err(PlayError::NoContext(ordinal)),
                Reply::None => {}
                reply => visitor(ordinal, &call, &reply),
            }
        }
        rest = after;
        report.records += 1;
    }
    Ok(report)
}
