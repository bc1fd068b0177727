//! Sequences of calls by seed: what a program would do, with arguments that are wrong now and then.

use super::kinds::Kind;
use super::ops::{index, OPS};

/// A call: which function, and a number for each argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Position in [`OPS`].
    pub op: usize,
    /// What the arguments are drawn to be; the worker turns objects and memory into names and addresses.
    pub numbers: Vec<i64>,
}

impl Call {
    /// Name of the function, without `gl`.
    pub fn name(&self) -> &'static str {
        OPS[self.op].name
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let op = &OPS[self.op];
        write!(f, "gl{}(", op.name)?;
        for (i, (kind, number)) in op.kinds.iter().zip(&self.numbers).enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            match kind {
                Kind::Object(pool) | Kind::Slot(pool) => write!(f, "{comma}{pool:?}#{number}")?,
                Kind::Float => write!(f, "{comma}{:?}", f32::from_bits(*number as u32))?,
                Kind::Out => write!(f, "{comma}out")?,
                Kind::Input | Kind::Unpack | Kind::Pack => write!(f, "{comma}@{number}")?,
                Kind::Name => write!(f, "{comma}name{number}")?,
                Kind::Location => write!(f, "{comma}location{number}")?,
                Kind::Pick(_) if (0x200..=0xFFFF).contains(number) => write!(f, "{comma}{number:#06X}")?,
                Kind::Pick(_) => write!(f, "{comma}{number}")?,
            }
        }
        f.write_str(")")
    }
}

/// Numbers that look random and depend on the seed alone.
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    /// The next number.
    pub fn draw_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw_number() % n.max(1) as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// Values that no argument should have. None makes a legal call that takes long or much memory.
const HOSTILE: &[i64] =
    &[-1, i32::MAX as i64, i32::MIN as i64, 100_000, 0xDEAD, 0x9234, 7, 33, 0x8000, -5, 0xFFFF_FFFF];

/// Numbers for floating-point arguments.
const FLOATS: &[f32] = &[0.0, 1.0, 0.5, 0.25, 1.0, 0.0, -1.0, 2.0];

/// How a sequence is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Legal calls whose result is defined: the pictures and buffers have to agree.
    Gentle,
    /// Calls that are often wrong: errors, answers and state have to agree.
    Hostile,
}

impl Mood {
    /// The mood of a seed: every third is gentle.
    pub fn of(seed: u64) -> Self {
        if seed.is_multiple_of(3) {
            Mood::Gentle
        } else {
            Mood::Hostile
        }
    }
}

/// The sequence of a seed.
pub fn sequence(seed: u64) -> Vec<Call> {
    let mut maker = Maker { random: Random::new(seed), calls: Vec::new(), mood: Mood::of(seed) };
    let n_steps = 8 + maker.random.below(24);
    for _ in 0..n_steps {
        maker.step();
    }
    maker.calls
}

struct Maker {
    random: Random,
    calls: Vec<Call>,
    mood: Mood,
}

/// Internal format, format and type that go together.
const TRIPLES: &[(i64, i64, i64)] = &[
    (0x8058, 0x1908, 0x1401),
    (0x8058, 0x80E1, 0x8367),
    (0x8051, 0x1907, 0x1401),
    (0x8229, 0x1903, 0x1401),
    (0x822B, 0x8227, 0x1401),
    (0x881A, 0x1908, 0x140B),
    (0x8059, 0x1908, 0x8368),
    (0x8D62, 0x1907, 0x8363),
    (0x805B, 0x1908, 0x1403),
    (0x8058, 0x1908, 0x8033),
];

impl Maker {
    fn hostile(&self) -> bool {
        self.mood == Mood::Hostile
    }

