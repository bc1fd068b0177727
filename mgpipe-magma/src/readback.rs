//! Read-backs of buffers and images.

use crate::command::Object;
use crate::context::MagmaContext;
use crate::resource::buffer::{BufferStorage, Placement};
use crate::resource::texture::{Image, ImageDesc};
use crate::staging::{self, Piece};
use crate::transfer::{copy_alignment, planes, ImageArea, Plane};
use ash::vk;
use mgpipe_types::*;
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes of staging memory at least.
const LEAST_STAGING: u64 = 64 << 10;
/// Texels of depth and stencil that are put together at a time.
const RUN: usize = 2048;

/// A piece of a read-back that the device is copying.
pub(crate) struct Landing<'a> {
    /// Timeline value after which it lies in the staging memory.
    pub(crate) value: u64,
    pub(crate) staging: Arc<BufferStorage>,
    /// Planes with where they start.
    planes: SmallVec<[(Plane, u64); 2]>,
    /// Texels or blocks.
    blocks: u64,
    /// Where they go.
    out: &'a mut [u8],
}

impl MagmaContext {
    /// Reads bytes of a buffer after everything that was recorded before.
    pub(crate) fn read_buffer(&mut self, readback: &BufferReadback, out: &mut [u8]) -> PipeResult<()> {
        let buffer = self
            .shared
            .buffers
            .get(BufferHandle(readback.res))
            .map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let Some(storage) = buffer.storage() else {
            return Err(PipeError::BadHandle("the buffer has no storage".into()));
        };
        self.read_storage(&storage, readback.offset, out)
    }

    /// Reads bytes of storage. Waits only for the batch that writes them, if one does and runs.
    ///
    /// What another context has recorded and not submitted is not waited for: it may never be submitted, and where one thread
    /// has both contexts it cannot be meanwhile. Nothing orders such commands with this read, so what they write need not be
    /// seen (OpenGL 4.6 section 5.3.1).
    pub(crate) fn read_storage(&mut self, storage: &Arc<BufferStorage>, offset: u64, out: &mut [u8]) -> PipeResult<()> {
        let writer = storage.writer.lock().clone();
        if let Some(writer) = writer {
            if writer.get().is_none() {
                // The last writer hides earlier ones, of which this context may be one.
                let own = self.submit()?;
                self.device.wait_value(own, u64::MAX)?;
            }
            if writer.get().is_some() {
                self.device.wait_batch(&writer, u64::MAX)?;
                let mut slot = storage.writer.lock();
                if slot.as_ref().is_some_and(|now| Arc::ptr_eq(now, &writer)) {
                    *slot = None;
                }
            }
        }
        storage.read(offset, out);
        Ok(())
    }

