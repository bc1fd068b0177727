//! Rasterisation: viewport, scissor, culling, polygon offset and mode, points, clip distances, interpolation.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, COLOR_FS, FULL_VS, POSITION_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("raster_viewport", viewport),
    Scenario::new("raster_scissor", scissor),
    Scenario::new("raster_cull_face", cull_face),
    Scenario::new("raster_front_facing", front_facing),
    Scenario::new("raster_depth_range", depth_range),
    Scenario::new("raster_depth_clamp", depth_clamp),
    Scenario::new("raster_polygon_offset", polygon_offset),
    Scenario::new("raster_polygon_mode", polygon_mode),
    Scenario::new("raster_point_size", point_size),
    Scenario::new("raster_point_coord", point_coord),
    Scenario::new("raster_clip_distance", clip_distance),
    Scenario::new("raster_clip_distance_disabled", clip_distance_disabled)
        .without_reference("llvmpipe applies written clip distances when no half-space is enabled"),
    Scenario::new("raster_flat_provoking_vertex", provoking_vertex),
    Scenario::new("raster_noperspective", noperspective),
    Scenario::new("raster_frag_coord", frag_coord),
    Scenario::new("raster_discard", discard),
    Scenario::new("raster_frag_depth", frag_depth),
    Scenario::new("raster_derivatives", derivatives),
    Scenario::new("raster_clipping", clipping),
];

unsafe fn viewport(t: &Scene) {
    t.target(64, 64);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.viewport(8, 16, 20, 12);
    t.fill();
    // A viewport may reach outside the framebuffer; the picture is cut, not scaled.
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.viewport(-10, 40, 30, 100);
    t.fill();
    let picture = t.read(64, 64);
    t.area(&picture, (8, 16, 28, 28), [255, 0, 0, 255], 0, "viewport");
    t.area(&picture, (0, 40, 20, 64), [0, 255, 0, 255], 0, "viewport across the border");
    t.equal(picture.count(|p| p[3] != 0), 20 * 12 + 20 * 24, "covered pixels");
    t.viewport(0, 0, -1, 4);
    t.error(gl::INVALID_VALUE, "negative width");
    let mut v = [0; 4];
    t.get_parameter_i32_slice(gl::VIEWPORT, &mut v);
    t.equal(v, [-10, 40, 30, 100], "the viewport after the error");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn scissor(t: &Scene) {
    t.target(64, 64);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.set_vec4(program, "color", [1.0, 1.0, 0.0, 1.0]);
    t.scissor(10, 20, 30, 7);
    t.fill();
    t.equal(t.read(64, 64).count(|p| p[3] != 0), 64 * 64, "a box without the test cuts nothing");
    t.clear(gl::COLOR_BUFFER_BIT);
    t.enable(gl::SCISSOR_TEST);
    t.fill();
    t.scissor(0, 0, 0, 0);
    t.fill();
    t.set_vec4(program, "color", [0.0, 1.0, 1.0, 1.0]);
    t.scissor(-5, 60, 10, 10);
    t.fill();
    let picture = t.read(64, 64);
    t.area(&picture, (10, 20, 40, 27), [255, 255, 0, 255], 0, "scissor box");
    t.area(&picture, (0, 60, 5, 64), [0, 255, 255, 255], 0, "box across the corner");
    t.equal(picture.count(|p| p[3] != 0), 210 + 20, "covered pixels");
    t.compare("picture", &picture, Tolerance::EXACT);
}

/// Left half: a counter-clockwise quad, right half: a clockwise one.
const TWO_WINDINGS: [[f32; 2]; 12] = [
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
];

unsafe fn cull_face(t: &Scene) {
    t.target(16, 8);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.positions(&TWO_WINDINGS);
    t.enable(gl::CULL_FACE);
    for (cull, front, left, right) in [
        (gl::BACK, gl::CCW, true, false),
        (gl::FRONT, gl::CCW, false, true),
        (gl::BACK, gl::CW, false, true),
        (gl::FRONT, gl::CW, true, false),
        (gl::FRONT_AND_BACK, gl::CCW, false, false),
    ] {
        t.clear(gl::COLOR_BUFFER_BIT);
        t.cull_face(cull);
        t.front_face(front);
        t.draw_arrays(gl::TRIANGLES, 0, 12);
        let picture = t.read(16, 8);
        let what = format!("cull {cull:#x} front {front:#x}");
        t.area(&picture, (0, 0, 8, 8), if left { [255; 4] } else { [0; 4] }, 0, &what);
        t.area(&picture, (8, 0, 16, 8), if right { [255; 4] } else { [0; 4] }, 0, &what);
    }
    t.disable(gl::CULL_FACE);
    t.draw_arrays(gl::TRIANGLES, 0, 12);
    t.equal(t.read(16, 8).count(|p| p == [255; 4]), 128, "without culling");
}

unsafe fn front_facing(t: &Scene) {
    t.target(16, 8);
    t.program(
        POSITION_VS,
        "out vec4 result;
         void main() { result = gl_FrontFacing ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0); }",
    );
    t.positions(&TWO_WINDINGS);
    t.draw_arrays(gl::TRIANGLES, 0, 12);
    let picture = t.read(16, 8);
    t.area(&picture, (0, 0, 8, 8), [0, 255, 0, 255], 0, "counter-clockwise is the front");
    t.area(&picture, (8, 0, 16, 8), [255, 0, 0, 255], 0, "clockwise is the back");
    t.compare("picture", &picture, Tolerance::EXACT);
    t.front_face(gl::CW);
    t.draw_arrays(gl::TRIANGLES, 0, 12);
    let picture = t.read(16, 8);
    t.area(&picture, (0, 0, 8, 8), [255, 0, 0, 255], 0, "front face CW, left");
    t.area(&picture, (8, 0, 16, 8), [0, 255, 0, 255], 0, "front face CW, right");
}

