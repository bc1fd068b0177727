//! Framebuffers, renderbuffers, clears, blits, copies and reads.

use mgpipe_types::{aspect, clear_form, gl, Kind};

use crate::boundary::{PixelData, PixelDest};
use crate::context::Context;
use crate::testing::context;

fn texture(ctx: &mut Context, target: u32, internal: u32, size: [i32; 3], format: u32, type_: u32) -> u32 {
    let mut names = [0];
    ctx.gen_textures(&mut names);
    ctx.bind_texture(target, names[0]);
    let dims = if matches!(target, gl::TEXTURE_3D | gl::TEXTURE_2D_ARRAY) { 3 } else { 2 };
    ctx.tex_image(dims, target, 0, internal as i32, size, 0, format, type_, PixelData::None);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    names[0]
}

fn color_texture(ctx: &mut Context, width: i32, height: i32) -> u32 {
    texture(ctx, gl::TEXTURE_2D, gl::RGBA8, [width, height, 1], gl::RGBA, gl::UNSIGNED_BYTE)
}

fn renderbuffer(ctx: &mut Context, internal: u32, width: i32, height: i32, samples: i32) -> u32 {
    let mut names = [0];
    ctx.gen_renderbuffers(&mut names);
    ctx.bind_renderbuffer(gl::RENDERBUFFER, names[0]);
    ctx.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples, internal, width, height);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    names[0]
}

fn framebuffer(ctx: &mut Context) -> u32 {
    let mut names = [0];
    ctx.gen_framebuffers(&mut names);
    ctx.bind_framebuffer(gl::FRAMEBUFFER, names[0]);
    names[0]
}

fn attach(ctx: &mut Context, attachment: u32, texture: u32) {
    ctx.framebuffer_texture_2d(gl::FRAMEBUFFER, attachment, gl::TEXTURE_2D, texture, 0);
}

fn status(ctx: &mut Context) -> u32 {
    let status = ctx.check_framebuffer_status(gl::FRAMEBUFFER);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    status
}

#[test]
fn completeness_follows_the_rules_and_the_textures() {
    let (mut ctx, _) = context();
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_COMPLETE, "the default framebuffer");
    framebuffer(&mut ctx);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT);
    let color = color_texture(&mut ctx, 8, 8);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, color);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_COMPLETE);
    // A respecified texture changes the framebuffer without any framebuffer command.
    ctx.tex_image(2, gl::TEXTURE_2D, 0, gl::RGB9_E5 as i32, [8, 8, 1], 0, gl::RGB, gl::FLOAT, PixelData::None);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "RGB9_E5 is not renderable");
    ctx.tex_image(2, gl::TEXTURE_2D, 0, gl::RGBA8 as i32, [0, 0, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE, PixelData::None);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "no texels");
    ctx.tex_image(2, gl::TEXTURE_2D, 0, gl::RGBA8 as i32, [8, 8, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE, PixelData::None);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_COMPLETE);
    attach(&mut ctx, gl::DEPTH_ATTACHMENT, color);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "colour is no depth");
    let depth = renderbuffer(&mut ctx, gl::DEPTH24_STENCIL8, 8, 8, 0);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, depth);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_COMPLETE);
    let stencil = renderbuffer(&mut ctx, gl::DEPTH24_STENCIL8, 8, 8, 0);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::STENCIL_ATTACHMENT, gl::RENDERBUFFER, stencil);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_UNSUPPORTED, "different depth and stencil images");
    let samples = renderbuffer(&mut ctx, gl::DEPTH24_STENCIL8, 8, 8, 4);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, samples);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_MULTISAMPLE);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, 0);
    let array = texture(&mut ctx, gl::TEXTURE_2D_ARRAY, gl::RGBA8, [8, 8, 4], gl::RGBA, gl::UNSIGNED_BYTE);
    ctx.framebuffer_texture(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, array, 0);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_LAYER_TARGETS);
    ctx.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, array, 0, 4);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_INCOMPLETE_ATTACHMENT, "layer 4 of 4");
    ctx.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT1, array, 0, 3);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_COMPLETE);
}

