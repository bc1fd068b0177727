//! Share groups: when another context sees a change, what deletion means for it, several threads over the same objects.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};

use glow::{self as gl, HasContext as _};

use super::context::Other;
use crate::egl::{ContextRequest, GlContext};
use crate::scene::{transfer_of, Scenario, Scene, COLOR_FS, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("share_texture_changes", texture_changes),
    Scenario::new("share_buffer_changes", buffer_changes),
    Scenario::new("share_programs", programs),
    Scenario::new("share_samplers_and_renderbuffers", samplers_and_renderbuffers),
    Scenario::new("share_fences", fences),
    Scenario::new("share_fence_without_flush", fence_without_flush),
    Scenario::new("share_deletion", deletion),
    Scenario::new("share_names", names),
    Scenario::new("share_drawn_there_sampled_here", drawn_there_sampled_here),
    Scenario::new("share_threads_make_and_delete", threads_make_and_delete),
    Scenario::new("share_threads_draw_with_one_texture", threads_draw_with_one_texture),
    Scenario::new("share_uploads_while_drawing", uploads_while_drawing),
];

/// A second context of the scene's share group.
fn second(t: &Scene) -> GlContext {
    t.context.egl().context(&ContextRequest::DEFAULT, Some(&t.context)).expect("a shared context")
}

/// Runs `body` with `other` current on this thread, then makes the scene's context current again.
unsafe fn within(t: &Scene, other: &GlContext, body: impl FnOnce(&Other)) {
    t.finish();
    t.context.release().unwrap();
    {
        let entered = Other::enter(other);
        body(&entered);
        entered.gl.finish();
        t.equal(entered.gl.get_error(), gl::NO_ERROR, "an error in the other context");
    }
    t.context.make_current().unwrap();
}

unsafe fn upload(gl: &gl::Context, size: i32, color: [u8; 4]) {
    let texels = vec![color; (size * size) as usize];
    let data = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels)));
    gl.tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, size, size, 0, gl::RGBA, gl::UNSIGNED_BYTE, data);
}

unsafe fn texture_changes(t: &Scene) {
    // A change made there is seen here after the texture is bound again (GL 3.3 appendix D.3.3).
    t.target(4, 4);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    let texture = t.texture(2, 2, &[[1; 4]; 4]);
    let look = |expected: [u8; 4], what: &str| {
        t.bind_texture(gl::TEXTURE_2D, Some(texture));
        t.fill();
        t.pixel(&t.read(4, 4), 2, 2, expected, 0, what);
    };
    look([1; 4], "at first");
    let other = second(t);
    within(t, &other, |o| {
        o.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        let texels = [[9u8, 8, 7, 6]; 4];
        let data = gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels)));
        o.gl.tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 2, 2, gl::RGBA, gl::UNSIGNED_BYTE, data);
    });
    look([9, 8, 7, 6], "contents replaced there");
    within(t, &other, |o| upload(&o.gl, 8, [50, 60, 70, 80]));
    look([50, 60, 70, 80], "storage replaced there");
    let get = |name| t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, name);
    t.equal(get(gl::TEXTURE_WIDTH), 8, "its size");
    within(t, &other, |o| {
        o.gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R, gl::ALPHA as i32);
        o.gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_EDGE as i32);
    });
    look([80, 60, 70, 80], "a parameter set there");
    t.equal(
        t.get_tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S) as u32,
        gl::CLAMP_TO_EDGE,
        "a parameter read here",
    );
    // The other way round.
    upload(t, 2, [5, 5, 5, 5]);
    within(t, &other, |o| {
        o.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        let mut texels = [[0u8; 4]; 4];
        let data = gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut texels)));
        o.gl.get_tex_image(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, data);
        t.equal(texels, [[5; 4]; 4], "uploaded here, read there");
    });
}

