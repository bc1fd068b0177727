//! Runs sequences on the driver of the environment and writes down what came of every call.

use std::collections::BTreeSet;
use std::ffi::{c_void, CStr};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use glow as gl;

use super::kinds::{Kind, Pool, N_POOLS};
use super::ops::{index, OPS};
use super::sequence::{sequence, Call, Mood};
use crate::egl::{ContextRequest, Egl};

/// Memory that calls may read or write, in bytes.
const ARENA: usize = 1 << 22;
/// The side of the colour attachments, in texels.
const SIDE: i64 = 32;
/// An address that is no sync object.
const NO_SYNC: i64 = 0x1000;
/// Names of variables in the programs, and some that are not.
const NAMES: [&CStr; 7] = [c"color", c"image", c"position", c"tint", c"Block", c"result", c"gl_Position"];

/// State that is compared after a sequence.
const STATE: &[u32] = &[
    gl::ACTIVE_TEXTURE,
    gl::BLEND_DST_RGB,
    gl::BLEND_EQUATION_ALPHA,
    gl::BLEND_EQUATION_RGB,
    gl::BLEND_SRC_ALPHA,
    gl::COLOR_WRITEMASK,
    gl::CULL_FACE_MODE,
    gl::DEPTH_FUNC,
    gl::DEPTH_WRITEMASK,
    gl::DRAW_BUFFER0,
    gl::FRONT_FACE,
    gl::LOGIC_OP_MODE,
    gl::PACK_ALIGNMENT,
    gl::PACK_ROW_LENGTH,
    gl::PACK_SKIP_PIXELS,
    gl::PACK_SKIP_ROWS,
    gl::POINT_SPRITE_COORD_ORIGIN,
    gl::POLYGON_MODE,
    gl::PRIMITIVE_RESTART_INDEX,
    gl::PROVOKING_VERTEX,
    gl::READ_BUFFER,
    gl::SAMPLE_COVERAGE_INVERT,
    gl::SCISSOR_BOX,
    gl::STENCIL_BACK_FAIL,
    gl::STENCIL_BACK_FUNC,
    gl::STENCIL_BACK_VALUE_MASK,
    gl::STENCIL_CLEAR_VALUE,
    gl::STENCIL_FAIL,
    gl::STENCIL_FUNC,
    gl::STENCIL_PASS_DEPTH_FAIL,
    gl::STENCIL_VALUE_MASK,
    gl::STENCIL_WRITEMASK,
    gl::UNPACK_ALIGNMENT,
    gl::UNPACK_IMAGE_HEIGHT,
    gl::UNPACK_ROW_LENGTH,
    gl::UNPACK_SKIP_IMAGES,
    gl::UNPACK_SKIP_PIXELS,
    gl::UNPACK_SKIP_ROWS,
    gl::VIEWPORT,
    gl::BLEND,
    gl::DEPTH_TEST,
    gl::STENCIL_TEST,
    gl::SCISSOR_TEST,
    gl::CULL_FACE,
    gl::PRIMITIVE_RESTART,
    gl::RASTERIZER_DISCARD,
    gl::FRAMEBUFFER_SRGB,
    gl::SAMPLE_MASK,
    gl::MULTISAMPLE,
];

/// Bindings that are compared after a sequence, by the object's place in its pool.
const BINDINGS: &[(u32, Pool)] = &[
    (gl::ARRAY_BUFFER_BINDING, Pool::Buffer),
    (gl::ELEMENT_ARRAY_BUFFER_BINDING, Pool::Buffer),
    (gl::UNIFORM_BUFFER_BINDING, Pool::Buffer),
    (gl::TRANSFORM_FEEDBACK_BUFFER_BINDING, Pool::Buffer),
    (gl::PIXEL_PACK_BUFFER_BINDING, Pool::Buffer),
    (gl::PIXEL_UNPACK_BUFFER_BINDING, Pool::Buffer),
    (gl::COPY_READ_BUFFER, Pool::Buffer),
    (gl::COPY_WRITE_BUFFER, Pool::Buffer),
    (gl::TEXTURE_BINDING_1D, Pool::Texture),
    (gl::TEXTURE_BINDING_2D, Pool::Texture),
    (gl::TEXTURE_BINDING_3D, Pool::Texture),
    (gl::TEXTURE_BINDING_2D_ARRAY, Pool::Texture),
    (gl::TEXTURE_BINDING_CUBE_MAP, Pool::Texture),
    (gl::DRAW_FRAMEBUFFER_BINDING, Pool::Framebuffer),
    (gl::READ_FRAMEBUFFER_BINDING, Pool::Framebuffer),
    (gl::RENDERBUFFER_BINDING, Pool::Renderbuffer),
    (gl::VERTEX_ARRAY_BINDING, Pool::VertexArray),
    (gl::CURRENT_PROGRAM, Pool::Program),
    (gl::SAMPLER_BINDING, Pool::Sampler),
];

