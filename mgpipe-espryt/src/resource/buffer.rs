//! Buffer storage. The name is made by the first context that uses the buffer and stays for its life.

use super::next_serial;
use crate::gles::{named, Gles};
use crate::grave::{Dead, Grave};
use glow::HasContext;
use mgpipe_types::{gl, PipeError, PipeResult};
use parking_lot::Mutex;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// Everything that a persistent mapping may be used for.
const PERSISTENT: u32 = gl::MAP_READ_BIT | gl::MAP_WRITE_BIT | gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;

/// Storage below this is made by the upload that fills it, where one follows: the driver is told of both in one call.
const SMALL_BYTES: u64 = 8 << 20;

struct State {
    /// The driver's name while it has no storage of this specification.
    kept: u32,
    /// Bytes that the client asked for.
    size: u64,
    usage: u32,
    /// The storage can stay mapped, and so is made once for a name.
    persistent: bool,
    /// Whether the driver has storage of that size.
    allocated: bool,
    /// Address of the storage while it is mapped.
    mapped: Option<NonNull<u8>>,
}

// SAFETY: the address is that of storage which lives as long as the buffer; who writes there is the client's business.
unsafe impl Send for State {}

/// A buffer of the pipe.
pub(crate) struct Buffer {
    grave: Arc<Grave>,
    name: AtomicU32,
    serial: AtomicU64,
    /// The size that `state` has, for draws.
    size: AtomicU64,
    state: Mutex<State>,
}

impl Buffer {
    /// A buffer without storage of the driver. `flags` are those of `glBufferStorage`.
    pub(crate) fn new(grave: &Arc<Grave>, size: u64, usage: u32, flags: u32) -> Buffer {
        let persistent = flags & gl::MAP_PERSISTENT_BIT != 0;
        Buffer {
            grave: grave.clone(),
            name: AtomicU32::new(0),
            serial: AtomicU64::new(next_serial()),
            size: AtomicU64::new(size),
            state: Mutex::new(State { kept: 0, size, usage, persistent, allocated: false, mapped: None }),
        }
    }

