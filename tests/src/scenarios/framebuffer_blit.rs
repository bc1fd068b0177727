//! Blits: every kind of image, conversions, sRGB, multisampling, depth and stencil, flips, clips and errors.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{transfer_of, Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("blit_converts_formats", converts_formats),
    Scenario::new("blit_srgb", srgb),
    Scenario::new("blit_integers", integers),
    Scenario::new("blit_read_and_draw_buffers", read_and_draw_buffers),
    Scenario::new("blit_levels_layers_faces", levels_layers_faces),
    Scenario::new("blit_depth_formats", depth_formats),
    Scenario::new("blit_stencil_scaled_flipped", stencil_scaled_flipped),
    Scenario::new("blit_scissor_scaled_flipped", scissor_scaled_flipped),
    Scenario::new("blit_clipped_on_both_sides", clipped),
    Scenario::new("blit_default_framebuffer", default_framebuffer),
    Scenario::new("blit_within_one_framebuffer", within_one),
    Scenario::new("blit_linear_filter", linear_filter),
    Scenario::new("blit_missing_attachments", missing_attachments),
    Scenario::new("blit_errors", errors),
    Scenario::new("blit_multisample_depth_stencil", multisample_depth_stencil),
    Scenario::new("blit_multisample_to_multisample", multisample_to_multisample),
    Scenario::new("blit_multisample_flipped", multisample_flipped),
    Scenario::new("blit_multisample_formats", multisample_formats),
    Scenario::new("blit_multisample_upload", multisample_upload),
];

const COLOR: u32 = gl::COLOR_BUFFER_BIT;
const DEPTH: u32 = gl::DEPTH_BUFFER_BIT;
const STENCIL: u32 = gl::STENCIL_BUFFER_BIT;

unsafe fn bind(t: &Scene, read: gl::NativeFramebuffer, draw: gl::NativeFramebuffer) {
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(read));
    t.bind_framebuffer(gl::DRAW_FRAMEBUFFER, Some(draw));
}

unsafe fn blit(t: &Scene, src: [i32; 4], dst: [i32; 4], mask: u32, filter: u32) {
    t.blit_framebuffer(src[0], src[1], src[2], src[3], dst[0], dst[1], dst[2], dst[3], mask, filter);
}

/// A framebuffer with one renderbuffer at `attachment`, bound; `samples` of 0 is a single-sampled one.
unsafe fn renderbuffer(t: &Scene, attachment: u32, format: u32, samples: i32, size: i32) -> gl::NativeFramebuffer {
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples, format, size, size);
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, attachment, gl::RENDERBUFFER, Some(buffer));
    if attachment != gl::COLOR_ATTACHMENT0 {
        t.draw_buffer(gl::NONE);
        t.read_buffer(gl::NONE);
    }
    t.complete();
    t.viewport(0, 0, size, size);
    framebuffer
}

/// A picture in which every pixel differs, drawn into the bound framebuffer.
unsafe fn draw_gradient(t: &Scene) {
    t.program(
        FULL_VS,
        "in vec2 uv; layout(location = 0) out vec4 result;
         void main() { result = vec4(uv, fract(uv.x * 4.0), 0.25 + 0.5 * uv.y); }",
    );
    t.vertex_array();
    t.fill();
}

unsafe fn converts_formats(t: &Scene) {
    let source = [0.2f32, 0.4, 0.6, 0.8];
    for (from, to, expected) in [
        (gl::RGBA8, gl::RGB10_A2, [0.2, 0.4, 0.6, 2.0 / 3.0]),
        (gl::RGBA8, gl::RGBA16F, source),
        (gl::RGBA16F, gl::RGBA8, source),
        (gl::RGBA8, gl::RG8, [0.2, 0.4, 0.0, 1.0]),
        (gl::R8, gl::RGBA8, [0.2, 0.0, 0.0, 1.0]),
        (gl::RGB8, gl::RGBA8, [0.2, 0.4, 0.6, 1.0]),
        (gl::RGBA8, gl::RGB8, [0.2, 0.4, 0.6, 1.0]),
        (gl::RGBA32F, gl::R11F_G11F_B10F, [0.2, 0.4, 0.6, 1.0]),
        (gl::RGBA16, gl::RGBA32F, source),
        (gl::RG16F, gl::R16, [0.2, 0.0, 0.0, 1.0]),
    ] {
        let read = t.target_of(4, 4, from);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &source);
        let draw = t.target_of(4, 4, to);
        bind(t, read.framebuffer, draw.framebuffer);
        for (name, dst) in [("copied", [0, 0, 4, 4]), ("flipped", [4, 0, 0, 4]), ("scaled", [0, 0, 2, 2])] {
            t.clear_buffer_f32_slice(gl::COLOR, 0, &[1.0; 4]);
            blit(t, [0, 0, 4, 4], dst, COLOR, gl::NEAREST);
            t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(draw.framebuffer));
            let v = t.read_floats(1, 1)[0];
            t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(read.framebuffer));
            for c in 0..4 {
                t.near(v[c], expected[c], 0.01, &format!("{from:#x} to {to:#x} {name}, channel {c}"));
            }
        }
    }
    // Values outside a fixed-point format's range are clamped.
    let read = t.target_of(2, 2, gl::RGBA32F);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[-3.0, 0.5, 9.0, 1.0]);
    let draw = t.target_of(2, 2, gl::RGBA8);
    bind(t, read.framebuffer, draw.framebuffer);
    blit(t, [0, 0, 2, 2], [0, 0, 2, 2], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(draw.framebuffer));
    t.pixel(&t.read(2, 2), 1, 1, [0, 128, 255, 255], 1, "clamped");
}

