//! What no sane program does: the driver answers with the specified error or draws nothing, and Vulkan never hears of it.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("hostile_feedback_varying_count", feedback_varying_count),
    Scenario::new("hostile_copies_onto_themselves", copies_onto_themselves),
    Scenario::new("hostile_linear_filter_of_depth", linear_filter_of_depth),
    Scenario::new("hostile_pixel_store_beyond_buffer", pixel_store_beyond_buffer),
    Scenario::new("hostile_depths_that_are_no_numbers", depths_that_are_no_numbers),
    Scenario::new("hostile_geometry_without_vertices", geometry_without_vertices),
    Scenario::new("hostile_image_larger_than_memory", image_larger_than_memory),
];

/// Draws green over everything and checks one pixel: the context still works.
unsafe fn still_draws(t: &Scene, size: i32, what: &str) {
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(size, size), 1, 1, [0, 255, 0, 255], 0, what);
}

unsafe fn feedback_varying_count(t: &Scene) {
    t.target(4, 4);
    let program = t.create_program().unwrap();
    // The count is refused before any name is looked at: all but the first are not there.
    let names = [c"o".as_ptr()];
    t.raw.TransformFeedbackVaryings(program.0.get(), i32::MAX, names.as_ptr(), gl::SEPARATE_ATTRIBS);
    t.error(gl::INVALID_VALUE, "more separate varyings than there are buffers");
    t.raw.TransformFeedbackVaryings(program.0.get(), -1, names.as_ptr(), gl::INTERLEAVED_ATTRIBS);
    t.error(gl::INVALID_VALUE, "a negative count");
    still_draws(t, 4, "after refused varyings");
}

unsafe fn copies_onto_themselves(t: &Scene) {
    let target = t.target(8, 8);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
    // Every texel is the same, so that the undefined result of an overlap is known.
    for (x, y, width, height) in [(0, 0, 8, 8), (1, 1, 7, 7), (0, 2, 4, 4)] {
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, x, y, 0, 0, width, height);
        t.blit_framebuffer(0, 0, width, height, x, y, x + width, y + height, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    }
    t.no_error("copies within one image");
    t.pixel(&t.read(8, 8), 3, 3, [0, 0, 255, 255], 0, "a copy onto itself");
    t.bind_texture(gl::TEXTURE_2D, None);
    still_draws(t, 8, "after the copies");
}

unsafe fn linear_filter_of_depth(t: &Scene) {
    t.target(4, 4);
    let program = t.program(
        FULL_VS,
        "#version 330 core\nuniform sampler2D s; out vec4 c; void main() { c = vec4(texture(s, vec2(0.5)).r, 0.0, 0.0, 1.0); }",
    );
    t.set_int(program, "s", 0);
    t.vertex_array();
    for (format, kind) in [(gl::DEPTH_COMPONENT24, gl::UNSIGNED_INT), (gl::DEPTH_COMPONENT16, gl::UNSIGNED_INT)] {
        let texels = [u32::MAX; 4];
        t.texture_of(2, 2, format, gl::DEPTH_COMPONENT, kind, &texels);
        t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
        t.fill();
        t.pixel(&t.read(4, 4), 1, 1, [255, 0, 0, 255], 0, "depth through a linear filter");
    }
}

unsafe fn pixel_store_beyond_buffer(t: &Scene) {
    let target = t.target(4, 4);
    t.buffer(gl::PIXEL_PACK_BUFFER, &[0u8; 64]);
    let read = |width, height, kind, offset| {
        t.read_pixels(0, 0, width, height, gl::RGBA, kind, gl::PixelPackData::BufferOffset(offset));
    };
    read(0, 0, gl::UNSIGNED_BYTE, 4000);
    t.no_error("nothing is packed nowhere");
    read(4, 4, gl::UNSIGNED_BYTE, 4);
    t.error(gl::INVALID_OPERATION, "four bytes too many");
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, i32::MAX);
    t.pixel_store_i32(gl::PACK_SKIP_ROWS, i32::MAX);
    t.pixel_store_i32(gl::PACK_SKIP_PIXELS, i32::MAX);
    read(4, 4, gl::FLOAT, 0);
    t.error(gl::INVALID_OPERATION, "glReadPixels to an address that overflows");
    t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
    t.get_tex_image(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, gl::PixelPackData::BufferOffset(0));
    t.error(gl::INVALID_OPERATION, "glGetTexImage to an address that overflows");
    for name in [gl::PACK_ROW_LENGTH, gl::PACK_SKIP_ROWS, gl::PACK_SKIP_PIXELS] {
        t.pixel_store_i32(name, 0);
    }
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.bind_texture(gl::TEXTURE_2D, None);
    still_draws(t, 4, "after refused transfers");
}

unsafe fn depths_that_are_no_numbers(t: &Scene) {
    t.target(4, 4);
    t.depth_range_f64(f64::NAN, f64::INFINITY);
    t.clear_depth_f64(f64::NAN);
    t.clear(gl::DEPTH_BUFFER_BIT);
    t.clear_buffer_f32_slice(gl::DEPTH, 0, &[f32::NAN]);
    still_draws(t, 4, "with a depth range from NaN to infinity");
    t.no_error("depths that are no numbers");
}

unsafe fn geometry_without_vertices(t: &Scene) {
    t.target(4, 4);
    for source in [
        "#version 330 core\nlayout(triangles) in; layout(points, max_vertices = 0) out; void main() {}",
        "#version 330 core\nlayout(triangles) in; layout(points, max_vertices = 1) out; void main() {}",
    ] {
        let stages = [(gl::VERTEX_SHADER, FULL_VS), (gl::GEOMETRY_SHADER, source), (gl::FRAGMENT_SHADER, COLOR_FS)];
        // A linker may refuse a shader that never emits; what it accepts must draw nothing.
        let Ok(program) = t.try_program(&stages, |_| ()) else { continue };
        t.use_program(Some(program));
        t.vertex_array();
        t.fill();
        t.no_error("a geometry shader without vertices");
        t.pixel(&t.read(4, 4), 1, 1, [0, 0, 0, 0], 0, "nothing is drawn");
    }
    still_draws(t, 4, "after empty geometry");
}

unsafe fn image_larger_than_memory(t: &Scene) {
    let side = t.get_parameter_i32(gl::MAX_3D_TEXTURE_SIZE);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_3D, Some(texture));
    let nothing = gl::PixelUnpackData::Slice(None);
    t.tex_image_3d(gl::TEXTURE_3D, 0, gl::RGBA32F as i32, side, side, side, 0, gl::RGBA, gl::FLOAT, nothing);
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(texture), 0, 0);
    if t.check_framebuffer_status(gl::FRAMEBUFFER) == gl::FRAMEBUFFER_COMPLETE {
        t.clear(gl::COLOR_BUFFER_BIT);
    }
    // An implementation may refuse the image, notice at its first use, which may lie behind, or have the memory.
    t.finish();
    let error = t.get_error();
    t.check(matches!(error, gl::OUT_OF_MEMORY | gl::NO_ERROR), format!("the error is {error:#06x}"));
    while t.get_error() != gl::NO_ERROR {}
    t.bind_texture(gl::TEXTURE_3D, None);
    t.target(4, 4);
    still_draws(t, 4, "after an image that is too large");
}
