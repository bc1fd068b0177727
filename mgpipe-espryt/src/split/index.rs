//! What a module says about its inputs and outputs.

use crate::spirv::{instructions, op, DECORATION_LOCATION, OP_DECORATE, OP_TYPE_POINTER, OP_VARIABLE};
use crate::spirv::{STORAGE_INPUT, STORAGE_OUTPUT};
use mgpipe_types::reflection::Stage;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass, Word};
use std::collections::{HashMap, HashSet};

/// Deepest nesting of types that is followed.
const MOST_DEPTH: u32 = 32;

/// Most pieces of a variable.
const MOST_LEAVES: usize = 1024;

const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_STRUCT: u32 = 30;

/// Ways of interpolation, and invariance.
const QUALIFIERS: [Decoration; 5] =
    [Decoration::Flat, Decoration::NoPerspective, Decoration::Centroid, Decoration::Sample, Decoration::Invariant];

/// A type, one level deep.
pub(super) enum Kind {
    /// A number, vector or matrix.
    Plain {
        columns: u32,
        components: u32,
    },
    Array {
        element: Word,
        length: u32,
    },
    Struct {
        members: Vec<Word>,
    },
    Other,
}

/// A piece of simple type.
#[derive(Clone)]
pub(super) struct Leaf {
    /// Indices from the variable, without the one that counts vertices.
    pub(super) path: Vec<u32>,
    pub(super) ty: Word,
    pub(super) location: u32,
    pub(super) qualifiers: Vec<Decoration>,
    /// Buffer and offset of what transform feedback takes.
    pub(super) captured: Option<(u32, u32)>,
}

/// Operand `at`, when it is an id or a number.
pub(super) fn word(instruction: &Instruction, at: usize) -> Option<u32> {
    match instruction.operands.get(at)? {
        Operand::LiteralBit32(value) | Operand::IdRef(value) => Some(*value),
        _ => None,
    }
}

/// What a pointer type points to.
pub(super) fn pointee_of(module: &dr::Module, pointer: Word) -> Option<Word> {
    let found = module.types_global_values.iter().find(|i| i.result_id == Some(pointer))?;
    (found.class.opcode == Op::TypePointer).then(|| word(found, 1)).flatten()
}

/// Components of a vector type, 1 for a scalar.
pub(super) fn vector_length(module: &dr::Module, ty: Word) -> u32 {
    let found = module.types_global_values.iter().find(|i| i.result_id == Some(ty));
    found.filter(|i| i.class.opcode == Op::TypeVector).and_then(|i| word(i, 1)).unwrap_or(1)
}

/// Whether ESSL may refuse the type of an input or output, or two attributes lie at one location. Looks at words alone, since
/// almost every program has nothing of the kind.
pub(super) fn illegal_types(stage: Stage, words: &[u32]) -> bool {
    let Some(all) = instructions(words) else { return false };
    let mut types: HashMap<u32, &[u32]> = HashMap::new();
    let mut pointers: HashMap<u32, u32> = HashMap::new();
    let mut locations: HashMap<u32, u32> = HashMap::new();
    let mut attributes: HashSet<u32> = HashSet::new();
    for i in all {
        match op(i) {
            OP_TYPE_MATRIX | OP_TYPE_ARRAY | OP_TYPE_STRUCT if i.len() > 1 => {
                types.insert(i[1], i);
            }
            OP_TYPE_POINTER if i.len() == 4 && (i[2] == STORAGE_INPUT || i[2] == STORAGE_OUTPUT) => {
                pointers.insert(i[1], i[3]);
            }
            OP_DECORATE if i.len() == 4 && i[2] == DECORATION_LOCATION => {
                locations.insert(i[1], i[3]);
            }
            OP_VARIABLE if i.len() > 3 && (i[3] == STORAGE_INPUT || i[3] == STORAGE_OUTPUT) => {
                let Some(pointee) = pointers.get(&i[1]) else { continue };
                let found = types.get(pointee);
                if stage == Stage::Vertex && i[3] == STORAGE_INPUT {
                    let Some(location) = locations.get(&i[2]) else { continue };
                    let columns = match found {
                        None => 1,
                        Some(matrix) if op(matrix) == OP_TYPE_MATRIX && matrix.len() > 3 => matrix[3].min(4),
                        Some(_) => return true,
                    };
                    if (0..columns).any(|column| !attributes.insert(location.saturating_add(column))) {
                        return true;
                    }
                } else if let Some(found) = found {
                    let is = |id: u32, wanted: u32| types.get(&id).is_some_and(|t| op(t) == wanted);
                    let inner = match op(found) {
                        OP_TYPE_ARRAY => &found[2..3.min(found.len())],
                        OP_TYPE_STRUCT => &found[2..],
                        _ => continue,
                    };
                    if inner.iter().any(|id| is(*id, OP_TYPE_ARRAY) || is(*id, OP_TYPE_STRUCT)) {
                        return true;
                    }
                }
            }
            _ => {}
        }
    }
    false
}

