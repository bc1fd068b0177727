//! Queries, conditional rendering, fences and transform feedback in detail: nesting, modes, limits, deletion, errors.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("query_targets_at_once", targets_at_once),
    Scenario::new("query_occlusion_of_what_counts", occlusion_of_what_counts),
    Scenario::new("query_leaves_copies_out", leaves_copies_out),
    Scenario::new("query_deleted", deleted),
    Scenario::new("query_result_variants", result_variants),
    Scenario::new("conditional_modes_and_queries", conditional_modes),
    Scenario::new("conditional_drops_what_draws", conditional_drops),
    Scenario::new("conditional_errors", conditional_errors),
    Scenario::new("sync_several_in_order", several_in_order),
    Scenario::new("sync_wait_and_errors", wait_and_errors),
    Scenario::new("sync_runs_out_and_ends", runs_out_and_ends),
    Scenario::new("feedback_types_and_arrays", types_and_arrays),
    Scenario::new("feedback_every_mode", every_mode),
    Scenario::new("feedback_and_rasterisation", and_rasterisation),
    Scenario::new("feedback_several_draws_and_instances", several_draws),
    Scenario::new("feedback_separate_queries", separate_queries),
    Scenario::new("feedback_state_and_reflection", state_and_reflection),
    Scenario::new("feedback_errors_while_active", errors_while_active),
];

unsafe fn white(t: &Scene) -> gl::NativeProgram {
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    program
}

unsafe fn result(t: &Scene, query: gl::NativeQuery) -> u32 {
    t.get_query_parameter_u32(query, gl::QUERY_RESULT)
}

/// What an implementation draws of its own, as for a blit into samples, is nothing that an application's queries count.
unsafe fn leaves_copies_out(t: &Scene) {
    let source = t.target(16, 16);
    let samples = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(samples));
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, 4, gl::RGBA8, 16, 16);
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RENDERBUFFER, Some(buffer));
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(source.framebuffer));
    white(t);
    let blit = || t.blit_framebuffer(0, 0, 16, 16, 0, 0, 16, 16, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    let [any, primitives] = [(); 2].map(|()| t.create_query().unwrap());
    t.begin_query(gl::ANY_SAMPLES_PASSED, any);
    t.begin_query(gl::PRIMITIVES_GENERATED, primitives);
    t.no_error("a blit into samples");
    blit();
    t.draw_arrays(gl::POINTS, 0, 0);
    blit();
    t.end_query(gl::ANY_SAMPLES_PASSED);
    t.draw_arrays(gl::POINTS, 0, 3);
    blit();
    t.draw_arrays(gl::POINTS, 0, 2);
    t.end_query(gl::PRIMITIVES_GENERATED);
    t.equal(result(t, any), 0, "samples of blits alone");
    t.equal(result(t, primitives), 5, "primitives of the draws between blits");
    // The span goes on behind a blit.
    t.begin_query(gl::ANY_SAMPLES_PASSED, any);
    t.fill();
    blit();
    t.end_query(gl::ANY_SAMPLES_PASSED);
    t.equal(result(t, any), 1, "samples of the draw before the blit");
    t.begin_query(gl::ANY_SAMPLES_PASSED, any);
    for _ in 0..40 {
        blit();
    }
    t.fill();
    t.end_query(gl::ANY_SAMPLES_PASSED);
    t.equal(result(t, any), 1, "samples of the draw behind many blits");
}

unsafe fn targets_at_once(t: &Scene) {
    // One query of every target runs at the same time; they begin and end in any order.
    t.target(16, 16);
    white(t);
    let [samples, primitives, elapsed, written] = [(); 4].map(|()| t.create_query().unwrap());
    t.begin_query(gl::SAMPLES_PASSED, samples);
    t.begin_query(gl::PRIMITIVES_GENERATED, primitives);
    t.begin_query(gl::TIME_ELAPSED, elapsed);
    t.begin_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, written);
    t.fill();
    t.end_query(gl::SAMPLES_PASSED);
    t.draw_arrays(gl::POINTS, 0, 3);
    t.end_query(gl::PRIMITIVES_GENERATED);
    t.fill();
    t.end_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    t.end_query(gl::TIME_ELAPSED);
    t.equal(result(t, samples), 256, "samples of the first draw");
    t.equal(result(t, primitives), 4, "primitives of the first two draws");
    t.equal(result(t, written), 0, "no transform feedback is active");
    t.check(t.get_query_parameter_u64(elapsed, gl::QUERY_RESULT) > 0, "time has passed");
    // ANY_SAMPLES_PASSED and SAMPLES_PASSED exclude each other in one place only: their own target.
    let any = t.create_query().unwrap();
    t.begin_query(gl::ANY_SAMPLES_PASSED, any);
    let e = t.get_error();
    t.check(matches!(e, gl::NO_ERROR), format!("ANY_SAMPLES_PASSED: {e:#x}"));
    t.fill();
    t.end_query(gl::ANY_SAMPLES_PASSED);
    t.equal(result(t, any), 1, "any samples");
}

