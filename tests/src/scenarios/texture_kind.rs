//! Kinds of textures in detail: buffer, rectangle, levels, swizzles of odd formats, proxies, mip chains, parameters.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("texture_buffer_formats", buffer_formats),
    Scenario::new("texture_buffer_lifetime", buffer_lifetime),
    Scenario::new("texture_rectangle_sampling", rectangle_sampling),
    Scenario::new("texture_rectangle_at_texel_edges", rectangle_at_texel_edges),
    Scenario::new("texture_levels_out_of_order", levels_out_of_order),
    Scenario::new("texture_levels_completeness", levels_completeness),
    Scenario::new("texture_levels_of_arrays", levels_of_arrays),
    Scenario::new("texture_mipmaps_of_every_target", mipmaps_of_every_target),
    Scenario::new("texture_mipmaps_from_base_level", mipmaps_from_base_level),
    Scenario::new("texture_mipmaps_of_formats", mipmaps_of_formats),
    Scenario::new("texture_mipmap_errors", mipmap_errors)
        .without_reference("Mesa 22.3 makes levels of a cube that is not complete"),
    Scenario::new("texture_swizzle_of_depth_and_integers", swizzle_of_depth_and_integers),
    Scenario::new("texture_swizzle_and_border", swizzle_and_border),
    Scenario::new("texture_proxies", proxies),
    Scenario::new("texture_parameter_variants", parameter_variants),
    Scenario::new("texture_sampler_overrides", sampler_overrides),
    Scenario::new("texture_several_samplers_one_unit", several_samplers_one_unit),
];

const RGBA: (u32, u32) = (gl::RGBA, gl::UNSIGNED_BYTE);

unsafe fn buffer_formats(t: &Scene) {
    t.target_of(4, 1, gl::RGBA32F);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_BUFFER, Some(texture));
    t.vertex_array();
    let program = |kind: &str| {
        t.program(
            FULL_VS,
            &format!(
                "uniform {kind}samplerBuffer image; out vec4 result;
                 void main() {{ result = vec4(texelFetch(image, int(gl_FragCoord.x))); }}"
            ),
        )
    };
    let programs = [program(""), program("i"), program("u")];
    let bytes: Vec<u8> = (0..64).map(|i| i * 3 + 1).collect();
    // The second texel of each format, taken from the bytes by hand.
    let u = |i: usize| f32::from(bytes[i]);
    let short = |i: usize| f32::from(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]));
    let signed = |i: usize| f32::from(bytes[i] as i8);
    let floats: Vec<f32> = (0..16).map(|i| i as f32 * 0.5 - 2.0).collect();
    for (format, sampler, data, expected) in [
        (gl::R8, 0, &bytes[..], [u(1) / 255.0, 0.0, 0.0, 1.0]),
        (gl::RG8, 0, &bytes[..], [u(2) / 255.0, u(3) / 255.0, 0.0, 1.0]),
        (gl::RGBA8, 0, &bytes[..], [u(4) / 255.0, u(5) / 255.0, u(6) / 255.0, u(7) / 255.0]),
        (gl::R16, 0, &bytes[..], [short(1) / 65535.0, 0.0, 0.0, 1.0]),
        (gl::RGBA16, 0, &bytes[..], [4, 5, 6, 7].map(|i| short(i) / 65535.0)),
        (gl::R32F, 0, bytemuck::cast_slice(&floats), [floats[1], 0.0, 0.0, 1.0]),
        (gl::RG32F, 0, bytemuck::cast_slice(&floats), [floats[2], floats[3], 0.0, 1.0]),
        (gl::RGBA32F, 0, bytemuck::cast_slice(&floats), [floats[4], floats[5], floats[6], floats[7]]),
        (gl::R8I, 1, &bytes[..], [signed(1), 0.0, 0.0, 1.0]),
        (gl::RGBA8I, 1, &bytes[..], [4, 5, 6, 7].map(signed)),
        (gl::R8UI, 2, &bytes[..], [u(1), 0.0, 0.0, 1.0]),
        (gl::RG16UI, 2, &bytes[..], [short(2), short(3), 0.0, 1.0]),
        (gl::RGBA16UI, 2, &bytes[..], [4, 5, 6, 7].map(short)),
    ] {
        let buffer = t.buffer(gl::TEXTURE_BUFFER, data);
        t.tex_buffer(gl::TEXTURE_BUFFER, format, Some(buffer));
        t.use_program(Some(programs[sampler]));
        t.fill();
        let v = t.read_floats(4, 1)[1];
        for c in 0..4 {
            t.near(v[c], expected[c], 1e-4, &format!("{format:#x} channel {c}"));
        }
    }
    let buffer = t.buffer(gl::TEXTURE_BUFFER, &bytes);
    for format in [gl::RGB8, gl::DEPTH_COMPONENT16, gl::SRGB8_ALPHA8, gl::RGB10_A2] {
        t.tex_buffer(gl::TEXTURE_BUFFER, format, Some(buffer));
        t.error(gl::INVALID_ENUM, &format!("{format:#x} is no format of buffer textures"));
    }
    t.tex_buffer(gl::TEXTURE_2D, gl::R8, Some(buffer));
    t.error(gl::INVALID_ENUM, "another target");
    t.no_error("buffer textures");
}