const POSITION: &CStr = c"#version 330 core
layout(location = 0) in vec4 position; layout(location = 1) in vec4 tint; out vec4 color_of_vertex; out vec2 uv;
void main() { gl_Position = position; color_of_vertex = position * 0.5 + vec4(0.5) + tint * 0.25; uv = position.xy; gl_PointSize = 3.0; }";
const COLOR: &CStr = c"#version 330 core
uniform vec4 color; in vec4 color_of_vertex; layout(location = 0) out vec4 result;
void main() { result = color + color_of_vertex * 0.5; }";
const IMAGE: &CStr = c"#version 330 core
uniform sampler2D image; uniform vec4 color; in vec2 uv; in vec4 color_of_vertex; layout(location = 0) out vec4 result;
void main() { result = texture(image, uv) + color * 0.25 + color_of_vertex * 0.125; }";
const BLOCK: &CStr = c"#version 330 core
layout(std140) uniform Block { vec4 first; vec4 list[3]; }; in vec4 color_of_vertex; layout(location = 0) out vec4 result;
void main() { result = first * 0.5 + list[2] * 0.5 + color_of_vertex * 0.125; }";
const GEOMETRY: &CStr = c"#version 330 core
layout(triangles) in; layout(triangle_strip, max_vertices = 3) out; in vec4 color_of_vertex[]; out vec4 passed;
void main() { for (int i = 0; i < 3; i++) { gl_Position = gl_in[i].gl_Position * vec4(0.5, 0.5, 1.0, 1.0);
passed = color_of_vertex[i]; EmitVertex(); } EndPrimitive(); }";
const PASSED: &CStr = c"#version 330 core
in vec4 passed; layout(location = 0) out vec4 result; void main() { result = passed; }";

/// Which calls of a sequence to run; all when empty.
pub type Only = BTreeSet<usize>;

/// Runs the sequences of `seeds` and appends what came of them to `out`.
pub fn work(seeds: std::ops::Range<u64>, only: &Only, out: &Path) -> Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(out)?;
    let egl = Egl::open()?;
    for seed in seeds {
        writeln!(file, "seed {seed}")?;
        let context = egl.context(&ContextRequest::DEFAULT, None)?;
        context.make_current()?;
        // SAFETY: the context is current on this thread until the runner is gone.
        unsafe {
            let mut runner = Runner::new(&egl)?;
            runner.run(seed, only, &mut file)?;
        }
        context.release()?;
        writeln!(file, "end {seed}")?;
    }
    Ok(())
}

/// The functions, objects and memory of one sequence.
pub(super) struct Runner {
    functions: Vec<*const c_void>,
    egl: Arc<Egl>,
    pools: [Vec<u32>; N_POOLS],
    syncs: Vec<i64>,
    next_sync: usize,
    data: Vec<f32>,
    scratch: Vec<u8>,
    validation: Option<PathBuf>,
}

macro_rules! look_up {
    ($self:ident, $name:literal, fn($($arg:ident: $ty:ty),*) $(-> $ret:ty)?) => {{
        let address = $self.egl.proc_address($name);
        // SAFETY: the address came from eglGetProcAddress under this name, and the registry gives it this signature.
        let f = unsafe { std::mem::transmute::<*const c_void, unsafe extern "system" fn($($ty),*) $(-> $ret)?>(address) };
        f
    }};
}

