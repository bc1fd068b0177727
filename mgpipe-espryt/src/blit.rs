//! Blits and resolves.

use crate::context::EsprytContext;
use crate::depth_pass::{intersection, Pass};
use crate::format::{class, Class};
use crate::framebuffer::Resolved;
use crate::resource::texture::{Image, Shape, View};
use glow::HasContext;
use mgpipe_types::{aspect, gl, surface_flags, Blit, Format, PipeError, PipeResult, Surface};
use std::sync::Arc;

/// The format that holds the bits of an sRGB one as they are, where an attachment can have it.
fn linear(format: Format) -> Option<Format> {
    (format == Format::RGBA8_SRGB).then_some(Format::RGBA8_UNORM)
}

impl EsprytContext {
    /// Blits or resolves between surfaces.
    pub(crate) fn blit_surfaces(&mut self, blit: &Blit) -> PipeResult<()> {
        let end = |surface: &Surface| -> PipeResult<Resolved> {
            let surface = Surface { layered: 0, ..*surface };
            self.resolve_surface(&surface)?.ok_or_else(|| PipeError::BadHandle("a blit names no image".into()))
        };
        let (mut src, mut dst) = (end(&blit.src)?, end(&blit.dst)?);
        self.shadow.forget_active_unit();
        let same_image = Arc::ptr_eq(&src.image, &dst.image) && src.level == dst.level && src.layer == dst.layer;
        if blit.srgb_encode == 0 {
            // GLES decodes what it reads from sRGB whatever is asked for: the bits are seen in the linear format instead.
            (src, dst) = (self.undecoded(src)?, self.undecoded(dst)?);
        }
        let mut mask = 0;
        if blit.mask & aspect::COLOR != 0
            && !src.image.format.is_depth_stencil()
            && !dst.image.format.is_depth_stencil()
            && class(src.image.format) == class(dst.image.format)
        {
            mask |= gl::COLOR_BUFFER_BIT;
        }
        let both = |has: fn(Format) -> bool| has(src.image.format) && has(dst.image.format);
        if blit.mask & aspect::DEPTH != 0 && both(Format::has_depth) {
            mask |= gl::DEPTH_BUFFER_BIT;
        }
        if blit.mask & aspect::STENCIL != 0 && both(Format::has_stencil) {
            mask |= gl::STENCIL_BUFFER_BIT;
        }
        if mask == 0 {
            return Ok(());
        }
        let (s, d) = (blit.src_rect, blit.dst_rect);
        let same_rect = s == d;
        if src.image.samples > 1 && dst.image.samples <= 1 {
            // GLES resolves the same rectangle of the same format; the rest is a second step.
            if !same_rect || src.image.format != dst.image.format {
                src = self.resolved(&src, mask)?;
            }
        } else if same_image {
            // GLES refuses a blit of an image onto itself.
            src = self.duplicate(&src)?;
        }
        let color = mask & gl::COLOR_BUFFER_BIT != 0;
        let area = (blit.scissor_enabled != 0).then(|| {
            let c = blit.scissor;
            [c.x, c.y, c.width, c.height]
        });
        let plain_alpha =
            blit.dst.flags & surface_flags::ALPHA_IS_ONE == 0 || blit.src.flags & surface_flags::ALPHA_IS_ONE != 0;
        if dst.image.samples > 1 {
            self.blit_to_samples(mask, &src, &dst, blit, area)?;
            return if color && !plain_alpha { self.fill_alpha(&dst, blit, area) } else { Ok(()) };
        }
        if !color && src.image.format != dst.image.format {
            return self.convert_depth(mask, &src, &dst, blit, area);
        }
        if !self.bind_single(gl::READ_FRAMEBUFFER, &src)? || !self.bind_single(gl::DRAW_FRAMEBUFFER, &dst)? {
            return Err(PipeError::Unsupported(format!("a blit of {:?}", src.image.format)));
        }
        self.set_scissor(area);
        self.set_srgb(blit.srgb_encode != 0);
        let filter = if color && !src.image.format.is_integer() { blit.filter } else { gl::NEAREST };
        // SAFETY: the context is current; both framebuffers are complete and of fitting formats.
        unsafe {
            self.gles().gl.blit_framebuffer(s.x0, s.y0, s.x1, s.y1, d.x0, d.y0, d.x1, d.y1, mask, filter);
        }
        if color && !plain_alpha {
            self.fill_alpha(&dst, blit, area)?;
        }
        Ok(())
    }

