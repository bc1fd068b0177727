//! Copies from the framebuffer into textures: component rules, every target and source, depth and stencil, errors.

use glow::{self as gl, HasContext as _};

use crate::scene::{transfer_of, Scenario, Scene, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("copy_component_rules", component_rules),
    Scenario::new("copy_conversions", conversions),
    Scenario::new("copy_into_every_target", into_every_target),
    Scenario::new("copy_from_every_source", from_every_source),
    Scenario::new("copy_depth_stencil", depth_stencil),
    Scenario::new("copy_into_block_formats", into_block_formats),
    Scenario::new("copy_into_parts_of_block_formats", into_parts_of_block_formats),
    Scenario::new("copy_errors", errors),
    Scenario::new("copy_feeds_the_next_draw", feeds_the_next_draw),
];

const GRADIENT_FS: &str =
    "in vec2 uv; out vec4 result; void main() { result = vec4(floor(gl_FragCoord.xy) * 16.0, 7.0, 255.0) / 255.0; }";

/// Draws (16 x, 16 y, 7, 255) into every pixel of the bound framebuffer.
unsafe fn draw_gradient(t: &Scene) {
    t.program(FULL_VS, GRADIENT_FS);
    t.vertex_array();
    t.fill();
}

fn at(x: usize, y: usize) -> [u8; 4] {
    [x as u8 * 16, y as u8 * 16, 7, 255]
}

unsafe fn component_rules(t: &Scene) {
    // A texture may hold fewer components than the framebuffer, and of the same kind (GL 3.3 section 3.8.3).
    let mut errors = Vec::new();
    for from in [gl::R8, gl::RG8, gl::RGB8, gl::RGBA8, gl::RGBA16F, gl::RGBA8UI, gl::R32I] {
        t.target_of(4, 4, from);
        for to in [gl::R8, gl::RG8, gl::RGB8, gl::RGBA8, gl::RGBA32F, gl::RGBA16UI, gl::R8I, gl::DEPTH_COMPONENT24] {
            // What a copy between signed and unsigned integers means stands nowhere.
            if matches!((from, to), (gl::RGBA8UI, gl::R8I) | (gl::R32I, gl::RGBA16UI)) {
                continue;
            }
            t.texture_name(gl::TEXTURE_2D);
            t.copy_tex_image_2d(gl::TEXTURE_2D, 0, to, 0, 0, 4, 4, 0);
            let error = t.get_error();
            errors.push(error as f32);
            let width = t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_WIDTH);
            let what = format!("{from:#x} to {to:#x}: width after error {error:#x}");
            t.equal(width, if error == gl::NO_ERROR { 4 } else { 0 }, &what);
        }
    }
    t.compare_values("errors", &errors, 0.0);
}

