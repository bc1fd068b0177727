//! Facts about a linked program that travel with its SPIR-V: interfaces, bindings, uniforms, stage properties.
//!
//! The GLSL compiler fills a [`Reflection`] once per link. The frontend answers GL queries from it; a backend builds
//! its descriptor layouts, vertex input and pipeline state from it and never parses SPIR-V for an interface fact.
//!
//! # Descriptor layout
//!
//! Every module of a program uses the same four descriptor sets. Binding numbers are dense from 0 in each set, and a
//! resource has the same set and binding in every stage that uses it.
//!
//! | set | holds |
//! |---|---|
//! | [`SET_UNIFORM`] = 0 | binding 0: the default uniform block *when [`Reflection::default_block`] is `Some`*; then named uniform blocks |
//! | [`SET_SAMPLER`] = 1 | combined image samplers and uniform texel buffers |
//! | [`SET_STORAGE`] = 2 | shader storage blocks, then atomic counter buffers |
//! | [`SET_IMAGE`] = 3 | storage images and storage texel buffers |
//!
//! A program without a default block starts its named uniform blocks at binding 0.
//!
//! # Row convention
//!
//! All framebuffers are stored with GL row 0 at image row 0. Hence no module flips y: `gl_Position.y`, `gl_FragCoord.y`
//! and `dFdy` mean in Vulkan what they mean in GL when the viewport height is positive. Depth is *not* patched: clip
//! space z is GL's [-w, w].

use serde::{Deserialize, Serialize};

pub mod gl_type;

/// Descriptor set of the default uniform block and of named uniform blocks.
pub const SET_UNIFORM: u32 = 0;
/// Descriptor set of combined image samplers and uniform texel buffers.
pub const SET_SAMPLER: u32 = 1;
/// Descriptor set of shader storage blocks and atomic counter buffers.
pub const SET_STORAGE: u32 = 2;
/// Descriptor set of storage images and storage texel buffers.
pub const SET_IMAGE: u32 = 3;
/// Number of descriptor sets.
pub const SET_COUNT: u32 = 4;

/// Name of the block that holds the loose uniforms.
pub const DEFAULT_BLOCK_NAME: &str = "mgl_Globals";

/// Name of the hidden `float` uniform with the framebuffer's height in pixels.
///
/// It exists only in programs with [`FragmentFacts::origin_upper_left`]; the frontend keeps its value up to date and hides
/// every uniform whose name starts with `mgl_` from queries.
pub const FRAMEBUFFER_HEIGHT_UNIFORM: &str = "mgl_FramebufferHeight";

/// Name of the hidden `vec4` uniform with the default outer tessellation levels (`GL_PATCH_DEFAULT_OUTER_LEVEL`).
///
/// It and [`TESS_LEVEL_INNER_UNIFORM`] exist only in programs with [`TessControlFacts::generated`].
pub const TESS_LEVEL_OUTER_UNIFORM: &str = "mgl_TessLevelOuter";

/// Name of the hidden `vec2` uniform with the default inner tessellation levels (`GL_PATCH_DEFAULT_INNER_LEVEL`).
pub const TESS_LEVEL_INNER_UNIFORM: &str = "mgl_TessLevelInner";

/// A programmable stage. The discriminants are the bit positions of [`StageMask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Stage {
    /// Vertex shader.
    Vertex = 0,
    /// Tessellation control shader.
    TessControl = 1,
    /// Tessellation evaluation shader.
    TessEvaluation = 2,
    /// Geometry shader.
    Geometry = 3,
    /// Fragment shader.
    Fragment = 4,
    /// Compute shader.
    Compute = 5,
}

impl Stage {
    /// All stages in pipeline order.
    pub const ALL: [Stage; 6] =
        [Stage::Vertex, Stage::TessControl, Stage::TessEvaluation, Stage::Geometry, Stage::Fragment, Stage::Compute];

    /// The mask with only this stage.
    pub const fn mask(self) -> StageMask {
        StageMask(1 << self as u8)
    }

