//! Read-backs of texels.
//!
//! GLES reads four components in one of a few types; what a format stores is taken out of them. Formats that are no attachments
//! are copied, bit for bit, into an integer format of the same size, which is one.

use crate::context::EsprytContext;
use crate::depth_pass::Pass;
use crate::framebuffer::Resolved;
use crate::gles::Gles;
use crate::resource::texture::{Image, Shape};
use crate::upload::Area;
use mgpipe_types::*;
use std::ffi::c_void;
use std::sync::Arc;

/// The read calls' formats of NV_read_depth and NV_read_stencil.
const DEPTH: u32 = gl::DEPTH_COMPONENT;
const STENCIL: u32 = gl::STENCIL_INDEX;

/// How four components that were read become texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Take {
    /// The first so many bytes of each component, the first so many components.
    Plain { component: usize, count: usize },
    /// Floats become halves.
    Half { count: usize },
    /// The bytes as they are.
    AsIs,
    /// 8-bit components become 5-6-5, 4-4-4-4 or 5-5-5-1 bits.
    Packed([u32; 4]),
    /// Floats become unsigned floats of 11, 11 and 10 bits.
    SmallFloats,
    /// Integers become 10-10-10-2 bits.
    Packed10,
}

/// Format and type in which the driver reads texels of a format as they are stored, where it always can.
pub(crate) fn as_stored(gles: &Gles, format: Format) -> Option<(u32, u32)> {
    let (read, ty, texel, take) = way(gles, format)?;
    let whole = match take {
        Take::AsIs => true,
        Take::Plain { component, count } => component * 4 == texel && count == 4,
        _ => false,
    };
    whole.then_some((read, ty))
}

/// Format, type, bytes a texel of what is read, and what is done with it. `None`: the format is read as an integer copy.
fn way(gles: &Gles, format: Format) -> Option<(u32, u32, usize, Take)> {
    use Format as F;
    let bits = format.desc().bits;
    let count = bits.iter().filter(|b| **b != 0).count();
    let plain = |component| Take::Plain { component, count };
    let (rgba, integer) = (gl::RGBA, gl::RGBA_INTEGER);
    Some(match format {
        F::RGBA8_UNORM | F::RGBA8_SRGB => (rgba, gl::UNSIGNED_BYTE, 4, Take::AsIs),
        F::R8_UNORM | F::RG8_UNORM => (rgba, gl::UNSIGNED_BYTE, 4, plain(1)),
        F::RGB565_UNORM => (rgba, gl::UNSIGNED_BYTE, 4, Take::Packed([5, 6, 5, 0])),
        F::RGBA4_UNORM => (rgba, gl::UNSIGNED_BYTE, 4, Take::Packed([4, 4, 4, 4])),
        F::RGB5A1_UNORM => (rgba, gl::UNSIGNED_BYTE, 4, Take::Packed([5, 5, 5, 1])),
        F::RGB10A2_UNORM => (rgba, gl::UNSIGNED_INT_2_10_10_10_REV, 4, Take::AsIs),
        F::R16_UNORM | F::RG16_UNORM | F::RGBA16_UNORM => (rgba, gl::UNSIGNED_SHORT, 8, plain(2)),
        // A driver may clamp negative values while it reads: where it can, the bits are copied instead.
        _ if format.desc().kind == FormatKind::Snorm && gles.has.copy_image => return None,
        F::R8_SNORM | F::RG8_SNORM | F::RGBA8_SNORM if gles.has.render_snorm => (rgba, gl::BYTE, 4, plain(1)),
        F::R16_SNORM | F::RG16_SNORM | F::RGBA16_SNORM if gles.has.render_snorm && gles.has.norm16 => {
            (rgba, gl::SHORT, 8, plain(2))
        }
        F::R16_FLOAT | F::RG16_FLOAT | F::RGBA16_FLOAT => (rgba, gl::FLOAT, 16, Take::Half { count }),
        F::R32_FLOAT | F::RG32_FLOAT | F::RGBA32_FLOAT => (rgba, gl::FLOAT, 16, plain(4)),
        F::R11G11B10_FLOAT => (rgba, gl::FLOAT, 16, Take::SmallFloats),
        F::RGB10A2_UINT => (integer, gl::UNSIGNED_INT, 16, Take::Packed10),
        _ if format.is_integer() => {
            let ty = if format.desc().kind == FormatKind::Uint { gl::UNSIGNED_INT } else { gl::INT };
            (integer, ty, 16, plain(usize::from(bits[0] / 8)))
        }
        _ => return None,
    })
}