fn pool(pool: Pool) -> usize {
    Pool::ALL.iter().position(|p| *p == pool).unwrap_or(0)
}

impl Runner {
    pub(super) unsafe fn new(egl: &Arc<Egl>) -> Result<Self> {
        let functions = OPS.iter().map(|op| egl.proc_address(&format!("gl{}", op.name)));
        let functions: Vec<_> = functions.collect();
        let missing = functions.iter().position(|f| f.is_null());
        missing.map_or(Ok(()), |at| Err(anyhow::anyhow!("the driver has no gl{}", OPS[at].name)))?;
        // Numbers that make positions, colours and sizes alike: multiples of a quarter between -1 and 1, each fourth 1.
        let data = (0..ARENA / 4).map(|i| match (i % 4, (i / 4 * 7 + i % 4 * 5) % 9) {
            (3, _) => 1.0,
            (2, step) => step as f32 / 16.0,
            (_, step) => step as f32 / 4.0 - 1.0,
        });
        let mut runner = Self {
            functions,
            egl: Arc::clone(egl),
            pools: Pool::ALL.map(|p| vec![0; p.size()]),
            syncs: vec![NO_SYNC; Pool::Sync.size()],
            next_sync: 0,
            data: data.collect(),
            scratch: vec![0; ARENA],
            validation: std::env::var_os("MGL_VALIDATION_LOG").map(PathBuf::from),
        };
        runner.set_up().context("the objects of the sequence")?;
        Ok(runner)
    }

    /// Calls a function with numbers as they are.
    unsafe fn plain(&self, name: &str, numbers: &[i64]) -> i64 {
        let op = index(name);
        (OPS[op].invoke)(self.functions[op], numbers)
    }

    fn address(&self, floats: usize) -> i64 {
        self.data[floats..].as_ptr().expose_provenance() as i64
    }

    fn name(&self, of: Pool, number: usize) -> i64 {
        i64::from(self.pools[pool(of)][number - 1])
    }

    /// Drops all errors that wait.
    pub(super) unsafe fn forget_errors(&self) {
        while self.error() != gl::NO_ERROR {}
    }

    /// The first sampler.
    pub(super) fn a_sampler(&self) -> i64 {
        self.name(Pool::Sampler, 1)
    }

    /// The first program.
    pub(super) fn a_program(&self) -> i64 {
        self.name(Pool::Program, 1)
    }

    /// The first shader.
    pub(super) fn a_shader(&self) -> i64 {
        self.name(Pool::Shader, 1)
    }

    /// The first query.
    pub(super) fn a_query(&self) -> i64 {
        self.name(Pool::Query, 1)
    }

    pub(super) unsafe fn error(&self) -> u32 {
        look_up!(self, "glGetError", fn() -> u32)()
    }

    unsafe fn integers(&self, name: u32) -> [i32; 4] {
        let mut values = [0; 4];
        look_up!(self, "glGetIntegerv", fn(name: u32, values: *mut i32))(name, values.as_mut_ptr());
        values
    }

    unsafe fn shader(&mut self, number: usize, kind: u32, source: &CStr, compile: bool) -> u32 {
        let shader = look_up!(self, "glCreateShader", fn(kind: u32) -> u32)(kind);
        let strings = [source.as_ptr()];
        look_up!(self, "glShaderSource", fn(shader: u32, n: i32, texts: *const *const i8, lengths: *const i32))(
            shader,
            1,
            strings.as_ptr().cast(),
            std::ptr::null(),
        );
        if compile {
            look_up!(self, "glCompileShader", fn(shader: u32))(shader);
        }
        if number > 0 {
            self.pools[pool(Pool::Shader)][number - 1] = shader;
        }
        shader
    }

