//! Copies between resources, and mipmap levels.

use crate::context::EsprytContext;
use crate::framebuffer::Resolved;
use crate::gles::{named, Gles};
use crate::resource::buffer::Buffer;
use crate::resource::texture::{bind_scratch, Image, View};
use crate::upload::Area;
use glow::HasContext;
use mgpipe_types::*;
use std::sync::Arc;

const MAP_READ: u32 = 1;

/// An image, a level and where a box begins there.
type Place<'a> = (&'a Arc<Image>, u32, [i32; 3]);

impl EsprytContext {
    /// Copies between resources.
    pub(crate) fn copy_region(&mut self, copy: &CopyRegion) -> PipeResult<()> {
        let kinds =
            (ResourceHandle::from_parts(copy.src_kind, copy.src), ResourceHandle::from_parts(copy.dst_kind, copy.dst));
        match kinds {
            (Some(ResourceHandle::Buffer(src)), Some(ResourceHandle::Buffer(dst))) => {
                let (src, dst) = (self.buffer(src.0)?, self.buffer(dst.0)?);
                self.copy_buffers(copy, &src, &dst)
            }
            (Some(src), Some(dst)) => self.copy_images(copy, src, dst),
            _ => Err(PipeError::Protocol("unknown storage class".into())),
        }
    }

