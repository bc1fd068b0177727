//! Uploads and new storage.

use crate::context::EsprytContext;
use crate::format::{transfer, Swap, Transfer};
use crate::gles::{named, Gles};
use crate::resource::texture::{bind_scratch, Image, Storage};
use glow::{CompressedPixelUnpackData, HasContext, PixelUnpackData};
use mgpipe_types::*;
use std::sync::Arc;

/// Where boxes of a list begin in the ring: at multiples of it, as any type of texels may.
const STEP: usize = 16;
/// Bytes of a list that go through the ring at most.
const MOST_STAGED: usize = 32 << 20;

/// A box of an upload in the driver's coordinates, cut to its level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) z: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) depth: i32,
}

impl Area {
    /// A pipe box in a level, cut to it. `None` when nothing is left.
    pub(crate) fn new(image: &Image, target: Target, level: u32, area: &Box3) -> Option<Area> {
        let mut area = *area;
        if target == Target::Tex1DArray {
            // The layer of a 1D array is its y.
            (area.z, area.depth) = (area.y, area.height);
            (area.y, area.height) = (0, 1);
        }
        let [width, height, depth] = image.extent(level);
        let cut = |start: i32, size: u32, limit: u32| {
            let low = u32::try_from(start).ok().filter(|low| *low < limit)?;
            Some((start, size.min(limit - low) as i32)).filter(|(_, size)| *size > 0)
        };
        let (x, width) = cut(area.x, area.width, width)?;
        let (y, height) = cut(area.y, area.height, height)?;
        let (z, depth) = cut(area.z, area.depth, depth)?;
        Some(Area { x, y, z, width, height, depth })
    }
}

impl EsprytContext {
    /// Replaces storage under a handle.
    pub(crate) fn respecify(&mut self, desc: &ResourceDesc) -> PipeResult<()> {
        let missing = |error: mgpipe_handles::SlotError| PipeError::BadHandle(error.to_string());
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let target = Target::from_u8(desc.target).ok_or_else(|| PipeError::Protocol("unknown target".into()))?;
        if target == Target::Buffer {
            let buffer = shared.buffers.get(BufferHandle(desc.handle)).map_err(missing)?;
            // Another context may have the old storage bound, and a driver may leave it with that as long as the name is the same.
            let renamed = !shared.single_context();
            let result = buffer.respecify(gles, desc.buffer_size, desc.usage, desc.storage_flags, renamed);
            self.buffer_changed();
            return result;
        }
        let texture = if target == Target::Renderbuffer {
            shared.renderbuffers.get(RenderbufferHandle(desc.handle)).map_err(missing)?
        } else {
            shared.textures.get(TextureHandle(desc.handle)).map_err(missing)?
        };
        let fresh = shared.texture_storage(desc)?;
        let old = {
            let mut state = texture.state.lock();
            state.target = target;
            state.format = Format(desc.format);
            std::mem::replace(&mut state.storage, fresh)
        };
        self.changed();
        if let (Storage::Image(old), true) = (&old, desc.has_defined_content != 0 && desc.view_of.is_null()) {
            if let Some(new) = texture.image(gles, &shared.grave)? {
                self.shadow.forget_active_unit();
                self.carry_over(old, &new)?;
            }
        }
        Ok(())
    }

    /// Copies the levels that keep their shape from old to new storage.
    fn carry_over(&mut self, old: &Arc<Image>, new: &Arc<Image>) -> PipeResult<()> {
        if old.format != new.format || old.samples != new.samples || old.target != new.target {
            return Ok(());
        }
        for level in 0..old.levels.min(new.levels) {
            let (from, to) = (old.extent(level), new.extent(level));
            if from[0] == to[0] && from[1] == to[1] {
                let extent = [from[0], from[1], from[2].min(to[2])];
                self.copy_texels((old, level, [0; 3]), (new, level, [0; 3]), extent)?;
            }
        }
        Ok(())
    }