/// An integer format with texels of so many bytes.
fn integer_format(bytes: u32) -> Option<Format> {
    match bytes {
        1 => Some(Format::R8_UINT),
        2 => Some(Format::R16_UINT),
        4 => Some(Format::R32_UINT),
        8 => Some(Format::RG32_UINT),
        16 => Some(Format::RGBA32_UINT),
        _ => None,
    }
}

/// Which aspects of a depth-stencil image an answer needs.
fn wanted_aspects(have: Format, wanted: Format, aspect_bit: u32) -> (bool, bool) {
    let depth = have.has_depth() && wanted.has_depth();
    let stencil = have.has_stencil() && wanted.has_stencil();
    match (depth || stencil, aspect_bit) {
        (true, _) => (depth, stencil),
        (false, aspect::STENCIL) => (false, have.has_stencil()),
        _ => (have.has_depth(), false),
    }
}

impl EsprytContext {
    /// The image, level and box of a read-back; `None` when nothing of the box is there.
    pub(crate) fn area_of(&mut self, info: &ReadbackInfo) -> PipeResult<Option<(Arc<Image>, u32, Area)>> {
        let missing = |what: &str| PipeError::BadHandle(what.to_owned());
        let shared = self.shared.clone();
        let resource = info.surface.resource().ok_or_else(|| missing("a read-back names no image"))?;
        let texture = shared.texture(resource).ok_or_else(|| missing("a read-back names no image"))?;
        let image = texture.image(self.gles(), &shared.grave)?.ok_or_else(|| missing("the image has no storage"))?;
        self.shadow.forget_active_unit();
        let target = texture.target();
        let level = u32::from(info.surface.level);
        if level >= image.levels {
            return Err(PipeError::Protocol(format!("no level {level} to read")));
        }
        let mut wanted = info.area;
        if info.surface.layered == 0 {
            let layer = info.surface.layer as i32;
            if target == Target::Tex1DArray {
                wanted.y = wanted.y.saturating_add(layer);
            } else {
                wanted.z = wanted.z.saturating_add(layer);
            }
        }
        Ok(Area::new(&image, target, level, &wanted).map(|area| (image, level, area)))
    }

    /// Reads texels of a surface.
    pub(crate) fn read_surface(&mut self, info: &ReadbackInfo, out: &mut [u8]) -> PipeResult<()> {
        let Some((image, level, area)) = self.area_of(info)? else { return Ok(()) };
        let format = Format(info.format);
        let desc = image.format.desc();
        let layer_bytes = if desc.is_compressed() {
            desc.row_bytes(area.width as u32) * u64::from((area.height as u32).div_ceil(desc.block_height))
        } else {
            u64::from(format.desc().block_bytes) * area.width as u64 * area.height as u64
        } as usize;
        for slice in 0..area.depth {
            let start = slice as usize * layer_bytes;
            let Some(rest) = out.get_mut(start..) else { break };
            let length = layer_bytes.min(rest.len());
            let end = Resolved { image: image.clone(), level, layer: (area.z + slice) as u32, layered: false };
            self.read_layer(&end, &area, format, info.aspect, &mut rest[..length])?;
        }
        Ok(())
    }

    fn read_layer(
        &mut self,
        end: &Resolved,
        area: &Area,
        wanted: Format,
        aspect: u32,
        out: &mut [u8],
    ) -> PipeResult<()> {
        let format = end.image.format;
        let mut end = end.clone();
        if end.image.samples > 1 {
            end = self.resolved(&end, crate::copy::blit_mask(format))?;
        }
        if format.is_depth_stencil() {
            return self.read_depth_stencil(&end, area, wanted, aspect, out);
        }
        let renderable = self.device.caps.format(format) & format_caps::COLOR_ATTACHMENT != 0;
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        match way(gles, format).filter(|_| renderable) {
            Some((read, ty, texel, take)) => {
                self.bind_for_reading(&end)?;
                let texels = area.width as usize * area.height as usize;
                if take == Take::AsIs {
                    let needed = texels * texel;
                    if out.len() >= needed {
                        read_pixels(gles, area, read, ty, &mut out[..needed]);
                        return Ok(());
                    }
                }
                let mut bytes = scratch(texels * texel)?;
                read_pixels(gles, area, read, ty, &mut bytes);
                take_out(take, texel, &bytes, out);
                Ok(())
            }
            None => self.read_bits(&end, area, out),
        }
    }