unsafe fn srgb(t: &Scene) {
    // All pairs of linear and sRGB storage, with and without FRAMEBUFFER_SRGB, copied and scaled. The reference says what
    // is converted; here stand the two rules that do not depend on it.
    let mut values = Vec::new();
    for (from, to) in [
        (gl::RGBA8, gl::SRGB8_ALPHA8),
        (gl::SRGB8_ALPHA8, gl::RGBA8),
        (gl::SRGB8_ALPHA8, gl::SRGB8_ALPHA8),
        (gl::RGBA8, gl::RGBA8),
    ] {
        for enabled in [false, true] {
            let read = t.target_of(8, 8, from);
            t.disable(gl::FRAMEBUFFER_SRGB);
            t.clear_color(20.0 / 255.0, 100.0 / 255.0, 200.0 / 255.0, 0.5);
            t.clear(COLOR);
            let draw = t.target_of(8, 8, to);
            bind(t, read.framebuffer, draw.framebuffer);
            if enabled {
                t.enable(gl::FRAMEBUFFER_SRGB);
            }
            for (name, dst) in [("copied", [0, 0, 8, 8]), ("scaled", [0, 0, 4, 4])] {
                blit(t, [0, 0, 8, 8], dst, COLOR, if name == "scaled" { gl::LINEAR } else { gl::NEAREST });
                t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(draw.framebuffer));
                let picture = t.read(8, 8);
                t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(read.framebuffer));
                if !enabled || from == to {
                    let what = format!("{from:#x} to {to:#x}, enabled {enabled}, {name}: bits are kept");
                    t.pixel(&picture, 2, 2, [20, 100, 200, 128], 1, &what);
                }
                values.extend(picture.pixel(2, 2).map(f32::from));
            }
            t.disable(gl::FRAMEBUFFER_SRGB);
        }
    }
    t.compare_values("matrix", &values, 1.0);
}

unsafe fn integers(t: &Scene) {
    let read = t.target_of(8, 8, gl::RGBA32UI);
    t.program(FULL_VS, "out uvec4 result; void main() { result = uvec4(gl_FragCoord.xy, 70000u, 7u); }");
    t.vertex_array();
    t.fill();
    let draw = t.target_of(8, 8, gl::RGBA32UI);
    bind(t, read.framebuffer, draw.framebuffer);
    blit(t, [0, 0, 8, 8], [8, 0, 0, 8], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(draw.framebuffer));
    let v = t.read_as::<[u32; 4]>(8, 8, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 64);
    t.equal(v[3 * 8 + 1], [6, 3, 70000, 7], "flipped");
    // To a format of fewer channels and bits.
    let narrow = t.target_of(8, 8, gl::R16UI);
    bind(t, read.framebuffer, narrow.framebuffer);
    blit(t, [0, 0, 4, 4], [0, 0, 8, 8], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(narrow.framebuffer));
    let v = t.read_as::<[u32; 4]>(8, 8, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 64);
    t.equal(v[5 * 8 + 7], [3, 0, 0, 1], "doubled into R16UI");
    let signed = t.target_of(8, 8, gl::RGBA32I);
    t.clear_buffer_i32_slice(gl::COLOR, 0, &[-4, 5, -6, 7]);
    let signed_target = t.target_of(8, 8, gl::RGBA16I);
    bind(t, signed.framebuffer, signed_target.framebuffer);
    blit(t, [0, 0, 8, 8], [0, 0, 8, 8], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(signed_target.framebuffer));
    let v = t.read_as::<[i32; 4]>(1, 1, gl::RGBA_INTEGER, gl::INT, 1);
    t.equal(v[0], [-4, 5, -6, 7], "RGBA32I to RGBA16I");
    // Signed, unsigned and fixed-point do not mix, and integers are not filtered.
    let fixed = t.target(8, 8);
    for (from, to, what) in [
        (read.framebuffer, signed.framebuffer, "unsigned to signed"),
        (signed.framebuffer, read.framebuffer, "signed to unsigned"),
        (read.framebuffer, fixed.framebuffer, "unsigned to fixed-point"),
        (fixed.framebuffer, signed.framebuffer, "fixed-point to signed"),
    ] {
        bind(t, from, to);
        blit(t, [0, 0, 8, 8], [0, 0, 8, 8], COLOR, gl::NEAREST);
        t.error(gl::INVALID_OPERATION, what);
    }
    bind(t, read.framebuffer, draw.framebuffer);
    blit(t, [0, 0, 8, 8], [0, 0, 4, 4], COLOR, gl::LINEAR);
    t.error(gl::INVALID_OPERATION, "a linear blit of integers");
}