unsafe fn buffer_changes(t: &Scene) {
    t.target(8, 8);
    let program = t.program(crate::scene::POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[[-1.0f32, -1.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 0.0]]);
    t.attribute(0, 2, 2, 0);
    let count = |what: &str, expected: usize| {
        t.clear(gl::COLOR_BUFFER_BIT);
        // A fresh vertex array, because the one that holds the buffer since before may keep what it had.
        t.vertex_array();
        t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
        t.attribute(0, 2, 2, 0);
        t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
        t.equal(t.read(8, 8).count(|p| p[3] != 0), expected, what);
    };
    count("at first", 16);
    let other = second(t);
    within(t, &other, |o| {
        o.gl.bind_buffer(gl::COPY_WRITE_BUFFER, Some(buffer));
        let wider = [[-1.0f32, -1.0], [1.0, -1.0], [-1.0, 0.0], [1.0, 0.0]];
        o.gl.buffer_sub_data_u8_slice(gl::COPY_WRITE_BUFFER, 0, bytemuck::cast_slice(&wider));
    });
    count("contents replaced there", 32);
    within(t, &other, |o| {
        let whole = [[-1.0f32, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [0.0, 0.0]];
        o.gl.buffer_data_u8_slice(gl::COPY_WRITE_BUFFER, bytemuck::cast_slice(&whole), gl::DYNAMIC_DRAW);
    });
    count("storage replaced there", 64);
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_SIZE), 40, "its size");
    // A mapping made there keeps the buffer from being mapped here.
    within(t, &other, |o| {
        let p = o.raw.MapBufferRange(gl::COPY_WRITE_BUFFER, 0, 8, gl::MAP_WRITE_BIT);
        t.check(!p.is_null(), "mapping there");
    });
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, 0x88BC), 1, "BUFFER_MAPPED");
    let p = t.raw.MapBufferRange(gl::ARRAY_BUFFER, 8, 8, gl::MAP_WRITE_BIT);
    t.check(p.is_null(), "a second mapping");
    t.error(gl::INVALID_OPERATION, "a second mapping");
    within(t, &other, |o| {
        o.raw.UnmapBuffer(gl::COPY_WRITE_BUFFER);
    });
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, 0x88BC), 0, "unmapped");
}

unsafe fn programs(t: &Scene) {
    t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    let other = second(t);
    // Uniform values belong to the program, not to a context.
    within(t, &other, |o| {
        o.gl.use_program(Some(program));
        let location = o.gl.get_uniform_location(program, "color");
        o.gl.uniform_4_f32(location.as_ref(), 0.0, 1.0, 0.0, 1.0);
    });
    t.use_program(Some(program));
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "a uniform set there");
    // A link there takes effect here with the next glUseProgram.
    within(t, &other, |o| {
        let shader = o.gl.create_shader(gl::FRAGMENT_SHADER).unwrap();
        o.gl.shader_source(shader, "#version 330 core\nout vec4 r; void main() { r = vec4(0.0, 0.0, 1.0, 1.0); }");
        o.gl.compile_shader(shader);
        let (mut n, mut attached) = (0, [0u32; 4]);
        o.raw.GetAttachedShaders(program.0.get(), 4, &mut n, attached.as_mut_ptr());
        t.equal(n, 2, "shaders attached here");
        for name in attached.into_iter().filter_map(std::num::NonZeroU32::new) {
            let mut kind = 0;
            o.raw.GetShaderiv(name.get(), gl::SHADER_TYPE, &mut kind);
            if kind as u32 == gl::FRAGMENT_SHADER {
                o.gl.detach_shader(program, gl::NativeShader(name));
            }
        }
        o.gl.attach_shader(program, shader);
        o.gl.link_program(program);
        t.check(o.gl.get_program_link_status(program), o.gl.get_program_info_log(program));
        o.gl.use_program(None);
    });
    t.use_program(Some(program));
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 0, 255, 255], 0, "linked there");
    // Shaders are shared: compiled there, attached here.
    let mut shader = None;
    within(t, &other, |o| {
        let s = o.gl.create_shader(gl::FRAGMENT_SHADER).unwrap();
        o.gl.shader_source(s, "#version 330 core\nout vec4 r; void main() { r = vec4(1.0, 0.0, 1.0, 1.0); }");
        o.gl.compile_shader(s);
        shader = Some(s);
    });
    let mixed = t.create_program().unwrap();
    let vertex = t.create_shader(gl::VERTEX_SHADER).unwrap();
    t.shader_source(vertex, &format!("#version 330 core\n{FULL_VS}"));
    t.compile_shader(vertex);
    t.attach_shader(mixed, vertex);
    t.attach_shader(mixed, shader.unwrap());
    t.link_program(mixed);
    t.check(t.get_program_link_status(mixed), t.get_program_info_log(mixed));
    t.use_program(Some(mixed));
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [255, 0, 255, 255], 0, "a shader compiled there");
}

