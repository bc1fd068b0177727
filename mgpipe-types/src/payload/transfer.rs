//! Payloads that move texels and bytes: uploads, copies, blits, clears and read-backs.

use crate::pod::payload;
use crate::Handle;

/// Bits of [`Clear::buffers`] and [`Blit::mask`].
pub mod aspect {
    #![allow(missing_docs)]
    pub const COLOR: u32 = 1;
    pub const DEPTH: u32 = 2;
    pub const STENCIL: u32 = 4;
}

/// Values of [`Clear::color_form`].
pub mod clear_form {
    /// Float bits.
    pub const FLOAT: u32 = 0;
    /// Signed integers.
    pub const SIGNED: u32 = 1;
    /// Unsigned integers.
    pub const UNSIGNED: u32 = 2;
}

payload! {
    /// One region of an upload, 40 bytes, with explicit source strides.
    SubRegion [40] {
        /// Destination x in texels.
        x: i32,
        /// Destination row.
        y: i32,
        /// Destination slice, layer or face.
        z: i32,
        /// Width in texels.
        width: u32,
        /// Height in rows.
        height: u32,
        /// Slices or layers.
        depth: u32,
        /// First source byte within the blob.
        src_offset: u64,
        /// Source bytes between rows; 0 means tight.
        src_row_stride: u32,
        /// Source bytes between slices; 0 means tight.
        src_slice_stride: u32,
    }

    /// An upload into one level of a texture, or into a buffer, 72 bytes; tail: [`SubRegion`]s; blob: the bytes.
    ///
    /// For a buffer the union box is a byte range ([`super::Box3::from_buffer_range`]), there are no regions and the blob
    /// is exactly the range. For a texture the source texels are in the resource's own [`crate::Format`]; the union box
    /// covers all regions and the server picks the upload shape. Data of several layers or faces is one region with
    /// `z`/`depth`.
    SubData [72] {
        /// The resource.
        res: Handle,
        /// A [`crate::Target`] value of the resource: [`crate::Target::Buffer`] or a texture target.
        target: u16,
        /// Mipmap level.
        level: u16,
        /// 1 when the blob is the unconverted shadow of the whole level.
        source_is_level_shadow: u8,
        /// Padding, zero.
        pad: [u8; 3],
        /// Box or byte range that covers every region.
        union_box: super::Box3,
        /// Regions in the tail.
        region_count: u32,
        /// Padding, zero.
        pad1: u32,
        /// Where the source bytes lie in the blob.
        blob: super::BlobRef,
    }

    /// The end of a re-sent upload after a texture pull, 24 bytes; it may close zero regions.
    SubDataComplete [24] {
        /// The resource.
        res: Handle,
        /// Level.
        level: u32,
        /// Regions that were sent since the request.
        region_count: u32,
        /// Token of the request.
        token: u64,
    }

    /// An upload into a buffer whose mapping is resident, 40 bytes; blob: the bytes.
    BufferSubDataResident [40] {
        /// The buffer.
        res: Handle,
        /// First byte.
        offset: u64,
        /// Where the bytes lie in the blob.
        blob: super::BlobRef,
    }

    /// A flushed range of a persistently mapped buffer, 32 bytes.
    FlushRange [32] {
        /// The buffer.
        res: Handle,
        /// First byte.
        offset: u64,
        /// Length in bytes.
        size: u64,
        /// The application's `glMapBufferRange` access flags.
        access: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A copy between two resources of the same storage class family, 64 bytes, without conversion.
    ///
    /// Buffers: `src_box` is a byte range, `dst_x`/`dst_y` hold the destination offset (low, high word). Textures and
    /// renderbuffers: texel boxes; formats need equal block sizes (`glCopyImageSubData`, spec 18.3.3).
    CopyRegion [64] {
        /// Destination.
        dst: Handle,
        /// Source.
        src: Handle,
        /// Destination's storage class ([`crate::Kind`]).
        dst_kind: u8,
        /// Source's storage class.
        src_kind: u8,
        /// Destination level.
        dst_level: u16,
        /// Source level.
        src_level: u16,
        /// Padding, zero.
        pad: u16,
        /// Destination x.
        dst_x: i32,
        /// Destination y.
        dst_y: i32,
        /// Destination z or layer.
        dst_z: i32,
        /// Padding, zero.
        pad1: u32,
        /// Source box.
        src_box: super::Box3,
    }

    /// Levels to generate, 16 bytes: `base_level` is filtered down into every level up to `last_level`.
    MipPlan [16] {
        /// The texture.
        res: Handle,
        /// Source level.
        base_level: u16,
        /// Last level.
        last_level: u16,
        /// Padding, zero.
        pad: u32,
    }

    /// A read-back, 64 bytes: `read_pixels` and `get_texture_image` share the shape.
    ///
    /// The answer holds texels in `format`, tightly packed: rows of `width` texels, then slices. `format` is the surface's
    /// own format, or `D32F`/`S8` to take one aspect of a depth-stencil surface. Multisampled surfaces are resolved
    /// first. For 3D and array textures `area.z`/`area.depth` select slices.
    ReadbackInfo [64] {
        /// What is read.
        surface: super::Surface,
        /// Texels to read; it lies inside the surface.
        area: super::Box3,
        /// A [`crate::Format`] value of the answer.
        format: u32,
        /// One of [`aspect`].
        aspect: u32,
        /// Padding, zero.
        pad: [u32; 2],
    }

    /// A read-back of buffer bytes, 24 bytes.
    BufferReadback [24] {
        /// The buffer.
        res: Handle,
        /// First byte.
        offset: u64,
        /// Length in bytes; equals the length of the answer.
        size: u64,
    }

    /// An unanswered read-back into a buffer, 96 bytes.
    ReadbackToBuffer [96] {
        /// What is read; `format` is also the texel layout written.
        info: ReadbackInfo,
        /// Destination buffer.
        buffer: Handle,
        /// First destination byte.
        offset: u64,
        /// Destination bytes between rows.
        row_stride: u64,
        /// Destination bytes between slices.
        slice_stride: u64,
    }

    /// A blit or resolve between two surfaces, 120 bytes. One call a destination attachment.
    ///
    /// Colour masks do not apply; the scissor box does (spec 18.3.1). Converts between formats of the same class,
    /// sRGB by `srgb_encode`. Multisampled sources are resolved; `filter` is `GL_NEAREST` for depth and stencil.
    Blit [120] {
        /// Source.
        src: super::Surface,
        /// Destination.
        dst: super::Surface,
        /// Source corners in pixels.
        src_rect: super::Corners,
        /// Destination corners in pixels.
        dst_rect: super::Corners,
        /// Scissor in destination pixels.
        scissor: crate::ScissorBox,
        /// 1 when the scissor applies.
        scissor_enabled: u32,
        /// Bits of [`aspect`].
        mask: u32,
        /// `GL_NEAREST` or `GL_LINEAR`.
        filter: u32,
        /// 1: encode to sRGB on write and decode on read where formats are sRGB (`GL_FRAMEBUFFER_SRGB`); 0: raw.
        srgb_encode: u32,
        /// Padding, zero.
        pad: [u32; 2],
    }

    /// A clear of attachments of the current framebuffer, 40 bytes; scissor and write masks of the render state apply.
    Clear [40] {
        /// Bits of [`aspect`].
        buffers: u32,
        /// Draw buffer that is cleared, or -1 for all.
        draw_buffer: i32,
        /// A value of [`clear_form`].
        color_form: u32,
        /// Depth.
        depth: f32,
        /// Stencil.
        stencil: i32,
        /// Padding, zero.
        pad: u32,
        /// Colour bits in the stated form.
        color: [u32; 4],
    }
}
