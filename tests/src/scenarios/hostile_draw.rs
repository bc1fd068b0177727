//! Draws, buffers, queries and sync objects as no sane program has them.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("hostile_vertices_far_away", vertices_far_away)
        .without_reference("Mesa 22.3 takes a first vertex below zero"),
    Scenario::new("hostile_uniform_ranges", uniform_ranges).without_reference("Mesa 22.3 takes negative offsets"),
    Scenario::new("hostile_capture_buffers", capture_buffers),
    Scenario::new("hostile_feedback_loops", feedback_loops),
    Scenario::new("hostile_samplers_deleted", samplers_deleted),
    Scenario::new("hostile_queries", queries),
    Scenario::new("hostile_sync_objects", sync_objects),
    Scenario::new("hostile_unpack_buffer", unpack_buffer),
    Scenario::new("hostile_sub_rectangles", sub_rectangles)
        .without_reference("Mesa 22.3 crashes in copies whose corner overflows"),
    Scenario::new("hostile_mappings", mappings).without_reference("Mesa 22.3 crashes in copies whose offset overflows"),
];

/// Draws green over everything and checks one pixel: the context still works.
pub(super) unsafe fn still_draws(t: &Scene, what: &str) {
    t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, what);
}

unsafe fn vertices_far_away(t: &Scene) {
    // Where there are no vertices a draw has undefined results, but no other consequences.
    t.target(4, 4);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.positions(&[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u32, 1, 2, u32::MAX, 0x8000_0000, 1]);
    t.draw_arrays(gl::TRIANGLES, i32::MAX - 3, 3);
    t.draw_arrays(gl::TRIANGLES, 1_000_000, 30);
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 0, i32::MAX);
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 0);
    t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_INT, 0);
    for base in [i32::MAX, i32::MIN, -1, 1 << 20] {
        t.draw_elements_base_vertex(gl::TRIANGLES, 6, gl::UNSIGNED_INT, 0, base);
    }
    // Indices past the end of their buffer, and at an address that is no multiple of their size.
    t.draw_elements(gl::TRIANGLES, 300, gl::UNSIGNED_INT, 0);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, i32::MAX - 3);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 1);
    t.raw.DrawRangeElements(gl::TRIANGLES, 0, 2, 3, gl::UNSIGNED_INT, 12);
    // A divisor and a stride without measure, and an attribute that begins past the end.
    t.vertex_attrib_divisor(0, u32::MAX);
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 4);
    t.vertex_attrib_divisor(0, 0);
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 2048, 1 << 30);
    t.draw_arrays(gl::TRIANGLES, 0, 300);
    t.no_error("draws of what is not there");
    t.draw_arrays(gl::TRIANGLES, -1, 3);
    t.error(gl::INVALID_VALUE, "a first vertex below zero");
    t.draw_arrays(gl::TRIANGLES, 0, i32::MIN);
    t.error(gl::INVALID_VALUE, "a negative count");
    t.draw_elements(gl::TRIANGLES, -1, gl::UNSIGNED_INT, 0);
    t.error(gl::INVALID_VALUE, "a negative count of indices");
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, -1);
    t.error(gl::INVALID_VALUE, "a negative count of instances");
    t.raw.MultiDrawArrays(gl::TRIANGLES, [0, 0].as_ptr(), [3, -3].as_ptr(), 2);
    t.error(gl::INVALID_VALUE, "a negative count among several");
    t.raw.MultiDrawArrays(gl::TRIANGLES, std::ptr::null(), std::ptr::null(), -1);
    t.error(gl::INVALID_VALUE, "a negative number of draws");
    t.raw.MultiDrawArrays(gl::TRIANGLES, std::ptr::null(), std::ptr::null(), 0);
    t.no_error("no draws");
    still_draws(t, "after draws of what is not there");
}

