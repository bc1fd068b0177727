//! GLSL extensions that shaders may name, and what each one asks of the compiler.

/// A GLSL extension known to this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Name as in `#extension`.
    pub name: &'static str,
    /// `None` when the normal form (GLSL 4.60) already contains it, so that the directive is dropped; otherwise the name
    /// under which it is passed on to glslang, because it switches something on there.
    pub passed_as: Option<&'static str>,
}

/// glslang knows layers and viewports from vertex shaders only by this name.
const VERTEX_LAYER: &str = "GL_ARB_shader_viewport_layer_array";

/// All extensions, sorted by name. The position is the index in [`ExtensionSet`].
pub const EXTENSIONS: &[Extension] = &[
    core("GL_AMD_conservative_depth"),
    pass("GL_AMD_shader_trinary_minmax"),
    Extension { name: "GL_AMD_vertex_shader_layer", passed_as: Some(VERTEX_LAYER) },
    Extension { name: "GL_AMD_vertex_shader_viewport_index", passed_as: Some(VERTEX_LAYER) },
    core("GL_ARB_ES3_1_compatibility"),
    core("GL_ARB_ES3_compatibility"),
    core("GL_ARB_arrays_of_arrays"),
    core("GL_ARB_blend_func_extended"),
    core("GL_ARB_compute_shader"),
    core("GL_ARB_conservative_depth"),
    core("GL_ARB_cull_distance"),
    core("GL_ARB_derivative_control"),
    core("GL_ARB_draw_buffers"),
    core("GL_ARB_draw_instanced"),
    core("GL_ARB_enhanced_layouts"),
    core("GL_ARB_explicit_attrib_location"),
    core("GL_ARB_explicit_uniform_location"),
    core("GL_ARB_fragment_coord_conventions"),
    core("GL_ARB_fragment_layer_viewport"),
    core("GL_ARB_gpu_shader5"),
    core("GL_ARB_gpu_shader_fp64"),
    pass("GL_ARB_post_depth_coverage"),
    core("GL_ARB_sample_shading"),
    core("GL_ARB_separate_shader_objects"),
    core("GL_ARB_shader_atomic_counter_ops"),
    core("GL_ARB_shader_atomic_counters"),
    pass("GL_ARB_shader_ballot"),
    core("GL_ARB_shader_bit_encoding"),
    pass("GL_ARB_shader_clock"),
    core("GL_ARB_shader_draw_parameters"),
    core("GL_ARB_shader_group_vote"),
    core("GL_ARB_shader_image_load_store"),
    core("GL_ARB_shader_image_size"),
    core("GL_ARB_shader_precision"),
    pass("GL_ARB_shader_stencil_export"),
    core("GL_ARB_shader_storage_buffer_object"),
    core("GL_ARB_shader_subroutine"),
    core("GL_ARB_shader_texture_image_samples"),
    core("GL_ARB_shader_texture_lod"),
    pass("GL_ARB_shader_viewport_layer_array"),
    core("GL_ARB_shading_language_420pack"),
    core("GL_ARB_shading_language_packing"),
    core("GL_ARB_stencil_texturing"),
    core("GL_ARB_tessellation_shader"),
    core("GL_ARB_texture_buffer_object"),
    core("GL_ARB_texture_buffer_range"),
    core("GL_ARB_texture_cube_map_array"),
    core("GL_ARB_texture_gather"),
    core("GL_ARB_texture_multisample"),
    core("GL_ARB_texture_query_levels"),
    core("GL_ARB_texture_query_lod"),
    core("GL_ARB_texture_rectangle"),
    core("GL_ARB_uniform_buffer_object"),
    core("GL_ARB_vertex_attrib_64bit"),
    core("GL_ARB_viewport_array"),
    core("GL_EXT_gpu_shader5"),
    core("GL_EXT_shader_integer_mix"),
    core("GL_EXT_texture_array"),
    core("GL_MESA_shader_integer_functions"),
];

const fn core(name: &'static str) -> Extension {
    Extension { name, passed_as: None }
}

const fn pass(name: &'static str) -> Extension {
    Extension { name, passed_as: Some(name) }
}

/// Position of an extension in [`EXTENSIONS`].
pub fn find(name: &str) -> Option<usize> {
    EXTENSIONS.iter().position(|extension| extension.name == name)
}

/// The extensions that a context exposes to shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionSet(u128);

impl ExtensionSet {
    /// No extension.
    pub const fn none() -> Self {
        ExtensionSet(0)
    }

    /// Every extension that this crate can compile.
    pub const fn all() -> Self {
        ExtensionSet(u128::MAX)
    }

    /// Only the known ones among `names`; unknown names are ignored.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = ExtensionSet::none();
        for index in names.into_iter().filter_map(find) {
            set.0 |= 1 << index;
        }
        set
    }

    /// Takes an extension out.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        if let Some(index) = find(name) {
            self.0 &= !(1 << index);
        }
        self
    }

    /// Whether the extension at `index` of [`EXTENSIONS`] is in the set.
    pub const fn contains(self, index: usize) -> bool {
        index < EXTENSIONS.len() && self.0 & (1 << index) != 0
    }
}

const _: () = assert!(EXTENSIONS.len() <= 128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_found() {
        assert!(EXTENSIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
        let set = ExtensionSet::from_names(["GL_ARB_gpu_shader5", "GL_NO_such"]);
        assert!(set.contains(find("GL_ARB_gpu_shader5").expect("known")));
        assert!(!set.contains(find("GL_ARB_compute_shader").expect("known")));
    }
}
