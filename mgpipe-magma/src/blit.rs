//! Blits, resolves and mipmap generation.

use crate::command::Object;
use crate::context::MagmaContext;
use crate::internal::{Component, InternalShader, InternalTarget, SourceDim, PUSH_BYTES};
use crate::resource::texture::{Image, ViewKey};
use crate::transfer::ImageArea;
use ash::vk;
use mgpipe_types::{
    aspect, gl, surface_flags, swizzle, Blit, Format, MipPlan, PipeError, PipeResult, Surface, TextureHandle,
};
use std::sync::Arc;

/// One end of a blit.
#[derive(Clone)]
struct End {
    image: Arc<Image>,
    format: Format,
    level: u32,
    layer: u32,
    width: i32,
    height: i32,
}

/// Rectangles of a blit, the destination's corners in ascending order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rects {
    src: [i32; 4],
    dst: [i32; 4],
    /// Part of the destination that is written: x, y, width, height.
    clip: [i32; 4],
}

impl Rects {
    fn new(blit: &Blit, dst_width: i32, dst_height: i32) -> Rects {
        let (s, d) = (blit.src_rect, blit.dst_rect);
        let (mut src, mut dst) = ([s.x0, s.y0, s.x1, s.y1], [d.x0, d.y0, d.x1, d.y1]);
        for axis in 0..2 {
            if dst[axis] > dst[axis + 2] {
                dst.swap(axis, axis + 2);
                src.swap(axis, axis + 2);
            }
        }
        let mut low = [dst[0].max(0), dst[1].max(0)];
        let mut high = [dst[2].min(dst_width), dst[3].min(dst_height)];
        if blit.scissor_enabled != 0 {
            let c = &blit.scissor;
            low = [low[0].max(c.x), low[1].max(c.y)];
            high = [high[0].min(c.x.saturating_add(c.width.max(0))), high[1].min(c.y.saturating_add(c.height.max(0)))];
        }
        let clip = [low[0], low[1], (high[0] - low[0]).max(0), (high[1] - low[1]).max(0)];
        Rects { src, dst, clip }
    }

    fn is_empty(&self) -> bool {
        self.clip[2] <= 0 || self.clip[3] <= 0 || self.src[0] == self.src[2] || self.src[1] == self.src[3]
    }

    /// Whether texels map one to one, unflipped.
    fn is_one_to_one(&self) -> bool {
        self.src[2] as i64 - self.src[0] as i64 == self.dst[2] as i64 - self.dst[0] as i64
            && self.src[3] as i64 - self.src[1] as i64 == self.dst[3] as i64 - self.dst[1] as i64
    }

    /// Source and destination offsets and extent of a one-to-one blit, cut to the source. `None`: nothing is left.
    fn one_to_one(&self, src_width: i32, src_height: i32) -> Option<(vk::Offset3D, vk::Offset3D, vk::Extent3D)> {
        let (dx, dy) = (self.src[0] - self.dst[0], self.src[1] - self.dst[1]);
        let x0 = self.clip[0].max(-dx);
        let y0 = self.clip[1].max(-dy);
        let x1 = (self.clip[0] + self.clip[2]).min(src_width - dx);
        let y1 = (self.clip[1] + self.clip[3]).min(src_height - dy);
        (x1 > x0 && y1 > y0).then(|| {
            (
                vk::Offset3D { x: x0 + dx, y: y0 + dy, z: 0 },
                vk::Offset3D { x: x0, y: y0, z: 0 },
                vk::Extent3D { width: (x1 - x0) as u32, height: (y1 - y0) as u32, depth: 1 },
            )
        })
    }
}

/// How a blit draws.
#[derive(Clone, Copy, Debug)]
struct Way {
    component: Component,
    aspect: vk::ImageAspectFlags,
    /// Colour components that are written.
    mask: u8,
    linear: bool,
    /// Stencil bits that are written, and what a shader without stencil export writes there.
    stencil: (u32, u32),
    /// Only texels with one of these stencil bits are written; 0: all.
    bits: i32,
}

