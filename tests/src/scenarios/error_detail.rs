//! Errors in detail: uniforms, vertex arrays, mapped buffers, programs, uniform blocks, and what survives them.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("error_uniforms", error_uniforms),
    Scenario::new("error_vertex_arrays", error_vertex_arrays),
    Scenario::new("error_draws_of_mapped_buffers", error_draws_of_mapped_buffers)
        .without_reference("Mesa 22.3 draws from mapped buffers"),
    Scenario::new("error_programs_and_shaders", error_programs_and_shaders),
    Scenario::new("error_uniform_blocks", error_uniform_blocks)
        .without_reference("Mesa 22.3 crashes in the draw after a range that it refused"),
    Scenario::new("error_uniform_block_without_buffer", uniform_block_without_buffer),
    Scenario::new("error_broken_program_harms_nobody", broken_program_harms_nobody),
];

unsafe fn error_uniforms(t: &Scene) {
    t.target(2, 2);
    let program = t.program(
        FULL_VS,
        "uniform vec4 color; uniform int n; uniform float list[2]; uniform mat4 m; uniform sampler2D image; out vec4 result;
         void main() { result = color + vec4(float(n) + list[1]) * m[0] + texture(image, vec2(0.5)); }",
    );
    t.vertex_array();
    t.texture(1, 1, &[[0; 4]]);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    let at = |name: &str| t.uniform(program, name);
    let (color, n, list, m, image) = (at("color"), at("n"), at("list"), at("m"), at("image"));
    t.uniform_3_f32(Some(&color), 1.0, 1.0, 1.0);
    t.error(gl::INVALID_OPERATION, "three numbers for a vec4");
    t.uniform_4_i32(Some(&color), 1, 1, 1, 1);
    t.error(gl::INVALID_OPERATION, "integers for a vec4");
    t.uniform_1_f32(Some(&n), 5.0);
    t.error(gl::INVALID_OPERATION, "a float for an int");
    t.uniform_1_u32(Some(&n), 5);
    t.error(gl::INVALID_OPERATION, "an unsigned number for an int");
    t.uniform_4_f32_slice(Some(&color), &[1.0; 8]);
    t.error(gl::INVALID_OPERATION, "two values for what is no array");
    t.uniform_matrix_3_f32_slice(Some(&m), false, &[0.0; 9]);
    t.error(gl::INVALID_OPERATION, "a mat3 for a mat4");
    t.uniform_1_f32(Some(&image), 1.0);
    t.error(gl::INVALID_OPERATION, "a float for a sampler");
    t.uniform_1_i32(Some(&image), -1);
    t.error(gl::INVALID_VALUE, "a negative unit");
    t.uniform_1_f32_slice(Some(&list), &[0.0, 0.0, 7.0]);
    t.no_error("more values than the array has are cut");
    t.uniform_4_f32(None, 9.0, 9.0, 9.0, 9.0);
    t.no_error("location -1 is ignored");
    t.uniform_1_f32(Some(&gl::NativeUniformLocation(4_321)), 1.0);
    t.error(gl::INVALID_OPERATION, "a location that does not exist");
    t.fill();
    t.pixel(&t.read(2, 2), 0, 0, [0, 255, 0, 255], 0, "the values before the errors");
    t.no_error("uniforms");
}