    unsafe fn program(&mut self, number: usize, shaders: &[u32], captured: Option<&CStr>) -> Result<()> {
        let program = look_up!(self, "glCreateProgram", fn() -> u32)();
        self.pools[pool(Pool::Program)][number - 1] = program;
        for shader in shaders {
            self.plain("AttachShader", &[i64::from(program), i64::from(*shader)]);
        }
        if let Some(captured) = captured {
            let names = [captured.as_ptr()];
            look_up!(self, "glTransformFeedbackVaryings", fn(program: u32, n: i32, names: *const *const i8, mode: u32))(
                program,
                1,
                names.as_ptr().cast(),
                gl::INTERLEAVED_ATTRIBS,
            );
        }
        self.plain("LinkProgram", &[i64::from(program)]);
        let mut linked = 0i32;
        let at = std::ptr::from_mut(&mut linked).expose_provenance() as i64;
        self.plain("GetProgramiv", &[i64::from(program), i64::from(gl::LINK_STATUS), at]);
        anyhow::ensure!(linked != 0, "program {number} does not link");
        Ok(())
    }

    unsafe fn set_up(&mut self) -> Result<()> {
        for (of, make) in [
            (Pool::Buffer, "GenBuffers"),
            (Pool::Texture, "GenTextures"),
            (Pool::Framebuffer, "GenFramebuffers"),
            (Pool::Renderbuffer, "GenRenderbuffers"),
            (Pool::VertexArray, "GenVertexArrays"),
            (Pool::Sampler, "GenSamplers"),
            (Pool::Query, "GenQueries"),
        ] {
            for number in 1..=of.size() {
                let slot = self.slot(of, number as i64);
                self.plain(make, &[1, slot]);
            }
        }
        let vertex = self.shader(1, gl::VERTEX_SHADER, POSITION, true);
        let color = self.shader(2, gl::FRAGMENT_SHADER, COLOR, true);
        self.shader(3, gl::FRAGMENT_SHADER, c"#version 330 core\nvoid main() { this is nothing }", true);
        self.shader(4, gl::VERTEX_SHADER, POSITION, false);
        let image = self.shader(0, gl::FRAGMENT_SHADER, IMAGE, true);
        let block = self.shader(0, gl::FRAGMENT_SHADER, BLOCK, true);
        let geometry = self.shader(0, gl::GEOMETRY_SHADER, GEOMETRY, true);
        let passed = self.shader(0, gl::FRAGMENT_SHADER, PASSED, true);
        self.program(1, &[vertex, color], None)?;
        self.program(2, &[vertex, image], None)?;
        self.program(3, &[vertex, block], None)?;
        self.program(4, &[vertex, geometry, passed], None)?;
        self.program(5, &[vertex, color], Some(c"color_of_vertex"))?;
        let [array, data] = [i64::from(gl::ARRAY_BUFFER), self.address(0)];
        for number in [1, 3, 5] {
            self.plain("BindBuffer", &[array, self.name(Pool::Buffer, number)]);
            self.plain("BufferData", &[array, 8192, data, i64::from(gl::STATIC_DRAW)]);
        }
        let zeros = vec![0u8; 8192];
        for number in [4, 6] {
            self.plain("BindBuffer", &[array, self.name(Pool::Buffer, number)]);
            let at = zeros.as_ptr().expose_provenance() as i64;
            self.plain("BufferData", &[array, 8192, at, i64::from(gl::DYNAMIC_COPY)]);
        }
        let indices: Vec<u16> = (0..4096u16).map(|i| i * 5 % 23).collect();
        self.plain("BindVertexArray", &[self.name(Pool::VertexArray, 1)]);
        let elements = i64::from(gl::ELEMENT_ARRAY_BUFFER);
        self.plain("BindBuffer", &[elements, self.name(Pool::Buffer, 2)]);
        let at = indices.as_ptr().expose_provenance() as i64;
        self.plain("BufferData", &[elements, 8192, at, i64::from(gl::STATIC_DRAW)]);
        self.plain("BindBuffer", &[array, self.name(Pool::Buffer, 1)]);
        self.plain("VertexAttribPointer", &[0, 4, i64::from(gl::FLOAT), 0, 0, 0]);
        self.plain("EnableVertexAttribArray", &[0]);
        let flat = i64::from(gl::TEXTURE_2D);
        for number in 1..=4 {
            self.plain("BindTexture", &[flat, self.name(Pool::Texture, number)]);
            let side = if number < 3 { SIDE } else { 16 };
            let [internal, format, kind] = [gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE].map(i64::from);
            self.plain("TexImage2D", &[flat, 0, internal, side, side, 0, format, kind, data]);
            for filter in [gl::TEXTURE_MIN_FILTER, gl::TEXTURE_MAG_FILTER] {
                self.plain("TexParameteri", &[flat, i64::from(filter), i64::from(gl::NEAREST)]);
            }
        }
        let layered = i64::from(gl::TEXTURE_2D_ARRAY);
        self.plain("BindTexture", &[layered, self.name(Pool::Texture, 5)]);
        let [internal, format, kind] = [gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE].map(i64::from);
        self.plain("TexImage3D", &[layered, 0, internal, 8, 8, 4, 0, format, kind, data]);
        self.plain("BindTexture", &[flat, self.name(Pool::Texture, 3)]);
        let target = i64::from(gl::RENDERBUFFER);
        self.plain("BindRenderbuffer", &[target, self.name(Pool::Renderbuffer, 1)]);
        self.plain("RenderbufferStorage", &[target, i64::from(gl::DEPTH24_STENCIL8), SIDE, SIDE]);
        self.plain("BindRenderbuffer", &[target, self.name(Pool::Renderbuffer, 2)]);
        self.plain("RenderbufferStorageMultisample", &[target, 4, internal, SIDE, SIDE]);
        let [framebuffer, first] = [gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0].map(i64::from);
        self.plain("Viewport", &[0, 0, SIDE, SIDE]);
        for number in [2, 3, 1] {
            self.plain("BindFramebuffer", &[framebuffer, self.name(Pool::Framebuffer, number)]);
            if number == 2 {
                let color = self.name(Pool::Renderbuffer, 2);
                self.plain("FramebufferRenderbuffer", &[framebuffer, first, target, color]);
            } else {
                let color = self.name(Pool::Texture, if number == 1 { 1 } else { 2 });
                self.plain("FramebufferTexture2D", &[framebuffer, first, flat, color, 0]);
            }
            if number == 1 {
                let (depth, name) = (i64::from(gl::DEPTH_STENCIL_ATTACHMENT), self.name(Pool::Renderbuffer, 1));
                self.plain("FramebufferRenderbuffer", &[framebuffer, depth, target, name]);
            }
            self.plain("Clear", &[0x4500]);
        }
        for number in 0..Pool::Sync.size() {
            self.syncs[number] = self.plain("FenceSync", &[i64::from(gl::SYNC_GPU_COMMANDS_COMPLETE), 0]);
        }
        let error = self.error();
        anyhow::ensure!(error == gl::NO_ERROR, "error {error:#06x}");
        Ok(())
    }

