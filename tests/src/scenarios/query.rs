//! Queries, sync objects, transform feedback and conditional rendering.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("query_occlusion", occlusion),
    Scenario::new("query_occlusion_many", occlusion_many),
    Scenario::new("query_primitives", primitives),
    Scenario::new("query_timer", timer),
    Scenario::new("query_errors", errors),
    Scenario::new("query_conditional_render", conditional_render),
    Scenario::new("sync_fence", fence),
    Scenario::new("sync_polling_makes_progress", polling),
    Scenario::new("feedback_interleaved", interleaved),
    Scenario::new("feedback_separate", separate),
    Scenario::new("feedback_draws_what_it_captured", draws_captured),
    Scenario::new("feedback_geometry_shader", geometry),
    Scenario::new("feedback_overflow_and_errors", overflow),
    Scenario::new("feedback_captured_uniforms", captured_uniforms),
];

unsafe fn occlusion(t: &Scene) {
    t.target(16, 16);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.enable(gl::DEPTH_TEST);
    let (exact, any, none) = (t.create_query().unwrap(), t.create_query().unwrap(), t.create_query().unwrap());
    t.begin_query(gl::SAMPLES_PASSED, exact);
    t.enable(gl::SCISSOR_TEST);
    t.scissor(2, 3, 7, 5);
    t.fill();
    t.scissor(0, 15, 16, 1);
    t.fill();
    // Clears and blits do not count.
    t.disable(gl::SCISSOR_TEST);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.end_query(gl::SAMPLES_PASSED);
    t.begin_query(gl::ANY_SAMPLES_PASSED, any);
    t.depth_func(gl::LEQUAL);
    t.fill();
    t.end_query(gl::ANY_SAMPLES_PASSED);
    t.begin_query(gl::ANY_SAMPLES_PASSED, none);
    t.depth_func(gl::GREATER);
    t.fill();
    t.end_query(gl::ANY_SAMPLES_PASSED);
    t.equal(t.get_query_parameter_u32(exact, gl::QUERY_RESULT), 35 + 16, "samples passed");
    t.equal(t.get_query_parameter_u32(any, gl::QUERY_RESULT), 1, "some samples passed");
    t.equal(t.get_query_parameter_u32(none, gl::QUERY_RESULT), 0, "no samples passed");
    t.equal(t.get_query_parameter_u32(exact, gl::QUERY_RESULT_AVAILABLE), 1, "available after the result");
    // A query object may be used again, and starts from zero.
    t.begin_query(gl::SAMPLES_PASSED, exact);
    t.end_query(gl::SAMPLES_PASSED);
    let mut wide = 99u64;
    t.raw.GetQueryObjectui64v(exact.0.get(), gl::QUERY_RESULT, &mut wide);
    t.equal(wide, 0, "an empty query");
}

unsafe fn occlusion_many(t: &Scene) {
    // Hundreds of queries in one frame, passes split by framebuffer changes in the middle of some, names begun again.
    let (a, b) = (t.target(32, 32), t.target(32, 32));
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.enable(gl::SCISSOR_TEST);
    let queries: Vec<_> = (0..600).map(|_| t.create_query().unwrap()).collect();
    for round in 0..2i32 {
        for (i, query) in queries.iter().enumerate() {
            let i = i as i32;
            t.begin_query(gl::SAMPLES_PASSED, *query);
            t.scissor(0, 0, 1 + i % 32, 1 + round);
            t.fill();
            if i % 10 == 0 {
                t.bind_framebuffer(gl::FRAMEBUFFER, Some(if (i / 10) % 2 == 0 { a } else { b }.framebuffer));
                t.fill();
            }
            t.end_query(gl::SAMPLES_PASSED);
        }
    }
    let wrong = queries.iter().enumerate().find_map(|(i, query)| {
        let expected = 2 * (1 + i as u32 % 32) * if i % 10 == 0 { 2 } else { 1 };
        let actual = t.get_query_parameter_u32(*query, gl::QUERY_RESULT);
        (actual != expected).then_some((i, actual, expected))
    });
    t.check(wrong.is_none(), format!("(query, result, expected) {wrong:?}"));
}