unsafe fn conversions(t: &Scene) {
    for (from, to, expected, step) in [
        (gl::RGBA8, gl::RGB8, [0.2, 0.4, 0.6, 1.0], 0.003),
        (gl::RGBA8, gl::R8, [0.2, 0.0, 0.0, 1.0], 0.003),
        (gl::RGBA8, gl::RGBA16, [0.2, 0.4, 0.6, 0.8], 0.003),
        (gl::RGBA16F, gl::RGBA8, [0.2, 0.4, 0.6, 0.8], 0.003),
        (gl::RGBA32F, gl::RGBA32F, [0.2, 0.4, 0.6, 0.8], 0.0),
        (gl::RGBA8, gl::RGB10_A2, [0.2, 0.4, 0.6, 2.0 / 3.0], 0.003),
        (gl::RGBA8, gl::RGB5_A1, [0.2, 0.4, 0.6, 1.0], 0.02),
        (gl::RG16, gl::R16, [0.2, 0.0, 0.0, 1.0], 0.0001),
    ] {
        t.target_of(4, 4, from);
        t.clear_buffer_f32_slice(gl::COLOR, 0, &[0.2, 0.4, 0.6, 0.8]);
        t.texture_name(gl::TEXTURE_2D);
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, to, 0, 0, 4, 4, 0);
        t.no_error(&format!("{from:#x} to {to:#x}"));
        let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, 16)[5];
        // A driver may keep more bits of alpha than were asked for (spec 3.8.3), and says so.
        let one_bit = to == gl::RGB5_A1;
        let kept = one_bit && t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_ALPHA_SIZE) > 1;
        let expected = if kept { [0.2, 0.4, 0.6, 0.8] } else { expected };
        for c in 0..4 {
            t.near(v[c], expected[c], step, &format!("{from:#x} to {to:#x}, channel {c}"));
        }
    }
    t.target_of(4, 4, gl::RGBA32UI);
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[1, 200, 60000, 7]);
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA16UI, 0, 0, 4, 4, 0);
    let v = t.texels::<[u32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA_INTEGER, gl::UNSIGNED_INT, 16);
    t.equal(v[9], [1, 200, 60000, 7], "integers");
    // Bits of sRGB storage are copied as they are.
    t.target_of(4, 4, gl::SRGB8_ALPHA8);
    t.clear_color(100.0 / 255.0, 0.0, 1.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::SRGB8_ALPHA8, 0, 0, 4, 4, 0);
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::SRGB8_ALPHA8, 0, 0, 4, 4, 0);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal(v[3], [100, 0, 255, 255], "sRGB to sRGB");
}

unsafe fn into_every_target(t: &Scene) {
    t.target(16, 16);
    draw_gradient(t);
    let rgba = (gl::RGBA, gl::UNSIGNED_BYTE);
    // A mip level: the second of a texture whose first is uploaded.
    t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1);
    t.image(gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], rgba, Some(&[[1u8; 4]; 64]));
    t.copy_tex_image_2d(gl::TEXTURE_2D, 1, gl::RGBA8, 2, 3, 4, 4, 0);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 1, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal([v[0], v[15]], [at(2, 3), at(5, 6)], "level 1");
    t.equal(t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 64)[0], [1; 4], "level 0");
    t.texture_name(gl::TEXTURE_RECTANGLE);
    t.copy_tex_image_2d(gl::TEXTURE_RECTANGLE, 0, gl::RGBA8, 1, 1, 5, 3, 0);
    t.copy_tex_sub_image_2d(gl::TEXTURE_RECTANGLE, 0, 4, 2, 10, 11, 1, 1);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_RECTANGLE, 0, gl::RGBA, gl::UNSIGNED_BYTE, 15);
    t.equal([v[0], v[13], v[14]], [at(1, 1), at(4, 3), at(10, 11)], "rectangle");
    t.texture_name(gl::TEXTURE_CUBE_MAP);
    for face in 0..6 {
        let x = face as i32;
        t.copy_tex_image_2d(gl::TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, gl::RGBA8, x, 2 * x, 4, 4, 0);
    }
    t.copy_tex_sub_image_2d(gl::TEXTURE_CUBE_MAP_NEGATIVE_Z, 0, 0, 0, 9, 9, 1, 1);
    for face in 0..6usize {
        let target = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face as u32;
        let v = t.texels::<[u8; 4]>(target, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
        t.equal(v[15], at(face + 3, 2 * face + 3), &format!("face {face}"));
        t.equal(v[0], if face == 5 { at(9, 9) } else { at(face, 2 * face) }, &format!("corner of face {face}"));
    }
    // The rows of a 1D array are its layers.
    t.texture_name(gl::TEXTURE_1D_ARRAY);
    t.copy_tex_image_2d(gl::TEXTURE_1D_ARRAY, 0, gl::RGBA8, 3, 4, 6, 3, 0);
    t.copy_tex_sub_image_2d(gl::TEXTURE_1D_ARRAY, 0, 1, 1, 0, 0, 2, 2);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_1D_ARRAY, 0, gl::RGBA, gl::UNSIGNED_BYTE, 18);
    t.equal([v[0], v[5], v[6], v[17]], [at(3, 4), at(8, 4), at(3, 5), at(8, 6)], "1D array");
    t.equal([v[7], v[8], v[13]], [at(0, 0), at(1, 0), at(0, 1)], "sub-image of a 1D array");
    t.texture_name(gl::TEXTURE_1D);
    t.raw.CopyTexImage1D(gl::TEXTURE_1D, 0, gl::RGB8, 2, 7, 9, 0);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_1D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 9);
    t.equal([v[0], v[8]], [at(2, 7), at(10, 7)], "1D");
    t.no_error("copies into every target");
}

