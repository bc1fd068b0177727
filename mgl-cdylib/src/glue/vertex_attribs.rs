//! Vertex arrays and generic attributes.
//!
//! Generic attributes are kept as floats or integers of 32 bits, whatever type the call had (GL 4.6 §10.2).

use std::ffi::c_void;

use mgpipe_types::gl;

use super::memory::{answer, answers, input};
use crate::front::{Context, Values};

pub(crate) unsafe fn vertex_attrib_pointer(
    ctx: &mut Context,
    index: u32,
    size: i32,
    type_: u32,
    normalized: u8,
    stride: i32,
    pointer: *const c_void,
) {
    ctx.vertex_attrib_pointer(index, size, type_, normalized != 0, stride, pointer as usize);
}

pub(crate) unsafe fn vertex_attrib_i_pointer(
    ctx: &mut Context,
    index: u32,
    size: i32,
    type_: u32,
    stride: i32,
    pointer: *const c_void,
) {
    ctx.vertex_attrib_i_pointer(index, size, type_, stride, pointer as usize);
}

/// The scalar forms with fewer than four components or another type than float.
macro_rules! scalars {
    ($($name:ident: $ty:ty, $($arg:ident),+ => [$($value:expr),+];)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, index: u32, $($arg: $ty),+) {
                let [x, y, z, w] = [$($value),+];
                ctx.vertex_attrib_4f(index, x, y, z, w);
            }
        )*
    };
}

scalars! {
    vertex_attrib_1f: f32, x => [x, 0.0, 0.0, 1.0];
    vertex_attrib_2f: f32, x, y => [x, y, 0.0, 1.0];
    vertex_attrib_3f: f32, x, y, z => [x, y, z, 1.0];
    vertex_attrib_1s: i16, x => [f32::from(x), 0.0, 0.0, 1.0];
    vertex_attrib_2s: i16, x, y => [f32::from(x), f32::from(y), 0.0, 1.0];
    vertex_attrib_3s: i16, x, y, z => [f32::from(x), f32::from(y), f32::from(z), 1.0];
    vertex_attrib_4s: i16, x, y, z, w => [f32::from(x), f32::from(y), f32::from(z), f32::from(w)];
    vertex_attrib_1d: f64, x => [x as f32, 0.0, 0.0, 1.0];
    vertex_attrib_2d: f64, x, y => [x as f32, y as f32, 0.0, 1.0];
    vertex_attrib_3d: f64, x, y, z => [x as f32, y as f32, z as f32, 1.0];
    vertex_attrib_4d: f64, x, y, z, w => [x as f32, y as f32, z as f32, w as f32];
    vertex_attrib_4nub: u8, x, y, z, w => [unorm8(x), unorm8(y), unorm8(z), unorm8(w)];
}

/// The vector forms that end in float attributes.
macro_rules! vectors {
    ($($name:ident: $n:literal $ty:ty => $convert:expr;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, index: u32, v: *const $ty) {
                // SAFETY: the name says how many elements there are; by the contract of the module.
                if let Some(v) = unsafe { input(ctx, v, $n, stringify!($name)) } {
                    let convert: fn($ty) -> f32 = $convert;
                    let mut full = [0.0, 0.0, 0.0, 1.0];
                    for (slot, value) in full.iter_mut().zip(v.iter()) {
                        *slot = convert(*value);
                    }
                    let [x, y, z, w] = full;
                    ctx.vertex_attrib_4f(index, x, y, z, w);
                }
            }
        )*
    };
}

vectors! {
    vertex_attrib_1fv: 1 f32 => |v| v;
    vertex_attrib_2fv: 2 f32 => |v| v;
    vertex_attrib_3fv: 3 f32 => |v| v;
    vertex_attrib_4fv: 4 f32 => |v| v;
    vertex_attrib_1dv: 1 f64 => |v| v as f32;
    vertex_attrib_2dv: 2 f64 => |v| v as f32;
    vertex_attrib_3dv: 3 f64 => |v| v as f32;
    vertex_attrib_4dv: 4 f64 => |v| v as f32;
    vertex_attrib_1sv: 1 i16 => f32::from;
    vertex_attrib_2sv: 2 i16 => f32::from;
    vertex_attrib_3sv: 3 i16 => f32::from;
    vertex_attrib_4sv: 4 i16 => f32::from;
    vertex_attrib_4bv: 4 i8 => f32::from;
    vertex_attrib_4ubv: 4 u8 => f32::from;
    vertex_attrib_4usv: 4 u16 => f32::from;
    vertex_attrib_4iv: 4 i32 => |v| v as f32;
    vertex_attrib_4uiv: 4 u32 => |v| v as f32;
    vertex_attrib_4nbv: 4 i8 => |v| (f32::from(v) / 127.0).max(-1.0);
    vertex_attrib_4nsv: 4 i16 => |v| (f32::from(v) / 32767.0).max(-1.0);
    vertex_attrib_4niv: 4 i32 => |v| (f64::from(v) / 2_147_483_647.0).max(-1.0) as f32;
    vertex_attrib_4nubv: 4 u8 => unorm8;
    vertex_attrib_4nusv: 4 u16 => |v| f32::from(v) / 65535.0;
    vertex_attrib_4nuiv: 4 u32 => |v| (f64::from(v) / 4_294_967_295.0) as f32;
}

fn unorm8(v: u8) -> f32 {
    f32::from(v) / 255.0
}