#[test]
fn drawing_into_an_incomplete_framebuffer_is_an_error() {
    let (mut ctx, log) = context();
    framebuffer(&mut ctx);
    ctx.clear(gl::COLOR_BUFFER_BIT);
    assert_eq!(ctx.get_error(), gl::INVALID_FRAMEBUFFER_OPERATION);
    let mut out = [0; 4];
    ctx.read_pixels(0, 0, 1, 1, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Client(&mut out));
    assert_eq!(ctx.get_error(), gl::INVALID_FRAMEBUFFER_OPERATION);
    assert_eq!(log.lock().count("clear"), 0);
}

#[test]
fn reading_into_a_pack_buffer_waits_for_nothing() {
    let (mut ctx, log) = context();
    framebuffer(&mut ctx);
    let a = color_texture(&mut ctx, 16, 8);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, a);
    let mut names = [0];
    ctx.gen_buffers(&mut names);
    ctx.bind_buffer(gl::PIXEL_PACK_BUFFER, names[0]);
    ctx.buffer_data(gl::PIXEL_PACK_BUFFER, 512, None, gl::STREAM_READ);
    let counts = |log: &parking_lot::Mutex<crate::testing::Log>| {
        ["readback_to_buffer", "read_pixels", "resource_readback"].map(|call| log.lock().count(call))
    };
    ctx.read_pixels(0, 0, 16, 8, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Buffer(0));
    assert_eq!((ctx.get_error(), counts(&log)), (gl::NO_ERROR, [1, 0, 0]));
    ctx.read_pixels(0, 0, 16, 8, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Buffer(4));
    assert_eq!((ctx.get_error(), counts(&log)), (gl::INVALID_OPERATION, [1, 0, 0]), "beyond the end");
    // Other bytes than the device holds are converted when somebody looks; pixels outside the framebuffer go through this
    // side at once.
    ctx.read_pixels(0, 0, 2, 2, gl::RGB, gl::UNSIGNED_BYTE, PixelDest::Buffer(0));
    ctx.read_pixels(-1, 0, 2, 2, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Buffer(0));
    assert_eq!((ctx.get_error(), counts(&log)[..2].to_vec()), (gl::NO_ERROR, vec![2, 1]));
}

#[test]
fn the_server_gets_surfaces_and_their_smallest_size() {
    let (mut ctx, log) = context();
    framebuffer(&mut ctx);
    let a = color_texture(&mut ctx, 16, 8);
    let b = color_texture(&mut ctx, 8, 32);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, a);
    attach(&mut ctx, gl::COLOR_ATTACHMENT2, b);
    ctx.draw_buffers(&[gl::COLOR_ATTACHMENT2, gl::NONE, gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT1]);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    ctx.clear(gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT);
    let log = log.lock();
    let state = &log.framebuffer;
    assert_eq!((state.width, state.height, state.layers, state.samples), (8, 8, 1, 0));
    assert_eq!(state.draw_buffers[..4], [2, -1, 0, -1]);
    assert!(state.color[0].is_some() && !state.color[1].is_some() && state.color[2].is_some());
    assert_eq!(state.read_surface, state.color[0]);
    assert_eq!(log.clears.last().map(|c| c.buffers), Some(aspect::COLOR), "there is no depth to clear");
}

#[test]
fn clears_of_one_buffer_carry_their_kind() {
    let (mut ctx, log) = context();
    ctx.clear_bufferiv(gl::COLOR, 0, &[-1, 2, -3, 4]);
    ctx.clear_bufferuiv(gl::COLOR, 0, &[1, 2, 3, u32::MAX]);
    ctx.clear_bufferfi(gl::DEPTH_STENCIL, 0, 2.0, 77);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    {
        let log = log.lock();
        assert_eq!(log.clears[0].color_form, clear_form::SIGNED);
        assert_eq!(log.clears[0].color[0], u32::MAX);
        assert_eq!(log.clears[1].color_form, clear_form::UNSIGNED);
        assert_eq!(log.clears[2].buffers, aspect::DEPTH | aspect::STENCIL);
        assert_eq!((log.clears[2].depth, log.clears[2].stencil), (1.0, 77), "fixed-point depth is clamped");
    }
    for (buffer, index, wanted) in
        [(gl::DEPTH, 1, gl::INVALID_VALUE), (gl::COLOR, 99, gl::INVALID_VALUE), (gl::STENCIL, 0, gl::INVALID_ENUM)]
    {
        ctx.clear_bufferfv(buffer, index, &[0.0; 4]);
        assert_eq!(ctx.get_error(), wanted, "{buffer:#x} {index}");
    }
    ctx.clear(1 << 31);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE);
}