unsafe fn buffer_lifetime(t: &Scene) {
    t.target_of(4, 1, gl::RGBA32F);
    let texture = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_BUFFER, Some(texture));
    let program = t.program(
        FULL_VS,
        "uniform samplerBuffer image; out vec4 result;
         void main() { result = vec4(texelFetch(image, int(gl_FragCoord.x)).r, float(textureSize(image)), 0.0, 1.0); }",
    );
    t.use_program(Some(program));
    t.vertex_array();
    let look = |what: &str, expected: &[f32]| {
        t.fill();
        let v = t.read_floats(4, 1);
        for (i, e) in expected.iter().enumerate() {
            t.near(v[i][0], *e, 0.0, &format!("{what}: texel {i}"));
        }
        v[0][1]
    };
    let buffer = t.buffer(gl::TEXTURE_BUFFER, &[1.0f32, 2.0, 3.0, 4.0]);
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::R32F, Some(buffer));
    t.equal(look("attached", &[1.0, 2.0, 3.0, 4.0]), 4.0, "size");
    // New storage of the same buffer, larger than before: seen without touching the texture.
    let larger: Vec<f32> = (0..100).map(|i| i as f32).collect();
    t.buffer_data_u8_slice(gl::TEXTURE_BUFFER, bytemuck::cast_slice(&larger), gl::STATIC_DRAW);
    t.equal(look("orphaned", &[0.0, 1.0, 2.0, 3.0]), 100.0, "size of the new storage");
    // Written by the GPU: transform feedback would do; a copy does as well.
    let other = t.buffer(gl::COPY_READ_BUFFER, &[9.0f32, 8.0]);
    t.copy_buffer_sub_data(gl::COPY_READ_BUFFER, gl::TEXTURE_BUFFER, 0, 4, 8);
    look("after a copy", &[0.0, 9.0, 8.0, 3.0]);
    // Through a mapping.
    let p = t.raw.MapBufferRange(gl::TEXTURE_BUFFER, 0, 4, gl::MAP_WRITE_BIT).cast::<f32>();
    t.check(!p.is_null(), "mapping");
    if !p.is_null() {
        p.write(55.0);
    }
    t.raw.UnmapBuffer(gl::TEXTURE_BUFFER);
    look("after a mapping", &[55.0, 9.0, 8.0, 3.0]);
    // A deleted buffer stays alive through the texture.
    t.bind_buffer(gl::TEXTURE_BUFFER, None);
    t.delete_buffer(buffer);
    look("a deleted buffer", &[55.0, 9.0, 8.0, 3.0]);
    let get = |name| t.get_tex_level_parameter_i32(gl::TEXTURE_BUFFER, 0, name);
    t.equal(get(gl::TEXTURE_INTERNAL_FORMAT) as u32, gl::R32F, "internal format");
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::R32F, Some(other));
    t.equal(look("another buffer", &[9.0, 8.0]), 2.0, "size of the other");
    t.tex_buffer(gl::TEXTURE_BUFFER, gl::R32F, None);
    look("no buffer", &[]);
    t.no_error("the life of a buffer texture");
}

unsafe fn rectangle_sampling(t: &Scene) {
    t.target(16, 16);
    let texture = t.texture_name(gl::TEXTURE_RECTANGLE);
    let texels: Vec<[u8; 4]> = (0..16).map(|i| [(i % 4) * 80, (i / 4) * 80, 0, 255]).collect();
    t.image(gl::TEXTURE_RECTANGLE, 0, gl::RGBA8, [4, 4, 1], RGBA, Some(&texels));
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MIN_FILTER, gl::LINEAR as i32);
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MAG_FILTER, gl::LINEAR as i32);
    t.program(
        FULL_VS,
        "uniform sampler2DRect image; in vec2 uv; out vec4 result;
         void main() {
            vec2 at = uv * 6.0 - 1.0;
            result = texture(image, at);
            if (gl_FragCoord.y > 8.0) result = textureProj(image, vec3(at * 2.0, 2.0));
            if (gl_FragCoord.x > 12.0) result.b = float(textureSize(image).x) / 4.0 * texelFetch(image, ivec2(1, 2)).g;
         }",
    );
    t.vertex_array();
    t.fill();
    let picture = t.read(16, 16);
    // Texel centres lie at half coordinates; (8.5 / 16) * 6 - 1 is 2.1875, 0.6875 of the way from texel 1 to texel 2.
    t.check(picture.pixel(8, 4)[0].abs_diff((80.0 + 80.0 * 0.6875) as u8) <= 2, format!("{:?}", picture.pixel(8, 4)));
    t.pixel(&picture, 0, 0, [0, 0, 0, 255], 1, "clamped to the edge");
    t.pixel(&picture, 14, 14, [240, 240, 160, 255], 1, "clamped and fetched");
    t.compare("linear", &picture, Tolerance { channel: 2, ..Tolerance::EXACT });
    // A border is allowed for rectangles, repetition is not.
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_BORDER as i32);
    t.tex_parameter_f32_slice(gl::TEXTURE_RECTANGLE, gl::TEXTURE_BORDER_COLOR, &[1.0, 0.0, 1.0, 1.0]);
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    t.fill();
    t.pixel(&t.read(16, 16), 0, 5, [255, 0, 255, 255], 0, "the border");
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_WRAP_T, gl::MIRRORED_REPEAT as i32);
    t.error(gl::INVALID_ENUM, "a mirrored rectangle");
    t.tex_parameter_i32(gl::TEXTURE_RECTANGLE, gl::TEXTURE_BASE_LEVEL, 1);
    t.error(gl::INVALID_OPERATION, "a base level of a rectangle");
    t.image::<u8>(gl::TEXTURE_RECTANGLE, 1, gl::RGBA8, [2, 2, 1], RGBA, None);
    t.error(gl::INVALID_VALUE, "level 1 of a rectangle");
    // The state of new rectangles differs from that of other textures.
    t.delete_texture(texture);
    let fresh = t.create_texture().unwrap();
    t.bind_texture(gl::TEXTURE_RECTANGLE, Some(fresh));
    let get = |name| t.get_tex_parameter_i32(gl::TEXTURE_RECTANGLE, name) as u32;
    t.equal(get(gl::TEXTURE_WRAP_S), gl::CLAMP_TO_EDGE, "default wrap");
    t.equal(get(gl::TEXTURE_MIN_FILTER), gl::LINEAR, "default filter");
}

