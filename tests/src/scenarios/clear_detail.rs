//! Clears in detail: every format, multisampling, sRGB, masks of each draw buffer, order with draws and uploads, errors.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{transfer_of, Scenario, Scene, COLOR_FS, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("clear_every_format", every_format),
    Scenario::new("clear_multisampled", multisampled),
    Scenario::new("clear_srgb", srgb),
    Scenario::new("clear_depth_formats", depth_formats),
    Scenario::new("clear_masks_of_each_draw_buffer", masks_of_each_draw_buffer),
    Scenario::new("clear_mixed_attachments", mixed_attachments),
    Scenario::new("clear_order_with_draws", order_with_draws),
    Scenario::new("clear_then_other_uses", then_other_uses),
    Scenario::new("clear_ignores_what_it_must", ignores_what_it_must),
    Scenario::new("clear_errors", errors),
];

unsafe fn every_format(t: &Scene) {
    let color = [0.2f32, 0.4, 0.6, 0.8];
    for (format, channels, step) in [
        (gl::R8, 1usize, 0.003),
        (gl::RG8, 2, 0.003),
        (gl::RGB8, 3, 0.003),
        (gl::RGBA8, 4, 0.003),
        (gl::R16, 1, 1e-4),
        (gl::RGBA16, 4, 1e-4),
        (gl::R16F, 1, 1e-3),
        (gl::RGBA16F, 4, 1e-3),
        (gl::RG32F, 2, 0.0),
        (gl::RGBA32F, 4, 0.0),
        (gl::R11F_G11F_B10F, 3, 0.02),
        (gl::RGB10_A2, 4, 0.14),
        (gl::RGB565, 3, 0.02),
        (gl::RGBA4, 4, 0.04),
    ] {
        t.target_of(6, 4, format);
        let look = |what: &str, at: usize, expected: [f32; 4]| {
            let v = t.read_floats(6, 4)[at];
            for c in 0..4 {
                let e = if c < channels { expected[c] } else { f32::from(u8::from(c == 3)) };
                t.near(v[c], e, step, &format!("{format:#x} {what}, channel {c}"));
            }
        };
        t.clear_color(color[0], color[1], color[2], color[3]);
        t.clear(gl::COLOR_BUFFER_BIT);
        look("whole", 13, color);
        t.enable(gl::SCISSOR_TEST);
        t.scissor(0, 0, 3, 4);
        t.color_mask(false, true, false, true);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &[1.0; 4]);
        t.color_mask(true, true, true, true);
        t.disable(gl::SCISSOR_TEST);
        look("masked", 7, [color[0], 1.0, color[2], 1.0]);
        look("beside the scissor box", 11, color);
    }
    for (format, bits) in [(gl::R8I, 8), (gl::RG16I, 16), (gl::RGBA32I, 32), (gl::RGBA8I, 8)] {
        let least = i32::MIN >> (32 - bits);
        t.texture_name(gl::TEXTURE_2D);
        let transfer = (if matches!(format, gl::RG16I) { gl::RG_INTEGER } else { transfer_of(format).0 }, gl::INT);
        t.image::<u8>(gl::TEXTURE_2D, 0, format, [4, 4, 1], transfer, None);
        let texture = t.get_parameter_texture(gl::TEXTURE_BINDING_2D).unwrap();
        t.framebuffer_of(texture);
        t.clear_buffer_i32_slice(gl::COLOR, 0, &[least, -1, !least, 5]);
        let v = t.read_as::<[i32; 4]>(1, 1, gl::RGBA_INTEGER, gl::INT, 1)[0];
        t.equal(v[0], least, &format!("{format:#x}: the least number"));
        if !matches!(format, gl::R8I) {
            t.equal(v[1], -1, &format!("{format:#x}: -1"));
        }
    }
}

