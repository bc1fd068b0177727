//! Uploads and copies.

use crate::command::Object;
use crate::context::MagmaContext;
use crate::resource::buffer::{Buffer, BufferStorage, Placement};
use crate::resource::texture::{Image, Storage};
use crate::staging::{self, Piece};
use crate::storage_pool;
use crate::written::Part;
use ash::vk;
use mgpipe_types::*;
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Largest buffer whose contents are moved to fresh storage on the host when a part of it is replaced while in use.
const RENAME_BYTES: u64 = 16 << 10;

/// Largest buffer that gets fresh storage when a copy replaces its whole contents while in use.
const RENAME_COPY_BYTES: u64 = 256 << 10;

/// A box of texels in an image: layers and slices told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageArea {
    pub(crate) offset: vk::Offset3D,
    pub(crate) extent: vk::Extent3D,
    pub(crate) base_layer: u32,
    pub(crate) layers: u32,
}

impl ImageArea {
    /// A pipe box in a texture whose layer 0 is `base_layer` of the image, cut to the level. `None` when nothing is left.
    pub(crate) fn new(image: &Image, target: Target, level: u32, base_layer: u32, area: &Box3) -> Option<ImageArea> {
        let mut area = *area;
        if target == Target::Tex1DArray {
            // The layer of a 1D array is its y.
            (area.z, area.depth) = (area.y, area.height);
            (area.y, area.height) = (0, 1);
        }
        let limit = image.level_extent(level);
        let cut = |start: i32, size: u32, limit: u32| {
            let low = u32::try_from(start).ok()?;
            (low < limit).then(|| (low, size.min(limit - low))).filter(|(_, size)| *size > 0)
        };
        let (x, width) = cut(area.x, area.width, limit.width)?;
        let (y, height) = cut(area.y, area.height, limit.height)?;
        let total = image.layers_or_slices(level);
        let volume = image.kind == vk::ImageType::TYPE_3D;
        let base = if volume { 0 } else { base_layer.min(i32::MAX as u32) };
        let (z, depth) = cut(area.z.checked_add(base as i32)?, area.depth, total)?;
        Some(ImageArea {
            offset: vk::Offset3D { x: x as i32, y: y as i32, z: if volume { z as i32 } else { 0 } },
            extent: vk::Extent3D { width, height, depth: if volume { depth } else { 1 } },
            base_layer: if volume { 0 } else { z },
            layers: if volume { 1 } else { depth },
        })
    }

    /// Subresource layers of an aspect.
    pub(crate) fn layers(&self, aspects: vk::ImageAspectFlags, level: u32) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers {
            aspect_mask: aspects,
            mip_level: level,
            base_array_layer: self.base_layer,
            layer_count: self.layers,
        }
    }

    /// Slices or layers.
    pub(crate) fn depth(&self) -> u32 {
        self.extent.depth.max(self.layers)
    }
}

/// Whether two areas of one level share texels, when both have `extent`.
fn overlap(a: &ImageArea, b: &ImageArea, extent: vk::Extent3D) -> bool {
    let meet = |a: i32, b: i32, size: u32| u64::from(a.abs_diff(b)) < u64::from(size);
    meet(a.offset.x, b.offset.x, extent.width)
        && meet(a.offset.y, b.offset.y, extent.height)
        && meet(a.offset.z, b.offset.z, extent.depth)
        && meet(a.base_layer as i32, b.base_layer as i32, a.layers.max(b.layers))
}

/// How one aspect of a format lies in a buffer that Vulkan copies from or to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) aspect: vk::ImageAspectFlags,
    /// Bytes a texel (or block) in the buffer.
    pub(crate) bytes: u32,
}