    /// GL's enum of a shader of this stage.
    pub const fn shader_type(self) -> u32 {
        match self {
            Stage::Vertex => crate::gl::VERTEX_SHADER,
            Stage::TessControl => crate::gl::TESS_CONTROL_SHADER,
            Stage::TessEvaluation => crate::gl::TESS_EVALUATION_SHADER,
            Stage::Geometry => crate::gl::GEOMETRY_SHADER,
            Stage::Fragment => crate::gl::FRAGMENT_SHADER,
            Stage::Compute => crate::gl::COMPUTE_SHADER,
        }
    }

    /// The name that info logs use, for example "tessellation control".
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::TessControl => "tessellation control",
            Stage::TessEvaluation => "tessellation evaluation",
            Stage::Geometry => "geometry",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
        }
    }
}

/// A set of stages; bit `n` is the [`Stage`] with discriminant `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StageMask(pub u8);

impl StageMask {
    /// Whether `stage` is in the set.
    pub const fn contains(self, stage: Stage) -> bool {
        self.0 & (1 << stage as u8) != 0
    }

    /// Adds `stage`.
    pub fn insert(&mut self, stage: Stage) {
        self.0 |= 1 << stage as u8;
    }

    /// Union of both sets.
    #[must_use]
    pub const fn union(self, other: StageMask) -> StageMask {
        StageMask(self.0 | other.0)
    }

    /// Whether no stage is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The stages in pipeline order.
    pub fn iter(self) -> impl Iterator<Item = Stage> {
        Stage::ALL.into_iter().filter(move |stage| self.contains(*stage))
    }
}

/// Everything that the frontend and a backend need to know about a linked program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    /// Stages that the program contains.
    pub stages: StageMask,
    /// Linked with `GL_PROGRAM_SEPARABLE`.
    pub separable: bool,
    /// All descriptors, sorted by set and binding.
    pub bindings: Vec<Binding>,
    /// The block of loose uniforms, when any is active.
    pub default_block: Option<DefaultBlock>,
    /// Active uniforms in GL index order: loose uniforms, opaque uniforms, members of named uniform blocks, atomic counters.
    pub uniforms: Vec<Uniform>,
    /// One past the largest uniform location in use.
    pub location_count: u32,
    /// Active named uniform blocks in GL index order; each element of a block array is its own entry.
    pub uniform_blocks: Vec<Block>,
    /// Active shader storage blocks in GL index order; each element of a block array is its own entry.
    pub storage_blocks: Vec<Block>,
    /// Active variables of the shader storage blocks.
    pub buffer_variables: Vec<BufferVariable>,
    /// Active atomic counter buffers.
    pub atomic_buffers: Vec<AtomicBuffer>,
    /// Inputs of the first stage (for a vertex shader: the active attributes, built-ins included with location -1).
    pub inputs: Vec<InterfaceVariable>,
    /// Outputs of the last stage (for a fragment shader: the colour outputs, built-ins included with location -1).
    pub outputs: Vec<InterfaceVariable>,
    /// What transform feedback captures.
    pub transform_feedback: Option<TransformFeedback>,
    /// Facts of the vertex stage.
    pub vertex: Option<VertexFacts>,
    /// Facts of the tessellation control stage.
    pub tess_control: Option<TessControlFacts>,
    /// Facts of the tessellation evaluation stage.
    pub tess_evaluation: Option<TessEvaluationFacts>,
    /// Facts of the geometry stage.
    pub geometry: Option<GeometryFacts>,
    /// Facts of the fragment stage.
    pub fragment: Option<FragmentFacts>,
    /// Facts of the compute stage.
    pub compute: Option<ComputeFacts>,
    /// Facts of the outputs of the last stage before rasterisation.
    pub pre_raster: PreRasterFacts,
    /// Subroutine uniforms and functions, per stage.
    pub subroutines: Vec<StageSubroutines>,
}

/// The block of loose uniforms: set 0, binding 0, std140.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultBlock {
    /// Size in bytes, a multiple of 16.
    pub size: u32,
    /// Stages that declare it.
    pub stages: StageMask,
}

