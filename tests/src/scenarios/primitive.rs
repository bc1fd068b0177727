//! Primitives: provoking vertices and flat shading of every mode, restart, adjacency, IDs, clipping, points, lines.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("primitive_provoking_vertex_of_every_mode", provoking_vertex_of_every_mode),
    Scenario::new("primitive_restart_of_every_mode", restart_of_every_mode),
    Scenario::new("primitive_restart_details", restart_details),
    Scenario::new("primitive_restart_with_provoking_vertex", restart_with_provoking_vertex),
    Scenario::new("primitive_adjacency", adjacency),
    Scenario::new("primitive_id", primitive_id),
    Scenario::new("primitive_clip_distances_all", clip_distances_all),
    Scenario::new("primitive_clip_distances_geometry", clip_distances_geometry),
    Scenario::new("primitive_points_in_detail", points_in_detail),
    Scenario::new("primitive_polygon_mode_shading", polygon_mode_shading),
    Scenario::new("primitive_lines", lines),
    Scenario::new("primitive_counts_that_do_not_fit", counts_that_do_not_fit),
    Scenario::new("primitive_geometry_input_modes", geometry_input_modes),
    Scenario::new("primitive_ids_with_base_and_instances", ids_with_base_and_instances),
];

/// Every mode of OpenGL 3.3 core.
const MODES: [u32; 11] = [
    gl::POINTS,
    gl::LINES,
    gl::LINE_STRIP,
    gl::LINE_LOOP,
    gl::TRIANGLES,
    gl::TRIANGLE_STRIP,
    gl::TRIANGLE_FAN,
    gl::LINES_ADJACENCY,
    gl::LINE_STRIP_ADJACENCY,
    gl::TRIANGLES_ADJACENCY,
    gl::TRIANGLE_STRIP_ADJACENCY,
];

/// Every primitive has the number of its provoking vertex, twice, as its colour.
const CELL_VS: &str = "
    layout(location = 0) in vec2 position; flat out int which; flat out ivec2 pair;
    void main() { gl_Position = vec4(position, 0.0, 1.0); which = gl_VertexID; pair = ivec2(gl_VertexID, 7); }";
const CELL_FS: &str = "flat in int which; flat in ivec2 pair; out vec4 result;
    void main() { result = vec4(float(which) * 10.0 / 255.0, float(pair.x) * 10.0 / 255.0, float(pair.y) / 255.0, 1.0); }";

unsafe fn provoking_vertex_of_every_mode(t: &Scene) {
    t.target(64, 16);
    t.program(CELL_VS, CELL_FS);
    // Vertex i of a zigzag at x = i * 8 pixels; primitive i of a strip covers the columns from i * 8 on.
    let zigzag: Vec<[f32; 2]> = (0..8).map(|i| [i as f32 * 0.25 - 1.0, if i % 2 == 0 { -1.0 } else { 1.0 }]).collect();
    let fan: Vec<[f32; 2]> = std::iter::once([-1.0, -1.0])
        .chain((0..6).map(|i| {
            let a = std::f32::consts::FRAC_PI_2 * i as f32 / 5.0;
            [-1.0 + 2.0 * a.cos(), -1.0 + 2.0 * a.sin()]
        }))
        .collect();
    // GL 3.3 table 2.12: the provoking vertex (counted from 0) of primitive i for the first and the last convention.
    let pixel = |x: usize, y: usize| t.read(64, 16).pixel(x, y)[0] / 10;
    for (convention, last) in [(gl::FIRST_VERTEX_CONVENTION, false), (gl::LAST_VERTEX_CONVENTION, true)] {
        t.raw.ProvokingVertex(convention);
        let pick = |first: usize, at_last: usize| if last { at_last } else { first } as u8;
        let name = if last { "last" } else { "first" };
        t.clear(gl::COLOR_BUFFER_BIT);
        t.positions(&zigzag);
        t.draw_arrays(gl::TRIANGLE_STRIP, 0, 8);
        for i in 0..6 {
            // The middle of triangle i.
            let y = if i % 2 == 0 { 5 } else { 10 };
            t.equal(pixel(i * 8 + 8, y), pick(i, i + 2), &format!("{name}, strip triangle {i}"));
        }
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_arrays(gl::TRIANGLES, 1, 6);
        t.equal(pixel(16, 10), pick(1, 3), &format!("{name}, triangle 0"));
        t.equal(pixel(40, 5), pick(4, 6), &format!("{name}, triangle 1"));
        t.clear(gl::COLOR_BUFFER_BIT);
        t.positions(&fan);
        t.draw_arrays(gl::TRIANGLE_FAN, 0, 7);
        for i in 0..5 {
            let a = std::f32::consts::FRAC_PI_2 * (i as f32 + 0.5) / 5.0;
            let (x, y) = ((64.0 * a.cos() * 0.7) as usize, (16.0 * a.sin() * 0.7) as usize);
            t.equal(pixel(x, y), pick(i + 1, i + 2), &format!("{name}, fan triangle {i}"));
        }
        // Lines along one row.
        t.positions(&(0..8).map(|i| [i as f32 * 0.25 - 1.0, 0.0625]).collect::<Vec<_>>());
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_arrays(gl::LINES, 0, 8);
        t.equal([pixel(4, 8), pixel(20, 8)], [pick(0, 1), pick(2, 3)], &format!("{name}, lines"));
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_arrays(gl::LINE_STRIP, 0, 8);
        t.equal([pixel(4, 8), pixel(36, 8)], [pick(0, 1), pick(4, 5)], &format!("{name}, line strip"));
        // A loop of a horizontal line and back: the closing line is drawn last and covers everything.
        t.positions(&[[-1.0, 0.0625], [0.0, 0.0625], [0.75, 0.0625]]);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_arrays(gl::LINE_LOOP, 0, 3);
        t.equal([pixel(10, 8), pixel(40, 8)], [pick(2, 0); 2], &format!("{name}, closing line of a loop"));
        t.clear(gl::COLOR_BUFFER_BIT);
        t.raw.PointSize(4.0);
        t.draw_arrays(gl::POINTS, 1, 1);
        t.equal(pixel(32, 8), 1, &format!("{name}, a point"));
        t.equal(t.get_parameter_i32(gl::PROVOKING_VERTEX) as u32, convention, "PROVOKING_VERTEX");
    }
    t.raw.ProvokingVertex(gl::LESS);
    t.error(gl::INVALID_ENUM, "a convention that is none");
}

