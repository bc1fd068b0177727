//! Rectangle textures become 2D textures: Vulkan has no rectangle dimension.
//!
//! Sampling takes texel coordinates in GL, so every sampling instruction gets its coordinate (and gradients) divided by
//! the size of level 0, rounded up a little: a coordinate between two texels belongs to the one that begins there, and
//! must not fall below when the device multiplies again. Fetches and size queries only change their form.

use std::collections::{HashMap, HashSet};

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Capability, Dim, ImageOperands, Op, Word};

use super::edit::{
    add_capability, float_constant, float_type, fresh, int_constant, int_type, remove_capability, vector_type,
};
use crate::module::{operand, Module};

/// What coordinates are multiplied by besides: the division, the product and the device's own product lose at most one and
/// a half units in the last place, and this adds two. In the greatest images it is a few thousandths of a texel.
const ROUND_UP: f32 = 1.0 + 2.0 * f32::EPSILON;

/// Lowers all rectangle images of the module.
pub(crate) fn lower(module: &mut Module) {
    let dr = &mut module.dr;
    let mut images: HashSet<Word> = HashSet::new();
    let mut sampled: HashMap<Word, Word> = HashMap::new();
    for instruction in &mut dr.types_global_values {
        let Some(id) = instruction.result_id else { continue };
        match instruction.class.opcode {
            Op::TypeImage if instruction.operands.get(1) == Some(&Operand::Dim(Dim::DimRect)) => {
                if let Some(dim) = instruction.operands.get_mut(1) {
                    *dim = Operand::Dim(Dim::Dim2D);
                }
                images.insert(id);
            }
            Op::TypeSampledImage => {
                if let Some(image) = operand(instruction, 0).filter(|image| images.contains(image)) {
                    sampled.insert(id, image);
                }
            }
            _ => {}
        }
    }
    if images.is_empty() {
        return;
    }
    remove_capability(dr, Capability::SampledRect);
    remove_capability(dr, Capability::ImageRect);
    let mut functions = std::mem::take(&mut dr.functions);
    let mut types: HashMap<Word, Word> = HashMap::new();
    for instruction in functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.instructions) {
        if let (Some(id), Some(result_type)) = (instruction.result_id, instruction.result_type) {
            types.insert(id, result_type);
        }
    }
    // Types of global constants used as coordinates.
    for instruction in &dr.types_global_values {
        if let (Some(id), Some(result_type)) = (instruction.result_id, instruction.result_type) {
            types.insert(id, result_type);
        }
    }
    for block in functions.iter_mut().flat_map(|f| &mut f.blocks) {
        let old = std::mem::take(&mut block.instructions);
        for mut instruction in old {
            let image_type = operand(&instruction, 0).and_then(|id| types.get(&id)).copied();
            match instruction.class.opcode {
                op if samples(op) => {
                    if let Some(image) = image_type.and_then(|t| sampled.get(&t)) {
                        scale(module, *image, &types, &mut instruction, &mut block.instructions);
                    }
                }
                Op::ImageFetch if image_type.is_some_and(|t| images.contains(&t)) => {
                    let zero = int_constant(&mut module.dr, 0);
                    add_lod(&mut instruction, zero);
                }
                Op::ImageQuerySize if image_type.is_some_and(|t| images.contains(&t)) => {
                    let storage = image_type
                        .and_then(|t| module.dr.types_global_values.iter().find(|i| i.result_id == Some(t)))
                        .is_some_and(|i| operand(i, 5) == Some(2));
                    if !storage {
                        let zero = int_constant(&mut module.dr, 0);
                        let mut operands = instruction.operands.clone();
                        operands.push(Operand::IdRef(zero));
                        instruction = Instruction::new(
                            Op::ImageQuerySizeLod,
                            instruction.result_type,
                            instruction.result_id,
                            operands,
                        );
                        add_capability(&mut module.dr, Capability::ImageQuery);
                    }
                }
                _ => {}
            }
            block.instructions.push(instruction);
        }
    }
    module.dr.functions = functions;
    merge_duplicates(module);
    module.reindex();
}

fn samples(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather
    )
}

