//! The power-on self-test and the caps that come of it: formats are tried, not taken from strings.

use crate::features::Features;
use crate::format::{caps_bits, is_known, transfer};
use crate::gles::Gles;
use glow::HasContext;
use mgpipe_types::{features, gl, Caps, CapsReply, Format, FormatKind, Opcode, CALLS, FORMAT_SLOTS};

/// Optional calls that the backend does not implement.
const MISSING: &[Opcode] = &[Opcode::BufferSubdataResident, Opcode::SetSwapInterval, Opcode::BindContext];

/// `GL_ALIASED_POINT_SIZE_RANGE`, which core OpenGL has dropped.
const ALIASED_POINT_SIZE_RANGE: u32 = 0x846D;

/// What trying a format has shown.
struct Tried {
    sampled: bool,
    renderable: bool,
    samples: u32,
}

/// Makes a texture of the format and attaches it.
fn try_format(gles: &Gles, format: Format) -> Tried {
    let nothing = Tried { sampled: false, renderable: false, samples: 0 };
    if !is_known(&gles.has, format) {
        return nothing;
    }
    let Some(transfer) = transfer(format) else { return nothing };
    let gl = &gles.gl;
    gles.drain_errors();
    // SAFETY: a context is current; all names are made and deleted here.
    unsafe {
        let (Ok(texture), Ok(framebuffer)) = (gl.create_texture(), gl.create_framebuffer()) else { return nothing };
        gl.active_texture(gl::TEXTURE0);
        gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        gl.tex_storage_2d(gl::TEXTURE_2D, 1, transfer.internal, 4, 4);
        let sampled = gles.drain_errors().is_none();
        let mut renderable = false;
        if sampled && !format.desc().is_compressed() {
            let attachment = match (format.has_depth(), format.has_stencil()) {
                (true, true) => gl::DEPTH_STENCIL_ATTACHMENT,
                (true, false) => gl::DEPTH_ATTACHMENT,
                (false, true) => gl::STENCIL_ATTACHMENT,
                _ => gl::COLOR_ATTACHMENT0,
            };
            gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
            gl.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(texture), 0);
            renderable = gl.check_framebuffer_status(gl::FRAMEBUFFER) == gl::FRAMEBUFFER_COMPLETE
                && gles.drain_errors().is_none()
                && (gles.has.float_attachment || format.desc().kind != FormatKind::Float);
            gl.bind_framebuffer(gl::FRAMEBUFFER, None);
        }
        gl.bind_texture(gl::TEXTURE_2D, None);
        gl.delete_framebuffer(framebuffer);
        gl.delete_texture(texture);
        // One sample, and those whose storage the driver makes.
        let mut samples = 1;
        if renderable {
            for log2 in 1..=4u32 {
                if try_samples(gles, transfer.internal, 1 << log2) {
                    samples |= 1 << log2;
                }
            }
        }
        gles.drain_errors();
        Tried { sampled, renderable, samples }
    }
}

/// Whether storage with exactly so many samples can be made.
fn try_samples(gles: &Gles, internal: u32, samples: i32) -> bool {
    let gl = &gles.gl;
    // SAFETY: a context is current; the name is made and deleted here.
    unsafe {
        let Ok(texture) = gl.create_texture() else { return false };
        gl.bind_texture(gl::TEXTURE_2D_MULTISAMPLE, Some(texture));
        gl.tex_storage_2d_multisample(gl::TEXTURE_2D_MULTISAMPLE, samples, internal, 4, 4, true);
        let made = gles.drain_errors().is_none();
        let real =
            made && gl.get_tex_level_parameter_i32(gl::TEXTURE_2D_MULTISAMPLE, 0, gl::TEXTURE_SAMPLES) == samples;
        gl.bind_texture(gl::TEXTURE_2D_MULTISAMPLE, None);
        gl.delete_texture(texture);
        real
    }
}

