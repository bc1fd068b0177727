//! Textures: targets, formats, filtering, wrapping, mip levels, swizzle, shadow comparison, sampler objects, borders.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("texture_2d", texture_2d),
    Scenario::new("texture_1d", texture_1d),
    Scenario::new("texture_3d", texture_3d),
    Scenario::new("texture_2d_array", array_2d),
    Scenario::new("texture_1d_array", array_1d),
    Scenario::new("texture_cube", cube),
    Scenario::new("texture_cube_seamless", cube_seamless),
    Scenario::new("texture_rectangle", rectangle),
    Scenario::new("texture_buffer", buffer),
    Scenario::new("texture_formats_normalized", formats_normalized),
    Scenario::new("texture_formats_float", formats_float),
    Scenario::new("texture_formats_integer", formats_integer),
    Scenario::new("texture_srgb", srgb),
    Scenario::new("texture_swizzle", swizzle),
    Scenario::new("texture_filter", filter),
    Scenario::new("texture_wrap", wrap),
    Scenario::new("texture_border_color", border_color),
    Scenario::new("texture_lod_selection", lod_selection),
    Scenario::new("texture_base_max_level", base_max_level),
    Scenario::new("texture_generate_mipmap", generate_mipmap),
    Scenario::new("texture_incomplete_is_black", incomplete),
    Scenario::new("texture_shadow", shadow),
    Scenario::new("texture_depth_sampling", depth_sampling),
    Scenario::new("texture_sampler_objects", sampler_objects),
    Scenario::new("texture_units", units),
    Scenario::new("texture_size_and_fetch", size_and_fetch),
    Scenario::new("texture_gradients_and_offsets", gradients),
    Scenario::new("texture_vertex_fetch", vertex_fetch),
    Scenario::new("texture_respecify", respecify),
    Scenario::new("texture_integer_base_level", integer_base_level),
];

/// The colours of a 4 × 4 picture: red rises with x, green with y.
fn grid(n: usize) -> Vec<[u8; 4]> {
    let step = 255 / (n - 1).max(1);
    (0..n * n).map(|i| [(i % n * step) as u8, (i / n * step) as u8, 128, 255]).collect()
}

unsafe fn texture_2d(t: &Scene) {
    t.target(16, 16);
    t.texture(4, 4, &grid(4));
    let program = t.program(FULL_VS, TEXTURE_FS);
    t.set_int(program, "image", 0);
    t.vertex_array();
    t.fill();
    let picture = t.read(16, 16);
    for y in 0..4 {
        for x in 0..4 {
            t.area(&picture, (x * 4, y * 4, x * 4 + 4, y * 4 + 4), [x as u8 * 85, y as u8 * 85, 128, 255], 0, "texel");
        }
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn texture_1d(t: &Scene) {
    t.target(16, 4);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_1D, Some(texture));
    let texels: Vec<[u8; 4]> = (0..8).map(|i| [i * 30, 255 - i * 30, 0, 255]).collect();
    t.tex_image_1d(
        gl::TEXTURE_1D,
        0,
        gl::RGBA8 as i32,
        8,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels))),
    );
    t.filter(gl::TEXTURE_1D, gl::NEAREST, gl::NEAREST);
    t.raw.TexSubImage1D(gl::TEXTURE_1D, 0, 3, 1, gl::RGBA, gl::UNSIGNED_BYTE, [9u8, 8, 7, 255].as_ptr().cast());
    t.program(
        FULL_VS,
        "uniform sampler1D image; in vec2 uv; out vec4 result; void main() { result = texture(image, uv.x); }",
    );
    t.vertex_array();
    t.fill();
    let picture = t.read(16, 4);
    for i in 0..8 {
        let expected = if i == 3 { [9, 8, 7, 255] } else { texels[i] };
        t.area(&picture, (i * 2, 0, i * 2 + 2, 4), expected, 0, &format!("texel {i}"));
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn texture_3d(t: &Scene) {
    t.target(16, 16);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_3D, Some(texture));
    let texels: Vec<[u8; 4]> =
        (0..4 * 4 * 4u32).map(|i| [(i % 4 * 85) as u8, (i / 4 % 4 * 85) as u8, (i / 16 * 85) as u8, 255]).collect();
    t.tex_image_3d(
        gl::TEXTURE_3D,
        0,
        gl::RGBA8 as i32,
        4,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels))),
    );
    t.filter(gl::TEXTURE_3D, gl::LINEAR, gl::LINEAR);
    t.tex_parameter_i32(gl::TEXTURE_3D, gl::TEXTURE_WRAP_R, gl::CLAMP_TO_EDGE as i32);
    t.tex_sub_image_3d(
        gl::TEXTURE_3D,
        0,
        1,
        2,
        3,
        1,
        1,
        1,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[1, 2, 3, 4])),
    );
    let program = t.program(
        FULL_VS,
        "uniform sampler3D image; uniform float depth; in vec2 uv; out vec4 result;
         void main() { result = texture(image, vec3(0.375, 0.125, uv.x)); if (depth > 0.0) result = texelFetch(image, ivec3(1, 2, 3), 0); }",
    );
    t.vertex_array();
    let depth = t.uniform(program, "depth");
    t.fill();
    let picture = t.read(16, 16);
    for x in [1usize, 5, 8, 14] {
        // Linear filtering along r between texel centres at 1/8, 3/8, 5/8, 7/8.
        let r = ((x as f32 + 0.5) / 16.0 * 4.0 - 0.5).clamp(0.0, 3.0);
        t.pixel(&picture, x, 3, [85, 0, (r * 85.0).round() as u8, 255], 2, "linear in r");
    }
    t.compare("picture", &picture, Tolerance::EDGES);
    t.uniform_1_f32(Some(&depth), 1.0);
    t.fill();
    t.pixel(&t.read(16, 16), 0, 0, [1, 2, 3, 4], 0, "glTexSubImage3D");
}

unsafe fn array_2d(t: &Scene) {
    t.target(16, 8);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(texture));
    let texels: Vec<[u8; 4]> = (0..2 * 2 * 3).map(|i| [i * 20, 255 - i * 20, 0, 255]).collect();
    t.tex_image_3d(
        gl::TEXTURE_2D_ARRAY,
        0,
        gl::RGBA8 as i32,
        2,
        2,
        3,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels))),
    );
    t.filter(gl::TEXTURE_2D_ARRAY, gl::NEAREST, gl::NEAREST);
    let program = t.program(
        FULL_VS,
        "uniform sampler2DArray image; uniform float layer; in vec2 uv; out vec4 result;
         void main() { result = texture(image, vec3(uv, layer)); }",
    );
    let layer = t.uniform(program, "layer");
    t.vertex_array();
    // The layer is rounded to nearest and clamped.
    for (value, expected) in [(0.0, 0), (1.0, 1), (1.4, 1), (1.6, 2), (2.0, 2), (9.0, 2), (-3.0, 0)] {
        t.uniform_1_f32(Some(&layer), value);
        t.fill();
        let picture = t.read(16, 8);
        for i in 0..4 {
            t.pixel(&picture, (i % 2) * 8 + 3, (i / 2) * 4 + 1, texels[expected * 4 + i], 0, &format!("layer {value}"));
        }
    }
}

