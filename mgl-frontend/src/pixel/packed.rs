//! Pixels that are read into a pack buffer in another form than texels have.
//!
//! The device copies the texels in the order of the commands and nobody waits. They become pixels when something asks for
//! the buffer's contents: programs read into a pack buffer so as to map it some frames later. Buffers that the device reads
//! by itself, or that stay mapped, do not take part.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use mgpipe_types::{gl, Format, ReadbackInfo, ReadbackToBuffer, TypedHandle};

use super::convert::is_tight;
use super::{pack_image, ClientFormat, PackOptions, PixelStore};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{invalid_operation, out_of_memory, GlResult};
use crate::format::Base;
use crate::sync::Fence;

/// Bytes of texels that may wait to become pixels.
const MOST_BYTES: u64 = 64 << 20;
/// Images that may wait in one buffer.
const MOST_IMAGES: usize = 16;
/// Bytes of texels that are converted at a time; see [`super::Download`].
const BAND_BYTES: usize = 960 << 10;

/// Fences behind read-backs that are kept: by the time that the oldest goes, a program has mapped what lies before it.
const KEPT_FENCES: usize = 4;

/// Fences behind what was read into pack buffers.
///
/// A backend that is elsewhere tells of fences when they have signalled. One behind each frame's read-backs lets it know that
/// the bytes are there without being asked, also when the program inserts none.
#[derive(Debug, Default)]
pub(crate) struct PackFences {
    /// Pixels were read into a pack buffer since the last fence.
    pub(crate) wanted: bool,
    kept: VecDeque<Fence>,
}

/// An image that waits in a buffer of its own.
#[derive(Debug)]
pub(crate) struct Packed {
    texels: Arc<Buffer>,
    pack: Pack,
    /// Byte of the pack buffer that the application named.
    offset: usize,
}

/// How an image becomes pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pack {
    pub(crate) size: [u32; 3],
    /// Format of the texels.
    pub(crate) format: Format,
    /// Base format that decides which components exist.
    pub(crate) base: Base,
    pub(crate) client: ClientFormat,
    pub(crate) store: PixelStore,
    /// Dimensionality of the command, for the pack state.
    pub(crate) dims: u32,
    pub(crate) options: PackOptions,
}

impl Buffer {
    /// Whether pixels may wait for this buffer.
    fn takes_waiting_pixels(&self) -> bool {
        let inner = self.lock();
        !self.is_attached() && inner.storage_flags & gl::MAP_PERSISTENT_BIT == 0 && inner.packed.len() < MOST_IMAGES
    }
}

impl Context {
    /// Inserts a fence behind the read-backs so far, where it is of use.
    #[cold]
    pub(crate) fn fence_packs(&mut self) {
        self.pack_fences.wanted = false;
        if self.state.share.has_silent_maps() {
            return;
        }
        // Without a fence the bytes are asked for.
        let Ok(fence) = self.insert_fence(false) else { return };
        self.pack_fences.kept.push_back(fence);
        if self.pack_fences.kept.len() > KEPT_FENCES {
            self.pack_fences.kept.pop_front();
        }
    }

    /// Has the device copy texels for a pack buffer, in the order of the commands and without waiting for anything. False when
    /// the pixels cannot wait. The verb has been validated, the image realised and the destination checked.
    pub(crate) fn pack_later(
        &mut self,
        info: ReadbackInfo,
        pack: Pack,
        buffer: &Buffer,
        offset: usize,
    ) -> GlResult<bool> {
        let bytes = pack.format.desc().image_bytes(pack.size[0], pack.size[1], pack.size[2]);
        let Some(bytes) = bytes.filter(|bytes| (1..=MOST_BYTES).contains(bytes)) else { return Ok(false) };
        if !buffer.takes_waiting_pixels() {
            return Ok(false);
        }
        let texels = match self.pack_scratch.take() {
            Some(texels) => texels,
            None => Buffer::new(&self.state.share.core, 0)?,
        };
        // Few different sizes, so that the backend finds storage that it has used before.
        texels.respecify(&mut *self.pipe, &mut texels.lock(), bytes.next_power_of_two(), gl::STREAM_READ);
        self.pipe.readback_to_buffer(&ReadbackToBuffer {
            info,
            buffer: texels.handle.raw(),
            offset: 0,
            row_stride: 0,
            slice_stride: 0,
        });
        buffer.gpu_wrote();
        buffer.lock().packed.push(Packed { texels, pack, offset });
        buffer.has_packed.store(true, Ordering::Release);
        Ok(true)
    }

