//! Trials by draws: each promise makes a picture that is not there without it.

use super::{Bench, Texels, FULL, WHITE, WIDTH};
use glow::HasContext;
use mgpipe_types::gl;
use std::ffi::c_void;

const CLIP_DISTANCE0: u32 = 0x3000;
const DEPTH_CLAMP: u32 = 0x864F;
const SRC1_COLOR: u32 = 0x88F9;
const SRC1_ALPHA: u32 = 0x8589;
const FRAMEBUFFER_SRGB: u32 = 0x8DB9;

/// A vertex stage that sets the texel of its number.
const POINT: &str = "void main() {
    gl_PointSize = 1.0;
    gl_Position = vec4((float(gl_VertexID) + 0.5) * 0.5 - 1.0, 0.0, 0.0, 1.0);
}";

/// Reads unit 0.
const SAMPLE: &str = "uniform highp sampler2D t; layout(location = 0) out vec4 color;
void main() { color = texelFetch(t, ivec2(0), 0); }";

/// Which texels are white.
fn white(texels: &Texels) -> [bool; WIDTH as usize] {
    texels.map(|texel| texel == [255; 4])
}

fn is_near(value: u8, wanted: u8) -> bool {
    value.abs_diff(wanted) <= 2
}

/// The second element of an attribute of instances is the first one's with a base of 1.
pub(super) fn base_instance(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let vertex = "layout(location = 0) in float bright; out float shade;
        void main() { shade = bright;
            gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
    let fragment = "in float shade; layout(location = 0) out vec4 color; void main() { color = vec4(shade); }";
    let program = bench.program(&[], vertex, fragment)?;
    let buffer = bench.buffer(gl::ARRAY_BUFFER, &[0.0f32, 1.0].map(f32::to_le_bytes).concat())?;
    // SAFETY: a context is current; the buffer has an element for each instance.
    unsafe {
        let array = gl.create_vertex_array().ok()?;
        gl.bind_vertex_array(Some(array));
        gl.enable_vertex_attrib_array(0);
        gl.vertex_attrib_pointer_f32(0, 1, gl::FLOAT, false, 4, 0);
        gl.vertex_attrib_divisor(0, 1);
        bench.ext.draw_arrays_base_instance(gl::TRIANGLES, 0, 3, 1, 1);
        let arrays = white(&bench.read());
        let indices = bench.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2].map(u16::to_le_bytes).concat())?;
        gl.clear(gl::COLOR_BUFFER_BIT);
        let start = std::ptr::null();
        bench.ext.draw_elements_base_instance(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, start, 1, 0, 1);
        let elements = white(&bench.read());
        gl.bind_vertex_array(None);
        gl.delete_vertex_array(array);
        gl.delete_buffer(indices);
        gl.delete_buffer(buffer);
        bench.drop_program(program);
        bench.discard(canvas);
        Some(arrays == [true; 4] && elements == [true; 4])
    }
}

/// Indices count from the third vertex.
pub(super) fn base_vertex(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let vertex = "layout(location = 0) in vec2 at; void main() { gl_Position = vec4(at, 0.0, 1.0); }";
    let program = bench.program(&[], vertex, WHITE)?;
    let corners = [-3.0f32, -3.0, -3.0, -3.0, -3.0, -3.0, -1.0, -1.0, 3.0, -1.0, -1.0, 3.0];
    let buffer = bench.buffer(gl::ARRAY_BUFFER, &corners.map(f32::to_le_bytes).concat())?;
    // SAFETY: a context is current; the buffers have what the draw reads.
    unsafe {
        let array = gl.create_vertex_array().ok()?;
        gl.bind_vertex_array(Some(array));
        gl.enable_vertex_attrib_array(0);
        gl.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 8, 0);
        let indices = bench.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2].map(u16::to_le_bytes).concat())?;
        bench.ext.draw_elements_base_vertex(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, std::ptr::null(), 1, 3);
        let drawn = white(&bench.read());
        gl.bind_vertex_array(None);
        gl.delete_vertex_array(array);
        gl.delete_buffer(indices);
        gl.delete_buffer(buffer);
        bench.drop_program(program);
        bench.discard(canvas);
        Some(drawn == [true; 4])
    }
}