/// A shader that fetches one texel of the level that a large derivative or an explicit level selects.
const LOD_FS: &str = "uniform sampler2D image; uniform float lod; out vec4 result;
     void main() { result = textureLod(image, vec2(0.5), lod); }";

unsafe fn lod(t: &Scene, program: gl::NativeProgram, level: f32) -> [u8; 4] {
    let location = t.uniform(program, "lod");
    t.uniform_1_f32(Some(&location), level);
    t.fill();
    t.read(1, 1).pixel(0, 0)
}

unsafe fn rectangle_at_texel_edges(t: &Scene) {
    // A whole coordinate lies where a texel begins, and without filtering means that texel (GL 3.3 section 3.8.11).
    t.target_of(512, 1, gl::R32F);
    let program = t.program(
        FULL_VS,
        "uniform sampler2DRect image; uniform float height; out vec4 result;
         void main() { result = texture(image, vec2(floor(gl_FragCoord.x), height)); }",
    );
    t.vertex_array();
    t.texture_name(gl::TEXTURE_RECTANGLE);
    for width in [1i32, 3, 7, 10, 49, 100, 251, 333, 511, 512] {
        let texels: Vec<f32> = (0..width * 7).map(|i| i as f32).collect();
        t.image(gl::TEXTURE_RECTANGLE, 0, gl::R32F, [width, 7, 1], (gl::RED, gl::FLOAT), Some(&texels));
        for row in [0, 3, 6] {
            t.uniform_1_f32(t.get_uniform_location(program, "height").as_ref(), row as f32);
            t.fill();
            let v = t.read_as::<f32>(512, 1, gl::RED, gl::FLOAT, 512);
            let wrong = (0..width).find(|x| v[*x as usize] != (row * width + x) as f32);
            t.check(wrong.is_none(), format!("width {width}, row {row}: texel {wrong:?}"));
        }
    }
}

unsafe fn levels_out_of_order(t: &Scene) {
    // Levels are given from the smallest to the largest, then one is replaced, then read while drawing goes on.
    t.target(2, 2);
    let program = t.program(FULL_VS, LOD_FS);
    t.vertex_array();
    t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
    for level in (0..4u8).rev() {
        let size = 8 >> level;
        let texels = vec![[level * 60, 1, 2, 255]; size * size];
        t.image(gl::TEXTURE_2D, i32::from(level), gl::RGBA8, [size as i32, size as i32, 1], RGBA, Some(&texels));
        if level > 0 {
            t.equal(lod(t, program, 0.0), [0, 0, 0, 255], &format!("incomplete with levels {level} and above"));
        }
    }
    for level in 0..4u8 {
        t.equal(lod(t, program, f32::from(level)), [level * 60, 1, 2, 255], &format!("level {level}"));
    }
    // A level of another size makes the texture incomplete, the right one makes it whole again.
    t.image(gl::TEXTURE_2D, 2, gl::RGBA8, [3, 3, 1], RGBA, Some(&[[9u8; 4]; 9]));
    t.equal(lod(t, program, 0.0), [0, 0, 0, 255], "a level of the wrong size");
    t.image(gl::TEXTURE_2D, 2, gl::RGBA8, [2, 2, 1], RGBA, Some(&[[99u8; 4]; 4]));
    t.equal(lod(t, program, 2.0), [99; 4], "the replaced level");
    t.equal(lod(t, program, 1.0), [60, 1, 2, 255], "the level above it");
    t.image(gl::TEXTURE_2D, 2, gl::RGB8, [2, 2, 1], (gl::RGB, gl::UNSIGNED_BYTE), Some(&[8u8; 12]));
    t.equal(lod(t, program, 0.0), [0, 0, 0, 255], "a level of another format");
    // A whole new chain of another size over the old one.
    for level in 0..3u8 {
        let size = 4 >> level;
        let texels = vec![[1, level * 100, 0, 255]; size * size];
        t.image(gl::TEXTURE_2D, i32::from(level), gl::RGBA8, [size as i32, size as i32, 1], RGBA, Some(&texels));
    }
    t.equal(lod(t, program, 1.0), [1, 100, 0, 255], "the new chain");
    t.equal(lod(t, program, 9.0), [1, 200, 0, 255], "its last level");
}

