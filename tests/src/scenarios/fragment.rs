//! Per-fragment operations: blending, logic op, write masks, depth and stencil tests, dual-source blending, sRGB.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("fragment_blend_functions", blend_functions),
    Scenario::new("fragment_blend_equations", blend_equations),
    Scenario::new("fragment_blend_constant", blend_constant),
    Scenario::new("fragment_blend_per_buffer", blend_per_buffer),
    Scenario::new("fragment_blend_float_target", blend_float_target),
    Scenario::new("fragment_dual_source", dual_source),
    Scenario::new("fragment_logic_op", logic_op),
    Scenario::new("fragment_depth_functions", depth_functions),
    Scenario::new("fragment_depth_mask", depth_mask),
    Scenario::new("fragment_stencil_operations", stencil_operations),
    Scenario::new("fragment_stencil_two_sided", stencil_two_sided),
    Scenario::new("fragment_stencil_shape", stencil_shape),
    Scenario::new("fragment_srgb_framebuffer", srgb_framebuffer),
    Scenario::new("fragment_state_toggles", state_toggles),
];

/// A 4 × 4 RGBA8 target filled with `destination`, and a program that fills with the uniform `color`.
unsafe fn painter(t: &Scene) -> gl::NativeProgram {
    t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    program
}

unsafe fn paint(t: &Scene, program: gl::NativeProgram, destination: [f32; 4], source: [f32; 4]) -> [f32; 4] {
    t.clear_color(destination[0], destination[1], destination[2], destination[3]);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.set_vec4(program, "color", source);
    t.fill();
    t.read(4, 4).pixel(1, 2).map(|b| f32::from(b) / 255.0)
}

/// A blend factor as GL 3.3 table 4.2 has it.
fn factor(name: u32, s: [f32; 4], d: [f32; 4], c: [f32; 4]) -> [f32; 4] {
    match name {
        gl::ZERO => [0.0; 4],
        gl::ONE => [1.0; 4],
        gl::SRC_COLOR => s,
        gl::ONE_MINUS_SRC_COLOR => s.map(|v| 1.0 - v),
        gl::DST_COLOR => d,
        gl::ONE_MINUS_DST_COLOR => d.map(|v| 1.0 - v),
        gl::SRC_ALPHA => [s[3]; 4],
        gl::ONE_MINUS_SRC_ALPHA => [1.0 - s[3]; 4],
        gl::DST_ALPHA => [d[3]; 4],
        gl::ONE_MINUS_DST_ALPHA => [1.0 - d[3]; 4],
        gl::CONSTANT_COLOR => c,
        gl::ONE_MINUS_CONSTANT_COLOR => c.map(|v| 1.0 - v),
        gl::CONSTANT_ALPHA => [c[3]; 4],
        gl::ONE_MINUS_CONSTANT_ALPHA => [1.0 - c[3]; 4],
        gl::SRC_ALPHA_SATURATE => {
            let f = s[3].min(1.0 - d[3]);
            [f, f, f, 1.0]
        }
        other => panic!("no factor {other:#x}"),
    }
}

const FACTORS: [u32; 15] = [
    gl::ZERO,
    gl::ONE,
    gl::SRC_COLOR,
    gl::ONE_MINUS_SRC_COLOR,
    gl::DST_COLOR,
    gl::ONE_MINUS_DST_COLOR,
    gl::SRC_ALPHA,
    gl::ONE_MINUS_SRC_ALPHA,
    gl::DST_ALPHA,
    gl::ONE_MINUS_DST_ALPHA,
    gl::CONSTANT_COLOR,
    gl::ONE_MINUS_CONSTANT_COLOR,
    gl::CONSTANT_ALPHA,
    gl::ONE_MINUS_CONSTANT_ALPHA,
    gl::SRC_ALPHA_SATURATE,
];