/// What a descriptor binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingKind {
    /// The default uniform block (a uniform buffer).
    DefaultBlock,
    /// A named uniform block (a uniform buffer).
    UniformBlock,
    /// A combined image sampler.
    Sampler,
    /// A uniform texel buffer (`samplerBuffer` and its integer forms).
    TexelBuffer,
    /// A shader storage block (a storage buffer).
    StorageBlock,
    /// An atomic counter buffer (a storage buffer).
    AtomicBuffer,
    /// A storage image.
    Image,
    /// A storage texel buffer (`imageBuffer` and its integer forms).
    ImageBuffer,
}

/// One descriptor binding of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Descriptor set, one of the `SET_*` constants.
    pub set: u32,
    /// Binding number in the set.
    pub binding: u32,
    /// What is bound.
    pub kind: BindingKind,
    /// Number of array elements, 1 for a non-array.
    pub count: u32,
    /// Stages that use it.
    pub stages: StageMask,
    /// Variable or block name in GL's spelling, without a trailing `[0]`.
    pub name: String,
    /// Index of element 0 in [`Reflection::uniform_blocks`], [`Reflection::storage_blocks`] or
    /// [`Reflection::atomic_buffers`], by kind (element `n` has this index plus `n`); -1 for other kinds.
    pub block_index: i32,
    /// Index of the sampler or image uniform in [`Reflection::uniforms`]; -1 for other kinds. When the binding has more
    /// elements than that uniform (arrays of arrays), it continues with the uniforms that follow.
    pub uniform_index: i32,
    /// Array element of that uniform which element 0 of this binding is: one uniform may span several bindings.
    pub uniform_element: u32,
    /// Type of the sampler or image; `None` for buffers.
    pub opaque: Option<OpaqueType>,
}

/// Texture dimensionality as the shader declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OpaqueDim {
    /// One-dimensional.
    D1,
    /// Two-dimensional.
    D2,
    /// Three-dimensional.
    D3,
    /// Cube map.
    Cube,
    /// Rectangle: declared rect, but the SPIR-V samples a 2D image with normalised coordinates.
    Rect,
    /// Texel buffer.
    Buffer,
}

/// Component class that a sampler or image returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OpaqueBase {
    /// Floating point (normalised formats included).
    Float,
    /// Signed integer.
    Int,
    /// Unsigned integer.
    Uint,
}

/// Type of a sampler or image uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpaqueType {
    /// Dimensionality.
    pub dim: OpaqueDim,
    /// Array texture.
    pub arrayed: bool,
    /// Multisample texture.
    pub multisampled: bool,
    /// Depth comparison sampler.
    pub shadow: bool,
    /// Component class.
    pub base: OpaqueBase,
    /// For images: the GL internal format of the layout qualifier, 0 when there is none. 0 for samplers.
    pub image_format: u32,
    /// For images: the shader reads it (declared without `writeonly`).
    pub readable: bool,
    /// For images: the shader writes it (declared without `readonly`).
    pub writable: bool,
}

/// An active uniform (GL 4.6 core, section 7.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uniform {
    /// GL name, `a.b[0]` style: arrays of basic types end in `[0]`.
    pub name: String,
    /// GL type, for example `GL_FLOAT_VEC3`; constants in [`gl_type`].
    pub gl_type: u32,
    /// Number of array elements, 1 for a non-array.
    pub array_size: u32,
    /// Stages that use it.
    pub stages: StageMask,
    /// Location of element 0; element `n` has this plus `n`. -1 for block members and atomic counters.
    pub location: i32,
    /// Index into [`Reflection::uniform_blocks`]; -1 for loose and opaque uniforms.
    pub block_index: i32,
    /// Byte offset in its named block, in the default block (block_index -1) or in the atomic counter buffer; -1 for
    /// opaque uniforms. GL queries report -1 for loose uniforms.
    pub offset: i32,
    /// Bytes between array elements; 0 for a non-array, -1 for opaque uniforms.
    pub array_stride: i32,
    /// Bytes between columns (or rows when row-major); 0 for a non-matrix, -1 for opaque uniforms.
    pub matrix_stride: i32,
    /// Row-major matrix.
    pub row_major: bool,
    /// Index into [`Reflection::atomic_buffers`]; -1 when it is no atomic counter.
    pub atomic_index: i32,
    /// Index into [`Reflection::bindings`] of the binding that holds element 0; -1 unless it is a sampler or image.
    pub binding_index: i32,
    /// Initial unit of element 0 from `layout(binding = n)`, element `n` has this plus `n`; -1 when the shader gives
    /// none (all elements then start at unit 0).
    pub initial_unit: i32,
}

