//! Contexts: sharing, threads, creation and destruction, debug output, robustness, strings and limits.

use std::ffi::{c_char, c_void, CStr};
use std::sync::mpsc;
use std::sync::Mutex;

use glow::{self as gl, HasContext as _};

use crate::egl::ContextRequest;
use crate::picture::{Picture, Tolerance};
use crate::process;
use crate::raw::Raw;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("context_version_and_strings", version_and_strings),
    Scenario::new("context_limits", limits),
    Scenario::new("context_surfaceless", surfaceless)
        .with(ContextRequest { surfaceless: true, ..ContextRequest::DEFAULT }),
    Scenario::new("context_shared_upload_on_thread", shared_upload),
    Scenario::new("context_shared_objects", shared_objects),
    Scenario::new("context_framebuffers_not_shared", framebuffers_not_shared)
        .without_reference("Mesa shares framebuffer objects, which are containers (GL 3.3 appendix D)"),
    Scenario::new("context_several_on_threads", several_on_threads),
    Scenario::new("context_moves_between_threads", moves_between_threads),
    Scenario::new("context_fence_across_contexts", fence_across),
    Scenario::new("context_destroyed_with_shared_objects", destroyed_with_shared),
    Scenario::new("context_create_destroy_200", create_destroy),
    Scenario::new("context_switching_keeps_state", switching),
    Scenario::new("context_debug_output", debug_output).with(ContextRequest { debug: true, ..ContextRequest::DEFAULT }),
    Scenario::new("context_robust", robust).with(ContextRequest { robust: true, ..ContextRequest::DEFAULT }),
    Scenario::new("context_without_current_is_harmless", without_current),
];

unsafe fn version_and_strings(t: &Scene) {
    let (major, minor) = (t.get_parameter_i32(gl::MAJOR_VERSION), t.get_parameter_i32(gl::MINOR_VERSION));
    t.check((major, minor) >= (3, 3), format!("version {major}.{minor}"));
    let string = |name: u32| {
        let p = t.raw.GetString(name);
        if p.is_null() {
            String::new()
        } else {
            CStr::from_ptr(p).to_string_lossy().into_owned()
        }
    };
    let version = string(gl::VERSION);
    t.check(
        version.starts_with(&format!("{major}.{minor}")),
        format!("GL_VERSION {version:?} against {major}.{minor}"),
    );
    let glsl = string(gl::SHADING_LANGUAGE_VERSION);
    t.check(glsl.starts_with("3.3") || glsl.starts_with("4."), format!("GLSL {glsl:?}"));
    t.check(!string(gl::VENDOR).is_empty() && !string(gl::RENDERER).is_empty(), "GL_VENDOR and GL_RENDERER");
    t.check(t.raw.GetString(gl::EXTENSIONS).is_null(), "core profiles have no GL_EXTENSIONS string");
    t.error(gl::INVALID_ENUM, "core profiles have no GL_EXTENSIONS string");
    let n = t.get_parameter_i32(gl::NUM_EXTENSIONS);
    let mut names: Vec<String> = (0..n as u32)
        .map(|i| CStr::from_ptr(t.raw.GetStringi(gl::EXTENSIONS, i)).to_string_lossy().into_owned())
        .collect();
    t.check(names.iter().all(|n| n.starts_with("GL_")), "every extension has a name");
    t.raw.GetStringi(gl::EXTENSIONS, n as u32);
    t.error(gl::INVALID_VALUE, "an extension past the end");
    names.sort();
    let n_names = names.len();
    names.dedup();
    t.equal(names.len(), n_names, "no extension twice");
    t.check(t.get_parameter_i32(gl::CONTEXT_PROFILE_MASK) as u32 & 1 == 1, "CONTEXT_PROFILE_MASK says core");
    // What is advertised has its functions.
    for (extension, functions) in [
        ("GL_KHR_debug", &["glDebugMessageCallback", "glPushDebugGroup", "glObjectLabel"][..]),
        ("GL_ARB_buffer_storage", &["glBufferStorage"]),
        ("GL_ARB_texture_storage", &["glTexStorage2D", "glTexStorage3D"]),
        ("GL_ARB_copy_image", &["glCopyImageSubData"]),
        ("GL_ARB_direct_state_access", &["glCreateBuffers", "glTextureSubImage2D"]),
        ("GL_ARB_vertex_attrib_binding", &["glBindVertexBuffer", "glVertexAttribFormat"]),
        ("GL_ARB_draw_indirect", &["glDrawArraysIndirect"]),
        ("GL_ARB_multi_draw_indirect", &["glMultiDrawArraysIndirect"]),
        ("GL_ARB_compute_shader", &["glDispatchCompute"]),
        ("GL_ARB_separate_shader_objects", &["glBindProgramPipeline", "glProgramUniform1f"]),
        ("GL_ARB_viewport_array", &["glViewportArrayv", "glScissorIndexed"]),
        ("GL_ARB_draw_buffers_blend", &["glBlendFunciARB"]),
        ("GL_ARB_robustness", &["glGetGraphicsResetStatusARB"]),
        ("GL_ARB_clear_texture", &["glClearTexImage"]),
        ("GL_ARB_texture_view", &["glTextureView"]),
    ] {
        if names.iter().any(|n| n == extension) {
            for function in functions {
                t.check(!t.context.egl().proc_address(function).is_null(), format!("{extension} without {function}"));
            }
        }
    }
}

