//! Framebuffers: multiple targets, layers, blits, multisampling, copies, chains, completeness, per-object state.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_COLOR_VS, POSITION_VS, TEXTURE_FS, TINT_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("framebuffer_multiple_targets", multiple_targets),
    Scenario::new("framebuffer_blit", blit),
    Scenario::new("framebuffer_blit_flipped_scaled", blit_flipped_scaled),
    Scenario::new("framebuffer_blit_ignores_masks", blit_ignores_masks),
    Scenario::new("framebuffer_blit_depth_stencil", blit_depth_stencil),
    Scenario::new("framebuffer_multisample_resolve", multisample_resolve),
    Scenario::new("framebuffer_multisample_keeps_contents", multisample_keeps),
    Scenario::new("framebuffer_multisample_texture_fetch", multisample_fetch),
    Scenario::new("framebuffer_sample_mask_coverage", sample_mask),
    Scenario::new("framebuffer_layered_geometry", layered),
    Scenario::new("framebuffer_texture_layer", texture_layer),
    Scenario::new("framebuffer_cube_faces", cube_faces),
    Scenario::new("framebuffer_mip_level", mip_level),
    Scenario::new("framebuffer_render_to_texture_chain", chain),
    Scenario::new("framebuffer_copy_tex_image", copy_tex_image),
    Scenario::new("framebuffer_copy_tex_sub_image", copy_tex_sub_image),
    Scenario::new("framebuffer_incomplete", incomplete),
    Scenario::new("framebuffer_per_object_state", per_object_state),
    Scenario::new("framebuffer_formats", formats),
    Scenario::new("framebuffer_without_color", without_color),
    Scenario::new("framebuffer_bgra_read", bgra_read),
    Scenario::new("framebuffer_default_state", default_state),
];

unsafe fn multiple_targets(t: &Scene) {
    let framebuffer = t.create_framebuffer().unwrap();
    let formats = [
        (gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE),
        (gl::RGBA32F, gl::RGBA, gl::FLOAT),
        (gl::RGBA16UI, gl::RGBA_INTEGER, gl::UNSIGNED_SHORT),
        (gl::RG8, gl::RG, gl::UNSIGNED_BYTE),
    ];
    let textures: Vec<_> = formats
        .iter()
        .map(|(internal, format, kind)| {
            let texture = t.create_texture().unwrap();
            t.bind_texture(gl::TEXTURE_2D, Some(texture));
            t.tex_image_2d(
                gl::TEXTURE_2D,
                0,
                *internal as i32,
                16,
                16,
                0,
                *format,
                *kind,
                gl::PixelUnpackData::Slice(None),
            );
            t.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
            texture
        })
        .collect();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (i, texture) in textures.iter().enumerate() {
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0 + i as u32, gl::TEXTURE_2D, Some(*texture), 0);
    }
    t.draw_buffers(&[gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT1, gl::COLOR_ATTACHMENT2, gl::COLOR_ATTACHMENT3]);
    t.complete();
    t.viewport(0, 0, 16, 16);
    t.program(
        FULL_VS,
        "in vec2 uv;
         layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
         layout(location = 2) out uvec4 c; layout(location = 3) out vec2 d;
         void main() {
            a = vec4(uv, 0.25, 1.0); b = vec4(gl_FragCoord.xy * 100.0, -1.0, 1e6);
            c = uvec4(gl_FragCoord.x, gl_FragCoord.y, 40000u, 1u); d = vec2(1.0 - uv.x, 0.5);
         }",
    );
    t.vertex_array();
    t.fill();
    t.read_buffer(gl::COLOR_ATTACHMENT0);
    let picture = t.read(16, 16);
    t.pixel(&picture, 3, 5, [56, 88, 64, 255], 1, "RGBA8");
    t.compare("rgba8", &picture, Tolerance::EXACT);
    t.read_buffer(gl::COLOR_ATTACHMENT1);
    t.equal(t.read_floats(16, 16)[5 * 16 + 3], [350.0, 550.0, -1.0, 1e6], "RGBA32F");
    t.read_buffer(gl::COLOR_ATTACHMENT2);
    let v = t.read_as::<[u32; 4]>(16, 16, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 256);
    t.equal(v[5 * 16 + 3], [3, 5, 40000, 1], "RGBA16UI");
    t.read_buffer(gl::COLOR_ATTACHMENT3);
    let picture = t.read(16, 16);
    t.pixel(&picture, 3, 5, [199, 128, 0, 255], 1, "RG8");
    t.compare("rg8", &picture, Tolerance::EXACT);
}

/// Four quarters of different colours on a 16 × 16 target.
unsafe fn quarters(t: &Scene) -> crate::scene::Target {
    let target = t.target(16, 16);
    t.enable(gl::SCISSOR_TEST);
    for (i, c) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]].into_iter().enumerate() {
        t.scissor((i % 2) as i32 * 8, (i / 2) as i32 * 8, 8, 8);
        t.clear_color(c[0], c[1], c[2], 1.0);
        t.clear(gl::COLOR_BUFFER_BIT);
    }
    t.disable(gl::SCISSOR_TEST);
    t.clear_color(0.0, 0.0, 0.0, 0.0);
    target
}