impl Uniform {
    /// Whether the uniform lives in the default block's memory.
    pub fn in_default_block(&self) -> bool {
        self.block_index < 0 && self.atomic_index < 0 && self.binding_index < 0
    }

    /// Whether the name denotes an array (ends in `[0]`).
    pub fn is_array(&self) -> bool {
        self.name.ends_with("[0]")
    }
}

/// A uniform block or shader storage block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Block name; elements of a block array are `Name[0]`, `Name[1]`, …
    pub name: String,
    /// Minimum buffer size in bytes (an unsized last array counts one element).
    pub size: u32,
    /// `layout(binding = n)` of this element, 0 when absent.
    pub initial_binding: u32,
    /// Stages that use it.
    pub stages: StageMask,
    /// Indices of its members in [`Reflection::uniforms`] or [`Reflection::buffer_variables`].
    pub members: Vec<u32>,
    /// Index into [`Reflection::bindings`].
    pub binding_index: u32,
    /// Array element of that binding.
    pub binding_element: u32,
}

/// An active variable of a shader storage block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferVariable {
    /// GL name.
    pub name: String,
    /// GL type.
    pub gl_type: u32,
    /// Number of array elements, 1 for a non-array, 0 for an unsized array.
    pub array_size: u32,
    /// Stages that use its block.
    pub stages: StageMask,
    /// Index into [`Reflection::storage_blocks`].
    pub block_index: u32,
    /// Byte offset in the block.
    pub offset: u32,
    /// Bytes between array elements, 0 for a non-array.
    pub array_stride: u32,
    /// Bytes between columns or rows, 0 for a non-matrix.
    pub matrix_stride: u32,
    /// Row-major matrix.
    pub row_major: bool,
    /// Number of elements of the outermost array of the top-level member, 1 for none, 0 for unsized.
    pub top_level_array_size: u32,
    /// Bytes between elements of that array, 0 for none.
    pub top_level_array_stride: u32,
}

/// An atomic counter buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomicBuffer {
    /// Atomic counter buffer binding point from the shader.
    pub binding: u32,
    /// Minimum buffer size in bytes.
    pub size: u32,
    /// Stages that use it.
    pub stages: StageMask,
    /// Indices of its counters in [`Reflection::uniforms`].
    pub counters: Vec<u32>,
    /// Index into [`Reflection::bindings`].
    pub binding_index: u32,
}

/// An input of the first stage or an output of the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceVariable {
    /// GL name; arrays end in `[0]`, members of blocks and structures are spelled `Block.member`.
    pub name: String,
    /// GL type.
    pub gl_type: u32,
    /// Number of array elements, 1 for a non-array.
    pub array_size: u32,
    /// First GL location; -1 for built-ins. An attribute takes [`gl_type::attribute_locations`] an element.
    pub location: i32,
    /// First location in the SPIR-V; -1 for built-ins. It differs from `location` only in vertex shaders with
    /// double-precision attributes, which take [`gl_type::spirv_locations`] an element there.
    pub spirv_location: i32,
    /// First component in the location.
    pub component: u32,
    /// Fragment output index (1 for the second colour of dual-source blending).
    pub index: u32,
    /// Declared `patch`.
    pub per_patch: bool,
    /// Stages that use it (one stage).
    pub stages: StageMask,
}

/// `GL_INTERLEAVED_ATTRIBS` or `GL_SEPARATE_ATTRIBS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TransformFeedbackMode {
    /// All varyings in one buffer (several with `gl_NextBuffer`).
    Interleaved,
    /// Each varying in its own buffer.
    Separate,
}