    /// Reads texels of a surface.
    pub(crate) fn read_surface(&mut self, info: &ReadbackInfo, out: &mut [u8]) -> PipeResult<()> {
        self.refresh();
        if self.is_lost() {
            return Err(PipeError::DeviceLost(self.device.lost_reason().unwrap_or_default()));
        }
        let (image, target, level, layer) = self.readable(info)?;
        let Some(area) = ImageArea::new(&image, target, level, layer, &read_box(info, target)) else {
            return Ok(());
        };
        let wanted = Format(info.format);
        let (image, level_shift) = self.single_sampled(image, &area, level)?;
        let area = ImageArea { base_layer: area.base_layer - level_shift.1, ..area };
        let level = level - level_shift.0;
        if image.is_host_readable() {
            return self.read_from_memory(&image, &area, out);
        }
        let (depth, stencil) = wanted_aspects(image.format, wanted, info.aspect);
        let desc = image.format.desc();
        let planes: SmallVec<[Plane; 2]> = planes(image.format)
            .into_iter()
            .filter(|plane| match plane.aspect {
                vk::ImageAspectFlags::DEPTH => depth,
                vk::ImageAspectFlags::STENCIL => stencil,
                _ => true,
            })
            .collect();
        let blocks_wide = u64::from(area.extent.width.div_ceil(desc.block_width.max(1)));
        let rows = area.extent.height.div_ceil(desc.block_height.max(1));
        let row_bytes = blocks_wide * planes.iter().map(|plane| u64::from(plane.bytes)).sum::<u64>();
        let wanted_row = if desc.is_compressed() || !image.format.is_depth_stencil() {
            row_bytes
        } else {
            blocks_wide * u64::from(wanted.desc().block_bytes)
        } as usize;
        let mut out = out;
        let mut waiting: Option<Landing> = None;
        let mut done = Ok(());
        // While the device copies one piece the host takes the one before it.
        for (index, piece) in Piece::cut(area.depth(), rows, row_bytes, staging::READ_BYTES).enumerate() {
            let blocks = blocks_wide * u64::from(piece.rows) * u64::from(piece.slices);
            let area = piece.area(&area, desc.block_height);
            let len = (wanted_row * piece.rows as usize * piece.slices as usize).min(out.len());
            let (part, rest) = out.split_at_mut(len);
            out = rest;
            let sent = self.send_piece(index, &image, (&area, level), &planes, blocks, part);
            // Whatever became of this piece, the one before it is not left half done.
            let landed = waiting.take().map_or(Ok(()), |landing| self.land(landing, image.format, wanted));
            match landed.and(sent) {
                Ok(landing) => waiting = Some(landing),
                Err(error) => {
                    done = Err(error);
                    break;
                }
            }
        }
        if let Some(landing) = waiting {
            done = self.land(landing, image.format, wanted);
        }
        self.rec.collect();
        done
    }

    /// Reads texels of an image whose memory the host reads.
    fn read_from_memory(&mut self, image: &Image, area: &ImageArea, out: &mut [u8]) -> PipeResult<()> {
        self.finish()?;
        let texel = image.format.desc().block_bytes as usize;
        let (first, bytes) = (area.offset.x as usize * texel, area.extent.width as usize * texel);
        for (row, target) in
            (area.offset.y as u32..).zip(out.chunks_exact_mut(bytes.max(1)).take(area.extent.height as usize))
        {
            // SAFETY: all work of this context is done and visible to the host. What another context draws meanwhile, which GL
            // leaves to the program to order, changes which bytes are copied and nothing else.
            let source = unsafe { image.host_row(row) };
            if let Some(source) = source.and_then(|source| source.get(first..first + bytes)) {
                target.copy_from_slice(source);
            }
        }
        Ok(())
    }