unsafe fn bind(t: &Scene, read: gl::NativeFramebuffer, draw: gl::NativeFramebuffer) {
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(read));
    t.bind_framebuffer(gl::DRAW_FRAMEBUFFER, Some(draw));
}

unsafe fn blit(t: &Scene) {
    let source = quarters(t);
    let target = t.target(32, 32);
    bind(t, source.framebuffer, target.framebuffer);
    t.blit_framebuffer(4, 4, 12, 12, 20, 10, 28, 18, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    // A blit from outside the source leaves those pixels alone.
    t.blit_framebuffer(-4, 0, 4, 8, 0, 0, 8, 8, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    let picture = t.read(32, 32);
    t.pixel(&picture, 20, 10, [255, 0, 0, 255], 0, "lower left");
    t.pixel(&picture, 24, 10, [0, 255, 0, 255], 0, "lower right");
    t.pixel(&picture, 20, 14, [0, 0, 255, 255], 0, "upper left");
    t.pixel(&picture, 27, 17, [255, 255, 255, 255], 0, "upper right");
    t.pixel(&picture, 2, 2, [0, 0, 0, 0], 0, "outside the source");
    t.pixel(&picture, 5, 2, [255, 0, 0, 255], 0, "inside the source");
    t.equal(picture.count(|p| p[3] != 0), 64 + 32, "pixels written");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn blit_flipped_scaled(t: &Scene) {
    let source = quarters(t);
    let target = t.target(48, 32);
    bind(t, source.framebuffer, target.framebuffer);
    // Both axes flipped and doubled on the left, halved with linear filtering on the right.
    t.blit_framebuffer(0, 0, 16, 16, 32, 32, 0, 0, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.blit_framebuffer(0, 0, 16, 16, 36, 4, 44, 12, gl::COLOR_BUFFER_BIT, gl::LINEAR);
    // Flipped in the source's x.
    t.blit_framebuffer(16, 0, 0, 16, 32, 16, 48, 32, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    let picture = t.read(48, 32);
    t.pixel(&picture, 1, 1, [255, 255, 255, 255], 0, "flipped, lower left");
    t.pixel(&picture, 30, 1, [0, 0, 255, 255], 0, "flipped, lower right");
    t.pixel(&picture, 1, 30, [0, 255, 0, 255], 0, "flipped, upper left");
    t.pixel(&picture, 30, 30, [255, 0, 0, 255], 0, "flipped, upper right");
    t.pixel(&picture, 37, 5, [255, 0, 0, 255], 0, "halved, lower left");
    t.pixel(&picture, 43, 11, [255, 255, 255, 255], 0, "halved, upper right");
    t.pixel(&picture, 33, 17, [0, 255, 0, 255], 0, "mirrored, lower left");
    t.pixel(&picture, 46, 30, [0, 0, 255, 255], 0, "mirrored, upper right");
    t.compare("picture", &picture, Tolerance::EDGES);
}

unsafe fn blit_ignores_masks(t: &Scene) {
    let source = quarters(t);
    let target = t.target(16, 16);
    bind(t, source.framebuffer, target.framebuffer);
    // Of the fragment operations only the scissor and ownership tests apply to a blit.
    t.color_mask(false, false, false, false);
    t.enable(gl::BLEND);
    t.blend_func(gl::ZERO, gl::ONE);
    t.enable(gl::SCISSOR_TEST);
    t.scissor(0, 0, 16, 6);
    t.blit_framebuffer(0, 0, 16, 16, 0, 0, 16, 16, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.disable(gl::SCISSOR_TEST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    let picture = t.read(16, 16);
    t.area(&picture, (0, 0, 8, 6), [255, 0, 0, 255], 0, "written in spite of the colour mask");
    t.area(&picture, (0, 6, 16, 16), [0, 0, 0, 0], 0, "cut by the scissor");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn blit_depth_stencil(t: &Scene) {
    let source = t.target(16, 16);
    t.clear_depth_f64(0.25);
    t.clear_stencil(77);
    t.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    let target = t.target(16, 16);
    t.clear_depth_f64(1.0);
    t.clear_stencil(0);
    t.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    bind(t, source.framebuffer, target.framebuffer);
    t.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT, gl::NEAREST);
    t.blit_framebuffer(8, 8, 16, 16, 8, 8, 16, 16, gl::DEPTH_BUFFER_BIT, gl::NEAREST);
    t.blit_framebuffer(0, 0, 8, 8, 8, 0, 16, 8, gl::STENCIL_BUFFER_BIT, gl::NEAREST);
    t.no_error("depth and stencil blits");
    t.blit_framebuffer(0, 0, 16, 16, 0, 0, 16, 16, gl::DEPTH_BUFFER_BIT, gl::LINEAR);
    t.error(gl::INVALID_OPERATION, "depth is not filtered");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    let v = t.read_as::<u32>(16, 16, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 256);
    let at = |x: usize, y: usize| ((v[y * 16 + x] >> 8) as f32 / 16_777_215.0, v[y * 16 + x] & 0xff);
    for (x, y, depth, stencil) in [(3, 3, 0.25, 77), (12, 12, 0.25, 0), (12, 3, 1.0, 77), (3, 12, 1.0, 0)] {
        t.near(at(x, y).0, depth, 1e-6, &format!("depth at {x}, {y}"));
        t.equal(at(x, y).1, stencil, &format!("stencil at {x}, {y}"));
    }
    // Depth formats must match.
    let other = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(other));
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH_COMPONENT16, 16, 16);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::RENDERBUFFER, Some(other));
    t.draw_buffer(gl::NONE);
    t.read_buffer(gl::NONE);
    t.complete();
    bind(t, source.framebuffer, framebuffer);
    t.blit_framebuffer(0, 0, 16, 16, 0, 0, 16, 16, gl::DEPTH_BUFFER_BIT, gl::NEAREST);
    t.error(gl::INVALID_OPERATION, "a blit between depth formats");
}

/// A multisampled framebuffer of renderbuffers, bound; returns it with its number of samples.
unsafe fn multisampled(t: &Scene, size: i32) -> (gl::NativeFramebuffer, i32) {
    let samples = 4.min(t.get_parameter_i32(gl::MAX_SAMPLES));
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (attachment, format) in
        [(gl::COLOR_ATTACHMENT0, gl::RGBA8), (gl::DEPTH_STENCIL_ATTACHMENT, gl::DEPTH24_STENCIL8)]
    {
        let buffer = t.create_renderbuffer().unwrap();
        t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
        t.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples, format, size, size);
        t.framebuffer_renderbuffer(gl::FRAMEBUFFER, attachment, gl::RENDERBUFFER, Some(buffer));
    }
    t.complete();
    t.viewport(0, 0, size, size);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    (framebuffer, samples)
}

unsafe fn multisample_resolve(t: &Scene) {
    let single = t.target(32, 32);
    let (framebuffer, samples) = multisampled(t, 32);
    t.check(samples >= 4, format!("MAX_SAMPLES is {samples}, GL 3.3 asks for 4"));
    t.check(t.get_parameter_i32(gl::SAMPLES) >= samples, "SAMPLES of the framebuffer");
    t.check(t.get_parameter_i32(gl::SAMPLE_BUFFERS) == 1, "SAMPLE_BUFFERS");
    t.program(POSITION_COLOR_VS, TINT_FS);
    t.colored(&[
        [-0.9, -0.7, 0.0, 1.0, 1.0, 1.0, 1.0],
        [0.9, -0.5, 0.0, 1.0, 1.0, 1.0, 1.0],
        [0.1, 0.9, 0.0, 1.0, 1.0, 1.0, 1.0],
    ]);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut [0; 4])));
    t.error(gl::INVALID_OPERATION, "multisampled framebuffers cannot be read directly");
    bind(t, framebuffer, single.framebuffer);
    t.blit_framebuffer(0, 0, 32, 32, 0, 0, 32, 32, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
    let picture = t.read(32, 32);
    t.pixel(&picture, 16, 12, [255; 4], 0, "inside");
    t.pixel(&picture, 1, 30, [0; 4], 0, "outside");
    let partly = picture.count(|p| p[3] != 0 && p[3] != 255);
    t.check(partly > 20, format!("only {partly} pixels on the edges are partly covered"));
    t.compare("picture", &picture, Tolerance::LOOSE);
    // With MULTISAMPLE off, a pixel is covered whole or not at all.
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.clear(gl::COLOR_BUFFER_BIT);
    t.disable(gl::MULTISAMPLE);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.enable(gl::MULTISAMPLE);
    bind(t, framebuffer, single.framebuffer);
    t.blit_framebuffer(0, 0, 32, 32, 0, 0, 32, 32, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
    t.pixel(&t.read(32, 32), 16, 12, [255; 4], 0, "inside without MULTISAMPLE");
}

unsafe fn multisample_keeps(t: &Scene) {
    let single = t.target(16, 16);
    let (framebuffer, _) = multisampled(t, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.positions(&[[-1.0, -1.0], [0.1, -1.0], [-1.0, 1.0], [0.0, -1.0], [1.0, -1.0], [1.0, 1.0]]);
    // Draw, resolve, draw more, resolve again: what was there stays.
    for (first, color) in [(0, [1.0, 0.0, 0.0, 1.0]), (3, [0.0, 0.0, 1.0, 1.0])] {
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        t.set_vec4(program, "color", color);
        t.draw_arrays(gl::TRIANGLES, first, 3);
        bind(t, framebuffer, single.framebuffer);
        t.blit_framebuffer(0, 0, 16, 16, 0, 0, 16, 16, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    }
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
    let picture = t.read(16, 16);
    t.pixel(&picture, 1, 2, [255, 0, 0, 255], 0, "drawn before the first resolve");
    t.pixel(&picture, 14, 4, [0, 0, 255, 255], 0, "drawn after the first resolve");
    t.compare("picture", &picture, Tolerance::LOOSE);
    // Depth resolves as well, to the value of some sample of the pixel.
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.clear_depth_f64(0.375);
    t.clear(gl::DEPTH_BUFFER_BIT);
    bind(t, framebuffer, single.framebuffer);
    t.blit_framebuffer(0, 0, 16, 16, 0, 0, 16, 16, gl::DEPTH_BUFFER_BIT, gl::NEAREST);
    t.no_error("depth resolve");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
    t.near(t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0], 0.375, 1e-6, "resolved depth");
}

unsafe fn multisample_fetch(t: &Scene) {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D_MULTISAMPLE, Some(texture));
    t.tex_image_2d_multisample(gl::TEXTURE_2D_MULTISAMPLE, 4, gl::RGBA8 as i32, 8, 8, true);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D_MULTISAMPLE, Some(texture), 0);
    t.complete();
    t.viewport(0, 0, 8, 8);
    t.clear(gl::COLOR_BUFFER_BIT);
    // Every sample is written on its own through the sample mask.
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.enable(gl::SAMPLE_MASK);
    for i in 0..4 {
        t.raw.SampleMaski(0, 1 << i);
        t.set_vec4(program, "color", [0.2 * i as f32, 1.0 - 0.2 * i as f32, 0.0, 1.0]);
        t.fill();
    }
    t.disable(gl::SAMPLE_MASK);
    t.target(8, 8);
    let program = t.program(
        FULL_VS,
        "uniform sampler2DMS image; uniform int index; out vec4 result;
         void main() { result = texelFetch(image, ivec2(gl_FragCoord.xy), index); }",
    );
    for i in 0..4 {
        t.set_int(program, "index", i);
        t.fill();
        t.area(&t.read(8, 8), (0, 0, 8, 8), [51 * i as u8, 255 - 51 * i as u8, 0, 255], 1, &format!("sample {i}"));
    }
    for i in 0..4 {
        let mut position = [9.0f32; 2];
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        t.raw.GetMultisamplefv(gl::SAMPLE_POSITION, i, position.as_mut_ptr());
        t.check(position.iter().all(|p| (0.0..=1.0).contains(p)), format!("sample position {position:?}"));
    }
}

unsafe fn sample_mask(t: &Scene) {
    let single = t.target(8, 8);
    let (framebuffer, samples) = multisampled(t, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    let level = |what: &str, expected: u8| {
        bind(t, framebuffer, single.framebuffer);
        t.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, gl::COLOR_BUFFER_BIT, gl::NEAREST);
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
        t.pixel(&t.read(8, 8), 4, 4, [expected; 4], 2, what);
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        t.clear(gl::COLOR_BUFFER_BIT);
    };
    t.set_vec4(program, "color", [1.0; 4]);
    t.enable(gl::SAMPLE_MASK);
    t.raw.SampleMaski(0, 0b0101);
    t.fill();
    level("half of the samples by mask", (255 * 2 / samples) as u8);
    t.disable(gl::SAMPLE_MASK);
    t.enable(gl::SAMPLE_COVERAGE);
    t.sample_coverage(0.0, false);
    t.fill();
    level("coverage 0", 0);
    t.sample_coverage(0.0, true);
    t.fill();
    level("coverage 0 inverted", 255);
    t.sample_coverage(0.5, false);
    t.fill();
    level("coverage 0.5", 128);
    t.disable(gl::SAMPLE_COVERAGE);
    t.enable(gl::SAMPLE_ALPHA_TO_COVERAGE);
    t.set_vec4(program, "color", [1.0, 1.0, 1.0, 0.0]);
    t.fill();
    level("alpha 0 to coverage", 0);
    t.enable(gl::SAMPLE_ALPHA_TO_ONE);
    t.set_vec4(program, "color", [1.0; 4]);
    t.fill();
    level("alpha 1 to coverage, to one", 255);
}

unsafe fn layered(t: &Scene) {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(texture));
    t.tex_image_3d(
        gl::TEXTURE_2D_ARRAY,
        0,
        gl::RGBA8 as i32,
        8,
        8,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(None),
    );
    t.filter(gl::TEXTURE_2D_ARRAY, gl::NEAREST, gl::NEAREST);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_texture(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(texture), 0);
    t.complete();
    t.viewport(0, 0, 8, 8);
    // A clear of a layered framebuffer clears every layer.
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.program_of(
        &[
            (gl::VERTEX_SHADER, "void main() { vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)); gl_Position = vec4(uv * 4.0 - 1.0, 0.0, 1.0); }"),
            (
                gl::GEOMETRY_SHADER,
                "layout(triangles) in; layout(triangle_strip, max_vertices = 12) out;
                 flat out vec4 tint;
                 void main() {
                    for (int layer = 0; layer < 4; ++layer) {
                        if (layer == 2) continue;
                        for (int i = 0; i < 3; ++i) {
                            gl_Layer = layer; gl_PrimitiveID = layer;
                            tint = vec4(float(layer) * 0.2, 1.0, 0.0, 1.0);
                            gl_Position = gl_in[i].gl_Position;
                            EmitVertex();
                        }
                        EndPrimitive();
                    }
                 }",
            ),
            (gl::FRAGMENT_SHADER, "flat in vec4 tint; out vec4 result; void main() { result = tint; if (gl_PrimitiveID == 9) discard; }"),
        ],
        |_| {},
    );
    t.vertex_array();
    t.fill();
    for layer in 0..4 {
        t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(texture), 0, layer);
        let expected = if layer == 2 { [0, 0, 255, 255] } else { [51 * layer as u8, 255, 0, 255] };
        let picture = t.read(8, 8);
        t.area(&picture, (0, 0, 8, 8), expected, 1, &format!("layer {layer}"));
        t.compare(&format!("layer{layer}"), &picture, Tolerance::EXACT);
    }
}