unsafe fn error_vertex_arrays(t: &Scene) {
    t.target(4, 4);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.bind_vertex_array(None);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.error(gl::INVALID_OPERATION, "a draw without a vertex array");
    t.buffer(gl::ARRAY_BUFFER, &[0.0f32; 8]);
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 0, 0);
    t.error(gl::INVALID_OPERATION, "a pointer without a vertex array");
    let unknown = gl::NativeVertexArray(std::num::NonZeroU32::new(31_415).unwrap());
    t.bind_vertex_array(Some(unknown));
    t.error(gl::INVALID_OPERATION, "a name that was not generated");
    let array = t.positions(&[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]);
    let most = t.get_parameter_i32(gl::MAX_VERTEX_ATTRIBS) as u32;
    t.enable_vertex_attrib_array(most);
    t.error(gl::INVALID_VALUE, "an attribute past the last");
    t.vertex_attrib_pointer_f32(most, 2, gl::FLOAT, false, 0, 0);
    t.error(gl::INVALID_VALUE, "a pointer past the last");
    t.vertex_attrib_divisor(most, 1);
    t.error(gl::INVALID_VALUE, "a divisor past the last");
    t.vertex_attrib_4_f32(most, 0.0, 0.0, 0.0, 0.0);
    t.error(gl::INVALID_VALUE, "a value past the last");
    t.vertex_attrib_pointer_f32(0, 2, gl::BLEND, false, 0, 0);
    t.error(gl::INVALID_ENUM, "a type that is none");
    t.vertex_attrib_pointer_i32(0, 2, gl::FLOAT, 0, 0);
    t.error(gl::INVALID_ENUM, "floats for an integer attribute");
    t.vertex_attrib_pointer_f32(0, gl::BGRA as i32, gl::FLOAT, true, 0, 0);
    t.error(gl::INVALID_OPERATION, "BGRA of floats");
    t.vertex_attrib_pointer_f32(0, gl::BGRA as i32, gl::UNSIGNED_BYTE, false, 0, 0);
    t.error(gl::INVALID_OPERATION, "BGRA that is not normalised");
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.equal(t.read(4, 4).count(|p| p == [255; 4]), 16, "the attribute before the errors");
    t.delete_vertex_array(array);
    t.equal(t.get_parameter_i32(gl::VERTEX_ARRAY_BINDING), 0, "a deleted vertex array is unbound");
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.error(gl::INVALID_OPERATION, "a draw after the deletion");
}

unsafe fn error_draws_of_mapped_buffers(t: &Scene) {
    t.target(4, 4);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.positions(&[[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2]);
    let drawn = || {
        let n = t.read(4, 4).count(|p| p[3] != 0);
        t.clear(gl::COLOR_BUFFER_BIT);
        n
    };
    for target in [gl::ARRAY_BUFFER, gl::ELEMENT_ARRAY_BUFFER] {
        t.raw.MapBufferRange(target, 0, 4, gl::MAP_READ_BIT);
        t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
        t.error(gl::INVALID_OPERATION, &format!("a draw with a mapped {target:#x}"));
        t.equal(drawn(), 0, "nothing is drawn");
        t.raw.UnmapBuffer(target);
        t.draw_elements(gl::TRIANGLES, 3, gl::UNSIGNED_SHORT, 0);
        t.equal(drawn(), 16, "drawn after the mapping");
    }
    t.raw.MapBufferRange(gl::ARRAY_BUFFER, 0, 4, gl::MAP_WRITE_BIT);
    t.raw.BufferSubData(gl::ARRAY_BUFFER, 0, 4, [0u8; 4].as_ptr().cast());
    t.error(gl::INVALID_OPERATION, "data into a mapped buffer");
    t.get_buffer_sub_data(gl::ARRAY_BUFFER, 0, &mut [0u8; 4]);
    t.error(gl::INVALID_OPERATION, "data from a mapped buffer");
    t.buffer(gl::COPY_READ_BUFFER, &[0u8; 16]);
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::ARRAY_BUFFER, 0, 0, 4);
    t.error(gl::INVALID_OPERATION, "a copy into a mapped buffer");
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    t.raw.UnmapBuffer(gl::ARRAY_BUFFER);
    t.error(gl::INVALID_OPERATION, "unmapped twice");
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.equal(drawn(), 16, "the buffer as it was");
    // A uniform buffer that is mapped, and one that is too small for its block: no crash whatever happens.
    t.no_error("mapped buffers");
}

