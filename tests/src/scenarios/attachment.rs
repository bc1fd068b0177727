//! Attachments: layered ones of every kind, completeness rules, queries, renderbuffers, deletion, multisample textures.

use glow::{self as gl, HasContext as _};

use crate::scene::{transfer_of, Scenario, Scene, COLOR_FS, FULL_VS};

/// The scenarios of this topic.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario::new("attachment_layers_cleared_unequal", layers_cleared_unequal)
        .without_reference("llvmpipe clears as many layers as the smallest attachment has"),
    Scenario::new("attachment_layers_of_every_kind", layers_of_every_kind),
    Scenario::new("attachment_layers_with_depth", layers_with_depth),
    Scenario::new("attachment_layers_masked_clear", layers_masked_clear),
    Scenario::new("attachment_completeness", completeness),
    Scenario::new("attachment_completeness_of_buffers", completeness_of_buffers),
    Scenario::new("attachment_queries", queries),
    Scenario::new("attachment_sizes_differ", sizes_differ),
    Scenario::new("attachment_deleted", deleted),
    Scenario::new("attachment_respecified", respecified),
    Scenario::new("attachment_bind_errors", bind_errors),
    Scenario::new("attachment_many_in_one_frame", many_in_one_frame),
    Scenario::new("renderbuffer_formats", renderbuffer_formats),
    Scenario::new("renderbuffer_errors", renderbuffer_errors),
    Scenario::new("multisample_texture_array", multisample_array),
    Scenario::new("multisample_texture_depth_and_integers", multisample_depth_and_integers),
    Scenario::new("multisample_texture_errors", multisample_errors),
];

const COLOR0: u32 = gl::COLOR_ATTACHMENT0;

/// Draws a triangle over the whole viewport into each of `layers` layers, with a colour and depth of its own.
const LAYERS_VS: &str = "void main() {
    vec2 uv = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)); gl_Position = vec4(uv * 4.0 - 1.0, 0.0, 1.0); }";
const LAYERS_GS: &str = "layout(triangles) in; layout(triangle_strip, max_vertices = 24) out;
    uniform int layers; flat out int layer;
    void main() {
        for (int l = 0; l < layers; ++l) {
            for (int i = 0; i < 3; ++i) {
                gl_Layer = l; layer = l;
                gl_Position = vec4(gl_in[i].gl_Position.xy, -1.0 + 0.25 * float(l), 1.0);
                EmitVertex();
            }
            EndPrimitive();
        }
    }";
const LAYERS_FS: &str = "flat in int layer; uniform vec4 add; out vec4 result;
    void main() { result = vec4(float(layer) * 0.1, 1.0, 0.0, 1.0) + add; }";

unsafe fn layers_program(t: &Scene, layers: i32) -> gl::NativeProgram {
    let program = t.program_of(
        &[(gl::VERTEX_SHADER, LAYERS_VS), (gl::GEOMETRY_SHADER, LAYERS_GS), (gl::FRAGMENT_SHADER, LAYERS_FS)],
        |_| {},
    );
    t.set_int(program, "layers", layers);
    t.vertex_array();
    program
}

unsafe fn framebuffer(t: &Scene) -> gl::NativeFramebuffer {
    let framebuffer = t.create_framebuffer().unwrap();
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
    framebuffer
}

/// An array texture without contents.
unsafe fn array(t: &Scene, format: u32, size: i32, layers: i32) -> gl::NativeTexture {
    let texture = t.texture_name(gl::TEXTURE_2D_ARRAY);
    let transfer =
        if format == gl::DEPTH_COMPONENT24 { (gl::DEPTH_COMPONENT, gl::UNSIGNED_INT) } else { transfer_of(format) };
    t.image::<u8>(gl::TEXTURE_2D_ARRAY, 0, format, [size, size, layers], transfer, None);
    texture
}

unsafe fn layers_cleared_unequal(t: &Scene) {
    // Attachments of 3, 6 and 5 layers: drawing reaches three of them, a clear reaches all.
    let (three, six) = (array(t, gl::RGBA8, 4, 3), array(t, gl::RGBA8, 4, 6));
    let depth = array(t, gl::DEPTH_COMPONENT24, 4, 5);
    framebuffer(t);
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(three), 0);
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0 + 1, Some(six), 0);
    t.framebuffer_texture(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, Some(depth), 0);
    t.draw_buffers(&[COLOR0, COLOR0 + 1]);
    t.complete();
    t.viewport(0, 0, 4, 4);
    let look = |what: &str, color: [u8; 4], at: f32| {
        for (texture, layers) in [(three, 3), (six, 6)] {
            t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(texture));
            let n = layers * 16;
            let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D_ARRAY, 0, gl::RGBA, gl::UNSIGNED_BYTE, n);
            let wrong = v.iter().position(|p| *p != color);
            t.check(wrong.is_none(), format!("{what}: texel {wrong:?} of {layers} layers"));
        }
        t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(depth));
        let v = t.texels::<f32>(gl::TEXTURE_2D_ARRAY, 0, gl::DEPTH_COMPONENT, gl::FLOAT, 80);
        let wrong = v.iter().position(|d| (d - at).abs() > 1e-6);
        t.check(wrong.is_none(), format!("{what}: depth texel {wrong:?}"));
    };
    t.clear_color(1.0, 0.0, 0.0, 1.0);
    t.clear_depth_f64(0.25);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    look("glClear", [255, 0, 0, 255], 0.25);
    for i in 0..2 {
        t.clear_buffer_f32_slice(gl::COLOR, i, &[0.0, 0.0, 1.0, 1.0]);
    }
    t.clear_buffer_f32_slice(gl::DEPTH, 0, &[0.75]);
    look("glClearBuffer", [0, 0, 255, 255], 0.75);
    t.enable(gl::SCISSOR_TEST);
    t.scissor(0, 0, 4, 2);
    t.clear_color(0.0, 1.0, 0.0, 1.0);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    t.scissor(0, 2, 4, 2);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    t.disable(gl::SCISSOR_TEST);
    look("two scissored clears", [0, 255, 0, 255], 0.25);
    // What follows still draws into the framebuffer as it was.
    let program = layers_program(t, 3);
    t.set_vec4(program, "add", [0.0; 4]);
    t.fill();
    t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(three));
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D_ARRAY, 0, gl::RGBA, gl::UNSIGNED_BYTE, 48);
    t.equal([v[0], v[16], v[32]].map(|p| p[0].div_ceil(26)), [0, 1, 2], "layers drawn afterwards");
}