/// Planes of a format.
pub(crate) fn planes(format: Format) -> SmallVec<[Plane; 2]> {
    let depth = |bytes| Plane { aspect: vk::ImageAspectFlags::DEPTH, bytes };
    let stencil = Plane { aspect: vk::ImageAspectFlags::STENCIL, bytes: 1 };
    match format {
        Format::D16_UNORM => smallvec::smallvec![depth(2)],
        Format::D24_UNORM_X8 | Format::D32_FLOAT => smallvec::smallvec![depth(4)],
        Format::D24_UNORM_S8 | Format::D32_FLOAT_S8 => smallvec::smallvec![depth(4), stencil],
        Format::S8_UINT => smallvec::smallvec![stencil],
        color => {
            smallvec::smallvec![Plane { aspect: vk::ImageAspectFlags::COLOR, bytes: color.desc().block_bytes }]
        }
    }
}

/// Alignment of a buffer offset for copies of a plane: a multiple of the texel and of 4.
pub(crate) fn copy_alignment(bytes: u32) -> u64 {
    if bytes % 4 == 0 {
        u64::from(bytes)
    } else {
        u64::from(bytes) * 4
    }
}

/// An upload into a level.
struct Upload<'a> {
    image: Arc<Image>,
    target: Target,
    level: u32,
    base_layer: u32,
    format: Format,
    planes: SmallVec<[Plane; 2]>,
    bytes: &'a [u8],
}

/// Texels in ring space that no command copies yet, and where they go.
#[derive(Default)]
struct Staged {
    parts: SmallVec<[Part; 4]>,
    copies: Vec<(vk::Buffer, vk::BufferImageCopy)>,
}

impl MagmaContext {
    /// Replaces storage under a handle.
    pub(crate) fn respecify(&mut self, desc: &ResourceDesc) -> PipeResult<()> {
        let missing = |error: mgpipe_handles::SlotError| PipeError::BadHandle(error.to_string());
        match Target::from_u8(desc.target) {
            Some(Target::Buffer) => {
                let buffer = self.shared.buffers.get(BufferHandle(desc.handle)).map_err(missing)?;
                self.rec.collect();
                if let Some(old) = buffer.storage() {
                    // The same size and nobody uses it: the storage itself can be reused.
                    if old.size == desc.buffer_size && old.usage.is_idle() && !buffer.pinned.load(Ordering::Relaxed) {
                        old.renew();
                        return Ok(());
                    }
                }
                let fresh = match desc.buffer_size {
                    0 => None,
                    size => Some(self.fresh_storage(size)?),
                };
                buffer.pinned.store(false, Ordering::Relaxed);
                if let Some(old) = buffer.replace(fresh).filter(|old| !old.usage.is_idle()) {
                    self.shared.retire(old);
                }
                self.shared.bump_buffers();
                self.bound_deferred()
            }
            Some(target) => {
                let texture = if target == Target::Renderbuffer {
                    self.shared.renderbuffers.get(RenderbufferHandle(desc.handle)).map_err(missing)?
                } else {
                    self.shared.textures.get(TextureHandle(desc.handle)).map_err(missing)?
                };
                let fresh = self.shared.texture_storage(desc)?;
                let old = {
                    let mut state = texture.state.write();
                    state.target = target;
                    state.format = Format(desc.format);
                    state.levels = u32::from(desc.levels.max(1));
                    state.layers = u32::from(desc.array_layers.max(1));
                    std::mem::replace(&mut state.storage, fresh.clone())
                };
                self.shared.bump_textures();
                if let Storage::Image { image, .. } = &old {
                    if !image.usage.is_idle() {
                        self.shared.defer(image.bytes());
                    }
                }
                self.bound_deferred()?;
                if let (Storage::Image { image: old, .. }, Storage::Image { image: new, .. }) = (&old, &fresh) {
                    if desc.has_defined_content != 0 && desc.view_of.is_null() {
                        self.carry_over(old, new);
                    }
                }
                Ok(())
            }
            None => Err(PipeError::Protocol("unknown target".into())),
        }
    }

