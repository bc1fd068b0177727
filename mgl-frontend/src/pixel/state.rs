//! Pixel store commands, and where pixel commands read from and write to.

use std::borrow::Cow;
use std::sync::Arc;

use mgpipe_tracker::Counter;
use mgpipe_types::{gl, PixelPackState};

use super::{ClientFormat, PixelStore};
use crate::boundary::{PixelData, PixelDest};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, out_of_memory, GlResult};
use crate::texture::UploadSource;

/// Pixel state of a context.
#[derive(Debug, Default)]
pub(crate) struct PixelState {
    pub(crate) pack: PixelStore,
    pub(crate) unpack: PixelStore,
}

impl PixelState {
    /// The pack state as it travels.
    pub(crate) fn pack_payload(&self) -> PixelPackState {
        let pack = &self.pack;
        PixelPackState {
            row_length: pack.row_length,
            image_height: pack.image_height,
            skip_pixels: pack.skip_pixels,
            skip_rows: pack.skip_rows,
            skip_images: pack.skip_images,
            alignment: pack.alignment,
            swap_bytes: u8::from(pack.swap_bytes),
            lsb_first: u8::from(pack.lsb_first),
            pad: [0; 2],
        }
    }

    /// The value of a `GL_PACK_*` or `GL_UNPACK_*` query; `None` for any other name.
    pub(crate) fn get(&self, pname: u32) -> Option<i32> {
        let (store, pname) = match pname {
            gl::PACK_SWAP_BYTES..=gl::PACK_ALIGNMENT => (&self.pack, pname - gl::PACK_SWAP_BYTES),
            gl::PACK_SKIP_IMAGES => return Some(self.pack.skip_images),
            gl::PACK_IMAGE_HEIGHT => return Some(self.pack.image_height),
            gl::UNPACK_SWAP_BYTES..=gl::UNPACK_ALIGNMENT => (&self.unpack, pname - gl::UNPACK_SWAP_BYTES),
            gl::UNPACK_SKIP_IMAGES => return Some(self.unpack.skip_images),
            gl::UNPACK_IMAGE_HEIGHT => return Some(self.unpack.image_height),
            _ => return None,
        };
        // The two blocks of enumerants have the same order: swap, lsb, row length, skip rows, skip pixels, alignment.
        Some(match pname {
            0 => i32::from(store.swap_bytes),
            1 => i32::from(store.lsb_first),
            2 => store.row_length,
            3 => store.skip_rows,
            4 => store.skip_pixels,
            _ => store.alignment,
        })
    }
}

/// The parameter that a `glPixelStore` name stands for.
#[derive(Clone, Copy)]
enum Parameter {
    Swap,
    Lsb,
    RowLength,
    ImageHeight,
    SkipPixels,
    SkipRows,
    SkipImages,
    Alignment,
}

fn parameter(pname: u32) -> Option<(bool, Parameter)> {
    use Parameter::{Alignment, ImageHeight, Lsb, RowLength, SkipImages, SkipPixels, SkipRows, Swap};
    Some(match pname {
        gl::PACK_SWAP_BYTES => (true, Swap),
        gl::PACK_LSB_FIRST => (true, Lsb),
        gl::PACK_ROW_LENGTH => (true, RowLength),
        gl::PACK_IMAGE_HEIGHT => (true, ImageHeight),
        gl::PACK_SKIP_PIXELS => (true, SkipPixels),
        gl::PACK_SKIP_ROWS => (true, SkipRows),
        gl::PACK_SKIP_IMAGES => (true, SkipImages),
        gl::PACK_ALIGNMENT => (true, Alignment),
        gl::UNPACK_SWAP_BYTES => (false, Swap),
        gl::UNPACK_LSB_FIRST => (false, Lsb),
        gl::UNPACK_ROW_LENGTH => (false, RowLength),
        gl::UNPACK_IMAGE_HEIGHT => (false, ImageHeight),
        gl::UNPACK_SKIP_PIXELS => (false, SkipPixels),
        gl::UNPACK_SKIP_ROWS => (false, SkipRows),
        gl::UNPACK_SKIP_IMAGES => (false, SkipImages),
        gl::UNPACK_ALIGNMENT => (false, Alignment),
        _ => return None,
    })
}

fn address_error(command: &'static str) -> crate::error::GlError {
    out_of_memory(format!("{command}: the image is larger than memory"))
}