unsafe fn layers_of_every_kind(t: &Scene) {
    let program = layers_program(t, 4);
    for (name, target, size, n) in [
        ("2D array", gl::TEXTURE_2D_ARRAY, [4, 4, 4], 4usize),
        ("3D", gl::TEXTURE_3D, [4, 4, 4], 4),
        ("1D array", gl::TEXTURE_1D_ARRAY, [4, 4, 1], 4),
        ("cube", gl::TEXTURE_CUBE_MAP, [4, 4, 1], 6),
    ] {
        let texture = t.texture_name(target);
        // Level 1 is attached, so that levels and layers meet.
        t.tex_parameter_i32(target, gl::TEXTURE_MAX_LEVEL, 1);
        for level in 0..2 {
            let part = |v: i32, halves: bool| if halves && level == 0 { v * 2 } else { v };
            let [w, h, d] = [
                part(size[0], true),
                part(size[1], target != gl::TEXTURE_1D_ARRAY),
                part(size[2], target == gl::TEXTURE_3D),
            ];
            if target == gl::TEXTURE_CUBE_MAP {
                for face in 0..6 {
                    let face = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
                    t.image::<u8>(face, level, gl::RGBA8, [w, h, d], transfer_of(gl::RGBA8), None);
                }
            } else {
                t.image::<u8>(target, level, gl::RGBA8, [w, h, d], transfer_of(gl::RGBA8), None);
            }
        }
        framebuffer(t);
        t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(texture), 1);
        t.complete();
        let layered = gl::FRAMEBUFFER_ATTACHMENT_LAYERED;
        t.equal(t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, COLOR0, layered), 1, name);
        t.viewport(0, 0, 4, if target == gl::TEXTURE_1D_ARRAY { 1 } else { 4 });
        t.clear_color(0.0, 0.0, 1.0, 1.0);
        t.clear(gl::COLOR_BUFFER_BIT);
        t.set_vec4(program, "add", [0.0, 0.0, 0.0, 0.0]);
        t.fill();
        for layer in 0..n {
            let texel = if target == gl::TEXTURE_CUBE_MAP {
                let face = gl::TEXTURE_CUBE_MAP_POSITIVE_X + layer as u32;
                t.texels::<[u8; 4]>(face, 1, gl::RGBA, gl::UNSIGNED_BYTE, 16)[5]
            } else {
                let texels = if target == gl::TEXTURE_1D_ARRAY { 4 } else { 16 };
                t.texels::<[u8; 4]>(target, 1, gl::RGBA, gl::UNSIGNED_BYTE, texels * n)[layer * texels + 2]
            };
            let red = (layer as f32 * 25.5).round() as u8;
            let expected = if layer < 4 { [red, 255, 0, 255] } else { [0, 0, 255, 255] };
            let close = texel.iter().zip(expected).all(|(a, e)| a.abs_diff(e) <= 1);
            t.check(close, format!("{name}: layer {layer} is {texel:?}, expected {expected:?}"));
        }
        // An attachment of a single layer is not layered; gl_Layer is ignored then and everything lands there.
        if target != gl::TEXTURE_CUBE_MAP {
            t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(texture), 1, 2);
            t.equal(t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, COLOR0, layered), 0, name);
            t.clear(gl::COLOR_BUFFER_BIT);
            t.pixel(&t.read(1, 1), 0, 0, [0, 0, 255, 255], 0, "a single layer, cleared");
        }
    }
}

unsafe fn layers_with_depth(t: &Scene) {
    // Layer l is drawn at window depth l / 8; a second draw is tested against it.
    let (color, depth) = (array(t, gl::RGBA8, 4, 4), array(t, gl::DEPTH_COMPONENT24, 4, 4));
    framebuffer(t);
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(color), 0);
    t.framebuffer_texture(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, Some(depth), 0);
    t.complete();
    t.viewport(0, 0, 4, 4);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    t.enable(gl::DEPTH_TEST);
    let program = layers_program(t, 4);
    t.set_vec4(program, "add", [0.0, -1.0, 0.0, 0.0]);
    t.fill();
    let v = t.texels::<f32>(gl::TEXTURE_2D_ARRAY, 0, gl::DEPTH_COMPONENT, gl::FLOAT, 64);
    for layer in 0..4 {
        t.near(v[layer * 16 + 9], layer as f32 / 8.0, 1e-6, &format!("depth of layer {layer}"));
    }
    // Into the same places again: LESS fails everywhere. With another depth range it passes in some layers.
    t.set_vec4(program, "add", [0.0, 0.0, 1.0, 0.0]);
    t.fill();
    t.depth_range_f64(0.0, 0.2);
    t.set_vec4(program, "add", [0.0, 0.0, 0.0, 0.0]);
    t.fill();
    t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(color));
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D_ARRAY, 0, gl::RGBA, gl::UNSIGNED_BYTE, 64);
    t.equal(v[9][1], 0, "layer 0 stays, its depth is equal");
    for layer in 1..4 {
        t.equal(&v[layer * 16 + 9][1..3], &[255, 0], &format!("layer {layer} is nearer now"));
    }
}