/// Places a viewport-covering triangle at the uniform depth `z` (ndc).
const DEPTH_VS: &str = "
uniform float z;
void main() {
    vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
    gl_Position = vec4(uv * 2.0 - 1.0, z, 1.0);
}";

unsafe fn depth_at(t: &Scene) -> f32 {
    t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0]
}

unsafe fn depth_range(t: &Scene) {
    t.target(8, 8);
    let program = t.program(DEPTH_VS, COLOR_FS);
    t.vertex_array();
    let z = t.uniform(program, "z");
    t.enable(gl::DEPTH_TEST);
    t.depth_func(gl::ALWAYS);
    for (near, far, ndc, expected) in [
        (0.0, 1.0, 0.0, 0.5),
        (0.0, 1.0, -0.5, 0.25),
        (0.25, 0.75, -1.0, 0.25),
        (0.25, 0.75, 1.0, 0.75),
        (1.0, 0.0, 0.5, 0.25),
        (0.0, 0.1, 0.0, 0.05),
        (-3.0, 2.0, 0.0, 0.5),
    ] {
        // The last pair is clamped to 0 and 1.
        t.depth_range_f64(near, far);
        t.uniform_1_f32(Some(&z), ndc);
        t.fill();
        t.near(depth_at(t), expected, 1e-5, &format!("depth range {near}..{far} at {ndc}"));
    }
}

unsafe fn depth_clamp(t: &Scene) {
    t.target(8, 8);
    let program = t.program(DEPTH_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0; 4]);
    t.vertex_array();
    let z = t.uniform(program, "z");
    t.enable(gl::DEPTH_TEST);
    t.depth_func(gl::ALWAYS);
    t.uniform_1_f32(Some(&z), 1.5);
    t.fill();
    t.equal(t.read(8, 8).count(|p| p[3] != 0), 0, "beyond the far plane is clipped");
    t.enable(gl::DEPTH_CLAMP);
    t.fill();
    t.equal(t.read(8, 8).count(|p| p[3] != 0), 64, "with DEPTH_CLAMP it is drawn");
    t.near(depth_at(t), 1.0, 1e-6, "its depth is that of the far plane");
    t.depth_range_f64(0.25, 0.5);
    t.uniform_1_f32(Some(&z), -7.0);
    t.fill();
    t.near(depth_at(t), 0.25, 1e-6, "before the near plane, clamped to the depth range");
    t.disable(gl::DEPTH_CLAMP);
}

