//! The GL functions that sequences are made of, with the kind of each argument.

use std::ffi::c_void;

use super::kinds::*;

/// A C type of an argument, made from the number that stands for it.
trait Argument {
    fn from_number(number: i64) -> Self;
}

macro_rules! integers {
    ($($ty:ty),*) => { $(impl Argument for $ty {
        fn from_number(number: i64) -> Self {
            number as $ty
        }
    })* };
}
integers!(u8, u32, i32, u64, isize, usize);

impl Argument for f32 {
    fn from_number(number: i64) -> Self {
        f32::from_bits(number as u32)
    }
}

impl Argument for f64 {
    fn from_number(number: i64) -> Self {
        f64::from(f32::from_bits(number as u32))
    }
}

impl Argument for *mut c_void {
    fn from_number(number: i64) -> Self {
        std::ptr::with_exposed_provenance_mut(number as usize)
    }
}

/// What a function returns, as a number.
trait Answer {
    fn number(self) -> i64;
}

impl Answer for () {
    fn number(self) -> i64 {
        0
    }
}

impl Answer for u32 {
    fn number(self) -> i64 {
        i64::from(self)
    }
}

impl Answer for i32 {
    fn number(self) -> i64 {
        i64::from(self)
    }
}

impl Answer for u8 {
    fn number(self) -> i64 {
        i64::from(self != 0)
    }
}

impl Answer for *mut c_void {
    fn number(self) -> i64 {
        self.expose_provenance() as i64
    }
}

/// One GL function.
pub struct Op {
    /// The name without `gl`.
    pub name: &'static str,
    /// Kind of each argument.
    pub kinds: &'static [Kind],
    /// Calls the function.
    ///
    /// # Safety
    /// The address is the function of this name, a context is current, there is a number for every kind, and those that
    /// stand for memory are addresses of as much as the call touches.
    pub invoke: unsafe fn(*const c_void, &[i64]) -> i64,
}

macro_rules! ops {
    ($($name:ident($($ty:tt $kind:expr),* $(,)?) $(-> $ret:ty)?;)*) => {
        /// Every function, in an order that sequences depend on.
        pub const OPS: &[Op] = &[$(Op {
            name: stringify!($name),
            kinds: &[$($kind),*],
            invoke: {
                unsafe fn invoke(address: *const c_void, numbers: &[i64]) -> i64 {
                    type Function = unsafe extern "system" fn($(ops!(@type $ty)),*) $(-> $ret)?;
                    // SAFETY: the caller's address is that of this function, to which the registry gives this signature.
                    let function = unsafe { std::mem::transmute::<*const c_void, Function>(address) };
                    let mut numbers = numbers.iter().copied();
                    let mut next = || numbers.next().unwrap_or(0);
                    // The closure is not called by functions without arguments.
                    let _ = &mut next;
                    Answer::number(function($(<ops!(@type $ty)>::from_number(ops!(@next $ty next))),*))
                }
                invoke
            },
        }),*];
    };
    (@type ptr) => { *mut c_void };
    (@type $ty:tt) => { $ty };
    (@next $ty:tt $next:ident) => { $next() };
}

use Kind::{Float as F, Input, Location as L, Name, Object as O, Out, Pack, Slot, Unpack};
use Pool::{Buffer, Framebuffer, Program, Query, Renderbuffer, Sampler, Shader, Sync, Texture, VertexArray};