const SOURCE: [f32; 4] = [0.8, 0.2, 0.4, 0.6];
const DESTINATION: [f32; 4] = [0.2, 0.6, 0.4, 0.8];
const CONSTANT: [f32; 4] = [0.4, 0.8, 0.2, 0.6];

unsafe fn blend_functions(t: &Scene) {
    let program = painter(t);
    t.enable(gl::BLEND);
    t.blend_color(CONSTANT[0], CONSTANT[1], CONSTANT[2], CONSTANT[3]);
    for (i, source) in FACTORS.into_iter().enumerate() {
        // Every source factor with three destination factors; SRC_ALPHA_SATURATE is a source factor only in GL 3.3.
        for step in [0, 4, 9] {
            let destination = FACTORS[(i + step) % 14];
            let alpha_source = FACTORS[(i + 5) % 14];
            t.blend_func_separate(source, destination, alpha_source, gl::ONE);
            let actual = paint(t, program, DESTINATION, SOURCE);
            let s = factor(source, SOURCE, DESTINATION, CONSTANT);
            let d = factor(destination, SOURCE, DESTINATION, CONSTANT);
            let sa = factor(alpha_source, SOURCE, DESTINATION, CONSTANT);
            for c in 0..4 {
                let (sf, df) = if c == 3 { (sa[3], 1.0) } else { (s[c], d[c]) };
                let expected = (SOURCE[c] * sf + DESTINATION[c] * df).min(1.0);
                t.near(
                    actual[c],
                    expected,
                    0.012,
                    &format!("{source:#x}, {destination:#x}, {alpha_source:#x} channel {c}"),
                );
            }
        }
    }
}

unsafe fn blend_equations(t: &Scene) {
    let program = painter(t);
    t.enable(gl::BLEND);
    t.blend_func(gl::SRC_ALPHA, gl::ONE);
    type Equation = fn(f32, f32, f32) -> f32;
    let equations: [(u32, Equation); 5] = [
        (gl::FUNC_ADD, |s, f, d| s * f + d),
        (gl::FUNC_SUBTRACT, |s, f, d| s * f - d),
        (gl::FUNC_REVERSE_SUBTRACT, |s, f, d| d - s * f),
        // MIN and MAX ignore the factors.
        (gl::MIN, |s, _, d| s.min(d)),
        (gl::MAX, |s, _, d| s.max(d)),
    ];
    for (rgb, f_rgb) in equations {
        for (alpha, f_alpha) in equations {
            t.blend_equation_separate(rgb, alpha);
            let actual = paint(t, program, DESTINATION, SOURCE);
            for c in 0..4 {
                let f = if c == 3 { f_alpha } else { f_rgb };
                let expected = f(SOURCE[c], SOURCE[3], DESTINATION[c]).clamp(0.0, 1.0);
                t.near(actual[c], expected, 0.012, &format!("equations {rgb:#x}, {alpha:#x} channel {c}"));
            }
        }
    }
    t.blend_equation(gl::SRC_ALPHA);
    t.error(gl::INVALID_ENUM, "an equation that is none");
    t.equal(t.get_parameter_i32(gl::BLEND_EQUATION_RGB), gl::MAX as i32, "the equation after the error");
}

unsafe fn blend_constant(t: &Scene) {
    let program = painter(t);
    t.enable(gl::BLEND);
    t.blend_func(gl::CONSTANT_COLOR, gl::ONE_MINUS_CONSTANT_ALPHA);
    // Only the constant changes between these draws.
    for c in [0.0f32, 0.25, 0.5, 1.0] {
        t.blend_color(c, 1.0 - c, 0.5, c);
        let actual = paint(t, program, [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]);
        t.near(actual[0], c, 0.01, "red");
        t.near(actual[1], 1.0 - c, 0.01, "green");
        t.near(actual[2], 1.0 - c, 0.01, "blue");
    }
}