unsafe fn read_and_draw_buffers(t: &Scene) {
    // The source is READ_BUFFER alone; every draw buffer receives it.
    let textures: Vec<_> = (0..4u8).map(|i| t.texture(4, 4, &[[i * 50, 10, 20, 255]; 16])).collect();
    let make = |range: std::ops::Range<usize>| {
        let framebuffer = t.create_framebuffer().unwrap();
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        for (i, texture) in textures[range].iter().enumerate() {
            let attachment = gl::COLOR_ATTACHMENT0 + i as u32;
            t.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(*texture), 0);
        }
        framebuffer
    };
    let (read, draw) = (make(0..2), make(1..4));
    bind(t, read, draw);
    t.read_buffer(gl::COLOR_ATTACHMENT0);
    t.draw_buffers(&[gl::COLOR_ATTACHMENT2, gl::NONE, gl::COLOR_ATTACHMENT1]);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(draw));
    for (i, red) in [50, 0, 0].into_iter().enumerate() {
        t.read_buffer(gl::COLOR_ATTACHMENT0 + i as u32);
        t.area(&t.read(4, 4), (0, 0, 4, 4), [red, 10, 20, 255], 0, &format!("draw attachment {i}"));
    }
    bind(t, read, draw);
    t.read_buffer(gl::COLOR_ATTACHMENT1);
    t.draw_buffers(&[gl::COLOR_ATTACHMENT2]);
    blit(t, [0, 0, 2, 4], [2, 0, 4, 4], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(draw));
    t.read_buffer(gl::COLOR_ATTACHMENT2);
    let picture = t.read(4, 4);
    t.area(&picture, (2, 0, 4, 4), [50, 10, 20, 255], 0, "from attachment 1");
    t.area(&picture, (0, 0, 2, 4), [0, 10, 20, 255], 0, "what was not written");
    // No read buffer or no draw buffer: nothing happens, and it is no error.
    bind(t, read, draw);
    t.draw_buffers(&[gl::NONE]);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
    t.no_error("a blit without draw buffers");
    t.draw_buffers(&[gl::COLOR_ATTACHMENT0]);
    t.read_buffer(gl::NONE);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
    t.no_error("a blit without a read buffer");
}

unsafe fn levels_layers_faces(t: &Scene) {
    // Pairs of (attach, read back) for every kind of image; each is filled through a blit from a plain target and then
    // read through a blit to another one.
    let source = t.target(4, 4);
    draw_gradient(t);
    let expected = t.read(4, 4);
    let level = t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 2);
    for i in 0..3 {
        t.image::<u8>(gl::TEXTURE_2D, i, gl::RGBA8, [16 >> i, 16 >> i, 1], transfer_of(gl::RGBA8), None);
    }
    let make = |target: u32, size: [i32; 3]| {
        let texture = t.texture_name(target);
        t.image::<u8>(target, 0, gl::RGBA8, size, transfer_of(gl::RGBA8), None);
        texture
    };
    let array = make(gl::TEXTURE_2D_ARRAY, [4, 4, 3]);
    let volume = make(gl::TEXTURE_3D, [4, 4, 5]);
    let rectangle = make(gl::TEXTURE_RECTANGLE, [4, 4, 1]);
    let cube = t.texture_name(gl::TEXTURE_CUBE_MAP);
    for face in 0..6 {
        let target = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
        t.image::<u8>(target, 0, gl::RGBA8, [4, 4, 1], transfer_of(gl::RGBA8), None);
    }
    let other = t.create_framebuffer().unwrap();
    let result = t.target(4, 4);
    let attach: [(&str, &dyn Fn()); 5] = [
        ("level 2", &|| {
            t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(level), 2)
        }),
        ("layer 2", &|| t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(array), 0, 2)),
        ("slice 3", &|| t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(volume), 0, 3)),
        ("rectangle", &|| {
            t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_RECTANGLE, Some(rectangle), 0);
        }),
        ("face -Y", &|| {
            let face = gl::TEXTURE_CUBE_MAP_NEGATIVE_Y;
            t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, face, Some(cube), 0);
        }),
    ];
    for (name, attach) in attach {
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(other));
        attach();
        t.complete();
        bind(t, source.framebuffer, other);
        blit(t, [0, 0, 4, 4], [4, 0, 0, 4], COLOR, gl::NEAREST);
        bind(t, other, result.framebuffer);
        t.clear(COLOR);
        blit(t, [0, 0, 4, 4], [4, 0, 0, 4], COLOR, gl::NEAREST);
        t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(result.framebuffer));
        t.check(t.read(4, 4) == expected, format!("{name}: there and back, flipped twice"));
    }
    // One row of a 1D texture.
    let line = make(gl::TEXTURE_1D, [4, 1, 1]);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(other));
    t.raw.FramebufferTexture1D(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_1D, line.0.get(), 0);
    bind(t, source.framebuffer, other);
    blit(t, [0, 1, 4, 2], [0, 0, 4, 1], COLOR, gl::NEAREST);
    let row = t.texels::<[u8; 4]>(gl::TEXTURE_1D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 4);
    for (x, texel) in row.into_iter().enumerate() {
        t.equal(texel, expected.pixel(x, 1), "a texel of the 1D texture");
    }
}

