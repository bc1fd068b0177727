//! Changes to the SPIR-V between glslang and the backend.

pub(crate) mod arrays;
pub(crate) mod blocks;
mod capture;
mod edit;
pub(crate) mod pack;
pub(crate) mod rect;
pub(crate) mod strip;
pub(crate) mod xfb;

use std::collections::HashSet;

use mgpipe_types::reflection::Stage;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, ExecutionMode, Op, StorageClass, Word};

use crate::module::{operand, Module};
use crate::reflect::Placements;

fn decorate(id: Word, decoration: Decoration, value: u32) -> Instruction {
    Instruction::new(
        Op::Decorate,
        None,
        None,
        vec![Operand::IdRef(id), Operand::Decoration(decoration), Operand::LiteralBit32(value)],
    )
}

/// Writes descriptor sets, bindings, locations and indices, and drops locations of uniforms.
pub(crate) fn place(module: &mut Module, placements: &Placements) {
    let stage = module.stage;
    let mut descriptors: HashSet<Word> = HashSet::new();
    let mut located: HashSet<Word> = HashSet::new();
    let mut uniforms: HashSet<Word> = HashSet::new();
    let mut added = Vec::new();
    for variable in module.variables() {
        let key = (stage, variable.id);
        if let Some((set, binding)) = placements.descriptors.get(&key) {
            descriptors.insert(variable.id);
            added.push(decorate(variable.id, Decoration::DescriptorSet, *set));
            added.push(decorate(variable.id, Decoration::Binding, *binding));
        }
        if let Some((location, index)) = placements.locations.get(&key) {
            located.insert(variable.id);
            added.push(decorate(variable.id, Decoration::Location, *location));
            if stage == Stage::Fragment && *index != 0 {
                added.push(decorate(variable.id, Decoration::Index, *index));
            }
        }
        if matches!(variable.class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant)
        {
            uniforms.insert(variable.id);
        }
    }
    module.dr.annotations.retain(|instruction| {
        let (Some(id), Some(Operand::Decoration(decoration))) = (operand(instruction, 0), instruction.operands.get(1))
        else {
            return true;
        };
        if instruction.class.opcode != Op::Decorate {
            return true;
        }
        let drop = match decoration {
            Decoration::DescriptorSet | Decoration::Binding => descriptors.contains(&id),
            Decoration::Location => located.contains(&id) || uniforms.contains(&id),
            Decoration::Index => located.contains(&id),
            _ => false,
        };
        !drop
    });
    module.dr.annotations.extend(added);
}

/// Removes execution modes that Vulkan does not have, and lets a geometry shader that may emit no vertex emit one: Vulkan
/// has no limit of 0, and GL ignores what goes beyond the declared one.
pub(crate) fn execution_modes(module: &mut Module) {
    for instruction in module.dr.execution_modes.iter_mut().filter(|_| module.stage == Stage::Geometry) {
        if instruction.operands.get(1) == Some(&Operand::ExecutionMode(ExecutionMode::OutputVertices)) {
            if let Some(Operand::LiteralBit32(limit)) = instruction.operands.get_mut(2) {
                *limit = (*limit).max(1);
            }
        }
    }
    let mut upper_left = false;
    let mut entry = None;
    module.dr.execution_modes.retain(|instruction| {
        entry = operand(instruction, 0);
        match instruction.operands.get(1) {
            Some(Operand::ExecutionMode(ExecutionMode::OriginUpperLeft)) => {
                upper_left = true;
                true
            }
            Some(Operand::ExecutionMode(ExecutionMode::OriginLowerLeft | ExecutionMode::PixelCenterInteger)) => false,
            _ => true,
        }
    });
    if module.stage == Stage::Fragment && !upper_left {
        if let Some(entry) = entry.or_else(|| module.dr.entry_points.first().and_then(|e| operand(e, 1))) {
            module.dr.execution_modes.push(Instruction::new(
                Op::ExecutionMode,
                None,
                None,
                vec![Operand::IdRef(entry), Operand::ExecutionMode(ExecutionMode::OriginUpperLeft)],
            ));
        }
    }
}