fn feature_bits(has: &Features) -> u64 {
    let mut bits = features::TRANSFORM_FEEDBACK
        | features::OCCLUSION_QUERY
        | features::XFB_PRIMITIVES_QUERY
        | features::DRIVER_ORDERED_XFB
        | features::TEXTURE_SWIZZLE
        | features::LARGE_POINTS
        | features::WIDE_LINES;
    let mut add = |on: bool, bit: u64| {
        if on {
            bits |= bit;
        }
    };
    add(has.buffer_storage, features::PERSISTENT_MAP);
    add(has.geometry, features::GEOMETRY_SHADER | features::PRIMITIVES_GENERATED_QUERY);
    add(has.framebuffer_fetch, features::LOGIC_OP);
    add(has.dual_source, features::DUAL_SOURCE_BLEND);
    add(has.depth_clamp, features::DEPTH_CLAMP);
    add(has.clip_distance, features::CLIP_DISTANCE);
    add(has.sample_shading, features::SAMPLE_SHADING);
    add(has.draw_buffers_indexed, features::INDEPENDENT_BLEND);
    add(has.anisotropy, features::ANISOTROPY);
    add(has.cube_array, features::CUBE_ARRAY);
    add(has.timer, features::TIMER_QUERY);
    add(has.fragment_storage, features::OCCLUSION_PRECISE);
    add(has.border_clamp, features::CUSTOM_BORDER_COLOR);
    add(has.mirror_clamp, features::MIRROR_CLAMP);
    add(has.polygon_mode, features::POLYGON_MODE);
    bits
}