unsafe fn texture_layer(t: &Scene) {
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.viewport(0, 0, 4, 4);
    for target in [gl::TEXTURE_3D, gl::TEXTURE_2D_ARRAY] {
        let texture = t.create_texture().unwrap();
        t.bind_texture(target, Some(texture));
        t.tex_image_3d(
            target,
            0,
            gl::RGBA8 as i32,
            4,
            4,
            3,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&[9; 192])),
        );
        t.filter(target, gl::NEAREST, gl::NEAREST);
        let framebuffer = t.create_framebuffer().unwrap();
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        for layer in [2, 0] {
            t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(texture), 0, layer);
            t.complete();
            t.set_vec4(program, "color", [0.4 * layer as f32, 0.2, 0.6, 1.0]);
            t.fill();
        }
        let mut data = [[0u8; 4]; 48];
        t.get_tex_image(
            target,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
        );
        let what = format!("target {target:#x}");
        t.equal(data[5], [0, 51, 153, 255], &format!("{what} layer 0"));
        t.equal(data[16 + 5], [9; 4], &format!("{what} layer 1 is untouched"));
        t.equal(data[32 + 5], [204, 51, 153, 255], &format!("{what} layer 2"));
    }
}

unsafe fn cube_faces(t: &Scene) {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_CUBE_MAP, Some(texture));
    for face in 0..6 {
        t.tex_image_2d(
            gl::TEXTURE_CUBE_MAP_POSITIVE_X + face,
            0,
            gl::RGBA8 as i32,
            8,
            8,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(None),
        );
    }
    t.filter(gl::TEXTURE_CUBE_MAP, gl::NEAREST, gl::NEAREST);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for face in 0..6u32 {
        t.framebuffer_texture_2d(
            gl::FRAMEBUFFER,
            gl::COLOR_ATTACHMENT0,
            gl::TEXTURE_CUBE_MAP_POSITIVE_X + face,
            Some(texture),
            0,
        );
        t.complete();
        t.clear_color(face as f32 / 5.0, 0.0, 1.0 - face as f32 / 5.0, 1.0);
        t.clear(gl::COLOR_BUFFER_BIT);
    }
    t.target(8, 8);
    let program = t.program(
        FULL_VS,
        "uniform samplerCube image; uniform vec4 direction; out vec4 result; void main() { result = texture(image, direction.xyz); }",
    );
    t.vertex_array();
    let directions =
        [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]];
    for (face, d) in directions.into_iter().enumerate() {
        t.set_vec4(program, "direction", [d[0], d[1], d[2], 0.0]);
        t.fill();
        t.pixel(&t.read(8, 8), 4, 4, [51 * face as u8, 0, 255 - 51 * face as u8, 255], 1, &format!("face {face}"));
    }
}

