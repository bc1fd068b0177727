//! The only place that calls glslang: parse one text, or parse and link several into SPIR-V.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, CStr, CString};
use std::ptr::{self, NonNull};
use std::sync::Once;

use glslang_sys as sys;

use crate::options::Limits;
use mgpipe_types::reflection::{Stage, DEFAULT_BLOCK_NAME};

/// A parsed shader, used for one link only: glslang's linker changes it.
#[derive(Debug)]
pub(crate) struct Shader(
    NonNull<sys::glslang_shader_t>,
    /// Parsed as GLSL 4.40.
    bool,
);

// SAFETY: glslang keeps nothing of a shader in thread-local storage between calls: every entry point sets the calling
// thread's allocator to the object's own first. The object is reachable through this owner only.
unsafe impl Send for Shader {}

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: the pointer came from glslang_shader_create and is deleted once, here.
        unsafe { sys::glslang_shader_delete(self.0.as_ptr()) }
    }
}

/// A program; it borrows the shaders that were added, so it must be dropped before them.
struct Program(NonNull<sys::glslang_program_t>);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the pointer came from glslang_program_create and is deleted once, here.
        unsafe { sys::glslang_program_delete(self.0.as_ptr()) }
    }
}

/// Starts glslang once for the process. It is never finalised: other threads may still be compiling at exit.
fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        // SAFETY: called once, before every other glslang function, as glslang asks.
        unsafe { sys::glslang_initialize_process() };
    });
}

/// The version of glslang.
pub(crate) fn version() -> [i32; 3] {
    // SAFETY: an all-zero version is valid: null flavour, numbers 0. glslang fills it and needs no start for that.
    let version = unsafe {
        let mut version = std::mem::zeroed::<sys::glslang_version_t>();
        sys::glslang_get_version(&mut version);
        version
    };
    [version.major, version.minor, version.patch]
}

fn raw_stage(stage: Stage) -> sys::glslang_stage_t {
    match stage {
        Stage::Vertex => sys::glslang_stage_t::Vertex,
        Stage::TessControl => sys::glslang_stage_t::TesselationControl,
        Stage::TessEvaluation => sys::glslang_stage_t::TesselationEvaluation,
        Stage::Geometry => sys::glslang_stage_t::Geometry,
        Stage::Fragment => sys::glslang_stage_t::Fragment,
        Stage::Compute => sys::glslang_stage_t::Compute,
    }
}

const MESSAGES: c_int = sys::glslang_messages_t::SPV_RULES.0
    | sys::glslang_messages_t::VULKAN_RULES.0
    | sys::glslang_messages_t::DISPLAY_ERROR_COLUMN.0;

/// Parses a text in the normal form; the error is glslang's log. `text` must not contain NUL bytes (the rewriter never emits one).
///
/// glslang makes its symbol tables for each version of GLSL apart, and those of 4.50 and later, with all the stages of ray
/// tracing, cost twice the time of those of 4.40. So what is valid as GLSL 4.40 is parsed as that.
pub(crate) fn parse(stage: Stage, text: &str, limits: &Limits) -> Result<Shader, String> {
    if let Some(shader) = as_440(text).and_then(|text| parse_as_it_is(stage, &text, limits).ok()) {
        // SAFETY: the shader lives; its log is a NUL-terminated string that it owns.
        let log = unsafe { string(sys::glslang_shader_get_info_log(shader.0.as_ptr())) };
        if !log.contains(LENIENT) {
            return Ok(shader);
        }
    }
    parse_as_it_is(stage, text, limits)
}

/// What glslang warns of in GLSL 4.40 where every other version of GLSL has an error.
const LENIENT: &str = "label not followed by statements";

const HEAD_440: &str = "#version 440 core\n";
const HEAD_460: &str = "#version 460 core\n";