unsafe fn limits(t: &Scene) {
    // GL 3.3 tables 6.35 to 6.39: the least that every implementation offers.
    for (name, least, what) in [
        (gl::MAX_TEXTURE_SIZE, 1024, "MAX_TEXTURE_SIZE"),
        (gl::MAX_3D_TEXTURE_SIZE, 256, "MAX_3D_TEXTURE_SIZE"),
        (gl::MAX_ARRAY_TEXTURE_LAYERS, 256, "MAX_ARRAY_TEXTURE_LAYERS"),
        (gl::MAX_CUBE_MAP_TEXTURE_SIZE, 1024, "MAX_CUBE_MAP_TEXTURE_SIZE"),
        (gl::MAX_RENDERBUFFER_SIZE, 1024, "MAX_RENDERBUFFER_SIZE"),
        (gl::MAX_RECTANGLE_TEXTURE_SIZE, 1024, "MAX_RECTANGLE_TEXTURE_SIZE"),
        (gl::MAX_TEXTURE_BUFFER_SIZE, 65536, "MAX_TEXTURE_BUFFER_SIZE"),
        (gl::MAX_DRAW_BUFFERS, 8, "MAX_DRAW_BUFFERS"),
        (gl::MAX_COLOR_ATTACHMENTS, 8, "MAX_COLOR_ATTACHMENTS"),
        (gl::MAX_VERTEX_ATTRIBS, 16, "MAX_VERTEX_ATTRIBS"),
        (gl::MAX_VERTEX_UNIFORM_COMPONENTS, 1024, "MAX_VERTEX_UNIFORM_COMPONENTS"),
        (gl::MAX_FRAGMENT_UNIFORM_COMPONENTS, 1024, "MAX_FRAGMENT_UNIFORM_COMPONENTS"),
        (gl::MAX_VERTEX_TEXTURE_IMAGE_UNITS, 16, "MAX_VERTEX_TEXTURE_IMAGE_UNITS"),
        (gl::MAX_GEOMETRY_TEXTURE_IMAGE_UNITS, 16, "MAX_GEOMETRY_TEXTURE_IMAGE_UNITS"),
        (gl::MAX_TEXTURE_IMAGE_UNITS, 16, "MAX_TEXTURE_IMAGE_UNITS"),
        (gl::MAX_COMBINED_TEXTURE_IMAGE_UNITS, 48, "MAX_COMBINED_TEXTURE_IMAGE_UNITS"),
        (gl::MAX_VERTEX_UNIFORM_BLOCKS, 12, "MAX_VERTEX_UNIFORM_BLOCKS"),
        (gl::MAX_FRAGMENT_UNIFORM_BLOCKS, 12, "MAX_FRAGMENT_UNIFORM_BLOCKS"),
        (gl::MAX_UNIFORM_BUFFER_BINDINGS, 36, "MAX_UNIFORM_BUFFER_BINDINGS"),
        (gl::MAX_UNIFORM_BLOCK_SIZE, 16384, "MAX_UNIFORM_BLOCK_SIZE"),
        (gl::MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS, 64, "MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS"),
        (gl::MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, 4, "MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS"),
        (gl::MAX_GEOMETRY_OUTPUT_VERTICES, 256, "MAX_GEOMETRY_OUTPUT_VERTICES"),
        (gl::MAX_SAMPLES, 4, "MAX_SAMPLES"),
        (gl::MAX_CLIP_DISTANCES, 6, "MAX_CLIP_DISTANCES"),
        (gl::MAX_VARYING_COMPONENTS, 60, "MAX_VARYING_COMPONENTS"),
        (gl::MAX_DUAL_SOURCE_DRAW_BUFFERS, 1, "MAX_DUAL_SOURCE_DRAW_BUFFERS"),
        (gl::MAX_INTEGER_SAMPLES, 1, "MAX_INTEGER_SAMPLES"),
    ] {
        let v = t.get_parameter_i32(name);
        t.check(v >= least, format!("{what} is {v}, GL 3.3 asks for {least}"));
        t.no_error(what);
    }
    let mut v = [0; 2];
    t.get_parameter_i32_slice(gl::MAX_VIEWPORT_DIMS, &mut v);
    t.check(v[0] >= 1024 && v[1] >= 1024, format!("MAX_VIEWPORT_DIMS {v:?}"));
    // The largest texture can really be made.
    let size = t.get_parameter_i32(gl::MAX_TEXTURE_SIZE);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::R8 as i32,
        size,
        1,
        0,
        gl::RED,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(None),
    );
    t.no_error("a texture of the greatest width");
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::R8 as i32,
        size + 1,
        1,
        0,
        gl::RED,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(None),
    );
    t.error(gl::INVALID_VALUE, "a texture that is wider");
    t.equal(t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_WIDTH), size, "the width after the error");
}