/// What transform feedback captures from the last stage before rasterisation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformFeedback {
    /// Mode given to the link, or interleaved when the shader itself carries `xfb_*` layouts.
    pub mode: TransformFeedbackMode,
    /// The buffers; index = transform feedback binding point.
    pub buffers: Vec<TransformFeedbackBuffer>,
    /// The varyings in GL index order, `gl_SkipComponents*` and `gl_NextBuffer` included.
    pub varyings: Vec<TransformFeedbackVarying>,
}

/// One transform feedback buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformFeedbackBuffer {
    /// Bytes a vertex; 0 for a binding point that nothing is written to.
    pub stride: u32,
    /// Vertex stream.
    pub stream: u32,
}

/// One captured varying.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransformFeedbackVarying {
    /// GL name as the application gave it.
    pub name: String,
    /// GL type; 0 (`GL_NONE`) for `gl_SkipComponents*` and `gl_NextBuffer`.
    pub gl_type: u32,
    /// Number of array elements captured; the component count for `gl_SkipComponents*`.
    pub array_size: u32,
    /// Index into [`TransformFeedback::buffers`].
    pub buffer: u32,
    /// Byte offset in a vertex's record.
    pub offset: u32,
    /// Location in the SPIR-V; -1 for built-ins and for entries that capture nothing.
    pub location: i32,
    /// First component in the location.
    pub component: u32,
}

/// Facts of a vertex shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VertexFacts {
    /// Reads `gl_VertexID`.
    pub uses_vertex_id: bool,
    /// Reads `gl_InstanceID`.
    pub uses_instance_id: bool,
    /// The SPIR-V needs the draw-parameters feature (base vertex, base instance or draw index).
    pub uses_draw_parameters: bool,
}

/// Facts of a tessellation control shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TessControlFacts {
    /// Output patch vertices.
    pub vertices_out: u32,
    /// The program has no control shader of its own: this one hands its input on. It fits only draws whose
    /// `GL_PATCH_VERTICES` is `vertices_out`.
    pub generated: bool,
}

/// Abstract patch type of the tessellator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TessPrimitive {
    /// `triangles`.
    #[default]
    Triangles,
    /// `quads`.
    Quads,
    /// `isolines`.
    Isolines,
}

/// Edge subdivision of the tessellator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TessSpacing {
    /// `equal_spacing`.
    #[default]
    Equal,
    /// `fractional_even_spacing`.
    FractionalEven,
    /// `fractional_odd_spacing`.
    FractionalOdd,
}

/// Facts of a tessellation evaluation shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TessEvaluationFacts {
    /// Patch type.
    pub primitive: TessPrimitive,
    /// Spacing.
    pub spacing: TessSpacing,
    /// Generates triangles clockwise (`cw`).
    pub clockwise: bool,
    /// `point_mode`.
    pub point_mode: bool,
}

/// Input or output primitive of a geometry shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GeometryPrimitive {
    /// Points.
    #[default]
    Points,
    /// Lines (input).
    Lines,
    /// Lines with adjacency (input).
    LinesAdjacency,
    /// Triangles (input).
    Triangles,
    /// Triangles with adjacency (input).
    TrianglesAdjacency,
    /// Line strip (output).
    LineStrip,
    /// Triangle strip (output).
    TriangleStrip,
}

/// Facts of a geometry shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeometryFacts {
    /// Input primitive.
    pub input: GeometryPrimitive,
    /// Output primitive.
    pub output: GeometryPrimitive,
    /// `max_vertices`.
    pub max_vertices: u32,
    /// `invocations`, at least 1.
    pub invocations: u32,
    /// Emits to a stream other than 0.
    pub uses_streams: bool,
}

/// Facts of a fragment shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentFacts {
    /// `early_fragment_tests`.
    pub early_tests: bool,
    /// Writes `gl_FragDepth`.
    pub writes_depth: bool,
    /// Writes `gl_FragStencilRefARB`.
    pub writes_stencil: bool,
    /// Writes `gl_SampleMask`.
    pub writes_sample_mask: bool,
    /// Can discard.
    pub uses_discard: bool,
    /// Runs once per sample (reads `gl_SampleID`, `gl_SamplePosition` or a `sample in`).
    pub per_sample: bool,
    /// Wrote `gl_FragColor`: the SPIR-V writes the same value to every draw buffer location.
    pub broadcasts_color: bool,
    /// Asked for `origin_upper_left`; needs [`FRAMEBUFFER_HEIGHT_UNIFORM`].
    pub origin_upper_left: bool,
    /// Reads the primitive id: Vulkan then needs the geometry or tessellation capability.
    pub uses_primitive_id: bool,
}