unsafe fn restart_of_every_mode(t: &Scene) {
    // The same picture twice: with a restart index, and as two draws.
    t.target(48, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.5, 0.25, 1.0]);
    let vertices: Vec<[f32; 2]> = (0..14)
        .map(|i| {
            let a = std::f32::consts::TAU * (i % 7) as f32 / 7.0 + 0.1;
            let middle = if i < 7 { -0.5 } else { 0.5 };
            [middle + 0.4 * a.cos(), 0.9 * a.sin()]
        })
        .collect();
    t.positions(&vertices);
    let mut indices: Vec<u16> = (0..7).collect();
    indices.push(0xfffe);
    indices.extend(7..14);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices);
    t.raw.PrimitiveRestartIndex(0xfffe);
    for mode in MODES {
        t.enable(gl::PRIMITIVE_RESTART);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_elements(mode, 15, gl::UNSIGNED_SHORT, 0);
        let restarted = t.read(48, 16);
        t.disable(gl::PRIMITIVE_RESTART);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_elements(mode, 7, gl::UNSIGNED_SHORT, 0);
        t.draw_elements(mode, 7, gl::UNSIGNED_SHORT, 16);
        let twice = t.read(48, 16);
        t.check(restarted == twice, format!("mode {mode:#x}: restarted and drawn twice differ"));
        t.check(twice.count(|p| p[3] != 0) > 1, format!("mode {mode:#x} draws something"));
    }
}

unsafe fn restart_with_provoking_vertex(t: &Scene) {
    // Flat shading after a restart counts from the restart, whatever the index size; the greatest index of each type is the
    // restart index that most programs use.
    t.target(64, 16);
    t.program(CELL_VS, CELL_FS);
    // Two strips of four triangles, left and right; vertices 0 to 5 and 6 to 11.
    let strip = |x: f32| (0..6).map(move |i| [x + i as f32 * 0.15, if i % 2 == 0 { -1.0 } else { 1.0 }]);
    t.positions(&strip(-1.0).chain(strip(0.0)).collect::<Vec<_>>());
    t.enable(gl::PRIMITIVE_RESTART);
    let indices = |restart: u32| [0, 1, 2, 3, 4, 5, restart, restart, 6, 7, 8, 9, 10, 11];
    for (kind, restart) in [
        (gl::UNSIGNED_BYTE, 0xff),
        (gl::UNSIGNED_SHORT, 0xffff),
        (gl::UNSIGNED_SHORT, 0x1234),
        (gl::UNSIGNED_INT, u32::MAX),
    ] {
        let list = indices(restart);
        match kind {
            gl::UNSIGNED_BYTE => t.buffer(gl::ELEMENT_ARRAY_BUFFER, &list.map(|v| v as u8)),
            gl::UNSIGNED_SHORT => t.buffer(gl::ELEMENT_ARRAY_BUFFER, &list.map(|v| v as u16)),
            _ => t.buffer(gl::ELEMENT_ARRAY_BUFFER, &list),
        };
        t.raw.PrimitiveRestartIndex(restart);
        for (convention, offset) in [(gl::FIRST_VERTEX_CONVENTION, 0), (gl::LAST_VERTEX_CONVENTION, 2)] {
            t.raw.ProvokingVertex(convention);
            t.clear(gl::COLOR_BUFFER_BIT);
            t.draw_elements(gl::TRIANGLE_STRIP, 14, kind, 0);
            let picture = t.read(64, 16);
            for half in 0..2usize {
                for i in 0..4usize {
                    // Triangle i has its middle above vertex i + 1, on the side of its two equal vertices.
                    let x = half * 32 + ((i + 1) as f32 * 0.15 * 32.0) as usize;
                    let y = if i % 2 == 0 { 4 } else { 11 };
                    let what =
                        format!("type {kind:#x}, restart {restart:#x}, {convention:#x}: strip {half}, triangle {i}");
                    t.equal(usize::from(picture.pixel(x, y)[0] / 10), half * 6 + i + offset, &what);
                }
            }
            t.equal(picture.count(|p| p[3] != 0 && p[0] / 10 > 11), 0, "no triangle of both strips");
            t.equal(picture.pixel(30, 8)[3], 0, "between the strips");
        }
    }
}