unsafe fn occlusion_of_what_counts(t: &Scene) {
    t.target(16, 16);
    let program = white(t);
    let query = t.create_query().unwrap();
    let count = |draw: &dyn Fn()| {
        t.begin_query(gl::SAMPLES_PASSED, query);
        draw();
        t.end_query(gl::SAMPLES_PASSED);
        result(t, query)
    };
    t.color_mask(false, false, false, false);
    t.equal(count(&|| t.fill()), 256, "colour masks do not matter");
    t.color_mask(true, true, true, true);
    t.enable(gl::STENCIL_TEST);
    t.stencil_func(gl::NEVER, 0, 0xff);
    t.equal(count(&|| t.fill()), 0, "the stencil test");
    t.disable(gl::STENCIL_TEST);
    t.enable(gl::CULL_FACE);
    t.cull_face(gl::FRONT);
    t.equal(count(&|| t.fill()), 0, "culled faces");
    t.disable(gl::CULL_FACE);
    t.viewport(0, 0, 8, 4);
    t.equal(count(&|| t.fill()), 32, "the viewport");
    t.viewport(0, 0, 16, 16);
    t.equal(count(&|| (0..100).for_each(|_| t.fill())), 25_600, "many draws");
    t.enable(gl::RASTERIZER_DISCARD);
    t.equal(count(&|| t.fill()), 0, "discarded");
    t.disable(gl::RASTERIZER_DISCARD);
    t.program(FULL_VS, "out vec4 result; void main() { if (gl_FragCoord.x < 4.0) discard; result = vec4(1.0); }");
    t.equal(count(&|| t.fill()), 192, "discarded fragments");
    // A multisampled framebuffer counts samples.
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, 4, gl::RGBA8, 16, 16);
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RENDERBUFFER, Some(buffer));
    t.use_program(Some(program));
    let samples = t.get_parameter_i32(gl::SAMPLES) as u32;
    t.equal(count(&|| t.fill()), 256 * samples, "samples, not pixels");
}

unsafe fn deleted(t: &Scene) {
    t.target(8, 8);
    white(t);
    let query = t.create_query().unwrap();
    t.check(t.raw.IsQuery(query.0.get()) == 0, "a name is no object before it is begun");
    t.begin_query(gl::SAMPLES_PASSED, query);
    t.check(t.raw.IsQuery(query.0.get()) == 1, "it is one afterwards");
    t.end_query(gl::SAMPLES_PASSED);
    // Deleting with the result outstanding, hundreds of times.
    for _ in 0..300 {
        let query = t.create_query().unwrap();
        t.begin_query(gl::SAMPLES_PASSED, query);
        t.fill();
        t.end_query(gl::SAMPLES_PASSED);
        t.delete_query(query);
    }
    t.delete_query(query);
    t.check(t.raw.IsQuery(query.0.get()) == 0, "a deleted name");
    let (a, b) = (t.create_query().unwrap(), t.create_query().unwrap());
    t.begin_query(gl::SAMPLES_PASSED, a);
    t.fill();
    t.end_query(gl::SAMPLES_PASSED);
    // A conditional render's query may go while it is in use.
    t.raw.BeginConditionalRender(a.0.get(), gl::QUERY_WAIT);
    t.delete_query(a);
    t.fill();
    t.raw.EndConditionalRender();
    t.begin_query(gl::SAMPLES_PASSED, b);
    t.fill();
    t.end_query(gl::SAMPLES_PASSED);
    t.equal(result(t, b), 64, "a query afterwards");
    t.no_error("deleting queries");
}

