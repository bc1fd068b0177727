//! Descriptor sets: collecting what a program's slots hold, and binding sets that hold it.

use crate::command::Object;
use crate::context::{dirty, BindPoint, MagmaContext};
use crate::resource::texture::{Storage, ViewKey};
use crate::sampler::Resolved;
use crate::shader::{map_binding_kind, Program, Slot};
use ash::vk::{self, Handle as _};
use mgpipe_types::reflection::{BindingKind, OpaqueBase, OpaqueType, SET_COUNT, SET_UNIFORM};
use mgpipe_types::{swizzle, BufferHandle, Format, FormatKind, PipeResult, WHOLE_BUFFER};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// One element of a set, ready to be written.
#[derive(Clone, Copy)]
enum Item {
    Buffer(vk::DescriptorBufferInfo),
    Image(vk::DescriptorImageInfo),
    Texel(vk::BufferView),
}

impl Item {
    fn key(&self, key: &mut SmallVec<[u64; 40]>) {
        match self {
            Item::Buffer(info) => key.extend([info.buffer.as_raw(), info.offset, info.range]),
            Item::Image(info) => key.extend([info.image_view.as_raw(), info.sampler.as_raw()]),
            Item::Texel(view) => key.push(view.as_raw()),
        }
    }
}

/// Descriptor sets of draws as the command buffer has them.
#[derive(Default)]
pub(crate) struct AppliedSets {
    bound: [Option<AppliedSet>; SET_COUNT as usize],
}

/// Where a set is found in the memo.
fn spread(&(program, set, version): &(u64, u32, u64)) -> u64 {
    program.rotate_left(32) ^ u64::from(set).rotate_left(62) ^ version
}

/// One set as it was bound.
#[derive(Clone, Copy, PartialEq, Eq)]
struct AppliedSet {
    raw: vk::DescriptorSet,
    offset: Option<u32>,
    /// Identities of the set layouts up to this set. A set stays bound for another program when these are its own.
    layouts: [u64; SET_COUNT as usize],
}

impl AppliedSet {
    fn new(program: &Program, set: u32, raw: vk::DescriptorSet, offset: Option<u32>) -> AppliedSet {
        let mut layouts = [0; SET_COUNT as usize];
        for (serial, layout) in layouts.iter_mut().zip(&program.sets).take(set as usize + 1) {
            *serial = layout.serial;
        }
        AppliedSet { raw, offset, layouts }
    }
}

impl AppliedSets {
    /// Notes a set that is being bound. False when the command buffer has it already.
    fn note(&mut self, set: u32, next: AppliedSet) -> bool {
        let index = set as usize;
        if self.bound[index] == Some(next) {
            return false;
        }
        // Binding a set disturbs those whose layouts it does not share: lower ones up to themselves, higher ones up to it.
        for other in 0..self.bound.len() {
            let shared = other.min(index) + 1;
            if self.bound[other].is_some_and(|bound| bound.layouts[..shared] != next.layouts[..shared]) {
                self.bound[other] = None;
            }
        }
        self.bound[index] = Some(next);
        true
    }
}

impl MagmaContext {
    /// Binds the descriptor sets of a bind point that changed.
    pub(crate) fn bind_sets(&mut self, commands: vk::CommandBuffer, point: BindPoint) -> PipeResult<()> {
        let Some(bound) = &self.programs[point as usize] else { return Ok(()) };
        let program = bound.program.clone();
        let everything = self.dirty & dirty::PROGRAM != 0 || point == BindPoint::Dispatch;
        let vk_point = match point {
            BindPoint::Draw => vk::PipelineBindPoint::GRAPHICS,
            BindPoint::Dispatch => vk::PipelineBindPoint::COMPUTE,
        };
        // Also for sets that this program does not use: the draw that follows takes all changes as seen.
        for (set, version) in self.set_versions.iter_mut().enumerate() {
            *version += u64::from(self.dirty & dirty::SET0 << set != 0);
        }
        for set in 0..SET_COUNT {
            if program.used_sets >> set & 1 == 0 {
                continue;
            }
            let changed = self.dirty & dirty::SET0 << set != 0;
            let constants = set == SET_UNIFORM && self.dirty & dirty::CONSTANTS != 0;
            if !everything && !changed && !constants {
                continue;
            }
            let mut offset = SmallVec::<[u32; 1]>::new();
            let known = self.known_set(&program, point, set, &mut offset)?;
            let raw = match known {
                Some(raw) => raw,
                None => {
                    offset.clear();
                    let items = self.collect(&program, point, set, &mut offset)?;
                    let raw = self.set_with(&program, set, &items)?;
                    if let Some(key) = self.set_key(&program, point, set) {
                        let constants = self.programs[point as usize].as_ref().and_then(|bound| bound.constants);
                        let chunk = constants.map_or(vk::Buffer::null(), |slice| slice.buffer);
                        self.known_sets.put(spread(&key), key, (raw, chunk));
                    }
                    raw
                }
            };
            if point == BindPoint::Draw {
                let sets = &mut self.applied.get_or_insert_with(Box::default).sets;
                if !sets.note(set, AppliedSet::new(&program, set, raw, offset.first().copied())) {
                    continue;
                }
                self.rec.flush_draws();
            }
            // SAFETY: the set fits the layout it was made from; the dynamic offset lies within the ring chunk.
            unsafe {
                self.device.raw.cmd_bind_descriptor_sets(commands, vk_point, program.layout, set, &[raw], &offset);
            }
        }
        Ok(())
    }