unsafe fn blend_per_buffer(t: &Scene) {
    let framebuffer = t.create_framebuffer().unwrap();
    let textures: Vec<_> = (0..3).map(|_| t.texture(4, 4, &[[0, 100, 0, 100]; 16])).collect();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    for (i, texture) in textures.iter().enumerate() {
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0 + i as u32, gl::TEXTURE_2D, Some(*texture), 0);
    }
    t.draw_buffers(&[gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT1, gl::COLOR_ATTACHMENT2]);
    t.complete();
    t.viewport(0, 0, 4, 4);
    t.program(
        FULL_VS,
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; layout(location = 2) out vec4 c;
         void main() { a = b = c = vec4(0.2, 0.2, 0.4, 0.2); }",
    );
    t.vertex_array();
    // GL 3.3: enables and write masks are per draw buffer, functions and equations are not.
    t.blend_func(gl::ONE, gl::ONE);
    t.enable_draw_buffer(gl::BLEND, 1);
    t.color_mask_draw_buffer(2, true, false, false, true);
    t.check(t.raw.IsEnabledi(gl::BLEND, 0) == 0 && t.raw.IsEnabledi(gl::BLEND, 1) == 1, "indexed enables");
    let mut mask = [9u8; 4];
    t.raw.GetBooleani_v(gl::COLOR_WRITEMASK, 2, mask.as_mut_ptr());
    t.equal(mask, [1, 0, 0, 1], "indexed colour mask");
    t.fill();
    let expected = [[51, 51, 102, 51], [51, 151, 102, 151], [51, 100, 0, 51]];
    for (i, e) in expected.into_iter().enumerate() {
        t.read_buffer(gl::COLOR_ATTACHMENT0 + i as u32);
        let picture = t.read(4, 4);
        t.area(&picture, (0, 0, 4, 4), e, 1, &format!("draw buffer {i}"));
        t.compare(&format!("buffer{i}"), &picture, Tolerance::EXACT);
    }
    t.enable(gl::BLEND);
    t.check(t.raw.IsEnabledi(gl::BLEND, 0) == 1, "glEnable sets every draw buffer");
}

unsafe fn blend_float_target(t: &Scene) {
    t.target_of(4, 4, gl::RGBA16F);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.enable(gl::BLEND);
    t.blend_func(gl::ONE, gl::ONE);
    t.set_vec4(program, "color", [3.0, -1.5, 0.25, 100.0]);
    t.fill();
    t.fill();
    let p = t.read_floats(4, 4)[5];
    for (i, e) in [6.0, -3.0, 0.5, 200.0].into_iter().enumerate() {
        t.near(p[i], e, 0.0, "float blending does not clamp");
    }
}

unsafe fn dual_source(t: &Scene) {
    t.target(4, 4);
    let fragment = "
        uniform vec4 color; uniform vec4 weight;
        layout(location = 0, index = 0) out vec4 first;
        layout(location = 0, index = 1) out vec4 second;
        void main() { first = color; second = weight; }";
    let program = t.program(FULL_VS, fragment);
    t.vertex_array();
    t.equal(t.raw.GetFragDataIndex(program.0.get(), c"second".as_ptr()), 1, "glGetFragDataIndex");
    t.enable(gl::BLEND);
    t.blend_func(gl::SRC1_COLOR, gl::ONE_MINUS_SRC1_COLOR);
    t.clear_color(0.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    t.set_vec4(program, "weight", [0.25, 0.5, 0.75, 1.0]);
    t.fill();
    let picture = t.read(4, 4);
    t.pixel(&picture, 1, 1, [64, 128, 64, 255], 2, "SRC1_COLOR");
    t.compare("picture", &picture, Tolerance::EXACT);
    // The index may come from the application instead of the shader.
    let program = t.program_of(
        &[
            (gl::VERTEX_SHADER, FULL_VS),
            (
                gl::FRAGMENT_SHADER,
                "out vec4 first; out vec4 second; void main() { first = vec4(1.0); second = vec4(0.2); }",
            ),
        ],
        |p| {
            t.raw.BindFragDataLocationIndexed(p.0.get(), 0, 0, c"first".as_ptr());
            t.raw.BindFragDataLocationIndexed(p.0.get(), 0, 1, c"second".as_ptr());
        },
    );
    t.use_program(Some(program));
    t.blend_func(gl::SRC1_ALPHA, gl::ONE_MINUS_SRC1_ALPHA);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [51, 51, 255, 255], 2, "SRC1_ALPHA");
}