unsafe fn restart_details(t: &Scene) {
    t.target(32, 8);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    // Quad q covers 8 columns: vertices 4 q to 4 q + 3 in strip order.
    let quads: Vec<[f32; 2]> = (0..4)
        .flat_map(|q| {
            let (a, b) = (q as f32 * 0.5 - 1.0, q as f32 * 0.5 - 0.5);
            [[a, -1.0], [a, 1.0], [b, -1.0], [b, 1.0]]
        })
        .collect();
    t.positions(&quads);
    let count = |what: &str, expected: usize| {
        let n = t.read(32, 8).count(|p| p[3] != 0);
        t.equal(n, expected, what);
        t.clear(gl::COLOR_BUFFER_BIT);
    };
    t.enable(gl::PRIMITIVE_RESTART);
    // The index is compared before the base vertex is added (GL 3.3 section 2.8.1).
    t.raw.PrimitiveRestartIndex(100);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2, 3, 100, 8, 9, 10, 11]);
    t.draw_elements_base_vertex(gl::TRIANGLE_STRIP, 9, gl::UNSIGNED_SHORT, 0, 4);
    count("with a base vertex", 128);
    // A restart index larger than the type never matches; the byte 0xff is an ordinary index then.
    t.raw.PrimitiveRestartIndex(0xffff);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u8, 1, 2, 3, 0, 0, 0, 0]);
    t.draw_elements(gl::TRIANGLE_STRIP, 4, gl::UNSIGNED_BYTE, 0);
    count("an index that no byte has", 64);
    // Restarts at the beginning, at the end, in a row, and inside a primitive.
    t.raw.PrimitiveRestartIndex(77);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[77u32, 77, 0, 1, 2, 3, 77, 4, 5, 77, 77, 8, 9, 10, 11, 77]);
    t.draw_elements(gl::TRIANGLE_STRIP, 16, gl::UNSIGNED_INT, 0);
    count("restarts everywhere", 128);
    // Only the part that the draw names.
    t.draw_elements(gl::TRIANGLE_STRIP, 5, gl::UNSIGNED_INT, 8);
    count("a part of the indices", 64);
    t.draw_elements_instanced(gl::TRIANGLE_STRIP, 16, gl::UNSIGNED_INT, 0, 2);
    count("instanced", 128);
    let counts = [6i32, 9];
    let offsets = [0usize, 28];
    t.raw.MultiDrawElements(gl::TRIANGLE_STRIP, counts.as_ptr(), gl::UNSIGNED_INT, offsets.as_ptr(), 2);
    count("several draws", 128);
    t.raw.DrawRangeElements(gl::TRIANGLE_STRIP, 0, 11, 16, gl::UNSIGNED_INT, 0);
    count("a range", 128);
    // The restart index is state of its own: changing it without new indices counts.
    t.raw.PrimitiveRestartIndex(1000);
    t.equal(t.get_parameter_i32(gl::PRIMITIVE_RESTART_INDEX), 1000, "PRIMITIVE_RESTART_INDEX");
    t.draw_elements(gl::TRIANGLE_STRIP, 4, gl::UNSIGNED_INT, 8);
    count("another restart index", 64);
    // Arrays have no indices and no restarts.
    t.raw.PrimitiveRestartIndex(2);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    count("arrays", 64);
}