unsafe fn from_every_source(t: &Scene) {
    let rgba = (gl::RGBA, gl::UNSIGNED_BYTE);
    let copied = |what: &str, expected: [u8; 4]| {
        t.texture_name(gl::TEXTURE_2D);
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 1, 2, 2, 2, 0);
        let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 4);
        t.equal(v[3], expected, what);
        t.no_error(what);
    };
    // The default framebuffer.
    t.bind_framebuffer(gl::FRAMEBUFFER, None);
    t.viewport(0, 0, 64, 64);
    t.program(FULL_VS, GRADIENT_FS);
    t.vertex_array();
    t.fill();
    let expected = t.read(4, 4).pixel(2, 3);
    t.check(expected[..3] == at(2, 3)[..3], format!("what was drawn: {expected:?}"));
    copied("the default framebuffer", expected);
    // A layer, a slice, a face, a level, a renderbuffer, the second attachment.
    let framebuffer = t.create_framebuffer().unwrap();
    for (name, target, layer) in [("layer", gl::TEXTURE_2D_ARRAY, 1), ("slice", gl::TEXTURE_3D, 2)] {
        let texture = t.texture_name(target);
        let texels: Vec<[u8; 4]> = (0..16 * 3).map(|i| [i as u8, 5, 6, 7]).collect();
        t.image(target, 0, gl::RGBA8, [4, 4, 3], rgba, Some(&texels));
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        t.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, Some(texture), 0, layer);
        copied(name, [(layer * 16 + 3 * 4 + 2) as u8, 5, 6, 7]);
    }
    let cube = t.texture_name(gl::TEXTURE_CUBE_MAP);
    t.tex_parameter_i32(gl::TEXTURE_CUBE_MAP, gl::TEXTURE_MAX_LEVEL, 1);
    for face in 0..6u32 {
        for level in 0..2 {
            let size = 8 >> level;
            let texels = vec![[face as u8, level as u8, 9, 9]; (size * size) as usize];
            let target = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
            t.image(target, level, gl::RGBA8, [size, size, 1], rgba, Some(&texels));
        }
    }
    let face = gl::TEXTURE_CUBE_MAP_POSITIVE_Z;
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, face, Some(cube), 1);
    copied("level 1 of a face", [4, 1, 9, 9]);
    let second = t.texture(4, 4, &[[40, 30, 20, 10]; 16]);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, gl::TEXTURE_2D, Some(second), 0);
    t.read_buffer(gl::COLOR_ATTACHMENT1);
    copied("the second attachment", [40, 30, 20, 10]);
    // From one level of a texture into another of the same.
    let own = t.texture_name(gl::TEXTURE_2D);
    t.tex_parameter_i32(gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 1);
    t.image(gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], rgba, Some(&[[77u8; 4]; 64]));
    t.image(gl::TEXTURE_2D, 1, gl::RGBA8, [4, 4, 1], rgba, Some(&[[1u8; 4]; 16]));
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, gl::TEXTURE_2D, Some(own), 0);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 1, 0, 0, 0, 0, 2, 2);
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 1, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal([v[5], v[6]], [[77; 4], [1; 4]], "from level 0 into level 1");
}

