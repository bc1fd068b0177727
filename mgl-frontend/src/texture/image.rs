//! `glTexImage*` and `glTexSubImage*`.

use mgpipe_types::{gl, Box3, Target};

use super::pending::{SETTLED_WAIT_LIMIT, WAIT_LIMIT};
use super::target::{bind_target, image_target, ImageTarget};
use super::{Extent, Image, Texture, MAX_LEVELS};
use crate::boundary::PixelData;
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, invalid_value, out_of_memory, GlError, GlResult};
use crate::format::{check_texture_transfer, ResolvedFormat, TransferUse};
use crate::pixel::{unpack_image, ClientFormat, Components, Unpacker};

/// Names of the commands by dimensionality, for messages.
pub(super) fn command_name(dims: u32, names: [&'static str; 3]) -> &'static str {
    names[(dims.clamp(1, 3) - 1) as usize]
}

const TEX_IMAGE: [&str; 3] = ["glTexImage1D", "glTexImage2D", "glTexImage3D"];
const TEX_SUB_IMAGE: [&str; 3] = ["glTexSubImage1D", "glTexSubImage2D", "glTexSubImage3D"];

/// Checks a format × type pair.
pub(crate) fn client_format(format: u32, type_: u32, command: &'static str) -> GlResult<ClientFormat> {
    ClientFormat::new(format, type_, false)
        .map_err(|code| GlError { code, message: format!("{command}: format and type").into() })
}

impl ContextState {
    /// The internal format of a texture image.
    ///
    /// # Errors
    /// `GL_INVALID_VALUE` for what is no internal format (GL 3.3 section 3.9.1).
    pub(crate) fn texture_format(&self, internal_format: u32, command: &'static str) -> GlResult<ResolvedFormat> {
        let found = self.share.formats.get(internal_format).copied();
        found
            .filter(|f| !f.info.base.is_legacy() && (f.info.base.has_depth() || !f.info.base.has_stencil()))
            .ok_or_else(|| invalid_value(format!("{command}: internal format {internal_format:#x}")))
    }

    /// Largest width, height and depth of level 0 of a target.
    pub(crate) fn max_extent(&self, target: Target) -> [u32; 3] {
        let limits = &self.share.limits;
        let size = limits.texture_size;
        match target {
            Target::Tex1D => [size, 1, 1],
            Target::Tex1DArray => [size, limits.array_layers, 1],
            Target::Tex2DArray | Target::Tex2DMsArray => [size, size, limits.array_layers],
            Target::Tex3D => [limits.texture_3d_size; 3],
            Target::TexCube => [limits.cube_map_size, limits.cube_map_size, 1],
            Target::TexRect => [limits.rectangle_size, limits.rectangle_size, 1],
            Target::TexBuffer => [limits.texture_buffer_size, 1, 1],
            _ => [size, size, 1],
        }
    }

    /// Number of levels that images of a target may have.
    pub(crate) fn max_levels(&self, target: Target) -> u32 {
        if super::target::single_level(target) {
            return 1;
        }
        let max = self.max_extent(target);
        let largest = max
            .into_iter()
            .zip(super::target::shrinking(target))
            .filter_map(|(size, shrinks)| shrinks.then_some(size))
            .max()
            .unwrap_or(1);
        (largest.max(1).ilog2() + 1).min(MAX_LEVELS as u32)
    }

    /// Checks a level number.
    pub(crate) fn check_level(&self, target: Target, level: i32, command: &'static str) -> GlResult<u32> {
        u32::try_from(level)
            .ok()
            .filter(|&level| level < self.max_levels(target))
            .ok_or_else(|| invalid_value(format!("{command}: level {level}")))
    }

    /// Checks the size of an image. `Ok(None)`: a proxy question whose answer is "does not fit".
    pub(super) fn check_image_size(
        &self,
        at: &ImageTarget,
        level: u32,
        size: [i32; 3],
        command: &'static str,
    ) -> GlResult<Option<Extent>> {
        let mut sizes = [0; 3];
        for (to, from) in sizes.iter_mut().zip(size) {
            *to = u32::try_from(from).map_err(|_| invalid_value(format!("{command}: negative size")))?;
        }
        if at.target == Target::TexCube && sizes[0] != sizes[1] {
            return Err(invalid_value(format!("{command}: a cube map face is not square")));
        }
        let max = self.max_extent(at.target);
        let shrinks = super::target::shrinking(at.target);
        let fits = (0..3).all(|i| {
            let max = if shrinks[i] { (max[i] >> level).max(1) } else { max[i] };
            sizes[i] <= max
        });
        match (fits, at.proxy) {
            (true, _) => Ok(Some(Extent::new(sizes[0], sizes[1], sizes[2]))),
            (false, true) => Ok(None),
            (false, false) => Err(invalid_value(format!("{command}: size {size:?} at level {level}"))),
        }
    }
}

/// Refuses block formats and depth formats for targets that do not take them.
pub(super) fn check_format_for_target(format: &ResolvedFormat, target: Target, command: &'static str) -> GlResult {
    let info = format.info;
    if !info.base.is_color() && target == Target::Tex3D {
        return Err(invalid_operation(format!("{command}: depth formats have no 3D textures")));
    }
    if info.is_compressed() {
        let is_bptc = (gl::COMPRESSED_RGBA_BPTC_UNORM..=gl::COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT).contains(&info.gl);
        match target {
            Target::Tex2D | Target::TexCube | Target::Tex2DArray => {}
            Target::Tex3D if is_bptc => {}
            Target::Tex3D => return Err(invalid_operation(format!("{command}: the block format has no 3D textures"))),
            _ => return Err(invalid_enum(format!("{command}: the target takes no block formats"))),
        }
    }
    Ok(())
}

impl Context {
    /// `glTexImage1D`, `2D` and `3D`.
    pub fn tex_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        internalformat: i32,
        size: [i32; 3],
        border: i32,
        format: u32,
        type_: u32,
        pixels: PixelData<'_>,
    ) {
        let command = command_name(dims, TEX_IMAGE);
        self.gl(|ctx| {
            let at = image_target(dims, target).ok_or_else(|| invalid_enum(format!("{command}: target")))?;
            let level = ctx.state.check_level(at.target, level, command)?;
            if border != 0 {
                return Err(invalid_value(format!("{command}: border")));
            }
            let extent = ctx.state.check_image_size(&at, level, size, command)?;
            let client = client_format(format, type_, command)?;
            let internal = ctx.state.texture_format(internalformat as u32, command)?;
            check_texture_transfer(internal.info, &client, TransferUse::Upload)
                .map_err(|(code, reason)| GlError { code, message: format!("{command}: {reason}").into() })?;
            check_format_for_target(&internal, at.target, command)?;
            if at.proxy {
                ctx.state.textures.set_proxy(at.target, level, extent.map(|e| Image::new(&internal, e)));
                return Ok(());
            }
            let Some(extent) = extent else { return Ok(()) };
            let texture = ctx.state.current_texture(at.target)?;
            if texture.lock().immutable_levels != 0 {
                return Err(invalid_operation(format!("{command}: the texture is immutable")));
            }
            let source = ctx.check_source(pixels, dims, extent.sizes(), &client, command)?;
            let mut image = Image::new(&internal, extent);
            let area = Box3::sized(extent.width, extent.height, extent.depth);
            let Some(source) = source.filter(|_| !extent.is_empty()) else {
                ctx.install_image(&texture, at.face, level, image);
                return Ok(());
            };
            let unpacker = ctx.unpacker(&internal, &client, dims, extent.sizes());
            // An image of the same shape keeps its storage, so that its texels need not wait for one.
            if let Some(unpacker) = unpacker.filter(|_| texture.lock().keeps_place(at.face, level, &image)) {
                ctx.install_image(&texture, at.face, level, Image::new(&internal, extent));
                if ctx.stream_texels(&texture, (at.face, level), &area, &unpacker, &source, command)? {
                    return Ok(());
                }
            }
            let len = ctx.source_bytes(&client, dims, extent.sizes());
            let data = ctx.bytes_of(source, len, command)?;
            let bytes = ctx.texels(&internal, &client, dims, extent.sizes(), &data, command)?;
            image.add_texels(area, bytes);
            ctx.install_image(&texture, at.face, level, image);
            Ok(())
        });
    }

    /// `glTexSubImage1D`, `2D` and `3D`.
    pub fn tex_sub_image(
        &mut self,
        dims: u32,
        target: u32,
        level: i32,
        offset: [i32; 3],
        size: [i32; 3],
        format: u32,
        type_: u32,
        pixels: PixelData<'_>,
    ) {
        let command = command_name(dims, TEX_SUB_IMAGE);
        self.gl(|ctx| {
            let at = image_target(dims, target)
                .filter(|at| !at.proxy)
                .ok_or_else(|| invalid_enum(format!("{command}: target")))?;
            let level = ctx.state.check_level(at.target, level, command)?;
            let client = client_format(format, type_, command)?;
            let texture = ctx.state.current_texture(at.target)?;
            let (internal, area) = {
                let inner = texture.lock();
                let image = inner
                    .image(at.face, level)
                    .ok_or_else(|| invalid_operation(format!("{command}: the level was never specified")))?;
                let area = check_area(image.extent, offset, size, command)?;
                if image.format.info.is_compressed() {
                    check_block_alignment(image, &area, command)?;
                }
                (image.format, area)
            };
            check_texture_transfer(internal.info, &client, TransferUse::Upload)
                .map_err(|(code, reason)| GlError { code, message: format!("{command}: {reason}").into() })?;
            let sizes = [area.width, area.height, area.depth];
            let Some(source) = ctx.check_source(pixels, dims, sizes, &client, command)? else { return Ok(()) };
            if sizes.contains(&0) {
                return Ok(());
            }
            let keeps_stencil = internal.info.base.has_stencil() && client.shape.components == Components::Depth;
            if let Some(unpacker) = ctx.unpacker(&internal, &client, dims, sizes).filter(|_| !keeps_stencil) {
                if ctx.stream_texels(&texture, (at.face, level), &area, &unpacker, &source, command)? {
                    return Ok(());
                }
                let data = ctx.bytes_of(source, unpacker.address.end, command)?;
                return ctx.queue_texels(&texture, at.face, level, area, &unpacker, &data, command);
            }
            let len = ctx.source_bytes(&client, dims, sizes);
            let data = ctx.bytes_of(source, len, command)?;
            let mut bytes = ctx.texels(&internal, &client, dims, sizes, &data, command)?;
            if keeps_stencil {
                ctx.keep_stencil(&texture, at.face, level, &area, &mut bytes)?;
            }
            ctx.add_texels(&texture, at.face, level, area, bytes);
            Ok(())
        });
    }

    /// How an upload becomes texels row by row; `None` when it becomes blocks.
    fn unpacker(
        &self,
        internal: &ResolvedFormat,
        client: &ClientFormat,
        dims: u32,
        size: [u32; 3],
    ) -> Option<Unpacker> {
        if internal.info.is_compressed() {
            return None;
        }
        Unpacker::new(client, &self.state.pixel.unpack, dims, size, internal.storage, internal.info.base)
    }

    /// Bytes from the application's pointer on that a checked upload reads.
    fn source_bytes(&self, client: &ClientFormat, dims: u32, size: [u32; 3]) -> usize {
        self.state.pixel.unpack.address(dims, size, client).map_or(0, |address| address.end)
    }

    /// Converts an upload to storage texels, or to blocks.
    fn texels(
        &self,
        internal: &ResolvedFormat,
        client: &ClientFormat,
        dims: u32,
        size: [u32; 3],
        data: &[u8],
        command: &'static str,
    ) -> GlResult<Vec<u8>> {
        let store = &self.state.pixel.unpack;
        if internal.info.is_compressed() {
            return super::compressed::compress(internal, client, store, dims, size, data)
                .ok_or_else(|| invalid_operation(format!("{command}: cannot compress to this format")));
        }
        unpack_image(client, store, dims, size, data, internal.storage, internal.info.base)
            .ok_or_else(|| out_of_memory(format!("{command}: image of {size:?}")))
    }

    /// Makes an image the level of a texture.
    pub(crate) fn install_image(&mut self, texture: &Texture, face: usize, level: u32, image: Image) {
        let moved = {
            let mut inner = texture.lock();
            inner.set_image(face, level, image);
            // A texture whose storage is as before sends texels while they are few: they need not wait for a draw.
            inner.is_moved()
        };
        if moved {
            texture.shape_changed();
        } else {
            texture.content_changed();
        }
        self.limit_waiting(texture, face, level);
    }

    /// Queues texels of a part of an image.
    pub(crate) fn add_texels(&mut self, texture: &Texture, face: usize, level: u32, area: Box3, bytes: Vec<u8>) {
        if let Some(image) = texture.lock().image_mut(face, level) {
            image.add_texels(area, bytes);
            image.blocks = None;
        }
        texture.content_changed();
        self.limit_waiting(texture, face, level);
    }

    /// Converts and queues texels of a part of an image.
    fn queue_texels(
        &mut self,
        texture: &Texture,
        face: usize,
        level: u32,
        area: Box3,
        unpacker: &Unpacker,
        data: &[u8],
        command: &'static str,
    ) -> GlResult {
        let len = unpacker.len_of(data).ok_or_else(|| out_of_memory(command))?;
        if len >= SETTLED_WAIT_LIMIT {
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len).map_err(|_| out_of_memory(command))?;
            bytes.resize(len, 0);
            unpacker.write(data, &mut bytes);
            self.add_texels(texture, face, level, area, bytes);
            return Ok(());
        }
        if let Some(image) = texture.lock().image_mut(face, level) {
            unpacker.write(data, image.pending.room(area, len));
            image.blocks = None;
        }
        texture.content_changed();
        self.limit_waiting(texture, face, level);
        Ok(())
    }

    /// Sends what waits when it is much.
    fn limit_waiting(&mut self, texture: &Texture, face: usize, level: u32) {
        let over = {
            let inner = texture.lock();
            let limit = if inner.is_moved() { WAIT_LIMIT } else { SETTLED_WAIT_LIMIT };
            inner.image(face, level).is_some_and(|image| image.pending.bytes() >= limit)
        };
        if over {
            texture.realize(&mut *self.pipe);
        } else {
            self.state.texture_waits(texture.name, texture.handle);
        }
    }

    /// Fills the stencil of queued depth-stencil texels with what the texture has: a depth upload leaves it alone.
    fn keep_stencil(&mut self, texture: &Texture, face: usize, level: u32, area: &Box3, bytes: &mut [u8]) -> GlResult {
        let Some((old, format)) = self.fetch_area(texture, face, level, area)? else { return Ok(()) };
        let Some(shape) = crate::pixel::Shape::of_storage(format) else { return Ok(()) };
        let old = crate::pixel::decode_row(&shape, &old, false);
        let mut new = crate::pixel::decode_row(&shape, bytes, false);
        if let (crate::pixel::Row::DepthStencil(old), crate::pixel::Row::DepthStencil(new)) = (&old, &mut new) {
            for (to, from) in new.iter_mut().zip(old) {
                to.1 = from.1;
            }
        }
        crate::pixel::encode_row(&shape, &new, bytes, false);
        Ok(())
    }
}

