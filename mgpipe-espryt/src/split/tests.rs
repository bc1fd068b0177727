//! Modules made by hand, taken apart.

use super::*;
use rspirv::dr::Builder;
use rspirv::spirv::{AddressingModel, BuiltIn, Capability, ExecutionModel, FunctionControl, MemoryModel};

/// Types, global variables, and then a `main` that is still open.
struct Maker {
    b: Builder,
    main: Option<Word>,
    void: Word,
    signature: Word,
    float: Word,
    vec2: Word,
    vec4: Word,
    interface: Vec<Word>,
}

impl Maker {
    fn new() -> Maker {
        let mut b = Builder::new();
        b.set_version(1, 3);
        b.capability(Capability::Shader);
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let float = b.type_float(32);
        let (vec2, vec4) = (b.type_vector(float, 2), b.type_vector(float, 4));
        let void = b.type_void();
        let signature = b.type_function(void, []);
        Maker { b, main: None, void, signature, float, vec2, vec4, interface: Vec::new() }
    }

    /// Begins `main`, behind which no global variable is made any more.
    fn open(&mut self) -> Word {
        *self.main.get_or_insert_with(|| {
            let (void, signature) = (self.void, self.signature);
            let main = self.b.begin_function(void, None, FunctionControl::NONE, signature).expect("begun");
            self.b.begin_block(None).expect("begun");
            main
        })
    }

    fn index(&mut self, value: u32) -> Word {
        let int = self.b.type_int(32, 1);
        self.b.constant_bit32(int, value)
    }

    fn array(&mut self, element: Word, length: u32) -> Word {
        let length = self.index(length);
        self.b.type_array(element, length)
    }

    fn variable(&mut self, class: StorageClass, ty: Word, location: u32) -> Word {
        let pointer = self.b.type_pointer(None, class, ty);
        let id = self.b.variable(pointer, None, class, None);
        self.b.decorate(id, Decoration::Location, [Operand::LiteralBit32(location)]);
        self.interface.push(id);
        id
    }

    /// Reads an element through an access chain.
    fn read(&mut self, class: StorageClass, variable: Word, ty: Word, path: &[u32]) -> Word {
        self.open();
        let pointer = self.b.type_pointer(None, class, ty);
        let path: Vec<Word> = path.iter().map(|index| self.index(*index)).collect();
        let chain = self.b.access_chain(pointer, None, variable, path).expect("chained");
        self.b.load(ty, None, chain, None, []).expect("loaded")
    }

    fn finish(mut self, model: ExecutionModel) -> Vec<u32> {
        let main = self.open();
        self.b.ret().expect("ended");
        self.b.end_function().expect("ended");
        self.b.entry_point(model, main, "main", self.interface);
        self.b.module().assemble()
    }
}

/// Class, location and whether it is an array, of every variable with a location.
fn placed(words: &[u32]) -> Vec<(StorageClass, u32)> {
    let module = dr::load_words(words).expect("well formed");
    let index = Index::new(&module);
    let mut list: Vec<(StorageClass, u32)> = index
        .variables()
        .into_iter()
        .filter_map(|(id, class, _)| {
            let at = module.annotations.iter().find(|i| {
                index::word(i, 0) == Some(id) && i.operands.get(1) == Some(&Operand::Decoration(Decoration::Location))
            })?;
            Some((class, index::word(at, 2)?))
        })
        .collect();
    list.sort_by_key(|(class, location)| (*class as u32, *location));
    list
}

fn count(words: &[u32], op: Op) -> usize {
    let module = dr::load_words(words).expect("well formed");
    module.functions.iter().flat_map(|f| f.all_inst_iter()).filter(|i| i.class.opcode == op).count()
}

#[test]
fn an_array_of_attributes_becomes_one_for_each_element() {
    let mut maker = Maker::new();
    let array = maker.array(maker.vec4, 3);
    let input = maker.variable(StorageClass::Input, array, 2);
    let float = maker.float;
    maker.read(StorageClass::Input, input, float, &[1, 0]);
    let mut stages = [(Stage::Vertex, maker.finish(ExecutionModel::Vertex))];
    let before = stages[0].1.clone();
    split(&mut stages, &[]);
    assert_ne!(stages[0].1, before);
    let input = StorageClass::Input;
    assert_eq!(placed(&stages[0].1), [(input, 2), (input, 3), (input, 4)]);
    assert_eq!(count(&stages[0].1, Op::Store), 3);
}

#[test]
fn attributes_at_one_location_share_the_widest() {
    let mut maker = Maker::new();
    let (vec2, vec4) = (maker.vec2, maker.vec4);
    let narrow = maker.variable(StorageClass::Input, vec2, 1);
    let wide = maker.variable(StorageClass::Input, vec4, 1);
    maker.open();
    maker.b.load(vec2, None, narrow, None, []).expect("loaded");
    maker.b.load(vec4, None, wide, None, []).expect("loaded");
    let mut stages = [(Stage::Vertex, maker.finish(ExecutionModel::Vertex))];
    split(&mut stages, &[]);
    assert_eq!(placed(&stages[0].1), [(StorageClass::Input, 1)]);
    assert_eq!(count(&stages[0].1, Op::VectorShuffle), 1);
    assert_eq!(count(&stages[0].1, Op::Store), 2);
}

