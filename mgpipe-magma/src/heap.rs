//! The process's heap under a Vulkan driver that runs on the processor.

use ash::vk;
use std::sync::Once;

/// Free bytes at the end of a heap beyond which pages go back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TRIM_BYTES: i32 = 48 << 20;
/// Size from which a block has pages of its own, which go back when it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES_BYTES: i32 = 1 << 20;

/// Keeps the pages of a processor's Vulkan driver mapped between batches, and images out of the heap.
///
/// Such a driver executes commands in this process. For a batch with many state changes it allocates tens of megabytes in
/// pieces of 64 KiB and frees them when the batch is done. By default glibc returns them to the system each time and gets
/// them back zeroed, page by page: half a million page faults a second, which makes state changes between draws 1.6 to 1.9
/// times as slow on lavapipe, in about every second process, since it depends on what else lies at the heap's end. glibc
/// also moves blocks of a size that was freed before into the heap, which a program that replaces its textures fragments:
/// 1600 textures of 256 KiB left 520 MiB behind, and 53 MiB with a fixed size. Other devices need neither, and a user who
/// has set glibc's limits keeps them.
pub(crate) fn settle(kind: vk::PhysicalDeviceType) {
    static SETTLED: Once = Once::new();
    let chosen = ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"];
    if kind == vk::PhysicalDeviceType::CPU && chosen.iter().all(|name| std::env::var_os(name).is_none()) {
        SETTLED.call_once(set_limits);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn set_limits() {
    // From glibc's malloc.h.
    const M_TRIM_THRESHOLD: i32 = -1;
    const M_MMAP_THRESHOLD: i32 = -3;
    unsafe extern "C" {
        fn mallopt(parameter: i32, value: i32) -> i32;
    }
    // SAFETY: glibc's mallopt takes its own lock and may be called at any time; it refuses values that it does not take.
    unsafe {
        mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
        mallopt(M_MMAP_THRESHOLD, OWN_PAGES_BYTES);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn set_limits() {}
