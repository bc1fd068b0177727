//! The default framebuffer: its queries, its draw buffers, and a multisampled one.

use glow::{self as gl, HasContext as _};

use crate::egl::ContextRequest;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("default_framebuffer_queries", queries)
        .without_reference("Mesa 22.3 draws into the back buffer of pbuffers that have none"),
    Scenario::new("default_framebuffer_draw_buffers", draw_buffers),
    Scenario::new("default_framebuffer_multisampled", multisampled)
        .with(ContextRequest { samples: 4, ..ContextRequest::DEFAULT })
        .without_reference("llvmpipe reads one sample of each pixel of a multisampled pbuffer"),
];

unsafe fn queries(t: &Scene) {
    let number = |name: u32| t.get_parameter_i32(name);
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    t.equal([number(gl::DRAW_FRAMEBUFFER_BINDING), number(gl::READ_FRAMEBUFFER_BINDING)], [0, 0], "bindings");
    t.equal(t.check_framebuffer_status(gl::FRAMEBUFFER), gl::FRAMEBUFFER_COMPLETE, "status");
    t.equal([number(gl::SAMPLES), number(gl::SAMPLE_BUFFERS)], [0, 0], "no samples");
    t.equal(number(gl::STEREO), 0, "STEREO");
    let doubled = number(gl::DOUBLEBUFFER) != 0;
    let place = if doubled { gl::BACK } else { gl::FRONT };
    t.equal([number(gl::DRAW_BUFFER), number(gl::DRAW_BUFFER0), number(gl::READ_BUFFER)], [place as i32; 3], "buffers");
    for i in 1..8 {
        t.equal(number(gl::DRAW_BUFFER0 + i), gl::NONE as i32, &format!("draw buffer {i}"));
    }
    let get = |attachment, name| t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, attachment, name);
    let color = if doubled { gl::BACK_LEFT } else { gl::FRONT_LEFT };
    for attachment in [color, gl::DEPTH, gl::STENCIL] {
        let what = format!("attachment {attachment:#x}");
        t.equal(get(attachment, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32, 0x8218, &what);
        t.equal(get(attachment, gl::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) as u32, gl::LINEAR, &what);
    }
    t.equal(get(color, gl::FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE), 8, "alpha bits");
    t.equal(get(gl::DEPTH, gl::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) as u32, 0x8C17, "depth is normalized");
    t.no_error("queries of what is there");
    get(gl::COLOR_ATTACHMENT0, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
    t.check(t.get_error() != gl::NO_ERROR, "attachments of framebuffer objects");
    get(color, gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL);
    t.check(t.get_error() != gl::NO_ERROR, "what only textures have");
    // The colours of the queries belong to the framebuffer that is bound for drawing.
    t.target(4, 4);
    t.equal(number(gl::DRAW_BUFFER) as u32, gl::COLOR_ATTACHMENT0, "of an object");
    t.bind_framebuffer(gl::DRAW_FRAMEBUFFER, None);
    t.equal(number(gl::DRAW_BUFFER) as u32, place, "of the default framebuffer again");
    t.equal(number(gl::READ_BUFFER) as u32, gl::COLOR_ATTACHMENT0, "the read buffer of the object");
}

unsafe fn draw_buffers(t: &Scene) {
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    let pixel = |x: i32| {
        let mut v = [0u8; 4];
        t.read_pixels(x, 1, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut v)));
        [v[0], v[1], v[2]]
    };
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    // The second output goes to the back buffer, the first nowhere.
    let program = t.program(
        FULL_VS,
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
         void main() { a = vec4(1.0, 0.0, 0.0, 1.0); b = vec4(0.0, 1.0, 0.0, 1.0); }",
    );
    t.vertex_array();
    t.draw_buffers(&[gl::NONE, gl::BACK_LEFT]);
    t.no_error("the second output");
    let bound = [t.get_parameter_i32(gl::DRAW_BUFFER0) as u32, t.get_parameter_i32(gl::DRAW_BUFFER1) as u32];
    t.equal(bound, [gl::NONE, gl::BACK_LEFT], "draw buffers");
    t.fill();
    t.equal(pixel(3), [0, 255, 0], "the second output");
    t.clear_buffer_f32_slice(gl::COLOR, 1, &[1.0, 1.0, 0.0, 1.0]);
    t.equal(pixel(3), [255, 255, 0], "a clear of the second draw buffer");
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[0.0; 4]);
    t.equal(pixel(3), [255, 255, 0], "a clear of none");
    // The state comes back when the framebuffer does.
    t.target(4, 4);
    t.use_program(Some(program));
    t.fill();
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    t.viewport(0, 0, 64, 64);
    let bound = [t.get_parameter_i32(gl::DRAW_BUFFER0) as u32, t.get_parameter_i32(gl::DRAW_BUFFER1) as u32];
    t.equal(bound, [gl::NONE, gl::BACK_LEFT], "draw buffers after another framebuffer");
    t.fill();
    t.equal(pixel(3), [0, 255, 0], "the second output again");
    t.draw_buffer(gl::BACK);
    t.fill();
    t.equal(pixel(3), [255, 0, 0], "the first output");
    t.draw_buffers(&[gl::BACK_LEFT, gl::BACK_LEFT]);
    t.error(gl::INVALID_OPERATION, "one buffer twice");
    t.draw_buffers(&[gl::COLOR_ATTACHMENT0]);
    t.error(gl::INVALID_OPERATION, "an attachment of objects");
    t.draw_buffers(&[gl::BACK_RIGHT]);
    t.error(gl::INVALID_OPERATION, "a buffer that is not there");
    t.draw_buffers(&[gl::FRONT_AND_BACK]);
    t.check(t.get_error() != gl::NO_ERROR, "several buffers at once");
    t.fill();
    t.equal(pixel(3), [255, 0, 0], "after the errors");
}

unsafe fn multisampled(t: &Scene) {
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    let samples = t.get_parameter_i32(gl::SAMPLES);
    t.check(samples >= 4, format!("{samples} samples"));
    t.equal(t.get_parameter_i32(gl::SAMPLE_BUFFERS), 1, "SAMPLE_BUFFERS");
    t.clear_color(0.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    // An edge through the middle of the pixels: some are partly covered, and the others wholly or not at all.
    t.positions(&[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    // Unlike objects, the default framebuffer is read although it has samples: they are resolved (GL 3.3 section 4.3.1).
    let picture = t.read(64, 64);
    t.no_error("glReadPixels of samples");
    t.equal(picture.pixel(5, 5)[0], 255, "inside");
    t.equal(picture.pixel(60, 60)[0], 0, "outside");
    let partly = (0..64).filter(|i| (1..255).contains(&picture.pixel(*i, 63 - *i)[0])).count();
    t.check(partly > 50, format!("only {partly} pixels of the diagonal are partly covered"));
    // Copies read it as well, and blits resolve it.
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, 64, 64, 0);
    t.no_error("glCopyTexImage2D of samples");
    let copied = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 64 * 64);
    let target = t.target(64, 64);
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, None);
    t.blit_framebuffer(0, 0, 64, 64, 0, 0, 64, 64, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    let blitted = t.read(64, 64);
    for (x, y) in [(5, 5), (60, 60), (32, 31), (10, 53), (31, 32)] {
        let read = picture.pixel(x, y)[0];
        t.check(copied[y * 64 + x][0].abs_diff(read) <= 1, format!("copied ({x}, {y}): {:?}", copied[y * 64 + x]));
        t.check(blitted.pixel(x, y)[0].abs_diff(read) <= 1, format!("blitted ({x}, {y}): {:?}", blitted.pixel(x, y)));
    }
}