unsafe fn primitives(t: &Scene) {
    t.target(8, 8);
    let program = t.program_of(&[(gl::VERTEX_SHADER, POSITION_VS), (gl::FRAGMENT_SHADER, COLOR_FS)], |p| {
        t.transform_feedback_varyings(p, &["gl_Position"], gl::INTERLEAVED_ATTRIBS);
    });
    t.use_program(Some(program));
    t.positions(&[[0.0, 0.0]; 30]);
    let (generated, written) = (t.create_query().unwrap(), t.create_query().unwrap());
    // Generated primitives count without transform feedback as well.
    t.begin_query(gl::PRIMITIVES_GENERATED, generated);
    t.draw_arrays(gl::TRIANGLES, 0, 12);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 12);
    t.draw_arrays_instanced(gl::LINES, 0, 6, 3);
    t.end_query(gl::PRIMITIVES_GENERATED);
    t.equal(t.get_query_parameter_u32(generated, gl::QUERY_RESULT), 4 + 10 + 9, "primitives generated");
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[0.0f32; 4 * 12]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    t.enable(gl::RASTERIZER_DISCARD);
    t.begin_query(gl::PRIMITIVES_GENERATED, generated);
    t.begin_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, written);
    t.begin_transform_feedback(gl::TRIANGLES);
    t.draw_arrays(gl::TRIANGLES, 0, 30);
    t.end_transform_feedback();
    t.end_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    t.end_query(gl::PRIMITIVES_GENERATED);
    t.equal(t.get_query_parameter_u32(generated, gl::QUERY_RESULT), 10, "generated");
    t.equal(t.get_query_parameter_u32(written, gl::QUERY_RESULT), 4, "written before the buffer was full");
}

unsafe fn timer(t: &Scene) {
    t.target(64, 64);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    let mut bits = 0;
    t.raw.GetQueryiv(gl::TIMESTAMP, gl::QUERY_COUNTER_BITS, &mut bits);
    t.check(bits >= 30, format!("TIMESTAMP has {bits} bits"));
    let names: Vec<_> = (0..3).map(|_| t.create_query().unwrap()).collect();
    let elapsed = t.create_query().unwrap();
    let mut now = 0i64;
    t.raw.GetInteger64v(gl::TIMESTAMP, &mut now);
    t.begin_query(gl::TIME_ELAPSED, elapsed);
    for name in &names {
        for _ in 0..20 {
            t.fill();
        }
        t.query_counter(*name, gl::TIMESTAMP);
    }
    t.end_query(gl::TIME_ELAPSED);
    t.finish();
    let mut later = 0i64;
    t.raw.GetInteger64v(gl::TIMESTAMP, &mut later);
    let stamps: Vec<u64> = names.iter().map(|n| t.get_query_parameter_u64(*n, gl::QUERY_RESULT)).collect();
    t.check(stamps.windows(2).all(|w| w[0] <= w[1]), format!("timestamps rise: {stamps:?}"));
    t.check(now > 0 && later >= now, format!("GL_TIMESTAMP moves from {now} to {later}"));
    // A second of slack for clocks that are correlated from time to time only.
    let slack = 1_000_000_000i64;
    let near = |v: u64| (v as i64) > now - slack && (v as i64) < later + slack;
    t.check(stamps.iter().all(|v| near(*v)), format!("timestamps {stamps:?} lie between {now} and {later}"));
    let duration = t.get_query_parameter_u64(elapsed, gl::QUERY_RESULT);
    let span = stamps[2] - stamps[0];
    t.check(duration > 0, "TIME_ELAPSED is 0");
    t.check(duration + 1_000_000 >= span, format!("TIME_ELAPSED {duration} is shorter than the span {span} inside it"));
    t.check(duration < 60_000_000_000, format!("TIME_ELAPSED {duration} ns"));
}

