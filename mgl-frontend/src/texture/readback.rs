//! `glGetTexImage` and `glGetCompressedTexImage`: what the device holds, generated and rendered levels included.

use mgpipe_tracker::VerbClass;
use mgpipe_types::{aspect, Box3, Format, Opcode, ReadbackInfo, ReadbackToBuffer, Surface, Target, TypedHandle as _};

use super::compressed::{decode, decoded_format, encode_storage, image_bytes};
use super::image::client_format;
use super::target::{any_image_target, ImageTarget};
use super::{Extent, Texture};
use crate::boundary::PixelDest;
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, out_of_memory, GlError, GlResult};
use crate::format::{check_texture_transfer, ResolvedFormat, TransferUse};
use crate::pixel::{
    pack_image, packs_as_stored, transfer_address, ClientFormat, Components, Download, Pack, PackOptions,
};

/// Every aspect that a format has.
fn all_aspects(storage: Format) -> u32 {
    let depth = if storage.has_depth() { aspect::DEPTH } else { 0 };
    let stencil = if storage.has_stencil() { aspect::STENCIL } else { 0 };
    match depth | stencil {
        0 => aspect::COLOR,
        bits => bits,
    }
}

impl Context {
    /// The surface to read an image from, which has all texels that were given, and its format. `None` for an image
    /// without texels.
    fn read_surface(&mut self, texture: &Texture, face: usize, level: u32) -> GlResult<Option<(Surface, Format)>> {
        self.tracker.validate(VerbClass::TextureOp, &mut self.state, &mut *self.pipe);
        let mut inner = texture.lock();
        texture.realize_image(&mut inner, face, level, &mut *self.pipe)?;
        let Some(image) = inner.image(face, level) else { return Ok(None) };
        let surface = texture.surface(&inner, face, level, 0, false);
        Ok(surface.is_some().then(|| (surface, image.storage())))
    }

