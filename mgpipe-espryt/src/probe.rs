//! What an OpenGL ES driver offers, found through a surfaceless EGL context.

use crate::egl::{open_displays, CurrentContext, Display};
use crate::extras::Extras;
use crate::features::Features;
use crate::trial::Tried;
use glow::HasContext;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// Every extension that the driver reports.
    pub known: Vec<String>,
    /// What the driver promises and what became of it, tried with draws that were read back.
    pub tried: Vec<Tried>,
    /// How long the trials took.
    pub trial_time: Duration,
}

/// Result of the probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The context, or why there is none.
    pub gles: Result<GlesContext, String>,
}

/// Opens the host's driver as the backend does and asks a GLES 3 context. Never panics; leaves no context current.
pub fn probe() -> Probe {
    Probe { gles: open_displays(|display| query(&display)) }
}

fn query(display: &Arc<Display>) -> Result<GlesContext, String> {
    let context = display.create_context(None)?;
    CurrentContext::bind(&context)?;
    // SAFETY: a GLES 3 context is current on this thread, and the driver's own look-up gives its functions.
    let gl = unsafe { glow::Context::from_loader_function_cstr(|name| display.proc_address(name)) };
    let known = gl.supported_extensions();
    let version = gl.version();
    // SAFETY: the context is still current; GL_RENDERER and GL_VERSION are valid string names.
    let (renderer, version_string) =
        unsafe { (gl.get_parameter_string(glow::RENDERER), gl.get_parameter_string(glow::VERSION)) };
    let start = Instant::now();
    let tried = if (version.major, version.minor) >= (3, 1) {
        let es32 = (version.major, version.minor) >= (3, 2);
        let ext = Extras::load(&|name| display.proc_address(name));
        let mut has = Features::new(es32, |name| known.contains(&format!("GL_{name}")));
        has.keep_what_is_there(|function| ext.is_there(function));
        crate::trial::run(&gl, &ext, if es32 { 32 } else { 31 }, &mut has)
    } else {
        Vec::new()
    };
    let trial_time = start.elapsed();
    let answer = GlesContext {
        renderer,
        version: version_string,
        api: (version.major, version.minor),
        extensions: WANTED
            .iter()
            .map(|&(name, cost)| Extension { name, present: known.contains(name), cost })
            .collect(),
        known: {
            let mut names: Vec<String> = known.iter().cloned().collect();
            names.sort();
            names
        },
        tried,
        trial_time,
    };
    drop(gl);
    CurrentContext::release(&context);
    Ok(answer)
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