/// Draws depth from 0 to 1 from left to right into the bound framebuffer.
unsafe fn draw_depths(t: &Scene) {
    t.enable(gl::DEPTH_TEST);
    t.depth_func(gl::ALWAYS);
    t.program(
        FULL_VS,
        "in vec2 uv; void main() { gl_FragDepth = floor(uv.x * 8.0) / 8.0 + floor(uv.y * 8.0) / 64.0; }",
    );
    t.vertex_array();
    t.fill();
    t.disable(gl::DEPTH_TEST);
}

fn depth_at(x: usize, y: usize) -> f32 {
    x as f32 / 8.0 + y as f32 / 64.0
}

unsafe fn depth_formats(t: &Scene) {
    for format in [
        gl::DEPTH_COMPONENT16,
        gl::DEPTH_COMPONENT24,
        gl::DEPTH_COMPONENT32F,
        gl::DEPTH24_STENCIL8,
        gl::DEPTH32F_STENCIL8,
    ] {
        let packed = matches!(format, gl::DEPTH24_STENCIL8 | gl::DEPTH32F_STENCIL8);
        let attachment = if packed { gl::DEPTH_STENCIL_ATTACHMENT } else { gl::DEPTH_ATTACHMENT };
        let source = renderbuffer(t, attachment, format, 0, 8);
        t.clear_stencil(0x5a);
        t.clear(STENCIL);
        draw_depths(t);
        let dest = renderbuffer(t, attachment, format, 0, 8);
        for (name, src, dst) in [
            ("copied", [0, 0, 8, 8], [0, 0, 8, 8]),
            ("flipped", [0, 0, 8, 8], [8, 8, 0, 0]),
            ("doubled", [2, 2, 6, 6], [0, 0, 8, 8]),
            ("moved", [1, 2, 5, 5], [4, 0, 8, 3]),
        ] {
            bind(t, source, dest);
            t.clear_depth_f64(1.0);
            t.clear_stencil(0);
            t.clear(DEPTH | STENCIL);
            blit(t, src, dst, if packed { DEPTH | STENCIL } else { DEPTH }, gl::NEAREST);
            t.bind_framebuffer(gl::FRAMEBUFFER, Some(dest));
            let d = t.read_as::<f32>(8, 8, gl::DEPTH_COMPONENT, gl::FLOAT, 64);
            for (x, y) in [(0, 0), (3, 5), (7, 7), (5, 1)] {
                let expected = match name {
                    "copied" => depth_at(x, y),
                    "flipped" => depth_at(7 - x, 7 - y),
                    "doubled" => depth_at(2 + x / 2, 2 + y / 2),
                    _ if x >= 4 && y < 3 => depth_at(x - 3, y + 2),
                    _ => 1.0,
                };
                t.near(d[y * 8 + x], expected, 2e-5, &format!("{format:#x} {name}: depth at {x}, {y}"));
            }
            if packed {
                let s = t.read_as::<u8>(8, 8, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, 64);
                t.equal(s[7], 0x5a, &format!("{format:#x} {name}: stencil that came along"));
            }
        }
    }
}

/// Writes stencil 0..7 in columns into the bound framebuffer of 8 x 8 pixels.
unsafe fn stencil_columns(t: &Scene) {
    t.enable(gl::SCISSOR_TEST);
    for i in 0..8 {
        t.scissor(i, 0, 1, 8);
        t.clear_stencil(i * 17);
        t.clear(STENCIL);
    }
    t.disable(gl::SCISSOR_TEST);
}

unsafe fn stencil_scaled_flipped(t: &Scene) {
    for format in [gl::DEPTH24_STENCIL8, gl::DEPTH32F_STENCIL8] {
        let source = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 0, 8);
        t.clear_depth_f64(0.25);
        t.clear(DEPTH);
        stencil_columns(t);
        let dest = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 0, 8);
        t.clear_depth_f64(0.75);
        t.clear(DEPTH);
        for (name, src, dst) in [
            ("copied", [0, 0, 8, 8], [0, 0, 8, 8]),
            ("flipped", [0, 0, 8, 8], [8, 0, 0, 8]),
            ("doubled", [2, 0, 6, 4], [0, 0, 8, 8]),
        ] {
            bind(t, source, dest);
            blit(t, src, dst, STENCIL, gl::NEAREST);
            t.bind_framebuffer(gl::FRAMEBUFFER, Some(dest));
            let s = t.read_as::<u8>(8, 8, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, 64);
            for x in 0..8u8 {
                let expected = match name {
                    "copied" => x,
                    "flipped" => 7 - x,
                    _ => 2 + x / 2,
                } * 17;
                t.equal(s[8 + usize::from(x)], expected, &format!("{format:#x} {name}: stencil of column {x}"));
            }
            let d = t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0];
            t.near(d, 0.75, 1e-6, "a stencil blit leaves depth alone");
        }
    }
}