unsafe fn result_variants(t: &Scene) {
    t.target(8, 8);
    white(t);
    let query = t.create_query().unwrap();
    let name = query.0.get();
    t.begin_query(gl::SAMPLES_PASSED, query);
    t.fill();
    t.end_query(gl::SAMPLES_PASSED);
    t.equal(result(t, query), 64, "unsigned");
    let (mut signed, mut unsigned) = (0i64, 0u64);
    t.raw.GetQueryObjecti64v(name, gl::QUERY_RESULT, &mut signed);
    t.raw.GetQueryObjectui64v(name, gl::QUERY_RESULT, &mut unsigned);
    t.equal((signed, unsigned), (64, 64), "64 bits");
    let (mut available, mut plain) = (0i64, 0);
    t.raw.GetQueryObjecti64v(name, gl::QUERY_RESULT_AVAILABLE, &mut available);
    t.equal(available, 1, "available");
    t.raw.GetQueryObjectiv(name, gl::QUERY_RESULT, &mut plain);
    t.equal(plain, 64, "signed");
    for (target, least) in
        [(gl::SAMPLES_PASSED, 32), (gl::TIME_ELAPSED, 30), (gl::PRIMITIVES_GENERATED, 32), (gl::ANY_SAMPLES_PASSED, 1)]
    {
        let mut bits = 0;
        t.raw.GetQueryiv(target, gl::QUERY_COUNTER_BITS, &mut bits);
        t.check(bits >= least, format!("{target:#x} has {bits} bits"));
    }
    t.raw.GetQueryiv(gl::SAMPLES_PASSED, gl::QUERY_RESULT, &mut plain);
    t.error(gl::INVALID_ENUM, "a parameter of query objects");
    t.raw.GetQueryiv(gl::BLEND, gl::CURRENT_QUERY, &mut plain);
    t.error(gl::INVALID_ENUM, "a target that is none");
    t.raw.GetQueryObjectiv(name, gl::CURRENT_QUERY, &mut plain);
    t.error(gl::INVALID_ENUM, "a parameter of targets");
    t.raw.GetQueryObjectiv(name + 1000, gl::QUERY_RESULT, &mut plain);
    t.error(gl::INVALID_OPERATION, "a name that does not exist");
    let fresh = t.create_query().unwrap();
    t.raw.GetQueryObjectiv(fresh.0.get(), gl::QUERY_RESULT, &mut plain);
    t.error(gl::INVALID_OPERATION, "a name that was never begun");
    t.query_counter(query, gl::SAMPLES_PASSED);
    t.error(gl::INVALID_ENUM, "glQueryCounter takes TIMESTAMP");
    t.begin_query(gl::TIME_ELAPSED, fresh);
    t.query_counter(fresh, gl::TIMESTAMP);
    t.error(gl::INVALID_OPERATION, "a counter of an active query");
    t.end_query(gl::TIME_ELAPSED);
}

unsafe fn conditional_modes(t: &Scene) {
    t.target(8, 8);
    let program = white(t);
    t.enable(gl::DEPTH_TEST);
    for target in [gl::SAMPLES_PASSED, gl::ANY_SAMPLES_PASSED] {
        for passes in [true, false] {
            let query = t.create_query().unwrap();
            t.depth_func(if passes { gl::ALWAYS } else { gl::NEVER });
            t.begin_query(target, query);
            t.fill();
            t.end_query(target);
            t.finish();
            t.depth_func(gl::ALWAYS);
            for mode in [gl::QUERY_WAIT, gl::QUERY_NO_WAIT, gl::QUERY_BY_REGION_WAIT, gl::QUERY_BY_REGION_NO_WAIT] {
                t.clear(gl::COLOR_BUFFER_BIT);
                // The result must be there for the modes that do not wait.
                result(t, query);
                t.raw.BeginConditionalRender(query.0.get(), mode);
                t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
                t.fill();
                t.raw.EndConditionalRender();
                let expected = if passes { [0, 255, 0, 255] } else { [0; 4] };
                t.pixel(&t.read(8, 8), 4, 4, expected, 0, &format!("{target:#x} mode {mode:#x} passes {passes}"));
            }
        }
    }
    // A condition that is not read before: the driver finds out by itself.
    let query = t.create_query().unwrap();
    for i in 0..20 {
        let passes = i % 3 == 0;
        t.depth_func(if passes { gl::ALWAYS } else { gl::NEVER });
        t.begin_query(gl::SAMPLES_PASSED, query);
        t.fill();
        t.end_query(gl::SAMPLES_PASSED);
        t.depth_func(gl::ALWAYS);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.raw.BeginConditionalRender(query.0.get(), gl::QUERY_WAIT);
        t.fill();
        t.raw.EndConditionalRender();
        t.equal(t.read(8, 8).pixel(1, 1)[3] != 0, passes, &format!("round {i}"));
    }
}

unsafe fn conditional_drops(t: &Scene) {
    // Draws and clears are dropped; uploads, copies, reads and state are not. Blits are draws by GL 3.3's list only from 4.x
    // on, so they are left out here.
    t.target(8, 8);
    let program = white(t);
    let fail = t.create_query().unwrap();
    t.begin_query(gl::SAMPLES_PASSED, fail);
    t.end_query(gl::SAMPLES_PASSED);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    let texture = t.texture(2, 2, &[[1; 4]; 4]);
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[1u8; 4]);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2]);
    t.raw.BeginConditionalRender(fail.0.get(), gl::QUERY_WAIT);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 2);
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[1.0, 0.0, 0.0, 1.0]);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    let data = gl::PixelUnpackData::Slice(Some(&[9, 8, 7, 6]));
    t.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, data);
    t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 0, &[7]);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 1, 1, 0, 0, 1, 1);
    t.pixel(&t.read(8, 8), 3, 3, [0, 0, 255, 255], 0, "a read inside");
    t.raw.EndConditionalRender();
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 4);
    t.equal(v, vec![[9, 8, 7, 6], [1; 4], [1; 4], [0, 0, 255, 255]], "an upload and a copy inside");
    let mut bytes = [0u8; 4];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut bytes);
    t.equal(bytes, [7, 1, 1, 1], "a buffer update inside");
    t.pixel(&t.read(8, 8), 3, 3, [0, 0, 255, 255], 0, "draws and clears were dropped");
    t.fill();
    t.pixel(&t.read(8, 8), 3, 3, [255, 255, 0, 255], 0, "state that was set inside");
    t.delete_texture(texture);
    t.delete_buffer(buffer);
}

