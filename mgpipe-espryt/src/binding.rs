//! Textures, samplers and uniform buffers of the program.

use crate::context::{dirty, EsprytContext, Unit};
use crate::format::transfer;
use crate::gles::Gles;
use crate::program::SamplerSlot;
use crate::resource::texture::{bind_scratch, buffer_image, Image, Storage, Texture};
use crate::ring::Slice;
use crate::shadow::{BoundRange, UNITS};
use mgpipe_types::reflection::OpaqueDim;
use mgpipe_types::{gl, BufferHandle, Format, PipeResult, ResourceDesc, Target, WHOLE_BUFFER};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// The driver's target of a sampler without a texture.
fn target_of(opaque: Option<mgpipe_types::reflection::OpaqueType>) -> u32 {
    let Some(o) = opaque else { return gl::TEXTURE_2D };
    match (o.dim, o.arrayed, o.multisampled) {
        (OpaqueDim::D3, ..) => gl::TEXTURE_3D,
        (OpaqueDim::Cube, false, _) => gl::TEXTURE_CUBE_MAP,
        (OpaqueDim::Cube, true, _) => gl::TEXTURE_CUBE_MAP_ARRAY,
        (OpaqueDim::Buffer, ..) => gl::TEXTURE_BUFFER,
        (_, false, true) => gl::TEXTURE_2D_MULTISAMPLE,
        (_, true, true) => gl::TEXTURE_2D_MULTISAMPLE_ARRAY,
        (_, true, false) => gl::TEXTURE_2D_ARRAY,
        _ => gl::TEXTURE_2D,
    }
}

impl EsprytContext {
    /// Brings textures, samplers, uniform buffers and the default block in line.
    pub(crate) fn apply_bindings(&mut self) -> PipeResult<()> {
        if self.dirty & dirty::SAMPLERS != 0 {
            self.apply_samplers()?;
            self.dirty &= !dirty::SAMPLERS;
        }
        if self.dirty & dirty::UNIFORMS != 0 {
            self.apply_uniforms()?;
            self.dirty &= !dirty::UNIFORMS;
        }
        // Chunks of the ring before this one may be taken for other things once this draw is with the driver.
        if self.dirty & dirty::CONSTANTS != 0 || self.constants_generation != self.ring.generation {
            self.apply_constants()?;
            self.constants_generation = self.ring.generation;
            self.dirty &= !dirty::CONSTANTS;
        }
        Ok(())
    }

    fn apply_samplers(&mut self) -> PipeResult<()> {
        let Some(bound) = &self.program else { return Ok(()) };
        let (program, bindings) = (bound.program.clone(), bound.bindings.clone());
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let biased = bound.variant.lod_bias;
        let mut biases = [0.0f32; UNITS];
        let units = std::mem::take(&mut self.units);
        let unbound = Unit::default();
        let result = program.samplers.iter().try_for_each(|slot| {
            let unit = bindings.samplers.get(slot.index as usize).and_then(|unit| units.get(*unit as usize));
            let bias = self.apply_sampler(gles, slot, unit.unwrap_or(&unbound))?;
            if let Some(place) = biases.get_mut(slot.native as usize) {
                *place = bias;
            }
            Ok(())
        });
        self.units = units;
        result?;
        if let (Some(native), true) = (self.program.as_ref().and_then(|b| b.native.as_ref()), biased) {
            native.set_biases(gles, &biases[..(program.units() as usize).min(UNITS)]);
        }
        Ok(())
    }

    /// Binds what a unit of the client has to the unit of a sampler; the sampler's bias.
    fn apply_sampler(&mut self, gles: &Gles, slot: &SamplerSlot, unit: &Unit) -> PipeResult<f32> {
        let mut image = None;
        if let (Some(texture), Some(view)) = (&unit.texture, &unit.view) {
            let base = match texture.ready() {
                Some(image) => Some(image),
                None if texture.target() == Target::TexBuffer => self.texel_image(texture)?,
                None => {
                    if texture.waits_for_storage() {
                        self.shadow.forget_active_unit();
                    }
                    texture.image(gles, &self.shared.grave)?
                }
            };
            image = base.map(|base| (view.image(gles, base), texture));
        }
        let Some((image, texture)) = image else {
            self.shadow.bind_texture(gles, slot.native, 0, target_of(slot.opaque), 0);
            self.shadow.bind_sampler(gles, slot.native, 0, 0);
            return Ok(0.0);
        };
        self.shadow.bind_texture(gles, slot.native, image.serial, image.target, image.name);
        if !texture.has_params(&image) {
            self.shadow.activate_for(gles, slot.native);
            texture.sync_params(gles, &image);
        }
        let filtered = image.samples <= 1 && image.target != gl::TEXTURE_BUFFER;
        match unit.sampler.as_ref().filter(|_| filtered) {
            Some(sampler) => {
                self.shadow.bind_sampler(gles, slot.native, sampler.serial, sampler.name(gles)?);
                Ok(sampler.bias())
            }
            None => {
                self.shadow.bind_sampler(gles, slot.native, 0, 0);
                Ok(0.0)
            }
        }
    }