unsafe fn polygon_offset(t: &Scene) {
    t.target(32, 32);
    let program = t.program(DEPTH_VS, COLOR_FS);
    t.vertex_array();
    let z = t.uniform(program, "z");
    t.uniform_1_f32(Some(&z), 0.0);
    t.enable(gl::DEPTH_TEST);
    t.depth_func(gl::LESS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.fill();
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.fill();
    t.equal(t.read(32, 32).count(|p| p[0] == 255), 1024, "equal depth fails LESS");
    t.enable(gl::POLYGON_OFFSET_FILL);
    t.polygon_offset(0.0, 1.0);
    t.fill();
    t.equal(t.read(32, 32).count(|p| p[0] == 255), 1024, "a positive offset moves away");
    t.polygon_offset(0.0, -2.0);
    t.fill();
    let picture = t.read(32, 32);
    t.equal(picture.count(|p| p[1] == 255), 1024, "a negative offset moves nearer");
    let d = depth_at(t);
    t.check(d < 0.5 && d > 0.5 - 1e-4, format!("depth with units -2 is {d}"));
    // The factor scales the slope: this triangle's window depth rises by 1/64 a pixel in x.
    let slope = t.program(
        "void main() {
            vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
            gl_Position = vec4(uv * 2.0 - 1.0, uv.x - 0.5, 1.0);
         }",
        COLOR_FS,
    );
    t.set_vec4(slope, "color", [0.0, 0.0, 1.0, 1.0]);
    t.depth_func(gl::ALWAYS);
    t.polygon_offset(0.0, 0.0);
    t.fill();
    let flat = t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0];
    t.polygon_offset(4.0, 0.0);
    t.fill();
    let moved = t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0];
    t.near(moved - flat, 4.0 / 64.0, 1e-4, "factor times slope");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn polygon_mode(t: &Scene) {
    t.target(48, 48);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 1.0, 1.0]);
    t.positions(&[[-0.8, -0.8], [0.8, -0.8], [0.0, 0.8]]);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::LINE);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    let picture = t.read(48, 48);
    t.pixel(&picture, 24, 20, [0; 4], 0, "the inside of a wire frame");
    let n = picture.count(|p| p[3] != 0);
    // Sides of 38.4 pixels in x and twice 38.4 in y.
    t.check((100..=125).contains(&n), format!("wire frame covers {n} pixels"));
    t.compare("lines", &picture, Tolerance::LOOSE);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.polygon_mode(gl::FRONT_AND_BACK, gl::POINT);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.equal(t.read(48, 48).count(|p| p[3] != 0), 3, "vertices as points");
    t.polygon_mode(gl::FRONT_AND_BACK, gl::FILL);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.pixel(&t.read(48, 48), 24, 20, [0, 255, 255, 255], 0, "filled again");
    t.polygon_mode(gl::FRONT, gl::LINE);
    t.error(gl::INVALID_ENUM, "core profiles set both faces at once");
}

unsafe fn point_size(t: &Scene) {
    t.target(64, 32);
    let program = t.program(POSITION_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.5, 0.0, 1.0]);
    t.positions(&[[-0.5, 0.0]]);
    t.raw.PointSize(8.0);
    t.draw_arrays(gl::POINTS, 0, 1);
    let program = t.program(
        "layout(location = 0) in vec2 position;
         uniform float size;
         void main() { gl_Position = vec4(position + vec2(1.0, 0.0), 0.0, 1.0); gl_PointSize = size; }",
        COLOR_FS,
    );
    t.set_vec4(program, "color", [0.0, 0.5, 1.0, 1.0]);
    let size = t.uniform(program, "size");
    t.uniform_1_f32(Some(&size), 16.0);
    t.enable(gl::PROGRAM_POINT_SIZE);
    t.draw_arrays(gl::POINTS, 0, 1);
    let picture = t.read(64, 32);
    t.area(&picture, (12, 12, 20, 20), [255, 128, 0, 255], 1, "glPointSize(8)");
    t.area(&picture, (40, 8, 56, 24), [0, 128, 255, 255], 1, "gl_PointSize = 16");
    t.equal(picture.count(|p| p[3] != 0), 64 + 256, "covered pixels");
    t.compare("picture", &picture, Tolerance::EDGES);
    t.raw.PointSize(0.0);
    t.error(gl::INVALID_VALUE, "a size of zero");
}