unsafe fn depth_stencil(t: &Scene) {
    t.target(8, 8);
    t.enable(gl::SCISSOR_TEST);
    for i in 0..8 {
        t.scissor(i, 0, 1, 8);
        t.clear_depth_f64(f64::from(i) / 8.0);
        t.clear_stencil(i * 30);
        t.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    }
    t.disable(gl::SCISSOR_TEST);
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::DEPTH24_STENCIL8, 1, 0, 7, 8, 0);
    t.no_error("depth and stencil");
    let v = t.texels::<u32>(gl::TEXTURE_2D, 0, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 56);
    for x in 0..7 {
        let (depth, stencil) = ((v[21 + x] >> 8) as f32 / 16_777_215.0, v[21 + x] & 0xff);
        t.near(depth, (x + 1) as f32 / 8.0, 1e-6, &format!("depth of column {x}"));
        t.equal(stencil, (x as u32 + 1) * 30, &format!("stencil of column {x}"));
    }
    // Into a part of an existing image, in another depth format.
    t.texture_name(gl::TEXTURE_2D);
    let transfer = (gl::DEPTH_COMPONENT, gl::FLOAT);
    t.image(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT32F, [8, 8, 1], transfer, Some(&[1.0f32; 64]));
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 2, 2, 3, 0, 4, 4);
    t.no_error("depth into a float format");
    let v = t.texels::<f32>(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT, gl::FLOAT, 64);
    t.near(v[2 * 8 + 2], 3.0 / 8.0, 1e-6, "first texel");
    t.near(v[5 * 8 + 5], 6.0 / 8.0, 1e-6, "last texel");
    t.near(v[6 * 8 + 5], 1.0, 0.0, "beside it");
}

/// Draws colours that every block format keeps nearly: (60 + 4 x, 120, 200 - 8 y, 255).
unsafe fn draw_smooth(t: &Scene) {
    t.program(
        FULL_VS,
        "in vec2 uv; out vec4 result;
         void main() {
            vec2 p = floor(gl_FragCoord.xy);
            result = vec4(60.0 + 4.0 * p.x, 120.0, 200.0 - 8.0 * p.y, 255.0) / 255.0;
         }",
    );
    t.vertex_array();
    t.fill();
}

fn smooth(x: i32, y: i32) -> [f32; 4] {
    [60.0 + 4.0 * x as f32, 120.0, 200.0 - 8.0 * y as f32, 255.0].map(|v| v / 255.0)
}

/// Specific compressed formats of OpenGL 3.3, and of the extensions for S3TC with and without sRGB: format, channels and
/// bytes of a block.
const BLOCK_FORMATS: [(u32, usize, i32); 12] = [
    (gl::COMPRESSED_RED_RGTC1, 1, 8),
    (gl::COMPRESSED_SIGNED_RED_RGTC1, 1, 8),
    (gl::COMPRESSED_RG_RGTC2, 2, 16),
    (gl::COMPRESSED_SIGNED_RG_RGTC2, 2, 16),
    (0x83F0, 3, 8),
    (0x83F1, 4, 8),
    (0x83F2, 4, 16),
    (0x83F3, 4, 16),
    (0x8C4C, 3, 8),
    (0x8C4D, 4, 8),
    (0x8C4E, 4, 16),
    (0x8C4F, 4, 16),
];

/// Checks the texels of a level that [`draw_smooth`] made, whose first is that at (`x0`, `y0`) of the framebuffer.
unsafe fn check_smooth(t: &Scene, (width, height): (i32, i32), (x0, y0): (i32, i32), channels: usize, what: &str) {
    let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, (width * height) as usize);
    for (i, texel) in v.iter().enumerate() {
        let (x, y) = (i as i32 % width, i as i32 / width);
        for (c, (v, e)) in texel.iter().zip(smooth(x0 + x, y0 + y)).take(channels).enumerate() {
            t.near(*v, e, 0.1, &format!("{what}: texel ({x}, {y}) channel {c}"));
        }
    }
}

