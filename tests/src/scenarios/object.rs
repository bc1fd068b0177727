//! Object lifetime: names and handles that come back, deletion while attached or bound, churn of all kinds.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("object_texture_recycled", texture_recycled),
    Scenario::new("object_buffer_recycled", buffer_recycled),
    Scenario::new("object_framebuffer_recycled", framebuffer_recycled),
    Scenario::new("object_everything_recycled", everything_recycled),
    Scenario::new("object_rendered_texture_after_deletion", rendered_after_deletion),
    Scenario::new("object_deleted_texture_attached", deleted_attached),
    Scenario::new("object_names", names),
    Scenario::new("object_upload_churn", upload_churn),
];

/// Delete and re-create under the same name, with the same size and format and other contents.
unsafe fn texture_recycled(t: &Scene) {
    t.target(64, 8);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.enable(gl::SCISSOR_TEST);
    let mut n_reused = 0;
    let mut last = None;
    for i in 0..64u8 {
        let texture = t.texture(4, 4, &[[i * 4, 255 - i * 4, i, 255]; 16]);
        n_reused += i32::from(last == Some(texture));
        t.scissor(i32::from(i), 0, 1, 8);
        t.fill();
        t.delete_texture(texture);
        last = Some(texture);
    }
    let picture = t.read(64, 8);
    for i in 0..64u8 {
        t.pixel(
            &picture,
            usize::from(i),
            4,
            [i * 4, 255 - i * 4, i, 255],
            0,
            &format!("texture {i} ({n_reused} names came back)"),
        );
    }
    t.compare("picture", &picture, Tolerance::EXACT);
    // The same while the texture stays bound to other units through its old name's bindings.
    let old = t.texture(4, 4, &[[255, 0, 0, 255]; 16]);
    t.active_texture(gl::TEXTURE5);
    t.bind_texture(gl::TEXTURE_2D, Some(old));
    t.active_texture(gl::TEXTURE0);
    t.delete_texture(old);
    let new = t.texture(4, 4, &[[0, 0, 255, 255]; 16]);
    t.active_texture(gl::TEXTURE5);
    t.equal(t.get_parameter_texture(gl::TEXTURE_BINDING_2D), None, "deletion unbinds from every unit");
    t.active_texture(gl::TEXTURE0);
    t.disable(gl::SCISSOR_TEST);
    t.fill();
    t.pixel(&t.read(64, 8), 9, 4, [0, 0, 255, 255], 0, "the new texture");
    t.delete_texture(new);
}

unsafe fn buffer_recycled(t: &Scene) {
    t.target(64, 8);
    let program = t.program(POSITION_VS, COLOR_FS);
    let color = t.uniform(program, "color");
    let array = t.vertex_array();
    t.enable_vertex_attrib_array(0);
    for i in 0..64 {
        let x = i as f32 / 32.0 - 1.0;
        let vertices =
            t.buffer(gl::ARRAY_BUFFER, &[[x, -1.0], [x + 1.0 / 32.0, -1.0], [x, 1.0], [x + 1.0 / 32.0, 1.0]]);
        t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 0, 0);
        // The index order differs too, so that a stale index buffer shows as a hole.
        let indices: [u8; 6] = if i % 2 == 0 { [0, 1, 2, 2, 1, 3] } else { [3, 2, 1, 1, 2, 0] };
        let elements = t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices);
        t.uniform_4_f32(Some(&color), i as f32 / 255.0, 1.0, 0.0, 1.0);
        t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_BYTE, 0);
        t.delete_buffer(vertices);
        t.delete_buffer(elements);
        t.bind_vertex_array(Some(array));
    }
    let picture = t.read(64, 8);
    for i in 0..64u8 {
        t.area(&picture, (usize::from(i), 0, usize::from(i) + 1, 8), [i, 255, 0, 255], 0, &format!("draw {i}"));
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn framebuffer_recycled(t: &Scene) {
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.viewport(0, 0, 8, 8);
    let textures: Vec<_> = (0..8u8).map(|i| t.texture(8, 8, &[[i, i, i, 255]; 64])).collect();
    // Twice over all textures through framebuffers that come and go, every third one with another attachment first.
    for round in 0..2u8 {
        for i in 0..8usize {
            let framebuffer = t.create_framebuffer().unwrap();
            t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
            let first = if i % 3 == 0 { (i + 1) % 8 } else { i };
            for k in [first, i] {
                t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(textures[k]), 0);
            }
            t.complete();
            t.enable(gl::SCISSOR_TEST);
            t.scissor(i32::from(round) * 4, 0, 4, 8);
            t.set_vec4(program, "color", [(i as f32 * 20.0 + f32::from(round)) / 255.0, 1.0, 0.0, 1.0]);
            t.fill();
            t.delete_framebuffer(framebuffer);
        }
    }
    for (i, texture) in textures.iter().enumerate() {
        t.framebuffer_of(*texture);
        let picture = t.read(8, 8);
        t.area(&picture, (0, 0, 4, 8), [i as u8 * 20, 255, 0, 255], 0, &format!("texture {i}, first round"));
        t.area(&picture, (4, 0, 8, 8), [i as u8 * 20 + 1, 255, 0, 255], 0, &format!("texture {i}, second round"));
    }
}

