//! Shaders and their inputs: uniforms of every type, uniform blocks, interfaces between stages, link errors.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("shader_uniform_types", uniform_types),
    Scenario::new("shader_uniform_matrices", uniform_matrices),
    Scenario::new("shader_uniform_structs_arrays", uniform_structs_arrays),
    Scenario::new("shader_struct_samplers", struct_samplers),
    Scenario::new("shader_struct_samplers_as_parameters", struct_samplers_as_parameters),
    Scenario::new("shader_uniforms_per_program", uniforms_per_program),
    Scenario::new("shader_uniform_initializers", uniform_initializers),
    Scenario::new("shader_uniform_block_std140", block_std140),
    Scenario::new("shader_uniform_block_offsets", block_offsets),
    Scenario::new("shader_uniform_block_arrays", block_arrays),
    Scenario::new("shader_uniform_block_update_between_draws", block_update_between_draws),
    Scenario::new("shader_uniform_block_reflection", block_reflection),
    Scenario::new("shader_interface_blocks", interface_blocks),
    Scenario::new("shader_geometry_amplify", geometry_amplify),
    Scenario::new("shader_compile_and_link_errors", link_errors),
    Scenario::new("shader_relink_and_delete", relink_and_delete),
    Scenario::new("shader_attribute_locations", attribute_locations),
    Scenario::new("shader_attribute_aliases", attribute_aliases),
    Scenario::new("shader_depth_range", depth_range),
    Scenario::new("shader_block_array_interpolation", block_array_interpolation),
    Scenario::new("shader_active_uniforms", active_uniforms),
    Scenario::new("shader_bit_operations", bit_operations),
    Scenario::new("shader_control_flow", control_flow),
    Scenario::new("shader_several_objects_a_stage", several_objects),
    Scenario::new("shader_precision_qualifiers", precision_qualifiers),
];

/// Runs a fragment shader over one pixel of an RGBA32F target and returns what it wrote.
unsafe fn result_of(t: &Scene, fragment: &str, set: impl FnOnce(gl::NativeProgram)) -> [f32; 4] {
    t.target_of(1, 1, gl::RGBA32F);
    let program = t.program(FULL_VS, fragment);
    t.vertex_array();
    set(program);
    t.fill();
    t.read_floats(1, 1)[0]
}

unsafe fn uniform_types(t: &Scene) {
    let source = "
        uniform float f; uniform vec2 f2; uniform vec3 f3; uniform vec4 f4;
        uniform int i; uniform ivec2 i2; uniform ivec3 i3; uniform ivec4 i4;
        uniform uint u; uniform uvec2 u2; uniform uvec3 u3; uniform uvec4 u4;
        uniform bool b; uniform bvec3 b3;
        out vec4 result;
        void main() {
            float floats = f + f2.y * 10.0 + f3.z * 100.0 + f4.w * 1000.0;
            float ints = float(i) + float(i2.y) * 10.0 + float(i3.z) * 100.0 + float(i4.w) * 1000.0;
            float uints = float(u & 0xffu) + float(u2.y) * 10.0 + float(u3.z) * 100.0 + float(u4.w) * 1000.0;
            result = vec4(floats, ints, uints, (b ? 1.0 : 0.0) + (b3.x ? 10.0 : 0.0) + (b3.y ? 100.0 : 0.0) + (b3.z ? 1000.0 : 0.0));
        }";
    let v = result_of(t, source, |p| {
        let l = |name: &str| t.get_uniform_location(p, name);
        t.uniform_1_f32(l("f").as_ref(), 1.0);
        t.uniform_2_f32(l("f2").as_ref(), 9.0, 2.0);
        t.uniform_3_f32(l("f3").as_ref(), 9.0, 9.0, 3.0);
        t.uniform_4_f32(l("f4").as_ref(), 9.0, 9.0, 9.0, 4.0);
        t.uniform_1_i32(l("i").as_ref(), -1);
        t.uniform_2_i32(l("i2").as_ref(), 9, 2);
        t.uniform_3_i32(l("i3").as_ref(), 9, 9, -3);
        t.uniform_4_i32(l("i4").as_ref(), 9, 9, 9, 4);
        t.uniform_1_u32(l("u").as_ref(), 0xffff_ff05);
        t.uniform_2_u32(l("u2").as_ref(), 9, 6);
        t.uniform_3_u32(l("u3").as_ref(), 9, 9, 7);
        t.uniform_4_u32(l("u4").as_ref(), 9, 9, 9, 8);
        // Booleans take any of the three types; everything but zero is true.
        t.uniform_1_i32(l("b").as_ref(), 256);
        t.uniform_3_f32(l("b3").as_ref(), 0.0, 0.25, -1.0);
    });
    t.equal(v, [4321.0, 3719.0, 8765.0, 1101.0], "uniforms of scalar and vector types");
}

