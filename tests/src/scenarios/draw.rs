//! Draw calls: arrays, index types, base vertex, instancing, primitive restart, multi-draws and all primitive modes.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_COLOR_VS, POSITION_VS, TINT_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("draw_triangle", triangle),
    Scenario::new("draw_index_types", index_types),
    Scenario::new("draw_base_vertex", base_vertex),
    Scenario::new("draw_range_elements", range_elements),
    Scenario::new("draw_instanced_divisor", instanced_divisor),
    Scenario::new("draw_instance_id", instance_id),
    Scenario::new("draw_vertex_id", vertex_id),
    Scenario::new("draw_primitive_restart", primitive_restart),
    Scenario::new("draw_many_rewritten_indices", many_rewritten_indices),
    Scenario::new("draw_large_converted_attributes", large_converted_attributes),
    Scenario::new("draw_primitive_modes", primitive_modes),
    Scenario::new("draw_multi", multi),
    Scenario::new("draw_nothing", nothing),
    Scenario::new("draw_many_small", many_small),
];

unsafe fn triangle(t: &Scene) {
    t.target(64, 64);
    t.program(POSITION_COLOR_VS, TINT_FS);
    t.colored(&[
        [-0.9, -0.9, 0.0, 1.0, 0.0, 0.0, 1.0],
        [0.9, -0.9, 0.0, 0.0, 1.0, 0.0, 1.0],
        [0.0, 0.9, 0.0, 0.0, 0.0, 1.0, 1.0],
    ]);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let picture = t.read(64, 64);
    t.pixel(&picture, 0, 63, [0, 0, 0, 0], 0, "outside");
    // The centre of pixel (32, 23) is at ndc (0.015625, -0.265625); barycentric weights follow by hand.
    let w2 = (-0.265_625 + 0.9) / 1.8_f32;
    let w1 = (0.015_625 + 0.9 * (1.0 - w2)) / 1.8;
    let w0 = 1.0 - w1 - w2;
    let byte = |w: f32| (w * 255.0).round() as u8;
    t.pixel(&picture, 32, 23, [byte(w0), byte(w1), byte(w2), 255], 2, "interpolated colour");
    t.compare("picture", &picture, Tolerance::EDGES);
}

/// Four quads side by side over the target as triangles, 16 vertices.
fn quads() -> Vec<[f32; 2]> {
    (0..4)
        .flat_map(|i| {
            let (x0, x1) = (-1.0 + 0.5 * i as f32, -0.5 + 0.5 * i as f32);
            [[x0, -1.0], [x1, -1.0], [x1, 1.0], [x0, 1.0]]
        })
        .collect()
}