    /// Texels of a box of an image in storage format, as the device holds them. `None` for an image without texels.
    pub(crate) fn fetch_area(
        &mut self,
        texture: &Texture,
        face: usize,
        level: u32,
        area: &Box3,
    ) -> GlResult<Option<(Vec<u8>, Format)>> {
        let Some((surface, storage)) = self.read_surface(texture, face, level)? else { return Ok(None) };
        let bytes = storage.desc().image_bytes(area.width, area.height, area.depth);
        let bytes = bytes.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| out_of_memory("texture read-back"))?;
        let mut texels = Vec::new();
        texels.try_reserve_exact(bytes).map_err(|_| out_of_memory("texture read-back"))?;
        texels.resize(bytes, 0);
        let info = ReadbackInfo { surface, area: *area, format: storage.0, aspect: all_aspects(storage), pad: [0; 2] };
        self.pipe.get_texture_image(&info, &mut texels)?;
        Ok(Some((texels, storage)))
    }

    fn image_of_query(&mut self, target: u32, level: i32, command: &'static str) -> GlResult<(ImageTarget, u32)> {
        let at = any_image_target(target)
            .filter(|at| !at.proxy)
            .ok_or_else(|| invalid_enum(format!("{command}: target")))?;
        let level = self.level_of_query(at.target, level, command)?;
        Ok((at, level))
    }

    /// Extent of a level of the texture that is current for a target; nothing for a level that does not exist.
    fn extent_of(&mut self, at: &ImageTarget, level: u32) -> GlResult<Extent> {
        let texture = self.state.current_texture(at.target)?;
        let inner = texture.lock();
        Ok(inner.image(at.face, level).map_or_else(Extent::default, |image| image.extent))
    }

    /// How far `glGetTexImage` writes from the application's pointer; `None` when it writes to a buffer.
    pub fn tex_image_pack_bytes(&mut self, target: u32, level: i32, format: u32, type_: u32) -> Option<usize> {
        if self.state.buffers.pixel_pack.is_some() {
            return None;
        }
        let extent = self
            .image_of_query(target, level, "glGetTexImage")
            .and_then(|(at, level)| self.extent_of(&at, level).map(|extent| (at, extent)));
        // Illegal arguments raise their error in the command itself.
        let Ok((at, extent)) = extent else { return Some(0) };
        let sizes = extent.sizes().map(|v| i32::try_from(v).unwrap_or(i32::MAX));
        self.pack_bytes(dimensions(at.target), sizes, format, type_)
    }

    /// `glGetTexImage`.
    pub fn get_tex_image(&mut self, target: u32, level: i32, format: u32, type_: u32, dest: PixelDest<'_>) {
        let command = "glGetTexImage";
        self.gl(|ctx| {
            let (at, level) = ctx.image_of_query(target, level, command)?;
            let client = client_format(format, type_, command)?;
            let texture = ctx.state.current_texture(at.target)?;
            let image = {
                let inner = texture.lock();
                inner.image(at.face, level).map(|image| (image.format, image.extent))
            };
            let Some((internal, extent)) = image else {
                // An image that does not exist has no texels; the format is then not checked against it.
                return Ok(());
            };
            check_texture_transfer(internal.info, &client, TransferUse::Readback)
                .map_err(|(code, reason)| GlError { code, message: format!("{command}: {reason}").into() })?;
            let dims = dimensions(at.target);
            let store = ctx.state.pixel.pack;
            let in_buffer = matches!(dest, PixelDest::Buffer(_));
            let address = transfer_address(&store, dims, extent.sizes(), &client, in_buffer, command)?;
            if let PixelDest::Buffer(offset) = dest {
                let pixels = (&client, dims, extent);
                if !extent.is_empty() && ctx.image_on_device(&texture, (at, level), &internal, pixels, offset)? {
                    return Ok(());
                }
            }
            ctx.write_to_dest(dest, address.end, client.offset_alignment(), command, |ctx, out| {
                if extent.is_empty() {
                    return Ok(());
                }
                let area = whole_area(at.target, extent);
                let base = internal.info.base;
                let Some((surface, storage)) = ctx.read_surface(&texture, at.face, level)? else { return Ok(()) };
                let Some(plain) = decoded_format(storage) else {
                    let download = Download {
                        surface,
                        area,
                        format: storage,
                        aspect: all_aspects(storage),
                        base,
                        client: &client,
                        store,
                        dims,
                        options: PackOptions::default(),
                        of_texture: true,
                        command,
                    };
                    return ctx.download(&download, out);
                };
                let Some((texels, storage)) = ctx.fetch_area(&texture, at.face, level, &area)? else { return Ok(()) };
                let texels = decode(storage, extent.sizes(), &texels);
                let texels = texels.ok_or_else(|| out_of_memory("glGetTexImage: decoding"))?;
                let storage = plain;
                if !pack_image(
                    &client,
                    &store,
                    dims,
                    extent.sizes(),
                    &texels,
                    storage,
                    base,
                    PackOptions::default(),
                    out,
                ) {
                    return Err(invalid_operation(format!("{command}: the destination is too small")));
                }
                Ok(())
            })
        });
    }

    /// Has the device write an image into the pack buffer, in the order of the commands, without waiting for anything. Pixels
    /// that take another form than texels get it later. False when that is not possible.
    fn image_on_device(
        &mut self,
        texture: &Texture,
        (at, level): (ImageTarget, u32),
        internal: &ResolvedFormat,
        (client, dims, extent): (&ClientFormat, u32, Extent),
        offset: usize,
    ) -> GlResult<bool> {
        let command = "glGetTexImage";
        let store = self.state.pixel.pack;
        let (storage, base) = (internal.storage, internal.info.base);
        let options = PackOptions::default();
        let direct = packs_as_stored(client, &store, storage, base, options);
        if !self.state.share.caps.has_call(Opcode::ReadbackToBuffer)
            || decoded_format(storage).is_some()
            || !direct && client.shape.components != Components::Color
        {
            return Ok(false);
        }
        let address = transfer_address(&store, dims, extent.sizes(), client, true, command)?;
        let buffer = self.pack_buffer(offset, address.end, client.offset_alignment(), command)?;
        let Some((surface, format)) = self.read_surface(texture, at.face, level)? else { return Ok(true) };
        // The layers of a one-dimensional array are the rows of its image (OpenGL 3.3 section 3.8.1), and slices to the pipe.
        let one_dimensional = at.target == Target::Tex1DArray;
        let slice_stride = if one_dimensional { address.row_stride } else { address.image_stride };
        let area = whole_area(at.target, extent);
        let info = ReadbackInfo { surface, area, format: format.0, aspect: all_aspects(format), pad: [0; 2] };
        if !direct {
            let pack = Pack { size: extent.sizes(), format, base, client: *client, store, dims, options };
            return self.pack_later(info, pack, &buffer, offset);
        }
        self.settle(&buffer)?;
        self.pipe.readback_to_buffer(&ReadbackToBuffer {
            info,
            buffer: buffer.handle.raw(),
            offset: (offset + address.start) as u64,
            row_stride: address.row_stride as u64,
            slice_stride: slice_stride as u64,
        });
        buffer.gpu_wrote();
        self.pack_fences.wanted = true;
        Ok(true)
    }

    /// How far `glGetCompressedTexImage` writes from the application's pointer; `None` when it writes to a buffer.
    pub fn compressed_tex_image_pack_bytes(&mut self, target: u32, level: i32) -> Option<usize> {
        if self.state.buffers.pixel_pack.is_some() {
            return None;
        }
        let Ok((at, level)) = self.image_of_query(target, level, "glGetCompressedTexImage") else { return Some(0) };
        let Ok(texture) = self.state.current_texture(at.target) else { return Some(0) };
        let inner = texture.lock();
        let bytes = inner
            .image(at.face, level)
            .and_then(|image| image.format.info.blocks().map(|blocks| image_bytes(blocks, image.extent)));
        Some(bytes.unwrap_or(0))
    }

    /// `glGetCompressedTexImage`.
    pub fn get_compressed_tex_image(&mut self, target: u32, level: i32, dest: PixelDest<'_>) {
        let command = "glGetCompressedTexImage";
        self.gl(|ctx| {
            let (at, level) = ctx.image_of_query(target, level, command)?;
            let texture = ctx.state.current_texture(at.target)?;
            let image = {
                let inner = texture.lock();
                inner.image(at.face, level).map(|i| (i.format.info.blocks(), i.extent, i.blocks.clone()))
            };
            let Some((Some(blocks), extent, kept)) = image else {
                return Err(invalid_operation(format!("{command}: the image is not compressed")));
            };
            let len = image_bytes(blocks, extent);
            ctx.write_to_dest(dest, len, 1, command, |ctx, out| {
                if let Some(kept) = kept.filter(|kept| kept.len() == len) {
                    out[..len].copy_from_slice(&kept);
                    return Ok(());
                }
                let area = whole_area(at.target, extent);
                let Some((texels, storage)) = ctx.fetch_area(&texture, at.face, level, &area)? else { return Ok(()) };
                let bytes = if storage == blocks {
                    texels
                } else {
                    encode_storage(blocks, extent.sizes(), storage, &texels)
                        .ok_or_else(|| invalid_operation(format!("{command}: cannot compress to this format")))?
                };
                for (to, from) in out[..len].iter_mut().zip(bytes) {
                    *to = from;
                }
                Ok(())
            })
        });
    }
}

/// The box of a whole image in its texture; a cube face is selected by the surface's layer.
fn whole_area(_: Target, extent: Extent) -> Box3 {
    Box3::sized(extent.width, extent.height, extent.depth)
}

/// Dimensionality of the images of a target: whether images and their height count in the pack state.
fn dimensions(target: Target) -> u32 {
    match target {
        Target::Tex1D => 1,
        Target::Tex3D | Target::Tex2DArray => 3,
        _ => 2,
    }
}

/// Whether a pixel format asks for one aspect of a depth-stencil image.
pub(crate) fn aspect_of(client: &ClientFormat) -> u32 {
    match client.shape.components {
        Components::Color => aspect::COLOR,
        Components::Depth => aspect::DEPTH,
        Components::Stencil => aspect::STENCIL,
        Components::DepthStencil => aspect::DEPTH | aspect::STENCIL,
    }
}