unsafe fn uniform_matrices(t: &Scene) {
    let m: Vec<f32> = (1..=16).map(|i| i as f32).collect();
    for (columns, rows) in (2..=4).flat_map(|c| (2..=4).map(move |r| (c, r))) {
        let kind = if columns == rows { format!("mat{columns}") } else { format!("mat{columns}x{rows}") };
        for transpose in [false, true] {
            let source = format!(
                "uniform {kind} m; out vec4 result;
                 void main() {{ result = vec4(m[0][0], m[1][0], m[0][1], m[{}][{}]); }}",
                columns - 1,
                rows - 1
            );
            let v = result_of(t, &source, |p| {
                let l = t.get_uniform_location(p, "m");
                let data = &m[..columns * rows];
                match (columns, rows) {
                    (2, 2) => t.uniform_matrix_2_f32_slice(l.as_ref(), transpose, data),
                    (2, 3) => t.uniform_matrix_2x3_f32_slice(l.as_ref(), transpose, data),
                    (2, 4) => t.uniform_matrix_2x4_f32_slice(l.as_ref(), transpose, data),
                    (3, 2) => t.uniform_matrix_3x2_f32_slice(l.as_ref(), transpose, data),
                    (3, 3) => t.uniform_matrix_3_f32_slice(l.as_ref(), transpose, data),
                    (3, 4) => t.uniform_matrix_3x4_f32_slice(l.as_ref(), transpose, data),
                    (4, 2) => t.uniform_matrix_4x2_f32_slice(l.as_ref(), transpose, data),
                    (4, 3) => t.uniform_matrix_4x3_f32_slice(l.as_ref(), transpose, data),
                    _ => t.uniform_matrix_4_f32_slice(l.as_ref(), transpose, data),
                }
            });
            let at = |c: usize, r: usize| if transpose { m[r * columns + c] } else { m[c * rows + r] };
            t.equal(
                v,
                [at(0, 0), at(1, 0), at(0, 1), at(columns - 1, rows - 1)],
                &format!("{kind} transpose {transpose}"),
            );
        }
    }
}

unsafe fn uniform_structs_arrays(t: &Scene) {
    let source = "
        struct Inner { vec2 a; int b[3]; };
        struct Outer { float x; Inner inner[2]; mat3 m; };
        uniform Outer outer[2]; uniform vec3 list[5]; uniform int index;
        out vec4 result;
        void main() {
            result = vec4(outer[1].x, outer[1].inner[index].a.y, float(outer[0].inner[1].b[index + 1]), list[index + 2].z + outer[1].m[2][1]);
        }";
    let v = result_of(t, source, |p| {
        let l = |name: &str| t.get_uniform_location(p, name);
        t.uniform_1_f32(l("outer[1].x").as_ref(), 5.0);
        t.uniform_2_f32(l("outer[1].inner[0].a").as_ref(), 1.0, 2.0);
        t.uniform_2_f32(l("outer[1].inner[1].a").as_ref(), 3.0, 4.0);
        t.uniform_1_i32_slice(l("outer[0].inner[1].b").as_ref(), &[10, 20, 30]);
        t.uniform_matrix_3_f32_slice(l("outer[1].m").as_ref(), false, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0]);
        // A range from the middle of an array that runs over its end is cut.
        let values: Vec<f32> = (0..15).map(|i| i as f32).collect();
        t.uniform_3_f32_slice(l("list").as_ref(), &values);
        t.uniform_3_f32_slice(l("list[3]").as_ref(), &[100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0]);
        t.uniform_1_i32(l("index").as_ref(), 1);
        t.check(
            l("list[5]").is_none() && l("outer[0].nothing").is_none(),
            "names that are not active have no location",
        );
        t.check(l("list") == l("list[0]"), "an array's name is its first element's");
    });
    t.equal(v, [5.0, 4.0, 30.0, 102.5], "structures and arrays");
    let two = result_of(
        t,
        "uniform vec4 list[64]; uniform int i; out vec4 result; void main() { result = list[i] + list[63 - i]; }",
        |p| {
            let values: Vec<f32> = (0..256).map(|i| i as f32).collect();
            t.uniform_4_f32_slice(t.get_uniform_location(p, "list").as_ref(), &values);
            t.uniform_1_i32(t.get_uniform_location(p, "i").as_ref(), 40);
        },
    );
    t.equal(two, [252.0, 254.0, 256.0, 258.0], "dynamic indexing");
}

/// Samplers inside an array of structs, picked by a loop counter: programs with many lights do that.
unsafe fn struct_samplers(t: &Scene) {
    let source = "
        struct Light { vec4 color; sampler2D map; float power; };
        uniform Light lights[3]; uniform int count; out vec4 result;
        float look(sampler2D map, vec2 at) { return texture(map, at).r; }
        void main() {
            result = vec4(0.0);
            for (int i = 0; i < count; ++i) result += lights[i].color * look(lights[i].map, vec2(0.5)) * lights[i].power;
            result.a = texture(lights[1].map, vec2(0.5)).r;
        }";
    let v = result_of(t, source, |p| {
        let l = |name: &str| t.get_uniform_location(p, name);
        for (unit, red) in [(4, 51u8), (5, 255)] {
            t.active_texture(gl::TEXTURE0 + unit);
            t.texture(1, 1, &[[red, 9, 9, 255]]);
        }
        t.active_texture(gl::TEXTURE0);
        for (k, unit, color) in [(0, 5, [1.0, 0.0, 0.0]), (1, 4, [0.0, 1.0, 0.0]), (2, 5, [0.0, 0.0, 1.0])] {
            let at = l(&format!("lights[{k}].map"));
            t.check(at.is_some(), format!("lights[{k}].map has no location"));
            t.uniform_1_i32(at.as_ref(), unit);
            t.uniform_4_f32(l(&format!("lights[{k}].color")).as_ref(), color[0], color[1], color[2], 0.0);
            t.uniform_1_f32(l(&format!("lights[{k}].power")).as_ref(), 1.0 + k as f32);
        }
        t.uniform_1_i32(l("count").as_ref(), 3);
    });
    for (k, expected) in [1.0, 0.4, 3.0, 0.2].into_iter().enumerate() {
        t.near(v[k], expected, 1e-5, &format!("component {k}"));
    }
}

