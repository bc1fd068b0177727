//! Patches of SPIR-V modules that depend on state: point size, clip depth, the origin of point coordinates.

use crate::shader::Variant;
use mgpipe_types::reflection::Stage;
use mgpipe_types::{PipeError, PipeResult};
use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Capability, Decoration, Op, StorageClass};

/// A copy of a module with the variant's changes.
///
/// # Errors
/// [`PipeError::Protocol`] for words that are no module.
pub(crate) fn patch(words: &[u32], stage: Stage, variant: Variant) -> PipeResult<Vec<u32>> {
    if !is_well_framed(words) {
        return Err(PipeError::Protocol("SPIR-V that is cut off".into()));
    }
    let module = rspirv::dr::load_words(words).map_err(|error| PipeError::Protocol(format!("SPIR-V: {error:?}")))?;
    let mut patcher = Patcher::new(module, stage)?;
    if variant.point_size {
        patcher.write_point_size();
    }
    if variant.convert_depth {
        patcher.convert_depth();
    }
    if variant.disabled_clips != 0 {
        patcher.disable_clips(variant.disabled_clips);
    }
    if variant.mirror_point_coord {
        patcher.mirror_point_coord();
    }
    Ok(patcher.finish())
}

/// Whether a module decorates anything as flat. Of a fragment stage that is an input.
pub(crate) fn has_flat(words: &[u32]) -> bool {
    let mut rest = words.get(5..).unwrap_or_default();
    while let [first, ..] = rest {
        let (length, opcode) = ((first >> 16) as usize, first & 0xffff);
        let decoration = match opcode {
            _ if opcode == Op::Decorate as u32 => 2,
            _ if opcode == Op::MemberDecorate as u32 => 3,
            _ => usize::MAX,
        };
        if decoration < length && rest.get(decoration) == Some(&(Decoration::Flat as u32)) {
            return true;
        }
        // Decorations come before all functions.
        rest = match rest.get(length..) {
            Some(next) if length > 0 && opcode != Op::Function as u32 => next,
            _ => return false,
        };
    }
    false
}

/// Whether the instructions' lengths add up to the module's. The parser takes that for granted.
fn is_well_framed(words: &[u32]) -> bool {
    let mut rest = match words.split_at_checked(5) {
        Some((header, rest)) if header[0] == 0x0723_0203 => rest,
        _ => return false,
    };
    while let Some(first) = rest.first() {
        let length = (first >> 16) as usize;
        match rest.get(length..) {
            Some(next) if length > 0 => rest = next,
            _ => return false,
        }
    }
    true
}

struct Patcher {
    module: Module,
    stage: Stage,
    next: u32,
    /// Function of the entry point.
    entry: u32,
}

/// Where a built-in lives: a variable, or a member of a block variable.
#[derive(Clone, Copy, Debug)]
struct Place {
    variable: u32,
    member: Option<u32>,
}

fn inst(op: Op, ty: Option<u32>, id: Option<u32>, operands: Vec<Operand>) -> Instruction {
    Instruction::new(op, ty, id, operands)
}

fn id_at(instruction: &Instruction, index: usize) -> Option<u32> {
    match instruction.operands.get(index) {
        Some(Operand::IdRef(id)) => Some(*id),
        _ => None,
    }
}

impl Patcher {
    fn new(module: Module, stage: Stage) -> PipeResult<Patcher> {
        let next = module.header.as_ref().map_or(0, |header| header.bound);
        let entry = module
            .entry_points
            .iter()
            .find_map(|entry| id_at(entry, 1))
            .ok_or_else(|| PipeError::Protocol("SPIR-V without an entry point".into()))?;
        Ok(Patcher { module, stage, next, entry })
    }

    fn finish(mut self) -> Vec<u32> {
        if let Some(header) = &mut self.module.header {
            header.bound = self.next;
        }
        self.module.assemble()
    }

    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// A type or constant that equals the instruction, found or made.
    fn global(&mut self, op: Op, ty: Option<u32>, operands: Vec<Operand>) -> u32 {
        let found = self
            .module
            .types_global_values
            .iter()
            .find(|i| i.class.opcode == op && i.result_type == ty && i.operands == operands && op != Op::Variable);
        if let Some(id) = found.and_then(|i| i.result_id) {
            return id;
        }
        let id = self.id();
        self.module.types_global_values.push(inst(op, ty, Some(id), operands));
        id
    }