unsafe fn scissor_scaled_flipped(t: &Scene) {
    let source = t.target(16, 16);
    draw_gradient(t);
    let draw = t.target(32, 32);
    bind(t, source.framebuffer, draw.framebuffer);
    t.enable(gl::SCISSOR_TEST);
    // The scissor cuts the destination and does not move the mapping.
    t.scissor(5, 3, 11, 22);
    blit(t, [0, 0, 16, 16], [32, 0, 0, 32], COLOR, gl::NEAREST);
    t.scissor(20, 20, 100, 100);
    blit(t, [0, 0, 16, 16], [0, 32, 32, 0], COLOR, gl::LINEAR);
    t.disable(gl::SCISSOR_TEST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(draw.framebuffer));
    let picture = t.read(32, 32);
    t.equal(picture.count(|p| p[3] != 0), 11 * 22 + 12 * 12, "pixels written");
    let red = |x: usize| (((x as f32 + 0.5) / 16.0) * 255.0).round() as u8;
    t.check(picture.pixel(6, 10)[0].abs_diff(red((31 - 6) / 2)) <= 1, "the mapping of the flipped blit");
    t.compare("picture", &picture, Tolerance { channel: 2, ..Tolerance::EXACT });
}

unsafe fn clipped(t: &Scene) {
    let source = t.target(8, 8);
    draw_gradient(t);
    let draw = t.target(8, 8);
    let mut pictures = Vec::new();
    for (src, dst) in [
        ([-4, -4, 4, 4], [2, 2, 10, 10]),
        ([4, 4, 12, 12], [-3, -3, 5, 5]),
        ([-4, 0, 12, 8], [12, 0, -4, 8]),
        ([0, 0, 8, 8], [-8, -8, 16, 16]),
        ([-8, -8, 16, 16], [0, 0, 8, 8]),
        ([2, 2, 2, 6], [0, 0, 8, 8]),
        ([0, 0, 8, 8], [3, 3, 3, 3]),
        ([20, 20, 28, 28], [0, 0, 8, 8]),
    ] {
        bind(t, source.framebuffer, draw.framebuffer);
        t.clear(COLOR);
        blit(t, src, dst, COLOR, gl::NEAREST);
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(draw.framebuffer));
        pictures.push(t.read(8, 8));
    }
    t.no_error("blits that reach outside");
    for (i, n) in [4, 1, 64, 64, 9, 0, 0, 0].into_iter().enumerate() {
        // The fifth scales down around the source; how its border pixels are cut is left open.
        let written = pictures[i].count(|p| p[3] != 0);
        let slack = if i == 4 { 9 } else { 0 };
        t.check(written.abs_diff(n) <= slack, format!("blit {i} wrote {written} pixels, expected {n}"));
    }
    for (i, picture) in pictures.iter().enumerate().filter(|(i, _)| *i != 4) {
        t.compare(&format!("blit{i}"), picture, Tolerance::EXACT);
    }
}

unsafe fn default_framebuffer(t: &Scene) {
    let source = t.target(64, 64);
    draw_gradient(t);
    let expected = t.read(64, 64);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(source.framebuffer));
    t.bind_framebuffer(gl::DRAW_FRAMEBUFFER, None);
    t.clear(COLOR);
    blit(t, [0, 0, 64, 64], [0, 0, 64, 64], COLOR, gl::NEAREST);
    // And back, upside down.
    let back = t.target(64, 64);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, None);
    t.bind_framebuffer(gl::DRAW_FRAMEBUFFER, Some(back.framebuffer));
    blit(t, [0, 0, 64, 64], [0, 64, 64, 0], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(back.framebuffer));
    let picture = t.read(64, 64);
    for (x, y) in [(3, 5), (60, 2), (33, 50)] {
        let e = expected.pixel(x, 63 - y);
        let alpha = picture.pixel(x, y)[3];
        t.pixel(&picture, x, y, [e[0], e[1], e[2], alpha], 1, "upside down");
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn within_one(t: &Scene) {
    // From one part of an image to another, and from one attachment to another of the same framebuffer.
    let target = t.target(16, 16);
    draw_gradient(t);
    let before = t.read(16, 16);
    blit(t, [0, 0, 8, 16], [8, 0, 16, 16], COLOR, gl::NEAREST);
    let after = t.read(16, 16);
    for (x, y) in [(0, 0), (7, 15), (3, 8)] {
        t.equal(after.pixel(x + 8, y), before.pixel(x, y), "the copied half");
        t.equal(after.pixel(x, y), before.pixel(x, y), "the half that was read");
    }
    let second = t.texture(16, 16, &[[1, 2, 3, 4]; 256]);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, gl::TEXTURE_2D, Some(second), 0);
    t.complete();
    t.read_buffer(gl::COLOR_ATTACHMENT0);
    t.draw_buffers(&[gl::NONE, gl::COLOR_ATTACHMENT1]);
    blit(t, [0, 0, 16, 16], [4, 4, 12, 12], COLOR, gl::NEAREST);
    t.read_buffer(gl::COLOR_ATTACHMENT1);
    let picture = t.read(16, 16);
    t.equal(picture.pixel(0, 0), [1, 2, 3, 4], "outside the destination");
    t.check(picture.pixel(8, 8) != [1, 2, 3, 4], "inside the destination");
    t.compare("second", &picture, Tolerance { bad_share: 0.3, ssim: 0.9, ..Tolerance::EXACT });
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
}