unsafe fn struct_samplers_as_parameters(t: &Scene) {
    // A structure with a sampler may be a parameter, of functions that pass it on as well (GLSL 3.30 section 4.1.7).
    let source = "
        struct Layer { sampler2D map; vec4 tint; };
        struct Material { float weight; Layer layer; sampler2D mask; };
        uniform Material single; uniform Material list[3]; out vec4 result;
        vec4 look(in Layer layer, vec2 at) { return texture(layer.map, at) * layer.tint; }
        float cut(Material m) { return texture(m.mask, vec2(0.5)).r; }
        vec4 shade(Material m, float scale) { return look(m.layer, vec2(0.5)) * m.weight * scale * cut(m); }
        vec4 both(Material a, Material b) { return shade(a, 1.0) + shade(b, 10.0); }
        void main() { result = both(single, list[1]) + 100.0 * shade(list[2], 1.0); }";
    let v = result_of(t, source, |p| {
        let l = |name: &str| t.get_uniform_location(p, name);
        for (unit, red) in [(3, 51u8), (4, 102), (5, 255)] {
            t.active_texture(gl::TEXTURE0 + unit);
            t.texture(1, 1, &[[red, 255, 0, 255]]);
        }
        t.active_texture(gl::TEXTURE0);
        for (name, map, mask, weight) in [("single", 3, 5, 1.0), ("list[1]", 4, 3, 2.0), ("list[2]", 5, 4, 0.5)] {
            t.uniform_1_i32(l(&format!("{name}.layer.map")).as_ref(), map);
            t.uniform_1_i32(l(&format!("{name}.mask")).as_ref(), mask);
            t.uniform_4_f32(l(&format!("{name}.layer.tint")).as_ref(), 1.0, 0.5, 0.0, 1.0);
            t.uniform_1_f32(l(&format!("{name}.weight")).as_ref(), weight);
        }
    });
    // single: 0.2 * 1; list[1]: 0.4 * 2 * 10 * 0.2; list[2]: 1 * 0.5 * 100 * 0.4.
    for (k, expected) in [0.2 + 1.6 + 20.0, 0.5 * (1.0 + 4.0 + 20.0), 0.0, 1.0 + 4.0 + 20.0].into_iter().enumerate() {
        t.near(v[k], expected, 1e-3, &format!("component {k}"));
    }
}

unsafe fn uniforms_per_program(t: &Scene) {
    t.target(8, 8);
    let (a, b) = (t.program(FULL_VS, COLOR_FS), t.program(FULL_VS, COLOR_FS));
    t.vertex_array();
    t.use_program(Some(a));
    t.set_vec4(a, "color", [1.0, 0.0, 0.0, 1.0]);
    t.use_program(Some(b));
    t.set_vec4(b, "color", [0.0, 1.0, 0.0, 1.0]);
    for (program, expected) in [(a, [255, 0, 0, 255]), (b, [0, 255, 0, 255]), (a, [255, 0, 0, 255])] {
        t.use_program(Some(program));
        t.fill();
        t.pixel(&t.read(8, 8), 3, 3, expected, 0, "each program keeps its own uniforms");
    }
    // A change that equals the old value, then one that does not.
    t.set_vec4(a, "color", [1.0, 0.0, 0.0, 1.0]);
    t.fill();
    t.pixel(&t.read(8, 8), 3, 3, [255, 0, 0, 255], 0, "set to the same");
    t.set_vec4(a, "color", [0.0, 0.0, 1.0, 1.0]);
    t.fill();
    t.pixel(&t.read(8, 8), 3, 3, [0, 0, 255, 255], 0, "set to another");
    let mut v = [0.0; 4];
    t.get_uniform_f32(b, &t.uniform(b, "color"), &mut v);
    t.equal(v, [0.0, 1.0, 0.0, 1.0], "glGetUniformfv");
    // Relinking sets uniforms back to 0.
    t.link_program(b);
    t.get_uniform_f32(b, &t.uniform(b, "color"), &mut v);
    t.equal(v, [0.0; 4], "after relinking");
}

unsafe fn uniform_initializers(t: &Scene) {
    let source = "
        uniform float f = 2.5; uniform ivec2 i = ivec2(3, -4); uniform vec2 list[2] = vec2[2](vec2(1.0, 2.0), vec2(3.0, 4.0)); uniform bool b = true;
        out vec4 result;
        void main() { result = vec4(f, float(i.y), list[1].x, b ? 1.0 : 0.0); }";
    t.equal(result_of(t, source, |_| {}), [2.5, -4.0, 3.0, 1.0], "initialisers of uniforms");
    let v = result_of(t, source, |p| t.uniform_1_f32(t.get_uniform_location(p, "f").as_ref(), 7.0));
    t.equal(v, [7.0, -4.0, 3.0, 1.0], "one of them set");
}

unsafe fn block_std140(t: &Scene) {
    let source = "
        struct S { vec3 a; float b; };
        layout(std140) uniform Block {
            float f;         // 0
            vec2 v2;         // 8
            vec3 v3;         // 16
            float tail;      // 28
            float list[3];   // 32, stride 16
            mat3 m;          // 80, stride 16
            S s[2];          // 128, stride 16
            layout(row_major) mat2x3 r; // 160, stride 16, three rows
            bool flag;       // 208
            int last;        // 212
        };
        out vec4 result;
        void main() {
            result = vec4(f + v2.y * 10.0 + v3.z * 100.0 + tail * 1000.0,
                          list[2] + m[1][2] * 10.0 + m[2][0] * 100.0,
                          s[1].a.y + s[1].b * 10.0 + r[1][2] * 100.0 + r[0][1] * 1000.0,
                          (flag ? 1.0 : 0.0) + float(last));
        }";
    let v = result_of(t, source, |p| {
        let mut data = [0u32; 56];
        for (offset, value) in [
            (0, 1.0f32),
            (12, 2.0),
            (24, 3.0),
            (28, 4.0),
            (64, 5.0),
            (80 + 16 + 8, 6.0),
            (80 + 32, 7.0),
            (128 + 16 + 4, 1.0),
            (128 + 16 + 12, 2.0),
            (160 + 32 + 4, 3.0),
            (160 + 16, 4.0),
        ] {
            data[offset / 4] = value.to_bits();
        }
        data[208 / 4] = 7;
        data[212 / 4] = 40;
        let buffer = t.buffer(gl::UNIFORM_BUFFER, &data);
        t.bind_buffer_base(gl::UNIFORM_BUFFER, 3, Some(buffer));
        let index = t.get_uniform_block_index(p, "Block").unwrap_or(99);
        t.uniform_block_binding(p, index, 3);
        t.equal(t.get_active_uniform_block_parameter_i32(p, index, gl::UNIFORM_BLOCK_DATA_SIZE), 224, "block size");
    });
    t.equal(v, [4321.0, 765.0, 4321.0, 41.0], "std140 layout");
}

