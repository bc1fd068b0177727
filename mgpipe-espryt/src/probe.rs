//! What an OpenGL ES driver offers, found through a surfaceless EGL context.

use glow::HasContext;
use khronos_egl as egl;

/// `EGL_PLATFORM_SURFACELESS_MESA`.
const PLATFORM_SURFACELESS: egl::Enum = 0x31DD;

/// GLES extensions that Espryt can use, with what a missing one costs.
pub const WANTED: &[(&str, &str)] = &[
    ("GL_EXT_buffer_storage", "uploads go through glBufferSubData instead of persistent-mapped rings"),
    ("GL_EXT_base_instance", "base instance is emulated by offsetting instanced attributes"),
    ("GL_EXT_clip_cull_distance", "no clip distances"),
    ("GL_EXT_blend_func_extended", "no dual-source blending"),
    ("GL_OES_viewport_array", "viewport arrays are replayed one draw a viewport"),
    ("GL_OES_texture_view", "no texture views"),
    ("GL_OES_texture_buffer", "no buffer textures below GLES 3.2"),
    ("GL_OES_copy_image", "image copies go through framebuffers below GLES 3.2"),
    ("GL_EXT_disjoint_timer_query", "no timer queries"),
    ("GL_EXT_clip_control", "clip control is emulated in shaders"),
    ("GL_EXT_depth_clamp", "no depth clamp"),
    ("GL_OES_draw_elements_base_vertex", "base vertex is emulated below GLES 3.2"),
    ("GL_OES_draw_buffers_indexed", "one blend state for all draw buffers below GLES 3.2"),
    ("GL_EXT_geometry_shader", "no geometry shaders below GLES 3.2"),
    ("GL_EXT_tessellation_shader", "no tessellation below GLES 3.2"),
    ("GL_EXT_multi_draw_indirect", "multi-draws become loops"),
    ("GL_NV_polygon_mode", "no polygon mode"),
    ("GL_EXT_texture_format_BGRA8888", "BGRA texels are swizzled on upload"),
    ("GL_EXT_texture_norm16", "16-bit normalised formats become floats"),
    ("GL_EXT_color_buffer_float", "float render targets are narrowed"),
];

/// One wanted extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Name.
    pub name: &'static str,
    /// Whether the driver reports it.
    pub present: bool,
    /// What Espryt loses without it.
    pub cost: &'static str,
}

/// What a GLES context reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlesContext {
    /// `GL_RENDERER`.
    pub renderer: String,
    /// `GL_VERSION`.
    pub version: String,
    /// Major and minor version.
    pub api: (u32, u32),
    /// The wanted extensions.
    pub extensions: Vec<Extension>,
}

/// Result of the probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The context, or why there is none.
    pub gles: Result<GlesContext, String>,
}

/// Opens the EGL library's surfaceless (else default) display and asks a GLES 3 context. Never panics; leaves no context
/// current.
pub fn probe() -> Probe {
    Probe { gles: open() }
}

fn open() -> Result<GlesContext, String> {
    // SAFETY: libEGL.so.1 is the system's EGL loader; loading it runs its ordinary initialisers.
    let library = unsafe { libloading::Library::new("libEGL.so.1") }.map_err(|e| format!("no EGL library: {e}"))?;
    // SAFETY: the library just loaded exports the EGL 1.5 functions with the signatures that khronos-egl declares; a missing
    // symbol is an error, not a call.
    let egl = unsafe { egl::DynamicInstance::<egl::EGL1_5>::load_required_from(library) }
        .map_err(|e| format!("EGL is older than 1.5: {e}"))?;
    // SAFETY: the surfaceless platform takes EGL_DEFAULT_DISPLAY as its native display.
    let surfaceless =
        unsafe { egl.get_platform_display(PLATFORM_SURFACELESS, egl::DEFAULT_DISPLAY, &[egl::ATTRIB_NONE]) };
    let display = match surfaceless {
        Ok(display) => display,
        // SAFETY: EGL_DEFAULT_DISPLAY is always a valid argument.
        Err(_) => unsafe { egl.get_display(egl::DEFAULT_DISPLAY) }.ok_or("no EGL display")?,
    };
    egl.initialize(display).map_err(|e| format!("eglInitialize: {e}"))?;
    let answer = query(&egl, display);
    let _ = egl.make_current(display, None, None, None);
    let _ = egl.terminate(display);
    answer
}

fn query(egl: &egl::DynamicInstance<egl::EGL1_5>, display: egl::Display) -> Result<GlesContext, String> {
    egl.bind_api(egl::OPENGL_ES_API).map_err(|e| format!("no OpenGL ES: {e}"))?;
    let config = egl
        .choose_first_config(display, &[egl::RENDERABLE_TYPE, egl::OPENGL_ES3_BIT, egl::SURFACE_TYPE, 0, egl::NONE])
        .map_err(|e| format!("eglChooseConfig: {e}"))?
        .ok_or("no config for OpenGL ES 3")?;
    let context = egl
        .create_context(display, config, None, &[egl::CONTEXT_MAJOR_VERSION, 3, egl::NONE])
        .map_err(|e| format!("no OpenGL ES 3 context: {e}"))?;
    let result =
        egl.make_current(display, None, None, Some(context)).map_err(|e| format!("eglMakeCurrent: {e}")).map(|()| {
            // SAFETY: a GLES 3 context is current on this thread, and eglGetProcAddress gives its functions.
            let gl = unsafe {
                glow::Context::from_loader_function(|name| {
                    egl.get_proc_address(name).map_or(std::ptr::null(), |f| f as *const std::ffi::c_void)
                })
            };
            let known = gl.supported_extensions();
            let version = gl.version();
            // SAFETY: the context is still current; GL_RENDERER and GL_VERSION are valid string names.
            let (renderer, version_string) =
                unsafe { (gl.get_parameter_string(glow::RENDERER), gl.get_parameter_string(glow::VERSION)) };
            GlesContext {
                renderer,
                version: version_string,
                api: (version.major, version.minor),
                extensions: WANTED
                    .iter()
                    .map(|&(name, cost)| Extension { name, present: known.contains(name), cost })
                    .collect(),
            }
        });
    let _ = egl.make_current(display, None, None, None);
    let _ = egl.destroy_context(display, context);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_answers_with_a_context_or_a_reason() {
        match probe().gles {
            Ok(gles) => {
                assert!(gles.api.0 >= 3, "{:?}", gles.api);
                assert_eq!(gles.extensions.len(), WANTED.len());
                assert!(!gles.renderer.is_empty());
            }
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}