    fn number(&mut self, kind: Kind) -> i64 {
        let wrong = self.hostile() && self.random.once_in(16);
        match kind {
            Kind::Pick(_) if wrong => self.random.pick(HOSTILE),
            Kind::Pick(list) => self.random.pick(list),
            Kind::Object(_) if wrong => 99,
            Kind::Object(pool) => self.random.below(pool.size() + 1) as i64,
            Kind::Slot(pool) => self.random.below(pool.size()) as i64 + 1,
            Kind::Float if wrong => i64::from(self.random.pick(&[f32::NAN, f32::INFINITY, -1e30]).to_bits()),
            Kind::Float => i64::from(self.random.pick(FLOATS).to_bits()),
            Kind::Out | Kind::Input => 0,
            Kind::Unpack | Kind::Pack if wrong => self.random.pick(&[1, 3, 4090, 100_000, i64::MAX, -4]),
            Kind::Unpack | Kind::Pack => self.random.pick(&[0, 0, 0, 16, 64]),
            Kind::Location if wrong => self.random.pick(&[-1, 999, -7]),
            Kind::Location | Kind::Name => self.random.below(7) as i64,
        }
    }

    /// A call with these arguments, one of which may be spoilt.
    fn call(&mut self, name: &str, numbers: &[i64]) {
        let op = index(name);
        let kinds = OPS[op].kinds;
        assert_eq!(kinds.len(), numbers.len(), "gl{name}");
        let mut numbers = numbers.to_vec();
        if self.hostile() && !numbers.is_empty() && self.random.once_in(5) {
            let at = self.random.below(numbers.len());
            // Drawn anew, and half of the times from what is never right.
            numbers[at] = match kinds[at] {
                Kind::Pick(_) if self.random.once_in(2) => self.random.pick(HOSTILE),
                kind => self.number(kind),
            };
        }
        self.calls.push(Call { op, numbers });
    }

    /// Any function with any arguments.
    fn anything(&mut self) {
        let op = self.random.below(OPS.len());
        let numbers = OPS[op].kinds.iter().map(|kind| self.number(*kind)).collect();
        self.calls.push(Call { op, numbers });
    }

    fn step(&mut self) {
        if self.hostile() && self.random.once_in(2) {
            for _ in 0..1 + self.random.below(4) {
                self.anything();
            }
            return;
        }
        match self.random.below(14) {
            0 => self.texture(),
            1 => self.sub_image(),
            2..=4 => self.draw(),
            5 => self.state(),
            6 => self.clear(),
            7 => self.blit(),
            8 => self.map(),
            9 => self.copy(),
            10 => self.feedback(),
            11 => self.query(),
            12 => self.read(),
            _ => self.uniform(),
        }
    }

    fn float(&mut self) -> i64 {
        i64::from(self.random.pick(&[0.0f32, 0.25, 0.5, 0.75, 1.0]).to_bits())
    }

    /// Textures 3 and 4 are sampled, never drawn to.
    fn texture(&mut self) {
        let (internal, format, kind) = self.random.pick(TRIPLES);
        let side = self.random.pick(&[4, 8, 16]);
        let texture = 3 + self.random.below(2) as i64;
        self.call("ActiveTexture", &[0x84C0]);
        self.call("BindTexture", &[0x0DE1, texture]);
        self.call("TexImage2D", &[0x0DE1, 0, internal, side, side, 0, format, kind, 0]);
        let filter = self.random.pick(&[0x2600, 0x2601]);
        self.call("TexParameteri", &[0x0DE1, 0x2801, filter]);
        let wrap = self.random.pick(&[0x2901, 0x812F, 0x8370]);
        self.call("TexParameteri", &[0x0DE1, 0x2802, wrap]);
        if self.random.once_in(2) {
            self.call("GenerateMipmap", &[0x0DE1]);
            self.call("TexParameteri", &[0x0DE1, 0x2801, 0x2700]);
        }
        if self.random.once_in(3) {
            let (which, value) =
                (self.random.below(4) as i64, self.random.pick(&[0, 1, 0x1903, 0x1904, 0x1905, 0x1906]));
            self.call("TexParameteri", &[0x0DE1, 0x8E42 + which, value]);
        }
    }