    /// Uploads into a buffer.
    pub(crate) fn upload_buffer(&mut self, data: &SubData, bytes: &[u8]) -> PipeResult<()> {
        let buffer = self.buffer(data.res)?;
        let (offset, size) = data.union_box.buffer_range();
        let Some(bytes) = usize::try_from(size).ok().and_then(|size| bytes.get(..size)) else {
            return Err(PipeError::Protocol("an upload is shorter than its range".into()));
        };
        if size == 0 || buffer.size() == 0 {
            return Ok(());
        }
        if offset.checked_add(size).is_none_or(|end| end > buffer.size()) {
            return Err(PipeError::Protocol("an upload reaches beyond its buffer".into()));
        }
        let gles = self.gles();
        if offset == 0 && size == buffer.size() && buffer.fill(gles, bytes)? {
            return Ok(());
        }
        let name = buffer.name(gles)?;
        // SAFETY: the context is current; the range lies within the buffer.
        unsafe {
            gles.gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, name));
            gles.gl.buffer_sub_data_u8_slice(gl::COPY_WRITE_BUFFER, offset as i32, bytes);
        }
        Ok(())
    }

    /// Uploads into a texture level.
    pub(crate) fn upload_texture(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let texture = match Target::from_u8(data.target as u8) {
            Some(Target::Renderbuffer) => shared.renderbuffers.get(RenderbufferHandle(data.res)),
            _ => shared.textures.get(TextureHandle(data.res)),
        }
        .map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let image = texture.image(gles, &shared.grave)?;
        self.shadow.forget_active_unit();
        let image = image.ok_or_else(|| PipeError::BadHandle("the texture has no storage".into()))?;
        let (target, format) = {
            let state = texture.state.lock();
            (state.target, state.format)
        };
        let level = u32::from(data.level);
        if level >= image.levels || image.samples > 1 {
            return Err(PipeError::Protocol(format!("no level {level} to upload to")));
        }
        let transfer =
            transfer(image.format).ok_or_else(|| PipeError::Unsupported(format!("uploads to {:?}", image.format)))?;
        bind_scratch(gles, &image);
        if regions.len() > 1 && transfer.swap == Swap::None {
            let mut joiner = std::mem::take(&mut self.joiner);
            joiner.join(regions, format.desc());
            let place = Place { image: &image, target, level, transfer: &transfer };
            let done = self.upload_joined(&joiner, regions, bytes, format, &place);
            self.joiner = joiner;
            if done? {
                return Ok(());
            }
        }
        for region in regions {
            let wanted = region.area();
            let Some(area) = Area::new(&image, target, level, &wanted) else { continue };
            let desc = format.desc();
            let row_stride = match u64::from(region.src_row_stride) {
                0 => desc.row_bytes(region.width),
                stride => stride,
            };
            let one_d = target == Target::Tex1DArray;
            let slice_stride = match (one_d, u64::from(region.src_slice_stride)) {
                (true, _) => row_stride,
                (false, 0) => row_stride * u64::from(region.height.div_ceil(desc.block_height)),
                (false, stride) => stride,
            };
            let source = Source { bytes, offset: region.src_offset, row_stride, slice_stride };
            let sent = upload(gles, &image, level, &area, &transfer, &source)?;
            self.upload_work.jobs += 1;
            self.upload_work.bytes += sent;
        }
        Ok(())
    }

    /// Uploads a list of regions, joined. Those that make a box together are put together in the ring; the others are read
    /// where they lie, which costs the driver the copy that the ring would cost. False, and nothing done, when they do not lie
    /// within the level.
    fn upload_joined(
        &mut self,
        joiner: &RegionJoiner,
        regions: &[SubRegion],
        bytes: &[u8],
        format: Format,
        place: &Place<'_>,
    ) -> PipeResult<bool> {
        let desc = format.desc();
        let (mut total, mut bytes_of_boxes) = (0u64, 0u64);
        for joined in joiner.joined() {
            let texels = |w: u64, h: u64, d: u64| w * h * d;
            let cut = Area::new(place.image, place.target, place.level, &joined.area)
                .map(|a| texels(a.width as u64, a.height as u64, a.depth as u64));
            let b = &joined.area;
            let strided = joiner.alone(joined).and_then(|index| regions.get(index)).is_some_and(|region| {
                region.src_row_stride != 0 && u64::from(region.src_row_stride) != desc.row_bytes(region.width)
            });
            if strided || b.depth != 1 || cut != Some(texels(b.width.into(), b.height.into(), b.depth.into())) {
                return Ok(false);
            }
            bytes_of_boxes += tight_bytes(joined, desc);
            total += room(joined, desc) as u64;
        }
        let Some(total) = usize::try_from(total).ok().filter(|total| *total <= MOST_STAGED) else { return Ok(false) };
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let mut memory = std::mem::take(&mut self.staging);
        self.ring.begin(gles);
        let ring_space = if total > 0 { self.ring.space(gles, total, STEP)? } else { None };
        let (ring, space) = match ring_space {
            Some((slice, space)) => (Some(slice), space),
            None => {
                memory.resize(total, 0);
                (None, &mut memory[..])
            }
        };
        let mut rest = space;
        let mut complete = true;
        for joined in joiner.joined().iter().filter(|joined| joined.regions() > 1) {
            let (out, next) = rest.split_at_mut(room(joined, desc).min(rest.len()));
            rest = next;
            complete &= joiner.gather(joined, regions, desc, bytes, |at, row| {
                if let Some(out) = out.get_mut(at as usize..at as usize + row.len()) {
                    out.copy_from_slice(row);
                }
            });
        }
        complete &= joiner.joined().iter().all(|joined| {
            let alone = joiner.alone(joined).and_then(|index| regions.get(index));
            alone.is_none_or(|region| bytes_of(region, desc, bytes).is_some())
        });
        if complete {
            self.upload_work.jobs += joiner.joined().len() as u64;
            self.upload_work.bytes += bytes_of_boxes;
            self.upload_work.joined += regions.len().saturating_sub(joiner.joined().len()) as u64;
            for joined in joiner.joined() {
                let alone = joiner.alone(joined).and_then(|index| regions.get(index));
                let Some(texels) = alone.and_then(|region| bytes_of(region, desc, bytes)) else { continue };
                if let Some(area) = Area::new(place.image, place.target, place.level, &joined.area) {
                    // SAFETY: the context is current, the image and no unpack buffer are bound, and the box is tight.
                    unsafe { send(gles, place.image, place.level, &area, place.transfer, Texels::Memory(texels), 0) };
                }
            }
            let texels = match ring {
                Some(slice) => {
                    // SAFETY: the context is current; the buffer is the ring's.
                    unsafe { gles.gl.bind_buffer(gl::PIXEL_UNPACK_BUFFER, named!(NativeBuffer, slice.buffer)) };
                    Texels::Bound(slice.offset)
                }
                None => Texels::Memory(&memory),
            };
            let mut at = 0;
            for joined in joiner.joined().iter().filter(|joined| joined.regions() > 1) {
                if let Some(area) = Area::new(place.image, place.target, place.level, &joined.area) {
                    // SAFETY: the context is current and the image is bound; each box has its room, and is tight.
                    unsafe { send(gles, place.image, place.level, &area, place.transfer, texels.from(at), 0) };
                }
                at += room(joined, desc);
            }
            if ring.is_some() {
                // SAFETY: the context is current.
                unsafe { gles.gl.bind_buffer(gl::PIXEL_UNPACK_BUFFER, None) };
            }
        }
        self.staging = memory;
        if complete {
            Ok(true)
        } else {
            Err(PipeError::Protocol("an upload is shorter than its regions".into()))
        }
    }
}

