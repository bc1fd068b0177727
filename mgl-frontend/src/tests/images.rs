//! Textures: images, storage, uploads, read-backs, copies, errors.

use std::sync::Arc;

use mgpipe_types::{gl, Format, Kind, Target};
use parking_lot::Mutex;

use crate::boundary::{ParamData, Params, PixelData, PixelDest};
use crate::context::Context;
use crate::testing::{context, Log};

fn gen(ctx: &mut Context) -> u32 {
    let mut names = [0];
    ctx.gen_textures(&mut names);
    names[0]
}

fn texture(ctx: &mut Context, target: u32) -> u32 {
    let name = gen(ctx);
    ctx.bind_texture(target, name);
    name
}

fn upload(ctx: &mut Context, target: u32, level: i32, internal: u32, size: [i32; 3], format: u32, data: &[u8]) {
    let dims = if size[2] > 1 { 3 } else { 2 };
    ctx.tex_image(dims, target, level, internal as i32, size, 0, format, gl::UNSIGNED_BYTE, PixelData::Client(data));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
}

fn rgba(n: usize, seed: u8) -> Vec<u8> {
    (0..n * 4).map(|i| (i as u8).wrapping_mul(7).wrapping_add(seed)).collect()
}

fn get(ctx: &mut Context, target: u32, level: i32, bytes: usize) -> Vec<u8> {
    let mut out = vec![0xee; bytes];
    ctx.get_tex_image(target, level, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Client(&mut out));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    out
}

fn error(ctx: &mut Context, run: impl FnOnce(&mut Context)) -> u32 {
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    run(ctx);
    ctx.get_error()
}

fn parameter(ctx: &mut Context, target: u32, pname: u32, value: i32) {
    ctx.tex_parameter(target, pname, Params { data: ParamData::Ints(&[value]), scalar: true });
}

fn texture_images(log: &Arc<Mutex<Log>>) -> usize {
    log.lock().images.keys().filter(|(kind, _)| *kind == Kind::Texture as u8).count()
}

#[test]
fn texels_come_back_as_they_went_in() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let data = rgba(5 * 3, 1);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [5, 3, 1], gl::RGBA, &data);
    // Nothing is sent before the texture is used.
    assert_eq!(log.lock().count("resource_subdata"), 0);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, data.len()), data);
    assert_eq!(log.lock().count("resource_subdata"), 1);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, data.len()), data);
    assert_eq!(log.lock().count("resource_subdata"), 1, "an upload is sent once");
}

#[test]
fn a_submit_sends_what_waits_for_other_contexts() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], gl::RGBA, &rgba(4, 1));
    let gone = texture(&mut ctx, gl::TEXTURE_2D);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], gl::RGBA, &rgba(4, 2));
    ctx.delete_textures(&[gone]);
    ctx.flush();
    assert_eq!(log.lock().count("resource_subdata"), 1, "the texture that is still there");
    ctx.flush();
    assert_eq!(log.lock().count("resource_subdata"), 1, "once");
}

#[test]
fn a_format_without_alpha_reads_one() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    ctx.pixel_storei(gl::UNPACK_ALIGNMENT, 1);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGB8, [1, 2, 1], gl::RGB, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, 8), [1, 2, 3, 255, 4, 5, 6, 255]);
}