unsafe fn logic_op(t: &Scene) {
    let program = painter(t);
    t.enable(gl::COLOR_LOGIC_OP);
    type Op = fn(u8, u8) -> u8;
    let ops: [(u32, Op); 16] = [
        (gl::CLEAR, |_, _| 0),
        (gl::AND, |s, d| s & d),
        (gl::AND_REVERSE, |s, d| s & !d),
        (gl::COPY, |s, _| s),
        (gl::AND_INVERTED, |s, d| !s & d),
        (gl::NOOP, |_, d| d),
        (gl::XOR, |s, d| s ^ d),
        (gl::OR, |s, d| s | d),
        (gl::NOR, |s, d| !(s | d)),
        (gl::EQUIV, |s, d| !(s ^ d)),
        (gl::INVERT, |_, d| !d),
        (gl::OR_REVERSE, |s, d| s | !d),
        (gl::COPY_INVERTED, |s, _| !s),
        (gl::OR_INVERTED, |s, d| !s | d),
        (gl::NAND, |s, d| !(s & d)),
        (gl::SET, |_, _| 255),
    ];
    let (s, d) = ([0xf0u8, 0x33, 0x55, 0xcc], [0x3cu8, 0x0f, 0x99, 0xaa]);
    let float = |v: [u8; 4]| v.map(|b| f32::from(b) / 255.0);
    for (name, op) in ops {
        t.raw.LogicOp(name);
        let actual = paint(t, program, float(d), float(s)).map(|v| (v * 255.0).round() as u8);
        let expected = [0, 1, 2, 3].map(|i| op(s[i], d[i]));
        t.equal(actual, expected, &format!("logic op {name:#x}"));
    }
    // With a logic op enabled, blending is off for fixed-point buffers (GL 3.3 section 4.1.11).
    t.enable(gl::BLEND);
    t.blend_func(gl::ZERO, gl::ONE);
    t.raw.LogicOp(gl::COPY);
    let actual = paint(t, program, float(d), float(s)).map(|v| (v * 255.0).round() as u8);
    t.equal(actual, s, "the logic op disables blending");
}

unsafe fn depth_functions(t: &Scene) {
    t.target(8, 8);
    let program = t.program(
        "uniform float z;
         void main() {
            vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
            gl_Position = vec4(uv * 2.0 - 1.0, z, 1.0);
         }",
        COLOR_FS,
    );
    t.set_vec4(program, "color", [1.0; 4]);
    let z = t.uniform(program, "z");
    t.vertex_array();
    t.enable(gl::DEPTH_TEST);
    type Test = fn(f32, f32) -> bool;
    let functions: [(u32, Test); 8] = [
        (gl::NEVER, |_, _| false),
        (gl::LESS, |a, b| a < b),
        (gl::EQUAL, |a, b| a == b),
        (gl::LEQUAL, |a, b| a <= b),
        (gl::GREATER, |a, b| a > b),
        (gl::NOTEQUAL, |a, b| a != b),
        (gl::GEQUAL, |a, b| a >= b),
        (gl::ALWAYS, |_, _| true),
    ];
    for (name, test) in functions {
        for ndc in [-0.5, 0.0, 0.5] {
            // The depth buffer holds window depth 0.5, as drawn, so that equality is exact.
            t.clear(gl::COLOR_BUFFER_BIT);
            t.color_mask(false, false, false, false);
            t.depth_func(gl::ALWAYS);
            t.uniform_1_f32(Some(&z), 0.0);
            t.fill();
            t.color_mask(true, true, true, true);
            t.depth_func(name);
            t.uniform_1_f32(Some(&z), ndc);
            t.fill();
            let drawn = t.read(8, 8).pixel(3, 3)[0] == 255;
            t.equal(drawn, test(ndc, 0.0), &format!("depth function {name:#x} with {ndc}"));
        }
    }
}