/// The text as GLSL 4.40, where the parameters of a draw have the names of an extension.
fn as_440(text: &str) -> Option<String> {
    let rest = text.strip_prefix(HEAD_460)?;
    let mut older = String::with_capacity(text.len() + 64);
    older.push_str(HEAD_440);
    if !["gl_BaseInstance", "gl_BaseVertex", "gl_DrawID"].iter().any(|name| rest.contains(name)) {
        older.push_str(rest);
        return Some(older);
    }
    older.push_str("#extension GL_ARB_shader_draw_parameters : enable\n");
    let mut word = 0;
    for (at, c) in rest.char_indices().chain([(rest.len(), ' ')]) {
        if c == '_' || c.is_ascii_alphanumeric() {
            continue;
        }
        let name = &rest[word..at];
        older.push_str(name);
        if matches!(name, "gl_BaseInstance" | "gl_BaseVertex" | "gl_DrawID") {
            older.push_str("ARB");
        }
        word = at + c.len_utf8();
        older.push_str(rest.get(at..word).unwrap_or(""));
    }
    Some(older)
}

fn parse_as_it_is(stage: Stage, text: &str, limits: &Limits) -> Result<Shader, String> {
    start();
    let Ok(code) = CString::new(text) else { return Err("ERROR: 0:1: '' : NUL in source\n".into()) };
    let resource = resource(limits);
    let input = sys::glslang_input_t {
        language: sys::glslang_source_t::GLSL,
        stage: raw_stage(stage),
        client: sys::glslang_client_t::Vulkan,
        client_version: sys::glslang_target_client_version_t::Vulkan1_1,
        target_language: sys::glslang_target_language_t::SPIRV,
        target_language_version: sys::glslang_target_language_version_t::SPIRV1_3,
        code: code.as_ptr(),
        default_version: 460,
        default_profile: sys::glslang_profile_t::Core,
        force_default_version_and_profile: 0,
        forward_compatible: 0,
        messages: sys::glslang_messages_t(MESSAGES),
        resource: &resource,
        callbacks: sys::glsl_include_callbacks_t {
            include_system: None,
            include_local: None,
            free_include_result: None,
        },
        callbacks_ctx: ptr::null_mut(),
    };
    let options = sys::glslang_shader_options_t::AUTO_MAP_BINDINGS.0
        | sys::glslang_shader_options_t::AUTO_MAP_LOCATIONS.0
        | sys::glslang_shader_options_t::VULKAN_RULES_RELAXED.0;
    let block_name = CString::new(DEFAULT_BLOCK_NAME).unwrap_or_default();
    // SAFETY: `input` and everything that it points to outlives these calls; glslang copies the block name and the
    // preprocessed text into its own strings, and keeps no pointer to `code` after the parse (the parse replaces the
    // shader's strings by the preprocessed text, which the shader object owns). The returned log is a NUL-terminated
    // string owned by the shader, copied before anything else is called.
    unsafe {
        let shader = NonNull::new(sys::glslang_shader_create(&input)).ok_or("ERROR: out of memory\n")?;
        let shader = Shader(shader, text.starts_with(HEAD_440));
        let raw = shader.0.as_ptr();
        sys::glslang_shader_set_options(raw, options);
        sys::glslang_shader_set_default_uniform_block_set_and_binding(raw, 0, 0);
        sys::glslang_shader_set_default_uniform_block_name(raw, block_name.as_ptr());
        sys::glslang_shader_set_preprocessed_code(raw, code.as_ptr());
        if sys::glslang_shader_parse(raw, &input) == 0 {
            return Err(string(sys::glslang_shader_get_info_log(raw)));
        }
        Ok(shader)
    }
}

/// Copies a string of glslang's.
///
/// # Safety
///
/// `text` is null or a NUL-terminated string.
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller promises a NUL-terminated string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A shader to link: its text, and what it was parsed to if it was.
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    pub(crate) parsed: Option<Shader>,
}

