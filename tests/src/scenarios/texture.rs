//! Textures: every target, size queries, fetches, respecification.

use glow::{self as gl, HasContext as _};

use super::texture_sampling::{grid, levels, LEVELS};
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
    Scenario::new("texture_size_and_fetch", size_and_fetch),
    Scenario::new("texture_vertex_fetch", vertex_fetch),
    Scenario::new("texture_respecify", respecify),
];

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
    for (i, texel) in texels.into_iter().enumerate() {
        let expected = if i == 3 { [9, 8, 7, 255] } else { texel };
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