unsafe fn conditional_errors(t: &Scene) {
    t.target(8, 8);
    white(t);
    let [samples, primitives, fresh] = [(); 3].map(|()| t.create_query().unwrap());
    t.begin_query(gl::SAMPLES_PASSED, samples);
    t.raw.BeginConditionalRender(samples.0.get(), gl::QUERY_WAIT);
    t.error(gl::INVALID_OPERATION, "an active query");
    t.end_query(gl::SAMPLES_PASSED);
    t.begin_query(gl::PRIMITIVES_GENERATED, primitives);
    t.end_query(gl::PRIMITIVES_GENERATED);
    t.raw.BeginConditionalRender(primitives.0.get(), gl::QUERY_WAIT);
    t.error(gl::INVALID_OPERATION, "a query of another kind");
    t.raw.BeginConditionalRender(samples.0.get(), gl::LESS);
    t.error(gl::INVALID_ENUM, "a mode that is none");
    t.raw.BeginConditionalRender(987_654, gl::QUERY_WAIT);
    t.error(gl::INVALID_VALUE, "a name that does not exist");
    t.raw.BeginConditionalRender(samples.0.get(), gl::QUERY_WAIT);
    t.raw.BeginConditionalRender(samples.0.get(), gl::QUERY_WAIT);
    t.error(gl::INVALID_OPERATION, "begun twice");
    t.raw.EndConditionalRender();
    t.raw.EndConditionalRender();
    t.error(gl::INVALID_OPERATION, "ended twice");
    t.fill();
    t.pixel(&t.read(8, 8), 1, 1, [255; 4], 0, "nothing is conditional afterwards");
    t.delete_query(fresh);
}

unsafe fn several_in_order(t: &Scene) {
    // Fences are signalled in the order they were made; waiting for the last means that all are.
    t.target(64, 64);
    white(t);
    let fences: Vec<_> = (0..40)
        .map(|_| {
            t.fill();
            t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0)
        })
        .collect();
    let last = fences[39];
    let waited = t.raw.ClientWaitSync(last, gl::SYNC_FLUSH_COMMANDS_BIT, 20_000_000_000);
    t.check(matches!(waited, gl::CONDITION_SATISFIED | gl::ALREADY_SIGNALED), format!("the last: {waited:#x}"));
    for (i, fence) in fences.iter().enumerate() {
        t.equal(t.raw.ClientWaitSync(*fence, 0, 0), gl::ALREADY_SIGNALED, &format!("fence {i}"));
        t.raw.DeleteSync(*fence);
    }
    // CONDITION_SATISFIED is what a wait that had to wait reports; with enough work it is seen.
    let mut seen = Vec::new();
    for doubled in 0..14 {
        for _ in 0..20 {
            t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 10 << doubled);
        }
        let fence = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        seen.push(t.raw.ClientWaitSync(fence, gl::SYNC_FLUSH_COMMANDS_BIT, 20_000_000_000));
        t.raw.DeleteSync(fence);
        if seen.contains(&gl::CONDITION_SATISFIED) {
            break;
        }
    }
    t.check(seen.contains(&gl::CONDITION_SATISFIED), format!("no wait waited: {seen:x?}"));
    t.check(!seen.contains(&gl::TIMEOUT_EXPIRED), format!("a wait ran out: {seen:x?}"));
    // A call that may not wait never says that it did, however soon the fence is signalled.
    for i in 0..100 {
        let fence = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        let polled = t.raw.ClientWaitSync(fence, gl::SYNC_FLUSH_COMMANDS_BIT, 0);
        t.check(matches!(polled, gl::ALREADY_SIGNALED | gl::TIMEOUT_EXPIRED), format!("poll {i}: {polled:#x}"));
        t.raw.DeleteSync(fence);
    }
}