/// An index over types, constants and decorations.
pub(super) struct Index<'m> {
    module: &'m dr::Module,
    globals: HashMap<Word, &'m Instruction>,
}

impl<'m> Index<'m> {
    pub(super) fn new(module: &'m dr::Module) -> Index<'m> {
        let globals = module.types_global_values.iter().filter_map(|i| Some((i.result_id?, i))).collect();
        Index { module, globals }
    }

    pub(super) fn kind(&self, ty: Word) -> Kind {
        self.try_kind(ty).unwrap_or(Kind::Other)
    }

    fn try_kind(&self, ty: Word) -> Option<Kind> {
        let found = self.globals.get(&ty)?;
        Some(match found.class.opcode {
            Op::TypeInt | Op::TypeFloat if word(found, 0)? == 32 => Kind::Plain { columns: 1, components: 1 },
            Op::TypeVector => match self.try_kind(word(found, 0)?)? {
                Kind::Plain { .. } => Kind::Plain { columns: 1, components: word(found, 1)? },
                _ => return None,
            },
            Op::TypeMatrix => match self.try_kind(word(found, 0)?)? {
                Kind::Plain { components, .. } => {
                    let columns = word(found, 1)?;
                    Kind::Plain { columns, components: components.checked_mul(columns)? }
                }
                _ => return None,
            },
            Op::TypeArray => {
                let length = self.globals.get(&word(found, 1)?).filter(|i| i.class.opcode == Op::Constant)?;
                Kind::Array { element: word(found, 0)?, length: word(length, 0)? }
            }
            Op::TypeStruct => {
                Kind::Struct { members: (0..found.operands.len()).filter_map(|at| word(found, at)).collect() }
            }
            _ => return None,
        })
    }

    /// Element, length and the constant that holds it.
    pub(super) fn array(&self, ty: Word) -> Option<(Word, u32, Word)> {
        let Kind::Array { element, length } = self.kind(ty) else { return None };
        Some((element, length, word(self.globals.get(&ty)?, 1)?))
    }

    /// Numbers of a plain type.
    pub(super) fn components(&self, ty: Word) -> u32 {
        match self.kind(ty) {
            Kind::Plain { components, .. } => components,
            _ => 0,
        }
    }

    /// A number, vector or matrix, or an array of them.
    fn is_simple(&self, ty: Word) -> bool {
        match self.kind(ty) {
            Kind::Plain { .. } => true,
            Kind::Array { element, .. } => matches!(self.kind(element), Kind::Plain { .. }),
            _ => false,
        }
    }

    /// Whether ESSL has variables of the type between stages.
    pub(super) fn is_legal(&self, ty: Word) -> bool {
        let plain = |ty: &Word| matches!(self.kind(*ty), Kind::Plain { .. });
        let structure = |ty: Word| matches!(self.kind(ty), Kind::Struct { members } if members.iter().all(plain));
        match self.kind(ty) {
            Kind::Struct { members } if self.has(ty, Decoration::Block) => {
                members.iter().all(|member| self.is_simple(*member) || structure(*member))
            }
            Kind::Struct { members } => members.iter().all(plain),
            _ => self.is_simple(ty),
        }
    }

    /// All inputs and outputs: the variable, its class and its type.
    pub(super) fn variables(&self) -> Vec<(Word, StorageClass, Word)> {
        let of = |i: &Instruction| match i.operands.first() {
            Some(Operand::StorageClass(class @ (StorageClass::Input | StorageClass::Output)))
                if i.class.opcode == Op::Variable =>
            {
                Some((i.result_id?, *class, word(self.globals.get(&i.result_type?)?, 1)?))
            }
            _ => None,
        };
        self.module.types_global_values.iter().filter_map(of).collect()
    }

    /// Value of a decoration of something as a whole, or of a member; 0 for one without a value.
    fn value(&self, target: Word, member: Option<u32>, decoration: Decoration) -> Option<u32> {
        let at = usize::from(member.is_some());
        let wanted = if member.is_some() { Op::MemberDecorate } else { Op::Decorate };
        let found = self.module.annotations.iter().find(|i| {
            i.class.opcode == wanted
                && word(i, 0) == Some(target)
                && (member.is_none() || word(i, 1) == member)
                && i.operands.get(1 + at) == Some(&Operand::Decoration(decoration))
        })?;
        Some(word(found, 2 + at).unwrap_or(0))
    }

    pub(super) fn has(&self, target: Word, decoration: Decoration) -> bool {
        self.value(target, None, decoration).is_some()
    }

    fn qualifiers(&self, target: Word, member: Option<u32>) -> impl Iterator<Item = Decoration> + '_ {
        QUALIFIERS.into_iter().filter(move |q| self.value(target, member, *q).is_some())
    }