unsafe fn array_1d(t: &Scene) {
    t.target(8, 8);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_1D_ARRAY, Some(texture));
    let texels: Vec<[u8; 4]> = (0..4 * 3).map(|i| [i * 20, 0, 255 - i * 20, 255]).collect();
    t.tex_image_2d(
        gl::TEXTURE_1D_ARRAY,
        0,
        gl::RGBA8 as i32,
        4,
        3,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels))),
    );
    t.filter(gl::TEXTURE_1D_ARRAY, gl::NEAREST, gl::NEAREST);
    t.program(
        FULL_VS,
        "uniform sampler1DArray image; in vec2 uv; out vec4 result;
         void main() { result = texture(image, vec2(uv.x, floor(gl_FragCoord.y / 3.0))); }",
    );
    t.vertex_array();
    t.fill();
    let picture = t.read(8, 8);
    for (x, y, i) in [(0, 0, 0), (7, 1, 3), (3, 4, 5), (6, 7, 11)] {
        t.pixel(&picture, x, y, texels[i], 0, &format!("texel {i}"));
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

/// A cube map of `size` whose faces have the colours below, nearest filtered.
unsafe fn cube_map(t: &Scene, size: usize) -> gl::NativeTexture {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_CUBE_MAP, Some(texture));
    for (face, color) in CUBE_COLORS.into_iter().enumerate() {
        t.tex_image_2d(
            gl::TEXTURE_CUBE_MAP_POSITIVE_X + face as u32,
            0,
            gl::RGBA8 as i32,
            size as i32,
            size as i32,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&vec![color; size * size]))),
        );
    }
    t.filter(gl::TEXTURE_CUBE_MAP, gl::NEAREST, gl::NEAREST);
    texture
}

const CUBE_COLORS: [[u8; 4]; 6] =
    [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255], [255, 0, 255, 255], [0, 255, 255, 255]];

unsafe fn cube(t: &Scene) {
    t.target(48, 32);
    cube_map(t, 4);
    // One texel of the +X face tells its orientation: s = 0, t = 0 is where sc and tc are smallest, that is at -z, -y of
    // the table in GL 3.3 section 3.8.11, so direction (1, +1, +1).
    t.tex_sub_image_2d(
        gl::TEXTURE_CUBE_MAP_POSITIVE_X,
        0,
        0,
        0,
        1,
        1,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[1, 2, 3, 255])),
    );
    let program = t.program(
        FULL_VS,
        "uniform samplerCube image; uniform vec3 direction; out vec4 result;
         void main() { result = texture(image, direction); }",
    );
    let direction = t.uniform(program, "direction");
    t.vertex_array();
    let v = 0.8;
    for (d, expected) in [
        ([1.0, 0.1, 0.2], CUBE_COLORS[0]),
        ([-1.0, 0.3, 0.1], CUBE_COLORS[1]),
        ([0.2, 1.0, 0.1], CUBE_COLORS[2]),
        ([0.2, -3.0, 0.1], CUBE_COLORS[3]),
        ([0.1, 0.3, 0.5], CUBE_COLORS[4]),
        ([0.4, 0.3, -0.5], CUBE_COLORS[5]),
        ([1.0, v, v], [1, 2, 3, 255]),
        ([1.0, -v, v], CUBE_COLORS[0]),
        ([1.0, v, -v], CUBE_COLORS[0]),
    ] {
        t.uniform_3_f32(Some(&direction), d[0], d[1], d[2]);
        t.fill();
        t.pixel(&t.read(1, 1), 0, 0, expected, 0, &format!("direction {d:?}"));
    }
    // A picture of the whole cube: longitude and latitude.
    t.program(
        FULL_VS,
        "uniform samplerCube image; in vec2 uv; out vec4 result;
         void main() {
            float a = uv.x * 6.2831853, b = (uv.y - 0.5) * 3.1415926;
            result = texture(image, vec3(cos(a) * cos(b), sin(b), sin(a) * cos(b)));
         }",
    );
    t.fill();
    t.compare("picture", &t.read(48, 32), Tolerance::EDGES);
}

unsafe fn cube_seamless(t: &Scene) {
    t.target(8, 8);
    cube_map(t, 4);
    t.filter(gl::TEXTURE_CUBE_MAP, gl::LINEAR, gl::LINEAR);
    for wrap in [gl::TEXTURE_WRAP_S, gl::TEXTURE_WRAP_T, gl::TEXTURE_WRAP_R] {
        t.tex_parameter_i32(gl::TEXTURE_CUBE_MAP, wrap, gl::CLAMP_TO_EDGE as i32);
    }
    // Exactly on the edge between +X (red) and +Z (magenta), a little to the +X side.
    t.program(
        FULL_VS,
        "uniform samplerCube image; out vec4 result; void main() { result = texture(image, vec3(1.0, 0.0, 0.999)); }",
    );
    t.vertex_array();
    t.enable(gl::TEXTURE_CUBE_MAP_SEAMLESS);
    t.fill();
    t.pixel(&t.read(1, 1), 0, 0, [255, 0, 128, 255], 3, "seamless: half of either face");
    t.disable(gl::TEXTURE_CUBE_MAP_SEAMLESS);
    t.fill();
    t.pixel(&t.read(1, 1), 0, 0, [255, 0, 0, 255], 0, "not seamless: one face");
}

unsafe fn rectangle(t: &Scene) {
    t.target(8, 8);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_RECTANGLE, Some(texture));
    let texels: Vec<[u8; 4]> = (0..5 * 3).map(|i| [i * 16, 0, 255 - i * 16, 255]).collect();
    t.tex_image_2d(
        gl::TEXTURE_RECTANGLE,
        0,
        gl::RGBA8 as i32,
        5,
        3,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels))),
    );
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    t.program(
        FULL_VS,
        "uniform sampler2DRect image; out vec4 result; void main() { result = texture(image, gl_FragCoord.xy); }",
    );
    t.vertex_array();
    t.fill();
    let picture = t.read(8, 8);
    for (x, y) in [(0, 0), (4, 0), (2, 1), (4, 2)] {
        t.pixel(&picture, x, y, texels[y * 5 + x], 0, "unnormalised coordinates");
    }
    t.pixel(&picture, 7, 7, texels[14], 0, "clamped to the edge");
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_WRAP_S, gl::REPEAT as i32);
    t.error(gl::INVALID_ENUM, "rectangles do not repeat");
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_LINEAR as i32);
    t.error(gl::INVALID_ENUM, "rectangles have no mip levels");
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn buffer(t: &Scene) {
    t.target(8, 8);
    let data: Vec<[f32; 4]> = (0..64).map(|i| [i as f32 / 255.0, 0.5, 1.0 - i as f32 / 255.0, 1.0]).collect();
    let storage = t.buffer(gl::TEXTURE_BUFFER, &data);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_BUFFER, Some(texture));
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::RGBA32F, Some(storage));
    t.program(
        FULL_VS,
        "uniform samplerBuffer image; out vec4 result;
         void main() { result = texelFetch(image, int(gl_FragCoord.y) * 8 + int(gl_FragCoord.x)); if (textureSize(image) != 64) result = vec4(0.0); }",
    );
    t.vertex_array();
    t.fill();
    let picture = t.read(8, 8);
    t.pixel(&picture, 3, 2, [19, 128, 255 - 19, 255], 1, "texel 19");
    t.compare("float", &picture, Tolerance::EXACT);
    // A change of the buffer shows without touching the texture.
    t.buffer_sub_data_u8_slice(gl::TEXTURE_BUFFER, 19 * 16, bytemuck::cast_slice(&[1.0f32, 0.0, 0.0, 1.0]));
    t.fill();
    t.pixel(&t.read(8, 8), 3, 2, [255, 0, 0, 255], 0, "texel 19 after glBufferSubData");
    // The same storage seen as integers of another size.
    let storage = t.buffer(gl::TEXTURE_BUFFER, &(0..64u16).map(|i| i * 3).collect::<Vec<_>>());
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::R16UI, Some(storage));
    t.program(
        FULL_VS,
        "uniform usamplerBuffer image; out vec4 result;
         void main() { uint v = texelFetch(image, int(gl_FragCoord.x)).r; result = vec4(float(v) / 255.0, float(textureSize(image)) / 255.0, 0.0, 1.0); }",
    );
    t.fill();
    t.pixel(&t.read(8, 8), 5, 0, [15, 64, 0, 255], 0, "R16UI");
}