unsafe fn block_offsets(t: &Scene) {
    t.target(64, 4);
    let program = t.program(
        FULL_VS,
        "layout(std140) uniform Block { vec4 color; }; out vec4 result; void main() { result = color; }",
    );
    t.vertex_array();
    let alignment = t.get_parameter_i32(gl::UNIFORM_BUFFER_OFFSET_ALIGNMENT) as usize;
    t.check(alignment.is_power_of_two() && alignment <= 256, format!("offset alignment {alignment}"));
    let mut data = vec![0.0f32; alignment / 4 * 16];
    for i in 0..16 {
        data[i * alignment / 4..i * alignment / 4 + 4].copy_from_slice(&[
            i as f32 / 15.0,
            1.0 - i as f32 / 15.0,
            0.0,
            1.0,
        ]);
    }
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &data);
    let index = t.get_uniform_block_index(program, "Block").unwrap_or(99);
    t.uniform_block_binding(program, index, 0);
    t.enable(gl::SCISSOR_TEST);
    for i in 0..16 {
        t.scissor(i * 4, 0, 4, 4);
        t.bind_buffer_range(gl::UNIFORM_BUFFER, 0, Some(buffer), i * alignment as i32, 16);
        t.fill();
    }
    let picture = t.read(64, 4);
    for i in 0..16usize {
        t.area(
            &picture,
            (i * 4, 0, i * 4 + 4, 4),
            [i as u8 * 17, 255 - i as u8 * 17, 0, 255],
            1,
            &format!("range {i}"),
        );
    }
    t.bind_buffer_range(gl::UNIFORM_BUFFER, 0, Some(buffer), 1, 16);
    t.error(gl::INVALID_VALUE, "an offset that is not aligned");
    t.bind_buffer_range(gl::UNIFORM_BUFFER, 0, Some(buffer), 0, 0);
    t.error(gl::INVALID_VALUE, "a range of size 0");
    t.bind_buffer_base(gl::UNIFORM_BUFFER, t.get_parameter_i32(gl::MAX_UNIFORM_BUFFER_BINDINGS) as u32, Some(buffer));
    t.error(gl::INVALID_VALUE, "a binding that does not exist");
    // BindBufferBase follows the buffer's size: data that come later count.
    let late = t.create_buffer().unwrap();
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(late));
    t.buffer_data_u8_slice(gl::UNIFORM_BUFFER, bytemuck::cast_slice(&[0.0f32, 0.0, 1.0, 1.0]), gl::STATIC_DRAW);
    t.disable(gl::SCISSOR_TEST);
    t.fill();
    t.pixel(&t.read(64, 4), 2, 2, [0, 0, 255, 255], 0, "data after the binding");
    t.compare("picture", &picture, crate::picture::Tolerance::EXACT);
}

unsafe fn block_arrays(t: &Scene) {
    let source = "
        layout(std140) uniform Block { vec4 value; } blocks[3];
        layout(std140) uniform Other { float scale; } other;
        out vec4 result;
        void main() { result = (blocks[0].value + blocks[1].value * 10.0 + blocks[2].value * 100.0) * other.scale; }";
    let v = result_of(t, source, |p| {
        for i in 0..3 {
            let buffer = t.buffer(gl::UNIFORM_BUFFER, &[1.0f32 + i as f32, 0.0, i as f32, 1.0]);
            t.bind_buffer_base(gl::UNIFORM_BUFFER, 5 + i, Some(buffer));
            let index = t.get_uniform_block_index(p, &format!("Block[{i}]"));
            t.check(index.is_some(), format!("Block[{i}] is an active block"));
            t.uniform_block_binding(p, index.unwrap_or(99), 5 + i);
        }
        let buffer = t.buffer(gl::UNIFORM_BUFFER, &[2.0f32, 0.0, 0.0, 0.0]);
        t.bind_buffer_base(gl::UNIFORM_BUFFER, 1, Some(buffer));
        t.uniform_block_binding(p, t.get_uniform_block_index(p, "Other").unwrap_or(99), 1);
    });
    t.equal(v, [642.0, 0.0, 420.0, 222.0], "an array of blocks");
}