unsafe fn errors(t: &Scene) {
    let (a, b) = (t.create_query().unwrap(), t.create_query().unwrap());
    t.end_query(gl::SAMPLES_PASSED);
    t.error(gl::INVALID_OPERATION, "an end without a begin");
    t.begin_query(gl::SAMPLES_PASSED, a);
    t.begin_query(gl::SAMPLES_PASSED, b);
    t.error(gl::INVALID_OPERATION, "two queries of one target");
    t.begin_query(gl::ANY_SAMPLES_PASSED, b);
    t.error(gl::INVALID_OPERATION, "two occlusion queries of different targets");
    t.get_query_parameter_u32(a, gl::QUERY_RESULT);
    t.error(gl::INVALID_OPERATION, "the result of an active query");
    let mut current = 0;
    t.raw.GetQueryiv(gl::SAMPLES_PASSED, gl::CURRENT_QUERY, &mut current);
    t.equal(current as u32, a.0.get(), "CURRENT_QUERY");
    t.end_query(gl::SAMPLES_PASSED);
    t.begin_query(gl::PRIMITIVES_GENERATED, a);
    t.error(gl::INVALID_OPERATION, "a query object of another target");
    t.raw.BeginQuery(gl::SAMPLES_PASSED, 0);
    t.error(gl::INVALID_OPERATION, "query 0");
    t.raw.BeginQuery(gl::SAMPLES_PASSED, 54321);
    t.error(gl::INVALID_OPERATION, "a name that was not generated");
    t.raw.BeginQuery(gl::TIMESTAMP, b.0.get());
    t.error(gl::INVALID_ENUM, "TIMESTAMP is not begun");
    t.raw.GetQueryiv(gl::SAMPLES_PASSED, gl::CURRENT_QUERY, &mut current);
    t.equal(current, 0, "no query is active");
}

unsafe fn conditional_render(t: &Scene) {
    t.target(8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    let (pass, fail) = (t.create_query().unwrap(), t.create_query().unwrap());
    t.begin_query(gl::SAMPLES_PASSED, pass);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.fill();
    t.end_query(gl::SAMPLES_PASSED);
    t.begin_query(gl::SAMPLES_PASSED, fail);
    t.end_query(gl::SAMPLES_PASSED);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    for mode in [gl::QUERY_WAIT, gl::QUERY_BY_REGION_WAIT] {
        t.raw.BeginConditionalRender(fail.0.get(), mode);
        t.fill();
        t.clear_color(1.0, 1.0, 1.0, 1.0);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.raw.EndConditionalRender();
    }
    t.pixel(&t.read(8, 8), 3, 3, [255, 0, 0, 255], 0, "draws and clears are dropped");
    t.raw.BeginConditionalRender(pass.0.get(), gl::QUERY_WAIT);
    t.fill();
    t.raw.EndConditionalRender();
    t.pixel(&t.read(8, 8), 3, 3, [0, 255, 0, 255], 0, "draws are done");
    t.raw.EndConditionalRender();
    t.error(gl::INVALID_OPERATION, "an end without a begin");
}

unsafe fn fence(t: &Scene) {
    t.target(64, 64);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    for _ in 0..50 {
        t.fill();
    }
    let sync = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
    t.check(!sync.is_null(), "glFenceSync");
    let first = t.raw.ClientWaitSync(sync, gl::SYNC_FLUSH_COMMANDS_BIT, 20_000_000_000);
    t.check(matches!(first, gl::CONDITION_SATISFIED | gl::ALREADY_SIGNALED), format!("the wait gave {first:#x}"));
    t.equal(t.raw.ClientWaitSync(sync, 0, 0), gl::ALREADY_SIGNALED, "a signalled sync object");
    let known = gl::NativeFence(sync.cast());
    t.equal(t.get_sync_status(known), gl::SIGNALED, "SYNC_STATUS");
    t.equal(t.get_sync_parameter_i32(known, gl::OBJECT_TYPE) as u32, gl::SYNC_FENCE, "OBJECT_TYPE");
    t.equal(
        t.get_sync_parameter_i32(known, gl::SYNC_CONDITION) as u32,
        gl::SYNC_GPU_COMMANDS_COMPLETE,
        "SYNC_CONDITION",
    );
    t.check(t.is_sync(known), "glIsSync");
    t.raw.WaitSync(sync, 0, gl::TIMEOUT_IGNORED);
    t.no_error("glWaitSync");
    t.delete_sync(known);
    t.check(!t.is_sync(known), "glIsSync after the deletion");
    t.raw.DeleteSync(std::ptr::null_mut());
    t.no_error("deleting no sync object");
    t.equal(
        t.raw.ClientWaitSync(std::ptr::without_provenance_mut(0x1234), 0, 0),
        gl::WAIT_FAILED,
        "a sync object that is none",
    );
    t.error(gl::INVALID_VALUE, "a sync object that is none");
    t.check(t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 1).is_null(), "flags must be 0");
    t.error(gl::INVALID_VALUE, "flags must be 0");
}