    fn captured(&self, target: Word, member: Option<u32>) -> Option<(u32, u32)> {
        let buffer = self.value(target, member, Decoration::XfbBuffer)?;
        Some((buffer, self.value(target, member, Decoration::Offset)?))
    }

    fn location(&self, id: Word, ty: Word) -> Option<u32> {
        self.value(id, None, Decoration::Location).or_else(|| self.value(ty, Some(0), Decoration::Location))
    }

    /// The pieces of a variable; `None` for what has no place or cannot be taken apart. In an attribute, arrays are pieces by
    /// element, and `columns` makes the columns of matrices pieces, too.
    pub(super) fn leaves(&self, id: Word, ty: Word, attribute: bool, columns: bool) -> Option<Vec<Leaf>> {
        let mut walk = Walk {
            index: self,
            location: self.location(id, ty)?,
            captured: self.captured(id, None),
            whole_arrays: !attribute,
            columns,
            leaves: Vec::new(),
        };
        let mut qualifiers: Vec<Decoration> = self.qualifiers(id, None).collect();
        walk.visit(ty, &mut Vec::new(), &mut qualifiers, 0)?;
        Some(walk.leaves)
    }

    /// Every location at which a piece of an input begins, were it taken apart.
    pub(super) fn input_locations(&self) -> Vec<u32> {
        let mut list = Vec::new();
        for (id, class, pointee) in self.variables() {
            if class == StorageClass::Input {
                // Per-vertex arrays are looked into, as the pieces of their elements are what is written.
                for ty in [Some(pointee), self.array(pointee).map(|(element, ..)| element)].into_iter().flatten() {
                    let leaves = self.leaves(id, ty, false, false).unwrap_or_default();
                    list.extend(leaves.into_iter().map(|leaf| leaf.location));
                }
            }
        }
        list
    }

    /// Attributes that share a location with others of the same kind of number.
    pub(super) fn aliased_inputs(&self) -> Vec<Word> {
        let mut at: HashMap<u32, Vec<(Word, Word)>> = HashMap::new();
        for (id, class, pointee) in self.variables() {
            if class == StorageClass::Input {
                for leaf in self.leaves(id, pointee, true, true).unwrap_or_default() {
                    at.entry(leaf.location).or_default().push((id, self.number(leaf.ty)));
                }
            }
        }
        let mut list = Vec::new();
        for all in at.into_values().filter(|all| all.len() > 1) {
            if all.iter().any(|(_, number)| *number != all[0].1) {
                return Vec::new();
            }
            list.extend(all.into_iter().map(|(id, _)| id));
        }
        list
    }

