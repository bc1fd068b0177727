//! Resources as this side knows them: how they were declared last, and the contents that it gave them.

use super::bytes::{Block, Budget, Ranges};
use super::image::Image;
use mgpipe_types::{
    Box3, CopyRegion, Handle, Kind, MipPlan, RenderbufferStorage, ResourceDesc, SubData, SubRegion, Target,
    TextureParams,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A resource of any storage class: a [`Kind`] value and the handle.
pub(super) type Key = (u8, Handle);

/// Contents that were uploaded.
#[derive(Default)]
pub(super) enum Contents {
    #[default]
    None,
    Buffer(Block, Ranges),
    Image(Image),
}

/// One resource.
#[derive(Default)]
pub(super) struct Resource {
    /// The last specification, once there was one.
    pub(super) desc: Option<ResourceDesc>,
    pub(super) storage: Option<RenderbufferStorage>,
    pub(super) params: Option<TextureParams>,
    pub(super) contents: Contents,
    /// Levels that the device derives from others, by their base.
    pub(super) derived: Vec<MipPlan>,
    /// The device wrote into it, or may have.
    pub(super) written: bool,
    /// Contents were given up: the budget did not suffice, or an upload could not be understood.
    pub(super) incomplete: bool,
    /// Views and buffer textures that live on this storage.
    dependents: u32,
    /// Destroyed, and kept for its dependents.
    pub(super) doomed: bool,
}

/// Kind of the resource that a specification describes.
fn kind_of(desc: &ResourceDesc) -> Kind {
    match Target::from_u8(desc.target) {
        Some(Target::Buffer) => Kind::Buffer,
        Some(Target::Renderbuffer) => Kind::Renderbuffer,
        _ => Kind::Texture,
    }
}

impl Resource {
    /// The storage that it lives on, when that is another resource's.
    pub(super) fn owner(&self) -> Option<Key> {
        let desc = self.desc.as_ref()?;
        if !desc.view_of.is_null() {
            Some((Kind::Texture as u8, desc.view_of))
        } else if !desc.buffer.is_null() {
            Some((Kind::Buffer as u8, desc.buffer))
        } else {
            None
        }
    }

    fn is_view(&self) -> bool {
        self.desc.as_ref().is_some_and(|desc| !desc.view_of.is_null())
    }

    /// Forgets contents, since what replaces them could not be kept.
    fn give_up(&mut self) {
        self.contents = Contents::None;
        self.derived.clear();
        self.incomplete = true;
    }
}

/// All resources of a screen.
pub(super) struct Resources {
    pub(super) table: BTreeMap<Key, Resource>,
    budget: Arc<Budget>,
}

impl Resources {
    pub(super) fn new(budget: Arc<Budget>) -> Resources {
        Resources { table: BTreeMap::new(), budget }
    }

    pub(super) fn specify(&mut self, desc: &ResourceDesc) {
        let key = (kind_of(desc) as u8, desc.handle);
        let resource = self.table.entry(key).or_default();
        let before = resource.owner();
        let keeps = desc.has_defined_content != 0;
        if key.0 == Kind::Buffer as u8 {
            let kept = match std::mem::take(&mut resource.contents) {
                Contents::Buffer(block, ranges) if keeps => Some((block, ranges)),
                _ => None,
            };
            if let Some((old, ranges)) = kept {
                let size = usize::try_from(desc.buffer_size).unwrap_or(usize::MAX).min(old.bytes().len());
                match Block::new(desc.buffer_size, &self.budget) {
                    Some(mut block) => {
                        let mut known = Ranges::default();
                        ranges.iter().for_each(|range| known.add(range.start.min(size)..range.end.min(size)));
                        block.write(0, &old.bytes()[..size]);
                        resource.contents = Contents::Buffer(block, known);
                    }
                    None => resource.incomplete = true,
                }
            }
        } else if key.0 == Kind::Texture as u8 {
            if !matches!(resource.contents, Contents::Image(_)) {
                resource.contents = Contents::Image(Image::default());
            }
            if let Contents::Image(image) = &mut resource.contents {
                image.specify(desc);
            }
            if !keeps {
                resource.derived.clear();
            }
            resource.derived.retain(|plan| plan.last_level < desc.levels);
        }
        if !keeps {
            resource.written = false;
            resource.incomplete = false;
        }
        resource.desc = Some(*desc);
        let after = resource.owner();
        if before != after {
            self.hold(after);
            self.release(before);
        }
    }

    fn hold(&mut self, owner: Option<Key>) {
        if let Some(resource) = owner.and_then(|owner| self.table.get_mut(&owner)) {
            resource.dependents += 1;
        }
    }

    fn release(&mut self, owner: Option<Key>) {
        let Some(key) = owner else { return };
        let Some(resource) = self.table.get_mut(&key) else { return };
        resource.dependents = resource.dependents.saturating_sub(1);
        if resource.doomed && resource.dependents == 0 {
            self.table.remove(&key);
        }
    }

    pub(super) fn storage(&mut self, storage: &RenderbufferStorage) {
        let resource = self.table.entry((Kind::Renderbuffer as u8, storage.res)).or_default();
        resource.storage = Some(*storage);
        resource.written = false;
    }

    pub(super) fn destroy(&mut self, key: Key) {
        let Some(resource) = self.table.get_mut(&key) else { return };
        if resource.dependents > 0 {
            resource.doomed = true;
            return;
        }
        let owner = resource.owner();
        self.table.remove(&key);
        self.release(owner);
    }

    pub(super) fn set_params(&mut self, params: &TextureParams) {
        if let Some(resource) = self.table.get_mut(&(Kind::Texture as u8, params.res)) {
            resource.params = Some(*params);
        }
    }

    /// The device writes, or may write, into a resource.
    pub(super) fn written(&mut self, key: Key) {
        let Some(resource) = self.table.get_mut(&key) else { return };
        resource.written = true;
        let owner = resource.owner();
        if let Some(owner) = owner.and_then(|owner| self.table.get_mut(&owner)) {
            owner.written = true;
        }
    }

    /// Keeps an upload; false when it cannot be kept.
    pub(super) fn upload(&mut self, data: &SubData, regions: &[SubRegion], bytes: &[u8]) -> bool {
        if data.target == Target::Buffer as u16 {
            return self.upload_buffer(data.res, data.union_box.buffer_range().0, bytes);
        }
        let start = usize::try_from(data.blob.offset).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(start..) else { return false };
        let key = (Kind::Texture as u8, data.res);
        let Some((owner, level, layer)) = self.storage_of(key) else { return false };
        let budget = self.budget.clone();
        let Some(resource) = self.table.get_mut(&owner) else { return false };
        let rows_are_layers = resource.desc.is_some_and(|desc| desc.target == Target::Tex1DArray as u8);
        let Contents::Image(image) = &mut resource.contents else { return false };
        let kept = regions.iter().all(|region| {
            let mut region = *region;
            if rows_are_layers {
                region.y = region.y.saturating_add(layer);
            } else {
                region.z = region.z.saturating_add(layer);
            }
            image.upload(data.level.saturating_add(level), &region, bytes, &budget)
        });
        if !kept {
            resource.give_up();
            resource.contents = Contents::Image(Image::default());
            if let (Contents::Image(image), Some(desc)) = (&mut resource.contents, &resource.desc) {
                image.specify(desc);
            }
        }
        kept
    }

    /// The resource that has the texels of another, and the level and layer where they begin.
    fn storage_of(&self, key: Key) -> Option<(Key, u16, i32)> {
        let resource = self.table.get(&key)?;
        if !resource.is_view() {
            return Some((key, 0, 0));
        }
        let desc = resource.desc.as_ref()?;
        let (level, layer) = (desc.buffer_offset as u32, (desc.buffer_offset >> 32) as u32);
        Some((resource.owner()?, u16::try_from(level).ok()?, i32::try_from(layer).ok()?))
    }

    /// Bytes of a buffer; false when they cannot be kept.
    pub(super) fn upload_buffer(&mut self, buffer: Handle, offset: u64, bytes: &[u8]) -> bool {
        let budget = &self.budget;
        let Some(resource) = self.table.get_mut(&(Kind::Buffer as u8, buffer)) else { return false };
        let Some(desc) = &resource.desc else { return false };
        let (size, start) = (desc.buffer_size, usize::try_from(offset).unwrap_or(usize::MAX));
        if !matches!(resource.contents, Contents::Buffer(..)) {
            match Block::new(size, budget) {
                Some(block) => resource.contents = Contents::Buffer(block, Ranges::default()),
                None => {
                    resource.incomplete = true;
                    return false;
                }
            }
        }
        let Contents::Buffer(block, ranges) = &mut resource.contents else { return false };
        if !block.write(start, bytes) {
            return false;
        }
        ranges.add(start..start + bytes.len());
        if bytes.len() as u64 == size {
            (resource.written, resource.incomplete) = (false, false);
        }
        true
    }

    /// Does a copy on what is kept, or notes that the destination is the device's.
    pub(super) fn copy(&mut self, copy: &CopyRegion) {
        let (from, to) = ((copy.src_kind, copy.src), (copy.dst_kind, copy.dst));
        let buffers = (Kind::Buffer as u8, Kind::Buffer as u8) == (copy.src_kind, copy.dst_kind);
        let written = self.table.get(&from).is_none_or(|resource| resource.written || resource.incomplete);
        let done = if buffers { self.copy_buffer(copy) } else { self.copy_image(copy) };
        if !done || written {
            self.written(to);
        }
    }

    fn copy_buffer(&mut self, copy: &CopyRegion) -> bool {
        let (start, size) = copy.src_box.buffer_range();
        let offset = u64::from(copy.dst_x as u32) | u64::from(copy.dst_y as u32) << 32;
        let range = usize::try_from(start).ok().zip(start.checked_add(size).and_then(|end| usize::try_from(end).ok()));
        let Some((start, end)) = range else { return false };
        if copy.src == copy.dst {
            let resource = self.table.get_mut(&(Kind::Buffer as u8, copy.src));
            let Some(Contents::Buffer(block, ranges)) = resource.map(|resource| &mut resource.contents) else {
                return false;
            };
            let to = usize::try_from(offset).unwrap_or(usize::MAX);
            let done = block.copy_within(start..end, to);
            if done {
                ranges.add(to..to + (end - start));
            }
            return done;
        }
        // The source is taken out, so that both can be used at once.
        let key = (Kind::Buffer as u8, copy.src);
        let Some(source) = self.table.get_mut(&key).map(|resource| std::mem::take(&mut resource.contents)) else {
            return false;
        };
        let done = match &source {
            Contents::Buffer(block, _) => {
                block.bytes().get(start..end).is_some_and(|bytes| self.upload_buffer(copy.dst, offset, bytes))
            }
            _ => false,
        };
        if let Some(resource) = self.table.get_mut(&key) {
            resource.contents = source;
        }
        done
    }

    fn copy_image(&mut self, copy: &CopyRegion) -> bool {
        let texture = Kind::Texture as u8;
        if copy.src_kind != texture || copy.dst_kind != texture {
            return false;
        }
        let Some((from, from_level, from_layer)) = self.storage_of((texture, copy.src)) else { return false };
        let Some((to, to_level, to_layer)) = self.storage_of((texture, copy.dst)) else { return false };
        let is_1d = |key: &Key| {
            let desc = self.table.get(key).and_then(|resource| resource.desc);
            desc.is_none_or(|desc| matches!(Target::from_u8(desc.target), Some(Target::Tex1D | Target::Tex1DArray)))
        };
        // What is a row here and a layer there is left to the device.
        if is_1d(&from) || is_1d(&to) {
            return false;
        }
        let image = |key: &Key| match self.table.get(key).map(|resource| &resource.contents) {
            Some(Contents::Image(image)) => Some(image),
            _ => None,
        };
        let (Some(source), Some(target)) = (image(&from), image(&to)) else { return false };
        if source.block_of() != target.block_of() {
            return false;
        }
        let area = Box3 { z: copy.src_box.z.saturating_add(from_layer), ..copy.src_box };
        let Some(bytes) = source.read(copy.src_level.saturating_add(from_level), &area) else { return false };
        let region = SubRegion {
            x: copy.dst_x,
            y: copy.dst_y,
            z: copy.dst_z.saturating_add(to_layer),
            width: area.width,
            height: area.height,
            depth: area.depth,
            ..SubRegion::default()
        };
        let budget = self.budget.clone();
        match self.table.get_mut(&to).map(|resource| &mut resource.contents) {
            Some(Contents::Image(image)) => {
                image.upload(copy.dst_level.saturating_add(to_level), &region, &bytes, &budget)
            }
            _ => false,
        }
    }

    /// The device fills levels from another one; false when that cannot be done again.
    pub(super) fn derive(&mut self, plan: &MipPlan) -> bool {
        let key = (Kind::Texture as u8, plan.res);
        match self.table.get_mut(&key) {
            Some(resource) if !resource.is_view() => {
                if let Contents::Image(image) = &mut resource.contents {
                    image.derive(plan.base_level.saturating_add(1), plan.last_level);
                }
                let covers = |old: &MipPlan| plan.base_level <= old.base_level && old.last_level <= plan.last_level;
                resource.derived.retain(|old| !covers(old));
                resource.derived.push(*plan);
                resource.derived.sort_by_key(|plan| plan.base_level);
                true
            }
            Some(_) => {
                self.written(key);
                false
            }
            None => false,
        }
    }
}
