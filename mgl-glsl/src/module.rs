//! One SPIR-V module with an index over its types, constants, names and decorations.

use std::collections::{HashMap, HashSet};

use mgpipe_types::reflection::gl_type::{self, Scalar};
use mgpipe_types::reflection::{OpaqueBase, OpaqueDim, OpaqueType, Stage};
use rspirv::binary::Assemble;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{self, BuiltIn, Decoration, Op, StorageClass, Word};

/// Deepest nesting of types that the walks follow.
pub(crate) const MAX_TYPE_DEPTH: u32 = 64;

/// A type, one level deep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// Scalar, vector or matrix; `boolean` types appear only outside blocks.
    Plain {
        scalar: Scalar,
        columns: u32,
        rows: u32,
    },
    /// Array; the length is `None` for a run-time array.
    Array {
        element: Word,
        length: Option<u32>,
    },
    Struct {
        members: Vec<Word>,
    },
    Opaque(OpaqueType),
    Other,
}

/// A global variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) id: Word,
    pub(crate) class: StorageClass,
    /// The type that it points to.
    pub(crate) pointee: Word,
}

/// How a module's reachable code uses its global variables.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Variables that appear in reachable code.
    pub(crate) variables: HashSet<Word>,
    /// Members reached through an access chain with a constant first index.
    pub(crate) members: HashSet<(Word, u32)>,
    /// One past the highest element that constant indices reach in each of these members; all where an index varies.
    pub(crate) elements: HashMap<(Word, u32), u32>,
    /// Variables used in a way that can touch every member.
    pub(crate) whole: HashSet<Word>,
    /// Reachable code can end the invocation.
    pub(crate) kills: bool,
    /// Reachable code emits to a stream other than 0.
    pub(crate) streams: bool,
}

impl Uses {
    /// One past the highest element that may be used of the array that is member `index` of the struct variable `id`.
    pub(crate) fn elements_end(&self, id: Word, index: u32) -> u32 {
        if self.whole.contains(&id) {
            return u32::MAX;
        }
        self.elements.get(&(id, index)).copied().unwrap_or(0)
    }

    /// Whether member `index` of the struct variable `id` may be used.
    pub(crate) fn member(&self, id: Word, index: u32) -> bool {
        self.whole.contains(&id) || self.members.contains(&(id, index))
    }
}

/// A module with its index.
pub(crate) struct Module {
    pub(crate) stage: Stage,
    pub(crate) dr: dr::Module,
    /// Variables, and types of blocks, that packing has made private.
    pub(crate) packed: HashSet<Word>,
    global: HashMap<Word, usize>,
    names: HashMap<Word, String>,
    member_names: HashMap<(Word, u32), String>,
    decorations: HashMap<Word, Vec<(Decoration, Option<u32>)>>,
    member_decorations: HashMap<(Word, u32), Vec<(Decoration, Option<u32>)>>,
}

fn word(operand: Option<&Operand>) -> Option<u32> {
    match operand? {
        Operand::LiteralBit32(value) => Some(*value),
        Operand::IdRef(value) => Some(*value),
        Operand::BuiltIn(value) => Some(*value as u32),
        _ => None,
    }
}

/// Operand `index` as a number or id.
pub(crate) fn operand(instruction: &Instruction, index: usize) -> Option<u32> {
    word(instruction.operands.get(index))
}

fn text(operand: Option<&Operand>) -> Option<&str> {
    match operand? {
        Operand::LiteralString(value) => Some(value),
        _ => None,
    }
}

impl Module {
    /// Parses the words and builds the index.
    pub(crate) fn parse(stage: Stage, words: &[u32]) -> Result<Module, String> {
        let dr = dr::load_words(words).map_err(|error| format!("internal error: unreadable SPIR-V: {error}"))?;
        let mut module = Module {
            stage,
            dr,
            packed: HashSet::new(),
            global: HashMap::new(),
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorations: HashMap::new(),
            member_decorations: HashMap::new(),
        };
        module.index();
        Ok(module)
    }

    /// Builds the index again after the module's types, names or decorations were moved.
    pub(crate) fn reindex(&mut self) {
        self.global.clear();
        self.names.clear();
        self.member_names.clear();
        self.decorations.clear();
        self.member_decorations.clear();
        self.index();
    }

