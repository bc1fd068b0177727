//! `glCopyTexImage*` and `glCopyTexSubImage*`: copies from the read framebuffer, on the device.

use std::sync::Arc;

use mgpipe_tracker::VerbClass;
use mgpipe_types::{aspect, gl, Blit, Box3, Corners, Target};

use super::copy_blocks::check_encoder;
use super::image::{check_area, check_block_alignment, check_format_for_target};
use super::target::{image_target, ImageTarget};
use super::{Image, Texture};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, GlResult};
use crate::format::ResolvedFormat;
use crate::framebuffer::{Attachment, Binding};

/// A rectangle of the read framebuffer and where it goes in an image.
#[derive(Clone, Copy, Debug)]
struct Copy {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    to: [i32; 3],
}

impl Copy {
    /// Cuts the source to its image: texels whose source lies outside are undefined and stay as they are.
    fn clipped(self, width: u32, height: u32) -> Option<Copy> {
        let cut = |start: i32, len: u32, limit: u32| {
            let low = i64::from(start).max(0);
            let high = (i64::from(start) + i64::from(len)).min(i64::from(limit));
            (low < high).then_some((low as i32, (high - low) as u32))
        };
        let (x, w) = cut(self.x, self.width, width)?;
        let (y, h) = cut(self.y, self.height, height)?;
        let to = [
            self.to[0].saturating_add(x.saturating_sub(self.x)),
            self.to[1].saturating_add(y.saturating_sub(self.y)),
            self.to[2],
        ];
        Some(Copy { x, y, width: w, height: h, to })
    }
}

impl Context {
    /// The image of the read framebuffer that a copy into `format` reads.
    fn copy_source(&mut self, format: &ResolvedFormat, command: &'static str) -> GlResult<(Attachment, u32)> {
        self.state.check_framebuffer(Binding::Read, command)?;
        let framebuffers = &self.state.framebuffers;
        let base = format.info.base;
        let (attachment, mask) = if base.is_color() {
            (framebuffers.read_color().unwrap_or(Attachment::None), aspect::COLOR)
        } else if base.has_stencil() {
            let depth = framebuffers.depth(Binding::Read);
            let same = depth.same_image(&framebuffers.stencil(Binding::Read));
            (if same { depth } else { Attachment::None }, aspect::DEPTH | aspect::STENCIL)
        } else {
            (framebuffers.depth(Binding::Read), aspect::DEPTH)
        };
        let described = attachment
            .describe()
            .ok_or_else(|| invalid_operation(format!("{command}: the read framebuffer has no such buffer")))?;
        if described.samples > 1 && self.state.framebuffer_name(Binding::Read) != 0 {
            return Err(invalid_operation(format!("{command}: the read framebuffer is multisampled")));
        }
        let from = described.format.info;
        if base.is_color()
            && (from.is_integer() != format.info.is_integer() || from.is_integer() && from.kind != format.info.kind)
        {
            return Err(invalid_operation(format!("{command}: integer and other formats do not mix")));
        }
        Ok((attachment, mask))
    }

    fn copy_into(
        &mut self,
        texture: &Arc<Texture>,
        at: &ImageTarget,
        level: u32,
        source: &Attachment,
        mask: u32,
        copy: Copy,
    ) -> GlResult {
        let Some(described) = source.describe() else { return Ok(()) };
        let Some(copy) = copy.clipped(described.width, described.height) else { return Ok(()) };
        self.tracker.validate(VerbClass::BlitCopy, &mut self.state, &mut *self.pipe);
        source.realize(&mut *self.pipe);
        let src = source.surface();
        // Rows of a 1D array are layers, so each is a copy of its own.
        let rows = if at.target == Target::Tex1DArray { copy.height } else { 1 };
        for row in 0..rows {
            let (y, height, dst_y, layer) = if at.target == Target::Tex1DArray {
                (copy.y + row as i32, 1, 0, copy.to[1] + row as i32)
            } else {
                (copy.y, copy.height, copy.to[1], copy.to[2])
            };
            let dst = {
                let mut inner = texture.lock();
                texture.realize_image(&mut inner, at.face, level, &mut *self.pipe)?;
                texture.mark_written(&mut inner, at.face, level);
                texture.surface(&inner, at.face, level, layer.max(0) as u32, false)
            };
            if !src.is_some() || !dst.is_some() {
                return Ok(());
            }
            let corners = |x: i32, y: i32| Corners { x0: x, y0: y, x1: x + copy.width as i32, y1: y + height as i32 };
            self.pipe.blit(&Blit {
                src,
                dst,
                src_rect: corners(copy.x, y),
                dst_rect: corners(copy.to[0], dst_y),
                mask,
                filter: gl::NEAREST,
                ..Blit::default()
            });
        }
        texture.content_changed();
        Ok(())
    }

    /// `glCopyTexImage1D`.
    pub fn copy_tex_image_1d(
        &mut self,
        target: u32,
        level: i32,
        internalformat: u32,
        x: i32,
        y: i32,
        width: i32,
        border: i32,
    ) {
        let command = "glCopyTexImage1D";
        self.gl(|ctx| ctx.copy_image(1, target, level, internalformat, [x, y], [width, 1], border, command));
    }