unsafe fn adjacency(t: &Scene) {
    // Without a geometry shader the vertices around are left out; with one it sees all of them.
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.positions(&[[-1.0, -1.0], [9.0, 9.0], [1.0, -1.0], [9.0, 9.0], [1.0, 1.0], [9.0, 9.0]]);
    t.draw_arrays(gl::TRIANGLES_ADJACENCY, 0, 6);
    let picture = t.read(32, 32);
    t.check((450..=560).contains(&picture.count(|p| p[3] != 0)), "half of the target");
    t.pixel(&picture, 28, 4, [0, 255, 0, 255], 0, "inside");
    t.pixel(&picture, 2, 28, [0; 4], 0, "outside");
    t.program_of(
        &[
            (gl::VERTEX_SHADER, "flat out int id; void main() { id = gl_VertexID; gl_Position = vec4(0.0); }"),
            (
                gl::GEOMETRY_SHADER,
                "layout(triangles_adjacency) in; layout(points, max_vertices = 1) out; flat in int id[]; out vec3 a; out vec3 b;
                 void main() { a = vec3(id[0], id[2], id[4]); b = vec3(id[1], id[3], id[5]); gl_Position = vec4(0.0); EmitVertex(); }",
            ),
            (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }"),
        ],
        |p| t.transform_feedback_varyings(p, &["a", "b"], gl::INTERLEAVED_ATTRIBS),
    );
    let capture = |mode: u32, n: i32, words: usize| {
        let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &vec![-1.0f32; words]);
        t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
        t.begin_transform_feedback(gl::POINTS);
        t.draw_arrays(mode, 0, n);
        t.end_transform_feedback();
        let mut data = vec![0.0f32; words];
        t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
        data
    };
    t.enable(gl::RASTERIZER_DISCARD);
    t.vertex_array();
    t.equal(
        capture(gl::TRIANGLES_ADJACENCY, 12, 12),
        vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0, 6.0, 8.0, 10.0, 7.0, 9.0, 11.0],
        "triangles with adjacency",
    );
    // GL 3.3 table 2.4, for a strip of three triangles (10 vertices, counted from 1 there).
    let strip = capture(gl::TRIANGLE_STRIP_ADJACENCY, 10, 18);
    let expected: [[i32; 6]; 3] = [[1, 3, 5, 2, 7, 4], [5, 3, 7, 1, 6, 9], [5, 7, 9, 3, 10, 8]];
    for (i, e) in expected.iter().enumerate() {
        let mut actual: Vec<i32> = strip[i * 6..i * 6 + 6].iter().map(|v| *v as i32 + 1).collect();
        // The triangle and its neighbours may be rotated together.
        for _ in 0..3 {
            if actual[..3] == e[..3] {
                break;
            }
            actual = [1, 2, 0, 4, 5, 3].map(|k| actual[k]).to_vec();
        }
        t.equal(&actual[..3], &e[..3], &format!("corners of strip triangle {i}"));
        t.equal(actual[3..].iter().sum::<i32>(), e[3..].iter().sum::<i32>(), &format!("neighbours of triangle {i}"));
    }
    t.compare_values("strip", &strip, 0.0);
}

unsafe fn primitive_id(t: &Scene) {
    // gl_PrimitiveID without a geometry shader counts through a draw, across restarts, and anew for each instance.
    t.target(32, 8);
    t.program(
        "layout(location = 0) in vec2 position; void main() { gl_Position = vec4(position, 0.0, 1.0); }",
        "out vec4 result; void main() { result = vec4(float(gl_PrimitiveID) * 20.0 / 255.0, 0.0, 0.0, 1.0); }",
    );
    let quads: Vec<[f32; 2]> = (0..4)
        .flat_map(|q| {
            let (a, b) = (q as f32 * 0.5 - 1.0, q as f32 * 0.5 - 0.5);
            [[a, -1.0], [a, 1.0], [b, -1.0], [b, 1.0]]
        })
        .collect();
    t.positions(&quads);
    t.enable(gl::PRIMITIVE_RESTART);
    t.raw.PrimitiveRestartIndex(99);
    let indices: Vec<u16> = (0..4u16).flat_map(|q| [q * 4, q * 4 + 1, q * 4 + 2, q * 4 + 3, 99]).collect();
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices);
    t.draw_elements(gl::TRIANGLE_STRIP, 20, gl::UNSIGNED_SHORT, 0);
    let picture = t.read(32, 8);
    let ids: Vec<u8> =
        (0..4).flat_map(|q| [picture.pixel(q * 8 + 1, 2)[0] / 20, picture.pixel(q * 8 + 6, 6)[0] / 20]).collect();
    t.equal(ids, (0..8).collect::<Vec<u8>>(), "two triangles a quad");
    t.draw_elements_instanced(gl::TRIANGLE_STRIP, 20, gl::UNSIGNED_SHORT, 0, 3);
    t.equal(t.read(32, 8).pixel(1, 2)[0], 0, "counted anew by each instance");
    t.draw_elements(gl::TRIANGLE_STRIP, 5, gl::UNSIGNED_SHORT, 20);
    t.equal(t.read(32, 8).pixel(17, 2)[0], 0, "counted anew by each draw");
}