unsafe fn mip_level(t: &Scene) {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    for level in 0..4 {
        t.tex_image_2d(
            gl::TEXTURE_2D,
            level,
            gl::RGBA8 as i32,
            8 >> level,
            8 >> level,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(None),
        );
    }
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    // The usual down-sampling chain: every level is drawn while the one above is sampled.
    t.program(FULL_VS, "uniform sampler2D image; out vec4 result; void main() { result = texture(image, vec2(0.5)) * vec4(0.5, 1.0, 1.0, 1.0) + vec4(0.0, 0.25, 0.0, 0.0); }");
    t.vertex_array();
    for level in 1..4 {
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, level - 1);
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, level - 1);
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), level);
        t.complete();
        t.viewport(0, 0, 8 >> level, 8 >> level);
        t.fill();
    }
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, 0);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 3);
    t.target(8, 8);
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.program(FULL_VS, TEXTURE_FS);
    for (level, expected) in
        [[255, 0, 0, 255], [128, 64, 0, 255], [64, 128, 0, 255], [32, 191, 0, 255]].into_iter().enumerate()
    {
        t.viewport(0, 0, 8 >> level, 8 >> level);
        t.fill();
        t.pixel(&t.read(8, 8), 0, 0, expected, 2, &format!("level {level}"));
    }
}

