//! Arrays of interface blocks between stages become one array a member.
//!
//! Drivers split such blocks themselves, and Mesa's gives every member as many locations as it has elements from the place
//! of the first one on, so that members overlap. Both sides of an interface are split alike and keep the block's locations.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use super::edit::{fresh, global};
use crate::module::{operand, Module, Type, Variable};
use crate::reflect::interface;

/// An array of blocks and how it is cut.
struct Split {
    variable: Variable,
    block: Word,
    members: Vec<Word>,
    /// Lengths of the dimensions, as ids of constants, outermost first.
    lengths: Vec<Word>,
    /// Dimensions that count elements of the array; one more is there when the outermost counts vertices.
    elements: u32,
    location: u32,
}

/// Splits all such variables of all stages, or none when one of them is used in a way that needs it whole.
pub(crate) fn split<'m>(modules: impl Iterator<Item = &'m mut Module>) {
    let mut modules: Vec<(&mut Module, Vec<Split>)> = modules
        .map(|module| {
            let plan = plan(module);
            (module, plan)
        })
        .collect();
    if modules.iter().all(|(module, plan)| plan.iter().all(|split| only_members_are_used(module, split))) {
        for (module, plan) in modules.iter_mut().filter(|(_, plan)| !plan.is_empty()) {
            apply(module, plan);
        }
    }
}

fn plan(module: &Module) -> Vec<Split> {
    let mut list = Vec::new();
    for variable in module.variables() {
        if !matches!(variable.class, StorageClass::Input | StorageClass::Output) {
            continue;
        }
        let (mut lengths, mut sizes, mut block) = (Vec::new(), Vec::new(), variable.pointee);
        while let Type::Array { element, length: Some(size) } = module.type_of(block) {
            lengths.extend(module.definition(block).and_then(|i| operand(i, 1)));
            sizes.push(size);
            block = element;
        }
        let per_vertex = interface::is_per_vertex(module, &variable);
        let elements = sizes.iter().skip(usize::from(per_vertex)).fold(1u32, |product, n| product.saturating_mul(*n));
        let Type::Struct { members } = module.type_of(block) else { continue };
        let Some(location) = module.decoration(variable.id, Decoration::Location) else { continue };
        // Members with places of their own, in locations or in captured buffers, are left as they are.
        let placed = (0..members.len() as u32).any(|m| {
            [Decoration::BuiltIn, Decoration::Location, Decoration::Component, Decoration::Offset]
                .iter()
                .any(|d| module.member_has(block, m, *d))
        });
        if sizes.len() > usize::from(per_vertex) && module.has(block, Decoration::Block) && !placed {
            list.push(Split { variable, block, members, lengths, elements, location });
        }
    }
    list
}

/// The constant index of the member that an access chain on the variable reaches.
fn member_of(module: &Module, split: &Split, chain: &Instruction) -> Option<u32> {
    let is_chain = matches!(chain.class.opcode, Op::AccessChain | Op::InBoundsAccessChain);
    let index = operand(chain, 1 + split.lengths.len()).filter(|_| is_chain)?;
    module.constant(index).filter(|member| (*member as usize) < split.members.len())
}

fn only_members_are_used(module: &Module, split: &Split) -> bool {
    module.dr.functions.iter().flat_map(|f| f.all_inst_iter()).all(|instruction| {
        let mentions = instruction.operands.iter().filter(|o| **o == Operand::IdRef(split.variable.id)).count();
        mentions == 0
            || mentions == 1
                && operand(instruction, 0) == Some(split.variable.id)
                && member_of(module, split, instruction).is_some()
    })
}

fn apply(module: &mut Module, plan: &[Split]) {
    // Variable and member to the variable of that member.
    let mut parts: HashMap<(Word, u32), Word> = HashMap::new();
    for split in plan {
        let mut location = split.location;
        let blanket: Vec<Instruction> = module
            .dr
            .annotations
            .iter()
            .filter(|i| i.class.opcode == Op::Decorate && operand(i, 0) == Some(split.variable.id))
            .filter(|i| i.operands.get(1) != Some(&Operand::Decoration(Decoration::Location)))
            .cloned()
            .collect();
        for (index, member) in (0u32..).zip(&split.members) {
            let mut part_type = *member;
            for length in split.lengths.iter().rev() {
                let operands = vec![Operand::IdRef(part_type), Operand::IdRef(*length)];
                part_type = global(&mut module.dr, Op::TypeArray, None, operands);
            }
            let class = Operand::StorageClass(split.variable.class);
            let operands = vec![class.clone(), Operand::IdRef(part_type)];
            let pointer = global(&mut module.dr, Op::TypePointer, None, operands);
            let part = fresh(&mut module.dr);
            module.dr.types_global_values.push(Instruction::new(Op::Variable, Some(pointer), Some(part), vec![class]));
            let name = format!("{}.{}", module.name(split.block), module.member_name(split.block, index));
            let dr = &mut module.dr;
            let name = vec![Operand::IdRef(part), Operand::LiteralString(name)];
            dr.debug_names.push(Instruction::new(Op::Name, None, None, name));
            for entry in &mut dr.entry_points {
                entry.operands.push(Operand::IdRef(part));
            }
            let own: Vec<Instruction> = dr
                .annotations
                .iter()
                .filter(|i| i.class.opcode == Op::MemberDecorate && operand(i, 0) == Some(split.block))
                .filter(|i| operand(i, 1) == Some(index))
                .map(|i| Instruction::new(Op::Decorate, None, None, i.operands.iter().skip(1).cloned().collect()))
                .collect();
            for mut decoration in blanket.iter().cloned().chain(own) {
                decoration.operands[0] = Operand::IdRef(part);
                if !module.dr.annotations.contains(&decoration) {
                    module.dr.annotations.push(decoration);
                }
            }
            module.dr.annotations.push(super::decorate(part, Decoration::Location, location));
            let size = super::xfb::locations(module, *member);
            location = location.saturating_add(size.saturating_mul(split.elements));
            parts.insert((split.variable.id, index), part);
        }
    }
    let mut functions = std::mem::take(&mut module.dr.functions);
    for instruction in functions.iter_mut().flat_map(|f| &mut f.blocks).flat_map(|b| &mut b.instructions) {
        let Some(split) = plan.iter().find(|s| operand(instruction, 0) == Some(s.variable.id)) else { continue };
        let Some(member) = member_of(module, split, instruction) else { continue };
        let Some(part) = parts.get(&(split.variable.id, member)) else { continue };
        instruction.operands.remove(1 + split.lengths.len());
        instruction.operands[0] = Operand::IdRef(*part);
    }
    module.dr.functions = functions;
    let gone = |id: Option<Word>| plan.iter().any(|s| Some(s.variable.id) == id);
    module.dr.types_global_values.retain(|i| !gone(i.result_id));
    module.dr.debug_names.retain(|i| !gone(operand(i, 0)));
    module.dr.annotations.retain(|i| i.class.opcode != Op::Decorate || !gone(operand(i, 0)));
    for entry in &mut module.dr.entry_points {
        // The operands before the interface are the model, the function and its name.
        entry.operands.retain(|o| !matches!(o, Operand::IdRef(id) if gone(Some(*id))));
    }
    module.reindex();
}