unsafe fn linear_filter(t: &Scene) {
    // A chequer of two colours magnified and minified linearly, for fixed-point, float and one-channel images.
    for format in [gl::RGBA8, gl::RGBA16F, gl::R8] {
        let source = t.target_of(4, 4, format);
        t.enable(gl::SCISSOR_TEST);
        for i in 0..16 {
            t.scissor(i % 4, i / 4, 1, 1);
            let v = ((i % 4 + i / 4) % 2) as f32;
            t.clear_color(v, v * 0.5, 1.0 - v, 1.0);
            t.clear(COLOR);
        }
        t.disable(gl::SCISSOR_TEST);
        t.clear_color(0.0, 0.0, 0.0, 0.0);
        let draw = t.target(16, 16);
        bind(t, source.framebuffer, draw.framebuffer);
        blit(t, [0, 0, 4, 4], [0, 0, 16, 16], COLOR, gl::LINEAR);
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(draw.framebuffer));
        let picture = t.read(16, 16);
        // The corner lies outside all texel centres: clamped to the edge. The centre of the image is an even mix.
        t.check(picture.pixel(0, 0)[0] <= 1, format!("{format:#x}: corner {:?}", picture.pixel(0, 0)));
        t.check(picture.pixel(7, 7)[0].abs_diff(128) <= 40, format!("{format:#x}: centre {:?}", picture.pixel(7, 7)));
        t.compare(&format!("magnified{format:x}"), &picture, Tolerance { channel: 3, ..Tolerance::EXACT });
    }
}

unsafe fn missing_attachments(t: &Scene) {
    // A bit of the mask whose buffer is missing on either side is ignored (GL 3.3 section 4.3.2).
    let full = t.target(4, 4);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear_depth_f64(0.25);
    t.clear(COLOR | DEPTH);
    let depth_only = renderbuffer(t, gl::DEPTH_ATTACHMENT, gl::DEPTH_COMPONENT24, 0, 4);
    t.clear_depth_f64(0.75);
    t.clear(DEPTH);
    let color_only = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA8, 0, 4);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(COLOR);
    let all = COLOR | DEPTH | STENCIL;
    bind(t, full.framebuffer, color_only);
    blit(t, [0, 0, 2, 4], [0, 0, 2, 4], all, gl::NEAREST);
    t.no_error("no depth and stencil to draw to");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(color_only));
    let picture = t.read(4, 4);
    t.area(&picture, (0, 0, 2, 4), [255, 0, 0, 255], 0, "colour is copied");
    t.area(&picture, (2, 0, 4, 4), [0, 0, 255, 255], 0, "the rest stays");
    bind(t, color_only, full.framebuffer);
    blit(t, [2, 0, 4, 4], [2, 0, 4, 4], all, gl::NEAREST);
    t.no_error("no depth and stencil to read from");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(full.framebuffer));
    t.pixel(&t.read(4, 4), 3, 1, [0, 0, 255, 255], 0, "colour of the other");
    t.near(t.read_as::<f32>(4, 4, gl::DEPTH_COMPONENT, gl::FLOAT, 16)[3], 0.25, 1e-6, "depth stays");
    bind(t, depth_only, color_only);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], all, gl::NEAREST);
    t.no_error("nothing in common");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(color_only));
    t.pixel(&t.read(4, 4), 3, 1, [0, 0, 255, 255], 0, "nothing was copied");
}

