//! What the tracker asks: the context's state, resolved at a verb.

use std::sync::Arc;

use mgpipe_tracker::{
    Aggregates, BufferClass, Counter, Generations, ProgramPoint, ProgramState, RenderStateTracker, ResolvedBuffers,
    ResolvedProgramBindings, ResolvedStreamOutput, ResolvedView, Source, VerbClass, VertexElements,
};
use mgpipe_types::{
    AttribValue, Context as Pipe, FramebufferState, ImageView, IndexBuffer, IndirectBuffers, PatchState,
    PixelPackState, VertexBuffer,
};

use crate::context::ContextState;

impl Source for ContextState {
    #[inline]
    fn generations(&self) -> &Generations {
        &self.generations
    }

    #[inline]
    fn aggregates(&self) -> Aggregates {
        self.share.aggregates.snapshot()
    }

    #[inline]
    fn render_state(&self) -> &RenderStateTracker {
        &self.render
    }

    fn upload_pending(&mut self, class: VerbClass, pipe: &mut dyn Pipe) {
        // A draw that only changed its vertex arrays comes here as well: nothing below locks while no texture, unit or
        // attachment moved.
        let moved = self.aggregates();
        if matches!(class, VerbClass::Draw | VerbClass::Dispatch | VerbClass::TextureOp) {
            let units = self.generations.get(Counter::TextureUnits);
            self.textures.realize_moved([moved.texture_content, moved.texture_params, units], pipe);
        }
        let binding = self.generations.get(Counter::Framebuffer);
        let state = [moved.texture_content, moved.texture_params, moved.attachment, binding];
        self.framebuffers.realize_moved(state, pipe);
    }

    fn program(&self, point: ProgramPoint) -> ProgramState {
        match point {
            ProgramPoint::Draw => self.program.state(),
            ProgramPoint::Dispatch => ProgramState::default(),
        }
    }

    fn resolve_framebuffer(&mut self) -> FramebufferState {
        self.resolve_framebuffer_state()
    }

    fn resolve_vertex_elements(&mut self, out: &mut VertexElements) {
        self.arrays.current().elements(out);
    }

    fn resolve_vertex_buffers(&mut self, out: &mut Vec<VertexBuffer>) {
        self.arrays.current().buffers(out);
    }

    fn resolve_index_buffer(&mut self) -> IndexBuffer {
        let res = self.arrays.current().element().map_or(mgpipe_types::Handle::NULL, |b| b.handle.0);
        IndexBuffer { res, offset: 0, index_size: 0, pad: 0 }
    }

    fn resolve_indirect_buffers(&mut self) -> IndirectBuffers {
        // Indirect draws come with GL 4.0.
        IndirectBuffers::default()
    }

    fn resolve_textures(&mut self, point: ProgramPoint, out: &mut Vec<ResolvedView>) {
        if point == ProgramPoint::Draw {
            let seamless = self.render.state().texture_cube_map_seamless != 0;
            self.textures.resolve(self.program.sampled(), seamless, out);
        }
    }

    fn resolve_images(&mut self, _: &mut Vec<ImageView>) {
        // Image units come with GL 4.2.
    }

    fn resolve_buffers(&mut self, class: BufferClass, out: &mut ResolvedBuffers) {
        // Storage and atomic-counter buffers come with GL 4.2 and 4.3.
        if class == BufferClass::Uniform {
            let touched = &self.buffers.uniform_ranges[..self.buffers.uniform_touched];
            out.ranges.extend(touched.iter().map(|binding| binding.resolve()));
        }
    }

    fn resolve_stream_output(&mut self, out: &mut ResolvedStreamOutput) {
        self.xfb.resolve(out);
    }

    fn default_block(&self, point: ProgramPoint) -> &[u8] {
        match point {
            ProgramPoint::Draw => self.program.constants(),
            ProgramPoint::Dispatch => &[],
        }
    }

    fn resolve_program_bindings(&mut self, point: ProgramPoint, out: &mut ResolvedProgramBindings) {
        if point == ProgramPoint::Draw {
            self.program.bindings(out);
        }
    }

    fn resolve_attrib_defaults(&mut self, out: &mut Vec<AttribValue>) {
        let enabled = self.arrays.current().enabled();
        let count = self.share.limits.vertex_attribs as usize;
        let values = &self.arrays.current_values()[..count];
        out.extend(values.iter().filter(|v| enabled >> v.index & 1 == 0));
    }

    fn resolve_pixel_pack(&mut self) -> PixelPackState {
        self.pixel.pack_payload()
    }

    fn resolve_patch(&mut self) -> PatchState {
        let state = self.render.state();
        PatchState {
            vertices: state.patch_vertices as u32,
            outer: state.patch_outer_level,
            inner: state.patch_inner_level,
            ..PatchState::default()
        }
    }
}

/// Keeps the compiler honest about what contexts may do on other threads.
const _: fn() = || {
    fn sendable<T: Send>() {}
    fn shareable<T: Send + Sync>() {}
    sendable::<crate::context::Context>();
    shareable::<Arc<crate::share::ShareGroup>>();
    shareable::<crate::sync::Fence>();
};