/// Uploads one texel, samples it into an RGBA32F target and returns what the shader saw.
unsafe fn sampled<T: bytemuck::NoUninit>(t: &Scene, internal: u32, format: u32, kind: u32, texel: &[T]) -> [f32; 4] {
    t.texture_of(1, 1, internal, format, kind, texel);
    t.fill();
    t.read_floats(1, 1)[0]
}

unsafe fn check_format<T: bytemuck::NoUninit>(
    t: &Scene,
    internal: u32,
    format: u32,
    kind: u32,
    texel: &[T],
    expected: [f32; 4],
    tolerance: f32,
) {
    let actual = sampled(t, internal, format, kind, texel);
    for c in 0..4 {
        t.near(
            actual[c],
            expected[c],
            tolerance,
            &format!("internal {internal:#x} format {format:#x} type {kind:#x} channel {c}"),
        );
    }
    t.no_error(&format!("upload {internal:#x} {format:#x} {kind:#x}"));
}

unsafe fn float_sampler(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
}

unsafe fn formats_normalized(t: &Scene) {
    float_sampler(t);
    let b = |v: u8| f32::from(v) / 255.0;
    check_format(t, gl::R8, gl::RED, gl::UNSIGNED_BYTE, &[51u8], [b(51), 0.0, 0.0, 1.0], 1e-4);
    check_format(t, gl::RG8, gl::RG, gl::UNSIGNED_BYTE, &[51u8, 204], [b(51), b(204), 0.0, 1.0], 1e-4);
    check_format(t, gl::RGB8, gl::RGB, gl::UNSIGNED_BYTE, &[51u8, 204, 7], [b(51), b(204), b(7), 1.0], 1e-4);
    check_format(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE, &[1u8, 2, 3, 4], [b(1), b(2), b(3), b(4)], 1e-4);
    check_format(t, gl::RGBA8, gl::BGRA, gl::UNSIGNED_BYTE, &[1u8, 2, 3, 4], [b(3), b(2), b(1), b(4)], 1e-4);
    // BGRA with the packed types, as little-endian words: 8_8_8_8 has blue in the top byte, REV in the lowest.
    check_format(t, gl::RGBA8, gl::BGRA, gl::UNSIGNED_INT_8_8_8_8, &[0x0102_0304u32], [b(3), b(2), b(1), b(4)], 1e-4);
    check_format(
        t,
        gl::RGBA8,
        gl::BGRA,
        gl::UNSIGNED_INT_8_8_8_8_REV,
        &[0x0102_0304u32],
        [b(2), b(3), b(4), b(1)],
        1e-4,
    );
    check_format(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_INT_8_8_8_8, &[0x0102_0304u32], [b(1), b(2), b(3), b(4)], 1e-4);
    check_format(
        t,
        gl::RGBA8,
        gl::RGBA,
        gl::UNSIGNED_INT_8_8_8_8_REV,
        &[0x0102_0304u32],
        [b(4), b(3), b(2), b(1)],
        1e-4,
    );
    // Conversion: components that the storage lacks are dropped, those that the data lacks are 0, 0, 1.
    check_format(t, gl::RGBA8, gl::RED, gl::UNSIGNED_BYTE, &[77u8], [b(77), 0.0, 0.0, 1.0], 1e-4);
    check_format(t, gl::RG8, gl::RGBA, gl::UNSIGNED_BYTE, &[9u8, 8, 7, 6], [b(9), b(8), 0.0, 1.0], 1e-4);
    check_format(t, gl::RGBA8, gl::RGBA, gl::FLOAT, &[0.5f32, 2.0, -1.0, 1.0], [0.5, 1.0, 0.0, 1.0], 0.003);
    check_format(t, gl::RGBA8, gl::RGBA, gl::UNSIGNED_SHORT, &[65535u16, 0, 32768, 65535], [1.0, 0.0, 0.5, 1.0], 0.003);
    check_format(
        t,
        gl::RGB565,
        gl::RGB,
        gl::UNSIGNED_SHORT_5_6_5,
        &[0x8410u16],
        [16.0 / 31.0, 32.0 / 63.0, 16.0 / 31.0, 1.0],
        0.002,
    );
    check_format(
        t,
        gl::RGB5_A1,
        gl::RGBA,
        gl::UNSIGNED_SHORT_5_5_5_1,
        &[0x8421u16],
        [16.0 / 31.0, 16.0 / 31.0, 16.0 / 31.0, 1.0],
        0.002,
    );
    check_format(
        t,
        gl::RGBA4,
        gl::RGBA,
        gl::UNSIGNED_SHORT_4_4_4_4,
        &[0x1234u16],
        [1.0 / 15.0, 2.0 / 15.0, 3.0 / 15.0, 4.0 / 15.0],
        0.002,
    );
    check_format(
        t,
        gl::RGB10_A2,
        gl::RGBA,
        gl::UNSIGNED_INT_2_10_10_10_REV,
        &[0x8000_0000u32 | (1023 << 20) | (512 << 10) | 1],
        [1.0 / 1023.0, 512.0 / 1023.0, 1.0, 2.0 / 3.0],
        1e-4,
    );
    check_format(
        t,
        gl::R16,
        gl::RED,
        gl::UNSIGNED_SHORT,
        &[0x4000u16],
        [f32::from(0x4000u16) / 65535.0, 0.0, 0.0, 1.0],
        1e-5,
    );
    check_format(
        t,
        gl::RGBA16,
        gl::RGBA,
        gl::UNSIGNED_SHORT,
        &[1u16, 1000, 65535, 30000],
        [1.0 / 65535.0, 1000.0 / 65535.0, 1.0, 30000.0 / 65535.0],
        1e-6,
    );
    check_format(t, gl::R8_SNORM, gl::RED, gl::BYTE, &[-127i8], [-1.0, 0.0, 0.0, 1.0], 1e-4);
    check_format(
        t,
        gl::RGBA8_SNORM,
        gl::RGBA,
        gl::BYTE,
        &[-128i8, -64, 64, 127],
        [-1.0, -64.0 / 127.0, 64.0 / 127.0, 1.0],
        1e-3,
    );
    check_format(t, gl::RG16_SNORM, gl::RG, gl::SHORT, &[-32767i16, 16384], [-1.0, 16384.0 / 32767.0, 0.0, 1.0], 1e-4);
}