    /// `glCopyTexImage2D`.
    pub fn copy_tex_image_2d(
        &mut self,
        target: u32,
        level: i32,
        internalformat: u32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        border: i32,
    ) {
        let command = "glCopyTexImage2D";
        self.gl(|ctx| ctx.copy_image(2, target, level, internalformat, [x, y], [width, height], border, command));
    }

    fn copy_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        internal_format: u32,
        origin: [i32; 2],
        size: [i32; 2],
        border: i32,
        command: &'static str,
    ) -> GlResult {
        let at = image_target(dims, target)
            .filter(|at| !at.proxy)
            .ok_or_else(|| invalid_enum(format!("{command}: target")))?;
        let level = self.state.check_level(at.target, level, command)?;
        if border != 0 {
            return Err(invalid_value(format!("{command}: border")));
        }
        // Unlike glTexImage, an unknown internal format is an enumerant error here.
        let internal = self
            .state
            .texture_format(internal_format, command)
            .map_err(|_| invalid_enum(format!("{command}: internal format {internal_format:#x}")))?;
        check_format_for_target(&internal, at.target, command)?;
        check_encoder(&internal, command)?;
        let Some(extent) = self.state.check_image_size(&at, level, [size[0], size[1], 1], command)? else {
            return Ok(());
        };
        let (source, mask) = self.copy_source(&internal, command)?;
        let texture = self.state.current_texture(at.target)?;
        if texture.lock().immutable_levels != 0 {
            return Err(invalid_operation(format!("{command}: the texture is immutable")));
        }
        self.install_image(&texture, at.face, level, Image::new(&internal, extent));
        if extent.is_empty() {
            return Ok(());
        }
        if internal.info.is_compressed() {
            let area = Box3::sized(extent.width, extent.height, 1);
            return self.copy_blocks(&texture, (at.face, level), area, (&source, origin), &internal, command);
        }
        let copy = Copy { x: origin[0], y: origin[1], width: extent.width, height: extent.height, to: [0; 3] };
        self.copy_into(&texture, &at, level, &source, mask, copy)
    }

    /// `glCopyTexSubImage1D`.
    pub fn copy_tex_sub_image_1d(&mut self, target: u32, level: i32, xoffset: i32, x: i32, y: i32, width: i32) {
        let command = "glCopyTexSubImage1D";
        self.gl(|ctx| ctx.copy_sub_image(1, target, level, [xoffset, 0, 0], [x, y], [width, 1], command));
    }

    /// `glCopyTexSubImage2D`.
    pub fn copy_tex_sub_image_2d(
        &mut self,
        target: u32,
        level: i32,
        xoffset: i32,
        yoffset: i32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) {
        let command = "glCopyTexSubImage2D";
        self.gl(|ctx| ctx.copy_sub_image(2, target, level, [xoffset, yoffset, 0], [x, y], [width, height], command));
    }

    /// `glCopyTexSubImage3D`.
    pub fn copy_tex_sub_image_3d(
        &mut self,
        target: u32,
        level: i32,
        xoffset: i32,
        yoffset: i32,
        zoffset: i32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) {
        let command = "glCopyTexSubImage3D";
        let offset = [xoffset, yoffset, zoffset];
        self.gl(|ctx| ctx.copy_sub_image(3, target, level, offset, [x, y], [width, height], command));
    }

    fn copy_sub_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        offset: [i32; 3],
        origin: [i32; 2],
        size: [i32; 2],
        command: &'static str,
    ) -> GlResult {
        let at = image_target(dims, target)
            .filter(|at| !at.proxy)
            .ok_or_else(|| invalid_enum(format!("{command}: target")))?;
        let level = self.state.check_level(at.target, level, command)?;
        let texture = self.state.current_texture(at.target)?;
        let (internal, area) = {
            let inner = texture.lock();
            let image = inner
                .image(at.face, level)
                .ok_or_else(|| invalid_operation(format!("{command}: the level was never specified")))?;
            let area = check_area(image.extent, offset, [size[0], size[1], 1], command)?;
            check_block_alignment(image, &area, command)?;
            (image.format, area)
        };
        check_encoder(&internal, command)?;
        let (source, mask) = self.copy_source(&internal, command)?;
        if area.width == 0 || area.height == 0 {
            return Ok(());
        }
        if internal.info.is_compressed() {
            return self.copy_blocks(&texture, (at.face, level), area, (&source, origin), &internal, command);
        }
        let copy =
            Copy { x: origin[0], y: origin[1], width: area.width, height: area.height, to: [area.x, area.y, area.z] };
        self.copy_into(&texture, &at, level, &source, mask, copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_outside_the_framebuffer_is_left_out() {
        let copy = Copy { x: -3, y: 6, width: 8, height: 8, to: [10, 20, 0] };
        let cut = copy.clipped(4, 8).expect("overlaps");
        assert_eq!((cut.x, cut.y, cut.width, cut.height, cut.to), (0, 6, 4, 2, [13, 20, 0]));
        assert!(copy.clipped(4, 6).is_none());
    }
}