/// Caps of a driver, whose context is current.
pub(crate) fn reply(gles: &Gles) -> CapsReply {
    let has = &gles.has;
    let mut formats = [0; FORMAT_SLOTS];
    let (mut color_samples, mut depth_samples, mut integer_samples) = (0, 0, 0);
    for &format in Format::ALL {
        let tried = try_format(gles, format);
        if !tried.sampled {
            continue;
        }
        formats[format.0 as usize] = caps_bits(has, format, tried.renderable, tried.samples);
        match format {
            Format::RGBA8_UNORM => color_samples = tried.samples,
            Format::D24_UNORM_S8 => depth_samples = tried.samples,
            Format::RGBA8_UINT => integer_samples = tried.samples,
            _ => {}
        }
    }
    let mut call_mask = [0u64; 2];
    for call in CALLS {
        let mapping = matches!(call.opcode, Opcode::MapPersistent | Opcode::UnmapPersistent);
        if !MISSING.contains(&call.opcode) && (has.buffer_storage || !mapping) {
            let bit = call.opcode as usize - 1;
            call_mask[bit / 64] |= 1 << (bit % 64);
        }
    }
    let l = |name| gles.limit(name);
    let point = gles.float_pair(ALIASED_POINT_SIZE_RANGE);
    let line = gles.float_pair(gl::ALIASED_LINE_WIDTH_RANGE);
    let framebuffer = [l(gl::MAX_FRAMEBUFFER_WIDTH), l(gl::MAX_FRAMEBUFFER_HEIGHT)];
    let caps = Caps {
        features: feature_bits(has),
        call_mask,
        timestamp_period_ns: 1.0,
        timestamp_bits: if has.timer { 64 } else { 0 },
        max_texture_2d: l(gl::MAX_TEXTURE_SIZE),
        max_texture_3d: l(gl::MAX_3D_TEXTURE_SIZE),
        max_texture_cube: l(gl::MAX_CUBE_MAP_TEXTURE_SIZE),
        max_array_layers: l(gl::MAX_ARRAY_TEXTURE_LAYERS),
        max_texel_buffer_elements: if has.texture_buffer { l(gl::MAX_TEXTURE_BUFFER_SIZE) } else { 0 },
        max_framebuffer_size: framebuffer,
        max_framebuffer_layers: if has.geometry { l(gl::MAX_FRAMEBUFFER_LAYERS) } else { 1 },
        max_color_attachments: l(gl::MAX_COLOR_ATTACHMENTS).min(l(gl::MAX_DRAW_BUFFERS)).min(8),
        framebuffer_color_samples: color_samples,
        framebuffer_depth_samples: depth_samples,
        framebuffer_integer_samples: integer_samples,
        max_viewports: 1,
        max_viewport_size: framebuffer,
        viewport_bounds: [-32768.0, 32767.0],
        subpixel_bits: l(gl::SUBPIXEL_BITS),
        point_size: [point[0], point[1], 1.0],
        line_width: [line[0], line[1], 1.0],
        max_anisotropy: if has.anisotropy { gles.float_pair(gl::MAX_TEXTURE_MAX_ANISOTROPY)[0] } else { 1.0 },
        // OpenGL ES has no bias; GL wants at least 2.
        max_lod_bias: 2.0,
        max_vertex_attributes: l(gl::MAX_VERTEX_ATTRIBS).min(32),
        max_vertex_bindings: l(gl::MAX_VERTEX_ATTRIB_BINDINGS).min(32),
        max_vertex_stride: l(gl::MAX_VERTEX_ATTRIB_STRIDE),
        // One uniform buffer of each stage is the default block.
        max_uniform_buffers: l(gl::MAX_FRAGMENT_UNIFORM_BLOCKS).min(l(gl::MAX_VERTEX_UNIFORM_BLOCKS)).saturating_sub(1),
        max_uniform_range: l(gl::MAX_UNIFORM_BLOCK_SIZE),
        max_samplers: l(gl::MAX_TEXTURE_IMAGE_UNITS).min(l(gl::MAX_VERTEX_TEXTURE_IMAGE_UNITS)),
        uniform_offset_alignment: l(gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT),
        texel_offset_alignment: if has.texture_buffer { l(gl::TEXTURE_BUFFER_OFFSET_ALIGNMENT) } else { 1 },
        map_alignment: 64,
        max_xfb_buffers: l(gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS).min(4),
        max_xfb_streams: 1,
        max_xfb_stride: l(gl::MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS) * 4,
        max_clip_distances: if has.clip_distance { l(gl::MAX_CLIP_DISTANCES).min(8) } else { 0 },
        max_cull_distances: 0,
        max_clip_cull_distances: if has.clip_distance { 8 } else { 0 },
        // EXT_blend_func_extended's MAX_DUAL_SOURCE_DRAW_BUFFERS_EXT.
        max_dual_source_buffers: if has.dual_source { l(gl::MAX_DUAL_SOURCE_DRAW_BUFFERS) } else { 0 },
        max_geometry_vertices: if has.geometry { l(gl::MAX_GEOMETRY_OUTPUT_VERTICES) } else { 0 },
        max_geometry_components: if has.geometry { l(gl::MAX_GEOMETRY_TOTAL_OUTPUT_COMPONENTS) } else { 0 },
        max_geometry_invocations: if has.geometry { l(gl::MAX_GEOMETRY_SHADER_INVOCATIONS) } else { 0 },
        max_patch_vertices: 0,
        max_varying_components: l(gl::MAX_VARYING_VECTORS) * 4,
        gather_offset: [-8, 7],
        texel_offset: [-(l(gl::MAX_PROGRAM_TEXEL_OFFSET) as i32 + 1), l(gl::MAX_PROGRAM_TEXEL_OFFSET) as i32],
        api_version: 3 << 22 | (gles.version % 10) << 12,
        is_software: u32::from(["llvmpipe", "softpipe", "SwiftShader"].iter().any(|n| gles.renderer.contains(n))),
        ..Caps::default()
    };
    gles.drain_errors();
    let version = format!("{}.{}", gles.version / 10, gles.version % 10);
    CapsReply {
        caps,
        formats,
        device_name: gles.renderer.clone(),
        backend_name: format!("Espryt, OpenGL ES {version}"),
    }
}