impl Image {
    /// Queues texels, or blocks.
    pub(crate) fn add_texels(&mut self, area: Box3, bytes: Vec<u8>) {
        self.pending.add(area, bytes);
    }
}

/// Checks the box of a sub-image command.
pub(super) fn check_area(extent: Extent, offset: [i32; 3], size: [i32; 3], command: &'static str) -> GlResult<Box3> {
    let limits = extent.sizes();
    for i in 0..3 {
        let end = i64::from(offset[i]) + i64::from(size[i]);
        if offset[i] < 0 || size[i] < 0 || end > i64::from(limits[i]) {
            return Err(invalid_value(format!("{command}: the box {offset:?} {size:?} leaves the image {limits:?}")));
        }
    }
    Ok(Box3 {
        x: offset[0],
        y: offset[1],
        z: offset[2],
        width: size[0] as u32,
        height: size[1] as u32,
        depth: size[2] as u32,
    })
}

/// A block format takes whole blocks, except at the image's edges.
pub(super) fn check_block_alignment(image: &Image, area: &Box3, command: &'static str) -> GlResult {
    let Some(blocks) = image.format.info.blocks() else { return Ok(()) };
    let desc = blocks.desc();
    let aligned = |offset: i32, size: u32, extent: u32, block: u32| {
        offset as u32 % block == 0 && (size % block == 0 || offset as u32 + size == extent)
    };
    if aligned(area.x, area.width, image.extent.width, desc.block_width)
        && aligned(area.y, area.height, image.extent.height, desc.block_height)
    {
        Ok(())
    } else {
        Err(invalid_operation(format!("{command}: the box cuts blocks")))
    }
}

/// The target of a whole texture for commands that take any.
pub(super) fn texture_target(target: u32, command: &'static str) -> GlResult<Target> {
    bind_target(target).ok_or_else(|| invalid_enum(format!("{command}: target")))
}