unsafe fn surfaceless(t: &Scene) {
    t.equal(
        t.check_framebuffer_status(gl::FRAMEBUFFER),
        gl::FRAMEBUFFER_UNDEFINED,
        "no surface, no default framebuffer",
    );
    t.clear(gl::COLOR_BUFFER_BIT);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "a clear of nothing");
    t.target(8, 8);
    t.clear_color(1.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.pixel(&t.read(8, 8), 2, 2, [255, 0, 255, 255], 0, "framebuffer objects work");
}

/// The function tables of another context, current on this thread while the value lives.
pub(super) struct Other<'a> {
    pub(super) gl: gl::Context,
    pub(super) raw: Raw,
    context: &'a crate::egl::GlContext,
}

impl<'a> Other<'a> {
    pub(super) unsafe fn enter(context: &'a crate::egl::GlContext) -> Self {
        context.make_current().expect("the context becomes current");
        Self { gl: context.functions(), raw: Raw::load(context.egl()), context }
    }
}

impl Drop for Other<'_> {
    fn drop(&mut self) {
        let _ = self.context.release();
    }
}

unsafe fn shared_upload(t: &Scene) {
    let egl = t.context.egl();
    let loader = egl.context(&ContextRequest::DEFAULT, Some(&t.context)).expect("a shared context");
    let names: Vec<gl::NativeTexture> = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                // SAFETY: the loader's context is current on this thread while `other` lives.
                unsafe {
                    let other = Other::enter(&loader);
                    let gl = &other.gl;
                    let textures = (0..8u8)
                        .map(|i| {
                            let texture = gl.create_texture().unwrap();
                            gl.bind_texture(gl::TEXTURE_2D, Some(texture));
                            gl.tex_image_2d(
                                gl::TEXTURE_2D,
                                0,
                                gl::RGBA8 as i32,
                                64,
                                64,
                                0,
                                gl::RGBA,
                                gl::UNSIGNED_BYTE,
                                gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&vec![
                                    [
                                        i * 30,
                                        255 - i * 30,
                                        i,
                                        255
                                    ];
                                    4096
                                ]))),
                            );
                            gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
                            texture
                        })
                        .collect();
                    let sync = other.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0);
                    other.raw.ClientWaitSync(sync, gl::SYNC_FLUSH_COMMANDS_BIT, 20_000_000_000);
                    other.raw.DeleteSync(sync);
                    textures
                }
            })
            .join()
            .expect("the loader thread ends well")
    });
    t.target(64, 8);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.enable(gl::SCISSOR_TEST);
    for (i, texture) in names.iter().enumerate() {
        t.check(t.is_texture(*texture), format!("texture {i} is known here"));
        t.bind_texture(gl::TEXTURE_2D, Some(*texture));
        t.scissor(i as i32 * 8, 0, 8, 8);
        t.fill();
    }
    let picture = t.read(64, 8);
    for i in 0..8u8 {
        let x = usize::from(i) * 8;
        t.area(
            &picture,
            (x, 0, x + 8, 8),
            [i * 30, 255 - i * 30, i, 255],
            0,
            &format!("texture {i} from the other thread"),
        );
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn shared_objects(t: &Scene) {
    // Buffers, textures, programs and samplers are shared; framebuffers, arrays and queries are not.
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[1.0f32, 2.0, 3.0, 4.0]);
    let target = t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    let array = t.vertex_array();
    t.finish();
    let second = t.context.egl().context(&ContextRequest::DEFAULT, Some(&t.context)).expect("a shared context");
    t.context.release().unwrap();
    {
        let other = Other::enter(&second);
        let gl = &other.gl;
        t.check(
            gl.is_buffer(buffer) && gl.is_texture(target.texture) && gl.is_program(program),
            "shared objects are known",
        );
        gl.bind_vertex_array(Some(array));
        t.equal(gl.get_error(), gl::INVALID_OPERATION, "vertex arrays are not shared");
        gl.bind_buffer(gl::COPY_READ_BUFFER, Some(buffer));
        let mut data = [0.0f32; 4];
        gl.get_buffer_sub_data(gl::COPY_READ_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
        t.equal(data, [1.0, 2.0, 3.0, 4.0], "buffer contents");
        gl.buffer_sub_data_u8_slice(gl::COPY_READ_BUFFER, 4, bytemuck::cast_slice(&[20.0f32]));
        // Draw into the shared texture with the shared program and its uniform.
        let framebuffer = gl.create_framebuffer().unwrap();
        gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(target.texture), 0);
        let own = gl.create_vertex_array().unwrap();
        gl.bind_vertex_array(Some(own));
        gl.viewport(0, 0, 4, 4);
        gl.use_program(Some(program));
        gl.draw_arrays(gl::TRIANGLES, 0, 3);
        // Deleting a name here frees it for both.
        gl.delete_program(program);
        gl.delete_buffer(buffer);
        gl.finish();
        t.equal(gl.get_error(), gl::NO_ERROR, "no error in the second context");
    }
    t.context.make_current().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(target.framebuffer));
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "drawn by the other context");
    // The buffer is still bound here, so it lives without a name.
    let mut data = [0.0f32; 4];
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
    t.equal(data, [1.0, 20.0, 3.0, 4.0], "a deleted buffer that is bound here");
    t.check(!t.is_buffer(buffer), "its name is gone");
    // The program is in use here, so it is only marked.
    t.check(t.is_program(program), "a deleted program in use");
}

