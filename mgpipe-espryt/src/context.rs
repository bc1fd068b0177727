//! A context: the state that verbs read, and the calls that only store it.

use crate::depth_pass::DepthPasses;
use crate::device::Device;
use crate::egl::{CurrentContext, HostContext};
use crate::framebuffer::{AttachedTextures, Framebuffers};
use crate::gles::Gles;
use crate::program::{Bindings, Native, Program};
use crate::query::Queries;
use crate::resource::buffer::Buffer;
use crate::resource::texture::Texture;
use crate::ring::{Ring, Slice};
use crate::sampler::{Sampler, ViewObject};
use crate::screen::{RenderStateObject, Shared};
use crate::shadow::Shadow;
use crate::vertex::VertexElements;
use crate::xfb::StreamOutput;
use mgpipe_types::render_state::RenderState;
use mgpipe_types::*;
use std::sync::Arc;

/// What changed since the last draw: each bit makes the next draw look at one group of state.
pub(crate) mod dirty {
    /// The program.
    pub(crate) const PROGRAM: u32 = 1 << 0;
    /// The render state, either half.
    pub(crate) const STATE: u32 = 1 << 1;
    /// The framebuffer.
    pub(crate) const FRAMEBUFFER: u32 = 1 << 2;
    /// Vertex elements.
    pub(crate) const VERTEX: u32 = 1 << 3;
    /// Vertex buffers.
    pub(crate) const BUFFERS: u32 = 1 << 4;
    /// The default block's bytes.
    pub(crate) const CONSTANTS: u32 = 1 << 5;
    /// Textures and samplers.
    pub(crate) const SAMPLERS: u32 = 1 << 6;
    /// Uniform buffers.
    pub(crate) const UNIFORMS: u32 = 1 << 7;
    /// Current values of attributes.
    pub(crate) const DEFAULTS: u32 = 1 << 8;
    /// Transform-feedback targets.
    pub(crate) const XFB: u32 = 1 << 9;
    /// Everything.
    pub(crate) const ALL: u32 = (1 << 10) - 1;
}

/// Programs that a context keeps ready beside the current one.
const RECENT_PROGRAMS: usize = 8;

/// The program of draws with what was chosen for it.
pub(crate) struct BoundProgram {
    pub(crate) program: Arc<Program>,
    pub(crate) bindings: Arc<Bindings>,
    pub(crate) native: Option<Arc<Native>>,
    pub(crate) variant: crate::essl::Variant,
    /// The default block in the ring: ring generation, version of the bytes, place.
    pub(crate) constants: Option<(u64, u64, Slice)>,
}

/// A texture unit of the client.
#[derive(Clone, Default)]
pub(crate) struct Unit {
    pub(crate) bound: BoundView,
    pub(crate) view: Option<Arc<ViewObject>>,
    pub(crate) texture: Option<Arc<Texture>>,
    pub(crate) sampler_handle: SamplerCso,
    pub(crate) sampler: Option<Arc<Sampler>>,
}

/// A buffer at a binding point.
#[derive(Clone, Default)]
pub(crate) struct BufferSlot {
    pub(crate) range: BufferRange,
    pub(crate) buffer: Option<Arc<Buffer>>,
}

/// A vertex buffer at a binding point.
#[derive(Clone, Default)]
pub(crate) struct VertexSlot {
    pub(crate) bound: VertexBuffer,
    pub(crate) buffer: Option<Arc<Buffer>>,
}

/// A context of the pipe.
pub(crate) struct EsprytContext {
    pub(crate) shared: Arc<Shared>,
    pub(crate) device: Arc<Device>,
    pub(crate) host: HostContext,
    pub(crate) handle: ContextHandle,
    pub(crate) dirty: u32,
    generation: u64,
    /// State as the client has it.
    pub(crate) state: RenderState,
    /// State as the driver has it.
    pub(crate) applied: Box<crate::state::Applied>,
    pub(crate) shadow: Shadow,
    pub(crate) framebuffer: FramebufferState,
    /// What the framebuffer state attaches.
    pub(crate) attached: AttachedTextures,
    pub(crate) framebuffers: Framebuffers,
    pub(crate) program: Option<BoundProgram>,
    /// Programs of before, the latest last, which come back with what was chosen for them.
    recent: Vec<BoundProgram>,
    pub(crate) elements: Option<Arc<VertexElements>>,
    pub(crate) vertex_buffers: Vec<VertexSlot>,
    pub(crate) attrib_defaults: Vec<AttribValue>,
    pub(crate) defaults_changed: u32,
    pub(crate) index_buffer: IndexBuffer,
    pub(crate) index_storage: Option<Arc<Buffer>>,
    pub(crate) units: Vec<Unit>,
    pub(crate) uniform_buffers: Vec<BufferSlot>,
    pub(crate) patch: PatchState,
    pub(crate) ring: Ring,
    /// The ring's generation when the default block was bound.
    pub(crate) constants_generation: u64,
    /// Burials of textures that this context has looked through its framebuffers for.
    buried: u64,
    /// Joins regions of uploads.
    pub(crate) joiner: RegionJoiner,
    /// What uploads became since the counters asked.
    pub(crate) upload_work: UploadWork,
    /// Where lists of uploads are put together when the ring cannot be written in place.
    pub(crate) staging: Vec<u8>,
    pub(crate) queries: Queries,
    pub(crate) xfb: StreamOutput,
    /// Whether a sampler of the program biases its level.
    pub(crate) biased: bool,
    pub(crate) depth_passes: DepthPasses,
    /// Arrays of draws that go out as one call.
    pub(crate) multi: crate::multi_draw::Lists,
    /// The vertex array of draws.
    pub(crate) vertex_array: u32,
    warned: u64,
    /// The latest call that did something, while calls are looked after.
    latest_call: &'static str,
}