/// Every draw of several is there.
pub(super) fn multi_draw(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let program = bench.program(&[], POINT, WHITE)?;
    // SAFETY: a context is current; the arrays have two elements, and the program reads no attributes.
    unsafe {
        let array = gl.create_vertex_array().ok()?;
        gl.bind_vertex_array(Some(array));
        bench.ext.multi_draw_arrays(gl::POINTS, [0, 2].as_ptr(), [1, 2].as_ptr(), 2);
        let arrays = white(&bench.read());
        gl.clear(gl::COLOR_BUFFER_BIT);
        let indices = bench.buffer(gl::ELEMENT_ARRAY_BUFFER, &[1u16, 3].map(u16::to_le_bytes).concat())?;
        let offsets = [std::ptr::null::<c_void>(), std::ptr::without_provenance(2)];
        bench.ext.multi_draw_elements(gl::POINTS, [1, 1].as_ptr(), gl::UNSIGNED_SHORT, offsets.as_ptr(), 2);
        let elements = white(&bench.read());
        gl.bind_vertex_array(None);
        gl.delete_vertex_array(array);
        gl.delete_buffer(indices);
        bench.drop_program(program);
        bench.discard(canvas);
        Some(arrays == [true, false, true, true] && elements == [false, true, false, true])
    }
}

/// Every draw of several records is there.
pub(super) fn multi_draw_indirect(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let program = bench.program(&[], POINT, WHITE)?;
    let records = [1u32, 1, 0, 0, 2, 1, 2, 0].map(u32::to_le_bytes).concat();
    let buffer = bench.buffer(gl::DRAW_INDIRECT_BUFFER, &records)?;
    // SAFETY: a context is current; the buffer has two records, and the program reads no attributes.
    unsafe {
        let array = gl.create_vertex_array().ok()?;
        gl.bind_vertex_array(Some(array));
        bench.ext.multi_draw_arrays_indirect(gl::POINTS, std::ptr::null(), 2, 16);
        let drawn = white(&bench.read());
        gl.bind_vertex_array(None);
        gl.delete_vertex_array(array);
        gl.delete_buffer(buffer);
        bench.drop_program(program);
        bench.discard(canvas);
        Some(drawn == [true, false, true, true])
    }
}

