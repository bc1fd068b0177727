//! What the driver can do beyond OpenGL ES 3.1: extensions by their names, then whether their functions are there, then whether
//! they work (see [`crate::trial`]). Names can be hidden by `MGL_ESPRYT_MASK`.

/// In a mask: OpenGL ES 3.2 becomes 3.1.
pub(crate) const ES32: &str = "ES32";
/// In a mask: the fragment stage has no storage buffers.
pub(crate) const FRAGMENT_STORAGE: &str = "fragment_storage";
/// In a mask: the driver's mipmaps of a part of the levels touch others.
pub(crate) const PARTIAL_MIPMAPS: &str = "partial_mipmaps";

/// Every feature: whether OpenGL ES 3.2 has it, the extensions that have it, the functions that it needs.
macro_rules! features {
    ($($(#[$doc:meta])* $field:ident: $core:literal [$($name:literal),+] ($($function:literal),*);)*) => {
        /// What the driver can do beyond OpenGL ES 3.1.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Features {
            $($(#[$doc])* pub(crate) $field: bool,)*
            /// The fragment stage can write storage buffers.
            pub(crate) fragment_storage: bool,
            /// Several draws with base vertices are one call.
            pub(crate) multi_base_vertex: bool,
            /// Mipmaps of some levels leave the others alone.
            pub(crate) partial_mipmaps: bool,
        }

        impl Features {
            /// What the version and the extensions promise.
            pub(crate) fn new(es32: bool, extension: impl Fn(&str) -> bool) -> Features {
                Features {
                    $($field: ($core && es32) || [$($name),+].into_iter().any(&extension),)*
                    fragment_storage: false,
                    multi_base_vertex: false,
                    partial_mipmaps: true,
                }
            }

            /// Takes back what a driver promises without having the functions.
            pub(crate) fn keep_what_is_there(&mut self, is_there: impl Fn(&str) -> bool) {
                $(
                    let missing: &[&str] = &[$($function),*];
                    for function in missing {
                        if self.$field && !is_there(function) {
                            self.$field = false;
                            log::warn!("espryt: the driver promises {} and lacks {function}", [$($name),+][0]);
                        }
                    }
                )*
                let several = self.multi_draw && self.base_vertex;
                self.multi_base_vertex = several && is_there("multi_draw_elements_base_vertex");
            }
        }

        /// Names that `MGL_ESPRYT_MASK` may hold, without `GL_`.
        pub(crate) const NAMES: &[&str] = &[ES32, FRAGMENT_STORAGE, PARTIAL_MIPMAPS, $($($name),+),*];
    };
}

features! {
    buffer_storage: false ["EXT_buffer_storage"] ("buffer_storage");
    base_instance: false ["EXT_base_instance"] ("draw_elements_base_instance", "draw_arrays_base_instance");
    base_vertex: true ["OES_draw_elements_base_vertex", "EXT_draw_elements_base_vertex"] ("draw_elements_base_vertex");
    multi_draw: false ["EXT_multi_draw_arrays"] ("multi_draw_arrays", "multi_draw_elements");
    multi_draw_indirect: false ["EXT_multi_draw_indirect"] ("multi_draw_arrays_indirect", "multi_draw_elements_indirect");
    clip_distance: false ["EXT_clip_cull_distance"] ();
    dual_source: false ["EXT_blend_func_extended"] ();
    texture_view: false ["OES_texture_view", "EXT_texture_view"] ("texture_view");
    texture_buffer: true ["OES_texture_buffer", "EXT_texture_buffer"] ("tex_buffer_range");
    copy_image: true ["OES_copy_image", "EXT_copy_image"] ("copy_image");
    timer: false ["EXT_disjoint_timer_query"] ("query_counter", "query_object_u64");
    depth_clamp: false ["EXT_depth_clamp"] ();
    draw_buffers_indexed: true ["OES_draw_buffers_indexed", "EXT_draw_buffers_indexed"]
        ("blend_equation_i", "blend_func_i", "color_mask_i", "enable_i", "disable_i");
    geometry: true ["OES_geometry_shader", "EXT_geometry_shader"] ("framebuffer_texture");
    geometry_point_size: false ["EXT_geometry_point_size", "OES_geometry_point_size"] ();
    polygon_mode: false ["NV_polygon_mode"] ("polygon_mode");
    polygon_offset_clamp: false ["EXT_polygon_offset_clamp"] ("polygon_offset_clamp");
    norm16: false ["EXT_texture_norm16"] ();
    float_attachment: true ["EXT_color_buffer_float"] ();
    float_linear: false ["OES_texture_float_linear"] ();
    framebuffer_fetch: false ["EXT_shader_framebuffer_fetch"] ();
    render_snorm: false ["EXT_render_snorm"] ();
    srgb_control: false ["EXT_sRGB_write_control"] ();
    border_clamp: true ["OES_texture_border_clamp", "EXT_texture_border_clamp"]
        ("sampler_parameter_iiv", "sampler_parameter_iuiv");
    mirror_clamp: false ["EXT_texture_mirror_clamp_to_edge"] ();
    anisotropy: false ["EXT_texture_filter_anisotropic"] ();
    cube_array: true ["OES_texture_cube_map_array", "EXT_texture_cube_map_array"] ();
    sample_variables: true ["OES_sample_variables"] ();
    gpu_shader5: true ["EXT_gpu_shader5"] ();
    multisample_array: true ["OES_texture_storage_multisample_2d_array"] ("tex_storage_3d_multisample");
    sample_shading: true ["OES_sample_shading"] ("min_sample_shading");
    multisample_control: false ["EXT_multisample_compatibility"] ();
    stencil_texture: true ["OES_texture_stencil8"] ();
    read_depth: false ["NV_read_depth"] ();
    read_stencil: false ["NV_read_stencil"] ();
    s3tc: false ["EXT_texture_compression_s3tc"] ();
    s3tc_srgb: false ["EXT_texture_compression_s3tc_srgb"] ();
    rgtc: false ["EXT_texture_compression_rgtc"] ();
    bptc: false ["EXT_texture_compression_bptc"] ();
}

/// What `MGL_ESPRYT_MASK` hides.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(Vec<String>);

impl Mask {
    /// The mask of the environment.
    ///
    /// # Errors
    /// A name that hides nothing, with those that do.
    pub(crate) fn of_environment() -> Result<Mask, String> {
        Mask::parse(&mgpipe_types::switches::switch_text("MGL_ESPRYT_MASK").unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Mask, String> {
        let names: Vec<&str> =
            text.split(',').map(|name| name.trim().trim_start_matches("GL_")).filter(|name| !name.is_empty()).collect();
        match names.iter().find(|name| !NAMES.contains(name)) {
            Some(name) => Err(format!(
                "MGL_ESPRYT_MASK: {name:?} is nothing that Espryt can do without; it takes {}, with or without GL_",
                NAMES.join(", ")
            )),
            None => Ok(Mask(names.into_iter().map(str::to_owned).collect())),
        }
    }

    /// Whether a name is hidden.
    pub(crate) fn hides(&self, name: &str) -> bool {
        self.0.iter().any(|hidden| hidden == name)
    }
}

/// Every name that `MGL_ESPRYT_MASK` knows, without `GL_`.
pub fn mask_names() -> &'static [&'static str] {
    NAMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_takes_known_names_with_or_without_their_prefix() {
        let mask = Mask::parse("GL_EXT_buffer_storage, ES32").expect("known");
        assert!(mask.hides("EXT_buffer_storage") && mask.hides(ES32) && !mask.hides("EXT_base_instance"));
        assert_eq!(Mask::parse(""), Ok(Mask::default()));
    }

    #[test]
    fn a_mask_with_another_name_is_refused_and_names_the_choices() {
        let sentence = Mask::parse("EXT_bufer_storage").expect_err("unknown");
        assert!(sentence.contains("EXT_bufer_storage") && sentence.contains("EXT_buffer_storage"), "{sentence}");
    }

    #[test]
    fn a_promise_without_functions_is_taken_back() {
        let mut has = Features::new(true, |_| true);
        assert!(has.buffer_storage && has.base_vertex);
        has.keep_what_is_there(|function| function != "buffer_storage");
        assert!(!has.buffer_storage && has.base_vertex);
    }
}
