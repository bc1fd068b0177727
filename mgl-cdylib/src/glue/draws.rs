//! Draws and clears with pointers.

use std::ffi::c_void;

use mgpipe_types::gl;

use super::memory::{input, length};
use crate::front::Context;

pub(crate) unsafe fn draw_arrays_instanced(ctx: &mut Context, mode: u32, first: i32, count: i32, instances: i32) {
    ctx.draw_arrays_instanced(mode, first, count, instances, 0);
}

#[inline]
pub(crate) unsafe fn draw_elements(ctx: &mut Context, mode: u32, count: i32, type_: u32, indices: *const c_void) {
    ctx.draw_elements(mode, count, type_, indices as usize);
}

pub(crate) unsafe fn draw_range_elements(
    ctx: &mut Context,
    mode: u32,
    start: u32,
    end: u32,
    count: i32,
    type_: u32,
    indices: *const c_void,
) {
    if end < start {
        ctx.record_error(gl::INVALID_VALUE, "glDrawRangeElements: end < start");
        return;
    }
    ctx.draw_elements(mode, count, type_, indices as usize);
}

pub(crate) unsafe fn draw_elements_instanced(
    ctx: &mut Context,
    mode: u32,
    count: i32,
    type_: u32,
    indices: *const c_void,
    instances: i32,
) {
    ctx.draw_elements_instanced(mode, count, type_, indices as usize, instances, 0, 0);
}

pub(crate) unsafe fn draw_elements_base_vertex(
    ctx: &mut Context,
    mode: u32,
    count: i32,
    type_: u32,
    indices: *const c_void,
    base_vertex: i32,
) {
    ctx.draw_elements_instanced(mode, count, type_, indices as usize, 1, base_vertex, 0);
}

pub(crate) unsafe fn draw_range_elements_base_vertex(
    ctx: &mut Context,
    mode: u32,
    start: u32,
    end: u32,
    count: i32,
    type_: u32,
    indices: *const c_void,
    base_vertex: i32,
) {
    if end < start {
        ctx.record_error(gl::INVALID_VALUE, "glDrawRangeElementsBaseVertex: end < start");
        return;
    }
    ctx.draw_elements_instanced(mode, count, type_, indices as usize, 1, base_vertex, 0);
}

pub(crate) unsafe fn draw_elements_instanced_base_vertex(
    ctx: &mut Context,
    mode: u32,
    count: i32,
    type_: u32,
    indices: *const c_void,
    instances: i32,
    base_vertex: i32,
) {
    ctx.draw_elements_instanced(mode, count, type_, indices as usize, instances, base_vertex, 0);
}

pub(crate) unsafe fn multi_draw_arrays(
    ctx: &mut Context,
    mode: u32,
    firsts: *const i32,
    counts: *const i32,
    draws: i32,
) {
    let what = "glMultiDrawArrays";
    let Some(n) = length(ctx, draws, what) else { return };
    // SAFETY: `n` elements each by the contract of the module.
    let (firsts, counts) = unsafe { (input(ctx, firsts, n, what), input(ctx, counts, n, what)) };
    if let (Some(firsts), Some(counts)) = (firsts, counts) {
        ctx.multi_draw_arrays(mode, &firsts, &counts);
    }
}

pub(crate) unsafe fn multi_draw_elements(
    ctx: &mut Context,
    mode: u32,
    counts: *const i32,
    type_: u32,
    indices: *const *const c_void,
    draws: i32,
) {
    let what = "glMultiDrawElements";
    let Some(n) = length(ctx, draws, what) else { return };
    // SAFETY: `n` elements each by the contract of the module; a pointer has the representation of a usize.
    let (counts, indices) = unsafe { (input(ctx, counts, n, what), input(ctx, indices.cast::<usize>(), n, what)) };
    if let (Some(counts), Some(indices)) = (counts, indices) {
        ctx.multi_draw_elements(mode, &counts, type_, &indices, None);
    }
}

pub(crate) unsafe fn multi_draw_elements_base_vertex(
    ctx: &mut Context,
    mode: u32,
    counts: *const i32,
    type_: u32,
    indices: *const *const c_void,
    draws: i32,
    base_vertices: *const i32,
) {
    let what = "glMultiDrawElementsBaseVertex";
    let Some(n) = length(ctx, draws, what) else { return };
    // SAFETY: as above.
    let (counts, indices) = unsafe { (input(ctx, counts, n, what), input(ctx, indices.cast::<usize>(), n, what)) };
    // SAFETY: as above.
    let base_vertices = unsafe { input(ctx, base_vertices, n, what) };
    if let (Some(counts), Some(indices), Some(base_vertices)) = (counts, indices, base_vertices) {
        ctx.multi_draw_elements(mode, &counts, type_, &indices, Some(&base_vertices));
    }
}

pub(crate) unsafe fn draw_buffers(ctx: &mut Context, n: i32, buffers: *const u32) {
    let Some(n) = length(ctx, n, "glDrawBuffers: negative count") else { return };
    // SAFETY: `n` elements by the contract of the module.
    if let Some(buffers) = unsafe { input(ctx, buffers, n, "glDrawBuffers: null") } {
        ctx.draw_buffers(&buffers);
    }
}

macro_rules! clear_buffer {
    ($($name:ident: $ty:ty;)*) => {
        $(
            pub(crate) unsafe fn $name(ctx: &mut Context, buffer: u32, drawbuffer: i32, value: *const $ty) {
                let n = if buffer == gl::COLOR { 4 } else { 1 };
                // SAFETY: as many components as the buffer has, by the contract of the module.
                if let Some(value) = unsafe { input(ctx, value, n, stringify!($name)) } {
                    ctx.$name(buffer, drawbuffer, &value);
                }
            }
        )*
    };
}

clear_buffer! {
    clear_bufferfv: f32;
    clear_bufferiv: i32;
    clear_bufferuiv: u32;
}