unsafe fn chain(t: &Scene) {
    // Ping-pong: 12 passes, each adds one and moves the picture a pixel to the right.
    let (a, b) = (t.target(16, 16), t.target(16, 16));
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a.framebuffer));
    t.enable(gl::SCISSOR_TEST);
    t.scissor(0, 0, 1, 16);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.disable(gl::SCISSOR_TEST);
    let program = t.program(
        FULL_VS,
        "uniform sampler2D image; out vec4 result;
         void main() {
            ivec2 at = ivec2(gl_FragCoord.xy);
            vec4 left = at.x > 0 ? texelFetch(image, at - ivec2(1, 0), 0) : vec4(0.0);
            result = left + vec4(10.0 / 255.0, 0.0, 0.0, 0.0);
         }",
    );
    t.set_int(program, "image", 0);
    t.vertex_array();
    let (mut from, mut to) = (a, b);
    for _ in 0..12 {
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(to.framebuffer));
        t.bind_texture(gl::TEXTURE_2D, Some(from.texture));
        t.fill();
        std::mem::swap(&mut from, &mut to);
    }
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(from.framebuffer));
    let picture = t.read(16, 16);
    t.pixel(&picture, 12, 8, [120, 0, 255, 255], 1, "the column has moved by 12");
    t.pixel(&picture, 4, 8, [50, 0, 0, 0], 1, "what came in later");
    t.pixel(&picture, 15, 8, [120, 0, 0, 0], 1, "right of it");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn copy_tex_image(t: &Scene) {
    quarters(t);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    // Reaches 4 pixels outside the framebuffer on the left; those are undefined.
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, -4, 4, 16, 8, 0);
    let mut data = vec![[0u8; 4]; 128];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    t.equal(data[5], [255, 0, 0, 255], "lower left");
    t.equal(data[12], [0, 255, 0, 255], "lower right");
    t.equal(data[7 * 16 + 5], [0, 0, 255, 255], "upper left");
    t.equal(data[7 * 16 + 15], [255, 255, 255, 255], "upper right");
    // The format may drop components.
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RG8, 8, 8, 2, 2, 0);
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data[..4]))),
    );
    t.equal(data[0], [255, 255, 0, 255], "RG8");
    let line = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_1D, Some(line));
    t.raw.CopyTexImage1D(gl::TEXTURE_1D, 0, gl::RGBA8, 4, 2, 8, 0);
    t.raw.CopyTexSubImage1D(gl::TEXTURE_1D, 0, 6, 0, 12, 2);
    let mut data = [[0u8; 4]; 8];
    t.get_tex_image(
        gl::TEXTURE_1D,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    t.equal([data[0], data[5], data[7]], [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]], "1D");
    // A depth image is copied from the depth buffer.
    t.clear_depth_f64(0.625);
    t.clear(gl::DEPTH_BUFFER_BIT);
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT24, 0, 0, 4, 4, 0);
    let mut depth = [0.0f32; 16];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::DEPTH_COMPONENT,
        gl::FLOAT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut depth))),
    );
    t.near(depth[5], 0.625, 1e-6, "copied depth");
    // A multisampled source is an error.
    multisampled(t, 16);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, 4, 4, 0);
    t.error(gl::INVALID_OPERATION, "copy from a multisampled framebuffer");
}