unsafe fn uniform_ranges(t: &Scene) {
    t.target(4, 4);
    let program = t.program(
        FULL_VS,
        "layout(std140) uniform Block { vec4 list[64]; }; uniform int i; out vec4 c; void main() { c = list[i]; }",
    );
    t.set_int(program, "i", 63);
    t.vertex_array();
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[[0.0f32, 1.0, 0.0, 1.0]; 64]);
    let name = buffer.0.get();
    // A range that goes on past the end of its buffer is legal until something is read there.
    for (offset, size) in [(0isize, 1024isize), (0, 4096), (512, 4096), (1 << 20, 1024), (0, 16)] {
        t.raw.BindBufferRange(gl::UNIFORM_BUFFER, 0, name, offset, size);
        t.fill();
    }
    while t.get_error() != gl::NO_ERROR {}
    for (offset, size) in [(-256isize, 1024isize), (0, -1), (0, 0), (isize::MIN, 16), (1, 16)] {
        t.raw.BindBufferRange(gl::UNIFORM_BUFFER, 0, name, offset, size);
        t.error(gl::INVALID_VALUE, &format!("a range of {size} at {offset}"));
    }
    // An index far past the array.
    t.raw.BindBufferBase(gl::UNIFORM_BUFFER, 0, name);
    for index in [64, 1_000_000, i32::MAX, -1] {
        t.set_int(program, "i", index);
        t.fill();
    }
    // Smaller than what is bound, and gone.
    t.buffer_data_size(gl::UNIFORM_BUFFER, 0, gl::STATIC_DRAW);
    t.fill();
    t.delete_buffer(buffer);
    t.fill();
    while t.get_error() != gl::NO_ERROR {}
    still_draws(t, "after ranges of uniforms");
}

unsafe fn capture_buffers(t: &Scene) {
    t.target(4, 4);
    let stages = [(
        gl::VERTEX_SHADER,
        "out vec4 a; out vec4 b; void main() { gl_Position = vec4(0.0); a = vec4(1.0); b = vec4(2.0); }",
    )];
    let program = t.program_of(&stages, |program| {
        t.transform_feedback_varyings(program, &["a", "b"], gl::SEPARATE_ATTRIBS);
    });
    t.use_program(Some(program));
    t.vertex_array();
    t.enable(gl::RASTERIZER_DISCARD);
    let draw = |what: &str| {
        t.begin_transform_feedback(gl::POINTS);
        let begun = t.get_error() == gl::NO_ERROR;
        if begun {
            t.draw_arrays(gl::POINTS, 0, 8);
            t.end_transform_feedback();
            t.no_error(what);
        }
        begun
    };
    t.check(!draw("without a buffer"), "transform feedback without buffers begins");
    let small = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[0u8; 20]);
    let large = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[0u8; 4096]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(small));
    t.check(!draw("with one of two"), "transform feedback with one buffer of two begins");
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 1, Some(large));
    t.check(draw("a small one"), "transform feedback into a small buffer begins");
    // The same bytes twice: undefined values, nothing else.
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(large), 0, 256);
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 1, Some(large), 16, 256);
    draw("overlapping ranges");
    // A range past the end, and a buffer that shrinks under its binding.
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(small), 16, 4096);
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 1, Some(large), 4092, 4096);
    draw("ranges past the end");
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(large));
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 1, Some(large));
    t.buffer_data_size(gl::TRANSFORM_FEEDBACK_BUFFER, 0, gl::STATIC_DRAW);
    draw("an empty buffer");
    // Deleted while it captures.
    t.buffer_data_size(gl::TRANSFORM_FEEDBACK_BUFFER, 4096, gl::STATIC_DRAW);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(small));
    t.begin_transform_feedback(gl::POINTS);
    t.delete_buffer(small);
    t.draw_arrays(gl::POINTS, 0, 1);
    t.end_transform_feedback();
    while t.get_error() != gl::NO_ERROR {}
    t.disable(gl::RASTERIZER_DISCARD);
    still_draws(t, "after captures");
}

unsafe fn feedback_loops(t: &Scene) {
    // A draw that samples what it draws to has undefined results, also by way of depth, levels and copies.
    let target = t.target(8, 8);
    let program = t.program(FULL_VS, crate::scene::TEXTURE_FS);
    t.set_int(program, "image", 0);
    t.vertex_array();
    t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
    for _ in 0..3 {
        t.fill();
    }
    t.generate_mipmap(gl::TEXTURE_2D);
    t.fill();
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, 4, 4, 0);
    t.fill();
    // A new image while the framebuffer is bound: other size, other format, then none.
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::RGBA32F, [16, 2, 1], (gl::RGBA, gl::FLOAT), None);
    t.fill();
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::RGBA8, [0, 0, 1], (gl::RGBA, gl::UNSIGNED_BYTE), None);
    t.fill();
    while t.get_error() != gl::NO_ERROR {}
    let depth = t.texture_name(gl::TEXTURE_2D);
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::DEPTH24_STENCIL8, [8, 8, 1], (gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8), None);
    t.target(8, 8);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::TEXTURE_2D, Some(depth), 0);
    t.bind_texture(gl::TEXTURE_2D, Some(depth));
    t.enable(gl::DEPTH_TEST);
    t.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.use_program(Some(program));
    t.fill();
    t.disable(gl::DEPTH_TEST);
    t.no_error("a loop through the depth buffer");
    t.bind_texture(gl::TEXTURE_2D, None);
    still_draws(t, "after loops");
}

