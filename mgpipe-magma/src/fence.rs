//! Fences: the retirement of a batch, asked for from any thread.

use crate::device::BatchValue;
use crate::screen::{Fence, Shared};
use mgpipe_types::{fence_status, FenceAnswer, FenceHandle, PipeError, PipeResult};
use std::sync::Arc;

fn batch(shared: &Shared, fence: FenceHandle) -> PipeResult<Arc<BatchValue>> {
    let fence = shared.fences.get(fence).map_err(|error| PipeError::BadHandle(error.to_string()))?;
    let batch = fence.batch.read().clone();
    Ok(batch)
}

/// Puts a fence behind a batch.
pub(crate) fn create(shared: &Shared, fence: FenceHandle, batch: Arc<BatchValue>) {
    let object = Arc::new(Fence { batch: parking_lot::RwLock::new(batch) });
    if let Err(error) = shared.fences.insert(fence, object) {
        shared.complain("fence_create", error);
    }
}

/// Whether the fence has signalled, without waiting.
pub(crate) fn status(shared: &Shared, fence: FenceHandle) -> PipeResult<FenceAnswer> {
    let batch = batch(shared, fence)?;
    let status = match batch.get() {
        Some(value) if shared.device.has_retired(value) => fence_status::SIGNALED,
        _ if shared.device.is_lost() => fence_status::DEVICE_LOST,
        _ => fence_status::TIMEOUT,
    };
    Ok(FenceAnswer { status })
}

/// Waits for the fence.
pub(crate) fn wait(shared: &Shared, fence: FenceHandle, timeout_ns: u64) -> PipeResult<FenceAnswer> {
    let batch = batch(shared, fence)?;
    let status = match shared.device.wait_batch(&batch, timeout_ns) {
        Ok(true) => fence_status::SIGNALED,
        Ok(false) => fence_status::TIMEOUT,
        Err(PipeError::DeviceLost(_)) => fence_status::DEVICE_LOST,
        Err(error) => return Err(error),
    };
    Ok(FenceAnswer { status })
}
