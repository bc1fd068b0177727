//! Packs the variables between two stages into whole vectors, where they would not fit otherwise: GL counts components
//! (GL 3.3 core, sections 2.11.6 and 3.9.2), SPIR-V counts locations, of which every element of an array takes one.
//!
//! Each packed variable becomes a private copy. The copies of the stage that reads are filled from arrays of vectors where
//! its entry point begins; those of the stage that writes are stored into the same arrays where a vertex is complete. One
//! array holds scalars of one type and one way of interpolation.

use std::collections::{HashMap, HashSet};

use mgpipe_types::reflection::gl_type::Scalar;
use mgpipe_types::reflection::Stage;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use super::edit::{fresh, global, int_constant};
use crate::module::{operand, Module, Type, Variable, MAX_TYPE_DEPTH};
use crate::options::Limits;
use crate::reflect::{interface, StageModule};

/// Ways of interpolation and sampling; a bit each in [`Key`].
const QUALIFIERS: [Decoration; 4] =
    [Decoration::Flat, Decoration::NoPerspective, Decoration::Centroid, Decoration::Sample];

/// Most scalars of an interface that are looked at.
const MOST_SCALARS: usize = 4096;

/// What the scalars of one array have in common: their type and [`QUALIFIERS`].
type Key = (u32, u32);

/// One scalar of a variable.
#[derive(Clone)]
struct Leaf {
    /// Indices from the variable, without the one that counts vertices.
    path: Vec<u32>,
    scalar: Scalar,
    qualifiers: u32,
}

/// A variable that is packed.
struct Packed {
    variable: Variable,
    /// Number of vertices, for arrays of all vertices of a primitive.
    vertices: Option<u32>,
    leaves: Vec<Leaf>,
}

/// Where a scalar lies: its array, and which scalar of that.
type Place = (Key, u32);

/// Packs the interfaces that use more locations than the limits leave. What cannot be packed stays as it is.
///
/// `captured` locations of the last stage before rasterisation are taken by copies for transform feedback. Nothing else reads
/// that stage when it is the last one of a program that is `whole`.
pub(crate) fn pack(stages: &mut [StageModule], limits: &Limits, captured: u32, whole: bool) {
    for at in 1..stages.len() {
        let (before, after) = stages.split_at_mut(at);
        let (Some(producer), Some(consumer)) = (before.last_mut(), after.first_mut()) else { continue };
        let most = match (producer.module.stage, consumer.module.stage) {
            (Stage::Vertex, Stage::Geometry) => {
                limits.max_vertex_output_components.min(limits.max_geometry_input_components)
            }
            (Stage::Vertex, Stage::Fragment) => {
                limits.max_vertex_output_components.min(limits.max_fragment_input_components)
            }
            (Stage::Geometry, Stage::Fragment) => {
                limits.max_geometry_output_components.min(limits.max_fragment_input_components)
            }
            _ => continue,
        };
        let copies = if consumer.module.stage == Stage::Fragment { captured } else { 0 };
        let ends = [
            interface::location_end(&producer.module, &producer.uses, StorageClass::Output).saturating_add(copies),
            interface::location_end(&consumer.module, &consumer.uses, StorageClass::Input),
        ];
        if ends.iter().all(|end| end.saturating_mul(4) <= most) {
            continue;
        }
        let (Some(outputs), Some(inputs)) = (packable(producer, false), packable(consumer, true)) else { continue };
        let Some(plan) = plan(&outputs, &inputs) else { continue };
        apply(&mut consumer.module, inputs, &plan, true);
        apply(&mut producer.module, outputs, &plan, false);
        for stage in [producer, consumer] {
            stage.module.reindex();
            stage.uses = stage.module.uses();
        }
    }
    let Some(last) = stages.last_mut().filter(|_| whole && captured > 0) else { return };
    let most = match last.module.stage {
        Stage::Vertex => limits.max_vertex_output_components,
        Stage::Geometry => limits.max_geometry_output_components,
        _ => return,
    };
    let end = interface::location_end(&last.module, &last.uses, StorageClass::Output);
    if end.saturating_add(captured).saturating_mul(4) > most {
        if let Some(outputs) = packable(last, false) {
            apply(&mut last.module, outputs, &HashMap::new(), false);
            last.module.reindex();
            last.uses = last.module.uses();
        }
    }
}