    fn index(&mut self) {
        for (at, instruction) in self.dr.types_global_values.iter().enumerate() {
            if let Some(id) = instruction.result_id {
                self.global.insert(id, at);
            }
        }
        for instruction in &self.dr.debug_names {
            let (Some(id), ops) = (operand(instruction, 0), &instruction.operands) else { continue };
            match instruction.class.opcode {
                Op::Name => {
                    if let Some(name) = text(ops.get(1)) {
                        self.names.insert(id, name.to_owned());
                    }
                }
                Op::MemberName => {
                    if let (Some(member), Some(name)) = (word(ops.get(1)), text(ops.get(2))) {
                        self.member_names.insert((id, member), name.to_owned());
                    }
                }
                _ => {}
            }
        }
        for instruction in &self.dr.annotations {
            let Some(id) = operand(instruction, 0) else { continue };
            let ops = &instruction.operands;
            match (instruction.class.opcode, ops.get(1), ops.get(2)) {
                (Op::Decorate, Some(Operand::Decoration(decoration)), value) => {
                    self.decorations.entry(id).or_default().push((*decoration, word(value)));
                }
                (Op::MemberDecorate, Some(Operand::LiteralBit32(member)), Some(Operand::Decoration(decoration))) => {
                    let entry = self.member_decorations.entry((id, *member)).or_default();
                    entry.push((*decoration, word(ops.get(3))));
                }
                _ => {}
            }
        }
    }

    /// The words of the module.
    pub(crate) fn assemble(&self) -> Vec<u32> {
        self.dr.assemble()
    }

    /// The defining instruction of a type, constant or global variable.
    pub(crate) fn definition(&self, id: Word) -> Option<&Instruction> {
        self.dr.types_global_values.get(*self.global.get(&id)?)
    }

    /// The name, empty when there is none.
    pub(crate) fn name(&self, id: Word) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// The name of a struct member, empty when there is none.
    pub(crate) fn member_name(&self, id: Word, member: u32) -> &str {
        self.member_names.get(&(id, member)).map_or("", String::as_str)
    }

    /// Whether `id` has the decoration.
    pub(crate) fn has(&self, id: Word, decoration: Decoration) -> bool {
        self.decorations.get(&id).is_some_and(|all| all.iter().any(|(d, _)| *d == decoration))
    }

    /// Operand of a decoration.
    pub(crate) fn decoration(&self, id: Word, decoration: Decoration) -> Option<u32> {
        self.decorations.get(&id)?.iter().find(|(d, _)| *d == decoration)?.1
    }

    /// Whether a member has the decoration.
    pub(crate) fn member_has(&self, id: Word, member: u32, decoration: Decoration) -> bool {
        self.member_decorations.get(&(id, member)).is_some_and(|all| all.iter().any(|(d, _)| *d == decoration))
    }

    /// Operand of a member's decoration.
    pub(crate) fn member_decoration(&self, id: Word, member: u32, decoration: Decoration) -> Option<u32> {
        self.member_decorations.get(&(id, member))?.iter().find(|(d, _)| *d == decoration)?.1
    }