unsafe fn runs_out_and_ends(t: &Scene) {
    // With much work before it, a fence is seen unsignalled, then a wait runs out, and a longer one is satisfied.
    t.target(512, 512);
    let program = t.program(
        FULL_VS,
        "uniform int n; in vec2 uv; out vec4 result;
         void main() {
            vec2 v = uv;
            for (int i = 0; i < n; i++) v = vec2(sin(v.x * 3.0 + v.y), cos(v.y * 2.0 - v.x));
            result = vec4(v * 0.5 + 0.5, 1.0, 1.0);
         }",
    );
    t.vertex_array();
    t.set_int(program, "n", 4);
    t.fill();
    t.finish();
    let mut seen = Vec::new();
    // The work doubles until the device needs a while for it.
    for n in (0..16).map(|doubled| 20 << doubled) {
        t.set_int(program, "n", n);
        t.fill();
        let fence = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        t.flush();
        let known = gl::NativeFence(fence.cast());
        let status = t.get_sync_status(known);
        let polled = t.raw.ClientWaitSync(fence, 0, 0);
        let start = std::time::Instant::now();
        let short = t.raw.ClientWaitSync(fence, 0, 1_000_000);
        let took = start.elapsed();
        let last = t.raw.ClientWaitSync(fence, gl::SYNC_FLUSH_COMMANDS_BIT, 60_000_000_000);
        t.check(matches!(last, gl::CONDITION_SATISFIED | gl::ALREADY_SIGNALED), format!("the last wait: {last:#x}"));
        t.equal(t.get_sync_status(known), gl::SIGNALED, "its status");
        t.equal(t.raw.ClientWaitSync(fence, 0, 0), gl::ALREADY_SIGNALED, "waited for again");
        t.raw.DeleteSync(fence);
        seen.push((n, status, polled, short, last));
        if status == gl::UNSIGNALED && polled == gl::TIMEOUT_EXPIRED && short == gl::TIMEOUT_EXPIRED {
            t.check(took.as_millis() >= 1, format!("a wait of a millisecond ran out after {took:?}"));
            // The device may have ended just before the last wait: with more work it does not.
            if last == gl::CONDITION_SATISFIED {
                return;
            }
        }
    }
    t.fail(format!("no wait ran out: {seen:x?}"));
}

unsafe fn wait_and_errors(t: &Scene) {
    t.target(8, 8);
    white(t);
    let fence = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
    t.raw.WaitSync(fence, 1, gl::TIMEOUT_IGNORED);
    t.error(gl::INVALID_VALUE, "flags of glWaitSync");
    t.raw.WaitSync(fence, 0, 5);
    t.error(gl::INVALID_VALUE, "a timeout of glWaitSync");
    t.equal(t.raw.ClientWaitSync(fence, 0x8000_0000, 0), gl::WAIT_FAILED, "flags of glClientWaitSync");
    t.error(gl::INVALID_VALUE, "flags of glClientWaitSync");
    t.check(t.raw.FenceSync(gl::BLEND, 0).is_null(), "a condition that is none");
    t.error(gl::INVALID_ENUM, "a condition that is none");
    // A server wait for an unflushed fence of the same context ends.
    for _ in 0..10 {
        t.fill();
        let fence = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
        t.raw.WaitSync(fence, 0, gl::TIMEOUT_IGNORED);
        t.fill();
        t.raw.DeleteSync(fence);
    }
    t.finish();
    // A fence that is deleted while something waits for it lives until then.
    t.raw.WaitSync(fence, 0, gl::TIMEOUT_IGNORED);
    t.raw.DeleteSync(fence);
    t.raw.DeleteSync(std::ptr::without_provenance_mut(0x77));
    t.error(gl::INVALID_VALUE, "a sync object that is none");
    t.pixel(&t.read(8, 8), 1, 1, [255; 4], 0, "drawing goes on");
    let mut timeout = 0i64;
    t.raw.GetInteger64v(gl::MAX_SERVER_WAIT_TIMEOUT, &mut timeout);
    t.check(timeout >= 0, "MAX_SERVER_WAIT_TIMEOUT");
    t.no_error("waits");
}