/// The variables of an interface by their locations; `None` when one of them cannot be packed.
fn packable(stage: &StageModule, input: bool) -> Option<HashMap<u32, Packed>> {
    let module = &stage.module;
    let class = if input { StorageClass::Input } else { StorageClass::Output };
    let mut list = HashMap::new();
    let mut total = 0usize;
    for variable in module.variables().into_iter().filter(|v| v.class == class) {
        let mut pointee = variable.pointee;
        let mut vertices = None;
        if interface::is_per_vertex(module, &variable) {
            let Type::Array { element, length } = module.type_of(pointee) else { continue };
            (pointee, vertices) = (element, Some(length?));
        }
        let mut location = module.decoration(variable.id, Decoration::Location);
        if let Type::Struct { members } = module.type_of(pointee) {
            let indices = 0..members.len() as u32;
            if indices.clone().any(|m| module.member_built_in(pointee, m).is_some()) {
                continue;
            }
            let first = indices.filter_map(|m| module.member_decoration(pointee, m, Decoration::Location)).min();
            location = location.or(first);
        }
        if module.built_in(variable.id).is_some() || !stage.uses.variables.contains(&variable.id) {
            continue;
        }
        if module.decoration(variable.id, Decoration::Stream).unwrap_or(0) != 0
            || module.has(variable.id, Decoration::Component)
        {
            return None;
        }
        let mut leaves = Vec::new();
        let mut path = Vec::new();
        let qualifiers = of_variable(module, variable.id);
        scalars(module, pointee, qualifiers, &mut path, &mut leaves, 0)?;
        total += leaves.len() * vertices.unwrap_or(1) as usize;
        if total > MOST_SCALARS || !only_accessed(module, variable.id) {
            return None;
        }
        list.insert(location?, Packed { variable, vertices, leaves });
    }
    Some(list)
}

fn bits(has: impl Fn(Decoration) -> bool) -> u32 {
    QUALIFIERS.iter().enumerate().fold(0, |all, (i, q)| all | u32::from(has(*q)) << i)
}

fn of_variable(module: &Module, id: Word) -> u32 {
    bits(|q| module.has(id, q))
}

/// All scalars of a type; `None` for what cannot be packed.
fn scalars(
    module: &Module,
    id: Word,
    qualifiers: u32,
    path: &mut Vec<u32>,
    out: &mut Vec<Leaf>,
    depth: u32,
) -> Option<()> {
    if depth > MAX_TYPE_DEPTH || out.len() > MOST_SCALARS {
        return None;
    }
    let mut leaf = |path: &[u32], more: &[u32], scalar| {
        let path = path.iter().chain(more).copied().collect();
        out.push(Leaf { path, scalar, qualifiers });
    };
    match module.type_of(id) {
        Type::Plain { scalar: Scalar::Double | Scalar::Bool, .. } | Type::Opaque(_) | Type::Other => return None,
        Type::Plain { scalar, columns, rows } => {
            for column in 0..columns {
                for row in 0..rows {
                    match (columns, rows) {
                        (1, 1) => leaf(path, &[], scalar),
                        (1, _) => leaf(path, &[row], scalar),
                        _ => leaf(path, &[column, row], scalar),
                    }
                }
            }
        }
        Type::Array { element, length } => {
            for index in 0..length? {
                path.push(index);
                scalars(module, element, qualifiers, path, out, depth + 1)?;
                path.pop();
            }
        }
        Type::Struct { members } => {
            for (index, member) in members.iter().enumerate() {
                let index = index as u32;
                path.push(index);
                let own = qualifiers | bits(|q| module.member_has(id, index, q));
                scalars(module, *member, own, path, out, depth + 1)?;
                path.pop();
            }
        }
    }
    Some(())
}

