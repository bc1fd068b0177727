//! Fence sync objects (EGL 1.5 §3.8.1, EGL_KHR_fence_sync, EGL_KHR_wait_sync).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use super::display::Display;
use super::enums as e;
use super::error::{fail, EglResult};
use super::thread;
use crate::front::Fence;

/// A fence that was inserted into a context's commands.
pub(crate) struct Sync {
    fence: Arc<Fence>,
    signaled: AtomicBool,
}

impl Sync {
    fn poll(&self, timeout_ns: u64) -> bool {
        if self.signaled.load(Ordering::Acquire) {
            return true;
        }
        let signaled = self.fence.wait(timeout_ns);
        if signaled {
            self.signaled.store(true, Ordering::Release);
        }
        signaled
    }
}

/// `eglCreateSync`.
pub(crate) fn create(display: &'static Display, kind: i32, has_attributes: bool) -> EglResult<usize> {
    display.session()?;
    if kind != e::SYNC_FENCE {
        // EGL 1.5: a type that is not supported is a bad attribute.
        return fail(e::BAD_ATTRIBUTE, format!("sync type {kind:#x} is not supported"));
    }
    if has_attributes {
        return fail(e::BAD_ATTRIBUTE, "a fence sync has no attributes");
    }
    let Some(current) = thread::current() else {
        return fail(e::BAD_MATCH, "a fence sync needs a current context");
    };
    if !std::ptr::eq(current.display, display) {
        return fail(e::BAD_MATCH, "the current context belongs to another display");
    }
    let Some(fence) = thread::with_context(&current, |gl| gl.create_fence())? else {
        return fail(e::BAD_ALLOC, "no fence could be made");
    };
    let handle = super::new_handle();
    display.add_sync(handle, Sync { fence, signaled: AtomicBool::new(false) })?;
    Ok(handle)
}

/// `eglClientWaitSync`. The timeout is in nanoseconds; fences are flushed when they are made, so the flush flag adds
/// nothing.
pub(crate) fn client_wait(display: &'static Display, sync: usize, timeout_ns: u64) -> EglResult<i32> {
    // The reference keeps the fence alive when another thread destroys the sync object meanwhile.
    let sync = display.sync(sync)?;
    Ok(if sync.poll(timeout_ns) { e::CONDITION_SATISFIED } else { e::TIMEOUT_EXPIRED })
}

/// `eglWaitSync`: commands after it wait on the server.
pub(crate) fn wait(display: &'static Display, sync: usize, flags: i32) -> EglResult<()> {
    let sync = display.sync(sync)?;
    if flags != 0 {
        return fail(e::BAD_PARAMETER, format!("eglWaitSync has no flags, {flags:#x} were given"));
    }
    let Some(current) = thread::current() else {
        return fail(e::BAD_MATCH, "eglWaitSync needs a current context");
    };
    thread::with_context(&current, |gl| gl.wait_fence(&sync.fence))
}

/// `eglGetSyncAttrib`.
pub(crate) fn attribute(display: &'static Display, sync: usize, attribute: i32) -> EglResult<i32> {
    let sync = display.sync(sync)?;
    Ok(match attribute {
        e::SYNC_TYPE => e::SYNC_FENCE,
        e::SYNC_STATUS if sync.poll(0) => e::SIGNALED,
        e::SYNC_STATUS => e::UNSIGNALED,
        e::SYNC_CONDITION => e::SYNC_PRIOR_COMMANDS_COMPLETE,
        _ => return fail(e::BAD_ATTRIBUTE, format!("{attribute:#x} is no sync attribute")),
    })
}