unsafe fn index_types(t: &Scene) {
    t.target(64, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.positions(&quads());
    let quad = |i: u32| [0, 1, 2, 0, 2, 3].map(|v| v + 4 * i);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &quad(0).map(|v| v as u8));
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_BYTE, 0);
    // Two leading indices that the byte offset skips.
    let mut shorts = vec![9u16, 9];
    shorts.extend(quad(1).map(|v| v as u16));
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &shorts);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_SHORT, 4);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &quad(2));
    t.set_vec4(program, "color", [0.0, 0.0, 1.0, 1.0]);
    t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_INT, 0);
    // An odd byte offset into byte indices.
    let mut bytes = vec![9u8];
    bytes.extend(quad(3).map(|v| v as u8));
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &bytes);
    t.set_vec4(program, "color", [1.0, 1.0, 1.0, 1.0]);
    t.draw_elements(gl::TRIANGLES, 6, gl::UNSIGNED_BYTE, 1);
    let picture = t.read(64, 16);
    for (i, c) in [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255; 4]].into_iter().enumerate() {
        t.area(&picture, (i * 16, 0, i * 16 + 16, 16), c, 0, "quad");
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn base_vertex(t: &Scene) {
    t.target(64, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.positions(&quads());
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[4u16, 5, 6, 4, 6, 7]);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.draw_elements_base_vertex(gl::TRIANGLES, 6, gl::UNSIGNED_SHORT, 0, -4);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.draw_elements_instanced_base_vertex(gl::TRIANGLES, 6, gl::UNSIGNED_SHORT, 0, 1, 8);
    let picture = t.read(64, 16);
    t.area(&picture, (0, 0, 16, 16), [255, 0, 0, 255], 0, "negative base vertex");
    t.area(&picture, (16, 0, 48, 16), [0, 0, 0, 0], 0, "untouched quads");
    t.area(&picture, (48, 0, 64, 16), [0, 255, 0, 255], 0, "positive base vertex");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn range_elements(t: &Scene) {
    t.target(64, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.positions(&quads());
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[4u16, 5, 6, 4, 6, 7]);
    t.set_vec4(program, "color", [0.0, 1.0, 1.0, 1.0]);
    t.raw.DrawRangeElements(gl::TRIANGLES, 4, 7, 6, gl::UNSIGNED_SHORT, 0);
    t.raw.DrawRangeElements(gl::TRIANGLES, 7, 4, 6, gl::UNSIGNED_SHORT, 0);
    t.error(gl::INVALID_VALUE, "end before start");
    let picture = t.read(64, 16);
    t.area(&picture, (16, 0, 32, 16), [0, 255, 255, 255], 0, "the range");
    t.equal(picture.count(|p| p[3] != 0), 256, "drawn pixels");
}

unsafe fn instanced_divisor(t: &Scene) {
    t.target(64, 32);
    t.program(
        "layout(location = 0) in vec2 position;
         layout(location = 1) in vec2 offset;
         layout(location = 2) in vec4 color;
         out vec4 tint;
         void main() { gl_Position = vec4(position + offset, 0.0, 1.0); tint = color; }",
        TINT_FS,
    );
    // Quads of 8 x 16 pixels; the offset changes for each instance, the colour every third.
    t.positions(&[[-1.0, -1.0], [-0.75, -1.0], [-1.0, 0.0], [-0.75, 0.0]]);
    let offsets: Vec<[f32; 2]> = (0..7).map(|i| [i as f32 * 0.25, (i % 2) as f32]).collect();
    t.buffer(gl::ARRAY_BUFFER, &offsets);
    t.attribute(1, 2, 2, 0);
    t.vertex_attrib_divisor(1, 1);
    t.buffer(gl::ARRAY_BUFFER, &[[1.0f32, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]);
    t.attribute(2, 4, 4, 0);
    t.vertex_attrib_divisor(2, 3);
    t.draw_arrays_instanced(gl::TRIANGLE_STRIP, 0, 4, 7);
    let picture = t.read(64, 32);
    for i in 0..7 {
        let mut color = [0, 0, 0, 255];
        color[i / 3] = 255;
        let (x, y) = (i * 8, (i % 2) * 16);
        t.area(&picture, (x, y, x + 8, y + 16), color, 0, &format!("instance {i}"));
    }
    t.equal(picture.count(|p| p[3] != 0), 7 * 128, "drawn pixels");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn instance_id(t: &Scene) {
    t.target(64, 8);
    let vertex = "
        out vec4 tint;
        void main() {
            vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
            gl_Position = vec4((corner.x + float(gl_InstanceID)) / 4.0 - 1.0, corner.y * 2.0 - 1.0, 0.0, 1.0);
            tint = vec4(float(gl_InstanceID) / 255.0, 0.0, 0.0, 1.0);
        }";
    t.program(vertex, TINT_FS);
    t.vertex_array();
    t.draw_arrays_instanced(gl::TRIANGLE_STRIP, 0, 4, 8);
    let picture = t.read(64, 8);
    for i in 0..8 {
        t.area(&picture, (i * 8, 0, i * 8 + 8, 8), [i as u8, 0, 0, 255], 0, "gl_InstanceID");
    }
    // gl_InstanceID is 0 in a draw that is not instanced, whatever came before.
    t.clear(gl::COLOR_BUFFER_BIT);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    let picture = t.read(64, 8);
    t.area(&picture, (0, 0, 8, 8), [0, 0, 0, 255], 0, "gl_InstanceID of a plain draw");
    t.equal(picture.count(|p| p[3] != 0), 64, "one quad");
}

unsafe fn vertex_id(t: &Scene) {
    t.target(16, 4);
    // One point per vertex, coloured by gl_VertexID, placed by the attribute.
    t.program(
        "layout(location = 0) in vec2 position;
         out vec4 tint;
         void main() {
            gl_Position = vec4(position, 0.0, 1.0);
            gl_PointSize = 1.0;
            tint = vec4(float(gl_VertexID) / 255.0, 0.0, 0.0, 1.0);
         }",
        TINT_FS,
    );
    let at = |i: i32| [(2.0 * i as f32 + 1.0) / 16.0 - 1.0, -0.75];
    t.positions(&(0..16).map(at).collect::<Vec<_>>());
    // GL: gl_VertexID includes `first` and the base vertex.
    t.draw_arrays(gl::POINTS, 3, 4);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[1u8, 2]);
    t.draw_elements_base_vertex(gl::POINTS, 2, gl::UNSIGNED_BYTE, 0, 9);
    t.draw_elements(gl::POINTS, 1, gl::UNSIGNED_BYTE, 0);
    let picture = t.read(16, 4);
    for x in 0..16 {
        let drawn = (3..7).contains(&x) || (10..12).contains(&x) || x == 1;
        t.pixel(&picture, x, 0, if drawn { [x as u8, 0, 0, 255] } else { [0; 4] }, 0, "gl_VertexID");
    }
}

unsafe fn primitive_restart(t: &Scene) {
    let target = t.target(64, 48);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    // Strip order for each quad of `quads`: 0 1 3 2.
    t.positions(&quads());
    t.enable(gl::PRIMITIVE_RESTART);
    let indices = |restart: u32| vec![0, 1, 3, 2, restart, restart, 8, 9, 11, 10];
    t.viewport(0, 0, 64, 16);
    t.raw.PrimitiveRestartIndex(0xff);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices(0xff).iter().map(|v| *v as u8).collect::<Vec<_>>());
    t.draw_elements(gl::TRIANGLE_STRIP, 10, gl::UNSIGNED_BYTE, 0);
    t.viewport(0, 16, 64, 16);
    t.raw.PrimitiveRestartIndex(0xffff);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices(0xffff).iter().map(|v| *v as u16).collect::<Vec<_>>());
    t.draw_elements(gl::TRIANGLE_STRIP, 10, gl::UNSIGNED_SHORT, 0);
    // Any index may be the restart index, here one that is a legal vertex.
    t.viewport(0, 32, 64, 16);
    t.raw.PrimitiveRestartIndex(5);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices(5));
    t.draw_elements(gl::TRIANGLE_STRIP, 10, gl::UNSIGNED_INT, 0);
    let picture = t.read(target.width, target.height);
    for row in 0..3 {
        let y = row * 16;
        t.area(&picture, (0, y, 16, y + 16), [255, 255, 0, 255], 0, "first strip");
        t.area(&picture, (16, y, 32, y + 16), [0; 4], 0, "between the strips");
        t.area(&picture, (32, y, 48, y + 16), [255, 255, 0, 255], 0, "second strip");
        t.area(&picture, (48, y, 64, y + 16), [0; 4], 0, "after the strips");
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

/// Megabytes of indices that restart anywhere, draw after draw, while a uniform stays as it was set once: what a driver rewrites
/// does not take the place of what it still reads.
unsafe fn many_rewritten_indices(t: &Scene) {
    t.target(8, 8);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.2, 0.4, 0.6, 1.0]);
    t.positions(&quads());
    t.enable(gl::PRIMITIVE_RESTART);
    t.raw.PrimitiveRestartIndex(5);
    // Two triangles over the left quarter, then nothing but restarts.
    let indices: Vec<u32> = [0, 1, 3, 2].into_iter().chain(std::iter::repeat(5)).take(200_000).collect();
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &indices);
    for round in 0..24 {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_elements(gl::TRIANGLE_STRIP, indices.len() as i32, gl::UNSIGNED_INT, 0);
        let picture = t.read(8, 8);
        t.area(&picture, (0, 0, 2, 8), [51, 102, 153, 255], 0, &format!("round {round}"));
        t.area(&picture, (2, 0, 8, 8), [0; 4], 0, &format!("round {round}, beside"));
    }
}

