//! The call catalogue: the single source of truth for every MGPipe call.
//!
//! [`mgpipe_catalogue!`] hands one row a call to a consumer macro. The rows generate the [`crate::Screen`] and
//! [`crate::Context`] traits, the [`Opcode`] enum and [`CALLS`] here, and the record codec, bounds checks, recorder and
//! comparators elsewhere. An opcode is a row's position, counted from 1: rows are appended, never reordered.
//!
//! A row reads
//!
//! ```text
//! #[doc = "…"]
//! Name name receiver Class Wait [FLAGS] (arg: kind Type, …) -> reply;
//! ```
//!
//! * `receiver` is `screen` (callable from any thread, `&self`) or `context` (one thread at a time, `&mut self`).
//! * `kind` is `payload T` (`&T`), `tail T` (`&[T]`, variable length), `blob u8` (`&[u8]`), `host u8`
//!   ([`crate::HostBytes`]) or `out u8` (`&mut [u8]`, filled by the answer).
//! * `reply` is `none`, `caps`, or `pod T` (`PipeResult<T>`); a row with an `out` argument and `status` answers
//!   `PipeResult<()>`.

/// Calls `$consumer! { rows… }` with the whole catalogue. See the module for the row grammar.
#[macro_export]
macro_rules! mgpipe_catalogue {
    ($consumer:ident) => {
        $consumer! {
            // ---- screen ----
            /// Limits, features, formats and names of the backend.
            GetCaps get_caps screen Screen Reply [REPLY_SLOT] () -> caps;
            /// Declares a resource and, when its extent is not zero, its storage.
            ResourceCreate resource_create screen Screen None [] (desc: payload ResourceDesc) -> none;
            /// Replaces the storage of a resource under its handle (see [`crate::ResourceDesc`]).
            ResourceRespecify resource_respecify context Screen None [] (desc: payload ResourceDesc) -> none;
            /// The last owner is gone. Work in flight that uses the resource still completes.
            ResourceDestroy resource_destroy screen Screen None [] (resource: payload ResourceRef) -> none;
            /// Maps the whole storage of a buffer for the life of the storage. Optional.
            MapPersistent map_persistent screen Screen Reply [REPLY_SLOT | OPTIONAL] (buffer: payload HandleOnly) -> pod MapResult;
            /// Ends a persistent mapping. Optional.
            UnmapPersistent unmap_persistent screen Screen None [OPTIONAL] (buffer: payload HandleOnly) -> none;
            /// Puts a fence into the command flow; it signals when everything before it has retired.
            FenceCreate fence_create context Screen None [] (desc: payload FenceDesc) -> none;
            /// Whether a fence has signalled, without waiting. Answered locally.
            FenceStatus fence_status screen Screen None [LOCAL] (fence: payload HandleOnly) -> pod FenceAnswer;
            /// Waits for a fence. The caller flushes the context that made it first.
            FenceWait fence_wait screen Screen Reply [REPLY_SLOT] (wait: payload FenceWait) -> pod FenceAnswer;
            /// The fence is not needed any more.
            FenceDestroy fence_destroy screen Screen None [] (fence: payload HandleOnly) -> none;
            // ---- query ----
            /// Declares a query.
            QueryCreate query_create context Query None [] (desc: payload QueryDesc) -> none;
            /// Starts counting.
            QueryBegin query_begin context Query None [] (query: payload HandleOnly) -> none;
            /// Stops counting; for a timestamp query, takes the time.
            QueryEnd query_end context Query None [] (query: payload HandleOnly) -> none;
            /// Whether the result is there (`available`), without waiting; makes progress: submits the query's commands if
            /// they are not yet.
            QueryAvailable query_available context Query None [LOCAL] (query: payload HandleOnly) -> pod QueryAnswer;
            /// The result, waiting for it.
            QueryResult query_result context Query Reply [REPLY_SLOT] (query: payload HandleOnly) -> pod QueryAnswer;
            /// The query is not needed any more.
            QueryDestroy query_destroy context Query None [] (query: payload HandleOnly) -> none;
            // ---- CSO ----
            /// Declares a render-state object from pipeline chunks.
            CreateRenderState create_render_state context Cso None [BLOB] (desc: payload RenderStateDesc, chunks: blob u8) -> none;
            /// Makes a render-state object's pipeline chunks current.
            BindRenderState bind_render_state context Cso None [] (bind: payload BindRenderState) -> none;
            /// The object is evicted from the client's cache.
            DeleteRenderState delete_render_state context Cso None [] (cso: payload HandleOnly) -> none;
            /// Declares a vertex-elements object.
            CreateVertexElements create_vertex_elements context Cso None [VAR_TAIL]
                (desc: payload VertexElementsDesc, attributes: tail VertexAttribute, bindings: tail VertexBinding) -> none;
            /// Makes a vertex-elements object current.
            BindVertexElements bind_vertex_elements context Cso None [] (cso: payload HandleOnly) -> none;
            /// The object is evicted from the client's cache.
            DeleteVertexElements delete_vertex_elements context Cso None [] (cso: payload HandleOnly) -> none;
            /// Declares a sampler; the blob is a [`crate::SamplerParameters`].
            CreateSampler create_sampler context Cso None [BLOB] (desc: payload SamplerDesc, parameters: blob u8) -> none;
            /// The sampler is evicted from the client's cache.
            DeleteSampler delete_sampler context Cso None [] (cso: payload HandleOnly) -> none;
            /// Declares a sampler view.
            CreateSamplerView create_sampler_view context Cso None [] (view: payload SamplerView) -> none;
            /// The view is evicted from the client's cache, or its texture died.
            DeleteSamplerView delete_sampler_view context Cso None [] (cso: payload HandleOnly) -> none;
            /// Declares a linked program; sent when the link finishes. The blob holds SPIR-V and the reflection archive.
            CreateShader create_shader context Cso None [BLOB] (desc: payload ProgramDesc, code: blob u8) -> none;
            /// Makes a program current for every stage that it has.
            BindShader bind_shader context Cso None [] (cso: payload HandleOnly) -> none;
            /// The program's last owner is gone.
            DeleteShader delete_shader context Cso None [] (cso: payload HandleOnly) -> none;
            // ---- state ----
            /// Updates dynamic chunks of the render state.
            SetDynamicState set_dynamic_state context State None [BLOB] (state: payload DynamicState, chunks: blob u8) -> none;
            /// The framebuffer of the following verbs.
            SetFramebufferState set_framebuffer_state context State None [] (state: payload FramebufferState) -> none;
            /// Buffers of the vertex binding points.
            SetVertexBuffers set_vertex_buffers context State None [VAR_TAIL] (header: payload SetHeader, buffers: tail VertexBuffer) -> none;
            /// The element array buffer.
            SetIndexBuffer set_index_buffer context State None [] (buffer: payload IndexBuffer) -> none;
            /// Indirect and parameter buffers.
            SetIndirectBuffers set_indirect_buffers context State None [] (buffers: payload IndirectBuffers) -> none;
            /// Resolved views of texture units. The tail replaces every bound view.
            SetSamplerViews set_sampler_views context State None [VAR_TAIL] (header: payload SetHeader, views: tail BoundView) -> none;
            /// Samplers of texture units `start…`; null where the unit has no view.
            BindSamplerStates bind_sampler_states context State None [VAR_TAIL] (header: payload SetHeader, samplers: tail SamplerCso) -> none;
            /// Image units. The tail replaces every bound image.
            SetShaderImages set_shader_images context State None [VAR_TAIL] (header: payload SetHeader, images: tail ImageView) -> none;
            /// Buffers of one class of binding points, and their bytes when the backend asked for them.
            SetShaderBuffers set_shader_buffers context State None [VAR_TAIL | HOST_SPAN]
                (header: payload ShaderBuffers, ranges: tail BufferRange, bytes: host u8) -> none;
            /// Transform-feedback targets.
            SetStreamOutputTargets set_stream_output_targets context State None [VAR_TAIL]
                (header: payload StreamOutputTargets, targets: tail BufferRange) -> none;
            /// Bytes of a program's default uniform block.
            SetGlobalConstants set_global_constants context State None [BLOB] (constants: payload GlobalConstants, bytes: blob u8) -> none;
            /// Current values of vertex attributes.
            SetVertexAttribDefaults set_vertex_attrib_defaults context State None [VAR_TAIL]
                (header: payload VertexAttribDefaults, values: tail AttribValue) -> none;
            /// Pixel pack state.
            SetPixelPackState set_pixel_pack_state context State None [] (state: payload PixelPackState) -> none;
            /// Patch parameters.
            SetPatchState set_patch_state context State None [] (state: payload PatchState) -> none;
            /// The program that draws use.
            SetDrawProgram set_draw_program context State None [] (shader: payload HandleOnly) -> none;
            /// The program that dispatches use.
            SetDispatchProgram set_dispatch_program context State None [] (shader: payload HandleOnly) -> none;
            // ---- object ----
            /// Parameters of a texture object.
            SetTextureParams set_texture_params context Object None [] (params: payload TextureParams) -> none;
            /// Uploads into a buffer or a texture level.
            ResourceSubdata resource_subdata context Object None [BLOB | VAR_TAIL]
                (data: payload SubData, regions: tail SubRegion, bytes: blob u8) -> none;
            /// Ends the answer to a texture pull.
            ResourceSubdataComplete resource_subdata_complete context Object None [] (complete: payload SubDataComplete) -> none;
            /// Uploads into a resident mapping. Optional.
            BufferSubdataResident buffer_subdata_resident context Object None [BLOB | OPTIONAL]
                (data: payload BufferSubDataResident, bytes: blob u8) -> none;
            /// A range of a persistent mapping was flushed by the application.
            ResourceFlushRange resource_flush_range context Object None [] (range: payload FlushRange) -> none;
            /// Bytes of a buffer, after everything before has run.
            ResourceReadback resource_readback context Object Reply [REPLY_SLOT] (readback: payload BufferReadback, bytes: out u8) -> status;
            /// Copies between resources on the GPU.
            ResourceCopyRegion resource_copy_region context Object None [] (copy: payload CopyRegion) -> none;
            /// Fills mipmap levels from the base level on the GPU.
            GenerateMipmap generate_mipmap context Object None [] (plan: payload MipPlan) -> none;
            /// Allocates renderbuffer storage.
            RenderbufferStorage renderbuffer_storage context Object None [] (storage: payload RenderbufferStorage) -> none;
            // ---- verb ----
            /// Draws.
            DrawVbo draw_vbo context Verb None [HOST_SPAN | VAR_TAIL]
                (info: payload DrawInfo, ranges: tail DrawRange, indirect: tail DrawIndirect, indices: host u8) -> none;
            /// Dispatches compute work groups.
            LaunchGrid launch_grid context Verb None [] (grid: payload GridInfo) -> none;
            /// Makes shader writes visible.
            MemoryBarrier memory_barrier context Verb None [] (barrier: payload MemoryBarrier) -> none;
            /// Starts transform feedback.
            BeginStreamOutput begin_stream_output context Verb None [] (begin: payload BeginStreamOutput) -> none;
            /// Ends transform feedback.
            EndStreamOutput end_stream_output context Verb None [] (end: payload EndStreamOutput) -> none;
            /// Pauses transform feedback.
            PauseStreamOutput pause_stream_output context Verb None [] (xfb: payload HandleOnly) -> none;
            /// Resumes transform feedback.
            ResumeStreamOutput resume_stream_output context Verb None [] (xfb: payload HandleOnly) -> none;
            /// Blits or resolves between surfaces.
            Blit blit context Verb None [] (blit: payload Blit) -> none;
            /// Clears attachments of the current framebuffer.
            Clear clear context Verb None [] (clear: payload Clear) -> none;
            /// Texels of the read surface.
            ReadPixels read_pixels context Verb Reply [REPLY_SLOT] (info: payload ReadbackInfo, texels: out u8) -> status;
            /// Texels of a texture level.
            GetTextureImage get_texture_image context Verb Reply [REPLY_SLOT] (info: payload ReadbackInfo, texels: out u8) -> status;
            /// Submits recorded work.
            Flush flush context Verb None [] (flush: payload Flush) -> none;
            /// Shows a colour image in a window.
            Present present context Verb Present [] (present: payload Present) -> none;
            /// Swap interval of a window. Optional.
            SetSwapInterval set_swap_interval context Verb None [OPTIONAL] (interval: payload SwapInterval) -> none;
            // ---- appended ----
            /// Makes the context's later work wait for a fence on the device, without blocking the host.
            FenceWaitServer fence_wait_server context Screen None [] (fence: payload HandleOnly) -> none;
            /// Texture units, block bindings and image units of a program, after link or `glUniform1i` and friends.
            SetProgramBindings set_program_bindings context State None [VAR_TAIL] (header: payload ProgramBindings, units: tail u32) -> none;
            /// Reads texels into a buffer without an answer. Optional.
            ReadbackToBuffer readback_to_buffer context Verb None [OPTIONAL] (readback: payload ReadbackToBuffer) -> none;
            /// The device's time now, in nanoseconds.
            QueryTimestamp query_timestamp context Query Reply [REPLY_SLOT] () -> pod QueryAnswer;
            /// The transform-feedback object's last owner is gone.
            DeleteStreamOutput delete_stream_output context Verb None [] (xfb: payload HandleOnly) -> none;
            /// The following records belong to this context (wire only; contexts are objects in the traits). Optional.
            BindContext bind_context context Verb None [OPTIONAL] (context: payload BindContext) -> none;
            /// Opens a window for `present`. The client shows frames itself where this is absent or fails. Optional.
            WindowOpen window_open screen Screen Reply [REPLY_SLOT | OPTIONAL] (desc: payload WindowDesc) -> pod WindowAnswer;
            /// The window is not needed any more. Optional.
            WindowClose window_close screen Screen None [OPTIONAL] (window: payload WindowRef) -> none;
        }
    };
}

