//! A source made of plain fields: drives the tracker without a frontend, for examples, tests and benches.

use crate::generation::{Aggregates, Counter, Generations};
use crate::render_state::RenderStateTracker;
use crate::source::{
    BufferClass, ProgramState, ResolvedBuffers, ResolvedProgramBindings, ResolvedStreamOutput, ResolvedView, Source,
    VertexElements,
};
use crate::verb::{ProgramPoint, VerbClass};
use mgpipe_types::{
    AttribValue, Context, FramebufferState, ImageView, IndexBuffer, IndirectBuffers, PatchState, PixelPackState,
    ResourceDesc, VertexBuffer,
};

/// Everything that a [`Source`] answers, as public fields. Whoever changes a field bumps the counter that publishes it.
#[derive(Clone, Debug, Default)]
pub struct PlainSource {
    /// The context's counters.
    pub generations: Generations,
    /// The aggregate generations.
    pub aggregates: Aggregates,
    /// The render state.
    pub render_state: RenderStateTracker,
    /// Storage that waits to be declared: `upload_pending` sends it.
    pub pending: Vec<ResourceDesc>,
    /// Verb classes for which `upload_pending` ran, in order.
    pub upload_calls: Vec<VerbClass>,
    /// Times that `upload_pending` will move the texture content generation itself, as a frontend that allocates storage
    /// there does.
    pub moves_while_uploading: u32,
    /// Program of draws and of dispatches.
    pub programs: [ProgramState; 2],
    /// Default uniform block of either program.
    pub default_blocks: [Vec<u8>; 2],
    /// Post-link bindings of either program.
    pub program_bindings: [ResolvedProgramBindings; 2],
    /// Framebuffer.
    pub framebuffer: FramebufferState,
    /// Vertex layout.
    pub vertex_elements: VertexElements,
    /// Vertex buffers.
    pub vertex_buffers: Vec<VertexBuffer>,
    /// Index buffer.
    pub index_buffer: IndexBuffer,
    /// Indirect buffers.
    pub indirect_buffers: IndirectBuffers,
    /// Texture units of either program.
    pub textures: [Vec<ResolvedView>; 2],
    /// Image units.
    pub images: Vec<ImageView>,
    /// Binding points by [`BufferClass`].
    pub buffers: [ResolvedBuffers; 3],
    /// Transform feedback.
    pub stream_output: ResolvedStreamOutput,
    /// Attribute values.
    pub attrib_defaults: Vec<AttribValue>,
    /// Pixel pack state.
    pub pixel_pack: PixelPackState,
    /// Patch parameters.
    pub patch: PatchState,
}

impl PlainSource {
    /// Notes that the state of a counter changed.
    pub fn bump(&mut self, counter: Counter) {
        self.generations.bump(counter);
    }
}

impl Source for PlainSource {
    #[inline]
    fn generations(&self) -> &Generations {
        &self.generations
    }

    #[inline]
    fn aggregates(&self) -> Aggregates {
        self.aggregates
    }

    #[inline]
    fn render_state(&self) -> &RenderStateTracker {
        &self.render_state
    }

    fn upload_pending(&mut self, class: VerbClass, pipe: &mut dyn Context) {
        self.upload_calls.push(class);
        if self.moves_while_uploading > 0 {
            self.moves_while_uploading -= 1;
            self.aggregates.texture_content = self.aggregates.texture_content.wrapping_add(1);
        }
        for desc in self.pending.drain(..) {
            pipe.resource_respecify(&desc);
        }
    }

    fn program(&self, point: ProgramPoint) -> ProgramState {
        self.programs[point as usize]
    }

    fn resolve_framebuffer(&mut self) -> FramebufferState {
        self.framebuffer
    }

    fn resolve_vertex_elements(&mut self, out: &mut VertexElements) {
        out.attributes.extend_from_slice(&self.vertex_elements.attributes);
        out.bindings.extend_from_slice(&self.vertex_elements.bindings);
    }

    fn resolve_vertex_buffers(&mut self, out: &mut Vec<VertexBuffer>) {
        out.extend_from_slice(&self.vertex_buffers);
    }

    fn resolve_index_buffer(&mut self) -> IndexBuffer {
        self.index_buffer
    }

    fn resolve_indirect_buffers(&mut self) -> IndirectBuffers {
        self.indirect_buffers
    }

    fn resolve_textures(&mut self, point: ProgramPoint, out: &mut Vec<ResolvedView>) {
        out.extend_from_slice(&self.textures[point as usize]);
    }

    fn resolve_images(&mut self, out: &mut Vec<ImageView>) {
        out.extend_from_slice(&self.images);
    }

    fn resolve_buffers(&mut self, class: BufferClass, out: &mut ResolvedBuffers) {
        let buffers = &self.buffers[class as usize];
        out.ranges.extend_from_slice(&buffers.ranges);
        out.writable_mask = buffers.writable_mask;
    }

    fn resolve_stream_output(&mut self, out: &mut ResolvedStreamOutput) {
        out.xfb = self.stream_output.xfb;
        out.targets.extend_from_slice(&self.stream_output.targets);
    }

    fn default_block(&self, point: ProgramPoint) -> &[u8] {
        &self.default_blocks[point as usize]
    }

    fn resolve_program_bindings(&mut self, point: ProgramPoint, out: &mut ResolvedProgramBindings) {
        let bindings = &self.program_bindings[point as usize];
        out.samplers.extend_from_slice(&bindings.samplers);
        out.uniform_blocks.extend_from_slice(&bindings.uniform_blocks);
        out.storage_blocks.extend_from_slice(&bindings.storage_blocks);
        out.images.extend_from_slice(&bindings.images);
    }

    fn resolve_attrib_defaults(&mut self, out: &mut Vec<AttribValue>) {
        out.extend_from_slice(&self.attrib_defaults);
    }

    fn resolve_pixel_pack(&mut self) -> PixelPackState {
        self.pixel_pack
    }

    fn resolve_patch(&mut self) -> PatchState {
        self.patch
    }
}