unsafe fn multisampled(t: &Scene) {
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (attachment, format) in
        [(gl::COLOR_ATTACHMENT0, gl::RGBA8), (gl::DEPTH_STENCIL_ATTACHMENT, gl::DEPTH24_STENCIL8)]
    {
        let buffer = t.create_renderbuffer().unwrap();
        t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
        t.renderbuffer_storage_multisample(gl::RENDERBUFFER, 4, format, 8, 8);
        t.framebuffer_renderbuffer(gl::FRAMEBUFFER, attachment, gl::RENDERBUFFER, Some(buffer));
    }
    t.complete();
    t.viewport(0, 0, 8, 8);
    t.clear_color(0.2, 0.4, 0.6, 0.8);
    t.clear_depth_f64(0.25);
    t.clear_stencil(0x3c);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.enable(gl::SCISSOR_TEST);
    t.scissor(0, 0, 4, 8);
    t.color_mask(true, false, false, false);
    t.stencil_mask(0x0f);
    t.clear_color(1.0, 1.0, 1.0, 1.0);
    t.clear_stencil(0xff);
    t.clear(gl::COLOR_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.color_mask(true, true, true, true);
    t.stencil_mask(0xff);
    t.disable(gl::SCISSOR_TEST);
    let single = t.target(8, 8);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(framebuffer));
    let all = gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT;
    t.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, all, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(single.framebuffer));
    let picture = t.read(8, 8);
    t.area(&picture, (0, 0, 4, 8), [255, 102, 153, 204], 1, "masked and scissored");
    t.area(&picture, (4, 0, 8, 8), [51, 102, 153, 204], 1, "the whole clear");
    let v = t.read_as::<u32>(8, 8, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 64);
    t.near((v[9] >> 8) as f32 / 16_777_215.0, 0.25, 1e-6, "depth");
    t.equal((v[9] & 0xff, v[14] & 0xff), (0x3f, 0x3c), "stencil, masked and not");
}

unsafe fn srgb(t: &Scene) {
    // With FRAMEBUFFER_SRGB the clear colour is encoded, without it is stored as it is.
    for (format, enabled, expected) in [
        (gl::SRGB8_ALPHA8, true, [188, 137, 255, 128]),
        (gl::SRGB8_ALPHA8, false, [128, 64, 255, 128]),
        (gl::RGBA8, true, [128, 64, 255, 128]),
    ] {
        if enabled {
            t.enable(gl::FRAMEBUFFER_SRGB);
        }
        t.target_of(4, 4, format);
        t.clear_color(0.5, 0.25, 1.0, 0.5);
        t.clear(gl::COLOR_BUFFER_BIT);
        let what = format!("{format:#x}, enabled {enabled}");
        t.pixel(&t.read(4, 4), 1, 1, expected, 1, &what);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &[0.0; 4]);
        t.color_mask(true, true, false, true);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.color_mask(true, true, true, true);
        t.pixel(&t.read(4, 4), 1, 1, [expected[0], expected[1], 0, expected[3]], 1, &format!("{what}, masked"));
        t.disable(gl::FRAMEBUFFER_SRGB);
    }
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
        let framebuffer = t.create_framebuffer().unwrap();
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        let texture = t.texture_name(gl::TEXTURE_2D);
        let transfer = if packed { transfer_of(format) } else { (gl::DEPTH_COMPONENT, gl::FLOAT) };
        t.image::<u8>(gl::TEXTURE_2D, 0, format, [4, 4, 1], transfer, None);
        let attachment = if packed { gl::DEPTH_STENCIL_ATTACHMENT } else { gl::DEPTH_ATTACHMENT };
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(texture), 0);
        t.draw_buffer(gl::NONE);
        t.read_buffer(gl::NONE);
        t.complete();
        for (value, expected) in [(0.0, 0.0), (0.3, 0.3), (1.0, 1.0), (-2.0, 0.0), (7.0, 1.0)] {
            t.clear_depth_f64(value);
            t.clear(gl::DEPTH_BUFFER_BIT);
            let d = t.texels::<f32>(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT, gl::FLOAT, 16);
            t.near(d[5], expected, 2e-5, &format!("{format:#x} cleared to {value}"));
        }
        if packed {
            t.clear_buffer_depth_stencil(gl::DEPTH_STENCIL, 0, 0.5, 0x77);
            t.clear_buffer_i32_slice(gl::STENCIL, 0, &[0x21]);
            t.clear_depth_f64(0.75);
            t.clear(gl::DEPTH_BUFFER_BIT);
            let s = t.read_as::<u8>(4, 4, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, 16);
            t.equal(s[3], 0x21, &format!("{format:#x}: stencil survives a depth clear"));
            let d = t.read_as::<f32>(4, 4, gl::DEPTH_COMPONENT, gl::FLOAT, 16);
            t.near(d[3], 0.75, 2e-5, &format!("{format:#x}: depth after a stencil clear"));
        }
        // No colour buffer: clearing colour is no error and does nothing.
        t.clear(gl::COLOR_BUFFER_BIT);
        t.no_error("a clear of colour that is not there");
    }
    t.equal(t.get_parameter_f32(gl::DEPTH_CLEAR_VALUE), 0.75, "DEPTH_CLEAR_VALUE");
}