unsafe fn samplers_and_renderbuffers(t: &Scene) {
    let target = t.target(4, 4);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.texture(2, 1, &[[255, 0, 0, 255], [0, 0, 255, 255]]);
    let sampler = t.create_sampler().unwrap();
    t.bind_sampler(0, Some(sampler));
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, 4, 4);
    let other = second(t);
    within(t, &other, |o| {
        t.check(
            o.raw.IsSampler(sampler.0.get()) == 1 && o.gl.is_renderbuffer(buffer),
            "samplers and renderbuffers are shared",
        );
        o.gl.sampler_parameter_i32(sampler, gl::TEXTURE_MAG_FILTER, gl::LINEAR as i32);
        let framebuffer = o.gl.create_framebuffer().unwrap();
        o.gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        o.gl.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RENDERBUFFER, Some(buffer));
        o.gl.clear_color(0.0, 1.0, 1.0, 1.0);
        o.gl.clear(gl::COLOR_BUFFER_BIT);
    });
    t.bind_sampler(0, Some(sampler));
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    t.fill();
    let middle = t.read(4, 4).pixel(1, 1);
    t.check(middle[0] > 0 && middle[2] > 0, format!("a filter set there: {middle:?}"));
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RENDERBUFFER, Some(buffer));
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 255, 255], 0, "a renderbuffer cleared there");
    // Containers and queries are per context.
    let array = t.vertex_array();
    let query = t.create_query().unwrap();
    t.begin_query(gl::SAMPLES_PASSED, query);
    t.end_query(gl::SAMPLES_PASSED);
    within(t, &other, |o| {
        t.check(o.raw.IsVertexArray(array.0.get()) == 0, "vertex arrays are not shared");
        t.equal(o.raw.IsQuery(query.0.get()), 0, "queries are not shared");
    });
}

unsafe fn fences(t: &Scene) {
    // A fence made here is waited for there, by the client and by the server, and deleted there.
    let target = t.target(32, 32);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.5, 0.0, 1.0]);
    t.vertex_array();
    (0..50).for_each(|_| t.fill());
    let fence = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
    t.flush();
    let other = second(t);
    let address = fence.expose_provenance();
    let image = target.texture;
    let (known, texel, waited, error) = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the other context is current on this thread while `o` lives.
            unsafe {
                let o = Other::enter(&other);
                let fence = std::ptr::with_exposed_provenance_mut(address);
                let known = o.gl.is_sync(gl::NativeFence(std::ptr::with_exposed_provenance_mut(address)));
                o.raw.WaitSync(fence, 0, gl::TIMEOUT_IGNORED);
                let framebuffer = o.gl.create_framebuffer().unwrap();
                o.gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
                let attachment = gl::COLOR_ATTACHMENT0;
                o.gl.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, Some(image), 0);
                let mut texel = [0u8; 4];
                let data = gl::PixelPackData::Slice(Some(&mut texel));
                o.gl.read_pixels(7, 7, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, data);
                let waited = o.raw.ClientWaitSync(fence, 0, 20_000_000_000);
                o.raw.DeleteSync(fence);
                (known, texel, waited, o.gl.get_error())
            }
        });
        thread.join().expect("the other thread ends well")
    });
    t.check(known, "sync objects are shared");
    t.check(texel[0] == 255 && texel[1].abs_diff(128) <= 1, format!("after a server wait: {texel:?}"));
    t.check(matches!(waited, gl::ALREADY_SIGNALED | gl::CONDITION_SATISFIED), format!("a client wait: {waited:#x}"));
    t.equal(error, gl::NO_ERROR, "waits of another context");
    t.check(!t.is_sync(gl::NativeFence(fence.cast())), "deleted there");
}

