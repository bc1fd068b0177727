//! What SPIR-V has and ESSL lacks, changed before the translation.

use mgpipe_types::{PipeError, PipeResult};

const OP_ENTRY_POINT: u32 = 15;
const OP_NAME: u32 = 5;
pub(crate) const OP_TYPE_POINTER: u32 = 32;
pub(crate) const OP_VARIABLE: u32 = 59;
pub(crate) const OP_DECORATE: u32 = 71;
pub(crate) const OP_MEMBER_DECORATE: u32 = 72;
const OP_FUNCTION_CALL: u32 = 57;
const OP_FUNCTION: u32 = 54;

pub(crate) const DECORATION_BUILT_IN: u32 = 11;
pub(crate) const DECORATION_XFB_BUFFER: u32 = 36;
const DECORATION_XFB_STRIDE: u32 = 37;
pub(crate) const DECORATION_OFFSET: u32 = 35;
const DECORATION_STREAM: u32 = 29;
pub(crate) const DECORATION_LOCATION: u32 = 30;
pub(crate) const DECORATION_COMPONENT: u32 = 31;

const BUILT_IN_BASE_VERTEX: u32 = 4424;
const BUILT_IN_BASE_INSTANCE: u32 = 4425;
const BUILT_IN_DRAW_INDEX: u32 = 4426;

pub(crate) const STORAGE_INPUT: u32 = 1;
const STORAGE_UNIFORM_CONSTANT: u32 = 0;
pub(crate) const STORAGE_OUTPUT: u32 = 3;

/// Words of the header.
const HEADER: usize = 5;

/// Names of the uniforms that stand for built-ins of a draw.
pub(crate) const BASE_VERTEX: &str = "mgl_BaseVertex";
/// Base instance.
pub(crate) const BASE_INSTANCE: &str = "mgl_BaseInstance";
/// Number of the draw.
pub(crate) const DRAW_INDEX: &str = "mgl_DrawIndex";

/// Instructions with their words; empty when lengths do not add up.
pub(crate) fn instructions(words: &[u32]) -> Option<Vec<&[u32]>> {
    let mut rest = words.get(HEADER..)?;
    let mut all = Vec::new();
    while let Some(&first) = rest.first() {
        let (instruction, tail) = rest.split_at_checked((first >> 16) as usize).filter(|(i, _)| !i.is_empty())?;
        all.push(instruction);
        rest = tail;
    }
    Some(all)
}