    /// Blits to a multisampled image, which GLES does not: sample by sample when both have as many and the copy is
    /// plain, else every sample gets the one that there is, or that they resolve to.
    fn blit_to_samples(
        &mut self,
        mask: u32,
        src: &Resolved,
        dst: &Resolved,
        blit: &Blit,
        area: Option<[i32; 4]>,
    ) -> PipeResult<()> {
        let (s, d) = (blit.src_rect, blit.dst_rect);
        // A copy takes every aspect, and turns nothing round.
        let format = dst.image.format;
        let aspects = [(format.has_depth(), gl::DEPTH_BUFFER_BIT), (format.has_stencil(), gl::STENCIL_BUFFER_BIT)];
        let is_whole = aspects.iter().all(|(has, bit)| !has || mask & bit != 0);
        let mirrors = |s0: i32, s1: i32, d0: i32, d1: i32| (s1 < s0) != (d1 < d0);
        let is_upright = !mirrors(s.x0, s.x1, d.x0, d.x1) && !mirrors(s.y0, s.y1, d.y0, d.y1);
        let as_many = src.image.samples == dst.image.samples;
        let is_alike = as_many && src.image.format == format;
        if is_alike && is_whole && is_upright {
            if (s.x1 - s.x0, s.y1 - s.y0) != (d.x1 - d.x0, d.y1 - d.y0) {
                return Err(PipeError::Protocol("a blit between multisampled images scales".into()));
            }
            // What lies in both images, in front of the scissor.
            let [sw, sh, _] = src.image.extent(src.level).map(|size| size as i32);
            let [dw, dh, _] = dst.image.extent(dst.level).map(|size| size as i32);
            let shift = [d.x0 - s.x0, d.y0 - s.y0];
            let rect = [d.x0.min(d.x1), d.y0.min(d.y1), (d.x1 - d.x0).abs(), (d.y1 - d.y0).abs()];
            let rect = intersection(intersection(rect, [0, 0, dw, dh]), [shift[0], shift[1], sw, sh]);
            let [x, y, width, height] = area.map_or(rect, |area| intersection(rect, area));
            if width == 0 || height == 0 {
                return Ok(());
            }
            return self.copy_texels(
                (&src.image, src.level, [x - shift[0], y - shift[1], src.layer as i32]),
                (&dst.image, dst.level, [x, y, dst.layer as i32]),
                [width as u32, height as u32, 1],
            );
        }
        if as_many && is_upright && mask & gl::COLOR_BUFFER_BIT == 0 && self.gles().has.sample_variables {
            // One of two aspects, or another format of the same depth, sample by sample.
            let [width, height, _] = src.image.extent(src.level);
            let copy = self.temporary_of(src.image.format, [width, height, 1], src.image.samples)?;
            let from = (&src.image, src.level, [0, 0, src.layer as i32]);
            self.copy_texels(from, (&copy.image, 0, [0; 3]), [width, height, 1])?;
            for (bit, pass) in [(gl::DEPTH_BUFFER_BIT, Pass::Depth), (gl::STENCIL_BUFFER_BIT, Pass::Stencil)] {
                if mask & bit != 0 {
                    self.depth_pass(pass, (&copy, s), (dst, d), area)?;
                }
            }
            return Ok(());
        }
        let single;
        let src = if src.image.samples > 1 {
            single = self.resolved(src, mask)?;
            &single
        } else {
            src
        };
        if mask & gl::COLOR_BUFFER_BIT == 0 {
            return self.convert_depth(mask, src, dst, blit, area);
        }
        let copy = self.duplicate(src)?;
        self.set_srgb(blit.srgb_encode != 0);
        let pass = match class(dst.image.format) {
            Class::Float => Pass::Color,
            Class::Sint => Pass::SignedColor,
            Class::Uint => Pass::UnsignedColor,
        };
        self.depth_pass(pass, (&copy, s), (dst, d), area)
    }

    /// Blits depth and stencil between formats, which GLES does not: by drawing.
    fn convert_depth(
        &mut self,
        mask: u32,
        src: &Resolved,
        dst: &Resolved,
        blit: &Blit,
        area: Option<[i32; 4]>,
    ) -> PipeResult<()> {
        let copy = self.duplicate(src)?;
        for (bit, pass) in [(gl::DEPTH_BUFFER_BIT, Pass::Depth), (gl::STENCIL_BUFFER_BIT, Pass::Stencil)] {
            if mask & bit != 0 {
                self.depth_pass(pass, (&copy, blit.src_rect), (dst, blit.dst_rect), area)?;
            }
        }
        Ok(())
    }

