//! Vertex input: formats, strides, offsets, constant attributes, array state, robustness at the end of a buffer.

use glow::{self as gl, HasContext as _};

use crate::scene::{Scenario, Scene};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("vertex_formats", formats),
    Scenario::new("vertex_integer_formats", integer_formats),
    Scenario::new("vertex_packed_formats", packed_formats),
    Scenario::new("vertex_stride_and_offset", stride_and_offset),
    Scenario::new("vertex_negative_stride", negative_stride)
        .without_reference("Mesa 22.3 stores a negative stride although it reports the error"),
    Scenario::new("vertex_constant_attributes", constant_attributes),
    Scenario::new("vertex_array_objects", array_objects),
    Scenario::new("vertex_buffer_respecified", buffer_respecified),
    Scenario::new("vertex_past_the_end", past_the_end),
];

/// A program that writes the vec4 attribute 0 as a point's colour to an RGBA32F target of one pixel.
unsafe fn float_program(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    t.program(
        "layout(location = 0) in vec4 a; flat out vec4 v; void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0; v = a; }",
        "flat in vec4 v; out vec4 r; void main() { r = v; }",
    );
    t.vertex_array();
}

unsafe fn look(t: &Scene, first: i32, expected: [f32; 4], tolerance: f32, what: &str) {
    t.draw_arrays(gl::POINTS, first, 1);
    let v = t.read_floats(1, 1)[0];
    for c in 0..4 {
        t.near(v[c], expected[c], tolerance, &format!("{what} component {c}"));
    }
}

unsafe fn formats(t: &Scene) {
    float_program(t);
    t.enable_vertex_attrib_array(0);
    let one = |kind: u32, size: i32, normalized: bool, bytes: &[u8], expected: [f32; 4], tolerance: f32| {
        t.buffer(gl::ARRAY_BUFFER, bytes);
        t.vertex_attrib_pointer_f32(0, size, kind, normalized, 0, 0);
        look(t, 0, expected, tolerance, &format!("type {kind:#x} size {size} normalized {normalized}"));
    };
    let f = |v: &[f32]| bytemuck::cast_slice::<f32, u8>(v).to_vec();
    one(gl::FLOAT, 1, false, &f(&[1.5]), [1.5, 0.0, 0.0, 1.0], 0.0);
    one(gl::FLOAT, 2, false, &f(&[1.5, -2.0]), [1.5, -2.0, 0.0, 1.0], 0.0);
    one(gl::FLOAT, 3, false, &f(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0, 1.0], 0.0);
    one(gl::FLOAT, 4, false, &f(&[1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0], 0.0);
    one(gl::DOUBLE, 2, false, bytemuck::cast_slice(&[0.5f64, -8.0]), [0.5, -8.0, 0.0, 1.0], 0.0);
    one(
        gl::HALF_FLOAT,
        4,
        false,
        bytemuck::cast_slice(&[0x3c00u16, 0xc000, 0x3800, 0x0000]),
        [1.0, -2.0, 0.5, 0.0],
        0.0,
    );
    one(gl::HALF_FLOAT, 3, false, bytemuck::cast_slice(&[0x3c00u16, 0xc000, 0x3800]), [1.0, -2.0, 0.5, 1.0], 0.0);
    one(gl::UNSIGNED_BYTE, 4, true, &[0, 51, 102, 255], [0.0, 0.2, 0.4, 1.0], 1e-5);
    one(gl::UNSIGNED_BYTE, 4, false, &[0, 51, 102, 255], [0.0, 51.0, 102.0, 255.0], 0.0);
    one(gl::UNSIGNED_BYTE, 3, true, &[255, 51, 0], [1.0, 0.2, 0.0, 1.0], 1e-5);
    one(gl::UNSIGNED_BYTE, gl::BGRA as i32, true, &[51, 102, 153, 255], [0.6, 0.4, 0.2, 1.0], 1e-5);
    one(gl::BYTE, 2, true, bytemuck::cast_slice(&[-127i8, 127]), [-1.0, 1.0, 0.0, 1.0], 0.008);
    one(gl::BYTE, 2, false, bytemuck::cast_slice(&[-128i8, 5]), [-128.0, 5.0, 0.0, 1.0], 0.0);
    one(gl::SHORT, 4, false, bytemuck::cast_slice(&[-32768i16, 1, 2, 3]), [-32768.0, 1.0, 2.0, 3.0], 0.0);
    one(gl::SHORT, 1, true, bytemuck::cast_slice(&[32767i16]), [1.0, 0.0, 0.0, 1.0], 1e-4);
    one(gl::UNSIGNED_SHORT, 2, true, bytemuck::cast_slice(&[65535u16, 13107]), [1.0, 0.2, 0.0, 1.0], 1e-5);
    one(gl::UNSIGNED_SHORT, 3, false, bytemuck::cast_slice(&[65535u16, 1, 2]), [65535.0, 1.0, 2.0, 1.0], 0.0);
    one(gl::INT, 2, false, bytemuck::cast_slice(&[-100_000i32, 70000]), [-100_000.0, 70000.0, 0.0, 1.0], 0.0);
    one(gl::UNSIGNED_INT, 2, false, bytemuck::cast_slice(&[3_000_000_000u32, 7]), [3e9, 7.0, 0.0, 1.0], 0.0);
    one(gl::UNSIGNED_INT, 2, true, bytemuck::cast_slice(&[u32::MAX, 0]), [1.0, 0.0, 0.0, 1.0], 1e-6);
    one(gl::INT, 1, true, bytemuck::cast_slice(&[i32::MAX]), [1.0, 0.0, 0.0, 1.0], 1e-6);
}

unsafe fn integer_formats(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32I);
    t.program(
        "layout(location = 0) in ivec4 a; layout(location = 1) in uvec2 b; flat out ivec4 v;
         void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 1.0; v = ivec4(a.xy, int(b.x), int(b.y)); }",
        "flat in ivec4 v; out ivec4 r; void main() { r = v; }",
    );
    t.vertex_array();
    t.buffer(gl::ARRAY_BUFFER, &[-5i8, 100, 0, 0]);
    t.enable_vertex_attrib_array(0);
    t.vertex_attrib_pointer_i32(0, 2, gl::BYTE, 0, 0);
    t.buffer(gl::ARRAY_BUFFER, &[200u8, 255, 0, 0]);
    t.enable_vertex_attrib_array(1);
    t.vertex_attrib_pointer_i32(1, 2, gl::UNSIGNED_BYTE, 0, 0);
    let read = || t.read_as::<[i32; 4]>(1, 1, gl::RGBA_INTEGER, gl::INT, 1)[0];
    t.draw_arrays(gl::POINTS, 0, 1);
    t.equal(read(), [-5, 100, 200, 255], "bytes");
    t.buffer(gl::ARRAY_BUFFER, &[i32::MIN, i32::MAX]);
    t.vertex_attrib_pointer_i32(0, 2, gl::INT, 0, 0);
    t.buffer(gl::ARRAY_BUFFER, &[65535u16, 40000]);
    t.vertex_attrib_pointer_i32(1, 2, gl::UNSIGNED_SHORT, 0, 0);
    t.draw_arrays(gl::POINTS, 0, 1);
    t.equal(read(), [i32::MIN, i32::MAX, 65535, 40000], "ints and shorts");
    // Constant integer attributes.
    t.disable_vertex_attrib_array(0);
    t.disable_vertex_attrib_array(1);
    t.raw.VertexAttribI4i(0, -7, 8, 9, 10);
    t.raw.VertexAttribI4ui(1, 11, 4_000_000_000, 0, 0);
    t.draw_arrays(gl::POINTS, 0, 1);
    t.equal(read(), [-7, 8, 11, 4_000_000_000u32 as i32], "constants");
    t.vertex_attrib_pointer_i32(0, 2, gl::FLOAT, 0, 0);
    t.error(gl::INVALID_ENUM, "an integer attribute of floats");
}