#[test]
fn sub_images_land_in_their_box_in_order() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    ctx.tex_image(2, gl::TEXTURE_2D, 0, gl::RGBA8 as i32, [8, 8, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE, PixelData::None);
    let mut expected = vec![0xcd; 8 * 8 * 4];
    let mut put = |ctx: &mut Context, x: usize, y: usize, w: usize, h: usize, value: u8| {
        let data = vec![value; w * h * 4];
        let (offset, size) = ([x as i32, y as i32, 0], [w as i32, h as i32, 1]);
        ctx.tex_sub_image(2, gl::TEXTURE_2D, 0, offset, size, gl::RGBA, gl::UNSIGNED_BYTE, PixelData::Client(&data));
        for row in y..y + h {
            expected[(row * 8 + x) * 4..(row * 8 + x + w) * 4].fill(value);
        }
    };
    put(&mut ctx, 1, 1, 4, 4, 10);
    put(&mut ctx, 3, 3, 4, 4, 20);
    put(&mut ctx, 0, 7, 8, 1, 30);
    put(&mut ctx, 2, 2, 1, 1, 40);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, expected.len()), expected);
    // Texels between the boxes were never sent: the pattern of the storage is still there.
    assert!(expected.contains(&0xcd));
    assert!(log.lock().count("resource_subdata") <= 2, "boxes travel together");
}

#[test]
fn respecifying_one_level_leaves_the_others_alone() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let levels = [rgba(64, 1), rgba(16, 2), rgba(4, 3), rgba(1, 4)];
    for (level, data) in levels.iter().enumerate() {
        let size = 8 >> level;
        upload(&mut ctx, gl::TEXTURE_2D, level as i32, gl::RGBA8, [size, size, 1], gl::RGBA, data);
    }
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, 256), levels[0]);
    let other = rgba(64, 99);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], gl::RGBA, &other);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, 256), other);
    for (level, data) in levels.iter().enumerate().skip(1) {
        assert_eq!(&get(&mut ctx, gl::TEXTURE_2D, level as i32, data.len()), data, "level {level}");
    }
}

#[test]
fn an_accepted_level_survives_a_respecify_before_it_is_sent() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let small = rgba(16, 5);
    upload(&mut ctx, gl::TEXTURE_2D, 1, gl::RGBA8, [4, 4, 1], gl::RGBA, &small);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [16, 16, 1], gl::RGBA, &rgba(256, 1));
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], gl::RGBA, &rgba(64, 1));
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 1, 64), small);
}

#[test]
fn a_level_that_does_not_fit_moves_out_and_back_on_the_device() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let (base, small) = (rgba(64, 1), rgba(16, 2));
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], gl::RGBA, &base);
    upload(&mut ctx, gl::TEXTURE_2D, 1, gl::RGBA8, [4, 4, 1], gl::RGBA, &small);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 1, 64), small);
    let images = texture_images(&log);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [32, 32, 1], gl::RGBA, &rgba(1024, 3));
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 1, 64), small, "level 1 is no part of a 32 × 32 chain, and still there");
    assert_eq!(texture_images(&log), images + 1);
    let uploads = log.lock().count("resource_subdata");
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [8, 8, 1], gl::RGBA, &base);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 1, 64), small);
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, 256), base);
    ctx.flush();
    assert_eq!(texture_images(&log), images, "the level's own resource is gone");
    assert_eq!(log.lock().count("resource_subdata"), uploads + 1, "level 1 never travelled again");
}

#[test]
fn cube_faces_are_layers() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_CUBE_MAP);
    for face in 0..6u32 {
        let target = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
        upload(&mut ctx, target, 0, gl::RGBA8, [2, 2, 1], gl::RGBA, &rgba(4, face as u8 * 40));
    }
    for face in 0..6u32 {
        let target = gl::TEXTURE_CUBE_MAP_POSITIVE_X + face;
        assert_eq!(get(&mut ctx, target, 0, 16), rgba(4, face as u8 * 40), "face {face}");
    }
    let log = log.lock();
    let cube = log.images.values().find(|i| i.desc.target == Target::TexCube as u8).expect("a cube");
    assert_eq!((cube.desc.array_layers, cube.desc.levels), (6, 1));
}

