//! Read-backs into buffers: the driver writes texels there in the order of its commands, and nobody waits. What it cannot write as
//! it is stored is read, which waits, and goes into the buffer in the order of the commands all the same.

use crate::context::EsprytContext;
use crate::format::{transfer, Swap};
use crate::framebuffer::Resolved;
use crate::gles::named;
use crate::readback::as_stored;
use crate::resource::texture::Image;
use crate::upload::Area;
use glow::HasContext;
use mgpipe_types::*;
use std::ffi::c_void;
use std::sync::Arc;

/// Where texels go in the buffer.
#[derive(Clone, Copy)]
struct Layout {
    texel: u64,
    row_stride: u64,
    slice_stride: u64,
}

impl EsprytContext {
    /// Reads texels into a buffer.
    ///
    /// # Errors
    /// A range outside of the buffer, out of memory.
    pub(crate) fn read_to_buffer(&mut self, readback: &ReadbackToBuffer) -> PipeResult<()> {
        let info = &readback.info;
        let buffer = self.buffer(readback.buffer)?;
        let (image, level, area) = match self.area_of(info)? {
            Some(found) => found,
            None => return Ok(()),
        };
        let wanted = Format(info.format);
        let desc = wanted.desc();
        let row_bytes = desc.row_bytes(area.width as u32);
        let rows = u64::from((area.height as u32).div_ceil(desc.block_height));
        let row_stride = if readback.row_stride == 0 { row_bytes } else { readback.row_stride };
        let slice_stride = if readback.slice_stride == 0 { row_stride * rows } else { readback.slice_stride };
        let texel = u64::from(desc.block_bytes.max(1));
        let layout = Layout { texel, row_stride, slice_stride };
        let last = (area.depth as u64 - 1) * slice_stride + (rows - 1) * row_stride + row_bytes;
        if readback.offset.checked_add(last).is_none_or(|end| end > buffer.size()) {
            return Err(PipeError::Protocol("a read-back reaches beyond its buffer".into()));
        }
        let shared = self.shared.clone();
        let name = buffer.name(&shared.device.gles)?;
        let renderable = self.device.caps.format(image.format) & format_caps::COLOR_ATTACHMENT != 0;
        let direct = wanted == image.format && image.samples <= 1 && renderable && row_stride % texel == 0;
        if direct && self.read_slices(name, (&image, level, &area), readback.offset, layout)? {
            return Ok(());
        }
        let total = usize::try_from(row_bytes * rows * area.depth as u64)
            .map_err(|_| PipeError::OutOfMemory("read-back".into()))?;
        let mut tight = Vec::new();
        tight.try_reserve_exact(total).map_err(|_| PipeError::OutOfMemory("read-back".into()))?;
        tight.resize(total, 0);
        self.read_surface(info, &mut tight)?;
        let gl = &shared.device.gles.gl;
        // SAFETY: the context is current; the end of the last row was checked.
        unsafe {
            gl.bind_buffer(gl::COPY_WRITE_BUFFER, named!(NativeBuffer, name));
            let packed = row_stride == row_bytes && slice_stride == row_stride * rows;
            if packed {
                gl.buffer_sub_data_u8_slice(gl::COPY_WRITE_BUFFER, readback.offset as i32, &tight);
                return Ok(());
            }
            for (index, row) in tight.chunks_exact(row_bytes.max(1) as usize).enumerate() {
                let (slice, line) = (index as u64 / rows, index as u64 % rows);
                let at = readback.offset + slice * slice_stride + line * row_stride;
                gl.buffer_sub_data_u8_slice(gl::COPY_WRITE_BUFFER, at as i32, row);
            }
        }
        Ok(())
    }

    /// Has the driver write the slices. False when it does not read the format as it is stored.
    fn read_slices(
        &mut self,
        buffer: u32,
        (image, level, area): (&Arc<Image>, u32, &Area),
        offset: u64,
        layout: Layout,
    ) -> PipeResult<bool> {
        let shared = self.shared.clone();
        let gles = &shared.device.gles;
        let gl = &gles.gl;
        for slice in 0..area.depth {
            let end = Resolved { image: image.clone(), level, layer: (area.z + slice) as u32, layered: false };
            self.bind_for_reading(&end)?;
            let way = as_stored(gles, image.format).or_else(|| {
                // What else the driver reads from this framebuffer.
                let stored = transfer(image.format).filter(|t| t.swap == Swap::None && t.ty != 0)?;
                // SAFETY: the context is current and a framebuffer is bound for reading.
                let own = unsafe {
                    (
                        gl.get_parameter_i32(gl::IMPLEMENTATION_COLOR_READ_FORMAT),
                        gl.get_parameter_i32(gl::IMPLEMENTATION_COLOR_READ_TYPE),
                    )
                };
                (own == (stored.format as i32, stored.ty as i32)).then_some((stored.format, stored.ty))
            });
            let start = offset + slice as u64 * layout.slice_stride;
            // The address of a component is a multiple of its size.
            let Some((format, ty)) = way.filter(|_| start % layout.texel.min(4) == 0) else { return Ok(false) };
            // SAFETY: the context is current, a framebuffer is bound, and the caller has checked that the rows lie within the
            // buffer.
            unsafe {
                gl.bind_buffer(gl::PIXEL_PACK_BUFFER, named!(NativeBuffer, buffer));
                gl.pixel_store_i32(gl::PACK_ROW_LENGTH, (layout.row_stride / layout.texel) as i32);
                let at = start as usize as *mut c_void;
                gles.ext.read_pixels(area.x, area.y, area.width, area.height, format, ty, at);
                gl.pixel_store_i32(gl::PACK_ROW_LENGTH, 0);
                gl.bind_buffer(gl::PIXEL_PACK_BUFFER, None);
            }
        }
        Ok(true)
    }
}