    pub(crate) fn bind_for_reading(&mut self, end: &Resolved) -> PipeResult<()> {
        if self.bind_single(gl::READ_FRAMEBUFFER, end)? {
            return Ok(());
        }
        Err(PipeError::Unsupported(format!("reading {:?}", end.image.format)))
    }

    /// Reads the bits of a format that is no attachment.
    fn read_bits(&mut self, end: &Resolved, area: &Area, out: &mut [u8]) -> PipeResult<()> {
        let desc = end.image.format.desc();
        let unsupported = || PipeError::Unsupported(format!("reading {:?}", end.image.format));
        let integer = integer_format(desc.block_bytes).ok_or_else(unsupported)?;
        let width = (area.width as u32).div_ceil(desc.block_width);
        let height = (area.height as u32).div_ceil(desc.block_height);
        let shape = Shape { target: gl::TEXTURE_2D, format: integer, width, height, depth: 1, levels: 1, samples: 1 };
        let shared = self.shared.clone();
        let copy = Arc::new(Image::new(&shared.device.gles, &shared.grave, &shape)?);
        let from = (&end.image, end.level, [area.x, area.y, end.layer as i32]);
        self.copy_texels(from, (&copy, 0, [0; 3]), [area.width as u32, area.height as u32, 1])?;
        let whole = Area { x: 0, y: 0, z: 0, width: width as i32, height: height as i32, depth: 1 };
        let copy = Resolved { image: copy, level: 0, layer: 0, layered: false };
        self.read_layer(&copy, &whole, integer, aspect::COLOR, out)
    }

    fn read_depth_stencil(
        &mut self,
        end: &Resolved,
        area: &Area,
        wanted: Format,
        aspect: u32,
        out: &mut [u8],
    ) -> PipeResult<()> {
        let have = end.image.format;
        let (depth, stencil) = wanted_aspects(have, wanted, aspect);
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let texels = area.width as usize * area.height as usize;
        let float = matches!(have, Format::D32_FLOAT | Format::D32_FLOAT_S8);
        let mut depths = scratch(if depth { texels * 4 } else { 0 })?;
        let mut stencils = scratch(if stencil { texels } else { 0 })?;
        let (reads_depth, reads_stencil) = (gles.has.read_depth, gles.has.read_stencil);
        if depth && reads_depth {
            self.bind_for_reading(end)?;
            read_pixels(gles, area, DEPTH, if float { gl::FLOAT } else { gl::UNSIGNED_INT }, &mut depths);
        } else if depth {
            self.read_by_drawing(Pass::DepthBits, end, area, Format::R32_UINT, &mut depths)?;
        }
        if stencil && reads_stencil {
            self.bind_for_reading(end)?;
            read_pixels(gles, area, STENCIL, gl::UNSIGNED_BYTE, &mut stencils);
        } else if stencil {
            self.read_by_drawing(Pass::StencilBits, end, area, Format::R8_UINT, &mut stencils)?;
        }
        // What was drawn are the bits of a float.
        let float = float || !reads_depth;
        let size = wanted.desc().block_bytes.max(1) as usize;
        for (index, out) in out.chunks_exact_mut(size).take(texels).enumerate() {
            let raw = depths.get(index * 4..index * 4 + 4).map_or([0; 4], |b| [b[0], b[1], b[2], b[3]]);
            let value = if float {
                f64::from(f32::from_le_bytes(raw))
            } else {
                f64::from(u32::from_le_bytes(raw)) / f64::from(u32::MAX)
            };
            let s = stencils.get(index).copied().unwrap_or(0);
            wanted.store_depth_stencil(value, s, out);
        }
        Ok(())
    }
}

impl EsprytContext {
    /// Reads depth or stencil through a colour that a draw makes of it.
    fn read_by_drawing(
        &mut self,
        pass: Pass,
        end: &Resolved,
        area: &Area,
        format: Format,
        out: &mut [u8],
    ) -> PipeResult<()> {
        let copy = self.duplicate(end)?;
        let color = self.temporary(format, [area.width as u32, area.height as u32, 1])?;
        let from = Corners { x0: area.x, y0: area.y, x1: area.x + area.width, y1: area.y + area.height };
        let to = Corners { x0: 0, y0: 0, x1: area.width, y1: area.height };
        self.depth_pass(pass, (&copy, from), (&color, to), None)?;
        let whole = Area { x: 0, y: 0, z: 0, ..*area };
        self.read_layer(&color, &whole, format, aspect::COLOR, out)
    }
}

