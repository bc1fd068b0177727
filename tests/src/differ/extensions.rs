//! Which extensions the reference has to hide, so that both drivers know the same enumerants.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use glow::HasContext as _;

use super::Differ;
use crate::driver::Driver;
use crate::egl::{ContextRequest, Egl};

/// Extensions that make more enumerants legal and that OpenGL 3.3 does without.
const BEYOND: &[&str] = &[
    "3DFX_texture_compression_FXT1",
    "AMD_pinned_memory",
    "AMD_query_buffer_object",
    "AMD_seamless_cubemap_per_texture",
    "ARB_ES3_1_compatibility",
    "ARB_ES3_2_compatibility",
    "ARB_ES3_compatibility",
    "ARB_base_instance",
    "ARB_clear_texture",
    "ARB_clip_control",
    "ARB_compute_shader",
    "ARB_conditional_render_inverted",
    "ARB_copy_image",
    "ARB_cull_distance",
    "ARB_draw_buffers_blend",
    "ARB_draw_indirect",
    "ARB_gpu_shader5",
    "ARB_gpu_shader_fp64",
    "ARB_indirect_parameters",
    "ARB_internalformat_query2",
    "ARB_pipeline_statistics_query",
    "ARB_polygon_offset_clamp",
    "ARB_query_buffer_object",
    "ARB_sample_shading",
    "ARB_seamless_cubemap_per_texture",
    "ARB_shader_atomic_counters",
    "ARB_shader_image_load_store",
    "ARB_shader_storage_buffer_object",
    "ARB_stencil_texturing",
    "ARB_tessellation_shader",
    "ARB_texture_barrier",
    "ARB_texture_buffer_object_rgb32",
    "ARB_texture_compression_bptc",
    "ARB_texture_cube_map_array",
    "ARB_texture_filter_anisotropic",
    "ARB_texture_filter_minmax",
    "ARB_texture_gather",
    "ARB_texture_mirror_clamp_to_edge",
    "ARB_texture_stencil8",
    "ARB_texture_view",
    "ARB_transform_feedback2",
    "ARB_transform_feedback3",
    "ARB_transform_feedback_overflow_query",
    "ARB_vertex_type_10f_11f_11f_rev",
    "ARB_viewport_array",
    "ATI_texture_mirror_once",
    "EXT_framebuffer_multisample_blit_scaled",
    "EXT_memory_object",
    "EXT_polygon_offset_clamp",
    "EXT_shader_framebuffer_fetch",
    "EXT_texture_filter_minmax",
    "EXT_texture_mirror_clamp",
    "EXT_texture_sRGB_R8",
    "EXT_texture_sRGB_RG8",
    "EXT_texture_sRGB_decode",
    "KHR_blend_equation_advanced",
    "KHR_texture_compression_astc_ldr",
    "MESA_framebuffer_flip_y",
    "MESA_pack_invert",
    "MESA_ycbcr_texture",
    "NV_copy_image",
    "NV_texture_barrier",
];

/// The extensions of the driver of the environment, sorted.
pub fn own() -> Result<Vec<String>> {
    let egl = Egl::open()?;
    let context = egl.context(&ContextRequest::DEFAULT, None)?;
    context.make_current()?;
    // SAFETY: the context was made current just above.
    let functions = unsafe { context.functions() };
    let mut list: Vec<String> = functions.supported_extensions().iter().cloned().collect();
    list.sort();
    Ok(list)
}

fn of(differ: &Differ, driver: &Driver) -> Result<BTreeSet<String>> {
    let output = differ.command(driver, &differ.folder.join("extensions"))?.arg("--extensions").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(output.status.success(), "no context: {}", String::from_utf8_lossy(&output.stderr));
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Those of them that the reference has and the driver under test has not, with the minus sign that Mesa wants.
pub fn hidden(differ: &Differ) -> Result<String> {
    let own = of(differ, &differ.driver).context("the driver under test")?;
    let reference = of(differ, &differ.reference).context("the reference")?;
    let beyond = |name: &&String| BEYOND.iter().any(|beyond| name.strip_prefix("GL_") == Some(beyond));
    let missing: Vec<String> = reference.difference(&own).filter(beyond).map(|name| format!("-{name}")).collect();
    Ok(missing.join(" "))
}