unsafe fn depth_mask(t: &Scene) {
    t.target(8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    let depth = || t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0];
    t.fill();
    t.near(depth(), 1.0, 0.0, "no depth is written without the test");
    t.enable(gl::DEPTH_TEST);
    t.depth_mask(false);
    t.fill();
    t.near(depth(), 1.0, 0.0, "no depth is written with the mask off");
    t.depth_mask(true);
    t.fill();
    t.near(depth(), 0.5, 1e-6, "depth is written");
}

unsafe fn stencils(t: &Scene, width: i32, height: i32) -> Vec<u8> {
    t.read_as::<u8>(width, height, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, (width * height) as usize)
}

unsafe fn stencil_operations(t: &Scene) {
    t.target(4, 4);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.enable(gl::STENCIL_TEST);
    type Op = fn(u8, u8) -> u8;
    let ops: [(u32, Op); 8] = [
        (gl::KEEP, |v, _| v),
        (gl::ZERO, |_, _| 0),
        (gl::REPLACE, |_, r| r),
        (gl::INCR, |v, _| v.saturating_add(1)),
        (gl::INCR_WRAP, |v, _| v.wrapping_add(1)),
        (gl::DECR, |v, _| v.saturating_sub(1)),
        (gl::DECR_WRAP, |v, _| v.wrapping_sub(1)),
        (gl::INVERT, |v, _| !v),
    ];
    for (name, op) in ops {
        for initial in [0u8, 7, 255] {
            // Pass, fail and depth-fail in turn use the operation under test; the others would zap the value.
            for (function, depth, which) in
                [(gl::ALWAYS, gl::ALWAYS, 2), (gl::NEVER, gl::ALWAYS, 0), (gl::ALWAYS, gl::NEVER, 1)]
            {
                t.clear_stencil(i32::from(initial));
                t.clear(gl::STENCIL_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
                t.enable(gl::DEPTH_TEST);
                t.depth_func(depth);
                t.stencil_func(function, 0x5a, 0xff);
                let mut all = [gl::INVERT; 3];
                all[which] = name;
                t.stencil_op(all[0], all[1], all[2]);
                t.fill();
                t.equal(
                    stencils(t, 4, 4)[6],
                    op(initial, 0x5a),
                    &format!("stencil op {name:#x} slot {which} on {initial}"),
                );
            }
        }
    }
    t.disable(gl::DEPTH_TEST);
    // Comparison uses the read mask, writing the write mask: (5 & 0x0f) < (0x24 & 0x0f) fails, with 0x3f it passes.
    t.stencil_op(gl::KEEP, gl::KEEP, gl::REPLACE);
    for (mask, expected) in [(0x0f, 0x24u8), (0x3f, 0x05 | 0x20)] {
        t.clear_stencil(0x24);
        t.stencil_mask(0xff);
        t.clear(gl::STENCIL_BUFFER_BIT);
        t.stencil_mask(0x1f);
        t.stencil_func(gl::LESS, 5, mask);
        t.fill();
        t.equal(stencils(t, 4, 4)[0], expected, &format!("read mask {mask:#x}"));
    }
}

unsafe fn stencil_two_sided(t: &Scene) {
    t.target(16, 8);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.positions(&[
        [-1.0, -1.0],
        [0.0, -1.0],
        [0.0, 1.0],
        [-1.0, -1.0],
        [0.0, 1.0],
        [-1.0, 1.0],
        [0.0, -1.0],
        [0.0, 1.0],
        [1.0, 1.0],
        [0.0, -1.0],
        [1.0, 1.0],
        [1.0, -1.0],
    ]);
    t.clear_stencil(16);
    t.clear(gl::STENCIL_BUFFER_BIT);
    t.enable(gl::STENCIL_TEST);
    t.stencil_func_separate(gl::FRONT, gl::ALWAYS, 3, 0xff);
    t.stencil_func_separate(gl::BACK, gl::ALWAYS, 200, 0xff);
    t.stencil_op_separate(gl::FRONT, gl::KEEP, gl::KEEP, gl::INCR);
    t.stencil_op_separate(gl::BACK, gl::KEEP, gl::KEEP, gl::REPLACE);
    t.stencil_mask_separate(gl::BACK, 0x7f);
    t.draw_arrays(gl::TRIANGLES, 0, 12);
    let s = stencils(t, 16, 8);
    t.equal(s[3], 17, "front faces");
    // 200 & 0x7f with the untouched bit of 16 & 0x80.
    t.equal(s[12], 200 & 0x7f, "back faces");
    t.front_face(gl::CW);
    t.draw_arrays(gl::TRIANGLES, 0, 12);
    let s = stencils(t, 16, 8);
    t.equal(s[3], 72, "what was the front is the back now");
    t.equal(s[12], 73, "and the other way round");
    t.equal(t.get_parameter_i32(gl::STENCIL_BACK_REF), 200, "STENCIL_BACK_REF");
    t.equal(t.get_parameter_i32(gl::STENCIL_REF), 3, "STENCIL_REF");
}

unsafe fn stencil_shape(t: &Scene) {
    t.target(64, 64);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.positions(&[[-0.8, -0.8], [0.8, -0.8], [0.0, 0.8], [-1.0, -0.2], [1.0, -0.2], [-1.0, 0.2], [1.0, 0.2]]);
    t.enable(gl::STENCIL_TEST);
    t.color_mask(false, false, false, false);
    t.stencil_func(gl::ALWAYS, 1, 0xff);
    t.stencil_op(gl::KEEP, gl::KEEP, gl::REPLACE);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.color_mask(true, true, true, true);
    t.stencil_op(gl::KEEP, gl::KEEP, gl::KEEP);
    t.stencil_func(gl::EQUAL, 1, 0xff);
    t.set_vec4(program, "color", [1.0, 0.6, 0.0, 1.0]);
    t.draw_arrays(gl::TRIANGLE_STRIP, 3, 4);
    t.stencil_func(gl::NOTEQUAL, 1, 0xff);
    t.set_vec4(program, "color", [0.0, 0.4, 0.8, 1.0]);
    t.draw_arrays(gl::TRIANGLE_STRIP, 3, 4);
    let picture = t.read(64, 64);
    t.pixel(&picture, 32, 32, [255, 153, 0, 255], 1, "inside the stencilled triangle");
    t.pixel(&picture, 4, 32, [0, 102, 204, 255], 1, "outside of it");
    t.pixel(&picture, 32, 10, [0; 4], 0, "outside of the band");
    t.compare("picture", &picture, Tolerance::EDGES);
}

unsafe fn srgb_framebuffer(t: &Scene) {
    let encode = |v: f32| if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    let byte = |v: f32| (v * 255.0).round() as u8;
    let (c, alpha) = ([0.2f32, 0.5, 0.002], 0.5);
    // The matrix of FRAMEBUFFER_SRGB on/off and sRGB/linear storage.
    for (format, enabled) in
        [(gl::SRGB8_ALPHA8, true), (gl::SRGB8_ALPHA8, false), (gl::RGBA8, true), (gl::RGBA8, false)]
    {
        let target = t.target_of(8, 8, format);
        let program = t.program(FULL_VS, COLOR_FS);
        t.vertex_array();
        if enabled {
            t.enable(gl::FRAMEBUFFER_SRGB)
        } else {
            t.disable(gl::FRAMEBUFFER_SRGB)
        }
        t.set_vec4(program, "color", [c[0], c[1], c[2], alpha]);
        t.fill();
        let encoded = format == gl::SRGB8_ALPHA8 && enabled;
        let store = |v: f32| if encoded { encode(v) } else { v };
        let expected = [byte(store(c[0])), byte(store(c[1])), byte(store(c[2])), byte(alpha)];
        let what = format!("format {format:#x}, FRAMEBUFFER_SRGB {enabled}");
        t.pixel(&t.read(8, 8), 2, 2, expected, 1, &what);
        // Blending happens in linear space when encoding is on.
        t.enable(gl::BLEND);
        t.blend_func(gl::ONE, gl::ONE);
        t.fill();
        t.disable(gl::BLEND);
        let twice = |v: f32| byte(store((2.0 * v).min(1.0)));
        t.pixel(&t.read(8, 8), 2, 2, [twice(c[0]), twice(c[1]), twice(c[2]), 255], 2, &format!("{what}, blended"));
        // Clears are encoded as well.
        t.clear_color(c[0], c[1], c[2], alpha);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.pixel(&t.read(8, 8), 2, 2, expected, 1, &format!("{what}, cleared"));
        // Sampling decodes sRGB storage whatever FRAMEBUFFER_SRGB says.
        t.clear_color(0.0, 0.0, 0.0, 0.0);
        t.disable(gl::FRAMEBUFFER_SRGB);
        t.target(8, 8);
        t.bind_texture(gl::TEXTURE_2D, Some(target.texture));
        let program = t.program(FULL_VS, crate::scene::TEXTURE_FS);
        t.set_int(program, "image", 0);
        t.fill();
        let linear = if format == gl::SRGB8_ALPHA8 && !enabled {
            c.map(|v| if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) })
        } else {
            c
        };
        t.pixel(
            &t.read(8, 8),
            2,
            2,
            [byte(linear[0]), byte(linear[1]), byte(linear[2]), byte(alpha)],
            2,
            &format!("{what}, sampled"),
        );
    }
}