/// A framebuffer of `n` RGBA8 attachments, all of them draw buffers, bound.
unsafe fn attachments(t: &Scene, n: u32) {
    let textures: Vec<_> = (0..n).map(|_| t.texture(4, 4, &[[0; 4]; 16])).collect();
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (i, texture) in textures.into_iter().enumerate() {
        let attachment = gl::COLOR_ATTACHMENT0 + i as u32;
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(texture), 0);
    }
    t.draw_buffers(&(0..n).map(|i| gl::COLOR_ATTACHMENT0 + i).collect::<Vec<_>>());
    t.complete();
    t.viewport(0, 0, 4, 4);
}

unsafe fn masks_of_each_draw_buffer(t: &Scene) {
    attachments(t, 4);
    t.color_mask_draw_buffer(0, true, false, false, false);
    t.color_mask_draw_buffer(1, false, true, false, false);
    t.color_mask_draw_buffer(2, false, false, false, false);
    let look = |expected: [[u8; 4]; 4], what: &str| {
        for (i, e) in expected.into_iter().enumerate() {
            t.read_buffer(gl::COLOR_ATTACHMENT0 + i as u32);
            t.area(&t.read(4, 4), (0, 0, 4, 4), e, 0, &format!("{what}: attachment {i}"));
        }
    };
    t.clear_color(1.0, 1.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    look([[255, 0, 0, 0], [0, 255, 0, 0], [0; 4], [255; 4]], "glClear");
    t.clear_buffer_f32_slice(gl::COLOR, 1, &[1.0, 0.0, 1.0, 1.0]);
    t.clear_buffer_f32_slice(gl::COLOR, 3, &[0.0, 0.0, 1.0, 0.0]);
    look([[255, 0, 0, 0], [0; 4], [0; 4], [0, 0, 255, 0]], "glClearBuffer");
    // The masks belong to the draw buffers, not to the attachments.
    t.draw_buffers(&[gl::COLOR_ATTACHMENT3, gl::NONE, gl::NONE, gl::COLOR_ATTACHMENT2]);
    t.clear(gl::COLOR_BUFFER_BIT);
    look([[255, 0, 0, 0], [0; 4], [255; 4], [255, 0, 255, 0]], "other draw buffers");
    t.color_mask(true, true, true, true);
}

unsafe fn mixed_attachments(t: &Scene) {
    // Float, signed and unsigned attachments in one framebuffer, each cleared by the call of its kind.
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (i, format) in [gl::RGBA16F, gl::RGBA32UI, gl::RGBA32I, gl::RGBA8].into_iter().enumerate() {
        let texture = t.texture_name(gl::TEXTURE_2D);
        t.image::<u8>(gl::TEXTURE_2D, 0, format, [4, 4, 1], transfer_of(format), None);
        let attachment = gl::COLOR_ATTACHMENT0 + i as u32;
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(texture), 0);
    }
    t.draw_buffers(&[0, 1, 2, 3].map(|i| gl::COLOR_ATTACHMENT0 + i));
    t.complete();
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[-8.0, 0.5, 100.0, 2.0]);
    t.clear_buffer_u32_slice(gl::COLOR, 1, &[u32::MAX, 2, 3, 4]);
    t.clear_buffer_i32_slice(gl::COLOR, 2, &[i32::MIN, -2, 3, 4]);
    t.clear_buffer_f32_slice(gl::COLOR, 3, &[1.0, 0.0, 1.0, 0.0]);
    t.read_buffer(gl::COLOR_ATTACHMENT0);
    t.equal(t.read_floats(1, 1)[0], [-8.0, 0.5, 100.0, 2.0], "float");
    t.read_buffer(gl::COLOR_ATTACHMENT1);
    let v = t.read_as::<[u32; 4]>(1, 1, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 1)[0];
    t.equal(v, [u32::MAX, 2, 3, 4], "unsigned");
    t.read_buffer(gl::COLOR_ATTACHMENT2);
    let v = t.read_as::<[i32; 4]>(1, 1, gl::RGBA_INTEGER, gl::INT, 1)[0];
    t.equal(v, [i32::MIN, -2, 3, 4], "signed");
    t.read_buffer(gl::COLOR_ATTACHMENT3);
    t.pixel(&t.read(4, 4), 0, 0, [255, 0, 255, 0], 0, "fixed-point");
    t.no_error("clears of mixed attachments");
}