/// N draws with N updates of one buffer between them: every draw sees its own.
unsafe fn block_update_between_draws(t: &Scene) {
    t.target(32, 32);
    let program = t.program(
        FULL_VS,
        "layout(std140) uniform Block { vec4 a; vec4 b; }; out vec4 result; void main() { result = vec4(a.rg, b.b, 1.0); }",
    );
    t.vertex_array();
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[0.0f32; 8]);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(buffer));
    t.uniform_block_binding(program, t.get_uniform_block_index(program, "Block").unwrap_or(99), 0);
    t.enable(gl::SCISSOR_TEST);
    for i in 0..256i32 {
        t.scissor((i % 16) * 2, (i / 16) * 2, 2, 2);
        let (r, g, b) = (i as f32 / 255.0, 1.0 - i as f32 / 255.0, (i % 7) as f32 / 255.0);
        match i % 3 {
            // By sub-data in two pieces, by a new store, by a mapping.
            0 => {
                t.buffer_sub_data_u8_slice(gl::UNIFORM_BUFFER, 0, bytemuck::cast_slice(&[r, g]));
                t.buffer_sub_data_u8_slice(gl::UNIFORM_BUFFER, 24, bytemuck::cast_slice(&[b]));
            }
            1 => t.buffer_data_u8_slice(
                gl::UNIFORM_BUFFER,
                bytemuck::cast_slice(&[r, g, 0.0, 0.0, 0.0, 0.0, b, 0.0]),
                gl::DYNAMIC_DRAW,
            ),
            _ => {
                let p = t.raw.MapBufferRange(gl::UNIFORM_BUFFER, 0, 32, gl::MAP_WRITE_BIT).cast::<f32>();
                if p.is_null() {
                    t.fail("glMapBufferRange gave no memory");
                    return;
                }
                for (at, v) in [(0, r), (1, g), (6, b)] {
                    p.add(at).write(v);
                }
                t.raw.UnmapBuffer(gl::UNIFORM_BUFFER);
            }
        }
        t.fill();
    }
    let picture = t.read(32, 32);
    for i in 0..256usize {
        let (x, y) = ((i % 16) * 2, (i / 16) * 2);
        t.area(&picture, (x, y, x + 2, y + 2), [i as u8, 255 - i as u8, (i % 7) as u8, 255], 1, &format!("draw {i}"));
    }
    t.compare("picture", &picture, crate::picture::Tolerance::EXACT);
}

unsafe fn block_reflection(t: &Scene) {
    let program = t.program(
        FULL_VS,
        "layout(std140) uniform Block { mat4 m; vec3 v; float list[4]; };
         uniform vec4 plain; out vec4 result;
         void main() { result = m * vec4(v, list[2]) + plain; }",
    );
    let names = ["m", "v", "list[0]", "plain"];
    let indices: Vec<u32> = t.get_uniform_indices(program, &names).into_iter().map(|i| i.unwrap_or(u32::MAX)).collect();
    t.check(indices.iter().all(|i| *i != u32::MAX), format!("uniform indices {indices:?}"));
    let query = |name: u32| {
        let mut v = [0; 4];
        t.raw.GetActiveUniformsiv(program.0.get(), 4, indices.as_ptr(), name, v.as_mut_ptr());
        v
    };
    t.equal(query(gl::UNIFORM_OFFSET), [0, 64, 80, -1], "offsets");
    t.equal(query(gl::UNIFORM_ARRAY_STRIDE)[2], 16, "array stride");
    t.equal(query(gl::UNIFORM_MATRIX_STRIDE)[0], 16, "matrix stride");
    t.equal(query(gl::UNIFORM_SIZE), [1, 1, 4, 1], "array sizes");
    t.equal(
        query(gl::UNIFORM_TYPE).map(|v| v as u32),
        [gl::FLOAT_MAT4, gl::FLOAT_VEC3, gl::FLOAT, gl::FLOAT_VEC4],
        "types",
    );
    t.equal(query(gl::UNIFORM_BLOCK_INDEX), [0, 0, 0, -1], "block indices");
    t.equal(t.get_program_parameter_i32(program, gl::ACTIVE_UNIFORM_BLOCKS), 1, "active blocks");
    t.equal(t.get_active_uniform_block_name(program, 0), "Block".to_owned(), "block name");
    t.equal(
        t.get_active_uniform_block_parameter_i32(program, 0, gl::UNIFORM_BLOCK_ACTIVE_UNIFORMS),
        3,
        "uniforms of the block",
    );
    t.equal(
        t.get_active_uniform_block_parameter_i32(program, 0, gl::UNIFORM_BLOCK_REFERENCED_BY_FRAGMENT_SHADER),
        1,
        "referenced by the fragment shader",
    );
    t.check(t.get_uniform_location(program, "v").is_none(), "members of blocks have no location");
    t.check(t.get_uniform_location(program, "plain").is_some(), "the others have one");
}

unsafe fn interface_blocks(t: &Scene) {
    t.target_of(2, 2, gl::RGBA32F);
    // The instance names differ between the stages; the block name is what matches.
    t.program(
        "out Data { vec2 uv; flat ivec2 id; vec3 list[2]; } outgoing;
         struct Pair { float a; vec2 b; };
         out Pair pair; out mat2 matrix;
         void main() {
            vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
            outgoing.uv = uv; outgoing.id = ivec2(7, 9); outgoing.list[0] = vec3(1.0); outgoing.list[1] = vec3(2.0, 3.0, 4.0);
            pair.a = 5.0; pair.b = vec2(6.0, 7.0); matrix = mat2(1.0, 2.0, 3.0, 4.0);
            gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
         }",
        "in Data { vec2 uv; flat ivec2 id; vec3 list[2]; } incoming;
         struct Pair { float a; vec2 b; };
         in Pair pair; in mat2 matrix; out vec4 result;
         void main() {
            result = vec4(incoming.uv.x, float(incoming.id.y), incoming.list[1].z + pair.b.y * 10.0, matrix[1][0] + pair.a * 10.0);
         }",
    );
    t.vertex_array();
    t.fill();
    t.equal(t.read_floats(2, 2)[1], [0.75, 9.0, 74.0, 53.0], "interface between the stages");
}