    fn slot(&mut self, of: Pool, number: i64) -> i64 {
        let names = &mut self.pools[pool(of)];
        let at = (number.max(1) as usize - 1).min(names.len() - 1);
        std::ptr::from_mut(&mut names[at]).expose_provenance() as i64
    }

    unsafe fn run(&mut self, seed: u64, only: &Only, file: &mut File) -> Result<()> {
        let mut text = String::new();
        let log_length = |log: &Option<PathBuf>| log.as_ref().and_then(|p| p.metadata().ok()).map_or(0, |m| m.len());
        let said_before = log_length(&self.validation);
        for (at, call) in sequence(seed).iter().enumerate() {
            if !only.is_empty() && !only.contains(&at) {
                continue;
            }
            // What a call does to the process shows by what was written before it.
            writeln!(file, "try {at}")?;
            text.clear();
            match self.numbers(call) {
                Some(numbers) => {
                    let answer = (OPS[call.op].invoke)(self.functions[call.op], &numbers);
                    let error = self.error();
                    write!(text, "call {at} {error:#06x} ")?;
                    self.after(call, answer, error, &mut text);
                    for _ in 0..4 {
                        if self.error() == gl::NO_ERROR {
                            break;
                        }
                        text.push_str(" another error");
                    }
                }
                None => write!(text, "skip {at}")?,
            }
            writeln!(file, "{text}")?;
        }
        writeln!(file, "state {}", self.state())?;
        if Mood::of(seed) == Mood::Gentle {
            self.pictures(file)?;
        }
        look_up!(self, "glFinish", fn())();
        let said = log_length(&self.validation);
        if let Some(path) = self.validation.as_ref().filter(|_| said > said_before) {
            let all = std::fs::read(path)?;
            let new = String::from_utf8_lossy(all.get(said_before as usize..).unwrap_or_default()).into_owned();
            for line in new.lines().filter(|l| !l.trim().is_empty()).take(3) {
                writeln!(file, "validation {line}")?;
            }
        }
        Ok(())
    }