impl Context {
    /// `glPixelStorei`.
    pub fn pixel_storei(&mut self, pname: u32, param: i32) {
        self.gl(|ctx| {
            let (pack, parameter) = parameter(pname).ok_or_else(|| invalid_enum("glPixelStore: pname"))?;
            match parameter {
                Parameter::Swap | Parameter::Lsb => {}
                Parameter::Alignment => {
                    if !matches!(param, 1 | 2 | 4 | 8) {
                        return Err(invalid_value("glPixelStore: alignment"));
                    }
                }
                _ => {
                    if param < 0 {
                        return Err(invalid_value("glPixelStore: negative value"));
                    }
                }
            }
            let pixel = &mut ctx.state.pixel;
            let store = if pack { &mut pixel.pack } else { &mut pixel.unpack };
            match parameter {
                Parameter::Swap => store.swap_bytes = param != 0,
                Parameter::Lsb => store.lsb_first = param != 0,
                Parameter::RowLength => store.row_length = param,
                Parameter::ImageHeight => store.image_height = param,
                Parameter::SkipPixels => store.skip_pixels = param,
                Parameter::SkipRows => store.skip_rows = param,
                Parameter::SkipImages => store.skip_images = param,
                Parameter::Alignment => store.alignment = param,
            }
            if pack {
                ctx.state.generations.bump(Counter::PixelPack);
            }
            Ok(())
        });
    }

    /// `glPixelStoref`: booleans are true unless zero, the others are rounded.
    pub fn pixel_storef(&mut self, pname: u32, param: f32) {
        let value = match parameter(pname) {
            Some((_, Parameter::Swap | Parameter::Lsb)) => i32::from(param != 0.0),
            _ => param.round() as i32,
        };
        self.pixel_storei(pname, value);
    }

    /// How far an upload reads from the application's pointer; `None` when it reads from a buffer.
    pub fn unpack_bytes(&mut self, dims: u32, size: [i32; 3], format: u32, type_: u32) -> Option<usize> {
        if self.state.buffers.pixel_unpack.is_some() {
            return None;
        }
        Some(transfer_bytes(&self.state.pixel.unpack, dims, size, format, type_))
    }

    /// How far a read-back writes from the application's pointer; `None` when it writes to a buffer.
    pub fn pack_bytes(&mut self, dims: u32, size: [i32; 3], format: u32, type_: u32) -> Option<usize> {
        if self.state.buffers.pixel_pack.is_some() {
            return None;
        }
        Some(transfer_bytes(&self.state.pixel.pack, dims, size, format, type_))
    }