unsafe fn levels_completeness(t: &Scene) {
    t.target(2, 2);
    let program = t.program(FULL_VS, LOD_FS);
    t.vertex_array();
    let black = [0, 0, 0, 255];
    let texture = t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
    for level in 1..4u8 {
        let size = 8 >> level;
        let texels = vec![[level * 50, 0, 0, 255]; size * size];
        t.image(gl::TEXTURE_2D, i32::from(level), gl::RGBA8, [size as i32, size as i32, 1], RGBA, Some(&texels));
    }
    t.equal(lod(t, program, 0.0), black, "no image at the base level");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, 1);
    t.equal(lod(t, program, 0.0), [50, 0, 0, 255], "base level 1, no mip filter");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
    t.equal(lod(t, program, 1.0), [100, 0, 0, 255], "base level 1, mip filter");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 0);
    t.equal(lod(t, program, 0.0), black, "a base level above the greatest level");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 2);
    t.equal(lod(t, program, 5.0), [100, 0, 0, 255], "the greatest level cuts");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, 3);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 3);
    t.equal(lod(t, program, 0.0), [150, 0, 0, 255], "the last level alone");
    // A cube with faces of different sizes, and one whose faces are of different formats.
    t.bind_texture(gl::TEXTURE_2D, None);
    t.program(
        FULL_VS,
        "uniform samplerCube image; out vec4 result; void main() { result = texture(image, vec3(1.0, 0.1, 0.1)); }",
    );
    t.texture_name(gl::TEXTURE_CUBE_MAP);
    let face = |i: u32, size: i32, format: u32| {
        let texels = vec![[200u8, 1, 1, 255]; (size * size) as usize];
        t.image(gl::TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, format, [size, size, 1], RGBA, Some(&texels));
    };
    let look = |expected: [u8; 4], what: &str| {
        t.fill();
        t.pixel(&t.read(2, 2), 0, 0, expected, 0, what);
    };
    for i in 0..5 {
        face(i, 4, gl::RGBA8);
    }
    look(black, "five faces");
    face(5, 2, gl::RGBA8);
    look(black, "a face of another size");
    face(5, 4, gl::RGB8);
    look(black, "a face of another format");
    face(5, 4, gl::RGBA8);
    look([200, 1, 1, 255], "six equal faces");
    // Integers are never filtered: a linear filter makes the texture incomplete.
    t.program(
        FULL_VS,
        "uniform usampler2D image; out vec4 result;
         void main() { uvec4 v = texture(image, vec2(0.5)); result = vec4(v) / 255.0; }",
    );
    t.texture_name(gl::TEXTURE_2D);
    t.image(gl::TEXTURE_2D, 0, gl::RGBA8UI, [1, 1, 1], (gl::RGBA_INTEGER, RGBA.1), Some(&[7u8, 8, 9, 10]));
    look([7, 8, 9, 10], "integers, nearest");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAG_FILTER, gl::LINEAR as i32);
    t.fill();
    let v = t.read(2, 2).pixel(0, 0);
    t.check(v[..3] == [0; 3], format!("integers, linear: {v:?}"));
    t.delete_texture(texture);
}

unsafe fn levels_of_arrays(t: &Scene) {
    // Layers keep their number in every level, slices halve.
    t.target(2, 2);
    t.vertex_array();
    for (target, kind) in [(gl::TEXTURE_2D_ARRAY, "sampler2DArray"), (gl::TEXTURE_3D, "sampler3D")] {
        t.texture_name(target);
        t.tex_parameter_i32(target, gl::TEXTURE_MIN_FILTER, gl::NEAREST_MIPMAP_NEAREST as i32);
        t.tex_parameter_i32(target, gl::TEXTURE_MAX_LEVEL, 2);
        for level in 0..3 {
            let size = 4 >> level;
            let depth = if target == gl::TEXTURE_3D { size } else { 4 };
            let texels: Vec<[u8; 4]> =
                (0..size * size * depth).map(|i| [(i / (size * size)) as u8 * 10, level as u8 * 100, 0, 255]).collect();
            t.image(target, level, gl::RGBA8, [size, size, depth], RGBA, Some(&texels));
        }
        let program = t.program(
            FULL_VS,
            &format!(
                "uniform {kind} image; uniform int level; uniform int layer; out vec4 result;
                 void main() {{
                    result = texelFetch(image, ivec3(0, 0, layer), level);
                    result.b = float(textureSize(image, level).z) / 255.0;
                 }}"
            ),
        );
        for level in 0..3 {
            let depth = if target == gl::TEXTURE_3D { 4 >> level } else { 4 };
            for layer in 0..depth {
                t.set_int(program, "level", level);
                t.set_int(program, "layer", layer);
                t.fill();
                let expected = [layer as u8 * 10, level as u8 * 100, depth as u8, 255];
                t.pixel(&t.read(2, 2), 0, 0, expected, 0, &format!("{kind} level {level} layer {layer}"));
            }
        }
    }
}

unsafe fn mipmaps_of_every_target(t: &Scene) {
    // 4 texels across, red 0, 40, 80, 120; blue by layer: level 1 has the means 20 and 100.
    let texel = |i: usize, layer: usize| [(i % 4) as u8 * 40, 0, layer as u8 * 60, 255];
    for (target, size) in [
        (gl::TEXTURE_1D, [4, 1, 1]),
        (gl::TEXTURE_2D, [4, 4, 1]),
        (gl::TEXTURE_1D_ARRAY, [4, 3, 1]),
        (gl::TEXTURE_2D_ARRAY, [4, 4, 3]),
        (gl::TEXTURE_3D, [4, 4, 4]),
        (gl::TEXTURE_CUBE_MAP, [4, 4, 1]),
    ] {
        t.texture_name(target);
        t.tex_parameter_i32(target, gl::TEXTURE_MAX_LEVEL, 1000);
        let cube = target == gl::TEXTURE_CUBE_MAP;
        let per_layer = if matches!(target, gl::TEXTURE_1D | gl::TEXTURE_1D_ARRAY) { 4 } else { 16 };
        let n = (size[0] * size[1] * size[2]) as usize;
        let texels: Vec<[u8; 4]> = (0..n).map(|i| texel(i, i / per_layer)).collect();
        if cube {
            for face in 0..6usize {
                let texels: Vec<[u8; 4]> = (0..16).map(|i| texel(i, face % 4)).collect();
                t.image(gl::TEXTURE_CUBE_MAP_POSITIVE_X + face as u32, 0, gl::RGBA8, size, RGBA, Some(&texels));
            }
        } else {
            t.image(target, 0, gl::RGBA8, size, RGBA, Some(&texels));
        }
        t.generate_mipmap(target);
        t.no_error(&format!("{target:#x}"));
        let images: Vec<u32> =
            if cube { (0..6).map(|f| gl::TEXTURE_CUBE_MAP_POSITIVE_X + f).collect() } else { vec![target] };
        for (face, image) in images.into_iter().enumerate() {
            let get = |level, name| t.get_tex_level_parameter_i32(image, level, name);
            t.equal(get(1, gl::TEXTURE_WIDTH), 2, "width of level 1");
            t.equal(get(2, gl::TEXTURE_WIDTH), 1, "width of level 2");
            let (h, d) = (get(1, gl::TEXTURE_HEIGHT), get(1, gl::TEXTURE_DEPTH));
            let expected = match target {
                gl::TEXTURE_1D => (1, 1),
                gl::TEXTURE_1D_ARRAY => (3, 1),
                gl::TEXTURE_2D_ARRAY => (2, 3),
                gl::TEXTURE_3D => (2, 2),
                _ => (2, 1),
            };
            t.equal((h, d), expected, &format!("size of level 1 of {image:#x}"));
            let v = t.texels::<[u8; 4]>(image, 1, gl::RGBA, gl::UNSIGNED_BYTE, 2 * (h * d) as usize);
            let (first, last) = (v[0], v[v.len() - 1]);
            t.check(
                first[0].abs_diff(20) <= 1 && last[0].abs_diff(100) <= 1,
                format!("{image:#x}: {first:?} {last:?}"),
            );
            let blue = match target {
                gl::TEXTURE_1D_ARRAY | gl::TEXTURE_2D_ARRAY => 120,
                gl::TEXTURE_3D => 150,
                gl::TEXTURE_CUBE_MAP => (face % 4) as u8 * 60,
                _ => 0,
            };
            t.check(last[2].abs_diff(blue) <= 1, format!("{image:#x}: blue of the last texel {last:?}, not {blue}"));
        }
    }
}