unsafe fn order_with_draws(t: &Scene) {
    // Clears between draws in one frame, whole, scissored and masked, in an order that a model follows pixel by pixel.
    t.target(16, 16);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.enable(gl::SCISSOR_TEST);
    let mut model = vec![[0u8; 4]; 256];
    let mut seed = 12345u32;
    let mut next = |n: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % n
    };
    for step in 0..200 {
        let color = [next(6) * 51, next(6) * 51, next(6) * 51, next(6) * 51].map(|v| v as u8);
        let c = color.map(|v| f32::from(v) / 255.0);
        let whole = next(4) == 0;
        let (x, y, w, h) = if whole { (0, 0, 16, 16) } else { (next(12), next(12), 1 + next(9), 1 + next(9)) };
        let mask = if next(3) == 0 { next(16) } else { 15 };
        let on = [0, 1, 2, 3].map(|i| mask >> i & 1 != 0);
        t.scissor(x as i32, y as i32, w as i32, h as i32);
        t.color_mask(on[0], on[1], on[2], on[3]);
        match next(3) {
            0 => {
                t.set_vec4(program, "color", c);
                t.fill();
            }
            1 => {
                t.clear_color(c[0], c[1], c[2], c[3]);
                t.clear(gl::COLOR_BUFFER_BIT);
            }
            _ => t.clear_buffer_f32_slice(gl::COLOR, 0, &c),
        }
        for yy in y..(y + h).min(16) {
            for xx in x..(x + w).min(16) {
                for i in (0..4).filter(|i| on[*i]) {
                    model[(yy * 16 + xx) as usize][i] = color[i];
                }
            }
        }
        if step % 50 == 49 {
            let picture = t.read(16, 16);
            let wrong = (0..256).find(|i| picture.pixel(i % 16, i / 16) != model[*i]);
            t.check(wrong.is_none(), format!("step {step}: pixel {wrong:?} is wrong"));
        }
    }
    t.color_mask(true, true, true, true);
    t.disable(gl::SCISSOR_TEST);
    t.compare("picture", &t.read(16, 16), Tolerance::EXACT);
}