unsafe fn polling(t: &Scene) {
    // Polling with a timeout of 0 ends in bounded time, with and without the flush flag after a glFlush.
    t.target(64, 64);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    for how in 0..3 {
        for _ in 0..10 {
            t.fill();
        }
        let sync = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        let flags = if how == 0 { gl::SYNC_FLUSH_COMMANDS_BIT } else { 0 };
        if how == 1 {
            t.flush();
        }
        let start = std::time::Instant::now();
        let mut n_polls = 0u64;
        let mut done = false;
        while !done && start.elapsed().as_secs() < 20 {
            done = match how {
                // Even a plain status query without any flush must not poll forever.
                2 => t.get_sync_status(gl::NativeFence(sync.cast())) == gl::SIGNALED,
                _ => t.raw.ClientWaitSync(sync, flags, 0) != gl::TIMEOUT_EXPIRED,
            };
            n_polls += 1;
            if how == 2 && n_polls == 1000 {
                // The specification lets an unflushed status query wait for a flush; this is the application's.
                t.flush();
            }
        }
        t.check(done, format!("variant {how}: not signalled after {n_polls} polls in 20 s"));
        t.raw.DeleteSync(sync);
    }
    let query = t.create_query().unwrap();
    t.begin_query(gl::SAMPLES_PASSED, query);
    t.fill();
    t.end_query(gl::SAMPLES_PASSED);
    let start = std::time::Instant::now();
    while t.get_query_parameter_u32(query, gl::QUERY_RESULT_AVAILABLE) == 0 && start.elapsed().as_secs() < 20 {}
    t.check(start.elapsed().as_secs() < 20, "the query does not become available by polling");
    t.equal(t.get_query_parameter_u32(query, gl::QUERY_RESULT), 4096, "its result");
}

/// A program without rasterisation that captures the given varyings of `vertex`.
unsafe fn capturing(t: &Scene, vertex: &str, varyings: &[&str], mode: u32) {
    t.target(8, 8);
    t.program_of(
        &[(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }")],
        |p| {
            t.transform_feedback_varyings(p, varyings, mode);
        },
    );
    t.vertex_array();
    t.enable(gl::RASTERIZER_DISCARD);
}

const CAPTURE_VS: &str = "
    out vec2 a; out float b[2]; flat out ivec3 c; out mat2 m;
    void main() {
        float i = float(gl_VertexID);
        gl_Position = vec4(i, 0.0, 0.0, 1.0); a = vec2(i, i * 2.0); b[0] = i + 0.25; b[1] = i + 0.5;
        c = ivec3(gl_VertexID, -gl_VertexID, 7); m = mat2(i, 1.0, 2.0, 3.0);
    }";

unsafe fn floats(t: &Scene, n: usize) -> Vec<f32> {
    let mut data = vec![0.0f32; n];
    t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
    data
}

unsafe fn interleaved(t: &Scene) {
    capturing(t, CAPTURE_VS, &["a", "c", "b", "gl_Position", "m"], gl::INTERLEAVED_ATTRIBS);
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[99.0f32; 64]);
    // The range starts at byte 16; what lies before it stays.
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer), 16, 3 * 15 * 4);
    t.begin_transform_feedback(gl::POINTS);
    t.draw_arrays(gl::POINTS, 0, 2);
    t.draw_arrays(gl::POINTS, 5, 1);
    t.end_transform_feedback();
    let data = floats(t, 64);
    t.equal(&data[..4], &[99.0; 4], "before the range");
    for (k, i) in [0, 1, 5].into_iter().enumerate() {
        let v = &data[4 + k * 15..4 + (k + 1) * 15];
        let f = i as f32;
        t.equal(&v[..2], &[f, f * 2.0], &format!("a of vertex {i}"));
        t.equal([v[2], v[3], v[4]].map(|v| v.to_bits() as i32), [i, -i, 7], &format!("c of vertex {i}"));
        t.equal(&v[5..7], &[f + 0.25, f + 0.5], &format!("b of vertex {i}"));
        t.equal(&v[7..11], &[f, 0.0, 0.0, 1.0], &format!("gl_Position of vertex {i}"));
        t.equal(&v[11..15], &[f, 1.0, 2.0, 3.0], &format!("m of vertex {i}"));
    }
    t.equal(&data[49..], &[99.0; 15], "after the range");
    // Strips are captured as independent primitives.
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    t.begin_transform_feedback(gl::LINES);
    t.draw_arrays(gl::LINE_STRIP, 0, 3);
    t.end_transform_feedback();
    let data = floats(t, 60);
    t.equal([0, 1, 2, 3].map(|k| data[k * 15]), [0.0, 1.0, 1.0, 2.0], "a strip of two lines");
}