unsafe fn samplers_deleted(t: &Scene) {
    t.target(4, 4);
    let program = t.program(FULL_VS, crate::scene::TEXTURE_FS);
    t.set_int(program, "image", 0);
    t.vertex_array();
    let texture = t.texture(1, 1, &[[0, 255, 0, 255]]);
    let sampler = t.create_sampler().unwrap();
    t.bind_sampler(0, Some(sampler));
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.fill();
    t.delete_sampler(sampler);
    t.equal(t.get_parameter_i32(gl::SAMPLER_BINDING), 0, "a deleted sampler is unbound");
    t.clear(gl::COLOR_BUFFER_BIT);
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "the texture's own parameters");
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    let error = t.get_error();
    // The specification changed its mind about which error it is.
    t.check(matches!(error, gl::INVALID_VALUE | gl::INVALID_OPERATION), format!("a deleted sampler: {error:#06x}"));
    t.bind_sampler(0, Some(sampler));
    t.error(gl::INVALID_OPERATION, "binding a deleted sampler");
    t.bind_sampler(1_000_000, None);
    t.error(gl::INVALID_VALUE, "a unit that does not exist");
    t.delete_texture(texture);
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 0, 0, 255], 0, "a deleted texture is black");
}

unsafe fn queries(t: &Scene) {
    t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    let names: Vec<u32> = (0..3).map(|_| t.create_query().unwrap().0.get()).collect();
    let samples = gl::SAMPLES_PASSED;
    t.raw.BeginQuery(samples, 0);
    t.error(gl::INVALID_OPERATION, "query 0");
    t.raw.BeginQuery(samples, 44_444);
    t.error(gl::INVALID_OPERATION, "a name that was not generated");
    t.raw.BeginQuery(gl::TIMESTAMP, names[0]);
    t.error(gl::INVALID_ENUM, "a timestamp begins");
    t.raw.EndQuery(samples);
    t.error(gl::INVALID_OPERATION, "an end without a beginning");
    t.raw.BeginQuery(samples, names[0]);
    t.raw.BeginQuery(samples, names[1]);
    t.error(gl::INVALID_OPERATION, "two of one target");
    t.raw.BeginQuery(gl::PRIMITIVES_GENERATED, names[0]);
    t.error(gl::INVALID_OPERATION, "one of two targets");
    t.raw.BeginConditionalRender(names[0], gl::QUERY_WAIT);
    t.error(gl::INVALID_OPERATION, "a condition that is still counted");
    let mut value = 0;
    t.raw.GetQueryObjectiv(names[0], gl::QUERY_RESULT, &mut value);
    t.error(gl::INVALID_OPERATION, "a result that is still counted");
    t.raw.QueryCounter(names[0], gl::TIMESTAMP);
    t.error(gl::INVALID_OPERATION, "a timestamp in a query that counts");
    t.fill();
    // Deleted while it counts: it ends by itself, and its target is free.
    t.raw.DeleteQueries(1, &names[0]);
    t.raw.GetQueryiv(samples, gl::CURRENT_QUERY, &mut value);
    t.equal(value, 0, "no query counts any more");
    t.raw.BeginQuery(samples, names[1]);
    t.fill();
    t.raw.EndQuery(samples);
    t.raw.GetQueryObjectiv(names[1], gl::QUERY_RESULT, &mut value);
    t.equal(value, 16, "the next one counts");
    t.raw.BeginQuery(gl::ANY_SAMPLES_PASSED, names[1]);
    t.error(gl::INVALID_OPERATION, "a query of another target");
    // A condition that is deleted while it holds.
    t.raw.BeginConditionalRender(names[1], gl::QUERY_WAIT);
    t.raw.DeleteQueries(1, &names[1]);
    t.fill();
    t.raw.EndConditionalRender();
    while t.get_error() != gl::NO_ERROR {}
    t.raw.EndConditionalRender();
    t.error(gl::INVALID_OPERATION, "an end without a condition");
    still_draws(t, "after queries");
}