    /// The set that this batch has made for a program and the state of its units, when it has: a change of the default
    /// block alone is told by the dynamic offset.
    fn known_set(
        &mut self,
        program: &Arc<Program>,
        point: BindPoint,
        set: u32,
        dynamic: &mut SmallVec<[u32; 1]>,
    ) -> PipeResult<Option<vk::DescriptorSet>> {
        let Some(key) = self.set_key(program, point, set) else { return Ok(None) };
        let Some(&(raw, chunk)) = self.known_sets.get(spread(&key), &key) else { return Ok(None) };
        if set == SET_UNIFORM {
            let slot = program.slots[set as usize].iter().find(|slot| slot.kind == BindingKind::DefaultBlock);
            if let Some(slot) = slot {
                let (info, offset) = self.default_block(program, point, slot)?;
                if info.buffer != chunk {
                    return Ok(None);
                }
                dynamic.push(offset);
            }
        }
        Ok(Some(raw))
    }

    /// Identity of a set's content: program, set, and how often what is bound for the set has changed. Sets that shaders
    /// write through have none, since collecting them notes the writes.
    fn set_key(&self, program: &Program, point: BindPoint, set: u32) -> Option<(u64, u32, u64)> {
        let version = *self.set_versions.get(set as usize).filter(|_| point == BindPoint::Draw)?;
        Some((program.serial, set, version))
    }

    /// What the elements of a set hold at the moment.
    fn collect(
        &mut self,
        program: &Arc<Program>,
        point: BindPoint,
        set: u32,
        dynamic: &mut SmallVec<[u32; 1]>,
    ) -> PipeResult<SmallVec<[Item; 16]>> {
        let mut items = SmallVec::new();
        let Some(bindings) = self.programs[point as usize].as_ref().map(|b| b.bindings.clone()) else {
            return Ok(items);
        };
        for slot in &program.slots[set as usize] {
            for element in 0..slot.count {
                let index = (slot.first + element) as usize;
                let item = match slot.kind {
                    BindingKind::DefaultBlock => {
                        let (info, offset) = self.default_block(program, point, slot)?;
                        dynamic.push(offset);
                        Item::Buffer(info)
                    }
                    BindingKind::UniformBlock => {
                        let at = bindings.uniform_blocks.get(index).copied().unwrap_or(0);
                        let limits = &self.device.properties.limits;
                        let (align, most) =
                            (limits.min_uniform_buffer_offset_alignment, u64::from(limits.max_uniform_buffer_range));
                        Item::Buffer(self.buffer_info(0, at, slot, align, most)?)
                    }
                    BindingKind::StorageBlock | BindingKind::AtomicBuffer => {
                        let (class, at) = if slot.kind == BindingKind::StorageBlock {
                            (1, bindings.storage_blocks.get(index).copied().unwrap_or(0))
                        } else {
                            (2, bindings.atomic_buffers.get(index).copied().unwrap_or(0))
                        };
                        let limits = &self.device.properties.limits;
                        let (align, most) =
                            (limits.min_storage_buffer_offset_alignment, u64::from(limits.max_storage_buffer_range));
                        Item::Buffer(self.buffer_info(class, at, slot, align, most)?)
                    }
                    BindingKind::Sampler => {
                        let unit = bindings.samplers.get(index).copied().unwrap_or(0);
                        Item::Image(self.sampled(unit, slot)?)
                    }
                    BindingKind::TexelBuffer => {
                        let unit = bindings.samplers.get(index).copied().unwrap_or(0);
                        Item::Texel(self.texel_buffer(unit)?)
                    }
                    BindingKind::Image => {
                        let unit = bindings.images.get(index).copied().unwrap_or(0);
                        Item::Image(self.storage_image(unit, slot)?)
                    }
                    BindingKind::ImageBuffer => {
                        let unit = bindings.images.get(index).copied().unwrap_or(0);
                        Item::Texel(self.storage_texel_buffer(unit)?)
                    }
                };
                items.push(item);
            }
        }
        Ok(items)
    }