/// Programs, samplers, arrays, textures, buffers and targets all die and come back every frame.
unsafe fn everything_recycled(t: &Scene) {
    for frame in 0..40u8 {
        let target = t.target(8, 8);
        let texture = t.texture(1, 1, &[[frame * 6, 10, 20, 255]]);
        let sampler = t.create_sampler().unwrap();
        t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
        t.sampler_parameter_i32(sampler, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
        t.bind_sampler(0, Some(sampler));
        let swap = if frame % 2 == 0 { "rgba" } else { "grba" };
        let fragment = format!("uniform sampler2D image; in vec2 uv; out vec4 result; void main() {{ result = texture(image, uv).{swap}; }}");
        let program = t.program(FULL_VS, &fragment);
        let array = t.vertex_array();
        t.fill();
        let expected = if frame % 2 == 0 { [frame * 6, 10, 20, 255] } else { [10, frame * 6, 20, 255] };
        t.area(&t.read(8, 8), (0, 0, 8, 8), expected, 0, &format!("frame {frame}"));
        t.bind_framebuffer(gl::FRAMEBUFFER, None);
        t.delete_framebuffer(target.framebuffer);
        t.delete_texture(target.texture);
        t.delete_texture(texture);
        t.delete_sampler(sampler);
        t.delete_vertex_array(array);
        t.use_program(None);
        t.delete_program(program);
    }
}

unsafe fn rendered_after_deletion(t: &Scene) {
    // A picture is rendered, its framebuffer's name deleted, the texture drawn with, and deleted before anything is read.
    let program = t.program(
        FULL_VS,
        "in vec2 uv; uniform vec4 color; out vec4 result; void main() { result = vec4(uv, color.b, 1.0); }",
    );
    let copy = t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    let shown = t.target(32, 32);
    t.enable(gl::SCISSOR_TEST);
    for i in 0..4 {
        let inner = t.target(16, 16);
        t.disable(gl::SCISSOR_TEST);
        t.use_program(Some(program));
        t.set_vec4(program, "color", [0.0, 0.0, 0.25 * i as f32, 0.0]);
        t.fill();
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(shown.framebuffer));
        t.delete_framebuffer(inner.framebuffer);
        t.use_program(Some(copy));
        t.bind_texture(gl::TEXTURE_2D, Some(inner.texture));
        t.viewport((i % 2) * 16, (i / 2) * 16, 16, 16);
        t.fill();
        t.delete_texture(inner.texture);
    }
    let picture = t.read(32, 32);
    for i in 0..4usize {
        let (x, y) = ((i % 2) * 16, (i / 2) * 16);
        let b = (63.75 * i as f32).round() as u8;
        t.pixel(&picture, x + 4, y + 8, [72, 135, b, 255], 2, &format!("picture {i}"));
    }
    t.compare("picture", &picture, Tolerance::EDGES);
}

