//! Arrays of arrays of samplers, images and blocks become plain arrays: Vulkan has no others for descriptors.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

use super::edit::{fresh, global, int_constant, int_type};
use crate::module::{operand, Module, Type};

/// Flattens all such variables. The error is a line for the info log.
pub(crate) fn flatten(module: &mut Module) -> Result<(), String> {
    // Variable, its dimensions, its storage class and the element type.
    let mut nested: HashMap<Word, Vec<u32>> = HashMap::new();
    let mut plan: Vec<(Word, StorageClass, Word, Vec<u32>)> = Vec::new();
    for variable in module.variables() {
        if !matches!(
            variable.class,
            StorageClass::Uniform | StorageClass::UniformConstant | StorageClass::StorageBuffer
        ) {
            continue;
        }
        let mut dimensions = Vec::new();
        let mut element = variable.pointee;
        while let Type::Array { element: inner, length: Some(length) } = module.type_of(element) {
            dimensions.push(length);
            element = inner;
        }
        if dimensions.len() > 1 {
            plan.push((variable.id, variable.class, element, dimensions));
        }
    }
    for (id, class, element, dimensions) in plan {
        let total = dimensions.iter().fold(1u32, |product, d| product.saturating_mul(*d));
        let length = int_constant(&mut module.dr, i32::try_from(total).unwrap_or(i32::MAX));
        let array = fresh(&mut module.dr);
        let pointer = fresh(&mut module.dr);
        let types = [
            Instruction::new(Op::TypeArray, None, Some(array), vec![Operand::IdRef(element), Operand::IdRef(length)]),
            Instruction::new(
                Op::TypePointer,
                None,
                Some(pointer),
                vec![Operand::StorageClass(class), Operand::IdRef(array)],
            ),
        ];
        // The variable moves behind its new type.
        let at = module.dr.types_global_values.iter().position(|i| i.result_id == Some(id));
        let Some(at) = at else { continue };
        let mut declaration = module.dr.types_global_values.remove(at);
        declaration.result_type = Some(pointer);
        module.dr.types_global_values.extend(types);
        module.dr.types_global_values.push(declaration);
        nested.insert(id, dimensions);
    }
    if nested.is_empty() {
        return Ok(());
    }
    let mut functions = std::mem::take(&mut module.dr.functions);
    let mut failed = false;
    for block in functions.iter_mut().flat_map(|f| &mut f.blocks) {
        let old = std::mem::take(&mut block.instructions);
        for mut instruction in old {
            let chain = matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain);
            let base = operand(&instruction, 0).filter(|_| chain);
            match base.and_then(|id| nested.get(&id)) {
                Some(dimensions) if instruction.operands.len() > dimensions.len() => {
                    let index = combine(module, dimensions, &instruction, &mut block.instructions);
                    instruction.operands.splice(1..1 + dimensions.len(), [Operand::IdRef(index)]);
                }
                Some(_) => failed = true,
                None => {
                    let mentions = |o: &Operand| matches!(o, Operand::IdRef(id) if nested.contains_key(id));
                    failed |= instruction.operands.iter().any(mentions);
                }
            }
            block.instructions.push(instruction);
        }
    }
    module.dr.functions = functions;
    module.reindex();
    if failed {
        return Err("error: arrays of arrays of samplers, images or blocks cannot be passed to functions".into());
    }
    Ok(())
}

/// One index out of one index a dimension.
fn combine(module: &mut Module, dimensions: &[u32], chain: &Instruction, output: &mut Vec<Instruction>) -> Word {
    let indices: Vec<Word> = (1..=dimensions.len()).filter_map(|i| operand(chain, i)).collect();
    let constants: Option<Vec<u32>> = indices
        .iter()
        .map(|id| {
            let definition = module.dr.types_global_values.iter().find(|i| i.result_id == Some(*id))?;
            (definition.class.opcode == Op::Constant).then(|| operand(definition, 0)).flatten()
        })
        .collect();
    if let Some(values) = constants {
        let flat = values
            .iter()
            .zip(dimensions)
            .fold(0u32, |sum, (index, dimension)| sum.wrapping_mul(*dimension).wrapping_add(*index));
        return int_constant(&mut module.dr, flat as i32);
    }
    let int = int_type(&mut module.dr);
    let mut sum = indices.first().copied().unwrap_or(0);
    for (index, dimension) in indices.iter().zip(dimensions).skip(1) {
        let dimension = global(&mut module.dr, Op::Constant, Some(int), vec![Operand::LiteralBit32(*dimension)]);
        let (product, next) = (fresh(&mut module.dr), fresh(&mut module.dr));
        let mut push = |op, id, a, b| {
            output.push(Instruction::new(op, Some(int), Some(id), vec![Operand::IdRef(a), Operand::IdRef(b)]));
        };
        push(Op::IMul, product, sum, dimension);
        push(Op::IAdd, next, product, *index);
        sum = next;
    }
    sum
}