#[test]
fn volumes_and_arrays_keep_their_slices_apart() {
    let (mut ctx, _) = context();
    for target in [gl::TEXTURE_3D, gl::TEXTURE_2D_ARRAY] {
        texture(&mut ctx, target);
        let data = rgba(2 * 2 * 3, 9);
        upload(&mut ctx, target, 0, gl::RGBA8, [2, 2, 3], gl::RGBA, &data);
        ctx.tex_sub_image(3, target, 0, [0, 1, 2], [2, 1, 1], gl::RGBA, gl::UNSIGNED_BYTE, PixelData::Client(&[7; 8]));
        let mut expected = data.clone();
        expected[(2 * 4 + 2) * 4..].fill(7);
        assert_eq!(get(&mut ctx, target, 0, data.len()), expected);
    }
    texture(&mut ctx, gl::TEXTURE_1D_ARRAY);
    let data = rgba(4 * 3, 2);
    upload(&mut ctx, gl::TEXTURE_1D_ARRAY, 0, gl::RGBA8, [4, 3, 1], gl::RGBA, &data);
    assert_eq!(get(&mut ctx, gl::TEXTURE_1D_ARRAY, 0, data.len()), data);
}

#[test]
fn pixel_buffers_are_read_and_written_within_their_bounds() {
    let (mut ctx, _) = context();
    let mut names = [0; 2];
    ctx.gen_buffers(&mut names);
    let data = rgba(4, 3);
    let mut contents = vec![0xaa; 4];
    contents.extend_from_slice(&data);
    ctx.bind_buffer(gl::PIXEL_UNPACK_BUFFER, names[0]);
    ctx.buffer_data(gl::PIXEL_UNPACK_BUFFER, contents.len(), Some(&contents), gl::STATIC_DRAW);
    texture(&mut ctx, gl::TEXTURE_2D);
    assert_eq!(ctx.unpack_bytes(2, [2, 2, 1], gl::RGBA, gl::UNSIGNED_BYTE), None);
    ctx.tex_image(
        2,
        gl::TEXTURE_2D,
        0,
        gl::RGBA8 as i32,
        [2, 2, 1],
        0,
        gl::RGBA,
        gl::UNSIGNED_BYTE,
        PixelData::Buffer(4),
    );
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    let beyond = error(&mut ctx, |ctx| {
        ctx.tex_image(
            2,
            gl::TEXTURE_2D,
            0,
            gl::RGBA8 as i32,
            [2, 2, 1],
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            PixelData::Buffer(5),
        );
    });
    assert_eq!(beyond, gl::INVALID_OPERATION);
    let misaligned = error(&mut ctx, |ctx| {
        ctx.tex_image(2, gl::TEXTURE_2D, 0, gl::R32F as i32, [1, 1, 1], 0, gl::RED, gl::FLOAT, PixelData::Buffer(2));
    });
    assert_eq!(misaligned, gl::INVALID_OPERATION);
    ctx.bind_buffer(gl::PIXEL_PACK_BUFFER, names[1]);
    ctx.buffer_data(gl::PIXEL_PACK_BUFFER, 24, Some(&[0x55; 24]), gl::STREAM_READ);
    ctx.get_tex_image(gl::TEXTURE_2D, 0, gl::RGBA, gl::UNSIGNED_BYTE, PixelDest::Buffer(4));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    let mut out = [0; 24];
    ctx.get_buffer_sub_data(gl::PIXEL_PACK_BUFFER, 0, &mut out);
    assert_eq!(out[..4], [0x55; 4]);
    assert_eq!(out[4..20], data[..]);
    assert_eq!(out[20..], [0x55; 4]);
}

