//! A GL context: its state, its tracker and its command flow.

use std::sync::Arc;

use mgpipe_tracker::{Generations, RenderStateTracker, Tracker, TrackerOptions, TrackerStats};
use mgpipe_types::{flush_flags, gl, Context as Pipe, ContextHandle, Flush, TextureHandle};

use crate::boundary::ContextAttribs;
use crate::buffer::{AlignedBytes, Buffer, BufferBindings};
use crate::debug::DebugState;
use crate::framebuffer::Framebuffers;
use crate::overlay::Overlay;
use crate::pixel::{PackFences, PixelState};
use crate::program::CurrentProgram;
use crate::query::QueryState;
use crate::renderbuffer::Renderbuffer;
use crate::share::{CreateContextError, Dead, ShareGroup};
use crate::texture::TextureUnits;
use crate::vertex_array::VertexArrays;
use crate::xfb::XfbState;

/// A GL context. One thread at a time; it moves between threads.
pub struct Context {
    /// What GL calls set and get.
    pub(crate) state: ContextState,
    /// Turns state into calls.
    pub(crate) tracker: Tracker,
    /// The command flow.
    pub(crate) pipe: Box<dyn Pipe>,
    /// Memory for the next mapping that needs some.
    pub(crate) map_staging: Option<AlignedBytes>,
    /// What the observer has heard of the tracker.
    observed: TrackerStats,
    /// Text over frames.
    pub(crate) overlay: Option<Box<Overlay>>,
    /// Buffer for the next mapping from which the device copies.
    pub(crate) map_scratch: Option<Arc<Buffer>>,
    /// Buffer for the next texels that wait to become pixels of a pack buffer.
    pub(crate) pack_scratch: Option<Arc<Buffer>>,
    pub(crate) pack_fences: PackFences,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("handle", &self.state.handle).finish_non_exhaustive()
    }
}

/// The state of a context, apart from the tracker and the pipe, so that the three can be borrowed side by side.
#[derive(Debug)]
pub(crate) struct ContextState {
    /// The share group.
    pub(crate) share: Arc<ShareGroup>,
    /// Identity on the pipe.
    pub(crate) handle: ContextHandle,
    /// What `eglCreateContext` asked for.
    pub(crate) attribs: ContextAttribs,
    /// The application asked for a version below 3.1: drawing with vertex array 0 and invented names work, which GL 3.0
    /// allowed and programs of that time rely on.
    pub(crate) relaxed: bool,
    /// The recorded error.
    pub(crate) error: u32,
    /// The context is lost: commands do nothing.
    pub(crate) lost: bool,
    /// `GL_KHR_debug`.
    pub(crate) debug: DebugState,
    /// Counters of what changed, for the tracker.
    pub(crate) generations: Generations,
    /// The render state.
    pub(crate) render: RenderStateTracker,
    /// Buffer bindings.
    pub(crate) buffers: BufferBindings,
    /// Vertex arrays and current attribute values.
    pub(crate) arrays: VertexArrays,
    /// The program in use.
    pub(crate) program: CurrentProgram,
    /// Queries and conditional rendering.
    pub(crate) queries: QueryState,
    /// Transform feedback.
    pub(crate) xfb: XfbState,
    /// Texture units.
    pub(crate) textures: TextureUnits,
    /// Framebuffers.
    pub(crate) framebuffers: Framebuffers,
    /// The bound renderbuffer.
    pub(crate) renderbuffer: Option<Arc<Renderbuffer>>,
    /// Pixel pack and unpack state.
    pub(crate) pixel: PixelState,
    /// Scratch of multi-draws.
    pub(crate) draw_ranges: Vec<mgpipe_types::DrawRange>,
    /// Names of textures that this context has changed since its last submit and that may wait for their first use, each
    /// with the resource: another context may have given a deleted texture's name to one of its own.
    waiting_textures: Vec<(u32, TextureHandle)>,
    warned: Vec<&'static str>,
    /// Resets of the device that the application knows of.
    known_resets: u32,
}