unsafe fn layers_masked_clear(t: &Scene) {
    let color = array(t, gl::RGBA8, 4, 3);
    let texture = t.texture_name(gl::TEXTURE_2D_ARRAY);
    let transfer = (gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8);
    t.image::<u8>(gl::TEXTURE_2D_ARRAY, 0, gl::DEPTH24_STENCIL8, [4, 4, 3], transfer, None);
    framebuffer(t);
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(color), 0);
    t.framebuffer_texture(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, Some(texture), 0);
    t.complete();
    t.viewport(0, 0, 4, 4);
    t.clear_color(0.2, 0.2, 0.2, 0.2);
    t.clear_stencil(0x0f);
    t.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.color_mask(true, false, false, true);
    t.stencil_mask(0xf0);
    t.clear_color(1.0, 1.0, 1.0, 1.0);
    t.clear_stencil(0xa5);
    t.clear(gl::COLOR_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
    t.color_mask(true, true, true, true);
    t.stencil_mask(0xff);
    t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(color));
    let v = t.texels::<[u8; 4]>(gl::TEXTURE_2D_ARRAY, 0, gl::RGBA, gl::UNSIGNED_BYTE, 48);
    t.bind_texture(gl::TEXTURE_2D_ARRAY, Some(texture));
    let s = t.texels::<u32>(gl::TEXTURE_2D_ARRAY, 0, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, 48);
    for layer in 0..3 {
        t.equal(v[layer * 16 + 6], [255, 51, 51, 255], &format!("colour of layer {layer}"));
        t.equal(s[layer * 16 + 6] & 0xff, 0xaf, &format!("stencil of layer {layer}"));
    }
}

unsafe fn completeness(t: &Scene) {
    let status = || t.check_framebuffer_status(gl::FRAMEBUFFER);
    let flat = t.texture(4, 4, &[[0; 4]; 16]);
    let layers = array(t, gl::RGBA8, 4, 3);
    framebuffer(t);
    // Layered and other attachments do not mix.
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(layers), 0);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 1, gl::TEXTURE_2D, Some(flat), 0);
    t.equal(status(), 0x8DA8, "FRAMEBUFFER_INCOMPLETE_LAYER_TARGETS");
    t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(layers), 0, 1);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "a layer beside a 2D image");
    // Kinds of layered attachments do not mix either.
    let cube = t.texture_name(gl::TEXTURE_CUBE_MAP);
    for face in 0..6 {
        let face = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
        t.image::<u8>(face, 0, gl::RGBA8, [4, 4, 1], transfer_of(gl::RGBA8), None);
    }
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(layers), 0);
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0 + 1, Some(cube), 0);
    t.equal(status(), 0x8DA8, "an array and a cube");
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0 + 1, None, 0);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "the array alone");
    // A layer, level or face that the texture does not have.
    t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(layers), 0, 3);
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "a layer past the last");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(flat), 2);
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "a level without an image");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(flat), 0);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "level 0");
    // Formats that cannot be rendered to, colour at depth, depth at stencil.
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::RENDERBUFFER, Some(buffer));
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "a renderbuffer without storage");
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, 4, 4);
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "colour at DEPTH_ATTACHMENT");
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH_COMPONENT16, 4, 4);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "depth at DEPTH_ATTACHMENT");
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::STENCIL_ATTACHMENT, gl::RENDERBUFFER, Some(buffer));
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "depth at STENCIL_ATTACHMENT");
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH24_STENCIL8, 4, 4);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "both of one image");
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH24_STENCIL8, 0, 0);
    t.equal(status(), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "an image of no size");
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, None);
    t.equal(status(), gl::FRAMEBUFFER_COMPLETE, "detached");
    for format in [gl::COMPRESSED_RED_RGTC1, gl::RGB9_E5] {
        t.bind_texture(gl::TEXTURE_2D, Some(flat));
        t.image::<u8>(gl::TEXTURE_2D, 0, format, [4, 4, 1], (gl::RGB, gl::UNSIGNED_BYTE), None);
        t.check(status() != gl::FRAMEBUFFER_COMPLETE, format!("{format:#x} is rendered to"));
    }
    t.clear(gl::COLOR_BUFFER_BIT);
    t.error(gl::INVALID_FRAMEBUFFER_OPERATION, "a clear of what is incomplete");
}

unsafe fn completeness_of_buffers(t: &Scene) {
    // A draw buffer without an image is no fault since GL 3.0 allows any set; a core context of 3.3 may call it incomplete.
    let status = || t.check_framebuffer_status(gl::FRAMEBUFFER);
    let texture = t.texture(4, 4, &[[9; 4]; 16]);
    framebuffer(t);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 1, gl::TEXTURE_2D, Some(texture), 0);
    let first = status();
    t.check(
        matches!(
            first,
            gl::FRAMEBUFFER_COMPLETE | gl::FRAMEBUFFER_INCOMPLETE_DRAW_BUFFER | gl::FRAMEBUFFER_INCOMPLETE_READ_BUFFER
        ),
        format!("draw and read buffer without an image: {first:#x}"),
    );
    t.draw_buffers(&[gl::NONE, COLOR0 + 1]);
    t.read_buffer(COLOR0 + 1);
    t.complete();
    t.viewport(0, 0, 4, 4);
    t.program(
        FULL_VS,
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
         void main() { a = vec4(1.0); b = vec4(0.0, 1.0, 0.0, 1.0); }",
    );
    t.vertex_array();
    t.fill();
    t.area(&t.read(4, 4), (0, 0, 4, 4), [0, 255, 0, 255], 0, "output 1 into attachment 1");
    // More outputs than draw buffers, and fewer.
    t.draw_buffers(&[COLOR0 + 1]);
    t.fill();
    t.area(&t.read(4, 4), (0, 0, 4, 4), [255; 4], 0, "output 0 into attachment 1");
    t.draw_buffers(&[gl::NONE, gl::NONE, COLOR0 + 1]);
    t.fill();
    t.no_error("an output that no shader writes");
    t.read_buffer(gl::NONE);
    t.complete();
    t.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut [0; 4])));
    t.error(gl::INVALID_OPERATION, "a read without a read buffer");
    t.read_buffer(COLOR0);
    let mut data = [0; 4];
    t.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut data)));
    let e = t.get_error();
    t.check(
        matches!(e, gl::INVALID_OPERATION | gl::INVALID_FRAMEBUFFER_OPERATION),
        format!("a read of a missing attachment: {e:#x}"),
    );
}