unsafe fn mipmaps_from_base_level(t: &Scene) {
    // Generation starts at the base level, ends at the greatest level, and leaves the levels outside alone.
    t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
    for level in 0..5 {
        let size = 16 >> level;
        let texels = vec![[level as u8 + 1; 4]; (size * size) as usize];
        t.image(gl::TEXTURE_2D, level, gl::RGBA8, [size, size, 1], RGBA, Some(&texels));
    }
    t.image(gl::TEXTURE_2D, 1, gl::RGBA8, [8, 8, 1], RGBA, Some(&[[100u8; 4]; 64]));
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, 1);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 3);
    t.generate_mipmap(gl::TEXTURE_2D);
    for (level, expected) in [1, 100, 100, 100, 5].into_iter().enumerate() {
        let n = (16usize >> level) * (16 >> level);
        let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, level as i32, gl::RGBA, gl::UNSIGNED_BYTE, n);
        t.check(v.iter().all(|p| *p == [expected; 4]), format!("level {level}: {:?}, not {expected}", v[0]));
    }
    // Sizes that are no powers of two round down.
    t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
    t.image(gl::TEXTURE_2D, 0, gl::RGBA8, [7, 5, 1], RGBA, Some(&[[60u8, 70, 80, 90]; 35]));
    t.generate_mipmap(gl::TEXTURE_2D);
    let get = |level, name| t.get_tex_level_parameter_i32(gl::TEXTURE_2D, level, name);
    t.equal([get(1, gl::TEXTURE_WIDTH), get(1, gl::TEXTURE_HEIGHT)], [3, 2], "level 1 of 7 x 5");
    t.equal([get(2, gl::TEXTURE_WIDTH), get(2, gl::TEXTURE_HEIGHT)], [1, 1], "level 2 of 7 x 5");
    t.equal(get(3, gl::TEXTURE_WIDTH), 0, "there is no level 3");
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 1, gl::RGBA, gl::UNSIGNED_BYTE, 6);
    t.check(v.iter().all(|p| *p == [60, 70, 80, 90]), format!("a flat image stays flat: {v:?}"));
    // After a new base image the chain is made anew.
    t.image(gl::TEXTURE_2D, 0, gl::RGBA8, [7, 5, 1], RGBA, Some(&[[10u8; 4]; 35]));
    t.generate_mipmap(gl::TEXTURE_2D);
    t.equal(t.texels::<[u8; 4]>(gl::TEXTURE_2D, 2, gl::RGBA, gl::UNSIGNED_BYTE, 1)[0], [10; 4], "made anew");
}

unsafe fn mipmaps_of_formats(t: &Scene) {
    // The mean of black and white in every class of format that can be filtered; sRGB averages what is decoded.
    for (internal, expected, step) in [
        (gl::R8, 0.5, 0.003),
        (gl::RGB8, 0.5, 0.003),
        (gl::RGBA16, 0.5, 0.001),
        (gl::RGBA16F, 0.5, 0.001),
        (gl::R32F, 0.5, 0.0),
        (gl::RGB10_A2, 0.5, 0.002),
        (gl::R11F_G11F_B10F, 0.5, 0.01),
        (gl::RG8_SNORM, 0.5, 0.005),
        (gl::RGB5_A1, 0.5, 0.03),
        (gl::SRGB8_ALPHA8, 0.735, 0.005),
    ] {
        t.texture_name(gl::TEXTURE_2D);
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
        let texels: Vec<[f32; 4]> = (0..4).map(|i| [(i % 2) as f32; 4]).collect();
        t.image(gl::TEXTURE_2D, 0, internal, [2, 2, 1], (gl::RGBA, gl::FLOAT), Some(&texels));
        t.generate_mipmap(gl::TEXTURE_2D);
        t.no_error(&format!("{internal:#x}"));
        let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 1, gl::RGBA, gl::FLOAT, 1)[0];
        t.near(v[0], expected, step, &format!("the mean in {internal:#x}"));
    }
}