    /// All global variables.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let mut list = Vec::new();
        for instruction in &self.dr.types_global_values {
            if instruction.class.opcode != Op::Variable {
                continue;
            }
            let (Some(id), Some(pointer), Some(Operand::StorageClass(class))) =
                (instruction.result_id, instruction.result_type, instruction.operands.first())
            else {
                continue;
            };
            let Some(pointee) = self.definition(pointer).and_then(|p| operand(p, 1)) else { continue };
            list.push(Variable { id, class: *class, pointee });
        }
        list
    }

    /// Value of an integer constant.
    pub(crate) fn constant(&self, id: Word) -> Option<u32> {
        let instruction = self.definition(id)?;
        match instruction.class.opcode {
            Op::Constant | Op::SpecConstant => operand(instruction, 0),
            _ => None,
        }
    }

    /// The type with this id, one level deep.
    pub(crate) fn type_of(&self, id: Word) -> Type {
        self.try_type(id).unwrap_or(Type::Other)
    }

    fn try_type(&self, id: Word) -> Option<Type> {
        let instruction = self.definition(id)?;
        let plain = |scalar, columns, rows| Some(Type::Plain { scalar, columns, rows });
        match instruction.class.opcode {
            Op::TypeBool => plain(Scalar::Bool, 1, 1),
            Op::TypeInt => match (operand(instruction, 0)?, operand(instruction, 1)?) {
                (32, 0) => plain(Scalar::Uint, 1, 1),
                (32, _) => plain(Scalar::Int, 1, 1),
                _ => None,
            },
            Op::TypeFloat => match operand(instruction, 0)? {
                32 => plain(Scalar::Float, 1, 1),
                64 => plain(Scalar::Double, 1, 1),
                _ => None,
            },
            Op::TypeVector => match self.try_type(operand(instruction, 0)?)? {
                Type::Plain { scalar, .. } => plain(scalar, 1, operand(instruction, 1)?),
                _ => None,
            },
            Op::TypeMatrix => match self.try_type(operand(instruction, 0)?)? {
                Type::Plain { scalar, rows, .. } => plain(scalar, operand(instruction, 1)?, rows),
                _ => None,
            },
            Op::TypeArray => Some(Type::Array {
                element: operand(instruction, 0)?,
                length: Some(self.constant(operand(instruction, 1)?)?),
            }),
            Op::TypeRuntimeArray => Some(Type::Array { element: operand(instruction, 0)?, length: None }),
            Op::TypeStruct => Some(Type::Struct {
                members: (0..instruction.operands.len()).filter_map(|i| operand(instruction, i)).collect(),
            }),
            Op::TypeSampledImage => self.image(self.definition(operand(instruction, 0)?)?).map(Type::Opaque),
            Op::TypeImage => self.image(instruction).map(Type::Opaque),
            _ => None,
        }
    }

    fn image(&self, instruction: &Instruction) -> Option<OpaqueType> {
        let base = match self.try_type(operand(instruction, 0)?)? {
            Type::Plain { scalar: Scalar::Float, .. } => OpaqueBase::Float,
            Type::Plain { scalar: Scalar::Int, .. } => OpaqueBase::Int,
            Type::Plain { scalar: Scalar::Uint, .. } => OpaqueBase::Uint,
            _ => return None,
        };
        let dim = match instruction.operands.get(1)? {
            Operand::Dim(spirv::Dim::Dim1D) => OpaqueDim::D1,
            Operand::Dim(spirv::Dim::Dim2D) => OpaqueDim::D2,
            Operand::Dim(spirv::Dim::Dim3D) => OpaqueDim::D3,
            Operand::Dim(spirv::Dim::DimCube) => OpaqueDim::Cube,
            Operand::Dim(spirv::Dim::DimRect) => OpaqueDim::Rect,
            Operand::Dim(spirv::Dim::DimBuffer) => OpaqueDim::Buffer,
            _ => return None,
        };
        let image_format = match instruction.operands.get(6) {
            Some(Operand::ImageFormat(format)) => gl_image_format(*format),
            _ => 0,
        };
        let storage = operand(instruction, 5) == Some(2);
        Some(OpaqueType {
            dim,
            shadow: operand(instruction, 2) == Some(1),
            arrayed: operand(instruction, 3) == Some(1),
            multisampled: operand(instruction, 4) == Some(1),
            base,
            image_format,
            readable: storage,
            writable: storage,
        })
    }

    /// Whether the type id is a storage image.
    pub(crate) fn is_storage_image(&self, id: Word) -> bool {
        self.definition(id).is_some_and(|i| i.class.opcode == Op::TypeImage && operand(i, 5) == Some(2))
    }

    /// Size in bytes of a type inside a block, from its offsets and strides. `member` is the struct and member that holds
    /// it, for the matrix layout.
    pub(crate) fn block_size(&self, id: Word, member: Option<(Word, u32)>, depth: u32) -> u64 {
        if depth > MAX_TYPE_DEPTH {
            return 0;
        }
        match self.type_of(id) {
            Type::Plain { scalar, columns: 1, rows } => u64::from(scalar.size() * rows),
            Type::Plain { scalar, columns, rows } => {
                let stride = member.and_then(|(s, m)| self.member_decoration(s, m, Decoration::MatrixStride));
                let row_major = member.is_some_and(|(s, m)| self.member_has(s, m, Decoration::RowMajor));
                let (vectors, length) = if row_major { (rows, columns) } else { (columns, rows) };
                let stride = u64::from(stride.unwrap_or(16));
                // std140 rounds a matrix up to whole vectors.
                let _ = (scalar, length);
                stride * u64::from(vectors)
            }
            Type::Array { element, length } => {
                let stride = u64::from(self.decoration(id, Decoration::ArrayStride).unwrap_or(0));
                let _ = element;
                stride * u64::from(length.unwrap_or(1))
            }
            Type::Struct { members } => {
                let mut end = 0;
                for (index, member_type) in members.iter().enumerate() {
                    let index = index as u32;
                    let offset = u64::from(self.member_decoration(id, index, Decoration::Offset).unwrap_or(0));
                    end = end.max(offset + self.block_size(*member_type, Some((id, index)), depth + 1));
                }
                end
            }
            _ => 0,
        }
    }

    /// How code that is reachable from the entry point uses the global variables.
    pub(crate) fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        let mut functions: HashMap<Word, &dr::Function> = HashMap::new();
        for function in &self.dr.functions {
            if let Some(id) = function.def.as_ref().and_then(|d| d.result_id) {
                functions.insert(id, function);
            }
        }
        let variables: HashSet<Word> = self.variables().into_iter().map(|v| v.id).collect();
        let mut waiting: Vec<Word> = self.dr.entry_points.iter().filter_map(|e| operand(e, 1)).collect();
        let mut seen: HashSet<Word> = waiting.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            let Some(function) = functions.get(&id) else { continue };
            for instruction in function.blocks.iter().flat_map(|b| &b.instructions) {
                match instruction.class.opcode {
                    Op::FunctionCall => {
                        if let Some(callee) = operand(instruction, 0).filter(|callee| seen.insert(*callee)) {
                            waiting.push(callee);
                        }
                    }
                    Op::Kill | Op::TerminateInvocation | Op::DemoteToHelperInvocation => uses.kills = true,
                    Op::EmitStreamVertex => {
                        uses.streams |= operand(instruction, 0).and_then(|s| self.constant(s)).is_some_and(|s| s != 0);
                    }
                    _ => {}
                }
                let chain = matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain);
                for (index, op) in instruction.operands.iter().enumerate() {
                    let Operand::IdRef(id) = op else { continue };
                    if !variables.contains(id) {
                        continue;
                    }
                    uses.variables.insert(*id);
                    let member = operand(instruction, 1).and_then(|first| self.constant(first));
                    match member {
                        Some(member) if chain && index == 0 => {
                            uses.members.insert((*id, member));
                            let element = operand(instruction, 2).and_then(|second| self.constant(second));
                            let end = element.map_or(u32::MAX, |element| element.saturating_add(1));
                            let known = uses.elements.entry((*id, member)).or_default();
                            *known = end.max(*known);
                        }
                        _ => {
                            uses.whole.insert(*id);
                        }
                    }
                }
            }
        }
        uses
    }

    /// The built-in that a variable is decorated with.
    pub(crate) fn built_in(&self, id: Word) -> Option<BuiltIn> {
        self.decoration(id, Decoration::BuiltIn).and_then(BuiltIn::from_u32)
    }

    /// The built-in that a struct member is decorated with.
    pub(crate) fn member_built_in(&self, id: Word, member: u32) -> Option<BuiltIn> {
        self.member_decoration(id, member, Decoration::BuiltIn).and_then(BuiltIn::from_u32)
    }
}

