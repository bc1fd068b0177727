//! Uniforms: forty functions on four methods.

use super::memory::{answers, input, length};
use crate::front::{Context, Values};

macro_rules! scalars {
    ($($name:ident => $method:ident: $ty:ty, $n:literal, $($arg:ident),+;)*) => {
        $(
            #[inline]
            pub(crate) unsafe fn $name(ctx: &mut Context, location: i32, $($arg: $ty),+) {
                ctx.$method(location, $n, &[$($arg),+]);
            }
        )*
    };
}

scalars! {
    uniform_1f => uniform_f: f32, 1, x;
    uniform_2f => uniform_f: f32, 2, x, y;
    uniform_3f => uniform_f: f32, 3, x, y, z;
    uniform_4f => uniform_f: f32, 4, x, y, z, w;
    uniform_1i => uniform_i: i32, 1, x;
    uniform_2i => uniform_i: i32, 2, x, y;
    uniform_3i => uniform_i: i32, 3, x, y, z;
    uniform_4i => uniform_i: i32, 4, x, y, z, w;
    uniform_1ui => uniform_ui: u32, 1, x;
    uniform_2ui => uniform_ui: u32, 2, x, y;
    uniform_3ui => uniform_ui: u32, 3, x, y, z;
    uniform_4ui => uniform_ui: u32, 4, x, y, z, w;
}

macro_rules! vectors {
    ($($name:ident => $method:ident: $ty:ty, $n:literal;)*) => {
        $(
            #[inline]
            pub(crate) unsafe fn $name(ctx: &mut Context, location: i32, count: i32, value: *const $ty) {
                let Some(count) = length(ctx, count, concat!(stringify!($name), ": negative count")) else { return };
                // SAFETY: `count` vectors of the size in the name, by the contract of the module.
                let value = unsafe { input(ctx, value, count.saturating_mul($n), stringify!($name)) };
                if let Some(value) = value {
                    ctx.$method(location, $n, &value);
                }
            }
        )*
    };
}

vectors! {
    uniform_1fv => uniform_f: f32, 1;
    uniform_2fv => uniform_f: f32, 2;
    uniform_3fv => uniform_f: f32, 3;
    uniform_4fv => uniform_f: f32, 4;
    uniform_1iv => uniform_i: i32, 1;
    uniform_2iv => uniform_i: i32, 2;
    uniform_3iv => uniform_i: i32, 3;
    uniform_4iv => uniform_i: i32, 4;
    uniform_1uiv => uniform_ui: u32, 1;
    uniform_2uiv => uniform_ui: u32, 2;
    uniform_3uiv => uniform_ui: u32, 3;
    uniform_4uiv => uniform_ui: u32, 4;
}

macro_rules! matrices {
    ($($name:ident: $columns:literal $rows:literal;)*) => {
        $(
            #[inline]
            pub(crate) unsafe fn $name(
                ctx: &mut Context,
                location: i32,
                count: i32,
                transpose: u8,
                value: *const f32,
            ) {
                let Some(count) = length(ctx, count, concat!(stringify!($name), ": negative count")) else { return };
                let n = count.saturating_mul($columns * $rows);
                // SAFETY: `count` matrices of the size in the name, by the contract of the module.
                if let Some(value) = unsafe { input(ctx, value, n, stringify!($name)) } {
                    ctx.uniform_matrix_f(location, $columns, $rows, transpose != 0, &value);
                }
            }
        )*
    };
}

matrices! {
    uniform_matrix_2fv: 2 2;
    uniform_matrix_3fv: 3 3;
    uniform_matrix_4fv: 4 4;
    uniform_matrix_2x3fv: 2 3;
    uniform_matrix_3x2fv: 3 2;
    uniform_matrix_2x4fv: 2 4;
    uniform_matrix_4x2fv: 4 2;
    uniform_matrix_3x4fv: 3 4;
    uniform_matrix_4x3fv: 4 3;
}

macro_rules! queries {
    ($($name:ident: $ty:ty => $convert:expr;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, program: u32, location: i32, out: *mut $ty) {
                let values = ctx.get_uniform(program, location);
                // SAFETY: as many elements as the uniform has, by the contract of the module.
                unsafe { answers(ctx, out, values, $convert, stringify!($name)) };
            }
        )*
    };
}

queries! {
    get_uniformfv: f32 => Values::to_f32;
    get_uniformiv: i32 => Values::to_i32;
    get_uniformuiv: u32 => Values::to_u32;
}
