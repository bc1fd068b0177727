//! The end of threads and of the process under a Vulkan driver that runs on the processor.
//!
//! Such a driver translates and executes shaders on threads of this process, with libraries (LLVM, for lavapipe) that make
//! static objects while they work and have them destroyed by exit handlers, newest first. Work that is still running then
//! crashes or hangs now and then. So that no work is:
//!
//! - a thread that has submitted work waits for it when it ends, before any exit handler when it is the one that calls
//!   `exit`; what it submits after that it waits for at once;
//! - an exit handler, registered anew as the program goes on because those libraries register theirs while they work,
//!   stops the other threads from submitting and waits for what they have submitted.
//!
//! Other devices need none of this: their work does not run in this process.

use crate::device::Device;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Longest wait for a device when a thread or the process ends.
const PATIENCE_NS: u64 = 30_000_000_000;

/// Devices that run on the processor, with the processes that opened them.
static DEVICES: Mutex<Vec<(u32, Weak<Device>)>> = Mutex::new(Vec::new());
/// The process that opened the latest of them. A forked child has none of the driver's threads and must not wait for them.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The thread that runs the exit handlers, 0 before the first.
static EXITING: AtomicUsize = AtomicUsize::new(0);

/// Pipelines made so far.
static PIPELINES: AtomicU32 = AtomicU32::new(0);
/// The next submission may do what none did before.
static NEWS: AtomicBool = AtomicBool::new(false);

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        wait_for_all();
    }
}

thread_local! {
    static GUARD: Guard = const { Guard };
    /// Its address names the thread; without a destructor it is there to the thread's very end.
    static IDENTITY: u8 = const { 0 };
}

extern "C" {
    fn atexit(callback: extern "C" fn()) -> c_int;
}

/// How a submission goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// As usual.
    Run,
    /// The thread is ending: it waits for the work.
    RunAndWait,
    /// The process is ending on another thread.
    Refuse,
}

/// Includes a device when it runs on the processor.
pub(crate) fn watch(device: &Arc<Device>) {
    if device.runs_here() {
        let process = std::process::id();
        PROCESS.store(process, Ordering::Relaxed);
        let mut devices = DEVICES.lock();
        // A parent's devices never get done here: their threads stayed behind.
        devices.retain(|(owner, old)| *owner == process && old.strong_count() > 0);
        devices.push((process, Arc::downgrade(device)));
    }
}

/// Decides about a submission of the calling thread to a device that runs on the processor; its queue is locked.
pub(crate) fn admit() -> Admission {
    let ending = GUARD.try_with(|_| ()).is_err();
    match EXITING.load(Ordering::SeqCst) {
        0 if !ending => Admission::Run,
        0 => Admission::RunAndWait,
        thread if thread == identity() => Admission::RunAndWait,
        _ => Admission::Refuse,
    }
}

/// Takes note of a pipeline: the work that uses the first, the second, the fourth and so on may make the driver's libraries
/// do something new.
pub(crate) fn pipeline_made() {
    let made = PIPELINES.fetch_add(1, Ordering::Relaxed) + 1;
    if made.is_power_of_two() {
        NEWS.store(true, Ordering::Relaxed);
    }
}

/// Takes note of a submission. Where it may have made libraries register exit handlers, this waits for it and registers
/// ours anew, which then runs before theirs. Powers of two keep that rare.
pub(crate) fn submitted(device: &Device, value: u64) {
    if NEWS.swap(false, Ordering::Relaxed) || value.is_power_of_two() {
        wait_for(device, value);
        // SAFETY: the callback is a plain function that does not unwind, in code that is never unloaded.
        if unsafe { atexit(at_exit) } != 0 {
            log::warn!("no exit handler could be registered");
        }
    }
}

/// Waits for what `submitted` so far.
pub(crate) fn wait_for(device: &Device, value: u64) {
    // A loss is latched by the wait; then nothing runs.
    if let Ok(false) = device.wait_value(value, PATIENCE_NS) {
        log::warn!("the device did not finish its work before the thread ended");
    }
}

fn identity() -> usize {
    IDENTITY.with(|here| std::ptr::from_ref(here) as usize)
}

fn wait_for_all() {
    let process = std::process::id();
    if PROCESS.load(Ordering::Relaxed) != process {
        return;
    }
    let own = |(owner, device): &(u32, Weak<Device>)| (*owner == process).then(|| device.upgrade()).flatten();
    let devices: Vec<_> = DEVICES.lock().iter().filter_map(own).collect();
    for device in devices {
        let value = device.submitted_value();
        wait_for(&device, value);
    }
}

extern "C" fn at_exit() {
    let outcome = std::panic::catch_unwind(|| {
        if PROCESS.load(Ordering::Relaxed) == std::process::id() {
            EXITING.store(identity(), Ordering::SeqCst);
            wait_for_all();
        }
    });
    if let Err(payload) = outcome {
        std::mem::forget(payload);
    }
}