    /// A set with these elements: one that this batch has already made, or a new one.
    fn set_with(&mut self, program: &Arc<Program>, set: u32, items: &[Item]) -> PipeResult<vk::DescriptorSet> {
        let layout = &program.sets[set as usize];
        let mut key = SmallVec::new();
        key.push(layout.serial);
        for item in items {
            item.key(&mut key);
        }
        if let Some(raw) = self.set_memo.get(&key) {
            return Ok(*raw);
        }
        let raw = self.rec.descriptor_set(layout.raw)?;
        let mut buffers: SmallVec<[vk::DescriptorBufferInfo; 16]> = SmallVec::new();
        let mut images: SmallVec<[vk::DescriptorImageInfo; 16]> = SmallVec::new();
        let mut texels: SmallVec<[vk::BufferView; 8]> = SmallVec::new();
        for item in items {
            match item {
                Item::Buffer(info) => buffers.push(*info),
                Item::Image(info) => images.push(*info),
                Item::Texel(view) => texels.push(*view),
            }
        }
        let (mut b, mut i, mut t) = (&buffers[..], &images[..], &texels[..]);
        let mut writes: SmallVec<[vk::WriteDescriptorSet<'_>; 16]> = SmallVec::new();
        for slot in &program.slots[set as usize] {
            let count = slot.count as usize;
            let ty = map_binding_kind(slot.kind);
            let mut write =
                vk::WriteDescriptorSet::default().dst_set(raw).dst_binding(slot.binding).descriptor_type(ty);
            match slot.kind {
                BindingKind::Sampler | BindingKind::Image => {
                    let (head, rest) = i.split_at(count.min(i.len()));
                    (write, i) = (write.image_info(head), rest);
                }
                BindingKind::TexelBuffer | BindingKind::ImageBuffer => {
                    let (head, rest) = t.split_at(count.min(t.len()));
                    (write, t) = (write.texel_buffer_view(head), rest);
                }
                _ => {
                    let (head, rest) = b.split_at(count.min(b.len()));
                    (write, b) = (write.buffer_info(head), rest);
                }
            }
            writes.push(write);
        }
        // SAFETY: the set is new and not in use; every element refers to a live object that the batch keeps, or is null
        // with the null-descriptor feature.
        unsafe { self.device.raw.update_descriptor_sets(&writes, &[]) };
        self.rec.keep_other(layout.clone());
        self.set_memo.insert(key, raw);
        Ok(raw)
    }

    fn default_block(
        &mut self,
        program: &Arc<Program>,
        point: BindPoint,
        slot: &Slot,
    ) -> PipeResult<(vk::DescriptorBufferInfo, u32)> {
        let size = u64::from(slot.size.max(16));
        let key = self.constants_key(program);
        let stored = self.programs[point as usize].as_ref().and_then(|bound| bound.constants);
        let stored = stored.or_else(|| self.constants_memo.get(key.0, &key).copied());
        let slice = match stored {
            Some(slice) => slice,
            None => {
                let align = self.device.properties.limits.min_uniform_buffer_offset_alignment.max(16);
                let slice = self.rec.ring(size, align)?;
                let bytes = program.constants.lock();
                slice.write(&bytes, size);
                let have = (bytes.len() as u64).min(size);
                if have < size {
                    slice.zero(have, size);
                }
                drop(bytes);
                self.write_hidden(program, &slice, size);
                self.constants_memo.put(key.0, key, slice);
                if let Some(bound) = &mut self.programs[point as usize] {
                    bound.constants = Some(slice);
                }
                slice
            }
        };
        let info = vk::DescriptorBufferInfo { buffer: slice.buffer, offset: 0, range: size };
        Ok((info, slice.offset as u32))
    }

    /// What the bytes of a default block depend on: program, version, and the number of samples where it is read.
    fn constants_key(&self, program: &Program) -> (u64, u64, u32) {
        let samples = match (program.num_samples_offset, &self.resolved_framebuffer) {
            (u32::MAX, _) | (_, None) => 1,
            (_, Some(framebuffer)) => framebuffer.facts.samples.max(1),
        };
        (program.serial, program.constants_version.load(Ordering::Acquire), samples)
    }

    /// Fills the hidden member that tells a shader the number of samples.
    fn write_hidden(&self, program: &Program, slice: &crate::command::RingSlice, size: u64) {
        let offset = program.num_samples_offset;
        if offset != u32::MAX && u64::from(offset) + 4 <= size {
            let samples = self.resolved_framebuffer.as_ref().map_or(1, |f| f.facts.samples.max(1));
            slice.write_at(offset, &samples.to_le_bytes());
        }
    }

    fn buffer_info(
        &mut self,
        class: usize,
        at: u32,
        slot: &Slot,
        align: u64,
        most: u64,
    ) -> PipeResult<vk::DescriptorBufferInfo> {
        let bound = self.shader_buffers[class].get(at as usize).cloned().unwrap_or_default();
        let Some(storage) = bound.storage.filter(|storage| bound.range.offset < storage.size) else {
            return self.empty_buffer();
        };
        let offset = bound.range.offset;
        let room = storage.size - offset;
        let size = if bound.range.size == WHOLE_BUFFER { room } else { bound.range.size.min(room) };
        if size == 0 {
            return self.empty_buffer();
        }
        self.rec.keep(Object::Buffer(&storage), true);
        if class != 0 {
            self.device_writes(&storage);
        }
        // The end of a range may lie anywhere in GL; shaders read whole words.
        let range = size.min(most);
        // Full robust access reads zeros beyond the range, so that what the device wrote before it is not copied by the host.
        let short = range < u64::from(slot.size) && class == 0 && !self.device.features.robust_indices;
        if offset % align != 0 || short {
            if class == 0 {
                // A copy at an aligned place, zero-filled to the block's size, as robust access would read.
                let full = range.max(u64::from(slot.size)).min(most);
                let slice = self.rec.ring(full, align.max(16))?;
                let mut bytes = vec![0; full as usize];
                let have = range as usize;
                storage.read(offset, &mut bytes[..have]);
                slice.write(&bytes, full);
                return Ok(vk::DescriptorBufferInfo { buffer: slice.buffer, offset: slice.offset, range: full });
            }
            self.warn_once(2, "a storage buffer is bound at an offset that the device cannot address");
            return self.empty_buffer();
        }
        Ok(vk::DescriptorBufferInfo { buffer: storage.raw, offset, range })
    }

    fn empty_buffer(&mut self) -> PipeResult<vk::DescriptorBufferInfo> {
        if self.device.features.null_descriptor {
            return Ok(vk::DescriptorBufferInfo { buffer: vk::Buffer::null(), offset: 0, range: vk::WHOLE_SIZE });
        }
        let zeros = self.shared.placeholders.zeros(&self.device)?;
        self.rec.keep(Object::Buffer(&zeros), true);
        let range = zeros.size.min(u64::from(self.device.properties.limits.max_uniform_buffer_range));
        Ok(vk::DescriptorBufferInfo { buffer: zeros.raw, offset: 0, range })
    }

    fn sampled(&mut self, unit: u32, slot: &Slot) -> PipeResult<vk::DescriptorImageInfo> {
        let ty = slot.opaque.unwrap_or(FALLBACK_TYPE);
        let resolved = self.resolve_unit(unit, &ty)?;
        let sampler = self.units.get(unit as usize).and_then(|u| u.sampler.clone());
        let (Resolved { image, view, channels }, sampler) = match (resolved, sampler) {
            (Some(resolved), Some(sampler)) => (resolved, sampler),
            (Some(resolved), None) => (resolved, self.shared.placeholders.sampler(&self.device)),
            (None, _) => {
                let (image, view) = self.shared.placeholders.sampled(&self.device, &ty)?;
                let channels = swizzle::IDENTITY;
                (Resolved { image, view, channels }, self.shared.placeholders.sampler(&self.device))
            }
        };
        self.rec.keep(Object::Image(&image), true);
        let features = self.device.formats.get(image.format).image;
        // Only samplers that do not compare need the format's filter bit (VUID-vkCmdDraw-magFilter-04553).
        let filterable = ty.shadow || features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
        let raw = sampler.raw(ty.shadow, self.state.texture_cube_map_seamless != 0, filterable, channels)?;
        if sampler.enter(self.rec.batch.serial) {
            self.rec.keep_other(sampler);
        }
        Ok(vk::DescriptorImageInfo { sampler: raw, image_view: view, image_layout: vk::ImageLayout::GENERAL })
    }

    /// Image and view of a unit, when they fit the shader's type.
    fn resolve_unit(&mut self, unit: u32, ty: &OpaqueType) -> PipeResult<Option<Resolved>> {
        let Some(slot) = self.units.get_mut(unit as usize) else { return Ok(None) };
        let (Some(view), Some(texture)) = (&slot.view, &slot.texture) else { return Ok(None) };
        let state = texture.state.read();
        if !matches!(state.storage, Storage::Image { .. }) {
            return Ok(None);
        }
        let target = mgpipe_types::Target::from_u8(view.desc.target).unwrap_or(state.target);
        let format = match Format(view.desc.format) {
            Format::NONE => state.format,
            format => format,
        };
        if !target_fits(target, ty) || !base_fits(format, &state.params, ty) {
            return Ok(None);
        }
        if slot.resolved.is_none() {
            match crate::sampler::resolve(&state, &view.desc) {
                Ok(resolved) => slot.resolved = Some(resolved),
                Err(error) => {
                    drop(state);
                    self.shared.complain("sampler view", error);
                    return Ok(None);
                }
            }
        }
        Ok(slot.resolved.clone())
    }

    fn texel_buffer(&mut self, unit: u32) -> PipeResult<vk::BufferView> {
        let texture = self.units.get(unit as usize).and_then(|u| u.texture.clone());
        self.texel_view(texture, None)
    }

    fn storage_texel_buffer(&mut self, unit: u32) -> PipeResult<vk::BufferView> {
        let unit = self.image_units.get(unit as usize).cloned().unwrap_or_default();
        self.texel_view(unit.texture, Some(Format(unit.bound.format)))
    }

    fn texel_view(
        &mut self,
        texture: Option<Arc<crate::resource::texture::Texture>>,
        format: Option<Format>,
    ) -> PipeResult<vk::BufferView> {
        let state = texture.map(|texture| texture.state.read().clone());
        if let Some(state) = state {
            if let Storage::Buffer { buffer, offset, size } = state.storage {
                let storage = self.shared.buffers.get(BufferHandle(buffer.0)).ok().and_then(|b| b.storage());
                let format = format.filter(|f| *f != Format::NONE).unwrap_or(state.format);
                let texel = u64::from(format.desc().block_bytes);
                if let Some(storage) = storage.filter(|s| offset < s.size && texel > 0) {
                    let limits = &self.device.properties.limits;
                    let room = storage.size - offset;
                    let bytes = if size == WHOLE_BUFFER { room } else { size.min(room) };
                    let elements = (bytes / texel).min(u64::from(limits.max_texel_buffer_elements));
                    let aligned = offset % limits.min_texel_buffer_offset_alignment == 0;
                    if elements > 0 && aligned {
                        self.rec.keep(Object::Buffer(&storage), true);
                        return storage.texel_view(self.device.formats.get(format).raw, offset, elements * texel);
                    }
                }
            }
        }
        if self.device.features.null_descriptor {
            return Ok(vk::BufferView::null());
        }
        let zeros = self.shared.placeholders.zeros(&self.device)?;
        self.rec.keep(Object::Buffer(&zeros), true);
        zeros.texel_view(vk::Format::R32G32B32A32_SFLOAT, 0, 16)
    }

    fn storage_image(&mut self, unit: u32, slot: &Slot) -> PipeResult<vk::DescriptorImageInfo> {
        let bound = self.image_units.get(unit as usize).cloned().unwrap_or_default();
        let ty = slot.opaque.unwrap_or(FALLBACK_TYPE);
        let image = bound.texture.as_ref().and_then(|texture| texture.image());
        if let Some((image, base_level, base_layer)) = image {
            let level = base_level + u32::from(bound.bound.level);
            let total = image.layers_or_slices(level);
            let layered = bound.bound.layered != 0;
            let layer = base_layer + if layered { 0 } else { bound.bound.layer };
            let usable =
                image.usage_flags.contains(vk::ImageUsageFlags::STORAGE) && level < image.levels && layer < total;
            if usable {
                let kind = crate::sampler::opaque_view_kind(&ty);
                let volume = image.kind == vk::ImageType::TYPE_3D;
                let (base, layers) = match kind {
                    vk::ImageViewType::TYPE_3D => (0, 1),
                    vk::ImageViewType::CUBE => (base_layer, 6.min(total - base_layer)),
                    vk::ImageViewType::CUBE_ARRAY
                    | vk::ImageViewType::TYPE_1D_ARRAY
                    | vk::ImageViewType::TYPE_2D_ARRAY => {
                        if layered {
                            (base_layer, total - base_layer)
                        } else {
                            (layer, 1)
                        }
                    }
                    _ => (layer, 1),
                };
                let single_slice = volume && kind != vk::ImageViewType::TYPE_3D;
                if !single_slice || self.device.ext.view_2d_of_3d {
                    let format = match Format(bound.bound.format) {
                        Format::NONE => image.format,
                        format => format,
                    };
                    let view = image.view(ViewKey {
                        kind,
                        format,
                        aspects: vk::ImageAspectFlags::COLOR,
                        base_level: level,
                        levels: 1,
                        base_layer: base,
                        layers,
                        swizzle: swizzle::IDENTITY,
                        usage: vk::ImageUsageFlags::STORAGE,
                    })?;
                    self.rec.keep(Object::Image(&image), true);
                    return Ok(vk::DescriptorImageInfo {
                        sampler: vk::Sampler::null(),
                        image_view: view,
                        image_layout: vk::ImageLayout::GENERAL,
                    });
                }
            }
        }
        if !self.device.features.null_descriptor {
            self.warn_once(3, "an image unit is empty and the device has no null descriptors");
        }
        Ok(vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view: vk::ImageView::null(),
            image_layout: vk::ImageLayout::GENERAL,
        })
    }
}