#[test]
fn illegal_images_raise_the_specified_error_and_change_nothing() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let data = rgba(4, 1);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], gl::RGBA, &data);
    type Call = (u32, u32, i32, u32, [i32; 3], i32, u32, u32);
    let calls: &[(Call, u32)] = &[
        ((2, gl::TEXTURE_3D, 0, gl::RGBA8, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_ENUM),
        ((2, gl::TEXTURE_CUBE_MAP, 0, gl::RGBA8, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_ENUM),
        ((2, gl::TEXTURE_2D, -1, gl::RGBA8, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 99, gl::RGBA8, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [-1, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [1 << 20, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], 1, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 0, 0x1234, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 0, 4, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], 0, gl::RGBA8, gl::UNSIGNED_BYTE), gl::INVALID_ENUM),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], 0, gl::RGBA, gl::DOUBLE), gl::INVALID_ENUM),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], 0, gl::RGB, gl::UNSIGNED_INT_8_8_8_8), gl::INVALID_OPERATION),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], 0, gl::RGBA_INTEGER, gl::UNSIGNED_BYTE), gl::INVALID_OPERATION),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8UI, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_OPERATION),
        ((2, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], 0, gl::DEPTH_COMPONENT, gl::FLOAT), gl::INVALID_OPERATION),
        (
            (2, gl::TEXTURE_2D, 0, gl::DEPTH_COMPONENT24, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE),
            gl::INVALID_OPERATION,
        ),
        (
            (3, gl::TEXTURE_3D, 0, gl::DEPTH_COMPONENT24, [2, 2, 2], 0, gl::DEPTH_COMPONENT, gl::FLOAT),
            gl::INVALID_OPERATION,
        ),
        (
            (2, gl::TEXTURE_CUBE_MAP_POSITIVE_X, 0, gl::RGBA8, [2, 1, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE),
            gl::INVALID_VALUE,
        ),
        ((2, gl::TEXTURE_RECTANGLE, 1, gl::RGBA8, [2, 2, 1], 0, gl::RGBA, gl::UNSIGNED_BYTE), gl::INVALID_VALUE),
    ];
    for ((dims, target, level, internal, size, border, format, type_), wanted) in calls.iter().copied() {
        let got = error(&mut ctx, |ctx| {
            ctx.tex_image(dims, target, level, internal as i32, size, border, format, type_, PixelData::None);
        });
        assert_eq!(got, wanted, "{target:#x} level {level} {internal:#x} {size:?} {format:#x} {type_:#x}");
    }
    for (offset, size) in
        [([-1, 0, 0], [1, 1, 1]), ([1, 0, 0], [2, 1, 1]), ([0, 0, 0], [1, -1, 1]), ([i32::MAX, 0, 0], [i32::MAX, 1, 1])]
    {
        let got = error(&mut ctx, |ctx| {
            ctx.tex_sub_image(
                2,
                gl::TEXTURE_2D,
                0,
                offset,
                size,
                gl::RGBA,
                gl::UNSIGNED_BYTE,
                PixelData::Client(&data),
            );
        });
        assert_eq!(got, gl::INVALID_VALUE, "{offset:?} {size:?}");
    }
    let got = error(&mut ctx, |ctx| {
        ctx.tex_sub_image(
            2,
            gl::TEXTURE_2D,
            3,
            [0; 3],
            [1, 1, 1],
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            PixelData::Client(&data),
        );
    });
    assert_eq!(got, gl::INVALID_OPERATION, "a level that was never specified");
    assert_eq!(get(&mut ctx, gl::TEXTURE_2D, 0, 16), data);
}

#[test]
fn proxies_answer_without_an_error_and_without_a_texture() {
    let (mut ctx, _) = context();
    let mut ask = |size: i32| {
        ctx.tex_image(
            2,
            gl::PROXY_TEXTURE_2D,
            0,
            gl::RGBA8 as i32,
            [size, size, 1],
            0,
            gl::RGBA,
            gl::UNSIGNED_BYTE,
            PixelData::None,
        );
        assert_eq!(ctx.get_error(), gl::NO_ERROR);
        ctx.get_tex_level_parameter(gl::PROXY_TEXTURE_2D, 0, gl::TEXTURE_WIDTH).map(|v| v.to_i32(0))
    };
    assert_eq!(ask(64), Some(64));
    assert_eq!(ask(1 << 20), Some(0));
}