#[test]
fn attributes_that_the_linker_has_moved_come_together_again() {
    let mut maker = Maker::new();
    let vec4 = maker.vec4;
    for location in [3, 7] {
        maker.variable(StorageClass::Input, vec4, location);
    }
    let input = |location, spirv_location| InterfaceVariable {
        name: String::new(),
        gl_type: 0,
        array_size: 1,
        location,
        spirv_location,
        component: 0,
        index: 0,
        per_patch: false,
        stages: Stage::Vertex.mask(),
    };
    let mut stages = [(Stage::Vertex, maker.finish(ExecutionModel::Vertex))];
    split(&mut stages, &[input(3, 3), input(3, 7)]);
    assert_eq!(placed(&stages[0].1), [(StorageClass::Input, 3)]);
}

/// A structure of a vector and an array of two, in an array of two.
fn structures(maker: &mut Maker, class: StorageClass) -> Word {
    let pair = maker.array(maker.vec2, 2);
    let structure = maker.b.type_struct([maker.vec4, pair]);
    let array = maker.array(structure, 2);
    maker.variable(class, array, 5)
}

#[test]
fn structures_are_written_and_read_piece_by_piece() {
    let (mut writer, mut reader) = (Maker::new(), Maker::new());
    structures(&mut writer, StorageClass::Output);
    let read = structures(&mut reader, StorageClass::Input);
    let float = reader.float;
    reader.read(StorageClass::Input, read, float, &[1, 0, 3]);
    let mut stages = [
        (Stage::Vertex, writer.finish(ExecutionModel::Vertex)),
        (Stage::Fragment, reader.finish(ExecutionModel::Fragment)),
    ];
    split(&mut stages, &[]);
    let at = |class| [5, 6, 8, 9].map(|location| (class, location));
    assert_eq!(placed(&stages[0].1), at(StorageClass::Output));
    assert_eq!(placed(&stages[1].1), at(StorageClass::Input));
    assert_eq!((count(&stages[0].1, Op::Store), count(&stages[1].1, Op::Store)), (4, 4));
}

#[test]
fn structures_that_nobody_reads_are_not_written() {
    let mut writer = Maker::new();
    structures(&mut writer, StorageClass::Output);
    let mut stages = [(Stage::Vertex, writer.finish(ExecutionModel::Vertex))];
    split(&mut stages, &[]);
    assert_eq!(placed(&stages[0].1), []);
    assert_eq!(count(&stages[0].1, Op::Store), 0);
}

#[test]
fn a_captured_array_of_arrays_is_captured_by_pieces() {
    let mut writer = Maker::new();
    let inner = writer.array(writer.vec2, 3);
    let outer = writer.array(inner, 2);
    let output = writer.variable(StorageClass::Output, outer, 0);
    for (decoration, value) in [(Decoration::XfbBuffer, 1), (Decoration::Offset, 16)] {
        writer.b.decorate(output, decoration, [Operand::LiteralBit32(value)]);
    }
    let mut stages = [(Stage::Vertex, writer.finish(ExecutionModel::Vertex))];
    split(&mut stages, &[]);
    let module = dr::load_words(&stages[0].1).expect("well formed");
    let offsets: Vec<u32> = module
        .annotations
        .iter()
        .filter(|i| i.operands.get(1) == Some(&Operand::Decoration(Decoration::Offset)))
        .filter_map(|i| index::word(i, 2))
        .collect();
    assert_eq!(offsets, [16, 16 + 24]);
}

#[test]
fn what_is_allowed_stays_as_it_is() {
    let mut maker = Maker::new();
    let array = maker.array(maker.vec4, 3);
    maker.variable(StorageClass::Output, array, 0);
    let vec4 = maker.vec4;
    maker.variable(StorageClass::Input, vec4, 0);
    maker.variable(StorageClass::Input, vec4, 1);
    let words = maker.finish(ExecutionModel::Vertex);
    let mut stages = [(Stage::Vertex, words.clone()), (Stage::Fragment, vec![1, 2, 3])];
    split(&mut stages, &[]);
    assert_eq!(stages[0].1, words);
}

#[test]
fn clip_distances_that_are_indexed_are_read_from_a_copy() {
    let mut maker = Maker::new();
    let distances = maker.array(maker.float, 2);
    let block = maker.b.type_struct([maker.vec4, distances]);
    for (member, built_in) in [(0, BuiltIn::Position), (1, BuiltIn::ClipDistance)] {
        maker.b.member_decorate(block, member, Decoration::BuiltIn, [Operand::BuiltIn(built_in)]);
    }
    maker.b.decorate(block, Decoration::Block, []);
    let vertices = maker.array(block, 3);
    let pointer = maker.b.type_pointer(None, StorageClass::Input, vertices);
    let all = maker.b.variable(pointer, None, StorageClass::Input, None);
    maker.interface.push(all);
    maker.read(StorageClass::Input, all, distances, &[2, 1]);
    let vec4 = maker.vec4;
    maker.read(StorageClass::Input, all, vec4, &[2, 0]);
    let mut stages = [(Stage::Geometry, maker.finish(ExecutionModel::Geometry))];
    split(&mut stages, &[]);
    // Three vertices with two distances each, and the two loads that were there.
    assert_eq!((count(&stages[0].1, Op::Store), count(&stages[0].1, Op::Load)), (6, 8));
}