/// Type of a sampler whose reflection has none.
const FALLBACK_TYPE: OpaqueType = OpaqueType {
    dim: mgpipe_types::reflection::OpaqueDim::D2,
    arrayed: false,
    multisampled: false,
    shadow: false,
    base: OpaqueBase::Float,
    image_format: 0,
    readable: true,
    writable: true,
};

/// Whether a view's target can be sampled under a shader's type.
fn target_fits(target: mgpipe_types::Target, ty: &OpaqueType) -> bool {
    use mgpipe_types::reflection::OpaqueDim as D;
    use mgpipe_types::Target as T;
    match target {
        T::Tex1D => ty.dim == D::D1 && !ty.arrayed,
        T::Tex1DArray => ty.dim == D::D1 && ty.arrayed,
        T::Tex2D => matches!(ty.dim, D::D2 | D::Rect) && !ty.arrayed && !ty.multisampled,
        T::TexRect => matches!(ty.dim, D::D2 | D::Rect) && !ty.arrayed && !ty.multisampled,
        T::Tex2DArray => ty.dim == D::D2 && ty.arrayed && !ty.multisampled,
        T::Tex3D => ty.dim == D::D3,
        T::TexCube => ty.dim == D::Cube && !ty.arrayed,
        T::TexCubeArray => ty.dim == D::Cube && ty.arrayed,
        T::Tex2DMs => ty.dim == D::D2 && ty.multisampled && !ty.arrayed,
        T::Tex2DMsArray => ty.dim == D::D2 && ty.multisampled && ty.arrayed,
        T::Buffer | T::TexBuffer | T::Renderbuffer => false,
    }
}

/// Whether a format's components can be read under a shader's type.
fn base_fits(format: Format, params: &mgpipe_types::TextureParams, ty: &OpaqueType) -> bool {
    let stencil = match format.desc().kind {
        FormatKind::Stencil => true,
        FormatKind::DepthStencil => params.depth_stencil_mode == mgpipe_types::depth_stencil_mode::STENCIL,
        _ => false,
    };
    if ty.shadow {
        return format.has_depth() && !stencil;
    }
    match (format.desc().kind, ty.base) {
        _ if stencil => ty.base == OpaqueBase::Uint,
        (FormatKind::Uint, base) => base == OpaqueBase::Uint,
        (FormatKind::Sint, base) => base == OpaqueBase::Int,
        (_, base) => base == OpaqueBase::Float,
    }
}
