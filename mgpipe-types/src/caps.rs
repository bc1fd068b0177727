//! What a backend can do: one plain-data block and one dense format table.

use crate::pod::payload;
use crate::Format;

/// Slots of the format table; format numbers index it.
pub const FORMAT_SLOTS: usize = 160;

const _: () = assert!(Format::ALL.len() < FORMAT_SLOTS);

/// Bits of [`Caps::features`].
pub mod features {
    #![allow(missing_docs)]
    pub const GEOMETRY_SHADER: u64 = 1 << 0;
    pub const TESSELLATION: u64 = 1 << 1;
    pub const COMPUTE: u64 = 1 << 2;
    pub const TRANSFORM_FEEDBACK: u64 = 1 << 3;
    pub const XFB_STREAMS: u64 = 1 << 4;
    pub const VIEWPORT_ARRAY: u64 = 1 << 5;
    pub const FLOAT64: u64 = 1 << 6;
    pub const FLOAT64_VERTEX_ATTRIB: u64 = 1 << 7;
    pub const DUAL_SOURCE_BLEND: u64 = 1 << 8;
    pub const LOGIC_OP: u64 = 1 << 9;
    pub const POLYGON_MODE: u64 = 1 << 10;
    pub const WIDE_LINES: u64 = 1 << 11;
    pub const LARGE_POINTS: u64 = 1 << 12;
    pub const DEPTH_CLAMP: u64 = 1 << 13;
    pub const CLIP_CONTROL: u64 = 1 << 14;
    pub const CLIP_DISTANCE: u64 = 1 << 15;
    pub const CULL_DISTANCE: u64 = 1 << 16;
    pub const SAMPLE_SHADING: u64 = 1 << 17;
    pub const INDEPENDENT_BLEND: u64 = 1 << 18;
    pub const ANISOTROPY: u64 = 1 << 19;
    pub const CUBE_ARRAY: u64 = 1 << 20;
    pub const OCCLUSION_QUERY: u64 = 1 << 21;
    pub const OCCLUSION_PRECISE: u64 = 1 << 22;
    pub const TIMER_QUERY: u64 = 1 << 23;
    pub const XFB_PRIMITIVES_QUERY: u64 = 1 << 24;
    pub const PRIMITIVES_GENERATED_QUERY: u64 = 1 << 25;
    pub const PIPELINE_STATISTICS: u64 = 1 << 26;
    pub const MULTI_DRAW_INDIRECT: u64 = 1 << 27;
    pub const INDIRECT_COUNT: u64 = 1 << 28;
    pub const SHADER_DRAW_PARAMETERS: u64 = 1 << 29;
    pub const PROVOKING_VERTEX_FIRST_AND_LAST: u64 = 1 << 30;
    pub const CUSTOM_BORDER_COLOR: u64 = 1 << 31;
    pub const MIRROR_CLAMP: u64 = 1 << 32;
    pub const STENCIL_EXPORT: u64 = 1 << 33;
    pub const SMOOTH_LINES: u64 = 1 << 34;
    pub const RESIDENT_SUBDATA: u64 = 1 << 35;
    pub const PERSISTENT_MAP: u64 = 1 << 36;
    /// The server rewrites indices on the host: it needs their bytes (index mirror in split transports).
    pub const NEEDS_HOST_INDEX_BYTES: u64 = 1 << 37;
    /// The server copies uniform buffers on the host.
    pub const NEEDS_HOST_UBO_BYTES: u64 = 1 << 38;
    /// Captured vertices are ordered and counted by the driver.
    pub const DRIVER_ORDERED_XFB: u64 = 1 << 39;
    /// The client counts transform-feedback primitives.
    pub const CPU_XFB_ACCOUNTING: u64 = 1 << 40;
    /// The server may send `texture_pull_request`.
    pub const PULLS_TEXTURES: u64 = 1 << 41;
    pub const ROBUST_BUFFER_ACCESS: u64 = 1 << 42;
    pub const SHADER_LAYER_VIEWPORT: u64 = 1 << 43;
    pub const IMAGE_STORE_WITHOUT_FORMAT: u64 = 1 << 44;
    pub const CONDITIONAL_RENDERING: u64 = 1 << 45;
    pub const TEXTURE_SWIZZLE: u64 = 1 << 46;
    pub const PRIMITIVE_RESTART_LISTS: u64 = 1 << 47;
    pub const DYNAMIC_SAMPLER_INDEXING: u64 = 1 << 48;
    /// What is written through `map_persistent` arrives without a call, so that it serves for ordinary mappings, too.
    pub const SILENT_MAPS: u64 = 1 << 49;
    /// Memory of the client's can be a buffer's storage: [`crate::Context::adopt_memory`].
    pub const SHARES_MEMORY: u64 = 1 << 50;
}

