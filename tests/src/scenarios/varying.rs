//! What goes from stage to stage: as many components as the limits allow, whatever their shape.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("varying_most_components", most_components)
        .without_reference("Mesa 22.3 loses all but the first of 120 numbers in an array"),
    Scenario::new("varying_many_shapes", many_shapes),
    Scenario::new("varying_many_through_geometry", many_through_geometry),
];

unsafe fn most_components(t: &Scene) {
    // An array of single numbers takes a component each, up to the limit.
    t.target(4, 4);
    let n = t
        .get_parameter_i32(gl::MAX_VERTEX_OUTPUT_COMPONENTS)
        .min(t.get_parameter_i32(gl::MAX_FRAGMENT_INPUT_COMPONENTS));
    // What is built in may count.
    let n = n - 8;
    let vertex = format!(
        "out float list[{n}];
         void main() {{
             gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
             for (int i = 0; i < {n}; i++) list[i] = float(i + 1);
         }}"
    );
    let fragment = format!(
        "in float list[{n}]; out vec4 color;
         void main() {{
             int wrong = 0;
             for (int i = 0; i < {n}; i++) if (abs(list[i] - float(i + 1)) > 0.01) wrong++;
             color = vec4(float(wrong) / 255.0, 1.0, 0.0, 1.0);
         }}"
    );
    t.program(&vertex, &fragment);
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(4, 4), 2, 2, [0, 255, 0, 255], 0, "all of them arrive");
}

unsafe fn many_shapes(t: &Scene) {
    // Scalars, vectors, a matrix, a structure and a block, interpolated in every way.
    t.target(8, 8);
    let declarations = |direction: &str| {
        format!(
            "{direction} float list[40]; flat {direction} int whole[14]; flat {direction} uvec2 pair;
             noperspective {direction} vec3 plain[2]; centroid {direction} vec2 inner;
             {direction} Block {{ mat3 m; float more[5]; }} block;
             struct Part {{ vec2 a; float b[2]; }}; {direction} Part part;"
        )
    };
    let vertex = format!(
        "{} void main() {{
             vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
             float w = 1.0 + float(gl_VertexID);
             gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0) * w;
             for (int i = 0; i < 40; i++) list[i] = float(i) + at.x;
             for (int i = 0; i < 14; i++) whole[i] = -i * 3;
             pair = uvec2(7u, 4000000000u);
             plain[0] = vec3(at, 3.0); plain[1] = vec3(5.0, at.yx);
             inner = at;
             block.m = mat3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0) + mat3(at.x);
             for (int i = 0; i < 5; i++) block.more[i] = float(i) * 0.5;
             part.a = at; part.b[0] = 0.25; part.b[1] = at.y;
         }}",
        declarations("out")
    );
    // What is interpolated with and without perspective is not the same, as w differs from vertex to vertex.
    let fragment = format!(
        "{} out vec4 color; bool near(float a, float b) {{ return abs(a - b) < 0.01; }}
         void main() {{
             float x = list[0]; bool ok = true;
             vec2 screen = gl_FragCoord.xy / 8.0;
             for (int i = 0; i < 40; i++) ok = ok && near(list[i], float(i) + x);
             for (int i = 0; i < 14; i++) ok = ok && whole[i] == -i * 3;
             ok = ok && pair == uvec2(7u, 4000000000u);
             ok = ok && near(plain[0].x, screen.x) && near(plain[0].y, screen.y) && near(plain[0].z, 3.0);
             ok = ok && near(plain[1].x, 5.0) && near(plain[1].y, screen.y) && near(plain[1].z, screen.x);
             ok = ok && near(inner.x, x) && near(part.a.x, x) && near(part.b[0], 0.25) && near(part.b[1], inner.y);
             for (int i = 0; i < 5; i++) ok = ok && near(block.more[i], float(i) * 0.5);
             ok = ok && near(block.m[1][2], 6.0) && near(block.m[2][2], 9.0 + x);
             color = vec4(ok ? 0.0 : 1.0, ok ? 1.0 : 0.0, abs(x - screen.x) > 0.02 ? 1.0 : 0.0, 1.0);
         }}",
        declarations("in")
    );
    t.program(&vertex, &fragment);
    t.vertex_array();
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    let picture = t.read(8, 8);
    t.equal(picture.count(|p| p[0] == 0 && p[1] == 255), 64, "every value is what was written");
    t.check(picture.count(|p| p[2] == 255) > 16, "perspective moves what is interpolated with it");
}

unsafe fn many_through_geometry(t: &Scene) {
    t.target(4, 4);
    let vertex = "out Block { float f[50]; } outs;
        void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
                      for (int i = 0; i < 50; i++) outs.f[i] = float(gl_VertexID * 100 + i); }";
    let geometry = "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
        in Block { float f[50]; } ins[]; out float g[40]; flat out int sum; out vec2 seen;
        void put(int v) {
            for (int i = 0; i < 40; i++) g[i] = ins[v].f[i + 10] - float(v * 100);
            sum = 42; seen = vec2(ins[v].f[3], ins[v].f[49]); gl_Position = gl_in[v].gl_Position; EmitVertex();
        }
        void main() { for (int v = 0; v < 3; v++) put(v); EndPrimitive(); }";
    let fragment = "in float g[40]; flat in int sum; out vec4 color;
        void main() { bool ok = sum == 42; for (int i = 0; i < 40; i++) ok = ok && abs(g[i] - float(i + 10)) < 0.01;
                      color = ok ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0); }";
    let stages = [(gl::VERTEX_SHADER, vertex), (gl::GEOMETRY_SHADER, geometry), (gl::FRAGMENT_SHADER, fragment)];
    let program = t.program_of(&stages, |program| {
        t.transform_feedback_varyings(program, &["seen", "sum", "g[7]"], gl::INTERLEAVED_ATTRIBS);
    });
    t.vertex_array();
    let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &[0u32; 12]);
    t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
    t.begin_transform_feedback(gl::TRIANGLES);
    t.fill();
    t.end_transform_feedback();
    t.pixel(&t.read(4, 4), 2, 2, [0, 255, 0, 255], 0, "all of them arrive");
    let mut bytes = [0u8; 48];
    t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, &mut bytes);
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
    for vertex in 0..3u32 {
        let at = vertex as usize * 4;
        let expected = [(vertex * 100 + 3) as f32, (vertex * 100 + 49) as f32];
        t.equal([f32::from_bits(words[at]), f32::from_bits(words[at + 1])], expected, "what only the capture reads");
        t.equal((words[at + 2], f32::from_bits(words[at + 3])), (42, 17.0), "what is captured and read");
    }
    t.delete_program(program);
    t.program(FULL_VS, "out vec4 color; void main() { color = vec4(0.0, 0.0, 1.0, 1.0); }");
    t.fill();
    t.pixel(&t.read(4, 4), 2, 2, [0, 0, 255, 255], 0, "an ordinary program afterwards");
}
