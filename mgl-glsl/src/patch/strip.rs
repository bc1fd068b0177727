//! Removes inputs and uniforms that no function mentions, so that interfaces between stages and descriptor layouts hold
//! only what is real.

use std::collections::HashSet;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};

use crate::module::{operand, Module};

/// Removes unmentioned input and uniform variables.
pub(crate) fn unused(module: &mut Module) {
    let mut mentioned: HashSet<Word> = HashSet::new();
    for function in &module.dr.functions {
        for instruction in function.all_inst_iter() {
            mentioned.extend(instruction.operands.iter().filter_map(|o| match o {
                Operand::IdRef(id) => Some(*id),
                _ => None,
            }));
        }
    }
    let dead: HashSet<Word> = module
        .variables()
        .into_iter()
        .filter(|v| {
            matches!(
                v.class,
                StorageClass::Input
                    | StorageClass::Uniform
                    | StorageClass::UniformConstant
                    | StorageClass::StorageBuffer
            )
        })
        .map(|v| v.id)
        .filter(|id| !mentioned.contains(id))
        .collect();
    if dead.is_empty() {
        return;
    }
    let dr = &mut module.dr;
    dr.types_global_values
        .retain(|i| i.class.opcode != Op::Variable || i.result_id.is_none_or(|id| !dead.contains(&id)));
    let names_dead = |i: &rspirv::dr::Instruction| operand(i, 0).is_some_and(|id| dead.contains(&id));
    dr.debug_names.retain(|i| !names_dead(i));
    dr.annotations.retain(|i| !names_dead(i));
    for entry in &mut dr.entry_points {
        entry.operands.retain(|o| !matches!(o, Operand::IdRef(id) if dead.contains(id)));
    }
    module.reindex();
}