    fn float(&mut self) -> u32 {
        // Later versions of the instruction carry an encoding operand; plain 32-bit floats do not.
        self.global(Op::TypeFloat, None, vec![Operand::LiteralBit32(32)])
    }

    fn vector(&mut self, count: u32) -> u32 {
        let float = self.float();
        self.global(Op::TypeVector, None, vec![Operand::IdRef(float), Operand::LiteralBit32(count)])
    }

    fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        self.global(Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(to)])
    }

    fn float_constant(&mut self, value: f32) -> u32 {
        let float = self.float();
        self.global(Op::Constant, Some(float), vec![Operand::LiteralBit32(value.to_bits())])
    }

    fn int_constant(&mut self, value: u32) -> u32 {
        let int = self.global(Op::TypeInt, None, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(1)]);
        self.global(Op::Constant, Some(int), vec![Operand::LiteralBit32(value)])
    }

    fn variable(&mut self, class: StorageClass, pointee: u32) -> u32 {
        let pointer = self.pointer(class, pointee);
        let id = self.id();
        self.module.types_global_values.push(inst(
            Op::Variable,
            Some(pointer),
            Some(id),
            vec![Operand::StorageClass(class)],
        ));
        id
    }

    fn decorate(&mut self, target: u32, decoration: Decoration, extra: Vec<Operand>) {
        let mut operands = vec![Operand::IdRef(target), Operand::Decoration(decoration)];
        operands.extend(extra);
        self.module.annotations.push(inst(Op::Decorate, None, None, operands));
    }

    fn add_interface(&mut self, variable: u32) {
        for entry in &mut self.module.entry_points {
            entry.operands.push(Operand::IdRef(variable));
        }
    }

    fn pointee(&self, variable: u32) -> Option<(StorageClass, u32)> {
        let globals = &self.module.types_global_values;
        let ty = globals.iter().find(|i| i.result_id == Some(variable))?.result_type?;
        let pointer = globals.iter().find(|i| i.result_id == Some(ty))?;
        match pointer.operands.first() {
            Some(Operand::StorageClass(class)) => Some((*class, id_at(pointer, 1)?)),
            _ => None,
        }
    }

    /// The variable, or member of a block, that carries a built-in in a storage class.
    fn built_in(&self, wanted: BuiltIn, class: StorageClass) -> Option<Place> {
        for annotation in &self.module.annotations {
            if annotation.operands.last() != Some(&Operand::BuiltIn(wanted)) {
                continue;
            }
            let target = id_at(annotation, 0)?;
            match annotation.class.opcode {
                Op::Decorate if self.pointee(target).is_some_and(|(c, _)| c == class) => {
                    return Some(Place { variable: target, member: None });
                }
                Op::MemberDecorate => {
                    let member = match annotation.operands.get(1) {
                        Some(Operand::LiteralBit32(member)) => *member,
                        _ => continue,
                    };
                    let variable = self.module.types_global_values.iter().find_map(|i| {
                        let id = i.result_id.filter(|_| i.class.opcode == Op::Variable)?;
                        (self.pointee(id)? == (class, target)).then_some(id)
                    });
                    if let Some(variable) = variable {
                        return Some(Place { variable, member: Some(member) });
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Inserts instructions where the last vertex stage hands a vertex on: before returns of the entry point, or before
    /// each emitted vertex of a geometry shader. `make` builds a fresh copy for each place. A geometry shader that emits
    /// nothing is treated as the others are, for Vulkan demands a written point size even there.
    fn at_vertex_end(&mut self, mut make: impl FnMut(&mut Patcher) -> Vec<Instruction>) {
        let is_emit = |i: &Instruction| matches!(i.class.opcode, Op::EmitVertex | Op::EmitStreamVertex);
        let geometry = self.stage == Stage::Geometry && self.module.all_inst_iter().any(is_emit);
        let mut functions = std::mem::take(&mut self.module.functions);
        for function in &mut functions {
            let is_entry = function.def.as_ref().and_then(|def| def.result_id) == Some(self.entry);
            if !geometry && !is_entry {
                continue;
            }
            for block in &mut function.blocks {
                let mut out = Vec::with_capacity(block.instructions.len());
                for instruction in block.instructions.drain(..) {
                    let here = match instruction.class.opcode {
                        Op::EmitVertex | Op::EmitStreamVertex => geometry,
                        Op::Return => !geometry,
                        _ => false,
                    };
                    if here {
                        out.extend(make(self));
                    }
                    out.push(instruction);
                }
                block.instructions = out;
            }
        }
        self.module.functions = functions;
    }

    /// A pointer to a place, with the instruction that makes it when it is a member.
    fn pointer_to(&mut self, place: Place, pointee: u32, out: &mut Vec<Instruction>) -> u32 {
        let Some(member) = place.member else { return place.variable };
        let pointer = self.pointer(StorageClass::Output, pointee);
        let index = self.int_constant(member);
        let id = self.id();
        let operands = vec![Operand::IdRef(place.variable), Operand::IdRef(index)];
        out.push(inst(Op::AccessChain, Some(pointer), Some(id), operands));
        id
    }

    /// Locations that a value of a type takes.
    fn locations(&self, ty: u32) -> u32 {
        let globals = &self.module.types_global_values;
        let Some(def) = globals.iter().find(|i| i.result_id == Some(ty)) else { return 1 };
        let literal = |i: &Instruction, index: usize| match i.operands.get(index) {
            Some(Operand::LiteralBit32(value)) => *value,
            _ => 1,
        };
        match def.class.opcode {
            Op::TypeMatrix => id_at(def, 0).map_or(1, |column| self.locations(column)) * literal(def, 1),
            Op::TypeArray => {
                let length = id_at(def, 1).and_then(|id| globals.iter().find(|i| i.result_id == Some(id)));
                let element = id_at(def, 0).map_or(1, |element| self.locations(element));
                element.saturating_mul(length.map_or(1, |constant| literal(constant, 0)))
            }
            Op::TypeStruct => (0..def.operands.len()).filter_map(|i| id_at(def, i)).map(|m| self.locations(m)).sum(),
            Op::TypeVector => {
                let wide = id_at(def, 0).and_then(|id| globals.iter().find(|i| i.result_id == Some(id)));
                1 + u32::from(wide.is_some_and(|scalar| literal(scalar, 0) == 64) && literal(def, 1) > 2)
            }
            _ => 1,
        }
    }

    /// A location behind all that the module's outputs use.
    fn free_location(&self) -> u32 {
        let mut free = 0;
        for annotation in &self.module.annotations {
            let at = annotation.operands.iter().position(|o| *o == Operand::Decoration(Decoration::Location));
            let Some(Operand::LiteralBit32(location)) = at.and_then(|at| annotation.operands.get(at + 1)) else {
                continue;
            };
            let Some(target) = id_at(annotation, 0) else { continue };
            let used = match (self.pointee(target), annotation.operands.get(1)) {
                (Some((StorageClass::Output, ty)), _) => self.locations(ty),
                (None, Some(Operand::LiteralBit32(member))) => {
                    let mut types = self.module.types_global_values.iter();
                    let member = types
                        .find(|i| i.result_id == Some(target))
                        .and_then(|structure| id_at(structure, *member as usize));
                    member.map_or(1, |ty| self.locations(ty))
                }
                _ => continue,
            };
            free = free.max(location.saturating_add(used));
        }
        free
    }

    /// Lets transform feedback capture a copy of a built-in from before the changes that follow.
    fn capture_copy(&mut self, place: Place, pointee: u32) {
        let structure = self.pointee(place.variable).map(|(_, ty)| ty);
        let is_capture = |operand: Option<&Operand>| {
            use Decoration as D;
            matches!(operand, Some(Operand::Decoration(D::XfbBuffer | D::XfbStride | D::Offset | D::Stream)))
        };
        let of_variable = |i: &Instruction| {
            i.class.opcode == Op::Decorate && id_at(i, 0) == Some(place.variable) && is_capture(i.operands.get(1))
        };
        // The member itself, or the variable when it is no block.
        let of_value = |i: &Instruction| match place.member {
            Some(member) => {
                i.class.opcode == Op::MemberDecorate
                    && id_at(i, 0) == structure
                    && i.operands.get(1) == Some(&Operand::LiteralBit32(member))
                    && is_capture(i.operands.get(2))
            }
            None => of_variable(i),
        };
        let annotations = &mut self.module.annotations;
        let is_offset = |i: &&Instruction| i.operands.contains(&Operand::Decoration(Decoration::Offset));
        if !annotations.iter().filter(|i| of_value(i)).any(|i| is_offset(&i)) {
            return;
        }
        let mut decorations: Vec<Vec<Operand>> = Vec::new();
        let skip = 1 + usize::from(place.member.is_some());
        decorations.extend(annotations.iter().filter(|i| of_value(i)).map(|i| i.operands[skip..].to_vec()));
        // A block says for all its members what they do not say themselves.
        for block in annotations.iter().filter(|i| place.member.is_some() && of_variable(i)) {
            if !decorations.iter().any(|own| own.first() == block.operands.get(1)) {
                decorations.push(block.operands[1..].to_vec());
            }
        }
        annotations.retain(|i| !of_value(i));
        let location = self.free_location();
        let copy = self.variable(StorageClass::Output, pointee);
        self.add_interface(copy);
        for decoration in decorations {
            let mut operands = vec![Operand::IdRef(copy)];
            operands.extend(decoration);
            self.module.annotations.push(inst(Op::Decorate, None, None, operands));
        }
        self.decorate(copy, Decoration::Location, vec![Operand::LiteralBit32(location)]);
        self.at_vertex_end(|p| {
            let mut out = Vec::new();
            let pointer = p.pointer_to(place, pointee, &mut out);
            let value = p.id();
            out.push(inst(Op::Load, Some(pointee), Some(value), vec![Operand::IdRef(pointer)]));
            out.push(inst(Op::Store, None, None, vec![Operand::IdRef(copy), Operand::IdRef(value)]));
            out
        });
    }

    fn write_point_size(&mut self) {
        let float = self.float();
        let place = match self.built_in(BuiltIn::PointSize, StorageClass::Output) {
            Some(place) => {
                self.capture_copy(place, float);
                place
            }
            None => {
                let variable = self.variable(StorageClass::Output, float);
                self.decorate(variable, Decoration::BuiltIn, vec![Operand::BuiltIn(BuiltIn::PointSize)]);
                self.add_interface(variable);
                Place { variable, member: None }
            }
        };
        let capability = match self.stage {
            Stage::Geometry => Some(Capability::GeometryPointSize),
            Stage::TessEvaluation => Some(Capability::TessellationPointSize),
            _ => None,
        };
        if let Some(capability) = capability {
            let present = self.module.capabilities.iter().any(|c| c.operands == [Operand::Capability(capability)]);
            if !present {
                let instruction = inst(Op::Capability, None, None, vec![Operand::Capability(capability)]);
                self.module.capabilities.push(instruction);
            }
        }
        // The push constant holds the size at offset 0.
        let block = self.id();
        self.module.types_global_values.push(inst(Op::TypeStruct, None, Some(block), vec![Operand::IdRef(float)]));
        self.decorate(block, Decoration::Block, Vec::new());
        self.module.annotations.push(inst(
            Op::MemberDecorate,
            None,
            None,
            vec![
                Operand::IdRef(block),
                Operand::LiteralBit32(0),
                Operand::Decoration(Decoration::Offset),
                Operand::LiteralBit32(0),
            ],
        ));
        let push = self.variable(StorageClass::PushConstant, block);
        if self.module.header.as_ref().is_some_and(|h| h.version() >= (1, 4)) {
            self.add_interface(push);
        }
        let push_float = self.pointer(StorageClass::PushConstant, float);
        let zero = self.int_constant(0);
        self.at_vertex_end(|p| {
            let mut out = Vec::new();
            let (source, value) = (p.id(), p.id());
            let operands = vec![Operand::IdRef(push), Operand::IdRef(zero)];
            out.push(inst(Op::AccessChain, Some(push_float), Some(source), operands));
            out.push(inst(Op::Load, Some(float), Some(value), vec![Operand::IdRef(source)]));
            let target = p.pointer_to(place, float, &mut out);
            out.push(inst(Op::Store, None, None, vec![Operand::IdRef(target), Operand::IdRef(value)]));
            out
        });
    }

    fn convert_depth(&mut self) {
        let Some(place) = self.built_in(BuiltIn::Position, StorageClass::Output) else { return };
        let (float, vec4) = (self.float(), self.vector(4));
        self.capture_copy(place, vec4);
        let half = self.float_constant(0.5);
        self.at_vertex_end(|p| {
            let mut out = Vec::new();
            let pointer = p.pointer_to(place, vec4, &mut out);
            let [position, z, w, sum, depth, result] = std::array::from_fn(|_| p.id());
            let extract = |from, index| vec![Operand::IdRef(from), Operand::LiteralBit32(index)];
            let pair = |a, b| vec![Operand::IdRef(a), Operand::IdRef(b)];
            out.push(inst(Op::Load, Some(vec4), Some(position), vec![Operand::IdRef(pointer)]));
            out.push(inst(Op::CompositeExtract, Some(float), Some(z), extract(position, 2)));
            out.push(inst(Op::CompositeExtract, Some(float), Some(w), extract(position, 3)));
            out.push(inst(Op::FAdd, Some(float), Some(sum), pair(z, w)));
            out.push(inst(Op::FMul, Some(float), Some(depth), pair(sum, half)));
            out.push(inst(
                Op::CompositeInsert,
                Some(vec4),
                Some(result),
                vec![Operand::IdRef(depth), Operand::IdRef(position), Operand::LiteralBit32(2)],
            ));
            out.push(inst(Op::Store, None, None, pair(pointer, result)));
            // A geometry shader cannot rely on the position after the emit: GL makes outputs undefined there (spec
            // 11.3.4.4), so nothing is put back.
            out
        });
    }

    /// Makes clip distances whose planes are disabled cut nothing.
    fn disable_clips(&mut self, planes: u8) {
        let Some(place) = self.built_in(BuiltIn::ClipDistance, StorageClass::Output) else { return };
        let float = self.float();
        let pointer = self.pointer(StorageClass::Output, float);
        let zero = self.float_constant(0.0);
        let member = place.member.map(|member| self.int_constant(member));
        let indices: Vec<u32> =
            (0..8).filter(|plane| planes >> plane & 1 != 0).map(|plane| self.int_constant(plane)).collect();
        self.at_vertex_end(|p| {
            let mut out = Vec::new();
            for index in &indices {
                let id = p.id();
                let mut operands = vec![Operand::IdRef(place.variable)];
                operands.extend(member.map(Operand::IdRef));
                operands.push(Operand::IdRef(*index));
                out.push(inst(Op::AccessChain, Some(pointer), Some(id), operands));
                out.push(inst(Op::Store, None, None, vec![Operand::IdRef(id), Operand::IdRef(zero)]));
            }
            out
        });
    }

    /// Replaces reads of `gl_PointCoord` by reads of a mirrored copy.
    fn mirror_point_coord(&mut self) {
        let Some(place) = self.built_in(BuiltIn::PointCoord, StorageClass::Input) else { return };
        let input = place.variable;
        let (float, vec2) = (self.float(), self.vector(2));
        let one = self.float_constant(1.0);
        let copy = self.variable(StorageClass::Private, vec2);
        if self.module.header.as_ref().is_some_and(|h| h.version() >= (1, 4)) {
            self.add_interface(copy);
        }
        let private_float = self.pointer(StorageClass::Private, float);
        for function in &mut self.module.functions {
            for instruction in function.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
                let mut touched = false;
                for operand in &mut instruction.operands {
                    if *operand == Operand::IdRef(input) {
                        *operand = Operand::IdRef(copy);
                        touched = true;
                    }
                }
                if touched && matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain) {
                    instruction.result_type = Some(private_float);
                }
            }
        }
        let [value, y, mirrored, result] = std::array::from_fn(|_| self.id());
        let start = [
            inst(Op::Load, Some(vec2), Some(value), vec![Operand::IdRef(input)]),
            inst(Op::CompositeExtract, Some(float), Some(y), vec![Operand::IdRef(value), Operand::LiteralBit32(1)]),
            inst(Op::FSub, Some(float), Some(mirrored), vec![Operand::IdRef(one), Operand::IdRef(y)]),
            inst(
                Op::CompositeInsert,
                Some(vec2),
                Some(result),
                vec![Operand::IdRef(mirrored), Operand::IdRef(value), Operand::LiteralBit32(1)],
            ),
            inst(Op::Store, None, None, vec![Operand::IdRef(copy), Operand::IdRef(result)]),
        ];
        let entry = self.entry;
        let function =
            self.module.functions.iter_mut().find(|f| f.def.as_ref().and_then(|d| d.result_id) == Some(entry));
        if let Some(block) = function.and_then(|function| function.blocks.first_mut()) {
            // Variables of the function come first in its first block.
            let at = block.instructions.iter().position(|i| i.class.opcode != Op::Variable).unwrap_or(0);
            block.instructions.splice(at..at, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::spirv::ExecutionModel;

    const VERTEX: &[u8] = include_bytes!("shaders/rect.spv");

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
    }

    fn all() -> Variant {
        Variant { point_size: true, convert_depth: true, ..Variant::default() }
    }

    #[test]
    fn a_patched_module_loads_again_and_writes_the_point_size() {
        let patched = patch(&words(VERTEX), Stage::Vertex, all()).expect("a module");
        let module = rspirv::dr::load_words(&patched).expect("still a module");
        let stores = module
            .functions
            .iter()
            .flat_map(|f| f.blocks.iter())
            .flat_map(|b| &b.instructions)
            .filter(|i| i.class.opcode == Op::Store)
            .count();
        assert_eq!(stores, 3, "the shader's own, the point size, the position");
        let entry = &module.entry_points[0];
        assert_eq!(entry.operands[0], Operand::ExecutionModel(ExecutionModel::Vertex));
    }

    #[test]
    fn a_captured_position_stays_what_the_shader_wrote() {
        let mut module = rspirv::dr::load_words(words(VERTEX)).expect("a module");
        let mut patcher = Patcher::new(module.clone(), Stage::Vertex).expect("an entry point");
        let place = patcher.built_in(BuiltIn::Position, StorageClass::Output).expect("a position");
        let target = match place.member {
            Some(member) => {
                let (_, structure) = patcher.pointee(place.variable).expect("a block");
                vec![Operand::IdRef(structure), Operand::LiteralBit32(member)]
            }
            None => vec![Operand::IdRef(place.variable)],
        };
        let op = if place.member.is_some() { Op::MemberDecorate } else { Op::Decorate };
        for (decoration, value) in [(Decoration::XfbBuffer, 1), (Decoration::XfbStride, 16), (Decoration::Offset, 0)] {
            let mut operands = target.clone();
            operands.extend([Operand::Decoration(decoration), Operand::LiteralBit32(value)]);
            module.annotations.push(inst(op, None, None, operands));
        }
        let patched = patch(&module.assemble(), Stage::Vertex, all()).expect("a module");
        let module = rspirv::dr::load_words(&patched).expect("still a module");
        let captured: Vec<_> = module
            .annotations
            .iter()
            .filter(|a| a.operands.contains(&Operand::Decoration(Decoration::XfbBuffer)))
            .map(|a| id_at(a, 0))
            .collect();
        assert_eq!(captured.len(), 1);
        let copy = captured[0].expect("a target");
        assert_ne!(Some(copy), id_at(&inst(op, None, None, target), 0), "the position itself is not captured");
        let stored = |i: &&Instruction| i.class.opcode == Op::Store && id_at(i, 0) == Some(copy);
        assert_eq!(module.all_inst_iter().filter(stored).count(), 1);
        patcher = Patcher::new(module, Stage::Vertex).expect("an entry point");
        assert_eq!(patcher.free_location(), 1, "the copy has a location");
    }

    #[test]
    fn words_that_are_no_module_are_refused() {
        assert!(patch(&[1, 2, 3], Stage::Vertex, all()).is_err());
        let mut cut = words(VERTEX);
        cut.truncate(12);
        assert!(patch(&cut, Stage::Vertex, all()).is_err());
    }
}