unsafe fn framebuffers_not_shared(t: &Scene) {
    let target = t.target(4, 4);
    let second = t.context.egl().context(&ContextRequest::DEFAULT, Some(&t.context)).expect("a shared context");
    t.context.release().unwrap();
    {
        let other = Other::enter(&second);
        t.check(!other.gl.is_framebuffer(target.framebuffer), "a framebuffer of another context");
    }
    t.context.make_current().unwrap();
}

/// Draws `n` frames of a rotating colour on a context of its own and returns the last picture.
unsafe fn frames(context: &crate::egl::GlContext, seed: u8, n: u32) -> Picture {
    let other = Other::enter(context);
    let scene = &other.gl;
    let program = scene.create_program().unwrap();
    for (stage, source) in [(gl::VERTEX_SHADER, FULL_VS), (gl::FRAGMENT_SHADER, COLOR_FS)] {
        let shader = scene.create_shader(stage).unwrap();
        scene.shader_source(shader, &format!("#version 330 core\n{source}"));
        scene.compile_shader(shader);
        scene.attach_shader(program, shader);
    }
    scene.link_program(program);
    scene.use_program(Some(program));
    let color = scene.get_uniform_location(program, "color");
    let array = scene.create_vertex_array().unwrap();
    scene.bind_vertex_array(Some(array));
    for i in 0..n {
        scene.clear_color(0.0, 0.0, 0.0, 1.0);
        scene.clear(gl::COLOR_BUFFER_BIT);
        scene.uniform_4_f32(color.as_ref(), f32::from(seed) / 255.0, (i % 256) as f32 / 255.0, 0.0, 1.0);
        scene.draw_arrays(gl::TRIANGLES, 0, 3);
        if i + 1 < n {
            context.swap_buffers().expect("swap");
        }
    }
    let mut data = vec![0u8; 64 * 64 * 4];
    scene.read_pixels(0, 0, 64, 64, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
    assert_eq!(scene.get_error(), gl::NO_ERROR, "GL error on thread {seed}");
    Picture::new(64, 64, data)
}

unsafe fn several_on_threads(t: &Scene) {
    let egl = t.context.egl();
    let contexts: Vec<_> = (0..4).map(|_| egl.context(&ContextRequest::DEFAULT, None).expect("a context")).collect();
    let pictures: Vec<Picture> = std::thread::scope(|scope| {
        let threads: Vec<_> = contexts
            .iter()
            .enumerate()
            // SAFETY: each context is current on its own thread only, for as long as `frames` runs.
            .map(|(i, context)| scope.spawn(move || unsafe { frames(context, 50 * (i as u8 + 1), 40) }))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread ends well")).collect()
    });
    for (i, picture) in pictures.iter().enumerate() {
        t.area(picture, (0, 0, 64, 64), [50 * (i as u8 + 1), 39, 0, 255], 0, &format!("context {i}"));
    }
}

unsafe fn moves_between_threads(t: &Scene) {
    t.target(8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.vertex_array();
    t.fill();
    let (sender, receiver) = mpsc::channel();
    // Only the context crosses to the other threads; the scene stays here.
    let context = &t.context;
    context.release().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // SAFETY: the main thread has released the context and waits for this one.
            unsafe {
                let other = Other::enter(context);
                let mut data = vec![0u8; 256];
                other.gl.read_pixels(
                    0,
                    0,
                    8,
                    8,
                    gl::RGBA,
                    gl::UNSIGNED_BYTE,
                    gl::PixelPackData::Slice(Some(&mut data)),
                );
                other.gl.scissor(0, 0, 4, 8);
                other.gl.enable(gl::SCISSOR_TEST);
                other.gl.clear_color(0.0, 0.0, 1.0, 1.0);
                other.gl.clear(gl::COLOR_BUFFER_BIT);
                let _ = sender.send(Picture::new(8, 8, data));
            }
        });
    });
    let seen = receiver.recv().expect("the thread has read");
    t.pixel(&seen, 5, 5, [255, 0, 0, 255], 0, "drawn on the main thread, read on another");
    t.context.make_current().unwrap();
    t.check(t.is_enabled(gl::SCISSOR_TEST), "state set on the other thread");
    let picture = t.read(8, 8);
    t.pixel(&picture, 1, 1, [0, 0, 255, 255], 0, "cleared on the other thread");
    t.pixel(&picture, 6, 1, [255, 0, 0, 255], 0, "left of the first thread's picture");
    // While it is current here, another thread cannot have it.
    let refused = std::thread::scope(|scope| scope.spawn(|| context.make_current().is_err()).join().unwrap_or(false));
    t.check(refused, "a context that is current elsewhere is refused");
}