unsafe fn fence_without_flush(t: &Scene) {
    // The other context waits on the server for a fence that was not flushed. Its commands may have to wait until that
    // happens, but its thread goes on, and neither do the contexts block each other for ever.
    let target = t.target(16, 16);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    let others: Vec<GlContext> = (0..2).map(|_| second(t)).collect();
    for round in 0..20u8 {
        let color = [f32::from(round) / 255.0, 1.0, 0.0, 1.0];
        t.set_vec4(program, "color", color);
        t.fill();
        let fences = [0, 1].map(|_| t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0).expose_provenance());
        let waiting = Barrier::new(3);
        std::thread::scope(|scope| {
            let threads: Vec<_> = others
                .iter()
                .zip(fences)
                .map(|(other, fence)| {
                    let waiting = &waiting;
                    scope.spawn(move || {
                        // SAFETY: each context is current on one thread while `o` lives.
                        unsafe {
                            let o = Other::enter(other);
                            o.raw.WaitSync(std::ptr::with_exposed_provenance_mut(fence), 0, gl::TIMEOUT_IGNORED);
                            o.gl.flush();
                            // Only now the first context goes on: it must not be needed to come this far.
                            waiting.wait();
                            let framebuffer = o.gl.create_framebuffer().unwrap();
                            o.gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
                            let (point, kind) = (gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D);
                            o.gl.framebuffer_texture_2d(gl::FRAMEBUFFER, point, kind, Some(target.texture), 0);
                            let mut texel = [0u8; 4];
                            let data = gl::PixelPackData::Slice(Some(&mut texel));
                            o.gl.read_pixels(9, 9, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, data);
                            o.gl.delete_framebuffer(framebuffer);
                            (texel, o.gl.get_error())
                        }
                    })
                })
                .collect();
            waiting.wait();
            t.flush();
            for thread in threads {
                let seen = thread.join().expect("the other thread ends well");
                t.equal(seen, ([round, 255, 0, 255], gl::NO_ERROR), &format!("round {round}"));
            }
        });
        fences.into_iter().for_each(|fence| t.raw.DeleteSync(std::ptr::with_exposed_provenance_mut(fence)));
    }
}

unsafe fn deletion(t: &Scene) {
    // An object that is deleted there stays as long as it is bound or attached here (GL 3.3 appendix D.1.2).
    t.target(4, 4);
    t.program(FULL_VS, TEXTURE_FS);
    let array = t.vertex_array();
    let vertices = t.buffer(gl::ARRAY_BUFFER, &[0.0f32; 8]);
    t.attribute(3, 2, 2, 0);
    let indices = t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2]);
    let texture = t.texture(2, 2, &[[7, 8, 9, 10]; 4]);
    let attached = t.texture(4, 4, &[[200; 4]; 16]);
    let framebuffer = t.framebuffer_of(attached);
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    let other = second(t);
    within(t, &other, |o| {
        o.gl.delete_texture(texture);
        o.gl.delete_texture(attached);
        o.gl.delete_buffer(vertices);
        o.gl.delete_buffer(indices);
        t.check(!o.gl.is_texture(texture), "the name is free there");
    });
    t.check(!t.is_texture(texture) && !t.is_buffer(vertices), "the names are free here");
    t.complete();
    t.pixel(&t.read(4, 4), 1, 1, [200; 4], 0, "an attached texture lives");
    t.viewport(0, 0, 4, 4);
    t.bind_vertex_array(Some(array));
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
    t.pixel(&t.read(4, 4), 1, 1, [7, 8, 9, 10], 0, "a bound texture and a vertex array's buffers live");
    // New objects take the names over; the old ones, still bound here, are others.
    let mut reused = Vec::new();
    within(t, &other, |o| {
        for _ in 0..4 {
            let texture = o.gl.create_texture().unwrap();
            o.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
            upload(&o.gl, 2, [1, 1, 1, 1]);
            reused.push(texture);
        }
    });
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
    t.pixel(&t.read(4, 4), 1, 1, [7, 8, 9, 10], 0, "the bound texture after its name was given away");
    t.bind_texture(gl::TEXTURE_2D, Some(reused[0]));
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
    t.pixel(&t.read(4, 4), 1, 1, [1; 4], 0, "the new texture of that name");
    t.delete_framebuffer(framebuffer);
}

unsafe fn names(t: &Scene) {
    // Names that were generated here are taken there, and the other way round; containers count by themselves.
    let other = second(t);
    let mine: Vec<u32> = (0..20).map(|_| t.create_texture().unwrap().0.get()).collect();
    let mut theirs = Vec::new();
    within(t, &other, |o| theirs = (0..20).map(|_| o.gl.create_texture().unwrap().0.get()).collect());
    let mut all: Vec<u32> = mine.iter().chain(&theirs).copied().collect();
    all.sort_unstable();
    all.dedup();
    t.equal(all.len(), 40, "texture names of both contexts differ");
    // An object that was made there is bound here at once.
    let texture = gl::NativeTexture(std::num::NonZeroU32::new(theirs[3]).unwrap());
    t.check(!t.is_texture(texture), "a name is no texture before it is bound");
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.no_error("a name that was generated there");
    upload(t, 1, [4, 4, 4, 4]);
    within(t, &other, |o| {
        o.gl.bind_texture(gl::TEXTURE_3D, Some(texture));
        t.equal(o.gl.get_error(), gl::INVALID_OPERATION, "its target was decided here");
        o.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        t.equal(o.gl.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_WIDTH), 1, "its image");
    });
    // Bindings and state are each context's own.
    t.active_texture(gl::TEXTURE3);
    t.clear_color(0.5, 0.5, 0.5, 0.5);
    within(t, &other, |o| {
        t.equal(o.gl.get_parameter_i32(gl::ACTIVE_TEXTURE) as u32, gl::TEXTURE0, "the active unit there");
        let mut color = [9.0f32; 4];
        o.gl.get_parameter_f32_slice(gl::COLOR_CLEAR_VALUE, &mut color);
        t.equal(color, [0.0; 4], "the clear colour there");
    });
    t.active_texture(gl::TEXTURE0);
}