/// Puts the division in front of a sampling instruction.
fn scale(
    module: &mut Module,
    image_type: Word,
    types: &HashMap<Word, Word>,
    instruction: &mut Instruction,
    output: &mut Vec<Instruction>,
) {
    let (Some(sampled), Some(coordinate)) = (operand(instruction, 0), operand(instruction, 1)) else { return };
    let Some(coordinate_type) = types.get(&coordinate).copied() else { return };
    let count = module
        .dr
        .types_global_values
        .iter()
        .find(|i| i.result_id == Some(coordinate_type))
        .filter(|i| i.class.opcode == Op::TypeVector)
        .and_then(|i| operand(i, 1));
    let Some(count) = count.filter(|c| (2..=4).contains(c)) else { return };
    let dr = &mut module.dr;
    add_capability(dr, Capability::ImageQuery);
    let (int, float) = (int_type(dr), float_type(dr));
    let (ivec2, vec2) = (vector_type(dr, int, 2), vector_type(dr, float, 2));
    let (zero, one, more) = (int_constant(dr, 0), float_constant(dr, 1.0), float_constant(dr, ROUND_UP));
    let mut emit = |dr: &mut rspirv::dr::Module, op, result_type, ids: &[Word]| {
        let id = fresh(dr);
        let operands = ids.iter().map(|id| Operand::IdRef(*id)).collect();
        output.push(Instruction::new(op, Some(result_type), Some(id), operands));
        id
    };
    let image = emit(dr, Op::Image, image_type, &[sampled]);
    let size = emit(dr, Op::ImageQuerySizeLod, ivec2, &[image, zero]);
    let size = emit(dr, Op::ConvertSToF, vec2, &[size]);
    let more = emit(dr, Op::CompositeConstruct, vec2, &[more, more]);
    let inverse = emit(dr, Op::FDiv, vec2, &[more, size]);
    let factor = match count {
        2 => inverse,
        3 => emit(dr, Op::CompositeConstruct, coordinate_type, &[inverse, one]),
        _ => emit(dr, Op::CompositeConstruct, coordinate_type, &[inverse, one, one]),
    };
    let scaled = emit(dr, Op::FMul, coordinate_type, &[coordinate, factor]);
    if let Some(slot) = instruction.operands.get_mut(1) {
        *slot = Operand::IdRef(scaled);
    }
    // Gradients follow the operand mask and, in mask order, bias and lod.
    let mask_at = instruction.operands.iter().position(|o| matches!(o, Operand::ImageOperands(_)));
    let Some(mask_at) = mask_at else { return };
    let Some(Operand::ImageOperands(mask)) = instruction.operands.get(mask_at).cloned() else { return };
    if !mask.contains(ImageOperands::GRAD) {
        return;
    }
    let before = [ImageOperands::BIAS, ImageOperands::LOD].iter().filter(|b| mask.contains(**b)).count();
    for at in [mask_at + 1 + before, mask_at + 2 + before] {
        if let Some(gradient) = operand(instruction, at) {
            let new = emit(dr, Op::FMul, vec2, &[gradient, inverse]);
            if let Some(slot) = instruction.operands.get_mut(at) {
                *slot = Operand::IdRef(new);
            }
        }
    }
}

/// Gives a fetch the level 0 that a 2D texture needs.
fn add_lod(instruction: &mut Instruction, zero: Word) {
    match instruction.operands.get_mut(2) {
        Some(Operand::ImageOperands(mask)) => {
            if !mask.contains(ImageOperands::LOD) {
                *mask |= ImageOperands::LOD;
                instruction.operands.insert(3, Operand::IdRef(zero));
            }
        }
        _ => {
            instruction.operands.push(Operand::ImageOperands(ImageOperands::LOD));
            instruction.operands.push(Operand::IdRef(zero));
        }
    }
}

/// Image and sampled-image types may be declared only once: later ones equal to an earlier one are replaced by it.
fn merge_duplicates(module: &mut Module) {
    let mut known: Vec<(Op, Vec<Operand>, Word)> = Vec::new();
    let mut renamed: HashMap<Word, Word> = HashMap::new();
    let mut kept = Vec::with_capacity(module.dr.types_global_values.len());
    for mut instruction in std::mem::take(&mut module.dr.types_global_values) {
        rename(&mut instruction, &renamed);
        let unique = matches!(instruction.class.opcode, Op::TypeImage | Op::TypeSampledImage);
        if let Some(id) = instruction.result_id.filter(|_| unique) {
            let first = known
                .iter()
                .find(|(op, operands, _)| *op == instruction.class.opcode && *operands == instruction.operands);
            if let Some((.., first)) = first {
                renamed.insert(id, *first);
                continue;
            }
            known.push((instruction.class.opcode, instruction.operands.clone(), id));
        }
        kept.push(instruction);
    }
    module.dr.types_global_values = kept;
    if renamed.is_empty() {
        return;
    }
    module.dr.debug_names.retain(|i| operand(i, 0).is_none_or(|id| !renamed.contains_key(&id)));
    module.dr.annotations.retain(|i| operand(i, 0).is_none_or(|id| !renamed.contains_key(&id)));
    for function in &mut module.dr.functions {
        for instruction in function.all_inst_iter_mut() {
            rename(instruction, &renamed);
        }
    }
}

fn rename(instruction: &mut Instruction, renamed: &HashMap<Word, Word>) {
    if let Some(new) = instruction.result_type.and_then(|t| renamed.get(&t)) {
        instruction.result_type = Some(*new);
    }
    for operand in &mut instruction.operands {
        if let Operand::IdRef(id) = operand {
            if let Some(new) = renamed.get(id) {
                *id = *new;
            }
        }
    }
}
