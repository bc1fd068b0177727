//! Inputs and outputs whose types ESSL does not allow, taken apart into ones of simple types.
//!
//! ESSL has no arrays of vertex inputs and no two of them at one location, and among the variables between stages neither
//! arrays of arrays or structures nor structures with arrays or structures. Such a variable becomes a private one. Its pieces
//! are inputs, which are read where the entry point begins, or outputs, which are written where a vertex is complete. Outputs
//! that nobody reads or captures are left private.

mod clip;
mod edit;
mod index;

use index::{illegal_types, Index, Kind, Leaf};
use mgpipe_types::reflection::{InterfaceVariable, Stage};
use rspirv::binary::Assemble;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass, Word};
use std::collections::HashMap;

/// A variable that is taken apart.
pub(crate) struct Split {
    id: Word,
    pointee: Word,
    class: StorageClass,
    /// For arrays over the vertices of a primitive: the length, and the constant that holds it.
    vertices: Option<(u32, Word)>,
    pieces: Vec<Piece>,
}

/// A piece and the variable that it lies in.
struct Piece {
    leaf: Leaf,
    /// Index into the new variables.
    carrier: usize,
}

/// An input or output of simple type.
struct Carrier {
    class: StorageClass,
    ty: Word,
    location: u32,
    vertices: Option<Word>,
    qualifiers: Vec<Decoration>,
    captured: Option<(u32, u32)>,
}

/// Takes apart what has to be in the stages of a program, which are in the order of the pipeline. Stages that need nothing, and
/// words that are no SPIR-V, stay as they are. `inputs` are the program's attributes.
pub(crate) fn split(stages: &mut [(Stage, Vec<u32>)], inputs: &[InterfaceVariable]) {
    if let Some((_, words)) = stages.iter_mut().find(|(stage, _)| *stage == Stage::Vertex) {
        if let Some(placed) = with_places(words, inputs) {
            *words = placed;
        }
    }
    if !stages.iter().any(|(stage, words)| illegal_types(*stage, words)) {
        return;
    }
    let mut modules: Vec<(Stage, dr::Module)> = Vec::new();
    for (stage, words) in stages.iter() {
        match dr::load_words(words) {
            Ok(module) => modules.push((*stage, module)),
            Err(_) => return,
        }
    }
    for at in 0..modules.len() {
        let reader = modules.get(at + 1).map(|(_, module)| Index::new(module).input_locations());
        let (stage, module) = &mut modules[at];
        let plan = plan(*stage, module, &reader.unwrap_or_default());
        let mut changed = *stage == Stage::Geometry && clip::copy(module);
        if !plan.0.is_empty() {
            apply(*stage, module, plan);
            changed = true;
        }
        if changed {
            stages[at].1 = module.assemble();
        }
    }
}

/// A vertex shader whose attributes lie where the application has put them, when it has put some of one kind at one location,
/// which the linker undoes. `None` when it has not.
fn with_places(words: &[u32], inputs: &[InterfaceVariable]) -> Option<Vec<u32>> {
    let moved: HashMap<u32, u32> = inputs
        .iter()
        .filter_map(|v| Some((u32::try_from(v.spirv_location).ok()?, u32::try_from(v.location).ok()?)))
        .filter(|(linked, wanted)| linked != wanted)
        .collect();
    if moved.is_empty() {
        return None;
    }
    let mut module = dr::load_words(words).ok()?;
    let attributes: Vec<Word> = Index::new(&module)
        .variables()
        .into_iter()
        .filter(|(_, class, _)| *class == StorageClass::Input)
        .map(|(id, ..)| id)
        .collect();
    for i in &mut module.annotations {
        let is_place = i.operands.get(1) == Some(&Operand::Decoration(Decoration::Location));
        if !is_place || !index::word(i, 0).is_some_and(|id| attributes.contains(&id)) {
            continue;
        }
        if let Some(Operand::LiteralBit32(location)) = i.operands.get_mut(2) {
            *location = moved.get(location).copied().unwrap_or(*location);
        }
    }
    (!Index::new(&module).aliased_inputs().is_empty()).then(|| module.assemble())
}

/// What a stage's variables become. `read` are the locations that the next stage reads.
fn plan(stage: Stage, module: &dr::Module, read: &[u32]) -> (Vec<Split>, Vec<Carrier>) {
    let index = Index::new(module);
    let mut splits = Vec::new();
    let mut carriers = Vec::new();
    let aliases = if stage == Stage::Vertex { index.aliased_inputs() } else { Vec::new() };
    for (id, class, pointee) in index.variables() {
        let attribute = stage == Stage::Vertex && class == StorageClass::Input;
        let mut ty = pointee;
        let mut vertices = None;
        if stage == Stage::Geometry && class == StorageClass::Input {
            let Some((element, length, constant)) = index.array(pointee) else { continue };
            (ty, vertices) = (element, Some((length, constant)));
        }
        let aliased = attribute && aliases.contains(&id);
        let legal = if attribute { matches!(index.kind(ty), Kind::Plain { .. }) } else { index.is_legal(ty) };
        let between = matches!((stage, class), (Stage::Vertex | Stage::Geometry, StorageClass::Output))
            || matches!((stage, class), (Stage::Geometry | Stage::Fragment, StorageClass::Input));
        if !(attribute || between) || (legal && !aliased) || index.has(id, Decoration::Component) {
            continue;
        }
        let Some(leaves) = index.leaves(id, ty, attribute, aliased) else { continue };
        if !index.is_only_accessed(id) {
            continue;
        }
        let mut pieces = Vec::new();
        for leaf in leaves {
            if class == StorageClass::Output && leaf.captured.is_none() && !read.contains(&leaf.location) {
                continue;
            }
            let shared = carriers.iter().position(|c: &Carrier| {
                // Attributes alone share.
                aliased && c.class == class && c.location == leaf.location
            });
            let carrier = shared.unwrap_or(carriers.len());
            if shared.is_none() {
                carriers.push(Carrier {
                    class,
                    ty: leaf.ty,
                    location: leaf.location,
                    vertices: vertices.map(|(_, constant)| constant),
                    qualifiers: leaf.qualifiers.clone(),
                    captured: leaf.captured,
                });
            } else if index.components(leaf.ty) > index.components(carriers[carrier].ty) {
                // The widest of those at one location holds them all.
                carriers[carrier].ty = leaf.ty;
            }
            pieces.push(Piece { leaf, carrier });
        }
        splits.push(Split { id, pointee, class, vertices, pieces });
    }
    (splits, carriers)
}

