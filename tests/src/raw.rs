//! GL 3.3 functions that glow does not offer, plus those whose glow form hides the argument that a test is about.

use std::ffi::{c_char, c_void};

use crate::egl::Egl;

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        /// A table of GL functions; calling one that the driver does not have panics with its name.
        #[allow(non_snake_case)]
        pub struct Raw { $($name: *const c_void,)* }

        #[allow(non_snake_case)]
        impl Raw {
            /// Looks every function up; absent ones are noticed when called.
            pub fn load(egl: &Egl) -> Self {
                Self { $($name: egl.proc_address(concat!("gl", stringify!($name))),)* }
            }

            $(
                #[doc = concat!("`gl", stringify!($name), "`")]
                pub unsafe fn $name(&self, $($arg: $ty),*) $(-> $ret)? {
                    assert!(!self.$name.is_null(), concat!("the driver has no gl", stringify!($name)));
                    // SAFETY: the address came from eglGetProcAddress under this name, and the registry gives it this
                    // signature.
                    let f: unsafe extern "system" fn($($ty),*) $(-> $ret)? = unsafe { std::mem::transmute(self.$name) };
                    f($($arg),*)
                }
            )*
        }
    };
}

/// The C type of a debug callback.
pub type DebugCallback = extern "system" fn(
    source: u32,
    kind: u32,
    id: u32,
    severity: u32,
    length: i32,
    message: *const c_char,
    user: *const c_void,
);

