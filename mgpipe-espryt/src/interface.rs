//! Ways of interpolation: ESSL wants the same on both sides of an interface, OpenGL says them where a variable is read.

use crate::spirv::{
    instructions, op, DECORATION_LOCATION, OP_DECORATE, OP_MEMBER_DECORATE, OP_TYPE_POINTER, OP_VARIABLE,
    STORAGE_INPUT, STORAGE_OUTPUT,
};
use mgpipe_types::{PipeError, PipeResult};

/// `NoPerspective`, `Flat`, `Centroid`, `Sample`.
const QUALIFIERS: [u32; 4] = [13, 14, 16, 17];

/// A variable, or a member of a block, at its location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    location: u32,
    member: Option<u32>,
    /// The variable, or the type of its block.
    target: u32,
}

/// Decorations of a kind: what, which member, value.
fn decorations<'a>(all: &'a [&'a [u32]], target: u32) -> impl Iterator<Item = (Option<u32>, u32, Option<u32>)> + 'a {
    all.iter().filter_map(move |i| match op(i) {
        OP_DECORATE if i.len() > 2 && i[1] == target => Some((None, i[2], i.get(3).copied())),
        OP_MEMBER_DECORATE if i.len() > 3 && i[1] == target => Some((Some(i[2]), i[3], i.get(4).copied())),
        _ => None,
    })
}

/// The variables of a storage class that have locations.
fn entries(all: &[&[u32]], storage: u32) -> Vec<Entry> {
    let mut list = Vec::new();
    for variable in all.iter().filter(|i| op(i) == OP_VARIABLE && i.len() > 3 && i[3] == storage) {
        let (pointer, id) = (variable[1], variable[2]);
        let pointee = all.iter().find(|i| op(i) == OP_TYPE_POINTER && i.len() == 4 && i[1] == pointer).map(|i| i[3]);
        let own = decorations(all, id).find(|(_, d, _)| *d == DECORATION_LOCATION).and_then(|(_, _, value)| value);
        if let Some(location) = own {
            list.push(Entry { location, member: None, target: id });
        }
        let Some(block) = pointee else { continue };
        let mut members: Vec<(u32, u32)> = Vec::new();
        for (member, decoration, value) in decorations(all, block) {
            let Some(member) = member else { continue };
            // A block has a location as a whole, or each of its members has one.
            let location = match own {
                Some(location) => location,
                None if decoration == DECORATION_LOCATION => value.unwrap_or(0),
                None => continue,
            };
            if !members.contains(&(member, location)) {
                members.push((member, location));
            }
        }
        list.extend(members.into_iter().map(|(member, location)| Entry {
            location,
            member: Some(member),
            target: block,
        }));
    }
    list
}

/// Gives the outputs of one stage the ways of interpolation that the next stage reads them in.
///
/// # Errors
/// [`PipeError::Protocol`] for words that are no SPIR-V.
pub(crate) fn match_interpolation(words: &[u32], reader: &[u32]) -> PipeResult<Vec<u32>> {
    let malformed = || PipeError::Protocol("a module is malformed".into());
    let (all, next) = (instructions(words).ok_or_else(malformed)?, instructions(reader).ok_or_else(malformed)?);
    let inputs = entries(&next, STORAGE_INPUT);
    // Target, member and what it is decorated with from now on.
    let mut wanted: Vec<(u32, Option<u32>, Vec<u32>)> = Vec::new();
    for output in entries(&all, STORAGE_OUTPUT) {
        let same = |input: &&Entry| input.location == output.location && input.member == output.member;
        let Some(input) = inputs.iter().find(same) else { continue };
        let read: Vec<u32> = decorations(&next, input.target)
            .filter(|(member, decoration, _)| *member == input.member && QUALIFIERS.contains(decoration))
            .map(|(_, decoration, _)| decoration)
            .collect();
        wanted.push((output.target, output.member, read));
    }
    let mut out = words[..5].to_vec();
    let mut pending = Some(wanted.clone());
    for instruction in all {
        let (target, member, decoration) = match op(instruction) {
            OP_DECORATE if instruction.len() > 2 => (instruction[1], None, instruction[2]),
            OP_MEMBER_DECORATE if instruction.len() > 3 => (instruction[1], Some(instruction[2]), instruction[3]),
            _ => {
                out.extend_from_slice(instruction);
                continue;
            }
        };
        for (target, member, list) in pending.take().unwrap_or_default() {
            for decoration in list {
                match member {
                    None => out.extend([3 << 16 | OP_DECORATE, target, decoration]),
                    Some(member) => out.extend([4 << 16 | OP_MEMBER_DECORATE, target, member, decoration]),
                }
            }
        }
        let replaced = QUALIFIERS.contains(&decoration) && wanted.iter().any(|(t, m, _)| (*t, *m) == (target, member));
        if !replaced {
            out.extend_from_slice(instruction);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::module;

    #[test]
    fn what_is_read_without_perspective_is_written_so() {
        let writer = module(&[
            &[OP_DECORATE, 7, DECORATION_LOCATION, 3],
            &[OP_DECORATE, 8, DECORATION_LOCATION, 4],
            &[OP_DECORATE, 8, 16],
            &[OP_TYPE_POINTER, 5, STORAGE_OUTPUT, 4],
            &[OP_VARIABLE, 5, 7, STORAGE_OUTPUT],
            &[OP_VARIABLE, 5, 8, STORAGE_OUTPUT],
        ]);
        let reader = module(&[
            &[OP_DECORATE, 20, DECORATION_LOCATION, 3],
            &[OP_DECORATE, 20, 13],
            &[OP_DECORATE, 21, DECORATION_LOCATION, 4],
            &[OP_TYPE_POINTER, 5, STORAGE_INPUT, 4],
            &[OP_VARIABLE, 5, 20, STORAGE_INPUT],
            &[OP_VARIABLE, 5, 21, STORAGE_INPUT],
        ]);
        let out = match_interpolation(&writer, &reader).expect("well formed");
        let all = instructions(&out).expect("well formed");
        let of = |id| decorations(&all, id).map(|(_, d, _)| d).filter(|d| QUALIFIERS.contains(d)).collect::<Vec<_>>();
        assert_eq!(of(7), [13]);
        assert_eq!(of(8), Vec::<u32>::new());
    }

    #[test]
    fn members_of_a_block_are_matched_one_by_one() {
        let block = |storage, qualifier: &[u32]| {
            let mut body: Vec<Vec<u32>> = vec![
                vec![OP_MEMBER_DECORATE, 9, 0, DECORATION_LOCATION, 0],
                vec![OP_MEMBER_DECORATE, 9, 1, DECORATION_LOCATION, 1],
            ];
            body.extend(qualifier.iter().map(|q| vec![OP_MEMBER_DECORATE, 9, 1, *q]));
            body.push(vec![OP_TYPE_POINTER, 5, storage, 9]);
            body.push(vec![OP_VARIABLE, 5, 7, storage]);
            module(&body.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        let out = match_interpolation(&block(STORAGE_OUTPUT, &[]), &block(STORAGE_INPUT, &[14])).expect("well formed");
        let all = instructions(&out).expect("well formed");
        let flat: Vec<_> = decorations(&all, 9).filter(|(_, d, _)| *d == 14).map(|(member, ..)| member).collect();
        assert_eq!(flat, [Some(1)]);
    }
}