pub(crate) fn op(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

/// Largest number of function calls, counted along every path, that the translator is given: it walks the tree of calls,
/// which a few dozen lines can make too large to ever end.
const MOST_CALLS: u64 = 1 << 16;

/// Whether the tree of calls is small enough to walk.
fn calls_are_bounded(all: &[&[u32]]) -> bool {
    // Functions in order, with what they call.
    let mut functions: Vec<(u32, Vec<u32>)> = Vec::new();
    for instruction in all {
        match op(instruction) {
            OP_FUNCTION if instruction.len() > 2 => functions.push((instruction[2], Vec::new())),
            OP_FUNCTION_CALL if instruction.len() > 3 => {
                if let Some(function) = functions.last_mut() {
                    function.1.push(instruction[3]);
                }
            }
            _ => {}
        }
    }
    let mut cost: std::collections::HashMap<u32, u64> = functions.iter().map(|(id, _)| (*id, 1)).collect();
    // As many rounds as there are functions reach every acyclic tree; GLSL has no recursion.
    for _ in 0..functions.len() {
        let mut moved = false;
        for (id, calls) in &functions {
            let sum = calls.iter().fold(1u64, |sum, c| sum.saturating_add(cost.get(c).copied().unwrap_or(1)));
            if sum > MOST_CALLS {
                return false;
            }
            moved |= cost.insert(*id, sum) != Some(sum);
        }
        if !moved {
            return true;
        }
    }
    true
}

/// Turns the built-ins of a draw into uniforms and drops transform-feedback decorations, which ESSL declares outside of the
/// shader.
///
/// # Errors
/// [`PipeError::Protocol`] for words that are no SPIR-V.
pub(crate) fn lower(words: &[u32]) -> PipeResult<Vec<u32>> {
    let malformed = || PipeError::Protocol("a module is malformed".into());
    let all = instructions(words).ok_or_else(malformed)?;
    if !calls_are_bounded(&all) {
        return Err(PipeError::Unsupported("the calls of a shader branch too much to be translated".into()));
    }
    let mut bound = words[3];
    let mut built_ins: Vec<(u32, &str)> = Vec::new();
    for instruction in &all {
        if op(instruction) == OP_DECORATE && instruction.len() == 4 && instruction[2] == DECORATION_BUILT_IN {
            let name = match instruction[3] {
                BUILT_IN_BASE_VERTEX => BASE_VERTEX,
                BUILT_IN_BASE_INSTANCE => BASE_INSTANCE,
                BUILT_IN_DRAW_INDEX => DRAW_INDEX,
                _ => continue,
            };
            built_ins.push((instruction[1], name));
        }
    }
    let built_in = |id: u32| built_ins.iter().find(|(i, _)| *i == id);
    let captured = crate::capture::captured(&all);
    let without_place = crate::capture::without_place(&all);
    // Outputs only: blocks in memory keep the offsets of their members.
    let outputs: Vec<u32> =
        all.iter().filter(|i| op(i) == OP_VARIABLE && i.len() > 3 && i[3] == STORAGE_OUTPUT).map(|i| i[2]).collect();
    // Blocks that are outputs, the built-in one among them.
    let output_types: Vec<u32> = all
        .iter()
        .filter(|i| op(i) == OP_TYPE_POINTER && i.len() == 4 && i[2] == STORAGE_OUTPUT)
        .map(|i| i[3])
        .collect();
    let mut out: Vec<u32> = words[..HEADER].to_vec();
    for instruction in &all {
        match op(instruction) {
            OP_DECORATE if instruction.len() > 2 => {
                let target = instruction[1];
                let decoration = instruction[2];
                let xfb = matches!(decoration, DECORATION_XFB_BUFFER | DECORATION_XFB_STRIDE | DECORATION_STREAM)
                    || (decoration == DECORATION_OFFSET && outputs.contains(&target));
                let place = matches!(decoration, DECORATION_LOCATION | DECORATION_COMPONENT);
                let placed = place && without_place.contains(&target);
                if xfb || placed || (decoration == DECORATION_BUILT_IN && built_in(target).is_some()) {
                    continue;
                }
            }
            OP_MEMBER_DECORATE if instruction.len() > 3 => {
                let xfb = matches!(instruction[3], DECORATION_XFB_BUFFER | DECORATION_XFB_STRIDE | DECORATION_STREAM);
                let offset = instruction[3] == DECORATION_OFFSET && output_types.contains(&instruction[1]);
                if xfb || offset {
                    continue;
                }
            }
            OP_NAME if instruction.len() > 1 && built_in(instruction[1]).is_some() => {
                if let Some((id, name)) = built_in(instruction[1]) {
                    push_name(&mut out, *id, name);
                }
                continue;
            }
            OP_NAME if instruction.len() > 1 => {
                if let Some(output) = captured.iter().find(|c| c.id == instruction[1]) {
                    push_name(&mut out, output.id, &output.name());
                    continue;
                }
            }
            OP_VARIABLE if instruction.len() > 3 && built_in(instruction[2]).is_some() => {
                let pointee = all
                    .iter()
                    .find(|i| op(i) == OP_TYPE_POINTER && i.len() == 4 && i[1] == instruction[1])
                    .filter(|i| i[2] == STORAGE_INPUT)
                    .map(|i| i[3])
                    .ok_or_else(malformed)?;
                out.extend([4 << 16 | OP_TYPE_POINTER, bound, STORAGE_UNIFORM_CONSTANT, pointee]);
                out.extend([4 << 16 | OP_VARIABLE, bound, instruction[2], STORAGE_UNIFORM_CONSTANT]);
                bound += 1;
                continue;
            }
            OP_ENTRY_POINT if !built_ins.is_empty() => {
                // The interface lists inputs and outputs only.
                let name_end = instruction
                    .iter()
                    .enumerate()
                    .skip(3)
                    .find(|(_, word)| word.to_le_bytes().contains(&0))
                    .map(|(at, _)| at + 1)
                    .ok_or_else(malformed)?;
                let start = out.len();
                out.extend_from_slice(&instruction[..name_end]);
                out.extend(instruction[name_end..].iter().filter(|id| built_in(**id).is_none()));
                let length = (out.len() - start) as u32;
                out[start] = length << 16 | OP_ENTRY_POINT;
                continue;
            }
            _ => {}
        }
        out.extend_from_slice(instruction);
    }
    out[3] = bound;
    Ok(out)
}

fn push_name(out: &mut Vec<u32>, id: u32, name: &str) {
    let mut bytes = name.as_bytes().to_vec();
    bytes.push(0);
    while bytes.len() % 4 != 0 {
        bytes.push(0);
    }
    out.extend([(2 + bytes.len() as u32 / 4) << 16 | OP_NAME, id]);
    out.extend(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
}

/// A module of these instructions, whose first words are their opcodes.
#[cfg(test)]
pub(crate) fn module(body: &[&[u32]]) -> Vec<u32> {
    let mut words = vec![0x0723_0203, 0x0001_0300, 0, 100, 0];
    for instruction in body {
        words.push((instruction.len() as u32) << 16 | instruction[0]);
        words.extend_from_slice(&instruction[1..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_of_the_draw_becomes_a_uniform() {
        let words = module(&[
            &[OP_ENTRY_POINT, 0, 1, u32::from_le_bytes(*b"main"), 0, 7, 8],
            &[OP_NAME, 7, u32::from_le_bytes(*b"abc\0")],
            &[OP_DECORATE, 7, DECORATION_BUILT_IN, BUILT_IN_BASE_INSTANCE],
            &[OP_TYPE_POINTER, 5, STORAGE_INPUT, 4],
            &[OP_VARIABLE, 5, 7, STORAGE_INPUT],
            &[OP_VARIABLE, 5, 8, STORAGE_INPUT],
        ]);
        let out = lower(&words).expect("well formed");
        let all = instructions(&out).expect("well formed");
        assert_eq!(out[3], 101);
        assert!(all.iter().all(|i| op(i) != OP_DECORATE));
        assert_eq!(all[0][5..], [8]);
        let variables: Vec<_> = all.iter().filter(|i| op(i) == OP_VARIABLE).map(|i| (i[2], i[3])).collect();
        assert_eq!(variables, [(7, STORAGE_UNIFORM_CONSTANT), (8, STORAGE_INPUT)]);
    }

    #[test]
    fn offsets_of_captured_members_go_and_those_of_memory_stay() {
        let words = module(&[
            &[OP_MEMBER_DECORATE, 20, 0, DECORATION_OFFSET, 16],
            &[OP_MEMBER_DECORATE, 20, 0, DECORATION_XFB_BUFFER, 0],
            &[OP_MEMBER_DECORATE, 21, 0, DECORATION_OFFSET, 16],
            &[OP_TYPE_POINTER, 5, STORAGE_OUTPUT, 20],
            &[OP_TYPE_POINTER, 6, STORAGE_UNIFORM_CONSTANT, 21],
        ]);
        let out = lower(&words).expect("well formed");
        let left: Vec<u32> = instructions(&out)
            .expect("well formed")
            .iter()
            .filter(|i| op(i) == OP_MEMBER_DECORATE)
            .map(|i| i[1])
            .collect();
        assert_eq!(left, [21]);
    }

    #[test]
    fn damaged_words_are_refused() {
        assert!(lower(&[1, 2]).is_err());
        assert!(lower(&[0x0723_0203, 0, 0, 9, 0, 0]).is_err());
        assert!(lower(&[0x0723_0203, 0, 0, 9, 0, 5 << 16 | 71, 1]).is_err());
    }

    #[test]
    fn a_tree_of_calls_that_explodes_is_refused() {
        let mut body: Vec<Vec<u32>> = Vec::new();
        for id in 10..40u32 {
            body.push(vec![OP_FUNCTION, 1, id, 0, 2]);
            for _ in 0..4 {
                body.push(vec![OP_FUNCTION_CALL, 1, 1000 + id, id + 1]);
            }
        }
        let slices: Vec<&[u32]> = body.iter().map(Vec::as_slice).collect();
        assert!(matches!(lower(&module(&slices)), Err(PipeError::Unsupported(_))));
    }
}