unsafe fn point_coord(t: &Scene) {
    t.target(32, 32);
    t.program(
        "layout(location = 0) in vec2 position;
         void main() { gl_Position = vec4(position, 0.0, 1.0); gl_PointSize = 16.0; }",
        "out vec4 result;
         void main() { result = vec4(gl_PointCoord, 0.0, 1.0); }",
    );
    t.enable(gl::PROGRAM_POINT_SIZE);
    t.positions(&[[0.0, 0.0]]);
    t.draw_arrays(gl::POINTS, 0, 1);
    let picture = t.read(32, 32);
    // The default origin is the upper left corner; pixel centres lie at (i + 0.5) / 16.
    let byte = |i: usize| ((i as f32 + 0.5) / 16.0 * 255.0).round() as u8;
    t.pixel(&picture, 8, 23, [byte(0), byte(0), 0, 255], 2, "upper left");
    t.pixel(&picture, 23, 8, [byte(15), byte(15), 0, 255], 2, "lower right");
    t.pixel(&picture, 18, 12, [byte(10), byte(11), 0, 255], 2, "inside");
    t.compare("upper_left", &picture, Tolerance::EDGES);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.raw.PointParameteri(0x8CA0, 0x8CA1); // POINT_SPRITE_COORD_ORIGIN, LOWER_LEFT
    t.draw_arrays(gl::POINTS, 0, 1);
    t.pixel(&t.read(32, 32), 8, 23, [byte(0), byte(15), 0, 255], 2, "upper left with a lower left origin");
}

/// A program that writes two clip distances, and an array to fill the viewport with.
unsafe fn clipped(t: &Scene) {
    t.target(32, 32);
    let program = t.program(
        "out float gl_ClipDistance[2];
         void main() {
            vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
            gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
            gl_ClipDistance[0] = uv.x - 0.25;
            gl_ClipDistance[1] = 0.75 - uv.y;
         }",
        COLOR_FS,
    );
    t.set_vec4(program, "color", [1.0, 0.0, 1.0, 1.0]);
    t.vertex_array();
}

unsafe fn clip_distance_disabled(t: &Scene) {
    clipped(t);
    t.fill();
    t.equal(t.read(32, 32).count(|p| p[3] != 0), 1024, "disabled clip distances cut nothing");
}