unsafe fn formats_float(t: &Scene) {
    float_sampler(t);
    check_format(t, gl::R32F, gl::RED, gl::FLOAT, &[-1234.5f32], [-1234.5, 0.0, 0.0, 1.0], 0.0);
    check_format(t, gl::RG32F, gl::RG, gl::FLOAT, &[1e20f32, -1e-20], [1e20, -1e-20, 0.0, 1.0], 0.0);
    check_format(t, gl::RGB32F, gl::RGB, gl::FLOAT, &[1.5f32, 2.5, -3.5], [1.5, 2.5, -3.5, 1.0], 0.0);
    check_format(t, gl::RGBA32F, gl::RGBA, gl::FLOAT, &[1.0f32, -2.0, 3.0, -4.0], [1.0, -2.0, 3.0, -4.0], 0.0);
    check_format(t, gl::R16F, gl::RED, gl::HALF_FLOAT, &[0xc000u16], [-2.0, 0.0, 0.0, 1.0], 0.0);
    check_format(
        t,
        gl::RGBA16F,
        gl::RGBA,
        gl::FLOAT,
        &[0.5f32, 1024.0, -0.25, 65504.0],
        [0.5, 1024.0, -0.25, 65504.0],
        0.0,
    );
    check_format(t, gl::RGB16F, gl::RGB, gl::FLOAT, &[0.5f32, 2.0, -0.25], [0.5, 2.0, -0.25, 1.0], 0.0);
    check_format(t, gl::R11F_G11F_B10F, gl::RGB, gl::FLOAT, &[0.5f32, 2.0, 4.0], [0.5, 2.0, 4.0, 1.0], 0.0);
    check_format(
        t,
        gl::R11F_G11F_B10F,
        gl::RGB,
        gl::UNSIGNED_INT_10F_11F_11F_REV,
        &[0x3c0u32 | (0x400 << 11) | (0x1c0 << 22)],
        [1.0, 2.0, 0.5, 1.0],
        0.0,
    );
    check_format(t, gl::RGB9_E5, gl::RGB, gl::FLOAT, &[0.5f32, 1.0, 0.25], [0.5, 1.0, 0.25, 1.0], 0.0);
    // A shared exponent of 16 scales the 9-bit mantissas by 2^(16 - 15 - 9).
    check_format(
        t,
        gl::RGB9_E5,
        gl::RGB,
        gl::UNSIGNED_INT_5_9_9_9_REV,
        &[(16u32 << 27) | (64 << 18) | (128 << 9) | 256],
        [1.0, 0.5, 0.25, 1.0],
        0.0,
    );
    check_format(t, gl::RGBA32F, gl::RGBA, gl::UNSIGNED_BYTE, &[255u8, 0, 51, 255], [1.0, 0.0, 0.2, 1.0], 1e-5);
}

unsafe fn formats_integer(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32UI);
    let unsigned = t.program(
        FULL_VS,
        "uniform usampler2D image; in vec2 uv; out uvec4 result; void main() { result = texture(image, uv); }",
    );
    let signed = t.program(
        FULL_VS,
        "uniform isampler2D image; in vec2 uv; out uvec4 result; void main() { result = uvec4(texture(image, uv)); }",
    );
    t.vertex_array();
    let look = |program, what: &str, expected: [i64; 4]| {
        t.use_program(Some(program));
        t.fill();
        let v = t.read_as::<[u32; 4]>(1, 1, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 1)[0];
        t.equal(v, expected.map(|e| e as u32), what);
    };
    t.texture_of(1, 1, gl::R8UI, gl::RED_INTEGER, gl::UNSIGNED_BYTE, &[200u8]);
    look(unsigned, "R8UI", [200, 0, 0, 1]);
    t.texture_of(1, 1, gl::RG8I, gl::RG_INTEGER, gl::BYTE, &[-100i8, 100]);
    look(signed, "RG8I", [-100, 100, 0, 1]);
    t.texture_of(1, 1, gl::RGB8UI, gl::RGB_INTEGER, gl::UNSIGNED_BYTE, &[1u8, 2, 3]);
    look(unsigned, "RGB8UI", [1, 2, 3, 1]);
    t.texture_of(1, 1, gl::RGBA16UI, gl::RGBA_INTEGER, gl::UNSIGNED_SHORT, &[1u16, 60000, 3, 4]);
    look(unsigned, "RGBA16UI", [1, 60000, 3, 4]);
    t.texture_of(1, 1, gl::R32I, gl::RED_INTEGER, gl::INT, &[i32::MIN]);
    look(signed, "R32I", [i64::from(i32::MIN), 0, 0, 1]);
    t.texture_of(1, 1, gl::RGBA32UI, gl::RGBA_INTEGER, gl::UNSIGNED_INT, &[u32::MAX, 1, 0x8000_0000, 7]);
    look(unsigned, "RGBA32UI", [0xffff_ffff, 1, 0x8000_0000, 7]);
    t.texture_of(
        1,
        1,
        gl::RGB10_A2UI,
        gl::RGBA_INTEGER,
        gl::UNSIGNED_INT_2_10_10_10_REV,
        &[(2u32 << 30) | (1000 << 20) | (500 << 10) | 3],
    );
    look(unsigned, "RGB10_A2UI", [3, 500, 1000, 2]);
    t.texture_of(1, 1, gl::RGBA8UI, gl::RGBA_INTEGER, gl::UNSIGNED_BYTE, &[9u8, 8, 7, 6]);
    look(unsigned, "RGBA8UI", [9, 8, 7, 6]);
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8UI as i32,
        1,
        1,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[9, 8, 7, 6])),
    );
    t.error(gl::INVALID_OPERATION, "an integer format takes integer data only");
}

unsafe fn srgb(t: &Scene) {
    float_sampler(t);
    let decode = |v: u8| {
        let v = f32::from(v) / 255.0;
        if v <= 0.040_45 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    for v in [0u8, 5, 10, 60, 128, 200, 255] {
        check_format(
            t,
            gl::SRGB8_ALPHA8,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            &[v, 255 - v, 0, v],
            [decode(v), decode(255 - v), 0.0, f32::from(v) / 255.0],
            0.002,
        );
        check_format(
            t,
            gl::SRGB8,
            gl::RGB,
            gl::UNSIGNED_BYTE,
            &[v, 255 - v, 0],
            [decode(v), decode(255 - v), 0.0, 1.0],
            0.002,
        );
    }
    // Linear filtering happens after decoding.
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::SRGB8_ALPHA8 as i32,
        2,
        1,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[0, 0, 0, 255, 255, 255, 255, 255])),
    );
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
    t.fill();
    t.near(t.read_floats(1, 1)[0][0], 0.5, 0.01, "halfway between black and white");
}

unsafe fn swizzle(t: &Scene) {
    t.target(4, 4);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.texture(1, 1, &[[10, 20, 30, 40]]);
    let set = |s: [u32; 4]| {
        for (i, v) in s.into_iter().enumerate() {
            t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R + i as u32, v as i32);
        }
    };
    for (s, expected) in [
        ([gl::BLUE, gl::GREEN, gl::RED, gl::ALPHA], [30, 20, 10, 40]),
        ([gl::ALPHA, gl::ALPHA, gl::ONE, gl::ZERO], [40, 40, 255, 0]),
        ([gl::ZERO, gl::RED, gl::RED, gl::ONE], [0, 10, 10, 255]),
        ([gl::RED, gl::GREEN, gl::BLUE, gl::ALPHA], [10, 20, 30, 40]),
    ] {
        set(s);
        t.fill();
        t.pixel(&t.read(4, 4), 1, 1, expected, 0, &format!("swizzle {s:x?}"));
    }
    // The swizzle applies to the format's own expansion: ALPHA of an R8 texture is 1.
    t.texture_of(1, 1, gl::R8, gl::RED, gl::UNSIGNED_BYTE, &[99u8]);
    t.tex_parameter_i32_slice(
        gl::TEXTURE_2D,
        gl::TEXTURE_SWIZZLE_RGBA,
        &[gl::ONE, gl::RED, gl::ALPHA, gl::RED].map(|v| v as i32),
    );
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [255, 99, 255, 99], 0, "swizzle of R8");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R, gl::NEAREST as i32);
    t.error(gl::INVALID_ENUM, "a swizzle that is none");
}

