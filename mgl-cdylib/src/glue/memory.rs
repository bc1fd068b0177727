//! Reading and writing the application's memory.

use std::borrow::Cow;
use std::ffi::{c_char, CStr};

use mgpipe_types::gl;
use smallvec::SmallVec;

use crate::front::{Context, Values};

/// A count as a length; a negative one records `GL_INVALID_VALUE`.
pub(super) fn length(ctx: &mut Context, n: i32, what: &str) -> Option<usize> {
    let length = usize::try_from(n).ok();
    if length.is_none() {
        ctx.record_error(gl::INVALID_VALUE, what);
    }
    length
}

/// A byte size as a length; a negative one records `GL_INVALID_VALUE`.
pub(super) fn size(ctx: &mut Context, n: isize, what: &str) -> Option<usize> {
    let size = usize::try_from(n).ok();
    if size.is_none() {
        ctx.record_error(gl::INVALID_VALUE, what);
    }
    size
}

/// Records `GL_INVALID_VALUE` for a null pointer where GL needs memory; true when it is null.
pub(super) fn refuse_null<T>(ctx: &mut Context, pointer: *const T, what: &str) -> bool {
    if pointer.is_null() {
        ctx.record_error(gl::INVALID_VALUE, what);
    }
    pointer.is_null()
}

/// `n` elements at `pointer`, copied only when the pointer is not aligned.
///
/// # Safety
///
/// `pointer` is null or points to `n` elements that stay unchanged during the call.
#[inline]
pub(super) unsafe fn input<'a, T: Copy>(
    ctx: &mut Context,
    pointer: *const T,
    n: usize,
    what: &str,
) -> Option<Cow<'a, [T]>> {
    if n == 0 {
        return Some(Cow::Borrowed(&[]));
    }
    let fits = n.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    if !fits || refuse_null(ctx, pointer, what) {
        if !fits {
            ctx.record_error(gl::INVALID_VALUE, what);
        }
        return None;
    }
    if pointer.is_aligned() {
        // SAFETY: not null, aligned, no larger than the address space, `n` elements by the contract.
        return Some(Cow::Borrowed(unsafe { std::slice::from_raw_parts(pointer, n) }));
    }
    // SAFETY: `n` elements by the contract; unaligned reads.
    Some(Cow::Owned((0..n).map(|i| unsafe { pointer.add(i).read_unaligned() }).collect()))
}

/// As [`input`] for bytes, which are always aligned.
///
/// # Safety
///
/// As for [`input`].
pub(super) unsafe fn bytes<'a>(ctx: &mut Context, pointer: *const u8, n: usize, what: &str) -> Option<&'a [u8]> {
    if n == 0 {
        return Some(&[]);
    }
    if n > isize::MAX as usize || refuse_null(ctx, pointer, what) {
        if n > isize::MAX as usize {
            ctx.record_error(gl::INVALID_VALUE, what);
        }
        return None;
    }
    // SAFETY: not null, no larger than the address space, `n` bytes by the contract.
    Some(unsafe { std::slice::from_raw_parts(pointer, n) })
}

/// As [`bytes`], writable.
///
/// # Safety
///
/// `pointer` is null or points to `n` bytes that nobody else touches during the call.
pub(super) unsafe fn bytes_mut<'a>(ctx: &mut Context, pointer: *mut u8, n: usize, what: &str) -> Option<&'a mut [u8]> {
    if n == 0 {
        return Some(&mut []);
    }
    if n > isize::MAX as usize || refuse_null(ctx, pointer, what) {
        if n > isize::MAX as usize {
            ctx.record_error(gl::INVALID_VALUE, what);
        }
        return None;
    }
    // SAFETY: not null, no larger than the address space, `n` bytes by the contract.
    Some(unsafe { std::slice::from_raw_parts_mut(pointer, n) })
}

