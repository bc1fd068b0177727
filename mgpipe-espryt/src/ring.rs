//! The ring that uniforms, rewritten indices, converted attributes and lists of uploads go through.
//!
//! Chunks are filled from front to back and never rewritten before a fence behind their last use has signalled: a chunk that is
//! full gets its fence when the next command begins ([`Ring::begin`]), for the one that is being prepared reads it, too. Where the
//! driver maps storage persistently, a write is a copy; elsewhere it is a `glBufferSubData` into bytes that no command reads.

use crate::gles::{named, Gles};
use glow::HasContext;
use mgpipe_types::{gl, PipeError, PipeResult};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a chunk at least.
const CHUNK_BYTES: usize = 4 << 20;
/// Bytes of all chunks after which the ring waits for the driver instead of growing.
const MOST_BYTES: usize = 64 << 20;
/// Bytes of a chunk beyond which it is not kept for what is a quarter of it.
const LARGE_BYTES: usize = 4 * CHUNK_BYTES;
/// Nanoseconds that a ring of [`MOST_BYTES`] waits for the driver before it grows further.
const PATIENCE: i32 = 1_000_000_000;

const MAP_WRITE: u32 = 0x2;
const MAP_PERSISTENT: u32 = 0x40;
const MAP_COHERENT: u32 = 0x80;

struct Chunk {
    name: u32,
    /// Never-reused identity: the driver gives names again.
    serial: u64,
    size: usize,
    used: usize,
    mapped: Option<NonNull<u8>>,
    fence: Option<glow::Fence>,
}

/// Where bytes lie in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Slice {
    pub(crate) buffer: u32,
    /// Identity of the storage, which no buffer of the pipe has.
    pub(crate) serial: u64,
    pub(crate) offset: usize,
}

/// The ring of one context.
#[derive(Default)]
pub(crate) struct Ring {
    current: Option<Chunk>,
    /// Full ones that the command in preparation may read.
    full: Vec<Chunk>,
    busy: VecDeque<Chunk>,
    total: usize,
    /// Moves when a chunk is reused: slices of before are gone.
    pub(crate) generation: u64,
}

// SAFETY: the addresses are mappings of buffers of the context that owns the ring, which one thread at a time uses.
unsafe impl Send for Ring {}

impl Ring {
    /// Begins the preparation of a command: those before it are with the driver.
    #[inline]
    pub(crate) fn begin(&mut self, gles: &Gles) {
        if !self.full.is_empty() {
            self.retire(gles);
        }
    }