#[test]
fn draw_and_read_buffers_belong_to_the_framebuffer() {
    let (mut ctx, _) = context();
    let first = framebuffer(&mut ctx);
    ctx.draw_buffers(&[gl::NONE, gl::COLOR_ATTACHMENT3]);
    ctx.read_buffer(gl::COLOR_ATTACHMENT3);
    framebuffer(&mut ctx);
    let value = |ctx: &mut Context, pname| ctx.get(pname).map(|v| v.to_u32(0));
    assert_eq!(value(&mut ctx, gl::READ_BUFFER), Some(gl::COLOR_ATTACHMENT0));
    ctx.bind_framebuffer(gl::FRAMEBUFFER, first);
    assert_eq!(value(&mut ctx, gl::READ_BUFFER), Some(gl::COLOR_ATTACHMENT3));
    assert_eq!(value(&mut ctx, gl::DRAW_BUFFER0), Some(gl::NONE));
    assert_eq!(value(&mut ctx, gl::DRAW_BUFFER1), Some(gl::COLOR_ATTACHMENT3));
    for (list, wanted) in [
        (&[gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT0][..], gl::INVALID_OPERATION),
        (&[gl::BACK_LEFT][..], gl::INVALID_OPERATION),
        (&[gl::RGBA][..], gl::INVALID_ENUM),
        (&[gl::NONE; 9][..], gl::INVALID_VALUE),
        (&[gl::COLOR_ATTACHMENT0 + 20][..], gl::INVALID_OPERATION),
    ] {
        ctx.draw_buffers(list);
        assert_eq!(ctx.get_error(), wanted, "{list:?}");
    }
    ctx.bind_framebuffer(gl::FRAMEBUFFER, 0);
    ctx.draw_buffer(gl::COLOR_ATTACHMENT0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    assert_eq!(value(&mut ctx, gl::DRAW_BUFFER1), Some(gl::NONE));
}

#[test]
fn attaching_checks_its_arguments() {
    let (mut ctx, _) = context();
    let color = color_texture(&mut ctx, 4, 4);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, color);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "the default framebuffer");
    framebuffer(&mut ctx);
    type Call = (u32, u32, u32, u32, i32);
    let calls: &[(Call, u32)] = &[
        ((gl::RENDERBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, color, 0), gl::INVALID_ENUM),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0 + 9, gl::TEXTURE_2D, color, 0), gl::INVALID_OPERATION),
        ((gl::FRAMEBUFFER, gl::BACK, gl::TEXTURE_2D, color, 0), gl::INVALID_ENUM),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_3D, color, 0), gl::INVALID_OPERATION),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RGBA, color, 0), gl::INVALID_ENUM),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_RECTANGLE, color, 0), gl::INVALID_OPERATION),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, 999, 0), gl::INVALID_OPERATION),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, color, -1), gl::INVALID_VALUE),
        ((gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, color, 99), gl::INVALID_VALUE),
    ];
    for ((target, attachment, textarget, name, level), wanted) in calls.iter().copied() {
        ctx.framebuffer_texture_2d(target, attachment, textarget, name, level);
        assert_eq!(ctx.get_error(), wanted, "{target:#x} {attachment:#x} {textarget:#x} {name} {level}");
    }
    assert_eq!(
        ctx.get_framebuffer_attachment_parameter(
            gl::FRAMEBUFFER,
            gl::COLOR_ATTACHMENT0,
            gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE
        ),
        Some(gl::NONE as i32),
        "failing calls attach nothing"
    );
    ctx.framebuffer_texture_layer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, color, 0, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "a 2D texture has no layers");
}