unsafe fn queries(t: &Scene) {
    let get = |attachment, name| t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, attachment, name);
    framebuffer(t);
    t.equal(get(COLOR0, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE), 0, "nothing attached");
    t.equal(get(COLOR0, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME), 0, "nothing has the name 0");
    get(COLOR0, gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL);
    t.error(gl::INVALID_OPERATION, "the level of nothing");
    let volume = t.texture_name(gl::TEXTURE_3D);
    for level in 0..2 {
        t.image::<u8>(gl::TEXTURE_3D, level, gl::RGB10_A2, [8 >> level; 3], transfer_of(gl::RGB10_A2), None);
    }
    t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(volume), 1, 3);
    let cube = t.texture_name(gl::TEXTURE_CUBE_MAP);
    let face = gl::TEXTURE_CUBE_MAP_NEGATIVE_Z;
    for i in 0..6 {
        let face = gl::TEXTURE_CUBE_MAP_POSITIVE_X + i;
        t.image::<u8>(face, 0, gl::SRGB8_ALPHA8, [4, 4, 1], transfer_of(gl::RGBA8), None);
    }
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 1, face, Some(cube), 0);
    let integer = t.texture_name(gl::TEXTURE_2D);
    t.image::<u8>(gl::TEXTURE_2D, 0, gl::RG16I, [4, 4, 1], (gl::RG_INTEGER, gl::SHORT), None);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 2, gl::TEXTURE_2D, Some(integer), 0);
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH32F_STENCIL8, 4, 4);
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, Some(buffer));
    let encoding = gl::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING;
    let component = gl::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE;
    for (attachment, name, expected, what) in [
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, gl::TEXTURE, "type"),
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, volume.0.get(), "name"),
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL, 1, "level"),
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER, 3, "slice"),
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_LAYERED, 0, "layered"),
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_RED_SIZE, 10, "red bits"),
        (COLOR0, gl::FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE, 2, "alpha bits"),
        (COLOR0, component, 0x8C17, "UNSIGNED_NORMALIZED"),
        (COLOR0, encoding, gl::LINEAR, "LINEAR"),
        (COLOR0 + 1, gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE, face, "face"),
        (COLOR0 + 1, encoding, gl::SRGB, "SRGB"),
        (COLOR0 + 2, component, gl::INT, "INT"),
        (COLOR0 + 2, gl::FRAMEBUFFER_ATTACHMENT_GREEN_SIZE, 16, "green bits"),
        (COLOR0 + 2, gl::FRAMEBUFFER_ATTACHMENT_BLUE_SIZE, 0, "no blue bits"),
        (gl::DEPTH_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, gl::RENDERBUFFER, "renderbuffer"),
        (gl::DEPTH_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE, 32, "depth bits"),
        (gl::DEPTH_ATTACHMENT, component, gl::FLOAT, "FLOAT"),
        (gl::STENCIL_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE, 8, "stencil bits"),
        (gl::DEPTH_STENCIL_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, buffer.0.get(), "both at once"),
    ] {
        t.equal(get(attachment, name) as u32, expected, &format!("{what} of {attachment:#x}"));
        t.no_error(what);
    }
    get(gl::DEPTH_STENCIL_ATTACHMENT, component);
    t.error(gl::INVALID_OPERATION, "the component type of two aspects");
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::STENCIL_ATTACHMENT, gl::RENDERBUFFER, None);
    get(gl::DEPTH_STENCIL_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME);
    t.error(gl::INVALID_OPERATION, "one name for two different attachments");
    get(COLOR0, gl::TEXTURE_WIDTH);
    t.error(gl::INVALID_ENUM, "a parameter that is none");
    get(gl::BACK, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE);
    t.check(t.get_error() != gl::NO_ERROR, "BACK of a framebuffer object");
}

unsafe fn sizes_differ(t: &Scene) {
    // Drawing reaches the common part of the images (GL 3.3 section 4.4.4); reading takes the image that is read.
    let (big, small) = (t.texture(16, 12, &[[1, 2, 3, 4]; 192]), t.texture(8, 16, &[[5, 6, 7, 8]; 128]));
    framebuffer(t);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(big), 0);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 1, gl::TEXTURE_2D, Some(small), 0);
    t.draw_buffers(&[COLOR0, COLOR0 + 1]);
    t.complete();
    t.viewport(0, 0, 16, 16);
    t.program(
        FULL_VS,
        "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;
         void main() { a = vec4(1.0, 0.0, 0.0, 1.0); b = vec4(0.0, 0.0, 1.0, 1.0); }",
    );
    t.vertex_array();
    t.fill();
    t.read_buffer(COLOR0);
    let picture = t.read(16, 12);
    t.area(&picture, (0, 0, 8, 12), [255, 0, 0, 255], 0, "the common part of the first");
    t.pixel(&picture, 12, 5, [1, 2, 3, 4], 0, "right of the common part");
    t.read_buffer(COLOR0 + 1);
    let picture = t.read(8, 16);
    t.area(&picture, (0, 0, 8, 12), [0, 0, 255, 255], 0, "the common part of the second");
    t.pixel(&picture, 3, 14, [5, 6, 7, 8], 0, "above the common part");
}

