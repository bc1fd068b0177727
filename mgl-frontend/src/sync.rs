//! Sync objects and the fences behind them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use mgpipe_types::{fence_status, flush_flags, gl, FenceDesc, FenceHandle, FenceWait, Flush, TypedHandle};
use parking_lot::RwLock;

use crate::context::Context;
use crate::error::{invalid_enum, invalid_value, GlResult};
use crate::share::{only, ShareCore, ShareGroup};

/// A point in a command flow that a thread can wait for, with or without a context.
pub struct Fence {
    core: Arc<ShareCore>,
    handle: FenceHandle,
    /// Seen signalled: no more questions are needed.
    signaled: AtomicBool,
}

impl std::fmt::Debug for Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fence({:?})", self.handle)
    }
}

impl Fence {
    /// Waits until everything before the fence is done, at most `timeout_ns` nanoseconds; whether it is.
    ///
    /// May be called on any thread. A lost device counts as done: nothing of it will ever run.
    pub fn wait(&self, timeout_ns: u64) -> bool {
        if self.signaled.load(Ordering::Acquire) {
            return true;
        }
        let answer = if timeout_ns == 0 {
            self.core.screen.fence_status(&only(self.handle))
        } else {
            self.core.screen.fence_wait(&FenceWait { fence: self.handle.raw(), timeout_ns })
        };
        let done = match answer {
            Ok(answer) => answer.status != fence_status::TIMEOUT,
            Err(error) => {
                log::error!("fence: {error}");
                true
            }
        };
        if done {
            self.signaled.store(true, Ordering::Release);
        }
        done
    }

    /// The fence on the pipe.
    pub(crate) fn handle(&self) -> FenceHandle {
        self.handle
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        self.core.screen.fence_destroy(&only(self.handle));
        self.core.free(self.handle);
    }
}

/// A GL sync object.
#[derive(Debug)]
pub(crate) struct Sync {
    fence: Fence,
    /// Context that made it: only that one can flush it.
    context: mgpipe_types::ContextHandle,
    /// The commands before it were submitted.
    flushed: AtomicBool,
}

/// Sync objects of a share group. Their names are pointers to the application, so they count up and are not reused.
#[derive(Debug, Default)]
pub(crate) struct SyncTable {
    table: RwLock<(usize, HashMap<usize, Arc<Sync>>)>,
}

impl SyncTable {
    fn insert(&self, sync: Arc<Sync>) -> usize {
        let mut table = self.table.write();
        // Multiples of 16 look like pointers to applications that check alignment.
        table.0 += 16;
        let name = table.0;
        table.1.insert(name, sync);
        name
    }

    fn get(&self, name: usize) -> Option<Arc<Sync>> {
        self.table.read().1.get(&name).cloned()
    }
}

impl ShareGroup {
    /// Whether the value names a sync object.
    pub(crate) fn is_sync(&self, sync: usize) -> bool {
        self.syncs.get(sync).is_some()
    }
}

impl Context {
    /// Submits everything so far.
    pub(crate) fn submit(&mut self) {
        self.send_waiting();
        self.before_submit();
        self.pipe.flush(&Flush { flags: flush_flags::SUBMIT, pad: 0 });
    }

    pub(crate) fn insert_fence(&mut self, exportable: bool) -> GlResult<Fence> {
        let handle: FenceHandle = self.state.share.mint("fence")?;
        self.send_waiting();
        self.before_submit();
        self.pipe.fence_create(&FenceDesc { fence: handle.raw(), exportable: u32::from(exportable), pad: 0 });
        Ok(Fence { core: self.state.share.core.clone(), handle, signaled: AtomicBool::new(false) })
    }

    /// A fence after all commands so far, which are flushed: for `eglCreateSync`.
    pub fn create_fence(&mut self) -> Option<Arc<Fence>> {
        self.gl(|ctx| {
            let fence = ctx.insert_fence(false)?;
            ctx.submit();
            Ok(Some(Arc::new(fence)))
        })
    }

    /// Makes later commands wait for a fence on the device: for `eglWaitSync`.
    pub fn wait_fence(&mut self, fence: &Fence) {
        self.gl(|ctx| {
            if Arc::ptr_eq(&fence.core, &ctx.state.share.core) {
                ctx.pipe.fence_wait_server(&only(fence.handle()));
            } else {
                // Another share group has another screen; the host can wait for it in bounded steps.
                while !fence.wait(1_000_000_000) {}
            }
            Ok(())
        });
    }

    fn sync_object(&self, sync: usize, command: &'static str) -> GlResult<Arc<Sync>> {
        self.state.share.syncs.get(sync).ok_or_else(|| invalid_value(format!("{command}: no sync object")))
    }