macro_rules! integer_scalars {
    ($($name:ident => $full:ident: $ty:ty, $($arg:ident),+ => [$($value:expr),+];)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, index: u32, $($arg: $ty),+) {
                let [x, y, z, w] = [$($value),+];
                ctx.$full(index, x, y, z, w);
            }
        )*
    };
}

integer_scalars! {
    vertex_attrib_i1i => vertex_attrib_i4i: i32, x => [x, 0, 0, 1];
    vertex_attrib_i2i => vertex_attrib_i4i: i32, x, y => [x, y, 0, 1];
    vertex_attrib_i3i => vertex_attrib_i4i: i32, x, y, z => [x, y, z, 1];
    vertex_attrib_i1ui => vertex_attrib_i4ui: u32, x => [x, 0, 0, 1];
    vertex_attrib_i2ui => vertex_attrib_i4ui: u32, x, y => [x, y, 0, 1];
    vertex_attrib_i3ui => vertex_attrib_i4ui: u32, x, y, z => [x, y, z, 1];
}

macro_rules! integer_vectors {
    ($($name:ident => $full:ident: $n:literal $ty:ty as $wide:ty;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, index: u32, v: *const $ty) {
                // SAFETY: the name says how many elements there are; by the contract of the module.
                if let Some(v) = unsafe { input(ctx, v, $n, stringify!($name)) } {
                    let mut full: [$wide; 4] = [0, 0, 0, 1];
                    for (slot, value) in full.iter_mut().zip(v.iter()) {
                        *slot = <$wide>::from(*value);
                    }
                    let [x, y, z, w] = full;
                    ctx.$full(index, x, y, z, w);
                }
            }
        )*
    };
}

integer_vectors! {
    vertex_attrib_i1iv => vertex_attrib_i4i: 1 i32 as i32;
    vertex_attrib_i2iv => vertex_attrib_i4i: 2 i32 as i32;
    vertex_attrib_i3iv => vertex_attrib_i4i: 3 i32 as i32;
    vertex_attrib_i4iv => vertex_attrib_i4i: 4 i32 as i32;
    vertex_attrib_i4bv => vertex_attrib_i4i: 4 i8 as i32;
    vertex_attrib_i4sv => vertex_attrib_i4i: 4 i16 as i32;
    vertex_attrib_i1uiv => vertex_attrib_i4ui: 1 u32 as u32;
    vertex_attrib_i2uiv => vertex_attrib_i4ui: 2 u32 as u32;
    vertex_attrib_i3uiv => vertex_attrib_i4ui: 3 u32 as u32;
    vertex_attrib_i4uiv => vertex_attrib_i4ui: 4 u32 as u32;
    vertex_attrib_i4ubv => vertex_attrib_i4ui: 4 u8 as u32;
    vertex_attrib_i4usv => vertex_attrib_i4ui: 4 u16 as u32;
}

macro_rules! packed {
    ($($scalar:ident $vector:ident: $n:literal;)*) => {
        $(
            pub(crate) unsafe fn $scalar(ctx: &mut Context, index: u32, type_: u32, normalized: u8, value: u32) {
                ctx.vertex_attrib_p(index, $n, type_, normalized != 0, value);
            }

            pub(crate) unsafe fn $vector(
                ctx: &mut Context,
                index: u32,
                type_: u32,
                normalized: u8,
                value: *const u32,
            ) {
                // SAFETY: one element by the contract of the module.
                let value = unsafe { input(ctx, value, 1, stringify!($vector)) };
                if let Some(&value) = value.as_deref().and_then(<[u32]>::first) {
                    ctx.vertex_attrib_p(index, $n, type_, normalized != 0, value);
                }
            }
        )*
    };
}

packed! {
    vertex_attrib_p1ui vertex_attrib_p1uiv: 1;
    vertex_attrib_p2ui vertex_attrib_p2uiv: 2;
    vertex_attrib_p3ui vertex_attrib_p3uiv: 3;
    vertex_attrib_p4ui vertex_attrib_p4uiv: 4;
}

macro_rules! queries {
    ($($name:ident: $ty:ty => $convert:expr;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, index: u32, pname: u32, out: *mut $ty) {
                let values = ctx.get_vertex_attrib(index, pname);
                // SAFETY: four elements for the current attribute, else one, by the contract of the module.
                unsafe { answers(ctx, out, values, $convert, stringify!($name)) };
            }
        )*
    };
}

queries! {
    get_vertex_attribfv: f32 => Values::to_f32;
    get_vertex_attribdv: f64 => Values::to_f64;
    get_vertex_attribiv: i32 => Values::to_i32;
    get_vertex_attrib_iiv: i32 => |v, i| v.to_pure(i) as i32;
    get_vertex_attrib_iuiv: u32 => Values::to_pure;
}

pub(crate) unsafe fn get_vertex_attrib_pointerv(ctx: &mut Context, index: u32, pname: u32, out: *mut *mut c_void) {
    if pname != gl::VERTEX_ATTRIB_ARRAY_POINTER {
        ctx.record_error(gl::INVALID_ENUM, "glGetVertexAttribPointerv: pname");
        return;
    }
    let pointer = ctx.get_vertex_attrib_pointer(index).map(|p| p as *mut c_void);
    // SAFETY: one pointer by the contract of the module.
    unsafe { answer(ctx, out, pointer, "glGetVertexAttribPointerv: null") };
}
