//! Small changes to a module: types, constants and variables on demand.

use super::index::{pointee_of, word};
use super::Split;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass, Word};
use std::collections::HashMap;

fn fresh(module: &mut dr::Module) -> Word {
    let Some(header) = module.header.as_mut() else { return 0 };
    header.bound += 1;
    header.bound - 1
}

/// The type with this content, made when it is missing: most types may be declared once only.
pub(super) fn global(module: &mut dr::Module, op: Op, operands: Vec<Operand>) -> Word {
    let same = |i: &&Instruction| i.class.opcode == op && i.operands == operands;
    if let Some(id) = module.types_global_values.iter().find(same).and_then(|i| i.result_id) {
        return id;
    }
    let id = fresh(module);
    module.types_global_values.push(Instruction::new(op, None, Some(id), operands));
    id
}

fn constant(module: &mut dr::Module, value: u32) -> Word {
    let int = global(module, Op::TypeInt, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(1)]);
    let wanted = vec![Operand::LiteralBit32(value)];
    let same = |i: &&Instruction| i.class.opcode == Op::Constant && i.result_type == Some(int) && i.operands == wanted;
    if let Some(id) = module.types_global_values.iter().find(same).and_then(|i| i.result_id) {
        return id;
    }
    let id = fresh(module);
    module.types_global_values.push(Instruction::new(Op::Constant, Some(int), Some(id), wanted));
    id
}

/// The type of pointers to another.
pub(super) fn pointer_to(module: &mut dr::Module, class: StorageClass, ty: Word) -> Word {
    global(module, Op::TypePointer, vec![Operand::StorageClass(class), Operand::IdRef(ty)])
}

/// Declares a variable.
pub(super) fn variable(module: &mut dr::Module, class: StorageClass, ty: Word) -> Word {
    let id = fresh(module);
    declare(module, id, class, ty);
    id
}

fn declare(module: &mut dr::Module, id: Word, class: StorageClass, ty: Word) {
    let pointer = pointer_to(module, class, ty);
    let operands = vec![Operand::StorageClass(class)];
    module.types_global_values.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
}

/// Lets variables of interfaces be private ones, without their decorations, and what points into them, too.
pub(super) fn make_private(module: &mut dr::Module, splits: &[Split]) {
    let is_split = |id: Option<Word>| splits.iter().any(|split| Some(split.id) == id);
    // What the code reaches in them, and the type of it.
    let mut reached: HashMap<Word, Word> = HashMap::new();
    for instruction in module.functions.iter().flat_map(|f| f.all_inst_iter()) {
        let chain = matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain);
        let base = word(instruction, 0);
        if !chain || !(is_split(base) || base.is_some_and(|base| reached.contains_key(&base))) {
            continue;
        }
        let pointee = instruction.result_type.and_then(|pointer| pointee_of(module, pointer));
        if let (Some(id), Some(pointee)) = (instruction.result_id, pointee) {
            reached.insert(id, pointee);
        }
    }
    module.types_global_values.retain(|i| !is_split(i.result_id));
    for split in splits {
        declare(module, split.id, StorageClass::Private, split.pointee);
    }
    let pointers: HashMap<Word, Word> =
        reached.iter().map(|(id, ty)| (*id, pointer_to(module, StorageClass::Private, *ty))).collect();
    for instruction in module.functions.iter_mut().flat_map(|f| f.all_inst_iter_mut()) {
        if let Some(pointer) = instruction.result_id.and_then(|id| pointers.get(&id)) {
            instruction.result_type = Some(*pointer);
        }
    }
    for point in &mut module.entry_points {
        // Before the interface: the model, the function and its name.
        point.operands.retain(|operand| !matches!(operand, Operand::IdRef(id) if is_split(Some(*id))));
    }
    // Blocks become plain structures.
    let mut blocks: Vec<Word> = splits.iter().map(|split| split.pointee).collect();
    for block in &mut blocks {
        let types = &module.types_global_values;
        while let Some(element) = types
            .iter()
            .find(|i| i.result_id == Some(*block) && i.class.opcode == Op::TypeArray)
            .and_then(|i| word(i, 0))
        {
            *block = element;
        }
    }
    module.annotations.retain(|i| {
        let target = word(i, 0);
        let of_block = target.is_some_and(|id| blocks.contains(&id));
        match (i.class.opcode, i.operands.get(1), i.operands.get(2)) {
            (Op::Decorate, Some(Operand::Decoration(Decoration::Block)), _) => !of_block,
            (Op::Decorate, ..) => !is_split(target),
            (
                Op::MemberDecorate,
                _,
                Some(Operand::Decoration(
                    Decoration::Location
                    | Decoration::Offset
                    | Decoration::XfbBuffer
                    | Decoration::XfbStride
                    | Decoration::Stream,
                )),
            ) => !of_block,
            _ => true,
        }
    });
}

/// A pointer to what lies behind these indices of a variable.
pub(super) fn chain(
    module: &mut dr::Module,
    class: StorageClass,
    ty: Word,
    base: Word,
    path: &[u32],
    out: &mut Vec<Instruction>,
) -> Word {
    if path.is_empty() {
        return base;
    }
    let pointer = pointer_to(module, class, ty);
    let indices = path.iter().map(|index| Operand::IdRef(constant(module, *index)));
    let operands = std::iter::once(Operand::IdRef(base)).chain(indices).collect();
    let id = fresh(module);
    out.push(Instruction::new(Op::AccessChain, Some(pointer), Some(id), operands));
    id
}

/// Loads a value.
pub(super) fn load(module: &mut dr::Module, ty: Word, from: Word, out: &mut Vec<Instruction>) -> Word {
    let id = fresh(module);
    out.push(Instruction::new(Op::Load, Some(ty), Some(id), vec![Operand::IdRef(from)]));
    id
}

/// The first components of a vector, as a vector of another type or a scalar.
pub(super) fn narrow(module: &mut dr::Module, to: Word, value: Word, out: &mut Vec<Instruction>) -> Word {
    let wanted = super::index::vector_length(module, to);
    let id = fresh(module);
    let instruction = match wanted {
        1 => {
            let operands = vec![Operand::IdRef(value), Operand::LiteralBit32(0)];
            Instruction::new(Op::CompositeExtract, Some(to), Some(id), operands)
        }
        _ => {
            let numbers = (0..wanted).map(Operand::LiteralBit32);
            let operands = [Operand::IdRef(value), Operand::IdRef(value)].into_iter().chain(numbers).collect();
            Instruction::new(Op::VectorShuffle, Some(to), Some(id), operands)
        }
    };
    out.push(instruction);
    id
}