/// A program that captures, in use, with rasterisation off; `fs` may read what is captured.
unsafe fn capturing(t: &Scene, vs: &str, names: &[&str], mode: u32) -> gl::NativeProgram {
    t.target(8, 8);
    let program = t.program_of(
        &[(gl::VERTEX_SHADER, vs), (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }")],
        |p| t.transform_feedback_varyings(p, names, mode),
    );
    t.vertex_array();
    t.enable(gl::RASTERIZER_DISCARD);
    program
}

/// Draws while capturing and returns the words of the buffer bound to index 0.
unsafe fn captured(t: &Scene, mode: u32, n_words: usize, draw: &dyn Fn()) -> Vec<u32> {
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &vec![0xeeee_eeeeu32; n_words]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    t.begin_transform_feedback(mode);
    draw();
    t.end_transform_feedback();
    let mut data = vec![0u32; n_words];
    t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
    data
}

unsafe fn types_and_arrays(t: &Scene) {
    // Every type of varying, arrays whole and by element, matrices by column, and the built-in ones.
    let vs = "flat out int i; flat out uint u; flat out ivec2 i2; flat out uvec4 u4; out mat3x2 m; out vec3 list[2]; out float f;
        void main() {
            i = -gl_VertexID; u = uint(gl_VertexID) + 4000000000u; i2 = ivec2(1, -2); u4 = uvec4(1u, 2u, 3u, 4u);
            m = mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, 6.0); list[0] = vec3(7.0); list[1] = vec3(8.0, 9.0, 10.0); f = 0.5;
            gl_Position = vec4(11.0, 12.0, 13.0, 1.0); gl_PointSize = 3.0;
        }";
    let names = ["i", "u", "u4", "i2", "m", "list[1]", "f", "gl_PointSize", "gl_Position"];
    capturing(t, vs, &names, gl::INTERLEAVED_ATTRIBS);
    let data = captured(t, gl::POINTS, 52, &|| t.draw_arrays(gl::POINTS, 3, 2));
    for v in 0..2usize {
        let d = &data[v * 23..(v + 1) * 23];
        let id = 3 + v as i32;
        t.equal(d[0] as i32, -id, "int");
        t.equal(d[1], 4_000_000_000 + id as u32, "uint");
        t.equal(&d[2..6], &[1, 2, 3, 4], "uvec4");
        t.equal([d[6] as i32, d[7] as i32], [1, -2], "ivec2");
        let floats: Vec<f32> = d[8..].iter().map(|w| f32::from_bits(*w)).collect();
        t.equal(&floats[..6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "mat3x2");
        t.equal(&floats[6..9], &[8.0, 9.0, 10.0], "an element of an array");
        t.equal(floats[9], 0.5, "float");
        t.equal(floats[10], 3.0, "gl_PointSize");
        t.equal(&floats[11..15], &[11.0, 12.0, 13.0, 1.0], "gl_Position");
    }
    t.equal(&data[46..], &[0xeeee_eeee; 6], "behind the last vertex");
    capturing(t, vs, &["list"], gl::INTERLEAVED_ATTRIBS);
    let data = captured(t, gl::POINTS, 6, &|| t.draw_arrays(gl::POINTS, 0, 1));
    let floats: Vec<f32> = data.iter().map(|w| f32::from_bits(*w)).collect();
    t.equal(floats, vec![7.0, 7.0, 7.0, 8.0, 9.0, 10.0], "an array as a whole");
}

unsafe fn every_mode(t: &Scene) {
    // What of each drawing mode is captured, in which order (GL 3.3 section 2.17): strips and fans become triangles.
    capturing(
        t,
        "flat out int id; void main() { id = gl_VertexID; gl_Position = vec4(0.0); }",
        &["id"],
        gl::INTERLEAVED_ATTRIBS,
    );
    for (mode, capture, n, expected) in [
        (gl::POINTS, gl::POINTS, 3, &[0, 1, 2][..]),
        (gl::LINES, gl::LINES, 5, &[0, 1, 2, 3]),
        (gl::LINE_STRIP, gl::LINES, 3, &[0, 1, 1, 2]),
        (gl::LINE_LOOP, gl::LINES, 3, &[0, 1, 1, 2, 2, 0]),
        (gl::TRIANGLES, gl::TRIANGLES, 7, &[0, 1, 2, 3, 4, 5]),
    ] {
        let data = captured(t, capture, expected.len() + 2, &|| t.draw_arrays(mode, 0, n));
        let actual: Vec<i32> = data.iter().map(|w| *w as i32).collect();
        t.equal(&actual[..expected.len()], expected, &format!("mode {mode:#x}"));
        t.equal(data[expected.len()], 0xeeee_eeee, &format!("mode {mode:#x}: nothing more"));
    }
    // The order of a strip's or fan's corners may rotate, their winding not.
    for (mode, triangles) in
        [(gl::TRIANGLE_STRIP, [[0, 1, 2], [2, 1, 3], [2, 3, 4]]), (gl::TRIANGLE_FAN, [[0, 1, 2], [0, 2, 3], [0, 3, 4]])]
    {
        let data = captured(t, gl::TRIANGLES, 9, &|| t.draw_arrays(mode, 0, 5));
        for (i, e) in triangles.into_iter().enumerate() {
            let a = [0, 1, 2].map(|k| data[i * 3 + k] as i32);
            let rotations = [e, [e[1], e[2], e[0]], [e[2], e[0], e[1]]];
            t.check(rotations.contains(&a), format!("mode {mode:#x} triangle {i}: {a:?}, expected {e:?}"));
        }
        t.compare_values(&format!("mode{mode:x}"), &data.iter().map(|w| *w as f32).collect::<Vec<_>>(), 0.0);
    }
    // Indexed, with a restart.
    t.enable(gl::PRIMITIVE_RESTART);
    t.raw.PrimitiveRestartIndex(9);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[4u8, 3, 2, 9, 1, 0]);
    let data = captured(t, gl::LINES, 7, &|| t.draw_elements(gl::LINE_STRIP, 6, gl::UNSIGNED_BYTE, 0));
    t.equal(&data[..7], &[4, 3, 3, 2, 1, 0, 0xeeee_eeee], "indexed strips with a restart");
}