/// Class of a call: which table it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallClass {
    /// Objects and facts of the share group.
    Screen,
    /// Queries.
    Query,
    /// Immutable state objects.
    Cso,
    /// Bindings and values.
    State,
    /// Contents of objects.
    Object,
    /// Work.
    Verb,
}

/// What a client must wait for after a call in a split transport.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitClass {
    /// Nothing: almost every call.
    None,
    /// That the server has applied the call.
    Applied,
    /// The answer in a reply slot.
    Reply,
    /// Present credit.
    Present,
}

/// Flag bits of a call.
pub mod call_flags {
    /// Answers in a reply slot.
    pub const REPLY_SLOT: u8 = 1 << 0;
    /// Carries a blob.
    pub const BLOB: u8 = 1 << 1;
    /// Has a variable tail.
    pub const VAR_TAIL: u8 = 1 << 2;
    /// Carries host bytes.
    pub const HOST_SPAN: u8 = 1 << 3;
    /// A backend may lack it: `caps.call_mask` says so.
    pub const OPTIONAL: u8 = 1 << 4;
    /// Answered without a reply slot, from facts that the client side holds.
    pub const LOCAL: u8 = 1 << 5;
}

/// Facts about one call.
#[derive(Clone, Copy, Debug)]
pub struct CallInfo {
    /// The opcode.
    pub opcode: Opcode,
    /// Snake-case name: method and counter name.
    pub name: &'static str,
    /// Class.
    pub class: CallClass,
    /// Wait class.
    pub wait: WaitClass,
    /// Bits of [`call_flags`].
    pub flags: u8,
}