unsafe fn sync_objects(t: &Scene) {
    // Addresses that are no sync objects are looked up and never followed.
    let bad = [0usize, 1, 8, 0x1000, usize::MAX, usize::MAX - 7, (&raw const *t) as usize];
    for address in bad {
        let sync = std::ptr::without_provenance_mut(address);
        t.equal(t.raw.IsSync(sync), 0, "no sync object");
        t.equal(t.raw.ClientWaitSync(sync, 0, 0), gl::WAIT_FAILED, "waiting for none");
        t.error(gl::INVALID_VALUE, "waiting for none");
        t.raw.WaitSync(sync, 0, u64::MAX);
        t.error(gl::INVALID_VALUE, "a wait of the server for none");
        let mut value = 0;
        t.raw.GetSynciv(sync, gl::SYNC_STATUS, 1, std::ptr::null_mut(), &mut value);
        t.error(gl::INVALID_VALUE, "asking none");
        t.raw.DeleteSync(sync);
        t.error(if address == 0 { gl::NO_ERROR } else { gl::INVALID_VALUE }, "deleting none");
    }
    t.equal(t.raw.FenceSync(0, 0).is_null(), true, "a fence of nothing");
    t.error(gl::INVALID_ENUM, "a fence of nothing");
    t.equal(t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 1).is_null(), true, "a fence with flags");
    t.error(gl::INVALID_VALUE, "a fence with flags");
    let sync = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
    t.raw.ClientWaitSync(sync, 0xFFFF_FFFE, 0);
    t.error(gl::INVALID_VALUE, "flags that are none");
    t.raw.WaitSync(sync, 1, u64::MAX);
    t.error(gl::INVALID_VALUE, "a wait of the server with flags");
    t.raw.WaitSync(sync, 0, 5);
    t.error(gl::INVALID_VALUE, "a wait of the server with an end");
    t.raw.DeleteSync(sync);
    t.raw.DeleteSync(sync);
    t.error(gl::INVALID_VALUE, "deleted twice");
    for _ in 0..2_000 {
        let sync = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        t.raw.WaitSync(sync, 0, u64::MAX);
        t.raw.DeleteSync(sync);
    }
    t.no_error("two thousand of them");
    still_draws(t, "after sync objects");
}

