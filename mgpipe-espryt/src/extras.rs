//! Functions of OpenGL ES that `glow` does not have.

use glow::HasContext;
use std::ffi::{c_void, CStr};

macro_rules! extras {
    ($($(#[$doc:meta])* $name:ident = [$($symbol:literal),+] ($($arg:ident: $ty:ty),*);)*) => {
        /// Functions that `glow` does not have, or has under a name without the suffix of an extension. Null ones are missing.
        #[derive(Default)]
        pub(crate) struct Extras {
            $($name: Option<unsafe extern "system" fn($($ty),*)>,)*
        }

        impl Extras {
            pub(crate) fn load(find: &dyn Fn(&CStr) -> *const c_void) -> Extras {
                Extras {
                    $($name: [$($symbol),+].into_iter().map(find).find(|f| !f.is_null()).map(|found| {
                        // SAFETY: the driver answers the GLES function of that name, whose signature this is.
                        unsafe { std::mem::transmute::<*const c_void, unsafe extern "system" fn($($ty),*)>(found) }
                    }),)*
                }
            }

            /// Whether the driver has the function that is called by this name here.
            pub(crate) fn is_there(&self, name: &str) -> bool {
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

/// Takes the errors out of the queue of the driver whose context is current; the first of them.
pub(crate) fn drain_errors(gl: &glow::Context) -> Option<u32> {
    let mut first = None;
    // A lost context answers errors for ever.
    for _ in 0..16 {
        // SAFETY: the caller's context is current.
        match unsafe { gl.get_error() } {
            glow::NO_ERROR => break,
            code => {
                first.get_or_insert(code);
            }
        }
    }
    first
}
