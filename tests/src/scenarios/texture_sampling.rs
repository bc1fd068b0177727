//! Texture sampling: filters, wrapping, borders, mip levels, comparison, sampler objects, units.

use glow::{self as gl, HasContext as _};

use crate::picture::Tolerance;
use crate::scene::{Scenario, Scene, FULL_VS, TEXTURE_FS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("texture_filter", filter),
    Scenario::new("texture_wrap", wrap),
    Scenario::new("texture_border_color", border_color),
    Scenario::new("texture_lod_selection", lod_selection),
    Scenario::new("texture_lod_bias_everywhere", lod_bias_everywhere),
    Scenario::new("texture_base_max_level", base_max_level),
    Scenario::new("texture_generate_mipmap", generate_mipmap),
    Scenario::new("texture_incomplete_is_black", incomplete),
    Scenario::new("texture_shadow", shadow),
    Scenario::new("texture_depth_sampling", depth_sampling),
    Scenario::new("texture_sampler_objects", sampler_objects),
    Scenario::new("texture_units", units),
    Scenario::new("texture_gradients_and_offsets", gradients),
    Scenario::new("texture_integer_base_level", integer_base_level),
    Scenario::new("texture_huge_base_level", huge_base_level)
        .without_reference("Mesa 22.3 crashes in glGenerateMipmap with a base level that no texture has"),
];

/// The colours of a 4 × 4 picture: red rises with x, green with y.
pub(super) fn grid(n: usize) -> Vec<[u8; 4]> {
    let step = 255 / (n - 1).max(1);
    (0..n * n).map(|i| [(i % n * step) as u8, (i / n * step) as u8, 128, 255]).collect()
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
pub(super) const LEVELS: [[u8; 4]; 4] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255]];

pub(super) unsafe fn levels(t: &Scene) -> gl::NativeTexture {
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

/// The bias of a texture also counts where functions take its sampler, and for levels that come from gradients.
unsafe fn lod_bias_everywhere(t: &Scene) {
    t.target(8, 8);
    levels(t);
    t.vertex_array();
    for (what, call) in [
        ("a function", "pick(image, uv)"),
        ("a function of a function", "through(uv, image)"),
        ("gradients", "textureGrad(image, uv, vec2(1.0 / 8.0, 0.0), vec2(0.0, 1.0 / 8.0))"),
        ("a named level", "textureLod(image, uv, 0.0)"),
        ("a bias in the call", "texture(image, uv, 1.0)"),
        ("an offset", "textureOffset(image, uv, ivec2(0))"),
    ] {
        let fragment = format!(
            "uniform sampler2D image; in vec2 uv; out vec4 color;\n\
             vec4 pick(sampler2D s, vec2 at) {{ return texture(s, at); }}\n\
             vec4 through(vec2 at, sampler2D s) {{ return pick(s, at); }}\n\
             void main() {{ color = {call}; }}\n"
        );
        let program = t.program(FULL_VS, &fragment);
        t.set_int(program, "image", 0);
        for bias in [0usize, 1, 2] {
            t.tex_parameter_f32(gl::TEXTURE_2D, gl::TEXTURE_LOD_BIAS, bias as f32);
            t.fill();
            let level = bias + usize::from(what == "a bias in the call");
            t.pixel(&t.read(8, 8), 0, 0, LEVELS[level], 0, &format!("{what}, biased by {bias}"));
        }
    }
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

/// Base and maximum levels far outside of what a texture has: nothing crashes, and the texture is usable afterwards.
unsafe fn huge_base_level(t: &Scene) {
    t.target(8, 8);
    levels(t);
    t.program(FULL_VS, TEXTURE_FS);
    t.vertex_array();
    for (base, max) in [(1_000_000, 1_000_001), (i32::MAX, i32::MAX), (5, 2), (4, 1000), (2, 1_000_000)] {
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, base);
        t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, max);
        t.fill();
        let expected = if base == 2 { LEVELS[2] } else { [0, 0, 0, 255] };
        t.pixel(&t.read(8, 8), 1, 1, expected, 0, &format!("base level {base}, maximum {max}"));
        if base > 100 {
            // There is no base level to make the others from; whether that is an error differs between versions of GL.
            t.generate_mipmap(gl::TEXTURE_2D);
            let _ = t.get_error();
        }
    }
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, 0);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1000);
    t.fill();
    t.pixel(&t.read(8, 8), 1, 1, LEVELS[0], 0, "back to the ordinary range");
}