    /// Names and addresses for the numbers of a call, `None` where it would leave the arena or take too long.
    unsafe fn numbers(&mut self, call: &Call) -> Option<Vec<i64>> {
        let op = &OPS[call.op];
        let given = &call.numbers;
        let (unpack, pack) =
            (self.integers(gl::PIXEL_UNPACK_BUFFER_BINDING)[0], self.integers(gl::PIXEL_PACK_BUFFER_BINDING)[0]);
        let in_arena = |bytes: i64| (0..=ARENA as i64 / 2).contains(&bytes);
        let has = |prefix: &str| op.name.starts_with(prefix);
        // Counts and sizes that say how much memory the call touches.
        let fits = match op.name {
            "BufferData" => given[1] <= 1 << 20,
            "BufferSubData" | "GetBufferSubData" => given[2] <= 1 << 20,
            "CompressedTexImage2D" => unpack != 0 || given[6] <= 1 << 20,
            "CompressedTexSubImage2D" => unpack != 0 || given[7] <= 1 << 20,
            "TexImage1D" => unpack != 0 || in_arena(self.pixels(false, given[3], 1, 1)),
            "TexImage2D" => unpack != 0 || in_arena(self.pixels(false, given[3], given[4], 1)),
            "TexImage3D" => unpack != 0 || in_arena(self.pixels(false, given[3], given[4], given[5])),
            "TexSubImage2D" => unpack != 0 || in_arena(self.pixels(false, given[4], given[5], 1)),
            "TexSubImage3D" => unpack != 0 || in_arena(self.pixels(false, given[5], given[6], given[7])),
            "ReadPixels" => pack != 0 || in_arena(self.pixels(true, given[2], given[3], 1)),
            "GetTexImage" => pack != 0 || in_arena(self.pixels(true, 64, 64, 8)),
            "Uniform4fv" | "UniformMatrix4fv" => given[1] <= 1 << 12,
            "DrawArraysInstanced" => given[2].saturating_mul(given[3]) < 1 << 16,
            "DrawElementsInstanced" => given[1].saturating_mul(given[4]) < 1 << 16,
            "DrawRangeElements" => given[3] < 1 << 16,
            "DrawElements" | "DrawElementsBaseVertex" => given[1] < 1 << 16,
            "DrawArrays" => given[2] < 1 << 16,
            _ if has("Gen") && op.kinds.len() == 2 && matches!(op.kinds[1], Kind::Slot(_)) => given[0] <= 1,
            _ if has("Delete") && op.kinds.len() == 2 => given[0] <= 1,
            _ => true,
        };
        if !fits {
            return None;
        }
        let mut program = self.integers(gl::CURRENT_PROGRAM)[0] as u32;
        let mut numbers = Vec::with_capacity(given.len());
        let mut n_out = 0;
        for (kind, number) in op.kinds.iter().zip(given) {
            numbers.push(match kind {
                Kind::Pick(_) | Kind::Float => *number,
                Kind::Object(_) if *number == 0 => 0,
                Kind::Object(Pool::Sync) => self.syncs.get(*number as usize - 1).copied().unwrap_or(NO_SYNC),
                Kind::Object(of) => {
                    // Locations belong to the program that the call names.
                    if *of == Pool::Program {
                        let own = self.pools[pool(*of)].get(*number as usize - 1);
                        program = own.copied().unwrap_or(0);
                    }
                    self.pools[pool(*of)].get(*number as usize - 1).map_or(60_000 + number, |name| i64::from(*name))
                }
                Kind::Slot(of) => self.slot(*of, *number),
                Kind::Out => {
                    let half = if n_out == 0 { 0..32 } else { 32..64 };
                    n_out += 1;
                    // Both answers are written down, also where there is one: nothing earlier may be left.
                    if n_out == 1 {
                        self.scratch[..64].fill(0xCD);
                    }
                    self.scratch[half].as_mut_ptr().expose_provenance() as i64
                }
                Kind::Unpack if unpack != 0 => *number,
                Kind::Pack if pack != 0 && op.name != "GetBufferSubData" => *number,
                Kind::Pack => self.scratch.as_mut_ptr().expose_provenance() as i64,
                Kind::Unpack | Kind::Input => self.address(0),
                Kind::Name => NAMES[*number as usize % NAMES.len()].as_ptr().expose_provenance() as i64,
                Kind::Location if program == 0 || !(0..100).contains(number) => *number,
                Kind::Location => {
                    let name = NAMES[*number as usize % NAMES.len()].as_ptr();
                    let look_up = look_up!(self, "glGetUniformLocation", fn(program: u32, name: *const i8) -> i32);
                    i64::from(look_up(program, name.cast()))
                }
            });
        }
        // Looking a location up in a program that a sequence broke is no part of the sequence.
        while self.error() != gl::NO_ERROR {}
        Some(numbers)
    }

