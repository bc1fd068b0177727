//! `GL_KHR_debug`.

use std::ffi::{c_char, c_void, CString};

use mgpipe_types::gl;

use super::memory::{answer, bytes, input, length, refuse_null, text, write_all, write_text};
use crate::egl;
use crate::entry::DebugProc;
use crate::front::{Context, DebugMessage};
use crate::tls;

/// The longest debug message and label, terminator included; the frontend answers the same for
/// `GL_MAX_DEBUG_MESSAGE_LENGTH` and `GL_MAX_LABEL_LENGTH`.
const MAX_TEXT: usize = 4096;

/// The application's pointer, carried into the callback untouched.
struct UserParam(*const c_void);

// SAFETY: the pointer is never dereferenced here; the application knows from which threads its callback is called.
unsafe impl Send for UserParam {}

impl UserParam {
    fn get(&self) -> *const c_void {
        self.0
    }
}

/// Takes the current context away for as long as it lives: the application's callback runs while the frontend's context
/// is borrowed, so GL commands from inside it must not reach it.
struct Suspended(*mut Context);

impl Suspended {
    fn new() -> Suspended {
        let current = tls::current();
        tls::set_current(std::ptr::null_mut());
        Suspended(current)
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        tls::set_current(self.0);
    }
}

pub(crate) unsafe fn debug_message_callback(ctx: &mut Context, callback: DebugProc, user: *const c_void) {
    egl::set_debug_pointers(callback.map_or(0, |f| f as usize), user as usize);
    let Some(callback) = callback else {
        ctx.debug_message_callback(None);
        return;
    };
    let user = UserParam(user);
    ctx.debug_message_callback(Some(Box::new(move |message: &DebugMessage<'_>| {
        let mut text = message.text.as_bytes().to_vec();
        text.retain(|&b| b != 0);
        let Ok(text) = CString::new(text) else { return };
        let length = i32::try_from(text.as_bytes().len()).unwrap_or(i32::MAX);
        let _suspended = Suspended::new();
        // SAFETY: the application gave the function and its parameter for this purpose; the text outlives the call.
        unsafe {
            callback(message.source, message.type_, message.id, message.severity, length, text.as_ptr(), user.get());
        }
    })));
}

pub(crate) unsafe fn get_pointerv(ctx: &mut Context, pname: u32, out: *mut *mut c_void) {
    let (function, user) = egl::debug_pointers();
    let value = match pname {
        gl::DEBUG_CALLBACK_FUNCTION => function,
        gl::DEBUG_CALLBACK_USER_PARAM => user,
        _ => {
            ctx.record_error(gl::INVALID_ENUM, "glGetPointerv: pname");
            return;
        }
    };
    // SAFETY: one pointer by the contract of the module.
    unsafe { answer(ctx, out, Some(value as *mut c_void), "glGetPointerv: null") };
}

pub(crate) unsafe fn debug_message_control(
    ctx: &mut Context,
    source: u32,
    type_: u32,
    severity: u32,
    count: i32,
    ids: *const u32,
    enabled: u8,
) {
    let Some(n) = length(ctx, count, "glDebugMessageControl: negative count") else { return };
    // SAFETY: `n` ids by the contract of the module.
    if let Some(ids) = unsafe { input(ctx, ids, n, "glDebugMessageControl: null") } {
        ctx.debug_message_control(source, type_, severity, &ids, enabled != 0);
    }
}

pub(crate) unsafe fn debug_message_insert(
    ctx: &mut Context,
    source: u32,
    type_: u32,
    id: u32,
    severity: u32,
    length: i32,
    buf: *const c_char,
) {
    // SAFETY: `length` bytes or a terminated string by the contract of the module.
    if let Some(message) = unsafe { sized_text(ctx, length, buf, "glDebugMessageInsert") } {
        ctx.debug_message_insert(source, type_, id, severity, &message);
    }
}

pub(crate) unsafe fn push_debug_group(ctx: &mut Context, source: u32, id: u32, length: i32, message: *const c_char) {
    // SAFETY: `length` bytes or a terminated string by the contract of the module.
    if let Some(message) = unsafe { sized_text(ctx, length, message, "glPushDebugGroup") } {
        ctx.push_debug_group(source, id, &message);
    }
}

pub(crate) unsafe fn object_label(ctx: &mut Context, identifier: u32, name: u32, length: i32, label: *const c_char) {
    if label.is_null() {
        ctx.object_label(identifier, name, None);
        return;
    }
    // SAFETY: `length` bytes or a terminated string by the contract of the module.
    if let Some(label) = unsafe { sized_text(ctx, length, label, "glObjectLabel") } {
        ctx.object_label(identifier, name, Some(&label));
    }
}