unsafe fn drawn_there_sampled_here(t: &Scene) {
    // A frame is drawn there and shown here, many times, in turn, with glFinish or a fence as the only order.
    t.target(8, 8);
    let show = t.program(FULL_VS, TEXTURE_FS);
    let paint = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    let image = t.texture_name(gl::TEXTURE_2D);
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], transfer_of(gl::RGBA8), None);
    let other = second(t);
    within(t, &other, |o| {
        let framebuffer = o.gl.create_framebuffer().unwrap();
        o.gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        o.gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(image), 0);
        let array = o.gl.create_vertex_array().unwrap();
        o.gl.bind_vertex_array(Some(array));
        o.gl.viewport(0, 0, 8, 8);
        o.gl.use_program(Some(paint));
    });
    for i in 0..20u8 {
        within(t, &other, |o| {
            let location = o.gl.get_uniform_location(paint, "color");
            o.gl.uniform_4_f32(location.as_ref(), f32::from(i) * 10.0 / 255.0, 0.5, 0.0, 1.0);
            o.gl.draw_arrays(gl::TRIANGLES, 0, 3);
            let fence = o.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
            o.gl.flush();
            o.raw.WaitSync(fence, 0, gl::TIMEOUT_IGNORED);
            o.raw.DeleteSync(fence);
        });
        t.bind_texture(gl::TEXTURE_2D, Some(image));
        t.use_program(Some(show));
        t.fill();
        t.pixel(&t.read(8, 8), 3, 3, [i * 10, 128, 0, 255], 1, &format!("frame {i}"));
    }
}

unsafe fn threads_make_and_delete(t: &Scene) {
    // Four threads make, fill, read and delete objects of one share group at the same time; nobody sees another's.
    let contexts: Vec<GlContext> = (0..4).map(|_| second(t)).collect();
    let failures = Mutex::new(Vec::<String>::new());
    let note = |what: String| failures.lock().unwrap().push(what);
    std::thread::scope(|scope| {
        for (i, context) in contexts.iter().enumerate() {
            let note = &note;
            scope.spawn(move || {
                // SAFETY: the context is current on this thread while `o` lives.
                unsafe {
                    let o = Other::enter(context);
                    let gl = &o.gl;
                    for round in 0..60u8 {
                        let color = [i as u8 * 60, round, 3, 4];
                        let textures: Vec<_> = (0..4)
                            .map(|_| {
                                let texture = gl.create_texture().unwrap();
                                gl.bind_texture(gl::TEXTURE_2D, Some(texture));
                                upload(gl, 8, color);
                                texture
                            })
                            .collect();
                        let buffer = gl.create_buffer().unwrap();
                        gl.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
                        gl.buffer_data_u8_slice(gl::ARRAY_BUFFER, &[round; 256], gl::STREAM_DRAW);
                        for texture in &textures {
                            gl.bind_texture(gl::TEXTURE_2D, Some(*texture));
                            let mut texels = [[0u8; 4]; 64];
                            let data = gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut texels)));
                            gl.get_tex_image(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, data);
                            if let Some(wrong) = texels.iter().find(|t| **t != color) {
                                note(format!("thread {i} round {round}: texel {wrong:?} of {color:?}"));
                            }
                        }
                        let mut bytes = [0u8; 256];
                        gl.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut bytes);
                        if bytes != [round; 256] {
                            note(format!("thread {i} round {round}: byte {}", bytes[0]));
                        }
                        for texture in textures {
                            gl.delete_texture(texture);
                        }
                        gl.delete_buffer(buffer);
                    }
                    let error = gl.get_error();
                    if error != gl::NO_ERROR {
                        note(format!("thread {i}: error {error:#x}"));
                    }
                }
            });
        }
        // The scene's own context works as well, meanwhile.
        for i in 0..60u8 {
            t.target(8, 8);
            t.clear_color(f32::from(i) / 255.0, 0.0, 0.0, 1.0);
            t.clear(gl::COLOR_BUFFER_BIT);
            let pixel = t.read(8, 8).pixel(3, 3);
            if pixel != [i, 0, 0, 255] {
                note(format!("the scene's own clear {i}: {pixel:?}"));
            }
        }
    });
    let failures = failures.into_inner().unwrap();
    t.check(failures.is_empty(), format!("not what their thread made of them: {failures:?}"));
}