#[test]
fn level_queries_describe_the_image() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let query = |ctx: &mut Context, pname| ctx.get_tex_level_parameter(gl::TEXTURE_2D, 0, pname).map(|v| v.to_i32(0));
    assert_eq!(query(&mut ctx, gl::TEXTURE_WIDTH), Some(0));
    ctx.tex_image(2, gl::TEXTURE_2D, 0, gl::RGB9_E5 as i32, [4, 2, 1], 0, gl::RGB, gl::FLOAT, PixelData::None);
    for (pname, value) in [
        (gl::TEXTURE_WIDTH, 4),
        (gl::TEXTURE_HEIGHT, 2),
        (gl::TEXTURE_DEPTH, 1),
        (gl::TEXTURE_INTERNAL_FORMAT, gl::RGB9_E5 as i32),
        (gl::TEXTURE_RED_SIZE, 9),
        (gl::TEXTURE_ALPHA_SIZE, 0),
        (gl::TEXTURE_SHARED_SIZE, 5),
        (gl::TEXTURE_GREEN_TYPE, gl::FLOAT as i32),
        (gl::TEXTURE_ALPHA_TYPE, gl::NONE as i32),
        (gl::TEXTURE_COMPRESSED, 0),
    ] {
        assert_eq!(query(&mut ctx, pname), Some(value), "{pname:#x}");
    }
    assert_eq!(query(&mut ctx, gl::TEXTURE_COMPRESSED_IMAGE_SIZE), None);
    assert_eq!(ctx.get_error(), gl::INVALID_OPERATION);
    assert_eq!(query(&mut ctx, gl::TEXTURE_SWIZZLE_R), None);
    assert_eq!(ctx.get_error(), gl::INVALID_ENUM);
}

#[test]
fn generated_levels_exist_and_are_made_by_the_device() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [8, 4, 1], gl::RGBA, &rgba(32, 1));
    ctx.generate_mipmap(gl::TEXTURE_2D);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    {
        let log = log.lock();
        let plan = log.mip_plans.last().expect("a plan");
        assert_eq!((plan.base_level, plan.last_level), (0, 3));
        let image = &log.images[&(Kind::Texture as u8, plan.res)];
        assert_eq!(image.desc.levels, 4);
        assert_eq!(log.count("get_texture_image"), 0);
    }
    let width = |ctx: &mut Context, level| ctx.get_tex_level_parameter(gl::TEXTURE_2D, level, gl::TEXTURE_WIDTH);
    assert_eq!(width(&mut ctx, 3).map(|v| v.to_i32(0)), Some(1));
    assert_eq!(width(&mut ctx, 4).map(|v| v.to_i32(0)), Some(0));
    // A huge base level is no crash: nothing is generated from a level that does not exist.
    parameter(&mut ctx, gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, i32::MAX);
    ctx.generate_mipmap(gl::TEXTURE_2D);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    texture(&mut ctx, gl::TEXTURE_CUBE_MAP);
    assert_eq!(error(&mut ctx, |ctx| ctx.generate_mipmap(gl::TEXTURE_CUBE_MAP)), gl::INVALID_OPERATION);
    assert_eq!(error(&mut ctx, |ctx| ctx.generate_mipmap(gl::TEXTURE_RECTANGLE)), gl::INVALID_ENUM);
}

#[test]
fn parameters_travel_with_the_formats_own_swizzle() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGB8, [4, 4, 1], gl::RGBA, &rgba(16, 1));
    let swizzle = [gl::ALPHA, gl::BLUE, gl::ZERO, gl::RED].map(|v| v as i32);
    ctx.tex_parameter(
        gl::TEXTURE_2D,
        gl::TEXTURE_SWIZZLE_RGBA,
        Params { data: ParamData::Ints(&swizzle), scalar: false },
    );
    parameter(&mut ctx, gl::TEXTURE_2D, gl::TEXTURE_MAX_LEVEL, 7);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    get(&mut ctx, gl::TEXTURE_2D, 0, 64);
    let log = log.lock();
    let params = log.texture_params.values().next().expect("parameters");
    use mgpipe_types::swizzle::{BLUE, ONE, RED, ZERO};
    assert_eq!(params.swizzle, [ONE, BLUE, ZERO, RED]);
    assert_eq!((params.base_level, params.max_level), (0, 0), "levels that do not exist are cut off");
}