unsafe fn error_programs_and_shaders(t: &Scene) {
    t.target(2, 2);
    let shader = t.create_shader(gl::VERTEX_SHADER).unwrap();
    t.shader_source(shader, "#version 330 core\nvoid main() { gl_Position = vec4(0.0); }");
    let program = t.create_program().unwrap();
    t.attach_shader(program, shader);
    t.attach_shader(program, shader);
    t.error(gl::INVALID_OPERATION, "attached twice");
    t.use_program(Some(program));
    t.error(gl::INVALID_OPERATION, "a program that is not linked");
    t.link_program(program);
    t.check(!t.get_program_link_status(program), "a shader that was not compiled does not link");
    t.compile_shader(shader);
    t.detach_shader(program, shader);
    t.detach_shader(program, shader);
    t.error(gl::INVALID_OPERATION, "detached twice");
    let raw_program = gl::NativeProgram(shader.0);
    t.link_program(raw_program);
    t.error(gl::INVALID_OPERATION, "linking a shader");
    t.attach_shader(raw_program, shader);
    t.error(gl::INVALID_OPERATION, "attaching to a shader");
    t.compile_shader(gl::NativeShader(program.0));
    t.error(gl::INVALID_OPERATION, "compiling a program");
    t.delete_shader(gl::NativeShader(std::num::NonZeroU32::new(77_777).unwrap()));
    t.error(gl::INVALID_VALUE, "deleting a shader that does not exist");
    t.bind_attrib_location(program, 0, "gl_Position");
    t.error(gl::INVALID_OPERATION, "a location for a built-in name");
    t.bind_attrib_location(program, 1_000, "a");
    t.error(gl::INVALID_VALUE, "a location past the last");
    t.bind_frag_data_location(program, 1_000, "a");
    t.error(gl::INVALID_VALUE, "a colour past the last");
    t.bind_frag_data_location(program, 0, "gl_a");
    t.error(gl::INVALID_OPERATION, "a colour of a built-in name");
    t.get_attrib_location(program, "a");
    t.error(gl::INVALID_OPERATION, "a location of a program that is not linked");
    // A failed link of the program in use: the one that was linked before goes on.
    let good = t.program(FULL_VS, "out vec4 r; void main() { r = vec4(0.0, 0.0, 1.0, 1.0); }");
    t.vertex_array();
    let bad = t.create_shader(gl::FRAGMENT_SHADER).unwrap();
    t.shader_source(bad, "#version 330 core\nthis is nothing");
    t.compile_shader(bad);
    t.check(!t.get_shader_compile_status(bad) && !t.get_shader_info_log(bad).is_empty(), "a log says what is wrong");
    t.attach_shader(good, bad);
    t.link_program(good);
    t.check(!t.get_program_link_status(good), "it does not link");
    t.fill();
    t.no_error("a draw with what was linked before");
    t.pixel(&t.read(2, 2), 0, 0, [0, 0, 255, 255], 0, "the program before the failed link");
    t.use_program(Some(good));
    t.error(gl::INVALID_OPERATION, "it cannot be used anew");
}

unsafe fn error_uniform_blocks(t: &Scene) {
    t.target(2, 2);
    let program = t.program(
        FULL_VS,
        "layout(std140) uniform Colors { vec4 first; vec4 second; }; out vec4 result; void main() { result = first + second; }",
    );
    t.vertex_array();
    let index = t.get_uniform_block_index(program, "Colors").expect("the block");
    let alignment = t.get_parameter_i32(gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT);
    let most = t.get_parameter_i32(gl::MAX_UNIFORM_BUFFER_BINDINGS) as u32;
    let mut data = vec![0.0f32; 512];
    data[..8].copy_from_slice(&[0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.0, 0.5]);
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &data);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 2, Some(buffer));
    t.uniform_block_binding(program, index, 2);
    t.uniform_block_binding(program, index + 5, 2);
    t.error(gl::INVALID_VALUE, "a block past the last");
    t.uniform_block_binding(program, index, most);
    t.error(gl::INVALID_VALUE, "a binding past the last");
    if alignment > 1 {
        t.bind_buffer_range(gl::UNIFORM_BUFFER, 2, Some(buffer), 1, 32);
        t.error(gl::INVALID_VALUE, "an offset that is not aligned");
    }
    t.bind_buffer_range(gl::UNIFORM_BUFFER, 2, Some(buffer), 0, 0);
    t.error(gl::INVALID_VALUE, "a range of nothing");
    t.bind_buffer_range(gl::UNIFORM_BUFFER, 2, Some(buffer), -i32::from(alignment > 0) * alignment, 32);
    t.error(gl::INVALID_VALUE, "a negative offset");
    t.check(t.get_uniform_block_index(program, "Nothing").is_none(), "a block that does not exist");
    t.fill();
    t.pixel(&t.read(2, 2), 0, 0, [0, 255, 0, 255], 0, "the binding before the errors");
    // Ranges that begin at multiples of the alignment hold different values.
    let step = (alignment as usize / 4).max(8);
    let mut several = vec![0.0f32; step * 3 + 8];
    for i in 0..3 {
        several[i * step + i] = 1.0;
        several[i * step + 3] = 1.0;
    }
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &several);
    for i in 0..3usize {
        t.bind_buffer_range(gl::UNIFORM_BUFFER, 2, Some(buffer), (i * step * 4) as i32, 32);
        t.fill();
        let mut expected = [0, 0, 0, 255];
        expected[i] = 255;
        t.pixel(&t.read(2, 2), 0, 0, expected, 0, &format!("range {i}"));
    }
}

