//! What the arguments of GL calls may be: for each kind the values that make sense, from which one is drawn, and now and then
//! one that does not.

use glow as gl;

/// The objects of a sequence, each a small pool that is filled before the sequence starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Buffers: vertices, indices, uniforms, capture, pixels, spare.
    Buffer,
    /// Textures: two colour attachments, two to sample, a layered one, spare.
    Texture,
    /// Framebuffers: complete, multisampled, spare.
    Framebuffer,
    /// Renderbuffers: depth and stencil, multisampled colour, spare.
    Renderbuffer,
    /// Vertex arrays.
    VertexArray,
    /// Programs, see `worker`.
    Program,
    /// Shaders.
    Shader,
    /// Samplers.
    Sampler,
    /// Queries.
    Query,
    /// Sync objects.
    Sync,
}

/// Number of pools.
pub const N_POOLS: usize = 10;

impl Pool {
    /// All pools.
    pub const ALL: [Pool; N_POOLS] = [
        Pool::Buffer,
        Pool::Texture,
        Pool::Framebuffer,
        Pool::Renderbuffer,
        Pool::VertexArray,
        Pool::Program,
        Pool::Shader,
        Pool::Sampler,
        Pool::Query,
        Pool::Sync,
    ];

    /// How many objects it holds.
    pub const fn size(self) -> usize {
        match self {
            Pool::Buffer | Pool::Texture => 6,
            Pool::Program => 5,
            Pool::Shader => 4,
            Pool::Framebuffer | Pool::Renderbuffer | Pool::Query => 3,
            Pool::VertexArray | Pool::Sampler | Pool::Sync => 2,
        }
    }
}

/// What an argument is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One of these.
    Pick(&'static [i64]),
    /// An object of the pool: 0 is the name 0, 1 the first object, what is beyond the last an unknown name.
    Object(Pool),
    /// The address where the pool keeps the name of an object, for functions that make or delete one.
    Slot(Pool),
    /// A `float`, kept as its bits.
    Float,
    /// Memory that receives an answer.
    Out,
    /// Pixels to upload: an offset into the bound buffer, or memory.
    Unpack,
    /// Where pixels are written: an offset into the bound buffer, or memory.
    Pack,
    /// Memory with numbers.
    Input,
    /// The location of a uniform of the program in use, by number.
    Location,
    /// A name of a variable, by number.
    Name,
}

const fn widen<const N: usize>(list: [u32; N]) -> [i64; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        out[i] = list[i] as i64;
        i += 1;
    }
    out
}

macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident = [$($value:ident),* $(,)?];)*) => {
        $($(#[$doc])* pub const $name: Kind = Kind::Pick(&widen([$(gl::$value),*]));)*
    };
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = [$($value:expr),* $(,)?];)*) => {
        $($(#[$doc])* pub const $name: Kind = Kind::Pick(&[$($value),*]);)*
    };
}

numbers! {
    /// Constant one.
    ONE = [1];
    /// Constant zero.
    ZERO = [0];
    /// A truth value.
    BOOL = [0, 1];
    /// Values of the clamping of colours that are read.
    CLAMP_VALUE = [0, 1, 0x891D];
    /// A texture unit or another small index.
    INDEX = [0, 0, 0, 1, 1, 2, 3];
    /// A mipmap level.
    LEVEL = [0, 0, 0, 0, 0, 1, 2];
    /// A side of an image.
    SIDE = [16, 16, 16, 8, 4, 1, 0, 2, 5, 32];
    /// A depth or a count of layers.
    DEPTH = [1, 1, 2, 4, 6, 0];
    /// A coordinate.
    COORDINATE = [0, 0, 0, 0, 1, 2, 4, 8, 15];
    /// A count of samples.
    SAMPLES = [0, 1, 4, 4];
    /// Sizes of buffers in bytes.
    BYTES = [0, 4, 16, 48, 64, 256, 1024, 4096];
    /// Offsets in bytes.
    OFFSET = [0, 0, 0, 0, 4, 8, 16, 64, 256, 1024];
    /// A count of vertices.
    VERTICES = [3, 3, 3, 4, 6, 0, 1, 12];
    /// A count of instances.
    INSTANCES = [1, 1, 2, 3, 0];
    /// The number of an attribute.
    ATTRIBUTE = [0, 0, 0, 1, 1, 2, 15];
    /// A count of components.
    COMPONENTS = [4, 4, 2, 3, 1];
    /// A stride in bytes.
    STRIDE = [0, 0, 16, 8, 32];
    /// Bits of glClear and glBlitFramebuffer.
    CLEAR_BITS = [0x4000, 0x4000, 0x4000, 0x100, 0x400, 0x4500, 0];
    /// Bits of glMapBufferRange.
    MAP_BITS = [1, 2, 2, 3, 0x6, 0xA, 0x12, 0x22, 0x32, 0x36, 0];
    /// Modes of glBeginConditionalRender.
    CONDITION = [0x8E13, 0x8E15];
    /// A timeout in nanoseconds.
    TIMEOUT = [0, 0, 1_000_000];
    /// Values of glPixelStorei.
    STORE_VALUE = [0, 0, 1, 2, 4, 8, 3, 16];
    /// Masks of stencil and samples.
    MASK = [0xFF, 0xFF, 0, 1, 0xF0, 0xFFFF_FFFF];
    /// Internal formats by number, as old programs give them.
    INTERNAL = [
        0x8058, 0x8058, 0x8058, 0x1908, 0x1907, 0x1903, 0x8229, 0x822B, 0x8227, 0x8C43, 0x881A, 0x8814, 0x822E, 0x8235,
        0x8236, 0x8D8E, 0x8D7C, 0x8C3A, 0x8C3D, 0x8059, 0x906F, 0x81A5, 0x81A6, 0x8CAC, 0x88F0, 0x8CAD, 0x1902, 0x84F9,
        0x8F97, 0x8051, 0x8D62, 0x8056, 0x8057, 0x2A10, 0x805B, 0x8DBB, 0x8DBD, 0x8225,
    ];
    /// Values of texture and sampler parameters.
    PARAMETER_VALUE = [
        0x2600, 0x2601, 0x2700, 0x2703, 0x2901, 0x812F, 0x8370, 0x812D, 0, 1, 2, 1000, 0x884E, 0x203, 0x1903, 0x1904,
    ];
}

enums! {
    /// Targets of buffers.
    BUFFER_TARGET = [
        ARRAY_BUFFER, ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, UNIFORM_BUFFER, TRANSFORM_FEEDBACK_BUFFER, PIXEL_PACK_BUFFER,
        PIXEL_UNPACK_BUFFER, COPY_READ_BUFFER, COPY_WRITE_BUFFER, TEXTURE_BUFFER,
    ];
    /// Targets of indexed bindings.
    INDEXED_TARGET = [UNIFORM_BUFFER, UNIFORM_BUFFER, TRANSFORM_FEEDBACK_BUFFER, ARRAY_BUFFER];
    /// Usages of buffers.
    USAGE = [STATIC_DRAW, DYNAMIC_DRAW, STREAM_READ, STREAM_COPY];
    /// Access of glMapBuffer.
    ACCESS = [READ_ONLY, WRITE_ONLY, READ_WRITE];
    /// What glGetBufferParameter asks for.
    BUFFER_PARAMETER = [
        BUFFER_SIZE, BUFFER_USAGE, BUFFER_ACCESS, BUFFER_MAPPED, BUFFER_ACCESS_FLAGS, BUFFER_MAP_OFFSET,
        BUFFER_MAP_LENGTH, TEXTURE_WIDTH,
    ];
    /// Targets that textures bind to.
    TEXTURE_TARGET = [
        TEXTURE_2D, TEXTURE_2D, TEXTURE_2D, TEXTURE_2D, TEXTURE_1D, TEXTURE_3D, TEXTURE_1D_ARRAY, TEXTURE_2D_ARRAY,
        TEXTURE_RECTANGLE, TEXTURE_CUBE_MAP, TEXTURE_BUFFER, TEXTURE_2D_MULTISAMPLE, TEXTURE_2D_MULTISAMPLE_ARRAY,
    ];
    /// Targets of images of two dimensions.
    IMAGE_TARGET = [
        TEXTURE_2D, TEXTURE_2D, TEXTURE_2D, TEXTURE_2D, TEXTURE_1D_ARRAY, TEXTURE_RECTANGLE, TEXTURE_CUBE_MAP_POSITIVE_X,
        TEXTURE_CUBE_MAP_NEGATIVE_Z, PROXY_TEXTURE_2D, PROXY_TEXTURE_CUBE_MAP, TEXTURE_CUBE_MAP, TEXTURE_3D,
    ];
    /// Targets of images of three dimensions.
    IMAGE_TARGET_3D = [TEXTURE_3D, TEXTURE_3D, TEXTURE_2D_ARRAY, PROXY_TEXTURE_3D, TEXTURE_2D];
    /// Targets of images of one dimension.
    IMAGE_TARGET_1D = [TEXTURE_1D, TEXTURE_1D, PROXY_TEXTURE_1D, TEXTURE_2D];
    /// Targets of multisampled images.
    SAMPLED_TARGET = [TEXTURE_2D_MULTISAMPLE, TEXTURE_2D_MULTISAMPLE, PROXY_TEXTURE_2D_MULTISAMPLE, TEXTURE_2D];
    /// Formats of pixels.
    FORMAT = [
        RGBA, RGBA, RGBA, BGRA, RGB, RG, RED, RGBA_INTEGER, RED_INTEGER, DEPTH_COMPONENT, DEPTH_STENCIL, STENCIL_INDEX,
        GREEN, BGR,
    ];
    /// Types of pixels.
    PIXEL_TYPE = [
        UNSIGNED_BYTE, UNSIGNED_BYTE, UNSIGNED_BYTE, FLOAT, HALF_FLOAT, UNSIGNED_SHORT, INT, UNSIGNED_INT, BYTE,
        UNSIGNED_SHORT_5_6_5, UNSIGNED_INT_8_8_8_8_REV, UNSIGNED_INT_24_8, UNSIGNED_INT_2_10_10_10_REV,
        UNSIGNED_INT_5_9_9_9_REV, UNSIGNED_INT_10F_11F_11F_REV, FLOAT_32_UNSIGNED_INT_24_8_REV,
    ];
    /// Compressed internal formats.
    COMPRESSED = [COMPRESSED_RED_RGTC1, COMPRESSED_RG_RGTC2, COMPRESSED_SIGNED_RG_RGTC2, RGBA8];
    /// Parameters of textures.
    TEXTURE_PARAMETER = [
        TEXTURE_MIN_FILTER, TEXTURE_MAG_FILTER, TEXTURE_WRAP_S, TEXTURE_WRAP_T, TEXTURE_WRAP_R, TEXTURE_BASE_LEVEL,
        TEXTURE_MAX_LEVEL, TEXTURE_MIN_LOD, TEXTURE_MAX_LOD, TEXTURE_COMPARE_MODE, TEXTURE_COMPARE_FUNC,
        TEXTURE_SWIZZLE_R, TEXTURE_LOD_BIAS, TEXTURE_BORDER_COLOR,
    ];
    /// What glGetTexLevelParameter asks for.
    LEVEL_PARAMETER = [
        TEXTURE_WIDTH, TEXTURE_HEIGHT, TEXTURE_DEPTH, TEXTURE_INTERNAL_FORMAT, TEXTURE_COMPRESSED, TEXTURE_SAMPLES,
        TEXTURE_RED_SIZE, TEXTURE_DEPTH_SIZE, TEXTURE_SHARED_SIZE, TEXTURE_RED_TYPE, TEXTURE_COMPRESSED_IMAGE_SIZE,
        TEXTURE_BUFFER_DATA_STORE_BINDING, TEXTURE_FIXED_SAMPLE_LOCATIONS,
    ];
    /// Pixel-store parameters.
    STORE = [
        UNPACK_ALIGNMENT, UNPACK_ROW_LENGTH, UNPACK_SKIP_ROWS, UNPACK_SKIP_PIXELS, UNPACK_IMAGE_HEIGHT,
        UNPACK_SKIP_IMAGES, UNPACK_SWAP_BYTES, PACK_ALIGNMENT, PACK_ROW_LENGTH, PACK_SKIP_ROWS, PACK_SKIP_PIXELS,
        PACK_SWAP_BYTES, PACK_LSB_FIRST,
    ];
    /// Texture units.
    UNIT = [TEXTURE0, TEXTURE0, TEXTURE0, TEXTURE1, TEXTURE2];
    /// Targets of framebuffers.
    FRAMEBUFFER_TARGET = [FRAMEBUFFER, FRAMEBUFFER, DRAW_FRAMEBUFFER, READ_FRAMEBUFFER];
    /// Target of renderbuffers.
    RENDERBUFFER_TARGET = [RENDERBUFFER];
    /// Attachments.
    ATTACHMENT = [
        COLOR_ATTACHMENT0, COLOR_ATTACHMENT0, COLOR_ATTACHMENT1, DEPTH_ATTACHMENT, STENCIL_ATTACHMENT,
        DEPTH_STENCIL_ATTACHMENT, COLOR_ATTACHMENT8, BACK, DEPTH,
    ];
    /// What attachments are asked for.
    ATTACHMENT_PARAMETER = [
        FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL, FRAMEBUFFER_ATTACHMENT_RED_SIZE,
        FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING, FRAMEBUFFER_ATTACHMENT_LAYERED,
        FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE, FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER,
    ];
    /// What renderbuffers are asked for.
    RENDERBUFFER_PARAMETER = [
        RENDERBUFFER_WIDTH, RENDERBUFFER_INTERNAL_FORMAT, RENDERBUFFER_SAMPLES, RENDERBUFFER_RED_SIZE,
        RENDERBUFFER_STENCIL_SIZE,
    ];
    /// Targets that a texture is attached from.
    ATTACHED_TARGET = [
        TEXTURE_2D, TEXTURE_2D, TEXTURE_2D, TEXTURE_CUBE_MAP_POSITIVE_X, TEXTURE_RECTANGLE, TEXTURE_2D_MULTISAMPLE,
        TEXTURE_2D_ARRAY,
    ];
    /// Buffers that are drawn to or read from.
    COLOR_BUFFER = [COLOR_ATTACHMENT0, COLOR_ATTACHMENT0, COLOR_ATTACHMENT1, BACK, FRONT, NONE, COLOR_ATTACHMENT31];
    /// Filters of blits.
    FILTER = [NEAREST, NEAREST, LINEAR, LINEAR_MIPMAP_NEAREST];
    /// What glClearBuffer clears.
    CLEARED = [COLOR, COLOR, DEPTH, STENCIL, DEPTH_STENCIL];
    /// Capabilities.
    CAPABILITY = [
        BLEND, DEPTH_TEST, STENCIL_TEST, SCISSOR_TEST, CULL_FACE, DITHER, POLYGON_OFFSET_FILL, COLOR_LOGIC_OP,
        MULTISAMPLE, SAMPLE_ALPHA_TO_COVERAGE, SAMPLE_COVERAGE, SAMPLE_MASK, PRIMITIVE_RESTART, FRAMEBUFFER_SRGB,
        DEPTH_CLAMP, PROGRAM_POINT_SIZE, RASTERIZER_DISCARD, TEXTURE_CUBE_MAP_SEAMLESS, CLIP_DISTANCE0, TEXTURE_2D,
    ];
    /// Capabilities that have an index.
    INDEXED_CAPABILITY = [BLEND, BLEND, SCISSOR_TEST, DEPTH_TEST];
    /// Comparison functions.
    COMPARE = [LESS, LEQUAL, ALWAYS, NEVER, EQUAL, GREATER, NOTEQUAL, GEQUAL];
    /// Blend factors.
    FACTOR = [ONE, ZERO, SRC_ALPHA, ONE_MINUS_SRC_ALPHA, DST_COLOR, CONSTANT_COLOR, SRC1_COLOR, SRC_ALPHA_SATURATE];
    /// Blend equations.
    EQUATION = [FUNC_ADD, FUNC_SUBTRACT, FUNC_REVERSE_SUBTRACT, MIN, MAX];
    /// Logical operations.
    LOGIC = [COPY, XOR, INVERT, AND, SET];
    /// Faces.
    FACE = [FRONT, BACK, FRONT_AND_BACK];
    /// Windings.
    WINDING = [CW, CCW];
    /// Stencil operations.
    STENCIL_OPERATION = [KEEP, ZERO, REPLACE, INCR, DECR_WRAP, INVERT];
    /// Polygon modes.
    POLYGON = [FILL, LINE, POINT];
    /// Conventions of provoking vertices.
    PROVOKING = [FIRST_VERTEX_CONVENTION, LAST_VERTEX_CONVENTION];
    /// Hints.
    HINT = [LINE_SMOOTH_HINT, TEXTURE_COMPRESSION_HINT, FRAGMENT_SHADER_DERIVATIVE_HINT, POLYGON_SMOOTH_HINT];
    /// Values of hints.
    HINT_VALUE = [NICEST, FASTEST, DONT_CARE];
    /// Parameters of points.
    POINT_PARAMETER = [POINT_FADE_THRESHOLD_SIZE, POINT_SPRITE_COORD_ORIGIN];
    /// Primitives.
    PRIMITIVE = [
        TRIANGLES, TRIANGLES, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN, POINTS, LINES, LINE_STRIP, LINE_LOOP,
        TRIANGLES_ADJACENCY, LINES_ADJACENCY,
    ];
    /// Primitives of transform feedback.
    CAPTURED_PRIMITIVE = [TRIANGLES, TRIANGLES, POINTS, LINES, TRIANGLE_STRIP];
    /// Types of indices.
    INDEX_TYPE = [UNSIGNED_SHORT, UNSIGNED_SHORT, UNSIGNED_BYTE, UNSIGNED_INT, FLOAT];
    /// Types of attributes.
    ATTRIBUTE_TYPE = [
        FLOAT, FLOAT, FLOAT, UNSIGNED_BYTE, SHORT, HALF_FLOAT, INT, INT_2_10_10_10_REV, UNSIGNED_INT_2_10_10_10_REV,
        DOUBLE,
    ];
    /// Types of integer attributes.
    INTEGER_TYPE = [INT, UNSIGNED_INT, SHORT, UNSIGNED_BYTE, FLOAT];
    /// What attributes are asked for.
    ATTRIBUTE_PARAMETER = [
        VERTEX_ATTRIB_ARRAY_ENABLED, VERTEX_ATTRIB_ARRAY_SIZE, VERTEX_ATTRIB_ARRAY_STRIDE, VERTEX_ATTRIB_ARRAY_TYPE,
        VERTEX_ATTRIB_ARRAY_NORMALIZED, VERTEX_ATTRIB_ARRAY_INTEGER, VERTEX_ATTRIB_ARRAY_DIVISOR,
        CURRENT_VERTEX_ATTRIB,
    ];
    /// Targets of queries.
    QUERY_TARGET = [
        SAMPLES_PASSED, SAMPLES_PASSED, ANY_SAMPLES_PASSED, PRIMITIVES_GENERATED, TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
        TIME_ELAPSED, TIMESTAMP,
    ];
    /// What query targets are asked for; the number of bits is each driver's own affair.
    QUERY_PARAMETER = [CURRENT_QUERY];
    /// What queries are asked for without an answer that depends on time.
    QUERY_OBJECT_PARAMETER = [QUERY_RESULT_AVAILABLE, QUERY_RESULT];
    /// Parameters of programs.
    PROGRAM_PARAMETER = [
        LINK_STATUS, DELETE_STATUS, ATTACHED_SHADERS, ACTIVE_UNIFORMS, ACTIVE_UNIFORM_BLOCKS,
        TRANSFORM_FEEDBACK_VARYINGS, TRANSFORM_FEEDBACK_BUFFER_MODE, GEOMETRY_VERTICES_OUT, GEOMETRY_INPUT_TYPE,
        VALIDATE_STATUS, ACTIVE_UNIFORM_MAX_LENGTH,
    ];
    /// Parameters of shaders.
    SHADER_PARAMETER = [SHADER_TYPE, DELETE_STATUS, COMPILE_STATUS, SHADER_SOURCE_LENGTH];
    /// Types of shaders.
    SHADER_TYPES = [VERTEX_SHADER, FRAGMENT_SHADER, GEOMETRY_SHADER];
    /// Modes of transform feedback.
    FEEDBACK_MODE = [INTERLEAVED_ATTRIBS, SEPARATE_ATTRIBS];
    /// What sync objects are asked for.
    SYNC_PARAMETER = [OBJECT_TYPE, SYNC_CONDITION, SYNC_FLAGS];
    /// Conditions of sync objects.
    SYNC_CONDITION_KIND = [SYNC_GPU_COMMANDS_COMPLETE];
    /// Indexed state.
    INDEXED_STATE = [
        UNIFORM_BUFFER_BINDING, UNIFORM_BUFFER_START, UNIFORM_BUFFER_SIZE, TRANSFORM_FEEDBACK_BUFFER_BINDING,
        TRANSFORM_FEEDBACK_BUFFER_START, TRANSFORM_FEEDBACK_BUFFER_SIZE, COLOR_WRITEMASK, SAMPLE_MASK_VALUE,
    ];
    /// Clamping of colours that are read.
    CLAMP = [CLAMP_READ_COLOR];
}