    /// The scalar type of a vector.
    fn number(&self, ty: Word) -> Word {
        let found = self.globals.get(&ty).filter(|i| i.class.opcode == Op::TypeVector);
        found.and_then(|i| word(i, 0)).unwrap_or(ty)
    }

    /// Whether code only loads, stores and indexes the variable, so that it can be a private one.
    pub(super) fn is_only_accessed(&self, variable: Word) -> bool {
        let mut pointers: HashSet<Word> = HashSet::from([variable]);
        self.module.functions.iter().flat_map(|f| f.all_inst_iter()).all(|i| {
            let touches = i.operands.iter().any(|o| matches!(o, Operand::IdRef(id) if pointers.contains(id)));
            match i.class.opcode {
                _ if !touches => true,
                Op::AccessChain | Op::InBoundsAccessChain => {
                    pointers.extend(i.result_id);
                    true
                }
                Op::Load | Op::Store => true,
                _ => false,
            }
        })
    }
}

/// A walk over the pieces of a type.
struct Walk<'i, 'm> {
    index: &'i Index<'m>,
    location: u32,
    captured: Option<(u32, u32)>,
    whole_arrays: bool,
    columns: bool,
    leaves: Vec<Leaf>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, ty: Word, path: &mut Vec<u32>, qualifiers: &mut Vec<Decoration>, depth: u32) -> Option<()> {
        if depth > MOST_DEPTH || self.leaves.len() > MOST_LEAVES {
            return None;
        }
        let index = self.index;
        match index.kind(ty) {
            Kind::Plain { columns, components } => {
                if self.columns && columns > 1 {
                    let column = word(index.globals.get(&ty)?, 0)?;
                    for number in 0..columns {
                        path.push(number);
                        self.leaf(column, path, qualifiers, 1, components / columns);
                        path.pop();
                    }
                } else {
                    self.leaf(ty, path, qualifiers, columns, components);
                }
            }
            Kind::Array { element, length } => {
                if let (true, Kind::Plain { columns, components }) = (self.whole_arrays, index.kind(element)) {
                    self.leaf(ty, path, qualifiers, columns.checked_mul(length)?, components.checked_mul(length)?);
                    return Some(());
                }
                for number in 0..length {
                    path.push(number);
                    self.visit(element, path, qualifiers, depth + 1)?;
                    path.pop();
                }
            }
            Kind::Struct { members } => {
                for (number, member) in (0u32..).zip(members) {
                    if index.value(ty, Some(number), Decoration::BuiltIn).is_some() {
                        return None;
                    }
                    self.location = index.value(ty, Some(number), Decoration::Location).unwrap_or(self.location);
                    self.captured = index.captured(ty, Some(number)).or(self.captured);
                    let before = qualifiers.len();
                    qualifiers.extend(index.qualifiers(ty, Some(number)));
                    path.push(number);
                    self.visit(member, path, qualifiers, depth + 1)?;
                    path.pop();
                    qualifiers.truncate(before);
                    if index.captured(ty, Some(number)).is_some() {
                        self.captured = None;
                    }
                }
            }
            Kind::Other => return None,
        }
        Some(())
    }

    fn leaf(&mut self, ty: Word, path: &[u32], qualifiers: &[Decoration], locations: u32, components: u32) {
        let mut own: Vec<Decoration> = Vec::new();
        for qualifier in qualifiers {
            if !own.contains(qualifier) {
                own.push(*qualifier);
            }
        }
        self.leaves.push(Leaf {
            path: path.to_vec(),
            ty,
            location: self.location,
            qualifiers: own,
            captured: self.captured,
        });
        self.location = self.location.saturating_add(locations);
        self.captured = self.captured.map(|(buffer, offset)| (buffer, offset.saturating_add(components * 4)));
    }
}