macro_rules! opcodes {
    ($($(#[$doc:meta])* $op:ident $name:ident $recv:ident $class:ident $wait:ident [$($flag:ident)|*]
        ($($arg:ident : $kind:ident $ty:ident),*) -> $reply:ident $($reply_ty:ident)?;)*) => {
        /// Number of a call: its position in the catalogue, from 1.
        #[repr(u16)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[allow(clippy::manual_non_exhaustive)] // The hidden variant keeps 0 from being a call; the list is exhaustive.
        pub enum Opcode {
            #[doc(hidden)]
            Invalid = 0,
            $($(#[$doc])* $op,)*
        }

        /// Every call in opcode order.
        pub const CALLS: &[CallInfo] = &[
            $(CallInfo {
                opcode: Opcode::$op,
                name: stringify!($name),
                class: CallClass::$class,
                wait: WaitClass::$wait,
                flags: 0 $(| call_flags::$flag)*,
            },)*
        ];
    };
}

mgpipe_catalogue!(opcodes);

/// Calls of the contract's first edition; later ones are appended after them.
pub const FIRST_EDITION_CALLS: usize = 68;

impl Opcode {
    /// The opcode with this number.
    pub fn from_u16(value: u16) -> Option<Opcode> {
        CALLS.get((value as usize).checked_sub(1)?).map(|call| call.opcode)
    }

    /// Facts about the call.
    pub fn info(self) -> &'static CallInfo {
        &CALLS[(self as usize).max(1) - 1]
    }
}

const _: () = {
    let mut i = 0;
    while i < CALLS.len() {
        assert!(CALLS[i].opcode as usize == i + 1, "opcode is position");
        let replies = CALLS[i].flags & call_flags::REPLY_SLOT != 0;
        assert!(replies == matches!(CALLS[i].wait, WaitClass::Reply), "every reply-slot row waits for its reply");
        i += 1;
    }
    assert!(CALLS.len() >= FIRST_EDITION_CALLS && CALLS.len() <= 128);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_edition_has_the_contracts_classes() {
        let count = |class| CALLS[..FIRST_EDITION_CALLS].iter().filter(|c| c.class == class).count();
        assert_eq!(count(CallClass::Screen), 10);
        assert_eq!(count(CallClass::Query), 6);
        assert_eq!(count(CallClass::Cso), 13);
        assert_eq!(count(CallClass::State), 16);
        assert_eq!(count(CallClass::Object), 9);
        assert_eq!(count(CallClass::Verb), 14);
    }

    #[test]
    fn names_are_unique_and_opcodes_round_trip() {
        let names: std::collections::HashSet<_> = CALLS.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), CALLS.len());
        for call in CALLS {
            assert_eq!(Opcode::from_u16(call.opcode as u16), Some(call.opcode));
        }
        assert_eq!(Opcode::from_u16(0), None);
        assert_eq!(Opcode::from_u16(CALLS.len() as u16 + 1), None);
    }
}