/// Subresource of an end, with the z offset that a 3D image takes instead of a layer.
fn place(end: &End, aspects: vk::ImageAspectFlags) -> (vk::ImageSubresourceLayers, i32) {
    let volume = end.image.kind == vk::ImageType::TYPE_3D;
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: aspects,
        mip_level: end.level,
        base_array_layer: if volume { 0 } else { end.layer },
        layer_count: 1,
    };
    (layers, if volume { end.layer as i32 } else { 0 })
}

impl MagmaContext {
    /// Blits or resolves between surfaces.
    pub(crate) fn blit_surfaces(&mut self, blit: &Blit) -> PipeResult<()> {
        self.refresh();
        let src = self.blit_end(&blit.src)?;
        let dst = self.blit_end(&blit.dst)?;
        let rects = Rects::new(blit, dst.width, dst.height);
        if rects.is_empty() {
            return Ok(());
        }
        if blit.mask & aspect::COLOR != 0 {
            self.blit_color(blit, &src, &dst, &rects)?;
        }
        let mut aspects = vk::ImageAspectFlags::empty();
        if blit.mask & aspect::DEPTH != 0 {
            aspects |= vk::ImageAspectFlags::DEPTH;
        }
        if blit.mask & aspect::STENCIL != 0 {
            aspects |= vk::ImageAspectFlags::STENCIL;
        }
        let aspects = aspects & src.image.aspects & dst.image.aspects;
        if !aspects.is_empty() {
            self.blit_depth_stencil(&src, &dst, &rects, aspects)?;
        }
        Ok(())
    }

    fn blit_end(&self, surface: &Surface) -> PipeResult<End> {
        let (image, base_level, base_layer) = surface
            .resource()
            .and_then(|resource| self.shared.texture(resource))
            .and_then(|texture| texture.image())
            .ok_or_else(|| PipeError::BadHandle("a blit names no image".into()))?;
        let level = base_level + u32::from(surface.level);
        let layer = base_layer + surface.layer;
        if level >= image.levels || layer >= image.layers_or_slices(level) {
            return Err(PipeError::Protocol("a blit names no level or layer".into()));
        }
        let extent = image.level_extent(level);
        let format = match Format(surface.format) {
            Format::NONE => image.format,
            format => format,
        };
        Ok(End { image, format, level, layer, width: extent.width as i32, height: extent.height as i32 })
    }

    fn blit_color(&mut self, blit: &Blit, src: &End, dst: &End, rects: &Rects) -> PipeResult<()> {
        let color = vk::ImageAspectFlags::COLOR;
        if src.image.aspects != color || dst.image.aspects != color {
            return Ok(());
        }
        let plain_alpha =
            blit.dst.flags & surface_flags::ALPHA_IS_ONE == 0 || blit.src.flags & surface_flags::ALPHA_IS_ONE != 0;
        let same_format = src.format == dst.format && src.image.format == dst.image.format;
        let one_d = |end: &End| end.image.kind == vk::ImageType::TYPE_1D;
        if rects.is_one_to_one() && same_format && plain_alpha && one_d(src) == one_d(dst) {
            if src.image.samples == dst.image.samples {
                return self.copy_one_to_one(src, dst, rects, color);
            }
            let float = Component::of(src.format) == Component::Float && !src.format.desc().srgb;
            if float && dst.image.samples == vk::SampleCountFlags::TYPE_1 && !Arc::ptr_eq(&src.image, &dst.image) {
                let Some((src_offset, dst_offset, extent)) = rects.one_to_one(src.width, src.height) else {
                    return Ok(());
                };
                let ((src_layers, sz), (dst_layers, dz)) = (place(src, color), place(dst, color));
                let region = [vk::ImageResolve {
                    src_subresource: src_layers,
                    src_offset: vk::Offset3D { z: sz, ..src_offset },
                    dst_subresource: dst_layers,
                    dst_offset: vk::Offset3D { z: dz, ..dst_offset },
                    extent,
                }];
                let commands = self.transfer_commands(&[Object::Image(&src.image)], &[Object::Image(&dst.image)]);
                // SAFETY: the area lies within both levels; formats agree; the batch keeps both images.
                unsafe {
                    self.device.raw.cmd_resolve_image(
                        commands,
                        src.image.raw,
                        vk::ImageLayout::GENERAL,
                        dst.image.raw,
                        vk::ImageLayout::GENERAL,
                        &region,
                    );
                }
                return Ok(());
            }
        }
        let encode = blit.srgb_encode != 0;
        let seen = |format: Format| if encode { format } else { format.to_linear() };
        let mask = if blit.dst.flags & surface_flags::ALPHA_IS_ONE != 0 { 0x7 } else { 0xf };
        let way = Way {
            component: Component::of(src.format),
            aspect: color,
            mask,
            linear: blit.filter == gl::LINEAR,
            stencil: (0xff, 0),
            bits: 0,
        };
        self.blit_with_draw(src, seen(src.format), dst, seen(dst.format), rects, &way)
    }