unsafe fn unpack_buffer(t: &Scene) {
    t.target(4, 4);
    t.buffer(gl::PIXEL_UNPACK_BUFFER, &[0x40u8; 64]);
    t.texture_name(gl::TEXTURE_2D);
    let at = |offset: usize| std::ptr::without_provenance(offset);
    let whole = |offset, kind| {
        t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 4, 4, 0, gl::RGBA, kind, at(offset));
    };
    whole(0, gl::UNSIGNED_BYTE);
    t.no_error("as much as there is");
    for offset in [4, 64, 1 << 20, usize::MAX, usize::MAX - 63, isize::MAX as usize, 0x8000_0000] {
        whole(offset, gl::UNSIGNED_BYTE);
        t.error(gl::INVALID_OPERATION, &format!("an image at {offset}"));
    }
    t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 1, 1, 0, gl::RGBA, gl::UNSIGNED_SHORT, at(1));
    t.error(gl::INVALID_OPERATION, "shorts at an odd address");
    t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 1, 1, 0, gl::RGBA, gl::FLOAT, at(2));
    t.error(gl::INVALID_OPERATION, "floats at half an address");
    for name in [
        gl::UNPACK_ROW_LENGTH,
        gl::UNPACK_SKIP_ROWS,
        gl::UNPACK_SKIP_PIXELS,
        gl::UNPACK_SKIP_IMAGES,
        gl::UNPACK_IMAGE_HEIGHT,
    ] {
        t.pixel_store_i32(name, i32::MAX);
    }
    t.raw.TexImage2D(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 2, 2, 0, gl::RGBA, gl::FLOAT, at(0));
    t.error(gl::INVALID_OPERATION, "rows whose address overflows");
    t.raw.TexSubImage1D(gl::TEXTURE_1D, 0, 0, 1, gl::RGBA, gl::FLOAT, at(0));
    t.check(t.get_error() != gl::NO_ERROR, "a row whose address overflows");
    let volume = t.texture_name(gl::TEXTURE_3D);
    let nothing = gl::PixelUnpackData::BufferOffset(0);
    t.tex_image_3d(gl::TEXTURE_3D, 0, gl::RGBA8 as i32, 2, 2, 2, 0, gl::RGBA, gl::FLOAT, nothing);
    t.error(gl::INVALID_OPERATION, "images whose address overflows");
    t.delete_texture(volume);
    for name in [
        gl::UNPACK_ROW_LENGTH,
        gl::UNPACK_SKIP_ROWS,
        gl::UNPACK_SKIP_PIXELS,
        gl::UNPACK_SKIP_IMAGES,
        gl::UNPACK_IMAGE_HEIGHT,
    ] {
        t.pixel_store_i32(name, -1);
        t.error(gl::INVALID_VALUE, "a negative parameter");
        t.pixel_store_i32(name, 0);
    }
    for alignment in [0, 3, 16, -4] {
        t.pixel_store_i32(gl::UNPACK_ALIGNMENT, alignment);
        t.error(gl::INVALID_VALUE, "an alignment that is none");
    }
    t.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None);
    let mut sides = [0; 2];
    t.raw.GetTexLevelParameteriv(gl::TEXTURE_2D, 0, gl::TEXTURE_WIDTH, &mut sides[0]);
    t.raw.GetTexLevelParameteriv(gl::TEXTURE_2D, 0, gl::TEXTURE_HEIGHT, &mut sides[1]);
    t.equal(sides, [4, 4], "the image before the errors");
    still_draws(t, "after uploads");
}

unsafe fn sub_rectangles(t: &Scene) {
    t.target(4, 4);
    t.texture(4, 4, &[[1; 4]; 16]);
    let data = [9u8; 64];
    let part = |x, y, w, h| {
        t.tex_sub_image_2d(
            gl::TEXTURE_2D,
            0,
            x,
            y,
            w,
            h,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&data)),
        );
    };
    for (x, y, w, h) in [
        (-1, 0, 1, 1),
        (0, -1, 1, 1),
        (4, 0, 1, 1),
        (3, 3, 2, 1),
        (i32::MAX, 0, 1, 1),
        (i32::MAX, i32::MAX, 4, 4),
        (0, 0, i32::MAX, 1),
        (1, 1, i32::MAX, i32::MAX),
        (i32::MIN, 0, 1, 1),
        (0, 0, -1, 1),
        (0, 0, 1, i32::MIN),
    ] {
        part(x, y, w, h);
        t.error(gl::INVALID_VALUE, &format!("texels {w} by {h} at {x}, {y}"));
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, x, y, 0, 0, w, h);
        t.error(gl::INVALID_VALUE, &format!("a copy of {w} by {h} to {x}, {y}"));
    }
    part(4, 4, 0, 0);
    t.no_error("nothing at the end");
    // Copies from outside the framebuffer are undefined there and write the rest.
    for (x, y) in [(-2, -2), (2, 2), (i32::MAX, 0), (i32::MIN, i32::MIN), (1 << 30, 1 << 30)] {
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, x, y, 4, 4);
        t.read_pixels(x, y, 4, 4, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut [0; 64])));
    }
    t.no_error("from outside");
    let m = i32::MAX;
    for (from, to) in
        [([0, 0, m, m], [0, 0, 4, 4]), ([i32::MIN, i32::MIN, m, m], [0, 0, 4, 4]), ([0, 0, 4, 4], [i32::MIN, 0, m, 4])]
    {
        t.blit_framebuffer(
            from[0],
            from[1],
            from[2],
            from[3],
            to[0],
            to[1],
            to[2],
            to[3],
            gl::COLOR_BUFFER_BIT,
            gl::NEAREST,
        );
    }
    while t.get_error() != gl::NO_ERROR {}
    t.viewport(i32::MIN, i32::MIN, m, m);
    t.scissor(i32::MAX, i32::MAX, m, m);
    t.viewport(0, 0, -1, 4);
    t.error(gl::INVALID_VALUE, "a viewport of negative width");
    t.scissor(0, 0, 4, -1);
    t.error(gl::INVALID_VALUE, "a scissor of negative height");
    t.enable(gl::SCISSOR_TEST);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.disable(gl::SCISSOR_TEST);
    t.no_error("viewports without measure");
    still_draws(t, "after parts of images");
}