unsafe fn into_block_formats(t: &Scene) {
    // Copies take specific compressed formats as glTexImage does (GL 3.3 section 3.8.3).
    t.target(16, 16);
    draw_smooth(t);
    // What the application has set for its own transfers does not matter.
    let pack = t.buffer(gl::PIXEL_PACK_BUFFER, &[5u8; 64]);
    for store in [gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS, gl::UNPACK_SKIP_PIXELS, gl::UNPACK_SKIP_ROWS] {
        t.pixel_store_i32(store, 3);
    }
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, 40);
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 40);
    for (internal, _, bytes) in BLOCK_FORMATS {
        t.texture_name(gl::TEXTURE_2D);
        // A width that is no multiple of the block's.
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, internal, 3, 5, 10, 8, 0);
        t.no_error(&format!("copy into {internal:#x}"));
        let get = |name| t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, name);
        t.equal([get(gl::TEXTURE_WIDTH), get(gl::TEXTURE_HEIGHT)], [10, 8], &format!("size of {internal:#x}"));
        t.equal(get(gl::TEXTURE_INTERNAL_FORMAT) as u32, internal, "internal format");
        t.equal(get(gl::TEXTURE_COMPRESSED), 1, "compressed");
        t.equal(get(gl::TEXTURE_COMPRESSED_IMAGE_SIZE), 3 * 2 * bytes, &format!("bytes of {internal:#x}"));
    }
    for store in [gl::PACK_SKIP_PIXELS, gl::PACK_SKIP_ROWS, gl::UNPACK_SKIP_PIXELS, gl::UNPACK_SKIP_ROWS] {
        t.pixel_store_i32(store, 0);
    }
    t.pixel_store_i32(gl::PACK_ROW_LENGTH, 0);
    t.pixel_store_i32(gl::UNPACK_ROW_LENGTH, 0);
    let mut kept = [0u8; 64];
    t.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut kept);
    t.equal(kept, [5; 64], "the pack buffer");
    t.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
    t.delete_buffer(pack);
    for (internal, channels, _) in BLOCK_FORMATS {
        t.texture_name(gl::TEXTURE_2D);
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, internal, 3, 5, 10, 8, 0);
        if (0x8C4C..=0x8C4F).contains(&internal) {
            // Read back decoded, the reference converts to linear values: only its blocks can be compared.
            continue;
        }
        check_smooth(t, (10, 8), (3, 5), channels, &format!("{internal:#x}"));
    }
    // Values below zero, from a framebuffer that has them, and a clamp that is for glReadPixels alone.
    t.target_of(4, 4, gl::RGBA16F);
    t.clear_buffer_f32_slice(gl::COLOR, 0, &[-0.5, 0.25, 0.0, 1.0]);
    t.raw.ClampColor(gl::CLAMP_READ_COLOR, gl::TRUE.into());
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::COMPRESSED_SIGNED_RG_RGTC2, 0, 0, 4, 4, 0);
    t.raw.ClampColor(gl::CLAMP_READ_COLOR, 0x891D);
    t.no_error("signed values");
    let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, 16)[7];
    t.near(v[0], -0.5, 0.01, "signed red");
    t.near(v[1], 0.25, 0.01, "signed green");
    // The generic names leave the choice to the driver.
    t.target(8, 8);
    draw_smooth(t);
    for (internal, channels) in
        [(gl::COMPRESSED_RED, 1), (gl::COMPRESSED_RG, 2), (gl::COMPRESSED_RGB, 3), (gl::COMPRESSED_RGBA, 4)]
    {
        t.texture_name(gl::TEXTURE_2D);
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, internal, 0, 0, 8, 8, 0);
        t.no_error(&format!("generic {internal:#x}"));
        check_smooth(t, (8, 8), (0, 0), channels, &format!("generic {internal:#x}"));
    }
}