unsafe fn copy_tex_sub_image(t: &Scene) {
    quarters(t);
    t.texture(8, 8, &[[9, 9, 9, 9]; 64]);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 2, 3, 6, 6, 4, 4);
    // Partly outside the source: the texels that come from outside are undefined, the rest is copied.
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 14, 0, 4, 1);
    let mut data = vec![[0u8; 4]; 64];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
    );
    t.equal(data[3 * 8 + 2], [255, 0, 0, 255], "first texel");
    t.equal(data[3 * 8 + 5], [0, 255, 0, 255], "lower right");
    t.equal(data[6 * 8 + 2], [0, 0, 255, 255], "upper left");
    t.equal(data[6 * 8 + 5], [255, 255, 255, 255], "last texel");
    t.equal(data[2 * 8 + 2], [9; 4], "untouched");
    t.equal(data[0], [0, 255, 0, 255], "inside part of the cut copy");
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 6, 6, 0, 0, 4, 4);
    t.error(gl::INVALID_VALUE, "outside the texture");
    // Into a layer of an array and a slice of a volume.
    for target in [gl::TEXTURE_2D_ARRAY, gl::TEXTURE_3D] {
        let texture = t.create_texture().unwrap();
        t.bind_texture(target, Some(texture));
        t.tex_image_3d(
            target,
            0,
            gl::RGBA8 as i32,
            4,
            4,
            3,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&[5; 192])),
        );
        t.copy_tex_sub_image_3d(target, 0, 1, 0, 2, 6, 6, 3, 4);
        let mut data = vec![[0u8; 4]; 48];
        t.get_tex_image(
            target,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut data))),
        );
        t.equal(data[31], [5; 4], "the layer before");
        t.equal(data[32], [5; 4], "the column before");
        t.equal(data[33], [255, 0, 0, 255], "first texel of the layer");
        t.equal(data[47], [255, 255, 255, 255], "last texel of the layer");
    }
}