    fn sub_image(&mut self) {
        let (x, y) = (self.random.below(3) as i64, self.random.below(3) as i64);
        let texture = 3 + self.random.below(2) as i64;
        self.call("BindTexture", &[0x0DE1, texture]);
        let from_buffer = self.random.once_in(3);
        if from_buffer {
            self.call("BindBuffer", &[0x88EC, 5]);
        }
        if self.random.once_in(2) {
            let row_length = self.random.pick(&[0, 4, 5, 8]);
            self.call("PixelStorei", &[0x0CF2, row_length]);
            let skip = self.random.pick(&[0, 1, 2]);
            self.call("PixelStorei", &[0x0CF4, skip]);
        }
        self.call("TexSubImage2D", &[0x0DE1, 0, x, y, 2, 2, 0x1908, 0x1401, 16]);
        self.call("PixelStorei", &[0x0CF2, 0]);
        self.call("PixelStorei", &[0x0CF4, 0]);
        if from_buffer {
            self.call("BindBuffer", &[0x88EC, 0]);
        }
    }

    /// Program 1 colours, 2 samples, 3 has a uniform block, 4 a geometry shader, 5 captures.
    fn draw(&mut self) {
        let program = 1 + self.random.below(4) as i64;
        self.call("UseProgram", &[program]);
        self.call("BindVertexArray", &[1]);
        if self.random.once_in(3) {
            self.call("BindBuffer", &[0x8892, 1]);
            let offset = self.random.pick(&[0, 0, 16, 48]);
            self.call("VertexAttribPointer", &[0, 4, 0x1406, 0, 0, offset]);
        }
        if program == 3 {
            self.call("BindBufferRange", &[0x8A11, 0, 3, 0, 64]);
        }
        let count = self.random.pick(&[3, 3, 6, 4]);
        // Points would tell what a corner of a pixel and a w of zero mean, which stands nowhere.
        let mode = self.random.pick(&[4, 4, 5, 6, 5]);
        match self.random.below(4) {
            0 => self.call("DrawArrays", &[mode, 0, count]),
            1 => self.call("DrawElements", &[mode, count, 0x1403, 0]),
            2 => self.call("DrawArraysInstanced", &[mode, 0, count, 2]),
            _ => self.call("DrawElementsBaseVertex", &[mode, count, 0x1403, 6, 1]),
        }
    }

    fn state(&mut self) {
        let capability = self.random.pick(&[0x0BE2, 0x0B71, 0x0B90, 0x0C11, 0x0B44, 0x8642, 0x8F9D, 0x8DB9]);
        let on = if self.random.once_in(3) { "Disable" } else { "Enable" };
        self.call(on, &[capability]);
        match self.random.below(8) {
            0 => {
                let factors = [0, 1, 0x0302, 0x0303, 0x0306];
                let (from, to) = (self.random.pick(&factors), self.random.pick(&factors));
                self.call("BlendFunc", &[from, to]);
            }
            1 => {
                let function = 0x0200 + self.random.below(8) as i64;
                self.call("DepthFunc", &[function]);
            }
            2 => {
                let function = 0x0200 + self.random.below(8) as i64;
                self.call("StencilFunc", &[function, 1, 0xFF]);
                self.call("StencilOp", &[0x1E00, 0x1E00, 0x1E02]);
            }
            3 => self.call("Scissor", &[2, 3, 16, 8]),
            4 => self.call("ColorMask", &[1, 0, 1, 1]),
            5 => self.call("Viewport", &[0, 4, 24, 20]),
            6 => {
                let face = self.random.pick(&[0x0404, 0x0405]);
                self.call("CullFace", &[face]);
            }
            _ => {
                let equation = self.random.pick(&[0x8006, 0x800A, 0x800B, 0x8007, 0x8008]);
                self.call("BlendEquation", &[equation]);
            }
        }
    }

    fn clear(&mut self) {
        let color = [self.float(), self.float(), self.float(), self.float()];
        self.call("ClearColor", &color);
        let depth = self.float();
        self.call("ClearDepth", &[depth]);
        self.call("ClearStencil", &[1]);
        let bits = self.random.pick(&[0x4000, 0x4100, 0x4500, 0x0400]);
        self.call("Clear", &[bits]);
    }