unsafe fn clip_distance(t: &Scene) {
    clipped(t);
    t.enable(gl::CLIP_DISTANCE0);
    t.fill();
    t.equal(t.read(32, 32).count(|p| p[3] != 0), 24 * 32, "one clip plane");
    t.clear(gl::COLOR_BUFFER_BIT);
    t.enable(gl::CLIP_DISTANCE1);
    t.fill();
    let picture = t.read(32, 32);
    t.area(&picture, (8, 0, 32, 24), [255, 0, 255, 255], 0, "both clip planes");
    t.equal(picture.count(|p| p[3] != 0), 24 * 24, "covered pixels");
    t.compare("picture", &picture, Tolerance::EDGES);
    t.disable(gl::CLIP_DISTANCE0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.fill();
    t.equal(t.read(32, 32).count(|p| p[3] != 0), 32 * 24, "only the second plane");
}

unsafe fn provoking_vertex(t: &Scene) {
    t.target(32, 8);
    t.program(
        "flat out vec4 tint;
         void main() {
            vec2 corner = vec2(float(gl_VertexID >> 1), float(gl_VertexID & 1));
            gl_Position = vec4(corner - vec2(1.0, 1.0) + vec2(0.0, corner.y), 0.0, 1.0);
            tint = vec4(float(gl_VertexID) * 32.0 / 255.0, 0.0, 0.0, 1.0);
         }",
        "flat in vec4 tint; out vec4 result; void main() { result = tint; }",
    );
    t.vertex_array();
    // A strip of five vertices makes three triangles; triangle i has its vertices i, i+1, i+2.
    let sample = |picture: &crate::picture::Picture| [(3, 2), (12, 5), (19, 2)].map(|(x, y)| picture.pixel(x, y)[0]);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 5);
    let picture = t.read(32, 8);
    t.equal(sample(&picture), [64, 96, 128], "the last vertex provokes");
    t.compare("last", &picture, Tolerance::EDGES);
    t.raw.ProvokingVertex(gl::FIRST_VERTEX_CONVENTION);
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 5);
    t.equal(sample(&t.read(32, 8)), [0, 32, 64], "the first vertex provokes");
    // The same with 16-bit indices and primitive restart.
    t.enable(gl::PRIMITIVE_RESTART);
    t.raw.PrimitiveRestartIndex(0xffff);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u16, 1, 2, 0xffff, 1, 2, 3, 0xffff, 2, 3, 4]);
    t.raw.ProvokingVertex(gl::LAST_VERTEX_CONVENTION);
    t.draw_elements(gl::TRIANGLE_STRIP, 11, gl::UNSIGNED_SHORT, 0);
    t.equal(sample(&t.read(32, 8)), [64, 96, 128], "restart, last vertex");
    t.raw.ProvokingVertex(gl::FIRST_VERTEX_CONVENTION);
    t.draw_elements(gl::TRIANGLE_STRIP, 11, gl::UNSIGNED_SHORT, 0);
    t.equal(sample(&t.read(32, 8)), [0, 32, 64], "restart, first vertex");
}

unsafe fn noperspective(t: &Scene) {
    t.target(32, 8);
    // The right edge is four times as far: w = 4 there.
    t.program(
        "noperspective out float screen; out float space;
         void main() {
            vec2 c = vec2(float(gl_VertexID >> 1), float(gl_VertexID & 1)) * 2.0 - 1.0;
            float w = c.x > 0.0 ? 4.0 : 1.0;
            gl_Position = vec4(c * w, 0.0, w);
            screen = c.x * 0.5 + 0.5; space = screen;
         }",
        "noperspective in float screen; in float space; out vec4 result;
         void main() { result = vec4(screen, space, 0.0, 1.0); }",
    );
    t.vertex_array();
    t.draw_arrays(gl::TRIANGLE_STRIP, 0, 4);
    let picture = t.read(32, 8);
    for x in [4usize, 16, 27] {
        let s = (x as f32 + 0.5) / 32.0;
        let perspective = (s / 4.0) / ((1.0 - s) + s / 4.0);
        let expected = [(s * 255.0).round() as u8, (perspective * 255.0).round() as u8, 0, 255];
        t.pixel(&picture, x, 4, expected, 2, "interpolation");
    }
    t.compare("picture", &picture, Tolerance::EDGES);
}

unsafe fn frag_coord(t: &Scene) {
    t.target_of(16, 16, gl::RGBA32F);
    t.program(FULL_VS, "out vec4 result; void main() { result = gl_FragCoord; }");
    t.vertex_array();
    t.depth_range_f64(0.5, 1.0);
    t.fill();
    let v = t.read_floats(16, 16);
    for (x, y) in [(0, 0), (15, 0), (3, 12)] {
        let p = v[y * 16 + x];
        t.near(p[0], x as f32 + 0.5, 0.0, "gl_FragCoord.x");
        t.near(p[1], y as f32 + 0.5, 0.0, "gl_FragCoord.y counts from the bottom");
        t.near(p[2], 0.75, 1e-6, "gl_FragCoord.z");
        t.near(p[3], 1.0, 0.0, "gl_FragCoord.w");
    }
    t.program(
        FULL_VS,
        "layout(origin_upper_left, pixel_center_integer) in vec4 gl_FragCoord;
         out vec4 result; void main() { result = gl_FragCoord; }",
    );
    t.fill();
    let p = t.read_floats(16, 16)[12 * 16 + 3];
    t.near(p[0], 3.0, 0.0, "pixel_center_integer");
    t.near(p[1], 3.0, 0.0, "origin_upper_left");
}

