//! `glReadPixels`.

use mgpipe_tracker::VerbClass;
use mgpipe_types::{aspect, gl, Box3, Opcode, ReadbackInfo, ReadbackToBuffer, TypedHandle};

use super::{Attachment, Binding, Described};
use crate::boundary::PixelDest;
use crate::context::Context;
use crate::error::{invalid_operation, invalid_value, GlResult};
use crate::format::ComponentKind;
use crate::pixel::{
    packs_as_stored, transfer_address, ClientFormat, Components, Download, Pack, PackOptions, PixelStore,
};
use crate::texture::{aspect_of, client_format};

impl Context {
    /// `glReadPixels`.
    pub fn read_pixels(
        &mut self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        format: u32,
        type_: u32,
        dest: PixelDest<'_>,
    ) {
        let command = "glReadPixels";
        self.gl(|ctx| {
            let client = client_format(format, type_, command)?;
            let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height)) else {
                return Err(invalid_value("glReadPixels: negative size"));
            };
            ctx.state.check_framebuffer(Binding::Read, command)?;
            let framebuffers = &ctx.state.framebuffers;
            let attachment = match client.shape.components {
                Components::Color => framebuffers.read_color(),
                Components::Depth => Some(framebuffers.depth(Binding::Read)),
                Components::Stencil => Some(framebuffers.stencil(Binding::Read)),
                Components::DepthStencil => {
                    let depth = framebuffers.depth(Binding::Read);
                    Some(depth).filter(|d| d.same_image(&framebuffers.stencil(Binding::Read)))
                }
            };
            let found = attachment.and_then(|a| a.describe().map(|d| (a, d)));
            let (attachment, described) =
                found.ok_or_else(|| invalid_operation("glReadPixels: nothing to read this format from"))?;
            if described.samples > 1 && ctx.state.framebuffer_name(Binding::Read) != 0 {
                return Err(invalid_operation("glReadPixels: the framebuffer is multisampled"));
            }
            if client.shape.components == Components::Color
                && client.shape.integer != described.format.info.is_integer()
            {
                return Err(invalid_operation("glReadPixels: integer and non-integer formats do not mix"));
            }
            let store = ctx.state.pixel.pack;
            let in_buffer = matches!(dest, PixelDest::Buffer(_));
            let address = transfer_address(&store, 2, [width, height, 1], &client, in_buffer, command)?;
            if let PixelDest::Buffer(offset) = dest {
                if ctx.read_on_device(&attachment, &described, ([x, y], [width, height]), &client, offset)? {
                    return Ok(());
                }
            }
            let options = ctx.read_options(&described);
            ctx.write_to_dest(dest, address.end, client.offset_alignment(), command, |ctx, out| {
                let rectangle = ([x, y], [width, height]);
                ctx.read_into(&attachment, &described, rectangle, &client, (&store, options), command, out)
            })
        });
    }

    /// Has the device write pixels into the pack buffer, in the order of the commands, without waiting for anything.
    /// Pixels that take another form than texels get it later. False when that is not possible, or when some pixels lie
    /// outside the image.
    fn read_on_device(
        &mut self,
        attachment: &Attachment,
        described: &Described,
        ([x, y], [width, height]): ([i32; 2], [u32; 2]),
        client: &ClientFormat,
        offset: usize,
    ) -> GlResult<bool> {
        let inside = |start: i32, len: u32, limit: u32| {
            start >= 0 && len > 0 && i64::from(start) + i64::from(len) <= i64::from(limit)
        };
        let store = self.state.pixel.pack;
        let storage = described.format.storage;
        let options = self.read_options(described);
        let base = described.format.info.base;
        let direct = packs_as_stored(client, &store, storage, base, options);
        if !self.state.share.caps.has_call(Opcode::ReadbackToBuffer)
            || !inside(x, width, described.width)
            || !inside(y, height, described.height)
            || !direct && (client.shape.components != Components::Color || described.samples > 1)
        {
            return Ok(false);
        }
        let command = "glReadPixels";
        let address = transfer_address(&store, 2, [width, height, 1], client, true, command)?;
        let buffer = self.pack_buffer(offset, address.end, client.offset_alignment(), command)?;
        self.tracker.validate(VerbClass::Readback, &mut self.state, &mut *self.pipe);
        attachment.realize(&mut *self.pipe);
        let info = ReadbackInfo {
            surface: attachment.surface(),
            area: Box3 { x, y, z: 0, width, height, depth: 1 },
            format: storage.0,
            aspect: aspect_of(client),
            pad: [0; 2],
        };
        if !direct {
            let size = [width, height, 1];
            let pack = Pack { size, format: storage, base, client: *client, store, dims: 2, options };
            return self.pack_later(info, pack, &buffer, offset);
        }
        self.settle(&buffer)?;
        self.pipe.readback_to_buffer(&ReadbackToBuffer {
            info,
            buffer: buffer.handle.raw(),
            offset: (offset + address.start) as u64,
            row_stride: address.row_stride as u64,
            slice_stride: 0,
        });
        buffer.gpu_wrote();
        self.pack_fences.wanted = true;
        Ok(true)
    }

    fn read_options(&self, described: &Described) -> PackOptions {
        // GL_FIXED_ONLY clamps unsigned normalised colours, which lie within [0, 1] already.
        let clamp = self.state.render.state().clamp_read_color == gl::TRUE
            && described.format.info.kind != ComponentKind::Unorm;
        PackOptions { clamp, luminance_is_sum: true }
    }

    /// Reads a rectangle, given by its lower left corner and its size, of a color, depth or stencil image.
    pub(crate) fn read_into(
        &mut self,
        attachment: &Attachment,
        described: &Described,
        (origin, size): ([i32; 2], [u32; 2]),
        client: &ClientFormat,
        (store, options): (&PixelStore, PackOptions),
        command: &'static str,
        out: &mut [u8],
    ) -> GlResult {
        // Pixels outside the image are undefined: they are left as they are. Other attachments may be smaller.
        let clip = |start: i32, len: u32, limit: u32| {
            let low = i64::from(start).max(0);
            let high = (i64::from(start) + i64::from(len)).min(i64::from(limit));
            (low < high).then(|| (low as i32, (high - low) as u32))
        };
        let (Some((x, width)), Some((y, height))) =
            (clip(origin[0], size[0], described.width), clip(origin[1], size[1], described.height))
        else {
            return Ok(());
        };
        let storage = described.format.storage;
        let format = match client.shape.components {
            Components::Depth if storage.has_stencil() => mgpipe_types::Format::D32_FLOAT,
            Components::Stencil if storage.has_depth() => mgpipe_types::Format::S8_UINT,
            _ => storage,
        };
        self.tracker.validate(VerbClass::Readback, &mut self.state, &mut *self.pipe);
        attachment.realize(&mut *self.pipe);
        // The clipped rectangle lands where its pixels belong in the whole one.
        let mut store = *store;
        if store.row_length == 0 {
            store.row_length = i32::try_from(size[0]).unwrap_or(i32::MAX);
        }
        store.skip_pixels = store.skip_pixels.saturating_add(x.saturating_sub(origin[0]));
        store.skip_rows = store.skip_rows.saturating_add(y.saturating_sub(origin[1]));
        let base = described.format.info.base;
        let base = if aspect_of(client) == aspect::COLOR { base } else { crate::format::Base::Rgba };
        let download = Download {
            surface: attachment.surface(),
            area: Box3 { x, y, z: 0, width, height, depth: 1 },
            format,
            aspect: aspect_of(client),
            base,
            client,
            store,
            dims: 2,
            options,
            of_texture: false,
            command,
        };
        self.download(&download, out)
    }
}