    /// Copies the levels that keep their shape from old to new storage.
    fn carry_over(&mut self, old: &Arc<Image>, new: &Arc<Image>) {
        if old.format != new.format || old.samples != new.samples || old.kind != new.kind {
            return;
        }
        let mut copies = SmallVec::<[vk::ImageCopy; 16]>::new();
        for level in 0..old.levels.min(new.levels) {
            if old.level_extent(level) != new.level_extent(level) {
                continue;
            }
            let layers = vk::ImageSubresourceLayers {
                aspect_mask: old.aspects,
                mip_level: level,
                base_array_layer: 0,
                layer_count: old.layers.min(new.layers),
            };
            copies.push(vk::ImageCopy {
                src_subresource: layers,
                src_offset: vk::Offset3D::default(),
                dst_subresource: layers,
                dst_offset: vk::Offset3D::default(),
                extent: old.level_extent(level),
            });
        }
        if copies.is_empty() {
            return;
        }
        let commands = self.transfer_commands(&[Object::Image(old)], &[Object::Image(new)]);
        // SAFETY: both images are kept by the batch; the copies lie within both.
        unsafe {
            self.device.raw.cmd_copy_image(
                commands,
                old.raw,
                vk::ImageLayout::GENERAL,
                new.raw,
                vk::ImageLayout::GENERAL,
                &copies,
            );
        }
    }

    /// Commands for a transfer; ends the pass unless the transfer can go in front of the batch.
    pub(crate) fn transfer_commands(&mut self, reads: &[Object<'_>], writes: &[Object<'_>]) -> vk::CommandBuffer {
        let reorder = self.shared.single_context();
        if !(reorder && self.rec.movable(reads, writes)) {
            self.end_pass();
        }
        self.rec.transfer(reads, writes, reorder)
    }