unsafe fn then_other_uses(t: &Scene) {
    // A clear must have happened whatever comes next: another framebuffer, sampling, an upload, a copy, mip levels.
    let result = t.target(4, 4);
    let program = t.program(FULL_VS, TEXTURE_FS);
    t.set_int(program, "image", 0);
    t.vertex_array();
    let cleared = |color: [f32; 4]| {
        let target = t.target(4, 4);
        t.clear_color(color[0], color[1], color[2], color[3]);
        t.clear(gl::COLOR_BUFFER_BIT);
        target
    };
    let a = cleared([1.0, 0.0, 0.0, 1.0]);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(result.framebuffer));
    t.bind_texture(gl::TEXTURE_2D, Some(a.texture));
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [255, 0, 0, 255], 0, "sampled after the clear");
    let b = cleared([0.0, 1.0, 0.0, 1.0]);
    t.bind_texture(gl::TEXTURE_2D, Some(b.texture));
    let texel = gl::PixelUnpackData::Slice(Some(&[1, 2, 3, 4]));
    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 3, 3, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, texel);
    let picture = t.read(4, 4);
    t.pixel(&picture, 3, 3, [1, 2, 3, 4], 0, "an upload after the clear");
    t.pixel(&picture, 0, 0, [0, 255, 0, 255], 0, "the clear before the upload");
    let c = cleared([0.0, 0.0, 1.0, 1.0]);
    t.bind_texture(gl::TEXTURE_2D, Some(c.texture));
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal(v[7], [0, 0, 255, 255], "glGetTexImage after the clear");
    let d = cleared([1.0, 1.0, 0.0, 1.0]);
    t.bind_texture(gl::TEXTURE_2D, Some(d.texture));
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 5);
    t.generate_mipmap(gl::TEXTURE_2D);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 2, gl::RGBA, gl::UNSIGNED_BYTE, 1);
    t.equal(v[0], [255, 255, 0, 255], "levels after the clear");
    let e = cleared([0.0, 1.0, 1.0, 1.0]);
    t.texture(4, 4, &[[0; 4]; 16]);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 4, 4);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal(v[0], [0, 255, 255, 255], "a copy after the clear");
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(e.framebuffer));
    t.bind_framebuffer(gl::DRAW_FRAMEBUFFER, Some(result.framebuffer));
    t.blit_framebuffer(0, 0, 4, 4, 0, 0, 4, 4, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(result.framebuffer));
    t.pixel(&t.read(4, 4), 2, 2, [0, 255, 255, 255], 0, "a blit after the clear");
    // Cleared, never drawn, deleted: the texture keeps the clear.
    let f = cleared([1.0, 0.0, 1.0, 1.0]);
    t.delete_framebuffer(f.framebuffer);
    t.bind_texture(gl::TEXTURE_2D, Some(f.texture));
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal(v[0], [255, 0, 255, 255], "after the framebuffer is gone");
}