/// Parses what is not parsed, links all as one program with interfaces matched by name, and returns one module a stage in
/// pipeline order. `cross_stage_checks` makes an input without an output in the stage before an error. The error is
/// glslang's log.
pub(crate) fn link(
    sources: Vec<(Stage, Source<'_>)>,
    limits: &Limits,
    cross_stage_checks: bool,
) -> Result<Vec<(Stage, Vec<u32>)>, String> {
    let mut shaders = Vec::with_capacity(sources.len());
    let mut texts = Vec::with_capacity(sources.len());
    for (stage, source) in sources {
        let shader = match source.parsed {
            Some(shader) => shader,
            None => parse(stage, source.text, limits)?,
        };
        shaders.push((stage, shader));
        texts.push(source.text);
    }
    // The built-in blocks of the two versions differ in a member, which stages must agree on.
    if shaders.iter().any(|(_, shader)| !shader.1) {
        for ((stage, shader), text) in shaders.iter_mut().zip(texts).filter(|((_, shader), _)| shader.1) {
            *shader = parse_as_it_is(*stage, text, limits)?;
        }
    }
    let mut messages = MESSAGES;
    if cross_stage_checks {
        messages |= sys::glslang_messages_t::VALIDATE_CROSS_STAGE_IO.0;
    }
    // SAFETY: the program is dropped before `shaders` (declared later), whose objects it refers to. Resolver and mapper
    // live until after the call that uses them. The resolver is made after a successful link and for a stage that has a
    // shader, so that the program's intermediate exists. The SPIR-V pointer and size belong to the program and are
    // copied before the next generate call replaces them.
    unsafe {
        let program = Program(NonNull::new(sys::glslang_program_create()).ok_or("ERROR: out of memory\n")?);
        let raw = program.0.as_ptr();
        for (_, shader) in &shaders {
            sys::glslang_program_add_shader(raw, shader.0.as_ptr());
        }
        if sys::glslang_program_link(raw, messages) == 0 {
            return Err(string(sys::glslang_program_get_info_log(raw)));
        }
        let first = shaders.first().map(|(stage, _)| *stage).ok_or("ERROR: nothing to link\n")?;
        let resolver = sys::glslang_glsl_resolver_create(raw, raw_stage(first));
        let mapper = sys::glslang_glsl_mapper_create();
        let mapped = sys::glslang_program_map_io_with_resolver_and_mapper(raw, resolver, mapper);
        sys::glslang_glsl_mapper_delete(mapper);
        sys::glslang_glsl_resolver_delete(resolver);
        if mapped == 0 {
            return Err(string(sys::glslang_program_get_info_log(raw)));
        }
        let mut modules = Vec::new();
        for stage in Stage::ALL {
            if !shaders.iter().any(|(s, _)| *s == stage) {
                continue;
            }
            let mut options = sys::glslang_spv_options_t {
                generate_debug_info: false,
                strip_debug_info: false,
                disable_optimizer: true,
                optimize_size: false,
                optimize_performance: false,
                disassemble: false,
                validate: false,
                emit_nonsemantic_shader_debug_info: false,
                emit_nonsemantic_shader_debug_source: false,
                compile_only: false,
                optimize_allow_expanded_id_bound: false,
                compiler_signature: ptr::null(),
                command_line_arguments: ptr::null(),
                current_working_directory: ptr::null(),
            };
            sys::glslang_program_SPIRV_generate_with_options(raw, raw_stage(stage), &mut options);
            let size = sys::glslang_program_SPIRV_get_size(raw);
            let words = sys::glslang_program_SPIRV_get_ptr(raw);
            if size == 0 || words.is_null() {
                return Err(format!("ERROR: no code for the {} stage\n", stage.name()));
            }
            modules.push((stage, std::slice::from_raw_parts(words, size).to_vec()));
        }
        Ok(modules)
    }
}

/// glslang's limits, from ours.
fn resource(l: &Limits) -> sys::glslang_resource_t {
    let int = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
    let vectors = int(l.max_varying_components / 4);
    sys::glslang_resource_t {
        max_lights: 8,
        max_clip_planes: int(l.max_clip_distances),
        max_texture_units: 8,
        max_texture_coords: 8,
        max_vertex_attribs: int(l.max_vertex_attribs),
        max_vertex_uniform_components: int(l.max_uniform_components),
        max_varying_floats: int(l.max_varying_components),
        max_vertex_texture_image_units: int(l.max_texture_image_units),
        max_combined_texture_image_units: int(l.max_combined_texture_image_units),
        max_texture_image_units: int(l.max_texture_image_units),
        max_fragment_uniform_components: int(l.max_uniform_components),
        max_draw_buffers: int(l.max_draw_buffers),
        max_vertex_uniform_vectors: int(l.max_uniform_components / 4),
        max_varying_vectors: vectors,
        max_fragment_uniform_vectors: int(l.max_uniform_components / 4),
        max_vertex_output_vectors: int(l.max_vertex_output_components / 4),
        max_fragment_input_vectors: int(l.max_fragment_input_components / 4),
        min_program_texel_offset: l.min_program_texel_offset,
        max_program_texel_offset: l.max_program_texel_offset,
        max_clip_distances: int(l.max_clip_distances),
        max_compute_work_group_count_x: int(l.max_compute_work_group_count[0]),
        max_compute_work_group_count_y: int(l.max_compute_work_group_count[1]),
        max_compute_work_group_count_z: int(l.max_compute_work_group_count[2]),
        max_compute_work_group_size_x: int(l.max_compute_work_group_size[0]),
        max_compute_work_group_size_y: int(l.max_compute_work_group_size[1]),
        max_compute_work_group_size_z: int(l.max_compute_work_group_size[2]),
        max_compute_uniform_components: int(l.max_uniform_components),
        max_compute_texture_image_units: int(l.max_texture_image_units),
        max_compute_image_uniforms: int(l.max_image_uniforms),
        max_compute_atomic_counters: int(l.max_atomic_counters),
        max_compute_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_varying_components: int(l.max_varying_components),
        max_vertex_output_components: int(l.max_vertex_output_components),
        max_geometry_input_components: int(l.max_geometry_input_components),
        max_geometry_output_components: int(l.max_geometry_output_components),
        max_fragment_input_components: int(l.max_fragment_input_components),
        max_image_units: int(l.max_image_units),
        max_combined_image_units_and_fragment_outputs: int(l.max_combined_shader_output_resources),
        max_combined_shader_output_resources: int(l.max_combined_shader_output_resources),
        max_image_samples: int(l.max_image_samples),
        max_vertex_image_uniforms: int(l.max_image_uniforms),
        max_tess_control_image_uniforms: int(l.max_image_uniforms),
        max_tess_evaluation_image_uniforms: int(l.max_image_uniforms),
        max_geometry_image_uniforms: int(l.max_image_uniforms),
        max_fragment_image_uniforms: int(l.max_image_uniforms),
        max_combined_image_uniforms: int(l.max_combined_image_uniforms),
        max_geometry_texture_image_units: int(l.max_texture_image_units),
        max_geometry_output_vertices: int(l.max_geometry_output_vertices),
        max_geometry_total_output_components: int(l.max_geometry_total_output_components),
        max_geometry_uniform_components: int(l.max_uniform_components),
        max_geometry_varying_components: int(l.max_geometry_output_components),
        max_tess_control_input_components: int(l.max_tess_control_input_components),
        max_tess_control_output_components: int(l.max_tess_control_output_components),
        max_tess_control_texture_image_units: int(l.max_texture_image_units),
        max_tess_control_uniform_components: int(l.max_uniform_components),
        max_tess_control_total_output_components: int(l.max_tess_control_total_output_components),
        max_tess_evaluation_input_components: int(l.max_tess_evaluation_input_components),
        max_tess_evaluation_output_components: int(l.max_tess_evaluation_output_components),
        max_tess_evaluation_texture_image_units: int(l.max_texture_image_units),
        max_tess_evaluation_uniform_components: int(l.max_uniform_components),
        max_tess_patch_components: int(l.max_tess_patch_components),
        max_patch_vertices: int(l.max_patch_vertices),
        max_tess_gen_level: int(l.max_tess_gen_level),
        max_viewports: int(l.max_viewports),
        max_vertex_atomic_counters: int(l.max_atomic_counters),
        max_tess_control_atomic_counters: int(l.max_atomic_counters),
        max_tess_evaluation_atomic_counters: int(l.max_atomic_counters),
        max_geometry_atomic_counters: int(l.max_atomic_counters),
        max_fragment_atomic_counters: int(l.max_atomic_counters),
        max_combined_atomic_counters: int(l.max_atomic_counters),
        max_atomic_counter_bindings: int(l.max_atomic_counter_bindings),
        max_vertex_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_tess_control_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_tess_evaluation_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_geometry_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_fragment_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_combined_atomic_counter_buffers: int(l.max_atomic_counter_buffers),
        max_atomic_counter_buffer_size: int(l.max_atomic_counter_buffer_size),
        max_transform_feedback_buffers: int(l.max_transform_feedback_buffers),
        max_transform_feedback_interleaved_components: int(l.max_transform_feedback_interleaved_components),
        max_cull_distances: int(l.max_cull_distances),
        max_combined_clip_and_cull_distances: int(l.max_combined_clip_and_cull_distances),
        max_samples: int(l.max_samples),
        max_mesh_output_vertices_nv: 0,
        max_mesh_output_primitives_nv: 0,
        max_mesh_work_group_size_x_nv: 0,
        max_mesh_work_group_size_y_nv: 0,
        max_mesh_work_group_size_z_nv: 0,
        max_task_work_group_size_x_nv: 0,
        max_task_work_group_size_y_nv: 0,
        max_task_work_group_size_z_nv: 0,
        max_mesh_view_count_nv: 0,
        max_mesh_output_vertices_ext: 0,
        max_mesh_output_primitives_ext: 0,
        max_mesh_work_group_size_x_ext: 0,
        max_mesh_work_group_size_y_ext: 0,
        max_mesh_work_group_size_z_ext: 0,
        max_task_work_group_size_x_ext: 0,
        max_task_work_group_size_y_ext: 0,
        max_task_work_group_size_z_ext: 0,
        max_mesh_view_count_ext: 0,
        __bindgen_anon_1: sys::glslang_resource_s__bindgen_ty_1 {
            max_dual_source_draw_buffers_ext: int(l.max_dual_source_draw_buffers),
        },
        limits: sys::glslang_limits_t::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compile, CompileOptions};

    fn is_440(stage: Stage, source: &str) -> bool {
        let options = CompileOptions::default();
        let shader = compile(stage, source.as_bytes(), &options);
        assert!(shader.ok(), "{}\n{source}", shader.info_log());
        let older = as_440(shader.normal_form()).expect("the normal form is GLSL 4.60");
        parse_as_it_is(stage, &older, &options.limits).is_ok()
    }

    #[test]
    fn shaders_of_opengl_3_3_need_the_smaller_tables_only() {
        let instances = "#version 330\nvoid f(){};\nvoid main(){gl_Position=vec4(gl_InstanceID, gl_VertexID, 0, 1);};;";
        assert!(is_440(Stage::Vertex, instances));
        assert!(is_440(
            Stage::Vertex,
            "#version 330\nout float gl_ClipDistance[3];void main(){gl_ClipDistance[2]=1.;}"
        ));
        let geometry = "#version 150\nlayout(points) in;layout(points, max_vertices=1) out;\
                        void main(){gl_Position=gl_in[0].gl_Position;gl_Layer=1;EmitVertex();}";
        assert!(is_440(Stage::Geometry, geometry));
        let fragment =
            "#version 120\nuniform sampler2D s;void main(){gl_FragColor=texture2D(s, dFdx(gl_FragCoord.xy));}";
        assert!(is_440(Stage::Fragment, fragment));
        let parameters =
            "#version 460\nint my_gl_DrawID=1;void main(){gl_Position=vec4(gl_DrawID, gl_BaseVertex, 0, 1);}";
        assert!(is_440(Stage::Vertex, parameters));
        // The control: functions of GLSL 4.50 are not in the smaller tables.
        assert!(!is_440(Stage::Fragment, "#version 450\nout vec4 c;void main(){c=dFdxFine(gl_FragCoord);}"));
    }

    #[test]
    fn what_only_glsl_440_lets_pass_is_refused() {
        let text = "#version 460 core\nvoid main(){int i=1;switch(i){case 0:}}\n";
        let limits = Limits::default();
        let older = as_440(text).expect("the normal form");
        assert!(parse_as_it_is(Stage::Vertex, &older, &limits).is_ok());
        let log = parse(Stage::Vertex, text, &limits).expect_err("an error");
        assert!(log.contains(LENIENT), "{log}");
    }
}