fn scratch(len: usize) -> PipeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| PipeError::OutOfMemory("read-back".into()))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Reads a box of the bound framebuffer, tightly.
fn read_pixels(gles: &Gles, area: &Area, format: u32, ty: u32, out: &mut [u8]) {
    // SAFETY: the context is current, a framebuffer is bound, the pack state is tight with alignment 1, and `out` holds the
    // box in the format.
    unsafe {
        let data = out.as_mut_ptr().cast::<c_void>();
        gles.ext.read_pixels(area.x, area.y, area.width, area.height, format, ty, data);
    }
}

/// Takes texels out of components.
fn take_out(take: Take, texel: usize, bytes: &[u8], out: &mut [u8]) {
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let float = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let texels = bytes.chunks_exact(texel);
    match take {
        Take::AsIs => {
            let len = bytes.len().min(out.len());
            out[..len].copy_from_slice(&bytes[..len]);
        }
        Take::Plain { component, count } => {
            let stride = texel / 4;
            for (to, from) in out.chunks_exact_mut(component * count).zip(texels) {
                for (index, part) in to.chunks_exact_mut(component).enumerate() {
                    part.copy_from_slice(&from[index * stride..index * stride + component]);
                }
            }
        }
        Take::Half { count } => {
            for (to, from) in out.chunks_exact_mut(2 * count).zip(texels) {
                for (part, value) in to.chunks_exact_mut(2).zip(from.chunks_exact(4)) {
                    part.copy_from_slice(&half::f16::from_f32(float(value)).to_le_bytes());
                }
            }
        }
        Take::Packed(bits) => {
            for (to, from) in out.chunks_exact_mut(2).zip(texels) {
                let mut value = 0u32;
                for (component, bits) in from.iter().zip(bits) {
                    let most = (1u32 << bits) - 1;
                    value = (value << bits) | ((u32::from(*component) * most + 127) / 255);
                }
                to.copy_from_slice(&(value as u16).to_le_bytes());
            }
        }
        Take::SmallFloats => {
            for (to, from) in out.chunks_exact_mut(4).zip(texels) {
                let c: Vec<f32> = from.chunks_exact(4).map(float).collect();
                let value = unsigned_float(c[0], 6) | unsigned_float(c[1], 6) << 11 | unsigned_float(c[2], 5) << 22;
                to.copy_from_slice(&value.to_le_bytes());
            }
        }
        Take::Packed10 => {
            for (to, from) in out.chunks_exact_mut(4).zip(texels) {
                let c: Vec<u32> = from.chunks_exact(4).map(word).collect();
                let value = c[0] & 0x3ff | (c[1] & 0x3ff) << 10 | (c[2] & 0x3ff) << 20 | (c[3] & 3) << 30;
                to.copy_from_slice(&value.to_le_bytes());
            }
        }
    }
}

/// The unsigned float with 5 bits of exponent that has the value, which came from one.
fn unsigned_float(value: f32, mantissa: u32) -> u32 {
    let half = half::f16::from_f32(value.max(0.0));
    if value.is_nan() {
        return 0x1f << mantissa | 1;
    }
    // A half has the same exponent and 10 bits of mantissa.
    u32::from(half.to_bits() & 0x7fff) >> (10 - mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_out_in_the_formats_layout() {
        let mut out = [0; 2];
        take_out(Take::Plain { component: 1, count: 2 }, 4, &[1, 2, 3, 4], &mut out);
        assert_eq!(out, [1, 2]);
        take_out(Take::Packed([5, 6, 5, 0]), 4, &[255, 0, 0, 255], &mut out);
        assert_eq!(u16::from_le_bytes(out), 0xf800);
        take_out(Take::Half { count: 1 }, 16, bytemuck::bytes_of(&[1.0f32, 0.0, 0.0, 0.0]), &mut out);
        assert_eq!(u16::from_le_bytes(out), 0x3c00);
    }

    #[test]
    fn small_floats_go_back_and_forth() {
        for bits in [0u32, 1, 0x3c0, 0x7bf] {
            assert_eq!(unsigned_float(crate::vertex::small_float(bits, 6), 6), bits);
        }
    }

    #[test]
    fn packed_depth_has_its_stencil_on_top() {
        let mut out = [0; 4];
        Format::D24_UNORM_S8.store_depth_stencil(1.0, 0x42, &mut out);
        assert_eq!(u32::from_le_bytes(out), 0x42ff_ffff);
    }
}