unsafe fn filter(t: &Scene) {
    t.target(32, 32);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.texture(4, 4, &grid(4));
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_EDGE as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_T, gl::CLAMP_TO_EDGE as i32);
    t.fill();
    let picture = t.read(32, 32);
    for (x, y) in [(0usize, 0usize), (6, 9), (16, 16), (31, 12)] {
        let at = |v: usize| (((v as f32 + 0.5) / 8.0 - 0.5).clamp(0.0, 3.0) * 85.0).round() as u8;
        t.pixel(&picture, x, y, [at(x), at(y), 128, 255], 2, "bilinear");
    }
    t.compare("linear", &picture, Tolerance::EDGES);
    // Magnification nearest with minification linear: this is magnification.
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::NEAREST);
    t.fill();
    let picture = t.read(32, 32);
    t.pixel(&picture, 7, 0, [0, 0, 128, 255], 0, "nearest magnification");
    t.pixel(&picture, 8, 0, [85, 0, 128, 255], 0, "nearest magnification");
    // Minification to 2 x 2 pixels with nearest against linear.
    t.viewport(0, 0, 1, 1);
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::NEAREST);
    t.fill();
    t.pixel(&t.read(1, 1), 0, 0, [128, 128, 128, 255], 2, "linear minification");
}

unsafe fn wrap(t: &Scene) {
    t.target(32, 8);
    let texels = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]];
    t.texture(4, 1, &texels);
    t.program(
        FULL_VS,
        "uniform sampler2D image; in vec2 uv; out vec4 result;
         void main() { result = texture(image, vec2(uv.x * 4.0 - 1.5, 0.5)); }",
    );
    t.vertex_array();
    for (name, mode) in [("repeat", gl::REPEAT), ("mirrored", gl::MIRRORED_REPEAT), ("edge", gl::CLAMP_TO_EDGE)] {
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, mode as i32);
        t.fill();
        let picture = t.read(32, 8);
        for x in 0..32usize {
            // Two pixels a texel; texel index of the unwrapped coordinate.
            let i = ((x as f32 + 0.5) / 32.0 * 16.0 - 6.0).floor() as i32;
            let i = match mode {
                gl::REPEAT => i.rem_euclid(4),
                gl::CLAMP_TO_EDGE => i.clamp(0, 3),
                _ => {
                    let m = i.rem_euclid(8);
                    if m < 4 {
                        m
                    } else {
                        7 - m
                    }
                }
            };
            t.pixel(&picture, x, 4, texels[i as usize], 0, name);
        }
        t.compare(name, &picture, Tolerance::EXACT);
    }
}

unsafe fn border_color(t: &Scene) {
    t.target_of(4, 4, gl::RGBA32F);
    t.texture(1, 1, &[[255, 0, 0, 255]]);
    let source = "uniform sampler2D image; in vec2 uv; out vec4 result; void main() { result = texture(image, vec2(uv.x * 2.0, 0.5)); }";
    t.program(FULL_VS, source);
    t.vertex_array();
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_BORDER as i32);
    let look = |what: &str, expected: [f32; 4]| {
        t.fill();
        let v = t.read_floats(4, 4);
        t.near(v[0][0], 1.0, 0.01, "inside");
        for c in 0..4 {
            t.near(v[3][c], expected[c], 0.01, what);
        }
    };
    for color in [[0.0f32, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.25, 0.5, 0.75, 0.1]] {
        t.tex_parameter_f32_slice(gl::TEXTURE_2D, gl::TEXTURE_BORDER_COLOR, &color);
        look("border", color);
    }
    // Linear filtering mixes the border in.
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
    t.fill();
    t.near(t.read_floats(4, 4)[3][2], 0.75, 0.02, "far outside, linear");
    // An integer texture takes an integer border.
    t.target_of(4, 4, gl::RGBA32I);
    t.texture_of(1, 1, gl::RGBA8I, gl::RGBA_INTEGER, gl::BYTE, &[1i8, 2, 3, 4]);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_BORDER as i32);
    t.raw.TexParameterIiv(gl::TEXTURE_2D, gl::TEXTURE_BORDER_COLOR, [-5, 100, 7, -128].as_ptr());
    t.program(FULL_VS, "uniform isampler2D image; in vec2 uv; out ivec4 result; void main() { result = texture(image, vec2(uv.x * 2.0, 0.5)); }");
    t.fill();
    let v = t.read_as::<[i32; 4]>(4, 1, gl::RGBA_INTEGER, gl::INT, 4);
    t.equal(v[0], [1, 2, 3, 4], "integer texel");
    t.equal(v[3], [-5, 100, 7, -128], "integer border");
}

/// A texture of 8 × 8 with four mip levels of one colour each.
const LEVELS: [[u8; 4]; 4] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]];

unsafe fn levels(t: &Scene) -> gl::NativeTexture {
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    for (level, color) in LEVELS.into_iter().enumerate() {
        let size = 8 >> level;
        t.tex_image_2d(
            gl::TEXTURE_2D,
            level as i32,
            gl::RGBA8 as i32,
            size,
            size,
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&vec![color; (size * size) as usize]))),
        );
    }
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    texture
}

unsafe fn lod_selection(t: &Scene) {
    t.target(8, 8);
    levels(t);
    let program = t.program(FULL_VS, TEXTURE_FS);
    t.set_int(program, "image", 0);
    t.vertex_array();
    for (i, color) in LEVELS.into_iter().enumerate() {
        let size = 8 >> i;
        t.viewport(0, 0, size, size);
        t.fill();
        t.pixel(&t.read(8, 8), 0, 0, color, 0, &format!("automatic level {i}"));
    }
    t.viewport(0, 0, 8, 8);
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_LOD_BIAS, 1.0);
    t.fill();
    t.pixel(&t.read(8, 8), 0, 0, LEVELS[1], 0, "TEXTURE_LOD_BIAS");
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_LOD_BIAS, 0.0);
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MIN_LOD, 2.0);
    t.fill();
    t.pixel(&t.read(8, 8), 0, 0, LEVELS[2], 0, "TEXTURE_MIN_LOD");
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MIN_LOD, -1000.0);
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LOD, 1.0);
    t.viewport(0, 0, 1, 1);
    t.fill();
    t.pixel(&t.read(8, 8), 0, 0, LEVELS[1], 0, "TEXTURE_MAX_LOD");
    t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LOD, 1000.0);
    t.viewport(0, 0, 8, 8);
    let program = t.program(
        FULL_VS,
        "uniform sampler2D image; uniform float lod; uniform float bias; in vec2 uv; out vec4 result;
         void main() { result = lod >= 0.0 ? textureLod(image, uv, lod) : texture(image, uv, bias); }",
    );
    let (lod, bias) = (t.uniform(program, "lod"), t.uniform(program, "bias"));
    for (l, b, level) in [
        (0.0, 0.0, 0),
        (0.4, 0.0, 0),
        (0.6, 0.0, 1),
        (2.0, 0.0, 2),
        (9.0, 0.0, 3),
        (-1.0, 1.2, 1),
        (-1.0, 2.9, 3),
        (-1.0, -4.0, 0),
    ] {
        t.uniform_1_f32(Some(&lod), l);
        t.uniform_1_f32(Some(&bias), b);
        t.fill();
        t.pixel(&t.read(8, 8), 0, 0, LEVELS[level], 0, &format!("lod {l} bias {b}"));
    }
    // Trilinear: halfway between levels 1 and 2.
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_LINEAR as i32);
    t.uniform_1_f32(Some(&lod), 1.5);
    t.fill();
    t.pixel(&t.read(8, 8), 0, 0, [0, 128, 128, 255], 3, "trilinear");
    // Without mip filtering the level is always the base.
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.fill();
    t.pixel(&t.read(8, 8), 0, 0, LEVELS[0], 0, "no mip filter");
}