/// State is changed back and forth around every draw, as games do; each draw must see exactly its own.
unsafe fn state_toggles(t: &Scene) {
    t.target(32, 32);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.enable(gl::SCISSOR_TEST);
    t.blend_func(gl::ONE, gl::ONE);
    t.clear_color(0.0, 0.0, 0.0, 0.0);
    for round in 0..2 {
        for i in 0..16i32 {
            t.scissor((i % 4) * 8, (i / 4) * 8, 8, 8);
            t.set_vec4(program, "color", [0.2, 0.0, 0.1 * (i % 3) as f32, 0.4]);
            let blend = i % 2 == 0;
            if blend {
                t.enable(gl::BLEND)
            } else {
                t.disable(gl::BLEND)
            }
            t.color_mask(true, true, i % 3 != 0, true);
            if round == 1 && i % 5 == 0 {
                t.blend_equation(gl::FUNC_REVERSE_SUBTRACT);
                t.fill();
                t.blend_equation(gl::FUNC_ADD);
            } else {
                t.fill();
            }
        }
    }
    t.disable(gl::SCISSOR_TEST);
    t.color_mask(true, true, true, true);
    let picture = t.read(32, 32);
    for i in 0..16usize {
        let blend = i % 2 == 0;
        let times = if !blend {
            1
        } else if i % 5 == 0 {
            0
        } else {
            2
        };
        let blue = if i % 3 == 0 { 0 } else { (25.5 * (i % 3) as f32).round() as u8 * times };
        let expected = [51 * times, 0, blue, 102 * times];
        let (x, y) = ((i % 4) * 8, (i / 4) * 8);
        t.area(&picture, (x, y, x + 8, y + 8), expected, 2, &format!("cell {i}"));
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}
