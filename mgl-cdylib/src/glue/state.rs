//! Queries of context state, query objects, sync objects and attachments.

use mgpipe_types::gl;

use super::memory::{answer, answers, length, write_all};
use crate::front::{Context, Values};

macro_rules! gets {
    ($($name:ident $(indexed $indexed:ident)?: $ty:ty => $convert:expr;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, pname: u32, out: *mut $ty) {
                let values = ctx.get(pname);
                // SAFETY: as many elements as the state has, by the contract of the module.
                unsafe { answers(ctx, out, values, $convert, stringify!($name)) };
            }

            $(
                pub(crate) unsafe fn $indexed(ctx: &mut Context, target: u32, index: u32, out: *mut $ty) {
                    let values = ctx.get_indexed(target, index);
                    // SAFETY: as above.
                    unsafe { answers(ctx, out, values, $convert, stringify!($indexed)) };
                }
            )?
        )*
    };
}

gets! {
    get_booleanv indexed get_booleani_v: u8 => |v, i| u8::from(v.to_bool(i));
    get_integerv indexed get_integeri_v: i32 => Values::to_i32;
    get_integer_64v indexed get_integer_64i_v: i64 => Values::to_i64;
    get_floatv: f32 => Values::to_f32;
    get_doublev: f64 => Values::to_f64;
}

pub(crate) unsafe fn get_string(ctx: &mut Context, name: u32) -> *const u8 {
    ctx.get_string(name).map_or(std::ptr::null(), |s| s.as_ptr().cast())
}

pub(crate) unsafe fn get_stringi(ctx: &mut Context, name: u32, index: u32) -> *const u8 {
    ctx.get_stringi(name, index).map_or(std::ptr::null(), |s| s.as_ptr().cast())
}

pub(crate) unsafe fn get_queryiv(ctx: &mut Context, target: u32, pname: u32, out: *mut i32) {
    let value = ctx.get_query(target, pname);
    // SAFETY: one value by the contract of the module.
    unsafe { answer(ctx, out, value, "glGetQueryiv: null") };
}

macro_rules! query_objects {
    ($($name:ident: $ty:ty;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, id: u32, pname: u32, out: *mut $ty) {
                let value = ctx.get_query_object(id, pname).map(|v| <$ty>::try_from(v).unwrap_or(<$ty>::MAX));
                // SAFETY: one value by the contract of the module.
                unsafe { answer(ctx, out, value, stringify!($name)) };
            }
        )*
    };
}

query_objects! {
    get_query_objectiv: i32;
    get_query_objectuiv: u32;
    get_query_objecti_64v: i64;
    get_query_objectui_64v: u64;
}

pub(crate) unsafe fn get_synciv(
    ctx: &mut Context,
    sync: usize,
    pname: u32,
    count: i32,
    written: *mut i32,
    values: *mut i32,
) {
    let Some(count) = length(ctx, count, "glGetSynciv: negative count") else { return };
    let Some(value) = ctx.get_sync(sync, pname) else { return };
    let n = usize::from(count > 0 && !values.is_null());
    // SAFETY: `values` has room for `count` elements, `written` is null or a variable, by the contract of the module.
    unsafe {
        write_all(values, [value].get(..n).unwrap_or_default());
        write_all(written, &[i32::from(n > 0)]);
    }
}

pub(crate) unsafe fn get_renderbuffer_parameteriv(ctx: &mut Context, target: u32, pname: u32, out: *mut i32) {
    let value = ctx.get_renderbuffer_parameter(target, pname);
    // SAFETY: one value by the contract of the module.
    unsafe { answer(ctx, out, value, "glGetRenderbufferParameteriv: null") };
}

pub(crate) unsafe fn get_framebuffer_attachment_parameteriv(
    ctx: &mut Context,
    target: u32,
    attachment: u32,
    pname: u32,
    out: *mut i32,
) {
    let value = ctx.get_framebuffer_attachment_parameter(target, attachment, pname);
    // SAFETY: one value by the contract of the module.
    unsafe { answer(ctx, out, value, "glGetFramebufferAttachmentParameteriv: null") };
}

pub(crate) unsafe fn get_multisamplefv(ctx: &mut Context, pname: u32, index: u32, out: *mut f32) {
    if let Some(position) = ctx.get_multisample(pname, index) {
        if out.is_null() {
            ctx.record_error(gl::INVALID_VALUE, "glGetMultisamplefv: null");
            return;
        }
        // SAFETY: two values by the contract of the module.
        unsafe { write_all(out, &position) };
    }
}