/// Lets `fill` write `n` elements and copies them to `pointer`, aligned or not, when it answers true.
///
/// # Safety
///
/// `pointer` is null or valid for `n` writes.
pub(super) unsafe fn output<T: Copy + Default>(
    ctx: &mut Context,
    pointer: *mut T,
    n: usize,
    what: &str,
    fill: impl FnOnce(&mut Context, &mut [T]) -> bool,
) {
    if n == 0 {
        fill(ctx, &mut []);
        return;
    }
    if refuse_null(ctx, pointer.cast_const(), what) {
        return;
    }
    let mut values: SmallVec<[T; 16]> = SmallVec::new();
    if values.try_reserve(n).is_err() {
        ctx.record_error(gl::OUT_OF_MEMORY, what);
        return;
    }
    values.resize(n, T::default());
    if fill(ctx, &mut values) {
        // SAFETY: `n` writable elements by the contract.
        unsafe { write_all(pointer, &values) };
    }
}

/// Copies `values` to `pointer`.
///
/// # Safety
///
/// `pointer` is null (nothing happens) or valid for as many writes as there are values.
pub(super) unsafe fn write_all<T: Copy>(pointer: *mut T, values: &[T]) {
    if !pointer.is_null() {
        // SAFETY: by the contract; a byte copy needs no alignment, and the frontend's values are not the application's
        // memory.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), pointer.cast::<u8>(), size_of_val(values));
        }
    }
}

/// Writes one value; a null pointer records `GL_INVALID_VALUE` when there was something to write.
///
/// # Safety
///
/// `pointer` is null or valid for a write.
pub(super) unsafe fn answer<T: Copy>(ctx: &mut Context, pointer: *mut T, value: Option<T>, what: &str) {
    if let Some(value) = value {
        if !refuse_null(ctx, pointer.cast_const(), what) {
            // SAFETY: not null; by the contract.
            unsafe { pointer.write_unaligned(value) };
        }
    }
}

/// Writes all values of a query, converted by `convert`.
///
/// # Safety
///
/// `pointer` is null or valid for as many writes as the query has values.
pub(super) unsafe fn answers<T: Copy>(
    ctx: &mut Context,
    pointer: *mut T,
    values: Option<Values>,
    convert: impl Fn(&Values, usize) -> T,
    what: &str,
) {
    let Some(values) = values else { return };
    if refuse_null(ctx, pointer.cast_const(), what) {
        return;
    }
    for i in 0..values.len() {
        // SAFETY: the query has `values.len()` values and the pointer is not null.
        unsafe { pointer.add(i).write_unaligned(convert(&values, i)) };
    }
}

/// A terminated string of the application.
///
/// # Safety
///
/// `pointer` is null or a terminated string that stays unchanged during the call.
pub(super) unsafe fn text<'a>(ctx: &mut Context, pointer: *const c_char, what: &str) -> Option<Cow<'a, str>> {
    if refuse_null(ctx, pointer, what) {
        return None;
    }
    // SAFETY: not null; terminated by the contract.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}

/// An array of terminated strings.
///
/// # Safety
///
/// `pointers` is null or points to `n` pointers that are null or terminated strings.
pub(super) unsafe fn texts<'a>(
    ctx: &mut Context,
    pointers: *const *const c_char,
    n: usize,
    what: &str,
) -> Option<Vec<Cow<'a, str>>> {
    // SAFETY: by the contract.
    let pointers = unsafe { input(ctx, pointers, n, what) }?;
    // SAFETY: by the contract.
    pointers.iter().map(|&p| unsafe { text(ctx, p, what) }).collect()
}

/// Copies text into a buffer of `capacity` bytes with a terminator, cut when it does not fit, and its length without the
/// terminator.
///
/// # Safety
///
/// `out` is null or valid for `capacity` writes, `length` is null or valid for one.
pub(super) unsafe fn write_text(out: *mut c_char, capacity: usize, length: *mut i32, text: &[u8]) {
    let mut written = 0;
    if !out.is_null() && capacity > 0 {
        written = text.len().min(capacity - 1);
        // SAFETY: `written + 1` is at most `capacity`.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast::<u8>(), written);
            out.add(written).write(0);
        }
    }
    if !length.is_null() {
        // SAFETY: not null; by the contract.
        unsafe { length.write_unaligned(i32::try_from(written).unwrap_or(i32::MAX)) };
    }
}