/// Facts of a compute shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComputeFacts {
    /// Work group size.
    pub local_size: [u32; 3],
}

/// What the last stage before rasterisation writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreRasterFacts {
    /// Writes `gl_Position`.
    pub writes_position: bool,
    /// Writes `gl_PointSize`.
    pub writes_point_size: bool,
    /// Writes `gl_Layer`.
    pub writes_layer: bool,
    /// Writes `gl_ViewportIndex`.
    pub writes_viewport_index: bool,
    /// Size of `gl_ClipDistance`, 0 when it is not written.
    pub clip_distances: u32,
    /// Size of `gl_CullDistance`, 0 when it is not written.
    pub cull_distances: u32,
}

/// Subroutine state of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSubroutines {
    /// The stage.
    pub stage: Stage,
    /// Subroutine functions; the index in this list is the subroutine index.
    pub functions: Vec<SubroutineFunction>,
    /// Active subroutine uniforms.
    pub uniforms: Vec<SubroutineUniform>,
}

/// One subroutine function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubroutineFunction {
    /// Function name.
    pub name: String,
    /// Subroutine index: from `layout(index = n)`, or assigned.
    pub index: u32,
}

/// One subroutine uniform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubroutineUniform {
    /// GL name.
    pub name: String,
    /// Location of element 0.
    pub location: u32,
    /// Number of array elements, 1 for a non-array.
    pub array_size: u32,
    /// Subroutine indices that are compatible with it.
    pub compatible: Vec<u32>,
    /// Byte offset in the default block of the `int` that selects the function of element 0; elements are 16 bytes apart.
    pub offset: u32,
}

/// Why [`Reflection::from_bytes`] refused its input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectionError {
    /// The bytes are no encoded reflection, or are cut off.
    #[error("malformed reflection: {0}")]
    Malformed(String),
    /// An index points outside its table.
    #[error("inconsistent reflection: {0}")]
    Inconsistent(&'static str),
}