/// Whether code only loads, stores and indexes the variable, so that its storage class can change.
fn only_accessed(module: &Module, variable: Word) -> bool {
    let mut pointers: HashSet<Word> = HashSet::from([variable]);
    module.dr.functions.iter().flat_map(|f| f.all_inst_iter()).all(|instruction| {
        let touches = instruction.operands.iter().any(|o| matches!(o, Operand::IdRef(id) if pointers.contains(id)));
        match instruction.class.opcode {
            _ if !touches => true,
            Op::AccessChain | Op::InBoundsAccessChain => {
                pointers.extend(instruction.result_id);
                true
            }
            Op::Load | Op::Store => true,
            _ => false,
        }
    })
}

/// A place for every scalar that the reading stage uses, by location and number of the scalar. `None` when the two sides do
/// not agree.
fn plan(outputs: &HashMap<u32, Packed>, inputs: &HashMap<u32, Packed>) -> Option<HashMap<(u32, usize), Place>> {
    let mut next: HashMap<Key, u32> = HashMap::new();
    let mut places = HashMap::new();
    let mut locations: Vec<&u32> = inputs.keys().collect();
    locations.sort_unstable();
    for location in locations {
        let input = inputs.get(location)?;
        let output = outputs.get(location)?;
        let same = input.leaves.len() == output.leaves.len();
        let mut pairs = input.leaves.iter().zip(&output.leaves);
        if !same || !pairs.all(|(a, b)| a.scalar == b.scalar && a.path == b.path) {
            return None;
        }
        for (number, leaf) in input.leaves.iter().enumerate() {
            let key = (leaf.scalar as u32, leaf.qualifiers);
            let at = next.entry(key).or_default();
            places.insert((*location, number), (key, *at));
            *at += 1;
        }
    }
    Some(places)
}

/// The array for the scalars of one key in one module.
struct Carrier {
    id: Word,
    /// Pointer to one scalar of it.
    pointer: Word,
    scalar: Word,
}

/// Makes the variables of one side private and moves their scalars through the arrays.
fn apply(module: &mut Module, variables: HashMap<u32, Packed>, plan: &HashMap<(u32, usize), Place>, input: bool) {
    let class = if input { StorageClass::Input } else { StorageClass::Output };
    let vertices = variables.values().find_map(|v| v.vertices);
    let mut list: Vec<(u32, Packed)> = variables.into_iter().collect();
    list.sort_unstable_by_key(|(location, _)| *location);
    let ids: HashSet<Word> = list.iter().map(|(_, v)| v.variable.id).collect();
    strip(module, &list);
    let chains = chains_into(module, &ids);
    module.dr.types_global_values.retain(|i| i.result_id.is_none_or(|id| !ids.contains(&id)));
    for (_, packed) in &list {
        let pointer = pointer_to(module, StorageClass::Private, packed.variable.pointee);
        variable(module, packed.variable.id, pointer, StorageClass::Private);
    }
    let entry = module.dr.entry_points.first().and_then(|e| operand(e, 1));
    if let Some(point) = module.dr.entry_points.first_mut() {
        point.operands.retain(|o| !matches!(o, Operand::IdRef(id) if ids.contains(id)));
    }
    retype(module, &chains);
    let carriers = carriers(module, plan, class, vertices);
    // One list of instructions for everything; every id in it is fresh each time.
    let mut moves: Vec<(Word, Vec<u32>, Key, Vec<u32>)> = Vec::new();
    for (location, packed) in &list {
        for vertex in 0..packed.vertices.unwrap_or(1) {
            let outer = packed.vertices.map(|_| vertex);
            for (number, leaf) in packed.leaves.iter().enumerate() {
                let Some((key, at)) = plan.get(&(*location, number)) else { continue };
                let own = outer.into_iter().chain(leaf.path.iter().copied()).collect();
                let carried = outer.into_iter().chain([at / 4, at % 4]).collect();
                moves.push((packed.variable.id, own, *key, carried));
            }
        }
    }
    let Some(entry) = entry else { return };
    let geometry = module.stage == Stage::Geometry;
    let mut functions = std::mem::take(&mut module.dr.functions);
    for function in &mut functions {
        let is_entry = function.def.as_ref().and_then(|d| d.result_id) == Some(entry);
        for (number, block) in function.blocks.iter_mut().enumerate() {
            let old = std::mem::take(&mut block.instructions);
            let mut filled = !(input && is_entry && number == 0);
            for instruction in old {
                let here = match instruction.class.opcode {
                    // Variables of the function come first in its first block.
                    Op::Variable | Op::Line | Op::NoLine => false,
                    _ if input => !std::mem::replace(&mut filled, true),
                    Op::EmitVertex | Op::EmitStreamVertex => geometry,
                    Op::Return => is_entry && !geometry,
                    _ => false,
                };
                if here {
                    emit(module, &moves, &carriers, input, &mut block.instructions);
                }
                block.instructions.push(instruction);
            }
        }
    }
    module.dr.functions = functions;
}