#[test]
fn extensions_ask_for_integer_targets_and_texel_formats() {
    /// `GL_RGBA_INTEGER_MODE_EXT`.
    const RGBA_INTEGER_MODE: u32 = 0x8D9E;
    let (mut ctx, _) = context();
    let integer = |ctx: &mut Context| ctx.get(RGBA_INTEGER_MODE).map(|v| v.to_bool(0));
    let format = |ctx: &mut Context| ctx.get(gl::TEXTURE_BUFFER_FORMAT_ARB).map(|v| v.to_u32(0));
    assert_eq!(integer(&mut ctx), Some(false));
    framebuffer(&mut ctx);
    let color = color_texture(&mut ctx, 4, 4);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, color);
    assert_eq!(integer(&mut ctx), Some(false));
    let numbers = texture(&mut ctx, gl::TEXTURE_2D, gl::RGBA8UI, [4, 4, 1], gl::RGBA_INTEGER, gl::UNSIGNED_BYTE);
    attach(&mut ctx, gl::COLOR_ATTACHMENT1, numbers);
    assert_eq!(integer(&mut ctx), Some(true));

    let (mut texture, mut buffer) = ([0], [0]);
    ctx.gen_textures(&mut texture);
    ctx.gen_buffers(&mut buffer);
    assert_eq!(format(&mut ctx), Some(gl::R8));
    ctx.bind_texture(gl::TEXTURE_BUFFER, texture[0]);
    ctx.bind_buffer(gl::TEXTURE_BUFFER, buffer[0]);
    assert_eq!(format(&mut ctx), Some(gl::R8));
    ctx.tex_buffer(gl::TEXTURE_BUFFER, gl::RGBA8, buffer[0]);
    assert_eq!(format(&mut ctx), Some(gl::RGBA8));
    ctx.tex_buffer(gl::TEXTURE_BUFFER, gl::RG16F, 0);
    assert_eq!(format(&mut ctx), Some(gl::RG16F), "the format outlives the buffer");
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn attachment_queries_tell_what_is_attached() {
    let (mut ctx, _) = context();
    framebuffer(&mut ctx);
    let cube = {
        let mut names = [0];
        ctx.gen_textures(&mut names);
        ctx.bind_texture(gl::TEXTURE_CUBE_MAP, names[0]);
        names[0]
    };
    let face = gl::TEXTURE_CUBE_MAP_NEGATIVE_Y;
    ctx.tex_image(2, face, 1, gl::SRGB8_ALPHA8 as i32, [4, 4, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE, PixelData::None);
    ctx.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, face, cube, 1);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    let mut query = |pname| ctx.get_framebuffer_attachment_parameter(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, pname);
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE), Some(gl::TEXTURE as i32));
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME), Some(cube as i32));
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL), Some(1));
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE), Some(face as i32));
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING), Some(gl::SRGB as i32));
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_RED_SIZE), Some(8));
    assert_eq!(query(gl::FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE), Some(0));
    // A level alone, without a level 0, is a framebuffer all the same.
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_COMPLETE);
    let mut query = |attachment, pname| ctx.get_framebuffer_attachment_parameter(gl::FRAMEBUFFER, attachment, pname);
    assert_eq!(query(gl::DEPTH_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME), Some(0));
    assert_eq!(query(gl::DEPTH_ATTACHMENT, gl::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL), None);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
}

