//! What the driver says about itself: names, versions and extensions.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use mgl_glsl::extensions::ExtensionSet;
use mgpipe_types::{features, gl, CapsReply, Opcode};
use parking_lot::Mutex;

use crate::context::Context;
use crate::error::{invalid_enum, invalid_value};
use crate::limits::MAX_VERSION;

/// Highest GLSL version that shaders may ask for.
pub(crate) const GLSL_VERSION: u16 = 330;

/// Extensions that every context has: parts of GL 3.3 core under the names that programs look for, and what goes beyond.
const ALWAYS: &[&str] = &[
    "GL_ARB_copy_buffer",
    "GL_ARB_depth_buffer_float",
    "GL_ARB_draw_elements_base_vertex",
    "GL_ARB_draw_instanced",
    "GL_ARB_explicit_attrib_location",
    "GL_ARB_fragment_coord_conventions",
    "GL_ARB_framebuffer_object",
    "GL_ARB_framebuffer_sRGB",
    "GL_ARB_half_float_pixel",
    "GL_ARB_half_float_vertex",
    "GL_ARB_instanced_arrays",
    "GL_ARB_map_buffer_range",
    "GL_ARB_occlusion_query",
    "GL_ARB_occlusion_query2",
    "GL_ARB_pixel_buffer_object",
    "GL_ARB_provoking_vertex",
    "GL_ARB_sampler_objects",
    "GL_ARB_seamless_cube_map",
    "GL_ARB_shader_bit_encoding",
    "GL_ARB_shader_texture_lod",
    "GL_ARB_sync",
    "GL_ARB_texture_buffer_object",
    "GL_ARB_texture_compression_rgtc",
    "GL_ARB_texture_float",
    "GL_ARB_texture_multisample",
    "GL_ARB_texture_non_power_of_two",
    "GL_ARB_texture_rectangle",
    "GL_ARB_texture_rg",
    "GL_ARB_texture_rgb10_a2ui",
    "GL_ARB_texture_swizzle",
    "GL_ARB_uniform_buffer_object",
    "GL_ARB_vertex_array_bgra",
    "GL_ARB_vertex_array_object",
    "GL_ARB_vertex_buffer_object",
    "GL_ARB_vertex_shader",
    "GL_ARB_vertex_type_2_10_10_10_rev",
    "GL_EXT_packed_depth_stencil",
    "GL_EXT_packed_float",
    "GL_EXT_texture_array",
    "GL_EXT_texture_compression_s3tc",
    "GL_EXT_texture_integer",
    "GL_EXT_texture_sRGB",
    "GL_EXT_texture_shared_exponent",
    "GL_EXT_texture_snorm",
    "GL_EXT_texture_swizzle",
    "GL_KHR_debug",
];

/// Extensions that need a feature of the backend.
const CONDITIONAL: &[(&str, u64)] = &[
    ("GL_ARB_blend_func_extended", features::DUAL_SOURCE_BLEND),
    ("GL_ARB_depth_clamp", features::DEPTH_CLAMP),
    ("GL_ARB_timer_query", features::TIMER_QUERY),
    ("GL_EXT_texture_filter_anisotropic", features::ANISOTROPY),
    ("GL_EXT_transform_feedback", features::TRANSFORM_FEEDBACK),
];

/// Extensions of a context on this backend, sorted.
pub(crate) fn extensions(caps: &CapsReply) -> Vec<&'static str> {
    let mut list: Vec<&str> = ALWAYS.to_vec();
    list.extend(CONDITIONAL.iter().filter(|(_, needs)| caps.caps.features & needs == *needs).map(|(name, _)| *name));
    add_storage(caps, &mut list);
    list.sort_unstable();
    list
}

/// Adds what takes more than a feature bit.
fn add_storage(caps: &CapsReply, list: &mut Vec<&'static str>) {
    if caps.has(features::PERSISTENT_MAP) && caps.has_call(Opcode::MapPersistent) {
        list.push("GL_ARB_buffer_storage");
    }
}