    /// Has the device copy a piece of an image into staging memory.
    pub(crate) fn send_piece<'o>(
        &mut self,
        index: usize,
        image: &Arc<Image>,
        (area, level): (&ImageArea, u32),
        planes: &[Plane],
        blocks: u64,
        out: &'o mut [u8],
    ) -> PipeResult<Landing<'o>> {
        let mut regions = SmallVec::<[vk::BufferImageCopy; 2]>::new();
        let mut total = 0u64;
        for plane in planes {
            total = total.next_multiple_of(copy_alignment(plane.bytes));
            regions.push(staging::tight_copy(total, area, plane.aspect, level));
            total += blocks * u64::from(plane.bytes);
        }
        let staging = self.read_staging(index % 2, total)?;
        let commands = self.transfer_commands(&[Object::Image(image)], &[Object::Buffer(&staging)]);
        // SAFETY: the area was cut to the level; the staging buffer holds all planes; the batch keeps both.
        unsafe {
            self.device.raw.cmd_copy_image_to_buffer(
                commands,
                image.raw,
                vk::ImageLayout::GENERAL,
                staging.raw,
                &regions,
            );
        }
        let value = self.submit()?;
        let planes = planes.iter().zip(&regions).map(|(plane, region)| (*plane, region.buffer_offset)).collect();
        Ok(Landing { value, staging, planes, blocks, out })
    }

    /// Staging for read-backs, kept from one to the next; two, so that one fills while the other is taken.
    fn read_staging(&mut self, index: usize, size: u64) -> PipeResult<Arc<BufferStorage>> {
        let slot = &mut self.rec.read_staging[index % 2];
        if let Some(staging) = slot.as_ref().filter(|staging| staging.size >= size) {
            return Ok(staging.clone());
        }
        let size = size.max(LEAST_STAGING).next_power_of_two();
        let staging = Arc::new(BufferStorage::new(&self.device, size, Placement::Readback)?);
        // A single row can be larger than a piece; memory for that is not kept.
        *slot = Some(staging.clone()).filter(|_| size <= 2 * staging::READ_BYTES);
        Ok(staging)
    }

    /// Takes a piece that the device copied to staging memory.
    fn land(&self, landing: Landing<'_>, have: Format, wanted: Format) -> PipeResult<()> {
        self.device.wait_value(landing.value, u64::MAX)?;
        let staging = &landing.staging;
        let at = |aspect| landing.planes.iter().find(|(plane, _)| plane.aspect == aspect).map(|(_, offset)| *offset);
        if let Some(offset) = at(vk::ImageAspectFlags::COLOR) {
            staging.read(offset, landing.out);
            return Ok(());
        }
        let (depth_at, stencil_at) = (at(vk::ImageAspectFlags::DEPTH), at(vk::ImageAspectFlags::STENCIL));
        let size = plane_bytes(have);
        let (mut depth, mut stencil) = ([0; RUN * 4], [0; RUN]);
        let texel = wanted.desc().block_bytes.max(1) as usize;
        let count = usize::try_from(landing.blocks).unwrap_or(usize::MAX);
        for (run, out) in landing.out.chunks_mut(RUN * texel).enumerate() {
            let first = run * RUN;
            let len = (out.len() / texel).min(count.saturating_sub(first));
            if let Some(offset) = depth_at {
                staging.read(offset + (first * size) as u64, &mut depth[..len * size]);
            }
            if let Some(offset) = stencil_at {
                staging.read(offset + first as u64, &mut stencil[..len]);
            }
            let depth = depth_at.map(|_| &depth[..len * size]);
            assemble(have, wanted, depth, stencil_at.map(|_| &stencil[..len]), out);
        }
        Ok(())
    }

    /// Image behind a read-back with target, level and first layer.
    fn readable(&self, info: &ReadbackInfo) -> PipeResult<(Arc<Image>, Target, u32, u32)> {
        let texture = info
            .surface
            .resource()
            .and_then(|resource| self.shared.texture(resource))
            .ok_or_else(|| PipeError::BadHandle("a read-back names no image".into()))?;
        let target = texture.state.read().target;
        let (image, base_level, base_layer) =
            texture.image().ok_or_else(|| PipeError::BadHandle("the image has no storage".into()))?;
        let level = base_level + u32::from(info.surface.level);
        if level >= image.levels {
            return Err(PipeError::Protocol(format!("no level {level} to read")));
        }
        Ok((image, target, level, base_layer))
    }

    /// A single-sampled image with the texels of the area: the image itself, or its resolve, with the level and layer
    /// that become 0 there.
    pub(crate) fn single_sampled(
        &mut self,
        image: Arc<Image>,
        area: &ImageArea,
        level: u32,
    ) -> PipeResult<(Arc<Image>, (u32, u32))> {
        if image.samples == vk::SampleCountFlags::TYPE_1 {
            return Ok((image, (0, 0)));
        }
        let target = if area.layers > 1 { Target::Tex2DArray } else { Target::Renderbuffer };
        let resolved = Arc::new(Image::new(
            &self.device,
            ImageDesc {
                format: image.format,
                target,
                width: image.extent.width,
                height: image.extent.height,
                depth: 1,
                layers: area.layers,
                levels: 1,
                samples: 1,
            },
        )?);
        self.resolve_area(&image, &resolved, area, level)?;
        Ok((resolved, (level, area.base_layer)))
    }

    /// Reads texels into a buffer, in the order of the commands and without an answer.
    pub(crate) fn read_to_buffer(&mut self, readback: &ReadbackToBuffer) -> PipeResult<()> {
        self.refresh();
        let info = &readback.info;
        let buffer = self
            .shared
            .buffers
            .get(BufferHandle(readback.buffer))
            .map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let Some(storage) = buffer.storage() else {
            return Err(PipeError::BadHandle("the pack buffer has no storage".into()));
        };
        let (image, target, level, layer) = self.readable(info)?;
        let Some(area) = ImageArea::new(&image, target, level, layer, &read_box(info, target)) else { return Ok(()) };
        let wanted = Format(info.format);
        let desc = wanted.desc();
        let texel = u64::from(desc.block_bytes.max(1));
        let row_bytes = desc.row_bytes(area.extent.width);
        let rows = u64::from(area.extent.height.div_ceil(desc.block_height));
        let row_stride = if readback.row_stride == 0 { row_bytes } else { readback.row_stride };
        let slice_stride = if readback.slice_stride == 0 { row_stride * rows } else { readback.slice_stride };
        let last = u64::from(area.depth() - 1) * slice_stride + (rows - 1) * row_stride + row_bytes;
        if readback.offset.checked_add(last).is_none_or(|end| end > storage.size) {
            return Err(PipeError::Protocol("a read-back reaches beyond its buffer".into()));
        }
        self.device_writes(&storage);
        let planes = planes(image.format);
        let direct = wanted.desc().block_bytes == image.format.desc().block_bytes
            && planes.len() == 1
            && image.samples == vk::SampleCountFlags::TYPE_1
            && !desc.is_compressed()
            && readback.offset % copy_alignment(desc.block_bytes) == 0
            && row_stride % texel == 0
            && slice_stride % row_stride.max(1) == 0
            && slice_stride / row_stride.max(1) >= rows;
        if direct {
            let commands = self.transfer_commands(&[Object::Image(&image)], &[Object::Buffer(&storage)]);
            let region = [vk::BufferImageCopy {
                buffer_offset: readback.offset,
                buffer_row_length: (row_stride / texel) as u32,
                buffer_image_height: (slice_stride / row_stride) as u32,
                image_subresource: area.layers(planes[0].aspect, level),
                image_offset: area.offset,
                image_extent: area.extent,
            }];
            // SAFETY: the area was cut to the level; the end of the range was checked; the batch keeps both.
            unsafe {
                self.device.raw.cmd_copy_image_to_buffer(
                    commands,
                    image.raw,
                    vk::ImageLayout::GENERAL,
                    storage.raw,
                    &region,
                );
            }
            return Ok(());
        }
        // Strides or formats that a copy cannot make: read, then write in order.
        let mut tight = vec![0; (row_bytes * rows * u64::from(area.depth())) as usize];
        self.read_surface(info, &mut tight)?;
        for slice in 0..u64::from(area.depth()) {
            for row in 0..rows {
                let from = ((slice * rows + row) * row_bytes) as usize;
                let to = readback.offset + slice * slice_stride + row * row_stride;
                storage.write(to, &tight[from..from + row_bytes as usize]);
            }
        }
        Ok(())
    }
}