/// Two attributes of types that few devices read, each of some megabytes, in one draw.
unsafe fn large_converted_attributes(t: &Scene) {
    t.target(8, 8);
    t.program(
        "layout(location = 0) in vec2 position; layout(location = 1) in vec4 color; out vec4 shade;
         void main() { gl_Position = vec4(position, 0.0, 1.0); shade = color; }",
        "in vec4 shade; out vec4 result; void main() { result = shade; }",
    );
    const COUNT: usize = 300_000;
    t.vertex_array();
    let corner = |i: usize| [[-1.0f64, -1.0], [3.0, -1.0], [-1.0, 3.0]][i % 3];
    let corners: Vec<f64> = (0..COUNT).flat_map(corner).collect();
    t.buffer(gl::ARRAY_BUFFER, &corners);
    t.enable_vertex_attrib_array(0);
    t.vertex_attrib_pointer_f32(0, 2, gl::DOUBLE, false, 0, 0);
    t.buffer(gl::ARRAY_BUFFER, &[[153u8, 102, 51, 255]; COUNT]);
    t.enable_vertex_attrib_array(1);
    t.vertex_attrib_pointer_f32(1, gl::BGRA as i32, gl::UNSIGNED_BYTE, true, 0, 0);
    for first in [0, COUNT as i32 - 3] {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.draw_arrays(gl::TRIANGLES, first, 3);
        let picture = t.read(8, 8);
        t.area(&picture, (0, 0, 8, 8), [51, 102, 153, 255], 0, &format!("from {first}"));
    }
}