/// Bytes that a box takes in memory where lists are put together: none when it is a region.
fn room(joined: &Joined, desc: &FormatDesc) -> usize {
    if joined.regions() > 1 {
        (tight_bytes(joined, desc) as usize).next_multiple_of(STEP)
    } else {
        0
    }
}

/// The texels of a region of one slice, from its first one on, when they are tight and all there.
fn bytes_of<'a>(region: &SubRegion, desc: &FormatDesc, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let rows = u64::from(region.height.div_ceil(desc.block_height.max(1)));
    let len = desc.row_bytes(region.width) * rows;
    let start = usize::try_from(region.src_offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(len).ok()?)?)
}

fn tight_bytes(joined: &Joined, desc: &FormatDesc) -> u64 {
    desc.row_bytes(joined.area.width) * u64::from(joined.area.height.div_ceil(desc.block_height.max(1)))
}

/// Where the driver reads texels.
#[derive(Clone, Copy)]
enum Texels<'a> {
    /// On the host.
    Memory(&'a [u8]),
    /// In the bound unpack buffer, from a byte on.
    Bound(usize),
}

impl<'a> Texels<'a> {
    /// What lies `at` bytes further.
    fn from(self, at: usize) -> Texels<'a> {
        match self {
            Texels::Memory(bytes) => Texels::Memory(bytes.get(at..).unwrap_or(&[])),
            Texels::Bound(offset) => Texels::Bound(offset + at),
        }
    }

    fn pixels(self) -> PixelUnpackData<'a> {
        match self {
            Texels::Memory(bytes) => PixelUnpackData::Slice(Some(bytes)),
            Texels::Bound(offset) => PixelUnpackData::BufferOffset(offset as u32),
        }
    }

    /// So many bytes of blocks.
    fn blocks(self, len: usize) -> CompressedPixelUnpackData<'a> {
        match self {
            Texels::Memory(bytes) => CompressedPixelUnpackData::Slice(bytes.get(..len).unwrap_or(bytes)),
            Texels::Bound(offset) => CompressedPixelUnpackData::BufferRange(offset as u32..(offset + len) as u32),
        }
    }
}