unsafe fn discard(t: &Scene) {
    t.target(16, 16);
    t.enable(gl::DEPTH_TEST);
    t.program(
        FULL_VS,
        "out vec4 result;
         void main() {
            if ((int(gl_FragCoord.x) + int(gl_FragCoord.y)) % 2 == 0) discard;
            result = vec4(1.0, 1.0, 0.0, 1.0);
         }",
    );
    t.vertex_array();
    t.fill();
    let picture = t.read(16, 16);
    t.equal(picture.count(|p| p == [255, 255, 0, 255]), 128, "half of the pixels");
    t.pixel(&picture, 0, 0, [0; 4], 0, "a discarded pixel");
    let d = t.read_as::<f32>(2, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 2);
    t.near(d[0], 1.0, 1e-6, "a discarded fragment writes no depth");
    t.near(d[1], 0.5, 1e-6, "the others do");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn frag_depth(t: &Scene) {
    t.target(16, 16);
    t.enable(gl::DEPTH_TEST);
    t.depth_func(gl::LESS);
    t.program(
        FULL_VS,
        "out vec4 result;
         void main() { gl_FragDepth = gl_FragCoord.x / 16.0; result = vec4(0.0, 0.0, 1.0, 1.0); }",
    );
    t.vertex_array();
    t.fill();
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.fill();
    let picture = t.read(16, 16);
    t.area(&picture, (0, 0, 8, 16), [0, 0, 255, 255], 0, "written depth below 0.5 wins");
    t.area(&picture, (8, 0, 16, 16), [255, 0, 0, 255], 0, "written depth above 0.5 loses");
    let d = t.read_as::<f32>(16, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 16);
    t.near(d[2], 2.5 / 16.0, 1e-6, "gl_FragDepth");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn derivatives(t: &Scene) {
    t.target_of(16, 16, gl::RGBA32F);
    t.program(
        FULL_VS,
        "in vec2 uv; out vec4 result;
         void main() { result = vec4(dFdx(uv.x), dFdy(uv.y), fwidth(gl_FragCoord.x * 3.0), dFdy(gl_FragCoord.y)); }",
    );
    t.vertex_array();
    t.fill();
    let p = t.read_floats(16, 16)[5 * 16 + 6];
    for (i, expected) in [1.0 / 16.0, 1.0 / 16.0, 3.0, 1.0].into_iter().enumerate() {
        t.near(p[i], expected, 1e-5, &format!("derivative {i}"));
    }
}

unsafe fn clipping(t: &Scene) {
    t.target(32, 32);
    let program = t.program("layout(location = 0) in vec4 position; void main() { gl_Position = position; }", COLOR_FS);
    t.set_vec4(program, "color", [0.0, 1.0, 0.0, 1.0]);
    t.vertex_array();
    // One triangle reaches far outside the view volume, one has a vertex behind the eye.
    t.buffer(
        gl::ARRAY_BUFFER,
        &[
            [-40.0f32, -40.0, 0.0, 1.0],
            [0.0, -40.0, 0.0, 1.0],
            [0.0, 40.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 1.0],
            [0.5, -2.0, 0.0, -1.0],
        ],
    );
    t.attribute(0, 4, 4, 0);
    t.draw_arrays(gl::TRIANGLES, 0, 3);
    t.area(&t.read(32, 32), (0, 0, 16, 32), [0, 255, 0, 255], 0, "the part inside");
    t.set_vec4(program, "color", [1.0, 0.0, 0.0, 1.0]);
    t.draw_arrays(gl::TRIANGLES, 3, 3);
    let picture = t.read(32, 32);
    // The third vertex projects to ndc y = 2, but the edges reach it through infinity, below.
    t.pixel(&picture, 24, 8, [255, 0, 0, 255], 0, "the triangle leaves the picture downwards");
    t.pixel(&picture, 24, 18, [0; 4], 0, "and not upwards");
    t.compare("picture", &picture, Tolerance::EDGES);
}