unsafe fn fence_across(t: &Scene) {
    // A second context waits on the server for a fence of the first, without blocking the process.
    let target = t.target(32, 32);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    for _ in 0..20 {
        t.fill();
    }
    let sync = t.raw.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0) as usize;
    t.flush();
    let second = t.context.egl().context(&ContextRequest::DEFAULT, Some(&t.context)).expect("a shared context");
    let pixel = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                // SAFETY: the second context is current on this thread only.
                unsafe {
                    let other = Other::enter(&second);
                    let gl = &other.gl;
                    other.raw.WaitSync(sync as *mut c_void, 0, gl::TIMEOUT_IGNORED);
                    let framebuffer = gl.create_framebuffer().unwrap();
                    gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
                    gl.framebuffer_texture_2d(
                        gl::FRAMEBUFFER,
                        gl::COLOR_ATTACHMENT0,
                        gl::TEXTURE_2D,
                        Some(target.texture),
                        0,
                    );
                    let mut data = [0u8; 4];
                    gl.read_pixels(9, 9, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
                    (data, gl.get_error())
                }
            })
            .join()
            .expect("the thread ends well")
    });
    t.equal(pixel, ([255, 255, 0, 255], gl::NO_ERROR), "what the second context reads");
    t.raw.DeleteSync(sync as *mut c_void);
}