unsafe fn packed_formats(t: &Scene) {
    float_program(t);
    t.enable_vertex_attrib_array(0);
    let pack = |x: u32, y: u32, z: u32, w: u32| x & 1023 | (y & 1023) << 10 | (z & 1023) << 20 | w << 30;
    t.buffer(gl::ARRAY_BUFFER, &[pack(1023, 512, 0, 3), pack(-511i32 as u32, 511, -3i32 as u32, 1)]);
    t.vertex_attrib_pointer_f32(0, 4, gl::UNSIGNED_INT_2_10_10_10_REV, true, 0, 0);
    look(t, 0, [1.0, 512.0 / 1023.0, 0.0, 1.0], 1e-4, "unsigned, normalised");
    t.vertex_attrib_pointer_f32(0, 4, gl::UNSIGNED_INT_2_10_10_10_REV, false, 0, 0);
    look(t, 0, [1023.0, 512.0, 0.0, 3.0], 0.0, "unsigned");
    t.vertex_attrib_pointer_f32(0, 4, gl::INT_2_10_10_10_REV, false, 0, 0);
    look(t, 1, [-511.0, 511.0, -3.0, 1.0], 0.0, "signed");
    t.vertex_attrib_pointer_f32(0, 4, gl::INT_2_10_10_10_REV, true, 0, 0);
    // GL 3.3 and 4.2 normalise signed values by different rules; both lie this close.
    look(t, 1, [-1.0, 1.0, -3.0 / 511.0, 1.0], 0.005, "signed, normalised");
    t.vertex_attrib_pointer_f32(0, gl::BGRA as i32, gl::UNSIGNED_INT_2_10_10_10_REV, true, 0, 0);
    look(t, 0, [0.0, 512.0 / 1023.0, 1.0, 1.0], 1e-4, "BGRA");
    t.vertex_attrib_pointer_f32(0, 3, gl::UNSIGNED_INT_2_10_10_10_REV, true, 0, 0);
    t.error(gl::INVALID_OPERATION, "packed attributes have four components");
    t.disable_vertex_attrib_array(0);
    t.raw.VertexAttribP4ui(0, gl::UNSIGNED_INT_2_10_10_10_REV, 0, pack(1, 2, 3, 2));
    look(t, 0, [1.0, 2.0, 3.0, 2.0], 0.0, "glVertexAttribP4ui");
}