/// The left half is clipped away.
pub(super) fn clip_distance(bench: &Bench<'_>) -> Option<bool> {
    let canvas = bench.canvas(gl::RGBA8)?;
    let vertex = "out highp float gl_ClipDistance[1];
        void main() {
            gl_Position = vec4(float(gl_VertexID & 1) * 4.0 - 1.0, float(gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
            gl_ClipDistance[0] = gl_Position.x; }";
    let program = bench.program(&["GL_EXT_clip_cull_distance"], vertex, WHITE)?;
    // SAFETY: a context is current.
    unsafe { bench.gl.enable(CLIP_DISTANCE0) };
    bench.draw_triangle();
    // SAFETY: as above.
    unsafe { bench.gl.disable(CLIP_DISTANCE0) };
    let drawn = white(&bench.read());
    bench.drop_program(program);
    bench.discard(canvas);
    Some(drawn == [false, false, true, true])
}

/// What lies behind the far plane is there with the clamp alone.
pub(super) fn depth_clamp(bench: &Bench<'_>) -> Option<bool> {
    let canvas = bench.canvas(gl::RGBA8)?;
    let program = bench.program(&[], &FULL.replace("0.0, 1.0);", "2.0, 1.0);"), WHITE)?;
    bench.draw_triangle();
    let clipped = white(&bench.read());
    // SAFETY: a context is current.
    unsafe { bench.gl.enable(DEPTH_CLAMP) };
    bench.draw_triangle();
    // SAFETY: as above.
    unsafe { bench.gl.disable(DEPTH_CLAMP) };
    let clamped = white(&bench.read());
    bench.drop_program(program);
    bench.discard(canvas);
    Some(clipped == [false; 4] && clamped == [true; 4])
}

/// The first colour is multiplied by the second.
pub(super) fn dual_source(bench: &Bench<'_>) -> Option<bool> {
    let canvas = bench.canvas(gl::RGBA8)?;
    let fragment = "layout(location = 0, index = 0) out vec4 a; layout(location = 0, index = 1) out vec4 b;
        void main() { a = vec4(1.0); b = vec4(0.2, 0.4, 0.6, 0.8); }";
    // SAFETY: a context is current.
    unsafe {
        bench.gl.enable(gl::BLEND);
        bench.gl.blend_func_separate(SRC1_COLOR, gl::ZERO, SRC1_ALPHA, gl::ZERO);
    }
    let drawn = bench.draw(&["GL_EXT_blend_func_extended"], fragment);
    // SAFETY: as above.
    unsafe {
        bench.gl.disable(gl::BLEND);
        bench.gl.blend_func_separate(gl::ONE, gl::ZERO, gl::ONE, gl::ZERO);
    }
    bench.discard(canvas);
    let wanted = [51, 102, 153, 204];
    Some(drawn?.iter().all(|texel| texel.iter().zip(wanted).all(|(value, wanted)| is_near(*value, wanted))))
}

/// One draw buffer is blended away, the other one is masked.
pub(super) fn draw_buffers_indexed(bench: &Bench<'_>) -> Option<bool> {
    let (gl, ext) = (bench.gl, bench.ext);
    let second = bench.texture(gl::RGBA8)?;
    let canvas = bench.canvas(gl::RGBA8)?;
    let fragment = "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
        void main() { a = vec4(1.0); b = vec4(1.0); }";
    let (first_point, second_point) = (gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT0 + 1);
    // SAFETY: a context is current and the canvas is bound.
    unsafe {
        gl.framebuffer_texture_2d(gl::FRAMEBUFFER, second_point, gl::TEXTURE_2D, Some(second), 0);
        gl.draw_buffers(&[first_point, second_point]);
        gl.clear(gl::COLOR_BUFFER_BIT);
        ext.enable_i(gl::BLEND, 0);
        ext.blend_equation_i(0, gl::FUNC_ADD, gl::FUNC_ADD);
        ext.blend_func_i(0, gl::ZERO, gl::ZERO, gl::ONE, gl::ZERO);
        ext.color_mask_i(1, 0, 1, 1, 1);
    }
    let blended = bench.draw(&[], fragment);
    // SAFETY: as above.
    unsafe {
        ext.disable_i(gl::BLEND, 0);
        ext.blend_func_i(0, gl::ONE, gl::ZERO, gl::ONE, gl::ZERO);
        ext.color_mask_i(1, 1, 1, 1, 1);
        gl.read_buffer(second_point);
    }
    let masked = bench.read();
    bench.discard(canvas);
    // SAFETY: as above; its own name, deleted once.
    unsafe { gl.delete_texture(second) };
    Some(blended? == [[0, 0, 0, 255]; 4] && masked == [[0, 255, 255, 255]; 4])
}

/// The stage sees what was there.
pub(super) fn framebuffer_fetch(bench: &Bench<'_>) -> Option<bool> {
    let canvas = bench.canvas(gl::RGBA8)?;
    // SAFETY: a context is current and the canvas is bound.
    unsafe {
        bench.gl.clear_color(1.0, 0.0, 0.4, 1.0);
        bench.gl.clear(gl::COLOR_BUFFER_BIT);
        bench.gl.clear_color(0.0, 0.0, 0.0, 0.0);
    }
    let fragment = "layout(location = 0) inout vec4 color; void main() { color = color.bgra; }";
    let drawn = bench.draw(&["GL_EXT_shader_framebuffer_fetch"], fragment);
    bench.discard(canvas);
    Some(drawn? == [[102, 0, 255, 255]; 4])
}

/// A half is stored as it is without the conversion, and brighter with it.
pub(super) fn srgb_control(bench: &Bench<'_>) -> Option<bool> {
    let canvas = bench.canvas(gl::SRGB8_ALPHA8)?;
    let half = "layout(location = 0) out vec4 color; void main() { color = vec4(0.5); }";
    // SAFETY: a context is current.
    unsafe { bench.gl.disable(FRAMEBUFFER_SRGB) };
    let plain = bench.draw(&[], half);
    // SAFETY: as above; the state is enabled at first.
    unsafe { bench.gl.enable(FRAMEBUFFER_SRGB) };
    let converted = bench.draw(&[], half);
    bench.discard(canvas);
    Some(plain?.iter().all(|texel| is_near(texel[0], 128)) && converted?.iter().all(|texel| is_near(texel[0], 188)))
}

/// Behind the edge lies the border.
pub(super) fn border(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let texture = bench.texture(gl::RGBA8)?;
    bench.upload(gl::RGBA, gl::UNSIGNED_BYTE, &[0; 16]);
    // SAFETY: a context is current and the name is fresh.
    let sampler = unsafe {
        let sampler = gl.create_sampler().ok()?;
        for (name, value) in [
            (gl::TEXTURE_WRAP_S, gl::CLAMP_TO_BORDER),
            (gl::TEXTURE_WRAP_T, gl::CLAMP_TO_BORDER),
            (gl::TEXTURE_MIN_FILTER, gl::NEAREST),
            (gl::TEXTURE_MAG_FILTER, gl::NEAREST),
        ] {
            gl.sampler_parameter_i32(sampler, name, value as i32);
        }
        gl.sampler_parameter_f32_slice(sampler, gl::TEXTURE_BORDER_COLOR, &[0.2, 1.0, 0.4, 1.0]);
        gl.bind_sampler(0, Some(sampler));
        sampler
    };
    let fragment = "uniform highp sampler2D t; layout(location = 0) out vec4 color;
        void main() { color = texture(t, vec2(1.5 + gl_FragCoord.x)); }";
    let drawn = bench.draw(&[], fragment);
    // SAFETY: as above; its own names, deleted once.
    unsafe {
        gl.bind_sampler(0, None);
        gl.delete_sampler(sampler);
        gl.delete_texture(texture);
    }
    bench.discard(canvas);
    Some(drawn? == [[51, 255, 102, 255]; 4])
}

/// All 16 bits of a texel are there, also of one that was drawn.
pub(super) fn norm16(bench: &Bench<'_>) -> Option<bool> {
    const VALUE: u16 = 40001;
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let texture = bench.texture(gl::R16)?;
    bench.upload(gl::RED, gl::UNSIGNED_SHORT, &[VALUE; 4].map(u16::to_le_bytes).concat());
    let look = "uniform highp sampler2D t; layout(location = 0) out vec4 color;
        void main() { color = vec4(abs(texelFetch(t, ivec2(0), 0).r * 65535.0 - 40001.0) < 0.25); }";
    let uploaded = bench.draw(&[], look);
    // SAFETY: a context is current; its own name, deleted once.
    unsafe { gl.delete_texture(texture) };
    bench.discard(canvas);
    let mut works = white(&uploaded?) == [true; 4];
    // Whether the format can be drawn to is found out elsewhere; if so, it has all bits.
    if let Some(drawn) = bench.canvas(gl::R16) {
        let fragment = "layout(location = 0) out vec4 color; void main() { color = vec4(40001.0 / 65535.0); }";
        let program = bench.program(&[], FULL, fragment)?;
        bench.draw_triangle();
        bench.drop_program(program);
        let canvas = bench.canvas(gl::RGBA8)?;
        // SAFETY: a context is current and the texture is its own.
        unsafe { gl.bind_texture(gl::TEXTURE_2D, Some(drawn.texture)) };
        works &= white(&bench.draw(&[], look)?) == [true; 4];
        bench.discard(canvas);
        bench.discard(drawn);
    }
    crate::extras::drain_errors(gl);
    Some(works)
}

/// A number that is no colour is stored.
pub(super) fn float_attachment(bench: &Bench<'_>) -> Option<bool> {
    let canvas = bench.canvas(gl::RGBA32F)?;
    let fragment = "layout(location = 0) out vec4 color; void main() { color = vec4(1234.5, -8.25, 0.0, 1.0); }";
    let program = bench.program(&[], FULL, fragment)?;
    bench.draw_triangle();
    bench.drop_program(program);
    let mut bytes = [0; 16 * WIDTH as usize];
    bench.read_as(gl::RGBA, gl::FLOAT, &mut bytes);
    bench.discard(canvas);
    let wanted = [1234.5f32, -8.25, 0.0, 1.0].map(f32::to_le_bytes).concat();
    Some(bytes.chunks_exact(16).all(|texel| texel == wanted))
}

/// The second texel of a buffer.
pub(super) fn buffer_texture(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let buffer = bench.buffer(gl::TEXTURE_BUFFER, &[0, 0, 0, 0, 9, 80, 170, 255])?;
    // SAFETY: a context is current; the names are fresh and deleted below.
    let texture = unsafe {
        let texture = gl.create_texture().ok()?;
        gl.bind_texture(gl::TEXTURE_BUFFER, Some(texture));
        bench.ext.tex_buffer_range(gl::TEXTURE_BUFFER, gl::RGBA8, buffer.0.get(), 0, 8);
        texture
    };
    let fragment = "uniform highp samplerBuffer t; layout(location = 0) out vec4 color;
        void main() { color = texelFetch(t, 1); }";
    let drawn = bench.draw(&["GL_OES_texture_buffer", "GL_EXT_texture_buffer"], fragment);
    // SAFETY: as above.
    unsafe {
        gl.delete_texture(texture);
        gl.delete_buffer(buffer);
    }
    bench.discard(canvas);
    Some(drawn? == [[9, 80, 170, 255]; 4])
}

/// A view in a linear format reads what an sRGB texture stores.
pub(super) fn view(bench: &Bench<'_>) -> Option<bool> {
    let gl = bench.gl;
    let canvas = bench.canvas(gl::RGBA8)?;
    let texture = bench.texture(gl::SRGB8_ALPHA8)?;
    bench.upload(gl::RGBA, gl::UNSIGNED_BYTE, &[[200, 100, 50, 255]; 4].concat());
    // SAFETY: a context is current; the texture has immutable storage, and the name of the view is fresh.
    let view = unsafe {
        let view = gl.create_texture().ok()?;
        bench.ext.texture_view(view.0.get(), gl::TEXTURE_2D, texture.0.get(), gl::RGBA8, 0, 1, 0, 1);
        gl.bind_texture(gl::TEXTURE_2D, Some(view));
        gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
        gl.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
        view
    };
    let drawn = bench.draw(&[], SAMPLE);
    // SAFETY: as above; its own names, deleted once.
    unsafe {
        gl.delete_texture(view);
        gl.delete_texture(texture);
    }
    bench.discard(canvas);
    Some(drawn? == [[200, 100, 50, 255]; 4])
}