#[test]
fn reads_outside_the_framebuffer_leave_memory_alone() {
    let (mut ctx, log) = context();
    framebuffer(&mut ctx);
    let color = color_texture(&mut ctx, 2, 2);
    let data: Vec<u8> = (0..16).collect();
    ctx.tex_sub_image(2, gl::TEXTURE_2D, 0, [0; 3], [2, 2, 1], gl::RGBA, gl::UNSIGNED_BYTE, PixelData::Client(&data));
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, color);
    let mut out = [0xee; 4 * 4 * 4];
    ctx.read_pixels(-1, -1, 4, 4, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Client(&mut out));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    let mut expected = [0xee; 64];
    expected[(4 + 1) * 4..(4 + 3) * 4].copy_from_slice(&data[..8]);
    expected[(8 + 1) * 4..(8 + 3) * 4].copy_from_slice(&data[8..]);
    assert_eq!(out, expected);
    let reads = log.lock().count("read_pixels");
    ctx.read_pixels(100, 100, 4, 4, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Client(&mut out));
    assert_eq!(log.lock().count("read_pixels"), reads, "nothing to read");
    for (format, type_, wanted) in [
        (gl::RGBA_INTEGER, gl::UNSIGNED_BYTE, gl::INVALID_OPERATION),
        (gl::DEPTH_COMPONENT, gl::FLOAT, gl::INVALID_OPERATION),
        (gl::RGBA8, gl::UNSIGNED_BYTE, gl::INVALID_ENUM),
        (gl::RGB, gl::UNSIGNED_INT_8_8_8_8, gl::INVALID_OPERATION),
    ] {
        ctx.read_pixels(0, 0, 1, 1, format, type_, PixelDest::Client(&mut out));
        assert_eq!(ctx.get_error(), wanted, "{format:#x} {type_:#x}");
    }
}

#[test]
fn copies_run_on_the_device_and_are_cut_to_their_source() {
    let (mut ctx, log) = context();
    framebuffer(&mut ctx);
    let source = color_texture(&mut ctx, 8, 8);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, source);
    color_texture(&mut ctx, 16, 16);
    ctx.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 4, 4, -2, 6, 6, 6);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    {
        let log = log.lock();
        let blit = log.blits.last().expect("a copy");
        let (s, d) = (blit.src_rect, blit.dst_rect);
        assert_eq!((s.x0, s.y0, s.x1, s.y1), (0, 6, 4, 8));
        assert_eq!((d.x0, d.y0, d.x1, d.y1), (6, 4, 10, 6));
        assert_eq!((blit.mask, blit.scissor_enabled, blit.srgb_encode), (aspect::COLOR, 0, 0));
        assert_eq!(log.count("read_pixels") + log.count("get_texture_image"), 0);
    }
    ctx.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::RGBA8UI, 0, 0, 4, 4, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "integers");
    ctx.copy_tex_image_2d(gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT24, 0, 0, 4, 4, 0);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "no depth to copy");
    ctx.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 12, 0, 0, 0, 8, 8);
    assert_eq!(ctx.get_error(), gl::INVALID_VALUE, "outside the texture");
    let samples = renderbuffer(&mut ctx, gl::RGBA8, 8, 8, 4);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RENDERBUFFER, samples);
    ctx.copy_tex_sub_image_2d(gl::TEXTURE_2D, 0, 0, 0, 0, 0, 8, 8);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "multisampled");
}