ops! {
    ActiveTexture(u32 UNIT);
    AttachShader(u32 O(Program), u32 O(Shader));
    BeginConditionalRender(u32 O(Query), u32 CONDITION);
    BeginQuery(u32 QUERY_TARGET, u32 O(Query));
    BeginTransformFeedback(u32 CAPTURED_PRIMITIVE);
    BindAttribLocation(u32 O(Program), u32 ATTRIBUTE, ptr Name);
    BindBuffer(u32 BUFFER_TARGET, u32 O(Buffer));
    BindBufferBase(u32 INDEXED_TARGET, u32 INDEX, u32 O(Buffer));
    BindBufferRange(u32 INDEXED_TARGET, u32 INDEX, u32 O(Buffer), isize OFFSET, isize BYTES);
    BindFragDataLocation(u32 O(Program), u32 INDEX, ptr Name);
    BindFramebuffer(u32 FRAMEBUFFER_TARGET, u32 O(Framebuffer));
    BindRenderbuffer(u32 RENDERBUFFER_TARGET, u32 O(Renderbuffer));
    BindSampler(u32 INDEX, u32 O(Sampler));
    BindTexture(u32 TEXTURE_TARGET, u32 O(Texture));
    BindVertexArray(u32 O(VertexArray));
    BlendColor(f32 F, f32 F, f32 F, f32 F);
    BlendEquation(u32 EQUATION);
    BlendEquationSeparate(u32 EQUATION, u32 EQUATION);
    BlendFunc(u32 FACTOR, u32 FACTOR);
    BlendFuncSeparate(u32 FACTOR, u32 FACTOR, u32 FACTOR, u32 FACTOR);
    BlitFramebuffer(
        i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE, i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE,
        u32 CLEAR_BITS, u32 FILTER
    );
    BufferData(u32 BUFFER_TARGET, isize BYTES, ptr Input, u32 USAGE);
    BufferSubData(u32 BUFFER_TARGET, isize OFFSET, isize BYTES, ptr Input);
    CheckFramebufferStatus(u32 FRAMEBUFFER_TARGET) -> u32;
    ClampColor(u32 CLAMP, u32 CLAMP_VALUE);
    Clear(u32 CLEAR_BITS);
    ClearBufferfi(u32 CLEARED, i32 ZERO, f32 F, i32 MASK);
    ClearBufferfv(u32 CLEARED, i32 INDEX, ptr Input);
    ClearBufferiv(u32 CLEARED, i32 INDEX, ptr Input);
    ClearBufferuiv(u32 CLEARED, i32 INDEX, ptr Input);
    ClearColor(f32 F, f32 F, f32 F, f32 F);
    ClearDepth(f64 F);
    ClearStencil(i32 MASK);
    ClientWaitSync(ptr O(Sync), u32 BOOL, u64 TIMEOUT) -> u32;
    ColorMask(u8 BOOL, u8 BOOL, u8 BOOL, u8 BOOL);
    ColorMaski(u32 INDEX, u8 BOOL, u8 BOOL, u8 BOOL, u8 BOOL);
    CompressedTexImage2D(u32 IMAGE_TARGET, i32 LEVEL, u32 COMPRESSED, i32 SIDE, i32 SIDE, i32 ZERO, i32 BYTES, ptr Unpack);
    CompressedTexSubImage2D(
        u32 IMAGE_TARGET, i32 LEVEL, i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE, u32 COMPRESSED, i32 BYTES,
        ptr Unpack
    );
    CopyBufferSubData(u32 BUFFER_TARGET, u32 BUFFER_TARGET, isize OFFSET, isize OFFSET, isize BYTES);
    CopyTexImage2D(u32 IMAGE_TARGET, i32 LEVEL, u32 INTERNAL, i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE, i32 ZERO);
    CopyTexSubImage2D(
        u32 IMAGE_TARGET, i32 LEVEL, i32 COORDINATE, i32 COORDINATE, i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE
    );
    CullFace(u32 FACE);
    DeleteBuffers(i32 ONE, ptr Slot(Buffer));
    DeleteFramebuffers(i32 ONE, ptr Slot(Framebuffer));
    DeleteQueries(i32 ONE, ptr Slot(Query));
    DeleteRenderbuffers(i32 ONE, ptr Slot(Renderbuffer));
    DeleteSamplers(i32 ONE, ptr Slot(Sampler));
    DeleteSync(ptr O(Sync));
    DeleteTextures(i32 ONE, ptr Slot(Texture));
    DeleteVertexArrays(i32 ONE, ptr Slot(VertexArray));
    DepthFunc(u32 COMPARE);
    DepthMask(u8 BOOL);
    DepthRange(f64 F, f64 F);
    DetachShader(u32 O(Program), u32 O(Shader));
    Disable(u32 CAPABILITY);
    DisableVertexAttribArray(u32 ATTRIBUTE);
    Disablei(u32 INDEXED_CAPABILITY, u32 INDEX);
    DrawArrays(u32 PRIMITIVE, i32 ZERO, i32 VERTICES);
    DrawArraysInstanced(u32 PRIMITIVE, i32 ZERO, i32 VERTICES, i32 INSTANCES);
    DrawBuffer(u32 COLOR_BUFFER);
    DrawElements(u32 PRIMITIVE, i32 VERTICES, u32 INDEX_TYPE, usize OFFSET);
    DrawElementsBaseVertex(u32 PRIMITIVE, i32 VERTICES, u32 INDEX_TYPE, usize OFFSET, i32 ZERO);
    DrawElementsInstanced(u32 PRIMITIVE, i32 VERTICES, u32 INDEX_TYPE, usize OFFSET, i32 INSTANCES);
    DrawRangeElements(u32 PRIMITIVE, u32 ZERO, u32 VERTICES, i32 VERTICES, u32 INDEX_TYPE, usize OFFSET);
    Enable(u32 CAPABILITY);
    EnableVertexAttribArray(u32 ATTRIBUTE);
    Enablei(u32 INDEXED_CAPABILITY, u32 INDEX);
    EndConditionalRender();
    EndQuery(u32 QUERY_TARGET);
    EndTransformFeedback();
    FenceSync(u32 SYNC_CONDITION_KIND, u32 ZERO) -> *mut c_void;
    FlushMappedBufferRange(u32 BUFFER_TARGET, isize OFFSET, isize BYTES);
    FramebufferRenderbuffer(u32 FRAMEBUFFER_TARGET, u32 ATTACHMENT, u32 RENDERBUFFER_TARGET, u32 O(Renderbuffer));
    FramebufferTexture(u32 FRAMEBUFFER_TARGET, u32 ATTACHMENT, u32 O(Texture), i32 LEVEL);
    FramebufferTexture2D(u32 FRAMEBUFFER_TARGET, u32 ATTACHMENT, u32 ATTACHED_TARGET, u32 O(Texture), i32 LEVEL);
    FramebufferTextureLayer(u32 FRAMEBUFFER_TARGET, u32 ATTACHMENT, u32 O(Texture), i32 LEVEL, i32 INDEX);
    FrontFace(u32 WINDING);
    GenBuffers(i32 ONE, ptr Slot(Buffer));
    GenFramebuffers(i32 ONE, ptr Slot(Framebuffer));
    GenQueries(i32 ONE, ptr Slot(Query));
    GenRenderbuffers(i32 ONE, ptr Slot(Renderbuffer));
    GenSamplers(i32 ONE, ptr Slot(Sampler));
    GenTextures(i32 ONE, ptr Slot(Texture));
    GenVertexArrays(i32 ONE, ptr Slot(VertexArray));
    GenerateMipmap(u32 TEXTURE_TARGET);
    GetAttribLocation(u32 O(Program), ptr Name) -> i32;
    GetBufferParameteriv(u32 BUFFER_TARGET, u32 BUFFER_PARAMETER, ptr Out);
    GetBufferSubData(u32 BUFFER_TARGET, isize OFFSET, isize BYTES, ptr Pack);
    GetFragDataLocation(u32 O(Program), ptr Name) -> i32;
    GetFramebufferAttachmentParameteriv(u32 FRAMEBUFFER_TARGET, u32 ATTACHMENT, u32 ATTACHMENT_PARAMETER, ptr Out);
    GetIntegeri_v(u32 INDEXED_STATE, u32 INDEX, ptr Out);
    GetProgramiv(u32 O(Program), u32 PROGRAM_PARAMETER, ptr Out);
    GetQueryiv(u32 QUERY_TARGET, u32 QUERY_PARAMETER, ptr Out);
    GetQueryObjectuiv(u32 O(Query), u32 QUERY_OBJECT_PARAMETER, ptr Out);
    GetRenderbufferParameteriv(u32 RENDERBUFFER_TARGET, u32 RENDERBUFFER_PARAMETER, ptr Out);
    GetSamplerParameteriv(u32 O(Sampler), u32 TEXTURE_PARAMETER, ptr Out);
    GetShaderiv(u32 O(Shader), u32 SHADER_PARAMETER, ptr Out);
    GetSynciv(ptr O(Sync), u32 SYNC_PARAMETER, i32 ONE, ptr Out, ptr Out);
    GetTexImage(u32 IMAGE_TARGET, i32 LEVEL, u32 FORMAT, u32 PIXEL_TYPE, ptr Pack);
    GetTexLevelParameteriv(u32 IMAGE_TARGET, i32 LEVEL, u32 LEVEL_PARAMETER, ptr Out);
    GetTexParameteriv(u32 TEXTURE_TARGET, u32 TEXTURE_PARAMETER, ptr Out);
    GetUniformfv(u32 O(Program), i32 L, ptr Out);
    GetVertexAttribiv(u32 ATTRIBUTE, u32 ATTRIBUTE_PARAMETER, ptr Out);
    Hint(u32 HINT, u32 HINT_VALUE);
    IsBuffer(u32 O(Buffer)) -> u8;
    IsEnabled(u32 CAPABILITY) -> u8;
    IsEnabledi(u32 INDEXED_CAPABILITY, u32 INDEX) -> u8;
    IsFramebuffer(u32 O(Framebuffer)) -> u8;
    IsProgram(u32 O(Program)) -> u8;
    IsQuery(u32 O(Query)) -> u8;
    IsRenderbuffer(u32 O(Renderbuffer)) -> u8;
    IsSampler(u32 O(Sampler)) -> u8;
    IsSync(ptr O(Sync)) -> u8;
    IsTexture(u32 O(Texture)) -> u8;
    IsVertexArray(u32 O(VertexArray)) -> u8;
    LineWidth(f32 F);
    LinkProgram(u32 O(Program));
    LogicOp(u32 LOGIC);
    MapBuffer(u32 BUFFER_TARGET, u32 ACCESS) -> *mut c_void;
    MapBufferRange(u32 BUFFER_TARGET, isize OFFSET, isize BYTES, u32 MAP_BITS) -> *mut c_void;
    PixelStorei(u32 STORE, i32 STORE_VALUE);
    PointParameteri(u32 POINT_PARAMETER, i32 PARAMETER_VALUE);
    PointSize(f32 F);
    PolygonMode(u32 FACE, u32 POLYGON);
    PolygonOffset(f32 F, f32 F);
    PrimitiveRestartIndex(u32 MASK);
    ProvokingVertex(u32 PROVOKING);
    QueryCounter(u32 O(Query), u32 QUERY_TARGET);
    ReadBuffer(u32 COLOR_BUFFER);
    ReadPixels(i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE, u32 FORMAT, u32 PIXEL_TYPE, ptr Pack);
    RenderbufferStorage(u32 RENDERBUFFER_TARGET, u32 INTERNAL, i32 SIDE, i32 SIDE);
    RenderbufferStorageMultisample(u32 RENDERBUFFER_TARGET, i32 SAMPLES, u32 INTERNAL, i32 SIDE, i32 SIDE);
    SampleCoverage(f32 F, u8 BOOL);
    SampleMaski(u32 ZERO, u32 MASK);
    SamplerParameteri(u32 O(Sampler), u32 TEXTURE_PARAMETER, i32 PARAMETER_VALUE);
    Scissor(i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE);
    StencilFunc(u32 COMPARE, i32 MASK, u32 MASK);
    StencilFuncSeparate(u32 FACE, u32 COMPARE, i32 MASK, u32 MASK);
    StencilMask(u32 MASK);
    StencilOp(u32 STENCIL_OPERATION, u32 STENCIL_OPERATION, u32 STENCIL_OPERATION);
    TexBuffer(u32 TEXTURE_TARGET, u32 INTERNAL, u32 O(Buffer));
    TexImage1D(u32 IMAGE_TARGET_1D, i32 LEVEL, i32 INTERNAL, i32 SIDE, i32 ZERO, u32 FORMAT, u32 PIXEL_TYPE, ptr Unpack);
    TexImage2D(
        u32 IMAGE_TARGET, i32 LEVEL, i32 INTERNAL, i32 SIDE, i32 SIDE, i32 ZERO, u32 FORMAT, u32 PIXEL_TYPE, ptr Unpack
    );
    TexImage2DMultisample(u32 SAMPLED_TARGET, i32 SAMPLES, u32 INTERNAL, i32 SIDE, i32 SIDE, u8 BOOL);
    TexImage3D(
        u32 IMAGE_TARGET_3D, i32 LEVEL, i32 INTERNAL, i32 SIDE, i32 SIDE, i32 DEPTH, i32 ZERO, u32 FORMAT,
        u32 PIXEL_TYPE, ptr Unpack
    );
    TexParameteri(u32 TEXTURE_TARGET, u32 TEXTURE_PARAMETER, i32 PARAMETER_VALUE);
    TexSubImage2D(
        u32 IMAGE_TARGET, i32 LEVEL, i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE, u32 FORMAT, u32 PIXEL_TYPE,
        ptr Unpack
    );
    TexSubImage3D(
        u32 IMAGE_TARGET_3D, i32 LEVEL, i32 COORDINATE, i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE, i32 DEPTH,
        u32 FORMAT, u32 PIXEL_TYPE, ptr Unpack
    );
    Uniform1f(i32 L, f32 F);
    Uniform1i(i32 L, i32 INDEX);
    Uniform1ui(i32 L, u32 INDEX);
    Uniform4f(i32 L, f32 F, f32 F, f32 F, f32 F);
    Uniform4fv(i32 L, i32 INDEX, ptr Input);
    UniformBlockBinding(u32 O(Program), u32 INDEX, u32 INDEX);
    UniformMatrix4fv(i32 L, i32 INDEX, u8 BOOL, ptr Input);
    UnmapBuffer(u32 BUFFER_TARGET) -> u8;
    UseProgram(u32 O(Program));
    ValidateProgram(u32 O(Program));
    VertexAttrib4f(u32 ATTRIBUTE, f32 F, f32 F, f32 F, f32 F);
    VertexAttribI4i(u32 ATTRIBUTE, i32 INDEX, i32 INDEX, i32 INDEX, i32 INDEX);
    VertexAttribDivisor(u32 ATTRIBUTE, u32 INDEX);
    VertexAttribIPointer(u32 ATTRIBUTE, i32 COMPONENTS, u32 INTEGER_TYPE, i32 STRIDE, usize OFFSET);
    VertexAttribPointer(u32 ATTRIBUTE, i32 COMPONENTS, u32 ATTRIBUTE_TYPE, u8 BOOL, i32 STRIDE, usize OFFSET);
    Viewport(i32 COORDINATE, i32 COORDINATE, i32 SIDE, i32 SIDE);
    WaitSync(ptr O(Sync), u32 ZERO, u64 TIMEOUT);
}

/// The number of the function of this name; sequences are written with names that are in the table.
pub fn index(name: &str) -> usize {
    OPS.iter().position(|op| op.name == name).unwrap_or_else(|| panic!("{name} is no function of the table"))
}