unsafe fn and_rasterisation(t: &Scene) {
    // Capturing and drawing at once.
    t.target(16, 16);
    t.program_of(
        &[
            (gl::VERTEX_SHADER, "layout(location = 0) in vec2 position; out vec2 uv; void main() { uv = position * 0.5 + 0.5; gl_Position = vec4(position, 0.0, 1.0); }"),
            (gl::FRAGMENT_SHADER, "in vec2 uv; out vec4 r; void main() { r = vec4(uv, 0.0, 1.0); }"),
        ],
        |p| t.transform_feedback_varyings(p, &["uv"], gl::INTERLEAVED_ATTRIBS),
    );
    t.positions(&[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]);
    let data = captured(t, gl::TRIANGLES, 12, &|| t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4));
    let floats: Vec<f32> = data.iter().map(|w| f32::from_bits(*w)).collect();
    t.equal(&floats[..6], &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0], "the first triangle");
    let picture = t.read(16, 16);
    t.pixel(&picture, 15, 15, [247, 247, 0, 255], 1, "drawn as well");
    t.equal(picture.count(|p| p[3] == 255), 256, "pixels drawn");
    t.compare("picture", &picture, crate::picture::Tolerance::EXACT);
}

unsafe fn several_draws(t: &Scene) {
    // Draws append; ending and beginning again starts over; instances are captured one after another.
    capturing(
        t,
        "flat out ivec2 id; void main() { id = ivec2(gl_VertexID, gl_InstanceID); gl_Position = vec4(0.0); }",
        &["id"],
        gl::INTERLEAVED_ATTRIBS,
    );
    let data = captured(t, gl::POINTS, 16, &|| {
        t.draw_arrays(gl::POINTS, 0, 2);
        t.draw_arrays_instanced(gl::POINTS, 5, 1, 3);
        // What does not touch feedback may happen between: uniforms, textures, buffer updates, another framebuffer.
        t.texture(1, 1, &[[0; 4]]);
        t.target(4, 4);
        t.draw_arrays(gl::POINTS, 9, 2);
    });
    let actual: Vec<i32> = data.iter().map(|w| *w as i32).collect();
    t.equal(&actual[..14], &[0, 0, 1, 0, 5, 0, 5, 1, 5, 2, 9, 0, 10, 0], "appended");
    t.equal(data[14], 0xeeee_eeee, "nothing more");
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[0u32; 4]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    for first in [3, 7] {
        t.begin_transform_feedback(gl::POINTS);
        t.draw_arrays(gl::POINTS, first, 1);
        t.end_transform_feedback();
    }
    let mut data = [0u32; 4];
    t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
    t.equal(data, [7, 0, 0, 0], "begun again, it starts at the beginning");
}

unsafe fn separate_queries(t: &Scene) {
    // Buffers of different sizes: the smallest decides, for all.
    capturing(
        t,
        "out float a; out vec2 b; void main() { a = float(gl_VertexID); b = vec2(a * 2.0, a * 3.0); gl_Position = vec4(0.0); }",
        &["a", "b"],
        gl::SEPARATE_ATTRIBS,
    );
    let (first, second) = (
        t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[-1.0f32; 10]),
        t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[-1.0f32; 7]),
    );
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(first));
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 1, Some(second));
    let (generated, written) = (t.create_query().unwrap(), t.create_query().unwrap());
    t.begin_query(gl::PRIMITIVES_GENERATED, generated);
    t.begin_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, written);
    t.begin_transform_feedback(gl::POINTS);
    t.draw_arrays(gl::POINTS, 1, 8);
    t.end_transform_feedback();
    t.end_query(gl::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    t.end_query(gl::PRIMITIVES_GENERATED);
    t.equal((result(t, generated), result(t, written)), (8, 3), "generated and written");
    let read = |buffer, n| {
        t.bind_buffer(gl::COPY_READ_BUFFER, Some(buffer));
        let mut data = vec![0.0f32; n];
        t.get_buffer_sub_data(gl::COPY_READ_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
        data
    };
    t.equal(read(second, 7), vec![2.0, 3.0, 4.0, 6.0, 6.0, 9.0, -1.0], "the smaller buffer");
    t.equal(&read(first, 10)[..3], &[1.0, 2.0, 3.0], "the larger buffer");
    t.begin_transform_feedback(gl::POINTS);
    t.no_error("both buffers are bound");
    t.end_transform_feedback();
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 1, None);
    t.begin_transform_feedback(gl::POINTS);
    t.error(gl::INVALID_OPERATION, "one of two buffers is missing");
}

