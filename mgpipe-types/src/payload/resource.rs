//! Payloads that describe storage: resources, samplers, views and surfaces.

use crate::pod::payload;
use crate::Handle;

/// Size that means "to the end of the buffer, whatever its size is when the range is used".
pub const WHOLE_BUFFER: u64 = u64::MAX;

/// Bits of [`ResourceDesc::bind_mask`]: every way in which a resource may be used.
pub mod bind {
    #![allow(missing_docs)]
    pub const VERTEX: u16 = 1 << 0;
    pub const INDEX: u16 = 1 << 1;
    pub const CONSTANT: u16 = 1 << 2;
    pub const SHADER_BUFFER: u16 = 1 << 3;
    pub const INDIRECT: u16 = 1 << 4;
    pub const SAMPLER: u16 = 1 << 5;
    pub const SHADER_IMAGE: u16 = 1 << 6;
    pub const RENDER_TARGET: u16 = 1 << 7;
    pub const DEPTH_STENCIL: u16 = 1 << 8;
    pub const STREAM_OUTPUT: u16 = 1 << 9;
    pub const ATOMIC: u16 = 1 << 10;
    /// Bound as an element array: the server keeps it in its index mirror when it needs host index bytes.
    pub const ELEMENT_ARRAY: u16 = 1 << 11;
    pub const TEXEL_BUFFER: u16 = 1 << 12;
}

/// Bits of [`Surface::flags`].
pub mod surface_flags {
    /// The GL format has no alpha but the storage does: alpha is never written and reads as one.
    pub const ALPHA_IS_ONE: u16 = 1 << 0;
}

/// Values of [`TextureParams::depth_stencil_mode`].
pub mod depth_stencil_mode {
    /// Sampling returns depth.
    pub const DEPTH: u8 = 0;
    /// Sampling returns the stencil index.
    pub const STENCIL: u8 = 1;
}

/// Values of the swizzle members of [`TextureParams`].
pub mod swizzle {
    #![allow(missing_docs)]
    pub const RED: u8 = 0;
    pub const GREEN: u8 = 1;
    pub const BLUE: u8 = 2;
    pub const ALPHA: u8 = 3;
    pub const ZERO: u8 = 4;
    pub const ONE: u8 = 5;
    /// No swizzle.
    pub const IDENTITY: [u8; 4] = [RED, GREEN, BLUE, ALPHA];
}

/// Texture target of a resource, sampler view or upload, as an 8-bit value.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Target {
    /// Buffer object storage.
    Buffer = 0,
    /// `GL_TEXTURE_1D`.
    Tex1D = 1,
    /// `GL_TEXTURE_2D`.
    Tex2D = 2,
    /// `GL_TEXTURE_3D`.
    Tex3D = 3,
    /// `GL_TEXTURE_1D_ARRAY`.
    Tex1DArray = 4,
    /// `GL_TEXTURE_2D_ARRAY`.
    Tex2DArray = 5,
    /// `GL_TEXTURE_RECTANGLE`.
    TexRect = 6,
    /// `GL_TEXTURE_CUBE_MAP`.
    TexCube = 7,
    /// `GL_TEXTURE_CUBE_MAP_ARRAY`.
    TexCubeArray = 8,
    /// `GL_TEXTURE_2D_MULTISAMPLE`.
    Tex2DMs = 9,
    /// `GL_TEXTURE_2D_MULTISAMPLE_ARRAY`.
    Tex2DMsArray = 10,
    /// `GL_TEXTURE_BUFFER`.
    TexBuffer = 11,
    /// `GL_RENDERBUFFER`.
    Renderbuffer = 12,
}

impl Target {
    /// All targets in numeric order.
    pub const ALL: [Target; 13] = [
        Target::Buffer,
        Target::Tex1D,
        Target::Tex2D,
        Target::Tex3D,
        Target::Tex1DArray,
        Target::Tex2DArray,
        Target::TexRect,
        Target::TexCube,
        Target::TexCubeArray,
        Target::Tex2DMs,
        Target::Tex2DMsArray,
        Target::TexBuffer,
        Target::Renderbuffer,
    ];

    /// The target with this value, if there is one.
    pub fn from_u8(value: u8) -> Option<Target> {
        Target::ALL.get(value as usize).copied()
    }