unsafe fn mipmap_errors(t: &Scene) {
    t.texture_name(gl::TEXTURE_CUBE_MAP);
    t.image::<u8>(gl::TEXTURE_CUBE_MAP_POSITIVE_X, 0, gl::RGBA8, [4, 4, 1], RGBA, None);
    t.generate_mipmap(gl::TEXTURE_CUBE_MAP);
    t.error(gl::INVALID_OPERATION, "a cube of one face");
    for (target, what) in [(gl::TEXTURE_RECTANGLE, "a rectangle"), (gl::TEXTURE_BUFFER, "a buffer texture")] {
        t.generate_mipmap(target);
        t.error(gl::INVALID_ENUM, what);
    }
}

unsafe fn swizzle_of_depth_and_integers(t: &Scene) {
    t.target_of(1, 1, gl::RGBA32F);
    t.vertex_array();
    let set = |s: [u32; 4]| {
        t.tex_parameter_i32_slice(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_RGBA, &s.map(|v| v as i32));
    };
    t.texture_name(gl::TEXTURE_2D);
    t.image(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT32F, [1, 1, 1], (gl::DEPTH_COMPONENT, gl::FLOAT), Some(&[0.25f32]));
    t.program(FULL_VS, TEXTURE_FS);
    t.fill();
    t.near(t.read_floats(1, 1)[0][0], 0.25, 1e-6, "depth is red");
    set([gl::ONE, gl::RED, gl::ZERO, gl::RED]);
    t.fill();
    let v = t.read_floats(1, 1)[0];
    for (c, e) in [1.0, 0.25, 0.0, 0.25].into_iter().enumerate() {
        t.near(v[c], e, 1e-6, &format!("swizzled depth, channel {c}"));
    }
    t.texture_name(gl::TEXTURE_2D);
    t.image(gl::TEXTURE_2D, 0, gl::RG16UI, [1, 1, 1], (gl::RG_INTEGER, gl::UNSIGNED_INT), Some(&[500u32, 7]));
    t.program(
        FULL_VS,
        "uniform usampler2D image; out vec4 result; void main() { result = vec4(texture(image, vec2(0.5))); }",
    );
    set([gl::GREEN, gl::ALPHA, gl::RED, gl::BLUE]);
    t.fill();
    t.equal(t.read_floats(1, 1)[0], [7.0, 1.0, 500.0, 0.0], "swizzled integers: ONE is the integer 1");
    set([gl::ZERO, gl::ONE, gl::GREEN, gl::RED]);
    t.program(
        FULL_VS,
        "uniform usampler2D image; out vec4 result; void main() { result = vec4(texelFetch(image, ivec2(0), 0)); }",
    );
    t.fill();
    t.equal(t.read_floats(1, 1)[0], [0.0, 1.0, 7.0, 500.0], "texelFetch swizzles as well");
    // Read-back, attachments and copies see what is stored, not the swizzle.
    let v = t.texels::<[u32; 2]>(gl::TEXTURE_2D, 0, gl::RG_INTEGER, gl::UNSIGNED_INT, 1);
    t.equal(v[0], [500, 7], "glGetTexImage does not swizzle");
}

unsafe fn swizzle_and_border(t: &Scene) {
    // A border colour goes through the swizzle like a texel (GL 3.3 section 3.9.2), by the components of the format.
    t.target(2, 2);
    t.program(
        FULL_VS,
        "uniform sampler2D image; out vec4 result; void main() { result = texture(image, vec2(-3.0, 0.5)); }",
    );
    t.vertex_array();
    let border = [0.2f32, 0.4, 0.6, 0.8];
    let texture = |internal: u32| {
        t.texture_name(gl::TEXTURE_2D);
        t.image(gl::TEXTURE_2D, 0, internal, [1, 1, 1], RGBA, Some(&[[9u8; 4]]));
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_BORDER as i32);
        t.tex_parameter_f32_slice(gl::TEXTURE_2D, gl::TEXTURE_BORDER_COLOR, &border);
    };
    for (internal, expected) in [
        (gl::RGBA8, [51, 102, 153, 204]),
        (gl::RGB8, [51, 102, 153, 255]),
        (gl::RG8, [51, 102, 0, 255]),
        (gl::R8, [51, 0, 0, 255]),
    ] {
        texture(internal);
        t.fill();
        t.pixel(&t.read(2, 2), 0, 0, expected, 1, &format!("border of {internal:#x}"));
        let swizzle = [gl::GREEN, gl::RED, gl::ALPHA, gl::ONE];
        for (i, s) in swizzle.into_iter().enumerate() {
            t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R + i as u32, s as i32);
        }
        t.fill();
        let picture = t.read(2, 2);
        let e = expected;
        t.pixel(&picture, 0, 0, [e[1], e[0], e[3], 255], 1, &format!("swizzled border of {internal:#x}"));
    }
}

