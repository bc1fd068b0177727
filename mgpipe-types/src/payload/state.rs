//! Payloads of the state calls: what is bound when a verb runs.

use crate::pod::payload;
use crate::render_state::MAX_DRAW_BUFFERS;
use crate::Handle;

/// Number of texture units in the merged unit space.
pub const MAX_TEXTURE_UNITS: usize = 192;
/// Number of vertex attributes and of vertex buffer binding points.
pub const MAX_VERTEX_ATTRIBS: usize = 32;

/// Values of [`ShaderBuffers::class`].
pub mod buffer_class {
    /// Uniform buffers.
    pub const UNIFORM: u32 = 0;
    /// Shader storage buffers.
    pub const SHADER_STORAGE: u32 = 1;
    /// Atomic counter buffers.
    pub const ATOMIC_COUNTER: u32 = 2;
}

/// Values of [`VertexAttribute::class`]: how the shader sees an attribute.
pub mod attrib_class {
    /// Converted to float (normalised or not).
    pub const FLOAT: u8 = 0;
    /// Integer, unconverted.
    pub const INTEGER: u8 = 1;
    /// 64-bit float.
    pub const LONG: u8 = 2;
}

payload! {
    /// Declares a render-state object, 48 bytes; the blob holds the masked pipeline chunks.
    ///
    /// With `base_cso` null every chunk is present. With a base, chunks not in the mask are those of the base.
    RenderStateDesc [48] {
        /// The object.
        cso: Handle,
        /// Object that the missing chunks come from, or null.
        base_cso: Handle,
        /// Pipeline chunks in the blob.
        chunk_mask: u32,
        /// Padding, zero.
        pad: u32,
        /// Where the chunks lie in the blob.
        blob: super::BlobRef,
    }

    /// Binds a render-state object, 12 bytes.
    BindRenderState [12] {
        /// The object.
        cso: Handle,
        /// Render-state version, widened on the client; diagnostics.
        version: u16,
        /// Pipeline version; diagnostics.
        pipeline_version: u16,
    }

    /// Dynamic chunks that changed, 32 bytes; the blob holds them.
    DynamicState [32] {
        /// Dynamic chunks in the blob.
        chunk_mask: u32,
        /// Version; diagnostics.
        version: u32,
        /// Where the chunks lie in the blob.
        blob: super::BlobRef,
    }

    /// The framebuffer of the next verbs, 304 bytes, with everything resolved.
    FramebufferState [304] {
        /// Identity; `{0,1}` is the default framebuffer.
        fbo: Handle,
        /// Colour attachments.
        color: [super::Surface; MAX_DRAW_BUFFERS],
        /// Depth attachment.
        depth: super::Surface,
        /// Stencil attachment.
        stencil: super::Surface,
        /// The resolved read surface (colour), not an index.
        read_surface: super::Surface,
        /// Attachment index of each draw buffer (fragment output location), -1 for none.
        draw_buffers: [i8; MAX_DRAW_BUFFERS],
        /// Width in pixels: the smallest attachment, or the framebuffer's default.
        width: u16,
        /// Height in pixels.
        height: u16,
        /// Layers (1 when not layered).
        layers: u16,
        /// Samples (0 and 1: single-sampled).
        samples: u16,
        /// Fixed sample locations.
        fixed_sample_locations: u8,
        /// 1 for the default framebuffer.
        is_default: u8,
        /// 1 when the framebuffer is complete.
        complete: u8,
        /// Padding, zero.
        pad0: u8,
        /// Padding, zero.
        pad1: u32,
        /// Hash of everything above: the server's render-pass memo key and the client's emission suppressor.
        content_hash: u64,
    }

    /// Declares a vertex-elements object, 16 bytes; tails: [`VertexAttribute`]s, then [`VertexBinding`]s.
    VertexElementsDesc [16] {
        /// The object.
        cso: Handle,
        /// Attributes in the first tail.
        attribute_count: u32,
        /// Binding points in the second tail.
        binding_count: u32,
    }

    /// One enabled vertex attribute, 20 bytes.
    VertexAttribute [20] {
        /// Shader location.
        location: u32,
        /// Binding point that feeds it.
        binding: u32,
        /// Bytes from the start of an element.
        relative_offset: u32,
        /// Component type (GL enum). Travels apart from `class`: `GL_DOUBLE` may be converted or not.
        component_type: u32,
        /// Components, 1 to 4. `bgra` keeps 4.
        components: u8,
        /// 1 when integers are normalised.
        normalized: u8,
        /// A value of [`attrib_class`].
        class: u8,
        /// 1 when the components are in BGRA order.
        bgra: u8,
    }

    /// One vertex buffer binding point, 12 bytes.
    ///
    /// A stride of 0 here means that every vertex reads the same element; the pointer calls' stride 0 was resolved
    /// to the element size before. A binding point that was never set has stride 16 (GL 4.3 table 23.4).
    VertexBinding [12] {
        /// Binding point.
        binding: u32,
        /// Bytes between elements.
        stride: u32,
        /// Instances per element; 0 for per-vertex data.
        divisor: u32,
    }

    /// Buffer of one binding point, 24 bytes. Slot = `start + index in the tail`.
    VertexBuffer [24] {
        /// The buffer, or null.
        res: Handle,
        /// First byte.
        offset: u64,
        /// Bytes between elements, as in the [`VertexBinding`].
        stride: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// The element array buffer, 24 bytes.
    IndexBuffer [24] {
        /// The buffer, or null.
        res: Handle,
        /// First byte.
        offset: u64,
        /// Bytes per index as last drawn: 1, 2 or 4; informative.
        index_size: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// Indirect and parameter buffers, 16 bytes.
    IndirectBuffers [16] {
        /// `GL_DRAW_INDIRECT_BUFFER` or `GL_DISPATCH_INDIRECT_BUFFER`.
        indirect: Handle,
        /// `GL_PARAMETER_BUFFER`.
        parameter: Handle,
    }

    /// A texture unit's resolved view, 24 bytes.
    BoundView [24] {
        /// The view, or null when nothing that the program samples is bound: reads return (0,0,0,1).
        view: Handle,
        /// The texture of the view.
        texture: Handle,
        /// Unit in the merged space of [`MAX_TEXTURE_UNITS`].
        unit: u32,
        /// A [`crate::Target`] value of the view: a unit may be sampled under several targets only in an invalid program.
        target: u32,
    }

    /// An image unit's binding, 24 bytes.
    ImageView [24] {
        /// The texture, or null.
        res: Handle,
        /// Image unit.
        unit: u32,
        /// A [`crate::Format`] value.
        format: u32,
        /// Layer when not layered.
        layer: u32,
        /// Level.
        level: u16,
        /// 1 when all layers are bound.
        layered: u8,
        /// 0 read, 1 write, 2 read and write.
        access: u8,
    }

    /// Header of `set_shader_buffers`, 24 bytes.
    ShaderBuffers [24] {
        /// A value of [`buffer_class`].
        class: u32,
        /// First binding point.
        start: u32,
        /// Binding points in the tail.
        count: u32,
        /// Bit i: element i may be written by shaders.
        writable_mask: u32,
        /// Hash of the resolved set.
        content_hash: u64,
    }

    /// A range of a buffer, 24 bytes.
    BufferRange [24] {
        /// The buffer, or null.
        res: Handle,
        /// First byte.
        offset: u64,
        /// Length, or [`super::WHOLE_BUFFER`].
        size: u64,
    }

    /// Header of `set_stream_output_targets`, 24 bytes; the tail holds a [`BufferRange`] a buffer.
    StreamOutputTargets [24] {
        /// The transform-feedback object.
        xfb: Handle,
        /// Buffers in the tail.
        count: u32,
        /// Padding, zero.
        pad: u32,
        /// Moves whenever a target changes.
        generation: u64,
    }

    /// The default uniform block of a program, 40 bytes; the blob holds its bytes.
    GlobalConstants [40] {
        /// The program.
        shader: Handle,
        /// Content version.
        version: u32,
        /// Padding, zero.
        pad: u32,
        /// Where the bytes lie in the blob.
        blob: super::BlobRef,
    }

    /// Header of `set_vertex_attrib_defaults`, 8 bytes; the tail holds an [`AttribValue`] a set bit, in ascending order.
    VertexAttribDefaults [8] {
        /// Bit i: the tail has the current value of attribute i.
        mask: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// Current value of a vertex attribute, 40 bytes: used when its array is disabled.
    AttribValue [40] {
        /// Attribute index.
        index: u32,
        /// 0 float, 1 signed integer, 2 unsigned integer, 3 double.
        form: u32,
        /// Four components: 32-bit words in the low halves for forms 0 to 2, doubles for form 3.
        bits: [u64; 4],
    }

    /// Pixel pack state, 28 bytes.
    PixelPackState [28] {
        /// `GL_PACK_ROW_LENGTH` in pixels.
        row_length: i32,
        /// `GL_PACK_IMAGE_HEIGHT` in rows.
        image_height: i32,
        /// `GL_PACK_SKIP_PIXELS`.
        skip_pixels: i32,
        /// `GL_PACK_SKIP_ROWS`.
        skip_rows: i32,
        /// `GL_PACK_SKIP_IMAGES`.
        skip_images: i32,
        /// `GL_PACK_ALIGNMENT` in bytes.
        alignment: i32,
        /// `GL_PACK_SWAP_BYTES`.
        swap_bytes: u8,
        /// `GL_PACK_LSB_FIRST`.
        lsb_first: u8,
        /// Padding, zero.
        pad: [u8; 2],
    }

    /// Patch parameters, 40 bytes: pipeline state and a shader-variant input.
    PatchState [40] {
        /// Vertices per patch.
        vertices: u32,
        /// Padding, zero.
        pad0: u32,
        /// Default outer levels; NaN is legal and equals itself.
        outer: [f32; 4],
        /// Default inner levels.
        inner: [f32; 2],
        /// Padding, zero.
        pad1: [u32; 2],
    }

    /// Post-link bindings of a program, 24 bytes; three `u32` tails in one: texture units of the sampler descriptors,
    /// binding points of the uniform blocks, binding points of the storage blocks and atomic-counter buffers, image
    /// units of the image descriptors; each in the order of the reflection.
    ProgramBindings [24] {
        /// The program.
        shader: Handle,
        /// Texture units: one entry an element of every sampler descriptor (arrays flattened).
        sampler_count: u32,
        /// Uniform block binding points.
        uniform_block_count: u32,
        /// Storage block binding points (storage blocks first, then atomic-counter buffers).
        storage_block_count: u32,
        /// Image units: one entry an element of every image descriptor.
        image_count: u32,
    }
}