unsafe fn ignores_what_it_must(t: &Scene) {
    // Blending, logic operations, the stencil and depth tests, polygon mode, viewport, sample state: none of it applies.
    t.target(8, 8);
    t.enable(gl::BLEND);
    t.blend_func(gl::ZERO, gl::ONE);
    t.enable(gl::COLOR_LOGIC_OP);
    t.raw.LogicOp(gl::NOOP);
    t.enable(gl::STENCIL_TEST);
    t.stencil_func(gl::NEVER, 0, 0xff);
    t.enable(gl::DEPTH_TEST);
    t.depth_func(gl::NEVER);
    t.enable(gl::CULL_FACE);
    t.cull_face(gl::FRONT_AND_BACK);
    t.enable(gl::SAMPLE_MASK);
    t.raw.SampleMaski(0, 0);
    t.enable(gl::SAMPLE_COVERAGE);
    t.sample_coverage(0.0, false);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::POINT);
    t.viewport(0, 0, 1, 1);
    t.depth_range_f64(0.5, 0.5);
    t.clear_color(0.2, 0.4, 0.6, 0.8);
    t.clear_depth_f64(0.125);
    t.clear_stencil(9);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.area(&t.read(8, 8), (0, 0, 8, 8), [51, 102, 153, 204], 0, "a clear under all kinds of state");
    // A masked clear may be a draw inside: the same state must not touch that either.
    t.color_mask(true, false, true, false);
    t.stencil_mask(0x0e);
    t.clear_color(1.0, 1.0, 1.0, 1.0);
    t.clear_stencil(0xff);
    t.clear(gl::COLOR_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.color_mask(true, true, true, true);
    t.stencil_mask(0xff);
    t.area(&t.read(8, 8), (0, 0, 8, 8), [255, 102, 255, 204], 0, "a masked clear under all kinds of state");
    let v = t.read_as::<u32>(8, 8, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 64);
    t.equal(v[63] & 0xff, 0x0f, "masked stencil");
    t.near((v[63] >> 8) as f32 / 16_777_215.0, 0.125, 1e-6, "depth");
    // And what comes after a clear inside is drawn with the application's state.
    for cap in [gl::BLEND, gl::STENCIL_TEST, gl::DEPTH_TEST, gl::CULL_FACE, gl::SAMPLE_MASK, gl::SAMPLE_COVERAGE] {
        t.disable(cap);
    }
    t.polygon_mode(gl::FRONT_AND_BACK, gl::FILL);
    t.raw.LogicOp(gl::INVERT);
    t.viewport(0, 0, 8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0; 4]);
    t.vertex_array();
    t.fill();
    t.area(&t.read(8, 8), (0, 0, 8, 8), [0, 153, 0, 51], 0, "drawn with the logic operation");
}

unsafe fn errors(t: &Scene) {
    t.target(4, 4);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let red = [1.0f32, 0.0, 0.0, 1.0];
    let most = t.get_parameter_i32(gl::MAX_DRAW_BUFFERS) as u32;
    t.clear_buffer_f32_slice(gl::COLOR, most, &red);
    t.error(gl::INVALID_VALUE, "a draw buffer past the last");
    t.clear_buffer_f32_slice(gl::DEPTH, 1, &[0.5]);
    t.error(gl::INVALID_VALUE, "a second depth buffer");
    t.clear_buffer_i32_slice(gl::STENCIL, 1, &[5]);
    t.error(gl::INVALID_VALUE, "a second stencil buffer");
    t.clear_buffer_f32_slice(gl::STENCIL, 0, &red);
    t.error(gl::INVALID_ENUM, "stencil as floats");
    t.clear_buffer_i32_slice(gl::DEPTH, 0, &[0; 4]);
    t.error(gl::INVALID_ENUM, "depth as integers");
    t.clear_buffer_u32_slice(gl::STENCIL, 0, &[0; 4]);
    t.error(gl::INVALID_ENUM, "stencil as unsigned integers");
    t.clear_buffer_depth_stencil(gl::DEPTH, 0, 0.5, 1);
    t.error(gl::INVALID_ENUM, "depth alone with both values");
    t.clear_buffer_depth_stencil(gl::DEPTH_STENCIL, 1, 0.5, 1);
    t.error(gl::INVALID_VALUE, "a second depth and stencil buffer");
    t.clear(gl::COLOR_BUFFER_BIT | 0x200);
    t.error(gl::INVALID_VALUE, "the accumulation buffer of old");
    t.clear(0);
    t.no_error("a clear of nothing");
    t.clear_buffer_f32_slice(gl::COLOR, 3, &red);
    t.no_error("a draw buffer that is NONE");
    t.area(&t.read(4, 4), (0, 0, 4, 4), [0, 255, 0, 255], 0, "failing clears write nothing");
    let empty = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(empty));
    t.clear_buffer_f32_slice(gl::COLOR, 0, &red);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "an incomplete framebuffer");
}