/// Extensions that shaders may name.
pub(crate) fn shader_extensions() -> ExtensionSet {
    let names = [
        "GL_ARB_draw_instanced",
        "GL_ARB_explicit_attrib_location",
        "GL_ARB_fragment_coord_conventions",
        "GL_ARB_shader_bit_encoding",
        "GL_ARB_shader_texture_lod",
        "GL_ARB_texture_buffer_object",
        "GL_ARB_texture_multisample",
        "GL_ARB_texture_rectangle",
        "GL_ARB_uniform_buffer_object",
        "GL_ARB_blend_func_extended",
        "GL_EXT_texture_array",
    ];
    ExtensionSet::from_names(names)
}

/// A text that lives as long as the process. Equal texts share one copy, so that asking again costs no memory.
pub(crate) fn intern(text: &str) -> &'static CStr {
    static TEXTS: OnceLock<Mutex<HashSet<&'static CStr>>> = OnceLock::new();
    let clean: Vec<u8> = text.bytes().filter(|&b| b != 0).collect();
    let text = CString::new(clean).unwrap_or_default();
    let mut texts = TEXTS.get_or_init(Default::default).lock();
    if let Some(known) = texts.get(text.as_c_str()) {
        return known;
    }
    let leaked: &'static CStr = Box::leak(text.into_boxed_c_str());
    texts.insert(leaked);
    leaked
}

impl Context {
    /// `glGetString`.
    pub fn get_string(&mut self, name: u32) -> Option<&'static CStr> {
        self.gl(|ctx| {
            let caps = &ctx.state.share.caps;
            let (major, minor) = MAX_VERSION;
            Ok(Some(match name {
                gl::VENDOR => intern("MGL"),
                gl::RENDERER => intern(&format!("MGL on {} ({})", caps.device_name, caps.backend_name)),
                gl::VERSION => intern(&format!("{major}.{minor} (Core Profile) MGL {}", env!("CARGO_PKG_VERSION"))),
                gl::SHADING_LANGUAGE_VERSION => intern(&format!("{}.{:02}", GLSL_VERSION / 100, GLSL_VERSION % 100)),
                // It left glGetString with the core profile, but a program that asked for an old version searches the answer
                // without looking whether there is one.
                gl::EXTENSIONS if ctx.state.relaxed => intern(&extensions(caps).join(" ")),
                _ => return Err(invalid_enum("glGetString: name")),
            }))
        })
    }

    /// `glGetStringi`.
    pub fn get_stringi(&mut self, name: u32, index: u32) -> Option<&'static CStr> {
        self.gl(|ctx| {
            if name != gl::EXTENSIONS {
                return Err(invalid_enum("glGetStringi: name"));
            }
            let list = extensions(&ctx.state.share.caps);
            let text = list.get(index as usize).ok_or_else(|| invalid_value("glGetStringi: index"))?;
            Ok(Some(intern(text)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::{ContextAttribs, Values};
    use crate::testing;

    #[test]
    fn interned_texts_are_shared() {
        let a = intern("one text");
        assert!(std::ptr::eq(a, intern("one text")));
        assert_eq!(intern("with\0nul"), c"withnul");
    }

    #[test]
    fn programs_for_old_versions_get_the_list_of_extensions_whole() {
        let (mut core, _) = testing::context();
        assert_eq!(core.get_string(gl::EXTENSIONS), None);
        assert_eq!(core.get_error(), gl::INVALID_ENUM);
        let (group, _) = testing::share_group();
        let attribs = ContextAttribs { major: 2, minor: 1, ..ContextAttribs::default() };
        let mut old = Context::new(&group, &attribs).expect("a context");
        let list = old.get_string(gl::EXTENSIONS).expect("a list").to_str().expect("ASCII");
        assert_eq!(old.get(gl::NUM_EXTENSIONS), Some(Values::int(list.split(' ').count() as i64)));
        assert_eq!(old.get_error(), gl::NO_ERROR);
    }

    #[test]
    fn extensions_are_sorted_and_follow_the_features() {
        let mut caps = CapsReply::default();
        let bare = extensions(&caps);
        assert!(bare.is_sorted());
        assert!(!bare.contains(&"GL_ARB_depth_clamp"));
        caps.caps.features = features::DEPTH_CLAMP;
        assert!(extensions(&caps).contains(&"GL_ARB_depth_clamp"));
    }
}