    #[cold]
    fn retire(&mut self, gles: &Gles) {
        for mut chunk in self.full.drain(..) {
            // SAFETY: the context is current.
            chunk.fence = unsafe { gles.gl.fence_sync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0) }.ok();
            self.busy.push_back(chunk);
        }
    }

    /// Takes `len` bytes at an offset of the given alignment: the chunk, and where they begin in it.
    #[inline]
    fn take(&mut self, gles: &Gles, len: usize, align: usize) -> PipeResult<(&mut Chunk, usize)> {
        let align = align.max(1);
        let start = match &self.current {
            Some(chunk) => Some(chunk.used.next_multiple_of(align)).filter(|start| start + len <= chunk.size),
            None => None,
        };
        let start = match start {
            Some(start) => start,
            None => {
                self.turn(gles, len)?;
                0
            }
        };
        let Some(chunk) = &mut self.current else { return Err(PipeError::OutOfMemory("ring".into())) };
        chunk.used = start + len;
        Ok((chunk, start))
    }

    /// Space in the ring for the caller to fill before the next command; `None` where the driver maps nothing persistently.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn space(&mut self, gles: &Gles, len: usize, align: usize) -> PipeResult<Option<(Slice, &mut [u8])>> {
        if !gles.has.buffer_storage {
            return Ok(None);
        }
        let (chunk, start) = self.take(gles, len, align)?;
        let Some(mapped) = chunk.mapped else { return Ok(None) };
        // SAFETY: start + len lies within the mapping, which lives as long as the chunk; no command reads these bytes yet, and
        // nobody else has them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(mapped.as_ptr().add(start), len) };
        Ok(Some((Slice { buffer: chunk.name, serial: chunk.serial, offset: start }, bytes)))
    }

    /// Copies bytes into the ring at an offset of the given alignment.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn write(&mut self, gles: &Gles, bytes: &[u8], align: usize) -> PipeResult<Slice> {
        let (chunk, start) = self.take(gles, bytes.len(), align)?;
        match chunk.mapped {
            // SAFETY: start + len lies within the mapping; no command reads these bytes before this write.
            Some(mapped) => unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.as_ptr().add(start), bytes.len());
            },
            // SAFETY: the context is current and the range lies within the buffer.
            None => unsafe {
                gles.gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, chunk.name));
                gles.gl.buffer_sub_data_u8_slice(gl::COPY_WRITE_BUFFER, start as i32, bytes);
            },
        }
        Ok(Slice { buffer: chunk.name, serial: chunk.serial, offset: start })
    }

    /// Takes a chunk with room for so many bytes.
    #[cold]
    fn turn(&mut self, gles: &Gles, bytes: usize) -> PipeResult<()> {
        self.generation += 1;
        self.full.extend(self.current.take());
        let must_wait = self.total + bytes.max(CHUNK_BYTES) > MOST_BYTES;
        while let Some(chunk) = self.busy.front() {
            let done = match chunk.fence {
                // SAFETY: the context is current and the fence is its own.
                Some(fence) => unsafe {
                    let timeout = if must_wait { PATIENCE } else { 0 };
                    let answer = gles.gl.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, timeout);
                    answer == gl::ALREADY_SIGNALED || answer == gl::CONDITION_SATISFIED
                },
                // The driver had no memory for a fence.
                None => {
                    // SAFETY: the context is current.
                    unsafe { gles.gl.finish() };
                    true
                }
            };
            if !done {
                break;
            }
            let Some(mut chunk) = self.busy.pop_front() else { break };
            if let Some(fence) = chunk.fence.take() {
                // SAFETY: made by this context, deleted once.
                unsafe { gles.gl.delete_sync(fence) };
            }
            if chunk.size >= bytes && (chunk.size <= LARGE_BYTES || chunk.size / 4 <= bytes) {
                chunk.used = 0;
                self.current = Some(chunk);
                return Ok(());
            }
            self.total -= chunk.size;
            delete(gles, &chunk);
        }
        let size = bytes.next_multiple_of(256).max(CHUNK_BYTES);
        let chunk = create(gles, size)?;
        self.total += size;
        self.current = Some(chunk);
        Ok(())
    }

    /// Deletes all chunks; the context is current.
    pub(crate) fn destroy(&mut self, gles: &Gles) {
        for chunk in self.current.take().into_iter().chain(self.full.drain(..)).chain(self.busy.drain(..)) {
            if let Some(fence) = chunk.fence {
                // SAFETY: made by this context, deleted once.
                unsafe { gles.gl.delete_sync(fence) };
            }
            delete(gles, &chunk);
        }
    }
}

fn create(gles: &Gles, size: usize) -> PipeResult<Chunk> {
    /// Those of the pipe's buffers count upwards.
    static SERIALS: AtomicU64 = AtomicU64::new(u64::MAX - 1);
    let gl = &gles.gl;
    if i32::try_from(size).is_err() {
        return Err(PipeError::OutOfMemory(format!("{size} bytes of ring")));
    }
    // SAFETY: the context is current; storage is made for a fresh name, and mapped whole for its life.
    unsafe {
        let buffer = gl.create_buffer().map_err(PipeError::OutOfMemory)?;
        gl.bind_buffer(gl::COPY_WRITE_BUFFER, Some(buffer));
        let mut mapped = None;
        if gles.has.buffer_storage {
            let flags = MAP_WRITE | MAP_PERSISTENT | MAP_COHERENT;
            gles.ext.buffer_storage(gl::COPY_WRITE_BUFFER, size as isize, std::ptr::null(), flags);
            mapped = NonNull::new(gl.map_buffer_range(gl::COPY_WRITE_BUFFER, 0, size as i32, flags));
        }
        if mapped.is_none() && !gles.has.buffer_storage {
            gl.buffer_data_size(gl::COPY_WRITE_BUFFER, size as i32, gl::STREAM_DRAW);
        }
        if gles.drain_errors().is_some() || (gles.has.buffer_storage && mapped.is_none()) {
            gl.delete_buffer(buffer);
            return Err(PipeError::OutOfMemory(format!("{size} bytes of ring")));
        }
        let serial = SERIALS.fetch_sub(1, Ordering::Relaxed);
        Ok(Chunk { name: buffer.0.get(), serial, size, used: 0, mapped, fence: None })
    }
}

fn delete(gles: &Gles, chunk: &Chunk) {
    if let Some(buffer) = named!(NativeBuffer, chunk.name) {
        // SAFETY: the ring's own name, deleted once; deleting unmaps it.
        unsafe { gles.gl.delete_buffer(buffer) };
    }
}