    /// Makes the pixels that wait for a buffer its contents. Comes before everything that looks at them or changes them.
    ///
    /// # Errors
    /// What the backend answers: out of memory or a lost device.
    #[inline]
    pub(crate) fn settle(&mut self, buffer: &Buffer) -> GlResult {
        if buffer.has_packed.load(Ordering::Acquire) {
            self.settle_packed(buffer)
        } else {
            Ok(())
        }
    }

    /// Notes that the device reads or writes a buffer from now on without being told each time.
    ///
    /// # Errors
    /// As for [`Context::settle`].
    pub(crate) fn attach_buffer(&mut self, buffer: &Buffer) -> GlResult {
        buffer.attached();
        self.settle(buffer)
    }

    #[cold]
    fn settle_packed(&mut self, buffer: &Buffer) -> GlResult {
        let waiting = {
            let mut inner = buffer.lock();
            buffer.has_packed.store(false, Ordering::Release);
            std::mem::take(&mut inner.packed)
        };
        for Packed { texels, pack, offset } in waiting {
            self.write_pixels(&texels, &pack, buffer, offset)?;
            self.pack_scratch = Some(texels);
        }
        Ok(())
    }

    /// Converts texels and writes the pixels to a buffer.
    fn write_pixels(&mut self, texels: &Buffer, pack: &Pack, buffer: &Buffer, offset: usize) -> GlResult {
        let command = "pixel pack buffer";
        let [width, height, depth] = pack.size;
        let address = pack.store.address(pack.dims, pack.size, &pack.client).ok_or_else(|| out_of_memory(command))?;
        let row = usize::try_from(pack.format.desc().row_bytes(width)).map_err(|_| out_of_memory(command))?;
        let rows = ((BAND_BYTES / row.max(1)) as u32).clamp(1, height.max(1));
        // Slices that fit a band together are one.
        let slices =
            if rows == height && row * rows as usize * depth as usize <= BAND_BYTES { depth.max(1) } else { 1 };
        let (mut source, mut pixels) = (Vec::new(), Vec::new());
        for z in (0..depth).step_by(slices as usize) {
            for y in (0..height).step_by(rows as usize) {
                let size = [width, rows.min(height - y), slices];
                let band = row * size[1] as usize * slices as usize;
                resize(&mut source, band)?;
                let from = (z as usize * height as usize + y as usize) * row;
                texels.read_back(&mut *self.pipe, from as u64, &mut source[..band])?;
                let to = pack.store.address(pack.dims, size, &pack.client).ok_or_else(|| out_of_memory(command))?;
                resize(&mut pixels, to.end)?;
                let pixels = &mut pixels[..to.end];
                let at = offset + z as usize * address.image_stride + y as usize * address.row_stride + to.start;
                if !is_tight(&to, size) {
                    // Bytes between rows stay as they are, so they must be known.
                    buffer.read_back(&mut *self.pipe, at as u64, &mut pixels[to.start..])?;
                }
                let Pack { client, store, dims, format, base, options, .. } = pack;
                if !pack_image(client, store, *dims, size, &source[..band], *format, *base, *options, pixels) {
                    return Err(invalid_operation(format!("{command}: the destination is too small")));
                }
                buffer.upload(&mut *self.pipe, at as u64, &pixels[to.start..]);
            }
        }
        Ok(())
    }
}

fn resize(bytes: &mut Vec<u8>, len: usize) -> GlResult {
    bytes.try_reserve_exact(len.saturating_sub(bytes.len())).map_err(|_| out_of_memory("pixel pack buffer"))?;
    bytes.resize(len.max(bytes.len()), 0);
    Ok(())
}