unsafe fn into_parts_of_block_formats(t: &Scene) {
    t.target(16, 16);
    draw_smooth(t);
    for (internal, _, bytes) in BLOCK_FORMATS {
        let what = format!("{internal:#x}");
        let copied = |x, y| {
            t.texture_name(gl::TEXTURE_2D);
            t.copy_tex_image_2d(gl::TEXTURE_2D, 0, internal, x, y, 4, 4, 0);
            let mut blocks = vec![0u8; bytes as usize];
            t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, blocks.as_mut_ptr().cast());
            blocks
        };
        let (whole, other) = (copied(4, 8), copied(12, 0));
        t.check(whole != other, format!("{what}: two blocks that differ"));
        // Four blocks from one copy; then the last is replaced, and nothing else.
        t.texture_name(gl::TEXTURE_2D);
        t.copy_tex_image_2d(gl::TEXTURE_2D, 0, internal, 0, 4, 8, 8, 0);
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 4, 4, 12, 0, 4, 4);
        t.no_error(&format!("{what}: a block"));
        let n = bytes as usize;
        let mut blocks = vec![0u8; 4 * n];
        t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, blocks.as_mut_ptr().cast());
        t.equal(&blocks[3 * n..], &other[..], &format!("{what}: the replaced block"));
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 4, 4, 4, 8, 4, 4);
        t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, blocks.as_mut_ptr().cast());
        t.equal(&blocks[3 * n..], &whole[..], &format!("{what}: replaced again"));
        // Boxes that cut blocks, leave the image, or are empty.
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 2, 0, 0, 0, 4, 4);
        t.error(gl::INVALID_OPERATION, &format!("{what}: inside blocks"));
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 3, 4);
        t.error(gl::INVALID_OPERATION, &format!("{what}: a part of a block"));
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 8, 0, 0, 0, 4, 4);
        t.error(gl::INVALID_VALUE, &format!("{what}: outside the image"));
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 0, 0);
        t.no_error(&format!("{what}: nothing"));
        let mut same = vec![0u8; 4 * n];
        t.raw.GetCompressedTexImage(gl::TEXTURE_2D, 0, same.as_mut_ptr().cast());
        t.equal(same, blocks, &format!("{what}: after failing copies"));
    }
    // Partly outside the framebuffer: what is inside arrives.
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::COMPRESSED_RED_RGTC1, -4, 12, 8, 8, 0);
    t.no_error("partly outside");
    let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::FLOAT, 64);
    for x in 4..8 {
        t.near(v[8 + x][0], smooth(x as i32 - 4, 13)[0], 0.02, &format!("column {x} of a copy partly outside"));
    }
    // A layer of an array, and a face of a cube.
    t.texture_name(gl::TEXTURE_2D_ARRAY);
    let size = [4, 4, 3];
    let texels = [[255u8; 4]; 48];
    let rgba = (gl::RGBA, gl::UNSIGNED_BYTE);
    t.image(gl::TEXTURE_2D_ARRAY, 0, gl::COMPRESSED_RG_RGTC2, size, rgba, Some(&texels));
    t.copy_tex_sub_image_3d(gl::TEXTURE_2D_ARRAY, 0, 0, 0, 1, 8, 8, 4, 4);
    t.no_error("a layer");
    let v = t.texels::<[f32; 4]>(gl::TEXTURE_2D_ARRAY, 0, gl::RGBA, gl::FLOAT, 48);
    t.near(v[16 + 5][0], smooth(9, 9)[0], 0.02, "the layer");
    t.near(v[16 + 5][1], smooth(9, 9)[1], 0.02, "the layer");
    t.near(v[5][0], 1.0, 0.0, "the layer before");
    t.near(v[37][0], 1.0, 0.0, "the layer after");
    t.texture_name(gl::TEXTURE_CUBE_MAP);
    for face in 0..6 {
        t.copy_tex_image_2d(gl::TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, 0x83F3, face as i32 * 2, 0, 4, 4, 0);
    }
    t.no_error("faces");
    for face in 0..6 {
        let target = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
        let v = t.texels::<[f32; 4]>(target, 0, gl::RGBA, gl::FLOAT, 16);
        t.near(v[6][0], smooth(face as i32 * 2 + 2, 1)[0], 0.05, &format!("face {face}"));
    }
    // Integers do not mix with block formats, and depth is none of their components.
    t.target_of(4, 4, gl::RGBA8UI);
    t.texture_name(gl::TEXTURE_2D);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::COMPRESSED_RED_RGTC1, 0, 0, 4, 4, 0);
    t.error(gl::INVALID_OPERATION, "from integers");
    t.equal(t.get_tex_level_parameter_i32(gl::TEXTURE_2D, 0, gl::TEXTURE_WIDTH), 0, "width after an error");
}

