//! Clears: colour, depth, stencil and integer buffers, with scissor and write masks.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("clear_color", color),
    Scenario::new("clear_default_framebuffer", default_framebuffer),
    Scenario::new("clear_scissored", scissored),
    Scenario::new("clear_masked", masked),
    Scenario::new("clear_depth", depth),
    Scenario::new("clear_stencil_masked", stencil_masked),
    Scenario::new("clear_integer", integer),
    Scenario::new("clear_buffer_per_attachment", per_attachment),
    Scenario::new("clear_float_unclamped", float_unclamped),
    Scenario::new("clear_discarded_by_rasterizer_discard", rasterizer_discard),
];

unsafe fn color(t: &Scene) {
    t.target(33, 17);
    t.clear_color(0.25, 0.5, 0.75, 0.5);
    t.clear(gl::COLOR_BUFFER_BIT);
    let picture = t.read(33, 17);
    t.area(&picture, (0, 0, 33, 17), [64, 128, 191, 128], 1, "clear colour");
    t.compare("picture", &picture, Tolerance::EXACT);
    // Values outside 0..1 are clamped when a normalised buffer is cleared (GL 3.3 section 4.2.3).
    t.clear_color(-1.0, 2.0, 0.0, 7.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.area(&t.read(33, 17), (0, 0, 33, 17), [0, 255, 0, 255], 0, "clamped clear colour");
}

unsafe fn default_framebuffer(t: &Scene) {
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    t.equal(t.check_framebuffer_status(gl::FRAMEBUFFER), gl::FRAMEBUFFER_COMPLETE, "default framebuffer");
    t.viewport(0, 0, 64, 64);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear_depth_f64(0.5);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    // The triangle of FULL_VS lies at window depth 0.5; a depth range moves it behind, then before the cleared depth.
    t.enable(gl::DEPTH_TEST);
    t.depth_range_f64(0.75, 0.75);
    t.scissor(0, 0, 32, 64);
    t.enable(gl::SCISSOR_TEST);
    t.fill();
    t.depth_range_f64(0.25, 0.25);
    t.scissor(32, 0, 32, 64);
    t.fill();
    let picture = t.read(64, 64);
    t.area(&picture, (0, 0, 32, 64), [0, 0, 255, 255], 0, "behind the cleared depth");
    t.area(&picture, (32, 0, 64, 64), [255, 255, 0, 255], 0, "before the cleared depth");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn scissored(t: &Scene) {
    t.target(32, 32);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.enable(gl::SCISSOR_TEST);
    t.scissor(5, 7, 10, 3);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    // An empty scissor box rejects everything, and one that leaves the buffer is cut.
    t.scissor(0, 0, 0, 0);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.scissor(28, -4, 100, 6);
    t.clear(gl::COLOR_BUFFER_BIT);
    let picture = t.read(32, 32);
    t.equal(picture.count(|p| p == [0, 255, 0, 255]), 30, "scissored pixels");
    t.equal(picture.count(|p| p == [0, 0, 255, 255]), 8, "pixels of the cut box");
    t.pixel(&picture, 5, 7, [0, 255, 0, 255], 0, "first scissored pixel");
    t.pixel(&picture, 14, 9, [0, 255, 0, 255], 0, "last scissored pixel");
    t.pixel(&picture, 15, 9, [255, 0, 0, 255], 0, "right of the box");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn masked(t: &Scene) {
    t.target(16, 16);
    t.clear_color(0.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.color_mask(true, false, true, false);
    t.clear_color(1.0, 1.0, 0.5, 0.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.color_mask(true, true, true, true);
    let picture = t.read(16, 16);
    t.area(&picture, (0, 0, 16, 16), [255, 0, 128, 255], 1, "masked clear");
    t.compare("picture", &picture, Tolerance::EXACT);
}

/// Reads the depth buffer of a 16 × 16 target back as floats.
unsafe fn depths(t: &Scene) -> Vec<f32> {
    t.read_as::<f32>(16, 16, gl::DEPTH_COMPONENT, gl::FLOAT, 256)
}

unsafe fn depth(t: &Scene) {
    t.target(16, 16);
    t.clear_depth_f64(0.375);
    t.clear(gl::DEPTH_BUFFER_BIT);
    t.near(depths(t)[17], 0.375, 1e-6, "cleared depth");
    // The depth write mask applies to clears; the depth test does not.
    t.depth_mask(false);
    t.clear_depth_f64(0.9);
    t.clear(gl::DEPTH_BUFFER_BIT);
    t.near(depths(t)[17], 0.375, 1e-6, "masked depth clear");
    t.depth_mask(true);
    t.depth_func(gl::NEVER);
    t.enable(gl::DEPTH_TEST);
    t.enable(gl::SCISSOR_TEST);
    t.scissor(0, 0, 8, 16);
    t.clear_buffer_f32_slice(gl::DEPTH, 0, &[0.125]);
    let d = depths(t);
    t.near(d[3], 0.125, 1e-6, "glClearBufferfv in the scissor box");
    t.near(d[12], 0.375, 1e-6, "glClearBufferfv outside the scissor box");
    t.compare_values("depth", &d, 1e-5);
}

unsafe fn stencil_masked(t: &Scene) {
    t.target(16, 16);
    t.clear_stencil(0x0f);
    t.clear(gl::STENCIL_BUFFER_BIT);
    t.stencil_mask(0x3c);
    t.clear_stencil(0xf0);
    t.clear(gl::STENCIL_BUFFER_BIT);
    t.stencil_mask(0xff);
    let s = t.read_as::<u8>(16, 16, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, 256);
    // 0x0f with the bits of 0x3c replaced by those of 0xf0.
    t.check(s.iter().all(|v| *v == 0x33), format!("masked stencil clear gave {:#04x}, expected 0x33", s[0]));
    t.clear_buffer_depth_stencil(gl::DEPTH_STENCIL, 0, 0.25, 0x1a5);
    let packed = t.read_as::<u32>(16, 16, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 256);
    t.equal(packed[40] & 0xff, 0xa5, "glClearBufferfi stencil, high bits cut");
    t.near((packed[40] >> 8) as f32 / 16_777_215.0, 0.25, 1e-6, "glClearBufferfi depth");
}

unsafe fn integer(t: &Scene) {
    t.target_of(8, 8, gl::RGBA32UI);
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[1, 0x8000_0000, 0xffff_ffff, 70000]);
    let v = t.read_as::<[u32; 4]>(8, 8, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 64);
    t.check(v.iter().all(|p| *p == [1, 0x8000_0000, 0xffff_ffff, 70000]), format!("RGBA32UI clear gave {:?}", v[0]));
    t.target_of(8, 8, gl::RGBA16I);
    t.clear_buffer_i32_slice(gl::COLOR, 0, &[-5, 32767, -32768, 12]);
    let v = t.read_as::<[i32; 4]>(8, 8, gl::RGBA_INTEGER, gl::INT, 64);
    t.check(v.iter().all(|p| *p == [-5, 32767, -32768, 12]), format!("RGBA16I clear gave {:?}", v[0]));
    t.target_of(8, 8, gl::RGBA8UI);
    t.color_mask(false, true, true, true);
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[9, 8, 255, 0]);
    let v = t.read_as::<[u32; 4]>(8, 8, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 64);
    t.check(v.iter().all(|p| *p == [0, 8, 255, 0]), format!("masked RGBA8UI clear gave {:?}", v[0]));
}

unsafe fn per_attachment(t: &Scene) {
    let textures: Vec<_> = (0..3).map(|_| t.texture(8, 8, &[[10, 20, 30, 40]; 64])).collect();
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (i, texture) in textures.iter().enumerate() {
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0 + i as u32, gl::TEXTURE_2D, Some(*texture), 0);
    }
    t.complete();
    // Draw buffer 0 is attachment 2, draw buffer 1 is nothing, draw buffer 2 is attachment 1; attachment 0 is left alone.
    t.draw_buffers(&[gl::COLOR_ATTACHMENT2, gl::NONE, gl::COLOR_ATTACHMENT1]);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[1.0, 0.0, 0.0, 1.0]);
    t.clear_buffer_f32_slice(gl::COLOR, 1, &[1.0, 1.0, 1.0, 1.0]);
    t.clear_buffer_f32_slice(gl::COLOR, 2, &[0.0, 0.0, 1.0, 1.0]);
    for (i, expected) in [[10, 20, 30, 40], [0, 0, 255, 255], [255, 0, 0, 255]].into_iter().enumerate() {
        t.read_buffer(gl::COLOR_ATTACHMENT0 + i as u32);
        t.area(&t.read(8, 8), (0, 0, 8, 8), expected, 0, &format!("attachment {i}"));
    }
    // glClear clears every draw buffer.
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    for (i, expected) in [[10, 20, 30, 40], [0, 255, 0, 255], [0, 255, 0, 255]].into_iter().enumerate() {
        t.read_buffer(gl::COLOR_ATTACHMENT0 + i as u32);
        t.area(&t.read(8, 8), (0, 0, 8, 8), expected, 0, &format!("attachment {i} after glClear"));
    }
}

unsafe fn float_unclamped(t: &Scene) {
    t.target_of(8, 8, gl::RGBA32F);
    t.clear_color(-2.5, 1000.0, 0.125, 4.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let v = t.read_floats(8, 8);
    for (i, expected) in [-2.5, 1000.0, 0.125, 4.0].into_iter().enumerate() {
        t.near(v[9][i], expected, 0.0, "RGBA32F clear is not clamped");
    }
}

unsafe fn rasterizer_discard(t: &Scene) {
    t.target(8, 8);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.enable(gl::RASTERIZER_DISCARD);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[0.0, 0.0, 1.0, 1.0]);
    t.disable(gl::RASTERIZER_DISCARD);
    // GL 3.3 section 3.1: Clear and ClearBuffer have no effect while RASTERIZER_DISCARD is enabled.
    t.area(&t.read(8, 8), (0, 0, 8, 8), [255, 0, 0, 255], 0, "clear under RASTERIZER_DISCARD");
}
