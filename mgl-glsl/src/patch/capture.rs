//! Copies of outputs, or of parts of them, for transform feedback: whatever cannot be captured where it is written.
//!
//! A copy is a scalar or a vector, and copies share locations: what a stage writes and what is captured of it have to fit
//! into the same few locations (Vulkan's `maxVertexOutputComponents`).

use mgpipe_types::reflection::gl_type::Scalar;
use mgpipe_types::reflection::Stage;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

use super::edit::{fresh, global, int_constant};
use crate::module::{operand, Module, Type, MAX_TYPE_DEPTH};

/// A scalar or vector of something captured.
pub(super) struct Piece {
    /// Indices from what is captured.
    pub(super) path: Vec<u32>,
    /// Its type.
    pub(super) kind: Word,
    /// Bytes from the beginning of what is captured.
    pub(super) offset: u32,
    scalar: Scalar,
    components: u32,
}

/// Splits a type into its scalars and vectors, in the order in which transform feedback writes them. `None` for what cannot
/// be captured.
pub(super) fn pieces(module: &Module, id: Word) -> Option<Vec<Piece>> {
    let mut out = Vec::new();
    split(module, id, &mut Vec::new(), &mut 0, &mut out, 0)?;
    Some(out)
}

fn split(
    module: &Module,
    id: Word,
    path: &mut Vec<u32>,
    offset: &mut u32,
    out: &mut Vec<Piece>,
    depth: u32,
) -> Option<()> {
    if depth > MAX_TYPE_DEPTH {
        return None;
    }
    match module.type_of(id) {
        Type::Array { element, length } => {
            for index in 0..length? {
                path.push(index);
                split(module, element, path, offset, out, depth + 1)?;
                path.pop();
            }
        }
        Type::Plain { scalar, columns, rows } if columns > 1 => {
            let kind = module.definition(id).and_then(|matrix| operand(matrix, 0))?;
            for column in 0..columns {
                let path = path.iter().copied().chain([column]).collect();
                out.push(Piece { path, kind, offset: *offset, scalar, components: rows });
                *offset = offset.checked_add(rows * scalar.size())?;
            }
        }
        Type::Plain { scalar, rows, .. } => {
            out.push(Piece { path: path.clone(), kind: id, offset: *offset, scalar, components: rows });
            *offset = offset.checked_add(rows * scalar.size())?;
        }
        _ => return None,
    }
    Some(())
}

/// Where a copy lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) location: u32,
    pub(super) component: u32,
}

/// Hands out locations. Copies of one scalar type and one vertex stream share them.
#[derive(Default)]
pub(super) struct Slots {
    /// The first location that nothing uses.
    pub(super) next: u32,
    /// Locations with room: which, scalar type and stream, components in use.
    pub(super) open: Vec<(u32, (u32, u32), u32)>,
}

impl Slots {
    /// A place for one copy.
    pub(super) fn place(&mut self, piece: &Piece, stream: u32) -> Place {
        let n = piece.components;
        if piece.scalar.size() != 4 {
            let location = self.next;
            // Three and four doubles take two locations (GL 4.6 core, section 11.1.1).
            self.next = location.saturating_add(if n > 2 { 2 } else { 1 });
            return Place { location, component: 0 };
        }
        let key = (piece.scalar as u32, stream);
        if let Some((location, _, used)) = self.open.iter_mut().find(|(_, k, used)| *k == key && used + n <= 4) {
            let component = std::mem::replace(used, *used + n);
            return Place { location: *location, component };
        }
        let location = self.next;
        self.next = location.saturating_add(1);
        if n < 4 {
            self.open.push((location, key, n));
        }
        Place { location, component: 0 }
    }
}

/// A new output variable for a copy of (a part of) `name`.
pub(super) fn variable(dr: &mut dr::Module, kind: Word, name: &str) -> Word {
    let class = Operand::StorageClass(StorageClass::Output);
    let pointer = global(dr, Op::TypePointer, None, vec![class.clone(), Operand::IdRef(kind)]);
    let copy = fresh(dr);
    dr.types_global_values.push(Instruction::new(Op::Variable, Some(pointer), Some(copy), vec![class]));
    let name = vec![Operand::IdRef(copy), Operand::LiteralString(format!("mgl_xfb_{name}"))];
    dr.debug_names.push(Instruction::new(Op::Name, None, None, name));
    if let Some(entry) = dr.entry_points.first_mut() {
        entry.operands.push(Operand::IdRef(copy));
    }
    copy
}

/// One copy: from a part of a variable into another variable.
pub(super) struct Copy {
    pub(super) source: Word,
    pub(super) path: Vec<u32>,
    pub(super) kind: Word,
    pub(super) copy: Word,
}

/// Makes the copies wherever a vertex is complete.
pub(super) fn insert(module: &mut Module, entry: Word, copies: &[Copy]) {
    if copies.is_empty() {
        return;
    }
    let geometry = module.stage == Stage::Geometry;
    let mut functions = std::mem::take(&mut module.dr.functions);
    for function in &mut functions {
        let is_entry = function.def.as_ref().and_then(|d| d.result_id) == Some(entry);
        for block in &mut function.blocks {
            let old = std::mem::take(&mut block.instructions);
            for instruction in old {
                let here = match instruction.class.opcode {
                    Op::EmitVertex | Op::EmitStreamVertex => geometry,
                    Op::Return => is_entry && !geometry,
                    _ => false,
                };
                if here {
                    for copy in copies {
                        emit(module, copy, &mut block.instructions);
                    }
                }
                block.instructions.push(instruction);
            }
        }
    }
    module.dr.functions = functions;
}

fn emit(module: &mut Module, copy: &Copy, out: &mut Vec<Instruction>) {
    let packed = module.packed.contains(&copy.source);
    let class = if packed { StorageClass::Private } else { StorageClass::Output };
    let dr = &mut module.dr;
    let mut source = copy.source;
    if !copy.path.is_empty() {
        let pointer = global(dr, Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(copy.kind)]);
        let mut operands = vec![Operand::IdRef(copy.source)];
        operands.extend(copy.path.iter().map(|index| Operand::IdRef(int_constant(dr, *index as i32))));
        source = fresh(dr);
        out.push(Instruction::new(Op::AccessChain, Some(pointer), Some(source), operands));
    }
    let value = fresh(dr);
    out.push(Instruction::new(Op::Load, Some(copy.kind), Some(value), vec![Operand::IdRef(source)]));
    out.push(Instruction::new(Op::Store, None, None, vec![Operand::IdRef(copy.copy), Operand::IdRef(value)]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_locations_by_type_and_stream() {
        let piece = |scalar, components| Piece { path: Vec::new(), kind: 0, offset: 0, scalar, components };
        let mut slots = Slots { next: 3, ..Slots::default() };
        let mut place = |scalar, components, stream| {
            let place = slots.place(&piece(scalar, components), stream);
            (place.location, place.component)
        };
        assert_eq!(place(Scalar::Float, 3, 0), (3, 0));
        assert_eq!(place(Scalar::Float, 2, 0), (4, 0));
        assert_eq!(place(Scalar::Float, 1, 0), (3, 3));
        assert_eq!(place(Scalar::Int, 1, 0), (5, 0));
        assert_eq!(place(Scalar::Float, 2, 1), (6, 0));
        assert_eq!(place(Scalar::Float, 2, 0), (4, 2));
        assert_eq!(place(Scalar::Double, 3, 0), (7, 0));
        assert_eq!(place(Scalar::Float, 4, 0), (9, 0));
    }
}