    /// An upper bound for the bytes that a transfer of pixels touches.
    unsafe fn pixels(&self, pack: bool, width: i64, height: i64, depth: i64) -> i64 {
        let base = if pack { gl::PACK_ROW_LENGTH } else { gl::UNPACK_ROW_LENGTH };
        let step = if pack { gl::PACK_SKIP_ROWS - gl::PACK_ROW_LENGTH } else { 1 };
        let of = |offset: u32| self.integers(base + offset * step)[0];
        let (row_length, skip_rows, skip_pixels) = (of(0), of(1), of(2));
        let images =
            [gl::UNPACK_SKIP_IMAGES, gl::UNPACK_IMAGE_HEIGHT].map(|n| if pack { 0 } else { self.integers(n)[0] });
        let [width, height, depth] = [width, height, depth].map(|n| i128::from(n.max(0)));
        let row = i128::from(row_length).max(width) + i128::from(skip_pixels) + 8;
        let rows = (i128::from(images[0]) + depth) * i128::from(images[1]).max(height) + i128::from(skip_rows) + 1;
        i64::try_from(row * rows * 16).unwrap_or(i64::MAX)
    }

    /// Writes down the answer of a call, in terms that do not depend on the driver, and does what belongs to it.
    unsafe fn after(&mut self, call: &Call, answer: i64, error: u32, text: &mut String) {
        let op = &OPS[call.op];
        match op.name {
            "FenceSync" => {
                if answer != 0 {
                    let at = self.next_sync % self.syncs.len();
                    self.syncs[at] = answer;
                    self.next_sync += 1;
                }
                text.push_str(if answer == 0 { "none" } else { "a sync object" });
            }
            "MapBuffer" | "MapBufferRange" => {
                text.push_str(if answer == 0 { "null" } else { "mapped" });
                if answer != 0 {
                    self.fill_mapping(call.numbers[0] as u32, answer);
                }
            }
            // When a fence signals is each driver's own affair.
            "ClientWaitSync" => text.push_str(if answer == i64::from(gl::WAIT_FAILED) { "failed" } else { "waited" }),
            "GetQueryObjectuiv" | "GetBufferSubData" | "ReadPixels" | "GetTexImage" => text.push('-'),
            _ => {
                let slot = op.kinds.iter().zip(&call.numbers).find_map(|(kind, number)| match kind {
                    Kind::Slot(of) => Some((*of, *number)),
                    _ => None,
                });
                if let Some((of, number)) = slot.filter(|_| op.name.starts_with("Delete") && error == gl::NO_ERROR) {
                    // One driver gives a free name to the next object, the other does not: nobody has this one.
                    let names = &mut self.pools[pool(of)];
                    let at = (number.max(1) as usize - 1).min(names.len() - 1);
                    names[at] = 50_000 + at as u32;
                }
                let _ = write!(text, "{answer}");
                if error == gl::NO_ERROR && op.kinds.iter().any(|k| matches!(k, Kind::Out)) {
                    let values: &[i32] = bytemuck::cast_slice(&self.scratch[..48]);
                    let _ = write!(text, " {values:?}");
                }
            }
        }
    }