/// Where an upload goes.
struct Place<'a> {
    image: &'a Image,
    target: Target,
    level: u32,
    transfer: &'a Transfer,
}

/// Where texels lie on the host.
struct Source<'a> {
    bytes: &'a [u8],
    offset: u64,
    row_stride: u64,
    slice_stride: u64,
}

impl Source<'_> {
    fn row(&self, slice: u64, row: u64, len: u64) -> PipeResult<&[u8]> {
        let start = self.offset + slice * self.slice_stride + row * self.row_stride;
        let range = usize::try_from(start).ok().zip(usize::try_from(start + len).ok());
        range
            .and_then(|(start, end)| self.bytes.get(start..end))
            .ok_or_else(|| PipeError::Protocol("an upload is shorter than its regions".into()))
    }
}

/// Uploads one box; the image is bound to the active unit.
fn upload(
    gles: &Gles,
    image: &Image,
    level: u32,
    area: &Area,
    transfer: &Transfer,
    source: &Source<'_>,
) -> PipeResult<u64> {
    let desc = image.format.desc();
    let rows = (area.height as u32).div_ceil(desc.block_height);
    let row_bytes = desc.row_bytes(area.width as u32);
    let texel = u64::from(desc.block_bytes);
    let (depth, rows) = (area.depth as u64, u64::from(rows));
    // The driver steps in whole texels and rows.
    let direct = transfer.swap == Swap::None
        && !desc.is_compressed()
        && source.row_stride % texel == 0
        && source.row_stride >= row_bytes
        && (depth == 1
            || (source.slice_stride % source.row_stride == 0 && source.slice_stride / source.row_stride >= rows));
    // The last byte must be there either way.
    source.row(depth - 1, rows - 1, row_bytes)?;
    if direct {
        let start = usize::try_from(source.offset).unwrap_or(usize::MAX);
        let texels = source.bytes.get(start..).unwrap_or(&[]);
        let length = if source.row_stride == row_bytes { 0 } else { (source.row_stride / texel) as i32 };
        let height = source.slice_stride / source.row_stride;
        let height = if depth == 1 || height == rows { 0 } else { height as i32 };
        // SAFETY: a context is current and the image is bound; strides and the end of the bytes were checked above.
        unsafe {
            unpack_strides(gles, length, height, true);
            send(gles, image, level, area, transfer, Texels::Memory(texels), source.slice_stride as usize);
            unpack_strides(gles, length, height, false);
        }
        return Ok(row_bytes * rows * depth);
    }
    let total = usize::try_from(row_bytes * rows * depth).map_err(|_| PipeError::OutOfMemory("upload".into()))?;
    let mut tight = Vec::new();
    tight.try_reserve_exact(total).map_err(|_| PipeError::OutOfMemory("upload".into()))?;
    for slice in 0..depth {
        for row in 0..rows {
            tight.extend_from_slice(source.row(slice, row, row_bytes)?);
        }
    }
    if transfer.swap != Swap::None {
        for word in tight.chunks_exact_mut(4) {
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word.copy_from_slice(&transfer.swap.out(value).to_le_bytes());
        }
    }
    let slice = (row_bytes * rows) as usize;
    // SAFETY: a context is current and the image is bound; the bytes are tight.
    unsafe { send(gles, image, level, area, transfer, Texels::Memory(&tight), slice) };
    Ok(total as u64)
}