unsafe fn stride_and_offset(t: &Scene) {
    float_program(t);
    t.enable_vertex_attrib_array(0);
    let data: Vec<f32> = (0..64).map(|i| i as f32).collect();
    t.buffer(gl::ARRAY_BUFFER, &data);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 0);
    look(t, 2, [8.0, 9.0, 10.0, 11.0], 0.0, "stride 0 is tight");
    t.vertex_attrib_pointer_f32(0, 2, gl::FLOAT, false, 20, 12);
    look(t, 2, [13.0, 14.0, 0.0, 1.0], 0.0, "stride 20, offset 12");
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 4, 8);
    look(t, 3, [5.0, 6.0, 7.0, 8.0], 0.0, "overlapping vertices");
    // Attributes whose offset and stride are not multiples of four.
    let bytes: Vec<u8> = (0..64).collect();
    t.buffer(gl::ARRAY_BUFFER, &bytes);
    t.vertex_attrib_pointer_f32(0, 3, gl::UNSIGNED_BYTE, false, 7, 1);
    look(t, 3, [22.0, 23.0, 24.0, 1.0], 0.0, "stride 7, offset 1");
    t.vertex_attrib_pointer_f32(0, 5, gl::FLOAT, false, 0, 0);
    t.error(gl::INVALID_VALUE, "five components");
    t.vertex_attrib_pointer_f32(99, 4, gl::FLOAT, false, 0, 0);
    t.error(gl::INVALID_VALUE, "an attribute that does not exist");
    look(t, 3, [22.0, 23.0, 24.0, 1.0], 0.0, "the pointer after the errors");
}

unsafe fn negative_stride(t: &Scene) {
    float_program(t);
    t.enable_vertex_attrib_array(0);
    t.buffer(gl::ARRAY_BUFFER, &[[1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 0);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, -1, 0);
    t.error(gl::INVALID_VALUE, "a negative stride");
    look(t, 1, [5.0, 6.0, 7.0, 8.0], 0.0, "the pointer after the error");
}

unsafe fn constant_attributes(t: &Scene) {
    float_program(t);
    look(t, 0, [0.0, 0.0, 0.0, 1.0], 0.0, "the initial value");
    t.vertex_attrib_3_f32(0, 1.0, 2.0, 3.0);
    look(t, 0, [1.0, 2.0, 3.0, 1.0], 0.0, "three components");
    t.raw.VertexAttrib4Nub(0, 255, 0, 51, 255);
    look(t, 0, [1.0, 0.0, 0.2, 1.0], 1e-5, "normalised bytes");
    // Values change between draws of one frame; each draw sees its own.
    t.target(16, 1);
    t.enable(gl::SCISSOR_TEST);
    t.program(
        "layout(location = 0) in vec4 a; flat out vec4 v; void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 64.0; v = a; }",
        "flat in vec4 v; out vec4 r; void main() { r = v; }",
    );
    t.enable(gl::PROGRAM_POINT_SIZE);
    for i in 0..16 {
        t.scissor(i, 0, 1, 1);
        t.vertex_attrib_4_f32(0, i as f32 / 15.0, 0.0, 0.0, 1.0);
        t.draw_arrays(gl::POINTS, 0, 1);
    }
    let picture = t.read(16, 1);
    for i in 0..16 {
        t.pixel(&picture, i, 0, [i as u8 * 17, 0, 0, 255], 1, &format!("draw {i}"));
    }
}

unsafe fn array_objects(t: &Scene) {
    float_program(t);
    let arrays: Vec<_> = (0..4)
        .map(|i| {
            let array = t.vertex_array();
            t.buffer(gl::ARRAY_BUFFER, &[[i as f32, 10.0, 20.0, 30.0]; 3]);
            t.enable_vertex_attrib_array(0);
            t.vertex_attrib_pointer_f32(0, 4 - i, gl::FLOAT, false, 16, 0);
            t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[i as u8]);
            array
        })
        .collect();
    for i in [2usize, 0, 3, 1] {
        t.bind_vertex_array(Some(arrays[i]));
        let mut expected = [i as f32, 10.0, 20.0, 30.0];
        for (c, e) in expected.iter_mut().enumerate().skip(4 - i) {
            *e = if c == 3 { 1.0 } else { 0.0 };
        }
        look(t, 1, expected, 0.0, &format!("array {i}"));
    }
    // The element buffer belongs to the array object, ARRAY_BUFFER does not.
    t.bind_vertex_array(Some(arrays[1]));
    let of_one = t.get_parameter_i32(gl::ELEMENT_ARRAY_BUFFER_BINDING);
    t.bind_vertex_array(Some(arrays[2]));
    t.check(t.get_parameter_i32(gl::ELEMENT_ARRAY_BUFFER_BINDING) != of_one, "element buffers differ");
    t.bind_vertex_array(None);
    t.equal(t.get_parameter_i32(gl::ELEMENT_ARRAY_BUFFER_BINDING), 0, "no array, no element buffer");
    t.draw_arrays(gl::POINTS, 0, 1);
    t.error(gl::INVALID_OPERATION, "core profiles draw with an array object only");
    t.delete_vertex_array(arrays[2]);
    t.raw.BindFramebuffer(gl::FRAMEBUFFER, 0);
    t.bind_vertex_array(Some(arrays[2]));
    t.error(gl::INVALID_OPERATION, "a name that was deleted");
    // A buffer whose name is deleted lives on in an array object that is not bound.
    float_program(t);
    let keeper = t.vertex_array();
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[5.0f32, 6.0, 7.0, 8.0]);
    t.enable_vertex_attrib_array(0);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 0);
    t.vertex_array();
    t.delete_buffer(buffer);
    t.buffer(gl::ARRAY_BUFFER, &[0.0f32; 4]);
    t.bind_vertex_array(Some(keeper));
    look(t, 0, [5.0, 6.0, 7.0, 8.0], 0.0, "a deleted buffer in another array object");
}