unsafe fn primitive_modes(t: &Scene) {
    t.target(96, 64);
    let program = t.program(POSITION_VS, COLOR_FS);
    let location = t.uniform(program, "color");
    let strip: Vec<[f32; 2]> = (0..6).map(|i| [-0.8 + 0.32 * i as f32, if i % 2 == 0 { -0.7 } else { 0.7 }]).collect();
    let hexagon: Vec<[f32; 2]> = (0..6)
        .map(|i| {
            let a = std::f32::consts::TAU * (i as f32 + 0.2) / 6.0;
            [0.8 * a.cos(), 0.8 * a.sin()]
        })
        .collect();
    let modes = [
        (gl::POINTS, &strip),
        (gl::LINES, &strip),
        (gl::LINE_STRIP, &strip),
        (gl::LINE_LOOP, &hexagon),
        (gl::TRIANGLES, &strip),
        (gl::TRIANGLE_STRIP, &strip),
        (gl::TRIANGLE_FAN, &hexagon),
    ];
    let mut covered = Vec::new();
    for (i, (mode, vertices)) in modes.into_iter().enumerate() {
        let (x, y) = ((i % 4) as i32 * 24, (i / 4) as i32 * 32);
        t.viewport(x, y, 24, 32);
        t.positions(vertices);
        t.uniform_4_f32(Some(&location), 0.3 + 0.1 * i as f32, 1.0 - 0.1 * i as f32, 0.5, 1.0);
        t.draw_arrays(mode, 0, 6);
        let picture = t.read(96, 64);
        let count = |x: usize, y: usize| {
            (y..y + 32)
                .flat_map(|y| (x..x + 24).map(move |x| (x, y)))
                .filter(|(x, y)| picture.pixel(*x, *y)[3] != 0)
                .count()
        };
        covered.push(count(x as usize, y as usize));
    }
    t.equal(covered[0], 6, "six points");
    // Areas in pixels: each strip triangle spans 0.64 x 1.4 of ndc, half of it, at 12 x 16 pixels per unit squared.
    let triangle = 0.5 * 0.64 * 1.4 * 12.0 * 16.0;
    let hexagon = 6.0 * 0.5 * 0.8 * 0.8 * (std::f32::consts::PI / 3.0).sin() * 12.0 * 16.0;
    t.near(covered[4] as f32, 2.0 * triangle, 12.0, "area of two triangles");
    t.near(covered[5] as f32, 4.0 * triangle, 12.0, "area of a strip of four");
    t.near(covered[6] as f32, hexagon, 12.0, "area of the fan");
    // A line of the strip is 22.4 pixels high and y-major, so it covers about that many pixels.
    t.near(covered[1] as f32, 3.0 * 22.4, 6.0, "three lines");
    t.near(covered[2] as f32, 5.0 * 22.4, 8.0, "a strip of five lines");
    t.check(covered[3] > 40, format!("line loop covers {} pixels", covered[3]));
    t.compare("picture", &t.read(96, 64), Tolerance::LOOSE);
}

