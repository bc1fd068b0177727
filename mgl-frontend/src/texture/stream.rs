//! Large uploads into storage that is there already go to the device at once, without a copy of the texels on this side.

use std::sync::Arc;

use mgpipe_types::{BlobRef, Box3, Context as Pipe, Handle, SubData, SubRegion, Target, TypedHandle};

use super::{Home, Texture, TextureInner};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{out_of_memory, GlResult};
use crate::pixel::Unpacker;

/// Bytes of texels from which an upload is sent at once. Smaller ones wait for each other: for a few hundred texels a
/// record of many boxes costs less than many records, for more the copy that the waiting takes costs more.
const LEAST_BYTES: usize = 4 << 10;
/// Bytes of texels that are converted before they are sent: they stay in the processor's cache, and below what allocators
/// map on its own.
const BAND_BYTES: usize = 512 << 10;

/// Where the pixels of an upload come from; checked.
pub(crate) enum UploadSource<'a> {
    /// The application's memory from its pointer on.
    Memory(&'a [u8]),
    /// A pixel unpack buffer from an offset on.
    Buffer(Arc<Buffer>, u64),
}

/// A place for texels on the server.
#[derive(Clone, Copy)]
struct Place {
    res: Handle,
    target: Target,
    level: u32,
    /// Layer of a cube map's face.
    z: i32,
}

impl Texture {
    /// Where texels of an image go, when its storage is settled; what waits for the texture is sent first.
    fn place(&self, inner: &mut TextureInner, face: usize, level: u32, pipe: &mut dyn Pipe) -> Option<Place> {
        if inner.is_moved() || self.target == Target::TexBuffer {
            return None;
        }
        self.send_pending(inner, pipe);
        let cube = self.target == Target::TexCube;
        let image = inner.image_mut(face, level)?;
        let place = match &image.home {
            Home::None => return None,
            Home::Main => {
                Place { res: self.handle.raw(), target: self.target, level, z: if cube { face as i32 } else { 0 } }
            }
            Home::Own(own) => {
                let target = if cube { Target::Tex2D } else { self.target };
                Place { res: own.handle.raw(), target, level: 0, z: 0 }
            }
        };
        image.defined = true;
        Some(place)
    }
}

impl Context {
    /// Sends the pixels of an upload. False when they are few or the image has no storage yet, in which case they have to
    /// wait in the texture.
    pub(super) fn stream_texels(
        &mut self,
        texture: &Texture,
        (face, level): (usize, u32),
        area: &Box3,
        unpacker: &Unpacker,
        source: &UploadSource<'_>,
        command: &'static str,
    ) -> GlResult<bool> {
        let texels = unpacker.row_bytes.saturating_mul(area.height as usize).saturating_mul(area.depth as usize);
        if texels < LEAST_BYTES {
            return Ok(false);
        }
        let Some(place) = texture.place(&mut texture.lock(), face, level, &mut *self.pipe) else { return Ok(false) };
        let address = unpacker.address;
        if let (UploadSource::Memory(data), true) = (source, unpacker.is_copy()) {
            let strides = (u32::try_from(address.row_stride), u32::try_from(address.image_stride));
            let bytes = data.get(address.start..address.end);
            if let ((Ok(row_stride), Ok(slice_stride)), Some(bytes)) = (strides, bytes) {
                send(&mut *self.pipe, place, *area, (row_stride, slice_stride), bytes);
                return Ok(true);
            }
        }
        let rows = (BAND_BYTES / unpacker.row_bytes.max(address.row_stride).max(1)).clamp(1, area.height as usize);
        let (mut fetched, mut converted) = (Vec::new(), Vec::new());
        for z in 0..area.depth as usize {
            for y in (0..area.height as usize).step_by(rows) {
                let rows = rows.min(area.height as usize - y);
                let start = address.start + z * address.image_stride + y * address.row_stride;
                let len = (rows - 1) * address.row_stride + address.row_bytes;
                let pixels = match source {
                    UploadSource::Memory(data) => data.get(start..start + len),
                    UploadSource::Buffer(buffer, offset) => {
                        resize(&mut fetched, len, command)?;
                        self.read_buffer_bytes(buffer, offset + start as u64, &mut fetched)?;
                        Some(&fetched[..])
                    }
                };
                let Some(pixels) = pixels else { return Err(out_of_memory(command)) };
                let part = Box3 { y: area.y + y as i32, z: area.z + z as i32, height: rows as u32, depth: 1, ..*area };
                match u32::try_from(address.row_stride) {
                    Ok(stride) if unpacker.is_copy() => send(&mut *self.pipe, place, part, (stride, 0), pixels),
                    _ => {
                        resize(&mut converted, rows * unpacker.row_bytes, command)?;
                        let sources = pixels.chunks(address.row_stride.max(1));
                        for (to, from) in converted.chunks_exact_mut(unpacker.row_bytes.max(1)).zip(sources) {
                            unpacker.row(&from[..address.row_bytes.min(from.len())], to);
                        }
                        send(&mut *self.pipe, place, part, (0, 0), &converted);
                    }
                }
            }
        }
        Ok(true)
    }
}

fn resize(bytes: &mut Vec<u8>, len: usize, command: &'static str) -> GlResult {
    bytes.try_reserve_exact(len.saturating_sub(bytes.len())).map_err(|_| out_of_memory(command))?;
    bytes.resize(len, 0);
    Ok(())
}

/// Sends one box; strides of 0 mean that the texels lie close together.
fn send(pipe: &mut dyn Pipe, place: Place, area: Box3, (row_stride, slice_stride): (u32, u32), bytes: &[u8]) {
    let area = Box3 { z: area.z + place.z, ..area };
    let region = SubRegion {
        src_offset: 0,
        src_row_stride: row_stride,
        src_slice_stride: slice_stride,
        ..SubRegion::tight(&area)
    };
    let data = SubData {
        res: place.res,
        target: place.target as u16,
        level: place.level as u16,
        union_box: area,
        region_count: 1,
        blob: BlobRef { offset: 0, size: bytes.len() as u64, segment: 0, pad: 0 },
        ..SubData::default()
    };
    pipe.resource_subdata(&data, &[region], bytes);
}