impl Context {
    /// A context of a share group.
    ///
    /// # Errors
    /// [`CreateContextError::BadMatch`] for a version or profile that is not offered.
    pub fn new(share: &Arc<ShareGroup>, attribs: &ContextAttribs) -> Result<Context, CreateContextError> {
        if attribs.compatibility {
            return Err(CreateContextError::BadMatch("the compatibility profile is not there".into()));
        }
        if (attribs.major, attribs.minor) > share.max_version() {
            return Err(CreateContextError::BadMatch(format!("version {}.{}", attribs.major, attribs.minor)));
        }
        let handle: ContextHandle = share.mint("context")?;
        let pipe = match share.screen.create_context(handle) {
            Ok(pipe) => pipe,
            Err(error) => {
                share.free(handle);
                return Err(CreateContextError::Backend(error.to_string()));
            }
        };
        let limits = &share.limits;
        let state = ContextState {
            handle,
            attribs: *attribs,
            relaxed: (attribs.major, attribs.minor) < (3, 1),
            error: gl::NO_ERROR,
            lost: share.is_lost(),
            debug: DebugState::new(attribs.debug),
            generations: Generations::new(),
            render: RenderStateTracker::new(),
            buffers: BufferBindings::new(limits.uniform_buffer_bindings),
            arrays: VertexArrays::new(),
            program: CurrentProgram::default(),
            queries: QueryState::default(),
            xfb: XfbState::new(limits),
            textures: TextureUnits::new(limits.combined_texture_image_units),
            framebuffers: Framebuffers::new(),
            renderbuffer: None,
            pixel: PixelState::default(),
            draw_ranges: Vec::new(),
            waiting_textures: Vec::new(),
            warned: Vec::new(),
            known_resets: share.resets(),
            share: share.clone(),
        };
        let options = TrackerOptions { switches: share.switches, ..TrackerOptions::default() };
        let tracker = Tracker::new(share.handles.clone(), options);
        share.enter();
        Ok(Context {
            state,
            tracker,
            pipe,
            observed: TrackerStats::default(),
            overlay: None,
            map_staging: None,
            map_scratch: None,
            pack_scratch: None,
            pack_fences: PackFences::default(),
        })
    }

    /// Marks the context as lost: every later command does nothing.
    pub fn mark_lost(&mut self) {
        self.state.lost = true;
    }

    /// `glGetGraphicsResetStatus`. Only a context that asked to be told of resets is told (OpenGL 4.5 section 2.3.2); every
    /// other one learns of its loss by `GL_CONTEXT_LOST`. A reset after which everything was restored is told once
    /// (`KHR_robustness`: a status that does not come again is a reset that is over).
    pub fn get_graphics_reset_status(&mut self) -> u32 {
        let is_lost = self.check_lost();
        let resets = self.state.share.resets();
        let is_news = std::mem::replace(&mut self.state.known_resets, resets) != resets;
        if (is_lost || is_news) && self.state.attribs.lose_context_on_reset {
            gl::UNKNOWN_CONTEXT_RESET
        } else {
            gl::NO_ERROR
        }
    }

    /// Whether the context is lost for good.
    pub fn check_lost(&mut self) -> bool {
        if let Some(reason) = self.state.share.screen.device_lost() {
            if !self.state.share.is_lost() {
                log::error!("the device was lost: {reason}");
            }
            self.state.share.mark_lost();
            self.state.lost = true;
        }
        self.state.lost |= self.state.share.is_lost();
        self.state.lost
    }

    /// `glFlush`.
    pub fn flush(&mut self) {
        self.gl(|ctx| {
            ctx.submit();
            ctx.show_front();
            Ok(())
        });
    }

    /// `glFinish`: returns when everything before has run.
    pub fn finish(&mut self) {
        if !self.state.lost {
            self.show_front();
        }
        if let Some(fence) = self.create_fence() {
            fence.wait(u64::MAX);
        }
    }

