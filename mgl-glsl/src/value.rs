//! Values of uniform initialisers: read from a module's constants, written into the default block's bytes.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, Word};

use crate::module::{operand, Module, Type, MAX_TYPE_DEPTH};

/// A constant of any type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Bits of a scalar; booleans are 0 and 1.
    Scalar(u64),
    /// Elements of a vector, matrix, array or struct.
    Composite(Vec<Value>),
    /// Zero of any type.
    Zero,
}

/// Finds the constants that the entry point stores into its local variables: pairs of local name and value. A local whose
/// value is not constant is missing.
pub(crate) fn stored_locals(module: &Module) -> Vec<(String, Value)> {
    let mut list = Vec::new();
    for function in &module.dr.functions {
        for instruction in function.blocks.iter().flat_map(|b| &b.instructions) {
            if instruction.class.opcode != Op::Store {
                continue;
            }
            let (Some(pointer), Some(value)) = (operand(instruction, 0), operand(instruction, 1)) else { continue };
            let name = module.name(pointer);
            if name.starts_with("mgl_init_") {
                if let Some(value) = constant(module, value, 0) {
                    list.push((name.to_owned(), value));
                }
            }
        }
    }
    list
}

fn constant(module: &Module, id: Word, depth: u32) -> Option<Value> {
    if depth > MAX_TYPE_DEPTH {
        return None;
    }
    let instruction = module.definition(id)?;
    match instruction.class.opcode {
        Op::ConstantTrue => Some(Value::Scalar(1)),
        Op::ConstantFalse => Some(Value::Scalar(0)),
        Op::ConstantNull => Some(Value::Zero),
        Op::Constant => match instruction.operands.first()? {
            Operand::LiteralBit32(bits) => Some(Value::Scalar(u64::from(*bits))),
            Operand::LiteralBit64(bits) => Some(Value::Scalar(*bits)),
            _ => None,
        },
        Op::ConstantComposite => (0..instruction.operands.len())
            .map(|i| constant(module, operand(instruction, i)?, depth + 1))
            .collect::<Option<Vec<_>>>()
            .map(Value::Composite),
        _ => None,
    }
}

/// Writes `value` of the block member type `id` at `offset`; `member` is the struct and member that hold it.
pub(crate) fn write(
    module: &Module,
    id: Word,
    member: Option<(Word, u32)>,
    offset: u64,
    value: &Value,
    bytes: &mut [u8],
    depth: u32,
) {
    let Value::Composite(parts) = value else {
        if let (Value::Scalar(bits), Type::Plain { scalar, .. }) = (value, module.type_of(id)) {
            let size = scalar.size() as usize;
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            if let Some(target) = start.checked_add(size).and_then(|end| bytes.get_mut(start..end)) {
                target.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        return;
    };
    if depth > MAX_TYPE_DEPTH {
        return;
    }
    match module.type_of(id) {
        Type::Plain { scalar, columns: 1, .. } => {
            for (index, part) in parts.iter().enumerate() {
                scalar_at(scalar.size(), offset + index as u64 * u64::from(scalar.size()), part, bytes);
            }
        }
        Type::Plain { scalar, .. } => {
            let stride = member.and_then(|(s, m)| module.member_decoration(s, m, Decoration::MatrixStride));
            let stride = u64::from(stride.unwrap_or(16));
            let size = u64::from(scalar.size());
            let row_major = member.is_some_and(|(s, m)| module.member_has(s, m, Decoration::RowMajor));
            for (column, part) in parts.iter().enumerate() {
                let Value::Composite(rows) = part else { continue };
                for (row, part) in rows.iter().enumerate() {
                    let (column, row) = (column as u64, row as u64);
                    let at = if row_major { row * stride + column * size } else { column * stride + row * size };
                    scalar_at(scalar.size(), offset + at, part, bytes);
                }
            }
        }
        Type::Array { element, .. } => {
            let stride = u64::from(module.decoration(id, Decoration::ArrayStride).unwrap_or(0));
            for (index, part) in parts.iter().enumerate() {
                write(module, element, member, offset + index as u64 * stride, part, bytes, depth + 1);
            }
        }
        Type::Struct { members } => {
            for (index, (element, part)) in members.iter().zip(parts).enumerate() {
                let index = index as u32;
                let at = u64::from(module.member_decoration(id, index, Decoration::Offset).unwrap_or(0));
                write(module, *element, Some((id, index)), offset + at, part, bytes, depth + 1);
            }
        }
        _ => {}
    }
}

fn scalar_at(size: u32, offset: u64, value: &Value, bytes: &mut [u8]) {
    let Value::Scalar(bits) = value else { return };
    let size = size as usize;
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    if let Some(target) = start.checked_add(size).and_then(|end| bytes.get_mut(start..end)) {
        target.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}