unsafe fn clip_distances_all(t: &Scene) {
    // Every clip distance cuts one column of sixteen on its own, and all together leave the middle.
    let n = t.get_parameter_i32(gl::MAX_CLIP_DISTANCES);
    t.check(n >= 6, format!("MAX_CLIP_DISTANCES is {n}"));
    t.target(16, 4);
    let source = "out float gl_ClipDistance[6];
        void main() {
            vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
            gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
            float x = uv.x * 16.0;
            for (int i = 0; i < 6; ++i) gl_ClipDistance[i] = i % 2 == 0 ? x - float(i + 1) : 16.0 - float(i) - x;
        }";
    let program = t.program(source, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    for i in 0..6u32 {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.enable(gl::CLIP_DISTANCE0 + i);
        t.fill();
        t.disable(gl::CLIP_DISTANCE0 + i);
        let picture = t.read(16, 4);
        let cut = if i % 2 == 0 { i as usize + 1 } else { i as usize };
        t.equal(picture.count(|p| p[3] != 0), (16 - cut) * 4, &format!("pixels left by distance {i}"));
        let x = if i % 2 == 0 { 0 } else { 15 };
        t.pixel(&picture, x, 1, [0; 4], 0, &format!("cut by distance {i}"));
    }
    for i in 0..6 {
        t.enable(gl::CLIP_DISTANCE0 + i);
    }
    t.clear(gl::COLOR_BUFFER_BIT);
    t.fill();
    let picture = t.read(16, 4);
    t.area(&picture, (5, 0, 11, 4), [255, 255, 0, 255], 0, "what all leave");
    t.equal(picture.count(|p| p[3] != 0), 6 * 4, "pixels that all leave");
    t.check(t.is_enabled(gl::CLIP_DISTANCE5), "CLIP_DISTANCE5 is enabled");
    t.enable(gl::CLIP_DISTANCE0 + n as u32);
    t.error(gl::INVALID_ENUM, "a clip distance past the last");
    // A program that writes no clip distance is not cut by what is enabled: the results are undefined, not fatal.
    let plain = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(plain, "color", [0.0, 0.0, 1.0, 1.0]);
    for i in 0..6 {
        t.disable(gl::CLIP_DISTANCE0 + i);
    }
    t.fill();
    t.equal(t.read(16, 4).count(|p| p == [0, 0, 255, 255]), 64, "nothing is cut any more");
}

unsafe fn clip_distances_geometry(t: &Scene) {
    // The geometry shader's distances count, and it reads those of the vertex shader.
    t.target(16, 4);
    let program = t.program_of(
        &[
            (
                gl::VERTEX_SHADER,
                "out float gl_ClipDistance[1];
                 void main() {
                    vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
                    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0); gl_ClipDistance[0] = uv.x * 16.0;
                 }",
            ),
            (
                gl::GEOMETRY_SHADER,
                "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
                 out float gl_ClipDistance[1];
                 void main() {
                    for (int i = 0; i < 3; ++i) {
                        gl_Position = gl_in[i].gl_Position;
                        gl_ClipDistance[0] = gl_in[i].gl_ClipDistance[0] - 6.0;
                        EmitVertex();
                    }
                 }",
            ),
            (gl::FRAGMENT_SHADER, COLOR_FS),
        ],
        |_| {},
    );
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.enable(gl::CLIP_DISTANCE0);
    t.fill();
    let picture = t.read(16, 4);
    t.equal(picture.count(|p| p[3] != 0), 10 * 4, "pixels that are left");
    t.area(&picture, (6, 0, 16, 4), [255; 4], 0, "the right part");
}