unsafe fn threads_draw_with_one_texture(t: &Scene) {
    // One texture and one program, three threads that only read them, each into a target of its own.
    let texture = t.texture(4, 4, &[[10, 20, 30, 40]; 16]);
    let program = t.program(FULL_VS, TEXTURE_FS);
    t.finish();
    let contexts: Vec<GlContext> = (0..3).map(|_| second(t)).collect();
    let barrier = Barrier::new(3);
    let failures = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for context in &contexts {
            let (barrier, failures) = (&barrier, &failures);
            scope.spawn(move || {
                // SAFETY: the context is current on this thread while `o` lives.
                unsafe {
                    let o = Other::enter(context);
                    let gl = &o.gl;
                    let own = gl.create_texture().unwrap();
                    gl.bind_texture(gl::TEXTURE_2D, Some(own));
                    upload(gl, 16, [0; 4]);
                    let framebuffer = gl.create_framebuffer().unwrap();
                    gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
                    gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(own), 0);
                    let array = gl.create_vertex_array().unwrap();
                    gl.bind_vertex_array(Some(array));
                    gl.bind_texture(gl::TEXTURE_2D, Some(texture));
                    gl.use_program(Some(program));
                    gl.viewport(0, 0, 16, 16);
                    barrier.wait();
                    for _ in 0..40 {
                        gl.clear(gl::COLOR_BUFFER_BIT);
                        for _ in 0..10 {
                            gl.draw_arrays(gl::TRIANGLES, 0, 3);
                        }
                        let mut texel = [0u8; 4];
                        let data = gl::PixelPackData::Slice(Some(&mut texel));
                        gl.read_pixels(9, 9, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, data);
                        failures.fetch_add(u32::from(texel != [10, 20, 30, 40]), Ordering::Relaxed);
                    }
                    failures.fetch_add(u32::from(gl.get_error() != gl::NO_ERROR), Ordering::Relaxed);
                }
            });
        }
    });
    t.equal(failures.load(Ordering::Relaxed), 0, "wrong pixels");
}

unsafe fn uploads_while_drawing(t: &Scene) {
    // A loader thread streams textures in; every one of them is drawn here only when its fence says that it is there.
    t.target(8, 8);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    let loader = second(t);
    let (sender, receiver) = std::sync::mpsc::channel::<(gl::NativeTexture, usize, u8)>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sender = sender;
            // SAFETY: the loader's context is current on this thread while `o` lives.
            unsafe {
                let o = Other::enter(&loader);
                for i in 0..40u8 {
                    let texture = o.gl.create_texture().unwrap();
                    o.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
                    upload(&o.gl, 64, [i * 6, 255 - i * 6, i, 255]);
                    o.gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
                    let fence = o.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
                    o.gl.flush();
                    let _ = sender.send((texture, fence.expose_provenance(), i));
                }
                o.gl.finish();
            }
        });
        let mut n = 0;
        while let Ok((texture, fence, i)) = receiver.recv() {
            let fence = std::ptr::with_exposed_provenance_mut(fence);
            if i % 2 == 0 {
                t.raw.WaitSync(fence, 0, gl::TIMEOUT_IGNORED);
            } else {
                let waited = t.raw.ClientWaitSync(fence, 0, 20_000_000_000);
                t.check(waited != gl::TIMEOUT_EXPIRED && waited != gl::WAIT_FAILED, format!("wait {waited:#x}"));
            }
            t.bind_texture(gl::TEXTURE_2D, Some(texture));
            t.fill();
            t.pixel(&t.read(8, 8), 5, 5, [i * 6, 255 - i * 6, i, 255], 0, &format!("texture {i}"));
            t.raw.DeleteSync(fence);
            t.delete_texture(texture);
            n += 1;
        }
        t.equal(n, 40, "textures that came");
    });
}