/// GL type of a sampler or image.
pub(crate) fn opaque_gl_type(opaque: &OpaqueType, image: bool) -> u32 {
    use gl_type::*;
    use OpaqueDim::*;
    if image {
        let index = match (opaque.dim, opaque.arrayed, opaque.multisampled) {
            (D1, false, _) => 0,
            (D2, false, false) => 1,
            (D3, ..) => 2,
            (Rect, ..) => 3,
            (Cube, false, _) => 4,
            (Buffer, ..) => 5,
            (D1, true, _) => 6,
            (D2, true, false) => 7,
            (Cube, true, _) => 8,
            (D2, false, true) => 9,
            (D2, true, true) => 10,
        };
        let base = match opaque.base {
            OpaqueBase::Float => IMAGE_1D,
            OpaqueBase::Int => INT_IMAGE_1D,
            OpaqueBase::Uint => UNSIGNED_INT_IMAGE_1D,
        };
        return base + index;
    }
    let pick = |float, int, uint| match opaque.base {
        OpaqueBase::Float => float,
        OpaqueBase::Int => int,
        OpaqueBase::Uint => uint,
    };
    match (opaque.dim, opaque.arrayed, opaque.multisampled, opaque.shadow) {
        (D1, false, _, false) => pick(SAMPLER_1D, INT_SAMPLER_1D, UNSIGNED_INT_SAMPLER_1D),
        (D1, false, _, true) => SAMPLER_1D_SHADOW,
        (D1, true, _, false) => pick(SAMPLER_1D_ARRAY, INT_SAMPLER_1D_ARRAY, UNSIGNED_INT_SAMPLER_1D_ARRAY),
        (D1, true, _, true) => SAMPLER_1D_ARRAY_SHADOW,
        (D2, false, false, false) => pick(SAMPLER_2D, INT_SAMPLER_2D, UNSIGNED_INT_SAMPLER_2D),
        (D2, false, false, true) => SAMPLER_2D_SHADOW,
        (D2, true, false, false) => pick(SAMPLER_2D_ARRAY, INT_SAMPLER_2D_ARRAY, UNSIGNED_INT_SAMPLER_2D_ARRAY),
        (D2, true, false, true) => SAMPLER_2D_ARRAY_SHADOW,
        (D2, false, true, _) => {
            pick(SAMPLER_2D_MULTISAMPLE, INT_SAMPLER_2D_MULTISAMPLE, UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE)
        }
        (D2, true, true, _) => pick(
            SAMPLER_2D_MULTISAMPLE_ARRAY,
            INT_SAMPLER_2D_MULTISAMPLE_ARRAY,
            UNSIGNED_INT_SAMPLER_2D_MULTISAMPLE_ARRAY,
        ),
        (D3, ..) => pick(SAMPLER_3D, INT_SAMPLER_3D, UNSIGNED_INT_SAMPLER_3D),
        (Cube, false, _, false) => pick(SAMPLER_CUBE, INT_SAMPLER_CUBE, UNSIGNED_INT_SAMPLER_CUBE),
        (Cube, false, _, true) => SAMPLER_CUBE_SHADOW,
        (Cube, true, _, false) => {
            pick(SAMPLER_CUBE_MAP_ARRAY, INT_SAMPLER_CUBE_MAP_ARRAY, UNSIGNED_INT_SAMPLER_CUBE_MAP_ARRAY)
        }
        (Cube, true, _, true) => SAMPLER_CUBE_MAP_ARRAY_SHADOW,
        (Rect, _, _, false) => pick(SAMPLER_2D_RECT, INT_SAMPLER_2D_RECT, UNSIGNED_INT_SAMPLER_2D_RECT),
        (Rect, _, _, true) => SAMPLER_2D_RECT_SHADOW,
        (Buffer, ..) => pick(SAMPLER_BUFFER, INT_SAMPLER_BUFFER, UNSIGNED_INT_SAMPLER_BUFFER),
    }
}