unsafe fn incomplete(t: &Scene) {
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    let status = || t.check_framebuffer_status(gl::FRAMEBUFFER);
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT, "no attachment");
    t.clear(gl::COLOR_BUFFER_BIT);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "clear of an incomplete framebuffer");
    t.program(FULL_VS, "out vec4 result; void main() { result = vec4(1.0); }");
    t.vertex_array();
    t.fill();
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "draw to an incomplete framebuffer");
    t.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut [0; 4])));
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "read from an incomplete framebuffer");
    // A texture without an image.
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "an attachment without an image");
    // A format that cannot be rendered to.
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGB9_E5 as i32,
        4,
        4,
        0,
        gl::RGB,
        gl::FLOAT,
        gl::PixelUnpackData::Slice(None),
    );
    t.check(status() != gl::FRAMEBUFFER_COMPLETE, "RGB9_E5 is not renderable");
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(None),
    );
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "a good image");
    // Depth storage as a colour attachment.
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::DEPTH_COMPONENT16 as i32,
        4,
        4,
        0,
        gl::DEPTH_COMPONENT,
        gl::FLOAT,
        gl::PixelUnpackData::Slice(None),
    );
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "depth as colour");
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(None),
    );
    // Different numbers of samples.
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, 4, gl::RGBA8, 4, 4);
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, gl::RENDERBUFFER, Some(buffer));
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_MULTISAMPLE, "mixed sample counts");
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, gl::RENDERBUFFER, None);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "detached again");
}

unsafe fn per_object_state(t: &Scene) {
    let a = t.target(4, 4);
    let b = t.target(4, 4);
    // Draw and read buffers belong to the framebuffer object; rebinding brings them back.
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a.framebuffer));
    t.draw_buffers(&[gl::NONE]);
    t.read_buffer(gl::NONE);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(b.framebuffer));
    t.equal(t.get_parameter_i32(gl::DRAW_BUFFER0) as u32, gl::COLOR_ATTACHMENT0, "draw buffer of b");
    t.equal(t.get_parameter_i32(gl::READ_BUFFER) as u32, gl::COLOR_ATTACHMENT0, "read buffer of b");
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    t.draw_buffer(gl::NONE);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a.framebuffer));
    t.equal(t.get_parameter_i32(gl::DRAW_BUFFER0), 0, "draw buffer of a");
    t.clear_color(1.0, 1.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.draw_buffers(&[gl::COLOR_ATTACHMENT0]);
    t.read_buffer(gl::COLOR_ATTACHMENT0);
    t.equal(t.read(4, 4).count(|p| p != [0; 4]), 0, "a clear without draw buffers");
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    t.equal(t.get_parameter_i32(gl::DRAW_BUFFER0), 0, "draw buffer of the default framebuffer");
    t.draw_buffer(gl::BACK);
    t.no_error("BACK of the default framebuffer");
    t.draw_buffer(gl::COLOR_ATTACHMENT0);
    t.error(gl::INVALID_OPERATION, "COLOR_ATTACHMENT0 of the default framebuffer");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a.framebuffer));
    t.draw_buffer(gl::BACK);
    t.error(gl::INVALID_OPERATION, "BACK of a framebuffer object");
    let kind = t.get_framebuffer_attachment_parameter_i32(
        gl::FRAMEBUFFER,
        gl::COLOR_ATTACHMENT0,
        gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE,
    );
    t.equal(kind as u32, gl::TEXTURE, "attachment type");
    let bits = t.get_framebuffer_attachment_parameter_i32(
        gl::FRAMEBUFFER,
        gl::DEPTH_ATTACHMENT,
        gl::FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE,
    );
    t.equal(bits, 24, "depth bits");
    let name = t.get_framebuffer_attachment_parameter_i32(
        gl::FRAMEBUFFER,
        gl::COLOR_ATTACHMENT0,
        gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME,
    );
    t.equal(name as u32, a.texture.0.get(), "attachment name");
}

unsafe fn formats(t: &Scene) {
    t.vertex_array();
    let color = [0.25f32, 0.5, 0.75, 1.0];
    // Every format that GL 3.3 requires to be renderable, with the channels it keeps and its precision.
    for (format, channels, tolerance) in [
        (gl::R8, 1, 0.003),
        (gl::RG8, 2, 0.003),
        (gl::RGBA8, 4, 0.003),
        (gl::RGB8, 3, 0.003),
        (gl::R16, 1, 1e-4),
        (gl::RG16, 2, 1e-4),
        (gl::RGBA16, 4, 1e-4),
        (gl::RGB10_A2, 4, 0.001),
        (gl::R16F, 1, 1e-4),
        (gl::RG16F, 2, 1e-4),
        (gl::RGBA16F, 4, 1e-4),
        (gl::R32F, 1, 0.0),
        (gl::RG32F, 2, 0.0),
        (gl::RGBA32F, 4, 0.0),
        (gl::R11F_G11F_B10F, 3, 0.01),
    ] {
        t.target_of(4, 4, format);
        let program = t.program(FULL_VS, COLOR_FS);
        t.set_vec4(program, "color", color);
        t.fill();
        let v = t.read_floats(4, 4)[6];
        for c in 0..4 {
            let expected = if c < channels {
                color[c]
            } else if c == 3 {
                1.0
            } else {
                0.0
            };
            t.near(v[c], expected, tolerance, &format!("format {format:#x} channel {c}"));
        }
    }
    for format in [gl::R8UI, gl::R16UI, gl::R32UI, gl::RGBA8UI, gl::RGBA16UI, gl::RGBA32UI] {
        t.target_of(4, 4, format);
        t.program(FULL_VS, "out uvec4 result; void main() { result = uvec4(1u, 2u, 3u, 4u); }");
        t.fill();
        let v = t.read_as::<[u32; 4]>(4, 4, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 16)[6];
        let expected = if matches!(format, gl::R8UI | gl::R16UI | gl::R32UI) { [1, 0, 0, 1] } else { [1, 2, 3, 4] };
        t.equal(v, expected, &format!("format {format:#x}"));
    }
    for format in [gl::R32I, gl::RGBA8I, gl::RGBA16I, gl::RGBA32I] {
        t.target_of(4, 4, format);
        t.program(FULL_VS, "out ivec4 result; void main() { result = ivec4(-1, 2, -3, 4); }");
        t.fill();
        let v = t.read_as::<[i32; 4]>(4, 4, gl::RGBA_INTEGER, gl::INT, 16)[6];
        t.equal(v, if format == gl::R32I { [-1, 0, 0, 1] } else { [-1, 2, -3, 4] }, &format!("format {format:#x}"));
    }
}