unsafe fn deleted(t: &Scene) {
    // Deleting an attached image detaches it from the bound framebuffer alone (GL 3.3 section 4.4.2.3).
    let texture = t.texture(4, 4, &[[7; 4]; 16]);
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, 4, 4);
    let (a, b) = (t.create_framebuffer().unwrap(), t.create_framebuffer().unwrap());
    for framebuffer in [a, b] {
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
        t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(texture), 0);
        t.framebuffer_renderbuffer(gl::FRAMEBUFFER, COLOR0 + 1, gl::RENDERBUFFER, Some(buffer));
    }
    t.delete_texture(texture);
    t.delete_renderbuffer(buffer);
    let kind = gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
    let get = |attachment| t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, attachment, kind);
    t.equal([get(COLOR0), get(COLOR0 + 1)], [0, 0], "the bound framebuffer");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(a));
    t.equal(
        [get(COLOR0), get(COLOR0 + 1)],
        [gl::TEXTURE as i32, gl::RENDERBUFFER as i32],
        "the framebuffer that was not bound",
    );
    t.complete();
    t.pixel(&t.read(4, 4), 2, 2, [7; 4], 0, "its image lives");
    t.check(!t.is_texture(texture), "the name is gone");
    // Deleting the bound framebuffer binds the default one.
    t.delete_framebuffer(a);
    t.equal(t.get_parameter_i32(gl::DRAW_FRAMEBUFFER_BINDING), 0, "draw binding");
    t.equal(t.get_parameter_i32(gl::READ_FRAMEBUFFER_BINDING), 0, "read binding");
    let (read, draw) = (framebuffer(t), framebuffer(t));
    t.bind_framebuffer(gl::READ_FRAMEBUFFER, Some(read));
    t.delete_framebuffer(read);
    t.equal(t.get_parameter_i32(gl::READ_FRAMEBUFFER_BINDING), 0, "read binding alone");
    t.equal(t.get_parameter_i32(gl::DRAW_FRAMEBUFFER_BINDING) as u32, draw.0.get(), "draw binding stays");
}

unsafe fn respecified(t: &Scene) {
    // New storage of an attached texture or renderbuffer is seen at once, its size and format too.
    let texture = t.texture(4, 4, &[[0; 4]; 16]);
    let framebuffer = t.framebuffer_of(texture);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.viewport(0, 0, 32, 32);
    for (size, format) in [(8, gl::RGBA8), (16, gl::RGBA16F), (2, gl::R8), (32, gl::RGBA8)] {
        t.image::<u8>(gl::TEXTURE_2D, 0, format, [size, size, 1], transfer_of(format), None);
        t.complete();
        t.set_vec4(program, "color", [1.0, 0.5, 0.0, 1.0]);
        t.fill();
        let picture = t.read(size, size);
        let expected = if format == gl::R8 { [255, 0, 0, 255] } else { [255, 128, 0, 255] };
        t.area(&picture, (0, 0, size as usize, size as usize), expected, 1, &format!("{size} x {size}"));
    }
    let buffer = t.create_renderbuffer().unwrap();
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, COLOR0, gl::RENDERBUFFER, Some(buffer));
    for size in [4, 20] {
        t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, size, size);
        t.complete();
        t.fill();
        t.area(&t.read(size, size), (0, 0, size as usize, size as usize), [255, 128, 0, 255], 1, "renderbuffer");
    }
    // An uploaded level replaces what was drawn.
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(texture), 0);
    t.image(gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], transfer_of(gl::RGBA8), Some(&[[3u8, 2, 1, 0]; 4]));
    t.area(&t.read(2, 2), (0, 0, 2, 2), [3, 2, 1, 0], 0, "uploaded");
    t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
}

unsafe fn bind_errors(t: &Scene) {
    let texture = t.texture(4, 4, &[[0; 4]; 16]);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(texture), 0);
    t.error(gl::INVALID_OPERATION, "the default framebuffer has fixed images");
    t.raw.BindFramebuffer(gl::FRAMEBUFFER, 4242);
    t.error(gl::INVALID_OPERATION, "a name that was not generated");
    framebuffer(t);
    let unknown = gl::NativeTexture(std::num::NonZeroU32::new(4242).unwrap());
    t.framebuffer_texture(gl::FRAMEBUFFER, COLOR0, Some(unknown), 0);
    t.check(t.get_error() != gl::NO_ERROR, "a texture that does not exist");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_RECTANGLE, Some(texture), 0);
    t.error(gl::INVALID_OPERATION, "a texture of another target");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(texture), -1);
    t.error(gl::INVALID_VALUE, "a negative level");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, Some(texture), 40);
    t.error(gl::INVALID_VALUE, "a level past the last");
    let most = t.get_parameter_i32(gl::MAX_COLOR_ATTACHMENTS) as u32;
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + most, gl::TEXTURE_2D, Some(texture), 0);
    t.error(gl::INVALID_OPERATION, "an attachment past the last");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::BLEND, gl::TEXTURE_2D, Some(texture), 0);
    t.error(gl::INVALID_ENUM, "an attachment that is none");
    t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(texture), 0, 0);
    t.error(gl::INVALID_OPERATION, "a layer of a 2D texture");
    let layers = array(t, gl::RGBA8, 4, 2);
    t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(layers), 0, -1);
    t.error(gl::INVALID_VALUE, "a negative layer");
    t.draw_buffers(&[COLOR0; 9]);
    t.error(gl::INVALID_VALUE, "more draw buffers than there are");
    t.draw_buffers(&[gl::BLEND]);
    t.error(gl::INVALID_ENUM, "a draw buffer that is none");
    t.draw_buffers(&[gl::BACK]);
    t.check(t.get_error() != gl::NO_ERROR, "BACK of a framebuffer object");
    t.read_buffer(COLOR0 + most);
    t.error(gl::INVALID_OPERATION, "a read buffer past the last");
    t.equal(t.get_parameter_i32(gl::READ_BUFFER) as u32, COLOR0, "the read buffer after the errors");
    let kind = gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
    t.equal(t.get_framebuffer_attachment_parameter_i32(gl::FRAMEBUFFER, COLOR0, kind), 0, "nothing was attached");
}