#[test]
fn illegal_parameters_are_refused() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    texture(&mut ctx, gl::TEXTURE_RECTANGLE);
    for (target, pname, value, wanted) in [
        (gl::TEXTURE_BUFFER, gl::TEXTURE_MIN_FILTER, gl::NEAREST as i32, gl::INVALID_ENUM),
        (gl::TEXTURE_2D, gl::TEXTURE_MIN_FILTER, gl::REPEAT as i32, gl::INVALID_ENUM),
        (gl::TEXTURE_2D, gl::TEXTURE_WRAP_S, gl::NEAREST as i32, gl::INVALID_ENUM),
        (gl::TEXTURE_2D, gl::TEXTURE_BASE_LEVEL, -1, gl::INVALID_VALUE),
        (gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_RGBA, gl::RED as i32, gl::INVALID_ENUM),
        (gl::TEXTURE_2D, gl::TEXTURE_SWIZZLE_A, 77, gl::INVALID_ENUM),
        (gl::TEXTURE_2D, gl::TEXTURE_WIDTH, 1, gl::INVALID_ENUM),
        (gl::TEXTURE_RECTANGLE, gl::TEXTURE_WRAP_S, gl::REPEAT as i32, gl::INVALID_ENUM),
        (gl::TEXTURE_RECTANGLE, gl::TEXTURE_MIN_FILTER, gl::LINEAR_MIPMAP_LINEAR as i32, gl::INVALID_ENUM),
        (gl::TEXTURE_RECTANGLE, gl::TEXTURE_BASE_LEVEL, 1, gl::INVALID_OPERATION),
        (gl::TEXTURE_2D_MULTISAMPLE, gl::TEXTURE_MAG_FILTER, gl::NEAREST as i32, gl::INVALID_ENUM),
    ] {
        let got = error(&mut ctx, |ctx| parameter(ctx, target, pname, value));
        assert_eq!(got, wanted, "{target:#x} {pname:#x} {value}");
    }
}

#[test]
fn names_belong_to_the_target_of_their_first_bind() {
    let (mut ctx, _) = context();
    let name = gen(&mut ctx);
    assert!(!ctx.is_texture(name));
    ctx.bind_texture(gl::TEXTURE_2D, name);
    assert!(ctx.is_texture(name));
    assert_eq!(error(&mut ctx, |ctx| ctx.bind_texture(gl::TEXTURE_3D, name)), gl::INVALID_OPERATION);
    assert_eq!(error(&mut ctx, |ctx| ctx.bind_texture(gl::TEXTURE_2D, 4711)), gl::INVALID_OPERATION);
    assert_eq!(error(&mut ctx, |ctx| ctx.bind_texture(gl::RENDERBUFFER, name)), gl::INVALID_ENUM);
    assert_eq!(error(&mut ctx, |ctx| ctx.active_texture(gl::TEXTURE0 + 500)), gl::INVALID_ENUM);
}

