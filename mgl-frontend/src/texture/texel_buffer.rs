//! Buffer textures.

use std::sync::Arc;

use mgpipe_types::{bind, format_caps, gl, Context as Pipe, Handle, ResourceDesc, Target, TypedHandle, WHOLE_BUFFER};

use super::{Texture, TextureInner};
use crate::buffer::Buffer;
use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_operation, GlResult};
use crate::format::{Base, ResolvedFormat};

/// What a buffer texture shows.
#[derive(Debug, Clone)]
pub(crate) struct TexelBuffer {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) format: ResolvedFormat,
    /// First byte.
    pub(crate) offset: u64,
    /// Length; `None` follows the buffer's size.
    pub(crate) size: Option<u64>,
    max_texels: u32,
}

impl TexelBuffer {
    /// Bytes that are shown now.
    pub(crate) fn bytes(&self) -> u64 {
        let rest = self.buffer.size().saturating_sub(self.offset);
        self.size.map_or(rest, |size| size.min(rest))
    }

    /// Texels that are shown now.
    pub(crate) fn texels(&self) -> u32 {
        let texel = u64::from(self.format.storage.desc().block_bytes.max(1));
        (self.bytes() / texel).min(u64::from(self.max_texels)) as u32
    }
}

impl Texture {
    pub(super) fn realize_texel_buffer(&self, inner: &mut TextureInner, pipe: &mut dyn Pipe) {
        if inner.images_moved {
            inner.images_moved = false;
            let mut desc = ResourceDesc {
                handle: self.handle.raw(),
                target: Target::TexBuffer as u8,
                bind_mask: bind::SAMPLER | bind::TEXEL_BUFFER,
                height: 1,
                depth: 1,
                array_layers: 1,
                levels: 1,
                gl_name: self.name,
                buffer: Handle::NULL,
                ..ResourceDesc::default()
            };
            if let Some(texels) = &inner.texel_buffer {
                desc.format = texels.format.storage.0;
                desc.width = texels.texels();
                desc.buffer = texels.buffer.handle.raw();
                desc.buffer_offset = texels.offset;
                desc.buffer_size = texels.size.unwrap_or(WHOLE_BUFFER);
            }
            pipe.resource_respecify(&desc);
        }
        if inner.params_moved {
            inner.params_moved = false;
            pipe.set_texture_params(&self.params_payload(inner));
        }
    }
}

impl ContextState {
    /// The format of a buffer texture: texels are read as they lie in the buffer, so no other storage will do.
    fn texel_buffer_format(&self, internal_format: u32) -> GlResult<ResolvedFormat> {
        let legal = matches!(
            internal_format,
            gl::R8
                | gl::R16
                | gl::R16F
                | gl::R32F
                | gl::R8I
                | gl::R16I
                | gl::R32I
                | gl::R8UI
                | gl::R16UI
                | gl::R32UI
                | gl::RG8
                | gl::RG16
                | gl::RG16F
                | gl::RG32F
                | gl::RG8I
                | gl::RG16I
                | gl::RG32I
                | gl::RG8UI
                | gl::RG16UI
                | gl::RG32UI
                | gl::RGBA8
                | gl::RGBA16
                | gl::RGBA16F
                | gl::RGBA32F
                | gl::RGBA8I
                | gl::RGBA16I
                | gl::RGBA32I
                | gl::RGBA8UI
                | gl::RGBA16UI
                | gl::RGBA32UI
        );
        self.share
            .formats
            .get(internal_format)
            .copied()
            .filter(|f| legal && f.info.base != Base::Rgb && f.info.candidates.first() == Some(&f.storage))
            .filter(|f| self.share.caps.format(f.storage) & format_caps::TEXEL_BUFFER != 0)
            .ok_or_else(|| invalid_enum("glTexBuffer: internal format"))
    }
}

impl Context {
    /// `glTexBuffer`.
    pub fn tex_buffer(&mut self, target: u32, internalformat: u32, buffer: u32) {
        self.gl(|ctx| {
            if target != gl::TEXTURE_BUFFER {
                return Err(invalid_enum("glTexBuffer: target"));
            }
            let format = ctx.state.texel_buffer_format(internalformat)?;
            let object = if buffer == 0 {
                None
            } else {
                let object = ctx.state.share.buffers.get(buffer);
                Some(object.ok_or_else(|| invalid_operation("glTexBuffer: no such buffer"))?)
            };
            if let Some(object) = &object {
                ctx.attach_buffer(object)?;
            }
            let max_texels = ctx.state.share.limits.texture_buffer_size;
            let texture = ctx.state.current_texture(Target::TexBuffer)?;
            {
                let mut inner = texture.lock();
                inner.texel_format = internalformat;
                inner.texel_buffer =
                    object.map(|buffer| TexelBuffer { buffer, format, offset: 0, size: None, max_texels });
                inner.images_moved = true;
                inner.params_changed();
            }
            texture.content_changed();
            Ok(())
        });
    }
}
