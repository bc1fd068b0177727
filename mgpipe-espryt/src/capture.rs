//! What transform feedback captures: ESSL names it, SPIR-V decorates it.
//!
//! A captured output gets a name of its own by where it goes, since the translation may change the one that it has, and parts
//! that are captured alone are outputs without a name in GLSL.

use crate::spirv::{
    instructions, op, DECORATION_BUILT_IN, DECORATION_COMPONENT, DECORATION_OFFSET, DECORATION_XFB_BUFFER, OP_DECORATE,
    OP_VARIABLE, STORAGE_OUTPUT,
};
use mgpipe_types::reflection::TransformFeedback;

/// An output that is captured as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Captured {
    /// The variable.
    pub(crate) id: u32,
    buffer: u32,
    offset: u32,
}

impl Captured {
    /// Its name in ESSL.
    pub(crate) fn name(&self) -> String {
        format!("mgl_capture_{}_{}", self.buffer, self.offset)
    }
}

fn value(all: &[&[u32]], id: u32, decoration: u32) -> Option<u32> {
    let found = all.iter().find(|i| op(i) == OP_DECORATE && i.len() > 2 && i[1] == id && i[2] == decoration)?;
    Some(found.get(3).copied().unwrap_or(0))
}

fn outputs<'a>(all: &'a [&'a [u32]]) -> impl Iterator<Item = u32> + 'a {
    all.iter().filter(|i| op(i) == OP_VARIABLE && i.len() > 3 && i[3] == STORAGE_OUTPUT).map(|i| i[2])
}

/// The outputs that are captured, but for built-in ones and members of blocks, whose names stay.
pub(crate) fn captured(all: &[&[u32]]) -> Vec<Captured> {
    outputs(all)
        .filter(|id| value(all, *id, DECORATION_BUILT_IN).is_none())
        .filter_map(|id| {
            let buffer = value(all, id, DECORATION_XFB_BUFFER)?;
            Some(Captured { id, buffer, offset: value(all, id, DECORATION_OFFSET)? })
        })
        .collect()
}

/// Outputs that share a location by components, which ESSL cannot say. Only captures do so here, and those nobody reads.
pub(crate) fn without_place(all: &[&[u32]]) -> Vec<u32> {
    outputs(all).filter(|id| value(all, *id, DECORATION_COMPONENT).is_some()).collect()
}

/// The names that the driver is given for a program's captures; `words` are the last stage before rasterisation.
pub(crate) fn names(feedback: &TransformFeedback, words: &[u32]) -> Vec<String> {
    let all = instructions(words).unwrap_or_default();
    let captured = captured(&all);
    let mut names = Vec::new();
    for varying in &feedback.varyings {
        // It ends where the next one in its buffer begins.
        let after = |v: &&mgpipe_types::reflection::TransformFeedbackVarying| {
            v.buffer == varying.buffer && v.offset > varying.offset
        };
        let end = feedback.varyings.iter().filter(after).map(|v| v.offset).min().unwrap_or(u32::MAX);
        let mut parts: Vec<&Captured> = captured
            .iter()
            .filter(|c| c.buffer == varying.buffer && c.offset >= varying.offset && c.offset < end)
            .collect();
        parts.sort_by_key(|c| c.offset);
        if varying.gl_type == 0 || parts.is_empty() {
            names.push(varying.name.clone());
        } else {
            names.extend(parts.into_iter().map(Captured::name));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::reflection::{TransformFeedbackMode, TransformFeedbackVarying};

    #[test]
    fn parts_of_a_varying_are_named_in_their_order() {
        let mut words = vec![0x0723_0203, 0x0001_0300, 0, 100, 0];
        for (id, offset) in [(7, 16), (8, 4), (9, 0)] {
            for (decoration, value) in [(DECORATION_XFB_BUFFER, 0), (DECORATION_OFFSET, offset)] {
                words.extend([4 << 16 | OP_DECORATE, id, decoration, value]);
            }
            words.extend([4 << 16 | OP_VARIABLE, 1, id, STORAGE_OUTPUT]);
        }
        let varying = |name: &str, gl_type, offset| TransformFeedbackVarying {
            name: name.into(),
            gl_type,
            array_size: 1,
            buffer: 0,
            offset,
            location: 0,
            component: 0,
        };
        let feedback = TransformFeedback {
            mode: TransformFeedbackMode::Interleaved,
            buffers: Vec::new(),
            varyings: vec![varying("list", 1, 0), varying("v", 1, 16), varying("gl_Position", 1, 32)],
        };
        let expected = ["mgl_capture_0_0", "mgl_capture_0_4", "mgl_capture_0_16", "gl_Position"];
        assert_eq!(names(&feedback, &words), expected);
    }
}