/// GL internal format of an image layout, 0 for none.
fn gl_image_format(format: spirv::ImageFormat) -> u32 {
    use spirv::ImageFormat as F;
    match format {
        F::Rgba32f => 0x8814,
        F::Rgba16f => 0x881A,
        F::R32f => 0x822E,
        F::Rgba8 => 0x8058,
        F::Rgba8Snorm => 0x8F97,
        F::Rg32f => 0x8230,
        F::Rg16f => 0x822F,
        F::R11fG11fB10f => 0x8C3A,
        F::R16f => 0x822D,
        F::Rgba16 => 0x805B,
        F::Rgb10A2 => 0x8059,
        F::Rg16 => 0x822C,
        F::Rg8 => 0x822B,
        F::R16 => 0x822A,
        F::R8 => 0x8229,
        F::Rgba16Snorm => 0x8F9B,
        F::Rg16Snorm => 0x8F99,
        F::Rg8Snorm => 0x8F95,
        F::R16Snorm => 0x8F98,
        F::R8Snorm => 0x8F94,
        F::Rgba32i => 0x8D82,
        F::Rgba16i => 0x8D88,
        F::Rgba8i => 0x8D8E,
        F::R32i => 0x8235,
        F::Rg32i => 0x823B,
        F::Rg16i => 0x8239,
        F::Rg8i => 0x8237,
        F::R16i => 0x8233,
        F::R8i => 0x8231,
        F::Rgba32ui => 0x8D70,
        F::Rgba16ui => 0x8D76,
        F::Rgba8ui => 0x8D7C,
        F::R32ui => 0x8236,
        F::Rgb10a2ui => 0x906F,
        F::Rg32ui => 0x823C,
        F::Rg16ui => 0x823A,
        F::Rg8ui => 0x8238,
        F::R16ui => 0x8234,
        F::R8ui => 0x8232,
        _ => 0,
    }
}
