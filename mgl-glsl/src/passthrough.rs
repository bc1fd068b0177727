//! The control shader of programs that have a tessellation evaluation shader and none of their own: it hands the vertex
//! shader's outputs on and takes the levels from uniforms (GL 4.6 core, section 11.2.2).

use std::collections::{HashMap, HashSet};

use mgpipe_types::reflection::{Stage, DEFAULT_BLOCK_NAME, TESS_LEVEL_INNER_UNIFORM, TESS_LEVEL_OUTER_UNIFORM};
use rspirv::binary::Assemble;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, MemoryModel, Op,
    StorageClass, Word,
};

use crate::module::{operand, Module, Type, Uses};

/// Array size of per-vertex inputs: `gl_MaxPatchVertices`.
const MAX_PATCH_VERTICES: u32 = 32;

/// Declarations that a vertex shader needs in its prelude, so that the default block holds the levels.
pub(crate) fn uniforms() -> String {
    format!("uniform vec4 {TESS_LEVEL_OUTER_UNIFORM};uniform vec2 {TESS_LEVEL_INNER_UNIFORM};")
}

/// Builds the module for `vertices` vertices a patch.
pub(crate) fn build(vertex: &Module, uses: &Uses, vertices: u32) -> Result<Vec<u32>, String> {
    let mut builder = Builder {
        from: vertex,
        to: dr::Module::new(),
        next: 1,
        copied: HashMap::new(),
        known: HashMap::new(),
        interface: Vec::new(),
        code: Vec::new(),
    };
    builder.run(uses, vertices).ok_or("error: no control shader can be made for this vertex shader")?;
    Ok(builder.to.assemble())
}

struct Builder<'m> {
    from: &'m Module,
    to: dr::Module,
    next: Word,
    copied: HashMap<Word, Word>,
    known: HashMap<(Op, Option<Word>, Vec<u32>), Word>,
    interface: Vec<Word>,
    code: Vec<Instruction>,
}

