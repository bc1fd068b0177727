//! What the host's driver offers: functions, version, extensions and limits.

use crate::disk_cache::DiskCache;
use crate::egl::{CurrentContext, Display, HostContext};
use crate::features::{Features, Mask, ES32, FRAGMENT_STORAGE};
use glow::HasContext;
use std::ffi::{c_void, CStr};
use std::sync::Arc;

macro_rules! extras {
    ($($(#[$doc:meta])* $name:ident = [$($symbol:literal),+] ($($arg:ident: $ty:ty),*);)*) => {
        /// Functions that `glow` does not have, or has under a name without the suffix of an extension. Null ones are missing.
        #[derive(Default)]
        pub(crate) struct Extras {
            $($name: Option<unsafe extern "system" fn($($ty),*)>,)*
        }

        impl Extras {
            fn load(find: &dyn Fn(&CStr) -> *const c_void) -> Extras {
                Extras {
                    $($name: [$($symbol),+].into_iter().map(find).find(|f| !f.is_null()).map(|found| {
                        // SAFETY: the driver answers the GLES function of that name, whose signature this is.
                        unsafe { std::mem::transmute::<*const c_void, unsafe extern "system" fn($($ty),*)>(found) }
                    }),)*
                }
            }

            /// Whether the driver has the function that is called by this name here.
            fn is_there(&self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => self.$name.is_some(),)*
                    _ => false,
                }
            }

            $($(#[$doc])*
            ///
            /// # Safety
            /// A context of the driver is current and the arguments are valid for the GLES function of that name.
            #[inline]
            #[allow(clippy::too_many_arguments)] // GL's own signatures.
            pub(crate) unsafe fn $name(&self, $($arg: $ty),*) {
                if let Some(function) = self.$name {
                    // SAFETY: the caller's promise.
                    unsafe { function($($arg),*) }
                }
            })*
        }
    };
}

extras! {
    /// `glTexStorage3DMultisample`.
    tex_storage_3d_multisample = [c"glTexStorage3DMultisample", c"glTexStorage3DMultisampleOES"]
        (target: u32, samples: i32, format: u32, width: i32, height: i32, depth: i32, fixed: u8);
    /// `glTextureView`.
    texture_view = [c"glTextureViewOES", c"glTextureViewEXT"]
        (texture: u32, target: u32, origin: u32, format: u32, min_level: u32, levels: u32, min_layer: u32, layers: u32);
    /// `glTexBufferRange`.
    tex_buffer_range = [c"glTexBufferRange", c"glTexBufferRangeOES", c"glTexBufferRangeEXT"]
        (target: u32, format: u32, buffer: u32, offset: isize, size: isize);
    /// `glBufferStorageEXT`.
    buffer_storage = [c"glBufferStorageEXT"] (target: u32, size: isize, data: *const c_void, flags: u32);
    /// `glCopyImageSubData`.
    copy_image = [c"glCopyImageSubData", c"glCopyImageSubDataOES", c"glCopyImageSubDataEXT"]
        (src: u32, src_target: u32, src_level: i32, sx: i32, sy: i32, sz: i32, dst: u32, dst_target: u32, dst_level: i32,
         dx: i32, dy: i32, dz: i32, width: i32, height: i32, depth: i32);
    /// `glDrawElementsInstancedBaseVertex`.
    draw_elements_base_vertex = [c"glDrawElementsInstancedBaseVertex", c"glDrawElementsInstancedBaseVertexOES",
        c"glDrawElementsInstancedBaseVertexEXT"]
        (mode: u32, count: i32, ty: u32, offset: *const c_void, instances: i32, base: i32);
    /// `glDrawElementsInstancedBaseVertexBaseInstanceEXT`.
    draw_elements_base_instance = [c"glDrawElementsInstancedBaseVertexBaseInstanceEXT"]
        (mode: u32, count: i32, ty: u32, offset: *const c_void, instances: i32, base: i32, instance: u32);
    /// `glDrawArraysInstancedBaseInstanceEXT`.
    draw_arrays_base_instance = [c"glDrawArraysInstancedBaseInstanceEXT"]
        (mode: u32, first: i32, count: i32, instances: i32, instance: u32);
    /// `glSamplerParameterIiv`.
    sampler_parameter_iiv = [c"glSamplerParameterIiv", c"glSamplerParameterIivOES", c"glSamplerParameterIivEXT"]
        (sampler: u32, name: u32, values: *const i32);
    /// `glSamplerParameterIuiv`.
    sampler_parameter_iuiv = [c"glSamplerParameterIuiv", c"glSamplerParameterIuivOES", c"glSamplerParameterIuivEXT"]
        (sampler: u32, name: u32, values: *const u32);
    /// `glFramebufferTexture`.
    framebuffer_texture = [c"glFramebufferTexture", c"glFramebufferTextureOES", c"glFramebufferTextureEXT"]
        (target: u32, attachment: u32, texture: u32, level: i32);
    /// `glQueryCounterEXT`.
    query_counter = [c"glQueryCounterEXT"] (query: u32, target: u32);
    /// `glGetQueryObjectui64vEXT`.
    query_object_u64 = [c"glGetQueryObjectui64vEXT"] (query: u32, name: u32, value: *mut u64);
    /// `glPatchParameteri`.
    patch_parameter = [c"glPatchParameteri", c"glPatchParameteriOES", c"glPatchParameteriEXT"] (name: u32, value: i32);
    /// `glMinSampleShading`.
    min_sample_shading = [c"glMinSampleShading", c"glMinSampleShadingOES"] (value: f32);
    /// `glPolygonOffsetClampEXT`.
    polygon_offset_clamp = [c"glPolygonOffsetClampEXT"] (factor: f32, units: f32, clamp: f32);
    /// `glPolygonModeNV`.
    polygon_mode = [c"glPolygonModeNV"] (face: u32, mode: u32);
    /// `glGetFloatv`, of which `glow` has no form for two values.
    get_floats = [c"glGetFloatv"] (name: u32, values: *mut f32);
    /// `glGetInteger64v`.
    get_integer64 = [c"glGetInteger64v"] (name: u32, value: *mut i64);
    /// `glFramebufferParameteri`.
    framebuffer_parameter = [c"glFramebufferParameteri"] (target: u32, name: u32, value: i32);
    /// `glReadPixels` with a plain address.
    read_pixels = [c"glReadPixels"] (x: i32, y: i32, w: i32, h: i32, format: u32, ty: u32, data: *mut c_void);
    /// `glVertexAttribI4uiv`.
    vertex_attrib_u32 = [c"glVertexAttribI4uiv"] (index: u32, values: *const u32);
    /// `glVertexAttribI4iv`.
    vertex_attrib_i32 = [c"glVertexAttribI4iv"] (index: u32, values: *const i32);
    /// `glBufferData` with a size of pointer width.
    buffer_data = [c"glBufferData"] (target: u32, size: isize, data: *const c_void, usage: u32);
    /// `glDebugMessageCallback`.
    debug_message_callback = [c"glDebugMessageCallback", c"glDebugMessageCallbackKHR"]
        (callback: *const c_void, user: *const c_void);
    /// `glDrawArraysIndirect`, `glDrawElementsIndirect`.
    draw_arrays_indirect = [c"glDrawArraysIndirect"] (mode: u32, offset: *const c_void);
    /// Indexed form.
    draw_elements_indirect = [c"glDrawElementsIndirect"] (mode: u32, ty: u32, offset: *const c_void);
    /// `glBlendEquationSeparatei`.
    blend_equation_i = [c"glBlendEquationSeparatei", c"glBlendEquationSeparateiOES", c"glBlendEquationSeparateiEXT"]
        (buffer: u32, rgb: u32, alpha: u32);
    /// `glBlendFuncSeparatei`.
    blend_func_i = [c"glBlendFuncSeparatei", c"glBlendFuncSeparateiOES", c"glBlendFuncSeparateiEXT"]
        (buffer: u32, src_rgb: u32, dst_rgb: u32, src_alpha: u32, dst_alpha: u32);
    /// `glColorMaski`.
    color_mask_i = [c"glColorMaski", c"glColorMaskiOES", c"glColorMaskiEXT"] (buffer: u32, r: u8, g: u8, b: u8, a: u8);
    /// `glSampleMaski`.
    sample_mask = [c"glSampleMaski"] (word: u32, mask: u32);
    /// `glEnablei`.
    enable_i = [c"glEnablei", c"glEnableiOES", c"glEnableiEXT"] (what: u32, index: u32);
    /// `glMultiDrawArraysEXT`.
    multi_draw_arrays = [c"glMultiDrawArraysEXT"] (mode: u32, first: *const i32, count: *const i32, draws: i32);
    /// `glMultiDrawElementsEXT`.
    multi_draw_elements = [c"glMultiDrawElementsEXT"]
        (mode: u32, count: *const i32, ty: u32, offsets: *const *const c_void, draws: i32);
    /// `glMultiDrawElementsBaseVertexEXT`.
    multi_draw_elements_base_vertex = [c"glMultiDrawElementsBaseVertexEXT"]
        (mode: u32, count: *const i32, ty: u32, offsets: *const *const c_void, draws: i32, base: *const i32);
    /// `glMultiDrawArraysIndirectEXT`.
    multi_draw_arrays_indirect = [c"glMultiDrawArraysIndirectEXT"]
        (mode: u32, offset: *const c_void, draws: i32, stride: i32);
    /// `glMultiDrawElementsIndirectEXT`.
    multi_draw_elements_indirect = [c"glMultiDrawElementsIndirectEXT"]
        (mode: u32, ty: u32, offset: *const c_void, draws: i32, stride: i32);
    /// `glDisablei`.
    disable_i = [c"glDisablei", c"glDisableiOES", c"glDisableiEXT"] (what: u32, index: u32);
}

/// The driver's functions and facts; one a display, shared by all of its contexts.
pub(crate) struct Gles {
    pub(crate) gl: glow::Context,
    pub(crate) ext: Extras,
    pub(crate) has: Features,
    /// 31 or 32.
    pub(crate) version: u32,
    pub(crate) renderer: String,
    /// Whether every call is looked after for errors of the driver.
    pub(crate) watched: bool,
    scratch: u32,
    reset_status: Option<ResetStatus>,
    /// Answers of earlier processes.
    pub(crate) cache: Option<DiskCache>,
    /// What answers depend on besides the program: the driver, what it can do, and how programs are made for it.
    pub(crate) identity: String,
    /// The driver gives programs as binaries.
    pub(crate) binaries: bool,
}

/// How programs are made is part of every question.
const MAKERS: [&[u8]; 7] = [
    include_bytes!("capture.rs"),
    include_bytes!("essl.rs"),
    include_bytes!("interface.rs"),
    include_bytes!("logic_op.rs"),
    include_bytes!("program.rs"),
    include_bytes!("spirv.rs"),
    include_bytes!("texture_calls.rs"),
];

/// `glGetGraphicsResetStatus`.
type ResetStatus = unsafe extern "system" fn() -> u32;

// SAFETY: the tables hold function addresses, which are the same for every context of the display and callable from any thread
// that has one of them current; nothing in them is written after loading.
unsafe impl Send for Gles {}
// SAFETY: as above.
unsafe impl Sync for Gles {}

impl Gles {
    /// Loads the functions of a display; `context` is current on this thread.
    ///
    /// # Errors
    /// A driver below OpenGL ES 3.1.
    pub(crate) fn load(display: &Arc<Display>, context: &HostContext) -> Result<Gles, String> {
        if !CurrentContext::is(context) {
            return Err("no context is current".into());
        }
        let find = |name: &CStr| display.proc_address(name);
        // SAFETY: a context is current on this thread, and the driver's own look-up gives its functions.
        let gl = unsafe { glow::Context::from_loader_function_cstr(find) };
        let version = gl.version();
        let mask = Mask::of_environment()?;
        // A masked version pretends to be the version below it, so that extensions of the newer one count alone.
        let es32 = (version.major, version.minor) >= (3, 2) && !mask.hides(ES32);
        let (major, minor) = (version.major, version.minor);
        if (major, minor) < (3, 1) {
            return Err(format!("OpenGL ES {major}.{minor}; 3.1 is needed"));
        }
        let known = gl.supported_extensions();
        let mut has = Features::new(es32, |name| known.contains(&format!("GL_{name}")) && !mask.hides(name));
        // SAFETY: the context is current; the name has one value.
        let blocks = unsafe { gl.get_parameter_i32(glow::MAX_FRAGMENT_SHADER_STORAGE_BLOCKS) };
        has.fragment_storage = blocks > 0 && !mask.hides(FRAGMENT_STORAGE);
        let ext = Extras::load(&find);
        has.keep_what_is_there(|function| ext.is_there(function));
        // SAFETY: the context is current; the name is a valid string name.
        let (renderer, driver) =
            unsafe { (gl.get_parameter_string(glow::RENDERER), gl.get_parameter_string(glow::VERSION)) };
        // SAFETY: the context is current.
        let units = unsafe { gl.get_parameter_i32(glow::MAX_COMBINED_TEXTURE_IMAGE_UNITS) };
        let scratch = u32::try_from(units).unwrap_or(32).max(2) - 1;
        let watched = crate::mistakes::wanted();
        let reset_status =
            [c"glGetGraphicsResetStatus", c"glGetGraphicsResetStatusKHR", c"glGetGraphicsResetStatusEXT"]
                .into_iter()
                .map(find)
                .find(|function| !function.is_null())
                // SAFETY: the driver answers the GLES function of that name, whose signature this is.
                .map(|found| unsafe { std::mem::transmute::<*const c_void, ResetStatus>(found) });
        let version = if es32 { 32 } else { 31 };
        // SAFETY: the context is current; the name has one value.
        let binaries = unsafe { gl.get_parameter_i32(glow::NUM_PROGRAM_BINARY_FORMATS) } > 0;
        let cache = crate::disk_cache::of_environment();
        let identity = String::new();
        let mut gles =
            Gles { gl, ext, has, scratch, version, renderer, watched, reset_status, cache, identity, binaries };
        gles.try_features();
        let makers = MAKERS.map(xxhash_rust::xxh3::xxh3_64);
        gles.identity = format!("{}\0{driver}\0{version}\0{:?}\0{makers:?}", gles.renderer, gles.has);
        Ok(gles)
    }

    /// An integer limit.
    pub(crate) fn limit(&self, name: u32) -> u32 {
        // SAFETY: the caller's context is current; an unknown name answers an error, which `drain_errors` takes away.
        let value = unsafe { self.gl.get_parameter_i32(name) };
        u32::try_from(value).unwrap_or(0)
    }

    /// Two float limits.
    pub(crate) fn float_pair(&self, name: u32) -> [f32; 2] {
        let mut values = [0.0; 2];
        // SAFETY: the names that are asked have two values.
        unsafe { self.ext.get_floats(name, values.as_mut_ptr()) };
        values
    }

    /// Whether the driver says that its context is lost; the context is current.
    pub(crate) fn is_reset(&self) -> bool {
        // SAFETY: the caller's context is current.
        self.reset_status.is_some_and(|status| unsafe { status() } != glow::NO_ERROR)
    }

    /// Takes the errors out of the driver's queue; the first of them.
    pub(crate) fn drain_errors(&self) -> Option<u32> {
        let mut first = None;
        // A lost context answers errors for ever.
        for _ in 0..16 {
            // SAFETY: the caller's context is current.
            match unsafe { self.gl.get_error() } {
                glow::NO_ERROR => break,
                code => {
                    first.get_or_insert(code);
                }
            }
        }
        first
    }
}

/// A `glow` object of a GL name.
macro_rules! named {
    ($ty:ident, $name:expr) => {
        std::num::NonZeroU32::new($name).map(glow::$ty)
    };
}
pub(crate) use named;

/// Texture units that programs may use: the last one is the backend's own.
impl Gles {
    /// The unit on which textures are bound for uploads and copies.
    #[inline]
    pub(crate) fn scratch_unit(&self) -> u32 {
        self.scratch
    }
}