unsafe fn destroyed_with_shared(t: &Scene) {
    // The context that made the objects goes; the one that shares them keeps them.
    let egl = t.context.egl().clone();
    let first = egl.context(&ContextRequest::DEFAULT, None).expect("a context");
    let second = egl.context(&ContextRequest::DEFAULT, Some(&first)).expect("a shared context");
    t.context.release().unwrap();
    let texture = {
        let other = Other::enter(&first);
        let texture = other.gl.create_texture().unwrap();
        other.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        other.gl.tex_image_2d(
            gl::TEXTURE_2D,
            0,
            gl::RGBA8 as i32,
            2,
            2,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(&[33; 16])),
        );
        texture
    };
    drop(first);
    {
        let other = Other::enter(&second);
        other.gl.bind_texture(gl::TEXTURE_2D, Some(texture));
        let mut data = [0u8; 16];
        other.gl.get_tex_image(
            gl::TEXTURE_2D,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelPackData::Slice(Some(&mut data)),
        );
        t.equal(data, [33; 16], "the texture after its maker is gone");
        t.equal(other.gl.get_error(), gl::NO_ERROR, "no error");
    }
    // A context destroyed while current lives on until it is released.
    let third = egl.context(&ContextRequest::DEFAULT, None).expect("a context");
    third.make_current().unwrap();
    let gl = third.functions();
    drop(third);
    gl.clear_color(1.0, 0.0, 0.0, 1.0);
    gl.clear(gl::COLOR_BUFFER_BIT);
    let mut data = [0u8; 4];
    gl.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
    t.equal(data, [255, 0, 0, 255], "a destroyed context that is current");
    t.context.make_current().unwrap();
    t.clear(gl::COLOR_BUFFER_BIT);
    t.no_error("back in the scene's own context");
}

unsafe fn create_destroy(t: &Scene) {
    let egl = t.context.egl().clone();
    t.context.release().unwrap();
    let mut marks = Vec::new();
    for i in 0..200u32 {
        let context = egl.context(&ContextRequest::DEFAULT, None).expect("a context");
        {
            // Live objects of every kind are left behind for the context's end to clean up.
            let other = Other::enter(&context);
            let gl = &other.gl;
            let texture = gl.create_texture().unwrap();
            gl.bind_texture(gl::TEXTURE_2D, Some(texture));
            gl.tex_image_2d(
                gl::TEXTURE_2D,
                0,
                gl::RGBA8 as i32,
                128,
                128,
                0,
                gl::RGBA,
                gl::UNSIGNED_BYTE,
                gl::PixelUnpackData::Slice(Some(&[i as u8; 65536])),
            );
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
            gl.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
            let mut data = [0u8; 4];
            gl.read_pixels(1, 1, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
            if data != [i as u8; 4] {
                t.fail(format!("context {i} reads {data:?}"));
                break;
            }
        }
        drop(context);
        if i == 60 || i == 199 {
            marks.push((process::n_files(), process::n_threads(), process::resident_bytes()));
        }
    }
    t.context.make_current().unwrap();
    if let [(files, threads, memory), (files_end, threads_end, memory_end)] = marks[..] {
        t.check(files_end <= files + 2, format!("open files went from {files} to {files_end}"));
        t.check(threads_end <= threads + 2, format!("threads went from {threads} to {threads_end}"));
        let grown = memory_end.saturating_sub(memory) >> 20;
        t.check(grown < 24, format!("memory grew by {grown} MiB over 139 contexts"));
    }
}

unsafe fn switching(t: &Scene) {
    let egl = t.context.egl().clone();
    let second = egl.context(&ContextRequest::DEFAULT, None).expect("a context");
    t.target(4, 4);
    t.viewport(1, 2, 3, 4);
    t.enable(gl::BLEND);
    let program = t.program(FULL_VS, COLOR_FS);
    let texture = t.texture(1, 1, &[[1, 2, 3, 4]]);
    for round in 0..20 {
        second.make_current().unwrap();
        let gl = second.functions();
        t.check(!gl.is_enabled(gl::BLEND) || round > 0, "state is per context");
        gl.enable(gl::CULL_FACE);
        gl.viewport(5, 6, 7, 8 + round);
        t.context.make_current().unwrap();
        let mut v = [0; 4];
        t.get_parameter_i32_slice(gl::VIEWPORT, &mut v);
        t.equal(v, [1, 2, 3, 4], "viewport");
        t.check(t.is_enabled(gl::BLEND) && !t.is_enabled(gl::CULL_FACE), "enables");
        t.equal(t.get_parameter_program(gl::CURRENT_PROGRAM), Some(program), "program");
        t.equal(t.get_parameter_texture(gl::TEXTURE_BINDING_2D), Some(texture), "texture");
    }
    // An error in one context is not the other's.
    second.make_current().unwrap();
    let gl = second.functions();
    gl.enable(0x1234);
    t.context.make_current().unwrap();
    t.no_error("the other context's error");
    second.make_current().unwrap();
    t.equal(gl.get_error(), gl::INVALID_ENUM, "it stays where it was made");
    t.context.make_current().unwrap();
}

/// Messages that the debug callback has received.
static MESSAGES: Mutex<Vec<(u32, u32, u32, String)>> = Mutex::new(Vec::new());

extern "system" fn on_message(
    source: u32,
    kind: u32,
    id: u32,
    _severity: u32,
    length: i32,
    message: *const c_char,
    _user: *const c_void,
) {
    // SAFETY: GL hands over `length` bytes at `message` that live for the call.
    let text = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), length.max(0) as usize) };
    if let Ok(mut messages) = MESSAGES.lock() {
        messages.push((source, kind, id, String::from_utf8_lossy(text).into_owned()));
    }
}

