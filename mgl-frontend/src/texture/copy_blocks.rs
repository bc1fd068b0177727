//! Copies from the read framebuffer into block-compressed images: pixels are read back, encoded here and uploaded, since no
//! backend encodes.

use mgpipe_types::{gl, Box3};

use super::compressed::{compress, encoder};
use super::image::client_format;
use super::Texture;
use crate::context::Context;
use crate::error::{invalid_operation, out_of_memory, GlResult};
use crate::format::ResolvedFormat;
use crate::framebuffer::Attachment;
use crate::pixel::{PackOptions, PixelStore};

/// Refuses block formats that MGL cannot encode.
///
/// # Errors
/// `GL_INVALID_OPERATION` for those.
pub(super) fn check_encoder(format: &ResolvedFormat, command: &'static str) -> GlResult {
    match format.info.blocks() {
        Some(blocks) if encoder(blocks).is_none() => {
            Err(invalid_operation(format!("{command}: cannot compress to this format")))
        }
        _ => Ok(()),
    }
}

impl Context {
    /// Copies a rectangle whose lower left corner is `origin` into `area` of a level. What lies outside the framebuffer is
    /// undefined (GL 3.3 section 3.8.3), here black.
    ///
    /// # Errors
    /// `GL_OUT_OF_MEMORY`, and what reading raises.
    pub(super) fn copy_blocks(
        &mut self,
        texture: &Texture,
        (face, level): (usize, u32),
        area: Box3,
        (source, origin): (&Attachment, [i32; 2]),
        internal: &ResolvedFormat,
        command: &'static str,
    ) -> GlResult {
        let Some(described) = source.describe() else { return Ok(()) };
        let signed = internal.info.blocks().and_then(encoder).is_some_and(|(_, signed)| signed);
        let client = client_format(gl::RGBA, if signed { gl::BYTE } else { gl::UNSIGNED_BYTE }, command)?;
        // The application's pixel store is for its own transfers, and its clamping for what it reads itself.
        let store = PixelStore::default();
        let options = PackOptions { clamp: false, luminance_is_sum: true };
        let size = [area.width, area.height];
        let full = || out_of_memory(format!("{command}: {} × {} pixels", area.width, area.height));
        let bytes = (area.width as usize).checked_mul(area.height as usize).and_then(|n| n.checked_mul(4));
        let bytes = bytes.ok_or_else(full)?;
        let mut pixels = Vec::new();
        pixels.try_reserve_exact(bytes).map_err(|_| full())?;
        pixels.resize(bytes, 0);
        self.read_into(source, &described, (origin, size), &client, (&store, options), command, &mut pixels)?;
        let blocks = compress(internal, &client, &store, 2, [size[0], size[1], 1], &pixels).ok_or_else(full)?;
        self.add_texels(texture, face, level, area, blocks);
        Ok(())
    }
}