unsafe fn geometry_amplify(t: &Scene) {
    t.target(64, 16);
    let vertex = "layout(location = 0) in vec2 position; out float which; void main() { gl_Position = vec4(position, 0.0, 1.0); which = float(gl_VertexID); }";
    let geometry = "
        layout(points) in; layout(triangle_strip, max_vertices = 4) out;
        in float which[]; out vec4 tint; uniform float size;
        void main() {
            for (int i = 0; i < 4; ++i) {
                gl_Position = gl_in[0].gl_Position + vec4(vec2(float(i & 1), float(i >> 1)) * vec2(size * 0.25, size), 0.0, 0.0);
                tint = vec4(which[0] * 0.2, 1.0 - which[0] * 0.2, float(gl_PrimitiveIDIn) * 0.2, 1.0);
                EmitVertex();
            }
            EndPrimitive();
        }";
    let fragment = "in vec4 tint; out vec4 result; void main() { result = tint; }";
    let program = t.program_of(
        &[(gl::VERTEX_SHADER, vertex), (gl::GEOMETRY_SHADER, geometry), (gl::FRAGMENT_SHADER, fragment)],
        |_| {},
    );
    let size = t.uniform(program, "size");
    t.uniform_1_f32(Some(&size), 1.0);
    t.positions(&[[-1.0, -0.5], [-0.5, -0.5], [0.0, -0.5], [0.5, -0.5]]);
    t.draw_arrays(gl::POINTS, 0, 4);
    let picture = t.read(64, 16);
    for i in 0..4usize {
        let c = [51 * i as u8, 255 - 51 * i as u8, 51 * i as u8, 255];
        t.area(&picture, (i * 16, 4, i * 16 + 8, 12), c, 1, &format!("quad of point {i}"));
    }
    t.equal(picture.count(|p| p[3] != 0), 4 * 64, "pixels drawn");
    t.compare("picture", &picture, crate::picture::Tolerance::EXACT);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.error(gl::INVALID_OPERATION, "triangles into a geometry shader for points");
    // Adjacency: the neighbours of a line are visible to the shader.
    let geometry = "
        layout(lines_adjacency) in; layout(triangle_strip, max_vertices = 4) out;
        in float which[]; out vec4 tint;
        void main() {
            for (int i = 0; i < 4; ++i) {
                gl_Position = vec4(vec2(float(i & 1), float(i >> 1)) * 2.0 - 1.0, 0.0, 1.0);
                tint = vec4(which[0], which[1], which[2], which[3]) * (50.0 / 255.0);
                EmitVertex();
            }
        }";
    t.program_of(
        &[(gl::VERTEX_SHADER, vertex), (gl::GEOMETRY_SHADER, geometry), (gl::FRAGMENT_SHADER, fragment)],
        |_| {},
    );
    t.draw_arrays(gl::LINES_ADJACENCY, 0, 4);
    t.pixel(&t.read(64, 16), 5, 5, [0, 50, 100, 150], 1, "adjacent vertices");
}

unsafe fn link_errors(t: &Scene) {
    let vertex = t.create_shader(gl::VERTEX_SHADER).unwrap();
    t.shader_source(vertex, "#version 330 core\nvoid main() { gl_Position = undeclared; }");
    t.compile_shader(vertex);
    t.check(!t.get_shader_compile_status(vertex), "an undeclared name does not compile");
    t.check(t.get_shader_info_log(vertex).contains("undeclared"), "the log names it");
    t.no_error("a compile error is no GL error");
    // Types that do not match between the stages.
    let bad = t.try_program(
        &[
            (gl::VERTEX_SHADER, "out vec3 v; void main() { v = vec3(1.0); gl_Position = vec4(0.0); }"),
            (gl::FRAGMENT_SHADER, "in vec4 v; out vec4 r; void main() { r = v; }"),
        ],
        |_| {},
    );
    t.check(bad.as_ref().is_err_and(|e| e.starts_with("link")), format!("mismatched types: {bad:?}"));
    // No vertex shader source at all, and an empty program.
    let program = t.create_program().unwrap();
    t.link_program(program);
    t.use_program(Some(program));
    t.raw.ActiveTexture(gl::TEXTURE0);
    let _ = t.get_error();
    // One bad program must not harm the next good one.
    t.target(4, 4);
    let good = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(good, "color", [0.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "a good program after bad ones");
    let failed = t.create_program().unwrap();
    t.attach_shader(failed, vertex);
    t.link_program(failed);
    t.check(!t.get_program_link_status(failed), "a program of a shader that did not compile");
    t.use_program(Some(failed));
    t.error(gl::INVALID_OPERATION, "a program that is not linked cannot be used");
    t.fill();
    t.pixel(&t.read(4, 4), 2, 2, [0, 255, 0, 255], 0, "the old program is still in use");
}

unsafe fn relink_and_delete(t: &Scene) {
    t.target(4, 4);
    t.vertex_array();
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    // A deleted program in use stays until it is replaced.
    t.delete_program(program);
    t.check(t.get_program_parameter_i32(program, gl::DELETE_STATUS) == 1, "DELETE_STATUS");
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [255, 0, 0, 255], 0, "a deleted program in use");
    t.use_program(None);
    t.check(!t.is_program(program), "gone when no longer in use");
    // A failed relink of the program in use leaves its executable running.
    let program = t.program(FULL_VS, "uniform vec4 color; out vec4 result; void main() { result = color; }");
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    let bad = t.create_shader(gl::FRAGMENT_SHADER).unwrap();
    t.shader_source(bad, "#version 330 core\nthis is nothing");
    t.compile_shader(bad);
    t.attach_shader(program, bad);
    t.link_program(program);
    t.check(!t.get_program_link_status(program), "the relink fails");
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 255, 0, 255], 0, "the old executable still draws");
    // A successful relink takes effect at once.
    t.detach_shader(program, bad);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 0.0, 1.0, 1.0]);
    t.link_program(program);
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 0, 0, 0], 0, "relinked: uniforms are zero");
}