    /// The image of a buffer texture, made anew when its buffer has other storage.
    fn texel_image(&mut self, texture: &Arc<Texture>) -> PipeResult<Option<Arc<Image>>> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let (desc, old) = match &texture.state.lock().storage {
            Storage::Buffer { desc, image } => (*desc, image.clone()),
            _ => return Ok(None),
        };
        let Ok(buffer) = shared.buffers.get(BufferHandle(desc.buffer)) else { return Ok(None) };
        let format = Format(desc.format);
        let (Some(transfer), true) = (transfer(format), gles.has.texture_buffer) else { return Ok(None) };
        let size = buffer.size();
        let Some((offset, length)) = texel_range(&desc, size) else { return Ok(None) };
        // What the image was made of: the buffer and how much of it.
        let stamp = buffer.serial() ^ length << 24 ^ offset << 40;
        if let Some((image, made)) = old {
            if made == stamp {
                return Ok(Some(image));
            }
        }
        let name = buffer.name(gles)?;
        let texels = length / u64::from(format.desc().block_bytes.max(1));
        let image = Arc::new(buffer_image(gles, &shared.grave, format, u32::try_from(texels).unwrap_or(u32::MAX))?);
        bind_scratch(gles, &image);
        self.shadow.forget_active_unit();
        // SAFETY: the context is current; the range lies within the buffer.
        unsafe {
            gles.ext.tex_buffer_range(gl::TEXTURE_BUFFER, transfer.internal, name, offset as isize, length as isize);
        }
        if let Storage::Buffer { image: slot, .. } = &mut texture.state.lock().storage {
            *slot = Some((image.clone(), stamp));
        }
        Ok(Some(image))
    }

    fn apply_uniforms(&mut self) -> PipeResult<()> {
        let Some(bound) = &self.program else { return Ok(()) };
        let (program, bindings) = (bound.program.clone(), bound.bindings.clone());
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        for slot in &program.blocks {
            let point = bindings.uniform_blocks.get(slot.index as usize).copied().unwrap_or(0);
            let range = match self.uniform_buffers.get(point as usize) {
                Some(bound) => match &bound.buffer {
                    Some(buffer) => {
                        let room = buffer.size().saturating_sub(bound.range.offset);
                        let size = if bound.range.size == WHOLE_BUFFER { room } else { bound.range.size.min(room) };
                        let most = u64::from(self.device.caps.caps.max_uniform_range);
                        let size = size.min(most);
                        let name = if size == 0 { 0 } else { buffer.name(gles)? };
                        BoundRange { serial: buffer.serial(), name, offset: bound.range.offset, size }
                    }
                    None => BoundRange::default(),
                },
                None => BoundRange::default(),
            };
            let _ = slot.size;
            self.shadow.bind_block(gles, slot.native, range);
        }
        Ok(())
    }

    /// Sends the default block's bytes through the ring.
    fn apply_constants(&mut self) -> PipeResult<()> {
        let Some(bound) = &self.program else { return Ok(()) };
        let Some((native, size)) = bound.program.default_block else { return Ok(()) };
        let program = bound.program.clone();
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let version = program.constants_version.load(Ordering::Acquire);
        let samples = program.num_samples_offset != u32::MAX;
        let known = bound
            .constants
            .filter(|(generation, v, _)| *generation == self.ring.generation && *v == version && !samples);
        let slice = match known {
            Some((_, _, slice)) => slice,
            None => {
                let align = self.device.caps.caps.uniform_offset_alignment as usize;
                let stored = program.constants.lock();
                let total = (size as usize).max(stored.len()).next_multiple_of(16);
                let fill = |space: &mut [u8], samples_now: u32| {
                    let (front, rest) = space.split_at_mut(stored.len());
                    front.copy_from_slice(&stored);
                    rest.fill(0);
                    let at = program.num_samples_offset as usize;
                    if let Some(word) = space.get_mut(at..at.saturating_add(4)).filter(|_| samples) {
                        word.copy_from_slice(&samples_now.to_le_bytes());
                    }
                };
                let samples_now = u32::from(self.framebuffer.samples).max(1);
                let slice = match self.ring.space(gles, total, align)? {
                    Some((slice, space)) => {
                        fill(space, samples_now);
                        slice
                    }
                    None => {
                        self.staging.resize(total, 0);
                        fill(&mut self.staging, samples_now);
                        self.ring.write(gles, &self.staging, align)?
                    }
                };
                drop(stored);
                let generation = self.ring.generation;
                if let Some(bound) = &mut self.program {
                    bound.constants = Some((generation, version, slice));
                }
                slice
            }
        };
        self.bind_constants(gles, native, slice, size);
        Ok(())
    }

    fn bind_constants(&mut self, gles: &Gles, native: u32, slice: Slice, size: u32) {
        let size = u64::from(size).next_multiple_of(16);
        let range = BoundRange { serial: slice.serial, name: slice.buffer, offset: slice.offset as u64, size };
        self.shadow.bind_block(gles, native, range);
    }
}

/// Offset and length of a buffer texture in a buffer of so many bytes; `None`: nothing of it is there.
fn texel_range(desc: &ResourceDesc, size: u64) -> Option<(u64, u64)> {
    let room = size.checked_sub(desc.buffer_offset).filter(|room| *room > 0)?;
    let length =
        if desc.buffer_size == WHOLE_BUFFER || desc.buffer_size == 0 { room } else { desc.buffer_size.min(room) };
    Some((desc.buffer_offset, length))
}
