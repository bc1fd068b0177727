//! Blits, resolves and mipmap generation.

use crate::command::Object;
use crate::context::MagmaContext;
use crate::resource::texture::Image;
use crate::transfer::ImageArea;
use ash::vk;
use mgpipe_types::{Blit, MipPlan, PipeError, PipeResult, TextureHandle};
use std::sync::Arc;

impl MagmaContext {
    /// Blits or resolves between surfaces.
    pub(crate) fn blit_surfaces(&mut self, _blit: &Blit) -> PipeResult<()> {
        self.warn_once(5, "blits are not done yet");
        Ok(())
    }

    /// Resolves an area of a multisampled colour image into level 0 of a single-sampled one.
    pub(crate) fn resolve_area(&mut self, src: &Arc<Image>, dst: &Arc<Image>, area: &ImageArea, level: u32) -> PipeResult<()> {
        if src.aspects != vk::ImageAspectFlags::COLOR {
            return Err(PipeError::Unsupported("resolve of depth and stencil".into()));
        }
        let commands = self.transfer_commands(&[Object::Image(src)], &[Object::Image(dst)]);
        let to = ImageArea { base_layer: 0, ..*area };
        let region = [vk::ImageResolve {
            src_subresource: area.layers(src.aspects, level),
            src_offset: area.offset,
            dst_subresource: to.layers(dst.aspects, 0),
            dst_offset: area.offset,
            extent: area.extent,
        }];
        // SAFETY: the area lies within both images, which have the same format and are kept by the batch.
        unsafe {
            self.device.raw.cmd_resolve_image(
                commands,
                src.raw,
                vk::ImageLayout::GENERAL,
                dst.raw,
                vk::ImageLayout::GENERAL,
                &region,
            );
        }
        Ok(())
    }

    /// Fills mipmap levels from the base level.
    pub(crate) fn generate_mipmaps(&mut self, plan: &MipPlan) -> PipeResult<()> {
        let _ = self.shared.textures.get(TextureHandle(plan.res)).map_err(|e| PipeError::BadHandle(e.to_string()))?;
        self.warn_once(6, "mipmap generation is not done yet");
        Ok(())
    }
}