unsafe fn without_color(t: &Scene) {
    // A depth-only framebuffer, as for shadow maps.
    let depth = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(depth));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::DEPTH_COMPONENT24 as i32,
        8,
        8,
        0,
        gl::DEPTH_COMPONENT,
        gl::UNSIGNED_INT,
        gl::PixelUnpackData::Slice(None),
    );
    t.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::TEXTURE_2D, Some(depth), 0);
    t.draw_buffer(gl::NONE);
    t.read_buffer(gl::NONE);
    t.complete();
    t.viewport(0, 0, 8, 8);
    t.clear(gl::DEPTH_BUFFER_BIT);
    t.enable(gl::DEPTH_TEST);
    t.program(POSITION_VS, "void main() {}");
    t.positions(&[[-1.0, -1.0], [0.0, -1.0], [-1.0, 1.0], [0.0, 1.0]]);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    let mut d = [0.0f32; 64];
    t.get_tex_image(
        gl::TEXTURE_2D,
        0,
        gl::DEPTH_COMPONENT,
        gl::FLOAT,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut d))),
    );
    t.near(d[1], 0.5, 1e-6, "drawn depth");
    t.near(d[6], 1.0, 1e-6, "cleared depth");
}

unsafe fn bgra_read(t: &Scene) {
    t.target(4, 4);
    t.clear_color(10.0 / 255.0, 20.0 / 255.0, 30.0 / 255.0, 40.0 / 255.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let bytes = t.read_as::<[u8; 4]>(4, 4, gl::BGRA, gl::UNSIGNED_BYTE, 16);
    t.equal(bytes[5], [30, 20, 10, 40], "BGRA bytes");
    let words = t.read_as::<u32>(4, 4, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8_REV, 16);
    t.equal(words[5], 0x280a_141e, "BGRA 8_8_8_8_REV");
    let words = t.read_as::<u32>(4, 4, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, 16);
    t.equal(words[5], 0x1e14_0a28, "BGRA 8_8_8_8");
    let rgb = t.read_as::<[u8; 3]>(4, 4, gl::RGB, gl::UNSIGNED_BYTE, 16);
    t.equal(rgb[5], [10, 20, 30], "RGB bytes");
    let red = t.read_as::<u16>(4, 4, gl::RED, gl::UNSIGNED_SHORT, 16);
    t.equal(red[5], 10 * 257, "RED shorts");
    let packed = t.read_as::<u16>(4, 4, gl::RGB, gl::UNSIGNED_SHORT_5_6_5, 16);
    // 10/255 of 31 is 1.2, 20/255 of 63 is 4.9 and 30/255 of 31 is 3.6; rounding down is allowed.
    let (r, g, b) = (packed[5] >> 11, packed[5] >> 5 & 63, packed[5] & 31);
    t.check(r == 1 && (4..=5).contains(&g) && (3..=4).contains(&b), format!("RGB 5_6_5: {r}, {g}, {b}"));
}

unsafe fn default_state(t: &Scene) {
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    let mut v = [0; 4];
    t.get_parameter_i32_slice(gl::VIEWPORT, &mut v);
    t.equal(v, [0, 0, 64, 64], "the first viewport is the surface's size");
    t.get_parameter_i32_slice(gl::SCISSOR_BOX, &mut v);
    t.equal(v, [0, 0, 64, 64], "and so is the scissor box");
    let size = |attachment, name| t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, attachment, name);
    t.equal(size(gl::BACK_LEFT, gl::FRAMEBUFFER_ATTACHMENT_RED_SIZE), 8, "red bits");
    t.equal(size(gl::DEPTH, gl::FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE), 24, "depth bits");
    t.equal(size(gl::STENCIL, gl::FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE), 8, "stencil bits");
    t.equal(size(gl::BACK_LEFT, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32, 0x8218, "FRAMEBUFFER_DEFAULT");
    t.no_error("queries of the default framebuffer");
    t.program(POSITION_COLOR_VS, TINT_FS);
    t.colored(&[
        [-1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [1.0, -1.0, 0.0, 0.0, 1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0],
    ]);
    t.clear_color(0.2, 0.2, 0.2, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.compare("picture", &t.read(64, 64), Tolerance::EDGES);
}