unsafe fn points_in_detail(t: &Scene) {
    t.target(32, 32);
    let program = t.program(
        "layout(location = 0) in vec3 point; flat out float tint;
         void main() { gl_Position = vec4(point.xy, 0.0, 1.0); gl_PointSize = point.z; tint = point.z / 255.0; }",
        "flat in float tint; out vec4 result; void main() { result = vec4(gl_PointCoord, tint, 1.0); }",
    );
    let draw = |points: &[[f32; 3]]| {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.vertex_array();
        t.buffer(gl::ARRAY_BUFFER, points);
        t.attribute(0, 3, 3, 0);
        t.draw_arrays(gl::POINTS, 0, points.len() as i32);
        t.read(32, 32)
    };
    // Without PROGRAM_POINT_SIZE the state counts, not the shader.
    t.raw.PointSize(2.0);
    t.equal(draw(&[[0.0, 0.0, 8.0]]).count(|p| p[3] != 0), 4, "glPointSize");
    t.enable(gl::PROGRAM_POINT_SIZE);
    t.equal(draw(&[[0.0, 0.0, 8.0]]).count(|p| p[3] != 0), 64, "gl_PointSize");
    // Sizes by vertex, one of them cut by the edge of the target.
    let picture = draw(&[[-0.5, -0.5, 4.0], [0.5, -0.5, 8.0], [1.0, 1.0, 8.0]]);
    t.equal(picture.count(|p| p[2] == 4), 16, "a point of size 4");
    t.check(picture.count(|p| p[2] == 8) >= 64 + 16, "points of size 8");
    t.pixel(&picture, 31, 31, picture.pixel(31, 31), 0, "the corner");
    t.check(picture.pixel(31, 31)[3] == 255, "a point whose centre lies on the edge");
    // Origins: the upper left corner by default, the lower left one on demand.
    let upper = draw(&[[0.0, 0.0, 16.0]]);
    t.raw.PointParameteri(gl::POINT_SPRITE_COORD_ORIGIN, gl::LOWER_LEFT as i32);
    let lower = draw(&[[0.0, 0.0, 16.0]]);
    t.raw.PointParameteri(gl::POINT_SPRITE_COORD_ORIGIN, gl::UPPER_LEFT as i32);
    let (up, low) = (upper.pixel(10, 9), lower.pixel(10, 9));
    t.check(up[0] == low[0] && up[1] > 200 && low[1] < 60, format!("origins: upper {up:?}, lower {low:?}"));
    t.compare("upper", &upper, Tolerance::EXACT);
    t.compare("lower", &lower, Tolerance::EXACT);
    let mut range = [0.0f32; 2];
    t.get_parameter_f32_slice(gl::POINT_SIZE_RANGE, &mut range);
    t.check(range[0] <= 1.0 && range[1] >= 1.0, format!("POINT_SIZE_RANGE {range:?}"));
    // Far too large sizes are cut to the range, and do no harm.
    let huge = draw(&[[0.0, 0.0, 1e9]]);
    t.check(huge.count(|p| p[3] != 0) > 0, "a huge point");
    t.raw.PointParameteri(gl::POINT_SPRITE_COORD_ORIGIN, 7);
    t.check(t.get_error() != gl::NO_ERROR, "an origin that is none");
    t.raw.PointParameterf(gl::POINT_FADE_THRESHOLD_SIZE, -1.0);
    t.error(gl::INVALID_VALUE, "a negative threshold");
    t.raw.PointParameterf(gl::POINT_FADE_THRESHOLD_SIZE, 3.5);
    t.equal(t.get_parameter_f32(gl::POINT_FADE_THRESHOLD_SIZE), 3.5, "POINT_FADE_THRESHOLD_SIZE");
    t.use_program(Some(program));
}

unsafe fn polygon_mode_shading(t: &Scene) {
    // Lines and points of polygons interpolate and flat-shade as the polygon does, and are culled and offset as such.
    t.target(32, 32);
    t.program(CELL_VS, CELL_FS);
    t.positions(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9]]);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::LINE);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let picture = t.read(32, 32);
    let drawn = picture.count(|p| p[3] != 0);
    t.equal(picture.count(|p| p == [20, 20, 7, 255]), drawn, "all sides have the provoking vertex' values");
    t.check((60..=100).contains(&drawn), format!("{drawn} pixels of sides"));
    t.enable(gl::CULL_FACE);
    t.cull_face(gl::FRONT);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.equal(t.read(32, 32).count(|p| p[3] != 0), 0, "a culled polygon has no sides");
    t.disable(gl::CULL_FACE);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::POINT);
    t.raw.PointSize(3.0);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let n = t.read(32, 32).count(|p| p[3] != 0);
    t.check((18..=36).contains(&n), format!("three points of size 3 cover {n} pixels"));
    // Points and lines as primitives of their own are not changed by the polygon mode.
    t.clear(gl::COLOR_BUFFER_BIT);
    t.positions(&[[-0.5, 0.03], [0.5, 0.03]]);
    t.draw_arrays(gl::LINES, 0, 2);
    t.equal(t.read(32, 32).count(|p| p[3] != 0), 16, "a line");
    // A line-mode polygon with an offset of its own kind lies before the filled one.
    let program = t.program(POSITION_VS, COLOR_FS);
    t.positions(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9]]);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    t.enable(gl::DEPTH_TEST);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::FILL);
    t.set_vec4(program, "color", [0.0, 0.0, 1.0, 1.0]);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::LINE);
    t.set_vec4(program, "color", [1.0, 1.0, 1.0, 1.0]);
    t.enable(gl::POLYGON_OFFSET_FILL);
    t.polygon_offset(-1.0, -1.0);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let hidden = t.read(32, 32).count(|p| p == [255; 4]);
    t.enable(gl::POLYGON_OFFSET_LINE);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let shown = t.read(32, 32).count(|p| p == [255; 4]);
    t.check(shown > 60 && shown > hidden, format!("{hidden} pixels without and {shown} with POLYGON_OFFSET_LINE"));
}