unsafe fn renderbuffer_formats(t: &Scene) {
    let get = |name| t.get_renderbuffer_parameter_i32(gl::RENDERBUFFER, name);
    let program = t.program(FULL_VS, COLOR_FS);
    t.set_vec4(program, "color", [0.25, 0.5, 0.75, 1.0]);
    t.vertex_array();
    t.viewport(0, 0, 8, 6);
    // Format, bits of red, green, blue, alpha; unsized names are renderbuffer formats as well.
    for (format, bits) in [
        (gl::RGBA, [8, 8, 8, 8]),
        (gl::RGB, [8, 8, 8, 0]),
        (gl::RGBA8, [8, 8, 8, 8]),
        (gl::R8, [8, 0, 0, 0]),
        (gl::RG16, [16, 16, 0, 0]),
        (gl::RGBA16F, [16; 4]),
        (gl::RGB10_A2, [10, 10, 10, 2]),
        (gl::R11F_G11F_B10F, [11, 11, 10, 0]),
        (gl::SRGB8_ALPHA8, [8, 8, 8, 8]),
    ] {
        let buffer = t.create_renderbuffer().unwrap();
        t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
        t.renderbuffer_storage(gl::RENDERBUFFER, format, 8, 6);
        t.equal([get(gl::RENDERBUFFER_WIDTH), get(gl::RENDERBUFFER_HEIGHT)], [8, 6], "size");
        t.equal(get(gl::RENDERBUFFER_INTERNAL_FORMAT) as u32, format, "internal format");
        t.equal(get(gl::RENDERBUFFER_SAMPLES), 0, "samples");
        let actual = [
            gl::RENDERBUFFER_RED_SIZE,
            gl::RENDERBUFFER_GREEN_SIZE,
            gl::RENDERBUFFER_BLUE_SIZE,
            gl::RENDERBUFFER_ALPHA_SIZE,
        ]
        .map(get);
        t.check(
            actual.iter().zip(bits).all(|(a, b)| *a >= b && (b != 0 || *a == 0)),
            format!("bits of {format:#x}: {actual:?}, at least {bits:?}"),
        );
        framebuffer(t);
        t.framebuffer_renderbuffer(gl::FRAMEBUFFER, COLOR0, gl::RENDERBUFFER, Some(buffer));
        t.complete();
        t.fill();
        let v = t.read_floats(8, 6)[9];
        for c in 0..4 {
            let expected = if bits[c] != 0 { [0.25, 0.5, 0.75, 1.0][c] } else { f32::from(u8::from(c == 3)) };
            t.near(v[c], expected, 0.01, &format!("{format:#x} channel {c}"));
        }
    }
    for (format, depth, stencil) in [
        (gl::DEPTH_COMPONENT, 16, 0),
        (gl::DEPTH_COMPONENT16, 16, 0),
        (gl::DEPTH_COMPONENT24, 24, 0),
        (gl::DEPTH_COMPONENT32F, 32, 0),
        (gl::DEPTH24_STENCIL8, 24, 8),
        (gl::DEPTH32F_STENCIL8, 32, 8),
        (gl::STENCIL_INDEX8, 0, 8),
    ] {
        let buffer = t.create_renderbuffer().unwrap();
        t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
        t.renderbuffer_storage(gl::RENDERBUFFER, format, 8, 6);
        let actual = (get(gl::RENDERBUFFER_DEPTH_SIZE), get(gl::RENDERBUFFER_STENCIL_SIZE));
        t.check(actual.0 >= depth && actual.1 >= stencil, format!("bits of {format:#x}: {actual:?}"));
        framebuffer(t);
        if depth != 0 {
            t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::RENDERBUFFER, Some(buffer));
        }
        if stencil != 0 {
            t.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::STENCIL_ATTACHMENT, gl::RENDERBUFFER, Some(buffer));
        }
        t.draw_buffer(gl::NONE);
        t.read_buffer(gl::NONE);
        t.complete();
        t.clear_depth_f64(0.375);
        t.clear_stencil(201);
        t.clear(gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT);
        if depth != 0 {
            let d = t.read_as::<f32>(1, 1, gl::DEPTH_COMPONENT, gl::FLOAT, 1)[0];
            t.near(d, 0.375, 2e-5, &format!("depth of {format:#x}"));
        }
        if stencil != 0 {
            let s = t.read_as::<u8>(1, 1, gl::STENCIL_INDEX, gl::UNSIGNED_BYTE, 1)[0];
            t.equal(s, 201, &format!("stencil of {format:#x}"));
        }
    }
}