unsafe fn errors(t: &Scene) {
    t.target(8, 8);
    t.texture(4, 4, &[[9; 4]; 16]);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, 4, 4, 1);
    t.error(gl::INVALID_VALUE, "a border");
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8, 0, 0, -4, 4, 0);
    t.error(gl::INVALID_VALUE, "a negative width");
    t.copy_tex_image_2d(gl::TEXTURE_2D, -1, gl::RGBA8, 0, 0, 4, 4, 0);
    t.error(gl::INVALID_VALUE, "a negative level");
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::BLEND, 0, 0, 4, 4, 0);
    t.check(t.get_error() != gl::NO_ERROR, "a format that is none");
    t.copy_tex_image_2d(gl::TEXTURE_3D, 0, gl::RGBA8, 0, 0, 4, 4, 0);
    t.error(gl::INVALID_ENUM, "a target of another dimension");
    t.copy_tex_image_2d(gl::TEXTURE_CUBE_MAP_POSITIVE_X, 0, gl::RGBA8, 0, 0, 4, 2, 0);
    t.error(gl::INVALID_VALUE, "a face that is not square");
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, -1, 0, 0, 0, 2, 2);
    t.error(gl::INVALID_VALUE, "left of the image");
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 3, 3, 0, 0, 2, 2);
    t.error(gl::INVALID_VALUE, "past the image");
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 2, 0, 0, 0, 0, 1, 1);
    t.error(gl::INVALID_OPERATION, "a level without an image");
    t.read_buffer(gl::NONE);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 2, 2);
    t.error(gl::INVALID_OPERATION, "no read buffer");
    t.read_buffer(gl::COLOR_ATTACHMENT0);
    let color = t.texture(8, 8, &[[1; 4]; 64]);
    t.framebuffer_of(color);
    t.texture(4, 4, &[[9; 4]; 16]);
    t.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT24, 0, 0, 4, 4, 0);
    t.error(gl::INVALID_OPERATION, "depth of a framebuffer without depth");
    let empty = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(empty));
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 2, 2);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "an incomplete framebuffer");
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.check(v.iter().all(|p| *p == [9; 4]), "failing copies change nothing");
    // Entirely outside the source: legal, and nothing defined is copied.
    t.framebuffer_of(color);
    t.texture(4, 4, &[[9; 4]; 16]);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 100, 100, 2, 2);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, -100, 0, 2, 2);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, i32::MAX, i32::MIN, 2, 2);
    t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 0, 0);
    t.no_error("copies from outside, and of nothing");
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, 16);
    t.equal(v[15], [9; 4], "texels that no copy names");
}

unsafe fn feeds_the_next_draw(t: &Scene) {
    // The old way of post-processing: draw, copy, draw with the copy, many times, with no flush between.
    t.target(16, 16);
    let image = t.texture_name(gl::TEXTURE_2D);
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::RGBA8, [16, 16, 1], transfer_of(gl::RGBA8), None);
    draw_gradient(t);
    t.program(
        FULL_VS,
        "uniform sampler2D image; out vec4 result;
         void main() {
            ivec2 p = ivec2(gl_FragCoord.xy);
            result = texelFetch(image, ivec2((p.x + 1) % 16, p.y), 0) + vec4(0.0, 0.0, 1.0 / 255.0, 0.0);
         }",
    );
    t.bind_texture(gl::TEXTURE_2D, Some(image));
    for _ in 0..20 {
        t.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 16, 16);
        t.fill();
    }
    let picture = t.read(16, 16);
    for (x, y) in [(0, 0), (5, 9), (15, 15)] {
        t.pixel(&picture, x, y, [((x as u8 + 20) % 16) * 16, y as u8 * 16, 27, 255], 1, "after twenty passes");
    }
}