    /// The GL enum of the target.
    pub fn gl(self) -> u32 {
        use crate::gl;
        match self {
            Target::Buffer => 0,
            Target::Tex1D => gl::TEXTURE_1D,
            Target::Tex2D => gl::TEXTURE_2D,
            Target::Tex3D => gl::TEXTURE_3D,
            Target::Tex1DArray => gl::TEXTURE_1D_ARRAY,
            Target::Tex2DArray => gl::TEXTURE_2D_ARRAY,
            Target::TexRect => gl::TEXTURE_RECTANGLE,
            Target::TexCube => gl::TEXTURE_CUBE_MAP,
            Target::TexCubeArray => gl::TEXTURE_CUBE_MAP_ARRAY,
            Target::Tex2DMs => gl::TEXTURE_2D_MULTISAMPLE,
            Target::Tex2DMsArray => gl::TEXTURE_2D_MULTISAMPLE_ARRAY,
            Target::TexBuffer => gl::TEXTURE_BUFFER,
            Target::Renderbuffer => gl::RENDERBUFFER,
        }
    }

    /// The target of a GL texture enum (cube faces map to the cube).
    pub fn from_gl(target: u32) -> Option<Target> {
        use crate::gl;
        if (gl::TEXTURE_CUBE_MAP_POSITIVE_X..=gl::TEXTURE_CUBE_MAP_NEGATIVE_Z).contains(&target) {
            return Some(Target::TexCube);
        }
        Target::ALL[1..].iter().copied().find(|t| t.gl() == target)
    }
}