    /// Size in bytes.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.size.load(Ordering::Acquire)
    }

    /// Never-reused identity of the storage: other contexts see new storage once they bind it.
    #[inline]
    pub(crate) fn serial(&self) -> u64 {
        self.serial.load(Ordering::Acquire)
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
        let name = self.own_name(gles, &mut state)?;
        if !state.allocated {
            self.allocate(gles, name, &mut state, None)?;
        }
        self.name.store(name, Ordering::Release);
        Ok(name)
    }

    /// The driver's name, whether or not there is storage behind it.
    fn own_name(&self, gles: &Gles, state: &mut State) -> PipeResult<u32> {
        match (self.name.load(Ordering::Acquire), state.kept) {
            (0, 0) => {
                // SAFETY: a context is current.
                let buffer = unsafe { gles.gl.create_buffer() }.map_err(PipeError::OutOfMemory)?;
                state.kept = buffer.0.get();
                Ok(state.kept)
            }
            (0, kept) => Ok(kept),
            (name, _) => Ok(name),
        }
    }

    /// Makes the storage with its contents. False, and nothing done, when it is there already or is none to make so; a context
    /// is current.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn fill(&self, gles: &Gles, bytes: &[u8]) -> PipeResult<bool> {
        if self.name.load(Ordering::Acquire) != 0 {
            return Ok(false);
        }
        let mut state = self.state.lock();
        if state.allocated || state.persistent || state.size != bytes.len() as u64 {
            return Ok(false);
        }
        let name = self.own_name(gles, &mut state)?;
        self.allocate(gles, name, &mut state, Some(bytes))?;
        self.name.store(name, Ordering::Release);
        Ok(true)
    }

    fn allocate(&self, gles: &Gles, name: u32, state: &mut State, contents: Option<&[u8]>) -> PipeResult<()> {
        let too_large = || PipeError::OutOfMemory(format!("a buffer of {} bytes", state.size));
        let size = isize::try_from(state.size).map_err(|_| too_large())?;
        gles.before_trial("buffer storage");
        // SAFETY: a context is current and the name is its share group's; one with immutable storage comes here once.
        unsafe {
            gles.gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, name));
            if state.persistent && gles.has.buffer_storage && size > 0 {
                let flags = PERSISTENT | gl::DYNAMIC_STORAGE_BIT;
                gles.ext.buffer_storage(gl::COPY_WRITE_BUFFER, size, std::ptr::null(), flags);
            } else {
                let contents = contents.map_or(std::ptr::null(), |bytes| bytes.as_ptr().cast());
                gles.ext.buffer_data(gl::COPY_WRITE_BUFFER, size, contents, usage(state.usage));
            }
        }
        if gles.drain_errors().is_some() {
            return Err(too_large());
        }
        state.allocated = true;
        Ok(())
    }

    /// Replaces the storage, `renamed` under another name of the driver; the contents become undefined.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn respecify(&self, gles: &Gles, size: u64, usage: u32, flags: u32, renamed: bool) -> PipeResult<()> {
        let mut state = self.state.lock();
        let persistent = flags & gl::MAP_PERSISTENT_BIT != 0;
        let mut kept = match self.name.swap(0, Ordering::AcqRel) {
            0 => state.kept,
            name => name,
        };
        if (state.persistent || persistent || renamed) && kept != 0 {
            // Immutable storage is for the life of a name.
            self.grave.bury(Dead::Buffer(kept));
            kept = 0;
        }
        *state = State { kept, size, usage, persistent, allocated: false, mapped: None };
        self.size.store(size, Ordering::Release);
        self.serial.store(next_serial(), Ordering::Release);
        if kept != 0 && size >= SMALL_BYTES {
            self.allocate(gles, kept, &mut state, None)?;
            self.name.store(kept, Ordering::Release);
        }
        Ok(())
    }

    /// Address and size of the storage, which stays mapped from then on; a context is current.
    ///
    /// # Errors
    /// Storage that cannot stay mapped, out of memory.
    pub(crate) fn map(&self, gles: &Gles) -> PipeResult<(NonNull<u8>, u64)> {
        let name = self.name(gles)?;
        let mut state = self.state.lock();
        let size = state.size;
        if let Some(address) = state.mapped {
            return Ok((address, size));
        }
        if !state.persistent || !gles.has.buffer_storage || size == 0 {
            return Err(PipeError::Unsupported("storage that cannot stay mapped".into()));
        }
        let out_of_memory = || PipeError::OutOfMemory(format!("a mapping of {size} bytes"));
        let length = i32::try_from(size).map_err(|_| out_of_memory())?;
        gles.before_trial("a mapping");
        // SAFETY: a context is current; the whole storage is mapped as its flags allow, and it is not mapped yet.
        let mapped = unsafe {
            gles.gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, name));
            gles.gl.map_buffer_range(gl::COPY_WRITE_BUFFER, 0, length, PERSISTENT)
        };
        gles.drain_errors();
        let address = NonNull::new(mapped).ok_or_else(out_of_memory)?;
        state.mapped = Some(address);
        Ok((address, size))
    }

    /// Copies bytes out of storage that is mapped; false when it is not. The driver has finished, and the range lies within
    /// the buffer.
    pub(crate) fn copy_mapped(&self, gles: &Gles, offset: u64, out: &mut [u8]) -> bool {
        let state = self.state.lock();
        let Some(address) = state.mapped else { return false };
        let (Ok(start), true) = (usize::try_from(offset), offset + out.len() as u64 <= state.size) else {
            return false;
        };
        // SAFETY: the context is current; the mapping covers the storage and `out` is distinct.
        unsafe {
            gles.gl.finish();
            std::ptr::copy_nonoverlapping(address.as_ptr().add(start), out.as_mut_ptr(), out.len());
        }
        true
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
        let name = match *self.name.get_mut() {
            0 => self.state.get_mut().kept,
            name => name,
        };
        if name != 0 {
            self.grave.bury(Dead::Buffer(name));
        }
    }
}