unsafe fn lines(t: &Scene) {
    t.target(32, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    // Axis-aligned lines: as many pixels as they are long, without their last one.
    for (a, b, n) in [
        ([-0.96875f32, 0.03125], [0.96875, 0.03125], 31),
        ([0.03125, -0.96875], [0.03125, 0.96875], 31),
        ([-0.46875, 0.53125], [0.53125, 0.53125], 16),
    ] {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.positions(&[a, b]);
        t.draw_arrays(gl::LINES, 0, 2);
        let covered = t.read(32, 32).count(|p| p[3] != 0);
        t.check(covered.abs_diff(n) <= 1, format!("{a:?} to {b:?}: {covered} pixels, expected {n}"));
    }
    // A diagonal covers one pixel a column; a loop of four sides covers its outline once.
    t.clear(gl::COLOR_BUFFER_BIT);
    t.positions(&[[-1.0, -1.0], [1.0, 1.0]]);
    t.draw_arrays(gl::LINES, 0, 2);
    let picture = t.read(32, 32);
    t.check(picture.count(|p| p[3] != 0).abs_diff(32) <= 1, "a diagonal");
    t.compare("diagonal", &picture, Tolerance::LOOSE);
    // Both ends interpolate.
    t.program(crate::scene::POSITION_COLOR_VS, crate::scene::TINT_FS);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.colored(&[[-1.0, 0.03125, 0.0, 0.0, 0.0, 1.0, 1.0], [1.0, 0.03125, 0.0, 1.0, 0.0, 1.0, 1.0]]);
    t.draw_arrays(gl::LINES, 0, 2);
    let picture = t.read(32, 32);
    for x in [2usize, 16, 29] {
        let red = ((x as f32 + 0.5) / 32.0 * 255.0).round() as u8;
        t.pixel(&picture, x, 16, [red, 0, 255, 255], 4, "an interpolated line");
    }
    let mut range = [0.0f32; 2];
    t.get_parameter_f32_slice(gl::ALIASED_LINE_WIDTH_RANGE, &mut range);
    t.check(range[0] <= 1.0 && range[1] >= 1.0, format!("ALIASED_LINE_WIDTH_RANGE {range:?}"));
    t.line_width(1.0);
    t.enable(gl::LINE_SMOOTH);
    t.draw_arrays(gl::LINES, 0, 2);
    t.disable(gl::LINE_SMOOTH);
    t.no_error("a smooth line");
}

unsafe fn counts_that_do_not_fit(t: &Scene) {
    // Vertices that make no whole primitive are left out (GL 3.3 section 2.6.1).
    t.target(16, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.positions(&[[-1.0, -1.0], [3.0, -0.5], [-1.0, 3.0], [1.0, 1.0], [1.0, -1.0]]);
    let query = t.create_query().unwrap();
    for (mode, n, primitives, covered) in [
        (gl::TRIANGLES, 5, 1, true),
        (gl::TRIANGLES, 2, 0, false),
        (gl::TRIANGLE_STRIP, 2, 0, false),
        (gl::TRIANGLE_FAN, 3, 1, true),
        (gl::LINES, 1, 0, false),
        (gl::LINE_STRIP, 1, 0, false),
        (gl::LINE_STRIP, 4, 3, true),
        (gl::LINES, 5, 2, true),
        (gl::POINTS, 0, 0, false),
    ] {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.begin_query(gl::PRIMITIVES_GENERATED, query);
        t.draw_arrays(mode, 0, n);
        t.end_query(gl::PRIMITIVES_GENERATED);
        let what = format!("mode {mode:#x} with {n} vertices");
        t.equal(t.get_query_parameter_u32(query, gl::QUERY_RESULT), primitives, &what);
        t.equal(t.read(16, 16).count(|p| p[3] != 0) > 0, covered, &what);
        t.no_error(&what);
    }
    t.raw.DrawArrays(gl::TRIANGLES, 0, -1);
    t.error(gl::INVALID_VALUE, "a negative count");
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, -1);
    t.error(gl::INVALID_VALUE, "negative instances");
    t.clear(gl::COLOR_BUFFER_BIT);
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 0);
    t.equal(t.read(16, 16).count(|p| p[3] != 0), 0, "no instances");
    t.raw.DrawRangeElements(gl::TRIANGLES, 3, 1, 3, gl::UNSIGNED_BYTE, 0);
    t.error(gl::INVALID_VALUE, "a range that ends before it begins");
}

