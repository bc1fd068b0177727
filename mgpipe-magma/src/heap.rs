//! The process's heap under a Vulkan driver that runs on the processor.

use ash::vk;
use std::sync::Once;

/// Bytes of the block that is allocated and freed. glibc takes twice this as the amount of free memory at the end of a
/// heap beyond which it gives pages back; no block above 32 MiB moves that amount.
const BLOCK: usize = 24 << 20;

/// Keeps the pages of a processor's Vulkan driver mapped between batches.
///
/// Such a driver executes commands in this process and allocates tens of megabytes for a batch with many state changes,
/// in small pieces that it frees when the batch is done. By default the C library returns them to the system each time and
/// gets them back zeroed page by page: half a million page faults a second, which made state changes between draws 1.6 to
/// 1.9 times as slow on lavapipe, in about every second process, since it depends on what else lies at the heap's end. The
/// C library raises its limits itself once a program has freed a large block; this is such a block. Its pages are never
/// touched. Other devices do not need it, and other C libraries ignore it.
pub(crate) fn settle(kind: vk::PhysicalDeviceType) {
    static SETTLED: Once = Once::new();
    if kind == vk::PhysicalDeviceType::CPU {
        SETTLED.call_once(|| {
            let block = Vec::<u8>::with_capacity(BLOCK);
            drop(std::hint::black_box(block));
        });
    }
}