    /// Commands for a transfer from objects into parts of another one; ends the pass unless the transfer can go in front of
    /// the batch.
    fn upload_commands(&mut self, reads: &[Object<'_>], object: Object<'_>, parts: &[Part]) -> vk::CommandBuffer {
        self.note_vertex_reads();
        let movable =
            self.shared.single_context() && self.rec.is_beside_main(object, parts) && self.rec.movable(reads, &[]);
        if !movable {
            self.end_pass();
        }
        self.rec.upload(reads, object, parts, movable)
    }

    /// Gives a buffer other storage, while the device may still use what it had.
    fn rename(&mut self, buffer: &Buffer, storage: Arc<BufferStorage>) -> PipeResult<()> {
        if let Some(old) = buffer.replace(Some(storage)) {
            self.shared.retire(old);
        }
        self.shared.bump_buffers();
        self.bound_deferred()
    }

    /// Storage for a buffer with undefined contents, which nothing uses.
    fn fresh_storage(&mut self, size: u64) -> PipeResult<Arc<BufferStorage>> {
        if size >= storage_pool::LEAST_BYTES {
            if let Some(storage) = self.shared.pool.take(size) {
                return Ok(storage);
            }
            let waiting = self.shared.pool.busy_bytes();
            if waiting >= storage_pool::MOST_BYTES / 2 {
                // Much waits for its batch: it is time that the device begins, and with more that it gets done.
                self.submit()?;
                if waiting + size > storage_pool::MOST_BYTES {
                    self.rec.wait_oldest()?;
                }
                self.rec.collect();
                if let Some(storage) = self.shared.pool.take(size) {
                    return Ok(storage);
                }
            }
        }
        Ok(Arc::new(BufferStorage::new(&self.device, size, Placement::Upload)?))
    }

    /// Uploads into a buffer.
    pub(crate) fn upload_buffer(&mut self, data: &SubData, bytes: &[u8]) -> PipeResult<()> {
        let buffer =
            self.shared.buffers.get(BufferHandle(data.res)).map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let (offset, size) = data.union_box.buffer_range();
        let Some(storage) = buffer.storage() else { return Ok(()) };
        let Some(bytes) = usize::try_from(size).ok().and_then(|size| bytes.get(..size)) else {
            return Err(PipeError::Protocol("an upload is shorter than its range".into()));
        };
        if size == 0 {
            return Ok(());
        }
        if offset.checked_add(size).is_none_or(|end| end > storage.size) {
            return Err(PipeError::Protocol("an upload reaches beyond its buffer".into()));
        }
        if !storage.usage.is_idle() {
            self.rec.collect();
        }
        // Bytes without contents are nothing that a command could be reading: a program that fills fresh storage piece by
        // piece and draws each piece needs neither a copy nor an order.
        if storage.usage.is_idle() || storage.is_fresh(offset, size) {
            storage.write(offset, bytes);
            return Ok(());
        }
        let pinned = buffer.pinned.load(Ordering::Relaxed);
        let whole = offset == 0 && size == storage.size;
        let host_knows = !storage.device_written.load(Ordering::Relaxed);
        if !pinned && (whole || (storage.size <= RENAME_BYTES && host_knows)) {
            let fresh = self.fresh_storage(storage.size)?;
            if !whole {
                fresh.take_contents(&storage);
            }
            fresh.write(offset, bytes);
            drop(storage);
            return self.rename(&buffer, fresh);
        }
        let slice = self.rec.ring_bytes(bytes, 16)?;
        self.device_writes(&storage);
        let commands = self.upload_commands(&[], Object::Buffer(&storage), &[Part::of_buffer(offset, size)]);
        let copy = [vk::BufferCopy { src_offset: slice.offset, dst_offset: offset, size }];
        // SAFETY: both ranges lie within their buffers, which the batch keeps.
        unsafe { self.device.raw.cmd_copy_buffer(commands, slice.buffer, storage.raw, &copy) };
        Ok(())
    }

    /// Uploads into a texture level.
    pub(crate) fn upload_texture(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) -> PipeResult<()> {
        let texture = match Target::from_u8(data.target as u8) {
            Some(Target::Renderbuffer) => self.shared.renderbuffers.get(RenderbufferHandle(data.res)),
            _ => self.shared.textures.get(TextureHandle(data.res)),
        }
        .map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let (target, format) = {
            let state = texture.state.read();
            (state.target, state.format)
        };
        let Some((image, base_level, base_layer)) = texture.image() else {
            return Err(PipeError::BadHandle("the texture has no storage".into()));
        };
        let level = base_level + u32::from(data.level);
        if level >= image.levels || image.samples != vk::SampleCountFlags::TYPE_1 {
            return Err(PipeError::Protocol(format!("no level {level} to upload to")));
        }
        let planes = planes(image.format);
        let upload = Upload { image, target, level, base_layer, format, planes, bytes };
        let mut staged = Staged::default();
        let as_it_is = matches!(&upload.planes[..], [plane] if plane.bytes == format.desc().block_bytes);
        if as_it_is && regions.len() > 1 {
            let mut joiner = std::mem::take(&mut self.joiner);
            joiner.join(regions, format.desc());
            let result = joiner
                .joined()
                .iter()
                .try_for_each(|joined| self.stage_joined(&upload, &joiner, joined, regions, &mut staged));
            self.joiner = joiner;
            result?;
        } else {
            for region in regions {
                self.stage_region(&upload, region, &mut staged)?;
            }
        }
        self.record_uploads(&upload.image, &mut staged);
        Ok(())
    }

    /// Puts the texels of a box of a list into ring space: those of several regions as one copy, where it is small enough.
    fn stage_joined(
        &mut self,
        upload: &Upload<'_>,
        joiner: &RegionJoiner,
        joined: &Joined,
        regions: &[SubRegion],
        staged: &mut Staged,
    ) -> PipeResult<()> {
        if let Some(region) = joiner.alone(joined).and_then(|index| regions.get(index)) {
            return self.stage_region(upload, region, staged);
        }
        let desc = upload.format.desc();
        let rows = u64::from(joined.area.height.div_ceil(desc.block_height));
        let total = desc.row_bytes(joined.area.width) * rows;
        let dst = ImageArea::new(&upload.image, upload.target, upload.level, upload.base_layer, &joined.area);
        let texels = |w: u32, h: u32, d: u32| u64::from(w) * u64::from(h) * u64::from(d);
        let area = &joined.area;
        let whole = |dst: &ImageArea| {
            texels(dst.extent.width, dst.extent.height, dst.depth()) == texels(area.width, area.height, area.depth)
        };
        let Some(dst) = dst.filter(|dst| whole(dst) && total <= staging::UPLOAD_BYTES) else {
            return joiner.parts(joined).try_for_each(|index| match regions.get(index) {
                Some(region) => self.stage_region(upload, region, staged),
                None => Ok(()),
            });
        };
        self.make_room(upload, staged)?;
        let plane = &upload.planes[0];
        let space = self.rec.ring(total, copy_alignment(plane.bytes))?;
        let write = |at: u64, row: &[u8]| {
            if at + row.len() as u64 <= total {
                space.write_bytes(at, row);
            }
        };
        if !joiner.gather(joined, regions, desc, upload.bytes, write) {
            return Err(PipeError::Protocol("an upload is shorter than its regions".into()));
        }
        staged.parts.push(Part::of_image(upload.level, &dst));
        staged.copies.push((space.buffer, staging::tight_copy(space.offset, &dst, plane.aspect, upload.level)));
        self.upload_work.joined += u64::from(joined.regions() - 1);
        self.upload_work.bytes += total;
        Ok(())
    }

    /// Lets the device begin with what is staged when that is much: its chunks come back.
    fn make_room(&mut self, upload: &Upload<'_>, staged: &mut Staged) -> PipeResult<()> {
        if self.rec.has_much_staged() {
            self.record_uploads(&upload.image, staged);
            self.submit()?;
        }
        Ok(())
    }

    /// Puts the texels of a region into ring space.
    fn stage_region(&mut self, upload: &Upload<'_>, region: &SubRegion, staged: &mut Staged) -> PipeResult<()> {
        let Upload { target, level, format, bytes, .. } = *upload;
        let desc = format.desc();
        let area = region.area();
        let dst = ImageArea::new(&upload.image, target, level, upload.base_layer, &area);
        let Some(dst) = dst else { return Ok(()) };
        staged.parts.push(Part::of_image(level, &dst));
        // A 1D array's rows are its layers: one row each, a row's stride apart.
        let one_d = target == Target::Tex1DArray;
        let rows = if one_d { 1 } else { dst.extent.height.div_ceil(desc.block_height) };
        let row_bytes = desc.row_bytes(dst.extent.width);
        let row_stride = match u64::from(region.src_row_stride) {
            0 => desc.row_bytes(region.width),
            stride => stride,
        };
        let slice_stride = match (one_d, u64::from(region.src_slice_stride)) {
            (true, _) => row_stride,
            (false, 0) => row_stride * u64::from(region.height.div_ceil(desc.block_height)),
            (false, stride) => stride,
        };
        let slices = dst.depth();
        let source = |slice: u32, row: u32, len: u64| {
            let at = region.src_offset + u64::from(slice) * slice_stride + u64::from(row) * row_stride;
            let at = usize::try_from(at).ok()?;
            bytes.get(at..at.checked_add(usize::try_from(len).ok()?)?)
        };
        let short = || PipeError::Protocol("an upload is shorter than its regions".into());
        let texels = row_bytes / u64::from(desc.block_bytes.max(1));
        for plane in &upload.planes {
            let plane_row = texels * u64::from(plane.bytes);
            let as_it_is = plane.bytes == desc.block_bytes;
            for piece in Piece::cut(slices, rows, plane_row, staging::UPLOAD_BYTES) {
                let total = plane_row * u64::from(piece.rows) * u64::from(piece.slices);
                self.make_room(upload, staged)?;
                let space = self.rec.ring(total, copy_alignment(plane.bytes))?;
                let mut at = 0u64;
                for slice in piece.slice..piece.slice + piece.slices {
                    if as_it_is && row_stride == row_bytes {
                        let len = row_bytes * u64::from(piece.rows);
                        space.write_bytes(at, source(slice, piece.row, len).ok_or_else(short)?);
                        at += len;
                        continue;
                    }
                    for row in piece.row..piece.row + piece.rows {
                        space.write_row(at, source(slice, row, row_bytes).ok_or_else(short)?, plane, format);
                        at += plane_row;
                    }
                }
                let area = piece.area(&dst, desc.block_height);
                self.upload_work.bytes += total;
                staged.copies.push((space.buffer, staging::tight_copy(space.offset, &area, plane.aspect, level)));
            }
        }
        Ok(())
    }

    /// Records copies from ring space, whose regions do not overlap, into parts of an image.
    fn record_uploads(&mut self, image: &Arc<Image>, staged: &mut Staged) {
        let Staged { parts, copies } = staged;
        if copies.is_empty() {
            return;
        }
        self.upload_work.jobs += copies.len() as u64;
        let commands = self.upload_commands(&[], Object::Image(image), parts);
        for run in copies.chunk_by(|a, b| a.0 == b.0) {
            let list: SmallVec<[vk::BufferImageCopy; 8]> = run.iter().map(|(_, copy)| *copy).collect();
            // SAFETY: the regions lie within the image and the ring space that was made for them.
            unsafe {
                self.device.raw.cmd_copy_buffer_to_image(
                    commands,
                    run[0].0,
                    image.raw,
                    vk::ImageLayout::GENERAL,
                    &list,
                );
            }
        }
        copies.clear();
    }

    /// Copies between resources.
    pub(crate) fn copy_region(&mut self, copy: &CopyRegion) -> PipeResult<()> {
        self.refresh();
        let kinds =
            (ResourceHandle::from_parts(copy.src_kind, copy.src), ResourceHandle::from_parts(copy.dst_kind, copy.dst));
        match kinds {
            (Some(ResourceHandle::Buffer(src)), Some(ResourceHandle::Buffer(dst))) => self.copy_buffers(copy, src, dst),
            (Some(src), Some(dst)) => self.copy_images(copy, src, dst),
            _ => Err(PipeError::Protocol("unknown storage class".into())),
        }
    }

    fn copy_buffers(&mut self, copy: &CopyRegion, src: BufferHandle, dst: BufferHandle) -> PipeResult<()> {
        let missing = |error: mgpipe_handles::SlotError| PipeError::BadHandle(error.to_string());
        let src = self.shared.buffers.get(src).map_err(missing)?.storage();
        let target = self.shared.buffers.get(dst).map_err(missing)?;
        let (Some(src), Some(mut dst)) = (src, target.storage()) else { return Ok(()) };
        let (src_offset, size) = copy.src_box.buffer_range();
        let dst_offset = copy.dst_x as u32 as u64 | (copy.dst_y as u32 as u64) << 32;
        let fits =
            |offset: u64, storage: &BufferStorage| offset.checked_add(size).is_some_and(|end| end <= storage.size);
        if size == 0 {
            return Ok(());
        }
        if !fits(src_offset, &src) || !fits(dst_offset, &dst) {
            return Err(PipeError::Protocol("a copy reaches beyond its buffers".into()));
        }
        // A copy over everything that draws of this batch use fills other storage, in front of the batch: the pass goes on.
        let whole = dst_offset == 0 && size == dst.size && size <= RENAME_COPY_BYTES;
        if whole
            && !target.pinned.load(Ordering::Relaxed)
            && self.shared.single_context()
            && !self.rec.movable(&[], &[Object::Buffer(&dst)])
            && self.rec.movable(&[Object::Buffer(&src)], &[])
        {
            if self.rec.may_rename(size) {
                dst = self.fresh_storage(size)?;
                self.rename(&target, dst.clone())?;
            } else {
                self.submit()?;
            }
        }
        self.device_writes(&dst);
        let part = Part::of_buffer(dst_offset, size);
        let commands = self.upload_commands(&[Object::Buffer(&src)], Object::Buffer(&dst), &[part]);
        let region = [vk::BufferCopy { src_offset, dst_offset, size }];
        // SAFETY: both ranges lie within their buffers, which the batch keeps.
        unsafe { self.device.raw.cmd_copy_buffer(commands, src.raw, dst.raw, &region) };
        Ok(())
    }

    fn copy_images(&mut self, copy: &CopyRegion, src: ResourceHandle, dst: ResourceHandle) -> PipeResult<()> {
        let lookup = |resource| {
            let texture = self.shared.texture(resource)?;
            let target = texture.state.read().target;
            texture.image().map(|(image, level, layer)| (image, target, level, layer))
        };
        let (Some(src), Some(dst)) = (lookup(src), lookup(dst)) else {
            return Err(PipeError::BadHandle("a copy names no image".into()));
        };
        let (src_image, src_target, src_level, src_layer) = src;
        let (dst_image, dst_target, dst_level, dst_layer) = dst;
        let (src_level, dst_level) = (src_level + u32::from(copy.src_level), dst_level + u32::from(copy.dst_level));
        if src_level >= src_image.levels || dst_level >= dst_image.levels {
            return Err(PipeError::Protocol("a copy names no level".into()));
        }
        let Some(from) = ImageArea::new(&src_image, src_target, src_level, src_layer, &copy.src_box) else {
            return Ok(());
        };
        let same_layout = src_image.format.desc().is_compressed() == dst_image.format.desc().is_compressed();
        let kinds_fit = src_image.kind == dst_image.kind
            || (src_image.kind != vk::ImageType::TYPE_1D && dst_image.kind != vk::ImageType::TYPE_1D);
        if !same_layout
            || !kinds_fit
            || src_image.samples != dst_image.samples
            || src_image.aspects != dst_image.aspects
        {
            return self.copy_through_buffer(
                copy,
                (&src_image, src_target, src_level, src_layer),
                (&dst_image, dst_target, dst_level, dst_layer),
            );
        }
        let dst_box = Box3 {
            x: copy.dst_x,
            y: copy.dst_y,
            z: copy.dst_z,
            width: copy.src_box.width,
            height: copy.src_box.height,
            depth: copy.src_box.depth,
        };
        let dst_box = if dst_target == Target::Tex1DArray && src_target != Target::Tex1DArray {
            Box3 { y: copy.dst_z, height: copy.src_box.depth, ..dst_box }
        } else {
            dst_box
        };
        let Some(to) = ImageArea::new(&dst_image, dst_target, dst_level, dst_layer, &dst_box) else { return Ok(()) };
        let depth = from.depth().min(to.depth());
        let narrow = |mut area: ImageArea, image: &Image| {
            if image.kind == vk::ImageType::TYPE_3D {
                area.extent.depth = depth
            } else {
                area.layers = depth
            }
            area
        };
        let (from, to) = (narrow(from, &src_image), narrow(to, &dst_image));
        let extent = vk::Extent3D {
            width: from.extent.width.min(to.extent.width),
            height: from.extent.height.min(to.extent.height),
            depth: from.extent.depth.max(to.extent.depth),
        };
        if Arc::ptr_eq(&src_image, &dst_image) && src_level == dst_level && overlap(&from, &to, extent) {
            // GL leaves a copy of texels onto themselves undefined, Vulkan forbids it.
            if from.offset == to.offset && from.base_layer == to.base_layer {
                return Ok(());
            }
            return self.copy_through_buffer(
                copy,
                (&src_image, src_target, src_level, src_layer),
                (&dst_image, dst_target, dst_level, dst_layer),
            );
        }
        let region = [vk::ImageCopy {
            src_subresource: from.layers(src_image.aspects, src_level),
            src_offset: from.offset,
            dst_subresource: to.layers(dst_image.aspects, dst_level),
            dst_offset: to.offset,
            extent,
        }];
        let commands = self.transfer_commands(&[Object::Image(&src_image)], &[Object::Image(&dst_image)]);
        // SAFETY: the areas were cut to their levels; the batch keeps both images.
        unsafe {
            self.device.raw.cmd_copy_image(
                commands,
                src_image.raw,
                vk::ImageLayout::GENERAL,
                dst_image.raw,
                vk::ImageLayout::GENERAL,
                &region,
            );
        }
        Ok(())
    }

    /// Copies bits between images that Vulkan does not copy directly, through a buffer on the device.
    fn copy_through_buffer(
        &mut self,
        copy: &CopyRegion,
        src: (&Arc<Image>, Target, u32, u32),
        dst: (&Arc<Image>, Target, u32, u32),
    ) -> PipeResult<()> {
        let (src_image, src_target, src_level, src_layer) = src;
        let (dst_image, dst_target, dst_level, dst_layer) = dst;
        let (from_desc, to_desc) = (src_image.format.desc(), dst_image.format.desc());
        if from_desc.block_bytes != to_desc.block_bytes
            || src_image.samples != vk::SampleCountFlags::TYPE_1
            || dst_image.samples != vk::SampleCountFlags::TYPE_1
            || src_image.format.is_depth_stencil()
            || dst_image.format.is_depth_stencil()
        {
            return Err(PipeError::Unsupported(format!(
                "a copy from {:?} to {:?}",
                src_image.format, dst_image.format
            )));
        }
        let Some(from) = ImageArea::new(src_image, src_target, src_level, src_layer, &copy.src_box) else {
            return Ok(());
        };
        let blocks_wide = from.extent.width.div_ceil(from_desc.block_width);
        let blocks_high = from.extent.height.div_ceil(from_desc.block_height);
        let dst_box = Box3 {
            x: copy.dst_x,
            y: copy.dst_y,
            z: copy.dst_z,
            width: blocks_wide * to_desc.block_width,
            height: blocks_high * to_desc.block_height,
            depth: from.depth(),
        };
        let Some(to) = ImageArea::new(dst_image, dst_target, dst_level, dst_layer, &dst_box) else { return Ok(()) };
        let size = u64::from(blocks_wide)
            * u64::from(blocks_high)
            * u64::from(from.depth())
            * u64::from(from_desc.block_bytes);
        let slice = self.rec.ring(size, copy_alignment(from_desc.block_bytes))?;
        let commands = self.transfer_commands(&[Object::Image(src_image)], &[Object::Image(dst_image)]);
        let region = |area: &ImageArea, level, row: u32, height: u32| vk::BufferImageCopy {
            buffer_offset: slice.offset,
            buffer_row_length: row,
            buffer_image_height: height,
            image_subresource: area.layers(vk::ImageAspectFlags::COLOR, level),
            image_offset: area.offset,
            image_extent: area.extent,
        };
        let out = region(&from, src_level, blocks_wide * from_desc.block_width, blocks_high * from_desc.block_height);
        let back = region(&to, dst_level, blocks_wide * to_desc.block_width, blocks_high * to_desc.block_height);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        // SAFETY: the areas were cut to their levels; the ring space holds the blocks; the batch keeps everything.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_copy_image_to_buffer(commands, src_image.raw, vk::ImageLayout::GENERAL, slice.buffer, &[out]);
            raw.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::TRANSFER,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
            raw.cmd_copy_buffer_to_image(commands, slice.buffer, dst_image.raw, vk::ImageLayout::GENERAL, &[back]);
        }
        Ok(())
    }
}

impl crate::command::RingSlice {
    /// Writes one row of texels of `format` as a plane's texels at byte `at`.
    fn write_row(&self, at: u64, row: &[u8], plane: &Plane, format: Format) {
        let bytes = format.desc().block_bytes as usize;
        if plane.bytes as usize == bytes {
            self.write_bytes(at, row);
            return;
        }
        // A depth plane that is narrower than its texel keeps the low bytes; a stencil plane is one byte of each texel.
        let start = match (format, plane.aspect) {
            (Format::D24_UNORM_S8, vk::ImageAspectFlags::STENCIL) => 3,
            (Format::D32_FLOAT_S8, vk::ImageAspectFlags::STENCIL) => 4,
            _ => 0,
        };
        let part = plane.bytes as usize;
        let texels = row.chunks_exact(bytes.max(1));
        let out: Vec<u8> = match part {
            1 => texels.map(|texel| texel[start]).collect(),
            _ => texels.flat_map(|texel| texel[start..(start + part).min(texel.len())].iter().copied()).collect(),
        };
        self.write_bytes(at, &out);
    }
}