    fn blit(&mut self) {
        let (from, to) = self.random.pick(&[(1, 3), (3, 1), (2, 1)]);
        self.call("BindFramebuffer", &[0x8CA8, from]);
        self.call("BindFramebuffer", &[0x8CA9, to]);
        let size = if from == 2 { 32 } else { self.random.pick(&[32, 16, 8]) };
        let (x, y) = if from == 2 { (0, 0) } else { (self.random.below(4) as i64, self.random.below(4) as i64) };
        self.call("BlitFramebuffer", &[0, 0, size, size, x, y, x + size, y + size, 0x4000, 0x2600]);
        self.call("BindFramebuffer", &[0x8D40, 1]);
    }

    fn map(&mut self) {
        self.call("BindBuffer", &[0x8F36, 6]);
        let offset = self.random.pick(&[0, 64, 256]);
        // What a mapping without synchronisation does to a copy that is under way is undefined.
        let bits = self.random.pick(&[2, 3, 6, 0x12, 2]);
        self.call("MapBufferRange", &[0x8F36, offset, 64, bits]);
        if bits & 0x10 != 0 {
            self.call("FlushMappedBufferRange", &[0x8F36, 0, 64]);
        }
        self.call("UnmapBuffer", &[0x8F36]);
        let size = self.random.pick(&[16, 64]);
        self.call("BufferSubData", &[0x8F36, offset, size, 0]);
    }

    fn copy(&mut self) {
        match self.random.below(3) {
            0 => {
                self.call("BindBuffer", &[0x8F36, 6]);
                self.call("BindBuffer", &[0x8F37, 1]);
                let offset = self.random.pick(&[0, 64, 256]);
                self.call("CopyBufferSubData", &[0x8F37, 0x8F36, offset, offset, 64]);
            }
            1 => {
                self.call("BindTexture", &[0x0DE1, 3]);
                let format = self.random.pick(&[0x8058, 0x8051, 0x8229]);
                self.call("CopyTexImage2D", &[0x0DE1, 0, format, 0, 0, 16, 16, 0]);
                self.call("TexParameteri", &[0x0DE1, 0x2801, 0x2600]);
            }
            _ => {
                self.call("BindTexture", &[0x0DE1, 4]);
                self.call("CopyTexSubImage2D", &[0x0DE1, 0, 1, 1, 4, 4, 2, 2]);
            }
        }
    }

    fn feedback(&mut self) {
        self.call("UseProgram", &[5]);
        self.call("BindVertexArray", &[1]);
        let offset = self.random.pick(&[0, 64, 256]);
        self.call("BindBufferRange", &[0x8C8E, 0, 4, offset, 1024]);
        self.call("BeginTransformFeedback", &[4]);
        let count = self.random.pick(&[3, 6]);
        self.call("DrawArrays", &[4, 0, count]);
        self.call("EndTransformFeedback", &[]);
    }

    fn query(&mut self) {
        let target = self.random.pick(&[0x8C2F, 0x8C87, 0x8914]);
        let query = 1 + self.random.below(3) as i64;
        self.call("BeginQuery", &[target, query]);
        self.draw();
        self.call("EndQuery", &[target]);
        if self.random.once_in(2) {
            self.call("BeginConditionalRender", &[query, 0x8E13]);
            self.draw();
            self.call("EndConditionalRender", &[]);
        }
        if target != 0x8914 || self.hostile() {
            self.call("GetQueryObjectuiv", &[query, 0x8866, 0]);
        }
    }

    fn read(&mut self) {
        self.call("BindBuffer", &[0x88EB, 6]);
        let (format, kind) =
            self.random.pick(&[(0x1908, 0x1401), (0x80E1, 0x1401), (0x1903, 0x1401), (0x1908, 0x8367)]);
        let offset = self.random.pick(&[0, 64, 256]);
        self.call("ReadPixels", &[1, 2, 8, 8, format, kind, offset]);
        self.call("BindBuffer", &[0x88EB, 0]);
    }

    fn uniform(&mut self) {
        let program = 1 + self.random.below(2) as i64;
        self.call("UseProgram", &[program]);
        let values = [self.float(), self.float(), self.float(), self.float()];
        self.call("Uniform4f", &[0, values[0], values[1], values[2], values[3]]);
        if self.random.once_in(4) {
            self.call("VertexAttrib4f", &[1, values[0], values[1], values[2], values[3]]);
        }
    }
}