unsafe fn state_and_reflection(t: &Scene) {
    let program = capturing(
        t,
        "out vec2 a; flat out int b[3]; void main() { a = vec2(0.0); b[0] = b[1] = b[2] = 1; gl_Position = vec4(0.0); }",
        &["b", "a"],
        gl::SEPARATE_ATTRIBS,
    );
    let get = |name| {
        let mut v = 0;
        t.raw.GetProgramiv(program.0.get(), name, &mut v);
        v
    };
    t.equal(get(gl::TRANSFORM_FEEDBACK_VARYINGS), 2, "varyings");
    t.equal(get(gl::TRANSFORM_FEEDBACK_BUFFER_MODE) as u32, gl::SEPARATE_ATTRIBS, "mode");
    t.check(get(gl::TRANSFORM_FEEDBACK_VARYING_MAX_LENGTH) >= 2, "longest name");
    for (i, (name, kind, size)) in [("b", gl::INT, 3), ("a", gl::FLOAT_VEC2, 1)].into_iter().enumerate() {
        match t.get_transform_feedback_varying(program, i as u32) {
            Some(v) => t.equal((v.name.as_str(), v.tftype, v.size), (name, kind, size), "varying"),
            None => t.fail(format!("no varying {i}")),
        }
    }
    // Names may change; only a link makes them count.
    t.transform_feedback_varyings(program, &["a"], gl::INTERLEAVED_ATTRIBS);
    t.equal(get(gl::TRANSFORM_FEEDBACK_VARYINGS), 2, "before the link");
    t.link_program(program);
    t.equal(get(gl::TRANSFORM_FEEDBACK_VARYINGS), 1, "after the link");
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[0u8; 64]);
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 2, Some(buffer), 8, 20);
    let (mut binding, mut start, mut size) = (0, 0i64, 0i64);
    t.raw.GetIntegeri_v(gl::TRANSFORM_FEEDBACK_BUFFER_BINDING, 2, &mut binding);
    t.raw.GetInteger64i_v(gl::TRANSFORM_FEEDBACK_BUFFER_START, 2, &mut start);
    t.raw.GetInteger64i_v(gl::TRANSFORM_FEEDBACK_BUFFER_SIZE, 2, &mut size);
    t.equal((binding as u32, start, size), (buffer.0.get(), 8, 20), "an indexed binding");
    t.equal(
        t.get_parameter_i32(gl::TRANSFORM_FEEDBACK_BUFFER_BINDING) as u32,
        buffer.0.get(),
        "the general binding changes with it",
    );
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer), 6, 20);
    t.error(gl::INVALID_VALUE, "an offset that is no multiple of four");
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer), 0, 18);
    t.error(gl::INVALID_VALUE, "a size that is no multiple of four");
    let most = t.get_parameter_i32(gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS) as u32;
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, most, Some(buffer));
    t.error(gl::INVALID_VALUE, "a binding past the last");
}

unsafe fn errors_while_active(t: &Scene) {
    let program = capturing(
        t,
        "out vec2 a; void main() { a = vec2(float(gl_VertexID)); gl_Position = vec4(0.0); }",
        &["a"],
        gl::INTERLEAVED_ATTRIBS,
    );
    let other = t.program_of(&[(gl::VERTEX_SHADER, POSITION_VS), (gl::FRAGMENT_SHADER, COLOR_FS)], |_| {});
    t.use_program(Some(other));
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[9.0f32; 8]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    t.begin_transform_feedback(gl::POINTS);
    t.error(gl::INVALID_OPERATION, "a program that captures nothing");
    t.use_program(Some(program));
    t.begin_transform_feedback(gl::TRIANGLE_STRIP);
    t.error(gl::INVALID_ENUM, "a mode of strips");
    t.begin_transform_feedback(gl::POINTS);
    t.use_program(Some(other));
    t.error(gl::INVALID_OPERATION, "another program");
    t.link_program(program);
    t.error(gl::INVALID_OPERATION, "linking the active program");
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, None);
    t.error(gl::INVALID_OPERATION, "another buffer");
    t.bind_buffer_range(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer), 0, 4);
    t.error(gl::INVALID_OPERATION, "another range");
    t.draw_arrays(gl::LINES, 0, 2);
    t.error(gl::INVALID_OPERATION, "lines while capturing points");
    t.delete_program(program);
    t.no_error("deleting the active program marks it");
    t.draw_arrays(gl::POINTS, 1, 2);
    t.end_transform_feedback();
    t.no_error("the end");
    let mut data = [0.0f32; 8];
    t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
    t.equal(data, [1.0, 1.0, 2.0, 2.0, 9.0, 9.0, 9.0, 9.0], "what the good draw captured");
    t.end_transform_feedback();
    t.error(gl::INVALID_OPERATION, "ended twice");
}