unsafe fn uniform_block_without_buffer(t: &Scene) {
    // A range that is smaller than the block, or no buffer at all: undefined values, an error at most, and no crash.
    t.target(2, 2);
    let program = t.program(
        FULL_VS,
        "layout(std140) uniform Colors { vec4 list[4]; }; uniform int i; out vec4 result; void main() { result = list[i]; }",
    );
    t.vertex_array();
    t.set_int(program, "i", 3);
    t.fill();
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[[0.0f32, 1.0, 0.0, 1.0]; 4]);
    t.bind_buffer_range(gl::UNIFORM_BUFFER, 0, Some(buffer), 0, 16);
    t.fill();
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, None);
    t.fill();
    t.buffer_data_size(gl::UNIFORM_BUFFER, 4, gl::STATIC_DRAW);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(buffer));
    t.fill();
    while t.get_error() != gl::NO_ERROR {}
    t.buffer(gl::UNIFORM_BUFFER, &[[0.0f32, 1.0, 0.0, 1.0]; 4]);
    let good = t.get_parameter_i32(gl::UNIFORM_BUFFER_BINDING) as u32;
    t.raw.BindBufferBase(gl::UNIFORM_BUFFER, 0, good);
    t.fill();
    t.pixel(&t.read(2, 2), 0, 0, [0, 255, 0, 255], 0, "a good binding afterwards");
}

unsafe fn broken_program_harms_nobody(t: &Scene) {
    // Programs that do not compile, do not link, or are at the edge of what is legal, between draws that go on.
    t.target(4, 4);
    let good = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    for (i, (vertex, fragment)) in [
        (FULL_VS, "void main() { undefined_function(); }"),
        (FULL_VS, "in vec4 nobody_writes_this; out vec4 r; void main() { r = nobody_writes_this; }"),
        ("void main() {}", "out vec4 r; void main() { r = vec4(1.0); }"),
        ("#version 450 core\nvoid main() { gl_Position = vec4(0.0) }", COLOR_FS),
        (FULL_VS, "uniform float f[100000]; out vec4 r; void main() { r = vec4(f[int(gl_FragCoord.x)]); }"),
        (
            FULL_VS,
            "layout(location = 0) out vec4 a; layout(location = 0) out vec4 b; void main() { a = b = vec4(1.0); }",
        ),
        (FULL_VS, "out vec4 r; void main() { for (;;) { if (gl_FragCoord.x < 9.0) break; } r = vec4(1.0); }"),
    ]
    .into_iter()
    .enumerate()
    {
        let stages = [(gl::VERTEX_SHADER, vertex), (gl::FRAGMENT_SHADER, fragment)];
        if let Ok(program) = t.try_program(&stages, |_| {}) {
            t.use_program(Some(program));
            t.fill();
        }
        while t.get_error() != gl::NO_ERROR {}
        t.use_program(Some(good));
        let v = i as f32 * 20.0 / 255.0;
        t.set_vec4(good, "color", [v, 1.0 - v, 0.0, 1.0]);
        t.fill();
        let expected = [i as u8 * 20, 255 - i as u8 * 20, 0, 255];
        t.area(&t.read(4, 4), (0, 0, 4, 4), expected, 1, &format!("after broken program {i}"));
    }
}