/// Takes the decorations of interfaces off the variables and their blocks.
fn strip(module: &mut Module, list: &[(u32, Packed)]) {
    let mut plain: HashSet<Word> = list.iter().map(|(_, packed)| packed.variable.id).collect();
    for (_, packed) in list {
        let mut id = packed.variable.pointee;
        while let Type::Array { element, .. } = module.type_of(id) {
            id = element;
        }
        plain.insert(id);
    }
    let variables = list.iter().map(|(_, packed)| packed.variable.id);
    let blocks = plain.iter().copied().filter(|id| module.has(*id, Decoration::Block));
    let private: Vec<Word> = variables.chain(blocks).collect();
    module.packed.extend(private);
    module.dr.annotations.retain(|i| {
        let decoration = match (i.class.opcode, i.operands.get(1), i.operands.get(2)) {
            (Op::Decorate, Some(Operand::Decoration(d)), _) => *d,
            (Op::MemberDecorate, _, Some(Operand::Decoration(d))) => *d,
            _ => return true,
        };
        let of_interfaces = QUALIFIERS.contains(&decoration)
            || matches!(
                decoration,
                Decoration::Location | Decoration::Block | Decoration::Invariant | Decoration::Stream
            );
        !(of_interfaces && operand(i, 0).is_some_and(|id| plain.contains(&id)))
    });
}

/// Finds the access chains into the variables, with the type that each points to.
fn chains_into(module: &Module, ids: &HashSet<Word>) -> HashMap<Word, Word> {
    let mut pointers = ids.clone();
    let mut chains = HashMap::new();
    for instruction in module.dr.functions.iter().flat_map(|f| f.all_inst_iter()) {
        let chain = matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain);
        if !chain || !operand(instruction, 0).is_some_and(|base| pointers.contains(&base)) {
            continue;
        }
        let (Some(id), Some(pointer)) = (instruction.result_id, instruction.result_type) else { continue };
        pointers.insert(id);
        chains.extend(module.definition(pointer).and_then(|p| operand(p, 1)).map(|pointee| (id, pointee)));
    }
    chains
}

/// Lets the access chains point into private memory.
fn retype(module: &mut Module, chains: &HashMap<Word, Word>) {
    let mut types: HashMap<Word, Word> = HashMap::new();
    for pointee in chains.values() {
        if !types.contains_key(pointee) {
            let pointer = pointer_to(module, StorageClass::Private, *pointee);
            types.insert(*pointee, pointer);
        }
    }
    for instruction in module.dr.functions.iter_mut().flat_map(|f| f.all_inst_iter_mut()) {
        let pointee = instruction.result_id.and_then(|id| chains.get(&id));
        if let Some(pointer) = pointee.and_then(|pointee| types.get(pointee)) {
            instruction.result_type = Some(*pointer);
        }
    }
}

fn pointer_to(module: &mut Module, class: StorageClass, pointee: Word) -> Word {
    global(&mut module.dr, Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(pointee)])
}

fn variable(module: &mut Module, id: Word, pointer: Word, class: StorageClass) {
    let operands = vec![Operand::StorageClass(class)];
    module.dr.types_global_values.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
}