unsafe fn mappings(t: &Scene) {
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[7u8; 64]);
    let write = gl::MAP_WRITE_BIT;
    let map =
        |offset: isize, length: isize, access: u32| t.raw.MapBufferRange(gl::ARRAY_BUFFER, offset, length, access);
    for (offset, length) in [(-1, 4), (0, -1), (0, 65), (64, 1), (isize::MAX, 1), (1, isize::MAX), (isize::MIN, 4)] {
        t.check(map(offset, length, write).is_null(), format!("{length} bytes at {offset} are mapped"));
        t.error(gl::INVALID_VALUE, &format!("{length} bytes at {offset}"));
    }
    for access in [
        0,
        gl::MAP_INVALIDATE_RANGE_BIT,
        gl::MAP_READ_BIT | gl::MAP_UNSYNCHRONIZED_BIT,
        gl::MAP_READ_BIT | gl::MAP_FLUSH_EXPLICIT_BIT,
    ] {
        t.check(map(0, 4, access).is_null(), format!("access {access:#x} is mapped"));
        t.error(gl::INVALID_OPERATION, &format!("access {access:#x}"));
    }
    t.check(map(0, 4, 0x8000_0000 | write).is_null(), "access bits that are none");
    t.error(gl::INVALID_VALUE, "access bits that are none");
    t.check(!map(16, 16, write | gl::MAP_FLUSH_EXPLICIT_BIT).is_null(), "mapped");
    for (offset, length) in [(-1isize, 4isize), (0, 17), (16, 1), (isize::MAX, 1), (0, -1)] {
        t.raw.FlushMappedBufferRange(gl::ARRAY_BUFFER, offset, length);
        t.error(gl::INVALID_VALUE, &format!("a flush of {length} bytes at {offset}"));
    }
    t.check(map(0, 4, write).is_null(), "mapped twice");
    t.error(gl::INVALID_OPERATION, "mapped twice");
    // New storage, and the end of the buffer, end the mapping.
    t.buffer_data_size(gl::ARRAY_BUFFER, 32, gl::STATIC_DRAW);
    t.no_error("new storage for a mapped buffer");
    t.equal(t.raw.UnmapBuffer(gl::ARRAY_BUFFER), 0, "there is no mapping");
    t.error(gl::INVALID_OPERATION, "unmapped without a mapping");
    t.check(!map(0, 32, write).is_null(), "mapped again");
    t.delete_buffer(buffer);
    t.no_error("a mapped buffer is deleted");
    t.check(map(0, 4, write).is_null(), "no buffer is bound");
    t.error(gl::INVALID_OPERATION, "no buffer is bound");
    t.raw.BufferSubData(gl::ARRAY_BUFFER, 0, 4, [0u8; 4].as_ptr().cast());
    t.error(gl::INVALID_OPERATION, "data for no buffer");
    t.buffer(gl::ARRAY_BUFFER, &[7u8; 64]);
    for (offset, size) in [(-1isize, 4isize), (0, 65), (64, 1), (isize::MAX, 1), (1, isize::MAX), (0, -1)] {
        t.raw.BufferSubData(gl::ARRAY_BUFFER, offset, size, [0u8; 4].as_ptr().cast());
        t.error(gl::INVALID_VALUE, &format!("{size} bytes of data at {offset}"));
        t.raw.CopyBufferSubData(gl::ARRAY_BUFFER, gl::ARRAY_BUFFER, 0, offset, size);
        t.error(gl::INVALID_VALUE, &format!("a copy of {size} bytes to {offset}"));
    }
    t.raw.CopyBufferSubData(gl::ARRAY_BUFFER, gl::ARRAY_BUFFER, 0, 8, 16);
    t.error(gl::INVALID_VALUE, "a copy onto itself");
    t.raw.BufferData(gl::ARRAY_BUFFER, -1, std::ptr::null(), gl::STATIC_DRAW);
    t.error(gl::INVALID_VALUE, "a negative size");
    still_draws(t, "after mappings");
}