/// Makes the variables private and moves their pieces.
fn apply(stage: Stage, module: &mut dr::Module, (splits, carriers): (Vec<Split>, Vec<Carrier>)) {
    edit::make_private(module, &splits);
    let made: Vec<Word> = carriers.iter().map(|carrier| declare(module, carrier)).collect();
    let entry = module.entry_points.first().and_then(|e| index::word(e, 1));
    let mut functions = std::mem::take(&mut module.functions);
    for function in &mut functions {
        let is_entry = function.def.as_ref().and_then(|d| d.result_id) == entry;
        for (number, block) in function.blocks.iter_mut().enumerate() {
            let mut filled = !(is_entry && number == 0);
            for instruction in std::mem::take(&mut block.instructions) {
                let op = instruction.class.opcode;
                // Variables of the function come first in its first block.
                if !filled && !matches!(op, Op::Variable | Op::Line | Op::NoLine) {
                    filled = true;
                    moves(module, &splits, &carriers, &made, StorageClass::Input, &mut block.instructions);
                }
                let complete = match stage {
                    Stage::Geometry => matches!(op, Op::EmitVertex | Op::EmitStreamVertex),
                    _ => is_entry && op == Op::Return,
                };
                if complete {
                    moves(module, &splits, &carriers, &made, StorageClass::Output, &mut block.instructions);
                }
                block.instructions.push(instruction);
            }
        }
    }
    module.functions = functions;
}

/// Declares a variable of simple type.
fn declare(module: &mut dr::Module, carrier: &Carrier) -> Word {
    let mut ty = carrier.ty;
    if let Some(length) = carrier.vertices {
        ty = edit::global(module, Op::TypeArray, vec![Operand::IdRef(ty), Operand::IdRef(length)]);
    }
    let id = edit::variable(module, carrier.class, ty);
    if let Some(point) = module.entry_points.first_mut() {
        point.operands.push(Operand::IdRef(id));
    }
    // A name, which what captures it may change.
    let name = format!("mgl_piece_{}", carrier.location);
    module.debug_names.push(Instruction::new(
        Op::Name,
        None,
        None,
        vec![Operand::IdRef(id), Operand::LiteralString(name)],
    ));
    let mut decorate = |decoration, value: Option<u32>| {
        let mut operands = vec![Operand::IdRef(id), Operand::Decoration(decoration)];
        operands.extend(value.map(Operand::LiteralBit32));
        module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    };
    decorate(Decoration::Location, Some(carrier.location));
    for qualifier in &carrier.qualifiers {
        decorate(*qualifier, None);
    }
    if let Some((buffer, offset)) = carrier.captured {
        decorate(Decoration::XfbBuffer, Some(buffer));
        decorate(Decoration::Offset, Some(offset));
    }
    id
}

/// Copies all pieces of inputs in, or all of outputs out.
fn moves(
    module: &mut dr::Module,
    splits: &[Split],
    carriers: &[Carrier],
    made: &[Word],
    class: StorageClass,
    out: &mut Vec<Instruction>,
) {
    for split in splits.iter().filter(|split| split.class == class) {
        for vertex in 0..split.vertices.map_or(1, |(length, _)| length) {
            let vertex = split.vertices.map(|_| vertex);
            for piece in &split.pieces {
                let (leaf, carrier) = (&piece.leaf, &carriers[piece.carrier]);
                let own: Vec<u32> = vertex.into_iter().chain(leaf.path.iter().copied()).collect();
                let theirs: Vec<u32> = vertex.into_iter().collect();
                let mine = edit::chain(module, StorageClass::Private, leaf.ty, split.id, &own, out);
                let other = edit::chain(module, class, carrier.ty, made[piece.carrier], &theirs, out);
                let (from, to) = if class == StorageClass::Input { (other, mine) } else { (mine, other) };
                let mut value = edit::load(module, carrier.ty, from, out);
                if carrier.ty != leaf.ty {
                    value = edit::narrow(module, leaf.ty, value, out);
                }
                out.push(Instruction::new(Op::Store, None, None, vec![Operand::IdRef(to), Operand::IdRef(value)]));
            }
        }
    }
}

#[cfg(test)]
mod tests;
