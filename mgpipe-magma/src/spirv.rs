//! Patches of SPIR-V modules that depend on state.

use crate::shader::Variant;
use mgpipe_types::reflection::Stage;
use mgpipe_types::{PipeError, PipeResult};

/// A copy of a module with the variant's changes.
pub(crate) fn patch(words: &[u32], _stage: Stage, _variant: Variant) -> PipeResult<Vec<u32>> {
    if words.first() != Some(&0x0723_0203) {
        return Err(PipeError::Protocol("no SPIR-V module".into()));
    }
    Ok(words.to_vec())
}