payload! {
    /// Storage of a buffer, texture or renderbuffer, 88 bytes: one shape for create and respecify.
    ///
    /// `resource_respecify` replaces the storage under the same handle. When `has_defined_content` is 1, levels whose
    /// extent, format and sample count stay the same keep their texels (copied on the GPU); everything else becomes undefined.
    /// A resource may be created with zero extent (no storage yet) and be specified later.
    ResourceDesc [88] {
        /// The resource; its kind follows from `target`.
        handle: Handle,
        /// A [`Target`] value.
        target: u8,
        /// 1 when texture parameters of a view's owner may diverge: reserved.
        storage_kind: u8,
        /// Uses, bits of [`bind`]. A hint for textures and renderbuffers: more uses may follow.
        bind_mask: u16,
        /// A [`crate::Format`] value (0 for buffers).
        format: u32,
        /// Width of level 0 in texels.
        width: u32,
        /// Height of level 0.
        height: u32,
        /// Depth of level 0 (3D textures only, else 1).
        depth: u32,
        /// Layers (6 for a cube map, 6n for a cube-map array, else 1).
        array_layers: u16,
        /// Mipmap levels.
        levels: u16,
        /// Samples (0 and 1: single-sampled).
        samples: u16,
        /// Fixed sample locations.
        fixed_sample_locations: u8,
        /// Immutable storage (`glTexStorage*`, `glBufferStorage`).
        immutable: u8,
        /// Buffer usage hint (GL enum), 0 for textures.
        usage: u32,
        /// `glBufferStorage` flags.
        storage_flags: u32,
        /// Whether earlier content is kept where it still fits.
        has_defined_content: u8,
        /// The texture was bound to an image unit: allocate image-bindable storage.
        image_bindable_hint: u8,
        /// Padding, zero.
        pad: u16,
        /// GL name, for diagnostics only: never an identity, never part of a key.
        gl_name: u32,
        /// Texture views: the owner of the storage, which is never itself a view.
        view_of: Handle,
        /// Buffer textures: the buffer.
        buffer: Handle,
        /// Padding, zero.
        pad1: u32,
        /// Buffer textures: first byte. Texture views: (min level | min layer << 32).
        buffer_offset: u64,
        /// Buffers: size in bytes. Buffer textures: size of the range or [`WHOLE_BUFFER`].
        buffer_size: u64,
    }

    /// An image that can be attached, read from or blitted, 24 bytes. The format is inline, so that render-pass facts
    /// need no look-up.
    Surface [24] {
        /// Texture or renderbuffer.
        handle: Handle,
        /// A [`crate::Format`] value: the format in which the surface is seen.
        format: u32,
        /// A [`crate::Kind`] value: Texture, Renderbuffer, or 0 for none.
        kind: u8,
        /// 1 when all layers are attached.
        layered: u8,
        /// Mipmap level.
        level: u16,
        /// First layer (cube face, array layer or 3D slice).
        layer: u32,
        /// Bits of [`surface_flags`].
        flags: u16,
        /// Padding, zero.
        pad: u16,
    }

    /// Sampler state, 100 bytes, byte for byte as the API has it.
    ///
    /// `border_color_form` says which of the three border-colour representations the application wrote; all three are
    /// always filled.
    SamplerParameters [100] {
        /// Wrap mode of s.
        wrap_s: u32,
        /// Wrap mode of t.
        wrap_t: u32,
        /// Wrap mode of r.
        wrap_r: u32,
        /// Minification filter.
        min_filter: u32,
        /// Magnification filter.
        mag_filter: u32,
        /// Minimum level of detail.
        min_lod: f32,
        /// Maximum level of detail.
        max_lod: f32,
        /// Level-of-detail bias.
        lod_bias: f32,
        /// Comparison mode.
        compare_mode: u32,
        /// Comparison function.
        compare_func: u32,
        /// Maximum anisotropy.
        max_anisotropy: f32,
        /// 1 when cube maps are filtered across faces.
        cube_map_seamless: u32,
        /// 0 float, 1 signed integer, 2 unsigned integer.
        border_color_form: u32,
        /// Border colour as floats.
        border_color: [f32; 4],
        /// Border colour as signed integers.
        border_color_i: [i32; 4],
        /// Border colour as unsigned integers.
        border_color_u: [u32; 4],
    }

    /// Declares a sampler, 32 bytes; the blob is one [`SamplerParameters`].
    SamplerDesc [32] {
        /// The sampler.
        cso: Handle,
        /// Where the parameters lie in the blob.
        parameters: super::BlobRef,
    }

    /// The restriction under which a texture is sampled, 36 bytes. Everything that `glTexParameter` writes travels in
    /// [`TextureParams`] instead.
    SamplerView [36] {
        /// The view.
        cso: Handle,
        /// The texture.
        texture: Handle,
        /// A [`crate::Format`] value: the format in which texels are read.
        format: u32,
        /// A [`Target`] value.
        target: u8,
        /// Padding, zero.
        pad0: [u8; 3],
        /// First level of the view.
        min_level: u16,
        /// Number of levels.
        num_levels: u16,
        /// First layer.
        min_layer: u16,
        /// Number of layers.
        num_layers: u16,
        /// Samples.
        samples: u16,
        /// Fixed sample locations.
        fixed_sample_locations: u8,
        /// Padding, zero.
        pad1: u8,
    }

    /// Parameters of a texture object, 32 bytes, also of one that is only an attachment or an image.
    TextureParams [32] {
        /// The texture.
        res: Handle,
        /// Base level.
        base_level: u16,
        /// Maximum level.
        max_level: u16,
        /// Swizzle of r, g, b, a: values of [`swizzle`], already composed with what the format lacks.
        swizzle: [u8; 4],
        /// A value of [`depth_stencil_mode`].
        depth_stencil_mode: u8,
        /// 1: apply even when nothing seems to differ.
        force_resync: u8,
        /// Padding, zero.
        pad: [u8; 2],
        /// Minimum level of detail of the texture's own sampler state.
        min_lod: f32,
        /// Maximum level of detail.
        max_lod: f32,
        /// Level-of-detail bias.
        lod_bias: f32,
    }

    /// Allocates renderbuffer storage, 32 bytes.
    RenderbufferStorage [32] {
        /// The renderbuffer.
        res: Handle,
        /// A [`crate::Format`] value.
        format: u32,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Samples (0 and 1: single-sampled).
        samples: u32,
        /// GL name, diagnostics only.
        gl_name: u32,
        /// Padding, zero.
        pad: u32,
    }

    /// A persistent mapping as the server answers it, 32 bytes.
    MapResult [32] {
        /// Address of the first byte in this process; 0 when the mapping lies in a segment.
        address: u64,
        /// Mapped bytes.
        size: u64,
        /// Segment of the mapping in split transports.
        segment: u32,
        /// 1 when the mapping is coherent with the GPU.
        coherent: u32,
        /// First byte within the segment.
        offset: u64,
    }
}

impl Surface {
    /// Whether the surface is an attachment at all.
    pub fn is_some(&self) -> bool {
        self.kind != 0
    }

    /// The resource behind the surface; `None` when nothing is attached.
    pub fn resource(&self) -> Option<crate::ResourceHandle> {
        crate::ResourceHandle::from_parts(self.kind, self.handle)
    }
}