    fn copy_buffers(&mut self, copy: &CopyRegion, src: &Buffer, dst: &Buffer) -> PipeResult<()> {
        let (src_offset, size) = copy.src_box.buffer_range();
        let dst_offset = u64::from(copy.dst_x as u32) | u64::from(copy.dst_y as u32) << 32;
        let fits = |offset: u64, size_of: u64| offset.checked_add(size).is_some_and(|end| end <= size_of);
        if size == 0 {
            return Ok(());
        }
        if !fits(src_offset, src.size()) || !fits(dst_offset, dst.size()) {
            return Err(PipeError::Protocol("a copy reaches beyond its buffers".into()));
        }
        let gles = self.gles();
        let (from, to) = (src.name(gles)?, dst.name(gles)?);
        // SAFETY: the context is current; both ranges lie within their buffers and do not overlap (the client's check).
        unsafe {
            gles.gl.bind_buffer(gl::COPY_READ_BUFFER, named!(NativeBuffer, from));
            gles.gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, to));
            gles.gl.copy_buffer_sub_data(
                gl::COPY_READ_BUFFER,
                gl::COPY_WRITE_BUFFER,
                src_offset as i32,
                dst_offset as i32,
                size as i32,
            );
        }
        Ok(())
    }

    fn copy_images(&mut self, copy: &CopyRegion, src: ResourceHandle, dst: ResourceHandle) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let lookup = |resource| -> PipeResult<(Arc<Image>, Target)> {
            let missing = || PipeError::BadHandle("a copy names no image".into());
            let texture = shared.texture(resource).ok_or_else(missing)?;
            Ok((texture.image(gles, &shared.grave)?.ok_or_else(missing)?, texture.target()))
        };
        let ((src_image, src_target), (dst_image, dst_target)) = (lookup(src)?, lookup(dst)?);
        self.shadow.forget_active_unit();
        let (src_level, dst_level) = (u32::from(copy.src_level), u32::from(copy.dst_level));
        if src_level >= src_image.levels || dst_level >= dst_image.levels {
            return Err(PipeError::Protocol("a copy names no level".into()));
        }
        let Some(from) = Area::new(&src_image, src_target, src_level, &copy.src_box) else { return Ok(()) };
        let (from_desc, to_desc) = (src_image.format.desc(), dst_image.format.desc());
        // Sizes in the destination's texels, when only one of the two is compressed.
        let scale = |size: i32, from: u32, to: u32| ((size as u32).div_ceil(from.max(1)) * to.max(1)).max(1);
        let dst_box = Box3 {
            x: copy.dst_x,
            y: copy.dst_y,
            z: copy.dst_z,
            width: scale(from.width, from_desc.block_width, to_desc.block_width),
            height: scale(from.height, from_desc.block_height, to_desc.block_height),
            depth: from.depth as u32,
        };
        let dst_box = if dst_target == Target::Tex1DArray {
            let layer = if src_target == Target::Tex1DArray { copy.dst_y } else { copy.dst_z };
            Box3 { y: layer, height: from.depth as u32, depth: 1, ..dst_box }
        } else {
            dst_box
        };
        let Some(to) = Area::new(&dst_image, dst_target, dst_level, &dst_box) else { return Ok(()) };
        let extent = [from.width as u32, from.height as u32, from.depth.min(to.depth) as u32];
        self.copy_texels(
            (&src_image, src_level, [from.x, from.y, from.z]),
            (&dst_image, dst_level, [to.x, to.y, to.z]),
            extent,
        )
    }

    /// Copies texels without conversion; the boxes lie within their levels.
    pub(crate) fn copy_texels(&mut self, src: Place<'_>, dst: Place<'_>, extent: [u32; 3]) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let [width, height, depth] = extent.map(|size| size as i32);
        if gles.has.copy_image {
            gles.before_trial("an image copy");
            // SAFETY: the context is current; the boxes lie within their levels.
            unsafe {
                gles.ext.copy_image(
                    src.0.name,
                    src.0.target,
                    src.1 as i32,
                    src.2[0],
                    src.2[1],
                    src.2[2],
                    dst.0.name,
                    dst.0.target,
                    dst.1 as i32,
                    dst.2[0],
                    dst.2[1],
                    dst.2[2],
                    width,
                    height,
                    depth,
                );
            }
            if gles.drain_errors().is_none() {
                return Ok(());
            }
        }
        // Through framebuffers: the same format, which is an attachment.
        if src.0.format != dst.0.format || src.0.format.desc().is_compressed() {
            return Err(PipeError::Unsupported(format!("a copy from {:?} to {:?}", src.0.format, dst.0.format)));
        }
        let end = |place: &Place<'_>, layer: i32| Resolved {
            image: place.0.clone(),
            level: place.1,
            layer: (place.2[2] + layer) as u32,
            layered: false,
        };
        for layer in 0..depth {
            if !self.bind_single(gl::READ_FRAMEBUFFER, &end(&src, layer))?
                || !self.bind_single(gl::DRAW_FRAMEBUFFER, &end(&dst, layer))?
            {
                return Err(PipeError::Unsupported(format!("a copy of {:?}", src.0.format)));
            }
            self.set_scissor(None);
            self.set_srgb(false);
            let mask = blit_mask(src.0.format);
            // SAFETY: the context is current; both framebuffers are complete.
            unsafe {
                gles.gl.blit_framebuffer(
                    src.2[0],
                    src.2[1],
                    src.2[0] + width,
                    src.2[1] + height,
                    dst.2[0],
                    dst.2[1],
                    dst.2[0] + width,
                    dst.2[1] + height,
                    mask,
                    gl::NEAREST,
                );
            }
        }
        Ok(())
    }

    /// Filters the base level down.
    pub(crate) fn generate_mipmaps(&mut self, plan: &MipPlan) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let texture =
            shared.textures.get(TextureHandle(plan.res)).map_err(|error| PipeError::BadHandle(error.to_string()))?;
        let Some(image) = texture.image(gles, &shared.grave)? else { return Ok(()) };
        let (base, last) = (u32::from(plan.base_level), u32::from(plan.last_level).min(image.levels - 1));
        if base >= last {
            return Ok(());
        }
        let is_part = base != 0 || last + 1 != image.levels;
        // Blits do not filter between the slices of a volume.
        let blits = is_part && !gles.has.partial_mipmaps && image.target != gl::TEXTURE_3D;
        if blits && self.filter_levels(&image, base, last).is_ok() {
            shared.callbacks.mip_levels_generated(TextureHandle(plan.res), base + 1, last);
            return Ok(());
        }
        // Drivers have been seen to touch levels outside of a part: a view shows them nothing else.
        let part = if is_part { levels_of(gles, &image, base, last) } else { None };
        let whole = part.as_ref().unwrap_or(&image);
        bind_scratch(gles, whole);
        self.shadow.forget_active_unit();
        texture.state.lock().applied = None;
        gles.before_trial("mipmaps");
        // SAFETY: the context is current and the image is bound to its target.
        unsafe {
            let first = if part.is_some() { 0 } else { base };
            gles.gl.tex_parameter_i32(image.target, gl::TEXTURE_BASE_LEVEL, first as i32);
            gles.gl.tex_parameter_i32(image.target, gl::TEXTURE_MAX_LEVEL, (first + last - base) as i32);
            gles.gl.generate_mipmap(image.target);
        }
        let refused = gles.drain_errors().is_some();
        self.dirty |= crate::context::dirty::SAMPLERS;
        if refused {
            self.filter_levels(&image, base, last)?;
        }
        shared.callbacks.mip_levels_generated(TextureHandle(plan.res), base + 1, last);
        Ok(())
    }

    /// Levels of a format that the driver does not filter itself: blits of each layer.
    fn filter_levels(&mut self, image: &Arc<Image>, base: u32, last: u32) -> PipeResult<()> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        for level in base + 1..=last {
            let (from, to) = (image.extent(level - 1), image.extent(level));
            for layer in 0..to[2] {
                let end = |level, layer| Resolved { image: image.clone(), level, layer, layered: false };
                let source = if image.target == gl::TEXTURE_3D { (layer * 2).min(from[2] - 1) } else { layer };
                if !self.bind_single(gl::READ_FRAMEBUFFER, &end(level - 1, source))?
                    || !self.bind_single(gl::DRAW_FRAMEBUFFER, &end(level, layer))?
                {
                    return Err(PipeError::Unsupported(format!("mipmaps of {:?}", image.format)));
                }
                self.set_scissor(None);
                self.set_srgb(image.format.desc().srgb);
                let filter = if image.format.is_integer() { gl::NEAREST } else { gl::LINEAR };
                // SAFETY: the context is current; both framebuffers are complete.
                unsafe {
                    gles.gl.blit_framebuffer(
                        0,
                        0,
                        from[0] as i32,
                        from[1] as i32,
                        0,
                        0,
                        to[0] as i32,
                        to[1] as i32,
                        blit_mask(image.format),
                        filter,
                    );
                }
            }
        }
        Ok(())
    }

    /// Reads bytes of a buffer after everything before.
    pub(crate) fn read_buffer(&mut self, readback: &BufferReadback, out: &mut [u8]) -> PipeResult<()> {
        let buffer = self.buffer(readback.res)?;
        self.read_range(&buffer, readback.offset, out)
    }

    /// Reads a range through a mapping; what lies outside of the buffer stays as it is.
    pub(crate) fn read_range(&mut self, buffer: &Buffer, offset: u64, out: &mut [u8]) -> PipeResult<()> {
        let room = buffer.size().saturating_sub(offset);
        let length = out.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        if length == 0 {
            return Ok(());
        }
        let gles = self.gles();
        let name = buffer.name(gles)?;
        if buffer.copy_mapped(gles, offset, &mut out[..length]) {
            return Ok(());
        }
        // SAFETY: the context is current; the mapping covers `length` bytes until it is ended, and `out` is distinct.
        unsafe {
            gles.gl.bind_buffer(gl::COPY_READ_BUFFER, named!(NativeBuffer, name));
            let mapped = gles.gl.map_buffer_range(gl::COPY_READ_BUFFER, offset as i32, length as i32, MAP_READ);
            if mapped.is_null() {
                gles.drain_errors();
                return Err(PipeError::OutOfMemory("a buffer cannot be read".into()));
            }
            std::ptr::copy_nonoverlapping(mapped, out.as_mut_ptr(), length);
            gles.gl.unmap_buffer(gl::COPY_READ_BUFFER);
        }
        Ok(())
    }
}

/// A view of some levels; `None` where the driver has no views.
fn levels_of(gles: &Gles, image: &Arc<Image>, base: u32, last: u32) -> Option<Arc<Image>> {
    let layers = if image.target == gl::TEXTURE_3D { 1 } else { image.depth };
    let levels = last - base + 1;
    let view = View { target: image.target, format: image.format, min_level: base, levels, min_layer: 0, layers };
    image.view(gles, &view).map(Arc::new)
}

/// Buffers that a blit of a format copies.
pub(crate) fn blit_mask(format: Format) -> u32 {
    let mut mask = 0;
    if format.has_depth() {
        mask |= gl::DEPTH_BUFFER_BIT;
    }
    if format.has_stencil() {
        mask |= gl::STENCIL_BUFFER_BIT;
    }
    if mask == 0 {
        gl::COLOR_BUFFER_BIT
    } else {
        mask
    }
}