unsafe fn multi(t: &Scene) {
    t.target(64, 16);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.positions(&quads());
    t.raw.MultiDrawArrays(gl::TRIANGLE_FAN, [0, 12].as_ptr(), [4, 4].as_ptr(), 2);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7]);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    // The second count is 0, which draws nothing.
    t.raw.MultiDrawElements(gl::TRIANGLES, [6, 0].as_ptr(), gl::UNSIGNED_SHORT, [12usize, 0].as_ptr(), 2);
    t.set_vec4(program, "color", [0.0, 0.0, 1.0, 1.0]);
    t.raw.MultiDrawElementsBaseVertex(
        gl::TRIANGLES,
        [6, 6].as_ptr(),
        gl::UNSIGNED_SHORT,
        [0usize, 12].as_ptr(),
        2,
        [8, 8].as_ptr(),
    );
    let picture = t.read(64, 16);
    for (i, c) in [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [0, 0, 255, 255]].into_iter().enumerate() {
        t.area(&picture, (i * 16, 0, i * 16 + 16, 16), c, 0, &format!("quad {i}"));
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn nothing(t: &Scene) {
    t.target(8, 8);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    t.draw_arrays(gl::TRIANGLES, 0, 0);
    t.draw_arrays(gl::TRIANGLES, 0, 2);
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, 0);
    t.no_error("draws of nothing are legal");
    t.draw_arrays(gl::TRIANGLES, 0, -1);
    t.error(gl::INVALID_VALUE, "negative count");
    t.draw_arrays_instanced(gl::TRIANGLES, 0, 3, -1);
    t.error(gl::INVALID_VALUE, "negative instance count");
    t.draw_arrays(0x1234, 0, 3);
    t.error(gl::INVALID_ENUM, "a mode that does not exist");
    t.equal(t.read(8, 8).count(|p| p != [0; 4]), 0, "nothing was drawn");
    t.fill();
    t.equal(t.read(8, 8).count(|p| p == [255; 4]), 64, "a draw after the errors");
}

/// 50,000 draws of one pixel each with a uniform change between them; the memory of the process must not follow.
unsafe fn many_small(t: &Scene) {
    t.target(250, 200);
    let program = t.program(
        "uniform ivec2 at;
         void main() {
            gl_Position = vec4((vec2(at) + 0.5) / vec2(125.0, 100.0) - 1.0, 0.0, 1.0);
            gl_PointSize = 1.0;
         }",
        COLOR_FS,
    );
    let (at, color) = (t.uniform(program, "at"), t.uniform(program, "color"));
    t.vertex_array();
    let value = |i: i32| [(i % 251) as u8, (i % 241) as u8, (i % 239) as u8, 255];
    t.finish();
    let before = crate::process::resident_bytes();
    for i in 0..50_000 {
        let v = value(i).map(|b| f32::from(b) / 255.0);
        t.uniform_2_i32(Some(&at), i % 250, i / 250);
        t.uniform_4_f32(Some(&color), v[0], v[1], v[2], v[3]);
        t.draw_arrays(gl::POINTS, 0, 1);
    }
    let picture = t.read(250, 200);
    let grown = crate::process::resident_bytes().saturating_sub(before);
    let wrong = (0..50_000).find(|i| picture.pixel((i % 250) as usize, (i / 250) as usize) != value(*i));
    t.check(wrong.is_none(), format!("draw {wrong:?} did not see its own uniforms"));
    t.check(grown < 192 << 20, format!("memory grew by {} MiB in one frame of 50,000 draws", grown >> 20));
}