/// `GL_CONTEXT_LOST`.
pub(crate) const CONTEXT_LOST: u32 = 0x0507;

impl EsprytContext {
    pub(crate) fn new(shared: &Arc<Shared>, handle: ContextHandle) -> PipeResult<EsprytContext> {
        let device = shared.device.clone();
        let host = device.display.create_context(Some(shared.root())).map_err(PipeError::OutOfMemory)?;
        shared.context_started();
        let initial = |index| AttribValue { index, bits: [0, 0, 0, 1.0f32.to_bits().into()], form: 0 };
        Ok(EsprytContext {
            device,
            host,
            handle,
            dirty: dirty::ALL,
            generation: shared.generation(),
            state: RenderState::initial(),
            applied: Box::default(),
            shadow: Shadow::default(),
            framebuffer: FramebufferState::default(),
            attached: AttachedTextures::default(),
            framebuffers: Framebuffers::default(),
            program: None,
            recent: Vec::new(),
            elements: None,
            vertex_buffers: vec![VertexSlot::default(); MAX_VERTEX_ATTRIBS],
            attrib_defaults: (0..MAX_VERTEX_ATTRIBS as u32).map(initial).collect(),
            defaults_changed: 0,
            index_buffer: IndexBuffer::default(),
            index_storage: None,
            units: vec![Unit::default(); MAX_TEXTURE_UNITS],
            uniform_buffers: Vec::new(),
            patch: PatchState { vertices: 3, outer: [1.0; 4], inner: [1.0; 2], ..PatchState::default() },
            ring: Ring::default(),
            constants_generation: 0,
            buried: 0,
            joiner: RegionJoiner::default(),
            upload_work: UploadWork::default(),
            staging: Vec::new(),
            queries: Queries::default(),
            xfb: StreamOutput::default(),
            biased: false,
            depth_passes: DepthPasses::default(),
            multi: Default::default(),
            vertex_array: 0,
            warned: 0,
            latest_call: "the first call",
            shared: shared.clone(),
        })
    }

    /// The driver's functions.
    #[inline]
    pub(crate) fn gles(&self) -> &Gles {
        &self.device.gles
    }

    /// Logs once a context that something is not done.
    pub(crate) fn warn_once(&mut self, bit: u32, what: &str) {
        if self.warned >> bit & 1 == 0 {
            self.warned |= 1 << bit;
            self.shared.callbacks.log(LogLevel::Warn, &format!("espryt: {what}"));
        }
    }

    /// Drops a failed call and reports why.
    pub(crate) fn fail(&self, call: &str, error: PipeError) {
        self.shared.report(self.handle, call, error);
    }

    /// Binds the driver's context to this thread and takes note of what other contexts changed.
    #[inline]
    pub(crate) fn enter(&mut self, call: &'static str) -> bool {
        if self.shared.is_lost() {
            return false;
        }
        if !CurrentContext::is(&self.host) && !self.enter_slow(call) {
            return false;
        }
        if self.device.gles.watched {
            let before = std::mem::replace(&mut self.latest_call, call);
            self.check_errors(before);
        }
        if self.shared.generation() != self.generation {
            self.refresh();
        }
        if self.shared.grave.has_names() || self.shared.grave.epoch() != self.buried {
            self.bury();
        }
        true
    }

    #[cold]
    fn enter_slow(&mut self, call: &str) -> bool {
        let bound = CurrentContext::bind(&self.host);
        match bound {
            Ok(()) => {
                self.start();
                true
            }
            Err(error) => {
                if error.contains("CONTEXT_LOST") {
                    self.shared.lose(&error);
                } else {
                    self.shared.complain(call, error);
                }
                false
            }
        }
    }