unsafe fn errors(t: &Scene) {
    let (a, b) = (t.target(4, 4), t.target(4, 4));
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(COLOR);
    bind(t, a.framebuffer, b.framebuffer);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR | 1, gl::NEAREST);
    t.error(gl::INVALID_VALUE, "a mask bit that does not exist");
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::LINEAR_MIPMAP_LINEAR);
    t.error(gl::INVALID_ENUM, "a filter that is none");
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR | STENCIL, gl::LINEAR);
    t.error(gl::INVALID_OPERATION, "stencil with a linear filter");
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], 0, gl::NEAREST);
    t.no_error("an empty mask");
    let empty = t.create_framebuffer().unwrap();
    bind(t, empty, b.framebuffer);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "an incomplete source");
    bind(t, a.framebuffer, empty);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "an incomplete destination");
    let four = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA8, 4, 4);
    bind(t, four, b.framebuffer);
    blit(t, [0, 0, 4, 4], [0, 0, 2, 2], COLOR, gl::NEAREST);
    t.error(gl::INVALID_OPERATION, "a scaled resolve");
    bind(t, b.framebuffer, four);
    blit(t, [0, 0, 4, 4], [0, 0, 2, 2], COLOR, gl::NEAREST);
    t.error(gl::INVALID_OPERATION, "scaled into multisampled");
    for (from, to) in [
        (gl::DEPTH_COMPONENT16, gl::DEPTH_COMPONENT24),
        (gl::DEPTH_COMPONENT32F, gl::DEPTH_COMPONENT24),
        (gl::DEPTH24_STENCIL8, gl::DEPTH32F_STENCIL8),
    ] {
        let attachment = |format| match format {
            gl::DEPTH24_STENCIL8 | gl::DEPTH32F_STENCIL8 => gl::DEPTH_STENCIL_ATTACHMENT,
            _ => gl::DEPTH_ATTACHMENT,
        };
        let read = renderbuffer(t, attachment(from), from, 0, 4);
        let draw = renderbuffer(t, attachment(to), to, 0, 4);
        bind(t, read, draw);
        blit(t, [0, 0, 4, 4], [0, 0, 4, 4], DEPTH, gl::NEAREST);
        t.error(gl::INVALID_OPERATION, &format!("depth {from:#x} to {to:#x}"));
    }
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(b.framebuffer));
    t.area(&t.read(4, 4), (0, 0, 4, 4), [0, 255, 0, 255], 0, "failing blits write nothing");
}

unsafe fn multisample_depth_stencil(t: &Scene) {
    for format in [gl::DEPTH24_STENCIL8, gl::DEPTH32F_STENCIL8] {
        let many = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 4, 8);
        t.clear_depth_f64(0.5);
        t.clear(DEPTH);
        stencil_columns(t);
        draw_depths(t);
        let single = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 0, 8);
        let look = |what: &str, depth: &dyn Fn(usize, usize) -> f32, stencil: &dyn Fn(usize) -> u8| {
            t.bind_framebuffer(gl::FRAMEBUFFER, Some(single));
            let d = t.read_as::<f32>(8, 8, gl::DEPTH_COMPONENT, gl::FLOAT, 64);
            let s = t.read_as::<u8>(8, 8, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, 64);
            for (x, y) in [(0, 0), (3, 5), (7, 2)] {
                t.near(d[y * 8 + x], depth(x, y), 1e-5, &format!("{format:#x} {what}: depth at {x}, {y}"));
                t.equal(s[y * 8 + x], stencil(x), &format!("{format:#x} {what}: stencil at {x}, {y}"));
            }
        };
        bind(t, many, single);
        t.clear_depth_f64(1.0);
        t.clear_stencil(0);
        t.clear(DEPTH | STENCIL);
        blit(t, [0, 0, 8, 8], [0, 0, 8, 8], DEPTH, gl::NEAREST);
        look("depth alone", &depth_at, &|_| 0);
        bind(t, many, single);
        t.clear(DEPTH);
        blit(t, [0, 0, 8, 8], [0, 0, 8, 8], STENCIL, gl::NEAREST);
        look("stencil alone", &|_, _| 1.0, &|x| x as u8 * 17);
        bind(t, many, single);
        t.clear(DEPTH | STENCIL);
        blit(t, [0, 0, 8, 8], [0, 0, 8, 8], DEPTH | STENCIL, gl::NEAREST);
        look("both", &depth_at, &|x| x as u8 * 17);
    }
}

