//! The opened driver: display, functions and caps, shared by all screens of a backend.

use crate::egl::{open_displays, CurrentContext, Display};
use crate::gles::Gles;
use mgpipe_types::{CapsReply, PipeError, PipeResult};
use std::sync::Arc;

/// An opened driver.
pub(crate) struct Device {
    pub(crate) display: Arc<Display>,
    pub(crate) gles: Gles,
    pub(crate) caps: CapsReply,
}

impl Device {
    /// Opens the host's driver and tries what it can do.
    ///
    /// # Errors
    /// [`PipeError::Init`] with why each driver was refused.
    pub(crate) fn open() -> PipeResult<Device> {
        // A wrong mask is no fault of any driver.
        crate::features::Mask::of_environment().map_err(PipeError::Init)?;
        open_displays(|display| {
            let context = display.create_context(None)?;
            CurrentContext::bind(&context)?;
            let gles = Gles::load(&display, &context);
            let opened = gles.map(|gles| {
                let caps = crate::caps::reply(&gles);
                Device { display: display.clone(), gles, caps }
            });
            CurrentContext::release(&context);
            opened
        })
        .map_err(PipeError::Init)
    }
}
