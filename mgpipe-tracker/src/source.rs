//! What the tracker asks of a frontend: generations on the hot path, resolved state when a shutter moved.

use crate::generation::{Aggregates, Generations};
use crate::render_state::RenderStateTracker;
use crate::verb::{ProgramPoint, VerbClass};
use mgpipe_types::{
    AttribValue, BufferRange, Context, FramebufferState, ImageView, IndexBuffer, IndirectBuffers, PatchState,
    PixelPackState, SamplerParameters, SamplerView, ShaderCso, VertexAttribute, VertexBinding, VertexBuffer, XfbHandle,
};

/// Class of indexed buffer binding points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum BufferClass {
    /// Uniform buffers.
    Uniform,
    /// Shader storage buffers.
    Storage,
    /// Atomic counter buffers.
    Atomic,
}

impl BufferClass {
    /// The value that travels: one of [`mgpipe_types::buffer_class`].
    pub const fn wire(self) -> u32 {
        match self {
            BufferClass::Uniform => mgpipe_types::buffer_class::UNIFORM,
            BufferClass::Storage => mgpipe_types::buffer_class::SHADER_STORAGE,
            BufferClass::Atomic => mgpipe_types::buffer_class::ATOMIC_COUNTER,
        }
    }
}

/// Resolved vertex layout of the current vertex array.
#[derive(Clone, Debug, Default)]
pub struct VertexElements {
    /// Enabled attributes, ascending by location.
    pub attributes: Vec<VertexAttribute>,
    /// Binding points that those attributes use, ascending.
    pub bindings: Vec<VertexBinding>,
}

/// What one texture unit gives to the program, resolved: declared sampler type, completeness, view restriction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedView {
    /// Texture unit in the merged space.
    pub unit: u32,
    /// The view without its `cso`, which the tracker fills in. A null `texture` is an unbound or incomplete unit: reads
    /// return (0,0,0,1); `target` is filled all the same.
    pub view: SamplerView,
    /// Sampler parameters that apply: the sampler object's, or the texture's own.
    pub parameters: SamplerParameters,
}

/// Resolved binding points of one buffer class, from point 0 up to the highest that was ever touched.
#[derive(Clone, Debug, Default)]
pub struct ResolvedBuffers {
    /// Range by binding point; a null buffer for an unbound one.
    pub ranges: Vec<BufferRange>,
    /// Bit i: range i may be written by shaders.
    pub writable_mask: u32,
}

/// Resolved transform-feedback targets.
#[derive(Clone, Debug, Default)]
pub struct ResolvedStreamOutput {
    /// The transform-feedback object.
    pub xfb: XfbHandle,
    /// Range by binding point.
    pub targets: Vec<BufferRange>,
}

/// The program of a point, and the versions of what is kept per program. Null when none is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramState {
    /// The linked program.
    pub shader: ShaderCso,
    /// Moves with every change of its post-link bindings, and with every link.
    pub bindings_version: u64,
    /// Moves with every change of its default uniform block, and with every link.
    pub constants_version: u64,
    /// Whether it has a default uniform block at all.
    pub has_constants: bool,
}

/// Post-link bindings of a program, in the order of its reflection: see [`mgpipe_types::ProgramBindings`].
#[derive(Clone, Debug, Default)]
pub struct ResolvedProgramBindings {
    /// Texture units, one entry an element of every sampler descriptor.
    pub samplers: Vec<u32>,
    /// Binding points of uniform blocks.
    pub uniform_blocks: Vec<u32>,
    /// Binding points of storage blocks, then of atomic-counter buffers.
    pub storage_blocks: Vec<u32>,
    /// Image units, one entry an element of every image descriptor.
    pub images: Vec<u32>,
}

/// The state of one context, as the tracker sees it.
///
/// The first three methods run at every verb: they must not lock, allocate or compute. Every `resolve_*` runs only after
/// a generation on which the group depends has moved (see [`crate::Counter::dependents`]); it answers from the state as
/// it is now and fills scratch that arrives empty, with room for every slot, so that nothing is allocated.
pub trait Source {
    /// The context's counters.
    fn generations(&self) -> &Generations;

    /// The aggregate generations, of shared objects too: [`crate::SharedAggregates::snapshot`] in a share group.
    fn aggregates(&self) -> Aggregates;

    /// The render state.
    fn render_state(&self) -> &RenderStateTracker;

    /// Emits what is queued for the objects that a verb of `class` reaches: storage, uploads, texture parameters. Runs
    /// before everything else of the verb, since views and ranges name that storage.
    fn upload_pending(&mut self, class: VerbClass, pipe: &mut dyn Context);

    /// The program of a point.
    fn program(&self, point: ProgramPoint) -> ProgramState;

    /// The framebuffer; `content_hash` is the tracker's to fill in.
    fn resolve_framebuffer(&mut self) -> FramebufferState;

    /// Layout of the current vertex array.
    fn resolve_vertex_elements(&mut self, out: &mut VertexElements);

    /// Buffers of the vertex binding points, from point 0 up to the highest that an enabled attribute uses.
    fn resolve_vertex_buffers(&mut self, out: &mut Vec<VertexBuffer>);

    /// The element array buffer.
    fn resolve_index_buffer(&mut self) -> IndexBuffer;

    /// Indirect and parameter buffers.
    fn resolve_indirect_buffers(&mut self) -> IndirectBuffers;

    /// Texture units that the program of `point` samples, ascending by unit; the frontend may add units it does not.
    fn resolve_textures(&mut self, point: ProgramPoint, out: &mut Vec<ResolvedView>);

    /// Image units that were ever touched, whatever program is in use.
    fn resolve_images(&mut self, out: &mut Vec<ImageView>);

    /// Binding points of a class, whatever program is in use. Ranges are resolved now: a buffer that grew after it was
    /// bound has its new size.
    fn resolve_buffers(&mut self, class: BufferClass, out: &mut ResolvedBuffers);

    /// Transform-feedback targets.
    fn resolve_stream_output(&mut self, out: &mut ResolvedStreamOutput);

    /// Bytes of the default uniform block of a point's program.
    fn default_block(&self, point: ProgramPoint) -> &[u8];

    /// Post-link bindings of a point's program.
    fn resolve_program_bindings(&mut self, point: ProgramPoint, out: &mut ResolvedProgramBindings);

    /// Current values of the attributes that have no enabled array, ascending by index.
    fn resolve_attrib_defaults(&mut self, out: &mut Vec<AttribValue>);

    /// Pixel pack state.
    fn resolve_pixel_pack(&mut self) -> PixelPackState;

    /// Patch parameters.
    fn resolve_patch(&mut self) -> PatchState;
}