    /// `glFenceSync`.
    pub fn fence_sync(&mut self, condition: u32, flags: u32) -> usize {
        self.gl(|ctx| {
            if condition != gl::SYNC_GPU_COMMANDS_COMPLETE {
                return Err(invalid_enum("glFenceSync: condition"));
            }
            if flags != 0 {
                return Err(invalid_value("glFenceSync: flags"));
            }
            let fence = ctx.insert_fence(false)?;
            // Only this context can submit what is before the fence, and another one may wait for it on the device: its
            // commands must not overtake those of this one.
            let flushed = ctx.state.share.is_shared();
            if flushed {
                ctx.submit();
            }
            let sync = Sync { fence, context: ctx.state.handle, flushed: AtomicBool::new(flushed) };
            Ok(ctx.state.share.syncs.insert(Arc::new(sync)))
        })
    }

    /// `glIsSync`.
    pub fn is_sync(&mut self, sync: usize) -> bool {
        self.state.share.is_sync(sync)
    }

    /// `glDeleteSync`: waiters keep the object alive.
    pub fn delete_sync(&mut self, sync: usize) {
        self.gl(|ctx| {
            if sync == 0 {
                return Ok(());
            }
            match ctx.state.share.syncs.table.write().1.remove(&sync) {
                Some(_) => {}
                None => return Err(invalid_value("glDeleteSync: no sync object")),
            }
            ctx.state.debug.forget_label(gl::SYNC_FENCE, sync);
            Ok(())
        });
    }

    /// Submits the commands before a sync object once, when this context made it: a poll makes progress.
    fn flush_for(&mut self, sync: &Sync) {
        if sync.context == self.state.handle && !sync.flushed.swap(true, Ordering::AcqRel) {
            self.submit();
        }
    }

    /// `glClientWaitSync`.
    pub fn client_wait_sync(&mut self, sync: usize, flags: u32, timeout: u64) -> u32 {
        self.gl_or(gl::WAIT_FAILED, |ctx| {
            let object = ctx.sync_object(sync, "glClientWaitSync")?;
            if flags & !gl::SYNC_FLUSH_COMMANDS_BIT != 0 {
                return Err(invalid_value("glClientWaitSync: flags"));
            }
            if object.fence.wait(0) {
                return Ok(gl::ALREADY_SIGNALED);
            }
            ctx.flush_for(&object);
            Ok(match (object.fence.wait(timeout), timeout) {
                (false, _) => gl::TIMEOUT_EXPIRED,
                // A call that does not wait cannot have waited for it (OpenGL 3.3 section 5.3.1).
                (true, 0) => gl::ALREADY_SIGNALED,
                (true, _) => gl::CONDITION_SATISFIED,
            })
        })
    }

    /// `glWaitSync`.
    pub fn wait_sync(&mut self, sync: usize, flags: u32, timeout: u64) {
        self.gl(|ctx| {
            let object = ctx.sync_object(sync, "glWaitSync")?;
            if flags != 0 {
                return Err(invalid_value("glWaitSync: flags"));
            }
            if timeout != gl::TIMEOUT_IGNORED {
                return Err(invalid_value("glWaitSync: timeout"));
            }
            // Commands of the own context are ordered anyway.
            if object.context != ctx.state.handle {
                ctx.pipe.fence_wait_server(&only(object.fence.handle()));
            }
            Ok(())
        });
    }

    /// `glGetSynciv`.
    pub fn get_sync(&mut self, sync: usize, pname: u32) -> Option<i32> {
        let answer = self.gl(|ctx| {
            let object = ctx.sync_object(sync, "glGetSynciv")?;
            Ok(Some(match pname {
                gl::OBJECT_TYPE => gl::SYNC_FENCE as i32,
                gl::SYNC_CONDITION => gl::SYNC_GPU_COMMANDS_COMPLETE as i32,
                gl::SYNC_FLAGS => 0,
                gl::SYNC_STATUS => {
                    if !object.fence.wait(0) {
                        ctx.flush_for(&object);
                    }
                    if object.fence.wait(0) {
                        gl::SIGNALED as i32
                    } else {
                        gl::UNSIGNALED as i32
                    }
                }
                _ => return Err(invalid_enum("glGetSynciv: pname")),
            }))
        });
        // A loop of such questions ends on a lost context as well (OpenGL 4.5 section 2.3.2).
        answer.or_else(|| (pname == gl::SYNC_STATUS && self.state.lost).then_some(gl::SIGNALED as i32))
    }
}