functions! {
    fn ActiveTexture(unit: u32);
    fn BeginConditionalRender(id: u32, mode: u32);
    fn BeginQuery(target: u32, id: u32);
    fn BeginQueryIndexed(target: u32, index: u32, id: u32);
    fn BindBuffer(target: u32, buffer: u32);
    fn BindBufferBase(target: u32, index: u32, buffer: u32);
    fn BindBufferRange(target: u32, index: u32, buffer: u32, offset: isize, size: isize);
    fn BindFragDataLocationIndexed(program: u32, color: u32, index: u32, name: *const c_char);
    fn BindFramebuffer(target: u32, name: u32);
    fn BindTexture(target: u32, name: u32);
    fn BlendEquation(mode: u32);
    fn BufferData(target: u32, size: isize, data: *const c_void, usage: u32);
    fn BufferSubData(target: u32, offset: isize, size: isize, data: *const c_void);
    fn ClampColor(target: u32, clamp: u32);
    fn ClientWaitSync(sync: *mut c_void, flags: u32, timeout: u64) -> u32;
    fn CopyBufferSubData(read: u32, write: u32, read_offset: isize, write_offset: isize, size: isize);
    fn CompressedTexImage2D(
        target: u32, level: i32, internal: u32, width: i32, height: i32, border: i32, size: i32, data: *const c_void,
    );
    fn CopyTexImage1D(target: u32, level: i32, format: u32, x: i32, y: i32, width: i32, border: i32);
    fn CopyTexSubImage1D(target: u32, level: i32, xoffset: i32, x: i32, y: i32, width: i32);
    fn CreateShader(kind: u32) -> u32;
    fn DebugMessageCallback(callback: Option<DebugCallback>, user: *const c_void);
    fn DeleteQueries(n: i32, names: *const u32);
    fn DeleteSync(sync: *mut c_void);
    fn DrawArrays(mode: u32, first: i32, count: i32);
    fn DrawRangeElements(mode: u32, start: u32, end: u32, count: i32, kind: u32, offset: usize);
    fn EndConditionalRender();
    fn EndQuery(target: u32);
    fn EndQueryIndexed(target: u32, index: u32);
    fn FenceSync(condition: u32, flags: u32) -> *mut c_void;
    fn FlushMappedBufferRange(target: u32, offset: isize, length: isize);
    fn FramebufferTexture1D(target: u32, attachment: u32, textarget: u32, texture: u32, level: i32);
    fn GenTextures(n: i32, names: *mut u32);
    fn GetActiveUniformBlockiv(program: u32, index: u32, name: u32, values: *mut i32);
    fn GetActiveUniformsiv(program: u32, count: i32, indices: *const u32, name: u32, values: *mut i32);
    fn GetActiveUniform(
        program: u32, index: u32, room: i32, length: *mut i32, size: *mut i32, kind: *mut u32, name: *mut c_char,
    );
    fn GetBooleanv(name: u32, data: *mut u8);
    fn GetBufferParameteri64v(target: u32, name: u32, value: *mut i64);
    fn GetDoublev(name: u32, data: *mut f64);
    fn GetFloatv(name: u32, data: *mut f32);
    fn GetUniformfv(program: u32, location: i32, values: *mut f32);
    fn GetUniformiv(program: u32, location: i32, values: *mut i32);
    fn GetUniformuiv(program: u32, location: i32, values: *mut u32);
    fn GetVertexAttribfv(index: u32, name: u32, values: *mut f32);
    fn GetVertexAttribPointerv(index: u32, name: u32, pointer: *mut *mut c_void);
    fn GetBooleani_v(target: u32, index: u32, data: *mut u8);
    fn GetBufferPointerv(target: u32, name: u32, value: *mut *mut c_void);
    fn GetCompressedTexImage(target: u32, level: i32, data: *mut c_void);
    fn GetFragDataIndex(program: u32, name: *const c_char) -> i32;
    fn GetGraphicsResetStatus() -> u32;
    fn GetGraphicsResetStatusARB() -> u32;
    fn GetInteger64i_v(target: u32, index: u32, data: *mut i64);
    fn GetInteger64v(name: u32, data: *mut i64);
    fn GetIntegeri_v(target: u32, index: u32, data: *mut i32);
    fn GetIntegerv(name: u32, data: *mut i32);
    fn GetMultisamplefv(name: u32, index: u32, value: *mut f32);
    fn GetProgramiv(program: u32, name: u32, value: *mut i32);
    fn GetQueryObjectiv(id: u32, name: u32, value: *mut i32);
    fn GetQueryObjecti64v(id: u32, name: u32, value: *mut i64);
    fn GetQueryObjectui64v(id: u32, name: u32, value: *mut u64);
    fn GetQueryiv(target: u32, name: u32, value: *mut i32);
    fn GetShaderiv(shader: u32, name: u32, value: *mut i32);
    fn GetString(name: u32) -> *const c_char;
    fn GetStringi(name: u32, index: u32) -> *const c_char;
    fn GetSynciv(sync: *mut c_void, name: u32, room: i32, length: *mut i32, values: *mut i32);
    fn GetTexLevelParameteriv(target: u32, level: i32, name: u32, value: *mut i32);
    fn GetTexParameterIiv(target: u32, name: u32, values: *mut i32);
    fn GetTexParameterfv(target: u32, name: u32, values: *mut f32);
    fn GetVertexAttribIiv(index: u32, name: u32, values: *mut i32);
    fn IsSampler(name: u32) -> u8;
    fn IsSync(sync: *mut c_void) -> u8;
    fn IsVertexArray(name: u32) -> u8;
    fn GetAttachedShaders(program: u32, most: i32, count: *mut i32, shaders: *mut u32);
    fn IsQuery(id: u32) -> u8;
    fn IsEnabledi(target: u32, index: u32) -> u8;
    fn LogicOp(op: u32);
    fn MapBuffer(target: u32, access: u32) -> *mut c_void;
    fn MapBufferRange(target: u32, offset: isize, length: isize, access: u32) -> *mut c_void;
    fn MultiDrawArrays(mode: u32, first: *const i32, count: *const i32, drawcount: i32);
    fn MultiDrawElements(mode: u32, count: *const i32, kind: u32, offsets: *const usize, drawcount: i32);
    fn MultiDrawElementsBaseVertex(
        mode: u32, count: *const i32, kind: u32, offsets: *const usize, drawcount: i32, base: *const i32,
    );
    fn PointParameterf(name: u32, value: f32);
    fn PointParameteri(name: u32, value: i32);
    fn PointSize(size: f32);
    fn PrimitiveRestartIndex(index: u32);
    fn ProvokingVertex(mode: u32);
    fn QueryCounter(id: u32, target: u32);
    fn SampleMaski(index: u32, mask: u32);
    fn SamplerParameterIiv(sampler: u32, name: u32, values: *const i32);
    fn ShaderSource(shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32);
    fn TexImage2D(
        target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32,
        data: *const c_void,
    );
    fn TexImage3DMultisample(
        target: u32, samples: i32, internal: u32, width: i32, height: i32, depth: i32, fixed: u8,
    );
    fn TexParameterIiv(target: u32, name: u32, values: *const i32);
    fn TexParameterIuiv(target: u32, name: u32, values: *const u32);
    fn TexParameteri(target: u32, name: u32, value: i32);
    fn TexSubImage1D(target: u32, level: i32, xoffset: i32, width: i32, format: u32, kind: u32, data: *const c_void);
    fn TransformFeedbackVaryings(program: u32, count: i32, names: *const *const c_char, mode: u32);
    fn UnmapBuffer(target: u32) -> u8;
    fn VertexAttribI4i(index: u32, x: i32, y: i32, z: i32, w: i32);
    fn VertexAttribI4ui(index: u32, x: u32, y: u32, z: u32, w: u32);
    fn VertexAttribP4ui(index: u32, kind: u32, normalized: u8, value: u32);
    fn VertexAttrib4Nub(index: u32, x: u8, y: u8, z: u8, w: u8);
    fn BindAttribLocation(program: u32, index: u32, name: *const c_char);
    fn BindFragDataLocation(program: u32, color: u32, name: *const c_char);
    fn BindSampler(unit: u32, sampler: u32);
    fn BindVertexArray(name: u32);
    fn DebugMessageControl(source: u32, kind: u32, severity: u32, count: i32, ids: *const u32, enabled: u8);
    fn DebugMessageInsert(source: u32, kind: u32, id: u32, severity: u32, length: i32, text: *const c_char);
    fn DrawBuffers(count: i32, buffers: *const u32);
    fn DrawElements(mode: u32, count: i32, kind: u32, offset: usize);
    fn DrawElementsBaseVertex(mode: u32, count: i32, kind: u32, offset: usize, base: i32);
    fn DrawElementsInstanced(mode: u32, count: i32, kind: u32, offset: usize, instances: i32);
    fn GetDebugMessageLog(
        count: u32, room: i32, sources: *mut u32, kinds: *mut u32, ids: *mut u32, severities: *mut u32,
        lengths: *mut i32, texts: *mut c_char,
    ) -> u32;
    fn GetFragDataLocation(program: u32, name: *const c_char) -> i32;
    fn GetObjectLabel(kind: u32, name: u32, room: i32, length: *mut i32, text: *mut c_char);
    fn GetProgramInfoLog(program: u32, room: i32, length: *mut i32, text: *mut c_char);
    fn GetShaderInfoLog(shader: u32, room: i32, length: *mut i32, text: *mut c_char);
    fn GetShaderSource(shader: u32, room: i32, length: *mut i32, text: *mut c_char);
    fn GetTexImage(target: u32, level: i32, format: u32, kind: u32, data: *mut c_void);
    fn GetTransformFeedbackVarying(
        program: u32, index: u32, room: i32, length: *mut i32, size: *mut i32, kind: *mut u32, name: *mut c_char,
    );
    fn GetUniformLocation(program: u32, name: *const c_char) -> i32;
    fn ObjectLabel(kind: u32, name: u32, length: i32, text: *const c_char);
    fn ObjectPtrLabel(object: *const c_void, length: i32, text: *const c_char);
    fn PopDebugGroup();
    fn PushDebugGroup(source: u32, id: u32, length: i32, text: *const c_char);
    fn ReadPixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, data: *mut c_void);
    fn Uniform1fv(location: i32, count: i32, values: *const f32);
    fn Uniform1iv(location: i32, count: i32, values: *const i32);
    fn Uniform3fv(location: i32, count: i32, values: *const f32);
    fn Uniform4fv(location: i32, count: i32, values: *const f32);
    fn UniformMatrix3fv(location: i32, count: i32, transpose: u8, values: *const f32);
    fn UseProgram(program: u32);
    fn VertexAttribPointer(index: u32, size: i32, kind: u32, normalized: u8, stride: i32, offset: usize);
    fn WaitSync(sync: *mut c_void, flags: u32, timeout: u64);
}