unsafe fn base_max_level(t: &Scene) {
    t.target(8, 8);
    levels(t);
    let program = t.program(
        FULL_VS,
        "uniform sampler2D image; uniform float lod; in vec2 uv; out vec4 result;
         void main() { result = lod < 0.0 ? vec4(vec2(textureSize(image, 0)), 0.0, 255.0) / 255.0 : textureLod(image, uv, lod); }",
    );
    let lod = t.uniform(program, "lod");
    t.vertex_array();
    let look = |base: i32, max: i32, l: f32, expected: [u8; 4], what: &str| {
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, base);
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, max);
        t.uniform_1_f32(Some(&lod), l);
        t.fill();
        t.pixel(&t.read(8, 8), 0, 0, expected, 0, what);
    };
    look(1, 1000, 0.0, LEVELS[1], "base level 1");
    look(1, 1000, 1.0, LEVELS[2], "lod counts from the base level");
    look(1, 1000, -1.0, [4, 4, 0, 255], "textureSize of level 0 is the base level's");
    look(0, 2, 9.0, LEVELS[2], "max level 2");
    look(2, 2, 0.0, LEVELS[2], "one level");
    look(3, 3, -1.0, [1, 1, 0, 255], "the smallest");
    look(0, 1000, 3.0, LEVELS[3], "all levels again");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, -1);
    t.error(gl::INVALID_VALUE, "a negative base level");
}

unsafe fn generate_mipmap(t: &Scene) {
    t.target(8, 8);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    let texels: Vec<[u8; 4]> =
        (0..64).map(|i| if (i % 8) < 4 { [255, 0, 0, 255] } else { [0, 0, (i / 8 * 36) as u8, 255] }).collect();
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        8,
        8,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&texels))),
    );
    t.generate_mipmap(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    t.equal(t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 3, gl::TEXTURE_WIDTH), 1, "width of level 3");
    // What glGetTexImage returns for a generated level is what the GPU holds.
    let mut level2 = [[0u8; 4]; 4];
    t.get_tex_image(
        gl::TEXTURE_2D,
        2,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut level2))),
    );
    t.check(level2[0][0] > 250 && level2[1][0] < 5, format!("red of level 2: {level2:?}"));
    // Rows 0 to 3 average to 54 in the right half, rows 4 to 7 to 198.
    t.check(level2[1][2].abs_diff(54) <= 3 && level2[3][2].abs_diff(198) <= 3, format!("blue of level 2: {level2:?}"));
    let mut level3 = [[0u8; 4]; 1];
    t.get_tex_image(
        gl::TEXTURE_2D,
        3,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut level3))),
    );
    t.check(level3[0][0].abs_diff(128) <= 3 && level3[0][2].abs_diff(63) <= 3, format!("level 3: {level3:?}"));
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.viewport(0, 0, 2, 2);
    t.fill();
    let picture = t.read(2, 2);
    t.pixel(&picture, 1, 1, [0, 0, 198, 255], 3, "the sampled level 2");
    // Mip levels follow a new base image only when generated again.
    t.tex_sub_image_2d(
        gl::TEXTURE_2D,
        0,
        0,
        0,
        8,
        8,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&[[0u8, 255, 0, 255]; 64]))),
    );
    t.fill();
    t.pixel(&t.read(2, 2), 1, 1, [0, 0, 198, 255], 3, "level 2 before glGenerateMipmap");
    t.generate_mipmap(gl::TEXTURE_2D);
    t.fill();
    t.pixel(&t.read(2, 2), 1, 1, [0, 255, 0, 255], 0, "level 2 after glGenerateMipmap");
}

unsafe fn incomplete(t: &Scene) {
    t.target(4, 4);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 0, 0, 255], 0, "no texture bound");
    // The default minification filter wants mip levels, and there are none.
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[200; 64])),
    );
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [0, 0, 0, 255], 0, "missing mip levels");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 0);
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [200; 4], 0, "complete with a maximum level of 0");
    // Integer textures cannot be filtered linearly.
    let program = t.program(FULL_VS, "uniform usampler2D image; in vec2 uv; out vec4 result; void main() { result = vec4(texture(image, uv)) / 255.0; }");
    t.set_int(program, "image", 0);
    t.texture_of(1, 1, gl::RGBA8UI, gl::RGBA_INTEGER, gl::UNSIGNED_BYTE, &[9u8, 8, 7, 6]);
    t.fill();
    t.pixel(&t.read(4, 4), 1, 1, [9, 8, 7, 6], 0, "integer, nearest");
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
    t.fill();
    // Drivers disagree about the alpha of an incomplete integer texture, so only the colour is checked.
    let p = t.read(4, 4).pixel(1, 1);
    t.equal([p[0], p[1], p[2]], [0, 0, 0], "integer, linear");
}

unsafe fn shadow(t: &Scene) {
    t.target(8, 8);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::DEPTH_COMPONENT24 as i32,
        2,
        1,
        0,
        gl::DEPTH_COMPONENT,
        gl::FLOAT,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&[0.25f32, 0.75]))),
    );
    t.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_COMPARE_MODE, gl::COMPARE_REF_TO_TEXTURE as i32);
    let program = t.program(
        FULL_VS,
        "uniform sampler2DShadow image; uniform float reference; in vec2 uv; out vec4 result;
         void main() { result = vec4(texture(image, vec3(uv, reference))); }",
    );
    let reference = t.uniform(program, "reference");
    t.vertex_array();
    type Test = fn(f32, f32) -> bool;
    let functions: [(u32, Test); 6] = [
        (gl::LEQUAL, |r, d| r <= d),
        (gl::GEQUAL, |r, d| r >= d),
        (gl::LESS, |r, d| r < d),
        (gl::GREATER, |r, d| r > d),
        (gl::ALWAYS, |_, _| true),
        (gl::NEVER, |_, _| false),
    ];
    for (function, test) in functions {
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_COMPARE_FUNC, function as i32);
        for r in [0.1f32, 0.5, 0.9] {
            t.uniform_1_f32(Some(&reference), r);
            t.fill();
            let picture = t.read(8, 8);
            for (x, d) in [(1, 0.25), (6, 0.75)] {
                let expected = if test(r, d) { 255 } else { 0 };
                t.pixel(&picture, x, 4, [expected; 4], 0, &format!("{function:#x} {r} against {d}"));
            }
        }
    }
    // With linear filtering the comparison results are mixed, not the depths.
    t.filter(gl::TEXTURE_2D, gl::LINEAR, gl::LINEAR);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_COMPARE_FUNC, gl::LEQUAL as i32);
    t.uniform_1_f32(Some(&reference), 0.5);
    t.viewport(0, 0, 2, 2);
    t.fill();
    t.viewport(0, 0, 8, 8);
    t.fill();
    let picture = t.read(8, 8);
    t.check(
        picture.pixel(2, 4)[0] < picture.pixel(3, 4)[0] && picture.pixel(3, 4)[0] < picture.pixel(4, 4)[0],
        "percentage closer",
    );
}