/// Declares the arrays that carry the scalars.
fn carriers(
    module: &mut Module,
    plan: &HashMap<(u32, usize), Place>,
    class: StorageClass,
    vertices: Option<u32>,
) -> HashMap<Key, Carrier> {
    let mut counts: HashMap<Key, u32> = HashMap::new();
    for (key, at) in plan.values() {
        let count = counts.entry(*key).or_default();
        *count = (*count).max(at + 1);
    }
    let mut keys: Vec<(Key, u32)> = counts.into_iter().collect();
    keys.sort_unstable();
    let mut location = 0;
    let mut made = HashMap::new();
    for (key, count) in keys {
        let dr = &mut module.dr;
        let bit_width = Operand::LiteralBit32(32);
        let scalar = match key.0 {
            k if k == Scalar::Int as u32 => global(dr, Op::TypeInt, None, vec![bit_width, Operand::LiteralBit32(1)]),
            k if k == Scalar::Uint as u32 => global(dr, Op::TypeInt, None, vec![bit_width, Operand::LiteralBit32(0)]),
            _ => global(dr, Op::TypeFloat, None, vec![bit_width]),
        };
        let vector = global(dr, Op::TypeVector, None, vec![Operand::IdRef(scalar), Operand::LiteralBit32(4)]);
        let n_vectors = count.div_ceil(4);
        let mut array_of = |element, length: u32| {
            let length = int_constant(dr, length as i32);
            // An array type that is there already may have the stride of a block.
            let id = fresh(dr);
            let operands = vec![Operand::IdRef(element), Operand::IdRef(length)];
            dr.types_global_values.push(Instruction::new(Op::TypeArray, None, Some(id), operands));
            id
        };
        let mut pointee = array_of(vector, n_vectors);
        if let Some(vertices) = vertices {
            pointee = array_of(pointee, vertices);
        }
        let whole = pointer_to(module, class, pointee);
        let pointer = pointer_to(module, class, scalar);
        let id = fresh(&mut module.dr);
        variable(module, id, whole, class);
        let name = vec![Operand::IdRef(id), Operand::LiteralString(format!("mgl_packed_{}_{}", key.0, key.1))];
        module.dr.debug_names.push(Instruction::new(Op::Name, None, None, name));
        if let Some(entry) = module.dr.entry_points.first_mut() {
            entry.operands.push(Operand::IdRef(id));
        }
        module.dr.annotations.push(super::decorate(id, Decoration::Location, location));
        // Only the fragment shader interpolates.
        let fragment = module.stage == Stage::Fragment && class == StorageClass::Input;
        for (bit, qualifier) in QUALIFIERS.iter().enumerate().filter(|_| fragment) {
            if key.1 & 1 << bit != 0 {
                let operands = vec![Operand::IdRef(id), Operand::Decoration(*qualifier)];
                module.dr.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
            }
        }
        location += n_vectors;
        made.insert(key, Carrier { id, pointer, scalar });
    }
    made
}

/// Loads and stores for all scalars: from the arrays into the private copies, or the other way.
fn emit(
    module: &mut Module,
    moves: &[(Word, Vec<u32>, Key, Vec<u32>)],
    carriers: &HashMap<Key, Carrier>,
    input: bool,
    out: &mut Vec<Instruction>,
) {
    let mut constants: HashMap<u32, Word> = HashMap::new();
    let mut private: HashMap<Word, Word> = HashMap::new();
    for (variable, own, key, carried) in moves {
        let Some(carrier) = carriers.get(key) else { continue };
        let own_pointer = *private
            .entry(carrier.scalar)
            .or_insert_with_key(|scalar| pointer_to(module, StorageClass::Private, *scalar));
        let mut chain = |pointer, base: Word, path: &[u32], out: &mut Vec<Instruction>| {
            if path.is_empty() {
                return base;
            }
            let mut operands = vec![Operand::IdRef(base)];
            for index in path {
                let constant = constants.entry(*index).or_insert_with(|| int_constant(&mut module.dr, *index as i32));
                operands.push(Operand::IdRef(*constant));
            }
            let id = fresh(&mut module.dr);
            out.push(Instruction::new(Op::AccessChain, Some(pointer), Some(id), operands));
            id
        };
        let mine = chain(own_pointer, *variable, own, out);
        let theirs = chain(carrier.pointer, carrier.id, carried, out);
        let (from, to) = if input { (theirs, mine) } else { (mine, theirs) };
        let value = fresh(&mut module.dr);
        out.push(Instruction::new(Op::Load, Some(carrier.scalar), Some(value), vec![Operand::IdRef(from)]));
        out.push(Instruction::new(Op::Store, None, None, vec![Operand::IdRef(to), Operand::IdRef(value)]));
    }
}