unsafe fn proxies(t: &Scene) {
    let get = |target, name| t.get_tex_level_parameter_i32(target, 0, name);
    let most = t.get_parameter_i32(gl::MAX_TEXTURE_SIZE);
    let (proxy_2d, proxy_3d, proxy_cube, proxy_rectangle) = (0x8064, 0x8070, 0x851B, 0x84F7);
    t.raw.TexImage2D(proxy_2d, 0, gl::RGBA16F as i32, 64, 32, 0, RGBA.0, RGBA.1, std::ptr::null());
    t.equal([get(proxy_2d, gl::TEXTURE_WIDTH), get(proxy_2d, gl::TEXTURE_HEIGHT)], [64, 32], "a good size");
    t.equal(get(proxy_2d, gl::TEXTURE_INTERNAL_FORMAT) as u32, gl::RGBA16F, "its format");
    t.equal(get(proxy_2d, gl::TEXTURE_RED_SIZE), 16, "its bits");
    t.no_error("a proxy");
    // What cannot be had is no error for a proxy; its state is cleared.
    t.raw.TexImage2D(proxy_2d, 0, gl::RGBA8 as i32, most + 1, 32, 0, RGBA.0, RGBA.1, std::ptr::null());
    t.no_error("a proxy that is too large");
    t.equal([get(proxy_2d, gl::TEXTURE_WIDTH), get(proxy_2d, gl::TEXTURE_HEIGHT)], [0, 0], "too large");
    t.tex_image_3d(proxy_3d, 0, gl::RGBA8 as i32, 8, 9, 10, 0, RGBA.0, RGBA.1, gl::PixelUnpackData::Slice(None));
    t.equal(get(proxy_3d, gl::TEXTURE_DEPTH), 10, "a 3D proxy");
    t.raw.TexImage2D(proxy_cube, 0, gl::RGBA8 as i32, 16, 16, 0, RGBA.0, RGBA.1, std::ptr::null());
    t.equal(get(proxy_cube, gl::TEXTURE_WIDTH), 16, "a cube proxy");
    t.raw.TexImage2D(proxy_rectangle, 0, gl::R8 as i32, 17, 3, 0, gl::RED, RGBA.1, std::ptr::null());
    t.equal(get(proxy_rectangle, gl::TEXTURE_WIDTH), 17, "a rectangle proxy");
    // Wrong arguments are errors as ever.
    t.raw.TexImage2D(proxy_2d, 0, gl::RGBA8 as i32, 4, 4, 0, gl::BLEND, RGBA.1, std::ptr::null());
    t.error(gl::INVALID_ENUM, "a format that is none");
    t.raw.BindTexture(proxy_2d, 0);
    t.error(gl::INVALID_ENUM, "a proxy is no binding point");
}

unsafe fn parameter_variants(t: &Scene) {
    t.texture(2, 2, &[[0; 4]; 4]);
    let target = gl::TEXTURE_2D;
    // Integers, floats and the pure integer forms of one border colour.
    t.tex_parameter_f32_slice(target, gl::TEXTURE_BORDER_COLOR, &[0.25, 1.0, -1.0, 2.0]);
    let mut f = [0.0f32; 4];
    t.raw.GetTexParameterfv(target, gl::TEXTURE_BORDER_COLOR, f.as_mut_ptr());
    t.equal(f, [0.25, 1.0, -1.0, 2.0], "floats are not clamped");
    t.tex_parameter_i32_slice(target, gl::TEXTURE_BORDER_COLOR, &[i32::MAX, 0, i32::MAX / 2, i32::MAX]);
    t.raw.GetTexParameterfv(target, gl::TEXTURE_BORDER_COLOR, f.as_mut_ptr());
    t.check((f[0] - 1.0).abs() < 1e-6 && (f[2] - 0.5).abs() < 1e-6, format!("integers are normalised: {f:?}"));
    t.raw.TexParameterIiv(target, gl::TEXTURE_BORDER_COLOR, [-5, 6, 7, 8].as_ptr());
    let mut i = [0; 4];
    t.raw.GetTexParameterIiv(target, gl::TEXTURE_BORDER_COLOR, i.as_mut_ptr());
    t.equal(i, [-5, 6, 7, 8], "pure integers are kept");
    for (name, value, other) in [
        (gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_NEAREST, gl::BLEND),
        (gl::TEXTURE_MAG_FILTER, gl::LINEAR, gl::NEAREST_MIPMAP_NEAREST),
        (gl::TEXTURE_WRAP_S, gl::MIRRORED_REPEAT, gl::LINEAR),
        (gl::TEXTURE_WRAP_T, gl::CLAMP_TO_BORDER, 0),
        (gl::TEXTURE_WRAP_R, gl::CLAMP_TO_EDGE, 0x2900),
        (gl::TEXTURE_COMPARE_MODE, gl::COMPARE_REF_TO_TEXTURE, gl::LESS),
        (gl::TEXTURE_COMPARE_FUNC, gl::GREATER, gl::NONE),
        (gl::TEXTURE_SWIZZLE_G, gl::ALPHA, gl::RGBA),
    ] {
        t.tex_parameter_i32(target, name, value as i32);
        t.no_error(&format!("{name:#x} of {value:#x}"));
        t.tex_parameter_i32(target, name, other as i32);
        t.error(gl::INVALID_ENUM, &format!("{name:#x} of {other:#x}"));
        t.equal(t.get_tex_parameter_i32(target, name) as u32, value, &format!("{name:#x} after the error"));
        t.equal(t.get_tex_parameter_f32(target, name), value as f32, &format!("{name:#x} as a float"));
        t.tex_parameter_f32(target, name, value as f32);
        t.no_error(&format!("{name:#x} as a float"));
    }
    t.tex_parameter_f32(target, gl::TEXTURE_MAX_LEVEL, 6.7);
    t.equal(t.get_tex_parameter_i32(target, gl::TEXTURE_MAX_LEVEL), 7, "a float for an integer is rounded");
    t.tex_parameter_f32(target, gl::TEXTURE_MAX_LOD, 4.5);
    let rounded = t.get_tex_parameter_i32(target, gl::TEXTURE_MAX_LOD);
    t.check((4..=5).contains(&rounded), format!("a float read as an integer: {rounded}"));
    for name in [gl::TEXTURE_BASE_LEVEL, gl::TEXTURE_MAX_LEVEL] {
        t.tex_parameter_i32(target, name, -1);
        t.error(gl::INVALID_VALUE, &format!("{name:#x} of -1"));
    }
    t.raw.TexParameteri(target, gl::TEXTURE_BORDER_COLOR, 1);
    t.error(gl::INVALID_ENUM, "a border colour takes four values");
    t.get_tex_parameter_i32(target, gl::TEXTURE_WIDTH);
    t.error(gl::INVALID_ENUM, "the width belongs to a level");
    t.get_tex_parameter_i32(gl::BLEND, gl::TEXTURE_WRAP_S);
    t.error(gl::INVALID_ENUM, "a target that is none");
}