unsafe fn buffer_respecified(t: &Scene) {
    float_program(t);
    let buffer = t.buffer(gl::ARRAY_BUFFER, &[1.0f32, 2.0, 3.0, 4.0]);
    t.enable_vertex_attrib_array(0);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 0);
    look(t, 0, [1.0, 2.0, 3.0, 4.0], 0.0, "first store");
    // A new store of another size under the same name; the pointer follows the name.
    let mut data = vec![9.0f32; 4096];
    data[4000..4004].copy_from_slice(&[5.0, 6.0, 7.0, 8.0]);
    t.buffer_data_u8_slice(gl::ARRAY_BUFFER, bytemuck::cast_slice(&data), gl::STATIC_DRAW);
    look(t, 1000, [5.0, 6.0, 7.0, 8.0], 0.0, "larger store");
    // A store without data, filled piece by piece.
    t.buffer_data_size(gl::ARRAY_BUFFER, 64, gl::STATIC_DRAW);
    t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 16, bytemuck::cast_slice(&[1.5f32, 2.5]));
    t.buffer_sub_data_u8_slice(gl::ARRAY_BUFFER, 24, bytemuck::cast_slice(&[3.5f32, 4.5]));
    look(t, 1, [1.5, 2.5, 3.5, 4.5], 0.0, "filled by glBufferSubData");
    t.bind_buffer(gl::ARRAY_BUFFER, Some(buffer));
    t.equal(t.get_buffer_parameter_i32(gl::ARRAY_BUFFER, gl::BUFFER_SIZE), 64, "size");
}

/// Vertices and indices past the end of their buffers give some value, never a crash.
unsafe fn past_the_end(t: &Scene) {
    float_program(t);
    t.buffer(gl::ARRAY_BUFFER, &[1.0f32, 2.0, 3.0, 4.0]);
    t.enable_vertex_attrib_array(0);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 0);
    t.draw_arrays(gl::POINTS, 1, 3);
    t.draw_arrays(gl::POINTS, 1_000_000, 2);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 1 << 20);
    t.draw_arrays(gl::POINTS, 0, 1);
    t.vertex_attrib_pointer_f32(0, 4, gl::FLOAT, false, 0, 0);
    t.buffer(gl::ELEMENT_ARRAY_BUFFER, &[0u32, 70000]);
    t.draw_elements(gl::POINTS, 2, gl::UNSIGNED_INT, 0);
    t.draw_elements(gl::POINTS, 8, gl::UNSIGNED_INT, 0);
    t.draw_elements(gl::POINTS, 1, gl::UNSIGNED_INT, 4096);
    t.finish();
    while t.get_error() != gl::NO_ERROR {}
    look(t, 0, [1.0, 2.0, 3.0, 4.0], 0.0, "an ordinary draw afterwards");
}