impl Reflection {
    /// Encodes the reflection for a transport or a cache.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain data of finite size into a growing vector: postcard has no failure left for this case.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// Decodes what [`Reflection::to_bytes`] wrote and checks every index, so that a reader may index with them.
    ///
    /// # Errors
    ///
    /// [`ReflectionError`] for bytes that are cut off, malformed, followed by more bytes, or inconsistent; never panics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Reflection, ReflectionError> {
        let (reflection, rest): (Reflection, &[u8]) =
            postcard::take_from_bytes(bytes).map_err(|error| ReflectionError::Malformed(error.to_string()))?;
        if !rest.is_empty() {
            return Err(ReflectionError::Malformed(format!("{} bytes too many", rest.len())));
        }
        reflection.check()?;
        Ok(reflection)
    }

    /// The binding with this set and number.
    pub fn find_binding(&self, set: u32, binding: u32) -> Option<&Binding> {
        self.bindings.iter().find(|b| b.set == set && b.binding == binding)
    }

    /// Checks that every index points into its table.
    ///
    /// # Errors
    ///
    /// [`ReflectionError::Inconsistent`] naming the first wrong field.
    pub fn check(&self) -> Result<(), ReflectionError> {
        let err = |what| Err(ReflectionError::Inconsistent(what));
        let within = |index: i32, len: usize| index == -1 || usize::try_from(index).is_ok_and(|i| i < len);
        for binding in &self.bindings {
            let blocks = match binding.kind {
                BindingKind::UniformBlock => self.uniform_blocks.len(),
                BindingKind::StorageBlock => self.storage_blocks.len(),
                BindingKind::AtomicBuffer => self.atomic_buffers.len(),
                _ => 0,
            };
            let last = i64::from(binding.block_index) + i64::from(binding.count) - 1;
            if binding.block_index != -1 && (binding.block_index < 0 || last >= blocks as i64) {
                return err("binding.block_index");
            }
            if !within(binding.uniform_index, self.uniforms.len()) {
                return err("binding.uniform_index");
            }
            if binding.set >= SET_COUNT {
                return err("binding.set");
            }
        }
        for uniform in &self.uniforms {
            if !within(uniform.block_index, self.uniform_blocks.len())
                || !within(uniform.atomic_index, self.atomic_buffers.len())
                || !within(uniform.binding_index, self.bindings.len())
            {
                return err("uniform");
            }
        }
        let listed = |members: &[u32], len: usize| members.iter().all(|&m| (m as usize) < len);
        for block in &self.uniform_blocks {
            if !listed(&block.members, self.uniforms.len()) || block.binding_index as usize >= self.bindings.len() {
                return err("uniform block");
            }
        }
        for block in &self.storage_blocks {
            if !listed(&block.members, self.buffer_variables.len())
                || block.binding_index as usize >= self.bindings.len()
            {
                return err("storage block");
            }
        }
        for buffer in &self.atomic_buffers {
            if !listed(&buffer.counters, self.uniforms.len()) || buffer.binding_index as usize >= self.bindings.len() {
                return err("atomic buffer");
            }
        }
        if self.buffer_variables.iter().any(|v| v.block_index as usize >= self.storage_blocks.len()) {
            return err("buffer variable");
        }
        if let Some(xfb) = &self.transform_feedback {
            let buffers = xfb.buffers.len();
            if xfb.varyings.iter().any(|v| v.gl_type != 0 && v.buffer as usize >= buffers) {
                return err("transform feedback varying");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Reflection {
        Reflection {
            stages: Stage::Vertex.mask().union(Stage::Fragment.mask()),
            default_block: Some(DefaultBlock { size: 64, stages: Stage::Vertex.mask() }),
            bindings: vec![Binding {
                set: SET_UNIFORM,
                binding: 0,
                kind: BindingKind::DefaultBlock,
                count: 1,
                stages: Stage::Vertex.mask(),
                name: DEFAULT_BLOCK_NAME.into(),
                block_index: -1,
                uniform_index: -1,
                uniform_element: 0,
                opaque: None,
            }],
            uniforms: vec![Uniform {
                name: "mvp".into(),
                gl_type: gl_type::FLOAT_MAT4,
                array_size: 1,
                stages: Stage::Vertex.mask(),
                location: 0,
                block_index: -1,
                offset: 0,
                array_stride: 0,
                matrix_stride: 16,
                row_major: false,
                atomic_index: -1,
                binding_index: -1,
                initial_unit: -1,
            }],
            location_count: 1,
            vertex: Some(VertexFacts::default()),
            ..Reflection::default()
        }
    }

    #[test]
    fn bytes_round_trip() {
        let reflection = sample();
        assert_eq!(Reflection::from_bytes(&reflection.to_bytes()).as_ref(), Ok(&reflection));
    }

    #[test]
    fn hostile_bytes_are_refused_or_consistent() {
        let bytes = sample().to_bytes();
        for cut in 0..bytes.len() {
            assert!(Reflection::from_bytes(&bytes[..cut]).is_err());
        }
        for at in 0..bytes.len() {
            for value in [0u8, 1, 0x7f, 0x80, 0xff] {
                let mut mutated = bytes.clone();
                mutated[at] = value;
                if let Ok(reflection) = Reflection::from_bytes(&mutated) {
                    assert_eq!(reflection.check(), Ok(()));
                }
            }
        }
        let mut long = bytes;
        long.push(0);
        assert!(Reflection::from_bytes(&long).is_err());
    }

    #[test]
    fn an_index_outside_its_table_is_refused() {
        let mut reflection = sample();
        reflection.uniforms[0].binding_index = 7;
        assert_eq!(Reflection::from_bytes(&reflection.to_bytes()), Err(ReflectionError::Inconsistent("uniform")));
    }
}