/// Sets the strides that are not those of tight texels, or takes them back.
///
/// # Safety
/// A context is current.
unsafe fn unpack_strides(gles: &Gles, length: i32, height: i32, on: bool) {
    for (name, value) in [(gl::UNPACK_ROW_LENGTH, length), (gl::UNPACK_IMAGE_HEIGHT, height)] {
        if value != 0 {
            // SAFETY: the caller's promise; the values are not negative.
            unsafe { gles.gl.pixel_store_i32(name, if on { value } else { 0 }) };
        }
    }
}

/// The upload calls of each target.
///
/// # Safety
/// A context is current, the image is bound to its target on the active unit, and `texels` holds the box under the unpack
/// state, with `slice` bytes between faces.
unsafe fn send(
    gles: &Gles,
    image: &Image,
    level: u32,
    area: &Area,
    transfer: &Transfer,
    texels: Texels<'_>,
    slice: usize,
) {
    let gl = &gles.gl;
    let (level, a) = (level as i32, area);
    let desc = image.format.desc();
    let face_bytes = desc.row_bytes(a.width as u32) as usize * (a.height as u32).div_ceil(desc.block_height) as usize;
    let (internal, format, ty) = (transfer.internal, transfer.format, transfer.ty);
    // One image of a target.
    let flat = |target: u32, texels: Texels<'_>| {
        // SAFETY: the caller's promise.
        unsafe {
            if ty == 0 {
                let blocks = texels.blocks(face_bytes);
                gl.compressed_tex_sub_image_2d(target, level, a.x, a.y, a.width, a.height, internal, blocks);
            } else {
                gl.tex_sub_image_2d(target, level, a.x, a.y, a.width, a.height, format, ty, texels.pixels());
            }
        }
    };
    if image.target == gl::TEXTURE_CUBE_MAP {
        for face in 0..a.depth {
            flat(gl::TEXTURE_CUBE_MAP_POSITIVE_X + (a.z + face) as u32, texels.from(face as usize * slice));
        }
    } else if image.is_layered() {
        let (target, w, h, d) = (image.target, a.width, a.height, a.depth);
        // SAFETY: the caller's promise.
        unsafe {
            if ty == 0 {
                let blocks = texels.blocks(face_bytes * d as usize);
                gl.compressed_tex_sub_image_3d(target, level, a.x, a.y, a.z, w, h, d, internal, blocks);
            } else {
                gl.tex_sub_image_3d(target, level, a.x, a.y, a.z, w, h, d, format, ty, texels.pixels());
            }
        }
    } else {
        flat(image.target, texels);
    }
}
