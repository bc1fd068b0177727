//! The order of submissions as one number that only grows: kept by a timeline semaphore, or by fences on devices that have
//! none.
//!
//! With fences, each submission signals one of its own. A fence that is waited for is shared with the waiting thread, and
//! only a fence that nobody else holds is reset for another submission.

use crate::error::map_create;
use ash::{khr, vk};
use mgpipe_types::PipeResult;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Value before the first submission: reached from the start.
pub(crate) const FIRST_VALUE: u64 = 1;

/// Tells how far the device is.
pub(crate) enum Timeline {
    /// A semaphore that counts.
    Semaphore {
        /// Functions of the extension.
        fns: khr::timeline_semaphore::Device,
        /// The semaphore.
        raw: vk::Semaphore,
    },
    /// A fence for each submission.
    Fences(Mutex<Fences>),
}

/// Fences of submissions.
pub(crate) struct Fences {
    /// Those that have not been seen signalled, by ascending value.
    running: VecDeque<(u64, Arc<vk::Fence>)>,
    spare: Vec<Arc<vk::Fence>>,
    /// Highest value that has been seen reached.
    reached: u64,
}

impl Fences {
    /// An unsignalled fence that nobody waits for.
    fn take(&mut self, device: &ash::Device) -> Result<Arc<vk::Fence>, vk::Result> {
        let free = self.spare.iter().position(|fence| Arc::strong_count(fence) == 1);
        if let Some(fence) = free.map(|index| self.spare.swap_remove(index)) {
            // SAFETY: the fence has signalled, so no submission uses it, and nobody else holds it, so none waits for it.
            unsafe { device.reset_fences(&[*fence]) }?;
            return Ok(fence);
        }
        // SAFETY: plain creation on a live device.
        unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.map(Arc::new)
    }

    /// Takes note of fences that have signalled.
    fn advance(&mut self, device: &ash::Device) -> Result<(), vk::Result> {
        while let Some((value, fence)) = self.running.front() {
            // SAFETY: the fence belongs to the device.
            if !unsafe { device.get_fence_status(**fence) }? {
                break;
            }
            self.reached = self.reached.max(*value);
            if let Some((_, fence)) = self.running.pop_front() {
                self.spare.push(fence);
            }
        }
        Ok(())
    }
}

impl Timeline {
    /// A timeline at [`FIRST_VALUE`]. `semaphores`: the device has timeline semaphores enabled.
    pub(crate) fn new(instance: &ash::Instance, device: &ash::Device, semaphores: bool) -> PipeResult<Timeline> {
        if !semaphores {
            let fences = Fences { running: VecDeque::new(), spare: Vec::new(), reached: FIRST_VALUE };
            return Ok(Timeline::Fences(Mutex::new(fences)));
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(FIRST_VALUE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device has timeline semaphores enabled, says the caller.
        let raw =
            unsafe { device.create_semaphore(&info, None) }.map_err(|code| map_create("timeline semaphore", code))?;
        Ok(Timeline::Semaphore { fns: khr::timeline_semaphore::Device::new(instance, device), raw })
    }

    /// Submits command buffers, after which the timeline has `value`. The caller has locked the queue, and values ascend.
    pub(crate) fn submit(
        &self,
        device: &ash::Device,
        queue: vk::Queue,
        commands: &[vk::CommandBuffer],
        value: u64,
    ) -> Result<(), vk::Result> {
        match self {
            Timeline::Semaphore { raw, .. } => {
                let (values, semaphores) = ([value], [*raw]);
                let mut signal = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
                let info = vk::SubmitInfo::default()
                    .command_buffers(commands)
                    .signal_semaphores(&semaphores)
                    .push_next(&mut signal);
                // SAFETY: the command buffers are recorded and belong to the calling context; the queue is locked.
                unsafe { device.queue_submit(queue, &[info], vk::Fence::null()) }
            }
            Timeline::Fences(fences) => {
                let fence = fences.lock().take(device)?;
                let info = vk::SubmitInfo::default().command_buffers(commands);
                // SAFETY: as above; the fence is unsignalled and in no submission.
                let result = unsafe { device.queue_submit(queue, &[info], *fence) };
                if let Err(code) = result {
                    // A submission that failed has not touched the fence.
                    // SAFETY: nothing uses the fence, and no other thread has seen it.
                    unsafe { device.destroy_fence(*fence, None) };
                    return Err(code);
                }
                fences.lock().running.push_back((value, fence));
                Ok(())
            }
        }
    }

    /// Highest value that the device has reached.
    pub(crate) fn reached(&self, device: &ash::Device) -> Result<u64, vk::Result> {
        match self {
            // SAFETY: the semaphore is a timeline semaphore of this device.
            Timeline::Semaphore { fns, raw } => unsafe { fns.get_semaphore_counter_value(*raw) },
            Timeline::Fences(fences) => {
                let mut fences = fences.lock();
                fences.advance(device)?;
                Ok(fences.reached)
            }
        }
    }

    /// Waits until a value is reached that was submitted. [`vk::Result::TIMEOUT`] when the time ran out.
    pub(crate) fn wait(&self, device: &ash::Device, value: u64, timeout_ns: u64) -> Result<(), vk::Result> {
        match self {
            Timeline::Semaphore { fns, raw } => {
                let (semaphores, values) = ([*raw], [value]);
                let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
                // SAFETY: the semaphore is a timeline semaphore of this device.
                unsafe { fns.wait_semaphores(&info, timeout_ns) }
            }
            Timeline::Fences(fences) => {
                let (fence, until) = {
                    let mut fences = fences.lock();
                    fences.advance(device)?;
                    if fences.reached >= value {
                        return Ok(());
                    }
                    match fences.running.iter().find(|(submitted, _)| *submitted >= value) {
                        Some((submitted, fence)) => (fence.clone(), *submitted),
                        None => return Err(vk::Result::TIMEOUT),
                    }
                };
                // SAFETY: the fence was submitted, and this thread's share of it keeps it from being reset.
                unsafe { device.wait_for_fences(&[*fence], true, timeout_ns) }?;
                drop(fence);
                let mut fences = fences.lock();
                // What was submitted earlier has ended too, though its fences may be seen signalled only later.
                fences.reached = fences.reached.max(until);
                fences.advance(device)
            }
        }
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// The device is idle, and no other thread uses the timeline.
    pub(crate) unsafe fn destroy(&mut self, device: &ash::Device) {
        match self {
            // SAFETY: the caller's promise.
            Timeline::Semaphore { raw, .. } => unsafe { device.destroy_semaphore(*raw, None) },
            Timeline::Fences(fences) => {
                let fences = fences.get_mut();
                let running = fences.running.drain(..).map(|(_, fence)| fence);
                for fence in running.chain(fences.spare.drain(..)) {
                    // SAFETY: as above.
                    unsafe { device.destroy_fence(*fence, None) };
                }
            }
        }
    }
}