/// The box of a read-back in the texture: the surface's layer comes on top of the box's.
fn read_box(info: &ReadbackInfo, target: Target) -> Box3 {
    let mut area = info.area;
    if info.surface.layered == 0 {
        if target == Target::Tex1DArray {
            area.y = area.y.saturating_add(info.surface.layer as i32);
        } else {
            area.z = area.z.saturating_add(info.surface.layer as i32);
        }
    }
    area
}

/// Which aspects of a depth-stencil image an answer needs.
fn wanted_aspects(have: Format, wanted: Format, aspect_bit: u32) -> (bool, bool) {
    if !have.is_depth_stencil() {
        return (false, false);
    }
    let depth = have.has_depth() && wanted.has_depth();
    let stencil = have.has_stencil() && wanted.has_stencil();
    match (depth || stencil, aspect_bit) {
        (true, _) => (depth, stencil),
        (false, aspect::STENCIL) => (false, have.has_stencil()),
        _ => (have.has_depth(), false),
    }
}

/// Puts depth and stencil together into texels of the wanted format.
fn assemble(have: Format, wanted: Format, depth: Option<&[u8]>, stencil: Option<&[u8]>, out: &mut [u8]) {
    let is_24 = |format| matches!(format, Format::D24_UNORM_S8 | Format::D24_UNORM_X8);
    let is_float = |format| matches!(format, Format::D32_FLOAT | Format::D32_FLOAT_S8);
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    // What programs ask for has loops of its own.
    match (depth, stencil) {
        (None, Some(stencil)) if wanted == Format::S8_UINT => {
            let len = stencil.len().min(out.len());
            return out[..len].copy_from_slice(&stencil[..len]);
        }
        (Some(depth), Some(stencil)) if is_24(have) && wanted == Format::D24_UNORM_S8 => {
            for ((to, depth), stencil) in out.chunks_exact_mut(4).zip(depth.chunks_exact(4)).zip(stencil) {
                to.copy_from_slice(&(word(depth) & 0xff_ffff | u32::from(*stencil) << 24).to_le_bytes());
            }
            return;
        }
        (Some(depth), _) if is_24(have) && wanted == Format::D32_FLOAT => {
            for (to, depth) in out.chunks_exact_mut(4).zip(depth.chunks_exact(4)) {
                let value = f64::from(word(depth) & 0xff_ffff) / 16_777_215.0;
                to.copy_from_slice(&(value as f32).to_le_bytes());
            }
            return;
        }
        (Some(depth), _) if is_float(have) && wanted == Format::D32_FLOAT => {
            let len = depth.len().min(out.len());
            return out[..len].copy_from_slice(&depth[..len]);
        }
        _ => {}
    }
    let count = depth.map(|d| d.len() / plane_bytes(have)).or(stencil.map(<[u8]>::len)).unwrap_or(0);
    let texel = wanted.desc().block_bytes.max(1) as usize;
    for (index, out) in out.chunks_exact_mut(texel).take(count).enumerate() {
        let raw = depth.and_then(|d| d.get(index * plane_bytes(have)..(index + 1) * plane_bytes(have))).unwrap_or(&[]);
        let value = depth_value(have, raw);
        let s = stencil.and_then(|s| s.get(index)).copied().unwrap_or(0);
        wanted.store_depth_stencil(value, s, out);
    }
}