unsafe fn attribute_locations(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    let stages = [
        (gl::VERTEX_SHADER, "in float a; in vec2 b; in mat2 m; layout(location = 9) in vec3 fixed_one; out vec4 v;
          void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0; v = vec4(a, b.y, m[1].x, fixed_one.z); }"),
        (gl::FRAGMENT_SHADER, "in vec4 v; out vec4 r; void main() { r = v; }"),
    ];
    let program = t.program_of(&stages, |p| {
        t.bind_attrib_location(p, 5, "a");
        t.bind_attrib_location(p, 2, "m");
        t.bind_attrib_location(p, 7, "fixed_one"); // The shader's own layout wins.
        t.bind_attrib_location(p, 11, "nothing");
    });
    let at = |name: &str| t.get_attrib_location(program, name);
    t.equal(at("a"), Some(5), "bound");
    t.equal(at("m"), Some(2), "a matrix takes two locations");
    t.equal(at("fixed_one"), Some(9), "layout wins");
    t.equal(at("nothing"), None, "not active");
    let b = at("b").unwrap_or(99);
    t.check(![2, 3, 5, 9].contains(&b), format!("b must not overlap, it is at {b}"));
    t.equal(t.get_active_attributes(program), 4, "active attributes");
    t.vertex_array();
    t.vertex_attrib_1_f32(5, 1.0);
    t.vertex_attrib_2_f32(b, 0.0, 2.0);
    t.vertex_attrib_2_f32(3, 3.0, 0.0);
    t.vertex_attrib_3_f32(9, 0.0, 0.0, 4.0);
    t.draw_arrays(gl::POINTS, 0, 1);
    t.equal(t.read_floats(1, 1)[0], [1.0, 2.0, 3.0, 4.0], "values through the locations");
}

unsafe fn attribute_aliases(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    let stages = [
        (
            gl::VERTEX_SHADER,
            "in vec3 first; in vec2 second; uniform int which; out vec4 v;
             void main() {
                gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0;
                if (which == 0) v = vec4(first, 1.0); else v = vec4(second, -1.0, 1.0);
             }",
        ),
        (gl::FRAGMENT_SHADER, "in vec4 v; out vec4 r; void main() { r = v; }"),
    ];
    let program = t.program_of(&stages, |p| {
        t.bind_attrib_location(p, 3, "first");
        t.bind_attrib_location(p, 3, "second");
    });
    for name in ["first", "second"] {
        t.equal(t.get_attrib_location(program, name), Some(3), name);
    }
    t.vertex_array();
    t.buffer(gl::ARRAY_BUFFER, &[[7.0f32, 8.0, 9.0]]);
    t.attribute(3, 3, 0, 0);
    for (which, expected) in [(0, [7.0, 8.0, 9.0, 1.0]), (1, [7.0, 8.0, -1.0, 1.0])] {
        t.set_int(program, "which", which);
        t.draw_arrays(gl::POINTS, 0, 1);
        t.equal(t.read_floats(1, 1)[0], expected, "both names read one array");
    }
}

unsafe fn depth_range(t: &Scene) {
    let source = "out vec4 result; void main() { result = vec4(gl_DepthRange.near, gl_DepthRange.far, gl_DepthRange.diff, 1.0); }";
    t.target_of(1, 1, gl::RGBA32F);
    let program = t.program(FULL_VS, source);
    t.vertex_array();
    for (near, far) in [(0.0, 1.0), (0.75, 0.25), (0.5, 0.5)] {
        t.depth_range_f64(near, far);
        t.fill();
        let expected = [near as f32, far as f32, (far - near) as f32, 1.0];
        t.equal(t.read_floats(1, 1)[0], expected, "gl_DepthRange follows glDepthRange");
    }
    t.check(t.get_uniform_location(program, "gl_DepthRange.far").is_none(), "built-in uniforms have no location");
}

unsafe fn block_array_interpolation(t: &Scene) {
    let block = "Blk { flat float steps; noperspective vec2 screen; vec4 space; } blocks[2]";
    let vertex = format!(
        "out {block}; flat out float steps; noperspective out vec2 screen; out vec4 space;
         void main() {{
            vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
            float w = 1.0 + float(gl_VertexID);
            gl_Position = vec4((at * 4.0 - 1.0) * w, 0.0, w);
            steps = w; screen = at; space = vec4(at, w, 1.0);
            for (int i = 0; i < 2; i++) {{
                float k = float(i + 1);
                blocks[i].steps = steps * k; blocks[i].screen = screen * k; blocks[i].space = space * k;
            }}
         }}"
    );
    let fragment = format!(
        "in {block}; flat in float steps; noperspective in vec2 screen; in vec4 space; out vec4 result;
         void main() {{
            float worst = 0.0;
            for (int i = 0; i < 2; i++) {{
                float k = float(i + 1);
                worst = max(worst, abs(blocks[i].steps - steps * k));
                worst = max(worst, distance(blocks[i].screen, screen * k));
                worst = max(worst, distance(blocks[i].space, space * k));
            }}
            result = vec4(worst, steps, 0.0, 1.0);
         }}"
    );
    t.target_of(16, 16, gl::RGBA32F);
    t.program(&vertex, &fragment);
    t.vertex_array();
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let pixels = t.read_floats(16, 16);
    let worst = pixels.iter().map(|p| p[0]).fold(0.0, f32::max);
    t.check(worst < 1e-4, format!("members of the blocks differ from plain varyings by {worst}"));
    t.check(pixels.iter().all(|p| p[1] == 3.0), "the triangle covers the target");
}