    /// Alpha of the destination is one everywhere; the blit may have written another.
    fn fill_alpha(&mut self, dst: &Resolved, blit: &Blit, area: Option<[i32; 4]>) -> PipeResult<()> {
        if !self.bind_single(gl::DRAW_FRAMEBUFFER, dst)? {
            return Err(PipeError::Unsupported(format!("a blit to {:?}", dst.image.format)));
        }
        let d = blit.dst_rect;
        let (x0, x1) = (d.x0.min(d.x1), d.x0.max(d.x1));
        let (y0, y1) = (d.y0.min(d.y1), d.y0.max(d.y1));
        let mut rect = [x0, y0, x1.saturating_sub(x0), y1.saturating_sub(y0)];
        if let Some(a) = area {
            let (left, low) = (rect[0].max(a[0]), rect[1].max(a[1]));
            let right = rect[0].saturating_add(rect[2]).min(a[0].saturating_add(a[2]));
            let high = rect[1].saturating_add(rect[3]).min(a[1].saturating_add(a[3]));
            rect = [left, low, (right - left).max(0), (high - low).max(0)];
        }
        self.set_scissor(Some(rect));
        self.set_masks([false, false, false, true]);
        self.allow_raster();
        // SAFETY: the context is current and the destination is attachment 0 of the bound framebuffer.
        unsafe { self.gles().gl.clear_buffer_f32_slice(gl::COLOR, 0, &[1.0; 4]) };
        Ok(())
    }

    /// A surface whose texels are not decoded from sRGB: a view in the linear format. Where the driver has no views, the surface
    /// itself.
    fn undecoded(&mut self, surface: Resolved) -> PipeResult<Resolved> {
        let image = &surface.image;
        let Some(format) = linear(image.format) else { return Ok(surface) };
        let volume = image.target == gl::TEXTURE_3D;
        let view = View {
            target: image.target,
            format,
            min_level: 0,
            levels: image.levels,
            min_layer: 0,
            layers: if volume { 1 } else { image.depth },
        };
        let shared = self.shared.clone();
        match image.view(&shared.device.gles, &view) {
            Some(image) => Ok(Resolved { image: Arc::new(image), ..surface }),
            None => Ok(surface),
        }
    }

    /// A two-dimensional image of a format.
    pub(crate) fn temporary(&mut self, format: Format, extent: [u32; 3]) -> PipeResult<Resolved> {
        self.temporary_of(format, extent, 1)
    }

    /// The same with samples.
    fn temporary_of(&mut self, format: Format, extent: [u32; 3], samples: u32) -> PipeResult<Resolved> {
        let shape = Shape {
            target: if samples > 1 { gl::TEXTURE_2D_MULTISAMPLE } else { gl::TEXTURE_2D },
            format,
            width: extent[0],
            height: extent[1],
            depth: 1,
            levels: 1,
            samples,
        };
        let shared = self.shared.clone();
        let image = Arc::new(Image::new(&shared.device.gles, &shared.grave, &shape)?);
        self.shadow.forget_active_unit();
        Ok(Resolved { image, level: 0, layer: 0, layered: false })
    }

    /// A single-sampled copy of a multisampled surface.
    pub(crate) fn resolved(&mut self, src: &Resolved, mask: u32) -> PipeResult<Resolved> {
        let extent = src.image.extent(src.level);
        let copy = self.temporary(src.image.format, extent)?;
        if !self.bind_single(gl::READ_FRAMEBUFFER, src)? || !self.bind_single(gl::DRAW_FRAMEBUFFER, &copy)? {
            return Err(PipeError::Unsupported(format!("a resolve of {:?}", src.image.format)));
        }
        self.set_scissor(None);
        self.set_srgb(false);
        let (width, height) = (extent[0] as i32, extent[1] as i32);
        // SAFETY: the context is current; both framebuffers are complete and have the same format and size.
        unsafe {
            self.gles().gl.blit_framebuffer(0, 0, width, height, 0, 0, width, height, mask, gl::NEAREST);
        }
        Ok(copy)
    }

    /// A two-dimensional copy of a surface.
    pub(crate) fn duplicate(&mut self, src: &Resolved) -> PipeResult<Resolved> {
        let extent = src.image.extent(src.level);
        let copy = self.temporary(src.image.format, extent)?;
        let from = (&src.image, src.level, [0, 0, src.layer as i32]);
        self.copy_texels(from, (&copy.image, 0, [0; 3]), [extent[0], extent[1], 1])?;
        Ok(copy)
    }
}