unsafe fn geometry_input_modes(t: &Scene) {
    // A draw whose mode is not what the geometry shader takes is an error and draws nothing.
    t.target(8, 8);
    for (input, n, good) in [
        ("points", 1, &[gl::POINTS][..]),
        ("lines", 2, &[gl::LINES, gl::LINE_STRIP, gl::LINE_LOOP]),
        ("lines_adjacency", 4, &[gl::LINES_ADJACENCY, gl::LINE_STRIP_ADJACENCY]),
        ("triangles", 3, &[gl::TRIANGLES, gl::TRIANGLE_STRIP, gl::TRIANGLE_FAN]),
        ("triangles_adjacency", 6, &[gl::TRIANGLES_ADJACENCY, gl::TRIANGLE_STRIP_ADJACENCY]),
    ] {
        let source = format!(
            "layout({input}) in; layout(triangle_strip, max_vertices = 3) out; flat out int n;
             void main() {{
                for (int i = 0; i < 3; ++i) {{
                    n = gl_in.length();
                    gl_Position = vec4(i == 1 ? 3.0 : -1.0, i == 2 ? 3.0 : -1.0, 0.0, 1.0);
                    EmitVertex();
                }}
             }}"
        );
        t.program_of(
            &[
                (gl::VERTEX_SHADER, "void main() { gl_Position = vec4(0.0); }"),
                (gl::GEOMETRY_SHADER, &source),
                (
                    gl::FRAGMENT_SHADER,
                    "flat in int n; out vec4 r; void main() { r = vec4(float(n) / 255.0, 1.0, 0.0, 1.0); }",
                ),
            ],
            |_| {},
        );
        t.vertex_array();
        for mode in MODES {
            t.clear(gl::COLOR_BUFFER_BIT);
            t.draw_arrays(mode, 0, 6);
            let fits = good.contains(&mode);
            let what = format!("{input} from mode {mode:#x}");
            t.error(if fits { gl::NO_ERROR } else { gl::INVALID_OPERATION }, &what);
            let expected = if fits { [n, 255, 0, 255] } else { [0; 4] };
            t.area(&t.read(8, 8), (0, 0, 8, 8), expected, 0, &what);
        }
    }
}

unsafe fn ids_with_base_and_instances(t: &Scene) {
    // gl_VertexID holds the base vertex, gl_InstanceID starts at 0 and knows no base.
    t.target(8, 8);
    t.program_of(
        &[
            (
                gl::VERTEX_SHADER,
                "flat out ivec2 ids; void main() { ids = ivec2(gl_VertexID, gl_InstanceID); gl_Position = vec4(0.0); }",
            ),
            (gl::FRAGMENT_SHADER, "out vec4 r; void main() { r = vec4(1.0); }"),
        ],
        |p| t.transform_feedback_varyings(p, &["ids"], gl::INTERLEAVED_ATTRIBS),
    );
    t.vertex_array();
    t.enable(gl::RASTERIZER_DISCARD);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[5u16, 2, 9]);
    let look = |draw: &dyn Fn(), expected: &[[i32; 2]], what: &str| {
        let buffer = t.buffer(gl::TRANSFORM_FEEDBACK_BUFFER, &vec![[-1i32; 2]; expected.len()]);
        t.bind_buffer_base(gl::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
        t.begin_transform_feedback(gl::POINTS);
        draw();
        t.end_transform_feedback();
        let mut data = vec![[0i32; 2]; expected.len()];
        t.get_buffer_sub_data(gl::TRANSFORM_FEEDBACK_BUFFER, 0, bytemuck::cast_slice_mut(&mut data));
        t.equal(data.as_slice(), expected, what);
    };
    look(&|| t.draw_arrays(gl::POINTS, 7, 3), &[[7, 0], [8, 0], [9, 0]], "arrays from 7");
    look(&|| t.draw_elements(gl::POINTS, 3, gl::UNSIGNED_SHORT, 0), &[[5, 0], [2, 0], [9, 0]], "elements");
    look(
        &|| t.draw_elements_base_vertex(gl::POINTS, 3, gl::UNSIGNED_SHORT, 0, 100),
        &[[105, 0], [102, 0], [109, 0]],
        "a base vertex",
    );
    look(
        &|| t.draw_elements_base_vertex(gl::POINTS, 2, gl::UNSIGNED_SHORT, 2, -2),
        &[[0, 0], [7, 0]],
        "a negative base vertex and an offset",
    );
    look(
        &|| t.draw_elements_instanced_base_vertex(gl::POINTS, 2, gl::UNSIGNED_SHORT, 0, 2, 10),
        &[[15, 0], [12, 0], [15, 1], [12, 1]],
        "instances with a base vertex",
    );
    look(&|| t.draw_arrays_instanced(gl::POINTS, 3, 1, 3), &[[3, 0], [3, 1], [3, 2]], "instances of arrays");
    let (first, count) = ([4i32, 20], [2i32, 1]);
    look(
        &|| t.raw.MultiDrawArrays(gl::POINTS, first.as_ptr(), count.as_ptr(), 2),
        &[[4, 0], [5, 0], [20, 0]],
        "several draws",
    );
}