    fn blit_depth_stencil(
        &mut self,
        src: &End,
        dst: &End,
        rects: &Rects,
        aspects: vk::ImageAspectFlags,
    ) -> PipeResult<()> {
        let same = src.image.format == dst.image.format && src.image.samples == dst.image.samples;
        // A copy takes all aspects of an image: that of one aspect of two has been seen to take both.
        if same && rects.is_one_to_one() && aspects == src.image.aspects {
            return self.copy_one_to_one(src, dst, rects, aspects);
        }
        for (aspect, component) in
            [(vk::ImageAspectFlags::DEPTH, Component::Depth), (vk::ImageAspectFlags::STENCIL, Component::Stencil)]
        {
            if !aspects.contains(aspect) {
                continue;
            }
            if component == Component::Stencil && !self.device.ext.stencil_export {
                if same && rects.is_one_to_one() && src.image.samples == vk::SampleCountFlags::TYPE_1 {
                    self.copy_plane(src, dst, rects, aspect, 1)?;
                    continue;
                }
                self.blit_stencil_bits(src, dst, rects)?;
                continue;
            }
            let way = Way { component, aspect, mask: 0, linear: false, stencil: (0xff, 0), bits: 0 };
            self.blit_with_draw(src, src.image.format, dst, dst.image.format, rects, &way)?;
        }
        Ok(())
    }

    /// Blits stencil values where shaders cannot write them: zeros first, then each bit where the source has it.
    fn blit_stencil_bits(&mut self, src: &End, dst: &End, rects: &Rects) -> PipeResult<()> {
        let zero = (0xff, 0, 0);
        for (write_mask, value, bits) in std::iter::once(zero).chain((0..8).map(|bit| (1 << bit, 0xff, 1 << bit))) {
            let way = Way {
                component: Component::StencilBit,
                aspect: vk::ImageAspectFlags::STENCIL,
                mask: 0,
                linear: false,
                stencil: (write_mask, value),
                bits,
            };
            self.blit_with_draw(src, src.image.format, dst, dst.image.format, rects, &way)?;
        }
        Ok(())
    }

    fn copy_one_to_one(
        &mut self,
        src: &End,
        dst: &End,
        rects: &Rects,
        aspects: vk::ImageAspectFlags,
    ) -> PipeResult<()> {
        let Some((src_offset, dst_offset, extent)) = rects.one_to_one(src.width, src.height) else { return Ok(()) };
        let ((src_layers, sz), (dst_layers, dz)) = (place(src, aspects), place(dst, aspects));
        let near = |a: i32, b: i32, size: u32| a.abs_diff(b) < size;
        if Arc::ptr_eq(&src.image, &dst.image)
            && (src.level, src.layer) == (dst.level, dst.layer)
            && near(src_offset.x, dst_offset.x, extent.width)
            && near(src_offset.y, dst_offset.y, extent.height)
        {
            // GL leaves a blit of texels onto themselves undefined, Vulkan forbids the copy.
            let in_place = src_offset == dst_offset;
            let single = src.image.samples == vk::SampleCountFlags::TYPE_1;
            if in_place || !single || aspects != vk::ImageAspectFlags::COLOR {
                return Ok(());
            }
            return self.copy_plane(src, dst, rects, aspects, src.image.format.desc().block_bytes);
        }
        let region = [vk::ImageCopy {
            src_subresource: src_layers,
            src_offset: vk::Offset3D { z: sz, ..src_offset },
            dst_subresource: dst_layers,
            dst_offset: vk::Offset3D { z: dz, ..dst_offset },
            extent,
        }];
        let commands = self.transfer_commands(&[Object::Image(&src.image)], &[Object::Image(&dst.image)]);
        // SAFETY: the area lies within both levels; formats and samples agree; the batch keeps both images.
        unsafe {
            self.device.raw.cmd_copy_image(
                commands,
                src.image.raw,
                vk::ImageLayout::GENERAL,
                dst.image.raw,
                vk::ImageLayout::GENERAL,
                &region,
            );
        }
        Ok(())
    }