unsafe fn separate(t: &Scene) {
    capturing(t, CAPTURE_VS, &["b", "a", "c"], gl::SEPARATE_ATTRIBS);
    let buffers: Vec<_> = (0..3).map(|_| t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[99.0f32; 16])).collect();
    // Each binding has its own offset.
    for (i, (offset, size)) in [(0, 24), (8, 16), (4, 36)].into_iter().enumerate() {
        t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, i as u32, Some(buffers[i]), offset, size);
    }
    t.begin_transform_feedback(gl::POINTS);
    t.draw_arrays(gl::POINTS, 3, 2);
    t.end_transform_feedback();
    let look = |i: usize| {
        t.raw.BindBuffer(gl::TRANSFORM_FEEDBACK_BUFFER, buffers[i].0.get());
        floats(t, 16)
    };
    t.equal(&look(0)[..5], &[3.25, 3.5, 4.25, 4.5, 99.0], "b");
    t.equal(&look(1)[..7], &[99.0, 99.0, 3.0, 6.0, 4.0, 8.0, 99.0], "a");
    let c: Vec<i32> = look(2)[1..7].iter().map(|v| v.to_bits() as i32).collect();
    t.equal(c, vec![3, -3, 7, 4, -4, 7], "c");
    t.equal(look(2)[0], 99.0, "before c");
}

unsafe fn draws_captured(t: &Scene) {
    // What feedback wrote is drawn without the application touching it; the same buffer then goes the other way round.
    let target = t.target(32, 32);
    let step = t.program_of(
        &[
            (gl::VERTEX_SHADER, "layout(location = 0) in vec2 position; out vec2 moved; void main() { moved = position + vec2(0.25, 0.125); gl_Position = vec4(position, 0.0, 1.0); }"),
            (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }"),
        ],
        |p| t.transform_feedback_varyings(p, &["moved"], gl::INTERLEAVED_ATTRIBS),
    );
    t.vertex_array();
    let mut buffers =
        [(); 2].map(|()| t.buffer(gl::ARRAY_BUFFER, &[[-1.0f32, -1.0], [-0.5, -1.0], [-1.0, -0.5], [-0.5, -0.5]]));
    t.enable_vertex_attrib_array(0);
    for _ in 0..6 {
        t.bind_buffer(gl::ARRAY_BUFFER, Some(buffers[0]));
        t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 0, 0);
        t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffers[1]));
        t.use_program(Some(step));
        t.enable(gl::RASTERIZER_DISCARD);
        t.begin_transform_feedback(gl::POINTS);
        t.draw_arrays(gl::POINTS, 0, 4);
        t.end_transform_feedback();
        t.disable(gl::RASTERIZER_DISCARD);
        buffers.swap(0, 1);
    }
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, None);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.5, 0.0, 1.0]);
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffers[0]));
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 0, 0);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    let picture = t.read(32, 32);
    // Six steps of (4, 2) pixels from the corner.
    t.area(&picture, (24, 12, 32, 20), [255, 128, 0, 255], 1, "the square after six steps");
    t.equal(picture.count(|p| p[3] != 0), 64, "pixels drawn");
    t.compare("picture", &picture, crate::picture::Tolerance::EXACT);
}