unsafe fn sampler_overrides(t: &Scene) {
    // A sampler object bound to the unit decides everything that samplers have; levels and swizzle stay the texture's.
    t.target(4, 4);
    t.program(
        FULL_VS,
        "uniform sampler2D image; out vec4 result; void main() { result = texture(image, vec2(1.25, 0.5)); }",
    );
    t.vertex_array();
    t.texture(2, 1, &[[255, 0, 0, 255], [0, 0, 255, 255]]);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_EDGE as i32);
    let look = |expected: [u8; 4], what: &str| {
        t.fill();
        t.pixel(&t.read(4, 4), 1, 1, expected, 1, what);
    };
    look([0, 0, 255, 255], "the texture's own state: clamped");
    let sampler = t.create_sampler().unwrap();
    t.bind_sampler(0, Some(sampler));
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32);
    look([255, 0, 0, 255], "the sampler repeats");
    t.sampler_parameter_i32(sampler, gl::TEXTURE_WRAP_S, gl::CLAMP_TO_BORDER as i32);
    t.sampler_parameter_f32_slice(sampler, gl::TEXTURE_BORDER_COLOR, &[0.0, 1.0, 0.0, 1.0]);
    look([0, 255, 0, 255], "the sampler's border");
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_R, gl::GREEN as i32);
    look([255, 255, 0, 255], "the texture's swizzle");
    t.sampler_parameter_i32(sampler, gl::TEXTURE_WRAP_S, gl::REPEAT as i32);
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_LINEAR as i32);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 5);
    look([0, 0, 0, 255], "the sampler's filter makes the texture incomplete");
    t.bind_sampler(0, None);
    look([0, 0, 255, 255], "without the sampler");
    t.bind_sampler(0, Some(sampler));
    t.delete_sampler(sampler);
    t.equal(t.get_parameter_i32(gl::SAMPLER_BINDING), 0, "a deleted sampler is unbound");
    look([0, 0, 255, 255], "after its deletion");
    let units = t.get_parameter_i32(gl::MAX_COMBINED_TEXTURE_IMAGE_UNITS) as u32;
    t.bind_sampler(units, None);
    t.error(gl::INVALID_VALUE, "a unit past the last");
    let bad = gl::NativeSampler(std::num::NonZeroU32::new(99_999).unwrap());
    t.bind_sampler(0, Some(bad));
    t.error(gl::INVALID_OPERATION, "a name that was not generated");
    let sampler = t.create_sampler().unwrap();
    t.sampler_parameter_i32(sampler, gl::TEXTURE_MAX_LEVEL, 1);
    t.error(gl::INVALID_ENUM, "levels are no sampler state");
    t.sampler_parameter_i32(sampler, gl::TEXTURE_WRAP_S, gl::LINEAR as i32);
    t.error(gl::INVALID_ENUM, "a wrap mode that is none");
}

unsafe fn several_samplers_one_unit(t: &Scene) {
    // A unit has a binding for every target; two samplers of different types must not share it in one program.
    t.target(2, 2);
    let source = "uniform sampler2D a; uniform sampler3D b; out vec4 result;
                  void main() { result = texture(a, vec2(0.5)) + texture(b, vec3(0.5)); }";
    let program = t.program(FULL_VS, source);
    t.vertex_array();
    t.texture(1, 1, &[[10, 20, 30, 40]]);
    t.texture_name(gl::TEXTURE_3D);
    t.image(gl::TEXTURE_3D, 0, gl::RGBA8, [1, 1, 1], RGBA, Some(&[1u8, 2, 3, 4]));
    t.set_int(program, "a", 0);
    t.set_int(program, "b", 0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.fill();
    t.error(gl::INVALID_OPERATION, "two types of sampler on one unit");
    t.validate_program(program);
    t.check(!t.get_program_validate_status(program), "the validation says so");
    t.pixel(&t.read(2, 2), 0, 0, [0; 4], 0, "nothing was drawn");
    t.active_texture(gl::TEXTURE1);
    let volume = t.texture_name(gl::TEXTURE_3D);
    t.image(gl::TEXTURE_3D, 0, gl::RGBA8, [1, 1, 1], RGBA, Some(&[5u8, 6, 7, 8]));
    t.set_int(program, "b", 1);
    t.fill();
    t.pixel(&t.read(2, 2), 0, 0, [15, 26, 37, 48], 0, "each on its own unit");
    t.validate_program(program);
    t.check(t.get_program_validate_status(program), "valid now");
    // Two samplers of one type may share a unit.
    let both = t.program(
        FULL_VS,
        "uniform sampler2D a; uniform sampler2D b; out vec4 result;
         void main() { result = texture(a, vec2(0.5)) + texture(b, vec2(0.5)); }",
    );
    t.set_int(both, "a", 0);
    t.set_int(both, "b", 0);
    t.fill();
    t.pixel(&t.read(2, 2), 0, 0, [20, 40, 60, 80], 0, "one unit for two samplers");
    let units = t.get_parameter_i32(gl::MAX_COMBINED_TEXTURE_IMAGE_UNITS);
    t.set_int(both, "a", units);
    t.error(gl::INVALID_VALUE, "a unit past the last");
    t.fill();
    t.pixel(&t.read(2, 2), 0, 0, [20, 40, 60, 80], 0, "the unit before the error");
    t.delete_texture(volume);
    t.active_texture(gl::TEXTURE0);
}
