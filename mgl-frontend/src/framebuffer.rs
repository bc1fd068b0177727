//! Framebuffer objects and the default framebuffer.

mod attach;
mod attachment;
mod blit;
mod buffers;
mod clear;
mod query;
mod read;
mod resolve;
mod status;
mod window;

use std::sync::Arc;

use mgpipe_tracker::Counter;
use mgpipe_types::render_state::MAX_DRAW_BUFFERS;
use mgpipe_types::{gl, FramebufferHandle};

pub(crate) use attachment::{Attachment, Described, TextureAttachment};
pub(crate) use window::Window;

use crate::context::{Context, ContextState};
use crate::error::{invalid_enum, invalid_framebuffer_operation, invalid_operation, GlResult};
use crate::names::Names;
use crate::renderbuffer::Renderbuffer;
use crate::share::ShareCore;
use crate::texture::Texture;

/// Number of colour attachments.
pub(crate) const MAX_COLOR_ATTACHMENTS: usize = MAX_DRAW_BUFFERS;

/// A framebuffer object. It belongs to one context.
pub(crate) struct Framebuffer {
    core: Arc<ShareCore>,
    pub(crate) handle: FramebufferHandle,
    pub(crate) color: [Attachment; MAX_COLOR_ATTACHMENTS],
    pub(crate) depth: Attachment,
    pub(crate) stencil: Attachment,
    /// `GL_DRAW_BUFFERi`.
    pub(crate) draw_buffers: [u32; MAX_DRAW_BUFFERS],
    /// `GL_READ_BUFFER`.
    pub(crate) read_buffer: u32,
    /// Moves with every change of an attachment.
    version: u64,
    /// The last status, and the versions that it was found for.
    memo: Option<(u64, u64, u32)>,
}

impl std::fmt::Debug for Framebuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Framebuffer").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Drop for Framebuffer {
    fn drop(&mut self) {
        self.core.free(self.handle);
    }
}

impl Framebuffer {
    fn new(core: &Arc<ShareCore>) -> GlResult<Framebuffer> {
        let mut draw_buffers = [gl::NONE; MAX_DRAW_BUFFERS];
        draw_buffers[0] = gl::COLOR_ATTACHMENT0;
        Ok(Framebuffer {
            core: core.clone(),
            handle: core.mint("framebuffer object")?,
            color: Default::default(),
            depth: Attachment::None,
            stencil: Attachment::None,
            draw_buffers,
            read_buffer: gl::COLOR_ATTACHMENT0,
            version: 1,
            memo: None,
        })
    }

    /// Every attachment.
    pub(crate) fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.color.iter().chain([&self.depth, &self.stencil])
    }

    fn forget(&mut self, matches: impl Fn(&Attachment) -> bool) {
        for attachment in self.color.iter_mut().chain([&mut self.depth, &mut self.stencil]) {
            if matches(attachment) {
                *attachment = Attachment::None;
                self.version += 1;
            }
        }
    }

    /// The attachment that `GL_READ_BUFFER` selects.
    pub(crate) fn read_attachment(&self) -> Option<&Attachment> {
        color_index(self.read_buffer).and_then(|i| self.color.get(i)).filter(|a| a.is_some())
    }
}

/// Index of a `GL_COLOR_ATTACHMENTi`.
pub(crate) fn color_index(buffer: u32) -> Option<usize> {
    let index = buffer.checked_sub(gl::COLOR_ATTACHMENT0)? as usize;
    (index < 32).then_some(index)
}

/// The framebuffers of a context.
#[derive(Debug)]
pub(crate) struct Framebuffers {
    objects: Names<Framebuffer>,
    /// The default framebuffer.
    pub(crate) window: Window,
    draw: u32,
    read: u32,
    /// State for which every attachment was sent.
    realized: Option<[u64; 4]>,
}

impl Framebuffers {
    /// The default framebuffer is bound.
    pub(crate) fn new() -> Framebuffers {
        Framebuffers { objects: Names::default(), window: Window::default(), draw: 0, read: 0, realized: None }
    }

    /// The bound draw framebuffer; `None` for the default one.
    pub(crate) fn draw(&self) -> Option<&Framebuffer> {
        self.objects.get(self.draw)
    }

    /// The bound read framebuffer; `None` for the default one.
    pub(crate) fn read(&self) -> Option<&Framebuffer> {
        self.objects.get(self.read)
    }

    /// GL name of the draw framebuffer.
    pub(crate) fn draw_name(&self) -> u32 {
        self.draw
    }

    /// GL name of the read framebuffer.
    pub(crate) fn read_name(&self) -> u32 {
        self.read
    }

    fn bound_mut(&mut self) -> impl Iterator<Item = u32> {
        // Deleting an object detaches it from the bound framebuffers only (GL 3.3 section 4.4.2).
        let second = if self.read != self.draw { Some(self.read) } else { None };
        [Some(self.draw), second].into_iter().flatten()
    }