/// Bits of a [`CapsReply::formats`] entry.
pub mod format_caps {
    /// Can be sampled.
    pub const SAMPLED: u32 = 1 << 0;
    /// Linear filtering works.
    pub const FILTER_LINEAR: u32 = 1 << 1;
    /// Can be a colour attachment.
    pub const COLOR_ATTACHMENT: u32 = 1 << 2;
    /// Colour attachment that can blend.
    pub const BLEND: u32 = 1 << 3;
    /// Can be a depth or stencil attachment.
    pub const DEPTH_STENCIL: u32 = 1 << 4;
    /// Can be a storage image.
    pub const STORAGE_IMAGE: u32 = 1 << 5;
    /// Storage image with atomics.
    pub const STORAGE_ATOMIC: u32 = 1 << 6;
    /// Can be a uniform texel buffer.
    pub const TEXEL_BUFFER: u32 = 1 << 7;
    /// Can be a storage texel buffer.
    pub const STORAGE_TEXEL_BUFFER: u32 = 1 << 8;
    /// Can be a vertex attribute.
    pub const VERTEX: u32 = 1 << 9;
    /// Source of a blit.
    pub const BLIT_SRC: u32 = 1 << 10;
    /// Destination of a blit.
    pub const BLIT_DST: u32 = 1 << 11;
    /// Bits 16-23: mask of the supported sample counts (bit n: n samples where n is 1, 2, 4, … as log2).
    pub const SAMPLES_SHIFT: u32 = 16;
}