unsafe fn active_uniforms(t: &Scene) {
    let program = t.program(
        FULL_VS,
        "uniform vec3 used; uniform float list[4]; uniform sampler2D image; uniform int unused; struct S { vec2 a; int b; }; uniform S s[2];
         out vec4 result;
         void main() { result = vec4(used, list[3]) + texture(image, s[0].a) + vec4(float(s[1].b)); }",
    );
    let mut found: Vec<(String, u32, i32)> = (0..t.get_active_uniforms(program))
        .filter_map(|i| t.get_active_uniform(program, i))
        .map(|u| (u.name, u.utype, u.size))
        .collect();
    found.sort();
    let has = |name: &str, kind: u32, size: i32| found.iter().any(|(n, k, s)| n == name && *k == kind && *s == size);
    t.check(has("used", gl::FLOAT_VEC3, 1), format!("used is active: {found:?}"));
    t.check(has("list[0]", gl::FLOAT, 4), format!("arrays end in [0]: {found:?}"));
    t.check(has("image", gl::SAMPLER_2D, 1), format!("the sampler is active: {found:?}"));
    t.check(has("s[0].a", gl::FLOAT_VEC2, 1) && has("s[1].b", gl::INT, 1), format!("members of structures: {found:?}"));
    t.check(!found.iter().any(|u| u.0 == "unused"), "unused uniforms are not active");
    t.use_program(Some(program));
    t.uniform_1_f32(t.get_uniform_location(program, "used").as_ref(), 1.0);
    t.error(gl::INVALID_OPERATION, "a vec3 set as a float");
    t.uniform_1_f32(t.get_uniform_location(program, "image").as_ref(), 0.0);
    t.error(gl::INVALID_OPERATION, "a sampler set as a float");
    t.uniform_1_i32(t.get_uniform_location(program, "image").as_ref(), 100_000);
    t.error(gl::INVALID_VALUE, "a unit that does not exist");
    t.uniform_3_f32(None, 1.0, 2.0, 3.0);
    t.no_error("location -1 is ignored");
}

unsafe fn bit_operations(t: &Scene) {
    let v = result_of(
        t,
        "uniform int i; uniform uint u; out vec4 result;
         void main() {
            uint bits = floatBitsToUint(1.0f * float(i) / 5.0f);
            result = vec4(float(bits == 0x40000000u), float(((i << 3) ^ 5) >> 1), float((u >> 28u) | 0x10u), uintBitsToFloat(u & 0x3f800000u) + float(~i));
         }",
        |p| {
            t.uniform_1_i32(t.get_uniform_location(p, "i").as_ref(), 10);
            t.uniform_1_u32(t.get_uniform_location(p, "u").as_ref(), 0xff80_1234);
        },
    );
    t.equal(&v[..3], &[1.0, 42.0, 31.0], "bit operations");
    t.equal(v[3], 1.0 - 11.0, "uintBitsToFloat and the complement");
}

unsafe fn control_flow(t: &Scene) {
    let v = result_of(
        t,
        "uniform int n; out vec4 result;
         int collatz(int x) { int steps = 0; while (x != 1) { if (x % 2 == 0) x /= 2; else x = 3 * x + 1; ++steps; if (steps > 200) break; } return steps; }
         void twice(inout float x, out float y) { y = x; x *= 2.0; }
         float chosen(int i) { switch (i) { case 0: return 10.0; case 1: case 2: return 20.0; default: break; } return 30.0; }
         void main() {
            float sum = 0.0;
            for (int i = 0; i < n; ++i) { if (i == 3) continue; sum += float(i); }
            float a = 4.0, b; twice(a, b);
            int k = 0; do { k += 2; } while (k < n);
            float list[6]; for (int i = 0; i < 6; ++i) list[i] = float(i * i);
            result = vec4(sum, float(collatz(n + 20)), a * 10.0 + b, chosen(n - 7) + chosen(1) / 10.0 + chosen(9) / 100.0 + float(k) * 100.0 + list[n - 4] * 10000.0);
         }",
        |p| t.uniform_1_i32(t.get_uniform_location(p, "n").as_ref(), 7),
    );
    // collatz(27) takes 111 steps.
    t.equal(v, [18.0, 111.0, 84.0, 90812.3], "loops, functions, switches, arrays");
}

unsafe fn several_objects(t: &Scene) {
    // A stage may be made of several shader objects that call into each other.
    t.target(4, 4);
    t.program_of(
        &[
            (gl::VERTEX_SHADER, FULL_VS),
            (gl::FRAGMENT_SHADER, "vec4 shade(float x); out vec4 result; void main() { result = shade(0.2); }"),
            (gl::FRAGMENT_SHADER, "uniform float scale; vec4 shade(float x) { return vec4(x, x * 2.0, scale, 1.0); }"),
        ],
        |_| {},
    );
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [51, 102, 0, 255], 1, "a function from another object");
}

/// Desktop GLSL takes precision qualifiers and gives them no meaning: stages that differ in them link and share uniforms.
unsafe fn precision_qualifiers(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    let program = t.program(
        "precision highp float;
         uniform highp float scale; uniform mediump vec4 light;
         layout(std140) uniform Block { highp vec4 a; lowp float b; } vertex_name;
         out highp float v;
         void main() {
            gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0;
            v = scale * light.w + vertex_name.a.x;
         }",
        "precision mediump float;
         uniform mediump float scale; uniform highp vec4 light;
         layout(std140) uniform Block { mediump vec4 a; highp float b; } fragment_name;
         in mediump float v; out lowp vec4 result;
         void main() { result = vec4(v, scale, light.z, fragment_name.b); }",
    );
    t.vertex_array();
    t.uniform_1_f32(t.get_uniform_location(program, "scale").as_ref(), 3.0);
    t.set_vec4(program, "light", [0.0, 0.0, 1234.5, 5.0]);
    let buffer = t.buffer(gl::UNIFORM_BUFFER, &[100.0f32, 0.0, 0.0, 0.0, 70_000.0, 0.0, 0.0, 0.0]);
    t.bind_buffer_base(gl::UNIFORM_BUFFER, 0, Some(buffer));
    t.draw_arrays(gl::POINTS, 0, 1);
    t.equal(t.read_floats(1, 1)[0], [115.0, 3.0, 1234.5, 70_000.0], "one set of uniforms for both stages");
}
