//! Uploads while the device uses an object, in order with the draws; copies and blits.

use crate::rig::{Rig, BLOCK, SIZE};
use mgpipe_types::*;

fn halves(rig: &mut Rig, size: u64, change: &[u8]) -> ([u8; 4], [u8; 4]) {
    let shader = rig.program(BLOCK, true);
    let block = rig.buffer(size);
    rig.upload(block, 0, bytemuck::bytes_of(&[1.0f32, 0.0, 0.0, 1.0]));
    rig.context.set_draw_program(&HandleOnly::new(shader));
    rig.context.set_shader_buffers(
        &ShaderBuffers { class: buffer_class::UNIFORM, start: 0, count: 1, ..ShaderBuffers::default() },
        &[BufferRange { res: block.raw(), offset: 0, size: 16 }],
        HostBytes::None,
    );
    rig.clear([0.0; 4]);
    rig.constants(shader, [-1.0, -1.0, 0.0, 1.0], [0.0; 4]);
    rig.draw_rect();
    // The first draw is recorded, not run: it must still see the bytes from before this upload.
    rig.upload(block, 0, change);
    rig.constants(shader, [0.0, -1.0, 1.0, 1.0], [0.0; 4]);
    rig.draw_rect();
    (rig.pixel(2, 8), rig.pixel(SIZE - 2, 8))
}

#[test]
fn an_upload_between_draws_changes_the_second_alone() {
    let green = [0.0f32, 1.0, 0.0, 1.0];
    // Whole storage is swapped, small storage is renamed, large storage takes a copy in the command stream.
    for size in [16, 1 << 10, 1 << 20] {
        let mut rig = Rig::new();
        let (left, right) = halves(&mut rig, size, bytemuck::bytes_of(&green));
        assert_eq!(left, [255, 0, 0, 255], "size {size}");
        assert_eq!(right, [0, 255, 0, 255], "size {size}");
        rig.assert_quiet();
    }
}

#[test]
fn bytes_come_back_after_copies() {
    let mut rig = Rig::new();
    let (a, b) = (rig.buffer(64), rig.buffer(64));
    let bytes: Vec<u8> = (0..64).collect();
    rig.upload(a, 0, &bytes);
    rig.context.resource_copy_region(&CopyRegion {
        dst: b.raw(),
        src: a.raw(),
        dst_kind: Kind::Buffer as u8,
        src_kind: Kind::Buffer as u8,
        dst_x: 16,
        src_box: Box3::from_buffer_range(8, 32),
        ..CopyRegion::default()
    });
    let mut out = vec![0; 32];
    rig.context
        .resource_readback(&BufferReadback { res: b.raw(), offset: 16, size: 32 }, &mut out)
        .expect("a read-back");
    assert_eq!(out, bytes[8..40]);
    rig.assert_quiet();
}

#[test]
fn texels_keep_their_rows_through_upload_blit_and_read_back() {
    let mut rig = Rig::new();
    let source = rig.texture(SIZE, SIZE, Format::RGBA8_UNORM);
    let texels: Vec<u8> = (0..SIZE * SIZE).flat_map(|i| [(i % SIZE) as u8, (i / SIZE) as u8, 7, 255]).collect();
    rig.context.resource_subdata(
        &SubData {
            res: source.handle,
            target: Target::Tex2D as u16,
            union_box: Box3::sized(SIZE, SIZE, 1),
            region_count: 1,
            ..SubData::default()
        },
        &[SubRegion { width: SIZE, height: SIZE, depth: 1, ..SubRegion::default() }],
        &texels,
    );
    let whole = Corners { x0: 0, y0: 0, x1: SIZE as i32, y1: SIZE as i32 };
    let mirrored = Corners { x0: 0, y0: SIZE as i32, x1: SIZE as i32, y1: 0 };
    for (corners, flip) in [(whole, false), (mirrored, true)] {
        rig.clear([0.0; 4]);
        rig.context.blit(&Blit {
            src: source,
            dst: rig.target,
            src_rect: whole,
            dst_rect: corners,
            mask: aspect::COLOR,
            filter: gl::NEAREST,
            ..Blit::default()
        });
        let row = |y: u32| if flip { SIZE - 1 - y } else { y };
        for (x, y) in [(0, 0), (3, 1), (15, 15), (5, 12)] {
            assert_eq!(rig.pixel(x, y), [x as u8, row(y) as u8, 7, 255], "flip {flip}");
        }
    }
    rig.assert_quiet();
}