unsafe fn renderbuffer_errors(t: &Scene) {
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, 4, 4);
    t.error(gl::INVALID_OPERATION, "no renderbuffer is bound");
    let buffer = t.create_renderbuffer().unwrap();
    t.check(!t.is_renderbuffer(buffer), "a name is no object before it is bound");
    t.bind_renderbuffer(gl::RENDERBUFFER, Some(buffer));
    t.check(t.is_renderbuffer(buffer), "it is one afterwards");
    t.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, 4, 4);
    let most = t.get_parameter_i32(gl::MAX_RENDERBUFFER_SIZE);
    let samples = t.get_parameter_i32(gl::MAX_SAMPLES);
    for (format, n, width, error, what) in [
        (gl::RGBA8, 0, -1, gl::INVALID_VALUE, "a negative width"),
        (gl::RGBA8, 0, most + 1, gl::INVALID_VALUE, "a width that is too large"),
        (gl::BLEND, 0, 4, gl::INVALID_ENUM, "a format that is none"),
        (gl::COMPRESSED_RED_RGTC1, 0, 4, gl::INVALID_ENUM, "a compressed format"),
        (gl::COMPRESSED_RED, 0, 4, gl::INVALID_ENUM, "a format that may be compressed"),
        (gl::COMPRESSED_RGBA, 2, 4, gl::INVALID_ENUM, "a format that may be compressed, multisampled"),
    ] {
        t.renderbuffer_storage_multisample(gl::RENDERBUFFER, n, format, width, 4);
        t.error(error, what);
    }
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples + 1, gl::RGBA8, 4, 4);
    t.check(t.get_error() != gl::NO_ERROR, "too many samples");
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, -1, gl::RGBA8, 4, 4);
    t.error(gl::INVALID_VALUE, "negative samples");
    t.get_renderbuffer_parameter_i32(gl::RENDERBUFFER, gl::TEXTURE_WIDTH);
    t.error(gl::INVALID_ENUM, "a parameter that is none");
    let get = |name| t.get_renderbuffer_parameter_i32(gl::RENDERBUFFER, name);
    t.equal(get(gl::RENDERBUFFER_WIDTH), 4, "the storage after the errors");
    t.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples, gl::RGBA8, 4, 4);
    t.check(get(gl::RENDERBUFFER_SAMPLES) >= samples, "samples");
    t.delete_renderbuffer(buffer);
    t.equal(t.get_parameter_i32(gl::RENDERBUFFER_BINDING), 0, "a deleted renderbuffer is unbound");
    framebuffer(t);
    t.framebuffer_renderbuffer(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D, None);
    t.error(gl::INVALID_ENUM, "a target that is none, also when it takes away");
}

unsafe fn multisample_array(t: &Scene) {
    // Layers of a multisampled array, drawn by layer and read by texelFetch of layer and sample.
    let texture = t.texture_name(gl::TEXTURE_2D_MULTISAMPLE_ARRAY);
    t.raw.TexImage3DMultisample(gl::TEXTURE_2D_MULTISAMPLE_ARRAY, 4, gl::RGBA8, 4, 4, 3, 1);
    t.no_error("a multisampled array");
    framebuffer(t);
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.viewport(0, 0, 4, 4);
    t.enable(gl::SAMPLE_MASK);
    for layer in 0..3 {
        t.framebuffer_texture_layer(gl::FRAMEBUFFER, COLOR0, Some(texture), 0, layer);
        t.complete();
        for sample in 0..4 {
            t.raw.SampleMaski(0, 1 << sample);
            t.set_vec4(program, "color", [layer as f32 * 0.4, sample as f32 * 0.2, 1.0, 1.0]);
            t.fill();
        }
    }
    t.disable(gl::SAMPLE_MASK);
    t.target(4, 4);
    let program = t.program(
        FULL_VS,
        "uniform sampler2DMSArray image; uniform int layer; uniform int index; out vec4 result;
         void main() {
            result = texelFetch(image, ivec3(gl_FragCoord.xy, layer), index);
            if (textureSize(image) != ivec3(4, 4, 3)) result = vec4(0.0);
         }",
    );
    for layer in 0..3u8 {
        for sample in 0..4u8 {
            t.set_int(program, "layer", layer.into());
            t.set_int(program, "index", sample.into());
            t.fill();
            let what = format!("layer {layer} sample {sample}");
            t.area(&t.read(4, 4), (0, 0, 4, 4), [layer * 102, sample * 51, 255, 255], 1, &what);
        }
    }
}

unsafe fn multisample_depth_and_integers(t: &Scene) {
    let depth = t.texture_name(gl::TEXTURE_2D_MULTISAMPLE);
    t.tex_image_2d_multisample(gl::TEXTURE_2D_MULTISAMPLE, 4, gl::DEPTH_COMPONENT24 as i32, 4, 4, true);
    framebuffer(t);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::DEPTH_ATTACHMENT, gl::TEXTURE_2D_MULTISAMPLE, Some(depth), 0);
    t.draw_buffer(gl::NONE);
    t.read_buffer(gl::NONE);
    t.complete();
    t.viewport(0, 0, 4, 4);
    t.clear(gl::DEPTH_BUFFER_BIT);
    t.enable(gl::DEPTH_TEST);
    t.program(FULL_VS, "void main() {}");
    t.vertex_array();
    t.enable(gl::SAMPLE_MASK);
    for sample in 0..4 {
        t.raw.SampleMaski(0, 1 << sample);
        t.depth_range_f64(f64::from(sample) * 0.2, f64::from(sample) * 0.2);
        t.fill();
    }
    t.disable(gl::SAMPLE_MASK);
    t.disable(gl::DEPTH_TEST);
    t.depth_range_f64(0.0, 1.0);
    let integer = t.texture_name(gl::TEXTURE_2D_MULTISAMPLE);
    t.tex_image_2d_multisample(gl::TEXTURE_2D_MULTISAMPLE, 1, gl::RG16UI as i32, 4, 4, true);
    framebuffer(t);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, gl::TEXTURE_2D_MULTISAMPLE, Some(integer), 0);
    t.complete();
    t.clear_buffer_u32_slice(gl::COLOR, 0, &[11, 40000, 0, 0]);
    t.target_of(4, 4, gl::RGBA32F);
    let program = t.program(
        FULL_VS,
        "uniform sampler2DMS image; uniform int index; out vec4 result;
         void main() { result = texelFetch(image, ivec2(gl_FragCoord.xy), index); }",
    );
    t.bind_texture(gl::TEXTURE_2D_MULTISAMPLE, Some(depth));
    for sample in 0..4 {
        t.set_int(program, "index", sample);
        t.fill();
        t.near(t.read_floats(4, 4)[6][0], sample as f32 * 0.2, 1e-4, &format!("depth of sample {sample}"));
    }
    t.bind_texture(gl::TEXTURE_2D_MULTISAMPLE, Some(integer));
    t.program(
        FULL_VS,
        "uniform usampler2DMS image; out vec4 result;
         void main() { result = vec4(texelFetch(image, ivec2(gl_FragCoord.xy), 0)); }",
    );
    t.fill();
    t.equal(t.read_floats(4, 4)[6], [11.0, 40000.0, 0.0, 1.0], "integers");
}