    /// Checks where an upload reads from; `None` for a null pointer.
    pub(crate) fn check_source<'a>(
        &mut self,
        pixels: PixelData<'a>,
        dims: u32,
        size: [u32; 3],
        client: &ClientFormat,
        command: &'static str,
    ) -> GlResult<Option<UploadSource<'a>>> {
        let store = self.state.pixel.unpack;
        let in_buffer = matches!(pixels, PixelData::Buffer(_));
        let len = transfer_address(&store, dims, size, client, in_buffer, command)?.end;
        match pixels {
            PixelData::None => Ok(None),
            PixelData::Client(bytes) if bytes.len() < len => {
                Err(invalid_operation(format!("{command}: fewer bytes than the image needs")))
            }
            PixelData::Client(bytes) => Ok(Some(UploadSource::Memory(bytes))),
            PixelData::Buffer(offset) => {
                let buffer = self.state.buffers.pixel_unpack.clone();
                let buffer =
                    buffer.ok_or_else(|| invalid_operation(format!("{command}: no pixel unpack buffer is bound")))?;
                check_buffer_range(&buffer, offset, len, client.offset_alignment(), command)?;
                Ok(Some(UploadSource::Buffer(buffer, offset as u64)))
            }
        }
    }

    /// The bytes of a checked source, `len` of them.
    pub(crate) fn bytes_of<'a>(
        &mut self,
        source: UploadSource<'a>,
        len: usize,
        command: &'static str,
    ) -> GlResult<Cow<'a, [u8]>> {
        match source {
            UploadSource::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            UploadSource::Buffer(..) if len == 0 => Ok(Cow::Borrowed(&[])),
            UploadSource::Buffer(buffer, offset) => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(len).map_err(|_| address_error(command))?;
                bytes.resize(len, 0);
                self.read_buffer_bytes(&buffer, offset, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// `len` bytes of an upload's source.
    pub(crate) fn bytes_of_source<'a>(
        &mut self,
        pixels: PixelData<'a>,
        len: usize,
        alignment: usize,
        command: &'static str,
    ) -> GlResult<Option<Cow<'a, [u8]>>> {
        match pixels {
            PixelData::None => Ok(None),
            PixelData::Client(bytes) => {
                if bytes.len() < len {
                    return Err(invalid_operation(format!("{command}: fewer bytes than the image needs")));
                }
                Ok(Some(Cow::Borrowed(bytes)))
            }
            PixelData::Buffer(offset) => {
                let buffer = self.state.buffers.pixel_unpack.clone();
                let buffer =
                    buffer.ok_or_else(|| invalid_operation(format!("{command}: no pixel unpack buffer is bound")))?;
                check_buffer_range(&buffer, offset, len, alignment, command)?;
                if len == 0 {
                    return Ok(Some(Cow::Borrowed(&[])));
                }
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(len).map_err(|_| address_error(command))?;
                bytes.resize(len, 0);
                self.read_buffer_bytes(&buffer, offset as u64, &mut bytes)?;
                Ok(Some(Cow::Owned(bytes)))
            }
        }
    }

    /// The bound pack buffer, when a transfer of `len` bytes at `offset` fits it.
    ///
    /// # Errors
    /// `GL_INVALID_OPERATION` (GL 3.3 section 4.3.1): none is bound, it is mapped, too small, or the offset is misaligned.
    pub(crate) fn pack_buffer(
        &self,
        offset: usize,
        len: usize,
        alignment: usize,
        command: &'static str,
    ) -> GlResult<Arc<Buffer>> {
        let buffer = self.state.buffers.pixel_pack.clone();
        let buffer = buffer.ok_or_else(|| invalid_operation(format!("{command}: no pixel pack buffer is bound")))?;
        check_buffer_range(&buffer, offset, len, alignment, command)?;
        Ok(buffer)
    }

    /// Runs `write` on the memory that a read-back writes to. For a pack buffer that is a copy of its bytes, which is
    /// sent back afterwards.
    pub(crate) fn write_to_dest(
        &mut self,
        dest: PixelDest<'_>,
        len: usize,
        alignment: usize,
        command: &'static str,
        write: impl FnOnce(&mut Context, &mut [u8]) -> GlResult,
    ) -> GlResult {
        match dest {
            PixelDest::Client(bytes) => {
                if bytes.len() < len {
                    return Err(invalid_operation(format!("{command}: the destination is too small")));
                }
                write(self, bytes)
            }
            PixelDest::Buffer(offset) => {
                let buffer = self.pack_buffer(offset, len, alignment, command)?;
                if len == 0 {
                    return write(self, &mut []);
                }
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(len).map_err(|_| address_error(command))?;
                bytes.resize(len, 0);
                // Bytes between rows stay as they are, so they must be known.
                self.read_buffer_bytes(&buffer, offset as u64, &mut bytes)?;
                write(self, &mut bytes)?;
                buffer.upload(&mut *self.pipe, offset as u64, &bytes);
                // The copy of the buffer on this side, if there is one, is not what the buffer holds any more.
                buffer.gpu_wrote();
                Ok(())
            }
        }
    }
}

/// Refuses a pixel buffer that is mapped, misaligned or too small (GL 3.3 section 3.7.1).
fn check_buffer_range(
    buffer: &Arc<Buffer>,
    offset: usize,
    len: usize,
    alignment: usize,
    command: &'static str,
) -> GlResult {
    if buffer.is_mapped() {
        return Err(invalid_operation(format!("{command}: the pixel buffer is mapped")));
    }
    if alignment > 1 && offset % alignment != 0 {
        return Err(invalid_operation(format!("{command}: the offset is no multiple of the type's size")));
    }
    if len > 0 && offset.checked_add(len).is_none_or(|end| end as u64 > buffer.size()) {
        return Err(invalid_operation(format!("{command}: the image reaches past the end of the pixel buffer")));
    }
    Ok(())
}

/// Where a transfer's rows lie. An image that no address space holds is larger than any pixel buffer, and more than memory
/// without one.
pub(crate) fn transfer_address(
    store: &PixelStore,
    dims: u32,
    size: [u32; 3],
    client: &ClientFormat,
    in_buffer: bool,
    command: &'static str,
) -> GlResult<super::ImageAddress> {
    store.address(dims, size, client).ok_or_else(|| {
        if in_buffer {
            invalid_operation(format!("{command}: the image reaches past the end of the pixel buffer"))
        } else {
            address_error(command)
        }
    })
}

/// Bytes that a transfer touches, 0 when its arguments are illegal (the command itself raises the error).
fn transfer_bytes(store: &PixelStore, dims: u32, size: [i32; 3], format: u32, type_: u32) -> usize {
    let Ok(client) = ClientFormat::new(format, type_, true) else { return 0 };
    let mut sizes = [0; 3];
    for (to, from) in sizes.iter_mut().zip(size) {
        let Ok(value) = u32::try_from(from) else { return 0 };
        *to = value;
    }
    // A size that overflows can be no application's memory: the command answers with an error of its own.
    store.address(dims, sizes, &client).map_or(0, |address| address.end)
}