payload! {
    /// Limits and features of a backend, 384 bytes.
    Caps [384] {
        /// Bits of [`features`].
        features: u64,
        /// Bit n: the backend implements opcode n + 1 (calls 1 to 64).
        call_mask: [u64; 2],
        /// Nanoseconds a timestamp tick, as f32 bits, times valid bits in the high word.
        timestamp_period_ns: f32,
        /// Valid bits of a timestamp.
        timestamp_bits: u32,
        /// Largest 1D, 2D and rectangle texture.
        max_texture_2d: u32,
        /// Largest 3D texture.
        max_texture_3d: u32,
        /// Largest cube map face.
        max_texture_cube: u32,
        /// Most array layers.
        max_array_layers: u32,
        /// Most texels of a buffer texture.
        max_texel_buffer_elements: u32,
        /// Largest framebuffer width and height.
        max_framebuffer_size: [u32; 2],
        /// Most framebuffer layers.
        max_framebuffer_layers: u32,
        /// Most colour attachments.
        max_color_attachments: u32,
        /// Sample counts of colour attachments: bit mask (bit 2: 4 samples).
        framebuffer_color_samples: u32,
        /// Sample counts of depth attachments.
        framebuffer_depth_samples: u32,
        /// Sample counts of integer colour attachments.
        framebuffer_integer_samples: u32,
        /// Most viewports.
        max_viewports: u32,
        /// Largest viewport.
        max_viewport_size: [u32; 2],
        /// Viewport bounds.
        viewport_bounds: [f32; 2],
        /// Sub-pixel bits.
        subpixel_bits: u32,
        /// Point size range and granularity.
        point_size: [f32; 3],
        /// Line width range and granularity.
        line_width: [f32; 3],
        /// Largest anisotropy.
        max_anisotropy: f32,
        /// Largest level-of-detail bias.
        max_lod_bias: f32,
        /// Most vertex attributes.
        max_vertex_attributes: u32,
        /// Most vertex buffers.
        max_vertex_bindings: u32,
        /// Largest binding stride.
        max_vertex_stride: u32,
        /// Most uniform buffers a stage.
        max_uniform_buffers: u32,
        /// Largest uniform buffer range in bytes.
        max_uniform_range: u32,
        /// Most storage buffers a stage.
        max_storage_buffers: u32,
        /// Largest storage buffer range.
        max_storage_range: u32,
        /// Most sampled images a stage.
        max_samplers: u32,
        /// Most storage images a stage.
        max_images: u32,
        /// Offset alignment of uniform buffers.
        uniform_offset_alignment: u32,
        /// Offset alignment of storage buffers.
        storage_offset_alignment: u32,
        /// Offset alignment of texel buffers.
        texel_offset_alignment: u32,
        /// Map alignment.
        map_alignment: u32,
        /// Most transform-feedback buffers.
        max_xfb_buffers: u32,
        /// Most transform-feedback streams.
        max_xfb_streams: u32,
        /// Most bytes captured a vertex in one buffer.
        max_xfb_stride: u32,
        /// Most clip distances.
        max_clip_distances: u32,
        /// Most cull distances.
        max_cull_distances: u32,
        /// Most combined clip and cull distances.
        max_clip_cull_distances: u32,
        /// Most dual-source draw buffers.
        max_dual_source_buffers: u32,
        /// Most geometry output vertices.
        max_geometry_vertices: u32,
        /// Most geometry output components of all vertices together.
        max_geometry_components: u32,
        /// Most geometry invocations.
        max_geometry_invocations: u32,
        /// Most patch vertices.
        max_patch_vertices: u32,
        /// Most tessellation.
        max_tess_level: u32,
        /// Most components that leave a vertex stage.
        max_varying_components: u32,
        /// Texel gather offset range.
        gather_offset: [i32; 2],
        /// Texel offset range.
        texel_offset: [i32; 2],
        /// Interpolation offset range.
        interpolation_offset: [f32; 2],
        /// Sub-pixel bits of interpolation offsets.
        interpolation_offset_bits: u32,
        /// Most work groups.
        max_compute_groups: [u32; 3],
        /// Largest work group.
        max_compute_group_size: [u32; 3],
        /// Most invocations of a work group.
        max_compute_invocations: u32,
        /// Bytes of shared memory.
        max_compute_shared: u32,
        /// PCI vendor.
        vendor_id: u32,
        /// PCI device.
        device_id: u32,
        /// Version of the native API: major, minor, patch as in Vulkan.
        api_version: u32,
        /// Version of the native driver.
        driver_version: u32,
        /// Device memory in MiB.
        memory_mib: u32,
        /// 1 when the device is a software rasteriser.
        is_software: u32,
        /// Most components that enter a geometry stage for one vertex; 0: as many as leave a vertex stage.
        max_geometry_input_components: u32,
        /// Padding, zero.
        reserved: [u32; 14],
    }
}

/// Answer of `get_caps`: limits, formats and names.
#[derive(Clone, PartialEq, Debug)]
pub struct CapsReply {
    /// Limits and features.
    pub caps: Caps,
    /// Per format number: bits of [`format_caps`].
    pub formats: [u32; FORMAT_SLOTS],
    /// Name of the device and its driver, as `GL_RENDERER` shows it.
    pub device_name: String,
    /// Name of the backend and of its native API with version, for example `Magma, Vulkan 1.3`.
    pub backend_name: String,
}

impl CapsReply {
    /// Whether a feature bit is set.
    pub fn has(&self, feature: u64) -> bool {
        self.caps.features & feature != 0
    }

    /// Bits of a format.
    pub fn format(&self, format: Format) -> u32 {
        self.formats.get(format.0 as usize).copied().unwrap_or(0)
    }

    /// Whether the backend implements a call.
    pub fn has_call(&self, op: crate::Opcode) -> bool {
        let bit = op as usize - 1;
        self.caps.call_mask.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }
}

impl Default for CapsReply {
    fn default() -> Self {
        CapsReply {
            caps: Caps::default(),
            formats: [0; FORMAT_SLOTS],
            device_name: String::new(),
            backend_name: String::new(),
        }
    }
}