fn plane_bytes(format: Format) -> usize {
    if format == Format::D16_UNORM {
        2
    } else {
        4
    }
}

fn depth_value(format: Format, raw: &[u8]) -> f64 {
    match (format, raw) {
        (Format::D16_UNORM, [a, b]) => f64::from(u16::from_le_bytes([*a, *b])) / 65535.0,
        (Format::D32_FLOAT | Format::D32_FLOAT_S8, [a, b, c, d]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
        (_, [a, b, c, d]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d]) & 0xff_ffff) / 16_777_215.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_depth_survives_the_way_through_planes() {
        let depth = 0x00ab_cdefu32.to_le_bytes();
        let mut out = [0; 4];
        assemble(Format::D24_UNORM_S8, Format::D24_UNORM_S8, Some(&depth), Some(&[0x42]), &mut out);
        assert_eq!(u32::from_le_bytes(out), 0x42ab_cdef);
        assemble(Format::D24_UNORM_S8, Format::D32_FLOAT, Some(&0x00ff_ffffu32.to_le_bytes()), None, &mut out);
        assert_eq!(f32::from_le_bytes(out), 1.0);
        let mut one = [0; 1];
        assemble(Format::D24_UNORM_S8, Format::S8_UINT, None, Some(&[7]), &mut one);
        assert_eq!(one, [7]);
    }
}