    /// Writes into a fresh mapping where that is allowed.
    unsafe fn fill_mapping(&mut self, target: u32, address: i64) {
        let ask = look_up!(self, "glGetBufferParameteriv", fn(target: u32, name: u32, value: *mut i32));
        let (mut flags, mut length) = (0, 0);
        ask(target, gl::BUFFER_ACCESS_FLAGS, &mut flags);
        ask(target, gl::BUFFER_MAP_LENGTH, &mut length);
        while self.error() != gl::NO_ERROR {}
        let bytes: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
        if flags as u32 & gl::MAP_WRITE_BIT != 0 && length > 0 {
            // SAFETY: the driver mapped so many bytes at this address for writing just now.
            let mapped = unsafe { std::slice::from_raw_parts_mut(bytes, length as usize) };
            for (i, byte) in mapped.iter_mut().enumerate() {
                *byte = (i * 3) as u8;
            }
        }
    }

    unsafe fn state(&self) -> String {
        let mut text = String::new();
        for name in STATE {
            let values = self.integers(*name);
            let count = match *name {
                gl::VIEWPORT | gl::SCISSOR_BOX | gl::COLOR_WRITEMASK => 4,
                _ => 1,
            };
            let mut values = values[..count].to_vec();
            match *name {
                // As many bits as a stencil buffer has; what is above is each driver's own affair.
                gl::STENCIL_VALUE_MASK | gl::STENCIL_BACK_VALUE_MASK | gl::STENCIL_WRITEMASK => values[0] &= 0xFF,
                gl::DEPTH_WRITEMASK | gl::SAMPLE_COVERAGE_INVERT => values[0] = i32::from(values[0] != 0),
                // Which of the two a pbuffer has.
                gl::READ_BUFFER | gl::DRAW_BUFFER0 if values[0] as u32 == gl::FRONT => values[0] = gl::BACK as i32,
                _ => {}
            }
            let _ = write!(text, "{name:#06x}={values:?};");
        }
        for (name, of) in BINDINGS {
            let bound = self.integers(*name)[0] as u32;
            let place = match bound {
                0 => 0,
                _ => self.pools[pool(*of)].iter().position(|n| *n == bound).map_or(-1, |at| at as i32 + 1),
            };
            let _ = write!(text, "{name:#06x}={of:?}#{place};");
        }
        text
    }

    /// The colour attachments, and the buffers that calls write to.
    unsafe fn pictures(&mut self, file: &mut File) -> Result<()> {
        self.plain("PixelStorei", &[i64::from(gl::PACK_ALIGNMENT), 4]);
        for parameter in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_ROWS, gl::PACK_SKIP_PIXELS] {
            self.plain("PixelStorei", &[i64::from(parameter), 0]);
        }
        self.plain("BindBuffer", &[i64::from(gl::PIXEL_PACK_BUFFER), 0]);
        let flat = i64::from(gl::TEXTURE_2D);
        let at = self.scratch.as_mut_ptr().expose_provenance() as i64;
        for number in [1, 2] {
            self.plain("BindTexture", &[flat, self.name(Pool::Texture, number)]);
            self.plain("GetTexImage", &[flat, 0, i64::from(gl::RGBA), i64::from(gl::UNSIGNED_BYTE), at]);
            writeln!(file, "picture {number} {}", hex(&self.scratch[..(SIDE * SIDE * 4) as usize]))?;
        }
        let target = i64::from(gl::COPY_READ_BUFFER);
        for number in [4, 6] {
            self.plain("BindBuffer", &[target, self.name(Pool::Buffer, number)]);
            self.plain("GetBufferSubData", &[target, 0, 4096, at]);
            writeln!(file, "buffer {number} {}", hex(&self.scratch[..4096]))?;
        }
        while self.error() != gl::NO_ERROR {}
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
