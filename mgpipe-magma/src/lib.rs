//! Magma: the MGPipe backend for Vulkan.
//!
//! Magma runs on Vulkan 1.1 and takes what newer versions and extensions offer, each probed, none taken from a driver's name.
//! What follows is every place where the pipe and Vulkan disagree, and what Magma makes of it.
//!
//! * **Sharing.** A [`MagmaBackend`] opens one device; each screen it opens has object tables of its own on that device. A
//!   context records its own command buffers; the one queue is locked for a submission alone. Objects are looked up when a
//!   `set_*` arrives and kept by the context, so that a steady draw takes no lock. A screen counts generations of its
//!   storage; a context that sees one move looks its bindings up again.
//! * **Lifetime.** Native objects are counted. A batch of commands holds what it uses until the device's timeline has
//!   passed it, so nothing is destroyed under the device and nothing waits for a frame count.
//! * **Layouts.** Every image is in the general layout for its life. Its one transition travels in front of the next
//!   submission of whatever context comes first. Contexts on several threads hence need no layout tracking at all.
//! * **Hazards.** GL orders commands, Vulkan does not. A batch starts with a full barrier; within it, passes, dispatches and
//!   transfers are told apart, and a full barrier is recorded between them where the later one could depend on the earlier.
//! * **Rows.** GL row 0 is image row 0 and the viewport height is positive, so nothing is ever flipped. The signed area of a
//!   polygon has the opposite sign in the two specifications, hence windings map crosswise (see `conv`).
//! * **Depth.** Clip depth is GL's; `VK_EXT_depth_clip_control` accepts it, else the last vertex stage is patched.
//! * **Uploads.** A buffer that nothing uses is written through its mapping; one in use gets its bytes by a copy in the
//!   command stream, or new storage when all of it is replaced. Uploads into objects that the current batch has not used
//!   are moved in front of the batch and break no pass.
//!
//! Calls that wait: `fence_wait`, `query_result`, `resource_readback`, `read_pixels`, `get_texture_image`; recording waits
//! only when 8 batches or 3 frames are in flight.

mod adopt;
mod blending;
mod blit;
mod cache;
mod caps;
mod clear;
mod command;
mod compute;
mod context;
mod conv;
mod descriptor;
mod device;
mod draw;
mod dynamic;
mod error;
mod exit;
mod features;
mod fence;
mod format;
mod heap;
mod index;
mod internal;
mod mask;
mod memo;
mod merge;
mod pass_objects;
mod pipeline;
mod placeholder;
mod present;
mod probe;
mod query;
mod readback;
mod render_pass;
mod resource;
mod sampler;
mod screen;
mod shader;
mod spirv;
mod staging;
mod storage_pool;
mod table;
mod timeline;
mod transfer;
mod validation;
mod vertex;
mod vertex_input;
mod vertex_reads;
mod written;
mod xfb;

use mgpipe_types::{Backend, Callbacks, PipeResult, Screen};
use parking_lot::Mutex;
use std::sync::Arc;

pub use probe::{probe, DeviceProbe, ExtensionProbe, Probe};

/// The backend: opens the Vulkan device at the first [`Backend::open`] and shares it between its screens.
#[derive(Default)]
pub struct MagmaBackend {
    device: Mutex<Option<Arc<device::Device>>>,
}

impl MagmaBackend {
    /// A backend that has opened nothing yet.
    pub fn new() -> MagmaBackend {
        MagmaBackend::default()
    }
}

impl Backend for MagmaBackend {
    fn open(&self, callbacks: Arc<dyn Callbacks>) -> PipeResult<Arc<dyn Screen>> {
        table::generation_check()?;
        let mut slot = self.device.lock();
        let device = match &*slot {
            Some(device) if !device.is_lost() => device.clone(),
            _ => slot.insert(device::Device::open()?).clone(),
        };
        Ok(Arc::new(screen::MagmaScreen::new(device, callbacks)))
    }
}