#[test]
fn deleted_textures_die_with_their_last_owner() {
    let (mut ctx, log) = context();
    let before = texture_images(&log);
    let name = texture(&mut ctx, gl::TEXTURE_2D);
    upload(&mut ctx, gl::TEXTURE_2D, 0, gl::RGBA8, [2, 2, 1], gl::RGBA, &rgba(4, 1));
    let mut framebuffers = [0];
    ctx.gen_framebuffers(&mut framebuffers);
    ctx.bind_framebuffer(gl::FRAMEBUFFER, framebuffers[0]);
    ctx.framebuffer_texture_2d(gl::FRAMEBUFFER, gl::COLOR_ATTACHMENT0, gl::TEXTURE_2D, name, 0);
    // Bound framebuffers let go of a deleted texture, others keep it.
    ctx.bind_framebuffer(gl::FRAMEBUFFER, 0);
    ctx.delete_textures(&[name, 0, 12345]);
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert!(!ctx.is_texture(name));
    assert_eq!(texture_images(&log), before + 1);
    ctx.delete_framebuffers(&framebuffers);
    assert_eq!(texture_images(&log), before);
}

#[test]
fn compressed_images_travel_as_blocks() {
    let (mut ctx, log) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let blocks: Vec<u8> = (0..4 * 8).collect();
    let format = gl::COMPRESSED_RGB_S3TC_DXT1_EXT;
    ctx.compressed_tex_image(2, gl::TEXTURE_2D, 0, format, [8, 6, 1], 0, 32, PixelData::Client(&blocks));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert_eq!(ctx.compressed_tex_image_pack_bytes(gl::TEXTURE_2D, 0), Some(32));
    let mut out = vec![0; 32];
    ctx.get_compressed_tex_image(gl::TEXTURE_2D, 0, PixelDest::Client(&mut out));
    assert_eq!(out, blocks);
    assert!(log.lock().images.values().any(|i| i.desc.format == Format::BC1_RGB.0));
    // Plain read-backs decode.
    let texels = get(&mut ctx, gl::TEXTURE_2D, 0, 8 * 6 * 4);
    assert!(texels.chunks_exact(4).all(|p| p[3] == 255));
    for (offset, size, bytes, wanted) in [
        ([4, 4, 0], [4, 2, 1], 8, gl::NO_ERROR),
        ([2, 0, 0], [4, 4, 1], 8, gl::INVALID_OPERATION),
        ([0, 0, 0], [4, 3, 1], 8, gl::INVALID_OPERATION),
        ([0, 0, 0], [4, 4, 1], 7, gl::INVALID_VALUE),
    ] {
        let got = error(&mut ctx, |ctx| {
            ctx.compressed_tex_sub_image(
                2,
                gl::TEXTURE_2D,
                0,
                offset,
                size,
                format,
                bytes,
                PixelData::Client(&blocks[..8]),
            );
        });
        assert_eq!(got, wanted, "{offset:?} {size:?} {bytes}");
    }
    let got = error(&mut ctx, |ctx| {
        ctx.compressed_tex_image(2, gl::TEXTURE_2D, 0, gl::RGBA8, [4, 4, 1], 0, 64, PixelData::None);
    });
    assert_eq!(got, gl::INVALID_ENUM);
}

#[test]
fn depth_uploads_into_depth_stencil_keep_the_stencil() {
    let (mut ctx, _) = context();
    texture(&mut ctx, gl::TEXTURE_2D);
    let word = 0x8000_005au32.to_le_bytes();
    ctx.tex_image(
        2,
        gl::TEXTURE_2D,
        0,
        gl::DEPTH24_STENCIL8 as i32,
        [1, 1, 1],
        0,
        gl::DEPTH_STENCIL,
        gl::UNSIGNED_INT_24_8,
        PixelData::Client(&word),
    );
    let one = 1.0f32.to_le_bytes();
    ctx.tex_sub_image(2, gl::TEXTURE_2D, 0, [0; 3], [1, 1, 1], gl::DEPTH_COMPONENT, gl::FLOAT, PixelData::Client(&one));
    let mut out = [0; 4];
    ctx.get_tex_image(gl::TEXTURE_2D, 0, gl::DEPTH_STENCIL, gl::UNSIGNED_INT_24_8, PixelDest::Client(&mut out));
    assert_eq!(ctx.get_error(), gl::NO_ERROR);
    assert_eq!(u32::from_le_bytes(out), 0xffff_ff5a);
}