unsafe fn debug_output(t: &Scene) {
    if !t.supports_debug() {
        t.skip("GL_KHR_debug is not there");
        return;
    }
    let take = || MESSAGES.lock().map(|mut m| std::mem::take(&mut *m)).unwrap_or_default();
    t.check(t.is_enabled(gl::DEBUG_OUTPUT), "a debug context starts with DEBUG_OUTPUT");
    t.enable(gl::DEBUG_OUTPUT_SYNCHRONOUS);
    t.raw.DebugMessageCallback(Some(on_message), std::ptr::null());
    t.debug_message_control(gl::DONT_CARE, gl::DONT_CARE, gl::DONT_CARE, &[], true);
    take();
    t.enable(0x1234);
    t.error(gl::INVALID_ENUM, "an error as usual");
    let seen = take();
    let is_error = |m: &&(u32, u32, u32, String)| m.0 == gl::DEBUG_SOURCE_API && m.1 == gl::DEBUG_TYPE_ERROR;
    t.check(seen.iter().any(|m| is_error(&m)), format!("the error came as a message: {seen:?}"));
    t.debug_message_insert(
        gl::DEBUG_SOURCE_APPLICATION,
        gl::DEBUG_TYPE_MARKER,
        42,
        gl::DEBUG_SEVERITY_NOTIFICATION,
        "hello",
    );
    let seen = take();
    let own = (gl::DEBUG_SOURCE_APPLICATION, gl::DEBUG_TYPE_MARKER, 42, "hello".to_owned());
    t.check(seen.contains(&own), format!("the application's own message: {seen:?}"));
    t.debug_message_control(gl::DEBUG_SOURCE_APPLICATION, gl::DEBUG_TYPE_MARKER, gl::DONT_CARE, &[42], false);
    t.debug_message_insert(
        gl::DEBUG_SOURCE_APPLICATION,
        gl::DEBUG_TYPE_MARKER,
        42,
        gl::DEBUG_SEVERITY_NOTIFICATION,
        "silent",
    );
    t.debug_message_insert(
        gl::DEBUG_SOURCE_APPLICATION,
        gl::DEBUG_TYPE_MARKER,
        43,
        gl::DEBUG_SEVERITY_NOTIFICATION,
        "heard",
    );
    let seen = take();
    t.check(
        !seen.iter().any(|m| m.3 == "silent") && seen.iter().any(|m| m.3 == "heard"),
        format!("a filtered message: {seen:?}"),
    );
    t.push_debug_group(gl::DEBUG_SOURCE_APPLICATION, 7, "group");
    t.debug_message_control(gl::DONT_CARE, gl::DONT_CARE, gl::DONT_CARE, &[], false);
    t.debug_message_insert(gl::DEBUG_SOURCE_APPLICATION, gl::DEBUG_TYPE_OTHER, 1, gl::DEBUG_SEVERITY_HIGH, "inside");
    t.pop_debug_group();
    t.debug_message_insert(gl::DEBUG_SOURCE_APPLICATION, gl::DEBUG_TYPE_OTHER, 1, gl::DEBUG_SEVERITY_HIGH, "outside");
    let seen = take();
    t.check(seen.iter().any(|m| m.3 == "group"), "the group itself is a message");
    t.check(
        !seen.iter().any(|m| m.3 == "inside") && seen.iter().any(|m| m.3 == "outside"),
        format!("groups keep filters apart: {seen:?}"),
    );
    t.pop_debug_group();
    t.error(gl::STACK_UNDERFLOW, "a group too many");
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[0u8; 4]);
    t.object_label(gl::BUFFER, buffer.0.get(), Some("my buffer"));
    t.equal(t.get_object_label(gl::BUFFER, buffer.0.get()), "my buffer".to_owned(), "object label");
    // Without a callback, messages queue up.
    t.raw.DebugMessageCallback(None, std::ptr::null());
    t.debug_message_insert(gl::DEBUG_SOURCE_APPLICATION, gl::DEBUG_TYPE_OTHER, 5, gl::DEBUG_SEVERITY_HIGH, "queued");
    t.equal(t.get_parameter_i32(gl::DEBUG_LOGGED_MESSAGES), 1, "messages in the log");
    t.equal(t.get_debug_message_log(16).len(), 1, "messages taken from the log");
    t.equal(t.get_parameter_i32(gl::DEBUG_LOGGED_MESSAGES), 0, "messages left in the log");
}