    /// Copies one aspect of `bytes` bytes a texel through a buffer on the device.
    fn copy_plane(
        &mut self,
        src: &End,
        dst: &End,
        rects: &Rects,
        aspect: vk::ImageAspectFlags,
        bytes: u32,
    ) -> PipeResult<()> {
        let Some((src_offset, dst_offset, extent)) = rects.one_to_one(src.width, src.height) else { return Ok(()) };
        let size = u64::from(extent.width) * u64::from(extent.height) * u64::from(bytes);
        let space = self.rec.ring(size, crate::transfer::copy_alignment(bytes))?;
        let region = |end: &End, offset| {
            let (image_subresource, z) = place(end, aspect);
            [vk::BufferImageCopy {
                buffer_offset: space.offset,
                buffer_row_length: 0,
                buffer_image_height: 0,
                image_subresource,
                image_offset: vk::Offset3D { z, ..offset },
                image_extent: extent,
            }]
        };
        let (out, back) = (region(src, src_offset), region(dst, dst_offset));
        let commands = self.transfer_commands(&[Object::Image(&src.image)], &[Object::Image(&dst.image)]);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        // SAFETY: the area lies within both levels, the ring space holds it, and the batch keeps everything.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_copy_image_to_buffer(commands, src.image.raw, vk::ImageLayout::GENERAL, space.buffer, &out);
            raw.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::TRANSFER,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
            raw.cmd_copy_buffer_to_image(commands, space.buffer, dst.image.raw, vk::ImageLayout::GENERAL, &back);
        }
        Ok(())
    }

    fn blit_with_draw(
        &mut self,
        src: &End,
        src_format: Format,
        dst: &End,
        dst_format: Format,
        rects: &Rects,
        way: &Way,
    ) -> PipeResult<()> {
        let Way { component, aspect, mask, linear, stencil, bits } = *way;
        if !src.image.usage_flags.contains(vk::ImageUsageFlags::SAMPLED) {
            return Err(PipeError::Unsupported(format!("{:?} cannot be sampled", src.image.format)));
        }
        let multisampled = src.image.samples != vk::SampleCountFlags::TYPE_1;
        let (dim, kind) = match src.image.kind {
            vk::ImageType::TYPE_3D => (SourceDim::Volume, vk::ImageViewType::TYPE_3D),
            vk::ImageType::TYPE_1D => (SourceDim::Array1D, vk::ImageViewType::TYPE_1D_ARRAY),
            _ if multisampled => (SourceDim::Multisampled, vk::ImageViewType::TYPE_2D_ARRAY),
            _ => (SourceDim::Array2D, vk::ImageViewType::TYPE_2D_ARRAY),
        };
        let volume = dim == SourceDim::Volume;
        let view = src.image.view(ViewKey {
            kind,
            format: src_format,
            aspects: aspect,
            base_level: src.level,
            levels: 1,
            base_layer: if volume { 0 } else { src.layer },
            layers: 1,
            swizzle: swizzle::IDENTITY,
            usage: vk::ImageUsageFlags::SAMPLED,
        })?;
        let filterable =
            self.device.formats.get(src_format).image.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
        let linear = linear && filterable && component == Component::Float && !rects.is_one_to_one();
        let scale = |axis: usize| {
            (rects.src[axis + 2] - rects.src[axis]) as f32 / (rects.dst[axis + 2] - rects.dst[axis]) as f32
        };
        let mut push = [0u8; PUSH_BYTES];
        let floats =
            [rects.dst[0] as f32, rects.dst[1] as f32, rects.src[0] as f32, rects.src[1] as f32, scale(0), scale(1)];
        for (index, value) in floats.iter().enumerate() {
            push[index * 4..index * 4 + 4].copy_from_slice(&value.to_ne_bytes());
        }
        let layer = if volume { src.layer as i32 } else { 0 };
        let average =
            multisampled && dst.image.samples == vk::SampleCountFlags::TYPE_1 && component == Component::Float;
        push[24..28].copy_from_slice(&layer.to_ne_bytes());
        // Sample goes to sample, a draw for each; everything else is one draw.
        let by_sample = multisampled && dst.image.samples == src.image.samples;
        let n_draws = if by_sample { src.image.samples.as_raw() } else { 1 };
        for sample in 0..n_draws {
            let flags = i32::from(linear) | i32::from(average) << 1 | (sample as i32) << 2 | bits << 8;
            push[28..32].copy_from_slice(&flags.to_ne_bytes());
            let target = InternalTarget {
                image: &dst.image,
                format: dst_format,
                level: dst.level,
                layer: dst.layer,
                aspect,
                area: rects.clip,
                mask,
                samples: if by_sample { 1 << sample } else { u32::MAX },
                stencil,
            };
            let source = Some((&src.image, view, linear));
            self.internal_draw(InternalShader::Blit(component, dim), &target, source, &push)?;
        }
        Ok(())
    }

    /// Resolves an area of a multisampled image into level 0 of a single-sampled one, layer for layer.
    pub(crate) fn resolve_area(
        &mut self,
        src: &Arc<Image>,
        dst: &Arc<Image>,
        area: &ImageArea,
        level: u32,
    ) -> PipeResult<()> {
        let rect = [
            area.offset.x,
            area.offset.y,
            area.offset.x + area.extent.width as i32,
            area.offset.y + area.extent.height as i32,
        ];
        let clip = [rect[0], rect[1], area.extent.width as i32, area.extent.height as i32];
        let rects = Rects { src: rect, dst: rect, clip };
        let extent = src.level_extent(level);
        for layer in 0..area.layers {
            let end = |image: &Arc<Image>, level, layer| End {
                image: image.clone(),
                format: image.format,
                level,
                layer,
                width: extent.width as i32,
                height: extent.height as i32,
            };
            let (from, to) = (end(src, level, area.base_layer + layer), end(dst, 0, layer));
            if src.aspects == vk::ImageAspectFlags::COLOR {
                let blit = Blit { srgb_encode: 1, ..Blit::default() };
                self.blit_color(&blit, &from, &to, &rects)?;
            } else {
                self.blit_depth_stencil(&from, &to, &rects, src.aspects)?;
            }
        }
        Ok(())
    }

    /// Fills mipmap levels from the base level.
    pub(crate) fn generate_mipmaps(&mut self, plan: &MipPlan) -> PipeResult<()> {
        self.refresh();
        let texture =
            self.shared.textures.get(TextureHandle(plan.res)).map_err(|e| PipeError::BadHandle(e.to_string()))?;
        let (image, shift, base_layer) =
            texture.image().ok_or_else(|| PipeError::BadHandle("the texture has no storage".into()))?;
        let (format, layers) = {
            let state = texture.state.read();
            (state.format, state.layers.min(image.layers - base_layer.min(image.layers - 1)))
        };
        let first = shift + u32::from(plan.base_level);
        let last = (shift + u32::from(plan.last_level)).min(image.levels.saturating_sub(1));
        let features = self.device.formats.get(image.format).image;
        use vk::FormatFeatureFlags as F;
        let linear = features.contains(F::SAMPLED_IMAGE_FILTER_LINEAR) && !image.format.is_depth_stencil();
        let native = features.contains(F::BLIT_SRC | F::BLIT_DST) && format == image.format;
        for level in first + 1..=last {
            let (from, to) = (image.level_extent(level - 1), image.level_extent(level));
            if native {
                let subresource = |level| vk::ImageSubresourceLayers {
                    aspect_mask: image.aspects,
                    mip_level: level,
                    base_array_layer: if image.kind == vk::ImageType::TYPE_3D { 0 } else { base_layer },
                    layer_count: if image.kind == vk::ImageType::TYPE_3D { 1 } else { layers },
                };
                let corner =
                    |e: vk::Extent3D| vk::Offset3D { x: e.width as i32, y: e.height as i32, z: e.depth as i32 };
                let region = [vk::ImageBlit {
                    src_subresource: subresource(level - 1),
                    src_offsets: [vk::Offset3D::default(), corner(from)],
                    dst_subresource: subresource(level),
                    dst_offsets: [vk::Offset3D::default(), corner(to)],
                }];
                let filter = if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
                // Each level reads the one before, which the batch has just written: a barrier comes by itself.
                let commands = self.transfer_commands(&[Object::Image(&image)], &[Object::Image(&image)]);
                // SAFETY: levels and layers exist; the format can be blitted both ways; the batch keeps the image.
                unsafe {
                    self.device.raw.cmd_blit_image(
                        commands,
                        image.raw,
                        vk::ImageLayout::GENERAL,
                        image.raw,
                        vk::ImageLayout::GENERAL,
                        &region,
                        filter,
                    );
                }
                continue;
            }
            let count = if image.kind == vk::ImageType::TYPE_3D { to.depth } else { layers };
            for index in 0..count {
                let end = |level, layer, extent: vk::Extent3D| End {
                    image: image.clone(),
                    format,
                    level,
                    layer,
                    width: extent.width as i32,
                    height: extent.height as i32,
                };
                let (src_layer, dst_layer) = if image.kind == vk::ImageType::TYPE_3D {
                    ((index * 2).min(from.depth - 1), index)
                } else {
                    (base_layer + index, base_layer + index)
                };
                let (src, dst) = (end(level - 1, src_layer, from), end(level, dst_layer, to));
                let rects = Rects {
                    src: [0, 0, src.width, src.height],
                    dst: [0, 0, dst.width, dst.height],
                    clip: [0, 0, dst.width, dst.height],
                };
                let (component, aspect) = if image.format.has_depth() {
                    (Component::Depth, vk::ImageAspectFlags::DEPTH)
                } else {
                    (Component::of(format), vk::ImageAspectFlags::COLOR)
                };
                let way = Way { component, aspect, mask: 0xf, linear: true, stencil: (0xff, 0), bits: 0 };
                self.blit_with_draw(&src, format, &dst, format, &rects, &way)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpipe_types::Corners;

    fn blit(src: [i32; 4], dst: [i32; 4]) -> Blit {
        let corners = |[x0, y0, x1, y1]: [i32; 4]| Corners { x0, y0, x1, y1 };
        Blit { src_rect: corners(src), dst_rect: corners(dst), ..Blit::default() }
    }

    #[test]
    fn a_flip_of_the_destination_becomes_one_of_the_source() {
        let rects = Rects::new(&blit([0, 0, 8, 8], [8, 0, 0, 8]), 8, 8);
        assert_eq!(rects.src, [8, 0, 0, 8]);
        assert_eq!(rects.dst, [0, 0, 8, 8]);
        assert!(!rects.is_one_to_one());
    }

    #[test]
    fn one_to_one_is_cut_to_both_images() {
        let rects = Rects::new(&blit([-2, 0, 6, 8], [0, 0, 8, 8]), 5, 8);
        assert!(rects.is_one_to_one());
        let (src, dst, extent) = rects.one_to_one(8, 4).expect("something is left");
        assert_eq!((src.x, dst.x, extent.width), (0, 2, 3));
        assert_eq!((src.y, dst.y, extent.height), (0, 0, 4));
        assert_eq!(Rects::new(&blit([90, 0, 98, 8], [0, 0, 8, 8]), 8, 8).one_to_one(8, 8), None);
    }

    #[test]
    fn the_scissor_cuts_and_huge_numbers_do_not_overflow() {
        let mut b = blit([0, 0, 8, 8], [0, 0, 8, 8]);
        b.scissor_enabled = 1;
        b.scissor = mgpipe_types::ScissorBox { x: 2, y: 3, width: i32::MAX, height: 2 };
        assert_eq!(Rects::new(&b, 8, 8).clip, [2, 3, 6, 2]);
        b.scissor.width = -1;
        assert!(Rects::new(&b, 8, 8).is_empty());
    }
}