unsafe fn multisample_to_multisample(t: &Scene) {
    // Samples are copied one by one: a resolve afterwards gives the same average.
    let single = t.target(16, 16);
    let a = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA8, 4, 16);
    let b = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA8, 4, 16);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a));
    t.clear(COLOR);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.enable(gl::SAMPLE_MASK);
    t.raw.SampleMaski(0, 0b0010);
    t.fill();
    t.disable(gl::SAMPLE_MASK);
    bind(t, a, b);
    t.clear(COLOR);
    blit(t, [0, 0, 8, 16], [0, 0, 8, 16], COLOR, gl::NEAREST);
    bind(t, b, single.framebuffer);
    blit(t, [0, 0, 16, 16], [0, 0, 16, 16], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
    let picture = t.read(16, 16);
    t.area(&picture, (0, 0, 8, 16), [64; 4], 1, "one sample of four");
    t.area(&picture, (8, 0, 16, 16), [0; 4], 0, "not copied");
    // Depth and stencil as well.
    let format = gl::DEPTH24_STENCIL8;
    let c = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 4, 8);
    let d = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 4, 8);
    let e = renderbuffer(t, gl::DEPTH_STENCIL_ATTACHMENT, format, 0, 8);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(c));
    stencil_columns(t);
    draw_depths(t);
    bind(t, c, d);
    blit(t, [0, 0, 8, 8], [0, 0, 8, 8], DEPTH | STENCIL, gl::NEAREST);
    bind(t, d, e);
    blit(t, [0, 0, 8, 8], [0, 0, 8, 8], DEPTH | STENCIL, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(e));
    let v = t.read_as::<u32>(8, 8, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 64);
    t.near((v[2 * 8 + 5] >> 8) as f32 / 16_777_215.0, depth_at(5, 2), 1e-5, "depth over two blits");
    t.equal(v[2 * 8 + 5] & 0xff, 85, "stencil over two blits");
}

unsafe fn multisample_flipped(t: &Scene) {
    // A resolve may mirror, because the sizes are the same.
    let single = t.target(16, 16);
    let many = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA8, 4, 16);
    draw_gradient(t);
    for (name, dst) in [("x", [16, 0, 0, 16]), ("y", [0, 16, 16, 0]), ("moved", [4, 4, 20, 20])] {
        bind(t, many, single.framebuffer);
        t.clear(COLOR);
        blit(t, [0, 0, 16, 16], dst, COLOR, gl::NEAREST);
        t.no_error("a mirrored resolve");
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
        let picture = t.read(16, 16);
        t.equal(picture.count(|p| p[3] != 0), if name == "moved" { 144 } else { 256 }, "pixels written");
        let (x, y) = if name == "y" { (10, 11) } else { (5, 4) };
        if name != "moved" {
            let mid = |v: usize| ((v as f32 + 0.5) / 16.0 * 255.0).round() as u8;
            let p = picture.pixel(5, 4);
            let expected = if name == "x" { (mid(10), mid(4)) } else { (mid(5), mid(y)) };
            t.check(p[0].abs_diff(expected.0) <= 2, format!("{name}: red {} {x}", p[0]));
            t.check(p[1].abs_diff(expected.1) <= 2, format!("{name}: green {}", p[1]));
        }
        t.compare(name, &picture, Tolerance { channel: 4, bad_share: 0.07, ssim: 0.95 });
    }
}

unsafe fn multisample_formats(t: &Scene) {
    // Half of the samples 1, half of them 0: fixed-point and float average, integers take one sample.
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    for format in [gl::R8, gl::RG8, gl::RGBA8, gl::RGB10_A2, gl::RGBA16, gl::RGBA16F, gl::R32F, gl::R11F_G11F_B10F] {
        let many = renderbuffer(t, gl::COLOR_ATTACHMENT0, format, 4, 4);
        t.clear(COLOR);
        t.enable(gl::SAMPLE_MASK);
        t.raw.SampleMaski(0, 0b0110);
        t.fill();
        t.disable(gl::SAMPLE_MASK);
        let single = renderbuffer(t, gl::COLOR_ATTACHMENT0, format, 0, 4);
        bind(t, many, single);
        blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(single));
        t.near(t.read_floats(4, 4)[5][0], 0.5, 0.01, &format!("the average of {format:#x}"));
    }
    let many = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA32UI, 1, 4);
    let actual = t.get_parameter_i32(gl::SAMPLES);
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[1, 2, 3, u32::MAX]);
    let single = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA32UI, 0, 4);
    bind(t, many, single);
    blit(t, [0, 0, 4, 4], [0, 0, 4, 4], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single));
    let v = t.read_as::<[u32; 4]>(4, 4, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 16)[9];
    t.equal(v, [1, 2, 3, u32::MAX], &format!("integers of {actual} samples"));
}

unsafe fn multisample_upload(t: &Scene) {
    // From a single-sampled image into a multisampled one: every sample receives the pixel.
    let source = t.target(8, 8);
    draw_gradient(t);
    let expected = t.read(8, 8);
    let many = renderbuffer(t, gl::COLOR_ATTACHMENT0, gl::RGBA8, 4, 8);
    bind(t, source.framebuffer, many);
    t.clear(COLOR);
    blit(t, [0, 0, 8, 8], [0, 0, 8, 8], COLOR, gl::NEAREST);
    t.no_error("a blit into a multisampled image");
    let back = t.target(8, 8);
    bind(t, many, back.framebuffer);
    blit(t, [0, 0, 8, 8], [0, 0, 8, 8], COLOR, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(back.framebuffer));
    let picture = t.read(8, 8);
    for (x, y) in [(0, 0), (5, 2), (7, 7)] {
        t.pixel(&picture, x, y, expected.pixel(x, y), 1, "there and resolved");
    }
}
