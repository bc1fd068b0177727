//! Buffer objects.

use std::ffi::c_void;
use std::ptr::NonNull;

use mgpipe_types::gl;

use super::memory::{answer, bytes, bytes_mut, size};
use crate::front::Context;

pub(crate) unsafe fn buffer_data(ctx: &mut Context, target: u32, n: isize, data: *const c_void, usage: u32) {
    let Some(n) = size(ctx, n, "glBufferData: negative size") else { return };
    if data.is_null() {
        ctx.buffer_data(target, n, None, usage);
        return;
    }
    // SAFETY: `n` bytes by the contract of the module.
    if let Some(data) = unsafe { bytes(ctx, data.cast(), n, "glBufferData") } {
        ctx.buffer_data(target, n, Some(data), usage);
    }
}

pub(crate) unsafe fn buffer_storage(ctx: &mut Context, target: u32, n: isize, data: *const c_void, flags: u32) {
    let Some(n) = size(ctx, n, "glBufferStorage: negative size") else { return };
    if data.is_null() {
        ctx.buffer_storage(target, n, None, flags);
        return;
    }
    // SAFETY: `n` bytes by the contract of the module.
    if let Some(data) = unsafe { bytes(ctx, data.cast(), n, "glBufferStorage") } {
        ctx.buffer_storage(target, n, Some(data), flags);
    }
}

pub(crate) unsafe fn buffer_sub_data(ctx: &mut Context, target: u32, offset: isize, n: isize, data: *const c_void) {
    let Some(n) = size(ctx, n, "glBufferSubData: negative size") else { return };
    // SAFETY: `n` bytes by the contract of the module.
    if let Some(data) = unsafe { bytes(ctx, data.cast(), n, "glBufferSubData: null") } {
        ctx.buffer_sub_data(target, offset, data);
    }
}

pub(crate) unsafe fn get_buffer_sub_data(ctx: &mut Context, target: u32, offset: isize, n: isize, data: *mut c_void) {
    let Some(n) = size(ctx, n, "glGetBufferSubData: negative size") else { return };
    // SAFETY: `n` bytes by the contract of the module.
    if let Some(data) = unsafe { bytes_mut(ctx, data.cast(), n, "glGetBufferSubData: null") } {
        ctx.get_buffer_sub_data(target, offset, data);
    }
}

pub(crate) unsafe fn map_buffer(ctx: &mut Context, target: u32, access: u32) -> *mut c_void {
    ctx.map_buffer(target, access).map_or(std::ptr::null_mut(), |p: NonNull<u8>| p.as_ptr().cast())
}

pub(crate) unsafe fn map_buffer_range(
    ctx: &mut Context,
    target: u32,
    offset: isize,
    length: isize,
    access: u32,
) -> *mut c_void {
    let mapped = ctx.map_buffer_range(target, offset, length, access);
    mapped.map_or(std::ptr::null_mut(), |p: NonNull<u8>| p.as_ptr().cast())
}

pub(crate) unsafe fn get_buffer_pointerv(ctx: &mut Context, target: u32, pname: u32, out: *mut *mut c_void) {
    if pname != gl::BUFFER_MAP_POINTER {
        ctx.record_error(gl::INVALID_ENUM, "glGetBufferPointerv: pname");
        return;
    }
    let pointer = ctx.get_buffer_pointer(target).map(|p| p as *mut c_void);
    // SAFETY: one pointer by the contract of the module.
    unsafe { answer(ctx, out, pointer, "glGetBufferPointerv: null") };
}

pub(crate) unsafe fn get_buffer_parameteriv(ctx: &mut Context, target: u32, pname: u32, out: *mut i32) {
    let value = ctx.get_buffer_parameter(target, pname);
    let value = value.map(|v| v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32);
    // SAFETY: one value by the contract of the module.
    unsafe { answer(ctx, out, value, "glGetBufferParameteriv: null") };
}

pub(crate) unsafe fn get_buffer_parameteri_64v(ctx: &mut Context, target: u32, pname: u32, out: *mut i64) {
    let value = ctx.get_buffer_parameter(target, pname);
    // SAFETY: one value by the contract of the module.
    unsafe { answer(ctx, out, value, "glGetBufferParameteri64v: null") };
}