impl Builder<'_> {
    fn fresh(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    fn type_or_constant(&mut self, op: Op, result_type: Option<Word>, operands: Vec<Operand>, key: Vec<u32>) -> Word {
        // Arrays and structs may repeat, everything else is declared once.
        if let Some(id) = self.known.get(&(op, result_type, key.clone())) {
            return *id;
        }
        let id = self.fresh();
        self.to.types_global_values.push(Instruction::new(op, result_type, Some(id), operands));
        self.known.insert((op, result_type, key), id);
        id
    }

    fn uint(&mut self, value: u32) -> Word {
        let literals = vec![Operand::LiteralBit32(32), Operand::LiteralBit32(0)];
        let uint = self.type_or_constant(Op::TypeInt, None, literals, vec![32, 0]);
        self.type_or_constant(Op::Constant, Some(uint), vec![Operand::LiteralBit32(value)], vec![value])
    }

    fn float(&mut self) -> Word {
        self.type_or_constant(Op::TypeFloat, None, vec![Operand::LiteralBit32(32)], vec![32])
    }

    fn array(&mut self, element: Word, length: u32) -> Word {
        let length = self.uint(length);
        let id = self.fresh();
        let operands = vec![Operand::IdRef(element), Operand::IdRef(length)];
        self.to.types_global_values.push(Instruction::new(Op::TypeArray, None, Some(id), operands));
        id
    }

    fn pointer(&mut self, class: StorageClass, to: Word) -> Word {
        let operands = vec![Operand::StorageClass(class), Operand::IdRef(to)];
        self.type_or_constant(Op::TypePointer, None, operands, vec![class as u32, to])
    }

    fn variable(&mut self, class: StorageClass, of: Word) -> Word {
        let pointer = self.pointer(class, of);
        let id = self.fresh();
        let operands = vec![Operand::StorageClass(class)];
        self.to.types_global_values.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
        if matches!(class, StorageClass::Input | StorageClass::Output) {
            self.interface.push(id);
        }
        id
    }

    fn decorate(&mut self, id: Word, decoration: Decoration, value: Option<Operand>) {
        let mut operands = vec![Operand::IdRef(id), Operand::Decoration(decoration)];
        operands.extend(value);
        self.to.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    /// Copies a type with its names and decorations; `again` makes another copy of a struct.
    fn copy(&mut self, id: Word, again: bool) -> Option<Word> {
        if let Some(copy) = self.copied.get(&id).filter(|_| !again) {
            return Some(*copy);
        }
        let definition = self.from.definition(id)?.clone();
        let op = definition.class.opcode;
        let mut operands = Vec::with_capacity(definition.operands.len());
        let mut key = Vec::new();
        for operand in &definition.operands {
            let new = match operand {
                Operand::IdRef(inner) => Operand::IdRef(self.copy(*inner, false)?),
                other => other.clone(),
            };
            match &new {
                Operand::IdRef(value) | Operand::LiteralBit32(value) => key.push(*value),
                _ => return None,
            }
            operands.push(new);
        }
        let result_type = match definition.result_type {
            Some(inner) => Some(self.copy(inner, false)?),
            None => None,
        };
        let repeats = matches!(op, Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray);
        let copy = if repeats {
            let copy = self.fresh();
            self.to.types_global_values.push(Instruction::new(op, result_type, Some(copy), operands));
            self.annotate(id, copy);
            copy
        } else {
            self.type_or_constant(op, result_type, operands, key)
        };
        self.copied.insert(id, copy);
        Some(copy)
    }

    /// Copies names and decorations of an id, except those of transform feedback and interpolation.
    fn annotate(&mut self, id: Word, copy: Word) {
        let retarget = |i: &Instruction| {
            let mut i = i.clone();
            if let Some(first) = i.operands.first_mut() {
                *first = Operand::IdRef(copy);
            }
            i
        };
        let kept = |i: &&Instruction| {
            operand(i, 0) == Some(id)
                && !i.operands.iter().any(|o| {
                    matches!(
                        o,
                        Operand::Decoration(
                            Decoration::XfbBuffer
                                | Decoration::XfbStride
                                | Decoration::Stream
                                | Decoration::Flat
                                | Decoration::NoPerspective
                                | Decoration::Centroid
                                | Decoration::Sample
                                | Decoration::Invariant
                        )
                    )
                })
        };
        self.to.debug_names.extend(self.from.dr.debug_names.iter().filter(kept).map(retarget));
        self.to.annotations.extend(self.from.dr.annotations.iter().filter(kept).map(retarget));
    }

    fn emit(&mut self, op: Op, result_type: Option<Word>, operands: Vec<Word>) -> Word {
        let id = self.fresh();
        let result = result_type.map(|_| id);
        let operands = operands.into_iter().map(Operand::IdRef).collect();
        self.code.push(Instruction::new(op, result_type, result, operands));
        id
    }

    /// Emits the copy of one value between two access chains.
    fn hand_on(&mut self, value_type: Word, from: (StorageClass, Vec<Word>), to: Vec<Word>) {
        let (source, target) = (self.pointer(from.0, value_type), self.pointer(StorageClass::Output, value_type));
        let source = self.emit(Op::AccessChain, Some(source), from.1);
        let value = self.emit(Op::Load, Some(value_type), vec![source]);
        let target = self.emit(Op::AccessChain, Some(target), to);
        self.emit(Op::Store, None, vec![target, value]);
    }

    fn run(&mut self, uses: &Uses, vertices: u32) -> Option<()> {
        let mut capabilities: HashSet<Capability> = [Capability::Shader, Capability::Tessellation].into();
        let int = {
            let literals = vec![Operand::LiteralBit32(32), Operand::LiteralBit32(1)];
            self.type_or_constant(Op::TypeInt, None, literals, vec![32, 1])
        };
        let invocation = self.variable(StorageClass::Input, int);
        self.decorate(invocation, Decoration::BuiltIn, Some(Operand::BuiltIn(BuiltIn::InvocationId)));
        let invocation = self.emit(Op::Load, Some(int), vec![invocation]);
        for variable in self.from.variables() {
            if variable.class != StorageClass::Output {
                continue;
            }
            let is_block = matches!(self.from.type_of(variable.pointee), Type::Struct { .. })
                && self.from.has(variable.pointee, Decoration::Block);
            if !is_block && self.from.built_in(variable.id).is_some() {
                continue;
            }
            let (incoming, outgoing) = (self.copy(variable.pointee, is_block)?, self.copy(variable.pointee, is_block)?);
            let (in_array, out_array) = (self.array(incoming, MAX_PATCH_VERTICES), self.array(outgoing, vertices));
            let input = self.variable(StorageClass::Input, in_array);
            let output = self.variable(StorageClass::Output, out_array);
            self.annotate(variable.id, input);
            self.annotate(variable.id, output);
            if !is_block {
                let chain = |variable| vec![variable, invocation];
                self.hand_on(outgoing, (StorageClass::Input, chain(input)), chain(output));
                continue;
            }
            let Type::Struct { members } = self.from.type_of(variable.pointee) else { return None };
            for (index, member) in members.iter().enumerate() {
                let index = index as u32;
                let built_in = self.from.member_built_in(variable.pointee, index);
                if built_in.is_some() && !uses.member(variable.id, index) {
                    continue;
                }
                match built_in {
                    Some(BuiltIn::PointSize) => {
                        capabilities.insert(Capability::TessellationPointSize);
                    }
                    Some(BuiltIn::ClipDistance) => {
                        capabilities.insert(Capability::ClipDistance);
                    }
                    Some(BuiltIn::CullDistance) => {
                        capabilities.insert(Capability::CullDistance);
                    }
                    _ => {}
                }
                let at = self.uint(index);
                let value_type = self.copy(*member, false)?;
                let chain = |variable| vec![variable, invocation, at];
                self.hand_on(value_type, (StorageClass::Input, chain(input)), chain(output));
            }
        }
        self.levels()?;
        if self
            .from
            .dr
            .capabilities
            .iter()
            .any(|i| i.operands.first() == Some(&Operand::Capability(Capability::Float64)))
        {
            capabilities.insert(Capability::Float64);
        }
        self.finish(capabilities, vertices);
        Some(())
    }

    /// Copies the levels from the default block.
    fn levels(&mut self) -> Option<()> {
        let block = self
            .from
            .variables()
            .into_iter()
            .find(|v| v.class == StorageClass::Uniform && self.from.name(v.pointee) == DEFAULT_BLOCK_NAME)?;
        let Type::Struct { members } = self.from.type_of(block.pointee) else { return None };
        let struct_type = self.copy(block.pointee, false)?;
        let uniform = self.variable(StorageClass::Uniform, struct_type);
        self.annotate(block.id, uniform);
        let float = self.float();
        for (name, built_in, count) in [
            (TESS_LEVEL_OUTER_UNIFORM, BuiltIn::TessLevelOuter, 4),
            (TESS_LEVEL_INNER_UNIFORM, BuiltIn::TessLevelInner, 2),
        ] {
            let member = (0..members.len() as u32).find(|m| self.from.member_name(block.pointee, *m) == name)?;
            let array = self.array(float, count);
            let output = self.variable(StorageClass::Output, array);
            self.decorate(output, Decoration::BuiltIn, Some(Operand::BuiltIn(built_in)));
            self.decorate(output, Decoration::Patch, None);
            let member = self.uint(member);
            for index in 0..count {
                let index = self.uint(index);
                self.hand_on(float, (StorageClass::Uniform, vec![uniform, member, index]), vec![output, index]);
            }
        }
        Some(())
    }

    fn finish(&mut self, capabilities: HashSet<Capability>, vertices: u32) {
        let mut capabilities: Vec<Capability> = capabilities.into_iter().collect();
        capabilities.sort_by_key(|c| *c as u32);
        for capability in capabilities {
            let operands = vec![Operand::Capability(capability)];
            self.to.capabilities.push(Instruction::new(Op::Capability, None, None, operands));
        }
        let models =
            vec![Operand::AddressingModel(AddressingModel::Logical), Operand::MemoryModel(MemoryModel::GLSL450)];
        self.to.memory_model = Some(Instruction::new(Op::MemoryModel, None, None, models));
        let void = self.type_or_constant(Op::TypeVoid, None, Vec::new(), Vec::new());
        let function_type = self.type_or_constant(Op::TypeFunction, None, vec![Operand::IdRef(void)], vec![void]);
        let (main, label) = (self.fresh(), self.fresh());
        let mut function = dr::Function::new();
        let operands = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(function_type)];
        function.def = Some(Instruction::new(Op::Function, Some(void), Some(main), operands));
        function.end = Some(Instruction::new(Op::FunctionEnd, None, None, Vec::new()));
        let mut block = dr::Block::new();
        block.label = Some(Instruction::new(Op::Label, None, Some(label), Vec::new()));
        block.instructions = std::mem::take(&mut self.code);
        block.instructions.push(Instruction::new(Op::Return, None, None, Vec::new()));
        function.blocks.push(block);
        self.to.functions.push(function);
        let mut operands = vec![
            Operand::ExecutionModel(ExecutionModel::TessellationControl),
            Operand::IdRef(main),
            Operand::LiteralString("main".into()),
        ];
        operands.extend(self.interface.iter().map(|id| Operand::IdRef(*id)));
        self.to.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
        let operands = vec![
            Operand::IdRef(main),
            Operand::ExecutionMode(ExecutionMode::OutputVertices),
            Operand::LiteralBit32(vertices),
        ];
        self.to.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
        let mut header = dr::ModuleHeader::new(self.next);
        header.set_version(1, 3);
        self.to.header = Some(header);
    }
}

/// Whether the stages need a control shader made here.
pub(crate) fn is_needed(stages: impl Fn(Stage) -> bool) -> bool {
    stages(Stage::Vertex) && stages(Stage::TessEvaluation) && !stages(Stage::TessControl)
}
