//! A program of uploads, copies and read-backs, with two contexts, of which nothing lives on the device alone.

use super::rig::{filled, read};
use crate::recording::{buffer, handle, upload};
use mgpipe_types::*;

const FORMAT: Format = Format::RGBA8_UNORM;

fn bytes(seed: u32, length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(31).wrapping_add(seed * 97) >> 2) as u8).collect()
}

fn texture(slot: u32, side: u32, layers: u16, levels: u16) -> ResourceDesc {
    ResourceDesc {
        handle: handle(slot),
        target: if layers > 1 { Target::Tex2DArray } else { Target::Tex2D } as u8,
        format: FORMAT.0,
        width: side,
        height: side,
        depth: 1,
        array_layers: layers,
        levels,
        ..ResourceDesc::default()
    }
}

fn texels(context: &mut dyn Context, desc: &ResourceDesc, level: u16, area: Box3, seed: u32) {
    let bytes = bytes(seed, (area.width * area.height * area.depth * 4) as usize);
    let region = SubRegion::tight(&area);
    let data = SubData {
        res: desc.handle,
        target: u16::from(desc.target),
        level,
        union_box: area,
        region_count: 1,
        ..SubData::default()
    };
    context.resource_subdata(&data, &[region], &bytes);
}

fn read_level(context: &mut dyn Context, desc: &ResourceDesc, level: u16) -> Vec<u8> {
    let side = (desc.width >> level).max(1);
    let area = Box3::sized(side, side, u32::from(desc.array_layers));
    let mut out = vec![0; (area.width * area.height * area.depth * 4) as usize];
    let surface =
        Surface { handle: desc.handle, format: FORMAT.0, kind: Kind::Texture as u8, level, ..Surface::default() };
    let info = ReadbackInfo { surface, area, format: FORMAT.0, aspect: aspect::COLOR, pad: [0; 2] };
    context.get_texture_image(&info, &mut out).expect("alive");
    out
}

fn copy_buffers(from: u32, to: u32, source: (u64, u64), at: u32) -> CopyRegion {
    CopyRegion {
        dst: handle(to),
        src: handle(from),
        dst_kind: Kind::Buffer as u8,
        src_kind: Kind::Buffer as u8,
        dst_x: at as i32,
        src_box: Box3::from_buffer_range(source.0, source.1),
        ..CopyRegion::default()
    }
}

/// Runs the program; answers everything that it has read.
pub(crate) fn run(screen: &dyn Screen) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut a = screen.create_context(ContextHandle(handle(1))).expect("alive");
    // In the record, in STAGE, and in pieces.
    for (slot, size) in [(1, 300), (2, 5000), (3, 40_000)] {
        filled(screen, &mut *a, slot, &bytes(slot, size));
    }
    seen.extend(read(&mut *a, handle(2), 5000).expect("alive"));
    let mut b = screen.create_context(ContextHandle(handle(2))).expect("alive");
    // Parts, copies between buffers and within one.
    for part in 0..6u32 {
        let bytes = bytes(part + 50, 200);
        a.resource_subdata(&upload(handle(3), u64::from(part * 6000), &bytes), &[], &bytes);
        b.resource_copy_region(&copy_buffers(3, 2, (u64::from(part * 6000) + 100, 300), part * 700));
    }
    b.resource_copy_region(&copy_buffers(2, 2, (0, 64), 4000));
    seen.extend(read(&mut *b, handle(2), 5000).expect("alive"));
    // A buffer that is specified anew, and one whose slot gets another tenant.
    a.resource_respecify(&buffer(1, 900));
    seen.extend(read(&mut *a, handle(1), 900).expect("alive"));
    let fresh = bytes(7, 900);
    a.resource_subdata(&upload(handle(1), 0, &fresh), &[], &fresh);
    screen.resource_destroy(&ResourceRef::new(ResourceHandle::Buffer(BufferHandle(handle(3)))));
    let next = Handle { slot: 3, gen: 2 };
    screen.resource_create(&ResourceDesc { handle: next, ..buffer(3, 32) });
    let tenant = bytes(9, 32);
    a.resource_subdata(&SubData { res: next, ..upload(next, 0, &tenant) }, &[], &tenant);
    // Textures: levels, layers, parts, a copy, and a specification that keeps what fits.
    let (mut one, many) = (texture(1, 16, 1, 2), texture(2, 8, 4, 1));
    screen.resource_create(&one);
    screen.resource_create(&many);
    texels(&mut *a, &one, 0, Box3::sized(16, 16, 1), 11);
    texels(&mut *a, &one, 0, Box3 { x: 3, y: 5, z: 0, width: 4, height: 2, depth: 1 }, 12);
    texels(&mut *a, &one, 1, Box3::sized(8, 8, 1), 13);
    texels(&mut *b, &many, 0, Box3 { x: 0, y: 0, z: 1, width: 8, height: 8, depth: 3 }, 14);
    b.resource_copy_region(&CopyRegion {
        dst: one.handle,
        src: many.handle,
        dst_kind: Kind::Texture as u8,
        src_kind: Kind::Texture as u8,
        dst_x: 8,
        dst_y: 8,
        src_box: Box3 { x: 1, y: 2, z: 2, width: 5, height: 4, depth: 1 },
        ..CopyRegion::default()
    });
    one.levels = 3;
    one.has_defined_content = 1;
    a.resource_respecify(&one);
    for level in 0..3 {
        seen.extend(read_level(&mut *a, &one, level));
    }
    seen.extend(read_level(&mut *b, &many, 0));
    drop(b);
    seen.extend(read(&mut *a, handle(1), 900).expect("alive"));
    seen.extend(read(&mut *a, next, 32).expect("alive"));
    seen.extend(read(&mut *a, handle(2), 5000).expect("alive"));
    seen
}