unsafe fn depth_sampling(t: &Scene) {
    // Depth is rendered, then sampled as an ordinary texture.
    let (color, depth) = (t.create_texture().unwrap(), t.create_texture().unwrap());
    for (texture, internal, format, kind) in [
        (color, gl::RGBA8, gl::RGBA, gl::UNSIGNED_BYTE),
        (depth, gl::DEPTH_COMPONENT32F, gl::DEPTH_COMPONENT, gl::FLOAT),
    ] {
        t.bind_texture(gl::TEXTURE_2D, Some(texture));
        t.tex_image_2d(gl::TEXTURE_2D, 0, internal as i32, 16, 16, 0, format, kind, gl::PixelUnpackData::Slice(None));
        t.filter(gl::TEXTURE_2D, gl::NEAREST, gl::NEAREST);
    }
    t.framebuffer_of(color);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::TEXTURE_2D, Some(depth), 0);
    t.complete();
    t.viewport(0, 0, 16, 16);
    t.enable(gl::DEPTH_TEST);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    t.program(
        "void main() {
            vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
            gl_Position = vec4(uv * 2.0 - 1.0, uv.x * 2.0 - 1.0, 1.0);
         }",
        "out vec4 result; void main() { result = vec4(1.0); }",
    );
    t.vertex_array();
    t.fill();
    t.disable(gl::DEPTH_TEST);
    t.target(16, 16);
    t.bind_texture(gl::TEXTURE_2D, Some(depth));
    t.program(FULL_VS, TEXTURE_FS);
    t.fill();
    let picture = t.read(16, 16);
    for x in [0usize, 7, 15] {
        let d = ((x as f32 + 0.5) / 16.0 * 255.0).round() as u8;
        // GL core: a depth texture reads as (d, 0, 0, 1).
        t.pixel(&picture, x, 8, [d, 0, 0, 255], 1, "depth");
    }
    t.compare("picture", &picture, Tolerance::EDGES);
}

unsafe fn sampler_objects(t: &Scene) {
    t.target(8, 8);
    t.texture(2, 1, &[[255, 0, 0, 255], [0, 0, 255, 255]]);
    let program = t.program(
        FULL_VS,
        "uniform sampler2D a; uniform sampler2D b; in vec2 uv; out vec4 result;
         void main() { result = uv.y < 0.5 ? texture(a, vec2(uv.x * 2.0, 0.5)) : texture(b, vec2(uv.x * 2.0, 0.5)); }",
    );
    let texture = t.get_parameter_texture(gl::TEXTURE_BINDING_2D);
    t.active_texture(gl::TEXTURE3);
    t.bind_texture(gl::TEXTURE_2D, texture);
    t.active_texture(gl::TEXTURE0);
    t.set_int(program, "a", 0);
    t.set_int(program, "b", 3);
    t.vertex_array();
    // One texture on two units, once with its own parameters and once with a sampler's.
    let sampler = t.create_sampler().unwrap();
    t.sampler_parameter_i32(sampler, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_EDGE as i32);
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    t.bind_sampler(3, Some(sampler));
    t.fill();
    let picture = t.read(8, 8);
    t.pixel(&picture, 5, 1, [255, 0, 0, 255], 0, "the texture repeats");
    t.pixel(&picture, 5, 6, [0, 0, 255, 255], 0, "the sampler clamps");
    t.compare("picture", &picture, Tolerance::EXACT);
    // A sampler can make an incomplete texture complete and the other way round.
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    t.fill();
    let picture = t.read(8, 8);
    t.pixel(&picture, 1, 1, [255, 0, 0, 255], 0, "complete through its own filter");
    t.pixel(&picture, 1, 6, [0, 0, 0, 255], 0, "incomplete through the sampler's");
    t.bind_sampler(3, None);
    t.fill();
    t.pixel(&t.read(8, 8), 5, 6, [255, 0, 0, 255], 0, "the texture's own parameters again");
    t.bind_sampler(3, Some(sampler));
    t.delete_sampler(sampler);
    t.fill();
    t.pixel(&t.read(8, 8), 5, 6, [255, 0, 0, 255], 0, "deleting a bound sampler unbinds it");
}

