//! Clip distances of input vertices, which ESSL gives no size: no variable may index them and nothing takes all of them. What
//! does so reads a private copy, which is filled one constant index after the other where the entry point begins.

use super::edit;
use super::index::{word, Index, Kind};
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};
use std::collections::HashMap;

/// The block of input vertices and its clip distances.
struct Block {
    variable: Word,
    member: u32,
    /// Type of the clip distances of a vertex, how many there are, and the type of each.
    distances: Word,
    count: u32,
    float: Word,
    /// Number of vertices, and the constant that holds it.
    vertices: u32,
    length: Word,
}

fn find(module: &dr::Module) -> Option<Block> {
    let index = Index::new(module);
    index.variables().into_iter().find_map(|(variable, class, pointee)| {
        let (block, vertices, length) = index.array(pointee).filter(|_| class == StorageClass::Input)?;
        let Kind::Struct { members } = index.kind(block) else { return None };
        let at = module.annotations.iter().find(|i| {
            i.class.opcode == Op::MemberDecorate
                && word(i, 0) == Some(block)
                && i.operands.get(2) == Some(&Operand::Decoration(Decoration::BuiltIn))
                && i.operands.get(3) == Some(&Operand::BuiltIn(BuiltIn::ClipDistance))
        });
        let member = at.and_then(|i| word(i, 1))?;
        let distances = *members.get(member as usize)?;
        let (float, count, _) = index.array(distances)?;
        Some(Block { variable, member, distances, count, float, vertices, length })
    })
}

fn is_chain(instruction: &Instruction) -> bool {
    matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain)
}

/// Value of a constant.
fn constant(module: &dr::Module, id: Word) -> Option<u32> {
    let found = module.types_global_values.iter().find(|i| i.result_id == Some(id))?;
    (found.class.opcode == Op::Constant).then(|| word(found, 0)).flatten()
}

/// Lets a geometry shader read a copy where it has to. True when it was changed.
pub(super) fn copy(module: &mut dr::Module) -> bool {
    let Some(block) = find(module) else { return false };
    // Chains to the clip distances: those from the block, and those that go on from one of them.
    let mut into: HashMap<Word, bool> = HashMap::new();
    let mut needed = false;
    for i in module.functions.iter().flat_map(|f| f.all_inst_iter()).filter(|i| is_chain(i)) {
        let (Some(base), Some(id)) = (word(i, 0), i.result_id) else { continue };
        if base == block.variable {
            if word(i, 2).and_then(|member| constant(module, member)) != Some(block.member) {
                continue;
            }
            into.insert(id, true);
            needed |= word(i, 3).is_none_or(|distance| constant(module, distance).is_none());
        } else if into.contains_key(&base) {
            into.insert(id, false);
            needed |= word(i, 1).is_none_or(|distance| constant(module, distance).is_none());
        }
    }
    if !needed {
        return false;
    }
    let array =
        edit::global(module, Op::TypeArray, vec![Operand::IdRef(block.distances), Operand::IdRef(block.length)]);
    let private = edit::variable(module, StorageClass::Private, array);
    let to_all = edit::pointer_to(module, StorageClass::Private, block.distances);
    let to_one = edit::pointer_to(module, StorageClass::Private, block.float);
    for i in module.functions.iter_mut().flat_map(|f| f.all_inst_iter_mut()) {
        let Some(first) = i.result_id.and_then(|id| into.get(&id)) else { continue };
        if *first {
            i.operands[0] = Operand::IdRef(private);
            i.operands.remove(2);
            i.result_type = Some(if i.operands.len() > 2 { to_one } else { to_all });
        } else {
            i.result_type = Some(to_one);
        }
    }
    let mut copies = Vec::new();
    for vertex in 0..block.vertices {
        for distance in 0..block.count {
            let theirs = [vertex, block.member, distance];
            let class = StorageClass::Input;
            let from = edit::chain(module, class, block.float, block.variable, &theirs, &mut copies);
            let mine = [vertex, distance];
            let to = edit::chain(module, StorageClass::Private, block.float, private, &mine, &mut copies);
            let value = edit::load(module, block.float, from, &mut copies);
            copies.push(Instruction::new(Op::Store, None, None, vec![Operand::IdRef(to), Operand::IdRef(value)]));
        }
    }
    let entry = module.entry_points.first().and_then(|e| word(e, 1));
    let main = module.functions.iter_mut().find(|f| f.def.as_ref().and_then(|d| d.result_id) == entry);
    if let Some(first) = main.and_then(|f| f.blocks.first_mut()) {
        let declarations = |i: &Instruction| matches!(i.class.opcode, Op::Variable | Op::Line | Op::NoLine);
        let at = first.instructions.iter().position(|i| !declarations(i)).unwrap_or(first.instructions.len());
        first.instructions.splice(at..at, copies);
    }
    true
}