#[test]
fn blits_name_each_destination_once() {
    let (mut ctx, log) = context();
    let read = framebuffer(&mut ctx);
    let source = color_texture(&mut ctx, 8, 8);
    attach(&mut ctx, gl::COLOR_ATTACHMENT0, source);
    let depth = renderbuffer(&mut ctx, gl::DEPTH24_STENCIL8, 8, 8, 0);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, depth);
    framebuffer(&mut ctx);
    for i in 0..2 {
        let dest = color_texture(&mut ctx, 8, 8);
        attach(&mut ctx, gl::COLOR_ATTACHMENT0 + i, dest);
    }
    let depth = renderbuffer(&mut ctx, gl::DEPTH24_STENCIL8, 8, 8, 0);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, depth);
    ctx.draw_buffers(&[gl::COLOR_ATTACHMENT0, gl::COLOR_ATTACHMENT1]);
    ctx.bind_framebuffer(gl::READ_FRAMEBUFFER, read);
    let all = gl::COLOR_BUFFER_BIT | gl::DEPTH_BUFFER_BIT | gl::STENCIL_BUFFER_BIT;
    ctx.blit_framebuffer(0, 0, 8, 8, 8, 8, 0, 0, all, gl::NEAREST);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    {
        let log = log.lock();
        let masks: Vec<u32> = log.blits.iter().map(|b| b.mask).collect();
        assert_eq!(masks, [aspect::COLOR, aspect::COLOR, aspect::DEPTH | aspect::STENCIL]);
        assert_ne!(log.blits[0].dst, log.blits[1].dst);
        assert_eq!(log.blits[2].src.kind, Kind::Renderbuffer as u8);
        let d = log.blits[0].dst_rect;
        assert_eq!((d.x0, d.y0, d.x1, d.y1), (8, 8, 0, 0), "a flip stays a flip");
    }
    for (mask, filter, wanted) in [
        (all, gl::LINEAR, gl::INVALID_OPERATION),
        (1 << 30, gl::NEAREST, gl::INVALID_VALUE),
        (gl::COLOR_BUFFER_BIT, gl::REPEAT, gl::INVALID_ENUM),
    ] {
        ctx.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, mask, filter);
        assert_eq!(ctx.get_error(), wanted);
    }
    let samples = renderbuffer(&mut ctx, gl::RGBA8, 8, 8, 4);
    ctx.bind_framebuffer(gl::FRAMEBUFFER, read);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::DEPTH_STENCIL_ATTACHMENT, gl::RENDERBUFFER, 0);
    ctx.framebuffer_renderbuffer(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::RENDERBUFFER, samples);
    ctx.bind_framebuffer(gl::DRAW_FRAMEBUFFER, 0);
    ctx.blit_framebuffer(0, 0, 8, 8, 0, 0, 16, 16, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "a scaled resolve");
    ctx.blit_framebuffer(0, 0, 8, 8, 0, 0, 8, 8, gl::COLOR_BUFFER_BIT, gl::NEAREST);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

#[test]
fn renderbuffers_check_and_report_their_storage() {
    let (mut ctx, _) = context();
    let mut names = [0];
    ctx.gen_renderbuffers(&mut names);
    ctx.renderbuffer_storage(gl::RENDERBUFFER, gl::RGBA8, 4, 4);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION, "nothing is bound");
    ctx.bind_renderbuffer(gl::RENDERBUFFER, names[0]);
    for (internal, width, samples, wanted) in [
        (gl::RGB9_E5, 4, 0, gl::INVALID_ENUM),
        (gl::COMPRESSED_RED_RGTC1, 4, 0, gl::INVALID_ENUM),
        (gl::RGBA8, -1, 0, gl::INVALID_VALUE),
        (gl::RGBA8, 1 << 20, 0, gl::INVALID_VALUE),
        (gl::RGBA8, 4, -1, gl::INVALID_VALUE),
        (gl::RGBA8, 4, 1000, gl::INVALID_VALUE),
    ] {
        ctx.renderbuffer_storage_multisample(gl::RENDERBUFFER, samples, internal, width, 4);
        assert_eq!(ctx.get_error(), wanted, "{internal:#x} {width} {samples}");
    }
    ctx.renderbuffer_storage(gl::RENDERBUFFER, gl::DEPTH24_STENCIL8, 5, 6);
    let mut query = |pname| ctx.get_renderbuffer_parameter(gl::RENDERBUFFER, pname);
    assert_eq!(query(gl::RENDERBUFFER_WIDTH), Some(5));
    assert_eq!(query(gl::RENDERBUFFER_HEIGHT), Some(6));
    assert_eq!(query(gl::RENDERBUFFER_STENCIL_SIZE), Some(8));
    assert_eq!(query(gl::RENDERBUFFER_RED_SIZE), Some(0));
    assert_eq!(query(gl::TEXTURE_WIDTH), None);
}

#[test]
fn without_a_drawable_there_is_no_default_framebuffer() {
    let (mut ctx, _) = context();
    ctx.make_current(None, None);
    assert_eq!(status(&mut ctx), gl::FRAMEBUFFER_UNDEFINED);
    ctx.clear(gl::COLOR_BUFFER_BIT);
    assert_eq!(ctx.get_error(), gl::INVALID_FRAMEBUFFER_OPERATION);
}
