//! Buffer storage. The name is made by the first context that uses the buffer and stays for its life.

use super::next_serial;
use crate::gles::{named, Gles};
use crate::grave::{Dead, Grave};
use glow::HasContext;
use mgpipe_types::{gl, PipeError, PipeResult};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

struct State {
    /// Bytes that the client asked for.
    size: u64,
    usage: u32,
    /// Whether the driver has storage of that size.
    allocated: bool,
}

/// A buffer of the pipe.
pub(crate) struct Buffer {
    grave: Arc<Grave>,
    name: AtomicU32,
    /// Never-reused identity of the name.
    pub(crate) serial: u64,
    state: Mutex<State>,
}

impl Buffer {
    pub(crate) fn new(grave: &Arc<Grave>, size: u64, usage: u32) -> Buffer {
        Buffer {
            grave: grave.clone(),
            name: AtomicU32::new(0),
            serial: next_serial(),
            state: Mutex::new(State { size, usage, allocated: false }),
        }
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.state.lock().size
    }

    /// The driver's name, with storage behind it; a context is current.
    ///
    /// # Errors
    /// Out of memory.
    #[inline]
    pub(crate) fn name(&self, gles: &Gles) -> PipeResult<u32> {
        match self.name.load(Ordering::Acquire) {
            0 => self.realize(gles),
            name => Ok(name),
        }
    }

    #[cold]
    fn realize(&self, gles: &Gles) -> PipeResult<u32> {
        let mut state = self.state.lock();
        let name = match self.name.load(Ordering::Acquire) {
            0 => {
                // SAFETY: a context is current.
                let buffer = unsafe { gles.gl.create_buffer() }.map_err(PipeError::OutOfMemory)?;
                buffer.0.get()
            }
            name => name,
        };
        if !state.allocated {
            self.allocate(gles, name, &mut state)?;
        }
        self.name.store(name, Ordering::Release);
        Ok(name)
    }

    fn allocate(&self, gles: &Gles, name: u32, state: &mut State) -> PipeResult<()> {
        let too_large = || PipeError::OutOfMemory(format!("a buffer of {} bytes", state.size));
        let size = isize::try_from(state.size).map_err(|_| too_large())?;
        gles.drain_errors();
        // SAFETY: a context is current and the name is its share group's.
        unsafe {
            gles.gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, name));
            gles.ext.buffer_data(gl::COPY_WRITE_BUFFER, size, std::ptr::null(), usage(state.usage));
        }
        if gles.drain_errors().is_some() {
            return Err(too_large());
        }
        state.allocated = true;
        Ok(())
    }

    /// Replaces the storage; the contents become undefined.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn respecify(&self, gles: &Gles, size: u64, usage: u32) -> PipeResult<()> {
        let mut state = self.state.lock();
        state.size = size;
        state.usage = usage;
        state.allocated = false;
        match self.name.load(Ordering::Acquire) {
            0 => Ok(()),
            name => self.allocate(gles, name, &mut state),
        }
    }
}

/// The usage hint as GLES takes it.
fn usage(usage: u32) -> u32 {
    match usage {
        gl::STREAM_DRAW..=gl::STREAM_COPY | gl::STATIC_DRAW..=gl::STATIC_COPY | gl::DYNAMIC_DRAW..=gl::DYNAMIC_COPY => {
            usage
        }
        _ => gl::DYNAMIC_DRAW,
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let name = *self.name.get_mut();
        if name != 0 {
            self.grave.bury(Dead::Buffer(name));
        }
    }
}
