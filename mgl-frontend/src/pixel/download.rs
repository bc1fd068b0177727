//! Read-backs into the application's memory: straight where the pixels lie as they are stored, else in bands.

use mgpipe_types::{Box3, Format, ReadbackInfo, Surface};

use super::convert::{is_tight, pack_image, packs_as_stored, PackOptions};
use super::{ClientFormat, PixelStore};
use crate::context::Context;
use crate::error::{invalid_operation, out_of_memory, GlResult};
use crate::format::Base;

/// Bytes of texels that wait for their conversion at a time. Less than what allocators map on its own, so that the memory
/// is the same one for each band, and the texels are still in the processor's cache when they are converted.
const BAND_BYTES: usize = 960 << 10;

/// What is read, and how it is handed to the application.
pub(crate) struct Download<'a> {
    pub(crate) surface: Surface,
    /// The texels to read.
    pub(crate) area: Box3,
    /// Format in which they are asked for.
    pub(crate) format: Format,
    pub(crate) aspect: u32,
    /// Base format that decides which components exist.
    pub(crate) base: Base,
    pub(crate) client: &'a ClientFormat,
    pub(crate) store: PixelStore,
    /// Dimensionality of the command, for the pack state.
    pub(crate) dims: u32,
    pub(crate) options: PackOptions,
    /// From a texture instead of the framebuffer.
    pub(crate) of_texture: bool,
    pub(crate) command: &'static str,
}

impl Context {
    /// Reads texels and writes them as pixels to `out`, which starts at the application's pointer. The verb has been
    /// validated and the image realised.
    pub(crate) fn download(&mut self, download: &Download<'_>, out: &mut [u8]) -> GlResult {
        let Download { area, format, client, store, .. } = download;
        let too_small = || invalid_operation(format!("{}: the destination is too small", download.command));
        let size = [area.width, area.height, area.depth];
        let desc = format.desc();
        let row = usize::try_from(desc.row_bytes(area.width)).map_err(|_| out_of_memory(download.command))?;
        let total = desc.image_bytes(area.width, area.height, area.depth).and_then(|n| usize::try_from(n).ok());
        let total = total.ok_or_else(|| out_of_memory(download.command))?;
        let address = store.address(download.dims, size, client).ok_or_else(too_small)?;
        if total == 0 {
            return Ok(());
        }
        if address.end > out.len() {
            return Err(too_small());
        }
        if is_tight(&address, size) && packs_as_stored(client, store, *format, download.base, download.options) {
            let texels = out.get_mut(address.start..address.start + total).ok_or_else(too_small)?;
            return self.fetch(download, *area, texels);
        }
        let whole = total <= BAND_BYTES;
        let rows = if whole { area.height } else { ((BAND_BYTES / row.max(1)) as u32).clamp(1, area.height) };
        let slices = if whole { area.depth } else { 1 };
        let mut texels = Vec::new();
        let band = total.min(row * rows as usize * slices as usize);
        texels.try_reserve_exact(band).map_err(|_| out_of_memory(download.command))?;
        texels.resize(band, 0);
        for z in (0..area.depth).step_by(slices as usize) {
            for y in (0..area.height).step_by(rows as usize) {
                let height = rows.min(area.height - y);
                let part = Box3 {
                    y: area.y.saturating_add(y as i32),
                    z: area.z.saturating_add(z as i32),
                    height,
                    depth: slices,
                    ..*area
                };
                let texels = &mut texels[..band.min(row * height as usize * slices as usize)];
                self.fetch(download, part, texels)?;
                let at = z as usize * address.image_stride + y as usize * address.row_stride;
                let out = out.get_mut(at..).ok_or_else(too_small)?;
                let size = [area.width, height, slices];
                // A band of one slice of several counts as an image of its own, whose rows may be further apart.
                let (base, options) = (download.base, download.options);
                if !pack_image(client, store, download.dims, size, texels, *format, base, options, out) {
                    return Err(too_small());
                }
            }
        }
        Ok(())
    }

    fn fetch(&mut self, download: &Download<'_>, area: Box3, texels: &mut [u8]) -> GlResult {
        let info = ReadbackInfo {
            surface: download.surface,
            area,
            format: download.format.0,
            aspect: download.aspect,
            pad: [0; 2],
        };
        if download.of_texture {
            self.pipe.get_texture_image(&info, texels)?;
        } else {
            self.pipe.read_pixels(&info, texels)?;
        }
        Ok(())
    }
}