unsafe fn geometry(t: &Scene) {
    t.target(8, 8);
    t.program_of(
        &[
            (gl::VERTEX_SHADER, "out float v; void main() { v = float(gl_VertexID); gl_Position = vec4(0.0); }"),
            (
                gl::GEOMETRY_SHADER,
                "layout(points) in; layout(points, max_vertices = 3) out; in float v[]; out float w;
                 void main() { for (int i = 0; i < int(v[0]) + 1; ++i) { w = v[0] * 10.0 + float(i); gl_Position = vec4(0.0); EmitVertex(); EndPrimitive(); } }",
            ),
            (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }"),
        ],
        |p| t.transform_feedback_varyings(p, &["w"], gl::INTERLEAVED_ATTRIBS),
    );
    t.vertex_array();
    t.enable(gl::RASTERIZER_DISCARD);
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[99.0f32; 8]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    let query = t.create_query().unwrap();
    t.begin_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
    t.begin_transform_feedback(gl::POINTS);
    t.draw_arrays(gl::POINTS, 0, 3);
    t.end_transform_feedback();
    t.end_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    t.equal(t.get_query_parameter_u32(query, gl::QUERY_RESULT), 6, "points written");
    t.equal(floats(t, 8), vec![0.0, 10.0, 11.0, 20.0, 21.0, 22.0, 99.0, 99.0], "in order");
}

unsafe fn overflow(t: &Scene) {
    capturing(t, CAPTURE_VS, &["a"], gl::INTERLEAVED_ATTRIBS);
    t.begin_transform_feedback(gl::POINTS);
    t.error(gl::INVALID_OPERATION, "feedback without a buffer");
    t.end_transform_feedback();
    t.error(gl::INVALID_OPERATION, "an end without a begin");
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[99.0f32; 16]);
    // Two triangles would need 48 bytes; a primitive that does not fit whole is not written at all.
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer), 0, 40);
    t.begin_transform_feedback(gl::TRIANGLES);
    t.draw_arrays(gl::POINTS, 0, 3);
    t.error(gl::INVALID_OPERATION, "points while capturing triangles");
    t.begin_transform_feedback(gl::TRIANGLES);
    t.error(gl::INVALID_OPERATION, "begun twice");
    let program = t.get_parameter_program(gl::CURRENT_PROGRAM);
    t.use_program(None);
    t.error(gl::INVALID_OPERATION, "another program while capturing");
    t.equal(t.get_parameter_program(gl::CURRENT_PROGRAM), program, "the program after the error");
    t.draw_arrays(gl::TRIANGLES, 0, 6);
    t.end_transform_feedback();
    t.equal(&floats(t, 16)[..10], &[0.0, 0.0, 1.0, 2.0, 2.0, 4.0, 99.0, 99.0, 99.0, 99.0], "one whole triangle");
    let bad = t.try_program(
        &[(gl::VERTEX_SHADER, CAPTURE_VS), (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }")],
        |p| {
            t.transform_feedback_varyings(p, &["nothing"], gl::INTERLEAVED_ATTRIBS);
        },
    );
    t.check(bad.is_err(), "a varying that does not exist does not link");
}

unsafe fn captured_uniforms(t: &Scene) {
    // What one draw captures, the next one reads as a uniform block, out of a buffer that ends before the block does.
    t.target_of(1, 1, gl::RGBA32F);
    let vertex = "layout(std140) uniform Counter { int count; }; flat out int next;
        void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0; next = count + 1; }";
    let fragment = "flat in int next; out vec4 result; void main() { result = vec4(next); }";
    let program = t.program_of(&[(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)], |p| {
        t.transform_feedback_varyings(p, &["next"], gl::INTERLEAVED_ATTRIBS);
    });
    let block = t.get_uniform_block_index(program, "Counter").expect("the block is active");
    t.uniform_block_binding(program, block, 0);
    t.vertex_array();
    let buffers = [t.buffer(gl::ARRAY_BUFFER, &[0i32]), t.buffer(gl::ARRAY_BUFFER, &[0i32])];
    for round in 0..6 {
        t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(buffers[round % 2]));
        t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffers[(round + 1) % 2]));
        t.begin_transform_feedback(gl::POINTS);
        t.draw_arrays(gl::POINTS, 0, 1);
        t.end_transform_feedback();
    }
    t.equal(t.read_floats(1, 1)[0], [6.0; 4], "each draw counts on from the one before");
}
