//! Small building blocks for patches: fresh ids, types and constants on demand.

use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{Capability, Op, Word};

/// Takes a fresh id.
pub(super) fn fresh(module: &mut dr::Module) -> Word {
    match module.header.as_mut() {
        Some(header) => {
            let id = header.bound;
            header.bound += 1;
            id
        }
        // The parser always makes a header; without one no id can be valid.
        None => 0,
    }
}

/// The type or constant with this content, made when it is missing. Types that may be declared only once are found, so
/// the result is valid SPIR-V for them too.
pub(super) fn global(module: &mut dr::Module, op: Op, result_type: Option<Word>, operands: Vec<Operand>) -> Word {
    let found = module
        .types_global_values
        .iter()
        .find(|i| i.class.opcode == op && i.result_type == result_type && i.operands == operands);
    if let Some(id) = found.and_then(|i| i.result_id) {
        return id;
    }
    let id = fresh(module);
    module.types_global_values.push(Instruction::new(op, result_type, Some(id), operands));
    id
}

pub(super) fn int_type(module: &mut dr::Module) -> Word {
    global(module, Op::TypeInt, None, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(1)])
}

pub(super) fn float_type(module: &mut dr::Module) -> Word {
    global(module, Op::TypeFloat, None, vec![Operand::LiteralBit32(32)])
}

pub(super) fn vector_type(module: &mut dr::Module, component: Word, count: u32) -> Word {
    global(module, Op::TypeVector, None, vec![Operand::IdRef(component), Operand::LiteralBit32(count)])
}

pub(super) fn int_constant(module: &mut dr::Module, value: i32) -> Word {
    let int = int_type(module);
    global(module, Op::Constant, Some(int), vec![Operand::LiteralBit32(value as u32)])
}

pub(super) fn float_constant(module: &mut dr::Module, value: f32) -> Word {
    let float = float_type(module);
    global(module, Op::Constant, Some(float), vec![Operand::LiteralBit32(value.to_bits())])
}

/// Declares a capability once.
pub(super) fn add_capability(module: &mut dr::Module, capability: Capability) {
    let operand = Operand::Capability(capability);
    if !module.capabilities.iter().any(|i| i.operands.first() == Some(&operand)) {
        module.capabilities.push(Instruction::new(Op::Capability, None, None, vec![operand]));
    }
}

/// Takes a capability away.
pub(super) fn remove_capability(module: &mut dr::Module, capability: Capability) {
    module.capabilities.retain(|i| i.operands.first() != Some(&Operand::Capability(capability)));
}