unsafe fn deleted_attached(t: &Scene) {
    // Deleting a texture detaches it from the bound framebuffer, and from no other.
    let (a, b) = (t.target(4, 4), t.target(4, 4));
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a.framebuffer));
    t.delete_texture(a.texture);
    let kind = t.get_framebuffer_attachment_parameter_i32(
        gl::FRAMEBUFFER,
        gl::COLOR_ATTACHMENT0,
        gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE,
    );
    t.equal(kind as u32, gl::NONE, "detached from the bound framebuffer");
    t.delete_texture(b.texture);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(b.framebuffer));
    t.complete();
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    // New textures may get the deleted one's name; the attachment is not theirs.
    let news: Vec<_> = (0..4).map(|_| t.texture(4, 4, &[[1, 2, 3, 4]; 16])).collect();
    t.pixel(&t.read(4, 4), 2, 2, [0, 255, 0, 255], 0, "a deleted texture that is still attached");
    for new in news {
        t.framebuffer_of(new);
        t.pixel(&t.read(4, 4), 2, 2, [1, 2, 3, 4], 0, "a new texture");
    }
    // A deleted bound framebuffer gives way to the default one.
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(b.framebuffer));
    t.delete_framebuffer(b.framebuffer);
    t.equal(t.get_parameter_framebuffer(gl::FRAMEBUFFER_BINDING), None, "binding after the deletion");
}

unsafe fn names(t: &Scene) {
    // Names that glGen* did not give are refused by core profiles; objects exist from the first binding on.
    t.raw.BindTexture(gl::TEXTURE_2D, 4711);
    t.error(gl::INVALID_OPERATION, "a texture name of the application's own");
    t.raw.BindBuffer(gl::ARRAY_BUFFER, 4711);
    t.error(gl::INVALID_OPERATION, "a buffer name of the application's own");
    t.raw.BindFramebuffer(gl::FRAMEBUFFER, 4711);
    t.error(gl::INVALID_OPERATION, "a framebuffer name of the application's own");
    let texture = t.create_texture().unwrap();
    t.check(!t.is_texture(texture), "a texture before its first binding");
    t.bind_texture(gl::TEXTURE_3D, Some(texture));
    t.check(t.is_texture(texture), "and after it");
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.error(gl::INVALID_OPERATION, "a 3D texture bound as 2D");
    t.delete_texture(texture);
    t.check(!t.is_texture(texture), "after the deletion");
    t.delete_texture(texture);
    t.no_error("deleted twice");
    let mut many = vec![0u32; 2000];
    t.raw.GenTextures(2000, many.as_mut_ptr());
    many.sort_unstable();
    many.dedup();
    t.check(many.len() == 2000 && many[0] != 0, "2000 different names");
    t.raw.GenTextures(-1, many.as_mut_ptr());
    t.error(gl::INVALID_VALUE, "a negative number of names");
}

/// Many textures and buffers filled, used and dropped in one frame: memory must not follow.
unsafe fn upload_churn(t: &Scene) {
    t.target(16, 16);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    let mut before = 0;
    let texels = vec![[7u8, 8, 9, 255]; 256 * 256];
    for i in 0..1600 {
        let texture = t.texture(256, 256, &texels);
        let buffer = t.buffer(gl::COPY_WRITE_BUFFER, &texels);
        t.fill();
        t.delete_texture(texture);
        t.delete_buffer(buffer);
        if i == 100 {
            before = crate::process::resident_bytes();
        }
    }
    t.pixel(&t.read(16, 16), 1, 1, [7, 8, 9, 255], 0, "the last texture");
    let grown = crate::process::resident_bytes().saturating_sub(before);
    // 1500 textures and as many buffers of 256 KiB are 750 MiB.
    t.check(grown < 512 << 20, format!("memory grew by {} MiB", grown >> 20));
}