unsafe fn units(t: &Scene) {
    t.target(16, 4);
    let n = 16i32.min(t.get_parameter_i32(gl::MAX_TEXTURE_IMAGE_UNITS));
    t.check(n == 16, format!("{n} texture image units, GL 3.3 asks for 16"));
    let declarations: String = (0..16).map(|i| format!("uniform sampler2D s{i};\n")).collect();
    let body: String = (0..16).map(|i| format!("if (i == {i}) result = texture(s{i}, vec2(0.5));\n")).collect();
    let program = t.program(
        FULL_VS,
        &format!(
            "{declarations} out vec4 result; void main() {{ int i = int(gl_FragCoord.x); result = vec4(0.0); {body} }}"
        ),
    );
    for i in 0..16 {
        t.active_texture(gl::TEXTURE0 + i);
        t.texture(1, 1, &[[i as u8 * 16, 255 - i as u8 * 16, 7, 255]]);
        // In reverse, so that unit and declaration order differ.
        t.set_int(program, &format!("s{i}"), 15 - i as i32);
    }
    t.vertex_array();
    t.fill();
    let picture = t.read(16, 4);
    for x in 0..16usize {
        let u = 15 - x as u8;
        t.pixel(&picture, x, 2, [u * 16, 255 - u * 16, 7, 255], 0, &format!("sampler {x}"));
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn size_and_fetch(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    t.vertex_array();
    let look = |source: &str, what: &str, expected: [f32; 4]| {
        t.program(FULL_VS, source);
        t.fill();
        let v = t.read_floats(1, 1)[0];
        t.equal(v, expected, what);
    };
    let image = |target: u32, d: [i32; 3]| {
        let texture = t.create_texture().unwrap();
        t.bind_texture(target, Some(texture));
        let none = || gl::PixelUnpackData::Slice(None);
        match target {
            gl::TEXTURE_1D => t.tex_image_1d(target, 0, gl::RGBA8 as i32, d[0], 0, gl::RGBA, gl::UNSIGNED_BYTE, none()),
            gl::TEXTURE_1D_ARRAY => {
                t.tex_image_2d(target, 0, gl::RGBA8 as i32, d[0], d[1], 0, gl::RGBA, gl::UNSIGNED_BYTE, none())
            }
            gl::TEXTURE_2D_MULTISAMPLE => t.tex_image_2d_multisample(target, 4, gl::RGBA8 as i32, d[0], d[1], true),
            _ => t.tex_image_3d(target, 0, gl::RGBA8 as i32, d[0], d[1], d[2], 0, gl::RGBA, gl::UNSIGNED_BYTE, none()),
        }
        if target != gl::TEXTURE_2D_MULTISAMPLE {
            t.filter(target, gl::NEAREST, gl::NEAREST);
        }
    };
    image(gl::TEXTURE_1D, [5, 0, 0]);
    look(
        "uniform sampler1D s; out vec4 r; void main() { r = vec4(textureSize(s, 0), 1, 1, 1); }",
        "1D",
        [5.0, 1.0, 1.0, 1.0],
    );
    image(gl::TEXTURE_1D_ARRAY, [6, 3, 0]);
    look(
        "uniform sampler1DArray s; out vec4 r; void main() { r = vec4(textureSize(s, 0), 1, 1); }",
        "1D array",
        [6.0, 3.0, 1.0, 1.0],
    );
    image(gl::TEXTURE_2D_ARRAY, [7, 2, 4]);
    look(
        "uniform sampler2DArray s; out vec4 r; void main() { r = vec4(textureSize(s, 0), 1); }",
        "2D array",
        [7.0, 2.0, 4.0, 1.0],
    );
    image(gl::TEXTURE_3D, [3, 4, 5]);
    look(
        "uniform sampler3D s; out vec4 r; void main() { r = vec4(textureSize(s, 0), 1); }",
        "3D",
        [3.0, 4.0, 5.0, 1.0],
    );
    image(gl::TEXTURE_2D_MULTISAMPLE, [9, 8, 0]);
    look(
        "uniform sampler2DMS s; out vec4 r; void main() { r = vec4(textureSize(s), 1, 1); }",
        "2D multisample",
        [9.0, 8.0, 1.0, 1.0],
    );
    levels(t);
    look(
        "uniform sampler2D s; out vec4 r; void main() { r = vec4(textureSize(s, 1), textureSize(s, 3)); }",
        "mip levels",
        [4.0, 4.0, 1.0, 1.0],
    );
    look(
        "uniform sampler2D s; out vec4 r; void main() { r = texelFetch(s, ivec2(1, 0), 2); }",
        "texelFetch of level 2",
        [0.0, 0.0, 1.0, 1.0],
    );
}

unsafe fn gradients(t: &Scene) {
    t.target(8, 8);
    levels(t);
    t.vertex_array();
    let look = |body: &str, expected: [u8; 4]| {
        t.program(
            FULL_VS,
            &format!("uniform sampler2D s; in vec2 uv; out vec4 result; void main() {{ result = {body}; }}"),
        );
        t.fill();
        t.pixel(&t.read(8, 8), 2, 2, expected, 0, body);
    };
    look("textureGrad(s, uv, vec2(0.125, 0.0), vec2(0.0, 0.125))", LEVELS[0]);
    look("textureGrad(s, uv, vec2(0.5, 0.0), vec2(0.0, 0.25))", LEVELS[2]);
    look("textureProj(s, vec3(uv * 2.0, 2.0), 1.0)", LEVELS[1]);
    t.texture(4, 4, &grid(4));
    look("textureOffset(s, vec2(0.125), ivec2(2, 1))", [170, 85, 128, 255]);
    look("texelFetchOffset(s, ivec2(0, 3), 0, ivec2(1, -1))", [85, 170, 128, 255]);
    look("textureLodOffset(s, vec2(0.125), 0.0, ivec2(-1, 0))", [255, 0, 128, 255]);
}

unsafe fn vertex_fetch(t: &Scene) {
    t.target(16, 4);
    t.texture(4, 1, &[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]]);
    t.program(
        "uniform sampler2D image; flat out vec4 tint;
         void main() {
            int quad = gl_VertexID / 6, corner = gl_VertexID % 6;
            vec2 c = vec2(corner == 1 || corner == 2 || corner == 4 ? 1.0 : 0.0, corner >= 2 && corner != 3 ? 1.0 : 0.0);
            if (corner == 4) c = vec2(1.0, 1.0);
            if (corner == 5) c = vec2(0.0, 1.0);
            gl_Position = vec4((c.x + float(quad)) / 2.0 - 1.0, c.y * 2.0 - 1.0, 0.0, 1.0);
            tint = texelFetch(image, ivec2(quad, 0), 0);
         }",
        "flat in vec4 tint; out vec4 result; void main() { result = tint; }",
    );
    t.vertex_array();
    t.draw_arrays(gl::TRIANGLES, 0, 24);
    let picture = t.read(16, 4);
    for (i, c) in [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]].into_iter().enumerate() {
        t.area(&picture, (i * 4, 0, i * 4 + 4, 4), c, 0, "texture read by the vertex shader");
    }
    t.compare("picture", &picture, Tolerance::EXACT);
}

unsafe fn respecify(t: &Scene) {
    t.target(8, 8);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    t.texture(2, 2, &[[255, 0, 0, 255]; 4]);
    t.fill();
    t.pixel(&t.read(8, 8), 3, 3, [255, 0, 0, 255], 0, "first image");
    // Another size and format under the same name, drawn with at once.
    t.tex_image_2d(
        gl::TEXTURE_2D,
        0,
        gl::RG8 as i32,
        4,
        1,
        0,
        gl::RG,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(&[0, 10, 50, 20, 100, 30, 150, 40])),
    );
    t.fill();
    let picture = t.read(8, 8);
    t.pixel(&picture, 0, 3, [0, 10, 0, 255], 0, "second image, first texel");
    t.pixel(&picture, 7, 3, [150, 40, 0, 255], 0, "second image, last texel");
    // Respecifying one level leaves the other levels and their pending contents alone.
    levels(t);
    t.tex_image_2d(
        gl::TEXTURE_2D,
        1,
        gl::RGBA8 as i32,
        4,
        4,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&[[7u8, 7, 7, 255]; 16]))),
    );
    for (size, expected) in [(8, LEVELS[0]), (4, [7, 7, 7, 255]), (2, LEVELS[2]), (1, LEVELS[3])] {
        t.viewport(0, 0, size, size);
        t.fill();
        t.pixel(&t.read(8, 8), 0, 0, expected, 0, &format!("level of size {size}"));
    }
    // An image without data keeps nothing of the old one's size.
    t.tex_image_2d(
        gl::TEXTURE_2D,
        1,
        gl::RGBA8 as i32,
        3,
        3,
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        gl::PixelUnpackData::Slice(None),
    );
    t.viewport(0, 0, 8, 8);
    t.fill();
    t.pixel(&t.read(8, 8), 0, 0, [0, 0, 0, 255], 0, "a level of the wrong size makes the texture incomplete");
}

unsafe fn integer_base_level(t: &Scene) {
    t.target(4, 4);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_2D, Some(texture));
    for level in 0..3u8 {
        let size = 4 >> level;
        t.tex_image_2d(
            gl::TEXTURE_2D,
            i32::from(level),
            gl::RGBA8UI as i32,
            size,
            size,
            0,
            gl::RGBA_INTEGER,
            gl::UNSIGNED_BYTE,
            gl::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&vec![
                [level + 1, 0, 0, 255];
                (size * size) as usize
            ]))),
        );
    }
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 2);
    t.program(FULL_VS, "uniform usampler2D image; in vec2 uv; out vec4 result; void main() { result = vec4(texture(image, uv)) / 255.0; }");
    t.vertex_array();
    for base in 0..3 {
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, base);
        t.fill();
        t.pixel(&t.read(4, 4), 0, 0, [base as u8 + 1, 0, 0, 255], 0, &format!("base level {base}"));
    }
}