    /// Stops being the current context of its thread; what was recorded is submitted.
    pub fn release_current(&mut self) {
        if self.state.lost {
            return;
        }
        if !self.state.attribs.release_behavior_none {
            self.submit();
        }
        self.pipe.flush(&Flush { flags: flush_flags::RELEASE, pad: 0 });
    }

    /// Emits what waits for a context's command flow: called before every submit.
    pub(crate) fn before_submit(&mut self) {
        if self.state.share.has_dead() {
            self.bury_dead();
        }
        if self.pack_fences.wanted {
            self.fence_packs();
        }
        if self.state.share.observer.is_some() {
            self.report_tracker();
        }
    }

    /// Tells the observer what the tracker has counted since the last submit.
    #[cold]
    fn report_tracker(&mut self) {
        let stats = *self.tracker.stats();
        let grown = stats.since(&std::mem::replace(&mut self.observed, stats));
        if let Some(observer) = &self.state.share.observer {
            observer.tracked(&grown);
        }
    }

    /// Sends what waits in textures before a submit: afterwards other contexts may use them, and then it has to be in the
    /// flow of the context that changed them, whichever of the others comes first.
    #[inline]
    pub(crate) fn send_waiting(&mut self) {
        if !self.state.waiting_textures.is_empty() {
            self.send_waiting_textures();
        }
    }

    #[cold]
    fn send_waiting_textures(&mut self) {
        for (name, handle) in std::mem::take(&mut self.state.waiting_textures) {
            if let Some(texture) = self.state.share.textures.get(name).filter(|texture| texture.handle == handle) {
                texture.realize(&mut *self.pipe);
            }
        }
    }

    #[cold]
    fn bury_dead(&mut self) {
        for dead in self.state.share.take_dead() {
            match dead {
                Dead::Shader(handle) => {
                    self.tracker.invalidate_program(handle);
                    self.pipe.delete_shader(&crate::share::only(handle));
                    self.state.share.free(handle);
                }
                Dead::Texture(handle) => {
                    self.tracker.invalidate_texture(handle, &mut *self.pipe);
                    self.state.share.free(handle);
                }
            }
        }
    }

    /// The end of a frame without a present.
    pub(crate) fn end_frame(&mut self) {
        self.send_waiting();
        self.before_submit();
        self.pipe.flush(&Flush { flags: flush_flags::SUBMIT | flush_flags::END_OF_FRAME, pad: 0 });
    }
}

impl ContextState {
    /// Notes that a texture has something to send. Default textures belong to one context and need not.
    pub(crate) fn texture_waits(&mut self, name: u32, handle: TextureHandle) {
        let waiting = &mut self.waiting_textures;
        if name == 0 || waiting.last() == Some(&(name, handle)) {
            return;
        }
        if waiting.len() == waiting.capacity() {
            waiting.sort_unstable_by_key(|(name, _)| *name);
            waiting.dedup();
        }
        waiting.push((name, handle));
    }

    /// Says once per context that something is done differently than asked for.
    #[cold]
    pub(crate) fn warn_once(&mut self, text: &'static str) {
        if !self.warned.contains(&text) {
            self.warned.push(text);
            log::warn!("{text}");
            self.debug.message(gl::DEBUG_SOURCE_API, gl::DEBUG_TYPE_PORTABILITY, 0, gl::DEBUG_SEVERITY_MEDIUM, text);
        }
    }

    /// A command came after the loss: it did nothing, and that is an error of its own.
    #[cold]
    pub(crate) fn note_command_after_loss(&mut self) {
        if self.error == gl::NO_ERROR {
            self.error = gl::CONTEXT_LOST;
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.forget_program();
        self.drop_queries();
        self.drop_xfb();
        self.drop_overlay();
        if !self.state.lost {
            self.tracker.shutdown(&mut *self.pipe);
            self.submit();
        }
        self.state.share.leave();
        self.state.share.free(self.state.handle);
    }
}