    #[cold]
    fn bury(&mut self) {
        let shared = self.shared.clone();
        self.buried = shared.grave.epoch();
        if self.framebuffers.purge(&shared.device.gles, shared.grave.epoch()) {
            self.shadow.draw_framebuffer = u64::MAX;
            self.dirty |= dirty::FRAMEBUFFER;
        }
        shared.grave.empty(&shared.device.gles);
    }

    #[cold]
    fn refresh(&mut self) {
        self.generation = self.shared.generation();
        self.recent.clear();
        if let Some(bound) = &mut self.program {
            bound.bindings = bound.program.bindings.read().clone();
            bound.constants = None;
        }
        self.dirty |= dirty::FRAMEBUFFER | dirty::SAMPLERS | dirty::UNIFORMS | dirty::CONSTANTS | dirty::BUFFERS;
    }

    /// An object changed that this context, and perhaps others, have resolved.
    pub(crate) fn changed(&mut self) {
        self.shared.bump();
        self.refresh();
    }

    /// A buffer has other storage: what binds buffers looks again, here and in the other contexts.
    pub(crate) fn buffer_changed(&mut self) {
        let before = self.shared.generation();
        self.shared.bump();
        let alone = before == self.generation && self.shared.generation() == before + 1;
        if alone {
            self.generation = before + 1;
            self.dirty |= dirty::SAMPLERS | dirty::UNIFORMS | dirty::BUFFERS;
        } else {
            self.refresh();
        }
    }

    fn set_program(&mut self, shader: ShaderCso) {
        let wanted = if shader.is_null() {
            None
        } else {
            match self.shared.shaders.get(shader) {
                Ok(program) => Some(program),
                Err(error) => return self.shared.complain("set_program", error),
            }
        };
        if let (Some(bound), Some(wanted)) = (&self.program, &wanted) {
            if Arc::ptr_eq(&bound.program, wanted) {
                return;
            }
        }
        let clips =
            |bound: &Option<BoundProgram>| bound.as_ref().map_or(0, |b| b.program.reflection.pre_raster.clip_distances);
        let before = clips(&self.program);
        if let Some(bound) = self.program.take() {
            if self.recent.len() >= RECENT_PROGRAMS {
                self.recent.remove(0);
            }
            self.recent.push(bound);
        }
        self.program = wanted.map(|program| {
            let found = self.recent.iter().rposition(|bound| Arc::ptr_eq(&bound.program, &program));
            match found.map(|index| self.recent.remove(index)) {
                Some(mut bound) => {
                    bound.bindings = program.bindings.read().clone();
                    bound
                }
                None => {
                    let bindings = program.bindings.read().clone();
                    BoundProgram { program, bindings, native: None, variant: Default::default(), constants: None }
                }
            }
        });
        self.dirty |= dirty::CONSTANTS | dirty::SAMPLERS | dirty::UNIFORMS;
        if clips(&self.program) != before {
            self.dirty |= dirty::STATE;
        }
    }

    /// Lets go of a program that is no more.
    fn forget_program(&mut self, program: &Arc<Program>) {
        self.recent.retain(|bound| !Arc::ptr_eq(&bound.program, program));
    }

    /// Looks into the driver's queue of errors, which the backend never leaves filled.
    pub(crate) fn check_errors(&self, call: &str) {
        if let Some(code) = self.gles().drain_errors() {
            if code == CONTEXT_LOST {
                return self.shared.lose(&format!("the driver lost its context in or before {call}"));
            }
            let sentence = self.gles().tell_mistake(&format!("in or before {call}"), code);
            if code == gl::OUT_OF_MEMORY {
                // The driver noticed late; the application learns of it all the same.
                self.fail(call, PipeError::OutOfMemory(sentence.clone()));
            }
            self.shared.callbacks.log(LogLevel::Error, &format!("espryt: {sentence}"));
        }
    }

    /// Sends what was given to the driver.
    pub(crate) fn submit(&mut self) {
        self.check_errors("flush");
        // SAFETY: the context is current.
        unsafe { glow::HasContext::flush(&self.gles().gl) };
        if self.gles().is_reset() {
            self.shared.lose("the driver has reset its context");
        }
    }

    pub(crate) fn buffer(&self, handle: Handle) -> PipeResult<Arc<Buffer>> {
        self.shared.buffers.get(BufferHandle(handle)).map_err(|error| PipeError::BadHandle(error.to_string()))
    }
}

impl Drop for EsprytContext {
    fn drop(&mut self) {
        if !self.shared.is_lost() && CurrentContext::bind(&self.host).is_ok() {
            let shared = self.shared.clone();
            let gles = &shared.device.gles;
            self.framebuffers.destroy(gles);
            self.ring.destroy(gles);
            self.queries.destroy(gles);
            self.xfb.destroy(gles);
            self.depth_passes.destroy(gles);
            shared.grave.empty(gles);
            self.submit();
            CurrentContext::release(&self.host);
        }
        self.shared.context_ended();
    }
}

mod calls;