pub(crate) unsafe fn get_object_label(
    ctx: &mut Context,
    identifier: u32,
    name: u32,
    capacity: i32,
    written: *mut i32,
    label: *mut c_char,
) {
    let Some(capacity) = length(ctx, capacity, "glGetObjectLabel: negative size") else { return };
    if let Some(text) = ctx.get_object_label(identifier, name) {
        // SAFETY: `capacity` bytes and one length, each or null, by the contract of the module.
        unsafe { write_label(&text, capacity, written, label) };
    }
}

pub(crate) unsafe fn object_ptr_label(ctx: &mut Context, ptr: *const c_void, length: i32, label: *const c_char) {
    if label.is_null() {
        ctx.object_ptr_label(ptr as usize, None);
        return;
    }
    // SAFETY: `length` bytes or a terminated string by the contract of the module.
    if let Some(label) = unsafe { sized_text(ctx, length, label, "glObjectPtrLabel") } {
        ctx.object_ptr_label(ptr as usize, Some(&label));
    }
}

pub(crate) unsafe fn get_object_ptr_label(
    ctx: &mut Context,
    ptr: *const c_void,
    capacity: i32,
    written: *mut i32,
    label: *mut c_char,
) {
    let Some(capacity) = length(ctx, capacity, "glGetObjectPtrLabel: negative size") else { return };
    if let Some(text) = ctx.get_object_ptr_label(ptr as usize) {
        // SAFETY: as for `get_object_label`.
        unsafe { write_label(&text, capacity, written, label) };
    }
}

/// Answers a label; without a buffer the length is that of the whole label.
///
/// # Safety
///
/// `label` is null or valid for `capacity` writes, `written` is null or valid for one.
unsafe fn write_label(text: &str, capacity: usize, written: *mut i32, label: *mut c_char) {
    // SAFETY: by the contract.
    unsafe {
        if label.is_null() && !written.is_null() {
            write_all(written, &[i32::try_from(text.len()).unwrap_or(i32::MAX)]);
        } else {
            write_text(label, capacity, written, text.as_bytes());
        }
    }
}

pub(crate) unsafe fn get_debug_message_log(
    ctx: &mut Context,
    count: u32,
    capacity: i32,
    sources: *mut u32,
    types: *mut u32,
    ids: *mut u32,
    severities: *mut u32,
    lengths: *mut i32,
    text: *mut c_char,
) -> u32 {
    let mut room = if text.is_null() {
        None
    } else {
        let Some(capacity) = length(ctx, capacity, "glGetDebugMessageLog: negative size") else { return 0 };
        Some(capacity)
    };
    let mut used = 0;
    let mut fetched = 0u32;
    while fetched < count {
        let Some(message) = ctx.get_debug_message(room) else { break };
        let i = fetched as usize;
        let bytes = message.text.as_bytes();
        // SAFETY: each array is null or has `count` elements; the text has `capacity` bytes, and the frontend only
        // returns a message that fits into what is left of them with its terminator.
        unsafe {
            for (array, value) in
                [(sources, message.source), (types, message.type_), (ids, message.id), (severities, message.severity)]
            {
                if !array.is_null() {
                    write_all(array.add(i), &[value]);
                }
            }
            if !lengths.is_null() {
                write_all(lengths.add(i), &[i32::try_from(bytes.len() + 1).unwrap_or(i32::MAX)]);
            }
            if let Some(left) = &mut room {
                let n = (bytes.len() + 1).min(*left);
                write_text(text.add(used), n, std::ptr::null_mut(), bytes);
                used += n;
                *left -= n;
            }
        }
        fetched += 1;
    }
    fetched
}

/// Text with a length, or terminated when the length is negative; too long is `GL_INVALID_VALUE`.
///
/// # Safety
///
/// `pointer` is null or points to `length` bytes, or to a terminated string for a negative length.
unsafe fn sized_text(ctx: &mut Context, length: i32, pointer: *const c_char, what: &str) -> Option<String> {
    if refuse_null(ctx, pointer, what) {
        return None;
    }
    let found = match usize::try_from(length) {
        // Refused by its length alone: what lies there need not be read.
        Ok(n) if n >= MAX_TEXT => {
            ctx.record_error(gl::INVALID_VALUE, what);
            return None;
        }
        // SAFETY: by the contract.
        Ok(n) => String::from_utf8_lossy(unsafe { bytes(ctx, pointer.cast(), n, what) }?).into_owned(),
        // SAFETY: by the contract.
        Err(_) => unsafe { text(ctx, pointer, what) }?.into_owned(),
    };
    if found.len() >= MAX_TEXT {
        ctx.record_error(gl::INVALID_VALUE, what);
        return None;
    }
    Some(found)
}