unsafe fn robust(t: &Scene) {
    let egl = t.context.egl();
    let core = !egl.proc_address("glGetGraphicsResetStatus").is_null();
    let status = if core { t.raw.GetGraphicsResetStatus() } else { t.raw.GetGraphicsResetStatusARB() };
    t.equal(status, gl::NO_ERROR, "no reset has happened");
    t.equal(
        t.get_parameter_i32(gl::RESET_NOTIFICATION_STRATEGY) as u32,
        gl::LOSE_CONTEXT_ON_RESET,
        "the strategy asked for",
    );
    t.check(t.get_parameter_i32(gl::CONTEXT_FLAGS) & 4 != 0, "CONTEXT_FLAGS says robust access");
    // Robust access: indices out of range read something, and the context goes on.
    t.target(8, 8);
    let program = t.program(crate::scene::POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.positions(&[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u32, 1, 0x7fff_ffff, 0, 1, 2]);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 0);
    t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_INT, 12);
    t.equal(t.read(8, 8).count(|p| p == [255, 0, 0, 255]), 64, "an ordinary draw afterwards");
    let source = "layout(std140) uniform Block { vec4 list[4]; }; uniform int i; out vec4 result; void main() { result = list[i]; }";
    let program = t.program(FULL_VS, source);
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[[0.5f32; 4]; 4]);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(buffer));
    t.vertex_array();
    for i in [4, 1000, -1, 1 << 28] {
        t.set_int(program, "i", i);
        t.fill();
    }
    t.set_int(program, "i", 3);
    t.fill();
    t.pixel(&t.read(8, 8), 3, 3, [128; 4], 1, "an ordinary index afterwards");
}

unsafe fn without_current(t: &Scene) {
    // GL calls without a context do nothing and do not crash.
    t.target(4, 4);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.context.release().unwrap();
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.raw.BindFramebuffer(gl::FRAMEBUFFER, 0);
    t.raw.DrawArrays(gl::TRIANGLES, 0, 3);
    t.flush();
    let _ = t.raw.GetString(gl::VERSION);
    let _ = t.get_error();
    t.context.make_current().unwrap();
    t.clear(gl::COLOR_BUFFER_BIT);
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "the state is what it was");
}