unsafe fn multisample_errors(t: &Scene) {
    let target = gl::TEXTURE_2D_MULTISAMPLE;
    t.texture_name(target);
    t.tex_image_2d_multisample(target, 4, gl::RGBA8 as i32, 8, 6, true);
    let get = |name| t.get_tex_level_parameter_i32(target, 0, name);
    t.equal([get(gl::TEXTURE_WIDTH), get(gl::TEXTURE_HEIGHT)], [8, 6], "size");
    t.check(get(gl::TEXTURE_SAMPLES) >= 4, "TEXTURE_SAMPLES");
    t.equal(get(gl::TEXTURE_FIXED_SAMPLE_LOCATIONS), 1, "TEXTURE_FIXED_SAMPLE_LOCATIONS");
    t.raw.TexParameteri(target, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32);
    t.check(t.get_error() != gl::NO_ERROR, "a filter of a multisample texture");
    t.generate_mipmap(target);
    t.error(gl::INVALID_ENUM, "levels of a multisample texture");
    t.tex_image_2d_multisample(target, 4, gl::BLEND as i32, 8, 6, true);
    t.check(t.get_error() != gl::NO_ERROR, "a format that is none");
    t.tex_image_2d_multisample(target, 4, gl::COMPRESSED_RED_RGTC1 as i32, 8, 6, true);
    t.check(t.get_error() != gl::NO_ERROR, "a format that is not renderable");
    let most = t.get_parameter_i32(gl::MAX_COLOR_TEXTURE_SAMPLES);
    t.tex_image_2d_multisample(target, most + 1, gl::RGBA8 as i32, 8, 6, true);
    t.error(gl::INVALID_OPERATION, "too many samples");
    t.tex_image_2d_multisample(target, 4, gl::RGBA8 as i32, -1, 6, true);
    t.error(gl::INVALID_VALUE, "a negative width");
    let mut v = [0u8; 16];
    t.get_tex_image(target, 0, gl::RGBA, gl::UNSIGNED_BYTE, gl::PixelPackData::Slice(Some(&mut v)));
    t.error(gl::INVALID_ENUM, "texels of a multisample texture");
    t.equal([get(gl::TEXTURE_WIDTH), get(gl::TEXTURE_HEIGHT)], [8, 6], "size after the errors");
    // Fixed and other sample locations do not mix in one framebuffer.
    let (a, b) = (t.texture_name(target), t.create_texture().unwrap());
    t.tex_image_2d_multisample(target, 4, gl::RGBA8 as i32, 4, 4, true);
    t.bind_texture(target, Some(b));
    t.tex_image_2d_multisample(target, 4, gl::RGBA8 as i32, 4, 4, false);
    framebuffer(t);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0, target, Some(a), 0);
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 1, target, Some(b), 0);
    let status = t.check_framebuffer_status(gl::FRAMEBUFFER);
    t.equal(status, gl::FRAMEBUFFER_INCOMPLETE_MULTISAMPLE, "mixed sample locations");
    t.framebuffer_texture_2d(gl::FRAMEBUFFER, COLOR0 + 1, target, None, 0);
    t.equal(t.check_framebuffer_status(gl::FRAMEBUFFER), gl::FRAMEBUFFER_COMPLETE, "one kind alone");
}

/// More framebuffers than a driver remembers, drawn to in turn, some of whose textures die before the frame is over.
unsafe fn many_in_one_frame(t: &Scene) {
    const COUNT: usize = 150;
    let program = t.program(FULL_VS, COLOR_FS);
    t.vertex_array();
    t.viewport(0, 0, 4, 4);
    let value = |i: usize, round: usize| [i as u8, 100 + round as u8, 255 - i as u8, 255];
    let targets: Vec<_> = (0..COUNT)
        .map(|_| {
            let texture = t.create_texture().unwrap();
            t.bind_texture(gl::TEXTURE_2D, Some(texture));
            let (format, kind) = (gl::RGBA, gl::UNSIGNED_BYTE);
            let none = gl::PixelUnpackData::Slice(None);
            t.tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8 as i32, 4, 4, 0, format, kind, none);
            let framebuffer = t.create_framebuffer().unwrap();
            t.bind_framebuffer(gl::FRAMEBUFFER, Some(framebuffer));
            t.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, Some(texture), 0);
            t.complete();
            (framebuffer, texture)
        })
        .collect();
    for round in 0..3 {
        for (i, (framebuffer, texture)) in targets.iter().enumerate() {
            if round == 2 && i % 3 == 0 {
                // What was drawn to it is still on its way.
                t.delete_framebuffer(*framebuffer);
                t.delete_texture(*texture);
                continue;
            }
            t.bind_framebuffer(gl::FRAMEBUFFER, Some(*framebuffer));
            t.set_vec4(program, "color", value(i, round).map(|b| f32::from(b) / 255.0));
            t.fill();
        }
    }
    for (i, (framebuffer, _)) in targets.iter().enumerate().filter(|(i, _)| i % 3 != 0) {
        t.bind_framebuffer(gl::FRAMEBUFFER, Some(*framebuffer));
        let picture = t.read(4, 4);
        t.pixel(&picture, 1, 2, value(i, 2), 1, &format!("framebuffer {i}"));
    }
}