    /// Detaches a deleted texture from the bound framebuffers.
    pub(crate) fn forget_texture(&mut self, texture: &Arc<Texture>) {
        for name in self.bound_mut() {
            if let Some(framebuffer) = self.objects.get_mut(name) {
                framebuffer.forget(|a| a.is_texture(texture));
            }
        }
    }

    /// Detaches a deleted renderbuffer from the bound framebuffers.
    pub(crate) fn forget_renderbuffer(&mut self, renderbuffer: &Arc<Renderbuffer>) {
        for name in self.bound_mut() {
            if let Some(framebuffer) = self.objects.get_mut(name) {
                framebuffer.forget(|a| a.is_renderbuffer(renderbuffer));
            }
        }
    }
}

/// Which binding a framebuffer command names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    /// `GL_FRAMEBUFFER` and `GL_DRAW_FRAMEBUFFER`.
    Draw,
    /// `GL_READ_FRAMEBUFFER`.
    Read,
}

/// The binding of a framebuffer target.
pub(crate) fn binding(target: u32, command: &'static str) -> GlResult<Binding> {
    match target {
        gl::FRAMEBUFFER | gl::DRAW_FRAMEBUFFER => Ok(Binding::Draw),
        gl::READ_FRAMEBUFFER => Ok(Binding::Read),
        _ => Err(invalid_enum(format!("{command}: target"))),
    }
}

impl ContextState {
    /// GL name of the framebuffer of a binding.
    pub(crate) fn framebuffer_name(&self, binding: Binding) -> u32 {
        match binding {
            Binding::Draw => self.framebuffers.draw,
            Binding::Read => self.framebuffers.read,
        }
    }

    /// Refuses commands that draw into an incomplete framebuffer.
    #[inline]
    pub(crate) fn check_draw_framebuffer(&mut self, command: &'static str) -> GlResult {
        self.check_framebuffer(Binding::Draw, command)
    }

    /// Refuses commands that use an incomplete framebuffer.
    #[inline]
    pub(crate) fn check_framebuffer(&mut self, binding: Binding, command: &'static str) -> GlResult {
        if self.framebuffer_status(binding) == gl::FRAMEBUFFER_COMPLETE {
            Ok(())
        } else {
            Err(invalid_framebuffer_operation(format!("{command}: the framebuffer is not complete")))
        }
    }
}

impl Context {
    /// `glGenFramebuffers`.
    pub fn gen_framebuffers(&mut self, names: &mut [u32]) {
        self.gl(|ctx| {
            names.fill_with(|| ctx.state.framebuffers.objects.generate());
            Ok(())
        });
    }

    /// `glBindFramebuffer`.
    pub fn bind_framebuffer(&mut self, target: u32, framebuffer: u32) {
        self.gl(|ctx| {
            binding(target, "glBindFramebuffer")?;
            let state = &mut ctx.state;
            if framebuffer != 0 && state.framebuffers.objects.get(framebuffer).is_none() {
                if state.relaxed {
                    state.framebuffers.objects.claim(framebuffer);
                }
                let object = Framebuffer::new(&state.share.core)?;
                if !state.framebuffers.objects.ensure(framebuffer, || object) {
                    return Err(invalid_operation("glBindFramebuffer: the name was not generated"));
                }
            }
            let framebuffers = &mut state.framebuffers;
            let before = (framebuffers.draw, framebuffers.read);
            if target != gl::READ_FRAMEBUFFER {
                framebuffers.draw = framebuffer;
            }
            if target != gl::DRAW_FRAMEBUFFER {
                framebuffers.read = framebuffer;
            }
            if before != (framebuffers.draw, framebuffers.read) {
                state.generations.bump(Counter::Framebuffer);
            }
            Ok(())
        });
    }

    /// `glDeleteFramebuffers`.
    pub fn delete_framebuffers(&mut self, names: &[u32]) {
        self.gl(|ctx| {
            let state = &mut ctx.state;
            for &name in names {
                if name == 0 || state.framebuffers.objects.remove(name).is_none() {
                    continue;
                }
                state.debug.forget_label(gl::FRAMEBUFFER, name as usize);
                if state.framebuffers.draw == name {
                    state.framebuffers.draw = 0;
                    state.generations.bump(Counter::Framebuffer);
                }
                if state.framebuffers.read == name {
                    state.framebuffers.read = 0;
                    state.generations.bump(Counter::Framebuffer);
                }
            }
            Ok(())
        });
    }

    /// `glIsFramebuffer`.
    pub fn is_framebuffer(&mut self, framebuffer: u32) -> bool {
        self.gl(|ctx| Ok(ctx.state.framebuffers.objects.get(framebuffer).is_some()))
    }

    /// `glCheckFramebufferStatus`.
    pub fn check_framebuffer_status(&mut self, target: u32) -> u32 {
        self.gl(|ctx| {
            let binding = binding(target, "glCheckFramebufferStatus")?;
            Ok(ctx.state.framebuffer_status(binding))
        })
    }
}
